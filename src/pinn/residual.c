/* The sets of a problem, their points and losses: see residual.h. */
#include <math.h>

#include "base/diagnostic.h"
#include "pinn/residual_set.h"
#include "problem/data.h"
#include "problem/quadrature.h"

struct sgi_residual {
    sg_allocator allocator;
    sgi_arena arena;
    const sgi_problem *problem;
    sgi_residual_options options;
    sg_isa isa;
    sgi_sobol *sobol;           /* direction numbers for all sets */
    sgi_residual_set *contexts; /* (set_count) */
    sg_jet_set *sets;           /* (set_count) */
    sg_jet_plan **plans;        /* (set_count) */
};

static int64_t items_of(const sgi_problem *problem, const sgi_residual_options *options, int k)
{
    if (options->items)
        return options->items[k];
    const sgi_point_set *set = &problem->sets[k];
    bool equations = set->kind == SG_SET_DOMAIN;
    if (set->data && options->stream == SG_POINTS_VALIDATION)
        return (int64_t)(set->data->trained < set->data->count
                             ? set->data->count - set->data->trained
                             : set->data->trained);
    if (set->data)
        return set->items;
    if (options->stream == SG_POINTS_TRAINING || set->integral ||
        (!equations && problem->names.coordinate_count == 1))
        return set->items;
    return equations
               ? (int64_t)fmax(1, round((double)problem->settings.evaluation.points * set->share))
               : problem->settings.evaluation.condition_points;
}

/* The number of items and the weights that follow from it. */
static void set_items(sgi_residual_set *c, int64_t items)
{
    c->items = items;
    for (int j = 0; j < c->set->component_count; j++) {
        double weight = c->set->terms[c->set->component_terms[j]].weight;
        c->parameters[2 * j] = c->set->integral ? 0 : 2 * weight / (double)items;
        c->roots[j] = sqrt(2 * weight / (double)items);
    }
}

/* The points and weights of an integral. */
static sg_status make_quadrature(sgi_residual *r, sgi_residual_set *c)
{
    size_t items = (size_t)c->sampled_items, d = (size_t)r->problem->names.coordinate_count;
    bool normals = sgi_residual_set_needs_normals(c);
    c->fixed.count = items;
    c->fixed.points = sgi_allocate(&r->allocator, items, d * sizeof(double));
    if (normals)
        c->fixed.normals = sgi_allocate(&r->allocator, items, d * sizeof(double));
    c->weights = sgi_allocate(&r->allocator, items, sizeof *c->weights);
    c->totals = sgi_arena_allocate(&r->arena, (size_t)c->set->component_count, sizeof *c->totals);
    if (!c->fixed.points || (normals && !c->fixed.normals) || !c->weights || !c->totals)
        return SG_ERROR_MEMORY;
    sgi_quadrature(r->problem, c->set, items, c->fixed.points, c->fixed.normals, c->weights);
    return SG_OK;
}

static sg_status make_set(sgi_residual *r, int k)
{
    const sgi_point_set *set = &r->problem->sets[k];
    sgi_residual_set *c = &r->contexts[k];
    size_t components = (size_t)set->component_count;
    *c = (sgi_residual_set){.problem = r->problem,
                            .set = set,
                            .type = r->options.type,
                            .isa = r->isa,
                            .earlier = r->options.earlier,
                            .sampled_items = items_of(r->problem, &r->options, k)};
    if (c->sampled_items < 1)
        return SG_ERROR_ARGUMENT;
    c->parameters = sgi_arena_allocate(&r->arena, 2 * components, sizeof *c->parameters);
    c->roots = sgi_arena_allocate(&r->arena, components, sizeof *c->roots);
    c->workspace_bytes = sgi_residual_set_workspace(c);
    c->workspaces = sgi_allocate(&r->allocator, (size_t)r->options.workers, c->workspace_bytes);
    if (!c->parameters || !c->roots || !c->workspaces)
        return SG_ERROR_MEMORY;
    set_items(c, c->sampled_items);
    sg_status status = sgi_cloud_create(&c->cloud, r->problem, k, c->sampled_items,
                                        r->options.stream, r->sobol, &r->arena);
    if (status == SG_OK && set->integral)
        status = make_quadrature(r, c);
    if (status != SG_OK)
        return status;
    status = sg_jet_plan_create(&r->plans[k], r->problem->names.coordinate_count, set->requests,
                                set->request_count, &r->allocator);
    r->sets[k] = (sg_jet_set){.plan = r->plans[k],
                              .items = (size_t)c->items,
                              .points_per_item = set->points_per_item,
                              .sums = 2 * components,
                              .components = set->component_count,
                              .points = sgi_residual_set_points,
                              .varying = set->varying.program ? sgi_residual_set_varying : NULL,
                              .residual = sgi_residual_set_residual,
                              .context = c};
    return status;
}

sg_status sgi_residual_create(sgi_residual **out, const sgi_problem *problem,
                              const sgi_residual_options *options, const sg_allocator *given)
{
    *out = NULL;
    if (options->workers < 1)
        return SG_ERROR_ARGUMENT;
    sg_isa isa = sg_isa_resolve(options->isa);
    if (isa == SG_ISA_AUTO)
        return SG_ERROR_UNSUPPORTED;
    sgi_residual *r = SGI_NEW(sgi_residual, given);
    if (!r)
        return SG_ERROR_MEMORY;
    r->problem = problem;
    r->options = *options;
    r->options.items = NULL;
    r->isa = isa;
    sgi_arena_init(&r->arena, &r->allocator);
    size_t count = (size_t)problem->set_count;
    r->contexts = sgi_arena_allocate(&r->arena, count, sizeof *r->contexts);
    r->sets = sgi_arena_allocate(&r->arena, count, sizeof *r->sets);
    r->plans = sgi_arena_allocate(&r->arena, count, sizeof *r->plans);
    r->sobol = sgi_arena_allocate(&r->arena, 1, sizeof *r->sobol);
    sg_status status = r->contexts && r->sets && r->plans && r->sobol ? SG_OK : SG_ERROR_MEMORY;
    if (status == SG_OK)
        sgi_sobol_make(r->sobol);
    r->options.items = options->items;
    for (int k = 0; k < problem->set_count && status == SG_OK; k++)
        status = make_set(r, k);
    r->options.items = NULL; /* the caller's array is not kept */
    if (status != SG_OK)
        sgi_residual_destroy(r);
    else
        *out = r;
    return status;
}

void sgi_residual_destroy(sgi_residual *r)
{
    if (!r)
        return;
    for (int k = 0; r->plans && k < r->problem->set_count; k++)
        sg_jet_plan_destroy(r->plans[k]);
    for (int k = 0; r->contexts && k < r->problem->set_count; k++) {
        sgi_given_release(&r->contexts[k].given, &r->allocator);
        sgi_given_release(&r->contexts[k].fixed, &r->allocator);
        sgi_release(&r->allocator, r->contexts[k].weights);
        sgi_given_release(&r->contexts[k].kept, &r->allocator);
        sgi_release(&r->allocator, r->contexts[k].workspaces);
    }
    sgi_arena_clear(&r->arena);
    sgi_release(&r->allocator, r);
}

const sg_jet_set *sgi_residual_sets(const sgi_residual *r)
{
    return r->sets;
}

int64_t sgi_residual_items(const sgi_residual *r, int set)
{
    return r->contexts[set].items;
}

void sgi_residual_begin(sgi_residual *r, uint64_t seed, uint64_t step)
{
    for (int k = 0; k < r->problem->set_count; k++)
        sgi_cloud_move(&r->contexts[k].cloud, seed, step);
}

sg_status sgi_residual_give(sgi_residual *r, int set, const double *points, size_t count,
                            sg_diagnostic *diagnostic)
{
    sgi_residual_set *c = &r->contexts[set];
    if (!points) {
        sgi_given_release(&c->given, &r->allocator);
        set_items(c, c->kept.count > 0 ? (int64_t)c->kept.count : c->sampled_items);
        return SG_OK;
    }
    if (c->set->data)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, c->set->name,
                             "'%s' is measured: its points are those of its values", c->set->name);
    sg_status status = sgi_given_copy(&c->given, r->problem, set, points, count,
                                      sgi_residual_set_needs_normals(c), &r->allocator, diagnostic);
    if (status == SG_OK)
        set_items(c, (int64_t)count);
    return status;
}

/* ---- Kept points ---------------------------------------------------------------------------- */

sg_status sgi_residual_reserve(sgi_residual *r, int set, size_t room)
{
    sgi_residual_set *c = &r->contexts[set];
    size_t coordinates = (size_t)r->problem->names.coordinate_count;
    size_t width = (size_t)c->set->points_per_item * coordinates;
    c->kept.points = sgi_allocate(&r->allocator, room, width * sizeof(double));
    if (sgi_residual_set_needs_normals(c))
        c->kept.normals = sgi_allocate(&r->allocator, room, coordinates * sizeof(double));
    if (!c->kept.points || (sgi_residual_set_needs_normals(c) && !c->kept.normals))
        return SG_ERROR_MEMORY;
    return SG_OK;
}

void sgi_residual_keep(sgi_residual *r, int set, size_t place, const sgi_residual *from,
                       size_t item)
{
    const sgi_residual_set *source = &from->contexts[set];
    sgi_residual_set *c = &r->contexts[set];
    int coordinates = r->problem->names.coordinate_count;
    size_t width = (size_t)(c->set->points_per_item * coordinates);
    const sgi_given *stored = sgi_residual_set_stored(source);
    void *columns[2 * SG_MOST_COORDINATES];
    for (size_t k = 0; k < width; k++)
        columns[k] = c->kept.points + place * width + k;
    if (stored)
        sgi_given_points(stored, width, item, 1, SG_FLOAT64, columns);
    else
        sgi_cloud_points(&source->cloud, item, 1, SG_FLOAT64, columns);
    for (int k = 0; c->kept.normals && k < coordinates; k++)
        columns[k] = c->kept.normals + place * (size_t)coordinates + (size_t)k;
    if (c->kept.normals && stored)
        sgi_given_normals(stored, item, 1, SG_FLOAT64, coordinates, columns);
    else if (c->kept.normals)
        sgi_cloud_normals(&source->cloud, item, 1, SG_FLOAT64, columns);
}

bool sgi_residual_is_given(const sgi_residual *r)
{
    bool given = false;
    for (int k = 0; k < r->problem->set_count; k++)
        given = given || r->contexts[k].given.points;
    return given;
}

void sgi_residual_keep_count(sgi_residual *r, int set, size_t count)
{
    sgi_residual_set *c = &r->contexts[set];
    c->kept.count = count;
    if (!c->given.points)
        set_items(c, count > 0 ? (int64_t)count : c->sampled_items);
}

sgi_given sgi_residual_kept(const sgi_residual *r, int set)
{
    return r->contexts[set].kept;
}

void sgi_residual_lend(sgi_residual *r, int set, const double *points, size_t count)
{
    sgi_residual_set *c = &r->contexts[set];
    sgi_given_release(&c->given, &r->allocator);
    c->given = (sgi_given){.lent = points, .count = count};
    set_items(c, (int64_t)count);
}

void sgi_residual_resize(sgi_residual *r, int set, int64_t items)
{
    sgi_residual_set *c = &r->contexts[set];
    sgi_given_release(&c->given, &r->allocator);
    c->sampled_items = items;
    sgi_cloud_resize(&c->cloud, items);
    set_items(c, items);
}

void sgi_residual_weigh_time(sgi_residual *r, int set, const sgi_time_factors *factors)
{
    r->contexts[set].by_time = factors;
}

/* By way of tiles of the network's type, so that the points are those that the engine sees. */
void sgi_residual_points(const sgi_residual *r, int set, double *out)
{
    sgi_residual_set *c = &r->contexts[set];
    double columns[2 * SG_MOST_COORDINATES][SG_JET_TILE_POINTS];
    void *at[2 * SG_MOST_COORDINATES];
    size_t width = (size_t)(c->set->points_per_item * r->problem->names.coordinate_count);
    size_t items = (size_t)c->items;
    for (size_t k = 0; k < width; k++)
        at[k] = columns[k];
    for (size_t first = 0; first < items; first += SG_JET_TILE_POINTS) {
        size_t n = items - first < SG_JET_TILE_POINTS ? items - first : SG_JET_TILE_POINTS;
        sgi_residual_set_points(c, (size_t)set, first, n, 0, at);
        for (size_t k = 0; k < width; k++)
            for (size_t i = 0; i < n; i++)
                out[(first + i) * width + k] = r->options.type == SG_FLOAT32
                                                   ? (double)((const float *)at[k])[i]
                                                   : columns[k][i];
    }
}

void sgi_residual_store(sgi_residual *r, double *residuals)
{
    for (int k = 0; k < r->problem->set_count; k++) {
        sgi_residual_set *c = &r->contexts[k];
        c->stored = residuals;
        if (residuals)
            residuals += (size_t)c->items * (size_t)c->set->component_count;
    }
}

/* ---- Integrals ---------------------------------------------------------------------------- */

bool sgi_residual_is_integral(const sgi_residual *r, int set)
{
    return r->contexts[set].set->integral;
}

void sgi_residual_total(sgi_residual *r, int set, const double *sums)
{
    sgi_residual_set *c = &r->contexts[set];
    for (int j = 0; j < c->set->component_count; j++) {
        c->totals[j] = sums[2 * j + 1];
        c->parameters[2 * j + 1] =
            2 * c->set->terms[c->set->component_terms[j]].weight * c->totals[j];
    }
}

void sgi_residual_average(const sgi_residual *r, int set, double *vector, size_t stride,
                          bool adjoint)
{
    const sgi_residual_set *c = &r->contexts[set];
    size_t components = (size_t)c->set->component_count, items = (size_t)c->items;
    for (size_t j = 0; j < components; j++) {
        double sum = 0;
        for (size_t i = 0; i < items; i++)
            sum += (adjoint ? 1 : sgi_residual_set_weight(c, i)) *
                   vector[(i * components + j) * stride];
        for (size_t i = 0; i < items; i++)
            vector[(i * components + j) * stride] =
                (adjoint ? sgi_residual_set_weight(c, i) : 1) * sum;
    }
}

/* ---- Losses ------------------------------------------------------------------------------- */

size_t sgi_residual_terms(const sgi_residual *r)
{
    size_t count = 0;
    for (int k = 0; k < r->problem->set_count; k++)
        count += (size_t)r->problem->sets[k].term_count;
    return count;
}

void sgi_residual_combine(const sgi_residual *r, const double *const *sums, sgi_loss *loss)
{
    size_t base = 0;
    double count = 0, sum = 0, squares = 0;
    loss->total = 0;
    for (size_t t = 0; loss->means && t < sgi_residual_terms(r); t++)
        loss->means[t] = 0;
    for (int k = 0; k < r->problem->set_count; k++) {
        const sgi_residual_set *c = &r->contexts[k];
        double items = (double)c->items;
        for (int j = 0; j < c->set->component_count; j++) {
            int term = c->set->component_terms[j];
            double total = sums[k][2 * j + 1], mean = sums[k][2 * j] / items;
            if (c->set->integral) { /* as if every item had the mean */
                mean = total * total;
                total *= items;
            }
            loss->total += c->set->terms[term].weight * mean;
            if (loss->means)
                loss->means[base + (size_t)term] += mean;
            count += items;
            sum += c->roots[j] * total;
            squares += c->roots[j] * c->roots[j] * mean * items;
        }
        base += (size_t)c->set->term_count;
    }
    double mean = count > 0 ? sum / count : 0, m2 = squares - count * mean * mean;
    loss->residual = (sg_moments){count, mean, m2 < 0 ? 0 : m2}; /* keeps NaN */
}

void sgi_residual_collect(const sgi_residual *r, const sg_jet *engine, sgi_loss *loss)
{
    const double *sums[SG_MOST_SETS];
    for (int k = 0; k < r->problem->set_count; k++)
        sums[k] = sg_jet_sums(engine, (size_t)k);
    sgi_residual_combine(r, sums, loss);
}
