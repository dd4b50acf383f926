/* Reading and writing an image task as a whole, and the configurations for the rooms below: see
 * task.h. */
#include "task/task.h"

#include <string.h>

#include "config/document.h"
#include "problem/options.h"

/* A file that describes a PDE is told so; its keys are not spelling mistakes. */
static sg_status check_kind(const sgi_task *task, sgi_reader *reader)
{
    for (const sgi_yaml *key = task->root->first; key; key = key->next->next) {
        if (sgi_option_is_key(reader->table, key) || !sgi_option_is_key(&sgi_problem_options, key))
            continue;
        sgi_yaml_place(reader->diagnostic, key, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "'%s' is a key of a PDE problem, not of %s",
                           key->text, reader->table->what);
        if (sgi_yaml_get(task->root, "data"))
            sgi_diagnostic_suggest(reader->diagnostic, "the key `data` makes a file an image task");
        return SG_ERROR_FORMAT;
    }
    return SG_OK;
}

static sg_status read_all(sgi_task *task, sgi_reader *reader, const char *const *overrides,
                          size_t count)
{
    sgi_task_settings *settings = &task->settings;
    sg_status status = sgi_document_tree(reader, task->sources, overrides, count, &task->root);
    if (status == SG_OK)
        status = check_kind(task, reader);
    if (status == SG_OK)
        status = sgi_document_keys(reader, task->root);
    if (status == SG_OK)
        status = sgi_options_default(reader, "", settings);
    sgi_training_settings usual = settings->training;
    if (status == SG_OK)
        status = sgi_options_read(reader, "", reader->table->what, task->root, settings);
    settings->training.unused = sgi_training_unused(&settings->training, &usual);
    if (status == SG_OK)
        status = sgi_document_name(reader, task->root, &task->sources[0], &settings->name);
    return status == SG_OK ? sgi_task_check(task, reader) : status;
}

sg_status sgi_task_read(sgi_task **out, const char *name, const char *text, size_t size,
                        const char *const *overrides, size_t override_count,
                        const sg_allocator *given, sg_diagnostic *diagnostic)
{
    *out = NULL;
    memset(diagnostic, 0, sizeof *diagnostic);
    sgi_task *task = SGI_NEW(sgi_task, given);
    if (!task)
        return SG_ERROR_MEMORY;
    task->names.time = -1;
    sgi_arena_init(&task->arena, &task->allocator);
    task->sources = sgi_document_sources(&task->arena, name, text, size, override_count);
    sgi_reader reader = {.table = &sgi_task_options,
                         .names = &task->names,
                         .arena = &task->arena,
                         .diagnostic = diagnostic};
    sg_status status =
        task->sources ? sgi_document_folders(&reader, &task->sources[0]) : SG_ERROR_MEMORY;
    if (status == SG_OK)
        status = sgi_expressions_create(&task->exprs, &task->allocator);
    if (status == SG_OK) {
        task->names.exprs = task->exprs;
        status = read_all(task, &reader, overrides, override_count);
    }
    if (status != SG_OK)
        sgi_task_destroy(task);
    else
        *out = task;
    return status;
}

void sgi_task_destroy(sgi_task *task)
{
    if (!task)
        return;
    sgi_expressions_destroy(task->exprs);
    sgi_arena_clear(&task->arena);
    sgi_release(&task->allocator, task);
}

sg_status sgi_task_write(const sgi_task *task, char **text)
{
    sgi_writer w = {.allocator = task->allocator, .names = &task->names};
    const char *previous = "";
    for (size_t i = 0; i < sgi_task_options.count; i++) {
        const sgi_option *option = &sgi_task_options.rows[i];
        sgi_writer_option(&w, previous, option, &task->settings);
        previous = option->path;
    }
    return sgi_writer_finish(&w, text);
}

/* ---- What the rooms below need --------------------------------------------------------------- */

sg_image_view sgi_task_view(const sgi_task *task, bool training)
{
    const sgi_data_settings *data = &task->settings.data;
    sg_image_view view = {.size = (int)data->size,
                          .augment = training && data->augment,
                          .area_min = data->area[0],
                          .area_max = data->area[1],
                          .aspect = data->aspect,
                          .flip = data->flip,
                          .zoom = data->zoom,
                          .seed = (uint64_t)task->settings.training.seed};
    for (int i = 0; i < 3; i++) {
        view.mean[i] = (float)data->mean[i];
        view.std[i] = (float)data->std[i];
    }
    return view;
}

sg_model_options sgi_task_model(const sgi_task *task, int classes)
{
    const sgi_model_settings *network = &task->settings.network;
    return (sg_model_options){.classes = classes,
                              .norm = (sg_norm)network->norm,
                              .bias = network->bias,
                              .dropout = network->dropout,
                              .drop_path = network->drop_path,
                              .hidden = network->hidden.values,
                              .hidden_count = network->hidden.count,
                              .act = (sg_act)network->activation};
}

sg_init_config sgi_task_init(const sgi_task *task)
{
    return (sg_init_config){.kind = (sg_init)task->settings.network.init,
                            .gain = task->settings.network.gain,
                            .seed = (uint64_t)task->settings.training.seed};
}

bool sgi_task_calibrates(const sgi_task *task)
{
    const sgi_model_settings *network = &task->settings.network;
    return network->calibrate == SG_CALIBRATE_YES ||
           (network->calibrate == SG_CALIBRATE_AUTO && network->norm == SG_NORM_NONE);
}

sg_scale_config sgi_task_scale(const sgi_task *task, uint64_t steps)
{
    return sgi_training_scale(&task->settings.training, steps);
}

sg_optim_config sgi_task_optim(const sgi_task *task, uint64_t steps, sg_schedule_term *terms)
{
    return sgi_training_optim(&task->settings.training, steps, terms);
}
