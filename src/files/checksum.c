/* Checksums: see checksum.h. */
#include "files/checksum.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u; /* odd: the product can be undone */
    return sum ^ sum >> 32;
}

static uint64_t add_bytes(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = mix(sum, word);
    }
    word = (uint64_t)size << 56;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return mix(sum, word);
}

static uint64_t add_text(uint64_t sum, const char *text)
{
    return add_bytes(sum, text, strlen(text));
}

void sgi_checksum_tensor(sgi_checksum *sum, const sgi_tensor *tensor)
{
    uint64_t s = add_text(sum->tensors, tensor->name);
    s = mix(mix(s, (uint64_t)tensor->type), tensor->rank);
    for (size_t i = 0; i < tensor->rank; i++)
        s = mix(s, tensor->shape[i]);
    sum->tensors = add_bytes(s, tensor->data,
                             sgi_tensor_elements(tensor) * sgi_tensor_type_size(tensor->type));
}

void sgi_checksum_note(sgi_checksum *sum, const sgi_tensor_note *note)
{
    sum->notes += add_text(add_text(1, note->key), note->value);
}

void sgi_checksum_text(const sgi_checksum *sum, char text[SG_CHECKSUM_SIZE])
{
    snprintf(text, SG_CHECKSUM_SIZE, "%016" PRIx64, mix(sum->tensors, sum->notes));
}
