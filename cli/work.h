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

typedef struct work_kind {
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

    /* "AdamW + StableGrad (output)": what is compared, in few words. */
    void (*method)(const void *file, char *text, size_t size);

    sg_status (*subject)(sgi_subject **subject, void *file, sg_pool *pool, sg_isa isa,
                         sg_diagnostic *diagnostic);

    /* What will be trained, once, before the progress line. */
    void (*heading)(const void *file, const sgi_subject *subject);

    void (*result)(const sgi_train_result *result);

    /* The whole of `stablegrad check`. */
    int (*check)(void *file, const cli_arguments *arguments);

    /* The whole of `stablegrad eval` with these weights; NULL: by points, in command_eval.c. */
    int (*eval)(void *file, const char *weights, const cli_arguments *arguments);

    const variant *variants;
    size_t variant_count;
    const char *usual; /* the variants that are compared unless --variants says others */
} work_kind;

extern const work_kind problem_work;
extern const work_kind *const image_work; /* NULL in a build without networks on images */

typedef struct work {
    const work_kind *kind;
    void *file;
} work;

/* Reads a file with `count` values set, whatever its kind. */
sg_status load_work(work *w, const char *path, const char *const *sets, size_t count,
                    sg_diagnostic *diagnostic);

/* Reads a file with --set, --seed and `more` (count) applied. On a mistake says so on stderr and
 * returns false; *exit_code is then what the program should end with. */
bool open_work(work *w, const cli_arguments *arguments, const char *path, const char *const *more,
               size_t count, int *exit_code);
void close_work(work *w);

/* Whether the file at `path` is a task on images. */
bool is_image_task(const char *path);

#endif
