/* Random numbers as pure functions of (seed, stream, counter): Philox4x32-10 (Salmon et al., 2011).
 *
 * There is no generator state, so a resumed run needs none, and any thread or rank can make its own
 * share: number `counter` of stream `stream` is the same wherever it is computed. */
#ifndef SG_BASE_RANDOM_H
#define SG_BASE_RANDOM_H

#include <stdint.h>

/* The 128 random bits of (seed, stream, counter). */
void sgi_random_bits(uint64_t seed, uint64_t stream, uint64_t counter, uint32_t bits[4]);

/* Uniform in [0, 1), with 53 random bits. */
double sgi_random_uniform(uint64_t seed, uint64_t stream, uint64_t counter);

/* Two independent uniform numbers in [0, 1) from one call. */
void sgi_random_uniform2(uint64_t seed, uint64_t stream, uint64_t counter, double values[2]);

/* Standard normal. */
double sgi_random_normal(uint64_t seed, uint64_t stream, uint64_t counter);

/* A uniform index in [0, count), count > 0. */
uint64_t sgi_random_below(uint64_t seed, uint64_t stream, uint64_t counter, uint64_t count);

/* Mixes the bits of a number, so that keys that differ little give different results. */
uint64_t sgi_random_mix(uint64_t x);

/* Place of i in a permutation of 0 ... count - 1, a different one for each key. */
uint64_t sgi_random_permute(uint64_t i, uint64_t count, uint64_t key);

#endif
