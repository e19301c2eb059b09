#include "apps/session/recorded_scene.h"

#include "apps/session/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *recorded_scene_file(const char *device)
{
	static const char driver[] = "playback:";
	return device && strncmp(device, driver, sizeof driver - 1) == 0 ? device + sizeof driver - 1 : NULL;
}

// ---- meshes ----

_Static_assert(TAC_SCENE_TOOLS + TAC_SCENE_OBJECTS <= TAC_RECORDING_MESHES, "every body may have a file");

bool recorded_scene_has_meshes(const char *command, const char *file, const tac_recording_scene *recorded,
			       const tac_world *world)
{
	uint64_t hash;
	const char *name;
	for (uint32_t i = 0; tac_world_file_hash(world, i, &hash, &name); i++) {
		if (i < recorded->mesh_count && recorded->mesh_hashes[i] == hash)
			continue;
		fprintf(stderr,
			"%s: %s: expected the mesh of '%s' with which it was recorded, found a changed one "
			"(--any-scene replays it all the same)\n",
			command, file, name);
		return false;
	}
	return true;
}

// ---- text ----

// The scene as YAML, which is the same text for the same scene. NULL after one line.
static char *text_of(const tac_scene *scene)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	const bool written = stream && tac_scene_write(scene, stream) == TAC_OK;
	if (stream && fclose(stream) == 0 && text && written) // without memory, closing can leave no text
		return text;
	fprintf(stderr, "tactus: scene '%s': expected memory for its text, found none\n", scene->name);
	free(text);
	return NULL;
}

bool recorded_scene_capture(const tac_world *world, const char *name, tac_recording_scene *out_scene,
			    char **out_memory)
{
	*out_scene = (tac_recording_scene){0};
	*out_memory = NULL;
	char *text = text_of(world->scene);
	if (!text)
		return false;
	char folder[PATH_MAX] = "";
	if (!realpath(world->scene->folder[0] ? world->scene->folder : ".", folder))
		folder[0] = '\0';
	const size_t name_bytes = strlen(name) + 1, folder_bytes = strlen(folder) + 1,
		     text_bytes = strlen(text) + 1;
	char *memory = malloc(name_bytes + folder_bytes + text_bytes);
	if (memory) {
		out_scene->name = memcpy(memory, name, name_bytes);
		out_scene->folder = memcpy(memory + name_bytes, folder, folder_bytes);
		out_scene->text = memcpy(memory + name_bytes + folder_bytes, text, text_bytes);
	} else {
		fprintf(stderr, "tactus: scene '%s': expected memory for its text, found none\n", name);
	}
	free(text);
	*out_memory = memory;
	while (tac_world_file_hash(world, out_scene->mesh_count,
				   &out_scene->mesh_hashes[out_scene->mesh_count], NULL))
		out_scene->mesh_count++;
	return memory != NULL;
}

// Mesh files are relative to the folder of the recorded scene, or lie beside a recording that was moved
// together with them.
bool recorded_scene_parse(const char *file, const tac_recording_scene *recorded, tac_scene **out_scene)
{
	const char *slash = strrchr(file, '/');
	char name[PATH_MAX + 64];
	if (recorded->folder[0] && access(recorded->folder, X_OK) == 0)
		snprintf(name, sizeof name, "%s/%s", recorded->folder, slash ? slash + 1 : file);
	else
		snprintf(name, sizeof name, "%s", file);
	return tac_scene_parse(recorded->text, strlen(recorded->text), name, out_scene) >= TAC_OK;
}

int recorded_scene_load(const char *command, const char *file, const tac_recording *recording,
			tac_scene **out_scene)
{
	*out_scene = NULL;
	if (!recording->scene.text) {
		fprintf(stderr,
			"%s: %s: expected a recording that contains its scene, found %s: name the "
			"scene that was touched\n",
			command, file,
			recording->version == 1 ? "one of version 1, which has none" : "one without");
		return EXIT_BAD_INPUT;
	}
	return recorded_scene_parse(file, &recording->scene, out_scene) ? EXIT_SUCCESS : EXIT_BAD_INPUT;
}

bool recorded_scene_matches(const char *command, const char *file, const tac_recording *recording,
			    const char *name, const tac_scene *scene)
{
	if (!recording->scene.text)
		return true; // nothing to compare with
	char *text = text_of(scene);
	const bool same = text && strcmp(text, recording->scene.text) == 0;
	if (text && !same)
		fprintf(stderr,
			"%s: %s: expected the scene in which it was recorded, '%s', found '%s' "
			"(--any-scene replays it all the same)\n",
			command, file, recording->scene.name, name);
	free(text);
	return same;
}
