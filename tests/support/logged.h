// The last line that the library logged, and the number of lines.
#ifndef TAC_TESTS_SUPPORT_LOGGED_H
#define TAC_TESTS_SUPPORT_LOGGED_H

#include "base/log.h"

#include <stdio.h>

static char logged[1024];
static int logged_lines;

static inline void keep_logged(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	snprintf(logged, sizeof logged, "%s", message);
	logged_lines++;
}

#endif
