/* What was solved: unknowns, domain, equations and conditions, typeset from the problem file. A
 * file that cannot be read as one has no statement; it stands further down as it is. */
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "report/formula.h"
#include "report/page.h"
#include "text/yaml.h"

typedef struct statement {
    sgi_text *out;  /* rows of a table */
    sgi_text plain; /* the same as text */
    sgi_arena arena;
} statement;

static void open_row(statement *s, const char *name)
{
    sgi_text_add(s->out, "<tr><th>");
    sgi_text_escape(s->out, name);
    sgi_text_add(s->out, "</th><td>");
    sgi_text_escape(&s->plain, name);
    sgi_text_add(&s->plain, ": ");
}

static void close_row(statement *s)
{
    sgi_text_add(s->out, "</td></tr>\n");
    sgi_text_add(&s->plain, "\n");
}

/* In both, as it stands. */
static void words(statement *s, const char *text)
{
    sgi_text_add(s->out, text);
    sgi_text_add(&s->plain, text);
}

static void formula(statement *s, const char *source, bool zero)
{
    sgi_text_add(s->out, "<math>");
    sgi_formula(s->out, source, zero);
    sgi_text_add(s->out, "</math>");
    sgi_text_escape(&s->plain, source);
    if (zero && !strchr(source, '='))
        sgi_text_add(&s->plain, " = 0");
}

/* "left = right". */
static void equality(statement *s, const char *left, const char *right)
{
    size_t size = strlen(left) + strlen(right) + 4;
    char *both = sgi_arena_allocate(&s->arena, size, 1);
    if (!both) {
        s->out->status = SG_ERROR_MEMORY;
        return;
    }
    (void)snprintf(both, size, "%s = %s", left, right);
    formula(s, both, false);
}

static bool is_scalar(const sgi_yaml *node)
{
    return node && node->kind == SG_YAML_SCALAR && node->text[0];
}

/* "u, v of t, x, y". */
static void unknowns(statement *s, const sgi_yaml *root)
{
    const sgi_yaml *fields = sgi_yaml_get(root, "fields");
    const sgi_yaml *coordinates = sgi_yaml_get(root, "coordinates");
    if (!fields || fields->kind != SG_YAML_SEQUENCE || !fields->first || !coordinates ||
        coordinates->kind != SG_YAML_MAPPING)
        return;
    open_row(s, fields->count > 1 ? "unknowns" : "unknown");
    for (const sgi_yaml *field = fields->first; field; field = field->next) {
        if (is_scalar(field))
            formula(s, field->text, false);
        words(s, field->next ? ", " : " of ");
    }
    for (const sgi_yaml *key = coordinates->first; key && key->next; key = key->next->next) {
        const sgi_yaml *range = key->next;
        formula(s, key->text, false);
        if (range->kind == SG_YAML_SEQUENCE && range->count == 2 && is_scalar(range->first) &&
            is_scalar(range->last)) {
            words(s, " in [");
            formula(s, range->first->text, false);
            words(s, ", ");
            formula(s, range->last->text, false);
            words(s, "]");
        }
        words(s, range->next ? ", " : "");
    }
    close_row(s);
}

static void equations(statement *s, const sgi_yaml *root)
{
    const sgi_yaml *list = sgi_yaml_get(root, "equations");
    if (!list || list->kind != SG_YAML_MAPPING)
        return;
    for (const sgi_yaml *key = list->first; key && key->next; key = key->next->next) {
        const sgi_yaml *value = key->next, *in = NULL;
        if (value->kind == SG_YAML_MAPPING) {
            in = sgi_yaml_get(value, "in");
            value = sgi_yaml_get(value, "expression");
        }
        if (!is_scalar(value))
            continue;
        open_row(s, key->text);
        formula(s, value->text, true);
        if (is_scalar(in)) {
            words(s, " in ");
            formula(s, in->text, false);
        }
        close_row(s);
    }
}

/* "at x = 0 or x = 1", "on the boundary". */
static void place(statement *s, const sgi_yaml *at, const char *preposition)
{
    if (!is_scalar(at) || sgi_yaml_is(at, "none"))
        return;
    if (sgi_yaml_is(at, "boundary")) {
        words(s, " on the boundary");
        return;
    }
    words(s, preposition);
    for (const char *begin = at->text; begin;) {
        const char *bar = strchr(begin, '|');
        begin += strspn(begin, " ");
        size_t length = bar ? (size_t)(bar - begin) : strlen(begin);
        while (length > 0 && begin[length - 1] == ' ')
            length--;
        char *plane = sgi_arena_text(&s->arena, begin, length);
        if (!plane) {
            s->out->status = SG_ERROR_MEMORY;
            return;
        }
        formula(s, plane, false);
        words(s, bar ? " and " : "");
        begin = bar ? bar + 1 : NULL;
    }
}

static void periodic(statement *s, const sgi_yaml *condition)
{
    const sgi_yaml *in = sgi_yaml_get(condition, "periodic");
    if (!in || sgi_yaml_is(in, "none"))
        return;
    words(s, "periodic in ");
    if (is_scalar(in))
        formula(s, in->text, false);
    for (const sgi_yaml *item = in->first; item; item = item->next) {
        if (is_scalar(item))
            formula(s, item->text, false);
        words(s, item->next ? ", " : "");
    }
    const sgi_yaml *slopes = sgi_yaml_get(condition, "slopes");
    words(s, slopes && sgi_yaml_is(slopes, "true") ? ", slopes too" : "");
}

/* What a condition says beside what holds. */
static bool is_setting(const sgi_yaml *key)
{
    static const char *const settings[] = {"at",     "over",   "periodic", "slopes",
                                           "points", "weight", "exact",    "distance"};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (sgi_yaml_is(key, settings[i]))
            return true;
    return false;
}

static void conditions(statement *s, const sgi_yaml *root)
{
    const sgi_yaml *list = sgi_yaml_get(root, "conditions");
    if (!list || list->kind != SG_YAML_MAPPING)
        return;
    for (const sgi_yaml *key = list->first; key && key->next; key = key->next->next) {
        const sgi_yaml *value = key->next;
        if (value->kind != SG_YAML_MAPPING)
            continue;
        open_row(s, key->text);
        const sgi_yaml *over = sgi_yaml_get(value, "over");
        bool any = false;
        words(s, is_scalar(over) ? "the integral of " : "");
        for (const sgi_yaml *k = value->first; k && k->next; k = k->next->next) {
            if (is_setting(k) || !is_scalar(k->next))
                continue;
            words(s, any ? ", " : "");
            if (sgi_yaml_is(k, "expression"))
                formula(s, k->next->text, true);
            else
                equality(s, k->text, k->next->text);
            any = true;
        }
        periodic(s, value);
        place(s, over ? over : sgi_yaml_get(value, "at"), over ? " over " : " at ");
        close_row(s);
    }
}

/* What was measured; where the file leaves it to the columns' names, the fields. */
static void measurements(statement *s, const sgi_yaml *root)
{
    const sgi_yaml *list = sgi_yaml_get(root, "data");
    if (!list || list->kind != SG_YAML_MAPPING)
        return;
    for (const sgi_yaml *key = list->first; key && key->next; key = key->next->next) {
        const sgi_yaml *observe =
            key->next->kind == SG_YAML_MAPPING ? sgi_yaml_get(key->next, "observe") : NULL;
        bool some = observe && observe->kind == SG_YAML_MAPPING && observe->first;
        open_row(s, key->text);
        words(s, some ? "measured: " : "measured: fields");
        for (const sgi_yaml *k = some ? observe->first : NULL; k && k->next; k = k->next->next) {
            formula(s, k->text, false);
            words(s, k->next->next ? ", " : "");
        }
        close_row(s);
    }
}

/* Constants, definitions and the reference: a row with all of a section's equalities. */
static void equalities(statement *s, const sgi_yaml *root, const char *section, const char *name)
{
    const sgi_yaml *list = sgi_yaml_get(root, section);
    if (!list || list->kind != SG_YAML_MAPPING || !list->first)
        return;
    open_row(s, name);
    for (const sgi_yaml *key = list->first; key && key->next; key = key->next->next) {
        if (is_scalar(key->next))
            equality(s, key->text, key->next->text);
        words(s, key->next->next ? ", " : "");
    }
    close_row(s);
}

static void write_statement(sgi_page *page, statement *s, const sgi_yaml *root)
{
    sgi_text *out = page->out;
    sgi_text_add(out, "<section id=\"statement\">\n<h2>The problem</h2>\n<div class=\"scroll\">"
                      "<table class=\"facts statement\"><tbody>\n");
    unknowns(s, root);
    equations(s, root);
    conditions(s, root);
    measurements(s, root);
    equalities(s, root, "constants", "where");
    equalities(s, root, "definitions", "with");
    equalities(s, root, "reference", "reference");
    sgi_text_add(out, "</tbody></table></div>\n<details><summary>The same as plain text</summary>"
                      "<pre><code>");
    if (s->plain.status != SG_OK)
        out->status = s->plain.status;
    else if (s->plain.size)
        sgi_text_bytes(out, s->plain.data, s->plain.size);
    sgi_text_add(out, "</code></pre></details>\n</section>\n");
}

void sgi_page_statement(sgi_page *page)
{
    const char *text = page->runs->runs[0].problem;
    if (!text)
        return;
    statement s = {.out = page->out};
    sgi_text_begin(&s.plain, &page->out->allocator);
    sgi_arena_init(&s.arena, &page->out->allocator);
    const sgi_source source = {"problem.yaml", text, strlen(text)};
    sgi_yaml *root;
    sg_diagnostic why = {0};
    sg_status status = sgi_yaml_parse(&root, &source, 0, &s.arena, &why);
    if (status == SG_ERROR_MEMORY)
        page->out->status = status;
    else if (status == SG_OK && root->kind == SG_YAML_MAPPING &&
             (sgi_yaml_get(root, "equations") || sgi_yaml_get(root, "data")))
        write_statement(page, &s, root);
    sgi_arena_clear(&s.arena);
    sgi_text_release(&s.plain);
}
