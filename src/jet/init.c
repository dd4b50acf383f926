/* Initialisation: weights drawn layer by layer from counter-based streams. */
#include <math.h>

#include "base/gain.h"
#include "base/list.h"
#include "base/random.h"
#include "jet/network.h"
#include "kernel/kernels.h"

/* Layer l draws from stream INIT_STREAM + l, element i is number i of it. */
static const uint64_t INIT_STREAM = (uint64_t)0x6a6574 << 32;

const char *sg_fan_name(sg_fan fan)
{
    static const char *const names[] = {SG_FAN_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_FAN_COUNT, (int)fan);
}

const char *sg_distribution_name(sg_distribution distribution)
{
    static const char *const names[] = {SG_DISTRIBUTION_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_DISTRIBUTION_COUNT, (int)distribution);
}

sg_jet_init sg_jet_init_defaults(void)
{
    return (sg_jet_init){SG_FAN_IN, SG_DISTRIBUTION_NORMAL, 1, 0};
}

/* f(z), from the reference loops: the one place that defines it. */
static double activated(const void *activation, double z)
{
    sgi_chain chain = {.channels = 1};
    sgi_activate args = {.chain = &chain,
                         .activation = *(const sg_activation *)activation,
                         .points = 1,
                         .width = 1,
                         .stride = 1};
    double f, memo;
    sgi_kernels_plain(SG_FLOAT64)->activate(&args, &z, &f, &memo);
    return f;
}

double sgi_activation_gain(sg_activation activation, double frequency)
{
    if (activation != SG_ACTIVATION_SIN)
        return sgi_gain(activated, &activation);
    /* In closed form, for a sum would miss waves shorter than its step. */
    double second_moment = -expm1(-2 * frequency * frequency) / 2;
    return second_moment > 0 ? 1 / sqrt(second_moment) : 1;
}

/* The deviation of layer `l`'s weights. */
static double deviation(const sg_jet_network *network, int l, const sg_jet_init *init)
{
    const sg_jet_layer *layer = &network->layers[l];
    double in = layer->inputs, out = layer->outputs;
    if (init->distribution == SG_DISTRIBUTION_SIREN) {
        double limit = l == 0 ? 1 / in : sqrt(6 / in) / network->frequency;
        return limit / sqrt(3);
    }
    double gain = init->gain;
    if (gain == 0)
        gain = l + 1 < network->layer_count
                   ? sgi_activation_gain(network->activation, network->frequency)
                   : 1;
    double fan = init->fan == SG_FAN_IN ? in : init->fan == SG_FAN_OUT ? out : (in + out) / 2;
    return gain / sqrt(fan);
}

static double draw(const sg_jet_init *init, uint64_t stream, uint64_t counter)
{
    if (init->distribution == SG_DISTRIBUTION_NORMAL)
        return sgi_random_normal(init->seed, stream, counter);
    return sqrt(3) * (2 * sgi_random_uniform(init->seed, stream, counter) - 1);
}

static void put(const sg_jet_network *network, size_t index, double value)
{
    if (network->type == SG_FLOAT32)
        ((float *)network->values)[index] = (float)value;
    else
        ((double *)network->values)[index] = value;
}

sg_status sg_jet_network_initialize(sg_jet_network *network, const sg_jet_init *init)
{
    if (!network || !init || (unsigned)init->fan >= SG_FAN_COUNT ||
        (unsigned)init->distribution >= SG_DISTRIBUTION_COUNT || !(init->gain >= 0) ||
        !isfinite(init->gain))
        return SG_ERROR_ARGUMENT;
    if (init->distribution == SG_DISTRIBUTION_SIREN && !(network->frequency > 0))
        return SG_ERROR_ARGUMENT;
    for (int l = 0; l < network->layer_count; l++) {
        const sg_jet_layer *layer = &network->layers[l];
        size_t count = (size_t)layer->inputs * (size_t)layer->outputs;
        double std = deviation(network, l, init);
        for (size_t i = 0; i < count; i++)
            put(network, layer->weight + i, std * draw(init, INIT_STREAM + (uint64_t)l, i));
        for (int o = 0; o < layer->outputs; o++)
            put(network, layer->bias + (size_t)o, 0);
    }
    for (size_t i = 0; i < network->scalar_count; i++)
        put(network, network->scalar_begin + i, 0);
    return SG_OK;
}
