/* The network of a PDE as a subject: see pinn_subject.h. */
#include "train/pinn_subject.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "optim/state.h"
#include "pinn/bad_point.h"
#include "pinn/errors.h"
#include "pinn/second.h"
#include "problem/check.h"
#include "problem/remarks.h"
#include "train/checkpoint.h"
#include "train/data_file.h"
#include "train/field.h"
#include "train/pinn_lines.h"
#include "train/pinn_record.h"
#include "train/points_file.h"
#include "train/record.h"
#include "train/unknowns.h"

enum { SHOWN_DATA = 2 }; /* data sets whose misfits stand among the results */

typedef struct data_label {
    char key[96], title[96];
} data_label;

typedef struct pinn_subject {
    sgi_subject subject;
    sgi_problem *problem;
    sg_pool *pool;
    sg_pinn *pinn; /* over `problem` */
    sg_pinn_trainer *trainer;
    sgi_value *terms;         /* of the last step, after the unknown constants */
    sgi_errors *errors;       /* NULL without a reference */
    sgi_misfits *misfits;     /* NULL without measured data */
    sgi_diagnose *diagnose;   /* NULL when it is never asked */
    sgi_intervals *intervals; /* of unknown constants, once the run has ended; or NULL */
    sgi_value *late;          /* the unknown constants with them */
    char why_not[400];        /* there are none */
    uint64_t misses;          /* of `until: margin`: see set_misses */
    sgi_remarks remarks;
    char misfit[SG_REMARK_SIZE];   /* how the reference does not solve the problem; "": it does */
    char left_out[SG_REMARK_SIZE]; /* where the reference is not finite; "": nowhere */
    char unusable[SG_REMARK_SIZE]; /* why there is no relative error; "": there is */
    const char *notes[SG_MOST_REMARKS + 2];
    sg_pinn_loss validation;
    sgi_value values[3 + SG_MOST_UNKNOWNS + 2 * SHOWN_DATA];
    data_label *labels; /* (2 * SHOWN_DATA) of misfits, in memory of the problem: results outlive
                           the subject */
    bool by_share;      /* steps do not tell how much of the run is done */
    bool told_grid;     /* that errors are measured on a thinner grid */
    char note[200], field_note[320];
    int told_window, told_stage;
    char news[120], ending[160];
} pinn_subject;

static pinn_subject *own(const sgi_subject *subject)
{
    return (pinn_subject *)subject;
}

sg_pinn *sgi_pinn_subject_pinn(const sgi_subject *subject)
{
    return own(subject)->pinn;
}

sg_pinn_trainer *sgi_pinn_subject_trainer(const sgi_subject *subject)
{
    return own(subject)->trainer;
}

static void release(pinn_subject *s, sg_allocator allocator)
{
    sgi_errors_destroy(s->errors);
    sgi_misfits_destroy(s->misfits);
    sgi_diagnose_destroy(s->diagnose);
    sgi_intervals_destroy(s->intervals);
    sgi_release(&allocator, s->late);
    sgi_release(&allocator, s->terms);
    sg_pinn_trainer_destroy(s->trainer);
    sg_pinn_close(s->pinn);
    sgi_release(&allocator, s);
}

static void destroy(sgi_subject *subject)
{
    release(own(subject), subject->allocator);
}

/* ---- Working ------------------------------------------------------------------------------ */

/* The default gives a curve of twenty points; long runs look every thousand steps. */
static uint64_t evaluation_cadence(const sgi_training_settings *training)
{
    if (training->evaluate_every > 0)
        return (uint64_t)training->evaluate_every;
    int64_t twentieth = training->steps / 20;
    return twentieth < 1 ? 1 : twentieth > 1000 ? 1000 : (uint64_t)twentieth;
}

/* The subject as the stage of training has it that the next step belongs to. */
static void follow_stage(pinn_subject *s)
{
    const sgi_training_settings *stage = sgi_pinn_trainer_stage(s->trainer);
    s->subject.log_every = (uint64_t)stage->log_every;
    s->subject.evaluate_every = evaluation_cadence(stage);
    s->subject.checkpoint_every = (uint64_t)stage->checkpoint_every;
    s->subject.scaler = sg_pinn_trainer_scaler(s->trainer);
    s->subject.optim = sg_pinn_trainer_optim(s->trainer);
    s->subject.over = sgi_pinn_trainer_over(s->trainer);
    s->subject.steps = sgi_pinn_trainer_most_steps(s->trainer);
    s->subject.advice =
        s->subject.optim && sg_jet_network_type(s->pinn->network) == SG_FLOAT32
            ? "Often helps: a smaller rate, network.precision=double, or another look at the loss "
              "term that is not finite."
        : s->subject.optim
            ? "Often helps: a smaller rate, or another look at the loss term that is not finite."
            : "Often helps: another look at the loss term that is not finite, or at the network's "
              "start (network.init.gain, --seed).";
}

static bool has_windows(const pinn_subject *s)
{
    return s->problem->windows.count > 0;
}

static bool has_stages(const pinn_subject *s)
{
    return s->problem->settings.stages.count > 1;
}

/* Says once that a window has begun or, where there is but one, a stage. */
static const char *tell_place(pinn_subject *s)
{
    sgi_trainer_place place = sgi_pinn_trainer_place(s->trainer);
    int window = (int)place.window, stage = (int)place.stage;
    if (has_windows(s) && s->told_window != window + 1) {
        s->told_window = window + 1;
        snprintf(s->news, sizeof s->news, "window %d of %d, t from %g to %g", window + 1,
                 s->problem->windows.count, sgi_problem_window_end(s->problem, window - 1),
                 sgi_problem_window_end(s->problem, window));
        return s->news;
    }
    if (!has_windows(s) && has_stages(s) && s->told_stage != stage + 1) {
        s->told_stage = stage + 1;
        snprintf(s->news, sizeof s->news, "stage %d of %d, %s", stage + 1,
                 s->problem->settings.stages.count,
                 sgi_training_optimizer_title(sgi_pinn_trainer_stage(s->trainer)));
        return s->news;
    }
    return NULL;
}

static void write_step(const void *context, json_t *line)
{
    const pinn_subject *s = context;
    sgi_pinn_line_step(s->pinn, s->trainer, line);
}

static uint64_t skipped(const sgi_subject *subject)
{
    return sgi_pinn_trainer_place(own(subject)->trainer).skipped;
}

/* Says what kept the trainer from entering a window, if that was it. */
static bool tell_why(const sg_pinn_trainer *trainer, sg_diagnostic *diagnostic)
{
    const sg_diagnostic *why = sgi_pinn_trainer_why(trainer);
    if (why->message[0] && diagnostic)
        *diagnostic = *why;
    return why->message[0] != '\0';
}

static sg_status step(sgi_subject *subject, sgi_step_metrics *metrics, bool *write,
                      sg_diagnostic *diagnostic)
{
    pinn_subject *s = own(subject);
    sg_pinn_step result;
    sg_status status = sg_pinn_trainer_step(s->trainer, &result);
    follow_stage(s); /* also of a step that failed: its window may have left nothing */
    if (status != SG_OK && tell_why(s->trainer, diagnostic))
        return status;
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "step %llu: %s", (unsigned long long)result.step,
                        sg_status_text(status));
    *write = *write || result.info.handed_over;
    size_t unknowns = sgi_unknowns_show(s->pinn, NULL, s->terms);
    for (size_t i = 0; i < result.loss.term_count; i++) {
        const sg_pinn_value *term = &result.loss.terms[i];
        s->terms[unknowns + i] =
            (sgi_value){.key = term->name, .title = term->name, .value = term->value};
    }
    *metrics =
        (sgi_step_metrics){.step = result.step,
                           .loss = result.loss.total,
                           .terms = s->terms + unknowns,
                           .term_count = result.loss.term_count,
                           .shown = s->terms,
                           .shown_count = unknowns + result.loss.term_count,
                           .info = result.info,
                           .scale = sgi_pinn_trainer_second(s->trainer) ? NULL : result.scale,
                           .own = {write_step, s},
                           .news = tell_place(s),
                           .share = s->by_share ? sgi_pinn_trainer_share(s->trainer) : 0};
    metrics->endless = sgi_training_is_endless(sgi_pinn_trainer_stage(s->trainer));
    if (has_stages(s) && !has_windows(s)) { /* of windows the whole is told: they are alike */
        metrics->stage = (int)sgi_pinn_trainer_place(s->trainer).stage + 1;
        metrics->stages = s->problem->settings.stages.count;
        metrics->stage_share = sgi_pinn_trainer_stage_share(s->trainer);
    }
    return SG_OK;
}

/* "101 x 51". */
static const char *sizes_text(const sgi_box_grid *grid, char *text, size_t size)
{
    size_t used = 0;
    for (int c = 0; c < grid->coordinates && used < size; c++)
        used += (size_t)snprintf(text + used, size - used, c ? " x %zu" : "%zu", grid->sizes[c]);
    return text;
}

/* Says once that the evaluation grid is larger than memory should be. */
static const char *note_grid(pinn_subject *s)
{
    if (!s->errors || !s->errors->thinned || s->told_grid)
        return NULL;
    char where[120];
    if (s->errors->points)
        snprintf(where, sizeof where, "%zu points drawn in the domain", s->errors->count);
    else
        sizes_text(&s->errors->grid, where, sizeof where);
    snprintf(s->note, sizeof s->note,
             "evaluation.grid has too many points; errors are measured on %s", where);
    s->told_grid = true;
    return s->note;
}

static void write_evaluation(const void *context, json_t *line)
{
    const pinn_subject *s = context;
    sgi_pinn_line_evaluation(s->pinn, s->trainer, &s->validation, s->errors, s->misfits, line);
}

/* The first data sets, those that are held out apart. Returns the number of values. */
static size_t show_misfits(pinn_subject *s, size_t count)
{
    for (size_t i = 0; s->misfits && i < s->misfits->count && i < SHOWN_DATA; i++) {
        const sgi_misfit_set *set = &s->misfits->sets[i];
        const char *name = set->data->name->text;
        const double values[2] = {set->all.trained, set->all.held_out};
        for (size_t k = 0; k < 2 && !isnan(values[k]); k++) {
            data_label *label = &s->labels[2 * i + k];
            snprintf(label->key, sizeof label->key, "misfit_%s%.60s", k ? "held_out_" : "", name);
            snprintf(label->title, sizeof label->title, "%s of %.60s", k ? "held out" : "misfit",
                     name);
            s->values[count++] =
                (sgi_value){label->key, label->title, values[k], SG_LOOK_NUMBER, 0, 0, 0};
        }
    }
    return count;
}

static sg_status evaluate(sgi_subject *subject, sgi_evaluation_metrics *metrics,
                          sg_diagnostic *diagnostic)
{
    pinn_subject *s = own(subject);
    size_t count = 0;
    sg_status status =
        s->errors ? sgi_errors_measure(s->errors, sg_pinn_network(s->pinn), s->pool) : SG_OK;
    if (status == SG_OK && s->misfits)
        status = sgi_misfits_measure(s->misfits, sg_pinn_network(s->pinn), s->pool);
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "evaluation failed: %s", sg_status_text(status));
    sg_pinn_trainer_validate(s->trainer, &s->validation);
    metrics->loss = metrics->score = s->validation.total;
    s->values[count++] =
        (sgi_value){"validation_loss", "validation loss", metrics->loss, 0, 0, 0, 0};
    if (s->errors) {
        const sg_pinn_error *all = &s->errors->fields[s->errors->field_count - 1];
        if (!s->unusable[0])
            metrics->score = all->relative_l2;
        s->values[count++] =
            (sgi_value){"relative_l2", "relative L2 error", all->relative_l2, 0, 0, 0, 0};
        s->values[count++] = (sgi_value){"largest", "largest error", all->largest, 0, 0, 0, 0};
    }
    count += sgi_unknowns_show(s->pinn, NULL, s->values + count);
    metrics->values = s->values;
    metrics->value_count = show_misfits(s, count);
    metrics->own = (sgi_own_part){write_evaluation, s};
    metrics->anew =
        has_windows(s) && metrics->best_step <= sgi_pinn_trainer_place(s->trainer).window_begin;
    metrics->note = note_grid(s);
    return SG_OK;
}

/* ---- Kernels ------------------------------------------------------------------------------ */

static bool follows_margin(const pinn_subject *s)
{
    return s->problem->settings.training.until == SG_STEP_MARGIN;
}

/* Rescaling rests after two measurements in a row that do not meet the theorem's condition: one may
 * be the start of the run, or chance. */
enum { MISSES_TO_PAUSE = 2 };

static sg_status set_misses(pinn_subject *s, uint64_t misses)
{
    uint64_t from = (uint64_t)s->problem->settings.training.from;
    s->misses = misses;
    return sg_scaler_set_window(s->subject.scaler, from,
                                misses >= MISSES_TO_PAUSE ? from : SG_FOREVER);
}

/* Ends rescaling, or lets it go on, from the next step. */
static sg_status follow_margin(pinn_subject *s, const sgi_diagnosis *d, const char **note)
{
    bool paused = s->misses >= MISSES_TO_PAUSE;
    uint64_t misses = d->theorem.holds ? 0 : paused ? s->misses : s->misses + 1;
    if (!follows_margin(s) || !d->finite)
        return SG_OK;
    if (paused != (misses >= MISSES_TO_PAUSE)) {
        snprintf(s->note, sizeof s->note,
                 "step %llu: the margin is %.3g%s, so gradients are %s from here on",
                 (unsigned long long)d->step, d->theorem.margin,
                 paused || d->theorem.margin <= 0 ? "" : " and the step unstable",
                 paused ? "rescaled" : "raw");
        *note = s->note;
    }
    return set_misses(s, misses);
}

static sg_status diagnose(sgi_subject *subject, sgi_diagnosis *result, const char **note,
                          sg_diagnostic *diagnostic)
{
    pinn_subject *s = own(subject);
    sg_status status = sgi_diagnose_measure(s->diagnose, s->trainer, result);
    if (status == SG_OK)
        status = follow_margin(s, result, note);
    return status == SG_OK
               ? SG_OK
               : sgi_fail(diagnostic, status, "diagnosis failed: %s", sg_status_text(status));
}

/* ---- Trouble ------------------------------------------------------------------------------ */

/* "equation 'heat' is not finite at x = 0.3, t = 0.1; ", or nothing when all residuals are. */
static void find_bad_point(const pinn_subject *s, char *text, size_t size)
{
    char place[200];
    sgi_bad_point bad;
    sg_status status = sgi_batch_bad_point(s->pinn, sg_pinn_trainer_batch(s->trainer),
                                           &s->subject.allocator, &bad);
    text[0] = '\0';
    if (status != SG_OK || !bad.found)
        return;
    const sgi_point_set *set = &s->problem->sets[bad.set];
    snprintf(text, size, "%s '%.60s' is not finite at %s; ", sgi_point_set_what(set),
             set->terms[set->component_terms[bad.component]].name,
             sgi_problem_point(s->problem, bad.coordinates, place, sizeof place));
}

/* Which point, or which term and which layer, went wrong. */
static void trouble(const sgi_subject *subject, const sgi_step_metrics *metrics, char *text,
                    size_t size)
{
    char place[200];
    find_bad_point(own(subject), place, sizeof place);
    const sgi_value *worst = NULL;
    for (size_t i = 0; i < metrics->term_count; i++)
        if (!worst || !isfinite(metrics->terms[i].value) ||
            metrics->terms[i].value > worst->value) {
            worst = &metrics->terms[i];
            if (!isfinite(worst->value))
                break;
        }
    char value[32] = "not a number"; /* which printf writes with a sign */
    if (worst && !isnan(worst->value))
        snprintf(value, sizeof value, "%.1e", worst->value);
    char what[120] = "the loss";
    if (!metrics->scale && isfinite(metrics->loss)) /* of second order: J as a whole */
        snprintf(what, sizeof what, "the gradient");
    if (metrics->scale)
        snprintf(what, sizeof what, "the gradient of %.90s",
                 sgi_first_bad_gradient(metrics->scale));
    snprintf(text, size, "%s%s is not finite (loss term '%s' is %s)", place, what,
             worst ? worst->key : "none", value);
}

/* ---- Files -------------------------------------------------------------------------------- */

static sg_status save_weights(sgi_subject *subject, const char *path, sg_diagnostic *diagnostic)
{
    return sg_pinn_save(own(subject)->pinn, path, diagnostic);
}

static sg_status state_fits(void *context, const sgi_progress *progress, const void *data,
                            size_t size, sg_diagnostic *diagnostic)
{
    sg_status status = sgi_pinn_trainer_fits(context, &progress->place, data, size);
    if (status != SG_OK) {
        (void)tell_why(context, diagnostic);
        return status;
    }
    const sg_optim *optim = sgi_pinn_trainer_stage_optim(context, progress->place.stage);
    return !optim || sgi_state_fits(optim, data, size) ? SG_OK : SG_ERROR_STATE;
}

static void state_restore(void *context, const sgi_progress *progress, const void *data,
                          size_t size)
{
    sgi_pinn_trainer_restore(context, &progress->place, progress->step, data, size);
}

/* The state of the stage that training is in. */
static sgi_kept_state kept_state(const pinn_subject *s)
{
    sgi_kept_state state = {.context = s->trainer, .fits = state_fits, .restore = state_restore};
    state.data = sgi_pinn_trainer_state(s->trainer, &state.size);
    return state;
}

static sg_status save(sgi_subject *subject, const char *path, const sgi_progress *progress,
                      sg_diagnostic *diagnostic)
{
    const pinn_subject *s = own(subject);
    sgi_kept_state state = kept_state(s);
    sgi_progress whole = *progress;
    whole.margin_misses = s->misses;
    sgi_refinement *refinement = sgi_pinn_trainer_refinement(s->trainer);
    whole.refinement_seconds = sgi_refinement_seconds(refinement);
    if (refinement)
        whole.points = sgi_refinement_state(refinement, &whole.points_size);
    whole.place = sgi_pinn_trainer_place(s->trainer);
    return sgi_checkpoint_save(path, sg_pinn_network(s->pinn), &state, &whole, &subject->allocator,
                               diagnostic);
}

static sg_status load(sgi_subject *subject, const char *path, sgi_progress *progress,
                      sg_diagnostic *diagnostic)
{
    pinn_subject *s = own(subject);
    sgi_kept_state state = kept_state(s);
    sg_status status = sgi_checkpoint_load(path, sg_pinn_network(s->pinn), &state, progress,
                                           &subject->allocator, diagnostic);
    sgi_refinement *refinement = sgi_pinn_trainer_refinement(s->trainer);
    if (status == SG_OK && refinement) {
        status = sgi_checkpoint_load_points(path, refinement, &subject->allocator, diagnostic);
        sgi_refinement_set_seconds(refinement, progress->refinement_seconds);
    }
    follow_stage(s);
    return status == SG_OK && follows_margin(s) ? set_misses(s, progress->margin_misses) : status;
}

static sg_status write_problem(const sgi_subject *subject, char **text)
{
    const char *written;
    *text = NULL;
    sg_status status = sg_pinn_text(own(subject)->pinn, &written);
    if (status != SG_OK)
        return status;
    *text = sgi_copy_text(&subject->allocator, written);
    return *text ? SG_OK : SG_ERROR_MEMORY;
}

static sg_status keep(const sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic)
{
    return sgi_problem_copy_files(own(subject)->problem, folder, diagnostic);
}

/* The intervals of unknown constants, or why there are none although there are data. */
static sg_status find_intervals(pinn_subject *s)
{
    sgi_subject *subject = &s->subject;
    sg_diagnostic why = {0};
    if (s->problem->unknown_count == 0 || s->problem->data_count == 0)
        return SG_OK;
    s->late = sgi_allocate(&subject->allocator, s->problem->unknown_count, sizeof *s->late);
    if (!s->late)
        return SG_ERROR_MEMORY;
    sg_status status =
        sgi_intervals_create(&s->intervals, s->pinn, s->pool, &subject->allocator, &why);
    if (status == SG_ERROR_UNSUPPORTED) {
        snprintf(s->why_not, sizeof s->why_not, "%s", why.message);
        subject->late_notes[subject->late_note_count++] = s->why_not;
        return SG_OK;
    }
    for (int i = 0; s->intervals && i < s->intervals->note_count; i++)
        subject->late_notes[subject->late_note_count++] = s->intervals->notes[i];
    subject->late_values = s->late;
    subject->late_count = s->intervals ? sgi_unknowns_show(s->pinn, s->intervals, s->late) : 0;
    return status;
}

/* The files of the solution as it is now. */
static sg_status show(sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic)
{
    pinn_subject *s = own(subject);
    sgi_box_grid whole = sgi_box_grid_of_problem(s->problem), grid = sgi_field_grid(s->problem);
    char sizes[2][120];
    if (grid.total < whole.total) {
        snprintf(s->field_note, sizeof s->field_note,
                 "field.npz and field.vti hold %s points, not the %s of evaluation.grid",
                 sizes_text(&grid, sizes[0], sizeof sizes[0]),
                 sizes_text(&whole, sizes[1], sizeof sizes[1]));
        subject->last_note = s->field_note;
    }
    sg_status status = sgi_points_write(folder, s->pinn, sg_pinn_trainer_batch(s->trainer),
                                        &subject->allocator, diagnostic);
    if (status == SG_OK && s->misfits)
        status = sgi_data_write(folder, s->misfits, diagnostic);
    if (status != SG_OK)
        return status;
    return sgi_field_write(folder, s->problem, sg_pinn_network(s->pinn), s->pool,
                           &subject->allocator, diagnostic);
}

/* A run that was to end by its loss and has ended says so, and what it did: that its last step is
 * of a loss that was to be reached is seen nowhere else. */
static void tell_tolerance(pinn_subject *s)
{
    sgi_subject *subject = &s->subject;
    const sgi_training_settings *budget = sgi_pinn_trainer_stage(s->trainer);
    sgi_trainer_place place = sgi_pinn_trainer_place(s->trainer);
    double tolerance = budget->tolerance, loss = place.loss;
    bool late = budget->seconds > 0 && place.stage_seconds >= budget->seconds;
    if (!(tolerance > 0) || has_windows(s) || !sgi_pinn_trainer_over(s->trainer))
        return;
    if (loss < tolerance)
        snprintf(s->ending, sizeof s->ending,
                 "the loss is %.2e, below the tolerance of %.3g that training was to end at", loss,
                 tolerance);
    else
        snprintf(s->ending, sizeof s->ending,
                 "the tolerance was not reached: training ended by its %s with a loss of %.2e, not "
                 "below %.3g",
                 late ? "seconds" : "steps", loss, tolerance);
    subject->late_notes[subject->late_note_count++] = s->ending;
}

/* Intervals belong to the end alone: before it they would be those of a fit that is none yet. */
static sg_status finish(sgi_subject *subject, const char *folder, sg_diagnostic *diagnostic)
{
    sg_status found = find_intervals(own(subject));
    if (found != SG_OK)
        return sgi_fail(diagnostic, found, "the intervals of unknown constants: %s",
                        sg_status_text(found));
    tell_tolerance(own(subject));
    return show(subject, folder, diagnostic);
}

static void describe(const sgi_subject *subject, json_t *record)
{
    const pinn_subject *s = own(subject);
    sgi_pinn_record(s->pinn, s->trainer, s->misfits, s->intervals, record);
    if (s->misfit[0])
        sgi_json_text(record, "reference_misfit", s->misfit);
    if (s->left_out[0])
        sgi_json_text(record, "reference_left_out", s->left_out);
    if (s->unusable[0])
        sgi_json_text(record, "no_relative_error", s->unusable);
}

/* ---- Making ------------------------------------------------------------------------------- */

static const sgi_subject_type pinn_type = {
    .kind = "problem",
    .destroy = destroy,
    .step = step,
    .evaluate = evaluate,
    .diagnose = diagnose,
    .skipped = skipped,
    .trouble = trouble,
    .save_weights = save_weights,
    .save = save,
    .load = load,
    .write = write_problem,
    .keep = keep,
    .finish = finish,
    .show = show,
    .describe = describe,
};

/* Why the best weights cannot be those of the lowest error. */
static void explain_errors(pinn_subject *s)
{
    if (s->errors && s->errors->nothing)
        snprintf(s->unusable, sizeof s->unusable,
                 "the reference is %s on the evaluation grid, so there is no relative error; the "
                 "best weights are those of the lowest validation loss",
                 s->errors->left_out == s->errors->inside ? "finite nowhere"
                                                          : "0 wherever it is finite");
}

/* What the reader should know before the run: oddities of the problem, and a reference that does
 * not solve it. No warning is given of a reference that cannot be checked. */
static sg_status look_over(pinn_subject *s, sg_diagnostic *diagnostic)
{
    sgi_check check;
    sg_status status = sgi_problem_finite(s->problem, diagnostic);
    if (status == SG_OK)
        status = sgi_problem_remarks(s->problem, &s->remarks);
    if (status != SG_OK)
        return status;
    status = sgi_problem_check(s->problem, &check);
    if (status == SG_OK && !check.passed)
        sgi_check_sentence(s->problem, &check, s->misfit, sizeof s->misfit);
    if (status == SG_OK)
        sgi_check_release(s->problem, &check);
    for (int i = 0; i < s->remarks.count; i++)
        s->notes[s->subject.note_count++] = s->remarks.texts[i];
    if (s->misfit[0])
        s->notes[s->subject.note_count++] = s->misfit;
    explain_errors(s);
    if (s->unusable[0])
        s->notes[s->subject.note_count++] = s->unusable;
    else if (s->errors && sgi_errors_sentence(s->errors, s->left_out, sizeof s->left_out)[0])
        s->notes[s->subject.note_count++] = s->left_out;
    s->subject.notes = s->notes;
    return status == SG_ERROR_UNSUPPORTED ? SG_OK : status;
}

static uint64_t diagnosis_cadence(const sgi_settings *settings)
{
    int64_t fiftieth = settings->training.steps / 50;
    if (settings->diagnose.every > 0 || settings->training.until != SG_STEP_MARGIN)
        return (uint64_t)settings->diagnose.every;
    return fiftieth < 1 ? 1 : fiftieth > 500 ? 500 : (uint64_t)fiftieth;
}

sg_status sgi_pinn_subject_diagnose(sgi_diagnose **out, const sgi_subject *subject, sg_isa isa)
{
    const pinn_subject *s = own(subject);
    sgi_diagnose_config config = {
        .residuals = (size_t)s->problem->settings.diagnose.residuals, .pool = s->pool, .isa = isa};
    return sgi_diagnose_create(out, s->pinn, &config, &subject->allocator);
}

static sg_status prepare(pinn_subject *s, sgi_problem *problem, sg_pool *pool,
                         const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    const sgi_training_settings *training = &problem->settings.training;
    s->problem = problem;
    s->pool = pool;
    s->subject = (sgi_subject){.type = &pinn_type,
                               .allocator = *allocator,
                               .name = problem->settings.name,
                               .title = problem->settings.title,
                               .training = training,
                               .diagnose_every = diagnosis_cadence(&problem->settings)};
    s->by_share = has_windows(s) || has_stages(s) || training->seconds > 0;
    follow_stage(s);
    return look_over(s, diagnostic);
}

sg_status sgi_pinn_subject_create(sgi_subject **out, sgi_problem *problem, sg_pool *pool,
                                  sg_isa isa, const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sg_diagnostic unread;
    diagnostic = diagnostic ? diagnostic : &unread;
    *out = NULL;
    sg_status fits = sgi_problem_fits(problem, true, diagnostic);
    if (fits == SG_OK)
        fits = sgi_problem_try_windows(problem, diagnostic);
    if (fits != SG_OK)
        return fits;
    pinn_subject *s = sgi_allocate(&allocator, 1, sizeof *s);
    sg_status status = s ? sgi_pinn_over(&s->pinn, problem, &allocator) : SG_ERROR_MEMORY;
    if (status == SG_OK)
        status = sg_pinn_trainer_create(&s->trainer, s->pinn, pool, isa, &allocator);
    if (status == SG_OK) {
        size_t terms = sg_pinn_describe(s->pinn)->term_count + problem->unknown_count;
        s->terms = sgi_allocate(&allocator, terms, sizeof *s->terms);
        status =
            s->terms ? sgi_errors_create(&s->errors, problem, pool, &allocator) : SG_ERROR_MEMORY;
        s->labels = sgi_arena_allocate(&problem->arena, (size_t)2 * SHOWN_DATA, sizeof *s->labels);
        if (status == SG_OK)
            status =
                s->labels ? sgi_misfits_create(&s->misfits, problem, &allocator) : SG_ERROR_MEMORY;
    }
    if (status == SG_OK)
        status = prepare(s, problem, pool, &allocator, diagnostic);
    if (status == SG_OK && s->subject.diagnose_every > 0)
        status = sgi_pinn_subject_diagnose(&s->diagnose, &s->subject, isa);
    if (status != SG_OK) {
        if (status != SG_ERROR_FORMAT) /* a mistake in the problem has its place */
            (void)sgi_fail(diagnostic, status, "the run cannot be set up: %s",
                           sg_status_text(status));
        if (s)
            release(s, allocator);
        return status;
    }
    *out = &s->subject;
    return SG_OK;
}
