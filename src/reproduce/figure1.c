/* Figure 1 and appendix A.1: how large activations, adjoints and weight gradients are from layer to
 * layer of a multilayer perceptron, with each way to keep them even, and of a PINN's network with
 * its derivative channels. Nothing is trained: it is one forward and one backward pass at the
 * start. The paper gives neither its widths nor its activation; those here are chosen so that
 * fan-in and fan-out differ and activations can grow. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/axis.h"
#include "draw/chart.h"
#include "flow/flow.h"
#include "reproduce/reproduction.h"
#include "train/metrics.h"

#define FIGURE_FILE "figure1.json"

enum {
    WIDTH = 468,
    HEIGHT = 230,
    MOST_LAYERS = 16,
    MOST_SEEDS = 10,
    FEW_SEEDS = 2,
    PANELS = 8,
    MLP_LAYERS = 12,
    PINN_LAYERS = 13
};

/* Narrower from layer to layer: weights by fan-out are then larger than those by fan-in. */
static const int mlp_widths[MLP_LAYERS + 1] = {256, 512, 448, 384, 320, 256, 192,
                                               160, 128, 96,  64,  48,  10};
static const int pinn_widths[PINN_LAYERS + 1] = {2,  64, 64, 64, 64, 64, 64,
                                                 64, 64, 64, 64, 64, 64, 1};

typedef struct panel {
    const char *name, *title;
    sgi_flow_norm norm;
    bool fan_out, scaled;
} panel;

static const panel panels[PANELS] = {
    {"plain-in", "MLP with fan-in", SG_FLOW_PLAIN, false, false},
    {"plain-out", "MLP with fan-out", SG_FLOW_PLAIN, true, false},
    {"batch-in", "With BatchNorm and fan-in", SG_FLOW_BATCH, false, false},
    {"batch-out", "With BatchNorm and fan-out", SG_FLOW_BATCH, true, false},
    {"layer-in", "With LayerNorm and fan-in", SG_FLOW_LAYER, false, false},
    {"layer-out", "With LayerNorm and fan-out", SG_FLOW_LAYER, true, false},
    {"stablegrad-in", "With StableGrad and fan-in", SG_FLOW_PLAIN, false, true},
    {"stablegrad-out", "With StableGrad and fan-out", SG_FLOW_PLAIN, true, true},
};

/* A tanh network of the paper's depth 12 and width 64 at two gains. */
enum { PINNS = 2 };
static const struct {
    const char *name, *title;
    double gain;
} pinns[PINNS] = {{"pinn-1", "gain 1", 1}, {"pinn-auto", "gain 1.593", 1.5925374197228312}};

static const char *const channels[SG_FLOW_CHANNELS] = {"value", "first derivative",
                                                       "second derivative"};

/* ---- Measuring ------------------------------------------------------------------------------ */

static sgi_flow_config mlp(const panel *p)
{
    return (sgi_flow_config){.widths = mlp_widths,
                             .layers = MLP_LAYERS,
                             .function = SG_FLOW_RELU,
                             .norm = p->norm,
                             .fan_out = p->fan_out,
                             .gain = sqrt(2),
                             .channels = 1,
                             .batch = 128};
}

static sgi_flow_config pinn(double gain)
{
    return (sgi_flow_config){.widths = pinn_widths,
                             .layers = PINN_LAYERS,
                             .function = SG_FLOW_TANH,
                             .gain = gain,
                             .channels = SG_FLOW_CHANNELS,
                             .batch = 256};
}

static json_t *numbers(const double *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

/* Geometric means over some networks: layers are narrow, and one of them may be off by chance. All
 * members of a layer are numbers to be averaged. */
static sg_status measure_seeds(const sgi_flow_config *config, int seeds, sgi_flow_layer *means)
{
    enum { NUMBERS = sizeof(sgi_flow_layer) / sizeof(double) };
    double logs[MOST_LAYERS][NUMBERS] = {{0}}, values[MOST_LAYERS][NUMBERS];
    sgi_flow_layer layers[MOST_LAYERS];
    sgi_flow_config one = *config;
    for (one.seed = 0; one.seed < (uint64_t)seeds; one.seed++) {
        sg_status status = sgi_flow_measure(&one, layers, NULL);
        if (status != SG_OK)
            return status;
        memcpy(values, layers, sizeof layers);
        for (int l = 0; l < config->layers; l++)
            for (int i = 0; i < NUMBERS; i++)
                logs[l][i] += log(values[l][i]) / seeds;
    }
    for (int l = 0; l < config->layers; l++)
        for (int i = 0; i < NUMBERS; i++)
            values[l][i] = exp(logs[l][i]); /* 0 where there is no such channel */
    memcpy(means, values, sizeof layers);
    return SG_OK;
}

/* One network under its name in `file`: a list of layers. */
static sg_status add_network(json_t *file, const char *name, const sgi_flow_config *config,
                             int seeds)
{
    sgi_flow_layer layers[MOST_LAYERS];
    sg_status status = measure_seeds(config, seeds, layers);
    json_t *list = json_array();
    for (int l = 0; l < config->layers && status == SG_OK; l++) {
        json_t *layer = json_object();
        const sgi_flow_layer *it = &layers[l];
        json_object_set_new(layer, "activation", numbers(it->activation, config->channels));
        json_object_set_new(layer, "adjoint", numbers(it->adjoint, config->channels));
        json_object_set_new(layer, "gradient", json_real(it->gradient));
        json_object_set_new(layer, "factor", json_real(it->factor));
        if (config->channels > 1) {
            json_object_set_new(layer, "predicted_activation",
                                numbers(it->predicted_activation, config->channels));
            json_object_set_new(layer, "predicted_adjoint",
                                numbers(it->predicted_adjoint, config->channels));
        }
        if (json_array_append_new(list, layer) != 0)
            status = SG_ERROR_MEMORY;
    }
    if (json_object_set_new(file, name, list) != 0)
        status = SG_ERROR_MEMORY;
    return status;
}

static sg_status measure(const char *folder, sgi_budget budget, sg_diagnostic *diagnostic)
{
    int seeds = budget == SG_BUDGET_QUICK ? FEW_SEEDS : MOST_SEEDS;
    json_t *file = json_object();
    sg_status status =
        json_object_set_new(file, "seeds", json_integer(seeds)) == 0 ? SG_OK : SG_ERROR_MEMORY;
    for (int p = 0; p < PANELS && status == SG_OK; p++) {
        sgi_flow_config config = mlp(&panels[p]);
        status = add_network(file, panels[p].name, &config, seeds);
    }
    for (int p = 0; p < PINNS && status == SG_OK; p++) {
        sgi_flow_config config = pinn(pinns[p].gain);
        status = add_network(file, pinns[p].name, &config, seeds);
    }
    if (status == SG_OK)
        return sgi_json_write(folder, FIGURE_FILE, file, diagnostic);
    json_decref(file);
    return status;
}

/* ---- Reading back --------------------------------------------------------------------------- */

static json_t *read_figure(const sgi_results *results)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", results->folder, FIGURE_FILE);
    if (length < 0 || (size_t)length >= sizeof path)
        return NULL;
    return json_load_file(path, 0, NULL);
}

/* One number of every layer of a network, NaN where there is none; `channel` -1: it is no list.
 * Returns how many layers there are. */
static int column(const json_t *figure, const char *network, const char *key, int channel,
                  double values[MOST_LAYERS])
{
    const json_t *list = json_object_get(figure, network);
    size_t count = json_array_size(list);
    count = count < MOST_LAYERS ? count : MOST_LAYERS;
    for (size_t l = 0; l < count; l++) {
        const json_t *value = json_object_get(json_array_get(list, l), key);
        if (channel >= 0)
            value = json_array_get(value, (size_t)channel);
        values[l] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return (int)count;
}

static int seeds_of(const json_t *figure)
{
    return (int)json_integer_value(json_object_get(figure, "seeds"));
}

/* The weight gradients as the optimizer gets them. */
static int gradients(const json_t *figure, const panel *p, double values[MOST_LAYERS])
{
    double factors[MOST_LAYERS];
    int count = column(figure, p->name, "gradient", -1, values);
    column(figure, p->name, "factor", -1, factors);
    for (int l = 0; l < count && p->scaled; l++)
        values[l] *= factors[l];
    return count;
}

/* ---- The table ------------------------------------------------------------------------------ */

typedef struct spreads {
    double activation, adjoint, gradient;
} spreads;

/* Of the hidden layers: what comes in and goes out is of another kind. */
static spreads spreads_of(const json_t *figure, const panel *p)
{
    double values[MOST_LAYERS];
    spreads s;
    s.activation = sgi_flow_spread(values, column(figure, p->name, "activation", 0, values) - 1);
    s.adjoint = sgi_flow_spread(values, column(figure, p->name, "adjoint", 0, values) - 1);
    s.gradient = sgi_flow_spread(values, gradients(figure, p, values));
    return s;
}

static void spread_table(const json_t *figure, sgi_tables *tables)
{
    static const char *const columns[] = {"network", "activations", "adjoints",
                                          "weight gradients, as the optimizer gets them", NULL};
    sgi_table_begin(tables, "Largest over smallest standard deviation of the layers", columns);
    for (int p = 0; p < PANELS; p++) {
        spreads s = spreads_of(figure, &panels[p]);
        sgi_table_row(tables);
        sgi_table_text(tables, panels[p].title);
        sgi_table_number(tables, s.activation);
        sgi_table_number(tables, s.adjoint);
        sgi_table_number(tables, s.gradient);
    }
    sgi_table_note(tables,
                   "11 hidden layers of ReLU, 512 to 48 wide, and 10 outputs; 128 inputs of 256 "
                   "numbers; the start, before any step. Geometric means of %d networks.",
                   seeds_of(figure));
}

static void claim(sgi_tables *tables, const char *text, bool holds)
{
    sgi_table_claim(tables, text, true, holds);
}

/* Two spreads are alike when neither is more than one and a half times the other. */
static bool alike(double a, double b)
{
    return a < 1.5 * b && b < 1.5 * a;
}

static void claims_table(const json_t *figure, sgi_tables *tables)
{
    static const char *const columns[] = {"what the paper says of figure 1", "here", NULL};
    spreads s[PANELS];
    for (int p = 0; p < PANELS; p++)
        s[p] = spreads_of(figure, &panels[p]);
    sgi_table_begin(tables, "The paper's reading", columns);
    claim(tables, "fan-in preserves activations (within a factor of 3)", s[0].activation < 3);
    claim(tables, "and leaves weight gradients highly imbalanced (by a factor of 3 or more)",
          s[0].gradient >= 3);
    claim(tables, "fan-out improves the scaling of the backward signal",
          s[1].adjoint < s[0].adjoint);
    claim(tables, "at the cost of increasing activations", s[1].activation > s[0].activation);
    claim(tables, "BatchNorm makes fan-in and fan-out alike in the forward pass",
          alike(s[2].activation, s[3].activation));
    claim(tables, "and so does LayerNorm", alike(s[4].activation, s[5].activation));
    claim(tables, "weight gradients stay uneven with BatchNorm (by a factor of 3 or more)",
          s[2].gradient >= 3 && s[3].gradient >= 3);
    claim(tables, "and with LayerNorm", s[4].gradient >= 3 && s[5].gradient >= 3);
    claim(tables, "StableGrad leaves the forward pass as it is",
          s[6].activation == s[0].activation && s[7].activation == s[1].activation);
    claim(tables, "and makes the weight gradients of all layers equal",
          s[6].gradient < 1.001 && s[7].gradient < 1.001);
}

/* What the one recursion of variances misses at the far end of the network. */
static void prediction_table(const json_t *figure, sgi_tables *tables)
{
    static const char *const columns[] = {"network",
                                          "channel",
                                          "activations at the output",
                                          "predicted",
                                          "adjoints at the first layer",
                                          "predicted",
                                          NULL};
    sgi_table_begin(tables, "Derivative channels beside the recursion of one variance", columns);
    for (int p = 0; p < PINNS; p++)
        for (int c = 0; c < SG_FLOW_CHANNELS; c++) {
            double forth[MOST_LAYERS], forth_said[MOST_LAYERS];
            double back[MOST_LAYERS], back_said[MOST_LAYERS];
            int count = column(figure, pinns[p].name, "activation", c, forth);
            if (count == 0)
                continue;
            column(figure, pinns[p].name, "predicted_activation", c, forth_said);
            column(figure, pinns[p].name, "adjoint", c, back);
            column(figure, pinns[p].name, "predicted_adjoint", c, back_said);
            sgi_table_row(tables);
            sgi_table_format(tables, "PINN, %s", pinns[p].title);
            sgi_table_text(tables, channels[c]);
            sgi_table_number(tables, forth[count - 1]);
            sgi_table_number(tables, forth_said[count - 1]);
            sgi_table_number(tables, back[0]);
            sgi_table_number(tables, back_said[0]);
        }
    sgi_table_note(tables,
                   "12 hidden layers of tanh, 64 wide, at 256 points; the adjoints at the "
                   "output are independent normal numbers for the three channels. "
                   "Geometric means of %d networks.",
                   seeds_of(figure));
}

static void tabulate(const sgi_results *results, sgi_tables *tables)
{
    json_t *figure = read_figure(results);
    if (!figure)
        return;
    spread_table(figure, tables);
    claims_table(figure, tables);
    prediction_table(figure, tables);
    json_decref(figure);
}

/* ---- The pictures --------------------------------------------------------------------------- */

typedef struct curve {
    double y[MOST_LAYERS];
} curve;

static void set_line(sgi_line *line, const char *label, int colour, bool dashed, const curve *c,
                     int count)
{
    static const double layers[MOST_LAYERS] = {1, 2,  3,  4,  5,  6,  7,  8,
                                               9, 10, 11, 12, 13, 14, 15, 16};
    *line = (sgi_line){.label = label,
                       .colour = colour,
                       .dashed = dashed,
                       .x = layers,
                       .y = c->y,
                       .count = (size_t)count};
}

enum { MLP_LINES = 4, PINN_LINES = 2 * SG_FLOW_CHANNELS };

static size_t mlp_lines(const json_t *figure, const panel *p, curve curves[MLP_LINES],
                        sgi_line lines[MLP_LINES])
{
    int count = column(figure, p->name, "activation", 0, curves[0].y);
    column(figure, p->name, "adjoint", 0, curves[1].y);
    column(figure, p->name, "gradient", -1, curves[2].y);
    gradients(figure, p, curves[3].y);
    set_line(&lines[0], "activations", 1, false, &curves[0], count);
    set_line(&lines[1], "adjoints", 2, false, &curves[1], count);
    set_line(&lines[2], "weight gradients", 3, false, &curves[2], count);
    set_line(&lines[3], "weight gradients after StableGrad", 0, false, &curves[3], count);
    return p->scaled ? 4 : 3;
}

static void include_lines(sgi_axis *axis, const sgi_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < lines[i].count; k++)
            sgi_axis_include(axis, lines[i].y[k]);
}

static void layer_chart(sgi_text *out, const char *title, const char *label, const sgi_axis *range,
                        const sgi_line *lines, size_t count)
{
    sgi_chart chart = {.title = title,
                       .x_label = "layer",
                       .y_label = label,
                       .log_y = true,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .y_low = range->low,
                       .y_high = range->high,
                       .lines = lines,
                       .line_count = count};
    sgi_chart_draw(out, &chart);
}

/* All panels have one range, so that they can be compared by eye. */
static void draw_mlps(const json_t *figure, sgi_text *out)
{
    static const panel whole = {"stablegrad-in", "", SG_FLOW_PLAIN, false, true};
    curve curves[MLP_LINES];
    sgi_line lines[MLP_LINES];
    sgi_axis range;
    sgi_axis_clear(&range, true);
    for (int p = 0; p < PANELS; p++)
        include_lines(&range, lines, mlp_lines(figure, &panels[p], curves, lines));
    sgi_axis_settle(&range, 0.05);
    sgi_text_add(out,
                 "<section id=\"figure1\">\n<h2>Forward and backward scales across depth</h2>\n"
                 "<p>Standard deviations of each layer’s output, of the loss’s derivative by "
                 "it, and of its weight gradient.</p>\n");
    sgi_chart_legend(out, lines, mlp_lines(figure, &whole, curves, lines));
    sgi_text_add(out, "<div class=\"two\">\n");
    for (int p = 0; p < PANELS; p++) {
        size_t count = mlp_lines(figure, &panels[p], curves, lines);
        layer_chart(out, panels[p].title, "std", &range, lines, count);
    }
    sgi_text_add(out, "</div>\n</section>\n");
}

static size_t pinn_lines(const json_t *figure, const char *network, const char *key,
                         const char *predicted, curve curves[PINN_LINES],
                         sgi_line lines[PINN_LINES])
{
    static const char *const said[SG_FLOW_CHANNELS] = {"value, by one recursion",
                                                       "first derivative, by one recursion",
                                                       "second derivative, by one recursion"};
    for (int c = 0; c < SG_FLOW_CHANNELS; c++) {
        int count = column(figure, network, key, c, curves[c].y);
        column(figure, network, predicted, c, curves[SG_FLOW_CHANNELS + c].y);
        set_line(&lines[c], channels[c], c + 1, false, &curves[c], count);
        set_line(&lines[SG_FLOW_CHANNELS + c], said[c], c + 1, true, &curves[SG_FLOW_CHANNELS + c],
                 count);
    }
    return PINN_LINES;
}

static void draw_pinns(const json_t *figure, sgi_text *out)
{
    static const char *const keys[2][3] = {{"activation", "predicted_activation", "Activations"},
                                           {"adjoint", "predicted_adjoint", "Adjoints"}};
    curve curves[PINN_LINES];
    sgi_line lines[PINN_LINES];
    sgi_text_add(out, "<section id=\"channels\">\n<h2>The derivative channels of a PINN</h2>\n"
                      "<p>The network’s value and its first two derivatives by an input, and the "
                      "loss’s derivatives by them. Dashed: what a single recursion of variances "
                      "says, which knows nothing of the coupling between channels.</p>\n");
    sgi_chart_legend(out, lines,
                     pinn_lines(figure, pinns[0].name, keys[0][0], keys[0][1], curves, lines));
    sgi_text_add(out, "<div class=\"two\">\n");
    for (int k = 0; k < 2; k++) {
        sgi_axis range;
        sgi_axis_clear(&range, true);
        for (int p = 0; p < PINNS; p++)
            include_lines(&range, lines,
                          pinn_lines(figure, pinns[p].name, keys[k][0], keys[k][1], curves, lines));
        sgi_axis_settle(&range, 0.05);
        for (int p = 0; p < PINNS; p++) {
            char title[64];
            size_t count = pinn_lines(figure, pinns[p].name, keys[k][0], keys[k][1], curves, lines);
            (void)snprintf(title, sizeof title, "%s, %s", keys[k][2], pinns[p].title);
            layer_chart(out, title, "std", &range, lines, count);
        }
    }
    sgi_text_add(out, "</div>\n</section>\n");
}

static void draw(const sgi_results *results, sgi_text *out)
{
    json_t *figure = read_figure(results);
    if (!figure)
        return;
    draw_mlps(figure, out);
    draw_pinns(figure, out);
    json_decref(figure);
}

const sgi_experiment sgi_experiment_figure1 = {
    .name = "figure1",
    .summary = "scales of activations, adjoints and weight gradients from layer to layer",
    .source = "figure 1, appendix A.1",
    .tabulate = tabulate,
    .measure = measure,
    .draw = draw,
};
