/* Softmax cross-entropy with label smoothing. With q the smoothed target and s = softmax(x),
 *
 *     L = -1/count sum_n sum_c q_nc log s_nc        dL/dx_nc = (s_nc - q_nc) / count
 *
 * where n goes over the images of all ranks and count is their number.
 *
 * It is computed in double. The largest logit of each image is subtracted first, so that no
 * exponential overflows. */
#include <math.h>
#include <string.h>

#include "graph/internal.h"

typedef struct image_loss {
    double loss;
    int above; /* logits larger than the label's */
} image_loss;

static image_loss one_image(const float *x, int classes, int label, double smoothing, double scale,
                            float *signal)
{
    double largest = (double)x[0], total = 0, sum = 0;
    image_loss result = {0};
    for (int c = 1; c < classes; c++)
        largest = (double)x[c] > largest ? (double)x[c] : largest;
    for (int c = 0; c < classes; c++) {
        total += exp((double)x[c] - largest);
        sum += (double)x[c] - largest;
        /* Not (x <= label): a NaN anywhere must not count as a hit. */
        result.above += !(x[c] <= x[label]);
    }
    double log_total = log(total), rest = smoothing / classes;
    double of_label = (double)x[label] - largest - log_total;
    result.loss = -(1 - smoothing) * of_label - rest * (sum - classes * log_total);
    for (int c = 0; c < classes; c++) {
        double target = rest + (c == label ? 1 - smoothing : 0);
        signal[c] = (float)(scale * (exp((double)x[c] - largest - log_total) - target));
    }
    return result;
}

static bool good_labels(sg_net *graph, const int *labels, int count)
{
    int classes = sg_net_classes(graph);
    for (int n = 0; n < count; n++)
        if (labels[n] < 0 || labels[n] >= classes) {
            sgi_net_fail(graph, SG_ERROR_ARGUMENT, "label %d of %d classes", labels[n], classes);
            return false;
        }
    return true;
}

static bool good_arguments(sg_net *graph, const int *labels, int count, double smoothing)
{
    int least = sgi_net_ranks(graph) > 1 ? 0 : 1;
    if (labels && count >= least && count <= graph->config.batch && smoothing >= 0 && smoothing < 1)
        return good_labels(graph, labels, count);
    sgi_net_fail(graph, SG_ERROR_ARGUMENT, "count or smoothing is out of range");
    return false;
}

/* The number of images on all ranks. A mistake on one of them is an error on each: none waits for
 * sums to which another will not come. */
static sg_status count_images(sg_net *graph, int count, bool good, int *all)
{
    double sums[2] = {good ? count : 0, good ? 0 : 1};
    sg_status status = sgi_net_sum(graph, sums, SG_FLOAT64, 2);
    if (status != SG_OK)
        return status;
    if (!good)
        return SG_ERROR_ARGUMENT;
    if (sums[1] > 0)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "another rank was given wrong arguments");
    if (sums[0] < 1)
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "no rank has an image");
    *all = (int)sums[0];
    return SG_OK;
}

static sg_status add_results(sg_net *graph, sg_loss_result *result)
{
    double sums[3] = {result->loss, result->top1, result->top5};
    sg_status status = sgi_net_sum(graph, sums, SG_FLOAT64, 3);
    if (status == SG_OK)
        *result = (sg_loss_result){sums[0], (int)sums[1], (int)sums[2], result->images};
    else
        *result = (sg_loss_result){.loss = sums[0]}; /* NaN: no part may pass for the whole */
    return status;
}

sg_status sg_net_loss(sg_net *graph, const int *labels, int count, double smoothing,
                      sg_loss_result *result)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->ran)
        return SG_ERROR_ORDER;
    int classes = sg_net_classes(graph), all = 0;
    bool good = good_arguments(graph, result ? labels : NULL, count, smoothing);
    sg_status status = count_images(graph, count, good, &all);
    if (status != SG_OK)
        return status;
    const float *x = sg_net_logits(graph);
    float *signal = sg_net_signal(graph);
    *result = (sg_loss_result){.images = all};
    for (int n = 0; n < count; n++) {
        image_loss one = one_image(x + (size_t)n * (size_t)classes, classes, labels[n], smoothing,
                                   1.0 / all, signal + (size_t)n * (size_t)classes);
        result->loss += one.loss / all;
        result->top1 += one.above < 1;
        result->top5 += one.above < 5;
    }
    memset(signal + (size_t)count * (size_t)classes, 0,
           (size_t)(graph->config.batch - count) * (size_t)classes * sizeof *signal);
    return add_results(graph, result);
}
