/* A network as an ONNX graph: see export.h.
 *
 * The coordinates become columns of one array (N, coordinates); from them the features, layer by
 * layer the outputs (N, fields), whose columns are the network's part of each field. What exact
 * conditions make of these is computed value by value from expressions. */
#include <stdio.h>

#include "export/export.h"
#include "export/fields.h"
#include "export/onnx_graph.h"
#include "jet/network.h"
#include "stablegrad/version.h"

typedef sgi_onnx_value value;

typedef struct writer {
    sgi_onnx_graph graph;
    const sgi_problem *problem;
    sgi_arena arena;
    char prefix[32];               /* of the names of a network's tensors */
    value points;                  /* (N, coordinates) */
    value columns[SG_MOST_FIELDS]; /* (N): the network's outputs */
} writer;

/* ---- The network -------------------------------------------------------------------------- */

/* A constant of the network, by its name. */
static value tensor(writer *w, const char *name, size_t rank, const size_t *shape,
                    const double *values)
{
    char whole[60];
    (void)snprintf(whole, sizeof whole, "%s%s", w->prefix, name);
    return sgi_onnx_numbers(&w->graph, whole, rank, shape, values);
}

static value axis_one(writer *w)
{
    return sgi_onnx_indices(&w->graph, 1, 1, (int64_t[]){1});
}

static void make_points(writer *w)
{
    const sgi_names *names = &w->problem->names;
    value columns[SG_MOST_COORDINATES], axis = axis_one(w);
    for (int c = 0; c < names->coordinate_count; c++) {
        sgi_onnx_input(&w->graph.file, names->coordinates[c], w->graph.type);
        columns[c] =
            sgi_onnx_binary(&w->graph, "Unsqueeze", sgi_onnx_named(names->coordinates[c]), axis);
    }
    w->points =
        sgi_onnx_make(&w->graph, "Concat", (size_t)names->coordinate_count, columns, "axis", 1);
}

/* The kept coordinates, rescaled: (N, raw). */
static value make_raw(writer *w, const sg_jet_network *network)
{
    int64_t index[SG_MOST_COORDINATES];
    size_t raw = (size_t)network->raw;
    for (size_t i = 0; i < raw; i++)
        index[i] = network->raw_index[i];
    value chosen[] = {w->points, sgi_onnx_indices(&w->graph, 1, raw, index)};
    value x = sgi_onnx_make(&w->graph, "Gather", 2, chosen, "axis", 1);
    x = sgi_onnx_binary(&w->graph, "Mul", x, tensor(w, "inputs.scale", 1, &raw, network->scale));
    return sgi_onnx_binary(&w->graph, "Add", x, tensor(w, "inputs.shift", 1, &raw, network->shift));
}

/* The waves' arguments: (N, waves). */
static value make_arguments(writer *w, const sg_jet_network *network)
{
    size_t coordinates = (size_t)network->coordinates, waves = (size_t)network->waves;
    double *turned = sgi_arena_allocate(&w->arena, coordinates * waves, sizeof *turned);
    if (!turned) {
        w->graph.file.nodes.status = SG_ERROR_MEMORY;
        return w->points;
    }
    for (size_t k = 0; k < waves; k++)
        for (size_t c = 0; c < coordinates; c++)
            turned[c * waves + k] = network->wave[k * coordinates + c];
    value matrix = tensor(w, "inputs.waves", 2, (size_t[]){coordinates, waves}, turned);
    return sgi_onnx_binary(&w->graph, "MatMul", w->points, matrix);
}

static value make_features(writer *w, const sg_jet_network *network)
{
    value parts[3];
    size_t count = 0;
    if (network->raw > 0)
        parts[count++] = make_raw(w, network);
    if (network->waves > 0) {
        value arguments = make_arguments(w, network);
        parts[count++] = sgi_onnx_unary(&w->graph, "Sin", arguments);
        parts[count++] = sgi_onnx_unary(&w->graph, "Cos", arguments);
    }
    return count == 1 ? parts[0] : sgi_onnx_make(&w->graph, "Concat", count, parts, "axis", 1);
}

static value activate(writer *w, const sg_jet_network *network, value z)
{
    sgi_onnx_graph *g = &w->graph;
    switch (network->activation) {
    case SG_ACTIVATION_SILU:
        return sgi_onnx_binary(g, "Mul", z, sgi_onnx_unary(g, "Sigmoid", z));
    case SG_ACTIVATION_SIN:
        z = sgi_onnx_binary(g, "Mul", z, sgi_onnx_number(g, network->frequency));
        return sgi_onnx_unary(g, "Sin", z);
    case SG_ACTIVATION_GELU: { /* z (1 + erf(z / sqrt(2))) / 2 */
        value e = sgi_onnx_binary(g, "Mul", z, sgi_onnx_number(g, 0.70710678118654752440));
        e = sgi_onnx_binary(g, "Add", sgi_onnx_unary(g, "Erf", e), sgi_onnx_number(g, 1));
        z = sgi_onnx_binary(g, "Mul", z, sgi_onnx_number(g, 0.5));
        return sgi_onnx_binary(g, "Mul", z, e);
    }
    case SG_ACTIVATION_SOFTPLUS:
        return sgi_onnx_softplus(g, z);
    case SG_ACTIVATION_TANH:
        break;
    }
    return sgi_onnx_unary(g, "Tanh", z);
}

/* A part of the parameters as a tensor. */
static value parameters(writer *w, const sg_jet_network *network, size_t first, size_t rank,
                        const size_t *shape, const char *name)
{
    size_t count = shape[0] * (rank == 2 ? shape[1] : 1);
    double *values = sgi_arena_allocate(&w->arena, count, sizeof *values);
    if (!values) {
        w->graph.file.nodes.status = SG_ERROR_MEMORY;
        return w->points;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = network->type == SG_FLOAT32 ? (double)((float *)network->values)[first + i]
                                                : ((double *)network->values)[first + i];
    return tensor(w, name, rank, shape, values);
}

static void make_network(writer *w, const sg_jet_network *network)
{
    sgi_onnx_graph *g = &w->graph;
    value a = make_features(w, network);
    for (int l = 0; l < network->layer_count; l++) {
        const sg_jet_layer *layer = &network->layers[l];
        const size_t shape[] = {(size_t)layer->outputs, (size_t)layer->inputs};
        char weight[40], bias[40];
        (void)snprintf(weight, sizeof weight, "layers.%d.weight", l);
        (void)snprintf(bias, sizeof bias, "layers.%d.bias", l);
        value inputs[] = {a, parameters(w, network, layer->weight, 2, shape, weight),
                          parameters(w, network, layer->bias, 1, shape, bias)};
        a = sgi_onnx_make(g, "Gemm", 3, inputs, "transB", 1);
        if (l < network->layer_count - 1)
            a = activate(w, network, a);
    }
    for (int64_t f = 0; f < network->outputs; f++) { /* an index without dimension drops one */
        value column[] = {a, sgi_onnx_indices(g, 0, 1, &f)};
        w->columns[f] = sgi_onnx_make(g, "Gather", 2, column, "axis", 1);
    }
}

/* Those of windows in time: of each output, the one that is meant at t. */
static void make_windows(writer *w, const sgi_jet_pieces *pieces)
{
    value t = sgi_onnx_named(w->problem->names.coordinates[pieces->along]);
    value chosen[SG_MOST_FIELDS];
    for (size_t k = pieces->ready; k-- > 0;) {
        (void)snprintf(w->prefix, sizeof w->prefix, "windows.%zu.", k);
        make_network(w, pieces->networks[k]);
        value end = sgi_onnx_number(&w->graph, pieces->ends[k]);
        value before =
            k + 1 < pieces->ready ? sgi_onnx_binary(&w->graph, "LessOrEqual", t, end) : t;
        for (int f = 0; f < w->problem->names.field_count; f++)
            chosen[f] = k + 1 < pieces->ready
                            ? sgi_onnx_choose(&w->graph, before, w->columns[f], chosen[f])
                            : w->columns[f];
    }
    for (int f = 0; f < w->problem->names.field_count; f++)
        w->columns[f] = chosen[f];
}

/* ---- Fields ------------------------------------------------------------------------------- */

static value node_value(writer *w, sgi_expr i, const value *values)
{
    const sgi_expressions *exprs = w->problem->exprs;
    const sgi_node *node = &exprs->nodes[i];
    const sgi_input *input = sgi_expr_input(exprs, i);
    if (input && input->kind == SG_INPUT_COORDINATE)
        return sgi_onnx_named(w->problem->names.coordinates[input->index]);
    if (input)
        return w->columns[input->index];
    if (node->op == SG_OP_CONSTANT)
        return sgi_onnx_number(&w->graph, node->value);
    value arguments[3];
    for (int k = 0; k < sgi_op_arity(node->op); k++)
        arguments[k] = values[node->arguments[k]];
    return sgi_onnx_apply(&w->graph, node->op, arguments);
}

static sg_status make_fields(writer *w, const sgi_export_fields *fields)
{
    value *values = sgi_arena_allocate(&w->arena, fields->nodes, sizeof *values);
    if (!values)
        return SG_ERROR_MEMORY;
    for (sgi_expr i = 0; i < fields->nodes; i++)
        if (fields->reached[i])
            values[i] = node_value(w, i, values);
    for (size_t f = 0; f < fields->count; f++) {
        const char *name = w->problem->names.fields[f];
        const char *from = values[fields->roots[f]].name;
        sgi_onnx_node(&w->graph.file, "Identity", &from, 1, name, NULL, 0);
        sgi_onnx_output(&w->graph.file, name, w->graph.type);
    }
    return SG_OK;
}

static sg_status write_file(writer *w, const char *path, const char *from,
                            sg_diagnostic *diagnostic)
{
    const char *name = w->problem->settings.name;
    char about[600];
    (void)snprintf(about, sizeof about,
                   "%.100s: the fields as functions of the coordinates, from %.400s", name, from);
    return sgi_onnx_write(&w->graph.file, path, name, sg_version(), about, diagnostic);
}

sg_status sgi_export_onnx(const char *path, sg_pinn *pinn, sg_type type, const char *from,
                          sg_diagnostic *diagnostic)
{
    const sg_jet_network *network = sg_pinn_network(pinn);
    sgi_export_fields fields;
    writer w = {.graph = {.type = type == SG_FLOAT32 ? SG_ONNX_FLOAT : SG_ONNX_DOUBLE},
                .problem = pinn->problem};
    sgi_arena_init(&w.arena, &pinn->allocator);
    sgi_onnx_begin(&w.graph.file, &pinn->allocator);
    sg_status status = sgi_export_fields_make(&fields, pinn->problem, false, &w.arena, diagnostic);
    if (status == SG_OK) {
        make_points(&w);
        if (network->pieces)
            make_windows(&w, network->pieces);
        else
            make_network(&w, network);
        status = make_fields(&w, &fields);
    }
    if (status == SG_OK)
        status = write_file(&w, path, from, diagnostic);
    sgi_onnx_release(&w.graph.file);
    sgi_arena_clear(&w.arena);
    return sgi_pinn_status(status, diagnostic);
}
