/* The jet engine with equations written in C: -lap u = f on the unit square, u = 0 on its boundary.
 *
 * The engine calls `points` for coordinates and computes u or lap u there. It then calls
 * `residual`, which adds up the loss and writes the derivative of the loss by each of these values.
 * The passes through the network, forward and back, are the engine's work. To build it:
 *
 *     cc jet_poisson.c $(pkg-config --cflags --libs stablegrad-pinn) -lm */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <stablegrad/jet.h>
#include <stablegrad/optim.h>

enum { INSIDE = 512, EDGE = 128, STEPS = 2000 };

static const double pi = 3.14159265358979323846;
static uint64_t step; /* of the training; every step has fresh points */

static void check(sg_status status)
{
    if (status != SG_OK) {
        fprintf(stderr, "stablegrad: %s\n", sg_status_text(status));
        exit(1);
    }
}

/* A number in [0, 1) that depends on nothing but `key`: any thread may ask for it. */
static float uniform(uint64_t key)
{
    key = (key + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    key = (key ^ key >> 27) * 0x94D049BB133111EBu;
    return (float)((key ^ key >> 31) >> 40) * 0x1p-24f;
}

/* Set 0 is the square, set 1 its boundary. coordinates[c][i] is coordinate c of item first + i. */
static void points(void *context, size_t set, size_t first, size_t count, int worker,
                   void *const *coordinates)
{
    (void)context;
    (void)worker;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = ((step * 2 + set) << 24) + 2 * (first + i);
        float place[2] = {uniform(key), uniform(key + 1)};
        if (set == 1) /* press it to one of the four sides */
            place[(first + i) % 2] = (float)((first + i) / 2 % 2);
        for (int c = 0; c < 2; c++)
            ((float *)coordinates[c])[i] = place[c];
    }
}

/* L = mean (lap u + f)^2 + 100 mean u^2 of the boundary, and dL/d(value) where it is asked for. */
static void residual(void *context, const sg_jet_tile *tile)
{
    (void)context;
    const float *x = tile->coordinates[0], *y = tile->coordinates[1], *value = tile->values[0];
    double weight = tile->set == 0 ? 1.0 / INSIDE : 100.0 / EDGE;
    for (size_t i = 0; i < tile->count; i++) {
        double r = (double)value[i]; /* the set's only request: lap u, or u */
        if (tile->set == 0)
            r += 2 * pi * pi * sin(pi * (double)x[i]) * sin(pi * (double)y[i]);
        tile->sums[0] += weight * r * r;
        if (tile->adjoints)
            ((float *)tile->adjoints[0])[i] = (float)(2 * weight * r);
    }
}

static double error(sg_jet_network *network, const sg_jet_plan *value)
{
    enum { N = 41 };
    static double grid[N * N][2], u[N * N];
    double off = 0, size = 0;
    for (int i = 0; i < N * N; i++) {
        int row = i / N, column = i % N;
        grid[i][0] = (double)row / (N - 1);
        grid[i][1] = (double)column / (N - 1);
    }
    check(sg_jet_evaluate(network, value, NULL, &grid[0][0], NULL, (size_t)N * N, u, NULL));
    for (int i = 0; i < N * N; i++) {
        double exact = sin(pi * grid[i][0]) * sin(pi * grid[i][1]);
        off += (u[i] - exact) * (u[i] - exact);
        size += exact * exact;
    }
    return sqrt(off / size);
}

int main(void)
{
    sg_jet_network_config shape = sg_jet_network_defaults();
    shape.input.coordinates = 2;
    shape.hidden = (const int[]){24, 24};
    shape.hidden_count = 2;
    sg_jet_network *network;
    sg_jet_init init = sg_jet_init_defaults();
    check(sg_jet_network_create(&network, &shape, NULL));
    check(sg_jet_network_initialize(network, &init));

    const sg_jet_term seconds[] = {{1, 2, {0, 0}, 0}, {1, 2, {1, 1}, 0}};
    const sg_jet_request laplacian = {.terms = seconds, .term_count = 2}, itself = {.order = 0};
    sg_jet_plan *inside, *edge;
    check(sg_jet_plan_create(&inside, 2, &laplacian, 1, NULL));
    check(sg_jet_plan_create(&edge, 2, &itself, 1, NULL));
    const sg_jet_set sets[] = {
        {inside, INSIDE, .points_per_item = 1, .sums = 1, .points = points, .residual = residual},
        {edge, EDGE, .points_per_item = 1, .sums = 1, .points = points, .residual = residual}};
    sg_jet_config config = sg_jet_defaults();
    config.network = network;
    config.sets = sets;
    config.set_count = 2;
    sg_jet *engine;
    check(sg_jet_create(&engine, &config, NULL));

    sg_params *params;
    sg_scaler *scaler;
    sg_optim *optim;
    const sg_schedule_term cosine = sg_schedule_cosine(0, STEPS, 0);
    sg_optim_config adamw = sg_optim_defaults(SG_OPTIM_ADAMW);
    adamw.rate = 5e-3;
    adamw.decay = 0;
    adamw.schedule = &cosine;
    adamw.schedule_count = 1;
    check(sg_params_create(&params, NULL));
    check(sg_jet_network_register(network, params));
    check(sg_scaler_create(&scaler, params, NULL, NULL, NULL));
    check(sg_optim_create(&optim, params, &adamw, NULL, NULL));
    for (step = 0; step < STEPS; step++) {
        sg_jet_gradient(engine, NULL);
        sg_moments signal = sg_jet_moments(engine); /* of dL/du */
        check(sg_scaler_observe_moments(scaler, &signal));
        check(sg_scaler_measure(scaler, step));
        check(sg_optim_step(optim, scaler, NULL));
        if ((step + 1) % 250 == 0)
            printf("step %4d  loss %.2e\n", (int)step + 1,
                   sg_jet_sums(engine, 0)[0] + sg_jet_sums(engine, 1)[0]);
    }
    double off = error(network, edge);
    printf("relative L2 error %.2e\n", off);
    sg_optim_destroy(optim);
    sg_scaler_destroy(scaler);
    sg_params_destroy(params);
    sg_jet_destroy(engine);
    sg_jet_plan_destroy(edge);
    sg_jet_plan_destroy(inside);
    sg_jet_network_destroy(network);
    return off < 0.1 ? 0 : 1;
}
