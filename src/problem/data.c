/* Rows of measured data: see data.h. */
#include "problem/data.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"

/* Of the orders in which rows have their turn; no stream of points has this number. */
static const uint64_t ORDER_STREAM = (uint64_t)10 << 60;

size_t sgi_data_row(const sgi_problem *problem, int set, int64_t items, const sgi_draw *draw,
                    size_t item)
{
    const sgi_data *data = problem->sets[set].data;
    size_t trained = data->trained, held = data->count - trained;
    if (draw->stream == SG_POINTS_VALIDATION && held > 0)
        return trained + item % held;
    if ((size_t)items >= trained)
        return item % trained;
    uint64_t turn = draw->step * (uint64_t)items + item;
    uint32_t bits[4];
    sgi_random_bits(draw->seed, ORDER_STREAM | (uint64_t)set, turn / trained, bits);
    return sgi_random_permute(turn % trained, trained, (uint64_t)bits[0] << 32 | bits[1]);
}

void sgi_data_columns(const sgi_problem *problem, int set, int64_t items, const sgi_draw *draw,
                      size_t first, size_t count, sg_type type, void *const *columns)
{
    const sgi_data *data = problem->sets[set].data;
    for (size_t i = 0; i < count; i++) {
        size_t row = sgi_data_row(problem, set, items, draw, first + i);
        for (int k = 0; k < 2 * data->observed; k++) {
            size_t at = (size_t)(k / 2) * data->count + row;
            bool missing = data->factors[at] == 0;
            double value = k % 2 ? data->factors[at] : missing ? 0 : data->values[at];
            if (columns[k] && type == SG_FLOAT32)
                ((float *)columns[k])[i] = (float)value;
            else if (columns[k])
                ((double *)columns[k])[i] = value;
        }
    }
}

const char *sgi_data_text(const sgi_data *data, char *text, size_t size)
{
    const char *path = data->file.file, *slash = path ? strrchr(path, '/') : NULL;
    size_t used =
        (size_t)snprintf(text, size, "%zu row%s%s%.100s", data->trained,
                         data->trained == 1 ? "" : "s", path ? " of " : "", slash ? slash + 1 : "");
    const struct {
        size_t count;
        const char *what;
    } more[] = {{data->count - data->trained, " held out"},
                {data->missing, data->missing == 1 ? " value missing" : " values missing"},
                {data->empty, data->empty == 1 ? " row without values" : " rows without values"},
                {data->outside, " outside the domain"}};
    for (size_t i = 0; i < sizeof more / sizeof *more && used < size; i++)
        if (more[i].count > 0)
            used +=
                (size_t)snprintf(text + used, size - used, ", %zu%s", more[i].count, more[i].what);
    return text;
}
