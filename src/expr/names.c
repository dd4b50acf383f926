/* Names: what they mean, derivatives by subscript, the nearest ones. See names.h. */
#include "expr/names.h"

#include <stdio.h>
#include <string.h>

#include "expr/functions.h"

enum { MOST_NAME = 40, MOST_SPLIT = 8 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool sgi_is_name(const char *text, size_t length)
{
    if (length == 0 || length > MOST_NAME || !is_letter(text[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(text[i]) && !(text[i] >= '0' && text[i] <= '9') && text[i] != '_')
            return false;
    return true;
}

static bool equals(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

sgi_symbol *sgi_names_find(const sgi_names *names, const char *name, size_t length)
{
    for (int i = 0; i < names->symbol_count; i++)
        if (equals(names->symbols[i].name, name, length))
            return &names->symbols[i];
    return NULL;
}

/* Whether it is the name of an operation, which nothing else may have. The other names of
 * operations, and functions that are made of several, are reserved only where they are called: a
 * field may be called ln. */
static bool is_function(const char *name, size_t length)
{
    for (int op = SG_OP_SIN; op < SG_OP_COUNT; op++)
        if (equals(sgi_op_name((sgi_op)op), name, length))
            return true;
    return equals("lap", name, length) || equals("pi", name, length);
}

sgi_name_kind sgi_names_kind(const sgi_names *names, const char *name, size_t length)
{
    for (int k = 0; k < names->coordinate_count; k++)
        if (equals(names->coordinates[k], name, length))
            return SG_NAME_COORDINATE;
    for (int k = 0; k < names->field_count; k++)
        if (equals(names->fields[k], name, length))
            return SG_NAME_FIELD;
    if (sgi_names_find(names, name, length))
        return SG_NAME_SYMBOL;
    return is_function(name, length) ? SG_NAME_FUNCTION : SG_NAME_NONE;
}

/* All ways to split the rest of a subscript; `ways` counts different derivatives up to 2. */
static void split(const sgi_names *names, const char *text, size_t length, sgi_derivative sum,
                  int pieces, int *ways, sgi_derivative *found)
{
    if (length == 0) {
        if (*ways == 0 || *found != sum)
            (*ways)++;
        *found = sum;
        return;
    }
    for (int k = 0; k < names->coordinate_count && pieces < MOST_SPLIT && *ways < 2; k++) {
        size_t n = strlen(names->coordinates[k]);
        if (n <= length && memcmp(names->coordinates[k], text, n) == 0)
            split(names, text + n, length - n, sum + sgi_derivative_unit(k), pieces + 1, ways,
                  found);
    }
}

int sgi_names_subscript(const sgi_names *names, const char *text, size_t length,
                        sgi_derivative *derivative, int *order)
{
    int ways = 0;
    *derivative = 0;
    if (length > 0)
        split(names, text, length, 0, 0, &ways, derivative);
    *order = sgi_derivative_total(*derivative);
    return ways;
}

/* base_x, base_xx and base_xy for every coordinate. */
static void offer_derivatives(const sgi_names *names, const char *base, sgi_nearest *nearest)
{
    char text[128];
    for (int i = 0; i < names->coordinate_count; i++) {
        snprintf(text, sizeof text, "%s_%s", base, names->coordinates[i]);
        sgi_nearest_offer(nearest, text);
        for (int j = 0; j < names->coordinate_count; j++) {
            snprintf(text, sizeof text, "%s_%s%s", base, names->coordinates[i],
                     names->coordinates[j]);
            sgi_nearest_offer(nearest, text);
        }
    }
}

void sgi_names_offer(const sgi_scope *scope, sgi_nearest *nearest)
{
    const sgi_names *names = scope->names;
    for (int k = 0; scope->coordinates && k < names->coordinate_count; k++)
        sgi_nearest_offer(nearest, names->coordinates[k]);
    for (int k = 0; scope->fields && k < names->field_count; k++) {
        sgi_nearest_offer(nearest, names->fields[k]);
        offer_derivatives(names, names->fields[k], nearest);
    }
    for (int k = 0; k < names->symbol_count; k++) {
        if (scope->fields || !names->symbols[k].unknown)
            sgi_nearest_offer(nearest, names->symbols[k].name);
        if (scope->coordinates && !names->symbols[k].constant)
            offer_derivatives(names, names->symbols[k].name, nearest);
    }
    for (int i = 0; sgi_function_at(i).name; i++)
        sgi_nearest_offer(nearest, sgi_function_at(i).name);
    sgi_nearest_offer(nearest, "lap");
    sgi_nearest_offer(nearest, "pi");
}

static sg_status resolve_as(sgi_names *names, sgi_symbol *symbol, sg_diagnostic *diagnostic)
{
    char place[96];
    snprintf(place, sizeof place, "in %s '%s'", symbol->constant ? "constant" : "definition",
             symbol->name);
    sgi_scope scope = {names, place, !symbol->constant, !symbol->constant, 0, false};
    const sgi_yaml *node = symbol->value;
    if (node->kind != SG_YAML_SCALAR) {
        sgi_yaml_place(diagnostic, node, 0, 0);
        sgi_diagnostic_say(diagnostic, "'%s' must be an expression, not %s", symbol->name,
                           sgi_yaml_kind_name(node->kind));
        return SG_ERROR_FORMAT;
    }
    return sgi_names_parse(&scope, node, 0, node->length, SG_READ_VALUE, &symbol->expr, diagnostic);
}

sg_status sgi_names_resolve(sgi_names *names, sgi_symbol *symbol, sg_diagnostic *diagnostic)
{
    if (symbol->state == SG_SYMBOL_DONE)
        return SG_OK;
    if (symbol->state == SG_SYMBOL_OPEN) {
        sgi_yaml_place(diagnostic, symbol->value, 0, 0);
        sgi_diagnostic_say(diagnostic, "'%s' is defined in terms of itself", symbol->name);
        return SG_ERROR_FORMAT;
    }
    symbol->state = SG_SYMBOL_OPEN;
    sg_status status = resolve_as(names, symbol, diagnostic);
    symbol->state = status == SG_OK ? SG_SYMBOL_DONE : SG_SYMBOL_WAITING;
    return status;
}
