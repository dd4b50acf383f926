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

/* ---- SOAP ------------------------------------------------------------------------------------ */

/* Columns of a block of C: one cache line, a whole number of vectors of every width. */
#define WIDE (64 / sizeof(REAL))
enum { NAME(TALL) = 4 };

/* `rows` x `columns` elements of C, at most TALL x WIDE. Every element is its sum in the order of
 * k, however wide the vectors are. */
static void NAME(multiply_block)(const sgi_product *p, size_t row, size_t rows, size_t column,
                                 size_t columns)
{
    const REAL *a = (const REAL *)p->a + row * p->a_row, *b = (const REAL *)p->b + column;
    REAL *c = (REAL *)p->c + row * p->n + column;
    const REAL keep = (REAL)p->keep, factor = (REAL)p->factor;
    REAL sum[NAME(TALL)][WIDE] = {{0}};
    if (rows == NAME(TALL) && columns == WIDE) {
        for (size_t k = 0; k < p->k; k++)
            for (size_t i = 0; i < NAME(TALL); i++) {
                REAL x = a[i * p->a_row + k * p->a_step];
                for (size_t j = 0; j < WIDE; j++)
                    sum[i][j] += x * b[k * p->n + j];
            }
    } else {
        for (size_t k = 0; k < p->k; k++)
            for (size_t i = 0; i < rows; i++) {
                REAL x = a[i * p->a_row + k * p->a_step];
                for (size_t j = 0; j < columns; j++)
                    sum[i][j] += x * b[k * p->n + j];
            }
    }
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            REAL kept = keep == 0 ? 0 : keep * c[i * p->n + j];
            c[i * p->n + j] = kept + factor * sum[i][j];
        }
}

static void NAME(multiply)(const sgi_product *p)
{
    for (size_t j = 0; j < p->n; j += WIDE)
        for (size_t i = 0; i < p->m; i += NAME(TALL))
            NAME(multiply_block)
    (p, i, p->m - i < NAME(TALL) ? p->m - i : NAME(TALL), j, p->n - j < WIDE ? p->n - j : WIDE);
}

static void NAME(average)(void *mean, const void *gradients, size_t count, double beta)
{
    REAL *restrict m = mean;
    const REAL *restrict g = gradients;
    const REAL b1 = (REAL)beta, c1 = (REAL)(1 - beta);
    for (size_t i = 0; i < count; i++)
        m[i] = m[i] * b1 + c1 * g[i];
}

static void NAME(divide)(void *first, void *second, const void *gradients, size_t count,
                         const sgi_adam_step *step)
{
    REAL *restrict m = first, *restrict v = second;
    const REAL *restrict g = gradients;
    const REAL b2 = (REAL)step->beta2, c2 = (REAL)(1 - step->beta2);
    const REAL root = (REAL)step->root_correction, eps = (REAL)step->eps;
    for (size_t i = 0; i < count; i++) {
        v[i] = v[i] * b2 + c2 * g[i] * g[i];
        m[i] = m[i] / (SQRT(v[i]) / root + eps);
    }
}

static void NAME(move)(void *values, const void *steps, size_t count, double keep, double rate)
{
    REAL *restrict p = values;
    const REAL *restrict u = steps;
    const REAL k = (REAL)keep, r = (REAL)rate;
    for (size_t i = 0; i < count; i++)
        p[i] = p[i] * k - r * u[i];
}

static REAL NAME(sum_of_products)(const REAL *restrict a, const REAL *restrict b, size_t count)
{
    REAL lanes[WIDE] = {0}, sum = 0;
    size_t i = 0;
    for (; i + WIDE <= count; i += WIDE)
        for (size_t j = 0; j < WIDE; j++)
            lanes[j] += a[i + j] * b[i + j];
    for (; i < count; i++)
        lanes[i % WIDE] += a[i] * b[i];
    for (size_t j = 0; j < WIDE; j++)
        sum += lanes[j];
    return sum;
}

static double NAME(dot)(const void *a, const void *b, size_t count)
{
    return (double)NAME(sum_of_products)(a, b, count);
}

/* x - factor (v . x) v */
static void NAME(reflect)(REAL *restrict x, const REAL *restrict v, size_t count, REAL factor)
{
    REAL by = factor * NAME(sum_of_products)(v, x, count);
    for (size_t i = 0; i < count; i++)
        x[i] -= by * v[i];
}

/* Householder's reflections, which need no row of `a` to be independent of the others. */
static void NAME(orthonormal)(void *rows, void *given, void *factors, size_t size)
{
    REAL *a = given, *q = rows, *f = factors;
    for (size_t k = 0; k < size; k++) {
        REAL *v = a + k * size + k;
        size_t left = size - k;
        REAL length = SQRT(NAME(sum_of_products)(v, v, left));
        v[0] += v[0] < 0 ? -length : length;
        REAL square = NAME(sum_of_products)(v, v, left);
        f[k] = square > 0 ? 2 / square : 0;
        for (size_t j = k + 1; j < size; j++)
            NAME(reflect)(a + j * size + k, v, left, f[k]);
    }
    memset(q, 0, size * size * sizeof *q);
    for (size_t k = size; k-- > 0;) {
        q[k * size + k] = 1;
        for (size_t j = k; j < size; j++)
            NAME(reflect)(q + j * size + k, a + k * size + k, size - k, f[k]);
    }
}
#undef WIDE
