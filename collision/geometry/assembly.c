#include "collision/assembly.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/rng.h"
#include "collision/mesh_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LENGTH 32

// A part while it is built from simple solids.
typedef struct part_builder {
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles;
	int32_t *triangle_surface;
	char (*names)[NAME_LENGTH];
	int32_t vertex_count, triangle_count, surface_count, solid_count;
	bool varied;
	tac_rng rng;       // of the variation
	tac_result result; // the first error
} part_builder;

// How far a variation moves a solid, relative to its bounding box's diagonal, and changes a path, relative to
// its length and angle.
#define VARIATION 0.1

// Between -1 and 1; 0 for the assembly itself.
static double variation(part_builder *m)
{
	return m->varied ? tac_rng_range_f64(&m->rng, -1, 1) : 0;
}

// Grows an array of `count` elements of `size` bytes by `more`; without memory, returns it unchanged.
static void *grow(part_builder *m, void *array, int32_t count, int32_t more, size_t size)
{
	void *larger = realloc(array, (size_t)(count + more) * size);
	if (!larger && m->result >= 0) {
		m->result = TAC_ERROR_MEMORY;
		tac_log(TAC_LOG_ERROR, "assembly: no memory for a part");
	}
	return larger ? larger : array;
}

// The direction in the part of the solid's z axis; the coordinates are permuted cyclically.
typedef enum direction { ALONG_X = 1, ALONG_Y = 2, ALONG_Z = 0 } direction;

static tac_vec3 rotated(tac_vec3 v, direction d)
{
	return d == ALONG_X ? tac_vec3_make(v.z, v.x, v.y) : d == ALONG_Y ? tac_vec3_make(v.y, v.z, v.x) : v;
}

// Adds the surfaces of `solid` at `position` and destroys it.
static void add_solid(part_builder *m, tac_mesh *solid, tac_result result, const char *name, direction d,
		      tac_vec3 position)
{
	if (m->result >= 0)
		m->result = result;
	if (m->result < 0) {
		tac_mesh_destroy(&solid);
		return;
	}
	m->vertices = grow(m, m->vertices, m->vertex_count, solid->vertex_count, sizeof *m->vertices);
	m->triangles = grow(m, m->triangles, m->triangle_count, solid->triangle_count, sizeof *m->triangles);
	m->triangle_surface = grow(m, m->triangle_surface, m->triangle_count, solid->triangle_count,
				   sizeof *m->triangle_surface);
	m->names = grow(m, m->names, m->surface_count, solid->surface_count, sizeof *m->names);
	if (m->result >= 0) {
		tac_vec3 size = tac_vec3_sub(solid->bounds_max, solid->bounds_min);
		float most = (float)VARIATION * tac_vec3_length(size);
		position = tac_vec3_add(position,
					tac_vec3_make(most * (float)variation(m), most * (float)variation(m),
						      most * (float)variation(m)));
		for (int32_t i = 0; i < solid->vertex_count; i++)
			m->vertices[m->vertex_count + i] =
				tac_vec3_add(rotated(solid->vertices[i], d), position);
		for (int32_t i = 0; i < solid->triangle_count; i++) {
			tac_mesh_triangle t = solid->triangles[i];
			for (int k = 0; k < 3; k++)
				t.vertex[k] += m->vertex_count;
			m->triangles[m->triangle_count + i] = t;
			m->triangle_surface[m->triangle_count + i] =
				m->surface_count + solid->triangle_surface[i];
		}
		for (int32_t i = 0; i < solid->surface_count; i++)
			snprintf(m->names[m->surface_count + i], NAME_LENGTH, "%s %d %s", name,
				 (int)m->solid_count, solid->surfaces[i].name);
		m->vertex_count += solid->vertex_count;
		m->triangle_count += solid->triangle_count;
		m->surface_count += solid->surface_count;
		m->solid_count++;
	}
	tac_mesh_destroy(&solid);
}

static void box(part_builder *m, const char *name, int32_t segments, tac_vec3 size, tac_vec3 position)
{
	tac_mesh *solid;
	tac_result result = tac_mesh_build_box(size, segments, &solid);
	add_solid(m, solid, result, name, ALONG_Z, position);
}

static void cylinder(part_builder *m, const char *name, int32_t segments, int32_t rings, float radius,
		     float length, direction d, tac_vec3 position)
{
	tac_mesh *solid;
	tac_result result = tac_mesh_build_cylinder(radius, length, segments, rings, &solid);
	add_solid(m, solid, result, name, d, position);
}

static void ring(part_builder *m, const char *name, int32_t segments, int32_t sides, float radius,
		 float thickness, direction d, tac_vec3 position)
{
	tac_mesh *solid;
	tac_result result = tac_mesh_build_torus(radius, thickness, segments, sides, &solid);
	add_solid(m, solid, result, name, d, position);
}

// Builds the mesh, adds the part to the assembly and clears the builder for the next part.
static void finish(part_builder *m, tac_assembly *assembly, tac_dvec3 position, tac_dvec3 start_offset,
		   tac_dvec3 axis, double angle_rad)
{
	tac_mesh *mesh = NULL;
	const char **names = malloc((size_t)(m->surface_count + 1) * sizeof *names);
	if (!names && m->result >= 0)
		m->result = TAC_ERROR_MEMORY;
	if (m->result >= 0) {
		for (int32_t i = 0; i < m->surface_count; i++)
			names[i] = m->names[i];
		tac_mesh_def def = tac_mesh_def_default();
		def.name = assembly->name;
		def.vertices = m->vertices;
		def.vertex_count = m->vertex_count;
		def.triangles = m->triangles;
		def.triangle_count = m->triangle_count;
		def.triangle_surface = m->triangle_surface;
		def.surface_names = names;
		def.surface_count = m->surface_count;
		m->result = tac_mesh_build(&def, &mesh);
	}
	double most = VARIATION * tac_dvec3_length(start_offset);
	start_offset = tac_dvec3_add(
		start_offset, tac_dvec3_make(most * variation(m), most * variation(m), most * variation(m)));
	angle_rad *= 1 + VARIATION * variation(m);
	if (m->result >= 0) {
		TAC_ASSERT(assembly->part_count < TAC_ASSEMBLY_PARTS);
		assembly->parts[assembly->part_count++] =
			(tac_assembly_part){mesh, position, start_offset, axis, angle_rad};
		assembly->surface_count += mesh->surface_count;
		assembly->triangle_count += mesh->triangle_count;
	}
	free(names);
	m->vertex_count = m->triangle_count = m->surface_count = m->solid_count = 0;
}

static tac_vec3 v(float x, float y, float z)
{
	return tac_vec3_make(x, y, z);
}

static tac_dvec3 d(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

// Undercarriage, upper structure, boom, arm and bucket; the pins of each reach into the part before it.
static void build_digger(part_builder *m, tac_assembly *a)
{
	tac_dvec3 up = d(0, 0, 1), across = d(0, 1, 0);
	box(m, "track", 2, v(1.6f, .3f, .3f), v(0, .6f, 0));
	box(m, "track", 2, v(1.6f, .3f, .3f), v(0, -.6f, 0));
	box(m, "frame", 2, v(1, 1, .25f), v(0, 0, .1f));
	for (int i = 0; i < 4; i++)
		cylinder(m, "wheel", 24, 2, .22f, .34f, ALONG_Y,
			 v(i < 2 ? -.7f : .7f, i % 2 ? -.6f : .6f, -.02f));
	ring(m, "slewing ring", 12, 6, .3f, .05f, ALONG_Z, v(0, 0, .25f));
	finish(m, a, d(0, 0, 0), d(0, 0, 0), up, 0);

	box(m, "cabin", 2, v(.5f, .4f, .6f), v(.2f, .25f, .35f));
	box(m, "counterweight", 2, v(.4f, .9f, .4f), v(-.5f, 0, .25f));
	cylinder(m, "pivot", 24, 2, .28f, .2f, ALONG_Z, v(0, 0, 0));
	cylinder(m, "boom bearing", 24, 2, .06f, .3f, ALONG_Y, v(.45f, -.1f, .15f));
	finish(m, a, d(0, 0, .3), d(0, 0, 1.5), up, .6);

	box(m, "beam", 2, v(1.6f, .16f, .2f), v(.8f, 0, 0));
	box(m, "rib", 2, v(.6f, .18f, .3f), v(.9f, 0, .05f));
	cylinder(m, "pin", 24, 2, .055f, .3f, ALONG_Y, v(0, 0, 0));
	cylinder(m, "pin", 24, 2, .05f, .26f, ALONG_Y, v(1.55f, 0, 0));
	finish(m, a, d(.45, -.1, .45), d(1.2, 0, .8), across, -.5);

	box(m, "stick", 2, v(.14f, .14f, 1.1f), v(0, 0, -.5f));
	box(m, "rib", 2, v(.2f, .12f, .4f), v(.05f, 0, -.3f));
	cylinder(m, "pin", 24, 2, .048f, .28f, ALONG_Y, v(0, 0, 0));
	cylinder(m, "pin", 24, 2, .045f, .24f, ALONG_Y, v(0, 0, -1));
	finish(m, a, d(2, -.1, .45), d(.6, 0, 1), across, .4);

	box(m, "back", 2, v(.08f, .5f, .45f), v(.1f, 0, -.2f));
	box(m, "floor", 2, v(.4f, .48f, .06f), v(-.1f, 0, -.4f));
	box(m, "bracket", 2, v(.12f, .2f, .15f), v(.03f, 0, 0));
	cylinder(m, "pin", 24, 2, .043f, .26f, ALONG_Y, v(0, 0, 0));
	cylinder(m, "tooth bar", 24, 2, .03f, .5f, ALONG_Y, v(-.3f, 0, -.4f));
	finish(m, a, d(2, -.1, -.55), d(-.3, 0, -.9), across, .7);
}

// A tray of five by five modules; the grommets of each reach into the next.
static void build_box(part_builder *m, tac_assembly *a)
{
	tac_rng rng = tac_rng_seed(2, 0);
	for (int i = 0; i < 25; i++) {
		box(m, "carrier", 2, v(.1f, .1f, .012f), v(0, 0, 0));
		for (int k = 0; k < 5; k++) {
			float x = -.036f + .018f * (float)k, y = tac_rng_range_f32(&rng, -.02f, .02f);
			float height = tac_rng_range_f32(&rng, .01f, .028f);
			box(m, "chip", 2, v(.014f, .03f, height), v(x, y, .005f + .5f * height));
		}
		for (int k = 0; k < 4; k++) {
			float x = k % 2 ? .042f : -.042f, y = k < 2 ? .042f : -.042f;
			cylinder(m, "pin", 18, 3, .004f, .05f, ALONG_Z, v(x, y, .005f));
		}
		ring(m, "grommet", 13, 3, .009f, .003f, ALONG_X, v(.05f, 0, .006f));
		ring(m, "grommet", 13, 3, .009f, .003f, ALONG_Y, v(0, .05f, .006f));
		int column = i % 5, row = i / 5;
		finish(m, a, d(.102 * column, .102 * row, 0), d(.02, .01, .15), d(0, 0, 1), .15);
	}
}

// A row of modules of vessels, pipes and flanges; the pipes of each end in the flanges of the next.
static void build_plant(part_builder *m, tac_assembly *a)
{
	tac_rng rng = tac_rng_seed(3, 0);
	for (int i = 0; i < 8; i++) {
		for (int k = 0; k < 10; k++)
			box(m, "support", 1, v(.12f, .12f, 1),
			    v(-1 + .22f * (float)k, k % 2 ? .9f : -.9f, -1));
		for (int k = 0; k < 24; k++) {
			direction along = (direction)(k % 3);
			// Two pipes reach the next module, the vessels and the others stay inside.
			float length = k == 4 || k == 7 ? 2.3f : tac_rng_range_f32(&rng, .8f, 1.6f);
			float radius = k < 3 ? .35f : tac_rng_range_f32(&rng, .04f, .12f);
			cylinder(m, k < 3 ? "vessel" : "pipe", 10, 4, radius, length, along,
				 v(along == ALONG_X ? 0 : tac_rng_range_f32(&rng, -.6f, .6f),
				   tac_rng_range_f32(&rng, -.8f, .8f), tac_rng_range_f32(&rng, -.6f, .9f)));
		}
		ring(m, "flange", 16, 8, .2f, .06f, ALONG_X, v(1.1f, 0, 0));
		ring(m, "flange", 16, 8, .25f, .06f, ALONG_Z, v(0, 0, .9f));
		if (i == 0)
			ring(m, "flange", 16, 8, .2f, .06f, ALONG_X, v(-1.1f, 0, 0));
		finish(m, a, d(2.25 * i, 0, 0), d(.5, .3, 3), d(0, 0, 1), .25);
	}
}

tac_result tac_assembly_build(tac_assembly_kind kind, tac_assembly *out_assembly)
{
	return tac_assembly_build_varied(kind, 0, out_assembly);
}

tac_result tac_assembly_build_varied(tac_assembly_kind kind, uint64_t seed, tac_assembly *out_assembly)
{
	static const char *const names[TAC_ASSEMBLY_KINDS] = {"digger", "box", "plant"};
	static void (*const builders[TAC_ASSEMBLY_KINDS])(part_builder *, tac_assembly *) = {
		build_digger, build_box, build_plant};
	TAC_ASSERT(kind < TAC_ASSEMBLY_KINDS);
	*out_assembly = (tac_assembly){.name = names[kind]};
	part_builder m = {.varied = seed != 0, .rng = tac_rng_seed(seed, 0)};
	builders[kind](&m, out_assembly);
	free(m.vertices);
	free(m.triangles);
	free(m.triangle_surface);
	free(m.names);
	if (m.result < 0)
		tac_assembly_fini(out_assembly);
	return m.result;
}

void tac_assembly_fini(tac_assembly *assembly)
{
	for (int32_t i = 0; i < assembly->part_count; i++)
		tac_mesh_destroy(&assembly->parts[i].mesh);
	*assembly = (tac_assembly){0};
}

void tac_assembly_pose(const tac_assembly *assembly, int32_t part, double progress, tac_dmat3 *out_rotation,
		       tac_dvec3 *out_translation)
{
	TAC_ASSERT(part >= 0 && part < assembly->part_count);
	const tac_assembly_part *p = &assembly->parts[part];
	double remaining = 1 - progress;
	*out_rotation = tac_dmat3_from_axis_angle(p->axis, remaining * p->angle_rad);
	*out_translation = tac_dvec3_add_scaled(p->position, remaining, p->start_offset);
}

void tac_assembly_relative(const tac_assembly *assembly, int32_t fixed, int32_t moving, double progress,
			   tac_dmat3 *out_rotation, tac_dvec3 *out_translation)
{
	TAC_ASSERT(fixed >= 0 && fixed < assembly->part_count);
	tac_assembly_pose(assembly, moving, progress, out_rotation, out_translation);
	// An assembled part is not rotated.
	*out_translation = tac_dvec3_sub(*out_translation, assembly->parts[fixed].position);
}
