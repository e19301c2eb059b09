// Certificate: a proof that a rigid body can make a short combined motion, translation and rotation at once,
// without touching another. For each pair of triangles that could meet it searches a plane, fixed in the
// world, moving with the body or spanned by two edges, that separates them at both ends of an interval by
// more than the path can bend in between. If C bounds the second derivative of the separation over the unit
// interval, the separation sinks by at most C / 8 below its ends. Where no plane is found the interval is
// halved. The proof needs no orientation of the faces, no edge flags and no roots, and holds for both sides
// of open sheets.
//
// The motion has the origin p(s) = p0 + s v and the orientation R(s) = exp(s w) R0, s from 0 to 1, in the
// fixed frame. A certificate is efficient for short steps near contact; for long motions use
// collision/sweep.h.
#ifndef TAC_COLLISION_CERTIFICATE_H
#define TAC_COLLISION_CERTIFICATE_H

#include "collision/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_certificate_options {
	// The distance that the meshes of the bodies' defs keep during the motion, m; > 0. Default: 0.25 µm
	double threshold;
	int depth;          // how often an interval may be halved, 0 to 12. Default: 5
	int64_t pair_limit; // the most pairs of triangles; 0: no limit. When spent, so is the work
} tac_certificate_options;

typedef struct tac_certificate {
	double fraction; // the motion is proved on [0, fraction]; nothing is proved when it is 0
	uint32_t flags;  // TAC_SWEEP_STOPPED, TAC_SWEEP_BUDGET_SPENT, TAC_SWEEP_REFUSED
	// The pair that ends the proof, or one of several: triangles in the meshes; -1 when the fraction is
	// 1, when the work ended it, or when two faces that count as spheres do.
	int32_t moving_triangle, fixed_triangle;
	int64_t pairs; // of triangles examined, in all intervals
} tac_certificate;

// Thread: any.
tac_certificate_options tac_certificate_options_default(void);

// Proves what it can of the motion from the pose T. `context` may be NULL. With one, the same sequence of
// queries gives the same results, and apart from about one motion in 100,000 no less is proved than without.
// Where its work does not suffice for a new list of near pairs, the part of the motion is proved that the
// present list covers, with TAC_SWEEP_BUDGET_SPENT; the next proofs go on with the new one. Where the work
// ends in the middle of a proof, what is proved until then counts. v (m) and w (rad) must be finite, |w| at
// most 1, T a rigid pose and the threshold above the rounding of the coordinates; otherwise the fraction is
// 0, with TAC_SWEEP_REFUSED. Thread: RT.
tac_certificate tac_certificate_check(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
				      tac_dvec3 v, tac_dvec3 w, const tac_certificate_options *options,
				      tac_sweep_context *context);

// The pose after the fraction `s` of the motion.
// Thread: RT.
tac_drigid tac_certificate_pose(const tac_drigid *T, tac_dvec3 v, tac_dvec3 w, double s);

#ifdef __cplusplus
}
#endif

#endif
