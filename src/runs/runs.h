/* A run folder, or a comparison of several, as read from disk. What is missing or damaged beyond
 * run.json is left out, with a note for the reader. */
#ifndef SG_RUNS_RUNS_H
#define SG_RUNS_RUNS_H

#include <jansson.h>
#include <stdbool.h>

#include "files/npz.h"
#include "runs/columns.h"

typedef struct sgi_run {
    char *folder; /* "" for a single run, else the sub-folder's name */
    json_t *info; /* run.json */
    sgi_columns training, evaluation, diagnosis;
    size_t unread;     /* lines of metrics.jsonl that are not what they should be */
    sgi_arrays field;  /* empty when there is none */
    char *field_note;  /* why not, or NULL */
    sgi_arrays points; /* points.npz, empty when there is none that can be read */
    sgi_arrays data;   /* data.npz, likewise */
    char *problem;     /* problem.yaml, or NULL */
    /* Files that are not as they were when the run wrote them. */
    bool record_changed, metrics_changed, problem_changed;
} sgi_run;

/* Runs of one kind, which differ in their seed: runs first .. first + count - 1. */
typedef struct sgi_variant {
    char *name, *label;
    size_t first, count;
} sgi_variant;

typedef struct sgi_runs {
    sg_allocator allocator;
    bool comparison;
    char *name;
    sgi_run *runs;
    size_t run_count;
    sgi_variant *variants; /* the first is the baseline of a comparison */
    size_t variant_count;
    char *missing; /* runs that a comparison lists and that are not there: names, or NULL */
} sgi_runs;

/* Reads everything; with `fields` false no field.npz and problem.yaml. *out is always safe to
 * release. The JSON library keeps its own memory on the C heap. */
SG_CHECKED sg_status sgi_runs_read(sgi_runs *out, const char *folder, bool fields,
                                   const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_runs_release(sgi_runs *runs);

/* Members of run.json: a text ("" when missing), a number (NaN when missing). `group` may be NULL.
 */
const char *sgi_run_text(const sgi_run *run, const char *group, const char *key);
double sgi_run_number(const sgi_run *run, const char *group, const char *key);
/* An array of texts, or of objects with a "name": member i, or NULL past the end. */
const char *sgi_run_item(const sgi_run *run, const char *key, size_t i);

#endif
