/* What a problem file sets, in plain structs, and the one table that describes it.
 *
 * Each option is one row of a table: its path, type, range, default and help text. The table
 * drives reading, defaults, checking, --set, and the resolved problem in a run folder. Adding an
 * option is adding a row and a member. Problem files have the table sgi_problem_options; other
 * kinds of files have their own, with the same rows for training (option_rows.h). */
#ifndef SG_CONFIG_SETTINGS_H
#define SG_CONFIG_SETTINGS_H

#include "expr/names.h"
#include "stablegrad/jet.h"
#include "stablegrad/optim.h"
#include "stablegrad/scale.h"
#include "stablegrad/schedule.h"

enum {
    SG_MOST_HIDDEN = 256,
    SG_MOST_FREQUENCIES = 256,
    SG_MOST_PIECES = 64,
    SG_MOST_DATA_FILES = 64
};

typedef struct sgi_widths {
    int count;
    int values[SG_MOST_HIDDEN];
} sgi_widths;

typedef struct sgi_frequencies {
    int count;
    double values[SG_MOST_FREQUENCIES];
} sgi_frequencies;

typedef struct sgi_pieces {
    int count;
    sg_schedule_term values[SG_MOST_PIECES];
} sgi_pieces;

/* Files or folders as they will be opened: absolute. */
typedef struct sgi_paths {
    int count;
    const char *values[SG_MOST_DATA_FILES];
} sgi_paths;

/* A step number, or a word for one. */
enum { SG_STEP_HALF = -1, SG_STEP_FOREVER = -2 };

/* A named reference, or a number. */
typedef struct sgi_reference_choice {
    int kind; /* sg_reference */
    double constant;
} sgi_reference_choice;

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
    double scale_eps;
    int64_t log_every, evaluate_every, checkpoint_every;
} sgi_training_settings;

typedef struct sgi_evaluation_settings {
    int64_t grid[SG_MOST_COORDINATES];
    int64_t points;           /* validation points in the domain */
    int64_t condition_points; /* validation points of each condition */
    int64_t chunk;            /* points evaluated at a time */
} sgi_evaluation_settings;

typedef struct sgi_settings {
    const char *name, *title;
    int64_t points;
    sgi_input_settings inputs;
    sgi_network_settings network;
    sgi_training_settings training;
    sgi_evaluation_settings evaluation;
} sgi_settings;

/* The settings of one condition that are not expressions. */
typedef struct sgi_condition_settings {
    int64_t points;
    double weight;
    unsigned periodic; /* coordinates, as bits */
    bool slopes;       /* of a periodic condition: match the first derivatives too */
} sgi_condition_settings;

/* And of one equation. */
typedef struct sgi_equation_settings {
    double weight;
} sgi_equation_settings;

/* ---- The table ---------------------------------------------------------------------------- */

typedef enum sgi_option_type {
    SG_OPTION_SECTION, /* read by its own code: coordinates, equations ... */
    SG_OPTION_TEXT,
    SG_OPTION_BOOL,
    SG_OPTION_INTEGER, /* int64_t */
    SG_OPTION_REAL,    /* double; may be an expression of constants, as 5/3 */
    SG_OPTION_CHOICE,  /* int: index into `words`; "a=b" makes b another word for a, "#" has none */
    SG_OPTION_GAIN,    /* double, or auto for 0 */
    SG_OPTION_SHARE,   /* double, or auto for -1 */
    SG_OPTION_STEP,    /* int64_t, or half, or forever */
    SG_OPTION_SCALE,   /* sgi_reference_choice */
    SG_OPTION_PAIR,    /* double[2] */
    SG_OPTION_TRIPLE,  /* double[3] */
    SG_OPTION_WIDTHS,  /* sgi_widths: 6 x 64, or a list */
    SG_OPTION_FREQUENCIES, /* sgi_frequencies: n for 1..n, or a list */
    SG_OPTION_COORDINATES, /* unsigned: all, none, a name or a list of names */
    SG_OPTION_HARMONICS,   /* int[8]: {x: 4} */
    SG_OPTION_GRID,        /* int64_t[8]: 256 for all, 256 x 128, or a list */
    SG_OPTION_PIECES,      /* sgi_pieces: a list of {from, until, factor} */
    SG_OPTION_PATHS        /* sgi_paths: one, or a list; see sgi_reader */
} sgi_option_type;

typedef struct sgi_option {
    const char *path; /* "network.hidden"; "conditions.*.points" for each condition */
    sgi_option_type type;
    size_t offset; /* into the table's settings, or the condition's or equation's */
    double least, most;
    const char *words;   /* of a choice */
    const char *initial; /* the default, as it would be written; NULL: none */
    const char *help;    /* one line */
} sgi_option;

/* Sections that may be given as one value, and the key it stands for: `schedule: cosine`. */
typedef struct sgi_shorthand {
    const char *section, *key;
} sgi_shorthand;

typedef struct sgi_option_table {
    const char *what; /* the kind of file in messages: "a problem" */
    const sgi_option *rows;
    size_t count;
    const sgi_shorthand *shorthands;
    size_t shorthand_count;
} sgi_option_table;

extern const sgi_option_table sgi_problem_options;

/* What reading needs. A relative path in `file` starts at `file_folder`, one that is given
 * elsewhere, as by --set, at `current_folder`; both are for tables with SG_OPTION_PATHS only. */
typedef struct sgi_reader {
    const sgi_option_table *table;
    sgi_names *names;
    sgi_arena *arena;
    sg_diagnostic *diagnostic;
    const sgi_source *file;
    const char *file_folder, *current_folder;
} sgi_reader;

/* The row of a path, NULL if there is none. */
const sgi_option *sgi_option_find(const sgi_option_table *table, const char *path);

/* Whether a path of the table begins with the key. */
bool sgi_option_is_key(const sgi_option_table *table, const sgi_yaml *key);

/* Reads one value into `base` + offset. */
SG_CHECKED sg_status sgi_option_read(sgi_reader *reader, const sgi_option *option,
                                     const sgi_yaml *node, void *base);

/* Sets every row under `prefix` ("" for the whole, "conditions.*") to its default. */
SG_CHECKED sg_status sgi_options_default(sgi_reader *reader, const char *prefix, void *base);

/* Reads the mapping at `prefix` and below: rows go to `base`, sections are passed over; an unknown
 * key is a mistake. `what` names the mapping in messages, "a problem". */
SG_CHECKED sg_status sgi_options_read(sgi_reader *reader, const char *prefix, const char *what,
                                      const sgi_yaml *mapping, void *base);

/* Replaces every section given as one value by a mapping. */
SG_CHECKED sg_status sgi_options_expand(sgi_reader *reader, sgi_yaml *root);

/* Reports a key that is not known: the nearest of those under `prefix`, and all of them. `more` is
 * added to the list of keys, as "and the fields u". */
sg_status sgi_options_unknown(sgi_reader *reader, const char *prefix, const char *what,
                              const sgi_yaml *key, const char *more);

/* Writes a value as it would be written in a file, as snprintf does. */
size_t sgi_option_write(const sgi_option *option, const sgi_names *names, const void *base,
                        char *text, size_t capacity);

/* Writes a number so that reading it gives the same one: 1e-4, not 0.0001. */
size_t sgi_write_number(double value, char *text, size_t capacity);

/* ---- What the rooms below need ----------------------------------------------------------------
 */

/* The scaler's and the optimizer's configuration for a run of `steps`. `terms` (SG_MOST_PIECES + 2)
 * receives the schedule and must outlive the call that uses the configuration. */
sg_scale_config sgi_training_scale(const sgi_training_settings *training, uint64_t steps);
sg_optim_config sgi_training_optim(const sgi_training_settings *training, uint64_t steps,
                                   sg_schedule_term *terms);

#endif
