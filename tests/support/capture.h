// Captures what a function writes to standard error, and how it ends, in a child process.
#ifndef TAC_TESTS_SUPPORT_CAPTURE_H
#define TAC_TESTS_SUPPORT_CAPTURE_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs `fn` in a child process and copies its standard error to `text` (truncated at size - 1, always
// terminated). Returns the wait status, or -1.
static inline int capture_stderr(void (*fn)(void), char *text, size_t size)
{
	int ends[2], status = -1;
	text[0] = 0;
	if (pipe(ends) != 0)
		return -1;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		fn();
		_exit(0);
	}
	close(ends[1]);
	size_t used = 0;
	ssize_t got;
	char rest[256];
	while ((got = used + 1 < size ? read(ends[0], text + used, size - 1 - used)
				      : read(ends[0], rest, sizeof rest)) > 0)
		if (used + 1 < size)
			used += (size_t)got;
	text[used] = 0;
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

#endif
