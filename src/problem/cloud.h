/* The points of one set of a batch: which distribution they are drawn from, and when anew.
 *
 * Uniform points are those of sampler.h. All others are points of a sequence in the unit cube
 * (domain/sequence.h), one sequence for each piece of the set, mapped to the piece as uniform
 * numbers are. Where not every point of the cube is taken, as in a domain with a hole, the sequence
 * is tried number after number, and the items are those that fall inside, in its order; of a grid,
 * the coarsest that has enough nodes inside, some of them left out evenly.
 *
 * Points are renewed every `renew` steps: those of step s are a pure function of seed, stream, set,
 * item and s / renew. Only training and its candidates follow the settings; points of other streams
 * are uniform and fresh. */
#ifndef SG_PROBLEM_CLOUD_H
#define SG_PROBLEM_CLOUD_H

#include "domain/sequence.h"
#include "problem/sampler.h"

typedef struct sgi_cloud {
    const sgi_problem *problem;
    int set;
    int64_t items;
    sgi_draw draw;           /* `step` counts renewals */
    int64_t renew;           /* steps; 0: never */
    sgi_distribution kind;   /* uniform: the rest is not used */
    bool drawn;              /* for `draw` */
    sgi_sequence *sequences; /* (pieces of the set, at least one) */
    int64_t *ends;           /* (pieces): items up to the end of each */
    uint32_t *order;         /* (items): numbers in the piece's sequence; NULL: one after another */
} sgi_cloud;

/* Memory is of the arena. Sobol's direction numbers must outlive the cloud. */
SG_CHECKED sg_status sgi_cloud_create(sgi_cloud *cloud, const sgi_problem *problem, int set,
                                      int64_t items, sg_pinn_stream stream, const sgi_sobol *sobol,
                                      sgi_arena *arena);

/* Another number of items, no larger than at creation, from the next move on. */
void sgi_cloud_resize(sgi_cloud *cloud, int64_t items);

/* Moves to the points of a step. Those that have to be tried are tried here. */
void sgi_cloud_move(sgi_cloud *cloud, uint64_t seed, uint64_t step);

/* As sgi_sample and sgi_sample_normals. */
void sgi_cloud_points(const sgi_cloud *cloud, size_t first, size_t count, sg_type type,
                      void *const *coordinates);
void sgi_cloud_normals(const sgi_cloud *cloud, size_t first, size_t count, sg_type type,
                       void *const *normals);

/* As sgi_data_columns, of a set of data. */
void sgi_cloud_data(const sgi_cloud *cloud, size_t first, size_t count, sg_type type,
                    void *const *columns);

/* "sobol, every 100 steps": how the set's points are drawn and chosen, as snprintf does. */
size_t sgi_cloud_describe(const sgi_problem *problem, int set, char *text, size_t size);

/* The dimension of piece `piece` of a set, and how many numbers a point of it is drawn from, at
 * most as far as some tries tell: a grid needs as many. */
void sgi_piece_width(const sgi_problem *problem, int set, int piece, sgi_use use, int *dimension,
                     int *numbers);

enum { SG_GRID_MESSAGE = 200 };

/* Whether the piece has a grid of `count` points; `message` (SG_GRID_MESSAGE) says why not
 * otherwise. */
bool sgi_piece_has_grid(const sgi_problem *problem, int set, int piece, int64_t count,
                        char *message);

#endif
