/* Kernels measured while a run trains: the training's bits stay what they are, a resumed run goes
 * on with the same bits and lines, and `until: margin` ends rescaling and begins it again. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/folders.h"
#include "support/support.h"
#include "train/pinn_subject.h"
#include "train/train.h"

static const char text[] = "name: small\n"
                           "coordinates: {x: [0, 1], t: [0, 1]}\n"
                           "fields: [u]\n"
                           "equations: {heat: u_t - 0.1*u_xx}\n"
                           "conditions:\n"
                           "  initial: {at: t = 0, u: sin(pi*x), points: 64, weight: 10}\n"
                           "  ends: {at: x = 0 | x = 1, u: 0, points: 64, weight: 10}\n"
                           "points: 300\n"
                           "network: {hidden: 2 x 12, activation: tanh}\n"
                           "training:\n"
                           "  optimizer: {name: adamw, rate: 5e-3}\n"
                           "  schedule: constant\n"
                           "  steps: 60\n"
                           "  evaluate_every: 100\n"
                           "  checkpoint_every: 1000\n"
                           "evaluation: {grid: 5 x 5, points: 50, condition_points: 50}\n"
                           "diagnose: {residuals: 100}\n";

enum { STEPS = 60, EVERY = 10, MOST_SETS = 5 };

typedef struct watch {
    volatile sig_atomic_t stop;
    uint64_t stop_at;
    int notes, diagnoses;
} watch;

static void on_step(void *context, const sgi_step_metrics *step)
{
    watch *w = context;
    w->stop = step->step == w->stop_at;
}

static void on_note(void *context, const char *sentence)
{
    ((watch *)context)->notes++;
    assert_non_null(strstr(sentence, "the margin is"));
}

static void on_diagnosis(void *context, const sgi_diagnosis *diagnosis)
{
    ((watch *)context)->diagnoses++;
    assert_true(diagnosis->finite && diagnosis->step % EVERY == 0);
}

/* Trains in `folder`, to the end or to w->stop_at. */
static void train(const char *folder, const char *const *sets, size_t count, bool resume, watch *w)
{
    sg_diagnostic diagnostic = {0};
    sgi_problem *problem;
    sgi_subject *subject;
    sgi_train_result result;
    assert_ok(sgi_problem_read(&problem, "small.yaml", text, strlen(text), sets, count, NULL,
                               &diagnostic));
    assert_ok(sgi_pinn_subject_create(&subject, problem, NULL, SG_ISA_AUTO, NULL, &diagnostic));
    sgi_train_config config = {
        .subject = subject,
        .folder = folder,
        .resume = resume,
        .variant = "train",
        .label = "AdamW",
        .command = "test",
        .threads = 1,
        .events = {.context = w, .step = on_step, .note = on_note, .diagnosis = on_diagnosis},
        .stop = &w->stop};
    if (sgi_train(&config, &result, &diagnostic, NULL) != SG_OK)
        fail_msg("%s", said(&diagnostic));
    assert_int_equal(result.end, w->stop_at ? SG_TRAIN_INTERRUPTED : SG_TRAIN_COMPLETE);
    sgi_subject_destroy(subject);
    sgi_problem_destroy(problem);
}

static void folder_in(const char *root, const char *name, char path[SG_PATH_SIZE])
{
    sg_diagnostic diagnostic = {0};
    assert_ok(sgi_run_path(path, root, name));
    assert_ok(sgi_run_create_at(path, NULL, &diagnostic));
}

static void assert_same_weights(const char *a, const char *b)
{
    const char *const folders[] = {a, b};
    unsigned char bytes[2][1 << 14];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        char path[SG_PATH_SIZE];
        assert_ok(sgi_run_path(path, folders[i], "weights.safetensors"));
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        sizes[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        fclose(file);
    }
    assert_true(sizes[0] == sizes[1] && sizes[0] > 1000 && sizes[0] < sizeof bytes[0]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
}

/* The lines of metrics.jsonl that have `key`, without the time: an array. */
static json_t *lines_with(const char *folder, const char *key)
{
    char *metrics = folder_text(folder, "metrics.jsonl"), *rest = metrics;
    json_t *lines = json_array();
    for (char *line; (line = strsep(&rest, "\n"));) {
        json_t *object = json_loads(line, 0, NULL);
        json_object_del(object, "seconds");
        json_object_del(object, "cpu_seconds");
        json_object_del(object, "refinement_seconds");
        if (json_object_get(object, key))
            json_array_append(lines, object);
        json_decref(object);
    }
    free(metrics);
    return lines;
}

static double number(const json_t *lines, size_t i, const char *key)
{
    return json_number_value(
        json_object_get(json_object_get(json_array_get(lines, i), "diagnosis"), key));
}

static void measuring_changes_no_bit(void **state)
{
    char *root = folder_temporary(), plain[SG_PATH_SIZE], measured[SG_PATH_SIZE];
    (void)state;
    folder_in(root, "plain", plain);
    folder_in(root, "measured", measured);
    watch w = {0};
    train(plain, NULL, 0, false, &w);
    assert_int_equal(w.diagnoses, 0);
    train(measured, (const char *[]){"diagnose.every=10"}, 1, false, &w);
    assert_int_equal(w.diagnoses, STEPS / EVERY);
    assert_int_equal(w.notes, 0);
    assert_same_weights(plain, measured);
    json_t *lines = lines_with(measured, "diagnosis");
    assert_int_equal(json_array_size(lines), STEPS / EVERY);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, i), "step")),
                         (i + 1) * EVERY);
        assert_true(number(lines, i, "rho") > 0 && number(lines, i, "lambda_max") > 0);
        assert_close(number(lines, i, "r_std_scaled"), 1, 1e-3);
        double margin = number(lines, i, "rho_sg") * (1 - number(lines, i, "stability") / 2) -
                        number(lines, i, "rho");
        assert_close(number(lines, i, "margin"), margin, 1e-6);
    }
    json_decref(lines);
    folder_remove(root);
}

/* A measurement where points are chosen anew takes its step with the points of the real one, and
 * leaves the choice to that. */
static void measuring_chooses_no_points(void **state)
{
    static const char *const methods[] = {"refinement.method=rad", "refinement.method=rar-d",
                                          "refinement.method=r3"};
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        char *root = folder_temporary(), plain[SG_PATH_SIZE], measured[SG_PATH_SIZE];
        const char *const sets[] = {methods[m], "refinement.every=20", "training.log_every=1",
                                    "diagnose.every=10"};
        watch w = {0};
        folder_in(root, "plain", plain);
        folder_in(root, "measured", measured);
        train(plain, sets, 3, false, &w);
        train(measured, sets, 4, false, &w);
        assert_int_equal(w.diagnoses, STEPS / EVERY);
        assert_same_weights(plain, measured);
        json_t *lines[2] = {lines_with(plain, "points"), lines_with(measured, "points")};
        assert_int_equal(json_array_size(lines[0]), STEPS);
        assert_true(json_equal(lines[0], lines[1]));
        json_decref(lines[0]);
        json_decref(lines[1]);
        folder_remove(root);
    }
}

/* A reference scale so large that rho of StableGrad is the larger one, and a rate that is far from
 * stable for it at first and far within from step 25 on. */
static const char *const by_margin[MOST_SETS] = {
    "training.stablegrad.until=margin", "diagnose.every=10", "training.stablegrad.reference=3",
    "training.stablegrad.from=3",
    "training.schedule.pieces=[{from: 25, until: 1000, factor: 0.01}]"};

static void the_margin_ends_and_begins_rescaling(void **state)
{
    char *root = folder_temporary(), whole[SG_PATH_SIZE];
    (void)state;
    folder_in(root, "whole", whole);
    watch w = {0};
    train(whole, by_margin, MOST_SETS, false, &w);
    assert_int_equal(w.notes, 2);
    json_t *measured = lines_with(whole, "diagnosis"), *changes = lines_with(whole, "handover");
    assert_true(number(measured, 0, "margin") < 0);
    assert_true(number(measured, STEPS / EVERY - 1, "margin") > 0);
    const int first[] = {4, 21, 31}; /* on, off after two measurements, on again */
    assert_int_equal(json_array_size(changes), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(changes, i), "step")),
                         first[i]);
    for (uint64_t stop = 17; stop < STEPS; stop += 13) { /* while it is off, and on again */
        char part[SG_PATH_SIZE], name[32];
        snprintf(name, sizeof name, "part-%d", (int)stop);
        folder_in(root, name, part);
        watch first_part = {.stop_at = stop}, rest = {0};
        train(part, by_margin, MOST_SETS, false, &first_part);
        train(part, by_margin, MOST_SETS, true, &rest);
        assert_same_weights(whole, part);
        json_t *again = lines_with(part, "diagnosis");
        assert_true(json_equal(measured, again));
        json_decref(again);
    }
    char *record = folder_text(whole, "run.json");
    assert_non_null(strstr(record, "\"until\": \"margin\""));
    free(record);
    json_decref(measured);
    json_decref(changes);
    folder_remove(root);
}

/* Without a cadence of one's own it is a fiftieth of the steps; and the library, which cannot
 * measure, says so. */
static void the_margin_needs_measurements(void **state)
{
    (void)state;
    sg_diagnostic diagnostic = {0};
    sg_pinn *pinn;
    sgi_problem *problem;
    sgi_subject *subject;
    const char *const sets[] = {"training.stablegrad.until=margin", "training.steps=1000"};
    assert_ok(sg_pinn_read(&pinn, "small", text, strlen(text), sets, 2, NULL, &diagnostic));
    assert_status(sg_pinn_train(pinn, NULL, NULL, NULL), SG_ERROR_UNSUPPORTED);
    sg_pinn_close(pinn);
    assert_ok(sgi_problem_read(&problem, "small", text, strlen(text), sets, 2, NULL, &diagnostic));
    assert_ok(sgi_pinn_subject_create(&subject, problem, NULL, SG_ISA_AUTO, NULL, &diagnostic));
    assert_int_equal(subject->diagnose_every, 20);
    sgi_subject_destroy(subject);
    sgi_problem_destroy(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measuring_changes_no_bit),
        cmocka_unit_test(measuring_chooses_no_points),
        cmocka_unit_test(the_margin_ends_and_begins_rescaling),
        cmocka_unit_test(the_margin_needs_measurements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
