/* Tables of numbers: every bit comes back, every mistake has its line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "files/csv.h"
#include "support/folders.h"
#include "support/support.h"

static void every_bit_comes_back(void **state)
{
    (void)state;
    static double a[1000], b[1000];
    static const char *const names[] = {"x", "odd, \"quoted\" name"};
    for (int i = 0; i < 1000; i++) {
        a[i] = ldexp(1.0 + i / 3.0, 2 * i % 1000 - 500);
        b[i] = -1.0 / (i + 1);
    }
    b[5] = 5e-324;
    b[6] = 1.7976931348623157e308;
    const double *values[] = {a, b};
    char *folder = folder_temporary(), path[4096];
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
    assert_ok(sgi_csv_write(path, 2, names, values, 1000, NULL, NULL));
    sgi_csv csv;
    assert_ok(sgi_csv_read(path, 1 << 20, NULL, &csv, NULL));
    assert_int_equal(csv.columns, 2);
    assert_int_equal(csv.rows, 1000);
    assert_string_equal(csv.names[1], names[1]);
    for (int i = 0; i < 1000; i++)
        assert_true(csv.values[2 * i] == a[i] && csv.values[2 * i + 1] == b[i]);
    sgi_csv_release(&csv);
    folder_remove(folder);
}

static void separators_are_found(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "1,2\n3,4\n",
        "1;2\r\n3;4\r\n",
        "  1 \t 2  \n3 4",
        "# a comment\n\n x , y \n1 , 2\n\n# another\n 3,4",
        "\"a b\" c\n1 2\n3 4\n",
        "\xef\xbb\xbf"
        "x;y\n1.0;2e0\n3;4\n",
    };
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        sgi_csv csv;
        sg_diagnostic diagnostic = {0};
        assert_ok(sgi_csv_parse(texts[t], strlen(texts[t]), "t.csv", NULL, &csv, &diagnostic));
        assert_int_equal(csv.rows, 2);
        assert_int_equal(csv.columns, 2);
        for (int i = 0; i < 4; i++)
            assert_true(csv.values[i] == i + 1);
        assert_int_equal(csv.names != NULL, t >= 3);
        sgi_csv_release(&csv);
    }
}

/* The last comment names the columns where it has a name for each. */
static void comsols_heads_are_names(void **state)
{
    (void)state;
    static const char text[] = "% Model:   a.mph\n% Expressions: 2\n"
                               "% x                y (m)    u (K) @ t=0.5   w, v\n"
                               "0  1  2  3 4\n5  6  7  8 9\n";
    static const char *const names[] = {"x", "y", "u @ t=0.5", "w", "v"};
    sgi_csv csv;
    assert_ok(sgi_csv_parse(text, sizeof text - 1, "t.txt", NULL, &csv, NULL));
    assert_int_equal(csv.columns, 5);
    assert_int_equal(csv.rows, 2);
    for (size_t c = 0; c < 5; c++)
        assert_string_equal(csv.names[c], names[c]);
    assert_true(csv.values[9] == 9);
    sgi_csv_release(&csv);
    static const char remark[] = "% two words\n0 1 2\n";
    assert_ok(sgi_csv_parse(remark, sizeof remark - 1, "t.txt", NULL, &csv, NULL));
    assert_null(csv.names);
    sgi_csv_release(&csv);
}

static void mistakes_have_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.csv:1: the file has no numbers"},
        {"# only this\n\n", "t.csv:3: the file has no numbers"},
        {"x,y\n1,2\n3\n", "t.csv:3: fewer cells than in the first line"},
        {"x,y\n1,2\n\n3,4,5\n", "t.csv:4: more cells than in the first line"},
        {"x,y\n1,2\n3,four\n", "t.csv:3: not a number: 'four'"},
        {"x,y\n1,\n", "t.csv:2: the line ends with a separator"},
        {"x,y\n,1\n", "t.csv:2: not a number: ''"},
        {"x;y\n1,5;2,5\n", "t.csv:2: numbers need a decimal point, not a comma: '1,5'"},
        {"x,\"y\n1,2\n", "t.csv:1: a quote is not closed"},
        {"\"x\"z,y\n1,2\n", "t.csv:1: text after a quoted cell"},
        {"x y\n1 2 3\n", "t.csv:2: more cells than in the first line"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        sgi_csv csv;
        sg_diagnostic diagnostic = {0};
        assert_status(
            sgi_csv_parse(cases[c].text, strlen(cases[c].text), "t.csv", NULL, &csv, &diagnostic),
            SG_ERROR_FORMAT);
        assert_string_equal(said(&diagnostic), cases[c].message);
    }
    sgi_csv csv;
    assert_status(sgi_csv_parse("1,\0002\n", 5, "t.csv", NULL, &csv, NULL), SG_ERROR_FORMAT);
    char wide[300];
    memset(wide, '1', sizeof wide);
    assert_status(sgi_csv_parse(wide, sizeof wide, "t.csv", NULL, &csv, NULL), SG_ERROR_FORMAT);
}

static void cells_may_be_holes(void **state)
{
    (void)state;
    static const char text[] = "x,y,z\n,1,\n2,NA,3\n,,\n,,4\n";
    static const double values[4][3] = {{NAN, 1, NAN}, {2, NAN, 3}, {NAN, NAN, NAN}, {NAN, NAN, 4}};
    static const char *const bad[] = {"x,y\n1,,\n", "x,y\n1\n",   "x,y\n,\n1,2,\n",
                                      "x y\n1\n",   "x,y\nN,1\n", "x,\n1,2\n"};
    sgi_csv csv;
    assert_ok(sgi_csv_parse_holes(text, sizeof text - 1, "t.csv", NULL, &csv, NULL));
    assert_int_equal(csv.rows, 4);
    for (int i = 0; i < 12; i++)
        assert_true(isnan(values[i / 3][i % 3]) ? isnan(csv.values[i])
                                                : csv.values[i] == values[i / 3][i % 3]);
    sgi_csv_release(&csv);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_status(sgi_csv_parse_holes(bad[i], strlen(bad[i]), "t.csv", NULL, &csv, NULL),
                      SG_ERROR_FORMAT);
}

/* A wide first line and many short ones do not take their product in memory. */
static void memory_is_bounded_by_the_text(void **state)
{
    (void)state;
    enum { WIDE = 100000 };
    char *text = malloc(3 * WIDE);
    for (int i = 0; i < WIDE; i++)
        memcpy(text + 2 * i, "1,", 2);
    text[2 * WIDE - 1] = '\n';
    memset(text + 2 * WIDE, '\n', WIDE);
    sgi_csv csv;
    assert_ok(sgi_csv_parse(text, 3 * WIDE, "t.csv", NULL, &csv, NULL));
    assert_int_equal(csv.columns, WIDE);
    assert_int_equal(csv.rows, 1);
    sgi_csv_release(&csv);
    free(text);
}

static sg_status refuse(void *context, const char *text, size_t size)
{
    (void)text;
    (void)size;
    return --*(int *)context < 0 ? SG_ERROR_IO : SG_OK;
}

static void a_sink_stops_the_writing(void **state)
{
    (void)state;
    static const char *const names[] = {"a", ""};
    static double column[500];
    const double *values[] = {column, column};
    for (int allowed = 0; allowed < 6; allowed++) {
        int left = allowed;
        assert_status(sgi_csv_emit(refuse, &left, 2, names, values, 500), SG_ERROR_IO);
        assert_int_equal(left, -1);
    }
}

static sg_status parse_small(const sg_allocator *allocator, void *context)
{
    (void)context;
    static const char text[] = "x,y\n1,2\n";
    sg_diagnostic diagnostic = {0};
    sgi_csv csv;
    sg_status status = sgi_csv_parse(text, sizeof text - 1, "t.csv", allocator, &csv, &diagnostic);
    assert_string_equal(said(&diagnostic), status == SG_OK ? "" : "t.csv: out of memory");
    if (status == SG_OK)
        sgi_csv_release(&csv);
    return status;
}

static void allocations_fail_in_turn(void **state)
{
    (void)state;
    each_allocation_fails(parse_small, NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_comes_back),     cmocka_unit_test(separators_are_found),
        cmocka_unit_test(comsols_heads_are_names),  cmocka_unit_test(mistakes_have_their_line),
        cmocka_unit_test(cells_may_be_holes),       cmocka_unit_test(memory_is_bounded_by_the_text),
        cmocka_unit_test(a_sink_stops_the_writing), cmocka_unit_test(allocations_fail_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
