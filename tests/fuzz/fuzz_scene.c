// Any bytes as a scene: refused with one log line, or a scene that reads back as it was written.
#include "base/log.h"
#include "haptic/scene.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int lines;

static void count_line(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	(void)message;
	lines++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tac_scene *scene, *again;
	char *text = NULL;
	size_t bytes = 0;
	tac_log_set(count_line, NULL);
	lines = 0;
	if (tac_scene_parse((const char *)data, size, "input", &scene) < TAC_OK) {
		if (scene || lines != 1)
			abort();
		return 0;
	}
	FILE *file = open_memstream(&text, &bytes);
	if (!file || tac_scene_write(scene, file) != TAC_OK || fclose(file) != 0)
		abort();
	if (tac_scene_parse(text, bytes, "again", &again) != TAC_OK ||
	    memcmp(scene, again, sizeof *scene) != 0)
		abort();
	free(text);
	tac_scene_destroy(&again);
	tac_scene_destroy(&scene);
	return 0;
}
