/* The points of one set of a batch: see cloud.h. */
#include "problem/cloud.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "problem/data.h"
#include "problem/place.h"

/* Points of a sequence that are tried for each item before chance is asked instead, and nodes of
 * the largest grid that is tried. */
enum { TRIES_PER_ITEM = 1 << 14, MOST_NODES = 1 << 22 };

static const uint32_t by_chance = UINT32_MAX; /* in place of a number of the sequence */

static const sgi_point_set *set_of(const sgi_cloud *c)
{
    return &c->problem->sets[c->set];
}

static int pieces_of(const sgi_point_set *set)
{
    return set->kind == SG_SET_DOMAIN ? 1 : set->face_count;
}

/* Whether points are tried, and some are not taken. */
static bool is_tried(const sgi_problem *problem, const sgi_point_set *set)
{
    return set->curved || (set->kind == SG_SET_DOMAIN && (set->region || problem->domain.region));
}

/* Coordinates of a piece that have a value of their own, as bits. */
static unsigned fixed_of(const sgi_point_set *set, int piece)
{
    const sgi_face *face = set->kind == SG_SET_DOMAIN ? NULL : &set->faces[piece];
    if (!face || face->region || face->interior)
        return 0;
    return 1u << face->coordinate | (face->filter ? face->filter->fixed : 0);
}

/* ---- Mapping the cube -------------------------------------------------------------------------
 */

typedef struct drawn {
    double point[SG_MOST_COORDINATES], normal[SG_MOST_COORDINATES];
} drawn;

/* One try with the numbers of `uniforms`. */
static bool try_piece(const sgi_problem *problem, const sgi_point_set *set, int piece,
                      sgi_uniforms *uniforms, drawn *d)
{
    if (set->kind == SG_SET_DOMAIN)
        return sgi_place_interior(problem, set->region, uniforms, d->point);
    return sgi_place_try(problem, &set->faces[piece], set->kind == SG_SET_PAIRS, uniforms, d->point,
                         d->normal);
}

static sgi_uniforms numbers_at(const sgi_cloud *c, int piece, uint64_t n, double *numbers)
{
    const sgi_sequence *sequence = &c->sequences[piece];
    sgi_sequence_at(sequence, n, numbers);
    return (sgi_uniforms){.seed = sequence->seed,
                          .stream = sequence->stream,
                          .counter = (uint64_t)1 << 62 | n << 24,
                          .first = numbers,
                          .first_count = sequence->width,
                          .use = c->kind == SG_DRAW_GRID ? SG_USE_GRID : SG_USE_SEQUENCE};
}

/* Number n of the piece's sequence; whether it lies in the piece. */
static bool draw_number(const sgi_cloud *c, int piece, uint64_t n, drawn *d)
{
    double numbers[SG_MOST_NUMBERS];
    sgi_uniforms uniforms = numbers_at(c, piece, n, numbers);
    return try_piece(c->problem, set_of(c), piece, &uniforms, d);
}

/* ---- Trying -----------------------------------------------------------------------------------
 */

/* The first numbers of the sequence that lie in the piece. */
static void try_sequence(const sgi_cloud *c, int piece, int64_t begin)
{
    uint64_t n = 0, most = (uint64_t)(c->ends[piece] - begin) * TRIES_PER_ITEM;
    drawn d;
    if (most > UINT32_MAX)
        most = UINT32_MAX;
    for (int64_t i = begin; i < c->ends[piece]; i++) {
        while (n < most && !draw_number(c, piece, n, &d))
            n++;
        c->order[i] = n < most ? (uint32_t)n++ : by_chance;
    }
}

static int64_t count_nodes(const sgi_cloud *c, int piece)
{
    int64_t count = 0;
    drawn d;
    for (uint64_t n = 0; n < c->sequences[piece].nodes; n++)
        count += draw_number(c, piece, n, &d);
    return count;
}

/* The coarsest grid, as far as a few guesses find it, with `items` nodes in the piece: their
 * number, 0 if there is none of a size that can be tried. */
static int64_t find_grid(sgi_cloud *c, int piece, int64_t items)
{
    sgi_sequence *sequence = &c->sequences[piece];
    if (sequence->width == 0)
        return items == 1;
    double power = 1.0 / sequence->width, side = ceil(pow((double)items, power) - 1e-9);
    while (pow(side, sequence->width) <= MOST_NODES) {
        sgi_sequence_cubic(sequence, (uint32_t)side);
        int64_t found = count_nodes(c, piece);
        if (found >= items)
            return found;
        double guess = floor(side * pow((double)items / (found ? (double)found : 0.5), power));
        side = guess > 2 * side ? 2 * side : guess > side + 1 ? guess : side + 1;
    }
    return 0;
}

/* Nodes of the grid that lie in the piece, `found` in all, some left out evenly. */
static void choose_nodes(const sgi_cloud *c, int piece, int64_t begin, int64_t found)
{
    int64_t items = c->ends[piece] - begin, seen = 0, i = 0;
    drawn d;
    for (uint64_t n = 0; n < c->sequences[piece].nodes && i < items; n++)
        if (draw_number(c, piece, n, &d) && seen++ == i * found / items)
            c->order[begin + i++] = (uint32_t)n;
    for (; i < items; i++)
        c->order[begin + i] = by_chance;
}

static void try_pieces(sgi_cloud *c)
{
    int64_t begin = 0;
    for (int p = 0; p < pieces_of(set_of(c)); begin = c->ends[p++])
        if (c->kind != SG_DRAW_GRID)
            try_sequence(c, p, begin);
        else if (c->ends[p] > begin)
            choose_nodes(c, p, begin, find_grid(c, p, c->ends[p] - begin));
}

/* ---- Handle -----------------------------------------------------------------------------------
 */

void sgi_piece_width(const sgi_problem *problem, int index, int piece, sgi_use use, int *dimension,
                     int *numbers)
{
    const sgi_point_set *set = &problem->sets[index];
    bool side =
        set->kind != SG_SET_DOMAIN && set->faces[piece].region && !set->faces[piece].interior;
    *dimension =
        problem->names.coordinate_count - (side ? 1 : 0) - __builtin_popcount(fixed_of(set, piece));
    *numbers = *dimension;
    if (!is_tried(problem, set))
        return;
    double all[SG_MOST_NUMBERS];
    drawn d;
    *numbers = 0;
    for (int i = 0; i < 64; i++) {
        for (int k = 0; k < SG_MOST_NUMBERS; k++)
            all[k] = fmod(0.5 + i * 0.6180339887498949 * (k + 1), 1);
        sgi_uniforms uniforms = {
            .counter = (uint64_t)i << 24, .first = all, .first_count = SG_MOST_NUMBERS, .use = use};
        (void)try_piece(problem, set, piece, &uniforms, &d);
        int used = SG_MOST_NUMBERS - uniforms.first_count;
        *numbers = used > *numbers ? used : *numbers;
    }
}

static int width_of(const sgi_cloud *c, int piece)
{
    int dimension, numbers;
    sgi_piece_width(c->problem, c->set, piece,
                    c->kind == SG_DRAW_GRID ? SG_USE_GRID : SG_USE_SEQUENCE, &dimension, &numbers);
    return numbers;
}

static void begin_sequences(sgi_cloud *c, const sgi_sobol *sobol)
{
    int64_t begin = 0;
    for (int p = 0; p < pieces_of(set_of(c)); begin = c->ends[p++]) {
        int64_t count = c->ends[p] - begin;
        sgi_sequence *s = &c->sequences[p];
        sgi_sequence_begin(s, c->kind, s->width, count > 0 ? (uint64_t)count : 1, c->draw.seed,
                           sgi_draw_stream(&c->draw, c->set), (uint32_t)p, sobol);
    }
}

void sgi_cloud_resize(sgi_cloud *c, int64_t items)
{
    const sgi_point_set *set = set_of(c);
    c->items = items;
    c->drawn = false;
    for (int p = 0; p < pieces_of(set) && c->ends; p++)
        c->ends[p] = set->kind == SG_SET_DOMAIN ? items : sgi_face_begin(set, items, p + 1);
}

sg_status sgi_cloud_create(sgi_cloud *c, const sgi_problem *problem, int index, int64_t items,
                           sg_pinn_stream stream, const sgi_sobol *sobol, sgi_arena *arena)
{
    const sgi_point_set *set = &problem->sets[index];
    bool follows = stream == SG_POINTS_TRAINING || stream == SG_POINTS_CANDIDATES;
    *c = (sgi_cloud){.problem = problem,
                     .set = index,
                     .items = items,
                     .draw.stream = stream,
                     .renew = stream == SG_POINTS_TRAINING ? set->renew : 1,
                     .kind = follows ? set->distribution : SG_DRAW_UNIFORM};
    if (c->kind == SG_DRAW_UNIFORM)
        return SG_OK;
    size_t pieces = (size_t)pieces_of(set);
    bool tried = is_tried(problem, set);
    c->sequences = sgi_arena_allocate(arena, pieces, sizeof *c->sequences);
    c->ends = sgi_arena_allocate(arena, pieces, sizeof *c->ends);
    if (tried)
        c->order = sgi_arena_allocate(arena, (size_t)items, sizeof *c->order);
    if (!c->sequences || !c->ends || (tried && !c->order))
        return SG_ERROR_MEMORY;
    sgi_cloud_resize(c, items);
    for (size_t p = 0; p < pieces; p++) {
        c->sequences[p] = (sgi_sequence){.width = width_of(c, (int)p), .sobol = sobol};
    }
    return SG_OK;
}

void sgi_cloud_move(sgi_cloud *c, uint64_t seed, uint64_t step)
{
    uint64_t renewals = c->renew > 0 ? step / (uint64_t)c->renew : 0;
    bool same =
        c->drawn && c->draw.seed == seed && (c->draw.step == renewals || c->kind == SG_DRAW_GRID);
    c->draw.seed = seed;
    c->draw.step = renewals;
    if (same || c->kind == SG_DRAW_UNIFORM)
        return;
    c->drawn = true;
    begin_sequences(c, c->sequences[0].sobol);
    if (c->order)
        try_pieces(c);
}

/* ---- Filling ----------------------------------------------------------------------------------
 */

static inline void store(void *array, sg_type type, size_t i, double value)
{
    if (type == SG_FLOAT32)
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* A point of a plain piece: the cube, stretched to its free coordinates. */
static void draw_plain(const sgi_cloud *c, int piece, uint64_t n, drawn *d)
{
    const sgi_problem *problem = c->problem;
    const sgi_point_set *set = set_of(c);
    unsigned fixed = fixed_of(set, piece);
    double numbers[SG_MOST_NUMBERS];
    const double *next = numbers;
    sgi_sequence_at(&c->sequences[piece], n, numbers);
    for (int k = 0; k < problem->names.coordinate_count; k++)
        if (!(fixed >> k & 1))
            d->point[k] = problem->lower[k] + (problem->upper[k] - problem->lower[k]) * *next++;
    if (set->kind != SG_SET_DOMAIN) {
        const sgi_face *face = &set->faces[piece];
        memset(d->normal, 0, sizeof d->normal);
        d->point[face->coordinate] = face->value;
        d->normal[face->coordinate] = face->normal;
    }
}

/* Where the sequence was given up. */
static void draw_by_chance(const sgi_cloud *c, int piece, int64_t item, drawn *d)
{
    const sgi_point_set *set = set_of(c);
    sgi_uniforms uniforms = {.seed = c->draw.seed,
                             .stream = sgi_draw_stream(&c->draw, c->set),
                             .counter = (uint64_t)item << 24};
    if (set->kind == SG_SET_DOMAIN)
        (void)sgi_place_interior(c->problem, set->region, &uniforms, d->point);
    else
        sgi_place_draw(c->problem, &set->faces[piece], set->kind == SG_SET_PAIRS, &uniforms,
                       d->point, d->normal);
}

static void draw_item(const sgi_cloud *c, int piece, int64_t item, drawn *d)
{
    int64_t begin = piece > 0 ? c->ends[piece - 1] : 0;
    if (!c->order)
        draw_plain(c, piece, (uint64_t)(item - begin), d);
    else if (c->order[item] == by_chance || !draw_number(c, piece, c->order[item], d))
        draw_by_chance(c, piece, item, d);
}

static void put_point(const sgi_cloud *c, int piece, const drawn *d, sg_type type, size_t i,
                      void *const *columns)
{
    const sgi_point_set *set = set_of(c);
    int width = c->problem->names.coordinate_count;
    for (int k = 0; k < width; k++) {
        store(columns[k], type, i, d->point[k]);
        if (set->kind == SG_SET_PAIRS)
            store(columns[width + k], type, i,
                  k == set->faces[piece].coordinate ? c->problem->lower[k] : d->point[k]);
    }
}

static void put_normal(const sgi_cloud *c, const drawn *d, sg_type type, size_t i,
                       void *const *columns)
{
    for (int k = 0; k < c->problem->names.coordinate_count; k++)
        if (columns[k])
            store(columns[k], type, i, d->normal[k]);
}

static void fill(const sgi_cloud *c, size_t first, size_t count, sg_type type, bool normals,
                 void *const *columns)
{
    drawn d = {0};
    int piece = 0, last = pieces_of(set_of(c)) - 1;
    for (size_t i = 0; i < count; i++) {
        int64_t item = (int64_t)(first + i);
        while (piece < last && item >= c->ends[piece])
            piece++;
        draw_item(c, piece, item, &d);
        if (normals)
            put_normal(c, &d, type, i, columns);
        else
            put_point(c, piece, &d, type, i, columns);
    }
}

void sgi_cloud_points(const sgi_cloud *c, size_t first, size_t count, sg_type type,
                      void *const *coordinates)
{
    if (c->kind == SG_DRAW_UNIFORM)
        sgi_sample(c->problem, c->set, c->items, &c->draw, first, count, type, coordinates);
    else
        fill(c, first, count, type, false, coordinates);
}

void sgi_cloud_normals(const sgi_cloud *c, size_t first, size_t count, sg_type type,
                       void *const *normals)
{
    if (c->kind == SG_DRAW_UNIFORM)
        sgi_sample_normals(c->problem, c->set, c->items, &c->draw, first, count, type, normals);
    else
        fill(c, first, count, type, true, normals);
}

void sgi_cloud_data(const sgi_cloud *c, size_t first, size_t count, sg_type type,
                    void *const *columns)
{
    sgi_data_columns(c->problem, c->set, c->items, &c->draw, first, count, type, columns);
}

/* ---- Telling ----------------------------------------------------------------------------------
 */

size_t sgi_cloud_describe(const sgi_problem *problem, int index, char *text, size_t size)
{
    static const char *const methods[] = {SG_REFINE_LIST(SGI_LIST_NAME)};
    const sgi_point_set *set = &problem->sets[index];
    const sgi_refinement_settings *refinement = &problem->settings.refinement;
    const char *name = sgi_distribution_name(set->distribution);
    if (set->kind == SG_SET_DATA)
        return (size_t)snprintf(text, size, "%s",
                                set->items < (int64_t)set->data->trained ? "measured, in turn"
                                                                         : "measured");
    if (set->integral) /* see quadrature.h */
        return (size_t)snprintf(text, size, "evenly, once");
    if (set->refine)
        return (size_t)snprintf(text, size, "%s, %s every %lld steps", name,
                                methods[refinement->method], (long long)refinement->every);
    if (set->distribution == SG_DRAW_GRID)
        return (size_t)snprintf(text, size, "%s", name);
    if (set->renew == 0)
        return (size_t)snprintf(text, size, "%s, once", name);
    if (set->renew == 1)
        return (size_t)snprintf(text, size, "%s, every step", name);
    return (size_t)snprintf(text, size, "%s, every %lld steps", name, (long long)set->renew);
}

/* ---- Checking ---------------------------------------------------------------------------------
 */

bool sgi_piece_has_grid(const sgi_problem *problem, int set, int piece, int64_t count,
                        char *message)
{
    int dimension, numbers;
    uint32_t sides[SG_MOST_NUMBERS];
    sgi_piece_width(problem, set, piece, SG_USE_GRID, &dimension, &numbers);
    if (numbers != dimension) {
        snprintf(message, SG_GRID_MESSAGE, "has a piece of %d dimension%s without a grid",
                 dimension, dimension == 1 ? "" : "s");
        return false;
    }
    if (!is_tried(problem, &problem->sets[set])) {
        if (sgi_grid_sides(numbers, (uint64_t)count, sides))
            return true;
        snprintf(message, SG_GRID_MESSAGE,
                 "has %s%lld points, which make no grid of %d coordinates",
                 problem->sets[set].face_count > 1 ? "a piece of " : "", (long long)count, numbers);
        return false;
    }
    int64_t ends = count;
    sgi_sequence sequences[SG_MOST_FACES];
    sgi_cloud cloud = {.problem = problem,
                       .set = set,
                       .items = count,
                       .kind = SG_DRAW_GRID,
                       .sequences = sequences,
                       .ends = &ends};
    sgi_sequence_begin(&sequences[piece], SG_DRAW_GRID, numbers, (uint64_t)count, 0, 0, 0, NULL);
    if (find_grid(&cloud, piece, count) > 0)
        return true;
    snprintf(message, SG_GRID_MESSAGE, "has no grid of %lld points that could be found",
             (long long)count);
    return false;
}
