/* Tables on the terminal: columns as wide as their cells, with headings broken into lines. */
#include <stdlib.h>
#include <string.h>

#include "commands/reproduction.h"
#include "printable.h"

enum { MOST_COLUMNS = 16, CELL = 256, LEAST_HEADING = 10 };

/* Characters, not bytes: some names have Greek letters. */
static int width_of_bytes(const char *text, size_t size)
{
    int width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static int width_of(const char *text)
{
    return width_of_bytes(text, strlen(text));
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
    const char *begin = *text, *end = begin;
    for (const char *at = begin; *at;) {
        const char *word = at + strcspn(at, " ");
        if (end > begin && width_of_bytes(begin, (size_t)(word - begin)) > width)
            break;
        end = word;
        at = word + strspn(word, " ");
        *text = at;
    }
    size_t size = (size_t)(end - begin) < CELL ? (size_t)(end - begin) : CELL - 1;
    memcpy(line, begin, size);
    line[size] = '\0';
}

/* Of the longest word of a text. */
static int widest_word(const char *text)
{
    int widest = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " ");
        int width = width_of_bytes(at, length);
        widest = width > widest ? width : widest;
        at += length;
        at += strspn(at, " ");
    }
    return widest;
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
        heading = heading ? heading : "";
        int width = width_of(heading) < LEAST_HEADING ? width_of(heading) : LEAST_HEADING;
        width = widest_word(heading) > width ? widest_word(heading) : width;
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
