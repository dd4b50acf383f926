/* The version of the library; the build and the packages read it from here. */
#ifndef STABLEGRAD_VERSION_H
#define STABLEGRAD_VERSION_H

#define SG_VERSION_MAJOR 0
#define SG_VERSION_MINOR 1
#define SG_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* "major.minor.patch" of the library that is linked, which may differ from the header's. */
const char *sg_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
