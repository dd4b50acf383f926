/* Products of rows of the Jacobian, or of the inputs and adjoints that rows are made of. Both sides
 * are first copied into narrow panels, here called slivers: (k, ROWS) of the left side and (k,
 * WIDE) of the right. A block of ROWS x WIDE sums then stays in registers while both slivers are
 * read from front to back. */
enum {
    MULTIPLY_LEFT = 16 * ROWS, /* rows of the left side copied at once */
    MULTIPLY_RIGHT = 384,      /* of the right side; a multiple of every WIDE */
    GRAM_LEFT = 16 * ROWS,     /* items, at most */
    GRAM_ELEMENTS = 1 << 16,   /* of the left side, about: both stay in the second-level cache */
};
#define WIDE (COLUMNS * LANES)

/* count <= width rows of k elements to a sliver (k, width); zeros where there is no row. */
static SG_INLINE void copy_sliver(int width, size_t count, size_t k, const real *from, size_t row,
                                  size_t step, real *to)
{
    if (count == (size_t)width && row == 1) {
        for (size_t l = 0; l < k; l++)
            memcpy(to + l * (size_t)width, from + l * step, (size_t)width * sizeof(real));
        return;
    }
    if (count < (size_t)width)
        memset(to, 0, k * (size_t)width * sizeof(real));
    for (size_t l = 0; l < k; l++)
        for (size_t i = 0; i < count; i++)
            to[l * (size_t)width + i] = from[i * row + l * step];
}

/* sum (ROWS, COLUMNS) = left sliver^T right sliver */
static SG_INLINE void sliver_product(size_t k, const real *left, const real *right,
                                     value sum[ROWS][COLUMNS])
{
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++)
            sum[i][j] = sgi_splat(0);
    for (size_t l = k; l > 0; l--) {
        value line[COLUMNS];
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++)
            line[j] = sgi_load(right + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < ROWS; i++) {
            real factor = left[i];
#pragma GCC unroll 8
            for (int j = 0; j < COLUMNS; j++)
                sum[i][j] += line[j] * factor;
        }
        left += ROWS;
        right += WIDE;
    }
}

static SG_INLINE void store_block(value sum[ROWS][COLUMNS], real *to)
{
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++)
            sgi_store(to + i * WIDE + j * LANES, sum[i][j]);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- C += A B^T ------------------------------------------------------------------------------ */

static size_t multiply_scratch(void)
{
    return (size_t)(MULTIPLY_LEFT + MULTIPLY_RIGHT) * SGI_MULTIPLY_K;
}

/* C (rows, columns) += factor * block */
static void add_block(const real *block, size_t rows, size_t columns, double factor, double *c,
                      size_t c_row)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            c[i * c_row + j] += factor * (double)block[i * WIDE + j];
}

static void copy_slivers(int width, size_t count, size_t k, const real *from, size_t row,
                         size_t step, real *to)
{
    for (size_t i = 0; i < count; i += (size_t)width) {
        size_t some = least(count - i, (size_t)width);
        if (width == ROWS)
            copy_sliver(ROWS, some, k, from + i * row, row, step, to + i * k);
        else
            copy_sliver(WIDE, some, k, from + i * row, row, step, to + i * k);
    }
}

/* Of a triangle, blocks that lie below the diagonal as a whole are left out. */
static void multiply_slivers(size_t m, size_t n, size_t k, const real *left, const real *right,
                             double factor, bool triangle, double *c, size_t c_row)
{
    real block[ROWS * WIDE];
    value sum[ROWS][COLUMNS];
    for (size_t j = 0; j < n; j += WIDE)
        for (size_t i = 0; i < m && (!triangle || i < j + WIDE); i += ROWS) {
            sliver_product(k, left + i * k, right + j * k, sum);
            store_block(sum, block);
            add_block(block, least(m - i, ROWS), least(n - j, WIDE), factor, c + i * c_row + j,
                      c_row);
        }
}

static void multiply(const sgi_multiply *args, void *scratch)
{
    real *left = scratch, *right = left + MULTIPLY_LEFT * SGI_MULTIPLY_K;
    for (size_t l = 0; l < args->k; l += SGI_MULTIPLY_K) {
        size_t k = least(args->k - l, SGI_MULTIPLY_K);
        const real *a = (const real *)args->a + l * args->a_step;
        const real *b = (const real *)args->b + l * args->b_step;
        for (size_t j = 0; j < args->n; j += MULTIPLY_RIGHT) {
            size_t n = least(args->n - j, MULTIPLY_RIGHT);
            copy_slivers(WIDE, n, k, b + j * args->b_row, args->b_row, args->b_step, right);
            for (size_t i = 0; i < args->m; i += MULTIPLY_LEFT) {
                size_t m = least(args->m - i, MULTIPLY_LEFT);
                copy_slivers(ROWS, m, k, a + i * args->a_row, args->a_row, args->a_step, left);
                multiply_slivers(m, n, k, left, right, args->factor, false,
                                 args->c + i * args->c_row + j, args->c_row);
            }
        }
    }
}

/* ---- J^T J: every column is on both sides of many products, and copied once -------------------
 */

static size_t square_columns(size_t n)
{
    size_t left = (n + ROWS - 1) / ROWS * ROWS, right = (n + WIDE - 1) / WIDE * WIDE;
    return left > right ? left : right;
}

static void square_copy(const void *rows, size_t row, size_t k, size_t first, size_t count,
                        void *left, void *right)
{
    const real *from = (const real *)rows + first;
    copy_slivers(ROWS, count, k, from, 1, row, (real *)left + first * k);
    copy_slivers(WIDE, count, k, from, 1, row, (real *)right + first * k);
}

static void square_product(const sgi_square *args)
{
    const real *left = (const real *)args->left + args->i * args->k;
    const real *right = (const real *)args->right + args->j * args->k;
    multiply_slivers(args->m, args->n, args->k, left, right, 1, args->i == args->j, args->c,
                     args->c_row);
}

/* ---- x L^T = rows ------------------------------------------------------------------------------
 */

enum { SOLVE_VECTORS = 6, SOLVE_ROWS = SOLVE_VECTORS * LANES };

/* At most SOLVE_ROWS rows side by side, a row in each lane. */
static void solve_side(const sgi_solve_rows *args, const real *inverse, real *rows, size_t count)
{
    value side[SGI_SOLVE_N][SOLVE_VECTORS];
    real *lanes = (real *)side;
    memset(side, 0, args->n * sizeof *side);
    for (size_t r = 0; r < count; r++)
        for (size_t j = 0; j < args->n; j++)
            lanes[j * SOLVE_ROWS + r] = rows[r * args->row + j];
    for (size_t j = 0; j < args->n; j++) {
        const real *line = (const real *)args->factor + j * args->factor_row;
        value sum[SOLVE_VECTORS];
#pragma GCC unroll 8
        for (int v = 0; v < SOLVE_VECTORS; v++)
            sum[v] = side[j][v];
        for (size_t l = 0; l < j; l++) {
            real taken = line[l];
#pragma GCC unroll 8
            for (int v = 0; v < SOLVE_VECTORS; v++)
                sum[v] -= side[l][v] * taken;
        }
#pragma GCC unroll 8
        for (int v = 0; v < SOLVE_VECTORS; v++)
            side[j][v] = sum[v] * inverse[j];
    }
    for (size_t r = 0; r < count; r++)
        for (size_t j = 0; j < args->n; j++)
            rows[r * args->row + j] = lanes[j * SOLVE_ROWS + r];
}

static void solve(const sgi_solve_rows *args)
{
    real inverse[SGI_SOLVE_N];
    for (size_t j = 0; j < args->n; j++)
        inverse[j] = 1 / ((const real *)args->factor)[j * args->factor_row + j];
    for (size_t r = 0; r < args->count; r += SOLVE_ROWS)
        solve_side(args, inverse, (real *)args->rows + r * args->row,
                   least(args->count - r, SOLVE_ROWS));
}

/* ---- A layer's part in J J^T ------------------------------------------------------------------
 */

/* Elements of one item in slivers. */
static size_t gram_item(const sgi_gram *args, const sgi_gram_side *side)
{
    return (size_t)side->channels *
           ((size_t)args->inputs + (size_t)side->components * (size_t)args->outputs);
}

/* Items of the left side copied at once. */
static size_t gram_left(const sgi_gram *args)
{
    size_t groups = GRAM_ELEMENTS / (gram_item(args, &args->left) * ROWS);
    return ROWS * (groups < 1 ? 1 : least(groups, GRAM_LEFT / ROWS));
}

static size_t gram_sums(const sgi_gram *args)
{
    return (size_t)args->left.components * (size_t)args->right.components * ROWS * WIDE;
}

static size_t gram_scratch(const sgi_gram *args)
{
    return gram_left(args) * gram_item(args, &args->left) + WIDE * gram_item(args, &args->right) +
           gram_sums(args);
}

/* Slivers of `count` <= width items from `first` on: the inputs of each channel, then the adjoints
 * of each component and channel. */
static SG_INLINE void copy_items(int width, const sgi_gram *args, const sgi_gram_side *side,
                                 size_t first, size_t count, real *to)
{
    size_t inputs = (size_t)args->inputs, outputs = (size_t)args->outputs;
    const real *in = (const real *)side->inputs + first * side->input_item;
    const real *out = (const real *)side->adjoints + first * side->adjoint_item;
    for (int c = 0; c < side->channels; c++) {
        copy_sliver(width, count, inputs, in + (size_t)c * inputs, side->input_item, 1, to);
        to += inputs * (size_t)width;
    }
    for (int c = 0; c < side->components * side->channels; c++) {
        copy_sliver(width, count, outputs, out + (size_t)c * outputs, side->adjoint_item, 1, to);
        to += outputs * (size_t)width;
    }
}

/* sums += factors * (left adjoints . right adjoints) */
static SG_INLINE void add_adjoints(size_t k, const real *left, const real *right,
                                   const real *factors, real *sums)
{
    value sum[ROWS][COLUMNS];
    sliver_product(k, left, right, sum);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++) {
            int at = i * WIDE + j * LANES;
            sgi_store(sums + at, sgi_load(sums + at) + sgi_load(factors + at) * sum[i][j]);
        }
}

/* factors = weight * (left inputs . right inputs) + shift */
static SG_INLINE void input_factors(size_t k, const real *left, const real *right, real weight,
                                    real shift, real *factors)
{
    value sum[ROWS][COLUMNS];
    sliver_product(k, left, right, sum);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
        for (int j = 0; j < COLUMNS; j++)
            sum[i][j] = sum[i][j] * weight + shift;
    store_block(sum, factors);
}

/* The sums of ROWS items against WIDE. The product of the inputs is the same for all components, so
 * it is computed once for each pair of channels and used as a factor. */
static void gram_block(const sgi_gram *args, const real *left, const real *right, real *sums)
{
    const sgi_gram_side *l = &args->left, *r = &args->right;
    size_t inputs = (size_t)args->inputs, outputs = (size_t)args->outputs;
    size_t right_channels = (size_t)r->channels, left_channels = (size_t)l->channels;
    const real *left_out = left + left_channels * inputs * ROWS;
    const real *right_out = right + right_channels * inputs * WIDE;
    real factors[ROWS * WIDE];
    memset(sums, 0, gram_sums(args) * sizeof(real));
    for (size_t d = 0; d < right_channels; d++)
        for (size_t c = 0; c < left_channels; c++) {
            bool values = c % (size_t)l->plan_channels == 0 && d % (size_t)r->plan_channels == 0;
            input_factors(inputs, left + c * inputs * ROWS, right + d * inputs * WIDE,
                          (real)args->weight, values ? (real)args->bias : 0, factors);
            real *to = sums;
            for (size_t p = 0; p < (size_t)l->components; p++)
                for (size_t q = 0; q < (size_t)r->components; q++, to += ROWS * WIDE)
                    add_adjoints(outputs, left_out + (p * left_channels + c) * outputs * ROWS,
                                 right_out + (q * right_channels + d) * outputs * WIDE, factors,
                                 to);
        }
}

/* C of ROWS x WIDE items, all components. */
static void add_sums(const sgi_gram *args, size_t i, size_t j, const real *sums)
{
    size_t p_count = (size_t)args->left.components, q_count = (size_t)args->right.components;
    size_t rows = least(args->left.items - i, ROWS), columns = least(args->right.items - j, WIDE);
    for (size_t p = 0; p < p_count; p++)
        for (size_t q = 0; q < q_count; q++, sums += ROWS * WIDE)
            for (size_t y = 0; y < rows; y++) {
                double *c = args->c + ((i + y) * p_count + p) * args->c_row + j * q_count + q;
                for (size_t x = 0; x < columns; x++)
                    c[x * q_count] += (double)sums[y * WIDE + x];
            }
}

static void gram(const sgi_gram *args, void *scratch)
{
    size_t left_item = gram_item(args, &args->left), most = gram_left(args);
    real *left = scratch, *right = left + most * left_item;
    real *sums = right + WIDE * gram_item(args, &args->right);
    for (size_t first = 0; first < args->left.items; first += most) {
        size_t end = least(args->left.items, first + most);
        for (size_t i = first; i < end; i += ROWS)
            copy_items(ROWS, args, &args->left, i, least(end - i, ROWS),
                       left + (i - first) * left_item);
        for (size_t j = 0; j < args->right.items; j += WIDE) {
            copy_items(WIDE, args, &args->right, j, least(args->right.items - j, WIDE), right);
            for (size_t i = first; i < end; i += ROWS) {
                gram_block(args, left + (i - first) * left_item, right, sums);
                add_sums(args, i, j, sums);
            }
        }
    }
}
