/* `stablegrad check` of a task on images: the network, its memory, and what a step costs.
 *
 * A step of the whole batch may take minutes. So a step of a few images is timed first, and the
 * whole batch only if it fits into the time that there is; otherwise as many images as fit, and the
 * time is carried over to the batch. */
#include "commands/image_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress.h"

enum { TIMED_STEPS = 3, FEW_IMAGES = 4 };

/* Steps that a network of another batch costs at least: the calibration of its start and a first
 * step, which touches the memory, and one to time. */
static const double least_steps = 3;

/* What a few steps showed. */
typedef struct trial {
    int images;               /* of each step */
    double seconds;           /* of the fastest step but the first */
    double waited;            /* that all steps but the first waited for the loader */
    double loss;              /* at the first step */
    double largest, smallest; /* standard deviations of a layer's output at the first step */
} trial;

void print_task(const sgi_task_settings *settings, const sgi_image_trainer *trainer)
{
    sgi_image_data data = sgi_image_trainer_data(trainer);
    char network[128], parameters[32], train[32], test[32], all[32];
    sgi_describe_model(&settings->network, network, sizeof network);
    format_thousands(sg_net_information(sgi_image_trainer_network(trainer)).parameters, parameters,
                     sizeof parameters);
    format_thousands(data.train_images, train, sizeof train);
    format_thousands(data.test_images, test, sizeof test);
    format_thousands(sgi_image_trainer_steps(trainer), all, sizeof all);
    printf("%s  %s, %s parameters\n", settings->name, network, parameters);
    printf("%s + %s images of %d classes, %" PRId64 " px; %s steps of %" PRId64 " images, %" PRIu64
           " an epoch\n",
           train, test, data.classes, settings->data.size, all, settings->batch,
           sgi_image_trainer_per_epoch(trainer));
}

/* ---- Timing ------------------------------------------------------------------------------- */

/* What is being done, on stderr: a line that is written over on a terminal, lines elsewhere. */
__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    bool terminal = isatty(STDERR_FILENO);
    va_list list;
    va_start(list, format);
    fputs(terminal ? "\r\033[K" : "", stderr);
    vfprintf(stderr, format, list);
    fputs(terminal ? "" : "\n", stderr);
    fflush(stderr);
    va_end(list);
}

static void end_notes(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static void look_inside(const sg_net *net, trial *t)
{
    for (size_t k = 0; k < sg_net_layer_count(net); k++) {
        sg_layer_report layer = sg_net_layer_at(net, k);
        t->largest = fmax(t->largest, layer.finite ? layer.std : INFINITY);
        t->smallest = fmin(t->smallest, layer.std);
    }
}

/* A first step, one to time, and a few more while they fit. */
static sg_status time_steps(sgi_image_trainer *trainer, double until, trial *t,
                            sg_diagnostic *diagnostic)
{
    const sg_net *net = sgi_image_trainer_network(trainer);
    double start = sgi_seconds();
    *t = (trial){
        .images = sg_net_configuration(net)->batch, .seconds = INFINITY, .smallest = INFINITY};
    for (int i = 0; i <= TIMED_STEPS; i++) {
        sgi_image_step step;
        double began = sgi_seconds();
        if (i > 1 && began + (began - start) / i > until)
            break;
        note("timing step %d of %d of %d images", i + 1, TIMED_STEPS + 1, t->images);
        sg_status status = sgi_image_trainer_step(trainer, i ? INFINITY : 0, &step, diagnostic);
        if (status != SG_OK)
            return status;
        if (i > 0) {
            t->seconds = fmin(t->seconds, sgi_seconds() - began);
            t->waited += step.waited;
            continue;
        }
        t->loss = step.loss.loss;
        look_inside(net, t);
    }
    return SG_OK;
}

/* The trainer of the task with steps of `images` images in the place of *trainer, and its steps. */
static sg_status try_images(sgi_image_trainer **trainer, const sgi_task *task, int images,
                            sg_pool *pool, double until, trial *t, sg_diagnostic *diagnostic)
{
    sgi_image_trainer_destroy(*trainer);
    note("setting up steps of %d images", images);
    sg_status status = sgi_image_trainer_create_small(trainer, task, images, pool, NULL,
                                                      SG_ISA_AUTO, NULL, diagnostic);
    return status == SG_OK ? time_steps(*trainer, until, t, diagnostic) : status;
}

/* Seconds of a step of `batch` images by those of two smaller ones: a part of a step, as that of
 * the optimizer, does not grow with the images. Times are noisy, so at least half is taken to. */
static double carry_over(const trial *small, const trial *large, int batch)
{
    double all = large->seconds / large->images;
    double more = (large->seconds - small->seconds) / (large->images - small->images);
    return large->seconds + fmin(fmax(more, all / 2), all) * (batch - large->images);
}

/* The last of the trainers that were tried is left in *trainer. */
static sg_status try_steps(sgi_image_trainer **trainer, const sgi_task *task, sg_pool *pool,
                           double seconds, trial *t, sg_diagnostic *diagnostic)
{
    int batch = (int)task->settings.batch, few = batch < FEW_IMAGES ? batch : FEW_IMAGES;
    double start = sgi_seconds(), until = start + seconds;
    double first = few == batch ? until : start + seconds / 4;
    sg_status status = try_images(trainer, task, few, pool, first, t, diagnostic);
    if (status != SG_OK || few == batch)
        return status;
    trial small = *t;
    double fit = (until - sgi_seconds()) / (least_steps * t->seconds / few);
    int more = fit < batch ? (int)fit : batch;
    if (more >= 2 * few) {
        status = try_images(trainer, task, more, pool, until, t, diagnostic);
        t->seconds = status == SG_OK ? carry_over(&small, t, batch) : 0;
    } else {
        t->seconds *= (double)batch / few;
    }
    return status;
}

/* ---- Telling ------------------------------------------------------------------------------ */

static void print_time(const trial *t, int batch, int threads)
{
    bool fewer = t->images < batch;
    printf("time per step  %s%.3g s on %d thread%s, %.1f images/s", fewer ? "about " : "",
           t->seconds, threads, threads == 1 ? "" : "s", batch / t->seconds);
    if (fewer)
        printf(", estimated from steps of %d images\n", t->images);
    else
        printf("%s\n", t->waited > 0.1 * t->seconds ? ", waiting for images" : "");
}

/* Activations grow with the images; of a batch that was not set up they are estimated. */
static double activation_bytes(const sgi_image_trainer *trainer, const trial *t, int64_t batch)
{
    sg_net_info info = sg_net_information(sgi_image_trainer_network(trainer));
    return (double)info.activation_bytes * ((double)batch / t->images);
}

static void print_trial(const sgi_task_settings *settings, const sgi_image_trainer *trainer,
                        const trial *t, int threads)
{
    sg_net *net = sgi_image_trainer_network(trainer);
    uint64_t steps = sgi_image_trainer_steps(trainer);
    double activations = activation_bytes(trainer, t, settings->batch);
    double parameters = (double)sgi_image_trainer_parameter_bytes(trainer);
    double work = (double)sg_net_information(net).work_bytes;
    bool fewer = t->images < settings->batch;
    double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char total[32];
    printf("\nmemory         %s%.0f MB activations, %.0f MB weights, gradients and optimizer",
           fewer ? "about " : "", 1e-6 * activations, 1e-6 * parameters);
    if (!fewer)
        printf(", %.0f MB work", 1e-6 * work);
    fputc('\n', stdout);
    if (activations + parameters + work > machine)
        printf("               more than the %.0f MB of this machine: a smaller batch helps\n",
               1e-6 * machine);
    print_time(t, (int)settings->batch, threads);
    format_estimate(t->seconds * (double)steps, total, sizeof total);
    printf("whole run      %s for %" PRIu64 " steps, without evaluation\n", total, steps);
    printf("start          loss %.4g (guessing: %.4g), layer outputs of std %.1e to %.1e\n",
           t->loss, log(sg_net_classes(net)), t->smallest, t->largest);
}

static void print_json_trial(const sgi_task_settings *settings, const sgi_image_trainer *trainer,
                             const trial *t)
{
    sg_net_info info = sg_net_information(sgi_image_trainer_network(trainer));
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(settings->name));
    json_object_set_new(object, "parameters", json_integer((json_int_t)info.parameters));
    json_object_set_new(
        object, "activation_bytes",
        json_integer((json_int_t)llround(activation_bytes(trainer, t, settings->batch))));
    json_object_set_new(object, "seconds_per_step", sgi_json_number(t->seconds));
    json_object_set_new(object, "timed_images", json_integer(t->images));
    json_object_set_new(object, "loss", sgi_json_number(t->loss));
    json_object_set_new(object, "largest_std", sgi_json_number(t->largest));
    json_object_set_new(object, "smallest_std", sgi_json_number(t->smallest));
    print_line(object, 6);
}

int check_images(const sgi_task *task, const cli_arguments *arguments)
{
    const sgi_task_settings *settings = &task->settings;
    sg_diagnostic diagnostic = {0};
    sgi_image_trainer *trainer = NULL;
    trial t;
    char remark[240];
    sg_pool *pool = open_pool(arguments);
    if (!pool)
        return EXIT_RUN_FAILED;
    if (sgi_training_remark(&settings->training, remark, sizeof remark))
        warn("%s", remark);
    sg_status status = try_steps(&trainer, task, pool, (double)arguments->seconds, &t, &diagnostic);
    end_notes();
    if (status != SG_OK) {
        tell(&diagnostic);
    } else if (arguments->json) {
        print_json_trial(settings, trainer, &t);
    } else {
        print_task(settings, trainer);
        print_trial(settings, trainer, &t, sg_pool_threads(pool));
    }
    sgi_image_trainer_destroy(trainer);
    sg_pool_destroy(pool);
    return exit_code_of_input(status);
}
