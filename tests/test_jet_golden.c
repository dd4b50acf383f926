/* Channels, residuals, loss, gradients and sigma_out of three small networks against values from
 * another framework: to 1e-10 in double, 1e-4 in float. An array is measured by its own largest
 * value, so that small gradients are compared as strictly as large ones. */
#include "support/golden.h"
#include "test_jet_support.h"

enum { MOST_POINTS = 64, MOST_PARTS = 3 };

typedef enum equation { BURGERS, COLLAPSED, POISSON, HELMHOLTZ } equation;

typedef struct part {
    sg_type type;
    equation equation;
    bool pde, initial;
    double weight;
    int coordinates;
    size_t count;
    double points[3 * MOST_POINTS];
    double expected[MOST_POINTS], residual[MOST_POINTS];
} part;

static const double PI = 3.14159265358979323846;

/* |a_i - b_i| <= tolerance * the largest |b|. */
static void assert_array(const double *a, const double *b, size_t count, double tolerance,
                         const char *what)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(b[i]));
    for (size_t i = 0; i < count; i++)
        assert_near_(a[i], b[i], tolerance, largest, what, __FILE__, __LINE__);
}

static void part_points(void *context, size_t set, size_t first, size_t count, int worker,
                        void *const *coordinates)
{
    (void)set;
    (void)worker;
    const part *p = context;
    for (int c = 0; c < p->coordinates; c++)
        for (size_t i = 0; i < count; i++)
            put(coordinates[c], p->type, i,
                p->points[(first + i) * (size_t)p->coordinates + (size_t)c]);
}

/* Residual and its slopes; values are u, then u_t, u_x, u_xx (burgers), u_x, u_t - nu u_xx
 * (collapsed) or lap u. */
static double residual_at(const part *p, const double *x, const double *v, double *slope)
{
    double wave = 10 * PI;
    slope[0] = slope[1] = slope[2] = slope[3] = 0;
    if (!p->pde) {
        slope[0] = 1;
        return v[0] + (p->initial ? sin(PI * x[0]) : 0);
    }
    switch (p->equation) {
    case BURGERS:
        slope[0] = v[2];
        slope[1] = 1;
        slope[2] = v[0];
        slope[3] = -1e-4;
        return v[1] + v[0] * v[2] - 1e-4 * v[3];
    case COLLAPSED:
        slope[0] = v[1];
        slope[1] = v[0];
        slope[2] = 1;
        return v[2] + v[0] * v[1];
    case POISSON:
        slope[1] = -1;
        return -v[1] - 2 * PI * PI * sin(PI * x[0]) * sin(PI * x[1]);
    case HELMHOLTZ:
        break;
    }
    slope[0] = 1;
    slope[1] = 1 / (wave * wave);
    double exact = sin(wave * x[0]) * sin(wave * x[1]) * sin(wave * x[2]);
    return v[1] / (wave * wave) + v[0] + 2 * exact;
}

static void part_residual(void *context, const sg_jet_tile *tile)
{
    part *p = context;
    static const int counts[] = {[BURGERS] = 4, [COLLAPSED] = 3, [POISSON] = 2, [HELMHOLTZ] = 2};
    int values = !p->pde ? 1 : counts[p->equation];
    for (size_t i = 0; i < tile->count; i++) {
        double v[4], slope[4], factor = 2 * p->weight / (double)p->count;
        for (int k = 0; k < values; k++)
            v[k] = get(tile->values[k], p->type, i);
        double r = residual_at(p, p->points + (tile->first + i) * (size_t)p->coordinates, v, slope);
        p->residual[tile->first + i] = r;
        tile->sums[0] += p->weight * r * r / (double)p->count;
        for (int k = 0; k < values; k++)
            put(tile->adjoints[k], p->type, i, factor * r * slope[k]);
    }
}

static sg_jet_network *open_network(const json_t *golden, sg_type type, sg_activation activation)
{
    double waves[27], frequencies[] = {1, 2, 3};
    int hidden[] = {8, 8, 8};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = (int)json_array_size(golden_member(golden, "coordinates"));
    if (!json_is_null(golden_member(golden, "fourier_frequencies"))) {
        for (int c = 0; c < 3; c++)
            sg_jet_waves_fourier(waves + 9 * c, 3, c, PI, frequencies, 3);
        config.input.waves = waves;
        config.input.wave_count = 9;
    }
    config.hidden = hidden;
    config.hidden_count = 3;
    config.activation = activation;
    config.type = type;
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    for (int l = 0; l < 4; l++) {
        double numbers[1024];
        sg_jet_layer layer = sg_jet_network_layer(network, l);
        size_t count = golden_flatten(json_array_get(golden_member(golden, "weights"), (size_t)l),
                                      numbers, 1024);
        assert_int_equal(count, layer.inputs * layer.outputs);
        for (size_t i = 0; i < count; i++)
            put(sg_jet_network_values(network), type, layer.weight + i, numbers[i]);
        count = golden_flatten(json_array_get(golden_member(golden, "biases"), (size_t)l), numbers,
                               1024);
        for (size_t i = 0; i < count; i++)
            put(sg_jet_network_values(network), type, layer.bias + i, numbers[i]);
    }
    return network;
}

static void open_part(part *p, const json_t *golden, size_t index, equation which, sg_type type)
{
    const json_t *from = json_array_get(golden_member(golden, "parts"), index);
    const char *name = json_string_value(golden_member(from, "name"));
    *p = (part){.type = type, .equation = which, .weight = golden_number(from, "weight")};
    p->pde = strcmp(name, "pde") == 0;
    p->initial = strcmp(name, "initial") == 0;
    p->coordinates = (int)json_array_size(golden_member(golden, "coordinates"));
    p->count = golden_flatten(golden_member(from, "residual"), p->expected, MOST_POINTS);
    golden_flatten(golden_member(from, "points"), p->points, 3 * MOST_POINTS);
}

/* Every channel in the file, by its name, at the file's points. */
static void check_channels(const json_t *golden, sg_jet_network *network, double tolerance)
{
    double points[3 * MOST_POINTS], values[MOST_POINTS], expected[MOST_POINTS];
    golden_flatten(golden_member(golden, "points"), points, 3 * MOST_POINTS);
    const json_t *names = golden_member(golden, "coordinates");
    const char *name;
    json_t *channel;
    json_object_foreach(golden_member(golden, "channels"), name, channel)
    {
        sg_jet_request request = {.order = 0};
        for (const char *at = name + 1 + (name[1] == '_'); *at; at++)
            for (size_t c = 0; c < json_array_size(names); c++)
                if (*json_string_value(json_array_get(names, c)) == *at)
                    request.along[request.order++] = (int)c;
        sg_jet_plan *plan = make_plan(sg_jet_network_coordinates(network), &request, 1);
        size_t count = golden_flatten(channel, expected, MOST_POINTS);
        assert_ok(sg_jet_evaluate(network, plan, NULL, points, NULL, count, values, NULL));
        assert_array(values, expected, count, tolerance, name);
        sg_jet_plan_destroy(plan);
    }
}

static void check_gradients(const json_t *golden, const sg_jet_network *network, double tolerance)
{
    static const char *const keys[] = {"grad_weights", "grad_biases"};
    sg_type type = sg_jet_network_type(network);
    double expected[1024], found[1024];
    for (int l = 0; l < 4; l++)
        for (int k = 0; k < 2; k++) {
            sg_jet_layer layer = sg_jet_network_layer(network, l);
            size_t count = golden_flatten(json_array_get(golden_member(golden, keys[k]), (size_t)l),
                                          expected, 1024);
            for (size_t i = 0; i < count; i++)
                found[i] = get(sg_jet_network_gradients(network), type,
                               (k ? layer.bias : layer.weight) + i);
            assert_array(found, expected, count, tolerance, keys[k]);
        }
}

static void check(const char *name, equation which, sg_type type, double tolerance)
{
    json_t *golden = golden_open(name);
    sg_activation activation = which == HELMHOLTZ ? SG_ACTIVATION_SILU : SG_ACTIVATION_TANH;
    sg_jet_network *network = open_network(golden, type, activation);
    check_channels(golden, network, tolerance);

    const sg_jet_term ones[] = {{1, 2, {0, 0}, 0}, {1, 2, {1, 1}, 0}, {1, 2, {2, 2}, 0}};
    sg_jet_request burgers[] = {{.order = 0},
                                {.order = 1, .along = {1}},
                                {.order = 1, .along = {0}},
                                {.order = 2, .along = {0, 0}}};
    const sg_jet_term heat[] = {{1, 1, {1}, 0}, {-1e-4, 2, {0, 0}, 0}};
    sg_jet_request collapsed[] = {{.order = 0}, {.order = 1, .along = {0}}, SUM(heat)};
    int coordinates = sg_jet_network_coordinates(network);
    sg_jet_request others[] = {{.order = 0}, {.terms = ones, .term_count = (size_t)coordinates}};
    sg_jet_plan *pde = which == BURGERS     ? make_plan(coordinates, burgers, 4)
                       : which == COLLAPSED ? make_plan(coordinates, collapsed, 3)
                                            : make_plan(coordinates, others, 2);
    assert_int_equal(sg_jet_plan_channels(pde), which == COLLAPSED ? 3 : 2 + coordinates);
    sg_jet_plan *value = make_plan(coordinates, burgers, 1);
    part parts[MOST_PARTS];
    sg_jet_set sets[MOST_PARTS];
    size_t count = json_array_size(golden_member(golden, "parts"));
    for (size_t s = 0; s < count; s++) {
        open_part(&parts[s], golden, s, which, type);
        sets[s] = (sg_jet_set){.plan = parts[s].pde ? pde : value,
                               .items = parts[s].count,
                               .points_per_item = 1,
                               .sums = 1,
                               .points = part_points,
                               .residual = part_residual,
                               .context = &parts[s]};
    }
    sg_jet *jet = make_engine(network, sets, count, NULL);
    sg_jet_gradient(jet, NULL);
    double loss = 0;
    for (size_t s = 0; s < count; s++) {
        loss += sg_jet_sums(jet, s)[0];
        assert_array(parts[s].residual, parts[s].expected, parts[s].count, tolerance, "residual");
    }
    assert_relative(loss, golden_number(golden, "loss"), tolerance);
    check_gradients(golden, network, tolerance);
    sg_moments moments = sg_jet_moments(jet);
    assert_relative(sg_moments_std(&moments), golden_number(golden, "sigma_out"), tolerance);
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(pde);
    sg_jet_plan_destroy(value);
    sg_jet_network_destroy(network);
    json_decref(golden);
}

static void check_all(sg_type type, double tolerance)
{
    check("burgers", BURGERS, type, tolerance);
    check("burgers", COLLAPSED, type, tolerance);
    check("poisson", POISSON, type, tolerance);
    check("helmholtz", HELMHOLTZ, type, tolerance);
}

static void in_double(void **state)
{
    (void)state;
    check_all(SG_FLOAT64, 1e-10);
}

static void in_float(void **state)
{
    (void)state;
    check_all(SG_FLOAT32, 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_double), cmocka_unit_test(in_float)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
