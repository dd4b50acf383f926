/* What a problem file sets, in plain structs, and the one table that describes it.
 *
 * Each option is one row of a table: its path, type, range, default and help text. The table
 * drives reading, defaults, checking, --set, and the resolved problem in a run folder. Adding an
 * option is adding a row and a member. Problem files have the table sg_problem_options; other kinds
 * of files have their own, with the same rows for training (option_rows.h). */
#ifndef SG_PINN_SETTINGS_H
#define SG_PINN_SETTINGS_H

#include "pinn/names.h"
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

typedef struct sg_widths {
    int count;
    int values[SG_MOST_HIDDEN];
} sg_widths;

typedef struct sg_frequencies {
    int count;
    double values[SG_MOST_FREQUENCIES];
} sg_frequencies;

typedef struct sg_pieces {
    int count;
    sg_schedule_term values[SG_MOST_PIECES];
} sg_pieces;

/* Files or folders as they will be opened: absolute. */
typedef struct sg_paths {
    int count;
    const char *values[SG_MOST_DATA_FILES];
} sg_paths;

/* A step number, or a word for one. */
enum { SG_STEP_HALF = -1, SG_STEP_FOREVER = -2 };

/* A named reference, or a number. */
typedef struct sg_reference_choice {
    int kind; /* sg_reference */
    double constant;
} sg_reference_choice;

/* What the first layer sees; see sg_jet_input. */
typedef struct sg_input_settings {
    unsigned raw;                      /* coordinates passed on, as bits */
    bool scale;                        /* rescale those to [-1, 1] */
    sg_frequencies frequencies;        /* sin(pi f x), cos(pi f x) */
    unsigned fourier_of;               /* coordinates, as bits */
    int periodic[SG_MOST_COORDINATES]; /* harmonics of the coordinate's own period; 0: none */
    int64_t random_count;
    double random_std;
    int64_t random_seed;
} sg_input_settings;

typedef struct sg_network_settings {
    sg_widths hidden;
    int activation; /* sg_activation */
    double frequency;
    int fan;          /* sg_fan */
    int distribution; /* sg_distribution */
    double gain;      /* 0: the activation's own */
    int precision;    /* sg_type */
} sg_network_settings;

typedef struct sg_training_settings {
    int64_t steps, seed;
    int optimizer; /* sg_optim_kind */
    double rate, betas[2], eps, decay, momentum, dampening;
    bool nesterov;
    double clip; /* 0: off */
    int64_t warmup;
    double warmup_start;
    int then; /* 0: constant, 1: cosine */
    double floor;
    sg_pieces pieces;
    int method; /* sg_method */
    int64_t from, until;
    sg_reference_choice reference;
    int blocks; /* sg_blocks */
    double scale_eps;
    int64_t log_every, evaluate_every, checkpoint_every;
} sg_training_settings;

typedef struct sg_evaluation_settings {
    int64_t grid[SG_MOST_COORDINATES];
    int64_t points;           /* validation points in the domain */
    int64_t condition_points; /* validation points of each condition */
    int64_t chunk;            /* points evaluated at a time */
} sg_evaluation_settings;

typedef struct sg_settings {
    const char *name, *title;
    int64_t points;
    sg_input_settings inputs;
    sg_network_settings network;
    sg_training_settings training;
    sg_evaluation_settings evaluation;
} sg_settings;

/* The settings of one condition that are not expressions. */
typedef struct sg_condition_settings {
    int64_t points;
    double weight;
    unsigned periodic; /* coordinates, as bits */
    bool slopes;       /* of a periodic condition: match the first derivatives too */
} sg_condition_settings;

/* And of one equation. */
typedef struct sg_equation_settings {
    double weight;
} sg_equation_settings;

/* ---- The table ---------------------------------------------------------------------------- */

typedef enum sg_option_type {
    SG_OPTION_SECTION, /* read by its own code: coordinates, equations ... */
    SG_OPTION_TEXT,
    SG_OPTION_BOOL,
    SG_OPTION_INTEGER,     /* int64_t */
    SG_OPTION_REAL,        /* double; may be an expression of constants, as 5/3 */
    SG_OPTION_CHOICE,      /* int: index into `words`; "a=b" makes b another word for a */
    SG_OPTION_GAIN,        /* double, or auto for 0 */
    SG_OPTION_SHARE,       /* double, or auto for -1 */
    SG_OPTION_STEP,        /* int64_t, or half, or forever */
    SG_OPTION_SCALE,       /* sg_reference_choice */
    SG_OPTION_PAIR,        /* double[2] */
    SG_OPTION_TRIPLE,      /* double[3] */
    SG_OPTION_WIDTHS,      /* sg_widths: 6 x 64, or a list */
    SG_OPTION_FREQUENCIES, /* sg_frequencies: n for 1..n, or a list */
    SG_OPTION_COORDINATES, /* unsigned: all, none, a name or a list of names */
    SG_OPTION_HARMONICS,   /* int[8]: {x: 4} */
    SG_OPTION_GRID,        /* int64_t[8]: 256 for all, 256 x 128, or a list */
    SG_OPTION_PIECES,      /* sg_pieces: a list of {from, until, factor} */
    SG_OPTION_PATHS        /* sg_paths: one, or a list; see sg_reader */
} sg_option_type;

typedef struct sg_option {
    const char *path; /* "network.hidden"; "conditions.*.points" for each condition */
    sg_option_type type;
    size_t offset; /* into the table's settings, or the condition's or equation's */
    double least, most;
    const char *words;   /* of a choice */
    const char *initial; /* the default, as it would be written; NULL: none */
    const char *help;    /* one line */
} sg_option;

/* Sections that may be given as one value, and the key it stands for: `schedule: cosine`. */
typedef struct sg_shorthand {
    const char *section, *key;
} sg_shorthand;

typedef struct sg_option_table {
    const char *what; /* the kind of file in messages: "a problem" */
    const sg_option *rows;
    size_t count;
    const sg_shorthand *shorthands;
    size_t shorthand_count;
} sg_option_table;

extern const sg_option_table sg_problem_options;

/* What reading needs. A relative path in `file` starts at `file_folder`, one that is given
 * elsewhere, as by --set, at `current_folder`; both are for tables with SG_OPTION_PATHS only. */
typedef struct sg_reader {
    const sg_option_table *table;
    sg_names *names;
    sg_arena *arena;
    sg_diagnostic *diagnostic;
    const sg_source *file;
    const char *file_folder, *current_folder;
} sg_reader;

/* The row of a path, NULL if there is none. */
const sg_option *sg_option_find(const sg_option_table *table, const char *path);

/* Whether a path of the table begins with the key. */
bool sg_option_is_key(const sg_option_table *table, const sg_yaml *key);

/* Reads one value into `base` + offset. */
SG_CHECKED sg_status sg_option_read(sg_reader *reader, const sg_option *option, const sg_yaml *node,
                                    void *base);

/* Sets every row under `prefix` ("" for the whole, "conditions.*") to its default. */
SG_CHECKED sg_status sg_options_default(sg_reader *reader, const char *prefix, void *base);

/* Reads the mapping at `prefix` and below: rows go to `base`, sections are passed over; an unknown
 * key is a mistake. `what` names the mapping in messages, "a problem". */
SG_CHECKED sg_status sg_options_read(sg_reader *reader, const char *prefix, const char *what,
                                     const sg_yaml *mapping, void *base);

/* Replaces every section given as one value by a mapping. */
SG_CHECKED sg_status sg_options_expand(sg_reader *reader, sg_yaml *root);

/* Reports a key that is not known: the nearest of those under `prefix`, and all of them. `more` is
 * added to the list of keys, as "and the fields u". */
sg_status sg_options_unknown(sg_reader *reader, const char *prefix, const char *what,
                             const sg_yaml *key, const char *more);

/* Writes a value as it would be written in a file, as snprintf does. */
size_t sg_option_write(const sg_option *option, const sg_names *names, const void *base, char *text,
                       size_t capacity);

/* Writes a number so that reading it gives the same one: 1e-4, not 0.0001. */
size_t sg_write_number(double value, char *text, size_t capacity);

/* ---- What the rooms below need ----------------------------------------------------------------
 */

/* The scaler's and the optimizer's configuration for a run of `steps`. `terms` (SG_MOST_PIECES + 2)
 * receives the schedule and must outlive the call that uses the configuration. */
sg_scale_config sg_training_scale(const sg_training_settings *training, uint64_t steps);
sg_optim_config sg_training_optim(const sg_training_settings *training, uint64_t steps,
                                  sg_schedule_term *terms);

#endif
