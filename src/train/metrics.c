/* Metrics: see metrics.h. */
#include "train/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "files/file.h"
#include "files/json_text.h"
#include "train/diagnosis.h"

const char *sgi_first_bad_gradient(const sg_scale_report *scale)
{
    for (size_t b = scale->block_count; b > 0; b--)
        if (!scale->blocks[b - 1].finite)
            return scale->blocks[b - 1].name;
    return "the output";
}

json_t *sgi_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void sgi_json_text(json_t *object, const char *key, const char *text)
{
    json_t *string = json_string(text ? text : "");
    json_object_set_new(object, key, string ? string : json_string(""));
}

static sg_status failed(sg_diagnostic *diagnostic, const char *path)
{
    return sgi_fail_file(diagnostic, SG_ERROR_IO, path, "cannot be written: %m");
}

/* ---- Opening ------------------------------------------------------------------------------ */

/* Whether a line belongs to a step up to `keep_until`; a broken line (of a crash) does not. */
static bool line_kept(sgi_metrics *metrics, const char *line, size_t length, uint64_t keep_until)
{
    json_t *object = json_loadb(line, length, 0, NULL);
    json_t *step = json_object_get(object, "step");
    bool kept = json_is_integer(step) && (uint64_t)json_integer_value(step) <= keep_until;
    if (kept && json_object_get(object, "validation"))
        metrics->evaluated = (uint64_t)json_integer_value(step);
    json_decref(object);
    return kept;
}

/* The lines that are kept, each with its end, which a crash may have cut off. False when memory ran
 * out, or the file cannot be read (ferror), before all were seen. */
static bool copy_lines(sgi_metrics *metrics, FILE *from, FILE *to, uint64_t keep_until)
{
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t length; (length = getline(&line, &capacity, from)) > 0;) {
        length -= line[length - 1] == '\n';
        if (line_kept(metrics, line, (size_t)length, keep_until)) {
            fwrite(line, 1, (size_t)length, to);
            fputc('\n', to);
        }
    }
    free(line);
    return feof(from) && !ferror(to);
}

/* The file in the folder itself, and no pipe or device that would hold up or take what is written.
 */
static int open_regular(const char *path, int flags)
{
    struct stat info;
    int descriptor = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (descriptor < 0 || (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)))
        return descriptor;
    (void)close(descriptor);
    errno = EINVAL;
    return -1;
}

/* Rewrites the file without the lines after `keep_until`. */
static sg_status drop_later_lines(sgi_metrics *metrics, uint64_t keep_until,
                                  sg_diagnostic *diagnostic)
{
    int descriptor = open_regular(metrics->path, O_RDONLY);
    if (descriptor < 0 && errno == ENOENT)
        return SG_OK; /* nothing written yet */
    FILE *old = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (!old) {
        (void)sgi_fail_file(diagnostic, SG_ERROR_IO, metrics->path,
                            errno == ELOOP || errno == EINVAL ? "not a regular file" : "%m");
        if (descriptor >= 0)
            (void)close(descriptor);
        return SG_ERROR_IO;
    }
    char *kept = NULL;
    size_t kept_size = 0;
    FILE *memory = open_memstream(&kept, &kept_size);
    bool whole = memory && copy_lines(metrics, old, memory, keep_until);
    bool read = !ferror(old);
    fclose(old);
    /* glibc's fclose returns 0 and leaves no text when memory runs out in its last step. */
    if (!memory || fclose(memory) != 0 || !kept || (read && !whole)) {
        free(kept);
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    }
    sg_status status = read ? sgi_file_write(metrics->path, kept, kept_size, NULL, diagnostic)
                            : sgi_fail_file(diagnostic, SG_ERROR_IO, metrics->path, "%m");
    sgi_seal_add(&metrics->seal, kept, kept_size);
    free(kept);
    return status;
}

sg_status sgi_metrics_open(sgi_metrics *metrics, const char *folder, uint64_t keep_until,
                           sg_diagnostic *diagnostic)
{
    sg_status status = sgi_run_path(metrics->path, folder, "metrics.jsonl");
    if (status != SG_OK) {
        return sgi_fail_file(diagnostic, status, folder, "the path is too long");
    }
    status = drop_later_lines(metrics, keep_until, diagnostic);
    if (status != SG_OK)
        return status;
    int descriptor = open_regular(metrics->path, O_WRONLY | O_APPEND | O_CREAT);
    if (descriptor < 0)
        return failed(diagnostic, metrics->path);
    sgi_file_sync_name(metrics->path);
    metrics->file = fdopen(descriptor, "a");
    if (metrics->file)
        return SG_OK;
    (void)close(descriptor);
    return failed(diagnostic, metrics->path);
}

sg_status sgi_metrics_sync(sgi_metrics *metrics, sg_diagnostic *diagnostic)
{
    return fsync(fileno(metrics->file)) == 0 ? SG_OK : failed(diagnostic, metrics->path);
}

void sgi_metrics_close(sgi_metrics *metrics)
{
    if (metrics->file)
        fclose(metrics->file);
    metrics->file = NULL;
}

/* ---- Writing ------------------------------------------------------------------------------ */

/* Appends `object` as one line and releases it. */
static sg_status write_line(sgi_metrics *metrics, json_t *object, sg_diagnostic *diagnostic)
{
    char *line = sgi_json_dump(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(object);
    if (!line)
        return sgi_fail(diagnostic, SG_ERROR_MEMORY, "out of memory");
    size_t length = strlen(line);
    line[length] = '\n'; /* in place of the end: nothing reads it as a text any more */
    bool written = fwrite(line, 1, length + 1, metrics->file) == length + 1;
    sgi_seal_add(&metrics->seal, line, length + 1);
    free(line);
    if (!written || fflush(metrics->file) != 0)
        return failed(diagnostic, metrics->path);
    return SG_OK;
}

static json_t *terms_object(const sgi_value *terms, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, terms[i].key, sgi_json_number(terms[i].value));
    return object;
}

static json_t *layers_array(const sg_scale_report *scale)
{
    json_t *array = json_array();
    for (size_t i = 0; i < scale->block_count; i++) {
        const sg_block_report *block = &scale->blocks[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(block->name));
        json_object_set_new(object, "std", sgi_json_number(block->std));
        json_object_set_new(object, "factor", sgi_json_number(block->factor));
        json_object_set_new(object, "scaled", sgi_json_number(block->scaled_std));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *jump_object(const sgi_jump *jump)
{
    json_t *object = json_object();
    json_object_set_new(object, "step", json_integer((json_int_t)jump->event));
    json_object_set_new(object, "loss", sgi_json_number(jump->before));
    json_object_set_new(object, "highest", sgi_json_number(jump->highest));
    json_object_set_new(object, "highest_step", json_integer((json_int_t)jump->highest_step));
    return object;
}

static void add_scale(const sg_scale_report *scale, json_t *object)
{
    json_object_set_new(object, "reference", sgi_json_number(scale->reference));
    json_object_set_new(object, "outcome", json_string(sg_outcome_name(scale->outcome)));
    json_object_set_new(object, "ratio_raw", sgi_json_number(scale->ratio_raw));
    json_object_set_new(object, "ratio_scaled", sgi_json_number(scale->ratio_scaled));
}

sg_status sgi_metrics_step(sgi_metrics *metrics, const sgi_step_metrics *step,
                           sg_diagnostic *diagnostic)
{
    json_t *object = json_object();
    json_object_set_new(object, "step", json_integer((json_int_t)step->step));
    json_object_set_new(object, "seconds", sgi_json_number(step->seconds));
    json_object_set_new(object, "cpu_seconds", sgi_json_number(step->cpu_seconds));
    json_object_set_new(object, "rate", sgi_json_number(step->info.rate));
    json_object_set_new(object, "loss", sgi_json_number(step->loss));
    json_object_set_new(object, "terms", terms_object(step->terms, step->term_count));
    if (step->scale)
        add_scale(step->scale, object);
    json_object_set_new(object, "skipped", json_integer((json_int_t)step->skipped));
    if (step->info.handed_over)
        json_object_set_new(object, "handover",
                            json_string(step->info.rescaled ? "rescaled" : "raw"));
    if (step->jump)
        json_object_set_new(object, "after_handover", jump_object(step->jump));
    if (step->own.write)
        step->own.write(step->own.context, object);
    if (step->scale)
        json_object_set_new(object, "layers", layers_array(step->scale));
    return write_line(metrics, object, diagnostic);
}

sg_status sgi_metrics_evaluation(sgi_metrics *metrics, const sgi_evaluation_metrics *evaluation,
                                 sg_diagnostic *diagnostic)
{
    if (evaluation->step == metrics->evaluated && evaluation->step > 0)
        return SG_OK;
    metrics->evaluated = evaluation->step;
    json_t *object = json_object(), *validation = json_object();
    json_object_set_new(object, "step", json_integer((json_int_t)evaluation->step));
    json_object_set_new(object, "seconds", sgi_json_number(evaluation->seconds));
    json_object_set_new(object, "cpu_seconds", sgi_json_number(evaluation->cpu_seconds));
    json_object_set_new(validation, "loss", sgi_json_number(evaluation->loss));
    json_object_set_new(object, "validation", validation);
    if (evaluation->own.write)
        evaluation->own.write(evaluation->own.context, object);
    return write_line(metrics, object, diagnostic);
}

sg_status sgi_metrics_diagnosis(sgi_metrics *metrics, const sgi_diagnosis *diagnosis,
                                double seconds, sg_diagnostic *diagnostic)
{
    json_t *object = json_object();
    json_object_set_new(object, "step", json_integer((json_int_t)diagnosis->step));
    json_object_set_new(object, "seconds", sgi_json_number(seconds));
    json_object_set_new(object, "diagnosis", sgi_diagnosis_object(diagnosis));
    return write_line(metrics, object, diagnostic);
}

sg_status sgi_json_write(const char *folder, const char *name, json_t *object,
                         sg_diagnostic *diagnostic)
{
    char path[SG_PATH_SIZE];
    sg_status status = sgi_run_path(path, folder, name);
    char *text =
        status == SG_OK ? sgi_json_dump(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (status != SG_OK)
        return sgi_fail_file(diagnostic, status, folder, "the path is too long");
    if (!text)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    status = sgi_file_write(path, text, strlen(text), NULL, diagnostic);
    free(text);
    return status;
}
