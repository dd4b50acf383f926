/* Tables of numbers as text: see csv.h. Reading goes over the text once, cell by cell; the first
 * line that is neither empty nor a comment decides the separator, the number of columns, and, by
 * having a cell that is not a number, whether it is a line of names. */
#include "files/csv.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"

enum { CELL_MAX = 128, PIECE = 4096, NUMBER_MAX = 32 };

/* --- writing --- */

static sg_status emit_name(sgi_csv_sink sink, void *context, const char *name)
{
    if (!strpbrk(name, ",;\"\n\r#") && name[0])
        return sink(context, name, strlen(name));
    sg_status status = sink(context, "\"", 1);
    for (const char *at = name; *at && status == SG_OK; at++)
        status = *at == '"' ? sink(context, "\"\"", 2) : sink(context, at, 1);
    return status == SG_OK ? sink(context, "\"", 1) : status;
}

sg_status sgi_csv_emit(sgi_csv_sink sink, void *context, size_t columns, const char *const *names,
                       const double *const *values, size_t rows)
{
    sg_status status = SG_OK;
    for (size_t c = 0; c < columns && status == SG_OK; c++) {
        status = emit_name(sink, context, names[c]);
        if (status == SG_OK)
            status = sink(context, c + 1 < columns ? "," : "\n", 1);
    }
    char piece[PIECE];
    size_t used = 0;
    for (size_t r = 0; r < rows && status == SG_OK; r++)
        for (size_t c = 0; c < columns && status == SG_OK; c++) {
            used += (size_t)snprintf(piece + used, NUMBER_MAX, "%.17g%c", values[c][r],
                                     c + 1 < columns ? ',' : '\n');
            if (used > PIECE - NUMBER_MAX) {
                status = sink(context, piece, used);
                used = 0;
            }
        }
    return status == SG_OK && used ? sink(context, piece, used) : status;
}

static sg_status put_to_file(void *file, const char *text, size_t size)
{
    sgi_file_put(file, text, size);
    return SG_OK;
}

sg_status sgi_csv_write(const char *path, size_t columns, const char *const *names,
                        const double *const *values, size_t rows, const sg_allocator *allocator,
                        sg_diagnostic *diagnostic)
{
    sgi_file *file;
    sg_status status = sgi_file_create(&file, path, allocator, diagnostic);
    if (status != SG_OK)
        return status;
    status = sgi_csv_emit(put_to_file, file, columns, names, values, rows);
    if (status != SG_OK) {
        sgi_file_abandon(file);
        return status;
    }
    return sgi_file_commit(file, diagnostic);
}

/* --- reading --- */

typedef struct scanner {
    const char *at, *end;
    size_t line;
    char separator;   /* ',', ';' or ' ' for any white space */
    bool holes;       /* cells may be empty, or NA: NaN */
    bool hole;        /* the line has ended behind a separator */
    const char *head; /* the last comment with %, behind that sign; NULL: none */
    const char *path;
    sg_diagnostic *diagnostic;
} scanner;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && is_blank(*s->at))
        s->at++;
}

static bool at_line_end(const scanner *s)
{
    return s->at == s->end || *s->at == '\n';
}

/* To the first cell of the next line that has one; false at the end of the text. */
static bool next_line(scanner *s)
{
    for (;;) {
        skip_blanks(s);
        if (s->at == s->end)
            return false;
        if (*s->at != '\n' && *s->at != '#' && *s->at != '%')
            return true;
        if (*s->at == '%')
            s->head = s->at + 1;
        while (!at_line_end(s))
            s->at++;
        if (s->at < s->end) {
            s->at++;
            s->line++;
        }
    }
}

static bool ends_cell(const scanner *s, char c)
{
    return c == '\n' || (s->separator == ' ' ? is_blank(c) : c == s->separator);
}

static sg_status bad(const scanner *s, const char *what, const char *cell)
{
    (void)sgi_fail_file(s->diagnostic, SG_ERROR_FORMAT, s->path, "%s%s%s%s", what, cell ? " '" : "",
                        cell ? cell : "", cell ? "'" : "");
    if (s->diagnostic)
        s->diagnostic->line = s->line < INT_MAX ? (int)s->line : INT_MAX;
    return SG_ERROR_FORMAT;
}

/* The next cell, trimmed and unquoted, and the separator after it. */
static sg_status take_cell(scanner *s, char cell[CELL_MAX])
{
    size_t length = 0;
    skip_blanks(s);
    bool quoted = s->at < s->end && *s->at == '"';
    if (quoted)
        s->at++;
    for (;; s->at++) {
        if (s->at == s->end || (quoted ? *s->at == '\n' : ends_cell(s, *s->at))) {
            if (quoted)
                return bad(s, "a quote is not closed", NULL);
            break;
        }
        if (quoted && *s->at == '"') {
            if (s->end - s->at < 2 || s->at[1] != '"')
                break;
            s->at++;
        }
        if (*s->at == 0)
            return bad(s, "a zero byte: this is not text", NULL);
        if (length + 1 == CELL_MAX)
            return bad(s, "a cell is longer than 127 characters", NULL);
        cell[length++] = *s->at;
    }
    s->at += quoted;
    while (!quoted && length && is_blank(cell[length - 1]))
        length--;
    cell[length] = 0;
    skip_blanks(s);
    if (!at_line_end(s) && s->separator != ' ') {
        if (*s->at != s->separator)
            return bad(s, "text after a quoted cell", NULL);
        s->at++;
        skip_blanks(s);
        s->hole = at_line_end(s);
        if (s->hole && !s->holes)
            return bad(s, "the line ends with a separator", NULL);
    }
    return SG_OK;
}

static bool to_number(const char *cell, double *value)
{
    char *end;
    *value = strtod(cell, &end);
    return cell[0] && *end == 0;
}

/* Semicolons before commas: where both occur, the comma is likely a decimal one, and is reported.
 */
static char find_separator(const scanner *s)
{
    bool comma = false, quoted = false;
    for (const char *at = s->at; at < s->end && *at != '\n'; at++) {
        quoted ^= *at == '"';
        if (*at == ';' && !quoted)
            return ';';
        comma |= *at == ',' && !quoted;
    }
    return comma ? ',' : ' ';
}

/* Looks over the first line: the number of columns, and whether all its cells are numbers. */
static sg_status measure_first(scanner look, size_t *columns, bool *numbers)
{
    *columns = 0;
    *numbers = true;
    while (!at_line_end(&look)) {
        char cell[CELL_MAX] = "";
        double value;
        sg_status status = take_cell(&look, cell);
        if (status != SG_OK)
            return status;
        *numbers &= to_number(cell, &value);
        ++*columns;
    }
    return SG_OK;
}

static size_t count_lines(const char *at, const char *end)
{
    size_t lines = 1;
    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

static sg_status read_names(scanner *s, sgi_csv *out)
{
    out->names = sgi_allocate(&out->allocator, out->columns, sizeof *out->names);
    if (!out->names)
        return SG_ERROR_MEMORY;
    for (size_t c = 0; c < out->columns; c++) {
        char cell[CELL_MAX] = "";
        sg_status status = take_cell(s, cell);
        if (status != SG_OK)
            return status;
        out->names[c] = sgi_copy_text(&out->allocator, cell);
        if (!out->names[c])
            return SG_ERROR_MEMORY;
    }
    return SG_OK;
}

/* ---- The head of a COMSOL export: the last comment names the columns, as in
 * "% x    y    u (K) @ t=0    u (K) @ t=0.5", apart by two blanks or more, or by commas ---- */

/* The next name without its unit; false at the end of the line. */
static bool take_head(const char **at, const char *end, char name[CELL_MAX])
{
    size_t length = 0;
    int depth = 0;
    while (*at < end && (is_blank(**at) || **at == ','))
        ++*at;
    for (; *at < end && **at != '\n' && **at != ','; ++*at) {
        bool blank = is_blank(**at);
        if (blank && (end - *at < 2 || is_blank((*at)[1]) || (*at)[1] == '\n'))
            break;
        depth += (**at == '(') - (**at == ')');
        bool unit = depth > 0 || **at == ')';
        if (!unit && length + 1 < CELL_MAX && !(blank && length && is_blank(name[length - 1])))
            name[length++] = **at;
    }
    while (length && is_blank(name[length - 1]))
        length--;
    name[length] = 0;
    return length > 0;
}

static sg_status read_head(const scanner *s, sgi_csv *out)
{
    const char *at = s->head;
    char name[CELL_MAX];
    size_t count = 0;
    while (take_head(&at, s->end, name))
        count++;
    if (count != out->columns)
        return SG_OK; /* a remark */
    out->names = sgi_allocate(&out->allocator, out->columns, sizeof *out->names);
    if (!out->names)
        return SG_ERROR_MEMORY;
    at = s->head;
    for (size_t c = 0; c < out->columns && take_head(&at, s->end, name); c++) {
        out->names[c] = sgi_copy_text(&out->allocator, name);
        if (!out->names[c])
            return SG_ERROR_MEMORY;
    }
    return SG_OK;
}

static sg_status read_row(scanner *s, sgi_csv *out)
{
    double *row = out->values + out->rows * out->columns;
    for (size_t c = 0; c < out->columns; c++) {
        char cell[CELL_MAX] = "";
        if (at_line_end(s) && !s->hole)
            return bad(s, "fewer cells than in the first line", NULL);
        s->hole = false;
        sg_status status = take_cell(s, cell);
        if (status != SG_OK)
            return status;
        if (s->holes && (!cell[0] || strcmp(cell, "NA") == 0))
            row[c] = NAN;
        else if (!to_number(cell, &row[c]))
            return bad(s,
                       s->separator == ';' && strchr(cell, ',')
                           ? "numbers need a decimal point, not a comma:"
                           : "not a number:",
                       cell);
    }
    if (!at_line_end(s) || s->hole)
        return bad(s, "more cells than in the first line", NULL);
    out->rows++;
    return SG_OK;
}

static sg_status parse(scanner *s, bool holes, sgi_csv *out)
{
    if (!next_line(s))
        return bad(s, "the file has no numbers", NULL);
    s->separator = find_separator(s);
    bool numbers;
    sg_status status = measure_first(*s, &out->columns, &numbers);
    if (status == SG_OK && !numbers)
        status = read_names(s, out);
    else if (status == SG_OK && s->head)
        status = read_head(s, out);
    if (status != SG_OK)
        return status;
    /* A cell takes two bytes of text at least, its own and one after it, a hole one: a wide first
     * line and many short ones cannot ask for more memory than that. */
    s->holes = holes;
    size_t cells = (size_t)(s->end - s->at) / (holes ? 1 : 2) + 1, capacity;
    if (__builtin_mul_overflow(count_lines(s->at, s->end), out->columns, &capacity) ||
        capacity > cells)
        capacity = cells;
    out->values = sgi_allocate(&out->allocator, capacity, sizeof(double));
    if (!out->values)
        return SG_ERROR_MEMORY;
    while (status == SG_OK && next_line(s))
        status = read_row(s, out);
    return status;
}

static sg_status parse_text(const char *text, size_t size, bool holes, const char *path,
                            const sg_allocator *allocator, sgi_csv *out, sg_diagnostic *diagnostic)
{
    *out = (sgi_csv){.allocator = sgi_allocator_or_heap(allocator)};
    scanner s = {text, text + size, 1, ',', false, false, NULL, path, diagnostic};
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        s.at += 3;
    sg_status status = parse(&s, holes, out);
    if (status == SG_ERROR_MEMORY)
        sgi_fail_file(diagnostic, status, path, "out of memory");
    if (status != SG_OK)
        sgi_csv_release(out);
    return status;
}

sg_status sgi_csv_parse(const char *text, size_t size, const char *path,
                        const sg_allocator *allocator, sgi_csv *out, sg_diagnostic *diagnostic)
{
    return parse_text(text, size, false, path, allocator, out, diagnostic);
}

sg_status sgi_csv_parse_holes(const char *text, size_t size, const char *path,
                              const sg_allocator *allocator, sgi_csv *out,
                              sg_diagnostic *diagnostic)
{
    return parse_text(text, size, true, path, allocator, out, diagnostic);
}

sg_status sgi_csv_read(const char *path, size_t limit, const sg_allocator *given, sgi_csv *out,
                       sg_diagnostic *diagnostic)
{
    *out = (sgi_csv){.allocator = sgi_allocator_or_heap(given)};
    char *text;
    size_t size;
    sg_status status = sgi_file_read(path, limit, given, &text, &size, diagnostic);
    if (status == SG_OK)
        status = sgi_csv_parse(text, size, path, given, out, diagnostic);
    sgi_release(&out->allocator, text);
    return status;
}

void sgi_csv_release(sgi_csv *csv)
{
    for (size_t c = 0; csv->names && c < csv->columns; c++)
        sgi_release(&csv->allocator, csv->names[c]);
    sgi_release(&csv->allocator, csv->names);
    sgi_release(&csv->allocator, csv->values);
    csv->names = NULL;
    csv->values = NULL;
    csv->rows = csv->columns = 0;
}
