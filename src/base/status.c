/* Texts of the status codes, and the version. */
#include "stablegrad/status.h"

#include <stddef.h>

#include "stablegrad/version.h"

#define TEXT(x)     #x
#define QUOTE(x)    TEXT(x)
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *name;
    const char *text;
} table[] = {
#define SG_STATUS_ROW(code, text) {#code, text},
    SG_STATUS_LIST(SG_STATUS_ROW)
#undef SG_STATUS_ROW
};

static int known(sg_status status)
{
    return (int)status >= 0 && (size_t)status < COUNT_OF(table);
}

const char *sg_status_text(sg_status status)
{
    return known(status) ? table[status].text : "unknown status";
}

const char *sg_status_name(sg_status status)
{
    return known(status) ? table[status].name : "unknown";
}

const char *sg_version(void)
{
    return QUOTE(SG_VERSION_MAJOR) "." QUOTE(SG_VERSION_MINOR) "." QUOTE(SG_VERSION_PATCH);
}
