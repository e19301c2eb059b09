// Any text as solids: refused with one log line, or solids whose mesh can be built.
#include "base/log.h"
#include "collision/solid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int lines;

static void count_line(void *user, tac_log_level level, const char *message)
{
	(void)user, (void)level, (void)message;
	lines++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[512];
	size = size < sizeof text ? size : sizeof text - 1;
	memcpy(text, data, size);
	text[size] = '\0';
	tac_log_set(count_line, NULL);
	lines = 0;
	tac_solids solids;
	if (tac_solids_parse(text, &solids) < TAC_OK) {
		if (lines != 1)
			abort();
		return 0;
	}
	if (solids.count < 1 || solids.count > TAC_SOLIDS_MAX)
		abort();
	for (int32_t i = 0; i < solids.count; i++) {
		if (!isfinite(solids.solid[i].radius) || !isfinite(solids.solid[i].position.x))
			abort();
	}
	return 0;
}
