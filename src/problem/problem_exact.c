/* Exact conditions: see exact_conditions.h.
 *
 * Each condition and each of its faces is a piece with a value g and a function d that is 0 on it
 * and above 0 elsewhere in the domain. The product of all d of a field, brought to a largest value
 * of about 1, multiplies the network. If the value of one piece agrees with those of all others on
 * their places, as an initial value with the walls, it is g; otherwise the values are blended with
 * weights that are 1 on their own piece and 0 on the others. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/exact_conditions.h"
#include "problem/place.h"

enum { SAMPLES = 512 };

/* How far a condition that holds exactly may be off, relative to the size of its values: rounding.
 */
static const double tolerance = 1e-9;

/* ---- Expressions at points --------------------------------------------------------------------
 */

/* The expression at SAMPLES points (coordinates, SAMPLES); fields are 1. */
static sg_status evaluate(const sgi_problem *problem, sgi_expr expr, double *const *points,
                          double *values)
{
    sgi_program *program;
    sg_status status = sgi_program_create(&program, problem->exprs, &expr, 1, &problem->allocator);
    if (status != SG_OK)
        return status;
    double ones[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        ones[i] = 1;
    const void **inputs =
        sgi_allocate(&problem->allocator, program->input_count + 1, sizeof *inputs);
    void *scratch = sgi_allocate(&problem->allocator, sgi_program_scratch(program), 1);
    void *outputs[] = {values};
    status = inputs && scratch ? SG_OK : SG_ERROR_MEMORY;
    for (uint32_t s = 0; s < program->input_count && status == SG_OK; s++)
        inputs[s] = program->inputs[s].kind == SG_INPUT_COORDINATE
                        ? points[program->inputs[s].index]
                        : ones;
    if (status == SG_OK)
        sgi_program_evaluate(program, SG_ISA_GENERIC, SG_FLOAT64, SAMPLES, inputs, NULL, outputs,
                             scratch);
    sgi_release(&problem->allocator, inputs);
    sgi_release(&problem->allocator, scratch);
    sgi_program_destroy(program);
    return status;
}

/* Points of the place, or of the domain for NULL: points[k] (SAMPLES). */
static void sample(const sgi_problem *problem, const sgi_point_set *place, double *const *points)
{
    for (int i = 0; i < SAMPLES; i++) {
        double point[SG_MOST_COORDINATES] = {0}, normal[SG_MOST_COORDINATES];
        sgi_uniforms uniforms = {.stream = 2, .counter = (uint64_t)i << 24};
        if (place)
            sgi_place_draw(problem, &place->faces[i % place->face_count], false, &uniforms, point,
                           normal);
        else
            (void)sgi_place_interior(problem, NULL, &uniforms, point);
        for (int k = 0; k < problem->names.coordinate_count; k++)
            points[k][i] = point[k];
    }
}

/* ---- Pieces -----------------------------------------------------------------------------------
 */

static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *message,
                        const char *advice)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "condition '%.60s' %s", node->text, message);
    if (advice)
        sgi_diagnostic_suggest(reader->diagnostic, "%s", advice);
    return SG_ERROR_FORMAT;
}

sg_status sgi_exact_add(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *key, int field,
                        sgi_expr value, sgi_expr distance, const sgi_point_set *place)
{
    if (problem->exact_count == SG_MOST_SETS)
        return refuse(reader, key, "is one too many that hold exactly", NULL);
    if (!problem->exacts)
        problem->exacts =
            sgi_arena_allocate(&problem->arena, SG_MOST_SETS, sizeof *problem->exacts);
    if (!problem->exacts)
        return SG_ERROR_MEMORY;
    problem->exacts[problem->exact_count++] = (sgi_exact){
        .key = key, .field = field, .value = value, .distance = distance, .place = *place};
    return SG_OK;
}

static sgi_expr coordinate(sgi_problem *problem, int index)
{
    sgi_input input = {.kind = SG_INPUT_COORDINATE, .index = index};
    return sgi_expressions_input(problem->exprs, &input);
}

sg_status sgi_exact_slope(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *key, int field,
                          sgi_expr slope)
{
    sgi_expressions *exprs = problem->exprs;
    sgi_exact *e = NULL;
    for (int i = 0; i < problem->exact_count; i++)
        if (problem->exacts[i].key == key && problem->exacts[i].field == field)
            e = &problem->exacts[i];
    if (!e)
        return refuse(reader, key, "gives a slope in time, and not the value that it starts from",
                      "as in  {at: t = 0, u: sin(pi*x), u_t: 0, exact: true}");
    int t = problem->names.time;
    if (e->place.face_count != 1 || e->place.faces[0].region || e->place.faces[0].interior ||
        e->place.faces[0].coordinate != t)
        return refuse(reader, key, "gives a slope in time, which is exact at one time alone",
                      "as in  at: t = 0");
    sgi_expr time =
        sgi_sub(exprs, coordinate(problem, t), sgi_constant(exprs, e->place.faces[0].value));
    e->value = sgi_add(exprs, e->value, sgi_mul(exprs, time, slope));
    e->slope = slope;
    e->has_slope = true;
    return exprs->status;
}

/* (x - value) / length, above 0 on the side of the domain. */
static sgi_expr plane_distance(sgi_problem *problem, int k, double value)
{
    sgi_expressions *exprs = problem->exprs;
    double length = problem->upper[k] - problem->lower[k];
    double sign = value == problem->upper[k] ? -1 / length : 1 / length;
    return sgi_mul(exprs, sgi_constant(exprs, sign),
                   sgi_sub(exprs, coordinate(problem, k), sgi_constant(exprs, value)));
}

/* Whether the domain lies inside the region. */
static bool holds_domain(const sgi_problem *problem, const sgi_region *region)
{
    bool inside = true;
    for (int i = 0; i < SAMPLES && inside; i++) {
        double point[SG_MOST_COORDINATES] = {0}, x[SG_MOST_AXES];
        sgi_uniforms uniforms = {.stream = 3, .counter = (uint64_t)i << 24};
        (void)sgi_place_interior(problem, NULL, &uniforms, point);
        sgi_domain_axes(&problem->domain, point, x);
        inside = sgi_region_distance(region, x) < 0;
    }
    return inside;
}

static sg_status side_distance(sgi_problem *problem, sgi_reader *reader, const sgi_exact *e,
                               const sgi_region *region, sgi_expr *distance)
{
    sgi_expr x[SG_MOST_AXES];
    const char *why;
    char message[160];
    for (int k = 0; k < problem->domain.axes; k++)
        x[k] = coordinate(problem, problem->domain.coordinates[k]);
    sgi_expr smooth =
        sgi_region_smooth(region, problem->exprs, x, holds_domain(problem, region), &why);
    *distance = sgi_mul(problem->exprs, sgi_constant(problem->exprs, 1 / region->size), smooth);
    if (!why)
        return problem->exprs->status;
    snprintf(message, sizeof message, "cannot be exact by itself: %s", why);
    return refuse(reader, e->key, message,
                  "give a function that is 0 on the place, as in  distance: x*(1 - x)");
}

/* The product of the functions of all faces; sides of one region share theirs. */
static sg_status make_distance(sgi_problem *problem, sgi_reader *reader, const sgi_exact *e,
                               sgi_expr *product)
{
    *product = e->distance ? e->distance : sgi_constant(problem->exprs, 1);
    const sgi_region *last = NULL;
    for (int i = 0; i < e->place.face_count && !e->distance; i++) {
        const sgi_face *face = &e->place.faces[i];
        const sgi_filter *filter = face->filter;
        sgi_expr one = 0;
        sg_status status = SG_OK;
        if (face->interior)
            return refuse(reader, e->key, "holds inside the domain and cannot be exact", NULL);
        if (filter && (filter->keep || filter->touched_count || filter->fixed || filter->named))
            return refuse(reader, e->key,
                          "holds on a part of a place, which has no distance of its own",
                          "give a function that is 0 there, as in  distance: x*(1 - x)");
        if (face->region && face->region == last)
            continue;
        if (face->region)
            status = side_distance(problem, reader, e, face->region, &one);
        else
            one = plane_distance(problem, face->coordinate, face->value);
        if (status != SG_OK)
            return status;
        last = face->region;
        *product = sgi_mul(problem->exprs, *product, one);
    }
    if (e->has_slope && !e->distance) /* leaves the slope alone, too */
        *product = sgi_mul(problem->exprs, *product, *product);
    return problem->exprs->status;
}

/* ---- One field --------------------------------------------------------------------------------
 */

typedef struct transform {
    sgi_problem *problem;
    sgi_reader *reader;
    int field, count;
    const sgi_exact *pieces[SG_MOST_SETS];
    sgi_expr distances[SG_MOST_SETS];
    double *points[SG_MOST_COORDINATES]; /* (SAMPLES) */
    double *values, *others;             /* (SAMPLES) */
} transform;

/* Inside the domain a piece's function has one sign, unless the piece itself lies inside. Brings it
 * above 0. */
static sg_status orient(transform *t, int i)
{
    sgi_expressions *exprs = t->problem->exprs;
    int above = 0, below = 0;
    bool inside = false;
    for (int f = 0; f < t->pieces[i]->place.face_count; f++)
        inside = inside || t->pieces[i]->place.faces[f].normal == 0;
    sample(t->problem, NULL, t->points);
    sg_status status = evaluate(t->problem, t->distances[i], t->points, t->values);
    if (status != SG_OK)
        return status;
    for (int k = 0; k < SAMPLES; k++) {
        above += t->values[k] > 0;
        below += t->values[k] < 0;
    }
    if (above + below < SAMPLES)
        return refuse(
            t->reader, t->pieces[i]->key,
            "cannot be exact: the function that is 0 on its place is 0 or undefined elsewhere too",
            "give another one, as in  distance: x*(1 - x)");
    if (above && below && !inside && t->pieces[i]->distance)
        return refuse(t->reader, t->pieces[i]->key,
                      "has a distance that changes its sign inside the domain", NULL);
    if (above && below && !inside)
        return refuse(t->reader, t->pieces[i]->key,
                      "cannot be exact: its place goes on through the inside of the domain",
                      "name the boundary of a shape instead, or give  distance");
    if (!above)
        t->distances[i] = sgi_apply(exprs, SG_OP_NEG, t->distances[i], 0, 0);
    return exprs->status;
}

/* Whether the expression is what it should be on the place of piece i. */
static sg_status agrees(transform *t, sgi_expr expr, int i, sgi_expr wanted, bool *agree)
{
    sample(t->problem, &t->pieces[i]->place, t->points);
    sg_status status = evaluate(t->problem, expr, t->points, t->values);
    if (status == SG_OK)
        status = evaluate(t->problem, wanted, t->points, t->others);
    double size = 1;
    for (int k = 0; k < SAMPLES && status == SG_OK; k++)
        size = fmax(size, fabs(t->others[k]));
    *agree = status == SG_OK;
    for (int k = 0; k < SAMPLES && *agree; k++)
        *agree = fabs(t->values[k] - t->others[k]) <= tolerance * size;
    return status;
}

/* The value of one piece that all others agree with; *found tells. */
static sg_status find_common(transform *t, sgi_expr *g, bool *found)
{
    sg_status status = SG_OK;
    *found = false;
    for (int i = 0; i < t->count && !*found && status == SG_OK; i++) {
        *g = t->pieces[i]->value;
        *found = true;
        for (int j = 0; j < t->count && *found && status == SG_OK; j++)
            if (t->pieces[j]->value != *g)
                status = agrees(t, *g, j, t->pieces[j]->value, found);
    }
    return status;
}

/* sum of g_i prod_{j != i} d_j / sum of prod_{j != i} d_j */
static sgi_expr blend(const transform *t)
{
    sgi_expressions *exprs = t->problem->exprs;
    sgi_expr above = 0, below = 0;
    for (int i = 0; i < t->count; i++) {
        sgi_expr others = sgi_constant(exprs, 1);
        for (int j = 0; j < t->count; j++)
            if (j != i)
                others = sgi_mul(exprs, others, t->distances[j]);
        above = sgi_add(exprs, above, sgi_mul(exprs, t->pieces[i]->value, others));
        below = sgi_add(exprs, below, others);
    }
    return sgi_apply(exprs, SG_OP_DIV, above, below, 0);
}

/* The product of all functions, with a largest value of about 1 in the domain. */
static sg_status make_factor(transform *t, sgi_expr *d)
{
    sgi_expressions *exprs = t->problem->exprs;
    double largest = 0;
    *d = sgi_constant(exprs, 1);
    for (int i = 0; i < t->count; i++)
        *d = sgi_mul(exprs, *d, t->distances[i]);
    sample(t->problem, NULL, t->points);
    sg_status status = evaluate(t->problem, *d, t->points, t->values);
    for (int k = 0; k < SAMPLES && status == SG_OK; k++)
        largest = fmax(largest, fabs(t->values[k]));
    /* A power of two: the product keeps its digits. */
    *d = sgi_mul(exprs, sgi_constant(exprs, exp2(-floor(log2(largest)))), *d);
    return status == SG_OK ? exprs->status : status;
}

static sg_status check(transform *t, sgi_expr whole)
{
    sg_status status = SG_OK;
    for (int i = 0; i < t->count && status == SG_OK; i++) {
        bool agree;
        status = agrees(t, whole, i, t->pieces[i]->value, &agree);
        if (status == SG_OK && agree && t->pieces[i]->has_slope)
            status =
                agrees(t, sgi_differentiate(t->problem->exprs, whole, t->problem->names.time, NULL),
                       i, t->pieces[i]->slope, &agree);
        if (status == SG_OK && !agree)
            status = refuse(
                t->reader, t->pieces[i]->key,
                "is not met by the transform that should make it exact",
                "pieces that share points must agree there; a  distance  must be 0 on its place");
    }
    return status;
}

static sg_status make_transform(transform *t)
{
    sgi_problem *problem = t->problem;
    sgi_expr g, d;
    bool found;
    sg_status status = SG_OK;
    for (int i = 0; i < t->count && status == SG_OK; i++) {
        status = make_distance(problem, t->reader, t->pieces[i], &t->distances[i]);
        if (status == SG_OK)
            status = orient(t, i);
    }
    if (status == SG_OK)
        status = find_common(t, &g, &found);
    if (status == SG_OK && !found)
        g = blend(t);
    if (status == SG_OK)
        status = make_factor(t, &d);
    if (status != SG_OK)
        return status;
    sgi_input input = {.kind = SG_INPUT_FIELD, .index = t->field};
    sgi_expr network = sgi_expressions_input(problem->exprs, &input);
    problem->transforms[t->field] = sgi_add(problem->exprs, g, sgi_mul(problem->exprs, d, network));
    return problem->exprs->status == SG_OK ? check(t, problem->transforms[t->field])
                                           : problem->exprs->status;
}

sg_status sgi_exact_finish(sgi_problem *problem, sgi_reader *reader)
{
    if (problem->exact_count == 0)
        return SG_OK;
    size_t rows = (size_t)problem->names.coordinate_count + 2;
    problem->transforms = sgi_arena_allocate(&problem->arena, (size_t)problem->names.field_count,
                                             sizeof *problem->transforms);
    double *memory = sgi_allocate(&problem->allocator, rows * SAMPLES, sizeof *memory);
    sg_status status = problem->transforms && memory ? SG_OK : SG_ERROR_MEMORY;
    for (int f = 0; f < problem->names.field_count && status == SG_OK; f++) {
        transform t = {.problem = problem, .reader = reader, .field = f};
        for (int k = 0; k < problem->names.coordinate_count; k++)
            t.points[k] = memory + (size_t)k * SAMPLES;
        t.values = memory + (rows - 2) * SAMPLES;
        t.others = memory + (rows - 1) * SAMPLES;
        for (int i = 0; i < problem->exact_count; i++)
            if (problem->exacts[i].field == f)
                t.pieces[t.count++] = &problem->exacts[i];
        if (t.count > 0)
            status = make_transform(&t);
    }
    sgi_release(&problem->allocator, memory);
    return status;
}

sg_status sgi_exact_misfit(const sgi_problem *problem, int i, double *largest)
{
    const sgi_exact *e = &problem->exacts[i];
    size_t rows = (size_t)problem->names.coordinate_count + 2;
    double *points[SG_MOST_COORDINATES], *memory;
    *largest = 0;
    memory = sgi_allocate(&problem->allocator, rows * SAMPLES, sizeof *memory);
    if (!memory)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < SG_MOST_COORDINATES; k++)
        points[k] = memory + (k < rows - 2 ? k : 0) * SAMPLES;
    double *given = memory + (rows - 2) * SAMPLES, *reference = memory + (rows - 1) * SAMPLES;
    sample(problem, &e->place, points);
    sg_status status = evaluate(problem, e->value, points, given);
    if (status == SG_OK)
        status = evaluate(problem, problem->solution.exprs[e->field], points, reference);
    for (int k = 0; k < SAMPLES && status == SG_OK; k++)
        *largest = fmax(*largest, fabs(given[k] - reference[k]));
    sgi_release(&problem->allocator, memory);
    return status;
}

/* ---- Putting transforms in --------------------------------------------------------------------
 */

sg_status sgi_exact_rebuild(sgi_problem *problem, sgi_expr *roots, size_t count, sgi_map_input *map)
{
    sgi_expressions *exprs = problem->exprs;
    uint32_t nodes = exprs->count;
    uint8_t *reached = sgi_allocate(&problem->allocator, nodes, 1);
    sgi_expr *made = sgi_allocate(&problem->allocator, nodes, sizeof *made);
    sg_status status = reached && made ? SG_OK : SG_ERROR_MEMORY;
    if (status == SG_OK)
        sgi_expressions_reach(exprs, roots, count, reached);
    for (sgi_expr i = 0; i < nodes && status == SG_OK; i++) {
        const sgi_node node = exprs->nodes[i];
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        made[i] = i;
        if (input) {
            sgi_input copy = *input; /* adding inputs may move the list */
            made[i] = map(problem, i, &copy);
        } else if (reached[i] && sgi_op_arity(node.op) > 0) {
            made[i] = sgi_apply(exprs, node.op, made[node.arguments[0]], made[node.arguments[1]],
                                made[node.arguments[2]]);
        }
        status = exprs->status;
    }
    for (size_t i = 0; i < count && status == SG_OK; i++)
        roots[i] = made[roots[i]];
    sgi_release(&problem->allocator, reached);
    sgi_release(&problem->allocator, made);
    return status;
}

/* The same at the other point of a pair. */
static sgi_expr to_other_side(sgi_problem *problem, sgi_expr node, const sgi_input *input)
{
    if (input->kind != SG_INPUT_COORDINATE && input->kind != SG_INPUT_FIELD)
        return node;
    sgi_input other = *input;
    other.side = 1;
    return sgi_expressions_input(problem->exprs, &other);
}

/* The same of the network of the window before. */
static sgi_expr to_earlier(sgi_problem *problem, sgi_expr node, const sgi_input *input)
{
    if (input->kind != SG_INPUT_FIELD)
        return node;
    sgi_input other = *input;
    other.kind = SG_INPUT_EARLIER;
    return sgi_expressions_input(problem->exprs, &other);
}

static sgi_expr put_transform(sgi_problem *problem, sgi_expr node, const sgi_input *input)
{
    bool earlier = input->kind == SG_INPUT_EARLIER;
    if ((input->kind != SG_INPUT_FIELD && !earlier) || !problem->transforms[input->index])
        return node;
    sgi_expr expr = problem->transforms[input->index];
    for (int k = 0; k < problem->names.coordinate_count; k++)
        for (int i = 0; i < sgi_derivative_order(input->derivative, k); i++)
            expr = sgi_differentiate(problem->exprs, expr, k, NULL);
    if (input->side == 1 || earlier) {
        sg_status status =
            sgi_exact_rebuild(problem, &expr, 1, earlier ? to_earlier : to_other_side);
        if (status != SG_OK && problem->exprs->status == SG_OK)
            problem->exprs->status = status;
    }
    return expr;
}

sg_status sgi_exact_apply(sgi_problem *problem, sgi_expr *roots, size_t count)
{
    return problem->transforms ? sgi_exact_rebuild(problem, roots, count, put_transform) : SG_OK;
}
