/* One step's pass over the gradients, as the optimizers' files share it. */
#ifndef SG_OPTIM_PASS_H
#define SG_OPTIM_PASS_H

#include "optim/state.h"
#include "scale/scaler.h"

/* What a unit needs to know of the step. */
typedef struct sgi_step_pass {
    sg_optim *optim;
    const sg_scaler *scaler; /* NULL: gradients as they are */
    double rate;
    double clip;
} sgi_step_pass;

/* A part of a span: where it lies, and what the step does to it. */
typedef struct sgi_stretch {
    sg_optim *optim;
    size_t span, begin, count;
    sg_type type;
    void *value;
    const void *gradient;
    double factor; /* that the gradient is multiplied by */
    double rate;
    uint64_t past; /* steps that the span has taken */
} sgi_stretch;

typedef void sgi_stretch_function(const sgi_stretch *stretch, void *context);

/* Whether span `span` takes part in the step: it has a gradient and is not frozen. */
bool sgi_pass_takes(const sg_optim *optim, size_t span);

/* Calls `visit` on unit `index`, in one stretch or in several whose lengths (but the last) are
 * multiples of SG_SUM_LANES; not at all for a span that does not take part. */
void sgi_pass_unit(const sgi_step_pass *pass, size_t index, sgi_stretch_function *visit,
                   void *context);

/* The weight decay of its span: none of a scalar. */
double sgi_stretch_decay(const sgi_stretch *stretch);

/* Where the stretch lies in buffer `buffer`. */
void *sgi_stretch_buffer(const sgi_stretch *stretch, size_t buffer);

#endif
