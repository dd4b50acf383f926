/* What reading a data set works with. Shared by problem_data.c and problem_data_rows.c. */
#ifndef SG_PROBLEM_DATA_READING_H
#define SG_PROBLEM_DATA_READING_H

#include "config/attach.h"
#include "problem/data.h"
#include "problem/file_columns.h"

typedef struct sgi_data_reading {
    sgi_problem *problem;
    sgi_reader *reader;
    const sgi_yaml *name;
    char what[96]; /* "data set 'probes'" */
    sgi_data *data;
    sgi_file_columns columns;
    sgi_sample_columns wanted;                      /* quantities: observed, then deviations */
    const sgi_yaml *places[SG_MOST_OBSERVED];       /* of the expressions, for messages */
    double std_numbers[SG_MOST_OBSERVED];           /* where it is a number */
    const char *std_columns[SG_MOST_OBSERVED];      /* where it is a column; NULL: it is none */
    size_t std_places[SG_MOST_OBSERVED];            /* that column among the quantities */
    bool deviations;                                /* are given */
    double coordinate_factors[SG_MOST_COORDINATES]; /* of the file's numbers */
} sgi_data_reading;

/* Makes the rows of the data set from what the file has. */
SG_CHECKED sg_status sgi_data_take_rows(sgi_data_reading *reading, const sgi_samples *samples);

#endif
