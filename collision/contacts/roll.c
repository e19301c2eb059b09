#include "collision/contacts_cone.h"

#include <math.h>

#define sub tac_dvec3_sub
#define dot tac_dvec3_dot
#define mad tac_dvec3_add_scaled

// The arc from the unit normal n through the unit tangent is given by the tangent of its angle, below a right
// one. It is shortened where it would turn into `inward`.
static double arc_before(double arc, tac_dvec3 n, tac_dvec3 tangent, tac_dvec3 inward)
{
	double rise = dot(tangent, inward), depth = -dot(n, inward);
	if (rise <= 0 || depth >= arc * rise)
		return arc;
	return depth > 0 ? depth / rise : 0;
}

static double arc_in_edge_cone(const tac_ccd_body *body, int32_t e, double arc, tac_dvec3 n,
			       tac_dvec3 tangent)
{
	const tac_mesh_edge *edge = &body->mesh->edges[e];
	for (int k = 0; k < 2; k++) {
		if (edge->triangle[k] < 0)
			continue;
		const int32_t *v = body->mesh->triangles[edge->triangle[k]].vertex;
		int32_t third = v[0] + v[1] + v[2] - edge->vertex[0] - edge->vertex[1];
		tac_dvec3 inward =
			sub(tac_contacts_vertex(body, third), tac_contacts_vertex(body, edge->vertex[0]));
		arc = arc_before(arc, n, tangent, inward); // both are across the edge
	}
	return arc;
}

static double arc_in_vertex_cone(const tac_ccd_body *body, int32_t v, double arc, tac_dvec3 n,
				 tac_dvec3 tangent)
{
	tac_dvec3 at = tac_contacts_vertex(body, v);
	for (int32_t i = body->vertex_first[v]; i < body->vertex_first[v + 1]; i++) {
		tac_dvec3 inward = sub(tac_contacts_vertex(body, body->vertex_neighbour[i]), at);
		arc = arc_before(arc, n, tangent, inward);
	}
	return arc;
}

tac_dvec3 tac_contacts_roll(const tac_contact_point *c, const tac_ccd_body *fixed, tac_dvec3 target,
			    double most)
{
	bool edge = c->kind == TAC_CONTACT_VERTEX_EDGE;
	if (!edge && c->kind != TAC_CONTACT_VERTEX_VERTEX)
		return c->normal;
	tac_dvec3 n = c->normal, way = sub(target, mad(c->point, -c->gap, n));
	double up = dot(way, n);
	tac_dvec3 tangent = mad(way, -up, n);
	if (edge) {
		const int32_t *v = fixed->mesh->edges[c->fixed_feature].vertex;
		tac_dvec3 along = sub(tac_contacts_vertex(fixed, v[1]), tac_contacts_vertex(fixed, v[0]));
		tangent = mad(tangent, -dot(tangent, along) / dot(along, along), along);
	}
	double aside = tac_dvec3_length(tangent);
	if (aside < TAC_CONTACTS_DIRECTION_MIN)
		return n;
	tangent = tac_dvec3_scale(tangent, 1 / aside);
	double arc = up > 0 && aside < most * up ? aside / up : most;
	arc = edge ? arc_in_edge_cone(fixed, c->fixed_feature, arc, n, tangent)
		   : arc_in_vertex_cone(fixed, c->fixed_feature, arc, n, tangent);
	return tac_dvec3_scale(mad(n, arc, tangent), 1 / sqrt(1 + arc * arc));
}
