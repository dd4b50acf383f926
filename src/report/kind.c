/* The kinds of work that a report knows: see kind.h. */
#include "report/kind.h"

#include <math.h>
#include <string.h>

#include "runs/evaluations.h"

static const sgi_report_kind *const kinds[] = {&sgi_report_problem, &sgi_report_images};

const sgi_report_kind *sgi_report_kind_of(const sgi_runs *runs)
{
    const char *task = sgi_run_text(&runs->runs[0], NULL, "task");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(kinds[k]->task, task) == 0)
            return kinds[k];
    return &sgi_report_problem;
}

double sgi_value_last(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_columns_last(&run->evaluation, of);
}

double sgi_value_last_of_training(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_columns_last(&run->training, of);
}

double sgi_value_lowest(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_evaluations_best(run, of, false).value;
}

double sgi_value_lowest_step(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_evaluations_best(run, of, false).step;
}

double sgi_value_highest(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_evaluations_best(run, of, true).value;
}

double sgi_value_highest_step(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_evaluations_best(run, of, true).step;
}

double sgi_value_median(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_evaluations_median(run, of);
}

double sgi_value_recorded(const sgi_run *run, const char *of, double target)
{
    (void)target;
    return sgi_run_number(run, NULL, of);
}

static double found(const sgi_run *run, const sgi_report_statistic *what, double target)
{
    return what->whole ? what->whole(run) : what->value(run, what->of, target);
}

sgi_statistic sgi_over_seeds(const sgi_runs *runs, const sgi_variant *variant,
                             const sgi_report_statistic *what, double target)
{
    sgi_statistic s = {0, NAN, NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < variant->count; i++) {
        double x = found(&runs->runs[variant->first + i], what, target);
        if (!isnan(x)) {
            sum += x;
            s.count++;
        }
    }
    if (s.count)
        s.mean = sum / (double)s.count;
    for (size_t i = 0; i < variant->count; i++) {
        double x = found(&runs->runs[variant->first + i], what, target);
        if (!isnan(x))
            squares += (x - s.mean) * (x - s.mean);
    }
    if (s.count > 1 && isfinite(s.mean))
        s.spread = sqrt(squares / (double)(s.count - 1));
    return s;
}
