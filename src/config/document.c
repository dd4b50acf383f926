/* Reading a file with its overrides: see document.h. */
#include "config/document.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/file.h"

sg_status sgi_document_text(const char *path, const sg_allocator *allocator, char **text,
                            size_t *size, sg_diagnostic *diagnostic)
{
    return sgi_file_read(path, SG_YAML_MOST_BYTES, allocator, text, size, diagnostic);
}

sgi_source *sgi_document_sources(sgi_arena *arena, const char *name, const char *text, size_t size,
                                 size_t overrides)
{
    sgi_source *sources = sgi_arena_allocate(arena, overrides + 1, sizeof *sources);
    const char *name_copy = sgi_arena_text(arena, name, strlen(name));
    const char *text_copy = sgi_arena_text(arena, text, size);
    if (!sources || !name_copy || !text_copy)
        return NULL;
    sources[0] = (sgi_source){name_copy, text_copy, size};
    return sources;
}

static sg_status override(sgi_reader *reader, sgi_yaml *root, sgi_source *source, const char *text)
{
    size_t size = strlen(text);
    char *copy = sgi_arena_text(reader->arena, text, size);
    if (!copy)
        return SG_ERROR_MEMORY;
    *source = (sgi_source){"--set", copy, size};
    const char *equals = strchr(copy, '=');
    if (!equals || equals == copy || equals[1] == 0) {
        sgi_diagnostic_place(reader->diagnostic, source, 0, size);
        sgi_diagnostic_say(reader->diagnostic, "an override is written key=value");
        sgi_diagnostic_suggest(reader->diagnostic, "as in --set training.steps=2000");
        return SG_ERROR_FORMAT;
    }
    size_t length = (size_t)(equals - copy);
    sgi_yaml *value;
    sg_status status =
        sgi_yaml_parse(&value, source, length + 1, reader->arena, reader->diagnostic);
    if (status != SG_OK)
        return status;
    return sgi_yaml_put(root, copy, length, value, source, 0, reader->arena, reader->diagnostic);
}

sg_status sgi_document_tree(sgi_reader *reader, sgi_source *sources, const char *const *overrides,
                            size_t count, sgi_yaml **root)
{
    sg_status status = sgi_yaml_parse(root, &sources[0], 0, reader->arena, reader->diagnostic);
    if (status == SG_OK && (*root)->kind != SG_YAML_MAPPING) {
        sgi_yaml_place(reader->diagnostic, *root, 0, 0);
        sgi_diagnostic_say(reader->diagnostic, "%s is a mapping of keys to values",
                           reader->table->what);
        return SG_ERROR_FORMAT;
    }
    for (size_t i = 0; i <= count && status == SG_OK; i++) {
        status = sgi_options_expand(reader, *root);
        if (status == SG_OK && i < count)
            status = override(reader, *root, &sources[i + 1], overrides[i]);
    }
    return status;
}

/* An unknown key is reported before what is missing because of it. */
sg_status sgi_document_keys(sgi_reader *reader, const sgi_yaml *root)
{
    for (const sgi_yaml *key = root->first; key; key = key->next->next)
        if (!sgi_option_is_key(reader->table, key))
            return sgi_options_unknown(reader, "", reader->table->what, key, "");
    return SG_OK;
}

/* A file's name without folders and ending. */
static const char *stem(sgi_arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *begin = slash ? slash + 1 : name, *dot = strrchr(begin, '.');
    return sgi_arena_text(arena, begin, dot > begin ? (size_t)(dot - begin) : strlen(begin));
}

/* A name is part of folder names. */
sg_status sgi_document_name(sgi_reader *reader, const sgi_yaml *root, const sgi_source *source,
                            const char **name)
{
    if ((*name)[0] == 0) {
        *name = stem(reader->arena, source->name);
        return *name ? SG_OK : SG_ERROR_MEMORY;
    }
    bool printable = true;
    for (const char *c = *name; *c; c++)
        printable = printable && (unsigned char)*c >= ' ' && *c != 127;
    if (printable && !strchr(*name, '/') && (*name)[0] != '.' && strlen(*name) <= 60)
        return SG_OK;
    sgi_yaml_place(reader->diagnostic, sgi_yaml_get(root, "name"), 0, 0);
    sgi_diagnostic_say(reader->diagnostic, "'%.60s' cannot name a folder", *name);
    return SG_ERROR_FORMAT;
}

/* ---- Paths -------------------------------------------------------------------------------- */

sg_status sgi_document_folders(sgi_reader *reader, const sgi_source *file)
{
    char current[PATH_MAX], folder[2 * PATH_MAX];
    const char *name = file->name, *slash = strrchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : 0;
    if (!getcwd(current, sizeof current) || length >= PATH_MAX) {
        sgi_diagnostic_say(reader->diagnostic, "the current folder cannot be found");
        return SG_ERROR_IO;
    }
    size_t used = 0;
    if (name[0] != '/') {
        used = strlen(current);
        memcpy(folder, current, used);
        if (length)
            folder[used++] = '/';
    }
    memcpy(folder + used, name, length);
    used += length;
    reader->file = file;
    reader->current_folder = sgi_arena_text(reader->arena, current, strlen(current));
    reader->file_folder = sgi_arena_text(reader->arena, used ? folder : "/", used ? used : 1);
    return reader->current_folder && reader->file_folder ? SG_OK : SG_ERROR_MEMORY;
}

const char *sgi_document_join(sgi_arena *arena, const char *folder, const char *path)
{
    if (path[0] == '/')
        return sgi_arena_text(arena, path, strlen(path));
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    size_t size = strlen(folder) + strlen(path) + 2;
    char *joined = sgi_arena_allocate(arena, size, 1);
    if (joined)
        snprintf(joined, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                 path);
    return joined;
}

sg_status sgi_document_path(sgi_reader *reader, const char *what, const sgi_yaml *node,
                            const char **path)
{
    for (size_t i = 0; i < node->length; i++)
        if ((unsigned char)node->text[i] < ' ' || node->text[i] == 0x7f) {
            sgi_yaml_place(reader->diagnostic, node, 0, 0);
            sgi_diagnostic_say(reader->diagnostic, "a path in %s has a control character", what);
            return SG_ERROR_FORMAT;
        }
    const char *folder =
        node->source == reader->file ? reader->file_folder : reader->current_folder;
    *path = sgi_document_join(reader->arena, folder, node->text);
    return *path ? SG_OK : SG_ERROR_MEMORY;
}
