/* What no single option of an image task can check: see task.h. */
#include "task/task.h"

/* The node of data.KEY, or of `data`, or the whole file: the nearest that is there. */
static const sgi_yaml *node_of(const sgi_task *task, const char *section, const char *key)
{
    const sgi_yaml *mapping = sgi_yaml_get(task->root, section);
    const sgi_yaml *node =
        mapping && mapping->kind == SG_YAML_MAPPING ? sgi_yaml_get(mapping, key) : NULL;
    return node ? node : mapping ? mapping : task->root;
}

static sg_status check_files(const sgi_task *task, sgi_reader *reader, const char *key,
                             const sgi_paths *paths)
{
    const sgi_yaml *node = node_of(task, "data", key);
    sg_diagnostic *diagnostic = reader->diagnostic;
    if (paths->count == 0) {
        sgi_yaml_place(diagnostic, node, 0, 0);
        sgi_diagnostic_say(diagnostic, "'data.%s' is missing", key);
        sgi_diagnostic_suggest(diagnostic, "as in  data: {train: train.bin, test: test.bin}");
        return SG_ERROR_FORMAT;
    }
    if (task->settings.data.kind != SG_DATA_FOLDER || paths->count == 1)
        return SG_OK;
    sgi_yaml_place(diagnostic, node, 0, 0);
    sgi_diagnostic_say(diagnostic, "data.%s of kind folder is one folder, not a list of %d", key,
                       paths->count);
    sgi_diagnostic_suggest(diagnostic, "classes are folders inside it, as in train/cat/1.jpg");
    return SG_ERROR_FORMAT;
}

static sg_status check_crops(const sgi_task *task, sgi_reader *reader)
{
    const double *area = task->settings.data.area;
    if (area[0] <= area[1])
        return SG_OK;
    const sgi_yaml *crop = node_of(task, "data", "crop"), *node = sgi_yaml_get(crop, "area");
    sgi_yaml_place(reader->diagnostic, node ? node : crop, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "data.crop.area is [smallest, largest], and the first is the larger here");
    return SG_ERROR_FORMAT;
}

/* BatchNorm divides by the batch's deviation, which one image does not have. */
static sg_status check_batch(const sgi_task *task, sgi_reader *reader)
{
    const sgi_task_settings *settings = &task->settings;
    if (settings->network.norm != SG_NORM_BATCH || settings->batch >= 2)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, node_of(task, "training", "batch"), 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "network.norm batch needs training.batch of at least 2");
    return SG_ERROR_FORMAT;
}

/* A classifier has no residual: what stands at the output is dL/dlogits. */
static sg_status check_reference(const sgi_task *task, sgi_reader *reader)
{
    const sgi_training_settings *training = &task->settings.training;
    if (training->reference.kind != SG_REFERENCE_RESIDUAL)
        return SG_OK;
    const sgi_yaml *scaling = node_of(task, "training", "stablegrad");
    const sgi_yaml *node =
        scaling->kind == SG_YAML_MAPPING ? sgi_yaml_get(scaling, "reference") : NULL;
    sgi_yaml_place(reader->diagnostic, node ? node : scaling, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "the reference 'residual' is the residual of an equation, and images have "
                       "none");
    sgi_diagnostic_suggest(reader->diagnostic,
                           "'output' takes the gradient at the network's output instead");
    return SG_ERROR_FORMAT;
}

/* The margin is that of the residuals of equations. */
static sg_status check_until(const sgi_task *task, sgi_reader *reader)
{
    if (task->settings.training.until != SG_STEP_MARGIN)
        return SG_OK;
    const sgi_yaml *scaling = node_of(task, "training", "stablegrad");
    const sgi_yaml *node = scaling->kind == SG_YAML_MAPPING ? sgi_yaml_get(scaling, "until") : NULL;
    sgi_yaml_place(reader->diagnostic, node ? node : scaling, 0, 0);
    sgi_diagnostic_say(reader->diagnostic,
                       "'until: margin' is measured with the residuals of equations, and images "
                       "have none");
    sgi_diagnostic_suggest(reader->diagnostic, "a step number, half, or forever");
    return SG_ERROR_FORMAT;
}

sg_status sgi_task_check(sgi_task *task, sgi_reader *reader)
{
    const sgi_data_settings *data = &task->settings.data;
    sg_status status = check_files(task, reader, "train", &data->train);
    if (status == SG_OK)
        status = check_files(task, reader, "test", &data->test);
    if (status == SG_OK)
        status = check_crops(task, reader);
    if (status == SG_OK)
        status = check_reference(task, reader);
    if (status == SG_OK)
        status = check_until(task, reader);
    return status == SG_OK ? check_batch(task, reader) : status;
}
