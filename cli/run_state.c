/* How a run in its folder stands: see run_state.h. */
#include "run_state.h"

#include <string.h>

#include "base/memory.h"
#include "files/file.h"
#include "files/seal.h"

json_t *read_record(const char *folder)
{
    return read_json(folder, "run.json");
}

const char *state_of(const char *folder, const json_t *record)
{
    sgi_run_holder own;
    sgi_run_holder_own(&own);
    const char *state = json_string_value(json_object_get(record, "status"));
    const char *host = json_string_value(json_object_get(record, "host"));
    state = state ? state : "";
    bool steps_taken = strcmp(state, "finishing") == 0;
    if (!steps_taken && strcmp(state, "running") != 0)
        return state;
    if (!host || strcmp(host, own.host) != 0 || sgi_run_lock_test(folder, NULL) != SG_RUN_FREE)
        return "running"; /* on another machine, whose locks may not reach this one, or here */
    return steps_taken ? "unfinished" : "killed";
}

bool lock_folder(sgi_run_lock *lock, const char *folder, int *code)
{
    sg_diagnostic diagnostic = {0};
    sgi_run_holder own;
    sgi_run_holder_own(&own);
    sg_status status = sgi_run_lock_take(lock, folder, &diagnostic);
    *code = exit_code_of(status);
    if (status != SG_OK)
        tell(&diagnostic);
    else if (lock->before.process > 0 && strcmp(lock->before.host, own.host) != 0)
        fprintf(stderr,
                "warning: process %ld on '%s' wrote to %s last and did not end by itself; its lock "
                "is gone, but not every network file system shares locks\n",
                lock->before.process, lock->before.host, folder);
    return status == SG_OK;
}

bool lock_run(sgi_run_lock *lock, const char *folder, int *code)
{
    char above[SG_PATH_SIZE];
    sgi_run_holder holder;
    *lock = (sgi_run_lock){.descriptor = -1};
    if (sgi_run_path(above, folder, "..") == SG_OK && is_a_comparison(above) &&
        sgi_run_lock_test(above, &holder) == SG_RUN_HELD) {
        complain("%s: process %ld is training the comparison that this run is part of, on '%s'",
                 folder, holder.process, holder.host);
        *code = EXIT_BAD_INPUT;
        return false;
    }
    return lock_folder(lock, folder, code);
}

static bool is_there(const char *folder, const char *name)
{
    char path[SG_PATH_SIZE];
    return sgi_run_path(path, folder, name) == SG_OK && sgi_file_exists(path);
}

void warn_of_changes(const char *folder)
{
    static const char *const names[] = {"problem.yaml", "metrics.jsonl"};
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    json_t *record = read_record(folder);
    const json_t *seals = json_object_get(record, "seals");
    const char *state = json_string_value(json_object_get(record, "status"));
    bool whole = state && strcmp(state, "complete") == 0;
    if (!record && is_a_run(folder))
        warn("%s/run.json cannot be read: it was changed after the run wrote it", folder);
    if (record && sgi_seal_was_opened(record))
        warn("%s/run.json was changed after the run wrote it", folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[SG_PATH_SIZE], *text;
        size_t size;
        if (sgi_run_path(path, folder, names[i]) != SG_OK ||
            sgi_file_read(path, (size_t)1 << 30, &heap, &text, &size, NULL) != SG_OK)
            continue;
        if (sgi_seal_is_broken(json_object_get(seals, names[i]), text, size, whole))
            warn("%s was changed after the run wrote it", path);
        sgi_release(&heap, text);
    }
    json_decref(record);
}

void tidy_folder(const char *folder)
{
    sgi_run_lock lock;
    if (!is_there(folder, SG_LOCK_FILE) || sgi_run_lock_take(&lock, folder, NULL) != SG_OK)
        return;
    (void)sgi_file_remove_temporaries(folder, sgi_run_files, SG_RUN_FILES);
    sgi_run_lock_release(&lock);
}

static void note_missing(run_end *end, const char *folder, const char *name)
{
    size_t used = strlen(end->missing);
    if (!is_there(folder, name))
        snprintf(end->missing + used, sizeof end->missing - used, "%s%s", used ? ", " : "", name);
}

/* Whether the file that the run was made with is still the one that is asked for. */
static bool same_file(const char *folder, const work *w)
{
    sg_allocator heap = sgi_allocator_or_heap(NULL);
    char path[SG_PATH_SIZE], *kept = NULL, *wanted = NULL;
    size_t size;
    bool same = sgi_run_path(path, folder, "problem.yaml") == SG_OK &&
                sgi_file_read(path, (size_t)1 << 24, NULL, &kept, &size, NULL) == SG_OK &&
                w->kind->write(w->file, &wanted) == SG_OK && strlen(wanted) == size &&
                memcmp(kept, wanted, size) == 0;
    sgi_release(&heap, kept);
    sgi_release(&heap, wanted);
    return same;
}

run_end end_of(const char *folder, const work *w, bool report)
{
    run_end end = {.trainable = is_there(folder, "last.safetensors") ||
                                is_there(folder, "previous.safetensors")};
    json_t *record = read_record(folder);
    const char *state = record ? state_of(folder, record) : "";
    end.done = json_integer_value(json_object_get(record, "steps_done"));
    end.steps = w->kind->steps(w->file, record);
    end.failed = strcmp(state, "failed") == 0;
    bool ended = strcmp(state, "complete") == 0, less = end.done < end.steps;
    /* What is left of parts is found where each of them stands: in the checkpoint. */
    if (ended && end.trainable && w->kind->in_parts && w->kind->in_parts(w->file))
        ended = same_file(folder, w);
    /* steps 0: not known before the images were counted */
    end.complete = ended && !less && end.steps > 0;
    /* Another budget, of seconds or the loss, ended it before its steps. */
    if (ended && less && same_file(folder, w)) {
        end.complete = end.early = true;
        end.steps = end.done;
    }
    json_decref(record);
    if (!end.complete)
        return end;
    note_missing(&end, folder, "last.safetensors");
    note_missing(&end, folder, "weights.safetensors");
    for (const char *const *file = w->kind->files; file && *file; file++)
        note_missing(&end, folder, *file);
    if (report)
        note_missing(&end, folder, "report.html");
    return end;
}
