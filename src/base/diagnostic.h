/* Filling a diagnostic: see stablegrad/diagnostic.h. Each function accepts NULL and then does
 * nothing, so a caller that wants only the status code passes NULL down. */
#ifndef SG_BASE_DIAGNOSTIC_H
#define SG_BASE_DIAGNOSTIC_H

#include "stablegrad/diagnostic.h"
#include "stablegrad/status.h"

/* A text that positions refer to: a file, or the argument of --set. */
typedef struct sgi_source {
    const char *name; /* shown before the line number */
    const char *text; /* `size` bytes, need not be terminated */
    size_t size;
} sgi_source;

/* Clears `diagnostic` and places it at `length` bytes of `source` from byte `offset`. */
void sgi_diagnostic_place(sg_diagnostic *diagnostic, const sgi_source *source, size_t offset,
                          size_t length);

/* Clears `diagnostic` and names the file it speaks of, without a place in it. Of a path that is too
 * long the end is kept, which tells more than the beginning. */
void sgi_diagnostic_file(sg_diagnostic *diagnostic, const char *path);

/* Names the file of a diagnostic that names none, and leaves the rest of it. */
void sgi_diagnostic_name(sg_diagnostic *diagnostic, const char *path);

/* Sets the message or the suggestion, as printf does; a text that does not fit is cut. */
__attribute__((format(printf, 2, 3))) void sgi_diagnostic_say(sg_diagnostic *diagnostic,
                                                              const char *format, ...);
__attribute__((format(printf, 2, 3))) void sgi_diagnostic_suggest(sg_diagnostic *diagnostic,
                                                                  const char *format, ...);

/* What a function that fails ends with: clears `diagnostic`, sets the message, and returns
 * `status`. The format may use %m, the text of errno. */
__attribute__((format(printf, 3, 4))) sg_status sgi_fail(sg_diagnostic *diagnostic,
                                                         sg_status status, const char *format, ...);

/* The same about a file or folder. */
__attribute__((format(printf, 4, 5))) sg_status sgi_fail_file(sg_diagnostic *diagnostic,
                                                              sg_status status, const char *path,
                                                              const char *format, ...);

/* The whole in one line without line break, "file:9:17: message" or "message", for a place that has
 * one line; the suggestion and the source stay away. Always terminated. */
void sgi_diagnostic_line(const sg_diagnostic *diagnostic, char *text, size_t capacity);

#endif
