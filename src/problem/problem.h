/* A problem: what a file says, checked and compiled.
 *
 * Reading order: sgi_problem (the whole), sgi_point_set (one set of points with its residuals as a
 * program and the derivatives it needs), settings.h (everything that is a number or a word).
 *
 * The loss is the sum over all terms of weight * mean over the set's N items of r^2, summed over
 * the term's components. The equations of a region, or of the whole domain, share one set of
 * points, and each is a term of its own; each condition is one set and one term, whatever number of
 * components it has; so is each data set. Sets of equations come first, then conditions, then
 * data. */
#ifndef SG_PROBLEM_PROBLEM_H
#define SG_PROBLEM_PROBLEM_H

#include "domain/sequence.h"
#include "expr/program.h"
#include "files/attachment.h"
#include "problem/domain.h"
#include "problem/options.h"
#include "problem/settings.h"
#include "problem/unknowns.h"
#include "stablegrad/jet.h"

enum { SG_MOST_FIELDS = 64, SG_MOST_FACES = 32, SG_MOST_COMPONENTS = 64, SG_MOST_SETS = 64 };

enum { SG_MOST_TOUCHED = 4 };

/* Which points of a piece are taken: all tests must hold. */
typedef struct sgi_filter {
    unsigned fixed;                     /* coordinates, as bits, that have a value of their own */
    double values[SG_MOST_COORDINATES]; /* those values */
    sgi_program *keep;                  /* of the coordinates: not 0; NULL: everywhere */
    const sgi_region *within[SG_MOST_TOUCHED];  /* (within_count): in each or on its boundary */
    const sgi_region *touched[SG_MOST_TOUCHED]; /* (touched_count): on the boundary of each */
    int within_count, touched_count;
    bool named; /* one of `within` is the user's, and not the domain */
} sgi_filter;

/* A piece of a condition's place: a plane, a side of a region, or the inside of one.
 *
 * The plane is coordinate = value. `normal` is -1 on the lower face of the domain, 1 on the upper
 * one and 0 inside. For a pair the plane is the upper face and its partner the lower one. */
typedef struct sgi_face {
    int coordinate;
    double value, normal;
    double measure;           /* product of the other coordinates' lengths, as far as it is taken */
    double whole;             /* the same before the filter takes its part */
    const sgi_region *region; /* not NULL: it is side `side` of this region, and no plane */
    int side;
    bool
        interior; /* it is the inside of the region, or of the domain for NULL, and has no normal */
    const sgi_filter *filter; /* NULL: all of it is taken */
} sgi_face;

typedef enum sgi_set_kind {
    SG_SET_DOMAIN,
    SG_SET_FACES,
    SG_SET_PAIRS,
    SG_SET_DATA /* measured: see data.h */
} sgi_set_kind;

/* A term of the loss. */
typedef struct sgi_term {
    const char *name;
    double weight;
} sgi_term;

/* Where a slot of a program reads from. */
typedef enum sgi_slot_kind {
    SG_SLOT_COORDINATE,
    SG_SLOT_NORMAL,
    SG_SLOT_VALUE,
    SG_SLOT_UNKNOWN,
    SG_SLOT_DATA,
    SG_SLOT_EARLIER
} sgi_slot_kind;
typedef struct sgi_slot {
    sgi_slot_kind kind;
    size_t index; /* p * C + c of coordinates; c of normals; (p * R + r) * O + o of values; which
                     unknown constant; of data as in data.h; 2 * field of an earlier window, and 1
                     more for its derivative by t */
} sgi_slot;

typedef struct sgi_bound_program {
    sgi_program *program;
    sgi_slot *slots; /* (program->input_count) */
} sgi_bound_program;

typedef struct sgi_point_set {
    const char *name; /* "domain", or that of the region, the condition or the data set */
    sgi_set_kind kind;
    const sgi_region *region; /* of equations: where they hold; NULL: in the whole domain */
    double share;             /* of equations: the region's, of the domain's measure */
    int points_per_item;      /* 2 for pairs */
    int64_t items;   /* per training step; of single points, the ends of a line, one each */
    sgi_face *faces; /* (face_count); none for the domain */
    int face_count;
    bool curved;   /* a face is no whole plane of a box: points are tried, see place.h */
    bool integral; /* the components are means over all points, of `measure` times an integrand: one
                      number for the whole set, at the points of quadrature.h */
    double measure;                /* of an integral's place */
    const struct sgi_data *data;   /* of SG_SET_DATA: data.h */
    sgi_distribution distribution; /* of the points of training, see cloud.h */
    int64_t renew;                 /* steps; 0: never */
    bool refine;                   /* points follow the residual, see pinn/refinement.h */
    sgi_term *terms;               /* (term_count) */
    int term_count;
    int *component_terms; /* (component_count): the term of each residual component */
    int component_count;
    uint64_t *homes; /* (component_count): where each has a meaning, see sgi_problem */
    sgi_expr *roots; /* (component_count), before collapsing, in the user's units */
    double *scales;  /* (component_count): what each residual is divided by; NULL: all by 1 */
    sg_jet_request *requests; /* (request_count): what the engine's plan is made from */
    size_t request_count;
    sgi_bound_program varying;  /* outputs: coefficients of the requests that vary; NULL: none do */
    sgi_bound_program residual; /* outputs: the components */
    sgi_bound_program gradient; /* outputs: the components, then adjoints of value_indices, then
                                   of unknown_indices */
    size_t *value_indices;      /* (value_count): (p * R + r) * O + o */
    size_t value_count;
    size_t *unknown_indices; /* (unknown_count): the unknown constants that it reads */
    size_t unknown_count;
    sgi_arena own; /* of a set that is released before its problem */
} sgi_point_set;

typedef enum sgi_solution_kind {
    SG_SOLUTION_NONE,
    SG_SOLUTION_EXPRESSIONS,
    SG_SOLUTION_COLE_HOPF,
    SG_SOLUTION_FILES
} sgi_solution_kind;

/* The reference solution. */
typedef struct sgi_solution {
    sgi_solution_kind kind;
    const sgi_yaml *node;
    sgi_expr *exprs;      /* (fields) of SG_SOLUTION_EXPRESSIONS */
    sgi_program *program; /* inputs: coordinates; outputs: the fields, or Cole-Hopf's x */
    double nu;            /* of SG_SOLUTION_COLE_HOPF */
    int x, t;             /* its coordinates; with a program x is that which is not t */
    struct sgi_solution_file *files; /* (file_count) of SG_SOLUTION_FILES: solution_files.h */
    int file_count;
    bool on_grid; /* errors are measured on the evaluation grid, not at the files' points */
} sgi_solution;

typedef struct sgi_exact sgi_exact;

enum { SG_SCALE_ORIGIN = 100 };

/* The size of a coordinate or a field, and where that was found. A field is offset + size * N with
 * the network's output N. */
typedef struct sgi_scale {
    double size, offset; /* the offset of a coordinate is 0 */
    char origin[SG_SCALE_ORIGIN];
} sgi_scale;

/* Sizes with which a problem is nondimensional: see scales.h. */
typedef struct sgi_scales {
    bool on; /* the file has `scales` */
    sgi_scale coordinates[SG_MOST_COORDINATES];
    sgi_scale fields[SG_MOST_FIELDS];
} sgi_scales;

typedef struct sgi_problem {
    sg_allocator allocator;
    sgi_arena arena;
    sgi_source *sources; /* the file, then each override */
    sgi_yaml *root;
    sgi_expressions *exprs;
    sgi_names names;       /* coordinates, fields, constants, definitions */
    sgi_unknown *unknowns; /* (unknown_count), in the order of the file */
    size_t unknown_count;
    double lower[SG_MOST_COORDINATES], upper[SG_MOST_COORDINATES];
    sgi_domain domain;
    sgi_settings settings;
    sgi_point_set sets[SG_MOST_SETS]; /* those of equations first */
    int set_count;
    sgi_equation_settings *equations; /* in the order of the file */
    /* Where a field lives: sets of equations, as bits, whose regions together are its home. 0: in
     * the whole domain. Fields of a material are in the equations of its region alone. */
    uint64_t homes[SG_MOST_FIELDS];
    sgi_condition_settings *conditions; /* in the order of the file */
    sgi_filter filters[SG_MOST_FACES];  /* (filter_count): of the places of conditions */
    int filter_count;
    struct sgi_data *data; /* (data_count), in the order of the file: data.h */
    int data_count;
    sgi_exact *exacts; /* (exact_count): conditions that hold exactly */
    int exact_count;
    sgi_expr *transforms; /* (fields): what stands for a field, made of the network's output; 0: the
                             output itself. NULL: of every field. See exact_conditions.h */
    sgi_solution solution;
    sgi_scales scales;
    sgi_window_ends windows;      /* as in the settings */
    int window;                   /* that this is one of a whole: which; -1: it is the whole */
    double first_time, last_time; /* with windows: of the whole */
    sgi_attachment initial;       /* the weights that training starts from; file NULL: drawn ones */
} sgi_problem;

/* Reads a problem from text. `name` is shown in messages. Each override is "key.key=value", applied
 * before anything is checked; a mistake in one is placed at --set. The text is copied. On
 * SG_ERROR_FORMAT the diagnostic says what is wrong; other codes leave it empty. */
SG_CHECKED sg_status sgi_problem_read(sgi_problem **problem, const char *name, const char *text,
                                      size_t size, const char *const *overrides,
                                      size_t override_count, const sg_allocator *allocator,
                                      sg_diagnostic *diagnostic);

/* The same from a file. SG_ERROR_IO with a diagnostic when it cannot be read. */
SG_CHECKED sg_status sgi_problem_load(sgi_problem **problem, const char *path,
                                      const char *const *overrides, size_t override_count,
                                      const sg_allocator *allocator, sg_diagnostic *diagnostic);

void sgi_problem_destroy(sgi_problem *problem); /* NULL is allowed */

/* The same as sgi_problem_read for window `window`; -1: the whole. */
SG_CHECKED sg_status sgi_problem_read_as(sgi_problem **problem, const char *name, const char *text,
                                         size_t size, const char *const *overrides,
                                         size_t override_count, int window,
                                         const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* ---- Windows ------------------------------------------------------------------------------- */

/* One window of a problem that has some: a problem on its part of the range of t. It has no
 * reference and no weights to start from. */
SG_CHECKED sg_status sgi_problem_window(sgi_problem **window, const sgi_problem *whole, int index,
                                        const sg_allocator *allocator, sg_diagnostic *diagnostic);
/* Whether each of them can be read. */
SG_CHECKED sg_status sgi_problem_try_windows(const sgi_problem *whole, sg_diagnostic *diagnostic);
/* When window `window` ends; -1: when the first begins. */
double sgi_problem_window_end(const sgi_problem *problem, int window);
/* Whether a condition holds at the first time. */
bool sgi_problem_is_start(const sgi_problem *problem, const sgi_point_set *set);

/* The whole problem as text with every option: reading it gives the same problem. Release with
 * sgi_release and the problem's allocator. */
SG_CHECKED sg_status sgi_problem_write(const sgi_problem *problem, char **text);

/* Expressions to be evaluated on a network, as `u`, `u_xx` or `u_t + u*u_x`: a set without points,
 * whose components they are. Release it with sgi_point_set_release, before the problem. */
SG_CHECKED sg_status sgi_problem_quantities(sgi_problem *problem, const char *const *texts,
                                            size_t count, sgi_point_set *set,
                                            sg_diagnostic *diagnostic);

/* The number of equations, of all regions together. */
int sgi_problem_equation_count(const sgi_problem *problem);

/* Whether a point of all coordinates lies in one of the homes, or on the boundary of one; with
 * homes of 0, in the domain. */
bool sgi_problem_has(const sgi_problem *problem, uint64_t homes, const double *point);

/* "equation", "condition" or "data set". */
const char *sgi_point_set_what(const sgi_point_set *set);

/* Whether a point lies in the coordinates' ranges, to 1e-9 of them, and in the domain. */
bool sgi_problem_covers(const sgi_problem *problem, const double *point);

/* Copies the files that the problem names to `folder`, where reading the resolved problem looks for
 * them. Copies that are there already stay. */
SG_CHECKED sg_status sgi_problem_copy_files(const sgi_problem *problem, const char *folder,
                                            sg_diagnostic *diagnostic);

/* ---- Configurations for the rooms below ------------------------------------------------------ */

/* SG_ERROR_MEMORY, with what it needs and, where there is something, what would fit, when the
 * network or what all stages of its training keep together is larger than the machine. */
SG_CHECKED sg_status sgi_problem_fits(const sgi_problem *problem, bool training,
                                      sg_diagnostic *diagnostic);

/* What the training of a problem takes for certain, in bytes; the engines come on top. */
double sgi_problem_bytes(const sgi_problem *problem);

/* Configurations from the settings. The network's arrays are owned by `storage`, released with
 * sgi_arena_clear. */
SG_CHECKED sg_status sgi_problem_network(const sgi_problem *problem, sgi_arena *storage,
                                         sg_jet_network_config *config);
/* The same for window `window` of a whole; -1: for all of it. */
SG_CHECKED sg_status sgi_problem_window_network(const sgi_problem *problem, int window,
                                                sgi_arena *storage, sg_jet_network_config *config);
sg_jet_init sgi_problem_init(const sgi_problem *problem);

/* The scaler's and the optimizer's, of a stage whose optimizer sees gradients alone; `terms`
 * (SG_MOST_PIECES + 2) receives the schedule and must outlive the call that uses the configuration.
 */
sg_scale_config sgi_problem_scale(const sgi_problem *problem, int stage);
sg_optim_config sgi_problem_optim(const sgi_problem *problem, int stage, sg_schedule_term *terms);

/* The value of unknown constant `index` in a network of the problem. */
double sgi_problem_unknown(const sgi_problem *problem, const sg_jet_network *network, size_t index);

size_t sgi_problem_waves(const sgi_problem *problem);      /* of the network's inputs */
double sgi_problem_parameters(const sgi_problem *problem); /* of the network, and the unknowns */

/* The first stage that changes gradients; 0 when none does. */
int sgi_problem_rescaled_stage(const sgi_problem *problem);

/* Steps of all stages, SG_STEPS_WITHOUT_END at most. */
int64_t sgi_problem_steps(const sgi_problem *problem);

/* Whether a stage has an optimizer of second order. */
bool sgi_problem_is_second(const sgi_problem *problem);

/* The first stage whose method is for small networks (second/methods.h), or NULL. */
const sgi_training_settings *sgi_problem_dense(const sgi_problem *problem);

/* The points in the domain that a stage of second order may use. */
int64_t sgi_problem_most_points(const sgi_problem *problem, const sgi_training_settings *training);

/* ---- Shared by the files of this room ---------------------------------------------------------
 */

/* Sections of the file, in this order; each leaves a diagnostic on SG_ERROR_FORMAT. */
SG_CHECKED sg_status sgi_problem_read_names(sgi_problem *problem, sgi_reader *reader);

/* The windows, as soon as the coordinates are known; and what they do not go together with. */
SG_CHECKED sg_status sgi_problem_read_windows(sgi_problem *problem, sgi_reader *reader);
SG_CHECKED sg_status sgi_problem_check_windows(const sgi_problem *problem, sgi_reader *reader);

/* Unknown constants: their names beside the other symbols, then what is said of each, then that
 * each is used. */
SG_CHECKED sg_status sgi_problem_name_unknowns(sgi_problem *problem, sgi_reader *reader);
SG_CHECKED sg_status sgi_problem_read_unknowns(sgi_problem *problem, sgi_reader *reader);
SG_CHECKED sg_status sgi_problem_check_unknowns(sgi_problem *problem, sgi_reader *reader);

/* A new name must be well-formed and mean nothing yet. */
SG_CHECKED sg_status sgi_problem_check_name(sgi_reader *reader, const sgi_yaml *node,
                                            bool coordinate);

/* Marks in `reached` (nodes) what equations and conditions together depend on; `one` (nodes) is
 * scratch memory. */
void sgi_problem_reach(const sgi_problem *problem, uint8_t *reached, uint8_t *one);

/* Names of equations and conditions, which are names of arrays in files and of terms in metrics:
 * those that could not be written at the end of a run are refused. */
SG_CHECKED sg_status sgi_problem_check_labels(const sgi_problem *problem, sgi_reader *reader);
SG_CHECKED sg_status sgi_problem_read_equations(sgi_problem *problem, sgi_reader *reader);

/* The region that `node` names in `what`, "equation 'heat'", as far as it lies in the domain. */
SG_CHECKED sg_status sgi_problem_read_region(sgi_problem *problem, sgi_reader *reader,
                                             const char *what, const sgi_yaml *node,
                                             const sgi_region **region);

/* Finds where each field lives, once the equations are read. */
SG_CHECKED sg_status sgi_problem_find_homes(sgi_problem *problem);

/* The home of an expression: of its field if it contains one alone, else the whole domain. Needs
 * `reached` (nodes). */
uint64_t sgi_problem_home_of(const sgi_problem *problem, sgi_expr root, uint8_t *reached);

/* The stages of training, with the defaults of other options that follow from them, before those
 * are read; and what they do not go together with, after. */
SG_CHECKED sg_status sgi_problem_read_training(sgi_problem *problem, sgi_reader *reader);

/* Refuses an override, of `count`, of an option of training that every stage says itself. */
SG_CHECKED sg_status sgi_problem_check_sets(const sgi_problem *problem, sgi_reader *reader,
                                            size_t count);
SG_CHECKED sg_status sgi_problem_check_training(const sgi_problem *problem, sgi_reader *reader);

/* Reads where a condition holds, the scalar `node`, into the set's faces. `what` is how messages
 * name the condition, "condition 'initial'". */
SG_CHECKED sg_status sgi_problem_read_place(sgi_problem *problem, sgi_reader *reader,
                                            const char *what, const sgi_yaml *node,
                                            sgi_point_set *set);
/* Adds the plane coordinate = value, the whole of it that lies in the domain. */
SG_CHECKED sg_status sgi_problem_add_plane(sgi_problem *problem, sgi_reader *reader,
                                           const char *what, const sgi_yaml *node,
                                           sgi_point_set *set, int coordinate, double value);
SG_CHECKED sg_status sgi_problem_read_conditions(sgi_problem *problem, sgi_reader *reader);

/* Says for each set how its points are drawn; refuses grids that cannot be, and pieces without a
 * point. */
SG_CHECKED sg_status sgi_problem_finish_points(sgi_problem *problem, sgi_reader *reader);
SG_CHECKED sg_status sgi_problem_read_solution(sgi_problem *problem, sgi_reader *reader);

/* The weights to start from, once the network is known. */
SG_CHECKED sg_status sgi_problem_read_initial(sgi_problem *problem, sgi_reader *reader);
SG_CHECKED sg_status sgi_problem_check_fields(sgi_problem *problem, sgi_reader *reader);

/* Compiles the set's roots: requests, programs, slots, in memory of `arena`. */
SG_CHECKED sg_status sgi_point_set_compile(sgi_problem *problem, sgi_arena *arena,
                                           sgi_point_set *set);
void sgi_point_set_release(sgi_point_set *set); /* its programs, and its own arena */

/* "fields u, v" for messages. */
const char *sgi_problem_field_list(const sgi_problem *problem, char *text, size_t capacity);

#endif
