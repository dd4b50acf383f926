/* Block partitions: see blocks.h. */
#include "scale/blocks.h"

#include <string.h>

static bool same_block(const sg_span *a, const sg_span *b, sg_blocks blocks)
{
    if (a->role == SG_ROLE_SCALAR || b->role == SG_ROLE_SCALAR)
        return false;
    return blocks == SG_BLOCKS_ALL || (blocks == SG_BLOCKS_LAYER && a->layer == b->layer);
}

size_t sgi_blocks_assign(const sg_params *params, sg_blocks blocks, size_t *block_of_span)
{
    size_t count = 0;
    for (size_t i = 0; i < params->count; i++) {
        size_t j = 0;
        while (j < i && !same_block(&params->spans[j], &params->spans[i], blocks))
            j++;
        block_of_span[i] = j < i ? block_of_span[j] : count++;
    }
    return count;
}

/* The length of the longest common prefix of `a` (of which `length` characters count) and `b`. */
static size_t shared_prefix(const char *a, size_t length, const char *b)
{
    size_t i = 0;
    while (i < length && a[i] == b[i] && b[i])
        i++;
    return i;
}

size_t sgi_blocks_name(const sg_params *params, sg_blocks blocks, const size_t *block_of_span,
                       size_t block, const char **first)
{
    size_t i = 0;
    while (i < params->count && block_of_span[i] != block)
        i++;
    bool scalar = i < params->count && params->spans[i].role == SG_ROLE_SCALAR;
    bool all = blocks == SG_BLOCKS_ALL && !scalar;
    *first = all || i == params->count ? "all" : params->spans[i].name;
    size_t length = strlen(*first);
    if (blocks != SG_BLOCKS_LAYER || scalar)
        return length;
    for (i++; i < params->count; i++)
        if (block_of_span[i] == block)
            length = shared_prefix(*first, length, params->spans[i].name);
    for (size_t dot = length; dot > 0; dot--)
        if ((*first)[dot] == '.')
            return dot;
    return strlen(*first);
}
