/* Axes, thinning, resampling, colours, PNG, slices and VTK files: the parts of the pictures,
 * checked a second way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "draw/axis.h"
#include "draw/chart.h"
#include "draw/colour.h"
#include "draw/maps.h"
#include "draw/png.h"
#include "files/vti.h"
#include "report/field_grid.h"
#include "support/folders.h"
#include "support/support.h"

static void ticks_are_round_and_inside(void **state)
{
    (void)state;
    for (int k = -12; k <= 12; k++)
        for (double width = 1; width < 10; width += 0.37) {
            double ticks[SG_TICKS_MAX], low = 1.234 * pow(10, k);
            sgi_axis axis = {false, -low, -low + width * pow(10, k), 0, 100};
            size_t count = sgi_axis_ticks(&axis, 5, ticks);
            assert_true(count >= 2 && count <= 7);
            for (size_t i = 0; i < count; i++) {
                double place = sgi_axis_place(&axis, ticks[i]);
                assert_true(place >= -0.001 && place <= 100.001);
                double digits = ticks[i] / pow(10, k - 1);
                assert_close(digits, round(digits), 1e-6);
            }
            sgi_axis logs = {true, low, low * pow(10, width), 0, 100};
            count = sgi_axis_ticks(&logs, 6, ticks);
            assert_true(count >= 2 && count <= 7);
            for (size_t i = 0; i < count; i++)
                assert_true(ticks[i] >= 0.99 * logs.low && ticks[i] <= 1.01 * logs.high);
        }
}

static void empty_and_flat_ranges_settle(void **state)
{
    (void)state;
    static const double values[][2] = {{NAN, NAN}, {3, 3}, {0, 0}, {1e-300, 1}, {-2, 5}};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
        for (int log = 0; log < 2; log++) {
            sgi_axis axis;
            sgi_axis_clear(&axis, log);
            sgi_axis_include(&axis, values[v][0]);
            sgi_axis_include(&axis, values[v][1]);
            sgi_axis_include(&axis, INFINITY);
            sgi_axis_settle(&axis, 0.05);
            assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
            assert_true(!log || axis.low > 0);
        }
}

static void thinning_keeps_the_envelope(void **state)
{
    (void)state;
    enum { COUNT = 50000, MOST = 600 };
    double *y = malloc(COUNT * sizeof *y);
    size_t *kept = malloc(COUNT * sizeof *kept);
    for (size_t i = 0; i < COUNT; i++)
        y[i] = sin((double)i * 0.37);
    y[31234] = 1000;
    y[31235] = -1000;
    y[777] = NAN;
    size_t count = sgi_chart_thin(y, COUNT, MOST, kept);
    assert_true(count <= MOST && count > MOST / 2);
    assert_int_equal(kept[0], 0);
    assert_int_equal(kept[count - 1], COUNT - 1);
    bool high = false, low = false;
    for (size_t k = 0; k < count; k++) {
        assert_true(k == 0 || kept[k] > kept[k - 1]);
        high |= kept[k] == 31234;
        low |= kept[k] == 31235;
    }
    assert_true(high && low);
    assert_int_equal(sgi_chart_thin(y, 10, MOST, kept), 10);
    assert_int_equal(sgi_chart_thin(y, 0, MOST, kept), 0);
    free(y);
    free(kept);
}

static void resampling_keeps_what_it_says(void **state)
{
    (void)state;
    double from[100], to[400];
    for (int i = 0; i < 100; i++)
        from[i] = 2.0 * i + 1;
    /* A linear function is interpolated exactly, at the middles of the stretches. */
    sgi_resample(from, 100, 1, to, 400, 1, true);
    for (int k = 0; k < 400; k++)
        assert_relative(to[k], 2 * ((k + 0.5) / 400 * 99) + 1, 1e-13);
    /* Means keep the mean, extremes keep the spike. */
    from[41] = -500;
    sgi_resample(from, 100, 1, to, 25, 1, false);
    double sum = 0, all = 0, least = 0;
    for (int k = 0; k < 25; k++)
        sum += to[k];
    for (int i = 0; i < 100; i++)
        all += from[i];
    assert_relative(sum * 4, all, 1e-13);
    sgi_resample(from, 50, 2, to, 7, 3, true);
    for (int k = 0; k < 7; k++)
        least = fmin(least, to[3 * k]);
    assert_true(least == 0); /* index 41 is not among the even ones */
    sgi_resample(from, 100, 1, to, 7, 1, true);
    for (int k = 0; k < 7; k++)
        least = fmin(least, to[k]);
    assert_true(least == -500);
    sgi_resample(from, 1, 1, to, 5, 1, false);
    assert_true(to[0] == 1 && to[4] == 1);
}

/* CIE lightness of an sRGB colour: another way than OKLab to see that the maps rise evenly. */
static double lightness(const unsigned char rgb[3])
{
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    double y = 0;
    for (int i = 0; i < 3; i++) {
        double s = rgb[i] / 255.0;
        y += weight[i] * (s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4));
    }
    return 116 * cbrt(fmax(y, 0.008856)) - 16;
}

static void colours_rise_evenly(void **state)
{
    (void)state;
    unsigned char before[3], rgb[3];
    sgi_colour_at(SG_MAP_SEQUENTIAL, 0, before);
    assert_true(lightness(before) < 15);
    for (int i = 1; i <= 20; i++) {
        sgi_colour_at(SG_MAP_SEQUENTIAL, i / 20.0, rgb);
        double step = lightness(rgb) - lightness(before);
        assert_true(step > 2 && step < 6.5);
        memcpy(before, rgb, 3);
    }
    assert_true(lightness(before) > 85);
    for (int i = 0; i <= 10; i++) { /* both arms of the diverging map are equally light */
        unsigned char left[3], right[3];
        sgi_colour_at(SG_MAP_DIVERGING, 0.5 - i / 20.0, left);
        sgi_colour_at(SG_MAP_DIVERGING, 0.5 + i / 20.0, right);
        assert_true(fabs(lightness(left) - lightness(right)) < 5);
        assert_true(i < 3 || (left[2] > left[0] && right[0] > right[2]));
    }
    char hex[8];
    sgi_colour_hex(SG_MAP_DIVERGING, 0.5, hex);
    assert_true(hex[0] == '#' && strlen(hex) == 7);
}

static size_t from_base64(const char *text, unsigned char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = 0;
    uint32_t bits = 0;
    for (size_t i = 0; text[i] && text[i] != '='; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
        if (i % 4 != 0)
            out[size++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    return size;
}

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Decodes the picture again: chunks with right checksums, and the pixels in them. */
static void png_decodes_to_its_pixels(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 21 };
    unsigned char pixels[HEIGHT][WIDTH], palette[255][3] = {{1, 2, 3}};
    for (size_t r = 0; r < HEIGHT; r++)
        for (size_t i = 0; i < WIDTH; i++)
            pixels[r][i] = (unsigned char)((r * WIDTH + i) * i % 256);
    sgi_text out;
    sgi_text_begin(&out, NULL);
    sgi_png_base64(&out, pixels[0], WIDTH, HEIGHT, (const unsigned char(*)[3])palette);
    assert_ok(out.status);
    unsigned char *file = malloc(out.size), rows[HEIGHT][WIDTH + 1];
    size_t size = from_base64(out.data, file);
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
    bool ended = false, decoded = false;
    for (size_t at = 8; at < size;) {
        uint32_t length = big_endian(file + at);
        const unsigned char *type = file + at + 4, *data = file + at + 8;
        assert_int_equal(crc32_z(0, type, length + 4), big_endian(data + length));
        if (memcmp(type, "IHDR", 4) == 0) {
            assert_int_equal(big_endian(data), WIDTH);
            assert_int_equal(big_endian(data + 4), HEIGHT);
        }
        if (memcmp(type, "IDAT", 4) == 0) {
            unsigned long got = sizeof rows;
            assert_int_equal(uncompress(rows[0], &got, data, length), Z_OK);
            assert_int_equal(got, sizeof rows);
            for (size_t r = 0; r < HEIGHT; r++) {
                assert_int_equal(rows[r][0], 0);
                assert_memory_equal(rows[r] + 1, pixels[r], WIDTH);
            }
            decoded = true;
        }
        ended = memcmp(type, "IEND", 4) == 0;
        at += length + 12;
    }
    assert_true(ended && decoded);
    free(file);
    sgi_text_release(&out);
}

static void text_is_made_harmless(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
        {"x\ty\n\r\x7f", "x\ty\n\xef\xbf\xbd"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc0\xaf|\xed\xa0\x80|\xf5|\xe2\x82",
         "\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd"
         "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        sgi_text text;
        sgi_text_begin(&text, NULL);
        sgi_text_escape(&text, cases[c].in);
        assert_string_equal(text.data, cases[c].out);
        sgi_text_release(&text);
    }
}

static void numbers_read_well(void **state)
{
    (void)state;
    sgi_text text;
    sgi_text_begin(&text, NULL);
    static const double numbers[] = {2.884e-4, 0.5, 12.345, 123456, 0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sgi_text_number(&text, numbers[i]);
        sgi_text_add(&text, "|");
    }
    static const double counts[] = {0, 999, 1000, -1234567};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sgi_text_count(&text, counts[i]);
        sgi_text_add(&text, "|");
    }
    static const double times[] = {1.25, 51.4, 725, 12000, NAN};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        sgi_text_duration(&text, times[i]);
        sgi_text_add(&text, "|");
    }
    assert_string_equal(text.data, "<span class=\"n\">2.88e−04</span>|0.500|12.3|<span "
                                   "class=\"n\">1.23e+05</span>|0|–|not finite|"
                                   "0|999|1,000|−1,234,567|1.2 s|51 s|12 min 5 s|3 h 20 min|–|");
    sgi_text_release(&text);
}

/* One step has whole steps around it; a curve on another is dashed, in the picture and in the
 * legend; the label of a vertical mark stands above the lines. */
static void lines_and_labels_are_told_apart(void **state)
{
    (void)state;
    static const double step[] = {1}, steps[] = {1, 2, 3}, y[] = {1, 2, 3};
    sgi_text text;
    sgi_text_begin(&text, NULL);
    sgi_line one = {.label = "a", .x = step, .y = y, .count = 1};
    sgi_chart chart = {.title = "one",
                       .x_label = "step",
                       .y_label = "y",
                       .width = 400,
                       .height = 200,
                       .lines = &one,
                       .line_count = 1};
    sgi_chart_draw(&text, &chart);
    assert_ok(text.status);
    assert_null(strstr(text.data, ">0.90</text>"));
    assert_null(strstr(text.data, "class=\"mid\">0.5</text>"));
    assert_non_null(strstr(text.data, "class=\"mid\">1</text>"));
    sgi_text_cut(&text, 0);
    sgi_line two[] = {{.label = "a", .x = steps, .y = y, .count = 3},
                      {.label = "b", .colour = 1, .x = steps, .y = y, .count = 3}};
    sgi_mark mark = {2, true, "here"};
    chart.lines = two;
    chart.line_count = 2;
    chart.legend = true;
    chart.marks = &mark;
    chart.mark_count = 1;
    sgi_chart_draw(&text, &chart);
    assert_ok(text.status);
    const char *dashed = strstr(text.data, "line dashed s1");
    assert_non_null(dashed);
    assert_non_null(strstr(dashed + 1, "line dashed s1"));
    assert_null(strstr(text.data, "line dashed s0"));
    assert_non_null(strstr(text.data, "y=\"17\">here</text>"));
    double low, high, begin, end;
    const char *range = strstr(text.data, "data-y=\"");
    assert_non_null(range);
    assert_int_equal(sscanf(range, "data-y=\"%lf %lf %lf %lf", &low, &high, &begin, &end), 4);
    assert_true(end > 17);
    sgi_text_release(&text);
}

/* A grid whose value at each point is made of its indices, so that a plane shows where it lies. */
static void slices_go_where_they_should(void **state)
{
    (void)state;
    static const double axis[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static double values[9 * 9 * 9 * 9];
    sgi_field_grid grid = {
        .rank = 4, .names = {"x", "t", "y", "z"}, .count = 9 * 9 * 9 * 9, .time = 1};
    for (size_t d = 0; d < 4; d++) {
        grid.axes[d] = axis;
        grid.shape[d] = 9;
        grid.stride[d] = (size_t)pow(9, (double)(3 - d));
    }
    for (size_t i = 0; i < grid.count; i++)
        values[i] = i % 9 == 4 ? 0 : 1; /* nothing at z = 4, the middle */
    sgi_view view;
    sgi_view_choose(&view, &grid, values);
    assert_int_equal(view.count, 3);
    assert_string_equal(view.planes[0].x_name, "x");
    assert_string_equal(view.planes[0].y_name, "y");
    assert_string_equal(view.titles[0], "t = 0, z = 3");
    assert_string_equal(view.titles[2], "t = 8, z = 3");
    assert_int_equal(view.offset[1], 4 * 81 + 3);
    assert_int_equal(view.planes[0].x_stride, 729);
    assert_int_equal(view.planes[0].y_stride, 9);
    grid.rank = 2;
    grid.names[0] = "t";
    grid.names[1] = "x";
    grid.time = 0;
    sgi_view_choose(&view, &grid, values);
    assert_int_equal(view.count, 1);
    assert_string_equal(view.planes[0].x_name, "t"); /* time goes across */
    grid = (sgi_field_grid){.rank = 3, .names = {"x", "y", "z"}, .count = 729, .time = 3};
    for (size_t d = 0; d < 3; d++) {
        grid.axes[d] = axis;
        grid.shape[d] = 9;
        grid.stride[d] = (size_t)pow(9, (double)(2 - d));
    }
    sgi_view_choose(&view, &grid, NULL);
    assert_false(view.same_axes);
    assert_string_equal(view.titles[0], "z = 4");
    assert_string_equal(view.titles[2], "x = 4");
    assert_string_equal(view.planes[2].x_name, "y");
}

/* The value that a .vti file's array `index` has at image point (i, j, k). */
static double vti_value(const char *file, size_t size, size_t index, const size_t *counts, size_t i,
                        size_t j, size_t k)
{
    const char *data = memmem(file, size, "encoding=\"raw\">\n_", 17);
    assert_non_null(data);
    uint64_t bytes;
    size_t array = counts[0] * counts[1] * counts[2] * 8;
    data += 17 + index * (array + 8);
    memcpy(&bytes, data, 8);
    assert_int_equal(bytes, array);
    double value;
    memcpy(&value, data + 8 + 8 * (i + counts[0] * (j + counts[1] * k)), 8);
    return value;
}

static void vti_holds_the_field(void **state)
{
    (void)state;
    static double axes[4][7] = {{0, .5, 1, 1.5}, {-1, 0, 1}, {2, 3}, {0, 1, 2, 3, 4, 5, 6}};
    sgi_vti_grid grid = {.names = {"x", "y", "t", "w"}, .shape = {4, 3, 2, 7}};
    static double values[4 * 3 * 2 * 7];
    for (size_t i = 0; i < 168; i++)
        values[i] = (double)i;
    for (size_t d = 0; d < 4; d++)
        grid.axes[d] = axes[d];
    sgi_vti_field field = {"a<b", values};
    char *folder = folder_temporary(), path[4096];
    sg_diagnostic diagnostic = {0};
    static char file[65536];
    (void)snprintf(path, sizeof path, "%s/f.vti", folder);
    static const size_t counts[5][3] = {{0}, {4, 1, 1}, {4, 3, 1}, {4, 3, 2}, {4, 3, 7}};
    for (grid.rank = 1; grid.rank <= 4; grid.rank++) {
        assert_ok(sgi_vti_write(path, &grid, &field, 1, NULL, &diagnostic));
        FILE *in = fopen(path, "rb");
        size_t size = fread(file, 1, sizeof file - 1, in);
        fclose(in);
        const size_t *n = counts[grid.rank];
        char text[128];
        (void)snprintf(text, sizeof text, "WholeExtent=\"0 %zu 0 %zu 0 %zu\"", n[0] - 1, n[1] - 1,
                       n[2] - 1);
        assert_non_null(memmem(file, size, text, strlen(text)));
        for (size_t i = 0; i < n[0]; i++)
            for (size_t j = 0; j < n[1]; j++)
                for (size_t k = 0; k < n[2]; k++) {
                    size_t last[5] = {0, i, i * 3 + j, (i * 3 + j) * 2 + k,
                                      ((i * 3 + j) * 2 + 1) * 7 + k};
                    /* With four, t is cut: array 1 of 2 holds its last value. */
                    assert_true(vti_value(file, size, grid.rank == 4, n, i, j, k) ==
                                (double)last[grid.rank]);
                }
        if (grid.rank == 3)
            assert_non_null(memmem(file, size, "Origin=\"0 -1 2\" Spacing=\"0.5 1 1\"", 33));
        if (grid.rank == 4)
            assert_non_null(memmem(file, size, "Name=\"a&lt;b t=3\"", 17));
    }
    grid.rank = 2;
    axes[1][1] = 0.1;
    assert_status(sgi_vti_write(path, &grid, &field, 1, NULL, &diagnostic), SG_ERROR_UNSUPPORTED);
    assert_non_null(strstr(said(&diagnostic), "along y are not evenly spaced"));
    grid.rank = 0;
    assert_status(sgi_vti_write(path, &grid, &field, 1, NULL, NULL), SG_ERROR_ARGUMENT);
    failing_allocator counter = {.fail_at = 0};
    sg_allocator allocator = failing(&counter);
    grid.rank = 1;
    assert_status(sgi_vti_write(path, &grid, &field, 1, &allocator, NULL), SG_ERROR_MEMORY);
    assert_int_equal(counter.live, 0);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(empty_and_flat_ranges_settle),
        cmocka_unit_test(thinning_keeps_the_envelope),
        cmocka_unit_test(resampling_keeps_what_it_says),
        cmocka_unit_test(colours_rise_evenly),
        cmocka_unit_test(png_decodes_to_its_pixels),
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(numbers_read_well),
        cmocka_unit_test(lines_and_labels_are_told_apart),
        cmocka_unit_test(slices_go_where_they_should),
        cmocka_unit_test(vti_holds_the_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
