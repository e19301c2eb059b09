// The inside of a context of sweeps, contacts and certificates (collision/sweep.h): the pairs of faces near
// the last pose, an axis that separates each, and the count of work.
#ifndef TAC_COLLISION_CONTINUOUS_SWEEP_CONTEXT_H
#define TAC_COLLISION_CONTINUOUS_SWEEP_CONTEXT_H

#include "base/algebra.h"
#include "base/result.h"
#include "base/simd.h"
#include "collision/continuous/body_tree.h"
#include "collision/sweep.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_SWEEP_PAIRS_MAX  4096 // pairs of faces that a context remembers
#define TAC_SWEEP_PLANES_MAX 1024 // planes that it remembers

// A pair of faces that may be near: the positions of their first triangles in the bodies' arrays.
typedef struct tac_near_pair {
	int32_t moving, fixed;
	float clearance; // a lower bound of their distance, m; 0 or less when nothing is known
	int32_t listed;  // the place of a candidate in the list, plus 1; 0: it does not come from the list
} tac_near_pair;

// A kernel stores whole vectors, so behind the last pair there must be room for another one. It also keeps
// the rows below from starting in the same set of a cache.
#define TAC_AXES_ROOM (TAC_SWEEP_PAIRS_MAX + TAC_SIMD_LANES_MAX)

// The listed pairs side by side. Each has an axis from the fixed to the moving face, in the fixed frame, that
// separated them at the pose of the list; zero where none was found. At another pose one product with each
// vertex shows how far it still separates them.
typedef struct tac_separating_axes {
	float normal[3][TAC_AXES_ROOM];
	float offset[TAC_AXES_ROOM]; // the support of the fixed face along the axis
	// Of the moving face, by vertex and coordinate, in its own frame. Only where a body has faces of two
	// triangles is the fourth one set.
	float vertex[TAC_FACE_VERTICES][3][TAC_AXES_ROOM];
} tac_separating_axes;

// The length of an axis: rounding must not make it longer than 1.
#define TAC_AXIS_LENGTH (1 - 2e-6)

// The bounds of the children of a moving node in a descent of two trees, in the fixed frame, lane by lane. A
// box contains the whole motion of a child; its slab, its length and its vertices are those halfway.
// half_path is half the displacement of the centre of its box at rest, and `stray` how far rotation can carry
// a point away from that path.
typedef struct tac_pair_bounds8 {
	_Alignas(32) float centre[3][TAC_BODY_WIDTH];
	float half[3][TAC_BODY_WIDTH], half_path[3][TAC_BODY_WIDTH];
	float normal[3][TAC_BODY_WIDTH], slab_offset[TAC_BODY_WIDTH], slab_half[TAC_BODY_WIDTH];
	float along[3][TAC_BODY_WIDTH], along_half[TAC_BODY_WIDTH], side_radius[TAC_BODY_WIDTH];
	float stray[TAC_BODY_WIDTH];
	float vertex[TAC_FACE_VERTICES][3][TAC_BODY_WIDTH]; // of a leaf, relative to the centre
	float size[TAC_BODY_WIDTH];                         // the sum of the half sides of the box at rest
} tac_pair_bounds8;

// Pairs of nodes are opened in chunks, last in, first out. Each level of either tree leaves at most seven
// chunks waiting; the first chunk has the children of the moving root.
#define TAC_PAIR_CHUNK 32
#define TAC_PAIR_STACK ((2 * 7 * TAC_BODY_LEVELS + 2) * TAC_PAIR_CHUNK)
// Moving nodes whose bounds in motion are kept.
#define TAC_PAIR_MOVED 64

// A descent of two trees that ended for lack of work, and goes on from there with the next work.
typedef struct tac_pair_descent {
	int32_t top;        // pairs that are still to be opened; 0: the descent is complete, or not begun
	float lo[3], hi[3]; // the near box so far
	// A child is its node times TAC_BODY_WIDTH plus its lane. moving[i] >= 0: the moving node moving[i]
	// is opened against the fixed child fixed[i]; else the fixed node fixed[i] against the moving child
	// ~moving[i].
	int32_t moving[TAC_PAIR_STACK], fixed[TAC_PAIR_STACK];
	// The moving node n is at place n % TAC_PAIR_MOVED, if it is there.
	int32_t moved_node[TAC_PAIR_MOVED];  // -1: none
	uint32_t moved_near[TAC_PAIR_MOVED]; // its children that the near box has to contain
	tac_pair_bounds8 moved[TAC_PAIR_MOVED];
} tac_pair_descent;

// The pairs that come closer than `reach` on a way that begins at `pose` and goes on by v (m) and w (rad).
typedef struct tac_pair_list {
	tac_drigid pose;
	tac_dvec3 v, w;
	double reach;               // m; 0: no list
	uint16_t without;           // pairs of sphere faces that it leaves out: tac_swept_motion.without
	double far_reach;           // triangles outside of the near box stay further away, m
	tac_dvec3 near_lo, near_hi; // the near box, in the moving frame; lo > hi: empty
	int32_t pair_count;
	int32_t found; // while it is made: pairs of the descent, once that is complete; else -1
	int32_t tried; // of these, pairs whose axes were looked for: pair_count of them are kept
	tac_near_pair pairs[TAC_SWEEP_PAIRS_MAX];
	tac_separating_axes axes;
} tac_pair_list;

struct tac_sweep_context {
	const tac_body *moving, *fixed;
	int64_t work, work_limit;        // 0: no limit
	int32_t last_moving, last_fixed; // triangles of the last stop, plus 1: examined first
	int64_t list_work;               // that the list in the making has taken, or else the last one
	int64_t last_list_work;          // that the last complete list took
	double triangle_size;            // approximate, the sum of both bodies', m
	double list_density;             // of the last list, see pairs.c; 0: unknown
	tac_dvec3 ahead_v, ahead_w;      // the last motion that was searched: lists are made along it
	double stretch;                  // how many times as long as that their way is; 0: no list yet
	double stretch_cost;             // the work of the last list, divided by its stretch
	bool stretch_down;               // whether the next stretch is shorter
	double pose_reach;               // of the last search at a single pose, m
	double enough;          // a list that reaches so far serves such a search, m; 0: it must reach all
	double list_life;       // how many motions the list would serve when it was new
	double spare_reach;     // that the list had beyond that when it was last prepared for, m
	bool prepared;          // it was since the reset
	tac_drigid prepared_at; // the pose then
	// Planes of earlier certificates, tried first for the same pair.
	struct {
		int32_t moving, fixed; // positions of the triangles plus 1; 0: empty
		tac_dvec3 normal;      // fixed frame
	} planes[TAC_SWEEP_PLANES_MAX];
	int32_t current; // index of the list
	// The next two lists, cyclically: the one before and the one in the making, or, if turned, the other
	// way round.
	bool turned;
	// A reset clears what is above, and of the rest only what is in use: the memory is large.
	// The list, the one before it, and the one in the making, which takes its place when it is complete.
	tac_pair_list lists[3];
	tac_pair_descent descent;                      // of the list in the making
	tac_near_pair candidates[TAC_SWEEP_PAIRS_MAX]; // pairs that the current query has not culled
};

// What each step of a query counts as work.
#define TAC_WORK_NODE_PAIR      5  // opening a pair of nodes
#define TAC_WORK_NARROW_PAIR    9  // the same where a body has narrow faces
#define TAC_WORK_CULL_AXES8     2  // culling eight listed pairs by their axes
#define TAC_WORK_CULL_PLANES    1  // culling a pair by the planes of its triangles
#define TAC_WORK_FIND_AXIS      2  // finding the axis of a pair
#define TAC_WORK_CROSS_EDGES    4  // trying the directions across the edges of a pair at one end
#define TAC_WORK_NEAR_FEATURES  3  // finding the near features of a pair
#define TAC_WORK_FEATURE_PAIR   12 // examining two features
#define TAC_WORK_TRY_PLANES     8  // trying the planes that a certificate has at hand
#define TAC_WORK_CLOSEST_POINTS 50 // the closest points of two triangles

// The work left until the limit; INT64_MAX without a context or a limit.
static inline int64_t tac_sweep_context_work_left(const tac_sweep_context *context)
{
	return context && context->work_limit > 0 ? context->work_limit - context->work : INT64_MAX;
}

// The work left until twice the limit: for a query that cannot tell beforehand what it will take.
static inline int64_t tac_sweep_context_overdraft(const tac_sweep_context *context)
{
	return context && context->work_limit > 0 ? 2 * context->work_limit - context->work : INT64_MAX;
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
