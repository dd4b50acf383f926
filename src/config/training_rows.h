/* The rows that every table has: those of training. For the files that hold a table. */
#ifndef SG_CONFIG_TRAINING_ROWS_H
#define SG_CONFIG_TRAINING_ROWS_H

#include "config/option_rows.h"
#include "config/training.h"

#define TRAINING(at, member) ((at) + offsetof(sgi_training_settings, member))

/* The rows under `training` of settings at offset `at`. What differs between the tables: the rows
 * `steps`, `evaluate` and `checkpoint`, what the seed is of, and three defaults. */
#define TRAINING_ROWS(at, steps, seed_of, until_is, blocks_are, log_is, evaluate, checkpoint)      \
    CHOICE("training.optimizer.name", TRAINING(at, optimizer),                                     \
           WORDS(SG_OPTIM_LIST(SGI_LIST_WORD)), "adamw", "with PyTorch's semantics"),              \
        REAL("training.optimizer.rate", TRAINING(at, rate), 0, 1e6, "1e-3", "learning rate"),      \
        OTHER("training.optimizer.betas", pair, TRAINING(at, betas), 0, BELOW_ONE, "[0.9, 0.999]", \
              "of adam and adamw"),                                                                \
        REAL("training.optimizer.eps", TRAINING(at, eps), 0, 1, "1e-8", "of adam and adamw"),      \
        REAL("training.optimizer.decay", TRAINING(at, decay), 0, 1e6, "0", "weight decay"),        \
        REAL("training.optimizer.momentum", TRAINING(at, momentum), 0, 1, "0", "of sgd"),          \
        REAL("training.optimizer.dampening", TRAINING(at, dampening), 0, 1, "0", "of sgd"),        \
        BOOL("training.optimizer.nesterov", TRAINING(at, nesterov), "false", "of sgd"),            \
        COUNT("training.schedule.warmup", TRAINING(at, warmup), 0, "0",                            \
              "steps of linear warm-up, from `start` times the rate"),                             \
        REAL("training.schedule.start", TRAINING(at, warmup_start), 0, 1, "0",                     \
             "factor at the first warm-up step"),                                                  \
        CHOICE("training.schedule.then", TRAINING(at, then),                                       \
               WORDS(SG_SCHEDULE_LIST(SGI_LIST_WORD, SGI_LIST_NO_WORD)), "constant",               \
               "after the warm-up, to the last step"),                                             \
        REAL("training.schedule.floor", TRAINING(at, floor), 0, 1, "0",                            \
             "factor that the cosine ends at"),                                                    \
        OTHER("training.schedule.pieces", pieces, TRAINING(at, pieces), 0, 1e6, "[]",              \
              "further factors: a list of {from, until, factor}"),                                 \
        REAL("training.clip", TRAINING(at, clip), 0, 1e30, "0",                                    \
             "largest gradient norm; 0 is off"),                                                   \
        steps, SEED("training.seed", TRAINING(at, seed), "0", seed_of),                            \
        CHOICE("training.stablegrad.method", TRAINING(at, method),                                 \
               WORDS(SG_METHOD_LIST(SGI_LIST_WORD)), "stablegrad",                                 \
               "what is done to each block's gradient"),                                           \
        COUNT("training.stablegrad.from", TRAINING(at, from), 0, "0",                              \
              "first step that is rescaled"),                                                      \
        OTHER("training.stablegrad.until", step, TRAINING(at, until), 0, 1e15, until_is,           \
              "first step that is not any more: a number, half, or forever"),                      \
        CHOICE("training.stablegrad.handover", TRAINING(at, handover),                             \
               WORDS(SG_HANDOVER_LIST(SGI_LIST_WORD)), "convert",                                  \
               "the optimizer's moments when gradients change between raw and rescaled"),          \
        {"training.stablegrad.reference",                                                          \
         &sgi_codec_scale,                                                                         \
         TRAINING(at, reference),                                                                  \
         0,                                                                                        \
         1e30,                                                                                     \
         WORDS(SG_REFERENCE_LIST(SGI_LIST_WORD, SGI_LIST_NO_WORD)),                                \
         "output",                                                                                 \
         "the common scale; or a number"},                                                         \
        CHOICE("training.stablegrad.blocks", TRAINING(at, blocks),                                 \
               WORDS(SG_BLOCKS_LIST(SGI_LIST_WORD)), blocks_are, "what is rescaled together"),     \
        REAL("training.stablegrad.eps", TRAINING(at, scale_eps), 0, 1, "1e-8",                     \
             "added to each block's deviation"),                                                   \
        COUNT("training.log_every", TRAINING(at, log_every), 1, log_is, "steps between metrics"),  \
        evaluate, checkpoint

#endif
