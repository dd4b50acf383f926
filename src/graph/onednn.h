/* Everything the graph engine asks of oneDNN, in the engine's own terms. Only onednn.c includes
 * oneDNN's headers, so that another version of it touches that file alone.
 *
 * Tensors are float. An image tensor is either plain (N, C, H, W) or blocked (N, C/block, H, W,
 * block), the last block padded with zeros; a vector tensor is (N, C). Weights come and go in plain
 * layout (O, I/groups, K, K); the layouts that the kernels want live in the work memory of a call.
 *
 * Creating a handle allocates; running it does not. Handles of one sgi_dnn are used by one thread
 * at a time. Results depend on the thread count in the last bits (oneDNN sums weight gradients over
 * threads), and are the same from run to run for one count. */
#ifndef SG_GRAPH_ONEDNN_H
#define SG_GRAPH_ONEDNN_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/rows.h"
#include "stablegrad/graph.h"
#include "stablegrad/memory.h"
#include "stablegrad/pool.h"
#include "stablegrad/status.h"

typedef struct sgi_dnn sgi_dnn;

/* `threads` 0 means one for each processor. */
SG_CHECKED sg_status sgi_dnn_create(sgi_dnn **dnn, int threads, const sg_allocator *allocator);
void sgi_dnn_destroy(sgi_dnn *dnn); /* NULL is allowed */
int sgi_dnn_threads(const sgi_dnn *dnn);

/* Runs `function` for each unit on the threads that oneDNN itself uses, so that two teams never
 * compete for the processors. Which thread takes a unit is not fixed. */
void sgi_dnn_run(sgi_dnn *dnn, size_t units, sg_unit_function *function, void *context);

/* Sets the calling thread's number of threads for what follows and lets its team take denormal
 * numbers for zero; leaving puts back what was before. A network without norms whose scale shrinks
 * is full of denormals, and each costs some hundred cycles: ResNet-50 after an epoch trained at 35
 * images/s with them and at 98 without. */
typedef struct sgi_dnn_before {
    int threads, team;
    unsigned control; /* of floating point, on x86 */
} sgi_dnn_before;
sgi_dnn_before sgi_dnn_enter(const sgi_dnn *dnn);
void sgi_dnn_leave(sgi_dnn_before before);

/* Whether this processor multiplies bf16 in hardware. */
bool sgi_dnn_has_bf16(void);

/* ---- Convolution -------------------------------------------------------------------------- */

typedef struct sgi_dnn_conv_shape {
    int batch, in, out, groups; /* channels in and out */
    int height, width;          /* of the input */
    int kernel, stride, pad;
    const sgi_rows *rows; /* their lanes are the channels of a block of the output and the input */
    bool plain_input;     /* the input is not in blocks but plain, (N, C, H, W) */
    bool bias;
    bool add;      /* y = act(conv(x) + residual) */
    sg_act act;    /* in the same pass */
    bool training; /* the backward passes are wanted */
    bool bf16;     /* multiply in bf16; sums, tensors and weights stay float */
    bool winograd; /* allow Winograd's algorithm where it is faster */
} sgi_dnn_conv_shape;

typedef struct sgi_dnn_conv sgi_dnn_conv;

SG_CHECKED sg_status sgi_dnn_conv_create(sgi_dnn_conv **conv, sgi_dnn *dnn,
                                         const sgi_dnn_conv_shape *shape);
void sgi_dnn_conv_destroy(sgi_dnn_conv *conv);

/* Bytes of work memory that the calls below need; aligned to 64. */
size_t sgi_dnn_conv_work(const sgi_dnn_conv *conv);

/* The names of the kernels chosen: forward, backward data, backward weights; "" for none. */
const char *sgi_dnn_conv_kernel(const sgi_dnn_conv *conv, int pass);

/* Whether the forward call adds the residual and applies the activation; where it does not, the
 * caller does both after it. */
bool sgi_dnn_conv_fuses(const sgi_dnn_conv *conv);

/* y = act(conv(x) + bias + residual); with `bare`, or when it does not fuse, y = conv(x) + bias. */
SG_CHECKED sg_status sgi_dnn_conv_forward(sgi_dnn_conv *conv, const float *x, const float *weight,
                                          const float *bias, const float *residual, float *y,
                                          void *work, bool bare);
/* dx = conv^T(dz), where z is what the activation was applied to. Not for a plain input, whose
 * gradient nobody wants. */
SG_CHECKED sg_status sgi_dnn_conv_backward_data(sgi_dnn_conv *conv, const float *dz,
                                                const float *weight, float *dx, void *work);
/* dweight and dbias, overwritten. */
SG_CHECKED sg_status sgi_dnn_conv_backward_weights(sgi_dnn_conv *conv, const float *x,
                                                   const float *dz, float *dweight, float *dbias,
                                                   void *work);

/* ---- Pooling ------------------------------------------------------------------------------ */

typedef enum sgi_dnn_pool_kind { SG_DNN_POOL_MAX, SG_DNN_POOL_AVERAGE } sgi_dnn_pool_kind;

typedef struct sgi_dnn_pool_shape {
    sgi_dnn_pool_kind kind; /* an average counts the padding, as PyTorch's does */
    int batch, channels, height, width, kernel, stride, pad, block;
    bool training;
} sgi_dnn_pool_shape;

typedef struct sgi_dnn_pool sgi_dnn_pool;

SG_CHECKED sg_status sgi_dnn_pool_create(sgi_dnn_pool **pool, sgi_dnn *dnn,
                                         const sgi_dnn_pool_shape *shape);
void sgi_dnn_pool_destroy(sgi_dnn_pool *pool);
size_t sgi_dnn_pool_work(const sgi_dnn_pool *pool);
/* Bytes that the forward pass leaves for the backward pass: which element was the largest. */
size_t sgi_dnn_pool_memory(const sgi_dnn_pool *pool);
SG_CHECKED sg_status sgi_dnn_pool_forward(sgi_dnn_pool *pool, const float *x, float *y,
                                          void *memory, void *work);
SG_CHECKED sg_status sgi_dnn_pool_backward(sgi_dnn_pool *pool, const float *dy, const void *memory,
                                           float *dx, void *work);

/* ---- Products ----------------------------------------------------------------------------- */

/* c (m, n) = a b, row-major; a is (m, k), or (k, m) when transposed; b is (k, n), or (n, k). */
SG_CHECKED sg_status sgi_dnn_product(const sgi_dnn *dnn, bool a_transposed, bool b_transposed,
                                     int m, int n, int k, const float *a, const float *b, float *c);

/* Output height or width of a window. */
static inline int sgi_window_output(int input, int kernel, int stride, int pad)
{
    return (input + 2 * pad - kernel) / stride + 1;
}

#endif
