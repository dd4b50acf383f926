/* What the values of the enumerations are called. */
#include "stablegrad/scale.h"

const char *sg_outcome_name(sg_outcome outcome)
{
    switch (outcome) {
    case SG_STEP_SCALED:
        return "scaled";
    case SG_STEP_INACTIVE:
        return "inactive";
    case SG_STEP_NO_REFERENCE:
        return "no reference";
    case SG_STEP_NOT_FINITE:
        return "not finite";
    }
    return "unknown";
}

const char *sg_handover_name(sg_handover handover)
{
    switch (handover) {
#define SG_HANDOVER_CASE(code, name)                                                               \
    case code:                                                                                     \
        return name;
        SG_HANDOVER_LIST(SG_HANDOVER_CASE)
#undef SG_HANDOVER_CASE
    }
    return "unknown";
}
