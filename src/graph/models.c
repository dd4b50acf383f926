/* Models from tables: see stablegrad/graph.h. Names, shapes and order are torchvision's, so that
 * state dicts go both ways. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "graph/internal.h"

enum { NAME_SIZE = 96 };

sg_model_options sg_model_defaults(void)
{
    return (sg_model_options){
        .classes = 1000, .norm = SG_NORM_BATCH, .dropout = -1, .drop_path = -1, .act = SG_ACT_TANH};
}

/* What the blocks of a model are built with. */
typedef struct maker {
    sg_net *graph;
    const sg_model_options *options;
    double eps;
    sg_act act;
    char name[NAME_SIZE];
} maker;

/* A name in the maker's buffer, valid until the next one. */
static const char *named(maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

static const char *named(maker *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->name, sizeof m->name, format, arguments);
    va_end(arguments);
    return m->name;
}

static int common_divisor(int a, int b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

static sg_net_node add_norm(maker *m, sg_net_node x, const char *name, int channels)
{
    sg_norm_options options = {.kind = m->options->norm,
                               .eps = m->eps,
                               .momentum = 0.1,
                               .groups = common_divisor(32, channels)};
    return sg_net_norm(m->graph, x, name, &options);
}

/* A convolution that a norm follows: it has a bias only when asked for in place of the norm. */
static sg_net_node add_conv(maker *m, sg_net_node x, const char *name, int out, int kernel,
                            int stride, int groups)
{
    sg_conv_options options = {.out = out,
                               .kernel = kernel,
                               .stride = stride,
                               .pad = (kernel - 1) / 2,
                               .groups = groups,
                               .bias = m->options->norm == SG_NORM_NONE && m->options->bias};
    return sg_net_conv(m->graph, x, name, &options);
}

/* ---- ResNet ------------------------------------------------------------------------------- */

typedef struct resnet_stage {
    int width, repeats;
} resnet_stage;

static const resnet_stage resnet18_stages[4] = {{64, 2}, {128, 2}, {256, 2}, {512, 2}};
static const resnet_stage resnet50_stages[4] = {{64, 3}, {128, 4}, {256, 6}, {512, 3}};

/* Convolution `number` of a block and its norm. */
static sg_net_node resnet_unit(maker *m, sg_net_node x, const char *block, int number, int out,
                               int kernel, int stride)
{
    x = add_conv(m, x, named(m, "%s.conv%d", block, number), out, kernel, stride, 1);
    return add_norm(m, x, named(m, "%s.bn%d", block, number), out);
}

static sg_net_node resnet_block(maker *m, sg_net_node in, const char *block, int width,
                                int expansion, int stride, bool project)
{
    int out = width * expansion;
    bool bottleneck = expansion > 1;
    sg_net_node x = in;
    x = resnet_unit(m, x, block, 1, width, bottleneck ? 1 : 3, bottleneck ? 1 : stride);
    x = sg_net_act(m->graph, x, named(m, "%s.relu1", block), SG_ACT_RELU);
    x = resnet_unit(m, x, block, 2, width, 3, bottleneck ? stride : 1);
    if (bottleneck) {
        x = sg_net_act(m->graph, x, named(m, "%s.relu2", block), SG_ACT_RELU);
        x = resnet_unit(m, x, block, 3, out, 1, 1);
    }
    sg_net_node skip = in;
    if (project) {
        skip = add_conv(m, in, named(m, "%s.downsample.0", block), out, 1, stride, 1);
        skip = add_norm(m, skip, named(m, "%s.downsample.1", block), out);
    }
    x = sg_net_add(m->graph, x, skip, named(m, "%s.add", block));
    return sg_net_act(m->graph, x, named(m, "%s.relu", block), SG_ACT_RELU);
}

static sg_net_node build_resnet(maker *m, const resnet_stage stages[4], int expansion)
{
    sg_net *graph = m->graph;
    m->eps = 1e-5;
    sg_net_node x = add_conv(m, sg_net_input(graph), "conv1", 64, 7, 2, 1);
    x = sg_net_act(graph, add_norm(m, x, "bn1", 64), "relu", SG_ACT_RELU);
    x = sg_net_max_pool(graph, x, "maxpool", 3, 2, 1);
    int channels = 64;
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < stages[s].repeats; i++) {
            char block[48];
            int stride = s > 0 && i == 0 ? 2 : 1, out = stages[s].width * expansion;
            snprintf(block, sizeof block, "layer%d.%d", s + 1, i);
            x = resnet_block(m, x, block, stages[s].width, expansion, stride,
                             stride > 1 || channels != out);
            channels = out;
        }
    x = sg_net_global_average(graph, x, "avgpool");
    return sg_net_linear(graph, x, "fc", m->options->classes, true);
}

static sg_net_node build_resnet18(maker *m)
{
    return build_resnet(m, resnet18_stages, 1);
}

static sg_net_node build_resnet50(maker *m)
{
    return build_resnet(m, resnet50_stages, 4);
}

/* ---- EfficientNetV2-S --------------------------------------------------------------------- */

typedef struct efficient_stage {
    bool fused; /* one k x k convolution in place of 1 x 1 and depthwise; no squeeze-excitation */
    int expand, kernel, stride, in, out, repeats;
} efficient_stage;

static const efficient_stage v2s_stages[6] = {
    {true, 1, 3, 1, 24, 24, 2},   {true, 4, 3, 2, 24, 48, 4},    {true, 4, 3, 2, 48, 64, 4},
    {false, 4, 3, 2, 64, 128, 6}, {false, 6, 3, 1, 128, 160, 9}, {false, 6, 3, 2, 160, 256, 15},
};

/* Convolution, norm, activation: torchvision's Conv2dNormActivation. */
static sg_net_node efficient_unit(maker *m, sg_net_node x, const char *name, int out, int kernel,
                                  int stride, int groups, sg_act act)
{
    x = add_conv(m, x, named(m, "%s.0", name), out, kernel, stride, groups);
    x = add_norm(m, x, named(m, "%s.1", name), out);
    return sg_net_act(m->graph, x, named(m, "%s.2", name), act);
}

static sg_net_node squeeze_excitation(maker *m, sg_net_node x, const char *name, int channels,
                                      int squeezed)
{
    sg_conv_options down = {.out = squeezed, .kernel = 1, .stride = 1, .bias = true};
    sg_conv_options up = {.out = channels, .kernel = 1, .stride = 1, .bias = true};
    sg_net_node s = sg_net_global_average(m->graph, x, named(m, "%s.avgpool", name));
    s = sg_net_conv(m->graph, s, named(m, "%s.fc1", name), &down);
    s = sg_net_act(m->graph, s, named(m, "%s.activation", name), SG_ACT_SILU);
    s = sg_net_conv(m->graph, s, named(m, "%s.fc2", name), &up);
    s = sg_net_act(m->graph, s, named(m, "%s.scale_activation", name), SG_ACT_SIGMOID);
    return sg_net_scale(m->graph, x, s, named(m, "%s.scale", name));
}

/* The branch of a block, without the residual. */
static sg_net_node efficient_branch(maker *m, sg_net_node x, const char *block,
                                    const efficient_stage *s, int in, int stride)
{
    int wide = in * s->expand;
    char unit[80];
    if (s->fused && s->expand == 1) {
        snprintf(unit, sizeof unit, "%s.block.0", block);
        return efficient_unit(m, x, unit, s->out, s->kernel, stride, 1, SG_ACT_SILU);
    }
    snprintf(unit, sizeof unit, "%s.block.0", block);
    x = efficient_unit(m, x, unit, wide, s->fused ? s->kernel : 1, s->fused ? stride : 1, 1,
                       SG_ACT_SILU);
    if (!s->fused) {
        snprintf(unit, sizeof unit, "%s.block.1", block);
        x = efficient_unit(m, x, unit, wide, s->kernel, stride, wide, SG_ACT_SILU);
        snprintf(unit, sizeof unit, "%s.block.2", block);
        x = squeeze_excitation(m, x, unit, wide, in / 4);
    }
    snprintf(unit, sizeof unit, "%s.block.%d", block, s->fused ? 1 : 3);
    return efficient_unit(m, x, unit, s->out, 1, 1, 1, SG_ACT_NONE);
}

static sg_net_node build_efficientnet_v2_s(maker *m)
{
    sg_net *graph = m->graph;
    const sg_model_options *o = m->options;
    double drop_path = o->drop_path < 0 ? 0.2 : o->drop_path;
    int index = 0, total = 0;
    m->eps = 1e-3;
    for (int s = 0; s < 6; s++)
        total += v2s_stages[s].repeats;
    sg_net_node x = efficient_unit(m, sg_net_input(graph), "features.0", 24, 3, 2, 1, SG_ACT_SILU);
    for (int s = 0; s < 6; s++)
        for (int i = 0; i < v2s_stages[s].repeats; i++, index++) {
            const efficient_stage *stage = &v2s_stages[s];
            int in = i == 0 ? stage->in : stage->out, stride = i == 0 ? stage->stride : 1;
            char block[48];
            snprintf(block, sizeof block, "features.%d.%d", s + 1, i);
            sg_net_node branch = efficient_branch(m, x, block, stage, in, stride);
            if (stride == 1 && in == stage->out) {
                branch = sg_net_drop_path(graph, branch, named(m, "%s.stochastic_depth", block),
                                          drop_path * index / total);
                branch = sg_net_add(graph, branch, x, named(m, "%s.add", block));
            }
            x = branch;
        }
    x = efficient_unit(m, x, "features.7", 1280, 1, 1, 1, SG_ACT_SILU);
    x = sg_net_global_average(graph, x, "avgpool");
    x = sg_net_dropout(graph, x, "classifier.0", o->dropout < 0 ? 0.2 : o->dropout);
    return sg_net_linear(graph, x, "classifier.1", o->classes, true);
}

/* ---- MLP ---------------------------------------------------------------------------------- */

static sg_net_node build_mlp(maker *m)
{
    static const int usual[4] = {256, 256, 256, 256};
    const sg_model_options *o = m->options;
    const int *hidden = o->hidden ? o->hidden : usual;
    int count = o->hidden ? o->hidden_count : 4;
    m->eps = 1e-5;
    sg_net_node x = sg_net_flatten(m->graph, sg_net_input(m->graph), "flatten");
    for (int i = 0; i < count; i++) {
        x = sg_net_linear(m->graph, x, named(m, "layers.%d", i), hidden[i], true);
        x = add_norm(m, x, named(m, "norms.%d", i), hidden[i]);
        x = sg_net_act(m->graph, x, named(m, "acts.%d", i), o->act);
    }
    return sg_net_linear(m->graph, x, named(m, "layers.%d", count), o->classes, true);
}

/* ---- The table ---------------------------------------------------------------------------- */

static const char *const names[] = {SG_MODEL_LIST(SGI_LIST_NAME)};

static const struct {
    sg_net_node (*build)(maker *m);
    sgi_start start;
} models[] = {
    [SG_MODEL_RESNET18] = {build_resnet18, SG_START_RESNET},
    [SG_MODEL_RESNET50] = {build_resnet50, SG_START_RESNET},
    [SG_MODEL_EFFICIENTNET_V2_S] = {build_efficientnet_v2_s, SG_START_EFFICIENTNET},
    [SG_MODEL_MLP] = {build_mlp, SG_START_PYTORCH},
};
_Static_assert(sizeof models / sizeof models[0] == SG_MODEL_COUNT, "a model without a builder");

const char *sg_model_name(int index)
{
    return index >= 0 && index < SG_MODEL_COUNT ? names[index] : NULL;
}

sgi_start sgi_model_start(int model)
{
    return model == SG_NONE ? SG_START_PYTORCH : models[model].start;
}

static bool sensible(const sg_model_options *o)
{
    return o->classes > 0 && o->norm < SG_NORM_COUNT && o->act < SG_ACT_COUNT && o->dropout < 1 &&
           o->drop_path < 1 && (!o->hidden || (o->hidden_count >= 0 && o->hidden_count < 10000));
}

sg_status sg_net_model(sg_net *graph, const char *name, const sg_model_options *given)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    sg_model_options options = given ? *given : sg_model_defaults();
    if (!name || !sensible(&options))
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "a model option is out of range");
    for (int i = 0; i < SG_MODEL_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            maker m = {.graph = graph, .options = &options};
            graph->model = i;
            return sg_net_compile(graph, models[i].build(&m));
        }
    return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no model of the name '%s'", name);
}
