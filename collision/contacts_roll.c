#include "collision/contacts_cone.h"

#include <math.h>

#define sub tac_dvec3_sub
#define dot tac_dvec3_dot
#define mad tac_dvec3_add_scaled

// The arc from the unit normal n through the unit tangent. Its angle is lowered where it turns into `inward`.
static double arc_before(double angle, tac_dvec3 n, tac_dvec3 tangent, tac_dvec3 inward)
{
	double rise = dot(tangent, inward);
	return rise > 0 ? fmin(angle, fmax(0, atan2(-dot(n, inward), rise))) : angle;
}

static double arc_in_edge_cone(const tac_ccd_body *body, int32_t e, double angle, tac_dvec3 n,
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
		angle = arc_before(angle, n, tangent, inward); // both are across the edge
	}
	return angle;
}

static double arc_in_vertex_cone(const tac_ccd_body *body, int32_t v, double angle, tac_dvec3 n,
				 tac_dvec3 tangent)
{
	tac_dvec3 at = tac_contacts_vertex(body, v);
	for (int32_t i = body->vertex_first[v]; i < body->vertex_first[v + 1]; i++) {
		tac_dvec3 inward = sub(tac_contacts_vertex(body, body->vertex_neighbour[i]), at);
		angle = arc_before(angle, n, tangent, inward);
	}
	return angle;
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
	double angle = fmin(most, atan2(aside, up));
	angle = edge ? arc_in_edge_cone(fixed, c->fixed_feature, angle, n, tangent)
		     : arc_in_vertex_cone(fixed, c->fixed_feature, angle, n, tangent);
	return mad(tac_dvec3_scale(n, cos(angle)), sin(angle), tangent);
}
