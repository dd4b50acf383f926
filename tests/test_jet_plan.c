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
#define S(coefficient, k)                                                                          \
    {                                                                                              \
        coefficient, 2, {k, k}, 0                                                                  \
    }
#define U                                                                                          \
    {                                                                                              \
        .order = 0                                                                                 \
    }

static void channels(void **state)
{
    (void)state;
    const sg_jet_term space[] = {S(1, 1), S(1, 2), S(1, 3)}, plane[] = {S(1, 0), S(1, 1)};
    const sg_jet_term weighted[] = {S(0.5, 0), S(-2, 1)}, twice[] = {S(2, 0), S(2, 1)};
    const sg_jet_term single[] = {S(3, 1)}, other[] = {S(1, 0), S(5, 1)};
    EXPECT(2, "u", true, U);
    EXPECT(2, "u u_t u_x u_xx", true, U, D(0), D(1), D(1, 1));
    EXPECT(4, "u u_t u_x u_y u_z lap(u)", true, U, D(0), SUM(space));
    EXPECT(2, "u u_t u_x lap(u)", true, SUM(plane));
    EXPECT(2, "u u_t u_x 0.5*u_tt-2*u_xx", true, SUM(weighted));
    /* Multiples share a channel; a single term is a scaled derivative. */
    EXPECT(2, "u u_t u_x lap(u)", true, SUM(plane), SUM(twice));
    EXPECT(2, "u u_x u_xx", true, SUM(single));
    /* Parts that are there anyway make the combination free; two of two are spelt out. */
    EXPECT(2, "u u_t u_x u_tt u_xx", false, SUM(plane), D(0, 0), D(1, 1));
    EXPECT(2, "u u_t u_x u_tt u_xx", false, SUM(plane), SUM(other));
    EXPECT(2, "u u_t u_x u_tt u_tx u_xx u_ttx u_txx u_ttxx", false, D(0, 0, 1, 1), SUM(plane));
    /* Sub-lists close the set. */
    EXPECT(2, "u u_t u_x u_tx", false, D(1, 0));
    EXPECT(1, "u u_t u_tt u_ttt u_tttt", false, D(0, 0, 0, 0));
    EXPECT(2, "u u_t u_tt u_ttt u_tttt", false, D(0, 0, 0, 0));
    /* Any number of coordinates: a Laplacian in six has one channel more than first derivatives. */
    const sg_jet_term six[] = {S(1, 0), S(1, 1), S(1, 2), S(1, 3), S(1, 4), S(1, 5)};
    sg_jet_request lap = SUM(six);
    sg_jet_plan *plan = make_plan(6, &lap, 1);
    assert_int_equal(sg_jet_plan_channels(plan), 8);
    assert_false(plan->chain.simple);
    sg_jet_plan_destroy(plan);
}

/* Combinations of any orders: one channel beside the proper parts of their derivatives. */
static void combinations(void **state)
{
    (void)state;
    const sg_jet_term heat[] = {{1, 1, {0}, 0}, S(-0.1, 1)};
    const sg_jet_term flow[] = {{1, 1, {0}, 0}, S(-0.05, 1), S(-0.05, 2), S(-0.05, 3)};
    const sg_jet_term kdv[] = {{1, 1, {0}, 0}, {0.5, 3, {1, 1, 1}, 0}};
    const sg_jet_term kuramoto[] = {{1, 1, {0}, 0}, S(1, 1), {1, 4, {1, 1, 1, 1}, 0}};
    const sg_jet_term wind[] = {{1, 1, {0}, 0}, {2, 1, {1}, 0}};
    const sg_jet_term plate[] = {
        {1, 4, {0, 0, 0, 0}, 0}, {2, 4, {1, 0, 0, 1}, 0}, {1, 4, {1, 1, 1, 1}, 0}};
    const sg_jet_term mixed[] = {S(1, 0), {1, 2, {1, 0}, 0}, {1, 2, {0, 1}, 0}, {-3, 0, {0}, 0}};
    EXPECT(2, "u u_x u_t-0.1*u_xx", true, U, D(1), SUM(heat));
    EXPECT(2, "u u_x u_t-0.1*u_xx", true, SUM(heat));
    EXPECT(4, "u u_x u_y u_z u_t-0.05*lap(u)", true, U, D(1), D(2), D(3), SUM(flow));
    EXPECT(2, "u u_x u_xx u_t+0.5*u_xxx", false, U, D(1), SUM(kdv));
    EXPECT(2, "u u_x u_xx u_xxx u_t+u_xxxx", false, U, D(1), SUM(kuramoto));
    EXPECT(2, "u u_t+2*u_x", true, U, SUM(wind));
    EXPECT(2, "u u_t u_x u_tt u_tx u_xx u_ttt u_ttx u_txx u_xxx u_tttt+2*u_ttxx+u_xxxx", false,
           SUM(plate));
    EXPECT(2, "u u_t u_x u_tt+2*u_tx", false, SUM(mixed));
    /* A derivative that is wanted anyway leaves the rest of the sum, alone or not. */
    EXPECT(2, "u u_t u_x u_xx", true, D(0), SUM(heat));
    EXPECT(2, "u u_t u_x u_tx u_xx u_txx", false, D(0, 1, 1), SUM(heat));
    EXPECT(4, "u u_t u_x u_y u_z -0.05*lap(u)", true, D(0), SUM(flow));
    EXPECT(4, "u u_x u_y u_z u_xx u_t-0.05*lap(u)", false, D(1, 1), SUM(flow));
    /* Three combinations of which two are independent. */
    const sg_jet_term one[] = {S(1, 1), S(1, 2), S(1, 3)}, two[] = {S(1, 1), S(-1, 2)};
    const sg_jet_term both[] = {S(3, 1), S(-1, 2), S(1, 3)};
    EXPECT(4, "u u_x u_y u_z lap(u) u_xx-u_yy", false, SUM(one), SUM(two), SUM(both));
    /* Coefficients that vary are kept apart, multiples are not. */
    const sg_jet_term rod[] = {{1, 1, {0}, 0}, {-1, 2, {1, 1}, 1}};
    const sg_jet_term double_rod[] = {{-2, 1, {0}, 0}, {2, 2, {1, 1}, 1}};
    const sg_jet_term others[] = {{1, 1, {0}, 0}, {-1, 2, {1, 1}, 2}};
    EXPECT(2, "u u_x u_t-[1]*u_xx", true, SUM(rod), U);
    EXPECT(2, "u u_x u_t-[1]*u_xx", true, SUM(rod), SUM(double_rod));
    EXPECT(2, "u u_x u_t-[1]*u_xx u_t-[2]*u_xx", false, SUM(rod), SUM(others));
}

/* Requests are the sums of their parts, whatever channels they share. */
static void shared_parts(void **state)
{
    (void)state;
    const sg_jet_term one[] = {S(1, 1), S(1, 2), S(1, 3)}, two[] = {S(1, 1), S(-1, 2)};
    const sg_jet_term both[] = {S(3, 1), S(-1, 2), S(1, 3), {5, 1, {2}, 0}, {7, 0, {0}, 0}};
    const sg_jet_request requests[] = {SUM(one), SUM(two), SUM(both)};
    sg_jet_plan *plan = make_plan(4, requests, 3);
    assert_int_equal(plan->channels, 6);
    assert_int_equal(plan->part_begin[3] - plan->part_begin[2], 4);
    double got[6] = {0};
    for (size_t i = plan->part_begin[2]; i < plan->part_begin[3]; i++)
        got[plan->parts[i].channel] = plan->parts[i].coefficient;
    const double expected[] = {7, 0, 5, 0, 1, 2};
    for (int c = 0; c < 6; c++)
        assert_close(got[c], expected[c], 1e-15);
    sg_jet_plan_destroy(plan);
}

/* The order of the tower that the plan's loops are made for, or 0. */
static int tower_order(const sg_jet_request *requests, size_t count)
{
    sg_jet_plan *plan = make_plan(2, requests, count);
    int order = plan->chain.tower.order;
    assert_false(plan->chain.simple && order > 0);
    sg_jet_plan_destroy(plan);
    return order;
}

#define TOWER(order, ...)                                                                          \
    do {                                                                                           \
        const sg_jet_request requests[] = {__VA_ARGS__};                                           \
        assert_int_equal(tower_order(requests, sizeof requests / sizeof *requests), order);        \
    } while (0)

static void towers(void **state)
{
    (void)state;
    const sg_jet_term kdv[] = {{1, 1, {0}, 0}, {2, 3, {1, 1, 1}, 0}};
    const sg_jet_term kuramoto[] = {{1, 1, {0}, 0}, S(1, 1), {1, 4, {1, 1, 1, 1}, 2}};
    const sg_jet_term beam[] = {S(1, 0), {1, 4, {1, 1, 1, 1}, 0}};
    const sg_jet_term twice[] = {S(1, 1), {1, 2, {1, 1}, 1}, {1, 3, {1, 1, 1}, 0}};
    const sg_jet_term mixed[] = {{1, 2, {0, 1}, 0}, {1, 3, {1, 1, 1}, 0}};
    const sg_jet_term plate[] = {{1, 4, {0, 0, 0, 0}, 0}, {1, 4, {1, 1, 1, 1}, 0}};
    TOWER(3, U, D(1), SUM(kdv));
    TOWER(3, D(1, 1, 1));
    TOWER(3, D(0), D(1, 1, 1));
    TOWER(3, D(1), D(0, 0, 0));
    TOWER(4, U, D(1), SUM(kuramoto));
    TOWER(4, D(0), SUM(kuramoto));
    TOWER(4, SUM(beam));
    TOWER(0, SUM(twice));
    TOWER(0, SUM(mixed));
    TOWER(0, SUM(plate));
    TOWER(0, D(0, 0), D(1, 1));
    TOWER(0, D(1, 1), D(1, 1, 0));
    TOWER(0, U, D(1, 1));
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
            sum += plan->chain_terms[t].channel == c ? plan->chain_terms[t].coefficient : 0;
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
    const sg_jet_term zero[] = {S(0, 0)}, bad[] = {S(1, 0), S(NAN, 1)}, far[] = {S(1, 2)};
    const sg_jet_term high[] = {{1, 5, {0}, 0}}, gone[] = {S(1, 1), S(-1, 1)};
    const sg_jet_term value[] = {S(1, 1), {1, 0, {0}, 1}}, below[] = {{1, 2, {0, 0}, -1}};
    const sg_jet_request requests[] = {{.order = 5}, {.order = -1}, D(2),       D(0, -1),
                                       SUM(zero),    SUM(bad),      SUM(far),   SUM(high),
                                       SUM(gone),    SUM(value),    SUM(below), {.terms = zero}};
    sg_jet_plan *plan;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        assert_status(sg_jet_plan_create(&plan, 2, &requests[i], 1, NULL), SG_ERROR_ARGUMENT);
        assert_null(plan);
    }
    sg_jet_request plain = U;
    assert_status(sg_jet_plan_create(&plan, 0, &plain, 1, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_plan_create(&plan, 2, &plain, 0, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_plan_create(&plan, 2, NULL, 1, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_plan_create(NULL, 2, &plain, 1, NULL), SG_ERROR_ARGUMENT);
    /* More channels than there may be. */
    sg_jet_request many[SG_JET_MOST_CHANNELS];
    for (int i = 0; i < SG_JET_MOST_CHANNELS; i++)
        many[i] = (sg_jet_request)D(i);
    assert_status(sg_jet_plan_create(&plan, SG_JET_MOST_CHANNELS, many, SG_JET_MOST_CHANNELS, NULL),
                  SG_ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels),     cmocka_unit_test(towers),
        cmocka_unit_test(combinations), cmocka_unit_test(shared_parts),
        cmocka_unit_test(partitions),   cmocka_unit_test(text_is_cut),
        cmocka_unit_test(flops),        cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
