/* A problem for tests of whole problems. */
#ifndef SG_TESTS_PROBLEM_H
#define SG_TESTS_PROBLEM_H

/* Everything at once: two fields, a Laplacian, mixed derivatives, sources, normals, pairs. */
extern const char problem_of_everything[];

#endif
