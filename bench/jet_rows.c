/* See jet_rows.h. */
#include "jet_rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const bench_row bench_rows[BENCH_ROWS] = {
    {"burgers 6 x 64", BENCH_BURGERS, 6, 64, 100000, 4096},
    {"burgers 12 x 64", BENCH_BURGERS, 12, 64, 100000, 4096},
    {"poisson 6 x 64", BENCH_POISSON, 6, 64, 16384, 4096},
    {"poisson 12 x 64", BENCH_POISSON, 12, 64, 16384, 4096},
    {"helmholtz 6 x 64", BENCH_HELMHOLTZ, 6, 64, 32768, 8192},
    {"helmholtz 12 x 64", BENCH_HELMHOLTZ, 12, 64, 32768, 8192},
    {"burgers3d 4 x 96", BENCH_BURGERS3D, 4, 96, 2048, 1024},
    {"heat 3 x 32", BENCH_HEAT, 3, 32, 2048, 512},
    {"allen-cahn 4 x 128", BENCH_ALLEN_CAHN, 4, 128, 1000, 200},
    {"burgers 4 x 64", BENCH_BURGERS, 4, 64, 1000, 200},
};

static const double PI = 3.14159265358979323846;

/* A number in [0, 1) from an index: a multiplication and two shifts, far below what a point costs.
 */
static float scrambled(uint64_t index)
{
    uint64_t x = (index + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 31) * 0xBF58476D1CE4E5B9u;
    return (float)(x >> 40) * 0x1p-24f;
}

/* How many coordinates there are is all that sets differ in here. */
static const int COORDINATES[] = {2, 2, 3, 4, 2, 2};

static void points(void *context, size_t set, size_t first, size_t count, int worker,
                   void *const *coordinates)
{
    (void)worker;
    const bench_case *c = context;
    int arrays = COORDINATES[c->row->problem] * c->sets[set].points_per_item;
    for (int a = 0; a < arrays; a++)
        for (size_t i = 0; i < count; i++)
            ((float *)coordinates[a])[i] = scrambled((first + i) * 16 + set * 8 + (size_t)a);
}

/* 2 / N: the loss of a set is the mean of its squared residuals. */
static float factor_of(const void *context, const sg_jet_tile *tile)
{
    return (float)((const bench_case *)context)->factors[tile->set];
}

/* Requests u, u_x, u_t - nu u_xx. */
static void burgers(void *context, const sg_jet_tile *tile)
{
    const float *const *v = (const float *const *)tile->values;
    float *const *d = (float *const *)tile->adjoints, factor = factor_of(context, tile);
    double sum = 0;
    for (size_t i = 0; i < tile->count; i++) {
        float r = v[2][i] + v[0][i] * v[1][i], g = factor * r;
        d[0][i] = g * v[1][i];
        d[1][i] = g * v[0][i];
        d[2][i] = g;
        sum += (double)(r * r);
    }
    tile->sums[0] += sum;
}

/* Request u_t - 0.1 u_xx. */
static void heat(void *context, const sg_jet_tile *tile)
{
    float factor = factor_of(context, tile);
    double sum = 0;
    for (size_t i = 0; i < tile->count; i++) {
        float r = ((const float *)tile->values[0])[i];
        ((float *)tile->adjoints[0])[i] = factor * r;
        sum += (double)(r * r);
    }
    tile->sums[0] += sum;
}

/* Requests u, u_t - 1e-4 u_xx. */
static void allen_cahn(void *context, const sg_jet_tile *tile)
{
    const float *u = tile->values[0], *linear = tile->values[1];
    float factor = factor_of(context, tile);
    double sum = 0;
    for (size_t i = 0; i < tile->count; i++) {
        float r = linear[i] + 5 * u[i] * u[i] * u[i] - 5 * u[i], g = factor * r;
        ((float *)tile->adjoints[0])[i] = g * (15 * u[i] * u[i] - 5);
        ((float *)tile->adjoints[1])[i] = g;
        sum += (double)(r * r);
    }
    tile->sums[0] += sum;
}

/* lap u + k^2 u against a constant: Poisson with k = 0 without asking for u. */
static void poisson(void *context, const sg_jet_tile *tile)
{
    float factor = factor_of(context, tile);
    const float *lap = tile->values[0];
    double sum = 0;
    for (size_t i = 0; i < tile->count; i++) {
        float r = -lap[i] - 1;
        ((float *)tile->adjoints[0])[i] = -factor * r;
        sum += (double)(r * r);
    }
    tile->sums[0] += sum;
}

static void helmholtz(void *context, const sg_jet_tile *tile)
{
    float factor = factor_of(context, tile);
    const float *u = tile->values[0], *lap = tile->values[1];
    double sum = 0;
    for (size_t i = 0; i < tile->count; i++) {
        float r = lap[i] * 1e-3f + u[i] - 1, g = factor * r;
        ((float *)tile->adjoints[0])[i] = g;
        ((float *)tile->adjoints[1])[i] = g * 1e-3f;
        sum += (double)(r * r);
    }
    tile->sums[0] += sum;
}

/* Requests u, u_x, u_y, u_z, u_t - nu lap u of three fields: r_k = u_k,t + u . grad u_k - nu lap
 * u_k. */
static void burgers3d(void *context, const sg_jet_tile *tile)
{
    const float *const *v = (const float *const *)tile->values;
    float *const *d = (float *const *)tile->adjoints, factor = factor_of(context, tile);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < tile->count; i++) {
            float r = v[12 + k][i];
            for (int j = 0; j < 3; j++)
                r += v[j][i] * v[3 + 3 * j + k][i];
            float g = factor * r;
            d[12 + k][i] = g;
            for (int j = 0; j < 3; j++) {
                d[3 + 3 * j + k][i] = g * v[j][i];
                d[j][i] += g * v[3 + 3 * j + k][i];
            }
            sum += (double)(r * r);
        }
    tile->sums[0] += sum;
}

/* Conditions on values: u against a constant, or the two points of a pair against each other. */
static void value_condition(void *context, const sg_jet_tile *tile)
{
    const bench_case *c = context;
    int outputs = sg_jet_network_outputs(c->network);
    bool pair = c->sets[tile->set].points_per_item == 2;
    float factor = factor_of(context, tile);
    double sum = 0;
    for (int o = 0; o < outputs; o++)
        for (size_t i = 0; i < tile->count; i++) {
            float other = pair ? ((const float *)tile->values[o + outputs])[i] : 1;
            float r = ((const float *)tile->values[o])[i] - other;
            ((float *)tile->adjoints[o])[i] = factor * r;
            if (pair)
                ((float *)tile->adjoints[o + outputs])[i] = -factor * r;
            sum += (double)(r * r);
        }
    tile->sums[0] += sum;
}

/* ---- Networks and plans --------------------------------------------------------------------- */

static sg_status open_network(bench_case *c, const bench_row *row)
{
    int hidden[16];
    double waves[36 * 3], scale[4] = {2, 1, 1, 1}, shift[4] = {-1, 0, 0, 0};
    double frequencies[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    bool keep[4] = {true, false, false, false};
    sg_jet_network_config config = sg_jet_network_defaults();
    int coordinates = config.input.coordinates = COORDINATES[row->problem];
    for (int l = 0; l < row->depth; l++)
        hidden[l] = row->width;
    config.hidden = hidden;
    config.hidden_count = row->depth;
    if (row->problem == BENCH_HELMHOLTZ) {
        config.activation = SG_ACTIVATION_SILU;
        for (int i = 0; i < 3; i++)
            sg_jet_waves_fourier(waves + 36 * i, coordinates, i, PI, frequencies, 12);
        config.input.wave_count = 36;
    }
    if (row->problem == BENCH_BURGERS3D) {
        config.outputs = 3;
        config.input.scale = scale;
        config.input.shift = shift;
        config.input.keep = keep;
        for (int i = 0; i < 3; i++)
            sg_jet_waves_periodic(waves + 16 * i, coordinates, i + 1, 2, 4);
        config.input.wave_count = 12;
    }
    config.input.waves = waves;
    sg_status status = sg_jet_network_create(&c->network, &config, NULL);
    sg_jet_init init = sg_jet_init_defaults();
    return status == SG_OK ? sg_jet_network_initialize(c->network, &init) : status;
}

static sg_status open_plans(bench_case *c, bench_problem problem)
{
    /* Burgers and heat: coordinates x, t; Burgers in 3-D: t, x, y, z. */
    static const sg_jet_term burgers_sum[] = {{1, 1, {1}, 0}, {-1e-4, 2, {0, 0}, 0}};
    static const sg_jet_term heat_sum[] = {{1, 1, {1}, 0}, {-0.1, 2, {0, 0}, 0}};
    static const sg_jet_term ones[] = {{1, 2, {0, 0}, 0}, {1, 2, {1, 1}, 0}, {1, 2, {2, 2}, 0}};
    static const sg_jet_term flow_sum[] = {
        {1, 1, {0}, 0}, {-0.05, 2, {1, 1}, 0}, {-0.05, 2, {2, 2}, 0}, {-0.05, 2, {3, 3}, 0}};
    sg_jet_request value = {.order = 0};
    sg_jet_request burgers_requests[] = {
        value, {.order = 1, .along = {0}}, {.terms = burgers_sum, .term_count = 2}};
    sg_jet_request heat_requests[] = {{.terms = heat_sum, .term_count = 2}};
    sg_jet_request allen_cahn_requests[] = {value, burgers_requests[2]};
    sg_jet_request lap[] = {{.terms = ones, .term_count = 2}};
    sg_jet_request value_lap[] = {value, {.terms = ones, .term_count = 3}};
    sg_jet_request flow[] = {value,
                             {.order = 1, .along = {1}},
                             {.order = 1, .along = {2}},
                             {.order = 1, .along = {3}},
                             {.terms = flow_sum, .term_count = 4}};
    const sg_jet_request *requests[] = {burgers_requests,   lap, value_lap, flow, heat_requests,
                                        allen_cahn_requests};
    const size_t counts[] = {3, 1, 2, 5, 1, 2};
    int coordinates = COORDINATES[problem];
    sg_status status =
        sg_jet_plan_create(&c->interior, coordinates, requests[problem], counts[problem], NULL);
    return status == SG_OK ? sg_jet_plan_create(&c->value, coordinates, &value, 1, NULL) : status;
}

static void add_set(bench_case *c, const sg_jet_plan *plan, size_t items, int sides,
                    sg_jet_residual_function *residual)
{
    c->factors[c->set_count] = 2.0 / ((double)items * sg_jet_network_outputs(c->network));
    c->sets[c->set_count++] = (sg_jet_set){.plan = plan,
                                           .items = items,
                                           .points_per_item = sides,
                                           .sums = 1,
                                           .points = points,
                                           .residual = residual,
                                           .context = c};
    c->points += items;
    c->flops += (double)items * sides * sg_jet_plan_flops(plan, c->network, true);
}

sg_status bench_open(bench_case *c, const bench_row *row, int divide)
{
    static sg_jet_residual_function *const residuals[] = {burgers,   poisson, helmholtz,
                                                          burgers3d, heat,    allen_cahn};
    memset(c, 0, sizeof *c);
    c->row = row;
    sg_status status = open_network(c, row);
    if (status == SG_OK)
        status = open_plans(c, row->problem);
    if (status != SG_OK)
        return status;
    size_t rest = row->rest / (size_t)divide;
    add_set(c, c->interior, row->interior / (size_t)divide, 1, residuals[row->problem]);
    if (row->problem == BENCH_BURGERS3D) {
        add_set(c, c->value, rest / 2, 1, value_condition);
        add_set(c, c->value, rest / 2, 2, value_condition);
    } else {
        add_set(c, c->value, rest, 1, value_condition);
    }
    return SG_OK;
}

double bench_loss(const bench_case *c, const sg_jet *jet)
{
    double loss = 0;
    for (size_t s = 0; s < c->set_count; s++)
        loss += sg_jet_sums(jet, s)[0] * c->factors[s] / 2;
    return loss;
}

void bench_close(bench_case *c)
{
    sg_jet_plan_destroy(c->interior);
    sg_jet_plan_destroy(c->value);
    sg_jet_network_destroy(c->network);
}
