/* The vector body of the scaler's loops, written once over a vector type.
 * A file for an instruction set defines SG_TABLE, the name of its table, and includes this. */
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "scale/combine.h"
#include "scale/moments.h"

/* Eight lanes whatever the machine's vectors are, so that the sums are the same everywhere. Four
 * places of the array are read side by side, because one stream does not fill the memory bus, and
 * asked for AHEAD bytes in advance, because the hardware's own prefetch stops at page boundaries;
 * they share two sets of sums, which hides the latency of the additions. */
enum { LANES = 8, STREAMS = 4, SETS = 2, AHEAD = 1024, STRETCH = 1 << 16 };

#if defined(__AVX512F__)
enum { WIDTH = 8 };
typedef __m512d vec;
#define LOAD_F32(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define LOAD_F64(p) _mm512_loadu_pd(p)
#elif defined(__AVX2__)
enum { WIDTH = 4 };
typedef __m256d vec;
#define LOAD_F32(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#define LOAD_F64(p) _mm256_loadu_pd(p)
#else
enum { WIDTH = 2 };
typedef double vec __attribute__((vector_size(16)));
#define LOAD_F32(p) ((vec){(double)(p)[0], (double)(p)[1]})
#define LOAD_F64(p) ((vec){(p)[0], (p)[1]})
#endif
enum { VECS = LANES / WIDTH };

static inline const void *at(const void *values, sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? (const void *)((const float *)values + i)
                              : (const void *)((const double *)values + i);
}

static inline vec load(const void *values, sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? LOAD_F32((const float *)values + i)
                              : LOAD_F64((const double *)values + i);
}

static inline double load_one(const void *values, sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* The sum of the lanes of both sets, in a fixed order. */
static inline double add_lanes(vec v[SETS][VECS])
{
    double lane[SETS * LANES];
    memcpy(lane, v, sizeof lane);
    for (int half = SETS * LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

/* Moments by deviations from `centre`: exact whatever the centre is, but the closer it is to the
 * mean the less is lost to cancellation. `kept` is the share of the squares that is left. */
static inline sg_moments about(const void *values, sg_type type, size_t count, double centre,
                               double *kept)
{
    vec q[SETS][VECS] = {0}, d[SETS][VECS] = {0};
    size_t stream = count / (STREAMS * LANES) * LANES;
    for (size_t i = 0; i < stream; i += LANES) {
#pragma GCC unroll 4
        for (size_t s = 0; s < STREAMS; s++) {
#pragma GCC unroll 4
            for (size_t k = 0; k < VECS; k++) {
                vec x = load(values, type, s * stream + i + k * WIDTH) - centre;
                q[s % SETS][k] += x * x;
                d[s % SETS][k] += x;
            }
            __builtin_prefetch((const char *)at(values, type, s * stream + i) + AHEAD);
        }
    }
    double squares = add_lanes(q), drift = add_lanes(d);
    for (size_t i = STREAMS * stream; i < count; i++) {
        double x = load_one(values, type, i) - centre;
        squares += x * x;
        drift += x;
    }
    double n = (double)count, m2 = squares - drift * drift / n;
    *kept = squares > 0 ? m2 / squares : 1;
    return (sg_moments){n, centre + drift / n, m2 < 0 ? 0 : m2}; /* keeps NaN */
}

/* One read from memory, about zero, which is where gradients lie. Where that costs more than ten
 * bits, the stretch, still in the cache, is read again about its own mean. */
static inline sg_moments moments(const void *values, sg_type type, size_t count)
{
    sg_moments all = {0, 0, 0};
    double kept;
    for (size_t begin = 0; begin < count; begin += STRETCH) {
        size_t n = count - begin < STRETCH ? count - begin : STRETCH;
        const void *part = at(values, type, begin);
        sg_moments one = about(part, type, n, 0, &kept);
        if (!(kept > 0x1p-10))
            one = about(part, type, n, one.mean, &kept);
        sgi_moments_combine(&all, &one);
    }
    return all;
}

static sg_moments moments_f32(const void *values, size_t count)
{
    return moments(values, SG_FLOAT32, count);
}

static sg_moments moments_f64(const void *values, size_t count)
{
    return moments(values, SG_FLOAT64, count);
}

static void multiply_f32(void *values, size_t count, double factor)
{
    float *x = values, f = (float)factor;
    for (size_t i = 0; i < count; i++)
        x[i] *= f;
}

static void multiply_f64(void *values, size_t count, double factor)
{
    double *x = values;
    for (size_t i = 0; i < count; i++)
        x[i] *= factor;
}

static void sign_f32(void *to, const void *from, size_t count)
{
    const float *x = from;
    float *y = to;
    for (size_t i = 0; i < count; i++)
        y[i] = (x[i] > 0 ? 1.0f : 0.0f) - (x[i] < 0 ? 1.0f : 0.0f);
}

static void sign_f64(void *to, const void *from, size_t count)
{
    const double *x = from;
    double *y = to;
    for (size_t i = 0; i < count; i++)
        y[i] = (x[i] > 0 ? 1.0 : 0.0) - (x[i] < 0 ? 1.0 : 0.0);
}

static void centre_f32(void *to, const void *from, size_t count, double mean, double factor)
{
    const float *x = from;
    float *y = to;
    for (size_t i = 0; i < count; i++)
        y[i] = (float)(((double)x[i] - mean) * factor);
}

static void centre_f64(void *to, const void *from, size_t count, double mean, double factor)
{
    const double *x = from;
    double *y = to;
    for (size_t i = 0; i < count; i++)
        y[i] = (x[i] - mean) * factor;
}

const sgi_scale_kernels SG_TABLE = {
    .moments = {moments_f32, moments_f64},
    .multiply = {multiply_f32, multiply_f64},
    .sign = {sign_f32, sign_f64},
    .centre = {centre_f32, centre_f64},
};
