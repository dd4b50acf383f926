/* How often do the stated intervals contain the truth? The same small inverse problem with new
 * noise again and again:
 *
 *     interval_coverage [REPETITIONS] [estimated]
 *
 * An oscillator u_tt + c u_t + k u = 0 with c = 0.4 and k = 4 was measured at 40 times with noise
 * of deviation 0.03, its start is unknown, and both constants are to be found. Prints how many of
 * the intervals of 95 % contain the truth, and the mean of the standard deviations beside the
 * deviation of the values over the repetitions. With `estimated` the deviation of the noise is not
 * told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stablegrad/pinn.h"

enum { SAMPLES = 40 };

static const double TRUTH[] = {0.4, 4};
static const double NOISE = 0.03;

static double sample_time(int i)
{
    return 6.0 * (i + 0.5) / SAMPLES;
}

static void write_problem(char *text, size_t size, uint64_t seed, bool estimated)
{
    size_t used = (size_t)snprintf(
        text, size,
        "coordinates: {t: [0, 6]}\nfields: [u]\n"
        "unknowns: {c: {start: 1, bounds: [0, 10]}, k: {start: 3, bounds: [0.1, 100]}}\n"
        "equations: {motion: u_tt + c*u_t + k*u = 0}\npoints: 256\nnetwork: {hidden: 1 x 16}\n"
        "training: {optimizer: levenberg, steps: 120, seed: %llu, points: {start: 256, every: 0}}\n"
        "data:\n  positions:\n    %s\n    values: {t: [",
        (unsigned long long)seed, estimated ? "weight: 1" : "std: 0.03");
    for (int i = 0; i < SAMPLES && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ", %.9g" : "%.9g", sample_time(i));
    for (int i = 0; i < SAMPLES && used < size; i++) {
        double t = sample_time(i), u = exp(-0.2 * t) * cos(sqrt(3.96) * t);
        double noise = NOISE * sgi_random_normal(seed, 0x636f766572, (uint64_t)i);
        used += (size_t)snprintf(text + used, size - used, i ? ", %.9g" : "], u: [%.9g", u + noise);
    }
    if (used < size)
        snprintf(text + used, size - used, "]}\n");
}

static bool repeat(uint64_t seed, bool estimated, sg_pinn_interval *rows)
{
    char text[8192];
    sg_diagnostic diagnostic = {0};
    sg_pinn *pinn;
    write_problem(text, sizeof text, seed, estimated);
    sg_status status =
        sg_pinn_read(&pinn, "coverage.yaml", text, strlen(text), NULL, 0, NULL, &diagnostic);
    if (status == SG_OK)
        status = sg_pinn_train(pinn, NULL, NULL, NULL);
    if (status == SG_OK)
        status = sg_pinn_intervals(pinn, rows, NULL, NULL, &diagnostic);
    sg_pinn_close(pinn);
    if (status != SG_OK)
        fprintf(stderr, "%s: %s\n", sg_status_text(status), diagnostic.message);
    return status == SG_OK;
}

int main(int argc, char **argv)
{
    long repetitions = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    bool estimated = argc > 2 && strcmp(argv[2], "estimated") == 0;
    double sums[2][3] = {{0}};
    long inside[2] = {0}, unfinished = 0;
    for (long i = 0; i < repetitions; i++) {
        sg_pinn_interval rows[2];
        if (!repeat((uint64_t)i + 1, estimated, rows))
            return 1;
        for (int k = 0; k < 2; k++) {
            double off = rows[k].value - TRUTH[k];
            inside[k] += rows[k].lower <= TRUTH[k] && TRUTH[k] <= rows[k].upper;
            unfinished += fabs(rows[k].move) > 0.5 * rows[k].std;
            sums[k][0] += off;
            sums[k][1] += off * off;
            sums[k][2] += rows[k].std;
        }
    }
    for (int k = 0; k < 2; k++) {
        double n = (double)repetitions, mean = sums[k][0] / n;
        printf("%s: the truth lies in %ld of %ld intervals; mean error %.2e, deviation %.3e, mean "
               "standard deviation %.3e\n",
               k ? "k" : "c", inside[k], repetitions, mean, sqrt(sums[k][1] / n - mean * mean),
               sums[k][2] / n);
    }
    printf("%ld values would still have moved by more than half a standard deviation\n",
           unfinished);
    return 0;
}
