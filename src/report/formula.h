/* Expressions of a problem file as MathML, which browsers typeset without help.
 *
 * They are made from the text and not from the graph of expressions: the graph has folded constants
 * and definitions in, and a reader wants to see the names that the file gives them. */
#ifndef SG_REPORT_FORMULA_H
#define SG_REPORT_FORMULA_H

#include <stdbool.h>

#include "text/text.h"

/* Adds `source` as a row of MathML; an equation without = gets "= 0" when `zero`.
 * What cannot be read as an expression is added as it stands, as text: nothing is lost. */
void sgi_formula(sgi_text *out, const char *source, bool zero);

#endif
