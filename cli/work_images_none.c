/* A build without networks on images: see work.h. It knows such a task and says why it stops. */
#include "task/recognise.h"
#include "work.h"

static bool recognise(const char *text, size_t size)
{
    return sgi_task_recognise(text, size, NULL);
}

static sg_status refuse(void **file, const sgi_source *source, const char *const *sets,
                        size_t count, sg_diagnostic *diagnostic)
{
    (void)sets;
    (void)count;
    *file = NULL;
    return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, source->name,
                         "a task on images, and this build has no networks for them: oneDNN was "
                         "not found when it was made");
}

static int refuse_eval(const cli_arguments *arguments, const char *path, const char *weights)
{
    int code;
    work w;
    (void)weights;
    return open_work(&w, arguments, path, NULL, 0, &code) ? EXIT_RUN_FAILED : code;
}

const work_kind image_work = {
    .recognise = recognise,
    .open = refuse,
    .eval = refuse_eval,
    .no_field = "is a task on images, and this build has no networks for them",
};
