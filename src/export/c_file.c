/* A network as a file of C: see export.h.
 *
 * A channel is a derivative of every number in a layer: channel 0 is the value, the others are the
 * derivatives from which those that are wanted follow by the chain rule. The file has the weights
 * as arrays, a function each for the features, a layer and the activation over all channels, the
 * expressions that exact conditions are made of, and what a user calls. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "export/c_text.h"
#include "export/export.h"
#include "files/file.h"
#include "jet/network.h"
#include "stablegrad/version.h"

typedef struct writer {
    sgi_text text;
    sgi_arena arena;
    sgi_problem *problem;
    const sg_jet_network *network;   /* the first of several */
    sg_jet_network *const *networks; /* (count) of windows in time, or the only one */
    size_t count;
    sgi_export_fields fields;
    sg_jet_plan *plan;
    char prefix[64];
} writer;

/* ---- Names -------------------------------------------------------------------------------- */

/* The problem's name as the beginning of C names. */
static void make_prefix(writer *w)
{
    const char *name = w->problem->settings.name;
    size_t used = 0;
    if (!isalpha((unsigned char)name[0]))
        w->prefix[used++] = 'p';
    for (; *name && used < sizeof w->prefix - 1; name++)
        w->prefix[used++] = (char)(isalnum((unsigned char)*name) ? *name : '_');
    w->prefix[used] = 0;
}

/* u_xt */
static void put_quantity(writer *w, const sgi_input *wanted)
{
    const sgi_names *names = &w->problem->names;
    sgi_text_format(&w->text, "%s%s", names->fields[wanted->index], wanted->derivative ? "_" : "");
    for (int k = 0; k < names->coordinate_count; k++)
        for (int i = 0; i < sgi_derivative_order(wanted->derivative, k); i++)
            sgi_text_add(&w->text, names->coordinates[k]);
}

static bool listed(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name) != 0)
        list++;
    return *list;
}

/* A coordinate as an argument's name; a line follows those that mean something else in the file. */
static void put_argument(writer *w, const char *name)
{
    static const char *const taken[] = {
        "auto",   "break",    "case",   "char",   "const",    "continue", "default",  "do",
        "double", "else",     "enum",   "extern", "float",    "for",      "goto",     "if",
        "inline", "int",      "long",   "point",  "register", "restrict", "return",   "short",
        "signed", "sizeof",   "static", "struct", "switch",   "typedef",  "unsigned", "union",
        "values", "volatile", "void",   "while",  NULL};
    bool ours = isupper((unsigned char)name[0]) || listed(name, taken);
    sgi_text_format(&w->text, "%s%s", name, ours ? "_" : "");
}

/* double heat_u_x(double x, double t) */
static void put_prototype(writer *w, const sgi_input *wanted)
{
    static const char *const taken[] = {"fields", "gradient", "values", NULL};
    const sgi_names *names = &w->problem->names;
    sgi_text_format(&w->text, "double %s_", w->prefix);
    put_quantity(w, wanted);
    if (wanted->derivative == 0 && listed(names->fields[wanted->index], taken))
        sgi_text_add(&w->text, "_");
    sgi_text_add(&w->text, "(");
    for (int k = 0; k < names->coordinate_count; k++) {
        sgi_text_add(&w->text, k ? ", double " : "double ");
        put_argument(w, names->coordinates[k]);
    }
    sgi_text_add(&w->text, ")");
}

/* ---- The head ------------------------------------------------------------------------------ */

static void put_list(writer *w, const char *label, const char *const *names, int count)
{
    sgi_text_format(&w->text, " *   %-12s", label);
    for (int k = 0; k < count; k++)
        sgi_text_format(&w->text, " %s", names[k]);
    sgi_text_add(&w->text, "\n");
}

/* Text of the user's within a comment: it must not end it. */
static void put_comment(sgi_text *to, const char *words)
{
    for (const char *c = words; *c; c++) {
        bool ends = (*c == '*' && c[1] == '/') || (*c == '/' && c[1] == '*');
        char shown = *c == '\n' || *c == '\\' ? ' ' : *c;
        sgi_text_bytes(to, &shown, 1);
        if (ends)
            sgi_text_add(to, " ");
    }
}

static void put_head(writer *w, const char *from)
{
    const sgi_names *names = &w->problem->names;
    sgi_text *t = &w->text;
    const char *p = w->prefix;
    sgi_text_add(t, "/* ");
    put_comment(t, w->problem->settings.name);
    sgi_text_add(t, ": the fields of a trained network, and derivatives of them.\n"
                    " *\n * Written by stablegrad ");
    sgi_text_format(t, "%s from ", sg_version());
    put_comment(t, from);
    sgi_text_add(t, ".\n * C99; needs libm alone. All arithmetic is in double.\n *\n");
    put_list(w, "coordinates", names->coordinates, names->coordinate_count);
    put_list(w, "fields", names->fields, names->field_count);
    sgi_text_add(t, " *   values      ");
    for (size_t k = 0; k < w->fields.count; k++) {
        sgi_text_add(t, " ");
        put_quantity(w, &w->fields.wanted[k]);
    }
    sgi_text_format(
        t,
        "\n *\n"
        " * %s_fields fills the fields at a point, %s_gradient the first derivatives,\n"
        " * field after field, and %s_values all values in the order above. Each value\n"
        " * is a function of its own too. The prototypes, for a program that calls them:"
        "\n *\n",
        p, p, p);
    sgi_text_format(t, " *   void %s_fields(const double *point, double *fields);\n", p);
    sgi_text_format(t, " *   void %s_gradient(const double *point, double *gradient);\n", p);
    sgi_text_format(t, " *   void %s_values(const double *point, double *values);\n", p);
    for (size_t k = 0; k < w->fields.count; k++) {
        sgi_text_add(t, " *   ");
        put_prototype(w, &w->fields.wanted[k]);
        sgi_text_add(t, ";\n");
    }
    sgi_text_add(t, " */\n#include <math.h>\n\n");
}

static void put_prototypes(writer *w)
{
    sgi_text *t = &w->text;
    sgi_text_format(t, "void %s_fields(const double *point, double *fields);\n", w->prefix);
    sgi_text_format(t, "void %s_gradient(const double *point, double *gradient);\n", w->prefix);
    sgi_text_format(t, "void %s_values(const double *point, double *values);\n", w->prefix);
    for (size_t k = 0; k < w->fields.count; k++) {
        put_prototype(w, &w->fields.wanted[k]);
        sgi_text_add(t, ";\n");
    }
    sgi_text_add(t, "\n");
}

/* ---- Data --------------------------------------------------------------------------------- */

static void put_sizes(writer *w)
{
    const sg_jet_network *n = w->network;
    int width = n->features;
    for (int l = 0; l < n->layer_count; l++)
        width = n->layers[l].outputs > width ? n->layers[l].outputs : width;
    sgi_text_format(&w->text,
                    "/* A channel is a derivative: 0 the value, the others as in features(). */\n"
                    "enum { COORDINATES = %d, FIELDS = %d, VALUES = %zu, RAW = %d, WAVES = %d,\n"
                    "       LAYERS = %d, WIDTH = %d, CHANNELS = %d, NETWORKS = %zu };\n\n",
                    n->coordinates, n->outputs, w->fields.count, n->raw, n->waves, n->layer_count,
                    width, w->plan->channels, w->count);
}

/* How a name of network k ends: where there is one alone, it needs no number. */
static const char *ending(const writer *w, size_t k, char text[32])
{
    (void)snprintf(text, 32, w->count > 1 ? "_of_%zu" : "", k);
    return text;
}

static void put_layers(writer *w, size_t k)
{
    const sg_jet_network *n = w->networks[k];
    size_t size = n->type == SG_FLOAT32 ? sizeof(float) : sizeof(double);
    char name[60], end[32];
    if (n->raw > 0) {
        (void)snprintf(name, sizeof name, "scale%s", ending(w, k, end));
        sgi_c_array(&w->text, name, SG_FLOAT64, n->scale, (size_t)n->raw);
        (void)snprintf(name, sizeof name, "shift%s", ending(w, k, end));
        sgi_c_array(&w->text, name, SG_FLOAT64, n->shift, (size_t)n->raw);
    }
    for (int l = 0; l < n->layer_count; l++) {
        const sg_jet_layer *layer = &n->layers[l];
        (void)snprintf(name, sizeof name, "weight_%d%s", l, ending(w, k, end));
        sgi_c_array(&w->text, name, n->type, (const char *)n->values + layer->weight * size,
                    (size_t)layer->inputs * (size_t)layer->outputs);
        (void)snprintf(name, sizeof name, "bias_%d%s", l, ending(w, k, end));
        sgi_c_array(&w->text, name, n->type, (const char *)n->values + layer->bias * size,
                    (size_t)layer->outputs);
    }
}

/* The network that is meant at a point. */
static void put_choice(writer *w, const sgi_jet_pieces *pieces)
{
    if (w->count == 1)
        return;
    sgi_c_array(&w->text, "ends", SG_FLOAT64, pieces->ends, w->count);
    sgi_text_format(&w->text,
                    "\n/* Each network is meant up to the time at which it ends. */\n"
                    "static const struct network *network_at(const double *point)\n{\n"
                    "    int k = 0;\n"
                    "    while (k < NETWORKS - 1 && point[%d] > ends[k])\n        k++;\n"
                    "    return &networks[k];\n}\n\n",
                    pieces->along);
}

static void put_weights(writer *w, const sgi_jet_pieces *pieces)
{
    const sg_jet_network *n = w->network;
    sgi_text *t = &w->text;
    char end[32];
    if (n->waves > 0)
        sgi_c_array(t, "waves", SG_FLOAT64, n->wave, (size_t)n->waves * (size_t)n->coordinates);
    for (size_t k = 0; k < w->count; k++)
        put_layers(w, k);
    sgi_text_add(t, "\nstruct layer {\n    int inputs, outputs;\n"
                    "    const double *weight, *bias; /* (outputs, inputs), (outputs) */\n};\n"
                    "static const struct network {\n"
                    "    const double *scale, *shift; /* (RAW): of the coordinates */\n"
                    "    struct layer layers[LAYERS];\n"
                    "} networks[NETWORKS] = {\n");
    for (size_t k = 0; k < w->count; k++) {
        const char *own = ending(w, k, end);
        if (n->raw > 0)
            sgi_text_format(t, "    {scale%s, shift%s, {\n", own, own);
        else
            sgi_text_add(t, "    {0, 0, {\n");
        for (int l = 0; l < n->layer_count; l++)
            sgi_text_format(t, "        {%d, %d, weight_%d%s, bias_%d%s},\n", n->layers[l].inputs,
                            n->layers[l].outputs, l, own, l, own);
        sgi_text_add(t, "    }},\n");
    }
    sgi_text_add(t, "};\n\n");
    put_choice(w, pieces);
}

/* ---- Functions ---------------------------------------------------------------------------- */

/* d/dx of channel c as text. */
static void put_channel_comment(writer *w, int c)
{
    const sgi_jet_channel *channel = &w->plan->channel[c];
    sgi_text_add(&w->text, " /* d/d");
    for (int i = 0; i < channel->order; i++)
        sgi_text_add(&w->text, w->problem->names.coordinates[channel->along[i]]);
    sgi_text_add(&w->text, " */\n");
}

/* Derivatives of a sine and its cosine of one angle: products of w, and a quarter turn for each. */
static void put_wave_channel(writer *w, int c)
{
    static const char *const turned[2][4] = {{"s", "c", "-s", "-c"}, {"c", "-s", "-c", "s"}};
    const sgi_jet_channel *channel = &w->plan->channel[c];
    for (int which = 0; which < 2; which++) {
        sgi_text_format(&w->text, "        %s[%d] = ", which ? "cosine" : "sine", c);
        for (int i = 0; i < channel->order; i++)
            sgi_text_format(&w->text, "w[%d] * ", channel->along[i]);
        sgi_text_format(&w->text, "%s;", turned[which][channel->order % 4]);
        if (which == 0)
            put_channel_comment(w, c);
    }
    sgi_text_add(&w->text, "\n");
}

static void put_raw(writer *w)
{
    const sg_jet_network *n = w->network;
    for (int i = 0; i < n->raw; i++) {
        sgi_text_format(&w->text, "    a[%d][0] = net->scale[%d] * point[%d] + net->shift[%d];\n",
                        i, i, n->raw_index[i], i);
        sgi_text_format(&w->text, "    for (k = 1; k < channels; k++)\n        a[%d][k] = 0;\n", i);
        int first = sgi_c_channel(w->plan, sgi_derivative_unit(n->raw_index[i]));
        sgi_text_format(&w->text, "    if (channels > 1)\n        a[%d][%d] = net->scale[%d];", i,
                        first, i);
        put_channel_comment(w, first);
    }
}

static void put_waves(writer *w)
{
    const sg_jet_network *n = w->network;
    sgi_text *t = &w->text;
    sgi_text_format(t, "    for (k = 0; k < WAVES; k++) {\n"
                       "        const double *w = waves + k * COORDINATES;\n"
                       "        double angle = ");
    for (int k = 0; k < n->coordinates; k++)
        sgi_text_format(t, "%sw[%d] * point[%d]", k ? " + " : "", k, k);
    sgi_text_add(t, ";\n        double s = sin(angle), c = cos(angle);\n"
                    "        double *sine = a[RAW + k], *cosine = a[RAW + WAVES + k];\n"
                    "        sine[0] = s;\n        cosine[0] = c;\n"
                    "        if (channels == 1)\n            continue;\n");
    for (int c = 1; c < w->plan->channels; c++)
        put_wave_channel(w, c);
    sgi_text_add(t, "    }\n");
}

static void put_features(writer *w)
{
    sgi_text_add(
        &w->text,
        "/* What the first layer sees: coordinates, rescaled; sines; cosines. */\n"
        "static void features(const struct network *net, const double *point, int channels,\n"
        "                     double (*a)[CHANNELS])\n"
        "{\n    int k;\n");
    if (w->network->raw == 0)
        sgi_text_add(&w->text, "    (void)net;\n");
    put_raw(w);
    if (w->network->waves > 0)
        put_waves(w);
    sgi_text_add(&w->text, "}\n\n");
}

/* The chain rule, line by line. */
static void put_chain(writer *w)
{
    const sgi_chain *chain = &w->plan->chain;
    sgi_text *t = &w->text;
    sgi_text_add(t, "/* The activation of one unit, in all channels: the chain rule. */\n"
                    "static void activate(int channels, double *a)\n{\n");
    sgi_text_format(t, "    double f[%d] = {0}, z[CHANNELS];\n    int c;\n", chain->order + 1);
    sgi_text_add(t, "    for (c = 0; c < channels; c++)\n        z[c] = a[c];\n");
    sgi_text_format(t, "    activation(z[0], channels > 1 ? %d : 0, f);\n    a[0] = f[0];\n",
                    chain->order);
    sgi_text_add(t, "    if (channels == 1)\n        return;\n");
    for (size_t i = 0; i < chain->term_count; i++) {
        const sgi_chain_term *term = &chain->terms[i];
        bool first = i == 0 || chain->terms[i - 1].channel != term->channel;
        bool last = i + 1 == chain->term_count || chain->terms[i + 1].channel != term->channel;
        if (first)
            sgi_text_format(t, "    a[%d] = ", term->channel);
        else
            sgi_text_add(t, " + ");
        if (term->coefficient != 1)
            sgi_text_format(t, "%.17g * ", term->coefficient);
        sgi_text_format(t, "f[%d]", term->order);
        for (int k = 0; k < term->order; k++)
            sgi_text_format(t, " * z[%d]", term->factor[k]);
        if (last)
            sgi_text_add(t, ";\n");
    }
    sgi_text_add(t, "}\n\n");
}

static void put_network(writer *w)
{
    sgi_text_add(
        &w->text,
        "/* z = W a + b in all channels. */\n"
        "static void apply(const struct layer *layer, int channels, double (*a)[CHANNELS],\n"
        "                  double (*z)[CHANNELS])\n"
        "{\n"
        "    int i, j, c;\n"
        "    for (i = 0; i < layer->outputs; i++) {\n"
        "        const double *weight = layer->weight + (long)i * layer->inputs;\n"
        "        z[i][0] = layer->bias[i];\n"
        "        for (c = 1; c < channels; c++)\n"
        "            z[i][c] = 0;\n"
        "        for (j = 0; j < layer->inputs; j++)\n"
        "            for (c = 0; c < channels; c++)\n"
        "                z[i][c] += weight[j] * a[j][c];\n"
        "    }\n"
        "}\n\n"
        "/* The network's outputs n[field][channel] at a point. */\n"
        "static void network(const double *point, int channels, double (*n)[CHANNELS])\n"
        "{\n"
        "    double a[WIDTH][CHANNELS], z[WIDTH][CHANNELS];\n");
    sgi_text_add(&w->text, w->count > 1 ? "    const struct network *net = network_at(point);\n"
                                        : "    const struct network *net = &networks[0];\n");
    sgi_text_add(&w->text, "    int l, i, c;\n"
                           "    features(net, point, channels, a);\n"
                           "    for (l = 0; l < LAYERS - 1; l++) {\n"
                           "        apply(&net->layers[l], channels, a, z);\n"
                           "        for (i = 0; i < net->layers[l].outputs; i++) {\n"
                           "            activate(channels, z[i]);\n"
                           "            for (c = 0; c < channels; c++)\n"
                           "                a[i][c] = z[i][c];\n"
                           "        }\n"
                           "    }\n"
                           "    apply(&net->layers[LAYERS - 1], channels, a, n);\n"
                           "}\n\n");
}

/* void NAME_fields or NAME_values: the first `count` values. */
static sg_status put_values(writer *w, const char *name, size_t count, const char *channels)
{
    sgi_text_format(&w->text,
                    "void %s_%s(const double *point, double *values)\n{\n"
                    "    double n[FIELDS][CHANNELS];\n    network(point, %s, n);\n",
                    w->prefix, name, channels);
    sg_status status = sgi_c_values(&w->text, w->problem, &w->fields, count, w->plan, &w->arena);
    sgi_text_add(&w->text, "}\n\n");
    return status;
}

static void put_gradient(writer *w)
{
    sgi_text_format(&w->text,
                    "void %s_gradient(const double *point, double *gradient)\n{\n"
                    "    double values[VALUES];\n    int k;\n    %s_values(point, values);\n"
                    "    for (k = 0; k < FIELDS * COORDINATES; k++)\n"
                    "        gradient[k] = values[FIELDS + k];\n}\n",
                    w->prefix, w->prefix);
}

static void put_single(writer *w, size_t k)
{
    const sgi_names *names = &w->problem->names;
    const sgi_input *wanted = &w->fields.wanted[k];
    sgi_text *t = &w->text;
    sgi_text_add(t, "\n");
    put_prototype(w, wanted);
    sgi_text_format(t, "\n{\n    double point[COORDINATES], values[%s];\n",
                    wanted->derivative ? "VALUES" : "FIELDS");
    for (int c = 0; c < names->coordinate_count; c++) {
        sgi_text_format(t, "    point[%d] = ", c);
        put_argument(w, names->coordinates[c]);
        sgi_text_add(t, ";\n");
    }
    sgi_text_format(t, "    %s_%s(point, values);\n    return values[%zu];\n}\n", w->prefix,
                    wanted->derivative ? "values" : "fields", k);
}

/* ---- The file ------------------------------------------------------------------------------ */

static sg_status put_file(writer *w, const sg_pinn *pinn, const char *from)
{
    make_prefix(w);
    put_head(w, from);
    put_prototypes(w);
    put_sizes(w);
    put_weights(w, &pinn->pieces);
    put_features(w);
    sgi_c_activation(&w->text, w->network->activation, w->network->frequency, w->plan->chain.order);
    put_chain(w);
    put_network(w);
    sg_status status = put_values(w, "fields", (size_t)w->network->outputs, "1");
    if (status == SG_OK)
        status = put_values(w, "values", w->fields.count, "CHANNELS");
    put_gradient(w);
    for (size_t k = 0; k < w->fields.count; k++)
        put_single(w, k);
    return status == SG_OK ? w->text.status : status;
}

/* A plan of the derivatives of the network that the values are made of, each by itself. */
static sg_status make_plan(writer *w)
{
    const sgi_expressions *exprs = w->problem->exprs;
    size_t count = 0;
    sg_jet_request *requests = sgi_arena_allocate(&w->arena, exprs->input_count, sizeof *requests);
    if (!requests)
        return SG_ERROR_MEMORY;
    for (sgi_expr i = 0; i < w->fields.nodes; i++) {
        const sgi_input *input = w->fields.reached[i] ? sgi_expr_input(exprs, i) : NULL;
        if (!input || input->kind != SG_INPUT_FIELD)
            continue;
        sg_jet_request *request = &requests[count++];
        for (int k = 0; k < w->network->coordinates; k++)
            for (int j = 0; j < sgi_derivative_order(input->derivative, k); j++)
                request->along[request->order++] = k;
    }
    return sg_jet_plan_create(&w->plan, w->network->coordinates, requests, count,
                              &w->arena.allocator);
}

sg_status sgi_export_c(const char *path, sg_pinn *pinn, const char *from, sg_diagnostic *diagnostic)
{
    bool windows = pinn->pieces.count > 0;
    writer w = {.problem = pinn->problem,
                .networks = windows ? pinn->windows : &pinn->network,
                .count = windows ? pinn->pieces.ready : 1};
    w.network = w.networks[0];
    sgi_text_begin(&w.text, &pinn->allocator);
    sgi_arena_init(&w.arena, &pinn->allocator);
    sg_status status = sgi_export_fields_make(&w.fields, pinn->problem, true, &w.arena, diagnostic);
    if (status == SG_OK)
        status = make_plan(&w);
    if (status == SG_OK)
        status = put_file(&w, pinn, from);
    if (status == SG_OK)
        status = sgi_file_write(path, w.text.data, w.text.size, &pinn->allocator, diagnostic);
    sg_jet_plan_destroy(w.plan);
    sgi_text_release(&w.text);
    sgi_arena_clear(&w.arena);
    return sgi_pinn_status(status, diagnostic);
}
