/* Softmax cross-entropy with label smoothing. With q the smoothed target and s = softmax(x),
 *
 *     L = -1/count sum_n sum_c q_nc log s_nc        dL/dx_nc = (s_nc - q_nc) / count
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

sg_status sg_net_loss(sg_net *graph, const int *labels, int count, double smoothing,
                      sg_loss_result *result)
{
    if (!graph)
        return SG_ERROR_ARGUMENT;
    if (!graph->ran)
        return SG_ERROR_ORDER;
    int classes = sg_net_classes(graph), batch = graph->config.batch;
    if (!labels || !result || count < 1 || count > batch || !(smoothing >= 0 && smoothing < 1))
        return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "count or smoothing is out of range");
    const float *x = sg_net_logits(graph);
    float *signal = sg_net_signal(graph);
    for (int n = 0; n < count; n++)
        if (labels[n] < 0 || labels[n] >= classes)
            return sgi_net_fail(graph, SG_ERROR_ARGUMENT, "label %d of %d classes", labels[n],
                                classes);
    *result = (sg_loss_result){0};
    for (int n = 0; n < count; n++) {
        image_loss one = one_image(x + (size_t)n * (size_t)classes, classes, labels[n], smoothing,
                                   1.0 / count, signal + (size_t)n * (size_t)classes);
        result->loss += one.loss / count;
        result->top1 += one.above < 1;
        result->top5 += one.above < 5;
    }
    memset(signal + (size_t)count * (size_t)classes, 0,
           (size_t)(batch - count) * (size_t)classes * sizeof *signal);
    return SG_OK;
}
