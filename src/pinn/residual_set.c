/* What is done at the points of a tile: see residual_set.h. */
#include "pinn/residual_set.h"

#include <string.h>

#include "base/params.h"
#include "pinn/earlier.h"
#include "problem/data.h"

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
static bool reads_earlier(const sgi_residual_set *c, bool *slopes)
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

static size_t earlier_results(const sgi_residual_set *c)
{
    return 2 * (size_t)c->problem->names.field_count * SG_JET_TILE_POINTS * sizeof(double);
}

/* Lays a workspace out at `at`; with NULL only the size matters. */
static size_t lay_out(const sgi_residual_set *context, char *at, workspace *w)
{
    const sgi_point_set *set = context->set;
    const sg_jet_network *earlier = context->earlier;
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
                      (size_t)context->problem->names.coordinate_count * tile_bytes(),
                      context->problem->unknown_count * tile_bytes(),
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

size_t sgi_residual_set_workspace(const sgi_residual_set *c)
{
    return lay_out(c, NULL, NULL);
}

double sgi_residual_set_weight(const sgi_residual_set *c, size_t item)
{
    return c->given.points ? 1 / (double)c->items : c->weights[item];
}

const sgi_given *sgi_residual_set_stored(const sgi_residual_set *c)
{
    if (sgi_is_given(&c->given) || c->fixed.points)
        return sgi_is_given(&c->given) ? &c->given : &c->fixed;
    return c->kept.count > 0 ? &c->kept : NULL;
}

void sgi_residual_set_points(void *context, size_t set, size_t first, size_t count, int worker,
                             void *const *coordinates)
{
    const sgi_residual_set *c = context;
    (void)set;
    (void)worker;
    size_t width = (size_t)(c->set->points_per_item * c->problem->names.coordinate_count);
    const sgi_given *stored = sgi_residual_set_stored(c);
    if (stored)
        sgi_given_points(stored, width, first, count, c->type, coordinates);
    else
        sgi_cloud_points(&c->cloud, first, count, c->type, coordinates);
}

/* The coefficients depend on the coordinates alone. */
void sgi_residual_set_varying(void *context, size_t set, size_t first, size_t count, int worker,
                              void *const *coordinates, void *const *outputs)
{
    const sgi_residual_set *c = context;
    const sgi_bound_program *bound = &c->set->varying;
    workspace w;
    (void)set;
    (void)first;
    lay_out(c, c->workspaces + (size_t)worker * c->workspace_bytes, &w);
    for (uint32_t s = 0; s < bound->program->input_count; s++)
        w.inputs[s] = coordinates[bound->slots[s].index];
    sgi_program_evaluate(bound->program, c->isa, c->type, count, w.inputs, NULL, outputs,
                         w.scratch);
}

static bool reads_normals(const sgi_bound_program *bound)
{
    for (uint32_t s = 0; s < bound->program->input_count; s++)
        if (bound->slots[s].kind == SG_SLOT_NORMAL)
            return true;
    return false;
}

bool sgi_residual_set_needs_normals(const sgi_residual_set *c)
{
    return reads_normals(&c->set->residual) || reads_normals(&c->set->gradient);
}

static double value_at(const sgi_residual_set *c, const void *values, size_t i)
{
    return c->type == SG_FLOAT32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static void put_number(const sgi_residual_set *c, void *values, size_t i, double value)
{
    if (c->type == SG_FLOAT32)
        ((float *)values)[i] = (float)value;
    else
        ((double *)values)[i] = value;
}

/* The parameter of an unknown constant, as the network has it now. */
static double unknown_parameter(const sgi_residual_set *c, const sg_jet_tile *tile, size_t unknown)
{
    return value_at(c, tile->scalars, unknown);
}

/* Its value, the same for all points. */
static void *spread_unknown(const sgi_residual_set *c, const sg_jet_tile *tile, size_t unknown,
                            const workspace *w)
{
    char *values = w->unknowns + unknown * tile_bytes();
    double value =
        sgi_unknown_value(&c->problem->unknowns[unknown], unknown_parameter(c, tile, unknown));
    for (size_t i = 0; i < tile->count; i++)
        put_number(c, values, i, value);
    return values;
}

/* From derivatives by the values of unknown constants to those by their parameters. */
static void take_slopes(const sgi_residual_set *c, const sg_jet_tile *tile)
{
    for (size_t k = 0; k < c->set->unknown_count; k++) {
        size_t unknown = c->set->unknown_indices[k];
        double slope =
            sgi_unknown_slope(&c->problem->unknowns[unknown], unknown_parameter(c, tile, unknown));
        void *adjoints = tile->scalar_adjoints[unknown];
        for (size_t i = 0; i < tile->count; i++)
            put_number(c, adjoints, i, slope * value_at(c, adjoints, i));
    }
}

/* The measured values of the tile's items. */
static void read_data(const sgi_residual_set *c, const sg_jet_tile *tile, const workspace *w)
{
    void *columns[2 * SG_MOST_OBSERVED];
    for (int k = 0; k < 2 * c->set->data->observed; k++)
        columns[k] = w->data + (size_t)k * tile_bytes();
    sgi_cloud_data(&c->cloud, tile->first, tile->count, c->type, columns);
}

/* What the window before has at these points, its end, in the network's type. */
static void go_on_from(const sgi_residual_set *c, const sg_jet_tile *tile, bool slopes,
                       workspace *w)
{
    double *results = (double *)(void *)w->earlier;
    size_t rows = 2 * (size_t)c->problem->names.field_count;
    sgi_earlier_evaluate(c->earlier, tile->coordinates, tile->count, c->problem->names.time, slopes,
                         w->earlier_memory, results);
    for (size_t k = 0; k < rows && c->type == SG_FLOAT32; k++)
        for (size_t i = 0; i < tile->count; i++) { /* each row where it was, narrower */
            float narrow = (float)results[k * SG_JET_TILE_POINTS + i];
            memcpy(w->earlier + k * tile_bytes() + i * sizeof narrow, &narrow, sizeof narrow);
        }
}

static void connect(const sgi_residual_set *c, const sg_jet_tile *tile,
                    const sgi_bound_program *bound, workspace *w)
{
    if (reads_normals(bound)) {
        void *normals[SG_MOST_COORDINATES];
        int d = c->problem->names.coordinate_count;
        for (int k = 0; k < d; k++)
            normals[k] = w->normals + (size_t)k * tile_bytes();
        const sgi_given *stored = sgi_residual_set_stored(c);
        if (stored)
            sgi_given_normals(stored, tile->first, tile->count, c->type, d, normals);
        else
            sgi_cloud_normals(&c->cloud, tile->first, tile->count, c->type, normals);
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
static void add_sums(const sgi_residual_set *c, const sg_jet_tile *tile, const workspace *w)
{
    for (int j = 0; j < c->set->component_count; j++) {
        double squares = 0, sum = 0;
        const void *residual = w->outputs[j];
        if (c->type == SG_FLOAT32) {
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
static void add_integrals(const sgi_residual_set *c, const sg_jet_tile *tile, const workspace *w)
{
    for (int j = 0; j < c->set->component_count; j++)
        for (size_t i = 0; i < tile->count; i++)
            tile->sums[2 * j + 1] +=
                sgi_residual_set_weight(c, tile->first + i) * value_at(c, w->outputs[j], i);
}

static void weigh(const sgi_residual_set *c, const sg_jet_tile *tile, void *adjoints)
{
    for (size_t i = 0; i < tile->count; i++)
        if (c->type == SG_FLOAT32)
            ((float *)adjoints)[i] *= (float)sgi_residual_set_weight(c, tile->first + i);
        else
            ((double *)adjoints)[i] *= sgi_residual_set_weight(c, tile->first + i);
}

/* Points take part in an integral's adjoints by their weights. */
static void weigh_adjoints(const sgi_residual_set *c, const sg_jet_tile *tile)
{
    for (size_t k = 0; k < c->set->value_count; k++)
        weigh(c, tile, tile->adjoints[c->set->value_indices[k]]);
    for (size_t k = 0; k < c->set->unknown_count; k++)
        weigh(c, tile, tile->scalar_adjoints[c->set->unknown_indices[k]]);
}

/* Multiplies the residuals by their factor, and what was derived of them: the loss has its square.
 */
static void weigh_by_time(const sgi_residual_set *c, const sg_jet_tile *tile, const workspace *w)
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
static void store_residuals(const sgi_residual_set *c, const sg_jet_tile *tile, const workspace *w)
{
    size_t components = (size_t)c->set->component_count;
    for (size_t j = 0; j < components; j++)
        for (size_t i = 0; i < tile->count; i++) {
            double r = value_at(c, w->outputs[j], i);
            c->stored[(tile->first + i) * components + j] = c->roots[j] * r;
        }
}

/* The seeds' parameters: of the loss, or of one row of the Jacobian. */
static const double *seeds(const sgi_residual_set *c, const sg_jet_tile *tile, workspace *w)
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
static void give_residual(const sgi_residual_set *c, const sg_jet_tile *tile, const workspace *w)
{
    const void *residual = w->outputs[tile->component];
    double root = c->roots[tile->component];
    for (size_t i = 0; i < tile->count; i++)
        if (c->type == SG_FLOAT32)
            ((float *)tile->residuals)[i] = (float)root * ((const float *)residual)[i];
        else
            ((double *)tile->residuals)[i] = root * ((const double *)residual)[i];
}

void sgi_residual_set_residual(void *context, const sg_jet_tile *tile)
{
    const sgi_residual_set *c = context;
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
    sgi_program_evaluate(bound->program, c->isa, c->type, tile->count, w.inputs,
                         tile->adjoints ? seeds(c, tile, &w) : NULL, w.outputs, w.scratch);
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
