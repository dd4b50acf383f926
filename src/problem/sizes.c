/* Sizes of fields and residuals, from what a problem says at sample points. See scales.h.
 *
 * A residual is linearised: its value with all fields 0, and its derivative by each field and
 * derivative of a field that it contains. What a condition gives a field, u = g or u_x = g, is then
 * a quotient of the two, whichever way it is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "problem/data.h"
#include "problem/exact.h"
#include "problem/exact_conditions.h"
#include "problem/place.h"
#include "problem/sampler.h"
#include "problem/scales.h"
#include "problem/solution_files.h"

enum { N = 256 };

static const sgi_draw points_of_sizes = {0, SG_POINTS_CHECK, 3};

/* ---- One residual at sample points ------------------------------------------------------------
 */

typedef struct sample {
    sgi_problem *problem;
    const sgi_scales *scales; /* NULL: fields are 0 */
    int set;
    sgi_arena memory;
    double *coordinates[2 * SG_MOST_COORDINATES]; /* each (N) */
    double ones[N]; /* for the components of normals, none of which is small on all of a circle */
} sample;

static sg_status draw(sample *s)
{
    size_t d = (size_t)s->problem->names.coordinate_count;
    double *block = sgi_arena_allocate(&s->memory, 2 * d * N, sizeof *block);
    if (!block)
        return SG_ERROR_MEMORY;
    for (size_t k = 0; k < 2 * d; k++, block += N)
        s->coordinates[k] = block;
    for (size_t i = 0; i < N; i++)
        s->ones[i] = 1;
    sgi_sample(s->problem, s->set, N, &points_of_sizes, 0, N, SG_FLOAT64,
               (void *const *)s->coordinates);
    return SG_OK;
}

/* A field or a derivative of its size: above its offset at every second point, on either side at
 * the others, so that differences do not cancel. */
static void fill_field(const sample *s, const sgi_input *input, uint32_t slot, double *values)
{
    double size = s->scales ? sgi_scales_size(s->scales, input) : 0;
    bool value = s->scales && input->derivative == 0;
    double offset = value ? s->scales->fields[input->index].offset : 0;
    for (size_t i = 0; i < N; i++) {
        bool below = i % 2 && sgi_random_uniform(2, slot, i) < 0.5;
        values[i] = offset + (below ? -size : size);
    }
}

/* An unknown constant as it starts, or one step from there. */
static void fill_unknown(const sgi_unknown *unknown, double *values)
{
    for (size_t i = 0; i < N; i++)
        values[i] = unknown->start != 0 ? unknown->start : sgi_unknown_value(unknown, 1);
}

/* The usual factor of a data set's measurements of one expression: missing ones are 0. */
static double usual_factor(const sgi_data *data, size_t observed)
{
    double squares = 0, count = 0;
    for (size_t i = 0; i < data->trained; i++) {
        double factor = data->factors[observed * data->count + i];
        squares += factor * factor;
        count += factor != 0;
    }
    return count > 0 ? sqrt(squares / count) : 1;
}

/* What was measured; for sizes of residuals the values do not matter, and factors are alike. */
static void fill_data(const sample *s, int index, double *values)
{
    const sgi_data *data = s->problem->sets[s->set].data;
    void *columns[2 * SG_MOST_OBSERVED] = {NULL};
    columns[index] = values;
    sgi_data_columns(s->problem, s->set, N, &points_of_sizes, 0, N, SG_FLOAT64, columns);
    for (size_t i = 0; i < N && s->scales && index % 2; i++)
        values[i] = usual_factor(data, (size_t)index / 2);
}

/* The roots at the points, values[r] (N). */
static sg_status evaluate(sample *s, const sgi_expr *roots, size_t count, double **values)
{
    sgi_program *program;
    size_t d = (size_t)s->problem->names.coordinate_count;
    sg_status status =
        sgi_program_create(&program, s->problem->exprs, roots, count, &s->problem->allocator);
    if (status != SG_OK)
        return status;
    size_t slots = program->input_count;
    const void **inputs = sgi_arena_allocate(&s->memory, slots, sizeof *inputs);
    double *block = sgi_arena_allocate(&s->memory, slots * N, sizeof *block);
    void *scratch = sgi_arena_allocate(&s->memory, sgi_program_scratch(program) + 64, 1);
    status = inputs && block && scratch ? SG_OK : SG_ERROR_MEMORY;
    for (uint32_t k = 0; k < slots && status == SG_OK; k++) {
        const sgi_input *input = &program->inputs[k];
        size_t index = (size_t)input->index;
        double *own = block + (size_t)k * N;
        inputs[k] = own;
        if (input->kind == SG_INPUT_COORDINATE)
            inputs[k] = s->coordinates[(size_t)input->side * d + index];
        else if (input->kind == SG_INPUT_NORMAL)
            inputs[k] = s->ones;
        else if (input->kind == SG_INPUT_DATA)
            fill_data(s, input->index, own);
        else if (input->kind == SG_INPUT_UNKNOWN)
            fill_unknown(&s->problem->unknowns[index], own);
        else
            fill_field(s, input, k, own);
    }
    if (status == SG_OK)
        sgi_program_evaluate(program, sg_isa_resolve(SG_ISA_AUTO), SG_FLOAT64, N, inputs, NULL,
                             (void *const *)values, scratch);
    sgi_program_destroy(program);
    return status;
}

/* A residual and its derivatives by the fields in it. */
typedef struct linear {
    size_t count;
    sgi_expr *nodes;  /* (count): the inputs that are fields */
    sgi_expr *slopes; /* (count) */
    double **values;  /* (count + 1), each (N): slopes, then the residual */
} linear;

static sg_status find_slopes(sample *s, sgi_expr root, linear *l)
{
    sgi_expressions *exprs = s->problem->exprs;
    uint8_t *reached = sgi_arena_allocate(&s->memory, exprs->count, 1);
    l->nodes = sgi_arena_allocate(&s->memory, exprs->input_count, sizeof *l->nodes);
    if (!reached || !l->nodes)
        return SG_ERROR_MEMORY;
    sgi_expressions_reach(exprs, &root, 1, reached);
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (input && input->kind == SG_INPUT_FIELD)
            l->nodes[l->count++] = i;
    }
    sgi_expr seed = sgi_constant(exprs, 1);
    l->slopes = sgi_arena_allocate(&s->memory, l->count + 1, sizeof *l->slopes);
    l->values = sgi_arena_allocate(&s->memory, l->count + 1, sizeof *l->values);
    double *block = sgi_arena_allocate(&s->memory, (l->count + 1) * N, sizeof *block);
    if (!l->slopes || !l->values || !block)
        return SG_ERROR_MEMORY;
    sgi_adjoints(exprs, &root, &seed, 1, l->nodes, l->count, l->slopes);
    l->slopes[l->count] = root;
    for (size_t k = 0; k <= l->count; k++)
        l->values[k] = block + k * N;
    return exprs->status == SG_OK ? evaluate(s, l->slopes, l->count + 1, l->values) : exprs->status;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The size that nine of ten numbers do not exceed, of those that are finite; 0 for none. A single
 * large one, as 1/r near r = 0, does not count. */
static double usual_size(const double *values)
{
    double sizes[N];
    size_t count = 0;
    for (size_t i = 0; i < N; i++)
        if (isfinite(values[i]))
            sizes[count++] = fabs(values[i]);
    qsort(sizes, count, sizeof *sizes, by_size);
    return count ? sizes[count * 9 / 10] : 0;
}

static const sgi_input *input_of(const sample *s, const linear *l, size_t k)
{
    return sgi_expr_input(s->problem->exprs, l->nodes[k]);
}

/* Linearises component `c` of the set. */
static sg_status linearise(sample *s, int c, linear *l)
{
    *l = (linear){.count = 0};
    return find_slopes(s, s->problem->sets[s->set].roots[c], l);
}

sg_status sgi_scales_residuals(sgi_problem *problem, const sgi_scales *scales, int set,
                               double *sizes)
{
    sample s = {.problem = problem, .scales = scales, .set = set};
    uint32_t nodes = problem->exprs->count, inputs = problem->exprs->input_count;
    sgi_arena_init(&s.memory, &problem->allocator);
    sg_status status = draw(&s);
    for (int c = 0; c < problem->sets[set].component_count && status == SG_OK; c++) {
        linear l;
        status = linearise(&s, c, &l);
        sizes[c] = 0;
        for (size_t k = 0; k < l.count && status == SG_OK; k++) {
            double size = sgi_scales_size(scales, input_of(&s, &l, k));
            sizes[c] = fmax(sizes[c], size * usual_size(l.values[k]));
        }
        if (!isfinite(sizes[c]))
            sizes[c] = 0;
    }
    sgi_expressions_rewind(problem->exprs, nodes, inputs);
    sgi_arena_clear(&s.memory);
    return status;
}

/* ---- Sizes of fields --------------------------------------------------------------------------
 */

/* What is known of a field: its values, and sizes that slopes and sources would give it. */
typedef struct found {
    double least, most;
    double driven;
    char by[SG_SCALE_ORIGIN], driver[SG_SCALE_ORIGIN];
} found;

typedef struct search {
    sgi_problem *problem;
    sgi_scales *scales; /* sizes of coordinates are known */
    found fields[SG_MOST_FIELDS];
} search;

/* Adds "condition 'ends'" to where the sizes come from, once. */
static void note(char *text, const char *what, const char *name)
{
    char origin[SG_SCALE_ORIGIN];
    size_t used = strlen(text), room = SG_SCALE_ORIGIN - used;
    int length = name ? snprintf(origin, sizeof origin, "%s '%.60s'", what, name)
                      : snprintf(origin, sizeof origin, "%s", what);
    if (length < 0 || (size_t)length + 3 > room || strstr(text, origin))
        return;
    (void)snprintf(text + used, room, "%s%.*s", used ? ", " : "", length, origin);
}

static void add_values(found *f, const double *values, size_t count, const char *what,
                       const char *name)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        f->least = fmin(f->least, values[i]);
        f->most = fmax(f->most, values[i]);
        any = true;
    }
    if (any)
        note(f->by, what, name);
}

/* The field that the residual contains alone, and linearly; -1: there is none such. */
static int only_field(const sample *s, const linear *l)
{
    int field = l->count > 0 ? input_of(s, l, 0)->index : -1;
    for (size_t k = 0; k < l->count && field >= 0; k++)
        if (input_of(s, l, k)->index != field || input_of(s, l, k)->side != 0 ||
            sgi_depends_on(s->problem->exprs, l->slopes[k], SG_INPUT_FIELD))
            field = -1;
    return field;
}

/* What a residual of one field says of it: u = g gives values; anything else, as k u_xx = f, the
 * size with which it would balance. */
static void use_residual(search *a, const sample *s, const linear *l, const sgi_point_set *set,
                         int component)
{
    int field = only_field(s, l);
    const char *what = sgi_point_set_what(set);
    const char *term = set->terms[set->component_terms[component]].name;
    double given[N], *rest = l->values[l->count], sensitivity = 0;
    bool valued = false;
    if (field < 0)
        return;
    for (size_t k = 0; k < l->count; k++) {
        const sgi_input *input = input_of(s, l, k);
        double unit = sgi_scales_unit(a->scales, input->derivative);
        sensitivity = fmax(sensitivity, usual_size(l->values[k]) / unit);
        for (size_t i = 0; i < N && input->derivative == 0; i++)
            given[i] = -rest[i] / l->values[k][i];
        if (input->derivative == 0 && set->kind != SG_SET_DOMAIN) {
            add_values(&a->fields[field], given, N, what, term);
            valued = true;
        }
    }
    double driven = usual_size(rest) / sensitivity;
    if (valued || !isfinite(driven) || driven <= a->fields[field].driven)
        return;
    a->fields[field].driven = driven;
    a->fields[field].driver[0] = '\0';
    note(a->fields[field].driver, what, term);
}

static sg_status search_set(search *a, int set)
{
    sample s = {.problem = a->problem, .set = set};
    const sgi_point_set *points = &a->problem->sets[set];
    sgi_arena_init(&s.memory, &a->problem->allocator);
    sg_status status = points->kind == SG_SET_PAIRS ? SG_OK : draw(&s);
    for (int c = 0; c < points->component_count && points->kind != SG_SET_PAIRS; c++) {
        linear l;
        if (status == SG_OK)
            status = linearise(&s, c, &l);
        if (status == SG_OK)
            use_residual(a, &s, &l, points, c);
    }
    sgi_arena_clear(&s.memory);
    return status;
}

/* The values of a condition that holds exactly, on its place. */
static sg_status search_exact(search *a, const sgi_exact *e)
{
    sample s = {.problem = a->problem};
    double values[N], normal[SG_MOST_COORDINATES], *to[] = {values};
    size_t d = (size_t)a->problem->names.coordinate_count;
    sgi_arena_init(&s.memory, &a->problem->allocator);
    double *block = sgi_arena_allocate(&s.memory, d * N, sizeof *block);
    sg_status status = block ? SG_OK : SG_ERROR_MEMORY;
    for (size_t i = 0; i < N && status == SG_OK; i++) {
        double point[SG_MOST_COORDINATES] = {0};
        sgi_uniforms uniforms = {.stream = 6, .counter = (uint64_t)i << 24};
        sgi_place_draw(a->problem, &e->place.faces[i % (size_t)e->place.face_count], false,
                       &uniforms, point, normal);
        for (size_t k = 0; k < d; k++) {
            s.coordinates[k] = block + k * N;
            s.coordinates[k][i] = point[k];
        }
    }
    if (status == SG_OK)
        status = evaluate(&s, &e->value, 1, to);
    if (status == SG_OK)
        add_values(&a->fields[e->field], values, N, "condition", e->key->text);
    sgi_arena_clear(&s.memory);
    return status;
}

/* The reference inside the domain, where each field lives. */
static sg_status search_reference(search *a)
{
    sgi_problem *problem = a->problem;
    size_t d = (size_t)problem->names.coordinate_count, f = (size_t)problem->names.field_count;
    double *arrays[SG_MOST_COORDINATES + SG_MOST_FIELDS];
    double *block = sgi_allocate(&problem->allocator, (d + f) * N, sizeof *block);
    sg_status status = block ? SG_OK : SG_ERROR_MEMORY;
    for (size_t k = 0; k < d + f && block; k++)
        arrays[k] = block + k * N;
    for (int set = 0; set < problem->set_count && status == SG_OK; set++) {
        sgi_draw points = {0, SG_POINTS_CHECK, 4};
        if (problem->sets[set].kind != SG_SET_DOMAIN)
            continue;
        sgi_sample(problem, set, N, &points, 0, N, SG_FLOAT64, (void *const *)arrays);
        status = sgi_exact_evaluate(problem, (const double *const *)arrays, N, arrays + d, NULL);
        for (size_t k = 0; k < f && status == SG_OK; k++)
            if (!problem->homes[k] || problem->homes[k] >> set & 1)
                add_values(&a->fields[k], arrays[d + k], N, "the reference", NULL);
    }
    sgi_release(&problem->allocator, block);
    return status;
}

/* The number to a hundredth or better of `size`: enough for a scale, and readable. */
static double rounded(double value, double size)
{
    char text[40];
    double digits = value == 0 ? 0 : log10(fabs(value) / size);
    (void)snprintf(text, sizeof text, "%.*g", 3 + (int)fmin(14, fmax(0, ceil(digits))), value);
    return strtod(text, NULL);
}

/* The size of values in [least, most]: their largest, unless they lie far from 0; then they are
 * measured from the end that is nearer to it. */
static void conclude(const found *f, sgi_scale *scale)
{
    double range = f->most - f->least, largest = fmax(fabs(f->least), fabs(f->most));
    double near = fabs(f->least) < fabs(f->most) ? f->least : f->most;
    bool any = f->most >= f->least && largest > 0;
    *scale = (sgi_scale){.size = 0};
    if (any && range > 1e-9 * largest) {
        bool far = f->least * f->most > 0 && range < 0.5 * largest;
        scale->size = far ? range : largest;
        scale->offset = far ? near : 0;
    } else if (f->driven > 0) {
        scale->size = f->driven;
        scale->offset = any && f->driven < 0.5 * largest ? near : 0;
        note(scale->origin, f->driver, NULL);
    } else if (any) {
        scale->size = largest;
    }
    if (any && scale->size > 0)
        note(scale->origin, f->by, NULL);
    scale->offset = rounded(scale->offset, scale->size);
    scale->size = rounded(scale->size, scale->size);
}

sg_status sgi_scales_find(sgi_problem *problem, sgi_scales *scales)
{
    uint32_t nodes = problem->exprs->count, inputs = problem->exprs->input_count;
    search *a = sgi_allocate(&problem->allocator, 1, sizeof *a);
    if (!a)
        return SG_ERROR_MEMORY;
    *a = (search){.problem = problem, .scales = scales};
    for (int k = 0; k < problem->names.coordinate_count; k++)
        if (scales->coordinates[k].size == 0) {
            scales->coordinates[k].size = problem->upper[k] - problem->lower[k];
            note(scales->coordinates[k].origin, "its range", NULL);
        }
    for (int f = 0; f < problem->names.field_count; f++) {
        a->fields[f].least = INFINITY;
        a->fields[f].most = -INFINITY;
    }
    sg_status status = SG_OK;
    for (int set = 0; set < problem->set_count && status == SG_OK; set++)
        status = search_set(a, set);
    for (int i = 0; i < problem->exact_count && status == SG_OK; i++)
        status = search_exact(a, &problem->exacts[i]);
    if (status == SG_OK && problem->solution.kind != SG_SOLUTION_NONE)
        status = search_reference(a);
    for (int f = 0; f < problem->names.field_count && status == SG_OK; f++)
        if (scales->fields[f].size == 0)
            conclude(&a->fields[f], &scales->fields[f]);
    sgi_expressions_rewind(problem->exprs, nodes, inputs);
    sgi_release(&problem->allocator, a);
    return status;
}
