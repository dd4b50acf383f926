/* Meshes of a problem's domain in some of its coordinates, and the lines around them. */
#ifndef SG_PROBLEM_PROBLEM_MESH_H
#define SG_PROBLEM_PROBLEM_MESH_H

#include "domain/mesh.h"
#include "problem/problem.h"

/* The mesh in the coordinates `coordinates` (axes), with counts[k] points along each; all others
 * have the values of `point`. See sgi_mesh_make. */
SG_CHECKED sg_status sgi_problem_mesh(const sgi_problem *problem, int axes, const int *coordinates,
                                      const size_t *counts, const double *point, sgi_mesh *mesh,
                                      const sg_allocator *allocator);

/* The edges of a mesh of triangles that have one triangle only: *lines (count, 4), x and y of both
 * ends, released with sgi_release and the mesh's allocator. */
SG_CHECKED sg_status sgi_mesh_outline(const sgi_mesh *mesh, double **lines, size_t *count);

#endif
