/* Compiling a point set: which derivatives it needs, and its programs. See problem.h. */
#include <string.h>

#include "problem/exact_conditions.h"
#include "problem/scales.h"

/* The inputs that are derivatives of fields, of all roots together, and after them those that are
 * unknown constants. */
typedef struct needs {
    sgi_expr *nodes; /* (count + unknowns) */
    size_t count, unknowns;
} needs;

static sg_status find_needs(sgi_problem *problem, sgi_arena *arena, const sgi_expr *roots,
                            size_t count, needs *n)
{
    sgi_expressions *exprs = problem->exprs;
    uint8_t *reached = sgi_allocate(&problem->allocator, exprs->count, 1);
    n->nodes = sgi_arena_allocate(arena, exprs->input_count, sizeof *n->nodes);
    n->count = n->unknowns = 0;
    if (!reached || !n->nodes) {
        sgi_release(&problem->allocator, reached);
        return SG_ERROR_MEMORY;
    }
    sgi_expressions_reach(exprs, roots, count, reached);
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && (input->kind == SG_INPUT_FIELD || input->kind == SG_INPUT_COMBINATION))
            n->nodes[n->count++] = i;
    }
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && input->kind == SG_INPUT_UNKNOWN)
            n->nodes[n->count + n->unknowns++] = i;
    }
    sgi_release(&problem->allocator, reached);
    return SG_OK;
}

/* What the engine is asked for: each derivative or combination once, whichever field and side reads
 * it, and the coefficients in them that vary. */
typedef struct quantities {
    sgi_input *list; /* (count): field and side are of no account */
    size_t count;
    sgi_expr *varying; /* (varying_count) */
    size_t varying_count;
} quantities;

static bool same_quantity(const sgi_input *a, const sgi_input *b)
{
    return a->kind == b->kind && a->derivative == b->derivative && sgi_same_parts(a, b);
}

/* Values first, then by order, combinations last: the order people expect in a list. */
static int rank_of(const sgi_input *input)
{
    return input->kind == SG_INPUT_COMBINATION ? SG_MOST_ORDER + 1
                                               : sgi_derivative_total(input->derivative);
}

static size_t find_varying(const quantities *q, sgi_expr varying)
{
    size_t k = 0;
    while (k < q->varying_count && q->varying[k] != varying)
        k++;
    return k;
}

static sg_status list_quantities(sgi_problem *problem, sgi_arena *arena, const needs *n,
                                 quantities *q)
{
    *q = (quantities){.list = sgi_arena_allocate(arena, n->count + 1, sizeof *q->list),
                      .varying =
                          sgi_arena_allocate(arena, n->count * SG_MOST_PARTS, sizeof(sgi_expr))};
    if (!q->list || !q->varying)
        return SG_ERROR_MEMORY;
    for (int rank = 0; rank <= SG_MOST_ORDER + 1; rank++)
        for (size_t i = 0; i < n->count; i++) {
            const sgi_input *input = sgi_expr_input(problem->exprs, n->nodes[i]);
            size_t k = 0;
            while (k < q->count && !same_quantity(&q->list[k], input))
                k++;
            if (k == q->count && rank_of(input) == rank)
                q->list[q->count++] = *input;
        }
    if (q->count == 0) /* as of an unknown constant alone: the engine must be asked for something */
        q->list[q->count++] = (sgi_input){.kind = SG_INPUT_FIELD};
    for (size_t k = 0; k < q->count; k++)
        for (int i = 0; i < q->list[k].part_count; i++) {
            sgi_expr varying = q->list[k].parts[i].varying;
            if (varying && find_varying(q, varying) == q->varying_count)
                q->varying[q->varying_count++] = varying;
        }
    return SG_OK;
}

/* Writes the derivative's coordinates and returns its order. */
static int list_along(sgi_derivative derivative, int *along)
{
    int order = 0;
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        for (int i = 0; i < sgi_derivative_order(derivative, k); i++)
            along[order++] = k;
    return order;
}

static sg_status make_request(sgi_arena *arena, const quantities *q, const sgi_input *from,
                              sg_jet_request *request)
{
    *request = (sg_jet_request){0};
    if (from->kind != SG_INPUT_COMBINATION) {
        request->order = list_along(from->derivative, request->along);
        return SG_OK;
    }
    sg_jet_term *terms = sgi_arena_allocate(arena, (size_t)from->part_count, sizeof *terms);
    if (!terms)
        return SG_ERROR_MEMORY;
    for (int i = 0; i < from->part_count; i++) {
        const sgi_part *part = &from->parts[i];
        terms[i].coefficient = part->coefficient;
        terms[i].order = list_along(part->derivative, terms[i].along);
        terms[i].varying = part->varying ? (int)find_varying(q, part->varying) + 1 : 0;
    }
    request->terms = terms;
    request->term_count = (size_t)from->part_count;
    return SG_OK;
}

/* Where the value of an input lies among the engine's: (p * R + r) * O + o. */
static size_t value_index(const sgi_problem *problem, const quantities *q, const sgi_input *input)
{
    size_t r = 0;
    while (r < q->count && !same_quantity(&q->list[r], input))
        r++;
    return ((size_t)input->side * q->count + r) * (size_t)problem->names.field_count +
           (size_t)input->index;
}

static sg_status bind(sgi_problem *problem, sgi_arena *arena, sgi_bound_program *bound,
                      const quantities *q)
{
    const sgi_program *program = bound->program;
    size_t coordinates = (size_t)problem->names.coordinate_count;
    bound->slots = sgi_arena_allocate(arena, program->input_count, sizeof *bound->slots);
    if (!bound->slots)
        return SG_ERROR_MEMORY;
    for (uint32_t s = 0; s < program->input_count; s++) {
        const sgi_input *input = &program->inputs[s];
        size_t index = (size_t)input->index;
        if (input->kind == SG_INPUT_COORDINATE)
            bound->slots[s] =
                (sgi_slot){SG_SLOT_COORDINATE, (size_t)input->side * coordinates + index};
        else if (input->kind == SG_INPUT_NORMAL)
            bound->slots[s] = (sgi_slot){SG_SLOT_NORMAL, index};
        else if (input->kind == SG_INPUT_UNKNOWN)
            bound->slots[s] = (sgi_slot){SG_SLOT_UNKNOWN, index};
        else if (input->kind == SG_INPUT_DATA)
            bound->slots[s] = (sgi_slot){SG_SLOT_DATA, index};
        else if (input->kind == SG_INPUT_EARLIER)
            bound->slots[s] = (sgi_slot){SG_SLOT_EARLIER, 2 * index + (input->derivative != 0)};
        else
            bound->slots[s] = (sgi_slot){SG_SLOT_VALUE, value_index(problem, q, input)};
    }
    return SG_OK;
}

static sg_status describe(sgi_problem *problem, sgi_arena *arena, sgi_point_set *set,
                          const needs *n, const quantities *q)
{
    set->requests = sgi_arena_allocate(arena, q->count, sizeof *set->requests);
    set->value_indices = sgi_arena_allocate(arena, n->count, sizeof *set->value_indices);
    set->unknown_indices = sgi_arena_allocate(arena, n->unknowns, sizeof *set->unknown_indices);
    if (!set->requests || !set->value_indices || !set->unknown_indices)
        return SG_ERROR_MEMORY;
    set->request_count = q->count;
    set->value_count = n->count;
    set->unknown_count = n->unknowns;
    for (size_t i = 0; i < n->unknowns; i++)
        set->unknown_indices[i] =
            (size_t)sgi_expr_input(problem->exprs, n->nodes[n->count + i])->index;
    sg_status status = SG_OK;
    for (size_t r = 0; r < q->count && status == SG_OK; r++)
        status = make_request(arena, q, &q->list[r], &set->requests[r]);
    for (size_t i = 0; i < n->count; i++)
        set->value_indices[i] =
            value_index(problem, q, sgi_expr_input(problem->exprs, n->nodes[i]));
    return status;
}

static sg_status compile_varying(sgi_problem *problem, sgi_arena *arena, sgi_point_set *set,
                                 const quantities *q)
{
    if (q->varying_count == 0)
        return SG_OK;
    sg_status status = sgi_program_create(&set->varying.program, problem->exprs, q->varying,
                                          q->varying_count, &problem->allocator);
    return status == SG_OK ? bind(problem, arena, &set->varying, q) : status;
}

static sg_status compile_programs(sgi_problem *problem, sgi_arena *arena, sgi_point_set *set,
                                  const sgi_expr *roots, const needs *n, const quantities *q)
{
    size_t components = (size_t)set->component_count;
    sg_status status = sgi_program_create(&set->residual.program, problem->exprs, roots, components,
                                          &problem->allocator);
    if (status == SG_OK)
        status = bind(problem, arena, &set->residual, q);
    if (status == SG_OK)
        status =
            sgi_program_create_gradient(&set->gradient.program, problem->exprs, roots, components,
                                        n->nodes, n->count + n->unknowns, 0, &problem->allocator);
    return status == SG_OK ? bind(problem, arena, &set->gradient, q) : status;
}

/* A residual has a meaning in its region, a quantity where its field lives. */
static sg_status find_homes(const sgi_problem *problem, sgi_arena *arena, sgi_point_set *set)
{
    uint8_t *reached = sgi_allocate(&problem->allocator, problem->exprs->count, 1);
    set->homes = sgi_arena_allocate(arena, (size_t)set->component_count, sizeof *set->homes);
    for (int c = 0; c < set->component_count && reached && set->homes; c++)
        set->homes[c] = set->region ? (uint64_t)1 << (set - problem->sets)
                                    : sgi_problem_home_of(problem, set->roots[c], reached);
    sgi_release(&problem->allocator, reached);
    return reached && set->homes ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_point_set_compile(sgi_problem *problem, sgi_arena *arena, sgi_point_set *set)
{
    size_t components = (size_t)set->component_count;
    sgi_expr *roots = sgi_arena_grow(arena, set->roots, components, components, sizeof *roots);
    if (!roots)
        return SG_ERROR_MEMORY;
    needs n;
    quantities q;
    sg_status status = find_homes(problem, arena, set);
    if (status == SG_OK)
        status = sgi_exact_apply(problem, roots, components);
    if (status == SG_OK)
        status = sgi_scales_apply(problem, roots, components);
    if (status != SG_OK)
        return status;
    for (size_t c = 0; c < components && set->scales; c++)
        roots[c] = sgi_scales_divide(problem->exprs, roots[c], set->scales[c]);
    sgi_collapse(problem->exprs, roots, components);
    status = problem->exprs->status;
    if (status == SG_OK)
        status = find_needs(problem, arena, roots, components, &n);
    if (status == SG_OK)
        status = list_quantities(problem, arena, &n, &q);
    if (status == SG_OK)
        status = describe(problem, arena, set, &n, &q);
    if (status == SG_OK)
        status = compile_varying(problem, arena, set, &q);
    return status == SG_OK ? compile_programs(problem, arena, set, roots, &n, &q) : status;
}

void sgi_point_set_release(sgi_point_set *set)
{
    sgi_program_destroy(set->varying.program);
    sgi_program_destroy(set->residual.program);
    sgi_program_destroy(set->gradient.program);
    set->varying.program = set->residual.program = set->gradient.program = NULL;
    sgi_arena_clear(&set->own);
}

/* A scalar node of its own for a text that comes from the command line. */
static sgi_yaml *text_node(sgi_arena *arena, const char *text)
{
    sgi_yaml *node = sgi_arena_allocate(arena, 1, sizeof *node);
    sgi_source *source = sgi_arena_allocate(arena, 1, sizeof *source);
    char *copy = sgi_arena_text(arena, text, strlen(text));
    if (!node || !source || !copy)
        return NULL;
    *source = (sgi_source){"--fields", copy, strlen(copy)};
    *node = (sgi_yaml){.source = source, .end = source->size, .text = copy, .length = source->size};
    return node;
}

static sg_status read_quantities(sgi_problem *problem, const char *const *texts, sgi_point_set *set,
                                 sg_diagnostic *diagnostic)
{
    sgi_arena *arena = &set->own;
    size_t count = (size_t)set->component_count;
    set->terms = sgi_arena_allocate(arena, 1, sizeof *set->terms);
    set->component_terms = sgi_arena_allocate(arena, count, sizeof *set->component_terms);
    set->roots = sgi_arena_allocate(arena, count, sizeof *set->roots);
    if (!set->terms || !set->component_terms || !set->roots)
        return SG_ERROR_MEMORY;
    set->terms[0] = (sgi_term){"quantities", 1};
    sgi_scope scope = {&problem->names, "in the list of fields", true, true, 0, false};
    for (size_t i = 0; i < count; i++) {
        const sgi_yaml *node = text_node(arena, texts[i]);
        sg_status status = node ? sgi_names_parse(&scope, node, 0, node->length, SG_READ_QUANTITY,
                                                  &set->roots[i], diagnostic)
                                : SG_ERROR_MEMORY;
        if (status != SG_OK)
            return status;
    }
    return sgi_point_set_compile(problem, arena, set);
}

sg_status sgi_problem_quantities(sgi_problem *problem, const char *const *texts, size_t count,
                                 sgi_point_set *set, sg_diagnostic *diagnostic)
{
    memset(diagnostic, 0, sizeof *diagnostic);
    if (count == 0 || count > SG_MOST_COMPONENTS)
        return SG_ERROR_ARGUMENT;
    *set = (sgi_point_set){.name = "quantities",
                           .kind = SG_SET_DOMAIN,
                           .points_per_item = 1,
                           .term_count = 1,
                           .component_count = (int)count};
    sgi_arena_init(&set->own, &problem->allocator);
    /* An earlier call may have run out of memory; what was read before it is whole. */
    problem->exprs->status = SG_OK;
    sg_status status = read_quantities(problem, texts, set, diagnostic);
    if (status != SG_OK)
        sgi_point_set_release(set);
    return status;
}
