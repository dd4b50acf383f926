/* Reports as texts: written, read back and checked for what every page must be. */
#ifndef SG_TESTS_PAGES_H
#define SG_TESTS_PAGES_H

#include <stddef.h>

size_t count_of(const char *text, const char *what);

/* Writes the folder's report and returns it, to be freed: well formed, complete in itself, without
 * a number that is none, with the `count` texts of `order` in that order. */
char *page_of(const char *folder, const char *const *order, size_t count);

/* The folder's report with allocations failing in turn: said to be out of memory, none left over.
 */
void page_allocations_fail(char *folder);

/* "folder/name", until the next call. */
char *sub(const char *folder, const char *name);

#endif
