/* A file with its overrides: what problem files and other kinds of files are read and written with.
 *
 * Reading: sgi_document_text, sgi_document_sources, sgi_document_tree, sgi_document_keys, then the
 * sections of the file and its options (options.h), sgi_document_name. Writing: a text that grows,
 * option by option. */
#ifndef SG_CONFIG_DOCUMENT_H
#define SG_CONFIG_DOCUMENT_H

#include "config/options.h"

/* Reads a whole file of at most SG_YAML_MOST_BYTES + 1 bytes; the caller releases the text,
 * whatever the result. SG_ERROR_IO with a diagnostic when it cannot be read. */
SG_CHECKED sg_status sgi_document_text(const char *path, const sg_allocator *allocator, char **text,
                                       size_t *size, sg_diagnostic *diagnostic);

/* Copies of a file's name and text in the arena, as the first of 1 + `overrides` sources; NULL when
 * memory runs out. */
sgi_source *sgi_document_sources(sgi_arena *arena, const char *name, const char *text, size_t size,
                                 size_t overrides);

/* The tree of sources[0], overrides applied and shorthands expanded. Each override is
 * "key.key=value"; its text is copied to sources[1] and so on. */
SG_CHECKED sg_status sgi_document_tree(sgi_reader *reader, sgi_source *sources,
                                       const char *const *overrides, size_t count, sgi_yaml **root);

/* Refuses keys of the root that no row of the table begins with. */
SG_CHECKED sg_status sgi_document_keys(sgi_reader *reader, const sgi_yaml *root);

/* The name that runs are called by: `name` as it was read, checked, or, if that is empty, the
 * file's own without folders and ending. */
SG_CHECKED sg_status sgi_document_name(sgi_reader *reader, const sgi_yaml *root,
                                       const sgi_source *source, const char **name);

/* ---- Paths -------------------------------------------------------------------------------- */

/* Finds the current folder, and the absolute folder of `file`, for paths in it. */
SG_CHECKED sg_status sgi_document_folders(sgi_reader *reader, const sgi_source *file);

/* The path that a scalar with text gives, absolute: a relative one starts at the folder of the file
 * that it is written in. SG_ERROR_FORMAT, after saying so, for one with control characters, in
 * `what`. */
SG_CHECKED sg_status sgi_document_path(sgi_reader *reader, const char *what, const sgi_yaml *node,
                                       const char **path);

/* FOLDER/PATH in the arena, or an absolute path itself; NULL when memory runs out. */
const char *sgi_document_join(sgi_arena *arena, const char *folder, const char *path);

/* ---- Writing ------------------------------------------------------------------------------ */

/* Text that grows; when memory runs out it remembers and writes nothing more. */
typedef struct sgi_writer {
    sg_allocator allocator;
    const sgi_names *names;
    char *text;
    size_t length, capacity;
    bool failed;
} sgi_writer;

__attribute__((format(printf, 2, 3))) void sgi_writer_put(sgi_writer *w, const char *format, ...);

/* An option's value. */
void sgi_writer_value(sgi_writer *w, const sgi_option *option, const void *base);

/* An option on a line of its own: the mappings of its path that the option written before, at path
 * `previous`, has not opened, then key and value. */
void sgi_writer_option(sgi_writer *w, const char *previous, const sgi_option *option,
                       const void *base);

/* The finished text, or SG_ERROR_MEMORY. */
SG_CHECKED sg_status sgi_writer_finish(sgi_writer *w, char **text);

#endif
