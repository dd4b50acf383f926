/* The weights that training starts from: see problem.h.
 *
 *     initial: {weights: runs/heat-0001}       a run: the weights at its end, or its newest
 *     initial: {weights: heat.safetensors}     checkpoint while it is not at its end
 *
 * The tensors must be those of the network, which is told before anything is trained. */
#include <stdio.h>
#include <string.h>

#include "config/attach.h"
#include "files/file.h"
#include "files/safetensors.h"
#include "problem/problem.h"

static const char suggestion[] =
    "as in  initial: {weights: runs/heat-0001}, or a .safetensors file";

static sg_status refuse(sgi_reader *reader, const sgi_yaml *node, const char *message)
{
    sgi_yaml_place(reader->diagnostic, node, 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "%s", message);
    sgi_diagnostic_suggest(reader->diagnostic, "%s", suggestion);
    return SG_ERROR_FORMAT;
}

static bool is_weight_file(const char *path)
{
    static const char ending[] = ".safetensors";
    size_t length = strlen(path), end = sizeof ending - 1;
    return length > end && strcmp(path + length - end, ending) == 0;
}

/* A node with another path, at the same place for messages. */
static const sgi_yaml *with_text(sgi_arena *arena, const sgi_yaml *node, const char *text)
{
    sgi_yaml *copy = sgi_arena_allocate(arena, 1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *node;
    copy->text = text;
    copy->length = strlen(text);
    return copy;
}

/* The file of weights: the path itself, or the one in the folder of a run. */
static sg_status find_file(sgi_problem *problem, sgi_reader *reader, const sgi_yaml *node,
                           const sgi_yaml **file)
{
    static const char *const names[] = {"weights.safetensors", "last.safetensors"};
    const char *path;
    sg_status status = reader->file ? SG_OK : sgi_document_folders(reader, problem->sources);
    *file = node;
    if (status == SG_OK)
        status = sgi_document_path(reader, "weights", node, &path);
    for (size_t i = 0; i < 2 && status == SG_OK; i++) {
        const char *inner = sgi_document_join(&problem->arena, path, names[i]);
        if (!inner)
            return SG_ERROR_MEMORY;
        if (sgi_file_exists(inner)) {
            *file = with_text(&problem->arena, node, inner);
            return *file ? SG_OK : SG_ERROR_MEMORY;
        }
    }
    if (status == SG_OK && !is_weight_file(path))
        return refuse(
            reader, node,
            "this is neither the folder of a run that has weights nor a .safetensors file");
    return status;
}

/* "64 x 2" */
static const char *shape_text(size_t rank, const size_t *shape, char text[48])
{
    size_t used = 0;
    text[0] = 0;
    for (size_t k = 0; k < rank && used < 40; k++)
        used += (size_t)snprintf(text + used, 48 - used, "%s%zu", k ? " x " : "", shape[k]);
    return rank ? text : "a single number";
}

static sg_status check_tensor(const sgi_safetensors *file, int layer, bool bias,
                              const size_t shape[2], sg_diagnostic *said)
{
    char name[40], here[48], there[48];
    size_t rank = bias ? 1 : 2;
    (void)snprintf(name, sizeof name, "layers.%d.%s", layer, bias ? "bias" : "weight");
    const sgi_tensor *tensor = sgi_safetensors_find(file, name);
    if (!tensor)
        return sgi_fail(said, SG_ERROR_FORMAT, "has no tensor '%s', which this network has (%s)",
                        name, shape_text(rank, shape, here));
    if (tensor->type != SG_TENSOR_F32 && tensor->type != SG_TENSOR_F64)
        return sgi_fail(said, SG_ERROR_FORMAT, "'%s' is of type %s, not F32 or F64", name,
                        sgi_tensor_type_name(tensor->type));
    if (tensor->rank != rank || memcmp(tensor->shape, shape, rank * sizeof *shape) != 0)
        return sgi_fail(said, SG_ERROR_FORMAT, "the tensor '%s' is %s there and %s here", name,
                        shape_text(tensor->rank, tensor->shape, there),
                        shape_text(rank, shape, here));
    return SG_OK;
}

/* Compares the tensors with the layers of the network. */
static sg_status check_tensors(const sgi_problem *problem, const sgi_safetensors *file,
                               sg_diagnostic *said)
{
    const sgi_widths *hidden = &problem->settings.network.hidden;
    sgi_arena storage;
    sg_jet_network_config config;
    sgi_arena_init(&storage, &problem->allocator);
    sg_status status = sgi_problem_network(problem, &storage, &config);
    size_t inputs = 2 * config.input.wave_count;
    for (int k = 0; k < problem->names.coordinate_count && status == SG_OK; k++)
        inputs += config.input.keep[k];
    for (int l = 0; l <= hidden->count && status == SG_OK; l++) {
        size_t shape[] = {l < hidden->count ? (size_t)hidden->values[l]
                                            : (size_t)problem->names.field_count,
                          inputs};
        status = check_tensor(file, l, false, shape, said);
        if (status == SG_OK)
            status = check_tensor(file, l, true, shape, said);
        inputs = shape[0];
    }
    sgi_arena_clear(&storage);
    return status;
}

sg_status sgi_problem_read_initial(sgi_problem *problem, sgi_reader *reader)
{
    const sgi_yaml *section = sgi_yaml_get(problem->root, "initial");
    const sgi_yaml *node =
        section && section->kind == SG_YAML_MAPPING ? sgi_yaml_get(section, "weights") : NULL;
    if (!section || (node && sgi_yaml_is(node, "none")))
        return SG_OK;
    if (!node || node->kind != SG_YAML_SCALAR || node->length == 0)
        return refuse(reader, section, "'initial' names the weights to start from");
    sgi_attach wanted = {.what = "a start",
                         .name = "initial",
                         .endings = ".safetensors",
                         .sum = sgi_yaml_get(section, "sum")};
    sg_status status = find_file(problem, reader, node, &wanted.file);
    if (status != SG_OK)
        return status;
    char *data;
    size_t size;
    status = sgi_attach_read(&wanted, reader, problem->sources, &problem->initial, &data, &size);
    sgi_release(&problem->arena.allocator, data);
    if (status != SG_OK)
        return status;
    sgi_safetensors *file;
    sg_diagnostic said = {0};
    status = sgi_safetensors_open(&file, problem->initial.place, &problem->allocator, &said);
    if (status == SG_OK)
        status = check_tensors(problem, file, &said);
    sgi_safetensors_close(file);
    return status == SG_ERROR_FORMAT || status == SG_ERROR_IO
               ? sgi_attach_refuse(&wanted, reader, &said)
               : status;
}
