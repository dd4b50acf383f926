/* Any bytes as a .mat file: refused, or arrays whose shapes agree with their values. */
#include <stdint.h>

#include "arrays.h"
#include "files/mat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_arrays arrays;
    sg_diagnostic diagnostic = {0};
    double sum = 0;
    if (sgi_mat_parse(data, size, "f", 1 << 20, NULL, &arrays, &diagnostic) == SG_OK)
        sum = arrays_sum(&arrays);
    sgi_arrays_release(&arrays);
    return sum == 0.123456789 ? -1 : 0;
}
