/* stablegrad list: the shipped problems, and the runs in ./runs. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
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
        json_dumpf(object, stdout, JSON_COMPACT);
        fputc('\n', stdout);
        json_decref(object);
    } else {
        printf("  %-24s %s\n", name, title);
    }
    close_work(&w);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* One line for a run or a comparison. */
static void tell_run(const char *entry, bool json)
{
    char folder[SG_PATH_SIZE], path[SG_PATH_SIZE];
    if (sgi_run_path(folder, "runs", entry) != SG_OK)
        return;
    json_t *record = NULL, *index = NULL;
    if (sgi_run_path(path, folder, "run.json") == SG_OK)
        record = json_load_file(path, 0, NULL);
    if (sgi_run_path(path, folder, "compare.json") == SG_OK)
        index = json_load_file(path, 0, NULL);
    const char *state = record ? state_of(record) : "comparison";
    if ((record || index) && json) {
        json_t *object = json_object();
        json_object_set_new(object, "run", json_string(folder));
        json_object_set_new(object, "status", json_string(state));
        json_dumpf(object, stdout, JSON_COMPACT);
        fputc('\n', stdout);
        json_decref(object);
    } else if (record) {
        printf("  %-20s %-11s %" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT "  %s\n", folder,
               state, json_integer_value(json_object_get(record, "steps_done")),
               json_integer_value(json_object_get(record, "steps")), text_of(record, "label"));
    } else if (index) {
        printf("  %-20s %-11s of %zu variants\n", folder, state,
               json_array_size(json_object_get(index, "variants")));
    }
    json_decref(record);
    json_decref(index);
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
