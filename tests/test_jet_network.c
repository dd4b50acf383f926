/* Networks: layout, names, input maps, initialisation; every allocation failing in turn. */
#include "test_jet_support.h"

/* ---- Layout --------------------------------------------------------------------------------- */

static void layout_and_names(void **state)
{
    (void)state;
    int hidden[] = {3, 4};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = 2;
    config.outputs = 2;
    config.type = SG_FLOAT64;
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    assert_int_equal(sg_jet_network_parameters(network), 2 * 3 + 3 + 3 * 4 + 4 + 4 * 2 + 2);
    assert_int_equal(sg_jet_network_layers(network), 3);
    sg_params *params;
    assert_ok(sg_params_create(&params, NULL));
    assert_ok(sg_jet_network_register(network, params));
    static const char *const names[] = {"layers.0.weight", "layers.0.bias",   "layers.1.weight",
                                        "layers.1.bias",   "layers.2.weight", "layers.2.bias"};
    double *next = sg_jet_network_values(network), *gradient = sg_jet_network_gradients(network);
    assert_int_equal(sg_params_count(params), 6);
    for (size_t i = 0; i < 6; i++) {
        const sg_span *span = sg_params_at(params, i);
        assert_string_equal(span->name, names[i]);
        assert_ptr_equal(span->value, next);
        assert_ptr_equal(span->gradient, gradient);
        assert_int_equal(span->layer, i / 2);
        assert_int_equal(span->role, i % 2 ? SG_ROLE_BIAS : SG_ROLE_WEIGHT);
        next += span->count;
        gradient += span->count;
    }
    assert_status(sg_jet_network_register(network, params), SG_ERROR_DUPLICATE);
    sg_params_destroy(params);
    sg_jet_network_destroy(network);
}

/* burgers3d: rescaled time, then periodic features of three coordinates. */
static void periodic_input(void **state)
{
    (void)state;
    double waves[12 * 4], scale[] = {2, 1, 1, 1}, shift[] = {-1, 0, 0, 0};
    bool keep[] = {true, false, false, false};
    for (int i = 0; i < 3; i++)
        sg_jet_waves_periodic(waves + 16 * i, 4, i + 1, 2, 4);
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input = (sg_jet_input){4, scale, shift, keep, waves, 12, NULL};
    config.hidden_count = 0;
    config.outputs = 25;
    config.type = SG_FLOAT64;
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    assert_int_equal(sg_jet_network_features(network), 25);
    /* The identity shows the features themselves. */
    double *weights = sg_jet_network_values(network), x[] = {0.3, 0.1, -0.7, 0.45}, values[2 * 25];
    for (int i = 0; i < 25; i++)
        weights[26 * i] = 1;
    double moved[] = {0.3, 2.1, -2.7, 4.45}, both[8];
    memcpy(both, x, sizeof x);
    memcpy(both + 4, moved, sizeof moved);
    sg_jet_request value = {.order = 0};
    sg_jet_plan *plan = make_plan(4, &value, 1);
    assert_ok(sg_jet_evaluate(network, plan, NULL, both, NULL, 2, values, NULL));
    const double pi = 3.14159265358979323846;
    assert_close(values[0], 2 * 0.3 - 1, 1e-15);
    for (int i = 0; i < 3; i++)
        for (int k = 1; k <= 4; k++) {
            assert_close(values[4 * i + k], sin(k * pi * x[i + 1]), 1e-14);
            assert_close(values[12 + 4 * i + k], cos(k * pi * x[i + 1]), 1e-14);
        }
    for (int i = 0; i < 25; i++)
        assert_close(values[25 + i], values[i], 1e-13);
    sg_jet_plan_destroy(plan);
    sg_jet_network_destroy(network);
}

static void random_waves(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static double waves[COUNT * 3], again[COUNT * 3];
    sg_jet_waves_random(waves, 3, COUNT, 2.5, 7);
    sg_jet_waves_random(again, 3, COUNT, 2.5, 7);
    assert_memory_equal(waves, again, sizeof waves);
    sg_moments moments = {0, 0, 0};
    sg_moments_add(&moments, waves, SG_FLOAT64, COUNT * 3, 1);
    assert_close(moments.mean, 0, 0.15);
    assert_relative(sg_moments_std(&moments), 2.5, 0.03);
}

/* ---- Initialisation ----------------------------------------------------------------------- */

static sg_jet_network *wide_network(sg_activation activation, sg_type type)
{
    static const int hidden[] = {200, 100, 150};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 50;
    config.hidden = hidden;
    config.hidden_count = 3;
    config.outputs = 40;
    config.activation = activation;
    config.frequency = 30;
    config.type = type;
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    return network;
}

/* Deviation of a layer's weights; `*largest` their largest magnitude. Biases must be zero. */
static double weight_std(const sg_jet_network *network, int l, double *largest)
{
    sg_jet_layer layer = sg_jet_network_layer(network, l);
    const double *values = sg_jet_network_values(network);
    size_t count = (size_t)(layer.inputs * layer.outputs);
    sg_moments moments = {0, 0, 0};
    *largest = 0;
    sg_moments_add(&moments, values + layer.weight, SG_FLOAT64, count, 1);
    for (size_t i = 0; i < count; i++)
        *largest = fmax(*largest, fabs(values[layer.weight + i]));
    for (int o = 0; o < layer.outputs; o++)
        assert_true(values[layer.bias + (size_t)o] == 0);
    return sg_moments_std(&moments);
}

static void deviations(void **state)
{
    (void)state;
    static const int in[] = {50, 200, 100, 150}, out[] = {200, 100, 150, 40};
    sg_jet_network *network = wide_network(SG_ACTIVATION_TANH, SG_FLOAT64);
    for (int fan = 0; fan < SG_FAN_COUNT; fan++)
        for (int kind = 0; kind < SG_DISTRIBUTION_COUNT; kind++)
            for (int aware = 0; aware < 2 && kind != SG_DISTRIBUTION_SIREN; aware++) {
                sg_jet_init init = {(sg_fan)fan, (sg_distribution)kind, aware ? 0 : 1.5, 3};
                assert_ok(sg_jet_network_initialize(network, &init));
                for (int l = 0; l < 4; l++) {
                    double size = fan == SG_FAN_IN    ? in[l]
                                  : fan == SG_FAN_OUT ? out[l]
                                                      : (in[l] + out[l]) / 2.0;
                    double gain = !aware ? 1.5 : l < 3 ? 1.5926 : 1, largest;
                    double expected = gain / sqrt(size);
                    assert_relative(weight_std(network, l, &largest), expected, 0.03);
                    if (kind == SG_DISTRIBUTION_UNIFORM)
                        assert_true(largest <= sqrt(3) * expected && largest > 1.7 * expected);
                    else
                        assert_true(largest > 3 * expected);
                }
            }
    sg_jet_network_destroy(network);
}

static void siren(void **state)
{
    (void)state;
    sg_jet_network *network = wide_network(SG_ACTIVATION_SIN, SG_FLOAT64);
    sg_jet_init init = sg_jet_init_defaults();
    init.distribution = SG_DISTRIBUTION_SIREN;
    assert_ok(sg_jet_network_initialize(network, &init));
    double largest;
    weight_std(network, 0, &largest);
    assert_true(largest <= 1.0 / 50 && largest > 0.99 / 50);
    weight_std(network, 1, &largest);
    assert_true(largest <= sqrt(6.0 / 200) / 30 && largest > 0.99 * sqrt(6.0 / 200) / 30);
    sg_jet_network_destroy(network);
}

/* The activation-aware gain keeps the second moment of the signal near one through the layers. */
static void gains(void **state)
{
    (void)state;
    static const double expected[] = {1.5926, 1.6766, sqrt(2), 1.5335, 1.0418};
    _Static_assert(sizeof expected / sizeof expected[0] == SG_ACTIVATION_COUNT, "one for each");
    for (int a = 0; a < SG_ACTIVATION_COUNT; a++) {
        sg_jet_network *network = wide_network((sg_activation)a, SG_FLOAT64);
        sg_jet_init init = {SG_FAN_IN, SG_DISTRIBUTION_NORMAL, 0, 1};
        assert_ok(sg_jet_network_initialize(network, &init));
        double largest, got = weight_std(network, 1, &largest) * sqrt(200);
        assert_relative(got, expected[a], 0.03);
        sg_jet_network_destroy(network);
    }
}

static void same_in_float(void **state)
{
    (void)state;
    sg_jet_network *one = wide_network(SG_ACTIVATION_TANH, SG_FLOAT32);
    sg_jet_network *two = wide_network(SG_ACTIVATION_TANH, SG_FLOAT64);
    sg_jet_init init = sg_jet_init_defaults();
    assert_ok(sg_jet_network_initialize(one, &init));
    assert_ok(sg_jet_network_initialize(two, &init));
    const float *a = sg_jet_network_values(one);
    const double *b = sg_jet_network_values(two);
    for (size_t i = 0; i < sg_jet_network_parameters(one); i++)
        assert_true(a[i] == (float)b[i]);
    init.gain = -1;
    assert_status(sg_jet_network_initialize(one, &init), SG_ERROR_ARGUMENT);
    sg_jet_network_destroy(one);
    sg_jet_network_destroy(two);
}

/* ---- What is refused, and what fails ----------------------------------------------------------
 */

static void refused_networks(void **state)
{
    (void)state;
    int hidden[] = {8, 0};
    bool none[] = {false};
    sg_jet_network_config bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = sg_jet_network_defaults();
    bad[0].input.coordinates = 0;
    bad[1].outputs = 0;
    bad[2].hidden = hidden;
    bad[2].hidden_count = 2;
    bad[3].activation = (sg_activation)9;
    bad[4].input.wave_count = 1;
    bad[5].input.keep = none; /* no feature left */
    bad[6].type = (sg_type)5;
    for (size_t i = 0; i < 7; i++) {
        sg_jet_network *network;
        assert_status(sg_jet_network_create(&network, &bad[i], NULL), SG_ERROR_ARGUMENT);
        assert_null(network);
    }
}

static void refused_engines(void **state)
{
    (void)state;
    sg_jet_network *network = wide_network(SG_ACTIVATION_TANH, SG_FLOAT32);
    sg_jet_request value = {.order = 0};
    sg_jet_plan *plan = make_plan(50, &value, 1), *other = make_plan(2, &value, 1);
    test_set context;
    sg_jet_set good = make_set(&context, network, plan, 5, 1, 1), bad[4] = {good, good, good, good};
    bad[0].plan = other;
    bad[1].points_per_item = 3;
    bad[2].points = NULL;
    bad[3].residual = NULL;
    for (size_t i = 0; i < 4; i++) {
        sg_jet_config config = sg_jet_defaults();
        config.network = network;
        config.sets = &bad[i];
        config.set_count = 1;
        sg_jet *jet;
        assert_status(sg_jet_create(&jet, &config, NULL), SG_ERROR_ARGUMENT);
        assert_null(jet);
    }
    sg_jet *jet = make_engine(network, &good, 1, NULL);
    assert_status(sg_jet_resize(jet, 1, 5, NULL), SG_ERROR_ARGUMENT);
    assert_null(sg_jet_sums(jet, 1));
    assert_true(sg_jet_memory(jet) > 100000);
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(plan);
    sg_jet_plan_destroy(other);
    sg_jet_network_destroy(network);
}

/* Makes everything there is with one allocator; SG_ERROR_MEMORY is the only failure. */
static sg_status everything(const sg_allocator *allocator, void *unused)
{
    (void)unused;
    const sg_jet_term lap[] = {{1, 2, {0, 0}, 0}, {1, 2, {1, 1}, 0}};
    double waves[] = {1, 2}, points[] = {0.1, 0.2}, values[2];
    sg_jet_network_config network_config = sg_jet_network_defaults();
    network_config.input.coordinates = 2;
    network_config.input.waves = waves;
    network_config.input.wave_count = 1;
    sg_jet_request requests[] = {{.order = 0}, SUM(lap)};
    sg_jet_network *network = NULL;
    sg_jet_plan *plan = NULL;
    sg_jet *jet = NULL;
    test_set context;
    sg_status status = sg_jet_network_create(&network, &network_config, allocator);
    if (status == SG_OK)
        status = sg_jet_plan_create(&plan, 2, requests, 2, allocator);
    if (status == SG_OK) {
        sg_jet_set set = make_set(&context, network, plan, 9, 1, 1);
        sg_jet_config config = sg_jet_defaults();
        config.network = network;
        config.sets = &set;
        config.set_count = 1;
        config.tangents = true;
        status = sg_jet_create(&jet, &config, allocator);
    }
    if (status == SG_OK)
        status = sg_jet_evaluate(network, plan, NULL, points, NULL, 1, values, allocator);
    if (status == SG_OK)
        sg_jet_gradient(jet, NULL);
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(plan);
    sg_jet_network_destroy(network);
    return status;
}

static void every_allocation_fails(void **state)
{
    (void)state;
    each_allocation_fails(everything, NULL, 31);
}

/* A step allocates nothing. */
static void steps_allocate_nothing(void **state)
{
    (void)state;
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    sg_jet_network *network = wide_network(SG_ACTIVATION_SILU, SG_FLOAT32);
    randomize(network, 1);
    sg_jet_request value = {.order = 0};
    sg_jet_plan *plan = make_plan(50, &value, 1);
    test_set context;
    sg_jet_set set = make_set(&context, network, plan, 300, 1, 1);
    sg_jet_config config = sg_jet_defaults();
    config.network = network;
    config.sets = &set;
    config.set_count = 1;
    sg_jet *jet;
    assert_ok(sg_jet_create(&jet, &config, &allocator));
    long made = counter.made;
    sg_jet_gradient(jet, NULL);
    assert_ok(sg_jet_resize(jet, 0, 5000, NULL));
    sg_jet_gradient(jet, NULL);
    sg_jet_forward(jet);
    assert_int_equal(counter.made, made);
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(plan);
    sg_jet_network_destroy(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layout_and_names),
                                       cmocka_unit_test(periodic_input),
                                       cmocka_unit_test(random_waves),
                                       cmocka_unit_test(deviations),
                                       cmocka_unit_test(siren),
                                       cmocka_unit_test(gains),
                                       cmocka_unit_test(same_in_float),
                                       cmocka_unit_test(refused_networks),
                                       cmocka_unit_test(refused_engines),
                                       cmocka_unit_test(every_allocation_fails),
                                       cmocka_unit_test(steps_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
