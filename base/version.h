// Version: the release of Tactus that this library was built from, as major.minor.patch. The number has one
// source, project(VERSION) in the top CMakeLists.txt.
#ifndef TAC_BASE_VERSION_H
#define TAC_BASE_VERSION_H

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// "0.2.0", for example. A constant string, never NULL.
// Thread: any.
TAC_API const char *tac_version(void);

#ifdef __cplusplus
}
#endif

#endif
