/* Golden values: small networks in float64 from another framework (tests/golden/NAME.json). */
#ifndef SG_TESTS_GOLDEN_H
#define SG_TESTS_GOLDEN_H

#include <jansson.h>
#include <stddef.h>

/* The parsed file of that name; fails the test if it cannot be read. Release with json_decref. */
json_t *golden_open(const char *name);

/* A number of an object; fails the test if it is not there. */
double golden_number(const json_t *object, const char *key);

/* The member of an object; fails the test if it is not there. */
json_t *golden_member(const json_t *object, const char *key);

/* Writes the numbers of a nested array in order to `values`, at most `capacity`; returns how many
 * there are, and fails the test if there are more. */
size_t golden_flatten(const json_t *array, double *values, size_t capacity);

#endif
