/* A problem with its network, its residuals and the engine under them, as the tests of residuals
 * open it. */
#ifndef SG_TESTS_RESIDUALS_H
#define SG_TESTS_RESIDUALS_H

#include "pinn/residual.h"
#include "support/problem.h"

typedef struct setup {
    sgi_problem *problem;
    sg_jet_network *network;
    sgi_residual *residual;
    sg_pool *pool;
    sg_jet *engine;
} setup;

/* `precision` is a setting: "network.precision=double". Points are those of step 77 of seed 5. */
void open_setup(setup *s, const char *text, const char *precision, int threads, sg_isa isa);
void close_setup(setup *s);

#endif
