#include "base/log.h"
#include "haptic/scene.h"
#include "haptic/scene/scenes/assembly.yaml.h"
#include "haptic/scene/scenes/bone.yaml.h"
#include "haptic/scene/scenes/caries.yaml.h"
#include "haptic/scene/scenes/groove.yaml.h"
#include "haptic/scene/scenes/hands.yaml.h"
#include "haptic/scene/scenes/lumbar.yaml.h"
#include "haptic/scene/scenes/palpation.yaml.h"
#include "haptic/scene/scenes/peg.yaml.h"
#include "haptic/scene/scenes/sphere.yaml.h"
#include "haptic/scene/scenes/stylus.yaml.h"
#include "haptic/scene/scenes/tooth.yaml.h"

#include <stdio.h>
#include <string.h>

typedef struct scene_text {
	const char *name;
	const unsigned char *text;
	size_t bytes;
} scene_text;

// The files of haptic/scene/scenes, the default scene first.
static const scene_text texts[] = {
	{"sphere", sphere_yaml, sizeof sphere_yaml},
	{"stylus", stylus_yaml, sizeof stylus_yaml},
	{"peg", peg_yaml, sizeof peg_yaml},
	{"tooth", tooth_yaml, sizeof tooth_yaml},
	{"groove", groove_yaml, sizeof groove_yaml},
	{"assembly", assembly_yaml, sizeof assembly_yaml},
	{"hands", hands_yaml, sizeof hands_yaml},
	{"lumbar", lumbar_yaml, sizeof lumbar_yaml},
	{"caries", caries_yaml, sizeof caries_yaml},
	{"bone", bone_yaml, sizeof bone_yaml},
	{"palpation", palpation_yaml, sizeof palpation_yaml},
	{NULL, NULL, 0},
};

tac_result tac_scene_builtin(const char *name, tac_scene **out_scene)
{
	*out_scene = NULL;
	char names[256] = "";
	for (const scene_text *t = texts; t->name; t++) {
		if (strcmp(t->name, name) == 0)
			return tac_scene_parse((const char *)t->text, t->bytes, t->name, out_scene);
		const size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", t->name);
	}
	tac_log(TAC_LOG_ERROR, "scene: expected one of %s, found '%s'", names, name);
	return TAC_ERROR_ARGUMENT;
}

const char *tac_scene_builtin_name(int index)
{
	for (int i = 0; texts[i].name && index >= 0; i++) {
		if (i == index)
			return texts[i].name;
	}
	return NULL;
}
