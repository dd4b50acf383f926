/* Any bytes as a .safetensors file: refused with a diagnostic, or tensors whose every byte can be
 * read and whose names find them again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned walk(const sgi_safetensors *file)
{
    unsigned sum = 0;
    for (size_t i = 0; i < sgi_safetensors_count(file); i++) {
        const sgi_tensor *tensor = sgi_safetensors_at(file, i);
        size_t bytes = sgi_tensor_elements(tensor) * sgi_tensor_type_size(tensor->type);
        if (sgi_safetensors_find(file, tensor->name) != tensor)
            abort();
        for (size_t k = 0; k < bytes; k++)
            sum += ((const unsigned char *)tensor->data)[k];
    }
    for (size_t i = 0; i < sgi_safetensors_note_count(file); i++) {
        const sgi_tensor_note *note = sgi_safetensors_note_at(file, i);
        sum += (unsigned)strlen(note->value);
        if (!sgi_safetensors_note(file, note->key))
            abort();
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    sgi_safetensors *file;
    sg_diagnostic diagnostic = {0};
    unsigned sum = 0;
    int memory = memfd_create("fuzz", 0);
    if (memory < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    if (write(memory, data, size) == (ssize_t)size) {
        if (sgi_safetensors_open(&file, path, NULL, &diagnostic) == SG_OK)
            sum += walk(file);
        else if (!diagnostic.message[0])
            abort();
        sgi_safetensors_close(file);
    }
    close(memory);
    return sum == 0x12345678 ? -1 : 0; /* so that the reads are not optimised away */
}
