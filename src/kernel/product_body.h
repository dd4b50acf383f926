/* The layer products, written once in generic vectors. The forward pass, the reverse pass and the
 * weight gradient are all of one form, C (m, n) = init + A (m, k) B (k, n). A block of ROWS rows
 * and COLUMNS vectors of columns stays in registers over the whole of k, so that each number that
 * is loaded is used several times. B's columns are contiguous and padded to whole vectors; A is
 * read one number at a time and may lie either way, by its two strides. */
enum { ROWS = 6, COLUMNS = SG_COLUMNS };

typedef struct product_args {
    int m, n, k;   /* n in vectors */
    const real *a; /* element (i, l) at i * a_row + l * a_step */
    size_t a_row, a_step;
    const real *b;    /* (k, n), rows b_row apart, or in panels */
    size_t b_row;     /* 0: panels of COLUMNS vectors, one behind the other, each without gaps */
    const real *init; /* (m, n), rows init_row apart: 0 repeats one row; may be c itself */
    size_t init_row;
    real *c; /* (m, n), rows c_row apart */
    size_t c_row;
} product_args;

static SG_INLINE void product_block(int rows, int columns, const product_args *args, int row,
                                    int column)
{
    value sum[ROWS][COLUMNS];
    size_t first = (size_t)column * (size_t)LANES;
    const real *a = args->a + (size_t)row * args->a_row;
    const real *b = args->b + first * (args->b_row ? 1 : (size_t)args->k);
    const real *init = args->init + (size_t)row * args->init_row + first;
    real *c = args->c + (size_t)row * args->c_row + first;
    size_t a_row = args->a_row, a_step = args->a_step;
    size_t b_row = args->b_row ? args->b_row : (size_t)(columns * LANES);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            sum[i][j] = sgi_load(init + (size_t)i * args->init_row + j * LANES);
    for (int l = args->k; l > 0; l--) {
        value line[COLUMNS];
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            line[j] = sgi_load(b + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            real factor = a[(size_t)i * a_row];
#pragma GCC unroll 8
            for (int j = 0; j < columns; j++)
                sum[i][j] += line[j] * factor;
        }
        a += a_step;
        b += b_row;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
        for (int j = 0; j < columns; j++)
            sgi_store(c + (size_t)i * args->c_row + j * LANES, sum[i][j]);
}

/* All rows of `columns` vectors of columns. */
static SG_INLINE void product_columns(int columns, const product_args *args, int column)
{
    int row = 0;
    for (; row + ROWS <= args->m; row += ROWS)
        product_block(ROWS, columns, args, row, column);
    switch (args->m - row) {
    case 5:
        product_block(5, columns, args, row, column);
        break;
    case 4:
        product_block(4, columns, args, row, column);
        break;
    case 3:
        product_block(3, columns, args, row, column);
        break;
    case 2:
        product_block(2, columns, args, row, column);
        break;
    case 1:
        product_block(1, columns, args, row, column);
        break;
    default:
        break;
    }
}

static void product(const product_args *args)
{
    int column = 0;
    for (; column + COLUMNS <= args->n; column += COLUMNS)
        product_columns(COLUMNS, args, column);
    switch (args->n - column) {
#if SG_COLUMNS > 2
    case 3:
        product_columns(3, args, column);
        break;
    case 2:
        product_columns(2, args, column);
        break;
#endif
    case 1:
        product_columns(1, args, column);
        break;
    default:
        break;
    }
}
