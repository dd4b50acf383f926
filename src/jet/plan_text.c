/* What a plan looks like and what it costs. */
#include <stdarg.h>
#include <stdio.h>

#include "jet/network.h"
#include "jet/plan.h"

/* Text that counts on past the end of its buffer. */
typedef struct writer {
    char *text;
    size_t size, length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = to->length < to->size ? to->size - to->length : 0;
    int length = vsnprintf(room ? to->text + to->length : NULL, room, format, arguments);
    va_end(arguments);
    to->length += length > 0 ? (size_t)length : 0;
}

static void put_name(writer *to, const char *const *names, int coordinate)
{
    if (names)
        put(to, "%s", names[coordinate]);
    else
        put(to, "x%d", coordinate);
}

static bool is_laplacian(const sg_jet_plan *plan, const double *second)
{
    for (int i = 0; i < plan->coordinates; i++)
        if (second[i] != 0 && second[i] != 1)
            return false;
    return true;
}

static void put_combination(writer *to, const sg_jet_plan *plan, const double *second,
                            const char *field, const char *const *names)
{
    if (is_laplacian(plan, second)) {
        put(to, "lap(%s)", field);
        return;
    }
    const char *sign = "";
    for (int i = 0; i < plan->coordinates; i++) {
        if (second[i] == 0)
            continue;
        put(to, "%s%g*%s_", second[i] < 0 ? "" : sign, second[i], field);
        put_name(to, names, i);
        put_name(to, names, i);
        sign = "+";
    }
}

size_t sg_jet_plan_describe(const sg_jet_plan *plan, const char *field, const char *const *names,
                            char *text, size_t size)
{
    writer to = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    for (int c = 0; c < plan->channels; c++) {
        const sgi_jet_channel *channel = &plan->channel[c];
        put(&to, "%s", c ? " " : "");
        if (channel->second) {
            put_combination(&to, plan, channel->second, field, names);
            continue;
        }
        put(&to, "%s%s", field, channel->order ? "_" : "");
        for (int i = 0; i < channel->order; i++)
            put_name(&to, names, channel->along[i]);
    }
    return to.length;
}

double sg_jet_plan_flops(const sg_jet_plan *plan, const sg_jet_network *network, bool reverse)
{
    double sum = 0;
    for (int l = 0; l < network->layer_count; l++) {
        /* Forward, weight gradient, and the adjoint of the input where there is one to pass on. */
        int products = reverse ? (l == 0 ? 2 : 3) : 1;
        sum += 2.0 * network->layers[l].inputs * network->layers[l].outputs * products;
    }
    return sum * plan->channels;
}
