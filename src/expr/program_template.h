/* The loops for one element type REAL. Each instruction is one loop over the points of a block; its
 * target is never one of its arguments, so the loops may be vectorised. */

/* Transcendental functions come from SLEEF where it has vectors for this instruction set: whole
 * vectors first and the rest in one padded vector, so that every point gets the same function
 * whatever its place in the block. Elsewhere they are the C library's. */
#ifdef VECTOR
#define FUNCTION1(f, ulps)                                                                         \
    static void NAME(loop_##f)(REAL * y, const REAL *a, size_t n)                                  \
    {                                                                                              \
        enum { LANES = sizeof(VECTOR) / sizeof(REAL) };                                            \
        size_t i = 0;                                                                              \
        for (; i + LANES <= n; i += LANES) {                                                       \
            VECTOR v;                                                                              \
            memcpy(&v, a + i, sizeof v);                                                           \
            v = SLEEF(f, ulps)(v);                                                                 \
            memcpy(y + i, &v, sizeof v);                                                           \
        }                                                                                          \
        if (i < n) {                                                                               \
            VECTOR v = {0};                                                                        \
            memcpy(&v, a + i, (n - i) * sizeof(REAL));                                             \
            v = SLEEF(f, ulps)(v);                                                                 \
            memcpy(y + i, &v, (n - i) * sizeof(REAL));                                             \
        }                                                                                          \
    }
#define FUNCTION2(f, ulps)                                                                         \
    static void NAME(loop_##f)(REAL * y, const REAL *a, const REAL *b, size_t n)                   \
    {                                                                                              \
        enum { LANES = sizeof(VECTOR) / sizeof(REAL) };                                            \
        for (size_t i = 0; i < n; i += LANES) {                                                    \
            VECTOR v = {0}, w = {0};                                                               \
            size_t m = n - i < LANES ? n - i : LANES;                                              \
            memcpy(&v, a + i, m * sizeof(REAL));                                                   \
            memcpy(&w, b + i, m * sizeof(REAL));                                                   \
            v = SLEEF(f, ulps)(v, w);                                                              \
            memcpy(y + i, &v, m * sizeof(REAL));                                                   \
        }                                                                                          \
    }
#else
#define FUNCTION1(f, ulps)                                                                         \
    static void NAME(loop_##f)(REAL * y, const REAL *a, size_t n)                                  \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = LIBM(f)(a[i]);                                                                  \
    }
#define FUNCTION2(f, ulps)                                                                         \
    static void NAME(loop_##f)(REAL * y, const REAL *a, const REAL *b, size_t n)                   \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = LIBM(f)(a[i], b[i]);                                                            \
    }
#endif

FUNCTION1(sin, u10)
FUNCTION1(cos, u10)
FUNCTION1(tan, u10)
FUNCTION1(tanh, u10)
FUNCTION1(sinh, u10)
FUNCTION1(cosh, u10)
FUNCTION1(asin, u10)
FUNCTION1(acos, u10)
FUNCTION1(atan, u10)
FUNCTION1(asinh, u10)
FUNCTION1(acosh, u10)
FUNCTION1(atanh, u10)
FUNCTION1(exp, u10)
FUNCTION1(log, u10)
FUNCTION1(log2, u10)
FUNCTION1(log10, u10)
FUNCTION1(log1p, u10)
FUNCTION1(expm1, u10)
FUNCTION1(cbrt, u10)
FUNCTION1(erf, u10)
FUNCTION1(erfc, u15) /* the best that SLEEF has */
FUNCTION2(pow, u10)
FUNCTION2(atan2, u10)
#undef FUNCTION1
#undef FUNCTION2

#define EACH(expression)                                                                           \
    do {                                                                                           \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] = (expression);                                                                   \
    } while (0)

/* Operations that are functions of a vector library. */
static void NAME(call)(sgi_op op, REAL *restrict y, const REAL *a, const REAL *b, size_t n)
{
    switch (op) {
    case SG_OP_SIN:
        NAME(loop_sin)(y, a, n);
        break;
    case SG_OP_COS:
        NAME(loop_cos)(y, a, n);
        break;
    case SG_OP_TAN:
        NAME(loop_tan)(y, a, n);
        break;
    case SG_OP_TANH:
        NAME(loop_tanh)(y, a, n);
        break;
    case SG_OP_SINH:
        NAME(loop_sinh)(y, a, n);
        break;
    case SG_OP_COSH:
        NAME(loop_cosh)(y, a, n);
        break;
    case SG_OP_SECH:
        NAME(loop_cosh)(y, a, n);
        EACH(1 / y[i]);
        break;
    case SG_OP_ASIN:
        NAME(loop_asin)(y, a, n);
        break;
    case SG_OP_ACOS:
        NAME(loop_acos)(y, a, n);
        break;
    case SG_OP_ATAN:
        NAME(loop_atan)(y, a, n);
        break;
    case SG_OP_ASINH:
        NAME(loop_asinh)(y, a, n);
        break;
    case SG_OP_ACOSH:
        NAME(loop_acosh)(y, a, n);
        break;
    case SG_OP_ATANH:
        NAME(loop_atanh)(y, a, n);
        break;
    case SG_OP_EXP:
        NAME(loop_exp)(y, a, n);
        break;
    case SG_OP_LOG:
        NAME(loop_log)(y, a, n);
        break;
    case SG_OP_LOG2:
        NAME(loop_log2)(y, a, n);
        break;
    case SG_OP_LOG10:
        NAME(loop_log10)(y, a, n);
        break;
    case SG_OP_LOG1P:
        NAME(loop_log1p)(y, a, n);
        break;
    case SG_OP_EXPM1:
        NAME(loop_expm1)(y, a, n);
        break;
    case SG_OP_CBRT:
        NAME(loop_cbrt)(y, a, n);
        break;
    case SG_OP_ERF:
        NAME(loop_erf)(y, a, n);
        break;
    case SG_OP_ERFC:
        NAME(loop_erfc)(y, a, n);
        break;
    case SG_OP_POW:
        NAME(loop_pow)(y, a, b, n);
        break;
    case SG_OP_ATAN2:
        NAME(loop_atan2)(y, a, b, n);
        break;
    default:
        break;
    }
}

static void NAME(step)(const sgi_instruction *instruction, REAL *restrict y, const REAL *a,
                       const REAL *b, const REAL *c, const double *parameters, size_t n)
{
    REAL value = (REAL)instruction->value;
    switch (instruction->op) {
    case SG_OP_INPUT:
        value = (REAL)parameters[instruction->arguments[0].index];
        /* fall through */
    case SG_OP_CONSTANT:
        EACH(value);
        break;
    case SG_OP_NEG:
        EACH(-a[i]);
        break;
    case SG_OP_ADD:
        EACH(a[i] + b[i]);
        break;
    case SG_OP_SUB:
        EACH(a[i] - b[i]);
        break;
    case SG_OP_MUL:
        EACH(a[i] * b[i]);
        break;
    case SG_OP_DIV:
        EACH(a[i] / b[i]);
        break;
    case SG_OP_LESS:
        EACH(a[i] < b[i] ? (REAL)1 : (REAL)0);
        break;
    case SG_OP_LESS_EQUAL:
        EACH(a[i] <= b[i] ? (REAL)1 : (REAL)0);
        break;
    case SG_OP_EQUAL:
        EACH(a[i] == b[i] ? (REAL)1 : (REAL)0);
        break;
    case SG_OP_NOT_EQUAL:
        EACH(a[i] != b[i] ? (REAL)1 : (REAL)0);
        break;
    case SG_OP_SQRT:
        EACH(SQRT(a[i]));
        break;
    case SG_OP_ABS:
        EACH(ABS(a[i]));
        break;
    case SG_OP_SIGN:
        EACH((a[i] > 0 ? (REAL)1 : (REAL)0) - (a[i] < 0 ? (REAL)1 : (REAL)0));
        break;
    case SG_OP_FLOOR:
        EACH(FLOOR(a[i]));
        break;
    case SG_OP_MIN:
        EACH(a[i] < b[i] ? a[i] : b[i]);
        break;
    case SG_OP_MAX:
        EACH(a[i] > b[i] ? a[i] : b[i]);
        break;
    case SG_OP_WHERE:
        EACH(a[i] != 0 ? b[i] : c[i]);
        break;
    default:
        NAME(call)(instruction->op, y, a, b, n);
    }
}
#undef EACH

/* Where an operand lies: in the caller's input, at point `begin`, or in its register. */
static inline const REAL *NAME(locate)(sgi_operand operand, const void *const *inputs, size_t begin,
                                       const REAL *registers)
{
    return operand.input ? (const REAL *)inputs[operand.index] + begin
                         : registers + (size_t)operand.index * SG_PROGRAM_BLOCK;
}

static void NAME(run)(const sgi_program *program, size_t begin, size_t n, const void *const *inputs,
                      const double *parameters, void *const *outputs, void *scratch)
{
    REAL *registers = scratch;
    for (uint32_t k = 0; k < program->instruction_count; k++) {
        const sgi_instruction *next = &program->instructions[k];
        const REAL *arguments[3] = {registers, registers, registers};
        for (int j = 0; j < sgi_op_arity(next->op); j++)
            arguments[j] = NAME(locate)(next->arguments[j], inputs, begin, registers);
        NAME(step)
        (next, registers + (size_t)next->target * SG_PROGRAM_BLOCK, arguments[0], arguments[1],
         arguments[2], parameters, n);
    }
    for (uint32_t k = 0; k < program->output_count; k++)
        if (outputs[k])
            memcpy((REAL *)outputs[k] + begin,
                   NAME(locate)(program->outputs[k], inputs, begin, registers), n * sizeof(REAL));
}
