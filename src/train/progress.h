/* The progress of a run as notes of a checkpoint: numbers as text. */
#ifndef SG_TRAIN_PROGRESS_H
#define SG_TRAIN_PROGRESS_H

#include "files/safetensors.h"
#include "train/subject.h"

/* The tensor of a checkpoint that holds the optimizer's state. */
#define SG_STATE_TENSOR "optimizer.state"

/* That of the points that refinement keeps; there is none without. */
#define SG_POINTS_TENSOR "refinement.points"

enum { SG_PROGRESS_NOTES = 27 };

typedef struct sgi_progress_notes {
    sgi_tensor_note notes[SG_PROGRESS_NOTES];
    char texts[SG_PROGRESS_NOTES][32];
} sgi_progress_notes;

/* `notes->notes` points into `notes`. */
void sgi_progress_write(sgi_progress_notes *notes, const sgi_progress *progress);

/* False when the file is no checkpoint of this format, has no checksum, or a note is missing or not
 * a number. */
bool sgi_progress_read(const sgi_safetensors *file, sgi_progress *progress);

#endif
