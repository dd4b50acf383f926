/* The hand-over between rescaled and raw gradients in words: when, what became of the optimizer's
 * moments, and whether the loss jumped. */
#include <math.h>
#include <string.h>

#include "report/page.h"
#include "train/jump.h"

static const char *fate(const char *handover)
{
    if (strcmp(handover, "keep") == 0)
        return "were kept as they were";
    return strcmp(handover, "restart") == 0 ? "were forgotten" : "were converted";
}

/* The row after row `at` that says what became of the loss; rows when there is none. */
static size_t row_after(const sgi_columns *columns, size_t at)
{
    const double *of = sgi_columns_find(columns, "after_handover/step");
    size_t r = at + 1;
    while (of && r < columns->rows && of[r] != columns->items[0].values[at])
        r++;
    return of ? r : columns->rows;
}

static void tell_loss(sgi_text *out, const sgi_columns *columns, size_t row)
{
    const double *before = sgi_columns_find(columns, "after_handover/loss");
    const double *highest = sgi_columns_find(columns, "after_handover/highest");
    const double *step = sgi_columns_find(columns, "after_handover/highest_step");
    if (!before || !highest || !step || !(highest[row] > SG_JUMP_FACTOR * before[row])) {
        sgi_text_add(out, " The loss did not jump.");
        return;
    }
    sgi_text_add(out, " <strong>The loss jumped</strong> from ");
    sgi_text_number(out, before[row]);
    sgi_text_add(out, " to ");
    sgi_text_number(out, highest[row]);
    sgi_text_add(out, " at step ");
    sgi_text_count(out, step[row]);
    sgi_text_add(out, " (running means).");
}

void sgi_page_handover(sgi_page *page, const sgi_run *run)
{
    const sgi_columns *columns = &run->training;
    const double *handover = sgi_columns_find(columns, "handover");
    for (size_t r = 0; handover && r < columns->rows; r++) {
        if (isnan(handover[r]))
            continue;
        size_t after = row_after(columns, r);
        sgi_text_add(page->out, "<p>At step ");
        sgi_text_count(page->out, columns->items[0].values[r]);
        sgi_text_format(page->out, " the gradients became %s ones, and the optimizer’s moments ",
                        handover[r] == SG_HANDOVER_TO_RESCALED ? "rescaled" : "raw");
        sgi_text_add(page->out, fate(sgi_run_text(run, "stablegrad", "handover")));
        sgi_text_add(page->out, ".");
        if (after < columns->rows)
            tell_loss(page->out, columns, after);
        sgi_text_add(page->out, "</p>\n");
    }
}
