/* Factors, reference scales and one AdamW step against values from another framework, to 1e-12, for
 * three small networks: from the gradients in the files. */
#include <math.h>
#include <string.h>

#include "support/golden.h"
#include "support/support.h"

enum { LAYERS = 4, MOST = 256, MOST_POINTS = 64 };

typedef struct model {
    double weight[LAYERS][MOST], bias[LAYERS][MOST];
    double weight_gradient[LAYERS][MOST], bias_gradient[LAYERS][MOST];
    sg_params *params;
} model;

static void add(sg_params *params, const char *name, double *value, double *gradient, size_t count,
                int layer, sg_role role)
{
    sg_span span = {name, value, gradient, count, SG_FLOAT64, layer, role, 0};
    assert_ok(sg_params_add(params, &span));
}

static void open_model(model *m, const json_t *golden)
{
    static const char *const names[LAYERS][2] = {{"layers.0.weight", "layers.0.bias"},
                                                 {"layers.1.weight", "layers.1.bias"},
                                                 {"layers.2.weight", "layers.2.bias"},
                                                 {"layers.3.weight", "layers.3.bias"}};
    assert_ok(sg_params_create(&m->params, NULL));
    for (int l = 0; l < LAYERS; l++) {
        size_t i = (size_t)l;
        size_t nw =
            golden_flatten(json_array_get(golden_member(golden, "weights"), i), m->weight[l], MOST);
        size_t nb =
            golden_flatten(json_array_get(golden_member(golden, "biases"), i), m->bias[l], MOST);
        golden_flatten(json_array_get(golden_member(golden, "grad_weights"), i),
                       m->weight_gradient[l], MOST);
        golden_flatten(json_array_get(golden_member(golden, "grad_biases"), i), m->bias_gradient[l],
                       MOST);
        add(m->params, names[l][0], m->weight[l], m->weight_gradient[l], nw, l, SG_ROLE_WEIGHT);
        add(m->params, names[l][1], m->bias[l], m->bias_gradient[l], nb, l, SG_ROLE_BIAS);
    }
}

/* dr/du at a point, worked out by hand for each equation. */
static double residual_slope(const char *name, const char *part, const json_t *golden, size_t i)
{
    double u_x[MOST_POINTS];
    if (strcmp(part, "pde") != 0)
        return 1;
    if (strcmp(name, "poisson") == 0)
        return 0;
    if (strcmp(name, "helmholtz") == 0)
        return 1;
    golden_flatten(golden_member(golden_member(golden, "channels"), "u_x"), u_x, MOST_POINTS);
    return u_x[i];
}

/* Observes dL/du or the weighted residuals of every point set. */
static void observe(sg_scaler *scaler, const char *name, const json_t *golden, bool residual)
{
    const json_t *parts = golden_member(golden, "parts");
    for (size_t p = 0; p < json_array_size(parts); p++) {
        const json_t *part = json_array_get(parts, p);
        double r[MOST_POINTS], weight = golden_number(part, "weight");
        size_t n = golden_flatten(golden_member(part, "residual"), r, MOST_POINTS);
        const char *part_name = json_string_value(golden_member(part, "name"));
        for (size_t i = 0; i < n; i++)
            r[i] *= residual ? sqrt(2 * weight / (double)n)
                             : 2 * weight / (double)n * residual_slope(name, part_name, golden, i);
        assert_ok(sg_scaler_observe(scaler, r, SG_FLOAT64, n, 1));
    }
}

static void check_reference(const char *name, sg_reference reference, const char *scale_key,
                            const char *factor_key)
{
    static model m;
    json_t *golden = golden_open(name);
    open_model(&m, golden);
    sg_scale_config config = sg_scale_defaults();
    config.reference = reference;
    config.eps = golden_number(golden, "epsilon");
    sg_scaler *scaler;
    assert_ok(sg_scaler_create(&scaler, m.params, &config, NULL, NULL));
    observe(scaler, name, golden, reference == SG_REFERENCE_RESIDUAL);
    assert_ok(sg_scaler_measure(scaler, 0));
    const sg_scale_report *r = sg_scaler_report(scaler);
    assert_relative(r->reference, golden_number(golden, scale_key), 1e-12);
    for (size_t b = 0; b < LAYERS; b++) {
        const json_t *block = json_array_get(golden_member(golden, "blocks"), b);
        assert_relative(r->blocks[b].std, golden_number(block, "std"), 1e-12);
        assert_relative(r->blocks[b].norm2, golden_number(block, "norm2"), 1e-12);
        if (factor_key)
            assert_relative(r->blocks[b].factor, golden_number(block, factor_key), 1e-12);
    }
    sg_scaler_destroy(scaler);
    sg_params_destroy(m.params);
    json_decref(golden);
}

static const char *const problems[] = {"burgers", "poisson", "helmholtz"};

static void reference_scales_and_factors(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        check_reference(problems[i], SG_REFERENCE_OUTPUT, "sigma_out", "alpha_output");
        check_reference(problems[i], SG_REFERENCE_RESIDUAL, "sigma_residual", "alpha_residual");
        check_reference(problems[i], SG_REFERENCE_NORM, "c_norm", NULL);
        check_reference(problems[i], SG_REFERENCE_INNER, "c_inner", NULL);
    }
}

static void check_values(const json_t *golden, const char *key, double values[LAYERS][MOST])
{
    for (size_t l = 0; l < LAYERS; l++) {
        double expected[MOST];
        size_t n = golden_flatten(json_array_get(golden_member(golden, key), l), expected, MOST);
        for (size_t i = 0; i < n; i++)
            assert_close(values[l][i], expected[i], 1e-12);
    }
}

/* The step in the files: AdamW, rate 1e-3, no decay, after the `output` factors. */
static void one_adamw_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int in_memory = 0; in_memory < 2; in_memory++) {
            static model m;
            json_t *golden = golden_open(problems[i]);
            open_model(&m, golden);
            sg_scaler *scaler;
            sg_optim *optim;
            sg_optim_config config = sg_optim_defaults(SG_OPTIM_ADAMW);
            config.decay = 0;
            assert_ok(sg_scaler_create(&scaler, m.params, NULL, NULL, NULL));
            assert_ok(sg_optim_create(&optim, m.params, &config, NULL, NULL));
            observe(scaler, problems[i], golden, false);
            assert_ok(sg_scaler_measure(scaler, 0));
            if (in_memory)
                assert_ok(sg_scaler_apply(scaler));
            assert_ok(sg_optim_step(optim, scaler, NULL));
            check_values(golden, "after_step_weights", m.weight);
            check_values(golden, "after_step_biases", m.bias);
            sg_optim_destroy(optim);
            sg_scaler_destroy(scaler);
            sg_params_destroy(m.params);
            json_decref(golden);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_scales_and_factors),
        cmocka_unit_test(one_adamw_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
