/* The jet engine's step against the machine's peak and against its peers: one table.
 *
 *     jet_bench [--quick] [--busy] [--isa NAME] [--threads N] [--no-peer] [--peer NAME] [ROW ...]
 *
 * Each row is loss and gradient of one step in float, at 2 threads, in a process of its own, so
 * that its peak memory is its own. The peers (peer_*.py) get the same weights and points, and are
 * timed only when loss and gradient agree with ours. Steps and short measurements of the FMA peak
 * take turns, and ours is measured before and after every peer: shared machines change their speed
 * from second to second. What is printed is the best step of each, and the ratio to the better of
 * our two neighbours. The environment variable SG_BENCH_PEERS names the Python that has the peers
 * (./dev peers); without it the PyTorch that the build has found is asked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "fma_peak.h"
#include "jet_case.h"
#include "timing.h"

enum { QUICK_DIVIDE = 8, MOST_REPEATS = 200, SMALL_POINTS = 8192 };

typedef struct measurement {
    double seconds, rate, peak; /* of the best step, operations per second, FMA peak */
    double points, megabytes;
} measurement;

typedef struct options {
    bool quick, busy, peers;
    sg_isa isa; /* ours: peers choose by themselves */
    int threads;
    const char *only; /* NULL, or the beginning of a peer's name */
    char folder[64];  /* of the case */
} options;

static const struct peer {
    const char *name, *script, *kind;
} PEERS[] = {
    {"JAX, nested jvp", "peer_jax.py", "nested"},
    {"JAX, jet", "peer_jax.py", "jet"},
    {"PyTorch, nested autograd", "peer_torch.py", "nested"},
    {"PyTorch, Taylor by hand", "peer_torch.py", "taylor"},
    {"PyTorch, func + compile", "peer_torch.py", "compiled"},
    {"PyTorch, Taylor + compile", "peer_torch.py", "taylor-compiled"},
    {"DeepXDE on PyTorch", "peer_deepxde.py", "deepxde"},
};

static int threads_of(const options *o)
{
    return o->busy ? 1 : o->threads;
}

static double resident_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Steps and peaks in turns, for about a second. */
static void time_steps(sg_jet *jet, sg_pool *pool, const options *o, measurement *m)
{
    m->seconds = HUGE_VAL;
    m->peak = 0;
    double budget = o->quick ? 0.3 : 1;
    int count = 0;
    for (double start = sgi_seconds();
         count < 3 || (count < MOST_REPEATS && sgi_seconds() - start < budget); count++) {
        m->peak = fmax(m->peak, bench_fma_peak(pool, o->isa));
        double wall = sgi_seconds(), processor = processor_seconds();
        sg_jet_gradient(jet, NULL);
        m->seconds = fmin(m->seconds, sgi_seconds() - wall);
        if (o->busy)
            m->seconds = fmin(m->seconds, processor_seconds() - processor);
    }
}

static sg_status measure(const bench_row *row, const options *o, measurement *m)
{
    bench_case c;
    sg_pool *pool = NULL;
    sg_jet *jet = NULL;
    sg_status status = bench_open(&c, row, o->quick ? QUICK_DIVIDE : 1);
    if (status == SG_OK)
        status = sg_pool_create(&pool, threads_of(o), NULL);
    if (status == SG_OK) {
        sg_jet_config config = sg_jet_defaults();
        config.network = c.network;
        config.sets = c.sets;
        config.set_count = c.set_count;
        config.pool = pool;
        config.isa = o->isa;
        status = sg_jet_create(&jet, &config, NULL);
    }
    if (status == SG_OK) {
        sg_jet_gradient(jet, NULL);
        if (!bench_write_case(&c, jet, o->folder))
            status = SG_ERROR_IO;
        time_steps(jet, pool, o, m);
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
static bool measure_apart(const bench_row *row, const options *o, measurement *m)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        measurement mine;
        bool good = measure(row, o, &mine) == SG_OK &&
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

/* The peer's best seconds per step and peak memory; its complaints go to the terminal. */
static bool run_peer(const struct peer *peer, const options *o, int threads, measurement *m)
{
    const char *python = peer_python();
    if (strlen(python) == 0)
        return false;
    char command[1024];
    snprintf(command, sizeof command, "timeout 600 '%s' '%s/%s' %s '%s' %d %s 2>'%s/errors'",
             python, SG_BENCH_DIR, peer->script, peer->kind, o->folder, threads,
             o->busy ? "busy" : "", o->folder);
    FILE *pipe_end = popen(command, "r");
    if (!pipe_end)
        return false;
    bool good = fscanf(pipe_end, "%lf %lf", &m->seconds, &m->megabytes) == 2;
    return pclose(pipe_end) == 0 && good;
}

/* At its best number of threads: small batches may be faster on one. */
static bool measure_peer(const struct peer *peer, const options *o, bool small, measurement *m)
{
    measurement one;
    bool good = run_peer(peer, o, threads_of(o), m);
    if (good && small && !o->busy && run_peer(peer, o, 1, &one) && one.seconds < m->seconds)
        *m = one;
    return good;
}

/* The last line of what a peer complained about. */
static void print_complaint(const struct peer *peer, const options *o)
{
    char path[128], line[512], last[512] = "not installed";
    snprintf(path, sizeof path, "%s/errors", o->folder);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (line[0] != '\n')
            memcpy(last, line, sizeof last);
    if (file)
        fclose(file);
    last[strcspn(last, "\n")] = 0;
    printf("    %-27s no: %s\n", peer->name, last);
}

static void print_peer(const struct peer *peer, const bench_row *row, const options *o,
                       measurement *ours)
{
    measurement theirs, after;
    bool small = ours->points < SMALL_POINTS;
    if (!measure_peer(peer, o, small, &theirs)) {
        print_complaint(peer, o);
        return;
    }
    if (!measure_apart(row, o, &after))
        return;
    double best = fmin(ours->seconds, after.seconds);
    printf("    %-27s %9.2f %9.2f %7.1fx %27.0f\n", peer->name, 1e3 * theirs.seconds, 1e3 * best,
           theirs.seconds / best, theirs.megabytes);
    fflush(stdout);
    *ours = after;
}

static void print_row(const bench_row *row, const options *o)
{
    measurement ours;
    if (!measure_apart(row, o, &ours)) {
        printf("%-31s failed\n", row->name);
        return;
    }
    printf("%-31s %9s %9.2f %8s %7.1f %6.1f %5.1f%% %5.0f\n", row->name, "", 1e3 * ours.seconds, "",
           1e-9 * ours.rate, 1e-9 * ours.peak, 100 * ours.rate / ours.peak, ours.megabytes);
    fflush(stdout);
    for (size_t i = 0; i < sizeof PEERS / sizeof *PEERS && o->peers; i++)
        if (!o->only || strncmp(PEERS[i].name, o->only, strlen(o->only)) == 0)
            print_peer(&PEERS[i], row, o, &ours);
}

static bool wanted(const bench_row *row, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strncmp(row->name, names[i], strlen(names[i])) == 0)
            return true;
    return count == 0;
}

static void remove_case(const options *o)
{
    static const char *const names[] = {"case.json", "case.bin", "errors"};
    char path[128];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", o->folder, names[i]);
        unlink(path);
    }
    rmdir(o->folder);
}

/* SG_ISA_COUNT when there is no such set here. */
static sg_isa isa_named(const char *name)
{
    for (int i = 0; i < SG_ISA_COUNT; i++)
        if (strcmp(name, sg_isa_name((sg_isa)i)) == 0 && sg_isa_resolve((sg_isa)i) == (sg_isa)i)
            return (sg_isa)i;
    return SG_ISA_COUNT;
}

int main(int count, char **arguments)
{
    options o = {
        .peers = true, .isa = SG_ISA_AUTO, .threads = 2, .folder = "/tmp/jet_bench.XXXXXX"};
    int names = 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--quick") == 0)
            o.quick = true;
        else if (strcmp(arguments[i], "--busy") == 0)
            o.busy = true;
        else if (strcmp(arguments[i], "--no-peer") == 0)
            o.peers = false;
        else if (strcmp(arguments[i], "--peer") == 0 && i + 1 < count)
            o.only = arguments[++i];
        else if (strcmp(arguments[i], "--isa") == 0 && i + 1 < count)
            o.isa = isa_named(arguments[++i]);
        else if (strcmp(arguments[i], "--threads") == 0 && i + 1 < count)
            o.threads = atoi(arguments[++i]);
        else
            arguments[++names] = arguments[i];
    }
    if (o.isa == SG_ISA_COUNT || o.threads < 1) {
        fprintf(stderr, "jet_bench: --isa generic, avx2 or avx512 if this processor has it; "
                        "--threads 1 or more\n");
        return 2;
    }
    if (!mkdtemp(o.folder)) {
        perror("jet_bench");
        return 1;
    }
    printf("loss and gradient of one step, float, %d threads%s, %s%s\n", threads_of(&o),
           o.busy ? ", processor time" : "", sg_isa_name(sg_isa_resolve(o.isa)),
           o.quick ? "; quick: an eighth of the points" : "");
    printf("%-31s %9s %9s %8s %7s %6s %6s %5s\n", "network, and its peers", "peer ms", "our ms",
           "ratio", "GFLOP/s", "peak", "share", "MB");
    fflush(stdout);
    for (int i = 0; i < BENCH_ROWS; i++)
        if (wanted(&bench_rows[i], names, arguments + 1))
            print_row(&bench_rows[i], &o);
    remove_case(&o);
    return 0;
}
