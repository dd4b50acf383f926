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

static bool is_pure_second(const sg_jet_term *term)
{
    return term->order == 2 && term->along[0] == term->along[1] && term->varying == 0;
}

/* Whether the pure second derivatives are several, with the same coefficient. */
static bool has_laplacian(const sgi_jet_channel *channel)
{
    const sg_jet_term *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < channel->count; i++) {
        const sg_jet_term *term = &channel->terms[i];
        if (!is_pure_second(term))
            continue;
        if (first && term->coefficient != first->coefficient)
            return false;
        first = term;
        count++;
    }
    return count > 1;
}

static void put_coefficient(writer *to, const sg_jet_term *term, bool first)
{
    double size = term->coefficient < 0 ? -term->coefficient : term->coefficient;
    put(to, "%s", term->coefficient < 0 ? "-" : first ? "" : "+");
    if (size != 1)
        put(to, "%g*", size);
    if (term->varying)
        put(to, "[%d]*", term->varying);
}

static void put_derivative(writer *to, const char *field, const char *const *names, int order,
                           const int *along)
{
    put(to, "%s%s", field, order ? "_" : "");
    for (int i = 0; i < order; i++)
        put_name(to, names, along[i]);
}

static void put_combination(writer *to, const sgi_jet_channel *channel, const char *field,
                            const char *const *names)
{
    bool laplacian = has_laplacian(channel), written = false;
    for (size_t i = 0; i < channel->count; i++) {
        const sg_jet_term *term = &channel->terms[i];
        bool part = laplacian && is_pure_second(term);
        if (part && written)
            continue;
        put_coefficient(to, term, i == 0);
        if (part)
            put(to, "lap(%s)", field);
        else
            put_derivative(to, field, names, term->order, term->along);
        written = written || part;
    }
}

size_t sg_jet_plan_describe(const sg_jet_plan *plan, const char *field, const char *const *names,
                            char *text, size_t size)
{
    if (!plan || !field || (!text && size))
        return 0;
    writer to = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    for (int c = 0; c < plan->channels; c++) {
        const sgi_jet_channel *channel = &plan->channel[c];
        put(&to, "%s", c ? " " : "");
        if (channel->terms)
            put_combination(&to, channel, field, names);
        else
            put_derivative(&to, field, names, channel->order, channel->along);
    }
    return to.length;
}

double sg_jet_plan_flops(const sg_jet_plan *plan, const sg_jet_network *network, bool reverse)
{
    if (!plan || !network)
        return 0;
    double sum = 0;
    for (int l = 0; l < network->layer_count; l++) {
        /* Forward, weight gradient, and the adjoint of the input where there is one to pass on. */
        int products = reverse ? (l == 0 ? 2 : 3) : 1;
        sum += 2.0 * network->layers[l].inputs * network->layers[l].outputs * products;
    }
    return sum * plan->channels;
}
