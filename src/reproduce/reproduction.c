/* What was reduced, what is missing, and the experiment's own tables: see reproduction.h. */
#include "reproduce/reproduction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const sgi_experiment *sgi_find_experiment(const char *name)
{
    for (size_t e = 0; e < sgi_experiment_count; e++)
        if (strcmp(sgi_experiments[e]->name, name) == 0)
            return sgi_experiments[e];
    return NULL;
}

int sgi_find_budget(const char *name)
{
    for (int b = 0; b < SG_BUDGETS; b++)
        if (strcmp(sgi_budget_name((sgi_budget)b), name) == 0)
            return b;
    return -1;
}

/* Whether a part before p has the same note. */
static bool is_repeated(const sgi_results *results, size_t p)
{
    const char *note = results->parts[p].part->budgets[results->budget].note;
    for (size_t i = 0; i < p; i++) {
        const char *before = results->parts[i].part->budgets[results->budget].note;
        if (results->parts[i].there && before && strcmp(before, note) == 0)
            return true;
    }
    return false;
}

void sgi_reproduction_head(const sgi_results *results, const json_t *index, sgi_text *out)
{
    const json_t *sets = json_object_get(index, "sets");
    bool any = false;
    sgi_text_add(out, sgi_budget_name(results->budget));
    for (size_t p = 0; p < results->experiment->part_count; p++) {
        const char *note = results->parts[p].part->budgets[results->budget].note;
        if (!results->parts[p].there || !note || is_repeated(results, p))
            continue;
        sgi_text_format(out, "%s%s", any ? "; " : ": ", note);
        any = true;
    }
    if (!any && json_array_size(sets) == 0)
        sgi_text_add(out, ": nothing is reduced");
    for (size_t i = 0; i < json_array_size(sets); i++) {
        const char *set = json_string_value(json_array_get(sets, i));
        sgi_text_format(out, "%s%s", i > 0 ? ", " : "; with ", set ? set : "");
    }
}

/* How far the runs of a part have come, and the seconds they took. */
typedef struct tally {
    size_t begun, complete, failed;
    double seconds;
} tally;

static tally count_runs(const sgi_part_result *part)
{
    tally t = {0};
    for (size_t r = 0; part->there && r < part->runs.run_count; r++) {
        const sgi_run *run = &part->runs.runs[r];
        t.begun++;
        t.failed += strcmp(sgi_run_text(run, NULL, "status"), "failed") == 0;
        t.complete += sgi_run_number(run, NULL, "steps_done") >= sgi_run_number(run, NULL, "steps");
        t.seconds += fmax(sgi_run_number(run, NULL, "seconds"), 0);
    }
    return t;
}

/* "adamw (at step 300 of 1,000)": arms that are not done, as a sentence under the table. */
static void note_unfinished(const sgi_part_result *part, sgi_tables *tables)
{
    char text[400];
    size_t used = 0;
    for (size_t a = 0; a < part->part->arm_count && used < sizeof text; a++) {
        const sgi_run *run = sgi_arm_run(part, part->part->arms[a].name);
        if (!run || sgi_arm_complete(part, part->part->arms[a].name))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (at step %.0f of %.0f)",
                                 used ? ", " : "", part->part->arms[a].name,
                                 sgi_run_number(run, NULL, "steps_done"),
                                 sgi_run_number(run, NULL, "steps"));
    }
    if (used > 0)
        sgi_table_note(tables, "Not complete in %s: %s.", part->part->name, text);
}

static void run_table(const sgi_results *results, const json_t *index, sgi_tables *tables)
{
    static const char *const columns[] = {"part", "runs complete", "of all", "time", NULL};
    size_t seeds = (size_t)json_integer_value(json_object_get(index, "seeds"));
    char title[120];
    (void)snprintf(title, sizeof title, "What was run, with %zu seed%s", seeds,
                   seeds == 1 ? "" : "s");
    sgi_table_begin(tables, title, columns);
    for (size_t p = 0; p < results->experiment->part_count; p++) {
        const sgi_part_result *part = &results->parts[p];
        tally t = count_runs(part);
        sgi_table_row(tables);
        sgi_table_text(tables, part->part->name);
        sgi_table_format(tables, "%zu", t.complete);
        sgi_table_format(tables, "%zu", part->part->arm_count * seeds);
        sgi_table_format(tables, t.seconds < 100 ? "%.0f s" : "%.0f min",
                         t.seconds < 100 ? t.seconds : t.seconds / 60);
        if (t.failed)
            sgi_table_note(tables, "In %s %zu runs have failed numerically.", part->part->name,
                           t.failed);
    }
    for (size_t p = 0; p < results->experiment->part_count; p++)
        if (results->parts[p].there)
            note_unfinished(&results->parts[p], tables);
}

void sgi_reproduction_tables(const sgi_results *results, const json_t *index, sgi_tables *tables)
{
    sgi_text head;
    sgi_text_begin(&head, &results->allocator);
    sgi_reproduction_head(results, index, &head);
    if (results->experiment->part_count > 0)
        run_table(results, index, tables);
    results->experiment->tabulate(results, tables);
    if (head.status == SG_OK)
        sgi_tables_head(tables, head.data);
    tables->failed |= head.status != SG_OK;
    sgi_text_release(&head);
}
