/* The optimizers' loops against the update rules written out in long double, for every tail,
 * alignment, type and instruction set; and all instruction sets against each other, bit by bit. */
#include "optim/kernels.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "stablegrad/params.h"
#include "support/support.h"

enum { MOST = 140, ARRAYS = 4, OFFSETS = 3 };

/* p, g, m, v in either type, with room before and after to see stray writes. */
typedef struct arrays {
    _Alignas(64) unsigned char data[ARRAYS][(MOST + 2 * OFFSETS) * sizeof(double)];
} arrays;

static size_t size_of(sg_type type)
{
    return type == SG_FLOAT32 ? sizeof(float) : sizeof(double);
}

static void *at(arrays *a, int which, sg_type type, size_t i)
{
    return a->data[which] + i * size_of(type);
}

static double get(const arrays *a, int which, sg_type type, size_t i)
{
    const void *p = a->data[which] + i * size_of(type);
    return type == SG_FLOAT32 ? (double)*(const float *)p : *(const double *)p;
}

static void fill(arrays *a, sg_type type)
{
    for (int w = 0; w < ARRAYS; w++)
        for (size_t i = 0; i < MOST + 2 * OFFSETS; i++) {
            double x = sgi_random_normal(3, (uint64_t)w, i);
            if (w == 3)
                x *= x; /* second moments are not negative */
            if (type == SG_FLOAT32)
                *(float *)at(a, w, type, i) = (float)x;
            else
                *(double *)at(a, w, type, i) = x;
        }
}

static const sgi_adam_step adam = {.factor = 1.7,
                                   .keep = 0.999,
                                   .l2 = 0.01,
                                   .beta1 = 0.9,
                                   .beta2 = 0.99,
                                   .root_correction = 0.3,
                                   .eps = 1e-3,
                                   .rate = 0.01};

static void expect_adam(const arrays *before, sg_type type, size_t i, double out[3])
{
    long double p = get(before, 0, type, i) * (long double)adam.keep;
    long double g = get(before, 1, type, i) * (long double)adam.factor + adam.l2 * p;
    long double m = adam.beta1 * get(before, 2, type, i) + (1 - adam.beta1) * g;
    long double v = adam.beta2 * get(before, 3, type, i) + (1 - adam.beta2) * g * g;
    p -= adam.rate * (m / (sqrtl(v) / adam.root_correction + adam.eps));
    out[0] = (double)p;
    out[1] = (double)m;
    out[2] = (double)v;
}

static void expect_sgd(const arrays *before, sg_type type, size_t i, const sgi_sgd_step *s,
                       bool buffer, double out[3])
{
    long double p = get(before, 0, type, i) * (long double)s->keep, b = get(before, 2, type, i);
    long double g = get(before, 1, type, i) * (long double)s->factor * s->unit + s->l2 * p;
    long double d = g;
    if (buffer) {
        b = s->first ? g : s->momentum * b + (1 - s->dampening) * g;
        d = s->nesterov ? g + s->momentum * b : b;
    }
    out[0] = (double)(p - s->rate * d);
    out[1] = (double)b;
    out[2] = get(before, 3, type, i);
}

/* One call; `sgd` NULL means Adam. */
static void call(const sgi_optim_kernels *k, arrays *a, sg_type type, size_t offset, size_t count,
                 const sgi_sgd_step *sgd, bool buffer)
{
    void *p = at(a, 0, type, offset), *g = at(a, 1, type, offset);
    void *m = at(a, 2, type, offset), *v = at(a, 3, type, offset);
    if (sgd)
        k->sgd[type](p, g, buffer ? m : NULL, count, sgd);
    else
        k->adam[type](p, g, m, v, count, &adam);
}

static void check(const sgi_optim_kernels *k, sg_type type, size_t offset, size_t count,
                  const sgi_sgd_step *sgd, bool buffer)
{
    static arrays before, after, generic;
    fill(&before, type);
    after = generic = before;
    call(k, &after, type, offset, count, sgd, buffer);
    call(&sgi_optim_kernels_generic, &generic, type, offset, count, sgd, buffer);
    assert_memory_equal(&after, &generic, sizeof after);
    double tolerance = type == SG_FLOAT32 ? 2e-6 : 1e-14;
    for (size_t i = 0; i < MOST + 2 * OFFSETS; i++) {
        double out[3] = {get(&before, 0, type, i), get(&before, 2, type, i),
                         get(&before, 3, type, i)};
        bool inside = i >= offset && i < offset + count;
        if (inside && sgd)
            expect_sgd(&before, type, i, sgd, buffer, out);
        else if (inside)
            expect_adam(&before, type, i, out);
        assert_close(get(&after, 0, type, i), out[0], inside ? tolerance : 0);
        assert_close(get(&after, 2, type, i), out[1], inside ? tolerance : 0);
        assert_close(get(&after, 3, type, i), out[2], inside ? tolerance : 0);
    }
}

#define UNSCALED .unit = 1, .keep = 1

static void every_tail_and_alignment(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t n = runnable_isas(isas);
    const sgi_sgd_step sgd[] = {
        {.factor = 1.5, UNSCALED, .l2 = 0.1, .rate = 0.2},
        {.factor = 1.5, UNSCALED, .l2 = 0.1, .momentum = 0.9, .dampening = 0.3, .rate = 0.2},
        {.factor = 1.5, UNSCALED, .l2 = 0.1, .momentum = 0.9, .dampening = 0.3, .first = true},
        {.factor = 0.5, UNSCALED, .momentum = 0.8, .rate = 0.2, .nesterov = true},
        {.factor = 0.5, UNSCALED, .momentum = 0.8, .rate = 0.2, .nesterov = true, .first = true},
        {.factor = 0.5, .unit = 3, .keep = 0.9, .momentum = 0.8, .rate = 0.2, .l2 = 0.1},
    };
    for (size_t k = 0; k < n; k++)
        for (int type = 0; type < SG_TYPE_COUNT; type++)
            for (size_t offset = 0; offset < OFFSETS; offset++)
                for (size_t count = 0; count <= MOST; count = count < 40 ? count + 1 : count + 20) {
                    const sgi_optim_kernels *kernels = sgi_optim_kernels_for(isas[k]);
                    check(kernels, (sg_type)type, offset, count, NULL, true);
                    for (size_t s = 0; s < sizeof sgd / sizeof *sgd; s++)
                        check(kernels, (sg_type)type, offset, count, &sgd[s], s > 0);
                }
}

static const sgi_adam_step lamb = {.factor = 1.7,
                                   .l2 = 0.01,
                                   .beta1 = 0.9,
                                   .beta2 = 0.99,
                                   .root_correction = 0.3,
                                   .first_correction = 0.2,
                                   .eps = 1e-3,
                                   .rate = 0.01};

/* value, first and second moment after LAMB's step; returns what was added to the value, by rate */
static long double expect_lamb(const arrays *before, sg_type type, size_t i, double out[3])
{
    long double p = get(before, 0, type, i);
    long double g = get(before, 1, type, i) * (long double)lamb.factor;
    long double m = lamb.beta1 * get(before, 2, type, i) + (1 - lamb.beta1) * g;
    long double v = lamb.beta2 * get(before, 3, type, i) + (1 - lamb.beta2) * g * g;
    long double move =
        m / lamb.first_correction / (sqrtl(v) / lamb.root_correction + lamb.eps) + lamb.l2 * p;
    out[0] = (double)(p - lamb.rate * move);
    out[1] = (double)m;
    out[2] = (double)v;
    return move;
}

static void look(const sgi_optim_kernels *k, arrays *a, sg_type type, size_t offset, size_t count,
                 sgi_lanes sums[3])
{
    k->lamb_look[type](at(a, 0, type, offset), at(a, 1, type, offset), at(a, 2, type, offset),
                       at(a, 3, type, offset), count, &lamb, sums);
    k->squares[type](at(a, 1, type, offset), count, 1.7, &sums[2]);
}

static double total(const sgi_lanes *lanes)
{
    double sum = 0;
    for (int i = 0; i < SG_SUM_LANES; i++)
        sum += lanes->of[i];
    return sum;
}

/* Looking changes nothing and gives the same bits on every set, in one stretch or in two; moving
 * does what looking saw. */
static void check_tensors(const sgi_optim_kernels *k, sg_type type, size_t offset, size_t count)
{
    static arrays before, after, generic;
    sgi_lanes whole[3] = {0}, parts[3] = {0}, reference[3] = {0};
    size_t half = count / 2 / SG_SUM_LANES * SG_SUM_LANES;
    fill(&before, type);
    after = generic = before;
    look(k, &after, type, offset, count, whole);
    look(k, &after, type, offset, half, parts);
    look(k, &after, type, offset + half, count - half, parts);
    look(&sgi_optim_kernels_generic, &after, type, offset, count, reference);
    assert_memory_equal(whole, parts, sizeof whole);
    assert_memory_equal(whole, reference, sizeof whole);
    assert_memory_equal(&after, &before, sizeof after);
    void *p = at(&after, 0, type, offset), *g = at(&after, 1, type, offset);
    k->lamb_move[type](p, g, at(&after, 2, type, offset), at(&after, 3, type, offset), count,
                       &lamb);
    sgi_optim_kernels_generic.lamb_move[type](
        at(&generic, 0, type, offset), at(&generic, 1, type, offset), at(&generic, 2, type, offset),
        at(&generic, 3, type, offset), count, &lamb);
    assert_memory_equal(&after, &generic, sizeof after);
    double tolerance = type == SG_FLOAT32 ? 2e-6 : 1e-14;
    long double sums[3] = {0};
    for (size_t i = 0; i < MOST + 2 * OFFSETS; i++) {
        double out[3] = {get(&before, 0, type, i), get(&before, 2, type, i),
                         get(&before, 3, type, i)};
        bool inside = i >= offset && i < offset + count;
        if (inside) {
            long double value = out[0], move = expect_lamb(&before, type, i, out);
            long double gradient = get(&before, 1, type, i) * 1.7L;
            sums[0] += value * value;
            sums[1] += move * move;
            sums[2] += gradient * gradient;
        }
        assert_close(get(&after, 0, type, i), out[0], inside ? tolerance : 0);
        assert_close(get(&after, 2, type, i), out[1], inside ? tolerance : 0);
        assert_close(get(&after, 3, type, i), out[2], inside ? tolerance : 0);
    }
    for (int s = 0; s < 3; s++)
        assert_close(total(&whole[s]), (double)sums[s], 10 * tolerance);
}

static void sums_over_tensors(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t n = runnable_isas(isas);
    for (size_t k = 0; k < n; k++)
        for (int type = 0; type < SG_TYPE_COUNT; type++)
            for (size_t offset = 0; offset < OFFSETS; offset++)
                for (size_t count = 0; count <= MOST; count = count < 40 ? count + 1 : count + 20)
                    check_tensors(sgi_optim_kernels_for(isas[k]), (sg_type)type, offset, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_tensors),
        cmocka_unit_test(every_tail_and_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
