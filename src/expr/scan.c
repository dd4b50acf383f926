/* The scanner of expressions, and what mistakes are answered with. See parser.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/functions.h"
#include "expr/parser.h"

/* ---- Mistakes ----------------------------------------------------------------------------- */

typedef struct hint {
    const char *written, *advice;
} hint;

/* Signs that people write in other languages or on paper, and what to write here. */
static const hint signs[] = {
    {"'", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {":", "write ="},
    {"&", "\"and\" is a product of comparisons: (x > 0)*(x < 1)"},
    {"|", "an absolute value is written abs(u)"},
    {"%", "a remainder is written mod(a, b)"},
    {"[", "only ( ) group"},
    {"{", "only ( ) group, and a subscript stands alone: u_xx"},
    {"\xE2\x88\x92", "a minus is written -"},
    {"\xE2\x80\x93", "a minus is written -"},
    {"\xC2\xB7", "a product is written with *"},
    {"\xC3\x97", "a product is written with *"},
    {"\xC3\xB7", "a quotient is written with /"},
    {"\xC2\xB2", "powers are written with ^, as u^2"},
    {"\xC2\xB3", "powers are written with ^, as u^3"},
    {"\xE2\x88\x9A", "a root is written sqrt(x)"},
    {"\xE2\x89\xA4", "write <="},
    {"\xE2\x89\xA5", "write >="},
    {"\xE2\x89\xA0", "write !="},
    {"\xE2\x88\x82", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"\xE2\x88\x87", "the Laplacian is written lap(u), derivatives u_x"},
    {"\xCE\x94", "the Laplacian is written lap(u)"},
};

/* Names that people know from other programs, and what to write here. */
static const hint names[] = {
    {"e", "powers of e are written exp(x)"},
    {"np", "functions stand alone: sin(x), not np.sin(x)"},
    {"numpy", "functions stand alone: sin(x)"},
    {"math", "functions stand alone: sin(x), and pi"},
    {"torch", "functions stand alone: sin(x)"},
    {"tf", "functions stand alone: sin(x)"},
    {"jnp", "functions stand alone: sin(x)"},
    {"d", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"D", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"i", "numbers are real: write the real and the imaginary part as two fields"},
    {"I", "numbers are real: write the real and the imaginary part as two fields"},
    {"j", "numbers are real: write the real and the imaginary part as two fields"},
    {"periodic", "as in  {periodic: x}, in place of at"},
    {"dde", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"du", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"diff", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"grad", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"gradient", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"jacobian", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"hessian", "derivatives are written by subscript: u_x, u_xx, u_t"},
    {"laplacian", "the Laplacian is written lap(u)"},
    {"laplace", "the Laplacian is written lap(u)"},
    {"absolute", "did you mean 'abs'?"},
    {"fabs", "did you mean 'abs'?"},
};

static const char *find_hint(const hint *hints, size_t count, const char *text, size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(hints[i].written) == length && memcmp(hints[i].written, text, length) == 0)
            return hints[i].advice;
    return NULL;
}

bool sgi_parse_fail_at(sgi_parser *p, size_t begin, size_t end)
{
    if (p->status != SG_OK)
        return false;
    p->status = SG_ERROR_FORMAT;
    sgi_yaml_place(p->diagnostic, p->node, begin, end > begin ? end - begin : 1);
    return true;
}

int sgi_token_length(sgi_token t)
{
    size_t n = t.end - t.begin;
    return n > 60 ? 60 : (int)n;
}

static bool is_comparison(const sgi_parser *p)
{
    return p->token.kind == SG_TOKEN_SIGN && !sgi_parse_at(p, "=") &&
           strchr("<>=!", p->text[p->token.begin]);
}

/* What was probably meant by a token that cannot stand here; NULL when nothing comes to mind. */
static const char *advise(const sgi_parser *p)
{
    sgi_token t = p->token;
    const char *text = p->text + t.begin;
    const sgi_source *source = p->node->source;
    if (t.kind == SG_TOKEN_END)
        return p->node->style == SG_YAML_PLAIN && p->node->end < source->size &&
                       source->text[p->node->end] == ','
                   ? "inside { } a comma ends the value: put the expression in quotes"
                   : NULL;
    if (t.kind == SG_TOKEN_NAME && t.end - t.begin == 2 && memcmp(text, "or", 2) == 0)
        return "places are joined by |, as in  at: x = 0 | x = 1";
    if (t.kind == SG_TOKEN_NAME || t.kind == SG_TOKEN_NUMBER || sgi_parse_at(p, "("))
        return "a product is written with *";
    if (sgi_parse_at(p, "*") && t.begin > 0 && text[-1] == '*')
        return "powers are written with ^";
    if (sgi_parse_at(p, "=") && p->open > 0)
        return "comparisons are written with ==";
    if (sgi_parse_at(p, "="))
        return p->reading == SG_READ_VALUE ? "one value belongs here, without ="
                                           : "one = is enough";
    return find_hint(signs, sizeof signs / sizeof signs[0], text, t.end - t.begin);
}

void sgi_parse_fail_unexpected(sgi_parser *p)
{
    sgi_token t = p->token;
    if (p->status != SG_OK)
        return;
    const char *advice = advise(p);
    if (t.kind == SG_TOKEN_END) {
        SG_PARSE_FAIL(p, t.begin, t.end, "the expression ends too early %s", p->scope->place);
    } else if (p->reading == SG_READ_EQUATION && p->open == 0 && is_comparison(p)) {
        SG_PARSE_FAIL(p, t.begin, t.end, "'%.*s' %s compares: its value is 1 or 0, and no equation",
                      sgi_token_length(t), p->text + t.begin, p->scope->place);
        advice = p->equated ? "a comparison that is meant stands in parentheses" : "write =";
    } else {
        SG_PARSE_FAIL(p, t.begin, t.end, "unexpected '%.*s' %s", sgi_token_length(t),
                      p->text + t.begin, p->scope->place);
    }
    if (advice)
        sgi_diagnostic_suggest(p->diagnostic, "%s", advice);
}

/* "dprey" beside a field of the name prey, "dt" beside a coordinate. */
static bool is_differential(const sgi_parser *p, const char *name, size_t length)
{
    sgi_name_kind kind = length > 1 && name[0] == 'd'
                             ? sgi_names_kind(p->scope->names, name + 1, length - 1)
                             : SG_NAME_NONE;
    return kind == SG_NAME_FIELD || kind == SG_NAME_COORDINATE;
}

void sgi_parse_fail_unknown(sgi_parser *p, sgi_token t)
{
    const char *name = p->text + t.begin;
    size_t length = t.end - t.begin;
    if (p->status != SG_OK)
        return;
    if (sgi_function_find(name, length).name || (length == 3 && memcmp(name, "lap", 3) == 0)) {
        bool word = p->token.kind == SG_TOKEN_NAME || p->token.kind == SG_TOKEN_NUMBER;
        SG_PARSE_FAIL(p, t.begin, t.end, "the function '%.*s' needs its argument in parentheses %s",
                      sgi_token_length(t), name, p->scope->place);
        sgi_diagnostic_suggest(p->diagnostic, "as in  %.*s(%.*s)", sgi_token_length(t), name,
                               word ? sgi_token_length(p->token) : 1,
                               word ? p->text + p->token.begin : "x");
        return;
    }
    SG_PARSE_FAIL(p, t.begin, t.end, "unknown name '%.*s' %s", sgi_token_length(t), name,
                  p->scope->place);
    const char *advice = find_hint(names, sizeof names / sizeof names[0], name, length);
    if (!advice && is_differential(p, name, length))
        advice = "derivatives are written by subscript: u_x, u_xx, u_t";
    if (advice) {
        sgi_diagnostic_suggest(p->diagnostic, "%s", advice);
        return;
    }
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, name, length);
    sgi_names_offer(p->scope, &nearest);
    sgi_nearest_suggest(&nearest, p->diagnostic);
}

/* ---- Tokens ------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The end of the word that starts at `at`: letters, digits and underscores, or the letter pi. */
static size_t word_end(const sgi_parser *p, size_t at)
{
    if (p->end - at >= 2 && memcmp(p->text + at, SG_GREEK_PI, 2) == 0)
        return at + 2;
    while (at < p->end && is_word(p->text[at]))
        at++;
    return at;
}

static size_t scan_digits(const sgi_parser *p, size_t at)
{
    while (at < p->end && is_digit(p->text[at]))
        at++;
    return at;
}

static void scan_number(sgi_parser *p, sgi_token *t)
{
    char copy[64];
    size_t at = scan_digits(p, t->begin);
    if (at < p->end && p->text[at] == '.')
        at = scan_digits(p, at + 1);
    if (at < p->end && (p->text[at] == 'e' || p->text[at] == 'E')) {
        size_t exponent = at + 1;
        if (exponent < p->end && (p->text[exponent] == '+' || p->text[exponent] == '-'))
            exponent++;
        if (exponent < p->end && is_digit(p->text[exponent]))
            at = scan_digits(p, exponent);
    }
    t->kind = SG_TOKEN_NUMBER;
    t->end = at;
    size_t n = at - t->begin;
    if (n >= sizeof copy) {
        SG_PARSE_FAIL(p, t->begin, t->end, "a number of more than 60 digits");
        return;
    }
    memcpy(copy, p->text + t->begin, n);
    copy[n] = 0;
    char *stop;
    t->value = strtod(copy, &stop);
    if (*stop || !isfinite(t->value))
        SG_PARSE_FAIL(p, t->begin, t->end, "'%s' is not a number that can be used", copy);
    size_t word = word_end(p, at);
    if (word > at) {
        int shown = (int)(word - at > 40 ? 40 : word - at);
        SG_PARSE_FAIL(p, t->begin, word, "an operator is missing between '%s' and '%.*s'", copy,
                      shown, p->text + at);
        sgi_diagnostic_suggest(p->diagnostic, "a product is written %s*%.*s", copy, shown,
                               p->text + at);
    }
}

static void scan_sign(sgi_parser *p, sgi_token *t)
{
    static const char *const pairs[] = {"<=", ">=", "==", "!="};
    const char *at = p->text + t->begin;
    t->end = t->begin + 1;
    t->kind = strchr("+-*/^(),<>=", *at) ? SG_TOKEN_SIGN : SG_TOKEN_BAD;
    for (size_t i = 0; i < 4 && t->end < p->end; i++) {
        if (memcmp(pairs[i], at, 2) == 0) {
            t->end = t->begin + 2;
            t->kind = SG_TOKEN_SIGN;
        }
    }
    while (t->kind == SG_TOKEN_BAD && t->end < p->end &&
           ((unsigned char)p->text[t->end] & 0xC0) == 0x80)
        t->end++; /* a whole UTF-8 character */
}

void sgi_parse_advance(sgi_parser *p)
{
    sgi_token t = {.begin = p->token.end};
    while (t.begin < p->end && strchr(" \t\r\n", p->text[t.begin]))
        t.begin++;
    t.end = t.begin;
    char c = t.begin < p->end ? p->text[t.begin] : 0;
    if (c == 0) {
        t.kind = SG_TOKEN_END;
    } else if (is_digit(c) ||
               (c == '.' && t.begin + 1 < p->end && is_digit(p->text[t.begin + 1]))) {
        scan_number(p, &t);
    } else if (c != '_' && word_end(p, t.begin) > t.begin) {
        t.kind = SG_TOKEN_NAME;
        t.end = word_end(p, t.begin);
    } else {
        scan_sign(p, &t);
    }
    p->token = t;
}

bool sgi_parse_at(const sgi_parser *p, const char *sign)
{
    return p->token.kind == SG_TOKEN_SIGN && strlen(sign) == p->token.end - p->token.begin &&
           memcmp(sign, p->text + p->token.begin, strlen(sign)) == 0;
}

bool sgi_parse_take(sgi_parser *p, const char *sign)
{
    if (!sgi_parse_at(p, sign))
        return false;
    p->open += (*sign == '(') - (*sign == ')');
    sgi_parse_advance(p);
    return true;
}
