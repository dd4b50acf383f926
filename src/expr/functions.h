/* The functions that an expression may call: every operation from SG_OP_SIN on under its own name,
 * other names of operations (ln, arcsin, maximum), and what is made of several (sigmoid, mod). */
#ifndef SG_EXPR_FUNCTIONS_H
#define SG_EXPR_FUNCTIONS_H

#include "expr/expressions.h"

typedef struct sgi_function {
    const char *name;
    int arity;
    sgi_op op;     /* SG_OP_COUNT: made by `make` */
    bool inverted; /* one over the operation's value */
    sgi_expr (*make)(sgi_expressions *exprs, sgi_expr a, sgi_expr b);
} sgi_function;

/* Function number `index`; its name is NULL after the last one. */
sgi_function sgi_function_at(int index);

/* The function of that name; the result's name is NULL when there is none. */
sgi_function sgi_function_find(const char *name, size_t length);

sgi_expr sgi_function_call(sgi_expressions *exprs, const sgi_function *function,
                           const sgi_expr arguments[3]);

#endif
