/* A run from start to end: see train.h. */
#include "train/train.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/diagnostic.h"
#include "base/hash.h"
#include "base/memory.h"
#include "files/file.h"
#include "train/agree.h"
#include "train/record.h"

/* Everything a run carries along. */
typedef struct run {
    const sgi_train_config *config;
    const sg_allocator *allocator;
    sgi_train_result *result;
    sg_diagnostic *diagnostic;
    sgi_subject *subject;
    sgi_metrics metrics;
    sgi_progress progress;
    double began;          /* seconds on the clock */
    double seconds_before; /* of training before this call */
    double cpu_began, cpu_before;
    uint64_t skipped_in_row;
    uint64_t good_step;      /* the last step that was not skipped */
    uint64_t evaluated_step; /* 0: none in this call */
    double page_due;         /* seconds on the clock at which a page may be written again */
    char started[32];
    uint64_t file;    /* a hash of problem.yaml */
    sgi_seal written; /* problem.yaml */
} run;

/* The first rank writes for all. */
static bool writes(const run *r)
{
    return !r->config->ranks || r->config->ranks->rank == 0;
}

static double seconds_trained(const run *r)
{
    return r->seconds_before + sgi_seconds() - r->began;
}

static double seconds_computed(const run *r)
{
    return r->cpu_before + sgi_cpu_seconds() - r->cpu_began;
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
    sg_status status = sgi_run_path(path, r->config->folder, name);
    if (status != SG_OK)
        return sgi_fail_file(r->diagnostic, status, r->config->folder, "the path is too long");
    return SG_OK;
}

/* The checkpoint before the last is kept: should the last be damaged, the run goes on from there.
 */
static sg_status save_checkpoint(run *r)
{
    char path[SG_PATH_SIZE], before[SG_PATH_SIZE];
    if (!writes(r))
        return SG_OK;
    sg_status status = path_of(r, "last.safetensors", path);
    if (status == SG_OK)
        status = path_of(r, "previous.safetensors", before);
    if (status == SG_OK)
        status = sgi_file_keep(path, before, r->diagnostic);
    if (status != SG_OK)
        return status;
    const sg_scale_report *report = sg_scaler_report(r->subject->scaler);
    r->progress.counters[SG_STEP_SCALED] = report->steps_scaled;
    r->progress.counters[SG_STEP_INACTIVE] = report->steps_inactive;
    r->progress.counters[SG_STEP_NO_REFERENCE] = report->steps_no_reference;
    r->progress.counters[SG_STEP_NOT_FINITE] = report->steps_not_finite;
    r->progress.seconds = seconds_trained(r);
    r->progress.cpu_seconds = seconds_computed(r);
    status = sgi_metrics_sync(&r->metrics, r->diagnostic); /* a checkpoint stands for its lines */
    if (status != SG_OK)
        return status;
    return r->subject->type->save(r->subject, path, &r->progress, r->diagnostic);
}

static sg_status save_weights(run *r, const char *name)
{
    char path[SG_PATH_SIZE];
    if (!writes(r))
        return SG_OK;
    sg_status status = path_of(r, name, path);
    if (status != SG_OK)
        return status;
    return r->subject->type->save_weights(r->subject, path, r->diagnostic);
}

static sg_status write_problem(run *r)
{
    char path[SG_PATH_SIZE];
    char *text;
    if (!writes(r))
        return SG_OK;
    sg_status status = path_of(r, "problem.yaml", path);
    if (status == SG_OK && r->subject->type->keep)
        status = r->subject->type->keep(r->subject, r->config->folder, r->diagnostic);
    if (status != SG_OK)
        return status;
    status = r->subject->type->write(r->subject, &text);
    if (status != SG_OK) {
        return sgi_fail(r->diagnostic, status, "the problem cannot be written: %s",
                        sg_status_text(status));
    }
    status = sgi_file_write(path, text, strlen(text), r->allocator, r->diagnostic);
    sgi_seal_add(&r->written, text, strlen(text));
    sgi_release(&r->subject->allocator, text);
    return status;
}

static sg_status write_record(run *r, const char *state, const char *reason)
{
    if (!writes(r))
        return SG_OK;
    sgi_run_record record = {.config = r->config,
                             .state = state,
                             .reason = reason,
                             .started = r->started,
                             .seconds = seconds_trained(r),
                             .steps_done = r->progress.step,
                             .problem = r->written,
                             .metrics = r->metrics.seal};
    return sgi_record_write(&record, r->diagnostic);
}

/* ---- Events ------------------------------------------------------------------------------- */

static sg_status log_step(run *r, const sgi_step_metrics *metrics, bool write)
{
    if (r->config->events.step)
        r->config->events.step(r->config->events.context, metrics);
    if (metrics->note)
        tell(r, "%s", metrics->note);
    return write && writes(r) ? sgi_metrics_step(&r->metrics, metrics, r->diagnostic) : SG_OK;
}

/* Whether the loss is watched after a hand-over for the last time in this step. */
static bool watch_ends(const run *r, uint64_t step)
{
    const sgi_jump *jump = &r->progress.jump;
    uint64_t end = jump->event + SG_JUMP_STEPS;
    return jump->event > 0 && (step == end || (step == r->subject->steps && step < end));
}

/* Follows the loss over the steps after a hand-over. */
static void watch_loss(run *r, sgi_step_metrics *step)
{
    sgi_jump *jump = &r->progress.jump;
    sgi_jump_add(jump, step->step, step->loss);
    if (watch_ends(r, step->step) && !step->info.handed_over) {
        step->jump = jump;
        if (sgi_jumped(jump))
            tell(r,
                 "the loss jumped where gradients became %s, at step %llu: from %.1e to %.1e at "
                 "step %llu (training.stablegrad.handover is %s)",
                 step->info.rescaled ? "rescaled" : "raw", (unsigned long long)jump->event,
                 jump->before, jump->highest, (unsigned long long)jump->highest_step,
                 sg_handover_name(sg_scaler_config(r->subject->scaler)->handover));
    }
    if (step->info.handed_over)
        sgi_jump_event(jump, step->step);
}

static sg_status keep_best(run *r, double value)
{
    if (!(value < r->progress.best))
        return SG_OK;
    r->progress.best = value;
    r->progress.best_step = r->progress.step;
    return save_weights(r, "best.safetensors");
}

/* What the caller is told of an evaluation. */
static void keep_result(sgi_train_result *result, const sgi_evaluation_metrics *metrics)
{
    result->evaluated = true;
    result->validation_loss = metrics->loss;
    result->value_count = 0;
    for (size_t i = 0; i < metrics->value_count && i < SG_MOST_RESULTS; i++)
        result->values[result->value_count++] = metrics->values[i];
}

double sgi_train_value(const sgi_train_result *result, const char *key)
{
    for (size_t i = 0; i < result->value_count; i++)
        if (strcmp(result->values[i].key, key) == 0)
            return result->values[i].value;
    return NAN;
}

static sg_status agree_on_weights(run *r)
{
    return sgi_agree_on_weights(r->config->ranks, r->subject, r->file, r->progress.step,
                                r->diagnostic);
}

static sg_status evaluate(run *r)
{
    sgi_evaluation_metrics metrics = {
        .step = r->progress.step, .best = r->progress.best, .best_step = r->progress.best_step};
    sg_status status = agree_on_weights(r);
    if (status == SG_OK)
        status = r->subject->type->evaluate(r->subject, &metrics, r->diagnostic);
    if (status != SG_OK)
        return status;
    metrics.seconds = seconds_trained(r);
    metrics.cpu_seconds = seconds_computed(r);
    keep_result(r->result, &metrics);
    r->evaluated_step = r->progress.step;
    if (r->config->events.evaluation)
        r->config->events.evaluation(r->config->events.context, &metrics);
    if (metrics.note)
        tell(r, "%s", metrics.note);
    if (writes(r))
        status = sgi_metrics_evaluation(&r->metrics, &metrics, r->diagnostic);
    if (metrics.anew)
        r->progress.best = INFINITY;
    return status == SG_OK ? keep_best(r, metrics.score) : status;
}

/* What only the first rank does, it does alone. */
static void join_ranks(const run *r)
{
    if (r->config->ranks) /* a pool and ranks that make sense, or the run had not begun */
        (void)!sg_pool_set_ranks(r->config->pool, r->config->ranks);
}

static void leave_ranks(const run *r)
{
    if (r->config->ranks)
        (void)!sg_pool_set_ranks(r->config->pool, NULL);
}

/* Brings the folder up to date for a page of the run so far, when one is due. What cannot be
 * written now is tried again later, and at the end it is an error. */
static void follow(run *r)
{
    double begun = sgi_seconds();
    if (!r->config->events.page || begun < r->page_due)
        return;
    sg_diagnostic *kept = r->diagnostic, unread = {0};
    r->diagnostic = &unread;
    leave_ranks(r);
    sg_status status = write_record(r, "running", "");
    if (status == SG_OK && r->subject->type->show)
        status = r->subject->type->show(r->subject, r->config->folder, &unread);
    if (status == SG_OK)
        r->config->events.page(r->config->events.context);
    join_ranks(r);
    r->diagnostic = kept;
    double ended = sgi_seconds();
    r->page_due = ended + SG_PAGE_PART * (ended - begun);
}

static sg_status diagnose(run *r)
{
    sgi_diagnosis diagnosis;
    const char *note = NULL;
    sg_status status = r->subject->type->diagnose(r->subject, &diagnosis, &note, r->diagnostic);
    if (status != SG_OK)
        return status;
    if (r->config->events.diagnosis)
        r->config->events.diagnosis(r->config->events.context, &diagnosis);
    if (note)
        tell(r, "%s", note);
    if (!writes(r))
        return SG_OK;
    return sgi_metrics_diagnosis(&r->metrics, &diagnosis, seconds_trained(r), r->diagnostic);
}

/* A step that was not taken. The weights are those of the last good step: they are saved when
 * trouble begins, so that nothing is lost if it does not end. */
static sg_status handle_skip(run *r, const sgi_step_metrics *step)
{
    if (++r->skipped_in_row == 1) { /* said once: what follows is mostly the same again */
        char trouble[300];
        r->subject->type->trouble(r->subject, step, trouble, sizeof trouble);
        tell(r, "step %llu: %s; step skipped", (unsigned long long)step->step, trouble);
        return save_checkpoint(r);
    }
    if (r->skipped_in_row < SG_MOST_SKIPPED)
        return SG_OK;
    r->result->end = SG_TRAIN_FAILED;
    return sgi_fail(
        r->diagnostic, SG_OK,
        "step %llu: %d steps skipped in a row. Stopped. Last good checkpoint: step %llu. %s",
        (unsigned long long)step->step, SG_MOST_SKIPPED, (unsigned long long)r->good_step,
        r->subject->advice);
}

/* ---- The loop ----------------------------------------------------------------------------- */

static bool due(uint64_t step, uint64_t every)
{
    return every > 0 && step % every == 0;
}

static sg_status one_step(run *r)
{
    const sgi_subject *subject = r->subject;
    sgi_step_metrics step;
    uint64_t number = r->progress.step + 1;
    bool last = number == subject->steps;
    bool write = last || number == 1 || due(number, subject->log_every) || watch_ends(r, number);
    sg_status status = subject->type->step(r->subject, &step, &write, r->diagnostic);
    if (status != SG_OK)
        return status;
    step.seconds = seconds_trained(r);
    step.cpu_seconds = seconds_computed(r);
    step.skipped = subject->type->skipped(subject);
    last = last || subject->over;
    write = write || last;
    r->progress.step = step.step;
    r->result->loss = step.loss;
    watch_loss(r, &step);
    /* The last line of a run that gives up knows how many steps were skipped. */
    write = write || (step.info.skipped && r->skipped_in_row + 1 == SG_MOST_SKIPPED);
    status = log_step(r, &step, write);
    if (status == SG_OK && step.info.skipped)
        return handle_skip(r, &step);
    r->skipped_in_row = 0;
    r->good_step = step.step;
    if (status == SG_OK && !last && due(step.step, subject->evaluate_every)) {
        status = evaluate(r);
        if (status == SG_OK)
            follow(r);
    }
    if (status == SG_OK && due(step.step, subject->diagnose_every)) /* before the checkpoint */
        status = diagnose(r);
    if (status == SG_OK && !last && due(step.step, subject->checkpoint_every)) {
        status = save_checkpoint(r);
        if (status == SG_OK) /* should the run be killed, its record knows how far it came */
            status = write_record(r, "running", "");
    }
    return status;
}

static sg_status loop(run *r)
{
    join_ranks(r);
    sg_status status = agree_on_weights(r);
    r->result->end = SG_TRAIN_COMPLETE;
    while (status == SG_OK && r->result->end == SG_TRAIN_COMPLETE &&
           r->progress.step < r->subject->steps && !r->subject->over) {
        bool stop = r->config->stop && *r->config->stop;
        status = sgi_agree_to_stop(r->config->ranks, &stop, r->diagnostic);
        if (status == SG_OK && stop) {
            r->result->end = SG_TRAIN_INTERRUPTED;
            return SG_OK;
        }
        if (status == SG_OK)
            status = one_step(r);
    }
    /* A run without a single step is none, however few there were to be. */
    if (status == SG_OK && r->result->end == SG_TRAIN_COMPLETE && r->progress.step > 0 &&
        r->subject->type->skipped(r->subject) >= r->progress.step) {
        r->result->end = SG_TRAIN_FAILED;
        return sgi_fail(r->diagnostic, SG_OK,
                        "step %llu: every step was skipped, so nothing was trained. %s",
                        (unsigned long long)r->progress.step, r->subject->advice);
    }
    return status;
}

const char *sgi_train_end_name(sgi_train_end end)
{
    static const char *const names[] = {SG_TRAIN_END_LIST(SGI_LIST_NAME)};
    return names[end];
}

static void keep_late(run *r)
{
    const sgi_subject *s = r->subject;
    for (size_t k = 0; k < s->late_count; k++)
        for (size_t i = 0; i < r->result->value_count; i++)
            if (strcmp(r->result->values[i].key, s->late_values[k].key) == 0)
                r->result->values[i] = s->late_values[k];
    for (size_t k = 0; k < s->late_note_count; k++)
        tell(r, "%s", s->late_notes[k]);
}

/* The record of a run that ended, written last: "complete" means that all else is there. */
static sg_status finish(run *r)
{
    bool follows = r->config->report_follows && r->result->end == SG_TRAIN_COMPLETE;
    const char *state = follows ? "finishing" : sgi_train_end_name(r->result->end);
    sg_status status = SG_OK;
    if (r->result->end != SG_TRAIN_FAILED) {
        if (r->evaluated_step != r->progress.step)
            status = evaluate(r);
        leave_ranks(r);
        if (status == SG_OK)
            status = save_checkpoint(r);
        if (status == SG_OK)
            status = save_weights(r, "weights.safetensors");
        if (status == SG_OK && writes(r))
            status = r->subject->type->finish(r->subject, r->config->folder, r->diagnostic);
        if (status == SG_OK && r->subject->last_note)
            tell(r, "%s", r->subject->last_note);
        if (status == SG_OK)
            keep_late(r);
    }
    r->result->steps = r->progress.step;
    r->result->seconds = seconds_trained(r);
    if (status != SG_OK)
        return status;
    /* The reason of a failed run is in r->diagnostic: writing it down must not overwrite it. */
    sg_diagnostic reason = {0}, *kept = r->diagnostic, later = {0};
    if (r->result->end == SG_TRAIN_FAILED)
        reason = *kept;
    r->diagnostic = &later;
    status = write_record(r, state, reason.message);
    r->diagnostic = kept;
    if (status != SG_OK)
        *kept = later;
    return status;
}

/* The disk is full, or memory is: the record says so if it can still be written. */
static void record_failure(run *r)
{
    sg_diagnostic *kept = r->diagnostic, unread = {0};
    char reason[sizeof kept->file + sizeof kept->message + 64];
    sgi_diagnostic_line(kept, reason, sizeof reason);
    r->diagnostic = &unread;
    (void)!write_record(r, "interrupted", reason);
    r->diagnostic = kept;
}

/* ---- Starting ----------------------------------------------------------------------------- */

/* A hash of the resolved file, without the sections that a resumed run may change: how long and
 * how to train, how to draw points and to evaluate, and where the data lies. */
static uint64_t identity(const char *text, bool images)
{
    static const char *const left_out[] = {
        "title:", "sampling:", "refinement:", "training:", "evaluation:", "diagnose:", "data:"};
    size_t count =
        sizeof left_out / sizeof left_out[0] - (images ? 0 : 1); /* data of a PDE count */
    uint64_t hash = SG_HASH_START;
    bool counts = true;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (line[0] != ' ')
            counts = true;
        for (size_t i = 0; i < count; i++)
            if (strncmp(line, left_out[i], strlen(left_out[i])) == 0)
                counts = false;
        if (counts)
            hash = sgi_hash(hash, line, length);
        line += length + (line[length] == '\n');
    }
    return hash;
}

/* Which problem and seed this is, for the checkpoints to carry. */
static sg_status identify(run *r)
{
    char *text;
    sg_status status = r->subject->type->write(r->subject, &text);
    if (status != SG_OK)
        return sgi_fail(r->diagnostic, status, "the problem cannot be written: %s",
                        sg_status_text(status));
    r->file = sgi_hash(SG_HASH_START, text, strlen(text));
    r->progress.problem = identity(text, strcmp(r->subject->type->kind, "images") == 0);
    r->progress.seed = (uint64_t)r->subject->training->seed;
    sgi_release(&r->subject->allocator, text);
    return SG_OK;
}

static sg_status load_from(run *r, const char *name, sgi_progress *progress)
{
    char path[SG_PATH_SIZE];
    sg_status status = path_of(r, name, path);
    return status == SG_OK ? r->subject->type->load(r->subject, path, progress, r->diagnostic)
                           : status;
}

/* The newest checkpoint that is whole. What went wrong with the last one is told; if no other helps
 * it is the error. */
static sg_status load_newest(run *r, sgi_progress *progress)
{
    sg_status status = load_from(r, "last.safetensors", progress);
    if (status != SG_ERROR_FORMAT && status != SG_ERROR_IO)
        return status;
    sg_diagnostic first = r->diagnostic ? *r->diagnostic : (sg_diagnostic){0};
    if (load_from(r, "previous.safetensors", progress) != SG_OK) {
        if (r->diagnostic)
            *r->diagnostic = first;
        return status;
    }
    tell(r, "%s: %s; going on from the checkpoint before it, step %llu", first.file, first.message,
         (unsigned long long)progress->step);
    return SG_OK;
}

/* A checkpoint of other shapes is refused by the network; this is for those that fit by chance. */
static sg_status check_identity(run *r, const sgi_progress *loaded)
{
    bool problem = loaded->problem != r->progress.problem, seed = loaded->seed != r->progress.seed;
    if (r->config->insist || (!problem && !seed))
        return SG_OK;
    if (problem)
        sgi_fail_file(r->diagnostic, SG_ERROR_STATE, r->config->folder,
                      "the checkpoint was saved by another problem: equations, conditions, points, "
                      "weights or network differ");
    else
        sgi_fail_file(r->diagnostic, SG_ERROR_STATE, r->config->folder,
                      "the checkpoint was saved with seed %llu, not %llu",
                      (unsigned long long)loaded->seed, (unsigned long long)r->progress.seed);
    sgi_diagnostic_suggest(r->diagnostic, "to go on all the same: --insist");
    return SG_ERROR_STATE;
}

static bool is_there(const run *r, const char *name)
{
    char path[SG_PATH_SIZE];
    return sgi_run_path(path, r->config->folder, name) == SG_OK && sgi_file_exists(path);
}

static sg_status restore(run *r)
{
    sgi_progress loaded;
    if (!is_there(r, "last.safetensors") && !is_there(r, "previous.safetensors")) {
        tell(r, "there is no checkpoint yet: training starts from step 0");
        return SG_OK;
    }
    sg_status status = load_newest(r, &loaded);
    if (status == SG_OK)
        status = check_identity(r, &loaded);
    if (status != SG_OK)
        return status;
    loaded.problem = r->progress.problem;
    loaded.seed = r->progress.seed;
    r->progress = loaded;
    sg_scaler_set_counters(r->subject->scaler, r->progress.counters);
    r->seconds_before = r->progress.seconds;
    r->cpu_before = r->progress.cpu_seconds;
    return SG_OK;
}

static sg_status start(run *r)
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const sgi_train_config *config = r->config;
    r->progress.best = INFINITY;
    if (config->resume && writes(r))
        (void)sgi_file_remove_temporaries(config->folder, sgi_run_files, SG_RUN_FILES);
    sg_status status = identify(r);
    if (status == SG_OK && config->resume)
        status = restore(r);
    if (status == SG_OK)
        status = write_problem(r);
    if (status == SG_OK && writes(r))
        status = sgi_metrics_open(&r->metrics, config->folder, r->progress.step, r->diagnostic);
    r->began = sgi_seconds();
    r->cpu_began = sgi_cpu_seconds();
    r->page_due = r->began + SG_PAGE_FIRST;
    r->good_step = r->progress.step;
    r->result->first_step = r->progress.step;
    if (status == SG_OK)
        status = write_record(r, "running", "");
    if (status == SG_OK && config->events.begin)
        config->events.begin(config->events.context);
    return status;
}

void sgi_subject_destroy(sgi_subject *subject)
{
    if (subject)
        subject->type->destroy(subject);
}

sg_status sgi_train(const sgi_train_config *config, sgi_train_result *result,
                    sg_diagnostic *diagnostic, const sg_allocator *given)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sg_diagnostic unread;
    diagnostic = diagnostic ? diagnostic : &unread;
    memset(diagnostic, 0, sizeof *diagnostic);
    run r = {.config = config,
             .allocator = &allocator,
             .result = result,
             .diagnostic = diagnostic,
             .subject = config->subject};
    *result = (sgi_train_result){0};
    sg_status status = start(&r);
    bool begun = status == SG_OK;
    if (status == SG_OK)
        status = loop(&r);
    if (status == SG_OK)
        status = finish(&r);
    leave_ranks(&r);
    if (begun && status != SG_OK)
        record_failure(&r);
    sgi_metrics_close(&r.metrics);
    return status;
}
