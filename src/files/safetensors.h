/* Safetensors: named arrays in one file, as PyTorch users exchange weights.
 *
 * The format: 8 bytes, little-endian, the length of a JSON header; the header, an object
 * {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...} with an optional
 * "__metadata__" object of strings; then the bytes of the tensors. Offsets count from the end of
 * the header, and the tensors fill the rest of the file without holes or overlaps.
 *
 * The reader trusts nothing: every length, offset, shape and name is checked before it is used, and
 * a file that breaks a rule is refused with SG_ERROR_FORMAT and a diagnostic that says which. The
 * writer adds a checksum over tensors and notes as a further note, which the reader verifies and
 * does not count among the notes. The writer goes through file.h, so that a file of the final name
 * is always whole. */
#ifndef SG_FILES_SAFETENSORS_H
#define SG_FILES_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stablegrad/diagnostic.h"
#include "stablegrad/memory.h"
#include "stablegrad/status.h"

/* Every element type of the format: its name there, and its size in bytes. */
#define SG_TENSOR_TYPE_LIST(X)                                                                     \
    X(BOOL, 1)                                                                                     \
    X(U8, 1)                                                                                       \
    X(I8, 1)                                                                                       \
    X(F8_E5M2, 1)                                                                                  \
    X(F8_E4M3, 1)                                                                                  \
    X(I16, 2)                                                                                      \
    X(U16, 2)                                                                                      \
    X(F16, 2)                                                                                      \
    X(BF16, 2)                                                                                     \
    X(I32, 4)                                                                                      \
    X(U32, 4)                                                                                      \
    X(F32, 4)                                                                                      \
    X(F64, 8)                                                                                      \
    X(I64, 8)                                                                                      \
    X(U64, 8)

typedef enum sgi_tensor_type {
#define SG_TENSOR_TYPE_ENUM(name, size) SG_TENSOR_##name,
    SG_TENSOR_TYPE_LIST(SG_TENSOR_TYPE_ENUM)
#undef SG_TENSOR_TYPE_ENUM
        SG_TENSOR_TYPES
} sgi_tensor_type;

#define SG_TENSOR_RANK 8

/* One array. In a handle of the reader, `name` and `data` belong to the handle, and `data` is
 * aligned to 64 bytes. Rank 0 is a single element; a shape with a zero has none. */
typedef struct sgi_tensor {
    const char *name; /* UTF-8, unique in its file, not empty and not "__metadata__" */
    sgi_tensor_type type;
    size_t rank;                  /* 0 to SG_TENSOR_RANK */
    size_t shape[SG_TENSOR_RANK]; /* the first `rank` count */
    const void *data;             /* elements in row-major order; NULL only if there are none */
} sgi_tensor;

/* An entry of the "__metadata__" object. */
typedef struct sgi_tensor_note {
    const char *key;
    const char *value;
} sgi_tensor_note;

/* Bytes of an element; 0 for a value outside the list. */
size_t sgi_tensor_type_size(sgi_tensor_type type);

/* The name in the format, "F32"; "unknown" for a value outside the list. */
const char *sgi_tensor_type_name(sgi_tensor_type type);

/* The number of elements; SIZE_MAX when the product overflows. */
size_t sgi_tensor_elements(const sgi_tensor *tensor);

/* Writes a file of `count` tensors and `note_count` notes. The larger element types come first, in
 * the order given otherwise, so that every tensor lies aligned to its type. `diagnostic` (may be
 * NULL) says what is wrong when the result is not SG_OK. */
SG_CHECKED sg_status sgi_safetensors_write(const char *path, const sgi_tensor *tensors,
                                           size_t count, const sgi_tensor_note *notes,
                                           size_t note_count, sg_diagnostic *diagnostic);

/* The content of a file, read whole. */
typedef struct sgi_safetensors sgi_safetensors;

/* Reads and checks a file. `diagnostic` as above. */
SG_CHECKED sg_status sgi_safetensors_open(sgi_safetensors **handle, const char *path,
                                          const sg_allocator *allocator, sg_diagnostic *diagnostic);

/* NULL is allowed. */
void sgi_safetensors_close(sgi_safetensors *handle);

/* Whether the file carried a checksum, which then fits: those that are written here do. */
bool sgi_safetensors_has_checksum(const sgi_safetensors *handle);

/* The number of tensors, and tensor `index` in the order of the data; NULL past the end. */
size_t sgi_safetensors_count(const sgi_safetensors *handle);
const sgi_tensor *sgi_safetensors_at(const sgi_safetensors *handle, size_t index);

/* The tensor of that name, or NULL. */
const sgi_tensor *sgi_safetensors_find(const sgi_safetensors *handle, const char *name);

/* The number of notes, and note `index` in the order of the file; NULL past the end. */
size_t sgi_safetensors_note_count(const sgi_safetensors *handle);
const sgi_tensor_note *sgi_safetensors_note_at(const sgi_safetensors *handle, size_t index);

/* The value of the note of that key, or NULL. */
const char *sgi_safetensors_note(const sgi_safetensors *handle, const char *key);

#endif
