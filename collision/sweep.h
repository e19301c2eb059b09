// Continuous collision: how far a body can translate, or rotate, before it touches another. The first contact
// is found exactly, by the trajectories of the features (J. M. P. van Waveren, 2005): moving vertex and fixed
// triangle, moving triangle and fixed vertex, edge and edge. Nothing is sampled, so no motion passes through
// anything, however thin or fast. Both sides of every triangle count, unless both bodies are solids.
//
// The body stops where its distance is the thickness of the expel zone, by default 10 µm, far above the
// rounding of a pose. At the pose of the returned fraction the distance is at least the smaller of the zone
// and the distance at the start. A body in the zone can slide and leave but never come closer, so no sequence
// of motions wears the distance down.
//
// Long motions are cut into slices, which are examined in the order of time. When the budget is spent, the
// result is the fraction proved until then. Poses are those of the moving body in the frame of the fixed one;
// when both move, pass the relative motion.
#ifndef TAC_COLLISION_SWEEP_H
#define TAC_COLLISION_SWEEP_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/body.h"
#include "collision/closest.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The default zone, m, for coordinates up to 2 m.
#define TAC_SWEEP_ZONE 1e-5
// The largest rotation in one call, rad.
#define TAC_SWEEP_ANGLE_MAX 12.6

typedef enum tac_sweep_flag {
	TAC_SWEEP_STOPPED = 1,      // fraction < 1
	TAC_SWEEP_START_HIT = 2,    // the bodies touch or intersect at the start: fraction 0, no contact data
	TAC_SWEEP_START_ZONE = 4,   // the start is closer than the zone
	TAC_SWEEP_BUDGET_SPENT = 8, // the fraction is what was proved; more may be free
	TAC_SWEEP_REFUSED = 16,     // NaN, no axis, angle or scale out of range: fraction 0
} tac_sweep_flag;

typedef struct tac_sweep_options {
	double zone; // m, >= 0. With 0 the fraction is that of the contact itself, where the bodies touch
	// The most pairs of triangles to examine; 0: no limit. Counted, so that replays are identical.
	int64_t pair_limit;
	// Called every 64 pairs, unless NULL; returns true when the time is up.
	bool (*expired)(void *user);
	void *user;
	bool cull; // back faces of two solids. Default: true; the results are the same
	bool bsp;  // use the fixed body's BSP, which must exist. Default: false; the results are the same
} tac_sweep_options;

typedef struct tac_sweep_result {
	double fraction; // of the motion, in [0, 1]
	uint32_t flags;
	tac_feature_pair kind; // TAC_FEATURES_NONE when nothing stopped the body
	// Indices of vertices, edges or triangles in the meshes, by the kind; -1 with TAC_FEATURES_NONE.
	int32_t moving_feature, fixed_feature;
	int32_t moving_triangle, fixed_triangle;
	// At the pose of the fraction, in the fixed frame: the point on the moving body, and the unit
	// direction from the fixed to the moving body. Zero with TAC_FEATURES_NONE.
	tac_dvec3 point, normal;
	double distance; // of the stopping pair at that pose, m; the zone with TAC_FEATURES_NONE
	int64_t pairs;   // of triangles examined
} tac_sweep_result;

// What queries with the same two bodies share, about 350 KB; for one query at a time. Pairs of triangles that
// are near at one pose are those that can be near at the next one, until the bodies have moved too far, so
// the trees are descended once for many queries. A context serves sweeps, contacts (collision/contacts.h) and
// certificates (collision/certificate.h). With other bodies it starts empty. Results of sweeps and contacts
// do not depend on it; a certificate may prove more with it.
typedef struct tac_sweep_context tac_sweep_context;

// Creates an empty context; the caller owns *out_context, NULL on failure (TAC_ERROR_MEMORY, with one log
// line). All of its memory is touched, so that no page fault is left for the real-time thread.
// Thread: setup.
TAC_API tac_result tac_sweep_context_create(tac_sweep_context **out_context);

// Frees *context and nulls the pointer; NULL is allowed.
// Thread: setup.
TAC_API void tac_sweep_context_destroy(tac_sweep_context **context);

// Empties the context, as after its creation. Required when a body was destroyed and another may have its
// address. Thread: RT.
TAC_API void tac_sweep_context_reset(tac_sweep_context *context);

// Starts a new count of the work of the queries with this context, and stops them, short of their end, at
// `limit`; 0: no limit. A unit is about 10 ns. Work is counted, not timed, so that replays are identical.
// Thread: RT.
TAC_API void tac_sweep_context_set_work_limit(tac_sweep_context *context, int64_t limit);

// Contact queries may from now on cover less than their margin, but no less than `reach_m`, where that saves
// them making a list at once; tac_sweep_context_prepare makes it. 0, as after a reset: they may not.
// Thread: RT.
TAC_API void tac_sweep_context_set_enough(tac_sweep_context *context, double reach_m);

// The work counted since the limit was set, or since the context was created or reset.
// Thread: RT.
TAC_API int64_t tac_sweep_context_work(const tac_sweep_context *context);

// Works ahead for queries at poses that follow T, where the moving body goes on as it did last: shortly
// before the pairs that the context remembers no longer suffice, each call finds a part of those that will.
// Around a prism that rests it finds, in the same way, those that its first motions will need, whichever way
// they lead. Without it the query that needs them finds them all at once. It changes no result. Thread: RT.
TAC_API void tac_sweep_context_prepare(tac_sweep_context *context, const tac_drigid *T);

// Zone TAC_SWEEP_ZONE, no limits. Thread: any.
TAC_API tac_sweep_options tac_sweep_options_default(void);

// The safe fraction of the translation `v` (m, fixed frame) from the pose T. `context` may be NULL. Two
// solids are examined from outside only. Thread: RT.
TAC_API tac_sweep_result tac_sweep_translate(const tac_body *moving, const tac_body *fixed,
					     const tac_drigid *T, tac_dvec3 v,
					     const tac_sweep_options *options, tac_sweep_context *context);

// The safe fraction of the rotation by `angle` (rad, right-handed, |angle| <= TAC_SWEEP_ANGLE_MAX) about the
// axis through `centre` (fixed frame; `axis` of any length but 0) from the pose T. Thread: RT.
TAC_API tac_sweep_result tac_sweep_rotate(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
					  tac_dvec3 centre, tac_dvec3 axis, double angle,
					  const tac_sweep_options *options, tac_sweep_context *context);

// The pose after `fraction` of the motion, as the two functions above compute it.
// Thread: RT.
TAC_API tac_drigid tac_sweep_translated(const tac_drigid *T, tac_dvec3 v, double fraction);
TAC_API tac_drigid tac_sweep_rotated(const tac_drigid *T, tac_dvec3 centre, tac_dvec3 axis, double angle,
				     double fraction);

// The smallest distance of two bodies at the pose T, up to `reach` (m): 0 when they intersect, `reach` when
// nothing is closer. *out_closest and the triangles' mesh indices may be NULL; they are not set when nothing
// is closer. Thread: RT.
TAC_API double tac_body_distance(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
				 double reach, tac_closest *out_closest, int32_t *out_moving_triangle,
				 int32_t *out_fixed_triangle);

// Two triangles alone: the fraction of the translation `v` at which they first touch; 2 when they do not.
// There is no zone. Thread: RT.
TAC_API double tac_sweep_translate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3],
					     tac_dvec3 v);

// The same for a rotation by `angle` in (0, pi) about the z axis, clockwise seen from +z.
// Thread: RT.
TAC_API double tac_sweep_rotate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], double angle);

#ifdef __cplusplus
}
#endif

#endif
