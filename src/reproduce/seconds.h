/* What experiments share that ask how small the error is after so many seconds: the problems, and
 * the table and charts of errors at times. Their arms are ways of training, with the same network.
 */
#ifndef SG_REPRODUCE_SECONDS_H
#define SG_REPRODUCE_SECONDS_H

#include "reproduce/results.h"
#include "reproduce/tables.h"

#define SGI_TIMED_METHOD(options) "training.optimizer={name: " options "}"
#define SGI_TIMED_EVERY(n)        "training.evaluate_every=" n

/* In parentheses: one text of several, not a comma that is missing. */
#define SGI_TIMED_TRAINING(seconds) ("training={seconds: " seconds ", clock: cpu}")
#define SGI_TIMED_EVALUATION        "evaluation={grid: 128, points: 4096, condition_points: 1024}"

/* The parts. `seconds` is a text, of steps alone; what follows it are the members `budgets`, `arms`
 * and `arm_count` of every part. */
#define SGI_TIMED_PARTS(seconds, ...)                                                              \
    {.name = "poisson",                                                                            \
     .title = "Poisson, exact boundary, 2 x 20",                                                   \
     .file = "poisson",                                                                            \
     .sets = {SGI_TIMED_TRAINING(seconds), "conditions.boundary.exact=true",                       \
              "network.hidden=2x20", "points=2048", "inputs.scale=true", SGI_TIMED_EVALUATION},    \
     __VA_ARGS__},                                                                                 \
        {.name = "burgers",                                                                        \
         .title = "Burgers, nu = 0.01/pi, exact conditions, 4 x 20",                               \
         .file = "burgers",                                                                        \
         .sets = {SGI_TIMED_TRAINING(seconds), "constants.nu=0.01/pi",                             \
                  "conditions.initial.exact=true", "conditions.boundary.exact=true",               \
                  "network.hidden=4x20", "points=4096", "inputs.scale=true",                       \
                  SGI_TIMED_EVALUATION},                                                           \
         __VA_ARGS__},                                                                             \
        {.name = "burgers-shock",                                                                  \
         .title = "Burgers, nu = 1e-4, in a coordinate that is fine at the shock, 4 x 20",         \
         .file = "burgers-shock",                                                                  \
         .sets = {SGI_TIMED_TRAINING(seconds), SGI_TIMED_EVALUATION},                              \
         __VA_ARGS__},                                                                             \
        {.name = "allen-cahn",                                                                     \
         .title = "Allen-Cahn, causal weights, 4 x 20",                                            \
         .file = "allen-cahn",                                                                     \
         .sets = {"training={seconds: " seconds ", clock: cpu, causal: 100}",                      \
                  SGI_TIMED_EVALUATION},                                                           \
         __VA_ARGS__},                                                                             \
        {.name = "kdv",                                                                            \
         .title = "Korteweg-de Vries, two solitons, 3 x 20",                                       \
         .file = "kdv",                                                                            \
         .sets = {SGI_TIMED_TRAINING(seconds), SGI_TIMED_EVALUATION},                              \
         __VA_ARGS__},                                                                             \
        {.name = "wave",                                                                           \
         .title = "A swinging string, 3 x 20",                                                     \
         .file = "wave",                                                                           \
         .sets = {SGI_TIMED_TRAINING(seconds), "network.hidden=3x20", SGI_TIMED_EVALUATION},       \
         __VA_ARGS__},                                                                             \
        {.name = "heat",                                                                           \
         .title = "Heat in a rod, exact conditions, 2 x 20",                                       \
         .file = "heat",                                                                           \
         .sets = {SGI_TIMED_TRAINING(seconds), "conditions.initial.exact=true",                    \
                  "conditions.ends.exact=true", "network.hidden=2x20", SGI_TIMED_EVALUATION},      \
         __VA_ARGS__},                                                                             \
        {.name = "schroedinger",                                                                   \
         .title = "Nonlinear Schroedinger, exact start, 3 x 20",                                   \
         .file = "schroedinger",                                                                   \
         .sets = {SGI_TIMED_TRAINING(seconds), SGI_TIMED_EVALUATION},                              \
         __VA_ARGS__},                                                                             \
    {                                                                                              \
        .name = "poisson-boltzmann", .title = "Poisson-Boltzmann in a perforated square, 3 x 20",  \
        .file = "poisson-boltzmann",                                                               \
        .sets = {SGI_TIMED_TRAINING(seconds), "network.hidden=3x20", SGI_TIMED_EVALUATION},        \
        __VA_ARGS__                                                                                \
    }

/* The text that stands in the last column of a part's rows, "none" where there is nothing. */
typedef const char *sgi_published(const char *part);

/* The errors after 10, 60 and 300 seconds, as far as a run reached them: the medians over the
 * seeds, and where there are several seeds every run. `published`: of others; NULL: no such column.
 */
void sgi_seconds_tables(const sgi_results *results, sgi_published *published, sgi_tables *tables);

/* A chart for each part, of the errors against the seconds. */
void sgi_seconds_draw(const sgi_results *results, sgi_text *out);

#endif
