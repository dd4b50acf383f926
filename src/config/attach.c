/* Files that a file names: see attach.h. */
#include "config/attach.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "files/file.h"

/* The ending of a file's name in small letters, if it is one of `endings`. */
static bool ending_of(const char *path, const char *endings, char ending[16])
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    size_t length = dot ? strlen(dot) : 0;
    if (length < 2 || length > 15)
        return false;
    for (size_t i = 0; i <= length; i++)
        ending[i] = (char)tolower((unsigned char)dot[i]);
    const char *found = strstr(endings, ending);
    return found && !isalnum((unsigned char)found[length]);
}

static sg_status read_sum(sgi_reader *reader, const sgi_yaml *node, uint64_t *sum)
{
    char rest;
    if (node->kind == SG_YAML_SCALAR && node->length == 16 &&
        strspn(node->text, "0123456789abcdef") == 16 &&
        sscanf(node->text, "%16" SCNx64 "%c", sum, &rest) == 1)
        return SG_OK;
    return sgi_refuse(reader, node, "it may be left out",
                      "a sum has 16 digits of 0 to 9 and a to f");
}

/* The copy beside the file, if there is one with this sum. */
static bool read_copy(sgi_reader *reader, sgi_attachment *a, uint64_t sum, char **data,
                      size_t *size)
{
    const char *path = sgi_document_join(reader->arena, reader->file_folder, a->copy);
    const sg_allocator *allocator = &reader->arena->allocator;
    if (!path || sgi_file_read(path, SG_ATTACHMENT_BYTES, allocator, data, size, NULL) != SG_OK)
        return false;
    if (sgi_hash(SG_HASH_START, *data, *size) == sum) {
        a->place = path;
        return true;
    }
    sgi_release(allocator, *data);
    *data = NULL;
    return false;
}

static sg_status read_data(const sgi_attach *wanted, sgi_reader *reader, sgi_attachment *a,
                           char **data, size_t *size)
{
    sg_diagnostic said = {0};
    uint64_t sum = 0;
    sg_status status = wanted->sum ? read_sum(reader, wanted->sum, &sum) : SG_OK;
    if (status != SG_OK)
        return status;
    a->place = a->file;
    if (!wanted->sum || !read_copy(reader, a, sum, data, size)) {
        status = sgi_file_read(a->file, SG_ATTACHMENT_BYTES, &reader->arena->allocator, data, size,
                               &said);
        if (status == SG_ERROR_MEMORY)
            return status;
        if (status != SG_OK)
            return sgi_refuse(reader, wanted->file, NULL, "%.200s: %s", wanted->file->text,
                              said.message);
    }
    a->sum = sgi_hash(SG_HASH_START, *data, *size);
    if (wanted->sum && a->sum != sum)
        return sgi_refuse(reader, wanted->file,
                          "bring the old file back, or remove 'sum' to take the new one",
                          "%.200s has changed since this was written: its sum is %016" PRIx64,
                          wanted->file->text, a->sum);
    return SG_OK;
}

sg_status sgi_attach_read(const sgi_attach *wanted, sgi_reader *reader, const sgi_source *source,
                          sgi_attachment *a, char **data, size_t *size)
{
    const sgi_yaml *node = wanted->file;
    char ending[16];
    sg_status status = SG_OK;
    *data = NULL;
    *size = 0;
    if (node->kind != SG_YAML_SCALAR || node->length == 0)
        return sgi_refuse(reader, node, NULL, "this must be the name of a file");
    if (!reader->file)
        status = sgi_document_folders(reader, source);
    if (status == SG_OK)
        status = sgi_document_path(reader, wanted->what, node, &a->file);
    if (status != SG_OK)
        return status;
    if (!ending_of(a->file, wanted->endings, ending))
        return sgi_refuse(reader, node, NULL, "%s is read from a file that ends in %s",
                          wanted->what, wanted->endings);
    snprintf(a->copy, sizeof a->copy, "%.40s%s", wanted->name, ending);
    return read_data(wanted, reader, a, data, size);
}

sg_status sgi_attach_refuse(const sgi_attach *wanted, sgi_reader *reader, const sg_diagnostic *said)
{
    const char *name = wanted->file->text;
    const char *suggestion = said->suggestion[0] ? said->suggestion : NULL;
    if (said->line)
        return sgi_refuse(reader, wanted->file, suggestion, "%.120s, line %d: %s", name, said->line,
                          said->message);
    return sgi_refuse(reader, wanted->file, suggestion, "%.120s: %s", name, said->message);
}
