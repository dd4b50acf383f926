/* Checkpoints: see checkpoint.h. */
#include "train/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "base/params.h"
#include "files/safetensors.h"
#include "train/progress.h"

enum { NAME_SIZE = 40 };

/* Tensors over the network's own memory; `names` holds their texts. */
typedef struct tensor_list {
    sgi_tensor *tensors;
    char (*names)[NAME_SIZE];
    size_t count; /* two for each layer; there is room for one more */
} tensor_list;

static void release_list(tensor_list *list, const sg_allocator *allocator)
{
    sgi_release(allocator, list->tensors);
    sgi_release(allocator, list->names);
}

static sg_status list_weights(tensor_list *list, const sg_jet_network *network,
                              const sg_allocator *allocator)
{
    size_t layers = (size_t)sg_jet_network_layers(network);
    sg_type type = sg_jet_network_type(network);
    sgi_tensor_type stored = type == SG_FLOAT32 ? SG_TENSOR_F32 : SG_TENSOR_F64;
    list->tensors = sgi_allocate(allocator, 2 * layers + 1, sizeof *list->tensors);
    list->names = sgi_allocate(allocator, 2 * layers + 1, sizeof *list->names);
    list->count = 2 * layers;
    if (!list->tensors || !list->names) {
        release_list(list, allocator);
        return SG_ERROR_MEMORY;
    }
    for (size_t l = 0; l < layers; l++) {
        sg_jet_layer layer = sg_jet_network_layer(network, (int)l);
        void *values = sg_jet_network_values(network);
        snprintf(list->names[2 * l], NAME_SIZE, "layers.%zu.weight", l);
        snprintf(list->names[2 * l + 1], NAME_SIZE, "layers.%zu.bias", l);
        list->tensors[2 * l] = (sgi_tensor){.name = list->names[2 * l],
                                            .type = stored,
                                            .rank = 2,
                                            .shape = {(size_t)layer.outputs, (size_t)layer.inputs},
                                            .data = sgi_element(values, type, layer.weight)};
        list->tensors[2 * l + 1] = (sgi_tensor){.name = list->names[2 * l + 1],
                                                .type = stored,
                                                .rank = 1,
                                                .shape = {(size_t)layer.outputs},
                                                .data = sgi_element(values, type, layer.bias)};
    }
    return SG_OK;
}

static sg_status no_memory(sg_diagnostic *diagnostic)
{
    return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
}

sg_status sgi_weights_save(const char *path, const sg_jet_network *network,
                           const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    tensor_list list;
    if (list_weights(&list, network, &allocator) != SG_OK)
        return no_memory(diagnostic);
    sgi_tensor_note note = {"format", "pt"};
    sg_status status = sgi_safetensors_write(path, list.tensors, list.count, &note, 1, diagnostic);
    release_list(&list, &allocator);
    return status;
}

sg_status sgi_checkpoint_save(const char *path, const sg_jet_network *network,
                              const sg_optim *optim, const sgi_progress *progress,
                              const sg_allocator *given, sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    tensor_list list;
    if (list_weights(&list, network, &allocator) != SG_OK)
        return no_memory(diagnostic);
    size_t size;
    const void *state = sg_optim_state(optim, &size);
    list.tensors[list.count++] = (sgi_tensor){
        .name = SG_STATE_TENSOR, .type = SG_TENSOR_U8, .rank = 1, .shape = {size}, .data = state};
    sgi_progress_notes notes;
    sgi_progress_write(&notes, progress);
    sg_status status = sgi_safetensors_write(path, list.tensors, list.count, notes.notes,
                                             SG_PROGRESS_NOTES, diagnostic);
    release_list(&list, &allocator);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------ */

static bool same_shape(const sgi_tensor *a, const sgi_tensor *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0;
}

static sg_status check_weights(const tensor_list *list, const sgi_safetensors *file,
                               const char *path, sg_diagnostic *diagnostic)
{
    for (size_t i = 0; i < list->count; i++) {
        const sgi_tensor *want = &list->tensors[i], *have = sgi_safetensors_find(file, want->name);
        if (!have) {
            return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path, "has no tensor '%s'",
                                 want->name);
        }
        if (have->type != SG_TENSOR_F32 && have->type != SG_TENSOR_F64) {
            return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                                 "'%s' is of type %s, not F32 or F64", want->name,
                                 sgi_tensor_type_name(have->type));
        }
        if (!same_shape(want, have)) {
            return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                                 "'%s' does not have the shape of this network's (%zu x %zu); "
                                 "is it the same problem?",
                                 want->name, want->shape[0], want->rank > 1 ? want->shape[1] : 1);
        }
    }
    return SG_OK;
}

/* Copies one tensor into the network's memory, converting its type. */
static void copy_weights(const sgi_tensor *to, const sgi_tensor *from)
{
    size_t count = sgi_tensor_elements(to);
    bool wide = from->type == SG_TENSOR_F64;
    for (size_t i = 0; i < count; i++) {
        double x = wide ? ((const double *)from->data)[i] : (double)((const float *)from->data)[i];
        if (to->type == SG_TENSOR_F64)
            ((double *)(uintptr_t)to->data)[i] = x;
        else
            ((float *)(uintptr_t)to->data)[i] = (float)x;
    }
}

static sg_status read_weights(const sgi_safetensors *file, const char *path,
                              sg_jet_network *network, const sg_allocator *allocator,
                              sg_diagnostic *diagnostic)
{
    tensor_list list;
    if (list_weights(&list, network, allocator) != SG_OK)
        return no_memory(diagnostic);
    sg_status status = check_weights(&list, file, path, diagnostic);
    for (size_t i = 0; i < list.count && status == SG_OK; i++)
        copy_weights(&list.tensors[i], sgi_safetensors_find(file, list.tensors[i].name));
    release_list(&list, allocator);
    return status;
}

sg_status sgi_weights_load(const char *path, sg_jet_network *network, const sg_allocator *given,
                           sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, &allocator, diagnostic);
    if (status != SG_OK)
        return status;
    status = read_weights(file, path, network, &allocator, diagnostic);
    sgi_safetensors_close(file);
    return status;
}

static sg_status read_checkpoint(const sgi_safetensors *file, const char *path,
                                 sg_jet_network *network, sg_optim *optim, sgi_progress *progress,
                                 const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    const sgi_tensor *state = sgi_safetensors_find(file, SG_STATE_TENSOR);
    sgi_progress read;
    if (!state || state->type != SG_TENSOR_U8 || !sgi_progress_read(file, &read)) {
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                             "not a checkpoint that can be resumed");
    }
    if (sg_optim_restore(optim, state->data, sgi_tensor_elements(state)) != SG_OK) {
        return sgi_fail_file(diagnostic, SG_ERROR_STATE, path,
                             "was saved by another optimizer or network");
    }
    sg_status status = read_weights(file, path, network, allocator, diagnostic);
    if (status == SG_OK)
        *progress = read;
    return status;
}

sg_status sgi_checkpoint_load(const char *path, sg_jet_network *network, sg_optim *optim,
                              sgi_progress *progress, const sg_allocator *given,
                              sg_diagnostic *diagnostic)
{
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, &allocator, diagnostic);
    if (status != SG_OK)
        return status;
    status = read_checkpoint(file, path, network, optim, progress, &allocator, diagnostic);
    sgi_safetensors_close(file);
    return status;
}
