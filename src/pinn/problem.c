/* Reading a problem as a whole: see problem.h. */
#include "pinn/problem.h"

#include <stdio.h>
#include <string.h>

static sg_status override(sg_problem *problem, sg_reader *reader, sg_source *source,
                          const char *text)
{
    size_t size = strlen(text);
    char *copy = sg_arena_text(&problem->arena, text, size);
    if (!copy)
        return SG_ERROR_MEMORY;
    *source = (sg_source){"--set", copy, size};
    const char *equals = strchr(copy, '=');
    if (!equals || equals == copy || equals[1] == 0) {
        sg_diagnostic_place(reader->diagnostic, source, 0, size);
        sg_diagnostic_say(reader->diagnostic, "an override is written key=value");
        sg_diagnostic_suggest(reader->diagnostic, "as in --set training.steps=2000");
        return SG_ERROR_FORMAT;
    }
    size_t length = (size_t)(equals - copy);
    sg_yaml *value;
    sg_status status =
        sg_yaml_parse(&value, source, length + 1, &problem->arena, reader->diagnostic);
    if (status != SG_OK)
        return status;
    return sg_yaml_put(problem->root, copy, length, value, source, 0, &problem->arena,
                       reader->diagnostic);
}

/* The tree with overrides applied and shorthands expanded. */
static sg_status read_tree(sg_problem *problem, sg_reader *reader, const char *const *overrides,
                           size_t count)
{
    sg_status status =
        sg_yaml_parse(&problem->root, &problem->sources[0], 0, &problem->arena, reader->diagnostic);
    if (status == SG_OK && problem->root->kind != SG_YAML_MAPPING) {
        sg_yaml_place(reader->diagnostic, problem->root, 0, 0);
        sg_diagnostic_say(reader->diagnostic, "a problem is a mapping of keys to values");
        return SG_ERROR_FORMAT;
    }
    for (size_t i = 0; i <= count && status == SG_OK; i++) {
        status = sg_options_expand(reader, problem->root);
        if (status == SG_OK && i < count)
            status = override(problem, reader, &problem->sources[i + 1], overrides[i]);
    }
    return status;
}

/* The file's name without folders and ending. */
static const char *stem(sg_problem *problem)
{
    const char *name = problem->sources[0].name, *slash = strrchr(name, '/');
    const char *begin = slash ? slash + 1 : name, *dot = strrchr(begin, '.');
    return sg_arena_text(&problem->arena, begin,
                         dot > begin ? (size_t)(dot - begin) : strlen(begin));
}

/* A name is part of folder names. */
static sg_status check_name(sg_problem *problem, sg_reader *reader)
{
    const char *name = problem->settings.name;
    const sg_yaml *node = sg_yaml_get(problem->root, "name");
    if (name[0] == 0) {
        problem->settings.name = stem(problem);
        return problem->settings.name ? SG_OK : SG_ERROR_MEMORY;
    }
    if (!strchr(name, '/') && name[0] != '.' && strlen(name) <= 60)
        return SG_OK;
    sg_yaml_place(reader->diagnostic, node, 0, 0);
    sg_diagnostic_say(reader->diagnostic, "'%.60s' cannot name a folder", name);
    return SG_ERROR_FORMAT;
}

static sg_status read_settings(sg_problem *problem, sg_reader *reader)
{
    sg_status status = sg_options_default(reader, "", &problem->settings);
    if (status == SG_OK)
        status = sg_options_read(reader, "", "a problem", problem->root, &problem->settings);
    return status == SG_OK ? check_name(problem, reader) : status;
}

/* An unknown key is reported before what is missing because of it. */
static sg_status check_keys(sg_problem *problem, sg_reader *reader)
{
    for (const sg_yaml *key = problem->root->first; key; key = key->next->next) {
        bool known = false;
        for (size_t i = 0; i < sg_option_count && !known; i++) {
            const char *path = sg_options[i].path;
            known = strncmp(path, key->text, key->length) == 0 &&
                    (path[key->length] == 0 || path[key->length] == '.');
        }
        if (!known)
            return sg_options_unknown(reader, "", "a problem", key, "");
    }
    return SG_OK;
}

static sg_status read_all(sg_problem *problem, sg_reader *reader, const char *const *overrides,
                          size_t count)
{
    sg_status status = read_tree(problem, reader, overrides, count);
    if (status == SG_OK)
        status = check_keys(problem, reader);
    if (status == SG_OK)
        status = sg_problem_read_names(problem, reader);
    if (status == SG_OK)
        status = read_settings(problem, reader);
    if (status == SG_OK)
        status = sg_problem_read_equations(problem, reader);
    if (status == SG_OK)
        status = sg_problem_read_conditions(problem, reader);
    if (status == SG_OK)
        status = sg_problem_read_solution(problem, reader);
    for (int k = 0; k < problem->set_count && status == SG_OK; k++)
        status = sg_point_set_compile(problem, &problem->sets[k]);
    return status;
}

sg_status sg_problem_read(sg_problem **out, const char *name, const char *text, size_t size,
                          const char *const *overrides, size_t override_count,
                          const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sg_allocator_or_heap(given);
    *out = NULL;
    memset(diagnostic, 0, sizeof *diagnostic);
    sg_problem *problem = sg_allocate(&allocator, 1, sizeof *problem);
    if (!problem)
        return SG_ERROR_MEMORY;
    problem->allocator = allocator;
    sg_arena_init(&problem->arena, &allocator);
    problem->sources =
        sg_arena_allocate(&problem->arena, override_count + 1, sizeof *problem->sources);
    const char *name_copy = sg_arena_text(&problem->arena, name, strlen(name));
    const char *text_copy = sg_arena_text(&problem->arena, text, size);
    sg_status status = SG_ERROR_MEMORY;
    if (problem->sources && name_copy && text_copy) {
        problem->sources[0] = (sg_source){name_copy, text_copy, size};
        status = sg_graph_create(&problem->graph, &allocator);
    }
    if (status == SG_OK) {
        problem->names.graph = problem->graph;
        sg_reader reader = {&problem->names, &problem->arena, diagnostic};
        status = read_all(problem, &reader, overrides, override_count);
    }
    if (status != SG_OK)
        sg_problem_destroy(problem);
    else
        *out = problem;
    return status;
}

/* Reads a whole file; the caller frees it. */
static sg_status read_file(const char *path, const sg_allocator *allocator, char **text,
                           size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return SG_ERROR_IO;
    sg_status status = SG_ERROR_MEMORY;
    *text = sg_allocate(allocator, SG_YAML_MOST_BYTES + 2, 1);
    if (*text) {
        *size = fread(*text, 1, SG_YAML_MOST_BYTES + 1, file);
        status = ferror(file) ? SG_ERROR_IO : SG_OK;
    }
    if (fclose(file) != 0 && status == SG_OK)
        status = SG_ERROR_IO;
    return status;
}

sg_status sg_problem_load(sg_problem **problem, const char *path, const char *const *overrides,
                          size_t override_count, const sg_allocator *given,
                          sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sg_allocator_or_heap(given);
    char *text = NULL;
    size_t size = 0;
    *problem = NULL;
    memset(diagnostic, 0, sizeof *diagnostic);
    sg_status status = read_file(path, &allocator, &text, &size);
    if (status == SG_OK)
        status = sg_problem_read(problem, path, text, size, overrides, override_count, &allocator,
                                 diagnostic);
    if (status == SG_ERROR_IO) {
        snprintf(diagnostic->file, sizeof diagnostic->file, "%s", path);
        sg_diagnostic_say(diagnostic, "the file cannot be read");
    }
    sg_release(&allocator, text);
    return status;
}

void sg_problem_destroy(sg_problem *problem)
{
    if (!problem)
        return;
    sg_allocator allocator = problem->allocator;
    for (int k = 0; k < problem->set_count; k++)
        sg_point_set_release(&problem->sets[k]);
    sg_program_destroy(problem->solution.program);
    sg_graph_destroy(problem->graph);
    sg_arena_clear(&problem->arena);
    sg_release(&allocator, problem);
}
