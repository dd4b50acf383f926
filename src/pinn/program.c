/* Compiling graphs to programs, and running them: see program.h. */
#include "pinn/program.h"

#include <string.h>

typedef struct compiler {
    const sg_graph *graph;
    sg_program *program;
    uint8_t *reached;      /* by node */
    sg_operand *places;    /* by node: where its value is */
    uint32_t *last_reader; /* by node: the last node that reads it */
    uint32_t *free_list;   /* registers that may be reused */
    uint32_t free_count;
} compiler;

static sg_status survey(compiler *c, const sg_expr *roots, size_t count)
{
    const sg_graph *graph = c->graph;
    sg_graph_reach(graph, roots, count, c->reached);
    for (sg_expr i = 0; i < graph->count; i++) {
        const sg_node *node = &graph->nodes[i];
        if (!c->reached[i])
            continue;
        for (int k = 0; k < sg_op_arity(node->op); k++)
            c->last_reader[node->arguments[k]] = i;
        const sg_input *input = sg_expr_input(graph, i);
        bool parameter = input && input->kind == SG_INPUT_PARAMETER;
        c->program->input_count += input && !parameter;
        c->program->instruction_count += !input || parameter;
        if (parameter && (uint32_t)input->index + 1 > c->program->parameter_count)
            c->program->parameter_count = (uint32_t)input->index + 1;
    }
    for (size_t i = 0; i < count; i++)
        c->last_reader[roots[i]] = UINT32_MAX; /* outputs live to the end */
    sg_program *p = c->program;
    p->instructions = sg_allocate(&p->allocator, p->instruction_count, sizeof *p->instructions);
    p->inputs = sg_allocate(&p->allocator, p->input_count, sizeof *p->inputs);
    p->outputs = sg_allocate(&p->allocator, count, sizeof *p->outputs);
    p->output_count = (uint32_t)count;
    return p->instructions && p->inputs && p->outputs ? SG_OK : SG_ERROR_MEMORY;
}

/* Frees the registers of arguments that node `i` reads last. */
static void release_arguments(compiler *c, sg_expr i)
{
    const sg_node *node = &c->graph->nodes[i];
    for (int k = 0; k < sg_op_arity(node->op); k++) {
        sg_expr argument = node->arguments[k];
        if (c->last_reader[argument] != i || c->places[argument].input)
            continue;
        c->last_reader[argument] = UINT32_MAX; /* an argument read twice is freed once */
        c->free_list[c->free_count++] = c->places[argument].index;
    }
}

static void emit(compiler *c)
{
    sg_program *p = c->program;
    uint32_t slot = 0, at = 0;
    for (sg_expr i = 0; i < c->graph->count; i++) {
        const sg_node *node = &c->graph->nodes[i];
        const sg_input *input = sg_expr_input(c->graph, i);
        if (!c->reached[i])
            continue;
        if (input && input->kind != SG_INPUT_PARAMETER) {
            p->inputs[slot] = *input;
            c->places[i] = (sg_operand){slot++, true};
            continue;
        }
        sg_instruction *next = &p->instructions[at++];
        next->op = node->op;
        next->value = node->value;
        if (input)
            next->arguments[0].index = (uint32_t)input->index;
        for (int k = 0; k < sg_op_arity(node->op); k++)
            next->arguments[k] = c->places[node->arguments[k]];
        /* Taken before the arguments are given back: a target is never one of its arguments. */
        next->target = c->free_count ? c->free_list[--c->free_count] : p->registers++;
        release_arguments(c, i);
        c->places[i] = (sg_operand){next->target, false};
    }
}

static sg_status compile(sg_program *program, const sg_graph *graph, const sg_expr *roots,
                         size_t count)
{
    const sg_allocator *allocator = &program->allocator;
    uint32_t n = graph->count;
    compiler c = {.graph = graph,
                  .program = program,
                  .reached = sg_allocate(allocator, n, 1),
                  .places = sg_allocate(allocator, n, sizeof *c.places),
                  .last_reader = sg_allocate(allocator, n, sizeof *c.last_reader),
                  .free_list = sg_allocate(allocator, n, sizeof *c.free_list)};
    sg_status status = SG_ERROR_MEMORY;
    if (c.reached && c.places && c.last_reader && c.free_list)
        status = survey(&c, roots, count);
    if (status == SG_OK) {
        emit(&c);
        for (size_t i = 0; i < count; i++)
            program->outputs[i] = c.places[roots[i]];
    }
    sg_release(allocator, c.reached);
    sg_release(allocator, c.places);
    sg_release(allocator, c.last_reader);
    sg_release(allocator, c.free_list);
    return status;
}

sg_status sg_program_create(sg_program **out, const sg_graph *graph, const sg_expr *roots,
                            size_t count, const sg_allocator *given)
{
    *out = NULL;
    if (graph->status != SG_OK)
        return graph->status;
    sg_allocator allocator = sg_allocator_or_heap(given);
    sg_program *program = sg_allocate(&allocator, 1, sizeof *program);
    if (!program)
        return SG_ERROR_MEMORY;
    program->allocator = allocator;
    sg_status status = compile(program, graph, roots, count);
    if (status != SG_OK)
        sg_program_destroy(program);
    else
        *out = program;
    return status;
}

void sg_program_destroy(sg_program *program)
{
    if (!program)
        return;
    sg_allocator allocator = program->allocator;
    sg_release(&allocator, program->instructions);
    sg_release(&allocator, program->inputs);
    sg_release(&allocator, program->outputs);
    sg_release(&allocator, program);
}

/* The seeds parameter[first + 2 i] * root_i + parameter[first + 2 i + 1]. */
static void make_seeds(sg_graph *graph, const sg_expr *roots, size_t count, int first,
                       sg_expr *seeds)
{
    for (size_t i = 0; i < count; i++) {
        sg_input scale = {.kind = SG_INPUT_PARAMETER, .index = first + 2 * (int)i};
        sg_input direct = {.kind = SG_INPUT_PARAMETER, .index = first + 2 * (int)i + 1};
        sg_expr scaled = sg_mul(graph, sg_graph_input(graph, &scale), roots[i]);
        seeds[i] = sg_add(graph, scaled, sg_graph_input(graph, &direct));
    }
}

sg_status sg_program_create_gradient(sg_program **program, sg_graph *graph, const sg_expr *roots,
                                     size_t count, const sg_expr *inputs, size_t input_count,
                                     int first, const sg_allocator *given)
{
    *program = NULL;
    sg_allocator allocator = sg_allocator_or_heap(given);
    sg_expr *all = sg_allocate(&allocator, count + input_count, sizeof *all);
    sg_expr *seeds = sg_allocate(&allocator, count, sizeof *seeds);
    sg_status status = SG_ERROR_MEMORY;
    if (all && seeds) {
        memcpy(all, roots, count * sizeof *all);
        make_seeds(graph, roots, count, first, seeds);
        sg_adjoints(graph, roots, seeds, count, inputs, input_count, all + count);
        status = sg_program_create(program, graph, all, count + input_count, &allocator);
    }
    sg_release(&allocator, all);
    sg_release(&allocator, seeds);
    return status;
}

size_t sg_program_scratch(const sg_program *program)
{
    return (size_t)program->registers * SG_PROGRAM_BLOCK * sizeof(double);
}

uint32_t sg_program_slot(const sg_program *program, const sg_input *input)
{
    for (uint32_t i = 0; i < program->input_count; i++) {
        const sg_input *slot = &program->inputs[i];
        if (slot->kind == input->kind && slot->index == input->index && slot->side == input->side &&
            slot->derivative == input->derivative &&
            memcmp(slot->coefficients, input->coefficients, sizeof slot->coefficients) == 0)
            return i;
    }
    return SG_NO_SLOT;
}

static const sg_program_loops *loops_for(sg_isa isa)
{
#if SG_HAVE_X86_KERNELS
    if (isa == SG_ISA_AVX512)
        return &sg_program_loops_avx512;
    if (isa == SG_ISA_AVX2)
        return &sg_program_loops_avx2;
#endif
    (void)isa;
    return &sg_program_loops_generic;
}

void sg_program_evaluate(const sg_program *program, sg_isa isa, sg_type type, size_t n,
                         const void *const *inputs, const double *parameters, void *const *outputs,
                         void *scratch)
{
    sg_program_loop *run = loops_for(isa)->run[type];
    for (size_t begin = 0; begin < n; begin += SG_PROGRAM_BLOCK) {
        size_t part = n - begin < SG_PROGRAM_BLOCK ? n - begin : SG_PROGRAM_BLOCK;
        run(program, begin, part, inputs, parameters, outputs, scratch);
    }
}
