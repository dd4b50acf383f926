/* StableGrad in a training loop of one's own. A deep tanh network, whose forward and backward
 * passes are written out by hand, is fitted to a function of two variables with SGD, first without
 * and then with StableGrad.
 *
 * The network has twelve hidden layers, and its initial weights are too small. So the forward
 * signal fades from layer to layer, and the gradient on its way back, until the layers' gradients
 * differ by orders of magnitude. What the library needs is marked (1) to (4) below; everything else
 * is the trainer. To build it:
 *
 *     cc deep_mlp.c $(pkg-config --cflags --libs stablegrad) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <stablegrad/stablegrad.h>

enum { LAYERS = 13, WIDTH = 32, POINTS = 128 };

static const int sizes[LAYERS + 1] = {2,     WIDTH, WIDTH, WIDTH, WIDTH, WIDTH, WIDTH,
                                      WIDTH, WIDTH, WIDTH, WIDTH, WIDTH, WIDTH, 1};

typedef struct network {
    float weight[LAYERS][WIDTH * WIDTH], bias[LAYERS][WIDTH]; /* (out, in) and (out) */
    float weight_grad[LAYERS][WIDTH * WIDTH], bias_grad[LAYERS][WIDTH];
    float output[LAYERS + 1][POINTS * WIDTH]; /* (points, size) of each layer; [0] is the input */
} network;

static float x[POINTS][2], y[POINTS];

static void check(sg_status status)
{
    if (status != SG_OK) {
        fprintf(stderr, "stablegrad: %s\n", sg_status_text(status));
        exit(1);
    }
}

static float uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0f - 1.0f; /* [-1, 1) */
}

static void make_data(void)
{
    unsigned seed = 1;
    for (int i = 0; i < POINTS; i++) {
        x[i][0] = uniform(&seed);
        x[i][1] = uniform(&seed);
        y[i] = sinf(3 * x[i][0]) * cosf(2 * x[i][1]);
    }
}

static void initialise(network *net)
{
    unsigned seed = 7;
    for (int l = 0; l < LAYERS; l++) {
        float bound = 0.35f * sqrtf(3.0f / (float)sizes[l]); /* fan-in, gain 0.35 */
        for (int i = 0; i < sizes[l] * sizes[l + 1]; i++)
            net->weight[l][i] = bound * uniform(&seed);
        for (int i = 0; i < sizes[l + 1]; i++)
            net->bias[l][i] = 0;
    }
}

static void forward(network *net)
{
    for (int i = 0; i < POINTS * 2; i++)
        net->output[0][i] = x[i / 2][i % 2];
    for (int l = 0; l < LAYERS; l++)
        for (int p = 0; p < POINTS; p++)
            for (int o = 0; o < sizes[l + 1]; o++) {
                float z = net->bias[l][o];
                for (int i = 0; i < sizes[l]; i++)
                    z += net->weight[l][o * sizes[l] + i] * net->output[l][p * sizes[l] + i];
                net->output[l + 1][p * sizes[l + 1] + o] = l + 1 < LAYERS ? tanhf(z) : z;
            }
}

/* Mean squared error, and its gradient with respect to the outputs. */
static double loss(const network *net, float adjoint[POINTS])
{
    double sum = 0;
    for (int p = 0; p < POINTS; p++) {
        float r = net->output[LAYERS][p] - y[p];
        sum += (double)(r * r) / POINTS;
        adjoint[p] = 2 * r / POINTS;
    }
    return sum;
}

/* `delta` holds dL/d(output of layer l) on entry and dL/d(its input) on return. */
static void backward_layer(network *net, int l, float *delta, float *below)
{
    int in = sizes[l], out = sizes[l + 1];
    for (int i = 0; i < POINTS * in; i++)
        below[i] = 0;
    for (int i = 0; i < in * out; i++)
        net->weight_grad[l][i] = 0;
    for (int o = 0; o < out; o++)
        net->bias_grad[l][o] = 0;
    for (int p = 0; p < POINTS; p++)
        for (int o = 0; o < out; o++) {
            float h = net->output[l + 1][p * out + o];
            float d = delta[p * out + o] * (l + 1 < LAYERS ? 1 - h * h : 1);
            net->bias_grad[l][o] += d;
            for (int i = 0; i < in; i++) {
                net->weight_grad[l][o * in + i] += d * net->output[l][p * in + i];
                below[p * in + i] += d * net->weight[l][o * in + i];
            }
        }
    for (int i = 0; i < POINTS * in; i++)
        delta[i] = below[i];
}

static void backward(network *net, const float adjoint[POINTS])
{
    static float delta[POINTS * WIDTH], below[POINTS * WIDTH];
    for (int p = 0; p < POINTS; p++)
        delta[p] = adjoint[p];
    for (int l = LAYERS - 1; l >= 0; l--)
        backward_layer(net, l, delta, below);
}

/* (1) Tell the library where parameters and gradients lie. */
static sg_params *describe(network *net)
{
    sg_params *params;
    check(sg_params_create(&params, NULL));
    for (int l = 0; l < LAYERS; l++) {
        char name[32];
        snprintf(name, sizeof name, "layers.%d.weight", l);
        sg_span weight = {name,
                          net->weight[l],
                          net->weight_grad[l],
                          (size_t)(sizes[l] * sizes[l + 1]),
                          SG_FLOAT32,
                          l,
                          SG_ROLE_WEIGHT,
                          0};
        check(sg_params_add(params, &weight));
        snprintf(name, sizeof name, "layers.%d.bias", l);
        sg_span bias = {name,
                        net->bias[l],
                        net->bias_grad[l],
                        (size_t)sizes[l + 1],
                        SG_FLOAT32,
                        l,
                        SG_ROLE_BIAS,
                        0};
        check(sg_params_add(params, &bias));
    }
    return params;
}

static void print_scales(const sg_scale_report *report)
{
    printf("\n  gradient std by layer at step %d, raw and as the optimizer sees it\n",
           (int)report->step);
    for (size_t b = 0; b < report->block_count; b++)
        printf("  %-10s %9.2e  x %9.2e  ->  %9.2e\n", report->blocks[b].name, report->blocks[b].std,
               report->blocks[b].factor, report->blocks[b].scaled_std);
    printf("  largest / smallest: %.0f -> %.2f\n\n", report->ratio_raw, report->ratio_scaled);
}

static double train(sg_method method, int steps)
{
    static network net;
    static float adjoint[POINTS];
    initialise(&net);
    sg_params *params = describe(&net);

    /* (2) Make a scaler and an optimizer over the same parameters. */
    sg_scale_config scale = sg_scale_defaults();
    scale.method = method;
    sg_scaler *scaler;
    check(sg_scaler_create(&scaler, params, &scale, NULL, NULL));
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    config.rate = 0.1;
    config.momentum = 0.9;
    sg_optim *optim;
    check(sg_optim_create(&optim, params, &config, NULL, NULL));

    double value = 0;
    for (int step = 0; step < steps; step++) {
        forward(&net);
        value = loss(&net, adjoint);
        backward(&net, adjoint);
        /* (3) Show the scaler the gradient at the output, measure, and step; the optimizer applies
         * the factors. */
        check(sg_scaler_observe(scaler, adjoint, SG_FLOAT32, POINTS, 1));
        check(sg_scaler_measure(scaler, (uint64_t)step));
        check(sg_optim_step(optim, scaler, NULL));
        /* (4) Look at the report whenever you like. */
        if (step == 0 && method == SG_METHOD_STABLEGRAD)
            print_scales(sg_scaler_report(scaler));
        if (step % 200 == 0 || step == steps - 1)
            printf("  %-10s step %4d  loss %.3e\n",
                   method == SG_METHOD_STABLEGRAD ? "stablegrad" : "sgd", step, value);
    }
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
    return value;
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1200;
    printf("deep_mlp  12 x %d tanh, %d points, SGD with momentum, %d steps\n\n", WIDTH, POINTS,
           steps);
    make_data();
    double plain = train(SG_METHOD_NONE, steps);
    double scaled = train(SG_METHOD_STABLEGRAD, steps);
    printf("\n  final loss     sgd %.2e     with stablegrad %.2e     %.0f x lower\n", plain, scaled,
           plain / scaled);
    return plain > scaled ? 0 : 1;
}
