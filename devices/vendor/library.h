// Library: a maker's shared library, loaded while the program runs, so that Tactus needs nobody's SDK to be
// built or started. What is missing becomes a sentence for the user.
#ifndef TAC_DEVICES_LIBRARY_H
#define TAC_DEVICES_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A function to find, and where its pointer goes in the caller's structure of function pointers.
typedef struct tac_library_symbol {
	const char *name; // NULL ends a table
	size_t offset;
	bool optional; // where it is missing, its pointer is NULL
} tac_library_symbol;

// TAC_LIBRARY_SYMBOL(struct dhd_functions, dhdOpenID, false): the member has the function's name.
#define TAC_LIBRARY_SYMBOL(type, member, is_optional)                                                        \
	{                                                                                                    \
#member, offsetof(type, member), is_optional                                                 \
	}

typedef enum tac_library_state {
	TAC_LIBRARY_LOADED,
	TAC_LIBRARY_MISSING, // none of the names is there
	TAC_LIBRARY_BROKEN,  // it is there, but does not load or lacks a function
} tac_library_state;

// Loads the library that the environment variable `variable` names, or else the first of `names` (a NULL ends
// them), and fills the function pointers. It stays loaded until the process ends: such libraries have
// threads. `out_reason` gets a sentence where the state is not LOADED. Thread: setup.
tac_library_state tac_library_load(const char *variable, const char *const *names,
				   const tac_library_symbol *symbols, void *out_functions, char *out_reason,
				   size_t reason_size);

#ifdef __cplusplus
}
#endif

#endif
