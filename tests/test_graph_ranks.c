/* Ranks that share the images of a step: what they compute together is what one network computes on
 * the whole batch, up to rounding, and the same bits on each of them. Threads stand for processes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/internal.h"
#include "support/ranks.h"
#include "support/support.h"

enum { BATCH = 6, SIDE = 8, CLASSES = 7, FEATURES = 21, IMAGE = 3 * SIDE * SIDE };
enum { MOST_GRADIENTS = 10000, MOST_RUNNING = 300, MOST_LAYERS = 32 };

/* The case, and what a rank saw of it. */
typedef struct rank {
    sg_norm norm;
    sg_isa isa;
    bool calibrate;
    int count; /* images of the whole batch that the loss counts */
    sg_status status;
    sg_status later; /* after a failure: of the next step */
    char message[400];
    sg_loss_result loss;
    float logits[BATCH * CLASSES], signal[BATCH * CLASSES]; /* of this rank's images */
    float gradients[MOST_GRADIENTS], values[MOST_GRADIENTS], running[MOST_RUNNING];
    double layers[MOST_LAYERS][3]; /* mean, std, between */
    size_t gradient_count, running_count, layer_count;
} rank;

/* Every kind of step, all of them smooth; 21 and 24 channels leave lanes of a block empty, and 21
 * features of a rank's images are no multiple of 4 random numbers. */
static sg_status build(sg_net *net, sg_norm norm)
{
    sg_conv_options wide = {.out = 24, .kernel = 3, .stride = 1, .pad = 1};
    sg_conv_options squeeze = {.out = FEATURES, .kernel = 1, .stride = 1};
    sg_norm_options n = {.kind = norm, .eps = 1e-5, .momentum = 0.1, .groups = 3};
    sg_net_node a = sg_net_norm(net, sg_net_conv(net, sg_net_input(net), "a", &wide), "an", &n);
    a = sg_net_act(net, a, "aa", SG_ACT_SILU);
    sg_net_node b = sg_net_norm(net, sg_net_conv(net, a, "b", &wide), "bn", &n);
    b = sg_net_add(net, sg_net_drop_path(net, b, "bd", 0.4), a, "ab");
    b = sg_net_average_pool(net, sg_net_act(net, b, "ba", SG_ACT_TANH), "bp", 2, 2, 0);
    sg_net_node c = sg_net_norm(net, sg_net_conv(net, b, "c", &squeeze), "cn", &n);
    c = sg_net_global_average(net, sg_net_act(net, c, "ca", SG_ACT_SILU), "cg");
    c = sg_net_norm(net, sg_net_linear(net, c, "d", FEATURES, false), "dn", &n);
    c = sg_net_dropout(net, c, "dd", 0.3);
    return sg_net_compile(net, sg_net_linear(net, c, "e", CLASSES, true));
}

static sg_status open_net(sg_net **net, sg_norm norm, sg_isa isa, const sg_ranks *ranks,
                          const sg_allocator *allocator)
{
    sg_net_config config = sg_net_defaults();
    config.batch = ranks ? BATCH / ranks->count : BATCH;
    config.height = config.width = SIDE;
    config.threads = 1;
    config.isa = isa;
    config.seed = 11;
    config.ranks = ranks;
    sg_status status = sg_net_create(net, &config, allocator);
    if (status == SG_OK)
        status = build(*net, norm);
    return status == SG_OK ? sg_net_init(*net, &(sg_init_config){.kind = SG_INIT_FAN_IN}) : status;
}

/* The images have a mean that is large beside their spread, which differs from image to image. */
static void fill_images(float images[BATCH * IMAGE])
{
    for (size_t i = 0; i < (size_t)BATCH * IMAGE; i++)
        images[i] = (float)(3 + 0.5 * (double)(i / IMAGE) + sgi_random_normal(5, 0, i));
}

static void copy_spans(sg_net *net, rank *r)
{
    for (size_t i = 0; i < sg_params_count(sg_net_params(net)); i++) {
        const sg_span *span = sg_params_at(sg_net_params(net), i);
        memcpy(r->gradients + r->gradient_count, span->gradient, span->count * sizeof(float));
        memcpy(r->values + r->gradient_count, span->value, span->count * sizeof(float));
        r->gradient_count += span->count;
    }
    for (size_t i = 0; i < sg_net_buffer_count(net); i++) {
        sg_net_buffer buffer = sg_net_buffer_at(net, i);
        memcpy(r->running + r->running_count, buffer.values, buffer.count * sizeof(float));
        r->running_count += buffer.count;
    }
}

static void copy_layers(const sg_net *net, rank *r)
{
    r->layer_count = sg_net_layer_count(net);
    for (size_t i = 0; i < r->layer_count; i++) {
        sg_layer_report layer = sg_net_layer_at(net, i);
        const double seen[3] = {layer.mean, layer.std, layer.between};
        memcpy(r->layers[i], seen, sizeof seen);
    }
}

/* A step on the rank's images; `images` and `labels` are those of the whole batch. */
static sg_status step(sg_net *net, rank *r, const float *images, const int *labels)
{
    int batch = sg_net_configuration(net)->batch;
    int first = (int)sgi_net_first(net, (size_t)batch), count = r->count - first;
    count = count < 0 ? 0 : count > batch ? batch : count;
    const float *own = images + (size_t)first * IMAGE;
    sg_status status = r->calibrate ? sg_net_calibrate(net, own) : SG_OK;
    if (status == SG_OK)
        status = sg_net_forward(net, own, SG_MODE_TRAIN, 5);
    if (status == SG_OK)
        memcpy(r->logits, sg_net_logits(net), (size_t)batch * CLASSES * sizeof(float));
    if (status == SG_OK)
        status = sg_net_loss(net, labels + first, count, 0.1, &r->loss);
    if (status == SG_OK)
        memcpy(r->signal, sg_net_signal(net), (size_t)batch * CLASSES * sizeof(float));
    if (status == SG_OK)
        status = sg_net_backward(net);
    return status == SG_OK ? sg_net_observe(net) : status;
}

static void work(const sg_ranks *ranks, void *context)
{
    rank *r = context;
    float images[BATCH * IMAGE];
    const int labels[BATCH] = {0, 6, 2, 3, 4, 1};
    sg_net *net;
    fill_images(images);
    r->status = open_net(&net, r->norm, r->isa, ranks, NULL);
    if (r->status == SG_OK)
        r->status = step(net, r, images, labels);
    if (r->status == SG_OK) {
        copy_spans(net, r);
        copy_layers(net, r);
    } else {
        snprintf(r->message, sizeof r->message, "%s", sg_net_diagnostic(net)->message);
        r->later = step(net, r, images, labels);
    }
    sg_net_destroy(net);
}

/* The case on `count` ranks; 0: on a network that knows nothing of ranks. */
static rank *run_case(int count, const rank *given)
{
    rank *ranks = calloc(MOST_RANKS, sizeof *ranks);
    assert_non_null(ranks);
    for (int k = 0; k < MOST_RANKS; k++)
        ranks[k] = *given;
    if (count == 0)
        work(NULL, ranks);
    else
        on_ranks(count, -1, work, ranks, sizeof *ranks);
    for (int k = 0; k < (count ? count : 1); k++)
        if (ranks[k].status != SG_OK)
            fail_msg("rank %d of %d: %s %s", k, count, sg_status_name(ranks[k].status),
                     ranks[k].message);
    return ranks;
}

/* The distance of two arrays, relative to the second. */
static double difference(const float *a, const float *b, size_t count)
{
    double apart = 0, size = 1e-30;
    for (size_t i = 0; i < count; i++) {
        apart += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        size += (double)b[i] * (double)b[i];
    }
    return sqrt(apart / size);
}

/* What every rank must have of what one has alone. Returns the largest difference. */
static double compare(const rank *r, const rank *whole, int index, int count)
{
    size_t share = (size_t)(BATCH / count * CLASSES), first = share * (size_t)index;
    const double differences[] = {
        difference(r->gradients, whole->gradients, whole->gradient_count),
        difference(r->values, whole->values, whole->gradient_count),
        difference(r->running, whole->running, whole->running_count),
        difference(r->logits, whole->logits + first, share),
        difference(r->signal, whole->signal + first, share),
        fabs(r->loss.loss / whole->loss.loss - 1),
    };
    double largest = 0;
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        largest = fmax(largest, differences[i]);
    assert_int_equal(r->loss.images, whole->loss.images);
    assert_int_equal(r->loss.top1, whole->loss.top1);
    assert_int_equal(r->loss.top5, whole->loss.top5);
    for (size_t i = 0; i < whole->layer_count; i++)
        for (int k = 0; k < 3; k++)
            largest = fmax(largest, fabs(r->layers[i][k] - whole->layers[i][k]) /
                                        (fabs(whole->layers[i][0]) + whole->layers[i][1]));
    return largest;
}

static void assert_same_bits(const rank *a, const rank *b)
{
    assert_true(a->loss.loss == b->loss.loss);
    assert_memory_equal(a->gradients, b->gradients, sizeof a->gradients);
    assert_memory_equal(a->values, b->values, sizeof a->values);
    assert_memory_equal(a->running, b->running, sizeof a->running);
    assert_memory_equal(a->layers, b->layers, sizeof a->layers);
}

/* The largest difference of several ranks from one. */
static double share_case(const rank *given)
{
    double largest = 0;
    rank *whole = run_case(0, given), *alone = run_case(1, given);
    assert_same_bits(alone, whole);
    assert_memory_equal(alone->signal, whole->signal, sizeof whole->signal);
    for (int count = 2; count <= MOST_RANKS; count++) {
        rank *ranks = run_case(count, given), *again = run_case(count, given);
        for (int k = 0; k < count; k++) {
            largest = fmax(largest, compare(&ranks[k], whole, k, count));
            assert_same_bits(&ranks[k], &ranks[0]);
            assert_same_bits(&again[k], &ranks[0]);
        }
        free(ranks);
        free(again);
    }
    free(whole);
    free(alone);
    return largest;
}

static void ranks_agree_with_one(void **state)
{
    static const rank cases[] = {
        {.norm = SG_NORM_BATCH, .count = BATCH},
        {.norm = SG_NORM_BATCH, .count = BATCH, .calibrate = true},
        {.norm = SG_NORM_NONE, .count = BATCH, .calibrate = true},
        {.norm = SG_NORM_GROUP, .count = BATCH},
        {.norm = SG_NORM_BATCH, .count = 5}, /* ranks with fewer images, */
        {.norm = SG_NORM_BATCH, .count = 1}, /* and with none */
    };
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    (void)state;
    for (size_t i = 0; i < isa_count; i++) {
        double largest = 0;
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            rank given = cases[c];
            given.isa = isas[i];
            largest = fmax(largest, share_case(&given));
        }
        print_message("%s: largest difference from one rank: %.1e\n", sg_isa_name(isas[i]),
                      largest);
        assert_true(largest < 1e-4);
    }
}

/* Whichever sum fails: an error with a diagnostic, and no other sum is asked for. */
static void a_failed_sum_is_an_error(void **state)
{
    const rank given = {.norm = SG_NORM_BATCH, .count = BATCH, .calibrate = true};
    (void)state;
    rank *ranks = calloc(MOST_RANKS, sizeof *ranks);
    assert_non_null(ranks);
    for (int k = 0; k < 2; k++)
        ranks[k] = given;
    int sums = on_ranks(2, -1, work, ranks, sizeof *ranks);
    assert_true(sums > 20);
    for (int fail_at = 0; fail_at < sums; fail_at++) {
        for (int k = 0; k < 2; k++)
            ranks[k] = given;
        assert_int_equal(on_ranks(2, fail_at, work, ranks, sizeof *ranks), fail_at + 1);
        for (int k = 0; k < 2; k++) {
            assert_status(ranks[k].status, SG_ERROR_REDUCE);
            assert_status(ranks[k].later, SG_ERROR_REDUCE);
            assert_non_null(strstr(ranks[k].message, "sum over 2 ranks"));
        }
    }
    free(ranks);
}

/* ---- Mistakes ----------------------------------------------------------------------------- */

static int no_sum(void *context, void *values, sg_type type, size_t count)
{
    (void)context;
    (void)values;
    (void)type;
    (void)count;
    return 0;
}

static void wrong_ranks_are_refused(void **state)
{
    const sg_ranks wrong[] = {{0, 0, no_sum, NULL},
                              {2, 2, no_sum, NULL},
                              {-1, 2, no_sum, NULL},
                              {0, 2, NULL, NULL},
                              {0, 1 << 30, no_sum, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sg_net_config config = sg_net_defaults();
        sg_net *net;
        config.batch = 4;
        config.ranks = &wrong[i];
        assert_status(sg_net_create(&net, &config, NULL), SG_ERROR_ARGUMENT);
        assert_null(net);
    }
}

/* Rank 1 has a label that is none, or no rank has an image. */
static void wrong_loss(const sg_ranks *ranks, void *context)
{
    rank *r = context;
    float images[BATCH * IMAGE] = {0};
    int labels[BATCH] = {0};
    sg_net *net;
    sg_status status = open_net(&net, SG_NORM_NONE, SG_ISA_AUTO, ranks, NULL);
    if (status == SG_OK)
        status = sg_net_forward(net, images, SG_MODE_EVAL, 0);
    if (ranks->rank == 1)
        labels[1] = CLASSES;
    r->status = status == SG_OK ? sg_net_loss(net, labels, r->count, 0, &r->loss) : status;
    snprintf(r->message, sizeof r->message, "%s", sg_net_diagnostic(net)->message);
    labels[1] = 0;
    r->later = sg_net_loss(net, labels, 2, 0, &r->loss);
    sg_net_destroy(net);
}

static void mistakes_of_one_rank_are_told_to_all(void **state)
{
    (void)state;
    for (int count = 0; count <= 2; count += 2) {
        rank *ranks = calloc(MOST_RANKS, sizeof *ranks);
        assert_non_null(ranks);
        for (int k = 0; k < 2; k++)
            ranks[k].count = count;
        on_ranks(2, -1, wrong_loss, ranks, sizeof *ranks);
        for (int k = 0; k < 2; k++) {
            const char *says = count == 0 ? "no rank has an image"
                               : k == 0   ? "another rank"
                                          : "label 7 of 7 classes";
            assert_status(ranks[k].status, SG_ERROR_ARGUMENT);
            assert_non_null(strstr(ranks[k].message, says));
            assert_ok(ranks[k].later);
        }
        free(ranks);
    }
}

static sg_status build_shared(const sg_allocator *allocator, void *context)
{
    const sg_ranks ranks = {0, 2, no_sum, NULL};
    sg_net *net;
    (void)context;
    sg_status status = open_net(&net, SG_NORM_BATCH, SG_ISA_AUTO, &ranks, allocator);
    sg_net_destroy(net);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    each_allocation_fails(build_shared, NULL, 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_agree_with_one),
        cmocka_unit_test(a_failed_sum_is_an_error),
        cmocka_unit_test(wrong_ranks_are_refused),
        cmocka_unit_test(mistakes_of_one_rank_are_told_to_all),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
