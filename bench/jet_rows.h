/* The rows of the jet benchmark: six problems as the engine sees them, with cheap points and
 * hand-written residuals, so that the engine itself is measured. */
#ifndef SG_BENCH_JET_ROWS_H
#define SG_BENCH_JET_ROWS_H

#include "stablegrad/jet.h"

typedef enum bench_problem {
    BENCH_BURGERS,
    BENCH_POISSON,
    BENCH_HELMHOLTZ,
    BENCH_BURGERS3D,
    BENCH_HEAT,
    BENCH_ALLEN_CAHN
} bench_problem;

typedef struct bench_row {
    const char *name;
    bench_problem problem;
    int depth, width;
    size_t interior, rest; /* points of the equation, points of the conditions */
} bench_row;

enum { BENCH_ROWS = 10, BENCH_MOST_SETS = 3 };
extern const bench_row bench_rows[BENCH_ROWS];

/* What one row needs; fill with bench_open, release with bench_close. */
typedef struct bench_case {
    const bench_row *row;
    sg_jet_network *network;
    sg_jet_plan *interior, *value;
    sg_jet_set sets[BENCH_MOST_SETS];
    double factors[BENCH_MOST_SETS]; /* 2 / N: of the loss, the sum of the sets' mean squares */
    size_t set_count;
    size_t points; /* of all sets, a pair as one */
    double flops;  /* of one step's products */
} bench_case;

/* The sets point to the case: it must stay where it is. */
sg_status bench_open(bench_case *c, const bench_row *row, int divide);
void bench_close(bench_case *c);

/* After sg_jet_gradient or sg_jet_forward. */
double bench_loss(const bench_case *c, const sg_jet *jet);

#endif
