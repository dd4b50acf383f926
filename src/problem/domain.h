/* The domain of a problem: its shapes by name, and the region that they make.
 *
 *     shapes:
 *       plate: {rectangle: {from: [0, 0], to: [2, 1]}}
 *       hole: {disc: {center: [1, 0.5], radius: 0.2}}
 *     domain: plate - hole
 *
 * Shapes live in all coordinates but t. Without a `domain` it is the box of the coordinates'
 * ranges, which has the name `box` in expressions. */
#ifndef SG_PROBLEM_DOMAIN_H
#define SG_PROBLEM_DOMAIN_H

#include "config/options.h"
#include "domain/region.h"

enum { SG_MOST_REGIONS = 64 };

typedef struct sgi_domain {
    int axes;
    int coordinates[SG_MOST_AXES];        /* (axes): the coordinate of each axis */
    sgi_region *regions[SG_MOST_REGIONS]; /* the box first, then in the order of the file */
    int region_count;
    const sgi_region *region; /* of the problem; NULL: the box */
} sgi_domain;

/* The region of that name, or NULL. */
const sgi_region *sgi_domain_find(const sgi_domain *domain, const char *name, size_t length);

/* Reads `shapes` and `domain` of a file whose coordinates and constants are known; lower and upper
 * are the coordinates' ranges. SG_ERROR_FORMAT with a diagnostic for a mistake. */
SG_CHECKED sg_status sgi_domain_read(sgi_domain *domain, sgi_reader *reader, const sgi_yaml *root,
                                     const double *lower, const double *upper);

/* Shape `index` of those that come from a file, NULL after the last. */
const sgi_shape *sgi_domain_file(const sgi_domain *domain, int index);

/* Copies the files of shapes to `folder`, each under the name of its shape, where reading the
 * resolved problem looks for them. Copies that are there already stay. */
SG_CHECKED sg_status sgi_domain_copy_files(const sgi_domain *domain, const char *folder,
                                           const sg_allocator *allocator,
                                           sg_diagnostic *diagnostic);

/* The axes of a point of all coordinates. */
void sgi_domain_axes(const sgi_domain *domain, const double *point, double *x);

/* Whether a point of all coordinates lies in the domain or on its boundary. */
bool sgi_domain_has(const sgi_domain *domain, const double *point);

#endif
