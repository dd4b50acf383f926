/* Layers of the vector tables: how weights are packed, how gradients lie, and the calls of the
 * product. Packed weights are, in this order: W^T (inputs, outputs padded) for the forward pass, W
 * (outputs, inputs padded) for the reverse pass, the bias and a row of zeros, both padded, which
 * rows with and without a bias start from. The two matrices lie in panels, as the product wants
 * them; the last layer has W alone, row by row. A gradient is (outputs, inputs padded), or, where
 * that wastes fewer lanes, (inputs, outputs padded), and then the bias, padded. */
static SG_INLINE int vectors(int count)
{
    return (count + LANES - 1) / LANES;
}

static SG_INLINE size_t padded(int count)
{
    return (size_t)vectors(count) * (size_t)LANES;
}

static SG_INLINE size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Where the parts of a layer's packed weights begin. */
typedef struct packed_parts {
    size_t reverse, bias, zeros, size;
} packed_parts;

static packed_parts parts_of(const sgi_layer_shape *shape)
{
    packed_parts parts;
    parts.reverse = shape->last ? 0 : (size_t)shape->inputs * padded(shape->outputs);
    parts.bias = parts.reverse + (size_t)shape->outputs * padded(shape->inputs);
    parts.zeros = parts.bias + padded(shape->outputs);
    parts.size = parts.zeros + larger(padded(shape->outputs), padded(shape->inputs));
    return parts;
}

static size_t packed_size(const sgi_layer_shape *shape)
{
    return parts_of(shape).size;
}

/* About how many cycles a step of k takes over all blocks of a product of `rows` rows, at two
 * multiply-adds a cycle. Blocks that are one vector wide have too few sums to hide the latency of
 * an addition and count double. */
static int product_cost(int rows, int columns)
{
    int n = vectors(columns), rest = n % COLUMNS;
    int block = n / COLUMNS * ROWS * COLUMNS / 2 + (rest == 1 ? ROWS : rest * ROWS / 2);
    return (rows + ROWS - 1) / ROWS * block;
}

static bool transposed(const sgi_layer_shape *shape)
{
    return !shape->last && product_cost(shape->inputs, shape->outputs) <
                               product_cost(shape->outputs, shape->inputs);
}

static size_t gradient_bias(const sgi_layer_shape *shape)
{
    return transposed(shape) ? (size_t)shape->inputs * padded(shape->outputs)
                             : (size_t)shape->outputs * padded(shape->inputs);
}

static size_t gradient_size(const sgi_layer_shape *shape)
{
    return gradient_bias(shape) + padded(shape->outputs);
}

/* Where column `column` of a matrix in panels begins; its rows are `*row` apart. */
static SG_INLINE size_t panel_column(size_t rows, size_t columns, size_t column, size_t *row)
{
    size_t panel = (size_t)COLUMNS * (size_t)LANES, first = column / panel * panel;
    *row = columns - first < panel ? columns - first : panel;
    return first * rows + column - first;
}

/* A matrix to panels. `from` is it row by row; or, `across`, its transpose. */
static void pack_panels(size_t rows, size_t columns, size_t whole, const real *from, bool across,
                        real *to)
{
    size_t panel = (size_t)COLUMNS * (size_t)LANES;
    for (size_t first = 0; first < columns; first += panel) {
        size_t row, at = panel_column(rows, whole, first, &row);
        size_t count = columns - first < panel ? columns - first : panel;
        for (size_t j = 0; j < count && across; j++)
            for (size_t i = 0; i < rows; i++)
                to[at + i * row + j] = from[(first + j) * rows + i];
        for (size_t i = 0; i < rows && !across; i++)
            memcpy(to + at + i * row, from + i * columns + first, count * sizeof(real));
    }
}

static void pack(const sgi_layer_shape *shape, const void *weight, const void *bias, void *packed)
{
    packed_parts parts = parts_of(shape);
    size_t inputs = (size_t)shape->inputs, outputs = (size_t)shape->outputs;
    size_t in = padded(shape->inputs), out = padded(shape->outputs);
    const real *w = weight;
    real *forward_part = packed, *reverse_part = forward_part + parts.reverse;
    if (shape->last) {
        for (size_t o = 0; o < outputs; o++)
            memcpy(reverse_part + o * in, w + o * inputs, inputs * sizeof(real));
    } else {
        pack_panels(inputs, outputs, out, w, true, forward_part);
        pack_panels(outputs, inputs, in, w, false, reverse_part);
    }
    memcpy(forward_part + parts.bias, bias, outputs * sizeof(real));
}

static void unpack(const sgi_layer_shape *shape, const void *gradient, void *weight, void *bias)
{
    size_t inputs = (size_t)shape->inputs, outputs = (size_t)shape->outputs;
    bool across = transposed(shape);
    size_t row = across ? 1 : padded(shape->inputs), column = across ? padded(shape->outputs) : 1;
    const real *from = gradient;
    real *w = weight;
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < inputs; i++)
            w[o * inputs + i] = from[o * row + i * column];
    memcpy(bias, from + gradient_bias(shape), outputs * sizeof(real));
}

static void forward(const sgi_layer_shape *shape, const void *packed, int rows, int value_rows,
                    bool add, const void *a, void *z)
{
    packed_parts parts = parts_of(shape);
    size_t in = (size_t)shape->input_stride, out = (size_t)shape->output_stride;
    const real *w = packed;
    product_args args = {.m = value_rows, .n = vectors(shape->outputs), .k = shape->inputs};
    args.a = a;
    args.a_row = in;
    args.a_step = 1;
    args.b = w; /* panels */
    args.c = z;
    args.c_row = out;
    if (add) {
        args.m = rows;
        args.init = z;
        args.init_row = out;
        product(&args);
        return;
    }
    args.init = w + parts.bias;
    product(&args);
    args.m = rows - value_rows;
    args.a += (size_t)value_rows * in;
    args.c += (size_t)value_rows * out;
    args.init = w + parts.zeros;
    product(&args);
}

static void reverse(const sgi_layer_shape *shape, const void *packed, int rows, const void *z,
                    void *a)
{
    packed_parts parts = parts_of(shape);
    const real *w = packed;
    product_args args = {.m = rows, .n = vectors(shape->inputs), .k = shape->outputs};
    args.a = z;
    args.a_row = (size_t)shape->output_stride;
    args.a_step = 1;
    args.b = w + parts.reverse; /* panels */
    args.init = w + parts.zeros;
    args.c = a;
    args.c_row = (size_t)shape->input_stride;
    product(&args);
}

/* to += sum of `rows` rows of `width` features. */
static void add_rows(int rows, size_t row_step, int width, const real *from, real *to)
{
    for (int i = 0; i < width; i += LANES) {
        value sum = sgi_load(to + i);
        for (int r = 0; r < rows; r++)
            sum += sgi_load(from + (size_t)r * row_step + i);
        sgi_store(to + i, sum);
    }
}

static void weights(const sgi_layer_shape *shape, int rows, int step, int value_rows, const void *z,
                    const void *a, void *gradient)
{
    size_t in = (size_t)step * (size_t)shape->input_stride;
    size_t out = (size_t)step * (size_t)shape->output_stride;
    bool across = transposed(shape);
    product_args args = {.k = rows, .a_row = 1, .init = gradient, .c = gradient};
    args.m = across ? shape->inputs : shape->outputs;
    args.n = vectors(across ? shape->outputs : shape->inputs);
    args.a = across ? a : z;
    args.a_step = across ? in : out;
    args.b = across ? z : a;
    args.b_row = across ? out : in;
    args.init_row = args.c_row = (size_t)args.n * (size_t)LANES;
    product(&args);
    add_rows(value_rows, out, shape->outputs, z, (real *)gradient + gradient_bias(shape));
}

/* Dot products of four rows of `a` with one row of weights; `n` in vectors. */
static SG_INLINE void four_dots(const real *a, size_t row, const real *w, int n, real *dots)
{
    value s0 = sgi_splat(0), s1 = s0, s2 = s0, s3 = s0;
    for (int j = 0; j < n * LANES; j += LANES) {
        value x = sgi_load(w + j);
        s0 += x * sgi_load(a + j);
        s1 += x * sgi_load(a + row + j);
        s2 += x * sgi_load(a + 2 * row + j);
        s3 += x * sgi_load(a + 3 * row + j);
    }
    dots[0] = sgi_sum(s0);
    dots[1] = sgi_sum(s1);
    dots[2] = sgi_sum(s2);
    dots[3] = sgi_sum(s3);
}

static real one_dot(const real *a, const real *w, int n)
{
    value s = sgi_splat(0);
    for (int j = 0; j < n * LANES; j += LANES)
        s += sgi_load(w + j) * sgi_load(a + j);
    return sgi_sum(s);
}

static void output_line(const real *a, size_t row, const real *w, int n, int points, real start,
                        bool add, real *y)
{
    int p = 0;
    for (; p + 4 <= points; p += 4) {
        real dots[4];
        four_dots(a + (size_t)p * row, row, w, n, dots);
        for (int i = 0; i < 4; i++)
            y[p + i] = dots[i] + (add ? y[p + i] : start);
    }
    for (; p < points; p++)
        y[p] = one_dot(a + (size_t)p * row, w, n) + (add ? y[p] : start);
}

static void output(const sgi_layer_shape *shape, const void *packed, int channels, int points,
                   int point_stride, bool add, const void *a, void *y)
{
    packed_parts parts = parts_of(shape);
    const real *w = (const real *)packed + parts.reverse, *bias = (const real *)packed + parts.bias;
    size_t row = (size_t)shape->input_stride;
    for (int c = 0; c < channels; c++)
        for (int o = 0; o < shape->outputs; o++)
            output_line((const real *)a + (size_t)(c * points) * row, row,
                        w + (size_t)o * padded(shape->inputs), vectors(shape->inputs), points,
                        c == 0 ? bias[o] : 0, add,
                        (real *)y + (size_t)(c * shape->outputs + o) * (size_t)point_stride);
}

static void output_reverse(const sgi_layer_shape *shape, const void *packed, int channels,
                           int points, int point_stride, const void *y, void *a)
{
    packed_parts parts = parts_of(shape);
    const real *w = packed;
    product_args args = {.m = points, .n = vectors(shape->inputs), .k = shape->outputs};
    args.a_row = 1;
    args.a_step = (size_t)point_stride;
    args.b = w + parts.reverse;
    args.b_row = padded(shape->inputs);
    args.init = w + parts.zeros;
    args.c_row = (size_t)shape->input_stride;
    for (int c = 0; c < channels; c++) {
        args.a = (const real *)y + (size_t)(c * shape->outputs) * (size_t)point_stride;
        args.c = (real *)a + (size_t)(c * points) * args.c_row;
        product(&args);
    }
}

static void output_weights(const sgi_layer_shape *shape, int channels, int points, int point_stride,
                           int first, int count, const void *y, const void *a, void *gradient)
{
    product_args args = {.m = shape->outputs, .n = vectors(shape->inputs), .k = count};
    args.a_row = (size_t)point_stride;
    args.a_step = 1;
    args.b_row = (size_t)shape->input_stride;
    args.init = args.c = gradient;
    args.init_row = args.c_row = padded(shape->inputs);
    for (int c = 0; c < channels; c++) {
        args.a = (const real *)y + (size_t)(c * shape->outputs) * args.a_row + first;
        args.b = (const real *)a + (size_t)(c * points + first) * args.b_row;
        product(&args);
    }
    real *bias = (real *)gradient + gradient_bias(shape);
    for (int o = 0; o < shape->outputs; o++)
        for (int p = first; p < first + count; p++)
            bias[o] += ((const real *)y)[(size_t)o * args.a_row + (size_t)p];
}
