/* The kinds of work that a report knows: see kind.h. */
#include "report/kind.h"

#include <math.h>
#include <string.h>

static const sgi_report_kind *const kinds[] = {&sgi_report_problem, &sgi_report_images};

const sgi_report_kind *sgi_report_kind_of(const sgi_runs *runs)
{
    const char *task = sgi_run_text(&runs->runs[0], NULL, "task");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(kinds[k]->task, task) == 0)
            return kinds[k];
    return &sgi_report_problem;
}

sgi_statistic sgi_over_seeds(const sgi_runs *runs, const sgi_variant *variant, sgi_run_value *value,
                             double target)
{
    sgi_statistic s = {0, NAN, NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < variant->count; i++) {
        double x = value(&runs->runs[variant->first + i], target);
        if (!isnan(x)) {
            sum += x;
            s.count++;
        }
    }
    if (s.count)
        s.mean = sum / (double)s.count;
    for (size_t i = 0; i < variant->count; i++) {
        double x = value(&runs->runs[variant->first + i], target);
        if (!isnan(x))
            squares += (x - s.mean) * (x - s.mean);
    }
    if (s.count > 1 && isfinite(s.mean))
        s.spread = sqrt(squares / (double)(s.count - 1));
    return s;
}
