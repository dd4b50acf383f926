/* In place of weights.c in a build without jansson: saving and loading say that they cannot. */

#include "base/diagnostic.h"
#include "pinn/pinn.h"

static sg_status refuse(sg_diagnostic *diagnostic, const char *path)
{
    return sgi_fail_file(diagnostic, SG_ERROR_UNSUPPORTED, path,
                         "this library was built without jansson, which weight files need");
}

sg_status sg_pinn_save(const sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    if (!p || !path)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    (void)p;
    return refuse(diagnostic, path);
}

sg_status sg_pinn_load(sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    if (!p || !path)
        return sgi_fail(diagnostic, SG_ERROR_ARGUMENT, "%s", sg_status_text(SG_ERROR_ARGUMENT));
    (void)p;
    return refuse(diagnostic, path);
}

sg_status sgi_pinn_start(sg_pinn *p, const char *path, sg_diagnostic *diagnostic)
{
    (void)p;
    return refuse(diagnostic, path);
}
