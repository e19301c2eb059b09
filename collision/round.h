// Round tools: a sphere or a capsule against the triangles of a body. Both are the points within a radius of
// a segment, the core of the tool (a point, for a sphere). The first contact is where the distance of the
// core falls to the radius.
//
// A translation has a closed form: over a face, beside an edge, at a vertex, or between two crossing edges.
// The distance of two convex sets is a convex function of a translation, so a triangle that does not come
// closer at the start never does.
//
// A rotation is advanced conservatively: a plane across the closest points keeps the triangle behind it, and
// the angle at which an end of the core comes within the radius of that plane is a root of a known function
// (van Waveren, 2005). The tool can rotate at least that far; then the next plane is taken. No step passes a
// contact, and a rotation along a face takes one step.
//
// For a long motion, the tree is descended in the order in which the tool comes near its boxes, and planes
// bound from below when it reaches a triangle, eight at a time. Triangles after the first known contact are
// skipped, so few are examined.
#ifndef TAC_COLLISION_ROUND_H
#define TAC_COLLISION_ROUND_H

#include "base/api.h"
#include "collision/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

// The points within `radius` (m, > 0) of the segment from a to b: a capsule, or a sphere where a = b. Queries
// take it in the fixed frame. A point tool is a sphere of a few micrometres.
typedef struct tac_round {
	tac_dvec3 a, b;
	double radius;
} tac_round;

// The tool at a pose of its frame. Thread: RT.
static inline tac_round tac_round_place(const tac_round *tool, tac_dpose T)
{
	const tac_round placed = {tac_dpose_apply_point(T, tool->a), tac_dpose_apply_point(T, tool->b),
				  tool->radius};
	return placed;
}

// Triangles that a context can hold, a multiple of 8.
#define TAC_ROUND_TRIANGLES_MAX 4096

// What queries with the same body share, about 240 KB; for one query at a time. Triangles near the tool are
// those that it can reach next, until it has moved too far, so the tree is descended once for many queries. A
// context serves contacts (collision/contacts.h) and short motions. It also bounds the work of contacts: they
// examine at most TAC_ROUND_TRIANGLES_MAX triangles. With another body it starts empty.
typedef struct tac_round_context tac_round_context;

// Creates an empty context; the caller owns *out_context, NULL on failure (TAC_ERROR_MEMORY, with one log
// line). All of its memory is touched, so that no page fault is left for the real-time thread.
// Thread: setup.
TAC_API tac_result tac_round_context_create(tac_round_context **out_context);

// Frees *context and nulls the pointer; NULL is allowed.
// Thread: setup.
TAC_API void tac_round_context_destroy(tac_round_context **context);

// Empties the context, as after its creation. Required when a body was destroyed and another may have its
// address. Thread: RT.
TAC_API void tac_round_context_reset(tac_round_context *context);

// The safe fraction of the translation `v` (m): the tool stops options->zone before it touches, and is never
// closer on its way than there or at the start. Result and
// flags are those of tac_sweep_translate; the moving feature is -1, the fixed one a triangle, and the point
// lies on the tool. The pair limit counts triangles, nodes of the tree and blocks of the context; when it is
// spent, the fraction is what was proved until then. `context` may be NULL; apart from the limit, the result
// does not depend on it. Thread: RT.
TAC_API tac_sweep_result tac_round_translate(const tac_round *tool, const tac_body *fixed, tac_dvec3 v,
					     const tac_sweep_options *options, tac_round_context *context);

// The most planes that a rotation tries on one triangle.
#define TAC_ROUND_ROTATION_STEPS 256

// The safe fraction of the rotation by `angle` (rad, right-handed, |angle| <= TAC_SWEEP_ANGLE_MAX) about the
// axis through `centre`, as in tac_sweep_rotate. The tool may stop 1e-6 zones early. When it has not come
// that close after TAC_ROUND_ROTATION_STEPS planes of one triangle, or when the pair limit is spent, the
// fraction is what was proved, with TAC_SWEEP_BUDGET_SPENT. Thread: RT.
TAC_API tac_sweep_result tac_round_rotate(const tac_round *tool, const tac_body *fixed, tac_dvec3 centre,
					  tac_dvec3 axis, double angle, const tac_sweep_options *options);

// How often tac_round_prove halves a motion, and its largest rotation, rad.
#define TAC_ROUND_PROOF_DEPTH 5
#define TAC_ROUND_TURN_MAX    1.0

// Proves what it can of a combined motion: the tool rotates by s w (rad, fixed frame) about `centre`, which
// translates by s v at the same time. From 0 to the fraction, the tool stays further from the mesh of the
// body's def than the zone: for each triangle a plane separates them at both ends of an interval, by more
// than the path can bend in between. Where there is no such plane the interval is halved. More of the motion
// may be free. The result has no contact data but the triangle. Thread: RT.
TAC_API tac_sweep_result tac_round_prove(const tac_round *tool, const tac_body *fixed, tac_dvec3 centre,
					 tac_dvec3 v, tac_dvec3 w, const tac_sweep_options *options,
					 tac_round_context *context);

// The tool after `fraction` of the rotation.
// Thread: RT.
TAC_API tac_round tac_round_rotated(const tac_round *tool, tac_dvec3 centre, tac_dvec3 axis, double angle,
				    double fraction);

// The distance of the tool's surface from the body, up to `reach` (m): negative when the tool penetrates it,
// `reach` when nothing is closer. Thread: RT.
TAC_API double tac_round_distance(const tac_round *tool, const tac_body *fixed, double reach);

#ifdef __cplusplus
}
#endif

#endif
