#include "base/assert.h"
#include "base/log.h"
#include "collision/shape.h"

#include <math.h>
#include <stdlib.h>

// Along a quarter of a circle: a chord this short leaves less than 1e-3 of the radius.
#define ARC_STEPS 24

typedef struct profile {
	double z[4 * ARC_STEPS + 4], r[4 * ARC_STEPS + 4];
	int32_t count;
} profile;

static void add_point(profile *p, double z, double r)
{
	p->z[p->count] = z;
	p->r[p->count++] = r;
}

// Half a circle's worth of points for the part of a tube between two heights; the steps are equal in angle.
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

tac_result tac_solids_mesh(const tac_solids *solids, int32_t segments, tac_mesh **out_mesh)
{
	static const char *const names[] = {"sphere", "capsule", "cylinder", "cone", "toroid"};
	TAC_ASSERT(segments >= 3);
	*out_mesh = NULL;
	size_t rings = 4 * ARC_STEPS + 4, around = (size_t)segments, count = (size_t)solids->count;
	size_t most_vertices = count * (rings * around + 2),
	       most_triangles = count * (2 * rings + 2) * around;
	tac_vec3 *vertices = malloc((most_vertices + 1) * sizeof *vertices);
	tac_mesh_triangle *triangles = malloc((most_triangles + 1) * sizeof *triangles);
	int32_t *surfaces = malloc((most_triangles + 1) * sizeof *surfaces);
	tac_result result = TAC_ERROR_MEMORY;
	if (vertices != NULL && triangles != NULL && surfaces != NULL) {
		tac_mesh_def def = tac_mesh_def_default();
		const char *surface_names[TAC_SOLIDS_MAX];
		for (int32_t s = 0; s < solids->count; s++) {
			const tac_solid *solid = &solids->solid[s];
			profile p = profile_of(solid);
			surface_names[s] = names[solid->kind];
			// Rings of vertices from the bottom up, with a point on the axis at both ends. Rings
			// of radius 0 collapse when the mesh is welded, and their triangles are dropped.
			int32_t first = def.vertex_count;
			for (int32_t i = -1; i <= p.count; i++) {
				int32_t at = i < 0 ? 0 : i == p.count ? p.count - 1 : i;
				int32_t copies = at == i ? segments : 1;
				for (int32_t k = 0; k < copies; k++) {
					double angle = 6.283185307179586 * k / segments,
					       r = at == i ? p.r[at] : 0;
					tac_dvec3 x = tac_dvec3_make(r * cos(angle), r * sin(angle), p.z[at]);
					x = tac_dvec3_add(tac_dmat3_apply(solid->rotation, x),
							  solid->position);
					vertices[def.vertex_count++] = tac_vec3_from_dvec3(x);
				}
			}
			int32_t bottom = first, top = def.vertex_count - 1;
			for (int32_t k = 0; k < segments; k++) {
				int32_t next = (k + 1) % segments, ring = first + 1,
					last = ring + (p.count - 1) * segments;
				surfaces[def.triangle_count] = s;
				triangles[def.triangle_count++] =
					(tac_mesh_triangle){{bottom, ring + next, ring + k}};
				surfaces[def.triangle_count] = s;
				triangles[def.triangle_count++] =
					(tac_mesh_triangle){{top, last + k, last + next}};
				for (int32_t i = 0; i + 1 < p.count; i++, ring += segments) {
					int32_t a = ring + k, b = ring + next, c = a + segments,
						d = b + segments;
					surfaces[def.triangle_count] = s;
					triangles[def.triangle_count++] = (tac_mesh_triangle){{a, b, d}};
					surfaces[def.triangle_count] = s;
					triangles[def.triangle_count++] = (tac_mesh_triangle){{a, d, c}};
				}
			}
		}
		def.name = "solids";
		def.vertices = vertices;
		def.triangles = triangles;
		def.triangle_surface = surfaces;
		def.surface_names = surface_names;
		def.surface_count = solids->count;
		result = tac_mesh_build(&def, out_mesh);
	} else {
		tac_log(TAC_LOG_ERROR, "solids: no memory for a mesh of %d solids", (int)solids->count);
	}
	free(vertices);
	free(triangles);
	free(surfaces);
	return result;
}
