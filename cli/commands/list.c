/* stablegrad list: the shipped problems, and the runs in ./runs. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "files/seal.h"
#include "printable.h"
#include "report/report.h"
#include "run_state.h"
#include "train/metrics.h"
#include "work.h"

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* One line for a problem: its name and title, or that it cannot be read. */
static void tell_problem(const char *folder, const char *file, bool json)
{
    char path[SG_PATH_SIZE], name[256];
    work w;
    const char *dot = strrchr(file, '.');
    if (!dot || strcmp(dot, ".yaml") != 0 || sgi_run_path(path, folder, file) != SG_OK)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(dot - file), file);
    sg_diagnostic diagnostic;
    if (load_work(&w, path, NULL, 0, &diagnostic) != SG_OK) /* or not by this build */
        return;
    const char *title = w.kind->title(w.file) ? w.kind->title(w.file) : "";
    if (json) {
        json_t *object = json_object();
        json_object_set_new(object, "problem", json_string(name));
        json_object_set_new(object, "title", json_string(title));
        json_object_set_new(object, "path", json_string(path));
        print_line(object, 0);
    } else {
        char shown[2][256];
        printf("  %-24s %s\n", printable(name, shown[0], sizeof shown[0]),
               printable(title, shown[1], sizeof shown[1]));
    }
    close_work(&w);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* "loss 1.2e-03": a number of a run. */
typedef struct shown {
    const char *title, *key;
    size_t offset; /* of the statistic in sgi_report_variant */
    bool share;
} shown;

static const shown numbers[] = {
    {"loss", "validation_loss", offsetof(sgi_report_variant, validation), false},
    {"error", "relative_l2", offsetof(sgi_report_variant, relative_l2), false},
    {"top-1", "top1", offsetof(sgi_report_variant, top1), true},
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static void print_numbers(const sgi_report_variant *of)
{
    for (size_t i = 0; i < NUMBERS; i++) {
        const sgi_statistic *s = sgi_report_value(of, numbers[i].offset);
        if (s->count > 0)
            printf(numbers[i].share ? "  %s %.2f %%" : "  %s %.1e", numbers[i].title,
                   numbers[i].share ? 100 * s->mean : s->mean);
    }
}

static json_t *json_numbers(const sgi_report_variant *of)
{
    json_t *object = json_object();
    for (size_t i = 0; i < NUMBERS; i++)
        if (sgi_report_value(of, numbers[i].offset)->count > 0)
            json_object_set_new(object, numbers[i].key,
                                sgi_json_number(sgi_report_value(of, numbers[i].offset)->mean));
    return object;
}

/* The numbers of a run, or of each variant of a comparison. */
static void print_json_run(const char *folder, const char *state, bool comparison,
                           const sgi_report_summary *summary)
{
    json_t *object = json_object();
    json_object_set_new(object, "run", json_string(folder));
    json_object_set_new(object, "status", json_string(state));
    for (size_t v = 0; v < summary->count; v++) {
        json_t *values = json_numbers(&summary->variants[v]);
        if (comparison)
            json_object_set(object, summary->variants[v].name, values);
        else
            json_object_update(object, values);
        json_decref(values);
    }
    print_line(object, 9);
}

static void print_run(const char *folder, const json_t *record, const sgi_report_summary *summary)
{
    char text[SG_PATH_SIZE], state[64];
    printf("  %-20s %-11s %" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
           printable(folder, text, sizeof text),
           printable(state_of(folder, record), state, sizeof state),
           json_integer_value(json_object_get(record, "steps_done")),
           json_integer_value(json_object_get(record, "steps")));
    if (summary->count > 0)
        print_numbers(&summary->variants[0]);
    printf("  %s\n", printable(text_of(record, "label"), text, sizeof text));
}

static void print_comparison_line(const char *folder, const sgi_report_summary *summary)
{
    char text[SG_PATH_SIZE];
    printf("  %-20s comparison\n", printable(folder, text, sizeof text));
    for (size_t v = 0; v < summary->count; v++) {
        printf("    %-18s %-11s", printable(summary->variants[v].name, text, sizeof text),
               summary->variants[v].runs == 0 ? "not begun" : "");
        print_numbers(&summary->variants[v]);
        printf("\n");
    }
}

/* "table1, full": what reproduce.json says. */
static void tell_reproduction(const char *folder, bool json)
{
    char texts[3][SG_PATH_SIZE];
    json_t *index = read_json(folder, "reproduce.json");
    if (json) {
        json_t *object = json_object();
        json_object_set_new(object, "run", json_string(folder));
        json_object_set_new(object, "status", json_string("reproduction"));
        json_object_set(object, "experiment", json_object_get(index, "experiment"));
        json_object_set(object, "budget", json_object_get(index, "budget"));
        print_line(object, 9);
    } else {
        printf("  %-20s reproduction of %s, %s\n", printable(folder, texts[0], sizeof texts[0]),
               printable(text_of(index, "experiment"), texts[1], sizeof texts[1]),
               printable(text_of(index, "budget"), texts[2], sizeof texts[2]));
    }
    json_decref(index);
}

/* A run or a comparison; what else lies there is passed over. */
static void tell_run(const char *entry, bool json)
{
    char folder[SG_PATH_SIZE];
    sgi_report_summary summary = {0};
    if (sgi_run_path(folder, "runs", entry) != SG_OK)
        return;
    if (is_a_reproduction(folder)) {
        tell_reproduction(folder, json);
        return;
    }
    bool comparison = is_a_comparison(folder);
    json_t *record = comparison ? NULL : read_record(folder);
    if (!comparison && !record && is_a_run(folder))
        warn("%s/run.json cannot be read", folder);
    if (!comparison && !record)
        return;
    if (record && sgi_seal_was_opened(record))
        warn("%s/run.json was changed after the run wrote it", folder);
    if (sgi_report_summarise(&summary, folder, NULL, NULL) != SG_OK)
        summary.count = 0; /* the run is listed without numbers */
    if (json)
        print_json_run(folder, record ? state_of(folder, record) : "comparison", comparison,
                       &summary);
    else if (comparison)
        print_comparison_line(folder, &summary);
    else
        print_run(folder, record, &summary);
    sgi_report_summary_release(&summary);
    json_decref(record);
}

int run_list(const cli_arguments *arguments)
{
    char folder[SG_PATH_SIZE];
    struct dirent **entries;
    int count;
    if (problem_folder(folder) && (count = scandir(folder, &entries, not_hidden, alphasort)) > 0) {
        if (!arguments->json)
            printf("problems  stablegrad train NAME\n");
        for (int i = 0; i < count; i++) {
            tell_problem(folder, entries[i]->d_name, arguments->json);
            free(entries[i]);
        }
        free(entries);
    }
    if ((count = scandir("runs", &entries, not_hidden, alphasort)) > 0) {
        if (!arguments->json)
            printf("runs\n");
        for (int i = 0; i < count; i++) {
            tell_run(entries[i]->d_name, arguments->json);
            free(entries[i]);
        }
        free(entries);
    }
    return EXIT_DONE;
}
