// Library: a vendor's shared library, loaded at run time, so that Tactus builds and starts without any SDK.
// If something is missing, the user gets a sentence that names it.
#ifndef TAC_DEVICES_VENDOR_LIBRARY_H
#define TAC_DEVICES_VENDOR_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A function to find, and where its pointer goes in the caller's structure of function pointers.
typedef struct tac_library_symbol {
	const char *name; // NULL ends a table
	size_t offset;
	bool optional; // if it is missing, its pointer is NULL
} tac_library_symbol;

// TAC_LIBRARY_SYMBOL(struct dhd_functions, dhdOpenID, false): the member has the function's name.
// clang-format off
#define TAC_LIBRARY_SYMBOL(type, member, is_optional) {#member, offsetof(type, member), is_optional}
// clang-format on

typedef enum tac_library_state {
	TAC_LIBRARY_LOADED,
	TAC_LIBRARY_MISSING, // none of the names exists
	TAC_LIBRARY_BROKEN,  // it exists, but does not load or lacks a function
} tac_library_state;

// Loads the library that the environment variable `variable` names or, without it, the first of `names`
// (ended by NULL) that exists, and fills the function pointers. A name without a slash is looked for in the
// system's library folders (library.c lists them), neither in LD_LIBRARY_PATH nor in the current
// folder; a relative path begins in tac_helper_folder. A file that other users can change is
// not loaded, and a privileged process ignores the variable and relative paths (base/helper.h). The library
// stays loaded until the process ends, because such libraries run threads. `out_reason` gets a sentence
// unless the state is LOADED. Thread: setup.
tac_library_state tac_library_load(const char *variable, const char *const *names,
				   const tac_library_symbol *symbols, void *out_functions, char *out_reason,
				   size_t reason_size);

#ifdef __cplusplus
}
#endif

#endif
