/* Pieces of a file of C: see c_text.h. */
#include "export/c_text.h"

#include <math.h>

/* ---- Numbers ------------------------------------------------------------------------------ */

void sgi_c_number(sgi_text *to, double value)
{
    if (isnan(value))
        sgi_text_add(to, "NAN");
    else if (isinf(value))
        sgi_text_add(to, value > 0 ? "INFINITY" : "(-INFINITY)");
    else
        sgi_text_format(to, signbit(value) ? "(%.17g)" : "%.17g", value);
}

static double element(sg_type type, const void *values, size_t i)
{
    return type == SG_FLOAT32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

void sgi_c_array(sgi_text *to, const char *name, sg_type type, const void *values, size_t count)
{
    enum { IN_A_LINE = 4 };
    sgi_text_format(to, "static const double %s[%zu] = {", name, count);
    for (size_t i = 0; i < count; i++)
        sgi_text_format(to, "%s%.17g",
                        i % IN_A_LINE ? ", "
                        : i           ? ",\n    "
                                      : "\n    ",
                        element(type, values, i));
    sgi_text_add(to, "};\n");
}

/* ---- Activations --------------------------------------------------------------------------- */

/* Lines for f[0] .. f[4]; those above the order are left out. The formulas are those of the
 * engine. */
typedef struct lines {
    const char *before; /* what every order needs */
    const char *more;   /* what derivatives need beside it */
    const char *order[SG_JET_MOST_ORDER + 1];
} lines;

static const lines activations[SG_ACTIVATION_COUNT] = {
    [SG_ACTIVATION_TANH] = {"",
                            "    double q = f[0] * f[0];\n",
                            {"    f[0] = tanh(z);\n", "    f[1] = 1 - q;\n",
                             "    f[2] = -2 * f[0] * f[1];\n", "    f[3] = f[1] * (6 * q - 2);\n",
                             "    f[4] = f[1] * f[0] * (16 - 24 * q);\n"}},
    [SG_ACTIVATION_SILU] = {"    double s = 1 / (1 + exp(-z));\n",
                            "    double g = s * (1 - s), h = 1 - 2 * s;\n",
                            {"    f[0] = z * s;\n", "    f[1] = z * g + s;\n",
                             "    f[2] = z * g * h + 2 * g;\n",
                             "    f[3] = z * g * (1 - 6 * g) + 3 * g * h;\n",
                             "    f[4] = z * g * h * (1 - 12 * g) + 4 * g * (1 - 6 * g);\n"}},
    [SG_ACTIVATION_SIN] = {"",
                           "    double c = cos(FREQUENCY * z), w = FREQUENCY;\n",
                           {"    f[0] = sin(FREQUENCY * z);\n", "    f[1] = w * c;\n",
                            "    f[2] = -w * w * f[0];\n", "    f[3] = -w * w * w * c;\n",
                            "    f[4] = w * w * w * w * f[0];\n"}},
    [SG_ACTIVATION_GELU] = {"    double p = 0.5 + 0.5 * erf(z * 0.70710678118654752440);\n",
                            "    double q = z * z, d = 0.39894228040143267794 * exp(-0.5 * q);\n",
                            {"    f[0] = z * p;\n", "    f[1] = p + z * d;\n",
                             "    f[2] = d * (2 - q);\n", "    f[3] = d * z * (q - 4);\n",
                             "    f[4] = d * (q * (7 - q) - 4);\n"}},
    [SG_ACTIVATION_SOFTPLUS] = {"",
                                "    double s = 1 / (1 + exp(-z)), g = s * (1 - s);\n",
                                {"    f[0] = (z > 0 ? z : 0) + log1p(exp(-fabs(z)));\n",
                                 "    f[1] = s;\n", "    f[2] = g;\n",
                                 "    f[3] = g * (1 - 2 * s);\n", "    f[4] = g * (1 - 6 * g);\n"}},
};

void sgi_c_activation(sgi_text *to, sg_activation activation, double frequency, int order)
{
    const lines *l = &activations[activation];
    if (activation == SG_ACTIVATION_SIN) {
        sgi_text_add(to, "#define FREQUENCY ");
        sgi_c_number(to, frequency);
        sgi_text_add(to, "\n\n");
    }
    sgi_text_add(to, "/* f[k] is the k-th derivative of the activation at z. */\n"
                     "static void activation(double z, int order, double *f)\n{\n");
    sgi_text_add(to, l->before);
    sgi_text_add(to, l->order[0]);
    sgi_text_add(to, "    if (order == 0)\n        return;\n");
    if (order > 0)
        sgi_text_add(to, l->more);
    for (int k = 1; k <= order; k++)
        sgi_text_add(to, l->order[k]);
    sgi_text_add(to, "}\n\n");
}

/* ---- Expressions --------------------------------------------------------------------------- */

/* How an operation is written, %1 to %3 being its arguments. */
static const char *const forms[SG_OP_COUNT] = {
    [SG_OP_NEG] = "-%1",
    [SG_OP_ADD] = "%1 + %2",
    [SG_OP_SUB] = "%1 - %2",
    [SG_OP_MUL] = "%1 * %2",
    [SG_OP_DIV] = "%1 / %2",
    [SG_OP_LESS] = "%1 < %2 ? 1 : 0",
    [SG_OP_LESS_EQUAL] = "%1 <= %2 ? 1 : 0",
    [SG_OP_EQUAL] = "%1 == %2 ? 1 : 0",
    [SG_OP_NOT_EQUAL] = "%1 != %2 ? 1 : 0",
    [SG_OP_SECH] = "1 / cosh(%1)",
    [SG_OP_ABS] = "fabs(%1)",
    [SG_OP_SIGN] = "(%1 > 0 ? 1 : 0) - (%1 < 0 ? 1 : 0)",
    [SG_OP_MIN] = "%1 < %2 ? %1 : %2",
    [SG_OP_MAX] = "%1 > %2 ? %1 : %2",
    [SG_OP_WHERE] = "%1 != 0 ? %2 : %3",
};

int sgi_c_channel(const sg_jet_plan *plan, sgi_derivative derivative)
{
    int along[SG_JET_MOST_ORDER] = {0}, order = 0;
    for (int k = 0; k < plan->coordinates; k++)
        for (int i = 0; i < sgi_derivative_order(derivative, k); i++)
            along[order++] = k;
    sgi_jet_channel wanted = sgi_jet_derivative(order, along);
    return sgi_jet_find_channel(plan, &wanted);
}

static void put_operand(sgi_text *to, const sgi_expressions *exprs, const sg_jet_plan *plan,
                        sgi_expr node)
{
    const sgi_input *input = sgi_expr_input(exprs, node);
    if (input && input->kind == SG_INPUT_COORDINATE)
        sgi_text_format(to, "point[%d]", input->index);
    else if (input)
        sgi_text_format(to, "n[%d][%d]", input->index, sgi_c_channel(plan, input->derivative));
    else if (exprs->nodes[node].op == SG_OP_CONSTANT)
        sgi_c_number(to, exprs->nodes[node].value);
    else
        sgi_text_format(to, "v%u", (unsigned)node);
}

static void put_operation(sgi_text *to, const sgi_expressions *exprs, const sg_jet_plan *plan,
                          const sgi_node *node)
{
    const char *form = forms[node->op];
    for (const char *c = form; c && *c; c++)
        if (*c == '%')
            put_operand(to, exprs, plan, node->arguments[*++c - '1']);
        else
            sgi_text_bytes(to, c, 1);
    if (form)
        return;
    sgi_text_format(to, "%s(", sgi_op_name(node->op)); /* libm has it by the same name */
    for (int k = 0; k < sgi_op_arity(node->op); k++) {
        sgi_text_add(to, k ? ", " : "");
        put_operand(to, exprs, plan, node->arguments[k]);
    }
    sgi_text_add(to, ")");
}

sg_status sgi_c_values(sgi_text *to, const sgi_problem *problem, const sgi_export_fields *fields,
                       size_t count, const sg_jet_plan *plan, sgi_arena *arena)
{
    const sgi_expressions *exprs = problem->exprs;
    uint8_t *reached = sgi_arena_allocate(arena, fields->nodes, 1);
    if (!reached)
        return SG_ERROR_MEMORY;
    sgi_expressions_reach(exprs, fields->roots, count, reached);
    for (sgi_expr i = 0; i < fields->nodes; i++) {
        const sgi_node *node = &exprs->nodes[i];
        if (!reached[i] || sgi_op_arity(node->op) == 0)
            continue;
        sgi_text_format(to, "    double v%u = ", (unsigned)i);
        put_operation(to, exprs, plan, node);
        sgi_text_add(to, ";\n");
    }
    for (size_t k = 0; k < count; k++) {
        sgi_text_format(to, "    values[%zu] = ", k);
        put_operand(to, exprs, plan, fields->roots[k]);
        sgi_text_add(to, ";\n");
    }
    return SG_OK;
}
