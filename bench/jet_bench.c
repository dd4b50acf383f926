/* The jet engine's step against the machine's peak and against PyTorch: one table.
 *
 *     jet_bench [--quick] [--no-peer] [ROW ...]
 *
 * Each row is loss and gradient of one step at 2 threads, in a process of its own, so that its peak
 * memory is its own. Steps and short measurements of the FMA peak take turns, before and after the
 * peers, and medians are printed: shared machines change their speed from second to second. The
 * peer is bench/jet_torch.py: nested automatic differentiation as it is commonly written, and
 * hand-written Taylor channels with one backward pass. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fma_peak.h"
#include "jet_rows.h"

enum { THREADS = 2, QUICK_DIVIDE = 8, MOST_REPEATS = 50 };

typedef struct measurement {
    double seconds, rate, peak; /* of a step, operations per second, FMA peak */
    double points, megabytes;
} measurement;

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

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_double);
    return values[count / 2];
}

/* Steps and peaks in turns for `budget` seconds. */
static void time_steps(sg_jet *jet, sg_pool *pool, double budget, measurement *m)
{
    double times[MOST_REPEATS], peaks[MOST_REPEATS];
    int count = 0;
    sg_jet_gradient(jet, NULL);
    for (double start = sgi_seconds();
         count < 3 || (count < MOST_REPEATS && sgi_seconds() - start < budget); count++) {
        peaks[count] = bench_fma_peak(pool);
        double before = sgi_seconds();
        sg_jet_gradient(jet, NULL);
        times[count] = sgi_seconds() - before;
    }
    m->seconds = median(times, count);
    m->peak = median(peaks, count);
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
        time_steps(jet, pool, quick ? 0.3 : 1.5, m);
        m->rate = c.flops / m->seconds;
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

/* The mean of what was measured before and after the peers. */
static void join(measurement *m, const measurement *after)
{
    m->seconds = (m->seconds + after->seconds) / 2;
    m->rate = (m->rate + after->rate) / 2;
    m->peak = (m->peak + after->peak) / 2;
}

static void print_row(const bench_row *row, bool quick, bool peers)
{
    measurement ours, after, nested, taylor;
    bool good = measure_apart(row, quick, &ours);
    bool has_nested = peers && measure_peer(row, quick, "nested", &nested);
    bool has_taylor = peers && measure_peer(row, quick, "taylor", &taylor);
    if (!good || !measure_apart(row, quick, &after)) {
        printf("%-18s failed\n", row->name);
        return;
    }
    join(&ours, &after);
    printf("%-18s %8.2f %8.3f %7.1f %6.1f %5.1f%% %4.0f", row->name, 1e3 * ours.seconds,
           1e6 * ours.seconds / ours.points, 1e-9 * ours.rate, 1e-9 * ours.peak,
           100 * ours.rate / ours.peak, ours.megabytes);
    print_peer(&ours, has_nested, &nested);
    print_peer(&ours, has_taylor, &taylor);
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

int main(int count, char **arguments)
{
    bool quick = false, peers = true;
    for (int i = 1; i < count; i++) {
        quick = quick || strcmp(arguments[i], "--quick") == 0;
        peers = peers && strcmp(arguments[i], "--no-peer") != 0;
    }
    printf("loss and gradient of one step, float, %d threads, %s%s\n", THREADS,
           sg_isa_name(sg_isa_resolve(SG_ISA_AUTO)),
           quick ? "; quick: an eighth of the points" : "");
    printf("%-18s %8s %8s %7s %6s %6s %4s %26s %26s\n", "network", "ms", "us/point", "GFLOP/s",
           "peak", "share", "MB", "PyTorch, nested autograd", "PyTorch, Taylor channels");
    fflush(stdout);
    for (int i = 0; i < BENCH_ROWS; i++)
        if (wanted(&bench_rows[i], count - 1, arguments + 1))
            print_row(&bench_rows[i], quick, peers);
    return 0;
}
