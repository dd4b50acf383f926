/* Choosing points by the size of their residual.
 *
 *     sgi_select_weights(residuals, count, 1, 1, weights);    RAD: |r| / mean |r| + 1
 *     sgi_select_once(weights, count, wanted);                no point twice
 *     sgi_select(weights, count, offset, chosen, wanted);
 *
 * RAD (residual-based adaptive distribution), RAR-D (which adds points of that distribution) and R3
 * (retain, resample, release) are those of Wu et al., "A comprehensive study of non-adaptive and
 * residual-based adaptive sampling for physics-informed neural networks", 2023, and of Daw et al.,
 * "Mitigating propagation failures in physics-informed neural networks using
 * retain-resample-release sampling", 2023. Nothing here allocates; results depend on the arguments
 * alone. */
#ifndef SG_PINN_SELECTION_H
#define SG_PINN_SELECTION_H

#include <stddef.h>

/* The size of each item's residual: the norm of its components, residuals (count, components). One
 * that is not finite counts as 0, so that no point is chosen for it. */
void sgi_select_sizes(const double *residuals, size_t count, size_t components, double *sizes);

/* weight = size^power / mean(size^power) + floor. Where all sizes are 0, all weights are 1.
 * `weights` may be `sizes`. */
void sgi_select_weights(const double *sizes, size_t count, double power, double floor,
                        double *weights);

/* Turns weights into the probabilities, of at most 1, with which sgi_select then chooses `wanted`
 * different items, but for rounding: in proportion to the weights but for those that are chosen for
 * certain. Weights are finite, and more than `wanted` of them above 0. */
void sgi_select_once(double *weights, size_t count, size_t wanted);

/* Chooses `wanted` of `count` items in proportion to their weights by systematic resampling: steps
 * of total / wanted along the weights laid end to end, the first at `offset` in [0, 1) of a step.
 * Item i is chosen n_i times, the floor or the ceiling of wanted * weight / total; indices ascend.
 */
void sgi_select(const double *weights, size_t count, double offset, size_t *chosen, size_t wanted);

/* R3: the items whose size is above the mean, ascending; their number. All of one size: none. */
size_t sgi_select_above_mean(const double *sizes, size_t count, size_t *chosen);

#endif
