/* Gradients, sums and moments are bit-identical for 1, 2, 3 and 7 threads, and from call to call.
 */
#include "test_jet_support.h"

enum { SETS = 3, RUNS = 5 };

typedef struct outcome {
    float gradient[MOST_PARAMETERS], rows[64 * 2000];
    double sums[SETS], products[2 * 500], pulled[MOST_PARAMETERS];
    sg_moments moments;
} outcome;

typedef struct world {
    sg_jet_network *network;
    sg_jet_plan *burgers, *value;
    test_set contexts[SETS];
    sg_jet_set sets[SETS];
} world;

static void open_world(world *w)
{
    int hidden[] = {33, 20, 20};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = 3;
    assert_ok(sg_jet_network_create(&w->network, &config, NULL));
    randomize(w->network, 3);
    sg_jet_request requests[] = {{.order = 0},
                                 {.order = 1, .along = {1}},
                                 {.order = 1, .along = {0}},
                                 {.order = 2, .along = {0, 0}}};
    w->burgers = make_plan(2, requests, 4);
    w->value = make_plan(2, requests, 1);
    w->sets[0] = make_set(&w->contexts[0], w->network, w->burgers, 1501, 1, 1);
    w->sets[1] = make_set(&w->contexts[1], w->network, w->value, 700, 1, 2);
    w->sets[2] = make_set(&w->contexts[2], w->network, w->value, 500, 2, 3);
}

static void run(world *w, int threads, outcome *to)
{
    sg_pool *pool = NULL;
    assert_ok(sg_pool_create(&pool, threads, NULL));
    sg_jet *jet = make_engine(w->network, w->sets, SETS, pool);
    size_t parameters = sg_jet_network_parameters(w->network);
    sg_jet_gradient(jet, to->gradient);
    for (size_t s = 0; s < SETS; s++)
        to->sums[s] = sg_jet_sums(jet, s)[0];
    to->moments = sg_jet_moments(jet);
    assert_true(parameters < 2000);
    assert_ok(sg_jet_rows(jet, 0, 700, 32, to->rows));
    assert_ok(sg_jet_push(jet, 2, sg_jet_network_values(w->network), to->products));
    double weights[2 * 500];
    for (size_t i = 0; i < 1000; i++)
        weights[i] = sin((double)i);
    float pulled[2000];
    assert_ok(sg_jet_pull(jet, 2, weights, pulled));
    for (size_t i = 0; i < parameters; i++)
        to->pulled[i] = (double)pulled[i];
    sg_jet_destroy(jet);
    sg_pool_destroy(pool);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    static const int threads[RUNS] = {1, 2, 3, 7, 2};
    static outcome first, other;
    world w;
    open_world(&w);
    run(&w, 1, &first);
    assert_true(first.moments.count == 1501 + 700 + 1000);
    for (int i = 0; i < RUNS; i++) {
        run(&w, threads[i], &other);
        assert_memory_equal(&first, &other, sizeof first);
    }
    sg_jet_plan_destroy(w.burgers);
    sg_jet_plan_destroy(w.value);
    sg_jet_network_destroy(w.network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_number_of_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
