/* The inner loops of the jet engine: one table of functions for each instruction set and type.
 *
 * Glossary. A tile holds `points` points and `channels` channels (the value and derivatives of
 * every feature). A row is one channel of one point, its features contiguous; the rows of channel c
 * are c * points ... c * points + points - 1, so the value rows come first. `stride` is the
 * distance between rows in elements: the features rounded up to whole vectors.
 *
 * Everything that knows how rows and weights lie in memory is in these functions: the engine above
 * only moves pointers. Weights are packed once per step, into a form that belongs to the table, and
 * the gradient of a layer accumulates in a form of the table too. A set of loops that keeps its
 * rows in another form (split into bf16 parts for a matrix unit, say) replaces the whole table.
 *
 * The plain table (plain_body.h) is the definition: scalar, obvious, slow. The others are checked
 * against it. */
#ifndef SG_KERNEL_KERNELS_H
#define SG_KERNEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/activation.h"
#include "stablegrad/cpu.h"
#include "stablegrad/params.h"

enum {
    SG_CHAIN_FACTORS = SG_JET_MOST_ORDER,
    SG_CHAIN_FIRSTS = 4, /* most first derivatives of a specialised loop */
};

/* One term of the chain rule: channel += coefficient * f^(order)(z) * z_factor[0] * ... , with
 * `order` factors; and times the point's own number, when `varying` says which. */
typedef struct sgi_chain_term {
    int channel;
    int order;
    int factor[SG_CHAIN_FACTORS];
    int varying; /* 0, or k: line k - 1 of sgi_activate.varying */
    double coefficient;
} sgi_chain_term;

/* Channels with derivatives of third or fourth order along one coordinate x, which have specialised
 * loops too. They are the value; u_x, and perhaps one other first derivative beside it, in either
 * order; u_xx; u_xxx for order 4; and last an L that is a sum of coefficient[k] times the
 * derivative of order k along x, of first derivatives, and of `square` times the second one along
 * the other coordinate. */
typedef struct sgi_tower {
    int order;  /* of L: 3 or 4; 0 when the channels are not such */
    int first;  /* the channel of u_x */
    int beside; /* the channel of the other first derivative, or 0 */
    double coefficient[SG_CHAIN_FACTORS + 1], square;
    int varying[SG_CHAIN_FACTORS + 1], square_varying; /* as in a term */
} sgi_tower;

/* How an activation acts on a tile's channels; channel 0 is the value and has no terms here.
 * When `simple`, channels 1 .. firsts become f' times themselves (first derivatives) and, if
 * `second`, the last one is an L with L[f(z)] = f' L[z] + f'' sum_j square[j] z_j^2 (a sum of pure
 * second and of first derivatives): these plans have specialised loops. */
typedef struct sgi_chain {
    int channels;
    int order; /* the highest derivative of the activation in `terms` */
    const sgi_chain_term *terms;
    size_t term_count;
    bool simple;
    int firsts;
    bool second;
    double square[SG_CHAIN_FIRSTS];
    int square_varying[SG_CHAIN_FIRSTS]; /* as in a term */
    sgi_tower tower;
} sgi_chain;

/* One application of the activation to a tile. */
typedef struct sgi_activate {
    const sgi_chain *chain;
    sg_activation activation;
    double frequency;
    bool general; /* use the table of terms even if there are specialised loops */
    int points;
    int width;           /* features */
    int stride;          /* of all arrays */
    const void *varying; /* (numbers, point_stride): what each point brings; may be NULL */
    int point_stride;
} sgi_activate;

/* A layer z = W a + b. */
typedef struct sgi_layer_shape {
    int inputs, outputs;
    int input_stride, output_stride; /* of the rows of a and z */
    bool last;                       /* the output layer: its own functions below */
} sgi_layer_shape;

/* The input map's tables, in the element type. W waves, padded to `wave_stride`; F raw features.
 * A channel is the sum of its lines. A line makes a raw feature a constant, sin(w.x) into
 * even * sin(w.x) + odd * cos(w.x), and cos(w.x) into even * cos(w.x) - odd * sin(w.x). */
typedef struct sgi_features {
    int coordinates, channels, points;
    int lines;        /* line c < channels belongs to channel c; then those with varying numbers */
    const int *owner; /* (lines): the channel */
    const int *varying; /* (lines): as in sgi_chain_term */
    int raw, waves, wave_stride;
    int point_stride;           /* between the coordinates' arrays */
    int stride;                 /* of the rows; at least features + lanes */
    const int *raw_index;       /* (F) coordinate of a raw feature */
    const void *scale, *shift;  /* (F) */
    const void *raw_derivative; /* (lines, F): constants, line 0 unused */
    const void *wave;           /* (coordinates, wave_stride) */
    const void *even, *odd;     /* (lines, wave_stride) */
} sgi_features;

/* Where the rows of one item lie: one for each side and channel, distances in elements. The value
 * rows are those of channel 0. */
typedef struct sgi_item_rows {
    int sides, channels;
    size_t z_side, z_channel, z_step; /* z_step: from one output to the next */
    size_t a_side, a_channel;         /* inputs are contiguous */
    bool stream; /* the result is more than caches hold: it is written past them */
} sgi_item_rows;

/* C (m, n) += factor * A (m, k) B (n, k)^T; element (i, l) of A is at i * a_row + l * a_step. C is
 * in double whatever the type: stretches of k of SGI_MULTIPLY_K are summed in the element type. */
typedef struct sgi_multiply {
    size_t m, n, k;
    const void *a, *b;
    size_t a_row, a_step, b_row, b_step;
    double factor;
    double *c;
    size_t c_row;
} sgi_multiply;

enum { SGI_MULTIPLY_K = 256 };

/* C (m, n) += A^T B, where A and B are columns [i, i + m) and [j, j + n) of the same k rows, from
 * copies of all columns that square_copy() made. Where i == j, what lies below the diagonal may or
 * may not be added. i and j are multiples of SGI_SQUARE_STEP, k is at most SGI_MULTIPLY_K. */
typedef struct sgi_square {
    size_t i, j, m, n, k;
    const void *left, *right;
    double *c;
    size_t c_row;
} sgi_square;

enum { SGI_SQUARE_STEP = 192 };

/* x L^T = row for `count` rows of n <= SGI_SOLVE_N elements, `row` elements apart, each of which
 * its x takes the place of; L is the lower triangle of `factor`. */
typedef struct sgi_solve_rows {
    size_t n, count;
    const void *factor;
    size_t factor_row;
    void *rows;
    size_t row;
} sgi_solve_rows;

enum { SGI_SOLVE_N = 64 };

/* One side of a Gram product: `items` items with `channels` rows each (the sides of a pair one
 * after the other), inputs (items, channels, inputs) and adjoints (items, components, channels,
 * outputs), items `input_item` and `adjoint_item` elements apart. Every `plan_channels`th row is a
 * value row. */
typedef struct sgi_gram_side {
    size_t items;
    int channels, plan_channels, components;
    const void *inputs, *adjoints;
    size_t input_item, adjoint_item;
} sgi_gram_side;

/* C ((i, component), (j, component)) += sum over rows c of i and d of j of
 * (weight * inputs_ic . inputs_jd + [c and d are value rows] * bias) * (adjoints_ic . adjoints_jd):
 * the part that one layer has in J J^T. C is in double, as above. */
typedef struct sgi_gram {
    sgi_gram_side left, right;
    int inputs, outputs;
    double weight, bias;
    double *c;
    size_t c_row;
} sgi_gram;

typedef struct sgi_kernels {
    const char *name;
    int lanes; /* strides are multiples of it */

    /* Features of the points: coordinates (coordinates, point_stride) and what the points bring
     * (numbers, point_stride) to rows. */
    void (*features)(const sgi_features *features, const void *coordinates, const void *varying,
                     void *rows);

    /* Elements of a layer's packed weights and of its gradient. */
    size_t (*packed_size)(const sgi_layer_shape *shape);
    size_t (*gradient_size)(const sgi_layer_shape *shape);
    /* weight (outputs, inputs), bias (outputs) to packed, and gradient to the same two. */
    void (*pack)(const sgi_layer_shape *shape, const void *weight, const void *bias, void *packed);
    void (*unpack)(const sgi_layer_shape *shape, const void *gradient, void *weight, void *bias);

    /* Hidden layers. z = W a for `rows` rows, plus the bias in the first `value_rows`; or, if
     * `add`, z += W a without the bias. */
    void (*forward)(const sgi_layer_shape *shape, const void *packed, int rows, int value_rows,
                    bool add, const void *a, void *z);
    /* a = W^T z for adjoints. */
    void (*reverse)(const sgi_layer_shape *shape, const void *packed, int rows, const void *z,
                    void *a);
    /* gradient += z a^T over `rows` rows that lie `step` rows apart, value rows first. */
    void (*weights)(const sgi_layer_shape *shape, int rows, int step, int value_rows, const void *z,
                    const void *a, void *gradient);

    /* The last layer: few outputs, whose channels are kept as y (channels, outputs, point_stride);
     * `add` as above. */
    void (*output)(const sgi_layer_shape *shape, const void *packed, int channels, int points,
                   int point_stride, bool add, const void *a, void *y);
    void (*output_reverse)(const sgi_layer_shape *shape, const void *packed, int channels,
                           int points, int point_stride, const void *y, void *a);
    /* Over points [first, first + count) of each channel. */
    void (*output_weights)(const sgi_layer_shape *shape, int channels, int points, int point_stride,
                           int first, int count, const void *y, const void *a, void *gradient);

    /* a = f(z) on all channels; `memo` (points, stride) keeps what the reverse needs. */
    void (*activate)(const sgi_activate *args, const void *z, void *a, void *memo);
    /* adjoint: in of a, out of z. */
    void (*activate_reverse)(const sgi_activate *args, const void *z, const void *a,
                             const void *memo, void *adjoint);
    /* tangent: in of z, out of a. */
    void (*activate_tangent)(const sgi_activate *args, const void *z, const void *a,
                             const void *memo, void *tangent);

    /* The gradient of one item alone, in the caller's form: weight (outputs, inputs) is the sum of
     * z a^T over the item's rows, bias (outputs) the sum of z over its value rows. */
    void (*item_row)(const sgi_layer_shape *shape, const sgi_item_rows *rows, const void *z,
                     const void *a, void *weight, void *bias);
    /* Products of rows, and of inputs and adjoints, that were kept of items. `scratch` has as many
     * elements as the functions before them say, aligned to 64 bytes. */
    size_t (*multiply_scratch)(void);
    void (*multiply)(const sgi_multiply *args, void *scratch);
    /* For k rows of n columns, two copies of k * square_columns(n) elements each. Columns [first,
     * first + count) are copied, `first` a multiple of SGI_SQUARE_STEP. */
    size_t (*square_columns)(size_t n);
    void (*square_copy)(const void *rows, size_t row, size_t k, size_t first, size_t count,
                        void *left, void *right);
    void (*square_product)(const sgi_square *args);
    void (*solve)(const sgi_solve_rows *args);
    size_t (*gram_scratch)(const sgi_gram *args);
    void (*gram)(const sgi_gram *args, void *scratch);

    /* Elements [begin, end) of parts[0] become the sum over all parts, in order, in double. */
    void (*combine)(void *const *parts, size_t count, size_t begin, size_t end);
} sgi_kernels;

/* The table for a resolved instruction set (not SG_ISA_AUTO) and a type. */
const sgi_kernels *sgi_kernels_for(sg_isa isa, sg_type type);
const sgi_kernels *sgi_kernels_plain(sg_type type);

#endif
