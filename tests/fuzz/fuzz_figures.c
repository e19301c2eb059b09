// Any bytes as the figures of a task and as the summary of a run: printed, or refused with exit code 2.
#include "apps/commands/commands.h"
#include "apps/commands/latency_compare.h"
#include "apps/session/options.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int code)
{
	if (code != EXIT_SUCCESS && code != EXIT_BAD_INPUT)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1, nowhere = -1, terminal = -1;
	static char path[48];
	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (fd < 0 || nowhere < 0 || terminal < 0 || !freopen("/dev/null", "w", stderr))
			abort();
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	char command[] = "task";
	fflush(stdout);
	dup2(nowhere, STDOUT_FILENO);
	expect(cmd_task(2, (char *[]){command, path, NULL}));
	expect(cmd_task(3, (char *[]){command, path, path, NULL}));
	expect(latency_compare(path, path));
	fflush(stdout);
	dup2(terminal, STDOUT_FILENO);
	return 0;
}
