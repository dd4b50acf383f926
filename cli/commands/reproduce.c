/* stablegrad reproduce WHAT: the paper's experiments, beside the paper's numbers. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "commands/reproduction.h"
#include "progress.h"
#include "text/nearest.h"
#include "train/metrics.h"
#include "training.h"

enum { MOST_REPRODUCED_SEEDS = 20 };

const char reproduce_details[] =
    "WHAT is one of the experiments that 'stablegrad reproduce' alone lists, with the time that\n"
    "each budget takes here. full is the paper's protocol, hours takes about two hours on two\n"
    "cores, quick (the default) minutes; what was reduced stands in the tables.\n"
    "\n"
    "The results are written to runs/reproduce-WHAT-BUDGET, or to the folder that --out names.\n"
    "The same command again goes on where the last one stopped, leaves alone what is complete,\n"
    "and makes the tables anew; more seeds and other parts (--only) are added to what is there.\n"
    "\n"
    "--only takes parts, as poisson-6, runs of all parts, as adamw, and single ones, as\n"
    "poisson-6/adamw. A word that is neither is answered with what there is.\n"
    "\n"
    "  stablegrad reproduce diagnostics --budget full\n"
    "  stablegrad reproduce table1 --budget full --only poisson-6,poisson-12 --seeds 3\n"
    "  stablegrad report runs/reproduce-table1-full          the tables so far, while it runs\n";

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

/* ---- The list ------------------------------------------------------------------------------ */

/* Chooses the arm of that name, or with NULL all arms of the part; false when it has no such arm.
 */
static bool choose_arms(reproduction *r, size_t part, const char *name, size_t length)
{
    bool any = false;
    for (size_t a = 0; a < r->experiment->parts[part].arm_count; a++)
        if (!name || is_word(r->experiment->parts[part].arms[a].name, name, length))
            any = r->chosen[part][a] = true;
    return any;
}

static void choose_all(reproduction *r)
{
    for (size_t p = 0; p < r->experiment->part_count; p++)
        choose_arms(r, p, NULL, 0);
}

static int list_experiments(const cli_arguments *arguments, sg_pool *pool)
{
    if (!arguments->json)
        printf("%-12s %-14s %-14s %-14s\n", "experiment", "quick", "hours", "full");
    for (size_t e = 0; e < sgi_experiment_count; e++) {
        reproduction r = {.arguments = arguments, .experiment = sgi_experiments[e], .seeds = 1};
        json_t *object = json_object(), *seconds = json_object();
        r.pool = pool;
        choose_all(&r);
        if (!arguments->json)
            printf("%-12s", r.experiment->name);
        for (int b = 0; b < SG_BUDGETS; b++) {
            char text[32] = "not measured";
            r.budget = (sgi_budget)b;
            double expected = r.experiment->part_count ? expected_seconds(&r) : NAN;
            if (isfinite(expected))
                format_estimate(expected, text, sizeof text);
            if (!arguments->json)
                printf(" %-14s", text);
            fflush(stdout);
            json_object_set_new(seconds, sgi_budget_name(r.budget), sgi_json_number(expected));
        }
        json_object_set_new(object, "experiment", json_string(r.experiment->name));
        json_object_set_new(object, "summary", json_string(r.experiment->summary));
        json_object_set_new(object, "seconds", seconds);
        if (arguments->json) {
            print_line(object, 4);
        } else {
            json_decref(object);
            printf("\n             %s\n", r.experiment->summary);
        }
    }
    return EXIT_DONE;
}

/* ---- What was asked for -------------------------------------------------------------------- */

static bool find_experiment(reproduction *r, const char *name)
{
    sgi_nearest nearest;
    r->experiment = sgi_find_experiment(name);
    if (r->experiment)
        return true;
    sgi_nearest_begin(&nearest, name, strlen(name));
    complain("there is no experiment '%s'", name);
    for (size_t e = 0; e < sgi_experiment_count; e++)
        sgi_nearest_offer(&nearest, sgi_experiments[e]->name);
    if (nearest.best[0])
        fprintf(stderr, "did you mean '%s'?  ", nearest.best);
    fprintf(stderr, "experiments:");
    for (size_t e = 0; e < sgi_experiment_count; e++)
        fprintf(stderr, "%s %s", e ? "," : "", sgi_experiments[e]->name);
    fputc('\n', stderr);
    return false;
}

/* "poisson", "poisson/levenberg", or "levenberg" in every part that has it. */
static bool choose(reproduction *r, const char *text, size_t length)
{
    const sgi_experiment *e = r->experiment;
    const char *slash = memchr(text, '/', length);
    size_t first = slash ? (size_t)(slash - text) : length;
    bool any = false, is_part = false;
    for (size_t p = 0; p < e->part_count && !is_part; p++) {
        is_part = is_word(e->parts[p].name, text, first);
        if (is_part)
            any = choose_arms(r, p, slash ? slash + 1 : NULL, length - first - (slash != NULL));
    }
    for (size_t p = 0; p < e->part_count && !is_part && !slash; p++)
        any |= choose_arms(r, p, text, length);
    return any;
}

/* What --only could have named; the arms of the first part stand for those of all. */
static void tell_choices(const sgi_experiment *e)
{
    if (e->part_count == 0)
        return;
    fprintf(stderr, "parts:");
    for (size_t p = 0; p < e->part_count; p++)
        fprintf(stderr, "%s %s", p ? "," : "", e->parts[p].name);
    fprintf(stderr, "\nruns%s:", e->part_count > 1 ? " of each" : "");
    for (size_t a = 0; a < e->parts[0].arm_count; a++)
        fprintf(stderr, "%s %s", a ? "," : "", e->parts[0].arms[a].name);
    fputc('\n', stderr);
}

static bool read_only(reproduction *r, const char *list)
{
    if (!list) {
        choose_all(r);
        return true;
    }
    for (const char *at = list;;) {
        size_t length = strcspn(at, ",");
        if (!choose(r, at, length)) {
            complain("%s has no part or run '%.*s'", r->experiment->name, (int)length, at);
            tell_choices(r->experiment);
            return false;
        }
        if (!at[length])
            return true;
        at += length + 1;
    }
}

static bool read_wishes(reproduction *r)
{
    const cli_arguments *a = r->arguments;
    int budget = sgi_find_budget(a->budget ? a->budget : "quick");
    r->seeds = a->seeds;
    if (!find_experiment(r, a->operands[0]) || !read_only(r, a->only))
        return false;
    if (budget < 0) {
        complain("--budget takes quick, hours or full, not '%s'", a->budget);
        return false;
    }
    if (r->seeds < 1 || r->seeds > MOST_REPRODUCED_SEEDS) {
        complain("--seeds takes a number from 1 to %d", MOST_REPRODUCED_SEEDS);
        return false;
    }
    r->budget = (sgi_budget)budget;
    return true;
}

/* ---- The folder ---------------------------------------------------------------------------- */

static json_t *list_sets(const cli_arguments *arguments)
{
    json_t *sets = json_array();
    for (size_t i = 0; i < arguments->set_count; i++)
        json_array_append_new(sets, json_string(arguments->sets[i]));
    return sets;
}

static json_t *new_index(const reproduction *r)
{
    json_t *index = json_object();
    json_object_set_new(index, "format", json_integer(1));
    json_object_set_new(index, "experiment", json_string(r->experiment->name));
    json_object_set_new(index, "budget", json_string(sgi_budget_name(r->budget)));
    json_object_set_new(index, "seeds", json_integer(r->seeds));
    json_object_set_new(index, "sets", list_sets(r->arguments));
    sgi_json_text(index, "command", command_text());
    return index;
}

/* Whether the folder's index is of the same experiment; more seeds are no difference. */
static bool goes_on(reproduction *r)
{
    json_t *wanted = new_index(r);
    static const char *const keys[] = {"experiment", "budget", "sets"};
    const char *differs = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !differs; i++)
        if (!json_equal(json_object_get(r->index, keys[i]), json_object_get(wanted, keys[i])))
            differs = keys[i];
    json_int_t seeds = json_integer_value(json_object_get(r->index, "seeds"));
    if (differs) {
        complain("%s was begun with another %s; --out names another folder", r->folder,
                 strcmp(differs, "sets") == 0 ? "--set" : differs);
    } else if (seeds > r->seeds && seeds <= MOST_REPRODUCED_SEEDS) {
        r->seeds = seeds;
    } else {
        json_decref(r->index);
        r->index = wanted;
        return true;
    }
    json_decref(wanted);
    return !differs;
}

/* Whether nothing lies in the folder but parts of the experiment, which may be comparisons that
 * were made before. */
static bool holds_parts(const reproduction *r)
{
    struct dirent **entries;
    int count = scandir(r->folder, &entries, NULL, NULL), others = 0;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        bool known =
            strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, SG_LOCK_FILE) == 0;
        for (size_t p = 0; p < r->experiment->part_count; p++)
            known = known || strcmp(name, r->experiment->parts[p].name) == 0;
        others += !known;
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count > 2 && others == 0;
}

/* The folder, made or found again, with this process's lock. */
static int take_folder(reproduction *r, sgi_run_lock *lock)
{
    sg_diagnostic diagnostic = {0};
    const cli_arguments *a = r->arguments;
    int code = EXIT_DONE;
    if (a->out && !copy_path(r->folder, a->out))
        return EXIT_BAD_INPUT;
    if (!a->out)
        snprintf(r->folder, sizeof r->folder, "runs/reproduce-%s-%s", r->experiment->name,
                 sgi_budget_name(r->budget));
    snprintf(r->go_on, sizeof r->go_on, "reproduce %s --budget %s --out %s%s%s",
             r->experiment->name, sgi_budget_name(r->budget), r->folder, a->only ? " --only " : "",
             a->only ? a->only : "");
    for (size_t i = 0; i < a->set_count; i++) { /* what does not fit is left to the user */
        size_t used = strlen(r->go_on);
        snprintf(r->go_on + used, sizeof r->go_on - used, " --set '%s'", a->sets[i]);
    }
    r->index = read_json(r->folder, SG_REPRODUCE_FILE);
    if (a->resume && !r->index) {
        complain("%s is not the folder of a reproduction: it has no %s", r->folder,
                 SG_REPRODUCE_FILE);
        return EXIT_BAD_INPUT;
    }
    if (r->index && !goes_on(r))
        return EXIT_BAD_INPUT;
    if (r->index || holds_parts(r)) {
        r->index = r->index ? r->index : new_index(r);
        (void)lock_folder(lock, r->folder, &code);
        return code;
    }
    r->index = new_index(r);
    sg_status status = sgi_run_claim(lock, r->folder, NULL, &diagnostic);
    if (status != SG_OK)
        tell(&diagnostic);
    return exit_code_of(status);
}

static sg_status save_index(const reproduction *r, json_t *tables, sg_diagnostic *diagnostic)
{
    json_t *index = json_copy(r->index);
    if (tables)
        json_object_set(index, "tables", tables);
    return sgi_json_write(r->folder, SG_REPRODUCE_FILE, index, diagnostic);
}

json_t *write_tables(const reproduction *r)
{
    sg_diagnostic diagnostic = {0};
    sgi_results results;
    sgi_tables tables;
    sgi_tables_begin(&tables);
    sg_status status =
        sgi_results_read(&results, r->experiment, r->budget, r->folder, NULL, &diagnostic);
    if (status == SG_OK) {
        sgi_reproduction_tables(&results, r->index, &tables);
        if (tables.failed)
            status = sgi_fail(&diagnostic, SG_ERROR_MEMORY, "out of memory");
    }
    if (status == SG_OK)
        status = save_index(r, tables.list, &diagnostic);
    if (status == SG_OK)
        status = sgi_reproduction_report(&results, r->index, tables.list, &diagnostic);
    sgi_results_release(&results);
    json_t *list = status == SG_OK ? json_incref(tables.list) : NULL;
    if (status != SG_OK)
        tell(&diagnostic);
    sgi_tables_release(&tables);
    return list;
}

/* ---- As a whole ---------------------------------------------------------------------------- */

static void tell_plan(const reproduction *r)
{
    if (r->arguments->quiet || r->arguments->json)
        return;
    printf("%s  %s (%s)\n", r->experiment->name, r->experiment->summary, r->experiment->source);
    for (size_t p = 0; p < r->experiment->part_count; p++) {
        const sgi_experiment_part *part = &r->experiment->parts[p];
        const char *note = part->budgets[r->budget].note;
        size_t runs = chosen_arms(r, p) * (size_t)r->seeds;
        if (runs)
            printf("  %-12s %zu run%s, %s\n", part->name, runs, runs == 1 ? "" : "s",
                   note ? note : "nothing reduced");
    }
    for (size_t i = 0; i < r->arguments->set_count; i++)
        printf("  with %s\n", r->arguments->sets[i]);
    char time[32] = "not known";
    double seconds = expected_seconds(r);
    if (isfinite(seconds))
        format_estimate(seconds, time, sizeof time);
    printf("expected time %s, for what is not complete, in %s\n", time, r->folder);
    fflush(stdout);
}

/* A mistake in --set, or a file that this build has not, is found before anything is made. */
static int try_files(const reproduction *r)
{
    int code = EXIT_DONE;
    work w;
    for (size_t p = 0; p < r->experiment->part_count && code == EXIT_DONE; p++)
        for (size_t a = 0; a < r->experiment->parts[p].arm_count; a++) {
            if (!r->chosen[p][a])
                continue;
            if (!open_arm(r, p, a, 0, NULL, &w, &code))
                return code;
            close_work(&w);
        }
    return code;
}

static int tell_results(const reproduction *r, int code)
{
    json_t *tables = write_tables(r);
    if (!tables)
        return code == EXIT_DONE ? EXIT_RUN_FAILED : code;
    if (r->arguments->json) {
        json_t *object = json_copy(r->index);
        json_object_set_new(object, "event", json_string("tables"));
        json_object_set(object, "tables", tables);
        print_line(object, 9);
    } else if (!r->arguments->quiet) {
        for (size_t t = 0; t < json_array_size(tables); t++)
            print_table(json_array_get(tables, t));
        printf("\nreport  %s/report.html\n", r->folder);
    }
    json_decref(tables);
    return code;
}

static int reproduce(reproduction *r)
{
    sgi_run_lock lock = {0};
    sg_diagnostic diagnostic = {0};
    int code = read_wishes(r) ? try_files(r) : EXIT_BAD_INPUT;
    if (code == EXIT_DONE)
        code = take_folder(r, &lock);
    if (code == EXIT_DONE &&
        save_index(r, json_object_get(r->index, "tables"), &diagnostic) != SG_OK) {
        tell(&diagnostic);
        code = EXIT_RUN_FAILED;
    }
    if (code == EXIT_DONE) {
        tell_plan(r);
        if (r->experiment->measure &&
            r->experiment->measure(r->folder, r->budget, &diagnostic) != SG_OK) {
            tell(&diagnostic);
            code = EXIT_RUN_FAILED;
        }
        int trained = train_parts(r);
        code = tell_results(r, trained > code ? trained : code);
    }
    sgi_run_lock_release(&lock);
    return code;
}

int report_reproduction(const char *folder, bool quiet)
{
    static const cli_arguments none;
    reproduction r = {.arguments = &none, .seeds = 1};
    if (!copy_path(r.folder, folder))
        return EXIT_BAD_INPUT;
    r.index = read_json(folder, SG_REPRODUCE_FILE);
    const char *name = json_string_value(json_object_get(r.index, "experiment"));
    const char *budget = json_string_value(json_object_get(r.index, "budget"));
    r.experiment = name ? sgi_find_experiment(name) : NULL;
    int code = EXIT_BAD_INPUT, found = budget ? sgi_find_budget(budget) : -1;
    if (r.experiment && found >= 0) {
        r.budget = (sgi_budget)found;
        json_t *tables = write_tables(&r);
        code = tables ? EXIT_DONE : EXIT_RUN_FAILED;
        for (size_t t = 0; !quiet && t < json_array_size(tables); t++)
            print_table(json_array_get(tables, t));
        if (tables && !quiet)
            printf("\nreport  %s/report.html\n", folder);
        json_decref(tables);
    } else {
        complain("%s/%s is not the index of a reproduction", folder, SG_REPRODUCE_FILE);
    }
    json_decref(r.index);
    return code;
}

int run_reproduce(const cli_arguments *arguments)
{
    reproduction r = {.arguments = arguments};
    if (!read_isa(arguments, &r.isa))
        return EXIT_BAD_INPUT;
    r.pool = open_pool(arguments);
    if (!r.pool)
        return EXIT_RUN_FAILED;
    watch_signals();
    bool list = arguments->operand_count == 0 || strcmp(arguments->operands[0], "list") == 0;
    int code = list ? list_experiments(arguments, r.pool) : reproduce(&r);
    json_decref(r.index);
    sg_pool_destroy(r.pool);
    return code;
}
