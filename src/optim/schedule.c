/* Learning-rate schedules as products of terms: see stablegrad/schedule.h. */
#include "stablegrad/schedule.h"

#include <math.h>

#include "base/list.h"

static const double pi = 3.14159265358979323846;

const char *sg_schedule_name(sg_schedule_kind kind)
{
    static const char *const names[] = {SG_SCHEDULE_LIST(SGI_LIST_NAME, SGI_LIST_NAME)};
    return sgi_list_name(names, SG_SCHEDULE_COUNT, (int)kind);
}

sg_schedule_term sg_schedule_constant(double factor)
{
    return (sg_schedule_term){SG_SCHEDULE_CONSTANT, 0, 1, factor};
}

sg_schedule_term sg_schedule_cosine(uint64_t from, uint64_t until, double floor)
{
    return (sg_schedule_term){SG_SCHEDULE_COSINE, from, until, floor};
}

sg_schedule_term sg_schedule_warmup(uint64_t steps, double start)
{
    return (sg_schedule_term){SG_SCHEDULE_WARMUP, 0, steps, start};
}

sg_schedule_term sg_schedule_interval(uint64_t from, uint64_t until, double factor)
{
    return (sg_schedule_term){SG_SCHEDULE_INTERVAL, from, until, factor};
}

bool sg_schedule_valid(const sg_schedule_term *terms, size_t count)
{
    if (!terms && count > 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        const sg_schedule_term *t = &terms[i];
        if ((unsigned)t->kind >= SG_SCHEDULE_COUNT || t->from >= t->until || !isfinite(t->value) ||
            t->value < 0)
            return false;
    }
    return true;
}

/* `share` is how far the step is from `from` (0) to `until` (1). A resumed run gets the same
 * factor, because nothing but the step counts. */
static double term_factor(const sg_schedule_term *t, uint64_t step)
{
    uint64_t past = step > t->from ? step - t->from : 0;
    double share = step >= t->until ? 1 : (double)past / (double)(t->until - t->from);
    switch (t->kind) {
    case SG_SCHEDULE_CONSTANT:
        return t->value;
    case SG_SCHEDULE_COSINE:
        return t->value + (1 - t->value) * (1 + cos(pi * share)) / 2;
    case SG_SCHEDULE_WARMUP:
        return t->value + (1 - t->value) * share;
    case SG_SCHEDULE_INTERVAL:
        return step >= t->from && step < t->until ? t->value : 1;
    }
    return 1;
}

double sg_schedule_factor(const sg_schedule_term *terms, size_t count, uint64_t step)
{
    double factor = 1;
    for (size_t i = 0; terms && i < count; i++)
        factor *= term_factor(&terms[i], step);
    return factor;
}
