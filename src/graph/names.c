/* The names of graph.h's lists. */
#include "base/list.h"
#include "stablegrad/graph.h"

const char *sg_act_name(sg_act act)
{
    static const char *const names[] = {SG_ACT_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_ACT_COUNT, (int)act);
}

const char *sg_norm_name(sg_norm norm)
{
    static const char *const names[] = {SG_NORM_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_NORM_COUNT, (int)norm);
}

const char *sg_init_name(sg_init init)
{
    static const char *const names[] = {SG_INIT_LIST(SGI_LIST_NAME)};
    return sgi_list_name(names, SG_INIT_COUNT, (int)init);
}

const char *sg_precision_name(sg_precision precision)
{
    static const char *const names[] = {SG_PRECISION_LIST(SGI_LIST_NAME, SGI_LIST_NAME)};
    return sgi_list_name(names, SG_PRECISION_COUNT, (int)precision);
}
