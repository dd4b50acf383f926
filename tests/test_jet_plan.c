/* Plans: the smallest closed set of channels, their text, their cost, and what is refused. */
#include "test_jet_support.h"

#include "jet/plan.h"

static const char *const NAMES[] = {"t", "x", "y", "z"};

static void expect(int coordinates, const sg_jet_request *requests, size_t count, const char *text,
                   bool simple)
{
    char got[256];
    sg_jet_plan *plan = make_plan(coordinates, requests, count);
    size_t length = sg_jet_plan_describe(plan, "u", NAMES, got, sizeof got);
    assert_string_equal(got, text);
    assert_int_equal(length, strlen(text));
    assert_int_equal(sg_jet_plan_requests(plan), count);
    assert_true(plan->chain.simple == simple);
    sg_jet_plan_destroy(plan);
}

#define EXPECT(coordinates, text, simple, ...)                                                     \
    do {                                                                                           \
        const sg_jet_request requests[] = {__VA_ARGS__};                                           \
        expect(coordinates, requests, sizeof requests / sizeof *requests, text, simple);           \
    } while (0)

#define D(...)                                                                                     \
    {                                                                                              \
        .order = sizeof(int[]){__VA_ARGS__} / sizeof(int), .along = { __VA_ARGS__ }                \
    }
#define U                                                                                          \
    {                                                                                              \
        .order = 0                                                                                 \
    }

static void channels(void **state)
{
    (void)state;
    double space[] = {0, 1, 1, 1}, plane[] = {1, 1}, weighted[] = {0.5, -2}, twice[] = {2, 2};
    double single[] = {0, 3}, other[] = {1, 5};
    EXPECT(2, "u", true, U);
    EXPECT(2, "u u_t u_x u_xx", true, U, D(0), D(1), D(1, 1));
    EXPECT(4, "u u_t u_x u_y u_z lap(u)", true, U, D(0), {.second = space});
    EXPECT(2, "u u_t u_x lap(u)", true, {.second = plane});
    EXPECT(2, "u u_t u_x 0.5*u_tt-2*u_xx", true, {.second = weighted});
    /* Multiples share a channel; a single term is a scaled derivative. */
    EXPECT(2, "u u_t u_x lap(u)", true, {.second = plane}, {.second = twice});
    EXPECT(2, "u u_x u_xx", true, {.second = single});
    /* Parts that are there anyway make the combination free; two of two are spelt out. */
    EXPECT(2, "u u_t u_x u_tt u_xx", false, {.second = plane}, D(0, 0), D(1, 1));
    EXPECT(2, "u u_t u_x u_tt u_xx", false, {.second = plane}, {.second = other});
    EXPECT(2, "u u_t u_x u_tt u_tx u_xx u_ttx u_txx u_ttxx", false, D(0, 0, 1, 1),
           {.second = plane});
    /* Sub-lists close the set. */
    EXPECT(2, "u u_t u_x u_tx", false, D(1, 0));
    EXPECT(1, "u u_t u_tt u_ttt u_tttt", false, D(0, 0, 0, 0));
    EXPECT(2, "u u_t u_tt u_ttt u_tttt", false, D(0, 0, 0, 0));
    /* Any number of coordinates: a Laplacian in six has one channel more than first derivatives. */
    double six[] = {1, 1, 1, 1, 1, 1};
    sg_jet_request lap = {.second = six};
    sg_jet_plan *plan = make_plan(6, &lap, 1);
    assert_int_equal(sg_jet_plan_channels(plan), 8);
    assert_false(plan->chain.simple);
    sg_jet_plan_destroy(plan);
}

/* Coefficients of the chain rule add up to Bell numbers: 1, 2, 5, 15 partitions. */
static void partitions(void **state)
{
    (void)state;
    static const double bell[] = {1, 1, 2, 5, 15};
    sg_jet_request requests[] = {D(0, 0, 0, 0), D(0, 0, 1, 1), D(0, 1, 0, 2)};
    sg_jet_plan *plan = make_plan(3, requests, 3);
    for (int c = 1; c < plan->channels; c++) {
        double sum = 0;
        for (size_t t = 0; t < plan->chain.term_count; t++)
            sum += plan->terms[t].channel == c ? plan->terms[t].coefficient : 0;
        assert_true(sum == bell[plan->channel[c].order]);
    }
    sg_jet_plan_destroy(plan);
}

static void text_is_cut(void **state)
{
    (void)state;
    sg_jet_request request = D(0, 1);
    sg_jet_plan *plan = make_plan(2, &request, 1);
    char text[8];
    assert_int_equal(sg_jet_plan_describe(plan, "v", NULL, text, sizeof text),
                     strlen("v v_x0 v_x1 v_x0x1"));
    assert_string_equal(text, "v v_x0 ");
    assert_int_equal(sg_jet_plan_describe(plan, "v", NULL, NULL, 0), strlen("v v_x0 v_x1 v_x0x1"));
    sg_jet_plan_destroy(plan);
}

static void flops(void **state)
{
    (void)state;
    int hidden[] = {5, 7};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = 2;
    config.outputs = 3;
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    sg_jet_request request = D(0);
    sg_jet_plan *plan = make_plan(2, &request, 1);
    assert_true(sg_jet_plan_flops(plan, network, false) == 2 * 2 * (10 + 35 + 21));
    assert_true(sg_jet_plan_flops(plan, network, true) == 2 * 2 * (20 + 105 + 63));
    sg_jet_plan_destroy(plan);
    sg_jet_network_destroy(network);
}

static void refused(void **state)
{
    (void)state;
    double zeros[] = {0, 0}, bad[] = {1, NAN};
    const sg_jet_request requests[] = {{.order = 5}, {.order = -1},     D(2),
                                       D(0, -1),     {.second = zeros}, {.second = bad}};
    sg_jet_plan *plan;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        assert_status(sg_jet_plan_create(&plan, 2, &requests[i], 1, NULL), SG_ERROR_ARGUMENT);
        assert_null(plan);
    }
    sg_jet_request value = U;
    assert_status(sg_jet_plan_create(&plan, 0, &value, 1, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_plan_create(&plan, 2, &value, 0, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_plan_create(&plan, 2, NULL, 1, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_plan_create(NULL, 2, &value, 1, NULL), SG_ERROR_ARGUMENT);
    /* More channels than there may be. */
    sg_jet_request many[SG_JET_MOST_CHANNELS];
    for (int i = 0; i < SG_JET_MOST_CHANNELS; i++)
        many[i] = (sg_jet_request)D(i);
    assert_status(sg_jet_plan_create(&plan, SG_JET_MOST_CHANNELS, many, SG_JET_MOST_CHANNELS, NULL),
                  SG_ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(channels), cmocka_unit_test(partitions),
                                       cmocka_unit_test(text_is_cut), cmocka_unit_test(flops),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
