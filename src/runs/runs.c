/* Run folders: see runs.h. */
#include "runs/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"
#include "files/seal.h"

enum {
    JSON_LIMIT = 16 << 20,
    PROBLEM_LIMIT = 1 << 20,
    METRICS_LIMIT = 1 << 30,
    FIELD_LIMIT = 1 << 30,
    POINTS_LIMIT = 1 << 26,
    VARIANTS_MOST = 64,
    RUNS_MOST = 1024
};

typedef struct source {
    const sg_allocator *allocator;
    sg_diagnostic *diagnostic;
} source;

static sg_status no_memory(const source *s)
{
    return sgi_fail(s->diagnostic, SG_ERROR_MEMORY, "out of memory");
}

/* Refuses folder/name, at the place of `error` if there is one. */
__attribute__((format(printf, 5, 6))) static sg_status bad_file(const source *s, const char *folder,
                                                                const char *name,
                                                                const json_error_t *error,
                                                                const char *format, ...)
{
    sg_diagnostic *d = s->diagnostic;
    char *path = d ? sgi_path_join(s->allocator, folder, name) : NULL;
    if (!path)
        return SG_ERROR_FORMAT;
    va_list arguments;
    va_start(arguments, format);
    sgi_diagnostic_file(d, path);
    vsnprintf(d->message, sizeof d->message, format, arguments);
    va_end(arguments);
    if (error) {
        d->line = error->line;
        d->column = error->column;
    }
    sgi_release(s->allocator, path);
    return SG_ERROR_FORMAT;
}

/* Reads folder/name. A file that is not there gives SG_OK and *text NULL when it is optional. */
static sg_status read_text(const source *s, const char *folder, const char *name, size_t limit,
                           bool optional, char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    char *path = sgi_path_join(s->allocator, folder, name);
    if (!path)
        return no_memory(s);
    sg_status status = SG_OK;
    if (!optional || sgi_file_exists(path))
        status = sgi_file_read(path, limit, s->allocator, text, size, s->diagnostic);
    sgi_release(s->allocator, path);
    return status;
}

static sg_status read_json(const source *s, const char *folder, const char *name, json_t **out)
{
    char *text;
    size_t size;
    sg_status status = read_text(s, folder, name, JSON_LIMIT, false, &text, &size);
    if (status != SG_OK)
        return status;
    json_error_t error;
    *out = json_loadb(text, size, 0, &error);
    sgi_release(s->allocator, text);
    if (!*out)
        return bad_file(s, folder, name, &error, "%s", error.text);
    if (!json_is_object(*out))
        return bad_file(s, folder, name, NULL, "not a JSON object");
    return SG_OK;
}

/* One line; SG_OK also when it is no use, which is counted. */
static sg_status read_line(sgi_run *run, const char *line, size_t length)
{
    json_t *object = json_loadb(line, length, 0, NULL);
    sg_status status = SG_ERROR_FORMAT;
    if (json_is_object(object))
        status = sgi_columns_add(json_object_get(object, "validation")  ? &run->evaluation
                                 : json_object_get(object, "diagnosis") ? &run->diagnosis
                                                                        : &run->training,
                                 object);
    json_decref(object);
    if (status == SG_ERROR_FORMAT) {
        run->unread++;
        return SG_OK;
    }
    return status;
}

/* Whether a file differs from what run.json says of it. */
static bool is_changed(const sgi_run *run, const char *name, const char *text, size_t size)
{
    const json_t *seal = json_object_get(json_object_get(run->info, "seals"), name);
    bool whole = strcmp(sgi_run_text(run, NULL, "status"), "complete") == 0;
    return sgi_seal_is_broken(seal, text, size, whole);
}

static sg_status read_metrics(const source *s, const char *folder, sgi_run *run)
{
    char *text;
    size_t size;
    sg_status status = read_text(s, folder, "metrics.jsonl", METRICS_LIMIT, true, &text, &size);
    if (status != SG_OK || !text)
        return status;
    run->metrics_changed = is_changed(run, "metrics.jsonl", text, size);
    const char *end = text + size;
    for (const char *at = text; at < end && status == SG_OK;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        if (length)
            status = read_line(run, at, length);
        at += length + 1;
    }
    sgi_release(s->allocator, text);
    return status == SG_ERROR_MEMORY ? no_memory(s) : status;
}

/* A damaged field file is a note in the report, not a failure; running out of memory is one. */
static sg_status read_field(const source *s, const char *folder, sgi_run *run)
{
    char *path = sgi_path_join(s->allocator, folder, "field.npz");
    if (!path)
        return no_memory(s);
    sg_diagnostic why = {.message = "there is no field.npz"};
    char line[512];
    sg_status status = SG_ERROR_IO;
    if (sgi_file_exists(path))
        status = sgi_npz_read(path, FIELD_LIMIT, s->allocator, &run->field, &why);
    sgi_release(s->allocator, path);
    if (status == SG_OK)
        return SG_OK;
    sgi_diagnostic_line(&why, line, sizeof line);
    if (status != SG_ERROR_MEMORY)
        run->field_note = sgi_copy_text(s->allocator, line);
    return run->field_note ? SG_OK : no_memory(s);
}

/* What points.npz and data.npz would show is left out when there are none. */
static sg_status read_optional(const source *s, const char *folder, const char *name,
                               sgi_arrays *out)
{
    char *path = sgi_path_join(s->allocator, folder, name);
    if (!path)
        return no_memory(s);
    sg_diagnostic why = {0};
    sg_status status = SG_OK;
    if (sgi_file_exists(path))
        status = sgi_npz_read(path, POINTS_LIMIT, s->allocator, out, &why);
    sgi_release(s->allocator, path);
    return status == SG_ERROR_MEMORY ? no_memory(s) : SG_OK;
}

static void release_run(const sg_allocator *allocator, sgi_run *run)
{
    sgi_release(allocator, run->folder);
    json_decref(run->info);
    sgi_columns_release(&run->training);
    sgi_columns_release(&run->evaluation);
    sgi_columns_release(&run->diagnosis);
    sgi_arrays_release(&run->field);
    sgi_arrays_release(&run->points);
    sgi_arrays_release(&run->data);
    sgi_release(allocator, run->field_note);
    sgi_release(allocator, run->problem);
    *run = (sgi_run){0};
}

static sg_status read_run(const source *s, const char *folder, const char *name, bool fields,
                          sgi_run *run)
{
    sgi_columns_begin(&run->training, s->allocator);
    sgi_columns_begin(&run->evaluation, s->allocator);
    sgi_columns_begin(&run->diagnosis, s->allocator);
    run->field.allocator = *s->allocator;
    run->points.allocator = *s->allocator;
    run->data.allocator = *s->allocator;
    run->folder = sgi_copy_text(s->allocator, name);
    if (!run->folder)
        return no_memory(s);
    sg_status status = read_json(s, folder, "run.json", &run->info);
    if (status == SG_OK)
        status = read_metrics(s, folder, run);
    if (status == SG_OK && fields)
        status = read_field(s, folder, run);
    if (status == SG_OK && fields)
        status = read_optional(s, folder, "points.npz", &run->points);
    if (status == SG_OK && fields)
        status = read_optional(s, folder, "data.npz", &run->data);
    size_t size = 0;
    if (status == SG_OK && fields)
        status = read_text(s, folder, "problem.yaml", PROBLEM_LIMIT, true, &run->problem, &size);
    run->record_changed = run->info && sgi_seal_was_opened(run->info);
    run->problem_changed = run->problem && is_changed(run, "problem.yaml", run->problem, size);
    return status;
}

static const char *text_or(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && text[0] ? text : otherwise;
}

static sg_status read_single(const source *s, const char *folder, bool fields, sgi_runs *out)
{
    out->runs = sgi_allocate(s->allocator, 1, sizeof *out->runs);
    out->variants = sgi_allocate(s->allocator, 1, sizeof *out->variants);
    if (!out->runs || !out->variants)
        return no_memory(s);
    out->run_count = out->variant_count = 1;
    sg_status status = read_run(s, folder, "", fields, &out->runs[0]);
    if (status != SG_OK)
        return status;
    const json_t *info = out->runs[0].info;
    sgi_variant *variant = &out->variants[0];
    variant->count = 1;
    variant->name = sgi_copy_text(s->allocator, text_or(info, "variant", "run"));
    variant->label = sgi_copy_text(s->allocator, text_or(info, "label", "This run"));
    out->name = sgi_copy_text(s->allocator, text_or(info, "name", "run"));
    return variant->name && variant->label && out->name ? SG_OK : no_memory(s);
}

static sg_status note_missing(const source *s, sgi_runs *out, const char *name)
{
    const char *before = out->missing ? out->missing : "";
    size_t size = strlen(before) + strlen(name) + 3;
    char *names = sgi_allocate(s->allocator, size, 1);
    if (!names)
        return no_memory(s);
    (void)snprintf(names, size, "%s%s%s", before, before[0] ? ", " : "", name);
    sgi_release(s->allocator, out->missing);
    out->missing = names;
    return SG_OK;
}

/* A run of a comparison; only a folder directly inside it is accepted. Fields are read of the first
 * run of each variant alone: the others are not drawn. */
static sg_status read_member(const source *s, const char *folder, const char *name, bool fields,
                             sgi_runs *out, sgi_variant *variant)
{
    if (!name || !name[0] || name[0] == '.' || strchr(name, '/'))
        return bad_file(s, folder, "compare.json", NULL, "'%s' is not the name of a run inside it",
                        name ? name : "");
    char *path = sgi_path_join(s->allocator, folder, name);
    char *info = path ? sgi_path_join(s->allocator, path, "run.json") : NULL;
    sg_status status = info ? SG_OK : no_memory(s);
    if (status == SG_OK && !sgi_file_exists(info)) {
        status = note_missing(s, out, name);
    } else if (status == SG_OK) {
        sgi_run *run = &out->runs[out->run_count++];
        status = read_run(s, path, name, fields && variant->count == 0, run);
        variant->count++;
    }
    sgi_release(s->allocator, info);
    sgi_release(s->allocator, path);
    return status;
}

static sg_status read_variant(const source *s, const char *folder, const json_t *entry, bool fields,
                              sgi_runs *out)
{
    sgi_variant *variant = &out->variants[out->variant_count++];
    const json_t *runs = json_object_get(entry, "runs");
    variant->first = out->run_count;
    variant->name = sgi_copy_text(s->allocator, text_or(entry, "name", "?"));
    variant->label =
        sgi_copy_text(s->allocator, text_or(entry, "label", text_or(entry, "name", "?")));
    if (!variant->name || !variant->label)
        return no_memory(s);
    sg_status status = SG_OK;
    for (size_t i = 0; i < json_array_size(runs) && status == SG_OK; i++)
        status = read_member(s, folder, json_string_value(json_array_get(runs, i)), fields, out,
                             variant);
    return status;
}

static sg_status read_comparison(const source *s, const char *folder, const json_t *list,
                                 bool fields, sgi_runs *out)
{
    const json_t *variants = json_object_get(list, "variants");
    size_t count = json_array_size(variants), runs = 0;
    for (size_t v = 0; v < count; v++)
        runs += json_array_size(json_object_get(json_array_get(variants, v), "runs"));
    if (count == 0 || count > VARIANTS_MOST || runs > RUNS_MOST)
        return bad_file(s, folder, "compare.json", NULL, "lists no variants, or too many");
    out->comparison = true;
    out->name = sgi_copy_text(s->allocator, text_or(list, "name", "comparison"));
    out->variants = sgi_allocate(s->allocator, count, sizeof *out->variants);
    out->runs = sgi_allocate(s->allocator, runs, sizeof *out->runs);
    if (!out->name || !out->variants || !out->runs)
        return no_memory(s);
    sg_status status = SG_OK;
    for (size_t v = 0; v < count && status == SG_OK; v++)
        status = read_variant(s, folder, json_array_get(variants, v), fields, out);
    if (status == SG_OK && out->run_count == 0)
        status = sgi_fail_file(s->diagnostic, SG_ERROR_IO, folder,
                               "none of the runs in compare.json is there");
    return status;
}

sg_status sgi_runs_read(sgi_runs *out, const char *folder, bool fields,
                        const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    *out = (sgi_runs){.allocator = sgi_allocator_or_heap(allocator)};
    source s = {&out->allocator, diagnostic};
    char *path = sgi_path_join(&out->allocator, folder, "compare.json");
    if (!path)
        return no_memory(&s);
    bool comparison = sgi_file_exists(path);
    sgi_release(&out->allocator, path);
    sg_status status;
    if (comparison) {
        json_t *list = NULL;
        status = read_json(&s, folder, "compare.json", &list);
        if (status == SG_OK)
            status = read_comparison(&s, folder, list, fields, out);
        json_decref(list);
    } else {
        status = read_single(&s, folder, fields, out);
    }
    if (status != SG_OK)
        sgi_runs_release(out);
    return status;
}

void sgi_runs_release(sgi_runs *runs)
{
    for (size_t r = 0; r < runs->run_count; r++)
        release_run(&runs->allocator, &runs->runs[r]);
    for (size_t v = 0; v < runs->variant_count; v++) {
        sgi_release(&runs->allocator, runs->variants[v].name);
        sgi_release(&runs->allocator, runs->variants[v].label);
    }
    sgi_release(&runs->allocator, runs->runs);
    sgi_release(&runs->allocator, runs->variants);
    sgi_release(&runs->allocator, runs->name);
    sgi_release(&runs->allocator, runs->missing);
    *runs = (sgi_runs){.allocator = runs->allocator};
}

static const json_t *member(const sgi_run *run, const char *group, const char *key)
{
    const json_t *object = group ? json_object_get(run->info, group) : run->info;
    return json_object_get(object, key);
}

const char *sgi_run_text(const sgi_run *run, const char *group, const char *key)
{
    const char *text = json_string_value(member(run, group, key));
    return text ? text : "";
}

double sgi_run_number(const sgi_run *run, const char *group, const char *key)
{
    const json_t *value = member(run, group, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *sgi_run_item(const sgi_run *run, const char *key, size_t i)
{
    const json_t *item = json_array_get(member(run, NULL, key), i);
    return json_string_value(json_is_object(item) ? json_object_get(item, "name") : item);
}
