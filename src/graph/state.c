/* Parameters and running statistics as a safetensors state dict. */
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "graph/internal.h"
#include "graph/state.h"

static const char counter_suffix[] = "num_batches_tracked";

/* Every tensor of the state dict: parameters, running statistics, and PyTorch's counter of batches
 * beside each running mean, and room for one more. `names` owns the counters' names. */
typedef struct listing {
    sgi_tensor *tensors;
    char (*names)[160];
    size_t count;
    int64_t batches;
} listing;

static void close_listing(const sg_net *graph, listing *list)
{
    sgi_release(&graph->allocator, list->tensors);
    sgi_release(&graph->allocator, list->names);
}

static void add_counter(listing *list, const char *running, size_t index)
{
    size_t stem = strlen(running) - strlen("running_mean");
    snprintf(list->names[index], sizeof list->names[index], "%.*s%s", (int)stem, running,
             counter_suffix);
    list->tensors[list->count++] =
        (sgi_tensor){.name = list->names[index], .type = SG_TENSOR_I64, .data = &list->batches};
}

static sg_status open_listing(const sg_net *graph, listing *list)
{
    size_t running = (size_t)graph->running_count, params = (size_t)graph->param_count;
    list->count = 0;
    list->batches = (int64_t)graph->batches;
    list->tensors =
        sgi_allocate(&graph->allocator, params + 2 * running + 1, sizeof *list->tensors);
    list->names = sgi_allocate(&graph->allocator, running, sizeof *list->names);
    if (!list->tensors || !list->names)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < params; i++) {
        const sgi_param *p = &graph->params[i];
        sgi_tensor *t = &list->tensors[list->count++];
        *t = (sgi_tensor){.name = p->name, .type = SG_TENSOR_F32, .rank = (size_t)p->rank};
        t->data = graph->values + p->offset;
        for (int d = 0; d < p->rank; d++)
            t->shape[d] = (size_t)p->shape[d];
    }
    for (size_t i = 0; i < running; i++) {
        const sgi_running *r = &graph->running[i];
        sgi_tensor *t = &list->tensors[list->count++];
        *t = (sgi_tensor){.name = r->name, .type = SG_TENSOR_F32, .rank = 1, .shape = {r->count}};
        t->data = graph->running_values + r->offset;
        if (i % 2 == 0)
            add_counter(list, r->name, i / 2);
    }
    return SG_OK;
}

sg_status sgi_net_write(sg_net *graph, const char *path, const sgi_tensor_note *notes,
                        size_t note_count, const sgi_tensor *more)
{
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    listing list;
    sg_diagnostic diagnostic = {.message = "out of memory"};
    sg_status status = open_listing(graph, &list);
    if (status == SG_OK && more)
        list.tensors[list.count++] = *more;
    if (status == SG_OK)
        status =
            sgi_safetensors_write(path, list.tensors, list.count, notes, note_count, &diagnostic);
    close_listing(graph, &list);
    return status == SG_OK ? SG_OK : sgi_net_fail_with(graph, status, &diagnostic);
}

sg_status sg_net_save(sg_net *graph, const char *path, const char *const (*notes)[2],
                      size_t note_count)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!path || (note_count && !notes))
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no path, or no notes");
    sgi_tensor_note *pairs = sgi_allocate(&graph->allocator, note_count, sizeof *pairs);
    if (!pairs)
        return sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < note_count; i++)
        pairs[i] = (sgi_tensor_note){notes[i][0], notes[i][1]};
    sg_status status = sgi_net_write(graph, path, pairs, note_count, NULL);
    sgi_release(&graph->allocator, pairs);
    return status;
}

static bool same_shape(const sgi_tensor *a, const sgi_tensor *b)
{
    if (a->type != b->type || a->rank != b->rank)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    return true;
}

/* Checks everything before anything is copied. */
static sg_status check_file(sg_net *graph, const listing *list, const sgi_safetensors *file,
                            bool strict)
{
    for (size_t i = 0; i < list->count; i++) {
        const sgi_tensor *own = &list->tensors[i], *theirs = sgi_safetensors_find(file, own->name);
        bool needed = i < (size_t)graph->param_count || strict;
        if (!theirs && needed)
            return sgi_net_fail(graph, SG_ERROR_MISMATCH, "the file has no tensor %s", own->name);
        if (theirs && !same_shape(own, theirs))
            return sgi_net_fail(graph, SG_ERROR_MISMATCH, "%s has another type or shape",
                                own->name);
    }
    for (size_t i = 0; strict && i < sgi_safetensors_count(file); i++) {
        const char *name = sgi_safetensors_at(file, i)->name;
        bool found = false;
        for (size_t j = 0; j < list->count && !found; j++)
            found = strcmp(list->tensors[j].name, name) == 0;
        if (!found)
            return sgi_net_fail(graph, SG_ERROR_MISMATCH, "the network has no tensor %s", name);
    }
    return SG_OK;
}

static void copy_file(sg_net *graph, const listing *list, const sgi_safetensors *file)
{
    for (size_t i = 0; i < list->count; i++) {
        const sgi_tensor *own = &list->tensors[i], *theirs = sgi_safetensors_find(file, own->name);
        if (!theirs)
            continue;
        if (own->type == SG_TENSOR_I64)
            graph->batches = (uint64_t) * (const int64_t *)theirs->data;
        else
            memcpy((void *)own->data, theirs->data, sgi_tensor_elements(own) * sizeof(float));
    }
}

sg_status sgi_net_read(sg_net *graph, const sgi_safetensors *file, bool strict)
{
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    listing list;
    sg_status status = open_listing(graph, &list);
    if (status != SG_OK)
        status = sgi_net_fail(graph, status, "out of memory");
    else
        status = check_file(graph, &list, file, strict);
    if (status == SG_OK)
        copy_file(graph, &list, file);
    close_listing(graph, &list);
    return status;
}

sg_status sg_net_load(sg_net *graph, const char *path, bool strict)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->compiled)
        return SG_ERROR_ORDER;
    if (!path)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no path");
    sgi_safetensors *file;
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_safetensors_open(&file, path, &graph->allocator, &diagnostic);
    if (status != SG_OK)
        return sgi_net_fail_with(graph, status, &diagnostic);
    status = sgi_net_read(graph, file, strict);
    if (status != SG_OK)
        sgi_diagnostic_name(&graph->diagnostic, path);
    sgi_safetensors_close(file);
    return status;
}
