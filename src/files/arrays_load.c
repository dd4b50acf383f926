/* Arrays from a file of any format that is read: see arrays.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "files/csv.h"
#include "files/file.h"
#include "files/mat.h"
#include "files/npz.h"

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcasecmp(path + length - tail, end) == 0;
}

static sg_status take_column(const sgi_csv *csv, size_t c, sgi_arrays *out)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", c + 1);
    sgi_array *array = &out->items[out->count++];
    array->rank = 1;
    array->shape[0] = array->count = csv->rows;
    array->name = sgi_copy_text(&out->allocator, csv->names ? csv->names[c] : number);
    array->values = sgi_allocate(&out->allocator, csv->rows, sizeof(double));
    if (!array->name || !array->values)
        return SG_ERROR_MEMORY;
    for (size_t r = 0; r < csv->rows; r++)
        array->values[r] = csv->values[r * csv->columns + c];
    return SG_OK;
}

static sg_status take_columns(const sgi_csv *csv, const char *path, sgi_arrays *out,
                              sg_diagnostic *diagnostic)
{
    sgi_array_reader reader = {.out = out, .path = path, .diagnostic = diagnostic};
    out->items = sgi_allocate(&out->allocator, csv->columns, sizeof *out->items);
    sg_status status = out->items ? SG_OK : SG_ERROR_MEMORY;
    for (size_t c = 0; c < csv->columns && status == SG_OK; c++)
        status = take_column(csv, c, out);
    if (status == SG_OK)
        return SG_OK;
    sgi_arrays_release(out);
    return sgi_array_no_memory(&reader);
}

sg_status sgi_arrays_parse(const void *data, size_t size, const char *path, size_t limit,
                           const sg_allocator *allocator, sgi_arrays *out, bool *named,
                           sg_diagnostic *diagnostic)
{
    *out = (sgi_arrays){.allocator = sgi_allocator_or_heap(allocator)};
    *named = true;
    if (ends_with(path, ".npz") || ends_with(path, ".npy"))
        return sgi_npz_parse(data, size, path, limit, allocator, out, diagnostic);
    if (ends_with(path, ".mat"))
        return sgi_mat_parse(data, size, path, limit, allocator, out, diagnostic);
    sgi_csv csv;
    sg_status status = sgi_csv_parse_holes(data, size, path, allocator, &csv, diagnostic);
    if (status == SG_OK) {
        *named = csv.names != NULL;
        status = take_columns(&csv, path, out, diagnostic);
    }
    sgi_csv_release(&csv);
    return status;
}

sg_status sgi_arrays_load(const char *path, size_t limit, const sg_allocator *given,
                          sgi_arrays *out, bool *named, sg_diagnostic *diagnostic)
{
    *out = (sgi_arrays){.allocator = sgi_allocator_or_heap(given)};
    char *data;
    size_t size;
    sg_status status = sgi_file_read(path, limit, given, &data, &size, diagnostic);
    if (status == SG_OK)
        status = sgi_arrays_parse(data, size, path, limit, given, out, named, diagnostic);
    sgi_release(&out->allocator, data);
    return status;
}
