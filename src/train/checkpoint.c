/* Checkpoints: see checkpoint.h. */
#include "train/checkpoint.h"

#include "base/diagnostic.h"
#include "optim/state.h"
#include "pinn/weights.h"
#include "train/progress.h"

static sg_status optim_fits(void *context, const sgi_progress *progress, const void *data,
                            size_t size, sg_diagnostic *diagnostic)
{
    (void)progress;
    (void)diagnostic;
    return sgi_state_fits(context, data, size) ? SG_OK : SG_ERROR_STATE;
}

static void optim_restore(void *context, const sgi_progress *progress, const void *data,
                          size_t size)
{
    (void)progress;
    (void)!sg_optim_restore(context, data, size); /* it fits: this cannot fail */
}

sgi_kept_state sgi_kept_optim(sg_optim *optim)
{
    sgi_kept_state state = {.context = optim, .fits = optim_fits, .restore = optim_restore};
    state.data = sg_optim_state(optim, &state.size);
    return state;
}

sg_status sgi_checkpoint_save(const char *path, const sg_jet_network *network,
                              const sgi_kept_state *state, const sgi_progress *progress,
                              const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sgi_weights list;
    if (sgi_weights_list(&list, network, allocator) != SG_OK)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    list.tensors[list.count++] = (sgi_tensor){.name = SG_STATE_TENSOR,
                                              .type = SG_TENSOR_U8,
                                              .rank = 1,
                                              .shape = {state->size},
                                              .data = state->data};
    if (progress->points)
        list.tensors[list.count++] = (sgi_tensor){.name = SG_POINTS_TENSOR,
                                                  .type = SG_TENSOR_U8,
                                                  .rank = 1,
                                                  .shape = {progress->points_size},
                                                  .data = progress->points};
    sgi_progress_notes notes;
    sgi_progress_write(&notes, progress);
    sg_status status = sgi_safetensors_write(path, list.tensors, list.count, notes.notes,
                                             SG_PROGRESS_NOTES, diagnostic);
    sgi_weights_release(&list);
    return status;
}

static sg_status read_checkpoint(const sgi_safetensors *file, const char *path,
                                 sg_jet_network *network, const sgi_kept_state *state,
                                 sgi_progress *progress, const sg_allocator *allocator,
                                 sg_diagnostic *diagnostic)
{
    const sgi_tensor *saved = sgi_safetensors_find(file, SG_STATE_TENSOR);
    sgi_progress read;
    if (!saved || saved->type != SG_TENSOR_U8 || !sgi_progress_read(file, &read)) {
        return sgi_fail_file(diagnostic, SG_ERROR_FORMAT, path,
                             "not a checkpoint that can be resumed");
    }
    size_t size = sgi_tensor_elements(saved);
    sg_status status = state->fits(state->context, &read, saved->data, size, diagnostic);
    if (status == SG_ERROR_STATE)
        return sgi_fail_file(diagnostic, status, path, "was saved by another optimizer or network");
    if (status == SG_OK)
        status = sgi_weights_read(file, path, network, allocator, diagnostic);
    if (status != SG_OK)
        return status;
    state->restore(state->context, &read, saved->data, size);
    *progress = read;
    return SG_OK;
}

sg_status sgi_checkpoint_load(const char *path, sg_jet_network *network,
                              const sgi_kept_state *state, sgi_progress *progress,
                              const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, allocator, diagnostic);
    if (status == SG_OK)
        status = read_checkpoint(file, path, network, state, progress, allocator, diagnostic);
    sgi_safetensors_close(file);
    return status;
}

sg_status sgi_checkpoint_load_points(const char *path, sgi_refinement *refinement,
                                     const sg_allocator *allocator, sg_diagnostic *diagnostic)
{
    sgi_safetensors *file;
    sg_status status = sgi_safetensors_open(&file, path, allocator, diagnostic);
    const sgi_tensor *points =
        status == SG_OK ? sgi_safetensors_find(file, SG_POINTS_TENSOR) : NULL;
    size_t size = points ? sgi_tensor_elements(points) : 0;
    if (points &&
        (points->type != SG_TENSOR_U8 || !sgi_refinement_fits(refinement, points->data, size)))
        status = sgi_fail_file(diagnostic, SG_ERROR_STATE, path,
                               "was saved with other points, or another refinement");
    else if (points)
        sgi_refinement_restore(refinement, points->data);
    sgi_safetensors_close(file);
    return status;
}
