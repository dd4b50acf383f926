/* The spans as the passes see them: cut into units of work that do not depend on the threads. */
#ifndef SG_BASE_PARAMS_H
#define SG_BASE_PARAMS_H

#include <stdbool.h>

#include "stablegrad/cpu.h"
#include "stablegrad/params.h"
#include "stablegrad/pool.h"

/* Elements of a unit: 256 KiB of float. That is long enough to hide what handing a unit to a thread
 * costs, and short enough to share a network's parameters among threads. */
#define SG_UNIT_ELEMENTS ((size_t)1 << 16)

typedef struct sgi_unit {
    size_t span;
    size_t begin;
    size_t count;
} sgi_unit;

struct sg_params {
    sg_allocator allocator;
    sg_span *spans;
    size_t count, capacity;
    size_t elements;
    sgi_unit *units; /* made by sgi_params_seal, in span order */
    size_t unit_count;
    bool sealed;
};

/* Cuts the spans into units and lets no more in. Calling it again does nothing. */
SG_CHECKED sg_status sgi_params_seal(sg_params *params);

/* Seals them for work with the instruction set that `wanted` stands for: *isa, or
 * SG_ERROR_UNSUPPORTED when this machine has none such. */
SG_CHECKED sg_status sgi_params_open(sg_params *params, sg_isa wanted, sg_isa *isa);

/* Bytes of an element. */
static inline size_t sgi_type_size(sg_type type)
{
    return type == SG_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* The address of element `index` of `base`, or NULL for a NULL base. */
static inline void *sgi_element(void *base, sg_type type, size_t index)
{
    return base ? (char *)base + index * sgi_type_size(type) : NULL;
}

/* `pool`, or NULL where the work is too small to be worth waking threads. */
sg_pool *sgi_params_pool(const sg_params *params, sg_pool *pool);

#endif
