/* The one file that knows oneDNN (C API of version 2): see onednn.h.
 *
 * Every primitive is wrapped in a `call`: its operands, each with the layout that the caller gives
 * and the layout (or type) that the kernel wants. Where the two differ a reorder runs before the
 * kernel (inputs) or after it (outputs), through the call's work memory. Packing weights, bringing
 * weight gradients back to plain layout and converting to bf16 are therefore one mechanism. */
#include "graph/onednn.h"

#include <oneapi/dnnl/dnnl.h>
#include <string.h>

#include "base/memory.h"
#include "graph/weights.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>
#else
#error "oneDNN with another threading runtime than OpenMP is not supported yet"
#endif

#if SG_HAVE_X86_KERNELS
#include <xmmintrin.h>
#endif

enum { MAX_OPERANDS = 5, DENORMALS_ARE_ZERO = 0x40, FLUSH_TO_ZERO = 0x8000 };

struct sgi_dnn {
    sg_allocator allocator;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    int threads;
};

typedef struct operand {
    int argument; /* DNNL_ARG_... */
    bool output;
    dnnl_memory_t memory;     /* as the kernel wants it */
    dnnl_memory_t given;      /* as the caller has it, when that differs */
    dnnl_primitive_t reorder; /* NULL when it does not */
    size_t offset;            /* of the kernel's copy in the work memory */
    sgi_weight_blocks blocks; /* in place of `reorder` where they fit; rows NULL: they do not */
} operand;

typedef struct call {
    dnnl_primitive_t primitive;
    operand operands[MAX_OPERANDS];
    int count;
    dnnl_memory_t scratch;
    size_t scratch_offset;
    size_t work; /* bytes */
    char kernel[48];
} call;

static sg_status translate(dnnl_status_t status)
{
    switch (status) {
    case dnnl_success:
        return SG_OK;
    case dnnl_out_of_memory:
        return SG_ERROR_MEMORY;
    case dnnl_invalid_arguments:
        return SG_ERROR_ARGUMENT;
    default:
        return SG_ERROR_UNSUPPORTED;
    }
}

/* ---- The engine --------------------------------------------------------------------------- */

sg_status sgi_dnn_create(sgi_dnn **out, int threads, const sg_allocator *given)
{
    *out = NULL;
    sgi_dnn *dnn = SGI_NEW(sgi_dnn, given);
    if (!dnn)
        return SG_ERROR_MEMORY;
    dnn->threads = threads > 0 ? threads : omp_get_num_procs();
    dnnl_status_t status = dnnl_engine_create(&dnn->engine, dnnl_cpu, 0);
    if (status == dnnl_success)
        status = dnnl_stream_create(&dnn->stream, dnn->engine, dnnl_stream_default_flags);
    if (status != dnnl_success) {
        sgi_dnn_destroy(dnn);
        return translate(status);
    }
    *out = dnn;
    return SG_OK;
}

void sgi_dnn_destroy(sgi_dnn *dnn)
{
    if (!dnn)
        return;
    if (dnn->stream)
        dnnl_stream_destroy(dnn->stream);
    if (dnn->engine)
        dnnl_engine_destroy(dnn->engine);
    sgi_release(&dnn->allocator, dnn);
}

int sgi_dnn_threads(const sgi_dnn *dnn)
{
    return dnn->threads;
}

/* The team keeps its threads, and each thread its control word, from one region to the next. */
static void set_control(int team, unsigned control)
{
#if SG_HAVE_X86_KERNELS
#pragma omp parallel num_threads(team)
    _mm_setcsr(control);
#else
    (void)team;
    (void)control;
#endif
}

sgi_dnn_before sgi_dnn_enter(const sgi_dnn *dnn)
{
    sgi_dnn_before before = {.threads = omp_get_max_threads(), .team = dnn->threads};
    omp_set_num_threads(dnn->threads);
#if SG_HAVE_X86_KERNELS
    before.control = _mm_getcsr();
#endif
    set_control(dnn->threads, before.control | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO);
    return before;
}

void sgi_dnn_leave(sgi_dnn_before before)
{
    set_control(before.team, before.control);
    omp_set_num_threads(before.threads);
}

void sgi_dnn_run(sgi_dnn *dnn, size_t units, sg_unit_function *function, void *context)
{
    size_t chunk = units / (8 * (size_t)dnn->threads);
    if (chunk == 0)
        chunk = 1;
    (void)chunk; /* a compiler without OpenMP does not see its use */
#pragma omp parallel for schedule(dynamic, chunk) num_threads(dnn->threads) if (units > 1)
    for (size_t unit = 0; unit < units; unit++)
        function(context, unit, omp_get_thread_num());
}

bool sgi_dnn_has_bf16(void)
{
    unsigned isa = (unsigned)dnnl_get_effective_cpu_isa();
    unsigned needed = (unsigned)dnnl_cpu_isa_avx512_core_bf16;
    return (isa & needed) == needed;
}

/* ---- Calls -------------------------------------------------------------------------------- */

static void call_close(call *c)
{
    for (int i = 0; i < c->count; i++) {
        operand *o = &c->operands[i];
        if (o->memory)
            dnnl_memory_destroy(o->memory);
        if (o->given)
            dnnl_memory_destroy(o->given);
        if (o->reorder)
            dnnl_primitive_destroy(o->reorder);
    }
    if (c->scratch)
        dnnl_memory_destroy(c->scratch);
    if (c->primitive)
        dnnl_primitive_destroy(c->primitive);
    memset(c, 0, sizeof *c);
}

/* Takes `bytes` of the call's work memory. */
static size_t take(call *c, size_t bytes)
{
    size_t offset = c->work;
    c->work += sgi_align_up(bytes, SG_ALIGNMENT);
    return offset;
}

static dnnl_status_t make_reorder(const sgi_dnn *dnn, operand *o, const dnnl_memory_desc_t *given,
                                  const dnnl_memory_desc_t *wanted)
{
    dnnl_primitive_desc_t description;
    const dnnl_memory_desc_t *from = o->output ? wanted : given, *to = o->output ? given : wanted;
    dnnl_status_t status =
        dnnl_reorder_primitive_desc_create(&description, from, dnn->engine, to, dnn->engine, NULL);
    if (status != dnnl_success)
        return status;
    status = dnnl_primitive_create(&o->reorder, description);
    dnnl_primitive_desc_destroy(description);
    if (status == dnnl_success)
        status = dnnl_memory_create(&o->given, given, dnn->engine, DNNL_MEMORY_NONE);
    return status;
}

/* Adds the operand of that argument, given in layout `given` (NULL: as the kernel wants it). */
static dnnl_status_t add_operand(const sgi_dnn *dnn, call *c, dnnl_primitive_desc_t description,
                                 int argument, bool output, const dnnl_memory_desc_t *given)
{
    operand *o = &c->operands[c->count];
    const dnnl_memory_desc_t *wanted =
        dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, argument);
    if (!wanted || (wanted->ndims == 0 && given))
        wanted = given;
    if (!wanted)
        return dnnl_unimplemented;
    c->count++;
    o->argument = argument;
    o->output = output;
    dnnl_status_t status = dnnl_memory_create(&o->memory, wanted, dnn->engine, DNNL_MEMORY_NONE);
    if (status == dnnl_success && given && !dnnl_memory_desc_equal(given, wanted)) {
        o->offset = take(c, dnnl_memory_desc_get_size(wanted));
        status = make_reorder(dnn, o, given, wanted);
    }
    return status;
}

/* Makes the primitive of `description`; its operands are added by the caller. */
static dnnl_status_t call_open(const sgi_dnn *dnn, call *c, dnnl_primitive_desc_t description)
{
    const char *name = NULL;
    if (dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) ==
            dnnl_success &&
        name) {
        strncpy(c->kernel, name, sizeof c->kernel - 1);
    }
    dnnl_status_t status = dnnl_primitive_create(&c->primitive, description);
    const dnnl_memory_desc_t *scratch =
        dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
    if (status == dnnl_success && scratch && dnnl_memory_desc_get_size(scratch) > 0) {
        c->scratch_offset = take(c, dnnl_memory_desc_get_size(scratch));
        status = dnnl_memory_create(&c->scratch, scratch, dnn->engine, DNNL_MEMORY_NONE);
    }
    return status;
}

/* Where the blocks of plain weights go in layout `wanted`, if it is a simple one: full blocks of
 * lanes, inner order (input, output) or (output, input), the taps in order. */
static sgi_weight_blocks blocks_of(const dnnl_memory_desc_t *wanted, const sgi_rows *rows)
{
    const dnnl_blocking_desc_t *b = &wanted->format_desc.blocking;
    dnnl_dim_t lanes = rows->lanes,
               taps = wanted->ndims == 4 ? wanted->dims[2] * wanted->dims[3] : 0;
    bool fits = wanted->ndims == 4 && wanted->data_type == dnnl_f32 &&
                wanted->format_kind == dnnl_blocked && wanted->extra.flags == 0 &&
                b->inner_nblks == 2 && b->inner_blks[0] == lanes && b->inner_blks[1] == lanes &&
                b->inner_idxs[0] + b->inner_idxs[1] == 1 && wanted->dims[0] % lanes == 0 &&
                wanted->dims[1] % lanes == 0 && taps <= SG_MAX_TAPS &&
                b->strides[3] == lanes * lanes && b->strides[2] == wanted->dims[3] * lanes * lanes;
    return fits ? (sgi_weight_blocks){.rows = rows,
                                      .outputs = (size_t)(wanted->dims[0] / lanes),
                                      .inputs = (size_t)(wanted->dims[1] / lanes),
                                      .taps = (int)taps,
                                      .by_input = b->inner_idxs[0] == 1,
                                      .to_output = (size_t)b->strides[0],
                                      .to_input = (size_t)b->strides[1]}
                : (sgi_weight_blocks){0};
}

static dnnl_status_t run_reorder(sgi_dnn *dnn, const operand *o, void *given, void *own)
{
    if (o->blocks.rows) {
        sgi_weight_blocks_run(&o->blocks, dnn, given, own, !o->output);
        return dnnl_success;
    }
    dnnl_exec_arg_t arguments[2] = {{DNNL_ARG_FROM, o->output ? o->memory : o->given},
                                    {DNNL_ARG_TO, o->output ? o->given : o->memory}};
    return dnnl_primitive_execute(o->reorder, dnn->stream, 2, arguments);
}

/* `pointers` in the order the operands were added. */
static sg_status call_run(sgi_dnn *dnn, call *c, void *const *pointers, void *work)
{
    dnnl_exec_arg_t arguments[MAX_OPERANDS + 1];
    dnnl_status_t status = dnnl_success;
    int count = c->count;
    /* Callers give as many pointers as the call has operands, which the analyzer cannot see. */
    for (int i = 0; i < c->count && status == dnnl_success; i++) {
        operand *o = &c->operands[i];
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
        void *own = o->reorder ? (char *)work + o->offset : pointers[i];
        status = dnnl_memory_set_data_handle(o->memory, own);
        if (status == dnnl_success && o->reorder)
            // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
            status = dnnl_memory_set_data_handle(o->given, pointers[i]);
        if (status == dnnl_success && o->reorder && !o->output)
            status = run_reorder(dnn, o, pointers[i], own);
        arguments[i] = (dnnl_exec_arg_t){o->argument, o->memory};
    }
    if (status == dnnl_success && c->scratch) {
        status = dnnl_memory_set_data_handle(c->scratch, (char *)work + c->scratch_offset);
        arguments[count++] = (dnnl_exec_arg_t){DNNL_ARG_SCRATCHPAD, c->scratch};
    }
    if (status == dnnl_success)
        status = dnnl_primitive_execute(c->primitive, dnn->stream, count, arguments);
    for (int i = 0; i < c->count && status == dnnl_success; i++)
        if (c->operands[i].reorder && c->operands[i].output)
            status = run_reorder(dnn, &c->operands[i], pointers[i],
                                 (char *)work + c->operands[i].offset);
    if (status == dnnl_success)
        status = dnnl_stream_wait(dnn->stream);
    return translate(status);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- Descriptions of memory ------------------------------------------------------------------ */

static dnnl_format_tag_t tag_of(int block)
{
    return block == 16 ? dnnl_nChw16c : block == 8 ? dnnl_nChw8c : dnnl_nchw;
}

static dnnl_status_t describe_image(dnnl_memory_desc_t *md, int n, int c, int h, int w,
                                    dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    dnnl_dims_t dims = {n, c, h, w};
    return dnnl_memory_desc_init_by_tag(md, 4, dims, type, tag);
}

static dnnl_status_t describe_weights(dnnl_memory_desc_t *md, const sgi_dnn_conv_shape *s,
                                      dnnl_data_type_t type, bool plain)
{
    if (s->groups == 1) {
        dnnl_dims_t dims = {s->out, s->in, s->kernel, s->kernel};
        return dnnl_memory_desc_init_by_tag(md, 4, dims, type,
                                            plain ? dnnl_oihw : dnnl_format_tag_any);
    }
    dnnl_dims_t dims = {s->groups, s->out / s->groups, s->in / s->groups, s->kernel, s->kernel};
    return dnnl_memory_desc_init_by_tag(md, 5, dims, type,
                                        plain ? dnnl_goihw : dnnl_format_tag_any);
}

/* Attributes with the scratchpad in the caller's hands. */
static dnnl_status_t make_attributes(dnnl_primitive_attr_t *attributes)
{
    dnnl_status_t status = dnnl_primitive_attr_create(attributes);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
    return status;
}

/* Makes a primitive description with such attributes and, when `post` is given, its post-ops. */
static dnnl_status_t describe_primitive(const sgi_dnn *dnn, dnnl_primitive_desc_t *description,
                                        const void *operation, const_dnnl_post_ops_t post,
                                        const_dnnl_primitive_desc_t hint)
{
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = make_attributes(&attributes);
    if (status == dnnl_success && post)
        status = dnnl_primitive_attr_set_post_ops(attributes, post);
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(description, operation, attributes, dnn->engine, hint);
    if (attributes)
        dnnl_primitive_attr_destroy(attributes);
    return status;
}

/* ---- Convolution -------------------------------------------------------------------------- */

struct sgi_dnn_conv {
    sgi_dnn *dnn;
    sgi_dnn_conv_shape shape;
    dnnl_memory_desc_t x, y, weight, bias; /* float, as the caller has them */
    call fused, bare, data, weights;       /* `fused` is empty when it would equal `bare` */
};

typedef struct conv_kinds {
    dnnl_memory_desc_t x, y, weight; /* as the kernel is asked for */
} conv_kinds;

/* The types and layouts of a pass: with bf16, what is multiplied is bf16 and the result float. */
static dnnl_status_t conv_kinds_of(const sgi_dnn_conv *conv, int result, conv_kinds *k)
{
    const sgi_dnn_conv_shape *s = &conv->shape;
    dnnl_data_type_t type[3];
    for (int i = 0; i < 3; i++)
        type[i] = s->bf16 && i != result ? dnnl_bf16 : dnnl_f32;
    /* Kernels take a plain image of a few channels as it is; a wider one is blocked first. */
    bool plain = s->plain_input && s->in <= 4;
    dnnl_status_t status = describe_image(&k->x, s->batch, s->in, s->height, s->width, type[0],
                                          tag_of(plain ? 1 : s->rows->lanes));
    k->y = conv->y;
    k->y.data_type = type[2];
    return status == dnnl_success ? describe_weights(&k->weight, s, type[1], false) : status;
}

/* Whether Winograd's F(4x4, 3x3) pays: it multiplies a quarter as often, but transforms the weights
 * to four times their size. Kernels measured alone: faster in all passes at 128 tiles of 4 x 4
 * pixels and more; at 32 slower, but for one weight gradient. The limit lies between. */
static bool is_for_winograd(const sgi_dnn_conv_shape *s)
{
    int tiles = s->batch * ((s->height + 3) / 4) * ((s->width + 3) / 4);
    return s->winograd && s->kernel == 3 && s->stride == 1 && s->pad == 1 && s->groups == 1 &&
           s->rows->lanes == 16 && !s->plain_input && !s->bf16 && tiles >= 64;
}

static dnnl_status_t describe_pass(const sgi_dnn_conv *conv, dnnl_primitive_desc_t *description,
                                   dnnl_alg_kind_t algorithm, dnnl_prop_kind_t pass,
                                   const_dnnl_post_ops_t post, const_dnnl_primitive_desc_t hint)
{
    const sgi_dnn_conv_shape *s = &conv->shape;
    dnnl_dims_t strides = {s->stride, s->stride}, pad = {s->pad, s->pad};
    const dnnl_memory_desc_t *bias = s->bias ? &conv->bias : NULL;
    dnnl_convolution_desc_t operation;
    conv_kinds k;
    int result = pass == dnnl_backward_data ? 0 : pass == dnnl_backward_weights ? 1 : 2;
    dnnl_status_t status = conv_kinds_of(conv, result, &k);
    if (status != dnnl_success)
        return status;
    if (pass == dnnl_backward_data)
        status = dnnl_convolution_backward_data_desc_init(&operation, algorithm, &k.x, &k.weight,
                                                          &k.y, strides, pad, pad);
    else if (pass == dnnl_backward_weights)
        status = dnnl_convolution_backward_weights_desc_init(&operation, algorithm, &k.x, &k.weight,
                                                             bias, &k.y, strides, pad, pad);
    else
        status = dnnl_convolution_forward_desc_init(&operation, pass, algorithm, &k.x, &k.weight,
                                                    bias, &k.y, strides, pad, pad);
    return status == dnnl_success
               ? describe_primitive(conv->dnn, description, &operation, post, hint)
               : status;
}

static dnnl_status_t conv_description(const sgi_dnn_conv *conv, dnnl_primitive_desc_t *description,
                                      dnnl_prop_kind_t pass, const_dnnl_post_ops_t post,
                                      const_dnnl_primitive_desc_t hint)
{
    if (is_for_winograd(&conv->shape) && describe_pass(conv, description, dnnl_convolution_winograd,
                                                       pass, post, hint) == dnnl_success)
        return dnnl_success;
    return describe_pass(conv, description, dnnl_convolution_direct, pass, post, hint);
}

static dnnl_status_t append_act(dnnl_post_ops_t post, sg_act act)
{
    static const dnnl_alg_kind_t kinds[] = {dnnl_alg_kind_undef, dnnl_eltwise_relu,
                                            dnnl_eltwise_swish, dnnl_eltwise_tanh,
                                            dnnl_eltwise_logistic};
    /* oneDNN's plain ReLU turns NaN into 0 and would hide a collapse; its leaky one keeps NaN, and
     * a slope of 1e-30 is nothing beside float rounding until |z| is beyond 1e20. */
    float alpha = act == SG_ACT_SILU ? 1 : act == SG_ACT_RELU ? 1e-30f : 0;
    if (act == SG_ACT_NONE)
        return dnnl_success;
    return dnnl_post_ops_append_eltwise(post, 1, kinds[act], alpha, 0);
}

static dnnl_status_t make_post(const sgi_dnn_conv *conv, dnnl_post_ops_t *post)
{
    dnnl_status_t status = dnnl_post_ops_create(post);
    if (status == dnnl_success && conv->shape.add)
        status = dnnl_post_ops_append_binary(*post, dnnl_binary_add, &conv->y);
    return status == dnnl_success ? append_act(*post, conv->shape.act) : status;
}

/* Adds the weights, or their gradient, and packs them by loops of ours where those fit. */
static dnnl_status_t add_weights(const sgi_dnn_conv *conv, call *c,
                                 dnnl_primitive_desc_t description, int argument, bool output)
{
    dnnl_status_t status = add_operand(conv->dnn, c, description, argument, output, &conv->weight);
    if (status != dnnl_success)
        return status;
    operand *o = &c->operands[c->count - 1];
    if (o->reorder)
        o->blocks =
            blocks_of(dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, argument),
                      conv->shape.rows);
    return dnnl_success;
}

static dnnl_status_t open_forward(sgi_dnn_conv *conv, call *c, dnnl_primitive_desc_t description,
                                  bool fused)
{
    const sgi_dnn *dnn = conv->dnn;
    dnnl_status_t status = call_open(dnn, c, description);
    if (status == dnnl_success)
        status = add_operand(dnn, c, description, DNNL_ARG_SRC, false, &conv->x);
    if (status == dnnl_success)
        status = add_weights(conv, c, description, DNNL_ARG_WEIGHTS, false);
    if (status == dnnl_success)
        status = add_operand(dnn, c, description, DNNL_ARG_DST, true, &conv->y);
    if (status == dnnl_success && conv->shape.bias)
        status = add_operand(dnn, c, description, DNNL_ARG_BIAS, false, &conv->bias);
    if (status == dnnl_success && fused && conv->shape.add)
        status = add_operand(dnn, c, description,
                             DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, false, &conv->y);
    return status;
}

static dnnl_status_t make_fused(sgi_dnn_conv *conv, dnnl_prop_kind_t pass)
{
    dnnl_primitive_desc_t description = NULL;
    dnnl_post_ops_t post = NULL;
    dnnl_status_t status = make_post(conv, &post);
    if (status == dnnl_success)
        status = conv_description(conv, &description, pass, post, NULL);
    if (status == dnnl_success)
        status = open_forward(conv, &conv->fused, description, true);
    if (post)
        dnnl_post_ops_destroy(post);
    if (description)
        dnnl_primitive_desc_destroy(description);
    return status;
}

static dnnl_status_t make_backward(sgi_dnn_conv *conv, const_dnnl_primitive_desc_t hint,
                                   dnnl_prop_kind_t pass)
{
    const sgi_dnn *dnn = conv->dnn;
    bool data = pass == dnnl_backward_data;
    call *c = data ? &conv->data : &conv->weights;
    dnnl_primitive_desc_t d = NULL;
    dnnl_status_t status = conv_description(conv, &d, pass, NULL, hint);
    if (status == dnnl_success)
        status = call_open(dnn, c, d);
    if (status == dnnl_success)
        status = add_operand(dnn, c, d, DNNL_ARG_DIFF_DST, false, &conv->y);
    if (data) {
        if (status == dnnl_success)
            status = add_weights(conv, c, d, DNNL_ARG_WEIGHTS, false);
        if (status == dnnl_success)
            status = add_operand(dnn, c, d, DNNL_ARG_DIFF_SRC, true, &conv->x);
    } else {
        if (status == dnnl_success)
            status = add_operand(dnn, c, d, DNNL_ARG_SRC, false, &conv->x);
        if (status == dnnl_success)
            status = add_weights(conv, c, d, DNNL_ARG_DIFF_WEIGHTS, true);
        if (status == dnnl_success && conv->shape.bias)
            status = add_operand(dnn, c, d, DNNL_ARG_DIFF_BIAS, true, &conv->bias);
    }
    if (d)
        dnnl_primitive_desc_destroy(d);
    return status;
}

static dnnl_status_t describe_conv(sgi_dnn_conv *conv)
{
    const sgi_dnn_conv_shape *s = &conv->shape;
    int oh = sgi_window_output(s->height, s->kernel, s->stride, s->pad);
    int ow = sgi_window_output(s->width, s->kernel, s->stride, s->pad);
    dnnl_dims_t bias = {s->out};
    dnnl_status_t status = describe_image(&conv->x, s->batch, s->in, s->height, s->width, dnnl_f32,
                                          tag_of(s->plain_input ? 1 : s->rows->lanes));
    if (status == dnnl_success)
        status =
            describe_image(&conv->y, s->batch, s->out, oh, ow, dnnl_f32, tag_of(s->rows->lanes));
    if (status == dnnl_success)
        status = describe_weights(&conv->weight, s, dnnl_f32, true);
    return status == dnnl_success
               ? dnnl_memory_desc_init_by_tag(&conv->bias, 1, bias, dnnl_f32, dnnl_a)
               : status;
}

static dnnl_status_t make_conv(sgi_dnn_conv *conv)
{
    const sgi_dnn_conv_shape *s = &conv->shape;
    dnnl_prop_kind_t pass = s->training ? dnnl_forward_training : dnnl_forward_inference;
    dnnl_primitive_desc_t forward = NULL;
    dnnl_status_t status = describe_conv(conv);
    if (status == dnnl_success)
        status = conv_description(conv, &forward, pass, NULL, NULL);
    if (status == dnnl_success)
        status = open_forward(conv, &conv->bare, forward, false);
    if (status == dnnl_success && sgi_dnn_conv_fuses(conv))
        status = make_fused(conv, pass);
    if (status == dnnl_success && s->training && !s->plain_input)
        status = make_backward(conv, forward, dnnl_backward_data);
    if (status == dnnl_success && s->training)
        status = make_backward(conv, forward, dnnl_backward_weights);
    if (forward)
        dnnl_primitive_desc_destroy(forward);
    return status;
}

sg_status sgi_dnn_conv_create(sgi_dnn_conv **out, sgi_dnn *dnn, const sgi_dnn_conv_shape *shape)
{
    *out = NULL;
    sgi_dnn_conv *conv = sgi_allocate(&dnn->allocator, 1, sizeof *conv);
    if (!conv)
        return SG_ERROR_MEMORY;
    conv->dnn = dnn;
    conv->shape = *shape;
    sgi_dnn_before before = sgi_dnn_enter(dnn);
    dnnl_status_t status = make_conv(conv);
    sgi_dnn_leave(before);
    if (status != dnnl_success) {
        sgi_dnn_conv_destroy(conv);
        return translate(status);
    }
    *out = conv;
    return SG_OK;
}

void sgi_dnn_conv_destroy(sgi_dnn_conv *conv)
{
    if (!conv)
        return;
    call_close(&conv->fused);
    call_close(&conv->bare);
    call_close(&conv->data);
    call_close(&conv->weights);
    sgi_release(&conv->dnn->allocator, conv);
}

/* oneDNN's Winograd takes neither the residual nor a ReLU that keeps NaN. */
bool sgi_dnn_conv_fuses(const sgi_dnn_conv *conv)
{
    return (conv->shape.add || conv->shape.act != SG_ACT_NONE) &&
           strstr(conv->bare.kernel, "wino") == NULL;
}

size_t sgi_dnn_conv_work(const sgi_dnn_conv *conv)
{
    return larger(larger(conv->fused.work, conv->bare.work),
                  larger(conv->data.work, conv->weights.work));
}

const char *sgi_dnn_conv_kernel(const sgi_dnn_conv *conv, int pass)
{
    const call *forward = conv->fused.primitive ? &conv->fused : &conv->bare;
    const call *calls[] = {forward, &conv->data, &conv->weights};
    return calls[pass]->kernel;
}

sg_status sgi_dnn_conv_forward(sgi_dnn_conv *conv, const float *x, const float *weight,
                               const float *bias, const float *residual, float *y, void *work,
                               bool bare)
{
    call *c = bare || !conv->fused.primitive ? &conv->bare : &conv->fused;
    void *pointers[MAX_OPERANDS] = {(void *)x, (void *)weight, y};
    int count = 3;
    if (conv->shape.bias)
        pointers[count++] = (void *)bias;
    pointers[count] = (void *)residual;
    return call_run(conv->dnn, c, pointers, work);
}

sg_status sgi_dnn_conv_backward_data(sgi_dnn_conv *conv, const float *dz, const float *weight,
                                     float *dx, void *work)
{
    void *pointers[] = {(void *)dz, (void *)weight, dx};
    return call_run(conv->dnn, &conv->data, pointers, work);
}

sg_status sgi_dnn_conv_backward_weights(sgi_dnn_conv *conv, const float *x, const float *dz,
                                        float *dweight, float *dbias, void *work)
{
    void *pointers[] = {(void *)dz, (void *)x, dweight, dbias};
    return call_run(conv->dnn, &conv->weights, pointers, work);
}

/* ---- Pooling ------------------------------------------------------------------------------ */

struct sgi_dnn_pool {
    sgi_dnn *dnn;
    sgi_dnn_pool_shape shape;
    dnnl_memory_desc_t x, y;
    size_t memory;
    call forward, backward;
};

static dnnl_alg_kind_t pool_algorithm(const sgi_dnn_pool *pool)
{
    return pool->shape.kind == SG_DNN_POOL_MAX ? dnnl_pooling_max
                                               : dnnl_pooling_avg_include_padding;
}

static dnnl_status_t open_pool(sgi_dnn_pool *pool, call *c, dnnl_primitive_desc_t description,
                               bool backward)
{
    const sgi_dnn *dnn = pool->dnn;
    dnnl_status_t status = call_open(dnn, c, description);
    if (status == dnnl_success)
        status = add_operand(dnn, c, description, backward ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC,
                             false, backward ? &pool->y : &pool->x);
    if (status == dnnl_success)
        status = add_operand(dnn, c, description, backward ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST, true,
                             backward ? &pool->x : &pool->y);
    if (status == dnnl_success && pool->memory)
        status = add_operand(dnn, c, description, DNNL_ARG_WORKSPACE, !backward, NULL);
    return status;
}

static dnnl_status_t make_pool(sgi_dnn_pool *pool)
{
    const sgi_dnn_pool_shape *s = &pool->shape;
    dnnl_dims_t strides = {s->stride, s->stride}, kernel = {s->kernel, s->kernel};
    dnnl_dims_t pad = {s->pad, s->pad};
    dnnl_pooling_desc_t operation;
    dnnl_primitive_desc_t forward = NULL, backward = NULL;
    dnnl_status_t status = describe_image(&pool->x, s->batch, s->channels, s->height, s->width,
                                          dnnl_f32, tag_of(s->block));
    if (status == dnnl_success)
        status = describe_image(&pool->y, s->batch, s->channels,
                                sgi_window_output(s->height, s->kernel, s->stride, s->pad),
                                sgi_window_output(s->width, s->kernel, s->stride, s->pad), dnnl_f32,
                                tag_of(s->block));
    if (status == dnnl_success)
        status = dnnl_pooling_forward_desc_init(
            &operation, s->training ? dnnl_forward_training : dnnl_forward_inference,
            pool_algorithm(pool), &pool->x, &pool->y, strides, kernel, pad, pad);
    if (status == dnnl_success)
        status = describe_primitive(pool->dnn, &forward, &operation, NULL, NULL);
    if (status == dnnl_success) {
        const dnnl_memory_desc_t *memory =
            dnnl_primitive_desc_query_md(forward, dnnl_query_workspace_md, 0);
        pool->memory = memory ? dnnl_memory_desc_get_size(memory) : 0;
        status = open_pool(pool, &pool->forward, forward, false);
    }
    if (status == dnnl_success && s->training)
        status = dnnl_pooling_backward_desc_init(&operation, pool_algorithm(pool), &pool->x,
                                                 &pool->y, strides, kernel, pad, pad);
    if (status == dnnl_success && s->training)
        status = describe_primitive(pool->dnn, &backward, &operation, NULL, forward);
    if (status == dnnl_success && s->training)
        status = open_pool(pool, &pool->backward, backward, true);
    if (forward)
        dnnl_primitive_desc_destroy(forward);
    if (backward)
        dnnl_primitive_desc_destroy(backward);
    return status;
}

sg_status sgi_dnn_pool_create(sgi_dnn_pool **out, sgi_dnn *dnn, const sgi_dnn_pool_shape *shape)
{
    *out = NULL;
    sgi_dnn_pool *pool = sgi_allocate(&dnn->allocator, 1, sizeof *pool);
    if (!pool)
        return SG_ERROR_MEMORY;
    pool->dnn = dnn;
    pool->shape = *shape;
    sgi_dnn_before before = sgi_dnn_enter(dnn);
    dnnl_status_t status = make_pool(pool);
    sgi_dnn_leave(before);
    if (status != dnnl_success) {
        sgi_dnn_pool_destroy(pool);
        return translate(status);
    }
    *out = pool;
    return SG_OK;
}

void sgi_dnn_pool_destroy(sgi_dnn_pool *pool)
{
    if (!pool)
        return;
    call_close(&pool->forward);
    call_close(&pool->backward);
    sgi_release(&pool->dnn->allocator, pool);
}

size_t sgi_dnn_pool_work(const sgi_dnn_pool *pool)
{
    return larger(pool->forward.work, pool->backward.work);
}

size_t sgi_dnn_pool_memory(const sgi_dnn_pool *pool)
{
    return pool->memory;
}

sg_status sgi_dnn_pool_forward(sgi_dnn_pool *pool, const float *x, float *y, void *memory,
                               void *work)
{
    void *pointers[] = {(void *)x, y, memory};
    return call_run(pool->dnn, &pool->forward, pointers, work);
}

sg_status sgi_dnn_pool_backward(sgi_dnn_pool *pool, const float *dy, const void *memory, float *dx,
                                void *work)
{
    void *pointers[] = {(void *)dy, dx, (void *)memory};
    return call_run(pool->dnn, &pool->backward, pointers, work);
}

/* ---- Products ----------------------------------------------------------------------------- */

sg_status sgi_dnn_product(const sgi_dnn *dnn, bool a_transposed, bool b_transposed, int m, int n,
                          int k, const float *a, const float *b, float *c)
{
    (void)dnn;
    return translate(dnnl_sgemm(a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N', m, n, k, 1, a,
                                a_transposed ? m : k, b, b_transposed ? k : n, 0, c, n));
}
