/* Tables of numbers as text.
 *
 * Written: a line of names, then one line a row, comma-separated, 17 significant digits, so that
 * reading gives back every bit. Read: comma, semicolon or white space between the cells (found from
 * the first line), an optional line of names, lines starting with # skipped. A mistake is reported
 * with its line. Numbers use a point; the C locale is assumed. */
#ifndef SG_BASE_CSV_H
#define SG_BASE_CSV_H

#include <stddef.h>

#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* Takes `size` bytes of text; anything but SG_OK stops the writing and is passed on. */
typedef sg_status (*sg_csv_sink)(void *context, const char *text, size_t size);

/* Hands the table to `sink` in pieces: `columns` names and pointers to `rows` values each. */
SG_CHECKED sg_status sg_csv_emit(sg_csv_sink sink, void *context, size_t columns,
                                 const char *const *names, const double *const *values,
                                 size_t rows);
/* The same to a file, all or nothing (see file.h for messages). */
SG_CHECKED sg_status sg_csv_write(const char *path, size_t columns, const char *const *names,
                                  const double *const *values, size_t rows,
                                  const sg_allocator *allocator, char *message,
                                  size_t message_size);

/* A table as read; owns all its memory. */
typedef struct sg_csv {
    sg_allocator allocator;
    size_t columns, rows;
    char **names;   /* (columns), or NULL when there was no line of names */
    double *values; /* (rows, columns) */
} sg_csv;

/* Reads a file of at most `limit` bytes. *out is always safe to release. */
SG_CHECKED sg_status sg_csv_read(const char *path, size_t limit, const sg_allocator *allocator,
                                 sg_csv *out, char *message, size_t message_size);
/* The same from memory; `path` is used in messages only. */
SG_CHECKED sg_status sg_csv_parse(const char *text, size_t size, const char *path,
                                  const sg_allocator *allocator, sg_csv *out, char *message,
                                  size_t message_size);
void sg_csv_release(sg_csv *csv);

#endif
