/* The fields and their derivatives as expressions: see fields.h. */
#include "export/fields.h"

#include "base/diagnostic.h"
#include "problem/exact_conditions.h"

static void add(sgi_export_fields *fields, int field, sgi_derivative derivative)
{
    for (size_t k = 0; k < fields->count; k++)
        if (fields->wanted[k].index == field && fields->wanted[k].derivative == derivative)
            return;
    fields->wanted[fields->count++] =
        (sgi_input){.kind = SG_INPUT_FIELD, .index = field, .derivative = derivative};
}

/* Whether some equation or condition reads input i of the graph. */
static void mark_used(const sgi_problem *problem, uint8_t *reached, uint8_t *used)
{
    const sgi_expressions *exprs = problem->exprs;
    for (int s = 0; s < problem->set_count; s++) {
        const sgi_point_set *set = &problem->sets[s];
        sgi_expressions_reach(exprs, set->roots, (size_t)set->component_count, reached);
        for (sgi_expr i = 0; i < exprs->count; i++)
            if (reached[i] && sgi_expr_input(exprs, i))
                used[exprs->nodes[i].input] = 1;
    }
}

/* The derivatives that are used, by their order. */
static sg_status add_used(sgi_export_fields *fields, const sgi_problem *problem, sgi_arena *arena)
{
    const sgi_expressions *exprs = problem->exprs;
    uint8_t *reached = sgi_arena_allocate(arena, exprs->count, 1);
    uint8_t *used = sgi_arena_allocate(arena, exprs->input_count, 1);
    if (!reached || !used)
        return SG_ERROR_MEMORY;
    mark_used(problem, reached, used);
    for (int order = 2; order <= SG_MOST_ORDER; order++)
        for (uint32_t i = 0; i < exprs->input_count; i++)
            if (used[i] && exprs->inputs[i].kind == SG_INPUT_FIELD &&
                sgi_derivative_total(exprs->inputs[i].derivative) == order)
                add(fields, exprs->inputs[i].index, exprs->inputs[i].derivative);
    return SG_OK;
}

/* Marks what the roots are made of, and refuses what other programs could not know. */
static sg_status reach(sgi_export_fields *fields, const sgi_problem *problem, sgi_arena *arena,
                       sg_diagnostic *diagnostic)
{
    const sgi_expressions *exprs = problem->exprs;
    fields->nodes = exprs->count;
    fields->reached = sgi_arena_allocate(arena, exprs->count, 1);
    if (!fields->reached)
        return SG_ERROR_MEMORY;
    sgi_expressions_reach(exprs, fields->roots, fields->count, fields->reached);
    for (sgi_expr i = 0; i < fields->nodes; i++) {
        const sgi_input *input = fields->reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && input->kind != SG_INPUT_COORDINATE && input->kind != SG_INPUT_FIELD)
            return sgi_fail(diagnostic, SG_ERROR_UNSUPPORTED,
                            "an exact condition uses more than coordinates, which cannot be "
                            "written for other programs");
    }
    return SG_OK;
}

sg_status sgi_export_fields_make(sgi_export_fields *fields, sgi_problem *problem, bool derivatives,
                                 sgi_arena *arena, sg_diagnostic *diagnostic)
{
    sgi_expressions *exprs = problem->exprs;
    int count = problem->names.field_count, coordinates = problem->names.coordinate_count;
    size_t most = (size_t)count * (size_t)(1 + coordinates) + exprs->input_count;
    *fields = (sgi_export_fields){.wanted = sgi_arena_allocate(arena, most, sizeof(sgi_input)),
                                  .roots = sgi_arena_allocate(arena, most, sizeof(sgi_expr))};
    if (!fields->wanted || !fields->roots)
        return SG_ERROR_MEMORY;
    for (int f = 0; f < count; f++)
        add(fields, f, 0);
    for (int f = 0; f < count && derivatives; f++)
        for (int k = 0; k < coordinates; k++)
            add(fields, f, sgi_derivative_unit(k));
    sg_status status = derivatives ? add_used(fields, problem, arena) : SG_OK;
    exprs->status = SG_OK; /* an earlier call may have run out of memory */
    for (size_t k = 0; k < fields->count; k++)
        fields->roots[k] = sgi_expressions_input(exprs, &fields->wanted[k]);
    if (status == SG_OK)
        status = exprs->status;
    if (status == SG_OK)
        status = sgi_exact_apply(problem, fields->roots, fields->count);
    return status == SG_OK ? reach(fields, problem, arena, diagnostic) : status;
}
