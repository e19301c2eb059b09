// Normal cones: whether a direction at an edge or a vertex of a body points away from the faces around it, so
// that the feature is the closest one in that direction. Directions have unit length, in the body's frame.
#ifndef TAC_COLLISION_CONTACTS_CONE_H
#define TAC_COLLISION_CONTACTS_CONE_H

#include "collision/contacts.h"
#include "collision/continuous/body_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

// The shortest distance with a direction, m: below, it is rounding.
#define TAC_CONTACTS_DIRECTION_MIN 1e-12

static inline tac_dvec3 tac_contacts_vertex(const tac_body *body, int32_t v)
{
	return tac_dvec3_from_vec3(body->mesh->vertices[v]);
}

// The vertex of face k of an edge that is not on the edge.
static inline tac_dvec3 tac_contacts_opposite_vertex(const tac_body *body, const tac_mesh_edge *edge, int k)
{
	return tac_contacts_vertex(body, tac_mesh_third_vertex(body->mesh, edge->triangle[k], edge));
}

// Whether a direction points away from a vector, within the tolerance: `along` is their product,
// `length_squared` that of the vector.
static inline bool tac_contacts_is_out(double along, double length_squared)
{
	return along <= 0 || along * along <= TAC_CONTACTS_CONE * TAC_CONTACTS_CONE * length_squared;
}

// Whether n, at a right angle to the edge, points away from both of its faces.
static inline bool tac_contacts_in_edge_cone(const tac_mesh *mesh, int32_t e, tac_dvec3 n)
{
	const tac_mesh_edge *edge = &mesh->edges[e];
	tac_dvec3 a = tac_dvec3_from_vec3(mesh->vertices[edge->vertex[0]]),
		  b = tac_dvec3_from_vec3(mesh->vertices[edge->vertex[1]]);
	for (int k = 0; k < 2; k++) {
		if (edge->triangle[k] < 0)
			continue;
		// Into the face: to the opposite vertex, without the component along the edge.
		const int32_t third = tac_mesh_third_vertex(mesh, edge->triangle[k], edge);
		tac_dvec3 inward = tac_dvec3_sub(tac_dvec3_from_vec3(mesh->vertices[third]), a);
		double into = tac_dvec3_dot(n, inward);
		if (into <= 0)
			continue;
		tac_dvec3 along = tac_dvec3_sub(b, a);
		double s = tac_dvec3_dot(inward, along) / tac_dvec3_dot(along, along);
		inward = tac_dvec3_add_scaled(inward, -s, along);
		if (!tac_contacts_is_out(into, tac_dvec3_length_squared(inward)))
			return false;
	}
	return true;
}

static inline bool tac_contacts_in_vertex_cone(const tac_body *body, int32_t v, tac_dvec3 n)
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
