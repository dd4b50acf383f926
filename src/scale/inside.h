/* The inside of a scaler, as the files of this room share it. */
#ifndef SG_SCALE_INSIDE_H
#define SG_SCALE_INSIDE_H

#include "base/params.h"
#include "scale/factors.h"
#include "scale/rows.h"
#include "scale/scaler.h"

struct sg_scaler {
    sg_allocator allocator;
    sg_params *params;
    sg_pool *pool;
    sg_scale_config config;
    const sgi_scale_kernels *kernels;
    size_t *block_of_span;
    sg_moments *unit_moments;
    size_t block_count;
    sgi_block *blocks;
    sg_block_report *block_reports;
    char *names;
    sgi_rows rows; /* SG_METHOD_AGC */
    double *sums;  /* 3 for each block, 3 for the signal, 1 for the guard: see reduce_moments */
    sg_moments signal;
    bool scale_given;
    double given_scale;
    sgi_scaler_phase phase;
    sg_scale_report report;
};

#endif
