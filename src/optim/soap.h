/* SOAP (Vyas et al., 2024): AdamW in another basis.
 *
 * With G the gradient of a matrix, and L and R the running means of G G^T and G^T G, Adam's second
 * moment is kept of U^T G W, where the columns of U and W are the eigenvectors of L and R:
 *
 *     M <- b1 M + (1 - b1) G              V <- b2 V + (1 - b2) (U^T G W)^2
 *     step = U [ U^T M W / (sqrt V + eps) ] W^T, with Adam's corrections and AdamW's decay
 *     L <- b2 L + (1 - b2) G G^T          R <- b2 R + (1 - b2) G^T G
 *
 * U and W begin with the unit vectors, and turn towards the eigenvectors every `refresh` steps by
 * one step of orthogonal iteration, L U = Q times a triangle: its authors begin with the
 * eigenvectors of the first gradient, which one step later are others. Columns are sorted by their
 * eigenvalues, the largest first, and V with them. A side that is longer than SGI_SOAP_MOST is not
 * turned, since its matrices would have more than a million elements. What is no matrix, as biases,
 * has plain AdamW. */
#ifndef SG_OPTIM_SOAP_H
#define SG_OPTIM_SOAP_H

#include "optim/pass.h"

enum { SGI_SOAP_MOST = 1024 };

/* The buffers of a span. The bases are U^T and W^T: a row is an eigenvector. */
enum {
    SGI_SOAP_FIRST,
    SGI_SOAP_SECOND,
    SGI_SOAP_LEFT,
    SGI_SOAP_RIGHT,
    SGI_SOAP_LEFT_BASIS,
    SGI_SOAP_RIGHT_BASIS,
    SGI_SOAP_BUFFERS
};

/* The rows or columns of the span as a matrix, where they are turned; otherwise 0. */
size_t sgi_soap_rows(const sg_span *span);
size_t sgi_soap_columns(const sg_span *span);

/* Whether either is. */
bool sgi_soap_turns(const sg_span *span);

/* The memory that steps need, at `optim->soap`, which may be NULL for the second. */
SG_CHECKED sg_status sgi_soap_create(sg_optim *optim);
void sgi_soap_destroy(sg_optim *optim);

/* Keeps the gradient of a stretch, multiplied by its factor, for sgi_soap_step, which then takes
 * the step of every span that turns. */
void sgi_soap_take(const sgi_stretch *stretch);
void sgi_soap_step(const sgi_step_pass *pass);

#endif
