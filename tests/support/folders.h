/* Run folders as the trainer writes them, with made-up but lifelike content: the fields solve (or
 * nearly solve) their problems, losses fall, layers' gradient scales differ by decades. */
#ifndef SG_TESTS_FOLDERS_H
#define SG_TESTS_FOLDERS_H

#include <stdbool.h>

typedef enum folder_kind {
    FOLDER_ODE,       /* u(x) */
    FOLDER_BURGERS,   /* u(x, t) with a shock */
    FOLDER_HEAT,      /* u(x, y, t), no reference solution */
    FOLDER_HELMHOLTZ, /* u(x, y, z), zero on the middle planes */
    FOLDER_BURGERS3D  /* u, v, w over (x, y, z, t) */
} folder_kind;

/* Writes a run of 5,000 steps, or what there is of it at `steps_done`, to a new folder. Runs with
 * `scaled` are the better ones. */
void folder_run(const char *folder, folder_kind kind, bool scaled, int seed, int steps_done);

/* Adds measurements of its kernels to a run, every 250 steps. */
void folder_diagnoses(const char *folder, int seed);

/* A comparison of AdamW with `seeds` runs against StableGrad with as many. */
void folder_comparison(const char *folder, folder_kind kind, int seeds);

/* A new empty folder in the system's place for them; released by folder_remove. */
char *folder_temporary(void);
void folder_remove(char *folder);

/* A whole file as text, to be freed; fails the test if it cannot be read. */
char *folder_text(const char *folder, const char *name);

/* Writes a text file. */
void folder_put(const char *folder, const char *name, const char *text);

/* A reproducible number in 0 .. 1. */
double folder_noise(int seed, int step, int stream);

#endif
