/* Learning-rate schedules: a schedule is a list of terms, and its factor at a step is the product
 * of theirs. A pure function of the step, so a resumed run needs no schedule state.
 *
 *     sg_schedule_term terms[] = {sg_schedule_warmup(1000, 0.0),
 *                                 sg_schedule_cosine(1000, 50000, 0.0)};
 */
#ifndef STABLEGRAD_SCHEDULE_H
#define STABLEGRAD_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/list.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* X stands for what a rate can do after its warm-up, OTHER for the other kinds of terms. */
#define SG_SCHEDULE_LIST(X, OTHER)                                                                 \
    X(SG_SCHEDULE_CONSTANT, "constant")                                                            \
    X(SG_SCHEDULE_COSINE, "cosine")                                                                \
    OTHER(SG_SCHEDULE_WARMUP, "warmup")                                                            \
    OTHER(SG_SCHEDULE_INTERVAL, "interval")

typedef enum sg_schedule_kind { SG_SCHEDULE_LIST(SG_LIST_ENUM, SG_LIST_ENUM) } sg_schedule_kind;
#define SG_SCHEDULE_COUNT (0 SG_SCHEDULE_LIST(SG_LIST_COUNT, SG_LIST_COUNT))

/* The name in the list; "unknown" for other values. */
const char *sg_schedule_name(sg_schedule_kind kind);

/* Make terms with the functions below rather than by hand. */
typedef struct sg_schedule_term {
    sg_schedule_kind kind;
    uint64_t from, until; /* steps, counted from 0 */
    double value;
} sg_schedule_term;

/* `factor` at every step. */
sg_schedule_term sg_schedule_constant(double factor);

/* 1 up to step `from`, then half a cosine down to `floor` at step `until` and after; with from = 0
 * this is PyTorch's CosineAnnealingLR(T_max = until), floor = eta_min / rate. */
sg_schedule_term sg_schedule_cosine(uint64_t from, uint64_t until, double floor);

/* A straight line from `start` at step 0 to 1 at step `steps` and after: PyTorch's
 * LinearLR(start_factor = start, total_iters = steps). */
sg_schedule_term sg_schedule_warmup(uint64_t steps, double start);

/* `factor` for from <= step < until, 1 elsewhere. Several of these make a piecewise schedule. */
sg_schedule_term sg_schedule_interval(uint64_t from, uint64_t until, double factor);

/* Whether every term is well-formed: finite, not negative, and its interval not empty. */
bool sg_schedule_valid(const sg_schedule_term *terms, size_t count);

/* The product of the terms' factors at `step`; 1 for an empty schedule. */
double sg_schedule_factor(const sg_schedule_term *terms, size_t count, uint64_t step);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
