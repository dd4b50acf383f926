/* The graph engine around its arithmetic: parameter counts, starts, state dicts, dropout, looking
 * inside, mistakes, failing allocations. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "graph/internal.h"
#include "support/support.h"

static float *random_images(const sg_net_config *c)
{
    size_t count = (size_t)c->batch * (size_t)c->channels * (size_t)c->height * (size_t)c->width;
    float *images = malloc(count * sizeof *images);
    assert_non_null(images);
    for (size_t i = 0; i < count; i++)
        images[i] = (float)sgi_random_normal(5, 0, i);
    return images;
}

static sg_net_config small(int batch, int side)
{
    sg_net_config config = sg_net_defaults();
    config.batch = batch;
    config.height = config.width = side;
    config.threads = 1; /* two teams on a busy machine spin at each other */
    return config;
}

static sg_net *open_model(const char *name, const sg_net_config *config,
                          const sg_model_options *options)
{
    sg_net *graph;
    assert_ok(sg_net_create(&graph, config, NULL));
    if (sg_net_model(graph, name, options) != SG_OK)
        fail_msg("%s: %s", name, sg_net_diagnostic(graph)->message);
    return graph;
}

/* With torchvision's start. */
static sg_net *open_started(const char *name, const sg_net_config *config,
                            const sg_model_options *options)
{
    sg_net *graph = open_model(name, config, options);
    sg_init_config init = {.kind = SG_INIT_DEFAULT};
    assert_ok(sg_net_init(graph, &init));
    return graph;
}

static void models_have_the_parameters_of_torchvision(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int classes;
        size_t parameters;
    } known[] = {{"efficientnet_v2_s", 1000, 21458488},
                 {"efficientnet_v2_s", 100, 20305588},
                 {"resnet50", 1000, 25557032},
                 {"resnet50", 100, 23712932},
                 {"resnet18", 1000, 11689512}};
    for (size_t i = 0; i < 5; i++) {
        sg_net_config config = small(1, 32);
        sg_model_options options = sg_model_defaults();
        config.training = false;
        options.classes = known[i].classes;
        sg_net *graph = open_model(known[i].name, &config, &options);
        assert_int_equal(sg_net_information(graph).parameters, known[i].parameters);
        assert_int_equal(sg_params_elements(sg_net_params(graph)), known[i].parameters);
        sg_net_destroy(graph);
    }
}

/* Without BatchNorm its parameters are gone; with `bias` each convolution has one in its place. */
static void norms_can_be_replaced(void **state)
{
    (void)state;
    size_t counts[3];
    sg_net_config config = small(1, 32);
    for (int i = 0; i < 3; i++) {
        sg_model_options options = sg_model_defaults();
        options.norm = i == 0 ? SG_NORM_GROUP : SG_NORM_NONE;
        options.bias = i == 2;
        sg_net *graph = open_model("resnet18", &config, &options);
        counts[i] = sg_net_information(graph).parameters;
        assert_int_equal(sg_params_find(sg_net_params(graph), "conv1.bias") != SG_NOT_FOUND,
                         i == 2);
        assert_int_equal(sg_net_buffer_count(graph), 0);
        sg_net_destroy(graph);
    }
    assert_int_equal(counts[0], 11689512);
    assert_int_equal(counts[0] - counts[1], 2 * (counts[2] - counts[1]));
}

static void model_convolutions_have_fast_kernels(void **state)
{
    (void)state;
    if (sg_isa_resolve(SG_ISA_AUTO) != SG_ISA_AVX512)
        skip();
    const char *const names[] = {"resnet50", "efficientnet_v2_s"};
    for (int m = 0; m < 2; m++)
        for (int norm = 0; norm < 2; norm++) {
            sg_net_config config = small(2, 64);
            sg_model_options options = sg_model_defaults();
            options.norm = norm ? SG_NORM_BATCH : SG_NORM_NONE;
            sg_net *graph = open_model(names[m], &config, &options);
            for (size_t i = 0; sg_net_kernel(graph, i); i++)
                if (strstr(sg_net_kernel(graph, i), "ref"))
                    fail_msg("%s", sg_net_kernel(graph, i));
            sg_net_info info = sg_net_information(graph);
            assert_true(info.activation_bytes < info.unplanned_bytes);
            sg_net_destroy(graph);
        }
}

/* One training step; the sum over all gradients in `sum`, if given. */
static sg_loss_result train_step(sg_net *graph, const float *images, uint64_t step, double *sum)
{
    int labels[64] = {0};
    sg_loss_result result;
    for (int i = 0; i < sg_net_configuration(graph)->batch; i++)
        labels[i] = i % sg_net_classes(graph);
    assert_ok(sg_net_forward(graph, images, SG_MODE_TRAIN, step));
    assert_ok(sg_net_loss(graph, labels, sg_net_configuration(graph)->batch, 0.1, &result));
    assert_ok(sg_net_backward(graph));
    for (size_t i = 0; sum && i < sg_params_count(sg_net_params(graph)); i++) {
        const sg_span *span = sg_params_at(sg_net_params(graph), i);
        for (size_t k = 0; k < span->count; k++)
            *sum += (double)((const float *)span->gradient)[k] * (double)(k % 7 + 1);
    }
    return result;
}

static void a_step_repeats_bit_for_bit(void **state)
{
    (void)state;
    sg_net_config config = small(2, 32);
    config.threads = 2;
    sg_model_options options = sg_model_defaults();
    options.classes = 10;
    float *images = random_images(&config);
    double sums[3] = {0}, losses[3];
    sg_net *graph = open_started("efficientnet_v2_s", &config, &options);
    for (int i = 0; i < 3; i++)
        losses[i] = train_step(graph, images, i == 2 ? 8 : 7, &sums[i]).loss;
    sg_net_destroy(graph);
    assert_true(losses[0] == losses[1] && sums[0] == sums[1]);
    /* Another step number draws other dropout masks. */
    assert_true(losses[0] != losses[2] && sums[0] != sums[2]);
    free(images);
}

/* The distance of two arrays, relative to the second: no sum of signs that cancel. */
static double difference(const float *a, const float *b, size_t count)
{
    double apart = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        apart += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(apart / size);
}

static void threads_change_rounding_only(void **state)
{
    (void)state;
    sg_net_config config = small(4, 32);
    sg_model_options options = sg_model_defaults();
    options.classes = 10;
    options.norm = SG_NORM_NONE;
    float *images = random_images(&config);
    sg_net *graphs[2];
    double losses[2];
    for (int i = 0; i < 2; i++) {
        config.threads = i + 1;
        graphs[i] = open_started("resnet18", &config, &options);
        losses[i] = train_step(graphs[i], images, 0, NULL).loss;
    }
    assert_relative(losses[1], losses[0], 1e-5);
    for (size_t i = 0; i < sg_params_count(sg_net_params(graphs[0])); i++) {
        const sg_span *a = sg_params_at(sg_net_params(graphs[1]), i);
        const sg_span *b = sg_params_at(sg_net_params(graphs[0]), i);
        assert_true(difference(a->gradient, b->gradient, a->count) < 1e-4);
    }
    sg_net_destroy(graphs[0]);
    sg_net_destroy(graphs[1]);
    free(images);
}

/* Two 3 x 3 convolutions on `isa`, wide enough for Winograd's algorithm, the second with a
 * residual. */
static sg_net *open_residual(sg_isa isa, const char *kernel)
{
    sg_net_config config = small(4, 16);
    config.threads = 2;
    config.isa = isa;
    sg_net *graph;
    sg_conv_options conv = {.out = 24, .kernel = 3, .stride = 1, .pad = 1, .bias = true};
    assert_ok(sg_net_create(&graph, &config, NULL));
    sg_net_node x = sg_net_conv(graph, sg_net_input(graph), "a", &conv);
    x = sg_net_act(graph, x, "b", SG_ACT_RELU);
    sg_net_node y = sg_net_add(graph, sg_net_conv(graph, x, "c", &conv), x, "d");
    y = sg_net_global_average(graph, sg_net_act(graph, y, "e", SG_ACT_RELU), "f");
    assert_ok(sg_net_compile(graph, sg_net_linear(graph, y, "g", 10, true)));
    assert_ok(sg_net_init(graph, &(sg_init_config){.kind = SG_INIT_FAN_IN}));
    assert_true(!kernel || strstr(sg_net_kernel(graph, 1), kernel));
    return graph;
}

/* oneDNN has Winograd's algorithm for blocks of 16 only, so blocks of 8 are the direct one. */
static void winograd_and_direct_agree(void **state)
{
    (void)state;
    if (sg_isa_resolve(SG_ISA_AUTO) != SG_ISA_AVX512)
        skip();
    sg_net_config config = small(4, 16);
    float *images = random_images(&config);
    sg_net *fast = open_residual(SG_ISA_AVX512, "c: jit_wino_4x3");
    sg_net *direct = open_residual(SG_ISA_AVX2, "c: jit:");
    double sums[2] = {0};
    train_step(fast, images, 0, &sums[0]);
    train_step(fast, images, 0, &sums[1]);
    train_step(direct, images, 0, NULL);
    assert_true(sums[0] == sums[1]);
    for (size_t i = 0; i < sg_params_count(sg_net_params(fast)); i++) {
        const sg_span *a = sg_params_at(sg_net_params(fast), i);
        const sg_span *b = sg_params_at(sg_net_params(direct), i);
        assert_true(difference(a->gradient, b->gradient, a->count) < 1e-5);
    }
    sg_net_destroy(fast);
    sg_net_destroy(direct);
    free(images);
}

/* A loss that goes down shows that gradients and parameters are those of one network. */
static void an_optimizer_and_a_scaler_train_it(void **state)
{
    (void)state;
    sg_net_config config = small(8, 32);
    sg_model_options options = sg_model_defaults();
    options.classes = 4;
    options.norm = SG_NORM_NONE;
    options.bias = true;
    float *images = random_images(&config);
    sg_net *graph = open_started("resnet18", &config, &options);
    sg_optim_config adamw = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_scaler *scaler;
    sg_optim *optim;
    assert_ok(sg_net_calibrate(graph, images));
    assert_ok(sg_scaler_create(&scaler, sg_net_params(graph), NULL, NULL, NULL));
    assert_ok(sg_optim_create(&optim, sg_net_params(graph), &adamw, NULL, NULL));
    double first = 0, last = 0;
    for (uint64_t step = 0; step < 30; step++) {
        last = train_step(graph, images, step, NULL).loss;
        first = step == 0 ? last : first;
        assert_ok(sg_scaler_observe(scaler, sg_net_signal(graph), SG_FLOAT32, 8 * 4, 1.0));
        assert_ok(sg_scaler_measure(scaler, step));
        assert_int_equal(sg_scaler_report(scaler)->outcome, SG_STEP_SCALED);
        assert_ok(sg_optim_step(optim, scaler, NULL));
    }
    assert_true(last < 0.7 * first);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_net_destroy(graph);
    free(images);
}

static void calibration_gives_unit_outputs(void **state)
{
    (void)state;
    sg_net_config config = small(4, 32);
    sg_model_options options = sg_model_defaults();
    options.classes = 10;
    options.norm = SG_NORM_NONE;
    config.fuse = false; /* so that each layer's own output is seen */
    float *images = random_images(&config);
    sg_net *graph = open_started("efficientnet_v2_s", &config, &options);
    sg_init_config init = {.kind = SG_INIT_FAN_IN, .seed = 3};
    assert_ok(sg_net_init(graph, &init));
    assert_ok(sg_net_calibrate(graph, images));
    /* The same forward pass again, without dropout. */
    assert_ok(sg_net_forward(graph, images, SG_MODE_EVAL, 0));
    assert_ok(sg_net_observe(graph));
    size_t seen = 0;
    for (size_t i = 0; i < sg_net_layer_count(graph); i++) {
        const sgi_net_op *op = &graph->ops[graph->forward[i].op];
        if (op->weights == SG_NO_NODE)
            continue;
        assert_relative(sg_net_layer_at(graph, i).std, 1.0, 1e-3);
        seen++;
    }
    assert_int_equal(seen, 171);
    assert_int_equal(sg_net_first_not_finite(graph), SG_NOT_FOUND);
    sg_net_destroy(graph);
    free(images);
}

static double spread(const sg_net *graph, const char *name)
{
    const sg_span *span =
        sg_params_at(((sg_net *)graph)->set, sg_params_find(((sg_net *)graph)->set, name));
    sg_moments moments = {0};
    sg_moments_add(&moments, span->value, SG_FLOAT32, span->count, 1.0);
    return sg_moments_std(&moments);
}

static void starts_have_the_spread_they_promise(void **state)
{
    (void)state;
    sg_net_config config = small(1, 32);
    sg_net *graph = open_started("resnet18", &config, NULL);
    /* layer1.0.conv1 follows max pooling of a ReLU; layer2.0.conv2 a ReLU: 128 x 128 x 3 x 3. */
    assert_relative(spread(graph, "layer2.0.conv2.weight"), sqrt(2.0 / (128 * 9)), 0.02);
    assert_relative(spread(graph, "fc.weight"), 1 / sqrt(512.0) / sqrt(3.0), 0.02);
    sg_init_config init = {.kind = SG_INIT_FAN_IN, .seed = 1};
    assert_ok(sg_net_init(graph, &init));
    assert_relative(spread(graph, "layer2.0.conv1.weight"), sqrt(2.0 / (64 * 9)), 0.02);
    assert_relative(spread(graph, "conv1.weight"), 1 / sqrt(3.0 * 49), 0.02);
    init.kind = SG_INIT_FAN_OUT;
    init.gain = 3;
    assert_ok(sg_net_init(graph, &init));
    assert_relative(spread(graph, "layer2.0.conv1.weight"), 3 / sqrt(128.0 * 9), 0.02);
    init.gain = -1;
    assert_status(sg_net_init(graph, &init), SG_ERROR_ARGUMENT);
    assert_relative(sg_act_gain(SG_ACT_RELU), sqrt(2.0), 1e-9);
    assert_relative(sg_act_gain(SG_ACT_SILU), 1.677, 1e-3);
    assert_relative(sg_act_gain(SG_ACT_TANH), 1.593, 1e-3);
    sg_net_destroy(graph);
}

static void a_state_dict_goes_out_and_in(void **state)
{
    (void)state;
    sg_net_config config = small(2, 32);
    sg_model_options options = sg_model_defaults();
    char path[] = "/tmp/sg_net_state_XXXXXX";
    const char *const notes[1][2] = {{"step", "3"}};
    options.classes = 10;
    float *images = random_images(&config);
    close(mkstemp(path));
    sg_net *a = open_started("resnet18", &config, &options);
    sg_net *b = open_started("resnet18", &config, &options);
    sg_init_config init = {.kind = SG_INIT_FAN_IN, .seed = 9};
    assert_ok(sg_net_init(a, &init));
    train_step(a, images, 0, NULL);
    assert_ok(sg_net_save(a, path, notes, 1));
    assert_ok(sg_net_load(b, path, true));
    assert_ok(sg_net_forward(a, images, SG_MODE_EVAL, 0));
    assert_ok(sg_net_forward(b, images, SG_MODE_EVAL, 0));
    assert_memory_equal(sg_net_logits(a), sg_net_logits(b), 20 * sizeof(float));
    sg_net_destroy(b);
    options.classes = 11; /* the classifier no longer fits: nothing is changed */
    b = open_started("resnet18", &config, &options);
    double before = spread(b, "conv1.weight");
    assert_status(sg_net_load(b, path, false), SG_ERROR_MISMATCH);
    assert_non_null(strstr(sg_net_diagnostic(b)->message, "fc.weight"));
    assert_true(spread(b, "conv1.weight") == before);
    assert_status(sg_net_load(b, "/no/such/file", false), SG_ERROR_IO);
    unlink(path);
    sg_net_destroy(a);
    sg_net_destroy(b);
    free(images);
}

/* A weight that is too large: the first layer after it is named. */
static void the_first_layer_out_of_range_is_found(void **state)
{
    (void)state;
    sg_net_config config = small(2, 32);
    sg_model_options options = sg_model_defaults();
    options.classes = 10;
    options.norm = SG_NORM_NONE;
    float *images = random_images(&config);
    sg_net *graph = open_started("resnet18", &config, &options);
    size_t at = sg_params_find(sg_net_params(graph), "layer2.1.conv1.weight");
    const sg_span *span = sg_params_at(sg_net_params(graph), at);
    for (size_t i = 0; i < span->count; i++)
        ((float *)span->value)[i] = 3e38f;
    sg_loss_result result = train_step(graph, images, 0, NULL);
    assert_false(isfinite(result.loss));
    assert_int_equal(result.top1 + result.top5, 0);
    assert_ok(sg_net_observe(graph));
    size_t first = sg_net_first_not_finite(graph);
    assert_int_not_equal(first, SG_NOT_FOUND);
    /* The convolution runs together with its ReLU, and goes by the last name. */
    assert_string_equal(sg_net_layer_at(graph, first).name, "layer2.1.relu1");
    assert_true(sg_net_layer_at(graph, first - 1).finite);
    sg_net_destroy(graph);
    free(images);
}

/* Stochastic depth and dropout keep the mean and drop at the stated rate. */
static void dropping_keeps_the_mean(void **state)
{
    (void)state;
    sg_net_config config = small(2000, 1);
    sg_net *graph;
    config.channels = 16;
    assert_ok(sg_net_create(&graph, &config, NULL));
    sg_net_node x = sg_net_flatten(graph, sg_net_input(graph), "flat");
    sg_net_node a = sg_net_linear(graph, x, "a", 16, true);
    sg_net_node b = sg_net_drop_path(graph, a, "path", 0.25);
    sg_net_node c = sg_net_dropout(graph, b, "drop", 0.4);
    assert_ok(sg_net_compile(graph, c));
    float *images = calloc(2000 * 16, sizeof *images);
    const sg_span *bias = sg_params_at(sg_net_params(graph), 1);
    for (size_t i = 0; i < 16; i++)
        ((float *)bias->value)[i] = 1;
    assert_non_null(images);
    assert_ok(sg_net_forward(graph, images, SG_MODE_TRAIN, 1));
    const float *y = sg_net_logits(graph);
    double mean = 0, zero_rows = 0, zeros = 0;
    for (int n = 0; n < 2000; n++) {
        int row = 0;
        for (int k = 0; k < 16; k++) {
            mean += (double)y[n * 16 + k] / 32000;
            row += y[n * 16 + k] == 0;
        }
        zero_rows += row == 16;
        zeros += row;
    }
    assert_close(mean, 1.0, 0.03);
    assert_close(zero_rows / 2000, 0.25, 0.03);
    assert_close(zeros / 32000, 1 - 0.75 * 0.6, 0.03);
    assert_ok(sg_net_forward(graph, images, SG_MODE_EVAL, 1));
    for (int i = 0; i < 32000; i++)
        assert_true(y[i] == 1);
    free(images);
    sg_net_destroy(graph);
}

static void the_loss_counts_hits_and_part_of_a_batch(void **state)
{
    (void)state;
    sg_net_config config = small(3, 1);
    sg_net *graph;
    config.channels = 8;
    assert_ok(sg_net_create(&graph, &config, NULL));
    sg_net_node x = sg_net_flatten(graph, sg_net_input(graph), "flat");
    assert_ok(sg_net_compile(graph, sg_net_linear(graph, x, "fc", 8, false)));
    const sg_span *weight = sg_params_at(sg_net_params(graph), 0);
    for (size_t i = 0; i < 64; i++)
        ((float *)weight->value)[i] = i % 9 == 0; /* the identity */
    float images[24];
    for (int i = 0; i < 24; i++)
        images[i] = (float)(i % 8);
    sg_loss_result result;
    assert_status(sg_net_loss(graph, (int[]){7, 3, 2}, 3, 0, &result), SG_ERROR_ORDER);
    assert_ok(sg_net_forward(graph, images, SG_MODE_TRAIN, 0));
    assert_ok(sg_net_loss(graph, (int[]){7, 3, 2}, 3, 0, &result));
    assert_int_equal(result.top1, 1);
    assert_int_equal(result.top5, 2);
    double total = 0;
    for (int i = 0; i < 8; i++)
        total += exp(i);
    assert_relative(result.loss, (3 * log(total) - 7 - 3 - 2) / 3, 1e-6);
    assert_ok(sg_net_loss(graph, (int[]){7}, 1, 0, &result));
    assert_relative(result.loss, log(total) - 7, 1e-5);
    for (int i = 8; i < 24; i++)
        assert_true(sg_net_signal(graph)[i] == 0);
    assert_status(sg_net_loss(graph, (int[]){8}, 1, 0, &result), SG_ERROR_ARGUMENT);
    assert_status(sg_net_loss(graph, (int[]){1}, 4, 0, &result), SG_ERROR_ARGUMENT);
    assert_status(sg_net_loss(graph, (int[]){1}, 1, 1, &result), SG_ERROR_ARGUMENT);
    sg_net_destroy(graph);
}

static void mistakes_are_refused_with_a_message(void **state)
{
    (void)state;
    sg_net_config config = small(1, 8);
    sg_net *graph;
    for (int i = 0; i < 9; i++) {
        assert_ok(sg_net_create(&graph, &config, NULL));
        sg_net_node x = sg_net_input(graph);
        sg_conv_options o = {.out = 8, .kernel = 3, .stride = 1, .pad = 1};
        sg_norm_options n = {.kind = SG_NORM_GROUP, .groups = 3};
        if (i == 0)
            o.groups = 2;
        if (i == 1)
            o.kernel = 11;
        sg_net_node c = sg_net_conv(graph, x, i == 2 ? "" : "c", &o);
        if (i == 3)
            c = sg_net_norm(graph, c, "n", &n);
        if (i == 4)
            c = sg_net_linear(graph, c, "l", 4, true);
        if (i == 5)
            c = sg_net_add(graph, c, x, "add");
        if (i == 6)
            c = sg_net_dropout(graph, c, "drop", 1);
        if (i == 7)
            c = sg_net_conv(graph, c, "c", &o); /* the name is taken */
        if (i == 8)
            (void)sg_net_input(graph);
        c = sg_net_global_average(graph, c, "mean");
        sg_status status = sg_net_compile(graph, c);
        assert_status(status, i == 7 ? SG_ERROR_DUPLICATE : SG_ERROR_ARGUMENT);
        assert_true(sg_net_diagnostic(graph)->message[0]);
        assert_status(sg_net_forward(graph, (float[192]){0}, SG_MODE_TRAIN, 0), SG_ERROR_ORDER);
        sg_net_destroy(graph);
    }
    config.batch = 0;
    assert_status(sg_net_create(&graph, &config, NULL), SG_ERROR_ARGUMENT);
    config.batch = 1;
    assert_ok(sg_net_create(&graph, &config, NULL));
    assert_status(sg_net_model(graph, "resnet51", NULL), SG_ERROR_ARGUMENT);
    sg_net_destroy(graph);
    sg_net_destroy(NULL);
    assert_string_equal(sg_model_name(1), "resnet50");
    assert_null(sg_model_name(4));
}

static void bf16_is_refused_where_the_processor_has_none(void **state)
{
    (void)state;
    sg_net_config config = small(1, 32);
    sg_net *graph;
    config.precision = SG_PRECISION_BF16;
    if (sgi_dnn_has_bf16()) {
        graph = open_started("resnet18", &config, NULL);
        sg_net_destroy(graph);
        return;
    }
    assert_status(sg_net_create(&graph, &config, NULL), SG_ERROR_UNSUPPORTED);
    assert_null(graph);
}

/* 1e-20 times 1e-20 is a denormal number: zero inside the engine, and itself outside, before and
 * after. */
static void denormal_numbers_are_zero_inside_only(void **state)
{
    (void)state;
    sg_net_config config = small(1, 4);
    sg_net *graph;
    assert_ok(sg_net_create(&graph, &config, NULL));
    sg_net_node x = sg_net_flatten(graph, sg_net_input(graph), "flat");
    assert_ok(sg_net_compile(graph, sg_net_linear(graph, x, "fc", 8, false)));
    const sg_span *weight = sg_params_at(sg_net_params(graph), 0);
    float images[3 * 4 * 4];
    for (size_t i = 0; i < weight->count; i++)
        ((float *)weight->value)[i] = 1e-20f;
    for (size_t i = 0; i < 3 * 4 * 4; i++)
        images[i] = 1e-20f;
    volatile float small_number = 1e-20f;
    assert_true(small_number * small_number > 0);
    assert_ok(sg_net_forward(graph, images, SG_MODE_EVAL, 0));
#if SG_HAVE_X86_KERNELS
    assert_true(sg_net_logits(graph)[0] == 0);
#endif
    assert_true(small_number * small_number > 0);
    sg_net_destroy(graph);
}

/* Loss and gradients of a network with one set of weights and images, in a precision. */
static float *gradients_in(sg_precision precision, const char *model, sg_norm norm, size_t *count,
                           double *loss)
{
    sg_net_config config = small(4, 64);
    sg_model_options options = sg_model_defaults();
    sg_loss_result result;
    const int labels[4] = {1, 2, 3, 4};
    options.norm = norm;
    options.classes = 10;
    config.precision = SG_PRECISION_FLOAT;
    sg_net *start = open_started(model, &config, &options);
    float *images = random_images(&config);
    assert_ok(sg_net_calibrate(start, images));
    config.precision = precision;
    sg_net *graph = open_model(model, &config, &options);
    *count = 0;
    for (size_t i = 0; i < sg_params_count(sg_net_params(graph)); i++) {
        const sg_span *from = sg_params_at(sg_net_params(start), i);
        const sg_span *to = sg_params_at(sg_net_params(graph), i);
        memcpy(to->value, from->value, from->count * sizeof(float));
        *count += from->count;
    }
    assert_ok(sg_net_forward(graph, images, SG_MODE_TRAIN, 0));
    assert_ok(sg_net_loss(graph, labels, 4, 0, &result));
    assert_ok(sg_net_backward(graph));
    *loss = result.loss;
    float *gradients = malloc(*count * sizeof *gradients), *at = gradients;
    assert_non_null(gradients);
    for (size_t i = 0; i < sg_params_count(sg_net_params(graph)); i++) {
        const sg_span *span = sg_params_at(sg_net_params(graph), i);
        memcpy(at, span->gradient, span->count * sizeof(float));
        at += span->count;
    }
    free(images);
    sg_net_destroy(start);
    sg_net_destroy(graph);
    return gradients;
}

/* bf16 has 8 bits: sums of products of numbers that were rounded to 2^-9 are off by a few percent,
 * in a direction of their own. */
static void bf16_agrees_with_float_to_its_rounding(void **state)
{
    (void)state;
    const char *const models[] = {"resnet18", "efficientnet_v2_s"};
    /* Well-conditioned cases: 40 blocks without a norm, or BatchNorm over 16 values, magnify any
     * rounding to a cosine of 0.8 and 0.5. */
    const sg_norm norms[] = {SG_NORM_NONE, SG_NORM_GROUP};
    if (sg_isa_resolve(SG_ISA_AUTO) != SG_ISA_AVX512)
        skip();
    for (int m = 0; m < 2; m++) {
        size_t count;
        double exact, rounded, dot = 0, a2 = 0, b2 = 0;
        float *a = gradients_in(SG_PRECISION_FLOAT, models[m], norms[m], &count, &exact);
        float *b = gradients_in(SG_PRECISION_BF16_EMULATED, models[m], norms[m], &count, &rounded);
        for (size_t i = 0; i < count; i++) {
            dot += (double)a[i] * (double)b[i];
            a2 += (double)a[i] * (double)a[i];
            b2 += (double)b[i] * (double)b[i];
        }
        double cosine = dot / sqrt(a2 * b2);
        print_message("%s: loss %g and %g in bf16, cosine of the gradients %.5f\n", models[m],
                      exact, rounded, cosine);
        assert_relative(rounded, exact, 0.02);
        assert_true(cosine > 0.98);
        assert_true(cosine < 1 - 1e-7); /* it did multiply in bf16 */
        free(a);
        free(b);
    }
}

static sg_status build_small(const sg_allocator *allocator, void *context)
{
    (void)context;
    sg_net_config config = small(1, 8);
    sg_net *graph;
    sg_status status = sg_net_create(&graph, &config, allocator);
    if (status != SG_OK)
        return status;
    sg_conv_options o = {.out = 8, .kernel = 3, .stride = 1, .pad = 1};
    sg_norm_options n = {.kind = SG_NORM_BATCH, .eps = 1e-5, .momentum = 0.1};
    sg_net_node x = sg_net_conv(graph, sg_net_input(graph), "c", &o);
    sg_net_node y = sg_net_act(graph, sg_net_norm(graph, x, "n", &n), "a", SG_ACT_SILU);
    y = sg_net_max_pool(graph, sg_net_add(graph, y, x, "add"), "pool", 2, 2, 0);
    y = sg_net_dropout(graph, sg_net_global_average(graph, y, "mean"), "drop", 0.5);
    status = sg_net_compile(graph, sg_net_linear(graph, y, "fc", 3, true));
    sg_net_destroy(graph);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    each_allocation_fails(build_small, NULL, 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_have_the_parameters_of_torchvision),
        cmocka_unit_test(norms_can_be_replaced),
        cmocka_unit_test(model_convolutions_have_fast_kernels),
        cmocka_unit_test(a_step_repeats_bit_for_bit),
        cmocka_unit_test(threads_change_rounding_only),
        cmocka_unit_test(winograd_and_direct_agree),
        cmocka_unit_test(an_optimizer_and_a_scaler_train_it),
        cmocka_unit_test(calibration_gives_unit_outputs),
        cmocka_unit_test(starts_have_the_spread_they_promise),
        cmocka_unit_test(a_state_dict_goes_out_and_in),
        cmocka_unit_test(the_first_layer_out_of_range_is_found),
        cmocka_unit_test(dropping_keeps_the_mean),
        cmocka_unit_test(the_loss_counts_hits_and_part_of_a_batch),
        cmocka_unit_test(mistakes_are_refused_with_a_message),
        cmocka_unit_test(denormal_numbers_are_zero_inside_only),
        cmocka_unit_test(bf16_is_refused_where_the_processor_has_none),
        cmocka_unit_test(bf16_agrees_with_float_to_its_rounding),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
