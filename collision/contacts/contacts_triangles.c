// The contacts of two triangles that a static query has found.
#include "collision/closest.h"
#include "collision/contacts/cone.h"

#include <math.h>

// The plane of a face separates only what is at least this far above it, m: less is rounding.
#define SEPARATED_M 1e-6

// A separating plane, in the fixed frame.
typedef struct plane {
	enum { BETWEEN, FIXED_FACE, MOVING_FACE } kind;
	tac_dvec3 normal; // from the fixed to the moving triangle
	tac_dvec3 point;  // of the plane, on the fixed triangle (MOVING_FACE: on the moving one)
} plane;

// Whether the plane of the triangle t has all `points` on one side of it, to which *out_normal then points.
static bool face_separates(const tac_dvec3 t[3], const tac_dvec3 points[3], tac_dvec3 *out_normal)
{
	const tac_dvec3 n = tac_dvec3_triangle_normal(t[0], t[1], t[2]);
	double lo = HUGE_VAL, hi = -HUGE_VAL;
	for (int k = 0; k < 3; k++) {
		double h = tac_dvec3_dot(n, tac_dvec3_sub(points[k], t[0]));
		lo = fmin(lo, h);
		hi = fmax(hi, h);
	}
	*out_normal = lo > 0 ? n : tac_dvec3_neg(n);
	return fmax(lo, -hi) >= SEPARATED_M;
}

// Whether edge k of a triangle may be touched along n, in the mesh's frame. Otherwise a face is closer, and a
// plane across n would be a wall where none is.
static bool edge_is_exposed(const tac_mesh *mesh, int32_t triangle, int k, tac_dvec3 n)
{
	return tac_contacts_in_edge_cone(mesh, mesh->triangle_edges[triangle].vertex[k], n);
}

// The plane of a face where the triangles are closest at edges of which one is not exposed.
static plane plane_of(const tac_mesh *moving, int32_t i, const tac_mesh *fixed, int32_t j, tac_dpose T,
		      const tac_dvec3 a[3], const tac_dvec3 b[3], const tac_closest *c)
{
	plane p = {BETWEEN, tac_dvec3_normalize(tac_dvec3_sub(c->point, c->on_fixed)), c->on_fixed};
	if (c->kind != TAC_FEATURES_EDGE_EDGE)
		return p;
	tac_dvec3 down = tac_dquat_rotate(tac_dquat_conjugate(T.rotation), tac_dvec3_neg(p.normal)), n;
	if (!edge_is_exposed(fixed, j, c->fixed, p.normal) && face_separates(b, a, &n))
		return (plane){FIXED_FACE, n, b[0]};
	if (!edge_is_exposed(moving, i, c->moving, down) && face_separates(a, b, &n))
		return (plane){MOVING_FACE, tac_dvec3_neg(n), a[0]};
	return p;
}

tac_triangle_contacts tac_contacts_of_triangles(const tac_mesh *moving, int32_t moving_triangle,
						const tac_mesh *fixed, int32_t fixed_triangle, tac_dpose T)
{
	tac_dvec3 a[3], b[3];
	for (int k = 0; k < 3; k++) {
		a[k] = tac_dpose_apply_point(T, tac_mesh_corner(moving, moving_triangle, k));
		b[k] = tac_mesh_corner(fixed, fixed_triangle, k);
	}
	const tac_closest closest = tac_closest_of_triangles(a, b);
	const plane p = plane_of(moving, moving_triangle, fixed, fixed_triangle, T, a, b, &closest);
	tac_triangle_contacts out = {.distance = closest.distance, .by_face = p.kind != BETWEEN};
	out.closest = (tac_contact_point){
		.kind = TAC_CONTACT_VERTEX_VERTEX,
		.moving_feature = moving_triangle,
		.fixed_feature = fixed_triangle,
		.moving_triangle = moving_triangle,
		.fixed_triangle = fixed_triangle,
		.moving_surface = moving->triangle_surface[moving_triangle],
		.fixed_surface = fixed->triangle_surface[fixed_triangle],
		.normal = tac_dvec3_normalize(tac_dvec3_sub(closest.point, closest.on_fixed)),
		.point = closest.point,
		.gap = closest.distance,
	};
	for (int k = 0; k < 3; k++) {
		tac_contact_point c = out.closest;
		c.kind = TAC_CONTACT_VERTEX_FACE;
		c.moving_feature = moving->triangles[moving_triangle].vertex[k];
		c.normal = p.normal;
		c.point = a[k];
		if (p.kind == MOVING_FACE) {
			c.kind = TAC_CONTACT_FACE_VERTEX;
			c.moving_feature = moving_triangle;
			c.fixed_feature = fixed->triangles[fixed_triangle].vertex[k];
			c.gap = tac_dvec3_dot(p.normal, tac_dvec3_sub(p.point, b[k]));
			c.point = tac_dvec3_add_scaled(b[k], c.gap, p.normal);
		} else {
			c.gap = tac_dvec3_dot(p.normal, tac_dvec3_sub(a[k], p.point));
		}
		out.contacts[k] = c;
	}
	return out;
}
