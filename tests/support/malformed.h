/* Checks of a kind of file that has options. A file of mistakes: cases, each a file and the exact
 * text that it must be answered with.
 *
 *     #### what is wrong
 *     #set training.steps=0        (overrides, if any)
 *     the file
 *     ----
 *     the answer
 */
#ifndef SG_TESTS_MALFORMED_H
#define SG_TESTS_MALFORMED_H

#include "config/options.h"
#include "stablegrad/status.h"

/* Reads a text as the kind of file under test, and releases what it made of it. */
typedef sg_status malformed_reader(const char *text, size_t size, const char *const *overrides,
                                   size_t count, sg_diagnostic *diagnostic);

/* Every case of the file, of which there are at least so many. */
void check_malformed(const char *path, int least, malformed_reader *read);

/* The tables of options and of choices in the documentation, a file of docs/, are the table of
 * options. */
void check_documented(const sgi_option_table *table, const char *name);

#endif
