/* The checksum that this library's safetensors carry, over tensors and notes. Each step of it is a
 * bijection of the running value, so that a change of any eight bytes is always seen, and any other
 * damage but once in 2^64. It guards against damage, not against malice. */
#ifndef SG_FILES_CHECKSUM_H
#define SG_FILES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "files/safetensors.h"

/* The note's key, and the room for its value: 16 digits. */
#define SG_CHECKSUM_NOTE "stablegrad.checksum"
enum { SG_CHECKSUM_SIZE = 17 };

typedef struct sgi_checksum {
    uint64_t tensors; /* in the order of the file */
    uint64_t notes;   /* in any order: JSON objects have none */
} sgi_checksum;

/* Name, type, shape and data. */
void sgi_checksum_tensor(sgi_checksum *sum, const sgi_tensor *tensor);
void sgi_checksum_note(sgi_checksum *sum, const sgi_tensor_note *note);
void sgi_checksum_text(const sgi_checksum *sum, char text[SG_CHECKSUM_SIZE]);

#endif
