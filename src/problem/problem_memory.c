/* Whether what a problem asks for can be in the machine's memory: asked before anything large is
 * taken, and in double, since the settings may ask for more than any integer holds. See problem.h.
 */
#include <math.h>
#include <stdio.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "optim/soap.h"
#include "problem/problem.h"
#include "second/levenberg.h"
#include "second/quasi.h"

/* What a training could do with instead of what the file says. */
typedef struct change {
    double parameters;   /* of the network */
    int64_t most_points; /* of stages of second order; 0: as many as they have */
    bool free;           /* the kernel form solves without its matrix */
    bool lbfgs;          /* in the place of methods that keep a dense H */
} change;

/* What a layer of the network gives, of layer -1 what the first one sees. */
static double width(const sgi_problem *problem, int layer)
{
    const sgi_widths *hidden = &problem->settings.network.hidden;
    double inputs = 2 * (double)sgi_problem_waves(problem);
    for (int k = 0; k < problem->names.coordinate_count; k++)
        inputs += problem->settings.inputs.raw >> k & 1;
    return layer < 0               ? inputs
           : layer < hidden->count ? hidden->values[layer]
                                   : problem->names.field_count;
}

double sgi_problem_parameters(const sgi_problem *problem)
{
    double parameters = (double)problem->unknown_count;
    for (int l = 0; l <= problem->settings.network.hidden.count; l++)
        parameters += (width(problem, l - 1) + 1) * width(problem, l);
    return parameters;
}

/* ---- What a training takes --------------------------------------------------------------------
 */

/* Of each parameter: value and gradient, of each window, packed once; to train also the gradients
 * of at least eight units, and a sum in double. Of each wave: its coordinates twice, and some ten
 * numbers in the tables. */
static double network_bytes(const sgi_problem *problem, double parameters, bool training)
{
    double size = problem->settings.network.precision == SG_FLOAT32 ? 4 : 8;
    double each = 2 * size * fmax((double)problem->windows.count, 1) + size;
    double table = 16.0 * problem->names.coordinate_count + 10 * size;
    if (training)
        each += 8 * size + 8;
    return parameters * each + (double)sgi_problem_waves(problem) * table;
}

/* What SOAP keeps beside two moments: of every side that it turns a mean and a basis, and for the
 * steps the gradients, and the desk of one thread (optim/soap.c) in double. */
static double soap_bytes(const sgi_problem *problem, double size)
{
    double kept = 0, elements = 0, square = 0;
    for (int l = 0; l <= problem->settings.network.hidden.count; l++) {
        double sides[2] = {width(problem, l - 1), width(problem, l)}, all = sides[0] * sides[1];
        bool turned = false;
        for (int i = 0; i < 2; i++) {
            if (!(sides[i] > 1 && sides[i] <= SGI_SOAP_MOST))
                continue;
            kept += 2 * sides[i] * sides[i];
            square = fmax(square, sides[i] * sides[i]);
            turned = true;
        }
        kept += turned ? all : 0;
        elements = fmax(elements, turned ? all : 0);
    }
    return kept * size + 8 * (3 * elements + square + fmax(square, elements));
}

/* Two moments of each parameter; one of SGD, at most; MultiAdam has them of each set, and keeps the
 * gradients of the sets. */
static double first_bytes(const sgi_problem *problem, const sgi_training_settings *training,
                          double parameters)
{
    double size = problem->settings.network.precision == SG_FLOAT32 ? 4 : 8;
    double moments = training->optimizer == SG_OPTIM_SGD         ? training->momentum > 0
                     : training->optimizer == SG_OPTIM_MULTIADAM ? 3.0 * problem->set_count
                                                                 : 2;
    return moments * size * parameters +
           (training->optimizer == SG_OPTIM_SOAP ? soap_bytes(problem, size) : 0);
}

/* The points, and six numbers of each coordinate for those that they are chosen from. */
static double points_bytes(const sgi_problem *problem, const sgi_training_settings *training)
{
    double points = (double)sgi_problem_most_points(problem, training);
    return points * 6 * 8 * problem->names.coordinate_count;
}

static double second_bytes(const sgi_problem *problem, const sgi_training_settings *training,
                           double parameters)
{
    double points = (double)sgi_problem_most_points(problem, training), residuals = 0;
    for (int k = 0; k < problem->set_count; k++) {
        double items = (double)problem->sets[k].items;
        bool domain = problem->sets[k].kind == SG_SET_DOMAIN;
        bool data = problem->sets[k].kind == SG_SET_DATA;
        residuals += (domain ? points
                      : data ? items
                             : fmin(items, fmax(points / 4, 64))) *
                     problem->sets[k].component_count;
    }
    double method = sgi_second_has_jacobian(sgi_training_second(training))
                        ? sgi_levenberg_memory(parameters, residuals, sgi_training_solver(training))
                        : 8 * sgi_quasi_state(sgi_training_second(training), parameters);
    return method + points_bytes(problem, training);
}

/* Whether the method keeps a matrix of the size of the parameters, whatever the points. */
static bool keeps_dense(const sgi_training_settings *training)
{
    if (!sgi_training_is_second(training))
        return false;
    sgi_second_kind kind = sgi_training_second(training);
    return sgi_second_is_dense(kind) && !sgi_second_has_jacobian(kind);
}

static double stage_bytes(const sgi_problem *problem, int index, const change *c)
{
    sgi_training_settings training = problem->settings.stages.values[index];
    if (!sgi_training_is_second(&training))
        return first_bytes(problem, &training, c->parameters);
    if (c->most_points > 0 && c->most_points < sgi_problem_most_points(problem, &training)) {
        training.points_most = c->most_points;
        training.points_start = c->most_points / 2;
    }
    if (c->free)
        training.solve = SGI_SOLVE_CG;
    if (c->lbfgs && keeps_dense(&training))
        training.optimizer = SG_OPTIM_COUNT + SGI_SECOND_LBFGS;
    return second_bytes(problem, &training, c->parameters);
}

/* Of the network and all stages, whose memory is taken before the first step. */
static double all_bytes(const sgi_problem *problem, const change *c)
{
    double bytes = network_bytes(problem, c->parameters, true);
    for (int i = 0; i < problem->settings.stages.count; i++)
        bytes += stage_bytes(problem, i, c);
    return bytes;
}

double sgi_problem_bytes(const sgi_problem *problem)
{
    return all_bytes(problem, &(change){.parameters = sgi_problem_parameters(problem)});
}

/* ---- What would fit ---------------------------------------------------------------------------
 */

static bool would_fit(const sgi_problem *problem, const change *c)
{
    return sgi_memory_fits(all_bytes(problem, c), "", NULL) == SG_OK;
}

/* The most parameters that would fit, rounded down to two digits; 0: none. */
static double most_parameters(const sgi_problem *problem)
{
    change c = {.parameters = 0};
    double most = 0, unit = 1;
    for (int bit = 40; bit >= 0; bit--) {
        c.parameters = most + ldexp(1, bit);
        most = would_fit(problem, &c) ? c.parameters : most;
    }
    while (most / unit >= 100)
        unit *= 10;
    return floor(most / unit) * unit;
}

/* Fewer points for the stages of second order. */
static bool suggest_points(const sgi_problem *problem, sg_diagnostic *diagnostic)
{
    const sgi_stages *stages = &problem->settings.stages;
    change fewer = {.parameters = sgi_problem_parameters(problem)}, free = fewer;
    free.free = true;
    bool kernel = false, one = stages->count == 1;
    for (int i = 0; i < stages->count; i++)
        kernel = kernel || sgi_training_is_kernel(&stages->values[i]);
    for (fewer.most_points = 1 << 14; fewer.most_points >= 128; fewer.most_points /= 2) {
        if (!would_fit(problem, &fewer))
            continue;
        sgi_diagnostic_suggest(
            diagnostic, "'%spoints: {start: %lld, most: %lld}'%s would fit, or %s",
            one ? "training." : "", (long long)fewer.most_points / 2, (long long)fewer.most_points,
            one ? "" : " in each stage of second order",
            !kernel || !would_fit(problem, &free) ? "a smaller network"
            : one                                 ? "'training.solver: cg', which needs no matrix"
                                                  : "'solver: cg' there, which needs no matrix");
        return true;
    }
    return false;
}

/* What could be done about the stage that takes the most. */
static void suggest(const sgi_problem *problem, const sgi_training_settings *largest,
                    bool by_points, sg_diagnostic *diagnostic)
{
    change without = {.parameters = sgi_problem_parameters(problem), .lbfgs = true};
    double most = most_parameters(problem);
    if (by_points && suggest_points(problem, diagnostic))
        return;
    bool lbfgs = keeps_dense(largest) && would_fit(problem, &without);
    if (lbfgs && most > 0)
        sgi_diagnostic_suggest(diagnostic,
                               "a network of at most %.0f parameters would fit, or the optimizer "
                               "'lbfgs', which needs no matrix",
                               most);
    else
        sgi_diagnostic_suggest(diagnostic, lbfgs ? "the optimizer 'lbfgs', which needs no matrix"
                                                 : "a smaller network would fit");
}

/* ---- The answer -------------------------------------------------------------------------------
 */

static int largest_stage(const sgi_problem *problem, const change *c)
{
    int largest = 0;
    for (int i = 1; i < problem->settings.stages.count; i++)
        if (stage_bytes(problem, i, c) > stage_bytes(problem, largest, c))
            largest = i;
    return largest;
}

/* "training in 2 stages, most of all the optimizer 'levenberg' of stage 2 with 12737 parameters and
 * 5000 points,", or less where there is less to tell. */
static void describe(const sgi_problem *problem, int stage, bool by_points, char *text, size_t size)
{
    const sgi_stages *stages = &problem->settings.stages;
    const sgi_training_settings *training = &stages->values[stage];
    char before[64] = "", of[24] = "", points[40] = "";
    if (stages->count > 1) {
        (void)snprintf(before, sizeof before, "training in %d stages, most of all ", stages->count);
        (void)snprintf(of, sizeof of, " of stage %d", stage + 1);
    }
    if (by_points)
        (void)snprintf(points, sizeof points, " and %lld points",
                       (long long)sgi_problem_most_points(problem, training));
    (void)snprintf(text, size, "%sthe optimizer '%s'%s with %.12g parameters%s%s", before,
                   sgi_training_optimizer(training), of, sgi_problem_parameters(problem), points,
                   stages->count > 1 ? "," : "");
}

sg_status sgi_problem_fits(const sgi_problem *problem, bool training, sg_diagnostic *diagnostic)
{
    char what[200];
    change as_it_is = {.parameters = sgi_problem_parameters(problem)};
    (void)snprintf(what, sizeof what, "%s of %.4g parameters",
                   training ? "training a network" : "a network", as_it_is.parameters);
    sg_status status =
        sgi_memory_fits(network_bytes(problem, as_it_is.parameters, training), what, diagnostic);
    if (status != SG_OK || !training)
        return status;
    int stage = largest_stage(problem, &as_it_is);
    const sgi_training_settings *largest = &problem->settings.stages.values[stage];
    if (!sgi_training_is_second(largest)) {
        (void)snprintf(what, sizeof what, "training a network of %.4g parameters with '%s'",
                       as_it_is.parameters, sgi_training_optimizer(largest));
        return sgi_memory_fits(all_bytes(problem, &as_it_is), what, diagnostic);
    }
    /* H is what it is; but more points than it has numbers are worth a word. */
    bool by_points = !keeps_dense(largest) ||
                     2 * points_bytes(problem, largest) > stage_bytes(problem, stage, &as_it_is);
    describe(problem, stage, by_points, what, sizeof what);
    status = sgi_memory_fits(all_bytes(problem, &as_it_is), what, diagnostic);
    if (status != SG_OK)
        suggest(problem, largest, by_points, diagnostic);
    return status;
}
