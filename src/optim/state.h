/* The inside of an optimizer, and its state. The state is one flat block: a header, the step counts
 * of all spans, the units of their buffers, then the buffers themselves, each starting on a cache
 * line. It is what sg_optim_state hands out and sg_optim_restore takes back. */
#ifndef SG_OPTIM_STATE_H
#define SG_OPTIM_STATE_H

#include "base/params.h"
#include "optim/kernels.h"
#include "scale/moments.h"
#include "stablegrad/optim.h"

enum { SG_MOST_BUFFERS = 2 * SG_OPTIM_MOST_GROUPS };

/* How large a buffer of a span is. */
typedef enum sgi_extent {
    SGI_EXTENT_ALL,  /* as many elements as the span */
    SGI_EXTENT_ONE,  /* one number, in double */
    SGI_EXTENT_LEFT, /* (rows, rows) of the span as a matrix, where SOAP turns them; else nothing */
    SGI_EXTENT_RIGHT, /* (columns, columns), likewise */
} sgi_extent;

/* What an optimizer says of the buffers that it keeps for each span: the power of the gradient's
 * unit that each is in, and how large it is. Adam's first moment is in power 1, its second in power
 * 2, the momentum of SGD in power 1. */
typedef struct sgi_buffer_list {
    size_t count;
    int powers[SG_MOST_BUFFERS];
    sgi_extent extents[SG_MOST_BUFFERS];
} sgi_buffer_list;

/* The unit that a span's buffers are in: the mean square of what the last gradients were multiplied
 * by, and the sum of the weights in that mean, which is 0 before the first step; see handover.h. */
typedef struct sgi_unit_record {
    double square;
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
    double *rate_factors;   /* one for each span */
    double *unit_norms;     /* |g|^2 of each unit, for clipping without a scaler */
    double (*unit_sums)[2]; /* of each unit and of each span, for optimizers that look at whole */
    double (*span_sums)[2]; /* tensors before they move: see tensors.h */
    const void **group_gradients; /* (groups, spans), when MultiAdam has several groups */
    struct sgi_soap *soap;        /* SOAP's memory of a step */
    sgi_buffer_list buffers;
    size_t *offsets; /* in the state, of each span's first buffer */
    unsigned char *state;
    size_t state_size;
};

/* Where the gradient of a group of MultiAdam lies. */
static inline const void **sgi_group_gradient(const sg_optim *optim, size_t group, size_t span)
{
    return &optim->group_gradients[group * optim->params->count + span];
}

/* Whether sg_optim_restore would take this; it changes nothing. */
bool sgi_state_fits(const sg_optim *optim, const void *state, size_t size);

/* The factor of PyTorch's clip_grad_norm_; 1 when clipping is off. */
double sgi_clip_factor(const sg_optim_config *config, double norm);

/* Lays the state out for the optimizer's kind and spans; everything is zero. */
SG_CHECKED sg_status sgi_state_create(sg_optim *optim);
void sgi_state_destroy(sg_optim *optim);

sgi_state_header *sgi_state_head(const sg_optim *optim);

/* How many steps each span has taken. */
uint64_t *sgi_state_span_steps(const sg_optim *optim);

/* The unit that each span's buffers are in. */
sgi_unit_record *sgi_state_records(const sg_optim *optim);

/* Buffer `index` of span `span`, how many elements it has, and of which type. */
void *sgi_state_buffer(const sg_optim *optim, size_t span, size_t index);
size_t sgi_state_elements(const sg_optim *optim, size_t span, size_t index);
sg_type sgi_state_type(const sg_optim *optim, size_t span, size_t index);

/* The one element of a buffer of extent SGI_EXTENT_ONE. */
double *sgi_state_number(const sg_optim *optim, size_t span, size_t index);

#endif
