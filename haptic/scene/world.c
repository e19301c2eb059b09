#include "haptic/world.h"

#include "base/log.h"
#include "collision/solid.h"
#include "haptic/scene/scene_shapes.h"
#include "haptic/scene/world_field.h"
#include "haptic/scene/world_tissue.h"
#include "haptic/scene_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a body from its shapes ----

// The arrays of a mesh that is made from several.
typedef struct merge {
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles;
	int32_t *triangle_surface;
	const char **surface_names;
	int32_t vertex_count, triangle_count, surface_count;
} merge;

static bool merge_alloc(merge *m, const tac_mesh *const *meshes, int32_t count)
{
	size_t vertices = 0, triangles = 0, surfaces = 0;
	for (int32_t i = 0; i < count; i++) {
		vertices += (size_t)meshes[i]->vertex_count;
		triangles += (size_t)meshes[i]->triangle_count;
		surfaces += (size_t)meshes[i]->surface_count;
	}
	if (vertices > TAC_MESH_MAX || triangles > TAC_MESH_MAX)
		return false;
	m->vertices = malloc(vertices * sizeof *m->vertices);
	m->triangles = malloc(triangles * sizeof *m->triangles);
	m->triangle_surface = malloc(triangles * sizeof *m->triangle_surface);
	m->surface_names = malloc(surfaces * sizeof *m->surface_names);
	return m->vertices && m->triangles && m->triangle_surface && m->surface_names;
}

static void merge_free(merge *m)
{
	free(m->vertices);
	free(m->triangles);
	free(m->triangle_surface);
	free(m->surface_names);
}

static bool has_scale(const tac_scene_shape *shape)
{
	return shape->kind == TAC_SCENE_MESH || shape->kind == TAC_SCENE_MEMORY;
}

// A point of a shape's mesh in the body's frame.
static tac_dvec3 place_point(const tac_scene_shape *shape, tac_vec3 point)
{
	const double scale = has_scale(shape) ? shape->scale : 1;
	const tac_dpose T = tac_dpose_make(shape->position_m, tac_dquat_exp(shape->rotation_rad));
	return tac_dpose_apply_point(T, tac_dvec3_scale(tac_dvec3_from_vec3(point), scale));
}

static void merge_add(merge *m, const tac_mesh *mesh, const tac_scene_shape *shape)
{
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		tac_mesh_triangle *t = &m->triangles[m->triangle_count];
		for (int k = 0; k < 3; k++)
			t->vertex[k] = mesh->triangles[i].vertex[k] + m->vertex_count;
		m->triangle_surface[m->triangle_count++] = mesh->triangle_surface[i] + m->surface_count;
	}
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		m->vertices[m->vertex_count++] = tac_vec3_from_dvec3(place_point(shape, mesh->vertices[i]));
	for (int32_t i = 0; i < mesh->surface_count; i++)
		m->surface_names[m->surface_count++] = mesh->surfaces[i].name;
}

static tac_result merge_meshes(const char *name, const tac_mesh *const *meshes, const tac_scene_shape *shapes,
			       int32_t count, tac_mesh **out_mesh)
{
	merge m = {0};
	tac_result result = TAC_ERROR_MEMORY;
	if (merge_alloc(&m, meshes, count)) {
		for (int32_t i = 0; i < count; i++)
			merge_add(&m, meshes[i], &shapes[i]);
		tac_mesh_def def = tac_mesh_def_default();
		def.name = name;
		def.vertices = m.vertices;
		def.vertex_count = m.vertex_count;
		def.triangles = m.triangles;
		def.triangle_count = m.triangle_count;
		def.triangle_surface = m.triangle_surface;
		def.surface_names = m.surface_names;
		def.surface_count = m.surface_count;
		result = tac_mesh_build(&def, out_mesh);
	} else {
		tac_log(TAC_LOG_ERROR, "%s: no memory for the mesh", name);
	}
	merge_free(&m);
	return result;
}

static bool in_place(const tac_scene_shape *shape)
{
	return tac_dvec3_length(shape->position_m) == 0 && tac_dvec3_length(shape->rotation_rad) == 0 &&
	       (!has_scale(shape) || shape->scale == 1);
}

static tac_result build_mesh(const tac_scene *scene, const char *name, const tac_scene_shape *shapes,
			     int32_t count, tac_world_body *body)
{
	tac_mesh *meshes[TAC_SCENE_SHAPES] = {0};
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < count && result >= TAC_OK; i++) {
		result = tac_scene_shape_mesh(scene, &shapes[i], &meshes[i]);
		if (result >= TAC_OK && meshes[i]->vertex_count > 0)
			body->probes[body->probe_count++] = place_point(&shapes[i], meshes[i]->vertices[0]);
	}
	if (result >= TAC_OK && count == 1 && in_place(&shapes[0])) {
		body->mesh = meshes[0];
		return TAC_OK;
	}
	if (result >= TAC_OK)
		result = merge_meshes(name, (const tac_mesh *const *)meshes, shapes, count, &body->mesh);
	for (int32_t i = 0; i < count; i++)
		tac_mesh_destroy(&meshes[i]);
	return result;
}

// ---- materials ----

static int32_t material_index(const tac_world *world, const char *name)
{
	return *name ? tac_scene_find_material(world->scene, name) : world->material_count - 1;
}

static tac_result assign_materials(tac_world *world, const tac_scene_object *object, tac_world_body *body)
{
	const tac_mesh *mesh = body->mesh;
	body->surface_material = malloc(((size_t)mesh->surface_count + 1) * sizeof *body->surface_material);
	if (!body->surface_material) {
		tac_log(TAC_LOG_ERROR, "%s: no memory for the materials", object->name);
		return TAC_ERROR_MEMORY;
	}
	for (int32_t i = 0; i < mesh->surface_count; i++)
		body->surface_material[i] = material_index(world, object->material);
	for (int32_t k = 0; k < object->surface_count; k++) {
		const tac_scene_surface *s = &object->surfaces[k];
		const int32_t number = (int32_t)(object - world->scene->objects);
		int32_t i = tac_world_find_surface(world, number, s->name, -1);
		const bool found = i >= 0;
		for (; i >= 0; i = tac_world_find_surface(world, number, s->name, i))
			body->surface_material[i] = material_index(world, s->material);
		if (!found) {
			tac_log(TAC_LOG_ERROR,
				"%s: expected the name of a surface of its mesh (the first is '%s'), "
				"found '%s'",
				object->name, mesh->surface_count ? mesh->surfaces[0].name : "", s->name);
			return TAC_ERROR_ARGUMENT;
		}
	}
	return TAC_OK;
}

// The smooth surface of a body, with the crease angles of its materials; a tool has the default one.
static tac_result build_smooth(const tac_world *world, tac_world_body *body)
{
	const int32_t surfaces = body->mesh->surface_count;
	double *crease_rad = malloc(((size_t)surfaces + 1) * sizeof *crease_rad);
	bool any = false;
	for (int32_t i = 0; crease_rad && i < surfaces; i++) {
		const tac_material *m =
			body->surface_material ? &world->materials[body->surface_material[i]] : NULL;
		crease_rad[i] = !m ? TAC_MESH_CREASE_RAD : m->smooth ? m->crease_rad : 0;
		any |= crease_rad[i] > 0;
	}
	tac_result result = crease_rad ? TAC_OK : TAC_ERROR_MEMORY;
	if (result >= TAC_OK && any)
		result = tac_mesh_smooth_build(body->mesh, crease_rad, &body->smooth);
	free(crease_rad);
	if (result < TAC_OK)
		tac_log(TAC_LOG_ERROR, "%s: no memory for the smooth surface", body->name);
	return result;
}

// ---- build ----

// Whether a shape is a sphere or a capsule, whichever kind spells it; *out_round is it, in the shape's frame.
static bool is_round(const tac_scene_shape *shape, tac_round *out_round)
{
	tac_solids solids;
	tac_dvec3 centre = tac_dvec3_zero(), axis = tac_dvec3_make(0, 0, 1);
	double height = 0, radius = shape->radius_m;
	if (shape->kind == TAC_SCENE_CAPSULE) {
		height = shape->height_m;
	} else if (shape->kind == TAC_SCENE_SOLIDS) {
		if (tac_solids_parse(shape->solids, &solids) < TAC_OK || solids.count != 1)
			return false;
		const tac_solid *s = &solids.solid[0];
		if (s->kind != TAC_SOLID_SPHERE && s->kind != TAC_SOLID_CAPSULE)
			return false;
		centre = s->position;
		axis = tac_dmat3_column(s->rotation, 2);
		height = s->kind == TAC_SOLID_CAPSULE ? s->height : 0;
		radius = s->radius;
	} else if (shape->kind != TAC_SCENE_SPHERE) {
		return false;
	}
	*out_round = (tac_round){tac_dvec3_add_scaled(centre, -0.5 * height, axis),
				 tac_dvec3_add_scaled(centre, 0.5 * height, axis), radius};
	return true;
}

// Whether a tool meets the objects as a mesh.
static bool has_mesh_tool(const tac_scene *scene)
{
	tac_round round;
	const tac_scene_tool *t = &scene->tools[0];
	return scene->tool_count > 1 || t->shape_count > 1 ||
	       (t->shape_count == 1 && !is_round(&t->shapes[0], &round));
}

// Builds the simplified body where that pays. Of a tiny body the tolerance is a thousandth of its size.
static tac_result build_detail(tac_world *world, tac_body_def def, tac_world_body *body)
{
	const int32_t triangles = tac_body_mesh(body->body)->triangle_count;
	def.detail_m = fmin(world->scene->detail_m, 1e-3 * tac_mesh_size(body->mesh));
	if (!(def.detail_m > 0) || triangles < TAC_WORLD_DETAIL_TRIANGLES ||
	    triangles > TAC_WORLD_DETAIL_MOST || !has_mesh_tool(world->scene))
		return TAC_OK;
	const tac_result result = tac_body_build(&def, &body->detail);
	if (result >= TAC_OK && tac_body_detail(body->detail) == 0)
		tac_body_destroy(&body->detail);
	if (body->detail) {
		world->saved += triangles - tac_body_mesh(body->detail)->triangle_count;
		world->detail_m = fmax(world->detail_m, def.detail_m);
	}
	return result;
}

static tac_result build_body(tac_world *world, const char *name, const tac_scene_shape *shapes, int32_t count,
			     tac_world_body *body)
{
	body->name = name;
	tac_result result = build_mesh(world->scene, name, shapes, count, body);
	if (result < TAC_OK)
		return result;
	tac_body_def def = tac_body_def_default();
	body->solid = tac_mesh_is_watertight(body->mesh);
	def.mesh = body->mesh;
	def.flat_m = TAC_BODY_FLAT;
	// Twice as far as other surfaces: spheres have no facets that could be felt.
	def.sphere_m = fmin(2 * world->scene->detail_m, 1e-3 * tac_mesh_size(body->mesh));
	def.solid = body->solid; // the servo holds a tool that begins inside until it is outside
	result = tac_body_build(&def, &body->body);
	if (result >= TAC_OK)
		result = build_detail(world, def, body);
	if (result >= TAC_OK)
		result = tac_shape_build(world->collider, body->mesh, &body->shape);
	world->triangles += body->mesh->triangle_count;
	return result;
}

// Recognises a tool that is a single sphere or capsule, which the continuous mover takes as exact.
static void find_round(tac_world_body *body, const tac_scene_shape *shape, int32_t count)
{
	tac_round round;
	if (count != 1 || !is_round(shape, &round))
		return;
	const tac_dpose T = tac_dpose_make(shape->position_m, tac_dquat_exp(shape->rotation_rad));
	body->is_round = true;
	body->round = tac_round_place(&round, T);
}

// The protected structures of an object that are meshes.
static tac_result build_structures(const tac_world *world, const tac_scene_object *o, tac_world_body *body)
{
	for (int32_t i = 0; i < o->protect_count; i++) {
		const tac_scene_structure *p = &o->protect[i];
		tac_world_structure *structure = &body->structures[i];
		tac_world_body built = {0};
		if (p->shape_count == 0)
			continue;
		tac_result result = build_mesh(world->scene, p->name, p->shapes, p->shape_count, &built);
		structure->mesh = built.mesh;
		if (result >= TAC_OK)
			result = tac_clearance_build(structure->mesh, p->name, &structure->clearance);
		if (result < TAC_OK)
			return result;
	}
	return TAC_OK;
}

// A needle whose tool has no shapes is a capsule from its tip at the origin along z.
static tac_result build_tool(tac_world *world, const tac_scene_tool *t, tac_world_body *body)
{
	const tac_scene_shape needle = {
		.kind = TAC_SCENE_CAPSULE,
		.radius_m = t->needle.radius_m,
		.height_m = t->needle.length_m - 2 * t->needle.radius_m,
		.segments = 16,
		.rings = 4,
		.position_m = {0, 0, 0.5 * t->needle.length_m},
	};
	const tac_scene_shape *shapes = t->shape_count > 0 ? t->shapes : &needle;
	const int32_t count = t->shape_count > 0 ? t->shape_count : 1;
	tac_result result = build_body(world, t->name, shapes, count, body);
	if (result >= TAC_OK)
		result = build_smooth(world, body);
	if (result >= TAC_OK)
		find_round(body, shapes, count);
	return result;
}

static void report_nothing(void *user, int32_t step, int32_t steps, const char *name)
{
	(void)user, (void)step, (void)steps, (void)name;
}

static tac_result build_all(tac_world *world, tac_world_progress *progress, void *user)
{
	const tac_scene *scene = world->scene;
	const int32_t steps = scene->tool_count + scene->object_count;
	for (int32_t i = 0; i < scene->material_count; i++)
		world->materials[world->material_count++] = scene->materials[i];
	world->materials[world->material_count++] = tac_material_default();
	for (int32_t i = 0; i < scene->tool_count; i++) {
		const tac_scene_tool *t = &scene->tools[i];
		progress(user, i + 1, steps, t->name);
		const tac_result result = build_tool(world, t, &world->tools[i]);
		if (result < TAC_OK)
			return result;
	}
	for (int32_t i = 0; i < scene->object_count; i++) {
		const tac_scene_object *o = &scene->objects[i];
		tac_world_body *body = &world->objects[i];
		progress(user, scene->tool_count + i + 1, steps, o->name);
		tac_result result = build_body(world, o->name, o->shapes, o->shape_count, body);
		if (result >= TAC_OK)
			result = assign_materials(world, o, body);
		if (result >= TAC_OK)
			result = build_smooth(world, body);
		if (result >= TAC_OK && o->drillable.voxel_m > 0)
			result = tac_world_build_field(world, o, body);
		if (result >= TAC_OK && o->tissue.spacing_m > 0)
			result = tac_world_build_tissue(world, o, body);
		if (result >= TAC_OK)
			result = build_structures(world, o, body);
		if (result < TAC_OK)
			return result;
	}
	return TAC_OK;
}

tac_result tac_world_build(const tac_scene *scene, const tac_collider *collider, tac_world **out_world)
{
	return tac_world_build_with_progress(scene, collider, report_nothing, NULL, out_world);
}

tac_result tac_world_build_with_progress(const tac_scene *scene, const tac_collider *collider,
					 tac_world_progress *progress, void *user, tac_world **out_world)
{
	*out_world = NULL;
	if (!scene || !collider) {
		tac_log(TAC_LOG_ERROR,
			"world: expected a scene and a collider (tac_collider_find), found no %s",
			scene ? "collider" : "scene");
		return TAC_ERROR_ARGUMENT;
	}
	if (tac_scene_check(scene) < TAC_OK)
		return TAC_ERROR_ARGUMENT;
	if (!(collider->flags & TAC_COLLIDER_TRIANGLES)) { // no normals, so no contacts and no force
		tac_log(TAC_LOG_ERROR,
			"collider: expected an engine for meshes, of which a scene consists, found '%s'",
			collider->name);
		return TAC_ERROR_ARGUMENT;
	}
	tac_world *world = calloc(1, sizeof *world);
	if (!world) {
		tac_log(TAC_LOG_ERROR, "world: no memory");
		return TAC_ERROR_MEMORY;
	}
	world->scene = scene;
	world->collider = collider;
	const tac_result result = build_all(world, progress, user);
	if (result < TAC_OK)
		tac_world_destroy(&world);
	*out_world = world;
	return result;
}

static void destroy_body(tac_world_body *body)
{
	tac_shape_destroy(&body->shape);
	tac_body_destroy(&body->body);
	tac_body_destroy(&body->detail);
	tac_mesh_destroy(&body->mesh);
	free(body->surface_material);
	tac_mesh_smooth_destroy(&body->smooth);
	tac_field_destroy(&body->field);
	tac_compliance_destroy(&body->compliance);
	for (int i = 0; i < TAC_SCENE_PROTECTED; i++) {
		tac_clearance_destroy(&body->structures[i].clearance);
		tac_mesh_destroy(&body->structures[i].mesh);
	}
}

void tac_world_destroy(tac_world **world)
{
	if (!*world)
		return;
	for (int32_t i = 0; i < TAC_SCENE_TOOLS; i++)
		destroy_body(&(*world)->tools[i]);
	for (int32_t i = 0; i < TAC_SCENE_OBJECTS; i++)
		destroy_body(&(*world)->objects[i]);
	free(*world);
	*world = NULL;
}

// ---- mesh files ----

// FNV-1a, 64 bits, byte by byte.
static uint64_t hash(uint64_t sum, const void *bytes, size_t count)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < count; i++)
		sum = (sum ^ p[i]) * UINT64_C(0x100000001B3);
	return sum;
}

static uint64_t hash_mesh(const tac_mesh *mesh)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325);
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		float position[3];
		tac_vec3_store(position, mesh->vertices[i]);
		sum = hash(sum, position, sizeof position);
	}
	return hash(sum, mesh->triangles, (size_t)mesh->triangle_count * sizeof *mesh->triangles);
}

static bool has_file(const tac_scene_shape *shapes, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		if (shapes[i].kind == TAC_SCENE_MESH)
			return true;
	}
	return false;
}

// NULL after the last.
static const tac_mesh *mesh_with_file(const tac_world *world, uint32_t index, const char **out_name)
{
	const tac_scene *scene = world->scene;
	for (int32_t i = 0; i < scene->tool_count; i++) {
		if (has_file(scene->tools[i].shapes, scene->tools[i].shape_count) && index-- == 0) {
			*out_name = world->tools[i].name;
			return world->tools[i].mesh;
		}
	}
	for (int32_t i = 0; i < scene->object_count; i++) {
		if (has_file(scene->objects[i].shapes, scene->objects[i].shape_count) && index-- == 0) {
			*out_name = world->objects[i].name;
			return world->objects[i].mesh;
		}
	}
	for (int32_t i = 0; i < scene->object_count; i++) {
		for (int32_t k = 0; k < scene->objects[i].protect_count; k++) {
			const tac_scene_structure *p = &scene->objects[i].protect[k];
			if (has_file(p->shapes, p->shape_count) && index-- == 0) {
				*out_name = p->name;
				return world->objects[i].structures[k].mesh;
			}
		}
	}
	return NULL;
}

bool tac_world_file_hash(const tac_world *world, uint32_t index, uint64_t *out_hash, const char **out_name)
{
	const char *name = NULL;
	const tac_mesh *mesh = mesh_with_file(world, index, &name);
	if (!mesh)
		return false;
	*out_hash = hash_mesh(mesh);
	if (out_name)
		*out_name = name;
	return true;
}

// ---- on the real-time thread ----

static tac_dpose point_pose(const tac_scene_point *p)
{
	return tac_dpose_make(p->position_m, tac_dquat_exp(p->rotation_rad));
}

tac_dpose tac_world_path_pose(const tac_scene_point *path, int32_t count, int64_t time_ns)
{
	const int32_t last = count - 1;
	if (last < 0)
		return tac_dpose_identity();
	const double lap_s = path[last].time_s;
	const double t = lap_s > 0 ? fmod((double)time_ns / 1e9, lap_s) : 0;
	int32_t i = 0;
	while (i < last && path[i + 1].time_s <= t)
		i++;
	const tac_dpose T = point_pose(&path[i]);
	if (i == last || t <= path[i].time_s)
		return T;
	return tac_dpose_interpolate(T, point_pose(&path[i + 1]),
				     (t - path[i].time_s) / (path[i + 1].time_s - path[i].time_s));
}

tac_dpose tac_world_object_pose(const tac_world *world, int32_t object, int64_t time_ns)
{
	const tac_scene_object *o = &world->scene->objects[object];
	const tac_dpose base = tac_dpose_make(o->position_m, tac_dquat_exp(o->rotation_rad));
	if (o->path_count == 0)
		return base;
	return tac_dpose_compose(base, tac_world_path_pose(o->path, o->path_count, time_ns));
}

const tac_material *tac_world_material(const tac_world *world, int32_t object, int32_t surface)
{
	if (object >= world->scene->object_count || surface < 0) // the tool of another hand
		return &world->materials[world->material_count - 1];
	const tac_world_body *body = &world->objects[object];
	if (body->field)
		return &world->materials[body->field_material[surface < TAC_FIELD_LABELS ? surface : 0]];
	return &world->materials[body->surface_material[surface]];
}

int32_t tac_world_find_surface(const tac_world *world, int32_t object, const char *name, int32_t after)
{
	const tac_mesh *mesh = world->objects[object].mesh;
	for (int32_t i = after + 1; i < mesh->surface_count; i++) {
		if (strcmp(mesh->surfaces[i].name, name) == 0)
			return i;
	}
	return -1;
}

bool tac_world_passes(const tac_world *world, int32_t tool, int32_t object)
{
	if (object >= world->scene->object_count)
		return false;
	return world->objects[object].compliance || (world->scene->tools[tool].needle.length_m > 0 &&
						     world->scene->objects[object].layers.list_count > 0);
}
