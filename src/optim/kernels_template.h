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
    if (!b) {
        for (size_t i = 0; i < count; i++)
            p[i] -= rate * (g[i] * factor + l2 * p[i]);
        return;
    }
    const REAL momentum = step->first ? 0 : (REAL)step->momentum;
    const REAL fresh = step->first ? 1 : (REAL)(1 - step->dampening);
    const REAL ahead = step->nesterov ? (REAL)step->momentum : 1;
    const REAL direct = step->nesterov ? 1 : 0;
    for (size_t i = 0; i < count; i++) {
        REAL gradient = g[i] * factor + l2 * p[i];
        b[i] = momentum * b[i] + fresh * gradient;
        p[i] -= rate * (direct * gradient + ahead * b[i]);
    }
}
