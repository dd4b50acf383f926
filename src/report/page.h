/* The page while it is being written, and its sections in reading order, each in a file of its own.
 * Sections write to page->out, whose status remembers the first failure. */
#ifndef SG_REPORT_PAGE_H
#define SG_REPORT_PAGE_H

#include <stdbool.h>

#include "report/chart.h"
#include "report/report.h"
#include "report/runs.h"
#include "report/text.h"

typedef struct sg_page {
    sg_text *out;
    const sg_runs *runs;
    const sg_report_summary *summary;
    void *scratch; /* the newest piece of memory from sg_page_memory */
} sg_page;

/* Memory that lasts until the page is written; NULL (and out->status set) when there is none. */
void *sg_page_memory(sg_page *page, size_t count, size_t size);
void sg_page_release(sg_page *page);

/* The first run of variant v, the one that is drawn; NULL when the variant has no run. */
const sg_run *sg_page_run(const sg_page *page, size_t v);

/* What a column holds decides how seeds are folded: losses by their geometric mean, shares by their
 * arithmetic one. Shares are drawn in percent. */
typedef enum sg_column_kind { SG_COLUMN_LOSS, SG_COLUMN_SHARE } sg_column_kind;

/* The variant's line for a column of its runs: the run itself, or the mean over the seeds with a
 * band from the lowest to the highest. False when no run has the column. */
bool sg_page_line(sg_page *page, size_t v, bool evaluation, const char *column, sg_column_kind kind,
                  sg_line *line);

enum { SG_PAGE_LINES = 24 };

/* The same for every variant; returns how many have it. */
size_t sg_page_lines(sg_page *page, bool evaluation, const char *column, sg_column_kind kind,
                     sg_line lines[SG_PAGE_LINES]);

/* The key to the variants' colours, and what a band means when there are seeds. */
void sg_page_legend(sg_page *page);
void sg_page_seeds_note(sg_page *page);

/* Whether any run has metrics. */
bool sg_page_has_metrics(const sg_page *page);

/* A mark at the step where StableGrad ends, if it ends before the run does; returns 0 or 1. */
size_t sg_page_window_mark(const sg_page *page, sg_mark *mark);

/* The class number of a variant's colour. */
int sg_page_colour(const sg_page *page, size_t v);

/* How a run ended, if not as it should: "failed at step 9 of 20: why". False: as it should. */
bool sg_page_ending(sg_text *out, const sg_run *run);
/* Lines that could not be read, runs that are missing. */
void sg_page_gaps(sg_page *page);

void sg_page_begin(sg_page *page);
void sg_page_result(sg_page *page);   /* did it work */
void sg_page_curves(sg_page *page);   /* how well against the baseline */
void sg_page_solution(sg_page *page); /* what it looks like, and where it is wrong */
void sg_page_scaling(sg_page *page);  /* what StableGrad did */
void sg_page_table(sg_page *page);    /* final metrics, of either kind of run */
void sg_page_repeat(sg_page *page);   /* the problem file, and how to repeat it */
void sg_page_end(sg_page *page);

/* In place of result, curves and solution for image runs. */
void sg_page_image_result(sg_page *page);
void sg_page_image_curves(sg_page *page);
void sg_page_inside(sg_page *page); /* activations by layer: what happened inside */

#endif
