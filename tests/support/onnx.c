/* A small interpreter of ONNX graphs: see onnx.h. */
#include "support/onnx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

/* ---- Protocol buffers ----------------------------------------------------------------------- */

typedef struct bytes {
    const unsigned char *at, *end;
} bytes;

/* One field of a message: a number, or a part. */
typedef struct field {
    int number;
    uint64_t value;
    bytes part;
} field;

static uint64_t take_varint(bytes *from)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        assert_true(from->at < from->end);
        unsigned char byte = *from->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
    fail_msg("a number of more than 64 bits");
    return 0;
}

static bool take_field(bytes *from, field *f)
{
    if (from->at == from->end)
        return false;
    uint64_t key = take_varint(from);
    *f = (field){.number = (int)(key >> 3), .value = take_varint(from)};
    if ((key & 7) == 2) {
        assert_true(f->value <= (uint64_t)(from->end - from->at));
        f->part = (bytes){from->at, from->at + f->value};
        from->at += f->value;
    } else {
        assert_int_equal(key & 7, 0);
    }
    return true;
}

static void take_name(char name[96], bytes part)
{
    size_t length = (size_t)(part.end - part.at);
    assert_true(length < 96);
    memcpy(name, part.at, length);
    name[length] = 0;
}

/* ---- Values --------------------------------------------------------------------------------- */

static size_t size_of(const onnx_value *v)
{
    size_t size = 1;
    for (size_t k = 0; k < v->rank; k++)
        size *= v->shape[k];
    return size;
}

static onnx_value *find(onnx_model *m, const char *name)
{
    for (size_t k = m->value_count; k-- > 0;)
        if (strcmp(m->values[k].name, name) == 0)
            return &m->values[k];
    fail_msg("the graph has no value '%s'", name);
    return NULL;
}

static onnx_value *add(onnx_model *m, const char *name, size_t rank, const size_t *shape)
{
    assert_true(m->value_count < ONNX_MOST_VALUES && rank <= 2);
    onnx_value *v = &m->values[m->value_count++];
    *v = (onnx_value){.rank = rank};
    (void)strcpy(v->name, name);
    for (size_t k = 0; k < rank; k++)
        v->shape[k] = shape[k];
    v->data = calloc(size_of(v) + 1, sizeof *v->data);
    return v;
}

static void take_tensor(onnx_model *m, bytes part)
{
    field f;
    size_t rank = 0, shape[2] = {0};
    int type = 0;
    bytes raw = {0};
    char name[96] = "";
    while (take_field(&part, &f)) {
        if (f.number == 1)
            shape[rank++] = (size_t)f.value;
        if (f.number == 2)
            type = (int)f.value;
        if (f.number == 8)
            take_name(name, f.part);
        if (f.number == 9)
            raw = f.part;
    }
    onnx_value *v = add(m, name, rank, shape);
    size_t each = type == 1 ? 4 : 8;
    assert_int_equal(raw.end - raw.at, size_of(v) * each);
    for (size_t i = 0; i < size_of(v); i++, raw.at += each) {
        float single;
        int64_t whole = 0;
        memcpy(&single, raw.at, 4);
        if (each == 8) {
            memcpy(&v->data[i], raw.at, 8);
            memcpy(&whole, raw.at, 8);
        }
        if (type != 11)
            v->data[i] = type == 1 ? (double)single : (double)whole;
    }
}

/* The name and element type of an input or output; its shape must be (N). */
static void take_info(bytes part, char name[96], int *type)
{
    static const unsigned char shape[] = {0x0a, 0x03, 0x12, 0x01, 'N'};
    field f, inner;
    while (take_field(&part, &f)) {
        if (f.number == 1)
            take_name(name, f.part);
        if (f.number != 2)
            continue;
        assert_true(take_field(&f.part, &inner)); /* tensor_type */
        bytes tensor = inner.part;
        assert_true(take_field(&tensor, &inner));
        *type = (int)inner.value;
        assert_true(take_field(&tensor, &inner));
        assert_int_equal(inner.part.end - inner.part.at, sizeof shape);
        assert_memory_equal(inner.part.at, shape, sizeof shape);
    }
}

onnx_model *onnx_read(const void *data, size_t size)
{
    onnx_model *m = calloc(1, sizeof *m);
    bytes whole = {data, (const unsigned char *)data + size}, graph = {0};
    field f;
    while (take_field(&whole, &f)) {
        if (f.number == 1)
            m->form = (int64_t)f.value;
        if (f.number == 7)
            graph = f.part;
        while (f.number == 8 && take_field(&f.part, &(field){0}))
            ;
        if (f.number == 8)
            m->opset = f.part.end[-1];
    }
    m->graph = graph.at;
    m->graph_size = (size_t)(graph.end - graph.at);
    while (take_field(&graph, &f)) {
        int type = 0;
        m->node_count += f.number == 1;
        if (f.number == 5)
            take_tensor(m, f.part);
        if (f.number == 11)
            take_info(f.part, m->inputs[m->input_count++], &m->type);
        if (f.number == 12)
            take_info(f.part, m->outputs[m->output_count++], &type);
    }
    return m;
}

/* ---- Operators ------------------------------------------------------------------------------ */

typedef struct node {
    char kind[96], output[96];
    onnx_value *in[20];
    size_t count;
    int64_t attribute;
} node;

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}
static double negative(double x)
{
    return -x;
}
static double not(double x)
{
    return x == 0;
}
static double same(double x)
{
    return x;
}
static double sign(double x)
{
    return (x > 0) - (x < 0);
}

static const struct {
    const char *kind;
    double (*apply)(double);
} unary[] = {{"Sin", sin},     {"Cos", cos},          {"Tanh", tanh},    {"Sinh", sinh},
             {"Asin", asin},   {"Acos", acos},        {"Atan", atan},    {"Asinh", asinh},
             {"Acosh", acosh}, {"Atanh", atanh},      {"Exp", exp},      {"Log", log},
             {"Sqrt", sqrt},   {"Abs", fabs},         {"Sign", sign},    {"Floor", floor},
             {"Erf", erf},     {"Sigmoid", logistic}, {"Neg", negative}, {"Not", not },
             {"Cast", same},   {"Identity", same}};

static double plus(double x, double y)
{
    return x + y;
}
static double minus(double x, double y)
{
    return x - y;
}
static double times(double x, double y)
{
    return x * y;
}
static double over(double x, double y)
{
    return x / y;
}
static double equal(double x, double y)
{
    return x == y;
}
static double less(double x, double y)
{
    return x < y;
}
static double less_equal(double x, double y)
{
    return x <= y;
}

static const struct {
    const char *kind;
    double (*apply)(double, double);
} binary[] = {{"Add", plus},
              {"Sub", minus},
              {"Mul", times},
              {"Div", over},
              {"Equal", equal},
              {"Less", less},
              {"LessOrEqual", less_equal},
              {"Pow", pow},
              {"Max", fmax},
              {"Min", fmin}};

/* Element (i, j) of a value that is spread over rows or columns that it does not have. */
static double spread(const onnx_value *v, size_t rank, size_t i, size_t j)
{
    size_t row = rank == 2 ? i : j, column = j;
    if (v->rank == 0)
        return v->data[0];
    if (v->rank == 1)
        return v->data[v->shape[0] == 1 ? 0 : rank == 2 ? column : row];
    return v->data[(v->shape[0] == 1 ? 0 : i) * v->shape[1] + (v->shape[1] == 1 ? 0 : j)];
}

static onnx_value *spread_result(onnx_model *m, const node *n)
{
    size_t rank = 0, shape[2] = {1, 1};
    for (size_t k = 0; k < n->count; k++)
        rank = n->in[k]->rank > rank ? n->in[k]->rank : rank;
    for (size_t k = 0; k < n->count; k++)
        for (size_t d = 0; d < n->in[k]->rank; d++) {
            size_t to = d + rank - n->in[k]->rank;
            shape[to] = n->in[k]->shape[d] > shape[to] ? n->in[k]->shape[d] : shape[to];
        }
    return add(m, n->output, rank, shape);
}

static bool run_spread(onnx_model *m, const node *n)
{
    double (*one)(double) = NULL, (*two)(double, double) = NULL;
    for (size_t k = 0; k < sizeof unary / sizeof unary[0]; k++)
        if (strcmp(unary[k].kind, n->kind) == 0)
            one = unary[k].apply;
    for (size_t k = 0; k < sizeof binary / sizeof binary[0]; k++)
        if (strcmp(binary[k].kind, n->kind) == 0)
            two = binary[k].apply;
    bool where = strcmp(n->kind, "Where") == 0;
    if (!one && !two && !where)
        return false;
    assert_int_equal(n->count, one ? 1 : two ? 2 : 3);
    onnx_value *v = spread_result(m, n);
    size_t rows = v->rank == 2 ? v->shape[0] : 1;
    size_t columns = v->rank == 2 ? v->shape[1] : v->rank == 1 ? v->shape[0] : 1;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double x[3] = {0};
            for (size_t k = 0; k < n->count; k++)
                x[k] = spread(n->in[k], v->rank, i, j);
            v->data[i * columns + j] = one         ? one(x[0])
                                       : two       ? two(x[0], x[1])
                                       : x[0] != 0 ? x[1]
                                                   : x[2];
        }
    return true;
}

/* a (n, k) times b (k, m), or b^T for b (m, k). */
static void run_product(onnx_model *m, const node *n, bool turned, const onnx_value *more)
{
    const onnx_value *a = n->in[0], *b = n->in[1];
    size_t rows = a->shape[0], inner = a->shape[1], columns = b->shape[turned ? 0 : 1];
    assert_int_equal(b->shape[turned ? 1 : 0], inner);
    onnx_value *v = add(m, n->output, 2, (size_t[]){rows, columns});
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            double sum = more ? more->data[j] : 0;
            for (size_t k = 0; k < inner; k++)
                sum += a->data[i * inner + k] * b->data[turned ? j * inner + k : k * columns + j];
            v->data[i * columns + j] = sum;
        }
}

static void run_concat(onnx_model *m, const node *n)
{
    size_t width = 0, rows = n->in[0]->shape[0], at = 0;
    assert_int_equal(n->attribute, 1);
    for (size_t k = 0; k < n->count; k++)
        width += n->in[k]->shape[1];
    onnx_value *v = add(m, n->output, 2, (size_t[]){rows, width});
    for (size_t k = 0; k < n->count; at += n->in[k++]->shape[1])
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < n->in[k]->shape[1]; j++)
                v->data[i * width + at + j] = n->in[k]->data[i * n->in[k]->shape[1] + j];
}

/* Columns of a matrix; an index without dimension gives a vector. */
static void run_gather(onnx_model *m, const node *n)
{
    const onnx_value *a = n->in[0], *index = n->in[1];
    size_t rows = a->shape[0], chosen = size_of(index);
    assert_int_equal(n->attribute, 1);
    onnx_value *v = add(m, n->output, 1 + index->rank, (size_t[]){rows, chosen});
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < chosen; j++)
            v->data[i * chosen + j] = a->data[i * a->shape[1] + (size_t)index->data[j]];
}

static void run_node(onnx_model *m, const node *n)
{
    if (run_spread(m, n))
        return;
    if (strcmp(n->kind, "Gemm") == 0) {
        run_product(m, n, n->attribute == 1, n->in[2]);
    } else if (strcmp(n->kind, "MatMul") == 0) {
        run_product(m, n, false, NULL);
    } else if (strcmp(n->kind, "Concat") == 0) {
        run_concat(m, n);
    } else if (strcmp(n->kind, "Gather") == 0) {
        run_gather(m, n);
    } else {
        assert_string_equal(n->kind, "Unsqueeze");
        onnx_value *v = add(m, n->output, 2, (size_t[]){n->in[0]->shape[0], 1});
        memcpy(v->data, n->in[0]->data, n->in[0]->shape[0] * sizeof *v->data);
    }
}

static void take_node(onnx_model *m, bytes part, node *n)
{
    field f, inner;
    *n = (node){.count = 0};
    while (take_field(&part, &f)) {
        char name[96];
        if (f.number == 1) {
            take_name(name, f.part);
            n->in[n->count++] = find(m, name);
        }
        if (f.number == 2)
            take_name(n->output, f.part);
        if (f.number == 4)
            take_name(n->kind, f.part);
        while (f.number == 5 && take_field(&f.part, &inner))
            if (inner.number == 3)
                n->attribute = (int64_t)inner.value;
    }
}

void onnx_run(onnx_model *m, size_t count, const double *const *inputs, double **outputs)
{
    bytes graph = {m->graph, m->graph + m->graph_size};
    field f;
    for (size_t k = 0; k < m->input_count; k++)
        memcpy(add(m, m->inputs[k], 1, &count)->data, inputs[k], count * sizeof **inputs);
    while (take_field(&graph, &f)) {
        node n;
        if (f.number != 1)
            continue;
        take_node(m, f.part, &n);
        run_node(m, &n);
    }
    for (size_t k = 0; k < m->output_count; k++) {
        const onnx_value *v = find(m, m->outputs[k]);
        assert_int_equal(v->rank, 1);
        assert_int_equal(v->shape[0], count);
        memcpy(outputs[k], v->data, count * sizeof **outputs);
    }
}

void onnx_free(onnx_model *m)
{
    for (size_t k = 0; k < m->value_count; k++)
        free(m->values[k].data);
    free(m);
}
