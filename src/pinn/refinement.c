/* Points that follow the residual: see refinement.h. */
#include "pinn/refinement.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "pinn/selection.h"

struct sgi_refinement {
    sg_allocator allocator;
    const sgi_problem *problem;
    const sgi_refinement_settings *settings;
    sg_pinn_batch *training, *candidates;
    double *residuals; /* of the candidates, or for r3 of the training points */
    double *sizes;     /* (most candidates or points of a set) */
    size_t *chosen;    /* the same */
    double *state;     /* the kept points as a checkpoint has them */
    double seconds;
};

static bool is_refined(const sgi_problem *problem, int set)
{
    return problem->sets[set].refine;
}

static bool is_r3(const sgi_refinement *r)
{
    return r->settings->method == SG_REFINE_R3;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- Making -----------------------------------------------------------------------------------
 */

/* Points that a set may come to have. */
static size_t room_of(const sgi_refinement *r, size_t items)
{
    if (r->settings->method != SG_REFINE_RAR_D)
        return items;
    size_t most = r->settings->most > 0 ? (size_t)r->settings->most : 2 * items;
    return larger(most, items);
}

/* Numbers that are kept of an item: its points, and the normal if somebody reads it. */
static size_t doubles_of(const sgi_refinement *r, int k)
{
    size_t coordinates = (size_t)r->problem->names.coordinate_count;
    bool normals = sgi_residual_kept(sgi_pinn_residual(r->training), k).normals != NULL;
    return (size_t)r->problem->sets[k].points_per_item * coordinates + (normals ? coordinates : 0);
}

static sg_status create_candidates(sgi_refinement *r, sg_pinn *pinn, sg_pool *pool, sg_isa isa)
{
    size_t items[SG_MOST_SETS];
    for (int k = 0; k < r->problem->set_count; k++) {
        size_t own = sg_pinn_items(r->training, (size_t)k);
        items[k] = !is_refined(r->problem, k) ? 1
                   : is_r3(r)                 ? own
                                              : own * (size_t)r->settings->candidates;
    }
    sg_pinn_batch_config config = {
        .stream = SG_POINTS_CANDIDATES, .items = items, .pool = pool, .isa = isa};
    return sg_pinn_batch_create(&r->candidates, pinn, &config, &r->allocator);
}

static sg_status create_arrays(sgi_refinement *r)
{
    size_t most = 1, state = 0;
    sg_status status = SG_OK;
    for (int k = 0; k < r->problem->set_count && status == SG_OK; k++) {
        if (!is_refined(r->problem, k))
            continue;
        size_t room = room_of(r, sg_pinn_items(r->training, (size_t)k));
        most = larger(most, larger(room, sg_pinn_items(r->candidates, (size_t)k)));
        status = sgi_residual_reserve(sgi_pinn_residual(r->training), k, room);
        state += 1 + room * doubles_of(r, k);
    }
    if (status != SG_OK)
        return status;
    size_t residuals = sg_pinn_residual_count(is_r3(r) ? r->training : r->candidates);
    r->residuals = sgi_allocate(&r->allocator, residuals, sizeof *r->residuals);
    r->sizes = sgi_allocate(&r->allocator, most, sizeof *r->sizes);
    r->chosen = sgi_allocate(&r->allocator, most, sizeof *r->chosen);
    r->state = sgi_allocate(&r->allocator, state, sizeof *r->state);
    return r->residuals && r->sizes && r->chosen && r->state ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_refinement_create(sgi_refinement **out, sg_pinn *pinn, sg_pinn_batch *batch,
                                sg_pool *pool, sg_isa isa, const sg_allocator *given)
{
    *out = NULL;
    if (pinn->problem->settings.refinement.method == SG_REFINE_NONE)
        return SG_OK;
    sgi_refinement *r = SGI_NEW(sgi_refinement, given);
    if (!r)
        return SG_ERROR_MEMORY;
    r->problem = pinn->problem;
    r->settings = &pinn->problem->settings.refinement;
    r->training = batch;
    sg_status status = create_candidates(r, pinn, pool, isa);
    if (status == SG_OK)
        status = create_arrays(r);
    if (status == SG_OK)
        *out = r;
    else
        sgi_refinement_destroy(r);
    return status;
}

void sgi_refinement_destroy(sgi_refinement *r)
{
    if (!r)
        return;
    sg_pinn_batch_destroy(r->candidates);
    sgi_release(&r->allocator, r->residuals);
    sgi_release(&r->allocator, r->sizes);
    sgi_release(&r->allocator, r->chosen);
    sgi_release(&r->allocator, r->state);
    sgi_release(&r->allocator, r);
}

/* ---- Choosing ---------------------------------------------------------------------------------
 */

/* Chooses `wanted` candidates of set k by their residuals and keeps them from place `first` on. */
static void add_candidates(sgi_refinement *r, int k, const double *residuals, uint64_t step,
                           size_t first, size_t wanted)
{
    const sgi_refinement_settings *s = r->settings;
    bool rar = s->method == SG_REFINE_RAR_D;
    size_t count = sg_pinn_items(r->candidates, (size_t)k);
    sgi_draw draw = {(uint64_t)r->problem->settings.training.seed, SG_POINTS_CANDIDATES, step};
    double offset = sgi_random_uniform(draw.seed, sgi_draw_stream(&draw, k), (uint64_t)0x7FF << 52);
    sgi_select_sizes(residuals, count, (size_t)r->problem->sets[k].component_count, r->sizes);
    sgi_select_weights(r->sizes, count,
                       s->power >= 0 ? s->power
                       : rar         ? 2
                                     : 1,
                       s->floor >= 0 ? s->floor
                       : rar         ? 0
                                     : 1,
                       r->sizes);
    sgi_select(r->sizes, count, offset, r->chosen, wanted);
    for (size_t j = 0; j < wanted; j++)
        sgi_residual_keep(sgi_pinn_residual(r->training), k, first + j,
                          sgi_pinn_residual(r->candidates), r->chosen[j]);
    sgi_pinn_keep(r->training, (size_t)k, first + wanted);
}

/* The points as they are now become those that are kept. */
static void hold_points(sgi_refinement *r, int k)
{
    sgi_residual *own = sgi_pinn_residual(r->training);
    size_t items = sg_pinn_items(r->training, (size_t)k);
    if (sgi_residual_kept(own, k).count > 0)
        return;
    for (size_t i = 0; i < items; i++)
        sgi_residual_keep(own, k, i, own, i);
    sgi_pinn_keep(r->training, (size_t)k, items);
}

static void grow(sgi_refinement *r, int k, const double *residuals, uint64_t step)
{
    size_t sampled = (size_t)r->problem->sets[k].items, room = room_of(r, sampled);
    size_t add = r->settings->add > 0 ? (size_t)r->settings->add : (sampled + 9) / 10;
    hold_points(r, k);
    size_t items = sg_pinn_items(r->training, (size_t)k);
    if (add > room - items)
        add = room - items;
    if (add > 0)
        add_candidates(r, k, residuals, step, items, add);
}

/* Points above the mean move to the front, the others are drawn anew. */
static void retain(sgi_refinement *r, int k, const double *residuals)
{
    sgi_residual *own = sgi_pinn_residual(r->training);
    size_t items = sg_pinn_items(r->training, (size_t)k);
    sgi_select_sizes(residuals, items, (size_t)r->problem->sets[k].component_count, r->sizes);
    size_t kept = sgi_select_above_mean(r->sizes, items, r->chosen);
    hold_points(r, k);
    for (size_t j = 0; j < kept; j++)
        sgi_residual_keep(own, k, j, own, r->chosen[j]);
    for (size_t j = kept; j < items; j++)
        sgi_residual_keep(own, k, j, sgi_pinn_residual(r->candidates), j);
    sgi_pinn_keep(r->training, (size_t)k, items);
}

/* Whether a set still grows: later residuals of candidates are of no use. */
static bool has_work(const sgi_refinement *r)
{
    if (r->settings->method != SG_REFINE_RAR_D)
        return true;
    for (int k = 0; k < r->problem->set_count; k++)
        if (is_refined(r->problem, k) &&
            sg_pinn_items(r->training, (size_t)k) < room_of(r, (size_t)r->problem->sets[k].items))
            return true;
    return false;
}

void sgi_refinement_run(sgi_refinement *r, uint64_t step)
{
    double began = sgi_seconds();
    sg_pinn_batch *measured = is_r3(r) ? r->training : r->candidates;
    const double *residuals = r->residuals;
    if (sgi_residual_is_given(sgi_pinn_residual(r->training)))
        return; /* the caller chooses points, and how many */
    sg_pinn_draw(r->candidates, step);
    sgi_pinn_point_residuals(measured, r->residuals);
    for (int k = 0; k < r->problem->set_count; k++) {
        size_t rows =
            sg_pinn_items(measured, (size_t)k) * (size_t)r->problem->sets[k].component_count;
        if (is_refined(r->problem, k) && is_r3(r))
            retain(r, k, residuals);
        else if (is_refined(r->problem, k) && r->settings->method == SG_REFINE_RAR_D)
            grow(r, k, residuals, step);
        else if (is_refined(r->problem, k))
            add_candidates(r, k, residuals, step, 0, (size_t)r->problem->sets[k].items);
        residuals += rows;
    }
    r->seconds += sgi_seconds() - began;
}

void sgi_refinement_step(sgi_refinement *r, uint64_t step)
{
    if (step > 0 && step % (uint64_t)r->settings->every == 0 && has_work(r))
        sgi_refinement_run(r, step);
}

double sgi_refinement_time(sgi_refinement *r)
{
    double before = r->seconds;
    sgi_refinement_run(r, 1);
    double taken = r->seconds - before;
    r->seconds = before;
    for (int k = 0; k < r->problem->set_count; k++)
        if (is_refined(r->problem, k))
            sgi_pinn_keep(r->training, (size_t)k, 0);
    return taken;
}

/* ---- State ------------------------------------------------------------------------------------
 */

double sgi_refinement_seconds(const sgi_refinement *r)
{
    return r ? r->seconds : 0;
}

void sgi_refinement_set_seconds(sgi_refinement *r, double seconds)
{
    if (r)
        r->seconds = seconds;
}

size_t sgi_refinement_evaluated(const sgi_refinement *r)
{
    const sg_pinn_batch *measured = is_r3(r) ? r->training : r->candidates;
    size_t points = 0;
    for (int k = 0; k < r->problem->set_count; k++)
        points += sg_pinn_items(measured, (size_t)k) * (size_t)r->problem->sets[k].points_per_item;
    return points;
}

/* For each set that is refined, in order: the number of its items, as a double, then their points,
 * then their normals if the set needs them. */
const void *sgi_refinement_state(sgi_refinement *r, size_t *size)
{
    double *to = r->state;
    size_t coordinates = (size_t)r->problem->names.coordinate_count;
    for (int k = 0; k < r->problem->set_count; k++) {
        if (!is_refined(r->problem, k))
            continue;
        sgi_given kept = sgi_residual_kept(sgi_pinn_residual(r->training), k);
        size_t width = (size_t)r->problem->sets[k].points_per_item * coordinates;
        *to++ = (double)kept.count;
        memcpy(to, kept.points, kept.count * width * sizeof *to);
        to += kept.count * width;
        if (kept.normals)
            memcpy(to, kept.normals, kept.count * coordinates * sizeof *to);
        to += kept.normals ? kept.count * coordinates : 0;
    }
    *size = (size_t)(to - r->state) * sizeof *to;
    return r->state;
}

static double at(const void *state, size_t i)
{
    double value;
    memcpy(&value, (const char *)state + i * sizeof value, sizeof value);
    return value;
}

bool sgi_refinement_fits(const sgi_refinement *r, const void *state, size_t size)
{
    size_t place = 0, all = size / sizeof(double);
    for (int k = 0; k < r->problem->set_count; k++) {
        if (!is_refined(r->problem, k))
            continue;
        double room = (double)room_of(r, (size_t)r->problem->sets[k].items);
        double count = place < all ? at(state, place) : -1;
        if (!(count >= 0 && count <= room && count == floor(count)))
            return false;
        size_t values = (size_t)count * doubles_of(r, k);
        place++;
        if (values > all - place)
            return false;
        for (size_t i = 0; i < values; i++)
            if (!isfinite(at(state, place + i)))
                return false;
        place += values;
    }
    return place * sizeof(double) == size;
}

void sgi_refinement_restore(sgi_refinement *r, const void *state)
{
    const char *from = state;
    size_t coordinates = (size_t)r->problem->names.coordinate_count;
    for (int k = 0; k < r->problem->set_count; k++) {
        if (!is_refined(r->problem, k))
            continue;
        sgi_given kept = sgi_residual_kept(sgi_pinn_residual(r->training), k);
        size_t count = (size_t)at(from, 0);
        size_t points = count * (size_t)r->problem->sets[k].points_per_item * coordinates;
        from += sizeof(double);
        memcpy(kept.points, from, points * sizeof(double));
        from += points * sizeof(double);
        if (kept.normals)
            memcpy(kept.normals, from, count * coordinates * sizeof(double));
        from += kept.normals ? count * coordinates * sizeof(double) : 0;
        sgi_pinn_keep(r->training, (size_t)k, count);
    }
}
