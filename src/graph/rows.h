/* The engine's own inner loops, one table for each instruction set.
 *
 * A row is one image's channel block: (pixels, lanes) floats, aligned to a vector. The loops below
 * do everything that stands between two convolutions in as few passes as possible:
 *
 *     t = keep * (scale * z + shift) + residual        y = act(t)
 *
 * with scale and shift for each lane (normalisation, or 1 and 0), keep for each image (stochastic
 * depth). The gradient that arrives at y is itself a sum that nobody has formed yet,
 *
 *     g = a * a_scale + b + offset
 *
 * with a_scale and offset for each lane (squeeze-excitation, global average). Sums are taken in
 * float over at most 256 pixels and in double beyond, in a fixed order. */
#ifndef SG_GRAPH_ROWS_H
#define SG_GRAPH_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/isa.h"
#include "stablegrad/cpu.h"
#include "stablegrad/graph.h"

enum { SG_MAX_LANES = 16 };

typedef struct sgi_row_forward {
    const float *z;
    const float *residual;      /* or NULL */
    const float *scale, *shift; /* (lanes) */
    float keep;
    float *y;
    float *sum; /* (lanes), of y over the pixels; or NULL */
} sgi_row_forward;

typedef struct sgi_row_gradient {
    const float *a;       /* NULL: 0 */
    const float *a_scale; /* (lanes); NULL: 1 */
    const float *b;       /* NULL: 0; only with a */
    const float *offset;  /* (lanes); NULL: 0 */
} sgi_row_gradient;

typedef struct sgi_row_backward {
    sgi_row_gradient g;
    const float *z;             /* read by SiLU, and for `dot` */
    const float *y;             /* read by the other activations */
    const float *scale, *shift; /* (lanes) */
    const float *mean;          /* (lanes), of z */
    float keep;
    float *dt;         /* g act'(t); or NULL */
    float *dz;         /* keep g act'(t); or NULL */
    double *sum, *dot; /* (lanes), += keep g act'(t), and that times (z - mean); both or none */
} sgi_row_backward;

typedef struct sgi_row_apply {
    const float *dt, *z, *mean;
    const float *k1, *k2, *k3; /* (lanes): dz = keep k1 dt + k2 (z - mean) + k3 */
    float keep;
    float *dz;
} sgi_row_apply;

/* A depthwise window, and the image that it slides over. */
typedef struct sgi_row_window {
    int height, width, out_height, out_width, kernel, stride, pad;
} sgi_row_window;

enum { SG_MAX_DEPTHWISE = 7 };  /* the widest window of `depthwise` */
enum { SG_MAX_TAPS = 49 };      /* of `pack` and `unpack` */
enum { SG_MAX_SMALL_TAPS = 9 }; /* of sgi_small_weights */

/* A channel block of x and one of dz, of all images. */
typedef struct sgi_row_outer {
    const float *x, *dz;
    size_t x_image, dz_image; /* floats from an image to the next */
    int images;
    sgi_row_window window;
} sgi_row_outer;

typedef struct sgi_rows {
    int lanes;
    /* sum += z - shift, square += (z - shift)^2 */
    void (*stats)(const float *z, size_t pixels, const float *shift, double *sum, double *square);
    void (*forward)(const sgi_row_forward *row, size_t pixels, sg_act act);
    void (*backward)(const sgi_row_backward *row, size_t pixels, sg_act act);
    void (*apply)(const sgi_row_apply *row, size_t pixels);
    /* y = a * a_scale + b + offset */
    void (*combine)(const sgi_row_gradient *g, size_t pixels, float *y);
    /* out = sum of x * y over the pixels; y NULL means 1 */
    void (*dot)(const float *x, const float *y, size_t pixels, float *out);
    /* sums (kernel * kernel, lanes) += sum over the output pixels of x at the window's element
     * times dz: the weight gradient of a depthwise convolution, for one row */
    void (*depthwise)(const float *x, const float *dz, const sgi_row_window *w, float *sums);
    /* Weights of `lanes` outputs and inputs, from plain to a block and back. Plain: a row of (lanes
     * inputs, taps) for each output, `row` floats apart. Block: (taps, lanes inputs, lanes outputs)
     * when `by_input`, or else (taps, lanes outputs, lanes inputs). */
    void (*pack)(const float *plain, size_t row, int taps, bool by_input, float *block);
    void (*unpack)(const float *block, int taps, bool by_input, float *plain, size_t row);
    /* block (taps, lanes outputs, lanes inputs) = the weight gradient of a convolution, of one
     * block of outputs and one of inputs; the sums are float */
    void (*outer)(const sgi_row_outer *p, float *block);
} sgi_rows;

SGI_ISA_TABLES(sgi_rows, sgi_rows, ); /* AVX-512 has 16 lanes, the others 8 */

/* The table for a resolved instruction set (not SG_ISA_AUTO). */
const sgi_rows *sgi_rows_for(sg_isa isa);

#endif
