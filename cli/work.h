/* A file that can be trained: a problem (a PDE), or a task on images. The commands that take either
 * speak to this; each kind has a file of its own. */
#ifndef SG_CLI_WORK_H
#define SG_CLI_WORK_H

#include "base/diagnostic.h"
#include "session.h"
#include "train/train.h"

enum { MOST_VARIANT_SETS = 2 };

/* A variant of `compare`: the file with a few values set. */
typedef struct variant {
    const char *name;
    const char *sets[MOST_VARIANT_SETS];
    size_t set_count;
} variant;

/* A kind of work. A new kind is a file with such a table here and a row in the list of work.c, a
 * file with a sgi_subject_type in src/train, and one with a sgi_report_kind in src/report. */
typedef struct work_kind {
    /* Whether a text is of this kind; NULL: every text that no kind before it takes. */
    bool (*recognise)(const char *text, size_t size);

    /* Compiles a text; *file is what the other functions take. A mistake is told by the diagnostic.
     */
    sg_status (*open)(void **file, const sgi_source *source, const char *const *sets, size_t count,
                      sg_diagnostic *diagnostic);
    void (*close)(void *file);
    const char *(*name)(const void *file);
    const char *(*title)(const void *file);
    const sgi_training_settings *(*training)(const void *file);

    /* Steps of the whole run, given the run.json of one that is there. */
    int64_t (*steps)(const void *file, const json_t *record);

    /* Whether it is trained in parts with budgets of their own, of which `steps` is the sum: it
     * does not say then what is left to do. NULL: it is not. */
    bool (*in_parts)(const void *file);

    /* How a run that ended after `steps` of them could go further, by another budget if that is
     * what ended it `early`: "--set training.steps=8000". "": it cannot. NULL: by more steps. */
    void (*further)(const void *file, int64_t steps, bool early, char *text, size_t size);

    /* Every how many steps the kernels are measured, 0: never; NULL: they cannot be. */
    int64_t (*diagnose_every)(const void *file);

    /* The file with every option written out; released with the heap's allocator. */
    sg_status (*write)(const void *file, char **text);

    /* "AdamW + StableGrad (output)": what is compared, in few words. */
    void (*method)(const void *file, char *text, size_t size);

    sg_status (*subject)(sgi_subject **subject, void *file, sg_pool *pool, sg_isa isa,
                         sg_diagnostic *diagnostic);

    /* What will be trained, once, before the progress line. */
    void (*heading)(const void *file, const sgi_subject *subject);

    /* The whole of `stablegrad check`. */
    int (*check)(void *file, const cli_arguments *arguments);

    /* Seconds of a training step on this machine, measured with few of them; NaN when they cannot
     * be. The file is of no other use after that. NULL: they take too long for this. */
    double (*step_seconds)(void *file, sg_pool *pool);

    /* Whether several runs of it may be trained at a time, each on one thread, with the same bits
     * as one after the other. NULL: no. */
    bool (*side_by_side)(const void *file);

    /* The whole of `stablegrad eval`, given the file and the weights. */
    int (*eval)(const cli_arguments *arguments, const char *path, const char *weights);

    /* The files that its runs end with, beside those of every run; a list that ends with NULL. */
    const char *const *files;

    /* Why its runs have no field on points, after the file's name; NULL: they have one. */
    const char *no_field;

    bool waits; /* on threads of oneDNN: see wait_passively */

    const sgi_option_table *keys; /* of its files; NULL: it opens none */

    const variant *variants;
    size_t variant_count;
    const char *usual; /* the variants that are compared unless --variants says others */
} work_kind;

extern const work_kind problem_work;
extern const work_kind image_work; /* in a build without networks for them it opens nothing */

typedef struct work {
    const work_kind *kind;
    void *file;
    char *origin; /* path and sets, each with a 0 behind it, for other ranks to open the same */
    size_t origin_size;
} work;

/* Reads a file with `count` values set, whatever its kind. */
sg_status load_work(work *w, const char *path, const char *const *sets, size_t count,
                    sg_diagnostic *diagnostic);

/* Reads a file with --set, --seed and `more` (count) applied. On a mistake says so on stderr and
 * returns false; *exit_code is then what the program should end with. */
bool open_work(work *w, const cli_arguments *arguments, const char *path, const char *const *more,
               size_t count, int *exit_code);
/* The same with `sets` (count) alone. */
bool open_work_with(work *w, const char *path, const char *const *sets, size_t count,
                    int *exit_code);
void close_work(work *w);

/* The file alone, which is then the caller's; the work is closed otherwise. */
void *take_file(work *w);

/* The kind of the file at `path`; the last of the list if it cannot be read. */
const work_kind *kind_of(const char *path);

/* Reads what the origin of another work says. */
sg_status load_origin(work *w, const char *origin, size_t size, sg_diagnostic *diagnostic);

#endif
