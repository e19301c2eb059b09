#include "hardware/rtl.h"

#include "base/log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libtactus_rtl.so"

// Whether the file exists, and nobody but root and the user could have put it there.
static bool is_trusted(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & S_IWOTH) == 0 &&
	       (status.st_uid == 0 || status.st_uid == geteuid());
}

// The file that TACTUS_RTL names, else the first of the stated folders that has it; always a full path, so
// that the loader searches nowhere.
static bool find_library(char out_path[PATH_MAX])
{
	const char *requested = secure_getenv("TACTUS_RTL");
	if (requested && *requested) {
		snprintf(out_path, PATH_MAX, "%s", requested);
		return requested[0] == '/' && is_trusted(out_path);
	}
	char folder[PATH_MAX / 2];
	const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
	folder[length > 0 ? length : 0] = 0;
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	static const char *const relative[] = {"../lib/tactus/" LIBRARY, "../hardware/" LIBRARY,
					       "../../hardware/" LIBRARY};
	for (size_t i = 0; slash && i < sizeof relative / sizeof *relative; i++) {
		snprintf(out_path, PATH_MAX, "%s/%s", folder, relative[i]);
		if (is_trusted(out_path))
			return true;
	}
	snprintf(out_path, PATH_MAX, "%s", TAC_RTL_INSTALLED);
	return is_trusted(out_path);
}

tac_result tac_rtl_load(const tac_rtl_api **out_api)
{
	*out_api = NULL;
	char path[PATH_MAX];
	if (!find_library(path)) {
		tac_log(TAC_LOG_ERROR,
			"rtl: expected the gates of the chip in %s, found none; they are built where "
			"Verilator is "
			"installed (Debian: verilator), and TACTUS_RTL may name the file by its full path",
			path);
		return TAC_ERROR_UNSUPPORTED;
	}
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const tac_rtl_api *(*plugin)(void) = NULL;
	void *symbol = library ? dlsym(library, "tac_rtl_plugin") : NULL;
	memcpy(&plugin, &symbol, sizeof plugin);
	if (!plugin) {
		tac_log(TAC_LOG_ERROR, "rtl: expected to load %s, found: %s", path, dlerror());
		return TAC_ERROR_UNSUPPORTED;
	}
	const tac_rtl_api *api = plugin();
	if (api->version != TAC_RTL_API_VERSION) {
		tac_log(TAC_LOG_ERROR, "rtl: expected version %d of the chip's gates in %s, found %d",
			TAC_RTL_API_VERSION, path, api->version);
		return TAC_ERROR_UNSUPPORTED;
	}
	*out_api = api;
	return TAC_OK;
}
