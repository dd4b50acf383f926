/* Meshes of regions: see mesh.h. */
#include "domain/mesh.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

enum { CORNERS = SG_MESH_AXES + 1, BISECTIONS = 60 };

/* A corner moves by at most this share of an edge. */
static const double most_move = 0.2;

/* A point has an id: that of the grid, or total + vertex * edges + mask - 1 for the cut of the edge
 * that leads from the vertex to the one that is higher by 1 along the axes of the mask. */
typedef struct maker {
    const sgi_mesh_grid *grid;
    sgi_mesh *mesh;
    size_t total, edges; /* vertices of the grid; edges that leave one upwards */
    size_t strides[SG_MESH_AXES];
    double *places;    /* (total, axes) */
    signed char *side; /* (total): -1 inside, 0 on the boundary, 1 outside */
    uint32_t *numbers; /* (total * (1 + edges)): of the mesh's point + 1; 0: none yet */
    double *moves;     /* (total, 1 + axes): the shortest move of a vertex, and where to */
    size_t point_capacity, cell_capacity;
    sg_status status;
} maker;

static size_t other_end(const maker *m, size_t vertex, size_t mask)
{
    for (int k = 0; k < m->grid->axes; k++)
        vertex += mask >> k & 1 ? m->strides[k] : 0;
    return vertex;
}

static double distance_at(const maker *m, const double *x)
{
    if (!m->grid->distance)
        return -1;
    double d = m->grid->distance(m->grid->context, x);
    return fabs(d) <= m->grid->near ? 0 : d;
}

static void between(const maker *m, size_t a, size_t b, double share, double *x)
{
    int axes = m->grid->axes;
    const double *from = m->places + (size_t)axes * a, *to = m->places + (size_t)axes * b;
    for (int k = 0; k < axes; k++)
        x[k] = from[k] + share * (to[k] - from[k]);
}

/* Where from a to b the boundary lies; the last place inside it or on it. */
static double find_cut(const maker *m, size_t a, size_t b)
{
    bool leaves = m->side[a] < 0;
    double low = 0, high = 1, x[SG_MESH_AXES] = {0};
    for (int i = 0; i < BISECTIONS && high - low > 1e-14; i++) {
        double middle = (low + high) / 2;
        between(m, a, b, middle, x);
        if ((m->grid->distance(m->grid->context, x) <= 0) == leaves)
            low = middle;
        else
            high = middle;
    }
    return leaves ? low : high;
}

/* ---- The grid ------------------------------------------------------------------------------ */

static void place_vertices(maker *m)
{
    const sgi_mesh_grid *g = m->grid;
    for (size_t v = 0; v < m->total; v++) {
        double *x = m->places + (size_t)g->axes * v;
        for (int k = 0; k < g->axes; k++) {
            size_t i = v / m->strides[k] % g->counts[k], last = g->counts[k] - 1;
            x[k] = i == last ? g->upper[k]
                             : g->lower[k] + (g->upper[k] - g->lower[k]) * (double)i / (double)last;
        }
        double d = distance_at(m, x);
        m->side[v] = (signed char)((d > 0) - (d < 0));
        m->moves[(size_t)(g->axes + 1) * v] = INFINITY;
    }
}

/* Whether the edge is one of the grid's, and is cut. */
static bool is_cut(const maker *m, size_t v, size_t mask)
{
    for (int k = 0; k < m->grid->axes; k++)
        if ((mask >> k & 1) && v / m->strides[k] % m->grid->counts[k] + 1 == m->grid->counts[k])
            return false;
    return m->side[v] * m->side[other_end(m, v, mask)] < 0;
}

static void offer_move(maker *m, size_t v, size_t a, size_t b, double share, double length)
{
    double *move = m->moves + (size_t)(m->grid->axes + 1) * v;
    if (length >= move[0])
        return;
    move[0] = length;
    between(m, a, b, share, move + 1);
}

static void move_vertices(maker *m)
{
    int axes = m->grid->axes;
    for (size_t v = 0; v < m->total; v++)
        for (size_t mask = 1; mask <= m->edges; mask++) {
            if (!is_cut(m, v, mask))
                continue;
            size_t w = other_end(m, v, mask);
            double share = find_cut(m, v, w), square = 0;
            double x[SG_MESH_AXES] = {0}, y[SG_MESH_AXES] = {0};
            between(m, v, w, 0, x);
            between(m, v, w, 1, y);
            for (int k = 0; k < axes; k++)
                square += (y[k] - x[k]) * (y[k] - x[k]);
            if (share < most_move)
                offer_move(m, v, v, w, share, share * sqrt(square));
            if (1 - share < most_move)
                offer_move(m, w, v, w, share, (1 - share) * sqrt(square));
        }
    for (size_t v = 0; v < m->total; v++) {
        const double *move = m->moves + (size_t)(axes + 1) * v;
        if (isinf(move[0]))
            continue;
        memcpy(m->places + (size_t)axes * v, move + 1, (size_t)axes * sizeof *move);
        m->side[v] = 0;
    }
}

/* ---- Cells --------------------------------------------------------------------------------- */

static uint32_t number_of(maker *m, size_t id)
{
    size_t axes = (size_t)m->grid->axes;
    sgi_mesh *mesh = m->mesh;
    if (m->status != SG_OK || m->numbers[id])
        return m->numbers[id];
    m->status = sgi_grow_array(&mesh->allocator, &mesh->points, mesh->point_count,
                               &m->point_capacity, 256, axes * sizeof *mesh->points);
    if (m->status != SG_OK)
        return 0;
    double *x = mesh->points + axes * mesh->point_count;
    if (id < m->total) {
        memcpy(x, m->places + axes * id, axes * sizeof *x);
    } else {
        size_t v = (id - m->total) / m->edges, mask = (id - m->total) % m->edges + 1;
        size_t w = other_end(m, v, mask);
        between(m, v, w, find_cut(m, v, w), x);
    }
    return m->numbers[id] = (uint32_t)++mesh->point_count;
}

/* The volume times the factorial of the axes. */
static double volume(const sgi_mesh *mesh, const uint32_t *cell)
{
    double e[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    size_t axes = (size_t)mesh->axes;
    for (size_t i = 0; i < axes; i++)
        for (size_t k = 0; k < axes; k++)
            e[i][k] = mesh->points[axes * cell[i + 1] + k] - mesh->points[axes * cell[0] + k];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Adds the simplex of these points, unless two of them are one. */
static void add_cell(maker *m, const size_t *ids)
{
    sgi_mesh *mesh = m->mesh;
    int corners = mesh->axes + 1;
    uint32_t cell[CORNERS] = {0};
    for (int i = 0; i < corners; i++)
        for (int j = 0; j < i; j++)
            if (ids[i] == ids[j])
                return;
    for (int i = 0; i < corners; i++)
        cell[i] = number_of(m, ids[i]) - 1;
    if (m->status == SG_OK)
        m->status = sgi_grow_array(&mesh->allocator, &mesh->cells, mesh->cell_count,
                                   &m->cell_capacity, 256, (size_t)corners * sizeof *mesh->cells);
    if (m->status != SG_OK)
        return;
    double size = volume(mesh, cell);
    if (size < 0) {
        uint32_t kept = cell[0];
        cell[0] = cell[1];
        cell[1] = kept;
    }
    if (size != 0)
        memcpy(mesh->cells + (size_t)corners * mesh->cell_count++, cell,
               (size_t)corners * sizeof *cell);
}

/* The prism between two triangles, whose corners a[i] and b[i] may coincide. Each of its squares is
 * divided from its lowest point, so that neighbours agree (Dompierre and others, 1999). */
static void add_prism(maker *m, const size_t *a, const size_t *b)
{
    int first = 0;
    bool below = false;
    for (int i = 0; i < 3; i++) {
        size_t lowest = below ? b[first] : a[first];
        if (a[i] < lowest)
            first = i, below = false;
        lowest = below ? b[first] : a[first];
        if (b[i] < lowest)
            first = i, below = true;
    }
    const size_t *top = below ? b : a, *foot = below ? a : b;
    const size_t t[3] = {top[first], top[(first + 1) % 3], top[(first + 2) % 3]};
    const size_t f[3] = {foot[first], foot[(first + 1) % 3], foot[(first + 2) % 3]};
    add_cell(m, (const size_t[]){t[0], f[0], f[1], f[2]});
    size_t rising = t[1] < f[2] ? t[1] : f[2], falling = t[2] < f[1] ? t[2] : f[1];
    if (rising <= falling) {
        add_cell(m, (const size_t[]){t[0], t[1], t[2], f[2]});
        add_cell(m, (const size_t[]){t[0], t[1], f[2], f[1]});
    } else {
        add_cell(m, (const size_t[]){t[0], t[1], t[2], f[1]});
        add_cell(m, (const size_t[]){t[0], t[2], f[2], f[1]});
    }
}

/* The id of where the edge between two corners of a simplex is cut: their vertices differ by 0 or 1
 * along each axis. */
static size_t cut_of(const maker *m, size_t a, size_t b)
{
    size_t low = a < b ? a : b, high = a < b ? b : a, mask = 1;
    while (other_end(m, low, mask) != high)
        mask++;
    return m->total + low * m->edges + mask - 1;
}

/* The inner part of a simplex whose corners are in order: inside, on the boundary, outside. */
static void add_inner(maker *m, const size_t *v, int in, int on, int out)
{
    int axes = m->grid->axes, kept = in + on;
    size_t ends[CORNERS] = {0}; /* of the edges from the inner corners to the first outer one */
    for (int i = 0; i < kept; i++)
        ends[i] = i < in ? cut_of(m, v[i], v[kept]) : v[i];
    if (in == 1) { /* what is left is a simplex itself */
        size_t cell[CORNERS] = {v[0]};
        for (int i = 1; i <= axes; i++)
            cell[i] = i < kept ? v[i] : cut_of(m, v[0], v[i]);
        add_cell(m, cell);
    } else if (axes == 2) { /* two inside, one outside: the lowest point divides the square */
        add_cell(m, (const size_t[]){v[0], v[1], ends[v[0] < v[1] ? 1 : 0]});
        add_cell(m, (const size_t[]){v[v[0] < v[1] ? 0 : 1], ends[0], ends[1]});
    } else if (out == 1) {
        add_prism(m, v, ends);
    } else { /* two inside, two outside */
        const size_t one[3] = {v[0], cut_of(m, v[0], v[2]), cut_of(m, v[0], v[3])};
        const size_t two[3] = {v[1], cut_of(m, v[1], v[2]), cut_of(m, v[1], v[3])};
        add_prism(m, one, two);
    }
}

static bool middle_inside(const maker *m, const size_t *v)
{
    double x[SG_MESH_AXES] = {0};
    int axes = m->grid->axes;
    for (int i = 0; i <= axes; i++)
        for (int k = 0; k < axes; k++)
            x[k] += m->places[(size_t)axes * v[i] + (size_t)k] / (axes + 1);
    return distance_at(m, x) < 0;
}

static void add_simplex(maker *m, const size_t *v)
{
    size_t sorted[CORNERS] = {0};
    int counts[3] = {0, 0, 0}, used = 0;
    for (int side = -1; side <= 1; side++)
        for (int i = 0; i <= m->grid->axes; i++)
            if (m->side[v[i]] == side) {
                sorted[used++] = v[i];
                counts[side + 1]++;
            }
    if (counts[2] == 0) {
        if (counts[0] > 0 || middle_inside(m, v))
            add_cell(m, v);
    } else if (counts[0] > 0) {
        add_inner(m, sorted, counts[0], counts[1], counts[2]);
    }
}

static void fill(maker *m)
{
    static const int orders[SG_MESH_AXES][6][3] = {
        {{0, 0, 0}},
        {{0, 1, 0}, {1, 0, 0}},
        {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
    static const int order_counts[SG_MESH_AXES] = {1, 2, 6};
    int axes = m->grid->axes;
    for (size_t v = 0; v < m->total && m->status == SG_OK; v++) {
        bool last = false;
        for (int k = 0; k < axes; k++)
            last = last || v / m->strides[k] % m->grid->counts[k] + 1 == m->grid->counts[k];
        for (int o = 0; o < order_counts[axes - 1] && !last; o++) {
            size_t corners[CORNERS] = {v};
            for (int k = 0; k < axes; k++)
                corners[k + 1] = corners[k] + m->strides[orders[axes - 1][o][k]];
            add_simplex(m, corners);
        }
    }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static sg_status allocate(maker *m)
{
    const sg_allocator *allocator = &m->mesh->allocator;
    size_t axes = (size_t)m->grid->axes;
    m->places = sgi_allocate(allocator, m->total, axes * sizeof *m->places);
    m->side = sgi_allocate(allocator, m->total, sizeof *m->side);
    m->numbers = sgi_allocate(allocator, m->total * (1 + m->edges), sizeof *m->numbers);
    m->moves = sgi_allocate(allocator, m->total, (axes + 1) * sizeof *m->moves);
    return m->places && m->side && m->numbers && m->moves ? SG_OK : SG_ERROR_MEMORY;
}

sg_status sgi_mesh_make(sgi_mesh *mesh, const sgi_mesh_grid *grid, const sg_allocator *given)
{
    *mesh = (sgi_mesh){.allocator = sgi_allocator_or_heap(given), .axes = grid->axes};
    if (grid->axes < 1 || grid->axes > SG_MESH_AXES)
        return SG_ERROR_ARGUMENT;
    maker m = {.grid = grid, .mesh = mesh, .total = 1, .edges = ((size_t)1 << grid->axes) - 1};
    for (int k = grid->axes - 1; k >= 0; k--) {
        if (grid->counts[k] < 2 || grid->counts[k] > SG_MESH_MOST / m.total)
            return SG_ERROR_ARGUMENT;
        m.strides[k] = m.total;
        m.total *= grid->counts[k];
    }
    m.status = allocate(&m);
    if (m.status == SG_OK) {
        place_vertices(&m);
        if (grid->distance)
            move_vertices(&m);
        fill(&m);
    }
    sgi_release(&mesh->allocator, m.places);
    sgi_release(&mesh->allocator, m.side);
    sgi_release(&mesh->allocator, m.numbers);
    sgi_release(&mesh->allocator, m.moves);
    return m.status;
}

void sgi_mesh_release(sgi_mesh *mesh)
{
    sgi_release(&mesh->allocator, mesh->points);
    sgi_release(&mesh->allocator, mesh->cells);
    mesh->points = NULL;
    mesh->cells = NULL;
    mesh->point_count = mesh->cell_count = 0;
}
