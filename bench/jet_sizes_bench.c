/* The jet engine at the sizes that second-order training and small problems use: Burgers 4 x W in
 * float and double, on every instruction set that runs here, on one thread.
 *
 *     jet_sizes_bench [SECONDS]       for each entry; 0.5 unless told
 *
 * Times are the thread's own processor time, the best of many steps, and so is the FMA peak beside
 * them: on a busy machine these repeat to a few percent where times on the clock do not. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stablegrad/jet.h"

enum { CHAINS = 12, ROUNDS = 20000, TRIES = 40, DEPTH = 4 };

static double thread_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The peak ---------------------------------------------------------------------------------
 */

#define PEAK(name, type, bytes, attribute)                                                         \
    attribute static double name(void)                                                             \
    {                                                                                              \
        typedef type vec __attribute__((vector_size(bytes)));                                      \
        vec x[CHAINS], a = (vec){0} + (type)0.999, b = (vec){0} + (type)1e-3;                      \
        for (int i = 0; i < CHAINS; i++)                                                           \
            x[i] = (vec){0} + (type)i;                                                             \
        for (int r = 0; r < ROUNDS; r++)                                                           \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) x[i] = x[i] * a + b;         \
        for (int i = 0; i < CHAINS; i++)                                                           \
            __asm__ volatile("" ::"m"(x[i]));                                                      \
        return 2.0 * CHAINS * ROUNDS * (double)(bytes / sizeof(type));                             \
    }

#if defined(__x86_64__)
PEAK(avx512_single, float, 64, __attribute__((target("avx512f"))))
PEAK(avx512_double, double, 64, __attribute__((target("avx512f"))))
PEAK(avx2_single, float, 32, __attribute__((target("avx2,fma"))))
PEAK(avx2_double, double, 32, __attribute__((target("avx2,fma"))))
#endif
PEAK(generic_single, float, 16, )
PEAK(generic_double, double, 16, )

static double peak_of(sg_isa isa, sg_type type)
{
    double (*run)(void) = type == SG_FLOAT32 ? generic_single : generic_double;
#if defined(__x86_64__)
    if (isa == SG_ISA_AVX512)
        run = type == SG_FLOAT32 ? avx512_single : avx512_double;
    if (isa == SG_ISA_AVX2)
        run = type == SG_FLOAT32 ? avx2_single : avx2_double;
#endif
    double best = 0;
    for (int i = 0; i < TRIES; i++) {
        double before = thread_seconds(), operations = run();
        double rate = operations / (thread_seconds() - before);
        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- The steps --------------------------------------------------------------------------------
 */

static double scrambled(size_t index)
{
    uint64_t x = ((uint64_t)index + 1) * 0x9E3779B97F4A7C15u;
    return (double)(x >> 40) * 0x1p-24;
}

static void points(void *context, size_t set, size_t first, size_t count, int worker,
                   void *const *coordinates)
{
    (void)set;
    (void)worker;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < count; i++) {
            double x = scrambled(2 * (first + i) + c);
            if (*(const sg_type *)context == SG_FLOAT32)
                ((float *)coordinates[c])[i] = (float)x;
            else
                ((double *)coordinates[c])[i] = x;
        }
}

#define BURGERS(type)                                                                              \
    do {                                                                                           \
        const type *const *v = (const type *const *)tile->values;                                  \
        type *const *d = (type *const *)tile->adjoints;                                            \
        for (size_t i = 0; i < tile->count; i++) {                                                 \
            type r = v[2][i] + v[0][i] * v[1][i], g = (type)1e-5 * r;                              \
            d[0][i] = g * v[1][i];                                                                 \
            d[1][i] = g * v[0][i];                                                                 \
            d[2][i] = g;                                                                           \
            tile->sums[0] += (double)(r * r);                                                      \
        }                                                                                          \
    } while (0)

/* Requests u, u_x, u_t - nu u_xx. */
static void residual(void *context, const sg_jet_tile *tile)
{
    if (*(const sg_type *)context == SG_FLOAT32)
        BURGERS(float);
    else
        BURGERS(double);
}

/* Processor seconds of a step, and its operations. */
static double time_step(int width, size_t items, sg_type type, sg_isa isa, double budget,
                        double *operations)
{
    static const sg_jet_term sum[] = {{1, 1, {1}, 0}, {-1e-4, 2, {0, 0}, 0}};
    const sg_jet_request requests[] = {
        {.order = 0}, {.order = 1, .along = {0}}, {.terms = sum, .term_count = 2}};
    int hidden[DEPTH] = {width, width, width, width};
    sg_jet_network_config shape = sg_jet_network_defaults();
    shape.input.coordinates = 2;
    shape.hidden = hidden;
    shape.hidden_count = DEPTH;
    shape.type = type;
    sg_jet_init init = sg_jet_init_defaults();
    sg_jet_network *network = NULL;
    sg_jet_plan *plan = NULL;
    sg_jet *jet = NULL;
    sg_jet_config config = sg_jet_defaults();
    if (sg_jet_network_create(&network, &shape, NULL) != SG_OK ||
        sg_jet_network_initialize(network, &init) != SG_OK ||
        sg_jet_plan_create(&plan, 2, requests, 3, NULL) != SG_OK)
        exit(1);
    sg_jet_set set = {.plan = plan,
                      .items = items,
                      .points_per_item = 1,
                      .sums = 1,
                      .points = points,
                      .residual = residual,
                      .context = &type};
    config.network = network;
    config.sets = &set;
    config.set_count = 1;
    config.isa = isa;
    if (sg_jet_create(&jet, &config, NULL) != SG_OK)
        exit(1);
    *operations = (double)items * sg_jet_plan_flops(plan, network, true);
    double best = 1e9, start = thread_seconds();
    for (int i = 0; i < 3 || thread_seconds() - start < budget; i++) {
        double before = thread_seconds();
        sg_jet_gradient(jet, NULL);
        double time = thread_seconds() - before;
        best = time < best ? time : best;
    }
    sg_jet_destroy(jet);
    sg_jet_plan_destroy(plan);
    sg_jet_network_destroy(network);
    return best;
}

static void print_entry(int width, size_t items, sg_type type, sg_isa isa, double peak,
                        double budget)
{
    double operations, time = time_step(width, items, type, isa, budget, &operations);
    printf("%-8s %-7s 4 x %-4d %7zu %9.3f %8.3f %7.1f %5.0f%%\n", sg_isa_name(isa),
           type == SG_FLOAT32 ? "float" : "double", width, items, 1e3 * time,
           1e6 * time / (double)items, 1e-9 * operations / time, 100 * operations / time / peak);
    fflush(stdout);
}

int main(int count, char **arguments)
{
    static const int widths[] = {16, 20, 32, 64, 128, 256, 512};
    static const size_t batches[] = {64, 256, 1024};
    static const sg_isa isas[] = {SG_ISA_AVX512, SG_ISA_AVX2, SG_ISA_GENERIC};
    double budget = count > 1 ? atof(arguments[1]) : 0.5;
    printf("%-8s %-7s %-8s %7s %9s %8s %7s %6s\n", "set", "type", "network", "points", "ms",
           "us/point", "GFLOP/s", "share");
    for (size_t s = 0; s < sizeof isas / sizeof *isas; s++)
        for (int type = SG_FLOAT32; type <= SG_FLOAT64; type++) {
            if (sg_isa_resolve(isas[s]) != isas[s])
                continue;
            double peak = peak_of(isas[s], (sg_type)type);
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                print_entry(widths[w], widths[w] < 256 ? 4096 : 1024, (sg_type)type, isas[s], peak,
                            budget);
            for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
                print_entry(64, batches[b], (sg_type)type, isas[s], peak, budget);
        }
    return 0;
}
