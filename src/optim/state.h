/* The optimizer as its parts see it, and its state: one flat block of a header, for each span a
 * step count and the record of its buffers' units, then the buffers, each starting on a cache
 * line. It is what sg_optim_state hands out and sg_optim_restore takes back. */
#ifndef SG_OPTIM_STATE_H
#define SG_OPTIM_STATE_H

#include "base/params.h"
#include "optim/kernels.h"
#include "scale/moments.h"
#include "stablegrad/optim.h"

enum { SG_MOST_BUFFERS = 2 };

/* What an optimizer says of a buffer that it keeps for each span: the power of the gradient's unit
 * that it is in, and the share of it that a step keeps. Adam's first moment is {1, beta1}, its
 * second {2, beta2}, the momentum of SGD {1, momentum}. */
typedef struct sgi_buffer_kind {
    int power;
    double memory;
} sgi_buffer_kind;

/* The unit that a buffer is in: the mean over past steps of the power of what the gradient was
 * multiplied by; see handover.h. Weight 0: the buffer is empty. */
typedef struct sgi_unit_record {
    double mean;
    double weight;
} sgi_unit_record;

typedef struct sgi_state_header {
    uint64_t magic;  /* also tells the byte order */
    uint64_t layout; /* hash of kind and spans */
    uint64_t steps;
    uint64_t skipped;
    uint64_t rescaled; /* 1: the buffers are in the units of rescaled gradients */
} sgi_state_header;

struct sg_optim {
    sg_allocator allocator;
    sg_params *params;
    sg_pool *pool;
    sg_optim_config config;
    sg_schedule_term *schedule;
    const sgi_optim_kernels *kernels;
    const sgi_scale_kernels *scale_kernels;
    double *rate_factors; /* one for each span */
    double *unit_norms;   /* |g|^2 of each unit, for clipping without a scaler */
    sgi_buffer_kind buffer_kinds[SG_MOST_BUFFERS];
    size_t buffers_per_span;
    size_t *buffers; /* offset in the state of each span's first buffer */
    unsigned char *state;
    size_t state_size;
};

/* The factor of PyTorch's clip_grad_norm_; 1 when clipping is off. */
double sgi_clip_factor(const sg_optim_config *config, double norm);

/* Lays the state out for the optimizer's kind and spans; everything is zero. */
SG_CHECKED sg_status sgi_state_create(sg_optim *optim);
void sgi_state_destroy(sg_optim *optim);

sgi_state_header *sgi_state_head(const sg_optim *optim);

/* How many steps each span has taken. */
uint64_t *sgi_state_span_steps(const sg_optim *optim);

/* The records of span `span`'s buffers. */
sgi_unit_record *sgi_state_records(const sg_optim *optim, size_t span);

/* Buffer `index` of span `span`. */
void *sgi_state_buffer(const sg_optim *optim, size_t span, size_t index);

#endif
