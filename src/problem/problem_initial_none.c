/* The weights that training starts from, in a build that cannot read them. */
#include "problem/problem.h"

sg_status sgi_problem_read_initial(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "initial");
    if (!section)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, section, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "this build reads no weights: it was made without jansson");
    return SG_ERROR_FORMAT;
}
