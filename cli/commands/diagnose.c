/* stablegrad diagnose RUN: the kernels at a checkpoint, what the paper's theorem says of them, and
 * what the optimizer's next step does. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "commands/solution.h"
#include "diagnose/diagnose.h"
#include "files/file.h"
#include "train/checkpoint.h"
#include "train/diagnosis.h"
#include "train/pinn_subject.h"
#include "train/progress.h"
#include "work.h"

const char diagnose_details[] =
    "RUN is the folder of a run of a problem. The quantities are those of the paper's section 4, "
    "on "
    "a\n"
    "fixed batch of points: how strongly the kernels K = JJ' of plain gradient steps and K_SG = "
    "JPJ' of\n"
    "StableGrad act on the residual (rho), their largest eigenvalues, the stability factor, and "
    "the\n"
    "margin of the theorem: above 0, a StableGrad step lowers the linearised loss by more. Below "
    "that,\n"
    "what the optimizer's own next step does; it is not kept. --step N takes the checkpoint of "
    "step N,\n"
    "if the run has one; without it the last. docs/diagnose.md explains every number.\n"
    "\n"
    "  stablegrad diagnose runs/heat-0001\n"
    "  stablegrad diagnose runs/heat-0001 --set diagnose.residuals=500 --json\n";

/* ---- Checkpoints ------------------------------------------------------------------------------
 */

enum { MOST_CHECKPOINTS = 32 };

typedef struct checkpoint {
    char path[SG_PATH_SIZE];
    uint64_t step;
} checkpoint;

typedef struct checkpoint_list {
    checkpoint items[MOST_CHECKPOINTS]; /* from the newest step down */
    size_t count;
} checkpoint_list;

static int by_step(const void *a, const void *b)
{
    const checkpoint *x = a, *y = b;
    return (x->step < y->step) - (x->step > y->step);
}

/* The step of a file that can be resumed from; false for one that cannot. A file that cannot be
 * read is told: another checkpoint may be taken in its place. */
static bool step_of(const char *path, uint64_t *step)
{
    sg_diagnostic diagnostic = {0};
    sgi_safetensors *file;
    sgi_progress progress;
    if (sgi_safetensors_open(&file, path, NULL, &diagnostic) != SG_OK) {
        warn("%s cannot be read and is passed over: %s", path, diagnostic.message);
        return false;
    }
    bool found = sgi_safetensors_find(file, SG_STATE_TENSOR) && sgi_progress_read(file, &progress);
    *step = found ? progress.step : 0;
    sgi_safetensors_close(file);
    return found;
}

/* Every checkpoint in the folder, whatever its name. */
static void list_checkpoints(const char *folder, checkpoint_list *list)
{
    DIR *entries = opendir(folder);
    list->count = 0;
    for (struct dirent *entry;
         entries && list->count < MOST_CHECKPOINTS && (entry = readdir(entries));) {
        checkpoint *next = &list->items[list->count];
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".safetensors") == 0 &&
            sgi_run_path(next->path, folder, entry->d_name) == SG_OK &&
            step_of(next->path, &next->step))
            list->count++;
    }
    if (entries)
        closedir(entries);
    qsort(list->items, list->count, sizeof *list->items, by_step);
}

/* Says which steps there are. */
static void tell_steps(const char *folder, int64_t wanted, const checkpoint_list *list)
{
    complain("%s has no checkpoint of step %" PRId64, folder, wanted);
    fputs("it has those of step", stderr);
    for (size_t i = list->count; i > 0; i--)
        fprintf(stderr, "%s %" PRIu64, i == list->count ? "" : ",", list->items[i - 1].step);
    fputs("\n", stderr);
}

/* The checkpoint of --step, or the newest. */
static int choose_checkpoint(const cli_arguments *arguments, char path[SG_PATH_SIZE])
{
    const char *folder = arguments->operands[0];
    checkpoint_list list;
    const checkpoint *chosen = NULL;
    list_checkpoints(folder, &list);
    for (size_t i = 0; i < list.count && !chosen; i++)
        if (arguments->step < 0 || list.items[i].step == (uint64_t)arguments->step)
            chosen = &list.items[i];
    if (chosen)
        snprintf(path, SG_PATH_SIZE, "%s", chosen->path);
    else if (list.count == 0)
        complain("%s has no checkpoint that can be read", folder);
    else
        tell_steps(folder, arguments->step, &list);
    return chosen ? EXIT_DONE : EXIT_BAD_INPUT;
}

/* ---- Printing ---------------------------------------------------------------------------------
 */

static void print_theorem(const sgi_diagnosis *d)
{
    const sgi_theorem *t = &d->theorem;
    printf("%-26s %12s %12s\n", "", "plain", "StableGrad");
    printf("%-26s %12.4g %12.4g\n", "rho", t->rho, t->rho_scaled);
    printf("%-26s %12.4g %12.4g   ratio %.4g\n", "largest eigenvalue", t->largest,
           t->largest_scaled, t->ratio);
    printf("%-26s %12.4g %12.4g   stable below 2\n", "rate * largest", t->rate * t->largest,
           t->stability);
    printf("%-26s %12.4g %12.4g   of the loss, linearised\n", "decrease in a step", d->decrease,
           d->decrease_scaled);
    printf("%-26s %12.4g %12.4g   largest over smallest\n", "std of gradients (R_std)",
           d->ratio_raw, d->ratio_scaled);
    printf("%-26s %12s %+12.4g   %s\n", "margin", "", t->margin,
           t->holds ? "a StableGrad step lowers the loss by more" : "the theorem promises nothing");
}

static void print_step(const sgi_diagnosis *d)
{
    printf("\nthe optimizer's next step, %s%s\n", d->rescaled ? "rescaled" : "not rescaled",
           d->theorem.rate > 0 ? "" : "; the schedule has come to a rate of 0");
    printf("%-26s %12.4g\n", "linearisation error", d->linear_error);
    printf("%-26s %12.4g   over tensors %.4g\n", "spread of relative updates", d->update.spread,
           d->tensor_spread);
    printf("%-26s %12.4g   %s\n", "largest share of energy", d->update.largest_share,
           d->blocks[d->update.largest_block].name);
}

static void print_blocks(const sgi_diagnosis *d)
{
    printf("\n%-20s %12s %12s %12s %12s\n", "block", "gradient std", "factor", "update", "energy");
    for (size_t b = 0; b < d->block_count; b++) {
        const sgi_diagnosed_block *block = &d->blocks[b];
        printf("%-20s %12.3e %12.4g", block->name, block->std, block->factor);
        if (d->stepped)
            printf(" %12.3e %11.1f%%", block->update.relative, 100 * block->update.share);
        putchar('\n');
    }
}

static void print_spectra(const sgi_diagnosis *d)
{
    enum { SHOWN = 10 };
    double rest[2] = {1, 1};
    const sgi_spectrum *spectra[] = {d->plain, d->scaled};
    printf("\n%-6s %12s %12s %12s %12s\n", "", "K", "residual", "K_SG", "residual");
    for (size_t k = 0; k < SHOWN && (k < d->plain->count || k < d->scaled->count); k++) {
        printf("%-6zu", k + 1);
        for (int i = 0; i < 2; i++) {
            if (k >= spectra[i]->count) {
                printf(" %12s %12s", "", "");
                continue;
            }
            rest[i] -= spectra[i]->shares[k];
            printf(" %12.4g %11.2f%%", spectra[i]->values[k], 100 * spectra[i]->shares[k]);
        }
        putchar('\n');
    }
    printf("%-6s %12s %11.2f%% %12s %11.2f%%\n", "rest", "", 100 * rest[0], "", 100 * rest[1]);
}

static void print_diagnosis(const char *name, const sgi_diagnosis *d)
{
    char step[32], residuals[32];
    format_thousands(d->step, step, sizeof step);
    format_thousands(d->residuals, residuals, sizeof residuals);
    printf("%s  step %s, %s residuals", name, step, residuals);
    if (!d->finite) {
        puts("\nthe residual or its gradient is not finite: nothing can be measured");
        return;
    }
    printf(", loss %.3e, rate %.3g\n\n", d->loss, d->theorem.rate);
    print_theorem(d);
    if (d->stepped)
        print_step(d);
    else
        puts("\nthe optimizer's next step would be skipped: its gradient is not finite");
    print_blocks(d);
    print_spectra(d);
}

static int print_json(const char *name, const sgi_diagnosis *d)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(name));
    json_object_set_new(object, "step", json_integer((json_int_t)d->step));
    json_object_set_new(object, "diagnosis", sgi_diagnosis_object(d));
    int failed = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17)) |
                 (fputc('\n', stdout) == EOF);
    json_decref(object);
    return failed ? EXIT_RUN_FAILED : EXIT_DONE;
}

/* ---- The command ------------------------------------------------------------------------------
 */

static int measure(const sgi_subject *subject, const cli_arguments *arguments)
{
    sgi_diagnose *diagnose;
    sgi_diagnosis d;
    int code = EXIT_DONE;
    if (!subject->optim) {
        complain("diagnose looks at a step of a first-order optimizer, and this training is with "
                 "'%s' here; to look at the problem all the same: --set training.optimizer=adamw",
                 sgi_training_optimizer(subject->training));
        return EXIT_BAD_INPUT;
    }
    sg_status status = sgi_pinn_subject_diagnose(&diagnose, subject, SG_ISA_AUTO);
    if (status == SG_OK)
        status = sgi_diagnose_measure(diagnose, sgi_pinn_subject_trainer(subject), &d);
    if (status != SG_OK) {
        complain("the diagnosis failed: %s", sg_status_text(status));
        code = EXIT_RUN_FAILED;
    } else if (arguments->json) {
        code = print_json(subject->name, &d);
    } else {
        print_diagnosis(subject->name, &d);
    }
    sgi_diagnose_destroy(diagnose);
    return code;
}

/* The run as it was at the checkpoint, optimizer and all. */
static int diagnose_at(sgi_problem *problem, const char *path, const cli_arguments *arguments)
{
    sg_diagnostic diagnostic = {0};
    sgi_subject *subject = NULL;
    sgi_progress progress;
    sg_pool *pool = open_pool(arguments);
    if (!pool)
        return EXIT_RUN_FAILED;
    sg_status status =
        sgi_pinn_subject_create(&subject, problem, pool, SG_ISA_AUTO, NULL, &diagnostic);
    if (status == SG_OK)
        status = subject->type->load(subject, path, &progress, &diagnostic);
    int code = exit_code_of(status);
    if (status != SG_OK)
        tell(&diagnostic);
    else
        code = measure(subject, arguments);
    sgi_subject_destroy(subject);
    sg_pool_destroy(pool);
    return code;
}

int run_diagnose(const cli_arguments *arguments)
{
    char problem[SG_PATH_SIZE], weights[SG_PATH_SIZE];
    work w;
    if (!is_folder(arguments->operands[0])) {
        complain("%s is not the folder of a run", arguments->operands[0]);
        fprintf(stderr, "'stablegrad list' shows the runs in this folder\n");
        return EXIT_BAD_INPUT;
    }
    int code = find_files(arguments, problem, weights);
    if (code == EXIT_DONE && kind_of(problem)->no_field) {
        complain("%s %s", problem, "is a task on images: diagnose is for problems");
        return EXIT_BAD_INPUT;
    }
    if (code == EXIT_DONE)
        code = choose_checkpoint(arguments, weights);
    if (code != EXIT_DONE || !open_work(&w, arguments, problem, NULL, 0, &code))
        return code;
    if (((const sgi_problem *)w.file)->windows.count > 0) {
        complain("%s was trained in windows, whose kernels are not measured",
                 arguments->operands[0]);
        code = EXIT_BAD_INPUT;
    } else {
        code = diagnose_at(w.file, weights, arguments);
    }
    close_work(&w);
    return code;
}
