/* Metrics as columns: see columns.h. A network with 170 layers makes a thousand columns. Lines of a
 * file repeat the same names in the same order, so the column after the last one is tried first; a
 * hash table of the names finds any other. */
#include "runs/columns.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "stablegrad/scale.h"

enum { NAME_MAX_LENGTH = 240, COLUMNS_MOST = 4096, SLOTS = 4 * COLUMNS_MOST, DEPTH_MOST = 8 };

void sgi_columns_begin(sgi_columns *columns, const sg_allocator *allocator)
{
    *columns = (sgi_columns){.allocator = sgi_allocator_or_heap(allocator)};
}

void sgi_columns_release(sgi_columns *columns)
{
    for (size_t c = 0; c < columns->count; c++) {
        sgi_release(&columns->allocator, columns->items[c].name);
        sgi_release(&columns->allocator, columns->items[c].values);
    }
    sgi_release(&columns->allocator, columns->items);
    sgi_release(&columns->allocator, columns->slots);
    columns->items = NULL;
    columns->slots = NULL;
    columns->count = columns->rows = 0;
}

static sg_status grow_rows(sgi_columns *columns)
{
    if (columns->rows < columns->row_capacity)
        return SG_OK;
    size_t capacity = columns->row_capacity ? 2 * columns->row_capacity : 256;
    for (size_t c = 0; c < columns->count; c++) {
        double *values = sgi_enlarge(&columns->allocator, columns->items[c].values, columns->rows,
                                     capacity, sizeof *values);
        if (!values)
            return SG_ERROR_MEMORY;
        columns->items[c].values = values;
    }
    columns->row_capacity = capacity;
    return SG_OK;
}

/* The slot that holds `name`, or the empty one where it belongs: FNV-1a, then the next free one. At
 * most a quarter of the slots is in use. */
static size_t slot_of(const sgi_columns *columns, const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    size_t slot = hash % SLOTS;
    while (columns->slots[slot] && strcmp(columns->items[columns->slots[slot] - 1].name, name) != 0)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* A new column, NaN in all rows so far and in the row being filled. */
static sg_status new_column(sgi_columns *columns, const char *name)
{
    if (!columns->slots)
        columns->slots = sgi_allocate(&columns->allocator, SLOTS, sizeof *columns->slots);
    if (!columns->slots)
        return SG_ERROR_MEMORY;
    if (sgi_grow_array(&columns->allocator, &columns->items, columns->count, &columns->capacity, 32,
                       sizeof *columns->items) != SG_OK)
        return SG_ERROR_MEMORY;
    sgi_column column = {sgi_copy_text(&columns->allocator, name),
                         sgi_allocate(&columns->allocator, columns->row_capacity, sizeof(double))};
    if (!column.name || !column.values) {
        sgi_release(&columns->allocator, column.name);
        sgi_release(&columns->allocator, column.values);
        return SG_ERROR_MEMORY;
    }
    for (size_t r = 0; r <= columns->rows; r++)
        column.values[r] = NAN;
    size_t slot = slot_of(columns, name);
    columns->items[columns->count++] = column;
    columns->slots[slot] = (uint16_t)columns->count;
    return SG_OK;
}

typedef struct flattener {
    sgi_columns *columns;
    size_t next; /* where the next column likely is */
    char name[NAME_MAX_LENGTH + 1];
} flattener;

/* The index of a column, or `count`. */
static size_t find(const sgi_columns *columns, const char *name)
{
    size_t number = columns->slots ? columns->slots[slot_of(columns, name)] : 0;
    return number ? number - 1 : columns->count;
}

static sg_status set_value(flattener *f, double value)
{
    sgi_columns *columns = f->columns;
    size_t at = f->next;
    if (at >= columns->count || strcmp(columns->items[at].name, f->name) != 0)
        at = find(columns, f->name);
    if (at == columns->count) {
        if (columns->count == COLUMNS_MOST)
            return SG_OK;
        sg_status status = new_column(columns, f->name);
        if (status != SG_OK)
            return status;
    }
    columns->items[at].values[columns->rows] = value;
    f->next = at + 1;
    return SG_OK;
}

/* The number of a word in a column that has words for values; NaN when there is none. */
static double code_of(const char *column, const char *text)
{
    if (strcmp(column, "handover") == 0)
        return strcmp(text, "rescaled") == 0 ? SG_HANDOVER_TO_RESCALED : SG_HANDOVER_TO_RAW;
    for (int i = 0; i < SG_OUTCOME_COUNT && strcmp(column, "outcome") == 0; i++)
        if (strcmp(text, sg_outcome_name((sg_outcome)i)) == 0)
            return i;
    return NAN;
}

static sg_status flatten(flattener *f, const json_t *value, size_t length, int depth);

/* Flattens a member under the name so far, a slash, and `key`. Names too long are left out. */
static sg_status flatten_member(flattener *f, const char *key, const json_t *value, size_t length,
                                int depth)
{
    size_t more = strlen(key), slash = length > 0;
    if (length + slash + more > NAME_MAX_LENGTH)
        return SG_OK;
    f->name[length] = '/';
    memcpy(f->name + length + slash, key, more + 1);
    return flatten(f, value, length + slash + more, depth + 1);
}

static sg_status flatten(flattener *f, const json_t *value, size_t length, int depth)
{
    sg_status status = SG_OK;
    if (depth > DEPTH_MOST)
        return SG_OK;
    if (json_is_number(value))
        return set_value(f, json_number_value(value));
    if (json_is_null(value))
        return set_value(f, INFINITY);
    if (json_is_string(value)) {
        double code = code_of(f->name, json_string_value(value));
        return isnan(code) ? SG_OK : set_value(f, code);
    }
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach((json_t *)value, key, member)
        {
            status = flatten_member(f, key, member, length, depth);
            if (status != SG_OK)
                return status;
        }
    }
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++) {
        json_t *member = json_array_get(value, i);
        const char *name = json_string_value(json_object_get(member, "name"));
        if (name)
            status = flatten_member(f, name, member, length, depth);
        if (status != SG_OK)
            return status;
    }
    return status;
}

sg_status sgi_columns_add(sgi_columns *columns, const json_t *object)
{
    const json_t *step = json_object_get(object, "step");
    if (!json_is_number(step))
        return SG_ERROR_FORMAT;
    double at = json_number_value(step);
    while (columns->rows && columns->items[0].values[columns->rows - 1] >= at)
        columns->rows--;
    sg_status status = grow_rows(columns);
    if (status != SG_OK)
        return status;
    for (size_t c = 0; c < columns->count; c++)
        columns->items[c].values[columns->rows] = NAN;
    flattener f = {.columns = columns, .name = "step"};
    status = set_value(&f, at); /* first, so that it is column 0 */
    if (status == SG_OK)
        status = flatten(&f, object, 0, 0);
    if (status == SG_OK)
        columns->rows++;
    return status;
}

const double *sgi_columns_find(const sgi_columns *columns, const char *name)
{
    size_t at = find(columns, name);
    return at < columns->count ? columns->items[at].values : NULL;
}

double sgi_columns_last(const sgi_columns *columns, const char *name)
{
    const double *values = sgi_columns_find(columns, name);
    return values && columns->rows ? values[columns->rows - 1] : NAN;
}
