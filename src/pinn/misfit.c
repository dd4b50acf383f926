/* Misfits of measured data: see misfit.h. */
#include "pinn/misfit.h"

#include <math.h>

#include "base/memory.h"

/* Squares of differences of one part of the rows. */
typedef struct sum {
    double squares;
    size_t count;
} sum;

static double mean_root(const sum *s)
{
    return s->count > 0 ? sqrt(s->squares / (double)s->count) : NAN;
}

static sg_status make_set(sgi_misfits *m, sgi_misfit_set *set, const sgi_data *data)
{
    sg_diagnostic diagnostic;
    size_t observed = (size_t)data->observed;
    set->data = data;
    set->predicted = sgi_allocate(&m->allocator, observed, sizeof *set->predicted);
    set->observed = sgi_allocate(&m->allocator, observed, sizeof *set->observed);
    bool there = set->predicted && set->observed;
    for (size_t j = 0; j < observed && there; j++) {
        set->predicted[j] = sgi_allocate(&m->allocator, data->count, sizeof(double));
        there = set->predicted[j] != NULL;
    }
    return there ? sgi_problem_quantities(m->problem, data->texts, observed, &set->values,
                                          &diagnostic)
                 : SG_ERROR_MEMORY;
}

sg_status sgi_misfits_create(sgi_misfits **out, sgi_problem *problem, const sg_allocator *given)
{
    *out = NULL;
    if (problem->data_count == 0)
        return SG_OK;
    sgi_misfits *m = SGI_NEW(sgi_misfits, given);
    if (!m)
        return SG_ERROR_MEMORY;
    m->problem = problem;
    m->sets = sgi_allocate(&m->allocator, (size_t)problem->data_count, sizeof *m->sets);
    sg_status status = m->sets ? SG_OK : SG_ERROR_MEMORY;
    for (int i = 0; i < problem->data_count && status == SG_OK; i++)
        status = make_set(m, &m->sets[m->count++], &problem->data[i]);
    if (status == SG_OK)
        *out = m;
    else
        sgi_misfits_destroy(m);
    return status;
}

void sgi_misfits_destroy(sgi_misfits *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->sets && i < m->count; i++) {
        sgi_misfit_set *set = &m->sets[i];
        for (int j = 0; set->predicted && j < set->data->observed; j++)
            sgi_release(&m->allocator, set->predicted[j]);
        sgi_release(&m->allocator, set->predicted);
        sgi_release(&m->allocator, set->observed);
        sgi_point_set_release(&set->values);
    }
    sgi_release(&m->allocator, m->sets);
    sgi_release(&m->allocator, m);
}

/* Adds the squares of rows [first, end) of expression j. */
static void add_rows(const sgi_misfit_set *set, int j, size_t first, size_t end, sum *one, sum *all)
{
    const sgi_data *data = set->data;
    for (size_t i = first; i < end; i++) {
        size_t at = (size_t)j * data->count + i;
        if (data->factors[at] == 0)
            continue;
        double difference =
            (set->predicted[j][i] - data->values[at]) * (data->factors[at] / data->spread);
        one->squares += difference * difference;
        all->squares += difference * difference;
        one->count++;
        all->count++;
    }
}

static void measure_set(sgi_misfit_set *set)
{
    const sgi_data *data = set->data;
    sum trained = {.count = 0}, held = {.count = 0};
    for (int j = 0; j < data->observed; j++) {
        sum one[2] = {{.count = 0}, {.count = 0}};
        add_rows(set, j, 0, data->trained, &one[0], &trained);
        add_rows(set, j, data->trained, data->count, &one[1], &held);
        set->observed[j] = (sgi_misfit){mean_root(&one[0]), mean_root(&one[1])};
    }
    set->all = (sgi_misfit){mean_root(&trained), mean_root(&held)};
}

sg_status sgi_misfits_measure(sgi_misfits *m, sg_jet_network *network, sg_pool *pool)
{
    for (size_t i = 0; i < m->count; i++) {
        sgi_misfit_set *set = &m->sets[i];
        sgi_places places = {NULL, set->data->points, set->data->count};
        sg_status status = sgi_quantities_evaluate(m->problem, &set->values, network, &places,
                                                   set->predicted, pool, &m->allocator);
        if (status != SG_OK)
            return status;
        measure_set(set);
    }
    return SG_OK;
}
