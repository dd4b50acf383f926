/* Writing .npz archives: see npz.h. A zip entry starts with a header that holds the checksum, so
 * each array is read twice, once for the checksum and once to be written; nothing is copied. */
#include "files/npz.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/diagnostic.h"
#include "base/memory.h"
#include "files/file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "array files are little-endian");

enum {
    NAME_MAX_LENGTH = 200,
    ENTRY_MAX = 65535,
    LOCAL_SIZE = 30,
    CENTRAL_SIZE = 46,
    END_SIZE = 22,
    HEADER_MAX = 512, /* of a .npy file, with SG_ARRAY_RANK sizes of 20 digits */
    DATE_1980 = 0x21  /* zip's first day */
};

typedef struct entry {
    char *name; /* with .npy */
    uint32_t crc, size, offset;
} entry;

struct sgi_npz {
    sg_allocator allocator;
    sgi_file *file;
    char *path;
    entry *entries; /* (capacity) */
    size_t count, capacity;
    uint64_t offset; /* bytes put so far */
};

static void store16(unsigned char *at, uint32_t value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void store32(unsigned char *at, uint32_t value)
{
    store16(at, value & 0xffff);
    store16(at + 2, value >> 16);
}

sg_status sgi_npz_create(sgi_npz **out, const char *path, const sg_allocator *given,
                         sg_diagnostic *diagnostic)
{
    *out = NULL;
    sgi_npz *npz = SGI_NEW(sgi_npz, given);
    if (!npz)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    npz->path = sgi_copy_text(&npz->allocator, path);
    sg_status status = npz->path
                           ? sgi_file_create(&npz->file, path, &npz->allocator, diagnostic)
                           : sgi_fail_file(diagnostic, SG_ERROR_MEMORY, path, "out of memory");
    if (status != SG_OK) {
        sgi_release(&npz->allocator, npz->path);
        sgi_release(&npz->allocator, npz);
        return status;
    }
    *out = npz;
    return SG_OK;
}

static void destroy(sgi_npz *npz)
{
    for (size_t i = 0; i < npz->count; i++)
        sgi_release(&npz->allocator, npz->entries[i].name);
    sgi_release(&npz->allocator, npz->entries);
    sgi_release(&npz->allocator, npz->path);
    sgi_release(&npz->allocator, npz);
}

void sgi_npz_abandon(sgi_npz *npz)
{
    if (!npz)
        return;
    sgi_file_abandon(npz->file);
    destroy(npz);
}

static const struct {
    const char *descr;
    size_t size;
} types[] = {[SG_ARRAY_FLOAT64] = {"<f8", 8},
             [SG_ARRAY_FLOAT32] = {"<f4", 4},
             [SG_ARRAY_INT64] = {"<i8", 8}};

/* The .npy header, padded so that the values start at a multiple of 64 bytes; returns its size. */
static size_t npy_header(char header[HEADER_MAX], sgi_array_type type, size_t rank,
                         const size_t *shape)
{
    size_t used = 10;
    used +=
        (size_t)snprintf(header + used, HEADER_MAX - used,
                         "{'descr': '%s', 'fortran_order': False, 'shape': (", types[type].descr);
    for (size_t i = 0; i < rank; i++)
        used += (size_t)snprintf(header + used, HEADER_MAX - used, "%zu%s", shape[i],
                                 rank == 1      ? ","
                                 : i + 1 < rank ? ", "
                                                : "");
    used += (size_t)snprintf(header + used, HEADER_MAX - used, "), }");
    size_t total = (used + 1 + 63) / 64 * 64;
    assert(total <= HEADER_MAX);
    memset(header + used, ' ', total - used);
    header[total - 1] = '\n';
    static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, magic, sizeof magic);
    store16((unsigned char *)header + 8, (uint32_t)(total - 10));
    return total;
}

static uint32_t checksum(uint32_t crc, const void *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

/* The fields that the local and the central header share, from the version on. */
static void common_fields(unsigned char *at, const entry *e)
{
    store16(at, 20); /* version needed to extract */
    store16(at + 8, DATE_1980);
    store32(at + 10, e->crc);
    store32(at + 14, e->size);
    store32(at + 18, e->size);
    store16(at + 22, (uint32_t)strlen(e->name));
}

static void put(sgi_npz *npz, const void *data, size_t size)
{
    sgi_file_put(npz->file, data, size);
    npz->offset += size;
}

static bool good_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= NAME_MAX_LENGTH && !strpbrk(name, "/\\");
}

/* A new entry at the end with its name set, or NULL. */
static entry *add_entry(sgi_npz *npz, const char *name)
{
    if (sgi_grow_array(&npz->allocator, &npz->entries, npz->count, &npz->capacity, 16,
                       sizeof *npz->entries) != SG_OK)
        return NULL;
    size_t length = strlen(name);
    entry *e = &npz->entries[npz->count];
    e->name = sgi_allocate(&npz->allocator, length + 5, 1);
    if (!e->name)
        return NULL;
    memcpy(e->name, name, length);
    memcpy(e->name + length, ".npy", 5);
    npz->count++;
    return e;
}

static bool has_entry(const sgi_npz *npz, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < npz->count; i++)
        if (strncmp(npz->entries[i].name, name, length) == 0 &&
            strcmp(npz->entries[i].name + length, ".npy") == 0)
            return true;
    return false;
}

/* Whether `count` values and the rest of the archive stay below zip's 4 GiB. */
static bool fits(const sgi_npz *npz, size_t rank, const size_t *shape, size_t size, size_t *count)
{
    *count = 1;
    for (size_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(*count, shape[i], count))
            return false;
    uint64_t directory = (npz->count + 1) * (uint64_t)(CENTRAL_SIZE + NAME_MAX_LENGTH + 8);
    uint64_t rest = npz->offset + directory + LOCAL_SIZE + NAME_MAX_LENGTH + 8 + HEADER_MAX;
    return rest < UINT32_MAX && *count <= (UINT32_MAX - rest) / size;
}

sg_status sgi_npz_add(sgi_npz *npz, const char *name, sgi_array_type type, size_t rank,
                      const size_t *shape, const void *values, sg_diagnostic *diagnostic)
{
    size_t count;
    if (rank > SG_ARRAY_RANK || (size_t)type >= sizeof types / sizeof types[0] || !good_name(name))
        return sgi_fail_file(diagnostic, SG_ERROR_ARGUMENT, npz->path,
                             "'%s' cannot be stored: bad name, type or rank", name);
    if (has_entry(npz, name))
        return sgi_fail_file(diagnostic, SG_ERROR_DUPLICATE, npz->path, "two arrays '%s'", name);
    if (npz->count == ENTRY_MAX || !fits(npz, rank, shape, types[type].size, &count))
        return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, npz->path,
                             "larger than 4 GiB with '%s'", name);
    entry *e = add_entry(npz, name);
    if (!e)
        return sgi_fail_file(diagnostic, SG_ERROR_MEMORY, npz->path, "out of memory");
    char header[HEADER_MAX];
    size_t head = npy_header(header, type, rank, shape), bytes = count * types[type].size;
    e->crc = checksum(checksum(0, header, head), values, bytes);
    e->size = (uint32_t)(head + bytes);
    e->offset = (uint32_t)npz->offset;
    unsigned char local[LOCAL_SIZE] = {'P', 'K', 3, 4};
    common_fields(local + 4, e);
    put(npz, local, sizeof local);
    put(npz, e->name, strlen(e->name));
    put(npz, header, head);
    put(npz, values, bytes);
    return SG_OK;
}

sg_status sgi_npz_commit(sgi_npz *npz, sg_diagnostic *diagnostic)
{
    uint32_t begin = (uint32_t)npz->offset;
    for (size_t i = 0; i < npz->count; i++) {
        unsigned char central[CENTRAL_SIZE] = {'P', 'K', 1, 2, 20};
        common_fields(central + 6, &npz->entries[i]);
        store32(central + 42, npz->entries[i].offset);
        put(npz, central, sizeof central);
        put(npz, npz->entries[i].name, strlen(npz->entries[i].name));
    }
    unsigned char end[END_SIZE] = {'P', 'K', 5, 6};
    store16(end + 8, (uint32_t)npz->count);
    store16(end + 10, (uint32_t)npz->count);
    store32(end + 12, (uint32_t)npz->offset - begin);
    store32(end + 16, begin);
    put(npz, end, sizeof end);
    sg_status status = sgi_file_commit(npz->file, diagnostic);
    destroy(npz);
    return status;
}
