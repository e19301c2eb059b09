// A hostile library and a hostile program: it leaves a file beside itself, NAME.loaded, when it is loaded or
// run.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_mark(void)
{
	static int here;
	Dl_info info;
	char path[4096] = "", mark[4200];
	// The name that the loader reports for a program is the one that it was called by.
	if (dladdr(&here, &info) && strstr(info.dli_fname, ".so"))
		snprintf(path, sizeof path, "%s", info.dli_fname);
	else if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
		return;
	snprintf(mark, sizeof mark, "%s.loaded", path);
	const int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	return 0;
}
