/* SOAP: see soap.h. */
#include "optim/soap.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef struct sgi_soap {
    unsigned char *taken;   /* the gradients of a step, all spans that turn, each in its type */
    size_t *offsets;        /* (spans): where each begins */
    unsigned char *scratch; /* (threads, scratch_bytes): see `desk` */
    size_t scratch_bytes;
    size_t elements, side; /* of the largest span, of the longest side */
} sgi_soap;

size_t sgi_soap_rows(const sg_span *span)
{
    return span->rows > 1 && span->rows <= SGI_SOAP_MOST ? span->rows : 0;
}

size_t sgi_soap_columns(const sg_span *span)
{
    size_t columns = span->rows ? span->count / span->rows : 0;
    return columns > 1 && columns <= SGI_SOAP_MOST ? columns : 0;
}

bool sgi_soap_turns(const sg_span *span)
{
    return sgi_soap_rows(span) || sgi_soap_columns(span);
}

/* ---- Making ------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t round_up(size_t bytes)
{
    return sgi_align_up(bytes, SG_ALIGNMENT);
}

/* What a thread works with on one span. Everything is of the span's type but `order` and `sizes`.
 */
typedef struct desk {
    void *gradient, *first; /* (elements), turned */
    void *half;             /* (elements): between the two products of a turn */
    void *square;           /* (side, side) */
    void *other;            /* (side, side), or (elements) */
    void *factors;          /* (side) */
    double *sizes;          /* (side): eigenvalues */
    size_t *order;          /* (side) */
} desk;

/* The parts of a desk at `memory`, which may be NULL; returns how many bytes there are. */
static size_t set_desk(desk *d, const sgi_soap *soap, unsigned char *memory)
{
    size_t all = round_up(soap->elements * sizeof(double));
    size_t square = round_up(soap->side * soap->side * sizeof(double));
    size_t line = round_up(soap->side * sizeof(double));
    const size_t bytes[] = {all, all, all, square, larger(square, all), line, line, line};
    void *parts[sizeof bytes / sizeof *bytes];
    size_t sum = 0;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        parts[i] = memory ? memory + sum : NULL;
        sum += bytes[i];
    }
    *d = (desk){parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], parts[6], parts[7]};
    return sum;
}

sg_status sgi_soap_create(sg_optim *optim)
{
    const sg_params *params = optim->params;
    const sg_allocator *a = &optim->allocator;
    sgi_soap *soap = optim->soap = sgi_allocate(a, 1, sizeof *soap);
    if (!soap)
        return SG_ERROR_MEMORY;
    soap->offsets = sgi_allocate(a, params->count, sizeof *soap->offsets);
    if (!soap->offsets)
        return SG_ERROR_MEMORY;
    size_t bytes = 0;
    for (size_t i = 0; i < params->count; i++) {
        const sg_span *span = &params->spans[i];
        soap->offsets[i] = bytes;
        if (!sgi_soap_turns(span))
            continue;
        bytes += round_up(span->count * sgi_type_size(span->type));
        soap->elements = larger(soap->elements, span->count);
        soap->side = larger(soap->side, larger(sgi_soap_rows(span), sgi_soap_columns(span)));
    }
    desk unused;
    soap->scratch_bytes = set_desk(&unused, soap, NULL);
    soap->taken = sgi_allocate(a, bytes, 1);
    soap->scratch = sgi_allocate(a, (size_t)sg_pool_threads(optim->pool), soap->scratch_bytes);
    return soap->taken && soap->scratch ? SG_OK : SG_ERROR_MEMORY;
}

void sgi_soap_destroy(sg_optim *optim)
{
    if (!optim->soap)
        return;
    sgi_release(&optim->allocator, optim->soap->taken);
    sgi_release(&optim->allocator, optim->soap->offsets);
    sgi_release(&optim->allocator, optim->soap->scratch);
    sgi_release(&optim->allocator, optim->soap);
}

void sgi_soap_take(const sgi_stretch *s)
{
    const sgi_soap *soap = s->optim->soap;
    void *to = sgi_element(soap->taken + soap->offsets[s->span], s->type, s->begin);
    if (s->type == SG_FLOAT32)
        for (size_t i = 0; i < s->count; i++)
            ((float *)to)[i] = ((const float *)s->gradient)[i] * (float)s->factor;
    else
        for (size_t i = 0; i < s->count; i++)
            ((double *)to)[i] = ((const double *)s->gradient)[i] * s->factor;
}

/* ---- Matrices ----------------------------------------------------------------------------- */

/* One span in a step. */
typedef struct work {
    sg_optim *optim;
    const sgi_optim_kernels *kernels;
    const sg_span *span;
    size_t index;
    size_t rows, columns; /* of the matrix */
    size_t left, right;   /* the sides that turn, or 0 */
    desk desk;
} work;

static void *buffer(const work *w, size_t index)
{
    return sgi_state_buffer(w->optim, w->index, index);
}

static void transpose(const work *w, const void *from, size_t rows, size_t columns, void *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            if (w->span->type == SG_FLOAT32)
                ((float *)to)[j * rows + i] = ((const float *)from)[i * columns + j];
            else
                ((double *)to)[j * rows + i] = ((const double *)from)[i * columns + j];
}

/* c = a b, with a (m, k) or, transposed, (k, m). */
static void product(const work *w, const void *a, bool transposed, const void *b, size_t m,
                    size_t k, size_t n, void *c)
{
    sgi_product p = {.m = m,
                     .n = n,
                     .k = k,
                     .a = a,
                     .b = b,
                     .a_row = transposed ? 1 : k,
                     .a_step = transposed ? m : 1,
                     .c = c,
                     .factor = 1};
    w->kernels->multiply[w->span->type](&p);
}

/* to = U^T from W; `columns_basis` is W. `from` is not changed, unless it is `to`. */
static void turn(const work *w, const void *from, const void *columns_basis, void *to)
{
    size_t bytes = w->span->count * sgi_type_size(w->span->type);
    const void *half = from;
    if (w->left) {
        product(w, buffer(w, SGI_SOAP_LEFT_BASIS), false, from, w->rows, w->rows, w->columns,
                w->desk.half);
        half = w->desk.half;
    }
    if (w->right)
        product(w, half, false, columns_basis, w->rows, w->columns, w->columns, to);
    else
        memcpy(to, half, bytes);
}

/* to = U from W^T */
static void turn_back(const work *w, const void *from, void *to)
{
    size_t bytes = w->span->count * sgi_type_size(w->span->type);
    const void *half = from;
    if (w->left) {
        product(w, buffer(w, SGI_SOAP_LEFT_BASIS), true, from, w->rows, w->rows, w->columns,
                w->desk.half);
        half = w->desk.half;
    }
    if (w->right)
        product(w, half, false, buffer(w, SGI_SOAP_RIGHT_BASIS), w->rows, w->columns, w->columns,
                to);
    else
        memcpy(to, half, bytes);
}

/* ---- Bases -------------------------------------------------------------------------------- */

static void set_unit_vectors(const work *w, size_t index, size_t side)
{
    size_t size = sgi_type_size(w->span->type);
    memset(buffer(w, index), 0, side * side * size);
    for (size_t i = 0; i < side; i++) {
        void *one = sgi_element(buffer(w, index), w->span->type, i * side + i);
        if (w->span->type == SG_FLOAT32)
            *(float *)one = 1;
        else
            *(double *)one = 1;
    }
}

/* The running mean of G G^T, or of G^T G. */
static void advance_mean(const work *w, const void *gradient, bool left)
{
    double beta = w->optim->config.beta2;
    size_t side = left ? w->left : w->right, inner = left ? w->columns : w->rows;
    sgi_product p = {.m = side,
                     .n = side,
                     .k = inner,
                     .a = gradient,
                     .a_row = left ? w->columns : 1,
                     .a_step = left ? 1 : w->columns,
                     .b = gradient,
                     .c = buffer(w, left ? SGI_SOAP_LEFT : SGI_SOAP_RIGHT),
                     .keep = beta,
                     .factor = 1 - beta};
    if (left) {
        transpose(w, gradient, w->rows, w->columns, w->desk.other);
        p.b = w->desk.other;
    }
    w->kernels->multiply[w->span->type](&p);
}

/* order: the numbers of the largest first; equal ones stay in their order. */
static void sort(const double *sizes, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && sizes[order[at - 1]] < sizes[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static double largest(const work *w, const void *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double x = w->span->type == SG_FLOAT32 ? (double)((const float *)values)[i]
                                               : ((const double *)values)[i];
        most = fmax(most, fabs(x));
    }
    return most;
}

/* to[i] = from[order[i]] / unit, rows of `columns` elements. */
static void arrange_rows(const work *w, const void *from, size_t columns, double unit, size_t rows,
                         void *to)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            size_t at = w->desk.order[i] * columns + j;
            if (w->span->type == SG_FLOAT32)
                ((float *)to)[i * columns + j] = (float)((double)((const float *)from)[at] / unit);
            else
                ((double *)to)[i * columns + j] = ((const double *)from)[at] / unit;
        }
}

/* The second moments follow the order of the basis. */
static void arrange_second(const work *w, bool left)
{
    void *second = buffer(w, SGI_SOAP_SECOND), *half = w->desk.half;
    size_t bytes = w->span->count * sgi_type_size(w->span->type);
    if (left) {
        arrange_rows(w, second, w->columns, 1, w->rows, half);
        memcpy(second, half, bytes);
        return;
    }
    transpose(w, second, w->rows, w->columns, half);
    arrange_rows(w, half, w->rows, 1, w->columns, w->desk.gradient);
    transpose(w, w->desk.gradient, w->columns, w->rows, second);
}

/* One step of orthogonal iteration. A mean that is 0, or not finite, leaves the basis as it is. */
static void refresh(const work *w, bool left)
{
    size_t side = left ? w->left : w->right, size = sgi_type_size(w->span->type);
    const void *mean = buffer(w, left ? SGI_SOAP_LEFT : SGI_SOAP_RIGHT);
    void *basis = buffer(w, left ? SGI_SOAP_LEFT_BASIS : SGI_SOAP_RIGHT_BASIS);
    product(w, basis, false, mean, side, side, side, w->desk.square); /* rows: columns of L U */
    double most = largest(w, w->desk.square, side * side);
    if (!(most > 0) || !isfinite(most))
        return;
    for (size_t i = 0; i < side; i++)
        w->desk.sizes[i] = w->kernels->dot[w->span->type](
            (char *)basis + i * side * size, (char *)w->desk.square + i * side * size, side);
    sort(w->desk.sizes, side, w->desk.order);
    /* In units of the largest, so that squares stay in the range of float. */
    arrange_rows(w, w->desk.square, side, most, side, w->desk.other);
    w->kernels->orthonormal[w->span->type](basis, w->desk.other, w->desk.factors, side);
    arrange_second(w, left);
}

/* ---- Steps -------------------------------------------------------------------------------- */

static void step_span(const work *w, double rate)
{
    const sg_optim_config *c = &w->optim->config;
    const sgi_soap *soap = w->optim->soap;
    sg_type type = w->span->type;
    uint64_t past = sgi_state_span_steps(w->optim)[w->index];
    double t = (double)past + 1;
    void *gradient = soap->taken + soap->offsets[w->index], *columns_basis = NULL;
    if (past == 0 && w->left)
        set_unit_vectors(w, SGI_SOAP_LEFT_BASIS, w->left);
    if (past == 0 && w->right)
        set_unit_vectors(w, SGI_SOAP_RIGHT_BASIS, w->right);
    if (w->right) {
        columns_basis = w->desk.other;
        transpose(w, buffer(w, SGI_SOAP_RIGHT_BASIS), w->right, w->right, columns_basis);
    }
    sgi_adam_step step = {
        .beta2 = c->beta2, .root_correction = sqrt(1 - pow(c->beta2, t)), .eps = c->eps};
    w->kernels->average[type](buffer(w, SGI_SOAP_FIRST), gradient, w->span->count, c->beta1);
    turn(w, gradient, columns_basis, w->desk.gradient);
    turn(w, buffer(w, SGI_SOAP_FIRST), columns_basis, w->desk.first);
    w->kernels->divide[type](w->desk.first, buffer(w, SGI_SOAP_SECOND), w->desk.gradient,
                             w->span->count, &step);
    turn_back(w, w->desk.first, w->desk.gradient);
    w->kernels->move[type](w->span->value, w->desk.gradient, w->span->count, 1 - rate * c->decay,
                           rate / (1 - pow(c->beta1, t)));
    for (int left = 0; left < 2; left++)
        if (left ? w->left : w->right) {
            advance_mean(w, gradient, left);
            if ((past + 1) % c->refresh == 0)
                refresh(w, left);
        }
}

static void step_one(void *context, size_t index, int worker)
{
    const sgi_step_pass *pass = context;
    sg_optim *optim = pass->optim;
    const sg_span *span = &optim->params->spans[index];
    if (!sgi_pass_takes(optim, index) || !sgi_soap_turns(span))
        return;
    work w = {.optim = optim,
              .kernels = optim->kernels,
              .span = span,
              .index = index,
              .rows = span->rows,
              .columns = span->count / span->rows,
              .left = sgi_soap_rows(span),
              .right = sgi_soap_columns(span)};
    set_desk(&w.desk, optim->soap,
             optim->soap->scratch + (size_t)worker * optim->soap->scratch_bytes);
    step_span(&w, pass->rate * optim->rate_factors[index]);
}

void sgi_soap_step(const sgi_step_pass *pass)
{
    sgi_step_pass given = *pass;
    sg_pool_run(pass->optim->pool, pass->optim->params->count, step_one, &given);
}
