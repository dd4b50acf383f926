/* Expressions compiled to a short linear program over blocks of points.
 *
 * The graph's nodes become instructions in order, each a loop over up to SG_PROGRAM_BLOCK points;
 * intermediate results live in registers, arrays of that many elements in scratch memory that the
 * caller gives, reused as soon as their last reader is done. A program with a gradient also holds
 * the reverse sweep, built as ordinary nodes beforehand, so what forward and reverse have in common
 * is computed once. Programs are read only and may be shared by threads; evaluation allocates
 * nothing. */
#ifndef SG_EXPR_PROGRAM_H
#define SG_EXPR_PROGRAM_H

#include "base/isa.h"
#include "expr/expressions.h"
#include "stablegrad/cpu.h"
#include "stablegrad/params.h"

enum { SG_PROGRAM_BLOCK = 64 };

/* Where an operand is: a register, or an input slot. */
typedef struct sgi_operand {
    uint32_t index;
    bool input;
} sgi_operand;

typedef struct sgi_instruction {
    sgi_op op;       /* SG_OP_CONSTANT fills; SG_OP_INPUT copies parameter `arguments[0].index` */
    uint32_t target; /* register */
    sgi_operand arguments[3];
    double value;
} sgi_instruction;

typedef struct sgi_program {
    sg_allocator allocator;
    sgi_instruction *instructions;
    uint32_t instruction_count;
    uint32_t registers;
    sgi_input *inputs; /* what belongs in each slot: coordinates, normals, fields, combinations */
    uint32_t input_count;
    uint32_t parameter_count; /* one more than the largest index of a parameter */
    sgi_operand *outputs;
    uint32_t output_count;
} sgi_program;

/* Compiles `roots` of `exprs`: output i is root i. `exprs` is not needed afterwards. */
SG_CHECKED sg_status sgi_program_create(sgi_program **program, const sgi_expressions *exprs,
                                        const sgi_expr *roots, size_t count,
                                        const sg_allocator *allocator);
void sgi_program_destroy(sgi_program *program); /* NULL is allowed */

/* Compiles residuals with their reverse sweep. Outputs: the `count` roots, then for each of the
 * `input_count` inputs (input nodes) the adjoint
 *
 *     sum over i of (p_i * root_i + q_i) * (d root_i / d input)
 *
 * where p_i is parameter first + 2 i and q_i is parameter first + 2 i + 1. With p_i = 2 w_i / N and
 * q_i = 0 it is the adjoint of the loss sum of w_i / N root_i^2; with all p_i = 0 and a single q_i
 * = 1 it gives row i of the Jacobian. Adds nodes to `exprs`. */
SG_CHECKED sg_status sgi_program_create_gradient(sgi_program **program, sgi_expressions *exprs,
                                                 const sgi_expr *roots, size_t count,
                                                 const sgi_expr *inputs, size_t input_count,
                                                 int first, const sg_allocator *allocator);

/* Bytes of scratch memory, aligned to 64, that an evaluation in either type needs. */
size_t sgi_program_scratch(const sgi_program *program);

/* Evaluates at `n` points, any number. inputs[slot] and outputs[i] are arrays of n elements of
 * `type`; an output that is NULL is not stored. `parameters` (parameter_count), NULL when there are
 * none. `isa` is a resolved one. Outputs may not overlap inputs unless n <= SG_PROGRAM_BLOCK. */
void sgi_program_evaluate(const sgi_program *program, sg_isa isa, sg_type type, size_t n,
                          const void *const *inputs, const double *parameters, void *const *outputs,
                          void *scratch);

/* The slot of an input, or SG_NO_SLOT when the program does not read it. */
#define SG_NO_SLOT UINT32_MAX
uint32_t sgi_program_slot(const sgi_program *program, const sgi_input *input);

/* ---- The loops, one table for each instruction set ---------------------------------------- */

/* Runs all instructions for points [begin, begin + n), n <= SG_PROGRAM_BLOCK. */
typedef void sgi_program_loop(const sgi_program *program, size_t begin, size_t n,
                              const void *const *inputs, const double *parameters,
                              void *const *outputs, void *scratch);

typedef struct sgi_program_loops {
    sgi_program_loop *run[2]; /* by sg_type */
} sgi_program_loops;

SGI_ISA_TABLES(sgi_program_loops, sgi_program_loops, );

#endif
