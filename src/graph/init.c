/* How parameters start: see stablegrad/graph.h. Element i of parameter k is random number i of
 * stream k, so a start depends on the seed alone. */
#include <math.h>

#include "base/gain.h"
#include "base/random.h"
#include "graph/internal.h"

static double activated(const void *act, double z)
{
    switch (*(const sg_act *)act) {
    case SG_ACT_RELU:
        return z > 0 ? z : 0;
    case SG_ACT_SILU:
        return z / (1 + exp(-z));
    case SG_ACT_TANH:
        return tanh(z);
    case SG_ACT_SIGMOID:
        return 1 / (1 + exp(-z));
    default:
        return z;
    }
}

double sg_act_gain(sg_act act)
{
    return sgi_gain(activated, &act);
}

/* The activation that feeds a layer: the search goes back over nodes that keep scales about as they
 * are, such as poolings. */
static sg_act feeding(const sg_net *graph, sg_net_node node)
{
    for (sg_net_node x = graph->nodes[node].in[0]; x != SG_NO_NODE; x = graph->nodes[x].in[0])
        switch (graph->nodes[x].kind) {
        case SG_NODE_ACT:
            return graph->nodes[x].act;
        case SG_NODE_MAX_POOL:
        case SG_NODE_AVERAGE_POOL:
        case SG_NODE_GLOBAL:
        case SG_NODE_FLATTEN:
        case SG_NODE_SCALE:
        case SG_NODE_DROPOUT:
        case SG_NODE_DROP_PATH:
            break;
        default:
            return SG_ACT_NONE;
        }
    return SG_ACT_NONE;
}

/* Fan in and fan out as PyTorch counts them: fan out is not divided by the groups. */
static double fan(const sgi_param *weight, bool in)
{
    double window = weight->rank == 4 ? (double)weight->shape[2] * weight->shape[3] : 1;
    return window * weight->shape[in ? 1 : 0];
}

/* Random numbers for one parameter: unit by unit, on all threads. */
typedef struct filling {
    float *values;
    size_t count;
    uint64_t seed, stream;
    double scale;
    bool normal;
} filling;

enum { UNIT = 1 << 14 };

static void fill_unit(void *context, size_t unit, int worker)
{
    const filling *f = context;
    (void)worker;
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT && i < f->count; i++) {
        double u = f->normal ? sgi_random_normal(f->seed, f->stream, i)
                             : 2 * sgi_random_uniform(f->seed, f->stream, i) - 1;
        f->values[i] = (float)(f->scale * u);
    }
}

static void fill_random(const sg_net *graph, int param, uint64_t seed, double scale, bool normal)
{
    size_t count = graph->params[param].count;
    filling f = {sgi_value_of(graph, param), count, seed, (uint64_t)param, scale, normal};
    sgi_dnn_run(graph->dnn, sgi_parts(count, UNIT), fill_unit, &f);
}

static void fill_normal(const sg_net *graph, int param, uint64_t seed, double std)
{
    fill_random(graph, param, seed, std, true);
}

static void fill_uniform(const sg_net *graph, int param, uint64_t seed, double bound)
{
    fill_random(graph, param, seed, bound, false);
}

static void fill(float *values, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

static void start_default(const sg_net *graph, const sgi_node_entry *e, uint64_t seed)
{
    const sgi_param *weight = &graph->params[e->weight];
    sgi_start start = sgi_model_start(graph->model);
    double bound = 1 / sqrt(fan(weight, true));
    if (weight->rank == 4 && start != SG_START_PYTORCH) {
        fill_normal(graph, e->weight, seed, sqrt(2 / fan(weight, false)));
    } else if (start == SG_START_EFFICIENTNET) {
        fill_uniform(graph, e->weight, seed, 1 / sqrt(fan(weight, false)));
    } else {
        fill_uniform(graph, e->weight, seed, bound);
        if (e->bias != SG_NONE)
            fill_uniform(graph, e->bias, seed, bound);
    }
}

static void start_layer(const sg_net *graph, sg_net_node node, const sg_init_config *config)
{
    const sgi_node_entry *e = &graph->nodes[node];
    const sgi_param *weight = &graph->params[e->weight];
    if (e->bias != SG_NONE)
        fill(sgi_value_of(graph, e->bias), graph->params[e->bias].count, 0);
    if (e->kind == SG_NODE_NORM) {
        fill(sgi_value_of(graph, e->weight), weight->count, 1);
    } else if (config->kind == SG_INIT_DEFAULT) {
        start_default(graph, e, config->seed);
    } else {
        double gain = config->gain > 0 ? config->gain : sg_act_gain(feeding(graph, node));
        double among = fan(weight, config->kind == SG_INIT_FAN_IN);
        fill_normal(graph, e->weight, config->seed, gain / sqrt(among));
    }
}

sg_status sg_net_init(sg_net *graph, const sg_init_config *config)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    if (!config || config->kind >= SG_INIT_COUNT || !(config->gain >= 0) || isinf(config->gain))
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no such start, or a gain below 0");
    for (sg_net_node node = 0; node < graph->node_count; node++)
        if (graph->nodes[node].weight != SG_NONE)
            start_layer(graph, node, config);
    for (int i = 0; i < graph->running_count; i++) {
        const sgi_running *r = &graph->running[i];
        fill(graph->running_values + r->offset, r->count, (float)(i % 2)); /* mean 0, variance 1 */
    }
    graph->batches = 0;
    return SG_OK;
}

/* ---- Calibration -------------------------------------------------------------------------- */

/* The layer's output before anything that is fused to it. */
static sg_status run_bare(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = &graph->ops[step->op];
    const sgi_node_entry *e = &graph->nodes[op->weights];
    if (!op->conv)
        return step->run(graph, step);
    return sgi_dnn_conv_forward(op->conv, sgi_at(graph, op->x), sgi_value_of(graph, e->weight),
                                sgi_value_of(graph, e->bias), NULL, sgi_at(graph, op->y),
                                graph->work, true);
}

static sg_status calibrate_layer(sg_net *graph, const sgi_step *step)
{
    const sgi_net_op *op = &graph->ops[step->op];
    const sgi_node_entry *e = &graph->nodes[op->weights];
    sg_moments moments;
    double between;
    sg_status status = run_bare(graph, step);
    if (status == SG_OK)
        status = sgi_op_moments(graph, op, &moments, &between);
    if (status != SG_OK)
        return status;
    double std = sg_moments_std(&moments);
    if (!isfinite(std) || std <= 0)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "%s: its output has the spread %g", e->name,
                            std);
    float *weight = sgi_value_of(graph, e->weight);
    for (size_t i = 0; i < graph->params[e->weight].count; i++)
        weight[i] = (float)((double)weight[i] / std);
    return SG_OK;
}

sg_status sg_net_calibrate(sg_net *graph, const float *images)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    if (!images)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no images");
    float *to = sgi_at(graph, graph->images_buffer);
    for (size_t i = 0; i < sgi_shape_floats(graph->nodes[0].shape, 1); i++)
        to[i] = images[i];
    sg_status status = SG_OK;
    sgi_dnn_before before = sgi_dnn_enter(graph->dnn);
    graph->mode = SG_MODE_TRAIN;
    graph->no_drop = graph->no_update = true;
    for (int i = 0; i < graph->forward_count && status == SG_OK; i++) {
        const sgi_step *step = &graph->forward[i];
        const sgi_net_op *op = &graph->ops[step->op];
        if (op->weights != SG_NO_NODE && !op->norm)
            status = calibrate_layer(graph, step);
        if (status == SG_OK)
            status = step->run(graph, step);
    }
    graph->no_drop = graph->no_update = false;
    graph->ran = false;
    sgi_dnn_leave(before);
    return status;
}
