/* Which column or array of a file is which coordinate and field: `columns` and `order`, as a
 * reference and a data set have them. */
#ifndef SG_PROBLEM_FILE_COLUMNS_H
#define SG_PROBLEM_FILE_COLUMNS_H

#include "data/samples.h"
#include "problem/problem.h"

typedef struct sgi_file_columns {
    const char *names[SG_MOST_COORDINATES + SG_MOST_FIELDS]; /* coordinates, then fields; NULL: its
                                                                own name */
    uint64_t given;                      /* fields that `columns` speaks of, as bits */
    uint64_t none;                       /* fields that it says to be in no file */
    size_t order[SG_SAMPLE_COORDINATES]; /* (order_count), see sgi_sample_columns */
    size_t order_count;
} sgi_file_columns;

/* What the files of references and data sets may end in. */
#define SG_ARRAY_ENDINGS ".csv, .txt, .dat, .npz, .npy or .mat"

/* Reads the keys `columns` and `order` of a mapping. */
SG_CHECKED sg_status sgi_file_columns_read(const sgi_problem *problem, sgi_reader *reader,
                                           const sgi_yaml *mapping, sgi_file_columns *columns);

/* The coordinates' part of what is looked for. */
void sgi_file_columns_coordinates(const sgi_problem *problem, const sgi_file_columns *columns,
                                  sgi_sample_columns *wanted);

/* Whether the file has a column of that name, or several for the values of a coordinate. */
bool sgi_file_has(const sgi_arrays *arrays, const char *name);

#endif
