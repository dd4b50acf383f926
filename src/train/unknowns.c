/* Unknown constants in what a run writes down and shows: see unknowns.h. */
#include "train/unknowns.h"

size_t sgi_unknowns_show(const sg_pinn *pinn, const sgi_intervals *intervals, sgi_value *values)
{
    for (size_t k = 0; k < pinn->problem->unknown_count; k++) {
        const sgi_unknown *u = &pinn->problem->unknowns[k];
        values[k] = (sgi_value){
            .key = u->label,
            .title = u->name,
            .value = sg_pinn_unknown_value(pinn, k),
            .look = SG_LOOK_DIGITS,
            .low = intervals ? intervals->rows[k].lower : 0,
            .high = intervals ? intervals->rows[k].upper : 0,
        };
    }
    return pinn->problem->unknown_count;
}

void sgi_unknowns_write(const sg_pinn *pinn, json_t *line)
{
    size_t count = pinn->problem->unknown_count;
    json_t *object = count > 0 ? json_object() : NULL;
    for (size_t k = 0; k < count; k++)
        json_object_set_new(object, pinn->problem->unknowns[k].name,
                            sgi_json_number(sg_pinn_unknown_value(pinn, k)));
    if (object)
        json_object_set_new(line, "unknowns", object);
}

static void describe_interval(const sg_pinn_interval *row, json_t *object)
{
    json_object_set_new(object, "std", sgi_json_number(row->std));
    json_object_set_new(object, "low", sgi_json_number(row->lower));
    json_object_set_new(object, "high", sgi_json_number(row->upper));
    json_object_set_new(object, "degrees", sgi_json_number(row->degrees));
    json_object_set_new(object, "move", sgi_json_number(row->move));
    json_object_set_new(object, "determined", json_boolean(row->determined));
}

/* What belongs to all of them together. */
static void describe_all(const sgi_intervals *intervals, json_t *record)
{
    json_t *notes = json_array(), *rows = json_array();
    for (int i = 0; i < intervals->note_count; i++)
        json_array_append_new(notes, json_string(intervals->notes[i]));
    for (size_t i = 0; i < intervals->count; i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < intervals->count; k++)
            json_array_append_new(
                row, sgi_json_number(intervals->correlations[i * intervals->count + k]));
        json_array_append_new(rows, row);
    }
    json_object_set_new(record, "unknown_notes", notes);
    json_object_set_new(record, "unknown_correlations", rows);
}

void sgi_unknowns_describe(const sg_pinn *pinn, const sgi_intervals *intervals, json_t *record)
{
    size_t count = pinn->problem->unknown_count;
    json_t *array = count > 0 ? json_array() : NULL;
    for (size_t k = 0; k < count; k++) {
        const sgi_unknown *u = &pinn->problem->unknowns[k];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(u->name));
        json_object_set_new(object, "start", sgi_json_number(u->start));
        json_object_set_new(object, "lower", sgi_json_number(u->lower));
        json_object_set_new(object, "upper", sgi_json_number(u->upper));
        json_object_set_new(object, "value", sgi_json_number(sg_pinn_unknown_value(pinn, k)));
        if (intervals)
            describe_interval(&intervals->rows[k], object);
        json_array_append_new(array, object);
    }
    if (array)
        json_object_set_new(record, "unknowns", array);
    if (intervals)
        describe_all(intervals, record);
}
