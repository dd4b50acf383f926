/* Any bytes as a table: refused with a message, or a table whose numbers are all there. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As shapes are read, and as data are, which may have holes. */
static int try_table(const uint8_t *data, size_t size, bool holes)
{
    sgi_csv csv;
    sg_diagnostic diagnostic = {0};
    double sum = 0;
    sg_status status =
        holes ? sgi_csv_parse_holes((const char *)data, size, "f", NULL, &csv, &diagnostic)
              : sgi_csv_parse((const char *)data, size, "f", NULL, &csv, &diagnostic);
    if (status == SG_OK) {
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int plain = try_table(data, size, false), holes = try_table(data, size, true);
    return plain < holes ? plain : holes;
}
