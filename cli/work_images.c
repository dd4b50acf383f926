/* Tasks on images as work: see work.h. */
#include <inttypes.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/list.h"
#include "commands/image_check.h"
#include "ranks.h"
#include "task/recognise.h"
#include "train/image_subject.h"
#include "work.h"

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
    return sgi_image_subject_create(out, file, pool, our_ranks(), isa, NULL, diagnostic);
}

static void heading(const void *file, const sgi_subject *trained)
{
    print_task(own(file), sgi_image_subject_trainer(trained));
}

static int check(void *file, const cli_arguments *arguments)
{
    return check_images(file, arguments);
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
    print_line(object, 9);
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
        sgi_image_trainer_create(&trainer, file, pool, NULL, SG_ISA_AUTO, NULL, &diagnostic);
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
    {"znorm", {"network.norm=none", "training.stablegrad.method=znorm"}, 2},
    {"agc", {"network.norm=none", "training.stablegrad.method=agc"}, 2},
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
    .keys = &sgi_task_options,
    .variants = variants,
    .variant_count = sizeof variants / sizeof variants[0],
    .usual = "batchnorm,plain,stablegrad,sign",
};
