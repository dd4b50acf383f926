/* The reference solution: see exact.h. */
#include "problem/exact.h"

#include <string.h>

#include "problem/cole_hopf.h"
#include "problem/solution_files.h"

enum { UNIT_POINTS = 4096, MOST_COORDINATES = SG_MOST_COORDINATES };

typedef struct evaluation {
    const sgi_program *program;
    const double *const *coordinates;
    double *const *fields;
    size_t count;
    char *scratch; /* (workers, bytes) */
    size_t bytes;
    sg_isa isa;
} evaluation;

static void work(void *context, size_t unit, int worker)
{
    const evaluation *job = context;
    size_t begin = unit * UNIT_POINTS;
    size_t n = job->count - begin < UNIT_POINTS ? job->count - begin : UNIT_POINTS;
    const void *inputs[MOST_COORDINATES];
    void *outputs[SG_MOST_FIELDS];
    for (uint32_t s = 0; s < job->program->input_count; s++)
        inputs[s] = job->coordinates[job->program->inputs[s].index] + begin;
    for (uint32_t f = 0; f < job->program->output_count; f++)
        outputs[f] = job->fields[f] + begin;
    sgi_program_evaluate(job->program, job->isa, SG_FLOAT64, n, inputs, NULL, outputs,
                         job->scratch + (size_t)worker * job->bytes);
}

/* The outputs of the solution's program. */
static sg_status evaluate(const sgi_problem *problem, const double *const *coordinates,
                          size_t count, double *const *fields, sg_pool *pool)
{
    const sgi_program *program = problem->solution.program;
    evaluation job = {.program = program,
                      .coordinates = coordinates,
                      .fields = fields,
                      .count = count,
                      .bytes = sgi_align_up(sgi_program_scratch(program), SG_ALIGNMENT),
                      .isa = sg_isa_resolve(SG_ISA_AUTO)};
    job.scratch = sgi_allocate(&problem->allocator, (size_t)sg_pool_threads(pool), job.bytes);
    if (!job.scratch)
        return SG_ERROR_MEMORY;
    sg_pool_run(pool, sgi_parts(count, UNIT_POINTS), work, &job);
    sgi_release(&problem->allocator, job.scratch);
    return SG_OK;
}

sg_status sgi_exact_x(const sgi_problem *problem, const double *const *coordinates, size_t count,
                      double *x, sg_pool *pool)
{
    if (problem->solution.program)
        return evaluate(problem, coordinates, count, &x, pool);
    memcpy(x, coordinates[problem->solution.x], count * sizeof *x);
    return SG_OK;
}

static sg_status evaluate_cole_hopf(const sgi_problem *problem, const double *const *coordinates,
                                    size_t count, double *u, sg_pool *pool)
{
    double *x = sgi_allocate(&problem->allocator, count, sizeof *x);
    if (!x)
        return SG_ERROR_MEMORY;
    sg_status status = sgi_exact_x(problem, coordinates, count, x, pool);
    if (status == SG_OK)
        status = sgi_cole_hopf(problem->solution.nu, x, coordinates[problem->solution.t], count, 1,
                               u, pool, &problem->allocator);
    sgi_release(&problem->allocator, x);
    return status;
}

sg_status sgi_exact_evaluate(const sgi_problem *problem, const double *const *coordinates,
                             size_t count, double *const *fields, sg_pool *pool)
{
    const sgi_solution *solution = &problem->solution;
    switch (solution->kind) {
    case SG_SOLUTION_EXPRESSIONS:
        return evaluate(problem, coordinates, count, fields, pool);
    case SG_SOLUTION_COLE_HOPF:
        return evaluate_cole_hopf(problem, coordinates, count, fields[0], pool);
    case SG_SOLUTION_FILES:
        return sgi_solution_between(problem, NULL, coordinates, count, fields, pool);
    case SG_SOLUTION_NONE:
        break;
    }
    return SG_ERROR_UNSUPPORTED;
}
