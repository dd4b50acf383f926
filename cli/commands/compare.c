/* stablegrad compare FILE: the baseline and StableGrad from the same start on the same points. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/memory.h"
#include "commands.h"
#include "commands/compare_table.h"
#include "commands/comparison.h"
#include "files/file.h"
#include "stablegrad/scale.h"
#include "text/nearest.h"

const char compare_details[] =
    "Every variant starts from the same weights and sees the same points. --variants takes a list "
    "of\n"
    "these names; the first one is the baseline that the others are measured by.\n"
    "\n"
    "For a PDE problem:\n"
    "  adamw                            the optimizer of the problem alone\n"
    "  stablegrad                       with StableGrad as the problem describes it\n"
    "  a reference scale by its name    with StableGrad and this scale:" SG_REFERENCE_LIST(
        SGI_LIST_WORD,
        SGI_LIST_NOTHING) "\n"
                          "  sign                             with each gradient replaced by its "
                          "sign\n"
                          "  znorm, agc                       with these methods in place of "
                          "StableGrad\n"
                          "\n"
                          "For a task on images:\n"
                          "  batchnorm                        the network with BatchNorm\n"
                          "  plain                            the network without BatchNorm\n"
                          "  stablegrad                       without BatchNorm, but with "
                          "StableGrad\n"
                          "  sign                             without BatchNorm, each gradient "
                          "replaced by its sign\n"
                          "  znorm, agc                       without BatchNorm, with these "
                          "methods\n"
                          "  group, layer                     with group norm or layer norm in "
                          "place of BatchNorm\n"
                          "\n"
                          "Variants that train the same thing are refused: with an optimizer of "
                          "second order in\n"
                          "every stage there are no gradients to rescale, and so nothing to "
                          "compare.\n"
                          "\n"
                          "With --resume FILE may be the folder of a comparison. The runs that are "
                          "not complete go on, "
                          "and\n"
                          "those that were not begun are trained, from the files that the "
                          "comparison began with.\n"
                          "\n"
                          "Where there are enough runs, as many as there are threads or ranks are "
                          "trained at a time.\n"
                          "\n"
                          "  stablegrad compare burgers3d\n"
                          "  stablegrad compare runs/burgers3d-0001 --resume\n"
                          "  stablegrad compare poisson --seeds 3 --variants "
                          "adamw,output,residual,norm\n";

static const variant *find_variant(const work_kind *kind, const char *name, size_t length)
{
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, name, length);
    for (size_t i = 0; i < kind->variant_count; i++) {
        const char *known = kind->variants[i].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return &kind->variants[i];
        sgi_nearest_offer(&nearest, known);
    }
    complain("there is no variant '%.*s'", (int)length, name);
    if (nearest.best[0])
        fprintf(stderr, "did you mean '%s'?  ", nearest.best);
    fprintf(stderr, "variants: ");
    for (size_t i = 0; i < kind->variant_count; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", kind->variants[i].name);
    fputc('\n', stderr);
    return NULL;
}

static bool read_variants(comparison *c, const char *list)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        const variant *found = find_variant(c->kind, at, length);
        if (!found)
            return false;
        for (size_t i = 0; i < c->variant_count; i++)
            if (c->variants[i] == found) {
                complain("variant '%s' is listed twice", found->name);
                return false;
            }
        if (c->variant_count == MOST_VARIANTS) {
            complain("more than %d variants", MOST_VARIANTS);
            return false;
        }
        c->variants[c->variant_count++] = found;
        at += length + (at[length] == ',');
    }
    if (c->variant_count == 0)
        complain("--variants is empty");
    return c->variant_count > 0;
}

/* The runs of variant v that compare.json lists, and the name of one of them, or "". */
static const json_t *indexed_runs(const comparison *c, size_t v)
{
    const json_t *variants = json_object_get(c->index, "variants");
    return json_object_get(json_array_get(variants, v), "runs");
}

static const char *indexed_run(const comparison *c, size_t v, size_t k)
{
    const char *name = json_string_value(json_array_get(indexed_runs(c, v), k));
    return name ? name : "";
}

/* "adamw", or with several seeds "adamw-0", by the seed. */
void run_name(const comparison *c, size_t v, int64_t k, char *name, size_t size)
{
    if (c->index)
        snprintf(name, size, "%s", indexed_run(c, v, (size_t)k));
    else if (c->seeds == 1)
        snprintf(name, size, "%s", c->variants[v]->name);
    else
        snprintf(name, size, "%s-%" PRId64, c->variants[v]->name, c->first_seed + k);
}

/* The values that run k of variant v sets; `seed` holds one of them. Returns how many. */
static size_t sets_of(const comparison *c, size_t v, int64_t k, char seed[64], const char **sets)
{
    size_t count = c->variants[v]->set_count;
    memcpy(sets, c->variants[v]->sets, count * sizeof *sets);
    snprintf(seed, 64, "training.seed=%" PRId64, c->first_seed + k);
    sets[count++] = seed;
    return count;
}

bool open_variant(const comparison *c, size_t v, int64_t k, work *w, int *code)
{
    char seed[64];
    const char *sets[MOST_VARIANT_SETS + 1] = {NULL};
    size_t count = sets_of(c, v, k, seed, sets);
    return open_work(w, c->arguments, c->problem_path, sets, count, code);
}

/* The folder of a run, and the file that it is trained from. */
sg_status run_paths(const comparison *c, size_t v, int64_t k, char folder[SG_PATH_SIZE],
                    char file[SG_PATH_SIZE])
{
    char name[64];
    run_name(c, v, k, name, sizeof name);
    sg_status status = sgi_run_path(folder, c->folder, name);
    return status == SG_OK ? sgi_run_path(file, folder, "problem.yaml") : status;
}

/* The comparison's folder, when no run in it was begun. */
void remove_folder(comparison *c)
{
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    for (size_t v = 0; v < c->variant_count; v++)
        for (int64_t k = 0; k < c->seeds; k++)
            if (run_paths(c, v, k, folder, path) == SG_OK) {
                unlink(path);
                rmdir(folder);
            }
    if (sgi_run_path(path, c->folder, "compare.json") == SG_OK)
        unlink(path);
    sgi_run_lock_release(&c->lock);
    if (c->made)
        rmdir(c->folder);
}

static sg_status write_index(const comparison *c, const char *name, sg_diagnostic *diagnostic)
{
    json_t *object = json_object(), *variants = json_array();
    for (size_t v = 0; v < c->variant_count; v++) {
        json_t *entry = json_object(), *runs = json_array();
        for (int64_t k = 0; k < c->seeds; k++) {
            char run[64];
            run_name(c, v, k, run, sizeof run);
            json_array_append_new(runs, json_string(run));
        }
        json_object_set_new(entry, "name", json_string(c->variants[v]->name));
        json_object_set_new(entry, "label", json_string(c->labels[v]));
        json_object_set_new(entry, "runs", runs);
        json_array_append_new(variants, entry);
    }
    json_object_set_new(object, "name", json_string(name));
    json_object_set_new(object, "variants", variants);
    return sgi_json_write(c->folder, "compare.json", object, diagnostic);
}

/* ---- The command -------------------------------------------------------------------------- */

enum { METHOD_SIZE = 640 }; /* what all stages of a file are said to be, in whole */

static void tell_what_helps(const comparison *c, bool second)
{
    if (second) {
        fprintf(stderr,
                "a step of second order has no gradients to rescale: 'stablegrad train %s' trains "
                "it once, and another optimizer there is another run\n",
                c->arguments->operands[0]);
        return;
    }
    fprintf(stderr,
            "leave one of them out; what a stage of the file says of 'stablegrad' no variant "
            "changes\nvariants: ");
    for (size_t i = 0; i < c->kind->variant_count; i++)
        fprintf(stderr, "%s%s", i ? ", " : "", c->kind->variants[i].name);
    fputc('\n', stderr);
}

/* Variants differ in nothing but what is done to gradients, and in the norm of a network on images.
 * Two that agree in these give the same weights, and in speed differ by noise: a comparison of them
 * would only mislead. */
static bool refuse_twins(const comparison *c, char methods[][METHOD_SIZE], bool second)
{
    for (size_t v = 1; v < c->variant_count; v++)
        for (size_t u = 0; u < v; u++)
            if (strcmp(methods[u], methods[v]) == 0) {
                complain("'%s' and '%s' train the same thing here: %s", c->variants[u]->name,
                         c->variants[v]->name, methods[v]);
                tell_what_helps(c, second);
                return true;
            }
    return false;
}

/* What each variant is called in the report. A mistake in one is found before any is trained. */
static int name_variants(comparison *c)
{
    char methods[MOST_VARIANTS][METHOD_SIZE];
    bool second = false;
    for (size_t v = 0; v < c->variant_count; v++) {
        int code;
        work w;
        if (!open_variant(c, v, 0, &w, &code))
            return code;
        w.kind->method(w.file, methods[v], sizeof methods[v]);
        bool fits = strlen(methods[v]) < sizeof c->labels[v]; /* cut, two could be alike */
        snprintf(c->labels[v], sizeof c->labels[v], "%.63s",
                 fits ? methods[v] : c->variants[v]->name);
        second = sgi_training_is_second(w.kind->training(w.file));
        close_work(&w);
    }
    return refuse_twins(c, methods, second) ? EXIT_BAD_INPUT : EXIT_DONE;
}

/* Reads the file once for its kind, name and seed, and then as each variant. */
static int prepare(comparison *c, char *name, size_t size)
{
    int code;
    work w;
    const char *list = c->arguments->variants;
    find_problem(c->arguments->operands[0], c->problem_path);
    if (!open_work(&w, c->arguments, c->problem_path, NULL, 0, &code))
        return code;
    c->kind = w.kind;
    snprintf(name, size, "%s", w.kind->name(w.file));
    c->first_seed = w.kind->training(w.file)->seed;
    close_work(&w);
    if (!read_variants(c, list ? list : c->kind->usual))
        return EXIT_BAD_INPUT;
    return name_variants(c);
}

/* Makes the folder of a run and writes the file that it will be trained from. */
static sg_status make_run(const comparison *c, size_t v, int64_t k, sg_diagnostic *diagnostic)
{
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE], *text;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    int code;
    work w;
    if (run_paths(c, v, k, folder, path) != SG_OK)
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, c->folder, "the path is too long");
    sg_status status = sgi_run_create_at(folder, NULL, diagnostic);
    if (status != SG_OK)
        return status;
    if (!open_variant(c, v, k, &w, &code)) /* was read before: see name_variants */
        return sgi_fail_file(diagnostic, SG_ERROR_IO, c->problem_path, "cannot be read again");
    status = w.kind->write(w.file, &text);
    if (status == SG_OK) {
        status = sgi_file_write(path, text, strlen(text), &heap, diagnostic);
        sgi_release(&heap, text);
    } else {
        (void)sgi_fail_file(diagnostic, status, path, "%s", sg_status_text(status));
    }
    close_work(&w);
    return status;
}

/* The folder, with the files of all runs and the index before the first is trained: whenever the
 * comparison is cut short, it can go on, and the runs that are there can be reported. */
static int make_folder(comparison *c, const char *name)
{
    sg_diagnostic diagnostic = {0};
    sg_status status;
    c->made = true;
    if (!c->arguments->out)
        status = sgi_run_create(c->folder, "runs", name, &diagnostic);
    else if (copy_path(c->folder, c->arguments->out))
        status = sgi_run_claim(&c->lock, c->folder, &c->made, &diagnostic);
    else
        return EXIT_BAD_INPUT;
    if (status == SG_OK && !c->arguments->out)
        status = sgi_run_lock_take(&c->lock, c->folder, &diagnostic);
    if (status == SG_OK) {
        for (size_t v = 0; v < c->variant_count && status == SG_OK; v++)
            for (int64_t k = 0; k < c->seeds && status == SG_OK; k++)
                status = make_run(c, v, k, &diagnostic);
        if (status == SG_OK)
            status = write_index(c, name, &diagnostic);
        if (status != SG_OK)
            remove_folder(c);
    }
    if (status != SG_OK)
        tell(&diagnostic);
    return exit_code_of(status);
}

/* ---- Going on ----------------------------------------------------------------------------- */

/* What the index says: the variants and their runs. */
static int read_index(comparison *c)
{
    char path[SG_PATH_SIZE];
    json_t *variants = json_object_get(c->index, "variants");
    size_t runs = json_array_size(indexed_runs(c, 0));
    bool usable = json_array_size(variants) <= MOST_VARIANTS && runs > 0 && runs <= MOST_SEEDS;
    c->seeds = (int64_t)runs;
    for (size_t v = 0; usable && v < json_array_size(variants); v++) {
        usable = json_array_size(indexed_runs(c, v)) == runs;
        for (size_t k = 0; usable && k < runs; k++)
            usable = indexed_run(c, v, k)[0] && !strchr("./", indexed_run(c, v, k)[0]) &&
                     !strchr(indexed_run(c, v, k), '/');
    }
    if (!usable || run_paths(c, 0, 0, path, c->problem_path) != SG_OK) {
        complain("%s/compare.json is not the index of a comparison", c->folder);
        return EXIT_BAD_INPUT;
    }
    c->kind = kind_of(c->problem_path);
    for (size_t v = 0; v < json_array_size(variants); v++) {
        json_t *name = json_object_get(json_array_get(variants, v), "name");
        if (!read_variants(c, json_is_string(name) ? json_string_value(name) : ""))
            return EXIT_BAD_INPUT;
    }
    return EXIT_DONE;
}

static int resume_folder(comparison *c)
{
    const cli_arguments *a = c->arguments;
    if (a->seed >= 0 || a->seeds != 1 || a->variants) {
        complain("%s does not go with --resume: the comparison has its runs already",
                 a->variants    ? "--variants"
                 : a->seed >= 0 ? "--seed"
                                : "--seeds");
        return EXIT_BAD_INPUT;
    }
    if (!find_run(a, c->folder))
        return EXIT_BAD_INPUT;
    if (!is_a_comparison(c->folder)) {
        if (is_a_run(c->folder))
            complain("%s is a run; to go on with it: stablegrad train %s --resume", c->folder,
                     c->folder);
        else
            complain("%s is not the folder of a comparison: it has no compare.json", c->folder);
        return EXIT_BAD_INPUT;
    }
    c->index = read_json(c->folder, "compare.json");
    int code = read_index(c);
    if (code == EXIT_DONE)
        (void)lock_folder(&c->lock, c->folder, &code);
    if (code == EXIT_DONE)
        (void)sgi_file_remove_temporaries(c->folder, sgi_run_files, SG_RUN_FILES);
    return code;
}

int compare_as_lane(const cli_arguments *arguments, const char *folder, int index, int count)
{
    char name[256];
    lane place = {0};
    comparison c = {.arguments = arguments,
                    .seeds = arguments->seeds,
                    .lanes = count,
                    .lane = index,
                    .place = &place};
    if (!read_isa(arguments, &c.isa) || !copy_path(c.folder, folder))
        return EXIT_BAD_INPUT;
    c.pool = open_pool(arguments);
    if (!c.pool)
        return EXIT_RUN_FAILED;
    if (arguments->resume)
        c.index = read_json(c.folder, "compare.json");
    snprintf(c.go_on, sizeof c.go_on, "compare %s", c.folder);
    int code = arguments->resume ? read_index(&c) : prepare(&c, name, sizeof name);
    if (code == EXIT_DONE)
        code = train_ours(&c);
    json_decref(c.index);
    sg_pool_destroy(c.pool);
    return code;
}

static int compare(comparison *c)
{
    char name[256];
    int code = EXIT_DONE;
    if (c->arguments->resume) {
        code = resume_folder(c);
    } else {
        code = prepare(c, name, sizeof name);
        if (code == EXIT_DONE)
            code = make_folder(c, name);
    }
    if (code != EXIT_DONE)
        return code;
    snprintf(c->go_on, sizeof c->go_on, "compare %s", c->folder);
    code = train_runs(c);
    if (code == EXIT_INTERRUPTED)
        (void)write_report(c->folder);
    if (code == EXIT_INTERRUPTED || code == EXIT_BAD_INPUT)
        return code;
    bool reported = write_report(c->folder) == SG_OK;
    if (!c->arguments->quiet && !c->arguments->json)
        print_comparison(c->folder, reported);
    return reported ? code : EXIT_RUN_FAILED;
}

int run_compare(const cli_arguments *arguments)
{
    comparison c = {.arguments = arguments, .seeds = arguments->seeds, .lanes = 1};
    if (arguments->seeds < 1 || arguments->seeds > MOST_SEEDS) {
        complain("--seeds takes a number from 1 to %d", MOST_SEEDS);
        return EXIT_BAD_INPUT;
    }
    if (!read_isa(arguments, &c.isa))
        return EXIT_BAD_INPUT;
    c.pool = open_pool(arguments);
    if (!c.pool)
        return EXIT_RUN_FAILED;
    watch_signals();
    int code = compare(&c);
    sgi_run_lock_release(&c.lock);
    json_decref(c.index);
    sg_pool_destroy(c.pool);
    return code;
}
