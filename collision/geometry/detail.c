#include "collision/geometry/detail.h"

#include "collision/closest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The new surface is used when it saves at least 1 / LEAST_GAIN of the triangles.
#define LEAST_GAIN 4

// Whether a triangle has not changed. The numbers of its vertices may have.
static bool is_same(const tac_detail_surgery *s, int32_t t)
{
	for (int k = 0; k < 3; k++) {
		const tac_vec3 is = s->vertices[s->triangles[t].vertex[k]],
			       was = s->mesh->vertices[s->mesh->triangles[t].vertex[k]];
		if (is.x != was.x || is.y != was.y || is.z != was.z)
			return false;
	}
	return true;
}

// Copies what is left of the triangles, with the triangles of the source near each of them.
static bool build_result(const tac_detail_surgery *s, tac_detail *d)
{
	const tac_mesh *mesh = s->mesh;
	const size_t count = (size_t)s->triangle_count;
	tac_mesh_triangle *corners = malloc(count * sizeof *corners);
	int32_t *surfaces = malloc(count * sizeof *surfaces), links = 0;
	const char **names = malloc(((size_t)mesh->surface_count + 1) * sizeof *names);
	d->first = malloc((count + 1) * sizeof *d->first);
	d->same = malloc(count * sizeof *d->same);
	d->near = malloc(((size_t)s->link_count + 1) * sizeof *d->near);
	bool complete = corners && surfaces && names && d->first && d->near && d->same;
	tac_mesh_def def = tac_mesh_def_default();
	for (int32_t t = 0; t < mesh->triangle_count && complete; t++) {
		if (s->triangles[t].vertex[0] < 0)
			continue;
		d->first[def.triangle_count] = links;
		for (int32_t l = s->of_triangle[t]; l >= 0; l = s->links[l].next_of_triangle)
			d->near[links++] = s->links[l].source;
		d->same[def.triangle_count] = is_same(s, t) ? t : -1;
		surfaces[def.triangle_count] = mesh->triangle_surface[t];
		corners[def.triangle_count++] = s->triangles[t];
	}
	for (int32_t i = 0; i < mesh->surface_count && complete; i++)
		names[i] = mesh->surfaces[i].name;
	if (complete) {
		d->first[def.triangle_count] = links;
		def.name = "detail";
		def.vertices = s->vertices;
		def.vertex_count = mesh->vertex_count;
		def.triangles = corners;
		def.triangle_surface = surfaces;
		def.surface_names = names;
		def.surface_count = mesh->surface_count;
		complete = tac_mesh_build(&def, &d->mesh) >= TAC_OK;
	}
	free(corners);
	free(surfaces);
	free(names);
	return complete;
}

// Whether the new mesh has the triangles that were proved, and the topology of the source.
static bool is_sound(const tac_mesh *was, const tac_mesh *is)
{
	return is->degenerate_triangles == 0 && is->non_manifold_edges <= was->non_manifold_edges &&
	       is->flipped_edges <= was->flipped_edges && (is->open_edges > 0) == (was->open_edges > 0);
}

tac_result tac_detail_build(const tac_mesh *mesh, const uint8_t *keep, double tolerance,
			    tac_detail **out_detail)
{
	*out_detail = NULL;
	const size_t triangles = (size_t)mesh->triangle_count, vertices = (size_t)mesh->vertex_count;
	tac_detail_surgery s = {.mesh = mesh,
				.tolerance = tolerance,
				.triangle_count = mesh->triangle_count,
				.vertices = malloc((vertices + 1) * sizeof *s.vertices),
				.triangles = malloc(triangles * sizeof *s.triangles),
				.kinds = calloc(vertices + 1, 1),
				.free_link = -1,
				.of_triangle = malloc(triangles * sizeof *s.of_triangle),
				.of_source = malloc(triangles * sizeof *s.of_source)};
	tac_detail *d = calloc(1, sizeof *d);
	bool complete = s.vertices && s.triangles && s.kinds && s.of_triangle && s.of_source && d;
	if (complete) {
		memcpy(s.vertices, mesh->vertices, vertices * sizeof *s.vertices);
		memcpy(s.triangles, mesh->triangles, triangles * sizeof *s.triangles);
		complete = tac_detail_operate(&s, keep) == TAC_OK;
	}
	const bool gains =
		complete && mesh->triangle_count - s.triangle_count > mesh->triangle_count / LEAST_GAIN;
	if (gains)
		complete = build_result(&s, d);
	if (gains && complete && is_sound(mesh, d->mesh)) {
		d->source = mesh;
		d->tolerance = tolerance;
		*out_detail = d;
		d = NULL;
	}
	tac_detail_destroy(&d);
	free(s.vertices);
	free(s.triangles);
	free(s.kinds);
	free(s.links);
	free(s.of_triangle);
	free(s.of_source);
	return complete ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_detail_destroy(tac_detail **detail)
{
	if (!*detail)
		return;
	tac_mesh_destroy(&(*detail)->mesh);
	free((*detail)->first);
	free((*detail)->near);
	free((*detail)->same);
	free(*detail);
	*detail = NULL;
}

static double distance_squared(const tac_mesh *mesh, int32_t triangle, tac_dvec3 p)
{
	const tac_dvec3 v[3] = {tac_mesh_corner(mesh, triangle, 0), tac_mesh_corner(mesh, triangle, 1),
				tac_mesh_corner(mesh, triangle, 2)};
	int region;
	return tac_dvec3_length_squared(tac_dvec3_sub(p, tac_closest_on_triangle(p, v, &region)));
}

int32_t tac_detail_source(const tac_detail *detail, int32_t triangle, tac_dvec3 point)
{
	const tac_mesh *mesh = detail->source;
	const int32_t from = detail->first[triangle], count = detail->first[triangle + 1] - from,
		      stride = 1 + (count - 1) / TAC_DETAIL_LOOKS;
	if (detail->same[triangle] >= 0)
		return detail->same[triangle];
	int32_t best = detail->near[from];
	double least = HUGE_VAL;
	for (int32_t i = 0; i < count; i += stride) {
		const double d = distance_squared(mesh, detail->near[from + i], point);
		if (d < least) {
			least = d;
			best = detail->near[from + i];
		}
	}
	for (int step = 0; step < TAC_DETAIL_WALK && least > 0; step++) {
		const int32_t here = best;
		for (int k = 0; k < 3; k++) {
			const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[here].vertex[k]];
			const int32_t other = edge->triangle[edge->triangle[0] == here];
			if (other < 0 || mesh->triangle_surface[other] != mesh->triangle_surface[here])
				continue;
			const double d = distance_squared(mesh, other, point);
			if (d < least) {
				least = d;
				best = other;
			}
		}
		if (best == here)
			break;
	}
	return best;
}
