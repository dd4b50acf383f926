/* Vectors for the loops: the compiler's generic vectors of SG_BYTES bytes, and SLEEF's functions
 * on them. The file that includes this defines SG_BYTES and `real` (SG_SINGLE: 1 for float). */
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif
#include <sleef.h>

#define SG_INLINE inline __attribute__((always_inline))
#define LANES     ((int)(SG_BYTES / sizeof(real)))

typedef real value __attribute__((vector_size(SG_BYTES)));
typedef real unaligned
    __attribute__((vector_size(SG_BYTES), aligned(__alignof__(real)), may_alias));
#if SG_SINGLE
typedef int32_t mask __attribute__((vector_size(SG_BYTES)));
#else
typedef int64_t mask __attribute__((vector_size(SG_BYTES)));
#endif

static SG_INLINE value sgi_load(const real *at)
{
    return (value)(*(const unaligned *)at);
}

static SG_INLINE void sgi_store(real *at, value x)
{
    *(unaligned *)at = (unaligned)x;
}

/* Past the caches, to an address that is a multiple of a vector: for memory that is not read soon.
 * sgi_stream_end() comes before another thread may read it. */
static SG_INLINE void sgi_stream(real *at, value x)
{
#if SG_BYTES == 64
    _mm512_stream_si512((void *)at, (__m512i)x);
#elif SG_BYTES == 32
    _mm256_stream_si256((void *)at, (__m256i)x);
#elif defined(__SSE2__)
    _mm_stream_si128((void *)at, (__m128i)x);
#else
    sgi_store(at, x);
#endif
}

static SG_INLINE void sgi_stream_end(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* The first `count` lanes. */
static SG_INLINE void sgi_store_part(real *at, value x, int count)
{
    if (count >= LANES)
        sgi_store(at, x);
    else
        memcpy(at, &x, (size_t)count * sizeof(real));
}

/* The first `count` lanes, and zeros. */
static SG_INLINE value sgi_load_part(const real *at, int count)
{
    value x = {0};
    if (count >= LANES)
        return sgi_load(at);
    memcpy(&x, at, (size_t)count * sizeof(real));
    return x;
}

/* x - 0 is x for every x, so this is a plain broadcast. */
static SG_INLINE value sgi_splat(real x)
{
    return x - (value){0};
}

static SG_INLINE value sgi_abs(value x)
{
    mask negative = x < (real)0;
    return (value)(((mask)x & ~negative) | ((mask)-x & negative));
}

/* max(x, 0) that keeps NaN */
static SG_INLINE value sgi_max(value x)
{
    return (value)((mask)x & ~(x < (real)0));
}

/* The sum of the lanes, by halves. */
static SG_INLINE real sgi_sum(value v)
{
#if SG_BYTES == 64 && SG_SINGLE
    v += __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v += __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    return v[0];
#else
    real sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += v[i];
    return sum;
#endif
}

/* SLEEF's functions for this width, or the C library's lane by lane. */
#if SG_BYTES == 64
#define SG_WIDE(function) SG_WIDE_NAME(function, f16, d8, avx512f)
#elif SG_BYTES == 32
#define SG_WIDE(function) SG_WIDE_NAME(function, f8, d4, avx2)
#elif defined(__SSE2__)
#define SG_WIDE(function) SG_WIDE_NAME(function, f4, d2, sse2)
#elif defined(__aarch64__)
#define SG_WIDE(function) SG_WIDE_NAME(function, f4, d2, advsimd)
#endif
#if SG_SINGLE
#define SG_WIDE_NAME(function, single, pair, set) Sleef_##function##single##_u10##set
#define SG_SCALAR(function)                       function##f
#else
#define SG_WIDE_NAME(function, single, pair, set) Sleef_##function##pair##_u10##set
#define SG_SCALAR(function)                       function
#endif

#ifdef SG_WIDE
#define SG_FUNCTION(function)                                                                      \
    static SG_INLINE value sgi_##function(value x)                                                 \
    {                                                                                              \
        return (value)SG_WIDE(function)(x);                                                        \
    }
static SG_INLINE value sgi_sincos(value x, value *cosine)
{
    __auto_type both = SG_WIDE(sincos)(x);
    *cosine = (value)both.y;
    return (value)both.x;
}
#else
#define SG_FUNCTION(function)                                                                      \
    static SG_INLINE value sgi_##function(value x)                                                 \
    {                                                                                              \
        for (int i = 0; i < LANES; i++)                                                            \
            x[i] = SG_SCALAR(function)(x[i]);                                                      \
        return x;                                                                                  \
    }
static SG_INLINE value sgi_sincos(value x, value *cosine)
{
    value sine = x;
    for (int i = 0; i < LANES; i++) {
        sine[i] = SG_SCALAR(sin)(x[i]);
        (*cosine)[i] = SG_SCALAR(cos)(x[i]);
    }
    return sine;
}
#endif
#include "kernel/exponential.h"
SG_FUNCTION(erf)
SG_FUNCTION(log1p)
