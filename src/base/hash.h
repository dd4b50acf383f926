/* FNV-1a. Each step is a bijection of the sum, so that a change of a single byte is always seen. */
#ifndef SG_BASE_HASH_H
#define SG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The sum of nothing, to begin with. */
#define SG_HASH_START UINT64_C(14695981039346656037)

static inline uint64_t sgi_hash(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

#endif
