/* Rows of the Jacobian that are written past the caches are those that are written into them: for
 * every instruction set, all lengths of tails, all alignments, and nothing beside the rows. */
#include "kernel/kernels.h"
#include "test_jet_support.h"

enum { CHANNELS = 3, SIDES = 2, MOST_INPUTS = 1100, MOST_OUTPUTS = 15, GUARD = 32 };

typedef struct operands {
    double z[SIDES * CHANNELS * 64], a[SIDES * CHANNELS * (MOST_INPUTS + 64)];
} operands;

static void fill(operands *o, sg_type type)
{
    for (size_t i = 0; i < sizeof o->z / sizeof *o->z; i++)
        put(o->z, type, i, sgi_random_normal(1, 1, i));
    for (size_t i = 0; i < sizeof o->a / sizeof *o->a; i++)
        put(o->a, type, i, sgi_random_normal(1, 2, i));
}

/* One row at `weight`, which nothing else may be written beside. */
static void make_row(const sgi_kernels *kernels, const operands *o, int inputs, int outputs,
                     bool stream, void *weight)
{
    static double bias[MOST_OUTPUTS];
    size_t stride = MOST_INPUTS + 64;
    sgi_layer_shape shape = {inputs, outputs, (int)stride, 64, false};
    sgi_item_rows rows = {SIDES, CHANNELS, CHANNELS * 64, 64, 1, CHANNELS * stride, stride, stream};
    kernels->item_row(&shape, &rows, o->z, o->a, weight, bias);
}

static void check_shape(const sgi_kernels *kernels, sg_type type, int inputs, int outputs,
                        size_t offset)
{
    static operands o;
    static double kept[MOST_INPUTS * MOST_OUTPUTS + 2 * GUARD];
    static double past[MOST_INPUTS * MOST_OUTPUTS + 2 * GUARD];
    size_t size = type == SG_FLOAT32 ? sizeof(float) : sizeof(double);
    size_t all = ((size_t)(inputs * outputs) + 2 * GUARD) * size;
    fill(&o, type);
    memset(kept, 0x5a, all);
    memset(past, 0x5a, all);
    size_t begin = (GUARD / 2 + offset) * size;
    make_row(kernels, &o, inputs, outputs, false, (char *)kept + begin);
    make_row(kernels, &o, inputs, outputs, true, (char *)past + begin);
    assert_memory_equal(kept, past, all);
    for (size_t i = 0; i < begin; i++)
        assert_int_equal(((const unsigned char *)past)[i], 0x5a);
    for (size_t i = begin + (size_t)(inputs * outputs) * size; i < all; i++)
        assert_int_equal(((const unsigned char *)past)[i], 0x5a);
}

static void streamed_rows_are_the_same(void **state)
{
    (void)state;
    static const int wide[] = {127, 128, 129, 513, 1030, MOST_INPUTS};
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    for (size_t n = 0; n < 2 * count; n++) {
        sg_type type = n % 2 ? SG_FLOAT32 : SG_FLOAT64;
        const sgi_kernels *kernels = sgi_kernels_for(isas[n / 2], type);
        for (int inputs = 1; inputs <= 70; inputs++)
            check_shape(kernels, type, inputs, 1 + inputs % MOST_OUTPUTS, (size_t)(inputs % 16));
        for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
            for (size_t offset = 0; offset < 16; offset++)
                check_shape(kernels, type, wide[i], MOST_OUTPUTS - (int)offset % 3, offset);
    }
}

/* More rows than caches hold, all at once and a few at a time. */
static void many_rows_are_the_same(void **state)
{
    (void)state;
    enum { ITEMS = 1440, PART = 45 };
    int hidden[] = {40, 67, 33};
    sg_jet_network *network;
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = 3;
    config.type = SG_FLOAT32;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    randomize(network, 7);
    sg_jet_request requests[] = {{.order = 0}, {.order = 1, .along = {1}}};
    sg_jet_plan *plan = make_plan(2, requests, 2);
    test_set context;
    sg_jet_set set = make_set(&context, network, plan, ITEMS, 1, 5);
    sg_jet_config engine = sg_jet_defaults();
    engine.network = network;
    engine.sets = &set;
    engine.set_count = 1;
    sg_jet *jet;
    assert_ok(sg_jet_create(&jet, &engine, NULL));
    size_t row = (size_t)set.components * sg_jet_network_parameters(network);
    assert_true(ITEMS * row * sizeof(float) > (size_t)16 << 20);
    float *all = malloc(ITEMS * row * sizeof *all), *some = malloc(PART * row * sizeof *some);
    assert_non_null(all);
    assert_non_null(some);
    assert_ok(sg_jet_rows(jet, 0, 0, ITEMS, all));
    for (size_t i = 0; i < ITEMS; i += PART) {
        assert_ok(sg_jet_rows(jet, 0, i, PART, some));
        assert_memory_equal(all + i * row, some, PART * row * sizeof *some);
    }
    free(all);
    free(some);
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(plan);
    sg_jet_network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(streamed_rows_are_the_same),
                                       cmocka_unit_test(many_rows_are_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
