/* Windows: a long evolution as a sequence in time. See problem.h.
 *
 * A window is the same problem on a part of the range of t. Its start is what the window before it
 * has at its end: the conditions at the first time give fields, or their derivatives by t, and in
 * later windows these come from the earlier network instead of the file (SG_INPUT_EARLIER). */
#include <math.h>
#include <string.h>

#include "problem/problem.h"

static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *message,
                        const char *advice)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s", message);
    if (advice)
        sgi_diagnostic_suggest(reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

static const sgi_yaml *section_of(const sgi_problem *problem)
{
    return sgi_yaml_get(problem->root, "windows");
}

/* ---- The times ---------------------------------------------------------------------------- */

static sg_status check_ends(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_window_ends *ends = &problem->windows;
    const sgi_yaml *node = section_of(problem);
    double before = problem->first_time;
    for (int k = 0; k < ends->count && ends->listed; k++) {
        if (!(ends->values[k] > before) || ends->values[k] > problem->last_time)
            return refuse(reader, node, "the ends of windows ascend within the range of t", NULL);
        before = ends->values[k];
    }
    if (ends->listed && before != problem->last_time)
        return refuse(reader, node, "the last window must end where the range of t does", NULL);
    return SG_OK;
}

double sgi_problem_window_end(const sgi_problem *problem, int window)
{
    const sgi_window_ends *ends = &problem->windows;
    if (window < 0)
        return problem->first_time;
    if (window + 1 >= ends->count)
        return problem->last_time;
    if (ends->listed)
        return ends->values[window];
    return problem->first_time +
           (problem->last_time - problem->first_time) * (window + 1) / ends->count;
}

sg_status sgi_problem_read_windows(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = section_of(problem);
    const sgi_yaml *node =
        section && section->kind == SG_YAML_MAPPING ? sgi_yaml_get(section, "ends") : NULL;
    int t = problem->names.time;
    if (!node)
        return section ? refuse(reader, section, "'windows' says how many there are, or their ends",
                                "as in  windows: 5  or  windows: [0.2, 0.5, 1]")
                       : SG_OK;
    sg_status status = sgi_option_read(reader, sgi_option_find(reader->table, "windows.ends"), node,
                                       &problem->settings);
    problem->windows = problem->settings.windows;
    if (status != SG_OK || problem->windows.count == 0)
        return status;
    if (t < 0)
        return refuse(reader, section, "windows are parts of the range of t, and there is no t",
                      "the coordinate of time is called t");
    problem->first_time = problem->lower[t];
    problem->last_time = problem->upper[t];
    status = check_ends(problem, reader);
    if (status == SG_OK && problem->window >= 0) {
        problem->lower[t] = sgi_problem_window_end(problem, problem->window - 1);
        problem->upper[t] = sgi_problem_window_end(problem, problem->window);
    }
    return status;
}

/* ---- What does not go together ------------------------------------------------------------ */

bool sgi_problem_is_start(const sgi_problem *problem, const sgi_point_set *set)
{
    int t = problem->names.time;
    for (int i = 0; i < set->face_count; i++) {
        const sgi_face *face = &set->faces[i];
        if (face->region || face->interior || face->coordinate != t ||
            face->value != problem->lower[t])
            return false;
    }
    return set->kind == SG_SET_FACES && set->face_count > 0;
}

/* Whether a face lies at one time. */
static bool at_a_time(const sgi_problem *problem, const sgi_face *face)
{
    int t = problem->names.time;
    return (!face->region && !face->interior && face->coordinate == t) ||
           (face->filter && face->filter->fixed >> t & 1);
}

/* Conditions hold at the first time, or at all times. */
static sg_status check_conditions(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "conditions");
    bool started = false;
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        const sgi_yaml *node = section ? sgi_yaml_get(section, set->name) : NULL;
        bool start = sgi_problem_is_start(problem, set);
        started = started || start;
        if (start && set->integral)
            return refuse(reader, node, "windows cannot go on from an integral at the start", NULL);
        for (int i = 0; i < set->face_count && !start; i++)
            if (at_a_time(problem, &set->faces[i]) ||
                (set->kind == SG_SET_PAIRS && set->faces[i].coordinate == problem->names.time))
                return refuse(reader, node,
                              "with windows, conditions hold at the first time or at all times",
                              "a condition of its own for the start, as  at: t = 0");
    }
    return started ? SG_OK
                   : refuse(reader, section ? section : problem->root,
                            "windows need a condition at the first time, which each of them goes "
                            "on from",
                            "as in  start: {at: t = 0, u: sin(pi*x)}");
}

sg_status sgi_problem_check_windows(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_settings *settings = &problem->settings;
    const sgi_yaml *section = section_of(problem);
    if (problem->windows.count == 0)
        return SG_OK;
    if (settings->inputs.periodic[problem->names.time])
        return refuse(reader, section, "windows go on in time, and 'inputs.periodic' repeats t",
                      "leave t out of it");
    if (settings->diagnose.every > 0 || settings->training.until == SG_STEP_MARGIN)
        return refuse(reader, section, "kernels are not measured in windows",
                      "leave out 'diagnose' and 'until: margin'");
    if (problem->unknown_count > 0)
        return refuse(reader, section,
                      "each window would have unknown constants of its own, so windows take none",
                      NULL);
    if (sgi_yaml_get(problem->root, "scales"))
        return refuse(reader, section, "'scales' and 'windows' do not go together", NULL);
    if (problem->data_count > 0)
        return refuse(reader, section, "windows take no measured data", NULL);
    return check_conditions(problem, reader);
}

/* ---- One window --------------------------------------------------------------------------- */

sg_status sgi_problem_window(sgi_problem **out, const sgi_problem *whole, int window,
                             const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    char *text;
    *out = NULL;
    sg_status status = sgi_problem_write(whole, &text);
    if (status == SG_OK)
        status = sgi_problem_read_as(out, whole->sources[0].name, text, strlen(text), NULL, 0,
                                     window, allocator, diagnostic);
    sgi_release(&whole->allocator, text);
    return status;
}

sg_status sgi_problem_try_windows(const sgi_problem *problem, sg_diagnostic *diagnostic)
{
    sg_status status = SG_OK;
    for (int k = 0; k < problem->windows.count && status == SG_OK; k++) {
        sgi_problem *window;
        status = sgi_problem_window(&window, problem, k, &problem->allocator, diagnostic);
        sgi_problem_destroy(window);
    }
    return status;
}
