/* From requests to channels.
 *
 * The chain rule for a derivative along the list `along` sums over the ways to cut that list into
 * groups (Faa di Bruno): d_along f(z) = sum over partitions of f^(groups)(z) * product of the
 * groups' derivatives of z. So a set of channels is closed when it holds every sub-list of each of
 * its derivatives. A combination S = sum_i c_i d_ii obeys S f(z) = f' S z + f'' sum_i c_i z_i^2:
 * one channel, if the first derivatives are there. */
#include "jet/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Partitions of four things, and the ways to put four things into four groups. */
enum { MOST_PARTITIONS = 15, PARTITION_CODES = 4 * 4 * 4 * 4 };

/* ---- Channels ----------------------------------------------------------------------------- */

static int compare_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static sgi_jet_channel derivative(int order, const int *along)
{
    sgi_jet_channel channel = {.order = order};
    memcpy(channel.along, along, (size_t)order * sizeof *along);
    qsort(channel.along, (size_t)order, sizeof *channel.along, compare_int);
    return channel;
}

static int compare_channel(const void *left, const void *right)
{
    const sgi_jet_channel *a = left, *b = right;
    if (a->order != b->order)
        return a->order - b->order;
    if (!a->second != !b->second)
        return a->second ? 1 : -1;
    if (a->second) /* both lie in the plan's own array: keep the order of the requests */
        return (a->second > b->second) - (a->second < b->second);
    return memcmp(a->along, b->along, sizeof a->along) == 0 ? 0
           : a->along[0] != b->along[0]                     ? a->along[0] - b->along[0]
           : a->along[1] != b->along[1]                     ? a->along[1] - b->along[1]
           : a->along[2] != b->along[2]                     ? a->along[2] - b->along[2]
                                                            : a->along[3] - b->along[3];
}

static int find_channel(const sg_jet_plan *plan, const sgi_jet_channel *wanted)
{
    for (int c = 0; c < plan->channels; c++)
        if (compare_channel(&plan->channel[c], wanted) == 0)
            return c;
    return -1;
}

static sg_status add_channel(sg_jet_plan *plan, const sgi_jet_channel *channel)
{
    if (find_channel(plan, channel) >= 0)
        return SG_OK;
    if (plan->channels == SG_JET_MOST_CHANNELS)
        return SG_ERROR_UNSUPPORTED;
    plan->channel[plan->channels++] = *channel;
    return SG_OK;
}

/* The derivative and every sub-list of it. */
static sg_status add_closed(sg_jet_plan *plan, int order, const int *along)
{
    for (unsigned subset = 0; subset < 1u << order; subset++) {
        int part[SG_JET_MOST_ORDER], count = 0;
        for (int i = 0; i < order; i++)
            if (subset >> i & 1)
                part[count++] = along[i];
        sgi_jet_channel channel = derivative(count, part);
        sg_status status = add_channel(plan, &channel);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

static sgi_jet_channel pure_second(int coordinate)
{
    return (sgi_jet_channel){.order = 2, .along = {coordinate, coordinate}};
}

static bool has_pure_second(const sg_jet_plan *plan, int coordinate)
{
    sgi_jet_channel channel = pure_second(coordinate);
    return find_channel(plan, &channel) >= 0;
}

/* ---- Combinations ------------------------------------------------------------------------- */

/* Whether a = factor * b, for combinations that are not zero. */
static bool proportional(int coordinates, const double *a, const double *b, double *factor)
{
    *factor = 0;
    for (int i = 0; i < coordinates; i++)
        if (b[i] != 0 && *factor == 0)
            *factor = a[i] / b[i];
    for (int i = 0; i < coordinates; i++)
        if (a[i] != *factor * b[i])
            return false;
    return true;
}

static int nonzeros(int coordinates, const double *second)
{
    int count = 0;
    for (int i = 0; i < coordinates; i++)
        count += second[i] != 0;
    return count;
}

static double *combination(const sg_jet_plan *plan, size_t request)
{
    return plan->second + request * (size_t)plan->coordinates;
}

/* Whether every pure second derivative of a combination is a channel of its own. */
static bool covered(const sg_jet_plan *plan, const double *second)
{
    for (int i = 0; i < plan->coordinates; i++)
        if (second[i] != 0 && !has_pure_second(plan, i))
            return false;
    return true;
}

/* A channel that the combination is a multiple of, or -1. */
static int find_multiple(const sg_jet_plan *plan, const double *second, double *factor)
{
    for (int c = 0; c < plan->channels; c++)
        if (plan->channel[c].second &&
            proportional(plan->coordinates, second, plan->channel[c].second, factor))
            return c;
    return -1;
}

/* Whether spelling out all combinations takes no more channels than one for each of them. */
static bool spell_out(const sg_jet_plan *plan, const sg_jet_request *requests, size_t count)
{
    size_t missing = 0, combinations = 0;
    for (int i = 0; i < plan->coordinates; i++) {
        bool wanted = false;
        for (size_t r = 0; r < count; r++)
            wanted = wanted || (requests[r].second && requests[r].second[i] != 0);
        missing += wanted && !has_pure_second(plan, i);
    }
    for (size_t r = 0; r < count; r++) {
        if (!requests[r].second || covered(plan, requests[r].second))
            continue;
        double factor;
        bool seen = false;
        for (size_t q = 0; q < r && !seen; q++)
            seen = requests[q].second &&
                   proportional(plan->coordinates, requests[r].second, requests[q].second, &factor);
        combinations += !seen;
    }
    return missing <= combinations;
}

static sg_status add_combination(sg_jet_plan *plan, size_t request, bool spelt)
{
    const double *second = combination(plan, request);
    double factor;
    sg_status status = SG_OK;
    bool own = !spelt && !covered(plan, second) && find_multiple(plan, second, &factor) < 0;
    for (int i = 0; i < plan->coordinates && status == SG_OK; i++) {
        int along[] = {i, i};
        if (second[i] != 0)
            status = add_closed(plan, spelt ? 2 : 1, along);
    }
    sgi_jet_channel channel = {.order = 2, .second = second};
    return status == SG_OK && own ? add_channel(plan, &channel) : status;
}

static sg_status choose_channels(sg_jet_plan *plan, const sg_jet_request *requests, size_t count)
{
    sg_status status = add_closed(plan, 0, NULL);
    for (size_t r = 0; r < count && status == SG_OK; r++)
        if (!requests[r].second)
            status = add_closed(plan, requests[r].order, requests[r].along);
    bool spelt = spell_out(plan, requests, count);
    for (size_t r = 0; r < count && status == SG_OK; r++)
        if (requests[r].second)
            status = add_combination(plan, r, spelt);
    qsort(plan->channel, (size_t)plan->channels, sizeof *plan->channel, compare_channel);
    return status;
}

/* ---- Terms of the chain rule ---------------------------------------------------------------- */

static void add_term(sg_jet_plan *plan, sgi_chain_term term)
{
    qsort(term.factor, (size_t)term.order, sizeof *term.factor, compare_int);
    for (size_t t = plan->chain.term_count; t > 0; t--) {
        sgi_chain_term *other = &plan->terms[t - 1];
        if (other->channel != term.channel)
            break;
        if (other->order == term.order &&
            memcmp(other->factor, term.factor, sizeof term.factor) == 0) {
            other->coefficient += term.coefficient;
            return;
        }
    }
    plan->terms[plan->chain.term_count++] = term;
    if (term.order > plan->chain.order)
        plan->chain.order = term.order;
}

/* The term of one partition: group[i] is the group of the i-th differentiation. */
static sgi_chain_term partition_term(const sg_jet_plan *plan, int c, const int *group, int groups)
{
    const sgi_jet_channel *channel = &plan->channel[c];
    sgi_chain_term term = {.channel = c, .order = groups, .coefficient = 1};
    for (int g = 0; g < groups; g++) {
        int part[SG_JET_MOST_ORDER], count = 0;
        for (int i = 0; i < channel->order; i++)
            if (group[i] == g)
                part[count++] = channel->along[i];
        sgi_jet_channel factor = derivative(count, part);
        term.factor[g] = find_channel(plan, &factor);
    }
    return term;
}

/* Reads the partition number `code`, a digit to the base four for each of `order` things. Returns
 * the number of groups, or 0 if groups are not numbered in order of appearance. */
static int read_partition(unsigned code, int order, int *group)
{
    int groups = 0;
    for (int i = 0; i < order; i++, code /= SG_JET_MOST_ORDER) {
        group[i] = (int)(code % SG_JET_MOST_ORDER);
        if (group[i] > groups)
            return 0;
        groups += group[i] == groups;
    }
    return code == 0 ? groups : 0;
}

/* All partitions of the channel's differentiations. */
static void add_partitions(sg_jet_plan *plan, int c)
{
    int group[SG_JET_MOST_ORDER];
    for (unsigned code = 0; code < PARTITION_CODES; code++) {
        int groups = read_partition(code, plan->channel[c].order, group);
        if (groups > 0)
            add_term(plan, partition_term(plan, c, group, groups));
    }
}

static void add_combination_terms(sg_jet_plan *plan, int c)
{
    const double *second = plan->channel[c].second;
    add_term(plan, (sgi_chain_term){.channel = c, .order = 1, .factor = {c}, .coefficient = 1});
    for (int i = 0; i < plan->coordinates; i++) {
        sgi_jet_channel first = {.order = 1, .along = {i}};
        int f = find_channel(plan, &first);
        if (second[i] != 0)
            add_term(plan,
                     (sgi_chain_term){
                         .channel = c, .order = 2, .factor = {f, f}, .coefficient = second[i]});
    }
}

static void mark_simple(sg_jet_plan *plan)
{
    sgi_chain *chain = &plan->chain;
    int firsts = 0;
    while (firsts + 1 < plan->channels && plan->channel[firsts + 1].order == 1)
        firsts++;
    int rest = plan->channels - 1 - firsts;
    const sgi_jet_channel *last = &plan->channel[plan->channels - 1];
    bool pure = rest == 1 && last->order == 2 && !last->second && last->along[0] == last->along[1];
    chain->simple = firsts <= SG_CHAIN_FIRSTS &&
                    (rest == 0 || (rest == 1 && last->order == 2 && (pure || last->second)));
    if (!chain->simple)
        return;
    chain->firsts = firsts;
    chain->second = rest == 1;
    for (int j = 0; j < firsts && chain->second; j++) {
        int i = plan->channel[j + 1].along[0];
        chain->square[j] = last->second ? last->second[i] : i == last->along[0];
    }
}

static sg_status make_chain(sg_jet_plan *plan)
{
    size_t room = 0;
    for (int c = 1; c < plan->channels; c++)
        room += plan->channel[c].second ? 1 + (size_t)plan->coordinates : MOST_PARTITIONS;
    plan->terms = sgi_allocate(&plan->allocator, room, sizeof *plan->terms);
    if (!plan->terms)
        return SG_ERROR_MEMORY;
    for (int c = 1; c < plan->channels; c++) {
        if (plan->channel[c].second)
            add_combination_terms(plan, c);
        else
            add_partitions(plan, c);
    }
    plan->chain.channels = plan->channels;
    plan->chain.terms = plan->terms;
    mark_simple(plan);
    return SG_OK;
}

/* ---- Requests ----------------------------------------------------------------------------- */

static size_t request_parts(const sg_jet_plan *plan, const sg_jet_request *request, size_t r,
                            sgi_jet_part *parts)
{
    if (!request->second) {
        sgi_jet_channel channel = derivative(request->order, request->along);
        parts[0] = (sgi_jet_part){find_channel(plan, &channel), 1};
        return 1;
    }
    const double *second = combination(plan, r);
    size_t count = 0;
    double factor;
    int multiple = find_multiple(plan, second, &factor);
    if (multiple >= 0) {
        parts[0] = (sgi_jet_part){multiple, factor};
        return 1;
    }
    for (int i = 0; i < plan->coordinates; i++) {
        sgi_jet_channel pure = pure_second(i);
        if (second[i] != 0)
            parts[count++] = (sgi_jet_part){find_channel(plan, &pure), second[i]};
    }
    return count;
}

static sg_status make_parts(sg_jet_plan *plan, const sg_jet_request *requests)
{
    size_t room = 0;
    for (size_t r = 0; r < plan->requests; r++)
        room += requests[r].second ? (size_t)plan->coordinates : 1;
    plan->part_begin = sgi_allocate(&plan->allocator, plan->requests + 1, sizeof *plan->part_begin);
    plan->parts = sgi_allocate(&plan->allocator, room, sizeof *plan->parts);
    if (!plan->part_begin || !plan->parts)
        return SG_ERROR_MEMORY;
    for (size_t r = 0; r < plan->requests; r++) {
        size_t begin = plan->part_begin[r];
        plan->part_begin[r + 1] = begin + request_parts(plan, &requests[r], r, plan->parts + begin);
    }
    return SG_OK;
}

static bool valid_request(const sg_jet_request *request, int coordinates)
{
    if (request->second) {
        for (int i = 0; i < coordinates; i++)
            if (!isfinite(request->second[i]))
                return false;
        return nonzeros(coordinates, request->second) > 0;
    }
    if (request->order < 0 || request->order > SG_JET_MOST_ORDER)
        return false;
    for (int i = 0; i < request->order; i++)
        if (request->along[i] < 0 || request->along[i] >= coordinates)
            return false;
    return true;
}

static sg_status copy_combinations(sg_jet_plan *plan, const sg_jet_request *requests)
{
    size_t coordinates = (size_t)plan->coordinates;
    plan->second = sgi_allocate(&plan->allocator, plan->requests * coordinates, sizeof(double));
    if (!plan->second)
        return SG_ERROR_MEMORY;
    for (size_t r = 0; r < plan->requests; r++)
        if (requests[r].second)
            memcpy(combination(plan, r), requests[r].second, coordinates * sizeof(double));
    return SG_OK;
}

sg_status sg_jet_plan_create(sg_jet_plan **out, int coordinates, const sg_jet_request *requests,
                             size_t count, const sg_allocator *given)
{
    if (!out)
        return SG_ERROR_ARGUMENT;
    *out = NULL;
    if (coordinates < 1 || coordinates > 1 << 16 || !requests || count == 0 || count > 1 << 16)
        return SG_ERROR_ARGUMENT;
    for (size_t r = 0; r < count; r++)
        if (!valid_request(&requests[r], coordinates))
            return SG_ERROR_ARGUMENT;
    sg_allocator allocator = sgi_allocator_or_heap(given);
    sg_jet_plan *plan = sgi_allocate(&allocator, 1, sizeof *plan);
    if (!plan)
        return SG_ERROR_MEMORY;
    plan->allocator = allocator;
    plan->coordinates = coordinates;
    plan->requests = count;
    sg_status status = copy_combinations(plan, requests);
    if (status == SG_OK)
        status = choose_channels(plan, requests, count);
    if (status == SG_OK)
        status = make_chain(plan);
    if (status == SG_OK)
        status = make_parts(plan, requests);
    if (status != SG_OK) {
        sg_jet_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return SG_OK;
}

void sg_jet_plan_destroy(sg_jet_plan *plan)
{
    if (!plan)
        return;
    sg_allocator allocator = plan->allocator;
    sgi_release(&allocator, plan->second);
    sgi_release(&allocator, plan->terms);
    sgi_release(&allocator, plan->part_begin);
    sgi_release(&allocator, plan->parts);
    sgi_release(&allocator, plan);
}

size_t sg_jet_plan_requests(const sg_jet_plan *plan)
{
    return plan->requests;
}

size_t sg_jet_plan_channels(const sg_jet_plan *plan)
{
    return (size_t)plan->channels;
}
