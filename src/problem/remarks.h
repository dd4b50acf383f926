/* What is odd about a problem that can be read: reasons to think that it is under-determined, and
 * expressions that are not finite somewhere, settings that contradict each other. */
#ifndef SG_PROBLEM_REMARKS_H
#define SG_PROBLEM_REMARKS_H

#include "problem/problem.h"

enum { SG_MOST_REMARKS = 24, SG_REMARK_SIZE = 240 };

typedef struct sgi_remarks {
    char texts[SG_MOST_REMARKS][SG_REMARK_SIZE]; /* each a sentence without its full stop */
    int count;
} sgi_remarks;

/* Looks at which fields and derivatives the equations and conditions contain. Nothing is proved: a
 * problem without remarks may have no solution, and one with some may have exactly one. */
SG_CHECKED sg_status sgi_problem_remarks(sgi_problem *problem, sgi_remarks *remarks);

/* SG_ERROR_FORMAT, with the equation or condition, the place of a bad point and what went wrong
 * there, when one is not finite at points of its set, whatever values the fields have. */
SG_CHECKED sg_status sgi_problem_finite(sgi_problem *problem, sg_diagnostic *diagnostic);

/* "x = 0.25, t = 1": a point of the domain, for messages. */
const char *sgi_problem_point(const sgi_problem *problem, const double *coordinates, char *text,
                              size_t size);

#endif
