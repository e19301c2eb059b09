#include "collision/mesh_smooth.h"

#include <math.h>
#include <stdlib.h>

// Triangles around a vertex that one corner's normal takes into account, in each direction.
#define FAN 256
// Angles that should be equal to the crease angle are rounded.
#define CREASE_SLACK_RAD 1e-4
// A point closer than this to two edges of a triangle, relative to its size, lies at their vertex.
#define AT_VERTEX 1e-6

// ---- build ----

// The edge of corner k to the next one, and the triangle on its other side; -1: none.
static int32_t across(const tac_mesh *mesh, int32_t triangle, int k)
{
	const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[triangle].vertex[k]];
	return edge->triangle_count == 2 ? edge->triangle[edge->triangle[0] == triangle] : -1;
}

static int corner_of(const tac_mesh *mesh, int32_t triangle, int32_t vertex)
{
	const int32_t *v = mesh->triangles[triangle].vertex;
	return v[0] == vertex ? 0 : v[1] == vertex ? 1 : 2;
}

// The weight of a triangle's normal at its corner k, 1/m^2: the sine of the angle there over the lengths of
// its sides. If all neighbours of a vertex lie on a sphere with it, the sum is the sphere's normal.
static double corner_weight(const tac_mesh *mesh, int32_t triangle, int k)
{
	const tac_dvec3 tip = tac_mesh_corner(mesh, triangle, k);
	const tac_dvec3 a = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, (k + 1) % 3), tip);
	const tac_dvec3 b = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, (k + 2) % 3), tip);
	const double squares = tac_dvec3_length_squared(a) * tac_dvec3_length_squared(b);
	return squares > 0 ? tac_dvec3_length(tac_dvec3_cross(a, b)) / squares : 0;
}

static bool is_sharp(const tac_mesh *mesh, const tac_dvec3 *facets, const double *crease_rad, int32_t t,
		     int k)
{
	const int32_t other = across(mesh, t, k);
	if (other < 0)
		return true;
	// Neighbours that agree on the outside run along their edge in opposite directions.
	const int32_t from = mesh->triangles[t].vertex[k], to = mesh->triangles[t].vertex[(k + 1) % 3];
	if (mesh->triangles[other].vertex[(corner_of(mesh, other, to) + 1) % 3] != from)
		return true;
	const double crease =
		fmin(crease_rad[mesh->triangle_surface[t]], crease_rad[mesh->triangle_surface[other]]);
	const double angle = atan2(tac_dvec3_length(tac_dvec3_cross(facets[t], facets[other])),
				   tac_dvec3_dot(facets[t], facets[other]));
	return !(crease > 0 && angle <= crease + CREASE_SLACK_RAD);
}

// Adds the normals around the vertex of corner k, walking from triangle to triangle in one direction. True if
// the walk came around to the start.
static bool walk_fan(const tac_mesh *mesh, const tac_mesh_smooth *smooth, const tac_dvec3 *facets,
		     int32_t triangle, int k, bool forward, tac_dvec3 *sum)
{
	const int32_t vertex = mesh->triangles[triangle].vertex[k];
	int32_t t = triangle;
	for (int step = 0; step < FAN; step++) {
		const int corner = corner_of(mesh, t, vertex), edge = forward ? (corner + 2) % 3 : corner;
		if (smooth->sharp_edge[3 * (size_t)t + (size_t)edge])
			return false;
		t = across(mesh, t, edge);
		if (t == triangle)
			return true;
		*sum = tac_dvec3_add_scaled(*sum, corner_weight(mesh, t, corner_of(mesh, t, vertex)),
					    facets[t]);
	}
	return false;
}

static void find_normals(const tac_mesh *mesh, const tac_dvec3 *facets, tac_mesh_smooth *smooth)
{
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		for (int k = 0; k < 3; k++) {
			const size_t c = 3 * (size_t)t + (size_t)k;
			tac_dvec3 sum = tac_dvec3_scale(facets[t], corner_weight(mesh, t, k));
			smooth->sharp_vertex[c] = !walk_fan(mesh, smooth, facets, t, k, true, &sum);
			if (smooth->sharp_vertex[c])
				walk_fan(mesh, smooth, facets, t, k, false, &sum);
			smooth->normals[c] = tac_vec3_from_dvec3(tac_dvec3_normalize(sum));
		}
	}
}

tac_result tac_mesh_smooth_build(const tac_mesh *mesh, const double *crease_rad, tac_mesh_smooth **out_smooth)
{
	const size_t corners = 3 * (size_t)mesh->triangle_count;
	tac_mesh_smooth *smooth = calloc(1, sizeof *smooth);
	tac_dvec3 *facets = malloc(((size_t)mesh->triangle_count + 1) * sizeof *facets);
	if (smooth) {
		smooth->normals = malloc((corners + 1) * sizeof *smooth->normals);
		smooth->sharp_edge = malloc((corners + 1) * sizeof *smooth->sharp_edge);
		smooth->sharp_vertex = malloc((corners + 1) * sizeof *smooth->sharp_vertex);
	}
	if (!smooth || !facets || !smooth->normals || !smooth->sharp_edge || !smooth->sharp_vertex) {
		tac_mesh_smooth_destroy(&smooth);
	} else {
		for (int32_t t = 0; t < mesh->triangle_count; t++)
			facets[t] = tac_mesh_triangle_normal(mesh, t);
		for (size_t c = 0; c < corners; c++)
			smooth->sharp_edge[c] =
				is_sharp(mesh, facets, crease_rad, (int32_t)(c / 3), (int)(c % 3));
		find_normals(mesh, facets, smooth);
	}
	free(facets);
	*out_smooth = smooth;
	return smooth ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_mesh_smooth_destroy(tac_mesh_smooth **smooth)
{
	if (*smooth) {
		free((*smooth)->normals);
		free((*smooth)->sharp_edge);
		free((*smooth)->sharp_vertex);
	}
	free(*smooth);
	*smooth = NULL;
}

// ---- queries ----

// The barycentric coordinates of a point in a triangle's plane, times twice the area. The one of a corner is
// negative beyond the opposite edge.
static void barycentric(const tac_mesh *mesh, int32_t triangle, tac_dvec3 normal, tac_dvec3 point,
			double out_weights[3])
{
	tac_dvec3 to[3];
	for (int k = 0; k < 3; k++)
		to[k] = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, k), point);
	for (int k = 0; k < 3; k++)
		out_weights[k] = tac_dvec3_dot(tac_dvec3_cross(to[(k + 1) % 3], to[(k + 2) % 3]), normal);
}

static tac_dvec3 corner_normal(const tac_mesh_smooth *smooth, int32_t triangle, int k)
{
	return tac_dvec3_from_vec3(smooth->normals[3 * (size_t)triangle + (size_t)k]);
}

// Normal and bulge of the smooth surface at the given coordinates.
static void interpolate(const tac_mesh *mesh, const tac_mesh_smooth *smooth, const double weights[3],
			tac_mesh_location *at)
{
	double share[3], total = 0;
	for (int k = 0; k < 3; k++)
		total += share[k] = fmax(weights[k], 0);
	if (!(total > 0))
		return;
	tac_dvec3 sum = tac_dvec3_zero(), foot = tac_dvec3_zero(), bulge = tac_dvec3_zero();
	for (int k = 0; k < 3; k++) {
		share[k] /= total;
		sum = tac_dvec3_add_scaled(sum, share[k], corner_normal(smooth, at->triangle, k));
		foot = tac_dvec3_add_scaled(foot, share[k], tac_mesh_corner(mesh, at->triangle, k));
	}
	for (int k = 0; k < 3; k++) {
		const tac_dvec3 n = corner_normal(smooth, at->triangle, k);
		const double above =
			tac_dvec3_dot(tac_dvec3_sub(tac_mesh_corner(mesh, at->triangle, k), foot), n);
		bulge = tac_dvec3_add_scaled(bulge, 0.5 * share[k] * above, n);
	}
	const tac_dvec3 normal = tac_dvec3_normalize(sum);
	if (!(tac_dvec3_dot(normal, at->facet_normal) > 0))
		return;
	at->smooth_normal = normal;
	at->bulge_m = bulge;
}

tac_mesh_location tac_mesh_locate(const tac_mesh *mesh, const tac_mesh_smooth *smooth, int32_t triangle,
				  tac_dvec3 point_m)
{
	tac_mesh_location at = {.triangle = triangle,
				.facet_normal = tac_mesh_triangle_normal(mesh, triangle)};
	double weights[3];
	barycentric(mesh, triangle, at.facet_normal, point_m, weights);
	for (int step = 0; smooth && step < TAC_MESH_WALK; step++) {
		int k = 0;
		for (int i = 1; i < 3; i++)
			k = weights[i] < weights[k] ? i : k;
		const int edge = (k + 1) % 3; // opposite to corner k
		if (weights[k] >= 0 || smooth->sharp_edge[3 * (size_t)at.triangle + (size_t)edge])
			break;
		at.triangle = across(mesh, at.triangle, edge);
		at.facet_normal = tac_mesh_triangle_normal(mesh, at.triangle);
		barycentric(mesh, at.triangle, at.facet_normal, point_m, weights);
	}
	at.height_m =
		tac_dvec3_dot(tac_dvec3_sub(point_m, tac_mesh_corner(mesh, at.triangle, 0)), at.facet_normal);
	at.smooth_normal = at.facet_normal;
	if (smooth)
		interpolate(mesh, smooth, weights, &at);
	return at;
}

tac_mesh_feature tac_mesh_nearest_feature(const tac_mesh *mesh, const tac_mesh_smooth *smooth,
					  int32_t triangle, tac_dvec3 point_m)
{
	double weights[3];
	barycentric(mesh, triangle, tac_mesh_triangle_normal(mesh, triangle), point_m, weights);
	const double total = weights[0] + weights[1] + weights[2];
	int low = 0;
	for (int i = 1; i < 3; i++)
		low = weights[i] < weights[low] ? i : low;
	for (int k = 0; k < 3; k++) {
		if (weights[(k + 1) % 3] < AT_VERTEX * total && weights[(k + 2) % 3] < AT_VERTEX * total)
			return (tac_mesh_feature){smooth->sharp_vertex[3 * (size_t)triangle + (size_t)k], -1,
						  tac_dvec3_zero()};
	}
	const int edge = (low + 1) % 3;
	return (tac_mesh_feature){
		smooth->sharp_edge[3 * (size_t)triangle + (size_t)edge], across(mesh, triangle, edge),
		tac_dvec3_normalize(tac_dvec3_sub(tac_mesh_corner(mesh, triangle, (edge + 1) % 3),
						  tac_mesh_corner(mesh, triangle, edge)))};
}

double tac_mesh_curvature(const tac_mesh *mesh, const tac_mesh_smooth *smooth, int32_t triangle)
{
	double most = 0;
	for (int k = 0; k < 3; k++) {
		const int next = (k + 1) % 3;
		const double turn = tac_dvec3_length(tac_dvec3_sub(corner_normal(smooth, triangle, next),
								   corner_normal(smooth, triangle, k)));
		const double length = tac_dvec3_length(tac_dvec3_sub(tac_mesh_corner(mesh, triangle, next),
								     tac_mesh_corner(mesh, triangle, k)));
		most = length > 0 ? fmax(most, turn / length) : most;
	}
	return most;
}
