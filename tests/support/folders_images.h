/* Run folders of an image task as the trainer writes them, with made-up but lifelike content: a
 * network of 171 layers, of which one variant learns, one overflows, one recovers and one dies. */
#ifndef SG_TESTS_FOLDERS_IMAGES_H
#define SG_TESTS_FOLDERS_IMAGES_H

typedef enum image_kind {
    IMAGES_BATCHNORM,  /* learns to 41% */
    IMAGES_PLAIN,      /* explodes at step 58, is not finite at 392, fails at 411 */
    IMAGES_STABLEGRAD, /* explodes at step 64, recovers at 700, learns to 35% */
    IMAGES_SIGN        /* gives every image the same class */
} image_kind;

enum { IMAGES_STEPS = 3120, IMAGES_EPOCH = 312, IMAGES_LAYERS = 171 };

/* Writes a run of 3,120 steps, or what there is of it at `steps_done`, to a new folder. */
void folder_image_run(const char *folder, image_kind kind, int seed, int steps_done);

/* A comparison of the four. */
void folder_image_comparison(const char *folder, int seeds);

#endif
