#include "haptic/scene/scene_check.h"

#include "haptic/scene/scene_keys.h"
#include "haptic/scene/scene_shapes.h"
#include "haptic/scene_builder.h"

#include "base/log.h"
#include "base/suggest.h"
#include "collision/solid.h"
#include "tissue/drill.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- checks across values ----

typedef struct checker {
	const tac_scene *scene;
	tac_scene_refuse *refuse;
	void *user;
} checker;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
refuse(const checker *c, const void *field, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	c->refuse(c->user, field, text);
	return false;
}

static bool check_reference(const checker *c, const char *material)
{
	const tac_scene *s = c->scene;
	if (*material == 0 || tac_scene_find_material(s, material) >= 0)
		return true;
	tac_suggestion suggestion = tac_suggestion_begin(material);
	for (int32_t i = 0; i < s->material_count; i++)
		tac_suggestion_offer(&suggestion, s->materials[i].name);
	return refuse(c, material, "expected the name of a material, found '%s'%s", material,
		      tac_suggestion_text(&suggestion));
}

static bool check_path(const checker *c, const tac_scene_point *path, int32_t count)
{
	for (int32_t i = 1; i < count; i++) {
		if (!(path[i].time_s > path[i - 1].time_s))
			return refuse(c, &path[i].time_s,
				      "expected a time after the point before (%g s), found '%g'",
				      path[i - 1].time_s, path[i].time_s);
	}
	return true;
}

static bool check_material(const checker *c, const tac_material *m)
{
	if (m->dynamic_friction > m->static_friction)
		return refuse(c, &m->dynamic_friction,
			      "expected at most the static friction (%g), found '%g'", m->static_friction,
			      m->dynamic_friction);
	if (m->texture == TAC_TEXTURE_GROOVES && !(tac_dvec3_length(m->texture_along) > 0))
		return refuse(c, &m->texture_along, "expected a direction, found one of no length");
	return true;
}

static bool check_materials(const checker *c)
{
	const tac_scene *s = c->scene;
	for (int32_t i = 0; i < s->material_count; i++) {
		const tac_material *m = &s->materials[i];
		if (tac_scene_find_material(s, m->name) != i)
			return refuse(c, m->name, "expected another name, found '%s' again", m->name);
		if (!check_material(c, m))
			return false;
	}
	return true;
}

static bool check_solids(const checker *c, const char *text, tac_solids *out_solids)
{
	char message[TAC_SOLIDS_MESSAGE];
	return tac_solids_decode(text, out_solids, message) >= TAC_OK || refuse(c, text, "%s", message);
}

static bool is_round(const tac_solid *solid)
{
	return solid->kind == TAC_SOLID_SPHERE || solid->kind == TAC_SOLID_CAPSULE;
}

// Checks solids, and that mesh files can be opened; their contents are checked when they are loaded.
static bool check_shapes(const checker *c, const tac_scene_shape *shapes, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		char path[2 * TAC_SCENE_TEXT + 2];
		tac_solids solids;
		if (shapes[i].kind == TAC_SCENE_SOLIDS && !check_solids(c, shapes[i].solids, &solids))
			return false;
		if (shapes[i].kind != TAC_SCENE_MESH)
			continue;
		tac_scene_mesh_path(c->scene, &shapes[i], path, sizeof path);
		if (access(path, R_OK) != 0)
			return refuse(c, shapes[i].file, "expected a mesh file, found '%s': %s", path,
				      strerror(errno));
	}
	return true;
}

// The burr is the tool's shape: rigid objects meet the shape, bodies that are drilled the burr.
static bool check_drill(const checker *c, const tac_scene_tool *t)
{
	const tac_scene_drill *d = &t->drill;
	const tac_scene_shape *shape = &t->shapes[0];
	if (!(d->radius_m > 0))
		return true;
	const bool ball = d->length_m == 0;
	const tac_dvec3 middle = tac_dvec3_make(0, 0, 0.5 * d->length_m);
	const bool same = t->shape_count == 1 && shape->radius_m == d->radius_m &&
			  shape->kind == (ball ? TAC_SCENE_SPHERE : TAC_SCENE_CYLINDER) &&
			  (ball || shape->height_m == d->length_m) &&
			  tac_dvec3_length(tac_dvec3_sub(shape->position_m, middle)) < 1e-9 &&
			  tac_dvec3_length(shape->rotation_rad) == 0;
	if (!same && ball)
		return refuse(c, &d->radius_m,
			      "expected the burr as the tool's only shape, {kind: sphere, radius_m: %g}, "
			      "found another",
			      d->radius_m);
	if (!same)
		return refuse(c, &d->radius_m,
			      "expected the burr as the tool's only shape, {kind: cylinder, radius_m: %g, "
			      "height_m: %g, position_m: [0, 0, %g]}, found another",
			      d->radius_m, d->length_m, middle.z);
	return true;
}

static bool check_tools(const checker *c)
{
	const tac_scene *s = c->scene;
	for (int32_t i = 0; i < s->tool_count; i++) {
		const tac_scene_tool *t = &s->tools[i];
		if (t->axes != 3 && t->axes != 6)
			return refuse(c, &t->axes, "expected 3 or 6, found '%d'", (int)t->axes);
		const tac_scene_needle *n = &t->needle;
		if (t->shape_count == 0 && !(n->length_m > 0))
			return refuse(c, t, "expected 'shapes' in a tool, found none");
		if (n->length_m > 0 && !(n->length_m > 4 * n->radius_m))
			return refuse(c, &n->radius_m,
				      "expected less than a quarter of the length (%g m), found '%g'",
				      n->length_m, n->radius_m);
		if (!check_shapes(c, t->shapes, t->shape_count) || !check_path(c, t->hand, t->hand_count) ||
		    !check_drill(c, t))
			return false;
	}
	return true;
}

static bool check_effect(const checker *c, const tac_effect *e)
{
	const bool has_region = e->kind == TAC_EFFECT_CONSTANT || e->kind == TAC_EFFECT_GRAVITY ||
				e->kind == TAC_EFFECT_VISCOUS || e->kind == TAC_EFFECT_VIBRATION;
	const bool directed = e->kind == TAC_EFFECT_LINE || e->kind == TAC_EFFECT_PLANE ||
			      e->kind == TAC_EFFECT_VIBRATION ||
			      (has_region && e->region == TAC_EFFECT_HALF_SPACE);
	if (directed && !(tac_dvec3_length(e->direction) > 0))
		return refuse(c, &e->direction, "expected a direction, found one of no length");
	if (has_region && e->region == TAC_EFFECT_BALL && !(e->radius_m > 0))
		return refuse(c, &e->region, "expected a 'radius_m' above 0 for a ball, found none");
	return true;
}

static bool check_effects(const checker *c)
{
	const tac_scene *s = c->scene;
	for (int32_t i = 0; i < s->effect_count; i++) {
		const tac_effect *e = &s->effects[i];
		if (!check_effect(c, e))
			return false;
		for (int32_t k = 0; k < i; k++) {
			if (strcmp(e->name, s->effects[k].name) == 0)
				return refuse(c, e->name, "expected another name, found '%s' again", e->name);
		}
		tac_suggestion suggestion = tac_suggestion_begin(e->tool);
		bool found = *e->tool == 0;
		for (int32_t k = 0; k < s->tool_count; k++) {
			tac_suggestion_offer(&suggestion, s->tools[k].name);
			found |= strcmp(e->tool, s->tools[k].name) == 0;
		}
		if (!found)
			return refuse(c, e->tool, "expected the name of a tool, found '%s'%s", e->tool,
				      tac_suggestion_text(&suggestion));
	}
	return true;
}

// Protected structures are spheres and capsules, whose distance has a closed form, or meshes.
static bool check_protect(const checker *c, const tac_scene_object *o)
{
	for (int32_t k = 0; k < o->protect_count; k++) {
		const tac_scene_structure *p = &o->protect[k];
		tac_solids solids;
		if ((p->shape_count > 0) == (*p->solids != 0))
			return refuse(c, p->name, "expected either 'solids' or 'shapes', found %s",
				      *p->solids ? "both" : "neither");
		if (!check_shapes(c, p->shapes, p->shape_count))
			return false;
		if (p->shape_count > 0)
			continue;
		if (!check_solids(c, p->solids, &solids))
			return false;
		bool round = true;
		for (int32_t i = 0; round && i < solids.count; i++)
			round = is_round(&solids.solid[i]);
		if (!round)
			return refuse(
				c, p->solids,
				"expected spheres and capsules, or 'shapes' in place of 'solids', found "
				"'%s'",
				p->solids);
	}
	return true;
}

// A material that is drilled, by name; "" stands for the default material.
static bool check_cut(const checker *c, const char *name)
{
	const tac_scene *s = c->scene;
	if (!check_reference(c, name))
		return false;
	const int32_t i = tac_scene_find_material(s, name);
	if (i >= 0 && (s->materials[i].cutting_energy_J_per_m3 > 0) != (s->materials[i].feed_m_per_N_s > 0))
		return true;
	return refuse(c, name,
		      "expected a material with either 'cutting_energy_J_per_m3' or 'feed_m_per_N_s', as one "
		      "that is drilled needs, found '%s'",
		      name);
}

// Whether the tool's exact distance from the surface of a drilled body is known: a ball, a capsule, a burr or
// a needle.
static bool can_meet_drilled(const tac_scene_tool *t)
{
	const tac_scene_shape *shape = &t->shapes[0];
	if (t->drill.radius_m > 0 || t->shape_count == 0)
		return true;
	if (t->shape_count != 1)
		return false;
	if (shape->kind != TAC_SCENE_SOLIDS)
		return shape->kind == TAC_SCENE_SPHERE || shape->kind == TAC_SCENE_CAPSULE;
	tac_solids solids;
	char message[TAC_SOLIDS_MESSAGE];
	return tac_solids_decode(shape->solids, &solids, message) >= TAC_OK && solids.count == 1 &&
	       is_round(&solids.solid[0]);
}

static bool check_drillable(const checker *c, const tac_scene_object *o)
{
	const tac_scene *s = c->scene;
	const tac_scene_drillable *d = &o->drillable;
	if (!(d->voxel_m > 0))
		return true;
	for (const tac_scene_object *other = s->objects; other < o; other++) {
		if (other->drillable.voxel_m > 0)
			return refuse(c, &d->voxel_m,
				      "expected one body that is drilled, found '%s' and '%s'", other->name,
				      o->name);
	}
	for (int32_t i = 0; i < s->tool_count; i++) {
		if (!can_meet_drilled(&s->tools[i]))
			return refuse(
				c, s->tools[i].name,
				"expected a sphere, a capsule or a drill as the tool of a scene with a body "
				"that is drilled, found '%s' of another shape",
				s->tools[i].name);
	}
	for (int32_t i = 0; i < s->tool_count; i++) {
		const double radius = s->tools[i].drill.radius_m, ratio = radius / d->voxel_m;
		if (radius > 0 && !(ratio >= TAC_DRILL_VOXELS_MIN && ratio <= TAC_DRILL_VOXELS_MAX))
			return refuse(
				c, &d->voxel_m,
				"expected voxels of %.2g to %.2g mm for the burr of '%s' with %g mm radius, "
				"found %g mm",
				1e3 * radius / TAC_DRILL_VOXELS_MAX, 1e3 * radius / TAC_DRILL_VOXELS_MIN,
				s->tools[i].name, 1e3 * radius, 1e3 * d->voxel_m);
	}
	if (o->path_count > 0)
		return refuse(c, &o->path[0].time_s,
			      "expected no path for a body that is drilled, found one");
	if (!check_cut(c, *d->material ? d->material : o->material))
		return false;
	for (int32_t i = 0; i < d->inside_count; i++) {
		tac_solids solids;
		const char *text = d->inside[i].solids;
		if (!check_cut(c, d->inside[i].material))
			return false;
		if (*text && !check_solids(c, text, &solids))
			return false;
	}
	return true;
}

// A material that yields, by name.
static bool check_soft(const checker *c, const char *name)
{
	if (!check_reference(c, name))
		return false;
	const int32_t i = tac_scene_find_material(c->scene, name);
	return (i >= 0 && c->scene->materials[i].young_Pa > 0) ||
	       refuse(c, name, "expected a material with 'young_Pa', as one that yields needs, found '%s'",
		      name);
}

static bool check_tissue(const checker *c, const tac_scene_object *o)
{
	const tac_scene *s = c->scene;
	const tac_scene_tissue *t = &o->tissue;
	if (!(t->spacing_m > 0))
		return true;
	int32_t before = 0;
	for (const tac_scene_object *other = s->objects; other < o; other++)
		before += other->tissue.spacing_m > 0;
	if (before == TAC_SCENE_SOFT)
		return refuse(c, &t->spacing_m, "expected at most %d bodies with tissue, found '%s' as well",
			      TAC_SCENE_SOFT, o->name);
	if (t->fixed_count == 0)
		return refuse(c, &t->spacing_m, "expected at least one place in 'fixed', found none");
	if (o->drillable.voxel_m > 0 || o->layers.list_count > 0)
		return refuse(c, &t->spacing_m,
			      "expected no 'tissue' in a body with 'drillable' or 'layers', found both");
	for (int32_t i = 0; i < s->tool_count; i++) {
		if (s->tools[i].needle.length_m > 0 || s->tools[i].drill.radius_m > 0)
			return refuse(c, &t->spacing_m,
				      "expected no needle and no drill beside tissue, found '%s'",
				      s->tools[i].name);
	}
	if (!check_soft(c, o->material))
		return false;
	for (int32_t i = 0; i < t->inside_count; i++) {
		tac_solids solids;
		if (!check_soft(c, t->inside[i].material) || !check_solids(c, t->inside[i].solids, &solids))
			return false;
	}
	return true;
}

static bool check_task(const checker *c)
{
	const tac_scene_task *t = &c->scene->task;
	bool found = *t->target == 0;
	tac_suggestion suggestion = tac_suggestion_begin(t->target);
	for (int32_t i = 0; i < c->scene->object_count; i++) {
		found = found || strcmp(c->scene->objects[i].name, t->target) == 0;
		tac_suggestion_offer(&suggestion, c->scene->objects[i].name);
	}
	if (!found)
		return refuse(c, t->target, "expected the name of an object, found '%s'%s", t->target,
			      tac_suggestion_text(&suggestion));
	bool removable = t->removed == 0;
	for (int32_t i = 0; i < c->scene->object_count; i++) {
		const tac_scene_drillable *d = &c->scene->objects[i].drillable;
		for (int32_t k = 0; k < d->inside_count; k++)
			removable = removable || d->inside[k].target;
	}
	if (!removable)
		return refuse(c, &t->removed, "expected a drillable body with `target: true`, found none");
	return check_reference(c, t->target_layer);
}

static bool check_objects(const checker *c)
{
	const tac_scene *s = c->scene;
	for (int32_t i = 0; i < s->object_count; i++) {
		const tac_scene_object *o = &s->objects[i];
		if (!check_shapes(c, o->shapes, o->shape_count) || !check_reference(c, o->material) ||
		    !check_path(c, o->path, o->path_count) || !check_protect(c, o) ||
		    !check_drillable(c, o) || !check_tissue(c, o))
			return false;
		const tac_scene_layers *layers = &o->layers;
		if (layers->list_count > 0 && !(tac_dvec3_length(layers->normal) > 0))
			return refuse(c, &layers->normal, "expected a direction, found one of no length");
		for (int32_t k = 0; k < layers->list_count; k++) {
			if (!check_reference(c, layers->list[k].material))
				return false;
		}
		for (int32_t k = 0; k < o->surface_count; k++) {
			if (!check_reference(c, o->surfaces[k].material))
				return false;
		}
	}
	return true;
}

bool tac_scene_check_values(const tac_scene *scene, tac_scene_refuse *refuse_field, void *user)
{
	const checker c = {scene, refuse_field, user};
	if (!check_materials(&c) || !check_tools(&c) || !check_objects(&c) || !check_effects(&c) ||
	    !check_task(&c))
		return false;
	for (int32_t i = 0; i < scene->camera_count; i++) {
		const tac_scene_camera *camera = &scene->cameras[i];
		const tac_dvec3 view = tac_dvec3_sub(camera->target_m, camera->eye_m);
		if (!(tac_dvec3_length(tac_dvec3_cross(view, camera->up)) > 0))
			return refuse(&c, &camera->eye_m,
				      "expected a view direction that is not parallel to 'up'");
	}
	return true;
}

// ---- checks of the values themselves, for scenes from code ----

// A walk over all fields of a scene, with the path of the current one, as in "objects[2].position_m".
typedef struct walk {
	char path[160];
	const void *wanted; // only find the path of this field; NULL: check all of them
	char message[512];  // of the first error; "": none
} walk;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
complain(walk *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(w->message, sizeof w->message, format, args);
	va_end(args);
	return false;
}

static bool check_text(walk *w, const tac_scene_key *key, const char *text)
{
	const size_t length = strnlen(text, key->size);
	if (length == key->size || (length == 0 && key->required))
		return complain(w, "expected a text of %s%zu bytes, found %s",
				key->required ? "1 to " : "up to ", key->size - 1, length ? "more" : "none");
	return true;
}

static bool check_number(walk *w, const tac_scene_key *key, double value)
{
	return (value >= key->min && value <= key->max) ||
	       complain(w, "expected a number from %g to %g, found '%g'", key->min, key->max, value);
}

static bool check_choice(walk *w, const tac_scene_key *key, int value)
{
	int count = 0;
	while (key->choices[count])
		count++;
	return (value >= 0 && value < count) ||
	       complain(w, "expected a choice from 0 to %d, found '%d'", count - 1, value);
}

// Checks one value that is neither a mapping nor a list.
static bool check_value(walk *w, const tac_scene_key *key, const void *value)
{
	const tac_dvec3 *v = value;
	switch (key->kind) {
	case TAC_KEY_NUMBER:
		return check_number(w, key, *(const double *)value);
	case TAC_KEY_INTEGER:
		return check_number(w, key, (double)*(const int64_t *)value);
	case TAC_KEY_VECTOR:
		return check_number(w, key, v->x) && check_number(w, key, v->y) && check_number(w, key, v->z);
	case TAC_KEY_TEXT:
		return check_text(w, key, value);
	case TAC_KEY_CHOICE:
		return check_choice(w, key, *(const int *)value);
	case TAC_KEY_FLAG:
	case TAC_KEY_MAP:
	case TAC_KEY_LIST:
		break;
	}
	return true;
}

static bool walk_group(walk *w, const tac_scene_group *group, const void *base);

static bool walk_list(walk *w, const tac_scene_key *key, const void *base)
{
	const int32_t count = *(const int32_t *)((const char *)base + key->count_offset);
	const size_t used = strlen(w->path);
	if (!(count >= key->min && count <= key->max))
		return complain(w, "expected %g to %g of them, found %d", key->min, key->max, (int)count);
	for (int32_t i = 0; i < count; i++) {
		snprintf(w->path + used, sizeof w->path - used, "[%d]", (int)i);
		if (!walk_group(w, key->group, (const char *)base + key->offset + (size_t)i * key->size))
			return false;
	}
	return true;
}

// A default may lie outside its range: 0 as a limit stands for the device's own.
static bool is_default(const tac_scene_group *group, const tac_scene_key *key, const void *base)
{
	void *defaults = calloc(1, group->size);
	bool same = false;
	if (defaults) {
		group->fill(defaults);
		same = memcmp((const char *)base + key->offset, (const char *)defaults + key->offset,
			      key->size) == 0;
	}
	free(defaults);
	return same;
}

// Visits the keys of a group. False: the walk is over, with a message or with the path that was wanted.
static bool walk_group(walk *w, const tac_scene_group *group, const void *base)
{
	const size_t used = strlen(w->path);
	for (const tac_scene_key *key = group->keys; key->name; key++) {
		const void *value = (const char *)base + key->offset;
		if (!tac_scene_key_applies(key, base))
			continue;
		snprintf(w->path + used, sizeof w->path - used, "%s%s", used ? "." : "", key->name);
		bool good;
		if (key->kind == TAC_KEY_MAP)
			good = walk_group(w, key->group, value);
		else if (key->kind == TAC_KEY_LIST)
			good = walk_list(w, key, base);
		else if (w->wanted)
			good = value != w->wanted;
		else
			good = check_value(w, key, value) ||
			       (key->kind <= TAC_KEY_INTEGER && is_default(group, key, base));
		if (!good)
			return false;
	}
	w->path[used] = 0;
	return true;
}

static void log_refusal(void *user, const void *field, const char *message)
{
	const tac_scene *scene = user;
	walk w = {.wanted = field};
	walk_group(&w, tac_scene_root(), scene);
	tac_log(TAC_LOG_ERROR, "scene '%s': %s: %s", scene->name, w.path, message);
}

tac_result tac_scene_check(const tac_scene *scene)
{
	walk w = {.wanted = NULL};
	if (!walk_group(&w, tac_scene_root(), scene)) {
		tac_log(TAC_LOG_ERROR, "scene '%.63s': %s: %s", scene->name, w.path, w.message);
		return TAC_ERROR_ARGUMENT;
	}
	return tac_scene_check_values(scene, log_refusal, (void *)(uintptr_t)scene) ? TAC_OK
										    : TAC_ERROR_ARGUMENT;
}

// An element that stands alone, for messages.
typedef struct element {
	const char *noun;
	const tac_scene_group *group;
	const void *base;
} element;

static void log_element(void *user, const void *field, const char *message)
{
	const element *e = user;
	walk w = {.wanted = field};
	walk_group(&w, e->group, e->base);
	tac_log(TAC_LOG_ERROR, "%s: %s: %s", e->noun, w.path, message);
}

// Whether each value of the element is in its range; otherwise one log line.
static bool check_ranges(const element *e)
{
	walk w = {.wanted = NULL};
	if (walk_group(&w, e->group, e->base))
		return true;
	tac_log(TAC_LOG_ERROR, "%s: %s: %s", e->noun, w.path, w.message);
	return false;
}

tac_result tac_scene_check_material(const tac_material *material)
{
	element e = {"material", tac_scene_material_group(), material};
	const checker c = {NULL, log_element, &e};
	return check_ranges(&e) && check_material(&c, material) ? TAC_OK : TAC_ERROR_ARGUMENT;
}

tac_result tac_effect_check(const tac_effect *effect)
{
	element e = {"effect", tac_scene_effect_group(), effect};
	const checker c = {NULL, log_element, &e};
	return check_ranges(&e) && check_effect(&c, effect) ? TAC_OK : TAC_ERROR_ARGUMENT;
}
