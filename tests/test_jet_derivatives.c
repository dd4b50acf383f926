/* Derivatives and gradients by finite differences in double: every activation, order and kind of
 * plan, deep networks, several outputs, Fourier features, pairs. A derivative of order n is checked
 * against differences of order n - 1, and order 0 against a network written out here. */
#include "test_jet_support.h"

enum { POINTS = 5 };

/* ---- Networks ----------------------------------------------------------------------------- */

typedef struct shape {
    int coordinates, depth, width, outputs;
    bool waves;
} shape;

static const double WAVES[2 * 3] = {1.3, -0.4, 0.2, 0.5, 0.9, -1.1};

static sg_jet_network *open_network(const shape *s, sg_activation activation)
{
    int hidden[16];
    double scale[] = {0.8, 1.2, 0.9}, shift[] = {0.1, -0.2, 0.3};
    bool keep[] = {true, false, true};
    double waves[2 * 3];
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < s->coordinates; i++)
            waves[w * s->coordinates + i] = WAVES[w * 3 + i];
    sg_jet_network_config config = sg_jet_network_defaults();
    for (int l = 0; l < s->depth; l++)
        hidden[l] = s->width + l % 3;
    config.input.coordinates = s->coordinates;
    config.input.scale = scale;
    config.input.shift = shift;
    if (s->waves) {
        config.input.keep = keep;
        config.input.waves = waves;
        config.input.wave_count = 2;
    }
    config.hidden = hidden;
    config.hidden_count = s->depth;
    config.outputs = s->outputs;
    config.activation = activation;
    config.frequency = 1.3;
    config.type = SG_FLOAT64;
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    randomize(network, 5);
    return network;
}

static double plain_activation(sg_activation activation, double z)
{
    switch (activation) {
    case SG_ACTIVATION_SILU:
        return z / (1 + exp(-z));
    case SG_ACTIVATION_SIN:
        return sin(1.3 * z);
    case SG_ACTIVATION_GELU:
        return z * 0.5 * (1 + erf(z / sqrt(2)));
    case SG_ACTIVATION_SOFTPLUS:
        return log(1 + exp(z));
    case SG_ACTIVATION_TANH:
        break;
    }
    return tanh(z);
}

static void plain_network(const sg_jet_network *network, const shape *s, sg_activation activation,
                          const double *x, double *out)
{
    const double scale[] = {0.8, 1.2, 0.9}, shift[] = {0.1, -0.2, 0.3};
    double a[64], z[64], *values = sg_jet_network_values(network);
    int count = 0;
    for (int i = 0; i < s->coordinates; i++)
        if (!s->waves || i != 1)
            a[count++] = scale[i] * x[i] + shift[i];
    for (int k = 0; k < (s->waves ? 4 : 0); k++) {
        double phase = 0;
        for (int i = 0; i < s->coordinates; i++)
            phase += WAVES[k % 2 * 3 + i] * x[i];
        a[count++] = k < 2 ? sin(phase) : cos(phase);
    }
    assert_int_equal(count, sg_jet_network_features(network));
    int layers = sg_jet_network_layers(network);
    for (int l = 0; l < layers; l++) {
        sg_jet_layer layer = sg_jet_network_layer(network, l);
        for (int o = 0; o < layer.outputs; o++) {
            z[o] = values[layer.bias + (size_t)o];
            for (int i = 0; i < layer.inputs; i++)
                z[o] += values[layer.weight + (size_t)(o * layer.inputs + i)] * a[i];
        }
        for (int o = 0; o < layer.outputs; o++)
            a[o] = l + 1 < layers ? plain_activation(activation, z[o]) : z[o];
    }
    memcpy(out, a, (size_t)s->outputs * sizeof *out);
}

/* ---- Derivatives of the network ---------------------------------------------------------------
 */

static void evaluate(sg_jet_network *network, const sg_jet_request *request, const double *x,
                     double *values)
{
    sg_jet_plan *plan = make_plan(sg_jet_network_coordinates(network), request, 1);
    assert_ok(sg_jet_evaluate(network, plan, NULL, x, NULL, 1, values, NULL));
    sg_jet_plan_destroy(plan);
}

/* d/dx_i of `request` by a sixth-order difference, all outputs. */
static void difference(sg_jet_network *network, const sg_jet_request *request, const double *x,
                       int i, double *values)
{
    static const double step[] = {-3, -2, -1, 1, 2, 3}, weight[] = {-1, 9, -45, 45, -9, 1};
    const double h = 2e-3;
    int outputs = sg_jet_network_outputs(network);
    for (int o = 0; o < outputs; o++)
        values[o] = 0;
    for (int k = 0; k < 6; k++) {
        double moved[8], there[8];
        memcpy(moved, x, (size_t)sg_jet_network_coordinates(network) * sizeof *x);
        moved[i] += step[k] * h;
        evaluate(network, request, moved, there);
        for (int o = 0; o < outputs; o++)
            values[o] += weight[k] * there[o] / (60 * h);
    }
}

static void check_derivative(sg_jet_network *network, const shape *s, const sg_jet_request *request,
                             uint64_t seed)
{
    double x[8], exact[8], approximate[8];
    for (int i = 0; i < s->coordinates; i++)
        x[i] = 2 * sgi_random_uniform(seed, 9, (uint64_t)i) - 1;
    evaluate(network, request, x, exact);
    sg_jet_request lower = *request;
    lower.order--;
    difference(network, &lower, x, request->along[lower.order], approximate);
    for (int o = 0; o < s->outputs; o++)
        assert_close(exact[o], approximate[o], 2e-8);
}

/* Every derivative to order 4 in up to three coordinates: lists in ascending order of coordinates,
 * and one that is not. */
static void check_all_orders(sg_jet_network *network, const shape *s)
{
    int n = s->coordinates;
    for (int order = 1; order <= 4; order++)
        for (int code = 0; code < n * n * n * n; code++) {
            sg_jet_request request = {.order = order};
            int rest = code, last = 0;
            bool ascending = true;
            for (int i = 0; i < order; i++, rest /= n) {
                request.along[i] = rest % n;
                ascending = ascending && request.along[i] >= last;
                last = request.along[i];
            }
            if (ascending && rest == 0)
                check_derivative(network, s, &request, (uint64_t)(code + 100 * order));
        }
    sg_jet_request mixed = {.order = 4, .along = {n - 1, 0, n - 1, 0}};
    check_derivative(network, s, &mixed, 3);
}

static void check_values(sg_jet_network *network, const shape *s, sg_activation activation)
{
    sg_jet_request value = {.order = 0};
    for (uint64_t p = 0; p < POINTS; p++) {
        double x[8], got[8], expected[8];
        for (int i = 0; i < s->coordinates; i++)
            x[i] = 2 * sgi_random_uniform(p, 8, (uint64_t)i) - 1;
        evaluate(network, &value, x, got);
        plain_network(network, s, activation, x, expected);
        for (int o = 0; o < s->outputs; o++)
            assert_close(got[o], expected[o], 1e-13);
    }
}

static const sg_jet_term LAPLACE[] = {{1, 2, {0, 0}, 0}, {1, 2, {1, 1}, 0}};
static const sg_jet_term HEAT[] = {{1, 1, {1}, 0}, {-0.3, 2, {0, 0}, 0}};
static const sg_jet_term KDV[] = {{1, 1, {1}, 0}, {0.4, 3, {0, 0, 0}, 0}};
static const sg_jet_term DISPERSION[] = {
    {0.4, 3, {1, 1, 1}, 1}, {1, 1, {0}, 0}, {-0.6, 2, {0, 0}, 2}};
static const sg_jet_term KURAMOTO[] = {
    {1, 1, {1}, 0}, {0.8, 2, {0, 0}, 1}, {0.5, 3, {0, 0, 0}, 0}, {0.3, 4, {0, 0, 0, 0}, 2}};
static const sg_jet_term BEAM[] = {{1, 2, {1, 1}, 0}, {0.3, 4, {0, 0, 0, 0}, 0}};
/* Not of one shape: two coefficients of u_xx, one of which varies. */
static const sg_jet_term LAYERED[] = {
    {1, 2, {0, 0}, 0}, {0.7, 2, {0, 0}, 1}, {0.3, 3, {0, 0, 0}, 0}};
static const sg_jet_term PLATE[] = {
    {1, 1, {0}, 0}, {0.5, 4, {0, 0, 0, 0}, 0}, {1, 4, {0, 0, 1, 1}, 0}, {-0.7, 2, {0, 1}, 0}};
static const sg_jet_term WIND[] = {{1, 1, {1}, 0}, {-2, 1, {0}, 0}};
/* Coefficients that vary: with a specialised loop, and by the table. */
static const sg_jet_term ROD[] = {{1, 1, {1}, 0}, {-0.5, 2, {0, 0}, 1}, {0.3, 1, {0}, 2}};
static const sg_jet_term SHEET[] = {{0.5, 3, {0, 0, 1}, 2}, {-0.6, 2, {1, 1}, 1}, {1, 1, {0}, 0}};
static const sg_jet_term WEIGHTED[] = {{0.5, 2, {0, 0}, 0}, {2, 2, {1, 1}, 0}};

/* A combination against its parts, at one point. */
static void check_sum(sg_jet_network *network, const shape *s, const sg_jet_term *terms,
                      size_t count)
{
    const double x[] = {0.3, -0.6, 0.2};
    double varying[] = {test_varying_at(x[0], 1), test_varying_at(x[0], 2)};
    double got[8], sum[8] = {0}, part[8];
    sg_jet_request whole = {.terms = terms, .term_count = count};
    sg_jet_plan *plan = make_plan(s->coordinates, &whole, 1);
    assert_ok(sg_jet_evaluate(network, plan, NULL, x, varying, 1, got, NULL));
    sg_jet_plan_destroy(plan);
    for (size_t i = 0; i < count; i++) {
        sg_jet_request one = {.order = terms[i].order};
        memcpy(one.along, terms[i].along, sizeof one.along);
        evaluate(network, &one, x, part);
        double factor = terms[i].varying ? varying[terms[i].varying - 1] : 1;
        for (int o = 0; o < s->outputs; o++)
            sum[o] += factor * terms[i].coefficient * part[o];
    }
    for (int o = 0; o < s->outputs; o++)
        assert_close(got[o], sum[o], 1e-12);
}

static void check_combinations(sg_jet_network *network, const shape *s)
{
    static const struct {
        const sg_jet_term *terms;
        size_t term_count;
    } all[] = {SUM(LAPLACE),    SUM(WEIGHTED), SUM(HEAT), SUM(KDV),
               SUM(PLATE),      SUM(WIND),     SUM(ROD),  SUM(SHEET),
               SUM(DISPERSION), SUM(KURAMOTO), SUM(BEAM), SUM(LAYERED)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        check_sum(network, s, all[i].terms, all[i].term_count);
}

static void derivatives(void **state)
{
    (void)state;
    const shape shapes[] = {{2, 3, 7, 1, false}, {3, 2, 9, 2, true}};
    for (int a = 0; a < SG_ACTIVATION_COUNT; a++)
        for (size_t i = 0; i < 2; i++) {
            sg_jet_network *network = open_network(&shapes[i], (sg_activation)a);
            check_values(network, &shapes[i], (sg_activation)a);
            check_all_orders(network, &shapes[i]);
            check_combinations(network, &shapes[i]);
            sg_jet_network_destroy(network);
        }
}

static void deep_derivatives(void **state)
{
    (void)state;
    const shape deep = {2, 12, 10, 3, false}, linear = {3, 0, 1, 2, true};
    for (int a = 0; a < SG_ACTIVATION_COUNT; a++) {
        sg_jet_network *network = open_network(&deep, (sg_activation)a);
        check_values(network, &deep, (sg_activation)a);
        check_all_orders(network, &deep);
        sg_jet_network_destroy(network);
    }
    sg_jet_network *network = open_network(&linear, SG_ACTIVATION_TANH);
    check_values(network, &linear, SG_ACTIVATION_TANH);
    check_all_orders(network, &linear);
    sg_jet_network_destroy(network);
}

/* ---- Gradients ------------------------------------------------------------------------------ */

/* One plan of each kind. */
typedef struct plan_case {
    size_t count;
    sg_jet_request requests[4];
} plan_case;

static const plan_case PLANS[] = {
    {1, {{.order = 0}}},
    {3, {{.order = 0}, {.order = 1, .along = {0}}, {.order = 1, .along = {1}}}},
    {4,
     {{.order = 0},
      {.order = 1, .along = {1}},
      {.order = 1, .along = {0}},
      {.order = 2, .along = {0, 0}}}},
    {1, {SUM(LAPLACE)}},
    {2, {{.order = 0}, SUM(WEIGHTED)}},
    {2, {{.order = 2, .along = {0, 1}}, {.order = 4, .along = {0, 0, 1, 1}}}},
    {2, {{.order = 4, .along = {0, 0, 0, 0}}, {.order = 3, .along = {1, 1, 0}}}},
    {3, {SUM(LAPLACE), SUM(WEIGHTED), {.order = 3, .along = {0, 0, 0}}}},
    {3, {{.order = 2, .along = {0, 0}}, SUM(LAPLACE), {.order = 2, .along = {1, 1}}}},
    {3, {{.order = 0}, {.order = 1, .along = {0}}, SUM(HEAT)}},
    {2, {SUM(WIND), {.order = 0}}},
    {2, {SUM(ROD), {.order = 0}}},
    {3, {{.order = 0}, {.order = 1, .along = {0}}, SUM(KDV)}},
    {4, {SUM(PLATE), SUM(HEAT), {.order = 2, .along = {1, 1}}, SUM(KDV)}},
    {2, {SUM(SHEET), SUM(HEAT)}},
    {2, {{.order = 0}, SUM(DISPERSION)}},
    {3, {{.order = 0}, {.order = 1, .along = {1}}, {.order = 3, .along = {0, 0, 0}}}},
    {3, {{.order = 2, .along = {0, 0}}, {.order = 1, .along = {0}}, SUM(KURAMOTO)}},
    {2, {{.order = 1, .along = {1}}, SUM(BEAM)}},
    {2, {{.order = 0}, SUM(LAYERED)}},
};
enum { PLAN_CASES = sizeof PLANS / sizeof *PLANS };

static double loss_at(sg_jet *jet, size_t sets)
{
    double loss = 0;
    sg_jet_forward(jet);
    for (size_t s = 0; s < sets; s++)
        loss += sg_jet_sums(jet, s)[0];
    return loss;
}

/* The gradient along a direction against a fourth-order difference of the loss. */
static void check_direction(sg_jet *jet, sg_jet_network *network, size_t sets, uint64_t seed)
{
    static const double step[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
    const double h = 1e-4;
    size_t count = sg_jet_network_parameters(network);
    double *values = sg_jet_network_values(network), *gradient = sg_jet_network_gradients(network);
    double exact = 0, size = 0, approximate = 0;
    double *kept = malloc(count * sizeof *kept), *direction = malloc(count * sizeof *direction);
    sg_jet_gradient(jet, NULL);
    for (size_t i = 0; i < count; i++) {
        kept[i] = values[i];
        direction[i] = sgi_random_normal(seed, 4, i);
        exact += direction[i] * gradient[i];
        size += fabs(direction[i] * gradient[i]);
    }
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < count; i++)
            values[i] = kept[i] + step[k] * h * direction[i];
        approximate += weight[k] * loss_at(jet, sets) / (12 * h);
    }
    memcpy(values, kept, count * sizeof *kept);
    assert_true(size > 0);
    if (!(fabs(exact - approximate) <= 1e-8 * size))
        fail_msg("gradient %.12g, difference %.12g, size %g", exact, approximate, size);
    free(kept);
    free(direction);
}

static void check_gradient(const shape *s, sg_activation activation, const plan_case *from,
                           bool plain, bool general)
{
    sg_jet_network *network = open_network(s, activation);
    sg_jet_plan *plan = make_plan(s->coordinates, from->requests, from->count);
    sg_jet_plan *value = make_plan(s->coordinates, PLANS[0].requests, 1);
    test_set contexts[3];
    sg_jet_set sets[3] = {make_set(&contexts[0], network, plan, 7, 1, 1),
                          make_set(&contexts[1], network, value, 3, 1, 2),
                          make_set(&contexts[2], network, plan, 4, 2, 3)};
    sg_jet_config config = sg_jet_defaults();
    config.network = network;
    config.sets = sets;
    config.set_count = 3;
    config.plain = plain;
    config.general = general;
    sg_jet *jet;
    assert_ok(sg_jet_create(&jet, &config, NULL));
    for (uint64_t seed = 0; seed < 3; seed++)
        check_direction(jet, network, 3, seed);
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(plan);
    sg_jet_plan_destroy(value);
    sg_jet_network_destroy(network);
}

static void gradients(void **state)
{
    (void)state;
    const shape shapes[] = {{2, 3, 7, 1, false}, {3, 2, 9, 2, true}};
    for (int a = 0; a < SG_ACTIVATION_COUNT; a++)
        for (size_t p = 0; p < PLAN_CASES; p++)
            for (size_t i = 0; i < 2; i++) {
                check_gradient(&shapes[i], (sg_activation)a, &PLANS[p], false, false);
                check_gradient(&shapes[i], (sg_activation)a, &PLANS[p], false, true);
                check_gradient(&shapes[i], (sg_activation)a, &PLANS[p], true, false);
            }
}

static void deep_gradients(void **state)
{
    (void)state;
    const shape deep = {2, 12, 10, 3, false}, linear = {3, 0, 1, 2, true};
    for (int a = 0; a < SG_ACTIVATION_COUNT; a++)
        for (size_t p = 0; p < PLAN_CASES; p++)
            check_gradient(&deep, (sg_activation)a, &PLANS[p], false, false);
    for (size_t p = 0; p < PLAN_CASES; p++)
        check_gradient(&linear, SG_ACTIVATION_TANH, &PLANS[p], false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives), cmocka_unit_test(deep_derivatives),
        cmocka_unit_test(gradients), cmocka_unit_test(deep_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
