/* Filling a diagnostic: see stablegrad/diagnostic.h. Each function accepts NULL and then does
 * nothing, so a caller that wants only the status code passes NULL down. */
#ifndef SG_BASE_DIAGNOSTIC_H
#define SG_BASE_DIAGNOSTIC_H

#include "stablegrad/diagnostic.h"

/* A text that positions refer to: a file, or the argument of --set. */
typedef struct sgi_source {
    const char *name; /* shown before the line number */
    const char *text; /* `size` bytes, need not be terminated */
    size_t size;
} sgi_source;

/* Clears `diagnostic` and places it at `length` bytes of `source` from byte `offset`. */
void sgi_diagnostic_place(sg_diagnostic *diagnostic, const sgi_source *source, size_t offset,
                          size_t length);

/* Clears `diagnostic` and names the file it speaks of, without a place in it. */
void sgi_diagnostic_file(sg_diagnostic *diagnostic, const char *path);

/* Sets the message or the suggestion, as printf does; a text that does not fit is cut. */
__attribute__((format(printf, 2, 3))) void sgi_diagnostic_say(sg_diagnostic *diagnostic,
                                                              const char *format, ...);
__attribute__((format(printf, 2, 3))) void sgi_diagnostic_suggest(sg_diagnostic *diagnostic,
                                                                  const char *format, ...);

#endif
