/* What a file says about training, whatever is trained, and the configurations that follow from it.
 * The rows of the table are in training_rows.h. */
#ifndef SG_CONFIG_TRAINING_H
#define SG_CONFIG_TRAINING_H

#include "config/options.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"
#include "stablegrad/schedule.h"

enum { SG_MOST_PIECES = 64 };

typedef struct sgi_pieces {
    int count;
    sg_schedule_term values[SG_MOST_PIECES];
} sgi_pieces;

/* A step number, or a word for one. */
enum { SG_STEP_HALF = -1, SG_STEP_FOREVER = -2, SG_STEP_MARGIN = -3 };

/* A named reference, or a number. */
typedef struct sgi_reference_choice {
    int kind; /* sg_reference */
    double constant;
} sgi_reference_choice;

typedef struct sgi_training_settings {
    int64_t steps, seed;
    int optimizer; /* sg_optim_kind */
    double rate, betas[2], eps, decay, momentum, dampening;
    bool nesterov;
    double clip; /* 0: off */
    int64_t warmup;
    double warmup_start;
    int then; /* sg_schedule_kind: constant or cosine */
    double floor;
    sgi_pieces pieces;
    int method; /* sg_method */
    int64_t from, until;
    int handover; /* sg_handover */
    sgi_reference_choice reference;
    int blocks; /* sg_blocks */
    double scale_eps, threshold, floor_norm;
    int64_t log_every, evaluate_every, checkpoint_every;
} sgi_training_settings;

/* Kinds of values. */
extern const sgi_codec sgi_codec_step;   /* int64_t, half, forever or margin */
extern const sgi_codec sgi_codec_scale;  /* sgi_reference_choice */
extern const sgi_codec sgi_codec_pieces; /* sgi_pieces: a list of {from, until, factor} */

/* The scaler's and the optimizer's configuration for a run of `steps`. `terms` (SG_MOST_PIECES + 2)
 * receives the schedule and must outlive the call that uses the configuration. */
sg_scale_config sgi_training_scale(const sgi_training_settings *training, uint64_t steps);
sg_optim_config sgi_training_optim(const sgi_training_settings *training, uint64_t steps,
                                   sg_schedule_term *terms);

#endif
