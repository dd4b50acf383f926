/* The operations: names, arities, and their values on numbers. See expressions.h. */
#include <math.h>

#include "expr/expressions.h"

static const struct {
    const char *name;
    int arity;
} operations[] = {
#define SG_OP_ROW(code, name, arity) {name, arity},
    SG_OP_LIST(SG_OP_ROW)
#undef SG_OP_ROW
};

const char *sgi_op_name(sgi_op op)
{
    return operations[op].name;
}

int sgi_op_arity(sgi_op op)
{
    return operations[op].arity;
}

double sgi_op_apply(sgi_op op, double x, double y, double z)
{
    switch (op) {
    case SG_OP_NEG:
        return -x;
    case SG_OP_ADD:
        return x + y;
    case SG_OP_SUB:
        return x - y;
    case SG_OP_MUL:
        return x * y;
    case SG_OP_DIV:
        return x / y;
    case SG_OP_LESS:
        return x < y;
    case SG_OP_LESS_EQUAL:
        return x <= y;
    case SG_OP_EQUAL:
        return x == y;
    case SG_OP_NOT_EQUAL:
        return x != y;
    case SG_OP_SIN:
        return sin(x);
    case SG_OP_COS:
        return cos(x);
    case SG_OP_TAN:
        return tan(x);
    case SG_OP_TANH:
        return tanh(x);
    case SG_OP_SINH:
        return sinh(x);
    case SG_OP_COSH:
        return cosh(x);
    case SG_OP_SECH:
        return 1 / cosh(x);
    case SG_OP_ASIN:
        return asin(x);
    case SG_OP_ACOS:
        return acos(x);
    case SG_OP_ATAN:
        return atan(x);
    case SG_OP_ASINH:
        return asinh(x);
    case SG_OP_ACOSH:
        return acosh(x);
    case SG_OP_ATANH:
        return atanh(x);
    case SG_OP_EXP:
        return exp(x);
    case SG_OP_LOG:
        return log(x);
    case SG_OP_LOG2:
        return log2(x);
    case SG_OP_LOG10:
        return log10(x);
    case SG_OP_LOG1P:
        return log1p(x);
    case SG_OP_EXPM1:
        return expm1(x);
    case SG_OP_SQRT:
        return sqrt(x);
    case SG_OP_CBRT:
        return cbrt(x);
    case SG_OP_ABS:
        return fabs(x);
    case SG_OP_SIGN:
        return (x > 0) - (x < 0);
    case SG_OP_FLOOR:
        return floor(x);
    case SG_OP_ERF:
        return erf(x);
    case SG_OP_ERFC:
        return erfc(x);
    case SG_OP_MIN:
        return x < y ? x : y;
    case SG_OP_MAX:
        return x > y ? x : y;
    case SG_OP_POW:
        return pow(x, y);
    case SG_OP_ATAN2:
        return atan2(x, y);
    case SG_OP_WHERE:
        return x != 0 ? y : z;
    case SG_OP_CONSTANT:
    case SG_OP_INPUT:
    case SG_OP_COUNT:
        break;
    }
    return 0;
}
