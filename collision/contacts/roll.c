#include "collision/contacts/cone.h"

#include <math.h>

// Shortens an arc from the unit normal n towards the unit tangent where it would turn towards `inward`. Arcs
// are given by the tangent of their angle, which is below a right angle.
static double arc_before(double arc, tac_dvec3 n, tac_dvec3 tangent, tac_dvec3 inward)
{
	double rise = tac_dvec3_dot(tangent, inward), depth = -tac_dvec3_dot(n, inward);
	if (rise <= 0 || depth >= arc * rise)
		return arc;
	return depth > 0 ? depth / rise : 0;
}

static double arc_in_edge_cone(const tac_body *body, int32_t e, double arc, tac_dvec3 n, tac_dvec3 tangent)
{
	const tac_mesh_edge *edge = &body->mesh->edges[e];
	for (int k = 0; k < 2; k++) {
		if (edge->triangle[k] < 0)
			continue;
		// n and the tangent are at right angles to the edge, so only the component across it counts.
		tac_dvec3 inward = tac_dvec3_sub(tac_contacts_opposite_vertex(body, edge, k),
						 tac_contacts_vertex(body, edge->vertex[0]));
		arc = arc_before(arc, n, tangent, inward);
	}
	return arc;
}

static double arc_in_vertex_cone(const tac_body *body, int32_t v, double arc, tac_dvec3 n, tac_dvec3 tangent)
{
	tac_dvec3 at = tac_contacts_vertex(body, v);
	for (int32_t i = body->vertex_first[v]; i < body->vertex_first[v + 1]; i++) {
		tac_dvec3 inward = tac_dvec3_sub(tac_contacts_vertex(body, body->vertex_neighbour[i]), at);
		arc = arc_before(arc, n, tangent, inward);
	}
	return arc;
}

tac_dvec3 tac_contacts_roll(const tac_contact_point *c, const tac_body *fixed, tac_dvec3 target,
			    double max_tangent)
{
	bool edge = c->kind == TAC_CONTACT_VERTEX_EDGE;
	if (!edge && c->kind != TAC_CONTACT_VERTEX_VERTEX)
		return c->normal;
	tac_dvec3 n = c->normal, offset = tac_dvec3_sub(target, tac_dvec3_add_scaled(c->point, -c->gap, n));
	double up = tac_dvec3_dot(offset, n);
	tac_dvec3 tangent = tac_dvec3_add_scaled(offset, -up, n);
	if (edge) {
		const int32_t *v = fixed->mesh->edges[c->fixed_feature].vertex;
		tac_dvec3 along =
			tac_dvec3_sub(tac_contacts_vertex(fixed, v[1]), tac_contacts_vertex(fixed, v[0]));
		tangent = tac_dvec3_add_scaled(
			tangent, -tac_dvec3_dot(tangent, along) / tac_dvec3_dot(along, along), along);
	}
	double across = tac_dvec3_length(tangent);
	if (across < TAC_CONTACTS_DIRECTION_MIN)
		return n;
	tangent = tac_dvec3_scale(tangent, 1 / across);
	double arc = up > 0 && across < max_tangent * up ? across / up : max_tangent;
	arc = edge ? arc_in_edge_cone(fixed, c->fixed_feature, arc, n, tangent)
		   : arc_in_vertex_cone(fixed, c->fixed_feature, arc, n, tangent);
	return tac_dvec3_scale(tac_dvec3_add_scaled(n, arc, tangent), 1 / sqrt(1 + arc * arc));
}
