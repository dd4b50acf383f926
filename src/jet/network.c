/* Networks: shapes, the flat array of parameters, and the input map.
 *
 * All parameters lie in one array, layer by layer, the weight before the bias, as PyTorch orders
 * them: an optimizer, a checkpoint or another program can take the array as a whole, and the spans
 * of sg_jet_network_register point into it. The input map is fixed, without parameters. */
#include "jet/network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/params.h"
#include "base/random.h"

static const double TWO_PI = 6.283185307179586476925286766559;

static bool known(sg_activation activation)
{
    return (unsigned)activation < SG_ACTIVATION_COUNT;
}

/* A wave is a vector of angular frequencies, one for each coordinate: the features are the sine and
 * cosine of its product with the point. This one varies along a single coordinate. */
static void wave_along(double *wave, int coordinates, int coordinate, double value)
{
    for (int i = 0; i < coordinates; i++)
        wave[i] = i == coordinate ? value : 0;
}

void sg_jet_waves_fourier(double *waves, int coordinates, int coordinate, double factor,
                          const double *frequencies, size_t count)
{
    if (!waves || !frequencies || coordinate < 0 || coordinate >= coordinates)
        return;
    for (size_t k = 0; k < count; k++)
        wave_along(waves + k * (size_t)coordinates, coordinates, coordinate,
                   factor * frequencies[k]);
}

void sg_jet_waves_periodic(double *waves, int coordinates, int coordinate, double period,
                           size_t count)
{
    if (!waves || coordinate < 0 || coordinate >= coordinates)
        return;
    for (size_t k = 0; k < count; k++)
        wave_along(waves + k * (size_t)coordinates, coordinates, coordinate,
                   TWO_PI * (double)(k + 1) / period);
}

/* A stream of its own, so that the waves do not repeat the numbers of the weights or the points
 * when these are given the same seed. */
void sg_jet_waves_random(double *waves, int coordinates, size_t count, double std, uint64_t seed)
{
    static const uint64_t stream = 0x7761766573; /* "waves" */
    if (!waves || coordinates < 1)
        return;
    for (size_t k = 0; k < count * (size_t)coordinates; k++)
        waves[k] = std * sgi_random_normal(seed, stream, k);
}

sg_jet_network_config sg_jet_network_defaults(void)
{
    static const int hidden[] = {64, 64, 64, 64};
    return (sg_jet_network_config){.input = {.coordinates = 1},
                                   .hidden = hidden,
                                   .hidden_count = 4,
                                   .outputs = 1,
                                   .activation = SG_ACTIVATION_TANH,
                                   .frequency = 1,
                                   .type = SG_FLOAT32};
}

/* Layers this wide or deep are mistakes, and sizes stay far from overflow. */
enum { MOST_WIDTH = 1 << 16, MOST_LAYERS = 1 << 12, MOST_SCALARS = 1 << 12 };

static bool in_range(int value, int least, int most)
{
    return value >= least && value <= most;
}

/* One number that is not finite would make every feature NaN, far from where it was given. */
static bool valid_input(const sg_jet_input *input)
{
    if (!in_range(input->coordinates, 1, MOST_WIDTH) || input->wave_count > MOST_WIDTH / 4 ||
        (input->wave_count > 0 && !input->waves))
        return false;
    for (size_t i = 0; i < input->wave_count * (size_t)input->coordinates; i++)
        if (!isfinite(input->waves[i]))
            return false;
    for (int i = 0; i < input->coordinates; i++)
        if ((input->scale && !isfinite(input->scale[i])) ||
            (input->shift && !isfinite(input->shift[i])) ||
            (input->unit && !(isfinite(input->unit[i]) && input->unit[i] > 0)))
            return false;
    return true;
}

static bool valid_config(const sg_jet_network_config *config)
{
    if (!valid_input(&config->input) || !in_range(config->hidden_count, 0, MOST_LAYERS) ||
        !in_range(config->outputs, 1, MOST_WIDTH) ||
        (config->hidden_count > 0 && !config->hidden) || !known(config->activation) ||
        config->scalar_count > MOST_SCALARS || (config->scalar_count > 0 && !config->scalars) ||
        !in_range((int)config->type, SG_FLOAT32, SG_FLOAT64) || !isfinite(config->frequency))
        return false;
    for (int i = 0; i < config->hidden_count; i++)
        if (!in_range(config->hidden[i], 1, MOST_WIDTH))
            return false;
    return true;
}

/* Coordinates that the network does not see themselves reach it through waves alone. */
static bool kept(const sg_jet_input *input, int coordinate)
{
    return !input->keep || input->keep[coordinate];
}

/* Copies the input map, so that the caller's arrays need not outlive the network. The features are
 * the kept coordinates, then all sines, then all cosines; a map without any is refused. */
static sg_status copy_input(sg_jet_network *network, const sg_jet_input *input)
{
    const sg_allocator *allocator = &network->allocator;
    size_t coordinates = (size_t)input->coordinates, wave_values = input->wave_count * coordinates;
    network->coordinates = input->coordinates;
    network->waves = (int)input->wave_count;
    network->raw_index = sgi_allocate(allocator, coordinates, sizeof(int));
    network->scale = sgi_allocate(allocator, coordinates, sizeof(double));
    network->shift = sgi_allocate(allocator, coordinates, sizeof(double));
    network->wave = sgi_allocate(allocator, wave_values, sizeof(double));
    network->unit = sgi_allocate(allocator, coordinates, sizeof(double));
    if (!network->raw_index || !network->scale || !network->shift || !network->wave ||
        !network->unit)
        return SG_ERROR_MEMORY;
    for (int i = 0; i < input->coordinates; i++) {
        network->unit[i] = input->unit ? input->unit[i] : 1;
        if (!kept(input, i))
            continue;
        network->raw_index[network->raw] = i;
        network->scale[network->raw] = input->scale ? input->scale[i] : 1;
        network->shift[network->raw] = input->shift ? input->shift[i] : 0;
        network->raw++;
    }
    for (size_t i = 0; i < wave_values; i++)
        network->wave[i] = input->waves[i];
    network->features = network->raw + 2 * network->waves;
    return network->features > 0 ? SG_OK : SG_ERROR_ARGUMENT;
}

static sg_status lay_out(sg_jet_network *network, const sg_jet_network_config *config)
{
    const sg_allocator *allocator = &network->allocator;
    network->layer_count = config->hidden_count + 1;
    network->layers =
        sgi_allocate(allocator, (size_t)network->layer_count, sizeof *network->layers);
    if (!network->layers)
        return SG_ERROR_MEMORY;
    int inputs = network->features;
    for (int l = 0; l < network->layer_count; l++) {
        int outputs = l < config->hidden_count ? config->hidden[l] : config->outputs;
        size_t weight = network->parameters;
        size_t bias = weight + (size_t)inputs * (size_t)outputs;
        network->layers[l] = (sg_jet_layer){inputs, outputs, weight, bias};
        network->parameters = bias + (size_t)outputs;
        inputs = outputs;
    }
    network->scalar_begin = network->parameters;
    network->parameters += network->scalar_count;
    size_t size = sgi_type_size(network->type);
    network->values = sgi_allocate(allocator, network->parameters, size);
    network->gradients = sgi_allocate(allocator, network->parameters, size);
    return network->values && network->gradients ? SG_OK : SG_ERROR_MEMORY;
}

static sg_status copy_scalars(sg_jet_network *network, const sg_jet_network_config *config)
{
    network->scalar_count = config->scalar_count;
    network->scalars =
        sgi_allocate(&network->allocator, network->scalar_count, sizeof *network->scalars);
    if (!network->scalars)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < network->scalar_count; i++) {
        if (!config->scalars[i])
            return SG_ERROR_ARGUMENT;
        network->scalars[i] = sgi_copy_text(&network->allocator, config->scalars[i]);
        if (!network->scalars[i])
            return SG_ERROR_MEMORY;
    }
    return SG_OK;
}

sg_status sg_jet_network_create(sg_jet_network **out, const sg_jet_network_config *config,
                                const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (!config || !valid_config(config))
        return SG_ERROR_ARGUMENT;
    sg_jet_network *network = SGI_NEW(sg_jet_network, given);
    if (!network)
        return SG_ERROR_MEMORY;
    network->type = config->type;
    network->activation = config->activation;
    network->frequency = config->frequency;
    network->outputs = config->outputs;
    sg_status status = copy_input(network, &config->input);
    if (status == SG_OK)
        status = copy_scalars(network, config);
    if (status == SG_OK)
        status = lay_out(network, config);
    if (status == SG_OK)
        *out = network;
    else
        sg_jet_network_destroy(network);
    return status;
}

void sg_jet_network_destroy(sg_jet_network *network)
{
    if (!network)
        return;
    for (size_t i = 0; network->scalars && i < network->scalar_count; i++)
        sgi_release(&network->allocator, network->scalars[i]);
    sgi_release(&network->allocator, network->scalars);
    sgi_release(&network->allocator, network->raw_index);
    sgi_release(&network->allocator, network->scale);
    sgi_release(&network->allocator, network->shift);
    sgi_release(&network->allocator, network->wave);
    sgi_release(&network->allocator, network->unit);
    sgi_release(&network->allocator, network->layers);
    sgi_release(&network->allocator, network->values);
    sgi_release(&network->allocator, network->gradients);
    sgi_release(&network->allocator, network);
}

size_t sg_jet_network_parameters(const sg_jet_network *network)
{
    return network ? network->parameters : 0;
}

size_t sg_jet_network_scalars(const sg_jet_network *network)
{
    return network ? network->scalar_count : 0;
}

const char *sg_jet_network_scalar(const sg_jet_network *network, size_t index)
{
    return network && index < network->scalar_count ? network->scalars[index] : NULL;
}

int sg_jet_network_layers(const sg_jet_network *network)
{
    return network ? network->layer_count : 0;
}

int sg_jet_network_features(const sg_jet_network *network)
{
    return network ? network->features : 0;
}

int sg_jet_network_coordinates(const sg_jet_network *network)
{
    return network ? network->coordinates : 0;
}

int sg_jet_network_outputs(const sg_jet_network *network)
{
    return network ? network->outputs : 0;
}

sg_type sg_jet_network_type(const sg_jet_network *network)
{
    return network ? network->type : SG_FLOAT32;
}

void *sg_jet_network_values(const sg_jet_network *network)
{
    return network ? network->values : NULL;
}

void *sg_jet_network_gradients(const sg_jet_network *network)
{
    return network ? network->gradients : NULL;
}

sg_jet_layer sg_jet_network_layer(const sg_jet_network *network, int layer)
{
    if (!network || layer < 0 || layer >= network->layer_count)
        return (sg_jet_layer){0};
    return network->layers[layer];
}

static sg_status register_span(sg_jet_network *network, sg_params *params, int layer, sg_role role)
{
    const sg_jet_layer *shape = &network->layers[layer];
    bool bias = role == SG_ROLE_BIAS;
    char name[48];
    snprintf(name, sizeof name, "layers.%d.%s", layer, bias ? "bias" : "weight");
    size_t at = bias ? shape->bias : shape->weight;
    size_t count = (size_t)shape->outputs * (bias ? 1 : (size_t)shape->inputs);
    sg_span span = {.name = name,
                    .value = sgi_element(network->values, network->type, at),
                    .gradient = sgi_element(network->gradients, network->type, at),
                    .count = count,
                    .type = network->type,
                    .layer = layer,
                    .role = role,
                    .rows = bias ? 0 : (size_t)shape->outputs};
    return sg_params_add(params, &span);
}

/* Each is a layer of its own, so that no partition joins it with others. */
static sg_status register_scalar(sg_jet_network *network, sg_params *params, size_t index)
{
    size_t at = network->scalar_begin + index;
    sg_span span = {.name = network->scalars[index],
                    .value = sgi_element(network->values, network->type, at),
                    .gradient = sgi_element(network->gradients, network->type, at),
                    .count = 1,
                    .type = network->type,
                    .layer = network->layer_count + (int)index,
                    .role = SG_ROLE_SCALAR};
    return sg_params_add(params, &span);
}

sg_status sg_jet_network_register(sg_jet_network *network, sg_params *params)
{
    if (!network || !params)
        return SG_ERROR_ARGUMENT;
    for (int l = 0; l < network->layer_count; l++) {
        sg_status status = register_span(network, params, l, SG_ROLE_WEIGHT);
        if (status == SG_OK)
            status = register_span(network, params, l, SG_ROLE_BIAS);
        if (status != SG_OK)
            return status;
    }
    sg_status status = SG_OK;
    for (size_t i = 0; i < network->scalar_count && status == SG_OK; i++)
        status = register_scalar(network, params, i);
    return status;
}
