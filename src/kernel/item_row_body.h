/* The gradient of one item, written straight into the caller's row. It is a product over the item's
 * few rows (channels, and sides of a pair), so storing the result costs as much as computing it,
 * and nothing is padded. Where the inputs are not a multiple of a vector, the last vector overlaps
 * the one before it.
 *
 * A row of a wide network is larger than the caches. A store would first read the line that it
 * writes from memory, and it would often touch two of them, for a caller's row begins anywhere. So
 * such a row is made on the stack, some outputs at a time, and copied from there past the caches,
 * in whole lines. */
typedef struct row_args {
    const sgi_item_rows *rows;
    const real *z, *a;
    int inputs, outputs;
    real *weight; /* where the first output of a block goes */
} row_args;

enum { STAGE = 24576 / sizeof(real) }; /* three quarters of a first-level cache */

/* Outputs [output, output + count), `columns` vectors of inputs; the last one ends at `end`. */
static SG_INLINE void row_block(int count, int columns, const row_args *args, int output, int first,
                                int end)
{
    const sgi_item_rows *rows = args->rows;
    value sum[ROWS][COLUMNS] = {0};
    size_t last = (size_t)(end - LANES);
    for (int side = 0; side < rows->sides; side++) {
        const real *z = args->z + (size_t)side * rows->z_side + (size_t)output * rows->z_step;
        const real *a = args->a + (size_t)side * rows->a_side;
        for (int c = rows->channels; c > 0; c--) {
            value line[COLUMNS];
#pragma GCC unroll 8
            for (int j = 0; j < columns; j++)
                line[j] = sgi_load(a + (j + 1 < columns ? (size_t)(first + j * LANES) : last));
#pragma GCC unroll 8
            for (int i = 0; i < count; i++) {
                real factor = z[(size_t)i * rows->z_step];
#pragma GCC unroll 8
                for (int j = 0; j < columns; j++)
                    sum[i][j] += line[j] * factor;
            }
            z += rows->z_channel;
            a += rows->a_channel;
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < count; i++) {
        real *to = args->weight + (size_t)i * (size_t)args->inputs;
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            sgi_store(to + (j + 1 < columns ? (size_t)(first + j * LANES) : last), sum[i][j]);
    }
}

/* All inputs of some outputs before the next: the row is written from front to back. */
static SG_INLINE void row_outputs(int count, const row_args *args, int output)
{
    int first = 0, end = args->inputs;
    for (; end - first > COLUMNS * LANES; first += COLUMNS * LANES)
        row_block(count, COLUMNS, args, output, first, first + COLUMNS * LANES);
    switch (vectors(end - first)) {
    case COLUMNS:
        row_block(count, COLUMNS, args, output, first, end);
        break;
#if SG_COLUMNS > 2
    case 3:
        row_block(count, 3, args, output, first, end);
        break;
    case 2:
        row_block(count, 2, args, output, first, end);
        break;
#endif
    default:
        row_block(count, 1, args, output, first, end);
        break;
    }
}

/* For fewer inputs than lanes. Whole vectors are stored here too: each writes beyond its own output
 * into the next one's, which is then overwritten. Only the last ones are stored in part. */
static void narrow_row(const row_args *args)
{
    const sgi_item_rows *rows = args->rows;
    size_t inputs = (size_t)args->inputs, end = inputs * (size_t)args->outputs;
    for (int o = 0; o < args->outputs; o++) {
        value sum = sgi_splat(0);
        for (int side = 0; side < rows->sides; side++)
            for (int c = 0; c < rows->channels; c++)
                sum +=
                    sgi_load(args->a + (size_t)side * rows->a_side + (size_t)c * rows->a_channel) *
                    args->z[(size_t)side * rows->z_side + (size_t)c * rows->z_channel +
                            (size_t)o * rows->z_step];
        size_t at = (size_t)o * inputs;
        if (at + (size_t)LANES <= end)
            sgi_store(args->weight + at, sum);
        else
            sgi_store_part(args->weight + at, sum, args->inputs);
    }
}

static void stream_copy(real *to, const real *from, size_t count)
{
    size_t head = (SG_BYTES - (uintptr_t)to % SG_BYTES) % SG_BYTES / sizeof(real), i = head;
    memcpy(to, from, head * sizeof(real));
    for (; i + (size_t)LANES <= count; i += (size_t)LANES)
        sgi_stream(to + i, sgi_load(from + i));
    memcpy(to + i, from + i, (count - i) * sizeof(real));
}

/* `count` outputs from `output` on, to the caller's row. */
static SG_INLINE void finish_outputs(int count, row_args *args, int output, real *weight)
{
    real stage[STAGE];
    real *to = weight + (size_t)output * (size_t)args->inputs;
    size_t size = (size_t)count * (size_t)args->inputs;
    bool stream = args->rows->stream && size >= (size_t)LANES && size <= STAGE;
    args->weight = stream ? stage : to;
    row_outputs(count, args, output);
    if (stream)
        stream_copy(to, stage, size);
}

static void item_row(const sgi_layer_shape *shape, const sgi_item_rows *rows, const void *z,
                     const void *a, void *weight, void *bias)
{
    row_args args = {rows, z, a, shape->inputs, shape->outputs, weight};
    int output = shape->inputs < LANES ? shape->outputs : 0;
    if (shape->inputs < LANES)
        narrow_row(&args);
    for (; output + ROWS <= shape->outputs; output += ROWS)
        finish_outputs(ROWS, &args, output, weight);
    for (; output + 2 <= shape->outputs; output += 2)
        finish_outputs(2, &args, output, weight);
    if (output < shape->outputs)
        finish_outputs(1, &args, output, weight);
    if (rows->stream)
        sgi_stream_end();
    for (int o = 0; o < shape->outputs; o++) {
        real sum = 0;
        for (int side = 0; side < rows->sides; side++)
            sum += args.z[(size_t)side * rows->z_side + (size_t)o * rows->z_step];
        ((real *)bias)[o] = sum;
    }
}
