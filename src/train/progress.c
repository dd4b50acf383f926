/* The progress of a run as notes of a checkpoint: see progress.h. */
#include "train/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKPOINT_FORMAT "stablegrad checkpoint 2"

/* The numbers of a run's progress and what they are called. */
#define WHOLES(X, p)                                                                               \
    X("step", p->step)                                                                             \
    X("steps_scaled", p->counters[0])                                                              \
    X("steps_inactive", p->counters[1])                                                            \
    X("steps_no_reference", p->counters[2])                                                        \
    X("steps_not_finite", p->counters[3])                                                          \
    X("problem", p->problem)                                                                       \
    X("seed", p->seed)                                                                             \
    X("best_step", p->best_step)                                                                   \
    X("handover_step", p->jump.event)                                                              \
    X("handover_highest_step", p->jump.highest_step)                                               \
    X("loss_values", p->jump.count)                                                                \
    X("margin_misses", p->margin_misses)                                                           \
    X("window", p->place.window)                                                                   \
    X("window_begin", p->place.window_begin)                                                       \
    X("stage", p->place.stage)                                                                     \
    X("stage_steps", p->place.stage_steps)                                                         \
    X("skipped", p->place.skipped)
#define REALS(X, p)                                                                                \
    X("best", p->best)                                                                             \
    X("seconds", p->seconds)                                                                       \
    X("cpu_seconds", p->cpu_seconds)                                                               \
    X("handover_loss", p->jump.before)                                                             \
    X("handover_highest", p->jump.highest)                                                         \
    X("loss_level", p->jump.level)                                                                 \
    X("refinement_seconds", p->refinement_seconds)                                                 \
    X("stage_seconds", p->place.stage_seconds)                                                     \
    X("stage_loss", p->place.loss)

void sgi_progress_write(sgi_progress_notes *list, const sgi_progress *p)
{
    size_t i = 0;
    list->notes[i] = (sgi_tensor_note){"format", CHECKPOINT_FORMAT};
#define WRITE_AS(format, key, value)                                                               \
    snprintf(list->texts[++i], sizeof list->texts[0], format, value);                              \
    list->notes[i] = (sgi_tensor_note){key, list->texts[i]};
#define WRITE_WHOLE(key, value) WRITE_AS("%" PRIu64, key, value)
#define WRITE_REAL(key, value)  WRITE_AS("%.17g", key, value)
    WHOLES(WRITE_WHOLE, p)
    REALS(WRITE_REAL, p)
#undef WRITE_REAL
#undef WRITE_WHOLE
#undef WRITE_AS
}

/* Checkpoints of before there was such a thing: all steps are those of one stage. */
static const char *older_note(const sgi_safetensors *file, const char *key)
{
    static const char *const later[] = {"margin_misses",     "window",      "stage",
                                        "skipped",           "cpu_seconds", "stage_seconds",
                                        "refinement_seconds"};
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        if (strcmp(key, later[i]) == 0)
            return "0";
    if (strcmp(key, "stage_loss") == 0)
        return "nan";
    return strcmp(key, "stage_steps") == 0 ? sgi_safetensors_note(file, "step") : NULL;
}

static const char *find_note(const sgi_safetensors *file, const char *key)
{
    const char *text = sgi_safetensors_note(file, key);
    return text ? text : older_note(file, key);
}

static bool read_whole(const sgi_safetensors *file, const char *key, uint64_t *value)
{
    const char *text = find_note(file, key);
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0';
}

static bool read_real(const sgi_safetensors *file, const char *key, double *value)
{
    const char *text = find_note(file, key);
    char *end;
    if (!text || !text[0])
        return false;
    *value = strtod(text, &end);
    return *end == '\0';
}

bool sgi_progress_read(const sgi_safetensors *file, sgi_progress *p)
{
    const char *format = sgi_safetensors_note(file, "format");
    bool read =
        format && strcmp(format, CHECKPOINT_FORMAT) == 0 && sgi_safetensors_has_checksum(file);
#define READ_WHOLE(key, value) read = read && read_whole(file, key, &(value));
#define READ_REAL(key, value)  read = read && read_real(file, key, &(value));
    WHOLES(READ_WHOLE, p)
    REALS(READ_REAL, p)
#undef READ_REAL
#undef READ_WHOLE
    p->points = NULL;
    p->points_size = 0;
    return read && !isnan(p->best) && isfinite(p->seconds) && isfinite(p->cpu_seconds) &&
           isfinite(p->refinement_seconds) && isfinite(p->place.stage_seconds);
}
