/* A diagnosis as JSON, for metrics.jsonl and for `stablegrad diagnose --json`: docs/diagnose.md
 * lists the keys. */
#ifndef SG_TRAIN_DIAGNOSIS_H
#define SG_TRAIN_DIAGNOSIS_H

#include <jansson.h>

#include "diagnose/diagnose.h"

/* Eigenvalues that are written down, at most. */
enum { SG_WRITTEN_EIGENVALUES = 32 };

/* Numbers that are not known are null. */
json_t *sgi_diagnosis_object(const sgi_diagnosis *diagnosis);

#endif
