/* Jumps of a noisy series: see jump.h. */
#include "train/jump.h"

#include <math.h>

void sgi_jump_add(sgi_jump *jump, uint64_t step, double value)
{
    if (!isfinite(value) || value <= 0)
        return;
    jump->count += jump->count < SG_JUMP_VALUES;
    jump->level += (log(value) - jump->level) / (double)jump->count;
    if (jump->event == 0 || step > jump->event + SG_JUMP_STEPS || exp(jump->level) <= jump->highest)
        return;
    jump->highest = exp(jump->level);
    jump->highest_step = step;
}

void sgi_jump_event(sgi_jump *jump, uint64_t step)
{
    jump->event = step;
    jump->before = jump->highest = jump->count > 0 ? exp(jump->level) : INFINITY;
    jump->highest_step = step;
}

bool sgi_jumped(const sgi_jump *jump)
{
    return jump->event > 0 && jump->highest > SG_JUMP_FACTOR * jump->before;
}
