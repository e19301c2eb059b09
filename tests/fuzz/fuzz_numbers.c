// Any bytes as poses, motions and the path of a device: refused, or rows of finite numbers.
#include "apps/session/number_file.h"
#include "haptic/path.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_numbers(const char *path, int count, bool finite)
{
	const number_file_def def = {.command = "fuzz",
				     .path = path,
				     .content = "numbers",
				     .form = "numbers",
				     .count = count,
				     .finite = finite};
	number_file file;
	double row[32];
	if (number_file_open(&def, &file)) {
		while (number_file_next(&file, row) > 0) {
			for (int i = 0; i < count; i++) {
				if (finite && !isfinite(row[i]))
					abort();
			}
		}
	}
	number_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[48];
	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (fd < 0 || !freopen("/dev/null", "w", stderr)) // each refusal is a line
			abort();
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	read_numbers(path, 12, true);
	read_numbers(path, 19, false);
	tac_path_sample *samples;
	size_t count;
	if (tac_path_load(path, &samples, &count) == TAC_OK) {
		for (size_t i = 0; i < count; i++) {
			if (!isfinite(samples[i].T_base_tool.position.x) ||
			    (i > 0 && samples[i].time_ns <= samples[i - 1].time_ns))
				abort();
		}
	}
	free(samples);
	return 0;
}
