/* Kinds of values of problem files: see config/codec.h. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "config/codec.h"
#include "problem/settings.h"

static sg_status read_frequencies(sgi_reader *reader, const sgi_option *option,
                                  const sgi_yaml *node, void *value)
{
    sgi_frequencies *list = value;
    list->count = 0;
    if (node->kind == SG_YAML_SCALAR) {
        int64_t count = 0;
        sg_status status = sgi_read_whole(reader, option, node, &count);
        if (status == SG_OK && count > SG_MOST_FREQUENCIES)
            return sgi_option_wrong(reader, option, node, "at most 256 frequencies");
        for (int64_t f = 1; status == SG_OK && f <= count; f++)
            list->values[list->count++] = (double)f;
        return status;
    }
    if (node->kind != SG_YAML_SEQUENCE || node->count > SG_MOST_FREQUENCIES)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        sg_status status = sgi_read_real(reader, option, item, &list->values[list->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static void write_frequencies(sgi_output *out, const void *value)
{
    const sgi_frequencies *list = value;
    bool counted = true;
    for (int i = 0; i < list->count; i++)
        counted = counted && list->values[i] == i + 1;
    if (counted) {
        sgi_put(out, "%d", list->count);
        return;
    }
    sgi_put_numbers(out, list->values, list->count);
}

const sgi_codec sgi_codec_frequencies = {
    .takes = "a number n for 1..n, or a list of at most 256 numbers",
    .read = read_frequencies,
    .write = write_frequencies};

static sg_status read_windows(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              void *value)
{
    sgi_window_ends *list = value;
    int64_t count = 0;
    *list = (sgi_window_ends){.listed = node->kind == SG_YAML_SEQUENCE};
    if (node->kind == SG_YAML_SCALAR) {
        sg_status status = sgi_read_whole(reader, option, node, &count);
        list->count = (int)count;
        if (status == SG_OK && (count < 0 || count > SG_MOST_WINDOWS))
            return sgi_option_wrong(reader, option, node, option->codec->takes);
        return status;
    }
    if (node->kind != SG_YAML_SEQUENCE || node->count < 1 || node->count > SG_MOST_WINDOWS)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        sg_status status = sgi_read_real(reader, option, item, &list->values[list->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static void write_windows(sgi_output *out, const void *value)
{
    const sgi_window_ends *list = value;
    if (list->listed)
        sgi_put_numbers(out, list->values, list->count);
    else
        sgi_put(out, "%d", list->count);
}

const sgi_codec sgi_codec_windows = {.takes = "a number of 0 to 64, or a list of at most 64 times",
                                     .read = read_windows,
                                     .write = write_windows};

/* The coordinate that a scalar names. */
static sg_status read_coordinate(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                                 int *index)
{
    const sgi_names *names = reader->names;
    char text[96];
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, node->text, node->length);
    for (*index = 0; *index < names->coordinate_count; (*index)++) {
        if (sgi_yaml_is(node, names->coordinates[*index]))
            return SG_OK;
        sgi_nearest_offer(&nearest, names->coordinates[*index]);
    }
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%.60s' in %s is not a coordinate", node->text,
                       sgi_option_label(reader, option, text));
    sgi_nearest_suggest(&nearest, reader->diagnostic);
    return SG_ERROR_FORMAT;
}

static sg_status read_coordinates(sgi_reader *reader, const sgi_option *option,
                                  const sgi_yaml *node, void *value)
{
    unsigned *bits = value;
    int index;
    *bits = 0;
    if (sgi_yaml_is(node, "all") || sgi_yaml_is(node, "none")) {
        if (sgi_yaml_is(node, "all"))
            *bits = (1u << reader->names->coordinate_count) - 1;
        return SG_OK;
    }
    if (node->kind == SG_YAML_MAPPING)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    const sgi_yaml *item = node->kind == SG_YAML_SEQUENCE ? node->first : node;
    while (item) {
        sg_status status = read_coordinate(reader, option, item, &index);
        if (status != SG_OK)
            return status;
        *bits |= 1u << index;
        item = node->kind == SG_YAML_SEQUENCE ? item->next : NULL;
    }
    return SG_OK;
}

static void write_coordinates(sgi_output *out, const void *value)
{
    unsigned bits = *(const unsigned *)value;
    unsigned all = (1u << out->names->coordinate_count) - 1;
    if (bits == 0 || bits == all) {
        sgi_put(out, bits ? "all" : "none");
        return;
    }
    const char *before = "[";
    for (int k = 0; k < out->names->coordinate_count; k++) {
        if (!(bits >> k & 1))
            continue;
        sgi_put(out, "%s%s", before, out->names->coordinates[k]);
        before = ", ";
    }
    sgi_put(out, "]");
}

const sgi_codec sgi_codec_coordinates = {.takes =
                                             "all, none, a coordinate or a list of coordinates",
                                         .read = read_coordinates,
                                         .write = write_coordinates};

static sg_status read_harmonics(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                                void *value)
{
    int *harmonics = value;
    memset(harmonics, 0, SG_MOST_COORDINATES * sizeof *harmonics);
    if (node->kind != SG_YAML_MAPPING)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        int index = 0;
        int64_t count = 0;
        sg_status status = read_coordinate(reader, option, key, &index);
        if (status == SG_OK)
            status = sgi_read_whole(reader, option, key->next, &count);
        if (status != SG_OK)
            return status;
        harmonics[index] = (int)count;
    }
    return SG_OK;
}

static void write_harmonics(sgi_output *out, const void *value)
{
    const int *harmonics = value;
    const char *before = "";
    sgi_put(out, "{");
    for (int k = 0; k < out->names->coordinate_count; k++) {
        if (harmonics[k] == 0)
            continue;
        sgi_put(out, "%s%s: %d", before, out->names->coordinates[k], harmonics[k]);
        before = ", ";
    }
    sgi_put(out, "}");
}

const sgi_codec sgi_codec_harmonics = {.takes = "a mapping of coordinates to numbers, as {x: 4}",
                                       .read = read_harmonics,
                                       .write = write_harmonics};

static sg_status read_grid(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    int64_t *grid = value;
    int coordinates = reader->names->coordinate_count, count = 0;
    double numbers[SG_MOST_COORDINATES];
    sg_status status = SG_OK;
    if (node->kind == SG_YAML_SCALAR)
        count = sgi_split_product(node->text, numbers, SG_MOST_COORDINATES);
    for (const sgi_yaml *item = node->kind == SG_YAML_SEQUENCE ? node->first : NULL;
         item && count < SG_MOST_COORDINATES && status == SG_OK; item = item->next)
        status = sgi_read_real(reader, option, item, &numbers[count++]);
    if (status != SG_OK)
        return status;
    if (count == 1)
        for (; count < coordinates; count++)
            numbers[count] = numbers[0];
    bool fits = count == coordinates;
    for (int k = 0; k < count && fits; k++) {
        if (numbers[k] > option->most)
            return sgi_option_exceeds(reader, option, node, "a size", option->most);
        fits = sgi_is_whole(numbers[k], option);
        grid[k] = fits ? (int64_t)numbers[k] : 0;
    }
    return fits ? SG_OK : sgi_option_wrong(reader, option, node, option->codec->takes);
}

static void write_grid(sgi_output *out, const void *value)
{
    const int64_t *grid = value;
    for (int k = 0; k < out->names->coordinate_count; k++)
        sgi_put(out, "%s%lld", k ? " x " : "", (long long)grid[k]);
}

const sgi_codec sgi_codec_grid = {
    .takes = "one whole number above 1 for all coordinates or one for each",
    .read = read_grid,
    .write = write_grid};

/* Whether field.npz has an array of that name already. */
static bool is_mapped(const sgi_names *names, const sgi_maps_list *list, const sgi_yaml *item)
{
    static const char *const suffixes[] = {"_reference", "_error"};
    static const char residual[] = "residual_";
    bool found = strncmp(item->text, residual, sizeof residual - 1) == 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t end = strlen(suffixes[i]);
        found = found ||
                (item->length > end && strcmp(item->text + item->length - end, suffixes[i]) == 0);
    }
    for (int c = 0; c < names->coordinate_count; c++)
        found = found || sgi_yaml_is(item, names->coordinates[c]);
    for (int i = 0; i < list->count; i++)
        found = found || sgi_yaml_is(item, list->values[i]);
    for (int f = 0; f < names->field_count; f++)
        found = found || sgi_yaml_is(item, names->fields[f]);
    return found;
}

static sg_status read_map(sgi_reader *reader, const sgi_yaml *item, sgi_maps_list *list)
{
    sgi_expr expr;
    sgi_scope scope = {reader->names, "in evaluation.maps", true, true, 0, false};
    bool name = item->kind == SG_YAML_SCALAR && item->length > 0;
    for (size_t i = 0; name && i < item->length; i++)
        name = isalnum((unsigned char)item->text[i]) || item->text[i] == '_';
    if (name && !is_mapped(reader->names, list, item)) {
        list->values[list->count++] = item->text;
        return sgi_names_parse(&scope, item, 0, item->length, SG_READ_VALUE, &expr,
                               reader->diagnostic);
    }
    sgi_yaml_place(reader->diagnostic, item, 0, 0);
    if (name) {
        sgi_diagnostic_say(reader->diagnostic,
                           "'%.60s' in evaluation.maps is the name of another array of field.npz",
                           item->text);
        return SG_ERROR_FORMAT;
    }
    sgi_diagnostic_say(reader->diagnostic, "evaluation.maps takes names, not expressions");
    sgi_diagnostic_suggest(reader->diagnostic,
                           "give it a name, as in  definitions: {speed: sqrt(u^2 + v^2)}");
    return SG_ERROR_FORMAT;
}

static sg_status read_maps(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           void *value)
{
    sgi_maps_list *list = value;
    bool several = node->kind == SG_YAML_SEQUENCE;
    list->count = 0;
    if (sgi_yaml_is(node, "none"))
        return SG_OK;
    if (node->kind == SG_YAML_MAPPING || (several && node->count > SG_MOST_MAPS))
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    sg_status status = SG_OK;
    for (const sgi_yaml *item = several ? node->first : node; item && status == SG_OK;
         item = several ? item->next : NULL)
        status = read_map(reader, item, list);
    return status;
}

static void write_maps(sgi_output *out, const void *value)
{
    const sgi_maps_list *list = value;
    if (list->count == 0) {
        sgi_put(out, "none");
        return;
    }
    for (int i = 0; i < list->count; i++)
        sgi_put(out, "%s%s", i ? ", " : "[", list->values[i]);
    sgi_put(out, "]");
}

const sgi_codec sgi_codec_maps = {
    .takes = "none, or at most 8 names of definitions or derivatives, as [speed, u_x]",
    .read = read_maps,
    .write = write_maps};

/* ---- Renewal ------------------------------------------------------------------------------ */

static sg_status read_renewal(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              void *value)
{
    int64_t *steps = value;
    *steps = sgi_yaml_is(node, "never") ? 0 : -1;
    if (*steps == 0 || (sgi_yaml_is(node, "default") && strchr(option->path, '*')))
        return SG_OK;
    return sgi_read_whole(reader, option, node, steps);
}

static void write_renewal(sgi_output *out, const void *value)
{
    int64_t steps = *(const int64_t *)value;
    if (steps > 0)
        sgi_put(out, "%lld", (long long)steps);
    else
        sgi_put(out, steps ? "default" : "never");
}

const sgi_codec sgi_codec_renewal = {.takes = "a number of steps, or never",
                                     .read = read_renewal,
                                     .write = write_renewal,
                                     .number = true};

/* One bound: a number, or an infinite one. */
static sg_status read_bound(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"inf", INFINITY},   {"+inf", INFINITY},   {".inf", INFINITY},
                 {"-inf", -INFINITY}, {"-.inf", -INFINITY}, {"+.inf", INFINITY}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (sgi_yaml_is(node, words[i].word)) {
            *value = words[i].value;
            return SG_OK;
        }
    return sgi_read_real(reader, option, node, value);
}

static sg_status read_bounds(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             void *value)
{
    double *bounds = value;
    if (node->kind != SG_YAML_SEQUENCE || node->count != 2)
        return sgi_option_wrong(reader, option, node, option->codec->takes);
    sg_status status = read_bound(reader, option, node->first, &bounds[0]);
    return status == SG_OK ? read_bound(reader, option, node->last, &bounds[1]) : status;
}

static void write_bounds(sgi_output *out, const void *value)
{
    const double *bounds = value;
    for (int i = 0; i < 2; i++) {
        sgi_put(out, i ? ", " : "[");
        if (isfinite(bounds[i]))
            sgi_put_number(out, bounds[i]);
        else
            sgi_put(out, bounds[i] < 0 ? "-inf" : "inf");
    }
    sgi_put(out, "]");
}

const sgi_codec sgi_codec_bounds = {.takes =
                                        "two numbers, of which either may be infinite, as [0, inf]",
                                    .read = read_bounds,
                                    .write = write_bounds};
