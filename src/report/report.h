/* The report of a run or a comparison: one HTML file, and the numbers that its table and the
 * program's table share. docs/report.md says what is in it.
 *
 * On failure the diagnostic (NULL is allowed) says which file and why. */
#ifndef SG_REPORT_REPORT_H
#define SG_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* Reads the folder and writes folder/report.html, all or nothing. A run that was interrupted, that
 * failed, that has no field, no metrics or no reference gets a report that says so. */
SG_CHECKED sg_status sgi_report_write(const char *folder, const sg_allocator *allocator,
                                      sg_diagnostic *diagnostic);

/* The same for a run that goes on: the page says so and reads itself again every few seconds, until
 * a page is written that does not. */
SG_CHECKED sg_status sgi_report_write_running(const char *folder, const sg_allocator *allocator,
                                              sg_diagnostic *diagnostic);

/* Mean and sample standard deviation over the seeds that have the value. */
typedef struct sgi_statistic {
    size_t count;
    double mean;   /* NaN when count is 0, infinite when a value is not finite */
    double spread; /* NaN when count is below 2 */
} sgi_statistic;

/* How a statistic is written, and which of two is the better one. */
typedef enum sgi_unit {
    SG_UNIT_NUMBER,
    SG_UNIT_COUNT,
    SG_UNIT_DURATION, /* seconds */
    SG_UNIT_SHARE,    /* of 1, written in percent */
    SG_UNIT_MEMORY,   /* bytes */
    SG_UNIT_RATE
} sgi_unit;
typedef enum sgi_better { SG_BETTER_NEITHER, SG_BETTER_LOWER, SG_BETTER_HIGHER } sgi_better;

/* A row of the table of final numbers, in the report and in the program's own table. */
typedef struct sgi_report_row {
    const char *name;     /* in the report */
    const char *terminal; /* in the program's table; NULL: it is not there */
    size_t offset;        /* of the statistic in sgi_report_variant */
    sgi_unit unit;
    sgi_better better;
    bool compared; /* only with several variants */
    bool ratio;    /* the program writes how many times lower the second of two is */
} sgi_report_row;

typedef struct sgi_report_kind sgi_report_kind; /* kind.h */

typedef struct sgi_report_variant {
    char *name, *label;
    size_t runs;               /* seeds that are there */
    sgi_statistic validation;  /* last validation loss; of images the last test loss */
    sgi_statistic relative_l2; /* last relative L2 error over all fields */
    sgi_statistic max_error;
    /* The last evaluation may be a spike; these are not. Runs on images have none of them. */
    sgi_statistic lowest_validation, lowest_validation_step;
    sgi_statistic lowest_l2, lowest_l2_step;
    sgi_statistic median_validation, median_l2; /* of the last SG_MEDIAN_OVER evaluations */
    bool restless;         /* a seed's validation loss or error jumps near the end: evaluations.h */
    sgi_statistic reached; /* first evaluated step with a validation loss at or below, of images a
                             test top-1 at or above, the baseline's last (its mean over the seeds);
                             only of the seeds that got there, and none when the baseline's top-1 is
                             no better than guessing */
    sgi_statistic seconds;
    sgi_statistic steps; /* steps done */
    /* These are for runs on images; otherwise their counts are 0. Shares are in 0 .. 1. */
    sgi_statistic top1, top5;        /* last, on the test images */
    sgi_statistic best_top1;         /* highest */
    sgi_statistic best_step;         /* and the step of its first evaluation */
    sgi_statistic epochs;            /* done */
    sgi_statistic images_per_second; /* training */
    sgi_statistic memory;            /* bytes */
    sgi_statistic refinement;        /* seconds of choosing points */
    sgi_statistic skipped;           /* steps, because something was not finite */
    sgi_statistic collapsed;         /* step; only of the seeds that collapsed: image_run.h */
    size_t at_chance;                /* seeds whose last top-1 is no better than guessing */
} sgi_report_variant;

/* One entry a variant, the first is the baseline; a single run is one variant. */
typedef struct sgi_report_summary {
    sg_allocator allocator;
    const sgi_report_kind *kind;
    double chance; /* of images: top-1 of guessing, 1 / classes; NaN when not known */
    size_t count;
    sgi_report_variant *variants;
} sgi_report_summary;

/* A row's statistic of a variant. */
static inline const sgi_statistic *sgi_report_value(const sgi_report_variant *of, size_t offset)
{
    return (const void *)((const char *)of + offset);
}

static inline sgi_statistic *sgi_report_place(sgi_report_variant *of, size_t offset)
{
    return (void *)((char *)of + offset);
}

/* *out is always safe to release. */
SG_CHECKED sg_status sgi_report_summarise(sgi_report_summary *out, const char *folder,
                                          const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_report_summary_release(sgi_report_summary *summary);

#endif
