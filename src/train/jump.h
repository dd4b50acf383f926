/* Finds out whether a noisy positive series, a loss, jumps after an event. It compares the running
 * geometric mean before the event with the highest value that this mean reaches in the steps after
 * it. */
#ifndef SG_TRAIN_JUMP_H
#define SG_TRAIN_JUMP_H

#include <stdbool.h>
#include <stdint.h>

/* The mean is taken over about SG_JUMP_VALUES values. SG_JUMP_STEPS steps are watched after the
 * event, which is as long as Adam's second moment remembers. A rise by more than SG_JUMP_FACTOR is
 * a jump. */
enum { SG_JUMP_VALUES = 16, SG_JUMP_STEPS = 1000, SG_JUMP_FACTOR = 2 };

typedef struct sgi_jump {
    uint64_t event; /* the step of the newest event; 0: none yet */
    double before;  /* the mean then */
    double highest; /* after it */
    uint64_t highest_step;
    double level;   /* the logarithm of the mean now */
    uint64_t count; /* of the values in it */
} sgi_jump;

/* Adds a value; zero-initialise the struct first. Values that are not finite and positive are
 * passed over. */
void sgi_jump_add(sgi_jump *jump, uint64_t step, double value);

/* The event is between the value just added and the next. */
void sgi_jump_event(sgi_jump *jump, uint64_t step);

/* Whether the mean rose by more than SG_JUMP_FACTOR. */
bool sgi_jumped(const sgi_jump *jump);

#endif
