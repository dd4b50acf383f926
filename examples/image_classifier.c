/* Images in a training loop of one's own. A plain network of 12 convolutions, without normalisation
 * or shortcuts, is built on libstablegrad-graph and trained by SGD, first without and then with
 * StableGrad.
 *
 *     image_classifier                              pictures of waves in ten directions, a few
 * seconds image_classifier STEPS                        the same, for so many steps
 *     image_classifier STEPS CLASSES TRAIN TEST     CIFAR-10 or CIFAR-100 (CLASSES: 10 or 100)
 *
 * What the library needs is marked (1) to (5) below. The program exits with 0 when the network that
 * was trained with StableGrad is right on the test images at least twice as often as chance. To
 * build it:
 *
 *     cc image_classifier.c $(pkg-config --cflags --libs stablegrad-graph) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <stablegrad/graph.h>
#include <stablegrad/images.h>
#include <stablegrad/stablegrad.h>

enum { BATCH = 64, SIDE = 32, LAYERS = 12, WIDTH = 16 };

typedef struct images {
    sg_dataset *set;
    sg_loader *loader;
} images;

static void check(sg_status status)
{
    if (status != SG_OK) {
        fprintf(stderr, "image_classifier: %s\n", sg_status_text(status));
        exit(1);
    }
}

/* (1) Open the data. A thread of the loader prepares batches ahead of the step. */
static images open_images(const char *path, int classes, bool training)
{
    images data;
    sg_diagnostic diagnostic = {0};
    sg_status status = sg_dataset_open_cifar(&data.set, &path, 1, classes, NULL, &diagnostic);
    if (status != SG_OK)
        fprintf(stderr, "%s: %s\n", diagnostic.file, diagnostic.message);
    check(status);
    sg_loader_config config = sg_loader_defaults();
    config.batch = BATCH;
    config.shuffle = config.drop_last = training;
    config.view.size = SIDE;
    config.view.zoom = 1; /* images as they are; config.view.augment would crop and flip them */
    check(sg_loader_create(&data.loader, data.set, &config, NULL));
    return data;
}

static void close_images(images *data)
{
    sg_loader_destroy(data->loader);
    sg_dataset_close(data->set);
}

static double uniform(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) / 8388608.0 - 1; /* [-1, 1) */
}

/* A label and 3 x 32 x 32 bytes, as CIFAR-10 has them: waves whose direction is the label, each
 * colour with a phase of its own, under noise. */
static void draw_waves(unsigned char record[1 + 3 * 1024], int label, unsigned *seed)
{
    double across = cos(M_PI * label / 10), down = sin(M_PI * label / 10);
    record[0] = (unsigned char)label;
    for (int colour = 0; colour < 3; colour++) {
        double phase = M_PI * uniform(seed);
        for (int i = 0; i < 1024; i++) {
            int x = i % 32, y = i / 32;
            double wave = sin(across * x + down * y + phase);
            record[1 + colour * 1024 + i] = (unsigned char)(128 + 60 * (wave + uniform(seed)));
        }
    }
}

/* Writes the images to a file, opens that, and removes it: a data set is read whole. */
static images make_waves(int count, unsigned seed, bool training)
{
    char path[] = "/tmp/wavesXXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    check(file ? SG_OK : SG_ERROR_IO);
    for (int i = 0; i < count; i++) {
        unsigned char record[1 + 3 * 1024];
        draw_waves(record, i % 10, &seed);
        fwrite(record, sizeof record, 1, file);
    }
    bool written = !ferror(file);
    check(fclose(file) == 0 && written ? SG_OK : SG_ERROR_IO);
    images data = open_images(path, 10, training);
    unlink(path);
    return data;
}

/* (2) Build the network. Builders pass a failure on: compiling is the one place to check. */
static sg_net *build(int classes)
{
    sg_net_config config = sg_net_defaults();
    config.batch = BATCH;
    config.height = config.width = SIDE;
    sg_net *net;
    check(sg_net_create(&net, &config, NULL));

    sg_net_node x = sg_net_input(net);
    for (int l = 0; l < LAYERS; l++) { /* 16 channels of 16 x 16, 32 of 8 x 8, 64 of 4 x 4 */
        sg_conv_options options = {.kernel = 3, .pad = 1, .bias = true};
        options.out = WIDTH << l / 4;
        options.stride = l % 4 == 0 ? 2 : 1;
        char name[32];
        snprintf(name, sizeof name, "conv%d", l);
        x = sg_net_conv(net, x, name, &options);
        snprintf(name, sizeof name, "relu%d", l);
        x = sg_net_act(net, x, name, SG_ACT_RELU);
    }
    x = sg_net_global_average(net, x, "average");
    x = sg_net_linear(net, x, "classifier", classes, true);
    sg_status status = sg_net_compile(net, x);
    if (status != SG_OK)
        fprintf(stderr, "%s\n", sg_net_diagnostic(net)->message);
    check(status);
    check(sg_net_init(net, &(sg_init_config){.kind = SG_INIT_FAN_IN, .seed = 1}));
    return net;
}

/* (3) Look inside: how large the activations are, layer by layer. */
static void print_activations(sg_net *net)
{
    check(sg_net_observe(net));
    printf("  activation std:");
    for (size_t l = 0; l < sg_net_layer_count(net); l++)
        printf(" %.2g", sg_net_layer_at(net, l).std);
    printf("\n");
}

static void print_step(int step, const sg_loss_result *result, const sg_scale_report *report)
{
    printf("  step %4d   loss %.3f   accuracy %3.0f%%   gradient std by layer, largest / smallest: "
           "%.1f -> %.1f\n",
           step, result->loss, 100.0 * result->top1 / BATCH, report->ratio_raw,
           report->ratio_scaled);
}

static double test_accuracy(sg_net *net, const images *test)
{
    sg_batch batch;
    sg_loss_result result;
    int hits = 0;
    check(sg_loader_start(test->loader, 0, 0));
    for (;;) {
        check(sg_loader_next(test->loader, &batch));
        if (batch.whole == 0) /* no more batches; the last one may have been less than full */
            return (double)hits / (double)sg_dataset_count(test->set);
        check(sg_net_forward(net, batch.images, SG_MODE_EVAL, 0));
        check(sg_net_loss(net, batch.labels, batch.count, 0, &result));
        hits += result.top1;
    }
}

static double train(sg_method method, const images *data, const images *test, int steps)
{
    int classes = sg_dataset_classes(data->set);
    sg_net *net = build(classes);

    /* (4) Make a scaler and an optimizer over the network's parameters. */
    sg_scale_config scale = sg_scale_defaults();
    scale.method = method;
    sg_scaler *scaler;
    check(sg_scaler_create(&scaler, sg_net_params(net), &scale, NULL, NULL));
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_SGD);
    config.rate = 0.01;
    config.momentum = 0.9;
    sg_optim *optim;
    check(sg_optim_create(&optim, sg_net_params(net), &config, NULL, NULL));

    uint64_t epoch = 0;
    check(sg_loader_start(data->loader, epoch, 0));
    for (int step = 0; step < steps; step++) {
        sg_batch batch;
        sg_loss_result result;
        check(sg_loader_next(data->loader, &batch));
        if (batch.whole == 0) { /* the epoch is over */
            check(sg_loader_start(data->loader, ++epoch, 0));
            check(sg_loader_next(data->loader, &batch));
        }
        /* (5) Forward, loss, backward; show the gradient at the output, measure, and step. */
        check(sg_net_forward(net, batch.images, SG_MODE_TRAIN, (uint64_t)step));
        check(sg_net_loss(net, batch.labels, batch.count, 0, &result));
        check(sg_net_backward(net));
        check(sg_scaler_observe(scaler, sg_net_signal(net), SG_FLOAT32, (size_t)(BATCH * classes),
                                1));
        check(sg_scaler_measure(scaler, (uint64_t)step));
        check(sg_optim_step(optim, scaler, NULL));
        if (step % 30 == 0 || step == steps - 1)
            print_step(step, &result, sg_scaler_report(scaler));
    }
    if (steps > 0)
        print_activations(net);
    double accuracy = test_accuracy(net, test);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_net_destroy(net);
    return accuracy;
}

int main(int argc, char **argv)
{
    bool given = argc == 5;
    int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 150;
    int classes = given ? (int)strtol(argv[2], NULL, 10) : 10;
    images data = given ? open_images(argv[3], classes, true) : make_waves(2000, 1, true);
    images test = given ? open_images(argv[4], classes, false) : make_waves(500, 2, false);
    printf("image_classifier  %d convolutions, %zu images of %d classes, SGD with momentum, %d "
           "steps\n",
           LAYERS, sg_dataset_count(data.set), classes, steps);

    printf("\nsgd\n");
    double plain = train(SG_METHOD_NONE, &data, &test, steps);
    printf("\nwith stablegrad\n");
    double scaled = train(SG_METHOD_STABLEGRAD, &data, &test, steps);
    printf("\ntest accuracy     sgd %.1f%%     with stablegrad %.1f%%\n", 100 * plain,
           100 * scaled);
    close_images(&test);
    close_images(&data);
    return scaled >= 2.0 / classes ? 0 : 1;
}
