/* Lines of the metrics: see pinn_lines.h. */
#include "train/pinn_lines.h"

#include <math.h>

#include "pinn/refinement.h"
#include "pinn/second.h"
#include "train/data_file.h"
#include "train/metrics.h"
#include "train/unknowns.h"

/* What refinement took so far, and the points that it leaves the step with. */
static void write_refinement(const sg_pinn *pinn, const sg_pinn_trainer *trainer, json_t *line)
{
    const sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    size_t points = 0;
    for (size_t k = 0; k < sg_pinn_describe(pinn)->set_count; k++)
        points += sg_pinn_items(batch, k);
    json_object_set_new(
        line, "refinement_seconds",
        sgi_json_number(sgi_refinement_seconds(sgi_pinn_trainer_refinement(trainer))));
    json_object_set_new(line, "points", json_integer((json_int_t)points));
}

/* What a step of second order did. */
static void write_second(const sgi_second_report *report, json_t *line)
{
    json_t *object = json_object();
    sgi_json_text(object, "method", report->method);
    json_object_set_new(object, "points", json_integer((json_int_t)report->points));
    json_object_set_new(object, "damping", sgi_json_number(report->damping));
    json_object_set_new(object, "gain", sgi_json_number(report->gain));
    json_object_set_new(object, "length", sgi_json_number(report->length));
    json_object_set_new(object, "tries", json_integer(report->tries));
    json_object_set_new(object, "loss_after", sgi_json_number(report->after));
    json_object_set_new(object, "draws", json_integer((json_int_t)report->draws));
    json_object_set_new(line, "second", object);
}

/* The window of the last step, counted from 1. */
static void write_window(const sg_pinn *pinn, const sg_pinn_trainer *trainer, json_t *line)
{
    if (pinn->problem->windows.count > 0)
        json_object_set_new(line, "window",
                            json_integer((json_int_t)sgi_pinn_trainer_place(trainer).window + 1));
}

void sgi_pinn_line_step(const sg_pinn *pinn, const sg_pinn_trainer *trainer, json_t *line)
{
    write_window(pinn, trainer, line);
    if (pinn->problem->settings.stages.count > 1)
        json_object_set_new(line, "stage",
                            json_integer((json_int_t)sgi_pinn_trainer_last_stage(trainer) + 1));
    sgi_unknowns_write(pinn, line);
    double causal = sgi_pinn_trainer_causal(trainer);
    if (!isnan(causal))
        json_object_set_new(line, "causal", sgi_json_number(causal));
    if (sgi_pinn_trainer_second(trainer))
        write_second(sgi_pinn_trainer_second(trainer), line);
    else if (sgi_pinn_trainer_refinement(trainer))
        write_refinement(pinn, trainer, line);
}

static json_t *error_object(const sg_pinn_error *error)
{
    json_t *object = json_object();
    json_object_set_new(object, "relative_l2", sgi_json_number(error->relative_l2));
    json_object_set_new(object, "max", sgi_json_number(error->largest));
    return object;
}

void sgi_pinn_line_evaluation(const sg_pinn *pinn, const sg_pinn_trainer *trainer,
                              const sg_pinn_loss *validation, const sgi_errors *errors,
                              const sgi_misfits *misfits, json_t *line)
{
    json_t *terms = json_object(), *fields = json_object();
    write_window(pinn, trainer, line);
    for (size_t i = 0; i < validation->term_count; i++)
        json_object_set_new(terms, validation->terms[i].name,
                            sgi_json_number(validation->terms[i].value));
    json_object_set_new(json_object_get(line, "validation"), "terms", terms);
    sgi_unknowns_write(pinn, line);
    for (size_t i = 0; errors && i < errors->field_count; i++)
        json_object_set_new(fields, errors->fields[i].field, error_object(&errors->fields[i]));
    if (errors)
        json_object_set(line, "error", fields);
    json_decref(fields);
    if (misfits)
        json_object_set_new(line, "misfit", sgi_misfit_record(misfits));
}
