/* Safetensors: round trips, another writer's files, and files that must be refused. */
#include "files/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

static char folder[] = "/tmp/sg_safetensors_XXXXXX";
static char path[128], other[128];
sg_diagnostic diagnostic = {0};

static int open_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
    snprintf(other, sizeof other, "%s/b.safetensors", folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder); /* fails if a temporary file was left behind */
}

static const float floats[6] = {1, -2, 3.5f, 1e-30f, 5, 6};
static const double doubles[2] = {1e300, -0.0};
static const uint8_t bytes[3] = {0, 128, 255};
static const int64_t integers[2] = {INT64_MIN, 7};

static const sgi_tensor mixed[] = {
    {"features.0.weight", SG_TENSOR_F32, 3, {1, 2, 3}, floats},
    {"bytes", SG_TENSOR_U8, 1, {3}, bytes},
    {"exact \"quoted\" \xc3\xa9", SG_TENSOR_F64, 1, {2}, doubles},
    {"steps", SG_TENSOR_I64, 1, {2}, integers},
    {"scalar", SG_TENSOR_F32, 0, {0}, floats + 2},
    {"empty", SG_TENSOR_F32, 2, {0, 5}, NULL},
};
static const sgi_tensor_note notes[] = {{"format", "pt"}, {"step", "12"}};

static void write_mixed(void)
{
    assert_ok(sgi_safetensors_write(path, mixed, 6, notes, 2, &diagnostic));
}

static void expect_mixed(const char *file, size_t note_count)
{
    sgi_safetensors *handle;
    assert_ok(sgi_safetensors_open(&handle, file, NULL, &diagnostic));
    assert_int_equal(sgi_safetensors_count(handle), 6);
    for (size_t i = 0; i < 6; i++) {
        const sgi_tensor *found = sgi_safetensors_find(handle, mixed[i].name);
        assert_non_null(found);
        assert_int_equal(found->type, mixed[i].type);
        assert_int_equal(found->rank, mixed[i].rank);
        assert_memory_equal(found->shape, mixed[i].shape, found->rank * sizeof found->shape[0]);
        assert_int_equal((uintptr_t)found->data % 64, 0);
        size_t size = sgi_tensor_elements(found) * sgi_tensor_type_size(found->type);
        if (size)
            assert_memory_equal(found->data, mixed[i].data, size);
        assert_non_null(sgi_safetensors_at(handle, i));
    }
    assert_null(sgi_safetensors_at(handle, 6));
    assert_null(sgi_safetensors_find(handle, "features.0"));
    assert_int_equal(sgi_safetensors_note_count(handle), note_count);
    assert_string_equal(sgi_safetensors_note(handle, "step"), "12");
    assert_null(sgi_safetensors_note(handle, "absent"));
    assert_string_equal(sgi_safetensors_note_at(handle, 0)->key, "format");
    assert_null(sgi_safetensors_note_at(handle, note_count));
    sgi_safetensors_close(handle);
    sgi_safetensors_close(NULL);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    write_mixed();
    expect_mixed(path, 2);
    write_mixed(); /* over the old file */
    expect_mixed(path, 2);
    assert_ok(sgi_safetensors_write(path, NULL, 0, NULL, 0, &diagnostic));
    sgi_safetensors *handle;
    assert_ok(sgi_safetensors_open(&handle, path, NULL, &diagnostic));
    assert_int_equal(sgi_safetensors_count(handle), 0);
    assert_null(sgi_safetensors_note(handle, "step"));
    sgi_safetensors_close(handle);
}

static void another_program_reads_and_writes_it(void **state)
{
    (void)state;
    char command[512];
    if (system("python3 -c 'import json' 2>/dev/null") != 0)
        skip();
    write_mixed();
    snprintf(command, sizeof command, "python3 %s/graph/safetensors.py %s %s", SG_TEST_DATA, path,
             other);
    assert_int_equal(system(command), 0);
    expect_mixed(other, 3);
}

static void every_type_has_a_name_and_a_size(void **state)
{
    (void)state;
    const uint64_t data = 0x0123456789abcdef;
    for (int type = 0; type < SG_TENSOR_TYPES; type++) {
        sgi_tensor tensor = {"x", (sgi_tensor_type)type, 1, {1}, &data},
                   twice[2] = {tensor, tensor};
        sgi_safetensors *handle;
        twice[1].name = "bytes";
        twice[1].type = SG_TENSOR_U8;
        assert_ok(sgi_safetensors_write(path, twice, 2, NULL, 0, &diagnostic));
        assert_ok(sgi_safetensors_open(&handle, path, NULL, &diagnostic));
        const sgi_tensor *found = sgi_safetensors_find(handle, "x");
        assert_int_equal(found->type, type);
        assert_memory_equal(found->data, &data, sgi_tensor_type_size(found->type));
        sgi_safetensors_close(handle);
    }
    assert_string_equal(sgi_tensor_type_name(SG_TENSOR_BF16), "BF16");
    assert_int_equal(sgi_tensor_type_size(SG_TENSOR_BF16), 2);
    assert_string_equal(sgi_tensor_type_name(SG_TENSOR_TYPES), "unknown");
    assert_int_equal(sgi_tensor_type_size((sgi_tensor_type)-1), 0);
}

static void bad_tensors_are_not_written(void **state)
{
    (void)state;
    write_mixed();
    sgi_tensor bad[] = {
        {NULL, SG_TENSOR_F32, 1, {1}, floats},
        {"", SG_TENSOR_F32, 1, {1}, floats},
        {"__metadata__", SG_TENSOR_F32, 1, {1}, floats},
        {"\xff", SG_TENSOR_F32, 1, {1}, floats},
        {"a", SG_TENSOR_TYPES, 1, {1}, floats},
        {"a", SG_TENSOR_F32, 1, {1}, NULL},
        {"a", SG_TENSOR_F32, SG_TENSOR_RANK + 1, {1}, floats},
        {"a", SG_TENSOR_F32, 2, {SIZE_MAX, 3}, floats},
        {"a", SG_TENSOR_F64, 1, {SIZE_MAX / 4}, floats},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_status(sgi_safetensors_write(path, &bad[i], 1, NULL, 0, &diagnostic),
                      SG_ERROR_ARGUMENT);
        assert_true(diagnostic.message[0]);
    }
    sgi_tensor twice[] = {mixed[0], mixed[0]};
    assert_status(sgi_safetensors_write(path, twice, 2, NULL, 0, NULL), SG_ERROR_ARGUMENT);
    sgi_tensor_note same[] = {notes[0], notes[0]}, odd = {"\xff", "x"};
    assert_status(sgi_safetensors_write(path, mixed, 1, same, 2, NULL), SG_ERROR_ARGUMENT);
    assert_status(sgi_safetensors_write(path, mixed, 1, &odd, 1, NULL), SG_ERROR_ARGUMENT);
    assert_status(sgi_safetensors_write(NULL, mixed, 1, NULL, 0, NULL), SG_ERROR_ARGUMENT);
    assert_status(sgi_safetensors_write("/no/such/folder/x", mixed, 1, NULL, 0, &diagnostic),
                  SG_ERROR_IO);
    expect_mixed(path, 2); /* the old file has not been touched */
}

/* A file of that header (its true length in front, or `length`) and `data` zero bytes. */
static void write_raw(const char *header, uint64_t length, size_t data)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 8; i++)
        fputc((int)(length >> 8 * i & 255), file);
    fputs(header, file);
    for (size_t i = 0; i < data; i++)
        fputc(0, file);
    assert_int_equal(fclose(file), 0);
}

static void expect_refused(const char *part)
{
    sgi_safetensors *handle;
    assert_status(sgi_safetensors_open(&handle, path, NULL, &diagnostic), SG_ERROR_FORMAT);
    assert_null(handle);
    if (!strstr(said(&diagnostic), part))
        fail_msg("'%s' does not say '%s'", said(&diagnostic), part);
}

/* A header for tensors of F32, and the text that its refusal must contain. */
static const struct {
    const char *header;
    size_t data;
    const char *part;
} hostile[] = {
    {"", 0, "start with"},
    {"[]", 0, "start with"},
    {" {}", 0, "start with"},
    {"{", 0, "header:"},
    {"{\"a\":{},\"a\":{}}", 0, "duplicate"},
    {"{\"a\":\"\xff\"}", 0, "header:"},
    {"{\"a\":1}", 0, "is not {dtype"},
    {"{\"\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "is not {dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4, "is not {"},
    {"{\"a\":{\"type\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "no dtype"},
    {"{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "no dtype"},
    {"{\"a\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "unknown dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]}}", 4, "no shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "bad shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, "bad shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4, "rank"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     "disagree"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387905],\"data_offsets\":[0,4]}}", 4,
     "disagree"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "disagree"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4, "data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "data_offsets"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, "after the last"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "hole"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}",
     12, "overlaps"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
     4, "overlaps"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
     "header:"},
    {"{\"__metadata__\":[]}", 0, "not an object"},
    {"{\"__metadata__\":{\"step\":1}}", 0, "not a string"},
};

static void hostile_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        write_raw(hostile[i].header, strlen(hostile[i].header), hostile[i].data);
        expect_refused(hostile[i].part);
    }
    write_raw("{}", 3, 0);
    expect_refused("does not fit");
    write_raw("{}", UINT64_MAX, 0);
    expect_refused("does not fit");
    assert_int_equal(truncate(path, 7), 0);
    expect_refused("8 bytes");
    sgi_safetensors *handle;
    assert_status(sgi_safetensors_open(&handle, folder, NULL, &diagnostic), SG_ERROR_IO);
    assert_status(sgi_safetensors_open(&handle, "/no/such/file", NULL, &diagnostic), SG_ERROR_IO);
    assert_status(sgi_safetensors_open(NULL, path, NULL, NULL), SG_ERROR_ARGUMENT);
}

/* Deep nesting must end in a refusal, not in an exhausted stack. */
static void a_tower_of_brackets_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 1);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memcpy(text, "{\"a\":", 5);
    text[DEPTH] = 0;
    write_raw(text, DEPTH, 0);
    free(text);
    expect_refused("header:");
}

/* Every truncation of a good file is refused. */
static void truncated_files_are_refused(void **state)
{
    (void)state;
    write_mixed();
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    for (off_t size = info.st_size - 1; size >= 0; size--) {
        sgi_safetensors *handle;
        assert_int_equal(truncate(path, size), 0);
        assert_status(sgi_safetensors_open(&handle, path, NULL, NULL), SG_ERROR_FORMAT);
    }
}

static void put_file(const unsigned char *content, size_t size)
{
    FILE *file = fopen(other, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Every bit of the file in turn: it is refused, or what it says is what was written. */
static void no_flipped_bit_changes_what_is_read(void **state)
{
    (void)state;
    static unsigned char content[4096];
    write_mixed();
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(content, 1, sizeof content, file), refused = 0;
    assert_int_equal(fclose(file), 0);
    assert_true(size > 100 && size < sizeof content);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        sgi_safetensors *handle;
        content[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_file(content, size);
        content[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (sgi_safetensors_open(&handle, other, NULL, NULL) != SG_OK) {
            refused++;
            continue;
        }
        /* Its key alone may be damaged: the checksum is then a note like others. */
        size_t notes_now = sgi_safetensors_has_checksum(handle) ? 2 : 3;
        sgi_safetensors_close(handle);
        expect_mixed(other, notes_now);
    }
    assert_true(refused > 7 * size);
}

static sg_status open_mixed(const sg_allocator *allocator, void *context)
{
    (void)context;
    sgi_safetensors *handle;
    sg_status status = sgi_safetensors_open(&handle, path, allocator, &diagnostic);
    if (status == SG_OK)
        sgi_safetensors_close(handle);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    write_mixed();
    each_allocation_fails(open_mixed, NULL, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(another_program_reads_and_writes_it),
        cmocka_unit_test(no_flipped_bit_changes_what_is_read),
        cmocka_unit_test(every_type_has_a_name_and_a_size),
        cmocka_unit_test(bad_tensors_are_not_written),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(a_tower_of_brackets_is_refused),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
