/* `stablegrad check` of a PDE: the plan, the cost, and whether the reference solves the problem. */
#include "commands/problem_check.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

#include "commands/budget.h"
#include "commands/scales.h"
#include "commands/second_cost.h"
#include "pinn/bad_point.h"
#include "pinn/errors.h"
#include "pinn/refinement.h"
#include "problem/check.h"
#include "problem/cloud.h"
#include "problem/data.h"
#include "problem/remarks.h"
#include "problem/solution_files.h"
#include "progress.h"
#include "train/pinn_subject.h"
#include "train/unknowns.h"

enum { TIMED_STEPS = 3, TIMED_POINTS = 1 << 16 };

/* A step of very many points is not timed as a whole: every set has that share of its points. The
 * handle knows the true numbers already. */
static void thin_sets(sgi_problem *problem)
{
    double points = 0;
    for (int s = 0; s < problem->set_count; s++)
        points += (double)problem->sets[s].items * problem->sets[s].points_per_item;
    for (int s = 0; s < problem->set_count && points > TIMED_POINTS; s++)
        problem->sets[s].items =
            (int64_t)ceil((double)problem->sets[s].items * TIMED_POINTS / points);
}

/* How many times the points of the batch a step has. */
static double times_the_batch(const sg_pinn *pinn, const sg_pinn_batch *batch)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    double all = 0, timed = 0;
    for (size_t k = 0; k < information->set_count; k++) {
        double each = (double)information->sets[k].points_per_item;
        all += (double)information->sets[k].items * each;
        timed += (double)sg_pinn_items(batch, k) * each;
    }
    return all / timed;
}

/* Seconds of one step without the optimizer's pass, the fastest of a few. */
static double time_step(sg_pinn_batch *batch, int64_t seconds)
{
    double start = sgi_seconds(), best = INFINITY;
    sg_pinn_loss loss;
    sg_pinn_gradient(batch, NULL, &loss);
    for (uint64_t i = 1; i <= TIMED_STEPS; i++) {
        if (i > 1 && sgi_seconds() - start > (double)seconds)
            break;
        double began = sgi_seconds();
        sg_pinn_draw(batch, i);
        sg_pinn_gradient(batch, NULL, &loss);
        best = fmin(best, sgi_seconds() - began);
    }
    return best;
}

double time_problem(sgi_problem *problem, sg_pool *pool)
{
    sg_pinn *pinn = NULL;
    sg_pinn_trainer *trainer = NULL;
    double seconds = NAN;
    sg_status status = sgi_problem_fits(problem, true, NULL);
    if (status == SG_OK)
        status = sgi_pinn_over(&pinn, problem, NULL);
    thin_sets(problem);
    if (status == SG_OK)
        status = sg_pinn_trainer_create(&trainer, pinn, pool, SG_ISA_AUTO, NULL);
    if (status == SG_OK) {
        sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
        seconds = time_step(batch, 0) * times_the_batch(pinn, batch);
    }
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    return seconds;
}

/* "domain  area 0.8744 of 1 in the box, boundary of length 5.257" */
static void print_domain(const sgi_problem *problem)
{
    static const char *const insides[] = {"", "length", "area", "volume"};
    static const char *const edges[] = {"", "ends", "length", "area"};
    const sgi_domain *domain = &problem->domain;
    if (!domain->region)
        return;
    int kind = domain->axes < 4 ? domain->axes : 0;
    double sum = 0;
    for (int i = 0; i < domain->region->side_count; i++)
        sum += domain->region->sides[i].measure;
    printf("\ndomain         %s %.4g of %.4g in the box, boundary of %s %.4g\n",
           kind ? insides[kind] : "measure", domain->region->measure, domain->regions[0]->measure,
           kind ? edges[kind] : "measure", sum);
}

/* "steel  38% of the domain: warm, stress" for each region with equations of its own. */
static void print_regions(const sgi_problem *problem)
{
    bool any = false;
    for (int k = 0; k < problem->set_count; k++) {
        const sgi_point_set *set = &problem->sets[k];
        if (!set->region)
            continue;
        printf("%s%-14s %.3g%% of the domain:", any ? "" : "\n", set->name, 100 * set->share);
        for (int t = 0; t < set->term_count; t++)
            printf("%s %s", t ? "," : "", set->terms[t].name);
        printf("\n");
        any = true;
    }
}

/* How the points of each set are drawn; the widest of these texts. */
static int describe_sets(const sgi_problem *problem, char texts[SG_MOST_SETS][64])
{
    int widest = 0;
    for (int k = 0; k < problem->set_count; k++) {
        int width = (int)sgi_cloud_describe(problem, k, texts[k], sizeof texts[k]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Methods of second order have a number of points of their own. */
static void print_second(const sgi_problem *problem)
{
    const sgi_stages *stages = &problem->settings.stages;
    for (int i = 0; i < stages->count; i++) {
        const sgi_training_settings *s = &stages->values[i];
        char start[32], most[32];
        if (!sgi_training_is_second(s))
            continue;
        format_thousands((uint64_t)s->points_start, start, sizeof start);
        format_thousands((uint64_t)sgi_problem_most_points(problem, s), most, sizeof most);
        printf("%-14s %10s  in the domain at first, %s at most, in place of those above\n",
               sgi_training_optimizer(s), start, most);
    }
}

static void print_sets(const sgi_problem *problem, const sg_pinn_batch *batch,
                       const sg_pinn_information *information)
{
    char drawn[SG_MOST_SETS][64];
    int width = describe_sets(problem, drawn);
    printf("\n%-14s %10s  %-*s  %s\n", "points", "per step", width, "drawn", "channels");
    for (size_t k = 0; k < information->set_count; k++) {
        const sg_pinn_set *set = &information->sets[k];
        char channels[256], items[32];
        sgi_pinn_channels(batch, k, channels, sizeof channels);
        format_thousands(set->items, items, sizeof items);
        printf("%-14s %10s  %-*s  %s%s\n", set->name, items, width, drawn[k], channels,
               set->points_per_item == 2 ? "  (pairs)" : "");
    }
    print_second(problem);
    print_scales(problem);
}

/* Seconds that choosing points takes each time; 0: nothing is chosen. */
static double time_refinement(const sg_pinn *pinn, const sg_pinn_trainer *trainer)
{
    sgi_refinement *refinement = sgi_pinn_trainer_refinement(trainer);
    return refinement ? sgi_refinement_time(refinement) *
                            times_the_batch(pinn, sg_pinn_trainer_batch(trainer))
                      : 0;
}

/* "refinement     rad: 20,480 residuals every 100 steps, 1.2 ms, or 3% of the time" */
static void print_refinement(const sg_pinn *pinn, const sg_pinn_trainer *trainer, double taken,
                             double step)
{
    static const char *const methods[] = {SG_REFINE_LIST(SGI_LIST_NAME)};
    const sgi_refinement_settings *s = &pinn->problem->settings.refinement;
    char points[32];
    if (s->method == SG_REFINE_NONE)
        return;
    double each = taken / (double)s->every;
    format_thousands(sgi_refinement_evaluated(sgi_pinn_trainer_refinement(trainer)), points,
                     sizeof points);
    printf("refinement     %s: %s points looked at every %lld steps, %.3g ms, %.1f%% of the time\n",
           methods[s->method], points, (long long)s->every, 1e3 * taken,
           100 * each / (each + step));
}

static void print_size(const sg_pinn *pinn, const sg_pinn_trainer *trainer)
{
    char parameters[32];
    format_thousands(sg_jet_network_parameters(sg_pinn_network(pinn)), parameters,
                     sizeof parameters);
    printf("\nparameters     %s\nmemory         %.1f MB\n", parameters,
           1e-6 * (double)sgi_pinn_trainer_memory(trainer));
}

static void print_cost(const sg_pinn *pinn, const sg_pinn_trainer *trainer, sg_pool *pool,
                       int64_t limit)
{
    sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    char step[32];
    double seconds = time_step(batch, limit), rate = sgi_pinn_flops(batch) / seconds;
    double times = times_the_batch(pinn, batch);
    double refined = time_refinement(pinn, trainer);
    seconds *= times;
    double each = refined / (double)pinn->problem->settings.refinement.every;
    snprintf(step, sizeof step, seconds < 1 ? "%.3g ms" : "%.3g s",
             seconds < 1 ? 1e3 * seconds : seconds);
    printf("time per step  %s on %d thread%s (%s, %.0f GFLOP/s)%s\n", step, sg_pool_threads(pool),
           sg_pool_threads(pool) == 1 ? "" : "s", sg_jet_kernels(sg_pinn_engine(batch)),
           1e-9 * rate, sgi_problem_is_second(pinn->problem) ? ", in stage 1" : "");
    print_refinement(pinn, trainer, refined, seconds);
    print_whole_run(pinn, seconds + each, false);
    if (times > 1)
        printf("               (as a step of 1/%.0f of the points takes)\n", times);
}

/* ---- The reference ------------------------------------------------------------------------ */

/* The rows of one term as one: the worst of its components, with the fields of all. */
static sgi_check_row merge_term(const sgi_check *check, size_t first, size_t *next)
{
    sgi_check_row all = check->rows[first];
    size_t i = first + 1;
    for (; i < check->count && strcmp(check->rows[i].set, all.set) == 0 &&
           strcmp(check->rows[i].term, all.term) == 0;
         i++) {
        const sgi_check_row *row = &check->rows[i];
        uint64_t fields = all.fields | row->fields;
        bool passed = all.passed && row->passed, unknown = all.unknown || row->unknown;
        if (!(row->largest <= all.largest))
            all = *row;
        all.fields = fields;
        all.passed = passed;
        all.unknown = unknown;
    }
    *next = i;
    return all;
}

/* "u, v" */
static const char *list_fields(const sgi_problem *problem, uint64_t fields, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int f = 0; f < problem->names.field_count && used < size; f++)
        if (fields >> f & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     problem->names.fields[f]);
    return text;
}

static void print_check(const sgi_problem *problem, const sgi_check *check)
{
    char text[200];
    printf("\nreference      residual relative to the size of its terms, at %d points\n",
           SG_CHECK_POINTS);
    for (size_t i = 0; i < check->count;) {
        sgi_check_row row = merge_term(check, i, &i);
        list_fields(problem, row.fields, text, sizeof text);
        if (row.unknown && row.passed) {
            printf("  %-12s %-12s not judged: it has unknown constants\n", row.term, text);
            continue;
        }
        printf("  %-12s %-12s %.1e  %s", row.term, text, row.largest,
               row.passed ? "fits" : "DOES NOT FIT, worst at ");
        printf("%s\n", row.passed ? "" : sgi_problem_point(problem, row.worst, text, sizeof text));
    }
}

static json_t *check_terms(const sgi_problem *problem, const sgi_check *check)
{
    json_t *terms = json_array();
    for (size_t i = 0; i < check->count;) {
        sgi_check_row row = merge_term(check, i, &i);
        json_t *term = json_object(), *fields = json_array(), *worst = json_object();
        for (int f = 0; f < problem->names.field_count; f++)
            if (row.fields >> f & 1)
                json_array_append_new(fields, json_string(problem->names.fields[f]));
        for (int c = 0; c < problem->names.coordinate_count; c++)
            json_object_set_new(worst, problem->names.coordinates[c],
                                sgi_json_number(row.worst[c]));
        json_object_set_new(term, "set", json_string(row.set));
        json_object_set_new(term, "term", json_string(row.term));
        json_object_set_new(term, "fields", fields);
        json_object_set_new(term, "largest", sgi_json_number(row.largest));
        json_object_set_new(term, "fits",
                            row.unknown && row.passed ? json_null() : json_boolean(row.passed));
        json_object_set_new(term, "worst", worst);
        json_array_append_new(terms, term);
    }
    return terms;
}

/* Measured data: what its files have, and what was left out of them. */
static void tell_data(const sgi_problem *problem, json_t *object)
{
    json_t *sets = object ? json_object() : NULL;
    for (int i = 0; i < problem->data_count; i++) {
        char text[300];
        const char *name = problem->data[i].name->text;
        sgi_data_text(&problem->data[i], text, sizeof text);
        if (sets)
            json_object_set_new(sets, name, json_string(text));
        else
            printf("%s%-12s %s\n", i ? "               " : "\ndata           ", name, text);
    }
    if (sets)
        json_object_set_new(object, "data", sets);
}

/* References from files: what they have. */
static void tell_files(const sgi_problem *problem, json_t *reference)
{
    json_t *files = reference ? json_array() : NULL;
    for (int i = 0; i < problem->solution.file_count; i++) {
        const sgi_solution_file *file = &problem->solution.files[i];
        char text[300];
        sgi_solution_file_text(file, text, sizeof text);
        if (files)
            json_array_append_new(files, json_string(text));
        else
            printf("%s%s\n", i ? "               " : "\nreference      ", text);
    }
    if (files)
        json_object_set_new(reference, "files", files);
}

/* Prints what was found, or adds it to `object`. */
static int check_reference(sgi_problem *problem, json_t *object)
{
    sgi_check check;
    sg_status status = sgi_problem_check(problem, &check);
    bool none = problem->solution.kind == SG_SOLUTION_NONE;
    if (status != SG_OK && status != SG_ERROR_UNSUPPORTED) {
        complain("the reference could not be checked: %s", sg_status_text(status));
        return exit_code_of(status);
    }
    const char *verdict = status != SG_OK ? (none ? "none" : "not checked")
                          : check.passed  ? "fits"
                                          : "does not fit";
    if (object) {
        json_t *reference = json_object();
        json_object_set_new(reference, "verdict", json_string(verdict));
        if (status == SG_OK) {
            json_object_set_new(reference, "tolerance", json_real(check.tolerance));
            json_object_set_new(reference, "terms", check_terms(problem, &check));
        }
        if (problem->solution.kind == SG_SOLUTION_FILES)
            tell_files(problem, reference);
        json_object_set_new(object, "reference", reference);
    } else if (problem->solution.kind == SG_SOLUTION_FILES) {
        tell_files(problem, NULL);
    } else if (status != SG_OK) {
        printf("\nreference      %s\n", none ? "none given" : "its derivatives cannot be checked");
    } else {
        print_check(problem, &check);
    }
    int code = status != SG_OK || check.passed ? EXIT_DONE : EXIT_BAD_INPUT;
    if (code != EXIT_DONE)
        complain("the reference does not satisfy the problem");
    if (status == SG_OK)
        sgi_check_release(problem, &check);
    return code;
}

/* ---- Oddities ----------------------------------------------------------------------------- */

/* Warnings go to stderr, or into `warnings`. */
static void remark(json_t *warnings, const char *sentence)
{
    if (warnings)
        json_array_append_new(warnings, json_string(sentence));
    else
        warn("%s", sentence);
}

/* What the first step would meet: a residual that is not finite for the weights it starts from. */
static sg_status check_first_step(const sg_pinn *pinn, sg_pinn_batch *batch, json_t *warnings)
{
    char place[200], text[SG_REMARK_SIZE + 200];
    sgi_bad_point bad;
    sg_pinn_draw(batch, 0);
    sg_status status = sgi_batch_bad_point(pinn, batch, NULL, &bad);
    if (status != SG_OK || !bad.found)
        return status;
    const sgi_point_set *set = &pinn->problem->sets[bad.set];
    snprintf(text, sizeof text,
             "with the weights that training starts from, %s '%s' is not finite at %s",
             sgi_point_set_what(set), set->terms[set->component_terms[bad.component]].name,
             sgi_problem_point(pinn->problem, bad.coordinates, place, sizeof place));
    remark(warnings, text);
    return SG_OK;
}

/* Points of the evaluation grid, which has the corners of the domain, where there is no reference.
 */
static sg_status check_grid(const sg_pinn *pinn, sg_pool *pool, json_t *warnings)
{
    char text[SG_REMARK_SIZE];
    sgi_errors *errors;
    sg_status status = sgi_errors_create(&errors, pinn->problem, pool, NULL);
    if (status == SG_OK && errors && sgi_errors_sentence(errors, text, sizeof text)[0])
        remark(warnings, text);
    sgi_errors_destroy(errors);
    return status;
}

static int check_oddities(const sg_pinn *pinn, sg_pinn_batch *batch, sg_pool *pool, json_t *object)
{
    sg_diagnostic diagnostic;
    sgi_remarks remarks;
    json_t *warnings = object ? json_array() : NULL;
    sg_status status = sgi_problem_remarks(pinn->problem, &remarks);
    for (int i = 0; status == SG_OK && i < remarks.count; i++)
        remark(warnings, remarks.texts[i]);
    if (status == SG_OK)
        status = sgi_problem_finite(pinn->problem, &diagnostic);
    if (status == SG_OK)
        status = check_first_step(pinn, batch, warnings);
    if (status == SG_OK)
        status = check_grid(pinn, pool, warnings);
    if (object) {
        json_object_set_new(object, "warnings", warnings);
        json_object_set_new(object, "finite", json_boolean(status != SG_ERROR_FORMAT));
    }
    if (status == SG_ERROR_FORMAT)
        tell(&diagnostic);
    else if (status != SG_OK)
        complain("the problem could not be checked: %s", sg_status_text(status));
    return exit_code_of(status);
}

/* ---- As a whole --------------------------------------------------------------------------- */

/* A step of the first stage; of second order, what it takes at first, and with the most points. */
static void add_step_seconds(const sg_pinn *pinn, sg_pinn_trainer *trainer, int64_t limit,
                             json_t *object)
{
    sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    bool second = sgi_training_is_second(&pinn->problem->settings.training);
    second_cost cost = {NAN, NAN};
    if (second)
        cost = measure_second(pinn, trainer);
    else
        cost.first = time_step(batch, limit) * times_the_batch(pinn, batch);
    json_object_set_new(object, "seconds_per_step", sgi_json_number(cost.first));
    if (second)
        json_object_set_new(object, "seconds_per_step_most", sgi_json_number(cost.most));
}

static json_t *json_plan(const sg_pinn *pinn, sg_pinn_trainer *trainer, int64_t limit)
{
    const sg_pinn_information *information = sg_pinn_describe(pinn);
    sg_pinn_batch *batch = sg_pinn_trainer_batch(trainer);
    json_t *object = json_object(), *sets = json_array();
    for (size_t k = 0; k < information->set_count; k++) {
        char channels[256];
        json_t *set = json_object();
        sgi_pinn_channels(batch, k, channels, sizeof channels);
        json_object_set_new(set, "name", json_string(information->sets[k].name));
        json_object_set_new(set, "points", json_integer((json_int_t)information->sets[k].items));
        json_object_set_new(
            set, "distribution",
            json_string(sgi_distribution_name(pinn->problem->sets[k].distribution)));
        json_object_set_new(set, "refined", json_boolean(pinn->problem->sets[k].refine));
        json_object_set_new(set, "renew", json_integer((json_int_t)pinn->problem->sets[k].renew));
        json_object_set_new(set, "channels", json_string(channels));
        json_array_append_new(sets, set);
    }
    json_object_set_new(object, "name", json_string(information->name));
    json_object_set_new(object, "parameters",
                        json_integer((json_int_t)sg_jet_network_parameters(sg_pinn_network(pinn))));
    sgi_unknowns_describe(pinn, NULL, object);
    json_object_set_new(object, "memory_bytes",
                        json_integer((json_int_t)sgi_pinn_trainer_memory(trainer)));
    json_object_set_new(object, "stages", json_stages(pinn->problem));
    add_step_seconds(pinn, trainer, limit, object);
    if (sgi_pinn_trainer_refinement(trainer))
        json_object_set_new(object, "seconds_per_refinement",
                            json_real(time_refinement(pinn, trainer)));
    json_object_set_new(object, "sets", sets);
    json_t *scales = json_scales(pinn->problem);
    if (scales)
        json_object_set_new(object, "scales", scales);
    return object;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int print_json(sgi_problem *problem, const sg_pinn *pinn, sg_pinn_trainer *trainer,
                      sg_pool *pool, int64_t limit)
{
    json_t *object = json_plan(pinn, trainer, limit);
    int code = check_oddities(pinn, sg_pinn_trainer_batch(trainer), pool, object);
    if (problem->data_count > 0)
        tell_data(problem, object);
    code = worse(code, check_reference(problem, object));
    print_line(object, 6);
    return code;
}

int check_problem(sgi_problem *problem, const cli_arguments *arguments)
{
    sg_pool *pool = open_pool(arguments);
    sg_pinn *pinn = NULL;
    sg_pinn_trainer *trainer = NULL;
    int code;
    sg_diagnostic diagnostic = {0};
    if (pool && sgi_problem_fits(problem, true, &diagnostic) != SG_OK) {
        tell(&diagnostic);
        sg_pool_destroy(pool);
        return EXIT_RUN_FAILED;
    }
    sg_status status = pool ? sgi_pinn_over(&pinn, problem, NULL) : SG_ERROR_THREAD;
    thin_sets(problem);
    if (status == SG_OK)
        status = sg_pinn_trainer_create(&trainer, pinn, pool, SG_ISA_AUTO, NULL);
    if (status != SG_OK) {
        complain("the problem cannot be set up: %s", sg_status_text(status));
        code = exit_code_of(status);
    } else if (arguments->json) {
        code = print_json(problem, pinn, trainer, pool, arguments->seconds);
    } else {
        if (!arguments->quiet)
            print_problem(pinn, sg_pinn_trainer_batch(trainer));
        print_domain(problem);
        print_regions(problem);
        print_sets(problem, sg_pinn_trainer_batch(trainer), sg_pinn_describe(pinn));
        print_stages(problem);
        print_size(pinn, trainer);
        if (sgi_training_is_second(&problem->settings.training))
            print_second_cost(pinn, trainer, sg_pool_threads(pool));
        else
            print_cost(pinn, trainer, pool, arguments->seconds);
        tell_data(problem, NULL);
        code = check_reference(problem, NULL);
        code = worse(code, check_oddities(pinn, sg_pinn_trainer_batch(trainer), pool, NULL));
    }
    sg_pinn_trainer_destroy(trainer);
    sg_pinn_close(pinn);
    sg_pool_destroy(pool);
    return code;
}
