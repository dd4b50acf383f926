/* Runs: the same bits whatever the threads, resumed or not, with StableGrad on or off; trouble that
 * ends with a message and a checkpoint. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "pinn/quantities.h"
#include "pinn/weights.h"
#include "support/support.h"
#include "train/pinn_subject.h"
#include "train/record.h"
#include "train/train.h"

static const char text[] = "name: small\n"
                           "coordinates: {x: [0, 1], t: [0, 1]}\n"
                           "fields: [u]\n"
                           "constants: {k: 0.1}\n"
                           "equations: {heat: u_t - k*u_xx}\n"
                           "conditions:\n"
                           "  initial: {at: t = 0, u: sin(pi*x), points: 64, weight: 10}\n"
                           "  ends: {at: x = 0 | x = 1, u: 0, points: 64, weight: 10}\n"
                           "points: 500\n"
                           "reference: {u: exp(-k*pi^2*t)*sin(pi*x)}\n"
                           "network: {hidden: 3 x 20, activation: tanh}\n"
                           "training:\n"
                           "  optimizer: {name: adamw, rate: 1e-3, decay: 0.01}\n"
                           "  schedule: constant\n"
                           "  steps: 40\n"
                           "  log_every: 5\n"
                           "  evaluate_every: 10\n"
                           "  checkpoint_every: 10\n"
                           "  stablegrad: {until: 30}\n"
                           "evaluation: {grid: 21 x 11, points: 300, condition_points: 50}\n";

static char root[] = "/tmp/sg_train_XXXXXX";

static sgi_problem *read_problem(const char *const *sets, size_t count)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    sg_status status = sgi_problem_read(&problem, "small.yaml", text, strlen(text), sets, count,
                                        NULL, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s: %s", sg_status_name(status), diagnostic.message);
    return problem;
}

/* Bytes of a file of a run. */
static char *read_file(const char *folder, const char *name, size_t *size)
{
    char path[SG_PATH_SIZE];
    assert_ok(sgi_run_path(path, folder, name));
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*size + 1);
    assert_int_equal(fread(data, 1, *size, file), *size);
    data[*size] = '\0';
    fclose(file);
    return data;
}

static void assert_same_file(const char *a, const char *b, const char *name)
{
    size_t size_a, size_b;
    char *x = read_file(a, name, &size_a), *y = read_file(b, name, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(x, y, size_a);
    free(x);
    free(y);
}

static void folder_named(char path[SG_PATH_SIZE], const char *name)
{
    sg_diagnostic diagnostic = {0};
    assert_ok(sgi_run_path(path, root, name));
    assert_ok(sgi_run_create_at(path, NULL, &diagnostic));
}

typedef struct watch {
    volatile sig_atomic_t stop;
    uint64_t stop_at;
    int evaluations, notes;
    char first_note[600], last_note[600];
} watch;

static void on_step(void *context, const sgi_step_metrics *step)
{
    watch *w = context;
    if (step->step == w->stop_at)
        w->stop = 1;
}

static void on_evaluation(void *context, const sgi_evaluation_metrics *evaluation)
{
    (void)evaluation;
    ((watch *)context)->evaluations++;
}

static void on_note(void *context, const char *sentence)
{
    watch *w = context;
    if (w->notes++ == 0)
        snprintf(w->first_note, sizeof w->first_note, "%s", sentence);
    snprintf(w->last_note, sizeof w->last_note, "%s", sentence);
}

static sg_status run(const char *folder, const char *const *sets, size_t count, int threads,
                     bool resume, watch *w, sgi_train_result *result, sg_diagnostic *diagnostic)
{
    sg_pool *pool;
    sgi_problem *problem = read_problem(sets, count);
    assert_ok(sg_pool_create(&pool, threads, NULL));
    sgi_subject *subject;
    assert_ok(sgi_pinn_subject_create(&subject, problem, pool, SG_ISA_AUTO, NULL, diagnostic));
    sgi_train_config config = {.subject = subject,
                               .folder = folder,
                               .resume = resume,
                               .variant = "train",
                               .label = "AdamW",
                               .command = "test",
                               .threads = threads,
                               .events = {w, on_step, on_evaluation, on_note},
                               .stop = &w->stop};
    sg_status status = sgi_train(&config, result, diagnostic, NULL);
    sgi_subject_destroy(subject);
    sg_pool_destroy(pool);
    sgi_problem_destroy(problem);
    return status;
}

static void assert_complete(const char *folder, const char *const *sets, size_t count, int threads,
                            bool resume, sgi_train_result *result)
{
    watch w = {0};
    sg_diagnostic diagnostic = {0};
    sg_status status = run(folder, sets, count, threads, resume, &w, result, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s", said(&diagnostic));
    assert_int_equal(result->end, SG_TRAIN_COMPLETE);
}

static void threads_give_the_same_weights(void **state)
{
    (void)state;
    char one[SG_PATH_SIZE], two[SG_PATH_SIZE];
    sgi_train_result result;
    folder_named(one, "threads-1");
    folder_named(two, "threads-2");
    assert_complete(one, NULL, 0, 1, false, &result);
    assert_int_equal(result.steps, 40);
    assert_true(sgi_train_value(&result, "relative_l2") > 0 &&
                sgi_train_value(&result, "relative_l2") < 2);
    assert_complete(two, NULL, 0, 2, false, &result);
    assert_same_file(one, two, "weights.safetensors");
    assert_same_file(one, two, "best.safetensors");
    assert_same_file(one, two, "field.npz");
}

/* The lines of a metrics file without the times, which differ. */
static char *metrics_without_times(const char *folder)
{
    size_t size;
    char *data = read_file(folder, "metrics.jsonl", &size), *to = data;
    for (char *from = data; *from;) {
        if (strncmp(from, "\"seconds\":", 10) == 0 || strncmp(from, "\"cpu_seconds\":", 14) == 0) {
            from += strcspn(from, ",");
            continue;
        }
        *to++ = *from++;
    }
    *to = '\0';
    return data;
}

/* Runs to step `stop`, resumes, and compares with the run in `whole`. */
static void assert_resumes(const char *whole, const char *const *sets, size_t count, uint64_t stop)
{
    char part[SG_PATH_SIZE], name[32], line[32];
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    snprintf(name, sizeof name, "part-%zu-%d", count, (int)stop);
    snprintf(line, sizeof line, "{\"step\":%d,", (int)stop);
    folder_named(part, name);
    watch w = {.stop_at = stop};
    assert_ok(run(part, sets, count, 2, false, &w, &result, &diagnostic));
    assert_int_equal(result.end, SG_TRAIN_INTERRUPTED);
    assert_int_equal(result.steps, stop);
    assert_complete(part, sets, count, 1, true, &result);
    assert_int_equal(result.first_step, stop);
    assert_int_equal(result.steps, 40);
    assert_same_file(whole, part, "weights.safetensors");
    /* The interruption adds an evaluation at its step; everything else is the same. */
    char *a = metrics_without_times(whole), *b = metrics_without_times(part);
    char *extra = strstr(b, line);
    assert_non_null(extra);
    char *next = strchr(extra, '\n') + 1;
    memmove(extra, next, strlen(next) + 1);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* Rows of measured data have their turns by the step, some are held out, and misfits are told. */
static void data_are_the_same_after_resuming(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "data={probes: {values: {x: [0.1, 0.3, 0.5, 0.7, 0.9, 0.2, 0.4], t: [0, 1, 0.5, 0.2, 0.4, "
        "0.8, 0.6], T: [0.3, 0.5, nan, 0.7, 0.2, 0.3, 0.6], s: [1, 2, 1, 2, 1, 2, 1]}, observe: "
        "{2*u: T}, std: s, points: 3, hold_out: 2}}",
        "network.precision=double", "network.hidden=2 x 6", "training.optimizer=levenberg"};
    for (size_t count = 1; count <= 4; count += 3) { /* first order, then second */
        char whole[SG_PATH_SIZE], part[SG_PATH_SIZE];
        sgi_train_result result;
        sg_diagnostic diagnostic = {0};
        folder_named(whole, count == 1 ? "data-whole" : "data-second-whole");
        folder_named(part, count == 1 ? "data-part" : "data-second-part");
        assert_complete(whole, sets, count, 2, false, &result);
        watch w = {.stop_at = 17};
        assert_ok(run(part, sets, count, 2, false, &w, &result, &diagnostic));
        assert_int_equal(result.end, SG_TRAIN_INTERRUPTED);
        assert_complete(part, sets, count, 1, true, &result);
        assert_same_file(whole, part, "weights.safetensors");
        assert_same_file(whole, part, "data.npz");
        char *metrics = metrics_without_times(part);
        assert_non_null(strstr(metrics, "\"misfit\":{\"probes\":{\"trained\":"));
        assert_non_null(strstr(metrics, "\"held_out\":"));
        /* a step of second order has no gradients that are rescaled, or left as they are */
        assert_true((count == 1) == (strstr(metrics, "\"outcome\":") != NULL));
        assert_true((count == 1) == (strstr(metrics, "\"layers\":") != NULL));
        free(metrics);
    }
}

/* StableGrad ends after step 30: before that, near it on either side, and after it. */
static void a_resumed_run_equals_the_uninterrupted_one(void **state)
{
    (void)state;
    char whole[SG_PATH_SIZE];
    sgi_train_result result;
    folder_named(whole, "whole");
    assert_complete(whole, NULL, 0, 2, false, &result);
    const uint64_t stops[] = {17, 29, 32, 38};
    for (size_t i = 0; i < 4; i++)
        assert_resumes(whole, NULL, 0, stops[i]);
}

static json_t *record_of(const char *folder)
{
    char path[SG_PATH_SIZE];
    json_error_t error;
    assert_ok(sgi_run_path(path, folder, "run.json"));
    json_t *record = json_load_file(path, 0, &error);
    if (!record)
        fail_msg("%s: %s", path, error.text);
    return record;
}

static const char *member(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* The record tells of the first stage that rescales, whatever the last one is, and of each. */
static void the_record_tells_which_stage_rescaled(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "training=[{optimizer: adamw, steps: 6}, {optimizer: levenberg, steps: 2}]",
        "training=[{optimizer: levenberg, steps: 2}, {optimizer: sgd, stablegrad: off, steps: 2}, "
        "{optimizer: {name: adamw, eps: 1e-6}, steps: 6, stablegrad: {from: 3}}]",
        "training=[{optimizer: adamw, stablegrad: off, steps: 6}, {optimizer: lbfgs, steps: 2}]"};
    static const int rescales[] = {1, 3, 0};
    for (size_t i = 0; i < 3; i++) {
        const char *sets[] = {lists[i], "network.precision=double", "network.hidden=2 x 6"};
        char folder[SG_PATH_SIZE], name[32];
        sgi_train_result result;
        snprintf(name, sizeof name, "staged-%zu", i);
        folder_named(folder, name);
        assert_complete(folder, sets, 3, 1, false, &result);
        json_t *record = record_of(folder), *said = json_object_get(record, "stablegrad");
        json_t *stages = json_object_get(record, "stages");
        const char *method = rescales[i] ? "stablegrad" : "none";
        assert_string_equal(member(said, "method"), method);
        assert_int_equal(json_integer_value(json_object_get(said, "stage")), rescales[i]);
        assert_int_equal(json_integer_value(json_object_get(said, "from")), i == 1 ? 3 : 0);
        for (size_t s = 0; s < json_array_size(stages); s++) {
            json_t *stage = json_array_get(stages, s), *own = json_object_get(stage, "stablegrad");
            const char *optimizer = member(stage, "optimizer");
            bool second = strcmp(optimizer, "levenberg") == 0 || strcmp(optimizer, "lbfgs") == 0;
            bool scales = (int)s + 1 == rescales[i];
            assert_true(second == !own);
            assert_string_equal(member(own, "method"), second   ? ""
                                                       : scales ? "stablegrad"
                                                                : "none");
            assert_true(member(stage, "name")[0]);
            if (i == 1 && scales)
                assert_close(json_number_value(json_object_get(stage, "adam_eps")), 1e-6, 1e-12);
        }
        assert_int_equal(json_array_size(stages), i == 1 ? 3 : 2);
        json_decref(record);
    }
}

/* Five windows of eight steps: within one, at its last step and at its first, in several of them,
 * with a method of first and one of second order. */
static void a_run_in_windows_is_resumed_with_the_same_bits(void **state)
{
    static const char *const sets[] = {"windows=5",
                                       "training.steps=8",
                                       "training.evaluate_every=10",
                                       "training.optimizer=levenberg",
                                       "training.points.start=40",
                                       "network.hidden=2 x 6"};
    const uint64_t stops[] = {3, 8, 9, 16, 21, 33, 39};
    (void)state;
    for (size_t count = 3; count <= 6; count += 3) {
        char whole[SG_PATH_SIZE], name[32];
        sgi_train_result result;
        snprintf(name, sizeof name, "windows-%zu", count);
        folder_named(whole, name);
        assert_complete(whole, sets, count, 2, false, &result);
        assert_int_equal(result.steps, 40);
        for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
            assert_resumes(whole, sets, count, stops[i]);
    }
}

/* Interrupted again and again: the same, and every line says its window. */
static void a_run_in_windows_may_stop_in_each(void **state)
{
    static const char *const sets[] = {"windows=[0.1, 0.4, 0.5, 0.8, 1]", "training.steps=8"};
    char whole[SG_PATH_SIZE], part[SG_PATH_SIZE];
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    (void)state;
    folder_named(whole, "all-windows");
    assert_complete(whole, sets, 2, 1, false, &result);
    folder_named(part, "each-window");
    for (uint64_t stop = 5; stop < 40; stop += 7) {
        watch w = {.stop_at = stop};
        assert_ok(run(part, sets, 2, 1, stop > 5, &w, &result, &diagnostic));
        assert_int_equal(result.end, SG_TRAIN_INTERRUPTED);
    }
    assert_complete(part, sets, 2, 1, true, &result);
    assert_same_file(whole, part, "weights.safetensors");
    assert_same_file(whole, part, "field.npz");
    char *lines = metrics_without_times(whole);
    for (int k = 1; k <= 5; k++) {
        char word[24];
        snprintf(word, sizeof word, "\"window\":%d", k);
        assert_non_null(strstr(lines, word));
    }
    free(lines);
}

typedef struct shortage {
    failing_allocator counter;
    uint64_t step; /* after which memory runs out */
    long after;    /* that many allocations more */
} shortage;

static void on_step_of_shortage(void *context, const sgi_step_metrics *step)
{
    shortage *s = context;
    if (step->step == s->step)
        s->counter.fail_at = s->counter.made + s->after;
}

/* A run in windows with the allocator of a shortage. */
static sg_status run_short(const char *folder, const char *const *sets, size_t count, shortage *s,
                           sg_diagnostic *diagnostic)
{
    sg_allocator allocator = failing(&s->counter);
    sgi_problem *problem = read_problem(sets, count);
    sgi_subject *subject;
    sgi_train_result result;
    volatile sig_atomic_t stop = 0;
    s->counter = (failing_allocator){.fail_at = -1};
    assert_ok(
        sgi_pinn_subject_create(&subject, problem, NULL, SG_ISA_AUTO, &allocator, diagnostic));
    sgi_train_config config = {.subject = subject,
                               .folder = folder,
                               .variant = "train",
                               .label = "AdamW",
                               .command = "test",
                               .threads = 1,
                               .events = {s, on_step_of_shortage},
                               .stop = &stop};
    sg_status status = sgi_train(&config, &result, diagnostic, NULL);
    sgi_subject_destroy(subject);
    assert_int_equal(s->counter.live, 0);
    sgi_problem_destroy(problem);
    return status;
}

/* The record is written whatever is left, says why, and the run goes on from its checkpoint. */
static void memory_that_runs_out_between_windows_is_told(void **state)
{
    static const char *const sets[] = {"windows=2", "training.steps=8",
                                       "training.checkpoint_every=7", "training.evaluate_every=5",
                                       "network.hidden=2 x 6",
                                       /* with these, of second order */
                                       "training.optimizer=levenberg", "training.points.start=40"};
    (void)state;
    for (size_t count = 5; count <= 7; count += 2) {
        char folder[SG_PATH_SIZE], name[32];
        sg_status status = SG_ERROR_MEMORY;
        sgi_train_result result;
        snprintf(name, sizeof name, "shortage-%zu", count);
        folder_named(folder, name);
        for (long n = 0; status != SG_OK; n += 1 + n / 10) {
            shortage s = {.step = 8, .after = n};
            sg_diagnostic diagnostic = {0};
            size_t size;
            status = run_short(folder, sets, count, &s, &diagnostic);
            if (status == SG_OK)
                break;
            assert_status(status, SG_ERROR_MEMORY);
            assert_non_null(strstr(said(&diagnostic), "memory"));
            char *record = read_file(folder, "run.json", &size);
            assert_non_null(strstr(record, "\"status\": \"interrupted\""));
            assert_non_null(strstr(record, "\"method\": "));
            assert_non_null(strstr(record, "memory"));
            free(record);
            if (n % 20 == 0) {
                assert_complete(folder, sets, count, 1, true, &result);
                assert_true(result.first_step >= 7);
            }
        }
    }
}

/* What is wrong when a run cannot be gone on from in a later window is said, and not something
 * else. */
static void memory_that_runs_out_in_resuming_is_told(void **state)
{
    static const char *const sets[] = {"windows=2", "training.steps=8", "network.hidden=2 x 6"};
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    sg_status status = SG_ERROR_MEMORY;
    sgi_train_result result;
    sgi_subject *subject;
    (void)state;
    folder_named(folder, "resuming");
    assert_complete(folder, sets, 3, 1, false, &result);
    assert_ok(sgi_run_path(path, folder, "last.safetensors"));
    sgi_problem *problem = read_problem(sets, 3);
    sg_diagnostic diagnostic = {0};
    assert_ok(
        sgi_pinn_subject_create(&subject, problem, NULL, SG_ISA_AUTO, &allocator, &diagnostic));
    for (long n = 0; status != SG_OK; n += 1 + n / 50) {
        sgi_progress progress;
        counter.fail_at = counter.made + n;
        status = subject->type->load(subject, path, &progress, &diagnostic);
        if (status != SG_OK && !strstr(said(&diagnostic), "memory"))
            fail_msg("%ld: %s", n, said(&diagnostic));
        assert_true(status == SG_OK || status == SG_ERROR_MEMORY);
    }
    assert_true(subject->over);
    sgi_subject_destroy(subject);
    assert_int_equal(counter.live, 0);
    sgi_problem_destroy(problem);
}

/* The first raw step has a line of its own that says so, and the last one what the loss did. */
static void the_handover_is_marked_and_a_jump_is_told(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const sets[] = {"training.stablegrad.handover=keep", "training.stablegrad.until=12",
                                "network.activation=silu",
                                /* a jump for certain: four steps with an absurd rate */
                                "training.schedule.pieces=[{from: 12, until: 16, factor: 300}]"};
    for (size_t jump = 0; jump < 2; jump++) {
        sgi_train_result result;
        sg_diagnostic diagnostic = {0};
        watch w = {0};
        size_t size;
        folder_named(folder, jump ? "jump" : "no-jump");
        assert_ok(run(folder, sets, 3 + jump, 1, false, &w, &result, &diagnostic));
        char *metrics = read_file(folder, "metrics.jsonl", &size);
        char *line = strstr(metrics, "{\"step\":13,");
        assert_non_null(line);
        assert_non_null(strstr(metrics, "\"handover\":\"raw\""));
        assert_true(strstr(metrics, "\"handover\"") < strchr(line, '\n'));
        assert_true(strstr(metrics, "\"handover\"") > line);
        assert_non_null(strstr(line, "\"after_handover\":{\"step\":13,\"loss\":"));
        free(metrics);
        char *record = read_file(folder, "run.json", &size);
        assert_non_null(strstr(record, "\"handover\": \"keep\""));
        free(record);
        if (jump)
            assert_non_null(strstr(w.last_note, "the loss jumped where gradients became raw, at "
                                                "step 13: from "));
    }
}

static void a_crash_after_a_checkpoint_loses_nothing(void **state)
{
    (void)state;
    char whole[SG_PATH_SIZE], part[SG_PATH_SIZE], path[SG_PATH_SIZE];
    sgi_train_result result;
    folder_named(whole, "crash-whole");
    folder_named(part, "crash-part");
    assert_complete(whole, NULL, 0, 1, false, &result);
    const char *const short_run[] = {"training.steps=20", "training.stablegrad.until=30"};
    assert_complete(part, short_run, 2, 1, false, &result);
    /* What a crash in a later step leaves: lines after the checkpoint, the last one broken. */
    assert_ok(sgi_run_path(path, part, "metrics.jsonl"));
    FILE *file = fopen(path, "a");
    fputs("{\"step\":25,\"seconds\":1.0,\"loss\":9.0}\n{\"step\":26,\"sec", file);
    fclose(file);
    assert_complete(part, NULL, 0, 1, true, &result);
    assert_same_file(whole, part, "weights.safetensors");
    char *b = metrics_without_times(part);
    assert_null(strstr(b, "\"step\":26"));
    assert_non_null(strstr(b, "\"step\":25,"));
    assert_null(strstr(b, "\"loss\":9.0"));
    free(b);
}

/* As if the file had been written by hand. */
static void put_file(const char *folder, const char *name, const char *content)
{
    char path[SG_PATH_SIZE];
    assert_ok(sgi_run_path(path, folder, name));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(const char *folder, const char *name)
{
    char path[SG_PATH_SIZE];
    assert_ok(sgi_run_path(path, folder, name));
    return access(path, F_OK) == 0;
}

/* A crash after the last checkpoint, and one in the middle of the last line: nothing is told twice,
 * nothing is glued to another line, and what was missing is there. */
static void a_crash_at_the_end_repeats_no_line(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    sgi_train_result result;
    watch w = {0};
    folder_named(folder, "crash-end");
    assert_complete(folder, NULL, 0, 1, false, &result);
    double error = sgi_train_value(&result, "relative_l2");
    char *before = metrics_without_times(folder);
    assert_ok(sgi_run_path(path, folder, "weights.safetensors"));
    assert_int_equal(unlink(path), 0);
    assert_ok(sgi_run_path(path, folder, "metrics.jsonl"));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - 1), 0); /* the last newline */
    put_file(folder, "last.safetensors.999999999-0.part", "left behind");
    put_file(folder, "notes.999999999-0.part", "not ours");
    put_file(folder, "last.safetensors.part", "not ours");
    assert_ok(run(folder, NULL, 0, 1, true, &w, &result, NULL));
    assert_int_equal(result.first_step, 40);
    assert_true(sgi_train_value(&result, "relative_l2") == error); /* told again, all the same */
    char *after = metrics_without_times(folder);
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_true(is_there(folder, "weights.safetensors"));
    assert_false(is_there(folder, "last.safetensors.999999999-0.part"));
    assert_true(is_there(folder, "notes.999999999-0.part"));
    assert_true(is_there(folder, "last.safetensors.part"));
}

/* A run is complete when all that belongs to it is there; the report is the program's. */
static void complete_is_written_last(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const short_run[] = {"training.steps=3"};
    sgi_problem *problem = read_problem(short_run, 1);
    sgi_subject *subject;
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    size_t size;
    folder_named(folder, "last");
    assert_ok(sgi_pinn_subject_create(&subject, problem, NULL, SG_ISA_AUTO, NULL, &diagnostic));
    sgi_train_config config = {.subject = subject, .folder = folder, .report_follows = true};
    assert_ok(sgi_train(&config, &result, &diagnostic, NULL));
    assert_true(is_there(folder, "field.vti"));
    assert_true(is_there(folder, "points.npz"));
    char *record = read_file(folder, "run.json", &size);
    assert_non_null(strstr(record, "\"status\": \"finishing\""));
    free(record);
    assert_ok(sgi_record_complete(folder, &diagnostic));
    record = read_file(folder, "run.json", &size);
    assert_non_null(strstr(record, "\"status\": \"complete\""));
    assert_non_null(strstr(record, "\"steps_done\": 3"));
    free(record);
    sgi_subject_destroy(subject);
    sgi_problem_destroy(problem);
}

/* Whatever stands at metrics.jsonl, only a file of the folder is written. */
/* A page of a run that goes on has no intervals, however often it is written. */
static void intervals_belong_to_the_end(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const sets[] = {
        "training.steps=2", "unknowns={q: 0.5}", "equations.heat=u_t - q*u_xx",
        "data={probes: {values: {x: [0.1, 0.3, 0.5], t: [0, 1, 0.5], u: [0.3, 0.5, 0.7]}}}"};
    sgi_problem *problem = read_problem(sets, 4);
    sgi_subject *subject;
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    folder_named(folder, "intervals");
    assert_ok(sgi_pinn_subject_create(&subject, problem, NULL, SG_ISA_AUTO, NULL, &diagnostic));
    sgi_train_config config = {.subject = subject, .folder = folder};
    assert_ok(sgi_train(&config, &result, &diagnostic, NULL));
    assert_int_equal(subject->late_count, 1);
    size_t notes = subject->late_note_count;
    for (int i = 0; i < 50; i++)
        assert_ok(subject->type->show(subject, folder, &diagnostic));
    assert_int_equal(subject->late_note_count, notes);
    sgi_subject_destroy(subject);
    sgi_problem_destroy(problem);
}

static void metrics_are_not_written_through_a_link(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE], target[SG_PATH_SIZE];
    const char *const short_run[] = {"training.steps=1"};
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    folder_named(folder, "link");
    assert_ok(sgi_run_path(path, folder, "metrics.jsonl"));
    assert_ok(sgi_run_path(target, root, "elsewhere"));
    assert_int_equal(symlink(target, path), 0);
    assert_status(run(folder, short_run, 1, 1, false, &w, &result, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "metrics.jsonl"));
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* does not hold up */
    assert_status(run(folder, short_run, 1, 1, false, &w, &result, &diagnostic), SG_ERROR_IO);
}

static void files_are_as_open_as_the_user_wants(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    const char *const short_run[] = {"training.steps=2"};
    sgi_train_result result;
    mode_t before = umask(077);
    folder_named(folder, "umask");
    assert_complete(folder, short_run, 1, 1, false, &result);
    umask(before);
    for (size_t i = 0; i < SG_RUN_FILES; i++) {
        struct stat info;
        assert_ok(sgi_run_path(path, folder, sgi_run_files[i]));
        if (stat(path, &info) == 0 && (info.st_mode & 077) != 0)
            fail_msg("%s is open to others", path);
    }
}

static void a_run_of_skipped_steps_is_not_complete(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const sets[] = {"training.steps=3", "equations.heat=u_t - k*u_xx + log(u - 5)"};
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    size_t size;
    folder_named(folder, "skipped");
    assert_ok(run(folder, sets, 2, 1, false, &w, &result, &diagnostic));
    assert_int_equal(result.end, SG_TRAIN_FAILED);
    assert_non_null(strstr(said(&diagnostic), "every step was skipped"));
    char *record = read_file(folder, "run.json", &size);
    assert_non_null(strstr(record, "\"status\": \"failed\""));
    free(record);
}

/* Values, derivatives, residuals and losses have the same bits with StableGrad on and off. */
static void stablegrad_leaves_the_forward_model_untouched(void **state)
{
    (void)state;
    const char *const methods[] = {"training.stablegrad.method=none",
                                   "training.stablegrad.method=stablegrad"};
    const char *const wanted[] = {"u", "u_x", "u_t", "u_xx", "u_t - k*u_xx"};
    static double columns[2][5][231];
    double loss[2], validation[2];
    for (size_t m = 0; m < 2; m++) {
        sgi_problem *problem = read_problem(&methods[m], 1);
        sg_pinn *pinn;
        sg_pinn_trainer *trainer;
        sg_pinn_loss validated;
        sg_pinn_step step;
        sgi_point_set set;
        sg_diagnostic diagnostic;
        assert_ok(sgi_pinn_over(&pinn, problem, NULL));
        assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, NULL));
        assert_ok(sgi_problem_quantities(problem, wanted, 5, &set, &diagnostic));
        sgi_box_grid grid = sgi_box_grid_of_problem(problem);
        sgi_places places = {&grid, NULL, grid.total};
        double *outputs[5];
        for (size_t k = 0; k < 5; k++)
            outputs[k] = columns[m][k];
        assert_ok(sgi_quantities_evaluate(problem, &set, sg_pinn_network(pinn), &places, outputs,
                                          NULL, NULL));
        sg_pinn_trainer_validate(trainer, &validated);
        validation[m] = validated.total;
        assert_ok(sg_pinn_trainer_step(trainer, &step));
        loss[m] = step.loss.total;
        assert_int_equal(step.scale->outcome, m ? SG_STEP_SCALED : SG_STEP_INACTIVE);
        sgi_point_set_release(&set);
        sg_pinn_trainer_destroy(trainer);
        sg_pinn_close(pinn);
        sgi_problem_destroy(problem);
    }
    assert_memory_equal(columns[0], columns[1], sizeof columns[0]);
    assert_true(loss[0] == loss[1] && validation[0] == validation[1]);
}

static void a_loss_that_overflows_ends_with_a_message(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    /* From step 5 on the rate is absurd: the weights grow until the loss leaves float's range. */
    const char *const sets[] = {"training.schedule.pieces=[{from: 5, until: 40, factor: 1e6}]",
                                "network.activation=silu"};
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    folder_named(folder, "overflow");
    assert_ok(run(folder, sets, 2, 1, false, &w, &result, &diagnostic));
    assert_int_equal(result.end, SG_TRAIN_FAILED);
    assert_non_null(strstr(said(&diagnostic), "20 steps skipped in a row"));
    assert_non_null(strstr(said(&diagnostic), "Last good checkpoint: step "));
    /* The same trouble is told once; again only where a step in between was not skipped. */
    assert_true(w.notes >= 1 && w.notes < SG_MOST_SKIPPED);
    /* The gradient of every layer is bad; the one at the output, where it came from, is named. */
    assert_non_null(strstr(w.last_note, "the gradient of layers.3 is not finite"));
    assert_non_null(strstr(w.last_note, "loss term '"));
    assert_ok(sgi_run_path(path, folder, "last.safetensors"));
    assert_int_equal(access(path, R_OK), 0);
    size_t size;
    char *record = read_file(folder, "run.json", &size);
    assert_non_null(strstr(record, "\"failed\""));
    free(record);
}

/* A network that is in double is not advised to be. */
static void the_advice_looks_at_the_precision(void **state)
{
    static const char *const sets[] = {
        "training.steps=3", "equations.heat=u_t - k*u_xx + log(u - 5)", "network.precision=double"};
    (void)state;
    for (size_t count = 2; count <= 3; count++) {
        char folder[SG_PATH_SIZE], name[32];
        sgi_train_result result;
        sg_diagnostic diagnostic = {0};
        watch w = {0};
        snprintf(name, sizeof name, "advice-%zu", count);
        folder_named(folder, name);
        assert_ok(run(folder, sets, count, 1, false, &w, &result, &diagnostic));
        assert_int_equal(result.end, SG_TRAIN_FAILED);
        assert_non_null(strstr(said(&diagnostic), "a smaller rate"));
        assert_true((count == 2) == (strstr(said(&diagnostic), "precision=double") != NULL));
    }
}

static void the_record_names_the_optimizer(void **state)
{
    (void)state;
    static const char *const names[] = {"adamw", "adam", "sgd"};
    for (size_t i = 0; i < 3; i++) {
        char folder[SG_PATH_SIZE], set[64], wanted[64];
        const char *const sets[] = {set, "training.steps=1"};
        sgi_train_result result;
        watch w = {0};
        size_t size;
        folder_named(folder, names[i]);
        snprintf(set, sizeof set, "training.optimizer.name=%s", names[i]);
        snprintf(wanted, sizeof wanted, "\"optimizer\": \"%s\"", names[i]);
        assert_ok(run(folder, sets, 2, 1, false, &w, &result, NULL));
        char *record = read_file(folder, "run.json", &size);
        assert_non_null(strstr(record, wanted));
        assert_int_equal(strstr(record, "\"adam_eps\"") != NULL, i < 2);
        free(record);
    }
}

/* Five coordinates on the default grid, 101 points for each: told once, and measured on less. */
static void a_grid_that_is_too_large_is_thinned_with_a_word(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const sets[] = {"evaluation.grid=40000 x 20000", "training.steps=2",
                                "training.evaluate_every=1"};
    sgi_train_result result;
    watch w = {0};
    folder_named(folder, "grid");
    assert_ok(run(folder, sets, 3, 1, false, &w, &result, NULL));
    assert_int_equal(w.evaluations, 2);
    assert_non_null(strstr(w.first_note, "errors are measured on 57"));
    assert_non_null(strstr(w.last_note, "field.npz and field.vti hold "));
    assert_non_null(strstr(w.last_note, " points, not the 40000 x 20000 of evaluation.grid"));
    size_t size;
    char *record = read_file(folder, "run.json", &size);
    assert_non_null(strstr(record, "\"field_thinned_from\""));
    free(record);
}

/* Then the validation loss says which weights are best, and why is said. */
static void a_reference_without_errors_leaves_best_weights(void **state)
{
    (void)state;
    static const char *const references[] = {"reference.u=sqrt(-1 - x)", "reference.u=0"};
    for (size_t i = 0; i < 2; i++) {
        char folder[SG_PATH_SIZE], name[32];
        const char *const sets[] = {references[i], "training.steps=3"};
        sgi_train_result result;
        watch w = {0};
        size_t size;
        snprintf(name, sizeof name, "no-error-%zu", i);
        folder_named(folder, name);
        assert_ok(run(folder, sets, 2, 1, false, &w, &result, NULL));
        assert_true(is_there(folder, "best.safetensors"));
        assert_false(isfinite(sgi_train_value(&result, "relative_l2")));
        assert_int_equal(isfinite(sgi_train_value(&result, "largest")), i == 1);
        char *record = read_file(folder, "run.json", &size);
        assert_non_null(strstr(record, "lowest validation loss"));
        free(record);
    }
}

static void a_run_without_a_checkpoint_starts_anew(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const short_run[] = {"training.steps=3"};
    sgi_train_result result;
    watch w = {0};
    folder_named(folder, "anew");
    assert_ok(run(folder, short_run, 1, 1, true, &w, &result, NULL));
    assert_int_equal(result.end, SG_TRAIN_COMPLETE);
    assert_int_equal(result.first_step, 0);
    assert_int_equal(w.notes, 1);
    assert_non_null(strstr(w.last_note, "starts from step 0"));
}

static void what_cannot_be_resumed_is_refused(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    folder_named(folder, "refused");
    const char *const short_run[] = {"training.steps=3"};
    assert_complete(folder, short_run, 1, 1, false, &result);
    const char *const wider[] = {"network.hidden=3x21"};
    assert_status(run(folder, wider, 1, 1, true, &w, &result, &diagnostic), SG_ERROR_STATE);
    assert_non_null(strstr(said(&diagnostic), "another optimizer or network"));
    assert_ok(sgi_run_path(path, folder, "last.safetensors"));
    assert_int_equal(truncate(path, 1000), 0);
    assert_status(run(folder, NULL, 0, 1, true, &w, &result, &diagnostic), SG_ERROR_FORMAT);
}

/* One bit of the last checkpoint: the one before it serves, and nothing is lost but a few steps. */
static void a_damaged_checkpoint_falls_back_to_the_one_before(void **state)
{
    (void)state;
    char whole[SG_PATH_SIZE], part[SG_PATH_SIZE], path[SG_PATH_SIZE];
    const char *const half[] = {"training.steps=25", "training.stablegrad.until=30"};
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    folder_named(whole, "undamaged");
    folder_named(part, "damaged");
    assert_complete(whole, NULL, 0, 1, false, &result);
    assert_complete(part, half, 2, 1, false, &result);
    assert_ok(sgi_run_path(path, part, "last.safetensors"));
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -100, SEEK_END), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -100, SEEK_END), 0);
    assert_int_equal(fputc(byte ^ 4, file), byte ^ 4);
    assert_int_equal(fclose(file), 0);
    assert_ok(run(part, NULL, 0, 1, true, &w, &result, &diagnostic));
    assert_int_equal(result.first_step, 20);
    assert_int_equal(result.steps, 40);
    assert_same_file(whole, part, "weights.safetensors");
    assert_true(w.notes >= 1);
}

static void a_checkpoint_of_another_problem_or_seed_is_refused(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE];
    const char *const seed[] = {"training.seed=5"}, *const points[] = {"points=501"},
                      *const longer[] = {"training.steps=6"},
                      *const short_run[] = {"training.steps=3"};
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    folder_named(folder, "identity");
    assert_complete(folder, short_run, 1, 1, false, &result);
    assert_status(run(folder, seed, 1, 1, true, &w, &result, &diagnostic), SG_ERROR_STATE);
    assert_non_null(strstr(said(&diagnostic), "seed 0, not 5"));
    assert_non_null(strstr(diagnostic.suggestion, "--insist"));
    assert_status(run(folder, points, 1, 1, true, &w, &result, &diagnostic), SG_ERROR_STATE);
    assert_non_null(strstr(said(&diagnostic), "another problem"));
    assert_ok(run(folder, longer, 1, 1, true, &w, &result, &diagnostic));
    assert_int_equal(result.steps, 6);
}

static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    assert_status(run("/nonexistent/folder", NULL, 0, 1, false, &w, &result, &diagnostic),
                  SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "/nonexistent/folder"));
}

static sg_status create_trainer(const sg_allocator *allocator, void *pinn)
{
    sg_pinn_trainer *trainer;
    sg_status status = sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, allocator);
    assert_true((status == SG_OK) == (trainer != NULL));
    sg_pinn_trainer_destroy(trainer);
    return status;
}

static void every_allocation_of_a_trainer_in_turn(void **state)
{
    (void)state;
    sgi_problem *problem = read_problem(NULL, 0);
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    sg_pinn *pinn;
    sg_pinn_trainer *trainer;
    assert_ok(sgi_pinn_over(&pinn, problem, NULL));
    assert_ok(sg_pinn_trainer_create(&trainer, pinn, NULL, SG_ISA_AUTO, &allocator));
    long made = counter.made;
    sg_pinn_step step;
    for (int i = 0; i < 3; i++)
        assert_ok(sg_pinn_trainer_step(trainer, &step));
    assert_int_equal(counter.made, made); /* a step allocates nothing */
    sg_pinn_trainer_destroy(trainer);
    assert_int_equal(counter.live, 0);
    assert_int_equal(each_allocation_fails(create_trainer, pinn, 1), made);
    sg_pinn_close(pinn);
    sgi_problem_destroy(problem);
}

static void weights_cross_precisions(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    const char *const short_run[] = {"training.steps=3"};
    const char *const wide[] = {"network.precision=double"};
    sgi_train_result result;
    sg_diagnostic diagnostic = {0};
    folder_named(folder, "precision");
    assert_complete(folder, short_run, 1, 1, false, &result);
    assert_ok(sgi_run_path(path, folder, "weights.safetensors"));
    sgi_problem *single = read_problem(NULL, 0), *twice = read_problem(wide, 1);
    sg_pinn *a, *b;
    assert_ok(sgi_pinn_over(&a, single, NULL));
    assert_ok(sgi_pinn_over(&b, twice, NULL));
    assert_ok(sgi_weights_load(path, sg_pinn_network(a), NULL, &diagnostic));
    assert_ok(sgi_weights_load(path, sg_pinn_network(b), NULL, &diagnostic));
    const float *x = sg_jet_network_values(sg_pinn_network(a));
    const double *y = sg_jet_network_values(sg_pinn_network(b));
    for (size_t i = 0; i < sg_jet_network_parameters(sg_pinn_network(a)); i++)
        assert_true((double)x[i] == y[i]);
    sg_pinn_batch *batch_a, *batch_b;
    sg_pinn_loss loss_a, loss_b;
    assert_ok(sg_pinn_batch_create(&batch_a, a, NULL, NULL));
    assert_ok(sg_pinn_batch_create(&batch_b, b, NULL, NULL));
    sg_pinn_loss_at(batch_a, &loss_a);
    sg_pinn_loss_at(batch_b, &loss_b);
    assert_relative(loss_a.total, loss_b.total, 1e-4);
    assert_status(sgi_weights_load("/nonexistent", sg_pinn_network(a), NULL, &diagnostic),
                  SG_ERROR_IO);
    sg_pinn_batch_destroy(batch_a);
    sg_pinn_batch_destroy(batch_b);
    sg_pinn_close(a);
    sg_pinn_close(b);
    sgi_problem_destroy(single);
    sgi_problem_destroy(twice);
}

/* A run of the program, with its folder, evaluations and checkpoints, takes the same steps to the
 * bit as the library's own loop. */
static void the_library_trains_as_the_program_does(void **state)
{
    (void)state;
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    sgi_train_result result;
    sg_diagnostic diagnostic;
    sg_pinn *ran, *trained;
    sg_pool *pool;
    folder_named(folder, "library");
    assert_complete(folder, NULL, 0, 1, false, &result);
    assert_ok(sgi_run_path(path, folder, "weights.safetensors"));
    assert_ok(sg_pinn_read(&ran, "small", text, strlen(text), NULL, 0, NULL, &diagnostic));
    assert_ok(sg_pinn_load(ran, path, &diagnostic));
    assert_ok(sg_pinn_read(&trained, "small", text, strlen(text), NULL, 0, NULL, &diagnostic));
    assert_ok(sg_pool_create(&pool, 2, NULL));
    sg_pinn_train_config config = {.pool = pool};
    sg_pinn_result end;
    assert_ok(sg_pinn_train(trained, &config, &end, NULL));
    assert_int_equal(end.steps, 40);
    assert_memory_equal(&end.loss, &result.loss, sizeof end.loss);
    assert_memory_equal(sg_jet_network_values(sg_pinn_network(trained)),
                        sg_jet_network_values(sg_pinn_network(ran)),
                        sg_params_elements(sg_pinn_params(ran)) * sizeof(float));
    sg_pool_destroy(pool);
    sg_pinn_close(trained);
    sg_pinn_close(ran);
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_same_weights),
        cmocka_unit_test(a_resumed_run_equals_the_uninterrupted_one),
        cmocka_unit_test(data_are_the_same_after_resuming),
        cmocka_unit_test(the_record_tells_which_stage_rescaled),
        cmocka_unit_test(a_run_in_windows_is_resumed_with_the_same_bits),
        cmocka_unit_test(a_run_in_windows_may_stop_in_each),
        cmocka_unit_test(memory_that_runs_out_between_windows_is_told),
        cmocka_unit_test(memory_that_runs_out_in_resuming_is_told),
        cmocka_unit_test(the_handover_is_marked_and_a_jump_is_told),
        cmocka_unit_test(a_crash_after_a_checkpoint_loses_nothing),
        cmocka_unit_test(a_crash_at_the_end_repeats_no_line),
        cmocka_unit_test(complete_is_written_last),
        cmocka_unit_test(intervals_belong_to_the_end),
        cmocka_unit_test(metrics_are_not_written_through_a_link),
        cmocka_unit_test(files_are_as_open_as_the_user_wants),
        cmocka_unit_test(a_run_of_skipped_steps_is_not_complete),
        cmocka_unit_test(stablegrad_leaves_the_forward_model_untouched),
        cmocka_unit_test(a_loss_that_overflows_ends_with_a_message),
        cmocka_unit_test(the_advice_looks_at_the_precision),
        cmocka_unit_test(the_record_names_the_optimizer),
        cmocka_unit_test(a_grid_that_is_too_large_is_thinned_with_a_word),
        cmocka_unit_test(a_reference_without_errors_leaves_best_weights),
        cmocka_unit_test(a_run_without_a_checkpoint_starts_anew),
        cmocka_unit_test(what_cannot_be_resumed_is_refused),
        cmocka_unit_test(a_damaged_checkpoint_falls_back_to_the_one_before),
        cmocka_unit_test(a_checkpoint_of_another_problem_or_seed_is_refused),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_an_error),
        cmocka_unit_test(every_allocation_of_a_trainer_in_turn),
        cmocka_unit_test(weights_cross_precisions),
        cmocka_unit_test(the_library_trains_as_the_program_does),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
