/* Expressions as MathML: see formula.h. A text becomes a tree, the tree becomes elements. The
 * grammar is that of expr/names.h, without meanings: what is wrong was refused long before. */
#include "report/formula.h"

#include <ctype.h>
#include <string.h>

#include "text/arena.h"

/* Nesting, and all nodes: a sum of many terms is a deep tree too, and nothing anyone reads. */
enum { DEPTH_MOST = 60, NODES_MOST = 2000 };

typedef enum kind { NUMBER, NAME, CALL, GROUP, MINUS, BINARY } kind;

typedef struct tree {
    kind kind;
    const char *text; /* of a number or a name, or the operator */
    size_t length;
    struct tree *first, *second; /* operands; of a call its arguments, linked by `second` */
    struct tree *inside;         /* of an argument's link: the argument */
} tree;

typedef struct reader {
    const char *at, *end;
    sgi_arena arena;
    int depth, nodes;
} reader;

static tree *sum(reader *r);

static void skip_spaces(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}

static tree *make(reader *r, kind k, const char *text, size_t length, tree *first, tree *second)
{
    tree *t = r->nodes++ < NODES_MOST ? sgi_arena_allocate(&r->arena, 1, sizeof *t) : NULL;
    if (t)
        *t = (tree){k, text, length, first, second, NULL};
    return t;
}

/* Whether the text goes on with `word`, which is then passed. */
static bool take(reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_spaces(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static tree *number(reader *r)
{
    const char *begin = r->at;
    while (r->at < r->end && (is_digit(*r->at) || *r->at == '.'))
        r->at++;
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        const char *digits = r->at + 1;
        digits += digits < r->end && (*digits == '-' || *digits == '+');
        if (digits < r->end && is_digit(*digits))
            for (r->at = digits; r->at < r->end && is_digit(*r->at);)
                r->at++;
    }
    return make(r, NUMBER, begin, (size_t)(r->at - begin), NULL, NULL);
}

static tree *call(reader *r, const char *name, size_t length)
{
    tree *made = make(r, CALL, name, length, NULL, NULL), **link = made ? &made->first : NULL;
    while (made) {
        tree *argument = sum(r), *entry = make(r, GROUP, "", 0, NULL, NULL);
        if (!argument || !entry)
            return NULL;
        entry->inside = argument;
        *link = entry;
        link = &entry->second;
        if (take(r, ")"))
            return made;
        if (!take(r, ","))
            return NULL;
    }
    return NULL;
}

static tree *primary(reader *r)
{
    skip_spaces(r);
    if (r->at == r->end)
        return NULL;
    if (is_digit(*r->at) || *r->at == '.')
        return number(r);
    if (take(r, "(")) {
        tree *inside = sum(r);
        return inside && take(r, ")") ? make(r, GROUP, "(", 1, inside, NULL) : NULL;
    }
    const char *begin = r->at;
    while (r->at < r->end && (is_letter(*r->at) || (r->at > begin && is_digit(*r->at))))
        r->at++;
    size_t length = (size_t)(r->at - begin);
    if (length == 0)
        return NULL;
    return take(r, "(") ? call(r, begin, length) : make(r, NAME, begin, length, NULL, NULL);
}

static tree *unary(reader *r);

static tree *power(reader *r)
{
    tree *base = primary(r);
    if (base && (take(r, "^") || take(r, "**"))) {
        tree *exponent = unary(r);
        return exponent ? make(r, BINARY, "^", 1, base, exponent) : NULL;
    }
    return base;
}

static tree *unary(reader *r)
{
    if (++r->depth > DEPTH_MOST)
        return NULL;
    tree *made;
    if (take(r, "-")) {
        tree *inside = unary(r);
        made = inside ? make(r, MINUS, "-", 1, inside, NULL) : NULL;
    } else {
        (void)take(r, "+");
        made = power(r);
    }
    r->depth--;
    return made;
}

typedef tree *(*level)(reader *r);

/* Operands of `next`, joined by any of the operators, from the left. */
static tree *joined(reader *r, level next, const char *const *operators)
{
    tree *left = next(r);
    for (size_t i = 0; left && operators[i];) {
        if (!take(r, operators[i])) {
            i++;
            continue;
        }
        tree *right = next(r);
        left = right ? make(r, BINARY, operators[i], strlen(operators[i]), left, right) : NULL;
        i = 0;
    }
    return left;
}

static tree *product(reader *r)
{
    static const char *const operators[] = {"*", "/", NULL};
    return joined(r, unary, operators);
}

static tree *terms(reader *r)
{
    static const char *const operators[] = {"+", "-", NULL};
    return joined(r, product, operators);
}

/* The longer of two that begin alike comes first. */
static tree *sum(reader *r)
{
    static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">", "=", NULL};
    return joined(r, terms, operators);
}

/* ---- Elements ----------------------------------------------------------------------------- */

static const char *const greek[][2] = {
    {"alpha", "α"},  {"beta", "β"},   {"gamma", "γ"}, {"delta", "δ"}, {"epsilon", "ε"},
    {"eps", "ε"},    {"zeta", "ζ"},   {"eta", "η"},   {"theta", "θ"}, {"kappa", "κ"},
    {"lambda", "λ"}, {"lam", "λ"},    {"mu", "μ"},    {"nu", "ν"},    {"xi", "ξ"},
    {"pi", "π"},     {"rho", "ρ"},    {"sigma", "σ"}, {"tau", "τ"},   {"phi", "φ"},
    {"chi", "χ"},    {"psi", "ψ"},    {"omega", "ω"}, {"Gamma", "Γ"}, {"Delta", "Δ"},
    {"Theta", "Θ"},  {"Lambda", "Λ"}, {"Sigma", "Σ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},
    {"Omega", "Ω"},
};

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static void escaped(sgi_text *out, const char *text, size_t length)
{
    char piece[128];
    while (length) {
        size_t n = length < sizeof piece - 1 ? length : sizeof piece - 1;
        while (n < length && n > 1 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--; /* a letter is not cut in two */
        memcpy(piece, text, n);
        piece[n] = 0;
        sgi_text_escape(out, piece);
        text += n;
        length -= n;
    }
}

static void identifier(sgi_text *out, const char *name, size_t length)
{
    sgi_text_add(out, "<mi>");
    for (size_t i = 0; i < sizeof greek / sizeof greek[0]; i++)
        if (is(name, length, greek[i][0])) {
            sgi_text_add(out, greek[i][1]);
            sgi_text_add(out, "</mi>");
            return;
        }
    escaped(out, name, length);
    sgi_text_add(out, "</mi>");
}

/* The letters of a short subscript are coordinates, one each; a longer one is a word. */
static void subscript(sgi_text *out, const char *text, size_t length)
{
    bool letters = length <= 4;
    for (size_t i = 0; i < length; i++)
        letters &= isalpha((unsigned char)text[i]) != 0;
    if (!letters) {
        identifier(out, text, length);
        return;
    }
    sgi_text_add(out, "<mrow>");
    for (size_t i = 0; i < length; i++)
        identifier(out, text + i, 1);
    sgi_text_add(out, "</mrow>");
}

static void whole_name(sgi_text *out, const char *name, size_t length)
{
    const char *line = length ? memchr(name + 1, '_', length - 1) : NULL;
    size_t before = line ? (size_t)(line - name) : length;
    if (!line || before + 1 == length) {
        identifier(out, name, length);
        return;
    }
    sgi_text_add(out, "<msub>");
    identifier(out, name, before);
    subscript(out, line + 1, length - before - 1);
    sgi_text_add(out, "</msub>");
}

static void digits(sgi_text *out, const tree *t)
{
    const char *e = memchr(t->text, 'e', t->length);
    if (!e)
        e = memchr(t->text, 'E', t->length);
    size_t mantissa = e ? (size_t)(e - t->text) : t->length;
    bool one = e && is(t->text, mantissa, "1");
    if (!one) {
        sgi_text_add(out, "<mn>");
        escaped(out, t->text, mantissa);
        sgi_text_add(out, "</mn>");
    }
    if (!e)
        return;
    const char *power = e + 1, *end = t->text + t->length;
    bool negative = *power == '-';
    power += negative || *power == '+';
    while (power + 1 < end && *power == '0')
        power++;
    sgi_text_add(out, one ? "<msup><mn>10</mn><mrow>" : "<mo>·</mo><msup><mn>10</mn><mrow>");
    sgi_text_add(out, negative ? "<mo>−</mo><mn>" : "<mn>");
    escaped(out, power, (size_t)(end - power));
    sgi_text_add(out, "</mn></mrow></msup>");
}

static void element(sgi_text *out, const tree *t);

/* An operand where the layout alone keeps it together: parentheses around it go. */
static void bare(sgi_text *out, const tree *t)
{
    sgi_text_add(out, "<mrow>");
    element(out, t->kind == GROUP ? t->first : t);
    sgi_text_add(out, "</mrow>");
}

static void pair(sgi_text *out, const char *name, const tree *first, const tree *second, bool both)
{
    sgi_text_format(out, "<%s>", name);
    if (both) {
        bare(out, first);
    } else {
        sgi_text_add(out, "<mrow>");
        element(out, first);
        sgi_text_add(out, "</mrow>");
    }
    bare(out, second);
    sgi_text_format(out, "</%s>", name);
}

static bool has_fraction(const tree *t)
{
    return t && ((t->kind == BINARY && t->text[0] == '/') || has_fraction(t->first) ||
                 has_fraction(t->second) || has_fraction(t->inside));
}

/* Parentheses are stretched only around fractions, not around letters that reach below the line. */
static void parenthesis(sgi_text *out, const char *which, const tree *inside)
{
    sgi_text_format(out, "<mo stretchy=\"%s\">%s</mo>", has_fraction(inside) ? "true" : "false",
                    which);
}

static void function(sgi_text *out, const tree *t)
{
    const tree *first = t->first;
    bool alone = !first->second;
    if (alone && is(t->text, t->length, "sqrt")) {
        sgi_text_add(out, "<msqrt>");
        element(out, first->inside);
        sgi_text_add(out, "</msqrt>");
        return;
    }
    if (alone && is(t->text, t->length, "abs")) {
        sgi_text_add(out, "<mrow><mo>|</mo>");
        element(out, first->inside);
        sgi_text_add(out, "<mo>|</mo></mrow>");
        return;
    }
    bool laplacian = alone && is(t->text, t->length, "lap");
    if (laplacian)
        sgi_text_add(out, "<msup><mo>∇</mo><mn>2</mn></msup>");
    else
        whole_name(out, t->text, t->length);
    if (laplacian && first->inside->kind == NAME) {
        element(out, first->inside);
        return;
    }
    sgi_text_add(out, "<mrow>");
    parenthesis(out, "(", first);
    for (const tree *a = first; a; a = a->second) {
        element(out, a->inside);
        if (a->second)
            sgi_text_add(out, "<mo>,</mo>");
    }
    parenthesis(out, ")", first);
    sgi_text_add(out, "</mrow>");
}

/* The operand that is written first at the right of a product. */
static const tree *leftmost(const tree *t)
{
    while (t->kind == BINARY && t->text[0] != '/')
        t = t->first;
    return t;
}

static void operation(sgi_text *out, const tree *t)
{
    static const char *const signs[][2] = {{"<=", "≤"}, {">=", "≥"},   {"==", "="},
                                           {"!=", "≠"}, {"<", "&lt;"}, {">", "&gt;"},
                                           {"-", "−"},  {"+", "+"},    {"=", "="}};
    if (t->text[0] == '/' || t->text[0] == '^') {
        pair(out, t->text[0] == '/' ? "mfrac" : "msup", t->first, t->second, t->text[0] == '/');
        return;
    }
    element(out, t->first);
    if (t->text[0] == '*')
        sgi_text_add(out, leftmost(t->second)->kind == NUMBER
                              ? "<mo>·</mo>"
                              : "<mo>\xE2\x81\xA2</mo><mspace width=\".14em\"></mspace>");
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (is(t->text, t->length, signs[i][0]))
            sgi_text_format(out, "<mo>%s</mo>", signs[i][1]);
    element(out, t->second);
}

static void element(sgi_text *out, const tree *t)
{
    switch (t->kind) {
    case NUMBER:
        digits(out, t);
        break;
    case NAME:
        whole_name(out, t->text, t->length);
        break;
    case CALL:
        function(out, t);
        break;
    case GROUP:
        sgi_text_add(out, "<mrow>");
        parenthesis(out, "(", t->first);
        element(out, t->first);
        parenthesis(out, ")", t->first);
        sgi_text_add(out, "</mrow>");
        break;
    case MINUS:
        sgi_text_add(out, "<mo form=\"prefix\">−</mo>");
        element(out, t->first);
        break;
    case BINARY:
        operation(out, t);
        break;
    }
}

void sgi_formula(sgi_text *out, const char *source, bool zero)
{
    size_t length = strlen(source);
    reader r = {.at = source, .end = source + length};
    sgi_arena_init(&r.arena, &out->allocator);
    const tree *t = sum(&r);
    skip_spaces(&r);
    if (t && r.at == r.end) {
        sgi_text_add(out, "<mrow>");
        element(out, t);
        if (zero && !(t->kind == BINARY && t->text[0] == '='))
            sgi_text_add(out, "<mo>=</mo><mn>0</mn>");
        sgi_text_add(out, "</mrow>");
    } else {
        sgi_text_add(out, "<mtext>");
        escaped(out, source, length);
        sgi_text_add(out, "</mtext>");
    }
    sgi_arena_clear(&r.arena);
}
