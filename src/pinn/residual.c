/* The engine's callbacks: see residual.h. */
#include "pinn/residual.h"

#include <math.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/params.h"
#include "pinn/earlier.h"
#include "problem/data.h"
#include "problem/quadrature.h"

/* One set. Workspaces of workers do not share cache lines. */
typedef struct set_context {
    const struct sgi_residual *owner;
    int index;
    const sgi_point_set *set;
    int64_t items, sampled_items; /* now, and without given points */
    sgi_given given;
    sgi_given kept;     /* unless points are given: those that follow the residual; count 0: none */
    sgi_cloud cloud;    /* unless points are given or kept */
    sgi_given fixed;    /* the points of an integral */
    double *weights;    /* of an integral: (sampled items), the weight of each of its own points */
    double *totals;     /* of an integral: (components) */
    double *stored;     /* NULL, or (items, components): where weighted residuals go */
    double *parameters; /* (2 * components): 2 w / N and 0; of an integral 0 and 2 w I */
    double *roots;      /* (components): sqrt(2 w / N) */
    const sgi_time_factors *by_time; /* of the residuals, or NULL */
    char *workspaces;                /* (workers, workspace_bytes) */
    size_t workspace_bytes;
} set_context;

struct sgi_residual {
    sg_allocator allocator;
    sgi_arena arena;
    const sgi_problem *problem;
    sgi_residual_options options;
    sg_isa isa;
    sgi_sobol *sobol;      /* direction numbers for all sets */
    set_context *contexts; /* (set_count) */
    sg_jet_set *sets;      /* (set_count) */
    sg_jet_plan **plans;   /* (set_count) */
};

/* A worker's memory: pointers, parameters, residuals, normals, unknowns, data, program registers.
 */
typedef struct workspace {
    const void **inputs; /* (slots) */
    void **outputs;      /* (components + values + unknowns) */
    double *parameters;  /* (2 * components) of a Jacobian call */
    char *residuals;     /* (components, SG_JET_TILE_POINTS) */
    char *normals;       /* (coordinates, SG_JET_TILE_POINTS) */
    char *unknowns;      /* (unknowns, SG_JET_TILE_POINTS) */
    char *data;          /* (2 * observed, SG_JET_TILE_POINTS) of a data set */
    char *earlier;       /* (2 * fields, SG_JET_TILE_POINTS) of the window before */
    double *earlier_memory;
    void *scratch;
} workspace;

static size_t round_up(size_t bytes)
{
    return sgi_align_up(bytes, SG_ALIGNMENT);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t tile_bytes(void)
{
    return round_up(SG_JET_TILE_POINTS * sizeof(double));
}

/* Whether the set goes on from the window before; and whether it also reads derivatives by t. */
static bool reads_earlier(const set_context *c, bool *slopes)
{
    const sgi_bound_program *bound = &c->set->residual;
    bool any = false;
    for (uint32_t s = 0; s < bound->program->input_count; s++)
        if (bound->slots[s].kind == SG_SLOT_EARLIER) {
            any = true;
            if (slopes)
                *slopes = *slopes || bound->slots[s].index % 2;
        }
    return any;
}

static size_t earlier_results(const set_context *c)
{
    return 2 * (size_t)c->owner->problem->names.field_count * SG_JET_TILE_POINTS * sizeof(double);
}

/* Lays a workspace out at `at`; with NULL only the size matters. */
static size_t lay_out(const set_context *context, char *at, workspace *w)
{
    const sgi_point_set *set = context->set;
    const sg_jet_network *earlier = context->owner->options.earlier;
    size_t components = (size_t)set->component_count;
    size_t residual = sgi_program_scratch(set->residual.program);
    size_t gradient = sgi_program_scratch(set->gradient.program);
    size_t varying = set->varying.program ? sgi_program_scratch(set->varying.program) : 0;
    uint32_t slots = set->gradient.program->input_count;
    if (set->residual.program->input_count > slots)
        slots = set->residual.program->input_count;
    if (set->varying.program && set->varying.program->input_count > slots)
        slots = set->varying.program->input_count;
    size_t sizes[] = {slots * sizeof(void *),
                      (components + set->value_count + set->unknown_count) * sizeof(void *),
                      2 * components * sizeof(double),
                      components * tile_bytes(),
                      (size_t)context->owner->problem->names.coordinate_count * tile_bytes(),
                      context->owner->problem->unknown_count * tile_bytes(),
                      set->data ? 2 * (size_t)set->data->observed * tile_bytes() : 0,
                      reads_earlier(context, NULL) ? earlier_results(context) : 0,
                      reads_earlier(context, NULL) ? sgi_earlier_memory(earlier) : 0,
                      larger(varying, larger(residual, gradient))};
    enum { PARTS = sizeof sizes / sizeof *sizes };
    size_t offsets[PARTS], total = 0;
    for (int i = 0; i < PARTS; i++) {
        offsets[i] = total;
        total += round_up(sizes[i]);
    }
    if (at)
        *w = (workspace){(const void **)(void *)(at + offsets[0]),
                         (void **)(void *)(at + offsets[1]),
                         (double *)(void *)(at + offsets[2]),
                         at + offsets[3],
                         at + offsets[4],
                         at + offsets[5],
                         at + offsets[6],
                         at + offsets[7],
                         (double *)(void *)(at + offsets[8]),
                         at + offsets[9]};
    return total;
}

/* The weight of an item in an integral. */
static double weight_of(const set_context *c, size_t item)
{
    return c->given.points ? 1 / (double)c->items : c->weights[item];
}

/* Points that are not drawn, or NULL. */
static const sgi_given *stored_points(const set_context *c)
{
    if (sgi_is_given(&c->given) || c->fixed.points)
        return sgi_is_given(&c->given) ? &c->given : &c->fixed;
    return c->kept.count > 0 ? &c->kept : NULL;
}

/* ---- Callbacks ------------------------------------------------------------------------------ */

static void points(void *context, size_t set, size_t first, size_t count, int worker,
                   void *const *coordinates)
{
    const set_context *c = context;
    (void)set;
    (void)worker;
    size_t width = (size_t)(c->set->points_per_item * c->owner->problem->names.coordinate_count);
    const sgi_given *stored = stored_points(c);
    if (stored)
        sgi_given_points(stored, width, first, count, c->owner->options.type, coordinates);
    else
        sgi_cloud_points(&c->cloud, first, count, c->owner->options.type, coordinates);
}

/* The coefficients depend on the coordinates alone. */
static void varying(void *context, size_t set, size_t first, size_t count, int worker,
                    void *const *coordinates, void *const *outputs)
{
    const set_context *c = context;
    const sgi_bound_program *bound = &c->set->varying;
    workspace w;
    (void)set;
    (void)first;
    lay_out(c, c->workspaces + (size_t)worker * c->workspace_bytes, &w);
    for (uint32_t s = 0; s < bound->program->input_count; s++)
        w.inputs[s] = coordinates[bound->slots[s].index];
    sgi_program_evaluate(bound->program, c->owner->isa, c->owner->options.type, count, w.inputs,
                         NULL, outputs, w.scratch);
}

static bool reads_normals(const sgi_bound_program *bound)
{
    for (uint32_t s = 0; s < bound->program->input_count; s++)
        if (bound->slots[s].kind == SG_SLOT_NORMAL)
            return true;
    return false;
}

static double value_at(const set_context *c, const void *values, size_t i)
{
    return c->owner->options.type == SG_FLOAT32 ? (double)((const float *)values)[i]
                                                : ((const double *)values)[i];
}

static void put_number(const set_context *c, void *values, size_t i, double value)
{
    if (c->owner->options.type == SG_FLOAT32)
        ((float *)values)[i] = (float)value;
    else
        ((double *)values)[i] = value;
}

/* The parameter of an unknown constant, as the network has it now. */
static double unknown_parameter(const set_context *c, const sg_jet_tile *tile, size_t unknown)
{
    return value_at(c, tile->scalars, unknown);
}

/* Its value, the same for all points. */
static void *spread_unknown(const set_context *c, const sg_jet_tile *tile, size_t unknown,
                            const workspace *w)
{
    char *values = w->unknowns + unknown * tile_bytes();
    double value = sgi_unknown_value(&c->owner->problem->unknowns[unknown],
                                     unknown_parameter(c, tile, unknown));
    for (size_t i = 0; i < tile->count; i++)
        put_number(c, values, i, value);
    return values;
}

/* From derivatives by the values of unknown constants to those by their parameters. */
static void take_slopes(const set_context *c, const sg_jet_tile *tile)
{
    for (size_t k = 0; k < c->set->unknown_count; k++) {
        size_t unknown = c->set->unknown_indices[k];
        double slope = sgi_unknown_slope(&c->owner->problem->unknowns[unknown],
                                         unknown_parameter(c, tile, unknown));
        void *adjoints = tile->scalar_adjoints[unknown];
        for (size_t i = 0; i < tile->count; i++)
            put_number(c, adjoints, i, slope * value_at(c, adjoints, i));
    }
}

/* The measured values of the tile's items. */
static void read_data(const set_context *c, const sg_jet_tile *tile, const workspace *w)
{
    void *columns[2 * SG_MOST_OBSERVED];
    for (int k = 0; k < 2 * c->set->data->observed; k++)
        columns[k] = w->data + (size_t)k * tile_bytes();
    sgi_cloud_data(&c->cloud, tile->first, tile->count, c->owner->options.type, columns);
}

/* What the window before has at these points, its end, in the network's type. */
static void go_on_from(const set_context *c, const sg_jet_tile *tile, bool slopes, workspace *w)
{
    double *results = (double *)(void *)w->earlier;
    size_t rows = 2 * (size_t)c->owner->problem->names.field_count;
    sgi_earlier_evaluate(c->owner->options.earlier, tile->coordinates, tile->count,
                         c->owner->problem->names.time, slopes, w->earlier_memory, results);
    for (size_t k = 0; k < rows && c->owner->options.type == SG_FLOAT32; k++)
        for (size_t i = 0; i < tile->count; i++) { /* each row where it was, narrower */
            float narrow = (float)results[k * SG_JET_TILE_POINTS + i];
            memcpy(w->earlier + k * tile_bytes() + i * sizeof narrow, &narrow, sizeof narrow);
        }
}

static void connect(const set_context *c, const sg_jet_tile *tile, const sgi_bound_program *bound,
                    workspace *w)
{
    if (reads_normals(bound)) {
        void *normals[SG_MOST_COORDINATES];
        int d = c->owner->problem->names.coordinate_count;
        for (int k = 0; k < d; k++)
            normals[k] = w->normals + (size_t)k * tile_bytes();
        const sgi_given *stored = stored_points(c);
        if (stored)
            sgi_given_normals(stored, tile->first, tile->count, c->owner->options.type, d, normals);
        else
            sgi_cloud_normals(&c->cloud, tile->first, tile->count, c->owner->options.type, normals);
    }
    if (c->set->data)
        read_data(c, tile, w);
    bool slopes = false;
    if (reads_earlier(c, &slopes))
        go_on_from(c, tile, slopes, w);
    for (uint32_t s = 0; s < bound->program->input_count; s++) {
        sgi_slot slot = bound->slots[s];
        if (slot.kind == SG_SLOT_COORDINATE)
            w->inputs[s] = tile->coordinates[slot.index];
        else if (slot.kind == SG_SLOT_NORMAL)
            w->inputs[s] = w->normals + slot.index * tile_bytes();
        else if (slot.kind == SG_SLOT_UNKNOWN)
            w->inputs[s] = spread_unknown(c, tile, slot.index, w);
        else if (slot.kind == SG_SLOT_DATA)
            w->inputs[s] = w->data + slot.index * tile_bytes();
        else if (slot.kind == SG_SLOT_EARLIER)
            w->inputs[s] = w->earlier + slot.index * tile_bytes();
        else
            w->inputs[s] = tile->values[slot.index];
    }
    for (int i = 0; i < c->set->component_count; i++)
        w->outputs[i] = w->residuals + (size_t)i * tile_bytes();
}

/* Adds sum of squares and sum of each component. */
static void add_sums(const set_context *c, const sg_jet_tile *tile, const workspace *w)
{
    for (int j = 0; j < c->set->component_count; j++) {
        double squares = 0, sum = 0;
        const void *residual = w->outputs[j];
        if (c->owner->options.type == SG_FLOAT32) {
            const float *r = residual;
            for (size_t i = 0; i < tile->count; i++) {
                squares += (double)r[i] * (double)r[i];
                sum += (double)r[i];
            }
        } else {
            const double *r = residual;
            for (size_t i = 0; i < tile->count; i++) {
                squares += r[i] * r[i];
                sum += r[i];
            }
        }
        tile->sums[2 * j] += squares;
        tile->sums[2 * j + 1] += sum;
    }
}

/* Adds the share of these points in each integral. */
static void add_integrals(const set_context *c, const sg_jet_tile *tile, const workspace *w)
{
    for (int j = 0; j < c->set->component_count; j++)
        for (size_t i = 0; i < tile->count; i++)
            tile->sums[2 * j + 1] += weight_of(c, tile->first + i) * value_at(c, w->outputs[j], i);
}

static void weigh(const set_context *c, const sg_jet_tile *tile, void *adjoints)
{
    for (size_t i = 0; i < tile->count; i++)
        if (c->owner->options.type == SG_FLOAT32)
            ((float *)adjoints)[i] *= (float)weight_of(c, tile->first + i);
        else
            ((double *)adjoints)[i] *= weight_of(c, tile->first + i);
}

/* Points take part in an integral's adjoints by their weights. */
static void weigh_adjoints(const set_context *c, const sg_jet_tile *tile)
{
    for (size_t k = 0; k < c->set->value_count; k++)
        weigh(c, tile, tile->adjoints[c->set->value_indices[k]]);
    for (size_t k = 0; k < c->set->unknown_count; k++)
        weigh(c, tile, tile->scalar_adjoints[c->set->unknown_indices[k]]);
}

/* Multiplies the residuals by their factor, and what was derived of them: the loss has its square.
 */
static void weigh_by_time(const set_context *c, const sg_jet_tile *tile, const workspace *w)
{
    const sgi_time_factors *f = c->by_time;
    for (size_t i = 0; i < tile->count; i++) {
        double t = value_at(c, tile->coordinates[f->time], i), by = f->values[sgi_time_chunk(f, t)];
        double derived = tile->component < 0 ? by * by : by;
        for (int j = 0; j < c->set->component_count; j++)
            put_number(c, w->outputs[j], i, by * value_at(c, w->outputs[j], i));
        for (size_t k = 0; tile->adjoints && k < c->set->value_count; k++) {
            void *adjoints = tile->adjoints[c->set->value_indices[k]];
            put_number(c, adjoints, i, derived * value_at(c, adjoints, i));
        }
        for (size_t k = 0; tile->adjoints && k < c->set->unknown_count; k++) {
            void *adjoints = tile->scalar_adjoints[c->set->unknown_indices[k]];
            put_number(c, adjoints, i, derived * value_at(c, adjoints, i));
        }
    }
}

/* Leaves sqrt(2 w / N) r where it was asked for. */
static void store_residuals(const set_context *c, const sg_jet_tile *tile, const workspace *w)
{
    size_t components = (size_t)c->set->component_count;
    for (size_t j = 0; j < components; j++)
        for (size_t i = 0; i < tile->count; i++) {
            double r = value_at(c, w->outputs[j], i);
            c->stored[(tile->first + i) * components + j] = c->roots[j] * r;
        }
}

/* The seeds' parameters: of the loss, or of one row of the Jacobian. */
static const double *seeds(const set_context *c, const sg_jet_tile *tile, workspace *w)
{
    if (tile->component < 0)
        return c->parameters;
    for (int j = 0; j < c->set->component_count; j++) {
        w->parameters[2 * j] = 0;
        w->parameters[2 * j + 1] = j == tile->component ? c->roots[j] : 0;
    }
    return w->parameters;
}

/* The residual whose row was made, in the units of the row. */
static void give_residual(const set_context *c, const sg_jet_tile *tile, const workspace *w)
{
    const void *residual = w->outputs[tile->component];
    double root = c->roots[tile->component];
    for (size_t i = 0; i < tile->count; i++)
        if (c->owner->options.type == SG_FLOAT32)
            ((float *)tile->residuals)[i] = (float)root * ((const float *)residual)[i];
        else
            ((double *)tile->residuals)[i] = root * ((const double *)residual)[i];
}

static void residual_callback(void *context, const sg_jet_tile *tile)
{
    const set_context *c = context;
    const sgi_point_set *set = c->set;
    const sgi_bound_program *bound = tile->adjoints ? &set->gradient : &set->residual;
    workspace w;
    lay_out(c, c->workspaces + (size_t)tile->worker * c->workspace_bytes, &w);
    connect(c, tile, bound, &w);
    for (size_t i = 0; tile->adjoints && i < set->value_count; i++)
        w.outputs[(size_t)set->component_count + i] = tile->adjoints[set->value_indices[i]];
    for (size_t i = 0; tile->adjoints && i < set->unknown_count; i++)
        w.outputs[(size_t)set->component_count + set->value_count + i] =
            tile->scalar_adjoints[set->unknown_indices[i]];
    sgi_program_evaluate(bound->program, c->owner->isa, c->owner->options.type, tile->count,
                         w.inputs, tile->adjoints ? seeds(c, tile, &w) : NULL, w.outputs,
                         w.scratch);
    if (c->by_time)
        weigh_by_time(c, tile, &w);
    if (tile->sums && set->integral)
        add_integrals(c, tile, &w);
    else if (tile->sums)
        add_sums(c, tile, &w);
    if (tile->adjoints)
        take_slopes(c, tile);
    if (tile->adjoints && tile->component < 0 && set->integral)
        weigh_adjoints(c, tile);
    if (tile->sums && c->stored)
        store_residuals(c, tile, &w);
    if (tile->residuals)
        give_residual(c, tile, &w);
}

/* ---- Handle --------------------------------------------------------------------------------- */

static int64_t items_of(const sgi_problem *problem, const sgi_residual_options *options, int k)
{
    if (options->items)
        return options->items[k];
    const sgi_point_set *set = &problem->sets[k];
    bool equations = set->kind == SG_SET_DOMAIN;
    if (set->data && options->stream == SG_POINTS_VALIDATION)
        return (int64_t)(set->data->trained < set->data->count
                             ? set->data->count - set->data->trained
                             : set->data->trained);
    if (set->data)
        return set->items;
    if (options->stream == SG_POINTS_TRAINING || set->integral ||
        (!equations && problem->names.coordinate_count == 1))
        return set->items;
    return equations
               ? (int64_t)fmax(1, round((double)problem->settings.evaluation.points * set->share))
               : problem->settings.evaluation.condition_points;
}

/* The number of items and the weights that follow from it. */
static void set_items(set_context *c, int64_t items)
{
    c->items = items;
    for (int j = 0; j < c->set->component_count; j++) {
        double weight = c->set->terms[c->set->component_terms[j]].weight;
        c->parameters[2 * j] = c->set->integral ? 0 : 2 * weight / (double)items;
        c->roots[j] = sqrt(2 * weight / (double)items);
    }
}

/* The points and weights of an integral. */
static sg_status make_quadrature(sgi_residual *r, set_context *c)
{
    size_t items = (size_t)c->sampled_items, d = (size_t)r->problem->names.coordinate_count;
    bool normals = reads_normals(&c->set->residual) || reads_normals(&c->set->gradient);
    c->fixed.count = items;
    c->fixed.points = sgi_allocate(&r->allocator, items, d * sizeof(double));
    if (normals)
        c->fixed.normals = sgi_allocate(&r->allocator, items, d * sizeof(double));
    c->weights = sgi_allocate(&r->allocator, items, sizeof *c->weights);
    c->totals = sgi_arena_allocate(&r->arena, (size_t)c->set->component_count, sizeof *c->totals);
    if (!c->fixed.points || (normals && !c->fixed.normals) || !c->weights || !c->totals)
        return SG_ERROR_MEMORY;
    sgi_quadrature(r->problem, c->set, items, c->fixed.points, c->fixed.normals, c->weights);
    return SG_OK;
}

static sg_status make_set(sgi_residual *r, int k)
{
    const sgi_point_set *set = &r->problem->sets[k];
    set_context *c = &r->contexts[k];
    size_t components = (size_t)set->component_count;
    *c = (set_context){
        .owner = r, .index = k, .set = set, .sampled_items = items_of(r->problem, &r->options, k)};
    if (c->sampled_items < 1)
        return SG_ERROR_ARGUMENT;
    c->parameters = sgi_arena_allocate(&r->arena, 2 * components, sizeof *c->parameters);
    c->roots = sgi_arena_allocate(&r->arena, components, sizeof *c->roots);
    c->workspace_bytes = lay_out(c, NULL, NULL);
    c->workspaces = sgi_allocate(&r->allocator, (size_t)r->options.workers, c->workspace_bytes);
    if (!c->parameters || !c->roots || !c->workspaces)
        return SG_ERROR_MEMORY;
    set_items(c, c->sampled_items);
    sg_status status = sgi_cloud_create(&c->cloud, r->problem, k, c->sampled_items,
                                        r->options.stream, r->sobol, &r->arena);
    if (status == SG_OK && set->integral)
        status = make_quadrature(r, c);
    if (status != SG_OK)
        return status;
    status = sg_jet_plan_create(&r->plans[k], r->problem->names.coordinate_count, set->requests,
                                set->request_count, &r->allocator);
    r->sets[k] = (sg_jet_set){.plan = r->plans[k],
                              .items = (size_t)c->items,
                              .points_per_item = set->points_per_item,
                              .sums = 2 * components,
                              .components = set->component_count,
                              .points = points,
                              .varying = set->varying.program ? varying : NULL,
                              .residual = residual_callback,
                              .context = c};
    return status;
}

sg_status sgi_residual_create(sgi_residual **out, const sgi_problem *problem,
                              const sgi_residual_options *options, const sg_allocator *given)
{
    *out = NULL;
    if (options->workers < 1)
        return SG_ERROR_ARGUMENT;
    sg_isa isa = sg_isa_resolve(options->isa);
    if (isa == SG_ISA_AUTO)
        return SG_ERROR_UNSUPPORTED;
    sgi_residual *r = SGI_NEW(sgi_residual, given);
    if (!r)
        return SG_ERROR_MEMORY;
    r->problem = problem;
    r->options = *options;
    r->options.items = NULL;
    r->isa = isa;
    sgi_arena_init(&r->arena, &r->allocator);
    size_t count = (size_t)problem->set_count;
    r->contexts = sgi_arena_allocate(&r->arena, count, sizeof *r->contexts);
    r->sets = sgi_arena_allocate(&r->arena, count, sizeof *r->sets);
    r->plans = sgi_arena_allocate(&r->arena, count, sizeof *r->plans);
    r->sobol = sgi_arena_allocate(&r->arena, 1, sizeof *r->sobol);
    sg_status status = r->contexts && r->sets && r->plans && r->sobol ? SG_OK : SG_ERROR_MEMORY;
    if (status == SG_OK)
        sgi_sobol_make(r->sobol);
    r->options.items = options->items;
    for (int k = 0; k < problem->set_count && status == SG_OK; k++)
        status = make_set(r, k);
    r->options.items = NULL; /* the caller's array is not kept */
    if (status != SG_OK)
        sgi_residual_destroy(r);
    else
        *out = r;
    return status;
}

void sgi_residual_destroy(sgi_residual *r)
{
    if (!r)
        return;
    for (int k = 0; r->plans && k < r->problem->set_count; k++)
        sg_jet_plan_destroy(r->plans[k]);
    for (int k = 0; r->contexts && k < r->problem->set_count; k++) {
        sgi_given_release(&r->contexts[k].given, &r->allocator);
        sgi_given_release(&r->contexts[k].fixed, &r->allocator);
        sgi_release(&r->allocator, r->contexts[k].weights);
        sgi_given_release(&r->contexts[k].kept, &r->allocator);
        sgi_release(&r->allocator, r->contexts[k].workspaces);
    }
    sgi_arena_clear(&r->arena);
    sgi_release(&r->allocator, r);
}

const sg_jet_set *sgi_residual_sets(const sgi_residual *r)
{
    return r->sets;
}

int64_t sgi_residual_items(const sgi_residual *r, int set)
{
    return r->contexts[set].items;
}

void sgi_residual_begin(sgi_residual *r, uint64_t seed, uint64_t step)
{
    for (int k = 0; k < r->problem->set_count; k++)
        sgi_cloud_move(&r->contexts[k].cloud, seed, step);
}

static bool needs_normals(const set_context *c)
{
    return reads_normals(&c->set->residual) || reads_normals(&c->set->gradient);
}

sg_status sgi_residual_give(sgi_residual *r, int set, const double *points, size_t count,
                            sg_diagnostic *diagnostic)
{
    set_context *c = &r->contexts[set];
    if (!points) {
        sgi_given_release(&c->given, &r->allocator);
        set_items(c, c->kept.count > 0 ? (int64_t)c->kept.count : c->sampled_items);
        return SG_OK;
    }
    if (c->set->data)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, c->set->name,
                             "'%s' is measured: its points are those of its values", c->set->name);
    sg_status status = sgi_given_copy(&c->given, r->problem, set, points, count, needs_normals(c),
                                      &r->allocator, diagnostic);
    if (status == SG_OK)
        set_items(c, (int64_t)count);
    return status;
}

/* ---- Kept points ---------------------------------------------------------------------------- */

sg_status sgi_residual_reserve(sgi_residual *r, int set, size_t room)
{
    set_context *c = &r->contexts[set];
    size_t coordinates = (size_t)r->problem->names.coordinate_count;
    size_t width = (size_t)c->set->points_per_item * coordinates;
    c->kept.points = sgi_allocate(&r->allocator, room, width * sizeof(double));
    if (needs_normals(c))
        c->kept.normals = sgi_allocate(&r->allocator, room, coordinates * sizeof(double));
    if (!c->kept.points || (needs_normals(c) && !c->kept.normals))
        return SG_ERROR_MEMORY;
    return SG_OK;
}

void sgi_residual_keep(sgi_residual *r, int set, size_t place, const sgi_residual *from,
                       size_t item)
{
    const set_context *source = &from->contexts[set];
    set_context *c = &r->contexts[set];
    int coordinates = r->problem->names.coordinate_count;
    size_t width = (size_t)(c->set->points_per_item * coordinates);
    const sgi_given *stored = stored_points(source);
    void *columns[2 * SG_MOST_COORDINATES];
    for (size_t k = 0; k < width; k++)
        columns[k] = c->kept.points + place * width + k;
    if (stored)
        sgi_given_points(stored, width, item, 1, SG_FLOAT64, columns);
    else
        sgi_cloud_points(&source->cloud, item, 1, SG_FLOAT64, columns);
    for (int k = 0; c->kept.normals && k < coordinates; k++)
        columns[k] = c->kept.normals + place * (size_t)coordinates + (size_t)k;
    if (c->kept.normals && stored)
        sgi_given_normals(stored, item, 1, SG_FLOAT64, coordinates, columns);
    else if (c->kept.normals)
        sgi_cloud_normals(&source->cloud, item, 1, SG_FLOAT64, columns);
}

bool sgi_residual_is_given(const sgi_residual *r)
{
    bool given = false;
    for (int k = 0; k < r->problem->set_count; k++)
        given = given || r->contexts[k].given.points;
    return given;
}

void sgi_residual_keep_count(sgi_residual *r, int set, size_t count)
{
    set_context *c = &r->contexts[set];
    c->kept.count = count;
    if (!c->given.points)
        set_items(c, count > 0 ? (int64_t)count : c->sampled_items);
}

sgi_given sgi_residual_kept(const sgi_residual *r, int set)
{
    return r->contexts[set].kept;
}

void sgi_residual_lend(sgi_residual *r, int set, const double *points, size_t count)
{
    set_context *c = &r->contexts[set];
    sgi_given_release(&c->given, &r->allocator);
    c->given = (sgi_given){.lent = points, .count = count};
    set_items(c, (int64_t)count);
}

void sgi_residual_resize(sgi_residual *r, int set, int64_t items)
{
    set_context *c = &r->contexts[set];
    sgi_given_release(&c->given, &r->allocator);
    c->sampled_items = items;
    sgi_cloud_resize(&c->cloud, items);
    set_items(c, items);
}

void sgi_residual_weigh_time(sgi_residual *r, int set, const sgi_time_factors *factors)
{
    r->contexts[set].by_time = factors;
}

/* By way of tiles of the network's type, so that the points are those that the engine sees. */
void sgi_residual_points(const sgi_residual *r, int set, double *out)
{
    set_context *c = &r->contexts[set];
    double columns[2 * SG_MOST_COORDINATES][SG_JET_TILE_POINTS];
    void *at[2 * SG_MOST_COORDINATES];
    size_t width = (size_t)(c->set->points_per_item * r->problem->names.coordinate_count);
    size_t items = (size_t)c->items;
    for (size_t k = 0; k < width; k++)
        at[k] = columns[k];
    for (size_t first = 0; first < items; first += SG_JET_TILE_POINTS) {
        size_t n = items - first < SG_JET_TILE_POINTS ? items - first : SG_JET_TILE_POINTS;
        points(c, (size_t)set, first, n, 0, at);
        for (size_t k = 0; k < width; k++)
            for (size_t i = 0; i < n; i++)
                out[(first + i) * width + k] = r->options.type == SG_FLOAT32
                                                   ? (double)((const float *)at[k])[i]
                                                   : columns[k][i];
    }
}

void sgi_residual_store(sgi_residual *r, double *residuals)
{
    for (int k = 0; k < r->problem->set_count; k++) {
        set_context *c = &r->contexts[k];
        c->stored = residuals;
        if (residuals)
            residuals += (size_t)c->items * (size_t)c->set->component_count;
    }
}

/* ---- Integrals ---------------------------------------------------------------------------- */

bool sgi_residual_is_integral(const sgi_residual *r, int set)
{
    return r->contexts[set].set->integral;
}

void sgi_residual_total(sgi_residual *r, int set, const double *sums)
{
    set_context *c = &r->contexts[set];
    for (int j = 0; j < c->set->component_count; j++) {
        c->totals[j] = sums[2 * j + 1];
        c->parameters[2 * j + 1] =
            2 * c->set->terms[c->set->component_terms[j]].weight * c->totals[j];
    }
}

void sgi_residual_average(const sgi_residual *r, int set, double *vector, size_t stride,
                          bool adjoint)
{
    const set_context *c = &r->contexts[set];
    size_t components = (size_t)c->set->component_count, items = (size_t)c->items;
    for (size_t j = 0; j < components; j++) {
        double sum = 0;
        for (size_t i = 0; i < items; i++)
            sum += (adjoint ? 1 : weight_of(c, i)) * vector[(i * components + j) * stride];
        for (size_t i = 0; i < items; i++)
            vector[(i * components + j) * stride] = (adjoint ? weight_of(c, i) : 1) * sum;
    }
}

/* ---- Losses ------------------------------------------------------------------------------- */

size_t sgi_residual_terms(const sgi_residual *r)
{
    size_t count = 0;
    for (int k = 0; k < r->problem->set_count; k++)
        count += (size_t)r->problem->sets[k].term_count;
    return count;
}

void sgi_residual_combine(const sgi_residual *r, const double *const *sums, sgi_loss *loss)
{
    size_t base = 0;
    double count = 0, sum = 0, squares = 0;
    loss->total = 0;
    for (size_t t = 0; loss->means && t < sgi_residual_terms(r); t++)
        loss->means[t] = 0;
    for (int k = 0; k < r->problem->set_count; k++) {
        const set_context *c = &r->contexts[k];
        double items = (double)c->items;
        for (int j = 0; j < c->set->component_count; j++) {
            int term = c->set->component_terms[j];
            double total = sums[k][2 * j + 1], mean = sums[k][2 * j] / items;
            if (c->set->integral) { /* as if every item had the mean */
                mean = total * total;
                total *= items;
            }
            loss->total += c->set->terms[term].weight * mean;
            if (loss->means)
                loss->means[base + (size_t)term] += mean;
            count += items;
            sum += c->roots[j] * total;
            squares += c->roots[j] * c->roots[j] * mean * items;
        }
        base += (size_t)c->set->term_count;
    }
    double mean = count > 0 ? sum / count : 0, m2 = squares - count * mean * mean;
    loss->residual = (sg_moments){count, mean, m2 < 0 ? 0 : m2}; /* keeps NaN */
}

void sgi_residual_collect(const sgi_residual *r, const sg_jet *engine, sgi_loss *loss)
{
    const double *sums[SG_MOST_SETS];
    for (int k = 0; k < r->problem->set_count; k++)
        sums[k] = sg_jet_sums(engine, (size_t)k);
    sgi_residual_combine(r, sums, loss);
}
