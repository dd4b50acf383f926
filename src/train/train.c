/* A run from start to end: see train.h. */
#include "train/train.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/memory.h"
#include "train/errors.h"
#include "train/field.h"
#include "train/record.h"

/* Everything a run carries along. */
typedef struct run {
    const sg_train_config *config;
    const sg_allocator *allocator;
    sg_train_result *result;
    sg_message *message;
    sg_trainer *trainer;
    sg_errors *errors; /* NULL without a reference */
    sg_metrics metrics;
    sg_progress progress;
    double began;          /* seconds on the clock */
    double seconds_before; /* of training before this call */
    uint64_t skipped_in_row;
    uint64_t good_step;      /* the last step that was not skipped */
    uint64_t evaluated_step; /* 0: none in this call */
    char started[32];
} run;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_trained(const run *r)
{
    return r->seconds_before + seconds_now() - r->began;
}

static const sg_training_settings *settings(const run *r)
{
    return &r->config->problem->settings.training;
}

__attribute__((format(printf, 2, 3))) static void tell(const run *r, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (r->config->events.note)
        r->config->events.note(r->config->events.context, text);
}

/* ---- Files -------------------------------------------------------------------------------- */

static sg_status path_of(const run *r, const char *name, char path[SG_PATH_SIZE])
{
    sg_status status = sg_run_path(path, r->config->folder, name);
    if (status != SG_OK)
        sg_message_set(r->message, "the path %s is too long", r->config->folder);
    return status;
}

static sg_status save_checkpoint(run *r)
{
    char path[SG_PATH_SIZE];
    sg_status status = path_of(r, "last.safetensors", path);
    if (status != SG_OK)
        return status;
    const sg_scale_report *report = sg_scaler_report(sg_trainer_scaler(r->trainer));
    r->progress.counters[SG_STEP_SCALED] = report->steps_scaled;
    r->progress.counters[SG_STEP_INACTIVE] = report->steps_inactive;
    r->progress.counters[SG_STEP_NO_REFERENCE] = report->steps_no_reference;
    r->progress.counters[SG_STEP_NOT_FINITE] = report->steps_not_finite;
    r->progress.seconds = seconds_trained(r);
    return sg_checkpoint_save(path, sg_trainer_network(r->trainer), sg_trainer_optim(r->trainer),
                              &r->progress, r->allocator, r->message);
}

static sg_status save_weights(run *r, const char *name)
{
    char path[SG_PATH_SIZE];
    sg_status status = path_of(r, name, path);
    if (status != SG_OK)
        return status;
    return sg_weights_save(path, sg_trainer_network(r->trainer), r->allocator, r->message);
}

static sg_status write_problem(run *r)
{
    char path[SG_PATH_SIZE];
    char *text;
    sg_status status = path_of(r, "problem.yaml", path);
    if (status != SG_OK)
        return status;
    status = sg_problem_write(r->config->problem, &text);
    if (status != SG_OK) {
        sg_message_set(r->message, "the problem cannot be written: %s", sg_status_text(status));
        return status;
    }
    status = sg_file_write(path, text, strlen(text), r->allocator, r->message->text,
                           sizeof r->message->text);
    sg_release(&r->config->problem->allocator, text);
    return status;
}

static sg_status write_record(run *r, const char *state, const char *reason)
{
    sg_run_record record = {.config = r->config,
                            .trainer = r->trainer,
                            .state = state,
                            .reason = reason,
                            .started = r->started,
                            .seconds = seconds_trained(r),
                            .steps_done = r->progress.step};
    return sg_record_write(&record, r->message);
}

/* ---- Events ------------------------------------------------------------------------------- */

static sg_status log_step(run *r, const sg_step_result *step, bool write)
{
    sg_step_metrics metrics = {.step = step->step,
                               .seconds = seconds_trained(r),
                               .rate = step->info.rate,
                               .loss = step->loss,
                               .terms = step->terms,
                               .term_count = step->term_count,
                               .scale = step->scale,
                               .skipped = sg_optim_skipped(sg_trainer_optim(r->trainer))};
    if (r->config->events.step)
        r->config->events.step(r->config->events.context, &metrics);
    return write ? sg_metrics_step(&r->metrics, &metrics, r->message) : SG_OK;
}

static sg_status keep_best(run *r, double value)
{
    if (!(value < r->progress.best))
        return SG_OK;
    r->progress.best = value;
    r->progress.best_step = r->progress.step;
    return save_weights(r, "best.safetensors");
}

static sg_status evaluate(run *r)
{
    sg_evaluation_metrics metrics = {.step = r->progress.step};
    if (r->errors) {
        sg_status status =
            sg_errors_measure(r->errors, sg_trainer_network(r->trainer), r->config->pool);
        if (status != SG_OK) {
            sg_message_set(r->message, "evaluation failed: %s", sg_status_text(status));
            return status;
        }
        metrics.errors = r->errors->fields;
        metrics.error_count = r->errors->field_count;
        r->result->has_error = true;
        r->result->relative_l2 = metrics.errors[metrics.error_count - 1].relative_l2;
        r->result->largest = metrics.errors[metrics.error_count - 1].largest;
    }
    metrics.loss = sg_trainer_validate(r->trainer, &metrics.terms, &metrics.term_count);
    metrics.seconds = seconds_trained(r);
    r->result->evaluated = true;
    r->result->validation_loss = metrics.loss;
    r->evaluated_step = r->progress.step;
    if (r->config->events.evaluation)
        r->config->events.evaluation(r->config->events.context, &metrics);
    sg_status status = sg_metrics_evaluation(&r->metrics, &metrics, r->message);
    return status == SG_OK ? keep_best(r, r->errors ? r->result->relative_l2 : metrics.loss)
                           : status;
}

/* Which term and which layer went wrong, for the message. */
static void describe_trouble(const sg_step_result *step, char *text, size_t size)
{
    const sg_term_value *worst = NULL;
    for (size_t i = 0; i < step->term_count; i++)
        if (!worst || !isfinite(step->terms[i].value) || step->terms[i].value > worst->value) {
            worst = &step->terms[i];
            if (!isfinite(worst->value))
                break;
        }
    const char *layer = "the output";
    for (size_t b = 0; b < step->scale->block_count; b++)
        if (!step->scale->blocks[b].finite) {
            layer = step->scale->blocks[b].name;
            break;
        }
    snprintf(text, size, "the gradient of %s is not finite (loss term '%s' is %.1e)", layer,
             worst ? worst->name : "none", worst ? worst->value : 0.0);
}

/* A step that was not taken. The weights are those of the last good step: they are saved when
 * trouble begins, so that nothing is lost if it does not end. */
static sg_status handle_skip(run *r, const sg_step_result *step)
{
    char trouble[300];
    describe_trouble(step, trouble, sizeof trouble);
    r->skipped_in_row++;
    tell(r, "step %llu: %s; step skipped, %llu of at most %d in a row",
         (unsigned long long)step->step, trouble, (unsigned long long)r->skipped_in_row,
         SG_MOST_SKIPPED);
    if (r->skipped_in_row == 1)
        return save_checkpoint(r);
    if (r->skipped_in_row < SG_MOST_SKIPPED)
        return SG_OK;
    r->result->end = SG_TRAIN_FAILED;
    sg_message_set(
        r->message,
        "step %llu: %d steps skipped in a row. Stopped. Last good checkpoint: step %llu. "
        "Often helps: a smaller rate, network.precision=double, or another look at the "
        "term named above.",
        (unsigned long long)step->step, SG_MOST_SKIPPED, (unsigned long long)r->good_step);
    return SG_OK;
}

/* ---- The loop ----------------------------------------------------------------------------- */

static bool due(uint64_t step, int64_t every)
{
    return every > 0 && step % (uint64_t)every == 0;
}

static sg_status one_step(run *r)
{
    sg_step_result step;
    sg_status status = sg_trainer_step(r->trainer, &step);
    if (status != SG_OK) {
        sg_message_set(r->message, "step %llu: %s", (unsigned long long)r->progress.step + 1,
                       sg_status_text(status));
        return status;
    }
    bool last = step.step == (uint64_t)settings(r)->steps;
    r->progress.step = step.step;
    r->result->loss = step.loss;
    status = log_step(r, &step, last || step.step == 1 || due(step.step, settings(r)->log_every));
    if (status == SG_OK && step.info.skipped)
        return handle_skip(r, &step);
    r->skipped_in_row = 0;
    r->good_step = step.step;
    if (status == SG_OK && !last && due(step.step, settings(r)->evaluate_every))
        status = evaluate(r);
    if (status == SG_OK && !last && due(step.step, settings(r)->checkpoint_every))
        status = save_checkpoint(r);
    return status;
}

static sg_status loop(run *r)
{
    sg_status status = SG_OK;
    r->result->end = SG_TRAIN_COMPLETE;
    while (status == SG_OK && r->result->end == SG_TRAIN_COMPLETE &&
           r->progress.step < (uint64_t)settings(r)->steps) {
        if (r->config->stop && *r->config->stop) {
            r->result->end = SG_TRAIN_INTERRUPTED;
            return SG_OK;
        }
        status = one_step(r);
    }
    return status;
}

static sg_status finish(run *r)
{
    static const char *const states[] = {"complete", "interrupted", "failed"};
    sg_status status = SG_OK;
    if (r->result->end != SG_TRAIN_FAILED) {
        if (r->evaluated_step != r->progress.step)
            status = evaluate(r);
        if (status == SG_OK)
            status = save_checkpoint(r);
        if (status == SG_OK)
            status = save_weights(r, "weights.safetensors");
        if (status == SG_OK)
            status = sg_field_write(r->config->folder, r->config->problem,
                                    sg_trainer_network(r->trainer), r->config->pool, r->allocator,
                                    r->message);
    }
    r->result->steps = r->progress.step;
    r->result->seconds = seconds_now() - r->began;
    if (status != SG_OK)
        return status;
    char reason[SG_MESSAGE_SIZE];
    snprintf(reason, sizeof reason, "%s",
             r->result->end == SG_TRAIN_FAILED ? r->message->text : "");
    sg_message later = {""};
    sg_message *kept = r->message;
    r->message = &later; /* the reason of a failed run is the message; keep it */
    status = write_record(r, states[r->result->end], reason);
    r->message = kept;
    if (status != SG_OK)
        *kept = later;
    return status;
}

/* ---- Starting ----------------------------------------------------------------------------- */

static sg_status restore(run *r)
{
    char path[SG_PATH_SIZE];
    sg_status status = path_of(r, "last.safetensors", path);
    if (status == SG_OK)
        status =
            sg_checkpoint_load(path, sg_trainer_network(r->trainer), sg_trainer_optim(r->trainer),
                               &r->progress, r->allocator, r->message);
    if (status != SG_OK)
        return status;
    sg_scaler_set_counters(sg_trainer_scaler(r->trainer), r->progress.counters);
    r->seconds_before = r->progress.seconds;
    return SG_OK;
}

static sg_status start(run *r)
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const sg_train_config *config = r->config;
    sg_status status =
        sg_trainer_create(&r->trainer, config->problem, config->pool, config->isa, r->allocator);
    if (status == SG_OK)
        status = sg_errors_create(&r->errors, config->problem, config->pool, r->allocator);
    if (status != SG_OK) {
        sg_message_set(r->message, "the run cannot be set up: %s", sg_status_text(status));
        return status;
    }
    r->progress.best = INFINITY;
    status = config->resume ? restore(r) : SG_OK;
    if (status == SG_OK)
        status = write_problem(r);
    if (status == SG_OK)
        status = sg_metrics_open(&r->metrics, config->folder, r->progress.step, r->message);
    r->began = seconds_now();
    r->good_step = r->progress.step;
    r->result->first_step = r->progress.step;
    return status == SG_OK ? write_record(r, "running", "") : status;
}

sg_status sg_train(const sg_train_config *config, sg_train_result *result, sg_message *message,
                   const sg_allocator *given)
{
    sg_allocator allocator = sg_allocator_or_heap(given);
    run r = {.config = config, .allocator = &allocator, .result = result, .message = message};
    *result = (sg_train_result){0};
    message->text[0] = '\0';
    sg_status status = start(&r);
    if (status == SG_OK)
        status = loop(&r);
    if (status == SG_OK)
        status = finish(&r);
    sg_metrics_close(&r.metrics);
    sg_errors_destroy(r.errors);
    sg_trainer_destroy(r.trainer);
    return status;
}
