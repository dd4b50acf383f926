/* A trained network and what to evaluate of it: see solution.h. */
#include "commands/solution.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "commands/points.h"
#include "commands/solution_files.h"
#include "commands/solution_mesh.h"
#include "printable.h"
#include "work.h"

enum { DEFAULT_GRID_POINTS = 1 << 20, DEFAULT_MESH_POINTS = 1 << 17 };

/* ---- Weights and problem ------------------------------------------------------------------ */

/* A comparison has several networks: says what to type for the first of them. */
static int choose_one(const char *folder)
{
    json_t *index = read_json(folder, "compare.json");
    const json_t *variants = json_object_get(index, "variants");
    complain("%s is a comparison: name one of its runs", folder);
    for (size_t v = 0; v < json_array_size(variants); v++) {
        const json_t *runs = json_object_get(json_array_get(variants, v), "runs");
        for (size_t k = 0; k < json_array_size(runs); k++)
            if (json_is_string(json_array_get(runs, k))) {
                char name[256];
                printable(json_string_value(json_array_get(runs, k)), name, sizeof name);
                fprintf(stderr, "  %s/%s\n", folder, name);
            }
    }
    json_decref(index);
    return EXIT_BAD_INPUT;
}

int find_files(const cli_arguments *arguments, char problem[SG_PATH_SIZE],
               char weights[SG_PATH_SIZE])
{
    const char *operand = arguments->operands[0];
    if (!is_folder(operand)) {
        if (access(operand, F_OK) != 0) {
            complain("%s: %s", operand, strerror(errno));
            fprintf(stderr, "'stablegrad list' shows the runs in this folder\n");
            return EXIT_BAD_INPUT;
        }
        const char *dot = strrchr(operand, '.');
        if (dot && strcmp(dot, ".yaml") == 0) {
            complain("%s is a problem file, not the folder of a run", operand);
            fprintf(stderr, "'stablegrad list' shows the runs in this folder\n");
            return EXIT_BAD_INPUT;
        }
        if (!arguments->problem) {
            complain(
                "%s is not the folder of a run; for weights alone say which problem they solve: "
                "--problem FILE",
                operand);
            return EXIT_BAD_INPUT;
        }
        snprintf(weights, SG_PATH_SIZE, "%s", operand);
        find_problem(arguments->problem, problem);
        return EXIT_DONE;
    }
    if (is_a_comparison(operand))
        return choose_one(operand);
    const char *file = arguments->best ? "best.safetensors" : "last.safetensors";
    if (sgi_run_path(weights, operand, file) != SG_OK ||
        sgi_run_path(problem, operand, "problem.yaml") != SG_OK) {
        complain("the path %s is too long", operand);
        return EXIT_BAD_INPUT;
    }
    if (access(problem, F_OK) != 0 && !arguments->problem) {
        complain("%s is not the folder of a run: it has no problem.yaml", operand);
        return EXIT_BAD_INPUT;
    }
    if (access(weights, F_OK) != 0) {
        complain("%s has no weights yet: %s is not there", operand, file);
        return EXIT_BAD_INPUT;
    }
    if (arguments->problem)
        find_problem(arguments->problem, problem);
    return EXIT_DONE;
}

static int open_network(solution *s, const char *weights)
{
    sg_diagnostic diagnostic = {0};
    sg_status status = sgi_problem_fits(s->problem, false, &diagnostic);
    if (status != SG_OK) {
        tell(&diagnostic);
        return exit_code_of(status);
    }
    status = sgi_pinn_over(&s->pinn, s->problem, NULL);
    if (status != SG_OK) {
        complain("the network cannot be made: %s", sg_status_text(status));
        return EXIT_RUN_FAILED;
    }
    status = sg_pinn_load(s->pinn, weights, &diagnostic);
    if (status != SG_OK) {
        tell(&diagnostic);
        return exit_code_of_input(status);
    }
    return EXIT_DONE;
}

/* ---- What to evaluate --------------------------------------------------------------------- */

static int add_text(solution *s, const char *text, size_t length)
{
    if (s->text_count == MOST_COLUMNS - SG_MOST_COORDINATES) {
        complain("too many quantities");
        return EXIT_BAD_INPUT;
    }
    char *copy = strndup(text, length);
    if (!copy) {
        complain("out of memory");
        return EXIT_RUN_FAILED;
    }
    s->texts[s->text_count++] = copy;
    return EXIT_DONE;
}

/* A list separated by commas that are not inside parentheses: u,u_x,min(u,0). */
static int add_list(solution *s, const char *list)
{
    const char *begin = list;
    int depth = 0;
    for (const char *c = list;; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c && (*c != ',' || depth > 0))
            continue;
        if (c == begin) {
            complain("--fields '%s' has an empty entry", list);
            return EXIT_BAD_INPUT;
        }
        int code = add_text(s, begin, (size_t)(c - begin));
        if (code != EXIT_DONE || !*c)
            return code;
        begin = c + 1;
    }
}

static int choose_quantities(solution *s)
{
    const sgi_names *names = &s->problem->names;
    sg_diagnostic diagnostic;
    int code = s->arguments->fields ? add_list(s, s->arguments->fields) : EXIT_DONE;
    for (int f = 0; f < names->field_count && !s->arguments->fields && code == EXIT_DONE; f++)
        code = add_text(s, names->fields[f], strlen(names->fields[f]));
    if (code != EXIT_DONE)
        return code;
    memset(&diagnostic, 0, sizeof diagnostic);
    sg_status status = sgi_problem_quantities(s->problem, (const char *const *)s->texts,
                                              s->text_count, &s->quantities, &diagnostic);
    if (status == SG_OK)
        return EXIT_DONE;
    if (!diagnostic.message[0])
        (void)sgi_fail(&diagnostic, status, "%s", sg_status_text(status));
    tell(&diagnostic);
    return exit_code_of(status);
}

/* ---- Where -------------------------------------------------------------------------------- */

/* "101x51", or one number for all. */
static bool read_grid(const char *text, int coordinates, size_t sizes[SG_MOST_COORDINATES])
{
    int count = 0;
    for (const char *at = text; count < SG_MOST_COORDINATES; at++) {
        char *end;
        errno = 0;
        long value = strtol(at, &end, 10);
        if (end == at || errno || value < 1 || (*end && *end != 'x'))
            break;
        sizes[count++] = (size_t)value;
        at = end;
        if (*end)
            continue;
        for (int c = 1; count == 1 && c < coordinates; c++)
            sizes[c] = sizes[0];
        if (count == 1 || count == coordinates)
            return true;
        break;
    }
    complain("--grid takes one number or %d joined by x, not '%s'", coordinates, text);
    return false;
}

static int choose_grid(solution *s, size_t most)
{
    size_t sizes[SG_MOST_COORDINATES];
    if (s->arguments->grid) {
        if (!read_grid(s->arguments->grid, s->problem->names.coordinate_count, sizes))
            return EXIT_BAD_INPUT;
        if (sgi_box_grid_make(s->problem, sizes, &s->grid) != SG_OK) {
            complain("--grid %s has too many points", s->arguments->grid);
            return EXIT_BAD_INPUT;
        }
    } else {
        sgi_box_grid whole = sgi_box_grid_of_problem(s->problem);
        s->grid = sgi_box_grid_thinned(&whole, most);
    }
    s->places = (sgi_places){&s->grid, NULL, s->grid.total};
    return EXIT_DONE;
}

static int choose_places(solution *s, bool on_grid, const char *target)
{
    const char *path = s->arguments->points;
    if (on_grid || !path) {
        bool mesh = target && ends_in(target, ".vtu");
        int code = choose_grid(s, mesh ? DEFAULT_MESH_POINTS : DEFAULT_GRID_POINTS);
        return code == EXIT_DONE && mesh ? choose_mesh(s) : code;
    }
    if (s->arguments->grid) {
        complain("give --grid or --points, not both");
        return EXIT_BAD_INPUT;
    }
    s->places = (sgi_places){.grid = NULL};
    int code = read_points(path, s->problem, &s->points, &s->places.count);
    s->places.points = s->points;
    return code;
}

/* ---- Evaluating --------------------------------------------------------------------------- */

static bool add_column(solution *s, const char *name)
{
    double *column = malloc(s->places.count ? s->places.count * sizeof *column : 1);
    if (!column || s->column_count == MOST_COLUMNS) {
        free(column);
        complain("out of memory");
        return false;
    }
    s->names[s->column_count] = name;
    s->columns[s->column_count++] = column;
    return true;
}

static bool fill_coordinates(solution *s)
{
    size_t width = (size_t)s->problem->names.coordinate_count;
    for (size_t c = 0; c < width; c++) {
        if (!add_column(s, s->problem->names.coordinates[c]))
            return false;
        for (size_t i = 0; i < s->places.count; i++) {
            double point[SG_MOST_COORDINATES];
            if (s->places.grid)
                sgi_box_grid_points(&s->grid, i, 1, point);
            s->columns[c][i] = s->places.grid ? point[c] : s->points[i * width + c];
        }
    }
    return true;
}

static int evaluate_set(solution *s, const sgi_point_set *set, size_t first)
{
    sg_status status = sgi_quantities_evaluate(s->problem, set, sg_pinn_network(s->pinn),
                                               &s->places, s->columns + first, s->pool, NULL);
    if (status != SG_OK)
        complain("evaluation failed: %s", sg_status_text(status));
    return exit_code_of(status);
}

/* Every column is in memory at once. */
static sg_status check_room(const solution *s)
{
    sg_diagnostic diagnostic = {0};
    char what[64];
    size_t columns = (size_t)s->problem->names.coordinate_count + s->text_count +
                     (s->arguments->residuals ? (size_t)sgi_problem_equation_count(s->problem) : 0);
    (void)snprintf(what, sizeof what, "%zu columns of %.4g points", columns,
                   (double)s->places.count);
    sg_status status = sgi_memory_fits((double)columns * (double)s->places.count * sizeof(double),
                                       what, &diagnostic);
    if (status != SG_OK)
        tell(&diagnostic);
    return status;
}

/* The residuals of the equations of one region, or of the domain. */
static int evaluate_residuals(solution *s, const sgi_point_set *set)
{
    size_t first = s->column_count;
    for (int k = 0; k < set->component_count; k++) {
        char name[256];
        snprintf(name, sizeof name, "residual_%s", set->terms[set->component_terms[k]].name);
        int code = add_text(s, name, strlen(name));
        if (code != EXIT_DONE)
            return code;
        if (!add_column(s, s->texts[s->text_count - 1]))
            return EXIT_RUN_FAILED;
    }
    return evaluate_set(s, set, first);
}

static int evaluate(solution *s)
{
    sg_status room = check_room(s);
    if (room != SG_OK)
        return exit_code_of(room);
    if (!fill_coordinates(s))
        return EXIT_RUN_FAILED;
    size_t first = s->column_count;
    for (size_t k = 0; k < s->text_count; k++)
        if (!add_column(s, s->texts[k]))
            return EXIT_RUN_FAILED;
    int code = evaluate_set(s, &s->quantities, first);
    for (int k = 0; k < s->problem->set_count && code == EXIT_DONE && s->arguments->residuals; k++)
        if (s->problem->sets[k].kind == SG_SET_DOMAIN)
            code = evaluate_residuals(s, &s->problem->sets[k]);
    return code;
}

int open_trained(solution *s, const cli_arguments *arguments)
{
    char problem[SG_PATH_SIZE], weights[SG_PATH_SIZE], precision[64];
    const char *sets[1];
    size_t set_count = 0;
    *s = (solution){.arguments = arguments};
    int code = find_files(arguments, problem, weights);
    if (code != EXIT_DONE)
        return code;
    if (arguments->precision) {
        snprintf(precision, sizeof precision, "network.precision=%s", arguments->precision);
        sets[set_count++] = precision;
    }
    work w;
    const work_kind *kind = kind_of(problem);
    if (kind->no_field) {
        complain("%s %s", problem, kind->no_field);
        return EXIT_BAD_INPUT;
    }
    if (!open_work(&w, arguments, problem, sets, set_count, &code))
        return code;
    s->problem = take_file(&w);
    s->pool = open_pool(arguments);
    return s->pool ? open_network(s, weights) : EXIT_RUN_FAILED;
}

int open_solution(solution *s, const cli_arguments *arguments, bool on_grid, const char *target)
{
    int code = open_trained(s, arguments);
    if (code == EXIT_DONE)
        code = choose_quantities(s);
    if (code == EXIT_DONE)
        code = choose_places(s, on_grid, target);
    return code == EXIT_DONE ? evaluate(s) : code;
}

void close_solution(solution *s)
{
    for (size_t k = 0; k < s->column_count; k++)
        free(s->columns[k]);
    for (size_t k = 0; k < s->text_count; k++)
        free(s->texts[k]);
    free(s->points);
    if (s->meshed)
        sgi_mesh_release(&s->mesh);
    sgi_point_set_release(&s->quantities);
    sg_pinn_close(s->pinn);
    sgi_problem_destroy(s->problem);
    sg_pool_destroy(s->pool);
}
