/* Problem files that are right: what they mean, overrides, writing and reading again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/check.h"
#include "problem/cole_hopf.h"
#include "problem/exact.h"
#include "problem/problem.h"
#include "support/malformed.h"
#include "support/support.h"

static const char small[] = "coordinates: {x: [0, L], t: [0, 2*L]}\n"
                            "fields: u\n"
                            "constants: {L: 2, k: L/4}\n"
                            "definitions: {rate: k*u_xx}\n"
                            "equations:\n"
                            "  heat: u_t = rate\n"
                            "  twice: {expression: u_t - rate, weight: 3}\n"
                            "conditions:\n"
                            "  start: {at: t = 0, u: x*(L - x), u_t: 0, points: 10}\n"
                            "  ends: {at: boundary, u_n: 1, expression: u + u_x = 2}\n"
                            "  middle: {at: x = L/2, u: 0, weight: 2.5}\n"
                            "  wrap: {periodic: x, slopes: true, points: 7}\n"
                            "training: {schedule: {warmup: 5, then: cosine}, steps: 50,\n"
                            "           stablegrad: off, optimizer: sgd}\n"
                            "inputs: {fourier: 2, periodic: {x: 3}, raw: [t]}\n"
                            "network: {hidden: [8, 16], init: {gain: 5/3}}\n";

static sgi_problem *read_text(const char *text, const char *const *overrides, size_t count)
{
    sgi_problem *problem;
    sg_diagnostic diagnostic;
    char answer[2048];
    if (sgi_problem_read(&problem, "dir/small.yaml", text, strlen(text), overrides, count, NULL,
                         &diagnostic) != SG_OK) {
        sg_diagnostic_format(&diagnostic, answer, sizeof answer);
        fail_msg("%s", answer);
    }
    return problem;
}

static void test_meaning(void **state)
{
    (void)state;
    sgi_problem *p = read_text(small, NULL, 0);
    assert_string_equal(p->settings.name, "small");
    assert_close(p->upper[0], 2, 0);
    assert_close(p->upper[1], 4, 0);
    assert_int_equal(p->set_count, 5);
    const sgi_point_set *domain = &p->sets[0], *start = &p->sets[1], *ends = &p->sets[2];
    const sgi_point_set *middle = &p->sets[3], *wrap = &p->sets[4];
    assert_int_equal(domain->component_count, 2);
    assert_int_equal(domain->roots[0], domain->roots[1]);
    assert_close(domain->terms[1].weight, 3, 0);
    assert_int_equal(domain->request_count, 1); /* u_t - k u_xx */
    assert_int_equal(start->component_count, 2);
    assert_int_equal(start->term_count, 1);
    assert_int_equal(start->items, 10);
    assert_int_equal(start->face_count, 1);
    assert_close(start->faces[0].normal, -1, 0);
    assert_close(start->faces[0].measure, 2, 0);
    assert_int_equal(ends->face_count, 2);
    assert_int_equal(ends->request_count, 2);
    assert_close(ends->faces[1].value, 2, 0);
    assert_close(middle->faces[0].normal, 0, 0);
    assert_int_equal(wrap->kind, SG_SET_PAIRS);
    assert_int_equal(wrap->component_count, 2);
    assert_int_equal(wrap->points_per_item, 2);
    sgi_problem_destroy(p);
}

static void test_configurations(void **state)
{
    (void)state;
    sgi_problem *p = read_text(small, NULL, 0);
    sgi_arena arena;
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    sgi_arena_init(&arena, &heap);
    sg_jet_network_config network;
    assert_ok(sgi_problem_network(p, &arena, &network));
    assert_int_equal(network.input.wave_count, 2 * 2 + 3);
    assert_false(network.input.keep[0]);
    assert_true(network.input.keep[1]);
    assert_close(network.input.scale[1], 0.5, 0);
    assert_close(network.input.shift[1], -1, 0);
    assert_close(network.input.waves[0], 3.14159265358979323846, 1e-15);
    assert_close(network.input.waves[4 * 2], 3.14159265358979323846, 1e-15); /* 2 pi / L */
    assert_int_equal(network.hidden_count, 2);
    assert_int_equal(network.hidden[1], 16);
    assert_close(sgi_problem_init(p).gain, 5 / 3.0, 1e-15);
    sg_schedule_term terms[SG_MOST_PIECES + 2];
    sg_optim_config optim = sgi_problem_optim(p, 0, terms);
    assert_int_equal(optim.kind, SG_OPTIM_SGD);
    assert_int_equal(optim.schedule_count, 2);
    assert_close(sg_schedule_factor(terms, 2, 50), 0, 0);
    assert_int_equal(sgi_problem_scale(p, 0).method, SG_METHOD_NONE);
    assert_int_equal(sgi_problem_scale(p, 0).until, 25);
    assert_int_equal(sgi_problem_scale(p, 0).handover, SG_HANDOVER_CONVERT);
    sgi_arena_clear(&arena);
    sgi_problem_destroy(p);
}

/* Sets `path` to `word` and compares the problem's answer, an enumeration's number, and what is
 * written in its place. */
static void assert_word(const char *path, const char *word, int expected)
{
    char set[256];
    const char *sets[] = {set};
    snprintf(set, sizeof set, "%s=%s", path, word);
    sgi_problem *p = read_text(small, sets, 1);
    const sgi_option *option = sgi_option_find(&sgi_problem_options, path);
    assert_int_equal(*(const int *)((const char *)&p->settings + option->offset), expected);
    char written[64], again[64];
    sgi_option_write(option, &p->names, &p->settings, written, sizeof written);
    sgi_problem_destroy(p);
    snprintf(set, sizeof set, "%s=%s", path, written);
    p = read_text(small, sets, 1);
    sgi_option_write(option, &p->names, &p->settings, again, sizeof again);
    assert_string_equal(again, written);
    sgi_problem_destroy(p);
}

/* A problem file takes every name of the library's lists, and means the same value by it. */
static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < SG_METHOD_COUNT; i++)
        assert_word("training.stablegrad.method", sg_method_name((sg_method)i), i);
    for (int i = 0; i < SG_REFERENCE_COUNT; i++)
        if (i != SG_REFERENCE_CONSTANT)
            assert_word("training.stablegrad.reference", sg_reference_name((sg_reference)i), i);
    assert_word("training.stablegrad.reference", "0.25", SG_REFERENCE_CONSTANT);
    for (int i = 0; i < SG_BLOCKS_COUNT; i++)
        assert_word("training.stablegrad.blocks", sg_blocks_name((sg_blocks)i), i);
    for (int i = 0; i < SG_OPTIM_COUNT; i++)
        assert_word("training.optimizer.name", sg_optim_name((sg_optim_kind)i), i);
    for (int i = 0; i < SG_ACTIVATION_COUNT; i++)
        assert_word("network.activation", sg_activation_name((sg_activation)i), i);
    for (int i = 0; i < SG_FAN_COUNT; i++)
        assert_word("network.init.fan", sg_fan_name((sg_fan)i), i);
    for (int i = 0; i < SG_DISTRIBUTION_COUNT; i++)
        assert_word("network.init.distribution", sg_distribution_name((sg_distribution)i), i);
    for (int i = 0; i < SG_TYPE_COUNT; i++)
        assert_word("network.precision", sg_type_name((sg_type)i), i);
    assert_word("training.schedule.then", "constant", SG_SCHEDULE_CONSTANT);
    assert_word("training.schedule.then", "cosine", SG_SCHEDULE_COSINE);
    assert_word("training.stablegrad.method", "on", SG_METHOD_STABLEGRAD);
    assert_word("training.stablegrad.method", "off", SG_METHOD_NONE);
}

static void test_overrides(void **state)
{
    (void)state;
    const char *const sets[] = {"network.hidden=12x64",
                                "training.schedule.warmup=9",
                                "conditions.start.weight=7",
                                "constants.L=4",
                                "evaluation.grid=5 x 6",
                                "evaluation.maps=[u_x, u_t]",
                                "training.stablegrad.until=forever",
                                "training.stablegrad.handover=keep",
                                "training.stablegrad.reference=0.5"};
    sgi_problem *p = read_text(small, sets, sizeof sets / sizeof sets[0]);
    assert_int_equal(p->settings.network.hidden.count, 12);
    assert_int_equal(p->settings.training.warmup, 9);
    assert_int_equal(p->settings.training.then, 1); /* what the file says stays */
    assert_close(p->sets[1].terms[0].weight, 7, 0);
    assert_close(p->upper[1], 8, 0);
    assert_int_equal(p->settings.evaluation.grid[1], 6);
    assert_int_equal(p->settings.evaluation.maps.count, 2);
    assert_string_equal(p->settings.evaluation.maps.values[1], "u_t");
    assert_true(sgi_problem_scale(p, 0).until == SG_FOREVER);
    assert_int_equal(sgi_problem_scale(p, 0).handover, SG_HANDOVER_KEEP);
    assert_close(sgi_problem_scale(p, 0).constant, 0.5, 0);
    sgi_problem_destroy(p);
}

/* Whether two problems train alike: the same settings, sets and programs. */
static void assert_same(const sgi_problem *a, const sgi_problem *b)
{
    assert_string_equal(a->settings.name, b->settings.name);
    for (size_t i = 0; i < sgi_problem_options.count; i++) {
        char left[4096] = "", right[4096] = "";
        if (sgi_problem_options.rows[i].codec == &sgi_codec_section ||
            strchr(sgi_problem_options.rows[i].path, '*'))
            continue;
        sgi_option_write(&sgi_problem_options.rows[i], &a->names, &a->settings, left, sizeof left);
        sgi_option_write(&sgi_problem_options.rows[i], &b->names, &b->settings, right,
                         sizeof right);
        assert_string_equal(left, right);
    }
    assert_int_equal(a->set_count, b->set_count);
    for (int k = 0; k < a->set_count; k++) {
        const sgi_point_set *s = &a->sets[k], *t = &b->sets[k];
        const sgi_program *f = s->gradient.program, *g = t->gradient.program;
        assert_string_equal(s->name, t->name);
        assert_int_equal(s->items, t->items);
        assert_close(s->terms[0].weight, t->terms[0].weight, 0);
        assert_int_equal(s->face_count, t->face_count);
        for (int i = 0; i < s->face_count; i++) {
            const sgi_face *left = &s->faces[i], *right = &t->faces[i];
            assert_true(left->coordinate == right->coordinate && left->value == right->value &&
                        left->normal == right->normal && left->measure == right->measure &&
                        left->side == right->side && left->interior == right->interior);
        }
        assert_int_equal(f->instruction_count, g->instruction_count);
        for (uint32_t i = 0; i < f->instruction_count; i++) {
            assert_int_equal(f->instructions[i].op, g->instructions[i].op);
            assert_int_equal(f->instructions[i].target, g->instructions[i].target);
            assert_memory_equal(&f->instructions[i].value, &g->instructions[i].value,
                                sizeof(double));
        }
        assert_int_equal(s->request_count, t->request_count);
    }
    assert_int_equal(a->solution.kind, b->solution.kind);
}

static void round_trip(sgi_problem *problem)
{
    char *text, *again;
    assert_ok(sgi_problem_write(problem, &text));
    sgi_problem *copy = read_text(text, NULL, 0);
    assert_same(problem, copy);
    assert_ok(sgi_problem_write(copy, &again));
    assert_string_equal(text, again);
    sgi_release(&problem->allocator, text);
    sgi_release(&copy->allocator, again);
    sgi_problem_destroy(copy);
    sgi_problem_destroy(problem);
}

static void test_written_problems_read_the_same(void **state)
{
    (void)state;
    const char *const sets[] = {
        "title='it''s: a #test'", "training.schedule.pieces=[{from: 1, until: 5, factor: 0.25}]",
        "inputs.fourier.frequencies=[0.5, 2]", "network.init.gain=auto", "training.clip=1e-7"};
    round_trip(read_text(small, NULL, 0));
    round_trip(read_text(small, sets, sizeof sets / sizeof sets[0]));
}

static void test_shipped_problems(void **state)
{
    (void)state;
    static const char *const names[] = {
        "burgers",       "poisson",       "helmholtz", "burgers3d",         "heat",
        "wave",          "two-materials", "l-shape",   "poisson-boltzmann", "kovasznay",
        "clamped-plate", "bracket",       "ball10",    "heat-mm",           "kdv",
        "burgers-shock"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512], answer[2048];
        snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_TEST_DATA, names[i]);
        sgi_problem *problem;
        sg_diagnostic diagnostic;
        sgi_check check;
        if (sgi_problem_load(&problem, path, NULL, 0, NULL, &diagnostic) != SG_OK) {
            sg_diagnostic_format(&diagnostic, answer, sizeof answer);
            fail_msg("%s", answer);
        }
        assert_ok(sgi_problem_check(problem, &check));
        for (size_t r = 0; r < check.count; r++)
            if (!check.rows[r].passed)
                fail_msg("%s: %s is off by %g", names[i], check.rows[r].term,
                         check.rows[r].largest);
        assert_true(check.passed);
        sgi_check_release(problem, &check);
        round_trip(problem);
    }
}

/* A reference that is wrong is found, and where. */
static void test_check_finds_wrong_references(void **state)
{
    (void)state;
    static const char text[] =
        "coordinates: {x: [0, 1], t: [0, 1]}\n"
        "fields: [u]\n"
        "equations: {heat: u_t - u_xx}\n"
        "conditions:\n"
        "  start: {at: t = 0, u: sin(pi*x)}\n"
        "  ends: {at: x = 0 | x = 1, u_n: -pi*exp(-pi^2*t)}\n"
        "reference: {u: 'exp(-pi^2*t)*sin(pi*x) + where(x > 0.9, 1e-3, 0)'}\n";
    const char *const right[] = {"reference.u=exp(-pi^2*t)*sin(pi*x)"};
    sgi_problem *problem = read_text(text, NULL, 0);
    sgi_check check;
    assert_ok(sgi_problem_check(problem, &check));
    assert_false(check.passed);
    assert_int_equal(check.count, 3);
    assert_true(check.rows[0].passed); /* the step's derivatives vanish */
    assert_false(check.rows[1].passed);
    assert_close(check.rows[1].largest, 1e-3 / 2, 1e-2);
    assert_true(check.rows[1].worst[0] > 0.9);
    assert_close(check.rows[1].worst[1], 0, 0);
    sgi_check_release(problem, &check);
    sgi_problem_destroy(problem);
    problem = read_text(text, right, 1);
    assert_ok(sgi_problem_check(problem, &check));
    assert_true(check.passed);
    sgi_check_release(problem, &check);
    sgi_problem_destroy(problem);
}

/* Cole-Hopf's x may be defined in another coordinate; the equation is then checked in that one. */
static void test_solution_in_another_coordinate(void **state)
{
    (void)state;
    static const char text[] = "coordinates: {t: [0, 1], s: [0, 1]}\n"
                               "fields: [u]\n"
                               "constants: {nu: 1e-2, k: 3}\n"
                               "definitions: {x: sinh(k*s)/sinh(k), slope: u_s/x_s}\n"
                               "equations: {momentum: u_t + u*slope - nu*slope_s/x_s}\n"
                               "conditions: {start: {at: t = 0, u: -sin(pi*x)}}\n"
                               "reference: cole_hopf\n";
    const char *const wrong[] = {"equations.momentum=u_t + u*slope - nu*slope_s"};
    sgi_problem *problem = read_text(text, NULL, 0);
    sgi_check check;
    assert_ok(sgi_problem_check(problem, &check));
    assert_int_equal(check.count, 2);
    assert_true(check.passed);
    sgi_check_release(problem, &check);
    double s[] = {0, 0.2, 0.5, 1}, t[] = {0.5, 0, 0.7, 1}, u[4];
    const double *const at[] = {t, s};
    double *const fields[] = {u};
    assert_ok(sgi_exact_evaluate(problem, at, 4, fields, NULL));
    for (int i = 0; i < 4; i++) {
        double x = sinh(3 * s[i]) / sinh(3), wanted;
        assert_ok(sgi_cole_hopf(1e-2, &x, &t[i], 1, 1, &wanted, NULL, NULL));
        assert_close(u[i], wanted, 1e-12);
    }
    sgi_problem_destroy(problem);
    problem = read_text(text, wrong, 1);
    assert_ok(sgi_problem_check(problem, &check));
    assert_false(check.passed);
    sgi_check_release(problem, &check);
    sgi_problem_destroy(problem);
}

static void test_quantities(void **state)
{
    (void)state;
    sgi_problem *problem = read_text(small, NULL, 0);
    const char *const wanted[] = {"u", "u_xt", "k*u_xx - u_t"}, *const wrong[] = {"u", "u_y"};
    sgi_point_set set;
    sg_diagnostic diagnostic;
    assert_ok(sgi_problem_quantities(problem, wanted, 3, &set, &diagnostic));
    assert_int_equal(set.component_count, 3);
    assert_int_equal(set.request_count, 4);
    sgi_point_set_release(&set);
    assert_status(sgi_problem_quantities(problem, wrong, 2, &set, &diagnostic), SG_ERROR_FORMAT);
    assert_string_equal(diagnostic.file, "--fields");
    sgi_problem_destroy(problem);
}

static void test_documentation(void **state)
{
    (void)state;
    check_documented(&sgi_problem_options, "problems.md");
}

static sg_status read_write_and_check(const sg_allocator *allocator, void *context)
{
    (void)context;
    sgi_problem *problem;
    sgi_check check;
    char *text = NULL;
    sg_diagnostic diagnostic;
    const char *const sets[] = {"reference.u=x*(L - x)*exp(-t)"};
    sg_status status = sgi_problem_read(&problem, "small", small, sizeof small - 1, sets, 1,
                                        allocator, &diagnostic);
    if (status == SG_OK)
        status = sgi_problem_write(problem, &text);
    sgi_release(allocator, text);
    if (status == SG_OK)
        status = sgi_problem_check(problem, &check);
    if (status == SG_OK)
        sgi_check_release(problem, &check);
    sgi_problem_destroy(problem);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    each_allocation_fails(read_write_and_check, NULL, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_configurations),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_written_problems_read_the_same),
        cmocka_unit_test(test_shipped_problems),
        cmocka_unit_test(test_check_finds_wrong_references),
        cmocka_unit_test(test_solution_in_another_coordinate),
        cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_documentation),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
