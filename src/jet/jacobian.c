/* The Jacobian's handle: its memory, and panels passed through the network. */
#include "jet/jacobian.h"

#include "base/memory.h"
#include "base/params.h"
#include "base/ranks.h"

static const size_t DEFAULT_BYTES = (size_t)256 << 20;
static const size_t ROWS_BYTES = (size_t)64 << 20; /* the most memory that whole rows make use of */

enum { LEAST_ITEMS = 6 }; /* of a panel: a block of a product has this many rows */

static const sg_jet_set *set_at(const sg_jacobian *jacobian, size_t set)
{
    return &jacobian->jet->states[set].set;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Panels ------------------------------------------------------------------------------- */

sgi_panel sgi_shared_panels(const sg_jacobian *jacobian)
{
    return (sgi_panel){.rank = sgi_rank_index(jacobian->jet->pool),
                       .ranks = sgi_rank_count(jacobian->jet->pool)};
}

/* The first of a set's items that there are panels of. */
static size_t share_begin(const sgi_panel *panel, size_t items, int rank)
{
    return panel->ranks > 0 ? sgi_share_begin(items, rank, panel->ranks) : rank > 0 ? items : 0;
}

bool sgi_next_panel(const sg_jacobian *jacobian, sgi_panel_capacity *capacity, sgi_panel *panel)
{
    panel->done += panel->count;
    panel->count = panel->rows = 0;
    for (; panel->set < jacobian->jet->set_count; panel->set++, panel->done = 0) {
        const sg_jet_set *set = set_at(jacobian, panel->set);
        size_t components = (size_t)set->components;
        size_t first = share_begin(panel, set->items, panel->rank) + panel->done;
        size_t end = share_begin(panel, set->items, panel->rank + 1);
        if (components == 0 || first >= end) {
            panel->set_row += set->items * components;
            continue;
        }
        panel->first = first;
        panel->count = smaller(end - first, capacity(jacobian, panel->set));
        panel->rows = panel->count * components;
        panel->row = panel->set_row + first * components;
        return true;
    }
    return false;
}

void sgi_fill_panel(sg_jacobian *jacobian, const sgi_panel *panel, const sgi_jet_store *store)
{
    sgi_jet_run(jacobian->jet, &(sgi_jet_call){.mode = SG_JET_ROWS,
                                               .set_begin = panel->set,
                                               .set_end = panel->set + 1,
                                               .first = panel->first,
                                               .count = panel->count,
                                               .store = *store});
}

void sgi_jacobian_run(sg_jacobian *jacobian, size_t units, sg_unit_function *function,
                      void *context)
{
    sg_pool_run(jacobian->jet->pool, units, function, context);
}

/* ---- The handle --------------------------------------------------------------------------- */

static void *take(sg_jacobian *jacobian, size_t count, size_t size)
{
    void *memory = sgi_allocate(&jacobian->allocator, count, size);
    jacobian->memory += memory ? count * size : 0;
    return memory;
}

/* Bytes of the panels: what the sets can use, within the budget, but never less than a few items of
 * each set by either method, twice. */
static size_t choose_bytes(sg_jacobian *jacobian, size_t budget)
{
    const sg_jet *jet = jacobian->jet;
    size_t row = jet->network->parameters * sgi_type_size(jet->network->type);
    size_t least = 0, all = 0, panel = 0;
    for (int method = SG_JACOBIAN_GRAM; method >= SG_JACOBIAN_CHEAPEST; method--) {
        sgi_kernel_choose(jacobian, (sg_jacobian_method)method);
        for (size_t s = 0; s < jet->set_count; s++)
            least = larger(least, sgi_kernel_item_bytes(jacobian, s));
    }
    sgi_kernel_choose(jacobian, jacobian->method);
    for (size_t s = 0; s < jet->set_count; s++) {
        const sg_jet_set *set = set_at(jacobian, s);
        least = larger(least, sgi_square_item_bytes(jacobian, s));
        size_t rows = set->items * (size_t)set->components;
        all += set->items * sgi_kernel_item_bytes(jacobian, s);
        panel = larger(panel, smaller(rows, SGI_PANEL_ROWS) * row);
    }
    size_t useful =
        smaller(larger(all, smaller(panel, ROWS_BYTES)), budget ? budget : DEFAULT_BYTES);
    return larger(useful, 2 * LEAST_ITEMS * least);
}

static sg_status fill(sg_jacobian *jacobian, size_t budget)
{
    sg_jet *jet = jacobian->jet;
    size_t size = sgi_type_size(jet->network->type), layers = (size_t)jet->network->layer_count;
    size_t group = (size_t)SGI_GROUP_VECTORS * SGI_PANEL_ROWS;
    jacobian->kept = take(jacobian, jet->set_count * layers, sizeof *jacobian->kept);
    jacobian->stores = take(jacobian, jet->set_count, sizeof *jacobian->stores);
    jacobian->resident = take(jacobian, jet->set_count, sizeof *jacobian->resident);
    if (!jacobian->kept || !jacobian->stores || !jacobian->resident)
        return SG_ERROR_MEMORY;
    size_t scratch = larger(jet->kernels->multiply_scratch(), sgi_kernel_scratch(jacobian)) * size;
    jacobian->scratch_bytes = (scratch + SG_ALIGNMENT) / SG_ALIGNMENT * SG_ALIGNMENT;
    jacobian->scratch = take(jacobian, (size_t)jet->threads, jacobian->scratch_bytes);
    jacobian->products = take(jacobian, group, sizeof *jacobian->products);
    jacobian->residuals = take(jacobian, SGI_PANEL_ROWS, size);
    jacobian->panel_bytes = choose_bytes(jacobian, budget);
    jacobian->panels = take(jacobian, jacobian->panel_bytes, 1);
    if (!jacobian->scratch || !jacobian->products || !jacobian->residuals || !jacobian->panels)
        return SG_ERROR_MEMORY;
    jacobian->shares = jacobian->products;
    if (jet->network->type == SG_FLOAT64)
        return SG_OK;
    jacobian->shares = take(jacobian, group, size);
    jacobian->vectors = take(jacobian, SGI_GROUP_VECTORS * jet->network->parameters, size);
    return jacobian->shares && jacobian->vectors ? SG_OK : SG_ERROR_MEMORY;
}

static sg_status check(const sg_jet *jet)
{
    bool any = false;
    for (size_t s = 0; s < jet->set_count; s++) {
        if (jet->states[s].set.components > SGI_PANEL_ROWS)
            return SG_ERROR_UNSUPPORTED;
        any = any || jet->states[s].set.components > 0;
    }
    return any ? SG_OK : SG_ERROR_ARGUMENT;
}

sg_status sg_jacobian_create(sg_jacobian **out, const sg_jacobian_config *config,
                             const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (!config || !config->jet || config->method < SG_JACOBIAN_CHEAPEST ||
        config->method > SG_JACOBIAN_GRAM)
        return SG_ERROR_ARGUMENT;
    sg_status status = check(config->jet);
    if (status != SG_OK)
        return status;
    sg_jacobian *jacobian = SGI_NEW(sg_jacobian, given);
    if (!jacobian)
        return SG_ERROR_MEMORY;
    jacobian->jet = config->jet;
    jacobian->method = config->method;
    jacobian->memory = sizeof *jacobian;
    status = fill(jacobian, config->memory);
    if (status == SG_OK)
        *out = jacobian;
    else
        sg_jacobian_destroy(jacobian);
    return status;
}

void sg_jacobian_destroy(sg_jacobian *jacobian)
{
    if (!jacobian)
        return;
    if (jacobian->shares != jacobian->products)
        sgi_release(&jacobian->allocator, jacobian->shares);
    void *parts[] = {jacobian->kept,      jacobian->stores, jacobian->scratch, jacobian->products,
                     jacobian->residuals, jacobian->panels, jacobian->vectors, jacobian->resident};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&jacobian->allocator, parts[i]);
    sgi_release(&jacobian->allocator, jacobian);
}

size_t sg_jacobian_residuals(const sg_jacobian *jacobian)
{
    if (!jacobian)
        return 0;
    size_t rows = 0;
    for (size_t s = 0; s < jacobian->jet->set_count; s++)
        rows += set_at(jacobian, s)->items * (size_t)set_at(jacobian, s)->components;
    return rows;
}

size_t sg_jacobian_memory(const sg_jacobian *jacobian)
{
    return jacobian ? jacobian->memory : 0;
}
