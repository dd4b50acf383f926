/* Which nodes one pass over memory can do together: see sgi_net_chain.
 *
 * A chain is norm, stochastic depth, add, activation, in this order, each optional, where nobody
 * else reads what lies between. It runs where its last node stands, when all it reads is there.
 * A chain without norm and stochastic depth goes into the convolution before it, if the
 * activation's derivative follows from its value (or if there is no backward pass). */
#include "graph/internal.h"

/* The place of a node kind in a chain; -1 for kinds that are not of one. */
static int place(sgi_node_kind kind)
{
    switch (kind) {
    case SG_NODE_NORM:
        return 0;
    case SG_NODE_DROP_PATH:
        return 1;
    case SG_NODE_ADD:
        return 2;
    case SG_NODE_ACT:
        return 3;
    default:
        return -1;
    }
}

static void take(sg_net *graph, sgi_net_chain *chain, sg_net_node node, sg_net_node from)
{
    const sgi_node_entry *e = &graph->nodes[node];
    chain->tail = node;
    graph->nodes[node].chain = (int)(chain - graph->chains);
    if (e->kind == SG_NODE_NORM)
        chain->norm = node;
    else if (e->kind == SG_NODE_DROP_PATH)
        chain->drop = node;
    else if (e->kind == SG_NODE_ACT)
        chain->act = node;
    else {
        chain->add = node;
        chain->residual = e->in[0] == from ? e->in[1] : e->in[0];
    }
}

/* The node that may follow `last` in the chain, or SG_NO_NODE. */
static sg_net_node follower(const sg_net *graph, const sgi_net_chain *chain, sg_net_node last)
{
    const sgi_node_entry *e = &graph->nodes[last];
    if (e->uses != 1 || last == graph->logits)
        return SG_NO_NODE;
    const sgi_node_entry *next = &graph->nodes[e->user];
    if (place(next->kind) <= place(e->kind) || next->chain != SG_NONE)
        return SG_NO_NODE;
    /* SiLU's derivative needs the value before the activation. It is computed again from z and the
     * norm, which is not possible when a residual was added in between. */
    if (next->kind == SG_NODE_ACT && next->act == SG_ACT_SILU && chain->add != SG_NO_NODE)
        return SG_NO_NODE;
    return e->user;
}

static bool is_reader_of_value(sg_act act)
{
    return act != SG_ACT_SILU;
}

static bool fits_convolution(const sg_net *graph, const sgi_net_chain *chain)
{
    const sgi_node_entry *z = &graph->nodes[chain->z];
    bool training = graph->config.training;
    sg_act act = chain->act == SG_NO_NODE ? SG_ACT_NONE : graph->nodes[chain->act].act;
    return graph->config.fuse && z->kind == SG_NODE_CONV && z->uses == 1 &&
           chain->norm == SG_NO_NODE && (chain->drop == SG_NO_NODE || !training) &&
           (!training || is_reader_of_value(act));
}

sg_status sgi_find_chains(sg_net *graph)
{
    graph->chains =
        sgi_allocate(&graph->allocator, (size_t)graph->node_count, sizeof(sgi_net_chain));
    if (!graph->chains)
        return sgi_net_fail(graph, SG_ERROR_MEMORY, "out of memory");
    for (sg_net_node node = 0; node < graph->node_count; node++) {
        const sgi_node_entry *e = &graph->nodes[node];
        if (place(e->kind) < 0 || e->chain != SG_NONE)
            continue;
        sgi_net_chain *chain = &graph->chains[graph->chain_count++];
        *chain = (sgi_net_chain){.z = e->in[0],
                                 .norm = SG_NO_NODE,
                                 .drop = SG_NO_NODE,
                                 .add = SG_NO_NODE,
                                 .act = SG_NO_NODE,
                                 .residual = SG_NO_NODE};
        sg_net_node last = e->in[0], next = node;
        while (next != SG_NO_NODE) {
            take(graph, chain, next, last);
            last = next;
            next = follower(graph, chain, last);
        }
        chain->fused = fits_convolution(graph, chain);
    }
    return SG_OK;
}
