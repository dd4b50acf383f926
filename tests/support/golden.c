/* Reading the golden files: see golden.h. */
#include "support/golden.h"

#include <stdio.h>

#include "support/support.h"

json_t *golden_open(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/golden/%s.json", SG_TEST_DATA, name);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        fail_msg("%s: %s", path, error.text);
    return root;
}

json_t *golden_member(const json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (!member)
        fail_msg("no member '%s'", key);
    return member;
}

double golden_number(const json_t *object, const char *key)
{
    json_t *member = golden_member(object, key);
    if (!json_is_number(member))
        fail_msg("'%s' is not a number", key);
    return json_number_value(member);
}

static void flatten(const json_t *value, double *values, size_t capacity, size_t *count)
{
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++)
            flatten(json_array_get(value, i), values, capacity, count);
        return;
    }
    if (!json_is_number(value) || *count == capacity)
        fail_msg("not a number, or more than %zu of them", capacity);
    values[(*count)++] = json_number_value(value);
}

size_t golden_flatten(const json_t *array, double *values, size_t capacity)
{
    size_t count = 0;
    flatten(array, values, capacity, &count);
    return count;
}
