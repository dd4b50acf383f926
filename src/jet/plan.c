/* From requests to channels.
 *
 * The chain rule for a derivative along the list `along` sums over the ways to cut that list into
 * groups (Faa di Bruno): d_along f(z) = sum over partitions of f^(groups)(z) * product of the
 * groups' derivatives of z. One group is the list itself; all others are of proper sub-lists. So a
 * combination L = sum_a c_a d_a obeys L f(z) = f' L z + terms in proper parts of its lists: one
 * channel, if those parts are channels.
 *
 * Hence the smallest set: every proper part of every derivative in the requests, and beside those
 * as many channels as there are independent requests, counted modulo what is there already. */
#include "jet/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/basis.h"
#include "base/memory.h"

enum { MOST_REQUESTS = 1 << 16, MOST_TERMS = 1 << 12, MOST_VARYING = 1 << 10 };

/* ---- Channels ----------------------------------------------------------------------------- */

static int compare_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

sgi_jet_channel sgi_jet_derivative(int order, const int *along)
{
    sgi_jet_channel channel = {.order = order};
    if (order > 0)
        memcpy(channel.along, along, (size_t)order * sizeof *along);
    qsort(channel.along, (size_t)order, sizeof *channel.along, compare_int);
    return channel;
}

static int compare_channel(const void *left, const void *right)
{
    const sgi_jet_channel *a = left, *b = right;
    if (a->order != b->order)
        return a->order - b->order;
    if (!a->terms != !b->terms)
        return a->terms ? 1 : -1;
    if (a->terms) /* both lie in the plan's own array: keep the order of the requests */
        return (a->terms > b->terms) - (a->terms < b->terms);
    for (int i = 0; i < SG_JET_MOST_ORDER; i++)
        if (a->along[i] != b->along[i])
            return a->along[i] - b->along[i];
    return 0;
}

int sgi_jet_find_channel(const sg_jet_plan *plan, const sgi_jet_channel *wanted)
{
    for (int c = 0; c < plan->channels; c++)
        if (compare_channel(&plan->channel[c], wanted) == 0)
            return c;
    return -1;
}

static int find_derivative(const sg_jet_plan *plan, const sg_jet_term *term)
{
    sgi_jet_channel wanted = sgi_jet_derivative(term->order, term->along);
    return sgi_jet_find_channel(plan, &wanted);
}

static sg_status add_channel(sg_jet_plan *plan, const sgi_jet_channel *channel)
{
    if (sgi_jet_find_channel(plan, channel) >= 0)
        return SG_OK;
    if (plan->channels == SG_JET_MOST_CHANNELS)
        return SG_ERROR_UNSUPPORTED;
    plan->channel[plan->channels++] = *channel;
    return SG_OK;
}

static sg_status add_derivative(sg_jet_plan *plan, const sg_jet_term *term)
{
    sgi_jet_channel channel = sgi_jet_derivative(term->order, term->along);
    return add_channel(plan, &channel);
}

/* A combination of the form's terms from `first` on. */
static sgi_jet_channel combination(const sgi_jet_form *form, size_t first)
{
    sgi_jet_channel channel = {.terms = form->terms + first, .count = form->count - first};
    for (size_t i = first; i < form->count; i++)
        if (form->terms[i].order > channel.order)
            channel.order = form->terms[i].order;
    return channel;
}

/* Every proper sub-list of the term's, the empty one too. */
static sg_status add_parts(sg_jet_plan *plan, const sg_jet_term *term)
{
    sg_jet_term part = {.order = 0};
    sg_status status = add_derivative(plan, &part);
    for (unsigned subset = 1; subset + 1 < 1u << term->order && status == SG_OK; subset++) {
        part.order = 0;
        for (int i = 0; i < term->order; i++)
            if (subset >> i & 1)
                part.along[part.order++] = term->along[i];
        status = add_derivative(plan, &part);
    }
    return status;
}

/* ---- Choosing them ------------------------------------------------------------------------ */

/* The choice of channels for requests whose coefficients are constant. Such a request, without the
 * derivatives that are channels already, is a vector over the other derivatives (the columns), and
 * linear algebra tells which requests follow from others. */
typedef struct choice {
    sgi_jet_channel *columns; /* (terms) */
    size_t column_count;
    sgi_basis basis;
    size_t members[SG_JET_MOST_CHANNELS + 1]; /* the form that each member of the basis is */
    double coefficients[SG_JET_MOST_CHANNELS + 1];
    double *vector; /* (column_count) */
    bool spelt; /* there are as many members as columns: the columns themselves become channels */
} choice;

/* How many terms of the form are not channels; *last is the last of them. */
static size_t missing(const sg_jet_plan *plan, const sgi_jet_form *form, const sg_jet_term **last)
{
    size_t count = 0;
    for (size_t i = 0; i < form->count; i++)
        if (find_derivative(plan, &form->terms[i]) < 0) {
            *last = &form->terms[i];
            count++;
        }
    return count;
}

/* A request with a single term that is not a channel costs one channel either way, as a derivative
 * or as a combination; the derivative may serve other requests too. Adding it may leave another
 * request with a single one, so this is repeated until nothing changes. */
static sg_status add_lone_derivatives(sg_jet_plan *plan)
{
    sg_status status = SG_OK;
    for (int before = -1; before != plan->channels && status == SG_OK;) {
        before = plan->channels;
        for (size_t r = 0; r < plan->requests && status == SG_OK; r++) {
            const sg_jet_term *last = NULL;
            if (!plan->forms[r].varying && missing(plan, &plan->forms[r], &last) == 1)
                status = add_derivative(plan, last);
        }
    }
    return status;
}

/* Moves the terms that are channels to the front, so that the rest is one stretch that can become a
 * combination; returns how many they are. */
static size_t part_terms(const sg_jet_plan *plan, sgi_jet_form *form)
{
    size_t first = 0;
    for (size_t i = 0; i < form->count; i++)
        if (find_derivative(plan, &form->terms[i]) >= 0) {
            sg_jet_term found = form->terms[i];
            memmove(form->terms + first + 1, form->terms + first, (i - first) * sizeof found);
            form->terms[first++] = found;
        }
    return first;
}

static size_t column_of(const choice *to, const sg_jet_term *term)
{
    sgi_jet_channel wanted = sgi_jet_derivative(term->order, term->along);
    size_t k = 0;
    while (k < to->column_count && compare_channel(&to->columns[k], &wanted) != 0)
        k++;
    return k;
}

static void list_columns(const sg_jet_plan *plan, choice *to)
{
    for (size_t r = 0; r < plan->requests; r++) {
        sgi_jet_form *form = &plan->forms[r];
        for (size_t i = form->varying ? form->count : part_terms(plan, form); i < form->count; i++)
            if (column_of(to, &form->terms[i]) == to->column_count)
                to->columns[to->column_count++] =
                    sgi_jet_derivative(form->terms[i].order, form->terms[i].along);
    }
}

/* The part of the form that is not made of channels, as a vector. Returns whether there is any. */
static bool make_vector(const choice *to, const sgi_jet_form *form)
{
    bool any = false;
    memset(to->vector, 0, to->column_count * sizeof *to->vector);
    for (size_t i = 0; i < form->count; i++) {
        size_t k = column_of(to, &form->terms[i]);
        if (k == to->column_count)
            continue;
        to->vector[k] = form->terms[i].coefficient;
        any = true;
    }
    return any;
}

static sg_status choose_members(const sg_jet_plan *plan, choice *to)
{
    size_t most =
        plan->requests < SG_JET_MOST_CHANNELS + 1 ? plan->requests : SG_JET_MOST_CHANNELS + 1;
    sg_status status = sgi_basis_create(&to->basis, to->column_count, most, &plan->allocator);
    to->vector = sgi_allocate(&plan->allocator, to->column_count, sizeof *to->vector);
    if (status != SG_OK || !to->vector)
        return SG_ERROR_MEMORY;
    for (size_t r = 0; r < plan->requests; r++) {
        if (plan->forms[r].varying || !make_vector(to, &plan->forms[r]))
            continue;
        if (to->basis.count > SG_JET_MOST_CHANNELS)
            return SG_ERROR_UNSUPPORTED;
        if (sgi_basis_add(&to->basis, to->vector, to->coefficients))
            to->members[to->basis.count - 1] = r;
    }
    to->spelt = to->basis.count == to->column_count;
    return SG_OK;
}

/* One channel for each member, or for each column when these are as many. */
static sg_status add_members(sg_jet_plan *plan, choice *to)
{
    sg_status status = SG_OK;
    for (size_t k = 0; k < to->basis.count && status == SG_OK; k++) {
        sgi_jet_form *form = &plan->forms[to->members[k]];
        sgi_jet_channel channel = to->spelt ? to->columns[k] : (sgi_jet_channel){0};
        if (!to->spelt)
            channel = combination(form, part_terms(plan, form));
        status = add_channel(plan, &channel);
    }
    return status;
}

/* Whether a = factor * b, term by term. */
static bool multiple(const sgi_jet_form *a, const sg_jet_term *b, size_t count, double *factor)
{
    if (a->count != count)
        return false;
    *factor = a->terms[0].coefficient / b[0].coefficient;
    for (size_t i = 0; i < count; i++)
        if (a->terms[i].order != b[i].order || a->terms[i].varying != b[i].varying ||
            memcmp(a->terms[i].along, b[i].along, sizeof b[i].along) != 0 ||
            a->terms[i].coefficient != *factor * b[i].coefficient)
            return false;
    return true;
}

/* The channel that a form with varying coefficients is a multiple of, or -1. */
static int find_multiple(const sg_jet_plan *plan, const sgi_jet_form *form, double *factor)
{
    for (int c = 0; c < plan->channels; c++)
        if (plan->channel[c].terms &&
            multiple(form, plan->channel[c].terms, plan->channel[c].count, factor))
            return c;
    return -1;
}

static sg_status choose_channels(sg_jet_plan *plan, choice *to)
{
    sg_status status = SG_OK;
    size_t terms = 0;
    for (size_t r = 0; r < plan->requests; r++)
        for (size_t i = 0; i < plan->forms[r].count && status == SG_OK; i++, terms++)
            status = add_parts(plan, &plan->forms[r].terms[i]);
    if (status == SG_OK)
        status = add_lone_derivatives(plan);
    to->columns = sgi_allocate(&plan->allocator, terms, sizeof *to->columns);
    if (status != SG_OK || !to->columns)
        return status != SG_OK ? status : SG_ERROR_MEMORY;
    list_columns(plan, to);
    status = choose_members(plan, to);
    if (status == SG_OK)
        status = add_members(plan, to);
    for (size_t r = 0; r < plan->requests && status == SG_OK; r++) {
        double factor;
        sgi_jet_channel channel = combination(&plan->forms[r], 0);
        if (plan->forms[r].varying && find_multiple(plan, &plan->forms[r], &factor) < 0)
            status = add_channel(plan, &channel);
    }
    qsort(plan->channel, (size_t)plan->channels, sizeof *plan->channel, compare_channel);
    return status;
}

/* ---- Requests from channels --------------------------------------------------------------- */

static int member_channel(const sg_jet_plan *plan, const choice *to, size_t member)
{
    const sgi_jet_form *form = &plan->forms[to->members[member]];
    for (int c = 0; c < plan->channels; c++)
        if (plan->channel[c].terms && plan->channel[c].terms >= form->terms &&
            plan->channel[c].terms < form->terms + form->count)
            return c;
    return -1;
}

/* The part of the form beside derivatives that are channels, as multiples of combined channels. */
static size_t combined_parts(const sg_jet_plan *plan, choice *to, size_t r, sgi_jet_part *parts)
{
    size_t count = 0;
    for (size_t k = 0; k < to->basis.count; k++)
        if (to->members[k] == r) {
            parts[0] = (sgi_jet_part){member_channel(plan, to, k), 1};
            return 1;
        }
    make_vector(to, &plan->forms[r]);
    sgi_basis_express(&to->basis, to->vector, to->coefficients);
    for (size_t k = 0; k < to->basis.count; k++)
        if (to->coefficients[k] != 0)
            parts[count++] = (sgi_jet_part){member_channel(plan, to, k), to->coefficients[k]};
    return count;
}

static size_t request_parts(const sg_jet_plan *plan, choice *to, size_t r, sgi_jet_part *parts)
{
    const sgi_jet_form *form = &plan->forms[r];
    size_t count = 0;
    if (form->varying) {
        double factor = 1;
        int channel = find_multiple(plan, form, &factor);
        parts[0] = (sgi_jet_part){channel, factor};
        return 1;
    }
    for (size_t i = 0; i < form->count; i++) {
        int channel = find_derivative(plan, &form->terms[i]);
        if (channel >= 0)
            parts[count++] = (sgi_jet_part){channel, form->terms[i].coefficient};
    }
    return count < form->count ? count + combined_parts(plan, to, r, parts + count) : count;
}

static sg_status make_parts(sg_jet_plan *plan, choice *to)
{
    size_t room = 0;
    for (size_t r = 0; r < plan->requests; r++)
        room += plan->forms[r].count + to->basis.count;
    plan->part_begin = sgi_allocate(&plan->allocator, plan->requests + 1, sizeof *plan->part_begin);
    plan->parts = sgi_allocate(&plan->allocator, room, sizeof *plan->parts);
    if (!plan->part_begin || !plan->parts)
        return SG_ERROR_MEMORY;
    for (size_t r = 0; r < plan->requests; r++) {
        size_t begin = plan->part_begin[r];
        plan->part_begin[r + 1] = begin + request_parts(plan, to, r, plan->parts + begin);
    }
    return SG_OK;
}

/* ---- Reading requests --------------------------------------------------------------------- */

static bool valid_along(int order, const int *along, int coordinates)
{
    if (order < 0 || order > SG_JET_MOST_ORDER)
        return false;
    for (int i = 0; i < order; i++)
        if (along[i] < 0 || along[i] >= coordinates)
            return false;
    return true;
}

static bool valid_request(const sg_jet_request *request, int coordinates)
{
    if (!request->terms)
        return valid_along(request->order, request->along, coordinates);
    bool varying = false, value = false;
    for (size_t i = 0; i < request->term_count; i++) {
        const sg_jet_term *term = &request->terms[i];
        if (!valid_along(term->order, term->along, coordinates) || !isfinite(term->coefficient) ||
            term->coefficient == 0 || term->varying < 0 || term->varying > MOST_VARYING)
            return false;
        varying = varying || term->varying > 0;
        value = value || term->order == 0;
    }
    return request->term_count > 0 && request->term_count <= MOST_TERMS && !(varying && value);
}

/* Adds a term to the form, which has room for it. */
static void add_term(sgi_jet_form *form, const sg_jet_term *given)
{
    sgi_jet_channel sorted = sgi_jet_derivative(given->order, given->along);
    sg_jet_term term = {given->coefficient, given->order, {0}, given->varying};
    memcpy(term.along, sorted.along, sizeof term.along);
    form->varying = form->varying || term.varying > 0;
    for (size_t i = 0; i < form->count; i++) {
        sg_jet_term *other = &form->terms[i];
        if (other->order == term.order && other->varying == term.varying &&
            memcmp(other->along, term.along, sizeof term.along) == 0) {
            other->coefficient += term.coefficient;
            return;
        }
    }
    form->terms[form->count++] = term;
}

/* Takes out terms that cancelled. */
static void drop_zeros(sgi_jet_form *form)
{
    size_t kept = 0;
    for (size_t i = 0; i < form->count; i++)
        if (form->terms[i].coefficient != 0)
            form->terms[kept++] = form->terms[i];
    form->count = kept;
}

static sg_status read_requests(sg_jet_plan *plan, const sg_jet_request *requests)
{
    size_t room = 0;
    for (size_t r = 0; r < plan->requests; r++)
        room += requests[r].terms ? requests[r].term_count : 1;
    plan->terms = sgi_allocate(&plan->allocator, room, sizeof *plan->terms);
    plan->forms = sgi_allocate(&plan->allocator, plan->requests, sizeof *plan->forms);
    if (!plan->terms || !plan->forms)
        return SG_ERROR_MEMORY;
    sg_jet_term *at = plan->terms;
    for (size_t r = 0; r < plan->requests; r++) {
        const sg_jet_request *request = &requests[r];
        sg_jet_term alone = {.coefficient = 1, .order = request->order};
        memcpy(alone.along, request->along, sizeof alone.along);
        const sg_jet_term *terms = request->terms ? request->terms : &alone;
        size_t count = request->terms ? request->term_count : 1;
        plan->forms[r].terms = at;
        for (size_t i = 0; i < count; i++) {
            add_term(&plan->forms[r], &terms[i]);
            if (terms[i].varying > plan->varying)
                plan->varying = terms[i].varying;
        }
        drop_zeros(&plan->forms[r]);
        if (plan->forms[r].count == 0)
            return SG_ERROR_ARGUMENT;
        at += count;
    }
    return SG_OK;
}

static sg_status fill(sg_jet_plan *plan, const sg_jet_request *requests)
{
    choice to = {0};
    sg_status status = read_requests(plan, requests);
    if (status == SG_OK)
        status = choose_channels(plan, &to);
    if (status == SG_OK)
        status = sgi_jet_make_chain(plan);
    if (status == SG_OK)
        status = make_parts(plan, &to);
    sgi_basis_release(&to.basis, &plan->allocator);
    sgi_release(&plan->allocator, to.columns);
    sgi_release(&plan->allocator, to.vector);
    return status;
}

sg_status sg_jet_plan_create(sg_jet_plan **out, int coordinates, const sg_jet_request *requests,
                             size_t count, const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (coordinates < 1 || coordinates > 1 << 16 || !requests || count == 0 ||
        count > MOST_REQUESTS)
        return SG_ERROR_ARGUMENT;
    for (size_t r = 0; r < count; r++)
        if (!valid_request(&requests[r], coordinates))
            return SG_ERROR_ARGUMENT;
    sg_jet_plan *plan = SGI_NEW(sg_jet_plan, given);
    if (!plan)
        return SG_ERROR_MEMORY;
    plan->coordinates = coordinates;
    plan->requests = count;
    sg_status status = fill(plan, requests);
    if (status == SG_OK)
        *out = plan;
    else
        sg_jet_plan_destroy(plan);
    return status;
}

void sg_jet_plan_destroy(sg_jet_plan *plan)
{
    if (!plan)
        return;
    sgi_release(&plan->allocator, plan->terms);
    sgi_release(&plan->allocator, plan->forms);
    sgi_release(&plan->allocator, plan->chain_terms);
    sgi_release(&plan->allocator, plan->part_begin);
    sgi_release(&plan->allocator, plan->parts);
    sgi_release(&plan->allocator, plan);
}

size_t sg_jet_plan_requests(const sg_jet_plan *plan)
{
    return plan ? plan->requests : 0;
}

size_t sg_jet_plan_channels(const sg_jet_plan *plan)
{
    return plan ? (size_t)plan->channels : 0;
}

size_t sg_jet_plan_varying(const sg_jet_plan *plan)
{
    return plan ? (size_t)plan->varying : 0;
}
