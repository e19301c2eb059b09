// Search path: the folders in which the dynamic linker looks for the libraries of the running program. A
// program that was linked through an installed Tactus (its CMake package or tactus.pc) has the folder of
// Tactus's helper programs among them, wherever Tactus was installed, because the libraries are static and do
// not know that place themselves.
#ifndef TAC_BASE_SEARCH_PATH_H
#define TAC_BASE_SEARCH_PATH_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes the path of the first executable regular file called `name` in these folders. False: there is none,
// it does not fit, or the process holds privileges that its user does not have (AT_SECURE): the user must not
// choose what it starts.
// Thread: setup.
bool tac_search_path_find(const char *name, char *out_path, size_t size);

#ifdef __cplusplus
}
#endif

#endif
