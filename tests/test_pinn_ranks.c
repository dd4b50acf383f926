/* Ranks: what several of them compute together is what one computes alone, up to rounding, and has
 * the same bits on each of them. Threads stand for processes here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranks.h"
#include "pinn/pinn.h"
#include "support/ranks.h"
#include "support/support.h"

enum { STEPS = 12, ROOM = 1 << 20 };

/* Pairs of points, an integral and an unknown constant beside points inside and on a side. */
#define PROBLEM                                                                                    \
    "coordinates: {x: [0, 1], t: [0, 1]}\n"                                                        \
    "fields: [u]\n"                                                                                \
    "unknowns: {k: {start: 0.2}}\n"                                                                \
    "equations: {heat: u_t - k*u_xx + 0.1*u^2}\n"                                                  \
    "conditions:\n"                                                                                \
    "  start: {at: t = 0, u: sin(2*pi*x), points: 43, weight: 5}\n"                                \
    "  around: {periodic: x, slopes: true, points: 29}\n"                                          \
    "  mass: {over: t = 0.5, u: 0.1, points: 37}\n"                                                \
    "points: 311\n"

#define NETWORK "network: {hidden: 2 x 10, precision: double}\n"
#define PLAIN                                                                                      \
    "coordinates: {x: [0, 1], y: [0, 1]}\n"                                                        \
    "fields: [u]\n"                                                                                \
    "equations: {poisson: -lap(u) - 2*pi^2*sin(pi*x)*sin(pi*y)}\n"                                 \
    "conditions: {sides: {at: boundary, u: 0, points: 40}}\n"                                      \
    "points: 301\n"                                                                                \
    "network: {hidden: 2 x 8, precision: double}\n"

/* What a rank is given, and what it found. */
typedef struct member {
    const sg_ranks *ranks;
    const char *text;
    double *result; /* (ROOM) */
    size_t count;
    sg_status status;
} member;

typedef void member_work(member *m);

typedef struct task {
    member of;
    member_work *work;
} task;

static void keep(member *m, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        m->result[m->count++] = values[i];
}

static void do_task(const sg_ranks *ranks, void *context)
{
    task *t = context;
    t->of.ranks = ranks;
    t->work(&t->of);
}

/* Does `work` on so many ranks; what each found is left in `members`. Returns the number of sums.
 */
static int run_team(member *members, int ranks, const char *text, int fail_at, member_work *work)
{
    task tasks[MOST_RANKS];
    for (int r = 0; r < ranks; r++) {
        tasks[r] = (task){{.text = text, .result = calloc(ROOM, sizeof(double))}, work};
        assert_non_null(tasks[r].of.result);
    }
    int sums = on_ranks(ranks, fail_at, do_task, tasks, sizeof *tasks);
    for (int r = 0; r < ranks; r++)
        members[r] = tasks[r].of;
    return sums;
}

static void release_team(member *members, int ranks)
{
    for (int r = 0; r < ranks; r++)
        free(members[r].result);
}

/* Every number against that of one rank alone, in units of the largest of them. */
static void compare(const member *one, const member *members, int ranks, double tolerance)
{
    assert_true(one->count > 0);
    double largest = 0;
    for (size_t i = 0; i < one->count; i++)
        largest = fmax(largest, fabs(one->result[i]));
    for (int r = 0; r < ranks; r++) {
        assert_ok(members[r].status);
        assert_int_equal(members[r].count, one->count);
        assert_memory_equal(members[r].result, members[0].result, one->count * sizeof(double));
        for (size_t i = 0; i < one->count; i++)
            if (!(fabs(members[r].result[i] - one->result[i]) <= tolerance * largest))
                fail_msg("number %zu of rank %d of %d: %.17g, alone %.17g", i, r, ranks,
                         members[r].result[i], one->result[i]);
    }
}

/* One rank alone against several, and the same bits twice. */
static void several_agree(const char *text, member_work *work, double tolerance)
{
    member one[MOST_RANKS], several[MOST_RANKS], again[MOST_RANKS];
    assert_int_equal(run_team(one, 1, text, -1, work), 0);
    assert_ok(one[0].status);
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
        assert_true(run_team(several, ranks, text, -1, work) > 0);
        compare(&one[0], several, ranks, tolerance);
        assert_true(run_team(again, ranks, text, -1, work) > 0);
        assert_memory_equal(again[0].result, several[0].result, several[0].count * sizeof(double));
        release_team(again, ranks);
        release_team(several, ranks);
    }
    release_team(one, 1);
}

/* ---- What they do ---------------------------------------------------------------------------- */

typedef struct tools {
    sg_pinn *pinn;
    sg_pool *pool;
    sg_pinn_batch *batch;
    sg_jacobian *jacobian;
    size_t parameters, residuals;
    double *memory; /* (most of the two, most of the two) */
} tools;

static sg_status open_tools(tools *t, const member *m, int threads)
{
    *t = (tools){0};
    sg_pinn_batch_config config = sg_pinn_batch_defaults();
    sg_status status =
        sg_pinn_read(&t->pinn, "test.yaml", m->text, strlen(m->text), NULL, 0, NULL, NULL);
    if (status == SG_OK)
        status = sg_pool_create(&t->pool, threads, NULL);
    if (status == SG_OK)
        status = sg_pool_set_ranks(t->pool, m->ranks);
    config.pool = t->pool;
    config.tangents = true;
    if (status == SG_OK)
        status = sg_pinn_batch_create(&t->batch, t->pinn, &config, NULL);
    if (status != SG_OK)
        return status;
    sg_jacobian_config jacobian = {.jet = sg_pinn_engine(t->batch)};
    t->parameters = sg_jet_network_parameters(sg_pinn_network(t->pinn));
    t->residuals = sg_pinn_residual_count(t->batch);
    size_t most = t->parameters > t->residuals ? t->parameters : t->residuals;
    t->memory = calloc(most * most, sizeof *t->memory);
    return t->memory ? sg_jacobian_create(&t->jacobian, &jacobian, NULL) : SG_ERROR_MEMORY;
}

static void close_tools(tools *t)
{
    sg_jacobian_destroy(t->jacobian);
    sg_pinn_batch_destroy(t->batch);
    sg_pool_destroy(t->pool);
    sg_pinn_close(t->pinn);
    free(t->memory);
}

static void keep_moments(member *m, const sg_moments *moments)
{
    keep(m, (const double[]){moments->count, moments->mean, sg_moments_std(moments)}, 3);
}

static void losses_and_gradients(member *m)
{
    tools t;
    m->status = open_tools(&t, m, 1 + m->ranks->rank % 2); /* threads may differ */
    if (m->status == SG_OK) {
        sg_pinn_loss loss;
        size_t sets = sg_pinn_describe(t.pinn)->set_count;
        void *each[8];
        sg_pinn_loss_at(t.batch, &loss);
        keep(m, &loss.total, 1);
        sg_pinn_gradient(t.batch, t.memory, &loss);
        keep(m, t.memory, t.parameters);
        keep(m, &loss.total, 1);
        for (size_t k = 0; k < loss.term_count; k++)
            keep(m, &loss.terms[k].value, 1);
        keep_moments(m, &loss.residual);
        keep_moments(m, &loss.output);
        for (size_t s = 0; s < sets; s++)
            each[s] = t.memory + s * t.parameters;
        sg_pinn_gradients(t.batch, each, &loss);
        keep(m, t.memory, sets * t.parameters);
        keep_moments(m, &loss.output);
        sg_pinn_residuals(t.batch, t.memory);
        keep(m, t.memory, t.residuals);
    }
    close_tools(&t);
}

static void values_at_points(member *m)
{
    tools t;
    m->status = open_tools(&t, m, 1);
    double points[2 * 97];
    for (size_t i = 0; i < 2 * 97; i++)
        points[i] = fmod(0.37 * (double)i, 1);
    if (m->status == SG_OK)
        m->status = sg_pinn_evaluate(t.pinn, (const char *[]){"u", "u_xx"}, 2, points, 97, t.memory,
                                     t.pool, NULL);
    keep(m, t.memory, 2 * 97);
    close_tools(&t);
}

static void products(member *m)
{
    tools t;
    double *v = calloc(1 << 14, sizeof *v);
    m->status = open_tools(&t, m, 2);
    for (size_t i = 0; i < 1 << 14; i++)
        v[i] = cos((double)i);
    if (m->status == SG_OK)
        m->status = sg_pinn_push(t.batch, v, t.memory);
    keep(m, t.memory, t.residuals);
    if (m->status == SG_OK)
        m->status = sg_pinn_pull(t.batch, v, t.memory);
    keep(m, t.memory, t.parameters);
    if (m->status == SG_OK)
        m->status = sg_jacobian_push(t.jacobian, 2, v, t.memory);
    keep(m, t.memory, 2 * t.residuals);
    if (m->status == SG_OK)
        m->status = sg_jacobian_pull(t.jacobian, 2, v, t.memory);
    keep(m, t.memory, 2 * t.parameters);
    if (m->status == SG_OK)
        m->status = sg_jacobian_normal_product(t.jacobian, 2, v, t.memory);
    keep(m, t.memory, 2 * t.parameters);
    close_tools(&t);
    free(v);
}

static void matrices(member *m)
{
    tools t;
    m->status = open_tools(&t, m, 2);
    double *right = calloc(3 * (t.parameters + t.residuals), sizeof *right);
    sg_normal_equations parts = {t.memory, right, right + t.parameters, right + 2 * t.parameters};
    if (m->status == SG_OK)
        m->status = sg_jacobian_normal(t.jacobian, &parts);
    keep(m, t.memory, t.parameters * t.parameters);
    keep(m, right, 2 * t.parameters + t.residuals);
    if (m->status == SG_OK)
        m->status = sg_jacobian_kernel(t.jacobian, NULL, t.memory);
    keep(m, t.memory, t.residuals * t.residuals);
    for (size_t p = 0; p < t.parameters; p++)
        right[p] = 1 + 0.1 * sin((double)p);
    if (m->status == SG_OK)
        m->status = sg_jacobian_column_kernel(t.jacobian, right, t.memory);
    keep(m, t.memory, t.residuals * t.residuals);
    close_tools(&t);
    free(right);
}

/* Some steps of training, and the weights after them. */
static void training(member *m)
{
    tools t;
    sg_pinn_trainer *trainer = NULL;
    m->status = open_tools(&t, m, 1);
    if (m->status == SG_OK)
        m->status = sg_pinn_trainer_create(&trainer, t.pinn, t.pool, SG_ISA_AUTO, NULL);
    for (int i = 0; i < STEPS && m->status == SG_OK; i++) {
        sg_pinn_step step;
        m->status = sg_pinn_trainer_step(trainer, &step);
    }
    if (m->status == SG_OK) {
        sg_pinn_loss loss;
        keep(m, sg_jet_network_values(sg_pinn_network(t.pinn)), t.parameters);
        sg_pinn_trainer_validate(trainer, &loss);
        keep(m, &loss.total, 1);
    }
    sg_pinn_trainer_destroy(trainer);
    close_tools(&t);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_loss_and_its_gradient(void **state)
{
    (void)state;
    several_agree(PROBLEM NETWORK, losses_and_gradients, 1e-12);
}

static void single_precision_too(void **state)
{
    (void)state;
    several_agree(PROBLEM "network: {hidden: 2 x 10}\n", values_at_points, 1e-5);
}

static void values(void **state)
{
    (void)state;
    several_agree(PROBLEM NETWORK, values_at_points, 1e-12);
}

static void products_with_the_jacobian(void **state)
{
    (void)state;
    several_agree(PROBLEM NETWORK, products, 1e-12);
}

static void normal_equations_and_kernels(void **state)
{
    (void)state;
    several_agree(PROBLEM NETWORK, matrices, 1e-12);
}

/* Few steps: a difference in the last bits grows from step to step. */
static void training_of_first_order(void **state)
{
    (void)state;
    several_agree(PROBLEM NETWORK "training: {optimizer: adamw, steps: 100}\n", training, 1e-9);
    several_agree(PROBLEM NETWORK "training: {optimizer: sgd, steps: 100}\n", training, 1e-9);
    several_agree(PROBLEM NETWORK "training: {optimizer: adamw, steps: 100, causal: {eps: 1}}\n",
                  training, 1e-9);
    several_agree(PLAIN "refinement: {method: rad, every: 5}\n"
                        "training: {optimizer: adamw, steps: 100}\n",
                  training, 1e-9);
}

static void training_of_second_order(void **state)
{
    (void)state;
    several_agree(PLAIN "training: {optimizer: levenberg, steps: 100}\n", training, 1e-4);
    several_agree(PLAIN "training: {optimizer: kernel, steps: 100}\n", training, 1e-4);
    several_agree(PLAIN "training: {optimizer: ssbroyden, steps: 100}\n", training, 1e-6);
    several_agree(PLAIN "training: {optimizer: lbfgs, steps: 100}\n", training, 1e-6);
}

/* Whichever sum fails, training ends with that status on every rank, and does not hang. */
static void a_failing_sum_ends_training(void **state)
{
    (void)state;
    const char *const texts[] = {PLAIN "training: {optimizer: adamw, steps: 100}\n",
                                 PLAIN "training: {optimizer: levenberg, steps: 100}\n"};
    for (size_t k = 0; k < 2; k++)
        for (int at = 0; at < 12; at += 3) {
            member members[MOST_RANKS];
            assert_true(run_team(members, 2, texts[k], at, training) > 0);
            for (int r = 0; r < 2; r++)
                assert_status(members[r].status, SG_ERROR_REDUCE);
            release_team(members, 2);
        }
}

static int never_called(void *context, void *values, sg_type type, size_t count)
{
    (void)context;
    (void)values;
    (void)type;
    (void)count;
    return 1;
}

static void ranks_that_make_no_sense(void **state)
{
    (void)state;
    sg_pool *pool;
    double one = 1;
    assert_ok(sg_pool_create(&pool, 1, NULL));
    const sg_ranks wrong[] = {{0, 0, never_called, NULL},
                              {2, 2, never_called, NULL},
                              {-1, 2, never_called, NULL},
                              {0, 2, NULL, NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_status(sg_pool_set_ranks(pool, &wrong[i]), SG_ERROR_ARGUMENT);
    assert_status(sg_pool_set_ranks(NULL, NULL), SG_ERROR_ARGUMENT);
    assert_null(sg_pool_ranks(pool));
    const sg_ranks alone = {0, 1, NULL, NULL}, broken = {0, 2, never_called, NULL};
    assert_ok(sg_pool_set_ranks(pool, &alone));
    sg_pool_sum(pool, &one, SG_FLOAT64, 1);
    assert_true(one == 1 && !sg_pool_broken(pool));
    assert_ok(sg_pool_set_ranks(pool, &broken));
    sg_pool_sum(pool, &one, SG_FLOAT64, 1);
    assert_true(isnan(one) && sg_pool_broken(pool));
    sg_pool_sum(pool, NULL, SG_FLOAT64, 0);
    assert_true(sg_pool_broken(pool));
    assert_ok(sg_pool_set_ranks(pool, NULL));
    assert_false(sg_pool_broken(pool));
    sg_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_and_its_gradient),
        cmocka_unit_test(single_precision_too),
        cmocka_unit_test(values),
        cmocka_unit_test(products_with_the_jacobian),
        cmocka_unit_test(normal_equations_and_kernels),
        cmocka_unit_test(training_of_first_order),
        cmocka_unit_test(training_of_second_order),
        cmocka_unit_test(a_failing_sum_ends_training),
        cmocka_unit_test(ranks_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
