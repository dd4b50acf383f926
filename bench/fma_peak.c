/* The machine's peak in fused multiply-adds, measured: independent chains in registers. */
#include "fma_peak.h"

#include <stdint.h>

#include "base/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { CHAINS = 12, ROUNDS = 250000, TRIES = 4 };

/* Returns floating-point operations; `*sink` keeps the work from being dropped. */
#if defined(__x86_64__)
__attribute__((target("avx512f"))) static double chains_avx512(float *sink)
{
    __m512 x[CHAINS], a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++)
        x[i] = _mm512_set1_ps((float)i);
    for (int r = 0; r < ROUNDS; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            x[i] = _mm512_fmadd_ps(x[i], a, b);
    for (int i = 0; i < CHAINS; i++)
        *sink += _mm512_reduce_add_ps(x[i]);
    return 2.0 * 16 * CHAINS * ROUNDS;
}

__attribute__((target("avx2,fma"))) static double chains_avx2(float *sink)
{
    __m256 x[CHAINS], a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < CHAINS; i++)
        x[i] = _mm256_set1_ps((float)i);
    for (int r = 0; r < ROUNDS; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            x[i] = _mm256_fmadd_ps(x[i], a, b);
    for (int i = 0; i < CHAINS; i++)
        *sink += x[i][0];
    return 2.0 * 8 * CHAINS * ROUNDS;
}
#endif

static double chains_generic(float *sink)
{
    typedef float vec __attribute__((vector_size(16)));
    vec x[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        x[i] = (vec){(float)i, 1, 2, 3};
    for (int r = 0; r < ROUNDS; r++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            x[i] = x[i] * 0.999f + 1e-3f;
    for (int i = 0; i < CHAINS; i++)
        *sink += x[i][0];
    return 2.0 * 4 * CHAINS * ROUNDS;
}

typedef struct peak_job {
    sg_isa isa;
    double operations[64];
    float sink[64 * 16];
} peak_job;

static void run_chains(void *context, size_t unit, int worker)
{
    (void)worker;
    peak_job *job = context;
    float *sink = &job->sink[unit * 16];
#if defined(__x86_64__)
    if (job->isa == SG_ISA_AVX512) {
        job->operations[unit] = chains_avx512(sink);
        return;
    }
    if (job->isa == SG_ISA_AVX2) {
        job->operations[unit] = chains_avx2(sink);
        return;
    }
#endif
    job->operations[unit] = chains_generic(sink);
}

double bench_fma_peak(sg_pool *pool, sg_isa isa)
{
    static peak_job job;
    job.isa = sg_isa_resolve(isa);
    size_t threads = (size_t)sg_pool_threads(pool);
    double best = 0;
    threads = threads < 64 ? threads : 64;
    for (int repeat = 0; repeat < TRIES; repeat++) {
        double start = sgi_seconds(), operations = 0;
        sg_pool_run(pool, threads, run_chains, &job);
        double time = sgi_seconds() - start;
        for (size_t i = 0; i < threads; i++)
            operations += job.operations[i];
        best = operations / time > best ? operations / time : best;
    }
    return best;
}
