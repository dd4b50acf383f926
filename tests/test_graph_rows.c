/* The activations of the loops of networks on images, on every instruction set, against the C
 * library in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/rows.h"
#include "support/support.h"

enum { PIXELS = 4096 };

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static const struct {
    sg_act act;
    double (*f)(double x);
} cases[] = {{SG_ACT_SILU, silu}, {SG_ACT_SIGMOID, logistic}, {SG_ACT_TANH, tanh}};

/* act(x) for all of x (PIXELS, lanes). */
static void run(const sgi_rows *rows, sg_act act, const float *x, float *y)
{
    float scale[SG_MAX_LANES], shift[SG_MAX_LANES] = {0};
    for (int i = 0; i < SG_MAX_LANES; i++)
        scale[i] = 1;
    sgi_row_forward row = {.z = x, .scale = scale, .shift = shift, .keep = 1, .y = y};
    rows->forward(&row, PIXELS, act);
}

/* In units of the last place of a float. */
static double distance(float got, double want)
{
    float near = fabsf((float)want);
    return fabs((double)got - want) / (double)(nextafterf(near, INFINITY) - near);
}

static void check(const sgi_rows *rows, size_t c, const float *x, float *y)
{
    run(rows, cases[c].act, x, y);
    double worst = 0;
    for (int i = 0; i < PIXELS * rows->lanes; i++) {
        double away = distance(y[i], cases[c].f((double)x[i]));
        worst = away > worst ? away : worst;
    }
    /* Two without the rounding of what exp is divided into, and one where nothing is fused. */
    if (!(worst < 3))
        fail_msg("activation %d: %g units in the last place", (int)cases[c].act, worst);
}

static float *memory(void)
{
    float *array = aligned_alloc(64, PIXELS * SG_MAX_LANES * sizeof *array);
    assert_non_null(array);
    return array;
}

static void activations_are_accurate(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    float *x = memory(), *y = memory();
    for (int i = 0; i < PIXELS * SG_MAX_LANES; i++) {
        /* Every size from 1e-12 to 80, of both signs. */
        double size = exp(log(1e-12) + (log(80) - log(1e-12)) * i / (PIXELS * SG_MAX_LANES - 1));
        x[i] = (float)(i % 2 ? -size : size);
    }
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
            check(sgi_rows_for(isas[k]), c, x, y);
    free(x);
    free(y);
}

/* What is not a number stays so, and the ends are reached. */
static void ends_of_the_range(void **state)
{
    (void)state;
    static const float at[] = {NAN, INFINITY, -1e30f, 1e30f};
    static const float want[][4] = {{NAN, INFINITY, 0, 1e30f}, {NAN, 1, 0, 1}, {NAN, 1, -1, 1}};
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    float *x = memory(), *y = memory();
    for (int i = 0; i < PIXELS * SG_MAX_LANES; i++)
        x[i] = at[i % 4];
    for (size_t k = 0; k < count; k++)
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            run(sgi_rows_for(isas[k]), cases[c].act, x, y);
            for (int i = 0; i < 4; i++)
                assert_true(y[i] == want[c][i] || (isnan(y[i]) && isnan(want[c][i])));
        }
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_accurate),
        cmocka_unit_test(ends_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
