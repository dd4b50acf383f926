/* Status codes: every fallible function of the library returns one.
 *
 * Bad input or a failing environment is a status, and so is a programmer's mistake that can be
 * told: a NULL handle or an index past the end is SG_ERROR_ARGUMENT, and a function that returns no
 * status does nothing then, and returns 0, NULL or an empty struct. A numerical event, such as a
 * gradient that is not finite, is ordinary output: it is counted and reported in the step's report,
 * and the call returns SG_OK. */
#ifndef STABLEGRAD_STATUS_H
#define STABLEGRAD_STATUS_H

#include "stablegrad/list.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The one list of codes and texts. The numeric values are part of the ABI: append, never reorder.
 */
#define SG_STATUS_LIST(X)                                                                          \
    X(SG_OK, "success")                                                                            \
    X(SG_ERROR_ARGUMENT, "an argument is outside its documented range")                            \
    X(SG_ERROR_MEMORY, "out of memory")                                                            \
    X(SG_ERROR_THREAD, "a thread could not be started")                                            \
    X(SG_ERROR_DUPLICATE, "a span of that name is registered already")                             \
    X(SG_ERROR_SEALED, "spans cannot be added after a scaler or an optimizer was made of the set") \
    X(SG_ERROR_ORDER, "this call needs another call before it in the same step")                   \
    X(SG_ERROR_NO_SIGNAL, "the reference scale needs a signal and none was observed this step")    \
    X(SG_ERROR_MISMATCH, "the two handles were made from different parameter sets")                \
    X(SG_ERROR_STATE, "the saved state does not belong to this optimizer")                         \
    X(SG_ERROR_REDUCE, "the caller's reduction across ranks failed")                               \
    X(SG_ERROR_UNSUPPORTED, "this processor or build does not support the request")                \
    X(SG_ERROR_IO, "a file could not be read or written")                                          \
    X(SG_ERROR_FORMAT, "the content of a file is not what its format promises")

typedef enum sg_status { SG_STATUS_LIST(SG_LIST_ENUM) } sg_status;
#define SG_STATUS_COUNT (0 SG_STATUS_LIST(SG_LIST_COUNT))

/* A short English text for a code; "unknown status" for a value outside the list. Never NULL. */
const char *sg_status_text(sg_status status);

/* The name of a code as written in source, "SG_OK" and so on. Never NULL. */
const char *sg_status_name(sg_status status);

/* Marks functions whose result must be looked at. */
#if defined(__GNUC__)
#define SG_CHECKED __attribute__((warn_unused_result))
#else
#define SG_CHECKED
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
