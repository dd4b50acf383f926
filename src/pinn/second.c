/* Methods of second order on a problem: see second.h. */
#include "pinn/second.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "pinn/moving.h"
#include "pinn/objective.h"
#include "second/levenberg.h"
#include "second/quasi.h"

static const uint64_t state_magic = 0x31304e4f43455347u; /* "GSECON01" */

static const double JUMP = 2.5; /* of the loss by a redraw: more, and the points become more */

/* What a checkpoint keeps, in front of the points and the state of a quasi-Newton method. */
typedef struct state_head {
    uint64_t magic, layout; /* hash of the method and the sizes */
    uint64_t count;         /* points of the domain now */
    uint64_t draws;         /* so far; 0: there are no points yet */
    uint64_t age;           /* steps since the last draw */
    double damping;
    double loss; /* after the last step; INFINITY: there was none */
} state_head;

struct sgi_second {
    sg_allocator allocator;
    sg_pinn *pinn;
    const sgi_training_settings *training;
    sg_pinn_batch *batch;
    sgi_pinn_objective *objective;
    sgi_moving *moving;
    sgi_causal *causal;       /* NULL: every time counts alike */
    sgi_levenberg *levenberg; /* or */
    sgi_quasi *quasi;
    size_t most;           /* points of the domain */
    size_t most_residuals; /* with those of the conditions */
    /* state_head, the points (most, coordinates), causal factors, the method's own */
    unsigned char *state;
    size_t state_size;
    sgi_second_report report;
};

static state_head *head(const sgi_second *s)
{
    return (state_head *)(void *)s->state;
}

static double *points_of(const sgi_second *s)
{
    return (double *)(void *)(s->state + sizeof(state_head));
}

static double *factors_of(const sgi_second *s)
{
    return points_of(s) + s->most * s->pinn->information.coordinate_count;
}

/* What the method remembers beside the head. */
static double *method_state(const sgi_second *s)
{
    return factors_of(s) + sgi_causal_chunks(s->training);
}

/* ---- Making -----------------------------------------------------------------------------------
 */

static uint64_t layout_of(const sgi_second *s)
{
    uint64_t sizes[5] = {0};
    sizes[0] = (uint64_t)s->training->optimizer;
    sizes[1] = s->most;
    sizes[2] = s->pinn->information.coordinate_count;
    sizes[3] = sg_jet_network_parameters(s->pinn->network);
    sizes[4] = sgi_causal_chunks(s->training); /* not in checkpoints from before there were any */
    return sgi_hash(SG_HASH_START, sizes, (sizes[4] > 0 ? 5 : 4) * sizeof *sizes);
}

static bool has_jacobian(const sgi_second *s)
{
    return sgi_second_has_jacobian(sgi_training_second(s->training));
}

static sg_status create_batch(sgi_second *s, sg_pool *pool, sg_isa isa)
{
    size_t items[SG_MOST_SETS];
    for (size_t k = 0; k < s->pinn->information.set_count; k++)
        items[k] = k ? sgi_moving_items(s->pinn, k, s->most) : s->most;
    sg_pinn_batch_config config = {.stream = SG_POINTS_TRAINING,
                                   .items = items,
                                   .tangents = has_jacobian(s),
                                   .pool = pool,
                                   .isa = isa};
    sg_status status = sg_pinn_batch_create(&s->batch, s->pinn, &config, &s->allocator);
    if (status == SG_OK)
        sgi_pinn_fix(s->batch); /* matrices and arrays are made for so many residuals */
    return status;
}

static sg_status create_state(sgi_second *s)
{
    size_t coordinates = s->pinn->information.coordinate_count;
    double parameters = (double)sg_jet_network_parameters(s->pinn->network);
    double method = has_jacobian(s) ? (sgi_training_carried(s->training) > 0 ? parameters : 0)
                                    : sgi_quasi_state(sgi_training_second(s->training), parameters);
    s->state_size =
        sizeof(state_head) +
        (s->most * coordinates + sgi_causal_chunks(s->training) + (size_t)method) * sizeof(double);
    s->state = sgi_allocate(&s->allocator, 1, s->state_size);
    if (!s->state)
        return SG_ERROR_MEMORY;
    *head(s) = (state_head){.magic = state_magic,
                            .layout = layout_of(s),
                            .count = (uint64_t)s->training->points_start,
                            .damping = SGI_LEVENBERG_DAMPING,
                            .loss = INFINITY};
    if (head(s)->count > s->most)
        head(s)->count = s->most;
    return SG_OK;
}

static sgi_levenberg_config levenberg_config(const sgi_second *s, sg_pool *pool, sg_isa isa)
{
    const sgi_training_settings *t = s->training;
    return (sgi_levenberg_config){.most_residuals = s->most_residuals,
                                  .bend = true,
                                  .metric = sgi_training_metric(t),
                                  .solver = sgi_training_solver(t),
                                  .momentum = sgi_training_carried(t),
                                  .last = sgi_training_carried(t) > 0 ? method_state(s) : NULL,
                                  .pool = pool,
                                  .isa = isa};
}

static sg_status create_method(sgi_second *s, sg_pool *pool, sg_isa isa)
{
    sg_status status = sgi_pinn_objective_create(&s->objective, s->pinn, s->batch, has_jacobian(s),
                                                 pool, isa, &s->allocator);
    if (status != SG_OK)
        return status;
    const sgi_objective *objective = sgi_pinn_objective_of(s->objective);
    s->most_residuals = objective->count(objective->context);
    if (!has_jacobian(s))
        return sgi_quasi_create(&s->quasi, sgi_training_second(s->training), objective,
                                method_state(s), pool, &s->allocator);
    sgi_levenberg_config config = levenberg_config(s, pool, isa);
    return sgi_levenberg_create(&s->levenberg, objective, &config, &s->allocator);
}

sg_status sgi_second_create(sgi_second **out, sg_pinn *pinn, const sgi_training_settings *training,
                            sg_pool *pool, sg_isa isa, const sg_allocator *given)
{
    *out = NULL;
    if (sg_jet_network_type(pinn->network) != SG_FLOAT64)
        return SG_ERROR_UNSUPPORTED;
    sgi_second *s = SGI_NEW(sgi_second, given);
    if (!s)
        return SG_ERROR_MEMORY;
    s->pinn = pinn;
    s->training = training;
    s->most = (size_t)sgi_problem_most_points(pinn->problem, training);
    sg_status status = create_batch(s, pool, isa);
    if (status == SG_OK)
        status = create_state(s);
    if (status == SG_OK)
        status = sgi_moving_create(&s->moving, s->batch, s->most, points_of(s), pool, isa,
                                   &s->allocator);
    if (status == SG_OK)
        status = sgi_causal_create(&s->causal, s->batch, training, factors_of(s), &s->allocator);
    if (status == SG_OK && s->causal)
        sgi_causal_use(s->causal);
    if (status == SG_OK)
        status = create_method(s, pool, isa);
    if (status == SG_OK)
        *out = s;
    else
        sgi_second_destroy(s);
    return status;
}

void sgi_second_destroy(sgi_second *s)
{
    if (!s)
        return;
    sgi_levenberg_destroy(s->levenberg);
    sgi_quasi_destroy(s->quasi);
    sgi_pinn_objective_destroy(s->objective);
    sgi_moving_destroy(s->moving);
    sgi_causal_destroy(s->causal);
    sg_pinn_batch_destroy(s->batch);
    sgi_release(&s->allocator, s->state);
    sgi_release(&s->allocator, s);
}

/* ---- Steps ------------------------------------------------------------------------------------
 */

static void draw(sgi_second *s)
{
    state_head *h = head(s);
    sgi_moving_draw(s->moving, h->draws++, (size_t)h->count, s->causal);
    h->age = 0;
    if (s->quasi)
        sgi_quasi_changed(s->quasi);
}

/* Fresh points where it is time for them, and the loss before the step. */
static sg_status prepare(sgi_second *s, sg_pinn_loss *loss)
{
    state_head *h = head(s);
    uint64_t every = (uint64_t)s->training->points_every;
    bool redraw = h->draws == 0 || (every > 0 && h->age >= every);
    if (redraw)
        draw(s);
    sg_pinn_loss_at(s->batch, loss);
    if (redraw && loss->total > JUMP * h->loss && h->count < s->most) {
        size_t more = (size_t)h->count + (size_t)h->count / 2;
        h->count = more < s->most ? more : s->most;
        draw(s);
        sg_pinn_loss_at(s->batch, loss);
    }
    /* A quasi-Newton method learns from several steps on the same objective. */
    if (!s->causal || (s->quasi && !redraw))
        return SG_OK;
    sg_status status = sgi_causal_measure(s->causal);
    sg_pinn_loss_at(s->batch, loss);
    return status;
}

/* Whether a step lowered the loss, and whether there was a finite gradient to find one with. */
typedef struct outcome {
    bool taken, finite;
} outcome;

/* One step on the points as they are. */
static sg_status levenberg_step(sgi_second *s, outcome *result)
{
    sgi_levenberg_step step;
    sg_status status = sgi_levenberg_step_take(s->levenberg, &head(s)->damping, &step);
    s->report.damping = step.damping;
    s->report.gain = step.gain;
    s->report.tries = step.tries;
    s->report.after = step.after;
    *result = (outcome){step.taken, step.finite};
    return status;
}

static sg_status quasi_step(sgi_second *s, outcome *result)
{
    sgi_quasi_step step;
    sg_status status = sgi_quasi_step_take(s->quasi, &step);
    s->report.damping = NAN;
    s->report.length = step.length;
    s->report.tries = step.evaluations;
    s->report.after = step.after;
    *result = (outcome){step.length > 0, step.finite};
    return status;
}

sg_status sgi_second_step(sgi_second *s, sg_pinn_step *result)
{
    state_head *h = head(s);
    outcome step = {false, false};
    sg_status status = prepare(s, &result->loss);
    if (status != SG_OK)
        return status;
    s->report = (sgi_second_report){.method = sgi_training_optimizer(s->training),
                                    .points = (size_t)h->count,
                                    .damping = h->damping,
                                    .gain = NAN,
                                    .length = NAN,
                                    .after = result->loss.total,
                                    .draws = h->draws,
                                    .causal = sgi_causal_least(s->causal)};
    if (isfinite(result->loss.total))
        status = s->quasi ? quasi_step(s, &step) : levenberg_step(s, &step);
    result->info = (sg_step_info){.skipped = !step.finite, .rate = NAN, .clip_factor = 1};
    if (status != SG_OK)
        return status;
    if (step.finite)
        h->loss = s->report.after;
    h->age = step.taken ? h->age + 1 : UINT64_MAX / 2; /* other points may be better */
    return SG_OK;
}

/* ---- Looking, and the state -------------------------------------------------------------------
 */

const sgi_second_report *sgi_second_last(const sgi_second *s)
{
    return &s->report;
}

const void *sgi_second_state(const sgi_second *s, size_t *size)
{
    *size = s->state_size;
    return s->state;
}

/* Whether the causal factors of a saved block are some. */
static bool factors_fit(const sgi_second *s, const void *state)
{
    const char *at = (const char *)state + ((const unsigned char *)factors_of(s) - s->state);
    for (size_t k = 0; k < sgi_causal_chunks(s->training); k++) {
        double factor;
        memcpy(&factor, at + k * sizeof factor, sizeof factor);
        if (!(factor >= 0 && factor <= 1))
            return false;
    }
    return true;
}

bool sgi_second_fits(const sgi_second *s, const void *state, size_t size)
{
    state_head saved;
    if (size != s->state_size)
        return false;
    memcpy(&saved, state, sizeof saved);
    return saved.magic == state_magic && saved.layout == head(s)->layout && saved.count >= 1 &&
           saved.count <= s->most && isfinite(saved.damping) && saved.damping > 0 &&
           !isnan(saved.loss) && factors_fit(s, state);
}

void sgi_second_restore(sgi_second *s, const void *state)
{
    memcpy(s->state, state, s->state_size);
    if (head(s)->draws > 0)
        sgi_moving_use(s->moving, head(s)->draws - 1, (size_t)head(s)->count);
}

sg_pinn_batch *sgi_second_batch(const sgi_second *s)
{
    return s->batch;
}
