#include "devices/vendor/library.h"

#include "base/helper.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMED_MAX (TAC_HELPER_PATH / 4)

static const char *const folders[] = {
	"/usr/local/lib",
	"/usr/local/lib/" TAC_LIBRARY_ARCHITECTURE,
	"/usr/lib/" TAC_LIBRARY_ARCHITECTURE,
	"/usr/lib64",
	"/usr/lib",
};

#define FOLDERS (int)(sizeof folders / sizeof *folders)

// Writes the path of the first existing file that `name` can mean; false if there is none.
static bool locate(const char *name, char out_path[TAC_HELPER_PATH])
{
	if (name[0] == '/') {
		snprintf(out_path, TAC_HELPER_PATH, "%s", name);
		return access(out_path, F_OK) == 0;
	}
	if (strchr(name, '/')) {
		char folder[TAC_HELPER_PATH / 2];
		const bool known = tac_helper_folder(folder, sizeof folder);
		snprintf(out_path, TAC_HELPER_PATH, "%s/%.*s", folder, NAMED_MAX, name);
		return known && !tac_helper_is_privileged() && access(out_path, F_OK) == 0;
	}
	for (int i = 0; i < FOLDERS; i++) {
		snprintf(out_path, TAC_HELPER_PATH, "%s/%s", folders[i], name);
		if (access(out_path, F_OK) == 0)
			return true;
	}
	return false;
}

// Loads the first library that exists. NULL with a reason: it must not or cannot be loaded; NULL without one:
// there is none. out_path is what was loaded.
static void *open_first(const char *const *names, char out_path[TAC_HELPER_PATH], char *out_reason,
			size_t reason_size)
{
	char found[TAC_HELPER_PATH];
	for (int i = 0; names[i]; i++) {
		if (!locate(names[i], found))
			continue;
		if (!tac_helper_check(found, out_path, out_reason, reason_size))
			return NULL;
		void *library = dlopen(out_path, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			snprintf(out_reason, reason_size, "expected to load %s, found: %s", found, dlerror());
		return library;
	}
	return NULL;
}

tac_library_state tac_library_load(const char *variable, const char *const *names,
				   const tac_library_symbol *symbols, void *out_functions, char *out_reason,
				   size_t reason_size)
{
	const char *named = secure_getenv(variable);
	const char *const only[2] = {named, NULL};
	const char *const *candidates = named && *named ? only : names;
	char path[TAC_HELPER_PATH];
	out_reason[0] = '\0';
	void *library = open_first(candidates, path, out_reason, reason_size);
	if (!library && out_reason[0])
		return TAC_LIBRARY_BROKEN;
	if (!library) {
		snprintf(out_reason, reason_size,
			 "expected the library %s, found none; install it in %s, or name its file in %s",
			 candidates[0], folders[0], variable);
		return TAC_LIBRARY_MISSING;
	}
	for (const tac_library_symbol *s = symbols; s->name; s++) {
		void *function = dlsym(library, s->name);
		if (!function && !s->optional) {
			snprintf(out_reason, reason_size, "expected the function %s in %s, found none",
				 s->name, path);
			return TAC_LIBRARY_BROKEN;
		}
		memcpy((char *)out_functions + s->offset, &function, sizeof function);
	}
	return TAC_LIBRARY_LOADED;
}
