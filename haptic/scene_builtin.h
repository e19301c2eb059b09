// Built-in scenes: the files of haptic/scenes as texts. CMake makes the table.
#ifndef TAC_HAPTIC_SCENE_BUILTIN_H
#define TAC_HAPTIC_SCENE_BUILTIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_scene_text {
	const char *name;
	const unsigned char *text;
	size_t bytes;
} tac_scene_text;

extern const tac_scene_text tac_scene_texts[]; // ends with a NULL name

#ifdef __cplusplus
}
#endif

#endif
