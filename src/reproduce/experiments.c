/* The list of experiments: see experiment.h. */
#include "base/list.h"
#include "reproduce/experiment.h"

const sgi_experiment *const sgi_experiments[] = {
    &sgi_experiment_table1,     &sgi_experiment_diagnostics, &sgi_experiment_lr_control,
    &sgi_experiment_figure1,    &sgi_experiment_cnn,         &sgi_experiment_ablations,
    &sgi_experiment_neighbours, &sgi_experiment_margin,      &sgi_experiment_accuracy,
    &sgi_experiment_metrics,
};
const size_t sgi_experiment_count = sizeof sgi_experiments / sizeof sgi_experiments[0];

const char *sgi_budget_name(sgi_budget budget)
{
    static const char *const names[] = {SG_BUDGET_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_BUDGETS, (int)budget);
}

static size_t append(const char *const *list, const char **sets, size_t count)
{
    for (; *list; list++)
        sets[count++] = *list;
    return count;
}

size_t sgi_arm_sets(const sgi_experiment_part *part, const sgi_arm *arm, sgi_budget budget,
                    const char **sets)
{
    size_t count = append(part->sets, sets, 0);
    count = append(arm->sets, sets, count);
    return append(part->budgets[budget].sets, sets, count);
}
