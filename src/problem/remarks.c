/* Reasons to think that a problem is under-determined: see remarks.h.
 *
 * A survey counts, for each field, the highest derivative by each coordinate in the equations, and
 * what is given on planes of each coordinate. The rules then compare: an equation of order m in a
 * coordinate usually takes m conditions on its planes. A period ties its coordinate's faces. */
#include "problem/remarks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "problem/exact_conditions.h"
#include "problem/place.h"
#include "problem/scales.h"

enum { MOST_GIVEN = 16 };

/* What is given of a field on planes of one coordinate: different planes or orders count. */
typedef struct given {
    double values[MOST_GIVEN];
    int orders[MOST_GIVEN];
    int count;
} given;

typedef struct field_survey {
    int orders[SG_MOST_COORDINATES]; /* highest derivative in the equations */
    int equations;                   /* that contain it */
    bool linked;                     /* stands without derivatives in one of them */
    bool conditioned;                /* is in a condition */
    bool measured;                   /* is in a data set */
    given given[SG_MOST_COORDINATES];
} field_survey;

typedef struct survey {
    sgi_problem *problem;
    field_survey fields[SG_MOST_FIELDS];
    unsigned periodic; /* coordinates, as bits */
    uint8_t *reached;  /* (nodes) */
} survey;

__attribute__((format(printf, 2, 3))) static void remark(sgi_remarks *remarks, const char *format,
                                                         ...)
{
    va_list list;
    if (remarks->count == SG_MOST_REMARKS)
        return;
    va_start(list, format);
    vsnprintf(remarks->texts[remarks->count++], SG_REMARK_SIZE, format, list);
    va_end(list);
}

/* ---- The survey --------------------------------------------------------------------------- */

/* The highest derivatives of each field that `root` contains; -1: not in it. */
static void look_at(const survey *s, sgi_expr root, int orders[SG_MOST_FIELDS][SG_MOST_COORDINATES],
                    bool here[SG_MOST_FIELDS])
{
    const sgi_expressions *exprs = s->problem->exprs;
    memset(orders, 0, sizeof(int) * SG_MOST_FIELDS * SG_MOST_COORDINATES);
    memset(here, 0, sizeof(bool) * SG_MOST_FIELDS);
    sgi_expressions_reach(exprs, &root, 1, s->reached);
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_input *input = s->reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (!input || input->kind != SG_INPUT_FIELD)
            continue;
        here[input->index] = true;
        for (int k = 0; k < SG_MOST_COORDINATES; k++) {
            int order = sgi_derivative_order(input->derivative, k);
            if (order > orders[input->index][k])
                orders[input->index][k] = order;
        }
    }
}

static void look_at_equation(survey *s, sgi_expr root)
{
    int orders[SG_MOST_FIELDS][SG_MOST_COORDINATES];
    bool here[SG_MOST_FIELDS];
    look_at(s, root, orders, here);
    for (int f = 0; f < s->problem->names.field_count; f++) {
        field_survey *field = &s->fields[f];
        bool plain = here[f];
        for (int k = 0; k < SG_MOST_COORDINATES; k++) {
            plain = plain && orders[f][k] == 0;
            if (orders[f][k] > field->orders[k])
                field->orders[k] = orders[f][k];
        }
        field->equations += here[f];
        field->linked = field->linked || plain;
    }
}

static void add_given(given *list, double value, int order)
{
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == value && list->orders[i] == order)
            return;
    if (list->count == MOST_GIVEN)
        return;
    list->values[list->count] = value;
    list->orders[list->count++] = order;
}

/* A side of a shape closes the domain along every axis, so it counts as two planes of each. */
static void look_at_face(survey *s, int f, const sgi_face *face, const int *orders)
{
    const sgi_domain *domain = &s->problem->domain;
    int order = 0;
    if (face->interior)
        return;
    if (!face->region) {
        add_given(&s->fields[f].given[face->coordinate], face->value, orders[face->coordinate]);
        return;
    }
    for (int k = 0; k < domain->axes; k++) /* u_n has slopes along all of them */
        order = orders[domain->coordinates[k]] > order ? orders[domain->coordinates[k]] : order;
    for (int k = 0; k < domain->axes; k++) {
        add_given(&s->fields[f].given[domain->coordinates[k]], face->region->lower[k], order);
        add_given(&s->fields[f].given[domain->coordinates[k]], face->region->upper[k], order);
    }
}

static void look_at_condition(survey *s, const sgi_point_set *set, sgi_expr root)
{
    int orders[SG_MOST_FIELDS][SG_MOST_COORDINATES];
    bool here[SG_MOST_FIELDS];
    look_at(s, root, orders, here);
    for (int f = 0; f < s->problem->names.field_count; f++) {
        if (!here[f])
            continue;
        s->fields[f].conditioned = true;
        s->fields[f].measured = s->fields[f].measured || set->kind == SG_SET_DATA;
        for (int i = 0; i < set->face_count && set->kind == SG_SET_FACES && !set->integral; i++)
            look_at_face(s, f, &set->faces[i], orders[f]);
    }
}

/* A coordinate that the network sees through its period alone is periodic by itself. */
static unsigned periodic_inputs(const sgi_problem *problem)
{
    const sgi_input_settings *in = &problem->settings.inputs;
    unsigned bits = 0;
    for (int k = 0; k < problem->names.coordinate_count; k++)
        if (in->periodic[k] > 0 && !(in->raw >> k & 1) && in->random_count == 0 &&
            (in->frequencies.count == 0 || !(in->fourier_of >> k & 1)))
            bits |= 1u << k;
    return bits;
}

static sg_status take_survey(survey *s)
{
    const sgi_problem *problem = s->problem;
    s->reached = sgi_allocate(&problem->allocator, problem->exprs->count, 1);
    if (!s->reached)
        return SG_ERROR_MEMORY;
    s->periodic = periodic_inputs(problem);
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        for (int c = 0; c < set->component_count; c++) {
            if (set->kind == SG_SET_DOMAIN)
                look_at_equation(s, set->roots[c]);
            else
                look_at_condition(s, set, set->roots[c]);
        }
        for (int i = 0; i < set->face_count && set->kind == SG_SET_PAIRS; i++)
            s->periodic |= 1u << set->faces[i].coordinate;
    }
    for (int i = 0; i < problem->exact_count; i++) {
        const sgi_exact *exact = &problem->exacts[i];
        const int orders[SG_MOST_COORDINATES] = {0};
        s->fields[exact->field].conditioned = true;
        for (int f = 0; f < exact->place.face_count; f++)
            look_at_face(s, exact->field, &exact->place.faces[f], orders);
        if (exact->has_slope)
            add_given(&s->fields[exact->field].given[problem->names.time],
                      exact->place.faces[0].value, 1);
    }
    sgi_release(&problem->allocator, s->reached);
    return SG_OK;
}

/* ---- The rules ---------------------------------------------------------------------------- */

static void check_start(const survey *s, int f, sgi_remarks *remarks)
{
    const sgi_names *names = &s->problem->names;
    const field_survey *field = &s->fields[f];
    const char *name = names->fields[f];
    int t = names->time, order = t < 0 ? 0 : field->orders[t];
    if (order == 0 || s->periodic >> t & 1)
        return;
    const given *list = &field->given[t];
    double start = s->problem->lower[t];
    if (list->count == 0)
        remark(remarks,
               "no condition says where '%s' starts, and its equations contain %s_t: add one at "
               "t = %g",
               name, name, start);
    else if (list->count < order && order == 2)
        remark(remarks,
               "'%s' is of second order in t, and at t = %g only %s%s is given: add %s%s there",
               name, list->values[0], name, list->orders[0] == 0 ? "" : "_t", name,
               list->orders[0] == 0 ? "_t" : "");
    else if (list->count < order)
        remark(remarks, "'%s' is of order %d in t, and has %d conditions on planes of t", name,
               order, list->count);
}

static void check_space(const survey *s, int f, int k, sgi_remarks *remarks)
{
    const sgi_names *names = &s->problem->names;
    const field_survey *field = &s->fields[f];
    const char *name = names->fields[f], *x = names->coordinates[k];
    int order = field->orders[k], count = field->given[k].count;
    bool carried = order == 1 && names->time >= 0 && field->orders[names->time] > 0;
    if (k == names->time || s->periodic >> k & 1)
        return;
    if (carried && count == 0)
        remark(remarks,
               "'%s' is carried along %s, and no condition is on a face of %s: what flows in is "
               "open",
               name, x, x);
    if (order >= 2 && count < order)
        remark(remarks,
               "'%s' is of order %d in %s, which usually takes %d conditions on faces of %s; there "
               "%s %d",
               name, order, x, order, x, count == 1 ? "is" : "are", count);
}

static void check_field(const survey *s, int f, sgi_remarks *remarks)
{
    const sgi_names *names = &s->problem->names;
    const field_survey *field = &s->fields[f];
    bool differentiated = false;
    for (int k = 0; k < names->coordinate_count; k++)
        differentiated = differentiated || field->orders[k] > 0;
    if (field->equations == 0 && field->measured && !sgi_yaml_get(s->problem->root, "equations"))
        return; /* it is fitted to data alone */
    if (field->equations == 0) {
        remark(remarks, "no equation contains '%s': inside the domain nothing determines it",
               names->fields[f]);
        return;
    }
    if (!field->conditioned) {
        if (differentiated && !field->linked)
            remark(remarks,
                   "no condition contains '%s': its equations leave a constant open, at least",
                   names->fields[f]);
        return;
    }
    if (field->measured) /* what is open may follow from the data */
        return;
    check_start(s, f, remarks);
    for (int k = 0; k < names->coordinate_count; k++)
        check_space(s, f, k, remarks);
}

/* ---- Regions ------------------------------------------------------------------------------ */

enum { COVER_POINTS = 4096 };

/* The sets of equations, as bits, whose regions have the point. */
static uint64_t sets_at(const sgi_problem *problem, const double *point)
{
    uint64_t bits = 0;
    for (int k = 0; k < problem->set_count; k++)
        if (problem->sets[k].kind == SG_SET_DOMAIN &&
            (!problem->sets[k].region || sgi_problem_has(problem, (uint64_t)1 << k, point)))
            bits |= (uint64_t)1 << k;
    return bits;
}

/* Parts of the domain where no equation holds, and regions that overlap. */
static void check_cover(const sgi_problem *problem, sgi_remarks *remarks)
{
    int bare = 0, twice = 0, sets = 0;
    double first[SG_MOST_COORDINATES];
    uint64_t both = 0;
    char text[200];
    for (int k = 0; k < problem->set_count; k++) {
        sets += problem->sets[k].kind == SG_SET_DOMAIN;
        if (problem->sets[k].kind == SG_SET_DOMAIN && !problem->sets[k].region)
            return; /* what holds in a region then comes on top */
    }
    if (sets == 0) /* data alone */
        return;
    for (int i = 0; i < COVER_POINTS; i++) {
        double point[SG_MOST_COORDINATES] = {0};
        sgi_uniforms uniforms = {.stream = 5, .counter = (uint64_t)i << 24};
        sgi_place_interior(problem, NULL, &uniforms, point);
        uint64_t at = sets_at(problem, point);
        if (!at && bare++ == 0)
            memcpy(first, point, sizeof first);
        if ((at & (at - 1)) && twice++ == 0)
            both = at;
    }
    if (bare > 0)
        remark(remarks, "no equation holds in %.2g%% of the domain, as at %s",
               100.0 * bare / COVER_POINTS, sgi_problem_point(problem, first, text, sizeof text));
    if (twice * 1000 > COVER_POINTS) /* fewer lie on an interface, within rounding */
        remark(remarks, "the regions '%.60s' and '%.60s' overlap: the equations of both hold there",
               problem->sets[__builtin_ctzll(both)].name,
               problem->sets[__builtin_ctzll(both & (both - 1))].name);
}

/* Fewer equations than fields, in the domain or in one of its regions. */
static void check_count(const sgi_problem *problem, sgi_remarks *remarks)
{
    int everywhere = 0;
    for (int k = 0; k < problem->set_count; k++)
        if (problem->sets[k].kind == SG_SET_DOMAIN && !problem->sets[k].region)
            everywhere = problem->sets[k].component_count;
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        int fields = 0, equations = set->component_count + (set->region ? everywhere : 0);
        if (set->kind != SG_SET_DOMAIN)
            continue;
        for (int f = 0; f < problem->names.field_count; f++)
            fields += set->region ? !problem->homes[f] || problem->homes[f] >> k & 1
                                  : problem->homes[f] == 0;
        if (equations < fields)
            remark(remarks, "there are %d fields and %d equation%s%s%.60s", fields, equations,
                   equations == 1 ? "" : "s", set->region ? " in " : "",
                   set->region ? set->name : "");
    }
}

/* The margin is proportional to the reference scale, and that of `output` is small. */
static void check_margin(const sgi_problem *problem, sgi_remarks *remarks)
{
    const sgi_training_settings *training = &problem->settings.training;
    if (training->until == SG_STEP_MARGIN && training->reference.kind == SG_REFERENCE_OUTPUT)
        remark(remarks, "with the reference 'output' the margin is negative as a rule, and 'until: "
                        "margin' ends rescaling after two measurements: the paper measures it "
                        "with 'residual'");
}

/* Options of an optimizer that it does not look at. */
static void check_unused(const sgi_problem *problem, sgi_remarks *remarks)
{
    const sgi_stages *stages = &problem->settings.stages;
    char text[SG_REMARK_SIZE];
    for (int i = 0; i < stages->count; i++)
        if (sgi_training_remark(&stages->values[i], text, sizeof text))
            remark(remarks, "%s", text);
}

/* Training, or one of its stages, whose only end is a loss that it may never come to. */
static void check_ends(const sgi_problem *problem, sgi_remarks *remarks)
{
    const sgi_stages *stages = &problem->settings.stages;
    for (int i = 0; i < stages->count; i++) {
        char what[32] = "training";
        if (!sgi_training_is_endless(&stages->values[i]) || !(stages->values[i].tolerance > 0))
            continue;
        if (stages->count > 1)
            snprintf(what, sizeof what, "stage %d of training", i + 1);
        remark(remarks,
               "only its tolerance ends %s, and the loss may never be below %g: 'steps' or "
               "'seconds' beside it end it in any case",
               what, stages->values[i].tolerance);
    }
}

/* A method of second order on a network for another one. */
static void check_size(const sgi_problem *problem, sgi_remarks *remarks)
{
    enum { MANY = 5000 };
    const sgi_training_settings *dense = sgi_problem_dense(problem);
    double parameters = sgi_problem_parameters(problem);
    if (dense && parameters > MANY)
        remark(remarks,
               "a step of '%s' with %.0f weights takes seconds: 'network.hidden: 4 x 20' is enough "
               "for most problems, and the optimizer '%s' is for larger networks",
               sgi_training_optimizer(dense), parameters,
               sgi_second_has_jacobian(sgi_training_second(dense)) ? "kernel" : "lbfgs");
}

/* Of conditions that hold exactly: what they leave unused, and a reference that contradicts them.
 */
static sg_status check_exact(const sgi_problem *problem, sgi_remarks *remarks)
{
    sg_status status = SG_OK;
    const sgi_scales *scales = &problem->scales;
    for (int i = 0; i < problem->exact_count && status == SG_OK; i++) {
        const sgi_yaml *key = problem->exacts[i].key;
        double misfit = 0;
        if (sgi_yaml_get(key->next, "points") || sgi_yaml_get(key->next, "weight"))
            remark(remarks, "condition '%.60s' holds exactly: its points and weight are not used",
                   key->text);
        if (problem->solution.kind == SG_SOLUTION_EXPRESSIONS)
            status = sgi_exact_misfit(problem, i, &misfit);
        if (misfit > 1e-6 * (scales->on ? scales->fields[problem->exacts[i].field].size : 1))
            remark(remarks, "the reference differs by %.2g from the exact condition '%.60s'",
                   misfit, key->text);
    }
    return status;
}

/* ---- Units -------------------------------------------------------------------------------- */

/* Sizes that differ by more than this from each other, or from 1, are hard to train as they are. */
static const double many_orders = 1e3, far_from_one = 100;

/* The largest and the smallest part of the loss, by the sizes of its residuals. */
typedef struct extremes {
    const char *largest, *smallest;
    double most, least;
} extremes;

static sg_status find_extremes(sgi_problem *problem, const sgi_scales *scales, extremes *e)
{
    double sizes[SG_MOST_COMPONENTS];
    *e = (extremes){.least = INFINITY};
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        sg_status status = sgi_scales_residuals(problem, scales, k, sizes);
        if (status != SG_OK)
            return status;
        for (int c = 0; c < set->component_count; c++) {
            const sgi_term *term = &set->terms[set->component_terms[c]];
            double size = sizes[c] * sqrt(term->weight);
            if (!(size > 0))
                continue;
            e->largest = size > e->most ? term->name : e->largest;
            e->most = fmax(e->most, size);
            e->smallest = size < e->least ? term->name : e->smallest;
            e->least = fmin(e->least, size);
        }
    }
    return SG_OK;
}

/* A problem in units in which its numbers are far from 1, without `scales`. */
static sg_status check_scales(sgi_problem *problem, sgi_remarks *remarks)
{
    if (problem->scales.on)
        return SG_OK;
    sgi_scales *scales = sgi_allocate(&problem->allocator, 1, sizeof *scales);
    extremes e;
    if (!scales)
        return SG_ERROR_MEMORY;
    sg_status status = sgi_scales_find(problem, scales);
    bool told = false;
    double all = 0;
    for (int f = 0; f < problem->names.field_count && status == SG_OK; f++)
        all = fmax(all, scales->fields[f].size);
    for (int f = 0; f < problem->names.field_count && status == SG_OK; f++) {
        sgi_scale *scale = &scales->fields[f];
        double largest = fabs(scale->offset) + scale->size;
        if (scale->size <= 1e-15 * all) /* 0, but for rounding */
            scale->size = 1;
        else if (!told && (largest > far_from_one || largest < 1 / far_from_one)) {
            remark(remarks,
                   "'%s' has values of the size %.2g, and a network's are about 1: 'scales: auto' "
                   "would train it in units of its own",
                   problem->names.fields[f], largest);
            told = true;
        }
    }
    if (status == SG_OK)
        status = find_extremes(problem, scales, &e);
    if (status == SG_OK && !told && e.most > many_orders * e.least)
        remark(
            remarks,
            "the residuals of '%.60s' are about %.1g times those of '%.60s', which the loss will "
            "not see: 'scales: auto' would balance them",
            e.largest, e.most / e.least, e.smallest);
    sgi_release(&problem->allocator, scales);
    return status;
}

sg_status sgi_problem_remarks(sgi_problem *problem, sgi_remarks *remarks)
{
    int fields = problem->names.field_count;
    *remarks = (sgi_remarks){.count = 0};
    survey *s = sgi_allocate(&problem->allocator, 1, sizeof *s);
    if (!s)
        return SG_ERROR_MEMORY;
    s->problem = problem;
    sg_status status = take_survey(s);
    bool conditions = problem->exact_count > 0;
    for (int k = 0; k < problem->set_count; k++)
        conditions = conditions || problem->sets[k].kind != SG_SET_DOMAIN;
    if (status == SG_OK && !conditions)
        remark(remarks, "there are no conditions: the equations alone leave the solution open");
    if (status == SG_OK)
        check_count(problem, remarks);
    if (status == SG_OK)
        check_cover(problem, remarks);
    for (int f = 0; f < fields && status == SG_OK && conditions; f++)
        check_field(s, f, remarks);
    if (status == SG_OK)
        status = check_exact(problem, remarks);
    if (status == SG_OK)
        status = check_scales(problem, remarks);
    check_margin(problem, remarks);
    check_size(problem, remarks);
    check_unused(problem, remarks);
    check_ends(problem, remarks);
    sgi_release(&problem->allocator, s);
    return status;
}
