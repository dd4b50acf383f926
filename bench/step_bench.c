/* Where the time of a small training step goes: one table for each of a few problems, on one and on
 * two threads; and what a point costs in a batch of a thousand against a batch of a million.
 *
 *     step_bench [--quick]
 *
 * A step samples, computes loss and gradient, measures the gradients' scales and moves the weights.
 * Its parts are called one by one, each the best of many calls; what is left of loss and gradient
 * is the work of the tiles, with the residuals' programs. The thread wake-up is what a pool takes
 * for two empty units, times the number of calls of the pool in a step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/params.h"
#include "jet/engine.h"
#include "stablegrad/pinn.h"
#include "timing.h"

enum { POOL_CALLS = 6 }; /* packing, tiles, sum, unpacking; scales, optimizer */

static double budget = 0.4; /* seconds for each part */

typedef struct subject {
    sg_pinn *pinn;
    sg_pool *pool;
    sg_pinn_trainer *trainer;
    sg_jet *jet;
    sg_pinn_loss loss;
    int threads;
} subject;

typedef void part_function(subject *s);

/* The best of many calls, in microseconds. */
static double microseconds(subject *s, part_function *part)
{
    double best = HUGE_VAL, start = sgi_seconds();
    for (int i = 0; i < 3 || sgi_seconds() - start < budget; i++) {
        double before = sgi_seconds();
        part(s);
        best = fmin(best, sgi_seconds() - before);
    }
    return 1e6 * best;
}

/* ---- The parts --------------------------------------------------------------------------------
 */

static void whole_step(subject *s)
{
    sg_pinn_step step;
    if (sg_pinn_trainer_step(s->trainer, &step) != SG_OK)
        exit(1);
}

static void loss_and_gradient(subject *s)
{
    sg_pinn_gradient(sg_pinn_trainer_batch(s->trainer), NULL, &s->loss);
}

static void packing(subject *s)
{
    sgi_jet_pack(s->jet, s->jet->network->values, s->jet->packed);
}

/* What a unit of work has of its own: cleared, summed and handed to the caller. */
static void units(subject *s)
{
    size_t size =
        s->jet->gradient_begin[s->jet->network->layer_count] * sgi_type_size(s->jet->network->type);
    for (size_t u = 0; u < s->jet->call.units; u++)
        memset(s->jet->unit_gradient[u], 0, size);
    sgi_jet_collect(s->jet, s->jet->network->gradients);
}

static void nothing(void *context, size_t unit, int worker)
{
    (void)context;
    (void)unit;
    (void)worker;
}

static void wake(subject *s)
{
    sg_pool_run(s->pool, 2, nothing, NULL);
}

/* The points of every tile, as a worker asks for them. */
static void sample_unit(void *context, size_t set, int worker)
{
    sg_jet *jet = ((subject *)context)->jet;
    const sgi_jet_state *state = &jet->states[set];
    for (size_t first = 0; first < state->set.items; first += (size_t)state->items) {
        size_t left = state->set.items - first, most = (size_t)state->items;
        state->set.points(state->set.context, set, first, left < most ? left : most, worker,
                          jet->workers[worker].coordinate_at);
    }
}

static void sampling(subject *s)
{
    for (size_t set = 0; set < s->jet->set_count; set++)
        sample_unit(s, set, 0);
}

static void scaling(subject *s)
{
    sg_scaler *scaler = sg_pinn_trainer_scaler(s->trainer);
    uint64_t step = sg_optim_steps(sg_pinn_trainer_optim(s->trainer));
    if (sg_scaler_observe_moments(scaler, &s->loss.output) != SG_OK ||
        sg_scaler_measure(scaler, step) != SG_OK)
        exit(1);
}

static void optimizer(subject *s)
{
    sg_step_info info;
    scaling(s);
    if (sg_optim_step(sg_pinn_trainer_optim(s->trainer), sg_pinn_trainer_scaler(s->trainer),
                      &info) != SG_OK)
        exit(1);
}

static void metrics(subject *s)
{
    sg_pinn_loss loss;
    sg_pinn_trainer_validate(s->trainer, &loss);
}

/* ---- The tables -------------------------------------------------------------------------------
 */

static bool open_subject(subject *s, const char *path, const char *const *overrides, size_t count,
                         int threads)
{
    *s = (subject){.threads = threads};
    sg_diagnostic diagnostic;
    if (sg_pinn_open(&s->pinn, path, overrides, count, NULL, &diagnostic) != SG_OK ||
        sg_pool_create(&s->pool, threads, NULL) != SG_OK ||
        sg_pinn_trainer_create(&s->trainer, s->pinn, s->pool, SG_ISA_AUTO, NULL) != SG_OK)
        return false;
    s->jet = sg_pinn_engine(sg_pinn_trainer_batch(s->trainer));
    loss_and_gradient(s);
    return true;
}

static void close_subject(subject *s)
{
    sg_pinn_trainer_destroy(s->trainer);
    sg_pool_destroy(s->pool);
    sg_pinn_close(s->pinn);
}

static void print_line(const char *name, double time, double whole)
{
    printf("    %-42s %9.1f %6.1f%%\n", name, time, 100 * time / whole);
}

static void print_step(const char *problem, int threads)
{
    subject s;
    char path[512];
    snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_BENCH_DIR, problem);
    if (!open_subject(&s, path, NULL, 0, threads)) {
        printf("%s failed\n", problem);
        close_subject(&s);
        return;
    }
    double whole = microseconds(&s, whole_step), gradient = microseconds(&s, loss_and_gradient);
    double pack = microseconds(&s, packing), sum = microseconds(&s, units);
    double sample = microseconds(&s, sampling) / threads;
    double scale = microseconds(&s, scaling), move = microseconds(&s, optimizer) - scale;
    double once = threads > 1 ? microseconds(&s, wake) : 0;
    printf("%s, %d thread%s, %zu units of work\n", problem, threads, threads > 1 ? "s" : "",
           s.jet->call.units);
    print_line("the whole step", whole, whole);
    print_line("tiles: products, activations, residuals", gradient - pack - sum - sample, whole);
    print_line("sampling", sample, whole);
    print_line("packing of weights", pack, whole);
    print_line("units: cleared, summed, unpacked", sum, whole);
    print_line("scaling: moments of every gradient", scale, whole);
    print_line("optimizer", move, whole);
    print_line("thread wake-up, in the lines above", POOL_CALLS * once, whole);
    print_line("metrics: the validation loss of a log line", microseconds(&s, metrics), whole);
    fflush(stdout);
    close_subject(&s);
}

/* Microseconds of loss and gradient for each point of the domain. */
static double point_cost(const char *points, int threads)
{
    subject s;
    char path[512], count[64];
    const char *overrides[] = {count, "network.hidden=4 x 64", "conditions={}"};
    snprintf(path, sizeof path, "%s/../problems/burgers.yaml", SG_BENCH_DIR);
    snprintf(count, sizeof count, "points=%s", points);
    double cost = NAN;
    if (open_subject(&s, path, overrides, 3, threads))
        cost = microseconds(&s, loss_and_gradient) / atof(points);
    close_subject(&s);
    return cost;
}

static void print_batches(bool quick)
{
    const char *points[] = {"256", "1000", "4000", quick ? "100000" : "1000000"};
    printf("burgers 4 x 64, microseconds for each point\n");
    printf("%-10s %10s %10s %10s\n", "points", "1 thread", "2 threads", "ratio");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double one = point_cost(points[i], 1), two = point_cost(points[i], 2);
        printf("%-10s %10.3f %10.3f %9.2fx\n", points[i], one, two, one / two);
        fflush(stdout);
    }
}

int main(int count, char **arguments)
{
    static const char *const problems[] = {"heat", "poisson", "burgers3d"};
    bool quick = count > 1 && strcmp(arguments[1], "--quick") == 0;
    budget = quick ? 0.2 : 0.6;
    printf("%-46s %9s %7s\n", "parts of a training step", "us", "share");
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
        for (int threads = 1; threads <= 2; threads++)
            print_step(problems[p], threads);
    printf("\n");
    print_batches(quick);
    return 0;
}
