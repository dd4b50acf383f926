/* The report of a run or a comparison: one HTML file, and the numbers that its table and the
 * program's table share. docs/report.md says what is in it.
 *
 * Messages: on failure `message` (NULL is allowed) says which file and why. */
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

/* Mean and sample standard deviation over the seeds that have the value. */
typedef struct sgi_statistic {
    size_t count;
    double mean;   /* NaN when count is 0, infinite when a value is not finite */
    double spread; /* NaN when count is below 2 */
} sgi_statistic;

typedef struct sgi_report_variant {
    char *name, *label;
    size_t runs;               /* seeds that are there */
    sgi_statistic validation;  /* last validation loss; of images the last test loss */
    sgi_statistic relative_l2; /* last relative L2 error over all fields */
    sgi_statistic max_error;
    sgi_statistic reached; /* first evaluated step with a validation loss at or below, of images a
                             test top-1 at or above, the baseline's last (its mean over the seeds);
                             only of the seeds that got there, and none when the baseline's top-1 is
                             no better than guessing */
    sgi_statistic seconds;
    sgi_statistic steps; /* steps done */
    /* Of images; everywhere else their counts are 0. Shares are in 0 .. 1. */
    sgi_statistic top1, top5;        /* last, on the test images */
    sgi_statistic best_top1;         /* highest */
    sgi_statistic best_step;         /* and the step of its first evaluation */
    sgi_statistic epochs;            /* done */
    sgi_statistic images_per_second; /* training */
    sgi_statistic memory;            /* bytes */
    sgi_statistic skipped;           /* steps, because something was not finite */
    sgi_statistic collapsed;         /* step; only of the seeds that collapsed: image_run.h */
    size_t at_chance;                /* seeds whose last top-1 is no better than guessing */
} sgi_report_variant;

/* One entry a variant, the first is the baseline; a single run is one variant. */
typedef struct sgi_report_summary {
    sg_allocator allocator;
    bool images;   /* runs of an image task */
    double chance; /* of images: top-1 of guessing, 1 / classes; NaN when not known */
    size_t count;
    sgi_report_variant *variants;
} sgi_report_summary;

/* *out is always safe to release. */
SG_CHECKED sg_status sgi_report_summarise(sgi_report_summary *out, const char *folder,
                                          const sg_allocator *allocator, sg_diagnostic *diagnostic);
void sgi_report_summary_release(sgi_report_summary *summary);

#endif
