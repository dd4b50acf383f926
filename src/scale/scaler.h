/* What the optimizer needs of a scaler: this step's transformation of each span's gradient. */
#ifndef SG_SCALE_SCALER_H
#define SG_SCALE_SCALER_H

#include "scale/moments.h"
#include "stablegrad/scale.h"

typedef enum sgi_scaler_phase {
    SG_PHASE_IDLE,
    SG_PHASE_MEASURED,
    SG_PHASE_APPLIED
} sgi_scaler_phase;

typedef struct sgi_scaler_view {
    const sg_params *params;
    sgi_scaler_phase phase;
    sg_outcome outcome;
    sg_handover handover;
    bool sign;        /* gradients are to be replaced by their signs */
    double norm2;     /* of the transformed gradient; when `sign`, as if no element were 0 */
    double raw_norm2; /* of the gradient */
} sgi_scaler_view;

sgi_scaler_view sgi_scaler_look(const sg_scaler *scaler);

/* What span `span` is multiplied by, where it is not rewritten; 1 when it is left as it is. */
double sgi_scaler_factor(const sg_scaler *scaler, size_t span);

/* By how much the root mean square of span `span`'s block grows: the factor; for signs one over the
 * root mean square of the raw gradient; for centred ones less the mean; for AGC that of all rows.
 */
double sgi_scaler_gain(const sg_scaler *scaler, size_t span);

/* |g|^2, raw, of the block of span `span`. */
double sgi_scaler_norm2(const sg_scaler *scaler, size_t span);

/* Whether span `span`'s gradient is replaced by something that is no multiple of it. */
bool sgi_scaler_rewrites(const sg_scaler *scaler, size_t span);

/* Writes what replaces elements [begin, begin + count) of its gradient; `to` may be these. */
void sgi_scaler_rewrite(const sg_scaler *scaler, size_t span, size_t begin, size_t count, void *to);

/* Sums values over the ranks if they hold parts of the gradients; otherwise leaves them as they
 * are. Collective. SG_ERROR_REDUCE if that failed. */
SG_CHECKED sg_status sgi_scaler_sum(const sg_scaler *scaler, double *values, size_t count);

/* Ends the step: the next one must be measured first. */
void sgi_scaler_consume(sg_scaler *scaler);

#endif
