/* Products with J and J^T, and the normal equations, from whole rows, a panel of them at a time.
 * Results that sum over residuals (J^T W, J^T J) grow panel after panel in the caller's memory.
 * Each thread computes a part of the result for all rows of the panel, so no sum depends on
 * threads. */
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "base/ranks.h"
#include "jet/jacobian.h"

enum {
    LEAST_TILES = 4,     /* of a panel: threads share them, and no sum may depend on threads */
    ROW_BLOCK = 96,      /* rows of the panel that one unit of J V works on, at most */
    ROW_STEP = 6,        /* a block of a product has this many rows */
    COLUMN_BLOCK = 1536, /* parameters that one unit of J^T W works on */
    SQUARE_BLOCK = SGI_SQUARE_STEP /* parameters of a unit of J^T J, each way */
};

/* Panels have about this size, so that they stay in cache between making and using them. */
static const size_t PANEL_BYTES = (size_t)4 << 20;
/* And with copies for J^T J, which are read from the last cache. */
static const size_t SQUARE_BYTES = (size_t)12 << 20;

/* What the units see of one panel and one group of vectors. */
typedef struct product_job {
    sg_jacobian *jacobian;
    size_t parameters, rows, count; /* rows of the panel, vectors of the group */
    size_t block;                   /* rows of a unit of J V */
    const void *rows_at;            /* (rows, parameters) */
    const void *vectors;            /* (count, vector_row) of the network's type */
    size_t vector_row;
    double *out; /* (count, out_row) */
    size_t out_row;
} product_job;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of items whose rows fit into the memory of a panel. */
static size_t most_rows(const sg_jacobian *jacobian, size_t set)
{
    const sg_jet_network *network = jacobian->jet->network;
    size_t row = network->parameters * sgi_type_size(network->type);
    size_t rows = smaller(jacobian->panel_bytes / row, SGI_PANEL_ROWS);
    return rows / (size_t)jacobian->jet->states[set].set.components;
}

/* The number of items of a panel: whole tiles, as many as PANEL_BYTES holds, at least a few. */
static size_t cached_rows(const sg_jacobian *jacobian, size_t set)
{
    const sgi_jet_state *state = &jacobian->jet->states[set];
    const sg_jet_network *network = jacobian->jet->network;
    size_t item =
        (size_t)state->set.components * network->parameters * sgi_type_size(network->type);
    size_t tile = (size_t)state->items, tiles = PANEL_BYTES / item / tile;
    return smaller(most_rows(jacobian, set),
                   (tiles > LEAST_TILES ? tiles / LEAST_TILES * LEAST_TILES : LEAST_TILES) * tile);
}

static void fill_rows(sg_jacobian *jacobian, const sgi_panel *panel, bool residuals)
{
    sgi_jet_store store = {.layers = jacobian->jet->whole,
                           .scalars = jacobian->jet->network->scalar_begin,
                           .row_size = jacobian->jet->network->parameters,
                           .rows = jacobian->panels,
                           .residuals = residuals ? jacobian->residuals : NULL};
    sgi_fill_panel(jacobian, panel, &store);
}

static const void *at(const sg_jacobian *jacobian, const void *base, size_t element)
{
    return sgi_element((void *)(uintptr_t)base, jacobian->jet->network->type, element);
}

static void multiply(const product_job *job, const sgi_multiply *args, int worker)
{
    job->jacobian->jet->kernels->multiply(args, sgi_jacobian_scratch(job->jacobian, worker));
}

/* ---- J V --------------------------------------------------------------------------------------
 */

static void push_block(void *context, size_t unit, int worker)
{
    const product_job *job = context;
    size_t first = unit * job->block;
    sgi_multiply args = {.m = job->count,
                         .n = smaller(job->rows - first, job->block),
                         .k = job->parameters,
                         .a = job->vectors,
                         .a_row = job->vector_row,
                         .a_step = 1,
                         .b = at(job->jacobian, job->rows_at, first * job->parameters),
                         .b_row = job->parameters,
                         .b_step = 1,
                         .factor = 1,
                         .c = job->out + first,
                         .c_row = job->out_row};
    for (size_t i = 0; i < args.m; i++)
        memset(args.c + i * args.c_row, 0, args.n * sizeof *args.c);
    multiply(job, &args, worker);
}

/* J V of the panel. Every thread gets a part: the products of a row do not depend on the others. */
static void push_panel(product_job *job, const sgi_panel *panel)
{
    size_t threads = (size_t)job->jacobian->jet->threads, units = sgi_parts(panel->rows, ROW_BLOCK);
    size_t share = sgi_parts(panel->rows, units > threads ? units : threads);
    job->rows = panel->rows;
    job->block = sgi_parts(share, ROW_STEP) * ROW_STEP;
    sgi_jacobian_run(job->jacobian, sgi_parts(job->rows, job->block), push_block, job);
}

/* ---- J^T W ------------------------------------------------------------------------------------
 */

/* out += vectors * rows */
static void pull_block(void *context, size_t unit, int worker)
{
    const product_job *job = context;
    size_t first = unit * COLUMN_BLOCK;
    sgi_multiply args = {.m = job->count,
                         .n = smaller(job->parameters - first, COLUMN_BLOCK),
                         .k = job->rows,
                         .a = job->vectors,
                         .a_row = job->vector_row,
                         .a_step = 1,
                         .b = at(job->jacobian, job->rows_at, first),
                         .b_row = 1,
                         .b_step = job->parameters,
                         .factor = 1,
                         .c = job->out + first,
                         .c_row = job->out_row};
    multiply(job, &args, worker);
}

/* ---- Groups of vectors ------------------------------------------------------------------------
 */

/* `count` stretches of `length` numbers, `from_row` and `to_row` apart, to the network's type. */
static void convert(const double *from, size_t from_row, float *to, size_t to_row, size_t count,
                    size_t length)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < length; j++)
            to[i * to_row + j] = (float)from[i * from_row + j];
}

static product_job new_job(sg_jacobian *jacobian, size_t count)
{
    return (product_job){.jacobian = jacobian,
                         .parameters = jacobian->jet->network->parameters,
                         .count = count,
                         .rows_at = jacobian->panels};
}

/* The vectors of a group over the parameters, in the network's type. */
static const void *group_vectors(sg_jacobian *jacobian, size_t count, const double *vectors)
{
    size_t parameters = jacobian->jet->network->parameters;
    if (!jacobian->vectors)
        return vectors;
    convert(vectors, parameters, jacobian->vectors, parameters, count, parameters);
    return jacobian->vectors;
}

static void push_group(sg_jacobian *jacobian, size_t count, const double *vectors, double *products)
{
    product_job job = new_job(jacobian, count);
    job.vectors = group_vectors(jacobian, count, vectors);
    job.vector_row = job.parameters;
    job.out_row = sg_jacobian_residuals(jacobian);
    if (sgi_rank_count(jacobian->jet->pool) > 1) /* each fills in its own share */
        memset(products, 0, count * job.out_row * sizeof *products);
    for (sgi_panel p = sgi_shared_panels(jacobian); sgi_next_panel(jacobian, cached_rows, &p);) {
        fill_rows(jacobian, &p, false);
        job.out = products + p.row;
        push_panel(&job, &p);
    }
    sg_pool_sum(jacobian->jet->pool, products, SG_FLOAT64, count * job.out_row);
}

static void pull_group(sg_jacobian *jacobian, size_t count, const double *weights, double *products)
{
    size_t all = sg_jacobian_residuals(jacobian);
    product_job job = new_job(jacobian, count);
    job.out = products;
    job.out_row = job.parameters;
    memset(products, 0, count * job.parameters * sizeof *products);
    for (sgi_panel p = sgi_shared_panels(jacobian); sgi_next_panel(jacobian, cached_rows, &p);) {
        fill_rows(jacobian, &p, false);
        job.rows = p.rows;
        job.vectors = weights + p.row;
        job.vector_row = all;
        if (jacobian->vectors) {
            convert(weights + p.row, all, jacobian->shares, SGI_PANEL_ROWS, count, p.rows);
            job.vectors = jacobian->shares;
            job.vector_row = SGI_PANEL_ROWS;
        }
        sgi_jacobian_run(jacobian, sgi_parts(job.parameters, COLUMN_BLOCK), pull_block, &job);
    }
    sg_pool_sum(jacobian->jet->pool, products, SG_FLOAT64, count * job.parameters);
}

static void normal_group(sg_jacobian *jacobian, size_t count, const double *vectors,
                         double *products)
{
    product_job push = new_job(jacobian, count), pull = push;
    push.vectors = group_vectors(jacobian, count, vectors);
    push.vector_row = push.parameters;
    push.out = jacobian->products;
    push.out_row = SGI_PANEL_ROWS;
    pull.vectors = jacobian->shares;
    pull.vector_row = SGI_PANEL_ROWS;
    pull.out = products;
    pull.out_row = pull.parameters;
    memset(products, 0, count * pull.parameters * sizeof *products);
    for (sgi_panel p = sgi_shared_panels(jacobian); sgi_next_panel(jacobian, cached_rows, &p);) {
        fill_rows(jacobian, &p, false);
        push_panel(&push, &p);
        pull.rows = p.rows;
        if (jacobian->vectors)
            convert(jacobian->products, SGI_PANEL_ROWS, jacobian->shares, SGI_PANEL_ROWS, count,
                    p.rows);
        sgi_jacobian_run(jacobian, sgi_parts(pull.parameters, COLUMN_BLOCK), pull_block, &pull);
    }
    sg_pool_sum(jacobian->jet->pool, products, SG_FLOAT64, count * pull.parameters);
}

typedef void group_function(sg_jacobian *jacobian, size_t count, const double *vectors,
                            double *products);

static sg_status by_groups(sg_jacobian *jacobian, size_t count, const double *vectors, size_t in,
                           double *products, size_t out, group_function *function)
{
    if (count > 0 && (!vectors || !products))
        return SG_ERROR_ARGUMENT;
    for (size_t i = 0; i < count; i += SGI_GROUP_VECTORS)
        function(jacobian, smaller(count - i, SGI_GROUP_VECTORS), vectors + i * in,
                 products + i * out);
    return SG_OK;
}

sg_status sg_jacobian_push(sg_jacobian *jacobian, size_t count, const double *vectors,
                           double *products)
{
    if (!jacobian)
        return SG_ERROR_ARGUMENT;
    return by_groups(jacobian, count, vectors, jacobian->jet->network->parameters, products,
                     sg_jacobian_residuals(jacobian), push_group);
}

sg_status sg_jacobian_pull(sg_jacobian *jacobian, size_t count, const double *weights,
                           double *products)
{
    if (!jacobian)
        return SG_ERROR_ARGUMENT;
    return by_groups(jacobian, count, weights, sg_jacobian_residuals(jacobian), products,
                     jacobian->jet->network->parameters, pull_group);
}

sg_status sg_jacobian_normal_product(sg_jacobian *jacobian, size_t count, const double *vectors,
                                     double *products)
{
    if (!jacobian)
        return SG_ERROR_ARGUMENT;
    size_t parameters = jacobian->jet->network->parameters;
    return by_groups(jacobian, count, vectors, parameters, products, parameters, normal_group);
}

/* ---- The normal equations -----------------------------------------------------------------------
 */

/* Stretches of SGI_MULTIPLY_K rows of a panel are copied one behind the other, all columns of each
 * for the left side and for the right. */
typedef struct square_job {
    const product_job *panel;
    char *left, *right;
    size_t columns; /* of the copies */
} square_job;

static const sgi_kernels *kernels_of(const sg_jacobian *jacobian)
{
    return jacobian->jet->kernels;
}

static size_t square_bytes(const sg_jacobian *jacobian, size_t rows)
{
    const sg_jet_network *network = jacobian->jet->network;
    size_t elements = rows * kernels_of(jacobian)->square_columns(network->parameters);
    return sgi_align_up(elements * sgi_type_size(network->type), SG_ALIGNMENT);
}

size_t sgi_square_item_bytes(const sg_jacobian *jacobian, size_t set)
{
    const sg_jet_network *network = jacobian->jet->network;
    size_t components = (size_t)jacobian->jet->states[set].set.components;
    return sgi_align_up(components * network->parameters * sgi_type_size(network->type),
                        SG_ALIGNMENT) +
           2 * square_bytes(jacobian, components);
}

/* The number of items of a panel that is made for J^T J: whole stretches that a cache holds with
 * their copies, as every unit reads from these, and no more than there is memory for. */
static size_t square_rows(const sg_jacobian *jacobian, size_t set)
{
    size_t components = (size_t)jacobian->jet->states[set].set.components;
    size_t item = sgi_square_item_bytes(jacobian, set);
    size_t stretches = SQUARE_BYTES / (item / components * SGI_MULTIPLY_K);
    size_t rows =
        smaller(stretches > 1 ? stretches * SGI_MULTIPLY_K : SGI_MULTIPLY_K, SGI_PANEL_ROWS);
    size_t items = smaller(jacobian->panel_bytes / item, rows / components);
    return items > 0 ? items : 1;
}

static size_t stretch(const product_job *panel, size_t l)
{
    return smaller(panel->rows - l, SGI_MULTIPLY_K);
}

static void copy_block(void *context, size_t unit, int worker)
{
    (void)worker;
    const square_job *job = context;
    const product_job *panel = job->panel;
    const sg_jacobian *jacobian = panel->jacobian;
    size_t size = sgi_type_size(jacobian->jet->network->type);
    size_t first = unit * SQUARE_BLOCK, count = smaller(panel->parameters - first, SQUARE_BLOCK);
    for (size_t l = 0; l < panel->rows; l += SGI_MULTIPLY_K) {
        size_t begin = l * job->columns * size;
        kernels_of(jacobian)->square_copy(at(jacobian, panel->rows_at, l * panel->parameters),
                                          panel->parameters, stretch(panel, l), first, count,
                                          job->left + begin, job->right + begin);
    }
}

/* Blocks of J^T J on and above the diagonal. */
static void square_block(void *context, size_t unit, int worker)
{
    (void)worker;
    const square_job *job = context;
    const product_job *panel = job->panel;
    const sg_jacobian *jacobian = panel->jacobian;
    size_t n = panel->parameters, all = sgi_parts(n, SQUARE_BLOCK);
    size_t size = sgi_type_size(jacobian->jet->network->type);
    size_t i = unit / all * SQUARE_BLOCK, j = unit % all * SQUARE_BLOCK;
    for (size_t l = 0; l < panel->rows && i <= j; l += SGI_MULTIPLY_K) {
        size_t begin = l * job->columns * size;
        sgi_square args = {.i = i,
                           .j = j,
                           .m = smaller(n - i, SQUARE_BLOCK),
                           .n = smaller(n - j, SQUARE_BLOCK),
                           .k = stretch(panel, l),
                           .left = job->left + begin,
                           .right = job->right + begin,
                           .c = panel->out + i * n + j,
                           .c_row = n};
        kernels_of(jacobian)->square_product(&args);
    }
}

/* J^T J grows by what the panel adds. */
static void square_panel(const product_job *panel)
{
    sg_jacobian *jacobian = panel->jacobian;
    size_t size = sgi_type_size(jacobian->jet->network->type);
    size_t rows = sgi_align_up(panel->rows * panel->parameters * size, SG_ALIGNMENT);
    size_t blocks = sgi_parts(panel->parameters, SQUARE_BLOCK);
    square_job job = {.panel = panel,
                      .left = (char *)jacobian->panels + rows,
                      .columns = kernels_of(jacobian)->square_columns(panel->parameters)};
    job.right = job.left + square_bytes(jacobian, panel->rows);
    sgi_jacobian_run(jacobian, blocks, copy_block, &job);
    sgi_jacobian_run(jacobian, blocks * blocks, square_block, &job);
}

static void mirror_block(void *context, size_t unit, int worker)
{
    (void)worker;
    const product_job *job = context;
    size_t n = job->parameters, end = smaller(n, (unit + 1) * SQUARE_BLOCK);
    for (size_t j = 0; j < n; j++)
        for (size_t i = unit * SQUARE_BLOCK; i < end && i < j; i++)
            job->out[j * n + i] = job->out[i * n + j];
}

/* out[p] += sum of squares of column p */
static void squares_block(void *context, size_t unit, int worker)
{
    (void)worker;
    const product_job *job = context;
    size_t first = unit * COLUMN_BLOCK, end = smaller(job->parameters, first + COLUMN_BLOCK);
    bool single = job->jacobian->jet->network->type == SG_FLOAT32;
    for (size_t r = 0; r < job->rows; r++) {
        const void *row = at(job->jacobian, job->rows_at, r * job->parameters);
        for (size_t p = first; p < end; p++) {
            double x = single ? (double)((const float *)row)[p] : ((const double *)row)[p];
            job->out[p] += x * x;
        }
    }
}

static void take_residuals(const sg_jacobian *jacobian, const sgi_panel *panel, double *to)
{
    bool single = jacobian->jet->network->type == SG_FLOAT32;
    for (size_t i = 0; i < panel->rows; i++)
        to[panel->row + i] = single ? (double)((const float *)jacobian->residuals)[i]
                                    : ((const double *)jacobian->residuals)[i];
}

/* One panel's part in everything that is wanted. */
static void add_panel(sg_jacobian *jacobian, const sgi_panel *panel,
                      const sg_normal_equations *parts)
{
    product_job job = new_job(jacobian, 1);
    size_t columns = sgi_parts(job.parameters, COLUMN_BLOCK);
    job.rows = panel->rows;
    job.out_row = job.parameters;
    job.vectors = jacobian->residuals;
    job.vector_row = panel->rows;
    if (parts->residuals)
        take_residuals(jacobian, panel, parts->residuals);
    job.out = parts->right;
    if (job.out)
        sgi_jacobian_run(jacobian, columns, pull_block, &job);
    job.out = parts->squares;
    if (job.out)
        sgi_jacobian_run(jacobian, columns, squares_block, &job);
    job.out = parts->matrix;
    if (job.out)
        square_panel(&job);
}

/* Adds the matrix up over ranks, what lies on and above the diagonal, which is brought together in
 * front for that. */
static void sum_matrix(sg_pool *pool, double *matrix, size_t n)
{
    if (sgi_rank_count(pool) == 1)
        return;
    size_t packed = 0;
    for (size_t i = 0; i < n; packed += n - i, i++)
        memmove(matrix + packed, matrix + i * n + i, (n - i) * sizeof *matrix);
    sg_pool_sum(pool, matrix, SG_FLOAT64, packed);
    for (size_t i = n; i-- > 0;) {
        packed -= n - i;
        memmove(matrix + i * n + i, matrix + packed, (n - i) * sizeof *matrix);
    }
}

/* Adds up over ranks what each has of its own share. */
static void sum_parts(sg_jacobian *jacobian, const sg_normal_equations *parts)
{
    sg_pool *pool = jacobian->jet->pool;
    size_t n = jacobian->jet->network->parameters;
    if (parts->matrix)
        sum_matrix(pool, parts->matrix, n);
    sg_pool_sum(pool, parts->right, SG_FLOAT64, n);
    sg_pool_sum(pool, parts->squares, SG_FLOAT64, n);
    sg_pool_sum(pool, parts->residuals, SG_FLOAT64, sg_jacobian_residuals(jacobian));
}

sg_status sg_jacobian_normal(sg_jacobian *jacobian, const sg_normal_equations *parts)
{
    if (!jacobian || !parts)
        return SG_ERROR_ARGUMENT;
    size_t n = jacobian->jet->network->parameters;
    if (parts->matrix)
        memset(parts->matrix, 0, n * n * sizeof(double));
    if (parts->right)
        memset(parts->right, 0, n * sizeof(double));
    if (parts->squares)
        memset(parts->squares, 0, n * sizeof(double));
    if (parts->residuals && sgi_rank_count(jacobian->jet->pool) > 1)
        memset(parts->residuals, 0, sg_jacobian_residuals(jacobian) * sizeof(double));
    sgi_panel_capacity *capacity = parts->matrix ? square_rows : cached_rows;
    for (sgi_panel p = sgi_shared_panels(jacobian); sgi_next_panel(jacobian, capacity, &p);) {
        fill_rows(jacobian, &p, parts->right || parts->residuals);
        add_panel(jacobian, &p, parts);
    }
    sum_parts(jacobian, parts);
    product_job job = new_job(jacobian, 1);
    job.out = parts->matrix;
    if (job.out)
        sgi_jacobian_run(jacobian, sgi_parts(n, SQUARE_BLOCK), mirror_block, &job);
    return SG_OK;
}
