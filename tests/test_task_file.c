/* Image task files that are right: what they mean, paths, overrides, writing and reading again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/document.h"
#include "support/malformed.h"
#include "support/support.h"
#include "task/recognise.h"
#include "task/task.h"

static const char small[] = "data: {train: a.bin, test: b.bin}\n";

static sgi_task *read_as(const char *name, const char *text, const char *const *overrides,
                         size_t count)
{
    sgi_task *task;
    sg_diagnostic diagnostic;
    char answer[2048];
    if (sgi_task_read(&task, name, text, strlen(text), overrides, count, NULL, &diagnostic) !=
        SG_OK) {
        sg_diagnostic_format(&diagnostic, answer, sizeof answer);
        fail_msg("%s", answer);
    }
    return task;
}

static sgi_task *read_text(const char *text)
{
    return read_as("/tasks/small.yaml", text, NULL, 0);
}

static void test_recognition(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool task;
    } cases[] = {{"data: {train: a}\n", true},
                 {"name: x\ndata:\n", true},
                 {"coordinates: {x: 1}\n", false},
                 {"- data\n", false},
                 {"data", false},
                 {"", false},
                 {"data: {\n", false},
                 {"title: data\n", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(sgi_task_recognise(cases[i].text, strlen(cases[i].text), NULL),
                         cases[i].task);
}

static void test_defaults(void **state)
{
    (void)state;
    sgi_task *task = read_text(small);
    const sgi_task_settings *s = &task->settings;
    assert_string_equal(s->name, "small");
    assert_string_equal(s->title, "");
    assert_int_equal(s->data.kind, SG_DATA_CIFAR100);
    assert_int_equal(s->data.train.count, 1);
    assert_string_equal(s->data.train.values[0], "/tasks/a.bin");
    assert_int_equal(s->data.size, 64);
    assert_int_equal(s->data.workers, 1);
    assert_int_equal(s->data.ahead, 3);
    assert_int_equal(s->data.test_images, 0);
    assert_string_equal(sg_model_name(s->network.model), "efficientnet_v2_s");
    assert_int_equal(s->network.calibrate, SG_CALIBRATE_AUTO);
    assert_int_equal(s->network.precision, SG_PRECISION_FLOAT);
    assert_int_equal(s->epochs, 10);
    assert_int_equal(s->batch, 64);
    assert_int_equal(s->observe_every, 50);
    assert_close(s->smoothing, 0, 0);
    assert_int_equal(s->training.steps, 0);
    assert_int_equal(s->training.log_every, 20);
    assert_int_equal(s->training.evaluate_every, 0);
    assert_int_equal(s->training.checkpoint_every, 0);
    sgi_task_destroy(task);
}

/* The defaults that torchvision's have in the engine are the engine's. */
static void test_configurations(void **state)
{
    (void)state;
    sgi_task *task = read_text(small);
    sg_image_view usual = sg_image_view_defaults(), view = sgi_task_view(task, true);
    assert_int_equal(view.size, 64);
    assert_true(view.augment && view.flip);
    assert_false(sgi_task_view(task, false).augment);
    assert_close(view.area_min, usual.area_min, 0);
    assert_close(view.area_max, usual.area_max, 0);
    assert_close(view.aspect, usual.aspect, 1e-15);
    assert_close(view.zoom, usual.zoom, 1e-15);
    assert_memory_equal(view.mean, usual.mean, sizeof view.mean);
    assert_memory_equal(view.std, usual.std, sizeof view.std);
    sg_model_options model = sgi_task_model(task, 100);
    assert_int_equal(model.classes, 100);
    assert_int_equal(model.norm, SG_NORM_NONE);
    assert_false(model.bias);
    assert_true(model.dropout < 0 && model.drop_path < 0);
    assert_int_equal(model.hidden_count, 4);
    assert_int_equal(model.hidden[3], 256);
    assert_int_equal(model.act, SG_ACT_TANH);
    assert_int_equal(sgi_task_init(task).kind, SG_INIT_DEFAULT);
    assert_close(sgi_task_init(task).gain, 0, 0);
    assert_int_equal(sgi_task_scale(task, 100).method, SG_METHOD_STABLEGRAD);
    assert_int_equal(sgi_task_scale(task, 100).blocks, SG_BLOCKS_TENSOR);
    assert_true(sgi_task_scale(task, 100).until == SG_FOREVER);
    sg_schedule_term terms[SG_MOST_PIECES + 2];
    assert_int_equal(sgi_task_optim(task, 100, terms).kind, SG_OPTIM_ADAMW);
    assert_int_equal(sgi_task_optim(task, 100, terms).schedule_count, 0);
    sgi_task_destroy(task);

    task = read_text("data: {train: a, test: b, augment: off}\n"
                     "network: {init: {kind: fan_in, gain: 5/3}, dropout: 0}\n"
                     "training:\n"
                     "  seed: 7\n"
                     "  optimizer: {name: sgd, rate: 0.1, momentum: 0.9}\n"
                     "  schedule: {warmup: 20, then: cosine}\n"
                     "  stablegrad: {method: sign, until: half, reference: 0.5}\n");
    assert_false(sgi_task_view(task, true).augment);
    assert_int_equal(sgi_task_view(task, true).seed, 7);
    assert_close(sgi_task_model(task, 10).dropout, 0, 0);
    assert_int_equal(sgi_task_init(task).kind, SG_INIT_FAN_IN);
    assert_int_equal(sgi_task_init(task).seed, 7);
    assert_close(sgi_task_init(task).gain, 5 / 3.0, 1e-15);
    assert_int_equal(sgi_task_scale(task, 100).until, 50);
    assert_close(sgi_task_scale(task, 100).constant, 0.5, 0);
    sg_optim_config optim = sgi_task_optim(task, 100, terms);
    assert_int_equal(optim.kind, SG_OPTIM_SGD);
    assert_close(optim.momentum, 0.9, 0);
    assert_int_equal(optim.schedule_count, 2);
    assert_close(sg_schedule_factor(terms, 2, 100), 0, 1e-15);
    assert_close(sg_schedule_factor(terms, 2, 60), 0.5, 1e-15);
    sgi_task_destroy(task);
}

static void test_calibration(void **state)
{
    (void)state;
    static const struct {
        const char *norm, *calibrate;
        bool calibrates;
    } cases[] = {{"none", "auto", true}, {"batch", "auto", false}, {"group", "auto", false},
                 {"none", "no", false},  {"batch", "yes", true},   {"none", "on", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char norm[64], calibrate[64];
        snprintf(norm, sizeof norm, "network.norm=%s", cases[i].norm);
        snprintf(calibrate, sizeof calibrate, "network.init.calibrate=%s", cases[i].calibrate);
        const char *const sets[] = {norm, calibrate};
        sgi_task *task = read_as("t", small, sets, 2);
        assert_int_equal(sgi_task_calibrates(task), cases[i].calibrates);
        sgi_task_destroy(task);
    }
}

/* A path is relative to where it is written. */
static void test_paths(void **state)
{
    (void)state;
    char here[1024], expected[2048];
    assert_non_null(getcwd(here, sizeof here));
    const char *const sets[] = {"data.test=[x/y, /z, './/w']"};
    sgi_task *task =
        read_as("dir/t.yaml", "data: {train: [a, ./b, ../c, /d], test: no}\n", sets, 1);
    static const char *const train[] = {"/dir/a", "/dir/b", "/dir/../c"}, *const test[] = {
                                                                              "/x/y", NULL, "/w"};
    assert_int_equal(task->settings.data.train.count, 4);
    assert_int_equal(task->settings.data.test.count, 3);
    for (int i = 0; i < 3; i++) {
        snprintf(expected, sizeof expected, "%s%s", here, train[i]);
        assert_string_equal(task->settings.data.train.values[i], expected);
        snprintf(expected, sizeof expected, "%s%s", test[i] ? here : "", test[i] ? test[i] : "/z");
        assert_string_equal(task->settings.data.test.values[i], expected);
    }
    assert_string_equal(task->settings.data.train.values[3], "/d");
    sgi_task_destroy(task);
    task = read_as("/t.yaml", "data: {train: a, test: b}\n", NULL, 0);
    assert_string_equal(task->settings.data.test.values[0], "/b");
    sgi_task_destroy(task);
    task = read_as("t.yaml", "data: {train: a, test: b}\n", NULL, 0);
    snprintf(expected, sizeof expected, "%s/a", here);
    assert_string_equal(task->settings.data.train.values[0], expected);
    sgi_task_destroy(task);
}

static void round_trip(sgi_task *task)
{
    char *text, *again;
    assert_ok(sgi_task_write(task, &text));
    sgi_task *copy = read_as("/other/place.yaml", text, NULL, 0);
    assert_ok(sgi_task_write(copy, &again));
    assert_string_equal(text, again);
    for (size_t i = 0; i < sgi_task_options.count; i++) {
        char left[1024] = "", right[1024] = "";
        const sgi_option *option = &sgi_task_options.rows[i];
        sgi_option_write(option, &task->names, &task->settings, left, sizeof left);
        sgi_option_write(option, &copy->names, &copy->settings, right, sizeof right);
        assert_string_equal(left, right);
    }
    sgi_release(&task->allocator, text);
    sgi_release(&copy->allocator, again);
    sgi_task_destroy(copy);
    sgi_task_destroy(task);
}

/* Every option, set to something else than its default, and how that is written. */
static const char *const every[][3] = {
    {"name", "'it''s'", "'it''s'"},
    {"title", "\"a\\tb: \\\"#\\\\'\"", "\"a\\x09b: \\\"#\\\\'\""},
    {"data.kind", "cifar10", "cifar10"},
    {"data.train", "['/a b', \"/it's\"]", "['/a b', '/it''s']"},
    {"data.test", "/x", "'/x'"},
    {"data.size", "7*32", "224"},
    {"data.augment", "no", "false"},
    {"data.crop.area", "[1/4, 3/4]", "[0.25, 0.75]"},
    {"data.crop.aspect", "1", "1"},
    {"data.flip", "off", "false"},
    {"data.zoom", "1.25", "1.25"},
    {"data.mean", "[0.5, -1, 0]", "[0.5, -1, 0]"},
    {"data.std", "[1e-3, 1, 2]", "[0.001, 1, 2]"},
    {"data.workers", "2", "2"},
    {"data.ahead", "5", "5"},
    {"data.test_images", "512", "512"},
    {"network.model", "resnet18", "resnet18"},
    {"network.norm", "group", "group"},
    {"network.bias", "yes", "true"},
    {"network.dropout", "0", "0"},
    {"network.drop_path", "0.1", "0.1"},
    {"network.hidden", "[8, 16]", "[8, 16]"},
    {"network.activation", "relu", "relu"},
    {"network.init.kind", "fan_out", "fan_out"},
    {"network.init.gain", "1.5", "1.5"},
    {"network.init.calibrate", "false", "no"},
    {"network.precision", "bfloat16", "bf16"},
    {"training.epochs", "100", "100"},
    {"training.batch", "128", "128"},
    {"training.smoothing", "0.1", "0.1"},
    {"training.observe_every", "10", "10"},
    {"training.optimizer.name", "adam", "adam"},
    {"training.optimizer.rate", "1e-4", "0.0001"},
    {"training.optimizer.betas", "[0.8, 0.9]", "[0.8, 0.9]"},
    {"training.optimizer.eps", "1e-7", "1e-7"},
    {"training.optimizer.decay", "2e-5", "2e-5"},
    {"training.optimizer.momentum", "0.9", "0.9"},
    {"training.optimizer.dampening", "0.2", "0.2"},
    {"training.optimizer.nesterov", "on", "true"},
    {"training.optimizer.refresh", "10", "10"},
    {"training.schedule.warmup", "30", "30"},
    {"training.schedule.start", "0.1", "0.1"},
    {"training.schedule.then", "cosine", "cosine"},
    {"training.schedule.floor", "0.01", "0.01"},
    {"training.schedule.pieces", "[{from: 1, until: 5, factor: 0.25}]",
     "[{from: 1, until: 5, factor: 0.25}]"},
    {"training.clip", "1", "1"},
    {"training.steps", "77", "77"},
    {"training.seed", "3", "3"},
    {"training.stablegrad.method", "off", "none"},
    {"training.stablegrad.from", "4", "4"},
    {"training.stablegrad.until", "half", "half"},
    {"training.stablegrad.handover", "restart", "restart"},
    {"training.stablegrad.reference", "norm", "norm"},
    {"training.stablegrad.blocks", "layer", "layer"},
    {"training.stablegrad.eps", "1e-6", "1e-6"},
    {"training.stablegrad.threshold", "0.02", "0.02"},
    {"training.stablegrad.floor", "1e-4", "0.0001"},
    {"training.log_every", "1", "1"},
    {"training.evaluate_every", "40", "40"},
    {"training.checkpoint_every", "50", "50"},
};
enum { EVERY = sizeof every / sizeof every[0] };

static void test_every_option_is_read_and_written(void **state)
{
    (void)state;
    static char sets[EVERY][160];
    const char *overrides[EVERY];
    assert_int_equal(sgi_task_options.count, EVERY);
    for (size_t i = 0; i < EVERY; i++) {
        snprintf(sets[i], sizeof sets[i], "%s=%s", every[i][0], every[i][1]);
        overrides[i] = sets[i];
    }
    sgi_task *task = read_as("/tasks/t.yaml", small, overrides, EVERY);
    sgi_task *usual = read_text(small);
    for (size_t i = 0; i < EVERY; i++) {
        char written[256], initial[256];
        const sgi_option *option = &sgi_task_options.rows[i];
        assert_string_equal(option->path, every[i][0]);
        sgi_option_write(option, &task->names, &task->settings, written, sizeof written);
        sgi_option_write(option, &usual->names, &usual->settings, initial, sizeof initial);
        assert_string_equal(written, every[i][2]);
        assert_string_not_equal(written, initial);
    }
    round_trip(usual);
    round_trip(task);
}

static void test_shorthands(void **state)
{
    (void)state;
    sgi_task *task = read_text("data: {train: a, test: b}\n"
                               "network: {init: fan_out}\n"
                               "training: {optimizer: sgd, schedule: cosine, stablegrad: off}\n");
    assert_int_equal(task->settings.network.init, SG_INIT_FAN_OUT);
    assert_int_equal(task->settings.training.optimizer, SG_OPTIM_SGD);
    assert_int_equal(task->settings.training.then, 1);
    assert_int_equal(task->settings.training.method, SG_METHOD_NONE);
    round_trip(task);
}

/* Word number `index` of a row is `word`. */
static void assert_word(const char *path, int index, const char *word)
{
    const char *at = sgi_option_find(&sgi_task_options, path)->words;
    for (; index > 0; index--)
        at += strcspn(at, " ") + 1;
    assert_int_equal(strcspn(at, "= "), strlen(word));
    assert_memory_equal(at, word, strlen(word));
}

/* The words of the table are the engine's numbers. */
static void test_words(void **state)
{
    (void)state;
    int models = 0;
    for (; sg_model_name(models); models++)
        assert_word("network.model", models, sg_model_name(models));
    const char *words = sgi_option_find(&sgi_task_options, "network.model")->words;
    for (const char *at = words; (at = strchr(at, ' ')); at++)
        models--;
    assert_int_equal(models, 1);
    for (int i = 0; i < SG_NORM_COUNT; i++)
        assert_word("network.norm", i, sg_norm_name((sg_norm)i));
    for (int i = 0; i < SG_ACT_COUNT; i++)
        assert_word("network.activation", i, sg_act_name((sg_act)i));
    for (int i = 0; i < SG_INIT_COUNT; i++)
        assert_word("network.init.kind", i, sg_init_name((sg_init)i));
    for (int i = 0; i < SG_PRECISION_BF16_EMULATED; i++)
        assert_word("network.precision", i, sg_precision_name((sg_precision)i));
    assert_word("network.precision", SG_PRECISION_BF16_EMULATED, "#");
    assert_word("data.kind", SG_DATA_FOLDER, "folder");
    assert_word("network.init.calibrate", SG_CALIBRATE_NO, "no");
}

/* The smallest size that the table accepts is one that every model can be built for. */
static void test_smallest_input(void **state)
{
    (void)state;
    const sgi_option *size = sgi_option_find(&sgi_task_options, "data.size");
    sgi_task *task = read_text(small);
    for (int m = 0; sg_model_name(m); m++) {
        sg_net_config config = sg_net_defaults();
        sg_model_options options = sgi_task_model(task, 10);
        sg_net *net;
        config.batch = 2;
        config.height = config.width = (int)size->least;
        config.threads = 1;
        assert_ok(sg_net_create(&net, &config, NULL));
        if (sg_net_model(net, sg_model_name(m), &options) != SG_OK)
            fail_msg("%s: %s", sg_model_name(m), sg_net_diagnostic(net)->message);
        sg_net_destroy(net);
    }
    sgi_task_destroy(task);
}

static void test_shipped_tasks(void **state)
{
    (void)state;
    static const char *const names[] = {"cifar100-efficientnet", "cifar100-mlp",
                                        "cifar100-resnet50", "tiny-imagenet-resnet50"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512], answer[2048], *text;
        size_t size;
        sgi_task *task;
        sg_diagnostic diagnostic;
        snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_TEST_DATA, names[i]);
        assert_ok(sgi_document_text(path, NULL, &text, &size, &diagnostic));
        if (sgi_task_read(&task, path, text, size, NULL, 0, NULL, &diagnostic) != SG_OK) {
            sg_diagnostic_format(&diagnostic, answer, sizeof answer);
            fail_msg("%s", answer);
        }
        assert_string_equal(task->settings.name, names[i]);
        assert_true(sgi_task_recognise(task->sources[0].text, task->sources[0].size, NULL));
        round_trip(task);
        free(text);
    }
}

static void test_documentation(void **state)
{
    (void)state;
    check_documented(&sgi_task_options, "images.md");
}

static sg_status read_and_write(const sg_allocator *allocator, void *context)
{
    (void)context;
    const char *const sets[] = {"network.model=mlp", "data.test=[c, d]"};
    sgi_task *task;
    char *text = NULL;
    sg_diagnostic diagnostic;
    sg_status status =
        sgi_task_read(&task, "small", small, sizeof small - 1, sets, 2, allocator, &diagnostic);
    if (status == SG_OK)
        status = sgi_task_write(task, &text);
    sgi_release(allocator, text);
    sgi_task_destroy(task);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    long made = each_allocation_fails(read_and_write, NULL, 5);
    for (long n = 0; n <= made;
         n++) { /* a task is one without memory too, and is not taken for a problem */
        failing_allocator memory = {.fail_at = n};
        sg_allocator allocator = failing(&memory);
        assert_true(sgi_task_recognise(small, sizeof small - 1, &allocator));
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recognition),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_every_option_is_read_and_written),
        cmocka_unit_test(test_shorthands),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_smallest_input),
        cmocka_unit_test(test_shipped_tasks),
        cmocka_unit_test(test_documentation),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
