/* ONNX files: see onnx.h. The numbers of the fields are those of onnx.proto, which never change. */
#include "files/onnx.h"

#include <string.h>

#include "base/diagnostic.h"
#include "files/file.h"

/* ---- Protocol buffers: a field is its number and form, then a number or a length with bytes ---
 */

enum { FORM_NUMBER = 0, FORM_BYTES = 2 };

static void put_varint(sgi_text *to, uint64_t value)
{
    char bytes[10];
    size_t count = 0;
    for (; value >= 128; value >>= 7)
        bytes[count++] = (char)((value & 127) | 128);
    bytes[count++] = (char)value;
    sgi_text_bytes(to, bytes, count);
}

static void put_number(sgi_text *to, int field, int64_t value)
{
    put_varint(to, (uint64_t)field << 3 | FORM_NUMBER);
    put_varint(to, (uint64_t)value);
}

static void put_bytes(sgi_text *to, int field, const void *bytes, size_t size)
{
    put_varint(to, (uint64_t)field << 3 | FORM_BYTES);
    put_varint(to, size);
    sgi_text_bytes(to, bytes, size);
}

static void put_text(sgi_text *to, int field, const char *text)
{
    put_bytes(to, field, text, strlen(text));
}

/* Adds the message in `from`, and empties that. */
static void put_message(sgi_text *to, int field, sgi_text *from)
{
    put_bytes(to, field, from->data, from->size);
    if (from->status != SG_OK && to->status == SG_OK)
        to->status = from->status;
    sgi_text_cut(from, 0);
}

/* ---- Graphs ------------------------------------------------------------------------------- */

void sgi_onnx_begin(sgi_onnx *onnx, const sg_allocator *allocator)
{
    sgi_text_begin(&onnx->nodes, allocator);
    sgi_text_begin(&onnx->tensors, allocator);
    sgi_text_begin(&onnx->inputs, allocator);
    sgi_text_begin(&onnx->outputs, allocator);
    sgi_text_begin(&onnx->part, allocator);
    sgi_text_begin(&onnx->inner, allocator);
}

void sgi_onnx_release(sgi_onnx *onnx)
{
    sgi_text_release(&onnx->nodes);
    sgi_text_release(&onnx->tensors);
    sgi_text_release(&onnx->inputs);
    sgi_text_release(&onnx->outputs);
    sgi_text_release(&onnx->part);
    sgi_text_release(&onnx->inner);
}

/* A ValueInfoProto whose shape is the one free dimension N. */
static void put_value(sgi_onnx *onnx, sgi_text *to, int field, const char *name, sgi_onnx_type type)
{
    static const char shape[] = {0x0a, 0x03, 0x12, 0x01, 'N'}; /* dim {dim_param: "N"} */
    sgi_text *inner = &onnx->inner, *part = &onnx->part;
    put_number(inner, 1, type); /* elem_type */
    put_bytes(inner, 2, shape, sizeof shape);
    put_message(part, 1, inner); /* tensor_type */
    put_text(inner, 1, name);
    put_message(inner, 2, part); /* type */
    put_message(to, field, inner);
}

void sgi_onnx_input(sgi_onnx *onnx, const char *name, sgi_onnx_type type)
{
    put_value(onnx, &onnx->inputs, 11, name, type);
}

void sgi_onnx_output(sgi_onnx *onnx, const char *name, sgi_onnx_type type)
{
    put_value(onnx, &onnx->outputs, 12, name, type);
}

void sgi_onnx_tensor(sgi_onnx *onnx, const char *name, sgi_onnx_type type, size_t rank,
                     const size_t *shape, const void *values)
{
    sgi_text *part = &onnx->part;
    size_t bytes = type == SG_ONNX_FLOAT ? 4 : 8;
    for (size_t k = 0; k < rank; k++) {
        put_number(part, 1, (int64_t)shape[k]); /* dims */
        bytes *= shape[k];
    }
    put_number(part, 2, type);
    put_text(part, 8, name);
    put_bytes(part, 9, values, bytes); /* raw_data: little-endian, as every machine here */
    put_message(&onnx->tensors, 5, part);
}

void sgi_onnx_node(sgi_onnx *onnx, const char *kind, const char *const *inputs, size_t count,
                   const char *output, const char *attribute, int64_t value)
{
    sgi_text *part = &onnx->part, *inner = &onnx->inner;
    for (size_t k = 0; k < count; k++)
        put_text(part, 1, inputs[k]);
    put_text(part, 2, output);
    put_text(part, 4, kind);
    if (attribute) {
        put_text(inner, 1, attribute);
        put_number(inner, 3, value); /* i */
        put_number(inner, 20, 2);    /* type: INT */
        put_message(part, 5, inner);
    }
    put_message(&onnx->nodes, 1, part);
}

/* The fields of a message, one list after the other, as one of another message. */
static void put_parts(sgi_text *to, int field, sgi_text *const *parts, size_t count)
{
    size_t size = 0;
    for (size_t k = 0; k < count; k++)
        size += parts[k]->size;
    put_varint(to, (uint64_t)field << 3 | FORM_BYTES);
    put_varint(to, size);
    for (size_t k = 0; k < count; k++) {
        sgi_text_bytes(to, parts[k]->data, parts[k]->size);
        if (parts[k]->status != SG_OK && to->status == SG_OK)
            to->status = parts[k]->status;
    }
}

sg_status sgi_onnx_write(sgi_onnx *onnx, const char *path, const char *name, const char *version,
                         const char *about, sg_diagnostic *diagnostic)
{
    static const size_t most = ((size_t)1 << 31) - (1 << 16); /* of every protocol-buffers file */
    sgi_text *part = &onnx->part, *inner = &onnx->inner, whole;
    sgi_text *const parts[] = {&onnx->nodes, part, &onnx->tensors, &onnx->inputs, &onnx->outputs};
    if (onnx->tensors.size > most)
        return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, path,
                             "the network is larger than the 2 GB that an ONNX file may have");
    sgi_text_begin(&whole, &onnx->nodes.allocator);
    put_number(&whole, 1, SG_ONNX_FORM);
    put_text(&whole, 2, "stablegrad");
    put_text(&whole, 3, version);
    put_text(&whole, 6, about);
    put_text(part, 2, name); /* of the graph */
    put_parts(&whole, 7, parts, sizeof parts / sizeof parts[0]);
    put_text(inner, 1, ""); /* the domain of ONNX's own operators */
    put_number(inner, 2, SG_ONNX_OPSET);
    put_message(&whole, 8, inner);
    sg_status status = whole.status;
    if (status == SG_OK)
        status = sgi_file_write(path, whole.data, whole.size, &whole.allocator, diagnostic);
    else
        (void)sgi_fail_file(diagnostic, status, path, "%s", sg_status_text(status));
    sgi_text_release(&whole);
    return status;
}
