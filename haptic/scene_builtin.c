#include "haptic/scene_builtin.h"

#include "base/log.h"
#include "haptic/scene.h"

#include <stdio.h>
#include <string.h>

tac_result tac_scene_builtin(const char *name, tac_scene **out_scene)
{
	*out_scene = NULL;
	char names[256] = "";
	for (const tac_scene_text *t = tac_scene_texts; t->name; t++) {
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
	for (int i = 0; tac_scene_texts[i].name && index >= 0; i++) {
		if (i == index)
			return tac_scene_texts[i].name;
	}
	return NULL;
}
