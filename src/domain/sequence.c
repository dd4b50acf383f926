/* Points of the unit cube: see sequence.h. */
#include "domain/sequence.h"

#include <math.h>

#include "base/random.h"

const char *sgi_distribution_name(sgi_distribution distribution)
{
    static const char *const names[] = {SG_POINTS_LIST(SGI_LIST_NAME)};
    return names[distribution];
}

/* ---- Sobol ------------------------------------------------------------------------------------
 */

/* Primitive polynomials over GF(2), the inner coefficients as bits, and the first direction
 * numbers: dimensions 2 to 24 of Joe and Kuo's list of 2008. Dimension 1 is the radical inverse. */
static const struct {
    uint8_t degree, inner, first[7];
} polynomials[SG_MOST_NUMBERS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}},
    {7, 8, {1, 3, 5, 9, 1, 25, 53}},
    {7, 14, {1, 3, 1, 13, 9, 35, 107}},
};

static void make_axis(uint32_t *directions, int degree, unsigned inner, const uint8_t *first)
{
    for (int b = 0; b < 32; b++) {
        if (b < degree) {
            directions[b] = (uint32_t)first[b] << (31 - b);
            continue;
        }
        directions[b] = directions[b - degree] ^ directions[b - degree] >> degree;
        for (int k = 1; k < degree; k++)
            if (inner >> (degree - 1 - k) & 1)
                directions[b] ^= directions[b - k];
    }
}

void sgi_sobol_make(sgi_sobol *sobol)
{
    for (int b = 0; b < 32; b++)
        sobol->directions[0][b] = (uint32_t)1 << (31 - b);
    for (int k = 1; k < SG_MOST_NUMBERS; k++)
        make_axis(sobol->directions[k], polynomials[k - 1].degree, polynomials[k - 1].inner,
                  polynomials[k - 1].first);
}

static uint32_t reverse(uint32_t x)
{
    x = x << 16 | x >> 16;
    x = (x & 0x00FF00FFu) << 8 | (x & 0xFF00FF00u) >> 8;
    x = (x & 0x0F0F0F0Fu) << 4 | (x & 0xF0F0F0F0u) >> 4;
    x = (x & 0x33333333u) << 2 | (x & 0xCCCCCCCCu) >> 2;
    return (x & 0x55555555u) << 1 | (x & 0xAAAAAAAAu) >> 1;
}

/* Bits of x are flipped by those above them. Turned around, they are flipped by those below, which
 * is what sums and even factors do. */
static uint32_t scramble(uint32_t x, uint64_t key)
{
    x = reverse(x) ^ (uint32_t)(key >> 32);
    x += (uint32_t)key;
    x ^= x * 0x6C50B47Cu;
    x ^= x * 0xB82F1E52u;
    x ^= x * 0xC7AFE638u;
    x ^= x * 0x8D22F6E6u;
    return reverse(x);
}

static double sobol_number(const sgi_sequence *s, int k, uint32_t n)
{
    const uint32_t *directions = s->sobol->directions[k];
    uint32_t x = 0;
    for (uint32_t gray = n ^ n >> 1; gray; gray &= gray - 1)
        x ^= directions[__builtin_ctz(gray)];
    return ((double)scramble(x, s->keys[k]) + 0.5) * 0x1p-32;
}

/* ---- Halton -----------------------------------------------------------------------------------
 */

static const uint8_t primes[SG_MOST_NUMBERS] = {2,  3,  5,  7,  11, 13, 17, 19, 23, 29, 31, 37,
                                                41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89};

static double radical_inverse(uint64_t n, uint64_t base)
{
    double digits = 0, scale = 1;
    for (; n > 0; n /= base) {
        digits = digits * (double)base + (double)(n % base);
        scale *= (double)base;
    }
    return digits / scale;
}

static double halton_number(const sgi_sequence *s, int k, uint64_t n)
{
    double x = radical_inverse(n + 1, primes[k]) + (double)(s->keys[k] >> 11) * 0x1p-53;
    return x < 1 ? x : x - 1;
}

/* ---- Latin ------------------------------------------------------------------------------------
 */

static uint64_t counter_of(const sgi_sequence *s, uint64_t n)
{
    return (uint64_t)1 << 63 | (uint64_t)s->which << 52 | n;
}

static void latin_point(const sgi_sequence *s, uint64_t n, double *x)
{
    uint64_t cube = n / s->count, calls = ((uint64_t)s->width + 1) / 2;
    double within[2] = {0}; /* drawn for two coordinates at a time */
    for (int k = 0; k < s->width; k++) {
        if (k % 2 == 0)
            sgi_random_uniform2(s->seed, s->stream,
                                counter_of(s, 256 + n * calls + (uint64_t)k / 2), within);
        uint64_t stratum =
            sgi_random_permute(n % s->count, s->count, sgi_random_mix(s->keys[k] + cube));
        x[k] = ((double)stratum + within[k % 2]) / (double)s->count;
        if (!(x[k] < 1)) /* by rounding */
            x[k] = nextafter(1, 0);
    }
}

/* ---- Grids ------------------------------------------------------------------------------------
 */

enum { LONGEST = 4 }; /* side of a grid, in shortest ones */

static int smallest(const uint32_t *sides, int width)
{
    int least = 0;
    for (int k = 1; k < width; k++)
        if (sides[k] < sides[least])
            least = k;
    return least;
}

/* The prime factors, the largest first, each to the side that is then the shortest. */
static bool factor(int width, uint64_t count, uint32_t *sides)
{
    uint64_t factors[64];
    int n = 0;
    for (uint64_t p = 2; p * p <= count; p++)
        for (; count % p == 0; count /= p)
            factors[n++] = p;
    if (count > 1)
        factors[n++] = count;
    for (int k = 0; k < width; k++)
        sides[k] = 1;
    while (n-- > 0) {
        uint32_t *side = &sides[smallest(sides, width)];
        if (factors[n] > UINT32_MAX / *side)
            return false;
        *side *= (uint32_t)factors[n];
    }
    return true;
}

static void sort_down(uint32_t *sides, int width)
{
    for (int i = 1; i < width; i++)
        for (int k = i; k > 0 && sides[k] > sides[k - 1]; k--) {
            uint32_t side = sides[k];
            sides[k] = sides[k - 1];
            sides[k - 1] = side;
        }
}

bool sgi_grid_sides(int width, uint64_t count, uint32_t *sides)
{
    if (width == 0)
        return count == 1;
    bool whole = factor(width, count, sides);
    sort_down(sides, width);
    if (whole && sides[0] <= (uint64_t)LONGEST * sides[width - 1])
        return true;
    double side = floor(pow((double)count, 1.0 / width));
    while (pow(side, width) < (double)count)
        side++;
    for (int k = 0; k < width; k++)
        sides[k] = (uint32_t)side;
    return false;
}

uint64_t sgi_grid_near(int width, uint64_t count)
{
    uint32_t sides[SG_MOST_NUMBERS];
    for (uint64_t away = 0; width > 0; away++) {
        if (sgi_grid_sides(width, count + away, sides))
            return count + away;
        if (away < count && sgi_grid_sides(width, count - away, sides))
            return count - away;
    }
    return 1;
}

static void count_nodes(sgi_sequence *s)
{
    s->nodes = 1;
    for (int k = 0; k < s->width; k++)
        s->nodes *= s->sides[k];
}

void sgi_sequence_cubic(sgi_sequence *s, uint32_t side)
{
    for (int k = 0; k < s->width; k++)
        s->sides[k] = side;
    count_nodes(s);
    s->count = s->nodes;
}

static void grid_point(const sgi_sequence *s, uint64_t n, double *x)
{
    uint64_t node = (uint64_t)((unsigned __int128)n * s->nodes / s->count);
    for (int k = s->width - 1; k >= 0; k--) {
        x[k] = ((double)(node % s->sides[k]) + 0.5) / s->sides[k];
        node /= s->sides[k];
    }
}

/* ---- All --------------------------------------------------------------------------------------
 */

void sgi_sequence_begin(sgi_sequence *s, sgi_distribution kind, int width, uint64_t count,
                        uint64_t seed, uint64_t stream, uint32_t which, const sgi_sobol *sobol)
{
    *s = (sgi_sequence){.kind = kind,
                        .width = width,
                        .count = count,
                        .seed = seed,
                        .stream = stream,
                        .which = which,
                        .sobol = sobol,
                        .nodes = 1};
    if (kind == SG_DRAW_GRID) {
        (void)sgi_grid_sides(width, count, s->sides);
        count_nodes(s);
        return;
    }
    for (int k = 0; k < width; k++) {
        uint32_t bits[4];
        sgi_random_bits(seed, stream, counter_of(s, (uint64_t)k), bits);
        s->keys[k] = (uint64_t)bits[0] << 32 | bits[1];
    }
}

void sgi_sequence_at(const sgi_sequence *s, uint64_t n, double *x)
{
    if (s->kind == SG_DRAW_LATIN)
        latin_point(s, n, x);
    else if (s->kind == SG_DRAW_GRID)
        grid_point(s, n, x);
    else
        for (int k = 0; k < s->width; k++)
            x[k] =
                s->kind == SG_DRAW_SOBOL ? sobol_number(s, k, (uint32_t)n) : halton_number(s, k, n);
}
