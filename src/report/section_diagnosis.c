/* Effective dynamics: the margin of the theorem with its sign, the loss beside it, how the kernels
 * act on the residual, their spectra, and the geometry of the optimizer's steps. Of runs with
 * measurements of their kernels; of several seeds the first is drawn. */
#include <math.h>
#include <stdio.h>

#include "report/page.h"

enum { HALF = 468, HALF_HEIGHT = 250, EIGENVALUES = 32, TABLE_ROWS = 12 };

static const sgi_columns *measured(const sgi_page *page, size_t v)
{
    const sgi_run *run = sgi_page_run(page, v);
    return run && run->diagnosis.rows ? &run->diagnosis : NULL;
}

static bool any_measured(const sgi_page *page)
{
    for (size_t v = 0; v < page->runs->variant_count; v++)
        if (measured(page, v))
            return true;
    return false;
}

/* ---- Over the steps ------------------------------------------------------------------------ */

/* Adds the lines of a column of every variant to `count` others. */
static size_t add_lines(const sgi_page *page, const char *column, bool dashed,
                        sgi_line lines[SG_PAGE_LINES], size_t count)
{
    char name[80];
    (void)snprintf(name, sizeof name, "diagnosis/%s", column);
    for (size_t v = 0; v < page->runs->variant_count && count < SG_PAGE_LINES; v++) {
        const sgi_columns *columns = measured(page, v);
        const double *values = columns ? sgi_columns_find(columns, name) : NULL;
        if (values)
            lines[count++] = (sgi_line){.label = page->runs->variants[v].label,
                                        .colour = sgi_page_colour(page, v),
                                        .dashed = dashed,
                                        .x = columns->items[0].values,
                                        .y = values,
                                        .count = columns->rows};
    }
    return count;
}

typedef struct picture {
    const char *title, *label;
    const char *solid, *dashed; /* columns; `dashed` may be NULL */
    bool linear;
    double mark;
    const char *mark_label; /* NULL: no mark */
} picture;

static void step_chart(sgi_page *page, const picture *p)
{
    sgi_line lines[SG_PAGE_LINES];
    sgi_mark mark = {p->mark, false, p->mark_label};
    size_t count = add_lines(page, p->solid, false, lines, 0);
    if (p->dashed)
        count = add_lines(page, p->dashed, true, lines, count);
    sgi_chart chart = {.title = p->title,
                       .x_label = "step",
                       .y_label = p->label,
                       .log_y = !p->linear,
                       .width = HALF,
                       .height = HALF_HEIGHT,
                       .lines = lines,
                       .line_count = count,
                       .marks = &mark,
                       .mark_count = p->mark_label ? 1 : 0};
    if (count > 0)
        sgi_chart_draw(page->out, &chart);
}

static void loss_chart(sgi_page *page)
{
    sgi_line lines[SG_PAGE_LINES];
    sgi_mark mark;
    sgi_chart chart = {.title = "Training loss",
                       .x_label = "step",
                       .y_label = "loss",
                       .log_y = true,
                       .width = HALF,
                       .height = HALF_HEIGHT,
                       .lines = lines,
                       .line_count = sgi_page_lines(page, false, "loss", SG_COLUMN_LOSS, lines),
                       .marks = &mark,
                       .mark_count = sgi_page_window_mark(page, &mark)};
    sgi_chart_draw(page->out, &chart);
}

/* ---- Spectra ------------------------------------------------------------------------------- */

/* The last measurement's leading eigenvalues against their number; false when there are none. */
static bool spectrum_line(sgi_page *page, size_t v, const char *spectrum, sgi_line *line)
{
    const sgi_columns *columns = measured(page, v);
    double *numbers = columns ? sgi_page_memory(page, 2 * EIGENVALUES, sizeof *numbers) : NULL;
    if (!numbers)
        return false;
    double *values = numbers + EIGENVALUES;
    size_t count = 0;
    for (; count < EIGENVALUES; count++) {
        char name[80];
        (void)snprintf(name, sizeof name, "diagnosis/%s/%zu/value", spectrum, count + 1);
        values[count] = sgi_columns_last(columns, name);
        numbers[count] = (double)count + 1;
        if (!isfinite(values[count]))
            break;
    }
    *line = (sgi_line){.label = page->runs->variants[v].label,
                       .colour = sgi_page_colour(page, v),
                       .x = numbers,
                       .y = values,
                       .count = count};
    return count > 0;
}

static void spectrum_chart(sgi_page *page)
{
    sgi_line lines[SG_PAGE_LINES];
    size_t count = 0;
    for (size_t v = 0; v < page->runs->variant_count && count + 1 < SG_PAGE_LINES; v++) {
        count += spectrum_line(page, v, "spectrum_sg", &lines[count]);
        if (spectrum_line(page, v, "spectrum", &lines[count]))
            lines[count++].dashed = true;
    }
    sgi_chart chart = {.title = "Leading eigenvalues at the last measurement",
                       .x_label = "number",
                       .y_label = "eigenvalue",
                       .log_y = true,
                       .width = HALF,
                       .height = HALF_HEIGHT,
                       .lines = lines,
                       .line_count = count};
    if (count > 0)
        sgi_chart_draw(page->out, &chart);
}

/* ---- The table ----------------------------------------------------------------------------- */

static double cell(const sgi_columns *columns, const char *column, size_t row)
{
    char name[80];
    (void)snprintf(name, sizeof name, "diagnosis/%s", column);
    const double *values = sgi_columns_find(columns, name);
    return values ? values[row] : NAN;
}

static void table_row(sgi_text *out, const sgi_columns *columns, size_t row)
{
    static const char *const cells[] = {"loss",   "rho",   "rho_sg",    "lambda_ratio", "stability",
                                        "margin", "e_lin", "r_std_raw", "r_std_scaled"};
    sgi_text_add(out, "<tr><td>");
    sgi_text_count(out, columns->items[0].values[row]);
    sgi_text_add(out, "</td>");
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        sgi_text_add(out, "<td>");
        sgi_text_number(out, cell(columns, cells[c], row));
        sgi_text_add(out, "</td>");
    }
    sgi_text_add(out, "</tr>\n");
}

/* The first and the last measurement, and some between them. */
static void table(sgi_page *page, size_t v)
{
    const sgi_columns *columns = measured(page, v);
    sgi_text *out = page->out;
    if (!columns)
        return;
    sgi_text_add(out, "<h3>");
    sgi_text_escape(out, page->runs->variants[v].label);
    sgi_text_add(out, "</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th>step</th><th>loss</th>"
                      "<th>ρ</th><th>ρ<sub>SG</sub></th><th>λ<sub>SG</sub> / λ</th>"
                      "<th>s<sub>SG</sub></th><th>M<sub>SG</sub></th><th>E<sub>lin</sub></th>"
                      "<th>R<sub>std</sub></th><th>scaled</th></tr></thead>\n<tbody>\n");
    size_t shown = columns->rows < TABLE_ROWS ? columns->rows : TABLE_ROWS;
    for (size_t k = 0; k < shown; k++)
        table_row(out, columns, shown < 2 ? 0 : k * (columns->rows - 1) / (shown - 1));
    sgi_text_add(out, "</tbody></table></div>\n");
}

/* How many of a variant's measurements met the condition of the theorem. */
static void count_margins(sgi_page *page, size_t v)
{
    const sgi_columns *columns = measured(page, v);
    size_t held = 0;
    if (!columns)
        return;
    for (size_t r = 0; r < columns->rows; r++)
        held += cell(columns, "margin", r) > 0 && cell(columns, "stability", r) < 2;
    sgi_text_add(page->out, "<p>");
    sgi_text_escape(page->out, page->runs->variants[v].label);
    sgi_text_format(page->out,
                    ": the condition of the theorem held at %zu of %zu measurements.</p>\n", held,
                    columns->rows);
}

static void pictures(sgi_page *page)
{
    static const picture list[] = {
        {"Action on the residual: ρ dashed, ρ of StableGrad", "ρ", "rho_sg", "rho", false, 0, NULL},
        {"Rate times the largest eigenvalue of StableGrad’s kernel", "s", "stability", NULL, false,
         0, NULL},
        {"Linearisation error of the optimizer’s step", "error", "e_lin", NULL, false, 0, NULL},
        {"Largest share of one block in the step’s energy", "share", "energy_largest", NULL, true,
         0, NULL},
        {"Largest over smallest relative update of a block", "ratio", "update_spread", NULL, false,
         0, NULL},
    };
    static const picture margin = {"Margin of the theorem", "margin", "margin", NULL, true, 0, ""};
    sgi_text_add(page->out, "<div class=\"two\">\n");
    step_chart(page, &margin);
    loss_chart(page);
    step_chart(page, &list[0]);
    spectrum_chart(page);
    for (size_t i = 1; i < sizeof list / sizeof *list; i++)
        step_chart(page, &list[i]);
    sgi_text_add(page->out, "</div>\n");
}

void sgi_page_diagnosis(sgi_page *page)
{
    if (!any_measured(page))
        return;
    sgi_text_add(page->out,
                 "<section id=\"diagnosis\">\n<h2>Effective dynamics</h2>\n"
                 "<p>On a fixed batch of points, the kernels of a plain gradient step (K) and of a "
                 "StableGrad step (K of StableGrad). Where the margin is above 0 and the rate "
                 "times the largest eigenvalue below 2, a StableGrad step lowers the linearised "
                 "loss by more than a plain gradient step of the same rate.</p>\n");
    for (size_t v = 0; v < page->runs->variant_count; v++)
        count_margins(page, v);
    sgi_page_legend(page);
    pictures(page);
    sgi_text_add(page->out, "<p class=\"soft\">Dashed in the eigenvalues: K; solid: K of "
                            "StableGrad.</p>\n");
    for (size_t v = 0; v < page->runs->variant_count; v++)
        table(page, v);
    sgi_text_add(page->out, "</section>\n");
}
