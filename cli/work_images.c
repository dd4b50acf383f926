/* Tasks on images as work: see work.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/diagnostic.h"
#include "base/list.h"
#include "progress.h"
#include "task/recognise.h"
#include "train/image_subject.h"
#include "work.h"

enum { TIMED_STEPS = 3, TRIAL_SECONDS = 20 };

static sg_status open_task(void **file, const sgi_source *source, const char *const *sets,
                           size_t count, sg_diagnostic *diagnostic)
{
    sgi_task *task;
    sg_status status = sgi_task_read(&task, source->name, source->text, source->size, sets, count,
                                     NULL, diagnostic);
    *file = task;
    return status;
}

static void close_task(void *file)
{
    sgi_task_destroy(file);
}

static const sgi_task_settings *own(const void *file)
{
    return &((const sgi_task *)file)->settings;
}

static const char *name(const void *file)
{
    return own(file)->name;
}

static const char *title(const void *file)
{
    return own(file)->title;
}

static const sgi_training_settings *training(const void *file)
{
    return &own(file)->training;
}

static int64_t steps(const void *file, const json_t *record)
{
    int64_t set = training(file)->steps;
    return set ? set
               : own(file)->epochs * json_integer_value(json_object_get(record, "steps_per_epoch"));
}

static sg_status write_file(const void *file, char **text)
{
    return sgi_task_write(file, text);
}

/* "BatchNorm", "no BatchNorm + StableGrad": the optimizer is the same for all. */
static void describe_method(const void *file, char *text, size_t size)
{
    static const char *const norms[] = {SG_NORM_LIST(SGI_LIST_TITLE)};
    static const char *const methods[] = {SG_METHOD_LIST(SGI_LIST_TITLE)};
    int method = training(file)->method;
    bool some = method != SG_METHOD_NONE;
    snprintf(text, size, "%s%s%s", norms[own(file)->network.norm], some ? " + " : "",
             some ? methods[method] : "");
}

static sg_status subject(sgi_subject **out, void *file, sg_pool *pool, sg_isa isa,
                         sg_diagnostic *diagnostic)
{
    return sgi_image_subject_create(out, file, pool, isa, NULL, diagnostic);
}

static void heading(const void *file, const sgi_subject *trained)
{
    const sgi_task_settings *settings = own(file);
    const sgi_image_trainer *trainer = sgi_image_subject_trainer(trained);
    sgi_image_data data = sgi_image_trainer_data(trainer);
    char network[128], parameters[32], train[32], test[32], all[32];
    sgi_describe_model(&settings->network, network, sizeof network);
    format_thousands(sg_net_information(sgi_image_trainer_network(trainer)).parameters, parameters,
                     sizeof parameters);
    format_thousands(data.train_images, train, sizeof train);
    format_thousands(data.test_images, test, sizeof test);
    format_thousands(trained->steps, all, sizeof all);
    printf("%s  %s, %s parameters\n", settings->name, network, parameters);
    printf("%s + %s images of %d classes, %" PRId64 " px; %s steps of %" PRId64 " images, %" PRIu64
           " an epoch\n",
           train, test, data.classes, settings->data.size, all, settings->batch,
           sgi_image_trainer_per_epoch(trainer));
}

/* ---- check -------------------------------------------------------------------------------- */

/* What a few steps showed. */
typedef struct trial {
    double seconds;           /* of the fastest step but the first; of the first if `rough` */
    double first;             /* of the first step, which is slower than the others */
    bool rough;               /* the first step took so long that it was the only one */
    double waited;            /* that all steps but the first waited for the loader */
    double loss;              /* at the first step */
    double largest, smallest; /* standard deviations of a layer's output at the first step */
} trial;

/* Takes a first step, and times a few more while they fit into TRIAL_SECONDS. Where a step takes
 * long, the first one is the estimate. Each step is announced on stderr. */
static sg_status try_steps(sgi_image_trainer *trainer, trial *t, sg_diagnostic *diagnostic)
{
    const sg_net *net = sgi_image_trainer_network(trainer);
    *t = (trial){.seconds = INFINITY, .smallest = INFINITY};
    double start = sgi_seconds();
    for (int i = 0; i <= TIMED_STEPS; i++) {
        sgi_image_step step;
        double began = sgi_seconds();
        if (i > 0 && (began - start) * (1 + 1.0 / i) > TRIAL_SECONDS)
            break;
        fprintf(stderr, "timing step %d of %d of %d images\n", i + 1, TIMED_STEPS + 1,
                sg_net_configuration(net)->batch);
        sg_status status = sgi_image_trainer_step(trainer, i ? INFINITY : 0, &step, diagnostic);
        if (status != SG_OK)
            return status;
        if (i > 0) {
            t->seconds = fmin(t->seconds, sgi_seconds() - began);
            t->waited += step.waited;
            continue;
        }
        t->loss = step.loss.loss;
        t->first = sgi_seconds() - began;
        for (size_t k = 0; k < sg_net_layer_count(net); k++) {
            sg_layer_report layer = sg_net_layer_at(net, k);
            t->largest = fmax(t->largest, layer.finite ? layer.std : INFINITY);
            t->smallest = fmin(t->smallest, layer.std);
        }
    }
    t->rough = !isfinite(t->seconds);
    t->seconds = t->rough ? t->first : t->seconds;
    return SG_OK;
}

static void print_trial(const sgi_subject *trained, const trial *t, int threads)
{
    const sgi_image_trainer *trainer = sgi_image_subject_trainer(trained);
    sg_net_info info = sg_net_information(sgi_image_trainer_network(trainer));
    const sg_net_config *config = sg_net_configuration(sgi_image_trainer_network(trainer));
    char total[32];
    format_duration(t->seconds * (double)trained->steps, total, sizeof total);
    printf(
        "\nmemory         %.0f MB activations, %.0f MB weights, gradients and optimizer, %.0f MB "
        "work\n",
        1e-6 * (double)info.activation_bytes,
        1e-6 * (double)sgi_image_trainer_parameter_bytes(trainer), 1e-6 * (double)info.work_bytes);
    printf("time per step  %.3g s on %d thread%s, %.1f images/s%s\n", t->seconds, threads,
           threads == 1 ? "" : "s", config->batch / t->seconds,
           t->rough                       ? ", by the first step, which is slower"
           : t->waited > 0.1 * t->seconds ? ", waiting for images"
                                          : "");
    printf("whole run      about %s for %" PRIu64 " steps, without evaluation\n", total,
           trained->steps);
    printf("start          loss %.4g (guessing: %.4g), layer outputs of std %.1e to %.1e\n",
           t->loss, log(sg_net_classes(sgi_image_trainer_network(trainer))), t->smallest,
           t->largest);
}

static void print_json_trial(const sgi_subject *trained, const trial *t)
{
    const sgi_image_trainer *trainer = sgi_image_subject_trainer(trained);
    sg_net_info info = sg_net_information(sgi_image_trainer_network(trainer));
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(trained->name));
    json_object_set_new(object, "parameters", json_integer((json_int_t)info.parameters));
    json_object_set_new(object, "activation_bytes",
                        json_integer((json_int_t)info.activation_bytes));
    json_object_set_new(object, "seconds_per_step", sgi_json_number(t->seconds));
    json_object_set_new(object, "loss", sgi_json_number(t->loss));
    json_object_set_new(object, "largest_std", sgi_json_number(t->largest));
    json_object_set_new(object, "smallest_std", sgi_json_number(t->smallest));
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
    fputc('\n', stdout);
    json_decref(object);
}

static int check(void *file, const cli_arguments *arguments)
{
    sg_diagnostic diagnostic = {0};
    sgi_subject *trained = NULL;
    trial t;
    sg_pool *pool = open_pool(arguments);
    if (!pool)
        return EXIT_RUN_FAILED;
    sg_status status = subject(&trained, file, pool, SG_ISA_AUTO, &diagnostic);
    if (status == SG_OK) {
        if (!arguments->json)
            heading(file, trained);
        fflush(stdout);
        status = try_steps(sgi_image_subject_trainer(trained), &t, &diagnostic);
    }
    if (status != SG_OK)
        tell(&diagnostic);
    else if (arguments->json)
        print_json_trial(trained, &t);
    else
        print_trial(trained, &t, sg_pool_threads(pool));
    sgi_subject_destroy(trained);
    sg_pool_destroy(pool);
    return exit_code_of_input(status);
}

/* ---- eval --------------------------------------------------------------------------------- */

static void print_score(const sgi_image_score *score, bool json)
{
    if (!json) {
        printf("test images  %" PRIu64 "\ntop-1        %.2f %%\ntop-5        %.2f %%\nloss         "
               "%.4g\n",
               score->images, 100 * score->top1, 100 * score->top5, score->loss);
        return;
    }
    json_t *object = json_object();
    json_object_set_new(object, "images", json_integer((json_int_t)score->images));
    json_object_set_new(object, "top1", sgi_json_number(score->top1));
    json_object_set_new(object, "top5", sgi_json_number(score->top5));
    json_object_set_new(object, "loss", sgi_json_number(score->loss));
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', stdout);
    json_decref(object);
}

static int eval(void *file, const cli_arguments *arguments, const char *weights)
{
    sg_diagnostic diagnostic = {0};
    sgi_image_trainer *trainer = NULL;
    sgi_image_score score;
    sg_pool *pool = open_pool(arguments);
    if (!pool)
        return EXIT_RUN_FAILED;
    sg_status status =
        sgi_image_trainer_create(&trainer, file, pool, SG_ISA_AUTO, NULL, &diagnostic);
    if (status == SG_OK) {
        sg_net *net = sgi_image_trainer_network(trainer);
        status = sg_net_load(net, weights, false);
        if (status != SG_OK)
            diagnostic = *sg_net_diagnostic(net);
    }
    if (status == SG_OK)
        status = sgi_image_trainer_evaluate(trainer, &score, &diagnostic);
    if (status == SG_OK)
        print_score(&score, arguments->json);
    else
        tell(&diagnostic);
    sgi_image_trainer_destroy(trainer);
    sg_pool_destroy(pool);
    return exit_code_of_input(status);
}

/* What an option asks for that a run on images does not have; NULL: nothing. */
static const char *of_points(const cli_arguments *a)
{
    return a->grid        ? "--grid"
           : a->points    ? "--points"
           : a->fields    ? "--fields"
           : a->residuals ? "--residuals"
           : a->precision ? "--precision"
           : a->out       ? "--out"
                          : NULL;
}

static int eval_images(const cli_arguments *arguments, const char *path, const char *weights)
{
    int code;
    work w;
    if (of_points(arguments)) {
        complain("%s does not apply: %s is a task on images, and eval counts its hits on the test "
                 "images",
                 of_points(arguments), path);
        return EXIT_BAD_INPUT;
    }
    if (!open_work(&w, arguments, path, NULL, 0, &code))
        return code;
    code = eval(w.file, arguments, weights);
    close_work(&w);
    return code;
}

/* ---- compare ------------------------------------------------------------------------------ */

static const variant variants[] = {
    {"batchnorm", {"network.norm=batch", "training.stablegrad.method=none"}, 2},
    {"plain", {"network.norm=none", "training.stablegrad.method=none"}, 2},
    {"stablegrad", {"network.norm=none", "training.stablegrad.method=stablegrad"}, 2},
    {"sign", {"network.norm=none", "training.stablegrad.method=sign"}, 2},
    {"group", {"network.norm=group", "training.stablegrad.method=none"}, 2},
    {"layer", {"network.norm=layer", "training.stablegrad.method=none"}, 2},
};

static bool recognise(const char *text, size_t size)
{
    return sgi_task_recognise(text, size, NULL);
}

const work_kind image_work = {
    .recognise = recognise,
    .open = open_task,
    .close = close_task,
    .name = name,
    .title = title,
    .training = training,
    .steps = steps,
    .write = write_file,
    .method = describe_method,
    .subject = subject,
    .heading = heading,
    .check = check,
    .eval = eval_images,
    .no_field = "is a task on images and has no field on points; its weights.safetensors loads in "
                "PyTorch as it is, and stablegrad eval RUN counts its hits",
    .waits = true,
    .variants = variants,
    .variant_count = sizeof variants / sizeof variants[0],
    .usual = "batchnorm,plain,stablegrad,sign",
};
