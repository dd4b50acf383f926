/* Signals from layer to layer, against a network that is written here once more and differentiated
 * by differences: every activation, adjoint and weight gradient of small networks of each kind. The
 * derivatives by the input are those of Taylor series, which know nothing of f'' and f'''. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "flow/flow.h"
#include "support/support.h"

enum { LAYERS = 4, BATCH = 5, WIDEST = 7, CHANNELS = SG_FLOW_CHANNELS };
static const int widths[LAYERS + 1] = {3, 7, 6, 4, 2};

/* The network as the test sees it. `at` says what is moved by `by`: a weight, or one channel of an
 * output. */
typedef struct brute {
    const sgi_flow_config *config;
    double w[LAYERS][WIDEST][WIDEST];
    double h[LAYERS][BATCH][WIDEST][CHANNELS]; /* Taylor coefficients: the last is half of s */
    double z[LAYERS][BATCH][WIDEST];
    struct {
        int layer, item, unit, channel;
        double by;
    } at;
} brute;

static void setup(brute *b, const sgi_flow_config *config)
{
    memset(b, 0, sizeof *b);
    b->config = config;
    b->at.layer = -1;
    for (int l = 0; l < LAYERS; l++)
        for (int o = 0; o < widths[l + 1]; o++)
            for (int i = 0; i < widths[l]; i++)
                b->w[l][o][i] = config->gain / sqrt(config->fan_out ? widths[l + 1] : widths[l]) *
                                sgi_random_normal(config->seed, 16 + (uint64_t)l,
                                                  (uint64_t)(o * widths[l] + i));
}

static double input_at(const brute *b, int item, int i, int channel)
{
    if (channel == 0)
        return sgi_random_normal(b->config->seed, 1, (uint64_t)(item * widths[0] + i));
    return channel == 1 && b->config->channels > 1 && i == 0;
}

static void multiply_layer(brute *b, int l, double z[BATCH][WIDEST][CHANNELS])
{
    for (int k = 0; k < BATCH; k++)
        for (int o = 0; o < widths[l + 1]; o++)
            for (int c = 0; c < CHANNELS; c++) {
                z[k][o][c] = 0;
                for (int i = 0; i < widths[l]; i++)
                    z[k][o][c] += b->w[l][o][i] * (l ? b->h[l - 1][k][i][c] : input_at(b, k, i, c));
            }
}

static void normalise_group(double *x, int count, int step)
{
    double mean = 0, square = 0;
    for (int i = 0; i < count; i++)
        mean += x[i * step] / count;
    for (int i = 0; i < count; i++)
        square += pow(x[i * step] - mean, 2) / count;
    for (int i = 0; i < count; i++)
        x[i * step] = (x[i * step] - mean) / sqrt(square + 1e-5);
}

static void activate(const brute *b, const double z[CHANNELS], bool last, double h[CHANNELS])
{
    memcpy(h, z, CHANNELS * sizeof *h);
    if (last)
        return;
    if (b->config->function == SG_FLOW_RELU) {
        for (int c = 0; c < CHANNELS; c++)
            h[c] = z[0] > 0 ? z[c] : 0;
        return;
    }
    /* t = tanh z satisfies t' = (1 - t^2) z'; the coefficients of both sides are compared. */
    h[0] = tanh(z[0]);
    h[1] = (1 - h[0] * h[0]) * z[1];
    h[2] = ((1 - h[0] * h[0]) * 2 * z[2] - 2 * h[0] * h[1] * z[1]) / 2;
}

static void run(brute *b)
{
    for (int l = 0; l < LAYERS; l++) {
        double z[BATCH][WIDEST][CHANNELS];
        bool last = l == LAYERS - 1;
        multiply_layer(b, l, z);
        for (int k = 0; k < BATCH && b->config->norm == SG_FLOW_LAYER && !last; k++)
            normalise_group(&z[k][0][0], widths[l + 1], CHANNELS);
        for (int o = 0; o < widths[l + 1] && b->config->norm == SG_FLOW_BATCH && !last; o++)
            normalise_group(&z[0][o][0], BATCH, WIDEST * CHANNELS);
        for (int k = 0; k < BATCH; k++)
            for (int o = 0; o < widths[l + 1]; o++) {
                b->z[l][k][o] = z[k][o][0];
                activate(b, z[k][o], last, b->h[l][k][o]);
            }
        if (l == b->at.layer)
            b->h[l][b->at.item][b->at.unit][b->at.channel] += b->at.by;
    }
}

static double random_at(const brute *b, int channel, int item, int o)
{
    return sgi_random_normal(b->config->seed + (uint64_t)channel, 2,
                             (uint64_t)(item * widths[LAYERS] + o));
}

static double loss(brute *b)
{
    double sum = 0;
    run(b);
    for (int k = 0; k < BATCH; k++)
        for (int o = 0; o < widths[LAYERS]; o++) {
            const double *u = b->h[LAYERS - 1][k][o];
            if (b->config->channels == 1)
                sum += pow(u[0] - random_at(b, 0, k, o), 2) / 2;
            else
                sum += random_at(b, 0, k, o) * u[0] + random_at(b, 1, k, o) * u[1] +
                       random_at(b, 2, k, o) * 2 * u[2];
        }
    return sum / BATCH;
}

/* dL/dx by sixth-order differences. */
static double slope(brute *b, double *x)
{
    static const double stencil[] = {-1, 9, -45, 0, 45, -9, 1};
    /* Between two kinks of ReLU the loss is quadratic, and a short step is as good as a long one.
     */
    double step = b->config->function == SG_FLOW_RELU ? 1e-5 : 1e-3, centre = *x, sum = 0;
    for (int k = 0; k < 7; k++) {
        *x = centre + (k - 3) * step;
        sum += stencil[k] * loss(b);
    }
    *x = centre;
    return sum / (60 * step);
}

static double std_of(const double *x, int count)
{
    double mean = 0, square = 0;
    for (int i = 0; i < count; i++)
        mean += x[i] / count;
    for (int i = 0; i < count; i++)
        square += pow(x[i] - mean, 2) / count;
    return sqrt(square);
}

static double gradient_std(brute *b, int l)
{
    double values[WIDEST * WIDEST];
    int count = 0;
    for (int o = 0; o < widths[l + 1]; o++)
        for (int i = 0; i < widths[l]; i++)
            values[count++] = slope(b, &b->w[l][o][i]);
    return std_of(values, count);
}

static double adjoint_std(brute *b, int l, int channel)
{
    double values[BATCH * WIDEST];
    int count = 0;
    b->at.layer = l;
    b->at.channel = channel;
    for (b->at.item = 0; b->at.item < BATCH; b->at.item++)
        for (b->at.unit = 0; b->at.unit < widths[l + 1]; b->at.unit++) /* by s, not by half of it */
            values[count++] = slope(b, &b->at.by) / (channel == 2 ? 2 : 1);
    b->at.layer = -1;
    return std_of(values, count);
}

static double activation_std(brute *b, int l, int channel)
{
    double values[BATCH * WIDEST];
    int count = 0;
    run(b);
    for (int k = 0; k < BATCH; k++)
        for (int o = 0; o < widths[l + 1]; o++)
            values[count++] = b->h[l][k][o][channel] * (channel == 2 ? 2 : 1);
    return std_of(values, count);
}

static void check(const sgi_flow_config *config)
{
    static brute b;
    sgi_flow_layer layers[LAYERS];
    assert_ok(sgi_flow_measure(config, layers, NULL));
    setup(&b, config);
    for (int l = 0; l < LAYERS; l++) {
        assert_relative(layers[l].gradient, gradient_std(&b, l), 1e-8);
        for (int c = 0; c < config->channels; c++) {
            assert_relative(layers[l].activation[c], activation_std(&b, l, c), 1e-12);
            assert_relative(layers[l].adjoint[c], adjoint_std(&b, l, c), 1e-8);
        }
        assert_relative(layers[l].factor,
                        layers[LAYERS - 1].adjoint[0] / (layers[l].gradient + 1e-8), 1e-12);
    }
}

static sgi_flow_config config_of(sgi_flow_function function, sgi_flow_norm norm, bool fan_out,
                                 int channels)
{
    return (sgi_flow_config){.widths = widths,
                             .layers = LAYERS,
                             .function = function,
                             .norm = norm,
                             .fan_out = fan_out,
                             .gain = 1.3,
                             .channels = channels,
                             .batch = BATCH,
                             .seed = 4};
}

static void values_and_norms(void **state)
{
    (void)state;
    for (int norm = SG_FLOW_PLAIN; norm <= SG_FLOW_LAYER; norm++)
        for (int out = 0; out < 2; out++) {
            sgi_flow_config config = config_of(SG_FLOW_TANH, (sgi_flow_norm)norm, out, 1);
            check(&config);
        }
    sgi_flow_config relu = config_of(SG_FLOW_RELU, SG_FLOW_PLAIN, false, 1);
    relu.seed = 5; /* no item at which a whole layer is 0, and so on a kink */
    check(&relu);
}

static void derivative_channels(void **state)
{
    (void)state;
    sgi_flow_config config = config_of(SG_FLOW_TANH, SG_FLOW_PLAIN, false, CHANNELS);
    check(&config);
}

/* The one recursion, written out. */
static void the_scalar_prediction(void **state)
{
    (void)state;
    static brute b;
    sgi_flow_config config = config_of(SG_FLOW_TANH, SG_FLOW_PLAIN, true, CHANNELS);
    sgi_flow_layer layers[LAYERS];
    assert_ok(sgi_flow_measure(&config, layers, NULL));
    setup(&b, &config);
    run(&b);
    for (int l = 0; l < LAYERS; l++) {
        double h2 = 0, z2 = 0, slope2 = 0, variance = 1.3 * 1.3 / widths[l + 1];
        int count = BATCH * widths[l + 1];
        for (int k = 0; k < BATCH; k++)
            for (int o = 0; o < widths[l + 1]; o++) {
                double z = b.z[l][k][o];
                h2 += pow(tanh(z), 2) / count;
                z2 += z * z / count;
                slope2 += pow(1 / cosh(z), 4) / count;
            }
        bool last = l == LAYERS - 1;
        for (int c = 0; c < CHANNELS; c++) {
            double share = last ? 1 : c == 0 ? h2 / z2 : slope2;
            double before = l ? layers[l - 1].predicted_activation[c] : layers[0].activation[c];
            double after = l ? before * sqrt(widths[l] * variance * share) : before;
            assert_relative(layers[l].predicted_activation[c], after, 1e-12);
            if (l > 0)
                assert_relative(layers[l - 1].predicted_adjoint[c],
                                layers[l].predicted_adjoint[c] *
                                    sqrt(widths[l + 1] * variance * (last ? 1 : slope2)),
                                1e-12);
        }
    }
    assert_true(layers[LAYERS - 1].predicted_adjoint[2] == layers[LAYERS - 1].adjoint[2]);
}

static void mistakes(void **state)
{
    (void)state;
    static const int none[] = {3, 0};
    sgi_flow_layer layers[LAYERS];
    sgi_flow_config config = config_of(SG_FLOW_TANH, SG_FLOW_BATCH, false, CHANNELS);
    assert_status(sgi_flow_measure(&config, layers, NULL), SG_ERROR_ARGUMENT);
    assert_status(sgi_flow_measure(NULL, layers, NULL), SG_ERROR_ARGUMENT);
    config = config_of(SG_FLOW_TANH, SG_FLOW_PLAIN, false, 1);
    config.widths = none;
    config.layers = 1;
    assert_status(sgi_flow_measure(&config, layers, NULL), SG_ERROR_ARGUMENT);
    assert_true(sgi_flow_spread((const double[]){2, 8, 4}, 3) == 4);
}

static sg_status measure_with(const sg_allocator *allocator, void *context)
{
    (void)context;
    sgi_flow_layer layers[LAYERS];
    sgi_flow_config config = config_of(SG_FLOW_TANH, SG_FLOW_PLAIN, false, CHANNELS);
    return sgi_flow_measure(&config, layers, allocator);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    each_allocation_fails(measure_with, NULL, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_norms),          cmocka_unit_test(derivative_channels),
        cmocka_unit_test(the_scalar_prediction),     cmocka_unit_test(mistakes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
