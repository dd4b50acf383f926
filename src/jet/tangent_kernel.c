/* K = J P J^T. What is kept of an item is, layer by layer, its part of the rows or the inputs and
 * adjoints that this part is made of, whichever makes the products of pairs cheaper. Panels that
 * all fit in memory together are passed through the network once; otherwise every pair of panels is
 * brought together, two at a time. */
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "base/ranks.h"
#include "jet/jacobian.h"

enum { BLOCK_ROWS = 192 }; /* residuals of a unit's block of K, each way */

/* Beside its multiplications an inner product of length k has costs of its own, such as loading and
 * storing its sums. They are counted as if k were this much longer. */
enum { OVERHEAD_K = 8 };

static const sg_jet_set *set_at(const sg_jacobian *jacobian, size_t set)
{
    return &jacobian->jet->states[set].set;
}

/* Rows of an item: channels, of both sides. */
static size_t item_rows(const sg_jet_set *set)
{
    return (size_t)set->points_per_item * (size_t)set->plan->channels;
}

/* ---- The choice ----------------------------------------------------------------------------- */

/* Operations that a layer's part of all pairs of residuals takes, with `overhead` added to the
 * length of each inner product. Half of them are counted, as K is symmetric. */
static double layer_cost(const sg_jacobian *jacobian, int layer, bool factored, double overhead)
{
    const sg_jet *jet = jacobian->jet;
    double inputs = jet->shapes[layer].inputs, outputs = jet->shapes[layer].outputs, sum = 0;
    for (size_t s = 0; s < jet->set_count; s++)
        for (size_t t = 0; t < jet->set_count; t++) {
            const sg_jet_set *a = set_at(jacobian, s), *b = set_at(jacobian, t);
            double components = (double)a->components * b->components;
            double rows = (double)item_rows(a) * (double)item_rows(b);
            double pairs = (double)a->items * (double)b->items;
            sum +=
                pairs *
                (factored ? rows * (2 * (inputs + overhead) + components * 2 * (outputs + overhead))
                          : components * 2 * (outputs * (inputs + 1) + overhead));
        }
    return sum / 2;
}

static bool is_factored(const sg_jacobian *jacobian, sg_jacobian_method method, int layer)
{
    if (method != SG_JACOBIAN_CHEAPEST)
        return method == SG_JACOBIAN_GRAM;
    return layer_cost(jacobian, layer, true, OVERHEAD_K) <
           layer_cost(jacobian, layer, false, OVERHEAD_K);
}

void sgi_kernel_choose(sg_jacobian *jacobian, sg_jacobian_method method)
{
    const sg_jet *jet = jacobian->jet;
    size_t layers = (size_t)jet->network->layer_count;
    for (size_t s = 0; s < jet->set_count; s++) {
        sgi_jet_store *store = &jacobian->stores[s];
        sgi_jet_kept *kept = jacobian->kept + s * layers;
        size_t rows = item_rows(set_at(jacobian, s));
        size_t components = (size_t)set_at(jacobian, s)->components;
        *store = (sgi_jet_store){.layers = kept};
        for (size_t l = 0; l < layers; l++) {
            size_t inputs = (size_t)jet->shapes[l].inputs, outputs = (size_t)jet->shapes[l].outputs;
            bool factored = is_factored(jacobian, method, (int)l);
            kept[l] = (sgi_jet_kept){factored, factored ? store->input_size : store->row_size,
                                     store->adjoint_size};
            store->row_size += factored ? 0 : outputs * (inputs + 1);
            store->input_size += factored ? rows * inputs : 0;
            store->adjoint_size += factored ? components * rows * outputs : 0;
        }
        store->scalars = store->row_size;
        store->row_size += jet->network->scalar_count;
    }
}

size_t sgi_kernel_item_bytes(const sg_jacobian *jacobian, size_t set)
{
    const sgi_jet_store *store = &jacobian->stores[set];
    size_t components = (size_t)set_at(jacobian, set)->components;
    if (components == 0)
        return 0;
    return (components * store->row_size + store->input_size + store->adjoint_size) *
           sgi_type_size(jacobian->jet->network->type);
}

/* ---- Products of pairs ---------------------------------------------------------------------- */

static sgi_gram_side gram_side(const sg_jacobian *jacobian, size_t set, size_t items)
{
    const sg_jet_set *of = set_at(jacobian, set);
    return (sgi_gram_side){.items = items,
                           .channels = (int)item_rows(of),
                           .plan_channels = of->plan->channels,
                           .components = of->components};
}

size_t sgi_kernel_scratch(const sg_jacobian *jacobian)
{
    const sg_jet *jet = jacobian->jet;
    size_t most = 0;
    for (size_t s = 0; s < jet->set_count; s++)
        for (size_t t = 0; t < jet->set_count; t++)
            for (int l = 0; l < jet->network->layer_count; l++) {
                sgi_gram args = {.left = gram_side(jacobian, s, 1),
                                 .right = gram_side(jacobian, t, 1),
                                 .inputs = jet->shapes[l].inputs,
                                 .outputs = jet->shapes[l].outputs};
                if (args.left.components == 0 || args.right.components == 0)
                    continue;
                size_t size = jet->kernels->gram_scratch(&args);
                most = size > most ? size : most;
            }
    return most;
}

/* Two panels, possibly the same one, and their block of K. */
typedef struct pair_job {
    sg_jacobian *jacobian;
    const double *weights;
    const double *columns; /* (parameters), or NULL: what whole rows are multiplied by */
    double *kernel;
    size_t all; /* residuals: rows and columns of K */
    const sgi_kept_panel *left, *right;
    size_t left_items, right_items, right_blocks; /* items of a block, blocks along the right */
    size_t before; /* blocks of the pairs before: ranks take turns through all of them */
} pair_job;

/* A stretch of a panel's items. */
typedef struct stretch {
    const sgi_kept_panel *of;
    size_t first, items;
} stretch;

static void *at(const sg_jacobian *jacobian, void *base, size_t element)
{
    return sgi_element(base, jacobian->jet->network->type, element);
}

static sgi_gram_side kept_side(const sg_jacobian *jacobian, const stretch *s, int layer)
{
    sgi_gram_side side = gram_side(jacobian, s->of->panel.set, s->items);
    const sgi_jet_store *store = &s->of->store;
    side.input_item = store->input_size;
    side.adjoint_item = store->adjoint_size;
    side.inputs =
        at(jacobian, store->inputs, s->first * store->input_size + store->layers[layer].begin);
    side.adjoints = at(jacobian, store->adjoints,
                       s->first * store->adjoint_size + store->layers[layer].adjoints);
    return side;
}

/* c += factor * rows rows^T over `k` elements from `begin` on. */
static void add_rows(const pair_job *job, const stretch *left, const stretch *right, size_t begin,
                     size_t k, double factor, double *c, int worker)
{
    sg_jacobian *jacobian = job->jacobian;
    const sgi_jet_store *a = &left->of->store, *b = &right->of->store;
    size_t p = (size_t)set_at(jacobian, left->of->panel.set)->components;
    size_t q = (size_t)set_at(jacobian, right->of->panel.set)->components;
    sgi_multiply args = {.m = left->items * p,
                         .n = right->items * q,
                         .k = k,
                         .a = at(jacobian, a->rows, left->first * p * a->row_size + begin),
                         .b = at(jacobian, b->rows, right->first * q * b->row_size + begin),
                         .a_row = a->row_size,
                         .a_step = 1,
                         .b_row = b->row_size,
                         .b_step = 1,
                         .factor = factor,
                         .c = c,
                         .c_row = job->all};
    jacobian->jet->kernels->multiply(&args, sgi_jacobian_scratch(jacobian, worker));
}

static void add_layer(const pair_job *job, const stretch *left, const stretch *right, int layer,
                      double *c, int worker)
{
    sg_jacobian *jacobian = job->jacobian;
    const sgi_jet_kept *kept = &left->of->store.layers[layer];
    int inputs = jacobian->jet->shapes[layer].inputs,
        outputs = jacobian->jet->shapes[layer].outputs;
    double weight = job->weights ? job->weights[2 * layer] : 1;
    double bias = job->weights ? job->weights[2 * layer + 1] : 1;
    size_t elements = (size_t)inputs * (size_t)outputs;
    if (kept->factored) {
        sgi_gram args = {.left = kept_side(jacobian, left, layer),
                         .right = kept_side(jacobian, right, layer),
                         .inputs = inputs,
                         .outputs = outputs,
                         .weight = weight,
                         .bias = bias,
                         .c = c,
                         .c_row = job->all};
        jacobian->jet->kernels->gram(&args, sgi_jacobian_scratch(jacobian, worker));
        return;
    }
    bool together = weight == bias;
    add_rows(job, left, right, kept->begin, elements + (together ? (size_t)outputs : 0), weight, c,
             worker);
    if (!together)
        add_rows(job, left, right, kept->begin + elements, (size_t)outputs, bias, c, worker);
}

/* The scalars have one element of a row each, whatever is kept of the layers. */
static void add_scalars(const pair_job *job, const stretch *left, const stretch *right, double *c,
                        int worker)
{
    const sg_jet_network *network = job->jacobian->jet->network;
    for (size_t k = 0; k < network->scalar_count; k++) {
        double weight = job->weights ? job->weights[2 * (size_t)network->layer_count + k] : 1;
        add_rows(job, left, right, left->of->store.scalars + k, 1, weight, c, worker);
    }
}

/* Entries above the diagonal, copied below it. */
static void mirror(const pair_job *job, size_t row, size_t rows, size_t column, size_t columns)
{
    for (size_t i = row; i < row + rows; i++)
        for (size_t j = column > i ? column : i + 1; j < column + columns; j++)
            job->kernel[j * job->all + i] = job->kernel[i * job->all + j];
}

static stretch cut(const sgi_kept_panel *panel, size_t block, size_t items)
{
    size_t first = block * items, rest = panel->panel.count - first;
    return (stretch){panel, first, rest < items ? rest : items};
}

static void pair_block(void *context, size_t unit, int worker)
{
    const pair_job *job = context;
    const sg_jacobian *jacobian = job->jacobian;
    size_t i = unit / job->right_blocks, j = unit % job->right_blocks;
    sg_pool *pool = jacobian->jet->pool;
    size_t turn = (job->before + unit) % (size_t)sgi_rank_count(pool);
    if ((job->left == job->right && j < i) || turn != (size_t)sgi_rank_index(pool))
        return;
    stretch left = cut(job->left, i, job->left_items), right = cut(job->right, j, job->right_items);
    size_t p = (size_t)set_at(jacobian, job->left->panel.set)->components;
    size_t q = (size_t)set_at(jacobian, job->right->panel.set)->components;
    size_t row = job->left->panel.row + left.first * p;
    size_t column = job->right->panel.row + right.first * q;
    double *c = job->kernel + row * job->all + column;
    for (size_t r = 0; r < left.items * p; r++)
        memset(c + r * job->all, 0, right.items * q * sizeof *c);
    for (int l = 0; l < jacobian->jet->network->layer_count; l++)
        add_layer(job, &left, &right, l, c, worker);
    add_scalars(job, &left, &right, c, worker);
    mirror(job, row, left.items * p, column, right.items * q);
}

static size_t block_items(const sg_jacobian *jacobian, const sgi_kept_panel *panel)
{
    size_t items = BLOCK_ROWS / (size_t)set_at(jacobian, panel->panel.set)->components;
    return items > 0 ? items : 1;
}

static void multiply_pair(pair_job *job, const sgi_kept_panel *left, const sgi_kept_panel *right)
{
    job->left = left;
    job->right = right;
    job->left_items = block_items(job->jacobian, left);
    job->right_items = block_items(job->jacobian, right);
    job->right_blocks = sgi_parts(right->panel.count, job->right_items);
    size_t left_blocks = sgi_parts(left->panel.count, job->left_items);
    sgi_jacobian_run(job->jacobian, left_blocks * job->right_blocks, pair_block, job);
    job->before += left_blocks * job->right_blocks;
}

/* ---- Panels --------------------------------------------------------------------------------- */

static size_t all_bytes(const sg_jacobian *jacobian)
{
    size_t bytes = 0;
    for (size_t s = 0; s < jacobian->jet->set_count; s++)
        bytes += set_at(jacobian, s)->items * sgi_kernel_item_bytes(jacobian, s);
    return bytes;
}

static size_t whole_set(const sg_jacobian *jacobian, size_t set)
{
    return set_at(jacobian, set)->items;
}

static size_t half_capacity(const sg_jacobian *jacobian, size_t set)
{
    size_t bytes = sgi_kernel_item_bytes(jacobian, set);
    return bytes > 0 ? jacobian->panel_bytes / 2 / bytes : 0;
}

/* What multiplies the columns of a panel's rows. */
typedef struct column_job {
    const sgi_kept_panel *kept;
    const double *columns;
    sg_type type;
} column_job;

static void multiply_columns(void *context, size_t unit, int worker)
{
    (void)worker;
    const column_job *job = context;
    const sgi_jet_store *store = &job->kept->store;
    size_t size = store->row_size, end = (unit + 1) * BLOCK_ROWS;
    end = end < job->kept->panel.rows ? end : job->kept->panel.rows;
    for (size_t r = unit * BLOCK_ROWS; r < end; r++) {
        void *row = sgi_element(store->rows, job->type, r * size);
        for (size_t p = 0; p < size; p++)
            if (job->type == SG_FLOAT32)
                ((float *)row)[p] *= (float)job->columns[p];
            else
                ((double *)row)[p] *= job->columns[p];
    }
}

/* Lays the panel out at byte `begin` of the memory and fills it; returns the byte behind it. */
static size_t keep_panel(const pair_job *job, const sgi_panel *panel, size_t begin,
                         sgi_kept_panel *kept)
{
    sg_jacobian *jacobian = job->jacobian;
    size_t size = sgi_type_size(jacobian->jet->network->type);
    kept->panel = *panel;
    kept->store = jacobian->stores[panel->set];
    kept->store.rows = (char *)jacobian->panels + begin;
    begin += panel->rows * kept->store.row_size * size;
    kept->store.inputs = (char *)jacobian->panels + begin;
    begin += panel->count * kept->store.input_size * size;
    kept->store.adjoints = (char *)jacobian->panels + begin;
    begin += panel->count * kept->store.adjoint_size * size;
    sgi_fill_panel(jacobian, panel, &kept->store);
    column_job columns = {kept, job->columns, jacobian->jet->network->type};
    if (job->columns)
        sgi_jacobian_run(jacobian, sgi_parts(panel->rows, BLOCK_ROWS), multiply_columns, &columns);
    return begin;
}

/* Every panel with itself and with all later ones, two in memory at a time. */
static void kernel_by_pairs(pair_job *job)
{
    sg_jacobian *jacobian = job->jacobian;
    sgi_kept_panel left, right;
    for (sgi_panel p = {0}; sgi_next_panel(jacobian, half_capacity, &p);) {
        keep_panel(job, &p, 0, &left);
        multiply_pair(job, &left, &left);
        for (sgi_panel q = p; sgi_next_panel(jacobian, half_capacity, &q);) {
            keep_panel(job, &q, jacobian->panel_bytes / 2, &right);
            multiply_pair(job, &left, &right);
        }
    }
}

/* Every set is one panel, and all are in memory. */
static void kernel_at_once(pair_job *job)
{
    sg_jacobian *jacobian = job->jacobian;
    sgi_kept_panel *kept = jacobian->resident;
    size_t count = 0, begin = 0;
    for (sgi_panel p = {0}; sgi_next_panel(jacobian, whole_set, &p); count++)
        begin = keep_panel(job, &p, begin, &kept[count]);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i; j < count; j++)
            multiply_pair(job, &kept[i], &kept[j]);
}

static void make_kernel(pair_job *job, sg_jacobian_method method)
{
    sgi_kernel_choose(job->jacobian, method);
    job->all = sg_jacobian_residuals(job->jacobian);
    sg_pool *pool = job->jacobian->jet->pool;
    if (sgi_rank_count(pool) > 1) /* each fills in its own blocks */
        memset(job->kernel, 0, job->all * job->all * sizeof *job->kernel);
    if (all_bytes(job->jacobian) <= job->jacobian->panel_bytes)
        kernel_at_once(job);
    else
        kernel_by_pairs(job);
    sg_pool_sum(pool, job->kernel, SG_FLOAT64, job->all * job->all);
}

sg_status sg_jacobian_kernel(sg_jacobian *jacobian, const double *weights, double *kernel)
{
    if (!jacobian || !kernel)
        return SG_ERROR_ARGUMENT;
    pair_job job = {.jacobian = jacobian, .weights = weights, .kernel = kernel};
    make_kernel(&job, jacobian->method);
    return SG_OK;
}

sg_status sg_jacobian_column_kernel(sg_jacobian *jacobian, const double *columns, double *kernel)
{
    if (!jacobian || !columns || !kernel)
        return SG_ERROR_ARGUMENT;
    pair_job job = {.jacobian = jacobian, .columns = columns, .kernel = kernel};
    make_kernel(&job, SG_JACOBIAN_ROWS);
    return SG_OK;
}

/* ---- What it costs -------------------------------------------------------------------------- */

/* Operations of passing a panel through the network, forward once and back for each component. */
static double panel_cost(const sg_jacobian *jacobian, const sgi_panel *panel)
{
    const sg_jet_set *set = set_at(jacobian, panel->set);
    const sg_jet_network *network = jacobian->jet->network;
    double forward = sg_jet_plan_flops(set->plan, network, false);
    double reverse = sg_jet_plan_flops(set->plan, network, true) - forward;
    return (double)panel->count * set->points_per_item * (forward + set->components * reverse);
}

sg_jacobian_cost sg_jacobian_kernel_cost(sg_jacobian *jacobian)
{
    if (!jacobian)
        return (sg_jacobian_cost){0};
    sg_jacobian_cost cost = {0};
    sgi_kernel_choose(jacobian, jacobian->method);
    bool at_once = all_bytes(jacobian) <= jacobian->panel_bytes;
    for (sgi_panel p = {0}; sgi_next_panel(jacobian, at_once ? whole_set : half_capacity, &p);) {
        cost.panels++;
        /* The panel is made for each one before it and once for all after it. */
        cost.operations += panel_cost(jacobian, &p) * (at_once ? 1 : (double)cost.panels);
    }
    cost.panels = at_once && cost.panels > 0 ? 1 : cost.panels;
    for (int l = 0; l < jacobian->jet->network->layer_count; l++) {
        bool factored = jacobian->kept[l].factored;
        cost.operations += layer_cost(jacobian, l, factored, 0);
        cost.gram_layers += factored;
    }
    return cost;
}
