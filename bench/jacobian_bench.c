/* Rows of the Jacobian, the kernel K = J J^T and the normal equations of Burgers' residual: three
 * tables.
 *
 *     jacobian_bench [--quick] [--busy]
 *
 * The first sets the rate of rows against that of the gradient, in turns. The second makes K by
 * explicit rows, by products of layer inputs and adjoints, and by the cheaper one for each layer,
 * and first of all K of 4,000 residuals x 20,000 parameters in double. The third makes J^T J, less
 * the time that the rows take, and sets its rate against that of multiply-adds in registers. Two
 * threads; with --busy one, in processor time, for a machine that others use too. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fma_peak.h"
#include "stablegrad/jet.h"
#include "timing.h"

enum { DEPTH = 4, ROUNDS = 15 };

static bool busy;

static double seconds_now(void)
{
    return busy ? processor_seconds() : sgi_seconds();
}

typedef struct subject {
    sg_type type;
    sg_jet_network *network;
    sg_jet_plan *plan;
    sg_pool *pool;
    sg_jet *jet;
    size_t items;
} subject;

static void points(void *context, size_t set, size_t first, size_t count, int worker,
                   void *const *coordinates)
{
    (void)set;
    (void)worker;
    const subject *s = context;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < count; i++) {
            double x = fmod((double)(first + i + 1) * (c ? 0.7548776662 : 0.5698402910), 1.0);
            if (s->type == SG_FLOAT32)
                ((float *)coordinates[c])[i] = (float)x;
            else
                ((double *)coordinates[c])[i] = x;
        }
}

/* r = u_t + u u_x - nu u_xx, and the loss sum r^2 / 2. */
#define BURGERS(real)                                                                              \
    static void burgers_##real(const sg_jet_tile *tile)                                            \
    {                                                                                              \
        const real *const *v = (const real *const *)tile->values;                                  \
        real *const *d = (real *const *)tile->adjoints, nu = (real)0.01;                           \
        for (size_t i = 0; i < tile->count; i++) {                                                 \
            real r = v[1][i] + v[0][i] * v[2][i] - nu * v[3][i];                                   \
            real g = tile->component < 0 ? r : 1;                                                  \
            d[0][i] = g * v[2][i];                                                                 \
            d[1][i] = g;                                                                           \
            d[2][i] = g * v[0][i];                                                                 \
            d[3][i] = -g * nu;                                                                     \
        }                                                                                          \
    }
BURGERS(float)
BURGERS(double)

static void residual(void *context, const sg_jet_tile *tile)
{
    if (((const subject *)context)->type == SG_FLOAT32)
        burgers_float(tile);
    else
        burgers_double(tile);
}

static sg_status open_engine(subject *s)
{
    sg_jet_set set = {.plan = s->plan,
                      .items = s->items,
                      .points_per_item = 1,
                      .components = 1,
                      .points = points,
                      .residual = residual,
                      .context = s};
    sg_jet_config config = sg_jet_defaults();
    config.network = s->network;
    config.sets = &set;
    config.set_count = 1;
    config.pool = s->pool;
    return sg_jet_create(&s->jet, &config, NULL);
}

static sg_status open_subject(subject *s, sg_type type, int width, size_t items)
{
    int hidden[DEPTH];
    sg_jet_request requests[] = {{.order = 0},
                                 {.order = 1, .along = {1}},
                                 {.order = 1, .along = {0}},
                                 {.order = 2, .along = {0, 0}}};
    sg_jet_network_config config = sg_jet_network_defaults();
    sg_jet_init init = sg_jet_init_defaults();
    for (int l = 0; l < DEPTH; l++)
        hidden[l] = width;
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = DEPTH;
    config.type = type;
    *s = (subject){.type = type, .items = items};
    sg_status status = sg_jet_network_create(&s->network, &config, NULL);
    if (status == SG_OK)
        status = sg_jet_network_initialize(s->network, &init);
    if (status == SG_OK)
        status = sg_jet_plan_create(&s->plan, 2, requests, 4, NULL);
    if (status == SG_OK)
        status = sg_pool_create(&s->pool, busy ? 1 : 2, NULL);
    return status == SG_OK ? open_engine(s) : status;
}

static void close_subject(subject *s)
{
    sg_jet_destroy(s->jet);
    sg_pool_destroy(s->pool);
    sg_jet_plan_destroy(s->plan);
    sg_jet_network_destroy(s->network);
}

/* ---- Rows -------------------------------------------------------------------------------------
 */

static double gradient_seconds(subject *s)
{
    double before = seconds_now();
    sg_jet_gradient(s->jet, NULL);
    return seconds_now() - before;
}

/* All rows, `some` items at a time into the same memory. */
static double rows_seconds(subject *s, void *rows, size_t some)
{
    double before = seconds_now();
    for (size_t i = 0; i < s->items; i += some)
        if (sg_jet_rows(s->jet, 0, i, s->items - i < some ? s->items - i : some, rows) != SG_OK)
            return NAN;
    return seconds_now() - before;
}

static void rows_line(sg_type type, int width, size_t items)
{
    subject s;
    enum { BYTES = 4 << 20, FOUR_TILES = 96 };
    double gradient = HUGE_VAL, rows = HUGE_VAL;
    bool good = open_subject(&s, type, width, items) == SG_OK;
    size_t row = good ? sg_jet_network_parameters(s.network) * (type == SG_FLOAT32 ? 4 : 8) : 1;
    size_t some = BYTES / row / FOUR_TILES * FOUR_TILES;
    some = some < FOUR_TILES ? FOUR_TILES : some;
    void *memory = malloc(some * row);
    for (int round = 0; round <= ROUNDS && good && memory; round++) {
        double g = gradient_seconds(&s), r = rows_seconds(&s, memory, some);
        if (round > 0) {
            gradient = fmin(gradient, g);
            rows = fmin(rows, r);
        }
    }
    if (good && memory) {
        double flops = (double)items * sg_jet_plan_flops(s.plan, s.network, true) * 1e-9;
        printf("%-7s %5d %10zu %10.1f %10.1f %9.0f%%\n", type == SG_FLOAT32 ? "float" : "double",
               width, sg_jet_network_parameters(s.network), flops / gradient, flops / rows,
               100 * gradient / rows);
        fflush(stdout);
    }
    free(memory);
    close_subject(&s);
}

/* ---- The kernel -------------------------------------------------------------------------------
 */

static const char *const METHODS[] = {"cheapest", "rows", "gram"};

static void kernel_line(subject *s, double *kernel, sg_jacobian_method method, int rounds)
{
    sg_jacobian *jacobian;
    sg_jacobian_config config = {.jet = s->jet, .method = method};
    if (sg_jacobian_create(&jacobian, &config, NULL) != SG_OK) {
        printf("failed\n");
        return;
    }
    double best = HUGE_VAL;
    for (int i = 0; i < rounds; i++) {
        double before = seconds_now();
        if (sg_jacobian_kernel(jacobian, NULL, kernel) != SG_OK)
            break;
        best = fmin(best, seconds_now() - before);
    }
    sg_jacobian_cost cost = sg_jacobian_kernel_cost(jacobian);
    printf("%5zu x %-7zu %-9s %6d of %d %8.3f %8.2f %8.1f %7.0f %6zu\n", s->items,
           sg_jet_network_parameters(s->network), METHODS[method], cost.gram_layers, DEPTH + 1,
           best, 1e-9 * cost.operations, 1e-9 * cost.operations / best,
           1e-6 * (double)sg_jacobian_memory(jacobian), cost.panels);
    fflush(stdout);
    sg_jacobian_destroy(jacobian);
}

static void kernel_lines(int width, size_t items, sg_type type, int rounds)
{
    subject s;
    double *kernel = malloc(items * items * sizeof *kernel);
    if (kernel && open_subject(&s, type, width, items) == SG_OK) {
        for (int method = SG_JACOBIAN_ROWS; method <= SG_JACOBIAN_GRAM; method++)
            kernel_line(&s, kernel, (sg_jacobian_method)method, rounds);
        kernel_line(&s, kernel, SG_JACOBIAN_CHEAPEST, rounds);
        close_subject(&s);
    }
    free(kernel);
}

/* ---- The normal equations ---------------------------------------------------------------------
 */

static double normal_seconds(sg_jacobian *jacobian, const sg_normal_equations *parts)
{
    double before = seconds_now();
    return sg_jacobian_normal(jacobian, parts) == SG_OK ? seconds_now() - before : NAN;
}

static void normal_line(int width, size_t items, int rounds)
{
    subject s;
    sg_jacobian *jacobian = NULL;
    if (open_subject(&s, SG_FLOAT64, width, items) == SG_OK &&
        sg_jacobian_create(&jacobian, &(sg_jacobian_config){.jet = s.jet}, NULL) == SG_OK) {
        size_t n = sg_jet_network_parameters(s.network);
        double *matrix = malloc(n * n * sizeof *matrix), *right = malloc(n * sizeof *right);
        double all = HUGE_VAL, rows = HUGE_VAL;
        for (int i = 0; i < rounds && matrix && right; i++) {
            sg_normal_equations parts = {.matrix = matrix, .right = right};
            all = fmin(all, normal_seconds(jacobian, &parts));
            parts.matrix = NULL;
            rows = fmin(rows, normal_seconds(jacobian, &parts));
        }
        /* The peak is of float: half as many numbers in double. */
        double rate = 1e-9 * (double)items * (double)n * (double)(n + 1) / (all - rows);
        double peak = 0.5e-9 * bench_fma_peak(s.pool, SG_ISA_AUTO);
        printf("%5zu x %-7zu %8.3f %8.3f %8.1f %7.0f%%\n", items, n, all, rows, rate,
               100 * rate / peak);
        fflush(stdout);
        free(right);
        free(matrix);
    }
    sg_jacobian_destroy(jacobian);
    close_subject(&s);
}

int main(int count, char **arguments)
{
    static const int widths[] = {16, 20, 32, 64, 128, 256};
    bool quick = false;
    for (int i = 1; i < count; i++) {
        quick = quick || strcmp(arguments[i], "--quick") == 0;
        busy = busy || strcmp(arguments[i], "--busy") == 0;
    }
    printf("rows of the Jacobian, Burgers %d x width, %s, %s\n", DEPTH,
           busy ? "one thread, processor time" : "2 threads",
           sg_isa_name(sg_isa_resolve(SG_ISA_AUTO)));
    printf("%-7s %5s %10s %10s %10s %10s\n", "type", "width", "parameters", "gradient", "rows",
           "rows/grad");
    printf("%-7s %5s %10s %10s %10s\n", "", "", "", "GFLOP/s", "GFLOP/s");
    for (int type = 0; type < 2; type++)
        for (int i = 0; i < 6; i++)
            rows_line(type ? SG_FLOAT64 : SG_FLOAT32, widths[i],
                      (quick ? 2000u : 8000u) * 64u / (unsigned)(widths[i] > 64 ? widths[i] : 64));
    printf("\nK = J J^T, double\n");
    printf("%-15s %-9s %11s %8s %8s %8s %7s %6s\n", "residuals x p", "method", "gram layers",
           "seconds", "GFLOP", "GFLOP/s", "MB", "panels");
    kernel_lines(80, quick ? 1000 : 4000, SG_FLOAT64, 1);
    for (int i = 0; i < 6; i++)
        kernel_lines(widths[i], quick ? 500 : 2000, SG_FLOAT64, quick ? 1 : 2);
    printf("\nK = J J^T, float\n");
    kernel_lines(80, quick ? 1000 : 4000, SG_FLOAT32, 1);
    printf("\nJ^T J, double\n%-15s %8s %8s %8s %8s\n", "residuals x p", "all", "rows", "GFLOP/s",
           "of peak");
    normal_line(12, 2500, quick ? 3 : 20);
    normal_line(20, 6700, quick ? 1 : 10);
    normal_line(36, quick ? 1000 : 10000, quick ? 1 : 3);
    return 0;
}
