/* Reading one value of each option type: see settings.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/settings.h"

/* ---- Mistakes ----------------------------------------------------------------------------- */

/* How messages name an option: its path, or "points of a condition". */
static const char *label(const sgi_option *option, char text[96])
{
    const char *star = strstr(option->path, ".*.");
    if (star)
        snprintf(text, 96, "'%s' of %s", star + 3,
                 option->path[0] == 'c' ? "a condition" : "an equation");
    return star ? text : option->path;
}

static sg_status wrong(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                       const char *wanted)
{
    char text[96];
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    if (node->kind == SG_YAML_SCALAR)
        sgi_diagnostic_say(reader->diagnostic, "%s must be %s, not '%.60s'", label(option, text),
                           wanted, node->text);
    else
        sgi_diagnostic_say(reader->diagnostic, "%s must be %s, not %s", label(option, text), wanted,
                           sgi_yaml_kind_name(node->kind));
    return SG_ERROR_FORMAT;
}

static sg_status out_of_range(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node)
{
    char least[32], most[32], text[96];
    sgi_write_number(option->least, least, sizeof least);
    sgi_write_number(option->most, most, sizeof most);
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    if (option->most >= 1e12)
        sgi_diagnostic_say(reader->diagnostic, "%s must be at least %s, not %.60s",
                           label(option, text), least, node->text);
    else
        sgi_diagnostic_say(reader->diagnostic, "%s must lie between %s and %s, not %.60s",
                           label(option, text), least, most, node->text);
    return SG_ERROR_FORMAT;
}

/* ---- Numbers ------------------------------------------------------------------------------ */

/* Whether the option is one number, perhaps with words for some: not a list. */
static bool is_number(sgi_option_type type)
{
    return type == SG_OPTION_REAL || type == SG_OPTION_INTEGER || type == SG_OPTION_GAIN ||
           type == SG_OPTION_SHARE || type == SG_OPTION_STEP;
}

/* A word that is no name where a number belongs, as auto. */
static sg_status wrong_word(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node)
{
    sgi_nearest nearest;
    sgi_scope scope = {reader->names, "", false, false, 0};
    sg_status status = wrong(reader, option, node, "a number");
    sgi_nearest_begin(&nearest, node->text, node->length);
    sgi_names_offer(&scope, &nearest);
    if (sgi_yaml_is(node, "auto") && option->initial)
        sgi_diagnostic_suggest(reader->diagnostic, "it is not chosen by itself; the default is %s",
                               option->initial);
    else
        sgi_nearest_suggest(&nearest, reader->diagnostic);
    return status;
}

/* A number, or an expression of constants. */
static sg_status read_real(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           double *value)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return wrong(reader, option, node, "a number");
    if (is_number(option->type) && sgi_is_name(node->text, node->length) &&
        sgi_names_kind(reader->names, node->text, node->length) == SG_NAME_NONE)
        return wrong_word(reader, option, node);
    char place[128], text[96];
    snprintf(place, sizeof place, "in %s", label(option, text));
    sgi_scope scope = {reader->names, place, false, false, 0};
    sgi_expr expr;
    sg_status status =
        sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &expr, reader->diagnostic);
    if (status != SG_OK)
        return status;
    if (!sgi_is_constant(reader->names->exprs, expr, value) || !isfinite(*value))
        return wrong(reader, option, node, "a number");
    return *value < option->least || *value > option->most ? out_of_range(reader, option, node)
                                                           : SG_OK;
}

static sg_status read_whole(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            int64_t *value)
{
    double real;
    sg_status status = read_real(reader, option, node, &real);
    if (status != SG_OK)
        return status;
    if (real != floor(real))
        return wrong(reader, option, node, "a whole number");
    *value = (int64_t)real;
    return SG_OK;
}

static sg_status read_step(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           int64_t *value)
{
    if (sgi_yaml_is(node, "half"))
        *value = SG_STEP_HALF;
    else if (sgi_yaml_is(node, "forever"))
        *value = SG_STEP_FOREVER;
    else
        return read_whole(reader, option, node, value);
    return SG_OK;
}

static sg_status read_bool(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           bool *value)
{
    static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};
    for (int i = 0; i < 3; i++) {
        if (sgi_yaml_is(node, yes[i]) || sgi_yaml_is(node, no[i])) {
            *value = sgi_yaml_is(node, yes[i]);
            return SG_OK;
        }
    }
    return wrong(reader, option, node, "true or false");
}

/* A list of exactly `count` numbers; `wanted` says so. */
static sg_status read_numbers(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              int count, const char *wanted, double *values)
{
    if (node->kind != SG_YAML_SEQUENCE || node->count != count)
        return wrong(reader, option, node, wanted);
    sg_status status = SG_OK;
    for (const sgi_yaml *item = node->first; item && status == SG_OK; item = item->next)
        status = read_real(reader, option, item, values++);
    return status;
}

/* A number, or auto for `own`. */
static sg_status read_or_auto(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                              double own, double *value)
{
    *value = own;
    return sgi_yaml_is(node, "auto") ? SG_OK : read_real(reader, option, node, value);
}

/* ---- Words -------------------------------------------------------------------------------- */

/* The index of the choice that a word names, -1 if none; offers every word to `nearest`. */
static int find_word(const char *words, const char *text, sgi_nearest *nearest)
{
    int index = 0, found = -1;
    for (const char *at = words; *at; index++) {
        while (*at && *at != ' ') {
            char word[48];
            size_t n = strcspn(at, "= ");
            snprintf(word, sizeof word, "%.*s", (int)n, at);
            if (strcmp(word, "#") != 0) {
                if (strcmp(word, text) == 0)
                    found = index;
                sgi_nearest_offer(nearest, word);
            }
            at += n + (at[n] == '=');
        }
        at += *at == ' ';
    }
    return found;
}

/* "a, b, c": the first word of each choice. */
static void list_words(const char *words, char *text, size_t capacity)
{
    size_t used = 0;
    for (const char *at = words; *at && used < capacity;) {
        size_t n = strcspn(at, " "), word = strcspn(at, "= ");
        if (*at != '#')
            used += (size_t)snprintf(text + used, capacity - used, "%s%.*s", used ? ", " : "",
                                     (int)word, at);
        at += n + (at[n] == ' ');
    }
}

static sg_status read_choice(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             int *value)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return wrong(reader, option, node, "one word");
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, node->text, node->length);
    *value = find_word(option->words, node->text, &nearest);
    if (*value >= 0)
        return SG_OK;
    char words[160];
    list_words(option->words, words, sizeof words);
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%.60s' is not a value of %s", node->text,
                       option->path);
    if (nearest.best[0])
        sgi_diagnostic_suggest(reader->diagnostic, "did you mean '%s'?  values: %s", nearest.best,
                               words);
    else
        sgi_diagnostic_suggest(reader->diagnostic, "values: %s", words);
    return SG_ERROR_FORMAT;
}

static sg_status read_scale(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            sgi_reference_choice *value)
{
    bool number = node->length > 0 && strchr("0123456789.-+", node->text[0]);
    if (!number)
        return read_choice(reader, option, node, &value->kind);
    value->kind = SG_REFERENCE_CONSTANT;
    sg_status status = read_real(reader, option, node, &value->constant);
    if (status == SG_OK && value->constant == 0)
        return wrong(reader, option, node, "a word or a number above 0");
    return status;
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* The numbers of "6 x 64" or "256x128": how many there are, 0 if the text is something else. */
static int split_product(const char *text, double *numbers, int most)
{
    int count = 0, used = 0;
    while (count < most && sscanf(text, " %lf %n", &numbers[count], &used) == 1) {
        count++;
        text += used;
        if (*text == 0)
            return count;
        if (*text++ != 'x')
            return 0;
    }
    return 0;
}

static bool is_whole(double value, const sgi_option *option)
{
    return value == floor(value) && value >= option->least && value <= option->most;
}

static sg_status read_widths(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             sgi_widths *widths)
{
    static const char wanted[] = "layers x width, as 6 x 64, or a list of widths";
    double numbers[2];
    widths->count = 0;
    if (node->kind == SG_YAML_SCALAR) {
        if (split_product(node->text, numbers, 2) != 2 || !is_whole(numbers[1], option) ||
            numbers[0] != floor(numbers[0]) || numbers[0] < 0 || numbers[0] > SG_MOST_HIDDEN)
            return wrong(reader, option, node, wanted);
        for (int i = 0; i < (int)numbers[0]; i++)
            widths->values[widths->count++] = (int)numbers[1];
        return SG_OK;
    }
    if (node->kind != SG_YAML_SEQUENCE || node->count > SG_MOST_HIDDEN)
        return wrong(reader, option, node, wanted);
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        int64_t width = 0;
        sg_status status = read_whole(reader, option, item, &width);
        if (status != SG_OK)
            return status;
        widths->values[widths->count++] = (int)width;
    }
    return SG_OK;
}

static sg_status read_frequencies(sgi_reader *reader, const sgi_option *option,
                                  const sgi_yaml *node, sgi_frequencies *list)
{
    list->count = 0;
    if (node->kind == SG_YAML_SCALAR) {
        int64_t count = 0;
        sg_status status = read_whole(reader, option, node, &count);
        if (status == SG_OK && count > SG_MOST_FREQUENCIES)
            return wrong(reader, option, node, "at most 256 frequencies");
        for (int64_t f = 1; status == SG_OK && f <= count; f++)
            list->values[list->count++] = (double)f;
        return status;
    }
    if (node->kind != SG_YAML_SEQUENCE || node->count > SG_MOST_FREQUENCIES)
        return wrong(reader, option, node, "a number n for 1..n, or a list of at most 256 numbers");
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        sg_status status = read_real(reader, option, item, &list->values[list->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

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
                       label(option, text));
    sgi_nearest_suggest(&nearest, reader->diagnostic);
    return SG_ERROR_FORMAT;
}

static sg_status read_coordinates(sgi_reader *reader, const sgi_option *option,
                                  const sgi_yaml *node, unsigned *bits)
{
    int index;
    *bits = 0;
    if (sgi_yaml_is(node, "all") || sgi_yaml_is(node, "none")) {
        if (sgi_yaml_is(node, "all"))
            *bits = (1u << reader->names->coordinate_count) - 1;
        return SG_OK;
    }
    if (node->kind == SG_YAML_MAPPING)
        return wrong(reader, option, node, "all, none, a coordinate or a list of coordinates");
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

static sg_status read_harmonics(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                                int *harmonics)
{
    memset(harmonics, 0, SG_MOST_COORDINATES * sizeof *harmonics);
    if (node->kind != SG_YAML_MAPPING)
        return wrong(reader, option, node, "a mapping of coordinates to numbers, as {x: 4}");
    for (const sgi_yaml *key = node->first; key; key = key->next->next) {
        int index = 0;
        int64_t count = 0;
        sg_status status = read_coordinate(reader, option, key, &index);
        if (status == SG_OK)
            status = read_whole(reader, option, key->next, &count);
        if (status != SG_OK)
            return status;
        harmonics[index] = (int)count;
    }
    return SG_OK;
}

static sg_status read_grid(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           int64_t *grid)
{
    int coordinates = reader->names->coordinate_count, count = 0;
    double numbers[SG_MOST_COORDINATES];
    sg_status status = SG_OK;
    if (node->kind == SG_YAML_SCALAR)
        count = split_product(node->text, numbers, SG_MOST_COORDINATES);
    for (const sgi_yaml *item = node->kind == SG_YAML_SEQUENCE ? node->first : NULL;
         item && count < SG_MOST_COORDINATES && status == SG_OK; item = item->next)
        status = read_real(reader, option, item, &numbers[count++]);
    if (status != SG_OK)
        return status;
    if (count == 1)
        for (; count < coordinates; count++)
            numbers[count] = numbers[0];
    bool fits = count == coordinates;
    for (int k = 0; k < count && fits; k++) {
        fits = is_whole(numbers[k], option);
        grid[k] = fits ? (int64_t)numbers[k] : 0;
    }
    return fits ? SG_OK
                : wrong(reader, option, node,
                        "one whole number above 1 for all coordinates or one for each");
}

static sg_status wrong_piece(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "each of %s must be {from, until, factor} with from below until",
                       option->path);
    return SG_ERROR_FORMAT;
}

static sg_status read_piece(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            sg_schedule_term *term)
{
    static const char *const keys[] = {"from", "until", "factor"};
    double values[3];
    if (node->kind != SG_YAML_MAPPING || node->count != 6)
        return wrong_piece(reader, option, node);
    for (int i = 0; i < 3; i++) {
        const sgi_yaml *value = sgi_yaml_get(node, keys[i]);
        if (!value)
            return wrong_piece(reader, option, node);
        sgi_option each = *option;
        each.most = i < 2 ? 1e15 : option->most;
        sg_status status = read_real(reader, &each, value, &values[i]);
        if (status != SG_OK)
            return status;
    }
    *term = sg_schedule_interval((uint64_t)values[0], (uint64_t)values[1], values[2]);
    return sg_schedule_valid(term, 1) ? SG_OK : wrong_piece(reader, option, node);
}

static sg_status read_pieces(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                             sgi_pieces *pieces)
{
    pieces->count = 0;
    if (node->kind != SG_YAML_SEQUENCE || node->count > SG_MOST_PIECES)
        return wrong(reader, option, node, "a list of {from, until, factor}");
    for (const sgi_yaml *item = node->first; item; item = item->next) {
        sg_status status = read_piece(reader, option, item, &pieces->values[pieces->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static sg_status read_text(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           const char **text)
{
    if (node->kind != SG_YAML_SCALAR || node->length > 200)
        return wrong(reader, option, node, "a short text");
    *text = sgi_arena_text(reader->arena, node->text, node->length);
    return *text ? SG_OK : SG_ERROR_MEMORY;
}

/* An absolute path: a relative one starts at the folder of the file it is written in. */
static const char *absolute(sgi_reader *reader, const sgi_yaml *node)
{
    const char *path = node->text;
    const char *folder =
        node->source == reader->file ? reader->file_folder : reader->current_folder;
    if (path[0] == '/')
        return sgi_arena_text(reader->arena, path, node->length);
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    size_t size = strlen(folder) + strlen(path) + 2;
    char *joined = sgi_arena_allocate(reader->arena, size, 1);
    if (joined)
        snprintf(joined, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                 path);
    return joined;
}

static sg_status read_path(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                           const char **path)
{
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return wrong(reader, option, node, "a path");
    for (size_t i = 0; i < node->length; i++)
        if ((unsigned char)node->text[i] < ' ' || node->text[i] == 0x7f) {
            sgi_yaml_place(reader->diagnostic, node, 0, 0);
            sgi_diagnostic_say(reader->diagnostic, "a path in %s has a control character",
                               option->path);
            return SG_ERROR_FORMAT;
        }
    *path = absolute(reader, node);
    return *path ? SG_OK : SG_ERROR_MEMORY;
}

static sg_status read_paths(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                            sgi_paths *paths)
{
    bool list = node->kind == SG_YAML_SEQUENCE;
    paths->count = 0;
    if (node->kind == SG_YAML_MAPPING ||
        (list && (node->count == 0 || node->count > SG_MOST_DATA_FILES)))
        return wrong(reader, option, node, "a path or a list of 1 to 64 paths");
    for (const sgi_yaml *item = list ? node->first : node; item; item = list ? item->next : NULL) {
        sg_status status = read_path(reader, option, item, &paths->values[paths->count++]);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

sg_status sgi_option_read(sgi_reader *reader, const sgi_option *option, const sgi_yaml *node,
                          void *base)
{
    void *target = (char *)base + option->offset;
    switch (option->type) {
    case SG_OPTION_SECTION:
        return SG_OK;
    case SG_OPTION_TEXT:
        return read_text(reader, option, node, target);
    case SG_OPTION_BOOL:
        return read_bool(reader, option, node, target);
    case SG_OPTION_INTEGER:
        return read_whole(reader, option, node, target);
    case SG_OPTION_REAL:
        return read_real(reader, option, node, target);
    case SG_OPTION_CHOICE:
        return read_choice(reader, option, node, target);
    case SG_OPTION_GAIN:
        return read_or_auto(reader, option, node, 0, target);
    case SG_OPTION_SHARE:
        return read_or_auto(reader, option, node, -1, target);
    case SG_OPTION_STEP:
        return read_step(reader, option, node, target);
    case SG_OPTION_SCALE:
        return read_scale(reader, option, node, target);
    case SG_OPTION_PAIR:
        return read_numbers(reader, option, node, 2, "a list of two numbers", target);
    case SG_OPTION_TRIPLE:
        return read_numbers(reader, option, node, 3, "a list of three numbers", target);
    case SG_OPTION_WIDTHS:
        return read_widths(reader, option, node, target);
    case SG_OPTION_FREQUENCIES:
        return read_frequencies(reader, option, node, target);
    case SG_OPTION_COORDINATES:
        return read_coordinates(reader, option, node, target);
    case SG_OPTION_HARMONICS:
        return read_harmonics(reader, option, node, target);
    case SG_OPTION_GRID:
        return read_grid(reader, option, node, target);
    case SG_OPTION_PIECES:
        return read_pieces(reader, option, node, target);
    case SG_OPTION_PATHS:
        return read_paths(reader, option, node, target);
    }
    return SG_ERROR_ARGUMENT;
}
