/* The resolved problem as text: every option, in the order of the table. See problem.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "config/document.h"
#include "problem/data.h"
#include "problem/solution_files.h"

typedef struct writer {
    sgi_writer out;
    const sgi_problem *problem;
} writer;

#define put(w, ...) sgi_writer_put(&(w)->out, __VA_ARGS__)

/* Whether YAML takes the text as it is, in block and flow style, without quotes. */
static bool is_plain(const char *text)
{
    size_t n = strlen(text);
    bool begins = (text[0] >= '0' && text[0] <= '9') || text[0] == '(' || text[0] == '.' ||
                  (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') ||
                  (text[0] == '-' && n > 1 && text[1] != ' ' && text[1] != '-');
    return begins && text[n - 1] != ' ' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        " _.+-*/^()=|<>") == n;
}

/* Plain, or single-quoted: the style in which YAML takes every printable text as it is. Line breaks
 * of folded scalars mean no more than a space in an expression. */
static void put_quoted(writer *w, const char *text)
{
    if (is_plain(text)) {
        put(w, "%s", text);
        return;
    }
    put(w, "'");
    for (; *text; text++) {
        if (*text == '\'')
            put(w, "''");
        else
            put(w, "%c", *text == '\n' || *text == '\t' || *text == '\r' ? ' ' : *text);
    }
    put(w, "'");
}

/* A node of the file in flow style, as it was read. */
static void put_node(writer *w, const sgi_yaml *node)
{
    bool mapping = node->kind == SG_YAML_MAPPING, key = true;
    if (node->kind == SG_YAML_SCALAR) {
        put_quoted(w, node->text);
        return;
    }
    put(w, mapping ? "{" : "[");
    for (const sgi_yaml *child = node->first; child; child = child->next, key = !key) {
        put_node(w, child);
        put(w, "%s", mapping && key ? ": " : child->next ? ", " : "");
    }
    put(w, mapping ? "}" : "]");
}

/* A section as a block: one line for each entry. */
static void put_section(writer *w, const char *name, const sgi_yaml *node)
{
    if (!node)
        return;
    put(w, "%s:", name);
    if (node->kind != SG_YAML_MAPPING || node->count == 0) {
        put(w, " ");
        put_node(w, node);
        put(w, "\n");
        return;
    }
    put(w, "\n");
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        put(w, "  ");
        put_quoted(w, key->text);
        put(w, ": ");
        put_node(w, key->next);
        put(w, "\n");
    }
}

/* Shapes: those from files with the absolute path and the sum. */
static void put_shapes(writer *w, const sgi_yaml *node)
{
    const sgi_shape *shape = sgi_domain_file(&w->problem->domain, 0);
    if (!shape) {
        put_section(w, "shapes", node);
        return;
    }
    put(w, "shapes:\n");
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        for (int i = 0; (shape = sgi_domain_file(&w->problem->domain, i)) != NULL; i++)
            if (strcmp(shape->name, key->text) == 0)
                break;
        put(w, "  ");
        put_quoted(w, key->text);
        put(w, ": ");
        if (!shape) {
            put_node(w, key->next);
            put(w, "\n");
            continue;
        }
        put(w, "{%s: {file: ", shape->kind->name);
        put_quoted(w, shape->file.file);
        put(w, ", sum: '%016" PRIx64 "'}", shape->file.sum);
        for (const sgi_yaml *more = key->next->first; more; more = more->next->next)
            if (!sgi_yaml_is(more, shape->kind->name)) {
                put(w, ", %s: ", more->text); /* rotate, move */
                put_node(w, more->next);
            }
        put(w, "}\n");
    }
}

/* A reference from files, each with the absolute path and the sum. */
static void put_solution_files(writer *w)
{
    const sgi_solution *solution = &w->problem->solution;
    put(w, "reference:\n");
    for (int i = 0; i < solution->file_count; i++) {
        const sgi_solution_file *file = &solution->files[i];
        put(w, "  - {file: ");
        put_quoted(w, file->file.file);
        put(w, ", sum: '%016" PRIx64 "'", file->file.sum);
        for (const sgi_yaml *more = file->node->first; more; more = more->next->next)
            if (!sgi_yaml_is(more, "file") && !sgi_yaml_is(more, "sum")) {
                put(w, ", %s: ", more->text);
                put_node(w, more->next);
            }
        put(w, "}\n");
    }
}

static void put_scale(writer *w, const char *name, const sgi_scale *scale)
{
    char size[40], offset[40];
    (void)sgi_write_number(scale->size, size, sizeof size);
    (void)sgi_write_number(scale->offset, offset, sizeof offset);
    if (scale->offset != 0)
        put(w, "  %s: {size: %s, offset: %s}\n", name, size, offset);
    else
        put(w, "  %s: %s\n", name, size);
}

/* The sizes that are used, also those that were found. */
static void put_scales(writer *w)
{
    const sgi_names *names = &w->problem->names;
    if (!w->problem->scales.on)
        return;
    put(w, "scales:\n");
    for (int k = 0; k < names->coordinate_count; k++)
        put_scale(w, names->coordinates[k], &w->problem->scales.coordinates[k]);
    for (int f = 0; f < names->field_count; f++)
        put_scale(w, names->fields[f], &w->problem->scales.fields[f]);
}

/* Equations with their regions, points and weights. */
static void put_equations(writer *w)
{
    const sgi_yaml *section = sgi_yaml_get(w->problem->root, "equations");
    const sgi_yaml *key = section ? section->first : NULL;
    put(w, "%s", section ? "equations:\n" : "");
    for (int i = 0; key; i++, key = key->next->next) {
        const sgi_equation_settings *settings = &w->problem->equations[i];
        const sgi_yaml *node = key->next, *in = NULL;
        if (node->kind == SG_YAML_MAPPING) {
            in = sgi_yaml_get(node, "in");
            node = sgi_yaml_get(node, "expression");
        }
        put(w, "  ");
        put_quoted(w, key->text);
        put(w, ": {expression: ");
        put_quoted(w, node->text);
        if (in) {
            put(w, ", in: %s, points: ", in->text);
            sgi_writer_value(&w->out, sgi_option_find(&sgi_problem_options, "equations.*.points"),
                             settings);
        }
        put(w, ", weight: ");
        sgi_writer_value(&w->out, sgi_option_find(&sgi_problem_options, "equations.*.weight"),
                         settings);
        put(w, "}\n");
    }
}

/* One condition: its expressions as they were read, then every option. */
static void put_condition(writer *w, const sgi_yaml *name, const sgi_condition_settings *settings)
{
    static const char prefix[] = "conditions.*.";
    const char *before = "{";
    put(w, "  ");
    put_quoted(w, name->text);
    put(w, ": ");
    for (const sgi_yaml *key = name->next->first; key; key = key->next->next) {
        char path[128];
        snprintf(path, sizeof path, "%s%.60s", prefix, key->text);
        const sgi_option *option = sgi_option_find(&sgi_problem_options, path);
        if (option && option->codec != &sgi_codec_section)
            continue;
        put(w, "%s", before);
        put_quoted(w, key->text);
        put(w, ": ");
        put_node(w, key->next);
        before = ", ";
    }
    for (size_t i = 0; i < sgi_problem_options.count; i++) {
        const sgi_option *option = &sgi_problem_options.rows[i];
        if (strncmp(option->path, prefix, sizeof prefix - 1) != 0 ||
            option->codec == &sgi_codec_section)
            continue;
        if (settings->exact && (strcmp(option->path, "conditions.*.points") == 0 ||
                                strcmp(option->path, "conditions.*.weight") == 0))
            continue; /* it takes neither */
        char value[16];
        if (sgi_option_write(option, &w->problem->names, settings, value, sizeof value) == 7 &&
            strcmp(value, "default") == 0)
            continue; /* it has none of its own */
        if (!settings->refine && strcmp(option->path, "conditions.*.refine") == 0)
            continue;
        put(w, "%s%s: ", before, option->path + sizeof prefix - 1);
        sgi_writer_value(&w->out, option, settings);
        before = ", ";
    }
    put(w, "}\n");
}

static void put_conditions(writer *w)
{
    const sgi_yaml *section = sgi_yaml_get(w->problem->root, "conditions");
    if (!section || section->count == 0)
        return;
    put(w, "conditions:\n");
    int k = 0;
    for (const sgi_yaml *name = section->first; name; name = name->next->next)
        put_condition(w, name, &w->problem->conditions[k++]);
}

/* Data sets, those from files with the absolute path and the sum. */
static void put_data(writer *w)
{
    static const char prefix[] = "data.*.";
    for (int i = 0; i < w->problem->data_count; i++) {
        const sgi_data *data = &w->problem->data[i];
        put(w, "%s  ", i ? "" : "data:\n");
        put_quoted(w, data->name->text);
        put(w, ": {");
        if (data->file.file) {
            put(w, "file: ");
            put_quoted(w, data->file.file);
            put(w, ", sum: '%016" PRIx64 "', ", data->file.sum);
        }
        for (size_t k = 0; k < sgi_problem_options.count; k++) {
            const sgi_option *option = &sgi_problem_options.rows[k];
            const char *key = option->path + sizeof prefix - 1;
            if (strncmp(option->path, prefix, sizeof prefix - 1) != 0)
                continue;
            const sgi_yaml *node = sgi_yaml_get(data->name->next, key);
            if (option->codec != &sgi_codec_section) {
                put(w, "%s: ", key);
                sgi_writer_value(&w->out, option, &data->settings);
                put(w, "%s", strcmp(key, "outside") == 0 ? "}\n" : ", ");
            } else if (node && strcmp(key, "file") != 0 && strcmp(key, "sum") != 0) {
                put(w, "%s: ", key);
                put_node(w, node);
                put(w, ", ");
            }
        }
    }
}

/* A stage in flow style, every option of it but the seed. */
static void put_stage(writer *w, const sgi_settings *settings)
{
    static const char prefix[] = "training.";
    const char *before = "{", *section = "";
    size_t length = 0; /* of the section that is open, with its dot */
    for (size_t i = 0; i < sgi_problem_options.count; i++) {
        const sgi_option *option = &sgi_problem_options.rows[i];
        const char *path = option->path + sizeof prefix - 1, *dot;
        if (strncmp(option->path, prefix, sizeof prefix - 1) != 0 ||
            option->codec == &sgi_codec_section || strcmp(path, "seed") == 0)
            continue;
        if (length > 0 && strncmp(path, section, length) != 0) {
            put(w, "}");
            length = 0;
        }
        put(w, "%s", before);
        dot = strchr(path, '.');
        if (dot && length == 0) {
            section = path;
            length = (size_t)(dot - path) + 1;
            put(w, "%.*s: {", (int)length - 1, path);
        }
        put(w, "%s: ", path + length);
        sgi_writer_value(&w->out, option, settings);
        before = ", ";
    }
    put(w, "%s}\n", length > 0 ? "}" : "");
}

/* The list of stages in the place of all options of training but the seed. */
static void put_stages(writer *w)
{
    const sgi_stages *stages = &w->problem->settings.stages;
    sgi_settings *each = sgi_allocate(&w->out.allocator, 1, sizeof *each);
    w->out.failed = w->out.failed || !each;
    put(w, "training:\n  seed: %lld\n  stages:\n", (long long)stages->values[0].seed);
    for (int i = 0; i < stages->count && each; i++) {
        each->training = stages->values[i];
        put(w, "    - ");
        put_stage(w, each);
    }
    sgi_release(&w->out.allocator, each);
}

/* The weights to start from, with the absolute path and the sum. */
static void put_initial(writer *w)
{
    const sgi_attachment *initial = &w->problem->initial;
    if (!initial->file)
        return;
    put(w, "initial: {weights: ");
    put_quoted(w, initial->file);
    put(w, ", sum: '%016" PRIx64 "'}\n", initial->sum);
}

static void put_options(writer *w)
{
    bool listed = w->problem->settings.stages.listed;
    const char *previous = "";
    for (size_t i = 0; i < sgi_problem_options.count; i++) {
        const sgi_option *option = &sgi_problem_options.rows[i];
        const char *path = option->path;
        if (strcmp(path, "equations") == 0)
            put_equations(w);
        else if (strcmp(path, "conditions") == 0)
            put_conditions(w);
        else if (strcmp(path, "data") == 0)
            put_data(w);
        else if (strcmp(path, "scales") == 0)
            put_scales(w);
        else if (strcmp(path, "shapes") == 0)
            put_shapes(w, sgi_yaml_get(w->problem->root, path));
        else if (strcmp(path, "reference") == 0 && w->problem->solution.kind == SG_SOLUTION_FILES)
            put_solution_files(w);
        else if (strcmp(path, "initial") == 0)
            put_initial(w);
        else if (option->codec == &sgi_codec_section && !strchr(path, '.'))
            put_section(w, path, sgi_yaml_get(w->problem->root, path));
        if (strcmp(path, "training.stages") == 0 && listed)
            put_stages(w);
        if (strncmp(path, "windows.", strlen("windows.")) == 0 && w->problem->windows.count == 0)
            continue; /* a problem without any is written as before there were some */
        if (option->codec == &sgi_codec_section || strchr(path, '*') ||
            (listed && strncmp(path, "training.", strlen("training.")) == 0))
            continue;
        sgi_writer_option(&w->out, previous, option, &w->problem->settings);
        previous = path;
    }
}

sg_status sgi_problem_write(const sgi_problem *problem, char **text)
{
    writer w = {.out = {.allocator = problem->allocator, .names = &problem->names},
                .problem = problem};
    put_options(&w);
    return sgi_writer_finish(&w.out, text);
}
