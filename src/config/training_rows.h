/* The rows that every table has: those of training. For the files that hold a table. */
#ifndef SG_CONFIG_TRAINING_ROWS_H
#define SG_CONFIG_TRAINING_ROWS_H

#include "config/option_rows.h"
#include "config/training.h"

#define TRAINING(at, member) ((at) + offsetof(sgi_training_settings, member))

/* The words of optimizers that see gradients alone, and the help text of the row. */
#define OPTIMIZER_WORDS SG_OPTIM_LIST(SGI_LIST_WORD)
#define OPTIMIZER_HELP                                                                             \
    "the optimizer: adamw, adam and sgd as PyTorch has them, or a neighbour of the method"

/* The rows under `training`, for settings at offset `at`. The tables differ in the optimizers, in
 * the rows `steps`, `log`, `evaluate` and `checkpoint`, in what the seed is of and what else
 * `until` may be, in two defaults, and in rows that say more of rescaling, each followed by a
 * comma. */
#define TRAINING_ROWS(at, optimizers, optimizer_help, steps, seed_of, until_is, until_more,        \
                      blocks_are, more_scaling, log, evaluate, checkpoint)                         \
    CHOICE("training.optimizer.name", TRAINING(at, optimizer), WORDS(optimizers), "adamw",         \
           optimizer_help),                                                                        \
        REAL("training.optimizer.rate", TRAINING(at, rate), 0, 1e6, "1e-3",                        \
             "the learning rate, before the schedule multiplies it"),                              \
        OTHER("training.optimizer.betas", pair, TRAINING(at, betas), 0, BELOW_ONE, "[0.9, 0.999]", \
              "how slowly all but sgd forget the mean and the mean square of the gradient"),       \
        REAL("training.optimizer.eps", TRAINING(at, eps), 0, 1, "1e-8",                            \
             "added to the denominator of all but sgd"),                                           \
        REAL("training.optimizer.decay", TRAINING(at, decay), 0, 1e6, "0",                         \
             "weight decay; adamw, adam-mini, multiadam and soap decouple it from the gradient"),  \
        REAL("training.optimizer.momentum", TRAINING(at, momentum), 0, 1, "0",                     \
             "momentum of sgd, and of kernel among the optimizers of second order"),               \
        REAL("training.optimizer.dampening", TRAINING(at, dampening), 0, 1, "0",                   \
             "dampening of sgd's momentum"),                                                       \
        BOOL("training.optimizer.nesterov", TRAINING(at, nesterov), "false",                       \
             "use Nesterov's form of sgd's momentum"),                                             \
        COUNT("training.optimizer.refresh", TRAINING(at, refresh), 1, "2",                         \
              "steps after which soap turns its bases again"),                                     \
        COUNT("training.schedule.warmup", TRAINING(at, warmup), 0, "0",                            \
              "steps of a linear warm-up, which begins at `start` times the rate"),                \
        REAL("training.schedule.start", TRAINING(at, warmup_start), 0, 1, "0",                     \
             "factor of the rate at the first step of the warm-up"),                               \
        CHOICE("training.schedule.then", TRAINING(at, then),                                       \
               WORDS(SG_SCHEDULE_LIST(SGI_LIST_WORD, SGI_LIST_NO_WORD)), "constant",               \
               "what the rate does from the end of the warm-up to the last step"),                 \
        REAL("training.schedule.floor", TRAINING(at, floor), 0, 1, "0",                            \
             "factor of the rate at which the cosine ends"),                                       \
        OTHER(                                                                                     \
            "training.schedule.pieces", pieces, TRAINING(at, pieces), 0, 1e6, "[]",                \
            "further factors of the rate, each for some steps: a list of {from, until, factor}"),  \
        REAL("training.clip", TRAINING(at, clip), 0, 1e30, "0",                                    \
             "largest norm that the gradient of a step may have; 0 does not clip"),                \
        steps, SEED("training.seed", TRAINING(at, seed), "0", seed_of),                            \
        CHOICE("training.stablegrad.method", TRAINING(at, method),                                 \
               WORDS(SG_METHOD_LIST(SGI_LIST_WORD)), "stablegrad",                                 \
               "what is done to the gradient of each block"),                                      \
        COUNT("training.stablegrad.from", TRAINING(at, from), 0, "0",                              \
              "first step whose gradients are rescaled"),                                          \
        OTHER(                                                                                     \
            "training.stablegrad.until", step, TRAINING(at, until), 0, 1e15, until_is,             \
            "first step that is no longer rescaled: a number, half (of all steps), " until_more),  \
        CHOICE("training.stablegrad.handover", TRAINING(at, handover),                             \
               WORDS(SG_HANDOVER_LIST(SGI_LIST_WORD)), "convert",                                  \
               "what becomes of the optimizer's moments when gradients change between raw and "    \
               "rescaled"),                                                                        \
        {"training.stablegrad.reference",                                                          \
         &sgi_codec_scale,                                                                         \
         TRAINING(at, reference),                                                                  \
         0,                                                                                        \
         1e30,                                                                                     \
         WORDS(SG_REFERENCE_LIST(SGI_LIST_WORD, SGI_LIST_NO_WORD)),                                \
         "output",                                                                                 \
         "the scale that every block's gradient is brought to: a rule, or a number"},              \
        CHOICE("training.stablegrad.blocks", TRAINING(at, blocks),                                 \
               WORDS(SG_BLOCKS_LIST(SGI_LIST_WORD)), blocks_are,                                   \
               "which parameters form a block and are rescaled together"),                         \
        more_scaling REAL("training.stablegrad.eps", TRAINING(at, scale_eps), 0, 1, "1e-8",        \
                          "added to each block's standard deviation before it divides"),           \
        REAL("training.stablegrad.threshold", TRAINING(at, threshold), 1e-30, 1e30, "0.01",        \
             "of agc: the most that a row's gradient may be, as a share of the row's norm"),       \
        REAL("training.stablegrad.floor", TRAINING(at, floor_norm), 1e-30, 1e30, "1e-3",           \
             "of agc: what the norm of a row counts as at least"),                                 \
        log, evaluate, checkpoint

#endif
