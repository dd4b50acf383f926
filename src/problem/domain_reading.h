/* What reading shapes and the domain works with. Shared by problem_shapes.c, problem_shape_files.c
 * and problem_domain.c. */
#ifndef SG_PROBLEM_DOMAIN_READING_H
#define SG_PROBLEM_DOMAIN_READING_H

#include "problem/domain.h"

typedef struct sgi_domain_reading {
    sgi_domain *domain;
    sgi_reader *reader;
    const sgi_source *file;                   /* that paths are relative to */
    const double *lower, *upper;              /* of the coordinates */
    const sgi_yaml *section;                  /* `shapes`, or NULL */
    const sgi_yaml *open[SG_YAML_MOST_DEPTH]; /* shapes that are being read, one in the other */
    int depth;
} sgi_domain_reading;

/* Reads {disc: {center: ..., radius: ...}, rotate: 30, move: [1, 0]} as the only step of `region`.
 */
SG_CHECKED sg_status sgi_domain_read_shape(sgi_domain_reading *reading, const sgi_yaml *name,
                                           const sgi_yaml *body, sgi_region *region);

/* Reads the shape from the file that `node` names; `sum` is that of its content, or NULL. */
SG_CHECKED sg_status sgi_domain_read_file(sgi_domain_reading *reading, sgi_shape *shape,
                                          const sgi_yaml *node, const sgi_yaml *sum);

#endif
