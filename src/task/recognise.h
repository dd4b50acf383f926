/* Telling an image task from a PDE problem. Apart from task.h, so that a program without networks
 * on images can say what a file is. */
#ifndef SG_TASK_RECOGNISE_H
#define SG_TASK_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>

#include "stablegrad/memory.h"

/* Whether the text is an image task: a mapping with the key `data` and without `coordinates`. A
 * text that cannot be read is not; where memory runs out, lines that begin with the keys decide. */
bool sgi_task_recognise(const char *text, size_t size, const sg_allocator *allocator);

#endif
