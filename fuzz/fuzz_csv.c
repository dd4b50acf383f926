/* Any bytes as a table: refused with a message, or a table whose numbers are all there. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sgi_csv csv;
    sg_diagnostic diagnostic = {0};
    double sum = 0;
    if (sgi_csv_parse((const char *)data, size, "f", NULL, &csv, &diagnostic) == SG_OK) {
        for (size_t i = 0; i < csv.rows * csv.columns; i++)
            sum += csv.values[i];
        for (size_t c = 0; csv.names && c < csv.columns; c++)
            sum += (double)strlen(csv.names[c]);
    } else if (!diagnostic.message[0]) {
        abort();
    }
    sgi_csv_release(&csv);
    return sum == 0.123456789 ? -1 : 0;
}
