/* Weights in blocks, part of rows_body.h: packing, unpacking, and sums of products.
 *
 * Everything goes through tiles of LANES x LANES floats that are transposed in registers. Column c
 * of a plain row is input c / taps, tap c % taps, so a tile's columns are scattered to (or gathered
 * from) as many rows of the block. */

/* Element j of two rows with their off-diagonal quarters of size s exchanged. */
#define UPPER(j, s) ((j) & (s) ? LANES + (j) - (s) : (j))
#define LOWER(j, s) ((j) & (s) ? LANES + (j) : (j) + (s))
#define EIGHT(of, j, s)                                                                            \
    of(j, s), of(j + 1, s), of(j + 2, s), of(j + 3, s), of(j + 4, s), of(j + 5, s), of(j + 6, s),  \
        of(j + 7, s)
#if LANES == 16
#define EACH(of, s) EIGHT(of, 0, s), EIGHT(of, 8, s)
#else
#define EACH(of, s) EIGHT(of, 0, s)
#endif
#define EXCHANGE(s)                                                                                \
    _Pragma("GCC unroll 16") for (int i = 0; i < LANES; i++) if (!(i & (s)))                       \
    {                                                                                              \
        vf a = rows[i], b = rows[i + (s)];                                                         \
        rows[i] = __builtin_shufflevector(a, b, EACH(UPPER, s));                                   \
        rows[i + (s)] = __builtin_shufflevector(a, b, EACH(LOWER, s));                             \
    }

ALWAYS void transpose(vf *rows)
{
    EXCHANGE(1)
    EXCHANGE(2)
    EXCHANGE(4)
#if LANES == 16
    EXCHANGE(8)
#endif
}

enum { TILE = LANES * LANES };

/* Row of the block that holds column `c` of the plain rows. */
ALWAYS float *block_row(const float *block, int c, int taps)
{
    return (float *)block + (c % taps) * TILE + c / taps * LANES;
}

/* (taps, inputs, outputs) from the plain rows. */
static void pack_by_input(const float *plain, size_t row, int taps, float *block)
{
    for (int first = 0; first < LANES * taps; first += LANES) {
        vf rows[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            memcpy(&rows[i], plain + (size_t)i * row + first, sizeof rows[i]);
        transpose(rows);
        for (int i = 0; i < LANES; i++)
            *(vf *)block_row(block, first + i, taps) = rows[i];
    }
}

static void unpack_by_input(const float *block, int taps, float *plain, size_t row)
{
    for (int first = 0; first < LANES * taps; first += LANES) {
        vf rows[LANES];
        for (int i = 0; i < LANES; i++)
            rows[i] = LOAD(block_row(block, first + i, taps));
        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            memcpy(plain + (size_t)i * row + first, &rows[i], sizeof rows[i]);
    }
}

/* Transposes each of the block's tiles. */
static void turn(const float *from, int taps, float *to)
{
    for (int tap = 0; tap < taps; tap++, from += TILE, to += TILE) {
        vf rows[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            rows[i] = LOAD(from + i * LANES);
        transpose(rows);
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            *(vf *)(to + i * LANES) = rows[i];
    }
}

static void copy_rows(const float *from, size_t from_row, float *to, size_t to_row)
{
    for (size_t i = 0; i < LANES; i++)
        memcpy(to + i * to_row, from + i * from_row, LANES * sizeof(float));
}

static void pack(const float *plain, size_t row, int taps, bool by_input, float *block)
{
    float turned[SG_MAX_TAPS * TILE] __attribute__((aligned(64)));
    if (by_input) {
        pack_by_input(plain, row, taps, block);
    } else if (taps == 1) {
        copy_rows(plain, row, block, LANES);
    } else {
        pack_by_input(plain, row, taps, turned);
        turn(turned, taps, block);
    }
}

static void unpack(const float *block, int taps, bool by_input, float *plain, size_t row)
{
    float turned[SG_MAX_TAPS * TILE] __attribute__((aligned(64)));
    if (by_input) {
        unpack_by_input(block, taps, plain, row);
    } else if (taps == 1) {
        copy_rows(block, LANES, plain, row);
    } else {
        turn(block, taps, turned);
        unpack_by_input(turned, taps, plain, row);
    }
}

/* The sums of one tap: (outputs, inputs). */
static void outer_tap(const sgi_row_outer *p, int ky, int kx, float *tile)
{
    const sgi_row_window *w = &p->window;
    int top, bottom, left, right;
    vf sums[LANES] = {0};
    outputs_inside(w, ky, w->height, w->out_height, &top, &bottom);
    outputs_inside(w, kx, w->width, w->out_width, &left, &right);
    for (int n = 0; n < p->images; n++)
        for (int y = top; y < bottom; y++) {
            const float *from =
                p->x + (size_t)n * p->x_image +
                ((y * w->stride - w->pad + ky) * w->width + left * w->stride - w->pad + kx) * LANES;
            const float *by = p->dz + (size_t)n * p->dz_image + (y * w->out_width + left) * LANES;
            for (int i = left; i < right; i++, from += w->stride * LANES, by += LANES) {
                vf x = LOAD(from);
#pragma GCC unroll 16
                for (int o = 0; o < LANES; o++)
                    sums[o] += x * by[o];
            }
        }
#pragma GCC unroll 16
    for (int o = 0; o < LANES; o++)
        *(vf *)(tile + o * LANES) = sums[o];
}

static void outer(const sgi_row_outer *p, float *block)
{
    for (int ky = 0; ky < p->window.kernel; ky++)
        for (int kx = 0; kx < p->window.kernel; kx++, block += TILE)
            outer_tap(p, ky, kx, block);
}
