/* The progress of a run as notes of a checkpoint: see progress.h. */
#include "train/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const note_keys[SG_PROGRESS_NOTES] = {
    "format",           "step",      "steps_scaled", "steps_inactive", "steps_no_reference",
    "steps_not_finite", "best_step", "best",         "seconds"};

void sgi_progress_write(sgi_progress_notes *list, const sgi_progress *p)
{
    const uint64_t numbers[] = {p->step,        p->counters[0], p->counters[1],
                                p->counters[2], p->counters[3], p->best_step};
    snprintf(list->texts[0], sizeof list->texts[0], "stablegrad checkpoint 1");
    for (size_t i = 0; i < 6; i++)
        snprintf(list->texts[i + 1], sizeof list->texts[0], "%" PRIu64, numbers[i]);
    snprintf(list->texts[7], sizeof list->texts[0], "%.17g", p->best);
    snprintf(list->texts[8], sizeof list->texts[0], "%.17g", p->seconds);
    for (size_t i = 0; i < SG_PROGRESS_NOTES; i++)
        list->notes[i] = (sgi_tensor_note){note_keys[i], list->texts[i]};
}

static bool read_whole(const sgi_safetensors *file, const char *key, uint64_t *value)
{
    const char *text = sgi_safetensors_note(file, key);
    char *end;
    if (!text || text[0] < '0' || text[0] > '9')
        return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0';
}

static bool read_real(const sgi_safetensors *file, const char *key, double *value)
{
    const char *text = sgi_safetensors_note(file, key);
    char *end;
    if (!text || !text[0])
        return false;
    *value = strtod(text, &end);
    return *end == '\0';
}

bool sgi_progress_read(const sgi_safetensors *file, sgi_progress *p)
{
    uint64_t *numbers[] = {&p->step,        &p->counters[0], &p->counters[1],
                           &p->counters[2], &p->counters[3], &p->best_step};
    for (size_t i = 0; i < 6; i++)
        if (!read_whole(file, note_keys[i + 1], numbers[i]))
            return false;
    return read_real(file, "best", &p->best) && read_real(file, "seconds", &p->seconds) &&
           !isnan(p->best) && isfinite(p->seconds);
}
