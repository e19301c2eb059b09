#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static void log_to_stderr(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	fprintf(stderr, "tactus: %s\n", message);
}

static tac_log_fn sink = log_to_stderr;
static void *sink_user;

void tac_log_set(tac_log_fn fn, void *user)
{
	sink = fn ? fn : log_to_stderr;
	sink_user = user;
}

void tac_log(tac_log_level level, const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	sink(sink_user, level, line);
}
