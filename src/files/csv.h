/* Tables of numbers as text.
 *
 * Written: a line of names, then one line a row, comma-separated, 17 significant digits, so that
 * reading gives back every bit. Read: comma, semicolon or white space between the cells (found from
 * the first line), an optional line of names, lines starting with # or % skipped; where the last
 * comment with % before the numbers has a name for each column, as in COMSOL's exports, these are
 * the names, without their units in parentheses. A mistake is reported with its line. Numbers use a
 * point; the C locale is assumed. */
#ifndef SG_FILES_CSV_H
#define SG_FILES_CSV_H

#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* Takes `size` bytes of text; anything but SG_OK stops the writing and is passed on. */
typedef sg_status (*sgi_csv_sink)(void *context, const char *text, size_t size);

/* Hands the table to `sink` in pieces: `columns` names and pointers to `rows` values each. */
SG_CHECKED sg_status sgi_csv_emit(sgi_csv_sink sink, void *context, size_t columns,
                                  const char *const *names, const double *const *values,
                                  size_t rows);
/* The same to a file, all or nothing (see file.h for messages). */
SG_CHECKED sg_status sgi_csv_write(const char *path, size_t columns, const char *const *names,
                                   const double *const *values, size_t rows,
                                   const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* A table as read; owns all its memory. */
typedef struct sgi_csv {
    sg_allocator allocator;
    size_t columns, rows;
    char **names;   /* (columns), or NULL when there was no line of names */
    double *values; /* (rows, columns) */
} sgi_csv;

/* Reads a file of at most `limit` bytes. *out is always safe to release. */
SG_CHECKED sg_status sgi_csv_read(const char *path, size_t limit, const sg_allocator *allocator,
                                  sgi_csv *out, sg_diagnostic *diagnostic);
/* The same from memory; `path` is used in messages only. */
SG_CHECKED sg_status sgi_csv_parse(const char *text, size_t size, const char *path,
                                   const sg_allocator *allocator, sgi_csv *out,
                                   sg_diagnostic *diagnostic);
/* The same of measured data: a cell that is empty or NA has no value, and is read as NaN. */
SG_CHECKED sg_status sgi_csv_parse_holes(const char *text, size_t size, const char *path,
                                         const sg_allocator *allocator, sgi_csv *out,
                                         sg_diagnostic *diagnostic);
void sgi_csv_release(sgi_csv *csv);

#endif
