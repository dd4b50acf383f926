/* Measured data: a set of points with values that expressions are to have there.
 *
 *     data:
 *       probes: {file: probes.csv, columns: {t: time}, observe: {u: T, u_x: flux}, std: {u: 0.1,
 *                u_x: sigma}, hold_out: 0.2}
 *
 * Each set is a term of the loss. With rows i that are trained on, N of them, observed expressions
 * e_j, values d_ij and standard deviations s_ij, its residuals are
 *
 *     r_ij = (e_j(x_i) - d_ij) s / s_ij,    1 / s^2 = the mean of 1 / s_ij^2 over all that is
 *                                           measured and trained on,
 *
 * and 0 where nothing was measured; without standard deviations s and all s_ij are 1. So
 * measurements count by the inverse of their variances, and the size of the term is that of squared
 * differences in the fields' units, whatever the deviations are. r_ij / s is the difference in
 * standard deviations.
 *
 * Values and s / s_ij reach the set's programs as inputs of their own: SG_INPUT_DATA with the index
 * 2 j and 2 j + 1. */
#ifndef SG_PROBLEM_DATA_H
#define SG_PROBLEM_DATA_H

#include "files/attachment.h"
#include "problem/problem.h"
#include "problem/sampler.h"

enum { SG_MOST_OBSERVED = 16 };

/* One row of a file is a point at which some of the expressions were measured. Rows that are held
 * out come last, both parts in the order of the file. Memory is of the problem. */
typedef struct sgi_data {
    const sgi_yaml *name; /* and, after it, what the file says */
    sgi_measured_settings settings;
    sgi_attachment file;   /* file.file is NULL when the values stand in the problem */
    size_t count;          /* rows that are of use */
    size_t trained;        /* of these; the others are held out */
    size_t *rows;          /* (count): which row of the file, from 1 */
    double *points;        /* (count, coordinates) */
    int observed;          /* expressions */
    const char **texts;    /* (observed): as they were written */
    sgi_expr *exprs;       /* (observed) */
    double *values;        /* (observed, count); NaN: not measured */
    double *stds;          /* (observed, count): standard deviations; NULL: none are known */
    double *factors;       /* (observed, count): spread / std; 0: not measured */
    double spread;         /* s; 1 without standard deviations */
    size_t measured;       /* values that are trained on */
    size_t missing;        /* values that the file does not have */
    size_t empty, outside; /* rows that were left out: without any value, outside the domain */
} sgi_data;

SG_CHECKED sg_status sgi_problem_read_data(sgi_problem *problem, sgi_reader *reader);

/* The row of item `item` of `items` in all: all that are trained on if there are as many items,
 * otherwise, step after step, one part of them after the other, in an order that changes when all
 * had their turn. Of validation points: rows that are held out, or all if none are. */
size_t sgi_data_row(const sgi_problem *problem, int set, int64_t items, const sgi_draw *draw,
                    size_t item);

/* As sgi_sample: values and factors of items [first, first + count), columns[2 j] and
 * columns[2 j + 1], NULL for one that nobody reads. */
void sgi_data_columns(const sgi_problem *problem, int set, int64_t items, const sgi_draw *draw,
                      size_t first, size_t count, sg_type type, void *const *columns);

/* "160 rows of probes.csv, 40 held out; 3 values missing", for people. */
const char *sgi_data_text(const sgi_data *data, char *text, size_t size);

#endif
