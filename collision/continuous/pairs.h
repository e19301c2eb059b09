// Pairs: the broad phase of continuous collision. It finds the triangles of a moving body that may come near
// triangles of a fixed one. Both trees are descended together; the bounds of a moving node contain it at the
// start and at the end of the motion, and are grown by how far its path bends in between. The pairs near a
// pose are kept in a context and culled again for the next query, several at a time.
#ifndef TAC_COLLISION_CONTINUOUS_PAIRS_H
#define TAC_COLLISION_CONTINUOUS_PAIRS_H

#include "base/algebra.h"
#include "base/simd.h"
#include "collision/continuous/body_tree.h"
#include "collision/continuous/sweep_context.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_dbox {
	tac_dvec3 lo, hi;
} tac_dbox;

// A motion between two poses, with bounds of what happens in between.
typedef struct tac_swept_motion {
	tac_drigid start, end;
	tac_dmat3 spread; // for each element the larger of |R| at the start and at the end
	double bend;      // how far a point of the body strays from the chord of its path, m
	double turn;      // how far a point turns about another at the distance 1
	bool stationary;  // the end is the start
	// The pairs of sphere faces whose triangles a query leaves out, because it treats them as spheres:
	// see nested.h.
	uint16_t without;
} tac_swept_motion;

// `angle` is the rotation of the body, rad; `arm` the largest distance of its points from the axis, m.
static inline tac_swept_motion tac_swept_motion_make(tac_drigid start, tac_drigid end, double angle,
						     double arm)
{
	tac_swept_motion s = {start, end, start.R, 0, fmin(angle, 2), false, 0};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			s.spread.m[i][j] = fmax(fabs(start.R.m[i][j]), fabs(end.R.m[i][j]));
	}
	// The sagitta of an arc is arm (1 - cos(angle / 2)) <= arm angle^2 / 8, which also holds for a twist.
	s.bend = arm * fmin(angle * angle / 8, 2);
	return s;
}

static inline tac_swept_motion tac_swept_motion_stationary(tac_drigid T)
{
	tac_swept_motion s = tac_swept_motion_make(T, T, 0, 0);
	s.stationary = true;
	return s;
}

// Whether the boxes come within `reach` of each other along every axis.
static inline bool tac_dbox_meets_dbox(const tac_dbox *a, const tac_dbox *b, double reach)
{
	return a->lo.x - reach <= b->hi.x && a->hi.x + reach >= b->lo.x && a->lo.y - reach <= b->hi.y &&
	       a->hi.y + reach >= b->lo.y && a->lo.z - reach <= b->hi.z && a->hi.z + reach >= b->lo.z;
}

static inline tac_dbox tac_dbox_of(const tac_dvec3 v[3])
{
	tac_dbox box = {tac_dvec3_min(v[0], tac_dvec3_min(v[1], v[2])),
			tac_dvec3_max(v[0], tac_dvec3_max(v[1], v[2]))};
	return box;
}

// A triangle of the moving body in motion, in the fixed frame.
typedef struct tac_swept_triangle {
	const tac_body_triangle *triangle;
	tac_dvec3 start[3], end[3];
	tac_dvec3 normal; // at the start
	tac_dbox box;     // contains the whole motion
} tac_swept_triangle;

static inline tac_swept_triangle tac_swept_triangle_make(const tac_swept_motion *s,
							 const tac_body_triangle *triangle)
{
	tac_swept_triangle m;
	m.triangle = triangle;
	m.normal = tac_dmat3_apply(s->start.R, triangle->normal);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x = tac_dvec3_from_vec3(triangle->vertex[k]);
		m.start[k] = tac_drigid_apply_point(&s->start, x);
		m.end[k] = s->stationary ? m.start[k] : tac_drigid_apply_point(&s->end, x);
	}
	m.box = tac_dbox_of(m.start);
	if (s->stationary)
		return m;
	tac_dbox end = tac_dbox_of(m.end);
	tac_dvec3 bend = tac_dvec3_splat(s->bend);
	m.box.lo = tac_dvec3_sub(tac_dvec3_min(m.box.lo, end.lo), bend);
	m.box.hi = tac_dvec3_add(tac_dvec3_max(m.box.hi, end.hi), bend);
	return m;
}

// The pair of triangles that a query examines, in the fixed frame.
typedef struct tac_triangle_pair {
	const tac_body *moving, *fixed;
	int32_t loaded; // the position of the moving triangle `a`; -1: none
	tac_swept_triangle a;
	const tac_body_triangle *fixed_triangle;
	tac_dvec3 b[3]; // its vertices
} tac_triangle_pair;

// How far all points lie on one side of the plane through `on` with the unit normal; negative when the plane
// passes between them.
static inline double tac_plane_clearance(tac_dvec3 normal, tac_dvec3 on, const tac_dvec3 *points, int count)
{
	double lo = HUGE_VAL, hi = -HUGE_VAL;
	for (int i = 0; i < count; i++) {
		double d = tac_dvec3_dot(normal, tac_dvec3_sub(points[i], on));
		lo = d < lo ? d : lo;
		hi = d > hi ? d : hi;
	}
	return lo > -hi ? lo : -hi;
}

// Loads the pair; false when its swept boxes stay further apart than `reach`. Set `loaded` to -1 before using
// another sweep.
static inline bool tac_triangle_pair_load(tac_triangle_pair *p, const tac_swept_motion *sweep, int32_t moving,
					  int32_t fixed, double reach)
{
	if (p->loaded != moving) {
		p->loaded = moving;
		p->a = tac_swept_triangle_make(sweep, &p->moving->triangles[moving]);
	}
	p->fixed_triangle = &p->fixed->triangles[fixed];
	tac_body_triangle_load(p->fixed_triangle, p->b);
	tac_dbox box = tac_dbox_of(p->b);
	return tac_dbox_meets_dbox(&p->a.box, &box, reach);
}

// A lower bound of the distance of the pair at the start, along the normals of both triangles.
static inline double tac_triangle_pair_clearance(const tac_triangle_pair *p)
{
	double from_b = tac_plane_clearance(p->fixed_triangle->normal, p->b[0], p->a.start, 3);
	double from_a = tac_plane_clearance(p->a.normal, p->a.start[0], p->b, 3);
	return from_a > from_b ? from_a : from_b;
}

// --- traversal of the trees; Thread: RT, every function below ---

// Called with positions in the bodies' arrays. False ends the traversal.
typedef bool (*tac_pair_visitor)(void *user, int32_t moving, int32_t fixed);

// Visits all pairs of triangles that may come within *reach during the sweep. The visitor may lower *reach.
// The order is the same every time and on every machine. The work is counted in the context, which may be
// NULL. False when the visitor or the work limit ended the traversal.
typedef bool tac_pairs_visit_fn(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
				const double *reach, tac_pair_visitor visit, void *user,
				tac_sweep_context *context);

// A box, in the frame of the moving body's tree of pairs, that contains every triangle of the moving body
// that comes closer than `reach` to the fixed one during the sweep, and some others. Empty (lo > hi) when
// there is none.
typedef struct tac_near_box {
	double reach; // at least that of the pairs
	float lo[3], hi[3];
} tac_near_box;

// As above for pairs of faces, and for a reach that is not lowered; fills *near_box. When the work limit ends
// the traversal, the next call with the same motion and the same reaches goes on from there; set descent->top
// to 0 to begin anew. `near_box` and `descent` may be NULL, both or neither.
typedef bool tac_pairs_visit_with_box_fn(const tac_body *moving, const tac_body *fixed,
					 const tac_swept_motion *sweep, const double *reach,
					 tac_pair_visitor visit, void *user, tac_sweep_context *context,
					 tac_near_box *near_box, tac_pair_descent *descent);

TAC_SIMD_DECLARE(tac_pairs_visit_with_box_fn, tac_pairs_visit_kernel);

// These and the functions below run the variant of the moving body.
tac_pairs_visit_fn tac_pairs_visit;
tac_pairs_visit_with_box_fn tac_pairs_visit_with_box;

// Uses the fixed body's BSP in place of its tree: visits all pairs of triangles whose swept boxes come within
// reach.
tac_pairs_visit_fn tac_pairs_visit_bsp;

// Visits the triangles of a body whose boxes in the tree meet the box, which the visitor may shrink. True
// unless the visitor ended it.
bool tac_body_visit_box(const tac_body *body, const tac_dbox *box,
			bool (*visit)(void *user, int32_t triangle), void *user);

// --- culling, several pairs at a time ---

// Removes the pairs that the plane of one of their faces separates: the fixed face's plane by more than
// `fixed_threshold` (m) at the start and at the end of the sweep, or the moving face's plane, which moves
// with it, by more than `moving_threshold`. Sets the clearances to lower bounds of the distance at both ends.
// Returns how many are left.
typedef int32_t tac_pairs_cull_by_planes_fn(const tac_body *moving, const tac_body *fixed,
					    const tac_swept_motion *sweep, double fixed_threshold,
					    double moving_threshold, tac_near_pair *pairs, int32_t count);

TAC_SIMD_DECLARE(tac_pairs_cull_by_planes_fn, tac_pairs_cull_by_planes_kernel);

tac_pairs_cull_by_planes_fn tac_pairs_cull_by_planes;

// The features of a pair of faces that may be closer than a margin, a bit each: k is the moving vertex k and
// the fixed face, FIXED_VERTEX + j the moving face and the fixed vertex j, EDGES + 4 k + j the moving edge k
// and the fixed edge j.
#define TAC_FEATURE_BIT_FIXED_VERTEX 4
#define TAC_FEATURE_BIT_EDGES        8

// Writes such a mask for each pair at the pose T, of the features that are examined at its faces, and
// raises the clearances to tight lower bounds of the distance. No feature within the margin is missed.
typedef void tac_pairs_near_features_fn(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
					double margin, tac_near_pair *pairs, int32_t count,
					uint32_t *out_features);

TAC_SIMD_DECLARE(tac_pairs_near_features_fn, tac_pairs_near_features_kernel);

tac_pairs_near_features_fn tac_pairs_near_features;

// Finds axes that separate the pairs from `first` to before `end` at the start of the sweep. Pairs that their
// axes keep further apart than `reach` during all of it are left out. The others are appended to the first
// `kept` pairs, with clearances that are lower bounds of their distance, and so are their axes. Returns how
// many pairs are kept then, at most `end`.
typedef int32_t tac_pairs_find_axes_fn(const tac_body *moving, const tac_body *fixed,
				       const tac_swept_motion *sweep, double reach, tac_near_pair *pairs,
				       int32_t first, int32_t end, int32_t kept, tac_separating_axes *axes);

TAC_SIMD_DECLARE(tac_pairs_find_axes_fn, tac_pairs_find_axes_kernel);

tac_pairs_find_axes_fn tac_pairs_find_axes;

// Finds a direction for each pair, from the fixed to the moving face, that separates them at both ends of
// the sweep: that of an axis at either end or, where these separate by no more than `enough` (m), one across
// an edge of each face. It may also turn with the body; then it is zero on return, and has to separate by
// `enough_turning`. Sets the clearances to how far the directions separate the pairs at both ends; those that
// turn, less the difference of the two. Returns how many times edges of a pair were tried: at the start, at
// the end, and the same with directions that turn, as long as it takes.
typedef int32_t tac_pairs_separate_fn(const tac_body *moving, const tac_body *fixed,
				      const tac_swept_motion *sweep, double enough, double enough_turning,
				      tac_near_pair *pairs, int32_t count, tac_vec3 *out_directions);

TAC_SIMD_DECLARE(tac_pairs_separate_fn, tac_pairs_separate_kernel);

tac_pairs_separate_fn tac_pairs_separate;

// Copies the pairs except those that their axes separate by more than `threshold` (m) at the start and at the
// end of the sweep. The clearances become lower bounds of the distance at both. Returns how many it copied.
typedef int32_t tac_pairs_cull_by_axes_fn(const tac_body *moving, const tac_body *fixed,
					  const tac_swept_motion *sweep, double threshold,
					  const tac_near_pair *pairs, const tac_separating_axes *axes,
					  int32_t count, tac_near_pair *out_pairs);

TAC_SIMD_DECLARE(tac_pairs_cull_by_axes_fn, tac_pairs_cull_by_axes_kernel);

tac_pairs_cull_by_axes_fn tac_pairs_cull_by_axes;

// --- search with a context ---

// The plane that separated the faces or triangles at `moving` and `fixed` in an earlier certificate: its unit
// normal from the fixed to the moving one, in the fixed frame. False if none is remembered.
bool tac_sweep_context_recall(const tac_sweep_context *context, int32_t moving, int32_t fixed,
			      tac_dvec3 *out_normal);

// Remembers such a plane, for certificates of the same pair, and as the axis of a pair of the list: queries
// then cull it with others.
void tac_sweep_context_remember(tac_sweep_context *context, const tac_near_pair *pair, tac_dvec3 normal);

// Whether the context's list contains all pairs that come closer than `reach` during the sweep; false with
// NULL.
bool tac_sweep_context_covers(const tac_sweep_context *context, const tac_swept_motion *sweep, double reach);

// Makes a list for the sweep where neither the present one nor the one before covers it, with at most this
// share of the work that is left; the next call goes on with it. False if it is still in the making. True
// also if no list can cover the sweep: a search then descends the trees.
bool tac_sweep_context_extend(tac_sweep_context *context, const tac_body *moving, const tac_body *fixed,
			      const tac_swept_motion *sweep, double reach, double share);

// What a list has to cover for a search at a single pose like the last one, m.
double tac_sweep_context_end_reach(const tac_sweep_context *context);

// Called with a batch of pairs, which it may change. False ends the search.
typedef bool (*tac_pair_batch_visitor)(void *user, tac_near_pair *pairs, int32_t count);

// A search for the pairs that come near during a sweep.
typedef struct tac_pair_search {
	const tac_body *moving, *fixed;
	const tac_swept_motion *sweep;
	double reach;                             // m
	double fixed_threshold, moving_threshold; // as in tac_pairs_cull_by_planes
	tac_pair_batch_visitor visit;
	void *user;
	int32_t limit; // the most pairs to visit at a single pose, when there is a context; 0: no limit
} tac_pair_search;

// Visits all pairs that come closer than the reach and are not separated by their planes, and some others.
// They come from the context's list, which is made again when it does not cover the sweep; without a context,
// or when the list has no room for them, from the trees. A limit may shorten the reach; *out_reach, which may
// be NULL, is set to it before the first visit. False when the visitor or the work limit ended the search.
bool tac_pair_search_run(const tac_pair_search *search, tac_sweep_context *context, double *out_reach);

#ifdef __cplusplus
}
#endif

#endif
