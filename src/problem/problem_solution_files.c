/* Reference solutions from files: see solution_files.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/attach.h"
#include "problem/file_columns.h"
#include "problem/solution_files.h"

enum { UNIT_POINTS = 1024 };

static const char *const file_keys[] = {"file", "sum", "columns", "order", "at"};

/* ---- What a mapping says ----------------------------------------------------------------------
 */

/* A file while it is read. */
typedef struct reading {
    sgi_problem *problem;
    sgi_reader *reader;
    sgi_solution_file *file;
    sgi_file_columns columns;
    bool alone; /* the only file: it has all fields */
} reading;

static sg_status check_keys(sgi_reader *reader, const sgi_yaml *node)
{
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        sgi_nearest nearest;
        size_t i = 0, count = sizeof file_keys / sizeof *file_keys;
        sgi_nearest_begin(&nearest, key->text, key->length);
        while (i < count && strcmp(key->text, file_keys[i]) != 0)
            sgi_nearest_offer(&nearest, file_keys[i++]);
        if (i < count)
            continue;
        (void)sgi_refuse(reader, key, "it has file, columns, order and at",
                         "'%.60s' is not a key of a reference from a file", key->text);
        if (nearest.best[0])
            sgi_nearest_suggest(&nearest, reader->diagnostic);
        return SG_ERROR_FORMAT;
    }
    return SG_OK;
}

static sg_status read_at(reading *r, const sgi_yaml *node)
{
    if (!node || sgi_yaml_is(node, "points"))
        return SG_OK;
    if (!sgi_yaml_is(node, "grid"))
        return sgi_refuse(r->reader, node, NULL,
                          "errors are measured at the 'points' of the file or on the 'grid'");
    r->problem->solution.on_grid = true;
    return SG_OK;
}

/* ---- Which field is where ---------------------------------------------------------------------
 */

static void choose_columns(const reading *r, const sgi_arrays *arrays, bool named,
                           sgi_sample_columns *c)
{
    const sgi_names *names = &r->problem->names;
    sgi_file_columns_coordinates(r->problem, &r->columns, c);
    for (int f = 0; f < names->field_count; f++) {
        bool given = r->columns.given >> f & 1, none = r->columns.none >> f & 1;
        if (none || (!given && !r->alone && named && !sgi_file_has(arrays, names->fields[f])))
            continue;
        r->file->fields[c->quantity_count] = f;
        c->quantities[c->quantity_count++] =
            given ? r->columns.names[names->coordinate_count + f] : names->fields[f];
    }
}

static sg_status make_samples(reading *r, const sgi_attach *wanted, const char *data, size_t size)
{
    sgi_arrays arrays;
    sgi_sample_columns c = {0};
    sg_diagnostic said = {0};
    const sg_allocator *allocator = &r->problem->allocator;
    bool named;
    sg_status status =
        sgi_arrays_parse(data, size, r->file->file.file, (size_t)2 * SG_ATTACHMENT_BYTES, allocator,
                         &arrays, &named, &said);
    if (status == SG_OK) {
        choose_columns(r, &arrays, named, &c);
        status = sgi_samples_make(&r->file->samples, &arrays, named, &c, r->file->file.file,
                                  allocator, &said);
    }
    sgi_arrays_release(&arrays);
    if (status == SG_ERROR_FORMAT)
        return sgi_attach_refuse(wanted, r->reader, &said);
    return status == SG_OK
               ? sgi_interpolant_create(&r->file->interpolant, &r->file->samples, allocator)
               : status;
}

static sg_status read_file(reading *r, int index)
{
    char name[32], *data;
    size_t size;
    const sgi_yaml *node = r->file->node;
    if (node->kind != SG_YAML_MAPPING || !sgi_yaml_get(node, "file"))
        return sgi_refuse(r->reader, node, "as in  {file: solution.csv}",
                          "this must be a reference from a file");
    snprintf(name, sizeof name, index ? "reference-%d" : "reference", index + 1);
    sgi_attach wanted = {"a reference", name, SG_ARRAY_ENDINGS, sgi_yaml_get(node, "file"),
                         sgi_yaml_get(node, "sum")};
    sg_status status = check_keys(r->reader, node);
    if (status == SG_OK)
        status = sgi_file_columns_read(r->problem, r->reader, node, &r->columns);
    if (status == SG_OK)
        status = read_at(r, sgi_yaml_get(node, "at"));
    if (status != SG_OK)
        return status;
    status =
        sgi_attach_read(&wanted, r->reader, r->problem->root->source, &r->file->file, &data, &size);
    if (status == SG_OK)
        status = make_samples(r, &wanted, data, size);
    sgi_release(&r->reader->arena->allocator, data);
    return status;
}

/* ---- All files --------------------------------------------------------------------------------
 */

/* Every field must come from a file, or be said to have none; and some point must be of use. */
static sg_status check_all(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node,
                           uint64_t none)
{
    const sgi_solution *s = &problem->solution;
    const sgi_names *names = &problem->names;
    uint64_t there = none;
    bool some = false;
    for (int i = 0; i < s->file_count; i++) {
        const sgi_samples *samples = &s->files[i].samples;
        for (size_t q = 0; q < samples->quantity_count; q++)
            there |= UINT64_C(1) << s->files[i].fields[q];
        for (size_t p = 0; p < samples->count && !some; p++)
            some = sgi_problem_covers(problem, samples->points + p * samples->coordinate_count);
    }
    for (int f = 0; f < names->field_count; f++)
        if (!(there >> f & 1))
            return sgi_refuse(reader, node, "or say that it has none, as in  columns: {p: none}",
                              "no file has a reference of the field '%s'", names->fields[f]);
    return some ? SG_OK
                : sgi_refuse(reader, node, NULL,
                             "all points of the reference lie outside the domain");
}

sg_status sgi_solution_read_files(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node)
{
    sgi_solution *s = &problem->solution;
    bool list = node->kind == SG_YAML_SEQUENCE;
    uint64_t none = 0;
    s->files = sgi_arena_allocate(&problem->arena, SG_MOST_SOLUTION_FILES, sizeof *s->files);
    if (!s->files)
        return SG_ERROR_MEMORY;
    s->kind = SG_SOLUTION_FILES;
    for (const sgi_yaml *item = list ? node->first : node; item; item = list ? item->next : NULL) {
        if (s->file_count == SG_MOST_SOLUTION_FILES)
            return sgi_refuse(reader, item, NULL, "a reference may have %d files",
                              SG_MOST_SOLUTION_FILES);
        reading r = {.problem = problem,
                     .reader = reader,
                     .file = &s->files[s->file_count++],
                     .alone = !list || !node->first->next};
        r.file->node = item;
        sg_status status = read_file(&r, s->file_count - 1);
        if (status != SG_OK)
            return status;
        none |= r.columns.none;
    }
    return check_all(problem, reader, node, none);
}

void sgi_solution_release_files(sgi_problem *problem)
{
    for (int i = 0; i < problem->solution.file_count; i++) {
        sgi_interpolant_destroy(problem->solution.files[i].interpolant);
        sgi_samples_release(&problem->solution.files[i].samples);
    }
}

/* ---- Values -----------------------------------------------------------------------------------
 */

typedef struct between {
    const sgi_problem *problem;
    const double *const *own; /* or NULL: what the files have */
    const double *const *coordinates;
    double *const *fields;
    size_t count;
} between;

static void work(void *context, size_t unit, int worker)
{
    const between *job = context;
    const sgi_solution *s = &job->problem->solution;
    int d = job->problem->names.coordinate_count;
    size_t end = (unit + 1) * UNIT_POINTS < job->count ? (unit + 1) * UNIT_POINTS : job->count;
    (void)worker;
    for (size_t i = unit * UNIT_POINTS; i < end; i++) {
        double point[SG_MOST_COORDINATES];
        for (int k = 0; k < d; k++)
            point[k] = job->coordinates[k][i];
        for (int f = 0; f < job->problem->names.field_count; f++)
            job->fields[f][i] = NAN;
        size_t before = 0; /* points of the files before this one */
        for (int n = 0; n < s->file_count; n++) {
            const sgi_samples *samples = &s->files[n].samples;
            for (size_t q = 0; q < samples->quantity_count; q++) {
                int f = s->files[n].fields[q];
                const double *values =
                    job->own ? job->own[f] + before : samples->values + q * samples->count;
                if (isnan(job->fields[f][i]))
                    job->fields[f][i] = sgi_interpolant_at(s->files[n].interpolant, values, point);
            }
            before += samples->count;
        }
    }
}

sg_status sgi_solution_between(const sgi_problem *problem, const double *const *own,
                               const double *const *coordinates, size_t count,
                               double *const *fields, sg_pool *pool)
{
    between job = {problem, own, coordinates, fields, count};
    sg_pool_run(pool, sgi_parts(count, UNIT_POINTS), work, &job);
    return SG_OK;
}

size_t sgi_solution_points(const sgi_problem *problem)
{
    size_t count = 0;
    for (int i = 0; i < problem->solution.file_count; i++)
        count += problem->solution.files[i].samples.count;
    return count;
}

void sgi_solution_own(const sgi_problem *problem, double *points, double *const *fields)
{
    size_t at = 0, d = (size_t)problem->names.coordinate_count;
    for (int i = 0; i < problem->solution.file_count; i++) {
        const sgi_solution_file *file = &problem->solution.files[i];
        const sgi_samples *s = &file->samples;
        memcpy(points + at * d, s->points, s->count * d * sizeof *points);
        for (size_t p = 0; p < s->count; p++) {
            const double *point = s->points + p * d;
            bool inside = sgi_problem_covers(problem, point);
            for (int f = 0; f < problem->names.field_count; f++)
                fields[f][at + p] = NAN;
            for (size_t q = 0; q < s->quantity_count; q++) {
                int f = file->fields[q];
                uint64_t home = problem->homes[f];
                if (inside && (!home || sgi_problem_has(problem, home, point)))
                    fields[f][at + p] = s->values[q * s->count + p];
            }
        }
        at += s->count;
    }
}

const char *sgi_solution_file_text(const sgi_solution_file *file, char *text, size_t size)
{
    size_t lengths[SG_SAMPLE_COORDINATES], used = 0;
    const char *slash = strrchr(file->file.file, '/');
    if (sgi_interpolant_grid(file->interpolant, lengths)) {
        for (size_t k = 0; k < file->samples.coordinate_count && used < size; k++)
            used += (size_t)snprintf(text + used, size - used, "%s%zu", k ? " x " : "", lengths[k]);
    } else {
        used = (size_t)snprintf(text, size, "%zu", file->samples.count);
    }
    if (used < size)
        snprintf(text + used, size - used, " points of %.100s",
                 slash ? slash + 1 : file->file.file);
    return text;
}
