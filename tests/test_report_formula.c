/* Expressions as MathML. */
#include <stdlib.h>
#include <string.h>

#include "report/formula.h"
#include "support/pages.h"
#include "support/support.h"

/* The formula, to be freed. */
static char *formula_of(const char *source, bool zero)
{
    sgi_text out;
    sgi_text_begin(&out, NULL);
    sgi_formula(&out, source, zero);
    assert_ok(out.status);
    char *copy = strdup(out.data);
    assert_non_null(copy);
    sgi_text_release(&out);
    return copy;
}

static void expressions_are_typeset(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        bool zero;
        const char *whole;
    } cases[] = {
        {"u_xx", false, "<mrow><msub><mi>u</mi><mrow><mi>x</mi><mi>x</mi></mrow></msub></mrow>"},
        {"nu", false, "<mrow><mi>ν</mi></mrow>"},
        {"a - 1", true, "<mrow><mi>a</mi><mo>−</mo><mn>1</mn><mo>=</mo><mn>0</mn></mrow>"},
        {"a = -b", true, "<mrow><mi>a</mi><mo>=</mo><mo form=\"prefix\">−</mo><mi>b</mi></mrow>"},
        {"(a + b)/k^2", false,
         "<mrow><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mrow><msup><mrow><mi>k</mi></"
         "mrow>"
         "<mrow><mn>2</mn></mrow></msup></mrow></mfrac></mrow>"},
        {"1e-04", false, "<mrow><msup><mn>10</mn><mrow><mo>−</mo><mn>4</mn></mrow></msup></mrow>"},
        {"lap(u)", false, "<mrow><msup><mo>∇</mo><mn>2</mn></msup><mi>u</mi></mrow>"},
        {"sqrt(x)", false, "<mrow><msqrt><mi>x</mi></msqrt></mrow>"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char *made = formula_of(cases[c].source, cases[c].zero);
        assert_string_equal(made, cases[c].whole);
        free(made);
    }
}

/* A difference from the right keeps its parentheses; the order of operations is the language's. */
static void structure_is_kept(void **state)
{
    (void)state;
    char *made = formula_of("a - (b - c)*min(x, 2)", false);
    assert_int_equal(count_of(made, "<mo stretchy=\"false\">(</mo>"), 2);
    assert_int_equal(count_of(made, "<mo>−</mo>"), 2);
    assert_int_equal(count_of(made, "<mo>,</mo>"), 1);
    free(made);
    made = formula_of("cos(x/2)", false);
    assert_int_equal(count_of(made, "stretchy=\"true\""), 2);
    free(made);
    made = formula_of("-a^2", false);
    assert_non_null(strstr(made, "−</mo><msup>"));
    free(made);
}

/* What is no expression, or nested beyond reason, stands there as text, made harmless. */
static void the_rest_is_text(void **state)
{
    (void)state;
    static const char *const sources[] = {"", "a +", "sin(", "a b", "(a", "<script>", "a,b", "f()"};
    for (size_t s = 0; s < sizeof sources / sizeof sources[0]; s++) {
        char *made = formula_of(sources[s], true);
        assert_non_null(strstr(made, "<mtext>"));
        assert_null(strstr(made, "<script>"));
        free(made);
    }
    char deep[4096];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = 0;
    char *made = formula_of(deep, false);
    assert_non_null(strstr(made, "<mtext>"));
    free(made);
    memset(deep, '-', sizeof deep - 1);
    free(formula_of(deep, false));
    for (size_t i = 0; i + 2 < sizeof deep; i += 2)
        memcpy(deep + i, "a+", 2);
    deep[sizeof deep - 2] = 'a';
    made = formula_of(deep, false);
    assert_non_null(strstr(made, "<mtext>"));
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_typeset),
        cmocka_unit_test(structure_is_kept),
        cmocka_unit_test(the_rest_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
