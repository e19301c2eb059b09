#include "haptic/world.h"

#include "base/log.h"
#include "collision/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a body from its shapes ----

typedef struct joint {
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles;
	int32_t *triangle_surface;
	const char **surface_names;
	int32_t vertex_count, triangle_count, surface_count;
} joint;

static bool joint_alloc(joint *j, const tac_mesh *const *meshes, int32_t count)
{
	size_t vertices = 0, triangles = 0, surfaces = 0;
	for (int32_t i = 0; i < count; i++) {
		vertices += (size_t)meshes[i]->vertex_count;
		triangles += (size_t)meshes[i]->triangle_count;
		surfaces += (size_t)meshes[i]->surface_count;
	}
	if (vertices > TAC_MESH_MAX || triangles > TAC_MESH_MAX)
		return false;
	j->vertices = malloc(vertices * sizeof *j->vertices);
	j->triangles = malloc(triangles * sizeof *j->triangles);
	j->triangle_surface = malloc(triangles * sizeof *j->triangle_surface);
	j->surface_names = malloc(surfaces * sizeof *j->surface_names);
	return j->vertices && j->triangles && j->triangle_surface && j->surface_names;
}

static void joint_free(joint *j)
{
	free(j->vertices);
	free(j->triangles);
	free(j->triangle_surface);
	free(j->surface_names);
}

// A point of a shape's mesh in the body's frame.
static tac_dvec3 place(const tac_scene_shape *shape, tac_vec3 point)
{
	const double scale = shape->kind == TAC_SCENE_MESH ? shape->scale : 1;
	const tac_dpose T = tac_dpose_make(shape->position_m, tac_dquat_exp(shape->rotation_rad));
	return tac_dpose_apply_point(T, tac_dvec3_scale(tac_dvec3_from_vec3(point), scale));
}

static void joint_add(joint *j, const tac_mesh *mesh, const tac_scene_shape *shape)
{
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		tac_mesh_triangle *t = &j->triangles[j->triangle_count];
		for (int k = 0; k < 3; k++)
			t->vertex[k] = mesh->triangles[i].vertex[k] + j->vertex_count;
		j->triangle_surface[j->triangle_count++] = mesh->triangle_surface[i] + j->surface_count;
	}
	for (int32_t i = 0; i < mesh->vertex_count; i++)
		j->vertices[j->vertex_count++] = tac_vec3_from_dvec3(place(shape, mesh->vertices[i]));
	for (int32_t i = 0; i < mesh->surface_count; i++)
		j->surface_names[j->surface_count++] = mesh->surfaces[i].name;
}

static tac_result join(const char *name, const tac_mesh *const *meshes, const tac_scene_shape *shapes,
		       int32_t count, tac_mesh **out_mesh)
{
	joint j = {0};
	tac_result result = TAC_ERROR_MEMORY;
	if (joint_alloc(&j, meshes, count)) {
		for (int32_t i = 0; i < count; i++)
			joint_add(&j, meshes[i], &shapes[i]);
		tac_mesh_def def = tac_mesh_def_default();
		def.name = name;
		def.vertices = j.vertices;
		def.vertex_count = j.vertex_count;
		def.triangles = j.triangles;
		def.triangle_count = j.triangle_count;
		def.triangle_surface = j.triangle_surface;
		def.surface_names = j.surface_names;
		def.surface_count = j.surface_count;
		result = tac_mesh_build(&def, out_mesh);
	} else {
		tac_log(TAC_LOG_ERROR, "%s: no memory for the mesh", name);
	}
	joint_free(&j);
	return result;
}

static bool in_place(const tac_scene_shape *shape)
{
	return tac_dvec3_length(shape->position_m) == 0 && tac_dvec3_length(shape->rotation_rad) == 0 &&
	       (shape->kind != TAC_SCENE_MESH || shape->scale == 1);
}

static tac_result build_mesh(const tac_scene *scene, const char *name, const tac_scene_shape *shapes,
			     int32_t count, tac_world_body *body)
{
	tac_mesh *meshes[TAC_SCENE_SHAPES] = {0};
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < count && result >= TAC_OK; i++) {
		result = tac_scene_shape_mesh(scene, &shapes[i], &meshes[i]);
		if (result >= TAC_OK && meshes[i]->vertex_count > 0)
			body->probes[body->probe_count++] = place(&shapes[i], meshes[i]->vertices[0]);
	}
	if (result >= TAC_OK && count == 1 && in_place(&shapes[0])) {
		body->mesh = meshes[0];
		return TAC_OK;
	}
	if (result >= TAC_OK)
		result = join(name, (const tac_mesh *const *)meshes, shapes, count, &body->mesh);
	for (int32_t i = 0; i < count; i++)
		tac_mesh_destroy(&meshes[i]);
	return result;
}

// ---- smooth normals ----

static tac_dvec3 triangle_normal(const tac_mesh *mesh, int32_t triangle)
{
	tac_dvec3 v[3];
	for (int k = 0; k < 3; k++)
		v[k] = tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[k]]);
	return tac_dvec3_normalize(tac_dvec3_cross(tac_dvec3_sub(v[1], v[0]), tac_dvec3_sub(v[2], v[0])));
}

// The angle of a triangle at its corner k, rad: what it counts for in a vertex normal (G. Thuermer and C. A.
// Wuethrich, "Computing vertex normals from polygonal facets", J. Graphics Tools 3(1), 1998).
static double corner_angle(const tac_mesh *mesh, int32_t triangle, int k)
{
	tac_dvec3 v[3];
	for (int i = 0; i < 3; i++)
		v[i] = tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[(k + i) % 3]]);
	const tac_dvec3 a = tac_dvec3_sub(v[1], v[0]), b = tac_dvec3_sub(v[2], v[0]);
	return atan2(tac_dvec3_length(tac_dvec3_cross(a, b)), tac_dvec3_dot(a, b));
}

// For each corner the mean over the triangles of the same surface at its vertex.
static bool build_normals(tac_world_body *body)
{
	const tac_mesh *mesh = body->mesh;
	const size_t corners = 3 * (size_t)mesh->triangle_count;
	int32_t *first = calloc((size_t)mesh->vertex_count + 2, sizeof *first);
	int32_t *at = malloc(corners * sizeof *at); // the corners of each vertex, one after the other
	body->corner_normals = malloc(corners * sizeof *body->corner_normals);
	if (first && at && body->corner_normals) {
		for (size_t c = 0; c < corners; c++)
			first[mesh->triangles[c / 3].vertex[c % 3] + 2]++;
		for (int32_t v = 1; v <= mesh->vertex_count; v++)
			first[v + 1] += first[v];
		for (size_t c = 0; c < corners; c++)
			at[first[mesh->triangles[c / 3].vertex[c % 3] + 1]++] = (int32_t)c;
		for (size_t c = 0; c < corners; c++) {
			const int32_t v = mesh->triangles[c / 3].vertex[c % 3];
			tac_dvec3 sum = tac_dvec3_zero();
			for (int32_t i = first[v]; i < first[v + 1]; i++) {
				const int32_t t = at[i] / 3;
				if (mesh->triangle_surface[t] == mesh->triangle_surface[c / 3])
					sum = tac_dvec3_add_scaled(sum, corner_angle(mesh, t, at[i] % 3),
								   triangle_normal(mesh, t));
			}
			body->corner_normals[c] = tac_vec3_from_dvec3(tac_dvec3_normalize(sum));
		}
	}
	free(first);
	free(at);
	return body->corner_normals != NULL;
}

// From a triangle to that beside which a point lies, over neighbours of the same surface, at most.
#define WALK 8

// How much of a triangle's area a point cuts off opposite to each corner; below 0 it lies beside that edge.
static void cut(const tac_mesh *mesh, int32_t triangle, tac_dvec3 flat, tac_dvec3 point, double out_parts[3])
{
	tac_dvec3 to[3];
	for (int k = 0; k < 3; k++)
		to[k] = tac_dvec3_sub(
			tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[k]]), point);
	for (int k = 0; k < 3; k++)
		out_parts[k] = tac_dvec3_dot(tac_dvec3_cross(to[(k + 1) % 3], to[(k + 2) % 3]), flat);
}

// The neighbour of the same surface over the edge opposite to corner k; -1: none.
static int32_t neighbour(const tac_mesh *mesh, int32_t triangle, int k)
{
	const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[triangle].vertex[(k + 1) % 3]];
	const int32_t other = edge->triangle[edge->triangle[0] == triangle];
	return other >= 0 && mesh->triangle_surface[other] == mesh->triangle_surface[triangle] ? other : -1;
}

tac_world_place tac_world_find(const tac_world_body *body, int32_t triangle, tac_dvec3 point_m)
{
	const tac_mesh *mesh = body->mesh;
	tac_world_place place = {.triangle = triangle, .flat = triangle_normal(mesh, triangle)};
	double parts[3];
	cut(mesh, triangle, place.flat, point_m, parts);
	for (int step = 0; body->corner_normals && step < WALK; step++) {
		int k = 0;
		for (int i = 1; i < 3; i++)
			k = parts[i] < parts[k] ? i : k;
		const int32_t next = parts[k] < 0 ? neighbour(mesh, place.triangle, k) : -1;
		if (next < 0)
			break;
		place.triangle = next;
		place.flat = triangle_normal(mesh, next);
		cut(mesh, next, place.flat, point_m, parts);
	}
	const tac_dvec3 corner =
		tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[place.triangle].vertex[0]]);
	place.height_m = tac_dvec3_dot(tac_dvec3_sub(point_m, corner), place.flat);
	place.smooth = place.flat;
	if (!body->corner_normals)
		return place;
	tac_dvec3 sum = tac_dvec3_zero();
	for (int k = 0; k < 3; k++) // a point beside the last triangle counts as on its border
		sum = tac_dvec3_add_scaled(
			sum, fmax(parts[k], 0),
			tac_dvec3_from_vec3(body->corner_normals[3 * (size_t)place.triangle + (size_t)k]));
	const tac_dvec3 smooth = tac_dvec3_normalize(sum);
	if (tac_dvec3_dot(smooth, place.flat) > 0)
		place.smooth = smooth;
	return place;
}

// ---- materials ----

static int32_t material_index(const tac_world *world, const char *name)
{
	return *name ? tac_scene_material(world->scene, name) : world->material_count - 1;
}

static tac_result assign_materials(tac_world *world, const tac_scene_object *object, tac_world_body *body)
{
	const tac_mesh *mesh = body->mesh;
	body->surface_material = malloc(((size_t)mesh->surface_count + 1) * sizeof *body->surface_material);
	if (!body->surface_material)
		return TAC_ERROR_MEMORY;
	for (int32_t i = 0; i < mesh->surface_count; i++)
		body->surface_material[i] = material_index(world, object->material);
	for (int32_t k = 0; k < object->surface_count; k++) {
		const tac_scene_surface *s = &object->surfaces[k];
		bool found = false;
		for (int32_t i = 0; i < mesh->surface_count; i++) {
			if (strcmp(mesh->surfaces[i].name, s->name) == 0) {
				body->surface_material[i] = material_index(world, s->material);
				found = true;
			}
		}
		if (!found) {
			tac_log(TAC_LOG_ERROR,
				"%s: expected the name of a surface of its mesh (the first is '%s'), found "
				"'%s'",
				object->name, mesh->surface_count ? mesh->surfaces[0].name : "", s->name);
			return TAC_ERROR_ARGUMENT;
		}
	}
	bool smooth = false;
	for (int32_t i = 0; i < mesh->surface_count; i++)
		smooth |= world->materials[body->surface_material[i]].smooth;
	return smooth && !build_normals(body) ? TAC_ERROR_MEMORY : TAC_OK;
}

// ---- inside and outside ----

// On which side of the line from `a` to `b` the point is, seen from above: never on it. What lies on it is
// decided as if the point stood a little further in x, and by far less in y (simulation of simplicity, H.
// Edelsbrunner and E. Muecke, 1990), the same for both triangles of an edge.
static bool left_of(tac_vec3 a, tac_vec3 b, tac_dvec3 p)
{
	const double x = (double)b.x - (double)a.x, y = (double)b.y - (double)a.y;
	const double side = x * (p.y - (double)a.y) - y * (p.x - (double)a.x);
	return side != 0 ? side > 0 : y != 0 ? y < 0 : x > 0;
}

// +1: the triangle is above the point and faces up, -1: it faces down, 0: it is not above it.
static int32_t above(const tac_vec3 *a, const tac_vec3 *b, const tac_vec3 *c, tac_dvec3 p)
{
	// Each edge from its lower corner in memory, so that its other triangle computes the same bits.
	const bool ab = a < b ? left_of(*a, *b, p) : !left_of(*b, *a, p);
	const bool bc = b < c ? left_of(*b, *c, p) : !left_of(*c, *b, p);
	const bool ca = c < a ? left_of(*c, *a, p) : !left_of(*a, *c, p);
	if (ab != bc || bc != ca)
		return 0;
	const tac_dvec3 A = tac_dvec3_from_vec3(*a);
	const tac_dvec3 normal = tac_dvec3_cross(tac_dvec3_sub(tac_dvec3_from_vec3(*b), A),
						 tac_dvec3_sub(tac_dvec3_from_vec3(*c), A));
	const double height = tac_dvec3_dot(normal, tac_dvec3_sub(p, A));
	return ab ? height < 0 : -(height > 0);
}

void tac_world_wind(const tac_world_body *body, int32_t from, int32_t to, const tac_dvec3 *points,
		    int32_t count, int32_t *winding)
{
	const tac_mesh *mesh = body->mesh;
	for (int32_t i = from; i < to; i++) {
		const int32_t *v = mesh->triangles[i].vertex;
		for (int32_t k = 0; k < count; k++)
			winding[k] += above(&mesh->vertices[v[0]], &mesh->vertices[v[1]],
					    &mesh->vertices[v[2]], points[k]);
	}
}

// ---- the whole ----

static tac_result build_body(tac_world *world, const char *name, const tac_scene_shape *shapes, int32_t count,
			     tac_world_body *body)
{
	body->name = name;
	tac_result result = build_mesh(world->scene, name, shapes, count, body);
	if (result < TAC_OK)
		return result;
	tac_ccd_body_def def = tac_ccd_body_def_default();
	body->solid = tac_mesh_is_watertight(body->mesh);
	def.mesh = body->mesh;
	def.solid = body->solid; // the servo sees to it that no tool begins inside
	result = tac_ccd_body_build(&def, &body->body);
	if (result >= TAC_OK)
		result = tac_shape_build(world->collider, body->mesh, &body->shape);
	world->triangles += body->mesh->triangle_count;
	return result;
}

// Whether the tool is one sphere or capsule, for which the mover has an exact way.
static void find_round(tac_world_body *body, const tac_scene_tool *tool)
{
	tac_solids solids;
	if (tool->shape_count != 1 || tool->shapes[0].kind != TAC_SCENE_SOLIDS ||
	    tac_shape_parse(tool->shapes[0].solids, &solids) < TAC_OK || solids.count != 1)
		return;
	const tac_solid *s = &solids.solid[0];
	if (s->kind != TAC_SOLID_SPHERE && s->kind != TAC_SOLID_CAPSULE)
		return;
	const double half = s->kind == TAC_SOLID_CAPSULE ? 0.5 * s->height : 0;
	const tac_dpose T =
		tac_dpose_make(tool->shapes[0].position_m, tac_dquat_exp(tool->shapes[0].rotation_rad));
	const tac_dvec3 axis = tac_dmat3_column(s->rotation, 2);
	body->is_round = true;
	body->round = (tac_sco_round){
		tac_dpose_apply_point(T, tac_dvec3_add_scaled(s->position, -half, axis)),
		tac_dpose_apply_point(T, tac_dvec3_add_scaled(s->position, half, axis)),
		s->radius,
	};
}

static void tell_nobody(void *user, int32_t step, int32_t steps, const char *name)
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
		const tac_result result =
			build_body(world, t->name, t->shapes, t->shape_count, &world->tools[i]);
		if (result < TAC_OK)
			return result;
		find_round(&world->tools[i], t);
	}
	for (int32_t i = 0; i < scene->object_count; i++) {
		const tac_scene_object *o = &scene->objects[i];
		tac_world_body *body = &world->objects[i];
		progress(user, scene->tool_count + i + 1, steps, o->name);
		tac_result result = build_body(world, o->name, o->shapes, o->shape_count, body);
		if (result >= TAC_OK)
			result = assign_materials(world, o, body);
		if (result < TAC_OK)
			return result;
	}
	return TAC_OK;
}

tac_result tac_world_build(const tac_scene *scene, const tac_collider *collider, tac_world **out_world)
{
	return tac_world_build_told(scene, collider, tell_nobody, NULL, out_world);
}

tac_result tac_world_build_told(const tac_scene *scene, const tac_collider *collider,
				tac_world_progress *progress, void *user, tac_world **out_world)
{
	*out_world = NULL;
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
	tac_ccd_body_destroy(&body->body);
	tac_mesh_destroy(&body->mesh);
	free(body->surface_material);
	free(body->corner_normals);
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
	if (object >= world->scene->object_count || surface < 0) // another tool
		return &world->materials[world->material_count - 1];
	return &world->materials[world->objects[object].surface_material[surface]];
}
