/* MATLAB's array files: arrays come back, damage is refused. The files are made here, byte by byte,
 * as the format's description has them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "files/mat.h"
#include "support/support.h"

enum { LIMIT = 1 << 20 };

typedef struct bytes {
    unsigned char data[4096];
    size_t size;
} bytes;

static void put(bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put32(bytes *b, uint32_t value)
{
    unsigned char at[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                           (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    put(b, at, 4);
}

/* An element: up to four bytes stand in its tag. */
static void put_element(bytes *b, uint32_t type, const void *data, size_t size)
{
    static const unsigned char zeros[8];
    if (size && size <= 4) {
        put32(b, type | (uint32_t)size << 16);
        put(b, data, size);
        put(b, zeros, 4 - size);
        return;
    }
    put32(b, type);
    put32(b, (uint32_t)size);
    put(b, data, size);
    put(b, zeros, (8 - size % 8) % 8);
}

typedef struct matrix {
    uint32_t flags;
    const char *name;
    int32_t shape[3];
    size_t rank;
    uint32_t type;
    const void *real, *imaginary; /* (size bytes) */
    size_t size;
} matrix;

static void put_matrix(bytes *b, const matrix *m)
{
    bytes inside = {.size = 0};
    uint32_t flags[2] = {m->flags, 0};
    put_element(&inside, 6, flags, 8);
    put_element(&inside, 5, m->shape, 4 * m->rank);
    put_element(&inside, 1, m->name, strlen(m->name));
    put_element(&inside, m->type, m->real, m->size);
    if (m->imaginary)
        put_element(&inside, m->type, m->imaginary, m->size);
    put32(b, 14);
    put32(b, (uint32_t)inside.size);
    put(b, inside.data, inside.size);
}

static void put_head(bytes *b)
{
    char head[128] = "MATLAB 5.0 MAT-file";
    memcpy(head + 124, "\x00\x01IM", 4);
    put(b, head, sizeof head);
}

static void put_compressed(bytes *b, const bytes *from)
{
    bytes to = {.size = 0};
    uLongf size = sizeof to.data;
    assert_int_equal(compress(to.data, &size, from->data, from->size), Z_OK);
    put32(b, 15);
    put32(b, (uint32_t)size);
    put(b, to.data, size);
}

static const double u[] = {1, 2, 3, 4, 5, 6}; /* (3, 2), column by column */
static const float re[] = {0.5f, -1}, im[] = {2, 0.25f};
static const int16_t whole[] = {-300, 7, 32767};
static const matrix matrices[] = {
    {6, "u", {3, 2}, 2, 9, u, NULL, sizeof u},
    {7 | 0x800, "h", {1, 2}, 2, 7, re, im, sizeof re},
    {10, "whole", {3, 1, 1}, 3, 3, whole, NULL, sizeof whole},
};

static void make(bytes *b, bool compressed)
{
    b->size = 0;
    put_head(b);
    for (size_t i = 0; i < 3; i++) {
        bytes one = {.size = 0};
        put_matrix(&one, &matrices[i]);
        if (compressed)
            put_compressed(b, &one);
        else
            put(b, one.data, one.size);
    }
}

static void check(const sgi_arrays *arrays)
{
    static const double expected[] = {1, 4, 2, 5, 3, 6};
    assert_int_equal(arrays->count, 4);
    const sgi_array *array = sgi_arrays_find(arrays, "u");
    assert_int_equal(array->rank, 2);
    assert_int_equal(array->shape[0], 3);
    assert_int_equal(array->shape[1], 2);
    assert_memory_equal(array->values, expected, sizeof expected);
    assert_true(sgi_arrays_find(arrays, "h.real")->values[0] == 0.5);
    assert_true(sgi_arrays_find(arrays, "h.imag")->values[1] == 0.25);
    array = sgi_arrays_find(arrays, "whole");
    assert_int_equal(array->rank, 3);
    assert_true(array->values[0] == -300 && array->values[2] == 32767);
}

static void arrays_come_back(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        bytes b;
        sgi_arrays arrays;
        make(&b, compressed);
        assert_ok(sgi_mat_parse(b.data, b.size, "a.mat", LIMIT, NULL, &arrays, NULL));
        check(&arrays);
        sgi_arrays_release(&arrays);
    }
}

/* Texts, cells and the like stand beside the arrays in many files. */
static void other_things_are_passed_over(void **state)
{
    (void)state;
    static const matrix text = {4, "word", {1, 3}, 2, 16, "abc", NULL, 3};
    bytes b = {.size = 0};
    sgi_arrays arrays;
    put_head(&b);
    put_matrix(&b, &text);
    put_matrix(&b, &matrices[0]);
    assert_ok(sgi_mat_parse(b.data, b.size, "a.mat", LIMIT, NULL, &arrays, NULL));
    assert_int_equal(arrays.count, 1);
    sgi_arrays_release(&arrays);
}

static void refuse(const bytes *b, size_t limit, const char *why)
{
    sgi_arrays arrays;
    sg_diagnostic diagnostic = {0};
    assert_status(sgi_mat_parse(b->data, b->size, "a.mat", limit, NULL, &arrays, &diagnostic),
                  SG_ERROR_FORMAT);
    assert_non_null(strstr(said(&diagnostic), why));
    assert_null(arrays.items);
}

static void what_is_not_read_says_why(void **state)
{
    (void)state;
    bytes b;
    make(&b, false);
    memcpy(b.data + 126, "MI", 2);
    refuse(&b, LIMIT, "big-endian");
    make(&b, false);
    b.data[125] = 2;
    refuse(&b, LIMIT, "not a MAT file of version 5 to 7");
    make(&b, false);
    memset(b.data + b.size, 0, 600 - b.size % 512);
    memcpy(b.data + 512, "\x89HDF\r\n\x1a\n", 8);
    b.size = 1024;
    refuse(&b, LIMIT, "version 7.3 (HDF5) is not read: save it with -v7, or as .npz");
    for (int compressed = 0; compressed < 2; compressed++) {
        make(&b, compressed);
        refuse(&b, 64, "larger than the limit");
    }
    matrix wrong = matrices[0];
    wrong.shape[0] = 4;
    b.size = 0;
    put_head(&b);
    put_matrix(&b, &wrong);
    refuse(&b, LIMIT, "do not agree with the number of bytes");
}

/* Cut anywhere but between two arrays, or with any bit changed: refused or read, and of compressed
 * arrays no changed value goes unnoticed. */
static void damage_is_noticed(void **state)
{
    (void)state;
    bytes b;
    sgi_arrays arrays;
    for (int compressed = 0; compressed < 2; compressed++) {
        make(&b, compressed);
        for (size_t cut = 0; cut < b.size; cut++) {
            unsigned char *part = malloc(cut ? cut : 1);
            memcpy(part, b.data, cut);
            sg_status status = sgi_mat_parse(part, cut, "a.mat", LIMIT, NULL, &arrays, NULL);
            assert_true(status == SG_ERROR_FORMAT || arrays.count < 4);
            sgi_arrays_release(&arrays);
            free(part);
        }
        for (size_t at = 128; at < b.size; at++)
            for (int change = 1; change < 256; change <<= 1) {
                b.data[at] = (unsigned char)(b.data[at] ^ change);
                sg_status status =
                    sgi_mat_parse(b.data, b.size, "a.mat", LIMIT, NULL, &arrays, NULL);
                assert_true(status == SG_OK || status == SG_ERROR_FORMAT);
                if (compressed && status == SG_OK && arrays.count == 4)
                    check(&arrays);
                sgi_arrays_release(&arrays);
                b.data[at] = (unsigned char)(b.data[at] ^ change);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back),
        cmocka_unit_test(other_things_are_passed_over),
        cmocka_unit_test(what_is_not_read_says_why),
        cmocka_unit_test(damage_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
