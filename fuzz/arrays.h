/* What fuzzers of array files ask of arrays that were read: shapes that agree with the values, all
 * of which can be read. */
#ifndef SG_FUZZ_ARRAYS_H
#define SG_FUZZ_ARRAYS_H

#include <stdlib.h>

#include "files/arrays.h"

static inline double arrays_sum(const sgi_arrays *arrays)
{
    double sum = 0;
    for (size_t a = 0; a < arrays->count; a++) {
        const sgi_array *array = &arrays->items[a];
        size_t count = 1;
        for (size_t d = 0; d < array->rank; d++)
            count *= array->shape[d];
        if (count != array->count)
            abort();
        for (size_t i = 0; i < count; i++)
            sum += array->values[i];
    }
    return sum;
}

#endif
