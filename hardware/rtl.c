#include "hardware/rtl.h"

#include "base/helper.h"
#include "base/log.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libtactus_rtl.so"

tac_result tac_rtl_load(const tac_rtl_api **out_api)
{
	*out_api = NULL;
	static const char *const places[] = {"../lib/tactus/" LIBRARY, "../hardware/" LIBRARY,
					     "../../hardware/" LIBRARY, NULL};
	const tac_helper_def def = {
		.variable = "TACTUS_RTL", .places = places, .installed = TAC_RTL_INSTALLED};
	char path[TAC_HELPER_PATH], reason[TAC_HELPER_PATH];
	if (!tac_helper_find_program(&def, path, reason, sizeof reason)) {
		tac_log(TAC_LOG_ERROR,
			"rtl: expected the gates of the chip, built where Verilator is installed (Debian: "
			"verilator): %s",
			reason);
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
