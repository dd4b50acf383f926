/* Small image data that tests make themselves: CIFAR-10 files of four classes that a network can
 * learn in a few steps, a bright quarter each, with noise. */
#ifndef SG_TESTS_IMAGES_H
#define SG_TESTS_IMAGES_H

/* Writes a CIFAR-10 file of `count` records with labels 0 to 3 in turn. Returns 0 on success. */
int images_write(const char *path, int count, unsigned seed);

#endif
