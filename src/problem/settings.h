/* What a problem file sets, in plain structs. */
#ifndef SG_PROBLEM_SETTINGS_H
#define SG_PROBLEM_SETTINGS_H

#include "config/training.h"
#include "stablegrad/jet.h"

enum { SG_MOST_FREQUENCIES = 256, SG_MOST_MAPS = 8, SG_MOST_WINDOWS = 64 };

typedef struct sgi_frequencies {
    int count;
    double values[SG_MOST_FREQUENCIES];
} sgi_frequencies;

/* What the first layer sees; see sg_jet_input. */
typedef struct sgi_input_settings {
    unsigned raw;                      /* coordinates passed on, as bits */
    bool scale;                        /* rescale those to [-1, 1] */
    sgi_frequencies frequencies;       /* sin(pi f x), cos(pi f x) */
    unsigned fourier_of;               /* coordinates, as bits */
    int periodic[SG_MOST_COORDINATES]; /* harmonics of the coordinate's own period; 0: none */
    int64_t random_count;
    double random_std;
    int64_t random_seed;
} sgi_input_settings;

typedef struct sgi_network_settings {
    sgi_widths hidden;
    int activation; /* sg_activation */
    double frequency;
    int fan;          /* sg_fan */
    int distribution; /* sg_distribution */
    double gain;      /* 0: the activation's own */
    int precision;    /* sg_type */
} sgi_network_settings;

/* Names of quantities. */
typedef struct sgi_maps_list {
    int count;
    const char *values[SG_MOST_MAPS];
} sgi_maps_list;

typedef struct sgi_evaluation_settings {
    int64_t grid[SG_MOST_COORDINATES];
    sgi_maps_list maps;       /* beside the fields, in field.npz and in the report */
    int64_t points;           /* validation points in the domain */
    int64_t condition_points; /* validation points of each condition */
    int64_t chunk;            /* points evaluated at a time */
} sgi_evaluation_settings;

/* Measuring kernels. */
typedef struct sgi_diagnose_settings {
    int64_t every;     /* steps; 0: never, or for `until: margin` by a rule */
    int64_t residuals; /* of the batch, at most about; 0: those of a training step */
} sgi_diagnose_settings;

/* How points of a step are drawn, and when anew. */
typedef struct sgi_sampling_settings {
    int distribution; /* sgi_distribution */
    int64_t renew;    /* after that many steps; 0: never */
} sgi_sampling_settings;

/* Points that follow the residual. */
#define SG_REFINE_LIST(X)                                                                          \
    X(SG_REFINE_NONE, "none")                                                                      \
    X(SG_REFINE_RAD, "rad")                                                                        \
    X(SG_REFINE_RAR_D, "rar-d")                                                                    \
    X(SG_REFINE_R3, "r3")
typedef enum sgi_refine { SG_REFINE_LIST(SG_LIST_ENUM) } sgi_refine;

typedef struct sgi_refinement_settings {
    int method;          /* sgi_refine */
    int64_t every;       /* steps */
    int64_t candidates;  /* for each point, of rad and rar-d */
    double power, floor; /* of the weights; -1: the method's own */
    int64_t add, most;   /* of rar-d: points each time, and in the end; 0: by a rule */
} sgi_refinement_settings;

enum { SG_MOST_STAGES = 8 };

/* Training, stage after stage; at least one. */
typedef struct sgi_stages {
    bool listed; /* the file has a list of them */
    int count;
    sgi_training_settings values[SG_MOST_STAGES];
} sgi_stages;

/* Windows in time, of equal length or with these ends. */
typedef struct sgi_window_ends {
    int count; /* 0: none */
    bool listed;
    double values[SG_MOST_WINDOWS];
} sgi_window_ends;

typedef struct sgi_settings {
    const char *name, *title;
    int64_t points;
    sgi_sampling_settings sampling; /* of all sets that have none of their own */
    sgi_refinement_settings refinement;
    sgi_input_settings inputs;
    sgi_network_settings network;
    sgi_training_settings training; /* the first stage */
    sgi_stages stages;
    sgi_evaluation_settings evaluation;
    sgi_diagnose_settings diagnose;
    sgi_window_ends windows;
    bool windows_anew; /* each window starts from drawn weights, not from those before it */
} sgi_settings;

/* The settings of one condition that are not expressions. */
typedef struct sgi_condition_settings {
    int64_t points;
    double weight;
    unsigned periodic; /* coordinates, as bits */
    bool slopes;       /* of a periodic condition: match the first derivatives too */
    bool exact;        /* it holds by the form of the solution, and has no points */
    int sampling;      /* 1 + sgi_distribution; 0: as all sets */
    int64_t renew;     /* as in sgi_sampling_settings; -1: as all sets */
    bool refine;       /* its points follow the residual too */
} sgi_condition_settings;

/* And of one equation. */
typedef struct sgi_equation_settings {
    double weight;
    int64_t points; /* of its region; 0: the region's share of all */
} sgi_equation_settings;

/* And of one data set. */
typedef struct sgi_measured_settings {
    double weight;
    int64_t points;   /* rows in each step; 0: all */
    double hold_out;  /* below 1 a part of the rows, otherwise their number */
    int skip_outside; /* rows outside the domain are left out, not refused */
} sgi_measured_settings;

/* Kinds of values. */
extern const sgi_codec sgi_codec_frequencies; /* sgi_frequencies: n for 1..n, or a list */
extern const sgi_codec sgi_codec_coordinates; /* unsigned: all, none, a name or a list of names */
extern const sgi_codec sgi_codec_harmonics;   /* int[SG_MOST_COORDINATES]: {x: 4} */
extern const sgi_codec sgi_codec_windows;     /* sgi_window_ends: a number of them, or their ends */
extern const sgi_codec sgi_codec_renewal;     /* int64_t: steps, never for 0, default for -1 */
extern const sgi_codec sgi_codec_maps;        /* sgi_maps_list: none, a name or a list of names */
extern const sgi_codec sgi_codec_bounds;      /* double[2]: [0, 10], [0, inf] */
extern const sgi_codec sgi_codec_grid; /* int64_t[SG_MOST_COORDINATES]: 256, 256 x 128, or a list */

#endif
