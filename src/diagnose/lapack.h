/* What is used of LAPACK, by its Fortran names: there is no header for them, and every
 * implementation (the reference, OpenBLAS, MKL) has the same. The trailing lengths are those that
 * gfortran passes for character arguments. */
#ifndef SG_DIAGNOSE_LAPACK_H
#define SG_DIAGNOSE_LAPACK_H

#include <stddef.h>

/* Eigenvalues and eigenvectors of a symmetric matrix. */
void dsyevr_(const char *job, const char *range, const char *half, const int *n, double *a,
             const int *row, const double *low, const double *high, const int *first,
             const int *last, const double *tolerance, int *found, double *values, double *vectors,
             const int *vector_row, int *support, double *work, const int *work_size,
             int *whole_work, const int *whole_work_size, int *info, size_t job_length,
             size_t range_length, size_t half_length);

/* The same of a tridiagonal one. */
void dstev_(const char *job, const int *n, double *diagonal, double *off, double *vectors,
            const int *vector_row, double *work, int *info, size_t job_length);

#endif
