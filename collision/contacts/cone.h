// Cones: whether a direction leads away from a body at an edge or a vertex of it, so that a contact along it
// is one. Directions are unit and in the body's frame. Private to the library.
#ifndef TAC_COLLISION_CONTACTS_CONE_H
#define TAC_COLLISION_CONTACTS_CONE_H

#include "collision/contacts.h"

#ifdef __cplusplus
extern "C" {
#endif

// Closer than this the direction between two points is rounding, m.
#define TAC_CONTACTS_DIRECTION_MIN 1e-12

static inline tac_dvec3 tac_contacts_vertex(const tac_ccd_body *body, int32_t v)
{
	return tac_dvec3_from_vec3(body->mesh->vertices[v]);
}

// Whether a direction with the part `along` of a vector of the given square is no more inwards than it may
// be.
static inline bool tac_contacts_is_out(double along, double length_squared)
{
	return along <= 0 || along * along <= TAC_CONTACTS_CONE * TAC_CONTACTS_CONE * length_squared;
}

// True when n, outwards from the edge and across it, points away from both faces at it.
static inline bool tac_contacts_in_edge_cone(const tac_ccd_body *body, int32_t e, tac_dvec3 n)
{
	const tac_mesh_edge *edge = &body->mesh->edges[e];
	tac_dvec3 a = tac_contacts_vertex(body, edge->vertex[0]),
		  b = tac_contacts_vertex(body, edge->vertex[1]);
	for (int k = 0; k < 2; k++) {
		if (edge->triangle[k] < 0)
			continue;
		// Into the face: to the third vertex, of which the part along the edge does not count.
		const int32_t *v = body->mesh->triangles[edge->triangle[k]].vertex;
		int32_t third = v[0] + v[1] + v[2] - edge->vertex[0] - edge->vertex[1];
		tac_dvec3 inward = tac_dvec3_sub(tac_contacts_vertex(body, third), a);
		double into = tac_dvec3_dot(n, inward);
		if (into <= 0)
			continue;
		tac_dvec3 along = tac_dvec3_sub(b, a);
		double part = tac_dvec3_dot(inward, along) / tac_dvec3_dot(along, along);
		inward = tac_dvec3_add_scaled(inward, -part, along);
		if (!tac_contacts_is_out(into, tac_dvec3_length_squared(inward)))
			return false;
	}
	return true;
}

static inline bool tac_contacts_in_vertex_cone(const tac_ccd_body *body, int32_t v, tac_dvec3 n)
{
	tac_dvec3 at = tac_contacts_vertex(body, v);
	for (int32_t i = body->vertex_first[v]; i < body->vertex_first[v + 1]; i++) {
		tac_dvec3 d = tac_dvec3_sub(tac_contacts_vertex(body, body->vertex_neighbour[i]), at);
		if (!tac_contacts_is_out(tac_dvec3_dot(n, d), tac_dvec3_length_squared(d)))
			return false;
	}
	return true;
}

#ifdef __cplusplus
}
#endif

#endif
