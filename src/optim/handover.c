/* The hand-over between rescaled and raw gradients: see handover.h. */
#include "optim/handover.h"

#include <math.h>
#include <string.h>

/* A step keeps this much of the record's weight, so that it remembers about ten steps. */
static const double memory = 0.9;

/* What clipping would multiply the raw gradients of this step by. */
static double raw_clip(const sg_optim *optim, const sgi_scaler_view *view)
{
    return sgi_clip_factor(&optim->config, sqrt(view->raw_norm2));
}

/* What the gradient of span `span` is multiplied by in this step, against what it would be without
 * StableGrad: the factor, and with clipping how much more or less the rescaled one is clipped. */
static double gain(const sg_optim *optim, size_t span, const sg_scaler *scaler,
                   const sgi_scaler_view *view)
{
    double clip = sgi_clip_factor(&optim->config, sqrt(view->norm2));
    return sgi_scaler_gain(scaler, span) * (clip / raw_clip(optim, view));
}

void sgi_handover_record(sg_optim *optim, size_t span, const sg_scaler *scaler,
                         const sgi_scaler_view *view)
{
    double a = gain(optim, span, scaler, view), clip = raw_clip(optim, view);
    double weight = clip * clip * sgi_scaler_norm2(scaler, span);
    sgi_unit_record *record = &sgi_state_records(optim)[span];
    record->weight = memory * record->weight + weight;
    if (record->weight > 0)
        record->square += weight / record->weight * (a * a - record->square);
}

/* Multiplies by factor^power, in double and one factor after the other: the square of a factor may
 * leave the range of float, while the product with the value does not. */
static void multiply(void *values, sg_type type, size_t count, double factor, int power)
{
    for (size_t i = 0; i < count; i++) {
        double x = type == SG_FLOAT32 ? (double)((float *)values)[i] : ((double *)values)[i];
        for (int p = 0; p < power; p++)
            x *= factor;
        if (type == SG_FLOAT32)
            ((float *)values)[i] = (float)x;
        else
            ((double *)values)[i] = x;
    }
}

static void forget(sg_optim *optim, size_t span)
{
    for (size_t b = 0; b < optim->buffers.count; b++)
        memset(sgi_state_buffer(optim, span, b), 0,
               sgi_state_elements(optim, span, b) * sgi_type_size(sgi_state_type(optim, span, b)));
    sgi_state_records(optim)[span] = (sgi_unit_record){0, 0};
    sgi_state_span_steps(optim)[span] = 0;
}

/* Takes a span's buffers by `factor` to the unit `a`. */
static void convert(sg_optim *optim, size_t span, double factor, double a)
{
    for (size_t b = 0; b < optim->buffers.count; b++)
        multiply(sgi_state_buffer(optim, span, b), sgi_state_type(optim, span, b),
                 sgi_state_elements(optim, span, b), factor, optim->buffers.powers[b]);
    sgi_state_records(optim)[span].square = a * a;
}

/* Takes one span to units where gradients are multiplied by `a`. */
static void hand_over_span(sg_optim *optim, size_t span, double a, sg_handover how)
{
    const sgi_unit_record *record = &sgi_state_records(optim)[span];
    double factor = record->weight > 0 ? a / sqrt(record->square) : 1;
    if (factor == 1 || how == SG_HANDOVER_KEEP)
        return;
    if (how == SG_HANDOVER_RESTART || !isnormal(factor)) /* a factor that cannot be divided by */
        forget(optim, span);
    else
        convert(optim, span, factor, a);
}

bool sgi_handover(sg_optim *optim, const sg_scaler *scaler, const sgi_scaler_view *view)
{
    sgi_state_header *head = sgi_state_head(optim);
    bool rescaled = view->outcome == SG_STEP_SCALED;
    /* A step without a reference, or not finite, is no end of rescaling. */
    if (rescaled == (head->rescaled == 1) || (!rescaled && view->outcome != SG_STEP_INACTIVE))
        return false;
    for (size_t i = 0; i < optim->params->count; i++)
        hand_over_span(optim, i, rescaled ? gain(optim, i, scaler, view) : 1, view->handover);
    head->rescaled = rescaled;
    return head->steps > head->skipped;
}

sg_status sgi_handover_check(const sg_optim *optim, const sgi_scaler_view *view)
{
    if (view->params != optim->params)
        return SG_ERROR_MISMATCH;
    return view->phase == SG_PHASE_IDLE ? SG_ERROR_ORDER : SG_OK;
}

sg_status sg_optim_handover(sg_optim *optim, const sg_scaler *scaler, bool *handed_over)
{
    if (!optim)
        return SG_ERROR_ARGUMENT;
    sgi_scaler_view view = {.outcome = SG_STEP_INACTIVE, .handover = SG_HANDOVER_CONVERT};
    if (scaler) {
        view = sgi_scaler_look(scaler);
        sg_status status = sgi_handover_check(optim, &view);
        if (status != SG_OK)
            return status;
    }
    bool done = sgi_handover(optim, scaler, &view);
    if (handed_over)
        *handed_over = done;
    return SG_OK;
}
