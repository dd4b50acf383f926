/* The tables of the input map for one plan: which constant or wave each channel of a feature is.
 *
 * A derivative of order n along a list of coordinates multiplies sin(w.x) by the product of those
 * w_i and turns it by n quarter periods, so a combination of derivatives is one multiple of
 * sin(w.x) and one of cos(w.x). Of a feature that is a multiple of a coordinate only first
 * derivatives remain. */
#include "jet/features.h"

#include "base/memory.h"
#include "base/params.h"

static void put(void *array, sg_type type, size_t index, double value)
{
    if (type == SG_FLOAT32)
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}

/* A line of the tables: the part of a channel with one varying number, 0 for none. */
typedef struct line {
    const sgi_jet_channel *channel;
    int owner, varying;
} line;

/* Term i of the line, or false when it has no more. A derivative is one term. */
static bool line_term(const line *from, size_t *i, sg_jet_term *term)
{
    const sgi_jet_channel *channel = from->channel;
    for (; channel->terms && *i < channel->count; (*i)++)
        if (channel->terms[*i].varying == from->varying) {
            *term = channel->terms[(*i)++];
            return true;
        }
    if (channel->terms || *i > 0 || from->varying)
        return false;
    *term = (sg_jet_term){.coefficient = 1, .order = channel->order};
    for (int k = 0; k < channel->order; k++)
        term->along[k] = channel->along[k];
    (*i)++;
    return true;
}

/* The line on a feature that is a multiple of x_i: its first derivatives along i. */
static double raw_factor(const line *from, int coordinate)
{
    double sum = 0;
    sg_jet_term term;
    for (size_t i = 0; line_term(from, &i, &term);)
        if (term.order == 1 && term.along[0] == coordinate)
            sum += term.coefficient;
    return sum;
}

/* Terms of even order turn sin(w.x) into sin(w.x), the others into cos(w.x). */
static void wave_factors(const line *from, const double *wave, const double *unit, double *even,
                         double *odd)
{
    static const int sign[] = {1, 1, -1, -1, 1}; /* of the n-th derivative of the sine */
    sg_jet_term term;
    *even = *odd = 0;
    for (size_t i = 0; line_term(from, &i, &term);) {
        double factor = 1;
        for (int k = 0; k < term.order; k++)
            factor *= wave[term.along[k]] * unit[term.along[k]];
        *(term.order % 2 ? odd : even) += sign[term.order] * term.coefficient * factor;
    }
}

static bool has_varying(const sgi_jet_channel *channel, int varying)
{
    for (size_t i = 0; channel->terms && i < channel->count; i++)
        if (channel->terms[i].varying == varying)
            return true;
    return false;
}

/* Lists the lines, in their order; only counts them when `to` is NULL. */
static size_t list_lines(const sg_jet_plan *plan, line *to)
{
    size_t count = 0;
    for (int c = 0; c < plan->channels; c++, count++)
        if (to)
            to[count] = (line){&plan->channel[c], c, 0};
    for (int c = 0; c < plan->channels; c++)
        for (int k = 1; k <= plan->varying; k++)
            if (has_varying(&plan->channel[c], k)) {
                if (to)
                    to[count] = (line){&plan->channel[c], c, k};
                count++;
            }
    return count;
}

/* The arrays, carved from one allocation: all sizes are multiples of a cache line. */
typedef struct tables {
    void *scale, *shift, *raw_derivative, *wave, *even, *odd;
    int *owner, *varying;
    line *lines;
} tables;

static size_t whole_lines(size_t bytes)
{
    return sgi_align_up(bytes, SG_ALIGNMENT);
}

/* Bytes of all arrays; sets them when `base` is not NULL. */
static size_t carve(tables *to, char *base, const sg_jet_network *network, size_t count,
                    size_t wave_stride)
{
    size_t size = sgi_type_size(network->type), raw = (size_t)network->raw, at = 0;
    struct {
        void **array;
        size_t bytes;
    } parts[] = {
        {&to->scale, raw * size},
        {&to->shift, raw * size},
        {&to->raw_derivative, count * raw * size},
        {&to->wave, (size_t)network->coordinates * wave_stride * size},
        {&to->even, count * wave_stride * size},
        {&to->odd, count * wave_stride * size},
        {(void **)&to->owner, count * sizeof(int)},
        {(void **)&to->varying, count * sizeof(int)},
        {(void **)&to->lines, count * sizeof(line)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base)
            *parts[i].array = base + at;
        at += whole_lines(parts[i].bytes);
    }
    return at;
}

static void fill_raw(const tables *to, const sg_jet_network *network, size_t lines)
{
    size_t raw = (size_t)network->raw;
    for (size_t i = 0; i < raw; i++) {
        int coordinate = network->raw_index[i];
        double slope = network->scale[i] * network->unit[coordinate];
        put(to->scale, network->type, i, network->scale[i]);
        put(to->shift, network->type, i, network->shift[i]);
        for (size_t l = 1; l < lines; l++)
            put(to->raw_derivative, network->type, l * raw + i,
                slope * raw_factor(&to->lines[l], coordinate));
    }
}

static void fill_waves(const tables *to, const sg_jet_network *network, size_t lines,
                       size_t wave_stride)
{
    for (size_t w = 0; w < (size_t)network->waves; w++) {
        const double *wave = network->wave + w * (size_t)network->coordinates;
        for (int i = 0; i < network->coordinates; i++)
            put(to->wave, network->type, (size_t)i * wave_stride + w, wave[i]);
        for (size_t l = 0; l < lines; l++) {
            double even, odd;
            wave_factors(&to->lines[l], wave, network->unit, &even, &odd);
            put(to->even, network->type, l * wave_stride + w, even);
            put(to->odd, network->type, l * wave_stride + w, odd);
        }
    }
}

void *sgi_features_create(sgi_features *features, const sg_jet_network *network,
                          const sg_jet_plan *plan, int lanes, const sg_allocator *allocator)
{
    size_t wave_stride = sgi_align_up((size_t)network->waves, (size_t)lanes);
    size_t lines = list_lines(plan, NULL);
    tables to = {0};
    char *memory = sgi_allocate(allocator, carve(&to, NULL, network, lines, wave_stride), 1);
    if (!memory)
        return NULL;
    carve(&to, memory, network, lines, wave_stride);
    list_lines(plan, to.lines);
    for (size_t l = 0; l < lines; l++) {
        to.owner[l] = to.lines[l].owner;
        to.varying[l] = to.lines[l].varying;
    }
    fill_raw(&to, network, lines);
    fill_waves(&to, network, lines, wave_stride);
    features->coordinates = network->coordinates;
    features->channels = plan->channels;
    features->lines = (int)lines;
    features->owner = to.owner;
    features->varying = to.varying;
    features->raw = network->raw;
    features->waves = network->waves;
    features->wave_stride = (int)wave_stride;
    features->raw_index = network->raw_index;
    features->scale = to.scale;
    features->shift = to.shift;
    features->raw_derivative = to.raw_derivative;
    features->wave = to.wave;
    features->even = to.even;
    features->odd = to.odd;
    return memory;
}
