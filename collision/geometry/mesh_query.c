#include "collision/mesh_query.h"

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
