/* Reference solutions from files.
 *
 *     reference: {file: burgers.mat, columns: {u: usol}}
 *     reference:
 *       - {file: velocity.csv}
 *       - {file: pressure.npz, columns: {p: press}, order: [y, x]}
 *
 * A file has an array for each coordinate and field, by their names or by those that `columns`
 * gives; data/samples.h says which forms are understood. Errors are measured at the file's own
 * points, with `at: grid` on the evaluation grid, between the points of the file; maps always are.
 */
#ifndef SG_PROBLEM_SOLUTION_FILES_H
#define SG_PROBLEM_SOLUTION_FILES_H

#include "data/interpolate.h"
#include "files/attachment.h"
#include "problem/problem.h"

enum { SG_MOST_SOLUTION_FILES = 16 };

typedef struct sgi_solution_file {
    const sgi_yaml *node;
    sgi_attachment file;
    sgi_samples samples;
    sgi_interpolant *interpolant;
    int fields[SG_MOST_FIELDS]; /* (samples.quantity_count): the field of each quantity */
} sgi_solution_file;

/* Reads the files of `node`, a mapping with `file` or a list of such. */
SG_CHECKED sg_status sgi_solution_read_files(sgi_problem *problem, sgi_reader *reader,
                                             const sgi_yaml *node);
void sgi_solution_release_files(sgi_problem *problem);

/* All fields between the points of the files, NaN where there is nothing; see exact.h. `own` is
 * something else that is known of each field f at the files' own points, own[f]
 * (sgi_solution_points); NULL: what the files have. */
SG_CHECKED sg_status sgi_solution_between(const sgi_problem *problem, const double *const *own,
                                          const double *const *coordinates, size_t count,
                                          double *const *fields, sg_pool *pool);

/* The number of the files' own points; they and the fields there: `points` (count, coordinates) and
 * fields[f] (count), NaN where a file has no value, and outside of the domain. */
size_t sgi_solution_points(const sgi_problem *problem);
void sgi_solution_own(const sgi_problem *problem, double *points, double *const *fields);

/* "256 x 100 points of burgers.mat", for people. */
const char *sgi_solution_file_text(const sgi_solution_file *file, char *text, size_t size);

#endif
