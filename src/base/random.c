/* Philox4x32-10: see random.h. */
#include "base/random.h"

#include <math.h>

enum { ROUNDS = 10 };

static void philox_round(uint32_t x[4], uint32_t key0, uint32_t key1)
{
    uint64_t a = (uint64_t)0xD2511F53u * x[0], b = (uint64_t)0xCD9E8D57u * x[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ key0, (uint32_t)b,
                        (uint32_t)(a >> 32) ^ x[3] ^ key1, (uint32_t)a};
    for (int i = 0; i < 4; i++)
        x[i] = next[i];
}

void sgi_random_bits(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t bits[4])
{
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    bits[0] = (uint32_t)counter;
    bits[1] = (uint32_t)(counter >> 32);
    bits[2] = (uint32_t)stream;
    bits[3] = (uint32_t)(stream >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        philox_round(bits, key0, key1);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* 53 bits to [0, 1). */
static double unit(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return (double)bits * 0x1p-53;
}

void sgi_random_uniform2(uint64_t seed, uint64_t stream, uint64_t counter, double values[2])
{
    uint32_t bits[4];
    sgi_random_bits(seed, stream, counter, bits);
    values[0] = unit(bits[0], bits[1]);
    values[1] = unit(bits[2], bits[3]);
}

double sgi_random_uniform(uint64_t seed, uint64_t stream, uint64_t counter)
{
    double values[2];
    sgi_random_uniform2(seed, stream, counter, values);
    return values[0];
}

double sgi_random_normal(uint64_t seed, uint64_t stream, uint64_t counter)
{
    double u[2];
    sgi_random_uniform2(seed, stream, counter, u);
    /* Box and Muller; 1 - u keeps the logarithm finite. */
    return sqrt(-2 * log(1 - u[0])) * cos(6.28318530717958647692 * u[1]);
}

uint64_t sgi_random_below(uint64_t seed, uint64_t stream, uint64_t counter, uint64_t count)
{
    uint32_t bits[4];
    sgi_random_bits(seed, stream, counter, bits);
    uint64_t x = (uint64_t)bits[0] << 32 | bits[1];
    /* The high word of the product: biased by less than count / 2^64. */
    return (uint64_t)(((unsigned __int128)x * count) >> 64);
}

uint64_t sgi_random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* One of the next power of two, applied until it comes back. */
uint64_t sgi_random_permute(uint64_t i, uint64_t count, uint64_t key)
{
    int bits = count > 1 ? 64 - __builtin_clzll(count - 1) : 0;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    if (bits == 0)
        return 0;
    do
        for (int round = 0; round < 4; round++) {
            uint64_t random = sgi_random_mix(key + (uint64_t)round * 0x9E3779B97F4A7C15u);
            i = (i * (random | 1) + (random >> 32)) & mask;
            i ^= i >> (bits + 1) / 2;
        }
    while (i >= count);
    return i;
}
