/* Lifelike folders of image runs: see folders_images.h. */
#include "support/folders_images.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/folders.h"
#include "support/support.h"

enum { LOG_EVERY = 10, OBSERVE_EVERY = 50, FAILS_AT = 411, NOT_FINITE_AT = 392 };

typedef struct shape_of {
    const char *name, *label, *norm, *method;
    double top1; /* where it ends */
} shape_of;

static const shape_of shapes[] = {
    [IMAGES_BATCHNORM] = {"batchnorm", "BatchNorm", "batch", "none", 0.412},
    [IMAGES_PLAIN] = {"plain", "no BatchNorm", "none", "none", 0.01},
    [IMAGES_STABLEGRAD] = {"stablegrad", "no BatchNorm + StableGrad", "none", "stablegrad", 0.351},
    [IMAGES_SIGN] = {"sign", "no BatchNorm + sign", "none", "sign", 0.01},
};

/* The name of layer l of EfficientNetV2-S, torchvision's. */
static void layer_name(int l, char *name, size_t size)
{
    static const int repeats[] = {2, 4, 4, 6, 9, 15}, convs[] = {1, 2, 2, 5, 5, 5};
    static const char *const parts[] = {"block.0.0", "block.1.0", "block.2.fc1", "block.2.fc2",
                                        "block.3.0"};
    if (l == 0 || l >= IMAGES_LAYERS - 2) {
        (void)snprintf(name, size, "%s",
                       l == 0                   ? "features.0.0"
                       : l == IMAGES_LAYERS - 2 ? "features.7.0"
                                                : "classifier.1");
        return;
    }
    int at = l - 1, stage = 0;
    while (at >= repeats[stage] * convs[stage]) {
        at -= repeats[stage] * convs[stage];
        stage++;
    }
    (void)snprintf(name, size, "features.%d.%d.%s", stage + 1, at / convs[stage],
                   parts[at % convs[stage]]);
}

/* A reproducible number in -1 .. 1. */
static double noise(int seed, int step, int stream)
{
    return 2 * folder_noise(seed, step, stream) - 1;
}

/* How far the scale has run away at a step: decades at the last layer. */
static double runaway(image_kind kind, int step)
{
    if (kind == IMAGES_PLAIN)
        return 34 * pow(step / (double)NOT_FINITE_AT, 1.6);
    if (kind == IMAGES_STABLEGRAD)
        return step < 64 ? 4.5 * step / 64 : 4.5 * exp(-(step - 64) / 260.0);
    return 0;
}

static double loss_at(image_kind kind, int seed, int step)
{
    double share = step / (double)IMAGES_STEPS, wobble = 1 + 0.06 * noise(seed, step, 1);
    if (kind == IMAGES_PLAIN)
        return step >= NOT_FINITE_AT ? INFINITY : 4.9 * pow(10, 0.5 * runaway(kind, step)) * wobble;
    if (kind == IMAGES_SIGN)
        return 4.605 * (1 + 0.2 * exp(-step / 40.0)) + 0.004 * noise(seed, step, 1);
    double fall =
        kind == IMAGES_BATCHNORM ? 4.7 - 2.6 * pow(share, 0.45) : 4.8 - 2.2 * pow(share, 0.6);
    return fall * pow(10, 0.9 * runaway(kind, step)) * wobble;
}

static double top1_at(image_kind kind, int seed, int step)
{
    double end = shapes[kind].top1, share = step / (double)IMAGES_STEPS;
    if (end < 0.02)
        return 0.01;
    double late = kind == IMAGES_STABLEGRAD ? fmax(0, share - 0.15) / 0.85 : share;
    /* The last epoch is not the best one. */
    double turn = share > 0.95 ? -0.04 : 0;
    return 0.01 + (end + 0.03) * pow(late, 0.7) + turn + 0.006 * noise(seed, step, 2) * late;
}

static double top5_of(double top1)
{
    return 1 - pow(1 - top1, 3) + 0.02;
}

static void put_number(FILE *file, const char *key, double value)
{
    if (isfinite(value))
        fprintf(file, "\"%s\":%.6g", key, value);
    else
        fprintf(file, "\"%s\":null", key);
}

static void put_layers(FILE *file, image_kind kind, int seed, int step)
{
    double c = 1.2e-3 / (1 + step / 2000.0);
    bool scaled = kind == IMAGES_STABLEGRAD, lost = kind == IMAGES_PLAIN && step >= NOT_FINITE_AT;
    fprintf(file, "\"layers\":[");
    for (int l = 0; l < IMAGES_LAYERS; l++) {
        char name[64];
        double depth = l / (double)(IMAGES_LAYERS - 1);
        double raw = 1e-4 * pow(10, (kind == IMAGES_BATCHNORM ? 0.6 : 3.2) * (depth - 0.5) +
                                        0.12 * runaway(kind, step) + 0.3 * noise(1, 0, 400 + l) +
                                        0.1 * noise(seed, step, 700 + l));
        if (lost)
            raw = INFINITY;
        layer_name(l, name, sizeof name);
        fprintf(file, "%s{\"name\":\"%s\",", l ? "," : "", name);
        put_number(file, "std", raw);
        fprintf(file, ",\"factor\":%.6g,", scaled ? c / raw : 1);
        put_number(file, "scaled", scaled ? c : raw);
        fprintf(file, "}");
    }
    fprintf(file, "]");
}

static void put_activations(FILE *file, image_kind kind, int seed, int step)
{
    fprintf(file, ",\"activations\":[");
    for (int l = 0; l < IMAGES_LAYERS; l++) {
        char name[64];
        double depth = l / (double)(IMAGES_LAYERS - 1);
        double decades = runaway(kind, step) * depth * depth + 0.15 * noise(1, 0, 1000 + l) +
                         0.05 * noise(seed, step, 1300 + l);
        if (kind == IMAGES_SIGN)
            decades -= 7 * depth * (1 - exp(-step / 250.0));
        double value = decades > 37 || (kind == IMAGES_PLAIN && step >= NOT_FINITE_AT && l > 120)
                           ? INFINITY
                           : pow(10, decades);
        layer_name(l, name, sizeof name);
        fprintf(file, "%s{\"name\":\"%s\",\"mean\":%.4g,", l ? "," : "", name, 0.01 * l);
        put_number(file, "std", value);
        fprintf(file, "}");
    }
    fprintf(file, "]");
}

static void put_training(FILE *file, image_kind kind, int seed, int step)
{
    double loss = loss_at(kind, seed, step), seconds = step * 0.21;
    double rate = 1e-3 * 0.5 * (1 + cos(3.14159265 * step / IMAGES_STEPS));
    double top1 = top1_at(kind, seed, step) * 0.95;
    bool lost = !isfinite(loss), stablegrad = kind == IMAGES_STABLEGRAD;
    fprintf(file, "{\"step\":%d,\"seconds\":%.2f,\"rate\":%.6g,", step, seconds, rate);
    put_number(file, "loss", loss);
    fprintf(file, ",\"terms\":{");
    put_number(file, "cross_entropy", loss);
    fprintf(file, "},\"reference\":%.6g,\"outcome\":\"%s\",", stablegrad ? 1.2e-3 : 0,
            lost                                ? "not finite"
            : stablegrad || kind == IMAGES_SIGN ? "scaled"
                                                : "inactive");
    put_number(file, "ratio_raw", lost ? INFINITY : 1600 * (1 + 0.3 * noise(seed, step, 5)));
    fprintf(file, ",");
    put_number(file, "ratio_scaled", lost ? INFINITY : stablegrad ? 1.0 : 1600);
    fprintf(file, ",\"skipped\":%d,", lost ? step - NOT_FINITE_AT + 1 : 0);
    put_layers(file, kind, seed, step);
    fprintf(file,
            ",\"epoch\":%.4f,\"top1\":%.4f,\"top5\":%.4f,\"images_per_second\":%.1f,"
            "\"waited\":0.01",
            step / (double)IMAGES_EPOCH, top1, top5_of(top1), 300.0);
    if (step % OBSERVE_EVERY == 0)
        put_activations(file, kind, seed, step);
    fprintf(file, "}\n");
}

static void write_metrics(const char *folder, image_kind kind, int seed, int done)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int step = 1; step <= done; step++) {
        if (step % LOG_EVERY == 0 || step == done)
            put_training(file, kind, seed, step);
        if (step % IMAGES_EPOCH != 0)
            continue;
        double top1 = top1_at(kind, seed, step);
        fprintf(file,
                "{\"step\":%d,\"seconds\":%.2f,\"epoch\":%.1f,\"validation\":{\"loss\":%.6g,"
                "\"top1\":%.4f,\"top5\":%.4f,\"images\":5000}}\n",
                step, step * 0.21, step / (double)IMAGES_EPOCH, loss_at(kind, seed, step) * 1.03,
                top1, top1 > 0.01 ? top5_of(top1) : 0.05);
    }
    assert_int_equal(fclose(file), 0);
}

static const char *events_of(image_kind kind, int done)
{
    if (kind == IMAGES_PLAIN && done >= NOT_FINITE_AT)
        return "{\"kind\":\"exploded\",\"step\":58,\"layer\":\"features.6.13.block.3.0\","
               "\"value\":31.5,\"text\":\"step 58: the loss passed 461\"},"
               "{\"kind\":\"not_finite\",\"step\":392,\"layer\":\"features.6.4.block.0.0\","
               "\"pass\":\"forward\",\"text\":\"step 392: not finite\"}";
    if (kind == IMAGES_STABLEGRAD && done >= 700)
        return "{\"kind\":\"exploded\",\"step\":64,\"layer\":\"features.6.14.block.3.0\","
               "\"value\":3.1e4},{\"kind\":\"recovered\",\"step\":700}";
    if (kind == IMAGES_SIGN && done >= IMAGES_EPOCH)
        return "{\"kind\":\"constant\",\"step\":312,\"class\":17,\"layer\":\"features.7.0\"}";
    return "";
}

static void write_info(const char *folder, image_kind kind, int seed, int done)
{
    const shape_of *s = &shapes[kind];
    char path[4096];
    bool failed = kind == IMAGES_PLAIN && done >= FAILS_AT;
    (void)snprintf(path, sizeof path, "%s/run.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\":1,\"task\":\"images\",\"name\":\"cifar100-efficientnet\","
            "\"title\":\"EfficientNetV2-S on CIFAR-100\",\"variant\":\"%s\",\"label\":\"%s\","
            "\"seed\":%d,\"threads\":2,\"version\":\"0.1.0\",\"kernels\":\"avx512\",",
            s->name, s->label, seed);
    fprintf(file,
            "\"machine\":\"Some CPU @ 2.60GHz\",\"command\":\"stablegrad compare "
            "problems/cifar100-efficientnet.yaml\",\"started\":\"2026-11-15T21:00:00Z\","
            "\"seconds\":%.1f,\"steps_done\":%d,\"steps\":%d,\"status\":\"%s\",\"reason\":\"%s\",",
            done * 0.21, done, IMAGES_STEPS,
            failed                ? "failed"
            : done < IMAGES_STEPS ? "interrupted"
                                  : "complete",
            failed ? "20 steps skipped in a row" : "");
    fprintf(file,
            "\"parameters\":20305588,\"network\":\"efficientnet_v2_s, norm %s\","
            "\"model\":\"efficientnet_v2_s\",\"norm\":\"%s\",\"precision\":\"float\","
            "\"start\":\"default, calibrated\",\"terms\":[\"cross_entropy\"],",
            s->norm, s->norm);
    fprintf(file, "\"data\":{\"kind\":\"cifar100\",\"train_images\":20000,\"test_images\":5000,"
                  "\"classes\":100,\"size\":64},\"batch\":64,\"epochs\":10,"
                  "\"steps_per_epoch\":312,\"memory\":{\"activations\":912000000,"
                  "\"work\":64000000,\"parameters\":324889408},\"unread_images\":0,");
    fprintf(file,
            "\"images_per_second\":%.1f,\"stablegrad\":{\"method\":\"%s\",\"reference\":"
            "\"output\",\"blocks\":\"tensor\",\"from\":0,\"until\":null},\"adam_eps\":1e-8,"
            "\"events\":[%s]}\n",
            304.8, s->method, events_of(kind, done));
    assert_int_equal(fclose(file), 0);
}

void folder_image_run(const char *folder, image_kind kind, int seed, int steps_done)
{
    if (kind == IMAGES_PLAIN && steps_done > FAILS_AT)
        steps_done = FAILS_AT;
    assert_int_equal(mkdir(folder, 0777), 0);
    write_info(folder, kind, seed, steps_done);
    write_metrics(folder, kind, seed, steps_done);
    folder_put(folder, "problem.yaml",
               "name: cifar100-efficientnet\ndata:\n  kind: cifar100\n  size: 64\n"
               "network:\n  model: efficientnet_v2_s\ntraining:\n  epochs: 10\n");
}

void folder_image_comparison(const char *folder, int seeds)
{
    char path[4096], text[2048] = "{\"name\":\"cifar100-efficientnet\",\"variants\":[";
    assert_int_equal(mkdir(folder, 0777), 0);
    for (image_kind kind = IMAGES_BATCHNORM; kind <= IMAGES_SIGN; kind++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "%s{\"name\":\"%s\",\"label\":\"%s\",\"runs\":[", kind ? "," : "",
                       shapes[kind].name, shapes[kind].label);
        for (int i = 1; i <= seeds; i++) {
            (void)snprintf(path, sizeof path, "%s/%s-%d", folder, shapes[kind].name, i);
            folder_image_run(path, kind, i, IMAGES_STEPS);
            used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, "%s\"%s-%d\"", i > 1 ? "," : "",
                           shapes[kind].name, i);
        }
        used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "]}");
    }
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "]}\n");
    folder_put(folder, "compare.json", text);
}
