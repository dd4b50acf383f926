/* Weights as safetensors: see weights.h. */
#include "pinn/weights.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/params.h"
#include "pinn/pinn.h"

#define PARAMETER ".parameter" /* what is trained of a scalar */

void sgi_weights_release(sgi_weights *list)
{
    sgi_release(&list->allocator, list->tensors);
    sgi_release(&list->allocator, list->names);
}

/* The layers of a network, from tensor `at` of the list on. */
static void list_layers(sgi_weights *list, size_t at, const char *prefix,
                        const sg_jet_network *network)
{
    sg_type type = sg_jet_network_type(network);
    sgi_tensor_type stored = type == SG_FLOAT32 ? SG_TENSOR_F32 : SG_TENSOR_F64;
    void *values = sg_jet_network_values(network);
    assert(values);
    for (int l = 0; l < sg_jet_network_layers(network); l++, at += 2) {
        sg_jet_layer layer = sg_jet_network_layer(network, l);
        snprintf(list->names[at], SG_WEIGHT_NAME, "%.16slayers.%d.weight", prefix, l);
        snprintf(list->names[at + 1], SG_WEIGHT_NAME, "%.16slayers.%d.bias", prefix, l);
        list->tensors[at] = (sgi_tensor){.name = list->names[at],
                                         .type = stored,
                                         .rank = 2,
                                         .shape = {(size_t)layer.outputs, (size_t)layer.inputs},
                                         .data = sgi_element(values, type, layer.weight)};
        list->tensors[at + 1] = (sgi_tensor){.name = list->names[at + 1],
                                             .type = stored,
                                             .rank = 1,
                                             .shape = {(size_t)layer.outputs},
                                             .data = sgi_element(values, type, layer.bias)};
    }
}

/* What stands before the names of a window's tensors. */
static const char *window_prefix(size_t window, char text[32])
{
    (void)snprintf(text, 32, "windows.%zu.", window);
    return text;
}

sg_status sgi_weights_list(sgi_weights *list, const sg_jet_network *network,
                           const sg_allocator *given)
{
    list->allocator = sgi_allocator_or_heap(given);
    const sgi_jet_pieces *pieces = network->pieces;
    size_t layers = (size_t)sg_jet_network_layers(network), networks = pieces ? pieces->ready : 1;
    sg_type type = sg_jet_network_type(network);
    sgi_tensor_type stored = type == SG_FLOAT32 ? SG_TENSOR_F32 : SG_TENSOR_F64;
    size_t scalars = sg_jet_network_scalars(network), all = 2 * layers * networks + scalars;
    list->tensors = sgi_allocate(&list->allocator, all + 2, sizeof *list->tensors);
    list->names = sgi_allocate(&list->allocator, all + 2, sizeof *list->names);
    list->count = all;
    if (!list->tensors || !list->names) {
        sgi_weights_release(list);
        return SG_ERROR_MEMORY;
    }
    void *values = sg_jet_network_values(network);
    char prefix[32];
    if (!pieces)
        list_layers(list, 0, "", network);
    for (size_t k = 0; pieces && k < networks; k++)
        list_layers(list, 2 * layers * k, window_prefix(k, prefix), pieces->networks[k]);
    size_t first = sg_jet_network_parameters(network) - scalars;
    for (size_t k = 0; k < scalars; k++) {
        char *name = list->names[all - scalars + k];
        snprintf(name, SG_WEIGHT_NAME, "%s" PARAMETER, sg_jet_network_scalar(network, k));
        list->tensors[all - scalars + k] =
            (sgi_tensor){.name = name,
                         .type = stored,
                         .rank = 1,
                         .shape = {1},
                         .data = sgi_element(values, type, first + k)};
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

static sg_status check_weights(const sgi_weights *list, size_t scalars, const sgi_safetensors *file,
                               const char *path, sg_diagnostic *diagnostic)
{
    for (size_t i = 0; i < list->count; i++) {
        const sgi_tensor *want = &list->tensors[i], *have = sgi_safetensors_find(file, want->name);
        if (!have && i >= list->count - scalars) {
            return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                                 "has no '%s': it was saved without this unknown constant",
                                 want->name);
        }
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

/* The layers, and with `scalars` what comes after them. */
static sg_status read_tensors(const sgi_safetensors *file, const char *path,
                              sg_jet_network *network, bool scalars, const sg_allocator *allocator,
                              sg_diagnostic *diagnostic)
{
    sgi_weights list;
    if (sgi_weights_list(&list, network, allocator) != SG_OK)
        return no_memory(diagnostic);
    size_t count = sg_jet_network_scalars(network);
    list.count -= scalars ? 0 : count;
    sg_status status = check_weights(&list, scalars ? count : 0, file, path, diagnostic);
    for (size_t i = 0; i < list.count && status == SG_OK; i++)
        copy_weights(&list.tensors[i], sgi_safetensors_find(file, list.tensors[i].name));
    sgi_weights_release(&list);
    return status;
}

/* How many windows a file has weights of. */
static size_t count_windows(const sgi_safetensors *file)
{
    char prefix[32], name[SG_WEIGHT_NAME];
    size_t count = 0;
    do
        (void)snprintf(name, sizeof name, "%.16slayers.0.weight", window_prefix(count, prefix));
    while (sgi_safetensors_find(file, name) && ++count < SG_MOST_WINDOWS);
    return count;
}

/* Those of windows, up to the one that was trained last. */
static sg_status read_windows(const sgi_safetensors *file, const char *path,
                              sg_jet_network *network, const sg_allocator *allocator,
                              sg_diagnostic *diagnostic)
{
    sgi_jet_pieces *pieces = network->pieces;
    size_t before = pieces->ready, count = count_windows(file);
    if (count < 1 || count > pieces->count)
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                             "has the weights of %zu windows; is it the same problem?", count);
    pieces->ready = count;
    sg_status status = read_tensors(file, path, network, true, allocator, diagnostic);
    if (status != SG_OK)
        pieces->ready = before;
    return status;
}

sg_status sgi_weights_read(const sgi_safetensors *file, const char *path, sg_jet_network *network,
                           const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    if (network->pieces)
        return read_windows(file, path, network, allocator, diagnostic);
    return read_tensors(file, path, network, true, allocator, diagnostic);
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

/* The network's tensors and the values of unknown constants. */
static sg_status save_all(const sg_pinn *p, const char *path, sgi_weights *list,
                          sg_diagnostic *diagnostic)
{
    double values[SG_MOST_UNKNOWNS];
    sgi_tensor tensors[SG_MOST_UNKNOWNS];
    size_t count = p->information.unknown_count, all = list->count + count;
    sgi_tensor_note note = {"format", "pt"};
    for (size_t k = 0; k < count; k++) {
        values[k] = sg_pinn_unknown_value(p, k);
        tensors[k] = (sgi_tensor){.name = p->problem->unknowns[k].label,
                                  .type = SG_TENSOR_F64,
                                  .rank = 1,
                                  .shape = {1},
                                  .data = &values[k]};
    }
    sgi_tensor *joined = sgi_allocate(&p->allocator, all, sizeof *joined);
    if (!joined)
        return no_memory(diagnostic);
    memcpy(joined, list->tensors, list->count * sizeof *joined);
    memcpy(joined + list->count, tensors, count * sizeof *joined);
    sg_status status = sgi_safetensors_write(path, joined, all, &note, 1, diagnostic);
    sgi_release(&p->allocator, joined);
    return status;
}

sg_status sg_pinn_save(const sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    if (!p || !path)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    sgi_weights list;
    if (sgi_weights_list(&list, p->network, &p->allocator) != SG_OK)
        return no_memory(diagnostic);
    sg_status status = save_all(p, path, &list, diagnostic);
    sgi_weights_release(&list);
    return status;
}

/* The values that the file has of unknown constants, NaN where it has none; each must be one that
 * the problem allows. */
static sg_status read_unknowns(const sg_pinn *p, const sgi_safetensors *file, const char *path,
                               double *values, sg_diagnostic *diagnostic)
{
    for (size_t k = 0; k < p->information.unknown_count; k++) {
        const sgi_unknown *u = &p->problem->unknowns[k];
        const sgi_tensor *tensor = sgi_safetensors_find(file, u->label);
        bool there = tensor && tensor->type == SG_TENSOR_F64 && sgi_tensor_elements(tensor) == 1;
        values[k] = there ? *(const double *)tensor->data : NAN;
        if (there && !sgi_unknown_may_be(u, values[k]))
            return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                                 "the unknown '%s' is %g there, which is not between its bounds %g "
                                 "and %g",
                                 u->name, values[k], u->lower, u->upper);
    }
    return SG_OK;
}

/* The parameters are those of the file. Where the bounds, the start or the scale were others, they
 * mean other values: then the values count. */
static sg_status load_all(sg_pinn *p, const sgi_safetensors *file, const char *path,
                          sg_diagnostic *diagnostic)
{
    double values[SG_MOST_UNKNOWNS] = {0};
    sg_status status = read_unknowns(p, file, path, values, diagnostic);
    if (status == SG_OK)
        status = sgi_weights_read(file, path, p->network, &p->allocator, diagnostic);
    for (size_t k = 0; k < p->information.unknown_count && status == SG_OK; k++)
        if (!isnan(values[k]) && values[k] != sg_pinn_unknown_value(p, k))
            status = sg_pinn_set_unknown(p, k, values[k]);
    return status;
}

sg_status sg_pinn_load(sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    if (!p || !path)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, &p->allocator, diagnostic);
    if (status == SG_OK)
        status = load_all(p, file, path, diagnostic);
    sgi_safetensors_close(file);
    return status;
}

sg_status sgi_pinn_start(sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, &p->allocator, diagnostic);
    if (status == SG_OK)
        status = read_tensors(file, path, p->pieces.count > 0 ? p->windows[0] : p->network, false,
                              &p->allocator, diagnostic);
    sgi_safetensors_close(file);
    return status;
}
