/* The optimizers against PyTorch's: the values recorded in data/optim_torch.h, whose header names
 * the script that wrote them. Float to 1e-6 and double to 1e-12, relative, after 10 and 100 steps,
 * on every instruction set. */
#include "support/support.h"

enum { SPANS = 3, ELEMENTS = 13, TERMS = 2, RECORDS = 2 };

typedef struct recorded_case {
    const char *name;
    bool absent; /* some spans have no gradient in some steps */
    sg_optim_config config;
    size_t term_count;
    sg_schedule_term terms[TERMS];
    double f32[RECORDS][ELEMENTS]; /* spans one after the other */
    double f64[RECORDS][ELEMENTS];
} recorded_case;

#include "data/optim_torch.h"

static const size_t counts[SPANS] = {5, 7, 1}, offsets[SPANS] = {0, 5, 12};
static const uint64_t records[RECORDS] = {10, 100};

static double start(size_t span, size_t i)
{
    return (i % 2 ? -1 : 1) * (1.5 + (double)(span + i) / 8);
}

static double gradient_of(uint64_t step, size_t span, size_t i)
{
    static const double scales[SPANS] = {1, 1.0 / 64, 4};
    return ((double)((step * 37 + span * 11 + i * 5) % 64) - 24) / 64 * scales[span];
}

static bool is_absent(uint64_t step, size_t span)
{
    return span > 0 && (step + span) % 3 == 1;
}

/* Values and gradients of either type: only one pair of arrays is used in a run. */
typedef struct arrays {
    sg_type type;
    float value_f32[ELEMENTS], gradient_f32[ELEMENTS];
    double value_f64[ELEMENTS], gradient_f64[ELEMENTS];
} arrays;

static void *value_at(arrays *a, size_t i)
{
    return a->type == SG_FLOAT32 ? (void *)&a->value_f32[i] : (void *)&a->value_f64[i];
}

static void *gradient_at(arrays *a, size_t i)
{
    return a->type == SG_FLOAT32 ? (void *)&a->gradient_f32[i] : (void *)&a->gradient_f64[i];
}

static sg_params *make_params(arrays *a)
{
    static const char *const names[SPANS] = {"a", "b", "c"};
    sg_params *params = NULL;
    assert_ok(sg_params_create(&params, NULL));
    for (size_t s = 0; s < SPANS; s++) {
        for (size_t i = 0; i < counts[s]; i++) {
            a->value_f64[offsets[s] + i] = start(s, i);
            a->value_f32[offsets[s] + i] = (float)start(s, i);
        }
        sg_span span = {.name = names[s],
                        .value = value_at(a, offsets[s]),
                        .gradient = gradient_at(a, offsets[s]),
                        .count = counts[s],
                        .type = a->type,
                        .layer = (int)s};
        assert_ok(sg_params_add(params, &span));
    }
    return params;
}

static void set_gradients(sg_params *params, arrays *a, uint64_t step, bool absent)
{
    for (size_t s = 0; s < SPANS; s++) {
        for (size_t i = 0; i < counts[s]; i++) {
            a->gradient_f64[offsets[s] + i] = gradient_of(step, s, i);
            a->gradient_f32[offsets[s] + i] = (float)gradient_of(step, s, i);
        }
        void *gradient = absent && is_absent(step, s) ? NULL : gradient_at(a, offsets[s]);
        assert_ok(sg_params_bind(params, s, value_at(a, offsets[s]), gradient));
    }
}

static void compare(const recorded_case *c, const arrays *a, size_t record)
{
    bool single = a->type == SG_FLOAT32;
    const double *expected = single ? c->f32[record] : c->f64[record];
    for (size_t i = 0; i < ELEMENTS; i++) {
        double value = single ? (double)a->value_f32[i] : a->value_f64[i];
        assert_relative(value, expected[i], single ? 1e-6 : 1e-12);
    }
}

static void run_case(const recorded_case *c, sg_type type, sg_isa isa)
{
    arrays a = {.type = type};
    sg_params *params = make_params(&a);
    sg_optim_config config = c->config;
    config.schedule = c->terms;
    config.schedule_count = c->term_count;
    config.isa = isa;
    sg_optim *optim = NULL;
    assert_ok(sg_optim_create(&optim, params, &config, NULL, NULL));
    size_t record = 0;
    for (uint64_t step = 0; step < records[RECORDS - 1]; step++) {
        set_gradients(params, &a, step, c->absent);
        assert_ok(sg_optim_step(optim, NULL, NULL));
        if (step + 1 == records[record])
            compare(c, &a, record++);
    }
    assert_int_equal(record, RECORDS);
    sg_optim_destroy(optim);
    sg_params_destroy(params);
}

static void run_all(sg_type type)
{
    sg_isa isas[SG_ISA_COUNT];
    size_t isa_count = runnable_isas(isas);
    for (size_t i = 0; i < sizeof recorded_cases / sizeof *recorded_cases; i++)
        for (size_t k = 0; k < isa_count; k++) {
            print_message("%s, %s\n", recorded_cases[i].name, sg_isa_name(isas[k]));
            run_case(&recorded_cases[i], type, isas[k]);
        }
}

static void test_float_to_1e6(void **state)
{
    (void)state;
    run_all(SG_FLOAT32);
}

static void test_double_to_1e12(void **state)
{
    (void)state;
    run_all(SG_FLOAT64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_to_1e6),
        cmocka_unit_test(test_double_to_1e12),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
