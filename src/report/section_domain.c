/* The domain and a sample of the points: the outline in ink, the points of each condition in a
 * colour of their own, those of the equations pale. See page.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/scatter.h"
#include "report/page.h"

enum { MOST_SETS = 24, MOST_WIDTH = 16, LABEL = 160, PLANES = 3 };

/* The half width of what is shown around a plane, as a share of the range. */
static const double slab = 0.05;

typedef struct picture {
    sgi_page *page;
    const sgi_run *run;
    size_t width; /* coordinates */
    const char *names[MOST_WIDTH];
    size_t space[MOST_WIDTH], space_count; /* the coordinates but t */
    double low[MOST_WIDTH], high[MOST_WIDTH];
    const double *middle; /* (width): of the domain, which the planes go through */
    sgi_scatter_group groups[MOST_SETS];
    sgi_line legend[MOST_SETS];
    size_t count;
} picture;

static bool find_coordinates(picture *p)
{
    const char *name;
    for (; (name = sgi_run_item(p->run, "coordinates", p->width)); p->width++) {
        if (p->width == MOST_WIDTH)
            return false;
        p->names[p->width] = name;
        p->low[p->width] = INFINITY;
        p->high[p->width] = -INFINITY;
        if (strcmp(name, "t") != 0)
            p->space[p->space_count++] = p->width;
    }
    return p->width >= 2;
}

static void widen(picture *p, size_t c, double value)
{
    if (!isfinite(value))
        return;
    p->low[c] = fmin(p->low[c], value);
    p->high[c] = fmax(p->high[c], value);
}

/* Arrays set_NAME (n, width); the equations' come first, so that conditions lie over them. */
static void find_groups(picture *p)
{
    static const char prefix[] = "set_";
    int colour = 0;
    for (size_t i = 0; i < p->run->points.count && p->count < MOST_SETS; i++) {
        const sgi_array *array = &p->run->points.items[i];
        const char *label = array->name + sizeof prefix - 1;
        if (strncmp(array->name, prefix, sizeof prefix - 1) != 0 || array->rank != 2 ||
            array->shape[1] != p->width || array->shape[0] == 0)
            continue;
        const char *measured = sgi_run_item(p->run, "measured", 0);
        bool domain = p->count == 0 && !(measured && strcmp(measured, label) == 0);
        p->legend[p->count] =
            (sgi_line){.label = domain ? "equations" : label, .colour = domain ? -1 : colour};
        p->groups[p->count++] = (sgi_scatter_group){.colour = domain ? -1 : colour++,
                                                    .faint = domain,
                                                    .points = array->values,
                                                    .count = array->shape[0],
                                                    .stride = p->width,
                                                    .low = 1};
        for (size_t k = 0; k < array->count; k++)
            widen(p, k % p->width, array->values[k]);
    }
}

static bool find_middle(picture *p)
{
    const sgi_array *array = sgi_arrays_find(&p->run->points, "middle");
    if (!array || array->rank != 1 || array->count != p->width)
        return false;
    p->middle = array->values;
    return true;
}

/* The lines of the outline called `name`, drawn in coordinates x and y. */
static void take_outline(picture *p, const char *name, size_t x, size_t y, sgi_scatter *s)
{
    const sgi_array *array = sgi_arrays_find(&p->run->points, name);
    if (!array || array->rank != 2 || array->shape[1] != 4)
        return;
    s->lines = array->values;
    s->line_count = array->shape[0];
    for (size_t k = 0; k < array->count; k++)
        widen(p, k % 2 ? y : x, array->values[k]);
}

static void draw(picture *p, const char *outline, size_t x, size_t y, const char *title)
{
    bool time = strcmp(p->names[x], "t") == 0 || strcmp(p->names[y], "t") == 0;
    sgi_scatter s = {.title = title,
                     .x_label = p->names[x],
                     .y_label = p->names[y],
                     .width = p->space_count >= PLANES ? 320 : 560,
                     .square = !time,
                     .groups = p->groups,
                     .group_count = p->count};
    take_outline(p, outline, x, y, &s);
    if (!(p->low[x] < p->high[x]) || !(p->low[y] < p->high[y]))
        return;
    s.x_low = p->low[x];
    s.x_high = p->high[x];
    s.y_low = p->low[y];
    s.y_high = p->high[y];
    for (size_t g = 0; g < p->count; g++) {
        p->groups[g].x = x;
        p->groups[g].y = y;
    }
    sgi_scatter_draw(p->page->out, &s);
}

/* The three planes through the middle, with the points that lie close to each. */
static void draw_planes(picture *p)
{
    sgi_text_add(p->page->out, "<div class=\"three\">\n");
    for (size_t i = 0; i < PLANES; i++) {
        size_t fixed = p->space[PLANES - 1 - i];
        size_t x = p->space[i == PLANES - 1 ? 1 : 0], y = p->space[i == 0 ? 1 : 2];
        double middle = p->middle[fixed];
        double half = slab * (p->high[fixed] - p->low[fixed]);
        char title[LABEL], outline[16];
        (void)snprintf(outline, sizeof outline, "outline_%zu", PLANES - 1 - i);
        (void)snprintf(title, sizeof title, "%.40s = %s%.3g", p->names[fixed],
                       middle < 0 ? "−" : "", fabs(middle) < 1e-12 ? 0 : fabs(middle));
        for (size_t g = 0; g < p->count; g++) {
            p->groups[g].fixed = fixed;
            p->groups[g].low = middle - half;
            p->groups[g].high = middle + half;
        }
        draw(p, outline, x, y, title);
    }
    sgi_text_add(p->page->out, "</div>\n");
}

static void say_what(picture *p)
{
    sgi_text *out = p->page->out;
    sgi_text_add(out, "<p class=\"soft\">Points of the last step, at most 1,000 of each kind");
    if (p->space_count > 3)
        sgi_text_add(out, ", and the domain where all further coordinates are at their middle");
    if (p->space_count >= 3)
        sgi_text_add(out, "; those within a twentieth of the range of a plane are shown on it");
    else if (p->space_count == 2 && p->width == 3)
        sgi_text_add(out, ", of all times");
    sgi_text_add(out, ".</p>\n");
}

void sgi_page_domain(sgi_page *page)
{
    picture *p = sgi_page_memory(page, 1, sizeof *p);
    if (!p)
        return;
    p->page = page;
    p->run = sgi_page_run(page, 0);
    if (!p->run || !find_coordinates(p))
        return;
    find_groups(p);
    if (p->count == 0 || !find_middle(p) || p->space_count == 0 ||
        (p->space_count == 1 && p->width != 2))
        return;
    sgi_text_add(page->out, "<section id=\"domain\">\n<h2>The domain and its points</h2>\n");
    say_what(p);
    sgi_chart_legend(page->out, p->legend, p->count);
    sgi_text_add(page->out, p->space_count >= PLANES ? "" : "<div class=\"two\">\n");
    if (p->space_count >= PLANES)
        draw_planes(p);
    else if (p->space_count == 2)
        draw(p, "outline", p->space[0], p->space[1], "");
    else /* t runs to the right, as in the maps */
        draw(p, "outline", 1 - p->space[0], p->space[0], "");
    sgi_text_add(page->out, p->space_count >= PLANES ? "</section>\n" : "</div>\n</section>\n");
}
