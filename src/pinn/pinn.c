/* A problem with its network: see stablegrad/pinn.h. */
#include "pinn/pinn.h"

#include <math.h>
#include <string.h>

#include "base/diagnostic.h"

/* ---- What the problem is ----------------------------------------------------------------------
 */

static sg_status describe_names(sg_pinn *p)
{
    const sgi_names *names = &p->problem->names;
    sg_pinn_information *information = &p->information;
    information->coordinate_count = (size_t)names->coordinate_count;
    information->field_count = (size_t)names->field_count;
    information->fields = names->fields;
    sg_pinn_coordinate *coordinates =
        sgi_arena_allocate(&p->arena, information->coordinate_count, sizeof *coordinates);
    if (!coordinates)
        return SG_ERROR_MEMORY;
    for (size_t c = 0; c < information->coordinate_count; c++)
        coordinates[c] =
            (sg_pinn_coordinate){names->coordinates[c], p->problem->lower[c], p->problem->upper[c]};
    information->coordinates = coordinates;
    return SG_OK;
}

static sg_status describe_sets(sg_pinn *p)
{
    const sgi_problem *problem = p->problem;
    sg_pinn_information *information = &p->information;
    information->set_count = (size_t)problem->set_count;
    for (int s = 0; s < problem->set_count; s++)
        information->term_count += (size_t)problem->sets[s].term_count;
    sg_pinn_set *sets = sgi_arena_allocate(&p->arena, information->set_count, sizeof *sets);
    sg_pinn_term *terms = sgi_arena_allocate(&p->arena, information->term_count, sizeof *terms);
    if (!sets || !terms)
        return SG_ERROR_MEMORY;
    information->sets = sets;
    information->terms = terms;
    for (int s = 0; s < problem->set_count; s++) {
        const sgi_point_set *set = &problem->sets[s];
        sets[s] = (sg_pinn_set){set->name, (size_t)set->items, (size_t)set->points_per_item,
                                (size_t)set->component_count};
        for (int i = 0; i < set->term_count; i++)
            *terms++ = (sg_pinn_term){set->terms[i].name, set->terms[i].weight, (size_t)s};
    }
    return SG_OK;
}

static sg_status describe_unknowns(sg_pinn *p)
{
    const sgi_problem *problem = p->problem;
    sg_pinn_unknown *unknowns =
        sgi_arena_allocate(&p->arena, problem->unknown_count, sizeof *unknowns);
    if (!unknowns)
        return SG_ERROR_MEMORY;
    p->information.unknown_count = problem->unknown_count;
    p->information.unknowns = unknowns;
    for (size_t k = 0; k < problem->unknown_count; k++) {
        const sgi_unknown *u = &problem->unknowns[k];
        unknowns[k] = (sg_pinn_unknown){u->name, u->start, u->lower, u->upper, u->scale};
    }
    return SG_OK;
}

static sg_status describe(sg_pinn *p)
{
    const sgi_settings *settings = &p->problem->settings;
    p->information =
        (sg_pinn_information){.name = settings->name,
                              .title = settings->title,
                              .has_exact = p->problem->solution.kind != SG_SOLUTION_NONE,
                              .steps = (uint64_t)sgi_problem_steps(p->problem),
                              .seed = (uint64_t)settings->training.seed};
    sg_status status = describe_names(p);
    if (status == SG_OK)
        status = describe_unknowns(p);
    return status == SG_OK ? describe_sets(p) : status;
}

/* ---- Making -----------------------------------------------------------------------------------
 */

/* The network, of one window or of all of the problem. */
static sg_status make_network(sg_pinn *p, int window, sg_jet_network **network)
{
    sgi_arena storage;
    sg_jet_network_config config;
    sgi_arena_init(&storage, &p->allocator);
    sg_status status = sgi_problem_window_network(p->problem, window, &storage, &config);
    if (status == SG_OK)
        status = sg_jet_network_create(network, &config, &p->allocator);
    sgi_arena_clear(&storage);
    return status;
}

/* The networks of windows. The handle's own stands for them and has no part in anything else. */
static sg_status create_windows(sg_pinn *p)
{
    sg_status status = SG_OK;
    int count = p->problem->window < 0 ? p->problem->windows.count : 0;
    for (int k = 0; k < count && status == SG_OK; k++) {
        p->window_ends[k] = sgi_problem_window_end(p->problem, k);
        status = make_network(p, k, &p->windows[k]);
    }
    p->pieces = (sgi_jet_pieces){.along = p->problem->names.time,
                                 .count = (size_t)count,
                                 .ready = 1,
                                 .networks = p->windows,
                                 .ends = p->window_ends};
    if (status == SG_OK && count > 0)
        p->network->pieces = &p->pieces;
    return status;
}

static sg_status create_network(sg_pinn *p)
{
    sg_status status = SG_OK;
    if (!p->network)
        status = make_network(p, -1, &p->network);
    if (status == SG_OK)
        status = create_windows(p);
    if (status == SG_OK && !p->lent_network)
        status = sg_pinn_initialize(p, p->information.seed);
    if (status == SG_OK && p->problem->initial.file)
        status = sgi_pinn_start(p, p->problem->initial.place, NULL);
    if (status == SG_OK)
        status = sg_params_create(&p->params, &p->allocator);
    if (status == SG_OK)
        status = sg_jet_network_register(p->network, p->params);
    return status;
}

static sg_status over(sg_pinn **out, sgi_problem *problem, sg_jet_network *network,
                      const sg_jet_network *earlier, const sg_allocator *given)
{
    *out = NULL;
    sg_pinn *p = SGI_NEW(sg_pinn, given);
    if (!p)
        return SG_ERROR_MEMORY;
    p->problem = problem;
    p->network = network;
    p->lent_network = network != NULL;
    p->earlier = earlier;
    if (!sgi_training_is_second(&problem->settings.training))
        p->optim = sgi_problem_optim(problem, 0, p->schedule);
    sgi_arena_init(&p->arena, &p->allocator);
    sg_status status = describe(p);
    if (status == SG_OK)
        status = create_network(p);
    if (status != SG_OK)
        sg_pinn_close(p);
    else
        *out = p;
    return status;
}

sg_status sgi_pinn_over(sg_pinn **out, sgi_problem *problem, const sg_allocator *given)
{
    return over(out, problem, NULL, NULL, given);
}

sg_status sgi_pinn_over_window(sg_pinn **out, sgi_problem *problem, sg_pinn *whole, int window,
                               const sg_allocator *given)
{
    return over(out, problem, whole->windows[window],
                window > 0 ? whole->windows[window - 1] : NULL, given);
}

/* Takes the problem, which is destroyed if there is no handle to own it. */
static sg_status own(sg_pinn **out, sg_status status, sgi_problem *problem,
                     const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    *out = NULL;
    if (status == SG_OK) {
        status = sgi_problem_fits(problem, false, diagnostic);
        if (status == SG_OK)
            status = sgi_pinn_over(out, problem, allocator);
        if (status == SG_OK)
            (*out)->owns_problem = true;
        else
            sgi_problem_destroy(problem);
    }
    return sgi_pinn_status(status, diagnostic);
}

sg_status sg_pinn_open(sg_pinn **out, const char *path, const char *const *overrides,
                       size_t override_count, const sg_allocator *allocator,
                       sg_diagnostic *diagnostic)
{
    if (!out || !path || (!overrides && override_count > 0))
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    sg_diagnostic unread;
    sgi_problem *problem;
    sg_diagnostic *said = diagnostic ? diagnostic : &unread;
    memset(said, 0, sizeof *said);
    sg_status status = sgi_problem_load(&problem, path, overrides, override_count, allocator, said);
    return own(out, status, problem, allocator, said);
}

sg_status sg_pinn_read(sg_pinn **out, const char *name, const char *text, size_t size,
                       const char *const *overrides, size_t override_count,
                       const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    if (!out || !name || !text || (!overrides && override_count > 0))
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    sg_diagnostic unread;
    sgi_problem *problem;
    sg_diagnostic *said = diagnostic ? diagnostic : &unread;
    memset(said, 0, sizeof *said);
    sg_status status =
        sgi_problem_read(&problem, name, text, size, overrides, override_count, allocator, said);
    return own(out, status, problem, allocator, said);
}

void sg_pinn_close(sg_pinn *p)
{
    if (!p)
        return;
    sg_params_destroy(p->params);
    if (!p->lent_network)
        sg_jet_network_destroy(p->network);
    for (size_t k = 0; k < SG_MOST_WINDOWS; k++)
        sg_jet_network_destroy(p->windows[k]);
    sgi_release(&p->problem->allocator, p->text);
    sgi_arena_clear(&p->arena);
    if (p->owns_problem)
        sgi_problem_destroy(p->problem);
    sgi_release(&p->allocator, p);
}

sg_status sgi_pinn_status(sg_status status, sg_diagnostic *diagnostic)
{
    if (status != SG_OK && diagnostic && !diagnostic->message[0])
        sgi_diagnostic_say(diagnostic, "%s", sg_status_text(status));
    return status;
}

/* ---- Looking, and the weights ------------------------------------------------------------------
 */

const sg_pinn_information *sg_pinn_describe(const sg_pinn *p)
{
    if (!p)
        return NULL;
    return &p->information;
}

sg_status sg_pinn_text(sg_pinn *p, const char **text)
{
    if (!p || !text)
        return SG_ERROR_ARGUMENT;
    sg_status status = p->text ? SG_OK : sgi_problem_write(p->problem, &p->text);
    *text = p->text;
    return status;
}

sg_jet_network *sg_pinn_network(const sg_pinn *p)
{
    if (!p)
        return NULL;
    return p->network;
}

double sg_pinn_unknown_value(const sg_pinn *p, size_t index)
{
    if (!p || index >= p->information.unknown_count)
        return NAN;
    return sgi_problem_unknown(p->problem, p->network, index);
}

sg_status sg_pinn_set_unknown(sg_pinn *p, size_t index, double value)
{
    if (!p || index >= p->information.unknown_count ||
        !sgi_unknown_may_be(&p->problem->unknowns[index], value))
        return SG_ERROR_ARGUMENT;
    size_t count = p->information.unknown_count;
    size_t at = sg_jet_network_parameters(p->network) - count + index;
    double parameter = sgi_unknown_parameter(&p->problem->unknowns[index], value);
    if (sg_jet_network_type(p->network) == SG_FLOAT32)
        ((float *)sg_jet_network_values(p->network))[at] = (float)parameter;
    else
        ((double *)sg_jet_network_values(p->network))[at] = parameter;
    return SG_OK;
}

sg_params *sg_pinn_params(const sg_pinn *p)
{
    if (!p)
        return NULL;
    return p->params;
}

sg_scale_config sg_pinn_scale_config(const sg_pinn *p)
{
    if (!p)
        return (sg_scale_config){0};
    return sgi_problem_scale(p->problem, 0);
}

sg_optim_config sg_pinn_optim_config(const sg_pinn *p)
{
    if (!p)
        return (sg_optim_config){0};
    return p->optim;
}

sg_status sg_pinn_initialize(sg_pinn *p, uint64_t seed)
{
    if (!p)
        return SG_ERROR_ARGUMENT;
    sg_jet_init init = sgi_problem_init(p->problem);
    init.seed = seed;
    sg_status status = sg_jet_network_initialize(p->network, &init);
    for (size_t k = 0; k < p->pieces.count && status == SG_OK; k++)
        status = sg_jet_network_initialize(p->windows[k], &init);
    return status;
}
