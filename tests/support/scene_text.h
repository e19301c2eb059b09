// A scene as the text that tac_scene_write makes of it.
#ifndef TAC_TESTS_SUPPORT_SCENE_TEXT_H
#define TAC_TESTS_SUPPORT_SCENE_TEXT_H

#include "haptic/scene.h"

#include <stdio.h>
#include <unity.h>

// The caller frees it.
static inline char *scene_text(const tac_scene *scene)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_write(scene, file));
	fclose(file);
	return text;
}

#endif
