/* The effective dynamics of a problem: see diagnose.h. */
#include "diagnose/diagnose.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/params.h"
#include "diagnose/trial.h"
#include "pinn/pinn.h"
#include "scale/blocks.h"
#include "scale/scaler.h"

struct sgi_diagnose {
    sg_allocator allocator;
    sg_pinn *twin; /* the problem with a network in double */
    sg_pinn_batch *batch;
    sg_scaler *scaler; /* over the twin's parameters, always on */
    double shrunk;     /* residuals of the batch over those of a training step */
    size_t size, parameters, spans, block_count, products;
    size_t *block_of_span, *span_of_itself; /* (spans) */
    double *factors;                        /* (spans): P */
    double *values, *step, *direction;      /* (parameters) */
    double *r, *after, *product;            /* (size) */
    double *kernel; /* (size, size), and the Jacobian that makes it: a small batch's, or NULL */
    sg_jacobian *jacobian;
    sgi_spectrum plain, scaled;
    sgi_block_update *updates; /* (spans) */
    sgi_diagnosed_block *blocks;
    sgi_trial trial;
};

/* ---- Making -----------------------------------------------------------------------------------
 */

static sg_status open_twin(sgi_diagnose *d, sg_pinn *pinn)
{
    static const char *const in_double[] = {"network.precision=double"};
    const char *text;
    sg_status status = sg_pinn_text(pinn, &text);
    return status == SG_OK ? sg_pinn_read(&d->twin, sg_pinn_describe(pinn)->name, text,
                                          strlen(text), in_double, 1, &d->allocator, NULL)
                           : status;
}

/* Every set shrunk by the same factor, to at least one item. */
static sg_status open_batch(sgi_diagnose *d, const sgi_diagnose_config *config)
{
    const sg_pinn_information *information = sg_pinn_describe(d->twin);
    sg_pinn_batch_config batch = {
        .stream = SG_POINTS_DIAGNOSIS, .tangents = true, .pool = config->pool, .isa = config->isa};
    size_t *items = sgi_allocate(&d->allocator, information->set_count, sizeof *items), all = 0;
    if (!items)
        return SG_ERROR_MEMORY;
    for (size_t s = 0; s < information->set_count; s++)
        all += information->sets[s].items * information->sets[s].components;
    double most = config->residuals ? (double)config->residuals : (double)all;
    double factor = fmin(most / (double)all, 1);
    for (size_t s = 0; s < information->set_count; s++)
        items[s] = (size_t)fmax(floor((double)information->sets[s].items * factor), 1);
    batch.items = items;
    sg_status status = sg_pinn_batch_create(&d->batch, d->twin, &batch, &d->allocator);
    sgi_release(&d->allocator, items);
    if (status != SG_OK)
        return status;
    d->size = sg_pinn_residual_count(d->batch);
    d->shrunk = (double)d->size / (double)all;
    return SG_OK;
}

static sg_status open_scaler(sgi_diagnose *d, sg_pinn *pinn, const sgi_diagnose_config *config)
{
    const sgi_problem *problem = pinn->problem;
    sg_scale_config scale = sgi_problem_scale(problem, sgi_problem_rescaled_stage(problem));
    scale.method = SG_METHOD_STABLEGRAD; /* also of a run without: what it would do */
    scale.from = 0;
    scale.until = SG_FOREVER;
    scale.isa = config->isa;
    return sg_scaler_create(&d->scaler, sg_pinn_params(d->twin), &scale, config->pool,
                            &d->allocator);
}

static double *take(sgi_diagnose *d, size_t count)
{
    return sgi_allocate(&d->allocator, count, sizeof(double));
}

static sg_status take_arrays(sgi_diagnose *d)
{
    d->values = take(d, d->parameters);
    d->step = take(d, d->parameters);
    d->direction = take(d, d->parameters);
    d->r = take(d, d->size);
    d->after = take(d, d->size);
    d->product = take(d, d->size);
    d->factors = take(d, d->spans);
    d->updates = sgi_allocate(&d->allocator, d->spans, sizeof *d->updates);
    d->blocks = sgi_allocate(&d->allocator, d->spans, sizeof *d->blocks);
    d->block_of_span = sgi_allocate(&d->allocator, d->spans, sizeof *d->block_of_span);
    d->span_of_itself = sgi_allocate(&d->allocator, d->spans, sizeof *d->span_of_itself);
    return d->values && d->step && d->direction && d->r && d->after && d->product && d->factors &&
                   d->updates && d->blocks && d->block_of_span && d->span_of_itself
               ? SG_OK
               : SG_ERROR_MEMORY;
}

/* Where the eigenvalues go, and for a small batch the kernel that they are taken from. */
static sg_status prepare_spectra(sgi_diagnose *d)
{
    bool dense = d->size <= SGI_DENSE_RESIDUALS;
    size_t most = dense ? d->size : d->products;
    sg_status status = sgi_spectrum_create(&d->plain, most, &d->allocator);
    if (status == SG_OK)
        status = sgi_spectrum_create(&d->scaled, most, &d->allocator);
    if (status != SG_OK || !dense)
        return status;
    d->kernel = take(d, d->size * d->size);
    sg_jacobian_config config = {.jet = sg_pinn_engine(d->batch)};
    return d->kernel ? sg_jacobian_create(&d->jacobian, &config, &d->allocator) : SG_ERROR_MEMORY;
}

static sg_status prepare(sgi_diagnose *d, sg_pinn *pinn, const sgi_diagnose_config *config)
{
    const sg_params *params = sg_pinn_params(d->twin);
    d->parameters = sg_jet_network_parameters(sg_pinn_network(d->twin));
    d->spans = params->count;
    d->products = config->products ? config->products : SGI_LANCZOS_PRODUCTS;
    sg_status status = take_arrays(d);
    if (status == SG_OK)
        status = prepare_spectra(d);
    if (status != SG_OK)
        return status;
    d->block_count =
        sgi_blocks_assign(params, sg_scaler_config(d->scaler)->blocks, d->block_of_span);
    for (size_t s = 0; s < d->spans; s++)
        d->span_of_itself[s] = s;
    return sgi_trial_create(&d->trial, sg_pinn_network(pinn), &d->allocator);
}

sg_status sgi_diagnose_create(sgi_diagnose **out, sg_pinn *pinn, const sgi_diagnose_config *config,
                              const sg_allocator *given)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    *out = NULL;
    sgi_diagnose *d = sgi_allocate(&allocator, 1, sizeof *d);
    if (!d)
        return SG_ERROR_MEMORY;
    d->allocator = allocator;
    sg_status status = open_twin(d, pinn);
    if (status == SG_OK)
        status = open_batch(d, config);
    if (status == SG_OK)
        status = open_scaler(d, pinn, config);
    if (status == SG_OK)
        status = prepare(d, pinn, config);
    if (status == SG_OK)
        *out = d;
    else
        sgi_diagnose_destroy(d);
    return status;
}

void sgi_diagnose_destroy(sgi_diagnose *d)
{
    if (!d)
        return;
    sg_allocator allocator = d->allocator;
    void *parts[] = {d->values, d->step,    d->direction,     d->r,
                     d->after,  d->product, d->factors,       d->updates,
                     d->blocks, d->kernel,  d->block_of_span, d->span_of_itself};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sgi_release(&allocator, parts[i]);
    sgi_trial_release(&d->trial);
    sgi_spectrum_release(&d->plain, &allocator);
    sgi_spectrum_release(&d->scaled, &allocator);
    sg_jacobian_destroy(d->jacobian);
    sg_scaler_destroy(d->scaler);
    sg_pinn_batch_destroy(d->batch);
    sg_pinn_close(d->twin);
    sgi_release(&allocator, d);
}

/* ---- Gradient and factors ---------------------------------------------------------------------
 */

static double *twin_values(const sgi_diagnose *d)
{
    return sg_jet_network_values(sg_pinn_network(d->twin));
}

static void set_weights(const sgi_diagnose *d, const double *values)
{
    memcpy(twin_values(d), values, d->parameters * sizeof *values);
}

/* The moments of the signal as a whole training batch would have them. */
static sg_moments signal_of(const sgi_diagnose *d, const sg_pinn_loss *loss)
{
    bool output = sg_scaler_config(d->scaler)->reference == SG_REFERENCE_OUTPUT;
    sg_moments signal = output ? loss->output : loss->residual;
    double factor = output ? d->shrunk : sqrt(d->shrunk);
    signal.mean *= factor;
    signal.m2 *= factor * factor;
    return signal;
}

static sg_status measure_gradient(sgi_diagnose *d, uint64_t step, sgi_diagnosis *result)
{
    sg_pinn_loss loss;
    sg_pinn_gradient(d->batch, NULL, &loss);
    sg_pinn_residuals(d->batch, d->r);
    sg_moments signal = signal_of(d, &loss);
    sg_status status = sg_scaler_observe_moments(d->scaler, &signal);
    if (status == SG_OK)
        status = sg_scaler_measure(d->scaler, step);
    const sg_scale_report *report = sg_scaler_report(d->scaler);
    result->loss = loss.total;
    result->finite = report->outcome != SG_STEP_NOT_FINITE && isfinite(loss.total);
    result->reference = report->reference;
    result->ratio_raw = report->ratio_raw;
    result->ratio_scaled = report->ratio_scaled;
    for (size_t s = 0; s < d->spans; s++)
        d->factors[s] = sgi_scaler_factor(d->scaler, s);
    for (size_t b = 0; b < d->block_count; b++) {
        const sg_block_report *block = &report->blocks[b];
        d->blocks[b] = (sgi_diagnosed_block){.name = block->name,
                                             .std = block->std,
                                             .factor = block->factor,
                                             .scaled_std = block->scaled_std};
    }
    return status;
}

/* ---- Kernels ----------------------------------------------------------------------------------
 */

/* direction <- P direction; NULL: as it is. */
static void apply_factors(const sgi_diagnose *d, const double *factors)
{
    const sg_params *params = sg_pinn_params(d->twin);
    for (size_t s = 0, i = 0; factors && s < d->spans; s++)
        for (size_t end = i + params->spans[s].count; i < end; i++)
            d->direction[i] *= factors[s];
}

/* The product with J P J^T; `factors` NULL means P = 1. */
typedef struct kernel_product {
    sgi_diagnose *diagnose;
    const double *factors;
} kernel_product;

static sg_status multiply(void *context, const double *vector, double *product)
{
    const kernel_product *k = context;
    sgi_diagnose *d = k->diagnose;
    sg_status status = sg_pinn_pull(d->batch, vector, d->direction);
    apply_factors(d, k->factors);
    return status == SG_OK ? sg_pinn_push(d->batch, d->direction, product) : status;
}

static sg_status find_spectrum(sgi_diagnose *d, const double *factors, sgi_spectrum *spectrum)
{
    if (!d->kernel)
        return sgi_spectrum_lanczos(spectrum, multiply, &(kernel_product){d, factors}, d->size,
                                    d->r, d->products, &d->allocator);
    sg_status status = sg_jacobian_kernel(d->jacobian, factors, d->kernel);
    if (status == SG_OK)
        sgi_pinn_average_kernel(d->batch, d->kernel);
    return status == SG_OK ? sgi_spectrum_dense(spectrum, d->kernel, d->size, d->r, &d->allocator)
                           : status;
}

/* By how much the linearised step along P g lowers the loss; g is in the twin's gradients. */
static sg_status find_decrease(sgi_diagnose *d, const double *factors, double rate, double *result)
{
    memcpy(d->direction, sg_jet_network_gradients(sg_pinn_network(d->twin)),
           d->parameters * sizeof *d->direction);
    apply_factors(d, factors);
    sg_status status = sg_pinn_push(d->batch, d->direction, d->product);
    *result = sgi_linear_decrease(d->r, d->product, d->size, rate);
    return status;
}

static sg_status measure_kernels(sgi_diagnose *d, double rate, sgi_diagnosis *result)
{
    sg_status status = find_decrease(d, NULL, rate, &result->decrease);
    if (status == SG_OK)
        status = find_decrease(d, d->factors, rate, &result->decrease_scaled);
    if (status == SG_OK)
        status = find_spectrum(d, NULL, &d->plain);
    if (status == SG_OK)
        status = find_spectrum(d, d->factors, &d->scaled);
    if (status != SG_OK)
        return status;
    const sg_scale_report *report = sg_scaler_report(d->scaler);
    result->plain = &d->plain;
    result->scaled = &d->scaled;
    result->theorem = sgi_theorem_of(report->blocks, report->block_count, 2 * result->loss, rate,
                                     d->plain.values[0], d->scaled.values[0]);
    return SG_OK;
}

/* ---- The optimizer's step ---------------------------------------------------------------------
 */

static sg_status measure_step(sgi_diagnose *d, sg_pinn_trainer *trainer, sgi_diagnosis *result)
{
    sg_step_info info;
    sg_status status = sgi_trial_step(&d->trial, trainer, d->step, &info);
    if (status != SG_OK || info.skipped)
        return status;
    result->stepped = true;
    result->rescaled = info.rescaled;
    status = sg_pinn_push(d->batch, d->step, d->product);
    if (status != SG_OK)
        return status;
    for (size_t i = 0; i < d->parameters; i++)
        twin_values(d)[i] += d->step[i];
    sg_pinn_residuals(d->batch, d->after);
    set_weights(d, d->values);
    result->linear_error = sgi_linear_error(d->r, d->after, d->product, d->size);
    const sg_params *params = sg_pinn_params(d->twin);
    result->tensor_spread =
        sgi_update_of(params, d->span_of_itself, d->values, d->step, d->updates, d->spans).spread;
    result->update =
        sgi_update_of(params, d->block_of_span, d->values, d->step, d->updates, d->block_count);
    for (size_t b = 0; b < d->block_count; b++)
        d->blocks[b].update = d->updates[b];
    return SG_OK;
}

sg_status sgi_diagnose_measure(sgi_diagnose *d, sg_pinn_trainer *trainer, sgi_diagnosis *result)
{
    const sg_optim *optim = sg_pinn_trainer_optim(trainer);
    if (!optim)
        return SG_ERROR_UNSUPPORTED; /* a method of second order has no such step */
    *result = (sgi_diagnosis){.step = sgi_pinn_trainer_steps(trainer),
                              .residuals = d->size,
                              .blocks = d->blocks,
                              .block_count = d->block_count};
    sgi_trial_values(&d->trial, d->values);
    set_weights(d, d->values);
    sg_status status = measure_gradient(d, result->step, result);
    if (status != SG_OK || !result->finite)
        return status;
    status = measure_kernels(d, sg_optim_rate(optim), result);
    return status == SG_OK ? measure_step(d, trainer, result) : status;
}
