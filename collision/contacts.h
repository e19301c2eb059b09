// Contacts: the feature pairs of two bodies that are closer than a margin at a pose, in every direction, as
// constraints for a mover that must not penetrate. Each has a gap, a unit normal from the fixed to the moving
// body and a point on the moving body. A step is admissible when it moves the point along the normal by at
// least -gap.
//
// The normals respect the neighbouring faces, so that there are no ghost walls: a vertex over a concave edge
// meets the planes of its faces, not the edge; flat edges are no features; edges and vertices count only
// where the normal lies in the cone of the neighbouring normals. The list is that of J. M. P. van Waveren
// (2005), section 2.6; the rules for concave edges, flat edges and cones were found by measurement.
#ifndef TAC_COLLISION_CONTACTS_H
#define TAC_COLLISION_CONTACTS_H

#include "collision/round.h"
#include "collision/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_CONTACTS_MAX 512
// The most pairs of triangles that a query with a context examines; it lowers the margin to keep this limit.
#define TAC_CONTACTS_PAIRS_MAX 2048
// How far outside of its cone a normal may lie and still count, as a cosine. With a smaller value a mover is
// blocked between two adjacent features when neither counts.
#define TAC_CONTACTS_CONE 1e-3

// The feature of the moving body is named first.
typedef enum tac_contact_kind {
	TAC_CONTACT_VERTEX_FACE,
	TAC_CONTACT_FACE_VERTEX,
	TAC_CONTACT_EDGE_EDGE,
	TAC_CONTACT_VERTEX_EDGE,
	TAC_CONTACT_EDGE_VERTEX,
	TAC_CONTACT_VERTEX_VERTEX,
	// Faces that count as spheres (tac_body_def.sphere_m), one inside the other: the centre of the
	// inner one must stay in a ball, and there are up to 19 contacts, tangent planes of that ball.
	TAC_CONTACT_SPHERES,
} tac_contact_kind;

typedef struct tac_contact_point {
	tac_contact_kind kind;
	int32_t moving_feature, fixed_feature;   // vertex, edge, triangle or sphere of the body, by the kind
	int32_t moving_triangle, fixed_triangle; // a triangle with the feature
	int32_t moving_surface, fixed_surface;   // of those triangles; selects the material
	tac_dvec3 normal;                        // unit, from the fixed to the moving body, fixed frame
	tac_dvec3 point;                         // on the moving body, fixed frame
	double gap;                              // along the normal, m, >= 0
} tac_contact_point;

// The caller's memory, about 150 KB.
typedef struct tac_contacts {
	int32_t count;
	int32_t dropped; // beyond TAC_CONTACTS_MAX, those with the largest gaps
	// The margin within which the list is complete, m: that of the query, or less when too many pairs are
	// within it.
	double margin;
	// The smallest distance of all pairs of triangles, contact or not, m; the margin when none is closer.
	double distance;
	int64_t pairs; // of triangles examined
	// Ordered by kind, moving feature and fixed feature. The second half is scratch memory of the query.
	tac_contact_point list[2 * TAC_CONTACTS_MAX];
} tac_contacts;

// Empties a list: nothing is within `margin`, m; with 0 nothing is known. Thread: RT.
static inline void tac_contacts_clear(tac_contacts *contacts, double margin)
{
	contacts->count = contacts->dropped = 0;
	contacts->pairs = 0;
	contacts->margin = contacts->distance = margin;
}

// Whether two contacts of the same bodies have the same features. Thread: RT.
static inline bool tac_contacts_same_features(const tac_contact_point *a, const tac_contact_point *b)
{
	return a->moving_feature == b->moving_feature && a->fixed_feature == b->fixed_feature &&
	       a->kind == b->kind;
}

// Lists the contacts at the pose T, whose R is a rotation, with gaps below `margin` (m, > 0), each pair of
// features once. When the bodies intersect, or the pose is not finite, the distance is 0 and the list is
// invalid. Bodies that are not solid have contacts on both sides of their faces. `context` may be NULL; the
// work is then not bounded. The contacts do not depend on the context, but how much of the margin is covered
// may. Thread: RT.
void tac_contacts_query(const tac_body *moving, const tac_body *fixed, const tac_drigid *T, double margin,
			tac_sweep_context *context, tac_contacts *out_contacts);

// The gap of a contact after the moving body has gone from the pose of the query to another, m: that of its
// features, as if their planes and lines went on; of spheres it depends on where the centre goes, not on
// turns about it. Without the bodies (NULL) the normal of a contact other than VERTEX_FACE and FACE_VERTEX
// stays as it is, which is what round tools need. Where the contact's gap is smaller than that of the
// features, so is the result. Thread: RT.
double tac_contacts_gap_after(const tac_contact_point *contact, const tac_body *moving, const tac_body *fixed,
			      const tac_drigid *from, const tac_drigid *to);

// What keeps two triangles on the two sides of a plane.
typedef struct tac_triangle_contacts {
	double distance;               // of the triangles, m
	bool by_face;                  // the plane is that of a face, and may act where there is no face
	tac_contact_point contacts[3]; // one for each vertex of one of them
	tac_contact_point closest;     // their closest points, as VERTEX_VERTEX of the triangles
} tac_triangle_contacts;

// The contacts of two triangles that are apart at the pose T, for a mover that has static queries alone. The
// plane is the one across their closest points, or, where these lie on an edge whose faces are closer, that
// of a face: so a flat floor is flat however it is triangulated, and a valley has no wall along its bottom.
// Thread: RT.
tac_triangle_contacts tac_contacts_of_triangles(const tac_mesh *moving, int32_t moving_triangle,
						const tac_mesh *fixed, int32_t fixed_triangle, tac_dpose T);

// Whether faces that count as spheres are inside one another at the pose. Sweeps examine their triangles, so
// that a mover had better not use them there. Thread: RT.
bool tac_contacts_nested(const tac_body *moving, const tac_body *fixed, const tac_drigid *T);

// The contacts of a sphere or a capsule, with the gaps of its surface. Its ends are the moving vertices 0 (a)
// and 1 (b), its core the moving edge 0; the moving triangle and surface are -1. The order is that of the
// body's tree. Thread: RT.
void tac_contacts_round(const tac_round *tool, const tac_body *fixed, double margin,
			tac_round_context *context, tac_contacts *out_contacts);

// The normal of a round tool's contact after the end of the tool has rolled over the edge or vertex that it
// touches, towards `target` (fixed frame). The roll is at most the angle whose tangent is `max_tangent`, and
// ends where the feature is no longer the closest one. Other contacts keep their normal. Thread: RT.
tac_dvec3 tac_contacts_roll(const tac_contact_point *contact, const tac_body *fixed, tac_dvec3 target,
			    double max_tangent);

#ifdef __cplusplus
}
#endif

#endif
