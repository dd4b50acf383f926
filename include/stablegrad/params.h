/* The caller's parameters and gradients, described to the library as named spans of memory. */
#ifndef STABLEGRAD_PARAMS_H
#define STABLEGRAD_PARAMS_H

#include <stddef.h>

#include "stablegrad/list.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The element type of a span. */
#define SG_TYPE_LIST(X)                                                                            \
    X(SG_FLOAT32, "float32", "float=float32")                                                      \
    X(SG_FLOAT64, "float64", "double=float64")

typedef enum sg_type { SG_TYPE_LIST(SG_LIST_ENUM) } sg_type;
#define SG_TYPE_COUNT (0 SG_TYPE_LIST(SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. */
const char *sg_type_name(sg_type type);

/* What a span is in its layer. The block partition SG_BLOCKS_WEIGHT leaves biases as they are. A
 * scalar is a number of its own, as an unknown constant of a problem: scalers leave it as it is
 * unless they are told otherwise, weight decay does not draw it to 0, and LAMB does not measure its
 * step by its size. */
#define SG_ROLE_LIST(X)                                                                            \
    X(SG_ROLE_WEIGHT, "weight")                                                                    \
    X(SG_ROLE_BIAS, "bias")                                                                        \
    X(SG_ROLE_SCALAR, "scalar")

typedef enum sg_role { SG_ROLE_LIST(SG_LIST_ENUM) } sg_role;
#define SG_ROLE_COUNT (0 SG_ROLE_LIST(SG_LIST_COUNT))
const char *sg_role_name(sg_role role);

/* One tensor of the caller's. The library never owns `value` or `gradient`. */
typedef struct sg_span {
    const char *name; /* unique in its set, "layers.0.weight"; copied */
    void *value;      /* `count` elements; NULL when only gradients are rescaled */
    void *gradient; /* `count` elements, or NULL: no gradient this step, the span is passed over */
    size_t count;   /* elements, at least 1 */
    sg_type type;   /* of both arrays; any alignment that the type allows */
    int layer;      /* spans of equal layer form one block under SG_BLOCKS_LAYER */
    sg_role role;
    size_t rows; /* equal parts, one after the other, that belong to one output each: a divisor of
                    `count`. 0: the tensor is not divided. SG_METHOD_AGC and SG_OPTIM_SOAP look at
                    them. */
} sg_span;

/* An ordered set of spans. Must outlive every scaler and optimizer made from it. */
typedef struct sg_params sg_params;

SG_CHECKED sg_status sg_params_create(sg_params **params, const sg_allocator *allocator);

/* NULL is allowed. */
void sg_params_destroy(sg_params *params);

/* Appends a span. SG_ERROR_DUPLICATE if the name is taken, SG_ERROR_SEALED once a scaler or an
 * optimizer has been made from the set. A failed call changes nothing. */
SG_CHECKED sg_status sg_params_add(sg_params *params, const sg_span *span);

/* Points span `index` at new memory of the same count and type, for callers whose gradients move
 * from step to step. Allowed at any time between two steps. A value cannot become NULL. */
SG_CHECKED sg_status sg_params_bind(sg_params *params, size_t index, void *value, void *gradient);

/* The number of spans. */
size_t sg_params_count(const sg_params *params);

/* The number of elements of all spans together. */
size_t sg_params_elements(const sg_params *params);

/* Span `index`; NULL past the end. Valid until the set is destroyed or changed. */
const sg_span *sg_params_at(const sg_params *params, size_t index);

/* The index of the span of that name, or SG_NOT_FOUND. */
#define SG_NOT_FOUND ((size_t)-1)
size_t sg_params_find(const sg_params *params, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
