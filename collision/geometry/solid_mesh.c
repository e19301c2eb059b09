#include "base/assert.h"
#include "base/log.h"
#include "collision/solid.h"

#include <math.h>
#include <stdlib.h>

// Chords of a quarter circle: the gap between a chord and its arc is below 1e-3 of the radius.
#define ARC_STEPS        24
#define PROFILE_CAPACITY (4 * ARC_STEPS + 4)
#define TWO_PI           6.283185307179586

// The outline of a solid in the half plane (z, r), from the bottom up.
typedef struct profile {
	double z[PROFILE_CAPACITY], r[PROFILE_CAPACITY];
	int32_t count;
} profile;

static void add_point(profile *p, double z, double r)
{
	p->z[p->count] = z;
	p->r[p->count++] = r;
}

// The arc of a circle around (centre, major) between two heights above its centre, on the outer side for sign
// 1 and on the inner for -1, in 2 ARC_STEPS steps of equal angle.
static void add_arc(profile *p, double centre, double radius, double major, double from, double to,
		    double sign)
{
	double a = asin(fmax(fmin(from / radius, 1), -1)), b = asin(fmax(fmin(to / radius, 1), -1));
	for (int i = 0; i <= 2 * ARC_STEPS; i++) {
		double angle = a + (b - a) * i / (2 * ARC_STEPS);
		double z = i == 0 ? from : i == 2 * ARC_STEPS ? to : radius * sin(angle);
		double r = major + sign * sqrt(fmax(radius * radius - z * z, 0));
		add_point(p, centre + z, fmax(r, 0));
	}
}

static profile profile_of(const tac_solid *s)
{
	profile p = {.count = 0};
	switch (s->kind) {
	case TAC_SOLID_SPHERE:
		add_arc(&p, 0, s->radius, 0, -s->radius, s->radius, 1);
		break;
	case TAC_SOLID_CAPSULE:
		add_arc(&p, -s->height / 2, s->radius, 0, -s->radius, 0, 1);
		add_arc(&p, s->height / 2, s->radius, 0, 0, s->radius, 1);
		break;
	case TAC_SOLID_CYLINDER:
		add_point(&p, -s->height / 2, s->radius);
		add_point(&p, s->height / 2, s->radius);
		break;
	case TAC_SOLID_CONE:
		add_point(&p, -s->height / 2, s->radius);
		add_point(&p, s->height / 2, s->top);
		break;
	case TAC_SOLID_TOROID:
		add_arc(&p, 0, s->minor, s->radius, s->z_min, s->z_max, s->concave ? -1 : 1);
		break;
	}
	return p;
}

// The arrays of a mesh under construction.
typedef struct mesh_arrays {
	tac_vec3 *vertices;
	tac_mesh_triangle *triangles;
	int32_t *triangle_surface;
	int32_t vertex_count, triangle_count;
	int32_t surface; // of the triangles that are added
} mesh_arrays;

static void add_triangle(mesh_arrays *m, int32_t a, int32_t b, int32_t c)
{
	m->triangle_surface[m->triangle_count] = m->surface;
	m->triangles[m->triangle_count++] = (tac_mesh_triangle){{a, b, c}};
}

// Adds the first `count` vertices of a ring of `segments` around the solid's axis.
static void add_ring(mesh_arrays *m, const tac_solid *solid, double z, double r, int32_t count,
		     int32_t segments)
{
	for (int32_t k = 0; k < count; k++) {
		double angle = TWO_PI * k / segments;
		tac_dvec3 x = tac_dvec3_make(r * cos(angle), r * sin(angle), z);
		x = tac_dvec3_add(tac_dmat3_apply(solid->rotation, x), solid->position);
		m->vertices[m->vertex_count++] = tac_vec3_from_dvec3(x);
	}
}

// Rings of vertices from the bottom up, with a point on the axis at both ends. Rings of radius 0 collapse
// when the mesh is welded, and their triangles are dropped.
static void add_solid(mesh_arrays *m, const tac_solid *solid, int32_t segments)
{
	profile p = profile_of(solid);
	const int32_t bottom = m->vertex_count, first = bottom + 1;
	const int32_t last = first + (p.count - 1) * segments, top = last + segments;
	add_ring(m, solid, p.z[0], 0, 1, segments);
	for (int32_t i = 0; i < p.count; i++)
		add_ring(m, solid, p.z[i], p.r[i], segments, segments);
	add_ring(m, solid, p.z[p.count - 1], 0, 1, segments);
	for (int32_t k = 0; k < segments; k++) {
		const int32_t next = (k + 1) % segments;
		add_triangle(m, bottom, first + next, first + k);
		add_triangle(m, top, last + k, last + next);
		for (int32_t ring = first; ring < last; ring += segments) {
			const int32_t above = ring + segments;
			add_triangle(m, ring + k, ring + next, above + next);
			add_triangle(m, ring + k, above + next, above + k);
		}
	}
}

tac_result tac_solids_build_mesh(const tac_solids *solids, int32_t segments, tac_mesh **out_mesh)
{
	static const char *const kind_names[] = {"sphere", "capsule", "cylinder", "cone", "toroid"};
	TAC_ASSERT(segments >= 3);
	*out_mesh = NULL;
	const size_t around = (size_t)segments, count = (size_t)solids->count;
	const size_t most_vertices = count * (PROFILE_CAPACITY * around + 2);
	const size_t most_triangles = count * (2 * PROFILE_CAPACITY + 2) * around;
	mesh_arrays m = {.vertices = malloc((most_vertices + 1) * sizeof *m.vertices),
			 .triangles = malloc((most_triangles + 1) * sizeof *m.triangles),
			 .triangle_surface = malloc((most_triangles + 1) * sizeof *m.triangle_surface)};
	tac_result result = TAC_ERROR_MEMORY;
	if (m.vertices && m.triangles && m.triangle_surface) {
		const char *surface_names[TAC_SOLIDS_MAX];
		for (m.surface = 0; m.surface < solids->count; m.surface++) {
			surface_names[m.surface] = kind_names[solids->solid[m.surface].kind];
			add_solid(&m, &solids->solid[m.surface], segments);
		}
		tac_mesh_def def = tac_mesh_def_default();
		def.name = "solids";
		def.vertices = m.vertices;
		def.vertex_count = m.vertex_count;
		def.triangles = m.triangles;
		def.triangle_count = m.triangle_count;
		def.triangle_surface = m.triangle_surface;
		def.surface_names = surface_names;
		def.surface_count = solids->count;
		result = tac_mesh_build(&def, out_mesh);
	} else {
		tac_log(TAC_LOG_ERROR, "solids: no memory for a mesh of %d solids", (int)solids->count);
	}
	free(m.vertices);
	free(m.triangles);
	free(m.triangle_surface);
	return result;
}
