/* data.npz: see data_file.h. */
#include "train/data_file.h"

#include <math.h>
#include <stdio.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/npz.h"
#include "train/metrics.h"
#include "train/run_folder.h"

/* Row `i` of those that are written, of `count` in all. */
static size_t row_of(size_t i, size_t shown, size_t count)
{
    return (size_t)((double)i * (double)count / (double)shown);
}

typedef struct writer {
    sgi_npz *npz;
    const sgi_misfit_set *set;
    size_t index, shown;
    double *block; /* (shown, the wider of coordinates and observed) */
    sg_diagnostic *diagnostic;
} writer;

static sg_status add(const writer *w, const char *name, size_t rows, size_t columns)
{
    char full[64];
    snprintf(full, sizeof full, "%s_%zu", name, w->index);
    return sgi_npz_add(w->npz, full, SG_ARRAY_FLOAT64, 2, (const size_t[]){rows, columns}, w->block,
                       w->diagnostic);
}

static sg_status add_points(const writer *w, size_t d)
{
    const sgi_data *data = w->set->data;
    for (size_t i = 0; i < w->shown; i++)
        for (size_t k = 0; k < d; k++)
            w->block[i * d + k] = data->points[row_of(i, w->shown, data->count) * d + k];
    sg_status status = add(w, "points", w->shown, d);
    for (size_t i = 0; i < w->shown; i++)
        w->block[i] = row_of(i, w->shown, data->count) >= data->trained;
    return status == SG_OK ? add(w, "held_out", w->shown, 1) : status;
}

/* Values, deviations or predictions, NaN where nothing was measured. */
static sg_status add_values(const writer *w, const char *name, const double *from)
{
    const sgi_data *data = w->set->data;
    size_t observed = (size_t)data->observed;
    for (size_t j = 0; j < observed; j++)
        for (size_t i = 0; i < w->shown; i++) {
            size_t row = row_of(i, w->shown, data->count), at = j * data->count + row;
            double value = from ? from[at] : w->set->predicted[j][row];
            w->block[j * w->shown + i] = data->factors[at] == 0 ? NAN : value;
        }
    return add(w, name, observed, w->shown);
}

static sg_status add_set(writer *w, size_t d)
{
    const sgi_data *data = w->set->data;
    sg_status status = add_points(w, d);
    if (status == SG_OK)
        status = add_values(w, "values", data->values);
    if (status == SG_OK)
        status = add_values(w, "predicted", NULL);
    return status == SG_OK && data->stds ? add_values(w, "stds", data->stds) : status;
}

sg_status sgi_data_write(const char *folder, const sgi_misfits *misfits, sg_diagnostic *diagnostic)
{
    const sg_allocator *allocator = &misfits->allocator;
    char path[SG_PATH_SIZE];
    sgi_npz *npz;
    size_t d = (size_t)misfits->problem->names.coordinate_count;
    sg_status status = sgi_run_path(path, folder, "data.npz");
    if (status != SG_OK)
        return sgi_fail_file(diagnostic, status, folder, "the path is too long");
    status = sgi_npz_create(&npz, path, allocator, diagnostic);
    if (status != SG_OK)
        return status;
    for (size_t i = 0; i < misfits->count && status == SG_OK; i++) {
        const sgi_data *data = misfits->sets[i].data;
        size_t observed = (size_t)data->observed, wide = observed > d ? observed : d;
        writer w = {.npz = npz,
                    .set = &misfits->sets[i],
                    .index = i,
                    .shown = data->count < SG_DATA_SHOWN ? data->count : SG_DATA_SHOWN,
                    .diagnostic = diagnostic};
        w.block = sgi_allocate(allocator, w.shown, wide * sizeof *w.block);
        status = w.block ? add_set(&w, d)
                         : sgi_fail(diagnostic, SG_ERROR_MEMORY,
                                    "data.npz cannot be made: out of memory");
        sgi_release(allocator, w.block);
    }
    if (status == SG_OK)
        return sgi_npz_commit(npz, diagnostic);
    sgi_npz_abandon(npz);
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

json_t *sgi_data_record(const sgi_misfits *misfits)
{
    json_t *array = json_array();
    for (size_t i = 0; i < misfits->count; i++) {
        const sgi_data *data = misfits->sets[i].data;
        json_t *object = json_object(), *observed = json_array();
        sgi_json_text(object, "name", data->name->text);
        for (int j = 0; j < data->observed; j++)
            json_array_append_new(observed, json_string(data->texts[j]));
        json_object_set_new(object, "observed", observed);
        json_object_set_new(object, "trained", json_integer((json_int_t)data->trained));
        json_object_set_new(object, "held_out",
                            json_integer((json_int_t)(data->count - data->trained)));
        json_object_set_new(object, "missing", json_integer((json_int_t)data->missing));
        json_object_set_new(object, "outside", json_integer((json_int_t)data->outside));
        json_object_set_new(object, "deviations", json_boolean(data->stds != NULL));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *misfit_object(const sgi_misfit *misfit)
{
    json_t *object = json_object();
    json_object_set_new(object, "trained", sgi_json_number(misfit->trained));
    if (!isnan(misfit->held_out))
        json_object_set_new(object, "held_out", sgi_json_number(misfit->held_out));
    return object;
}

json_t *sgi_misfit_record(const sgi_misfits *misfits)
{
    json_t *sets = json_object();
    for (size_t i = 0; i < misfits->count; i++) {
        const sgi_misfit_set *set = &misfits->sets[i];
        json_t *object = misfit_object(&set->all);
        for (int j = 0; set->data->observed > 1 && j < set->data->observed; j++)
            json_object_set_new(object, set->data->texts[j], misfit_object(&set->observed[j]));
        json_object_set_new(sets, set->data->name->text, object);
    }
    return sets;
}
