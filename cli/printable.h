/* Text that may come from a file, for a terminal: control characters, which could move the cursor,
 * change colours or worse, are written as \x1b. */
#ifndef SG_CLI_PRINTABLE_H
#define SG_CLI_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/* Writes `text`, escaped, to `shown` (size), cut where it does not fit; returns `shown`. */
const char *printable(const char *text, char *shown, size_t size);

/* The same straight to a file; newlines and tabs, which messages have, are left as they are. */
void put_message(const char *text, FILE *to);

#endif
