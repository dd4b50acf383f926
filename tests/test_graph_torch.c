/* Whole networks against PyTorch: logits, loss, every gradient, running statistics, evaluation.
 *
 * PyTorch writes its weights, batch and results to a file; the same step is done here from those
 * weights. A tensor passes when |ours - theirs| <= 1e-3 |theirs| (norms over the tensor). Gradients
 * that are zero in exact arithmetic, as those of a shift before a BatchNorm, hold only rounding:
 * they pass when both are below 1e-5 of the largest gradient. Built only where PyTorch is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/safetensors.h"
#include "stablegrad/graph.h"
#include "support/support.h"

enum { BATCH = 4, SIZE = 64, CLASSES = 100 };

static const double tolerance = 1e-3;

typedef struct network {
    const char *model, *norm_name;
    sg_norm norm;
} network;

static double largest; /* norm of a gradient */
static double worst;   /* relative difference seen in this network, of tensors within 1e-3 */
static int rounding;   /* tensors that passed by the second rule */

/* |a - b|; b NULL means 0. */
static double norm_of(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double d = (double)a[i] - (b ? (double)b[i] : 0);
        sum += d * d;
    }
    return sqrt(sum);
}

static void expect_tensor(const sgi_safetensors *file, const char *prefix, const char *name,
                          const float *ours, size_t count)
{
    char key[200];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    const sgi_tensor *theirs = sgi_safetensors_find(file, key);
    if (!theirs)
        fail_msg("no tensor %s", key);
    assert_int_equal(sgi_tensor_elements(theirs), count);
    double size = norm_of(theirs->data, NULL, count);
    double apart = norm_of(ours, theirs->data, count);
    if (apart <= tolerance * size)
        worst = fmax(worst, apart / size);
    else if (fmax(size, apart) <= 1e-5 * largest)
        rounding++;
    else
        fail_msg("%s is off by %g of %g; the largest gradient is %g", key, apart, size, largest);
}

static sg_net *open_graph(const network *n)
{
    sg_net *graph;
    sg_net_config config = sg_net_defaults();
    sg_model_options options = sg_model_defaults();
    config.batch = BATCH;
    config.height = config.width = SIZE;
    config.threads = 2;
    options.classes = CLASSES;
    options.norm = n->norm;
    options.dropout = options.drop_path = 0;
    assert_ok(sg_net_create(&graph, &config, NULL));
    if (sg_net_model(graph, n->model, &options) != SG_OK)
        fail_msg("%s", sg_net_diagnostic(graph)->message);
    return graph;
}

static void compare(const network *n, sg_net *graph, const sgi_safetensors *file)
{
    const float *images = sgi_safetensors_find(file, "images")->data;
    const int64_t *theirs = sgi_safetensors_find(file, "labels")->data;
    int labels[BATCH];
    sg_loss_result result;
    for (int i = 0; i < BATCH; i++)
        labels[i] = (int)theirs[i];
    assert_ok(sg_net_forward(graph, images, SG_MODE_TRAIN, 0));
    expect_tensor(file, "", "logits", sg_net_logits(graph), BATCH * CLASSES);
    assert_ok(sg_net_loss(graph, labels, BATCH, 0.1, &result));
    assert_relative(result.loss, (double)*(const float *)sgi_safetensors_find(file, "loss")->data,
                    tolerance);
    expect_tensor(file, "", "signal", sg_net_signal(graph), BATCH * CLASSES);
    assert_ok(sg_net_backward(graph));
    sg_params *params = sg_net_params(graph);
    for (size_t i = 0; i < sg_params_count(params); i++) {
        const sg_span *span = sg_params_at(params, i);
        largest = fmax(largest, norm_of(span->gradient, NULL, span->count));
    }
    for (size_t i = 0; i < sg_params_count(params); i++) {
        const sg_span *span = sg_params_at(params, i);
        expect_tensor(file, "grad.", span->name, span->gradient, span->count);
    }
    for (size_t i = 0; i < sg_net_buffer_count(graph); i++) {
        sg_net_buffer buffer = sg_net_buffer_at(graph, i);
        expect_tensor(file, "after.", buffer.name, buffer.values, buffer.count);
    }
    assert_ok(sg_net_forward(graph, images, SG_MODE_EVAL, 0));
    expect_tensor(file, "", "eval", sg_net_logits(graph), BATCH * CLASSES);
    print_message("%s, norm %s: %zu gradients, largest relative difference %.1e, %d are rounding\n",
                  n->model, n->norm_name, sg_params_count(params), worst, rounding);
}

static void agrees(void **state)
{
    const network *n = *state;
    char path[64] = "/tmp/sg_graph_XXXXXX", command[1024];
    sg_diagnostic diagnostic = {0};
    int made = mkstemp(path);
    assert_true(made >= 0);
    close(made);
    snprintf(command, sizeof command, "%s %s/graph/networks.py %s %s %d %d %d %s", SG_TEST_TORCH,
             SG_TEST_DATA, n->model, n->norm_name, BATCH, SIZE, CLASSES, path);
    assert_int_equal(system(command), 0);
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, NULL, &diagnostic);
    sg_net *graph = open_graph(n);
    if (sg_net_load(graph, path, false) != SG_OK)
        fail_msg("%s", sg_net_diagnostic(graph)->message);
    unlink(path);
    assert_ok(status);
    worst = largest = 0;
    rounding = 0;
    compare(n, graph, file);
    sg_net_destroy(graph);
    sgi_safetensors_close(file);
}

int main(void)
{
    static network networks[] = {{"resnet50", "batch", SG_NORM_BATCH},
                                 {"resnet50", "none", SG_NORM_NONE},
                                 {"efficientnet_v2_s", "batch", SG_NORM_BATCH},
                                 {"efficientnet_v2_s", "none", SG_NORM_NONE},
                                 {"resnet18", "group", SG_NORM_GROUP}};
    enum { COUNT = sizeof networks / sizeof networks[0] };
    struct CMUnitTest tests[COUNT];
    char names[COUNT][64];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "%s_norm_%s", networks[i].model, networks[i].norm_name);
        tests[i] = (struct CMUnitTest){names[i], agrees, NULL, NULL, &networks[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
