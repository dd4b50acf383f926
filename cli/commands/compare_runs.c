/* Training the runs of a comparison: one after the other, or side by side. */
#include "commands/comparison.h"
#include "ranks.h"

/* Lanes take the runs in turns. */
static bool is_ours(const comparison *c, size_t index)
{
    return index % (size_t)c->lanes == (size_t)c->lane;
}

/* The share of this lane's runs that comes before run `index` of all. */
static double share_before(const comparison *c, size_t index)
{
    size_t all = 0, before = 0;
    for (size_t i = 0; i < c->variant_count * (size_t)c->seeds; i++) {
        all += is_ours(c, i);
        before += is_ours(c, i) && i < index;
    }
    return all > 0 ? (double)before / (double)all : 1;
}

static int train_variant(comparison *c, size_t v, int64_t k)
{
    char name[64], folder[SG_PATH_SIZE], file[SG_PATH_SIZE];
    bool resume = c->arguments->resume, first = v == 0 && k == 0;
    int code;
    sgi_run_lock lock = {0};
    work w;
    run_name(c, v, k, name, sizeof name);
    if (run_paths(c, v, k, folder, file) != SG_OK) { /* cannot be: the index was written */
        complain("%s: the path is too long", c->folder);
        return EXIT_BAD_INPUT;
    }
    if (resume ? !open_work(&w, c->arguments, file, NULL, 0, &code)
               : !open_variant(c, v, k, &w, &code))
        return code;
    size_t index = v * (size_t)c->seeds + (size_t)k;
    training t = {.arguments = c->arguments,
                  .work = &w,
                  .pool = c->pool,
                  .isa = c->isa,
                  .folder = folder,
                  .resume = resume,
                  .heading = first,
                  .variant = c->variants[v]->name,
                  .shown = name,
                  .go_on = c->go_on,
                  .place = c->place,
                  .from = share_before(c, index),
                  .to = share_before(c, index + 1)};
    run_end end = {0};
    if (resume) {
        end = end_of(folder, &w, false);
        warn_of_changes(folder);
    }
    if (end.failed || (end.complete && (!end.missing[0] || !end.trainable))) {
        code = end.failed ? EXIT_RUN_FAILED : EXIT_DONE;
        if (!c->arguments->quiet && !c->arguments->json)
            printf("%-10s %s%s%s\n", name, end.failed ? "has failed" : "is complete",
                   end.missing[0] ? ", without " : "", end.missing);
    } else if (lock_folder(&lock, folder, &code)) {
        code = train_and_tell(&t, NULL);
    }
    sgi_run_lock_release(&lock);
    if (code != EXIT_DONE && !resume && first && c->lanes == 1 && !is_a_run(folder)) /* no run */
        remove_folder(c);
    close_work(&w);
    return code;
}

/* A variant that fails numerically is a result; only an interruption ends the comparison. */
int train_ours(comparison *c)
{
    int worst = EXIT_DONE;
    size_t index = 0;
    for (size_t v = 0; v < c->variant_count; v++)
        for (int64_t k = 0; k < c->seeds; k++, index++) {
            int code = is_ours(c, index) ? train_variant(c, v, k) : EXIT_DONE;
            worst = code > worst ? code : worst;
            if (code == EXIT_INTERRUPTED || code == EXIT_BAD_INPUT)
                return code;
        }
    return worst;
}

/* How many runs are trained at a time. Where the clock ends a run, or its memory grows with the
 * square of something, runs are not put beside each other. */
static int lanes_of(const comparison *c)
{
    char folder[SG_PATH_SIZE], file[SG_PATH_SIZE];
    int code;
    work w;
    const sg_ranks *ranks = our_ranks();
    int workers = ranks ? ranks->count : sg_pool_threads(c->pool);
    if (run_paths(c, 0, 0, folder, file) != SG_OK ||
        !open_work(&w, c->arguments, file, NULL, 0, &code))
        return 1;
    bool good = w.kind->side_by_side && w.kind->side_by_side(w.file);
    close_work(&w);
    return good ? choose_lanes(c->variant_count * (size_t)c->seeds, workers, ranks) : 1;
}

static int be_lane(void *context, int index, lane *place)
{
    comparison c = *(comparison *)context;
    c.lane = index;
    c.place = place;
    sg_status status = sg_pool_create(&c.pool, c.threads / c.lanes, NULL);
    if (status != SG_OK) {
        complain("no more runs can be trained: %s", sg_status_text(status));
        return EXIT_RUN_FAILED;
    }
    int code = train_ours(&c);
    sg_pool_destroy(c.pool);
    return code;
}

static int be_first_lane(void *context)
{
    comparison c = *(comparison *)context;
    lane place = {0};
    c.place = &place;
    return train_ours(&c);
}

/* Lanes have pools of their own, and are started by a process without threads: see run_lanes. */
static int train_in_lanes(comparison *c)
{
    c->threads = sg_pool_threads(c->pool);
    sg_pool_destroy(c->pool);
    c->pool = NULL;
    return run_lanes(c->lanes, be_lane, c, c->arguments->quiet || c->arguments->json);
}

static int train_side_by_side(comparison *c)
{
    char folder[SG_PATH_SIZE], file[SG_PATH_SIZE];
    int code = our_ranks() ? run_ranks_as_lanes(c->folder, be_first_lane, c) : train_in_lanes(c);
    bool begun = c->arguments->resume;
    for (size_t v = 0; v < c->variant_count; v++)
        for (int64_t k = 0; k < c->seeds && !begun; k++)
            begun = run_paths(c, v, k, folder, file) == SG_OK && is_a_run(folder);
    if (begun)
        return code;
    remove_folder(c);
    return EXIT_BAD_INPUT;
}

int train_runs(comparison *c)
{
    c->lanes = lanes_of(c);
    return c->lanes == 1 ? train_ours(c) : train_side_by_side(c);
}
