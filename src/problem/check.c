/* Checking a reference solution: see check.h. */
#include "problem/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/exact.h"
#include "problem/quadrature.h"
#include "problem/remarks.h"

enum { N = SG_CHECK_POINTS, MOST_TERMS = 64 };

/* How far an integral may be off, relative to the largest values under it: its points and the
 * measure of its place are good to about one part in a thousand. */
static const double of_integrals = 5e-3;

/* What one set's check works with. */
typedef struct examination {
    sgi_problem *problem;
    int index;
    const sgi_point_set *set;
    sgi_program *program;                         /* outputs: residuals, then sizes */
    sgi_program *channels;                        /* outputs: one for each slot of `program` */
    sgi_arena memory;                             /* everything below */
    double *coordinates[2 * SG_MOST_COORDINATES]; /* each (N) */
    double *normals[SG_MOST_COORDINATES];         /* each (N) */
    double *weights;                              /* (N) of an integral, or NULL */
    const void **inputs;                          /* (program inputs), each (N) */
    void **outputs;                               /* (2 * components), each (N) */
    void *scratch;
} examination;

/* The sum of the absolute values of the terms that `root` adds up. */
static sgi_expr size_of_terms(sgi_expressions *exprs, sgi_expr root)
{
    sgi_expr open[MOST_TERMS], size = 0;
    int count = 0;
    open[count++] = root;
    while (count > 0) {
        const sgi_node node = exprs->nodes[open[--count]];
        bool sum = node.op == SG_OP_ADD || node.op == SG_OP_SUB || node.op == SG_OP_NEG;
        if (sum && count + 2 <= MOST_TERMS) {
            for (int k = 0; k < sgi_op_arity(node.op); k++)
                open[count++] = node.arguments[k];
        } else {
            size = sgi_add(exprs, size, sgi_apply(exprs, SG_OP_ABS, open[count], 0, 0));
        }
    }
    return size;
}

static sg_status compile_residuals(examination *e)
{
    size_t count = (size_t)e->set->component_count;
    sgi_expr *roots = sgi_arena_allocate(&e->memory, 2 * count, sizeof *roots);
    if (!roots)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        roots[i] = e->set->roots[i];
        roots[count + i] = size_of_terms(e->problem->exprs, roots[i]);
    }
    return sgi_program_create(&e->program, e->problem->exprs, roots, 2 * count,
                              &e->problem->allocator);
}

/* ---- Derivatives of the reference --------------------------------------------------------- */

static sgi_expr derivative_of(sgi_problem *problem, const sgi_input *input)
{
    sgi_expr expr = problem->solution.exprs[input->index];
    for (int k = 0; k < SG_MOST_COORDINATES; k++)
        for (int i = 0; i < sgi_derivative_order(input->derivative, k); i++)
            expr = sgi_differentiate(problem->exprs, expr, k, NULL);
    return expr;
}

/* One output for each slot; slots that are not fields stay 0 and are not stored. */
static sg_status compile_channels(examination *e)
{
    size_t count = e->program->input_count;
    sgi_expr *roots = sgi_arena_allocate(&e->memory, count, sizeof *roots);
    if (!roots)
        return SG_ERROR_MEMORY;
    for (size_t s = 0; s < count; s++)
        if (e->program->inputs[s].kind == SG_INPUT_FIELD)
            roots[s] = derivative_of(e->problem, &e->program->inputs[s]);
    return sgi_program_create(&e->channels, e->problem->exprs, roots, count,
                              &e->problem->allocator);
}

/* Fills the slots of one side from the expressions. */
static sg_status fill_by_expressions(examination *e, int side)
{
    size_t d = (size_t)e->problem->names.coordinate_count;
    const void *inputs[SG_MOST_COORDINATES];
    void **outputs = sgi_arena_allocate(&e->memory, e->program->input_count, sizeof *outputs);
    void *scratch = sgi_arena_allocate(&e->memory, sgi_program_scratch(e->channels) + 64, 1);
    if (!outputs || !scratch)
        return SG_ERROR_MEMORY;
    for (uint32_t s = 0; s < e->channels->input_count; s++)
        inputs[s] = e->coordinates[(size_t)side * d + (size_t)e->channels->inputs[s].index];
    for (uint32_t s = 0; s < e->program->input_count; s++) {
        const sgi_input *input = &e->program->inputs[s];
        if (input->kind == SG_INPUT_FIELD && input->side == side)
            outputs[s] = (void *)(uintptr_t)e->inputs[s];
    }
    sgi_program_evaluate(e->channels, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, N, inputs, NULL,
                         outputs, scratch);
    return SG_OK;
}

/* How far each point moves in differences along `along`. A shock is about 2 nu wide in x; time
 * derivatives are those of the outer solution. `moved` and `x` are memory. */
static sg_status find_steps(examination *e, const double *const *from, int along, double *moved,
                            double *x, double *steps)
{
    static const double probe = 1e-6;
    const sgi_solution *solution = &e->problem->solution;
    bool in_x = along == solution->x;
    double step = in_x ? fmin(0.1 * solution->nu, 1e-3) : 1e-4;
    for (size_t i = 0; i < N; i++)
        steps[i] = step;
    if (!in_x || !solution->program)
        return SG_OK;
    const double *at[2] = {from[0], from[1]};
    sg_status status = sgi_exact_x(e->problem, at, N, steps, NULL);
    for (size_t i = 0; i < N; i++)
        moved[i] = from[along][i] + probe;
    at[along] = moved;
    if (status == SG_OK)
        status = sgi_exact_x(e->problem, at, N, x, NULL);
    for (size_t i = 0; i < N; i++)
        steps[i] = step / fmax(fabs(x[i] - steps[i]) / probe, 1e-9);
    return status;
}

/* Sixth-order central differences of u along `along`, of order 0, 1 or 2. */
static sg_status difference(examination *e, int side, int along, int order, double *result)
{
    static const double weights[3][7] = {
        {0, 0, 0, 1, 0, 0, 0},
        {-1 / 60.0, 9 / 60.0, -45 / 60.0, 0, 45 / 60.0, -9 / 60.0, 1 / 60.0},
        {2 / 180.0, -27 / 180.0, 270 / 180.0, -490 / 180.0, 270 / 180.0, -27 / 180.0, 2 / 180.0}};
    int d = e->problem->names.coordinate_count;
    const double *from[2] = {e->coordinates[side * d], e->coordinates[side * d + 1]};
    const double *at[2] = {from[0], from[1]};
    double *moved = sgi_arena_allocate(&e->memory, N, sizeof *moved);
    double *u = sgi_arena_allocate(&e->memory, N, sizeof *u);
    double *steps = sgi_arena_allocate(&e->memory, N, sizeof *steps);
    if (!moved || !u || !steps)
        return SG_ERROR_MEMORY;
    sg_status status = find_steps(e, from, along, moved, u, steps);
    memset(result, 0, N * sizeof *result);
    at[along] = moved;
    for (int k = 0; k < 7 && status == SG_OK; k++) {
        if (weights[order][k] == 0)
            continue;
        for (size_t i = 0; i < N; i++)
            moved[i] = from[along][i] + (k - 3) * steps[i];
        status = sgi_exact_evaluate(e->problem, at, N, &u, NULL);
        for (size_t i = 0; i < N; i++)
            result[i] += weights[order][k] / pow(steps[i], order) * u[i];
    }
    return status;
}

/* Moves points away from t = 0 where a difference in time would look before it. */
static void leave_start(examination *e)
{
    const sgi_solution *solution = &e->problem->solution;
    bool slopes = false;
    for (uint32_t s = 0; s < e->program->input_count; s++)
        slopes |= e->program->inputs[s].kind == SG_INPUT_FIELD &&
                  sgi_derivative_order(e->program->inputs[s].derivative, solution->t) > 0;
    for (size_t i = 0; slopes && i < N; i++)
        e->coordinates[solution->t][i] = fmax(e->coordinates[solution->t][i], 4e-4);
}

static sg_status fill_by_differences(examination *e, int side)
{
    for (uint32_t s = 0; s < e->program->input_count; s++) {
        const sgi_input *input = &e->program->inputs[s];
        if (input->kind != SG_INPUT_FIELD || input->side != side)
            continue;
        int along = e->problem->solution.x, order = sgi_derivative_total(input->derivative);
        if (order > 0 && sgi_derivative_order(input->derivative, along) == 0)
            along = e->problem->solution.t;
        if (order > 2 || sgi_derivative_order(input->derivative, along) != order)
            return SG_ERROR_UNSUPPORTED;
        sg_status status = difference(e, side, along, order, (double *)(uintptr_t)e->inputs[s]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

/* ---- One set ------------------------------------------------------------------------------ */

static sg_status make_arrays(examination *e)
{
    size_t d = (size_t)e->problem->names.coordinate_count;
    size_t outputs = 2 * (size_t)e->set->component_count, inputs = e->program->input_count;
    double *block = sgi_arena_allocate(&e->memory, (3 * d + outputs + inputs) * N, sizeof *block);
    e->inputs = sgi_arena_allocate(&e->memory, inputs, sizeof *e->inputs);
    e->outputs = sgi_arena_allocate(&e->memory, outputs, sizeof *e->outputs);
    e->scratch = sgi_arena_allocate(&e->memory, sgi_program_scratch(e->program) + 64, 1);
    if (!block || !e->inputs || !e->outputs || !e->scratch)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < 2 * d; k++, block += N)
        e->coordinates[k] = block;
    for (size_t k = 0; k < d; k++, block += N)
        e->normals[k] = block;
    for (size_t k = 0; k < outputs; k++, block += N)
        e->outputs[k] = block;
    for (size_t s = 0; s < inputs; s++, block += N) {
        const sgi_input *input = &e->program->inputs[s];
        e->inputs[s] = block;
        if (input->kind == SG_INPUT_COORDINATE)
            e->inputs[s] = e->coordinates[(size_t)input->side * d + (size_t)input->index];
        if (input->kind == SG_INPUT_NORMAL)
            e->inputs[s] = e->normals[input->index];
        if (input->kind == SG_INPUT_UNKNOWN)
            for (size_t i = 0; i < N; i++)
                block[i] = e->problem->unknowns[input->index].start;
    }
    return SG_OK;
}

/* An integral's own points, and their weights. */
static sg_status fill_quadrature(examination *e)
{
    size_t d = (size_t)e->problem->names.coordinate_count;
    double *rows = sgi_arena_allocate(&e->memory, 2 * d * N, sizeof *rows);
    e->weights = sgi_arena_allocate(&e->memory, N, sizeof *e->weights);
    if (!rows || !e->weights)
        return SG_ERROR_MEMORY;
    sgi_quadrature(e->problem, e->set, N, rows, rows + d * N, e->weights);
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < N; i++) {
            e->coordinates[k][i] = rows[i * d + k];
            e->normals[k][i] = rows[(N + i) * d + k];
        }
    return SG_OK;
}

static sg_status fill_inputs(examination *e)
{
    sgi_draw draw = {0, SG_POINTS_CHECK, 0};
    bool expressions = e->problem->solution.kind == SG_SOLUTION_EXPRESSIONS;
    sgi_sample(e->problem, e->index, N, &draw, 0, N, SG_FLOAT64, (void *const *)e->coordinates);
    sgi_sample_normals(e->problem, e->index, N, &draw, 0, N, SG_FLOAT64, (void *const *)e->normals);
    sg_status status = e->set->integral ? fill_quadrature(e) : SG_OK;
    if (status != SG_OK)
        return status;
    if (expressions)
        status = compile_channels(e);
    else
        leave_start(e);
    for (int side = 0; side < e->set->points_per_item && status == SG_OK; side++)
        status = expressions ? fill_by_expressions(e, side) : fill_by_differences(e, side);
    return status;
}

/* An integral is one number: every point stands for it. */
static void take_mean(const examination *e, double *residual)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += e->weights[i] * residual[i];
    for (size_t i = 0; i < N; i++)
        residual[i] = sum;
}

static void judge(const examination *e, int component, double size, double tolerance,
                  sgi_check_row *row)
{
    double *residual = e->outputs[component];
    if (e->weights) {
        take_mean(e, residual);
        tolerance = of_integrals;
    }
    const double *terms = e->outputs[e->set->component_count + component];
    size_t worst = 0;
    double scale = e->set->scales ? e->set->scales[component] : size, sum = 0;
    for (size_t i = 0; i < N; i++) {
        scale = terms[i] > scale ? terms[i] : scale;
        sum += fabs(residual[i]);
        if (!(fabs(residual[i]) <= fabs(residual[worst])))
            worst = i;
    }
    *row = (sgi_check_row){.set = e->set->name,
                           .what = sgi_point_set_what(e->set),
                           .term = e->set->terms[e->set->component_terms[component]].name,
                           .component = component,
                           .largest = scale > 0 ? fabs(residual[worst]) / scale : 0,
                           .mean = scale > 0 ? sum / N / scale : 0,
                           .scale = scale};
    for (int k = 0; k < e->problem->names.coordinate_count; k++)
        row->worst[k] = e->coordinates[k][worst];
    row->passed = row->largest <= tolerance;
}

/* The fields in each component, as bits, and whether it has unknown constants. */
static sg_status note_fields(examination *e, sgi_check_row *rows)
{
    const sgi_expressions *exprs = e->problem->exprs;
    uint8_t *reached = sgi_arena_allocate(&e->memory, exprs->count, 1);
    if (!reached)
        return SG_ERROR_MEMORY;
    for (int c = 0; c < e->set->component_count; c++) {
        sgi_expressions_reach(exprs, &e->set->roots[c], 1, reached);
        for (sgi_expr i = 0; i < exprs->count; i++) {
            const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
            if (input && input->kind == SG_INPUT_FIELD)
                rows[c].fields |= (uint64_t)1 << input->index;
            if (input && input->kind == SG_INPUT_UNKNOWN)
                rows[c].unknown = rows[c].passed = true;
        }
    }
    return SG_OK;
}

static sg_status examine(sgi_problem *problem, int index, double size, sgi_check *check)
{
    examination e = {.problem = problem, .index = index, .set = &problem->sets[index]};
    sgi_arena_init(&e.memory, &problem->allocator);
    sg_status status = compile_residuals(&e);
    if (status == SG_OK)
        status = make_arrays(&e);
    if (status == SG_OK)
        status = fill_inputs(&e);
    if (status == SG_OK) {
        sgi_program_evaluate(e.program, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, N, e.inputs, NULL,
                             e.outputs, e.scratch);
        sgi_check_row *rows = &check->rows[check->count];
        for (int c = 0; c < e.set->component_count; c++)
            judge(&e, c, size, check->tolerance, &check->rows[check->count++]);
        status = note_fields(&e, rows);
    }
    sgi_program_destroy(e.program);
    sgi_program_destroy(e.channels);
    sgi_arena_clear(&e.memory);
    return status;
}

/* The largest value of any field of the reference where it lives, at points of one set. */
static sg_status size_in_set(sgi_problem *problem, int index, double **arrays, double *size)
{
    size_t d = (size_t)problem->names.coordinate_count, f = (size_t)problem->names.field_count;
    sgi_draw draw = {0, SG_POINTS_CHECK, 1};
    sgi_sample(problem, index, N, &draw, 0, N, SG_FLOAT64, (void *const *)arrays);
    sg_status status =
        sgi_exact_evaluate(problem, (const double *const *)arrays, N, arrays + d, NULL);
    for (size_t k = 0; k < f && status == SG_OK; k++)
        for (size_t i = 0; i < N && (!problem->homes[k] || problem->homes[k] >> index & 1); i++)
            *size = fmax(*size, fabs(arrays[d + k][i]));
    return status;
}

static sg_status solution_size(sgi_problem *problem, double *size)
{
    size_t d = (size_t)problem->names.coordinate_count, f = (size_t)problem->names.field_count;
    double *arrays[SG_MOST_COORDINATES + SG_MOST_FIELDS];
    double *block = sgi_allocate(&problem->allocator, (d + f) * N, sizeof *block);
    if (!block)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < d + f; k++)
        arrays[k] = block + k * N;
    *size = 0;
    sg_status status = SG_OK;
    for (int k = 0; k < problem->set_count && status == SG_OK; k++)
        if (problem->sets[k].kind == SG_SET_DOMAIN)
            status = size_in_set(problem, k, arrays, size);
    sgi_release(&problem->allocator, block);
    return status;
}

sg_status sgi_problem_check(sgi_problem *problem, sgi_check *check)
{
    size_t rows = 0;
    double size = 0;
    uint32_t nodes = problem->exprs->count, inputs = problem->exprs->input_count;
    memset(check, 0, sizeof *check);
    if (problem->solution.kind == SG_SOLUTION_NONE || problem->solution.kind == SG_SOLUTION_FILES)
        return SG_ERROR_UNSUPPORTED;
    check->tolerance = problem->solution.kind == SG_SOLUTION_EXPRESSIONS ? 1e-6 : 1e-5;
    for (int k = 0; k < problem->set_count; k++)
        rows += (size_t)problem->sets[k].component_count;
    check->rows = sgi_allocate(&problem->allocator, rows, sizeof *check->rows);
    sg_status status = check->rows ? solution_size(problem, &size) : SG_ERROR_MEMORY;
    for (int k = 0; k < problem->set_count && status == SG_OK; k++)
        if (problem->sets[k].kind != SG_SET_DATA) /* which has noise */
            status = examine(problem, k, size, check);
    sgi_expressions_rewind(problem->exprs, nodes, inputs);
    check->passed = status == SG_OK;
    for (size_t i = 0; check->rows && i < check->count; i++)
        check->passed &= check->rows[i].passed;
    if (status != SG_OK)
        sgi_check_release(problem, check);
    return status;
}

const char *sgi_check_sentence(const sgi_problem *problem, const sgi_check *check, char *text,
                               size_t size)
{
    const sgi_check_row *worst = &check->rows[0];
    char point[200];
    for (size_t i = 1; i < check->count; i++)
        if (worst->passed || !(check->rows[i].largest <= worst->largest))
            worst = check->rows[i].passed ? worst : &check->rows[i];
    snprintf(text, size,
             "the reference is off by %.2g in %s '%s', relative to the size of its terms, at %s",
             worst->largest, worst->what, worst->term,
             sgi_problem_point(problem, worst->worst, point, sizeof point));
    return text;
}

void sgi_check_release(const sgi_problem *problem, sgi_check *check)
{
    sgi_release(&problem->allocator, check->rows);
    *check = (sgi_check){.rows = NULL};
}
