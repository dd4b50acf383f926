/* Telling tasks from problems: see recognise.h. */
#include "task/recognise.h"

#include "text/yaml.h"

bool sgi_task_recognise(const char *text, size_t size, const sg_allocator *given)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sgi_arena arena;
    sgi_source source = {"task", text, size};
    sg_diagnostic diagnostic;
    sgi_yaml *root;
    sgi_arena_init(&arena, &allocator);
    bool task = sgi_yaml_parse(&root, &source, 0, &arena, &diagnostic) == SG_OK &&
                root->kind == SG_YAML_MAPPING && sgi_yaml_get(root, "data");
    sgi_arena_clear(&arena);
    return task;
}
