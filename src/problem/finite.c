/* Expressions that are not finite in the domain: see remarks.h.
 *
 * Every residual is evaluated in double at sample points of its set, as often as it takes to find
 * it finite, each time with other values for the fields. A point is bad when the residual is finite
 * in no trial: then no network can mend it. At the first bad point the search goes down from the
 * residual to the operation that was given finite numbers and did not return one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "problem/data.h"
#include "problem/remarks.h"
#include "problem/sampler.h"

enum { N = 2048, MOST_TRIALS = 256 };

typedef struct trial {
    sgi_problem *problem;
    int index;
    const sgi_point_set *set;
    sgi_program *program;
    sgi_arena memory;                             /* everything below */
    double *coordinates[2 * SG_MOST_COORDINATES]; /* each (N) */
    double *normals[SG_MOST_COORDINATES];         /* each (N) */
    double **inputs;                              /* (slots), each (N) */
    double **outputs;                             /* (components), each (N) */
    uint8_t *bad;                                 /* (components, N): in every trial so far */
    void *scratch;
} trial;

static sg_status make_arrays(trial *t)
{
    size_t d = (size_t)t->problem->names.coordinate_count;
    size_t slots = t->program->input_count, components = (size_t)t->set->component_count;
    double *block = sgi_arena_allocate(&t->memory, (3 * d + slots + components) * N, sizeof *block);
    t->inputs = sgi_arena_allocate(&t->memory, slots, sizeof *t->inputs);
    t->outputs = sgi_arena_allocate(&t->memory, components, sizeof *t->outputs);
    t->bad = sgi_arena_allocate(&t->memory, components * N, 1);
    t->scratch = sgi_arena_allocate(&t->memory, sgi_program_scratch(t->program) + 64, 1);
    if (!block || !t->inputs || !t->outputs || !t->bad || !t->scratch)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < 2 * d; k++, block += N)
        t->coordinates[k] = block;
    for (size_t k = 0; k < d; k++, block += N)
        t->normals[k] = block;
    for (size_t k = 0; k < components; k++, block += N)
        t->outputs[k] = block;
    for (size_t s = 0; s < slots; s++, block += N) {
        const sgi_input *input = &t->program->inputs[s];
        t->inputs[s] = block;
        if (input->kind == SG_INPUT_COORDINATE)
            t->inputs[s] = t->coordinates[(size_t)input->side * d + (size_t)input->index];
        if (input->kind == SG_INPUT_NORMAL)
            t->inputs[s] = t->normals[input->index];
        if (input->kind == SG_INPUT_UNKNOWN)
            for (size_t i = 0; i < N; i++)
                block[i] = t->problem->unknowns[input->index].start;
    }
    memset(t->bad, 1, components * N);
    return SG_OK;
}

/* Values of both signs and of sizes from 0.1 to 10 for everything that the network gives. */
static void draw_fields(trial *t, uint64_t number)
{
    for (uint32_t s = 0; s < t->program->input_count; s++) {
        if (t->program->inputs[s].kind != SG_INPUT_FIELD)
            continue;
        for (size_t i = 0; i < N; i++) {
            double uniform[2];
            sgi_random_uniform2(1, number << 32 | s, i, uniform);
            t->inputs[s][i] = (uniform[0] < 0.5 ? -1 : 1) * pow(10, 2 * uniform[1] - 1);
        }
    }
}

/* Returns whether bad points are left. */
static bool run_trial(trial *t, uint64_t number)
{
    bool left = false;
    draw_fields(t, number);
    sgi_program_evaluate(t->program, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, N,
                         (const void *const *)t->inputs, NULL, (void *const *)t->outputs,
                         t->scratch);
    for (int c = 0; c < t->set->component_count; c++)
        for (size_t i = 0; i < N; i++)
            if (isfinite(t->outputs[c][i]))
                t->bad[(size_t)c * N + i] = 0;
            else
                left = left || t->bad[(size_t)c * N + i];
    return left;
}

/* ---- What went wrong ---------------------------------------------------------------------- */

static double input_value(const trial *t, const sgi_input *input, size_t point)
{
    uint32_t slot = sgi_program_slot(t->program, input);
    return slot == SG_NO_SLOT ? 0 : t->inputs[slot][point];
}

/* Fills values[node] for all nodes up to `root` at one point. */
static void evaluate_nodes(const trial *t, sgi_expr root, size_t point, double *values)
{
    const sgi_expressions *exprs = t->problem->exprs;
    for (sgi_expr i = 0; i <= root; i++) {
        const sgi_node *node = &exprs->nodes[i];
        const sgi_input *input = sgi_expr_input(exprs, i);
        if (input)
            values[i] = input_value(t, input, point);
        else if (node->op == SG_OP_CONSTANT)
            values[i] = node->value;
        else
            values[i] = sgi_op_apply(node->op, values[node->arguments[0]],
                                     values[node->arguments[1]], values[node->arguments[2]]);
    }
}

/* From `root` down to the operation whose arguments are finite; a branch not taken is passed by. */
static sgi_expr find_culprit(const sgi_expressions *exprs, sgi_expr root, const double *values)
{
    for (sgi_expr at = root;;) {
        const sgi_node *node = &exprs->nodes[at];
        bool where = node->op == SG_OP_WHERE;
        int skipped = where && values[node->arguments[0]] != 0 ? 2 : where ? 1 : -1, k = 0;
        while (k < sgi_op_arity(node->op) && (k == skipped || isfinite(values[node->arguments[k]])))
            k++;
        if (k == sgi_op_arity(node->op))
            return at;
        at = node->arguments[k];
    }
}

static sg_status describe_culprit(const trial *t, sgi_expr root, size_t point, char *text,
                                  size_t size)
{
    const sgi_expressions *exprs = t->problem->exprs;
    double *values = sgi_allocate(&exprs->allocator, (size_t)root + 1, sizeof *values);
    if (!values)
        return SG_ERROR_MEMORY;
    evaluate_nodes(t, root, point, values);
    const sgi_node *node = &exprs->nodes[find_culprit(exprs, root, values)];
    double a = values[node->arguments[0]], b = values[node->arguments[1]];
    const char *name = sgi_op_name(node->op);
    if (node->op >= SG_OP_SIN && sgi_op_arity(node->op) == 1)
        snprintf(text, size, "%s(%.4g)", name, a);
    else if (node->op >= SG_OP_SIN)
        snprintf(text, size, "%s(%.4g, %.4g)", name, a, b);
    else
        snprintf(text, size, "%.4g %s %.4g", a, name, b);
    sgi_release(&exprs->allocator, values);
    return SG_OK;
}

const char *sgi_problem_point(const sgi_problem *problem, const double *coordinates, char *text,
                              size_t size)
{
    size_t used = 0;
    for (int k = 0; k < problem->names.coordinate_count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s = %.4g", k ? ", " : "",
                                 problem->names.coordinates[k], coordinates[k]);
    return text;
}

/* The file's text of a term: the equation, or the condition. */
static void place_term(const trial *t, const char *term, sg_diagnostic *diagnostic)
{
    const sgi_yaml *section =
        sgi_yaml_get(t->problem->root, t->set->kind == SG_SET_DOMAIN ? "equations"
                                       : t->set->kind == SG_SET_DATA ? "data"
                                                                     : "conditions");
    const sgi_yaml *node = section ? sgi_yaml_get(section, term) : NULL;
    sgi_yaml_place(diagnostic, node ? node : t->problem->root, 0, 0);
}

static sg_status tell(const trial *t, int component, size_t point, sg_diagnostic *diagnostic)
{
    const char *term = t->set->terms[t->set->component_terms[component]].name;
    double place[SG_MOST_COORDINATES];
    char where[200], culprit[100];
    sg_status status =
        describe_culprit(t, t->set->roots[component], point, culprit, sizeof culprit);
    if (status != SG_OK)
        return status;
    for (int k = 0; k < t->problem->names.coordinate_count; k++)
        place[k] = t->coordinates[k][point];
    place_term(t, term, diagnostic);
    sgi_diagnostic_say(diagnostic, "%s '%.60s' is not finite at %s: %s", sgi_point_set_what(t->set),
                       term, sgi_problem_point(t->problem, place, where, sizeof where), culprit);
    sgi_diagnostic_suggest(diagnostic, "where(condition, this, that) keeps such points out");
    return SG_ERROR_FORMAT;
}

/* ---- All sets ----------------------------------------------------------------------------- */

/* The measured values themselves. */
static void fill_data(const trial *t, const sgi_draw *draw)
{
    void *columns[2 * SG_MOST_OBSERVED] = {NULL};
    for (uint32_t s = 0; s < t->program->input_count; s++)
        if (t->program->inputs[s].kind == SG_INPUT_DATA)
            columns[t->program->inputs[s].index] = t->inputs[s];
    sgi_data_columns(t->problem, t->index, N, draw, 0, N, SG_FLOAT64, columns);
}

static sg_status examine(trial *t, sg_diagnostic *diagnostic)
{
    sgi_draw draw = {0, SG_POINTS_CHECK, 2};
    sg_status status = sgi_program_create(&t->program, t->problem->exprs, t->set->roots,
                                          (size_t)t->set->component_count, &t->problem->allocator);
    if (status == SG_OK)
        status = make_arrays(t);
    if (status != SG_OK)
        return status;
    sgi_sample(t->problem, t->index, N, &draw, 0, N, SG_FLOAT64, (void *const *)t->coordinates);
    sgi_sample_normals(t->problem, t->index, N, &draw, 0, N, SG_FLOAT64, (void *const *)t->normals);
    if (t->set->kind == SG_SET_DATA)
        fill_data(t, &draw);
    uint64_t number = 0;
    while (number < MOST_TRIALS && run_trial(t, number))
        number++;
    if (number < MOST_TRIALS)
        return SG_OK;
    for (int c = 0; c < t->set->component_count; c++) {
        const uint8_t *found = memchr(t->bad + (size_t)c * N, 1, N);
        if (found)
            return tell(t, c, (size_t)(found - (t->bad + (size_t)c * N)), diagnostic);
    }
    return SG_OK;
}

sg_status sgi_problem_finite(sgi_problem *problem, sg_diagnostic *diagnostic)
{
    sg_status status = SG_OK;
    memset(diagnostic, 0, sizeof *diagnostic);
    for (int k = 0; k < problem->set_count && status == SG_OK; k++) {
        trial t = {.problem = problem, .index = k, .set = &problem->sets[k]};
        sgi_arena_init(&t.memory, &problem->allocator);
        status = examine(&t, diagnostic);
        sgi_program_destroy(t.program);
        sgi_arena_clear(&t.memory);
    }
    return status;
}
