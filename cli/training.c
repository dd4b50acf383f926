/* Training with a progress line: see training.h. */
#include "training.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diagnostic.h"
#include "printable.h"
#include "progress.h"
#include "ranks.h"
#include "report/report.h"
#include "run_state.h"
#include "train/diagnosis.h"
#include "train/record.h"

enum { MOST_VALUES = 16 };

/* What the callbacks carry. */
typedef struct narrator {
    const training *of;
    const sgi_subject *subject;
    bool introduced; /* what is trained was said */
    progress line;
    bool json;
    sgi_value values[MOST_VALUES];
    size_t value_count;
} narrator;

/* ---- Callbacks ---------------------------------------------------------------------------- */

static void print_json(json_t *object)
{
    print_line(object, 9);
    fflush(stdout);
}

/* Says first what is trained: when it begins, or before the first thing that there is to say. A run
 * that is refused has nothing of this above the reason. */
static void introduce(void *context)
{
    narrator *t = context;
    const cli_arguments *arguments = t->of->arguments;
    char text[160];
    if (t->introduced || !t->of->heading)
        return;
    t->introduced = true;
    if (!arguments->quiet && !arguments->json)
        t->of->work->kind->heading(t->of->work->file, t->subject);
    if (!arguments->quiet && !arguments->json && describe_ranks(text, sizeof text))
        printf("ranks    %s\n", text);
    fflush(stdout);
    for (size_t i = 0; i < t->subject->note_count; i++)
        warn("%s", t->subject->notes[i]);
}

static void on_step(void *context, const sgi_step_metrics *step)
{
    narrator *t = context;
    t->values[0] = (sgi_value){"loss", "loss", step->loss, step->look, 0, 0, 0};
    t->value_count = 1;
    for (size_t i = 0; i < step->shown_count && t->value_count < MOST_VALUES; i++)
        t->values[t->value_count++] = step->shown[i];
    if (step->news && t->line.style != PROGRESS_NONE)
        progress_say(&t->line, step->news);
    progress_place place = {.done = (int64_t)step->step,
                            .share = step->share,
                            .stage = step->stage,
                            .stages = step->stages,
                            .stage_share = step->stage_share,
                            .endless = step->endless};
    progress_update(&t->line, &place, t->values, t->value_count);
}

static void add_values(json_t *object, const sgi_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, values[i].key, sgi_json_number(values[i].value));
    for (size_t i = 0; i < count; i++)
        if (values[i].low < values[i].high) {
            char key[96];
            json_t *interval = json_array();
            snprintf(key, sizeof key, "%s.interval", values[i].key);
            json_array_append_new(interval, sgi_json_number(values[i].low));
            json_array_append_new(interval, sgi_json_number(values[i].high));
            json_object_set_new(object, key, interval);
        }
}

static void on_evaluation(void *context, const sgi_evaluation_metrics *evaluation)
{
    narrator *t = context;
    if (!t->json)
        return;
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string("evaluation"));
    json_object_set_new(object, "variant", json_string(t->line.label));
    json_object_set_new(object, "step", json_integer((json_int_t)evaluation->step));
    json_object_set_new(object, "seconds", sgi_json_number(evaluation->seconds));
    add_values(object, evaluation->values, evaluation->value_count);
    print_json(object);
}

static void on_diagnosis(void *context, const sgi_diagnosis *diagnosis)
{
    narrator *t = context;
    if (!t->json)
        return;
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string("diagnosis"));
    json_object_set_new(object, "variant", json_string(t->line.label));
    json_object_set_new(object, "step", json_integer((json_int_t)diagnosis->step));
    json_object_set_new(object, "diagnosis", sgi_diagnosis_object(diagnosis));
    print_json(object);
}

/* The page of the run so far, which an open browser reads again. */
static void on_page(void *context)
{
    const narrator *t = context;
    if (t->of->reports) /* should it fail, the report at the end says why */
        (void)!sgi_report_write_running(t->of->folder, NULL, NULL);
}

static void on_note(void *context, const char *sentence)
{
    narrator *t = context;
    introduce(t);
    if (t->line.style == PROGRESS_NONE) {
        put_message(sentence, stderr);
        fputc('\n', stderr);
    } else {
        progress_say(&t->line, sentence);
    }
}

/* ---- After a run  -------------------------------------------------------------------- */

void print_result(const sgi_train_result *result)
{
    static const char *const formats[] = {[SG_LOOK_POWER] = "%.2e",
                                          [SG_LOOK_NUMBER] = "%.4g",
                                          [SG_LOOK_SHARE] = "%.2f %%",
                                          [SG_LOOK_DIGITS] = "%.6g"};
    for (size_t i = 0; i < result->value_count; i++) {
        const sgi_value *v = &result->values[i];
        printf("%-19s ", v->title);
        if (isfinite(v->value))
            printf(formats[v->look], v->look == SG_LOOK_SHARE ? 100 * v->value : v->value);
        else
            printf("not finite");
        if (v->low < v->high)
            printf("  (95 %%: %.6g to %.6g)", v->low, v->high);
        if (v->step > 0)
            printf(" at step %" PRIu64, v->step);
        putchar('\n');
    }
}

sg_status write_report(const char *folder)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_report_write(folder, NULL, &diagnostic);
    if (status == SG_OK)
        return SG_OK;
    char text[1024];
    sgi_diagnostic_line(&diagnostic, text, sizeof text);
    complain("no report: %s", text);
    return status;
}

bool finish_run(const training *t, bool complete)
{
    sg_diagnostic diagnostic = {0};
    if (write_report(t->folder) != SG_OK)
        return false;
    if (!complete || sgi_record_complete(t->folder, &diagnostic) == SG_OK)
        return true;
    tell(&diagnostic);
    return false;
}

/* ---- Training ----------------------------------------------------------------------------- */

bool find_run(const cli_arguments *arguments, char folder[SG_PATH_SIZE])
{
    struct stat info;
    const char *operand = arguments->operands[0];
    if (arguments->out || (stat(operand, &info) == 0 && S_ISDIR(info.st_mode)))
        return copy_path(folder, arguments->out ? arguments->out : operand);
    char path[SG_PATH_SIZE];
    int code;
    sg_diagnostic diagnostic = {0};
    find_problem(operand, path);
    work w;
    if (!open_work(&w, arguments, path, NULL, 0, &code))
        return false;
    sg_status status = sgi_run_newest(folder, "runs", w.kind->name(w.file), &diagnostic);
    if (status != SG_OK)
        tell(&diagnostic);
    close_work(&w);
    return status == SG_OK;
}

/* oneDNN adds up weight gradients thread by thread. */
static void warn_of_threads(const training *t, const json_t *record)
{
    json_int_t before = json_integer_value(json_object_get(record, "threads"));
    int now = sg_pool_threads(t->pool);
    if (t->work->kind->waits && before > 0 && before != now)
        fprintf(stderr,
                "warning: the run was on %d threads so far and goes on with %d: its last bits will "
                "differ from those of a run without a break (--threads %d)\n",
                (int)before, now, (int)before);
}

static int64_t start_of(const training *t)
{
    json_t *record = t->resume ? read_record(t->folder) : NULL;
    int64_t steps = json_integer_value(json_object_get(record, "steps_done"));
    warn_of_threads(t, record);
    json_decref(record);
    return steps;
}

static int tell_end(const training *t, const narrator *teller, const sgi_train_result *result,
                    const sg_diagnostic *diagnostic)
{
    if (teller->json) {
        json_t *object = json_object();
        json_object_set_new(object, "event", json_string(sgi_train_end_name(result->end)));
        json_object_set_new(object, "variant", json_string(teller->line.label));
        json_object_set_new(object, "folder", json_string(t->folder));
        json_object_set_new(object, "step", json_integer((json_int_t)result->steps));
        json_object_set_new(object, "seconds", sgi_json_number(result->seconds));
        add_values(object, result->values, result->value_count);
        print_json(object);
    }
    if (result->end == SG_TRAIN_FAILED) {
        put_message(diagnostic->message, stderr);
        fputc('\n', stderr);
        return EXIT_RUN_FAILED;
    }
    if (result->end == SG_TRAIN_INTERRUPTED) {
        fprintf(stderr, "interrupted at step %" PRIu64 "; to go on: stablegrad %s --resume\n",
                result->steps, t->go_on);
        return EXIT_INTERRUPTED;
    }
    return EXIT_DONE;
}

int train_and_tell(const training *t, sgi_train_result *result)
{
    const work *w = t->work;
    char label[64];
    sg_diagnostic diagnostic = {0};
    sgi_train_result own;
    sgi_subject *subject;
    narrator teller = {.of = t, .json = t->arguments->json};
    result = result ? result : &own;
    w->kind->method(w->file, label, sizeof label);
    announce_job(
        &(rank_job){w->origin, w->origin_size, t->folder, t->resume, t->arguments->insist, t->isa});
    if (!all_are_ready(SG_OK, &diagnostic))
        return EXIT_RUN_FAILED;
    sg_status status = w->kind->subject(&subject, w->file, t->pool, t->isa, &diagnostic);
    if (!all_are_ready(status, &diagnostic)) {
        if (status == SG_OK)
            sgi_subject_destroy(subject);
        else if (!our_ranks() || status != SG_ERROR_REDUCE) /* that another one is to blame for */
            tell(&diagnostic);
        return status == SG_OK ? EXIT_RUN_FAILED : exit_code_of_input(status);
    }
    teller.subject = subject;
    progress_begin(&teller.line, stdout, t->arguments->quiet || t->arguments->json, t->shown,
                   start_of(t), (int64_t)subject->steps);
    if (t->place)
        progress_to_board(&teller.line, t->place, t->from, t->to);
    sgi_train_config config = {.subject = subject,
                               .folder = t->folder,
                               .resume = t->resume,
                               .insist = t->arguments->insist,
                               .report_follows = t->reports,
                               .variant = t->variant,
                               .label = label,
                               .command = command_text(),
                               .threads = sg_pool_threads(t->pool),
                               .events = {&teller, on_step, on_evaluation, on_note, introduce,
                                          on_diagnosis, t->reports ? on_page : NULL},
                               .stop = &stop_requested,
                               .ranks = our_ranks(),
                               .pool = t->pool};
    status = sgi_train(&config, result, &diagnostic, NULL);
    int code;
    if (status != SG_OK) {
        if (teller.line.drawn)
            fputc('\n', stdout);
        if (status == SG_ERROR_REDUCE)
            complain_of_lost_ranks(t->go_on);
        else
            tell(&diagnostic);
        code = exit_code_of(status);
        end_all_ranks(code);
    } else {
        progress_end(&teller.line, (int64_t)result->steps, teller.values, teller.value_count);
        code = tell_end(t, &teller, result, &diagnostic);
    }
    sgi_subject_destroy(subject); /* which the names of the values belong to */
    return code;
}
