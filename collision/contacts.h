// Contacts: the feature pairs of two bodies that are closer than a margin at a pose, in every direction, as
// constraints for a mover that must not penetrate. Each has a gap, a unit normal from the fixed to the moving
// body and a point on the moving body: a step that moves the point along the normal by no less than -gap
// passes.
//
// The normals respect the neighbouring faces, so that no wall stands where there is none: a vertex over a
// concave fold meets the planes of its faces, not the fold; flat edges are no features; edges and vertices
// count only where the normal lies in the cone between the neighbours' normals. The list is that of J. M. P.
// van Waveren (2005), section 2.6; the rules for folds, flat edges and cones were found by measurement.
#ifndef TAC_COLLISION_CONTACTS_H
#define TAC_COLLISION_CONTACTS_H

#include "collision/ccd.h"
#include "collision/ccd_round.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_CONTACTS_MAX 512
// Pairs of triangles that a query with a context examines at most: it lowers the margin to keep to that.
#define TAC_CONTACTS_PAIRS 2048
// How far outside its cone a normal may lie and still count, as a cosine: tighter, and a mover is blocked
// between two features that both decline.
#define TAC_CONTACTS_CONE 1e-3

// The feature of the moving body is named first.
typedef enum tac_contact_kind {
	TAC_CONTACT_VERTEX_FACE,
	TAC_CONTACT_FACE_VERTEX,
	TAC_CONTACT_EDGE_EDGE,
	TAC_CONTACT_VERTEX_EDGE,
	TAC_CONTACT_EDGE_VERTEX,
	TAC_CONTACT_VERTEX_VERTEX,
} tac_contact_kind;

typedef struct tac_contact_point {
	tac_contact_kind kind;
	int32_t moving_feature, fixed_feature;   // vertex, edge or triangle of the mesh, by the kind
	int32_t moving_triangle, fixed_triangle; // a triangle that has the feature
	int32_t moving_surface, fixed_surface;   // of those triangles: the key to the material
	tac_dvec3 normal;                        // unit, from the fixed to the moving body, fixed frame
	tac_dvec3 point;                         // on the moving body, fixed frame
	double gap;                              // along the normal, m, >= 0
} tac_contact_point;

// Caller-owned, about 150 KB.
typedef struct tac_contacts {
	int32_t count;
	int32_t dropped; // beyond TAC_CONTACTS_MAX: those with the largest gaps
	// The margin of which everything is listed: the one asked for, unless too many pairs are within it.
	double margin;
	// Smallest over all pairs of triangles, contact or not; the margin above when none is closer.
	double distance;
	int64_t pairs; // of triangles examined
	// Ordered by kind, moving feature, fixed feature. The second half is room for the query.
	tac_contact_point list[2 * TAC_CONTACTS_MAX];
} tac_contacts;

// Lists the contacts at the pose T with gaps below `margin` (m, > 0). Each pair of features is listed once.
// With intersecting bodies, or a pose that is not finite, the distance is 0 and the list means nothing.
// Bodies that are not solid have contacts on both sides of their faces. `context` may be NULL, then the work
// is not bounded; the contacts do not depend on it, but how much of the margin is covered may. Thread: RT.
void tac_contacts_query(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
			double margin, tac_ccd_context *context, tac_contacts *out_contacts);

// The same for a sphere or a capsule: gaps are those of its surface. Its ends are the moving vertices 0 (a)
// and 1 (b), its axis the moving edge 0; the moving triangle and surface are -1. The order is that of the
// body's tree. Thread: RT.
void tac_contacts_round(const tac_ccd_round *tool, const tac_ccd_body *fixed, double margin,
			tac_ccd_round_context *context, tac_contacts *out_contacts);

// The normal of a contact of a round tool's end after it has rolled over the edge or vertex that it touches,
// towards `target` (fixed frame), by no more than the angle whose tangent is `most`, and no further than that
// feature is the closest one. The contact's own where there is nothing to roll over. Thread: RT.
tac_dvec3 tac_contacts_roll(const tac_contact_point *contact, const tac_ccd_body *fixed, tac_dvec3 target,
			    double most);

#ifdef __cplusplus
}
#endif

#endif
