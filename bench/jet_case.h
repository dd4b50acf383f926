/* A row of the jet benchmark for its peers, in files: see peer_case.py. */
#ifndef SG_BENCH_JET_CASE_H
#define SG_BENCH_JET_CASE_H

#include "jet_rows.h"

/* Writes case.json and case.bin to `folder`: weights, the gradient just computed by `jet`, its
 * loss, and all points. False when something could not be written. */
bool bench_write_case(const bench_case *c, const sg_jet *jet, const char *folder);

#endif
