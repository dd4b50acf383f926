/* How an image becomes an input: crop, resize, flip, normalise.
 *
 * Resizing is linear interpolation, widened to a triangle over all source pixels that an output
 * pixel covers when it makes the image smaller, as torchvision's and PIL's is: columns first for
 * the rows that are needed, then rows. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "images/dataset.h"

enum { STREAM = 0x76696577 }; /* of crops and flips */

sg_image_view sg_image_view_defaults(void)
{
    return (sg_image_view){.size = 224,
                           .area_min = 0.08,
                           .area_max = 1,
                           .aspect = 4.0 / 3,
                           .flip = true,
                           .zoom = 256.0 / 224,
                           .mean = {0.485f, 0.456f, 0.406f},
                           .std = {0.229f, 0.224f, 0.225f}};
}

/* A part of the image in source pixels. */
typedef struct box {
    double left, top, width, height;
    bool flip;
} box;

/* The largest part of the image, in its middle, whose aspect is within the limits; for an image in
 * which no random crop fitted. */
static box fallback(const sg_image_view *view, int width, int height)
{
    double w = width, h = height, aspect = w / h;
    if (aspect < 1 / view->aspect)
        h = w * view->aspect;
    else if (aspect > view->aspect)
        w = h * view->aspect;
    return (box){(width - w) / 2, (height - h) / 2, w, h, false};
}

/* torchvision's random resized crop: up to ten tries of an area and an aspect that fit. */
static box random_box(const sg_image_view *view, int width, int height, uint64_t counter)
{
    double u[2], v[2], side[2];
    sgi_random_uniform2(view->seed, STREAM, counter * 32, side);
    bool flip = view->flip && side[0] < 0.5;
    for (uint64_t i = 0; i < 10; i++) {
        sgi_random_uniform2(view->seed, STREAM, counter * 32 + 1 + 2 * i, u);
        sgi_random_uniform2(view->seed, STREAM, counter * 32 + 2 + 2 * i, v);
        double area = view->area_min + u[0] * (view->area_max - view->area_min);
        double aspect = exp((2 * u[1] - 1) * log(view->aspect));
        double w = round(sqrt(area * width * height * aspect));
        double h = round(sqrt(area * width * height / aspect));
        if (w >= 1 && h >= 1 && w <= width && h <= height)
            return (box){floor(v[0] * (width - w + 1)), floor(v[1] * (height - h + 1)), w, h, flip};
    }
    box b = fallback(view, width, height);
    b.flip = flip;
    return b;
}

/* The middle of the image resized so that its shorter side is zoom * size. */
static box centre_box(const sg_image_view *view, int width, int height)
{
    double side = (width < height ? width : height) / (view->zoom > 1 ? view->zoom : 1);
    return (box){(width - side) / 2, (height - side) / 2, side, side, false};
}

static box choose_box(const sg_image_view *view, int width, int height, uint64_t counter)
{
    return view->augment ? random_box(view, width, height, counter)
                         : centre_box(view, width, height);
}

/* The source pixels and weights of output `i` along one axis. */
typedef struct taps {
    int first, count;
    double centre, support;
} taps;

static taps taps_of(double begin, double length, int outputs, int limit, int i)
{
    double scale = length / outputs, support = scale > 1 ? scale : 1;
    taps t = {.centre = begin + (i + 0.5) * scale - 0.5, .support = support};
    int first = (int)ceil(t.centre - support), last = (int)floor(t.centre + support);
    t.first = first < 0 ? 0 : first > limit - 1 ? limit - 1 : first;
    last = last > limit - 1 ? limit - 1 : last < t.first ? t.first : last;
    t.count = last - t.first + 1;
    return t;
}

/* Fills `weights` (count), which sum to 1. */
static void weigh(const taps *t, float *weights)
{
    double total = 0;
    for (int k = 0; k < t->count; k++) {
        double w = 1 - fabs(t->first + k - t->centre) / t->support;
        weights[k] = (float)(w > 0 ? w : 0);
        total += (double)weights[k];
    }
    for (int k = 0; k < t->count; k++)
        weights[k] = total > 0 ? (float)((double)weights[k] / total) : (k == 0);
}

static size_t most_taps(const sgi_pixels8 *p)
{
    return (size_t)(p->width > p->height ? p->width : p->height) + 4;
}

size_t sgi_image_view_work(const sg_image_view *view, const sgi_pixels8 *p)
{
    return (size_t)view->size * (size_t)p->height + most_taps(p);
}

/* One channel, `columns` (height, size): every needed row resized to the output's width. */
static void resize_columns(const sg_image_view *view, const sgi_pixels8 *p, const box *b,
                           int channel, int top, int bottom, float *columns, float *weights)
{
    size_t step = p->planar ? 1 : 3, stride = step * (size_t)p->width;
    size_t plane = p->planar ? (size_t)p->width * (size_t)p->height : 1;
    const uint8_t *base = p->data + plane * (size_t)channel;
    for (int x = 0; x < view->size; x++) {
        taps t = taps_of(b->left, b->width, view->size, p->width, b->flip ? view->size - 1 - x : x);
        weigh(&t, weights);
        for (int y = top; y <= bottom; y++) {
            const uint8_t *row = base + (size_t)y * stride + (size_t)t.first * step;
            float sum = 0;
            for (int k = 0; k < t.count; k++)
                sum += weights[k] * (float)row[(size_t)k * step];
            columns[(size_t)y * (size_t)view->size + (size_t)x] = sum;
        }
    }
}

static void resize_rows(const sg_image_view *view, const sgi_pixels8 *p, const box *b, int channel,
                        const float *columns, float *weights, float *out)
{
    float scale = 1 / (255 * view->std[channel]), shift = view->mean[channel] / view->std[channel];
    size_t size = (size_t)view->size;
    for (int y = 0; y < view->size; y++, out += size) {
        taps t = taps_of(b->top, b->height, view->size, p->height, y);
        weigh(&t, weights);
        memset(out, 0, size * sizeof *out);
        for (int k = 0; k < t.count; k++) {
            const float *row = columns + (size_t)(t.first + k) * size;
            for (size_t x = 0; x < size; x++)
                out[x] += weights[k] * row[x];
        }
        for (size_t x = 0; x < size; x++)
            out[x] = out[x] * scale - shift;
    }
}

void sgi_image_view_apply(const sg_image_view *view, const sgi_pixels8 *p, uint64_t counter,
                          float *image, float *work)
{
    box b = choose_box(view, p->width, p->height, counter);
    float *columns = work, *weights = work + (size_t)view->size * (size_t)p->height;
    taps first = taps_of(b.top, b.height, view->size, p->height, 0);
    taps last = taps_of(b.top, b.height, view->size, p->height, view->size - 1);
    for (int channel = 0; channel < 3; channel++) {
        resize_columns(view, p, &b, channel, first.first, last.first + last.count - 1, columns,
                       weights);
        resize_rows(view, p, &b, channel, columns, weights,
                    image + (size_t)channel * (size_t)view->size * (size_t)view->size);
    }
}
