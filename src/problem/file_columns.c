/* Columns of files: see file_columns.h. */
#include "problem/file_columns.h"

#include <string.h>

/* Coordinates first, then fields; -1 for neither. */
static int place_of(const sgi_names *names, const char *name, sgi_nearest *nearest)
{
    for (int k = 0; k < names->coordinate_count + names->field_count; k++) {
        const char *own = k < names->coordinate_count ? names->coordinates[k]
                                                      : names->fields[k - names->coordinate_count];
        if (strcmp(own, name) == 0)
            return k;
        if (nearest)
            sgi_nearest_offer(nearest, own);
    }
    return -1;
}

static sg_status read_columns(const sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node,
                              sgi_file_columns *columns)
{
    const sgi_names *names = &problem->names;
    if (!node)
        return SG_OK;
    if (node->kind != SG_YAML_MAPPING)
        return sgi_refuse(reader, node, "as in  columns: {u: usol}",
                          "'columns' says which column or array of the file is which");
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        sgi_nearest nearest;
        sgi_nearest_begin(&nearest, key->text, key->length);
        int place = place_of(names, key->text, &nearest), field = place - names->coordinate_count;
        if (place < 0) {
            (void)sgi_refuse(reader, key, NULL, "'%.60s' is neither a coordinate nor a field",
                             key->text);
            sgi_nearest_suggest(&nearest, reader->diagnostic);
            return SG_ERROR_FORMAT;
        }
        if (key->next->kind != SG_YAML_SCALAR || key->next->length == 0)
            return sgi_refuse(reader, key->next, NULL,
                              "this must be the name of a column or an array, or its number");
        columns->names[place] = key->next->text;
        if (field >= 0)
            columns->given |= UINT64_C(1) << field;
        if (field >= 0 && sgi_yaml_is(key->next, "none"))
            columns->none |= UINT64_C(1) << field;
    }
    return SG_OK;
}

static sg_status read_order(const sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node,
                            sgi_file_columns *columns)
{
    const sgi_names *names = &problem->names;
    uint64_t seen = 0;
    if (!node)
        return SG_OK;
    for (const sgi_yaml *item = node->kind == SG_YAML_SEQUENCE ? node->first : NULL; item;
         item = item->next) {
        int k = item->kind == SG_YAML_SCALAR ? place_of(names, item->text, NULL) : -1;
        if (k < 0 || k >= names->coordinate_count || seen >> k & 1)
            return sgi_refuse(reader, item, NULL, "'order' has each coordinate once");
        seen |= UINT64_C(1) << k;
        columns->order[columns->order_count++] = (size_t)k;
    }
    if (columns->order_count == (size_t)names->coordinate_count)
        return SG_OK;
    return sgi_refuse(reader, node, "as in  order: [t, x]",
                      "'order' lists all coordinates as the dimensions of the arrays have them");
}

sg_status sgi_file_columns_read(const sgi_problem *problem, sgi_reader *reader,
                                const sgi_yaml *mapping, sgi_file_columns *columns)
{
    *columns = (sgi_file_columns){.given = 0};
    sg_status status = read_columns(problem, reader, sgi_yaml_get(mapping, "columns"), columns);
    return status == SG_OK ? read_order(problem, reader, sgi_yaml_get(mapping, "order"), columns)
                           : status;
}

void sgi_file_columns_coordinates(const sgi_problem *problem, const sgi_file_columns *columns,
                                  sgi_sample_columns *wanted)
{
    const sgi_names *names = &problem->names;
    wanted->coordinate_count = (size_t)names->coordinate_count;
    for (size_t k = 0; k < wanted->coordinate_count; k++) {
        wanted->names[k] = names->coordinates[k];
        wanted->coordinates[k] = columns->names[k] ? columns->names[k] : names->coordinates[k];
    }
    memcpy(wanted->order, columns->order, sizeof wanted->order);
    wanted->order_count = columns->order_count;
}

bool sgi_file_has(const sgi_arrays *arrays, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < arrays->count; i++) {
        const char *own = arrays->items[i].name;
        if (strncmp(own, name, length) == 0 && (!own[length] || !strncmp(own + length, " @ ", 3)))
            return true;
    }
    return false;
}
