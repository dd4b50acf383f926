/* Problems, PDEs in text files, as work: see work.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "commands/problem_check.h"
#include "commands/solution.h"
#include "train/pinn_record.h"
#include "train/pinn_subject.h"
#include "work.h"

static sg_status open_problem_file(void **file, const sgi_source *source, const char *const *sets,
                                   size_t count, sg_diagnostic *diagnostic)
{
    sgi_problem *problem;
    sg_status status = sgi_problem_read(&problem, source->name, source->text, source->size, sets,
                                        count, NULL, diagnostic);
    *file = problem;
    return status;
}

static void close_problem(void *file)
{
    sgi_problem_destroy(file);
}

static const sgi_problem *own(const void *file)
{
    return file;
}

static const char *name(const void *file)
{
    return own(file)->settings.name;
}

static const char *title(const void *file)
{
    return own(file)->settings.title;
}

static const sgi_training_settings *training(const void *file)
{
    return &own(file)->settings.training;
}

static int64_t steps(const void *file, const json_t *record)
{
    (void)record;
    return sgi_problem_steps(own(file));
}

static bool in_parts(const void *file)
{
    const sgi_problem *problem = own(file);
    return problem->settings.stages.count > 1 || problem->windows.count > 0;
}

/* By what ended the last stage, or training; where that may be one of two, both are named. Windows
 * that are over stay as they are. */
static void further(const void *file, int64_t steps, bool early, char *text, size_t size)
{
    const sgi_stages *stages = &own(file)->settings.stages;
    const sgi_training_settings *last = &stages->values[stages->count - 1];
    bool staged = stages->listed;
    bool by_steps = staged ? last->steps < SG_STEPS_WITHOUT_END : !early;
    bool by_seconds = last->seconds > 0 && (staged || early);
    bool by_loss = last->tolerance > 0 && (staged || early);
    char path[48] = "training";
    text[0] = '\0';
    if (own(file)->windows.count > 0)
        return;
    if (staged) {
        snprintf(path, sizeof path, "training.stages.%d", stages->count);
        steps = last->steps;
    }
    if (by_steps + by_seconds + by_loss > 1)
        snprintf(text, size, "%s%s%s%s, under %s", by_steps ? "more steps" : "",
                 by_steps && by_seconds ? ", " : "", by_seconds ? "more seconds" : "",
                 by_loss ? " or a lower tolerance" : "", path);
    else if (by_seconds)
        snprintf(text, size, "--set %s.seconds=%.6g", path, 2 * last->seconds);
    else if (by_loss)
        snprintf(text, size, "--set %s.tolerance=%.3g", path, last->tolerance / 10);
    else
        snprintf(text, size, "--set %s.steps=%" PRId64, path, steps + steps * 3 / 5);
}

static int64_t diagnose_every(const void *file)
{
    return own(file)->settings.diagnose.every;
}

static sg_status write_file(const void *file, char **text)
{
    return sgi_problem_write(file, text);
}

static void describe_stage(const sgi_training_settings *chosen, char *text, size_t size)
{
    static const char *const methods[] = {SG_METHOD_LIST(SGI_LIST_TITLE)};
    const char *optimizer = sgi_training_optimizer_title(chosen);
    if (chosen->method == SG_METHOD_NONE)
        snprintf(text, size, "%s", optimizer);
    else if (chosen->method == SG_METHOD_STABLEGRAD)
        snprintf(text, size, "%s + %s (%s%s)", optimizer, methods[chosen->method],
                 sg_reference_name((sg_reference)chosen->reference.kind),
                 chosen->until == SG_STEP_MARGIN ? ", margin" : "");
    else
        snprintf(text, size, "%s + %s", optimizer, methods[chosen->method]);
}

/* "AdamW + StableGrad (output), Levenberg-Marquardt": stage after stage. */
static void describe_method(const void *file, char *text, size_t size)
{
    const sgi_stages *stages = &own(file)->settings.stages;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < stages->count && used < size; i++) {
        char stage[64];
        describe_stage(&stages->values[i], stage, sizeof stage);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", stage);
    }
}

/* "4,096 points per step", or for a method of second order "700 to 2,415 points". */
static void describe_points(const sg_pinn *pinn, char *text, size_t size)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    const sgi_training_settings *first = &pinn->problem->settings.training;
    char points[32], most[32];
    uint64_t per_step = 0;
    if (sgi_training_is_second(first)) {
        format_thousands((uint64_t)first->points_start, points, sizeof points);
        format_thousands((uint64_t)sgi_problem_most_points(pinn->problem, first), most,
                         sizeof most);
        bool same = strcmp(points, most) == 0;
        snprintf(text, size, "%s%s%s points", points, same ? "" : " to ", same ? "" : most);
        return;
    }
    for (size_t s = 0; s < information->set_count; s++)
        per_step += information->sets[s].items;
    format_thousands(per_step, points, sizeof points);
    snprintf(text, size, "%s points per step", points);
}

/* "windows  3, which end at t = 0.5, 1, 2" */
static void print_windows(const sgi_problem *problem)
{
    const sgi_window_ends *windows = &problem->windows;
    if (windows->count == 0)
        return;
    printf("windows  %d, with the budget of training each; they end at t = ", windows->count);
    for (int i = 0; i < windows->count; i++)
        printf("%s%.6g", i ? ", " : "", sgi_problem_window_end(problem, i));
    printf("\n");
}

void print_problem(const sg_pinn *pinn, const sg_pinn_batch *batch)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    char network[64], parameters[32], points[96], channels[256];
    sgi_describe_network(&pinn->problem->settings.network, network, sizeof network);
    format_thousands(sg_jet_network_parameters(sg_pinn_network(pinn)), parameters,
                     sizeof parameters);
    describe_points(pinn, points, sizeof points);
    sgi_pinn_channels(batch, 0, channels, sizeof channels);
    printf("%s  %s, %s parameters, %s\nchannels %s\n", information->name, network, parameters,
           points, channels);
    print_windows(pinn->problem);
    for (size_t k = 0; k < information->unknown_count; k++) {
        const sg_pinn_unknown *u = &information->unknowns[k];
        printf("unknown  %s, from %.6g", u->name, u->start);
        if (isfinite(u->lower) || isfinite(u->upper))
            printf(", between %.6g and %.6g", u->lower, u->upper);
        printf("\n");
    }
}

static void heading(const void *file, const sgi_subject *subject)
{
    (void)file;
    print_problem(sgi_pinn_subject_pinn(subject),
                  sg_pinn_trainer_batch(sgi_pinn_subject_trainer(subject)));
}

static sg_status subject(sgi_subject **out, void *file, sg_pool *pool, sg_isa isa,
                         sg_diagnostic *diagnostic)
{
    return sgi_pinn_subject_create(out, file, pool, isa, NULL, diagnostic);
}

static int check(void *file, const cli_arguments *arguments)
{
    return check_problem(file, arguments);
}

static double step_seconds(void *file, sg_pool *pool)
{
    return time_problem(file, pool);
}

/* Every reference that has a name is a variant of that name. */
#define BY_REFERENCE(code, name)                                                                   \
    {name, {"training.stablegrad.method=stablegrad", "training.stablegrad.reference=" name}, 2},

static const variant variants[] = {
    {"adamw", {"training.stablegrad.method=none"}, 1},
    {"stablegrad", {"training.stablegrad.method=stablegrad"}, 1},
    {"margin", {"training.stablegrad.method=stablegrad", "training.stablegrad.until=margin"}, 2},
    SG_REFERENCE_LIST(BY_REFERENCE,
                      SGI_LIST_NOTHING){"sign", {"training.stablegrad.method=sign"}, 1},
    {"znorm", {"training.stablegrad.method=znorm"}, 1},
    {"agc", {"training.stablegrad.method=agc"}, 1},
};

static const char *const files[] = {"field.npz", "field.vti", NULL};

/* A run that ends by the clock gets further with all threads, and methods of second order take as
 * much memory as there is. */
static bool side_by_side(const void *file)
{
    const sgi_stages *stages = &((const sgi_problem *)file)->settings.stages;
    for (int i = 0; i < stages->count; i++)
        if (stages->values[i].seconds > 0 || sgi_training_is_second(&stages->values[i]))
            return false;
    return true;
}

const work_kind problem_work = {
    .files = files,
    .open = open_problem_file,
    .close = close_problem,
    .name = name,
    .title = title,
    .training = training,
    .steps = steps,
    .in_parts = in_parts,
    .further = further,
    .diagnose_every = diagnose_every,
    .write = write_file,
    .method = describe_method,
    .subject = subject,
    .heading = heading,
    .check = check,
    .step_seconds = step_seconds,
    .side_by_side = side_by_side,
    .eval = eval_problem,
    .keys = &sgi_problem_options,
    .variants = variants,
    .variant_count = sizeof variants / sizeof variants[0],
    .usual = "adamw,stablegrad",
};
