/* The runs of a reproduction: see reproduction.h. Each is made, resumed and locked as a run of a
 * comparison is; what is complete is left alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "commands/reproduction.h"
#include "files/file.h"
#include "train/metrics.h"
#include "training.h"

void run_name_of(const sgi_arm *arm, int64_t k, char *name, size_t size)
{
    if (k == 0)
        snprintf(name, size, "%s", arm->name);
    else
        snprintf(name, size, "%s-%" PRId64, arm->name, k);
}

size_t chosen_arms(const reproduction *r, size_t part)
{
    size_t count = 0;
    for (size_t a = 0; a < r->experiment->parts[part].arm_count; a++)
        count += r->chosen[part][a];
    return count;
}

bool part_folder(const reproduction *r, size_t part, char folder[SG_PATH_SIZE])
{
    if (sgi_run_path(folder, r->folder, r->experiment->parts[part].name) == SG_OK)
        return true;
    complain("%s: the path is too long", r->folder);
    return false;
}

/* The folder of a run and its file. */
static bool run_paths(const reproduction *r, size_t part, size_t arm, int64_t k,
                      char folder[SG_PATH_SIZE], char file[SG_PATH_SIZE])
{
    char above[SG_PATH_SIZE], name[96];
    run_name_of(&r->experiment->parts[part].arms[arm], k, name, sizeof name);
    if (!part_folder(r, part, above))
        return false;
    if (sgi_run_path(folder, above, name) == SG_OK &&
        sgi_run_path(file, folder, "problem.yaml") == SG_OK)
        return true;
    complain("%s: the path is too long", above);
    return false;
}

/* The shipped file of an arm, whatever lies in this folder by its name, and the values that are set
 * in it. Returns how many these are; 0: the file is not to be found. */
static size_t arm_values(const reproduction *r, size_t part, size_t arm, const char *derived,
                         char path[SG_PATH_SIZE], const char *sets[MOST_RUN_SETS])
{
    const sgi_experiment_part *p = &r->experiment->parts[part];
    char folder[SG_PATH_SIZE];
    size_t count = 0;
    int length = -1;
    if (problem_folder(folder))
        length = snprintf(path, SG_PATH_SIZE, "%s/%s.yaml", folder, p->file);
    if (length <= 0 || length >= SG_PATH_SIZE)
        return 0;
    if (kind_of(path) == &problem_work) /* that of an epoch of images is good as it is */
        sets[count++] = "training.checkpoint_every=500";
    count += sgi_arm_sets(p, &p->arms[arm], r->budget, sets + count);
    if (derived)
        sets[count++] = derived;
    for (size_t i = 0; i < r->arguments->set_count; i++)
        sets[count++] = r->arguments->sets[i];
    return count;
}

bool open_arm(const reproduction *r, size_t part, size_t arm, int64_t k, const char *derived,
              work *w, int *code)
{
    const char *sets[MOST_RUN_SETS];
    char path[SG_PATH_SIZE], seed[64];
    size_t count = arm_values(r, part, arm, derived, path, sets);
    *code = EXIT_RUN_FAILED;
    if (count == 0) {
        complain("the problems that come with the program are not to be found");
        return false;
    }
    if (!open_work_with(w, path, sets, count, code))
        return false;
    if (k == 0)
        return true;
    snprintf(seed, sizeof seed, "training.seed=%" PRId64, w->kind->training(w->file)->seed + k);
    sets[count++] = seed;
    close_work(w);
    return open_work_with(w, path, sets, count, code);
}

/* ---- The index of a part ------------------------------------------------------------------- */

static json_t *list_arm(const reproduction *r, size_t part, size_t a, int *code)
{
    const sgi_arm *arm = &r->experiment->parts[part].arms[a];
    json_t *entry = json_object(), *runs = json_array();
    char label[64], name[96];
    work w;
    if (!open_arm(r, part, a, 0, NULL, &w, code)) {
        json_decref(entry);
        json_decref(runs);
        return NULL;
    }
    w.kind->method(w.file, label, sizeof label);
    close_work(&w);
    for (int64_t k = 0; k < r->seeds; k++) {
        run_name_of(arm, k, name, sizeof name);
        json_array_append_new(runs, json_string(name));
    }
    json_object_set_new(entry, "name", json_string(arm->name));
    json_object_set_new(entry, "label", json_string(arm->label ? arm->label : label));
    json_object_set_new(entry, "runs", runs);
    return entry;
}

/* Writes compare.json, which makes the part's folder that of a comparison. */
static int write_index(const reproduction *r, size_t part, const char *folder)
{
    const sgi_experiment_part *p = &r->experiment->parts[part];
    sg_diagnostic diagnostic = {0};
    json_t *object = json_object(), *variants = json_array();
    int code = EXIT_DONE;
    for (size_t a = 0; a < p->arm_count && code == EXIT_DONE; a++) {
        json_t *entry = list_arm(r, part, a, &code);
        if (entry)
            json_array_append_new(variants, entry);
    }
    json_object_set_new(object, "name", json_string(p->name));
    json_object_set_new(object, "variants", variants);
    if (code != EXIT_DONE) {
        json_decref(object);
        return code;
    }
    sg_status status = sgi_json_write(folder, "compare.json", object, &diagnostic);
    if (status != SG_OK)
        tell(&diagnostic);
    return exit_code_of(status);
}

/* ---- A run --------------------------------------------------------------------------------- */

/* The value that an arm derives from other runs, in `set`; code is not EXIT_DONE when it cannot. */
static int derive(const reproduction *r, size_t part, const sgi_arm *arm, sgi_text *set)
{
    sg_diagnostic diagnostic = {0};
    sgi_results results;
    sg_status status =
        sgi_results_read(&results, r->experiment, r->budget, r->folder, NULL, &diagnostic);
    if (status == SG_OK)
        status = arm->derive(&results, part, set, &diagnostic);
    if (status == SG_OK)
        status = set->status;
    sgi_results_release(&results);
    if (status == SG_OK)
        return EXIT_DONE;
    char text[512];
    sgi_diagnostic_line(&diagnostic, text, sizeof text);
    complain("%s of %s cannot be trained: %s", arm->name, r->experiment->parts[part].name,
             text[0] ? text : sg_status_text(status));
    return EXIT_RUN_FAILED;
}

/* Makes the folder of a run, and the file that it is trained from. */
static int make_run(const reproduction *r, size_t part, size_t arm, int64_t k, const char *folder,
                    const char *file)
{
    const sgi_arm *of = &r->experiment->parts[part].arms[arm];
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sg_diagnostic diagnostic = {0};
    sgi_text set;
    char *text = NULL;
    work w;
    sgi_text_begin(&set, &heap);
    int code = of->derive ? derive(r, part, of, &set) : EXIT_DONE;
    if (code == EXIT_DONE && open_arm(r, part, arm, k, set.data, &w, &code)) {
        sg_status status = sgi_run_create_at(folder, NULL, &diagnostic);
        if (status == SG_OK)
            status = w.kind->write(w.file, &text);
        if (status == SG_OK)
            status = sgi_file_write(file, text, strlen(text), &heap, &diagnostic);
        if (status != SG_OK)
            tell(&diagnostic);
        code = exit_code_of(status);
        sgi_release(&heap, text);
        close_work(&w);
    }
    sgi_text_release(&set);
    return code;
}

/* Warns of a run whose file is not what the experiment would train: made by hand, or with an older
 * version. What is derived from other runs is not looked at, nor when checkpoints are written. */
static void compare_files(const reproduction *r, size_t part, size_t arm, int64_t k, const work *w)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char *texts[2] = {NULL, NULL}, own[64];
    int code;
    work wanted;
    snprintf(own, sizeof own, "training.checkpoint_every=%" PRId64,
             w->kind->training(w->file)->checkpoint_every);
    if (r->experiment->parts[part].arms[arm].derive ||
        !open_arm(r, part, arm, k, w->kind == &problem_work ? own : NULL, &wanted, &code))
        return;
    if (w->kind == wanted.kind && w->kind->write(w->file, &texts[0]) == SG_OK &&
        w->kind->write(wanted.file, &texts[1]) == SG_OK && strcmp(texts[0], texts[1]) != 0)
        warn("the file of %s/%s is not the one that this experiment begins with; the run is taken "
             "as it is",
             r->experiment->parts[part].name, r->experiment->parts[part].arms[arm].name);
    sgi_release(&heap, texts[0]);
    sgi_release(&heap, texts[1]);
    close_work(&wanted);
}

/* The first arm that is chosen. */
static size_t first_arm(const reproduction *r, size_t part)
{
    size_t a = 0;
    while (!r->chosen[part][a])
        a++;
    return a;
}

/* Trains a run whose file is there, as far as it is not complete. */
static int train_run(const reproduction *r, size_t part, size_t arm, int64_t k, const char *folder,
                     const char *file)
{
    const sgi_arm *of = &r->experiment->parts[part].arms[arm];
    char name[96];
    int code;
    work w;
    sgi_run_lock lock = {0};
    if (!open_work_with(&w, file, NULL, 0, &code))
        return code;
    run_name_of(of, k, name, sizeof name);
    run_end end = end_of(folder, &w, false);
    bool begun = is_a_run(folder), heading = k == 0 && arm == first_arm(r, part);
    training t = {.arguments = r->arguments,
                  .work = &w,
                  .pool = r->pool,
                  .isa = r->isa,
                  .folder = folder,
                  .resume = begun,
                  .heading = heading,
                  .variant = of->name,
                  .shown = name,
                  .go_on = r->go_on};
    warn_of_changes(folder);
    compare_files(r, part, arm, k, &w);
    if (end.failed || end.complete) {
        code = end.failed ? EXIT_RUN_FAILED : EXIT_DONE;
        if (!r->arguments->quiet && !r->arguments->json)
            printf("%-10s %s\n", name, end.failed ? "has failed" : "is complete");
    } else if (lock_folder(&lock, folder, &code)) {
        code = train_and_tell(&t, NULL);
    }
    sgi_run_lock_release(&lock);
    close_work(&w);
    return code;
}

static int do_run(const reproduction *r, size_t part, size_t arm, int64_t k)
{
    char folder[SG_PATH_SIZE], file[SG_PATH_SIZE];
    int code = EXIT_DONE;
    if (!run_paths(r, part, arm, k, folder, file))
        return EXIT_BAD_INPUT;
    if (!sgi_file_exists(file))
        code = make_run(r, part, arm, k, folder, file);
    return code == EXIT_DONE ? train_run(r, part, arm, k, folder, file) : code;
}

/* ---- Parts --------------------------------------------------------------------------------- */

/* All arms with the first seed before the next: the table is whole as early as can be. */
static int train_arms(const reproduction *r, size_t part)
{
    int worst = EXIT_DONE;
    for (int64_t k = 0; k < r->seeds; k++)
        for (size_t a = 0; a < r->experiment->parts[part].arm_count; a++) {
            int code = r->chosen[part][a] ? do_run(r, part, a, k) : EXIT_DONE;
            worst = code > worst ? code : worst;
            if (code == EXIT_INTERRUPTED || code == EXIT_BAD_INPUT)
                return code;
        }
    return worst;
}

static int train_part(const reproduction *r, size_t part)
{
    char folder[SG_PATH_SIZE];
    sg_diagnostic diagnostic = {0};
    sgi_run_lock lock = {0};
    if (!part_folder(r, part, folder))
        return EXIT_BAD_INPUT;
    if (!is_folder(folder) && sgi_run_create_at(folder, NULL, &diagnostic) != SG_OK) {
        tell(&diagnostic);
        return EXIT_RUN_FAILED;
    }
    int code;
    if (!lock_folder(&lock, folder, &code))
        return code;
    if (!r->arguments->quiet && !r->arguments->json)
        printf("\n%s  %s\n", r->experiment->parts[part].name, r->experiment->parts[part].title);
    code = write_index(r, part, folder);
    if (code == EXIT_DONE)
        code = train_arms(r, part);
    if (code != EXIT_BAD_INPUT && write_report(folder) != SG_OK && code == EXIT_DONE)
        code = EXIT_RUN_FAILED;
    sgi_run_lock_release(&lock);
    return code;
}

int train_parts(reproduction *r)
{
    int worst = EXIT_DONE;
    for (size_t p = 0; p < r->experiment->part_count; p++) {
        if (!chosen_arms(r, p))
            continue;
        int code = train_part(r, p);
        worst = code > worst ? code : worst;
        if (code == EXIT_INTERRUPTED || code == EXIT_BAD_INPUT)
            return code;
        json_decref(write_tables(r));
    }
    return worst;
}

/* ---- Time ---------------------------------------------------------------------------------- */

/* Steps that a run has still to take; a measurement of the kernels counts as the steps that it
 * lasts. */
static double steps_left(const reproduction *r, size_t part, size_t arm, int64_t k, const work *w)
{
    const double diagnosis_steps = 70;
    char folder[SG_PATH_SIZE], file[SG_PATH_SIZE];
    double steps = (double)w->kind->steps(w->file, NULL);
    if (r->folder[0] && run_paths(r, part, arm, k, folder, file)) {
        json_t *record = read_record(folder);
        steps -= (double)json_integer_value(json_object_get(record, "steps_done"));
        json_decref(record);
    }
    int64_t every = w->kind->diagnose_every ? w->kind->diagnose_every(w->file) : 0;
    return fmax(steps, 0) * (1 + (every > 0 ? diagnosis_steps / (double)every : 0));
}

/* Seconds that a run with a budget of so many has still to go. */
static double seconds_left(const reproduction *r, size_t part, size_t arm, int64_t k, double budget)
{
    char folder[SG_PATH_SIZE], file[SG_PATH_SIZE];
    if (!r->folder[0] || !run_paths(r, part, arm, k, folder, file))
        return budget;
    json_t *record = read_record(folder);
    const char *state = json_string_value(json_object_get(record, "status"));
    double done = json_number_value(json_object_get(record, "seconds"));
    if (state && strcmp(state, "complete") == 0)
        done = budget;
    json_decref(record);
    return fmax(budget - done, 0);
}

/* The first arm stands for all: a step costs the same, but for the optimizer's pass. A file that
 * cannot be opened, as a task without its images, has no time that is known. */
static double part_seconds(const reproduction *r, size_t part)
{
    const char *sets[MOST_RUN_SETS];
    char path[SG_PATH_SIZE];
    sg_diagnostic diagnostic;
    work w;
    double steps = 0, timed = 0;
    size_t count = arm_values(r, part, 0, NULL, path, sets);
    if (count == 0 || load_work(&w, path, sets, count, &diagnostic) != SG_OK)
        return NAN;
    double budget = w.kind->training(w.file)->seconds;
    for (size_t a = 0; a < r->experiment->parts[part].arm_count; a++)
        for (int64_t k = 0; r->chosen[part][a] && k < r->seeds; k++) {
            steps += steps_left(r, part, a, k, &w);
            timed += seconds_left(r, part, a, k, budget);
        }
    /* the steps of a task are not known before its images are counted */
    double seconds = steps > 0 || w.kind->steps(w.file, NULL) <= 0 ? NAN : 0;
    if (budget > 0)
        seconds = timed;
    else if (steps > 0 && w.kind->step_seconds)
        seconds = steps * w.kind->step_seconds(w.file, r->pool);
    close_work(&w);
    return seconds;
}

double expected_seconds(const reproduction *r)
{
    double seconds = 0;
    for (size_t p = 0; p < r->experiment->part_count; p++)
        if (chosen_arms(r, p))
            seconds += part_seconds(r, p);
    return seconds;
}
