/* The activations and their derivatives, written once for scalars and for vectors.
 *
 * The file that includes this defines `real`, `value` (real or a vector of reals), the functions
 * sgi_tanh, sgi_exp, sgi_sin, sgi_cos, sgi_erf, sgi_log1p, sgi_abs, sgi_max on values, and
 * SG_INLINE. An activation is a pair of cases: `activation_value` gives f(z) and one number that
 * makes the derivatives cheap, `activation_derivatives` gives f' .. f^(5) from z and those two.
 * With a constant first argument all other cases vanish. */

/* 1 / sqrt(2 pi) and 1 / sqrt(2) */
#define SG_NORMAL_PEAK 0.398942280401432677939946059934
#define SG_HALF_ROOT   0.707106781186547524400844362105

/* f(z); `*memo` is what the derivatives need beside z and f(z). */
static SG_INLINE value activation_value(sg_activation activation, value z, real frequency,
                                        value *memo)
{
    switch (activation) {
    case SG_ACTIVATION_SILU: /* memo: the logistic function */
        *memo = (real)1 / ((real)1 + sgi_exp(-z));
        return z * *memo;
    case SG_ACTIVATION_SIN: /* memo: the cosine */
        return sgi_sincos(z * frequency, memo);
    case SG_ACTIVATION_GELU: /* memo: the normal distribution function */
        *memo = (real)0.5 + (real)0.5 * sgi_erf(z * (real)SG_HALF_ROOT);
        return z * *memo;
    case SG_ACTIVATION_SOFTPLUS: /* memo: the logistic function */
        *memo = (real)1 / ((real)1 + sgi_exp(-z));
        return sgi_max(z) + sgi_log1p(sgi_exp(-sgi_abs(z)));
    case SG_ACTIVATION_TANH:
        break;
    }
    return *memo = sgi_tanh(z);
}

/* d[k] = k-th derivative of the logistic function s, k = 0 .. most. */
static SG_INLINE void logistic_derivatives(value s, int most, value *d)
{
    value g = s * ((real)1 - s), h = (real)1 - (real)2 * s;
    d[0] = s;
    d[1] = g;
    if (most >= 2)
        d[2] = g * h;
    if (most >= 3)
        d[3] = g * ((real)1 - (real)6 * g);
    if (most >= 4)
        d[4] = g * h * ((real)1 - (real)12 * g);
    if (most >= 5)
        d[5] = g * ((real)1 - (real)30 * g + (real)120 * g * g);
}

static SG_INLINE void tanh_derivatives(value t, int most, value *d)
{
    value q = t * t, s = (real)1 - q;
    d[1] = s;
    if (most >= 2)
        d[2] = (real)-2 * t * s;
    if (most >= 3)
        d[3] = s * ((real)6 * q - (real)2);
    if (most >= 4)
        d[4] = s * t * ((real)16 - (real)24 * q);
    if (most >= 5)
        d[5] = s * ((real)16 - (real)120 * q * s);
}

static SG_INLINE void gelu_derivatives(value z, value distribution, int most, value *d)
{
    value q = z * z, density = (real)SG_NORMAL_PEAK * sgi_exp((real)-0.5 * q);
    d[1] = distribution + z * density;
    if (most >= 2)
        d[2] = density * ((real)2 - q);
    if (most >= 3)
        d[3] = density * z * (q - (real)4);
    if (most >= 4)
        d[4] = density * (q * ((real)7 - q) - (real)4);
    if (most >= 5)
        d[5] = density * z * (q * (q - (real)11) + (real)18);
}

static SG_INLINE void sine_derivatives(value sine, value cosine, real w, int most, value *d)
{
    real w2 = w * w;
    d[1] = cosine * w;
    if (most >= 2)
        d[2] = sine * -w2;
    if (most >= 3)
        d[3] = cosine * -(w2 * w);
    if (most >= 4)
        d[4] = sine * (w2 * w2);
    if (most >= 5)
        d[5] = cosine * (w2 * w2 * w);
}

/* d[k] = f^(k)(z), k = 1 .. most <= 5, with f = f(z) and memo of activation_value. */
static SG_INLINE void activation_derivatives(sg_activation activation, value z, value f, value memo,
                                             real frequency, int most, value *d)
{
    value g[6];
    switch (activation) {
    case SG_ACTIVATION_SILU: /* (z s)^(k) = z s^(k) + k s^(k-1) */
        logistic_derivatives(memo, most, g);
        for (int k = 1; k <= most; k++)
            d[k] = z * g[k] + (real)k * g[k - 1];
        return;
    case SG_ACTIVATION_SIN:
        sine_derivatives(f, memo, frequency, most, d);
        return;
    case SG_ACTIVATION_GELU:
        gelu_derivatives(z, memo, most, d);
        return;
    case SG_ACTIVATION_SOFTPLUS:
        logistic_derivatives(memo, most - 1, g);
        for (int k = 1; k <= most; k++)
            d[k] = g[k - 1];
        return;
    case SG_ACTIVATION_TANH:
        break;
    }
    tanh_derivatives(f, most, d);
}

/* The coefficient at point `p`, when the points bring numbers of their own. */
static SG_INLINE real coefficient_at(const sgi_activate *args, int p, double coefficient,
                                     int varying)
{
    if (varying == 0)
        return (real)coefficient;
    return (real)coefficient *
           ((const real *)args->varying)[(varying - 1) * args->point_stride + p];
}

/* The chain rule by its table, at point `p`. `z` and the others point at the first of `channels`
 * values that lie `step` elements apart. */
static SG_INLINE value chain_product(const sgi_activate *args, int p, const sgi_chain_term *term,
                                     const real *z, size_t step, int without)
{
    value product = sgi_splat(coefficient_at(args, p, term->coefficient, term->varying));
    for (int i = 0; i < term->order; i++)
        if (i != without)
            product *= sgi_load(z + (size_t)term->factor[i] * step);
    return product;
}

static SG_INLINE void chain_forward(const sgi_activate *args, int p, const value *d, const real *z,
                                    real *a, size_t step)
{
    const sgi_chain *chain = args->chain;
    const sgi_chain_term *term = chain->terms, *end = term + chain->term_count;
    while (term < end) {
        int channel = term->channel;
        value sum = sgi_splat(0);
        for (; term < end && term->channel == channel; term++)
            sum += d[term->order] * chain_product(args, p, term, z, step, -1);
        sgi_store(a + (size_t)channel * step, sum);
    }
}

static SG_INLINE void chain_reverse(const sgi_activate *args, int p, const value *d, const real *z,
                                    real *adjoint, size_t step)
{
    const sgi_chain *chain = args->chain;
    value sum[SG_JET_MOST_CHANNELS];
    sum[0] = d[1] * sgi_load(adjoint);
    for (int c = 1; c < chain->channels; c++)
        sum[c] = sgi_splat(0);
    for (size_t t = 0; t < chain->term_count; t++) {
        const sgi_chain_term *term = &chain->terms[t];
        value given = sgi_load(adjoint + (size_t)term->channel * step);
        sum[0] += given * d[term->order + 1] * chain_product(args, p, term, z, step, -1);
        for (int i = 0; i < term->order; i++)
            sum[term->factor[i]] +=
                given * d[term->order] * chain_product(args, p, term, z, step, i);
    }
    for (int c = 0; c < chain->channels; c++)
        sgi_store(adjoint + (size_t)c * step, sum[c]);
}

static SG_INLINE void chain_tangent(const sgi_activate *args, int p, const value *d, const real *z,
                                    real *tangent, size_t step)
{
    const sgi_chain *chain = args->chain;
    value sum[SG_JET_MOST_CHANNELS];
    value moved = sgi_load(tangent);
    sum[0] = d[1] * moved;
    for (int c = 1; c < chain->channels; c++)
        sum[c] = sgi_splat(0);
    for (size_t t = 0; t < chain->term_count; t++) {
        const sgi_chain_term *term = &chain->terms[t];
        value *to = &sum[term->channel];
        *to += moved * d[term->order + 1] * chain_product(args, p, term, z, step, -1);
        for (int i = 0; i < term->order; i++)
            *to += sgi_load(tangent + (size_t)term->factor[i] * step) * d[term->order] *
                   chain_product(args, p, term, z, step, i);
    }
    for (int c = 0; c < chain->channels; c++)
        sgi_store(tangent + (size_t)c * step, sum[c]);
}
