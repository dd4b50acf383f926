/* Values at points, from the arrays of a file: a reference solution, or measured data.
 *
 * A file has an array for each coordinate and for each quantity, found by name. Three forms are
 * understood:
 *
 * - scattered points: all arrays have as many values (the columns of a table, or meshes);
 * - a grid: the coordinates' arrays are axes, and a quantity has the product of their lengths.
 *   Which dimension is which coordinate follows from the lengths; where it does not, `order` must
 *   say it, because a guess could swap two coordinates;
 * - a table whose columns are the quantity at several values of a coordinate, "u @ t=0.5", as
 *   COMSOL writes it.
 *
 * Whatever the form, the result is a list of points. */
#ifndef SG_DATA_SAMPLES_H
#define SG_DATA_SAMPLES_H

#include "files/arrays.h"

enum { SG_SAMPLE_COORDINATES = 16, SG_SAMPLE_QUANTITIES = 64 };

/* What is looked for in the file. */
typedef struct sgi_sample_columns {
    size_t coordinate_count, quantity_count;
    const char *names[SG_SAMPLE_COORDINATES];       /* of the coordinates */
    const char *coordinates[SG_SAMPLE_COORDINATES]; /* the array that each is read from */
    const char *quantities[SG_SAMPLE_QUANTITIES];   /* and each quantity */
    size_t order[SG_SAMPLE_COORDINATES]; /* (order_count): coordinates of a grid's dimensions */
    size_t order_count;                  /* 0: to be found */
} sgi_sample_columns;

typedef struct sgi_samples {
    sg_allocator allocator;
    size_t count, coordinate_count, quantity_count;
    double *points; /* (count, coordinates) */
    double *values; /* (quantities, count); NaN where the file has none */
} sgi_samples;

/* Finds the arrays and lists their points. `named` is false for a table without names, whose
 * columns are taken in the order of coordinates and quantities when there are as many of them.
 * `path` is used in messages. A coordinate that is not finite, or a quantity that is infinite, is
 * refused with its row. *samples is always safe to release. */
SG_CHECKED sg_status sgi_samples_make(sgi_samples *samples, const sgi_arrays *arrays, bool named,
                                      const sgi_sample_columns *columns, const char *path,
                                      const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_samples_release(sgi_samples *samples);

#endif
