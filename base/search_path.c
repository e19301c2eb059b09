#include "base/search_path.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool tac_search_path_find(const char *name, char *out_path, size_t size)
{
	void *program = getauxval(AT_SECURE) ? NULL : dlopen(NULL, RTLD_LAZY);
	Dl_serinfo count;
	if (!program)
		return false;
	bool found = false;
	if (dlinfo(program, RTLD_DI_SERINFOSIZE, &count) == 0) {
		Dl_serinfo *folders = calloc(1, count.dls_size);
		// The first call fills in the sizes that the second one checks.
		if (folders && dlinfo(program, RTLD_DI_SERINFOSIZE, folders) == 0 &&
		    dlinfo(program, RTLD_DI_SERINFO, folders) == 0) {
			const Dl_serpath *folder = folders->dls_serpath;
			for (unsigned i = 0; i < folders->dls_cnt && !found; i++) {
				const int length =
					snprintf(out_path, size, "%s/%s", folder[i].dls_name, name);
				found = length > 0 && (size_t)length < size && is_program(out_path);
			}
		}
		free(folders);
	}
	dlclose(program);
	return found;
}
