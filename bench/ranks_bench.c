/* Steps on several ranks: measured with 1, 2 and 4 of them on this machine, beside what a model of
 * a step says, and what the model says of clusters.
 *
 *     ranks_bench [--quick]
 *
 * The program starts itself under mpirun. Each rank has one thread. The model of a step on N ranks:
 *
 *     T(N) = a + (T(1) - a) / N + (calls - 1) s(N, 8 bytes) + s(N, gradient)
 *
 * a is what every rank does alike, such as moving the weights: it is what is left of a step when
 * the points are extrapolated to none. s(N, b) is the time of a sum of b bytes, on this machine
 * measured by itself, and for a cluster of latency L and bandwidth B
 *
 *     s(N, b) = 2 log2(N) L + 2 (N - 1) / N b / B
 *
 * With more ranks than processors, N is the number of processors in the second term. */
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ranks_module.h"
#include "stablegrad/pinn.h"
#include "stablegrad/ranks.h"
#include "timing.h"

enum { MOST_SAMPLES = 4000, CASES = 4, COUNTS = 3 };

static const int counts[COUNTS] = {1, 2, 4};

typedef struct bench_case {
    const char *name, *file;
    const char *sets[4];
    const char *fewer[4]; /* the same with few points */
    double share;         /* of the points that are left then */
} bench_case;

static const bench_case cases[CASES] = {
    {"heat, 3 x 32",
     "heat",
     {"training.steps=1000000"},
     {"points=256", "conditions.initial.points=32", "conditions.ends.points=32"},
     0.125},
    {"burgers3d, 4 x 96",
     "burgers3d",
     {"training.steps=1000000"},
     {"points=256", "conditions.initial.points=64", "conditions.periodic.points=64"},
     0.125},
    {"poisson, 6 x 64",
     "poisson",
     {"training.steps=1000000"},
     {"points=2048", "conditions.boundary.points=512"},
     0.125},
    {"poisson, 4 x 20, levenberg",
     "poisson",
     {"training.optimizer=levenberg", "network.hidden=4x20", "training.points.start=6000"},
     {"training.points.start=3000"},
     0.5},
};

/* What is known of a case on a number of ranks, in seconds, bytes and calls. */
typedef struct measured {
    double step, fewer, calls, bytes, waited, latency, gradient, neighbours, crowded;
} measured;

/* ---- As a rank --------------------------------------------------------------------------------
 */

typedef struct counter {
    ranks_module module;
    double calls, bytes, seconds;
} counter;

static int counted_sum(void *context, void *values, sg_type type, size_t count)
{
    counter *c = context;
    double began = sgi_seconds();
    int failed = c->module.sum(&c->module, values, type, count);
    c->seconds += sgi_seconds() - began;
    c->calls++;
    c->bytes += (double)count * (type == SG_FLOAT32 ? 4 : 8);
    return failed;
}

static void give_up(const char *why)
{
    fprintf(stderr, "ranks_bench: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The median time of a step; every rank takes as many. */
static double time_steps(sg_pinn_trainer *trainer, counter *c, const sg_ranks *ranks, double budget,
                         double *per_step)
{
    static double samples[MOST_SAMPLES];
    size_t count = 0;
    sg_pinn_step step;
    double spent = 0, more = 1;
    for (int i = 0; i < 2; i++)
        if (sg_pinn_trainer_step(trainer, &step) != SG_OK)
            give_up("a step failed");
    double calls = c->calls, bytes = c->bytes, seconds = c->seconds;
    while (more > 0) {
        double began = sgi_seconds();
        if (sg_pinn_trainer_step(trainer, &step) != SG_OK)
            give_up("a step failed");
        samples[count++] = sgi_seconds() - began;
        spent += samples[count - 1];
        double calls_now = c->calls, bytes_now = c->bytes, seconds_now = c->seconds;
        more = ranks->rank == 0 && (count < 5 || spent < budget) && count < MOST_SAMPLES;
        if (ranks->count > 1 && c->module.sum(&c->module, &more, SG_FLOAT64, 1) != 0)
            give_up("a sum failed");
        c->calls = calls_now;
        c->bytes = bytes_now;
        c->seconds = seconds_now;
    }
    per_step[0] = (c->calls - calls) / (double)count;
    per_step[1] = (c->bytes - bytes) / (double)count;
    per_step[2] = (c->seconds - seconds) / (double)count;
    return median(samples, count);
}

static double time_case(const bench_case *b, bool fewer, counter *c, const sg_ranks *ranks,
                        double budget, double *per_step, size_t *parameters, size_t *size)
{
    char path[1024];
    const char *sets[8];
    size_t count = 0;
    sg_diagnostic diagnostic;
    sg_pinn *pinn;
    sg_pool *pool;
    sg_pinn_trainer *trainer;
    for (size_t i = 0; i < 4 && b->sets[i]; i++)
        sets[count++] = b->sets[i];
    for (size_t i = 0; i < 4 && fewer && b->fewer[i]; i++)
        sets[count++] = b->fewer[i];
    snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_BENCH_DIR, b->file);
    if (sg_pinn_open(&pinn, path, sets, count, NULL, &diagnostic) != SG_OK)
        give_up(diagnostic.message);
    if (sg_pool_create(&pool, 1, NULL) != SG_OK || sg_pool_set_ranks(pool, ranks) != SG_OK ||
        sg_pinn_trainer_create(&trainer, pinn, pool, SG_ISA_AUTO, NULL) != SG_OK)
        give_up("out of memory");
    double seconds = time_steps(trainer, c, ranks, budget, per_step);
    *parameters = sg_jet_network_parameters(sg_pinn_network(pinn));
    *size = sg_jet_network_type(sg_pinn_network(pinn)) == SG_FLOAT32 ? 4 : 8;
    sg_pinn_trainer_destroy(trainer);
    sg_pool_destroy(pool);
    sg_pinn_close(pinn);
    return seconds;
}

/* The median time of a sum of so many bytes. */
static double time_sum(counter *c, size_t bytes)
{
    static double samples[200];
    float *values = calloc(bytes / 4 + 1, sizeof *values);
    if (!values)
        give_up("out of memory");
    for (size_t i = 0; i < 200; i++) {
        double began = sgi_seconds();
        if (c->module.count > 1 && c->module.sum(&c->module, values, SG_FLOAT32, bytes / 4) != 0)
            give_up("a sum failed");
        samples[i] = sgi_seconds() - began;
    }
    free(values);
    return c->module.count > 1 ? median(samples, 200) : 0;
}

static int be_rank(double budget)
{
    counter c = {.module.patience = 100};
    char reason[256] = "";
    if (!open_ranks_module(&c.module, reason, sizeof reason)) {
        fprintf(stderr, "ranks_bench: %s\n", reason);
        return 1;
    }
    sg_ranks ranks = {c.module.rank, c.module.count, counted_sum, &c};
    for (size_t k = 0; k < CASES; k++) {
        double per_step[3], unread[3];
        size_t parameters, size;
        double step = time_case(&cases[k], false, &c, &ranks, budget, per_step, &parameters, &size);
        double fewer = time_case(&cases[k], true, &c, &ranks, budget, unread, &parameters, &size);
        double latency = time_sum(&c, 8), gradient = time_sum(&c, parameters * size);
        if (ranks.rank == 0)
            printf("case %zu %.9g %.9g %.9g %.9g %.9g %.9g %.9g %d %d\n", k, step, fewer,
                   per_step[0], per_step[1], per_step[2], latency, gradient, c.module.neighbours,
                   c.module.crowded);
    }
    c.module.leave();
    return 0;
}

/* ---- The tables -------------------------------------------------------------------------------
 */

static bool measure(const char *self, int count, const char *quick, measured results[CASES])
{
    char command[2048], line[512];
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
             "--bind-to none -n %d '%s' --rank %s",
             count, self, quick);
    FILE *from = popen(command, "r");
    size_t found = 0;
    while (from && fgets(line, sizeof line, from)) {
        measured m;
        size_t k;
        if (sscanf(line, "case %zu %lg %lg %lg %lg %lg %lg %lg %lg %lg", &k, &m.step, &m.fewer,
                   &m.calls, &m.bytes, &m.waited, &m.latency, &m.gradient, &m.neighbours,
                   &m.crowded) == 10 &&
            k < CASES) {
            results[k] = m;
            found++;
        }
    }
    return from && pclose(from) == 0 && found == CASES;
}

/* What every rank does alike: T = a + b * points, from all and from few of them. */
static double serial_part(const bench_case *b, const measured *one)
{
    double a = (one->fewer - b->share * one->step) / (1 - b->share);
    return a > 0 ? a : 0;
}

static double model(const bench_case *b, const measured *one, const measured *here, int count,
                    int processors)
{
    double a = serial_part(b, one);
    int side_by_side = count < processors ? count : processors;
    return a + (one->step - a) / side_by_side + (here->calls - 1) * here->latency + here->gradient;
}

static void print_here(measured results[COUNTS][CASES], int processors)
{
    printf("%-28s %5s %10s %10s %7s %7s %9s %9s %7s %10s\n", "steps on this machine", "ranks",
           "ms a step", "model, ms", "ratio", "speed", "in sums", "sums", "KB", "alike, ms");
    for (size_t k = 0; k < CASES; k++)
        for (size_t n = 0; n < COUNTS; n++) {
            const measured *m = &results[n][k], *one = &results[0][k];
            double said = n == 0 ? m->step : model(&cases[k], one, m, counts[n], processors);
            printf("%-28s %5d %10.3f %10.3f %7.2f %7.2f %8.1f%% %9.1f %7.0f %10.3f%s\n",
                   n == 0 ? cases[k].name : "", counts[n], 1e3 * m->step, 1e3 * said,
                   m->step / said, one->step / m->step, 100 * m->waited / m->step, m->calls,
                   m->bytes / 1e3, 1e3 * serial_part(&cases[k], one),
                   counts[n] > processors ? "  more ranks than processors" : "");
        }
}

/* 2 log2(N) messages of latency L, and every byte twice. */
static double cluster_sum(int count, double bytes, double latency, double bandwidth)
{
    return 2 * log2(count) * latency + 2.0 * (count - 1) / count * bytes / bandwidth;
}

static void print_clusters(measured results[COUNTS][CASES])
{
    static const struct {
        const char *name;
        double latency, bandwidth;
    } nets[] = {{"10 Gbit/s, 20 us", 20e-6, 1.2e9}, {"100 Gbit/s, 2 us", 2e-6, 12e9}};
    printf("\nwhat the model says of nodes with one rank each, one thread: share of the ideal "
           "speed\n");
    printf("%-28s %-18s", "", "network");
    for (int n = 8; n <= 256; n *= 2)
        printf(" %6d", n);
    printf("\n");
    for (size_t k = 0; k < CASES; k++)
        for (size_t i = 0; i < 2; i++) {
            const measured *one = &results[0][k], *two = &results[1][k];
            double a = serial_part(&cases[k], one);
            printf("%-28s %-18s", i == 0 ? cases[k].name : "", nets[i].name);
            for (int n = 8; n <= 256; n *= 2) {
                double sums =
                    (two->calls - 1) * cluster_sum(n, 8, nets[i].latency, nets[i].bandwidth) +
                    cluster_sum(n, two->bytes, nets[i].latency, nets[i].bandwidth);
                double strong = one->step / (a + (one->step - a) / n + sums) / n;
                printf("  %4.0f%%", 100 * strong);
            }
            printf("\n");
        }
    printf("\nthe same with as many points on every node as above on one (weak scaling)\n");
    for (size_t k = 0; k < CASES; k++) {
        const measured *one = &results[0][k], *two = &results[1][k];
        printf("%-28s %-18s", cases[k].name, nets[0].name);
        for (int n = 8; n <= 256; n *= 2) {
            double sums = (two->calls - 1) * cluster_sum(n, 8, nets[0].latency, nets[0].bandwidth) +
                          cluster_sum(n, two->bytes, nets[0].latency, nets[0].bandwidth);
            printf("  %4.0f%%", 100 * one->step / (one->step + sums));
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    bool rank = argc > 1 && strcmp(argv[1], "--rank") == 0;
    const char *last = argc > 1 ? argv[argc - 1] : "";
    bool quick = strcmp(last, "--quick") == 0;
    measured results[COUNTS][CASES];
    cpu_set_t set;
    if (rank)
        return be_rank(quick ? 0.3 : 3);
    int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    for (size_t n = 0; n < COUNTS; n++)
        if (!measure(argv[0], counts[n], quick ? "--quick" : "", results[n])) {
            printf("ranks: mpirun does not run here\n");
            return 0;
        }
    print_here(results, processors);
    print_clusters(results);
    return 0;
}
