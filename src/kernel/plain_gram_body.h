/* The plain scalar loops of the Jacobian's rows and products. */
static void item_row(const sgi_layer_shape *shape, const sgi_item_rows *rows, const void *z,
                     const void *a, void *weight, void *bias)
{
    for (int o = 0; o < shape->outputs; o++) {
        real *to = (real *)weight + (size_t)o * (size_t)shape->inputs, sum = 0;
        for (int i = 0; i < shape->inputs; i++)
            to[i] = 0;
        for (int side = 0; side < rows->sides; side++)
            for (int c = 0; c < rows->channels; c++) {
                real out =
                    ((const real *)z)[(size_t)side * rows->z_side + (size_t)c * rows->z_channel +
                                      (size_t)o * rows->z_step];
                const real *in =
                    (const real *)a + (size_t)side * rows->a_side + (size_t)c * rows->a_channel;
                for (int i = 0; i < shape->inputs; i++)
                    to[i] += out * in[i];
                sum += c == 0 ? out : 0;
            }
        ((real *)bias)[o] = sum;
    }
}

static size_t multiply_scratch(void)
{
    return 0;
}

static void multiply(const sgi_multiply *args, void *scratch)
{
    (void)scratch;
    const real *a = args->a, *b = args->b;
    for (size_t i = 0; i < args->m; i++)
        for (size_t j = 0; j < args->n; j++) {
            double sum = 0;
            for (size_t l = 0; l < args->k; l++)
                sum += (double)a[i * args->a_row + l * args->a_step] *
                       (double)b[j * args->b_row + l * args->b_step];
            args->c[i * args->c_row + j] += args->factor * sum;
        }
}

static size_t square_columns(size_t n)
{
    return n;
}

static void square_copy(const void *rows, size_t row, size_t k, size_t first, size_t count,
                        void *left, void *right)
{
    for (size_t i = first; i < first + count; i++)
        for (size_t l = 0; l < k; l++)
            ((real *)left)[i * k + l] = ((real *)right)[i * k + l] =
                ((const real *)rows)[l * row + i];
}

static void square_product(const sgi_square *args)
{
    multiply(&(sgi_multiply){.m = args->m,
                             .n = args->n,
                             .k = args->k,
                             .a = (const real *)args->left + args->i * args->k,
                             .b = (const real *)args->right + args->j * args->k,
                             .a_row = args->k,
                             .a_step = 1,
                             .b_row = args->k,
                             .b_step = 1,
                             .factor = 1,
                             .c = args->c,
                             .c_row = args->c_row},
             NULL);
}

static void solve(const sgi_solve_rows *args)
{
    const real *factor = args->factor;
    for (size_t r = 0; r < args->count; r++) {
        real *x = (real *)args->rows + r * args->row;
        for (size_t j = 0; j < args->n; j++) {
            double sum = (double)x[j];
            for (size_t l = 0; l < j; l++)
                sum -= (double)factor[j * args->factor_row + l] * (double)x[l];
            x[j] = (real)(sum / (double)factor[j * args->factor_row + j]);
        }
    }
}

static size_t gram_scratch(const sgi_gram *args)
{
    (void)args;
    return 0;
}

static double gram_dot(const real *a, const real *b, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* One entry: component p of item i against component q of item j. */
static double gram_entry(const sgi_gram *args, size_t i, int p, size_t j, int q)
{
    const sgi_gram_side *l = &args->left, *r = &args->right;
    size_t inputs = (size_t)args->inputs, outputs = (size_t)args->outputs;
    double sum = 0;
    for (int c = 0; c < l->channels; c++)
        for (int d = 0; d < r->channels; d++) {
            const real *x = (const real *)l->inputs + i * l->input_item + (size_t)c * inputs;
            const real *y = (const real *)r->inputs + j * r->input_item + (size_t)d * inputs;
            const real *g = (const real *)l->adjoints + i * l->adjoint_item +
                            (size_t)(p * l->channels + c) * outputs;
            const real *h = (const real *)r->adjoints + j * r->adjoint_item +
                            (size_t)(q * r->channels + d) * outputs;
            bool values = c % l->plan_channels == 0 && d % r->plan_channels == 0;
            sum += (args->weight * gram_dot(x, y, args->inputs) + (values ? args->bias : 0)) *
                   gram_dot(g, h, args->outputs);
        }
    return sum;
}

static void gram(const sgi_gram *args, void *scratch)
{
    (void)scratch;
    size_t p_count = (size_t)args->left.components, q_count = (size_t)args->right.components;
    for (size_t i = 0; i < args->left.items * p_count; i++)
        for (size_t j = 0; j < args->right.items * q_count; j++)
            args->c[i * args->c_row + j] +=
                gram_entry(args, i / p_count, (int)(i % p_count), j / q_count, (int)(j % q_count));
}
