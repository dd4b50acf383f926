/* Signals from layer to layer: see flow.h. */
#include "flow/flow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "stablegrad/scale.h"
#include "text/arena.h"

/* Streams of random numbers; that of layer l's weights is WEIGHTS + l. */
enum { INPUTS = 1, TARGETS = 2, WEIGHTS = 16 };

static const double norm_eps = 1e-5; /* PyTorch's */

/* A layer of n inputs and m outputs. Every array of the batch is (batch, n) or (batch, m). */
typedef struct layer {
    size_t n, m;
    bool last;
    double std;                  /* of its weights */
    double *w, *wt;              /* (m, n) and (n, m): both, so that every loop runs along rows */
    double *gradient;            /* (m, n) */
    double *z[SG_FLOW_CHANNELS]; /* W h, normalised; W p; W s */
    double *h[SG_FLOW_CHANNELS]; /* its outputs */
    double *adjoint[SG_FLOW_CHANNELS]; /* of its outputs */
    double *inverse;                   /* 1 / std of each output or item that is normalised */
} layer;

typedef struct flow {
    const sgi_flow_config *config;
    size_t batch;
    sgi_arena arena;
    layer *layers;
    double *input[SG_FLOW_CHANNELS];
    double *back[SG_FLOW_CHANNELS]; /* adjoints of z, (batch, widest) */
    bool failed;                    /* out of memory */
} flow;

/* ---- Making ------------------------------------------------------------------------------- */

static double *take(flow *f, size_t rows, size_t columns)
{
    double *values = sgi_arena_allocate(&f->arena, rows * columns, sizeof *values);
    if (!values)
        f->failed = true;
    return values;
}

static void draw(double *values, size_t count, uint64_t seed, uint64_t stream, double std)
{
    for (size_t i = 0; i < count; i++)
        values[i] = std * sgi_random_normal(seed, stream, i);
}

static void make_layer(flow *f, int index)
{
    const sgi_flow_config *config = f->config;
    layer *l = &f->layers[index];
    l->n = (size_t)config->widths[index];
    l->m = (size_t)config->widths[index + 1];
    l->last = index == config->layers - 1;
    l->std = config->gain / sqrt((double)(config->fan_out ? l->m : l->n));
    l->w = take(f, l->m, l->n);
    l->wt = take(f, l->m, l->n);
    l->gradient = take(f, l->m, l->n);
    l->inverse = take(f, 1, f->batch > l->m ? f->batch : l->m);
    for (int c = 0; c < config->channels; c++) {
        l->z[c] = take(f, f->batch, l->m);
        l->h[c] = take(f, f->batch, l->m);
        l->adjoint[c] = take(f, f->batch, l->m);
    }
    if (f->failed)
        return;
    draw(l->w, l->m * l->n, config->seed, WEIGHTS + (uint64_t)index, l->std);
    for (size_t o = 0; o < l->m; o++)
        for (size_t i = 0; i < l->n; i++)
            l->wt[i * l->m + o] = l->w[o * l->n + i];
}

static void make(flow *f)
{
    const sgi_flow_config *config = f->config;
    size_t first = (size_t)config->widths[0], widest = first;
    f->layers = sgi_arena_allocate(&f->arena, (size_t)config->layers, sizeof *f->layers);
    f->failed = !f->layers;
    for (int l = 0; l < config->layers && !f->failed; l++) {
        make_layer(f, l);
        widest = f->layers[l].m > widest ? f->layers[l].m : widest;
    }
    for (int c = 0; c < config->channels && !f->failed; c++) {
        f->input[c] = take(f, f->batch, first);
        f->back[c] = take(f, f->batch, widest);
    }
    if (f->failed)
        return;
    draw(f->input[0], f->batch * first, config->seed, INPUTS, 1);
    for (size_t i = 0; i < f->batch && config->channels > 1; i++)
        f->input[1][i * first] = 1; /* the derivative by the first input; the second one is 0 */
}

/* ---- Products ------------------------------------------------------------------------------- */

/* to (rows, columns) = from (rows, inner) times by (inner, columns). */
static void multiply(double *to, const double *from, const double *by, size_t rows, size_t inner,
                     size_t columns)
{
    memset(to, 0, rows * columns * sizeof *to);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < inner; k++) {
            double x = from[i * inner + k];
            for (size_t j = 0; j < columns; j++)
                to[i * columns + j] += x * by[k * columns + j];
        }
}

/* to (columns, inner) += from (rows, columns) transposed, times by (rows, inner). */
static void add_outer(double *to, const double *from, const double *by, size_t rows, size_t columns,
                      size_t inner)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double x = from[i * columns + j];
            for (size_t k = 0; k < inner; k++)
                to[j * inner + k] += x * by[i * inner + k];
        }
}

/* ---- Forward -------------------------------------------------------------------------------- */

/* f and its first three derivatives. */
static void function_at(sgi_flow_function function, double z, double d[4])
{
    if (function == SG_FLOW_RELU) {
        d[0] = z > 0 ? z : 0;
        d[1] = z > 0;
        d[2] = d[3] = 0;
        return;
    }
    double t = tanh(z), slope = 1 - t * t;
    d[0] = t;
    d[1] = slope;
    d[2] = -2 * t * slope;
    d[3] = slope * (6 * t * t - 2);
}

/* What is normalised together: `groups` of `size` elements, `step` apart, the first of group k at
 * k * stride. */
typedef struct grouping {
    size_t groups, size, step, stride;
} grouping;

static grouping grouping_of(const flow *f, const layer *l)
{
    return f->config->norm == SG_FLOW_BATCH ? (grouping){l->m, f->batch, l->m, 1}
                                            : (grouping){f->batch, l->m, 1, l->m};
}

static bool normalised(const flow *f, const layer *l)
{
    return f->config->norm != SG_FLOW_PLAIN && !l->last;
}

static void normalise(const flow *f, layer *l)
{
    grouping g = grouping_of(f, l);
    for (size_t k = 0; k < g.groups; k++) {
        double *z = l->z[0] + k * g.stride, mean = 0, square = 0;
        for (size_t i = 0; i < g.size; i++)
            mean += z[i * g.step] / (double)g.size;
        for (size_t i = 0; i < g.size; i++)
            square += (z[i * g.step] - mean) * (z[i * g.step] - mean) / (double)g.size;
        l->inverse[k] = 1 / sqrt(square + norm_eps);
        for (size_t i = 0; i < g.size; i++)
            z[i * g.step] = (z[i * g.step] - mean) * l->inverse[k];
    }
}

static void activate(const flow *f, layer *l)
{
    for (size_t i = 0; i < f->batch * l->m; i++) {
        double d[4] = {l->z[0][i], 1, 0, 0};
        if (!l->last)
            function_at(f->config->function, l->z[0][i], d);
        l->h[0][i] = d[0];
        if (f->config->channels > 1) {
            double p = l->z[1][i], s = l->z[2][i];
            l->h[1][i] = d[1] * p;
            l->h[2][i] = d[2] * p * p + d[1] * s;
        }
    }
}

static void forward(flow *f)
{
    for (int k = 0; k < f->config->layers; k++) {
        layer *l = &f->layers[k];
        for (int c = 0; c < f->config->channels; c++)
            multiply(l->z[c], k ? f->layers[k - 1].h[c] : f->input[c], l->wt, f->batch, l->n, l->m);
        if (normalised(f, l))
            normalise(f, l);
        activate(f, l);
    }
}

/* ---- Backward ------------------------------------------------------------------------------- */

static void start_adjoints(flow *f)
{
    layer *l = &f->layers[f->config->layers - 1];
    size_t count = f->batch * l->m;
    for (int c = 0; c < f->config->channels; c++)
        draw(l->adjoint[c], count, f->config->seed + (uint64_t)c, TARGETS, 1 / (double)f->batch);
    for (size_t i = 0; i < count && f->config->channels == 1; i++)
        l->adjoint[0][i] = l->h[0][i] / (double)f->batch - l->adjoint[0][i]; /* (u - y) / batch */
}

/* From the adjoints of a layer's outputs to those of its z, in `back`. */
static void through_activation(flow *f, const layer *l)
{
    for (size_t i = 0; i < f->batch * l->m; i++) {
        double d[4] = {0, 1, 0, 0};
        if (!l->last)
            function_at(f->config->function, l->z[0][i], d);
        double a = l->adjoint[0][i];
        f->back[0][i] = d[1] * a;
        if (f->config->channels > 1) {
            double b = l->adjoint[1][i], c = l->adjoint[2][i], p = l->z[1][i], s = l->z[2][i];
            f->back[0][i] += d[2] * p * b + (d[3] * p * p + d[2] * s) * c;
            f->back[1][i] = d[1] * b + 2 * d[2] * p * c;
            f->back[2][i] = d[1] * c;
        }
    }
}

/* z is already the normalised one. */
static void through_norm(flow *f, const layer *l)
{
    grouping g = grouping_of(f, l);
    for (size_t k = 0; k < g.groups; k++) {
        const double *z = l->z[0] + k * g.stride;
        double *back = f->back[0] + k * g.stride, mean = 0, along = 0;
        for (size_t i = 0; i < g.size; i++) {
            mean += back[i * g.step] / (double)g.size;
            along += back[i * g.step] * z[i * g.step] / (double)g.size;
        }
        for (size_t i = 0; i < g.size; i++)
            back[i * g.step] = l->inverse[k] * (back[i * g.step] - mean - z[i * g.step] * along);
    }
}

static void backward(flow *f)
{
    start_adjoints(f);
    for (int k = f->config->layers; k-- > 0;) {
        layer *l = &f->layers[k];
        through_activation(f, l);
        if (normalised(f, l))
            through_norm(f, l);
        for (int c = 0; c < f->config->channels; c++) {
            add_outer(l->gradient, f->back[c], k ? f->layers[k - 1].h[c] : f->input[c], f->batch,
                      l->m, l->n);
            if (k > 0)
                multiply(f->layers[k - 1].adjoint[c], f->back[c], l->w, f->batch, l->m, l->n);
        }
    }
}

/* ---- Measuring ------------------------------------------------------------------------------ */

static double std_of(const double *values, size_t count)
{
    sg_moments moments = {0, 0, 0};
    sg_moments_add(&moments, values, SG_FLOAT64, count, 1);
    return sg_moments_std(&moments);
}

/* What an activation leaves of the variance of z, if the variance is all there is to it: for the
 * value, and for derivatives and adjoints. */
static void shares(const flow *f, const layer *l, double *value, double *slope)
{
    double kept = 0, whole = 0, slopes = 0;
    size_t count = f->batch * l->m;
    *value = *slope = 1;
    if (l->last)
        return;
    for (size_t i = 0; i < count; i++) {
        double d[4];
        function_at(f->config->function, l->z[0][i], d);
        kept += d[0] * d[0];
        whole += l->z[0][i] * l->z[0][i];
        slopes += d[1] * d[1];
    }
    *value = kept / whole;
    *slope = slopes / (double)count;
}

static void predict(const flow *f, sgi_flow_layer *out)
{
    int last = f->config->layers - 1;
    memcpy(out[0].predicted_activation, out[0].activation, sizeof out[0].activation);
    memcpy(out[last].predicted_adjoint, out[last].adjoint, sizeof out[last].adjoint);
    for (int k = 1; k <= last; k++) {
        const layer *forth = &f->layers[k], *back = &f->layers[last - k + 1];
        double value, slope, unused;
        shares(f, forth, &value, &slope);
        for (int c = 0; c < f->config->channels; c++)
            out[k].predicted_activation[c] = out[k - 1].predicted_activation[c] * forth->std *
                                             sqrt((double)forth->n * (c == 0 ? value : slope));
        shares(f, back, &unused, &slope);
        for (int c = 0; c < f->config->channels; c++)
            out[last - k].predicted_adjoint[c] =
                out[last - k + 1].predicted_adjoint[c] * back->std * sqrt((double)back->m * slope);
    }
}

/* The factors that StableGrad gives the layers, from the library. */
static sg_status scale(const flow *f, sgi_flow_layer *out, const sg_allocator *allocator)
{
    sg_params *params;
    sg_scaler *scaler = NULL;
    const layer *end = &f->layers[f->config->layers - 1];
    sg_status status = sg_params_create(&params, allocator);
    for (int k = 0; k < f->config->layers && status == SG_OK; k++) {
        char name[32];
        snprintf(name, sizeof name, "layers.%d.weight", k);
        sg_span span = {.name = name,
                        .gradient = f->layers[k].gradient,
                        .count = f->layers[k].m * f->layers[k].n,
                        .type = SG_FLOAT64,
                        .layer = k,
                        .role = SG_ROLE_WEIGHT};
        status = sg_params_add(params, &span);
    }
    if (status == SG_OK)
        status = sg_scaler_create(&scaler, params, NULL, NULL, allocator);
    if (status == SG_OK)
        status = sg_scaler_observe(scaler, end->adjoint[0], SG_FLOAT64, f->batch * end->m, 1);
    if (status == SG_OK)
        status = sg_scaler_measure(scaler, 0);
    for (int k = 0; k < f->config->layers && status == SG_OK; k++)
        out[k].factor = sg_scaler_report(scaler)->blocks[k].factor;
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
    return status;
}

static sg_status measure(const flow *f, sgi_flow_layer *out, const sg_allocator *allocator)
{
    for (int k = 0; k < f->config->layers; k++) {
        const layer *l = &f->layers[k];
        out[k] = (sgi_flow_layer){.gradient = std_of(l->gradient, l->m * l->n)};
        for (int c = 0; c < f->config->channels; c++) {
            out[k].activation[c] = std_of(l->h[c], f->batch * l->m);
            out[k].adjoint[c] = std_of(l->adjoint[c], f->batch * l->m);
        }
    }
    predict(f, out);
    return scale(f, out, allocator);
}

static bool sensible(const sgi_flow_config *config)
{
    bool one = config->channels == 1;
    if (config->layers < 1 || config->batch < 2 || !(config->gain > 0) ||
        (!one && (config->channels != SG_FLOW_CHANNELS || config->norm != SG_FLOW_PLAIN)))
        return false;
    for (int l = 0; l <= config->layers; l++)
        if (config->widths[l] < 1 || config->widths[l] > 1 << 16)
            return false;
    return true;
}

sg_status sgi_flow_measure(const sgi_flow_config *config, sgi_flow_layer *layers,
                           const sg_allocator *allocator)
{
    if (!config || !layers || !sensible(config))
        return SG_ERROR_ARGUMENT;
    sg_allocator given = sgi_allocator_or_heap(allocator);
    flow f = {.config = config, .batch = (size_t)config->batch};
    sgi_arena_init(&f.arena, &given);
    make(&f);
    sg_status status = f.failed ? SG_ERROR_MEMORY : SG_OK;
    if (status == SG_OK) {
        forward(&f);
        backward(&f);
        status = measure(&f, layers, &given);
    }
    sgi_arena_clear(&f.arena);
    return status;
}

double sgi_flow_spread(const double *values, int count)
{
    double low = INFINITY, high = 0;
    for (int i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return high / low;
}
