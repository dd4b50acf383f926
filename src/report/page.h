/* The page while it is being written, and its sections in reading order, each in a file of its own.
 * Sections write to page->out, whose status remembers the first failure. */
#ifndef SG_REPORT_PAGE_H
#define SG_REPORT_PAGE_H

#include <stdbool.h>

#include "draw/chart.h"
#include "report/report.h"
#include "runs/runs.h"
#include "text/text.h"

typedef struct sgi_page {
    sgi_text *out;
    const sgi_runs *runs;
    const sgi_report_summary *summary;
    void *scratch; /* the newest piece of memory from sgi_page_memory */
    bool running;  /* the page reads itself again */
} sgi_page;

/* Memory that lasts until the page is written; NULL (and out->status set) when there is none. */
void *sgi_page_memory(sgi_page *page, size_t count, size_t size);
void sgi_page_release(sgi_page *page);

/* The first run of variant v, the one that is drawn; NULL when the variant has no run. */
const sgi_run *sgi_page_run(const sgi_page *page, size_t v);

/* What a column holds decides how seeds are folded: losses by their geometric mean, shares by their
 * arithmetic one, and so are other numbers. Shares are drawn in percent. */
typedef enum sgi_column_kind { SG_COLUMN_LOSS, SG_COLUMN_SHARE, SG_COLUMN_NUMBER } sgi_column_kind;

/* The variant's line for a column of its runs: the run itself, or the mean over the seeds with a
 * band from the lowest to the highest. False when no run has the column. */
bool sgi_page_line(sgi_page *page, size_t v, bool evaluation, const char *column,
                   sgi_column_kind kind, sgi_line *line);

enum { SG_PAGE_LINES = 24 };

/* The same for every variant; returns how many have it. */
size_t sgi_page_lines(sgi_page *page, bool evaluation, const char *column, sgi_column_kind kind,
                      sgi_line lines[SG_PAGE_LINES]);

/* Appends to `count` lines of evaluations, for each that jumps near its end, the median of each
 * value with those before it, dashed in the same colour; returns how many lines there are now. */
size_t sgi_page_medians(sgi_page *page, sgi_line lines[SG_PAGE_LINES], size_t count);

/* The key to the variants' colours, and what a band means when there are seeds. */
void sgi_page_legend(sgi_page *page);
void sgi_page_seeds_note(sgi_page *page);

/* Whether any run has metrics. */
bool sgi_page_has_metrics(const sgi_page *page);

/* The last step that was rescaled: where the gradients became raw, if they did, and else what the
 * run was told. A run that was resumed with another end was told two things, and one by the clock
 * nothing. */
double sgi_page_window_end(const sgi_run *run);

/* A mark at the step where StableGrad ends, if it ends before the run does; returns 0 or 1. */
size_t sgi_page_window_mark(sgi_page *page, sgi_mark *mark);

/* The name of a method in running text, from its name in run.json. */
const char *sgi_method_title(const char *name);

/* A paragraph for each time that the gradients changed between rescaled and raw. */
void sgi_page_handover(sgi_page *page, const sgi_run *run);

/* The class number of a variant's colour. */
int sgi_page_colour(const sgi_page *page, size_t v);

/* How a run ended, if not as it should: "failed at step 9 of 20: why". False: as it should. */
bool sgi_page_ending(sgi_text *out, const sgi_run *run);
/* Lines that could not be read, runs that are missing. */
void sgi_page_gaps(sgi_page *page);

/* The page's frame up to the line under its title, which ends with </p></header>; `what` it is a
 * page of. */
void sgi_page_frame(sgi_text *out, const char *title, const char *what, bool running);
void sgi_page_begin(sgi_page *page);
/* Links to every section of `body` that has a heading. */
void sgi_page_contents(sgi_text *out, const sgi_text *body);
void sgi_page_statement(sgi_page *page); /* what was solved */
void sgi_page_domain(sgi_page *page);    /* where, and at which points */
void sgi_page_result(sgi_page *page);    /* did it work */
void sgi_page_curves(sgi_page *page);    /* how well against the baseline */
void sgi_page_second(sgi_page *page);    /* what steps of second order did */
void sgi_page_unknowns(sgi_page *page);  /* the constants that were found */
void sgi_page_solution(sgi_page *page);  /* what it looks like, and where it is wrong */
void sgi_page_data(sgi_page *page);      /* how it agrees with measurements */
void sgi_page_scaling(sgi_page *page);   /* what StableGrad did */
void sgi_page_diagnosis(sgi_page *page); /* the kernels, where they were measured */
void sgi_page_table(sgi_page *page);     /* final metrics, of either kind of run */
void sgi_page_repeat(sgi_page *page);    /* the problem file, and how to repeat it */
void sgi_page_end(sgi_text *out, bool running);

/* In place of result, curves and solution for image runs. */
void sgi_page_image_result(sgi_page *page);
void sgi_page_image_curves(sgi_page *page);
void sgi_page_image_repeat(sgi_page *page); /* its rows of how to repeat it */
void sgi_page_inside(sgi_page *page);       /* activations by layer: what happened inside */

#endif
