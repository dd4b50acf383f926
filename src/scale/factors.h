/* From statistics to factors: the arithmetic of the method, without memory or threads. */
#ifndef SG_SCALE_FACTORS_H
#define SG_SCALE_FACTORS_H

#include "stablegrad/scale.h"

/* A block of spans: what is fixed about it, and its moments in the current step. */
typedef struct sgi_block {
    sg_moments moments;
    size_t local_count; /* elements on this rank, before any reduction */
    double largest;     /* of its element type: FLT_MAX or DBL_MAX */
    double smallest;    /* normal number of its element type: FLT_MIN or DBL_MIN */
    double clipped2;    /* |g|^2 after SG_METHOD_AGC, which sets it */
    bool touched;       /* false for biases under SG_BLOCKS_WEIGHT: never scaled */
} sgi_block;

/* |g|^2 of a block. */
double sgi_block_norm2(const sgi_block *block);

/* Whether c is the scale of a signal that the caller observes. A rule that is neither observed nor
 * a number computes c from the gradients. */
bool sgi_reference_is_observed(sg_reference reference);

/* c of the references that follow from the gradients: SG_REFERENCE_NORM and _INNER. 0 if no block
 * has a spread. */
double sgi_reference_from_blocks(sg_reference reference, const sgi_block *blocks, size_t count,
                                 double eps);

/* Whether the block is scaled by sgi_block_factor, and not left as it is. */
bool sgi_block_scalable(const sgi_block *block, double c, double eps);

/* alpha of a block for the reference scale c > 0. A block without spread or whose scaled values
 * would leave the range of its type is left as it is: 1. Never infinite, NaN or 0. */
double sgi_block_factor(const sgi_block *block, double c, double eps);

/* Largest over smallest of factor * std over the touched blocks with spread; 1 if there is none. */
double sgi_std_ratio(const sgi_block *blocks, const sg_block_report *reports, size_t count,
                     bool scaled);

#endif
