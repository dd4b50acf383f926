/* The Jacobian as a whole against its explicit rows and against finite differences: products with
 * blocks of vectors, the normal equations, and the kernel by both methods, all activations, orders,
 * pairs, several sets, little and much memory, every instruction set, 1 to 7 threads. */
#include "test_jet_support.h"

enum { SETS = 3, MOST_ROWS = 200, MOST = 1600, VECTORS = 35 };

typedef struct world {
    sg_jet_network *network;
    sg_jet_plan *plans[SETS];
    test_set contexts[SETS];
    sg_jet_set sets[SETS];
    sg_pool *pool;
    sg_jet *jet;
    size_t parameters, rows;
} world;

typedef struct kind {
    sg_type type;
    sg_activation activation;
    int width, threads;
    sg_isa isa;
    bool plain;
} kind;

static const kind USUAL = {SG_FLOAT64, SG_ACTIVATION_TANH, 18, 1, SG_ISA_AUTO, false};

/* A Laplacian alone, third and fourth derivatives of pairs, values of pairs; two outputs. */
static void open_world(world *w, kind k)
{
    static const sg_jet_term lap[] = {{1, 2, {0, 0}, 0}, {2, 2, {1, 1}, 0}};
    int hidden[] = {9, k.width, 6};
    sg_jet_network_config config = sg_jet_network_defaults();
    config.input.coordinates = 2;
    config.hidden = hidden;
    config.hidden_count = 3;
    config.outputs = 2;
    config.activation = k.activation;
    config.frequency = 1.5;
    config.type = k.type;
    assert_ok(sg_jet_network_create(&w->network, &config, NULL));
    randomize(w->network, 3);
    sg_jet_request simple[] = {{.order = 0}, {.order = 1, .along = {0}}, SUM(lap)};
    sg_jet_request high[] = {{.order = 3, .along = {0, 0, 1}}, {.order = 4, .along = {0, 0, 0, 0}}};
    w->plans[0] = make_plan(2, simple, 3);
    w->plans[1] = make_plan(2, high, 2);
    w->plans[2] = make_plan(2, simple, 1);
    w->sets[0] = make_set(&w->contexts[0], w->network, w->plans[0], 41, 1, 11);
    w->sets[1] = make_set(&w->contexts[1], w->network, w->plans[1], 13, 2, 12);
    w->sets[2] = make_set(&w->contexts[2], w->network, w->plans[2], 7, 2, 13);
    w->sets[2].components = w->contexts[2].components = 1;
    assert_ok(sg_pool_create(&w->pool, k.threads, NULL));
    sg_jet_config engine = sg_jet_defaults();
    engine.network = w->network;
    engine.sets = w->sets;
    engine.set_count = SETS;
    engine.pool = w->pool;
    engine.isa = k.isa;
    engine.plain = k.plain;
    assert_ok(sg_jet_create(&w->jet, &engine, NULL));
    w->parameters = sg_jet_network_parameters(w->network);
    w->rows = 2 * 41 + 2 * 13 + 7;
    assert_true(w->parameters < MOST && w->rows < MOST_ROWS);
}

static void close_world(world *w)
{
    sg_jet_destroy(w->jet);
    sg_pool_destroy(w->pool);
    for (int s = 0; s < SETS; s++)
        sg_jet_plan_destroy(w->plans[s]);
    sg_jet_network_destroy(w->network);
}

static sg_jacobian *open_jacobian(const world *w, sg_jacobian_method method, size_t memory)
{
    sg_jacobian *jacobian = NULL;
    sg_jacobian_config config = {w->jet, memory, method};
    assert_ok(sg_jacobian_create(&jacobian, &config, NULL));
    assert_true(sg_jacobian_residuals(jacobian) == w->rows);
    return jacobian;
}

/* J in double, (rows, parameters). */
static void explicit_rows(const world *w, double *j)
{
    static double buffer[MOST_ROWS * MOST];
    size_t row = 0;
    for (size_t s = 0; s < SETS; s++) {
        assert_ok(sg_jet_rows(w->jet, s, 0, w->sets[s].items, buffer));
        size_t count = w->sets[s].items * (size_t)w->sets[s].components;
        for (size_t i = 0; i < count * w->parameters; i++)
            j[row * w->parameters + i] = get(buffer, w->contexts[s].type, i);
        row += count;
    }
    assert_true(row == w->rows);
}

static void fill_random(double *to, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        to[i] = sgi_random_normal(seed, 9, i);
}

/* out (m, n) = a (m, k) b (k, n) entry by entry, with the sum of magnitudes for the tolerance. */
static void assert_product(const double *got, size_t m, size_t n, size_t k, const double *a,
                           size_t a_row, size_t a_step, const double *b, size_t b_step,
                           size_t b_column, double tolerance)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0, size = 0;
            for (size_t l = 0; l < k; l++) {
                double term = a[i * a_row + l * a_step] * b[l * b_step + j * b_column];
                sum += term;
                size += fabs(term);
            }
            if (!(fabs(got[i * n + j] - sum) <= tolerance * size))
                fail_msg("entry %zu, %zu: %g instead of %g", i, j, got[i * n + j], sum);
        }
}

/* Rounding of sums, and in float of the vectors too. */
static double tolerance_of(const world *w)
{
    return sg_jet_network_type(w->network) == SG_FLOAT64 ? 1e-13 : 1e-5;
}

static void check_products(const world *w, sg_jacobian *jacobian, const double *j)
{
    static double vectors[VECTORS * MOST], weights[VECTORS * MOST_ROWS];
    static double pushed[VECTORS * MOST_ROWS], pulled[VECTORS * MOST], both[VECTORS * MOST];
    size_t p = w->parameters, n = w->rows;
    double tolerance = tolerance_of(w);
    fill_random(vectors, VECTORS * p, 1);
    fill_random(weights, VECTORS * n, 2);
    assert_ok(sg_jacobian_push(jacobian, VECTORS, vectors, pushed));
    assert_product(pushed, VECTORS, n, p, vectors, p, 1, j, 1, p, tolerance);
    assert_ok(sg_jacobian_pull(jacobian, VECTORS, weights, pulled));
    assert_product(pulled, VECTORS, p, n, weights, n, 1, j, p, 1, tolerance);
    /* J^T (J V) from the J V just checked; errors of J V have the size of its terms. */
    assert_ok(sg_jacobian_normal_product(jacobian, VECTORS, vectors, both));
    assert_product(both, VECTORS, p, n, pushed, n, 1, j, p, 1, 100 * tolerance);
}

static void check_normal(const world *w, sg_jacobian *jacobian, const double *j)
{
    static double matrix[MOST * MOST], right[MOST], squares[MOST], residuals[MOST_ROWS];
    size_t p = w->parameters, n = w->rows;
    sg_normal_equations parts = {matrix, right, squares, residuals};
    assert_ok(sg_jacobian_normal(jacobian, &parts));
    assert_product(matrix, 40, p, n, j, 1, p, j, p, 1, tolerance_of(w));
    assert_product(right, 1, p, n, residuals, n, 1, j, p, 1, tolerance_of(w));
    for (size_t i = 0; i < p; i++) {
        assert_relative(squares[i], matrix[i * p + i], tolerance_of(w));
        for (size_t k = 0; k < i; k++)
            assert_true(matrix[i * p + k] == matrix[k * p + i]);
    }
    /* J^T r is the gradient of the sum of r^2 / 2. */
    sg_jet_gradient(w->jet, NULL);
    for (size_t i = 0; i < p; i++) {
        double size = sqrt(squares[i]) * 30; /* of r, all residuals together */
        double gradient =
            get(sg_jet_network_gradients(w->network), sg_jet_network_type(w->network), i);
        assert_true(fabs(right[i] - gradient) <= 10 * tolerance_of(w) * size);
    }
    /* Parts alone are the same. */
    static double again[MOST];
    assert_ok(sg_jacobian_normal(jacobian, &(sg_normal_equations){.squares = again}));
    for (size_t i = 0; i < p; i++)
        assert_relative(again[i], squares[i], tolerance_of(w));
}

/* K against j * diag(weights) * j^T, relative to the product of the rows' norms. */
static void check_kernel(const world *w, sg_jacobian *jacobian, const double *j, bool weighted)
{
    static double kernel[MOST_ROWS * MOST_ROWS], scaled[MOST_ROWS * MOST];
    double weights[8] = {0.5, 2, 1, 0.25, 0, 3, 1.5, 1};
    size_t p = w->parameters, n = w->rows;
    assert_ok(sg_jacobian_kernel(jacobian, weighted ? weights : NULL, kernel));
    memcpy(scaled, j, n * p * sizeof *j);
    for (int l = 0; l < 4 && weighted; l++) {
        sg_jet_layer layer = sg_jet_network_layer(w->network, l);
        size_t end = layer.bias + (size_t)layer.outputs;
        for (size_t i = 0; i < n; i++)
            for (size_t k = layer.weight; k < end; k++)
                scaled[i * p + k] *= weights[2 * l + (k >= layer.bias)];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double sum = 0, a = 0, b = 0;
            for (size_t q = 0; q < p; q++) {
                sum += j[i * p + q] * scaled[k * p + q];
                a += j[i * p + q] * j[i * p + q];
                b += j[k * p + q] * j[k * p + q];
            }
            if (!(fabs(kernel[i * n + k] - sum) <= 10 * tolerance_of(w) * sqrt(a * b)))
                fail_msg("K %zu, %zu: %g instead of %g", i, k, kernel[i * n + k], sum);
            assert_true(kernel[i * n + k] == kernel[k * n + i]);
        }
}

/* The same with a number for each column. */
static void check_column_kernel(const world *w, sg_jacobian *jacobian, const double *j)
{
    static double kernel[MOST_ROWS * MOST_ROWS], scaled[MOST_ROWS * MOST], columns[MOST];
    size_t p = w->parameters, n = w->rows;
    for (size_t i = 0; i < p; i++)
        columns[i] = 0.5 + (double)(i % 7);
    for (size_t i = 0; i < n * p; i++)
        scaled[i] = j[i] * columns[i % p];
    assert_ok(sg_jacobian_column_kernel(jacobian, columns, kernel));
    assert_product(kernel, n, n, p, scaled, p, 1, scaled, 1, p, 10 * tolerance_of(w));
}

static void check_all(kind k)
{
    static double j[MOST_ROWS * MOST];
    world w;
    open_world(&w, k);
    explicit_rows(&w, j);
    for (int method = SG_JACOBIAN_CHEAPEST; method <= SG_JACOBIAN_GRAM; method++)
        for (size_t memory = 0; memory <= 1; memory++) {
            sg_jacobian *jacobian = open_jacobian(&w, (sg_jacobian_method)method, memory);
            check_kernel(&w, jacobian, j, memory == (size_t)method % 2);
            check_column_kernel(&w, jacobian, j);
            if (method == SG_JACOBIAN_ROWS) {
                check_products(&w, jacobian, j);
                check_normal(&w, jacobian, j);
            }
            sg_jacobian_destroy(jacobian);
        }
    close_world(&w);
}

static void activations_match_rows(void **state)
{
    (void)state;
    for (int a = 0; a <= SG_ACTIVATION_SOFTPLUS; a++)
        for (int single = 0; single < 2; single++) {
            kind k = USUAL;
            k.activation = (sg_activation)a;
            k.type = single ? SG_FLOAT32 : SG_FLOAT64;
            check_all(k);
        }
}

static void instruction_sets_match_rows(void **state)
{
    (void)state;
    static const int widths[] = {1, 7, 33, 70};
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    for (size_t i = 0; i <= count; i++)
        for (size_t n = 0; n < 4; n++) {
            kind k = USUAL;
            k.width = widths[n];
            k.plain = i == count;
            k.isa = k.plain ? SG_ISA_GENERIC : isas[i];
            k.type = n % 2 ? SG_FLOAT32 : SG_FLOAT64;
            check_all(k);
        }
}

/* Rows of the Jacobian of every instruction set against the plain ones, all widths. */
static void rows_match_plain(void **state)
{
    (void)state;
    static double expected[MOST_ROWS * MOST], got[MOST_ROWS * MOST];
    sg_isa isas[SG_ISA_COUNT];
    size_t count = runnable_isas(isas);
    for (int width = 1; width <= 70; width++) {
        kind k = USUAL;
        k.width = width;
        k.type = width % 2 ? SG_FLOAT32 : SG_FLOAT64;
        k.plain = true;
        world w;
        open_world(&w, k);
        explicit_rows(&w, expected);
        close_world(&w);
        k.plain = false;
        for (size_t i = 0; i < count; i++) {
            k.isa = isas[i];
            open_world(&w, k);
            explicit_rows(&w, got);
            double tolerance = k.type == SG_FLOAT32 ? 1e-4 : 1e-12;
            for (size_t r = 0; r < w.rows; r++) {
                double size = 0;
                for (size_t p = 0; p < w.parameters; p++)
                    size = fmax(size, fabs(expected[r * w.parameters + p]));
                for (size_t p = 0; p < w.parameters; p++)
                    assert_true(fabs(got[r * w.parameters + p] - expected[r * w.parameters + p]) <=
                                tolerance * size);
            }
            close_world(&w);
        }
    }
}

/* J V against differences of the residuals along V. */
static void push_matches_differences(void **state)
{
    (void)state;
    static const double step[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1};
    static double direction[MOST], kept[MOST];
    const double h = 1e-3;
    for (int a = 0; a <= SG_ACTIVATION_SOFTPLUS; a++) {
        kind k = USUAL;
        k.activation = (sg_activation)a;
        world w;
        open_world(&w, k);
        sg_jacobian *jacobian = open_jacobian(&w, SG_JACOBIAN_CHEAPEST, 0);
        double pushed[MOST_ROWS], r[MOST_ROWS], slope[MOST_ROWS] = {0};
        double *values = sg_jet_network_values(w.network);
        fill_random(direction, w.parameters, 5);
        for (size_t p = 0; p < w.parameters; p++)
            direction[p] *= 0.1;
        assert_ok(sg_jacobian_push(jacobian, 1, direction, pushed));
        memcpy(kept, values, w.parameters * sizeof *values);
        for (int s = 0; s < 4; s++) {
            for (size_t p = 0; p < w.parameters; p++)
                values[p] = kept[p] + step[s] * h * direction[p];
            assert_ok(sg_jacobian_normal(jacobian, &(sg_normal_equations){.residuals = r}));
            for (size_t i = 0; i < w.rows; i++)
                slope[i] += weight[s] * r[i] / (12 * h);
        }
        for (size_t i = 0; i < w.rows; i++)
            assert_close(pushed[i], slope[i], 1e-7);
        sg_jacobian_destroy(jacobian);
        close_world(&w);
    }
}

/* ---- Threads, memory, mistakes ----------------------------------------------------------------
 */

typedef struct outcome {
    double kernel[3 * MOST_ROWS * MOST_ROWS], pushed[VECTORS * MOST_ROWS], pulled[VECTORS * MOST];
    double both[VECTORS * MOST], matrix[MOST * MOST], right[MOST];
} outcome;

static void run_threads(int threads, sg_type type, outcome *to)
{
    static double vectors[VECTORS * MOST];
    kind k = USUAL;
    k.threads = threads;
    k.type = type;
    world w;
    open_world(&w, k);
    fill_random(vectors, VECTORS * MOST, 4);
    memset(to, 0, sizeof *to);
    for (int method = 0; method < 3; method++) {
        sg_jacobian *jacobian = open_jacobian(&w, (sg_jacobian_method)method, 1);
        assert_ok(sg_jacobian_kernel(jacobian, NULL, to->kernel + method * MOST_ROWS * MOST_ROWS));
        assert_ok(sg_jacobian_push(jacobian, VECTORS, vectors, to->pushed));
        assert_ok(sg_jacobian_pull(jacobian, VECTORS, vectors, to->pulled));
        assert_ok(sg_jacobian_normal_product(jacobian, VECTORS, vectors, to->both));
        assert_ok(sg_jacobian_normal(
            jacobian, &(sg_normal_equations){.matrix = to->matrix, .right = to->right}));
        sg_jacobian_destroy(jacobian);
    }
    close_world(&w);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    static outcome first, other;
    static const int threads[] = {2, 3, 7};
    for (int single = 0; single < 2; single++) {
        sg_type type = single ? SG_FLOAT32 : SG_FLOAT64;
        run_threads(1, type, &first);
        for (int i = 0; i < 3; i++) {
            run_threads(threads[i], type, &other);
            assert_memory_equal(&first, &other, sizeof first);
        }
    }
}

static sg_status create_jacobian(const sg_allocator *allocator, void *jet)
{
    sg_jacobian *jacobian;
    sg_status status = sg_jacobian_create(&jacobian, &(sg_jacobian_config){.jet = jet}, allocator);
    sg_jacobian_destroy(jacobian);
    return status;
}

static void memory_is_bounded_and_may_fail(void **state)
{
    (void)state;
    world w;
    open_world(&w, USUAL);
    sg_jacobian *small = open_jacobian(&w, SG_JACOBIAN_ROWS, 1);
    sg_jacobian *large = open_jacobian(&w, SG_JACOBIAN_ROWS, 0);
    assert_true(sg_jacobian_memory(small) < sg_jacobian_memory(large));
    assert_true(sg_jacobian_kernel_cost(small).panels > 1);
    assert_true(sg_jacobian_kernel_cost(large).panels == 1);
    assert_true(sg_jacobian_kernel_cost(small).operations >
                sg_jacobian_kernel_cost(large).operations);
    assert_true(sg_jacobian_kernel_cost(large).gram_layers == 0);
    sg_jacobian_destroy(small);
    sg_jacobian_destroy(large);
    each_allocation_fails(create_jacobian, w.jet, 1);
    close_world(&w);
}

static void mistakes(void **state)
{
    (void)state;
    world w;
    open_world(&w, USUAL);
    sg_jacobian *jacobian;
    double number = 0;
    assert_status(sg_jacobian_create(NULL, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_create(&jacobian, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_create(&jacobian, &(sg_jacobian_config){0}, NULL), SG_ERROR_ARGUMENT);
    jacobian = open_jacobian(&w, SG_JACOBIAN_CHEAPEST, 0);
    assert_status(sg_jacobian_push(jacobian, 1, NULL, &number), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_pull(jacobian, 1, &number, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_normal_product(NULL, 1, &number, &number), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_normal(jacobian, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_kernel(jacobian, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_status(sg_jacobian_column_kernel(jacobian, NULL, NULL), SG_ERROR_ARGUMENT);
    assert_ok(sg_jacobian_push(jacobian, 0, NULL, NULL));
    sg_jacobian_destroy(jacobian);
    close_world(&w);
}

/* Sets may change their number of items; one without any takes no part. */
static void sets_may_shrink(void **state)
{
    (void)state;
    static double j[MOST_ROWS * MOST];
    world w;
    open_world(&w, USUAL);
    sg_jacobian *jacobian = open_jacobian(&w, SG_JACOBIAN_CHEAPEST, 0);
    w.sets[0].items = 30;
    w.sets[1].items = 0;
    assert_ok(sg_jet_resize(w.jet, 0, 30, NULL));
    assert_ok(sg_jet_resize(w.jet, 1, 0, NULL));
    w.rows = 2 * 30 + 7;
    assert_true(sg_jacobian_residuals(jacobian) == w.rows);
    explicit_rows(&w, j);
    check_kernel(&w, jacobian, j, true);
    check_products(&w, jacobian, j);
    sg_jacobian_destroy(jacobian);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(activations_match_rows),
                                       cmocka_unit_test(instruction_sets_match_rows),
                                       cmocka_unit_test(rows_match_plain),
                                       cmocka_unit_test(push_matches_differences),
                                       cmocka_unit_test(any_number_of_threads),
                                       cmocka_unit_test(memory_is_bounded_and_may_fail),
                                       cmocka_unit_test(mistakes),
                                       cmocka_unit_test(sets_may_shrink)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
