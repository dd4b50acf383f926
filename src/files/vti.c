/* VTK image data: see vti.h. The XML header lists the arrays with their offsets; the values follow
 * as raw little-endian doubles, each array after its size in bytes. VTK wants x fastest, so values
 * are put in that order through a buffer. */
#include "files/vti.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "text/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the header says little-endian");

enum { IMAGE_RANK = 3, BUFFER = 1024 };

typedef struct image {
    size_t counts[IMAGE_RANK], strides[IMAGE_RANK]; /* 1 and 0 where there is no coordinate */
    double origin[IMAGE_RANK], spacing[IMAGE_RANK];
    size_t offset; /* of the coordinates that stay at their middle */
    size_t along;  /* the coordinate that is cut in slices; rank when there is none */
    size_t slices;
    size_t places[SG_VTI_SLICES]; /* indices along it */
    size_t along_stride;
} image;

static bool evenly_spaced(const double *axis, size_t count, double *spacing)
{
    *spacing = count > 1 ? (axis[count - 1] - axis[0]) / (double)(count - 1) : 1;
    if (!isfinite(*spacing) || !isfinite(axis[0]) || *spacing <= 0)
        return false;
    for (size_t i = 1; i < count; i++)
        if (!(fabs(axis[i] - axis[0] - (double)i * *spacing) <= 1e-6 * *spacing))
            return false;
    return true;
}

static void cut_slices(image *im, size_t count)
{
    im->slices = count < SG_VTI_SLICES ? count : SG_VTI_SLICES;
    for (size_t s = 0; s < im->slices; s++)
        im->places[s] =
            im->slices > 1 ? (s * (count - 1) + (im->slices - 1) / 2) / (im->slices - 1) : 0;
}

/* Gives each coordinate its part; false when an axis of the image is not evenly spaced, which *bad
 * then names. */
static bool arrange(image *im, const sgi_vti_grid *grid, const char **bad)
{
    *im = (image){.counts = {1, 1, 1}, .spacing = {1, 1, 1}, .slices = 1, .along = grid->rank};
    size_t stride[SG_VTI_RANK], next = 1, used = 0;
    for (size_t d = grid->rank; d-- > 0;) {
        stride[d] = next;
        next *= grid->shape[d];
    }
    if (grid->rank > IMAGE_RANK) {
        im->along = grid->rank - 1;
        for (size_t d = 0; d < grid->rank; d++)
            if (strcmp(grid->names[d], "t") == 0)
                im->along = d;
        im->along_stride = stride[im->along];
        cut_slices(im, grid->shape[im->along]);
    }
    for (size_t d = 0; d < grid->rank; d++) {
        if (d == im->along)
            continue;
        if (used == IMAGE_RANK) {
            im->offset += grid->shape[d] / 2 * stride[d];
            continue;
        }
        *bad = grid->names[d];
        if (!evenly_spaced(grid->axes[d], grid->shape[d], &im->spacing[used]))
            return false;
        im->counts[used] = grid->shape[d];
        im->strides[used] = stride[d];
        im->origin[used++] = grid->axes[d][0];
    }
    return true;
}

static void write_header(sgi_text *out, const sgi_vti_grid *grid, const image *im,
                         const sgi_vti_field *fields, size_t count)
{
    uint64_t bytes = im->counts[0] * im->counts[1] * im->counts[2] * sizeof(double), offset = 0;
    const size_t last[IMAGE_RANK] = {im->counts[0] - 1, im->counts[1] - 1, im->counts[2] - 1};
    sgi_text_format(out,
                    "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
                    "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<ImageData "
                    "WholeExtent=\"0 %zu 0 %zu 0 %zu\" Origin=\"%.17g %.17g %.17g\" "
                    "Spacing=\"%.17g %.17g %.17g\">\n<Piece Extent=\"0 %zu 0 %zu 0 %zu\">\n"
                    "<PointData>\n",
                    last[0], last[1], last[2], im->origin[0], im->origin[1], im->origin[2],
                    im->spacing[0], im->spacing[1], im->spacing[2], last[0], last[1], last[2]);
    for (size_t f = 0; f < count; f++)
        for (size_t s = 0; s < im->slices; s++) {
            sgi_text_add(out, "<DataArray type=\"Float64\" Name=\"");
            sgi_text_escape(out, fields[f].name);
            if (im->along < grid->rank) {
                sgi_text_add(out, " ");
                sgi_text_escape(out, grid->names[im->along]);
                sgi_text_format(out, "=%.6g", grid->axes[im->along][im->places[s]]);
            }
            sgi_text_format(out, "\" format=\"appended\" offset=\"%ju\"/>\n", (uintmax_t)offset);
            offset += bytes + sizeof(uint64_t);
        }
    sgi_text_add(out, "</PointData>\n</Piece>\n</ImageData>\n<AppendedData encoding=\"raw\">\n_");
}

static void write_values(sgi_file *file, const image *im, const double *values)
{
    uint64_t bytes = im->counts[0] * im->counts[1] * im->counts[2] * sizeof(double);
    sgi_file_put(file, &bytes, sizeof bytes);
    double buffer[BUFFER];
    size_t used = 0;
    for (size_t k = 0; k < im->counts[2]; k++)
        for (size_t j = 0; j < im->counts[1]; j++)
            for (size_t i = 0; i < im->counts[0]; i++) {
                buffer[used++] =
                    values[i * im->strides[0] + j * im->strides[1] + k * im->strides[2]];
                if (used == BUFFER) {
                    sgi_file_put(file, buffer, sizeof buffer);
                    used = 0;
                }
            }
    sgi_file_put(file, buffer, used * sizeof *buffer);
}

sg_status sgi_vti_write(const char *path, const sgi_vti_grid *grid, const sgi_vti_field *fields,
                        size_t count, const sg_allocator *given, sg_diagnostic *diagnostic)
{
    if (grid->rank == 0 || grid->rank > SG_VTI_RANK)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, path, "%zu coordinates", grid->rank);
    for (size_t d = 0; d < grid->rank; d++)
        if (grid->shape[d] == 0)
            return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, path, "axis %s is empty",
                                 grid->names[d]);
    image im;
    const char *bad = "";
    if (!arrange(&im, grid, &bad))
        return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, path,
                             "the points along %s are not evenly spaced", bad);
    sgi_text header;
    sgi_text_begin(&header, given);
    write_header(&header, grid, &im, fields, count);
    sgi_file *file = NULL;
    sg_status status = header.status;
    if (status != SG_OK)
        sgi_fail_file(diagnostic, status, path, "out of memory");
    else
        status = sgi_file_create(&file, path, given, diagnostic);
    if (status == SG_OK) {
        sgi_file_put(file, header.data, header.size);
        for (size_t f = 0; f < count; f++)
            for (size_t s = 0; s < im.slices; s++)
                write_values(file, &im,
                             fields[f].values + im.offset + im.places[s] * im.along_stride);
        static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
        sgi_file_put(file, end, sizeof end - 1);
        status = sgi_file_commit(file, diagnostic);
    }
    sgi_text_release(&header);
    return status;
}
