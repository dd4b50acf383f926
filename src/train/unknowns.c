/* Unknown constants in what a run writes down and shows: see unknowns.h. */
#include "train/unknowns.h"

#include "pinn/pinn.h"

size_t sgi_unknowns_show(const sg_pinn *pinn, sgi_value *values)
{
    for (size_t k = 0; k < pinn->problem->unknown_count; k++)
        values[k] = (sgi_value){pinn->problem->unknowns[k].label, pinn->problem->unknowns[k].name,
                                sg_pinn_unknown_value(pinn, k), SG_LOOK_DIGITS, 0};
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

void sgi_unknowns_describe(const sg_pinn *pinn, json_t *record)
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
        json_array_append_new(array, object);
    }
    if (array)
        json_object_set_new(record, "unknowns", array);
}
