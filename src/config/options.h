/* The table of options: what a file may say, one row for each key.
 *
 * A row has the key's path, how its value is read and written (a codec), its range, default and
 * help text. The table drives reading, defaults, checking, --set, and the resolved file in a run
 * folder. Each kind of file has its table, in its own room: problem/options.c, task/options.c; the
 * rows of training are the same in all (training_rows.h).
 *
 * Adding an option is adding a row and a member. Adding a kind of value is adding a codec: its two
 * functions and its row beside them, see codec.h. */
#ifndef SG_CONFIG_OPTIONS_H
#define SG_CONFIG_OPTIONS_H

#include "expr/names.h"
#include "stablegrad/status.h"

enum { SG_MOST_HIDDEN = 256, SG_MOST_DATA_FILES = 64 };

typedef struct sgi_widths {
    int count;
    int values[SG_MOST_HIDDEN];
} sgi_widths;

/* Files or folders as they will be opened: absolute. */
typedef struct sgi_paths {
    int count;
    const char *values[SG_MOST_DATA_FILES];
} sgi_paths;

typedef struct sgi_codec sgi_codec;

typedef struct sgi_option {
    const char *path; /* "network.hidden"; "conditions.*.points" for each condition */
    const sgi_codec *codec;
    size_t offset; /* into the table's settings, or those of the item that * stands for */
    double least, most;
    const char *words;   /* of a choice */
    const char *initial; /* the default, as it would be written; NULL: none */
    const char *help;    /* one line */
} sgi_option;

/* Sections that may be given as one value, and the key it stands for: `schedule: cosine`. With
 * `list`, only a list stands for the key, and a single value is the mistake that it is. */
typedef struct sgi_shorthand {
    const char *section, *key;
    bool list;
} sgi_shorthand;

/* What messages call an item of a section whose paths have a *: {"conditions", "a condition"}. */
typedef struct sgi_item {
    const char *section, *what;
} sgi_item;

/* `repeated` is a list each of whose items is as the section `repeats`; NULL: there is none. */
typedef struct sgi_option_table {
    const char *what; /* the kind of file in messages: "a problem" */
    const sgi_option *rows;
    size_t count;
    const sgi_shorthand *shorthands;
    size_t shorthand_count;
    const sgi_item *items;
    size_t item_count;
    const char *repeated, *repeats;
} sgi_option_table;

/* What reading needs. A relative path in `file` starts at `file_folder`, one that is given
 * elsewhere, as by --set, at `current_folder`; both are found by sgi_document_folders. */
typedef struct sgi_reader {
    const sgi_option_table *table;
    sgi_names *names;
    sgi_arena *arena;
    sg_diagnostic *diagnostic;
    const sgi_source *file;
    const char *file_folder, *current_folder;
} sgi_reader;

/* ---- Kinds of values that every table may have ------------------------------------------------
 */

extern const sgi_codec sgi_codec_section; /* read by its own code: coordinates, equations ... */
extern const sgi_codec sgi_codec_text;    /* const char * */
extern const sgi_codec sgi_codec_bool;    /* bool */
extern const sgi_codec sgi_codec_integer; /* int64_t */
extern const sgi_codec sgi_codec_real;    /* double; may be an expression of constants, as 5/3 */
/* int: index into `words`; "a=b" makes b another word for a, "#" is a value without a word */
extern const sgi_codec sgi_codec_choice;
extern const sgi_codec sgi_codec_gain;   /* double, or auto for 0 */
extern const sgi_codec sgi_codec_share;  /* double, or auto for -1 */
extern const sgi_codec sgi_codec_pair;   /* double[2] */
extern const sgi_codec sgi_codec_triple; /* double[3] */
extern const sgi_codec sgi_codec_widths; /* sgi_widths: 6 x 64, or a list */
extern const sgi_codec sgi_codec_paths;  /* sgi_paths: one, or a list; see sgi_reader */

/* ---- Reading and writing ----------------------------------------------------------------------
 */

/* The row of a path, NULL if there is none. */
const sgi_option *sgi_option_find(const sgi_option_table *table, const char *path);

/* Whether a path of the table begins with the key. */
bool sgi_option_is_key(const sgi_option_table *table, const sgi_yaml *key);

/* What a value of the option looks like, for people: "a number", "true or false". */
const char *sgi_option_takes(const sgi_option *option);

/* Reads one value into `base` + offset. */
SG_CHECKED sg_status sgi_option_read(sgi_reader *reader, const sgi_option *option,
                                     const sgi_yaml *node, void *base);

/* Sets every row under `prefix` ("" for the whole, "conditions.*") to its default. */
SG_CHECKED sg_status sgi_options_default(sgi_reader *reader, const char *prefix, void *base);

/* Reads the mapping at `prefix` and below: rows go to `base`, sections are passed over; an unknown
 * key is a mistake. `what` names the mapping in messages, "a problem". */
SG_CHECKED sg_status sgi_options_read(sgi_reader *reader, const char *prefix, const char *what,
                                      const sgi_yaml *mapping, void *base);

/* Replaces every section given as one value by a mapping, also in the items of the list that is
 * repeated. */
SG_CHECKED sg_status sgi_options_expand(sgi_reader *reader, sgi_yaml *root);

/* The node at a dotted path of mappings, or NULL. */
const sgi_yaml *sgi_options_find(const sgi_yaml *root, const char *path);

/* Reports a key that is not known: the nearest of those under `prefix`, and all of them. `more` is
 * added to the list of keys, as "and the fields u". */
sg_status sgi_options_unknown(sgi_reader *reader, const char *prefix, const char *what,
                              const sgi_yaml *key, const char *more);

/* Places and says a mistake at `node`, with a suggestion if it is not NULL; SG_ERROR_FORMAT. */
__attribute__((format(printf, 4, 5))) sg_status sgi_refuse(sgi_reader *reader, const sgi_yaml *node,
                                                           const char *suggestion,
                                                           const char *format, ...);

/* Writes a value as it would be written in a file, as snprintf does. */
size_t sgi_option_write(const sgi_option *option, const sgi_names *names, const void *base,
                        char *text, size_t capacity);

/* Writes a number so that reading it gives the same one: 1e-4, not 0.0001. */
size_t sgi_write_number(double value, char *text, size_t capacity);

#endif
