/* Run folders and grids. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pinn/box_grid.h"
#include "support/support.h"
#include "train/checkpoint.h"
#include "train/progress.h"
#include "train/run_lock.h"

static void runs_are_numbered(void **state)
{
    (void)state;
    char root[] = "/tmp/sg_folder_XXXXXX", parent[SG_PATH_SIZE], path[SG_PATH_SIZE], command[64];
    sg_diagnostic diagnostic = {0};
    assert_non_null(mkdtemp(root));
    assert_ok(sgi_run_path(parent, root, "deep/runs"));
    assert_status(sgi_run_newest(path, parent, "heat", &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "no run of 'heat'"));
    for (int i = 1; i <= 3; i++) {
        char expected[SG_PATH_SIZE + 32];
        snprintf(expected, sizeof expected, "%s/heat-%04d", parent, i);
        assert_ok(sgi_run_create(path, parent, "heat", &diagnostic));
        assert_string_equal(path, expected);
    }
    assert_ok(sgi_run_create(path, parent, "heat-2d", &diagnostic)); /* another name's numbers */
    assert_ok(sgi_run_newest(path, parent, "heat", &diagnostic));
    assert_non_null(strstr(path, "/heat-0003"));
    assert_ok(sgi_run_create(path, parent, "heat", &diagnostic));
    assert_non_null(strstr(path, "/heat-0004"));
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

static void a_chosen_folder_must_be_empty(void **state)
{
    (void)state;
    char root[] = "/tmp/sg_folder_XXXXXX", path[SG_PATH_SIZE], file[SG_PATH_SIZE], command[64];
    sg_diagnostic diagnostic = {0};
    assert_non_null(mkdtemp(root));
    assert_ok(sgi_run_path(path, root, "a/b"));
    assert_ok(sgi_run_create_at(path, NULL, &diagnostic));
    assert_ok(sgi_run_create_at(path, NULL, &diagnostic)); /* still empty */
    assert_ok(sgi_run_path(file, path, "something"));
    fclose(fopen(file, "w"));
    assert_status(sgi_run_create_at(path, NULL, &diagnostic), SG_ERROR_ARGUMENT);
    assert_non_null(strstr(said(&diagnostic), "not empty"));
    assert_status(sgi_run_create_at(file, NULL, &diagnostic), SG_ERROR_IO);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

static void fails_with(sg_status status, sg_status wanted, const sg_diagnostic *diagnostic,
                       const char *words)
{
    assert_status(status, wanted);
    if (!strstr(said(diagnostic), words))
        fail_msg("'%s' does not say '%s'", said(diagnostic), words);
}

static void a_folder_has_one_writer(void **state)
{
    (void)state;
    char root[] = "/tmp/sg_folder_XXXXXX", path[SG_PATH_SIZE], command[64], own[64];
    sg_diagnostic diagnostic = {0};
    sgi_run_lock first, second;
    sgi_run_holder holder;
    bool made = true;
    assert_non_null(mkdtemp(root));
    assert_int_equal(sgi_run_lock_test(root, NULL), SG_RUN_FREE);
    assert_ok(sgi_run_claim(&first, root, &made, &diagnostic));
    assert_false(made);
    assert_int_equal(sgi_run_lock_test(root, &holder), SG_RUN_HELD);
    assert_int_equal(holder.process, getpid());
    snprintf(own, sizeof own, "process %ld is training this run", (long)getpid());
    fails_with(sgi_run_lock_take(&second, root, &diagnostic), SG_ERROR_STATE, &diagnostic, own);
    sgi_run_lock_release(&second); /* that it was not taken does not matter */
    assert_int_equal(sgi_run_lock_test(root, NULL), SG_RUN_HELD);
    assert_ok(sgi_run_path(path, root, "run.json"));
    fclose(fopen(path, "w"));
    /* Who writes there is told before that the folder is not empty. */
    fails_with(sgi_run_claim(&second, root, NULL, &diagnostic), SG_ERROR_STATE, &diagnostic, own);
    sgi_run_lock_release(&first);
    fails_with(sgi_run_claim(&second, root, NULL, &diagnostic), SG_ERROR_ARGUMENT, &diagnostic,
               "not empty");
    assert_ok(sgi_run_path(path, root, SG_LOCK_FILE));
    assert_int_equal(access(path, F_OK), -1);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

/* The process that the file names runs, as after a reboot that gave its number to another; it holds
 * nothing. */
static void a_lock_left_behind_is_taken_over(void **state)
{
    (void)state;
    char root[] = "/tmp/sg_folder_XXXXXX", path[SG_PATH_SIZE], command[64];
    sg_diagnostic diagnostic = {0};
    sgi_run_holder own;
    sgi_run_lock lock;
    assert_non_null(mkdtemp(root));
    assert_ok(sgi_run_path(path, root, SG_LOCK_FILE));
    sgi_run_holder_own(&own);
    FILE *file = fopen(path, "w");
    fprintf(file, "%ld %s\n", (long)getppid(), own.host);
    fclose(file);
    assert_int_equal(sgi_run_lock_test(root, NULL), SG_RUN_FREE);
    assert_true(sgi_run_is_empty(root));
    assert_ok(sgi_run_claim(&lock, root, NULL, &diagnostic));
    assert_int_equal(lock.before.process, getppid());
    sgi_run_lock_release(&lock);
    /* What is not a file of ours is not written through, and does not hold up. */
    assert_int_equal(symlink("elsewhere", path), 0);
    assert_status(sgi_run_lock_take(&lock, root, &diagnostic), SG_ERROR_IO);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(sgi_run_lock_take(&lock, root, &diagnostic), SG_ERROR_IO);
    assert_int_equal(sgi_run_lock_test(root, NULL), SG_RUN_FREE);
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

static sgi_box_grid grid_of(size_t a, size_t b, size_t c)
{
    return (sgi_box_grid){.coordinates = 3,
                          .sizes = {a, b, c},
                          .lower = {0, -1, 5},
                          .upper = {1, 1, 6},
                          .total = a * b * c};
}

static void grids_have_both_ends_and_run_the_last_fastest(void **state)
{
    (void)state;
    sgi_box_grid grid = grid_of(3, 5, 2);
    double points[30][3];
    sgi_box_grid_points(&grid, 0, 30, &points[0][0]);
    assert_true(points[0][0] == 0 && points[0][1] == -1 && points[0][2] == 5);
    assert_true(points[1][2] == 6 && points[1][1] == -1);
    assert_true(points[2][1] == -0.5 && points[2][2] == 5);
    assert_true(points[29][0] == 1 && points[29][1] == 1 && points[29][2] == 6);
    double one[3];
    sgi_box_grid_points(&grid, 17, 1, one);
    assert_memory_equal(one, points[17], sizeof one);
    grid = grid_of(1, 1, 1);
    assert_true(sgi_box_grid_axis(&grid, 2, 0) == 5.5);
}

static void thinning_respects_its_limit(void **state)
{
    (void)state;
    sgi_box_grid grid = grid_of(400, 300, 2), thin = sgi_box_grid_thinned(&grid, 1000);
    assert_true(thin.total <= 1000 && thin.total > 200);
    assert_int_equal(thin.sizes[2], 2);
    thin = sgi_box_grid_thinned(&grid, 1u << 20);
    assert_int_equal(thin.total, grid.total);
    grid = grid_of(2, 2, 2); /* cannot be cut further */
    thin = sgi_box_grid_thinned(&grid, 3);
    assert_int_equal(thin.total, 8);
}

/* A checkpoint with the right state of the optimizer, but without one of the weights. */
static void save_without_a_weight(const char *path, const sg_optim *optim)
{
    static const float weight[3];
    size_t size;
    const void *saved = sg_optim_state(optim, &size);
    const sgi_tensor tensors[] = {
        {.name = "layers.0.weight",
         .type = SG_TENSOR_F32,
         .rank = 2,
         .shape = {3, 1},
         .data = weight},
        {.name = SG_STATE_TENSOR, .type = SG_TENSOR_U8, .rank = 1, .shape = {size}, .data = saved},
    };
    sgi_progress progress = {.step = 7};
    sgi_progress_notes notes;
    sgi_progress_write(&notes, &progress);
    assert_ok(sgi_safetensors_write(path, tensors, 2, notes.notes, SG_PROGRESS_NOTES, NULL));
}

static void a_checkpoint_is_loaded_whole_or_not_at_all(void **state)
{
    (void)state;
    static const int hidden[] = {3};
    char path[] = "/tmp/sg_checkpoint_XXXXXX";
    sg_jet_network_config config = sg_jet_network_defaults();
    sg_optim_config settings = sg_optim_defaults(SG_OPTIM_ADAMW);
    sg_jet_network *network;
    sg_params *params;
    sg_optim *optim;
    size_t size;
    sg_diagnostic diagnostic = {0};
    sgi_progress progress = {.step = 3};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    config.hidden = hidden;
    config.hidden_count = 1;
    assert_ok(sg_jet_network_create(&network, &config, NULL));
    assert_ok(sg_params_create(&params, NULL));
    assert_ok(sg_jet_network_register(network, params));
    assert_ok(sg_optim_create(&optim, params, &settings, NULL, NULL));
    save_without_a_weight(path, optim);
    void *gradient = sg_jet_network_gradients(network);
    assert_non_null(gradient);
    *(float *)gradient = 1;
    assert_ok(
        sg_optim_step(optim, NULL, NULL)); /* so that it is another state than the saved one */
    const void *own = sg_optim_state(optim, &size);
    void *before = malloc(size);
    assert_non_null(before);
    memcpy(before, own, size);
    sgi_kept_state kept = sgi_kept_optim(optim);
    assert_status(sgi_checkpoint_load(path, network, &kept, &progress, NULL, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_int_equal(progress.step, 3);
    assert_memory_equal(sg_optim_state(optim, &size), before, size);
    free(before);
    sg_optim_destroy(optim);
    sg_params_destroy(params);
    sg_jet_network_destroy(network);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_numbered),
        cmocka_unit_test(a_chosen_folder_must_be_empty),
        cmocka_unit_test(a_folder_has_one_writer),
        cmocka_unit_test(a_lock_left_behind_is_taken_over),
        cmocka_unit_test(grids_have_both_ends_and_run_the_last_fastest),
        cmocka_unit_test(thinning_respects_its_limit),
        cmocka_unit_test(a_checkpoint_is_loaded_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
