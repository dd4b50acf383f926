/* A build without zlib reads no reference solutions from files: see solution_files.h. */
#include "problem/solution_files.h"

sg_status sgi_solution_read_files(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node)
{
    (void)problem;
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "this build reads no reference from a file: zlib was not there");
    return SG_ERROR_FORMAT;
}

void sgi_solution_release_files(sgi_problem *problem)
{
    (void)problem;
}

sg_status sgi_solution_between(const sgi_problem *problem, const double *const *own,
                               const double *const *coordinates, size_t count,
                               double *const *fields, sg_pool *pool)
{
    (void)problem;
    (void)own;
    (void)coordinates;
    (void)count;
    (void)fields;
    (void)pool;
    return SG_ERROR_UNSUPPORTED;
}

size_t sgi_solution_points(const sgi_problem *problem)
{
    (void)problem;
    return 0;
}

void sgi_solution_own(const sgi_problem *problem, double *points, double *const *fields)
{
    (void)problem;
    (void)points;
    (void)fields;
}

const char *sgi_solution_file_text(const sgi_solution_file *file, char *text, size_t size)
{
    (void)file;
    (void)size;
    text[0] = 0;
    return text;
}
