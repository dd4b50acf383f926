/* exp and tanh in float, inlined: SLEEF's tanh alone took as long as a layer product.
 *
 * Both rest on y = n ln 2 + r, |r| <= ln 2 / 2, and expm1(r) = r + r^2 q(r), q of degree 4
 * (minimax, relative error 1.3e-8). tanh|x| = m / (m + 2) with m = expm1(2|x|) keeps small x exact
 * to rounding. Tested
 * bounds: tanh 2 ulp with fused multiply-adds and 3 without, the logistic function made from exp 4;
 * NaN stays NaN. */

/* `x` where it is not above `most` (or NaN), else `most`. */
static SG_INLINE value sgi_at_most(value x, real most)
{
    mask above = x > most;
    return (value)(((mask)x & ~above) | ((mask)sgi_splat(most) & above));
}

static SG_INLINE value sgi_at_least(value x, real least)
{
    return -sgi_at_most(-x, -least);
}

/* expm1 of the remainder; `*scale` = 2^n. Needs |y| < 127 ln 2. */
static SG_INLINE value sgi_reduced_expm1(value y, value *scale)
{
    const real shift = 12582912; /* 1.5 * 2^23: adding it rounds to an integer */
    value shifted = y * (real)1.44269504088896341 + shift;
    value n = shifted - shift;
    /* The low bits of `shifted` hold n; the shift's own bits fall off. */
    *scale = (value)(((mask)shifted + 127) << 23);
    value r = (y - n * (real)0.693145751953125) - n * (real)1.428606765330187e-6;
    value q = r * (real)1.3882521e-3 + (real)8.3665205e-3;
    q = q * r + (real)4.1667200e-2;
    q = q * r + (real)1.6666543e-1;
    q = q * r + (real)4.9999998e-1;
    return r + r * r * q;
}

/* Arguments beyond +-87 give what +-87 gives. */
static SG_INLINE value sgi_exp(value x)
{
    value scale, m = sgi_reduced_expm1(sgi_at_least(sgi_at_most(x, 87), -87), &scale);
    return scale + scale * m;
}

static SG_INLINE value sgi_tanh(value x)
{
    const mask sign = (mask)(-sgi_splat(0));
    value scale, y = sgi_at_most((value)((mask)x & ~sign) * (real)2, 20);
    value m = sgi_reduced_expm1(y, &scale);
    m = scale * m + (scale - (real)1);
    value below = m + (real)2, t = m / below;
#if defined(__FMA__) || defined(__aarch64__)
    /* Below 1/2, take back the rounding of m + 2 and of the quotient; 1 / (m + 2) = (1 - t) / 2. */
    value left = (m - t * below) - t * (m - (below - (real)2));
    value correction = left * ((real)0.5 - (real)0.5 * t);
    t += (value)((mask)correction & (m < (real)2));
#endif
    return (value)((mask)t | ((mask)x & sign));
}
