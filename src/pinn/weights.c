/* Weights as safetensors: see weights.h. */
#include "pinn/weights.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/params.h"
#include "pinn/pinn.h"

void sgi_weights_release(sgi_weights *list)
{
    sgi_release(&list->allocator, list->tensors);
    sgi_release(&list->allocator, list->names);
}

sg_status sgi_weights_list(sgi_weights *list, const sg_jet_network *network,
                           const sg_allocator *given)
{
    list->allocator = sgi_allocator_or_heap(given);
    size_t layers = (size_t)sg_jet_network_layers(network);
    sg_type type = sg_jet_network_type(network);
    sgi_tensor_type stored = type == SG_FLOAT32 ? SG_TENSOR_F32 : SG_TENSOR_F64;
    list->tensors = sgi_allocate(&list->allocator, 2 * layers + 2, sizeof *list->tensors);
    list->names = sgi_allocate(&list->allocator, 2 * layers + 2, sizeof *list->names);
    list->count = 2 * layers;
    if (!list->tensors || !list->names) {
        sgi_weights_release(list);
        return SG_ERROR_MEMORY;
    }
    void *values = sg_jet_network_values(network);
    assert(values);
    for (size_t l = 0; l < layers; l++) {
        sg_jet_layer layer = sg_jet_network_layer(network, (int)l);
        snprintf(list->names[2 * l], SG_WEIGHT_NAME, "layers.%zu.weight", l);
        snprintf(list->names[2 * l + 1], SG_WEIGHT_NAME, "layers.%zu.bias", l);
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
                           const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sgi_weights list;
    if (sgi_weights_list(&list, network, allocator) != SG_OK)
        return no_memory(diagnostic);
    sgi_tensor_note note = {"format", "pt"};
    sg_status status = sgi_safetensors_write(path, list.tensors, list.count, &note, 1, diagnostic);
    sgi_weights_release(&list);
    return status;
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static bool same_shape(const sgi_tensor *a, const sgi_tensor *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof a->shape[0]) == 0;
}

static sg_status check_weights(const sgi_weights *list, const sgi_safetensors *file,
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

sg_status sgi_weights_read(const sgi_safetensors *file, const char *path, sg_jet_network *network,
                           const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sgi_weights list;
    if (sgi_weights_list(&list, network, allocator) != SG_OK)
        return no_memory(diagnostic);
    sg_status status = check_weights(&list, file, path, diagnostic);
    for (size_t i = 0; i < list.count && status == SG_OK; i++)
        copy_weights(&list.tensors[i], sgi_safetensors_find(file, list.tensors[i].name));
    sgi_weights_release(&list);
    return status;
}

sg_status sgi_weights_load(const char *path, sg_jet_network *network, const sg_allocator *allocator,
                           sg_diagnostic *diagnostic)
{
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, allocator, diagnostic);
    if (status == SG_OK)
        status = sgi_weights_read(file, path, network, allocator, diagnostic);
    sgi_safetensors_close(file);
    return status;
}

/* ---- The public half --------------------------------------------------------------------------
 */

sg_status sg_pinn_save(const sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    if (!p || !path)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    return sgi_weights_save(path, p->network, &p->allocator, diagnostic);
}

sg_status sg_pinn_load(sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    if (!p || !path)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    return sgi_weights_load(path, p->network, &p->allocator, diagnostic);
}
