/* A trained network and what to evaluate of it: shared by `eval` and `export`. */
#ifndef SG_CLI_SOLUTION_H
#define SG_CLI_SOLUTION_H

#include "domain/mesh.h"
#include "files/vti.h"
#include "pinn/pinn.h"
#include "pinn/quantities.h"
#include "session.h"

enum { MOST_COLUMNS = 128 };

typedef struct solution {
    const cli_arguments *arguments;
    sg_pool *pool;
    sgi_problem *problem;
    sg_pinn *pinn;             /* over `problem`, with the weights of the run */
    char *texts[MOST_COLUMNS]; /* the quantities as typed, and the names of their columns */
    size_t text_count;
    sgi_point_set quantities;
    sgi_box_grid grid;
    double *points; /* (count, coordinates) when they came from a file */
    sgi_places places;
    bool meshed; /* the places are the points of `mesh`, for each of the slices in turn */
    sgi_mesh mesh;
    int along; /* the coordinate that slices are cut along, or -1 */
    size_t slice_count;
    double slices[SG_VTI_SLICES];
    double *columns[MOST_COLUMNS]; /* coordinates, then the quantities: (places.count) each */
    const char *names[MOST_COLUMNS];
    size_t column_count;
} solution;

/* The files that operand 0 means: of a run, its problem and its newest (or best) weights; of a file
 * of weights, the problem that --problem names. Returns an exit code after saying what is wrong. */
int find_files(const cli_arguments *arguments, char problem[SG_PATH_SIZE],
               char weights[SG_PATH_SIZE]);

/* The whole of `stablegrad eval` of a PDE: as CSV on the output, or in --out. */
int eval_problem(const cli_arguments *arguments, const char *path, const char *weights);

/* Opens the run or the weights in operand 0, and evaluates nothing. Returns an exit code after
 * saying what is wrong; close_solution in any case. */
int open_trained(solution *s, const cli_arguments *arguments);

/* Opens the run or the weights in operand 0, and evaluates what the options ask for. Returns an
 * exit code after saying what is wrong. `on_grid` refuses --points and needs no --grid. `target` is
 * the file to be written, or NULL: for .vtu the places are the points of a mesh. */
int open_solution(solution *s, const cli_arguments *arguments, bool on_grid, const char *target);
void close_solution(solution *s);

#endif
