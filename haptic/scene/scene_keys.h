// Scene keys: the table of all keys that a scene file may have. The reader, the writer, and the test that
// compares it with docs/scene.md use it.
#ifndef TAC_HAPTIC_SCENE_SCENE_KEYS_H
#define TAC_HAPTIC_SCENE_SCENE_KEYS_H

#include "haptic/scene.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_scene_key_kind {
	TAC_KEY_NUMBER,  // double in [min, max]
	TAC_KEY_INTEGER, // int64_t in [min, max]
	TAC_KEY_FLAG,    // bool
	TAC_KEY_TEXT,    // char[size]
	TAC_KEY_VECTOR,  // tac_dvec3, each in [min, max]
	TAC_KEY_CHOICE,  // int, the index in choices
	TAC_KEY_MAP,     // a group
	TAC_KEY_LIST,    // min … max elements of a group, `size` bytes each; int32_t count at count_offset
} tac_scene_key_kind;

typedef struct tac_scene_group tac_scene_group;

typedef struct tac_scene_key {
	const char *name; // with its unit
	tac_scene_key_kind kind;
	size_t offset; // in the struct of its group
	size_t size;
	double min, max;
	const char *const *choices; // ends with NULL
	const tac_scene_group *group;
	size_t count_offset;
	uint32_t kinds; // bit k: a shape or effect of kind k has it; 0: every element has it
	bool required;
} tac_scene_key;

struct tac_scene_group {
	const char *noun;          // "a tool"
	const tac_scene_key *keys; // ends with a NULL name
	size_t size;               // of its struct
	void (*fill)(void *out);   // the defaults
};

// The group of the whole file.
// Thread: any.
const tac_scene_group *tac_scene_root(void);

// The group of a material.
// Thread: any.
const tac_scene_group *tac_scene_material_group(void);

// A material as numbers, in the order of its keys and without its name, and back. The numbers are at most
// TAC_LIVE_VALUES (haptic/live.h).
// Thread: RT.
void tac_scene_material_pack(const tac_material *material, double *out_values);
void tac_scene_material_unpack(const double *values, tac_material *out_material);

// The same for an effect, whose first number is its kind: only the keys of that kind. Unpack is false if the
// kind is unknown, and leaves name and tool.
// Thread: RT.
void tac_scene_effect_pack(const tac_effect *effect, double *out_values);
bool tac_scene_effect_unpack(const double *values, tac_effect *out_effect);

// The group of an effect.
// Thread: any.
const tac_scene_group *tac_scene_effect_group(void);

// Whether the element at `base` has `key`; for a shape or an effect this depends on its kind.
// Thread: any.
bool tac_scene_key_applies(const tac_scene_key *key, const void *base);

#ifdef __cplusplus
}
#endif

#endif
