/* Networks on images trained by several ranks: what they reach together is what one reaches, up to
 * rounding, and the same bits on each of them; trouble of one of them is told by all. Threads stand
 * for processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if SG_TEST_FOLDERS
#include <png.h>
#endif

#include "support/folders.h"
#include "support/images.h"
#include "support/ranks.h"
#include "support/support.h"
#include "train/image_subject.h"
#include "train/train.h"

/* Everything smooth, and an optimizer that does not divide by a gradient: rounding stays small. */
static const char text[] =
    "name: quarters\n"
    "data: {kind: cifar10, train: train.bin, test: test.bin, size: 8, zoom: 1, test_images: 31}\n"
    "network: {model: mlp, hidden: [24, 24], activation: tanh, norm: none}\n"
    "training:\n"
    "  epochs: 2\n"
    "  batch: 12\n"
    "  optimizer: {name: sgd, rate: 0.02, momentum: 0.9}\n"
    "  clip: 1\n"
    "  log_every: 4\n"
    "  observe_every: 10\n";

enum { SIDE = 8, HIDDEN = 24, MOST_STEPS = 13, MOST_WEIGHTS = 8000 };

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

/* Weights that are set before the evaluation. */
typedef enum weights {
    AS_TRAINED,
    ZEROS,   /* every image gets the first class */
    QUARTERS /* every image gets its own: for one hidden layer without activation */
} weights;

/* What a rank does, and what came of it. */
typedef struct rank {
    const sgi_task *task;
    int steps;
    weights set;
    long setting_up;      /* the allocation at which setting up fails; 0: none */
    bool short_of_memory; /* from the first step on there is no memory */
    sg_status status;
    sg_diagnostic diagnostic;
    int taken; /* steps */
    double loss[MOST_STEPS], reference[MOST_STEPS], norm[MOST_STEPS];
    int images[MOST_STEPS], top1[MOST_STEPS];
    sgi_image_score score;
    uint64_t unread;
    float weights[MOST_WEIGHTS]; /* and running statistics */
    size_t weight_count;
    double spread; /* of the last layer's output */
} rank;

static void keep_weights(rank *r, sg_net *net)
{
    for (size_t i = 0; i < sg_params_count(sg_net_params(net)); i++) {
        const sg_span *span = sg_params_at(sg_net_params(net), i);
        memcpy(r->weights + r->weight_count, span->value, span->count * sizeof(float));
        r->weight_count += span->count;
    }
    for (size_t i = 0; i < sg_net_buffer_count(net); i++) {
        sg_net_buffer buffer = sg_net_buffer_at(net, i);
        memcpy(r->weights + r->weight_count, buffer.values, buffer.count * sizeof(float));
        r->weight_count += buffer.count;
    }
}

static sg_status take_steps(rank *r, sgi_image_trainer *trainer)
{
    sg_status status = SG_OK;
    for (int i = 0; i < r->steps && status == SG_OK; i++) {
        sgi_image_step step;
        double observe_from = i % 2 ? INFINITY : -INFINITY;
        status = sgi_image_trainer_step(trainer, observe_from, &step, &r->diagnostic);
        if (status != SG_OK)
            return status;
        r->taken++;
        r->loss[i] = step.loss.loss;
        r->top1[i] = step.loss.top1;
        r->images[i] = step.images;
        r->reference[i] = step.scale->reference;
        r->norm[i] = step.info.gradient_norm;
    }
    return status;
}

/* Unit c of the hidden layer sums quarter c of the image, and is the logit of class c. */
static void detect_quarters(float *hidden, float *logits)
{
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 3 * SIDE * SIDE; i++) {
            int y = i / SIDE % SIDE, x = i % SIDE;
            hidden[c * 3 * SIDE * SIDE + i] = 2 * (y >= SIDE / 2) + (x >= SIDE / 2) == c;
        }
        logits[c * HIDDEN + c] = 1;
    }
}

static void set_weights(sg_net *net, weights set)
{
    float *values[4];
    for (size_t i = 0; i < sg_params_count(sg_net_params(net)); i++) {
        const sg_span *span = sg_params_at(sg_net_params(net), i);
        memset(span->value, 0, span->count * sizeof(float));
        values[i % 4] = span->value;
    }
    if (set == QUARTERS) /* weight and bias of either layer */
        detect_quarters(values[0], values[2]);
}

static void work(const sg_ranks *ranks, void *context)
{
    rank *r = context;
    sg_pool *pool;
    sgi_image_trainer *trainer = NULL;
    failing_allocator counter = {.fail_at = r->setting_up ? r->setting_up : -1};
    sg_allocator allocator = failing(&counter);
    r->status = sg_pool_create(&pool, 1, NULL);
    if (r->status == SG_OK)
        r->status = sgi_image_trainer_create(&trainer, r->task, pool, ranks, SG_ISA_AUTO,
                                             &allocator, &r->diagnostic);
    if (r->short_of_memory)
        __atomic_store_n(&counter.fail_at, 0, __ATOMIC_RELAXED); /* workers read images already */
    if (r->status == SG_OK)
        r->status = take_steps(r, trainer);
    if (r->status == SG_OK && r->set != AS_TRAINED)
        set_weights(sgi_image_trainer_network(trainer), r->set);
    if (r->status == SG_OK)
        r->status = sgi_image_trainer_evaluate(trainer, &r->score, &r->diagnostic);
    if (r->status == SG_OK) {
        sg_net *net = sgi_image_trainer_network(trainer);
        keep_weights(r, net);
        r->unread = sgi_image_trainer_unread(trainer, NULL);
        r->spread = sg_net_layer_at(net, sg_net_layer_count(net) - 1).std;
    }
    sgi_image_trainer_destroy(trainer);
    sg_pool_destroy(pool);
}

static rank *new_ranks(const rank *given)
{
    rank *ranks = calloc(MOST_RANKS, sizeof *ranks);
    assert_non_null(ranks);
    for (int k = 0; k < MOST_RANKS; k++)
        ranks[k] = *given;
    return ranks;
}

/* The same on `count` ranks; 0: without any. */
static rank *train_on(int count, const rank *given)
{
    rank *ranks = new_ranks(given);
    if (count == 0)
        work(NULL, ranks);
    else
        on_ranks(count, -1, work, ranks, sizeof *ranks);
    for (int k = 0; k == 0 || k < count; k++)
        if (ranks[k].status != SG_OK)
            fail_msg("rank %d of %d: %s", k, count, said(&ranks[k].diagnostic));
    return ranks;
}

static void assert_same(const rank *a, const rank *b)
{
    assert_memory_equal(a->loss, b->loss, sizeof a->loss);
    assert_memory_equal(a->reference, b->reference, sizeof a->reference);
    assert_memory_equal(a->weights, b->weights, sizeof a->weights);
    assert_true(a->score.loss == b->score.loss && a->score.top1 == b->score.top1);
    assert_int_equal(a->score.only_class, b->score.only_class);
    assert_int_equal(a->unread, b->unread);
    assert_true(a->spread == b->spread);
}

static double compare(const rank *a, const rank *b)
{
    double apart = 0, size = 0, largest = fabs(a->score.loss / b->score.loss - 1);
    for (size_t i = 0; i < b->weight_count; i++) {
        apart += pow((double)a->weights[i] - (double)b->weights[i], 2);
        size += pow((double)b->weights[i], 2);
    }
    largest = fmax(largest, sqrt(apart / size));
    for (int i = 0; i < b->steps; i++) {
        largest = fmax(largest, fabs(a->loss[i] / b->loss[i] - 1));
        largest = fmax(largest, fabs(a->norm[i] / b->norm[i] - 1));
        if (b->reference[i] > 0)
            largest = fmax(largest, fabs(a->reference[i] / b->reference[i] - 1));
        assert_int_equal(a->images[i], b->images[i]);
    }
    assert_int_equal(a->score.images, b->score.images);
    assert_int_equal(a->unread, b->unread);
    return largest;
}

/* ---- Agreement ---------------------------------------------------------------------------- */

/* 13 steps are more than an epoch of 11; the evaluation ends with 7 images of a batch of 12. */
static void ranks_agree_with_one(void **state)
{
    static const char *const cases[][2] = {
        {"network.norm=batch", "training.stablegrad.method=none"},
        {"network.norm=none", "training.stablegrad.method=stablegrad"},
        {"network.norm=none", "training.stablegrad.reference=norm"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_task *task = read_task(cases[i], 2);
        rank given = {.task = task, .steps = MOST_STEPS};
        rank *alone = train_on(0, &given), *one = train_on(1, &given);
        double largest = 0;
        assert_same(one, alone);
        assert_int_equal(alone->score.images, 31);
        for (int count = 2; count <= MOST_RANKS; count++) {
            rank *ranks = train_on(count, &given), *again = train_on(count, &given);
            for (int k = 0; k < count; k++) {
                largest = fmax(largest, compare(&ranks[k], alone));
                assert_same(&ranks[k], &ranks[0]);
                assert_same(&again[k], &ranks[0]);
            }
            free(ranks);
            free(again);
        }
        print_message("%s, %s: largest difference %.1e\n", cases[i][0], cases[i][1], largest);
        assert_true(largest < 1e-4);
        free(alone);
        free(one);
        sgi_task_destroy(task);
    }
}

/* Zeros for weights give every image the first class, on every rank; the network is looked at then,
 * by all of them. */
static void one_class_is_one_class_of_all_ranks(void **state)
{
    sgi_task *task = read_task(NULL, 0);
    rank given = {.task = task, .set = ZEROS};
    (void)state;
    for (int count = 0; count <= MOST_RANKS; count++) {
        rank *ranks = train_on(count, &given);
        for (int k = 0; k == 0 || k < count; k++) {
            assert_int_equal(ranks[k].score.only_class, 0);
            assert_true(ranks[k].spread == 0);
        }
        free(ranks);
    }
    sgi_task_destroy(task);
}

/* Each rank has one image and knows one class, but not the same: there are several. */
static void classes_of_ranks_are_compared(void **state)
{
    static const char *const sets[] = {"training.batch=2", "data.test_images=2",
                                       "network.hidden=[24]", "network.activation=none"};
    sgi_task *task = read_task(sets, 4);
    (void)state;
    for (int count = 0; count <= 2; count++) {
        rank *ranks = train_on(count, &(rank){.task = task, .set = QUARTERS});
        for (int k = 0; k == 0 || k < count; k++) {
            assert_int_equal(ranks[k].score.only_class, -1);
            assert_int_equal(ranks[k].score.images, 2);
            assert_true(ranks[k].score.top1 == 1);
        }
        free(ranks);
    }
    sgi_task_destroy(task);
}

/* ---- Whole runs --------------------------------------------------------------------------- */

/* One rank's run, in a folder of its own: here every rank writes. */
typedef struct rank_run {
    const sgi_task *task;
    char folder[SG_PATH_SIZE];
    bool resume;
    uint64_t stop_at;
    volatile sig_atomic_t stop;
    sg_status status;
    sg_diagnostic diagnostic;
    sgi_train_result result;
} rank_run;

static void on_step(void *context, const sgi_step_metrics *step)
{
    rank_run *r = context;
    if (step->step == r->stop_at)
        r->stop = 1;
}

static void run_work(const sg_ranks *ranks, void *context)
{
    rank_run *r = context;
    sg_pool *pool;
    sgi_subject *subject = NULL;
    r->status = sg_pool_create(&pool, 1, NULL);
    if (r->status == SG_OK)
        r->status = sgi_image_subject_create(&subject, r->task, pool, ranks, SG_ISA_AUTO, NULL,
                                             &r->diagnostic);
    if (r->status == SG_OK) {
        sgi_train_config config = {.subject = subject,
                                   .folder = r->folder,
                                   .resume = r->resume,
                                   .variant = "train",
                                   .label = "no BatchNorm",
                                   .command = "test",
                                   .threads = 1,
                                   .events = {r, on_step, NULL, NULL},
                                   .stop = &r->stop};
        r->status = sgi_train(&config, &r->result, &r->diagnostic, NULL);
    }
    sgi_subject_destroy(subject);
    sg_pool_destroy(pool);
}

static void run_on(int count, rank_run *runs)
{
    on_ranks(count, -1, run_work, runs, sizeof *runs);
    for (int k = 0; k < count; k++)
        if (runs[k].status != SG_OK)
            fail_msg("rank %d of %d: %s", k, count, said(&runs[k].diagnostic));
}

/* Runs for `count` ranks in new folders NAME-0 and on. */
static void new_runs(rank_run *runs, int count, const sgi_task *task, const char *name)
{
    for (int k = 0; k < count; k++) {
        char own[64];
        sg_diagnostic diagnostic = {0};
        snprintf(own, sizeof own, "%s-%d", name, k);
        runs[k] = (rank_run){.task = task};
        assert_ok(sgi_run_path(runs[k].folder, root, own));
        assert_ok(sgi_run_create_at(runs[k].folder, NULL, &diagnostic));
    }
}

static void assert_same_file(const rank_run *a, const rank_run *b, const char *name)
{
    char command[3 * SG_PATH_SIZE];
    snprintf(command, sizeof command, "cmp '%s/%s' '%s/%s'", a->folder, name, b->folder, name);
    assert_int_equal(system(command), 0);
}

/* A run that three ranks began goes on on one, and on two: its end is that of a whole run. */
static void runs_resume_on_another_number_of_ranks(void **state)
{
    static const char *const sets[] = {"network.norm=batch", "training.stablegrad.method=none"};
    sgi_task *task = read_task(sets, 2);
    rank_run whole[1], runs[MOST_RANKS];
    (void)state;
    new_runs(whole, 1, task, "whole");
    run_on(1, whole);
    assert_int_equal(whole->result.steps, 22);
    for (int count = 1; count <= 2; count++) {
        new_runs(runs, MOST_RANKS, task, count == 1 ? "to-one" : "to-two");
        for (int k = 0; k < MOST_RANKS; k++)
            runs[k].stop_at = 10;
        run_on(MOST_RANKS, runs);
        for (int k = 0; k < MOST_RANKS; k++) {
            assert_int_equal(runs[k].result.end, SG_TRAIN_INTERRUPTED);
            assert_same_file(&runs[k], &runs[0], "weights.safetensors");
            runs[k].resume = true;
            runs[k].stop = 0;
            runs[k].stop_at = 0;
        }
        run_on(count, runs);
        for (int k = 0; k < count; k++) {
            assert_int_equal(runs[k].result.end, SG_TRAIN_COMPLETE);
            assert_int_equal(runs[k].result.first_step, 10);
            assert_relative(runs[k].result.validation_loss, whole->result.validation_loss, 1e-4);
            assert_same_file(&runs[k], &runs[0], "weights.safetensors");
        }
    }
    sgi_task_destroy(task);
}

/* ---- Trouble ------------------------------------------------------------------------------ */

static void batches_must_be_shared_equally(void **state)
{
    static const struct {
        const char *set;
        int ranks;
        const char *says;
    } cases[] = {
        {"training.batch=16", 3,
         "3 ranks cannot share batches of 16 images equally; "
         "training.batch=15 would do"},
        {"training.batch=17", 3, "training.batch=18 would do"},
        {"training.batch=1", 3, "training.batch=3 would do"},
        {"training.batch=7", 2, "training.batch=6 would do"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sgi_task *task = read_task(&cases[i].set, 1);
        rank *ranks = new_ranks(&(rank){.task = task});
        on_ranks(cases[i].ranks, -1, work, ranks, sizeof *ranks);
        for (int k = 0; k < cases[i].ranks; k++) {
            assert_status(ranks[k].status, SG_ERROR_ARGUMENT);
            if (!strstr(said(&ranks[k].diagnostic), cases[i].says))
                fail_msg("'%s' does not say '%s'", said(&ranks[k].diagnostic), cases[i].says);
        }
        free(ranks);
        sgi_task_destroy(task);
    }
}

static void a_failed_sum_is_an_error(void **state)
{
    static const char *const sets[] = {"training.stablegrad.method=stablegrad"};
    sgi_task *task = read_task(sets, 1);
    rank given = {.task = task, .steps = 2, .set = ZEROS};
    (void)state;
    rank *ranks = new_ranks(&given);
    int sums = on_ranks(2, -1, work, ranks, sizeof *ranks);
    assert_true(sums > 20);
    free(ranks);
    for (int fail_at = 0; fail_at < sums; fail_at++) {
        ranks = new_ranks(&given);
        on_ranks(2, fail_at, work, ranks, sizeof *ranks);
        for (int k = 0; k < 2; k++) {
            assert_status(ranks[k].status, SG_ERROR_REDUCE);
            assert_non_null(strstr(said(&ranks[k].diagnostic), "ranks"));
        }
        free(ranks);
    }
    sgi_task_destroy(task);
}

/* One rank has no memory, for a trainer or for its images: it says so, and the other does not wait
 * for it. */
static void trouble_of_one_rank_is_told_by_all(void **state)
{
    sgi_task *task = read_task(NULL, 0);
    (void)state;
    for (int late = 0; late < 2; late++) {
        rank *ranks = new_ranks(&(rank){.task = task, .steps = MOST_STEPS});
        ranks[1].setting_up = late ? 0 : 20;
        ranks[1].short_of_memory = late;
        on_ranks(2, -1, work, ranks, sizeof *ranks);
        assert_status(ranks[1].status, SG_ERROR_MEMORY);
        assert_status(ranks[0].status, late ? SG_ERROR_IO : SG_ERROR_REDUCE);
        assert_non_null(
            strstr(said(&ranks[0].diagnostic), late ? "rank 1 of 2 cannot read its images"
                                                    : "another rank could not be set up"));
        assert_int_equal(ranks[0].taken, ranks[1].taken);
        free(ranks);
    }
    sgi_task_destroy(task);
}

#if SG_TEST_FOLDERS
static void write_image(const char *path, int value)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = 8, .height = 8, .format = PNG_FORMAT_GRAY};
    uint8_t pixels[64];
    for (int i = 0; i < 64; i++)
        pixels[i] = (uint8_t)(value * (i % 7) + i);
    assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

/* Two classes of ten images in SET/CLASS/NUMBER.png. Images 6 to 11 of the whole are damaged if
 * `damaged`, and image 14. */
static void make_folder(const char *set, bool damaged)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", root, set);
    assert_int_equal(mkdir(path, 0755), 0);
    for (int i = 0; i < 20; i++) {
        const char *class = i < 10 ? "ants" : "bees";
        if (i % 10 == 0) {
            snprintf(path, sizeof path, "%s/%s/%s", root, set, class);
            assert_int_equal(mkdir(path, 0755), 0);
        }
        snprintf(path, sizeof path, "%s/%s/%s/%02d.png", root, set, class, i);
        if (damaged && ((i >= 6 && i < 12) || i == 14))
            folder_put(root, path + strlen(root) + 1, "no image");
        else
            write_image(path, i);
    }
}

/* A batch of 6 of which no image can be read, and one of which 5 can: the others count, on any
 * number of ranks. */
static void damaged_images_are_left_out_on_all_ranks(void **state)
{
    static const char *const sets[] = {"data.kind=folder", "data.train=good", "data.test=bad",
                                       "training.batch=6", "data.test_images=0"};
    char paths[2][700];
    const char *given[5];
    memcpy(given, sets, sizeof given);
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s=%s/%s", i ? "data.test" : "data.train", root,
                 i ? "bad" : "good");
        given[1 + i] = paths[i];
        make_folder(i ? "bad" : "good", i == 1);
    }
    (void)state;
    sgi_task *task = read_task(given, 5);
    rank *alone = train_on(0, &(rank){.task = task, .steps = 2});
    assert_int_equal(alone->score.images, 13);
    assert_int_equal(alone->unread, 7);
    for (int count = 2; count <= MOST_RANKS; count++) {
        rank *ranks = train_on(count, &(rank){.task = task, .steps = 2});
        for (int k = 0; k < count; k++) {
            assert_true(compare(&ranks[k], alone) < 1e-4);
            assert_same(&ranks[k], &ranks[0]);
        }
        free(ranks);
    }
    free(alone);
    sgi_task_destroy(task);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_agree_with_one),
        cmocka_unit_test(one_class_is_one_class_of_all_ranks),
        cmocka_unit_test(classes_of_ranks_are_compared),
        cmocka_unit_test(runs_resume_on_another_number_of_ranks),
        cmocka_unit_test(batches_must_be_shared_equally),
        cmocka_unit_test(a_failed_sum_is_an_error),
        cmocka_unit_test(trouble_of_one_rank_is_told_by_all),
#if SG_TEST_FOLDERS
        cmocka_unit_test(damaged_images_are_left_out_on_all_ranks),
#endif
    };
    return cmocka_run_group_tests(tests, make_data, remove_data);
}
