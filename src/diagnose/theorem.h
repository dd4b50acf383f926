/* The quantities of the paper's section 4: how strongly a kernel acts on the residual, and the
 * condition under which a rescaled gradient step lowers the loss by more than a plain one.
 *
 *     L = 1/2 |r|^2,   J = dr/dtheta,   g = J^T r
 *     K = J J^T,   K_SG = J P J^T = sum alpha_l J_l J_l^T
 *     rho = r^T K r / |r|^2 = sum |g_l|^2 / |r|^2
 *     rho_SG = sum alpha_l |g_l|^2 / |r|^2
 *     s_SG = eta lambda_max(K_SG)
 *     M_SG = rho_SG (1 - s_SG / 2) - rho
 *
 * If s_SG < 2 and M_SG > 0, the linearised step of K_SG lowers L by more than that of K. */
#ifndef SG_DIAGNOSE_THEOREM_H
#define SG_DIAGNOSE_THEOREM_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/scale.h"

typedef struct sgi_theorem {
    double rate;                    /* eta */
    double rho, rho_scaled;         /* of K and K_SG */
    double largest, largest_scaled; /* lambda_max of K and K_SG */
    double ratio;                   /* largest_scaled / largest */
    double stability;               /* s_SG */
    double margin;                  /* M_SG */
    bool holds;                     /* s_SG < 2 and M_SG > 0 */
} sgi_theorem;

/* From the blocks' |g_l|^2 and factors, |r|^2, and the largest eigenvalues. */
sgi_theorem sgi_theorem_of(const sg_block_report *blocks, size_t count, double residual2,
                           double rate, double largest, double largest_scaled);

/* By how much the linearised step r - eta A r lowers 1/2 |r|^2, in parts of it:
 * (eta r^T A r - eta^2 / 2 |A r|^2) / (1/2 |r|^2). `product` is A r. */
double sgi_linear_decrease(const double *r, const double *product, size_t size, double rate);

#endif
