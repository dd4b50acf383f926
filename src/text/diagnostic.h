/* A mistake in a user's file: where it is, what it is, and what was probably meant.
 *
 *     heat.yaml:9:17: error: unknown name 'u_tt_' in equation 'heat'
 *         9 |   heat: u_t - k*u_tt_
 *           |                 ^~~~~
 *     did you mean 'u_tt'?
 *
 * A diagnostic holds copies of all it needs, so it outlives the file it speaks of and reporting
 * one never allocates. Lines and columns count from 1; columns count characters, not bytes. */
#ifndef SG_TEXT_DIAGNOSTIC_H
#define SG_TEXT_DIAGNOSTIC_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sgi_diagnostic {
    char file[256];
    int line, column;     /* 0 when the mistake has no place, as for a file that does not open */
    int length;           /* characters to underline, at least 1, within the line */
    char message[400];    /* one sentence, no full stop */
    char suggestion[400]; /* "did you mean 'u_tt'?" or advice; may be empty */
    char source[320];     /* the source line, or the part of it around the mistake */
    int source_column;    /* where `column` lies in `source` */
} sgi_diagnostic;

/* A text that positions refer to: a file, or the argument of --set. */
typedef struct sgi_source {
    const char *name; /* shown before the line number */
    const char *text; /* `size` bytes, need not be terminated */
    size_t size;
} sgi_source;

/* Clears `diagnostic` and places it at `length` bytes of `source` from byte `offset`. */
void sgi_diagnostic_place(sgi_diagnostic *diagnostic, const sgi_source *source, size_t offset,
                          size_t length);

/* Sets the message or the suggestion, as printf does; a text that does not fit is cut. */
__attribute__((format(printf, 2, 3))) void sgi_diagnostic_say(sgi_diagnostic *diagnostic,
                                                              const char *format, ...);
__attribute__((format(printf, 2, 3))) void sgi_diagnostic_suggest(sgi_diagnostic *diagnostic,
                                                                  const char *format, ...);

/* Writes the whole as text with a final line break, always terminated, and returns the length that
 * the full text has, as snprintf does. */
size_t sgi_diagnostic_format(const sgi_diagnostic *diagnostic, char *text, size_t capacity);

/* ---- The nearest name --------------------------------------------------------------------- */

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
void sgi_nearest_suggest(const sgi_nearest *nearest, sgi_diagnostic *diagnostic);

#endif
