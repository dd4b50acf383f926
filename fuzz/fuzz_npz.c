/* Any bytes as a .npz or .npy file: refused, or arrays whose shapes agree with their values. */
#include <stdint.h>
#include <stdlib.h>

#include "files/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_arrays arrays;
    sg_diagnostic diagnostic = {0};
    double sum = 0;
    if (sgi_npz_parse(data, size, "f", 1 << 20, NULL, &arrays, &diagnostic) == SG_OK)
        for (size_t a = 0; a < arrays.count; a++) {
            const sgi_array *array = &arrays.items[a];
            size_t count = 1;
            for (size_t d = 0; d < array->rank; d++)
                count *= array->shape[d];
            if (count != array->count)
                abort();
            for (size_t i = 0; i < count; i++)
                sum += array->values[i];
        }
    sgi_arrays_release(&arrays);
    return sum == 0.123456789 ? -1 : 0;
}
