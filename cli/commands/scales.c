/* Sizes of coordinates, fields and terms: see scales.h. */
#include "commands/scales.h"

#include <stdio.h>

#include "problem/data.h"
#include "train/metrics.h"

static void print_scale(const char *name, const sgi_scale *scale)
{
    char offset[32] = "";
    if (scale->offset != 0)
        (void)snprintf(offset, sizeof offset, "%.6g", scale->offset);
    printf("  %-12s %10.4g  %10s  %s\n", name, scale->size, offset, scale->origin);
}

/* The scales of a term's components, "8" or "80, 8000". */
static void print_term(const sgi_point_set *set, int term)
{
    const char *before = "";
    printf("  %-12s ", set->terms[term].name);
    if (set->data && set->data->stds) {
        printf("  one standard deviation counts %.4g\n", set->data->spread);
        return;
    }
    for (int c = 0; c < set->component_count; c++)
        if (set->component_terms[c] == term) {
            printf(*before ? "%s%.4g" : "%s%10.4g", before, set->scales[c]);
            before = ", ";
        }
    printf("\n");
}

void print_scales(const sgi_problem *problem)
{
    const sgi_names *names = &problem->names;
    const sgi_scales *scales = &problem->scales;
    if (!scales->on)
        return;
    printf("\n%-14s %10s  %10s  %s\n", "scales", "size", "offset", "from");
    for (int k = 0; k < names->coordinate_count; k++)
        print_scale(names->coordinates[k], &scales->coordinates[k]);
    for (int f = 0; f < names->field_count; f++)
        print_scale(names->fields[f], &scales->fields[f]);
    printf("\nterms          divided by, in the loss and the channels above\n");
    for (int s = 0; s < problem->set_count; s++)
        for (int t = 0; t < problem->sets[s].term_count; t++)
            print_term(&problem->sets[s], t);
}

static json_t *json_scale(const sgi_scale *scale)
{
    json_t *object = json_object();
    json_object_set_new(object, "size", sgi_json_number(scale->size));
    json_object_set_new(object, "offset", sgi_json_number(scale->offset));
    json_object_set_new(object, "from", json_string(scale->origin));
    return object;
}

json_t *json_scales(const sgi_problem *problem)
{
    const sgi_names *names = &problem->names;
    const sgi_scales *scales = &problem->scales;
    if (!scales->on)
        return NULL;
    json_t *object = json_object(), *sizes = json_object(), *terms = json_object();
    for (int k = 0; k < names->coordinate_count; k++)
        json_object_set_new(sizes, names->coordinates[k], json_scale(&scales->coordinates[k]));
    for (int f = 0; f < names->field_count; f++)
        json_object_set_new(sizes, names->fields[f], json_scale(&scales->fields[f]));
    for (int s = 0; s < problem->set_count; s++) {
        const sgi_point_set *set = &problem->sets[s];
        for (int t = 0; t < set->term_count; t++) {
            json_t *list = json_array();
            for (int c = 0; c < set->component_count; c++)
                if (set->component_terms[c] == t)
                    json_array_append_new(list, sgi_json_number(set->scales[c]));
            json_object_set_new(terms, set->terms[t].name, list);
        }
    }
    json_object_set_new(object, "sizes", sizes);
    json_object_set_new(object, "terms", terms);
    return object;
}
