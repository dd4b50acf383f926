/* The network of an earlier window: see earlier.h.
 *
 * A number carries its derivative by one coordinate along: (units, 2, points), values first. Sums
 * are in double. The loops are plain, and over the points inside: a start has few points. */
#include "pinn/earlier.h"

#include <math.h>

#include "jet/network.h"

enum { POINTS = SG_JET_TILE_POINTS, UNIT = 2 * POINTS };

static size_t widest(const sg_jet_network *network)
{
    int width = network->features;
    for (int l = 0; l < network->layer_count; l++)
        width = network->layers[l].outputs > width ? network->layers[l].outputs : width;
    return (size_t)width;
}

size_t sgi_earlier_memory(const sg_jet_network *network)
{
    return 2 * widest(network) * UNIT * sizeof(double);
}

static double element(const sg_jet_network *network, const void *values, size_t i)
{
    return network->type == SG_FLOAT32 ? (double)((const float *)values)[i]
                                       : ((const double *)values)[i];
}

static void make_features(const sg_jet_network *n, void *const *coordinates, size_t count,
                          int along, double *a)
{
    size_t dimensions = (size_t)n->coordinates, raw = (size_t)n->raw, waves = (size_t)n->waves;
    for (size_t f = 0; f < raw; f++)
        for (size_t i = 0; i < count; i++) {
            double x = element(n, coordinates[n->raw_index[f]], i);
            a[f * UNIT + i] = n->scale[f] * x + n->shift[f];
            a[f * UNIT + POINTS + i] = n->raw_index[f] == along ? n->scale[f] : 0;
        }
    for (size_t k = 0; k < waves; k++) {
        const double *wave = n->wave + k * dimensions;
        double *sine = a + (raw + k) * UNIT, *cosine = a + (raw + waves + k) * UNIT;
        for (size_t i = 0; i < count; i++) {
            double angle = 0;
            for (size_t c = 0; c < dimensions; c++)
                angle += wave[c] * element(n, coordinates[c], i);
            sine[i] = sin(angle);
            cosine[i] = cos(angle);
            sine[POINTS + i] = wave[along] * cosine[i];
            cosine[POINTS + i] = -wave[along] * sine[i];
        }
    }
}

static double logistic(double z)
{
    return 1 / (1 + exp(-z));
}

/* f(z), and f'(z) in *slope. */
static double activate(const sg_jet_network *n, double z, double *slope)
{
    double f, s;
    switch (n->activation) {
    case SG_ACTIVATION_SILU:
        s = logistic(z);
        *slope = s + z * s * (1 - s);
        return z * s;
    case SG_ACTIVATION_SIN:
        *slope = n->frequency * cos(n->frequency * z);
        return sin(n->frequency * z);
    case SG_ACTIVATION_GELU:
        s = 0.5 + 0.5 * erf(z * 0.70710678118654752440);
        *slope = s + z * 0.39894228040143267794 * exp(-0.5 * z * z);
        return z * s;
    case SG_ACTIVATION_SOFTPLUS:
        *slope = logistic(z);
        return (z > 0 ? z : 0) + log1p(exp(-fabs(z)));
    case SG_ACTIVATION_TANH:
        break;
    }
    f = tanh(z);
    *slope = 1 - f * f;
    return f;
}

static void apply_layer(const sg_jet_network *n, const sg_jet_layer *layer, size_t count,
                        bool slopes, const double *a, double *z)
{
    for (int o = 0; o < layer->outputs; o++) {
        double *values = z + (size_t)o * UNIT, *derivatives = values + POINTS;
        double bias = element(n, n->values, layer->bias + (size_t)o);
        for (size_t i = 0; i < count; i++) {
            values[i] = bias;
            derivatives[i] = 0;
        }
        for (int j = 0; j < layer->inputs; j++) {
            const double *from = a + (size_t)j * UNIT;
            double w = element(n, n->values,
                               layer->weight + (size_t)o * (size_t)layer->inputs + (size_t)j);
            for (size_t i = 0; i < count; i++)
                values[i] += w * from[i];
            for (size_t i = 0; i < count && slopes; i++)
                derivatives[i] += w * from[POINTS + i];
        }
    }
}

void sgi_earlier_evaluate(const sg_jet_network *n, void *const *coordinates, size_t count,
                          int along, bool slopes, double *memory, double *results)
{
    double *a = memory, *z = memory + widest(n) * UNIT;
    make_features(n, coordinates, count, along, a);
    for (int l = 0; l < n->layer_count; l++) {
        bool last = l == n->layer_count - 1;
        apply_layer(n, &n->layers[l], count, slopes, a, last ? results : z);
        for (int o = 0; o < n->layers[l].outputs && !last; o++)
            for (size_t i = 0; i < count; i++) {
                size_t at = (size_t)o * UNIT + i;
                double slope;
                a[at] = activate(n, z[at], &slope);
                a[at + POINTS] = slope * z[at + POINTS];
            }
    }
}
