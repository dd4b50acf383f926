/* The name that was probably meant. */
#ifndef SG_TEXT_NEAREST_H
#define SG_TEXT_NEAREST_H

#include "base/diagnostic.h"

/* Looks for the candidate nearest to a misspelt name: insertions, deletions, replacements and swaps
 * of neighbours count one each (Damerau), and a candidate farther than a third of the name's
 * length (one for short names) is no suggestion at all. Of two equally near ones that of the name's
 * own length wins, then the first. */
typedef struct sgi_nearest {
    const char *name; /* need not be terminated */
    size_t length;
    int distance;  /* of the best so far; starts at the limit + 1 */
    char best[64]; /* empty: none */
} sgi_nearest;

void sgi_nearest_begin(sgi_nearest *nearest, const char *name, size_t length);
void sgi_nearest_offer(sgi_nearest *nearest, const char *candidate);

/* Puts "did you mean '...'?" into the suggestion when something near was found. */
void sgi_nearest_suggest(const sgi_nearest *nearest, sg_diagnostic *diagnostic);

#endif
