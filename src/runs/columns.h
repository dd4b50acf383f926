/* Metrics as columns: the lines of metrics.jsonl, flattened. {"terms":{"initial":1}} becomes column
 * "terms/initial"; members of an array are named by their "name": "layers/layers.0/std". */
#ifndef SG_RUNS_COLUMNS_H
#define SG_RUNS_COLUMNS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

typedef struct sgi_column {
    char *name;
    double *values; /* (rows): NaN where a row has none, infinity where it has null */
} sgi_column;

typedef struct sgi_columns {
    sg_allocator allocator;
    sgi_column *items; /* (count); column 0 is "step" */
    size_t count, capacity;
    uint16_t *slots; /* hash table of names: 1 + the column, 0 for an empty slot */
    size_t rows, row_capacity;
} sgi_columns;

/* The column "outcome" holds numbers of sg_outcome. */

/* Values of the column "handover": the units that the optimizer's moments came to. */
enum { SG_HANDOVER_TO_RAW, SG_HANDOVER_TO_RESCALED };

void sgi_columns_begin(sgi_columns *columns, const sg_allocator *allocator);
void sgi_columns_release(sgi_columns *columns);

/* Appends a line, which must have a number "step". Rows at or after that step, from before a run
 * was resumed, are dropped. SG_ERROR_FORMAT: not such an object, nothing changed. */
SG_CHECKED sg_status sgi_columns_add(sgi_columns *columns, const json_t *object);

/* The column's values (rows), or NULL. */
const double *sgi_columns_find(const sgi_columns *columns, const char *name);
/* The last row's value, or NaN. */
double sgi_columns_last(const sgi_columns *columns, const char *name);

#endif
