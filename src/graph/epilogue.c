/* What stands between two convolutions, forward and backward: see rows.h for the formulas.
 *
 * Work is cut so that a unit's rows stay in cache between its two passes: a channel block of all
 * images for BatchNorm, an image for group norms, a single row without norm. Units do not share
 * results, so the number of threads changes nothing.
 *
 * With ranks a BatchNorm is cut in two, and the sums of both passes are added up in between.
 *
 * A vector tensor (N, C) has one pixel; its rows are copied to padded lanes and back. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "graph/internal.h"

typedef float lane_array[SG_MAX_LANES] __attribute__((aligned(64)));

/* A pass over the tensors of one op. */
typedef struct pass {
    const sgi_net_op *op;
    const sgi_rows *rows;
    sgi_shape shape;
    size_t lanes, blocks, pixels, padded; /* padded: blocks * lanes */
    const float *z, *residual, *a, *b, *a_scale, *offset;
    float *y, *pooled, *dt, *dz;
    const float *dt_source; /* what the second pass over a norm reads as dt */
    float *stats;           /* (rows, 4, padded): scale, shift, mean, 1/std */
    double *sums;           /* group norms: (N, 2, padded); BatchNorm over ranks: (2, padded) */
    double ranks;
    const float *gamma, *beta;
    float *dgamma, *dbeta;
    float *running_mean, *running_var;
    bool batch_statistics, update_running;
} pass;

enum { SCALE, SHIFT, MEAN, INVERSE };

static float *stat(const pass *p, size_t row, int which)
{
    return p->stats + (row * 4 + (size_t)which) * p->padded;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static size_t valid_lanes(const pass *p, size_t block)
{
    size_t left = (size_t)p->shape.c - block * p->lanes;
    return left < p->lanes ? left : p->lanes;
}

/* Row (n, block) of a tensor of the op's shape, by way of `stage` when the tensor is a vector. */
static const float *read_row(const pass *p, const float *base, size_t n, size_t block, float *stage)
{
    if (!base)
        return NULL;
    if (p->shape.layout == SG_LAYOUT_BLOCKED)
        return base + (n * p->blocks + block) * p->pixels * p->lanes;
    size_t valid = valid_lanes(p, block);
    memset(stage, 0, p->lanes * sizeof *stage);
    memcpy(stage, base + n * (size_t)p->shape.c + block * p->lanes, valid * sizeof *stage);
    return stage;
}

static float *write_row(const pass *p, float *base, size_t n, size_t block, float *stage)
{
    if (!base)
        return NULL;
    if (p->shape.layout == SG_LAYOUT_BLOCKED)
        return base + (n * p->blocks + block) * p->pixels * p->lanes;
    return stage;
}

/* After writing: vectors go back, and the padding of a blocked row is zero again. */
static void finish_row(const pass *p, float *base, size_t n, size_t block, float *row)
{
    if (!base)
        return;
    size_t valid = valid_lanes(p, block);
    if (p->shape.layout != SG_LAYOUT_BLOCKED)
        memcpy(base + n * (size_t)p->shape.c + block * p->lanes, row, valid * sizeof *row);
    else if (valid < p->lanes)
        for (size_t i = 0; i < p->pixels; i++)
            memset(row + i * p->lanes + valid, 0, (p->lanes - valid) * sizeof *row);
}

/* Lanes (n, block) of a vector tensor (N, C), padded with zeros; NULL for none. */
static const float *read_lanes(const pass *p, const float *base, size_t n, size_t block,
                               float *stage)
{
    if (!base)
        return NULL;
    memset(stage, 0, p->lanes * sizeof *stage);
    memcpy(stage, base + n * (size_t)p->shape.c + block * p->lanes,
           valid_lanes(p, block) * sizeof *stage);
    return stage;
}

static void forward_row(const pass *p, size_t n, size_t block, const float *scale,
                        const float *shift)
{
    lane_array z, r, y, sum;
    sgi_row_forward row = {.z = read_row(p, p->z, n, block, z),
                           .residual = read_row(p, p->residual, n, block, r),
                           .scale = scale,
                           .shift = shift,
                           .keep = p->op->keep ? p->op->keep[n] : 1,
                           .y = write_row(p, p->y, n, block, y),
                           .sum = p->pooled ? sum : NULL};
    p->rows->forward(&row, p->pixels, p->op->act);
    finish_row(p, p->y, n, block, row.y);
    if (p->pooled)
        for (size_t i = 0; i < valid_lanes(p, block); i++)
            p->pooled[n * (size_t)p->shape.c + block * p->lanes + i] = sum[i] / (float)p->pixels;
}

static void stats_row(const pass *p, size_t n, size_t block, const float *shift, double *sum,
                      double *square)
{
    lane_array z;
    p->rows->stats(read_row(p, p->z, n, block, z), p->pixels, shift, sum, square);
}

/* First pass back: dt (and dz when there is no norm), and a norm's sums. */
static void backward_row(const pass *p, size_t n, size_t block, size_t row_of_stats, double *sum,
                         double *dot)
{
    lane_array z, y, a, b, a_scale, offset, dt, dz;
    bool norm = p->op->norm != NULL;
    size_t at = block * p->lanes;
    /* With a norm, dt is kept where the second pass will read it. */
    float *dt_base = norm && p->dt_source == p->dz ? p->dz : p->dt;
    float *dz_base = norm ? NULL : p->dz;
    sgi_row_backward row = {.g = {.a = read_row(p, p->a, n, block, a),
                                  .a_scale = read_lanes(p, p->a_scale, n, block, a_scale),
                                  .b = read_row(p, p->b, n, block, b),
                                  .offset = read_lanes(p, p->offset, n, block, offset)},
                            .z = read_row(p, p->z, n, block, z),
                            .y = read_row(p, p->y, n, block, y),
                            .scale = norm ? stat(p, row_of_stats, SCALE) + at : NULL,
                            .shift = norm ? stat(p, row_of_stats, SHIFT) + at : NULL,
                            .mean = norm ? stat(p, row_of_stats, MEAN) + at : NULL,
                            .keep = p->op->keep ? p->op->keep[n] : 1,
                            .dt = write_row(p, dt_base, n, block, dt),
                            .dz = write_row(p, dz_base, n, block, dz),
                            .sum = sum,
                            .dot = dot};
    p->rows->backward(&row, p->pixels, p->op->act);
    finish_row(p, dt_base, n, block, row.dt);
    finish_row(p, dz_base, n, block, row.dz);
}

static void apply_row(const pass *p, size_t n, size_t block, const float *mean, const float *k1,
                      const float *k2, const float *k3)
{
    lane_array dt, z, dz;
    sgi_row_apply row = {.dt = read_row(p, p->dt_source, n, block, dt),
                         .z = read_row(p, p->z, n, block, z),
                         .mean = mean,
                         .k1 = k1,
                         .k2 = k2,
                         .k3 = k3,
                         .keep = p->op->keep[n],
                         .dz = write_row(p, p->dz, n, block, dz)};
    p->rows->apply(&row, p->pixels);
    finish_row(p, p->dz, n, block, row.dz);
}

/* ---- BatchNorm ---------------------------------------------------------------------------- */

/* Scale and shift of channel `c` from its mean and variance; zeros in the padding. */
static void set_channel(const pass *p, size_t row, size_t c, double mean, double variance)
{
    bool real = c < (size_t)p->shape.c;
    double inverse = real ? 1 / sqrt(variance + p->op->norm->norm.eps) : 0;
    double scale = real ? (double)p->gamma[c] * inverse : 0;
    stat(p, row, SCALE)[c] = (float)scale;
    stat(p, row, SHIFT)[c] = real ? (float)((double)p->beta[c] - mean * scale) : 0;
    stat(p, row, MEAN)[c] = real ? (float)mean : 0;
    stat(p, row, INVERSE)[c] = (float)inverse;
}

static void update_running(const pass *p, size_t c, double mean, double variance, double count)
{
    double m = p->op->norm->norm.momentum;
    double unbiased = count > 1 ? variance * count / (count - 1) : variance;
    p->running_mean[c] = (float)((1 - m) * (double)p->running_mean[c] + m * mean);
    p->running_var[c] = (float)((1 - m) * (double)p->running_var[c] + m * unbiased);
}

/* How many values of each channel this rank has. */
static double batch_count(const pass *p)
{
    return (double)p->shape.n * (double)p->pixels;
}

/* Mean and variance of each channel of a block, over this rank's images. */
static void batch_moments(const pass *p, size_t block, double *mean, double *variance)
{
    lane_array shift, z;
    double sum[SG_MAX_LANES] = {0}, square[SG_MAX_LANES] = {0};
    double count = batch_count(p);
    memcpy(shift, read_row(p, p->z, 0, block, z), p->lanes * sizeof(float));
    for (size_t n = 0; n < (size_t)p->shape.n; n++)
        stats_row(p, n, block, shift, sum, square);
    for (size_t i = 0; i < p->lanes; i++) {
        double about = sum[i] / count;
        mean[i] = (double)shift[i] + about;
        variance[i] = square[i] / count - about * about;
        variance[i] = variance[i] < 0 ? 0 : variance[i];
    }
}

static void running_moments(const pass *p, size_t block, double *mean, double *variance)
{
    for (size_t i = 0; i < p->lanes; i++) {
        size_t c = block * p->lanes + i;
        bool real = c < (size_t)p->shape.c;
        mean[i] = real ? (double)p->running_mean[c] : 0;
        variance[i] = real ? (double)p->running_var[c] : 0;
    }
}

/* The output of a block, from mean and variance of its channels. */
static void batch_output(const pass *p, size_t block, const double *mean, const double *variance)
{
    for (size_t i = 0; i < p->lanes; i++) {
        size_t c = block * p->lanes + i;
        set_channel(p, 0, c, mean[i], variance[i]);
        if (p->update_running && c < (size_t)p->shape.c)
            update_running(p, c, mean[i], variance[i], p->ranks * batch_count(p));
    }
    for (size_t n = 0; n < (size_t)p->shape.n; n++)
        forward_row(p, n, block, stat(p, 0, SCALE) + block * p->lanes,
                    stat(p, 0, SHIFT) + block * p->lanes);
}

static void batch_forward(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    double mean[SG_MAX_LANES], variance[SG_MAX_LANES];
    if (p->batch_statistics)
        batch_moments(p, block, mean, variance);
    else
        running_moments(p, block, mean, variance);
    batch_output(p, block, mean, variance);
}

/* This rank's sums over a block, which are its gradients of weight and bias. */
static void batch_sums(const pass *p, size_t block, double *sum, double *dot)
{
    const float *inverse = stat(p, 0, INVERSE) + block * p->lanes;
    for (size_t n = 0; n < (size_t)p->shape.n; n++)
        backward_row(p, n, block, 0, sum, dot);
    for (size_t i = 0; i < valid_lanes(p, block); i++) {
        p->dgamma[block * p->lanes + i] = (float)(dot[i] * (double)inverse[i]);
        p->dbeta[block * p->lanes + i] = (float)sum[i];
    }
}

/* dz of a block, from the sums of all ranks. */
static void batch_apply(const pass *p, size_t block, const double *sum, const double *dot)
{
    lane_array k2, k3;
    const float *scale = stat(p, 0, SCALE) + block * p->lanes;
    const float *inverse = stat(p, 0, INVERSE) + block * p->lanes;
    double count = p->ranks * batch_count(p);
    for (size_t i = 0; i < p->lanes; i++) {
        double normal = dot[i] * (double)inverse[i];
        k2[i] = (float)(-(double)scale[i] * (double)inverse[i] * normal / count);
        k3[i] = (float)(-(double)scale[i] * sum[i] / count);
    }
    for (size_t n = 0; n < (size_t)p->shape.n; n++)
        apply_row(p, n, block, stat(p, 0, MEAN) + block * p->lanes, scale, k2, k3);
}

static void batch_backward(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    double sum[SG_MAX_LANES] = {0}, dot[SG_MAX_LANES] = {0};
    batch_sums(p, block, sum, dot);
    batch_apply(p, block, sum, dot);
}

/* ---- BatchNorm over ranks ----------------------------------------------------------------- */

/* Every rank has as many images, so the means of all are means of the ranks'. In double the mean
 * square leaves enough when the square of the mean is subtracted: what it loses, the floats that it
 * was taken of have lost before. */
static void ranks_measure(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    double *mean = p->sums + block * p->lanes, *square = mean + p->padded;
    batch_moments(p, block, mean, square);
    for (size_t i = 0; i < p->lanes; i++)
        square[i] += mean[i] * mean[i];
}

static void ranks_forward(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    double mean[SG_MAX_LANES], variance[SG_MAX_LANES];
    const double *sum = p->sums + block * p->lanes, *square = sum + p->padded;
    for (size_t i = 0; i < p->lanes; i++) {
        mean[i] = sum[i] / p->ranks;
        variance[i] = square[i] / p->ranks - mean[i] * mean[i];
        variance[i] = variance[i] < 0 ? 0 : variance[i];
    }
    batch_output(p, block, mean, variance);
}

static void ranks_sums(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    double *sum = p->sums + block * p->lanes, *dot = sum + p->padded;
    memset(sum, 0, p->lanes * sizeof *sum);
    memset(dot, 0, p->lanes * sizeof *dot);
    batch_sums(p, block, sum, dot);
}

static void ranks_backward(void *context, size_t block, int worker)
{
    const pass *p = context;
    (void)worker;
    const double *sum = p->sums + block * p->lanes, *dot = sum + p->padded;
    batch_apply(p, block, sum, dot);
}

/* A pass over all blocks, sums over the ranks, and a second pass that uses them. */
static sg_status run_ranks(sg_net *graph, pass *p, sg_unit_function *first,
                           sg_unit_function *second)
{
    p->sums = graph->rank_sums;
    sgi_dnn_run(graph->dnn, p->blocks, first, p);
    sg_status status = sgi_net_sum(graph, p->sums, SG_FLOAT64, 2 * p->padded);
    if (status == SG_OK)
        sgi_dnn_run(graph->dnn, p->blocks, second, p);
    return status;
}

/* ---- Group norms -------------------------------------------------------------------------- */

/* Means (into MEAN) and squared deviations (into INVERSE) of each channel of image n. */
static void channel_statistics(const pass *p, size_t n)
{
    for (size_t block = 0; block < p->blocks; block++) {
        lane_array shift, z;
        double sum[SG_MAX_LANES] = {0}, square[SG_MAX_LANES] = {0};
        memcpy(shift, read_row(p, p->z, n, block, z), p->lanes * sizeof(float));
        stats_row(p, n, block, shift, sum, square);
        for (size_t i = 0; i < p->lanes; i++) {
            double about = sum[i] / (double)p->pixels;
            stat(p, n, MEAN)[block * p->lanes + i] = (float)((double)shift[i] + about);
            stat(p, n, INVERSE)[block * p->lanes + i] = (float)(square[i] - sum[i] * about);
        }
    }
}

static void group_forward(void *context, size_t n, int worker)
{
    const pass *p = context;
    (void)worker;
    size_t groups = (size_t)p->op->norm->norm.groups, each = (size_t)p->shape.c / groups;
    channel_statistics(p, n);
    for (size_t g = 0; g < groups; g++) {
        double mean = 0, m2 = 0;
        for (size_t c = g * each; c < (g + 1) * each; c++)
            mean += (double)stat(p, n, MEAN)[c] / (double)each;
        for (size_t c = g * each; c < (g + 1) * each; c++) {
            double d = (double)stat(p, n, MEAN)[c] - mean;
            m2 += (double)stat(p, n, INVERSE)[c] + d * d * (double)p->pixels;
        }
        m2 = m2 < 0 ? 0 : m2;
        for (size_t c = g * each; c < (g + 1) * each; c++)
            set_channel(p, n, c, mean, m2 / (double)(each * p->pixels));
    }
    for (size_t c = (size_t)p->shape.c; c < p->padded; c++)
        set_channel(p, n, c, 0, 0);
    for (size_t block = 0; block < p->blocks; block++)
        forward_row(p, n, block, stat(p, n, SCALE) + block * p->lanes,
                    stat(p, n, SHIFT) + block * p->lanes);
}

/* The constants of a group's second pass: k2 and k3, from the sums of image n. */
static void group_constants(const pass *p, size_t n, size_t group, size_t each, double *k2,
                            double *k3)
{
    const double *sum = p->sums + n * 2 * p->padded, *dot = sum + p->padded;
    double count = (double)(each * p->pixels), total = 0, normal = 0;
    double inverse = (double)stat(p, n, INVERSE)[group * each];
    for (size_t c = group * each; c < (group + 1) * each; c++) {
        total += (double)p->gamma[c] * sum[c];
        normal += (double)p->gamma[c] * dot[c] * inverse;
    }
    *k2 = -inverse * inverse * normal / count;
    *k3 = -inverse * total / count;
}

static void group_backward(void *context, size_t n, int worker)
{
    const pass *p = context;
    (void)worker;
    size_t each = (size_t)(p->shape.c / p->op->norm->norm.groups);
    double *sum = p->sums + n * 2 * p->padded, *dot = sum + p->padded;
    memset(sum, 0, 2 * p->padded * sizeof *sum);
    for (size_t block = 0; block < p->blocks; block++)
        backward_row(p, n, block, n, sum + block * p->lanes, dot + block * p->lanes);
    for (size_t block = 0; block < p->blocks; block++) {
        lane_array k2 = {0}, k3 = {0};
        for (size_t i = 0; i < valid_lanes(p, block); i++) {
            double a, b;
            group_constants(p, n, (block * p->lanes + i) / each, each, &a, &b);
            k2[i] = (float)a;
            k3[i] = (float)b;
        }
        apply_row(p, n, block, stat(p, n, MEAN) + block * p->lanes,
                  stat(p, n, SCALE) + block * p->lanes, k2, k3);
    }
}

/* Weight and bias of a group norm: the images' sums, in order. */
static void group_parameters(const pass *p)
{
    for (size_t c = 0; c < (size_t)p->shape.c; c++) {
        double weight = 0, bias = 0;
        for (size_t n = 0; n < (size_t)p->shape.n; n++) {
            const double *sum = p->sums + n * 2 * p->padded;
            bias += sum[c];
            weight += sum[p->padded + c] * (double)stat(p, n, INVERSE)[c];
        }
        p->dgamma[c] = (float)weight;
        p->dbeta[c] = (float)bias;
    }
}

/* ---- No norm ------------------------------------------------------------------------------ */

static void bare_forward(void *context, size_t unit, int worker)
{
    const pass *p = context;
    (void)worker;
    forward_row(p, unit / p->blocks, unit % p->blocks, NULL, NULL);
}

static void bare_backward(void *context, size_t unit, int worker)
{
    const pass *p = context;
    (void)worker;
    backward_row(p, unit / p->blocks, unit % p->blocks, 0, NULL, NULL);
}

static void combine_unit(void *context, size_t unit, int worker)
{
    const pass *p = context;
    (void)worker;
    lane_array a, b, a_scale, offset, out;
    size_t n = unit / p->blocks, block = unit % p->blocks;
    sgi_row_gradient g = {.a = read_row(p, p->a, n, block, a),
                          .a_scale = read_lanes(p, p->a_scale, n, block, a_scale),
                          .b = read_row(p, p->b, n, block, b),
                          .offset = read_lanes(p, p->offset, n, block, offset)};
    float *row = write_row(p, p->dz, n, block, out);
    p->rows->combine(&g, p->pixels, row);
    finish_row(p, p->dz, n, block, row);
}

/* ---- Steps -------------------------------------------------------------------------------- */

static void set_shape(pass *p, sgi_shape shape)
{
    p->shape = shape;
    p->lanes = (size_t)p->rows->lanes;
    p->blocks = sgi_blocks_of(shape, p->rows->lanes);
    p->pixels = sgi_pixels(shape);
    p->padded = p->blocks * p->lanes;
}

static pass open_pass(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = &graph->ops[step->op];
    pass p = {.op = op, .rows = graph->rows, .ranks = (double)sgi_net_ranks(graph)};
    set_shape(&p, op->out);
    p.stats = sgi_at(graph, op->stats);
    if (op->norm) {
        p.gamma = sgi_value_of(graph, op->norm->weight);
        p.beta = sgi_value_of(graph, op->norm->bias);
        if (graph->gradients) {
            p.dgamma = sgi_gradient_of(graph, op->norm->weight);
            p.dbeta = sgi_gradient_of(graph, op->norm->bias);
        }
        if (op->norm->running != SG_NONE) {
            p.running_mean = graph->running_values + graph->running[op->norm->running].offset;
            p.running_var = graph->running_values + graph->running[op->norm->running + 1].offset;
        }
    }
    return p;
}

static void draw_keep(const sg_net *graph, const sgi_net_op *op, int index)
{
    uint64_t images = (uint64_t)op->out.n;
    for (int n = 0; n < op->out.n; n++) {
        op->keep[n] = 1;
        if (op->drop > 0 && sgi_is_dropping(graph)) {
            uint64_t counter = graph->step * images * sgi_net_ranks(graph) +
                               sgi_net_first(graph, images) + (uint64_t)n;
            double u = sgi_random_uniform(graph->config.seed, sgi_stream_of(index), counter);
            op->keep[n] = u < op->drop ? 0 : (float)(1 / (1 - op->drop));
        }
    }
}

sg_status sgi_epilogue_forward(sg_net *graph, const sgi_step *step)
{
    pass p = open_pass(graph, step);
    draw_keep(graph, p.op, step->op);
    p.z = sgi_at(graph, p.op->x);
    p.residual = sgi_at(graph, p.op->residual);
    p.y = sgi_at(graph, p.op->y);
    p.pooled = sgi_at(graph, p.op->pooled);
    p.batch_statistics = graph->mode == SG_MODE_TRAIN;
    p.update_running = graph->mode == SG_MODE_TRAIN && !graph->no_update;
    if (!p.op->norm)
        sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, bare_forward, &p);
    else if (p.op->norm->norm.kind == SG_NORM_BATCH && p.batch_statistics && p.ranks > 1)
        return run_ranks(graph, &p, ranks_measure, ranks_forward);
    else if (p.op->norm->norm.kind == SG_NORM_BATCH)
        sgi_dnn_run(graph->dnn, p.blocks, batch_forward, &p);
    else
        sgi_dnn_run(graph->dnn, (size_t)p.shape.n, group_forward, &p);
    return SG_OK;
}

void sgi_finish_conv(sg_net *graph, const sgi_net_op *op)
{
    pass p = {.op = op, .rows = graph->rows};
    set_shape(&p, op->out);
    p.residual = sgi_at(graph, op->residual);
    p.z = p.y = sgi_at(graph, op->y);
    sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, bare_forward, &p);
}

static void open_gradient(pass *p, const sg_net *graph, const sgi_step *step)
{
    p->a = sgi_at(graph, step->g.a);
    p->b = sgi_at(graph, step->g.b);
    p->a_scale = sgi_at(graph, step->g.a_scale);
    p->offset = sgi_at(graph, step->g.offset);
    p->dt = sgi_at(graph, step->dt);
    p->dz = sgi_at(graph, step->dx);
}

sg_status sgi_epilogue_backward(sg_net *graph, const sgi_step *step)
{
    pass p = open_pass(graph, step);
    const sgi_net_op *op = p.op;
    open_gradient(&p, graph, step);
    /* A convolution's fused activation comes here too; its x is not z. */
    if (op->norm || op->act == SG_ACT_SILU)
        p.z = sgi_at(graph, op->x);
    if (op->act != SG_ACT_NONE && op->act != SG_ACT_SILU)
        p.y = sgi_at(graph, op->y);
    if (!op->norm) {
        sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, bare_backward, &p);
        return SG_OK;
    }
    /* Where nothing changes it, what arrived is dt; otherwise it is kept in dt's place or in dz's.
     */
    bool as_it_is = op->act == SG_ACT_NONE && p.a && !p.b && !p.a_scale && !p.offset && !p.dt;
    p.dt_source = as_it_is ? p.a : p.dt ? p.dt : p.dz;
    if (as_it_is && p.a == p.dz)
        p.dt_source = p.dz;
    p.sums = (double *)sgi_at(graph, step->sums);
    if (op->norm->norm.kind == SG_NORM_BATCH && p.ranks > 1) {
        return run_ranks(graph, &p, ranks_sums, ranks_backward);
    } else if (op->norm->norm.kind == SG_NORM_BATCH) {
        sgi_dnn_run(graph->dnn, p.blocks, batch_backward, &p);
    } else {
        sgi_dnn_run(graph->dnn, (size_t)p.shape.n, group_backward, &p);
        group_parameters(&p);
    }
    return SG_OK;
}

sg_status sgi_combine_step(sg_net *graph, const sgi_step *step)
{
    pass p = {.op = &graph->ops[step->op], .rows = graph->rows};
    set_shape(&p, step->shape);
    open_gradient(&p, graph, step);
    sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, combine_unit, &p);
    return SG_OK;
}

sg_status sgi_scale_forward(sg_net *graph, const sgi_step *step)
{
    pass p = open_pass(graph, step);
    p.a = sgi_at(graph, p.op->x);
    p.a_scale = sgi_at(graph, p.op->scale);
    p.dz = sgi_at(graph, p.op->y);
    sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, combine_unit, &p);
    return SG_OK;
}

/* Sums over the pixels of x, or of x times y, into (N, C). */
typedef struct reduction {
    const pass *p;
    const float *x, *y;
    float *out;
    float factor;
} reduction;

static void reduce_unit(void *context, size_t unit, int worker)
{
    const reduction *r = context;
    const pass *p = r->p;
    (void)worker;
    lane_array sum, x, y;
    size_t n = unit / p->blocks, block = unit % p->blocks;
    p->rows->dot(read_row(p, r->x, n, block, x), read_row(p, r->y, n, block, y), p->pixels, sum);
    for (size_t i = 0; i < valid_lanes(p, block); i++)
        r->out[n * (size_t)p->shape.c + block * p->lanes + i] = r->factor * sum[i];
}

sg_status sgi_scale_backward(sg_net *graph, const sgi_step *step)
{
    pass p = open_pass(graph, step);
    reduction r = {&p, sgi_at(graph, step->g.a), sgi_at(graph, p.op->x), sgi_at(graph, step->dx),
                   1};
    sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, reduce_unit, &r);
    return SG_OK;
}

sg_status sgi_global_forward(sg_net *graph, const sgi_step *step)
{
    pass p = open_pass(graph, step);
    set_shape(&p, p.op->in);
    reduction r = {&p, sgi_at(graph, p.op->x), NULL, sgi_at(graph, p.op->y), 1 / (float)p.pixels};
    sgi_dnn_run(graph->dnn, (size_t)p.shape.n * p.blocks, reduce_unit, &r);
    return SG_OK;
}
