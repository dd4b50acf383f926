/* The section `training`: its stages, the defaults that follow from their optimizers, and what
 * optimizers of second order ask of the rest of the file. See problem.h.
 *
 * A stage has the options of the whole section. What it does not say is what the section says
 * beside the list, or else the default. A section without a list is one stage. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"

enum { SG_PATH_OF_SET = 256 };

/* ---- Reading ----------------------------------------------------------------------------------
 */

static const sgi_yaml *section_of(const sgi_problem *problem)
{
    const sgi_yaml *node = sgi_yaml_get(problem->root, "training");
    return node && node->kind == SG_YAML_MAPPING ? node : NULL;
}

static const sgi_yaml *list_of(const sgi_problem *problem)
{
    const sgi_yaml *section = section_of(problem);
    return section ? sgi_yaml_get(section, "stages") : NULL;
}

static bool says(const sgi_yaml *mapping, const char *key)
{
    return mapping && sgi_yaml_get(mapping, key);
}

static sg_status wrong_stages(sgi_reader *reader, const sgi_yaml *node)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "training.stages must be a list of 1 to %d mappings, each with the options "
                       "of 'training' but seed and stages",
                       SG_MOST_STAGES);
    sgi_diagnostic_suggest(
        reader->diagnostic,
        "as in [{optimizer: adamw, steps: 2000}, {optimizer: levenberg, seconds: 120}]");
    return SG_ERROR_FORMAT;
}

static sg_status check_stages(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *list = list_of(problem);
    if (!list)
        return SG_OK;
    if (list->kind != SG_YAML_SEQUENCE || list->count < 1 || list->count > SG_MOST_STAGES)
        return wrong_stages(reader, list);
    for (const sgi_yaml *stage = list->first; stage; stage = stage->next)
        if (stage->kind != SG_YAML_MAPPING || says(stage, "stages") || says(stage, "seed"))
            return wrong_stages(reader, stage);
    return SG_OK;
}

/* The key in `set`, below `path` of the section, that every stage says itself; false: none. */
static bool is_idle(const sgi_yaml *set, const sgi_yaml *list, char path[SG_PATH_OF_SET])
{
    if (set->kind != SG_YAML_MAPPING) {
        const sgi_yaml *stage = list->first;
        while (stage && sgi_options_find(stage, path))
            stage = stage->next;
        return !stage;
    }
    size_t length = strlen(path);
    for (const sgi_yaml *key = set->first; key; key = key->next->next) {
        snprintf(path + length, SG_PATH_OF_SET - length, ".%.60s", key->text);
        if (is_idle(key->next, list, path))
            return true;
    }
    path[length] = '\0';
    return false;
}

sg_status sgi_problem_check_sets(const sgi_problem *problem, sgi_reader *reader, size_t count)
{
    const sgi_yaml *list = list_of(problem);
    for (size_t i = 1; list && list->kind == SG_YAML_SEQUENCE && list->first && i <= count; i++) {
        const sgi_source *source = &problem->sources[i];
        char path[SG_PATH_OF_SET];
        size_t section = strlen("training."), length = strcspn(source->text, "=");
        if (strncmp(source->text, "training.", section) != 0 || length - section >= sizeof path)
            continue;
        snprintf(path, sizeof path, "%.*s", (int)(length - section), source->text + section);
        const sgi_yaml *set = sgi_options_find(section_of(problem), path);
        if (!set || !is_idle(set, list, path))
            continue;
        sgi_diagnostic_place(reader->diagnostic, source, 0, length);
        sgi_diagnostic_say(reader->diagnostic,
                           "every stage of training says its own '%.200s', so this changes nothing",
                           path);
        sgi_diagnostic_suggest(reader->diagnostic, "for one stage: training.stages.1.%.200s=...",
                               path);
        return SG_ERROR_FORMAT;
    }
    return SG_OK;
}

/* Reads the optimizer that a mapping names, if it does. */
static sg_status read_optimizer(sgi_reader *reader, const sgi_yaml *mapping, sgi_settings *settings)
{
    const sgi_yaml *optimizer = mapping ? sgi_yaml_get(mapping, "optimizer") : NULL;
    const sgi_yaml *name =
        optimizer && optimizer->kind == SG_YAML_MAPPING ? sgi_yaml_get(optimizer, "name") : NULL;
    return name ? sgi_option_read(reader, sgi_option_find(reader->table, "training.optimizer.name"),
                                  name, settings)
                : SG_OK;
}

/* Steps of Levenberg-Marquardt are few and long: each is worth a line. Those of quasi-Newton
 * methods are short, and build on each other on the same points. */
static void set_second_defaults(sgi_training_settings *training)
{
    bool levenberg = sgi_second_has_jacobian(sgi_training_second(training));
    training->steps = levenberg ? 500 : 5000;
    training->log_every = levenberg ? 1 : 20;
    training->evaluate_every = levenberg ? 10 : 200;
    training->checkpoint_every = levenberg ? 50 : 1000;
    training->points_start = levenberg ? 700 : 2000;
    training->points_every = levenberg ? 8 : 100;
    training->method = SG_METHOD_NONE;
}

/* What is said to be the most is no less than what a stage begins with unless it says that, too. */
static void bound_start(sgi_training_settings *training, const sgi_yaml *section,
                        const sgi_yaml *stage)
{
    const sgi_yaml *all = section ? sgi_yaml_get(section, "points") : NULL;
    const sgi_yaml *own = stage ? sgi_yaml_get(stage, "points") : NULL;
    if (training->points_most > 0 && training->points_most < training->points_start &&
        !says(all, "start") && !says(own, "start"))
        training->points_start = training->points_most;
}

/* One stage: `stage` is its mapping, or NULL when the section has no list. */
static sg_status read_stage(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *stage,
                            sgi_settings *into)
{
    const sgi_yaml *section = section_of(problem);
    sg_status status = sgi_options_default(reader, "training", into);
    if (status == SG_OK)
        status = read_optimizer(reader, section, into);
    if (status == SG_OK)
        status = read_optimizer(reader, stage, into);
    if (status != SG_OK)
        return status;
    if (sgi_training_is_second(&into->training))
        set_second_defaults(&into->training);
    const sgi_training_settings defaults = into->training;
    sgi_training_settings usual = defaults;
    if (section)
        status = sgi_options_read(reader, "training", "training", section, into);
    if (status == SG_OK && stage) {
        usual = into->training; /* what all stages share need not be for each of them */
        status = sgi_options_read(reader, "training", "a stage of training", stage, into);
    }
    bool limited = says(section, "steps") || says(stage, "steps");
    if (!limited && (into->training.seconds > 0 || into->training.tolerance > 0))
        into->training.steps = SG_STEPS_WITHOUT_END; /* another budget ends it */
    into->training.unused = sgi_training_unused(&into->training, &usual);
    sgi_training_forget_unused(&into->training, &defaults);
    bound_start(&into->training, section, stage);
    return status;
}

/* What a network is unless the file says otherwise: in double, and small where the cost of a step
 * grows with the square of its weights. */
static void set_network_defaults(sgi_problem *problem)
{
    sgi_settings *settings = &problem->settings;
    if (sgi_problem_is_second(problem))
        settings->network.precision = SG_FLOAT64;
    if (sgi_problem_dense(problem))
        settings->network.hidden = (sgi_widths){.count = 4, .values = {20, 20, 20, 20}};
}

sg_status sgi_problem_read_training(sgi_problem *problem, sgi_reader *reader)
{
    sgi_settings *settings = &problem->settings;
    sgi_settings *read = sgi_arena_allocate(reader->arena, 1, sizeof *read);
    sg_status status = read ? check_stages(problem, reader) : SG_ERROR_MEMORY;
    if (status != SG_OK)
        return status;
    const sgi_yaml *list = list_of(problem);
    const sgi_yaml *stage = list ? list->first : NULL;
    settings->stages.listed = list != NULL;
    settings->stages.count = 0;
    do {
        status = read_stage(problem, reader, stage, read);
        settings->stages.values[settings->stages.count++] = read->training;
        stage = stage ? stage->next : NULL;
    } while (stage && status == SG_OK);
    settings->training = settings->stages.values[0];
    set_network_defaults(problem);
    return status;
}

/* ---- Checks -----------------------------------------------------------------------------------
 */

bool sgi_problem_is_second(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    for (int i = 0; i < stages->count; i++)
        if (sgi_training_is_second(&stages->values[i]))
            return true;
    return false;
}

const sgi_training_settings *sgi_problem_dense(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    for (int i = 0; i < stages->count; i++)
        if (sgi_training_is_second(&stages->values[i]) &&
            sgi_second_is_dense(sgi_training_second(&stages->values[i])))
            return &stages->values[i];
    return NULL;
}

/* The first stage whose optimizer is of second order. */
static const char *second_name(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    int i = 0;
    while (!sgi_training_is_second(&stages->values[i]))
        i++;
    return sgi_training_optimizer(&stages->values[i]);
}

static sg_status refuse(const sgi_problem *problem, sgi_reader *reader, const char *section,
                        const char *key, const char *why, const char *instead)
{
    const sgi_yaml *node = sgi_yaml_get(problem->root, section), *inner = NULL;
    if (node && node->kind == SG_YAML_MAPPING)
        inner = sgi_yaml_get(node, key);
    sgi_yaml_place(reader->diagnostic, inner ? inner : node ? node : problem->root, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s: the optimizer '%s' is of second order", why,
                       second_name(problem));
    sgi_diagnostic_suggest(reader->diagnostic, "%s", instead);
    return SG_ERROR_FORMAT;
}

/* The mapping that stage `index` was read from: its own, or the section. */
static const sgi_yaml *stage_node(const sgi_problem *problem, int index)
{
    const sgi_yaml *list = list_of(problem), *node = list ? list->first : section_of(problem);
    for (int i = 0; list && i < index; i++)
        node = node->next;
    return node;
}

/* Where a stage says `key`: in its own mapping, in the section, or nowhere. */
static const sgi_yaml *place_of(const sgi_problem *problem, int index, const char *key)
{
    const sgi_yaml *stage = stage_node(problem, index), *section = section_of(problem);
    return says(stage, key)     ? sgi_yaml_get(stage, key)
           : says(section, key) ? sgi_yaml_get(section, key)
           : stage              ? stage
                                : problem->root;
}

/* Why causal weights are not for this problem; NULL: they are. */
static const char *no_causal(const sgi_problem *problem, const sgi_training_settings *training)
{
    const sgi_settings *settings = &problem->settings;
    if (problem->names.time < 0)
        return "weighs the equations by their time, and there is no coordinate t";
    if (problem->set_count == 0 || problem->sets[0].kind != SG_SET_DOMAIN ||
        (problem->set_count > 1 && problem->sets[1].kind == SG_SET_DOMAIN))
        return "needs equations that hold in one and the same domain";
    if (!sgi_training_is_second(training) && settings->refinement.method == SG_REFINE_RAR_D)
        return "needs a number of points that stays: refinement.method rar-d adds some";
    if (settings->diagnose.every > 0 || training->until == SG_STEP_MARGIN)
        return "changes the loss from step to step: the kernels cannot be measured beside it";
    return NULL;
}

/* Options that only some methods look at. */
static sg_status check_method(const sgi_problem *problem, sgi_reader *reader, int index)
{
    const sgi_training_settings *training = &problem->settings.stages.values[index];
    bool second = sgi_training_is_second(training);
    const char *key = NULL, *why = NULL;
    if (training->metric != SGI_METRIC_AUTO &&
        !(second && sgi_second_has_jacobian(sgi_training_second(training)))) {
        key = "metric";
        why = "is of steps that solve for all residuals: the optimizers levenberg and kernel";
    } else if (training->solve != SGI_SOLVE_CHOLESKY && !sgi_training_is_kernel(training)) {
        key = "solver";
        why = "is a choice of the optimizer kernel alone";
    } else if (sgi_training_is_endless(training) && !(training->tolerance > 0)) {
        key = "steps";
        why = "has no end: fewer of them, or 'seconds' or a 'tolerance' beside them";
    } else if (sgi_training_carried(training) >= 1) {
        key = "optimizer";
        why = "needs a momentum below 1 with 'kernel'";
    } else if (!second && training->then == SG_SCHEDULE_COSINE &&
               !sgi_training_is_timed(training) && training->steps == SG_STEPS_WITHOUT_END) {
        key = "schedule";
        why = "has a cosine, which ends with training: 'steps' or 'seconds' must say where that is";
    } else if (second && training->points_most > 0 &&
               training->points_most < training->points_start) {
        key = "points";
        why = "begins with more points ('start') than there may be ('most')";
    } else if (training->causal_eps > 0 && no_causal(problem, training)) {
        key = "causal";
        why = no_causal(problem, training);
    }
    if (!key)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, place_of(problem, index, key), 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "training.%s %s", key, why);
    return SG_ERROR_FORMAT;
}

/* The margin is measured, and rescaling follows it, in a training of one stage. */
static sg_status check_margin(const sgi_problem *problem, sgi_reader *reader, int index)
{
    const sgi_stages *stages = &problem->settings.stages;
    if (stages->count == 1 || stages->values[index].until != SG_STEP_MARGIN)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, place_of(problem, index, "stablegrad"), 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "training.stablegrad: 'until: margin' is for training in one stage, and "
                       "here are %d",
                       stages->count);
    sgi_diagnostic_suggest(reader->diagnostic,
                           "'until: half', which counts the stage's own steps, a number of steps, "
                           "or 'forever'");
    return SG_ERROR_FORMAT;
}

static bool rescale_alike(const sgi_problem *problem, int a, int b)
{
    sg_scale_config x = sgi_problem_scale(problem, a), y = sgi_problem_scale(problem, b);
    return x.reference == y.reference && x.constant == y.constant && x.blocks == y.blocks &&
           x.eps == y.eps && (problem->unknown_count == 0 || x.scalars == y.scalars);
}

/* What is measured beside training is what one way of rescaling makes of the kernels. */
static sg_status check_measuring(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_stages *stages = &problem->settings.stages;
    int first = sgi_problem_rescaled_stage(problem), other = first;
    while (other < stages->count &&
           (stages->values[other].method == SG_METHOD_NONE || rescale_alike(problem, first, other)))
        other++;
    if (problem->settings.diagnose.every == 0 || other >= stages->count)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, place_of(problem, other, "stablegrad"), 0, 0);
    sgi_diagnostic_say(
        reader->diagnostic,
        "stage %d rescales in another way than stage %d, and diagnose.every measures "
        "the kernels for one of them",
        other + 1, first + 1);
    sgi_diagnostic_suggest(
        reader->diagnostic,
        "the same reference, blocks, unknowns and eps in both, or no diagnose.every");
    return SG_ERROR_FORMAT;
}

sg_status sgi_problem_check_training(const sgi_problem *problem, sgi_reader *reader)
{
    const sgi_settings *settings = &problem->settings;
    for (int i = 0; i < settings->stages.count; i++) {
        sg_status status = check_method(problem, reader, i);
        if (status == SG_OK)
            status = check_margin(problem, reader, i);
        if (status != SG_OK)
            return status;
    }
    if (!sgi_problem_is_second(problem))
        return check_measuring(problem, reader);
    if (settings->network.precision != SG_FLOAT64)
        return refuse(problem, reader, "network", "precision",
                      "network.precision must be double here",
                      "leave the key out, or say 'double'");
    if (problem->set_count == 0 || problem->sets[0].kind != SG_SET_DOMAIN)
        return refuse(problem, reader, "training", "optimizer",
                      "there is no equation whose points could be drawn",
                      "an optimizer of first order, as 'adamw'");
    bool first = false;
    for (int i = 0; i < settings->stages.count; i++)
        first = first || !sgi_training_is_second(&settings->stages.values[i]);
    if (!first && settings->refinement.method != SG_REFINE_NONE)
        return refuse(problem, reader, "refinement", "method",
                      "points are redrawn by the residual in any case",
                      "leave 'refinement' out; training.points says how often");
    if (settings->diagnose.every > 0)
        return refuse(problem, reader, "diagnose", "every",
                      "the kernels are measured beside steps of first order",
                      "leave diagnose.every out");
    for (int k = 0; k < problem->set_count; k++)
        if (problem->sets[k].distribution == SG_DRAW_GRID)
            return refuse(problem, reader, "sampling", "distribution",
                          "a grid cannot be redrawn, nor grow point by point", "'sobol' can");
    for (int i = 0; i < settings->stages.count; i++)
        if (settings->stages.values[i].until == SG_STEP_MARGIN)
            return refuse(problem, reader, "training", "stablegrad",
                          "'until: margin' needs measurements of the kernels",
                          "'until: half', or a number of steps");
    return SG_OK;
}

/* ---- What follows from it ----------------------------------------------------------------------
 */

int sgi_problem_rescaled_stage(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    for (int i = 0; i < stages->count; i++)
        if (stages->values[i].method != SG_METHOD_NONE)
            return i;
    return 0;
}

int64_t sgi_problem_steps(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    int64_t sum = 0;
    for (int i = 0; i < stages->count; i++)
        sum += stages->values[i].steps;
    if (problem->window < 0 && problem->windows.count > 0 && sum < SG_STEPS_WITHOUT_END)
        sum *= problem->windows.count;
    return sum < SG_STEPS_WITHOUT_END ? sum : SG_STEPS_WITHOUT_END;
}

enum { RESIDUALS_PER_PARAMETER = 5, SMALL_NETWORK = 5000, MOST_RESIDUALS = 4000 };

int64_t sgi_problem_most_points(const sgi_problem *problem, const sgi_training_settings *training)
{
    double parameters = sgi_problem_parameters(problem);
    double residuals =
        parameters > SMALL_NETWORK ? MOST_RESIDUALS : RESIDUALS_PER_PARAMETER * parameters;
    double most = training->points_most > 0 ? (double)training->points_most
                                            : ceil(residuals / problem->sets[0].component_count);
    return most < (double)training->points_start ? training->points_start : (int64_t)most;
}
