/* What a file says about training, whatever is trained, and the configurations that follow from it.
 * The rows of the table are in training_rows.h. */
#ifndef SG_CONFIG_TRAINING_H
#define SG_CONFIG_TRAINING_H

#include "config/options.h"
#include "second/methods.h"
#include "second/metric.h"
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

/* What `seconds` are counted by: the clock, or what the process has computed over its threads, in
 * which other work of the machine has no part. */
#define SGI_CLOCK_LIST(X)                                                                          \
    X(SGI_CLOCK_WALL, "wall")                                                                      \
    X(SGI_CLOCK_CPU, "cpu")
typedef enum sgi_clock { SGI_CLOCK_LIST(SG_LIST_ENUM) } sgi_clock;

typedef struct sgi_training_settings {
    int64_t steps, seed;
    double seconds;   /* of steps, after which training ends; 0: any number */
    int clock;        /* sgi_clock */
    double tolerance; /* training ends when the loss is below; 0: however low it is */
    int optimizer;    /* sg_optim_kind, or SG_OPTIM_COUNT + sgi_second_kind */
    double rate, betas[2], eps, decay, momentum, dampening;
    bool nesterov;
    int64_t refresh; /* of soap's bases, in steps */
    double clip;     /* 0: off */
    int64_t warmup;
    double warmup_start;
    int then; /* sg_schedule_kind: constant or cosine */
    double floor;
    sgi_pieces pieces;
    int method; /* sg_method */
    int64_t from, until;
    int handover; /* sg_handover */
    sgi_reference_choice reference;
    int blocks;   /* sg_blocks */
    int unknowns; /* of a problem: 1 are left as they are, 2 are blocks; 0: by the optimizer */
    double scale_eps, threshold, floor_norm;
    int64_t log_every, evaluate_every, checkpoint_every;
    int64_t points_start, points_every, points_most; /* of methods of second order */
    double causal_eps;                               /* of causal weights; 0: there are none */
    int64_t causal_chunks;
    int metric;         /* sgi_metric */
    int solve;          /* sgi_solve */
    const char *unused; /* of a file: what sgi_training_unused() says; no option */
} sgi_training_settings;

/* A number of steps that no run reaches: another budget ends it. */
#define SG_STEPS_WITHOUT_END 1000000000000

/* Whether the seconds say where training ends, and with it where its half is and what a cosine goes
 * by. */
static inline bool sgi_training_is_timed(const sgi_training_settings *training)
{
    return training->seconds > 0 && training->steps == SG_STEPS_WITHOUT_END;
}

/* Whether a tolerance alone ends it. */
static inline bool sgi_training_is_endless(const sgi_training_settings *training)
{
    return !(training->seconds > 0) && training->steps == SG_STEPS_WITHOUT_END;
}

/* Whether the optimizer is one of the room `second`, and which. */
static inline bool sgi_training_is_second(const sgi_training_settings *training)
{
    return training->optimizer >= SG_OPTIM_COUNT;
}
static inline sgi_second_kind sgi_training_second(const sgi_training_settings *training)
{
    return (sgi_second_kind)(training->optimizer - SG_OPTIM_COUNT);
}

/* How Levenberg-Marquardt and its kernel form measure, solve and remember their steps. */
static inline bool sgi_training_is_kernel(const sgi_training_settings *training)
{
    return sgi_training_is_second(training) && sgi_training_second(training) == SGI_SECOND_KERNEL;
}

static inline sgi_metric sgi_training_metric(const sgi_training_settings *training)
{
    if (training->metric != SGI_METRIC_AUTO)
        return (sgi_metric)training->metric;
    return sgi_training_is_kernel(training) ? SGI_METRIC_STABLEGRAD : SGI_METRIC_COLUMNS;
}

static inline sgi_solver sgi_training_solver(const sgi_training_settings *training)
{
    if (!sgi_training_is_kernel(training))
        return SGI_SOLVER_SMALLER;
    return training->solve == SGI_SOLVE_CG ? SGI_SOLVER_FREE : SGI_SOLVER_KERNEL;
}

static inline double sgi_training_carried(const sgi_training_settings *training)
{
    return sgi_training_is_kernel(training) ? training->momentum : 0;
}

/* The optimizer's name in files, and in running text. */
const char *sgi_training_optimizer(const sgi_training_settings *training);
const char *sgi_training_optimizer_title(const sgi_training_settings *training);

/* A sentence about what a file says for nothing; false: there is nothing to say. */
bool sgi_training_remark(const sgi_training_settings *training, char *text, size_t size);

/* The first option of the optimizer, of its points and, with second order, of what becomes of
 * gradients that differs from `usual` although this optimizer does not look at it:
 * "optimizer.rate". NULL: none does. */
const char *sgi_training_unused(const sgi_training_settings *training,
                                const sgi_training_settings *usual);

/* Sets what a method of second order does not look at, and what it alone looks at, to that of
 * `usual`: otherwise the resolved file would have in each stage what is meant for others, and
 * reading it would tell so. */
void sgi_training_forget_unused(sgi_training_settings *training,
                                const sgi_training_settings *usual);

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
