/* The chain rule of a plan's channels as a table of terms: see plan.c for the rule. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jet/plan.h"

/* Partitions of four things, and the ways to put four things into four groups. */
enum { MOST_PARTITIONS = 15, PARTITION_CODES = 4 * 4 * 4 * 4 };

static int compare_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void add_term(sg_jet_plan *plan, sgi_chain_term term)
{
    qsort(term.factor, (size_t)term.order, sizeof *term.factor, compare_int);
    for (size_t t = plan->chain.term_count; t > 0; t--) {
        sgi_chain_term *other = &plan->chain_terms[t - 1];
        if (other->channel != term.channel)
            break;
        if (other->order == term.order && other->varying == term.varying &&
            memcmp(other->factor, term.factor, sizeof term.factor) == 0) {
            other->coefficient += term.coefficient;
            return;
        }
    }
    plan->chain_terms[plan->chain.term_count++] = term;
    if (term.order > plan->chain.order)
        plan->chain.order = term.order;
}

/* The term of one partition: group[i] is the group of the i-th differentiation. */
static sgi_chain_term partition_term(const sg_jet_plan *plan, int c, const sg_jet_term *of,
                                     const int *group, int groups)
{
    sgi_chain_term term = {
        .channel = c, .order = groups, .coefficient = of->coefficient, .varying = of->varying};
    for (int g = 0; g < groups; g++) {
        int part[SG_JET_MOST_ORDER], count = 0;
        for (int i = 0; i < of->order; i++)
            if (group[i] == g)
                part[count++] = of->along[i];
        sgi_jet_channel factor = sgi_jet_derivative(count, part);
        term.factor[g] = sgi_jet_find_channel(plan, &factor);
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

/* All partitions of the term's differentiations into two groups or more. */
static void add_partitions(sg_jet_plan *plan, int c, const sg_jet_term *of)
{
    int group[SG_JET_MOST_ORDER];
    for (unsigned code = 0; code < PARTITION_CODES; code++) {
        int groups = read_partition(code, of->order, group);
        if (groups > 1)
            add_term(plan, partition_term(plan, c, of, group, groups));
    }
}

static void add_channel_terms(sg_jet_plan *plan, int c)
{
    const sgi_jet_channel *channel = &plan->channel[c];
    add_term(plan, (sgi_chain_term){.channel = c, .order = 1, .factor = {c}, .coefficient = 1});
    if (channel->terms) {
        for (size_t i = 0; i < channel->count; i++)
            add_partitions(plan, c, &channel->terms[i]);
        return;
    }
    sg_jet_term alone = {.coefficient = 1, .order = channel->order};
    memcpy(alone.along, channel->along, sizeof alone.along);
    add_partitions(plan, c, &alone);
}

/* How many channels from 1 on have no term but f' times themselves. */
static int count_firsts(const sg_jet_plan *plan)
{
    size_t t = 0;
    int firsts = 0;
    while (t < plan->chain.term_count) {
        size_t begin = t;
        while (t < plan->chain.term_count &&
               plan->chain_terms[t].channel == plan->chain_terms[begin].channel)
            t++;
        if (t - begin > 1)
            break;
        firsts++;
    }
    return firsts;
}

/* Whether the last channel adds squares of first ones only, each with one coefficient. */
static bool read_squares(const sg_jet_plan *plan, sgi_chain *chain)
{
    for (size_t t = (size_t)chain->firsts + 1; t < chain->term_count; t++) {
        const sgi_chain_term *term = &plan->chain_terms[t];
        int j = term->factor[0] - 1;
        if (term->order != 2 || term->factor[1] != j + 1 || chain->square[j] != 0)
            return false;
        chain->square[j] = term->coefficient;
        chain->square_varying[j] = term->varying;
    }
    return true;
}

/* The coordinate that all differentiations of the derivative are along, or -1. */
static int single_coordinate(int order, const int *along)
{
    for (int i = 1; i < order; i++)
        if (along[i] != along[0])
            return -1;
    return order > 0 ? along[0] : -1;
}

/* Takes a coefficient of L, none twice. */
static bool take_coefficient(const sg_jet_term *term, double *coefficient, int *varying)
{
    bool first = *coefficient == 0;
    *coefficient = term->coefficient;
    *varying = term->varying;
    return first;
}

static bool read_tower_term(const sg_jet_plan *plan, int x, const sg_jet_term *term,
                            sgi_tower *tower)
{
    if (term->order < 2)
        return true;
    int y = single_coordinate(term->order, term->along);
    if (y == x)
        return take_coefficient(term, &tower->coefficient[term->order],
                                &tower->varying[term->order]);
    sgi_jet_channel first = sgi_jet_derivative(1, &y);
    return y >= 0 && term->order == 2 && tower->beside > 0 &&
           sgi_jet_find_channel(plan, &first) == tower->beside &&
           take_coefficient(term, &tower->square, &tower->square_varying);
}

/* The last channel, as the sum that it is. */
static bool read_tower_sum(const sg_jet_plan *plan, int x, sgi_tower *tower)
{
    const sgi_jet_channel *last = &plan->channel[plan->channels - 1];
    sg_jet_term alone = {.coefficient = 1, .order = last->order};
    memcpy(alone.along, last->along, sizeof alone.along);
    const sg_jet_term *terms = last->terms ? last->terms : &alone;
    for (size_t i = 0; i < (last->terms ? last->count : 1); i++)
        if (!read_tower_term(plan, x, &terms[i], tower))
            return false;
    return last->order == tower->order;
}

/* Whether the channels are those of sgi_tower: the first derivatives come first, then the others by
 * their order. */
static bool read_tower(const sg_jet_plan *plan, int firsts, sgi_tower *tower)
{
    tower->order = plan->channels - firsts;
    if (firsts < 1 || firsts > 2 || tower->order < 3 || tower->order > SG_CHAIN_FACTORS)
        return false;
    int x = plan->channel[firsts + 1].along[0];
    for (int c = firsts + 1; c + 1 < plan->channels; c++) {
        const sgi_jet_channel *channel = &plan->channel[c];
        if (channel->terms || channel->order != c - firsts + 1 ||
            single_coordinate(channel->order, channel->along) != x)
            return false;
    }
    sgi_jet_channel first = sgi_jet_derivative(1, &x);
    tower->first = sgi_jet_find_channel(plan, &first);
    tower->beside = firsts == 2 ? 3 - tower->first : 0;
    return tower->first >= 1 && tower->first <= firsts && read_tower_sum(plan, x, tower);
}

static void mark_simple(sg_jet_plan *plan)
{
    sgi_chain *chain = &plan->chain;
    chain->firsts = count_firsts(plan);
    int rest = plan->channels - 1 - chain->firsts;
    chain->second = rest == 1;
    chain->simple = chain->firsts <= SG_CHAIN_FIRSTS && rest <= 1 &&
                    (!chain->second || read_squares(plan, chain));
    sgi_tower tower = {0};
    if (!chain->simple && read_tower(plan, chain->firsts, &tower))
        chain->tower = tower;
}

sg_status sgi_jet_make_chain(sg_jet_plan *plan)
{
    size_t room = 0;
    for (int c = 1; c < plan->channels; c++)
        room += 1 + MOST_PARTITIONS * (plan->channel[c].terms ? plan->channel[c].count : 1);
    plan->chain_terms = sgi_allocate(&plan->allocator, room, sizeof *plan->chain_terms);
    if (!plan->chain_terms)
        return SG_ERROR_MEMORY;
    for (int c = 1; c < plan->channels; c++)
        add_channel_terms(plan, c);
    plan->chain.channels = plan->channels;
    plan->chain.terms = plan->chain_terms;
    mark_simple(plan);
    return SG_OK;
}
