// The inside of a context of sweeps, contacts and certificates (collision/sweep.h): the pairs of triangles
// near the last pose, an axis that separates each, and the count of work.
#ifndef TAC_COLLISION_CONTINUOUS_SWEEP_CONTEXT_H
#define TAC_COLLISION_CONTINUOUS_SWEEP_CONTEXT_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/sweep.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SWEEP_PAIRS_MAX  4096 // pairs of triangles that a context remembers
#define TAC_SWEEP_PLANES_MAX 1024 // planes that it remembers

// A pair of triangles that may be near: positions in the bodies' triangle arrays.
typedef struct tac_near_pair {
	int32_t moving, fixed;
	float clearance; // a lower bound of their distance, m; 0 or less when nothing is known
} tac_near_pair;

// Eight listed pairs side by side. Each has an axis from the fixed to the moving triangle, in the fixed
// frame, that separated them at the pose of the list; zero where none was found. At another pose one product
// with each vertex shows how far it still separates them.
typedef struct tac_separating_axes8 {
	float normal[3][8];
	float offset[8];       // the support of the fixed triangle along the axis
	float vertex[3][3][8]; // of the moving triangle, by vertex and coordinate, in its own frame
} tac_separating_axes8;

struct tac_sweep_context {
	const tac_body *moving, *fixed;
	int64_t work, work_limit;        // 0: no limit
	int32_t last_moving, last_fixed; // triangles of the last stop, plus 1: examined first
	// The list: pairs that come closer than list_reach on the way that begins at list_pose and goes on by
	// list_v (m) and list_w (rad).
	tac_drigid list_pose;
	tac_dvec3 list_v, list_w;
	double list_reach;          // m; 0: no list
	double far_reach;           // triangles outside of the near box stay further away, m
	tac_dvec3 near_lo, near_hi; // the near box, in the moving frame; lo > hi: empty
	double triangle_size;       // approximate, the sum of both bodies', m
	double list_density;        // of the last list, see pairs.c; 0: unknown
	tac_dvec3 ahead_v, ahead_w; // the last motion that was searched: lists are made along it
	double stretch;             // how many times as long as that their way is; 0: no list yet
	double stretch_cost;        // the work of the last list, divided by its stretch
	bool stretch_down;          // whether the next stretch is shorter
	double pose_reach;          // of the last search at a single pose, m
	int32_t pair_count;
	tac_near_pair pairs[TAC_SWEEP_PAIRS_MAX];
	tac_separating_axes8 axes[TAC_SWEEP_PAIRS_MAX / 8];
	tac_near_pair candidates[TAC_SWEEP_PAIRS_MAX]; // pairs that the current query has not culled
	// Planes of earlier certificates, tried first for the same pair.
	struct {
		int32_t moving, fixed; // triangle ids plus 1; 0: empty
		tac_dvec3 normal;      // fixed frame
	} planes[TAC_SWEEP_PLANES_MAX];
};

// What each step of a query counts as work.
#define TAC_WORK_NODE_PAIR      4  // opening a pair of nodes
#define TAC_WORK_CULL_AXES8     2  // culling eight listed pairs by their axes
#define TAC_WORK_CULL_PLANES    1  // culling a pair by the planes of its triangles
#define TAC_WORK_FIND_AXIS      2  // finding the axis of a pair
#define TAC_WORK_NEAR_FEATURES  4  // finding the near features of a pair
#define TAC_WORK_FEATURE_PAIR   12 // examining two features
#define TAC_WORK_TRY_PLANES     8  // trying the planes that a certificate has at hand
#define TAC_WORK_CLOSEST_POINTS 50 // the closest points of two triangles

// The work left until the limit; INT64_MAX without a context or a limit.
static inline int64_t tac_sweep_context_work_left(const tac_sweep_context *context)
{
	return context && context->work_limit > 0 ? context->work_limit - context->work : INT64_MAX;
}

// Whether more than twice the limit is spent: for a query that cannot tell beforehand what it will take.
static inline bool tac_sweep_context_overdrawn(const tac_sweep_context *context)
{
	return tac_sweep_context_work_left(context) < -(context ? context->work_limit : 0);
}

// NULL is allowed.
static inline void tac_sweep_context_add_work(tac_sweep_context *context, int64_t work)
{
	if (context)
		context->work += work;
}

// Allocates memory for a context: zeroed, and touched, so that no page fault is left for the real-time
// thread. *out_memory is NULL on failure (TAC_ERROR_MEMORY), with one log line that begins with the name.
// Free it with free(). Thread: setup.
tac_result tac_context_allocate(const char *name, size_t bytes, void **out_memory);

// Empties the context when it was used with other bodies; the work and its limit stay. NULL is allowed.
// Thread: RT.
void tac_sweep_context_bind(tac_sweep_context *context, const tac_body *moving, const tac_body *fixed);

#ifdef __cplusplus
}
#endif

#endif
