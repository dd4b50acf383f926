/* Rows of the Jacobian by finite differences, products with it against its rows, pairs, dL/du in
 * memory and its moments. */
#include "test_jet_support.h"

enum { ITEMS = 37, COMPONENTS = 2, MOST = 1500 };

typedef struct world {
    sg_jet_network *network;
    sg_jet_plan *plan;
    test_set context;
    sg_jet_set set;
    sg_jet *jet;
} world;

static void open_world(world *w, sg_type type, int sides)
{
    int hidden[] = {9, 18, 6};
    const sg_jet_term lap[] = {{1, 2, {0, 0}, 0}, {2, 2, {1, 1}, 0}};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = 3;
    config.outputs = 2;
    config.activation = SG_ACTIVATION_GELU;
    config.type = type;
    assert_ok(sg_jet_network_create(&w->network, &config, NULL));
    randomize(w->network, 3);
    sg_jet_request requests[] = {
        {.order = 0}, {.order = 1, .along = {0}}, {.order = 2, .along = {0, 1}}, SUM(lap)};
    w->plan = make_plan(2, requests, 4);
    w->set = make_set(&w->context, w->network, w->plan, ITEMS, sides, 11);
    w->jet = make_engine(w->network, &w->set, 1, NULL);
}

static void close_world(world *w)
{
    sg_jet_destroy(w->jet);
    sg_jet_plan_destroy(w->plan);
    sg_jet_network_destroy(w->network);
}

/* Residuals of all items, (items, components): by a set whose callback keeps them. */
typedef struct keeper {
    test_set *set;
    double residuals[ITEMS * COMPONENTS];
} keeper;

static void keeper_points(void *context, size_t set, size_t first, size_t count, int worker,
                          void *const *coordinates)
{
    test_points(((keeper *)context)->set, set, first, count, worker, coordinates);
}

static void keep_residuals(void *context, const sg_jet_tile *tile)
{
    keeper *k = context;
    assert_null(tile->adjoints);
    for (size_t i = 0; i < tile->count; i++) {
        double v[MOST_VALUES];
        for (int a = 0; a < k->set->values; a++)
            v[a] = get(tile->values[a], k->set->type, i);
        for (int j = 0; j < COMPONENTS; j++)
            k->residuals[(tile->first + i) * COMPONENTS + (size_t)j] = test_component(k->set, v, j);
    }
}

static void residuals(world *w, double *to)
{
    keeper k = {.set = &w->context};
    sg_jet_set set = w->set;
    set.points = keeper_points;
    set.residual = keep_residuals;
    set.context = &k;
    sg_jet *jet = make_engine(w->network, &set, 1, NULL);
    sg_jet_forward(jet);
    sg_jet_destroy(jet);
    memcpy(to, k.residuals, sizeof k.residuals);
}

static void rows_match_differences(void **state)
{
    (void)state;
    static const double step[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
    static double rows[ITEMS * COMPONENTS * MOST];
    const double h = 1e-3;
    for (int sides = 1; sides <= 2; sides++) {
        world w;
        open_world(&w, SG_FLOAT64, sides);
        size_t parameters = sg_jet_network_parameters(w.network);
        assert_true(parameters < MOST);
        assert_ok(sg_jet_rows(w.jet, 0, 0, ITEMS, rows));
        double *values = sg_jet_network_values(w.network);
        for (size_t p = 0; p < parameters; p += 7) {
            double kept = values[p], slope[ITEMS * COMPONENTS] = {0}, r[ITEMS * COMPONENTS];
            for (int k = 0; k < 4; k++) {
                values[p] = kept + step[k] * h;
                residuals(&w, r);
                for (size_t i = 0; i < ITEMS * COMPONENTS; i++)
                    slope[i] += weight[k] * r[i] / (12 * h);
            }
            values[p] = kept;
            for (size_t i = 0; i < ITEMS * COMPONENTS; i++)
                assert_close(rows[i * parameters + p], slope[i], 1e-8);
        }
        close_world(&w);
    }
}

static void part_of_the_rows(void **state)
{
    (void)state;
    static double all[ITEMS * COMPONENTS * MOST], some[ITEMS * COMPONENTS * MOST];
    world w;
    open_world(&w, SG_FLOAT64, 1);
    size_t parameters = sg_jet_network_parameters(w.network);
    assert_ok(sg_jet_rows(w.jet, 0, 0, ITEMS, all));
    assert_ok(sg_jet_rows(w.jet, 0, 5, 20, some));
    for (size_t i = 0; i < 20 * COMPONENTS * parameters; i++)
        assert_close(some[i], all[5 * COMPONENTS * parameters + i], 1e-14);
    assert_status(sg_jet_rows(w.jet, 0, 30, ITEMS, some), SG_ERROR_ARGUMENT);
    assert_status(sg_jet_rows(w.jet, 1, 0, 1, some), SG_ERROR_ARGUMENT);
    close_world(&w);
}

/* J v and J^T w against the rows; and J^T r is the gradient of |r|^2 / 2. */
static void products(sg_type type, int sides, double tolerance)
{
    static double rows[ITEMS * COMPONENTS * MOST], buffer[MOST], direction[MOST];
    double pushed[ITEMS * COMPONENTS], weights[ITEMS * COMPONENTS];
    world w;
    open_world(&w, type, sides);
    size_t parameters = sg_jet_network_parameters(w.network), count = ITEMS * COMPONENTS;
    assert_ok(sg_jet_rows(w.jet, 0, 0, ITEMS, rows));
    for (size_t p = 0; p < parameters; p++)
        put(direction, type, p, sgi_random_normal(1, 6, p));
    assert_ok(sg_jet_push(w.jet, 0, direction, pushed));
    residuals(&w, weights);
    assert_ok(sg_jet_pull(w.jet, 0, weights, buffer));
    for (size_t i = 0; i < count; i++) {
        double sum = 0, size = 0;
        for (size_t p = 0; p < parameters; p++) {
            double term = get(rows, type, i * parameters + p) * get(direction, type, p);
            sum += term;
            size += fabs(term);
        }
        assert_true(fabs(pushed[i] - sum) <= tolerance * size);
    }
    sg_jet_gradient(w.jet, NULL);
    for (size_t p = 0; p < parameters; p++) {
        double sum = 0, size = 0;
        for (size_t i = 0; i < count; i++) {
            double term = get(rows, type, i * parameters + p) * weights[i];
            sum += term;
            size += fabs(term);
        }
        assert_true(fabs(get(buffer, type, p) - sum) <= tolerance * size);
        assert_true(fabs(get(sg_jet_network_gradients(w.network), type, p) - sum) <=
                    tolerance * size);
    }
    close_world(&w);
}

static void products_match_rows(void **state)
{
    (void)state;
    for (int sides = 1; sides <= 2; sides++) {
        products(SG_FLOAT64, sides, 1e-13);
        products(SG_FLOAT32, sides, 2e-5);
    }
}

static void push_needs_tangents(void **state)
{
    (void)state;
    world w;
    double products_[ITEMS * COMPONENTS];
    open_world(&w, SG_FLOAT64, 1);
    sg_jet_config config = sg_jet_defaults();
    config.network = w.network;
    config.sets = &w.set;
    config.set_count = 1;
    sg_jet *jet;
    assert_ok(sg_jet_create(&jet, &config, NULL));
    assert_status(sg_jet_push(jet, 0, sg_jet_network_values(w.network), products_), SG_ERROR_ORDER);
    sg_jet_destroy(jet);
    close_world(&w);
}

/* ---- dL/du ---------------------------------------------------------------------------------- */

static void output_adjoints(void **state)
{
    (void)state;
    world w;
    open_world(&w, SG_FLOAT64, 2);
    double adjoints[2 * 2 * ITEMS];
    sg_jet_destroy(w.jet);
    /* A second set without u among its requests counts as zeros. */
    sg_jet_request slope = {.order = 1, .along = {1}};
    sg_jet_plan *plan = make_plan(2, &slope, 1);
    test_set context;
    sg_jet_set sets[] = {w.set, make_set(&context, w.network, plan, 10, 1, 4)};
    sets[0].value_adjoints = adjoints;
    w.jet = make_engine(w.network, sets, 2, NULL);
    sg_jet_gradient(w.jet, NULL);
    /* The bias of output o feels exactly the sum of dL/du_o. */
    sg_jet_layer last = sg_jet_network_layer(w.network, 3);
    double *gradient = sg_jet_network_gradients(w.network), zeros[20] = {0};
    for (size_t o = 0; o < 2; o++) {
        double sum = 0;
        for (size_t i = 0; i < ITEMS; i++)
            sum += adjoints[o * ITEMS + i] + adjoints[(2 + o) * ITEMS + i];
        assert_relative(gradient[last.bias + o], sum, 1e-12);
    }
    sg_moments expected = {0, 0, 0}, got = sg_jet_moments(w.jet);
    sg_moments_add(&expected, adjoints, SG_FLOAT64, 4 * ITEMS, 1);
    sg_moments_add(&expected, zeros, SG_FLOAT64, 20, 1);
    assert_true(got.count == expected.count);
    assert_relative(got.mean, expected.mean, 1e-12);
    assert_relative(got.m2, expected.m2, 1e-12);
    /* Fewer items, and nowhere to leave them. */
    assert_ok(sg_jet_resize(w.jet, 0, 0, NULL));
    assert_ok(sg_jet_resize(w.jet, 1, 0, NULL));
    sg_jet_gradient(w.jet, NULL);
    assert_true(sg_jet_moments(w.jet).count == 0);
    for (size_t p = 0; p < sg_jet_network_parameters(w.network); p++)
        assert_true(gradient[p] == 0);
    sg_jet_plan_destroy(plan);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_differences), cmocka_unit_test(part_of_the_rows),
        cmocka_unit_test(products_match_rows), cmocka_unit_test(push_needs_tangents),
        cmocka_unit_test(output_adjoints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
