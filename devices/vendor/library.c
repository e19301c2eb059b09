#include "devices/vendor/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Opens the first library that exists; *out_broken is set if it does not load.
static void *open_first(const char *const *names, bool *out_broken, char *out_reason, size_t reason_size)
{
	for (int i = 0; names[i]; i++) {
		void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (library)
			return library;
		// dlerror reports a missing file in words only. A path can be checked; for a plain name,
		// which the loader searches for, the words must do.
		const char *error = dlerror();
		const bool absent = strchr(names[i], '/') ? access(names[i], F_OK) != 0
							  : strstr(error, "No such file") != NULL;
		if (!absent) {
			*out_broken = true;
			snprintf(out_reason, reason_size, "expected to load %s, found: %s", names[i], error);
			return NULL;
		}
	}
	return NULL;
}

tac_library_state tac_library_load(const char *variable, const char *const *names,
				   const tac_library_symbol *symbols, void *out_functions, char *out_reason,
				   size_t reason_size)
{
	const char *named = getenv(variable);
	const char *const only[2] = {named, NULL};
	const char *const *candidates = named && *named ? only : names;
	bool broken = false;
	out_reason[0] = '\0';
	void *library = open_first(candidates, &broken, out_reason, reason_size);
	if (!library && broken)
		return TAC_LIBRARY_BROKEN;
	if (!library) {
		snprintf(out_reason, reason_size,
			 "expected the library %s, found none; install it, or name its file in %s",
			 candidates[0], variable);
		return TAC_LIBRARY_MISSING;
	}
	for (const tac_library_symbol *s = symbols; s->name; s++) {
		void *function = dlsym(library, s->name);
		if (!function && !s->optional) {
			snprintf(out_reason, reason_size, "expected the function %s in %s, found none",
				 s->name, candidates[0]);
			return TAC_LIBRARY_BROKEN;
		}
		memcpy((char *)out_functions + s->offset, &function, sizeof function);
	}
	return TAC_LIBRARY_LOADED;
}
