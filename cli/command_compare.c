/* stablegrad compare FILE: the baseline and StableGrad from the same start on the same points. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "commands.h"
#include "report/kind.h"
#include "stablegrad/scale.h"
#include "text/nearest.h"
#include "training.h"

enum { MOST_VARIANTS = 8, MOST_SEEDS = 99 };

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
                          "\n"
                          "For a task on images:\n"
                          "  batchnorm                        the network with BatchNorm\n"
                          "  plain                            the network without BatchNorm\n"
                          "  stablegrad                       without BatchNorm, but with "
                          "StableGrad\n"
                          "  sign                             without BatchNorm, each gradient "
                          "replaced by its sign\n"
                          "  group, layer                     with group norm or layer norm in "
                          "place of BatchNorm\n"
                          "\n"
                          "  stablegrad compare burgers3d\n"
                          "  stablegrad compare poisson --seeds 3 --variants "
                          "adamw,output,residual,norm\n";

typedef struct comparison {
    const cli_arguments *arguments;
    const work_kind *kind;
    char problem_path[SG_PATH_SIZE];
    char folder[SG_PATH_SIZE];
    const variant *variants[MOST_VARIANTS];
    char labels[MOST_VARIANTS][64];
    size_t variant_count;
    int64_t first_seed;
    sg_pool *pool;
    sg_isa isa;
} comparison;

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

/* The comparison's folder, when it holds no more than the index. */
static void remove_folder(const comparison *c)
{
    char path[SG_PATH_SIZE];
    if (sgi_run_path(path, c->folder, "compare.json") == SG_OK)
        unlink(path);
    rmdir(c->folder);
}

/* "adamw", or with several seeds "adamw-0", by the seed. */
static void run_name(const comparison *c, size_t v, int64_t k, char *name, size_t size)
{
    if (c->arguments->seeds == 1)
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

static bool open_variant(const comparison *c, size_t v, int64_t k, work *w, int *code)
{
    char seed[64];
    const char *sets[MOST_VARIANT_SETS + 1] = {NULL};
    size_t count = sets_of(c, v, k, seed, sets);
    return open_work(w, c->arguments, c->problem_path, sets, count, code);
}

static int train_variant(comparison *c, size_t v, int64_t k)
{
    char name[64], folder[SG_PATH_SIZE];
    int code;
    sg_diagnostic diagnostic = {0};
    work w;
    run_name(c, v, k, name, sizeof name);
    if (!open_variant(c, v, k, &w, &code))
        return code;
    sg_status status = sgi_run_path(folder, c->folder, name);
    if (status == SG_OK)
        status = sgi_run_create_at(folder, &diagnostic);
    else
        (void)sgi_fail_file(&diagnostic, status, c->folder, "the path is too long");
    if (status != SG_OK) {
        tell(&diagnostic);
        close_work(&w);
        return exit_code_of(status);
    }
    training t = {c->arguments,         &w,  c->pool, c->isa, folder, false, v == 0 && k == 0,
                  c->variants[v]->name, name};
    code = train_and_tell(&t, NULL);
    if (code != EXIT_DONE && rmdir(folder) == 0 && v == 0 && k == 0) /* nothing was begun */
        remove_folder(c);
    close_work(&w);
    return code;
}

static sg_status write_index(const comparison *c, const char *name, sg_diagnostic *diagnostic)
{
    json_t *object = json_object(), *variants = json_array();
    for (size_t v = 0; v < c->variant_count; v++) {
        json_t *entry = json_object(), *runs = json_array();
        for (int64_t k = 0; k < c->arguments->seeds; k++) {
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

/* ---- The table ---------------------------------------------------------------------------- */

/* How a row shows its numbers: "%.2e", or a share as "%.2f %%". */
static const sgi_statistic *statistic(const sgi_report_summary *summary, size_t v,
                                      const sgi_report_row *row)
{
    return sgi_report_value(&summary->variants[v], row->offset);
}

static void format_cell(sgi_unit unit, double value, char *text, size_t size)
{
    if (unit == SG_UNIT_SHARE)
        snprintf(text, size, "%.2f %%", 100 * value);
    else if (unit == SG_UNIT_NUMBER)
        snprintf(text, size, "%.2e", value);
    else
        snprintf(text, size, "%.*f", unit == SG_UNIT_COUNT ? 0 : 1, value);
}

static void print_cell(const sgi_statistic *s, const sgi_report_row *row)
{
    char text[64] = "-";
    if (s->count > 0 && isfinite(s->mean)) {
        format_cell(row->unit, s->mean, text, sizeof text);
        size_t used = strlen(text);
        if (s->count > 1 && isfinite(s->spread) && row->unit == SG_UNIT_SHARE)
            snprintf(text + used, sizeof text - used, " +- %.1f", 100 * s->spread);
        else if (s->count > 1 && isfinite(s->spread))
            snprintf(text + used, sizeof text - used, " +- %.0e", s->spread);
    } else if (s->count > 0) {
        snprintf(text, sizeof text, "not finite");
    }
    printf("  %-16s", text);
}

static void print_row(const sgi_report_summary *summary, const sgi_report_row *row)
{
    bool any = false;
    for (size_t v = 0; v < summary->count && row->terminal; v++)
        any = any || statistic(summary, v, row)->count > 0;
    if (!any)
        return;
    printf("%-18s", row->terminal);
    for (size_t v = 0; v < summary->count; v++)
        print_cell(statistic(summary, v, row), row);
    if (row->ratio && summary->count == 2) {
        double r = statistic(summary, 0, row)->mean / statistic(summary, 1, row)->mean;
        if (isfinite(r) && r >= 1)
            printf("  %.1f x lower", r);
        else if (isfinite(r) && r > 0)
            printf("  %.1f x higher", 1 / r);
    }
    printf("\n");
}

static void print_sooner(const sgi_report_summary *summary)
{
    for (size_t v = 1; v < summary->count; v++) {
        const sgi_report_variant *it = &summary->variants[v], *base = &summary->variants[0];
        if (it->reached.count < it->runs || !(it->reached.mean > 0))
            continue;
        char target[64];
        format_cell(summary->kind->target_unit, sgi_report_value(base, summary->kind->target)->mean,
                    target, sizeof target);
        printf("\n%s reaches %s, where %s ends, at step %.0f: %.1f x sooner", it->name, target,
               base->name, it->reached.mean, base->steps.mean / it->reached.mean);
    }
}

static void print_table(const comparison *c, bool reported)
{
    sg_diagnostic diagnostic = {0};
    sgi_report_summary summary;
    if (sgi_report_summarise(&summary, c->folder, NULL, &diagnostic) != SG_OK) {
        tell(&diagnostic);
        sgi_report_summary_release(&summary);
        return;
    }
    printf("\n%-18s", "");
    for (size_t v = 0; v < summary.count; v++)
        printf("  %-16s", summary.variants[v].name);
    printf("\n");
    for (size_t i = 0; i < summary.kind->row_count; i++)
        print_row(&summary, &summary.kind->rows[i]);
    print_sooner(&summary);
    if (isfinite(summary.chance))
        printf("\nguessing: %.2f %%", 100 * summary.chance);
    printf("\n\n");
    if (reported)
        printf("report  %s/report.html\n", c->folder);
    if (summary.kind->next)
        printf("next    %s\n", summary.kind->next);
    sgi_report_summary_release(&summary);
}

/* ---- The command -------------------------------------------------------------------------- */

/* What each variant is called in the report. A mistake in one is found before any is trained. */
static int name_variants(comparison *c)
{
    for (size_t v = 0; v < c->variant_count; v++) {
        int code;
        work w;
        if (!open_variant(c, v, 0, &w, &code))
            return code;
        w.kind->method(w.file, c->labels[v], sizeof c->labels[v]);
        close_work(&w);
    }
    return EXIT_DONE;
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

/* The folder, with the index of all runs in it before the first: whenever the comparison is cut
 * short, the runs that are there can be reported. */
static int make_folder(comparison *c, const char *name)
{
    sg_diagnostic diagnostic = {0};
    sg_status status;
    if (!c->arguments->out)
        status = sgi_run_create(c->folder, "runs", name, &diagnostic);
    else if (copy_path(c->folder, c->arguments->out))
        status = sgi_run_create_at(c->folder, &diagnostic);
    else
        return EXIT_BAD_INPUT;
    if (status == SG_OK) {
        status = write_index(c, name, &diagnostic);
        if (status != SG_OK)
            rmdir(c->folder);
    }
    if (status != SG_OK)
        tell(&diagnostic);
    return exit_code_of(status);
}

static int compare(comparison *c)
{
    char name[256];
    int code = prepare(c, name, sizeof name), worst = EXIT_DONE;
    if (code == EXIT_DONE)
        code = make_folder(c, name);
    if (code != EXIT_DONE)
        return code;
    /* A variant that fails numerically is a result; only an interruption ends the comparison. */
    for (size_t v = 0; v < c->variant_count; v++)
        for (int64_t k = 0; k < c->arguments->seeds; k++) {
            code = train_variant(c, v, k);
            worst = code > worst ? code : worst;
            if (code == EXIT_INTERRUPTED)
                (void)write_report(c->folder);
            if (code == EXIT_INTERRUPTED || code == EXIT_BAD_INPUT)
                return code;
        }
    bool reported = write_report(c->folder) == SG_OK;
    if (!c->arguments->quiet && !c->arguments->json)
        print_table(c, reported);
    return reported ? worst : EXIT_RUN_FAILED;
}

int run_compare(const cli_arguments *arguments)
{
    comparison c = {.arguments = arguments};
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
    sg_pool_destroy(c.pool);
    return code;
}
