/* Lifelike run folders: see folders.h. */
#include "support/folders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/npz.h"
#include "support/support.h"

enum { STEPS = 5000, LOG_EVERY = 10, EVALUATE_EVERY = 250, LAYERS = 6, AXIS_MOST = 512, RANK = 4 };
static const double pi = 3.14159265358979323846;

typedef struct shape_of {
    const char *name, *title, *network, *channels;
    size_t rank, sizes[RANK];
    const char *coordinates[RANK];
    double low[RANK], high[RANK];
    size_t fields;
    const char *field_names[3], *equations[3];
    const char *terms[5];
    bool reference;
} shape_of;

static const shape_of shapes[] = {
    [FOLDER_ODE] = {"oscillator",
                    "Damped oscillator",
                    "2 x 32 tanh",
                    "u u_x u_xx",
                    1,
                    {201},
                    {"x"},
                    {0},
                    {6},
                    1,
                    {"u"},
                    {"motion"},
                    {"motion", "start"},
                    true},
    [FOLDER_BURGERS] = {"burgers",
                        "Burgers' equation, nu = 1e-3",
                        "6 x 64 tanh",
                        "u u_t u_x u_xx",
                        2,
                        {257, 101},
                        {"x", "t"},
                        {-1, 0},
                        {1, 1},
                        1,
                        {"u"},
                        {"momentum"},
                        {"momentum", "initial", "boundary"},
                        true},
    [FOLDER_HEAT] = {"heat",
                     "Heat on a plate",
                     "4 x 48 tanh",
                     "u u_t lap(u)",
                     3,
                     {40, 30, 20},
                     {"x", "y", "t"},
                     {0, 0, 0},
                     {2, 1, 0.5},
                     1,
                     {"u"},
                     {"heat"},
                     {"heat", "initial", "edge"},
                     false},
    [FOLDER_HELMHOLTZ] = {"helmholtz",
                          "Helmholtz, k = 4 pi",
                          "6 x 64 silu",
                          "u lap(u)",
                          3,
                          {49, 49, 49},
                          {"x", "y", "z"},
                          {0, 0, 0},
                          {1, 1, 1},
                          1,
                          {"u"},
                          {"wave"},
                          {"wave", "boundary"},
                          true},
    [FOLDER_BURGERS3D] = {"burgers3d",
                          "Three-dimensional Burgers",
                          "4 x 96 tanh",
                          "u u_t u_x u_y u_z lap(u)",
                          4,
                          {24, 24, 24, 11},
                          {"x", "y", "z", "t"},
                          {-1, -1, -1, 0},
                          {1, 1, 1, 1},
                          3,
                          {"u", "v", "w"},
                          {"momentum_x", "momentum_y", "momentum_z"},
                          {"momentum_x", "momentum_y", "momentum_z", "initial", "periodic"},
                          true},
};

/* The exact value of field f at a point. */
static double exact(folder_kind kind, size_t f, const double *p)
{
    switch (kind) {
    case FOLDER_ODE:
        return exp(-0.4 * p[0]) * cos(4 * p[0]);
    case FOLDER_BURGERS:
        return -sin(pi * p[0]) * (1 - p[1]) -
               p[1] * tanh(p[0] / (0.006 + 0.5 * (1 - p[1]))) * (1 - fabs(p[0]));
    case FOLDER_HEAT:
        return sin(0.5 * pi * p[0]) * sin(pi * p[1]) * exp(-4 * p[2]);
    case FOLDER_HELMHOLTZ:
        return sin(4 * pi * p[0]) * sin(4 * pi * p[1]) * sin(4 * pi * p[2]);
    case FOLDER_BURGERS3D:
        break;
    }
    double decay = exp(-0.5 * p[3]), twist = 0.3 * exp(-1.5 * p[3]);
    double c[3] = {cos(pi * p[0]), cos(pi * p[1]), cos(pi * p[2])};
    double phi = 2 + decay / 3 * (c[0] + c[1] + c[2]) + twist * c[0] * c[1] * c[2];
    double others = c[0] * c[1] * c[2] / (fabs(c[f]) > 1e-9 ? c[f] : 1);
    return 0.2 * pi * sin(pi * p[f]) * (decay / 3 + twist * others) / phi;
}

static double wobble(const double *p, size_t rank, double frequency)
{
    double v = 1;
    for (size_t d = 0; d < rank; d++)
        v *= sin(frequency * p[d] + 1.3 * (double)d + 0.4);
    return v;
}

static void add(sgi_npz *npz, const char *name, size_t rank, const size_t *shape, const double *v)
{
    assert_ok(sgi_npz_add(npz, name, SG_ARRAY_FLOAT64, rank, shape, v, NULL));
}

static void add_field(sgi_npz *npz, const shape_of *s, folder_kind kind, size_t f, double error,
                      double axes[RANK][AXIS_MOST])
{
    size_t count = 1;
    for (size_t d = 0; d < s->rank; d++)
        count *= s->sizes[d];
    double *values = malloc(3 * count * sizeof *values), *truth = values + count;
    double *residual = truth + count;
    for (size_t i = 0; i < count; i++) {
        double p[RANK] = {0};
        size_t rest = i;
        for (size_t d = s->rank; d-- > 0; rest /= s->sizes[d])
            p[d] = axes[d][rest % s->sizes[d]];
        truth[i] = exact(kind, f, p);
        double steep = kind == FOLDER_BURGERS ? 1 + 12 * p[1] * exp(-fabs(p[0]) * 60) : 1;
        values[i] = truth[i] + error * steep * wobble(p, s->rank, 5);
        residual[i] = 3 * error * steep * wobble(p, s->rank, 11);
    }
    char name[64];
    add(npz, s->field_names[f], s->rank, s->sizes, values);
    (void)snprintf(name, sizeof name, "%s_reference", s->field_names[f]);
    if (s->reference)
        add(npz, name, s->rank, s->sizes, truth);
    (void)snprintf(name, sizeof name, "residual_%s", s->equations[f]);
    add(npz, name, s->rank, s->sizes, residual);
    free(values);
}

static void write_field(const char *folder, folder_kind kind, double error)
{
    const shape_of *s = &shapes[kind];
    static double axes[RANK][AXIS_MOST];
    char path[4096];
    sgi_npz *npz;
    (void)snprintf(path, sizeof path, "%s/field.npz", folder);
    assert_ok(sgi_npz_create(&npz, path, NULL, NULL));
    for (size_t d = 0; d < s->rank; d++) {
        for (size_t i = 0; i < s->sizes[d]; i++)
            axes[d][i] =
                s->low[d] + (s->high[d] - s->low[d]) * (double)i / (double)(s->sizes[d] - 1);
        add(npz, s->coordinates[d], 1, &s->sizes[d], axes[d]);
    }
    for (size_t f = 0; f < s->fields; f++)
        add_field(npz, s, kind, f, error, axes);
    assert_ok(sgi_npz_commit(npz, NULL));
}

/* A reproducible number in 0 .. 1. */
double folder_noise(int seed, int step, int stream)
{
    unsigned x = (unsigned)seed * 2654435761u + (unsigned)step * 40503u + (unsigned)stream * 97u;
    x ^= x >> 16;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    return (double)(x ^ x >> 16) / 4294967296.0;
}

static double loss_at(bool scaled, int seed, int step, int stream)
{
    double end = scaled ? 2.3e-5 : 2.9e-4, pace = scaled ? 150 : 700;
    double fall = pow(1 + step / pace, scaled ? -2.2 : -1.9);
    return (end * (1 + 0.3 * folder_noise(seed, 0, 7)) + 6 * fall) *
           (1 + 0.5 * (folder_noise(seed, step, stream) - 0.5)) * (1 + 0.4 * stream);
}

static void write_training_line(FILE *file, const shape_of *s, bool scaled, int seed, int step)
{
    double loss = loss_at(scaled, seed, step, 0), c = 2e-3 * sqrt(loss);
    bool active = scaled && step < STEPS / 2;
    fprintf(file, "{\"step\":%d,\"seconds\":%.3f,\"rate\":0.001,\"loss\":%.9g,\"terms\":{", step,
            step * 0.0102, loss);
    for (int t = 0; t < 5 && s->terms[t]; t++) {
        /* A condition that the network's inputs fulfil leaves rounding, in a narrow range. */
        bool exact_term = strcmp(s->terms[t], "periodic") == 0;
        fprintf(file, "%s\"%s\":%.9g", t ? "," : "", s->terms[t],
                exact_term ? 6e-15 * (1 + 8 / (1 + step / 500.0))
                           : loss_at(scaled, seed, step, t + 1) * pow(0.3, t));
    }
    fprintf(file,
            "},\"reference\":%.9g,\"outcome\":\"%s\",\"ratio_raw\":%.6g,\"ratio_scaled\":%.6g,", c,
            active ? "scaled" : "inactive", 42 + 20 * folder_noise(seed, step, 3),
            active ? 1.0 : 42 + 20 * folder_noise(seed, step, 3));
    fprintf(file, "\"skipped\":0,\"layers\":[");
    for (int l = 0; l < LAYERS; l++) {
        double raw = c * pow(10, -0.35 * l) * (1 + folder_noise(seed, step, 20 + l));
        fprintf(file, "%s{\"name\":\"layers.%d\",\"std\":%.6g,\"factor\":%.6g,\"scaled\":%.6g}",
                l ? "," : "", l, raw, active ? c / raw : 1, active ? c : raw);
    }
    fprintf(file, "]}\n");
}

/* What a diagnosis writes: the margin falls below 0 on the way. */
static void write_diagnosis(FILE *file, int seed, int step)
{
    double rho = 0.5 + step / 400.0, more = 3 - step / 1000.0 + folder_noise(seed, step, 40);
    fprintf(file,
            "{\"step\":%d,\"seconds\":%.3f,\"diagnosis\":{\"residuals\":3072,\"loss\":%.9g,"
            "\"rate\":0.001,\"rho\":%.6g,\"rho_sg\":%.6g,\"lambda_max\":29,"
            "\"lambda_max_sg\":43,\"lambda_ratio\":1.5,\"stability\":%.6g,\"margin\":%.6g,"
            "\"holds\":%s,\"r_std_raw\":42.7,\"r_std_scaled\":1,\"e_lin\":%.6g,"
            "\"update_spread\":77.5,\"energy_largest\":0.35,\"spectrum\":[",
            step, step * 0.0102, loss_at(true, seed, step, 0), rho, rho + more, 0.043, more,
            more > 0 ? "true" : "false", 2e-3 * (1 + folder_noise(seed, step, 41)));
    for (int k = 0; k < 12; k++)
        fprintf(file, "%s{\"name\":\"%d\",\"value\":%.6g,\"share\":0.01}", k ? "," : "", k + 1,
                29 * pow(0.6, k));
    fprintf(file, "],\"spectrum_sg\":[");
    for (int k = 0; k < 9; k++)
        fprintf(file, "%s{\"name\":\"%d\",\"value\":%.6g,\"share\":0.01}", k ? "," : "", k + 1,
                43 * pow(0.7, k));
    fprintf(file, "]}}\n");
}

void folder_diagnoses(const char *folder, int seed)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    for (int step = EVALUATE_EVERY; step <= STEPS; step += EVALUATE_EVERY)
        write_diagnosis(file, seed, step);
    assert_int_equal(fclose(file), 0);
}

static void write_metrics(const char *folder, const shape_of *s, bool scaled, int seed, int done)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int step = LOG_EVERY; step <= done; step += LOG_EVERY) {
        write_training_line(file, s, scaled, seed, step);
        if (step % EVALUATE_EVERY != 0 && step != LOG_EVERY)
            continue;
        double loss = loss_at(scaled, seed, step, 0), error = 2 * sqrt(loss);
        fprintf(file, "{\"step\":%d,\"seconds\":%.3f,\"validation\":{\"loss\":%.9g,\"terms\":{}}",
                step, step * 0.0102, loss);
        if (s->reference)
            fprintf(file, ",\"error\":{\"all\":{\"relative_l2\":%.9g,\"max\":%.9g}}", error,
                    4 * error);
        fprintf(file, "}\n");
    }
    assert_int_equal(fclose(file), 0);
}

static void write_info(const char *folder, const shape_of *s, bool scaled, int seed, int done)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/run.json", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\":1,\"name\":\"%s\",\"title\":\"%s\",\"variant\":\"%s\",\"label\":\"%s\","
            "\"seed\":%d,\"threads\":2,\"version\":\"0.1.0\",\"kernels\":\"avx512\",",
            s->name, s->title, scaled ? "stablegrad" : "adamw",
            scaled ? "AdamW + StableGrad (output)" : "AdamW", seed);
    fprintf(
        file,
        "\"machine\":\"Some CPU @ 2.60GHz\",\"command\":\"stablegrad train problems/%s.yaml "
        "--seed %d\",\"started\":\"2026-11-15T21:00:00Z\",\"seconds\":%.1f,\"steps_done\":%d,"
        "\"steps\":%d,\"status\":\"%s\",\"reason\":\"\",\"parameters\":30723,\"network\":\"%s\","
        "\"points_per_step\":3072,\"channels\":\"%s\",\"coordinates\":[",
        s->name, seed, done * 0.0102, done, STEPS, done < STEPS ? "interrupted" : "complete",
        s->network, s->channels);
    for (size_t d = 0; d < s->rank; d++)
        fprintf(file, "%s{\"name\":\"%s\",\"low\":%g,\"high\":%g}", d ? "," : "", s->coordinates[d],
                s->low[d], s->high[d]);
    fprintf(file, "],\"fields\":[");
    for (size_t f = 0; f < s->fields; f++)
        fprintf(file, "%s\"%s\"", f ? "," : "", s->field_names[f]);
    fprintf(file, "],\"terms\":[");
    for (int t = 0; t < 5 && s->terms[t]; t++)
        fprintf(file, "%s\"%s\"", t ? "," : "", s->terms[t]);
    fprintf(file,
            "],\"stablegrad\":{\"method\":\"%s\",\"reference\":\"output\",\"blocks\":\"layer\","
            "\"from\":0,\"until\":%d},\"adam_eps\":1e-8}\n",
            scaled ? "stablegrad" : "none", STEPS / 2);
    assert_int_equal(fclose(file), 0);
}

void folder_run(const char *folder, folder_kind kind, bool scaled, int seed, int steps_done)
{
    const shape_of *s = &shapes[kind];
    assert_int_equal(mkdir(folder, 0777), 0);
    write_info(folder, s, scaled, seed, steps_done);
    write_metrics(folder, s, scaled, seed, steps_done);
    write_field(folder, kind, scaled ? 0.004 : 0.015);
    char problem[512];
    (void)snprintf(problem, sizeof problem,
                   "name: %s\nequations:\n  %s: u_t + u*u_x - nu*u_xx  # 1 < 2 & \"more\"\n"
                   "network: {hidden: %s}\n",
                   s->name, s->equations[0], s->network);
    folder_put(folder, "problem.yaml", problem);
}

static void add_names(char *list, size_t size, const char *variant, int seeds)
{
    for (int i = 1; i <= seeds; i++) {
        size_t used = strlen(list);
        if (seeds == 1)
            (void)snprintf(list + used, size - used, "\"%s\"", variant);
        else
            (void)snprintf(list + used, size - used, "%s\"%s-%d\"", i > 1 ? "," : "", variant, i);
    }
}

void folder_comparison(const char *folder, folder_kind kind, int seeds)
{
    static const char *const variants[] = {"adamw", "stablegrad"};
    static const char *const labels[] = {"AdamW", "AdamW + StableGrad (output)"};
    char path[4096], text[2048];
    assert_int_equal(mkdir(folder, 0777), 0);
    (void)snprintf(text, sizeof text, "{\"name\":\"%s\",\"variants\":[", shapes[kind].name);
    for (int v = 0; v < 2; v++) {
        for (int i = 1; i <= seeds; i++) {
            if (seeds == 1)
                (void)snprintf(path, sizeof path, "%s/%s", folder, variants[v]);
            else
                (void)snprintf(path, sizeof path, "%s/%s-%d", folder, variants[v], i);
            folder_run(path, kind, v == 1, i, STEPS);
        }
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "%s{\"name\":\"%s\",\"label\":\"%s\",\"runs\":[", v ? "," : "", variants[v],
                       labels[v]);
        add_names(text, sizeof text, variants[v], seeds);
        used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "]}");
    }
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "]}\n");
    folder_put(folder, "compare.json", text);
}

char *folder_temporary(void)
{
    const char *place = getenv("TMPDIR");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/stablegrad-test-XXXXXX", place ? place : "/tmp");
    assert_non_null(mkdtemp(path));
    return strdup(path);
}

void folder_remove(char *folder)
{
    char command[4200];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    free(folder);
}

char *folder_text(const char *folder, const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = NULL;
    size_t size = 0;
    ssize_t got = getdelim(&text, &size, 0, file);
    assert_true(got >= 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

void folder_put(const char *folder, const char *name, const char *text)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}
