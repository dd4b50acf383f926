/* The report and the summary of image runs, whole and broken. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/kind.h"
#include "report/report.h"
#include "runs/columns.h"
#include "support/folders.h"
#include "support/folders_images.h"
#include "support/pages.h"
#include "support/support.h"
#include "text/text.h"

/* The page has the sections of an image run, and none of a problem's. */
static char *report_of(const char *folder)
{
    static const char *const order[] = {"id=\"result\"",  "id=\"curves\"",  "id=\"inside\"",
                                        "id=\"scaling\"", "id=\"numbers\"", "id=\"task\"",
                                        "id=\"repeat\""};
    char *html = page_of(folder, order, sizeof order / sizeof order[0]);
    assert_null(strstr(html, "id=\"solution\""));
    assert_null(strstr(html, "id=\"errors\""));
    assert_null(strstr(html, "id=\"problem\""));
    assert_null(strstr(html, "relative L2"));
    assert_true(strlen(html) < 400000);
    return html;
}

static sgi_report_summary summary_of(const char *folder)
{
    sgi_report_summary summary;
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_report_summarise(&summary, folder, NULL, &diagnostic);
    assert_string_equal(said(&diagnostic), "");
    assert_ok(status);
    assert_ptr_equal(summary.kind, &sgi_report_images);
    return summary;
}

static void assert_says(const char *html, const char *text)
{
    if (!strstr(html, text))
        fail_msg("the page does not say '%s'", text);
}

static void four_variants(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_image_comparison(sub(folder, "c"), 1);
    char *html = report_of(sub(folder, "c"));
    /* Curves, activations over steps and depth, gradients (one after scaling), scales. */
    assert_int_equal(count_of(html, "<figure class=\"chart\">"), 6 + 4 + 4 + 5 + 3);
    assert_int_equal(count_of(html, "No values to show"), 0);
    assert_says(html, "No BatchNorm ends at 1.0% top-1, no better than guessing</strong>");
    assert_says(html, "Step 58: the training loss exploded, with the largest activations in "
                      "<code>features.6.13.block.3.0</code> (std 31.5)");
    assert_says(html, "Step 392: <code>features.6.4.block.0.0</code> was the first layer whose "
                      "output was not finite");
    assert_says(html, "The run failed at step 411 of 3,120: 20 steps skipped in a row.");
    assert_says(html, "Step 700: it recovered");
    assert_says(html, "Step 312: every test image got the same class (number 17)");
    assert_says(html, "Guessing among 100 classes is right for 1.0%: chance.");
    assert_says(html, ">exploded</text>");
    assert_says(html, ">not finite</text>");
    assert_says(html, ">chance</text>");
    assert_says(html, "Learning rate of all variants");
    assert_says(html, "each entry of a gradient is replaced by its sign");
    assert_says(html, "no BatchNorm + sign, before</figcaption>");
    assert_null(strstr(html, "no BatchNorm + sign, after"));
    assert_says(html, "<td>collapsed at step</td><td>–</td><td>58</td><td>–</td><td>312</td>");
    assert_says(html, "<td>skipped steps</td><td>0</td><td>20</td><td>0</td><td>0</td>");
    assert_says(html, "cifar100: 20,000 training and 5,000 test images of 100 classes, 64 px");
    free(html);
    folder_remove(folder);
}

static void numbers_are_those_of_the_runs(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_image_comparison(sub(folder, "c"), 2);
    sgi_report_summary summary = summary_of(sub(folder, "c"));
    assert_int_equal(summary.count, 4);
    assert_close(summary.chance, 0.01, 1e-15);
    const sgi_report_variant *batch = &summary.variants[0], *plain = &summary.variants[1],
                             *scaled = &summary.variants[2], *sign = &summary.variants[3];
    assert_string_equal(plain->label, "no BatchNorm");
    assert_int_equal(batch->top1.count, 2);
    assert_true(batch->top1.mean > 0.35 && batch->top1.mean < 0.45);
    assert_true(batch->best_top1.mean > batch->top1.mean);
    assert_close(batch->best_step.mean, 9 * IMAGES_EPOCH, 1e-9);
    assert_true(batch->top5.mean > batch->top1.mean && batch->top5.mean < 1);
    assert_int_equal(batch->collapsed.count, 0);
    assert_int_equal(plain->collapsed.count, 2);
    assert_close(plain->collapsed.mean, 58, 1e-9);
    assert_close(plain->skipped.mean, 20, 1e-9);
    assert_close(plain->epochs.mean, 411.0 / IMAGES_EPOCH, 1e-12);
    assert_int_equal(scaled->collapsed.count, 0);
    assert_close(sign->collapsed.mean, 312, 1e-9);
    assert_int_equal(batch->at_chance + scaled->at_chance, 0);
    assert_int_equal(plain->at_chance, 2);
    assert_close(sign->images_per_second.mean, 304.8, 1e-9);
    assert_close(sign->memory.mean, 912e6 + 64e6 + 324889408, 1e-3);
    assert_int_equal(batch->relative_l2.count + batch->max_error.count, 0);
    char *html = report_of(sub(folder, "c")), text[128];
    (void)snprintf(text, sizeof text, "<td>test top-1</td><td class=\"best\">%.1f%% <small>± ",
                   100 * batch->top1.mean);
    assert_says(html, text);
    assert_says(html, "class=\"band s2\"");
    free(html);
    sgi_report_summary_release(&summary);
    folder_remove(folder);
}

/* The last evaluation, the best, and the first at or above where the baseline ends. */
static void shares_are_read_as_documented(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_image_comparison(sub(folder, "c"), 1);
    folder_put(sub(folder, "c/batchnorm-1"), "metrics.jsonl",
               "{\"step\":10,\"validation\":{\"loss\":4,\"top1\":0.4,\"top5\":0.8}}\n"
               "{\"step\":20,\"validation\":{\"loss\":3,\"top1\":0.3,\"top5\":0.7}}\n");
    folder_put(sub(folder, "c/stablegrad-1"), "metrics.jsonl",
               "{\"step\":5,\"validation\":{\"loss\":null,\"top1\":null,\"top5\":null}}\n"
               "{\"step\":10,\"validation\":{\"loss\":4,\"top1\":0.2,\"top5\":0.8}}\n"
               "{\"step\":15,\"validation\":{\"loss\":4,\"top1\":0.3,\"top5\":0.8}}\n"
               "{\"step\":20,\"validation\":{\"loss\":3,\"top1\":0.5,\"top5\":0.7}}\n");
    sgi_report_summary summary = summary_of(sub(folder, "c"));
    assert_close(summary.variants[0].top1.mean, 0.3, 1e-15);
    assert_close(summary.variants[0].best_top1.mean, 0.4, 1e-15);
    assert_close(summary.variants[0].best_step.mean, 10, 0);
    assert_close(summary.variants[0].reached.mean, 10, 0);
    assert_close(summary.variants[2].reached.mean, 15, 0);
    assert_close(summary.variants[2].best_top1.mean, 0.5, 1e-15);
    assert_int_equal(summary.variants[1].reached.count, 0);
    sgi_report_summary_release(&summary);
    char *html = report_of(sub(folder, "c"));
    assert_says(html,
                "That is 20.0 points above BatchNorm, whose final top-1 it reaches at step 15");
    assert_says(html,
                "BatchNorm ends at 30.0% top-1</strong> (top-5 70.0%, loss 3.00). Its best was "
                "40.0% at step 10.");
    free(html);
    folder_remove(folder);
}

/* When a run counts as collapsed, and from when. */
static void collapse_is_told_from_trouble(void **state)
{
    (void)state;
    static const struct {
        const char *status, *events;
        double top1;  /* of 5,000 images and 100 classes; negative: not evaluated */
        double step;  /* negative: it did not collapse */
        int an_epoch; /* steps; 0: not said */
    } cases[] = {
        {"complete", "", 0.4, -1, 0},
        {"complete", "", 0.01, -1, 0},
        {"complete", "{\"kind\":\"exploded\",\"step\":8}", 0.01, 8, 0},
        {"complete", "{\"kind\":\"exploded\",\"step\":8}", 0.4, -1, 0},
        {"complete", "{\"kind\":\"exploded\",\"step\":8}", -1, 8, 0},
        /* 1.4% is within three standard deviations of guessing, 1.5% is not. */
        {"complete", "{\"kind\":\"constant\",\"step\":9}", 0.014, 9, 0},
        {"complete", "{\"kind\":\"constant\",\"step\":9}", 0.015, -1, 0},
        {"complete", "{\"kind\":\"exploded\",\"step\":8},{\"kind\":\"recovered\",\"step\":90}",
         0.01, -1, 0},
        {"complete",
         "{\"kind\":\"constant\",\"step\":200},{\"kind\":\"exploded\",\"step\":8},"
         "{\"kind\":\"recovered\",\"step\":90}",
         0.01, 200, 0},
        {"complete", "{\"kind\":\"constant\",\"step\":9}", 0.01, 9, 411},
        {"complete", "{\"kind\":\"constant\",\"step\":9}", 0.01, -1, 412},
        {"failed", "", 0.4, 411, 0},
        {"failed", "{\"kind\":\"not_finite\",\"step\":392}", 0.4, 392, 0},
        {"failed", "{\"kind\":\"unheard of\",\"step\":3,\"text\":\"odd <things>\"}", -1, 411, 0},
        {"failed", "7,null,[],{},{\"kind\":\"exploded\"},{\"step\":\"x\",\"kind\":3}", -1, 411, 0},
    };
    char *folder = folder_temporary();
    assert_int_equal(mkdir(sub(folder, "r"), 0777), 0);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "{\"task\":\"images\",\"status\":\"%s\",\"steps_done\":411,\"steps\":999,"
                       "\"steps_per_epoch\":%d,\"data\":{\"classes\":100},\"events\":[%s]}",
                       cases[c].status, cases[c].an_epoch, cases[c].events);
        folder_put(sub(folder, "r"), "run.json", text);
        (void)snprintf(text, sizeof text,
                       "{\"step\":312,\"validation\":{\"loss\":4,\"top1\":%g,\"images\":5000}}\n",
                       cases[c].top1);
        folder_put(sub(folder, "r"), "metrics.jsonl", cases[c].top1 < 0 ? "" : text);
        sgi_report_summary summary = summary_of(sub(folder, "r"));
        const sgi_statistic *collapsed = &summary.variants[0].collapsed;
        assert_int_equal(collapsed->count, cases[c].step >= 0);
        assert_true(cases[c].step < 0 || collapsed->mean == cases[c].step);
        sgi_report_summary_release(&summary);
        char *html = report_of(sub(folder, "r"));
        if (strstr(cases[c].events, "odd"))
            assert_says(html, "Step 3: odd &lt;things&gt;.");
        free(html);
    }
    folder_remove(folder);
}

static void young_and_single_runs(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_image_run(sub(folder, "young"), IMAGES_STABLEGRAD, 1, 120);
    char *html = report_of(sub(folder, "young"));
    assert_says(html, "the run has not been evaluated");
    assert_says(html, "The run was interrupted at step 120 of 3,120.");
    free(html);
    folder_image_run(sub(folder, "r"), IMAGES_STABLEGRAD, 1, IMAGES_STEPS);
    html = report_of(sub(folder, "r"));
    assert_int_equal(count_of(html, "<figure class=\"chart\">"), 4 + 2 + 2 + 3);
    assert_says(html, "What StableGrad did");
    assert_says(html, "<p class=\"told\">Step 64: ");
    assert_says(html, "1.3 GB");
    free(html);
    folder_image_run(sub(folder, "s"), IMAGES_SIGN, 1, IMAGES_STEPS);
    html = report_of(sub(folder, "s"));
    assert_says(html, "What the sign method did");
    assert_says(html, "Before the signs are taken");
    assert_says(html, "of the test images get the right class, no better than guessing.");
    assert_says(html, "<p class=\"bad\">Step 312: ");
    assert_null(strstr(html, "fter scaling"));
    assert_null(strstr(html, "Reference scale"));
    assert_null(strstr(html, "below Adam"));
    free(html);
    folder_remove(folder);
}

/* Of 171 layers twelve are drawn, the first and the last among them, and the largest. */
static void many_layers_are_thinned(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    assert_int_equal(mkdir(sub(folder, "r"), 0777), 0);
    folder_put(sub(folder, "r"), "run.json", "{\"task\":\"images\",\"data\":{\"classes\":10}}");
    char metrics[65536] = "";
    size_t used = 0;
    for (int step = 10; step <= 20; step += 10) {
        used += (size_t)snprintf(metrics + used, sizeof metrics - used,
                                 "{\"step\":%d,\"loss\":2,\"activations\":[", step);
        for (int l = 0; l < 171; l++)
            used += (size_t)snprintf(metrics + used, sizeof metrics - used,
                                     "%s{\"name\":\"layer%d\",\"std\":%g}", l ? "," : "", l,
                                     l == 100 && step == 20 ? 1e7 : 1 + 0.001 * l);
        used += (size_t)snprintf(metrics + used, sizeof metrics - used, "]}\n");
        used +=
            (size_t)snprintf(metrics + used, sizeof metrics - used, "{\"step\":%d}\n", step + 5);
    }
    folder_put(sub(folder, "r"), "metrics.jsonl", metrics);
    char *html = report_of(sub(folder, "r"));
    assert_int_equal(count_of(html, "data-label=\"layer"), 13);
    assert_says(html, "data-label=\"layer0\"");
    assert_says(html, "data-label=\"layer100\"");
    assert_says(html, "data-label=\"layer170\"");
    /* Lines without activations between those with them leave no gap: one path of two points. */
    const char *line = strstr(html, "data-label=\"layer100\" d=\"M");
    assert_non_null(line);
    assert_true(strchr(line + 25, 'L') < strchr(line + 25, '"'));
    assert_says(html, "show 12 evenly spaced layers of 171");
    assert_says(html, "<span class=\"n\">1.00e+07</span> in <code>layer100</code> at step 20");
    assert_int_equal(count_of(html, "data-label=\"step "), 2);
    /* 171 layers in threes: 57 points. */
    assert_says(html, ">layer (medians of 3)</text>");
    line = strstr(html, "data-label=\"step 10\" d=\"M");
    assert_non_null(line);
    size_t points = 1;
    for (const char *at = line + 24; *at != '"'; at++)
        points += *at == 'L';
    assert_int_equal(points, 57);
    free(html);
    folder_remove(folder);
}

/* Each of these must give a page. */
static void broken_folders_give_pages(void **state)
{
    (void)state;
    static const char *const infos[] = {
        "{\"task\":\"images\"}",
        "{\"task\":\"images\",\"data\":7,\"events\":{\"kind\":1},\"memory\":[],\"batch\":\"x\"}",
        "{\"task\":\"images\",\"data\":{\"classes\":0},\"steps_per_epoch\":0,\"steps_done\":3}",
        "{\"task\":\"images\",\"data\":{\"classes\":-5,\"kind\":\"<b>\"},\"stablegrad\":{"
        "\"method\":"
        "\"sign\"},\"events\":[{\"kind\":\"constant\",\"step\":1,\"layer\":\"<i>\\\"\"}]}",
    };
    static const char *const lines[] = {
        "",
        "{\"step\":1,\"loss\":1e7,\"top1\":null}\n{\"step\":2,\"loss\":null,\"top1\":0.1}\n"
        "{\"step\":3,\"loss\":0,\"rate\":null}\n",
        "{\"step\":0,\"activations\":[{\"name\":\"a\",\"std\":null}],\"layers\":[{\"name\":\"a\","
        "\"std\":null,\"factor\":null}]}\n",
        "{\"step\":-3,\"activations\":[{\"std\":1},5,{\"name\":\"<b>\",\"std\":0}]}\n"
        "{\"step\":1,\"validation\":{\"top1\":\"x\"}}\nnonsense\n",
        "{\"step\":1,\"activations\":{\"x\":{\"std\":3}}}\n{\"step\":2,\"validation\":5}\n",
    };
    char *folder = folder_temporary();
    assert_int_equal(mkdir(sub(folder, "r"), 0777), 0);
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++)
        for (size_t l = 0; l < sizeof lines / sizeof lines[0]; l++) {
            folder_put(sub(folder, "r"), "run.json", infos[i]);
            folder_put(sub(folder, "r"), "metrics.jsonl", lines[l]);
            char *html = report_of(sub(folder, "r"));
            assert_null(strstr(html, "<b>"));
            assert_null(strstr(html, "<i>"));
            assert_says(html, "no problem.yaml");
            free(html);
        }
    folder_remove(folder);
}

static void columns_are_found_in_any_order(void **state)
{
    (void)state;
    enum { ROWS = 40, NAMES = 500 };
    sgi_columns columns;
    sgi_columns_begin(&columns, NULL);
    for (int r = 0; r < ROWS; r++) {
        json_t *line = json_object(), *layers = json_array();
        json_object_set_new(line, "step", json_integer(r + 1));
        for (int i = 0; i < NAMES; i++) {
            int l = (i * 7 + r * 13) % NAMES; /* 7 and 500 share no factor: each once */
            char name[32];
            (void)snprintf(name, sizeof name, "block.%d", l);
            json_array_append_new(layers,
                                  json_pack("{s:s,s:f}", "name", name, "std", 1000.0 * r + l));
        }
        json_object_set_new(line, "layers", layers);
        assert_ok(sgi_columns_add(&columns, line));
        json_decref(line);
    }
    assert_int_equal(columns.count, NAMES + 1);
    for (int l = 0; l < NAMES; l++) {
        char name[48];
        (void)snprintf(name, sizeof name, "layers/block.%d/std", l);
        const double *values = sgi_columns_find(&columns, name);
        assert_non_null(values);
        for (int r = 0; r < ROWS; r++)
            assert_true(values[r] == 1000.0 * r + l);
    }
    assert_null(sgi_columns_find(&columns, "layers/block.500/std"));
    /* More names than there may be columns: the rest is left out, what is there stays right. */
    json_t *line = json_object(), *many = json_object();
    for (int i = 0; i < 6000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "n%d", i);
        json_object_set_new(many, name, json_integer(i));
    }
    json_object_set_new(line, "step", json_integer(ROWS + 1));
    json_object_set_new(line, "many", many);
    assert_ok(sgi_columns_add(&columns, line));
    json_decref(line);
    assert_int_equal(columns.count, 4096);
    assert_true(sgi_columns_last(&columns, "many/n3000") == 3000);
    assert_null(sgi_columns_find(&columns, "many/n5000"));
    assert_true(isnan(sgi_columns_last(&columns, "layers/block.3/std")));
    sgi_columns_release(&columns);
}

static void texts_of_shares_and_memory(void **state)
{
    (void)state;
    sgi_text text;
    sgi_text_begin(&text, NULL);
    static const double shares[] = {0.0102, 1, 0, NAN, INFINITY};
    static const double bytes[] = {0, 5.4e6, 999.6e6, 1.3e9, 240e9, NAN};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        sgi_text_percent(&text, shares[i]);
        sgi_text_add(&text, " ");
    }
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        sgi_text_memory(&text, bytes[i]);
        sgi_text_add(&text, " ");
    }
    assert_string_equal(text.data,
                        "1.0% 100.0% 0.0% – not finite 0 MB 5 MB 1.0 GB 1.3 GB 240 GB – ");
    sgi_text_cut(&text, 4);
    sgi_text_add(&text, "!");
    assert_string_equal(text.data, "1.0%!");
    sgi_text_release(&text);
}

static void allocations_fail_in_turn(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_image_comparison(sub(folder, "c"), 1);
    static const char *const variants[] = {"batchnorm", "plain", "stablegrad", "sign"};
    for (size_t v = 0; v < 4; v++) {
        char run[32];
        (void)snprintf(run, sizeof run, "c/%s-1", variants[v]);
        folder_put(sub(folder, run), "metrics.jsonl",
                   "{\"step\":1,\"loss\":1,\"rate\":1,\"top1\":0.5,\"reference\":1,\"layers\":[{"
                   "\"name\":\"a\",\"std\":1,\"factor\":2,\"scaled\":2}],"
                   "\"activations\":[{\"name\":\"a\",\"std\":1},{\"name\":\"b\",\"std\":2}]}\n"
                   "{\"step\":2,\"validation\":{\"loss\":1,\"top1\":0.5,\"top5\":0.6}}\n");
    }
    page_allocations_fail(sub(folder, "c"));
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_variants),
        cmocka_unit_test(numbers_are_those_of_the_runs),
        cmocka_unit_test(shares_are_read_as_documented),
        cmocka_unit_test(collapse_is_told_from_trouble),
        cmocka_unit_test(young_and_single_runs),
        cmocka_unit_test(many_layers_are_thinned),
        cmocka_unit_test(broken_folders_give_pages),
        cmocka_unit_test(columns_are_found_in_any_order),
        cmocka_unit_test(texts_of_shares_and_memory),
        cmocka_unit_test(allocations_fail_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
