#include "apps/session/standard_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool standard_output_wanted(const char *command, const output_option *files, int count, bool json,
			    bool *out_wanted)
{
	*out_wanted = false;
	for (int i = 0; i < count; i++) {
		if (!files[i].path || strcmp(files[i].path, "-") != 0)
			continue;
		if (!files[i].whole || json) {
			fprintf(stderr,
				"%s: %s: expected a file, found '-': standard output has the summary\n",
				command, files[i].name);
			return false;
		}
		*out_wanted = true;
	}
	return true;
}

int standard_output_lend(void)
{
	fflush(stdout);
	const int lent = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (lent >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return lent;
}

void standard_output_give_back(int lent)
{
	fflush(stdout);
	if (lent < 0)
		return;
	dup2(lent, STDOUT_FILENO);
	close(lent);
}
