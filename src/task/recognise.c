/* Telling tasks from problems: see recognise.h. */
#include "task/recognise.h"

#include "pinn/yaml.h"

bool sg_task_recognise(const char *text, size_t size, const sg_allocator *given)
{
    sg_allocator allocator = sg_allocator_or_heap(given);
    sg_arena arena;
    sg_source source = {"task", text, size};
    sg_diagnostic diagnostic;
    sg_yaml *root;
    sg_arena_init(&arena, &allocator);
    bool task = sg_yaml_parse(&root, &source, 0, &arena, &diagnostic) == SG_OK &&
                root->kind == SG_YAML_MAPPING && sg_yaml_get(root, "data");
    sg_arena_clear(&arena);
    return task;
}
