/* The optimizer pass without and with StableGrad: 25 million parameters in 160 blocks, on one and
 * on two threads, and PyTorch's AdamW on the same sizes.
 *
 * The variants take turns, round after round, so that a noisy machine disturbs them alike; the
 * table gives medians. "traffic" is what a pass must at least move: AdamW reads four arrays and
 * writes three, StableGrad reads the gradients once more, 8/7 of the traffic. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "stablegrad/stablegrad.h"
#include "timing.h"

enum { BLOCKS = 160, PER_BLOCK = 156250, ROUNDS = 15, VARIANTS = 4 };

typedef struct variant {
    const char *name;
    int threads;
    bool scaled;
    sg_pool *pool;
    sg_scaler *scaler;
    sg_optim *optim;
    double times[ROUNDS];
} variant;

static void check(sg_status status)
{
    if (status != SG_OK) {
        fprintf(stderr, "optim_bench: %s\n", sg_status_text(status));
        exit(1);
    }
}

static sg_params *make_params(void)
{
    size_t total = (size_t)BLOCKS * PER_BLOCK;
    float *values = malloc(total * sizeof *values), *gradients = malloc(total * sizeof *gradients);
    sg_params *params;
    if (!values || !gradients)
        check(SG_ERROR_MEMORY);
    for (size_t i = 0; i < total; i++) {
        values[i] = 0.01f * (float)(i % 201) - 1;
        gradients[i] = 1e-4f * (float)(i % 101) - 5e-3f;
    }
    check(sg_params_create(&params, NULL));
    for (int b = 0; b < BLOCKS; b++) {
        char name[16];
        snprintf(name, sizeof name, "block%d", b);
        size_t begin = (size_t)b * PER_BLOCK;
        sg_span span = {
            name, values + begin, gradients + begin, PER_BLOCK, SG_FLOAT32, b, SG_ROLE_WEIGHT, 0};
        check(sg_params_add(params, &span));
    }
    return params;
}

static void open_variant(variant *v, sg_params *params)
{
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    check(sg_pool_create(&v->pool, v->threads, NULL));
    check(sg_optim_create(&v->optim, params, &config, v->pool, NULL));
    if (v->scaled)
        check(sg_scaler_create(&v->scaler, params, NULL, v->pool, NULL));
}

static double time_step(variant *v, uint64_t step)
{
    double began = sgi_seconds();
    if (v->scaled) {
        check(sg_scaler_observe_scale(v->scaler, 1e-3));
        check(sg_scaler_measure(v->scaler, step));
    }
    check(sg_optim_step(v->optim, v->scaler, NULL));
    return sgi_seconds() - began;
}

/* Milliseconds for a step of PyTorch's AdamW, or NAN without PyTorch. */
static double peer(int threads)
{
    char command[1024];
    double milliseconds = NAN;
    const char *python = peer_python();
    if (!python[0])
        return NAN;
    snprintf(command, sizeof command, "'%s' '%s/optim_torch.py' %d %d %d", python, SG_BENCH_DIR,
             threads, BLOCKS, PER_BLOCK);
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lf", &milliseconds) != 1)
        milliseconds = NAN;
    if (pipe)
        pclose(pipe);
    return milliseconds;
}

static void print_rows(variant v[VARIANTS])
{
    for (int i = 0; i < VARIANTS; i += 2) {
        double plain = median(v[i].times, ROUNDS), scaled = median(v[i + 1].times, ROUNDS);
        double torch = peer(v[i].threads), bytes = 7.0 * sizeof(float) * BLOCKS * PER_BLOCK;
        printf("  %d        %6.1f ms (%4.1f GB/s)  %6.1f ms       %.3f   ", v[i].threads,
               1e3 * plain, 1e-9 * bytes / plain, 1e3 * scaled, scaled / plain);
        if (isnan(torch))
            printf("no peer\n");
        else
            printf("%6.1f ms, %.1f x ours\n", torch, torch / (1e3 * scaled));
    }
}

int main(void)
{
    variant v[VARIANTS] = {{.name = "adamw", .threads = 1},
                           {.name = "stablegrad", .threads = 1, .scaled = true},
                           {.name = "adamw", .threads = 2},
                           {.name = "stablegrad", .threads = 2, .scaled = true}};
    sg_params *params = make_params();
    for (int i = 0; i < VARIANTS; i++)
        open_variant(&v[i], params);
    for (int round = -2; round < ROUNDS; round++)
        for (int i = 0; i < VARIANTS; i++) {
            double t = time_step(&v[i], (uint64_t)(round + 2));
            if (round >= 0)
                v[i].times[round] = t;
        }
    printf("optimizer step, %d parameters in %d blocks, float, %s kernels\n\n", BLOCKS * PER_BLOCK,
           BLOCKS, sg_isa_name(sg_isa_resolve(SG_ISA_AUTO)));
    printf("  threads  AdamW                   + StableGrad    ratio   PyTorch AdamW\n");
    print_rows(v);
    printf("\n  ratio: one more read of the gradients is 8/7 = 1.143 in memory traffic\n");
    return 0;
}
