/* A network being trained on images: see image_trainer.h. */
#include "train/image_trainer.h"

#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "base/ranks.h"

/* A data set with the loader that hands out its batches. */
typedef struct source {
    sg_dataset *set;
    sg_loader *loader;
} source;

struct sgi_image_trainer {
    sg_allocator allocator;
    const sgi_task *task;
    sg_pool *pool;
    const sg_ranks *ranks; /* NULL: alone */
    double *told;          /* (ranks + 1): what ranks tell each other of a batch, see take() */
    uint64_t unread;       /* images that could not be read, on all ranks */
    sg_isa isa;
    source train, test;
    sg_net *net;
    sg_scaler *scaler;
    sg_optim *optim;
    uint64_t steps, per_epoch;
    int batch; /* images of a step, of all ranks: the task's, unless it is tried with fewer */
};

/* ---- Ranks -------------------------------------------------------------------------------- */

static int rank_count(const sgi_image_trainer *t)
{
    return t->ranks ? t->ranks->count : 1;
}

static int rank_index(const sgi_image_trainer *t)
{
    return t->ranks ? t->ranks->rank : 0;
}

static sg_status add_up(const sgi_image_trainer *t, double *values, size_t count,
                        sg_diagnostic *diagnostic)
{
    if (sgi_ranks_sum(t->ranks, values, SG_FLOAT64, count))
        return SG_OK;
    return sgi_fail(diagnostic, SG_ERROR_REDUCE, "a sum over %d ranks failed", rank_count(t));
}

/* For the scaler. */
static int reduce(void *context, double *values, size_t count)
{
    const sgi_image_trainer *t = context;
    return sgi_ranks_sum(t->ranks, values, SG_FLOAT64, count) ? 0 : 1;
}

/* ---- Making ------------------------------------------------------------------------------- */

static const sgi_task_settings *settings(const sgi_image_trainer *t)
{
    return &t->task->settings;
}

static sg_status open_set(sgi_image_trainer *t, source *s, const sgi_paths *paths, const char *key,
                          sg_diagnostic *diagnostic)
{
    int kind = settings(t)->data.kind;
    sg_status status =
        kind == SG_DATA_FOLDER
            ? sg_dataset_open_folder(&s->set, paths->values[0], &t->allocator, diagnostic)
            : sg_dataset_open_cifar(&s->set, paths->values, (size_t)paths->count,
                                    kind == SG_DATA_CIFAR10 ? 10 : 100, &t->allocator, diagnostic);
    if (status == SG_ERROR_IO)
        sgi_diagnostic_suggest(diagnostic, "Where the images are is said by --set %s=PATH", key);
    return status;
}

static sg_status open_loader(sgi_image_trainer *t, source *s, bool training,
                             sg_diagnostic *diagnostic)
{
    const sgi_data_settings *data = &settings(t)->data;
    sg_loader_config config = sg_loader_defaults();
    config.batch = t->batch;
    config.part = rank_index(t);
    config.parts = rank_count(t);
    config.threads = (int)data->workers;
    config.ahead = (int)data->ahead;
    config.shuffle = config.drop_last = training;
    config.view = sgi_task_view(t->task, training);
    sg_status status = sg_loader_create(&s->loader, s->set, &config, &t->allocator);
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "the images cannot be loaded: %s",
                        sg_status_text(status));
    return SG_OK;
}

/* Classes of a folder are numbered by their names, so both folders must have the same ones. */
static sg_status check_classes(const sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    const sg_dataset *train = t->train.set, *test = t->test.set;
    int classes = sg_dataset_classes(train);
    if (sg_dataset_classes(test) != classes) {
        return sgi_fail(diagnostic, SG_ERROR_FORMAT,
                        "the training images have %d classes and the test images %d", classes,
                        sg_dataset_classes(test));
    }
    for (int c = 0; c < classes && sg_dataset_class_name(train, c); c++) {
        const char *a = sg_dataset_class_name(train, c), *b = sg_dataset_class_name(test, c);
        if (!b || strcmp(a, b) != 0) {
            return sgi_fail(diagnostic, SG_ERROR_FORMAT,
                            "class '%s' of the training images is not among the test images", a);
        }
    }
    return SG_OK;
}

static sg_status check_ranks(const sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    int ranks = rank_count(t), rest = t->batch % ranks, below = t->batch - rest;
    if (rest == 0)
        return SG_OK;
    int nearest = below > 0 && 2 * rest <= ranks ? below : below + ranks;
    return sgi_fail(diagnostic, SG_ERROR_ARGUMENT,
                    "%d ranks cannot share batches of %d images equally; training.batch=%d would "
                    "do",
                    ranks, t->batch, nearest);
}

/* The batches that the loaders keep ready are their memory. */
static sg_status check_batch(const sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    const sgi_data_settings *data = &settings(t)->data;
    size_t images = sg_dataset_count(t->train.set);
    int64_t batch = settings(t)->batch;
    if (images < (size_t)batch)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT,
                        "%zu training images do not fill one batch of %lld", images,
                        (long long)batch);
    char what[80];
    double pixels = 3.0 * (double)data->size * (double)data->size;
    double ready = 2.0 * (double)(data->ahead + 1);
    int64_t share = batch / rank_count(t);
    (void)snprintf(what, sizeof what, "keeping %.0f batches of %lld images ready", ready,
                   (long long)share);
    return sgi_memory_fits(ready * (double)share * pixels * sizeof(float), what, diagnostic);
}

static sg_status open_data(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    const sgi_data_settings *data = &settings(t)->data;
    sg_status status = open_set(t, &t->train, &data->train, "data.train", diagnostic);
    if (status == SG_OK)
        status = open_set(t, &t->test, &data->test, "data.test", diagnostic);
    if (status == SG_OK)
        status = check_classes(t, diagnostic);
    if (status == SG_OK)
        status = check_batch(t, diagnostic);
    if (status == SG_OK)
        status = open_loader(t, &t->train, true, diagnostic);
    if (status == SG_OK)
        status = open_loader(t, &t->test, false, diagnostic);
    if (status != SG_OK)
        return status;
    t->per_epoch = sg_dataset_count(t->train.set) / (size_t)settings(t)->batch;
    t->steps = (uint64_t)settings(t)->training.steps;
    if (t->steps == 0)
        t->steps = t->per_epoch * (uint64_t)settings(t)->epochs;
    return SG_OK;
}

static sg_status net_failed(const sgi_image_trainer *t, sg_status status, sg_diagnostic *diagnostic)
{
    const char *why = t->net ? sg_net_diagnostic(t->net)->message : "";
    if (status == SG_ERROR_UNSUPPORTED && settings(t)->network.precision == SG_PRECISION_BF16)
        why = "this processor has no bf16 products; use network.precision=float";
    return sgi_fail(diagnostic, status, "the network cannot be built: %s",
                    why[0] ? why : sg_status_text(status));
}

static sg_status build_network(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    const sgi_task_settings *s = settings(t);
    sg_net_config config = sg_net_defaults();
    sg_model_options options = sgi_task_model(t->task, sg_dataset_classes(t->train.set));
    sg_init_config init = sgi_task_init(t->task);
    config.batch = t->batch / rank_count(t);
    config.ranks = t->ranks;
    config.height = config.width = (int)s->data.size;
    config.threads = sg_pool_threads(t->pool);
    config.isa = t->isa;
    config.seed = (uint64_t)s->training.seed;
    config.precision = (sg_precision)s->network.precision;
    sg_status status = sg_net_create(&t->net, &config, &t->allocator);
    if (status == SG_OK)
        status = sg_net_model(t->net, sg_model_name(s->network.model), &options);
    if (status == SG_OK)
        status = sg_net_init(t->net, &init);
    return status == SG_OK ? SG_OK : net_failed(t, status, diagnostic);
}

static sg_status load_failed(sg_status status, sg_diagnostic *diagnostic)
{
    return sgi_fail(diagnostic, status, "no more images can be read: %s", sg_status_text(status));
}

static uint64_t own_unread(const sgi_image_trainer *t, sg_diagnostic *last)
{
    uint64_t train = sg_loader_skipped(t->train.loader, last);
    return train + sg_loader_skipped(t->test.loader, train ? NULL : last);
}

/* This rank's part of a batch, and what the others have of it. */
typedef struct taken {
    sg_batch part;
    uint64_t before, images; /* of the ranks before this one, and of all */
} taken;

/* The next batch. Ranks tell each other how many images each has of it, or that it cannot go on:
 * then all of them stop, and none waits for the others. */
static sg_status take(sgi_image_trainer *t, const source *s, taken *batch,
                      sg_diagnostic *diagnostic)
{
    int ranks = rank_count(t);
    *batch = (taken){0};
    sg_status loaded = sg_loader_next(s->loader, &batch->part);
    for (int k = 0; k < ranks; k++)
        t->told[k] = 0;
    t->told[rank_index(t)] = loaded == SG_OK ? batch->part.count : -1;
    t->told[ranks] = (double)own_unread(t, NULL);
    sg_status status = add_up(t, t->told, (size_t)ranks + 1, diagnostic);
    if (status != SG_OK)
        return status;
    if (loaded != SG_OK)
        return load_failed(loaded, diagnostic);
    t->unread = (uint64_t)t->told[ranks];
    for (int k = 0; k < ranks; k++) {
        if (t->told[k] < 0)
            return sgi_fail(diagnostic, SG_ERROR_IO, "rank %d of %d cannot read its images", k,
                            ranks);
        batch->before += k < rank_index(t) ? (uint64_t)t->told[k] : 0;
        batch->images += (uint64_t)t->told[k];
    }
    return SG_OK;
}

static sg_status calibrate(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    if (!sgi_task_calibrates(t->task))
        return SG_OK;
    taken batch;
    sg_status status = take(t, &t->train, &batch, diagnostic);
    if (status != SG_OK)
        return status;
    status = sg_net_calibrate(t->net, batch.part.images);
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "the start cannot be calibrated: %s",
                        sg_net_diagnostic(t->net)->message);
    return SG_OK;
}

static sg_status create_optimizer(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    sg_schedule_term terms[SG_MOST_PIECES + 2];
    sg_scale_config scale = sgi_task_scale(t->task, t->steps);
    sg_optim_config optim = sgi_task_optim(t->task, t->steps, terms);
    sg_params *params = sg_net_params(t->net);
    scale.isa = optim.isa = t->isa;
    if (rank_count(t) > 1) { /* the gradients are summed already, the signal is this rank's */
        scale.reduce = reduce;
        scale.reduce_context = t;
        scale.sharding = SG_GRADIENTS_REPLICATED;
    }
    sg_status status = sg_scaler_create(&t->scaler, params, &scale, t->pool, &t->allocator);
    if (status == SG_OK)
        status = sg_optim_create(&t->optim, params, &optim, t->pool, &t->allocator);
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "the optimizer cannot be set up: %s",
                        sg_status_text(status));
    return SG_OK;
}

sg_status sgi_image_trainer_move(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    uint64_t step = sg_optim_steps(t->optim);
    sg_status status =
        sg_loader_start(t->train.loader, step / t->per_epoch, (size_t)(step % t->per_epoch));
    return status == SG_OK ? SG_OK : load_failed(status, diagnostic);
}

/* All that a rank can do without the others. */
static sg_status prepare(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    sg_status status = check_ranks(t, diagnostic);
    if (status != SG_OK)
        return status;
    t->told = sgi_allocate(&t->allocator, (size_t)rank_count(t) + 1, sizeof *t->told);
    if (!t->told)
        return SG_ERROR_MEMORY;
    status = open_data(t, diagnostic);
    if (status == SG_OK)
        status = build_network(t, diagnostic);
    if (status == SG_OK)
        status = create_optimizer(t, diagnostic);
    return status == SG_OK ? sgi_image_trainer_move(t, diagnostic) : status;
}

/* Ranks leave together: none waits for one that could not be prepared. */
static sg_status agree(const sgi_image_trainer *t, sg_status own, sg_diagnostic *diagnostic)
{
    double failed = own == SG_OK ? 0 : 1;
    sg_diagnostic why = {0};
    sg_status status = add_up(t, &failed, 1, &why);
    if (own != SG_OK)
        return own;
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "%s", why.message);
    if (failed > 0)
        return sgi_fail(diagnostic, SG_ERROR_REDUCE, "another rank could not be set up");
    return SG_OK;
}

static sg_status set_up(sgi_image_trainer *t, sg_diagnostic *diagnostic)
{
    sg_status status = agree(t, prepare(t, diagnostic), diagnostic);
    if (status == SG_OK)
        status = calibrate(t, diagnostic);
    return status == SG_OK ? sgi_image_trainer_move(t, diagnostic) : status;
}

sg_status sgi_image_trainer_create(sgi_image_trainer **out, const sgi_task *task, sg_pool *pool,
                                   const sg_ranks *ranks, sg_isa isa, const sg_allocator *given,
                                   sg_diagnostic *diagnostic)
{
    return sgi_image_trainer_create_small(out, task, (int)task->settings.batch, pool, ranks, isa,
                                          given, diagnostic);
}

sg_status sgi_image_trainer_create_small(sgi_image_trainer **out, const sgi_task *task, int images,
                                         sg_pool *pool, const sg_ranks *ranks, sg_isa isa,
                                         const sg_allocator *given, sg_diagnostic *diagnostic)
{
    *out = NULL;
    sgi_image_trainer *t = SGI_NEW(sgi_image_trainer, given);
    if (!t)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    (void)sgi_fail(diagnostic, SG_OK, "%s", "");
    t->task = task;
    t->batch = images;
    t->pool = pool;
    t->ranks = ranks;
    t->isa = isa;
    sg_status status = set_up(t, diagnostic);
    if (status != SG_OK) {
        if (diagnostic && !diagnostic->message[0])
            (void)sgi_fail(diagnostic, status, "%s", sg_status_text(status));
        sgi_image_trainer_destroy(t);
        return status;
    }
    *out = t;
    return SG_OK;
}

void sgi_image_trainer_destroy(sgi_image_trainer *t)
{
    if (!t)
        return;
    sg_optim_destroy(t->optim);
    sg_scaler_destroy(t->scaler);
    sg_net_destroy(t->net);
    sg_loader_destroy(t->train.loader);
    sg_loader_destroy(t->test.loader);
    sg_dataset_close(t->train.set);
    sg_dataset_close(t->test.set);
    sgi_release(&t->allocator, t->told);
    sgi_release(&t->allocator, t);
}

/* ---- Working ------------------------------------------------------------------------------ */

/* The next batch; a new epoch begins when the last has none left. */
static sg_status next_batch(sgi_image_trainer *t, taken *batch, sg_diagnostic *diagnostic)
{
    sg_status status = take(t, &t->train, batch, diagnostic);
    if (status == SG_OK && batch->part.whole == 0) {
        status = sgi_image_trainer_move(t, diagnostic);
        if (status == SG_OK)
            status = take(t, &t->train, batch, diagnostic);
    }
    if (status == SG_OK && batch->images == 0)
        return load_failed(SG_ERROR_IO, diagnostic);
    return status;
}

/* Loss and gradients on the batch, and a look inside. */
static sg_status differentiate(sgi_image_trainer *t, const sg_batch *batch, uint64_t step,
                               double observe_from, sgi_image_step *result)
{
    sg_status status = sg_net_forward(t->net, batch->images, SG_MODE_TRAIN, step);
    if (status == SG_OK)
        status =
            sg_net_loss(t->net, batch->labels, batch->count, settings(t)->smoothing, &result->loss);
    if (status == SG_OK)
        status = sg_net_backward(t->net);
    result->observed = !(result->loss.loss < observe_from);
    if (status == SG_OK && result->observed)
        status = sg_net_observe(t->net);
    return status;
}

static sg_status scale_and_step(sgi_image_trainer *t, const sg_batch *batch, uint64_t step,
                                sgi_image_step *result)
{
    size_t signal = (size_t)batch->count * (size_t)sg_net_classes(t->net);
    sg_status status = sg_scaler_observe(t->scaler, sg_net_signal(t->net), SG_FLOAT32, signal, 1.0);
    if (status == SG_OK)
        status = sg_scaler_measure(t->scaler, step);
    if (status == SG_OK)
        status = sg_optim_step(t->optim, t->scaler, &result->info);
    result->scale = sg_scaler_report(t->scaler);
    return status;
}

sg_status sgi_image_trainer_step(sgi_image_trainer *t, double observe_from, sgi_image_step *result,
                                 sg_diagnostic *diagnostic)
{
    uint64_t step = sg_optim_steps(t->optim);
    taken batch;
    *result = (sgi_image_step){.step = step + 1};
    sg_status status = next_batch(t, &batch, diagnostic);
    if (status != SG_OK)
        return status;
    result->images = (int)batch.images;
    result->waited = batch.part.waited;
    status = differentiate(t, &batch.part, step, observe_from, result);
    if (status == SG_OK)
        status = scale_and_step(t, &batch.part, step, result);
    if (status != SG_OK)
        return sgi_fail(diagnostic, status, "step %llu: %s %s", (unsigned long long)step + 1,
                        sg_status_text(status), sg_net_diagnostic(t->net)->message);
    return SG_OK;
}

/* The class with the largest logit. */
static int class_of(const float *logits, int classes)
{
    int best = 0;
    for (int c = 1; c < classes; c++)
        best = logits[c] > logits[best] ? c : best;
    return best;
}

/* What the evaluation adds up. */
typedef struct tally {
    double loss, top1, top5;
    uint64_t images;
    /* On this rank alone until share_classes(): */
    bool any, several;
    int first_class;
} tally;

/* Of the first `left` images of the batch. */
static sg_status evaluate_batch(sgi_image_trainer *t, const taken *batch, uint64_t left, tally *sum)
{
    sg_loss_result loss;
    int classes = sg_net_classes(t->net), count = batch->part.count;
    uint64_t own = left > batch->before ? left - batch->before : 0;
    count = (uint64_t)count < own ? count : (int)own;
    sg_status status = sg_net_forward(t->net, batch->part.images, SG_MODE_EVAL, 0);
    if (status == SG_OK)
        status = sg_net_loss(t->net, batch->part.labels, count, 0, &loss);
    if (status != SG_OK)
        return status;
    const float *logits = sg_net_logits(t->net);
    for (int i = 0; i < count; i++) {
        int label = class_of(logits + (size_t)i * (size_t)classes, classes);
        if (!sum->any)
            sum->first_class = label;
        sum->any = true;
        sum->several = sum->several || label != sum->first_class;
    }
    sum->loss += loss.loss * loss.images;
    sum->top1 += loss.top1;
    sum->top5 += loss.top5;
    sum->images += (uint64_t)loss.images;
    return SG_OK;
}

static sg_status evaluate_all(sgi_image_trainer *t, uint64_t most, tally *sum,
                              sg_diagnostic *diagnostic)
{
    sg_status status = sg_loader_start(t->test.loader, 0, 0);
    while (status == SG_OK && sum->images < most) {
        taken batch;
        status = take(t, &t->test, &batch, diagnostic);
        if (status != SG_OK || batch.part.whole == 0)
            return status;
        if (batch.images > 0)
            status = evaluate_batch(t, &batch, most - sum->images, sum);
    }
    return status;
}

/* Whether the images of all ranks got one class: for n numbers n times the sum of their squares is
 * the square of their sum only when they are equal. */
static sg_status share_classes(const sgi_image_trainer *t, tally *sum, sg_diagnostic *diagnostic)
{
    double c = sum->any ? sum->first_class : 0, sums[4] = {sum->any, sum->several, c, c * c};
    sg_status status = add_up(t, sums, 4, diagnostic);
    if (status != SG_OK)
        return status;
    sum->several = sums[1] > 0 || sums[0] * sums[3] != sums[2] * sums[2];
    sum->first_class = (int)(sums[2] / sums[0]);
    return SG_OK;
}

sg_status sgi_image_trainer_evaluate(sgi_image_trainer *t, sgi_image_score *score,
                                     sg_diagnostic *diagnostic)
{
    uint64_t most = (uint64_t)settings(t)->data.test_images;
    tally sum = {0};
    sg_diagnostic why = {0};
    if (most == 0)
        most = sg_dataset_count(t->test.set);
    sg_status status = evaluate_all(t, most, &sum, &why);
    if (status == SG_OK && sum.images == 0)
        status = SG_ERROR_IO;
    if (status == SG_OK)
        status = share_classes(t, &sum, &why);
    if (status == SG_OK && !sum.several)
        status = sg_net_observe(t->net);
    if (status != SG_OK) {
        return sgi_fail(diagnostic, status, "the test images cannot be evaluated: %s",
                        why.message[0] ? why.message : sg_status_text(status));
    }
    double n = (double)sum.images;
    *score = (sgi_image_score){sum.images, sum.loss / n, sum.top1 / n, sum.top5 / n,
                               sum.several ? -1 : sum.first_class};
    return SG_OK;
}

/* ---- Looking ------------------------------------------------------------------------------ */

sg_net *sgi_image_trainer_network(const sgi_image_trainer *t)
{
    return t->net;
}

sg_scaler *sgi_image_trainer_scaler(const sgi_image_trainer *t)
{
    return t->scaler;
}

sg_optim *sgi_image_trainer_optim(const sgi_image_trainer *t)
{
    return t->optim;
}

uint64_t sgi_image_trainer_steps(const sgi_image_trainer *t)
{
    return t->steps;
}

uint64_t sgi_image_trainer_per_epoch(const sgi_image_trainer *t)
{
    return t->per_epoch;
}

sgi_image_data sgi_image_trainer_data(const sgi_image_trainer *t)
{
    return (sgi_image_data){sg_dataset_count(t->train.set), sg_dataset_count(t->test.set),
                            sg_dataset_classes(t->train.set)};
}

size_t sgi_image_trainer_parameter_bytes(const sgi_image_trainer *t)
{
    size_t state;
    sg_optim_state(t->optim, &state);
    return state + 2 * sizeof(float) * sg_net_information(t->net).parameters;
}

uint64_t sgi_image_trainer_unread(const sgi_image_trainer *t, sg_diagnostic *last)
{
    uint64_t own = own_unread(t, last);
    return rank_count(t) > 1 ? t->unread : own;
}
