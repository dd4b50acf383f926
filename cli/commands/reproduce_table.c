/* Tables on the terminal: columns as wide as their cells, with headings broken into lines. */
#include <stdlib.h>
#include <string.h>

#include "commands/reproduction.h"
#include "printable.h"

enum { MOST_COLUMNS = 16, CELL = 256, LEAST_HEADING = 10, WIDEST_CELL = 40 };

/* Characters, not bytes: some names have Greek letters. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void cell_text(const json_t *cell, char text[CELL])
{
    char raw[CELL];
    sgi_cell_text(cell, raw, sizeof raw);
    printable(raw, text, CELL);
}

/* The first column and texts stand on the left, numbers on the right. */
static void put(const char *text, int width, bool left, bool last)
{
    int gap = width - width_of(text);
    if (!left)
        printf("%*s", gap > 0 ? gap : 0, "");
    fputs(text, stdout);
    if (left && !last)
        printf("%*s", gap > 0 ? gap : 0, "");
    fputs(last ? "\n" : "  ", stdout);
}

/* Takes the next line of at most `width` characters from *text, at least one word of it. */
static void take_line(const char **text, int width, char line[CELL])
{
    size_t used = 0;
    line[0] = '\0';
    while (**text) {
        size_t word = strcspn(*text, " ");
        char tried[CELL];
        size_t end = used;
        memcpy(tried, line, used);
        if (used && end + 1 < CELL)
            tried[end++] = ' ';
        size_t taken = word < CELL - 1 - end ? word : CELL - 1 - end;
        memcpy(tried + end, *text, taken);
        tried[end + taken] = '\0';
        if (used && width_of(tried) > width)
            return;
        memcpy(line, tried, sizeof tried);
        used = strlen(line);
        *text += word;
        *text += strspn(*text, " ");
    }
}

typedef struct layout {
    size_t count;
    int widths[MOST_COLUMNS];
    bool left[MOST_COLUMNS];
} layout;

static void measure(const json_t *table, layout *l)
{
    size_t i, c;
    json_t *row, *cell;
    char text[CELL];
    l->count = json_array_size(json_object_get(table, "columns"));
    l->count = l->count < MOST_COLUMNS ? l->count : MOST_COLUMNS;
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        json_array_foreach(row, c, cell)
        {
            if (c >= l->count)
                break;
            cell_text(cell, text);
            int width = width_of(text);
            l->widths[c] = width > l->widths[c] ? width : l->widths[c];
        }
    }
    json_array_foreach(json_object_get(table, "columns"), c, cell)
    {
        if (c >= l->count)
            break;
        const char *heading = json_string_value(cell);
        int width = heading ? width_of(heading) : 0;
        width = width < LEAST_HEADING ? width : LEAST_HEADING;
        for (const char *at = heading; at && *at; at += strspn(at, " ")) {
            char word[CELL];
            size_t length = strcspn(at, " ");
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            width = width_of(word) > width ? width_of(word) : width;
            at += length;
        }
        l->widths[c] = width > l->widths[c] ? width : l->widths[c];
        l->left[c] = sgi_column_is_text(table, c);
    }
}

static void print_headings(const json_t *table, const layout *l)
{
    const char *rest[MOST_COLUMNS];
    bool more = true;
    for (size_t c = 0; c < l->count; c++)
        rest[c] = json_string_value(json_array_get(json_object_get(table, "columns"), c));
    while (more) {
        more = false;
        for (size_t c = 0; c < l->count; c++) {
            char line[CELL] = "";
            if (rest[c])
                take_line(&rest[c], l->widths[c], line);
            put(line, l->widths[c], l->left[c], c + 1 == l->count);
            more = more || (rest[c] && *rest[c]);
        }
    }
}

void print_table(const json_t *table)
{
    size_t i, c;
    json_t *row, *cell;
    char text[CELL];
    layout l = {0};
    const char *title = json_string_value(json_object_get(table, "title"));
    measure(table, &l);
    printf("\n%s\n", title ? title : "");
    if (json_object_get(table, "head")) {
        sgi_cell_text(json_object_get(table, "head"), text, sizeof text);
        put_message(text, stdout);
    }
    fputs("\n\n", stdout);
    print_headings(table, &l);
    json_array_foreach(json_object_get(table, "rows"), i, row)
    {
        json_array_foreach(row, c, cell)
        {
            if (c >= l.count)
                break;
            cell_text(cell, text);
            put(text, l.widths[c], l.left[c], c + 1 == l.count);
        }
    }
    json_array_foreach(json_object_get(table, "notes"), i, cell)
    {
        sgi_cell_text(cell, text, sizeof text);
        put_message(text, stdout);
        putchar('\n');
    }
}
