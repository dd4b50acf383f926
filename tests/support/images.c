/* Image data for tests: see images.h. */
#include "support/images.h"

#include <stdio.h>

enum { SIDE = 32, CLASSES = 4 };

/* The next of a fixed sequence of numbers, 0 to 255. */
static unsigned next_byte(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 24;
}

int images_write(const char *path, int count, unsigned seed)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return 1;
    for (int i = 0; i < count; i++) {
        int label = i % CLASSES;
        fputc(label, file);
        for (int plane = 0; plane < 3; plane++)
            for (int y = 0; y < SIDE; y++)
                for (int x = 0; x < SIDE; x++) {
                    int quarter = 2 * (y >= SIDE / 2) + (x >= SIDE / 2);
                    unsigned noise = next_byte(&seed) / 4;
                    fputc((int)(noise + (quarter == label ? 190u : 20u)), file);
                }
    }
    return fclose(file);
}
