/* Batches ahead of the step: workers fill a ring of batches, image by image.
 *
 * A ticket is one image of the epoch that this loader hands out: (batch, slot) in order. Workers
 * take tickets under the lock, decode without it, and count down what is left of the ticket's
 * batch. A worker waits while its batch would need a ring slot that the caller has not given back.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "images/dataset.h"

enum { MAX_TRIES = 16, ORDER_STREAM = 0x6f726465 };

typedef struct slot {
    float *images; /* (share, 3, size, size) */
    int *labels;   /* (share); -1 where an image was left out */
    int left;      /* images of the batch that are not there yet */
} slot;

struct sg_loader {
    sg_allocator allocator;
    const sg_dataset *set;
    sg_loader_config config;
    size_t image_floats, batches;
    size_t share;  /* images of a batch that this loader hands out */
    size_t *order; /* (count): the epoch's permutation */
    slot *ring;
    pthread_t *threads;
    int started;

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint64_t epoch;
    size_t next_ticket, last_ticket; /* images of this epoch: handed out, and all */
    size_t taken, released;          /* batches handed to the caller, and given back */
    int busy;                        /* workers with a ticket */
    bool quit, running;
    uint64_t skipped;
    sg_status failure;  /* SG_ERROR_MEMORY: an image was left out that is not at fault */
    sg_diagnostic last; /* why the last of them could not be read */
};

sg_loader_config sg_loader_defaults(void)
{
    return (sg_loader_config){
        .batch = 32, .threads = 1, .ahead = 3, .view = sg_image_view_defaults(), .parts = 1};
}

/* ---- Workers ------------------------------------------------------------------------------ */

static void note_skipped(sg_loader *loader, sg_status status, const sg_diagnostic *why)
{
    pthread_mutex_lock(&loader->lock);
    loader->skipped++;
    if (status == SG_ERROR_MEMORY)
        loader->failure = status;
    loader->last = *why;
    pthread_mutex_unlock(&loader->lock);
}

/* Reads the image at `position` of the epoch; its label, or -1 when it was left out. */
static int fill_image(sg_loader *loader, uint64_t epoch, size_t position, float *image)
{
    sg_diagnostic why = {0};
    size_t index = loader->order[position], count = loader->set->count;
    int tries = loader->config.view.augment ? MAX_TRIES : 1;
    for (int i = 0; i < tries; i++, index = (index + 1) % count) {
        sg_status status =
            sg_dataset_read(loader->set, index, &loader->config.view, epoch, image, &why);
        if (status == SG_OK)
            return loader->set->labels[index];
        note_skipped(loader, status, &why);
        if (status == SG_ERROR_MEMORY)
            break;
    }
    memset(image, 0, loader->image_floats * sizeof *image);
    return -1;
}

/* Where the images of batch `batch` that this loader hands out begin in the epoch. */
static size_t first_of(const sg_loader *loader, size_t batch)
{
    return batch * (size_t)loader->config.batch + (size_t)loader->config.part * loader->share;
}

static bool has_work(const sg_loader *loader)
{
    size_t batch = loader->next_ticket / loader->share;
    return loader->running && loader->next_ticket < loader->last_ticket &&
           batch < loader->released + (size_t)loader->config.ahead + 1;
}

static void *worker(void *context)
{
    sg_loader *loader = context;
    size_t ring = (size_t)loader->config.ahead + 1, share = loader->share;
    pthread_mutex_lock(&loader->lock);
    while (!loader->quit) {
        if (!has_work(loader)) {
            pthread_cond_wait(&loader->work, &loader->lock);
            continue;
        }
        size_t ticket = loader->next_ticket++;
        uint64_t epoch = loader->epoch;
        slot *s = &loader->ring[ticket / share % ring];
        loader->busy++;
        pthread_mutex_unlock(&loader->lock);
        size_t at = ticket % share, position = first_of(loader, ticket / share) + at;
        s->labels[at] = fill_image(loader, epoch, position, s->images + at * loader->image_floats);
        pthread_mutex_lock(&loader->lock);
        loader->busy--;
        if (--s->left == 0 || loader->busy == 0)
            pthread_cond_broadcast(&loader->done);
    }
    pthread_mutex_unlock(&loader->lock);
    return NULL;
}

/* ---- Life --------------------------------------------------------------------------------- */

static bool sensible(const sg_loader_config *c)
{
    return c->batch > 0 && c->batch <= 1 << 20 && c->threads > 0 && c->threads <= 1024 &&
           c->ahead > 0 && c->ahead <= 1024 && c->view.size > 0 && c->view.size <= 1 << 14 &&
           c->parts > 0 && c->batch % c->parts == 0 && c->part >= 0 && c->part < c->parts;
}

static sg_status allocate_ring(sg_loader *loader)
{
    const sg_allocator *a = &loader->allocator;
    size_t share = loader->share;
    loader->order = sgi_allocate(a, loader->set->count, sizeof *loader->order);
    loader->ring = sgi_allocate(a, (size_t)loader->config.ahead + 1, sizeof *loader->ring);
    loader->threads = sgi_allocate(a, (size_t)loader->config.threads, sizeof *loader->threads);
    if (!loader->order || !loader->ring || !loader->threads)
        return SG_ERROR_MEMORY;
    for (int i = 0; i <= loader->config.ahead; i++) {
        slot *s = &loader->ring[i];
        s->images = sgi_allocate(a, share * loader->image_floats, sizeof *s->images);
        s->labels = sgi_allocate(a, share, sizeof *s->labels);
        if (!s->images || !s->labels)
            return SG_ERROR_MEMORY;
    }
    return SG_OK;
}

sg_status sg_loader_create(sg_loader **out, const sg_dataset *set, const sg_loader_config *config,
                           const sg_allocator *given)
{
    sg_loader_config c = config ? *config : sg_loader_defaults();
    c.parts = c.parts == 0 ? 1 : c.parts;
    if (!out || !set || !sensible(&c))
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sg_loader *loader = SGI_NEW(sg_loader, given);
    if (!loader)
        return SG_ERROR_MEMORY;
    loader->set = set;
    loader->config = c;
    loader->share = (size_t)(c.batch / c.parts);
    loader->image_floats = 3 * (size_t)c.view.size * (size_t)c.view.size;
    loader->batches =
        set->count / (size_t)c.batch + (!c.drop_last && set->count % (size_t)c.batch != 0);
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->work, NULL);
    pthread_cond_init(&loader->done, NULL);
    sg_status status = allocate_ring(loader);
    for (; status == SG_OK && loader->started < c.threads; loader->started++)
        if (pthread_create(&loader->threads[loader->started], NULL, worker, loader) != 0) {
            status = SG_ERROR_THREAD;
            break;
        }
    if (status == SG_OK)
        *out = loader;
    else
        sg_loader_destroy(loader);
    return status;
}

void sg_loader_destroy(sg_loader *loader)
{
    if (!loader)
        return;
    pthread_mutex_lock(&loader->lock);
    loader->quit = true;
    pthread_cond_broadcast(&loader->work);
    pthread_mutex_unlock(&loader->lock);
    for (int i = 0; i < loader->started; i++)
        pthread_join(loader->threads[i], NULL);
    for (int i = 0; loader->ring && i <= loader->config.ahead; i++) {
        sgi_release(&loader->allocator, loader->ring[i].images);
        sgi_release(&loader->allocator, loader->ring[i].labels);
    }
    sgi_release(&loader->allocator, loader->ring);
    sgi_release(&loader->allocator, loader->order);
    sgi_release(&loader->allocator, loader->threads);
    pthread_cond_destroy(&loader->work);
    pthread_cond_destroy(&loader->done);
    pthread_mutex_destroy(&loader->lock);
    sgi_release(&loader->allocator, loader);
}

size_t sg_loader_batches(const sg_loader *loader)
{
    return loader ? loader->batches : 0;
}

/* ---- Epochs ------------------------------------------------------------------------------- */

/* Images of the epoch from `first` on, but at most `most`. */
static int images_from(const sg_loader *loader, size_t first, size_t most)
{
    size_t count = loader->set->count, left = first < count ? count - first : 0;
    return (int)(left < most ? left : most);
}

/* Images of batch `batch` that this loader hands out. */
static int images_in(const sg_loader *loader, size_t batch)
{
    return images_from(loader, first_of(loader, batch), loader->share);
}

/* Fisher and Yates, from random numbers of the epoch. */
static void make_order(sg_loader *loader, uint64_t epoch)
{
    size_t count = loader->set->count;
    for (size_t i = 0; i < count; i++)
        loader->order[i] = i;
    if (!loader->config.shuffle)
        return;
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = (size_t)sgi_random_below(loader->config.view.seed, ORDER_STREAM,
                                            epoch * count + i, i + 1);
        size_t other = loader->order[i];
        loader->order[i] = loader->order[j];
        loader->order[j] = other;
    }
}

sg_status sg_loader_start(sg_loader *loader, uint64_t epoch, size_t first)
{
    if (!loader || first > loader->batches)
        return SG_ERROR_ARGUMENT;
    size_t share = loader->share, ring = (size_t)loader->config.ahead + 1;
    pthread_mutex_lock(&loader->lock);
    loader->running = false;
    while (loader->busy > 0)
        pthread_cond_wait(&loader->done, &loader->lock);
    make_order(loader, epoch);
    loader->epoch = epoch;
    loader->taken = loader->released = first;
    loader->next_ticket = first * share;
    loader->last_ticket = 0; /* only the last batch may have fewer than the others */
    if (loader->batches > 0)
        loader->last_ticket =
            (loader->batches - 1) * share + (size_t)images_in(loader, loader->batches - 1);
    for (size_t b = first; b < first + ring && b < loader->batches; b++)
        loader->ring[b % ring].left = images_in(loader, b);
    loader->running = true;
    pthread_cond_broadcast(&loader->work);
    pthread_mutex_unlock(&loader->lock);
    return SG_OK;
}

/* Gives the caller's last batch back to the workers. */
static void release_batch(sg_loader *loader)
{
    size_t ring = (size_t)loader->config.ahead + 1;
    if (loader->released == loader->taken)
        return;
    size_t next = loader->released + ring;
    if (next < loader->batches)
        loader->ring[next % ring].left = images_in(loader, next);
    loader->released++;
    pthread_cond_broadcast(&loader->work);
}

/* Closes the gaps of images that were left out; returns how many are there. */
static int compact(const sg_loader *loader, slot *s, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (s->labels[i] < 0)
            continue;
        if (kept != i) {
            memcpy(s->images + (size_t)kept * loader->image_floats,
                   s->images + (size_t)i * loader->image_floats,
                   loader->image_floats * sizeof *s->images);
            s->labels[kept] = s->labels[i];
        }
        kept++;
    }
    size_t empty = loader->share - (size_t)kept;
    memset(s->images + (size_t)kept * loader->image_floats, 0,
           empty * loader->image_floats * sizeof *s->images);
    memset(s->labels + kept, 0, empty * sizeof *s->labels);
    return kept;
}

sg_status sg_loader_next(sg_loader *loader, sg_batch *batch)
{
    if (!loader || !batch)
        return SG_ERROR_ARGUMENT;
    *batch = (sg_batch){0};
    pthread_mutex_lock(&loader->lock);
    if (!loader->running) {
        pthread_mutex_unlock(&loader->lock);
        return SG_ERROR_ORDER;
    }
    release_batch(loader);
    if (loader->taken == loader->batches) {
        pthread_mutex_unlock(&loader->lock);
        return SG_OK;
    }
    slot *s = &loader->ring[loader->taken % ((size_t)loader->config.ahead + 1)];
    if (s->left > 0) {
        double began = sgi_seconds();
        while (s->left > 0)
            pthread_cond_wait(&loader->done, &loader->lock);
        batch->waited = sgi_seconds() - began;
    }
    size_t number = loader->taken++;
    sg_status failure = loader->failure;
    loader->failure = SG_OK;
    pthread_mutex_unlock(&loader->lock);
    if (failure != SG_OK)
        return failure;
    batch->images = s->images;
    batch->labels = s->labels;
    batch->count = compact(loader, s, images_in(loader, number));
    batch->whole =
        images_from(loader, number * (size_t)loader->config.batch, (size_t)loader->config.batch);
    return SG_OK;
}

uint64_t sg_loader_skipped(sg_loader *loader, sg_diagnostic *last)
{
    if (!loader)
        return 0;
    pthread_mutex_lock(&loader->lock);
    uint64_t skipped = loader->skipped;
    if (last)
        *last = loader->last;
    pthread_mutex_unlock(&loader->lock);
    return skipped;
}
