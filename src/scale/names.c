/* The names of scale.h's lists. */
#include "base/list.h"
#include "stablegrad/scale.h"

const char *sg_method_name(sg_method method)
{
    static const char *const names[] = {SG_METHOD_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_METHOD_COUNT, (int)method);
}

const char *sg_reference_name(sg_reference reference)
{
    static const char *const names[] = {SG_REFERENCE_LIST(SGI_LIST_NAME, SGI_LIST_NAME)};
    return sgi_list_name(names, SG_REFERENCE_COUNT, (int)reference);
}

const char *sg_blocks_name(sg_blocks blocks)
{
    static const char *const names[] = {SG_BLOCKS_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_BLOCKS_COUNT, (int)blocks);
}

const char *sg_sharding_name(sg_sharding sharding)
{
    static const char *const names[] = {SG_SHARDING_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_SHARDING_COUNT, (int)sharding);
}

const char *sg_handover_name(sg_handover handover)
{
    static const char *const names[] = {SG_HANDOVER_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_HANDOVER_COUNT, (int)handover);
}

const char *sg_outcome_name(sg_outcome outcome)
{
    static const char *const names[] = {SG_OUTCOME_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_OUTCOME_COUNT, (int)outcome);
}
