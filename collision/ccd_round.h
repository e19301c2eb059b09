// Round tools: a sphere or a capsule against the triangles of a body. Both are the points within a radius of
// a segment (a point, for the sphere), so the first contact is where the distance of that segment falls to
// the radius.
//
// Translated, it is found in closed form: over a face, beside an edge, at a vertex, or between two crossing
// edges. The distance of two convex sets is a convex function of a translation, hence what does not come
// closer at the start never does.
//
// Rotated, it is approached from below: the plane across the closest points keeps the triangle on its far
// side, and when an end of the segment comes within the radius of it is a root of a known function of the
// angle (collision/ccd_feature.h). The tool can turn that far at least; then the next plane is taken. No step
// passes a contact, and one along a face is made at once.
//
// Along a long way the tree is descended in the order in which the tool comes near its boxes, and eight
// triangles at a time have planes that tell when it can be there at the earliest: what comes after the first
// contact so far is left out, and few triangles are examined.
#ifndef TAC_COLLISION_CCD_ROUND_H
#define TAC_COLLISION_CCD_ROUND_H

#include "collision/ccd.h"

#ifdef __cplusplus
extern "C" {
#endif

// Planes that a rotation tries on one triangle.
#define TAC_CCD_ROUND_STEPS 256

// The points within `radius` (m, > 0) of the segment from a to b, in the fixed frame. a = b: a sphere.
typedef struct tac_ccd_round {
	tac_dvec3 a, b;
	double radius;
} tac_ccd_round;

// Triangles that a context remembers, a multiple of 8.
#define TAC_CCD_ROUND_MAX 4096

// Triangles of a list, lane by lane; in m, relative to the origin of the context.
typedef struct tac_ccd_round_block {
	float vertex[3][3][TAC_CCD_WIDTH]; // corner, coordinate, lane
	// A plane a triangle, which has it on its far side: unit normal, and its height, rounded up.
	float normal[3][TAC_CCD_WIDTH], offset[TAC_CCD_WIDTH];
	// Of the query under way: lower bounds of the distances; which of its own features a triangle may
	// meet a part of the tool with; the lanes where the bounds are below what is sought, and those of
	// them that have such features.
	float clears[TAC_CCD_WIDTH];
	int32_t left[TAC_CCD_WIDTH];
	uint8_t near, open;
	int32_t own[TAC_CCD_WIDTH];      // bit by bit, for which of its features the triangle stands
	int32_t triangle[TAC_CCD_WIDTH]; // positions in the body's array
} tac_ccd_round_block;

// What a caller keeps from query to query with the same body, about 240 KB; for one query at a time.
// Zero-initialise, and again when the body was built anew; used with another body it starts afresh. It serves
// contacts (collision/contacts.h) and short motions: the triangles that were near the tool are those that it
// can reach next, until it has moved too far, so the tree is descended once for many queries. It bounds the
// work of contacts, too: at most TAC_CCD_ROUND_MAX triangles are looked at.
typedef struct tac_ccd_round_context {
	const tac_ccd_body *fixed;
	tac_ccd_round at; // what is within is listed; radius 0: no list
	tac_vec3 origin;  // at.a rounded, so that a difference of corners and it rounds once
	double slack;     // how much further than needed the last list was to reach, m
	int32_t served;   // queries since it was made
	int32_t count;
	tac_ccd_round_block blocks[TAC_CCD_ROUND_MAX / TAC_CCD_WIDTH];
} tac_ccd_round_context;

// The safe fraction of the translation `v`: the tool stops `options->zone` before it touches. Result and
// flags are those of tac_ccd_translate; the moving feature is -1, the fixed one a triangle, the point lies on
// the tool. Budget: the pair limit counts triangles, nodes of the tree and blocks of the context; when it is
// spent, the fraction is what is proved until then. `context` may be NULL; the result does not depend on it
// otherwise. Thread: RT.
tac_ccd_result tac_ccd_round_translate(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 v,
				       const tac_ccd_options *options, tac_ccd_round_context *context);

// The safe fraction of the rotation by `angle` (rad, right-handed, |angle| <= TAC_CCD_ANGLE_MAX) about the
// axis through `center`, as tac_ccd_rotate. It may stop before the zone by the zone's 1e-6th part. When it
// has not come so close after TAC_CCD_ROUND_STEPS planes of one triangle, or the pair limit is spent, what is
// proved is the answer, with TAC_CCD_BUDGET_SPENT. Thread: RT.
tac_ccd_result tac_ccd_round_rotate(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 center,
				    tac_dvec3 axis, double angle, const tac_ccd_options *options);

// How often a motion is halved to prove it, and the largest turn of one, rad.
#define TAC_CCD_ROUND_HALVINGS 5
#define TAC_CCD_ROUND_TURN_MAX 1.0

// Proves what it can of a combined motion: the tool turns by s w (rad, fixed frame) about `center`, which
// goes by s v at the same time. From 0 to the fraction the tool stays further from the body than the zone:
// for each triangle there is a plane that parts them at both ends of an interval, by as much more as the path
// may bend between. Where there is none the interval is halved. More of it may be free. Nothing is said of
// the contact but its triangle. Thread: RT.
tac_ccd_result tac_ccd_round_prove(const tac_ccd_round *tool, const tac_ccd_body *fixed, tac_dvec3 center,
				   tac_dvec3 v, tac_dvec3 w, const tac_ccd_options *options,
				   tac_ccd_round_context *context);

// The tool after `fraction` of the rotation.
// Thread: RT.
tac_ccd_round tac_ccd_round_rotated(const tac_ccd_round *tool, tac_dvec3 center, tac_dvec3 axis, double angle,
				    double fraction);

// The distance of the tool's surface from the body, up to `reach`: negative when it is in, `reach` when
// nothing is closer. Thread: RT.
double tac_ccd_round_distance(const tac_ccd_round *tool, const tac_ccd_body *fixed, double reach);

#ifdef __cplusplus
}
#endif

#endif
