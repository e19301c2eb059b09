// Continuous collision: how far a body can translate, or rotate, before it touches another. The first contact
// is found exactly, by the features' trajectories (collision/ccd_feature.h; J. M. P. van Waveren, 2005):
// moving vertex and fixed triangle, moving triangle and fixed vertex, edge and edge. Nothing is sampled, so
// nothing is passed through, however thin or fast. Both sides of every triangle count, unless both bodies are
// solids.
//
// The body then stops where its distance is the thickness of the expel zone, 10 µm unless told otherwise and
// far more than the rounding of a pose: at the pose of the answered fraction the distance is at least the
// smaller of the zone and the distance at the start. So a body in the zone may slide and leave but never come
// closer, and no sequence of motions wears the distance down.
//
// Long motions are cut into slices, examined in the order of time; when the budget is spent, what has been
// proved so far is the answer. Poses are those of the moving body in the frame of the fixed one; when both
// move, give the relative motion.
#ifndef TAC_COLLISION_CCD_H
#define TAC_COLLISION_CCD_H

#include "base/algebra.h"
#include "collision/ccd_body.h"
#include "collision/ccd_distance.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Zone in m for coordinates up to 2 m.
#define TAC_CCD_ZONE 1e-5
// The largest rotation in one call, rad.
#define TAC_CCD_ANGLE_MAX 12.6

typedef enum tac_ccd_flag {
	TAC_CCD_STOPPED = 1, // fraction < 1
	TAC_CCD_START_HIT =
		2, // the bodies intersect or touch at the start: fraction 0, nothing else is known
	TAC_CCD_START_ZONE = 4,   // the start is closer than the zone
	TAC_CCD_BUDGET_SPENT = 8, // the fraction is what could be proved; more may be free
	TAC_CCD_REFUSED = 16,     // NaN, no axis, angle or scale out of range: fraction 0
} tac_ccd_flag;

typedef struct tac_ccd_options {
	double zone; // m, >= 0. 0: the fraction of the contact itself, where the bodies touch
	// Pairs of triangles to examine at most; 0: no limit. Counted, so that replays are identical.
	int64_t pair_limit;
	// Asked every 64 pairs, unless NULL: true when the time is up.
	bool (*expired)(void *user);
	void *user;
	bool cull; // back faces of two solids; default true, the results are the same
	bool bsp;  // find pairs with the fixed body's BSP, which must have one; default false, the results
		   // are the same
} tac_ccd_options;

typedef struct tac_ccd_result {
	double fraction; // of the motion, in [0, 1]
	uint32_t flags;
	tac_ccd_kind kind; // TAC_CCD_NONE when nothing stopped it
	// Indices in the meshes: of vertices, edges or triangles, by the kind; -1 with TAC_CCD_NONE.
	int32_t moving_feature, fixed_feature;
	int32_t moving_triangle, fixed_triangle;
	// At the pose of the fraction, in the fixed body's frame: the point on the moving body, and the unit
	// direction from the fixed to the moving body. Zero with TAC_CCD_NONE.
	tac_dvec3 point, normal;
	double distance; // of the stopping pair there; the zone with TAC_CCD_NONE
	int64_t pairs;   // of triangles examined
} tac_ccd_result;

// x_fixed = R x_moving + t.
typedef struct tac_ccd_pose {
	tac_dmat3 R;
	tac_dvec3 t;
} tac_ccd_pose;

// Pairs of triangles and planes that a context remembers.
#define TAC_CCD_NEAR_MAX   4096
#define TAC_CCD_PLANES_MAX 1024

// A pair of triangles near the pose of the list: positions in the bodies' triangle arrays, and a lower bound
// of their distance there, m.
typedef struct tac_ccd_near {
	int32_t moving, fixed;
	float clears;
} tac_ccd_near;

// Eight listed pairs side by side, each with a direction from the fixed to the moving triangle that parted
// them where the list was made, in the fixed frame; zero where none was found. At another pose it tells at
// once how far it still does.
typedef struct tac_ccd_parted {
	float normal[3][8];
	float offset[8];       // how far the fixed triangle reaches along it
	float vertex[3][3][8]; // of the moving triangle, by vertex and axis, in its own frame
} tac_ccd_parted;

// What a caller keeps from query to query with the same two bodies, about 350 KB; for one query at a time.
// Zero-initialise, and again when a body was built anew; used with other bodies it starts afresh. It serves
// contacts (collision/contacts.h), certificates
// (collision/certificate.h) and the sweeps below: the pairs that were near at one pose are those that can be
// near at the next, until the bodies have moved too far, so the trees are descended once for many queries.
// Contacts and sweeps do not depend on it; a certificate may prove more with it.
typedef struct tac_ccd_context {
	const tac_ccd_body *moving, *fixed;
	// What queries with this context have cost so far, in units of some 10 ns, and where they stop, short
	// of their end; 0: nowhere. Counted, so that replays are identical.
	int64_t work, work_limit;
	int32_t moving_index, fixed_index; // of the last stop, plus 1: examined first
	tac_ccd_pose at;                   // where the list was made
	double reach;                      // what is closer there is listed, m; 0: no list
	double far;       // what is not in this box of the moving body is further away there, m
	tac_dvec3 lo, hi; // in its own frame; lo > hi: empty
	double size;      // of the bodies' triangles, about, m
	double density;   // pairs in the last list by the square of its reach and the size; 0: not known
	int32_t count;
	tac_ccd_near pairs[TAC_CCD_NEAR_MAX];
	tac_ccd_parted parted[TAC_CCD_NEAR_MAX / 8];
	tac_ccd_near filtered[TAC_CCD_NEAR_MAX]; // of the query under way
	struct {
		int32_t moving, fixed; // triangles' ids plus 1; 0: empty
		tac_dvec3 normal;      // fixed frame
	} planes[TAC_CCD_PLANES_MAX];  // that proved a pair: tried first the next time
} tac_ccd_context;

// Zone TAC_CCD_ZONE, no limits. Thread: any.
tac_ccd_options tac_ccd_options_default(void);

// Thread: RT.
tac_ccd_pose tac_ccd_pose_from_dpose(tac_dpose T_fixed_moving);

// The safe fraction of the translation `v` (m, fixed frame) from the pose T. `context` may be NULL. A solid
// moving body against a solid fixed one is examined from outside only.
// Thread: RT.
tac_ccd_result tac_ccd_translate(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
				 tac_dvec3 v, const tac_ccd_options *options, tac_ccd_context *context);

// The safe fraction of the rotation by `angle` (rad, right-handed, |angle| <= TAC_CCD_ANGLE_MAX) about the
// axis through `center` (fixed frame; `axis` of any length but 0) from the pose T. Thread: RT.
tac_ccd_result tac_ccd_rotate(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
			      tac_dvec3 center, tac_dvec3 axis, double angle, const tac_ccd_options *options,
			      tac_ccd_context *context);

// The pose after `fraction` of the motion, as the two functions above compute it.
// Thread: RT.
tac_ccd_pose tac_ccd_translated(const tac_ccd_pose *T, tac_dvec3 v, double fraction);
tac_ccd_pose tac_ccd_rotated(const tac_ccd_pose *T, tac_dvec3 center, tac_dvec3 axis, double angle,
			     double fraction);

// The smallest distance of two bodies at the pose T, up to `reach`: 0 when they intersect, `reach` when
// nothing is closer. *out_closest and the triangles' mesh indices may be NULL; unset when nothing is closer.
// Thread: RT.
double tac_ccd_distance(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
			double reach, tac_ccd_closest *out_closest, int32_t *out_moving_triangle,
			int32_t *out_fixed_triangle);

// Two triangles alone: the fraction of the translation `v` at which they first touch, 2 when they do not; e =
// 0. Thread: RT.
double tac_ccd_translate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], tac_dvec3 v);

// The same for a rotation by `angle` in (0, pi) about the z axis, clockwise seen from +z.
// Thread: RT.
double tac_ccd_rotate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], double angle);

#ifdef __cplusplus
}
#endif

#endif
