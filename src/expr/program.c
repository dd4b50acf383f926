/* Compiling expressions to programs, and running them: see program.h. */
#include "expr/program.h"

#include <string.h>

typedef struct compiler {
    const sgi_expressions *exprs;
    sgi_program *program;
    uint8_t *reached;      /* by node */
    sgi_operand *places;   /* by node: where its value is */
    uint32_t *last_reader; /* by node: the last node that reads it */
    uint32_t *free_list;   /* registers that may be reused */
    uint32_t free_count;
} compiler;

/* Finds what the program needs and who reads each node last, and takes the memory for it. */
static sg_status survey(compiler *c, const sgi_expr *roots, size_t count)
{
    const sgi_expressions *exprs = c->exprs;
    sgi_expressions_reach(exprs, roots, count, c->reached);
    for (sgi_expr i = 0; i < exprs->count; i++) {
        const sgi_node *node = &exprs->nodes[i];
        if (!c->reached[i])
            continue;
        for (int k = 0; k < sgi_op_arity(node->op); k++)
            c->last_reader[node->arguments[k]] = i;
        const sgi_input *input = sgi_expr_input(exprs, i);
        bool parameter = input && input->kind == SG_INPUT_PARAMETER;
        c->program->input_count += input && !parameter;
        c->program->instruction_count += !input || parameter;
        if (parameter && (uint32_t)input->index + 1 > c->program->parameter_count)
            c->program->parameter_count = (uint32_t)input->index + 1;
    }
    for (size_t i = 0; i < count; i++)
        c->last_reader[roots[i]] = UINT32_MAX; /* outputs live to the end */
    sgi_program *p = c->program;
    p->instructions = sgi_allocate(&p->allocator, p->instruction_count, sizeof *p->instructions);
    p->inputs = sgi_allocate(&p->allocator, p->input_count, sizeof *p->inputs);
    p->outputs = sgi_allocate(&p->allocator, count, sizeof *p->outputs);
    p->output_count = (uint32_t)count;
    return p->instructions && p->inputs && p->outputs ? SG_OK : SG_ERROR_MEMORY;
}

/* Frees the registers of arguments that node `i` reads last. */
static void release_arguments(compiler *c, sgi_expr i)
{
    const sgi_node *node = &c->exprs->nodes[i];
    for (int k = 0; k < sgi_op_arity(node->op); k++) {
        sgi_expr argument = node->arguments[k];
        if (c->last_reader[argument] != i || c->places[argument].input)
            continue;
        c->last_reader[argument] = UINT32_MAX; /* an argument read twice is freed once */
        c->free_list[c->free_count++] = c->places[argument].index;
    }
}

/* Nodes are numbered after their arguments, so one walk in their order gives the instructions, and
 * a register can be given to another node as soon as its last reader is emitted. */
static void emit(compiler *c)
{
    sgi_program *p = c->program;
    uint32_t slot = 0, at = 0;
    for (sgi_expr i = 0; i < c->exprs->count; i++) {
        const sgi_node *node = &c->exprs->nodes[i];
        const sgi_input *input = sgi_expr_input(c->exprs, i);
        if (!c->reached[i])
            continue;
        if (input && input->kind != SG_INPUT_PARAMETER) {
            p->inputs[slot] = *input;
            c->places[i] = (sgi_operand){slot++, true};
            continue;
        }
        sgi_instruction *next = &p->instructions[at++];
        next->op = node->op;
        next->value = node->value;
        if (input)
            next->arguments[0].index = (uint32_t)input->index;
        for (int k = 0; k < sgi_op_arity(node->op); k++)
            next->arguments[k] = c->places[node->arguments[k]];
        /* Taken before the arguments are given back: a target is never one of its arguments. */
        next->target = c->free_count ? c->free_list[--c->free_count] : p->registers++;
        release_arguments(c, i);
        c->places[i] = (sgi_operand){next->target, false};
    }
}

static sg_status compile(sgi_program *program, const sgi_expressions *exprs, const sgi_expr *roots,
                         size_t count)
{
    const sg_allocator *allocator = &program->allocator;
    uint32_t n = exprs->count;
    compiler c = {.exprs = exprs,
                  .program = program,
                  .reached = sgi_allocate(allocator, n, 1),
                  .places = sgi_allocate(allocator, n, sizeof *c.places),
                  .last_reader = sgi_allocate(allocator, n, sizeof *c.last_reader),
                  .free_list = sgi_allocate(allocator, n, sizeof *c.free_list)};
    sg_status status = SG_ERROR_MEMORY;
    if (c.reached && c.places && c.last_reader && c.free_list)
        status = survey(&c, roots, count);
    if (status == SG_OK) {
        emit(&c);
        for (size_t i = 0; i < count; i++)
            program->outputs[i] = c.places[roots[i]];
    }
    sgi_release(allocator, c.reached);
    sgi_release(allocator, c.places);
    sgi_release(allocator, c.last_reader);
    sgi_release(allocator, c.free_list);
    return status;
}

sg_status sgi_program_create(sgi_program **out, const sgi_expressions *exprs, const sgi_expr *roots,
                             size_t count, const sg_allocator *given)
{
    *out = NULL;
    if (exprs->status != SG_OK)
        return exprs->status;
    sgi_program *program = SGI_NEW(sgi_program, given);
    if (!program)
        return SG_ERROR_MEMORY;
    sg_status status = compile(program, exprs, roots, count);
    if (status != SG_OK)
        sgi_program_destroy(program);
    else
        *out = program;
    return status;
}

void sgi_program_destroy(sgi_program *program)
{
    if (!program)
        return;
    sgi_release(&program->allocator, program->instructions);
    sgi_release(&program->allocator, program->inputs);
    sgi_release(&program->allocator, program->outputs);
    sgi_release(&program->allocator, program);
}

/* The seeds parameter[first + 2 i] * root_i + parameter[first + 2 i + 1]. */
static void make_seeds(sgi_expressions *exprs, const sgi_expr *roots, size_t count, int first,
                       sgi_expr *seeds)
{
    for (size_t i = 0; i < count; i++) {
        sgi_input scale = {.kind = SG_INPUT_PARAMETER, .index = first + 2 * (int)i};
        sgi_input direct = {.kind = SG_INPUT_PARAMETER, .index = first + 2 * (int)i + 1};
        sgi_expr scaled = sgi_mul(exprs, sgi_expressions_input(exprs, &scale), roots[i]);
        seeds[i] = sgi_add(exprs, scaled, sgi_expressions_input(exprs, &direct));
    }
}

sg_status sgi_program_create_gradient(sgi_program **program, sgi_expressions *exprs,
                                      const sgi_expr *roots, size_t count, const sgi_expr *inputs,
                                      size_t input_count, int first, const sg_allocator *given)
{
    *program = NULL;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sgi_expr *all = sgi_allocate(&allocator, count + input_count, sizeof *all);
    sgi_expr *seeds = sgi_allocate(&allocator, count, sizeof *seeds);
    sg_status status = SG_ERROR_MEMORY;
    if (all && seeds) {
        memcpy(all, roots, count * sizeof *all);
        make_seeds(exprs, roots, count, first, seeds);
        sgi_adjoints(exprs, roots, seeds, count, inputs, input_count, all + count);
        status = sgi_program_create(program, exprs, all, count + input_count, &allocator);
    }
    sgi_release(&allocator, all);
    sgi_release(&allocator, seeds);
    return status;
}

size_t sgi_program_scratch(const sgi_program *program)
{
    return (size_t)program->registers * SG_PROGRAM_BLOCK * sizeof(double);
}

uint32_t sgi_program_slot(const sgi_program *program, const sgi_input *input)
{
    for (uint32_t i = 0; i < program->input_count; i++)
        if (sgi_same_input(&program->inputs[i], input))
            return i;
    return SG_NO_SLOT;
}

static const sgi_program_loops *loops_for(sg_isa isa)
{
    return SGI_ISA_TABLE(isa, sgi_program_loops, );
}

void sgi_program_evaluate(const sgi_program *program, sg_isa isa, sg_type type, size_t n,
                          const void *const *inputs, const double *parameters, void *const *outputs,
                          void *scratch)
{
    sgi_program_loop *run = loops_for(isa)->run[type];
    for (size_t begin = 0; begin < n; begin += SG_PROGRAM_BLOCK) {
        size_t part = n - begin < SG_PROGRAM_BLOCK ? n - begin : SG_PROGRAM_BLOCK;
        run(program, begin, part, inputs, parameters, outputs, scratch);
    }
}
