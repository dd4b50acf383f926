/* The jet engine at the sizes that second-order training and small problems use: Burgers 4 x W in
 * float and double, on every instruction set that runs here, on one thread; and 4 x 64 with
 * derivatives of second, third and fourth order, by the specialised loops and by the table of
 * terms.
 *
 *     jet_sizes_bench [SECONDS]       for each entry; 0.5 unless told
 *     jet_sizes_bench SECONDS orders  the second table alone
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

/* One equation and network. The requests are u, u_x and L, and the residual L + u u_x. */
typedef struct subject {
    const char *equation;
    sg_jet_term sum[3]; /* L */
    size_t terms;
    int width;
    size_t items;
    bool general;
} subject;

static const subject BURGERS_EQUATION = {
    "burgers", {{1, 1, {1}, 0}, {-1e-4, 2, {0, 0}, 0}}, 2, 64, 4096, false};
static const subject KDV_EQUATION = {"kdv", {{1, 1, {1}, 0}, {5e-4, 3, {0, 0, 0}, 0}}, 2, 64, 4096,
                                     false};
static const subject KURAMOTO_EQUATION = {
    "kuramoto", {{1, 1, {1}, 0}, {1e-2, 2, {0, 0}, 0}, {1e-4, 4, {0, 0, 0, 0}, 0}}, 3, 64, 4096,
    false};

static void residual(void *context, const sg_jet_tile *tile)
{
    if (*(const sg_type *)context == SG_FLOAT32)
        BURGERS(float);
    else
        BURGERS(double);
}

/* Processor seconds of a step, and its operations. */
static double time_step(const subject *s, sg_type type, sg_isa isa, double budget,
                        double *operations)
{
    const sg_jet_request requests[] = {
        {.order = 0}, {.order = 1, .along = {0}}, {.terms = s->sum, .term_count = s->terms}};
    int hidden[DEPTH] = {s->width, s->width, s->width, s->width};
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
                      .items = s->items,
                      .points_per_item = 1,
                      .sums = 1,
                      .points = points,
                      .residual = residual,
                      .context = &type};
    config.network = network;
    config.sets = &set;
    config.set_count = 1;
    config.isa = isa;
    config.general = s->general;
    if (sg_jet_create(&jet, &config, NULL) != SG_OK)
        exit(1);
    *operations = (double)s->items * sg_jet_plan_flops(plan, network, true);
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

static void print_entry(const subject *s, sg_type type, sg_isa isa, double peak, double budget)
{
    double operations, time = time_step(s, type, isa, budget, &operations);
    printf("%-8s %-7s %-9s %-6s 4 x %-4d %7zu %9.3f %8.3f %7.1f %5.0f%%\n", sg_isa_name(isa),
           type == SG_FLOAT32 ? "float" : "double", s->equation, s->general ? "table" : "loops",
           s->width, s->items, 1e3 * time, 1e6 * time / (double)s->items, 1e-9 * operations / time,
           100 * operations / time / peak);
    fflush(stdout);
}

static void sizes(sg_type type, sg_isa isa, double peak, double budget)
{
    static const int widths[] = {16, 20, 32, 64, 128, 256, 512};
    static const size_t batches[] = {64, 256, 1024};
    subject s = BURGERS_EQUATION;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        s.width = widths[w];
        s.items = s.width < 256 ? 4096 : 1024;
        print_entry(&s, type, isa, peak, budget);
    }
    s.width = 64;
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        s.items = batches[b];
        print_entry(&s, type, isa, peak, budget);
    }
}

static void orders(sg_type type, sg_isa isa, double peak, double budget)
{
    const subject *equations[] = {&BURGERS_EQUATION, &KDV_EQUATION, &KURAMOTO_EQUATION};
    for (size_t e = 0; e < sizeof equations / sizeof *equations; e++)
        for (int general = 0; general < 2; general++) {
            subject s = *equations[e];
            s.general = general;
            print_entry(&s, type, isa, peak, budget);
        }
}

int main(int count, char **arguments)
{
    static const sg_isa isas[] = {SG_ISA_AVX512, SG_ISA_AVX2, SG_ISA_GENERIC};
    double budget = count > 1 ? atof(arguments[1]) : 0.5;
    printf("%-8s %-7s %-9s %-6s %-8s %7s %9s %8s %7s %6s\n", "set", "type", "equation", "by",
           "network", "points", "ms", "us/point", "GFLOP/s", "share");
    for (size_t s = 0; s < sizeof isas / sizeof *isas; s++)
        for (int type = SG_FLOAT32; type <= SG_FLOAT64; type++) {
            if (sg_isa_resolve(isas[s]) != isas[s])
                continue;
            double peak = peak_of(isas[s], (sg_type)type);
            if (count < 3)
                sizes((sg_type)type, isas[s], peak, budget);
            orders((sg_type)type, isas[s], peak, budget);
        }
    return 0;
}
