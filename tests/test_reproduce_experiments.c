/* The paper's experiments: every row of the table is whole, every arm can be read at every budget,
 * and tables come out of runs that are there, half there, or not there at all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "files/file.h"
#include "problem/problem.h"
#include "reproduce/paper.h"
#include "reproduce/reproduction.h"
#include "support/folders.h"
#include "support/folders_images.h"
#include "support/pages.h"
#include "support/support.h"
#include "task/recognise.h"
#include "task/task.h"

static void names_differ(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                fail_msg("'%s' is there twice", names[i]);
}

/* Names are folders: nothing that a path could be made of. */
static void is_a_name(const char *name)
{
    assert_non_null(name);
    assert_true(name[0] != '\0' && name[0] != '.' && strlen(name) < 64);
    assert_null(strpbrk(name, "/ \\\"'"));
}

static void every_experiment_is_whole(void **state)
{
    (void)state;
    const char *names[64];
    for (size_t e = 0; e < sgi_experiment_count; e++) {
        const sgi_experiment *it = sgi_experiments[e];
        const char *parts[SG_EXPERIMENT_PARTS];
        is_a_name(it->name);
        names[e] = it->name;
        assert_ptr_equal(sgi_find_experiment(it->name), it);
        assert_true(it->summary && it->summary[0] && it->source && it->source[0]);
        assert_non_null(it->tabulate);
        assert_true(it->part_count <= SG_EXPERIMENT_PARTS && (it->part_count > 0 || it->measure));
        for (size_t p = 0; p < it->part_count; p++) {
            const char *arms[SG_PART_ARMS + 1];
            is_a_name(it->parts[p].name);
            assert_non_null(it->parts[p].title);
            parts[p] = it->parts[p].name;
            assert_in_range(it->parts[p].arm_count, 1, SG_PART_ARMS);
            for (size_t a = 0; a < it->parts[p].arm_count; a++) {
                is_a_name(it->parts[p].arms[a].name);
                arms[a] = it->parts[p].arms[a].name;
            }
            for (size_t i = 0; i < it->part_count; i++) { /* --only takes either */
                arms[it->parts[p].arm_count] = it->parts[i].name;
                names_differ(arms, it->parts[p].arm_count + 1);
            }
        }
        names_differ(parts, it->part_count);
    }
    names_differ(names, sgi_experiment_count);
    assert_null(sgi_find_experiment("table0"));
    for (int b = 0; b < SG_BUDGETS; b++)
        assert_int_equal(sgi_find_budget(sgi_budget_name((sgi_budget)b)), b);
    assert_int_equal(sgi_find_budget("days"), -1);
}

/* The note of a budget is there when, and only when, it sets something; the full one sets nothing.
 */
static void reduced_budgets_say_so(void **state)
{
    (void)state;
    for (size_t e = 0; e < sgi_experiment_count; e++)
        for (size_t p = 0; p < sgi_experiments[e]->part_count; p++)
            for (int b = 0; b < SG_BUDGETS; b++) {
                const sgi_reduction *r = &sgi_experiments[e]->parts[p].budgets[b];
                assert_true((r->note != NULL) == (r->sets[0] != NULL));
                assert_true(b != SG_BUDGET_FULL || !r->note);
            }
}

static sg_status read_problem(const char *name, const char *text, size_t size,
                              const char *const *sets, size_t count, sg_diagnostic *diagnostic)
{
    sgi_problem *problem;
    sg_status status = sgi_problem_read(&problem, name, text, size, sets, count, NULL, diagnostic);
    sgi_problem_destroy(problem);
    return status;
}

/* A build without networks on images cannot read their tasks. */
static sg_status read_task(const char *name, const char *text, size_t size, const char *const *sets,
                           size_t count, sg_diagnostic *diagnostic)
{
#ifdef SG_TEST_TASKS
    sgi_task *task;
    sg_status status = sgi_task_read(&task, name, text, size, sets, count, NULL, diagnostic);
    sgi_task_destroy(task);
    return status;
#else
    (void)name, (void)text, (void)size, (void)sets, (void)count, (void)diagnostic;
    return SG_OK;
#endif
}

/* Reads the file of an arm. */
static void try_arm(const sgi_experiment_part *part, const sgi_arm *arm, sgi_budget budget)
{
    char path[600], *text;
    size_t size;
    const char *sets[SG_MOST_ARM_SETS];
    sg_diagnostic diagnostic = {0};
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    (void)snprintf(path, sizeof path, "%s/../problems/%s.yaml", SG_TEST_DATA, part->file);
    assert_int_equal(sgi_file_read(path, 1 << 20, NULL, &text, &size, NULL), SG_OK);
    size_t count = sgi_arm_sets(part, arm, budget, sets);
    sg_status status = sgi_task_recognise(text, size, NULL)
                           ? read_task(part->file, text, size, sets, count, &diagnostic)
                           : read_problem(path, text, size, sets, count, &diagnostic);
    if (status != SG_OK)
        fail_msg("%s of %s: %s", arm->name, part->name, diagnostic.message);
    sgi_release(&heap, text);
}

static void every_arm_can_be_read(void **state)
{
    (void)state;
    for (size_t e = 0; e < sgi_experiment_count; e++)
        for (size_t p = 0; p < sgi_experiments[e]->part_count; p++)
            for (size_t a = 0; a < sgi_experiments[e]->parts[p].arm_count; a++)
                for (int b = 0; b < SG_BUDGETS; b++)
                    try_arm(&sgi_experiments[e]->parts[p], &sgi_experiments[e]->parts[p].arms[a],
                            (sgi_budget)b);
}

static void the_papers_numbers_have_their_parts(void **state)
{
    (void)state;
    const sgi_experiment *table1 = sgi_find_experiment("table1");
    for (size_t i = 0; i < sgi_paper_table1_count; i++) {
        bool found = false;
        for (size_t p = 0; p < table1->part_count; p++)
            found = found || strcmp(table1->parts[p].name, sgi_paper_table1[i].part) == 0;
        assert_true(found);
        assert_true(sgi_paper_table1[i].stablegrad <= sgi_paper_table1[i].adamw);
    }
}

/* ---- Tables -------------------------------------------------------------------------------- */

static json_t *index_of(const char *set)
{
    return json_pack("{s:i, s:[s]}", "seeds", 1, "sets", set);
}

/* The tables of a folder, as one text. */
static char *tables_of(const char *experiment, const char *folder)
{
    sgi_results results;
    sgi_tables tables;
    json_t *index = index_of("training.steps=20");
    sgi_tables_begin(&tables);
    assert_int_equal(sgi_results_read(&results, sgi_find_experiment(experiment), SG_BUDGET_QUICK,
                                      folder, NULL, NULL),
                     SG_OK);
    sgi_reproduction_tables(&results, index, &tables);
    assert_false(tables.failed);
    for (size_t t = 0; t < json_array_size(tables.list); t++) {
        json_t *table = json_array_get(tables.list, t), *row;
        size_t r, columns = json_array_size(json_object_get(table, "columns"));
        assert_non_null(strstr(json_string_value(json_object_get(table, "head")), "=20"));
        json_array_foreach(json_object_get(table, "rows"), r, row)
            assert_int_equal(json_array_size(row), columns);
    }
    assert_int_equal(sgi_reproduction_report(&results, index, tables.list, NULL), SG_OK);
    char *text = json_dumps(tables.list, JSON_REAL_PRECISION(4));
    sgi_tables_release(&tables);
    sgi_results_release(&results);
    json_decref(index);
    assert_non_null(text);
    return text;
}

static void without_runs_tables_are_empty(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    for (size_t e = 0; e < sgi_experiment_count; e++) {
        char *text = tables_of(sgi_experiments[e]->name, folder);
        assert_null(strstr(text, "\"holds\""));
        free(text);
    }
    folder_remove(folder);
}

/* Two runs of 5,000 steps with measurements every 250, the second better, as a part. */
static char *folder_with_part(void)
{
    char path[600], *folder = folder_temporary();
    (void)snprintf(path, sizeof path, "%s/burgers3d", folder);
    folder_comparison(path, FOLDER_BURGERS3D, 1);
    (void)snprintf(path, sizeof path, "%s/burgers3d/stablegrad", folder);
    folder_diagnoses(path, 0);
    return folder;
}

static void runs_stand_beside_the_paper(void **state)
{
    (void)state;
    char *folder = folder_with_part();
    char *text = tables_of("diagnostics", folder);
    assert_non_null(strstr(text, "\"StableGrad's, which is lower\", 8.473e"));
    assert_non_null(strstr(text, "\"holds\""));
    free(text);
    text = folder_text(folder, "report.html");
    assert_non_null(strstr(text, "burgers3d/report.html"));
    assert_non_null(strstr(text, "training.steps=20"));
    assert_non_null(strstr(text, "<svg"));
    free(text);
    folder_remove(folder);
}

/* Evaluations of a run on two threads whose clock went four times as fast as it computed. */
static void put_evaluations(const char *folder, const char *run, double error)
{
    static const double computed[] = {10, 19, 21, 107, 109, 118};
    char path[600], lines[2000] = "";
    for (int i = 0; i < 6; i++)
        (void)snprintf(lines + strlen(lines), sizeof lines - strlen(lines),
                       "{\"step\":%d,\"seconds\":%g,\"cpu_seconds\":%g,\"validation\":{\"loss\":1},"
                       "\"error\":{\"all\":{\"relative_l2\":%g,\"max\":1}}}\n",
                       i + 1, 4 * computed[i], computed[i], error / (i + 1));
    (void)snprintf(path, sizeof path, "%s/burgers/%s", folder, run);
    folder_put(path, "metrics.jsonl", lines);
}

/* Errors at times: of the seconds that were computed over the threads where they are known, the
 * median of the seeds, and nothing where a run was too short. */
static void errors_are_told_at_times(void **state)
{
    (void)state;
    char path[600], *folder = folder_temporary();
    (void)snprintf(path, sizeof path, "%s/burgers", folder);
    folder_comparison(path, FOLDER_BURGERS, 3);
    put_evaluations(folder, "stablegrad-3", 0.25);
    put_evaluations(folder, "stablegrad-1", 1.5);
    put_evaluations(folder, "stablegrad-2", 0.75);
    char *text = tables_of("accuracy", folder);
    /* after 9.5 seconds the second evaluation, after 59 the sixth */
    assert_non_null(strstr(text, "\"AdamW + StableGrad\", 0.375, 0.125, 59.0, \"3\", \"8.3e-9"));
    /* 51 seconds on the clock are too few for the column of 60 */
    const char *row = strstr(text, "\"AdamW\", ");
    assert_non_null(row);
    assert_non_null(strstr(row, ", null, 51.0, \"3\""));
    assert_null(strstr(text, "300 s")); /* which no run has reached */
    /* and each of them */
    row = strstr(text, "Every seed");
    assert_non_null(row);
    assert_non_null(strstr(row, "\"AdamW + StableGrad\", \"1\", 0.75, 0.25]"));
    free(text);
    text = folder_text(folder, "report.html");
    assert_non_null(strstr(text, "id=\"times\""));
    assert_non_null(strstr(text, "seconds computed, over the threads"));
    free(text);
    folder_remove(folder);
}

/* Each interval has the ratio measured at its end, and the first one no other. */
static void multipliers_follow_from_the_run(void **state)
{
    (void)state;
    char *folder = folder_with_part(), expected[160];
    const sgi_experiment *control = sgi_find_experiment("lr-control");
    sgi_derive *derive = control->parts[0].arms[2].derive;
    sg_diagnostic diagnostic = {0};
    sgi_results results;
    sgi_text set;
    sgi_text_begin(&set, NULL);
    assert_int_equal(sgi_results_read(&results, control, SG_BUDGET_FULL, folder, NULL, NULL),
                     SG_OK);
    assert_int_equal(derive(&results, 0, &set, &diagnostic), SG_OK);
    (void)snprintf(expected, sizeof expected,
                   "training.schedule.pieces=[{from: 0, until: 250, factor: %.9g}, {from: 250,",
                   sgi_arm_diagnosis(&results.parts[0], "stablegrad", "lambda_ratio", 250));
    assert_memory_equal(set.data, expected, strlen(expected));
    assert_non_null(strstr(set.data, "until: 5000, factor: "));
    assert_int_equal(set.data[set.size - 1], ']');
    sgi_text_release(&set);
    sgi_results_release(&results);
    folder_remove(folder);
    folder = folder_temporary();
    assert_int_equal(sgi_results_read(&results, control, SG_BUDGET_FULL, folder, NULL, NULL),
                     SG_OK);
    assert_int_equal(derive(&results, 0, &set, &diagnostic), SG_ERROR_STATE);
    assert_non_null(strstr(diagnostic.message, "not complete"));
    sgi_text_release(&set);
    sgi_results_release(&results);
    folder_remove(folder);
}

/* Figure 1 is measured, not trained: the file, its tables and its pictures. */
static void figure1_is_measured(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    assert_int_equal(sgi_find_experiment("figure1")->measure(folder, SG_BUDGET_QUICK, NULL), SG_OK);
    char *text = tables_of("figure1", folder);
    assert_non_null(strstr(text, "\"StableGrad leaves the forward pass as it is\", \"holds\""));
    assert_non_null(
        strstr(text, "\"and makes the weight gradients of all layers equal\", \"holds\""));
    assert_non_null(strstr(text, "PINN, gain 1.593"));
    assert_non_null(strstr(text, "Geometric means of 2 networks"));
    assert_null(strstr(text, "What was run"));
    free(text);
    text = folder_text(folder, "report.html");
    assert_int_equal(count_of(text, "<figure class=\"chart\">"), 8 + 4);
    assert_int_equal(count_of(text, "No values to show"), 0);
    free(text);
    folder_remove(folder);
}

/* A file of figure 1 that was damaged leaves the page without it. */
static void a_damaged_figure_is_left_out(void **state)
{
    (void)state;
    static const char *const files[] = {"{", "[]", "{\"plain-in\": [1, {\"activation\": \"x\"}]}"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *folder = folder_temporary();
        folder_put(folder, "figure1.json", files[i]);
        char *text = tables_of("figure1", folder);
        assert_null(strstr(text, "nan"));
        free(text);
        folder_remove(folder);
    }
}

static void images_stand_beside_the_paper(void **state)
{
    (void)state;
    char path[600], *folder = folder_temporary();
    (void)snprintf(path, sizeof path, "%s/efficientnet", folder);
    folder_image_comparison(path, 1);
    char *text = tables_of("cnn", folder);
    assert_non_null(strstr(text, "\"BatchNorm trains\", \"holds\""));
    assert_non_null(strstr(text, "\"without it training collapses\", \"holds\""));
    assert_non_null(strstr(text, "\"StableGrad trains without it\", \"holds\""));
    assert_non_null(strstr(text, "\"and ends above BatchNorm\", \"does not hold\""));
    assert_non_null(strstr(text, "\"signs collapse\", \"holds\""));
    free(text);
    text = folder_text(folder, "report.html");
    assert_non_null(strstr(text, "Activation scales of the convolutions"));
    /* Two charts of the part, and the scales of three variants. */
    assert_int_equal(count_of(text, "<figure class=\"chart\">"), 2 + 3);
    assert_int_equal(count_of(text, "No values to show"), 0);
    free(text);
    folder_remove(folder);
}

static sg_status read_and_write(const sg_allocator *allocator, void *folder)
{
    sgi_results results;
    sgi_tables tables;
    json_t *index = index_of("training.steps=20");
    sgi_tables_begin(&tables);
    sg_status status = sgi_results_read(&results, sgi_find_experiment("diagnostics"),
                                        SG_BUDGET_QUICK, folder, allocator, NULL);
    if (status == SG_OK) {
        sgi_reproduction_tables(&results, index, &tables);
        status = tables.failed ? SG_ERROR_MEMORY : SG_OK;
    }
    if (status == SG_OK)
        status = sgi_reproduction_report(&results, index, tables.list, NULL);
    sgi_tables_release(&tables);
    sgi_results_release(&results);
    json_decref(index);
    return status;
}

static void every_allocation_in_turn(void **state)
{
    (void)state;
    char *folder = folder_with_part();
    some_allocations_fail(read_and_write, folder, 100);
    folder_remove(folder);
}

static void cells_are_written(void **state)
{
    (void)state;
    static const char *const columns[] = {"<a>", "b", "c", NULL};
    sgi_tables tables;
    sgi_text out;
    char text[64];
    sgi_tables_begin(&tables);
    sgi_table_begin(&tables, "a & b", columns);
    sgi_table_row(&tables);
    sgi_table_text(&tables, "x");
    sgi_table_number(&tables, NAN);
    sgi_table_number(&tables, 1.23456e-5);
    sgi_table_note(&tables, "%d of %d", 1, 2);
    assert_false(tables.failed);
    const json_t *table = json_array_get(tables.list, 0);
    const json_t *row = json_array_get(json_object_get(table, "rows"), 0);
    sgi_cell_text(json_array_get(row, 0), text, sizeof text);
    assert_string_equal(text, "x");
    sgi_cell_text(json_array_get(row, 1), text, sizeof text);
    assert_string_equal(text, "-");
    sgi_cell_text(json_array_get(row, 2), text, sizeof text);
    assert_string_equal(text, "1.23e-05");
    sgi_text_begin(&out, NULL);
    sgi_table_html(&out, table);
    assert_int_equal(out.status, SG_OK);
    assert_non_null(strstr(out.data, "<th>&lt;a&gt;</th>"));
    assert_non_null(strstr(out.data, "<h3>a &amp; b</h3>"));
    assert_non_null(strstr(out.data, "<p>1 of 2</p>"));
    sgi_text_release(&out);
    sgi_tables_release(&tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_experiment_is_whole),
        cmocka_unit_test(reduced_budgets_say_so),
        cmocka_unit_test(every_arm_can_be_read),
        cmocka_unit_test(the_papers_numbers_have_their_parts),
        cmocka_unit_test(without_runs_tables_are_empty),
        cmocka_unit_test(runs_stand_beside_the_paper),
        cmocka_unit_test(errors_are_told_at_times),
        cmocka_unit_test(multipliers_follow_from_the_run),
        cmocka_unit_test(figure1_is_measured),
        cmocka_unit_test(a_damaged_figure_is_left_out),
        cmocka_unit_test(images_stand_beside_the_paper),
        cmocka_unit_test(every_allocation_in_turn),
        cmocka_unit_test(cells_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
