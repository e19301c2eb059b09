// Certificate: a proof that a rigid body can move along a short combined motion, translation and rotation at
// once, without touching another. For each pair of triangles that could meet it looks for a plane, fixed in
// the world, carried by the body or spanned by two edges, that keeps them apart at both ends of an interval
// by more than the path can bend in between: if C bounds the second derivative of the separation over the
// unit interval, it cannot sink by more than C / 8 below its ends. Where no plane is found the interval is
// halved. The proof needs no orientation of the faces, no edge flags and no roots. It holds for both sides of
// open sheets.
//
// The motion: origin p(s) = p0 + s v, orientation R(s) = exp(s w) R0, s from 0 to 1, in the frame of the
// fixed body. It pays for short steps near contact; for long flights use collision/ccd.h.
#ifndef TAC_COLLISION_CERTIFICATE_H
#define TAC_COLLISION_CERTIFICATE_H

#include "collision/ccd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_certificate_options {
	double threshold;   // what must remain between the bodies all along, m; > 0. Default 0.25 µm
	int depth;          // how often an interval may be halved, 0 … 12. Default 5
	int64_t pair_limit; // pairs of triangles at most, 0: no limit. When spent, nothing is proved:
			    // fraction 0
} tac_certificate_options;

typedef struct tac_certificate {
	double fraction; // [0, fraction] of the motion is proved; at s = 0 too, unless the fraction is 0
	uint32_t flags;  // TAC_CCD_STOPPED, TAC_CCD_BUDGET_SPENT, TAC_CCD_REFUSED
	// The pair that ends the proof (of several the lowest): indices of triangles in the meshes; -1 when
	// the fraction is 1.
	int32_t moving_triangle, fixed_triangle;
	int64_t pairs; // of triangles examined
} tac_certificate;

// Thread: any.
tac_certificate_options tac_certificate_options_default(void);

// Proves what it can of the motion from the pose T. `context` may be NULL; a plane that it remembers can only
// add to what is proved, and the same history gives the same answers. v in m and w in rad must be finite, |w|
// at most 1, T a rotation and the threshold above the rounding of the coordinates, else the answer is
// TAC_CCD_REFUSED with the fraction 0. Thread: RT.
tac_certificate tac_certificate_check(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				      const tac_ccd_pose *T, tac_dvec3 v, tac_dvec3 w,
				      const tac_certificate_options *options, tac_ccd_context *context);

// The pose after `s` of the motion.
// Thread: RT.
tac_ccd_pose tac_certificate_pose(const tac_ccd_pose *T, tac_dvec3 v, tac_dvec3 w, double s);

#ifdef __cplusplus
}
#endif

#endif
