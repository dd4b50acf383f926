/* Telling tasks from problems: see recognise.h. */
#include "task/recognise.h"

#include <string.h>

#include "text/yaml.h"

/* A line that begins with the key: what is seen without memory to parse. */
static bool has_line(const char *text, size_t size, const char *key)
{
    size_t length = strlen(key);
    for (const char *at = text, *end = text + size; at && end - at >= (ptrdiff_t)length;) {
        if (memcmp(at, key, length) == 0)
            return true;
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return false;
}

bool sgi_task_recognise(const char *text, size_t size, const sg_allocator *given)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sgi_arena arena;
    sgi_source source = {"task", text, size};
    sg_diagnostic diagnostic;
    sgi_yaml *root;
    sgi_arena_init(&arena, &allocator);
    sg_status status = sgi_yaml_parse(&root, &source, 0, &arena, &diagnostic);
    bool task = status == SG_ERROR_MEMORY
                    ? has_line(text, size, "data:") && !has_line(text, size, "coordinates:")
                    : status == SG_OK && root->kind == SG_YAML_MAPPING &&
                          sgi_yaml_get(root, "data") && !sgi_yaml_get(root, "coordinates");
    sgi_arena_clear(&arena);
    return task;
}
