/* Every public function with NULL handles, numbers outside their lists and indices past the end:
 * those that return a status refuse, the others return. A crash, and a sanitizer's word, fails the
 * test, and so does a function of the headers that is not called here. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stablegrad/stablegrad.h"
#if SG_TEST_PINN
#include "stablegrad/pinn.h"
#endif
#if SG_TEST_GRAPH
#include "stablegrad/graph.h"
#include "stablegrad/images.h"
#endif
#include "support/support.h"

#define REFUSES(call) assert_status(call, SG_ERROR_ARGUMENT)
#define RETURNS(call) ((void)(call))

static void core(void **state)
{
    (void)state;
    RETURNS(sg_isa_name((sg_isa)-1));
    RETURNS(sg_isa_resolve((sg_isa)-1));
    RETURNS(sg_diagnostic_format(NULL, NULL, 0));
    RETURNS(sg_optim_name((sg_optim_kind)-1));
    RETURNS(sg_optim_defaults((sg_optim_kind)-1));
    REFUSES(sg_optim_create(NULL, NULL, NULL, NULL, NULL));
    RETURNS(sg_optim_destroy(NULL));
    REFUSES(sg_optim_step(NULL, NULL, NULL));
    REFUSES(sg_optim_handover(NULL, NULL, NULL));
    RETURNS(sg_optim_steps(NULL));
    RETURNS(sg_optim_skipped(NULL));
    RETURNS(sg_optim_rate(NULL));
    REFUSES(sg_optim_set_rate(NULL, 0));
    REFUSES(sg_optim_set_rate_factor(NULL, SIZE_MAX, 0));
    REFUSES(sg_optim_set_group(NULL, SIZE_MAX, SIZE_MAX, NULL));
    RETURNS(sg_optim_state(NULL, NULL));
    REFUSES(sg_optim_restore(NULL, NULL, 0));
    RETURNS(sg_type_name((sg_type)-1));
    RETURNS(sg_role_name((sg_role)-1));
    REFUSES(sg_params_create(NULL, NULL));
    RETURNS(sg_params_destroy(NULL));
    REFUSES(sg_params_add(NULL, NULL));
    REFUSES(sg_params_bind(NULL, SIZE_MAX, NULL, NULL));
    RETURNS(sg_params_count(NULL));
    RETURNS(sg_params_elements(NULL));
    RETURNS(sg_params_at(NULL, SIZE_MAX));
    RETURNS(sg_params_find(NULL, NULL));
    REFUSES(sg_pool_create(NULL, 0, NULL));
    RETURNS(sg_pool_destroy(NULL));
    RETURNS(sg_pool_threads(NULL));
    RETURNS(sg_pool_run(NULL, 0, NULL, NULL));
    RETURNS(sg_moments_add(NULL, NULL, (sg_type)-1, 0, 0));
    RETURNS(sg_moments_merge(NULL, NULL));
    RETURNS(sg_moments_std(NULL));
    RETURNS(sg_method_name((sg_method)-1));
    RETURNS(sg_reference_name((sg_reference)-1));
    RETURNS(sg_blocks_name((sg_blocks)-1));
    RETURNS(sg_handover_name((sg_handover)-1));
    RETURNS(sg_sharding_name((sg_sharding)-1));
    RETURNS(sg_scale_defaults());
    REFUSES(sg_scaler_create(NULL, NULL, NULL, NULL, NULL));
    RETURNS(sg_scaler_destroy(NULL));
    REFUSES(sg_scaler_observe(NULL, NULL, (sg_type)-1, 0, 0));
    REFUSES(sg_scaler_observe_moments(NULL, NULL));
    REFUSES(sg_scaler_observe_scale(NULL, 0));
    REFUSES(sg_scaler_measure(NULL, 0));
    REFUSES(sg_scaler_apply(NULL));
    RETURNS(sg_outcome_name((sg_outcome)-1));
    RETURNS(sg_scaler_report(NULL));
    RETURNS(sg_scaler_config(NULL));
    REFUSES(sg_scaler_set_window(NULL, 0, 0));
    RETURNS(sg_scaler_set_counters(NULL, NULL));
    RETURNS(sg_schedule_name((sg_schedule_kind)-1));
    RETURNS(sg_schedule_constant(0));
    RETURNS(sg_schedule_cosine(0, 0, 0));
    RETURNS(sg_schedule_warmup(0, 0));
    RETURNS(sg_schedule_interval(0, 0, 0));
    RETURNS(sg_schedule_valid(NULL, 0));
    RETURNS(sg_schedule_factor(NULL, 0, 0));
    RETURNS(sg_status_text((sg_status)-1));
    RETURNS(sg_status_name((sg_status)-1));
    RETURNS(sg_version());
}

#if SG_TEST_PINN
static void pinn(void **state)
{
    (void)state;
    RETURNS(sg_activation_name((sg_activation)-1));
    RETURNS(sg_jet_waves_fourier(NULL, 0, -1, 0, NULL, 0));
    RETURNS(sg_jet_waves_periodic(NULL, 0, -1, 0, 0));
    RETURNS(sg_jet_waves_random(NULL, 0, 0, 0, 0));
    RETURNS(sg_jet_network_defaults());
    REFUSES(sg_jet_network_create(NULL, NULL, NULL));
    RETURNS(sg_jet_network_destroy(NULL));
    RETURNS(sg_jet_network_parameters(NULL));
    RETURNS(sg_jet_network_layers(NULL));
    RETURNS(sg_jet_network_scalars(NULL));
    RETURNS(sg_jet_network_scalar(NULL, (size_t)-1));
    RETURNS(sg_jet_network_features(NULL));
    RETURNS(sg_jet_network_coordinates(NULL));
    RETURNS(sg_jet_network_outputs(NULL));
    RETURNS(sg_jet_network_type(NULL));
    RETURNS(sg_jet_network_values(NULL));
    RETURNS(sg_jet_network_gradients(NULL));
    RETURNS(sg_jet_network_layer(NULL, -1));
    REFUSES(sg_jet_network_register(NULL, NULL));
    RETURNS(sg_fan_name((sg_fan)-1));
    RETURNS(sg_distribution_name((sg_distribution)-1));
    RETURNS(sg_jet_init_defaults());
    REFUSES(sg_jet_network_initialize(NULL, NULL));
    REFUSES(sg_jet_plan_create(NULL, 0, NULL, 0, NULL));
    RETURNS(sg_jet_plan_destroy(NULL));
    RETURNS(sg_jet_plan_requests(NULL));
    RETURNS(sg_jet_plan_channels(NULL));
    RETURNS(sg_jet_plan_varying(NULL));
    RETURNS(sg_jet_plan_describe(NULL, NULL, NULL, NULL, 0));
    RETURNS(sg_jet_plan_flops(NULL, NULL, false));
    RETURNS(sg_jet_defaults());
    REFUSES(sg_jet_create(NULL, NULL, NULL));
    RETURNS(sg_jet_destroy(NULL));
    REFUSES(sg_jet_resize(NULL, SIZE_MAX, 0, NULL));
    RETURNS(sg_jet_forward(NULL));
    RETURNS(sg_jet_gradient(NULL, NULL));
    RETURNS(sg_jet_gradients(NULL, NULL));
    RETURNS(sg_jet_moments(NULL));
    RETURNS(sg_jet_sums(NULL, SIZE_MAX));
    REFUSES(sg_jet_rows(NULL, SIZE_MAX, SIZE_MAX, 0, NULL));
    REFUSES(sg_jet_push(NULL, SIZE_MAX, NULL, NULL));
    REFUSES(sg_jet_pull(NULL, SIZE_MAX, NULL, NULL));
    REFUSES(sg_jacobian_create(NULL, NULL, NULL));
    RETURNS(sg_jacobian_destroy(NULL));
    RETURNS(sg_jacobian_residuals(NULL));
    RETURNS(sg_jacobian_memory(NULL));
    REFUSES(sg_jacobian_push(NULL, 0, NULL, NULL));
    REFUSES(sg_jacobian_pull(NULL, 0, NULL, NULL));
    REFUSES(sg_jacobian_normal_product(NULL, 0, NULL, NULL));
    REFUSES(sg_jacobian_normal(NULL, NULL));
    REFUSES(sg_jacobian_kernel(NULL, NULL, NULL));
    REFUSES(sg_jacobian_column_kernel(NULL, NULL, NULL));
    RETURNS(sg_jacobian_kernel_cost(NULL));
    RETURNS(sg_jet_memory(NULL));
    RETURNS(sg_jet_kernels(NULL));
    REFUSES(sg_jet_evaluate(NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL));
    REFUSES(sg_pinn_open(NULL, NULL, NULL, 0, NULL, NULL));
    REFUSES(sg_pinn_read(NULL, NULL, NULL, 0, NULL, 0, NULL, NULL));
    RETURNS(sg_pinn_close(NULL));
    REFUSES(sg_pinn_text(NULL, NULL));
    RETURNS(sg_pinn_describe(NULL));
    RETURNS(sg_pinn_network(NULL));
    RETURNS(sg_pinn_params(NULL));
    RETURNS(sg_pinn_unknown_value(NULL, (size_t)-1));
    REFUSES(sg_pinn_set_unknown(NULL, (size_t)-1, 0));
    REFUSES(sg_pinn_intervals(NULL, NULL, NULL, NULL, NULL));
    RETURNS(sg_pinn_scale_config(NULL));
    RETURNS(sg_pinn_optim_config(NULL));
    REFUSES(sg_pinn_initialize(NULL, 0));
    REFUSES(sg_pinn_save(NULL, NULL, NULL));
    REFUSES(sg_pinn_load(NULL, NULL, NULL));
    REFUSES(sg_pinn_evaluate(NULL, NULL, 0, NULL, 0, NULL, NULL, NULL));
    REFUSES(sg_pinn_exact(NULL, NULL, 0, NULL, NULL));
    REFUSES(sg_pinn_errors(NULL, NULL, NULL));
    RETURNS(sg_pinn_batch_defaults());
    REFUSES(sg_pinn_batch_create(NULL, NULL, NULL, NULL));
    RETURNS(sg_pinn_batch_destroy(NULL));
    RETURNS(sg_pinn_draw(NULL, 0));
    REFUSES(sg_pinn_give(NULL, SIZE_MAX, NULL, 0, NULL));
    RETURNS(sg_pinn_items(NULL, SIZE_MAX));
    RETURNS(sg_pinn_points(NULL, SIZE_MAX, NULL));
    RETURNS(sg_pinn_loss_at(NULL, NULL));
    RETURNS(sg_pinn_gradient(NULL, NULL, NULL));
    RETURNS(sg_pinn_gradients(NULL, NULL, NULL));
    RETURNS(sg_pinn_residual_count(NULL));
    RETURNS(sg_pinn_residuals(NULL, NULL));
    REFUSES(sg_pinn_rows(NULL, SIZE_MAX, SIZE_MAX, 0, NULL));
    REFUSES(sg_pinn_push(NULL, NULL, NULL));
    REFUSES(sg_pinn_pull(NULL, NULL, NULL));
    RETURNS(sg_pinn_engine(NULL));
    REFUSES(sg_pinn_trainer_create(NULL, NULL, NULL, (sg_isa)-1, NULL));
    RETURNS(sg_pinn_trainer_destroy(NULL));
    REFUSES(sg_pinn_trainer_step(NULL, NULL));
    RETURNS(sg_pinn_trainer_validate(NULL, NULL));
    RETURNS(sg_pinn_trainer_scaler(NULL));
    RETURNS(sg_pinn_trainer_optim(NULL));
    RETURNS(sg_pinn_trainer_batch(NULL));
    REFUSES(sg_pinn_train(NULL, NULL, NULL, NULL));
}

static void indices_of_a_network(void **state)
{
    (void)state;
    sg_jet_network_config config = sg_jet_network_defaults();
    sg_jet_network *network;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    assert_int_equal(sg_jet_network_layer(network, 4).outputs, 1);
    assert_int_equal(sg_jet_network_layer(network, 5).outputs, 0);
    assert_int_equal(sg_jet_network_layer(network, -1).outputs, 0);
    sg_jet_network_destroy(network);
}
#endif

#if SG_TEST_GRAPH
static void graph(void **state)
{
    (void)state;
    RETURNS(sg_act_name((sg_act)-1));
    RETURNS(sg_norm_name((sg_norm)-1));
    RETURNS(sg_precision_name((sg_precision)-1));
    RETURNS(sg_net_defaults());
    REFUSES(sg_net_create(NULL, NULL, NULL));
    RETURNS(sg_net_destroy(NULL));
    RETURNS(sg_net_configuration(NULL));
    RETURNS(sg_net_input(NULL));
    RETURNS(sg_net_conv(NULL, SG_NO_NODE, NULL, NULL));
    RETURNS(sg_net_linear(NULL, SG_NO_NODE, NULL, 0, false));
    RETURNS(sg_net_norm(NULL, SG_NO_NODE, NULL, NULL));
    RETURNS(sg_net_act(NULL, SG_NO_NODE, NULL, (sg_act)-1));
    RETURNS(sg_net_max_pool(NULL, SG_NO_NODE, NULL, 0, 0, 0));
    RETURNS(sg_net_average_pool(NULL, SG_NO_NODE, NULL, 0, 0, 0));
    RETURNS(sg_net_global_average(NULL, SG_NO_NODE, NULL));
    RETURNS(sg_net_flatten(NULL, SG_NO_NODE, NULL));
    RETURNS(sg_net_scale(NULL, SG_NO_NODE, SG_NO_NODE, NULL));
    RETURNS(sg_net_add(NULL, SG_NO_NODE, SG_NO_NODE, NULL));
    RETURNS(sg_net_dropout(NULL, SG_NO_NODE, NULL, 0));
    RETURNS(sg_net_drop_path(NULL, SG_NO_NODE, NULL, 0));
    REFUSES(sg_net_compile(NULL, SG_NO_NODE));
    RETURNS(sg_net_diagnostic(NULL));
    RETURNS(sg_model_defaults());
    REFUSES(sg_net_model(NULL, NULL, NULL));
    RETURNS(sg_model_name(-1));
    RETURNS(sg_net_params(NULL));
    RETURNS(sg_net_param_shape(NULL, SIZE_MAX, NULL));
    RETURNS(sg_net_buffer_count(NULL));
    RETURNS(sg_net_buffer_at(NULL, SIZE_MAX));
    RETURNS(sg_init_name((sg_init)-1));
    RETURNS(sg_act_gain((sg_act)-1));
    REFUSES(sg_net_init(NULL, NULL));
    REFUSES(sg_net_calibrate(NULL, NULL));
    REFUSES(sg_net_save(NULL, NULL, NULL, 0));
    REFUSES(sg_net_load(NULL, NULL, false));
    REFUSES(sg_net_forward(NULL, NULL, (sg_mode)-1, 0));
    RETURNS(sg_net_logits(NULL));
    RETURNS(sg_net_classes(NULL));
    REFUSES(sg_net_loss(NULL, NULL, 0, 0, NULL));
    RETURNS(sg_net_signal(NULL));
    REFUSES(sg_net_backward(NULL));
    REFUSES(sg_net_observe(NULL));
    RETURNS(sg_net_layer_count(NULL));
    RETURNS(sg_net_layer_at(NULL, SIZE_MAX));
    RETURNS(sg_net_first_not_finite(NULL));
    RETURNS(sg_net_information(NULL));
    RETURNS(sg_net_kernel(NULL, SIZE_MAX));
    REFUSES(sg_dataset_open_cifar(NULL, NULL, 0, 0, NULL, NULL));
    REFUSES(sg_dataset_open_folder(NULL, NULL, NULL, NULL));
    RETURNS(sg_dataset_close(NULL));
    RETURNS(sg_dataset_count(NULL));
    RETURNS(sg_dataset_classes(NULL));
    RETURNS(sg_dataset_label(NULL, SIZE_MAX));
    RETURNS(sg_dataset_class_name(NULL, -1));
    RETURNS(sg_image_view_defaults());
    REFUSES(sg_dataset_read(NULL, SIZE_MAX, NULL, 0, NULL, NULL));
    RETURNS(sg_loader_defaults());
    REFUSES(sg_loader_create(NULL, NULL, NULL, NULL));
    RETURNS(sg_loader_destroy(NULL));
    RETURNS(sg_loader_batches(NULL));
    REFUSES(sg_loader_start(NULL, 0, SIZE_MAX));
    REFUSES(sg_loader_next(NULL, NULL));
    RETURNS(sg_loader_skipped(NULL, NULL));
}

static void indices_of_a_graph(void **state)
{
    (void)state;
    sg_net *net;
    int shape[4];
    assert_ok(sg_net_create(&net, NULL, NULL));
    assert_int_equal(sg_net_conv(net, sg_net_input(net), "c", NULL), SG_NO_NODE);
    assert_int_equal(sg_net_linear(net, 99, "l", 3, true), SG_NO_NODE);
    assert_int_equal(sg_net_param_shape(net, 0, shape), 0);
    assert_null(sg_net_buffer_at(net, 0).name);
    assert_null(sg_net_layer_at(net, SIZE_MAX).name);
    assert_null(sg_net_kernel(net, SIZE_MAX));
    assert_null(sg_net_logits(net));
    sg_net_destroy(net);
}
#endif

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    (void)fclose(file);
    return text;
}

/* Blanks comments and lines of the preprocessor, with those that go on from them. */
static void strip(char *text)
{
    for (char *at = text; *at; at++) {
        bool comment = strncmp(at, "/*", 2) == 0, line = *at == '#';
        if (!comment && !line)
            continue;
        char *end = comment ? strstr(at, "*/") : strchr(at, '\n');
        while (line && end && end[-1] == '\\')
            end = strchr(end + 1, '\n');
        assert_non_null(end);
        for (; at < end; at++)
            *at = ' ';
        if (comment)
            memset(at, ' ', 2);
    }
}

/* Every name before a parenthesis, where no typedef declares it. */
static void check_header(const char *name, const char *calls)
{
    char path[1024], wanted[128];
    (void)snprintf(path, sizeof path, SG_TEST_DATA "/../include/stablegrad/%s", name);
    char *text = read_whole(path);
    const char *statement = text;
    strip(text);
    for (const char *at = text; *at; at++) {
        if (*at == ';' || *at == '}')
            statement = at + 1;
        if (strncmp(at, "sg_", 3) != 0 || isalnum((unsigned char)at[-1]) || at[-1] == '_')
            continue;
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        while (isspace((unsigned char)*statement))
            statement++;
        if (at[length] == '(' && strncmp(statement, "typedef", 7) != 0) {
            (void)snprintf(wanted, sizeof wanted, "(%.*s(", (int)length, at);
            if (!strstr(calls, wanted))
                fail_msg("%s is a public function that is not called here", wanted + 1);
        }
        at += length - 1;
    }
    free(text);
}

static void every_public_function_is_here(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "activation.h", "cpu.h",    "diagnostic.h", "graph.h",  "images.h",
        "jet.h",        "memory.h", "optim.h",      "params.h", "pinn.h",
        "pool.h",       "scale.h",  "schedule.h",   "status.h", "version.h",
    };
    char *calls = read_whole(SG_TEST_DATA "/test_core_misuse.c");
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        check_header(headers[i], calls);
    free(calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_public_function_is_here),
        cmocka_unit_test(core),
#if SG_TEST_PINN
        cmocka_unit_test(pinn),
        cmocka_unit_test(indices_of_a_network),
#endif
#if SG_TEST_GRAPH
        cmocka_unit_test(graph),
        cmocka_unit_test(indices_of_a_graph),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
