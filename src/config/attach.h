/* Files that a file names, as  {file: part.stl, sum: 0123456789abcdef}.
 *
 * A relative path starts at the folder of the file that it is written in. The resolved file has the
 * absolute path and the sum of the content: with a sum, a file that has changed is refused, and a
 * copy that lies beside the file under the attachment's name, as a run has it, is taken in its
 * place. */
#ifndef SG_CONFIG_ATTACH_H
#define SG_CONFIG_ATTACH_H

#include "config/document.h"
#include "files/attachment.h"

/* What is asked for. */
typedef struct sgi_attach {
    const char *what;           /* for messages: "a surface", "a reference" */
    const char *name;           /* of the copy, without its ending */
    const char *endings;        /* that the file's name may have, ".csv or .geojson" */
    const sgi_yaml *file, *sum; /* `sum` may be NULL */
} sgi_attach;

/* Finds and reads the file; the caller releases *data with the arena's allocator, whatever the
 * result. `source` is the file that relative paths start from. */
SG_CHECKED sg_status sgi_attach_read(const sgi_attach *wanted, sgi_reader *reader,
                                     const sgi_source *source, sgi_attachment *attachment,
                                     char **data, size_t *size);

/* Turns what a reader of the content has said into a mistake at the file's name. */
sg_status sgi_attach_refuse(const sgi_attach *wanted, sgi_reader *reader,
                            const sg_diagnostic *said);

#endif
