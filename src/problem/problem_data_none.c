/* A build without zlib reads no measured data: see data.h. */
#include "problem/data.h"

sg_status sgi_problem_read_data(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "data");
    return section ? sgi_refuse(reader, section, NULL,
                                "this build reads no measured data: zlib was not there")
                   : SG_OK;
}
