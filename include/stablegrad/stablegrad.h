/* libstablegrad: StableGrad and the optimizers, for a training loop of one's own.
 *
 * Reading order: params.h (describe your memory), scale.h (the method), optim.h (the step),
 * schedule.h (the learning rate). All handles are opaque; the library keeps no global state, never
 * prints and never exits; distinct handles may be used from distinct threads at the same time. */
#ifndef STABLEGRAD_STABLEGRAD_H
#define STABLEGRAD_STABLEGRAD_H

#include "stablegrad/cpu.h"
#include "stablegrad/diagnostic.h"
#include "stablegrad/list.h"
#include "stablegrad/memory.h"
#include "stablegrad/optim.h"
#include "stablegrad/params.h"
#include "stablegrad/pool.h"
#include "stablegrad/ranks.h"
#include "stablegrad/scale.h"
#include "stablegrad/schedule.h"
#include "stablegrad/status.h"
#include "stablegrad/version.h"

#endif
