/* The jet engine computes an MLP's values and its derivatives by the inputs at many points, and
 * from their adjoints (the derivatives of the loss by each of them) the gradient of the weights.
 *
 * A network maps coordinates x to outputs u(x). A plan says which derivatives of u are wanted. An
 * engine holds one network and several point sets, each with a plan and two callbacks: `points`
 * makes the coordinates of a few dozen items, `residual` reads the derivatives there and writes the
 * adjoint dL/d(derivative). The engine runs forward, callback and reverse for one tile of points at
 * a time, so memory does not grow with the number of points, and nothing is allocated in a step.
 *
 *     sg_jet_network_create(&network, &network_config, NULL);
 *     sg_jet_network_initialize(network, &init);
 *     sg_jet_network_register(network, params);          -> sg_scaler, sg_optim work on it
 *     sg_jet_plan_create(&plan, 2, requests, 3, NULL);
 *     sg_jet_create(&engine, &engine_config, NULL);
 *     each step:  sg_jet_gradient(engine, NULL);
 *                 sg_jet_moments(engine), sg_jet_sums(engine, set)
 *
 * All results are bit-identical for any number of threads. */
#ifndef STABLEGRAD_JET_H
#define STABLEGRAD_JET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/activation.h"
#include "stablegrad/cpu.h"
#include "stablegrad/list.h"
#include "stablegrad/memory.h"
#include "stablegrad/params.h"
#include "stablegrad/pool.h"
#include "stablegrad/scale.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- Network ------------------------------------------------------------------------------ */

/* What the first layer sees. Features, in this order: each kept coordinate, rescaled; then
 * sin(w.x) of every wave; then cos(w.x) of every wave, with x the coordinates as given. Fourier
 * features and periodic embeddings are rows of `waves`; the helpers below write them. */
typedef struct sg_jet_input {
    int coordinates;     /* at least 1 */
    const double *scale; /* (coordinates), or NULL for ones: feature i is scale_i x_i + shift_i */
    const double *shift; /* (coordinates), or NULL for zeros */
    const bool *keep;    /* (coordinates), or NULL: every coordinate is kept */
    const double *waves; /* (wave_count, coordinates), radians per unit of the coordinate */
    size_t wave_count;
    const double *unit; /* (coordinates), or NULL for ones: all derivatives are by x_i / unit_i, so
                           that those by tiny or huge coordinates stay within the type's range */
} sg_jet_input;

/* Writes `count` rows of `waves` (count, coordinates): factor * frequencies[k] along one
 * coordinate. */
void sg_jet_waves_fourier(double *waves, int coordinates, int coordinate, double factor,
                          const double *frequencies, size_t count);
/* 2 pi k / period along one coordinate, k = 1 .. count: the features have that period. */
void sg_jet_waves_periodic(double *waves, int coordinates, int coordinate, double period,
                           size_t count);
/* Independent normal entries of deviation `std`, a pure function of the seed. */
void sg_jet_waves_random(double *waves, int coordinates, size_t count, double std, uint64_t seed);

typedef struct sg_jet_network_config {
    sg_jet_input input;
    const int *hidden; /* (hidden_count) widths, each at least 1 */
    int hidden_count;  /* 0 is allowed: a linear map of the features */
    int outputs;
    sg_activation activation;
    double frequency;           /* of SG_ACTIVATION_SIN */
    sg_type type;               /* of parameters, points, channels and adjoints */
    const char *const *scalars; /* (scalar_count) names of numbers that are trained beside the
                                   layers and that only the residual callbacks read */
    size_t scalar_count;
} sg_jet_network_config;

/* One coordinate, 4 x 64 tanh, one output, float. */
sg_jet_network_config sg_jet_network_defaults(void);

typedef struct sg_jet_network sg_jet_network;

/* Copies what the configuration points to. The network owns one flat array of parameters and one of
 * gradients, both zero at first: for each layer the weight (out, in) row by row, then the bias;
 * after the last layer the scalars. */
SG_CHECKED sg_status sg_jet_network_create(sg_jet_network **network,
                                           const sg_jet_network_config *config,
                                           const sg_allocator *allocator);
/* NULL is allowed. Engines made with the network must be destroyed before it. */
void sg_jet_network_destroy(sg_jet_network *network);

size_t sg_jet_network_parameters(const sg_jet_network *network); /* elements in all */
size_t sg_jet_network_scalars(const sg_jet_network *network);    /* the last of them */
const char *sg_jet_network_scalar(const sg_jet_network *network, size_t index); /* its name */
int sg_jet_network_layers(const sg_jet_network *network);   /* hidden_count + 1 */
int sg_jet_network_features(const sg_jet_network *network); /* inputs of the first layer */
int sg_jet_network_coordinates(const sg_jet_network *network);
int sg_jet_network_outputs(const sg_jet_network *network);
sg_type sg_jet_network_type(const sg_jet_network *network);
void *sg_jet_network_values(const sg_jet_network *network);    /* (parameters), network's type */
void *sg_jet_network_gradients(const sg_jet_network *network); /* (parameters), network's type */

/* Shape and place of layer `layer`: weight (outputs, inputs) at element `weight` of the flat array,
 * bias (outputs) at `bias`. */
typedef struct sg_jet_layer {
    int inputs, outputs;
    size_t weight, bias;
} sg_jet_layer;
sg_jet_layer sg_jet_network_layer(const sg_jet_network *network, int layer);

/* Adds the spans layers.0.weight, layers.0.bias, layers.1.weight, ... to `params`, with values and
 * gradients of the network, and a span of one element for each scalar, under its own name. */
SG_CHECKED sg_status sg_jet_network_register(sg_jet_network *network, sg_params *params);

/* ---- Initialisation ----------------------------------------------------------------------- */

/* The fan that the weights' variance divides by. */
#define SG_FAN_LIST(X)                                                                             \
    X(SG_FAN_IN, "in")                                                                             \
    X(SG_FAN_OUT, "out")                                                                           \
    X(SG_FAN_AVERAGE, "average")

typedef enum sg_fan { SG_FAN_LIST(SG_LIST_ENUM) } sg_fan;
#define SG_FAN_COUNT (0 SG_FAN_LIST(SG_LIST_COUNT))
const char *sg_fan_name(sg_fan fan);

/* What weights are drawn from. */
#define SG_DISTRIBUTION_LIST(X)                                                                    \
    X(SG_DISTRIBUTION_NORMAL, "normal")                                                            \
    /* of the same deviation */                                                                    \
    X(SG_DISTRIBUTION_UNIFORM, "uniform")                                                          \
    /* first layer U(-1/n, 1/n), others U(+-sqrt(6/n)/frequency) */                                \
    X(SG_DISTRIBUTION_SIREN, "siren")

typedef enum sg_distribution { SG_DISTRIBUTION_LIST(SG_LIST_ENUM) } sg_distribution;
#define SG_DISTRIBUTION_COUNT (0 SG_DISTRIBUTION_LIST(SG_LIST_COUNT))
const char *sg_distribution_name(sg_distribution distribution);

typedef struct sg_jet_init {
    sg_fan fan;
    sg_distribution distribution;
    /* Weights have the standard deviation gain / sqrt(fan). 0 means the activation's own gain in
     * hidden layers, 1/sqrt(E f(z)^2) for standard normal z (1.593 for tanh), and 1 in the last. */
    double gain;
    uint64_t seed;
} sg_jet_init;

/* Fan-in, normal, gain 1, seed 0. */
sg_jet_init sg_jet_init_defaults(void);

/* Draws the weights, a pure function of the seed and of each element's place; biases and scalars
 * are zero. Float and double networks get the same numbers up to rounding. */
SG_CHECKED sg_status sg_jet_network_initialize(sg_jet_network *network, const sg_jet_init *init);

/* ---- Plans -------------------------------------------------------------------------------- */

/* A part of a combination: coefficient times a derivative. */
typedef struct sg_jet_term {
    double coefficient;           /* finite and not 0 */
    int order;                    /* 0 (the value) to SG_JET_MOST_ORDER */
    int along[SG_JET_MOST_ORDER]; /* the coordinate of each differentiation: u_xxt is {0, 0, 1} */
    int varying; /* 0, or k: the term is also multiplied by the k-th number that the set's `varying`
                    callback gives for each point; no term of the request may then have order 0 */
} sg_jet_term;

/* One wanted quantity: a derivative, or a combination of derivatives. */
typedef struct sg_jet_request {
    int order, along[SG_JET_MOST_ORDER]; /* as in sg_jet_term */
    const sg_jet_term *terms; /* NULL, or (term_count): their sum; `order`, `along` unused */
    size_t term_count;
} sg_jet_request;

typedef struct sg_jet_plan sg_jet_plan;

/* The smallest set of channels that the requests, which are copied, follow from. A combination of
 * derivatives takes one channel, beside those of the proper parts of its derivatives: u_t - 2 u_xx
 * needs u, u_x and itself. Combinations that depend on each other share channels; with varying
 * coefficients they do when one is a multiple of the other. SG_ERROR_ARGUMENT for an order above 4
 * or a coordinate out of range, SG_ERROR_UNSUPPORTED for more than SG_JET_MOST_CHANNELS.
 * Plans are read only: any number of engines may use one; it must outlive them. */
SG_CHECKED sg_status sg_jet_plan_create(sg_jet_plan **plan, int coordinates,
                                        const sg_jet_request *requests, size_t count,
                                        const sg_allocator *allocator);
void sg_jet_plan_destroy(sg_jet_plan *plan); /* NULL is allowed */

size_t sg_jet_plan_requests(const sg_jet_plan *plan);
size_t sg_jet_plan_channels(const sg_jet_plan *plan);
size_t sg_jet_plan_varying(const sg_jet_plan *plan); /* numbers that each point has to bring */

/* Writes the channels as text, "u u_x u_t-0.1*u_xx" or "u u_x u_y lap(u)", as snprintf does:
 * returns the length of the whole text. `names` (coordinates); NULL means x0, x1, ...; the k-th
 * varying coefficient is written [k]. */
size_t sg_jet_plan_describe(const sg_jet_plan *plan, const char *field, const char *const *names,
                            char *text, size_t size);

/* Floating-point operations of the layer products for one point, forward only or with the reverse
 * pass. The activations are not counted. */
double sg_jet_plan_flops(const sg_jet_plan *plan, const sg_jet_network *network, bool reverse);

/* ---- Point sets and callbacks --------------------------------------------------------------- */

/* No tile has more points than this. */
enum { SG_JET_TILE_POINTS = 96 };

/* Fills the coordinates of items [first, first + count) of the set. coordinates[p * C + c] is an
 * array of `count` elements of the network's type: coordinate c (of C) of the item's point p, p = 0
 * unless items are pairs. Called from worker threads; `worker` in [0, threads). Must be a pure
 * function of the item's index if results are not to depend on threads. */
typedef void sg_jet_points_function(void *context, size_t set, size_t first, size_t count,
                                    int worker, void *const *coordinates);

/* Fills the varying coefficients of the plan's combinations at the same items, after `points`:
 * varying[p * K + k - 1] is an array of `count` elements, the k-th (of K) at the item's point p. */
typedef void sg_jet_varying_function(void *context, size_t set, size_t first, size_t count,
                                     int worker, void *const *coordinates, void *const *varying);

/* What the residual callback sees of one tile. All arrays have `count` elements of the network's
 * type, are aligned to 64 bytes and may be read and written up to a multiple of 64 bytes.
 * R requests, O outputs, C coordinates, p the point of the item. */
typedef struct sg_jet_tile {
    size_t set, first, count; /* items [first, first + count) of the set */
    int worker;
    int component;                /* -1: the loss; >= 0: residual component of a Jacobian call */
    void *const *coordinates;     /* [p * C + c], as `points` left them */
    const void *const *values;    /* [(p * R + r) * O + o] */
    void *const *adjoints;        /* like `values`, zeros on entry: write dL/dvalue, or d(residual
                                     `component`)/dvalue; NULL when only values are wanted */
    const void *scalars;          /* the network's scalars; NULL: it has none */
    void *const *scalar_adjoints; /* (scalars) arrays over the items, zeros on entry: write the
                                     share of each item in dL/dscalar, or d(residual
                                     `component`)/dscalar; NULL when only values are wanted */
    double *sums;                 /* the set's sums: add to them (not in Jacobian calls: NULL) */
    void *residuals;              /* NULL, or an array for the values of residual `component` */
} sg_jet_tile;

typedef void sg_jet_residual_function(void *context, const sg_jet_tile *tile);

typedef struct sg_jet_set {
    const sg_jet_plan *plan;
    size_t items;
    int points_per_item; /* 1, or 2: pairs whose residual couples u at two points */
    int components;      /* residual components of an item, for the Jacobian calls; else 0 */
    size_t sums;         /* doubles that `residual` adds into, zero at the start of each call */
    sg_jet_points_function *points;
    sg_jet_varying_function *varying; /* NULL unless the plan has varying coefficients */
    sg_jet_residual_function *residual;
    void *context;        /* handed to all three */
    void *value_adjoints; /* NULL, or where sg_jet_gradient leaves dL/du: (points_per_item, outputs,
                             items) of the network's type */
} sg_jet_set;

/* ---- Engine ------------------------------------------------------------------------------- */

typedef struct sg_jet_config {
    sg_jet_network *network;
    const sg_jet_set *sets; /* (set_count), copied */
    size_t set_count;
    sg_pool *pool; /* NULL: the calling thread; must outlive the engine */
    sg_isa isa;    /* SG_ERROR_UNSUPPORTED at creation if it cannot run here */
    bool plain;    /* the plain scalar loops, whatever `isa` says */
    bool general;  /* table-driven activation loops even where a specialised one exists */
    bool tangents; /* reserve the memory that sg_jet_push needs */
} sg_jet_config;

sg_jet_config sg_jet_defaults(void);

typedef struct sg_jet sg_jet;

/* All memory of the engine is taken here. */
SG_CHECKED sg_status sg_jet_create(sg_jet **jet, const sg_jet_config *config,
                                   const sg_allocator *allocator);
void sg_jet_destroy(sg_jet *jet); /* NULL is allowed */

/* Changes the number of items of a set and where its dL/du goes, between two calls. */
SG_CHECKED sg_status sg_jet_resize(sg_jet *jet, size_t set, size_t items, void *value_adjoints);

/* Forward only: `residual` is called for every tile with adjoints NULL. */
void sg_jet_forward(sg_jet *jet);

/* Loss and gradient of all sets: `gradient` (parameters), of the network's type, is overwritten.
 * NULL: the network's own gradients. */
void sg_jet_gradient(sg_jet *jet, void *gradient);

/* The same with a gradient for each set, in no more work: `gradients` (set_count) of arrays
 * (parameters). The gradient of all sets is their sum. */
void sg_jet_gradients(sg_jet *jet, void *const *gradients);

/* After sg_jet_gradient: the moments of dL/du over every output of every point of every set; a set
 * that did not ask for u counts as zeros. Its std is sigma_out. */
sg_moments sg_jet_moments(const sg_jet *jet);

/* After sg_jet_forward or sg_jet_gradient: the set's sums, combined in a fixed order. Valid until
 * the next call. NULL for a set without sums. */
const double *sg_jet_sums(const sg_jet *jet, size_t set);

/* Rows of the Jacobian of the residuals with respect to the parameters: `rows` (count * components,
 * parameters), of the network's type, row i * components + j for component j of item first + i. */
SG_CHECKED sg_status sg_jet_rows(sg_jet *jet, size_t set, size_t first, size_t count, void *rows);

/* J v: `direction` (parameters) of the network's type, `products` (items, components) of the set.
 * SG_ERROR_ORDER if the engine was made without `tangents`. */
SG_CHECKED sg_status sg_jet_push(sg_jet *jet, size_t set, const void *direction, double *products);

/* J^T w: `weights` (items, components) of the set; `gradient` (parameters) of the network's type is
 * overwritten. */
SG_CHECKED sg_status sg_jet_pull(sg_jet *jet, size_t set, const double *weights, void *gradient);

/* ---- The Jacobian as a whole ---------------------------------------------------------------- */

/* J is the Jacobian of all residuals of an engine with respect to the parameters: the sets with
 * `components`, one after the other, row item * components + component within each. It is never
 * stored: a panel of rows at a time is made and used up, within memory taken once. All sums over
 * panels are in double. Vectors of a block lie one after the other, each contiguous, in double
 * whatever the network's type. Results do not depend on the number of threads. */
typedef struct sg_jacobian sg_jacobian;

/* How the kernel J P J^T is made: from rows, or layer by layer from products of the layer's inputs
 * and adjoints, (inputs_i . inputs_j) * (adjoints_i . adjoints_j) over all pairs of channels. */
typedef enum sg_jacobian_method {
    SG_JACOBIAN_CHEAPEST, /* for each layer the one with fewer operations */
    SG_JACOBIAN_ROWS,
    SG_JACOBIAN_GRAM
} sg_jacobian_method;

typedef struct sg_jacobian_config {
    sg_jet *jet;   /* must outlive the handle; its calls and the handle's must not overlap */
    size_t memory; /* bytes for panels, at most, if a few rows fit; 0: 256 MiB */
    sg_jacobian_method method;
} sg_jacobian_config;

/* Takes all memory that the calls need. SG_ERROR_ARGUMENT when no set has components. */
SG_CHECKED sg_status sg_jacobian_create(sg_jacobian **jacobian, const sg_jacobian_config *config,
                                        const sg_allocator *allocator);
void sg_jacobian_destroy(sg_jacobian *jacobian); /* NULL is allowed */

size_t sg_jacobian_residuals(const sg_jacobian *jacobian); /* rows of J, for the sets as they are */
size_t sg_jacobian_memory(const sg_jacobian *jacobian);    /* bytes held, all panels included */

/* J V: `vectors` (count, parameters), `products` (count, residuals). */
SG_CHECKED sg_status sg_jacobian_push(sg_jacobian *jacobian, size_t count, const double *vectors,
                                      double *products);
/* J^T W: `weights` (count, residuals), `products` (count, parameters). */
SG_CHECKED sg_status sg_jacobian_pull(sg_jacobian *jacobian, size_t count, const double *weights,
                                      double *products);
/* J^T J V: both (count, parameters). */
SG_CHECKED sg_status sg_jacobian_normal_product(sg_jacobian *jacobian, size_t count,
                                                const double *vectors, double *products);

/* The normal equations, each part where it is not NULL. `right` and `residuals` need a residual
 * callback that writes tile->residuals; they are NaN where it does not. */
typedef struct sg_normal_equations {
    double *matrix;    /* (parameters, parameters): J^T J */
    double *right;     /* (parameters): J^T r */
    double *squares;   /* (parameters): the diagonal of J^T J, the squared norms of the columns */
    double *residuals; /* (residuals): r */
} sg_normal_equations;
SG_CHECKED sg_status sg_jacobian_normal(sg_jacobian *jacobian, const sg_normal_equations *parts);

/* K = J P J^T, (residuals, residuals), exactly symmetric. P is diagonal with one number for each
 * tensor: `weights` (layers, 2), of the layer's weight and of its bias, then one for each scalar;
 * NULL: ones. */
SG_CHECKED sg_status sg_jacobian_kernel(sg_jacobian *jacobian, const double *weights,
                                        double *kernel);

/* The same with a number for each parameter: J D^2 J^T, D the diagonal matrix of `columns`
 * (parameters), made from rows. */
SG_CHECKED sg_status sg_jacobian_column_kernel(sg_jacobian *jacobian, const double *columns,
                                               double *kernel);

/* What a call of sg_jacobian_kernel costs, for the sets as they are now. */
typedef struct sg_jacobian_cost {
    double operations; /* floating-point, of the products of pairs and of making the panels */
    int gram_layers;   /* layers that use products of inputs and adjoints; the others use rows */
    size_t panels;     /* with n panels, an item passes through the network (n + 1) / 2 times */
} sg_jacobian_cost;
sg_jacobian_cost sg_jacobian_kernel_cost(sg_jacobian *jacobian);

/* Bytes that the engine holds. */
size_t sg_jet_memory(const sg_jet *jet);

/* The instruction set in use: "plain", "generic", "avx2", "avx512". */
const char *sg_jet_kernels(const sg_jet *jet);

/* Values of a plan's requests at given points, in one call that allocates and frees what it needs:
 * `points` (count, coordinates) and `values` (count, requests, outputs), both row by row; `varying`
 * (count, K) the plan's varying coefficients there, NULL when it has none. */
SG_CHECKED sg_status sg_jet_evaluate(sg_jet_network *network, const sg_jet_plan *plan,
                                     sg_pool *pool, const double *points, const double *varying,
                                     size_t count, double *values, const sg_allocator *allocator);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
