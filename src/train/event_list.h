/* The kinds of events in the training of a network on images, for those who record them and those
 * who read the record. */
#ifndef SG_TRAIN_EVENT_LIST_H
#define SG_TRAIN_EVENT_LIST_H

#include "base/list.h"

/* A row is as list.h has them; the last column is the name in the report. */
#define SG_EVENT_LIST(X)                                                                           \
    /* the training loss passed 100 times that of guessing */                                      \
    X(SG_EVENT_EXPLODED, "exploded")                                                               \
    /* an output or a gradient left the finite range */                                            \
    X(SG_EVENT_NOT_FINITE, "not_finite", "not_finite", "not finite")                               \
    /* every test image got the same class */                                                      \
    X(SG_EVENT_CONSTANT, "constant", "constant", "one class for all")                              \
    /* after one of these: the test loss is below that of guessing */                              \
    X(SG_EVENT_RECOVERED, "recovered")
typedef enum sgi_image_event_kind { SG_EVENT_LIST(SG_LIST_ENUM) } sgi_image_event_kind;
#define SG_EVENTS (0 SG_EVENT_LIST(SG_LIST_COUNT))

#endif
