#include "collision/mesh_query.h"

#include <math.h>
#include <stdlib.h>

// ---- winding number ----

// On which side of the line from `a` to `b` the point lies, seen from above. A point on the line is taken to
// lie an infinitesimal step further in x and a far smaller one in y; both triangles of an edge decide alike.
static bool left_of(tac_vec3 a, tac_vec3 b, tac_dvec3 p)
{
	const double x = (double)b.x - (double)a.x, y = (double)b.y - (double)a.y;
	const double side = x * (p.y - (double)a.y) - y * (p.x - (double)a.x);
	return side != 0 ? side > 0 : y != 0 ? y < 0 : x > 0;
}

// +1: the triangle is above the point and faces up. -1: it faces down. 0: it is not above the point.
static int32_t crossing(const tac_vec3 *a, const tac_vec3 *b, const tac_vec3 *c, tac_dvec3 p)
{
	// Each edge from its lower corner in memory, so that its other triangle computes the same bits.
	const bool ab = a < b ? left_of(*a, *b, p) : !left_of(*b, *a, p);
	const bool bc = b < c ? left_of(*b, *c, p) : !left_of(*c, *b, p);
	const bool ca = c < a ? left_of(*c, *a, p) : !left_of(*a, *c, p);
	if (ab != bc || bc != ca)
		return 0;
	const tac_dvec3 A = tac_dvec3_from_vec3(*a);
	const tac_dvec3 cross = tac_dvec3_triangle_cross(A, tac_dvec3_from_vec3(*b), tac_dvec3_from_vec3(*c));
	const double height = tac_dvec3_dot(cross, tac_dvec3_sub(p, A));
	return ab ? height < 0 : -(height > 0);
}

void tac_mesh_winding_add(const tac_mesh *mesh, int32_t begin, int32_t end, const tac_dvec3 *points,
			  int32_t count, int32_t *winding)
{
	for (int32_t i = begin; i < end; i++) {
		const int32_t *v = mesh->triangles[i].vertex;
		for (int32_t k = 0; k < count; k++)
			winding[k] += crossing(&mesh->vertices[v[0]], &mesh->vertices[v[1]],
					       &mesh->vertices[v[2]], points[k]);
	}
}

// ---- smooth surface ----

// The angle of a triangle at its corner k, rad.
static double corner_angle(const tac_mesh *mesh, int32_t triangle, int k)
{
	const tac_dvec3 tip = tac_mesh_corner(mesh, triangle, k);
	const tac_dvec3 a = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, (k + 1) % 3), tip);
	const tac_dvec3 b = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, (k + 2) % 3), tip);
	return atan2(tac_dvec3_length(tac_dvec3_cross(a, b)), tac_dvec3_dot(a, b));
}

// Corner c is corner c % 3 of triangle c / 3. On return, corners[first[v]] … corners[first[v + 1] - 1] are
// those at vertex v. `first` has vertex_count + 2 elements, all 0 at first.
static void list_corners(const tac_mesh *mesh, int32_t *first, int32_t *corners)
{
	const size_t count = 3 * (size_t)mesh->triangle_count;
	for (size_t c = 0; c < count; c++)
		first[mesh->triangles[c / 3].vertex[c % 3] + 2]++;
	for (int32_t v = 1; v <= mesh->vertex_count; v++)
		first[v + 1] += first[v];
	for (size_t c = 0; c < count; c++)
		corners[first[mesh->triangles[c / 3].vertex[c % 3] + 1]++] = (int32_t)c;
}

tac_result tac_mesh_corner_normals_build(const tac_mesh *mesh, tac_vec3 **out_normals)
{
	const size_t count = 3 * (size_t)mesh->triangle_count;
	int32_t *first = calloc((size_t)mesh->vertex_count + 2, sizeof *first);
	int32_t *corners = malloc((count + 1) * sizeof *corners);
	tac_vec3 *normals = malloc((count + 1) * sizeof *normals);
	if (first && corners && normals) {
		list_corners(mesh, first, corners);
		for (size_t c = 0; c < count; c++) {
			const int32_t v = mesh->triangles[c / 3].vertex[c % 3];
			tac_dvec3 sum = tac_dvec3_zero();
			for (int32_t i = first[v]; i < first[v + 1]; i++) {
				const int32_t t = corners[i] / 3;
				if (mesh->triangle_surface[t] == mesh->triangle_surface[c / 3])
					sum = tac_dvec3_add_scaled(sum, corner_angle(mesh, t, corners[i] % 3),
								   tac_mesh_triangle_normal(mesh, t));
			}
			normals[c] = tac_vec3_from_dvec3(tac_dvec3_normalize(sum));
		}
	} else {
		free(normals);
		normals = NULL;
	}
	free(first);
	free(corners);
	*out_normals = normals;
	return normals ? TAC_OK : TAC_ERROR_MEMORY;
}

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

// The neighbour of the same surface across the edge opposite to corner k; -1: none.
static int32_t neighbour(const tac_mesh *mesh, int32_t triangle, int k)
{
	const tac_mesh_edge *edge = &mesh->edges[mesh->triangle_edges[triangle].vertex[(k + 1) % 3]];
	const int32_t other = edge->triangle[edge->triangle[0] == triangle];
	return other >= 0 && mesh->triangle_surface[other] == mesh->triangle_surface[triangle] ? other : -1;
}

tac_mesh_location tac_mesh_locate(const tac_mesh *mesh, const tac_vec3 *corner_normals, int32_t triangle,
				  tac_dvec3 point_m)
{
	tac_mesh_location at = {.triangle = triangle,
				.facet_normal = tac_mesh_triangle_normal(mesh, triangle)};
	double weights[3];
	barycentric(mesh, triangle, at.facet_normal, point_m, weights);
	for (int step = 0; corner_normals && step < TAC_MESH_WALK; step++) {
		int k = 0;
		for (int i = 1; i < 3; i++)
			k = weights[i] < weights[k] ? i : k;
		const int32_t next = weights[k] < 0 ? neighbour(mesh, at.triangle, k) : -1;
		if (next < 0)
			break;
		at.triangle = next;
		at.facet_normal = tac_mesh_triangle_normal(mesh, next);
		barycentric(mesh, next, at.facet_normal, point_m, weights);
	}
	at.height_m =
		tac_dvec3_dot(tac_dvec3_sub(point_m, tac_mesh_corner(mesh, at.triangle, 0)), at.facet_normal);
	at.smooth_normal = at.facet_normal;
	if (!corner_normals)
		return at;
	tac_dvec3 sum = tac_dvec3_zero();
	for (int k = 0; k < 3; k++)
		sum = tac_dvec3_add_scaled(
			sum, fmax(weights[k], 0),
			tac_dvec3_from_vec3(corner_normals[3 * (size_t)at.triangle + (size_t)k]));
	const tac_dvec3 smooth = tac_dvec3_normalize(sum);
	if (tac_dvec3_dot(smooth, at.facet_normal) > 0)
		at.smooth_normal = smooth;
	return at;
}
