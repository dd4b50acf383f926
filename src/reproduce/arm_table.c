/* Arms beside their baseline: see arm_table.h. */
#include "reproduce/arm_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOSS "validation/loss"

const sgi_arm *sgi_best_arm(const sgi_part_result *part, const char *group)
{
    const sgi_arm *best = NULL;
    double lowest = INFINITY;
    for (size_t a = 0; a < part->part->arm_count; a++) {
        const sgi_arm *arm = &part->part->arms[a];
        double loss = sgi_arm_last(part, arm->name, LOSS);
        if (arm->group && strcmp(arm->group, group) == 0 && loss < lowest) {
            best = arm;
            lowest = loss;
        }
    }
    return best;
}

const char *sgi_arm_title(const sgi_part_result *part, const sgi_arm *arm)
{
    const sgi_report_variant *summary = sgi_arm_summary(part, arm->name);
    return arm->label ? arm->label : summary ? summary->label : arm->name;
}

static void row(const sgi_part_result *part, const sgi_arm *arm, sgi_tables *tables)
{
    const sgi_report_variant *summary = sgi_arm_summary(part, arm->name);
    if (!summary)
        return;
    const char *base = part->part->arms[0].name;
    double loss = summary->validation.mean, reached = summary->reached.mean;
    sgi_table_row(tables);
    sgi_table_text(tables, arm->group ? arm->group : "");
    sgi_table_text(tables, sgi_arm_title(part, arm));
    sgi_table_number(tables, loss);
    sgi_table_number(tables, sgi_arm_last(part, base, LOSS) / loss);
    sgi_table_number(tables, summary->lowest_validation.mean);
    sgi_table_number(tables, summary->relative_l2.mean);
    if (summary->reached.count == summary->runs && strcmp(arm->name, base) != 0)
        sgi_table_format(tables, "%.0f", reached);
    else
        sgi_table_number(tables, NAN);
}

void sgi_arm_table(const sgi_part_result *part, sgi_tables *tables)
{
    static const char *const columns[] = {"varied",
                                          "run",
                                          "validation loss",
                                          "times below the first",
                                          "lowest on the way",
                                          "relative L2 error",
                                          "at the first's last loss by step",
                                          NULL};
    if (!part->there)
        return;
    sgi_table_begin(tables, part->part->title, columns);
    for (size_t a = 0; a < part->part->arm_count; a++)
        row(part, &part->part->arms[a], tables);
}
