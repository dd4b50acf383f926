/* The table that experiments with many arms share: each arm beside the first one of its part. */
#ifndef SG_REPRODUCE_ARM_TABLE_H
#define SG_REPRODUCE_ARM_TABLE_H

#include "reproduce/results.h"
#include "reproduce/tables.h"

/* The arm of a group whose validation loss is lowest at the end, or NULL. */
const sgi_arm *sgi_best_arm(const sgi_part_result *part, const char *group);

/* What a table calls an arm: its label, or what its file says. */
const char *sgi_arm_title(const sgi_part_result *part, const sgi_arm *arm);

/* Every arm of the part that was begun. */
void sgi_arm_table(const sgi_part_result *part, sgi_tables *tables);

#endif
