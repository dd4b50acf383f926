/* The summary of runs that are already in memory. */
#ifndef SG_REPORT_SUMMARY_H
#define SG_REPORT_SUMMARY_H

#include "report/report.h"
#include "runs/runs.h"

/* *out is always safe to release. */
SG_CHECKED sg_status sgi_summary_make(sgi_report_summary *out, const sgi_runs *runs);

#endif
