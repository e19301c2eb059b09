// Shared by the scenarios of the guest. Each is a program that exits with 0 on success.
#ifndef TAC_TESTS_SYSTEM_GUEST_SCENARIO_H
#define TAC_TESTS_SYSTEM_GUEST_SCENARIO_H

#include "base/rng.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void vprint_line(const char *format, va_list rest)
{
	printf("guest:   ");
	vprintf(format, rest);
	printf("\n");
	fflush(stdout);
}

__attribute__((format(printf, 1, 2))) static inline void print_line(const char *format, ...)
{
	va_list rest;
	va_start(rest, format);
	vprint_line(format, rest);
	va_end(rest);
}

// Ends the scenario with a line unless `condition` is true; the text is what was expected.
__attribute__((format(printf, 2, 3))) static inline void require(bool condition, const char *format, ...)
{
	if (condition)
		return;
	va_list rest;
	va_start(rest, format);
	printf("guest:   expected: ");
	vprint_line(format, rest);
	va_end(rest);
	exit(1);
}

// Writes bytes that the virtual Falcon accepts as its firmware.
static inline void write_image(const char *path)
{
	tac_rng rng = tac_rng_seed(1, 1);
	FILE *file = fopen(path, "wb");
	require(file, "to write %s", path);
	for (int i = 0; i < 8492; i++) // as the vendor's
		fputc((int)tac_rng_below(&rng, 256), file);
	fclose(file);
}

// Starts a program; its output goes to the console.
static inline pid_t start(char *const *arguments)
{
	pid_t child = fork();
	if (child == 0) {
		execv(arguments[0], arguments);
		_exit(127);
	}
	return child;
}

// Kills it after `ms` milliseconds, while the caller uses it. The caller must still `stop` it.
static inline void kill_later(pid_t child, useconds_t ms)
{
	if (fork() == 0) {
		usleep(1000 * ms);
		kill(child, SIGKILL);
		_exit(0);
	}
}

// Kills it and waits for its end.
static inline void stop(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

#endif
