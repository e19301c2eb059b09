#include "haptic/scene/scene_shapes.h"
#include "haptic/world.h"

#include "base/log.h"
#include "base/rng.h"
#include "collision/assembly.h"
#include "collision/mesh_load.h"
#include "collision/mesh_shapes.h"
#include "collision/solid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- star-shaped bodies ----

// The radius is a function of the direction, so the surface never intersects itself.
typedef double (*radius_fn)(const tac_scene_shape *shape, tac_dvec3 direction);

#define WAVES 12

// Waves of random direction and length, like the bumps of an organ.
static double body_radius(const tac_scene_shape *shape, tac_dvec3 d)
{
	tac_rng rng = tac_rng_seed((uint64_t)shape->seed, 1);
	double sum = 0;
	for (int i = 0; i < WAVES; i++) {
		const tac_dvec3 along = tac_rng_unit_f64(&rng);
		const double frequency = tac_rng_range_f64(&rng, 3, 9),
			     phase = tac_rng_range_f64(&rng, 0, 6.28);
		sum += sin(frequency * tac_dvec3_dot(along, d) + phase);
	}
	return shape->radius_m + shape->bump_m * sum / sqrt(WAVES);
}

// A rounded cube with four cusps on top and a cross of fissures between them.
static double tooth_radius(const tac_scene_shape *shape, tac_dvec3 d)
{
	const double x = d.x * d.x, y = d.y * d.y, z = d.z * d.z;
	const double cube = 1 / sqrt(sqrt(x * x + y * y + 0.8 * z * z));
	const double top = d.z > 0 ? z : 0;
	const double cusp = exp(
		-12 * ((fabs(d.x) - 0.45) * (fabs(d.x) - 0.45) + (fabs(d.y) - 0.45) * (fabs(d.y) - 0.45)));
	const double fissure = exp(-90 * x) + exp(-90 * y);
	return 0.8 * shape->radius_m * cube + shape->bump_m * top * (2 * cusp - 0.7 * fissure);
}

static tac_result build_radial(const tac_scene_shape *shape, radius_fn radius, const char *surface,
			       tac_mesh **out_mesh)
{
	tac_mesh *ball;
	tac_result result = tac_mesh_build_icosphere(1, (int32_t)shape->subdivisions, &ball);
	if (result < TAC_OK)
		return result;
	for (int32_t i = 0; i < ball->vertex_count; i++) {
		const tac_dvec3 d = tac_dvec3_normalize(tac_dvec3_from_vec3(ball->vertices[i]));
		const double r = fmax(radius(shape, d), 0.1 * shape->radius_m);
		ball->vertices[i] = tac_vec3_from_dvec3(tac_dvec3_scale(d, r));
	}
	tac_mesh_def def = tac_mesh_def_default();
	def.name = surface;
	def.vertices = ball->vertices;
	def.vertex_count = ball->vertex_count;
	def.triangles = ball->triangles;
	def.triangle_count = ball->triangle_count;
	def.triangle_surface = ball->triangle_surface;
	def.surface_names = &surface;
	def.surface_count = 1;
	result = tac_mesh_build(&def, out_mesh);
	tac_mesh_destroy(&ball);
	return result;
}

// ---- the groove ----

// The profile in x and z, extruded along y: a block whose top has a notch of 90 degrees.
static tac_result build_groove(const tac_scene_shape *shape, tac_mesh **out_mesh)
{
	enum { CORNERS = 7, NOTCH = 4 }; // corner 4, the bottom of the notch, is visible from all others
	const float x = (float)(0.5 * shape->size_m.x), y = (float)(0.5 * shape->size_m.y),
		    z = (float)(0.5 * shape->size_m.z), d = (float)shape->height_m;
	if (!(d < x && d < 2 * z)) {
		tac_log(TAC_LOG_ERROR,
			"groove: expected a height_m below half of the width and the height, found '%g'",
			shape->height_m);
		return TAC_ERROR_ARGUMENT;
	}
	const float profile[CORNERS][2] = {{-x, -z}, {x, -z}, {x, z}, {d, z}, {0, z - d}, {-d, z}, {-x, z}};
	// Surface of the side from each corner to the next.
	static const int32_t side_surface[CORNERS] = {0, 0, 1, 3, 2, 1, 0};
	static const char *const names[] = {"outside", "top", "left", "right"};
	tac_vec3 vertices[2 * CORNERS];
	tac_mesh_triangle triangles[4 * CORNERS];
	int32_t surfaces[4 * CORNERS], count = 0;
	for (int i = 0; i < CORNERS; i++) {
		const int next = (i + 1) % CORNERS;
		vertices[i] = tac_vec3_make(profile[i][0], -y, profile[i][1]);
		vertices[CORNERS + i] = tac_vec3_make(profile[i][0], y, profile[i][1]);
		surfaces[count] = side_surface[i];
		triangles[count++] = (tac_mesh_triangle){{i, next, CORNERS + next}};
		surfaces[count] = side_surface[i];
		triangles[count++] = (tac_mesh_triangle){{i, CORNERS + next, CORNERS + i}};
		if (i == NOTCH || next == NOTCH)
			continue;
		surfaces[count] = 0;
		triangles[count++] = (tac_mesh_triangle){{NOTCH, next, i}};
		surfaces[count] = 0;
		triangles[count++] = (tac_mesh_triangle){{CORNERS + NOTCH, CORNERS + i, CORNERS + next}};
	}
	// The profile runs counter-clockwise seen against y, so the sides above face inwards: turn them over.
	for (int32_t i = 0; i < count; i++) {
		const int32_t second = triangles[i].vertex[1];
		triangles[i].vertex[1] = triangles[i].vertex[2];
		triangles[i].vertex[2] = second;
	}
	tac_mesh_def def = tac_mesh_def_default();
	def.name = "groove";
	def.vertices = vertices;
	def.vertex_count = 2 * CORNERS;
	def.triangles = triangles;
	def.triangle_count = count;
	def.triangle_surface = surfaces;
	def.surface_names = names;
	def.surface_count = 4;
	return tac_mesh_build(&def, out_mesh);
}

// ---- other shapes ----

void tac_scene_mesh_path(const tac_scene *scene, const tac_scene_shape *shape, char *out, size_t size)
{
	const bool absolute = shape->file[0] == '/' || scene->folder[0] == 0;
	snprintf(out, size, "%s%s%s", absolute ? "" : scene->folder, absolute ? "" : "/", shape->file);
}

// Adds "COUNT KIND edge" or "COUNT KIND edges" to a list of faults.
static void add_fault(char *list, size_t size, int32_t count, const char *kind)
{
	const size_t used = strlen(list);
	if (count > 0)
		snprintf(list + used, size - used, "%s%d %s edge%s", used ? ", " : "", (int)count, kind,
			 count == 1 ? "" : "s");
}

// One warning about what a person would want to know before touching the mesh.
static void report_faults(const char *path, const tac_mesh *mesh, double scale)
{
	char faults[128] = "";
	add_fault(faults, sizeof faults, mesh->open_edges, "open");
	add_fault(faults, sizeof faults, mesh->non_manifold_edges, "non-manifold");
	add_fault(faults, sizeof faults, mesh->flipped_edges, "flipped");
	if (faults[0])
		tac_log(TAC_LOG_WARNING, "%s: found %s: %s", path, faults,
			mesh->open_edges > 0 ? "a tool may get through the holes"
					     : "it is touched as a surface, not as a solid");
	else if (tac_mesh_is_watertight(mesh) && tac_mesh_volume(mesh) < 0)
		tac_log(TAC_LOG_WARNING,
			"%s: expected a mesh that faces outwards, found one that faces inwards: turn it over",
			path);
	const double size_m = scale * tac_mesh_size(mesh), better = tac_mesh_plausible_scale(size_m);
	if (better == 1e-3)
		tac_log(TAC_LOG_WARNING, "%s: %.4g m large: are these millimetres? scale: %.4g", path, size_m,
			better * scale);
	else if (better != 1)
		tac_log(TAC_LOG_WARNING, "%s: %.4g m large: 'scale: %.4g' would make it %.4g m", path, size_m,
			better * scale, better * size_m);
}

static tac_result load_file(const tac_scene *scene, const tac_scene_shape *shape, tac_mesh **out_mesh)
{
	char path[2 * TAC_SCENE_TEXT + 2];
	tac_scene_mesh_path(scene, shape, path, sizeof path);
	const tac_result result = tac_mesh_load(path, NULL, out_mesh);
	if (result >= TAC_OK)
		report_faults(path, *out_mesh, shape->scale);
	return result;
}

// A copy of the application's mesh.
static tac_result copy_mesh(const tac_scene_shape *shape, tac_mesh **out_mesh)
{
	const tac_mesh *mesh = shape->mesh;
	if (!mesh) {
		tac_log(TAC_LOG_ERROR,
			"%s: expected a mesh from the application (tac_scene_shape_set_mesh), found none",
			shape->file);
		return TAC_ERROR_ARGUMENT;
	}
	const char **names = malloc(((size_t)mesh->surface_count + 1) * sizeof *names);
	if (!names) {
		tac_log(TAC_LOG_ERROR, "%s: no memory for the mesh", shape->file);
		return TAC_ERROR_MEMORY;
	}
	for (int32_t i = 0; i < mesh->surface_count; i++)
		names[i] = mesh->surfaces[i].name;
	tac_mesh_def def = tac_mesh_def_default();
	def.name = shape->file;
	def.vertices = mesh->vertices;
	def.vertex_count = mesh->vertex_count;
	def.triangles = mesh->triangles;
	def.triangle_count = mesh->triangle_count;
	def.triangle_surface = mesh->triangle_surface;
	def.surface_names = names;
	def.surface_count = mesh->surface_count;
	const tac_result result = tac_mesh_build(&def, out_mesh);
	free((void *)names);
	if (result >= TAC_OK)
		report_faults(shape->file, *out_mesh, shape->scale);
	return result;
}

static tac_result build_solids(const tac_scene_shape *shape, tac_mesh **out_mesh)
{
	tac_solids solids;
	const tac_result result = tac_solids_parse(shape->solids, &solids);
	return result < TAC_OK ? result : tac_solids_build_mesh(&solids, (int32_t)shape->segments, out_mesh);
}

static tac_result build_part(const tac_scene_shape *shape, tac_mesh **out_mesh)
{
	tac_assembly assembly;
	const tac_result result = tac_assembly_build((tac_assembly_kind)shape->machine, &assembly);
	if (result < TAC_OK)
		return result;
	const bool exists = shape->part < assembly.part_count;
	if (exists) {
		*out_mesh = assembly.parts[shape->part].mesh;
		assembly.parts[shape->part].mesh = NULL;
	} else {
		tac_log(TAC_LOG_ERROR, "assembly: expected a part from 0 to %d of the %s, found '%lld'",
			assembly.part_count - 1, assembly.name, (long long)shape->part);
	}
	tac_assembly_fini(&assembly);
	return exists ? TAC_OK : TAC_ERROR_ARGUMENT;
}

static tac_mesh_peg_def peg_def(const tac_scene_shape *shape)
{
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	def.peg_radius = (float)shape->radius_m;
	def.peg_length = (float)shape->height_m;
	def.chamfer = (float)shape->chamfer_m;
	def.clearance = (float)shape->clearance_m;
	def.block_size = (float)shape->size_m.x;
	def.block_height = (float)shape->size_m.z;
	def.segments = (int32_t)shape->segments;
	def.bands = (int32_t)shape->rings;
	return def;
}

static double shape_triangles(const tac_scene_shape *shape)
{
	const double segments = (double)shape->segments, rings = (double)shape->rings;
	switch ((tac_scene_shape_kind)shape->kind) {
	case TAC_SCENE_BOX:
		return 12 * segments * segments;
	case TAC_SCENE_SPHERE:
	case TAC_SCENE_BODY:
	case TAC_SCENE_TOOTH:
		return 20 * pow(4, (double)shape->subdivisions);
	case TAC_SCENE_SOLIDS:
		return segments * segments;
	case TAC_SCENE_TORUS:
	case TAC_SCENE_CYLINDER:
	case TAC_SCENE_CONE:
	case TAC_SCENE_CAPSULE:
	case TAC_SCENE_PEG:
	case TAC_SCENE_BLOCK:
		return 2 * segments * (rings + 1);
	case TAC_SCENE_MESH:
	case TAC_SCENE_GROOVE:
	case TAC_SCENE_ASSEMBLY:
	case TAC_SCENE_MEMORY:
	case TAC_SCENE_SHAPE_KINDS:
		break;
	}
	return 0;
}

static double body_triangles(const tac_scene_shape *shapes, int32_t count)
{
	double sum = 0;
	for (int32_t i = 0; i < count; i++)
		sum += shape_triangles(&shapes[i]);
	return sum;
}

int64_t tac_scene_triangles(const tac_scene *scene)
{
	double sum = 0;
	for (int32_t i = 0; i < scene->tool_count; i++)
		sum += body_triangles(scene->tools[i].shapes, scene->tools[i].shape_count);
	for (int32_t i = 0; i < scene->object_count; i++)
		sum += body_triangles(scene->objects[i].shapes, scene->objects[i].shape_count);
	return llround(sum);
}

tac_result tac_scene_shape_mesh(const tac_scene *scene, const tac_scene_shape *shape, tac_mesh **out_mesh)
{
	const float radius = (float)shape->radius_m, height = (float)shape->height_m;
	const int32_t segments = (int32_t)shape->segments, rings = (int32_t)shape->rings;
	const tac_mesh_peg_def peg = peg_def(shape);
	*out_mesh = NULL;
	switch ((tac_scene_shape_kind)shape->kind) {
	case TAC_SCENE_MESH:
		return load_file(scene, shape, out_mesh);
	case TAC_SCENE_SOLIDS:
		return build_solids(shape, out_mesh);
	case TAC_SCENE_BOX:
		return tac_mesh_build_box(tac_vec3_from_dvec3(shape->size_m), segments, out_mesh);
	case TAC_SCENE_SPHERE:
		return tac_mesh_build_icosphere(radius, (int32_t)shape->subdivisions, out_mesh);
	case TAC_SCENE_TORUS:
		return tac_mesh_build_torus(radius, (float)shape->minor_radius_m, segments, rings, out_mesh);
	case TAC_SCENE_CYLINDER:
		return tac_mesh_build_cylinder(radius, height, segments, rings, out_mesh);
	case TAC_SCENE_CONE:
		return tac_mesh_build_cone(radius, height, segments, rings, out_mesh);
	case TAC_SCENE_CAPSULE:
		return tac_mesh_build_capsule(radius, height, segments, rings, out_mesh);
	case TAC_SCENE_PEG:
		return tac_mesh_build_peg(&peg, out_mesh);
	case TAC_SCENE_BLOCK:
		return tac_mesh_build_block(&peg, out_mesh);
	case TAC_SCENE_GROOVE:
		return build_groove(shape, out_mesh);
	case TAC_SCENE_BODY:
		return build_radial(shape, body_radius, "body", out_mesh);
	case TAC_SCENE_TOOTH:
		return build_radial(shape, tooth_radius, "crown", out_mesh);
	case TAC_SCENE_ASSEMBLY:
		return build_part(shape, out_mesh);
	case TAC_SCENE_MEMORY:
		return copy_mesh(shape, out_mesh);
	case TAC_SCENE_SHAPE_KINDS:
		break;
	}
	return TAC_ERROR_ARGUMENT;
}
