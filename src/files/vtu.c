/* VTK unstructured grids: see vtu.h. As in vti.c the XML header lists the arrays with their
 * offsets, and the values follow raw, each array after its size in bytes. */
#include "files/vtu.h"

#include <stdio.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "text/text.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the header says little-endian");

enum { PIECE = 1024 };

static void describe(sgi_text *out, const char *type, const char *name, int components,
                     uint64_t bytes, uint64_t *offset)
{
    sgi_text_format(out, "<DataArray type=\"%s\" Name=\"", type);
    sgi_text_escape(out, name);
    sgi_text_format(out, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%ju\"/>\n",
                    components, (uintmax_t)*offset);
    *offset += bytes + sizeof bytes;
}

static void write_header(sgi_text *out, const sgi_vtu_mesh *mesh, const sgi_vti_field *fields,
                         size_t count)
{
    uint64_t offset = 0, points = mesh->point_count, cells = mesh->cell_count;
    sgi_text_format(out,
                    "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                    "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                    "<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n<PointData>\n",
                    mesh->point_count, mesh->cell_count);
    for (size_t f = 0; f < count; f++)
        describe(out, "Float64", fields[f].name, 1, points * sizeof(double), &offset);
    sgi_text_add(out, "</PointData>\n<Points>\n");
    describe(out, "Float64", "points", 3, 3 * points * sizeof(double), &offset);
    sgi_text_add(out, "</Points>\n<Cells>\n");
    describe(out, "Int32", "connectivity", 1, cells * (uint64_t)(mesh->axes + 1) * sizeof(uint32_t),
             &offset);
    describe(out, "Int32", "offsets", 1, cells * sizeof(int32_t), &offset);
    describe(out, "UInt8", "types", 1, cells, &offset);
    sgi_text_add(out, "</Cells>\n</Piece>\n</UnstructuredGrid>\n"
                      "<AppendedData encoding=\"raw\">\n_");
}

static void put_array(sgi_file *file, const void *data, uint64_t bytes)
{
    sgi_file_put(file, &bytes, sizeof bytes);
    sgi_file_put(file, data, bytes);
}

/* Three coordinates a point; those that there are none of are 0. */
static void put_points(sgi_file *file, const sgi_vtu_mesh *mesh)
{
    double piece[PIECE][3];
    uint64_t bytes = mesh->point_count * sizeof piece[0];
    sgi_file_put(file, &bytes, sizeof bytes);
    for (size_t first = 0; first < mesh->point_count; first += PIECE) {
        size_t left = mesh->point_count - first, count = left < PIECE ? left : PIECE;
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < 3; k++)
                piece[i][k] =
                    k < mesh->axes ? mesh->points[(first + i) * (size_t)mesh->axes + (size_t)k] : 0;
        sgi_file_put(file, piece, count * sizeof piece[0]);
    }
}

static void put_cells(sgi_file *file, const sgi_vtu_mesh *mesh)
{
    static const unsigned char types[] = {0, 3, 5, 10}; /* VTK's line, triangle, tetrahedron */
    size_t corners = (size_t)mesh->axes + 1;
    uint64_t bytes = mesh->cell_count * sizeof(int32_t);
    put_array(file, mesh->cells, mesh->cell_count * corners * sizeof *mesh->cells);
    sgi_file_put(file, &bytes, sizeof bytes);
    for (size_t i = 0; i < mesh->cell_count; i++) {
        int32_t end = (int32_t)((i + 1) * corners);
        sgi_file_put(file, &end, sizeof end);
    }
    bytes = mesh->cell_count;
    sgi_file_put(file, &bytes, sizeof bytes);
    for (size_t i = 0; i < mesh->cell_count; i++)
        sgi_file_put(file, &types[mesh->axes], 1);
}

sg_status sgi_vtu_write(const char *path, const sgi_vtu_mesh *mesh, const sgi_vti_field *fields,
                        size_t count, const sg_allocator *given, sg_diagnostic *diagnostic)
{
    if (mesh->axes < 1 || mesh->axes > 3)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, path, "%d coordinates", mesh->axes);
    if (mesh->cell_count > INT32_MAX / 4 || mesh->point_count > INT32_MAX)
        return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, path,
                             "the mesh has too many cells; take a coarser grid");
    sgi_text header;
    sgi_text_begin(&header, given);
    write_header(&header, mesh, fields, count);
    sgi_file *file = NULL;
    sg_status status = header.status;
    if (status != SG_OK)
        sgi_fail_file(diagnostic, status, path, "out of memory");
    else
        status = sgi_file_create(&file, path, given, diagnostic);
    if (status == SG_OK) {
        sgi_file_put(file, header.data, header.size);
        for (size_t f = 0; f < count; f++)
            put_array(file, fields[f].values, mesh->point_count * sizeof(double));
        put_points(file, mesh);
        put_cells(file, mesh);
        static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
        sgi_file_put(file, end, sizeof end - 1);
        status = sgi_file_commit(file, diagnostic);
    }
    sgi_text_release(&header);
    return status;
}
