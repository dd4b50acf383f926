/* exp and tanh, inlined: SLEEF's tanh alone took as long as a layer product. Also for the rows of
 * networks on images; who includes this defines `real`, `value`, `mask`, SG_SINGLE, SG_INLINE and
 * sgi_splat.
 *
 * Both rest on y = n ln 2 + r, |r| <= ln 2 / 2, and expm1(r) = r + r^2 q(r), q of degree 4 in float
 * (minimax, relative error 1.3e-8) and of degree 10 in double (at Chebyshev's points, 9e-19).
 * tanh|x| = m / (m + 2) with m = expm1(2|x|) keeps small x exact to rounding. Tested bounds, in
 * both types: tanh 2 ulp with fused multiply-adds and 3 without, the logistic function made from
 * exp 4; NaN stays NaN. */
#if SG_SINGLE
enum { EXPONENT_BITS = 23, EXPONENT_BIAS = 127 };
#define SG_ROUNDER   12582912 /* 1.5 * 2^23: adding it rounds to an integer */
#define SG_LN2_HIGH  0.693145751953125
#define SG_LN2_LOW   1.428606765330187e-6
#define SG_MOST_EXP  87
#define SG_MOST_TANH 20 /* of 2|x|: beyond, tanh is 1 */
static const real EXPM1[] = {1.3882521e-3f, 8.3665205e-3f, 4.1667200e-2f, 1.6666543e-1f,
                             4.9999998e-1f};
#else
enum { EXPONENT_BITS = 52, EXPONENT_BIAS = 1023 };
#define SG_ROUNDER   6755399441055744 /* 1.5 * 2^52 */
#define SG_LN2_HIGH  0x1.62e42fee00000p-1
#define SG_LN2_LOW   1.9082149292705877e-10
#define SG_MOST_EXP  708
#define SG_MOST_TANH 44
static const real EXPM1[] = {0x1.1f72fc74cb69cp-29, 0x1.af4ddd87988f4p-26, 0x1.27e4db67b358ep-22,
                             0x1.71de023754ddep-19, 0x1.a01a01a6d780cp-16, 0x1.a01a01abe62e4p-13,
                             0x1.6c16c16c162d6p-10, 0x1.11111111100dfp-7,  0x1.5555555555556p-5,
                             0x1.5555555555557p-3,  0x1.0000000000000p-1};
#endif

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

/* expm1 of the remainder; `*scale` = 2^n. Needs |y| below the largest exponent times ln 2. */
static SG_INLINE value sgi_reduced_expm1(value y, value *scale)
{
    value shifted = y * (real)1.44269504088896341 + (real)SG_ROUNDER;
    value n = shifted - (real)SG_ROUNDER;
    /* The low bits of `shifted` hold n; the shift's own bits fall off. */
    *scale = (value)(((mask)shifted + EXPONENT_BIAS) << EXPONENT_BITS);
    value r = (y - n * (real)SG_LN2_HIGH) - n * (real)SG_LN2_LOW;
    value q = sgi_splat(EXPM1[0]);
#pragma GCC unroll 16
    for (size_t i = 1; i < sizeof EXPM1 / sizeof *EXPM1; i++)
        q = q * r + EXPM1[i];
    return r + r * r * q;
}

/* Arguments beyond the largest give what that gives. */
static SG_INLINE value sgi_exp(value x)
{
    value most = sgi_at_least(sgi_at_most(x, SG_MOST_EXP), -SG_MOST_EXP);
    value scale, m = sgi_reduced_expm1(most, &scale);
    return scale + scale * m;
}

static SG_INLINE value sgi_tanh(value x)
{
    const mask sign = (mask)(-sgi_splat(0));
    value scale, y = sgi_at_most((value)((mask)x & ~sign) * (real)2, SG_MOST_TANH);
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
