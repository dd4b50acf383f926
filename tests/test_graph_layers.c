/* Each kind of layer against values that PyTorch computed in double (tests/graph/layers.py):
 * logits, loss and every gradient, on every instruction set of the engine's own loops, fused and
 * not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/safetensors.h"
#include "stablegrad/graph.h"
#include "support/support.h"

enum { BATCH = 2, SIDE = 6, CLASSES = 5 };

static sgi_safetensors *values;

static int open_values(void **state)
{
    (void)state;
    char path[512];
    sg_diagnostic diagnostic = {0};
    snprintf(path, sizeof path, "%s/data/graph_layers.safetensors", SG_TEST_DATA);
    return sgi_safetensors_open(&values, path, NULL, &diagnostic) == SG_OK ? 0 : -1;
}

static int close_values(void **state)
{
    (void)state;
    sgi_safetensors_close(values);
    return 0;
}

static const sgi_tensor *tensor(const char *name, const char *part, const char *key)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s%s", name, part, key);
    const sgi_tensor *found = sgi_safetensors_find(values, full);
    if (!found)
        fail_msg("no recorded %s", full);
    return found;
}

/* ---- The networks, as in layers.py ------------------------------------------------------------
 */

static sg_net_node conv(sg_net *g, sg_net_node x, const char *name, int out, int kernel, int stride,
                        int groups, bool bias)
{
    sg_conv_options o = {.out = out,
                         .kernel = kernel,
                         .stride = stride,
                         .pad = kernel / 2,
                         .groups = groups,
                         .bias = bias};
    return sg_net_conv(g, x, name, &o);
}

static sg_net_node stem(sg_net *g, int channels)
{
    return conv(g, sg_net_input(g), "0", channels, 3, 1, 1, true);
}

static sg_net_node tail(sg_net *g, sg_net_node x, const char *linear)
{
    return sg_net_linear(g, sg_net_global_average(g, x, "mean"), linear, CLASSES, true);
}

static sg_net_node norm(sg_net *g, sg_net_node x, const char *name, sg_norm kind, int groups,
                        double eps)
{
    sg_norm_options o = {.kind = kind, .eps = eps, .momentum = 0.1, .groups = groups};
    return sg_net_norm(g, x, name, &o);
}

static sg_net_node excite(sg_net *g, sg_net_node x, const char *fc1, const char *fc2)
{
    sg_net_node s = sg_net_global_average(g, x, "squeeze");
    s = sg_net_act(g, conv(g, s, fc1, 6, 1, 1, 1, true), "inner", SG_ACT_SILU);
    s = sg_net_act(g, conv(g, s, fc2, 20, 1, 1, 1, true), "gate", SG_ACT_SIGMOID);
    return sg_net_scale(g, x, s, "excited");
}

static sg_net_node build_conv(sg_net *g)
{
    return tail(g, conv(g, stem(g, 20), "1", 24, 3, 2, 1, true), "3");
}

static sg_net_node build_conv1x1(sg_net *g)
{
    sg_net_node x = sg_net_act(g, stem(g, 20), "1", SG_ACT_RELU);
    return tail(g, conv(g, x, "2", 12, 1, 1, 1, false), "4");
}

static sg_net_node build_grouped(sg_net *g)
{
    return tail(g, conv(g, stem(g, 32), "1", 64, 3, 1, 2, true), "3");
}

static sg_net_node build_depthwise(sg_net *g)
{
    return tail(g, conv(g, stem(g, 32), "1", 32, 3, 1, 32, false), "3");
}

/* On 2 x 2 pixels, where the engine sums the weight gradient itself. */
static sg_net_node build_depthwise_small1(sg_net *g)
{
    sg_net_node x = conv(g, sg_net_input(g), "0", 32, 3, 3, 1, true);
    return tail(g, conv(g, x, "1", 32, 3, 1, 32, true), "3");
}

static sg_net_node build_depthwise_small2(sg_net *g)
{
    sg_net_node x = conv(g, sg_net_input(g), "0", 32, 3, 3, 1, true);
    return tail(g, conv(g, x, "1", 32, 3, 2, 32, true), "3");
}

static sg_net_node build_act(sg_net *g, sg_act act)
{
    sg_net_node x = sg_net_act(g, stem(g, 20), "1", act);
    return tail(g, sg_net_act(g, conv(g, x, "2", 16, 3, 1, 1, true), "3", act), "5");
}

static sg_net_node build_relu(sg_net *g)
{
    return build_act(g, SG_ACT_RELU);
}

static sg_net_node build_silu(sg_net *g)
{
    return build_act(g, SG_ACT_SILU);
}

static sg_net_node build_tanh(sg_net *g)
{
    return build_act(g, SG_ACT_TANH);
}

static sg_net_node build_sigmoid(sg_net *g)
{
    return build_act(g, SG_ACT_SIGMOID);
}

static sg_net_node build_norm(sg_net *g, sg_norm kind, int groups, double eps, sg_act act)
{
    sg_net_node x = norm(g, stem(g, 20), "1", kind, groups, eps);
    return tail(g, sg_net_act(g, x, "2", act), "4");
}

static sg_net_node build_batchnorm(sg_net *g)
{
    return build_norm(g, SG_NORM_BATCH, 0, 1e-5, SG_ACT_SILU);
}

static sg_net_node build_batchnorm_relu(sg_net *g)
{
    return build_norm(g, SG_NORM_BATCH, 0, 1e-3, SG_ACT_RELU);
}

static sg_net_node build_groupnorm(sg_net *g)
{
    return build_norm(g, SG_NORM_GROUP, 4, 1e-5, SG_ACT_SILU);
}

static sg_net_node build_layernorm(sg_net *g)
{
    return build_norm(g, SG_NORM_LAYER, 0, 1e-5, SG_ACT_TANH);
}

static sg_net_node build_maxpool(sg_net *g)
{
    return tail(g, sg_net_max_pool(g, stem(g, 20), "1", 3, 2, 1), "3");
}

static sg_net_node build_averagepool(sg_net *g)
{
    return tail(g, sg_net_average_pool(g, stem(g, 20), "1", 3, 2, 1), "3");
}

static sg_net_node build_excite(sg_net *g)
{
    sg_net_node x = sg_net_act(g, stem(g, 20), "1", SG_ACT_SILU);
    return tail(g, excite(g, x, "2.fc1", "2.fc2"), "4");
}

static sg_net_node build_excite_norm(sg_net *g)
{
    sg_net_node x = norm(g, stem(g, 20), "1", SG_NORM_BATCH, 0, 1e-5);
    x = sg_net_act(g, x, "2", SG_ACT_SILU);
    return tail(g, excite(g, x, "3.fc1", "3.fc2"), "5");
}

static sg_net_node residual(sg_net *g, sg_net_node x, const char *conv_name, const char *norm_name,
                            sg_norm kind, sg_act act)
{
    sg_net_node y = conv(g, x, conv_name, 20, 3, 1, 1, false);
    y = norm(g, y, norm_name, kind, 4, 1e-5);
    return sg_net_act(g, sg_net_add(g, y, x, "add"), "act", act);
}

static sg_net_node build_residual(sg_net *g)
{
    return tail(g, residual(g, stem(g, 20), "1.conv", "1.norm", SG_NORM_NONE, SG_ACT_NONE), "3");
}

static sg_net_node build_residual_relu(sg_net *g)
{
    return tail(g, residual(g, stem(g, 20), "1.conv", "1.norm", SG_NORM_NONE, SG_ACT_RELU), "3");
}

static sg_net_node build_residual_silu(sg_net *g)
{
    return tail(g, residual(g, stem(g, 20), "1.conv", "1.norm", SG_NORM_NONE, SG_ACT_SILU), "3");
}

static sg_net_node build_residual_norm(sg_net *g)
{
    return tail(g, residual(g, stem(g, 20), "1.conv", "1.norm", SG_NORM_BATCH, SG_ACT_RELU), "3");
}

static sg_net_node build_residual_twice(sg_net *g)
{
    sg_net_node x = residual(g, stem(g, 20), "1.conv", "1.norm", SG_NORM_BATCH, SG_ACT_NONE);
    return tail(g, residual(g, x, "2.conv", "2.norm", SG_NORM_GROUP, SG_ACT_NONE), "4");
}

static sg_net_node build_flatten(sg_net *g)
{
    sg_net_node x = sg_net_act(g, stem(g, 4), "1", SG_ACT_TANH);
    return sg_net_linear(g, sg_net_flatten(g, x, "2"), "3", CLASSES, true);
}

static sg_net_node build_dense(sg_net *g, sg_norm kind, sg_act act, const char *last)
{
    sg_net_node x = sg_net_flatten(g, sg_net_input(g), "0");
    x = norm(g, sg_net_linear(g, x, "1", 19, true), "2", kind, 0, 1e-5);
    return sg_net_linear(g, sg_net_act(g, x, "act", act), last, CLASSES, true);
}

static sg_net_node build_mlp(sg_net *g)
{
    return build_dense(g, SG_NORM_NONE, SG_ACT_TANH, "3");
}

static sg_net_node build_mlp_batch(sg_net *g)
{
    return build_dense(g, SG_NORM_BATCH, SG_ACT_RELU, "4");
}

static sg_net_node build_mlp_layer(sg_net *g)
{
    return build_dense(g, SG_NORM_LAYER, SG_ACT_SILU, "4");
}

static const struct {
    const char *name;
    sg_net_node (*build)(sg_net *graph);
} cases[] = {
#define CASE(name)                                                                                 \
    {                                                                                              \
#name, build_##name                                                                        \
    }
    CASE(conv),
    CASE(conv1x1),
    CASE(grouped),
    CASE(depthwise),
    CASE(depthwise_small1),
    CASE(depthwise_small2),
    CASE(relu),
    CASE(silu),
    CASE(tanh),
    CASE(sigmoid),
    CASE(batchnorm),
    CASE(batchnorm_relu),
    CASE(groupnorm),
    CASE(layernorm),
    CASE(maxpool),
    CASE(averagepool),
    CASE(excite),
    CASE(excite_norm),
    CASE(residual),
    CASE(residual_relu),
    CASE(residual_silu),
    CASE(residual_norm),
    CASE(residual_twice),
    CASE(flatten),
    CASE(mlp),
    CASE(mlp_batch),
    CASE(mlp_layer),
#undef CASE
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- Comparing ---------------------------------------------------------------------------- */

/* |ours - theirs| <= 1e-4 |theirs| + 1e-5 largest, in norms: a gradient that is zero in exact
 * arithmetic (a bias before a BatchNorm) holds the rounding of the largest. */
static void expect_same(const char *name, const char *key, const float *ours,
                        const sgi_tensor *recorded, double largest)
{
    const float *theirs = recorded->data;
    double apart = 0, size = 0;
    for (size_t i = 0; i < sgi_tensor_elements(recorded); i++) {
        apart += pow((double)ours[i] - (double)theirs[i], 2);
        size += pow((double)theirs[i], 2);
    }
    double allowed = 1e-4 * sqrt(size) + 1e-5 * largest;
    if (!(sqrt(apart) <= allowed))
        fail_msg("%s: %s is off by %g of %g", name, key, sqrt(apart), sqrt(size));
}

static double largest_gradient(const sg_params *params)
{
    double largest = 0;
    for (size_t i = 0; i < sg_params_count(params); i++) {
        const sg_span *span = sg_params_at(params, i);
        double sum = 0;
        for (size_t k = 0; k < span->count; k++)
            sum += pow((double)((const float *)span->gradient)[k], 2);
        largest = fmax(largest, sqrt(sum));
    }
    return largest;
}

static void load(sg_net *graph, const char *name)
{
    sg_params *params = sg_net_params(graph);
    for (size_t i = 0; i < sg_params_count(params); i++) {
        const sg_span *span = sg_params_at(params, i);
        const sgi_tensor *t = tensor(name, ".p.", span->name);
        int shape[4], rank = sg_net_param_shape(graph, i, shape);
        assert_int_equal(rank, t->rank);
        for (int d = 0; d < rank; d++)
            assert_int_equal(shape[d], t->shape[d]);
        memcpy(span->value, t->data, span->count * sizeof(float));
    }
}

static void run_case(int index, sg_isa isa, bool fuse)
{
    const char *name = cases[index].name;
    sg_net_config config = sg_net_defaults();
    sg_loss_result result;
    sg_net *graph;
    const int labels[BATCH] = {3, 1};
    config.batch = BATCH;
    config.height = config.width = SIDE;
    config.threads = fuse ? 1 : 2;
    config.isa = isa;
    config.fuse = fuse;
    assert_ok(sg_net_create(&graph, &config, NULL));
    if (sg_net_compile(graph, cases[index].build(graph)) != SG_OK)
        fail_msg("%s: %s", name, sg_net_diagnostic(graph)->message);
    load(graph, name);
    assert_ok(sg_net_forward(graph, tensor("", "", "images")->data, SG_MODE_TRAIN, 0));
    expect_same(name, "logits", sg_net_logits(graph), tensor(name, ".", "logits"), 0);
    assert_ok(sg_net_loss(graph, labels, BATCH, 0.1, &result));
    assert_close(result.loss, (double)*(const float *)tensor(name, ".", "loss")->data, 1e-5);
    assert_ok(sg_net_backward(graph));
    sg_params *params = sg_net_params(graph);
    double largest = largest_gradient(params);
    for (size_t i = 0; i < sg_params_count(params); i++) {
        const sg_span *span = sg_params_at(params, i);
        expect_same(name, span->name, span->gradient, tensor(name, ".g.", span->name), largest);
    }
    sg_net_destroy(graph);
}

static void every_layer_agrees_with_pytorch(void **state)
{
    (void)state;
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < CASES; c++)
            run_case(c, isas[i], true);
}

static void without_fusion_too(void **state)
{
    (void)state;
    for (int c = 0; c < CASES; c++)
        run_case(c, SG_ISA_AUTO, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_agrees_with_pytorch),
        cmocka_unit_test(without_fusion_too),
    };
    return cmocka_run_group_tests(tests, open_values, close_values);
}
