/* The jet engine's step against the machine's peak and against PyTorch: one table.
 *
 *     jet_bench [--quick] [--no-peer] [ROW ...]
 *
 * Each row is loss and gradient of one step at 2 threads, in a process of its own, so that its peak
 * memory is its own. The peer runs bench/jet_torch.py: nested automatic differentiation as it is
 * commonly written, and hand-written Taylor channels with one backward pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fma_peak.h"
#include "jet_rows.h"

enum { THREADS = 2, QUICK_DIVIDE = 8, MOST_REPEATS = 50 };

typedef struct measurement {
    double seconds, flops, points, megabytes;
} measurement;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double resident_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median time of a step, over `budget` seconds. */
static double time_steps(sg_jet *jet, double budget)
{
    double times[MOST_REPEATS];
    int count = 0;
    sg_jet_gradient(jet, NULL);
    for (double start = seconds();
         count < 3 || (count < MOST_REPEATS && seconds() - start < budget); count++) {
        double before = seconds();
        sg_jet_gradient(jet, NULL);
        times[count] = seconds() - before;
    }
    qsort(times, (size_t)count, sizeof *times, compare_double);
    return times[count / 2];
}

static sg_status measure(const bench_row *row, bool quick, measurement *m)
{
    bench_case c;
    sg_pool *pool = NULL;
    sg_jet *jet = NULL;
    sg_status status = bench_open(&c, row, quick ? QUICK_DIVIDE : 1);
    if (status == SG_OK)
        status = sg_pool_create(&pool, THREADS, NULL);
    if (status == SG_OK) {
        sg_jet_config config = sg_jet_defaults();
        config.network = c.network;
        config.sets = c.sets;
        config.set_count = c.set_count;
        config.pool = pool;
        status = sg_jet_create(&jet, &config, NULL);
    }
    if (status == SG_OK) {
        m->seconds = time_steps(jet, quick ? 0.3 : 2.0);
        m->flops = c.flops;
        m->points = (double)c.points;
        m->megabytes = resident_megabytes();
    }
    sg_jet_destroy(jet);
    sg_pool_destroy(pool);
    bench_close(&c);
    return status;
}

/* Runs `measure` in a child and reads its answer. */
static bool measure_apart(const bench_row *row, bool quick, measurement *m)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        measurement mine;
        bool good = measure(row, quick, &mine) == SG_OK &&
                    write(ends[1], &mine, sizeof mine) == (ssize_t)sizeof mine;
        _exit(good ? 0 : 1);
    }
    close(ends[1]);
    bool good = child > 0 && read(ends[0], m, sizeof *m) == (ssize_t)sizeof *m;
    close(ends[0]);
    int status = 0;
    if (child > 0)
        waitpid(child, &status, 0);
    return good && status == 0;
}

/* The peer's seconds per step and peak memory: kind is "nested" or "taylor". */
static bool measure_peer(const bench_row *row, bool quick, const char *kind, measurement *m)
{
    if (strlen(SG_BENCH_PYTHON) == 0)
        return false;
    char command[1024];
    snprintf(command, sizeof command, "'%s' '%s' %s %d %d %zu %zu %s %d", SG_BENCH_PYTHON,
             SG_BENCH_SCRIPT, kind, row->depth, row->width,
             row->interior / (quick ? QUICK_DIVIDE : 1), row->rest / (quick ? QUICK_DIVIDE : 1),
             row->problem == BENCH_BURGERS     ? "burgers"
             : row->problem == BENCH_POISSON   ? "poisson"
             : row->problem == BENCH_HELMHOLTZ ? "helmholtz"
                                               : "burgers3d",
             THREADS);
    FILE *pipe_end = popen(command, "r");
    if (!pipe_end)
        return false;
    bool good = fscanf(pipe_end, "%lf %lf", &m->seconds, &m->megabytes) == 2;
    return pclose(pipe_end) == 0 && good;
}

static void print_peer(const measurement *ours, bool found, const measurement *peer)
{
    if (found)
        printf(" %7.1fx %6.0f ms %5.0f MB", peer->seconds / ours->seconds, 1e3 * peer->seconds,
               peer->megabytes);
    else
        printf(" %26s", "no peer");
}

static void print_row(const bench_row *row, bool quick, bool peers, double peak)
{
    measurement ours, nested, taylor;
    if (!measure_apart(row, quick, &ours)) {
        printf("%-18s failed\n", row->name);
        return;
    }
    double rate = ours.flops / ours.seconds;
    printf("%-18s %8.2f %8.3f %7.1f %5.1f%% %5.0f", row->name, 1e3 * ours.seconds,
           1e6 * ours.seconds / ours.points, 1e-9 * rate, 100 * rate / peak, ours.megabytes);
    fflush(stdout);
    print_peer(&ours, peers && measure_peer(row, quick, "nested", &nested), &nested);
    fflush(stdout);
    print_peer(&ours, peers && measure_peer(row, quick, "taylor", &taylor), &taylor);
    printf("\n");
    fflush(stdout);
}

static bool wanted(const bench_row *row, int count, char **names)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        if (names[i][0] == '-')
            continue;
        any = true;
        if (strncmp(row->name, names[i], strlen(names[i])) == 0)
            return true;
    }
    return !any;
}

/* Measured in a child too: its threads must not be there when rows are forked. */
static double peak_apart(void)
{
    int ends[2];
    double peak = 0;
    if (pipe(ends) != 0)
        return 0;
    if (fork() == 0) {
        sg_pool *pool;
        if (sg_pool_create(&pool, THREADS, NULL) == SG_OK)
            peak = bench_fma_peak(pool);
        _exit(write(ends[1], &peak, sizeof peak) == (ssize_t)sizeof peak ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &peak, sizeof peak) != (ssize_t)sizeof peak)
        peak = 0;
    close(ends[0]);
    wait(NULL);
    return peak;
}

int main(int count, char **arguments)
{
    bool quick = false, peers = true;
    for (int i = 1; i < count; i++) {
        quick = quick || strcmp(arguments[i], "--quick") == 0;
        peers = peers && strcmp(arguments[i], "--no-peer") != 0;
    }
    double peak = peak_apart();
    printf("loss and gradient of one step, float, %d threads, %s; FMA peak here and now %.0f "
           "GFLOP/s%s\n",
           THREADS, sg_isa_name(sg_isa_resolve(SG_ISA_AUTO)), 1e-9 * peak,
           quick ? "; quick: an eighth of the points" : "");
    printf("%-18s %8s %8s %7s %6s %5s %26s %26s\n", "network", "ms", "us/point", "GFLOP/s", "peak",
           "MB", "PyTorch, nested autograd", "PyTorch, Taylor channels");
    fflush(stdout);
    for (int i = 0; i < BENCH_ROWS; i++)
        if (wanted(&bench_rows[i], count - 1, arguments + 1))
            print_row(&bench_rows[i], quick, peers, peak);
    return 0;
}
