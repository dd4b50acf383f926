/* Libraries below the program that do not look at what malloc returned, or look too late: when
 * memory runs out in one of them, the program says so and ends with 1, as if it had been killed.
 * What it wrote stays sound, and the last checkpoint is there to go on from. */
#ifndef SG_CLI_GUARD_H
#define SG_CLI_GUARD_H

/* To be called first. */
void guard_memory(void);

#endif
