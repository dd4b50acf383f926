/* The tables of the input map for one plan: which constant or wave each channel of a feature is.
 *
 * A derivative of order n along a list of coordinates multiplies sin(w.x) by the product of those
 * w_i and turns it by n quarter periods; a combination sum_i c_i d_ii multiplies by sum_i c_i w_i^2
 * and turns by two. */
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

static double wave_factor(const sg_jet_plan *plan, const sgi_jet_channel *channel,
                          const double *wave)
{
    double factor = channel->second ? 0 : 1;
    if (channel->second)
        for (int i = 0; i < plan->coordinates; i++)
            factor += channel->second[i] * wave[i] * wave[i];
    else
        for (int i = 0; i < channel->order; i++)
            factor *= wave[channel->along[i]];
    return factor;
}

/* Signs of the n-th derivatives of sin and cos. */
static const int SINE_SIGN[] = {1, 1, -1, -1, 1};
static const int COSINE_SIGN[] = {1, -1, -1, 1, 1};

/* The arrays, carved from one allocation: all sizes are multiples of a cache line. */
typedef struct tables {
    void *scale, *shift, *raw_derivative, *wave, *sine, *cosine;
    int *odd;
} tables;

static size_t lines(size_t bytes)
{
    return (bytes + SG_ALIGNMENT - 1) / SG_ALIGNMENT * SG_ALIGNMENT;
}

/* Bytes of all arrays; sets them when `base` is not NULL. */
static size_t carve(tables *to, char *base, const sg_jet_network *network, int channels,
                    size_t wave_stride)
{
    size_t size = sgi_type_size(network->type), raw = (size_t)network->raw, at = 0;
    size_t count = (size_t)channels;
    struct {
        void **array;
        size_t bytes;
    } parts[] = {
        {&to->scale, raw * size},
        {&to->shift, raw * size},
        {&to->raw_derivative, count * raw * size},
        {&to->wave, (size_t)network->coordinates * wave_stride * size},
        {&to->sine, count * wave_stride * size},
        {&to->cosine, count * wave_stride * size},
        {(void **)&to->odd, count * sizeof(int)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (base)
            *parts[i].array = base + at;
        at += lines(parts[i].bytes);
    }
    return at;
}

static void fill_raw(const tables *to, const sg_jet_network *network, const sg_jet_plan *plan)
{
    size_t raw = (size_t)network->raw;
    for (size_t i = 0; i < raw; i++) {
        put(to->scale, network->type, i, network->scale[i]);
        put(to->shift, network->type, i, network->shift[i]);
        for (int c = 1; c < plan->channels; c++) {
            const sgi_jet_channel *channel = &plan->channel[c];
            bool along = channel->order == 1 && channel->along[0] == network->raw_index[i];
            put(to->raw_derivative, network->type, (size_t)c * raw + i,
                along ? network->scale[i] : 0);
        }
    }
}

static void fill_waves(const tables *to, const sg_jet_network *network, const sg_jet_plan *plan,
                       size_t wave_stride)
{
    for (int w = 0; w < network->waves; w++) {
        const double *wave = network->wave + (size_t)w * (size_t)network->coordinates;
        for (int i = 0; i < network->coordinates; i++)
            put(to->wave, network->type, (size_t)i * wave_stride + (size_t)w, wave[i]);
        for (int c = 0; c < plan->channels; c++) {
            const sgi_jet_channel *channel = &plan->channel[c];
            double factor = wave_factor(plan, channel, wave);
            size_t at = (size_t)c * wave_stride + (size_t)w;
            put(to->sine, network->type, at, factor * SINE_SIGN[channel->order]);
            put(to->cosine, network->type, at, factor * COSINE_SIGN[channel->order]);
        }
    }
    for (int c = 0; c < plan->channels; c++)
        to->odd[c] = plan->channel[c].order % 2;
}

void *sgi_features_create(sgi_features *features, const sg_jet_network *network,
                          const sg_jet_plan *plan, int lanes, const sg_allocator *allocator)
{
    size_t wave_stride =
        ((size_t)network->waves + (size_t)lanes - 1) / (size_t)lanes * (size_t)lanes;
    tables to = {0};
    char *memory =
        sgi_allocate(allocator, carve(&to, NULL, network, plan->channels, wave_stride), 1);
    if (!memory)
        return NULL;
    carve(&to, memory, network, plan->channels, wave_stride);
    fill_raw(&to, network, plan);
    fill_waves(&to, network, plan, wave_stride);
    features->coordinates = network->coordinates;
    features->channels = plan->channels;
    features->raw = network->raw;
    features->waves = network->waves;
    features->wave_stride = (int)wave_stride;
    features->raw_index = network->raw_index;
    features->scale = to.scale;
    features->shift = to.shift;
    features->raw_derivative = to.raw_derivative;
    features->wave = to.wave;
    features->odd = to.odd;
    features->sine = to.sine;
    features->cosine = to.cosine;
    return memory;
}
