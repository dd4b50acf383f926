/* Values of the network and of the exact solution at points: see stablegrad/pinn.h. */
#include <stdio.h>
#include <string.h>

#include "pinn/errors.h"
#include "pinn/pinn.h"
#include "pinn/quantities.h"

/* Pointers to `count` arrays of `size` values, one after the other. */
static void cut(double *values, size_t count, size_t size, double **arrays)
{
    for (size_t k = 0; k < count; k++)
        arrays[k] = values + k * size;
}

sg_status sg_pinn_evaluate(sg_pinn *p, const char *const *expressions, size_t count,
                           const double *points, size_t point_count, double *values, sg_pool *pool,
                           sg_diagnostic *diagnostic)
{
    if (!p || !expressions || !points || !values)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    double *arrays[SG_MOST_COMPONENTS];
    sgi_point_set set;
    sg_diagnostic unread;
    sg_diagnostic *said = diagnostic ? diagnostic : &unread;
    sg_status status = sgi_problem_quantities(p->problem, expressions, count, &set, said);
    if (status == SG_ERROR_FORMAT) /* the mistake is not in a file or an option of the program */
        snprintf(said->file, sizeof said->file, "expression");
    if (status != SG_OK)
        return sgi_pinn_status(status, said);
    sgi_places places = {NULL, points, point_count};
    cut(values, count, point_count, arrays);
    status =
        sgi_quantities_evaluate(p->problem, &set, p->network, &places, arrays, pool, &p->allocator);
    sgi_point_set_release(&set);
    return sgi_pinn_status(status, said);
}

sg_status sg_pinn_exact(const sg_pinn *p, const double *points, size_t point_count, double *values,
                        sg_pool *pool)
{
    if (!p || !points || !values)
        return SG_ERROR_ARGUMENT;
    double *arrays[SG_MOST_FIELDS];
    sgi_places places = {NULL, points, point_count};
    cut(values, p->information.field_count, point_count, arrays);
    return sgi_places_reference(p->problem, &places, arrays, pool, &p->allocator);
}

sg_status sg_pinn_errors(sg_pinn *p, sg_pinn_error *errors, sg_pool *pool)
{
    if (!p || !errors)
        return SG_ERROR_ARGUMENT;
    sgi_errors *measured;
    sg_status status = sgi_errors_create(&measured, p->problem, pool, &p->allocator);
    if (status == SG_OK && !measured)
        return SG_ERROR_UNSUPPORTED;
    if (status == SG_OK)
        status = sgi_errors_measure(measured, p->network, pool);
    if (status == SG_OK)
        memcpy(errors, measured->fields, measured->field_count * sizeof *errors);
    sgi_errors_destroy(measured);
    return status;
}
