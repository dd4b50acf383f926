/* Joining spans into blocks, and naming the blocks. */
#ifndef SG_SCALE_BLOCKS_H
#define SG_SCALE_BLOCKS_H

#include "base/params.h"
#include "stablegrad/scale.h"

/* Writes the block of each span to `block_of_span`, in order of first appearance, and returns how
 * many blocks there are. */
size_t sgi_blocks_assign(const sg_params *params, sg_blocks blocks, size_t *block_of_span);

/* A block's name is the beginning of its first span's name, which goes to `*first`; the result is
 * its length. A layer, or a block of several spans, is named by what their names share up to a dot.
 */
size_t sgi_blocks_name(const sg_params *params, sg_blocks blocks, const size_t *block_of_span,
                       size_t block, const char **first);

#endif
