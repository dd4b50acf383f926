/* The loops of rows.h, compiled once for each instruction set: LANES and TABLE are set by the file
 * that includes this one. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "graph/rows.h"

#define VECTOR  __attribute__((vector_size(LANES * 4), may_alias))
#define ALWAYS  static inline __attribute__((always_inline))
#define LOAD(p) (*(const vf *)(p))

typedef float vf VECTOR;
typedef int32_t vi VECTOR;

/* What the exponential functions of the kernels ask for. */
#define SG_SINGLE 1
#define SG_INLINE inline __attribute__((always_inline))
typedef float real;
typedef vf value;
typedef vi mask;

enum { CHUNK = 256 }; /* pixels summed in float */

ALWAYS vf sgi_splat(float x)
{
    return x - (vf){0};
}

#include "kernel/exponential.h"

ALWAYS vf choose(vi where, vf yes, vf no)
{
    return (vf)((where & (vi)yes) | (~where & (vi)no));
}

/* A vector of lanes, or `otherwise` where there is none. */
ALWAYS vf lanes_or(const float *p, float otherwise)
{
    vf v = sgi_splat(otherwise);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

/* 1 / (1 + e^-x); exactly 0 far to the left, so that a huge negative x gives silu 0. */
ALWAYS vf logistic(vf x)
{
    return choose(x < -87.0f, sgi_splat(0), 1.0f / (1.0f + sgi_exp(-x)));
}

ALWAYS vf activate(vf t, const sg_act act)
{
    switch (act) {
    case SG_ACT_RELU:
        return choose(t < 0.0f, sgi_splat(0), t); /* keeps NaN */
    case SG_ACT_SILU:
        return t * logistic(t);
    case SG_ACT_TANH:
        return sgi_tanh(t);
    case SG_ACT_SIGMOID:
        return logistic(t);
    default:
        return t;
    }
}

/* g act'(t), from t for SiLU and from y for the others. */
ALWAYS vf back(vf g, vf t, vf y, const sg_act act)
{
    switch (act) {
    case SG_ACT_RELU:
        return choose(y > 0.0f, g, sgi_splat(0));
    case SG_ACT_SILU: {
        vf s = logistic(t);
        return g * (s * (1.0f + t * (1.0f - s)));
    }
    case SG_ACT_TANH:
        return g * (1.0f - y * y);
    case SG_ACT_SIGMOID:
        return g * (y * (1.0f - y));
    default:
        return g;
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void add_lanes(double *sum, vf part)
{
    for (int i = 0; i < LANES; i++)
        sum[i] += (double)part[i];
}

static void stats(const float *z, size_t pixels, const float *shift, double *sum, double *square)
{
    vf about = lanes_or(shift, 0);
    for (size_t begin = 0; begin < pixels; begin += CHUNK) {
        size_t end = smaller(begin + CHUNK, pixels);
        vf s0 = {0}, s1 = {0}, q0 = {0}, q1 = {0};
        size_t p = begin;
        for (; p + 2 <= end; p += 2) {
            vf d0 = LOAD(z + p * LANES) - about, d1 = LOAD(z + (p + 1) * LANES) - about;
            s0 += d0;
            s1 += d1;
            q0 += d0 * d0;
            q1 += d1 * d1;
        }
        if (p < end) {
            vf d = LOAD(z + p * LANES) - about;
            s0 += d;
            q0 += d * d;
        }
        add_lanes(sum, s0 + s1);
        add_lanes(square, q0 + q1);
    }
}

ALWAYS void forward_loop(const sgi_row_forward *row, size_t pixels, const sg_act act,
                         const bool residual)
{
    vf scale = lanes_or(row->scale, 1) * row->keep, shift = lanes_or(row->shift, 0) * row->keep;
    double total[LANES] = {0};
    const float *z = row->z, *r = row->residual;
    float *y = row->y;
    for (size_t begin = 0; begin < pixels; begin += CHUNK) {
        size_t end = smaller(begin + CHUNK, pixels);
        vf sum = {0};
        for (size_t p = begin; p < end; p++) {
            vf t = LOAD(z + p * LANES) * scale + shift;
            if (residual)
                t += LOAD(r + p * LANES);
            t = activate(t, act);
            *(vf *)(y + p * LANES) = t;
            sum += t;
        }
        if (row->sum)
            add_lanes(total, sum);
    }
    if (row->sum)
        for (int i = 0; i < LANES; i++)
            row->sum[i] = (float)total[i];
}

/* One copy of the loop for each activation, so that nothing is decided inside it. */
#define BY_ACT(act, call)                                                                          \
    switch (act) {                                                                                 \
    case SG_ACT_RELU:                                                                              \
        call(SG_ACT_RELU);                                                                         \
        break;                                                                                     \
    case SG_ACT_SILU:                                                                              \
        call(SG_ACT_SILU);                                                                         \
        break;                                                                                     \
    case SG_ACT_TANH:                                                                              \
        call(SG_ACT_TANH);                                                                         \
        break;                                                                                     \
    case SG_ACT_SIGMOID:                                                                           \
        call(SG_ACT_SIGMOID);                                                                      \
        break;                                                                                     \
    default:                                                                                       \
        call(SG_ACT_NONE);                                                                         \
    }

static void forward(const sgi_row_forward *row, size_t pixels, sg_act act)
{
#define WITH(kind)    forward_loop(row, pixels, kind, true)
#define WITHOUT(kind) forward_loop(row, pixels, kind, false)
    if (row->residual)
        BY_ACT(act, WITH)
    else
        BY_ACT(act, WITHOUT)
#undef WITH
#undef WITHOUT
}

ALWAYS void backward_loop(const sgi_row_backward *row, size_t pixels, const sg_act act,
                          const bool sums, const int sources)
{
    vf scale = lanes_or(row->scale, 1) * row->keep, shift = lanes_or(row->shift, 0) * row->keep;
    vf a_scale = lanes_or(row->g.a_scale, 1), offset = lanes_or(row->g.offset, 0);
    vf mean = lanes_or(row->mean, 0);
    const float *a = row->g.a, *b = row->g.b, *z = row->z, *y = row->y;
    float *dt = row->dt, *dz = row->dz, keep = row->keep;
    for (size_t begin = 0; begin < pixels; begin += CHUNK) {
        size_t end = smaller(begin + CHUNK, pixels);
        vf sum = {0}, dot = {0};
        for (size_t p = begin * LANES; p < end * LANES; p += LANES) {
            vf g = offset, at = {0}, out = {0};
            if (sources > 0)
                g += LOAD(a + p) * a_scale;
            if (sources > 1)
                g += LOAD(b + p);
            if (act == SG_ACT_SILU || sums)
                at = LOAD(z + p);
            if (act != SG_ACT_SILU && act != SG_ACT_NONE)
                out = LOAD(y + p);
            vf d = back(g, at * scale + shift, out, act), e = d * keep;
            if (dt)
                *(vf *)(dt + p) = d;
            if (dz)
                *(vf *)(dz + p) = e;
            if (sums) {
                sum += e;
                dot += e * (at - mean);
            }
        }
        if (sums) {
            add_lanes(row->sum, sum);
            add_lanes(row->dot, dot);
        }
    }
}

static void backward(const sgi_row_backward *row, size_t pixels, sg_act act)
{
#define SUMS_0(kind)  backward_loop(row, pixels, kind, true, 0)
#define SUMS_1(kind)  backward_loop(row, pixels, kind, true, 1)
#define SUMS_2(kind)  backward_loop(row, pixels, kind, true, 2)
#define PLAIN_0(kind) backward_loop(row, pixels, kind, false, 0)
#define PLAIN_1(kind) backward_loop(row, pixels, kind, false, 1)
#define PLAIN_2(kind) backward_loop(row, pixels, kind, false, 2)
    int sources = row->g.b ? 2 : row->g.a ? 1 : 0;
    if (row->sum) {
        if (sources == 2)
            BY_ACT(act, SUMS_2)
        else if (sources == 1)
            BY_ACT(act, SUMS_1)
        else
            BY_ACT(act, SUMS_0)
    } else {
        if (sources == 2)
            BY_ACT(act, PLAIN_2)
        else if (sources == 1)
            BY_ACT(act, PLAIN_1)
        else
            BY_ACT(act, PLAIN_0)
    }
#undef SUMS_0
#undef SUMS_1
#undef SUMS_2
#undef PLAIN_0
#undef PLAIN_1
#undef PLAIN_2
}

static void apply(const sgi_row_apply *row, size_t pixels)
{
    vf k1 = LOAD(row->k1) * row->keep, k2 = LOAD(row->k2), k3 = LOAD(row->k3);
    vf mean = LOAD(row->mean);
    for (size_t p = 0; p < pixels * LANES; p += LANES)
        *(vf *)(row->dz + p) = LOAD(row->dt + p) * k1 + ((LOAD(row->z + p) - mean) * k2 + k3);
}

static void combine(const sgi_row_gradient *g, size_t pixels, float *y)
{
    vf a_scale = lanes_or(g->a_scale, 1), offset = lanes_or(g->offset, 0);
    if (g->b)
        for (size_t p = 0; p < pixels * LANES; p += LANES)
            *(vf *)(y + p) = LOAD(g->a + p) * a_scale + offset + LOAD(g->b + p);
    else if (g->a)
        for (size_t p = 0; p < pixels * LANES; p += LANES)
            *(vf *)(y + p) = LOAD(g->a + p) * a_scale + offset;
    else
        for (size_t p = 0; p < pixels * LANES; p += LANES)
            *(vf *)(y + p) = offset;
}

static void dot(const float *x, const float *y, size_t pixels, float *out)
{
    double total[LANES] = {0};
    for (size_t begin = 0; begin < pixels; begin += CHUNK) {
        size_t end = smaller(begin + CHUNK, pixels) * LANES;
        vf sum = {0};
        if (y)
            for (size_t p = begin * LANES; p < end; p += LANES)
                sum += LOAD(x + p) * LOAD(y + p);
        else
            for (size_t p = begin * LANES; p < end; p += LANES)
                sum += LOAD(x + p);
        add_lanes(total, sum);
    }
    for (int i = 0; i < LANES; i++)
        out[i] = (float)total[i];
}

static int larger_of(int a, int b)
{
    return a > b ? a : b;
}

static int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

/* Outputs [first, last) along one axis whose window element `k` lies inside the image. */
static void outputs_inside(const sgi_row_window *w, int k, int extent, int outputs, int *first,
                           int *last)
{
    int shift = w->pad - k;
    *first = shift > 0 ? (shift + w->stride - 1) / w->stride : 0;
    *last = larger_of(*first, smaller_of(outputs, (extent - 1 + shift) / w->stride + 1));
}

static void depthwise(const float *x, const float *dz, const sgi_row_window *w, float *sums)
{
    for (int ky = 0; ky < w->kernel; ky++)
        for (int kx = 0; kx < w->kernel; kx++, sums += LANES) {
            int top, bottom, left, right;
            outputs_inside(w, ky, w->height, w->out_height, &top, &bottom);
            outputs_inside(w, kx, w->width, w->out_width, &left, &right);
            vf sum = LOAD(sums);
            for (int y = top; y < bottom; y++) {
                const float *from = x + ((y * w->stride - w->pad + ky) * w->width +
                                         left * w->stride - w->pad + kx) *
                                            LANES;
                const float *by = dz + (y * w->out_width + left) * LANES;
                for (int i = left; i < right; i++, from += w->stride * LANES, by += LANES)
                    sum += LOAD(from) * LOAD(by);
            }
            *(vf *)sums = sum;
        }
}

#include "graph/tiles_body.h"

const sgi_rows TABLE = {LANES, stats,     forward, backward, apply, combine,
                        dot,   depthwise, pack,    unpack,   outer};
