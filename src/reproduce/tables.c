/* Tables of results: see tables.h. */
#include "reproduce/tables.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "train/metrics.h"

void sgi_tables_begin(sgi_tables *tables)
{
    *tables = (sgi_tables){.list = json_array()};
    tables->failed = !tables->list;
}

void sgi_tables_release(sgi_tables *tables)
{
    json_decref(tables->list);
    *tables = (sgi_tables){0};
}

/* Appends a value, which it takes over, to an array. */
static void append(sgi_tables *tables, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        tables->failed = true;
}

static void append_text(sgi_tables *tables, json_t *array, const char *text)
{
    append(tables, array, json_string(text));
}

void sgi_table_begin(sgi_tables *tables, const char *title, const char *const *columns)
{
    json_t *table = json_object(), *names = json_array();
    for (; *columns; columns++)
        append_text(tables, names, *columns);
    tables->rows = json_array();
    tables->notes = json_array();
    tables->row = NULL;
    if (json_object_set_new(table, "title", json_string(title)) != 0 ||
        json_object_set_new(table, "columns", names) != 0 ||
        json_object_set_new(table, "rows", tables->rows) != 0 ||
        json_object_set_new(table, "notes", tables->notes) != 0)
        tables->failed = true;
    append(tables, tables->list, table);
    if (tables->failed) /* they may be gone with what could not hold them */
        tables->rows = tables->notes = NULL;
}

void sgi_table_row(sgi_tables *tables)
{
    tables->row = json_array();
    append(tables, tables->rows, tables->row);
    if (tables->failed)
        tables->row = NULL;
}

void sgi_table_text(sgi_tables *tables, const char *text)
{
    append_text(tables, tables->row, text);
}

void sgi_table_number(sgi_tables *tables, double value)
{
    append(tables, tables->row, sgi_json_number(value));
}

static void append_format(sgi_tables *tables, json_t *array, const char *format, va_list list)
{
    char text[512];
    (void)vsnprintf(text, sizeof text, format, list);
    append_text(tables, array, text);
}

void sgi_table_format(sgi_tables *tables, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    append_format(tables, tables->row, format, list);
    va_end(list);
}

void sgi_table_note(sgi_tables *tables, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    append_format(tables, tables->notes, format, list);
    va_end(list);
}

void sgi_tables_head(sgi_tables *tables, const char *head)
{
    for (size_t t = 0; t < json_array_size(tables->list); t++)
        if (json_object_set_new(json_array_get(tables->list, t), "head", json_string(head)) != 0)
            tables->failed = true;
}

void sgi_table_beside(sgi_tables *tables, double paper, double ours)
{
    sgi_table_number(tables, paper);
    sgi_table_number(tables, ours);
    sgi_table_number(tables, ours / paper);
}

void sgi_table_verdict(sgi_tables *tables, bool known, bool holds)
{
    sgi_table_text(tables, !known ? "open" : holds ? "holds" : "does not hold");
}

void sgi_table_claim(sgi_tables *tables, const char *text, bool known, bool holds)
{
    sgi_table_row(tables);
    sgi_table_text(tables, text);
    sgi_table_verdict(tables, known, holds);
}

/* ---- Writing ------------------------------------------------------------------------------ */

void sgi_cell_text(const json_t *cell, char *text, size_t size)
{
    if (json_is_string(cell)) {
        (void)snprintf(text, size, "%s", json_string_value(cell));
        return;
    }
    double value = json_number_value(cell), magnitude = fabs(value);
    if (!json_is_number(cell))
        (void)snprintf(text, size, "-");
    else if (value == 0 || (magnitude >= 0.01 && magnitude < 1e4))
        (void)snprintf(text, size, magnitude >= 100 ? "%.0f" : "%.3g", value);
    else
        (void)snprintf(text, size, "%.2e", value);
}

bool sgi_column_is_text(const json_t *table, size_t column)
{
    size_t i;
    json_t *row;
    if (column == 0)
        return true;
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        const char *text = json_string_value(json_array_get(row, column));
        if (text && text[0] > '9')
            return true;
    }
    return false;
}

static void html_cell(sgi_text *out, const json_t *table, size_t column, const char *tag,
                      const json_t *cell)
{
    char text[512];
    bool left = column > 0 && sgi_column_is_text(table, column);
    sgi_cell_text(cell, text, sizeof text);
    sgi_text_format(out, left ? "<%s style=\"text-align:left\">" : "<%s>", tag);
    if (json_is_number(cell) && text[0] == '-') {
        sgi_text_add(out, "−");
        sgi_text_escape(out, text + 1);
    } else {
        sgi_text_escape(out, json_is_null(cell) ? "–" : text);
    }
    sgi_text_format(out, "</%s>", tag);
}

static void html_notes(sgi_text *out, const json_t *table)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(table, "notes"), i, note)
    {
        const char *text = json_string_value(note);
        sgi_text_add(out, "<p>");
        sgi_text_escape(out, text ? text : "");
        sgi_text_add(out, "</p>\n");
    }
}

void sgi_table_html(sgi_text *out, const json_t *table)
{
    size_t i, c;
    json_t *row, *cell;
    const char *title = json_string_value(json_object_get(table, "title"));
    const char *head = json_string_value(json_object_get(table, "head"));
    sgi_text_add(out, "<h3>");
    sgi_text_escape(out, title ? title : "");
    sgi_text_add(out, "</h3>\n");
    if (head) {
        sgi_text_add(out, "<p class=\"soft\">");
        sgi_text_escape(out, head);
        sgi_text_add(out, "</p>\n");
    }
    sgi_text_add(out, "<div class=\"scroll\"><table>\n<thead><tr>");
    json_array_foreach(json_object_get(table, "columns"), c, cell)
        html_cell(out, table, c, "th", cell);
    sgi_text_add(out, "</tr></thead>\n<tbody>\n");
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        sgi_text_add(out, "<tr>");
        json_array_foreach(row, c, cell) html_cell(out, table, c, "td", cell);
        sgi_text_add(out, "</tr>\n");
    }
    sgi_text_add(out, "</tbody></table></div>\n");
    html_notes(out, table);
}
