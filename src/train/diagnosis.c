/* A diagnosis as JSON: see diagnosis.h. */
#include "train/diagnosis.h"

#include <math.h>
#include <stdio.h>

#include "train/metrics.h"

static void put(json_t *object, const char *key, double value, bool known)
{
    json_object_set_new(object, key, sgi_json_number(known ? value : NAN));
}

/* The members have names, by which the columns of the report know them: "1" is the largest. */
static json_t *spectrum_array(const sgi_spectrum *spectrum)
{
    json_t *array = json_array();
    for (size_t k = 0; spectrum && k < spectrum->count && k < SG_WRITTEN_EIGENVALUES; k++) {
        char name[16];
        json_t *object = json_object();
        snprintf(name, sizeof name, "%zu", k + 1);
        json_object_set_new(object, "name", json_string(name));
        json_object_set_new(object, "value", sgi_json_number(spectrum->values[k]));
        json_object_set_new(object, "share", sgi_json_number(spectrum->shares[k]));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *blocks_array(const sgi_diagnosis *d)
{
    json_t *array = json_array();
    for (size_t b = 0; b < d->block_count; b++) {
        const sgi_diagnosed_block *block = &d->blocks[b];
        json_t *object = json_object();
        sgi_json_text(object, "name", block->name);
        put(object, "std", block->std, d->finite);
        put(object, "factor", block->factor, d->finite);
        put(object, "scaled", block->scaled_std, d->finite);
        put(object, "relative_update", block->update.relative, d->stepped);
        put(object, "energy", block->update.share, d->stepped);
        json_array_append_new(array, object);
    }
    return array;
}

static void put_theorem(json_t *object, const sgi_diagnosis *d)
{
    const sgi_theorem *t = &d->theorem;
    put(object, "rate", t->rate, d->finite);
    put(object, "rho", t->rho, d->finite);
    put(object, "rho_sg", t->rho_scaled, d->finite);
    put(object, "lambda_max", t->largest, d->finite);
    put(object, "lambda_max_sg", t->largest_scaled, d->finite);
    put(object, "lambda_ratio", t->ratio, d->finite);
    put(object, "stability", t->stability, d->finite);
    put(object, "margin", t->margin, d->finite);
    json_object_set_new(object, "holds", json_boolean(t->holds));
    put(object, "decrease", d->decrease, d->finite);
    put(object, "decrease_sg", d->decrease_scaled, d->finite);
}

static void put_step(json_t *object, const sgi_diagnosis *d)
{
    const char *largest = d->stepped ? d->blocks[d->update.largest_block].name : NULL;
    json_object_set_new(object, "rescaled", d->stepped ? json_boolean(d->rescaled) : json_null());
    put(object, "e_lin", d->linear_error, d->stepped);
    put(object, "update_spread", d->update.spread, d->stepped);
    put(object, "update_spread_tensors", d->tensor_spread, d->stepped);
    put(object, "energy_largest", d->update.largest_share, d->stepped);
    json_object_set_new(object, "energy_block", largest ? json_string(largest) : json_null());
}

json_t *sgi_diagnosis_object(const sgi_diagnosis *d)
{
    json_t *object = json_object();
    json_object_set_new(object, "residuals", json_integer((json_int_t)d->residuals));
    put(object, "loss", d->loss, d->finite);
    put_theorem(object, d);
    put(object, "reference", d->reference, d->finite);
    put(object, "r_std_raw", d->ratio_raw, d->finite);
    put(object, "r_std_scaled", d->ratio_scaled, d->finite);
    put_step(object, d);
    json_object_set_new(object, "whole_spectrum", json_boolean(d->plain && d->plain->whole));
    json_object_set_new(object, "blocks", blocks_array(d));
    json_object_set_new(object, "spectrum", spectrum_array(d->plain));
    json_object_set_new(object, "spectrum_sg", spectrum_array(d->scaled));
    return object;
}
