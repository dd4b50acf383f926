/* NumPy's files: what is written is read back, what NumPy writes is read, what is damaged is
 * refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "files/npz.h"
#include "support/folders.h"
#include "support/support.h"

enum { LIMIT = 1 << 20 };

/* A small archive in memory with three arrays. The caller frees. */
static unsigned char *archive(size_t *size)
{
    static const double values[6] = {1, -2.5, 3e300, 4e-310, 5, 6};
    static const float singles[4] = {0.5f, -1, 2, 3};
    static const int64_t whole[2] = {-7, 1000000000000};
    static const size_t two[2] = {2, 3}, one[1] = {4}, three[3] = {1, 2, 1};
    char *folder = folder_temporary(), path[4096];
    (void)snprintf(path, sizeof path, "%s/a.npz", folder);
    sgi_npz *npz;
    assert_ok(sgi_npz_create(&npz, path, NULL, NULL));
    assert_ok(sgi_npz_add(npz, "u", SG_ARRAY_FLOAT64, 2, two, values, NULL));
    assert_ok(sgi_npz_add(npz, "singles", SG_ARRAY_FLOAT32, 1, one, singles, NULL));
    assert_ok(sgi_npz_add(npz, "whole", SG_ARRAY_INT64, 3, three, whole, NULL));
    assert_ok(sgi_npz_add(npz, "scalar", SG_ARRAY_FLOAT64, 0, NULL, values, NULL));
    assert_ok(sgi_npz_commit(npz, NULL));
    FILE *file = fopen(path, "rb");
    unsigned char *data = malloc(4096);
    *size = fread(data, 1, 4096, file);
    fclose(file);
    folder_remove(folder);
    return data;
}

static void arrays_come_back(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = archive(&size);
    sgi_arrays arrays;
    assert_ok(sgi_npz_parse(data, size, "a.npz", LIMIT, NULL, &arrays, NULL));
    assert_int_equal(arrays.count, 4);
    const sgi_array *u = sgi_arrays_find(&arrays, "u");
    assert_int_equal(u->rank, 2);
    assert_int_equal(u->shape[0], 2);
    assert_int_equal(u->shape[1], 3);
    assert_true(u->values[2] == 3e300 && u->values[3] == 4e-310 && u->values[1] == -2.5);
    assert_true(sgi_arrays_find(&arrays, "singles")->values[0] == 0.5);
    assert_true(sgi_arrays_find(&arrays, "whole")->values[1] == 1e12);
    assert_int_equal(sgi_arrays_find(&arrays, "whole")->rank, 3);
    assert_int_equal(sgi_arrays_find(&arrays, "scalar")->count, 1);
    assert_null(sgi_arrays_find(&arrays, "absent"));
    sgi_arrays_release(&arrays);
    free(data);
}

/* The layout that NumPy's own reader relies on. */
static void bytes_are_numpys(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = archive(&size);
    assert_memory_equal(data, "PK\x03\x04", 4);
    assert_memory_equal(data + 30, "u.npy", 5);
    assert_memory_equal(data + 35, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(data + 45, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                        59);
    assert_int_equal(data[35 + 127], '\n');
    double first;
    memcpy(&first, data + 35 + 128, 8);
    assert_true(first == 1);
    assert_non_null(memmem(data, size, "'shape': (4,), }", 16));
    assert_non_null(memmem(data, size, "'shape': (), }", 14));
    free(data);
}

/* A .npy file with the given header text and `bytes` bytes of values. */
static size_t npy(unsigned char *out, const char *header, const void *values, size_t bytes)
{
    size_t length = strlen(header);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)length;
    out[9] = (unsigned char)(length >> 8);
    memcpy(out + 10, header, length);
    memcpy(out + 10 + length, values, bytes);
    return 10 + length + bytes;
}

static void fortran_order_is_transposed(void **state)
{
    (void)state;
    static const float values[12] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    unsigned char file[512];
    size_t size = npy(file, "{\"shape\": (2,3,2), 'fortran_order': True, 'descr': '<f4'}\n", values,
                      sizeof values);
    sgi_arrays arrays;
    assert_ok(sgi_npz_parse(file, size, "a.npy", LIMIT, NULL, &arrays, NULL));
    assert_int_equal(arrays.count, 1);
    /* Element (i, j, k) lies at i + 2 j + 6 k in the file and holds its place in C order. */
    for (size_t i = 0; i < 12; i++)
        assert_true(arrays.items[0].values[i] == (double)i);
    sgi_arrays_release(&arrays);
}

static void other_types_are_read(void **state)
{
    (void)state;
    unsigned char file[512];
    static const struct {
        const char *descr;
        unsigned char bytes[8];
        size_t width;
        double value;
    } cases[] = {{"<i4", {0xfe, 0xff, 0xff, 0xff}, 4, -2},
                 {"|i1", {0xff}, 1, -1},
                 {"|u1", {0xff}, 1, 255},
                 {"|b1", {1}, 1, 1},
                 {"<i8", {3}, 8, 3},
                 {"<f4", {0, 0, 0x80, 0x3f}, 4, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char header[128];
        sgi_arrays arrays;
        (void)snprintf(header, sizeof header,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", cases[c].descr);
        size_t size = npy(file, header, cases[c].bytes, cases[c].width);
        assert_ok(sgi_npz_parse(file, size, "a.npy", LIMIT, NULL, &arrays, NULL));
        assert_true(arrays.items[0].values[0] == cases[c].value);
        sgi_arrays_release(&arrays);
    }
}

static void bad_headers_are_refused(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f8'}",
        "{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", /* too few bytes */
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()} ",  /* right: see below */
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296,4294967296)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
        "{'other': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8, 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,"};
    double value = 1;
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        unsigned char file[512];
        sg_diagnostic diagnostic = {0};
        sgi_arrays arrays;
        size_t size = npy(file, headers[i], &value, sizeof value);
        sg_status expected = i == 6 ? SG_OK : SG_ERROR_FORMAT;
        assert_status(sgi_npz_parse(file, size, "a.npy", LIMIT, NULL, &arrays, &diagnostic),
                      expected);
        assert_true(i == 6 || strncmp(said(&diagnostic), "a.npy: ", 7) == 0);
        sgi_arrays_release(&arrays);
    }
}

/* Cut anywhere, with any byte changed: refused or read, never a crash (the sanitizers watch), and a
 * changed value never goes unnoticed. */
static void damage_is_noticed(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = archive(&size);
    sgi_arrays arrays;
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, data, cut);
        assert_status(sgi_npz_parse(part, cut, "a.npz", LIMIT, NULL, &arrays, NULL),
                      SG_ERROR_FORMAT);
        free(part);
    }
    unsigned char *copy = malloc(size);
    for (size_t at = 0; at < size; at++)
        for (int change = 1; change < 256; change <<= 1) {
            memcpy(copy, data, size);
            copy[at] = (unsigned char)(copy[at] ^ change);
            sg_status status = sgi_npz_parse(copy, size, "a.npz", LIMIT, NULL, &arrays, NULL);
            bool in_content = at >= 35 && at < 35 + 128 + 48;
            assert_true(status == SG_OK || status == SG_ERROR_FORMAT);
            assert_true(!in_content || status == SG_ERROR_FORMAT);
            sgi_arrays_release(&arrays);
        }
    free(copy);
    free(data);
}

static void limits_hold(void **state)
{
    (void)state;
    size_t size;
    unsigned char *data = archive(&size);
    sgi_arrays arrays;
    size_t needed = (6 + 4 + 2 + 1) * sizeof(double);
    assert_ok(sgi_npz_parse(data, size, "a.npz", needed, NULL, &arrays, NULL));
    sgi_arrays_release(&arrays);
    assert_status(sgi_npz_parse(data, size, "a.npz", needed - 1, NULL, &arrays, NULL),
                  SG_ERROR_FORMAT);
    free(data);
}

static void store32(unsigned char *at, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(v >> 8 * i);
}

/* An archive of one deflated entry that claims `claimed` bytes. */
static size_t deflated(unsigned char *out, size_t capacity, const unsigned char *content,
                       size_t length, uint32_t claimed)
{
    memset(out, 0, capacity);
    z_stream stream = {.next_in = (unsigned char *)content,
                       .avail_in = (unsigned)length,
                       .next_out = out + 35,
                       .avail_out = (unsigned)(capacity - 35)};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, 0), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    uint32_t packed = (uint32_t)stream.total_out, crc = (uint32_t)crc32_z(0, content, length);
    assert_int_equal(deflateEnd(&stream), Z_OK);
    memcpy(out, "PK\x03\x04", 4);
    out[26] = 5;
    memcpy(out + 30, "v.npy", 5);
    unsigned char *central = out + 35 + packed, *end = central + 46 + 5;
    memcpy(central, "PK\x01\x02", 4);
    central[10] = 8;
    store32(central + 16, crc);
    store32(central + 20, packed);
    store32(central + 24, claimed);
    central[28] = 5;
    memcpy(central + 46, "v.npy", 5);
    memcpy(end, "PK\x05\x06", 4);
    end[8] = end[10] = 1;
    store32(end + 12, 51);
    store32(end + 16, 35 + packed);
    return 35 + packed + 51 + 22;
}

typedef struct deflated_file {
    unsigned char bytes[9000];
    size_t size;
    const double *values; /* (10, 100) */
} deflated_file;

static sg_status read_deflated(const sg_allocator *allocator, void *context)
{
    const deflated_file *file = context;
    sgi_arrays arrays;
    sg_status status =
        sgi_npz_parse(file->bytes, file->size, "v.npz", LIMIT, allocator, &arrays, NULL);
    if (status != SG_OK)
        return status;
    assert_int_equal(arrays.items[0].shape[1], 100);
    assert_memory_equal(arrays.items[0].values, file->values, 1000 * sizeof *file->values);
    sgi_arrays_release(&arrays);
    return SG_OK;
}

static void deflated_entries_are_read(void **state)
{
    (void)state;
    static double values[1000];
    static unsigned char content[9000];
    static deflated_file file = {.values = values};
    for (int i = 0; i < 1000; i++)
        values[i] = i % 10;
    size_t length = npy(content, "{'descr': '<f8', 'fortran_order': False, 'shape': (10, 100), }",
                        values, sizeof values);
    file.size = deflated(file.bytes, sizeof file.bytes, content, length, (uint32_t)length);
    assert_true(file.size < 1000);
    each_allocation_fails(read_deflated, &file, 1);
    sgi_arrays arrays;
    /* A claim that is not what comes out, and one that no deflate stream can keep. */
    static const uint32_t claims[] = {0, 100, 8061, 9000, 900000, 0xfffffffe};
    for (size_t c = 0; c < sizeof claims / sizeof claims[0]; c++) {
        file.size = deflated(file.bytes, sizeof file.bytes, content, length, claims[c]);
        assert_status(sgi_npz_parse(file.bytes, file.size, "v.npz", SIZE_MAX, NULL, &arrays, NULL),
                      SG_ERROR_FORMAT);
    }
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    char *folder = folder_temporary(), path[4096], name[300];
    sg_diagnostic diagnostic = {0};
    (void)snprintf(path, sizeof path, "%s/a.npz", folder);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    sgi_npz *npz;
    size_t one = 1, huge[2] = {SIZE_MAX, 2}, large = 600000000;
    double value = 1;
    assert_ok(sgi_npz_create(&npz, path, NULL, NULL));
    assert_ok(sgi_npz_add(npz, "u", SG_ARRAY_FLOAT64, 1, &one, &value, NULL));
    assert_status(sgi_npz_add(npz, "u", SG_ARRAY_FLOAT64, 1, &one, &value, &diagnostic),
                  SG_ERROR_DUPLICATE);
    assert_non_null(strstr(said(&diagnostic), "two arrays 'u'"));
    assert_status(sgi_npz_add(npz, "", SG_ARRAY_FLOAT64, 1, &one, &value, NULL), SG_ERROR_ARGUMENT);
    assert_status(sgi_npz_add(npz, "a/b", SG_ARRAY_FLOAT64, 1, &one, &value, NULL),
                  SG_ERROR_ARGUMENT);
    assert_status(sgi_npz_add(npz, name, SG_ARRAY_FLOAT64, 1, &one, &value, NULL),
                  SG_ERROR_ARGUMENT);
    assert_status(sgi_npz_add(npz, "v", SG_ARRAY_FLOAT64, 17, &one, &value, NULL),
                  SG_ERROR_ARGUMENT);
    assert_status(sgi_npz_add(npz, "v", SG_ARRAY_FLOAT64, 2, huge, &value, NULL),
                  SG_ERROR_UNSUPPORTED);
    assert_status(sgi_npz_add(npz, "v", SG_ARRAY_FLOAT64, 1, &large, &value, NULL),
                  SG_ERROR_UNSUPPORTED);
    sgi_npz_abandon(npz);
    sgi_npz_abandon(NULL);
    assert_status(sgi_npz_read(path, LIMIT, NULL, &(sgi_arrays){0}, &diagnostic), SG_ERROR_IO);
    folder_remove(folder);
}

static sg_status write_twenty(const sg_allocator *allocator, void *path)
{
    size_t one = 1;
    double value = 1;
    sgi_npz *npz;
    sg_status status = sgi_npz_create(&npz, path, allocator, NULL);
    for (int i = 0; i < 20 && status == SG_OK; i++) {
        char name[2] = {(char)('a' + i), 0};
        status = sgi_npz_add(npz, name, SG_ARRAY_FLOAT64, 1, &one, &value, NULL);
    }
    if (status == SG_OK)
        return sgi_npz_commit(npz, NULL);
    sgi_npz_abandon(npz);
    return status;
}

static void writing_allocations_fail_in_turn(void **state)
{
    (void)state;
    char *folder = folder_temporary(), path[4096];
    (void)snprintf(path, sizeof path, "%s/a.npz", folder);
    each_allocation_fails(write_twenty, path, 20);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_come_back),
        cmocka_unit_test(bytes_are_numpys),
        cmocka_unit_test(fortran_order_is_transposed),
        cmocka_unit_test(other_types_are_read),
        cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(deflated_entries_are_read),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(writing_allocations_fail_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
