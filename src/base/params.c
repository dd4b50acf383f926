/* The set of spans: see stablegrad/params.h and params.h. */
#include "base/params.h"

#include <stdint.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"

const char *sg_type_name(sg_type type)
{
    static const char *const names[] = {SG_TYPE_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_TYPE_COUNT, (int)type);
}

const char *sg_role_name(sg_role role)
{
    static const char *const names[] = {SG_ROLE_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_ROLE_COUNT, (int)role);
}

sg_status sg_params_create(sg_params **out, const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    sg_params *params = SGI_NEW(sg_params, given);
    if (!params)
        return SG_ERROR_MEMORY;
    *out = params;
    return SG_OK;
}

void sg_params_destroy(sg_params *params)
{
    if (!params)
        return;
    for (size_t i = 0; i < params->count; i++)
        sgi_release(&params->allocator, (char *)params->spans[i].name);
    sgi_release(&params->allocator, params->spans);
    sgi_release(&params->allocator, params->units);
    sgi_release(&params->allocator, params);
}

static bool well_formed(const sg_span *span)
{
    return span && span->name && span->name[0] && span->count > 0 &&
           span->count <= SIZE_MAX / sizeof(double) &&
           (span->type == SG_FLOAT32 || span->type == SG_FLOAT64) &&
           (unsigned)span->role < SG_ROLE_COUNT &&
           (span->rows == 0 || span->count % span->rows == 0);
}

static sg_status grow(sg_params *params)
{
    return sgi_grow_array(&params->allocator, &params->spans, params->count, &params->capacity, 16,
                          sizeof *params->spans);
}

sg_status sg_params_add(sg_params *params, const sg_span *span)
{
    if (!params || !well_formed(span) || span->count > SIZE_MAX - params->elements)
        return SG_ERROR_ARGUMENT;
    if (params->sealed)
        return SG_ERROR_SEALED;
    if (sg_params_find(params, span->name) != SG_NOT_FOUND)
        return SG_ERROR_DUPLICATE;
    sg_status status = grow(params);
    if (status != SG_OK)
        return status;
    char *name = sgi_copy_text(&params->allocator, span->name);
    if (!name)
        return SG_ERROR_MEMORY;
    params->spans[params->count] = *span;
    params->spans[params->count].name = name;
    params->count++;
    params->elements += span->count;
    return SG_OK;
}

sg_status sg_params_bind(sg_params *params, size_t index, void *value, void *gradient)
{
    if (!params || index >= params->count || (params->spans[index].value && !value))
        return SG_ERROR_ARGUMENT;
    params->spans[index].value = value;
    params->spans[index].gradient = gradient;
    return SG_OK;
}

size_t sg_params_count(const sg_params *params)
{
    return params ? params->count : 0;
}

size_t sg_params_elements(const sg_params *params)
{
    return params ? params->elements : 0;
}

const sg_span *sg_params_at(const sg_params *params, size_t index)
{
    return params && index < params->count ? &params->spans[index] : NULL;
}

size_t sg_params_find(const sg_params *params, const char *name)
{
    if (!params || !name)
        return SG_NOT_FOUND;
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->spans[i].name, name) == 0)
            return i;
    return SG_NOT_FOUND;
}

static size_t units_of(size_t elements)
{
    return sgi_parts(elements, SG_UNIT_ELEMENTS);
}

sg_status sgi_params_seal(sg_params *params)
{
    if (params->sealed)
        return SG_OK;
    size_t unit_count = 0;
    for (size_t i = 0; i < params->count; i++)
        unit_count += units_of(params->spans[i].count);
    sgi_unit *units = sgi_allocate(&params->allocator, unit_count, sizeof *units);
    if (!units)
        return SG_ERROR_MEMORY;
    sgi_unit *next = units;
    for (size_t i = 0; i < params->count; i++) {
        size_t left = params->spans[i].count;
        for (size_t begin = 0; left > 0; begin += SG_UNIT_ELEMENTS) {
            size_t count = left < SG_UNIT_ELEMENTS ? left : SG_UNIT_ELEMENTS;
            *next++ = (sgi_unit){i, begin, count};
            left -= count;
        }
    }
    params->units = units;
    params->unit_count = unit_count;
    params->sealed = true;
    return SG_OK;
}

sg_status sgi_params_open(sg_params *params, sg_isa wanted, sg_isa *isa)
{
    *isa = sg_isa_resolve(wanted);
    return *isa == SG_ISA_AUTO ? SG_ERROR_UNSUPPORTED : sgi_params_seal(params);
}

sg_pool *sgi_params_pool(const sg_params *params, sg_pool *pool)
{
    return params->elements > SG_UNIT_ELEMENTS ? pool : NULL;
}
