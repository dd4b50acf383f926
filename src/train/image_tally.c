/* Sums over steps of a network on images: see image_tally.h. */
#include "train/image_tally.h"

#include "train/metrics.h"

void sgi_image_tally_add(sgi_image_tally *sum, const sgi_image_step *step, double seconds)
{
    sum->images += step->images;
    sum->top1 += step->loss.top1;
    sum->top5 += step->loss.top5;
    sum->seconds += seconds;
    sum->waited += step->waited;
}

void sgi_image_tally_append(const sgi_image_tally *sum, json_t *array)
{
    const double numbers[SG_TALLY_NUMBERS] = {sum->images, sum->top1, sum->top5, sum->seconds,
                                              sum->waited};
    for (size_t i = 0; i < SG_TALLY_NUMBERS; i++)
        json_array_append_new(array, sgi_json_number(numbers[i]));
}

sgi_image_tally sgi_image_tally_read(const json_t *array, size_t at)
{
    double numbers[SG_TALLY_NUMBERS];
    for (size_t i = 0; i < SG_TALLY_NUMBERS; i++)
        numbers[i] = json_number_value(json_array_get(array, at + i));
    return (sgi_image_tally){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
}
