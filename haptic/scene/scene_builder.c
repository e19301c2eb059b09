#include "haptic/scene_builder.h"

#include "base/log.h"
#include "haptic/scene/scene_keys.h"

#include <stdlib.h>
#include <string.h>

// The list of that name in a group, NULL if it has none.
static const tac_scene_key *find_list(const tac_scene_group *group, const char *name)
{
	const tac_scene_key *key = group->keys;
	while (key->name && strcmp(key->name, name) != 0)
		key++;
	return key->name ? key : NULL;
}

bool tac_scene_set_text(char *field, size_t size, const char *text)
{
	const size_t length = text ? strlen(text) : size;
	if (length >= size) {
		tac_log(TAC_LOG_ERROR, "scene: expected a text below %zu bytes, found '%.64s'", size,
			text ? text : "NULL");
		return false;
	}
	memset(field, 0, size); // so that equal scenes are equal byte by byte
	memcpy(field, text, length);
	return true;
}

// The next free element of a list of the struct at `base`, with its defaults and its name, which is its first
// field; it counts once it is complete.
static void *add(const tac_scene_group *group, const char *list, void *base, const char *name)
{
	const tac_scene_key *key = find_list(group, list);
	int32_t *count = (int32_t *)((char *)base + key->count_offset);
	if (*count >= (int32_t)key->max) {
		tac_log(TAC_LOG_ERROR, "scene: expected at most %g %s, found another", key->max, list);
		return NULL;
	}
	void *element = (char *)base + key->offset + (size_t)*count * key->size;
	memset(element, 0, key->size);
	key->group->fill(element);
	if (name && *name == 0) {
		tac_log(TAC_LOG_ERROR, "scene: expected a name in %s, found none", list);
		return NULL;
	}
	if (name && !tac_scene_set_text(element, key->group->keys[0].size, name))
		return NULL;
	++*count;
	return element;
}

// No name counts as an empty one, which is refused.
static const char *name_of(const char *name)
{
	return name ? name : "";
}

static const tac_scene_group *group_of(const char *list)
{
	return find_list(tac_scene_root(), list)->group;
}

tac_result tac_scene_create(const char *name, tac_scene **out_scene)
{
	tac_scene *scene = calloc(1, sizeof *scene);
	*out_scene = NULL;
	if (!scene) {
		tac_log(TAC_LOG_ERROR, "scene: no memory");
		return TAC_ERROR_MEMORY;
	}
	tac_scene_root()->fill(scene);
	if (*name_of(name) == 0)
		tac_log(TAC_LOG_ERROR, "scene: expected a name, found none");
	if (*name_of(name) == 0 || !TAC_SCENE_SET(scene->name, name)) {
		free(scene);
		return TAC_ERROR_ARGUMENT;
	}
	*out_scene = scene;
	return TAC_OK;
}

tac_material *tac_scene_add_material(tac_scene *scene, const char *name)
{
	if (tac_scene_find_material(scene, name_of(name)) >= 0) {
		tac_log(TAC_LOG_ERROR, "scene: expected another name of a material, found '%s' again", name);
		return NULL;
	}
	return add(tac_scene_root(), "materials", scene, name_of(name));
}

tac_scene_tool *tac_scene_add_tool(tac_scene *scene, const char *name)
{
	return add(tac_scene_root(), "tools", scene, name_of(name));
}

tac_scene_object *tac_scene_add_object(tac_scene *scene, const char *name)
{
	return add(tac_scene_root(), "objects", scene, name_of(name));
}

tac_scene_camera *tac_scene_add_camera(tac_scene *scene, const char *name)
{
	return add(tac_scene_root(), "cameras", scene, name_of(name));
}

tac_effect *tac_scene_add_effect(tac_scene *scene, tac_effect_kind kind, const char *name)
{
	if ((int)kind < 0 || kind >= TAC_EFFECT_KIND_COUNT || *name_of(name) == 0) {
		tac_log(TAC_LOG_ERROR,
			"scene: expected a kind of effect from 0 to %d and a name, found %d, '%s'",
			TAC_EFFECT_KIND_COUNT - 1, (int)kind, name_of(name));
		return NULL;
	}
	tac_effect *effect = add(tac_scene_root(), "effects", scene, NULL);
	if (effect && !TAC_SCENE_SET(effect->name, name)) {
		scene->effect_count--;
		return NULL;
	}
	if (effect)
		effect->kind = (int)kind;
	return effect;
}

// ---- shapes ----

static tac_scene_shape *add_shape(const char *list, void *body, tac_scene_shape_kind kind)
{
	if ((int)kind < 0 || kind >= TAC_SCENE_SHAPE_KINDS) {
		tac_log(TAC_LOG_ERROR, "scene: expected a kind of shape from 0 to %d, found %d",
			TAC_SCENE_SHAPE_KINDS - 1, (int)kind);
		return NULL;
	}
	tac_scene_shape *shape = add(group_of(list), "shapes", body, NULL);
	if (shape)
		shape->kind = (int)kind;
	return shape;
}

static tac_scene_shape *add_mesh(const char *list, void *body, int32_t *count, const char *name,
				 const tac_mesh *mesh)
{
	tac_scene_shape *shape = add_shape(list, body, TAC_SCENE_MEMORY);
	if (!shape)
		return NULL;
	if (!TAC_SCENE_SET(shape->file, name)) {
		--*count;
		return NULL;
	}
	shape->mesh = mesh;
	return shape;
}

tac_scene_shape *tac_scene_tool_add_shape(tac_scene_tool *tool, tac_scene_shape_kind kind)
{
	return add_shape("tools", tool, kind);
}

tac_scene_shape *tac_scene_object_add_shape(tac_scene_object *object, tac_scene_shape_kind kind)
{
	return add_shape("objects", object, kind);
}

tac_scene_shape *tac_scene_tool_add_mesh(tac_scene_tool *tool, const char *name, const tac_mesh *mesh)
{
	return add_mesh("tools", tool, &tool->shape_count, name, mesh);
}

tac_scene_shape *tac_scene_object_add_mesh(tac_scene_object *object, const char *name, const tac_mesh *mesh)
{
	return add_mesh("objects", object, &object->shape_count, name, mesh);
}

void tac_scene_shape_set_mesh(tac_scene_shape *shape, const tac_mesh *mesh)
{
	shape->mesh = mesh;
}

// ---- paths and surfaces ----

bool tac_scene_object_add_point(tac_scene_object *object, tac_scene_point point)
{
	tac_scene_point *p = add(group_of("objects"), "path", object, NULL);
	if (p)
		*p = point;
	return p != NULL;
}

bool tac_scene_tool_add_point(tac_scene_tool *tool, tac_scene_point point)
{
	tac_scene_point *p = add(group_of("tools"), "hand", tool, NULL);
	if (p)
		*p = point;
	return p != NULL;
}

bool tac_scene_object_add_surface(tac_scene_object *object, const char *surface, const char *material)
{
	tac_scene_surface *s = add(group_of("objects"), "surfaces", object, name_of(surface));
	if (s && !TAC_SCENE_SET(s->material, material)) {
		object->surface_count--;
		return false;
	}
	return s != NULL;
}

// ---- names ----

int32_t tac_scene_find_tool(const tac_scene *scene, const char *name)
{
	for (int32_t i = 0; i < scene->tool_count; i++) {
		if (strcmp(scene->tools[i].name, name) == 0)
			return i;
	}
	return -1;
}

int32_t tac_scene_find_object(const tac_scene *scene, const char *name)
{
	for (int32_t i = 0; i < scene->object_count; i++) {
		if (strcmp(scene->objects[i].name, name) == 0)
			return i;
	}
	return -1;
}

int32_t tac_scene_find_material(const tac_scene *scene, const char *name)
{
	for (int32_t i = 0; i < scene->material_count; i++) {
		if (strcmp(scene->materials[i].name, name) == 0)
			return i;
	}
	return -1;
}

int32_t tac_scene_find_effect(const tac_scene *scene, const char *name)
{
	for (int32_t i = 0; i < scene->effect_count; i++) {
		if (strcmp(scene->effects[i].name, name) == 0)
			return i;
	}
	return -1;
}
