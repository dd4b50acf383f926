/* The fields and their derivatives as expressions in the coordinates and in what the network gives:
 * the transforms of exact conditions put in. Both forms of export are made from these. */
#ifndef SG_EXPORT_FIELDS_H
#define SG_EXPORT_FIELDS_H

#include "pinn/pinn.h"
#include "text/arena.h"

typedef struct sgi_export_fields {
    size_t count;      /* values of the fields first, then their derivatives */
    sgi_input *wanted; /* (count): field and derivative */
    sgi_expr *roots;   /* (count) */
    uint32_t nodes;    /* of the graph */
    uint8_t *reached;  /* (nodes): what the roots are made of */
} sgi_export_fields;

/* The fields alone or, with `derivatives`, also all first derivatives and those that the equations
 * and conditions use. The memory is the arena's. SG_ERROR_UNSUPPORTED, with a sentence, for an
 * expression that has no meaning at a point by itself. */
SG_CHECKED sg_status sgi_export_fields_make(sgi_export_fields *fields, sgi_problem *problem,
                                            bool derivatives, sgi_arena *arena,
                                            sg_diagnostic *diagnostic);

#endif
