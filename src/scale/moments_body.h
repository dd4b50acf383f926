/* The vector body of the scaler's loops, written once in the compiler's generic vectors.
 * A file for an instruction set defines SG_TABLE, the name of its table, and includes this. */
#include "scale/combine.h"
#include "scale/moments.h"

/* Four vectors of eight doubles are in flight: enough to hide the latency of an addition. */
enum { LANES = 8, STEP = 4 * LANES, STRETCH = 2048 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef double lanes_f64
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
typedef float lanes_f32
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

static inline lanes load(const void *values, sg_type type, size_t i)
{
    if (type == SG_FLOAT32)
        return __builtin_convertvector(*(const lanes_f32 *)((const float *)values + i), lanes);
    return (lanes)(*(const lanes_f64 *)((const double *)values + i));
}

static inline double load_one(const void *values, sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static inline double add_lanes(lanes a)
{
    return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

static inline double sum(const void *values, sg_type type, size_t count)
{
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    size_t i = 0;
    for (; i + STEP <= count; i += STEP) {
        s0 += load(values, type, i);
        s1 += load(values, type, i + LANES);
        s2 += load(values, type, i + 2 * LANES);
        s3 += load(values, type, i + 3 * LANES);
    }
    double total = add_lanes((s0 + s1) + (s2 + s3));
    for (; i < count; i++)
        total += load_one(values, type, i);
    return total;
}

/* Sum of squared deviations from `centre`, corrected for the rounding error of `centre`. */
static inline double deviations(const void *values, sg_type type, size_t count, double centre)
{
    lanes q0 = {0}, q1 = {0}, d0 = {0}, d1 = {0};
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        lanes a = load(values, type, i) - centre;
        lanes b = load(values, type, i + LANES) - centre;
        q0 += a * a;
        q1 += b * b;
        d0 += a;
        d1 += b;
    }
    double squares = add_lanes(q0 + q1), drift = add_lanes(d0 + d1);
    for (; i < count; i++) {
        double d = load_one(values, type, i) - centre;
        squares += d * d;
        drift += d;
    }
    double m2 = squares - drift * drift / (double)count;
    return m2 < 0 ? 0 : m2; /* keeps NaN */
}

static inline sg_moments moments(const void *values, sg_type type, size_t count)
{
    sg_moments all = {0, 0, 0};
    for (size_t begin = 0; begin < count; begin += STRETCH) {
        size_t n = count - begin < STRETCH ? count - begin : STRETCH;
        const void *part = type == SG_FLOAT32 ? (const void *)((const float *)values + begin)
                                              : (const void *)((const double *)values + begin);
        double mean = sum(part, type, n) / (double)n;
        sg_moments one = {(double)n, mean, deviations(part, type, n, mean)};
        sg_moments_combine(&all, &one);
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

const sg_scale_kernels SG_TABLE = {
    .moments = {moments_f32, moments_f64},
    .multiply = {multiply_f32, multiply_f64},
    .sign = {sign_f32, sign_f64},
};
