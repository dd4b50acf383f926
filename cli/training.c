/* Training with a progress line: see training.h. */
#include "training.h"

#include <inttypes.h>
#include <string.h>

#include "base/npz.h"
#include "progress.h"
#include "report/report.h"
#include "report/vti.h"
#include "train/record.h"

enum { MOST_VALUES = 16, MOST_ARRAYS = 256, FILE_LIMIT = 1 << 30 };

/* What the callbacks carry. */
typedef struct narrator {
    progress line;
    bool json;
    progress_value values[MOST_VALUES];
    size_t value_count;
} narrator;

void describe_method(const sg_problem *problem, char *text, size_t size)
{
    static const char *const optimizers[] = {"AdamW", "Adam", "SGD"};
    static const char *const references[] = {"output", "residual", "norm", "inner", "constant"};
    const sg_training_settings *chosen = &problem->settings.training;
    const char *optimizer = optimizers[chosen->optimizer];
    if (chosen->method == SG_METHOD_NONE)
        snprintf(text, size, "%s", optimizer);
    else if (chosen->method == SG_METHOD_SIGN)
        snprintf(text, size, "%s + sign", optimizer);
    else
        snprintf(text, size, "%s + StableGrad (%s)", optimizer, references[chosen->reference.kind]);
}

void print_heading(const training *t)
{
    const sg_problem *problem = t->problem;
    char network[64], parameters[32], points[32], channels[256];
    sg_trainer *trainer;
    if (t->arguments->quiet || t->arguments->json ||
        sg_trainer_create(&trainer, problem, t->pool, t->isa, NULL) != SG_OK)
        return;
    uint64_t per_step = 0;
    for (int s = 0; s < problem->set_count; s++)
        per_step += (uint64_t)problem->sets[s].items;
    sg_describe_network(&problem->settings.network, network, sizeof network);
    format_thousands(sg_jet_network_parameters(sg_trainer_network(trainer)), parameters,
                     sizeof parameters);
    format_thousands(per_step, points, sizeof points);
    sg_trainer_channels(trainer, 0, channels, sizeof channels);
    printf("%s  %s, %s parameters, %s points per step\nchannels %s\n", problem->settings.name,
           network, parameters, points, channels);
    fflush(stdout);
    sg_trainer_destroy(trainer);
}

/* ---- Callbacks ---------------------------------------------------------------------------- */

static void print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', stdout);
    fflush(stdout);
    json_decref(object);
}

static void on_step(void *context, const sg_step_metrics *step)
{
    narrator *t = context;
    t->values[0] = (progress_value){"loss", step->loss};
    t->value_count = 1;
    for (size_t i = 0; i < step->term_count && t->value_count < MOST_VALUES; i++)
        t->values[t->value_count++] = (progress_value){step->terms[i].name, step->terms[i].value};
    progress_update(&t->line, (int64_t)step->step, t->values, t->value_count);
}

static void on_evaluation(void *context, const sg_evaluation_metrics *evaluation)
{
    narrator *t = context;
    if (!t->json)
        return;
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string("evaluation"));
    json_object_set_new(object, "variant", json_string(t->line.label));
    json_object_set_new(object, "step", json_integer((json_int_t)evaluation->step));
    json_object_set_new(object, "seconds", sg_json_number(evaluation->seconds));
    json_object_set_new(object, "validation_loss", sg_json_number(evaluation->loss));
    if (evaluation->error_count > 0)
        json_object_set_new(
            object, "relative_l2",
            sg_json_number(evaluation->errors[evaluation->error_count - 1].relative_l2));
    print_json(object);
}

static void on_note(void *context, const char *sentence)
{
    narrator *t = context;
    if (t->line.style == PROGRESS_NONE)
        fprintf(stderr, "%s\n", sentence);
    else
        progress_say(&t->line, "%s", sentence);
}

/* ---- Files after a run -------------------------------------------------------------------- */

/* The arrays of field.npz as an image: axes by the coordinates' names, then everything else. */
static sg_status write_image(const char *path, const sg_problem *problem, const sg_arrays *arrays,
                             char *message, size_t size)
{
    sg_vti_grid grid = {.rank = (size_t)problem->names.coordinate_count};
    sg_vti_field fields[MOST_ARRAYS];
    size_t count = 0, axes = 0;
    for (size_t i = 0; i < arrays->count; i++) {
        const sg_array *array = &arrays->items[i];
        if (axes < grid.rank) { /* the axes come first */
            grid.names[axes] = problem->names.coordinates[axes];
            grid.axes[axes] = array->values;
            grid.shape[axes++] = array->count;
        } else if (count < MOST_ARRAYS) {
            fields[count++] = (sg_vti_field){array->name, array->values};
        }
    }
    return sg_vti_write(path, &grid, fields, count, NULL, message, size);
}

void write_field_files(const sg_problem *problem, const char *folder)
{
    char npz[SG_PATH_SIZE], vti[SG_PATH_SIZE], message[SG_MESSAGE_SIZE];
    sg_arrays arrays;
    if (sg_run_path(npz, folder, "field.npz") != SG_OK ||
        sg_run_path(vti, folder, "field.vti") != SG_OK)
        return;
    sg_status status = sg_npz_read(npz, FILE_LIMIT, NULL, &arrays, message, sizeof message);
    if (status == SG_OK)
        status = write_image(vti, problem, &arrays, message, sizeof message);
    sg_arrays_release(&arrays);
    if (status != SG_OK)
        complain("%s", message);
}

bool write_report(const char *folder)
{
    char message[SG_MESSAGE_SIZE];
    if (sg_report_write(folder, NULL, message, sizeof message) == SG_OK)
        return true;
    complain("no report: %s", message);
    return false;
}

/* ---- Training ----------------------------------------------------------------------------- */

static int64_t start_of(const training *t)
{
    char path[SG_PATH_SIZE];
    json_t *record = NULL;
    if (t->resume && sg_run_path(path, t->folder, "run.json") == SG_OK)
        record = json_load_file(path, 0, NULL);
    int64_t steps = json_integer_value(json_object_get(record, "steps_done"));
    json_decref(record);
    return steps;
}

static int tell_end(const training *t, const narrator *teller, const sg_train_result *result,
                    const sg_message *message)
{
    if (teller->json) {
        static const char *const ends[] = {"complete", "interrupted", "failed"};
        json_t *object = json_object();
        json_object_set_new(object, "event", json_string(ends[result->end]));
        json_object_set_new(object, "variant", json_string(teller->line.label));
        json_object_set_new(object, "folder", json_string(t->folder));
        json_object_set_new(object, "step", json_integer((json_int_t)result->steps));
        json_object_set_new(object, "seconds", sg_json_number(result->seconds));
        if (result->evaluated)
            json_object_set_new(object, "validation_loss", sg_json_number(result->validation_loss));
        if (result->has_error)
            json_object_set_new(object, "relative_l2", sg_json_number(result->relative_l2));
        print_json(object);
    }
    if (result->end == SG_TRAIN_FAILED) {
        fprintf(stderr, "%s\n", message->text);
        return EXIT_RUN_FAILED;
    }
    if (result->end == SG_TRAIN_INTERRUPTED) {
        fprintf(stderr, "interrupted at step %" PRIu64 "; to go on: stablegrad train %s --resume\n",
                result->steps, t->folder);
        return EXIT_INTERRUPTED;
    }
    return EXIT_DONE;
}

int train_and_tell(const training *t, sg_train_result *result)
{
    char label[64];
    sg_message message;
    sg_train_result own;
    narrator teller = {.json = t->arguments->json};
    result = result ? result : &own;
    describe_method(t->problem, label, sizeof label);
    progress_begin(&teller.line, stdout, t->arguments->quiet || t->arguments->json, t->shown,
                   start_of(t), t->problem->settings.training.steps);
    sg_train_config config = {.problem = t->problem,
                              .pool = t->pool,
                              .isa = t->isa,
                              .folder = t->folder,
                              .resume = t->resume,
                              .variant = t->variant,
                              .label = label,
                              .command = command_text(),
                              .threads = sg_pool_threads(t->pool),
                              .events = {&teller, on_step, on_evaluation, on_note},
                              .stop = &stop_requested};
    sg_status status = sg_train(&config, result, &message, NULL);
    if (status != SG_OK) {
        if (teller.line.drawn)
            fputc('\n', stdout);
        complain("%s", message.text);
        return exit_code_of(status);
    }
    progress_end(&teller.line, (int64_t)result->steps, teller.values, teller.value_count);
    if (result->end != SG_TRAIN_FAILED)
        write_field_files(t->problem, t->folder);
    return tell_end(t, &teller, result, &message);
}
