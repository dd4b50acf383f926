/* Networks on images through the loop: they learn, repeat and resume bit for bit; a collapse is
 * found, explained and recorded; what is wrong with the data is told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folders.h"
#include "support/images.h"
#include "support/support.h"
#include "train/image_events.h"
#include "train/image_subject.h"
#include "train/train.h"

static const char text[] = "name: quarters\n"
                           "data:\n"
                           "  kind: cifar10\n"
                           "  train: train.bin\n"
                           "  test: test.bin\n"
                           "  size: 16\n"
                           "  zoom: 1\n"
                           "  flip: false\n"
                           "  crop: {area: [0.8, 1], aspect: 1.1}\n"
                           "network: {model: mlp, hidden: [24, 24], activation: relu, norm: none}\n"
                           "training:\n"
                           "  epochs: 4\n"
                           "  batch: 16\n"
                           "  optimizer: {name: adamw, rate: 3e-3}\n"
                           "  log_every: 4\n"
                           "  observe_every: 10\n";

static char *root;

static int make_data(void **state)
{
    char path[600];
    (void)state;
    root = folder_temporary();
    snprintf(path, sizeof path, "%s/train.bin", root);
    if (images_write(path, 132, 1) != 0)
        return 1;
    snprintf(path, sizeof path, "%s/test.bin", root);
    return images_write(path, 40, 2);
}

static int remove_data(void **state)
{
    (void)state;
    folder_remove(root);
    return 0;
}

static sgi_task *read_task(const char *const *sets, size_t count)
{
    char name[600];
    sgi_task *task;
    sg_diagnostic diagnostic;
    snprintf(name, sizeof name, "%s/quarters.yaml", root);
    sg_status status =
        sgi_task_read(&task, name, text, strlen(text), sets, count, NULL, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s: %s", sg_status_name(status), diagnostic.message);
    return task;
}

typedef struct watch {
    volatile sig_atomic_t stop;
    uint64_t stop_at;
    int notes;
    char first_note[700];
    double last_epoch; /* the sum of the training losses of the last eight steps of 32 */
} watch;

static void on_step(void *context, const sgi_step_metrics *step)
{
    watch *w = context;
    if (step->step == w->stop_at)
        w->stop = 1;
    if (step->step > 24)
        w->last_epoch += step->loss;
}

static void on_note(void *context, const char *sentence)
{
    watch *w = context;
    if (w->notes++ == 0)
        snprintf(w->first_note, sizeof w->first_note, "%s", sentence);
}

/* A folder of a run below the temporary one. */
static void folder_named(char path[SG_PATH_SIZE], const char *name)
{
    sg_diagnostic diagnostic = {0};
    assert_ok(sgi_run_path(path, root, name));
    assert_ok(sgi_run_create_at(path, NULL, &diagnostic));
}

static sgi_train_result run(const char *folder, const char *const *sets, size_t count, bool resume,
                            watch *w, sg_diagnostic *diagnostic)
{
    sg_pool *pool;
    sgi_subject *subject;
    sgi_train_result result;
    sgi_task *task = read_task(sets, count);
    assert_ok(sg_pool_create(&pool, 2, NULL));
    sg_status status =
        sgi_image_subject_create(&subject, task, pool, NULL, SG_ISA_AUTO, NULL, diagnostic);
    if (status != SG_OK)
        fail_msg("%s", said(diagnostic));
    sgi_train_config config = {.subject = subject,
                               .folder = folder,
                               .resume = resume,
                               .variant = "train",
                               .label = "no BatchNorm",
                               .command = "test",
                               .threads = 2,
                               .events = {w, on_step, NULL, on_note},
                               .stop = &w->stop};
    status = sgi_train(&config, &result, diagnostic, NULL);
    if (status != SG_OK)
        fail_msg("%s", said(diagnostic));
    sgi_subject_destroy(subject);
    sg_pool_destroy(pool);
    sgi_task_destroy(task);
    return result;
}

static json_t *read_json(const char *folder, const char *name)
{
    char *content = folder_text(folder, name);
    json_t *object = json_loads(content, 0, NULL);
    assert_non_null(object);
    free(content);
    return object;
}

static void assert_same_weights(const char *a, const char *b)
{
    char path_a[SG_PATH_SIZE], path_b[SG_PATH_SIZE], command[3 * SG_PATH_SIZE];
    assert_ok(sgi_run_path(path_a, a, "weights.safetensors"));
    assert_ok(sgi_run_path(path_b, b, "weights.safetensors"));
    snprintf(command, sizeof command, "cmp '%s' '%s'", path_a, path_b);
    assert_int_equal(system(command), 0);
}

/* ---- Learning ----------------------------------------------------------------------------- */

/* Every kind of norm and method learns the quarters; 132 images make 8 batches of 16. What is asked
 * must hold whatever the rounding: the mean training loss of the last epoch, well below that of
 * guessing among the four classes that occur. Measured on every instruction set: at most 0.71 for
 * the MLP with BatchNorm, 0.06 for all others. The test loss would be a bad measure of ResNet-18,
 * whose running averages are far behind its weights after so few steps. */
static void test_learns(void **state)
{
    static const char *const cases[][5] = {
        {"norm=none", "method=none", "model=mlp", "rate=3e-3", "seed=1"},
        {"norm=none", "method=stablegrad", "model=mlp", "rate=3e-3", "seed=1"},
        {"norm=none", "method=stablegrad", "model=mlp", "rate=3e-3", "seed=2"},
        {"norm=none", "method=sign", "model=mlp", "rate=3e-3", "seed=1"},
        {"norm=batch", "method=none", "model=mlp", "rate=3e-3", "seed=1"},
        {"norm=batch", "method=none", "model=resnet18", "rate=1e-3", "seed=1"},
    };
    static const char *const keys[] = {"network.", "training.stablegrad.", "network.",
                                       "training.optimizer.", "training."};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[SG_PATH_SIZE], name[32], sets[5][64];
        const char *given[5];
        sg_diagnostic diagnostic = {0};
        watch w = {0};
        snprintf(name, sizeof name, "learn-%zu", i);
        for (size_t k = 0; k < 5; k++) {
            snprintf(sets[k], sizeof sets[k], "%s%s", keys[k], cases[i][k]);
            given[k] = sets[k];
        }
        folder_named(folder, name);
        sgi_train_result result = run(folder, given, 5, false, &w, &diagnostic);
        assert_int_equal(result.end, SG_TRAIN_COMPLETE);
        assert_int_equal(result.steps, 32);
        double loss = w.last_epoch / 8;
        if (!(loss < 0.75 * log(4)))
            fail_msg("%s %s %s: a loss of %g", cases[i][0], cases[i][1], cases[i][2], loss);
        assert_true(sgi_train_value(&result, "top5") >= sgi_train_value(&result, "top1") &&
                    sgi_train_value(&result, "best_top1") >= sgi_train_value(&result, "top1"));
    }
}

static void test_run_folder(void **state)
{
    char folder[SG_PATH_SIZE];
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    (void)state;
    folder_named(folder, "folder");
    sgi_train_result result = run(folder, NULL, 0, false, &w, &diagnostic);
    json_t *record = read_json(folder, "run.json");
    assert_string_equal(json_string_value(json_object_get(record, "task")), "images");
    assert_string_equal(json_string_value(json_object_get(record, "status")), "complete");
    assert_int_equal(json_integer_value(json_object_get(record, "steps_per_epoch")), 8);
    assert_int_equal(json_array_size(json_object_get(record, "events")), 0);
    json_decref(record);
    char *lines = folder_text(folder, "metrics.jsonl");
    size_t evaluations = 0, observed = 0, steps = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *object = json_loads(line, 0, NULL);
        json_t *validation = json_object_get(object, "validation");
        evaluations += validation != NULL;
        steps += json_object_get(object, "layers") != NULL;
        observed += json_object_get(object, "activations") != NULL;
        if (validation && json_integer_value(json_object_get(object, "step")) == 32)
            assert_close(json_number_value(json_object_get(validation, "top1")),
                         sgi_train_value(&result, "top1"), 1e-9);
        json_decref(object);
    }
    free(lines);
    assert_int_equal(evaluations, 4); /* after each epoch */
    assert_int_equal(observed, 5);    /* steps 1, 10, 20, 30 and the last */
    assert_int_equal(steps, 11);      /* those, and every fourth */
    char *task = folder_text(folder, "problem.yaml");
    assert_non_null(strstr(task, "observe_every: 10"));
    free(task);
}

/* ---- Repeating ---------------------------------------------------------------------------- */

/* What training lines say of the images since the line before: "9:0.25,0.75;12:...". */
static void read_shares(const char *folder, char *into, size_t size)
{
    size_t used = 0;
    char *lines = folder_text(folder, "metrics.jsonl");
    into[0] = '\0';
    for (char *line = strtok(lines, "\n"); line && used < size; line = strtok(NULL, "\n")) {
        json_t *object = json_loads(line, 0, NULL), *top1 = json_object_get(object, "top1");
        if (top1)
            used += (size_t)snprintf(into + used, size - used, "%lld:%.9g,%.9g;",
                                     json_integer_value(json_object_get(object, "step")),
                                     json_number_value(top1),
                                     json_number_value(json_object_get(object, "top5")));
        json_decref(object);
    }
    free(lines);
}

/* On either side of the end of StableGrad's window, which the metrics mark. */
static void test_resumes(void **state)
{
    static const char *const sets[] = {"network.norm=batch", "training.stablegrad.until=11"};
    char whole[SG_PATH_SIZE], parts[SG_PATH_SIZE];
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    (void)state;
    folder_named(whole, "whole");
    run(whole, sets, 2, false, &w, &diagnostic);
    char *metrics = folder_text(whole, "metrics.jsonl"), *line = strstr(metrics, "{\"step\":12,");
    assert_non_null(line);
    *strchr(line, '\n') = '\0';
    assert_non_null(strstr(line, "\"handover\":\"raw\""));
    free(metrics);
    for (uint64_t stop = 10; stop <= 13; stop += 3) {
        watch stopped = {.stop_at = stop};
        folder_named(parts, stop == 10 ? "before" : "after");
        sgi_train_result result = run(parts, sets, 2, false, &stopped, &diagnostic);
        assert_int_equal(result.end, SG_TRAIN_INTERRUPTED);
        assert_int_equal(result.steps, stop);
        result = run(parts, sets, 2, true, &w, &diagnostic);
        assert_int_equal(result.first_step, stop);
        assert_int_equal(result.end, SG_TRAIN_COMPLETE);
        assert_same_weights(whole, parts);
        char shares[2][4096];
        read_shares(whole, shares[0], sizeof shares[0]);
        read_shares(parts, shares[1], sizeof shares[1]);
        assert_string_equal(shares[0], shares[1]);
    }
}

/* ---- Collapse ----------------------------------------------------------------------------- */

static void test_collapse(void **state)
{
    static const char *const sets[] = {"training.optimizer.rate=1e6",
                                       "network.hidden=[24,24,24,24,24,24,24,24]",
                                       "training.stablegrad.method=none"};
    char folder[SG_PATH_SIZE];
    sg_diagnostic diagnostic = {0};
    watch w = {0};
    (void)state;
    folder_named(folder, "collapse");
    sgi_train_result result = run(folder, sets, 3, false, &w, &diagnostic);
    assert_int_equal(result.end, SG_TRAIN_FAILED);
    assert_non_null(strstr(said(&diagnostic), "collapsed"));
    assert_true(w.notes > 0);
    json_t *record = read_json(folder, "run.json");
    assert_string_equal(json_string_value(json_object_get(record, "status")), "failed");
    json_t *events = json_object_get(record, "events"), *event;
    size_t index;
    bool left = false;
    json_array_foreach(events, index, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "kind")), "not_finite") != 0)
            continue;
        left = true;
        assert_string_equal(json_string_value(json_object_get(event, "pass")), "forward");
        assert_non_null(strstr(json_string_value(json_object_get(event, "layer")), "layers."));
        assert_true(json_integer_value(json_object_get(event, "step")) >= 2);
    }
    assert_true(left);
    json_decref(record);
}

/* Events one by one, from steps and evaluations made up. */
static void test_events(void **state)
{
    sgi_image_events events = {0}, again;
    sgi_image_score dead = {100, 4.7, 0.01, 0.05, 17}, alive = {100, 3.9, 0.1, 0.3, -1};
    (void)state;
    assert_null(sgi_image_events_evaluation(&events, 1, &alive, 100, "b"));
    const sgi_image_event *event = sgi_image_events_evaluation(&events, 5, &dead, 100, "b");
    assert_non_null(event);
    assert_string_equal(event->layer, "b");
    assert_string_equal(event->text,
                        "step 5: every test image is taken for class 17; from b on the "
                        "outputs do not depend on the image");
    assert_null(sgi_image_events_evaluation(&events, 6, &dead, 100, "b"));
    event = sgi_image_events_evaluation(&events, 9, &alive, 100, "b");
    assert_non_null(event);
    assert_string_equal(event->text, "step 9: the test loss is 3.9 again, below that of guessing, "
                                     "4.61");
    assert_null(sgi_image_events_evaluation(&events, 10, &alive, 100, "b"));
    json_t *array = sgi_image_events_json(&events);
    assert_int_equal(json_array_size(array), 2);
    sgi_image_events_read(&again, array);
    /* After a recovery trouble is news again, also in a run that was resumed from there. */
    assert_non_null(sgi_image_events_evaluation(&again, 12, &dead, 100, "b"));
    assert_null(sgi_image_events_evaluation(&again, 13, &dead, 100, "b"));
    assert_non_null(sgi_image_events_evaluation(&again, 15, &alive, 100, "b"));
    assert_int_equal(again.count, 4);
    /* However often it happens, memory is bounded, and the first and the last are kept. */
    for (uint64_t step = 20; step < 400; step += 2) {
        assert_non_null(sgi_image_events_evaluation(&again, step, &dead, 100, "b"));
        assert_non_null(sgi_image_events_evaluation(&again, step + 1, &alive, 100, "b"));
    }
    assert_int_equal(again.count, SG_EVENTS_KEPT);
    assert_int_equal(again.list[0].step, 5);
    assert_int_equal(again.list[SG_EVENTS_KEPT - 1].step, 399);
    for (size_t i = 1; i < again.count; i++)
        assert_true(again.list[i].step > again.list[i - 1].step);
    sgi_image_events_read(&again, array);
    json_t *copy = sgi_image_events_json(&again);
    assert_true(json_equal(array, copy));
    json_decref(array);
    json_decref(copy);
    assert_close(sgi_exploded_loss(100), 460.517, 1e-3);
}

/* A network whose second layer is zero sees nothing from there on. */
static void test_constant(void **state)
{
    static const char *const sets[] = {"training.steps=2", "training.optimizer.rate=0"};
    sg_pool *pool;
    sg_diagnostic diagnostic = {0};
    sgi_image_trainer *trainer;
    sgi_image_score score;
    sgi_task *task = read_task(sets, 2);
    (void)state;
    assert_ok(sg_pool_create(&pool, 1, NULL));
    assert_ok(sgi_image_trainer_create(&trainer, task, pool, NULL, SG_ISA_AUTO, NULL, &diagnostic));
    sg_net *net = sgi_image_trainer_network(trainer);
    assert_ok(sgi_image_trainer_evaluate(trainer, &score, &diagnostic));
    assert_ok(sg_net_observe(net));
    assert_string_equal(sgi_first_dull_layer(net), "");
    sg_params *params = sg_net_params(net);
    size_t weight = sg_params_find(params, "layers.1.weight");
    assert_int_not_equal(weight, SG_NOT_FOUND);
    const sg_span *span = sg_params_at(params, weight);
    memset(span->value, 0, span->count * sizeof(float));
    assert_ok(sgi_image_trainer_evaluate(trainer, &score, &diagnostic));
    assert_int_equal(score.only_class, 0);
    if (strncmp(sgi_first_dull_layer(net), "layers.1", 8) != 0)
        fail_msg("from '%s' on", sgi_first_dull_layer(net));
    sgi_image_trainer_destroy(trainer);
    sg_pool_destroy(pool);
    sgi_task_destroy(task);
}

/* ---- Mistakes ----------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    static const struct {
        const char *set, *says;
    } cases[] = {
        {"data.train=/nowhere/train.bin", "/nowhere/train.bin"},
        {"training.batch=500", "132 training images do not fill one batch of 500"},
        {"data.kind=cifar100", "train.bin"},
    };
    sg_pool *pool;
    (void)state;
    assert_ok(sg_pool_create(&pool, 1, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_subject *subject;
        sg_diagnostic diagnostic = {0};
        sgi_task *task = read_task(&cases[i].set, 1);
        sg_status status =
            sgi_image_subject_create(&subject, task, pool, NULL, SG_ISA_AUTO, NULL, &diagnostic);
        assert_int_not_equal(status, SG_OK);
        assert_null(subject);
        if (!strstr(said(&diagnostic), cases[i].says))
            fail_msg("'%s' does not say '%s'", said(&diagnostic), cases[i].says);
        sgi_task_destroy(task);
    }
    sg_pool_destroy(pool);
}

/* Every allocation of making a subject fails in turn; nothing is left behind. */
static void test_allocations(void **state)
{
    sg_pool *pool;
    sgi_subject *subject;
    sg_diagnostic diagnostic = {0};
    sgi_task *task = read_task(NULL, 0);
    failing_allocator counter = {.fail_at = -1};
    sg_allocator allocator = failing(&counter);
    (void)state;
    assert_ok(sg_pool_create(&pool, 1, NULL));
    assert_ok(
        sgi_image_subject_create(&subject, task, pool, NULL, SG_ISA_AUTO, &allocator, &diagnostic));
    sgi_subject_destroy(subject);
    assert_int_equal(counter.live, 0);
    long all = counter.made;
    for (long n = 0; n < all; n++) {
        counter = (failing_allocator){.fail_at = n};
        sg_status status = sgi_image_subject_create(&subject, task, pool, NULL, SG_ISA_AUTO,
                                                    &allocator, &diagnostic);
        if (status == SG_OK) /* the loader's workers allocate beside us: their number varies */
            sgi_subject_destroy(subject);
        assert_int_equal(counter.live, 0);
    }
    sg_pool_destroy(pool);
    sgi_task_destroy(task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),   cmocka_unit_test(test_run_folder),
        cmocka_unit_test(test_resumes),  cmocka_unit_test(test_collapse),
        cmocka_unit_test(test_events),   cmocka_unit_test(test_constant),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, make_data, remove_data);
}
