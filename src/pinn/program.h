/* Expressions compiled to a short linear program over blocks of points.
 *
 * The graph's nodes become instructions in order, each a loop over up to SG_PROGRAM_BLOCK points;
 * intermediate results live in registers, arrays of that many elements in scratch memory that the
 * caller gives, reused as soon as their last reader is done. A program with a gradient also holds
 * the reverse sweep, built as ordinary nodes beforehand, so what forward and reverse have in common
 * is computed once. Programs are read only and may be shared by threads; evaluation allocates
 * nothing. */
#ifndef SG_PINN_PROGRAM_H
#define SG_PINN_PROGRAM_H

#include "pinn/graph.h"
#include "stablegrad/cpu.h"
#include "stablegrad/params.h"

enum { SG_PROGRAM_BLOCK = 64 };

/* Where an operand is: a register, or an input slot. */
typedef struct sg_operand {
    uint32_t index;
    bool input;
} sg_operand;

typedef struct sg_instruction {
    sg_op op;        /* SG_OP_CONSTANT fills; SG_OP_INPUT copies parameter `arguments[0].index` */
    uint32_t target; /* register */
    sg_operand arguments[3];
    double value;
} sg_instruction;

typedef struct sg_program {
    sg_allocator allocator;
    sg_instruction *instructions;
    uint32_t instruction_count;
    uint32_t registers;
    sg_input *inputs; /* what belongs in each slot: coordinates, normals, fields, combinations */
    uint32_t input_count;
    uint32_t parameter_count; /* one more than the largest index of a parameter */
    sg_operand *outputs;
    uint32_t output_count;
} sg_program;

/* Compiles `roots` of `graph`: output i is root i. The graph is not needed afterwards. */
SG_CHECKED sg_status sg_program_create(sg_program **program, const sg_graph *graph,
                                       const sg_expr *roots, size_t count,
                                       const sg_allocator *allocator);
void sg_program_destroy(sg_program *program); /* NULL is allowed */

/* Compiles residuals with their reverse sweep. Outputs: the `count` roots, then for each of the
 * `input_count` inputs (input nodes) the adjoint
 *     sum over i of (parameter[first + 2 i] * root_i + parameter[first + 2 i + 1]) d root_i / d
 * input so that with parameters (2 w_i / N, 0) it is that of the loss w_i / N sum root_i^2, and
 * with (0, 1) for one i and (0, 0) for the others a row of the Jacobian. Adds nodes to the graph.
 */
SG_CHECKED sg_status sg_program_create_gradient(sg_program **program, sg_graph *graph,
                                                const sg_expr *roots, size_t count,
                                                const sg_expr *inputs, size_t input_count,
                                                int first, const sg_allocator *allocator);

/* Bytes of scratch memory, aligned to 64, that an evaluation in either type needs. */
size_t sg_program_scratch(const sg_program *program);

/* Evaluates at `n` points, any number. inputs[slot] and outputs[i] are arrays of n elements of
 * `type`; an output that is NULL is not stored. `parameters` (parameter_count), NULL when there are
 * none. `isa` is a resolved one. Outputs may not overlap inputs unless n <= SG_PROGRAM_BLOCK. */
void sg_program_evaluate(const sg_program *program, sg_isa isa, sg_type type, size_t n,
                         const void *const *inputs, const double *parameters, void *const *outputs,
                         void *scratch);

/* The slot of an input, or SG_NO_SLOT when the program does not read it. */
#define SG_NO_SLOT UINT32_MAX
uint32_t sg_program_slot(const sg_program *program, const sg_input *input);

/* ---- The loops, one table for each instruction set ---------------------------------------- */

/* Runs all instructions for points [begin, begin + n), n <= SG_PROGRAM_BLOCK. */
typedef void sg_program_loop(const sg_program *program, size_t begin, size_t n,
                             const void *const *inputs, const double *parameters,
                             void *const *outputs, void *scratch);

typedef struct sg_program_loops {
    sg_program_loop *run[2]; /* by sg_type */
} sg_program_loops;

extern const sg_program_loops sg_program_loops_generic;
extern const sg_program_loops sg_program_loops_avx2;
extern const sg_program_loops sg_program_loops_avx512;

#endif
