/* Does the reference solution satisfy its own equations and conditions?
 *
 * The reference is put into every residual at sample points: its derivatives are exact for
 * expressions and central differences for cole_hopf. A residual is compared with the size of the
 * terms it is the sum of, or the size of the solution where that is larger (a boundary value of 0
 * has no terms of any size). */
#ifndef SG_PROBLEM_CHECK_H
#define SG_PROBLEM_CHECK_H

#include "problem/sampler.h"

enum { SG_CHECK_POINTS = 2048 };

typedef struct sgi_check_row {
    const char *set;  /* "domain", or the region or the condition */
    const char *what; /* "equation" or "condition" */
    const char *term; /* its name */
    int component;    /* within the set */
    uint64_t fields;  /* that it contains, as bits */
    double largest;   /* |residual| relative to `scale`, largest and mean over the points */
    double mean;
    double scale;                      /* largest sum of the terms' sizes, or the solution's */
    double worst[SG_MOST_COORDINATES]; /* the point of the largest */
    bool unknown; /* it has unknown constants: whether it fits cannot be said, and it passes */
    bool passed;
} sgi_check_row;

typedef struct sgi_check {
    sgi_check_row *rows; /* owned; release with sgi_check_release */
    size_t count;
    double tolerance; /* of `largest` */
    bool passed;
} sgi_check;

/* SG_ERROR_UNSUPPORTED when there is no reference, or when cole_hopf would be needed with a
 * derivative that is not taken by differences (above second order, or mixed). */
SG_CHECKED sg_status sgi_problem_check(sgi_problem *problem, sgi_check *check);
/* "the reference is off by 0.3 in condition 'start', relative to its terms, at x = 0.5, t = 0": of
 * a check that did not pass, the worst row. */
const char *sgi_check_sentence(const sgi_problem *problem, const sgi_check *check, char *text,
                               size_t size);
void sgi_check_release(const sgi_problem *problem, sgi_check *check);

#endif
