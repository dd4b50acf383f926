/* Training images per second of the networks on oneDNN, and of PyTorch with torchvision.
 *
 * A step is forward, loss, backward and AdamW, on one random batch, with the model's own dropout
 * and stochastic depth. Each row runs ours and PyTorch in turn, three times; the median over the
 * steps of the best run of each, since other load on the machine only ever takes away.
 *
 * Without arguments all rows; `graph_bench MODEL NORM SIZE BATCH STEPS [ours]` one row, so that a
 * row can be measured alone; a trailing `ours` leaves PyTorch out. `--isa avx2` before these holds
 * both sides to AVX2. `graph_bench loader PATH SIZE
 * WORKERS` gives the images per second of the loader, for a CIFAR-100 file or a folder of images.
 * The environment variable SG_BENCH_PEERS names the Python that has PyTorch and torchvision
 * (./dev peers); without it the one that the build has found is asked. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stablegrad/graph.h"
#include "stablegrad/images.h"
#include "stablegrad/stablegrad.h"
#include "timing.h"

enum { THREADS = 2, CLASSES = 100, MAX_STEPS = 100, RUNS = 3 };

typedef struct row {
    const char *model, *norm;
    int size, batch, steps;
} row;

static const row rows[] = {
    {"efficientnet_v2_s", "batch", 64, 32, 5}, {"efficientnet_v2_s", "none", 64, 32, 5},
    {"resnet50", "batch", 64, 32, 5},          {"resnet50", "none", 64, 32, 5},
    {"efficientnet_v2_s", "batch", 224, 8, 3}, {"efficientnet_v2_s", "none", 224, 8, 3},
    {"resnet50", "batch", 224, 8, 3},          {"resnet50", "none", 224, 8, 3},
};

static sg_isa isa = SG_ISA_AUTO;

static void check(sg_status status, const sg_net *graph)
{
    if (status != SG_OK) {
        fprintf(stderr, "graph_bench: %s %s\n", sg_status_text(status),
                graph ? sg_net_diagnostic(graph)->message : "");
        exit(1);
    }
}

/* Whether this processor multiplies bf16. */
static bool has_bf16(void)
{
    sg_net_config config = sg_net_defaults();
    sg_net *graph;
    config.precision = SG_PRECISION_BF16;
    sg_status status = sg_net_create(&graph, &config, NULL);
    if (status == SG_OK)
        sg_net_destroy(graph);
    return status == SG_OK;
}

static sg_net *open_graph(const row *r, sg_precision precision)
{
    sg_net_config config = sg_net_defaults();
    sg_model_options options = sg_model_defaults();
    sg_net *graph;
    config.batch = r->batch;
    config.height = config.width = r->size;
    config.threads = THREADS;
    config.precision = precision;
    config.isa = isa;
    options.classes = CLASSES;
    options.norm = strcmp(r->norm, "none") == 0 ? SG_NORM_NONE : SG_NORM_BATCH;
    check(sg_net_create(&graph, &config, NULL), NULL);
    check(sg_net_model(graph, r->model, &options), graph);
    check(sg_net_init(graph, &(sg_init_config){.kind = SG_INIT_DEFAULT}), graph);
    return graph;
}

static double time_step(sg_net *graph, sg_optim *optim, const float *images, const int *labels,
                        uint64_t step)
{
    sg_loss_result result;
    double began = sgi_seconds();
    check(sg_net_forward(graph, images, SG_MODE_TRAIN, step), graph);
    check(sg_net_loss(graph, labels, sg_net_configuration(graph)->batch, 0, &result), graph);
    check(sg_net_backward(graph), graph);
    check(sg_optim_step(optim, NULL, NULL), NULL);
    return sgi_seconds() - began;
}

/* Images per second; the planned memory in MB. */
static double measure(const row *r, sg_precision precision, double *megabytes)
{
    sg_net *graph = open_graph(r, precision);
    size_t count = (size_t)r->batch * 3 * (size_t)r->size * (size_t)r->size;
    float *images = malloc(count * sizeof *images);
    int *labels = calloc((size_t)r->batch, sizeof *labels);
    sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_pool *pool;
    sg_optim *optim;
    double times[MAX_STEPS];
    if (!images || !labels)
        check(SG_ERROR_MEMORY, NULL);
    for (size_t i = 0; i < count; i++)
        images[i] = (float)(i * 2654435761u % 2001) / 1000 - 1;
    /* torchvision's start without norms vanishes, down to slow denormal numbers. */
    if (strcmp(r->norm, "none") == 0)
        check(sg_net_calibrate(graph, images), graph);
    config.rate = 1e-5;
    check(sg_pool_create(&pool, THREADS, NULL), NULL);
    check(sg_optim_create(&optim, sg_net_params(graph), &config, pool, NULL), NULL);
    for (int i = -2; i < r->steps; i++) {
        double t = time_step(graph, optim, images, labels, (uint64_t)(i + 2));
        if (i >= 0)
            times[i] = t;
    }
    sg_net_info info = sg_net_information(graph);
    *megabytes = 1e-6 * (double)(info.activation_bytes + info.work_bytes);
    sg_optim_destroy(optim);
    sg_net_destroy(graph);
    sg_pool_destroy(pool);
    free(images);
    free(labels);
    return r->batch / median(times, (size_t)r->steps);
}

/* Images per second of PyTorch; NAN without it. */
static double peer(const row *r)
{
    char command[1024];
    double rate = NAN;
    const char *python = peer_python();
    if (!python[0])
        return NAN;
    snprintf(command, sizeof command, "'%s' '%s/graph_torch.py' %s %s %d %d %d %d", python,
             SG_BENCH_DIR, r->model, r->norm, r->size, r->batch, r->steps, THREADS);
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lf", &rate) != 1)
        rate = NAN;
    if (pipe)
        pclose(pipe);
    return rate;
}

static void print_rate(const row *r, const char *precision, double ours, double megabytes,
                       double theirs)
{
    printf("  %-18s %-6s %-5s %3d px  x%-3d  %7.1f   %6.0f MB   ", r->model, r->norm, precision,
           r->size, r->batch, ours, megabytes);
    if (isnan(theirs))
        printf("no peer\n");
    else
        printf("%7.1f   %.2f x\n", theirs, ours / theirs);
    fflush(stdout);
}

/* In float, and where there is bf16 in that too, against PyTorch's float. */
static void print_row(const row *r, bool with_peer)
{
    bool bf16 = has_bf16();
    double megabytes, megabytes_bf16 = 0, ours = 0, ours_bf16 = 0, theirs = NAN;
    for (int run = 0; run < (with_peer ? RUNS : 1); run++) {
        ours = fmax(ours, measure(r, SG_PRECISION_FLOAT, &megabytes));
        if (bf16)
            ours_bf16 = fmax(ours_bf16, measure(r, SG_PRECISION_BF16, &megabytes_bf16));
        if (with_peer)
            theirs = fmax(theirs, peer(r));
    }
    print_rate(r, "float", ours, megabytes, theirs);
    if (bf16)
        print_rate(r, "bf16", ours_bf16, megabytes_bf16, theirs);
}

static int time_loader(const char *path, int size, int workers)
{
    sg_loader_config config = sg_loader_defaults();
    sg_dataset *set;
    sg_loader *loader;
    sg_batch batch;
    sg_diagnostic diagnostic = {0};
    bool cifar = strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".bin") == 0;
    sg_status status = cifar ? sg_dataset_open_cifar(&set, &path, 1, 100, NULL, &diagnostic)
                             : sg_dataset_open_folder(&set, path, NULL, &diagnostic);
    if (status != SG_OK) {
        fprintf(stderr, "graph_bench: %s: %s\n", diagnostic.file, diagnostic.message);
        return 1;
    }
    config.threads = workers;
    config.shuffle = config.view.augment = true;
    config.view.size = size;
    check(sg_loader_create(&loader, set, &config, NULL), NULL);
    check(sg_loader_start(loader, 0, 0), NULL);
    size_t images = 0;
    double began = sgi_seconds();
    do {
        check(sg_loader_next(loader, &batch), NULL);
        images += (size_t)batch.count;
    } while (batch.whole > 0 && sgi_seconds() - began < 10);
    printf("loader: %s at %d px, %d workers: %.0f images/s\n", cifar ? "CIFAR" : "folder", size,
           workers, (double)images / (sgi_seconds() - began));
    sg_loader_destroy(loader);
    sg_dataset_close(set);
    return 0;
}

/* For our loops, and for oneDNN and the loops of PyTorch, which read it from the environment. */
static void hold_to_avx2(void)
{
    isa = SG_ISA_AVX2;
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
    setenv("ATEN_CPU_CAPABILITY", "avx2", 1);
    setenv("MKL_ENABLE_INSTRUCTIONS", "AVX2", 1);
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--isa") == 0) {
        if (strcmp(argv[2], "avx2") != 0) {
            fprintf(stderr, "graph_bench: --isa avx2, or nothing for the best there is\n");
            return 2;
        }
        hold_to_avx2();
        argc -= 2;
        argv += 2;
    }
    if (argc == 5 && strcmp(argv[1], "loader") == 0)
        return time_loader(argv[2], atoi(argv[3]), atoi(argv[4]));
    printf("training step, %d threads, %s%s\n\n", THREADS, sg_isa_name(sg_isa_resolve(isa)),
           has_bf16() ? "" : "; no rows in bf16, this processor has no instructions for it");
    printf("  network            norm   type   size   batch images/s  activations  PyTorch   "
           "ratio\n");
    if (argc >= 6) {
        row r = {argv[1], argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
        if (r.size < 1 || r.batch < 1 || r.steps < 1 || r.steps > MAX_STEPS) {
            fprintf(stderr, "usage: graph_bench [MODEL NORM SIZE BATCH STEPS [ours]]\n");
            return 1;
        }
        print_row(&r, argc == 6);
        return 0;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        print_row(&rows[i], true);
    return 0;
}
