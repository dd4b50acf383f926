/* Helpers of the jet engine's tests: arrays of either type, and a set of stored items with a
 * polynomial residual that couples all requests, outputs and sides. */
#ifndef SG_TEST_JET_SUPPORT_H
#define SG_TEST_JET_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stablegrad/jet.h"
#include "support/support.h"

/* A request for a combination: an array of terms. */
#define SUM(list)                                                                                  \
    {                                                                                              \
        .terms = list, .term_count = sizeof list / sizeof *list                                    \
    }

enum { MOST_VALUES = 64, MOST_PARAMETERS = 60000 };

static inline double get(const void *array, sg_type type, size_t i)
{
    return type == SG_FLOAT32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static inline void put(void *array, sg_type type, size_t i, double value)
{
    if (type == SG_FLOAT32)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* Items in [-1, 1]^coordinates made from their index, with residual components
 * r_j = sum_k alpha_jk v_k + 0.3 v_0 v_last + shift_j over all values k of the item, and the loss
 * sum_items sum_j r_j^2 / 2. */
typedef struct test_set {
    sg_type type;
    int coordinates, sides, values, components; /* values: requests * outputs * sides */
    int numbers;                                /* varying ones of the plan */
    uint64_t seed;
} test_set;

static inline double test_coordinate(const test_set *set, size_t item, int side, int coordinate)
{
    uint64_t at = (item * 2 + (uint64_t)side) * 64 + (uint64_t)coordinate;
    return 2 * sgi_random_uniform(set->seed, 1, at) - 1;
}

static inline double test_alpha(const test_set *set, int component, int value)
{
    return sgi_random_normal(set->seed, 2, (uint64_t)(component * MOST_VALUES + value));
}

static inline void test_points(void *context, size_t set_index, size_t first, size_t count,
                               int worker, void *const *coordinates)
{
    (void)set_index;
    (void)worker;
    const test_set *set = context;
    for (int s = 0; s < set->sides; s++)
        for (int c = 0; c < set->coordinates; c++)
            for (size_t i = 0; i < count; i++)
                put(coordinates[s * set->coordinates + c], set->type, i,
                    test_coordinate(set, first + i, s, c));
}

/* Number k, from 1, at a point: between 1/2 and 3/2. */
static inline double test_varying_at(double x, int k)
{
    return 1 + 0.5 * sin(2 * x + k);
}

static inline void test_varying(void *context, size_t set_index, size_t first, size_t count,
                                int worker, void *const *coordinates, void *const *varying)
{
    (void)set_index;
    (void)first;
    (void)worker;
    const test_set *set = context;
    for (int s = 0; s < set->sides; s++)
        for (int k = 0; k < set->numbers; k++)
            for (size_t i = 0; i < count; i++) {
                double x = get(coordinates[s * set->coordinates], set->type, i);
                put(varying[s * set->numbers + k], set->type, i, test_varying_at(x, k + 1));
            }
}

static inline double test_component(const test_set *set, const double *v, int j)
{
    double r = 0.3 * v[0] * v[set->values - 1] + 0.1 * (j + 1);
    for (int k = 0; k < set->values; k++)
        r += test_alpha(set, j, k) * v[k];
    return r;
}

static inline void test_residual(void *context, const sg_jet_tile *tile)
{
    const test_set *set = context;
    for (size_t i = 0; i < tile->count; i++) {
        double v[MOST_VALUES];
        for (int k = 0; k < set->values; k++)
            v[k] = get(tile->values[k], set->type, i);
        for (int j = 0; j < set->components; j++) {
            double r = test_component(set, v, j);
            bool loss = tile->component < 0;
            if (loss && tile->sums)
                tile->sums[0] += r * r / 2;
            if (!tile->adjoints || (!loss && tile->component != j))
                continue;
            if (tile->residuals)
                put(tile->residuals, set->type, i, r);
            double factor = loss ? r : 1;
            for (int k = 0; k < set->values; k++) {
                double slope = test_alpha(set, j, k);
                slope += k == 0 ? 0.3 * v[set->values - 1] : 0;
                slope += k == set->values - 1 ? 0.3 * v[0] : 0;
                put(tile->adjoints[k], set->type, i,
                    get(tile->adjoints[k], set->type, i) + factor * slope);
            }
        }
    }
}

/* A set for the engine; `context` must be filled by this call and outlive the engine. */
static inline sg_jet_set make_set(test_set *context, const sg_jet_network *network,
                                  const sg_jet_plan *plan, size_t items, int sides, uint64_t seed)
{
    *context = (test_set){.type = sg_jet_network_type(network),
                          .coordinates = sg_jet_network_coordinates(network),
                          .sides = sides,
                          .values = sides * (int)sg_jet_plan_requests(plan) *
                                    sg_jet_network_outputs(network),
                          .components = 2,
                          .numbers = (int)sg_jet_plan_varying(plan),
                          .seed = seed};
    assert_true(context->values <= MOST_VALUES);
    return (sg_jet_set){.plan = plan,
                        .items = items,
                        .points_per_item = sides,
                        .sums = 1,
                        .components = 2,
                        .points = test_points,
                        .varying = test_varying,
                        .residual = test_residual,
                        .context = context};
}

static inline sg_jet *make_engine(sg_jet_network *network, const sg_jet_set *sets, size_t count,
                                  sg_pool *pool)
{
    sg_jet_config config = sg_jet_defaults();
    config.network = network;
    config.sets = sets;
    config.set_count = count;
    config.pool = pool;
    config.tangents = true;
    sg_jet *jet = NULL;
    assert_ok(sg_jet_create(&jet, &config, NULL));
    return jet;
}

/* Weights of gain 1 and biases that are not zero. */
static inline void randomize(sg_jet_network *network, uint64_t seed)
{
    sg_jet_init init = sg_jet_init_defaults();
    init.seed = seed;
    assert_ok(sg_jet_network_initialize(network, &init));
    for (int l = 0; l < sg_jet_network_layers(network); l++) {
        sg_jet_layer layer = sg_jet_network_layer(network, l);
        for (int o = 0; o < layer.outputs; o++)
            put(sg_jet_network_values(network), sg_jet_network_type(network),
                layer.bias + (size_t)o,
                0.3 * sgi_random_normal(seed, 77, (uint64_t)(l * 1000 + o)));
    }
}

static inline sg_jet_plan *make_plan(int coordinates, const sg_jet_request *requests, size_t count)
{
    sg_jet_plan *plan = NULL;
    assert_ok(sg_jet_plan_create(&plan, coordinates, requests, count, NULL));
    return plan;
}

#endif
