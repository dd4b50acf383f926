/* A diagnostic describes one mistake or failure: where it is, what it is, and what was probably
 * meant. sg_diagnostic_format writes it as
 *
 *     heat.yaml:9:17: error: unknown name 'u_tt_' in equation 'heat'
 *         9 |   heat: u_t - k*u_tt_
 *           |                 ^~~~~
 *     did you mean 'u_tt'?
 *
 * Every function that can say more than a status code fills one of these. It holds copies of all it
 * needs, so it outlives the file it speaks of, and filling one never allocates. Lines and columns
 * count from 1; columns count characters, not bytes. */
#ifndef STABLEGRAD_DIAGNOSTIC_H
#define STABLEGRAD_DIAGNOSTIC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct sg_diagnostic {
    char file[256];
    int line, column;     /* 0 when they are not known, as for a file that does not open */
    int length;           /* characters to underline, at least 1, within the line */
    char message[400];    /* one sentence, no full stop */
    char suggestion[400]; /* "did you mean 'u_tt'?" or advice; may be empty */
    char source[320];     /* the source line, or the part of it around the mistake */
    int source_column;    /* where `column` lies in `source`; 0: no source is shown */
} sg_diagnostic;

/* Writes the diagnostic as text with a final line break. As with snprintf, the text is cut to fit,
 * is always terminated, and the result is the length of the full text. */
size_t sg_diagnostic_format(const sg_diagnostic *diagnostic, char *text, size_t capacity);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
