/* The optimizer's state as one flat block: see state.h. */
#include "optim/state.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "optim/soap.h"

static const uint64_t state_magic = 0x0032304450545347u; /* "GSTPD02" */

static sgi_buffer_list list_of_groups(size_t groups)
{
    sgi_buffer_list list = {.count = 2 * groups};
    for (size_t b = 0; b < list.count; b++)
        list.powers[b] = b % 2 ? 2 : 1;
    return list;
}

/* The one place that says which buffers an optimizer has. */
static sgi_buffer_list list_buffers(const sg_optim_config *config)
{
    switch (config->kind) {
    case SG_OPTIM_ADAMW:
    case SG_OPTIM_ADAM:
    case SG_OPTIM_LAMB:
        return (sgi_buffer_list){.count = 2, .powers = {1, 2}};
    case SG_OPTIM_ADAM_MINI:
        return (sgi_buffer_list){2, {1, 2}, {SGI_EXTENT_ALL, SGI_EXTENT_ONE}};
    case SG_OPTIM_NOVOGRAD: /* its momentum is that of gradients divided by their scale */
        return (sgi_buffer_list){2, {0, 2}, {SGI_EXTENT_ALL, SGI_EXTENT_ONE}};
    case SG_OPTIM_SOAP: /* moments; means of G G^T and G^T G; their bases, which have no unit */
        return (sgi_buffer_list){SGI_SOAP_BUFFERS,
                                 {1, 2, 2, 2, 0, 0},
                                 {SGI_EXTENT_ALL, SGI_EXTENT_ALL, SGI_EXTENT_LEFT, SGI_EXTENT_RIGHT,
                                  SGI_EXTENT_LEFT, SGI_EXTENT_RIGHT}};
    case SG_OPTIM_MULTIADAM:
        return list_of_groups(config->groups);
    case SG_OPTIM_SGD:
        break;
    }
    return (sgi_buffer_list){.count = config->momentum > 0 ? 1 : 0, .powers = {1}};
}

static size_t round_up(size_t bytes)
{
    return sgi_align_up(bytes, SG_ALIGNMENT);
}

static size_t elements_of(const sg_span *span, sgi_extent extent)
{
    size_t side = 0;
    switch (extent) {
    case SGI_EXTENT_ALL:
        return span->count;
    case SGI_EXTENT_ONE:
        return 1;
    case SGI_EXTENT_LEFT:
        side = sgi_soap_rows(span);
        break;
    case SGI_EXTENT_RIGHT:
        side = sgi_soap_columns(span);
        break;
    }
    return side * side;
}

static size_t buffer_bytes(const sg_span *span, const sgi_buffer_list *buffers, size_t index)
{
    sgi_extent extent = buffers->extents[index];
    return round_up(elements_of(span, extent) *
                    (extent == SGI_EXTENT_ONE ? sizeof(double) : sgi_type_size(span->type)));
}

static uint64_t layout_hash(const sg_optim *optim)
{
    uint64_t count = optim->buffers.count; /* the multiples of 4 further up, where no kind is */
    uint64_t kind = (uint64_t)optim->config.kind * 4 + count % 4 + (count / 4 << 32);
    uint64_t h = sgi_hash(SG_HASH_START, &kind, sizeof kind);
    for (size_t i = 0; i < optim->params->count; i++) {
        const sg_span *span = &optim->params->spans[i];
        uint64_t shape[2] = {(uint64_t)span->type, (uint64_t)span->count};
        h = sgi_hash(h, span->name, strlen(span->name) + 1);
        h = sgi_hash(h, shape, sizeof shape);
        if (optim->config.kind == SG_OPTIM_SOAP)
            h = sgi_hash(h, &span->rows, sizeof span->rows);
    }
    return h;
}

/* Finds the offset of each span's buffers; returns the size of the state, or 0 if it overflows. */
static size_t lay_out(const sg_params *params, const sgi_buffer_list *buffers, size_t *offsets)
{
    size_t of_span = sizeof(uint64_t) + sizeof(sgi_unit_record);
    size_t size = round_up(sizeof(sgi_state_header) + params->count * of_span);
    for (size_t i = 0; i < params->count; i++) {
        offsets[i] = size;
        for (size_t b = 0; b < buffers->count; b++) {
            size_t bytes = buffer_bytes(&params->spans[i], buffers, b);
            if (bytes > SIZE_MAX - SG_ALIGNMENT - size)
                return 0;
            size += bytes;
        }
    }
    return size;
}

sg_status sgi_state_create(sg_optim *optim)
{
    const sg_allocator *a = &optim->allocator;
    optim->buffers = list_buffers(&optim->config);
    optim->offsets = sgi_allocate(a, optim->params->count, sizeof *optim->offsets);
    if (!optim->offsets)
        return SG_ERROR_MEMORY;
    optim->state_size = lay_out(optim->params, &optim->buffers, optim->offsets);
    if (optim->state_size == 0)
        return SG_ERROR_MEMORY;
    optim->state = sgi_allocate(a, optim->state_size, 1);
    if (!optim->state)
        return SG_ERROR_MEMORY;
    *sgi_state_head(optim) = (sgi_state_header){.magic = state_magic, .layout = layout_hash(optim)};
    return SG_OK;
}

void sgi_state_destroy(sg_optim *optim)
{
    sgi_release(&optim->allocator, optim->state);
    sgi_release(&optim->allocator, optim->offsets);
}

sgi_state_header *sgi_state_head(const sg_optim *optim)
{
    return (sgi_state_header *)(void *)optim->state;
}

uint64_t *sgi_state_span_steps(const sg_optim *optim)
{
    return (uint64_t *)(void *)(optim->state + sizeof(sgi_state_header));
}

sgi_unit_record *sgi_state_records(const sg_optim *optim)
{
    return (sgi_unit_record *)(void *)(sgi_state_span_steps(optim) + optim->params->count);
}

void *sgi_state_buffer(const sg_optim *optim, size_t span, size_t index)
{
    size_t offset = optim->offsets[span];
    for (size_t b = 0; b < index; b++)
        offset += buffer_bytes(&optim->params->spans[span], &optim->buffers, b);
    return optim->state + offset;
}

size_t sgi_state_elements(const sg_optim *optim, size_t span, size_t index)
{
    return elements_of(&optim->params->spans[span], optim->buffers.extents[index]);
}

sg_type sgi_state_type(const sg_optim *optim, size_t span, size_t index)
{
    return optim->buffers.extents[index] == SGI_EXTENT_ONE ? SG_FLOAT64
                                                           : optim->params->spans[span].type;
}

double *sgi_state_number(const sg_optim *optim, size_t span, size_t index)
{
    return sgi_state_buffer(optim, span, index);
}

const void *sg_optim_state(const sg_optim *optim, size_t *size)
{
    if (!optim || !size)
        return NULL;
    *size = optim->state_size;
    return optim->state;
}

bool sgi_state_fits(const sg_optim *optim, const void *state, size_t size)
{
    sgi_state_header saved;
    if (size != optim->state_size)
        return false;
    memcpy(&saved, state, sizeof saved);
    return saved.magic == state_magic && saved.layout == sgi_state_head(optim)->layout &&
           saved.skipped <= saved.steps && saved.rescaled <= 1;
}

sg_status sg_optim_restore(sg_optim *optim, const void *state, size_t size)
{
    if (!optim || !state)
        return SG_ERROR_ARGUMENT;
    if (!sgi_state_fits(optim, state, size))
        return SG_ERROR_STATE;
    memcpy(optim->state, state, size);
    return SG_OK;
}
