/* Points from files: see points.h. */
#include "commands/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files/arrays.h"
#include "session.h"
#include "text/nearest.h"

enum { FILE_LIMIT = 1 << 30 };

/* A table while it is matched: column i has `count` values, `stride` apart. */
typedef struct columns {
    const char *path;
    const sgi_problem *problem;
    const char *names[SG_MOST_COORDINATES + 1]; /* of the file */
    const double *values[SG_MOST_COORDINATES + 1];
    size_t column_count, count, stride;
    bool named;
} columns;

/* "x, t" */
static const char *coordinate_list(const sgi_names *names, char *text, size_t size)
{
    size_t used = 0;
    for (int k = 0; k < names->coordinate_count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "",
                                 names->coordinates[k]);
    return text;
}

static int refuse_name(const columns *c, const char *name)
{
    const sgi_names *names = &c->problem->names;
    char list[400], hint[128] = "";
    sgi_nearest nearest;
    sgi_nearest_begin(&nearest, name, strlen(name));
    for (int k = 0; k < names->coordinate_count; k++)
        sgi_nearest_offer(&nearest, names->coordinates[k]);
    if (nearest.best[0])
        snprintf(hint, sizeof hint, "; did you mean '%s'?", nearest.best);
    complain("%s: '%s' is not a coordinate of the problem (%s)%s", c->path, name,
             coordinate_list(names, list, sizeof list), hint);
    return EXIT_BAD_INPUT;
}

/* The coordinate of each column of the file. */
static int match(const columns *c, int places[SG_MOST_COORDINATES + 1])
{
    const sgi_names *names = &c->problem->names;
    bool seen[SG_MOST_COORDINATES] = {false};
    for (size_t i = 0; i < c->column_count; i++) {
        int k = 0;
        while (k < names->coordinate_count && strcmp(names->coordinates[k], c->names[i]) != 0)
            k++;
        if (k == names->coordinate_count)
            return refuse_name(c, c->names[i]);
        if (seen[k]) {
            complain("%s: there are two columns '%s'", c->path, c->names[i]);
            return EXIT_BAD_INPUT;
        }
        seen[k] = true;
        places[i] = k;
    }
    for (int k = 0; k < names->coordinate_count; k++)
        if (!seen[k]) {
            complain("%s: the coordinate '%s' is missing", c->path, names->coordinates[k]);
            return EXIT_BAD_INPUT;
        }
    return EXIT_DONE;
}

static int arrange(const columns *c, double **points, size_t *count)
{
    size_t width = (size_t)c->problem->names.coordinate_count;
    int places[SG_MOST_COORDINATES + 1];
    char list[400];
    if (!c->named && c->column_count != width) {
        complain("%s has %zu columns, and the problem has %zu coordinates (%s)", c->path,
                 c->column_count, width, coordinate_list(&c->problem->names, list, sizeof list));
        return EXIT_BAD_INPUT;
    }
    for (size_t i = 0; i < width; i++)
        places[i] = (int)i;
    int code = c->named ? match(c, places) : EXIT_DONE;
    if (code != EXIT_DONE)
        return code;
    if (!c->named && width > 1)
        fprintf(stderr, "%s has no names: its columns are taken as %s\n", c->path,
                coordinate_list(&c->problem->names, list, sizeof list));
    *points = malloc((c->count * width + 1) * sizeof **points);
    if (!*points) {
        complain("out of memory");
        return EXIT_RUN_FAILED;
    }
    for (size_t k = 0; k < width; k++)
        for (size_t i = 0; i < c->count; i++)
            (*points)[i * width + (size_t)places[k]] = c->values[k][i * c->stride];
    *count = c->count;
    return EXIT_DONE;
}

static int too_many(const char *path, size_t count)
{
    complain("%s has %zu columns, more than any problem has coordinates", path, count);
    return EXIT_BAD_INPUT;
}

/* One array for each coordinate, of equal shapes. */
static int take_arrays(columns *c, const sgi_arrays *arrays, bool named)
{
    if (!named && arrays->count > SG_MOST_COORDINATES)
        return too_many(c->path, arrays->count);
    c->named = named;
    c->stride = 1; /* of columns, one too many is enough to be refused by name */
    c->column_count = arrays->count > SG_MOST_COORDINATES ? SG_MOST_COORDINATES + 1 : arrays->count;
    c->count = arrays->items[0].count;
    for (size_t i = 0; i < c->column_count; i++) {
        c->names[i] = arrays->items[i].name;
        c->values[i] = arrays->items[i].values;
        if (arrays->items[i].count != c->count) {
            complain("%s: '%s' has %zu values and '%s' has %zu", c->path, c->names[0], c->count,
                     c->names[i], arrays->items[i].count);
            return EXIT_BAD_INPUT;
        }
    }
    return EXIT_DONE;
}

/* One array (points, coordinates). */
static int take_table(columns *c, const sgi_array *array)
{
    size_t width = array->rank == 2 ? array->shape[1] : 1;
    if (array->rank > 2 || width > SG_MOST_COORDINATES) {
        complain("%s: the array must have one row for each point and one column for each of the "
                 "%d coordinates",
                 c->path, c->problem->names.coordinate_count);
        return EXIT_BAD_INPUT;
    }
    c->stride = c->column_count = width;
    c->count = array->rank == 0 ? 1 : array->shape[0];
    for (size_t i = 0; i < width; i++)
        c->values[i] = array->values + i;
    return EXIT_DONE;
}

static bool is_coordinate(const sgi_names *names, const char *name)
{
    for (int k = 0; k < names->coordinate_count; k++)
        if (strcmp(names->coordinates[k], name) == 0)
            return true;
    return false;
}

/* Whether the file may hold one array with all points in it, instead of an array or a column for
 * each coordinate. */
static bool holds_arrays(const char *path)
{
    static const char *const ends[] = {".npz", ".npy", ".mat"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcasecmp(dot, ends[i]) == 0)
            return true;
    return false;
}

static int read_file(columns *c, double **points, size_t *count)
{
    sg_diagnostic diagnostic = {0};
    sgi_arrays arrays;
    bool named;
    sg_status status = sgi_arrays_load(c->path, FILE_LIMIT, NULL, &arrays, &named, &diagnostic);
    int code = exit_code_of_input(status);
    if (status != SG_OK) {
        tell(&diagnostic);
    } else if (arrays.count == 0) {
        complain("%s holds no arrays", c->path);
        code = EXIT_BAD_INPUT;
    } else if (holds_arrays(c->path) && arrays.count == 1 &&
               !is_coordinate(&c->problem->names, arrays.items[0].name)) {
        code = take_table(c, &arrays.items[0]);
    } else {
        code = take_arrays(c, &arrays, named);
    }
    if (code == EXIT_DONE)
        code = arrange(c, points, count);
    sgi_arrays_release(&arrays);
    return code;
}

static void warn_outside(const sgi_problem *problem, const char *path, const double *points,
                         size_t count)
{
    size_t width = (size_t)problem->names.coordinate_count, outside = 0, used = 0;
    char domain[400] = "";
    for (size_t i = 0; points && i < count; i++)
        outside += !sgi_problem_covers(problem, points + i * width);
    for (size_t k = 0; k < width && used < sizeof domain; k++)
        used +=
            (size_t)snprintf(domain + used, sizeof domain - used, "%s%s in [%g, %g]", k ? ", " : "",
                             problem->names.coordinates[k], problem->lower[k], problem->upper[k]);
    if (outside)
        fprintf(stderr,
                "warning: %zu of %zu points of %s lie outside the domain (%s), where the network "
                "was not trained\n",
                outside, count, path, domain);
}

int read_points(const char *path, const sgi_problem *problem, double **points, size_t *count)
{
    columns c = {.path = path, .problem = problem};
    *points = NULL;
    int code = read_file(&c, points, count);
    if (code == EXIT_DONE)
        warn_outside(problem, path, *points, *count);
    return code;
}
