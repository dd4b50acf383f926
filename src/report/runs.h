/* A run folder, or a comparison of several, as read from disk. What is missing or damaged beyond
 * run.json is left out, with a note for the reader. */
#ifndef SG_REPORT_RUNS_H
#define SG_REPORT_RUNS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/npz.h"
#include "report/columns.h"

typedef struct sg_run {
    char *folder; /* "" for a single run, else the sub-folder's name */
    json_t *info; /* run.json */
    sg_columns training, evaluation;
    size_t unread;    /* lines of metrics.jsonl that are not what they should be */
    sg_arrays field;  /* empty when there is none */
    char *field_note; /* why not, or NULL */
    char *problem;    /* problem.yaml, or NULL */
} sg_run;

/* Runs of one kind, which differ in their seed: runs first .. first + count - 1. */
typedef struct sg_variant {
    char *name, *label;
    size_t first, count;
} sg_variant;

typedef struct sg_runs {
    sg_allocator allocator;
    bool comparison;
    bool images; /* an image task, by the first run */
    char *name;
    sg_run *runs;
    size_t run_count;
    sg_variant *variants; /* the first is the baseline of a comparison */
    size_t variant_count;
    char *missing; /* runs that a comparison lists and that are not there: names, or NULL */
} sg_runs;

/* Reads everything; with `fields` false no field.npz and problem.yaml. *out is always safe to
 * release. The JSON library keeps its own memory on the C heap. */
SG_CHECKED sg_status sg_runs_read(sg_runs *out, const char *folder, bool fields,
                                  const sg_allocator *allocator, char *message,
                                  size_t message_size);
void sg_runs_release(sg_runs *runs);

/* Members of run.json: a text ("" when missing), a number (NaN when missing). `group` may be NULL.
 */
const char *sg_run_text(const sg_run *run, const char *group, const char *key);
double sg_run_number(const sg_run *run, const char *group, const char *key);
/* An array of texts, or of objects with a "name": member i, or NULL past the end. */
const char *sg_run_item(const sg_run *run, const char *key, size_t i);

#endif
