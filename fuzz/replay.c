/* In place of libFuzzer, for every compiler: runs a fuzzer on the files of folders, and on as many
 * mutations of each as the first argument says. The mutations are the same every time. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 16, MOST_INPUTS = 512 };

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input inputs[MOST_INPUTS];
static size_t input_count;
static uint64_t state = 1;

static size_t below(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? (size_t)(state >> 11) % limit : 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_folder(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        FILE *file =
            names[i]->d_name[0] != '.' && input_count < MOST_INPUTS ? fopen(path, "rb") : NULL;
        uint8_t *data = file ? malloc(MOST_BYTES) : NULL;
        if (data)
            inputs[input_count++] = (input){data, fread(data, 1, MOST_BYTES, file)};
        if (file)
            (void)fclose(file);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* Cuts `length` bytes out at `at`, and puts those of `other` there. */
static size_t splice(uint8_t *data, size_t size, size_t at, size_t length, const uint8_t *other,
                     size_t more)
{
    if (size - length + more > MOST_BYTES)
        return size;
    memmove(data + at + more, data + at + length, size - at - length);
    memcpy(data + at, other, more);
    return size - length + more;
}

static size_t mutate(uint8_t *data, size_t size)
{
    static const char *const words[] = {"0",      "-1", "1e999", "null", "18446744073709551616",
                                        "\"",     "{",  "[",     "\n",   "\0",
                                        "<fuzz>", "nan"};
    uint8_t part[64];
    for (size_t rounds = 1 + below(4); rounds > 0; rounds--) {
        const input *other = &inputs[below(input_count)];
        const char *word = words[below(sizeof words / sizeof words[0])];
        size_t at = below(size + 1), left = size - at, length = below(left < 64 ? left + 1 : 64);
        size_t from = below(other->size + 1), most = other->size - from;
        switch (below(5)) {
        case 0:
            if (left)
                data[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            size = splice(data, size, at, length, (const uint8_t *)word, strlen(word));
            break;
        case 2:
            size = splice(data, size, at, length, data, 0);
            break;
        case 3:
            memcpy(part, data + at, length);
            size = splice(data, size, at, 0, part, length);
            break;
        default:
            size = splice(data, size, at, length, other->data + from, below(most < 64 ? most : 64));
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST_BYTES];
    long mutations = argc > 1 ? atol(argv[1]) : 0;
    for (int i = 2; i < argc; i++)
        read_folder(argv[i]);
    if (input_count == 0) {
        (void)fprintf(stderr, "no inputs\n");
        return 1;
    }
    for (size_t i = 0; i < input_count; i++) {
        LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
        for (long k = 0; k < mutations; k++) {
            memcpy(data, inputs[i].data, inputs[i].size);
            size_t size = mutate(data, inputs[i].size);
            uint8_t *exact = malloc(size ? size : 1); /* so that a byte too many is seen */
            if (!exact)
                return 1;
            memcpy(exact, data, size);
            LLVMFuzzerTestOneInput(exact, size);
            free(exact);
        }
    }
    for (size_t i = 0; i < input_count; i++)
        free(inputs[i].data);
    (void)printf("%zu inputs, %ld mutations of each\n", input_count, mutations);
    return 0;
}
