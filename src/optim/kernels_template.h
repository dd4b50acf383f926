/* The loops for one element type REAL. The order of operations and of roundings is PyTorch's. */

static void NAME(adam)(void *values, const void *gradients, void *first, void *second, size_t count,
                       const sgi_adam_step *step)
{
    REAL *restrict p = values, *restrict m = first, *restrict v = second;
    const REAL *restrict g = gradients;
    const REAL factor = (REAL)step->factor, keep = (REAL)step->keep, l2 = (REAL)step->l2;
    const REAL b1 = (REAL)step->beta1, c1 = (REAL)(1 - step->beta1);
    const REAL b2 = (REAL)step->beta2, c2 = (REAL)(1 - step->beta2);
    const REAL root = (REAL)step->root_correction, eps = (REAL)step->eps, rate = (REAL)step->rate;
    for (size_t i = 0; i < count; i++) {
        REAL value = p[i] * keep;
        REAL gradient = g[i] * factor + l2 * value;
        m[i] = m[i] * b1 + c1 * gradient;
        v[i] = v[i] * b2 + c2 * gradient * gradient;
        p[i] = value - rate * (m[i] / (SQRT(v[i]) / root + eps));
    }
}

static void NAME(sgd)(void *values, const void *gradients, void *buffer, size_t count,
                      const sgi_sgd_step *step)
{
    REAL *restrict p = values, *restrict b = buffer;
    const REAL *restrict g = gradients;
    const REAL factor = (REAL)step->factor, l2 = (REAL)step->l2, rate = (REAL)step->rate;
    const REAL unit = (REAL)step->unit, keep = (REAL)step->keep;
    if (!b) {
        for (size_t i = 0; i < count; i++) {
            REAL value = p[i] * keep;
            p[i] = value - rate * (g[i] * factor * unit + l2 * value);
        }
        return;
    }
    const REAL momentum = step->first ? 0 : (REAL)step->momentum;
    const REAL fresh = step->first ? 1 : (REAL)(1 - step->dampening);
    const REAL ahead = step->nesterov ? (REAL)step->momentum : 1;
    const REAL direct = step->nesterov ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        REAL value = p[i] * keep;
        REAL gradient = g[i] * factor * unit + l2 * value;
        b[i] = momentum * b[i] + fresh * gradient;
        p[i] = value - rate * (direct * gradient + ahead * b[i]);
    }
}

/* What LAMB's step would be, in squares: nothing is changed yet, for how far the values move
 * depends on these sums over the whole tensor. */
static void NAME(lamb_look)(const void *values, const void *gradients, const void *first,
                            const void *second, size_t count, const sgi_adam_step *step,
                            sgi_lanes sums[2])
{
    const REAL *restrict p = values, *restrict g = gradients;
    const REAL *restrict m = first, *restrict v = second;
    const REAL factor = (REAL)step->factor;
    const REAL b1 = (REAL)step->beta1, c1 = (REAL)(1 - step->beta1);
    const REAL b2 = (REAL)step->beta2, c2 = (REAL)(1 - step->beta2);
    const REAL root = (REAL)step->root_correction, eps = (REAL)step->eps;
    const REAL first_correction = (REAL)step->first_correction, l2 = (REAL)step->l2;
    sgi_lanes values2 = sums[0], moves2 = sums[1];
    for (size_t i = 0; i < count; i++) {
        REAL gradient = g[i] * factor;
        REAL mean = m[i] * b1 + c1 * gradient, square = v[i] * b2 + c2 * gradient * gradient;
        REAL move = mean / first_correction / (SQRT(square) / root + eps) + l2 * p[i];
        values2.of[i % SG_SUM_LANES] += (double)p[i] * (double)p[i];
        moves2.of[i % SG_SUM_LANES] += (double)move * (double)move;
    }
    sums[0] = values2;
    sums[1] = moves2;
}

static void NAME(lamb_move)(void *values, const void *gradients, void *first, void *second,
                            size_t count, const sgi_adam_step *step)
{
    REAL *restrict p = values, *restrict m = first, *restrict v = second;
    const REAL *restrict g = gradients;
    const REAL factor = (REAL)step->factor, rate = (REAL)step->rate;
    const REAL b1 = (REAL)step->beta1, c1 = (REAL)(1 - step->beta1);
    const REAL b2 = (REAL)step->beta2, c2 = (REAL)(1 - step->beta2);
    const REAL root = (REAL)step->root_correction, eps = (REAL)step->eps;
    const REAL first_correction = (REAL)step->first_correction, l2 = (REAL)step->l2;
    for (size_t i = 0; i < count; i++) {
        REAL gradient = g[i] * factor;
        m[i] = m[i] * b1 + c1 * gradient;
        v[i] = v[i] * b2 + c2 * gradient * gradient;
        p[i] -= rate * (m[i] / first_correction / (SQRT(v[i]) / root + eps) + l2 * p[i]);
    }
}

static void NAME(squares)(const void *gradients, size_t count, double factor, sgi_lanes *sum)
{
    const REAL *restrict g = gradients;
    const REAL by = (REAL)factor;
    sgi_lanes lanes = *sum;
    for (size_t i = 0; i < count; i++) {
        REAL gradient = g[i] * by;
        lanes.of[i % SG_SUM_LANES] += (double)gradient * (double)gradient;
    }
    *sum = lanes;
}
