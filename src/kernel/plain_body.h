/* The plain scalar loops for one type: the definition of every function of kernels.h, which the
 * vector loops are tested against. They are written to be read, not to be fast.
 * The file that includes this defines `real`, the scalar functions and SG_TABLE. */
#define SG_INLINE inline
#define SG_NAME   "plain"
#define LANES     1
typedef real value;

static inline value sgi_load(const real *at)
{
    return *at;
}

static inline void sgi_store(real *at, value x)
{
    *at = x;
}

static inline value sgi_splat(real x)
{
    return x;
}

static inline value sgi_abs(value x)
{
    return x < 0 ? -x : x;
}

/* max(x, 0) that keeps NaN */
static inline value sgi_max(value x)
{
    return x < 0 ? 0 : x;
}

static inline value sgi_sincos(value x, value *cosine)
{
    *cosine = sgi_cos(x);
    return sgi_sin(x);
}

#include "kernel/activation.h"

/* What line `line` makes of the features at point p, added to `row`. */
static void add_line(const sgi_features *map, const real *x, const real *varying, int line, int p,
                     real *row)
{
    const real *raw = map->raw_derivative, *wave = map->wave;
    real times = map->varying[line] ? varying[(map->varying[line] - 1) * map->point_stride + p] : 1;
    for (int i = 0; i < map->raw; i++)
        row[i] += times * raw[line * map->raw + i];
    for (int w = 0; w < map->waves; w++) {
        real phase = 0;
        for (int i = 0; i < map->coordinates; i++)
            phase += wave[i * map->wave_stride + w] * x[i * map->point_stride + p];
        real even = times * ((const real *)map->even)[line * map->wave_stride + w];
        real odd = times * ((const real *)map->odd)[line * map->wave_stride + w];
        row[map->raw + w] += even * sgi_sin(phase) + odd * sgi_cos(phase);
        row[map->raw + map->waves + w] += even * sgi_cos(phase) - odd * sgi_sin(phase);
    }
}

static void features(const sgi_features *map, const void *coordinates, const void *varying,
                     void *rows)
{
    const real *x = coordinates, *scale = map->scale, *shift = map->shift;
    for (int p = 0; p < map->points; p++) {
        for (int c = 0; c < map->channels; c++) {
            real *row = (real *)rows + (size_t)(c * map->points + p) * (size_t)map->stride;
            memset(row, 0, (size_t)(map->raw + 2 * map->waves) * sizeof *row);
        }
        for (int line = 0; line < map->lines; line++) {
            int c = map->owner[line];
            real *row = (real *)rows + (size_t)(c * map->points + p) * (size_t)map->stride;
            add_line(map, x, varying, line, p, row);
        }
        real *row = (real *)rows + (size_t)p * (size_t)map->stride;
        for (int i = 0; i < map->raw; i++)
            row[i] = scale[i] * x[map->raw_index[i] * map->point_stride + p] + shift[i];
    }
}

/* Packed weights and gradients are what the caller's are: the weight, then the bias. */
static size_t packed_size(const sgi_layer_shape *shape)
{
    return (size_t)shape->outputs * ((size_t)shape->inputs + 1);
}

static size_t gradient_size(const sgi_layer_shape *shape)
{
    return packed_size(shape);
}

static void pack(const sgi_layer_shape *shape, const void *weight, const void *bias, void *packed)
{
    size_t count = (size_t)shape->outputs * (size_t)shape->inputs;
    memcpy(packed, weight, count * sizeof(real));
    memcpy((real *)packed + count, bias, (size_t)shape->outputs * sizeof(real));
}

static void unpack(const sgi_layer_shape *shape, const void *gradient, void *weight, void *bias)
{
    size_t count = (size_t)shape->outputs * (size_t)shape->inputs;
    memcpy(weight, gradient, count * sizeof(real));
    memcpy(bias, (const real *)gradient + count, (size_t)shape->outputs * sizeof(real));
}

/* Row `row` of W times `a`. */
static real dot(const sgi_layer_shape *shape, const real *packed, int row, const real *a)
{
    const real *w = packed + (size_t)row * (size_t)shape->inputs;
    real sum = 0;
    for (int i = 0; i < shape->inputs; i++)
        sum += w[i] * a[i];
    return sum;
}

static void forward(const sgi_layer_shape *shape, const void *packed, int rows, int value_rows,
                    bool add, const void *a, void *z)
{
    const real *bias = (const real *)packed + (size_t)shape->outputs * (size_t)shape->inputs;
    for (int r = 0; r < rows; r++) {
        const real *from = (const real *)a + (size_t)r * (size_t)shape->input_stride;
        real *to = (real *)z + (size_t)r * (size_t)shape->output_stride;
        for (int o = 0; o < shape->outputs; o++)
            to[o] = dot(shape, packed, o, from) + (add ? to[o] : r < value_rows ? bias[o] : 0);
    }
}

static void reverse(const sgi_layer_shape *shape, const void *packed, int rows, const void *z,
                    void *a)
{
    const real *w = packed;
    for (int r = 0; r < rows; r++) {
        const real *from = (const real *)z + (size_t)r * (size_t)shape->output_stride;
        real *to = (real *)a + (size_t)r * (size_t)shape->input_stride;
        for (int i = 0; i < shape->inputs; i++) {
            real sum = 0;
            for (int o = 0; o < shape->outputs; o++)
                sum += w[(size_t)o * (size_t)shape->inputs + (size_t)i] * from[o];
            to[i] = sum;
        }
    }
}

static void weights(const sgi_layer_shape *shape, int rows, int step, int value_rows, const void *z,
                    const void *a, void *gradient)
{
    real *w = gradient, *bias = w + (size_t)shape->outputs * (size_t)shape->inputs;
    for (int r = 0; r < rows; r++) {
        size_t row = (size_t)r * (size_t)step;
        const real *out = (const real *)z + row * (size_t)shape->output_stride;
        const real *in = (const real *)a + row * (size_t)shape->input_stride;
        for (int o = 0; o < shape->outputs; o++) {
            for (int i = 0; i < shape->inputs; i++)
                w[(size_t)o * (size_t)shape->inputs + (size_t)i] += out[o] * in[i];
            if (r < value_rows)
                bias[o] += out[o];
        }
    }
}

static void output(const sgi_layer_shape *shape, const void *packed, int channels, int points,
                   int point_stride, bool add, const void *a, void *y)
{
    const real *bias = (const real *)packed + (size_t)shape->outputs * (size_t)shape->inputs;
    for (int c = 0; c < channels; c++)
        for (int o = 0; o < shape->outputs; o++)
            for (int p = 0; p < points; p++) {
                size_t row = (size_t)(c * points + p) * (size_t)shape->input_stride;
                real *to = (real *)y + (size_t)(c * shape->outputs + o) * (size_t)point_stride + p;
                *to = dot(shape, packed, o, (const real *)a + row) + (add      ? *to
                                                                      : c == 0 ? bias[o]
                                                                               : 0);
            }
}

static void output_reverse(const sgi_layer_shape *shape, const void *packed, int channels,
                           int points, int point_stride, const void *y, void *a)
{
    const real *w = packed, *given = y;
    for (int c = 0; c < channels; c++)
        for (int p = 0; p < points; p++)
            for (int i = 0; i < shape->inputs; i++) {
                real sum = 0;
                for (int o = 0; o < shape->outputs; o++)
                    sum +=
                        w[(size_t)o * (size_t)shape->inputs + (size_t)i] *
                        given[(size_t)(c * shape->outputs + o) * (size_t)point_stride + (size_t)p];
                ((real *)a)[(size_t)(c * points + p) * (size_t)shape->input_stride + (size_t)i] =
                    sum;
            }
}

static void output_weights(const sgi_layer_shape *shape, int channels, int points, int point_stride,
                           int first, int count, const void *y, const void *a, void *gradient)
{
    real *w = gradient, *bias = w + (size_t)shape->outputs * (size_t)shape->inputs;
    for (int c = 0; c < channels; c++)
        for (int p = first; p < first + count; p++)
            for (int o = 0; o < shape->outputs; o++) {
                real given = ((const real *)y)[(c * shape->outputs + o) * point_stride + p];
                const real *row =
                    (const real *)a + (size_t)(c * points + p) * (size_t)shape->input_stride;
                for (int i = 0; i < shape->inputs; i++)
                    w[(size_t)o * (size_t)shape->inputs + (size_t)i] += given * row[i];
                if (c == 0)
                    bias[o] += given;
            }
}

typedef void chain_rule(const sgi_activate *args, int p, const value *d, const real *from, real *to,
                        size_t step);

/* One of the chain rules at every unit of every point. */
static void chain_all(const sgi_activate *args, const void *z, const void *a, const void *memo,
                      void *onto, chain_rule *rule)
{
    size_t step = (size_t)args->points * (size_t)args->stride;
    value d[SG_CHAIN_FACTORS + 2];
    for (int p = 0; p < args->points; p++)
        for (int i = 0; i < args->width; i++) {
            size_t at = (size_t)p * (size_t)args->stride + (size_t)i;
            const real *from = (const real *)z + at;
            activation_derivatives(args->activation, *from, ((const real *)a)[at],
                                   ((const real *)memo)[at], (real)args->frequency,
                                   SG_CHAIN_FACTORS + 1, d);
            rule(args, p, d, from, (real *)onto + at, step);
        }
}

static void activate(const sgi_activate *args, const void *z, void *a, void *memo)
{
    for (int p = 0; p < args->points; p++)
        for (int i = 0; i < args->width; i++) {
            size_t at = (size_t)p * (size_t)args->stride + (size_t)i;
            ((real *)a)[at] = activation_value(args->activation, ((const real *)z)[at],
                                               (real)args->frequency, (real *)memo + at);
        }
    chain_all(args, z, a, memo, a, chain_forward);
}

static void activate_reverse(const sgi_activate *args, const void *z, const void *a,
                             const void *memo, void *adjoint)
{
    chain_all(args, z, a, memo, adjoint, chain_reverse);
}

static void activate_tangent(const sgi_activate *args, const void *z, const void *a,
                             const void *memo, void *tangent)
{
    chain_all(args, z, a, memo, tangent, chain_tangent);
}

#include "kernel/plain_gram_body.h"

static void combine(void *const *parts, size_t count, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        double sum = 0;
        for (size_t part = 0; part < count; part++)
            sum += (double)((const real *)parts[part])[i];
        ((real *)parts[0])[i] = (real)sum;
    }
}

#include "kernel/table_body.h"
