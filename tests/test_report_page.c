/* The report of whole and of broken run folders. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/npz.h"
#include "report/kind.h"
#include "report/report.h"
#include "support/folders.h"
#include "support/pages.h"
#include "support/support.h"

static char *report_of(const char *folder)
{
    static const char *const order[] = {"id=\"result\"",  "id=\"curves\"",  "id=\"solution\"",
                                        "id=\"scaling\"", "id=\"numbers\"", "id=\"problem\"",
                                        "id=\"repeat\""};
    char *html = page_of(folder, order, sizeof order / sizeof order[0]);
    /* Nothing of an image run's page. */
    assert_null(strstr(html, "id=\"inside\""));
    assert_null(strstr(html, "id=\"task\""));
    assert_null(strstr(html, "top-1"));
    assert_null(strstr(html, "hance"));
    return html;
}

/* Takes the sliders out of a page: what is left is what is seen without a script, and in print. */
static size_t remove_sliders(char *html)
{
    static const char end[] = "</div>\n</div>\n";
    size_t count = 0;
    for (char *at; (at = strstr(html, "<div class=\"slider\" hidden=\"hidden\">")); count++) {
        char *after = strstr(at, end) + sizeof end - 1;
        char *input = strstr(at, "<input type=\"range\" min=\"0\"");
        assert_true(input && input < after);
        assert_null(memmem(at, (size_t)(after - at), "data-at=\"\"", 10));
        memmove(at, after, strlen(after) + 1);
    }
    return count;
}

static void every_kind_has_its_pictures(void **state)
{
    (void)state;
    static const struct {
        folder_kind kind;
        size_t sliders, maps, images, charts;
    } cases[] = {
        /* images: a colour bar for each figure, and the planes */
        {FOLDER_ODE, 0, 0, 0, 4 + 2 + 3 + 3 + 2},
        {FOLDER_BURGERS, 0, 3, 3 + 3 + 2 + 2, 4 + 3 + 3 + 3 + 2},
        {FOLDER_HEAT, 1, 2, 2 + 6 + 6, 2 + 3 + 3 + 2},
        {FOLDER_HELMHOLTZ, 2, 3, 3 + 9 + 6 + 6, 4 + 2 + 3 + 2},
        {FOLDER_BURGERS3D, 3 + 3, 9, 9 + 3 * (9 + 6 + 6), 4 + 4 + 3 + 2}, /* no chart of rounding */
    };
    char *folder = folder_temporary();
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char name[16];
        (void)snprintf(name, sizeof name, "c%zu", c);
        folder_comparison(sub(folder, name), cases[c].kind, 1);
        char *html = report_of(sub(folder, name));
        assert_int_equal(remove_sliders(html), cases[c].sliders);
        assert_int_equal(count_of(html, "<svg class=\"maps\""), cases[c].maps);
        assert_int_equal(count_of(html, "data:image/png;base64,iVBOR"), cases[c].images);
        assert_int_equal(count_of(html, "<figure class=\"chart\">"), cases[c].charts);
        free(html);
    }
    folder_remove(folder);
}

/* The page of a running run reads itself again; that of one that has ended does not. */
static void running_pages_follow_the_run(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_HEAT, true, 0, 1200);
    assert_ok(sgi_report_write_running(sub(folder, "r"), NULL, NULL));
    char *html = folder_text(sub(folder, "r"), "report.html");
    assert_non_null(strstr(html, "location.reload()"));
    assert_non_null(strstr(html, "<noscript><meta http-equiv=\"refresh\""));
    assert_non_null(strstr(html, "this page follows it: step 1,200 of 5,000"));
    free(html);
    html = report_of(sub(folder, "r"));
    assert_null(strstr(html, "location.reload()"));
    assert_null(strstr(html, "http-equiv=\"refresh\""));
    free(html);
    folder_remove(folder);
}

static void put_array(sgi_npz *npz, const char *name, size_t rows, size_t columns,
                      const double *values)
{
    assert_ok(
        sgi_npz_add(npz, name, SG_ARRAY_FLOAT64, 2, (const size_t[]){rows, columns}, values, NULL));
}

/* Measured data have a table, their points on the map, and their differences; a damaged file leaves
 * the pictures out. */
static void measured_data_are_shown(void **state)
{
    (void)state;
    static const double points[] = {0.1, 0.2, 0.4, 0.5, -0.7, 0.9}, held[] = {0, 0, 1};
    static const double values[] = {1, NAN, 3}, predicted[] = {1.5, NAN, 2}, stds[] = {0.5, NAN, 1};
    char *folder = folder_temporary(), *run = sub(folder, "r");
    folder_run(run, FOLDER_BURGERS, true, 0, 5000);
    char *html = report_of(run);
    assert_null(strstr(html, "id=\"data\""));
    free(html);
    char *text = folder_text(run, "run.json"), *with = malloc(strlen(text) + 400);
    sprintf(with,
            "{\"measured\":[{\"name\":\"<probes>\",\"observed\":[\"u\"],\"trained\":2,"
            "\"held_out\":1,\"missing\":1,\"deviations\":true}],%s",
            strchr(text, '{') + 1);
    folder_put(run, "run.json", with);
    for (int damaged = 0; damaged < 2; damaged++) {
        sgi_npz *npz;
        char path[512];
        (void)snprintf(path, sizeof path, "%s/data.npz", run);
        assert_ok(sgi_npz_create(&npz, path, NULL, NULL));
        put_array(npz, "points_0", 3, 2, points);
        put_array(npz, "held_out_0", 3, 1, held);
        put_array(npz, "values_0", 1, damaged ? 2 : 3, values);
        put_array(npz, "predicted_0", 1, 3, predicted);
        put_array(npz, "stds_0", 1, 3, stds);
        assert_ok(sgi_npz_commit(npz, NULL));
        html = report_of(run);
        const char *section = strstr(html, "<section id=\"data\">");
        assert_non_null(section);
        assert_non_null(strstr(section, "&lt;probes&gt;"));
        assert_int_equal(count_of(section, "<circle"), damaged ? 0 : 2);
        assert_int_equal(count_of(section, "Differences along"), damaged ? 0 : 4);
        free(html);
    }
    free(text);
    free(with);
    folder_remove(folder);
}

/* Runs whose kernels were measured have a section for it: 8 charts, a table of the variant that has
 * them, the sign of the margin. */
static void kernels_have_their_section(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_ODE, 1);
    char *before = report_of(sub(folder, "c"));
    assert_null(strstr(before, "id=\"diagnosis\""));
    folder_diagnoses(sub(folder, "c/stablegrad"), 0);
    char *html = report_of(sub(folder, "c"));
    const char *section = strstr(html, "id=\"diagnosis\"");
    assert_non_null(section);
    assert_true(section > strstr(html, "id=\"scaling\"") &&
                section < strstr(html, "id=\"numbers\""));
    assert_int_equal(count_of(html, "<figure class=\"chart\">"),
                     count_of(before, "<figure class=\"chart\">") + 8);
    assert_non_null(strstr(section,
                           "AdamW + StableGrad (output): the condition of the theorem held "
                           "at 1"));
    assert_non_null(strstr(section, "of 20 measurements"));
    assert_int_equal(count_of(section, "<th>M<sub>SG</sub></th>"), 1);
    assert_non_null(strstr(section, "<tr><td>250</td>"));
    assert_non_null(strstr(section, "<tr><td>5,000</td>"));
    free(before);
    free(html);
    folder_remove(folder);
}

static void put_second_step(FILE *file, int step, double loss, bool quasi)
{
    bool failed = step == 14, rounded = step == 17; /* lowers it by less than is written */
    fprintf(file, ",\"second\":{\"method\":\"%s\",\"points\":%d,", quasi ? "lbfgs" : "levenberg",
            step > 15 ? 1050 : 700);
    if (quasi)
        fprintf(file, "\"damping\":null,\"gain\":null,\"length\":%g,", failed ? 0 : 0.5);
    else
        fprintf(file, "\"damping\":%g,\"gain\":%s,\"length\":null,", pow(10, 8 - step),
                failed ? "null" : "0.9");
    fprintf(file, "\"tries\":1,\"loss_after\":%g,\"draws\":%d}",
            failed || rounded ? loss : loss / 2, (step - 7) / 4);
}

/* Lines of a run in two stages, AdamW and then second order, in the place of its own, and its
 * stages in run.json. */
static void put_second(const char *folder, const char *stages, bool quasi)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int step = 1; step <= 20; step++) {
        double loss = pow(10, -step / 4.0);
        fprintf(file, "{\"step\":%d,\"seconds\":%g,\"loss\":%g,\"terms\":{},\"stage\":%d", step,
                0.5 * step, loss, step > 10 ? 2 : 1);
        if (step > 10)
            put_second_step(file, step, loss, quasi);
        else
            fprintf(file,
                    ",\"outcome\":\"scaled\",\"reference\":1e-9,\"ratio_raw\":40,"
                    "\"ratio_scaled\":1,\"layers\":[{\"name\":\"a\",\"std\":0.1,\"factor\":10,"
                    "\"scaled\":1},{\"name\":\"b\",\"std\":4,\"factor\":0.25,\"scaled\":1}]");
        fprintf(file, "}\n");
        if (step % 5 == 0)
            fprintf(file,
                    "{\"step\":%d,\"seconds\":%g,\"validation\":{\"loss\":%g},\"error\":{\"all\":"
                    "{\"relative_l2\":%g,\"max\":%g}}}\n",
                    step, 0.5 * step, loss, sqrt(loss), sqrt(loss));
    }
    assert_int_equal(fclose(file), 0);
    char *info = folder_text(folder, "run.json"),
         *more = malloc(strlen(info) + strlen(stages) + 16);
    assert_non_null(more);
    sprintf(more, "{\"stages\":%s,%s", stages, info + 1);
    folder_put(folder, "run.json", more);
    free(more);
    free(info);
}

/* Runs with steps of second order have a section for them: 5 charts of Levenberg-Marquardt, each
 * with a mark where its stage begins. */
static void steps_of_second_order_have_their_section(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, false, 0, 5000);
    char *before = report_of(sub(folder, "r"));
    assert_null(strstr(before, "id=\"second\""));
    put_second(sub(folder, "r"), "[\"AdamW\",\"Levenberg-Marquardt <b>\"]", false);
    char *html = report_of(sub(folder, "r"));
    char *section = strstr(html, "id=\"second\""), *end = strstr(html, "id=\"solution\"");
    assert_non_null(section);
    assert_non_null(end);
    assert_true(section > strstr(html, "id=\"curves\"") && section < end);
    *end = '\0';
    assert_non_null(strstr(section, "Points were drawn 3 times; there were 700 in the domain at "
                                    "first and 1,050 at the end. "));
    assert_non_null(strstr(section, "Of 10 recorded steps 1 found no lower loss"));
    assert_int_equal(count_of(section, "<figure class=\"chart\">"), 5);
    assert_int_equal(count_of(section, "Levenberg-Marquardt &lt;b&gt;"), 6);
    assert_null(strstr(section, "Length of the step<"));
    free(before);
    free(html);
    folder_remove(folder);
}

/* The gain or the length says which steps failed, not the losses, which are rounded: above for
 * Levenberg-Marquardt, here for a line search. */
static void steps_in_vain_are_counted_by_their_length(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, false, 0, 5000);
    put_second(sub(folder, "r"), "[\"AdamW\",\"L-BFGS\"]", true);
    char *html = report_of(sub(folder, "r"));
    assert_non_null(strstr(html, "Of 10 recorded steps 1 found no lower loss, after which points "
                                 "were drawn anew.</p>"));
    assert_non_null(strstr(html, "Length of the step<"));
    free(html);
    folder_remove(folder);
}

/* What was rescaled in a stage is told and drawn, with the stage; its steps are not those of the
 * run. */
static void rescaling_of_a_stage_is_told(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 0, 5000);
    put_second(sub(folder, "r"),
               "[{\"name\":\"AdamW <b>\",\"optimizer\":\"adamw\",\"adam_eps\":1e-8,"
               "\"stablegrad\":{\"method\":\"stablegrad\",\"reference\":\"norm\","
               "\"blocks\":\"tensor\",\"from\":5,\"until\":8}},"
               "{\"name\":\"Levenberg-Marquardt\",\"optimizer\":\"levenberg\"}]",
               false);
    char *html = report_of(sub(folder, "r"));
    char *section = strstr(html, "id=\"scaling\""), *end = strstr(html, "id=\"numbers\"");
    assert_non_null(section);
    assert_non_null(end);
    *end = '\0';
    assert_null(strstr(section, "it was off"));
    assert_non_null(strstr(section,
                           "<p>Active in stage 1, AdamW &lt;b&gt;, from its step 6 on; reference "
                           "scale <em>norm</em>, blocks <em>tensor</em>. While it was active the "
                           "largest layer scale was 40.0 times the smallest"));
    assert_int_equal(count_of(section, "<figure class=\"chart\">"), 4);
    assert_non_null(strstr(section, "c has been below Adam’s eps"));
    assert_null(strstr(section, "StableGrad ends")); /* no line tells of a hand-over */
    free(html);
    folder_remove(folder);
}

static void the_sentence_and_the_table_agree(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_BURGERS, 3);
    sgi_report_summary summary;
    assert_ok(sgi_report_summarise(&summary, sub(folder, "c"), NULL, NULL));
    assert_int_equal(summary.count, 2);
    const sgi_report_variant *base = &summary.variants[0], *v = &summary.variants[1];
    assert_string_equal(v->name, "stablegrad");
    assert_int_equal(v->runs, 3);
    assert_int_equal(v->validation.count, 3);
    assert_true(v->validation.mean < base->validation.mean && v->validation.spread > 0);
    assert_true(v->reached.mean < base->reached.mean && v->reached.count == 3);
    assert_true(base->steps.mean == 5000 && base->steps.spread == 0);
    assert_close(v->seconds.mean, 51, 1e-9);
    assert_ptr_equal(summary.kind, &sgi_report_problem);
    assert_true(isnan(summary.chance) && isnan(v->top1.mean));
    assert_int_equal(v->top1.count + v->best_top1.count + v->collapsed.count + v->skipped.count, 0);
    char *html = report_of(sub(folder, "c")), text[256];
    char mean[16], spread[16];
    (void)snprintf(mean, sizeof mean, "%.2e", v->validation.mean);
    (void)snprintf(spread, sizeof spread, "%.2e", v->validation.spread);
    mean[5] = spread[5] = 0; /* what follows is the exponent's minus, a typographic one */
    (void)snprintf(text, sizeof text, "validation loss of <span class=\"n\">%s−%s</span>, ", mean,
                   mean + 6);
    assert_non_null(strstr(html, text));
    (void)snprintf(text, sizeof text,
                   "<td class=\"best\"><span class=\"n\">%s−%s</span> <small>± <span "
                   "class=\"n\">%s−%s</span></small></td>",
                   mean, mean + 6, spread, spread + 6);
    assert_non_null(strstr(html, text));
    assert_non_null(strstr(html, "standard deviation over 3 seeds"));
    assert_non_null(strstr(html, "class=\"band s1\""));
    assert_non_null(strstr(html, "<th>seed</th><td>1, 2, 3</td>"));
    free(html);
    sgi_report_summary_release(&summary);
    folder_remove(folder);
}

/* The baseline's final loss is a mean that one of its seeds reaches halfway and the other never:
 * the comparison is with its end. */
static void sooner_than_the_end_of_the_baseline(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_ODE, 2);
    static const char *const losses[] = {"{\"step\":2500,\"validation\":{\"loss\":0.1}}\n"
                                         "{\"step\":5000,\"validation\":{\"loss\":0.1}}\n",
                                         "{\"step\":2500,\"validation\":{\"loss\":0.5}}\n"
                                         "{\"step\":5000,\"validation\":{\"loss\":0.3}}\n",
                                         "{\"step\":1000,\"validation\":{\"loss\":0.1}}\n"};
    folder_put(sub(folder, "c/adamw-1"), "metrics.jsonl", losses[0]);
    folder_put(sub(folder, "c/adamw-2"), "metrics.jsonl", losses[1]);
    folder_put(sub(folder, "c/stablegrad-1"), "metrics.jsonl", losses[2]);
    folder_put(sub(folder, "c/stablegrad-2"), "metrics.jsonl", losses[2]);
    char *html = report_of(sub(folder, "c"));
    assert_non_null(strstr(html, " It reaches AdamW’s final validation loss at step 1,000, 5 times "
                                 "sooner than AdamW itself, at step 5,000."));
    assert_null(strstr(html, "± 0<"));
    free(html);
    folder_remove(folder);
}

/* How long StableGrad was active, by what a run was told and by what it did. */
static void the_window_is_told_as_it_was(void **state)
{
    (void)state;
    static const struct {
        int done;
        const char *stablegrad, *metrics, *said;
    } cases[] = {
        {1, "\"from\":0,\"until\":0", "", "It was active in no step;"},
        {100, "\"from\":0,\"until\":50", "", "Active in the first 50 steps, off after that;"},
        {100, "\"from\":20,\"until\":50", "", "Active from step 21 to step 50, off after that;"},
        {20, "\"from\":0,\"until\":50", "", "Active in all steps so far, to be off after step 50;"},
        {100, "\"from\":0,\"until\":null", "", "Active during the whole run;"},
        {100, "\"from\":0,\"until\":50", "{\"step\":31,\"loss\":1,\"handover\":\"raw\"}\n",
         "Active in the first 30 steps, off after that;"},
        {100, "\"from\":0,\"until\":null", "{\"step\":41,\"loss\":1,\"handover\":\"raw\"}\n",
         "Active in the first 40 steps, off after that;"}};
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 100);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char info[512], metrics[512];
        (void)snprintf(info, sizeof info,
                       "{\"status\":\"running\",\"steps\":100,\"steps_done\":%d,\"stablegrad\":{"
                       "\"method\":\"stablegrad\",\"reference\":\"output\",%s}}",
                       cases[i].done, cases[i].stablegrad);
        (void)snprintf(metrics, sizeof metrics, "{\"step\":1,\"loss\":1}\n%s", cases[i].metrics);
        folder_put(sub(folder, "r"), "run.json", info);
        folder_put(sub(folder, "r"), "metrics.jsonl", metrics);
        char *html = report_of(sub(folder, "r"));
        assert_non_null(strstr(html, cases[i].said));
        assert_true(!strstr(html, "StableGrad ends") == !strstr(cases[i].said, "off after that"));
        assert_non_null(strstr(html, "of 100 when this page was written: it was still running, or "
                                     "was killed."));
        free(html);
    }
    folder_remove(folder);
}

static void first_step_at_or_below(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_ODE, 1);
    folder_put(sub(folder, "c/adamw"), "metrics.jsonl",
               "{\"step\":100,\"validation\":{\"loss\":0.5}}\n"
               "{\"step\":200,\"validation\":{\"loss\":0.25}}\n");
    folder_put(sub(folder, "c/stablegrad"), "metrics.jsonl",
               "{\"step\":50,\"validation\":{\"loss\":null}}\n"
               "{\"step\":60,\"validation\":{\"loss\":0.3}}\n"
               "{\"step\":70,\"validation\":{\"loss\":0.25}}\n"
               "{\"step\":80,\"validation\":{\"loss\":null}}\n");
    sgi_report_summary summary;
    assert_ok(sgi_report_summarise(&summary, sub(folder, "c"), NULL, NULL));
    assert_true(summary.variants[0].reached.mean == 200);
    assert_true(summary.variants[1].reached.mean == 70);
    assert_true(isinf(summary.variants[1].validation.mean));
    assert_int_equal(summary.variants[1].relative_l2.count, 0);
    sgi_report_summary_release(&summary);
    char *html = report_of(sub(folder, "c"));
    assert_non_null(strstr(html, "a validation loss that is not finite"));
    free(html);
    folder_remove(folder);
}

/* The last evaluation of the better run is a spike: final and lowest are both said, the medians
 * decide, and the curve gets one. */
static void a_spike_at_the_end_does_not_mislead(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_ODE, 1);
    char steady[2048] = "", spiked[2048] = "";
    for (int i = 1; i <= 6; i++) {
        static const double better[] = {0.4, 0.02, 0.04, 0.01, 0.03, 0.5};
        static const char row[] = "{\"step\":%d,\"validation\":{\"loss\":%g},\"error\":{\"all\":{"
                                  "\"relative_l2\":%g,\"max\":1}}}\n";
        size_t a = strlen(steady), b = strlen(spiked);
        (void)snprintf(steady + a, sizeof steady - a, row, 100 * i, 1.0 / i, 0.6 / i);
        (void)snprintf(spiked + b, sizeof spiked - b, row, 100 * i, better[i - 1], better[i - 1]);
    }
    folder_put(sub(folder, "c/adamw"), "metrics.jsonl", steady);
    folder_put(sub(folder, "c/stablegrad"), "metrics.jsonl", spiked);
    sgi_report_summary summary;
    assert_ok(sgi_report_summarise(&summary, sub(folder, "c"), NULL, NULL));
    const sgi_report_variant *base = &summary.variants[0], *v = &summary.variants[1];
    assert_true(v->restless && !base->restless);
    assert_true(v->relative_l2.mean == 0.5 && v->lowest_l2.mean == 0.01);
    assert_true(v->lowest_l2_step.mean == 400 && v->lowest_validation_step.mean == 400);
    assert_true(v->median_l2.mean == 0.03 && v->median_validation.mean == 0.03);
    assert_true(base->lowest_l2_step.mean == 600 && base->lowest_l2.mean == base->relative_l2.mean);
    assert_close(base->median_l2.mean, 0.15, 1e-12);
    sgi_report_summary_release(&summary);
    char *html = report_of(sub(folder, "c"));
    assert_non_null(strstr(html, "; at its lowest, at step 400, it is "));
    assert_non_null(strstr(html, "’s lowest: "));
    assert_non_null(strstr(html, "The median of the last five relative L2 errors is "));
    assert_non_null(strstr(html, ", 5 times below AdamW’s "));
    assert_non_null(strstr(html, "Dashed: the median"));
    assert_int_equal(count_of(html, ", median\""), 2);
    free(html);
    folder_remove(folder);
}

/* The first window has the lowest loss, and it is not that of the network at the end. */
static void windows_are_not_mixed(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_ODE, 1);
    char windows[2048] = "";
    for (int i = 1; i <= 8; i++) {
        static const double losses[] = {1e-6, 1e-9, 0.9, 0.8, 0.5, 0.6, 0.4, 0.45};
        size_t a = strlen(windows);
        (void)snprintf(windows + a, sizeof windows - a,
                       "{\"step\":%d,\"validation\":{\"loss\":%g},\"window\":%d}\n", 100 * i,
                       losses[i - 1], i <= 2 ? 1 : 2);
    }
    folder_put(sub(folder, "c/adamw"), "metrics.jsonl",
               "{\"step\":100,\"validation\":{\"loss\":0.5}}\n");
    folder_put(sub(folder, "c/stablegrad"), "metrics.jsonl", windows);
    sgi_report_summary summary;
    assert_ok(sgi_report_summarise(&summary, sub(folder, "c"), NULL, NULL));
    const sgi_report_variant *v = &summary.variants[1];
    assert_true(v->lowest_validation.mean == 0.4 && v->lowest_validation_step.mean == 700);
    assert_true(v->median_validation.mean == 0.5 && v->reached.mean == 500);
    sgi_report_summary_release(&summary);
    folder_remove(folder);
}

/* Points in a plane of x and t, or of as many numbers as `width`. */
static void put_points(const char *folder, size_t width)
{
    const double points[12] = {0.1, 0.2, 0.5, 0.9, -1, 0.4, 1, 0.6, 0, 0, 0, 1};
    const double lines[8] = {0, -1, 1, -1, 0, 1, 1, 1};
    char path[4096];
    sgi_npz *npz;
    (void)snprintf(path, sizeof path, "%s/points.npz", folder);
    assert_ok(sgi_npz_create(&npz, path, NULL, NULL));
    assert_ok(sgi_npz_add(npz, "middle", SG_ARRAY_FLOAT64, 1, &width, points, NULL));
    assert_ok(
        sgi_npz_add(npz, "outline", SG_ARRAY_FLOAT64, 2, (const size_t[]){2, 4}, lines, NULL));
    assert_ok(sgi_npz_add(npz, "set_domain", SG_ARRAY_FLOAT64, 2, (const size_t[]){2, width},
                          points, NULL));
    assert_ok(
        sgi_npz_add(npz, "set_a<b", SG_ARRAY_FLOAT64, 2, (const size_t[]){4, width}, points, NULL));
    assert_ok(sgi_npz_commit(npz, NULL));
}

static void the_domain_is_drawn(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 5000);
    char *html = report_of(sub(folder, "r"));
    assert_null(strstr(html, "id=\"domain\"")); /* of a run that has no such file */
    free(html);
    put_points(sub(folder, "r"), 2);
    html = report_of(sub(folder, "r"));
    const char *begin = strstr(html, "id=\"domain\"");
    assert_non_null(begin);
    assert_true(begin > strstr(html, "id=\"result\"") && begin < strstr(html, "id=\"curves\""));
    char *end = strstr(begin, "</section>");
    *end = '\0';
    assert_non_null(strstr(begin, "a&lt;b"));
    assert_int_equal(count_of(begin, "h0"), 6); /* dots */
    assert_int_equal(count_of(begin, "<svg viewBox=\"0 0 560"), 1);
    free(html);
    put_points(sub(folder, "r"), 3); /* that do not fit the run's coordinates */
    html = report_of(sub(folder, "r"));
    assert_null(strstr(html, "id=\"domain\""));
    free(html);
    folder_put(sub(folder, "r"), "points.npz", "no archive");
    html = report_of(sub(folder, "r"));
    assert_null(strstr(html, "id=\"domain\""));
    free(html);
    folder_remove(folder);
}

static void the_problem_is_stated(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 5000);
    folder_put(sub(folder, "r"), "problem.yaml",
               "coordinates: {x: [-1, 1], t: [0, 1]}\nfields: [u]\nconstants: {nu: 1e-4}\n"
               "equations: {momentum: {expression: u_t + u*u_x - nu*u_xx, weight: 1}}\n"
               "conditions:\n  initial: {at: t = 0, u: -sin(pi*x), points: 9}\n"
               "  ends: {at: x = -1 | x = 1, u: 0}\n  loop: {periodic: [x], slopes: true}\n");
    char *html = report_of(sub(folder, "r"));
    assert_non_null(strstr(html, "<a href=\"#statement\">The problem</a>"));
    assert_non_null(strstr(html, "<a href=\"#solution\">The solution</a>"));
    assert_non_null(strstr(html, "<th>unknown</th><td><math>"));
    assert_non_null(strstr(html, "momentum: u_t + u*u_x - nu*u_xx = 0\n"));
    assert_non_null(strstr(html, "initial: u = -sin(pi*x) at t = 0\n"));
    assert_non_null(strstr(html, "ends: u = 0 at x = -1 and x = 1\n"));
    assert_non_null(strstr(html, "loop: periodic in x, slopes too\n"));
    assert_non_null(strstr(html, "where: nu = 1e-4\n"));
    free(html);
    folder_put(sub(folder, "r"), "problem.yaml", "equations: [\n");
    html = report_of(sub(folder, "r"));
    assert_null(strstr(html, "id=\"statement\""));
    free(html);
    folder_remove(folder);
}

/* Sentences that once read badly. */
static void sentences_read_well(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 5000);
    folder_put(sub(folder, "r"), "run.json",
               "{\"name\":\"r\",\"status\":\"failed\",\"steps_done\":1,\"steps\":60,\"seconds\":2,"
               "\"reason\":\"step 1: 20 steps skipped. Stopped.\",\"reference_misfit\":\"the "
               "reference is off by 1\",\"stablegrad\":{\"method\":\"stablegrad\"}}\n");
    folder_put(sub(folder, "r"), "metrics.jsonl",
               "{\"step\":1,\"loss\":165,\"skipped\":1,\"outcome\":\"scaled\"}\n"
               "{\"step\":1,\"validation\":{\"loss\":165}}\n");
    char *html = report_of(sub(folder, "r"));
    assert_non_null(strstr(html, "After 1 step in 2"));
    assert_non_null(
        strstr(html, "This run failed at step 1 of 60: 20 steps skipped. Stopped.</p>"));
    assert_non_null(strstr(html, "does not solve the problem: it is off by 1. The errors"));
    assert_non_null(strstr(html, " 1 step was skipped because"));
    assert_non_null(strstr(html, "the validation loss is 165.</strong>"));
    assert_null(strstr(html, ">0.90</text>"));
    free(html);
    folder_remove(folder);
}

static void hostile_names_are_harmless(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 5000);
    static const char bad[] = "<script>alert('x')</script>\\\" onload=\\\"y";
    char info[4096];
    (void)snprintf(info, sizeof info,
                   "{\"title\":\"%s\",\"label\":\"%s\",\"network\":\"%s\",\"command\":\"%s\","
                   "\"machine\":\"%s\",\"reason\":\"%s\",\"status\":\"failed\","
                   "\"coordinates\":[{\"name\":\"x\"},{\"name\":\"t\"}],\"fields\":[\"u\"],"
                   "\"terms\":[\"%s\"],\"stablegrad\":{\"method\":\"%s\",\"reference\":\"%s\"}}",
                   bad, bad, bad, bad, bad, bad, bad, bad, bad);
    folder_put(sub(folder, "r"), "run.json", info);
    char metrics[2048];
    (void)snprintf(metrics, sizeof metrics,
                   "{\"step\":1,\"loss\":1,\"terms\":{\"%s\":1},\"reference\":1,\"ratio_raw\":2,"
                   "\"layers\":[{\"name\":\"%s\",\"std\":1,\"scaled\":2}]}\n",
                   bad, bad);
    folder_put(sub(folder, "r"), "metrics.jsonl", metrics);
    folder_put(sub(folder, "r"), "problem.yaml", "</pre><script>alert(1)</script>\x01\xff\xc3(&");
    char *html = report_of(sub(folder, "r"));
    assert_int_equal(count_of(html, "<script>"), 1);
    assert_int_equal(count_of(html, "\" onload"), 0);
    assert_non_null(strstr(html, "&lt;script&gt;alert(1)"));
    assert_non_null(strstr(html, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd(&amp;"));
    free(html);
    folder_remove(folder);
}

/* Methods in StableGrad's place are called by their names, and have no reference scale. */
static void neighbours_are_named(void **state)
{
    (void)state;
    static const char *const methods[][2] = {{"znorm", "What ZNorm did"}, {"agc", "What AGC did"}};
    for (size_t m = 0; m < 2; m++) {
        char *folder = folder_temporary(), info[400];
        folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 5000);
        (void)snprintf(info, sizeof info,
                       "{\"status\":\"complete\",\"steps\":5000,\"steps_done\":5000,"
                       "\"coordinates\":[{\"name\":\"x\"},{\"name\":\"t\"}],\"fields\":[\"u\"],"
                       "\"stablegrad\":{\"method\":\"%s\",\"until\":2500}}",
                       methods[m][0]);
        folder_put(sub(folder, "r"), "run.json", info);
        char *html = report_of(sub(folder, "r"));
        assert_non_null(strstr(html, methods[m][1]));
        assert_non_null(strstr(html, "there is no reference scale"));
        assert_null(strstr(html, "Reference scale c"));
        assert_null(strstr(html, "StableGrad ends"));
        free(html);
        folder_remove(folder);
    }
}

static void missing_parts_are_said(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_BURGERS, true, 1, 1234);
    assert_int_equal(unlink(sub(folder, "r/field.npz")), 0);
    assert_int_equal(unlink(sub(folder, "r/problem.yaml")), 0);
    folder_put(sub(folder, "r"), "metrics.jsonl", "");
    char *html = report_of(sub(folder, "r"));
    assert_non_null(strstr(html, "No field to show: there is no field.npz"));
    assert_non_null(strstr(html, "interrupted at step 1,234 of 5,000"));
    assert_non_null(strstr(html, "No metrics were recorded"));
    assert_non_null(strstr(html, "no problem.yaml"));
    assert_non_null(strstr(html, "has not been evaluated"));
    free(html);
    assert_int_equal(unlink(sub(folder, "r/metrics.jsonl")), 0);
    free(report_of(sub(folder, "r")));
    folder_put(sub(folder, "r"), "field.npz", "PK but not much else, far from an archive");
    folder_put(sub(folder, "r"), "metrics.jsonl",
               "{\"step\":10,\"loss\":1}\nnonsense\n[1]\n{\"loss\":2}\n{\"step\":20,\"loss\":null,"
               "\"terms\":{\"momentum\":null}}\n{\"step\":30,\"lo");
    html = report_of(sub(folder, "r"));
    assert_non_null(strstr(html, "4 lines of metrics.jsonl could not be read"));
    assert_non_null(strstr(html, "field.npz: the archive has no directory"));
    free(html);
    folder_put(sub(folder, "r"), "run.json", "{}");
    free(report_of(sub(folder, "r")));
    folder_remove(folder);
}

/* A run that was resumed writes some steps a second time: the second time counts. */
static void resumed_steps_replace_the_old(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_ODE, true, 1, 5000);
    folder_put(
        sub(folder, "r"), "metrics.jsonl",
        "{\"step\":10,\"validation\":{\"loss\":1}}\n{\"step\":20,\"validation\":{\"loss\":2}}\n"
        "{\"step\":30,\"validation\":{\"loss\":3}}\n"
        "{\"step\":20,\"validation\":{\"loss\":4}}\n");
    sgi_report_summary summary;
    assert_ok(sgi_report_summarise(&summary, sub(folder, "r"), NULL, NULL));
    assert_true(summary.variants[0].validation.mean == 4);
    assert_true(summary.variants[0].reached.mean == 10);
    sgi_report_summary_release(&summary);
    folder_remove(folder);
}

static void the_handover_is_told(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_run(sub(folder, "r"), FOLDER_ODE, true, 1, 5000);
    const char *const after[] = {"0.019", "0.5"};
    for (size_t jump = 0; jump < 2; jump++) {
        char lines[600];
        (void)snprintf(
            lines, sizeof lines,
            "{\"step\":100,\"loss\":0.01,\"outcome\":\"scaled\"}\n"
            "{\"step\":101,\"loss\":0.01,\"outcome\":\"inactive\",\"handover\":\"raw\"}\n"
            "{\"step\":200,\"loss\":0.01,\"after_handover\":{\"step\":101,\"loss\":0.01,"
            "\"highest\":%s,\"highest_step\":130}}\n",
            after[jump]);
        folder_put(sub(folder, "r"), "metrics.jsonl", lines);
        char *html = report_of(sub(folder, "r"));
        assert_non_null(strstr(html, "At step 101 the gradients became raw ones"));
        assert_non_null(strstr(html, "moments were converted"));
        assert_true((strstr(html, "The loss jumped") != NULL) == (jump == 1));
        assert_true((strstr(html, "The loss did not jump") != NULL) == (jump == 0));
        assert_true((strstr(html, "at step 130") != NULL) == (jump == 1));
        free(html);
    }
    folder_remove(folder);
}

static void unfinished_comparisons_are_said(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_HEAT, 2);
    assert_int_equal(unlink(sub(folder, "c/stablegrad-2/run.json")), 0);
    char *html = report_of(sub(folder, "c"));
    assert_non_null(strstr(html, "Not run yet: stablegrad-2."));
    free(html);
    assert_int_equal(unlink(sub(folder, "c/stablegrad-1/run.json")), 0);
    html = report_of(sub(folder, "c"));
    assert_non_null(strstr(html, "Not run yet: stablegrad-1, stablegrad-2."));
    assert_non_null(strstr(html, "has no validation loss yet"));
    free(html);
    folder_remove(folder);
}

static void unusable_folders_are_refused(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    sg_diagnostic diagnostic = {0};
    assert_status(sgi_report_write(folder, NULL, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "run.json: No such file"));
    folder_put(folder, "run.json", "{\"name\": ");
    assert_status(sgi_report_write(folder, NULL, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), "run.json:1:"));
    folder_put(folder, "run.json", "[]");
    assert_status(sgi_report_write(folder, NULL, &diagnostic), SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), "run.json: not a JSON object"));
    static const char *const lists[] = {
        "{}", "{\"variants\":[]}", "{\"variants\":[{\"runs\":[\"../x\"]}]}",
        "{\"variants\":[{\"runs\":[7]}]}", "{\"variants\":[{\"runs\":[\"a/b\"]}]}"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        folder_put(folder, "compare.json", lists[i]);
        assert_status(sgi_report_write(folder, NULL, &diagnostic), SG_ERROR_FORMAT);
        assert_non_null(strstr(said(&diagnostic), "compare.json"));
    }
    folder_put(folder, "compare.json", "{\"variants\":[{\"name\":\"a\",\"runs\":[\"a\"]}]}");
    assert_status(sgi_report_write(folder, NULL, &diagnostic), SG_ERROR_IO);
    assert_non_null(strstr(said(&diagnostic), "none of the runs"));
    folder_remove(folder);
}

static void allocations_fail_in_turn(void **state)
{
    (void)state;
    char *folder = folder_temporary();
    folder_comparison(sub(folder, "c"), FOLDER_ODE, 2);
    for (int v = 0; v < 2; v++) {
        char *run = sub(folder, v ? "c/stablegrad-1" : "c/adamw-1");
        folder_put(run, "metrics.jsonl",
                   "{\"step\":1,\"loss\":1,\"layers\":[{\"name\":\"a\",\"std\":1}]}\n"
                   "{\"step\":2,\"validation\":{\"loss\":1}}\n");
    }
    page_allocations_fail(sub(folder, "c"));
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_pictures),
        cmocka_unit_test(running_pages_follow_the_run),
        cmocka_unit_test(measured_data_are_shown),
        cmocka_unit_test(kernels_have_their_section),
        cmocka_unit_test(steps_of_second_order_have_their_section),
        cmocka_unit_test(steps_in_vain_are_counted_by_their_length),
        cmocka_unit_test(rescaling_of_a_stage_is_told),
        cmocka_unit_test(the_sentence_and_the_table_agree),
        cmocka_unit_test(first_step_at_or_below),
        cmocka_unit_test(sooner_than_the_end_of_the_baseline),
        cmocka_unit_test(the_window_is_told_as_it_was),
        cmocka_unit_test(a_spike_at_the_end_does_not_mislead),
        cmocka_unit_test(windows_are_not_mixed),
        cmocka_unit_test(the_domain_is_drawn),
        cmocka_unit_test(the_problem_is_stated),
        cmocka_unit_test(sentences_read_well),
        cmocka_unit_test(hostile_names_are_harmless),
        cmocka_unit_test(neighbours_are_named),
        cmocka_unit_test(missing_parts_are_said),
        cmocka_unit_test(resumed_steps_replace_the_old),
        cmocka_unit_test(the_handover_is_told),
        cmocka_unit_test(unfinished_comparisons_are_said),
        cmocka_unit_test(unusable_folders_are_refused),
        cmocka_unit_test(allocations_fail_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
