/* Every instruction set against the scalar reference: widths 1 to 130, one point to several tiles,
 * float and double, specialised and table-driven loops; and the inlined functions against the C
 * library. */
#include <float.h>

#include "kernel/kernels.h"
#include "test_jet_support.h"

enum { SETS = 5, WIDTHS = 130 };

static const sg_jet_term LAPLACE[] = {{1, 2, {0, 0}, 0}, {1, 2, {1, 1}, 0}};

typedef struct world {
    sg_jet_network *network;
    sg_jet_plan *plans[SETS];
    test_set contexts[SETS];
    sg_jet_set sets[SETS];
} world;

static const sg_jet_term ROD[] = {{1, 1, {1}, 0}, {-0.5, 2, {0, 0}, 1}};
static const sg_jet_term KDV[] = {{1, 1, {1}, 0}, {0.3, 3, {0, 0, 0}, 0}};
static const sg_jet_term BEAM[] = {{0.5, 2, {0, 0}, 0}, {0.2, 4, {1, 1, 1, 1}, 1}};

/* Simple plans, one with pairs, one whose coefficients vary; one that needs the table; and third
 * and fourth derivatives along one coordinate. */
static void open_world(world *w, sg_type type, sg_activation activation, int width, size_t items)
{
    int hidden[] = {width, width * 7 % 131 + 1, width};
    double waves[] = {1, 2, 0.5, -0.5, 0.3, 0.1};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.input.waves = waves;
    config.input.wave_count = (size_t)(width % 4);
    config.hidden = hidden;
    config.hidden_count = 3;
    config.outputs = 1 + width % 3;
    config.activation = activation;
    config.type = type;
    assert_ok(sg_jet_network_create(&w->network, &config, NULL));
    randomize(w->network, (uint64_t)width);
    sg_jet_request simple[] = {{.order = 0}, SUM(LAPLACE)};
    sg_jet_request mixed[] = {{.order = 1, .along = {1}}, {.order = 3, .along = {0, 0, 1}}};
    w->plans[0] = make_plan(2, simple, 2);
    w->plans[1] = make_plan(2, mixed, 2);
    sg_jet_request rod[] = {{.order = 0}, SUM(ROD)};
    w->plans[2] = make_plan(2, rod, 2);
    sg_jet_request kdv[] = {{.order = 0}, SUM(KDV)}, beam[] = {{.order = 0}, SUM(BEAM)};
    w->plans[3] = make_plan(2, kdv, 2);
    w->plans[4] = make_plan(2, beam, 2);
    w->sets[3] = make_set(&w->contexts[3], w->network, w->plans[3], items / 3 + 1, 1, 4);
    w->sets[4] = make_set(&w->contexts[4], w->network, w->plans[4], items / 4 + 1, 1, 5);
    w->sets[0] = make_set(&w->contexts[0], w->network, w->plans[0], items, 1 + width % 2, 1);
    w->sets[2] = make_set(&w->contexts[2], w->network, w->plans[2], items, 1, 3);
    w->sets[1] = make_set(&w->contexts[1], w->network, w->plans[1], items / 2 + 1, 1, 2);
}

static void close_world(world *w)
{
    for (int s = 0; s < SETS; s++)
        sg_jet_plan_destroy(w->plans[s]);
    sg_jet_network_destroy(w->network);
}

/* The loss; the gradient goes to `gradient`. */
static double run(world *w, sg_isa isa, bool plain, bool general, double *gradient)
{
    sg_jet_config config = sg_jet_defaults();
    config.network = w->network;
    config.sets = w->sets;
    config.set_count = SETS;
    config.isa = isa;
    config.plain = plain;
    config.general = general;
    sg_jet *jet;
    assert_ok(sg_jet_create(&jet, &config, NULL));
    assert_string_equal(sg_jet_kernels(jet), plain ? "plain" : sg_isa_name(isa));
    sg_jet_gradient(jet, NULL);
    size_t count = sg_jet_network_parameters(w->network);
    assert_true(count <= MOST_PARAMETERS);
    for (size_t i = 0; i < count; i++)
        gradient[i] = get(sg_jet_network_gradients(w->network), sg_jet_network_type(w->network), i);
    double loss = 0;
    for (size_t s = 0; s < SETS; s++)
        loss += sg_jet_sums(jet, s)[0];
    sg_jet_destroy(jet);
    return loss;
}

static double norm(const double *x, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void compare(world *w, sg_isa isa, bool general, double loss, const double *expected)
{
    static double gradient[MOST_PARAMETERS];
    bool single = sg_jet_network_type(w->network) == SG_FLOAT32;
    double tolerance = single ? 3e-5 : 1e-12, got = run(w, isa, false, general, gradient);
    assert_relative(got, loss, tolerance);
    /* Layer by layer, against the layer's own size: rounding errors are not per element. */
    for (int l = 0; l < sg_jet_network_layers(w->network); l++) {
        sg_jet_layer layer = sg_jet_network_layer(w->network, l);
        size_t count = (size_t)((layer.inputs + 1) * layer.outputs);
        double size = norm(expected + layer.weight, count), worst = 0;
        for (size_t i = layer.weight; i < layer.weight + count; i++)
            worst = fmax(worst, fabs(gradient[i] - expected[i]));
        if (!(worst <= tolerance * size))
            fail_msg("%s, layer %d of width %d: off by %g of %g", sg_isa_name(isa), l,
                     layer.outputs, worst, size);
    }
}

static void check(sg_type type, sg_activation activation, int width, size_t items, bool general)
{
    static double expected[MOST_PARAMETERS];
    world w;
    sg_isa isas[SG_ISA_COUNT];
    open_world(&w, type, activation, width, items);
    double loss = run(&w, SG_ISA_GENERIC, true, false, expected);
    size_t count = runnable_isas(isas);
    for (size_t i = 0; i < count; i++)
        compare(&w, isas[i], general, loss, expected);
    close_world(&w);
}

static void widths(void **state)
{
    (void)state;
    for (int width = 1; width <= WIDTHS; width++) {
        sg_activation activation = (sg_activation)(width % SG_ACTIVATION_COUNT);
        check(SG_FLOAT64, activation, width, (size_t)(1 + width % 11), false);
        check(SG_FLOAT32, activation, width, (size_t)(1 + width % 7), width % 3 == 0);
    }
}

static void counts(void **state)
{
    (void)state;
    for (size_t items = 1; items <= 100; items += items < 30 ? 1 : 7) {
        check(SG_FLOAT32, SG_ACTIVATION_TANH, 17, items, false);
        check(SG_FLOAT64, SG_ACTIVATION_SILU, 18, items, items % 2);
    }
}

static void every_activation(void **state)
{
    (void)state;
    for (int a = 0; a < SG_ACTIVATION_COUNT; a++)
        for (int general = 0; general < 2; general++)
            for (int width = 5; width < 70; width += 30) {
                check(SG_FLOAT32, (sg_activation)a, width, 40, general);
                check(SG_FLOAT64, (sg_activation)a, width, 40, general);
            }
}

/* ---- Functions ------------------------------------------------------------------------------ */

static void apply(sg_isa isa, sg_type type, sg_activation activation, const void *z, void *f,
                  void *memo)
{
    sgi_chain chain = {.channels = 1, .simple = true};
    sgi_activate args = {.chain = &chain,
                         .activation = activation,
                         .frequency = 1,
                         .points = 1,
                         .width = 16,
                         .stride = 16};
    sgi_kernels_for(isa, type)->activate(&args, z, f, memo);
}

static double ulps(float got, double exact)
{
    float size = fabsf((float)exact);
    return fabs((double)got - exact) / (double)(nextafterf(size, INFINITY) - size);
}

/* tanh over all magnitudes; the logistic function as SiLU's memo. */
static void functions(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    _Alignas(64) float z[16], f[16], memo[16];
    size_t count = runnable_isas(isas);
    for (size_t k = 0; k < count; k++) {
        double most_tanh = isas[k] == SG_ISA_GENERIC ? 3 : 2, worst_tanh = 0, worst_logistic = 0;
        for (int i = -40000; i < 40000; i++) {
            float sign = i < 0 ? -1 : 1;
            for (int j = 0; j < 16; j++)
                z[j] = sign * (float)exp2((abs(i) + j / 16.0) * 8e-4 - 28);
            apply(isas[k], SG_FLOAT32, SG_ACTIVATION_TANH, z, f, memo);
            for (int j = 0; j < 16; j++)
                worst_tanh = fmax(worst_tanh, ulps(f[j], tanh((double)z[j])));
            for (int j = 0; j < 16; j++)
                z[j] = (float)(i + j / 16.0) * 2e-3f;
            apply(isas[k], SG_FLOAT32, SG_ACTIVATION_SILU, z, f, memo);
            for (int j = 0; j < 16; j++)
                worst_logistic = fmax(worst_logistic, ulps(memo[j], 1 / (1 + exp(-(double)z[j]))));
        }
        assert_true(worst_tanh > 0 && worst_tanh < most_tanh);
        assert_true(worst_logistic > 0 && worst_logistic < 4);
    }
}

static double double_ulps(double got, long double exact)
{
    double size = fabs((double)exact);
    return fabs((double)((long double)got - exact)) / (nextafter(size, INFINITY) - size);
}

/* Whether long double is wider than double, also where the program is run: valgrind computes with
 * 64 bits, whatever the type. */
static bool long_double_is_wide(void)
{
    volatile long double one = 1, small = 0x1p-60L;
    volatile long double sum = one + small;
    return LDBL_MANT_DIG >= 64 && sum != one;
}

/* The same in double, against long double where that is wider. */
static void functions_in_double(void **state)
{
    (void)state;
    if (!long_double_is_wide())
        skip();
    sg_isa isas[SG_ISA_COUNT];
    _Alignas(64) double z[16], f[16], memo[16];
    size_t count = runnable_isas(isas);
    for (size_t k = 0; k < count; k++) {
        double most_tanh = isas[k] == SG_ISA_GENERIC ? 3 : 2, worst_tanh = 0, worst_logistic = 0;
        for (int i = -20000; i < 20000; i++) {
            double sign = i < 0 ? -1 : 1;
            for (int j = 0; j < 16; j++)
                z[j] = sign * exp2((abs(i) + j / 16.0) * 3.1e-3 - 56);
            apply(isas[k], SG_FLOAT64, SG_ACTIVATION_TANH, z, f, memo);
            for (int j = 0; j < 16; j++)
                worst_tanh = fmax(worst_tanh, double_ulps(f[j], tanhl(z[j])));
            for (int j = 0; j < 16; j++)
                z[j] = (i + j / 16.0) * 3.5e-2;
            apply(isas[k], SG_FLOAT64, SG_ACTIVATION_SILU, z, f, memo);
            for (int j = 0; j < 16; j++)
                worst_logistic = fmax(worst_logistic, double_ulps(memo[j], 1 / (1 + expl(-z[j]))));
        }
        assert_true(worst_tanh > 0 && worst_tanh < most_tanh);
        assert_true(worst_logistic > 0 && worst_logistic < 4);
        double ends[16] = {NAN, INFINITY, -INFINITY, -0.0, 1e-310, 800, -800};
        apply(isas[k], SG_FLOAT64, SG_ACTIVATION_TANH, ends, f, memo);
        assert_true(isnan(f[0]) && f[1] == 1 && f[2] == -1 && f[3] == 0 && signbit(f[3]));
        assert_true(f[5] == 1 && f[6] == -1);
        apply(isas[k], SG_FLOAT64, SG_ACTIVATION_SOFTPLUS, ends, f, memo);
        assert_true(isnan(f[0]) && f[5] == 800 && f[6] >= 0 && f[6] < 1e-300);
    }
}

static void special_values(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    for (size_t k = 0; k < count; k++) {
        _Alignas(64) float z[16] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-40f, 200, -200};
        _Alignas(64) float f[16], memo[16];
        for (int a = 0; a < SG_ACTIVATION_COUNT; a++) {
            apply(isas[k], SG_FLOAT32, (sg_activation)a, z, f, memo);
            assert_true(isnan(f[0]));
        }
        apply(isas[k], SG_FLOAT32, SG_ACTIVATION_TANH, z, f, memo);
        assert_true(f[1] == 1 && f[2] == -1 && f[3] == 0 && signbit(f[3]));
        assert_true(f[5] == 1 && f[6] == -1);
        apply(isas[k], SG_FLOAT32, SG_ACTIVATION_SOFTPLUS, z, f, memo);
        assert_true(f[5] == 200 && f[6] >= 0 && f[6] < 1e-30f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths),
                                       cmocka_unit_test(counts),
                                       cmocka_unit_test(every_activation),
                                       cmocka_unit_test(functions),
                                       cmocka_unit_test(functions_in_double),
                                       cmocka_unit_test(special_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
