/* A problem's point sets as the engine's callbacks: points, residuals, losses and adjoints.
 *
 *     sgi_residual_create(&residual, problem, &options, NULL);
 *     sg_jet_config config = sg_jet_defaults();
 *     config.sets = sgi_residual_sets(residual);  config.set_count = problem->set_count;
 *     each step:  sgi_residual_begin(residual, seed, step);
 *                 sg_jet_gradient(engine, NULL);
 *                 sgi_residual_collect(residual, engine, &loss);
 *
 * With weights w and N items the loss is sum w / N sum r^2, and the weighted residual vector, whose
 * half squared norm it is, has the components sqrt(2 w / N) r. A Jacobian call of the engine gets
 * the derivatives of those.
 *
 * The residual of a condition on an integral is one number, the weighted mean I of what its points
 * give, and its loss is w I^2. A gradient needs I before the first tile, so it comes from a forward
 * call of its own (sgi_residual_total). In the residual vector it stands N times, as sqrt(2 w / N)
 * I, which has the same loss, gradient and kernel; sgi_residual_average makes that of what the
 * engine gives for single points. */
#ifndef SG_PINN_RESIDUAL_H
#define SG_PINN_RESIDUAL_H

#include "pinn/given.h"
#include "problem/cloud.h"

typedef struct sgi_residual_options {
    sg_type type;                  /* the network's */
    int workers;                   /* threads that may call back: sg_pool_threads */
    sg_isa isa;                    /* SG_ISA_AUTO, or one to force */
    sg_pinn_stream stream;         /* of sampled points */
    const sg_jet_network *earlier; /* of the window before, for the start of a later one */
    const int64_t *items; /* (set_count), or NULL: the problem's items, or for validation points
                             evaluation.points and evaluation.condition_points */
} sgi_residual_options;

typedef struct sgi_residual sgi_residual;

/* `problem` must outlive it. All memory is taken here. */
SG_CHECKED sg_status sgi_residual_create(sgi_residual **residual, const sgi_problem *problem,
                                         const sgi_residual_options *options,
                                         const sg_allocator *allocator);
void sgi_residual_destroy(sgi_residual *residual); /* NULL is allowed */

/* The sets for sg_jet_config, with plans that the residual owns. An engine keeps a copy. */
const sg_jet_set *sgi_residual_sets(const sgi_residual *residual);

/* Items of set `set`. */
int64_t sgi_residual_items(const sgi_residual *residual, int set);

/* Chooses the sampled points of the next call. */
void sgi_residual_begin(sgi_residual *residual, uint64_t seed, uint64_t step);

/* Gives a set other points, which are copied; NULL: sampled ones again. The engine must be resized
 * to sgi_residual_items afterwards. On failure nothing has changed. */
SG_CHECKED sg_status sgi_residual_give(sgi_residual *residual, int set, const double *points,
                                       size_t count, sg_diagnostic *diagnostic);

/* ---- Points that are kept, see refinement.h; given ones come before them ----------------------
 */

/* Memory for that many items. */
SG_CHECKED sg_status sgi_residual_reserve(sgi_residual *residual, int set, size_t room);

/* Copies item `item` that `from`, which may be the same, has now to place `place` of those kept. */
void sgi_residual_keep(sgi_residual *residual, int set, size_t place, const sgi_residual *from,
                       size_t item);

/* Whether a set has given points now. */
bool sgi_residual_is_given(const sgi_residual *residual);

/* The first `count` kept items become the set's; 0: drawn ones again. The engine must be resized.
 */
void sgi_residual_keep_count(sgi_residual *residual, int set, size_t count);

/* What is kept, in the residual's memory, which may be written. */
sgi_given sgi_residual_kept(const sgi_residual *residual, int set);

/* The same for a set without normals, with points that are not copied and must stay; takes no
 * memory. */
void sgi_residual_lend(sgi_residual *residual, int set, const double *points, size_t count);

/* Another number of sampled points, no larger than at creation, from the next draw on. */
void sgi_residual_resize(sgi_residual *residual, int set, int64_t items);

/* The points of a set as they are now: (items, points_per_item, coordinates). */
void sgi_residual_points(const sgi_residual *residual, int set, double *points);

/* Where the next forward calls write the weighted residual vector, set after set; NULL: nowhere. */
void sgi_residual_store(sgi_residual *residual, double *residuals);

/* Factors of the residuals of a set by their time: `count` parts of [begin, end], each with its
 * own. */
typedef struct sgi_time_factors {
    int time; /* the coordinate */
    double begin, end;
    size_t count;
    const double *values; /* (count) */
} sgi_time_factors;

/* The part that a time lies in. */
static inline size_t sgi_time_chunk(const sgi_time_factors *factors, double t)
{
    double place = (t - factors->begin) / (factors->end - factors->begin) * (double)factors->count;
    size_t k = place > 0 ? (size_t)place : 0;
    return k < factors->count ? k : factors->count - 1;
}

/* Multiplies the residuals of a set by them from the next call on; NULL: by nothing. They are the
 * caller's, must stay, and may change between calls. */
void sgi_residual_weigh_time(sgi_residual *residual, int set, const sgi_time_factors *factors);

typedef struct sgi_loss {
    double total;        /* sum of weight * mean square */
    double *means;       /* (terms): unweighted mean squares; the caller's array, may be NULL */
    sg_moments residual; /* of the weighted residual vector, for SG_REFERENCE_RESIDUAL */
} sgi_loss;

/* The number of terms of all sets; term k of set s comes after the terms of earlier sets. */
size_t sgi_residual_terms(const sgi_residual *residual);

/* Whether the set is a condition on an integral. */
bool sgi_residual_is_integral(const sgi_residual *residual, int set);

/* Its integrals, from the sums of a forward call at the same points and weights. To be called
 * before sg_jet_gradient. */
void sgi_residual_total(sgi_residual *residual, int set, const double *sums);

/* `vector` (items, components) of an integral's points becomes that of the integral; or with
 * `adjoint` back, as the transposed matrix does. Rows of a kernel have `stride` between their
 * entries. */
void sgi_residual_average(const sgi_residual *residual, int set, double *vector, size_t stride,
                          bool adjoint);

/* After sg_jet_gradient or sg_jet_forward of an engine made with these sets. */
void sgi_residual_collect(const sgi_residual *residual, const sg_jet *engine, sgi_loss *loss);

/* The same from the sums themselves, one array for each set: for each component the sum of squares
 * and the sum. */
void sgi_residual_combine(const sgi_residual *residual, const double *const *sums, sgi_loss *loss);

#endif
