/* PINNs: a PDE written as text, a network for its solution, and all that training needs.
 *
 *     sg_pinn_open(&pinn, "heat.yaml", NULL, 0, NULL, &diagnostic);
 *     sg_pinn_train(pinn, &config, &result, NULL);
 *     sg_pinn_evaluate(pinn, (const char *[]){"u", "u_x"}, 2, points, count, values, NULL, NULL);
 *     sg_pinn_close(pinn);
 *
 * There are three handles. sg_pinn is a problem with its network; docs/problems.md says how a
 * problem is written. sg_pinn_batch has points for every part of the problem and computes the loss,
 * its gradient and the Jacobian of the residuals there, for a training loop of one's own.
 * sg_pinn_trainer takes the steps that the problem's settings ask for; sg_pinn_train is a loop over
 * it.
 *
 * The loss. A problem has point sets: first those of its equations, as a rule one, the domain, and
 * else one for each region that has equations of its own; then one for every condition; then one
 * for every data set. A set has N items, which are points, or pairs of points for a periodic
 * condition. Each item has residual components r, and each component belongs to a term of the loss,
 * of weight w:
 *
 *     L = sum over components of w / N * sum over items of r^2 = 1/2 |R|^2,  R = sqrt(2 w / N) r
 *
 * A condition on an integral has one residual, the integral's difference from its value, which
 * every one of its N items stands for. A sg_jacobian that is made from the batch's engine sees
 * single points instead; the functions here see the integral. An item of a data set is a row of
 * measurements, and its residuals are differences from them, divided by their standard deviations
 * in units of a common one (docs/problems.md); 0 where a value is missing. Its points cannot be
 * given: they are those of the values.
 *
 * R, the weighted residual vector, holds set after set, in a set item after item, and in an item
 * component after component. Its Jacobian J is taken with respect to the network's parameters in
 * the order of the network's flat array (jet.h). So the gradient of L is J^T R.
 *
 * Unknown constants. A constant that the problem leaves unknown is one more parameter, behind those
 * of the layers: what stands there is of order one and 0 at the start, and the constant follows
 * from it, strictly between its bounds. So gradients, Jacobians and optimizers include it without
 * further ado. sg_pinn_unknown_value tells its value.
 *
 * A handle is used by one thread at a time. NULL handles and indices past the end are
 * SG_ERROR_ARGUMENT; functions without a status do nothing then, and return 0 or NULL. Functions
 * with a diagnostic fill it, unless it is NULL, whenever they do not return SG_OK. All
 * results are bit-identical for any number of threads. */
#ifndef STABLEGRAD_PINN_H
#define STABLEGRAD_PINN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/cpu.h"
#include "stablegrad/diagnostic.h"
#include "stablegrad/jet.h"
#include "stablegrad/memory.h"
#include "stablegrad/optim.h"
#include "stablegrad/params.h"
#include "stablegrad/pool.h"
#include "stablegrad/scale.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- A problem and its network -------------------------------------------------------------- */

typedef struct sg_pinn sg_pinn;

/* Opens the problem in a file. Each override is "key.key=value", as "training.steps=2000", and is
 * applied before anything is checked. The network is made, and its weights are drawn from the
 * problem's seed. SG_ERROR_IO for a file that cannot be read, SG_ERROR_FORMAT for a mistake in it:
 * the diagnostic says where and what. */
SG_CHECKED sg_status sg_pinn_open(sg_pinn **pinn, const char *path, const char *const *overrides,
                                  size_t override_count, const sg_allocator *allocator,
                                  sg_diagnostic *diagnostic);

/* The same from `size` bytes of text, which are copied. `name` stands for the file in messages, and
 * for the problem's name where the text gives none. */
SG_CHECKED sg_status sg_pinn_read(sg_pinn **pinn, const char *name, const char *text, size_t size,
                                  const char *const *overrides, size_t override_count,
                                  const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* Batches and trainers of the problem must be destroyed before it. NULL is allowed. */
void sg_pinn_close(sg_pinn *pinn);

/* The whole problem as text with every option written out, overrides included: reading it gives the
 * same problem. Owned by the handle. */
SG_CHECKED sg_status sg_pinn_text(sg_pinn *pinn, const char **text);

typedef struct sg_pinn_coordinate {
    const char *name;
    double lower, upper;
} sg_pinn_coordinate;

typedef struct sg_pinn_set {
    const char *name;       /* "domain", or that of the region, the condition or the data set */
    size_t items;           /* per training step */
    size_t points_per_item; /* 1, or 2 for pairs */
    size_t components;      /* residuals of an item */
} sg_pinn_set;

typedef struct sg_pinn_term {
    const char *name; /* of the equation, the condition or the data set */
    double weight;
    size_t set; /* the point set at whose points the term is taken */
} sg_pinn_term;

/* A constant that training finds. */
typedef struct sg_pinn_unknown {
    const char *name;
    double start;
    double lower, upper; /* its bounds, which it never reaches; infinite where there is none */
    double scale;        /* how far it moves when its parameter moves by 1, at the start */
} sg_pinn_unknown;

typedef struct sg_pinn_information {
    const char *name, *title; /* the title may be empty */
    size_t coordinate_count, field_count, set_count, term_count;
    const sg_pinn_coordinate *coordinates;
    const char *const *fields; /* the network's outputs */
    const sg_pinn_set *sets;
    const sg_pinn_term *terms;
    bool has_exact; /* whether the problem gives its exact solution */
    uint64_t steps, seed;
    size_t unknown_count;
    const sg_pinn_unknown *unknowns;
} sg_pinn_information;

/* What the problem is; owned by the handle and constant. */
const sg_pinn_information *sg_pinn_describe(const sg_pinn *pinn);

/* The network, owned by the handle: its flat arrays of values and gradients may be read and written
 * between calls. */
sg_jet_network *sg_pinn_network(const sg_pinn *pinn);

/* The value of an unknown constant as it is now; NaN past the end. And setting it:
 * SG_ERROR_ARGUMENT for a value that does not lie strictly between its bounds. */
double sg_pinn_unknown_value(const sg_pinn *pinn, size_t index);
SG_CHECKED sg_status sg_pinn_set_unknown(sg_pinn *pinn, size_t index, double value);

/* How well the data determine an unknown constant, at the weights as they are. */
typedef struct sg_pinn_interval {
    double value, std;   /* std: of what noise like that of the data would make of the value */
    double lower, upper; /* 95 % of such intervals contain the truth */
    double degrees;  /* of freedom of Student's t, where the noise was estimated; else infinite */
    double move;     /* how far a Gauss-Newton step would still move the value */
    bool determined; /* false: the data do not determine it, alone or together with others; std
                        is infinite, and the interval that of its bounds */
} sg_pinn_interval;

/* Confidence intervals of all unknown constants: `intervals` (unknown_count), and their
 * correlations (unknown_count, unknown_count) unless that is NULL. The noise is that of the data's
 * standard deviations, or is estimated from the differences that are left. They hold for a fit that
 * was trained to its end. SG_ERROR_UNSUPPORTED, with a reason, without unknown constants or data,
 * or for more than 6000 parameters. */
SG_CHECKED sg_status sg_pinn_intervals(sg_pinn *pinn, sg_pinn_interval *intervals,
                                       double *correlations, sg_pool *pool,
                                       sg_diagnostic *diagnostic);

/* The network's parameters and gradients as spans, for scalers and optimizers of one's own. */
sg_params *sg_pinn_params(const sg_pinn *pinn);

/* The configurations of the scaler and the optimizer that the problem's settings describe. The
 * schedule is owned by the handle. */
sg_scale_config sg_pinn_scale_config(const sg_pinn *pinn);
sg_optim_config sg_pinn_optim_config(const sg_pinn *pinn);

/* Draws the weights anew from another seed, with the distribution that the problem gives. Unknown
 * constants are at their start again. */
SG_CHECKED sg_status sg_pinn_initialize(sg_pinn *pinn, uint64_t seed);

/* The weights as a safetensors file, layers.N.weight (out, in) and layers.N.bias (out); of each
 * unknown constant its value, unknowns.NAME (1) in double, and what is trained of it,
 * unknowns.NAME.parameter (1), which counts only as long as it means the same value. Loading
 * accepts float and double; every tensor must be there with its shape, others are ignored, and a
 * failed call changes nothing. SG_ERROR_UNSUPPORTED in a library that was built without jansson. */
SG_CHECKED sg_status sg_pinn_save(const sg_pinn *pinn, const char *path, sg_diagnostic *diagnostic);
SG_CHECKED sg_status sg_pinn_load(sg_pinn *pinn, const char *path, sg_diagnostic *diagnostic);

/* ---- Values at points ----------------------------------------------------------------------- */

/* Values of expressions such as "u", "u_xx" or "u_t + u*u_x", with the network for the fields, at
 * `point_count` points (point_count, coordinates), row by row: `values` (count, point_count), one
 * expression after the other. The call takes the memory that it needs, works through the points in
 * chunks, and gives the memory back.
 * SG_ERROR_FORMAT for an expression that cannot be understood. */
SG_CHECKED sg_status sg_pinn_evaluate(sg_pinn *pinn, const char *const *expressions, size_t count,
                                      const double *points, size_t point_count, double *values,
                                      sg_pool *pool, sg_diagnostic *diagnostic);

/* The exact solution at the points: `values` (fields, point_count). SG_ERROR_UNSUPPORTED if the
 * problem gives none. */
SG_CHECKED sg_status sg_pinn_exact(const sg_pinn *pinn, const double *points, size_t point_count,
                                   double *values, sg_pool *pool);

/* The error of a field on the problem's evaluation grid. */
typedef struct sg_pinn_error {
    const char *field; /* "all" for all of them together */
    double relative_l2, largest;
} sg_pinn_error;

/* Compares the network with the exact solution: `errors` (fields + 1), the last for all fields
 * together.
 * SG_ERROR_UNSUPPORTED if the problem gives none. */
SG_CHECKED sg_status sg_pinn_errors(sg_pinn *pinn, sg_pinn_error *errors, sg_pool *pool);

/* ---- Batches: the loss at points --------------------------------------------------------------
 */

/* Streams of random points; points of different streams are independent. */
typedef enum sg_pinn_stream {
    SG_POINTS_TRAINING,
    SG_POINTS_VALIDATION,
    SG_POINTS_CHECK,
    SG_POINTS_DIAGNOSIS,
    SG_POINTS_CANDIDATES /* for training, of which some are chosen by their residuals */
} sg_pinn_stream;

typedef struct sg_pinn_batch_config {
    sg_pinn_stream stream; /* where sampled points come from */
    const size_t *items;   /* (sets) each at least 1, copied; NULL: the problem's for that stream */
    bool tangents;         /* reserve the memory that sg_pinn_push needs */
    sg_pool *pool;         /* NULL: the calling thread; must outlive the batch */
    sg_isa isa;            /* SG_ERROR_UNSUPPORTED at creation if it cannot run here */
} sg_pinn_batch_config;

/* As many training points as the problem says, no tangents, no pool, the best instruction set. */
sg_pinn_batch_config sg_pinn_batch_defaults(void);

typedef struct sg_pinn_batch sg_pinn_batch;

/* Makes a batch, at the points of step 0. `config` NULL means the defaults. All memory is taken
 * here; only sg_pinn_give takes more. */
SG_CHECKED sg_status sg_pinn_batch_create(sg_pinn_batch **batch, sg_pinn *pinn,
                                          const sg_pinn_batch_config *config,
                                          const sg_allocator *allocator);
void sg_pinn_batch_destroy(sg_pinn_batch *batch); /* NULL is allowed */

/* Moves every sampled set to the points of step `step`, below 2^40: a pure function of the
 * problem's seed, the stream and the step. */
void sg_pinn_draw(sg_pinn_batch *batch, uint64_t step);

/* Gives set `set` the caller's own points: `count` items, at least 1, as `points` (count,
 * points_per_item, coordinates), row by row, which are copied. They stay until others are given;
 * NULL with count 0 returns to sampled points. On a condition with a normal derivative each point
 * must lie on one of the condition's faces. SG_ERROR_UNSUPPORTED for the batch of a trainer whose
 * optimizer is of second order, which chooses its points itself. */
SG_CHECKED sg_status sg_pinn_give(sg_pinn_batch *batch, size_t set, const double *points,
                                  size_t count, sg_diagnostic *diagnostic);

/* The number of items that set `set` has now. */
size_t sg_pinn_items(const sg_pinn_batch *batch, size_t set);

/* The points of these items: `points` (items, points_per_item, coordinates), rounded to the
 * network's type. */
void sg_pinn_points(const sg_pinn_batch *batch, size_t set, double *points);

/* One term of the loss. */
typedef struct sg_pinn_value {
    const char *name;
    double weight;
    double value; /* unweighted: the mean over the items of the squared residual */
} sg_pinn_value;

typedef struct sg_pinn_loss {
    double total;
    const sg_pinn_value *terms; /* (term_count), owned by the batch, rewritten by its next call */
    size_t term_count;
    sg_moments residual; /* of the weighted residual vector: for SG_REFERENCE_RESIDUAL */
    sg_moments output;   /* of dL/du over all outputs and points: for SG_REFERENCE_OUTPUT; only
                            sg_pinn_gradient computes it */
} sg_pinn_loss;

/* The loss at the weights as they are now. */
void sg_pinn_loss_at(sg_pinn_batch *batch, sg_pinn_loss *loss);

/* The loss and its gradient: `gradient` (parameters), of the network's type, is overwritten. NULL:
 * the network's own gradients, which sg_pinn_params shows. */
void sg_pinn_gradient(sg_pinn_batch *batch, void *gradient, sg_pinn_loss *loss);

/* The same with the gradient of each set's loss, for optimizers that keep them apart: `gradients`
 * (set_count) of arrays (parameters) of the network's type. The network's own gradients receive
 * their sum. It takes no longer than the gradient of all. */
void sg_pinn_gradients(sg_pinn_batch *batch, void *const *gradients, sg_pinn_loss *loss);

/* The length of the weighted residual vector: items times components, of all sets together. */
size_t sg_pinn_residual_count(const sg_pinn_batch *batch);

/* The weighted residual vector. */
void sg_pinn_residuals(sg_pinn_batch *batch, double *residuals);

/* Rows of its Jacobian for items [first, first + count) of one set: `rows` (count * components,
 * parameters), of the network's type. SG_ERROR_ARGUMENT for a range that is not there. */
SG_CHECKED sg_status sg_pinn_rows(sg_pinn_batch *batch, size_t set, size_t first, size_t count,
                                  void *rows);

/* J v: `direction` (parameters) of the network's type, `products` (residual_count). SG_ERROR_ORDER
 * if the batch was made without `tangents`. */
SG_CHECKED sg_status sg_pinn_push(sg_pinn_batch *batch, const void *direction, double *products);

/* J^T w: `weights` (residual_count); `gradient` (parameters) of the network's type is overwritten.
 */
SG_CHECKED sg_status sg_pinn_pull(sg_pinn_batch *batch, const double *weights, void *gradient);

/* The jet engine of the batch, for the functions of jet.h. A sg_jacobian that is made from it, for
 * blocks of vectors, normal equations and kernels, has its rows in the order of the residual
 * vector. */
sg_jet *sg_pinn_engine(const sg_pinn_batch *batch);

/* ---- Training -------------------------------------------------------------------------------- */

typedef struct sg_pinn_trainer sg_pinn_trainer;

/* Makes the scaler, the optimizer and the schedule that the problem's settings describe, over its
 * network with the weights as they are now. All memory is taken here. */
SG_CHECKED sg_status sg_pinn_trainer_create(sg_pinn_trainer **trainer, sg_pinn *pinn, sg_pool *pool,
                                            sg_isa isa, const sg_allocator *allocator);
void sg_pinn_trainer_destroy(sg_pinn_trainer *trainer); /* NULL is allowed */

/* What a step did. */
typedef struct sg_pinn_step {
    uint64_t step;     /* steps taken, this one included */
    sg_pinn_loss loss; /* before the step */
    sg_step_info info; /* info.skipped: a gradient was not finite, and nothing was changed */
    const sg_scale_report *scale;
} sg_pinn_step;

/* Draws or chooses points as the problem says, computes loss and gradient there, scales and steps.
 * With windows, a step that fails because the next one cannot be entered changes no weights and may
 * be tried again; until one succeeds the trainer may have no scaler, optimizer and batch. */
SG_CHECKED sg_status sg_pinn_trainer_step(sg_pinn_trainer *trainer, sg_pinn_step *step);

/* The loss on the validation points, the same points at every call. */
void sg_pinn_trainer_validate(sg_pinn_trainer *trainer, sg_pinn_loss *loss);

/* Owned by the trainer. */
sg_scaler *sg_pinn_trainer_scaler(const sg_pinn_trainer *trainer);
sg_optim *sg_pinn_trainer_optim(const sg_pinn_trainer *trainer);
sg_pinn_batch *sg_pinn_trainer_batch(const sg_pinn_trainer *trainer);

/* Called after every step; false ends the training. */
typedef bool sg_pinn_step_function(void *context, const sg_pinn_step *step);

typedef struct sg_pinn_train_config {
    sg_pinn_step_function *step; /* may be NULL */
    void *context;               /* handed to it */
    sg_pool *pool;               /* NULL: the calling thread */
    sg_isa isa;
} sg_pinn_train_config;

/* Steps that may be skipped in a row before training gives up. */
enum { SG_PINN_MOST_SKIPPED = 20 };

typedef enum sg_pinn_end {
    SG_PINN_COMPLETE, /* all steps of the problem were taken */
    SG_PINN_STOPPED,  /* the callback ended the training before the last step */
    SG_PINN_FAILED /* SG_PINN_MOST_SKIPPED steps in a row, or all steps that there were to be, had
                      a gradient that is not finite */
} sg_pinn_end;

typedef struct sg_pinn_result {
    sg_pinn_end end;
    uint64_t steps, skipped;
    double loss; /* of the last step's points, before that step */
} sg_pinn_result;

/* Trains the network from the weights that it has, as long and in the way that the problem's
 * settings say: the same steps, to the bit, as the program `stablegrad train` takes from freshly
 * drawn weights. `config` and `result` may be NULL. SG_ERROR_UNSUPPORTED for a problem with
 * `training.stablegrad.until: margin`, whose measurements are the program's. */
SG_CHECKED sg_status sg_pinn_train(sg_pinn *pinn, const sg_pinn_train_config *config,
                                   sg_pinn_result *result, const sg_allocator *allocator);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
