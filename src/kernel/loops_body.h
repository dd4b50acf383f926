/* The vector loops of one type for one instruction set. The file that includes this defines `real`,
 * SG_SINGLE (1 for float), SG_BYTES (of a vector), SG_COLUMNS (vectors of columns that a product
 * keeps in registers), SG_TABLE and SG_NAME. */
#include "kernel/tables.h"
#include "kernel/vector.h"

#include "kernel/activation.h"

#include "kernel/activate_body.h"
#include "kernel/product_body.h"

#include "kernel/layer_body.h"

#include "kernel/gram_body.h"
#include "kernel/item_row_body.h"

/* Sines and cosines are computed once for a point, and every line (a channel, or a part of one with
 * a varying coefficient) is a combination of the two. Lines with a varying coefficient come after
 * those without and are added to their channel. */
static void feature_waves(const sgi_features *map, const real *x, const real *varying, int p,
                          real *rows)
{
    size_t step = (size_t)map->points * (size_t)map->stride;
    const real *wave = map->wave, *even = map->even, *odd = map->odd;
    real *row = rows + (size_t)p * (size_t)map->stride + map->raw;
    for (int w = 0; w < map->waves; w += LANES) {
        int count = map->waves - w;
        value phase = sgi_splat(0), cosine;
        for (int i = 0; i < map->coordinates; i++)
            phase += sgi_load(wave + i * map->wave_stride + w) * x[i * map->point_stride + p];
        value sine = sgi_sincos(phase, &cosine);
        for (int line = 0; line < map->lines; line++) {
            int at = line * map->wave_stride + w;
            value e = sgi_load(even + at), o = sgi_load(odd + at);
            value s = e * sine + o * cosine, k = e * cosine - o * sine;
            real *to = row + (size_t)map->owner[line] * step + w;
            if (map->varying[line]) {
                real times = varying[(map->varying[line] - 1) * map->point_stride + p];
                s = sgi_load_part(to, count) + s * times;
                k = sgi_load_part(to + map->waves, count) + k * times;
            }
            sgi_store_part(to, s, count);
            sgi_store_part(to + map->waves, k, count);
        }
    }
}

/* A raw feature is linear in its coordinate, so its derivatives are constants. */
static void feature_constants(const sgi_features *map, const real *varying, int p, real *rows)
{
    const real *constant = map->raw_derivative;
    for (int line = 1; line < map->lines; line++) {
        real *row = rows + (size_t)(map->owner[line] * map->points + p) * (size_t)map->stride;
        bool more = map->varying[line] != 0;
        real times = more ? varying[(map->varying[line] - 1) * map->point_stride + p] : 1;
        for (int i = 0; i < map->raw; i++)
            row[i] = (more ? row[i] : 0) + times * constant[line * map->raw + i];
    }
}

static void features(const sgi_features *map, const void *coordinates, const void *varying,
                     void *rows)
{
    const real *x = coordinates, *scale = map->scale, *shift = map->shift;
    for (int p = 0; p < map->points; p++) {
        real *row = (real *)rows + (size_t)p * (size_t)map->stride;
        for (int i = 0; i < map->raw; i++)
            row[i] = scale[i] * x[map->raw_index[i] * map->point_stride + p] + shift[i];
        feature_constants(map, varying, p, rows);
        feature_waves(map, x, varying, p, rows);
    }
}

/* Sums of CHUNK elements stay in registers over all parts. */
enum { CHUNK = 32 };

static SG_INLINE void combine_chunk(void *const *parts, size_t count, size_t i, size_t n)
{
    double sum[CHUNK] = {0};
    for (size_t part = 0; part < count; part++) {
        const real *from = (const real *)parts[part] + i;
#pragma GCC unroll 32
        for (size_t j = 0; j < n; j++)
            sum[j] += (double)from[j];
    }
    for (size_t j = 0; j < n; j++)
        ((real *)parts[0])[i + j] = (real)sum[j];
}

static void combine(void *const *parts, size_t count, size_t begin, size_t end)
{
    size_t i = begin;
    for (; i + CHUNK <= end; i += CHUNK)
        combine_chunk(parts, count, i, CHUNK);
    if (i < end)
        combine_chunk(parts, count, i, end - i);
}

#include "kernel/table_body.h"
