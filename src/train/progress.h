/* The progress of a run as notes of a checkpoint: numbers as text. */
#ifndef SG_TRAIN_PROGRESS_H
#define SG_TRAIN_PROGRESS_H

#include "base/safetensors.h"
#include "train/subject.h"

/* The tensor of a checkpoint that holds the optimizer's state. */
#define SG_STATE_TENSOR "optimizer.state"

enum { SG_PROGRESS_NOTES = 9 };

typedef struct sg_progress_notes {
    sg_tensor_note notes[SG_PROGRESS_NOTES];
    char texts[SG_PROGRESS_NOTES][32];
} sg_progress_notes;

/* `notes->notes` points into `notes`. */
void sg_progress_write(sg_progress_notes *notes, const sg_progress *progress);

/* False when a note is missing or not a number. */
bool sg_progress_read(const sg_safetensors *file, sg_progress *progress);

#endif
