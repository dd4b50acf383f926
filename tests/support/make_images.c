/* make_images FILE COUNT SEED: writes a small CIFAR-10 file, for tests of the program. */
#include <stdio.h>
#include <stdlib.h>

#include "support/images.h"

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: make_images FILE COUNT SEED\n");
        return 2;
    }
    return images_write(argv[1], atoi(argv[2]), (unsigned)atoi(argv[3]));
}
