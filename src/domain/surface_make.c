/* Making a closed surface of loose triangles: see surface.h. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "domain/shape.h"
#include "domain/surface.h"

/* A part's place among the others is found by summing over all triangles. */
enum { MOST_SUMS = 30000000 };

/* Triangles thinner than this, in squares of their longest edge, have no normal. */
static const double least_area = 1e-10;

typedef struct maker {
    sgi_surface *s;
    const sg_allocator *allocator;
    const char *path;
    sg_diagnostic *diagnostic;
    uint32_t *origin; /* (count): which triangle of the file each is */
} maker;

__attribute__((format(printf, 2, 3))) static sg_status refuse(const maker *m, const char *format,
                                                              ...)
{
    char message[320];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return sgi_fail_file(m->diagnostic, SG_ERROR_FORMAT, m->path, "%s", message);
}

static const double *corner(const sgi_surface *s, size_t triangle, int k)
{
    return s->corners + 3 * (size_t)s->triangles[3 * triangle + (size_t)(k % 3)];
}

/* "(1, 0.5, 0)" */
static const char *place(const double *x, char text[80])
{
    snprintf(text, 80, "(%.6g, %.6g, %.6g)", x[0], x[1], x[2]);
    return text;
}

static size_t power_of_two(size_t least)
{
    size_t size = 16;
    while (size < least)
        size *= 2;
    return size;
}

static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ b * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                 c * UINT64_C(0x165667b19e3779f9);
    h ^= h >> 29;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

/* ---- Corners ------------------------------------------------------------------------------- */

typedef struct welder {
    sgi_surface *s;
    double near, cell;
    uint32_t *table; /* (size): corners + 1, 0: free */
    size_t size;
} welder;

static size_t slot_of(const welder *w, const double *x, const int *shift)
{
    int64_t cell[3];
    for (int k = 0; k < 3; k++)
        cell[k] = (int64_t)floor((x[k] + shift[k] * w->near) / w->cell);
    return mix((uint64_t)cell[0], (uint64_t)cell[1], (uint64_t)cell[2]) & (w->size - 1);
}

static bool same(const welder *w, const double *x, const double *y)
{
    return fabs(x[0] - y[0]) <= w->near && fabs(x[1] - y[1]) <= w->near &&
           fabs(x[2] - y[2]) <= w->near;
}

/* The corner at x, which may be registered in a neighbouring cell; a new one if there is none. */
static uint32_t weld(welder *w, const double *x)
{
    for (int n = 0; n < 8; n++) {
        const int shift[3] = {n & 1 ? 1 : -1, n & 2 ? 1 : -1, n & 4 ? 1 : -1};
        for (size_t i = slot_of(w, x, shift); w->table[i]; i = (i + 1) & (w->size - 1))
            if (same(w, x, w->s->corners + 3 * (size_t)(w->table[i] - 1)))
                return w->table[i] - 1;
    }
    size_t i = slot_of(w, x, (const int[3]){0, 0, 0});
    while (w->table[i])
        i = (i + 1) & (w->size - 1);
    memcpy(w->s->corners + 3 * w->s->corner_count, x, 3 * sizeof *x);
    w->table[i] = (uint32_t)++w->s->corner_count;
    return w->table[i] - 1;
}

static void weld_all(maker *m, welder *w, const sgi_stl *stl)
{
    sgi_surface *s = m->s;
    for (size_t t = 0; t < stl->count; t++) {
        uint32_t c[3];
        for (int k = 0; k < 3; k++)
            c[k] = weld(w, stl->corners + 9 * t + (ptrdiff_t)3 * k);
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])
            continue;
        memcpy(s->triangles + 3 * s->count, c, sizeof c);
        m->origin[s->count++] = (uint32_t)t + 1;
    }
}

static sg_status make_corners(maker *m, sgi_arena *arena, const sgi_stl *stl)
{
    double largest = DBL_MIN, lower[3], upper[3], square = 0;
    memcpy(lower, stl->corners, sizeof lower);
    memcpy(upper, stl->corners, sizeof upper);
    for (size_t i = 0; i < 9 * stl->count; i++) {
        double x = stl->corners[i];
        largest = fmax(largest, fabs(x));
        lower[i % 3] = fmin(lower[i % 3], x);
        upper[i % 3] = fmax(upper[i % 3], x);
    }
    for (int k = 0; k < 3; k++)
        square += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    m->s->size = sqrt(square);
    m->s->corners = sgi_arena_allocate(arena, 9 * stl->count, sizeof *m->s->corners);
    m->s->triangles = sgi_arena_allocate(arena, 3 * stl->count, sizeof *m->s->triangles);
    welder w = {.s = m->s, .near = 4 * FLT_EPSILON * largest, .size = power_of_two(6 * stl->count)};
    w.cell = 4 * w.near;
    w.table = sgi_allocate(m->allocator, w.size, sizeof *w.table);
    if (m->s->corners && m->s->triangles && w.table)
        weld_all(m, &w, stl);
    sgi_release(m->allocator, w.table);
    if (!m->s->corners || !m->s->triangles || !w.table)
        return SG_ERROR_MEMORY;
    return m->s->count ? SG_OK : refuse(m, "all its triangles are single points");
}

/* ---- Edges --------------------------------------------------------------------------------- */

/* An edge between two corners, the lower one first, and the triangles that it has. */
typedef struct edge {
    uint32_t low, high;
    uint32_t count, up; /* of triangles; of those that run from low to high */
    uint32_t
        sides[2]; /* 3 * triangle + k of the newest that runs up, and of that which runs down */
} edge;

static edge *find_edge(edge *table, size_t size, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t i = mix(low, high, 0) & (size - 1);
    while (table[i].count && (table[i].low != low || table[i].high != high))
        i = (i + 1) & (size - 1);
    table[i].low = low;
    table[i].high = high;
    return &table[i];
}

static sg_status refuse_edge(const maker *m, const edge *e, size_t open, size_t many, size_t turned)
{
    char from[80], to[80];
    const double *x = m->s->corners + 3 * (size_t)e->low, *y = m->s->corners + 3 * (size_t)e->high;
    place(x, from);
    place(y, to);
    if (many)
        return refuse(m,
                      "%u triangles meet at the edge from %s to %s, where a solid has two "
                      "(%zu such edge%s)",
                      e->count, from, to, many, many == 1 ? "" : "s");
    if (open)
        return refuse(m,
                      "the surface is open: only one triangle, number %u, has the edge from %s to "
                      "%s (%zu such edge%s)",
                      m->origin[e->sides[e->up ? 0 : 1] / 3], from, to, open, open == 1 ? "" : "s");
    return refuse(m,
                  "two triangles at the edge from %s to %s are oriented against each other "
                  "(%zu such edge%s)",
                  from, to, turned, turned == 1 ? "" : "s");
}

static sg_status check_edges(const maker *m, const edge *table, size_t size)
{
    size_t counts[3] = {0, 0, 0}; /* open, with more than two, turned */
    const edge *first[3] = {NULL, NULL, NULL};
    for (size_t i = 0; i < size; i++) {
        const edge *e = &table[i];
        if (e->count == 0 || (e->count == 2 && e->up == 1))
            continue;
        int kind = e->count == 1 ? 0 : e->count > 2 ? 1 : 2;
        /* The same one whatever the table's order: the lowest corners. */
        if (!first[kind] || e->low < first[kind]->low ||
            (e->low == first[kind]->low && e->high < first[kind]->high))
            first[kind] = e;
        counts[kind]++;
    }
    if (counts[1])
        return refuse_edge(m, first[1], 0, counts[1], 0);
    if (counts[0])
        return refuse_edge(m, first[0], counts[0], 0, 0);
    return counts[2] ? refuse_edge(m, first[2], 0, 0, counts[2]) : SG_OK;
}

static sg_status join_edges(maker *m, sgi_arena *arena)
{
    sgi_surface *s = m->s;
    size_t size = power_of_two(4 * s->count);
    edge *table = sgi_allocate(m->allocator, size, sizeof *table);
    s->across = sgi_arena_allocate(arena, 3 * s->count, sizeof *s->across);
    if (!table || !s->across) {
        sgi_release(m->allocator, table);
        return SG_ERROR_MEMORY;
    }
    for (size_t i = 0; i < 3 * s->count; i++) {
        uint32_t a = s->triangles[i], b = s->triangles[i % 3 == 2 ? i - 2 : i + 1];
        edge *e = find_edge(table, size, a, b);
        e->count++;
        e->up += a < b;
        e->sides[a < b ? 0 : 1] = (uint32_t)i;
    }
    sg_status status = check_edges(m, table, size);
    for (size_t i = 0; i < size && status == SG_OK; i++)
        if (table[i].count) {
            s->across[table[i].sides[0]] = table[i].sides[1] / 3;
            s->across[table[i].sides[1]] = table[i].sides[0] / 3;
        }
    sgi_release(m->allocator, table);
    return status;
}

/* ---- Normals ------------------------------------------------------------------------------- */

static void cross_at(const double *a, const double *b, const double *c, double *normal)
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
    }
    for (int k = 0; k < 3; k++)
        normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

static double square_between(const double *a, const double *b)
{
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
           (a[2] - b[2]) * (a[2] - b[2]);
}

/* The angle of a triangle at corner k. */
static double angle_at(const sgi_surface *s, size_t t, int k)
{
    const double *a = corner(s, t, k), *b = corner(s, t, k + 1), *c = corner(s, t, k + 2);
    double normal[3], along = 0;
    cross_at(a, b, c, normal);
    for (int i = 0; i < 3; i++)
        along += (b[i] - a[i]) * (c[i] - a[i]);
    return atan2(sqrt(sgi_dot(normal, normal, 3)), along);
}

static sg_status make_normals(const maker *m, sgi_arena *arena)
{
    sgi_surface *s = m->s;
    s->normals = sgi_arena_allocate(arena, 3 * s->count, sizeof *s->normals);
    s->corner_normals = sgi_arena_allocate(arena, 3 * s->corner_count, sizeof *s->corner_normals);
    if (!s->normals || !s->corner_normals)
        return SG_ERROR_MEMORY;
    for (size_t t = 0; t < s->count; t++) {
        const double *a = corner(s, t, 0), *b = corner(s, t, 1), *c = corner(s, t, 2);
        double *normal = s->normals + 3 * t;
        cross_at(a, b, c, normal);
        double twice = sqrt(sgi_dot(normal, normal, 3));
        double longest =
            fmax(square_between(a, b), fmax(square_between(b, c), square_between(c, a)));
        if (!(twice > least_area * longest)) {
            char text[3][80];
            return refuse(m, "triangle %u has no area: its corners %s, %s and %s lie on a line",
                          m->origin[t], place(a, text[0]), place(b, text[1]), place(c, text[2]));
        }
        for (int k = 0; k < 3; k++)
            normal[k] /= twice;
        s->area += twice / 2;
        for (int k = 0; k < 3; k++) {
            double angle = angle_at(s, t, k);
            double *sum = s->corner_normals + 3 * (size_t)s->triangles[3 * t + (size_t)k];
            for (int i = 0; i < 3; i++)
                sum[i] += angle * normal[i];
        }
    }
    return SG_OK;
}

/* ---- Corners with more than one fan -------------------------------------------------------- */

static int corner_index(const sgi_surface *s, size_t t, uint32_t c)
{
    return s->triangles[3 * t] == c ? 0 : s->triangles[3 * t + 1] == c ? 1 : 2;
}

static sg_status check_fans(const maker *m)
{
    const sgi_surface *s = m->s;
    sg_status status = SG_OK;
    uint32_t *counts = sgi_allocate(m->allocator, s->corner_count, sizeof *counts);
    if (!counts)
        return SG_ERROR_MEMORY;
    for (size_t i = 0; i < 3 * s->count; i++)
        counts[s->triangles[i]]++;
    for (size_t i = 0; i < 3 * s->count && status == SG_OK; i++) {
        uint32_t c = s->triangles[i], seen = 0;
        size_t t = i / 3;
        if (counts[c] == 0)
            continue; /* looked at already */
        do {          /* around the corner; every edge has one other side, so this comes back */
            seen++;
            t = s->across[3 * t + (size_t)corner_index(s, t, c)];
        } while (t != i / 3);
        char text[80];
        if (seen != counts[c])
            status = refuse(m, "parts of the surface touch in the single point %s",
                            place(s->corners + 3 * (size_t)c, text));
        counts[c] = 0;
    }
    sgi_release(m->allocator, counts);
    return status;
}

/* ---- Parts --------------------------------------------------------------------------------- */

static double six_volumes(const sgi_surface *s, size_t t)
{
    /* From a corner of the surface, so that little cancels. */
    const double *o = s->corners;
    double a[3], b[3], c[3];
    for (int k = 0; k < 3; k++) {
        a[k] = corner(s, t, 0)[k] - o[k];
        b[k] = corner(s, t, 1)[k] - o[k];
        c[k] = corner(s, t, 2)[k] - o[k];
    }
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* Turns the whole inside out. */
static void turn_over(sgi_surface *s)
{
    for (size_t t = 0; t < s->count; t++) {
        uint32_t kept = s->triangles[3 * t + 1], across = s->across[3 * t];
        s->triangles[3 * t + 1] = s->triangles[3 * t + 2];
        s->triangles[3 * t + 2] = kept;
        s->across[3 * t] = s->across[3 * t + 2];
        s->across[3 * t + 2] = across;
        for (size_t k = 0; k < 3; k++)
            s->normals[3 * t + k] *= -1;
    }
    for (size_t i = 0; i < 3 * s->corner_count; i++)
        s->corner_normals[i] *= -1;
    s->volume = -s->volume;
}

/* Numbers the parts that hang together, in the order of their first triangles. */
static uint32_t number_parts(const sgi_surface *s, uint32_t *part, uint32_t *stack)
{
    uint32_t parts = 0;
    for (size_t t = 0; t < s->count; t++)
        part[t] = UINT32_MAX;
    for (size_t first = 0; first < s->count; first++) {
        size_t top = 0;
        if (part[first] != UINT32_MAX)
            continue;
        part[first] = parts;
        stack[top++] = (uint32_t)first;
        while (top > 0) {
            size_t t = stack[--top];
            for (size_t k = 0; k < 3; k++) {
                uint32_t next = s->across[3 * t + k];
                if (part[next] != UINT32_MAX)
                    continue;
                part[next] = parts;
                stack[top++] = next;
            }
        }
        parts++;
    }
    return parts;
}

/* How often the triangles of all other parts go around x, which lies on `own`: their solid angles
 * (van Oosterom and Strackee, 1983). */
static double winding(const sgi_surface *s, const uint32_t *part, uint32_t own, const double *x)
{
    double sum = 0;
    for (size_t t = 0; t < s->count; t++) {
        double v[3][3], length[3];
        if (part[t] == own)
            continue;
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++)
                v[i][k] = corner(s, t, i)[k] - x[k];
            length[i] = sqrt(sgi_dot(v[i], v[i], 3));
        }
        double triple = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
                        v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
                        v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        double below = length[0] * length[1] * length[2] + sgi_dot(v[0], v[1], 3) * length[2] +
                       sgi_dot(v[1], v[2], 3) * length[0] + sgi_dot(v[2], v[0], 3) * length[1];
        sum += 2 * atan2(triple, below);
    }
    return sum / (4 * M_PI);
}

static sg_status check_parts(const maker *m, const uint32_t *part, uint32_t parts, double *volumes)
{
    const sgi_surface *s = m->s;
    if (parts == 1)
        return SG_OK;
    if ((double)parts * (double)s->count > MOST_SUMS)
        return refuse(m, "it has %u parts that do not hang together, more than can be checked",
                      parts);
    for (size_t t = 0; t < s->count; t++)
        volumes[part[t]] += six_volumes(s, t);
    for (size_t t = 0, next = 0; t < s->count; t++) {
        if (part[t] != next)
            continue;
        double around = winding(s, part, part[t], corner(s, t, 0));
        bool hollow = (volumes[next] > 0) != (s->volume > 0);
        double should = s->volume > 0 ? (hollow ? 1 : 0) : (hollow ? -1 : 0);
        char text[80];
        if (!(fabs(volumes[next++]) > 1e-15 * s->size * s->size * s->size))
            return refuse(m, "a part of it, at %s, encloses no volume",
                          place(corner(s, t, 0), text));
        if (fabs(around - should) > 0.25)
            return refuse(m,
                          "its parts cross or touch each other, or one that lies in another is "
                          "oriented like it: see the part at %s",
                          place(corner(s, t, 0), text));
    }
    return SG_OK;
}

static sg_status find_parts(const maker *m)
{
    sgi_surface *s = m->s;
    uint32_t *part = sgi_allocate(m->allocator, s->count, sizeof *part);
    uint32_t *stack = sgi_allocate(m->allocator, s->count, sizeof *stack);
    sg_status status = part && stack ? SG_OK : SG_ERROR_MEMORY;
    uint32_t parts = status == SG_OK ? number_parts(s, part, stack) : 0;
    double *volumes = sgi_allocate(m->allocator, parts, sizeof *volumes);
    if (!volumes)
        status = SG_ERROR_MEMORY;
    if (status == SG_OK)
        status = check_parts(m, part, parts, volumes);
    sgi_release(m->allocator, volumes);
    sgi_release(m->allocator, stack);
    sgi_release(m->allocator, part);
    return status;
}

/* ---- The whole ----------------------------------------------------------------------------- */

static sg_status make_solid(maker *m)
{
    sgi_surface *s = m->s;
    for (size_t t = 0; t < s->count; t++)
        s->volume += six_volumes(s, t) / 6;
    if (!(fabs(s->volume) > 1e-12 * s->area * s->size))
        return refuse(m, "it encloses no volume");
    sg_status status = find_parts(m);
    if (status == SG_OK && s->volume < 0)
        turn_over(s);
    return status;
}

sg_status sgi_surface_make(sgi_surface *surface, sgi_arena *arena, const sgi_stl *stl,
                           const char *path, sg_diagnostic *diagnostic)
{
    *surface = (sgi_surface){0};
    maker m = {surface, &arena->allocator, path, diagnostic,
               sgi_allocate(&arena->allocator, stl->count, sizeof *m.origin)};
    sg_status status = m.origin ? make_corners(&m, arena, stl) : SG_ERROR_MEMORY;
    if (status == SG_OK)
        status = join_edges(&m, arena);
    if (status == SG_OK)
        status = make_normals(&m, arena);
    if (status == SG_OK)
        status = check_fans(&m);
    if (status == SG_OK)
        status = make_solid(&m);
    sgi_release(&arena->allocator, m.origin);
    return status;
}
