// Pairs: which triangles of a moving body may come near which triangles of a fixed one. Both trees are
// descended together; a node of the moving tree is the box of its box at the start and at the end of the
// motion, grown by what the path bends between them. Private to the library: the visitor is known where this
// is compiled, so it is inlined.
#ifndef TAC_COLLISION_CCD_PAIRS_H
#define TAC_COLLISION_CCD_PAIRS_H

#include "base/algebra.h"
#include "base/simd.h"
#include "collision/ccd.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline tac_dvec3 tac_ccd_pose_apply(const tac_ccd_pose *T, tac_dvec3 x)
{
	return tac_dvec3_add(tac_dmat3_apply(T->R, x), T->t);
}

typedef struct tac_ccd_box {
	tac_dvec3 lo, hi;
} tac_ccd_box;

typedef struct tac_ccd_sweep {
	tac_ccd_pose start, end;
	tac_dmat3 spread; // by element the larger of |R| at the start and at the end
	double bend;      // how far a point of the body strays from the chord of its path, m
	double turn;      // how far a point at the distance 1 from another turns about it
	bool still;       // the end is the start
} tac_ccd_sweep;

// `angle` is how far the body turns on the way, rad; `arm` the largest distance of its points from the axis.
static inline tac_ccd_sweep tac_ccd_sweep_make(tac_ccd_pose start, tac_ccd_pose end, double angle, double arm)
{
	tac_ccd_sweep s = {start, end, start.R, 0, fmin(angle, 2), false};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++)
			s.spread.m[i][j] = fmax(fabs(start.R.m[i][j]), fabs(end.R.m[i][j]));
	}
	// The sagitta of an arc is arm (1 - cos(angle / 2)) <= arm angle^2 / 8, which also holds for a twist.
	s.bend = arm * fmin(angle * angle / 8, 2);
	return s;
}

static inline tac_ccd_sweep tac_ccd_sweep_still(tac_ccd_pose T)
{
	tac_ccd_sweep s = tac_ccd_sweep_make(T, T, 0, 0);
	s.still = true;
	return s;
}

static inline bool tac_ccd_box_meets_box(const tac_ccd_box *a, const tac_ccd_box *b, double reach)
{
	return a->lo.x - reach <= b->hi.x && a->hi.x + reach >= b->lo.x && a->lo.y - reach <= b->hi.y &&
	       a->hi.y + reach >= b->lo.y && a->lo.z - reach <= b->hi.z && a->hi.z + reach >= b->lo.z;
}

// A triangle of the moving body on its way, in the frame of the fixed one.
typedef struct tac_ccd_moving {
	const tac_ccd_triangle *triangle;
	tac_dvec3 start[3], end[3];
	tac_dvec3 normal; // at the start
	tac_ccd_box box;
} tac_ccd_moving;

static inline tac_ccd_moving tac_ccd_sweep_triangle(const tac_ccd_sweep *s, const tac_ccd_triangle *triangle)
{
	tac_ccd_moving m;
	m.triangle = triangle;
	m.normal = tac_dmat3_apply(s->start.R, triangle->normal);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x = tac_dvec3_from_vec3(triangle->vertex[k]);
		m.start[k] = tac_ccd_pose_apply(&s->start, x);
		m.end[k] = s->still ? m.start[k] : tac_ccd_pose_apply(&s->end, x);
	}
	m.box.lo = tac_dvec3_min(m.start[0], tac_dvec3_min(m.start[1], m.start[2]));
	m.box.hi = tac_dvec3_max(m.start[0], tac_dvec3_max(m.start[1], m.start[2]));
	if (s->still)
		return m;
	tac_dvec3 lo = tac_dvec3_min(m.end[0], tac_dvec3_min(m.end[1], m.end[2])),
		  bend = tac_dvec3_splat(s->bend);
	tac_dvec3 hi = tac_dvec3_max(m.end[0], tac_dvec3_max(m.end[1], m.end[2]));
	m.box.lo = tac_dvec3_sub(tac_dvec3_min(m.box.lo, lo), bend);
	m.box.hi = tac_dvec3_add(tac_dvec3_max(m.box.hi, hi), bend);
	return m;
}

static inline void tac_ccd_triangle_load(const tac_ccd_triangle *triangle, tac_dvec3 out_vertices[3])
{
	for (int k = 0; k < 3; k++)
		out_vertices[k] = tac_dvec3_from_vec3(triangle->vertex[k]);
}

// The bodies of a query with the pair of triangles under examination, in the frame of the fixed one.
typedef struct tac_ccd_pair {
	const tac_ccd_body *moving, *fixed;
	int32_t loaded; // which moving triangle `a` is; -1: none
	tac_ccd_moving a;
	const tac_ccd_triangle *triangle; // the fixed one
	tac_dvec3 b[3];
} tac_ccd_pair;

static inline tac_ccd_box tac_ccd_box_of(const tac_dvec3 v[3])
{
	tac_ccd_box box = {tac_dvec3_min(v[0], tac_dvec3_min(v[1], v[2])),
			   tac_dvec3_max(v[0], tac_dvec3_max(v[1], v[2]))};
	return box;
}

// How far the plane through `on` with the unit normal has all points on one side; negative when not.
static inline double tac_ccd_plane_clears(tac_dvec3 normal, tac_dvec3 on, const tac_dvec3 *points, int count)
{
	double lo = HUGE_VAL, hi = -HUGE_VAL;
	for (int i = 0; i < count; i++) {
		double d = tac_dvec3_dot(normal, tac_dvec3_sub(points[i], on));
		lo = d < lo ? d : lo;
		hi = d > hi ? d : hi;
	}
	return lo > -hi ? lo : -hi;
}

// Loads the pair; false when the boxes of its way stay further apart than `reach`. With another sweep set
// `loaded` to -1 first.
static inline bool tac_ccd_pair_load(tac_ccd_pair *p, const tac_ccd_sweep *sweep, int32_t moving,
				     int32_t fixed, double reach)
{
	if (p->loaded != moving) {
		p->loaded = moving;
		p->a = tac_ccd_sweep_triangle(sweep, &p->moving->triangles[moving]);
	}
	p->triangle = &p->fixed->triangles[fixed];
	tac_ccd_triangle_load(p->triangle, p->b);
	tac_ccd_box box = tac_ccd_box_of(p->b);
	return tac_ccd_box_meets_box(&p->a.box, &box, reach);
}

// A lower bound of the distance of the pair at the start: along the normals of both triangles.
static inline double tac_ccd_pair_clears(const tac_ccd_pair *p)
{
	double by_b = tac_ccd_plane_clears(p->triangle->normal, p->b[0], p->a.start, 3);
	double by_a = tac_ccd_plane_clears(p->a.normal, p->a.start[0], p->b, 3);
	return by_a > by_b ? by_a : by_b;
}

// What is counted as work: a pair of nodes that is opened, eight listed pairs that are sifted, a pair of
// triangles that is judged by its planes, by its bounds, for its features; a feature that is examined;
// planes at hand that are tried, and the closest points that another one is made from.
#define TAC_CCD_WORK_NODES    4
#define TAC_CCD_WORK_SIFT     2
#define TAC_CCD_WORK_PLANES   1
#define TAC_CCD_WORK_BOUNDS   2
#define TAC_CCD_WORK_FEATURES 4
#define TAC_CCD_WORK_CONTACT  12
#define TAC_CCD_WORK_PROOF    8
#define TAC_CCD_WORK_CLOSEST  50

// Work left until the limit; without a context or a limit, enough.
static inline int64_t tac_ccd_work_left(const tac_ccd_context *context)
{
	return context && context->work_limit > 0 ? context->work_limit - context->work : INT64_MAX;
}

static inline void tac_ccd_work_add(tac_ccd_context *context, int64_t work)
{
	if (context)
		context->work += work;
}

// Called with positions in the bodies' triangle arrays. False ends the traversal.
typedef bool (*tac_ccd_visit)(void *user, int32_t moving, int32_t fixed);

// Visits all pairs that may come within *reach on the way, which the visitor may lower meanwhile. The order
// is the same every time, and on every machine. The work is that of the context, which may be NULL. False
// when the visitor or the limit of work ended it.
typedef bool tac_ccd_pairs_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed,
			      const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
			      void *user, tac_ccd_context *context);

// Where a moving body that stands is near the fixed one: a box in its own frame that holds every triangle of
// it that is closer than `reach`, and some others. Empty (lo > hi) where there is none.
typedef struct tac_ccd_vicinity {
	double reach; // no less than that of the pairs
	float lo[3], hi[3];
} tac_ccd_vicinity;

// The same with the vicinity, of a sweep that is still and a reach that is not lowered; NULL: not wanted.
typedef bool tac_ccd_pairs_vicinity_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				       const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
				       void *user, tac_ccd_context *context, tac_ccd_vicinity *vicinity);

TAC_SIMD_DECLARE(tac_ccd_pairs_vicinity_fn, tac_ccd_pairs_kernel);

// With the variant that the moving body was built for.
tac_ccd_pairs_fn tac_ccd_pairs;
tac_ccd_pairs_vicinity_fn tac_ccd_pairs_vicinity;

// The same with the fixed body's BSP in place of its tree: all pairs whose swept boxes come within reach.
tac_ccd_pairs_fn tac_ccd_pairs_bsp;

// Keeps of `pairs` those that a plane of their own does not part: the fixed triangle's plane, by more than
// `by_fixed` at the start and at the end of the sweep, or the moving triangle's, carried along, by more than
// `by_moving`. Their `clears` become lower bounds of the distance at both ends. Answers how many were kept.
typedef int32_t tac_ccd_filter_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				  const tac_ccd_sweep *sweep, double by_fixed, double by_moving,
				  tac_ccd_near *pairs, int32_t count);

TAC_SIMD_DECLARE(tac_ccd_filter_fn, tac_ccd_filter_kernel);

tac_ccd_filter_fn tac_ccd_filter;

// Which features of a pair of triangles may be closer than a margin: bit k is the moving vertex k and the
// fixed triangle, bit 3 + j the moving triangle and the fixed vertex j, bit 6 + 3 k + j the moving edge k and
// the fixed edge j.
#define TAC_CCD_FEATURE_FIXED_VERTEX 3
#define TAC_CCD_FEATURE_EDGES        6

// Writes such a mask for each of `pairs` at the pose T, of the features that their triangles stand for, and
// makes `clears` a close lower bound of their distance. No feature within the margin is missed.
typedef void tac_ccd_features_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
				 double margin, tac_ccd_near *pairs, int32_t count, uint16_t *out_features);

TAC_SIMD_DECLARE(tac_ccd_features_fn, tac_ccd_features_kernel);

tac_ccd_features_fn tac_ccd_features;

// Keeps of `pairs` those that may be within reach at the pose T, with close lower bounds of their distance,
// and writes what parts them: room for `count` of them. Answers how many were kept.
typedef int32_t tac_ccd_part_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_pose *T,
				double reach, tac_ccd_near *pairs, int32_t count, tac_ccd_parted *out_parted);

TAC_SIMD_DECLARE(tac_ccd_part_fn, tac_ccd_part_kernel);

tac_ccd_part_fn tac_ccd_part;

// Copies those of so many pairs that their directions do not part by more than `by` at the start and at the
// end of the sweep; `clears` become lower bounds of the distance at both. Answers how many.
typedef int32_t tac_ccd_sift_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				const tac_ccd_sweep *sweep, double by, const tac_ccd_near *pairs,
				const tac_ccd_parted *parted, int32_t count, tac_ccd_near *out_pairs);

TAC_SIMD_DECLARE(tac_ccd_sift_fn, tac_ccd_sift_kernel);

tac_ccd_sift_fn tac_ccd_sift;

// Visits the triangles of a body whose boxes in the tree meet the box, which the visitor may make smaller
// meanwhile. True when the visitor has not ended it.
bool tac_ccd_near_box(const tac_ccd_body *body, const tac_ccd_box *box,
		      bool (*visit)(void *user, int32_t triangle), void *user);

// Makes the context one for these two bodies; NULL is allowed.
void tac_ccd_context_bind(tac_ccd_context *context, const tac_ccd_body *moving, const tac_ccd_body *fixed);

// Whether the context's list holds all pairs that are closer than `reach` at the pose T; false with NULL.
bool tac_ccd_list_covers(const tac_ccd_context *context, const tac_ccd_pose *T, double reach);

// Called with some pairs at a time, which it may change. False ends the search.
typedef bool (*tac_ccd_visit_some)(void *user, tac_ccd_near *pairs, int32_t count);

// A search for the pairs of a sweep that are near at one pose of it.
typedef struct tac_ccd_search {
	const tac_ccd_body *moving, *fixed;
	const tac_ccd_sweep *sweep;
	const tac_ccd_pose *at;
	double reach;               // at that pose, m
	double by_fixed, by_moving; // as in tac_ccd_filter
	tac_ccd_visit_some visit;
	void *user;
	int32_t limit; // pairs to visit at most, when there is a context; 0: no limit
} tac_ccd_search;

// Visits all pairs that are closer than the reach at the pose and not parted by their planes, and some
// others: those of the context's list, which is made anew when it does not cover them; with NULL, or too many
// pairs for it, those of the trees. With a limit a shorter reach may have to do; *reach, which may be NULL,
// is set to it before the first visit. False when the visitor or the limit
// of work ended it.
bool tac_ccd_near_pairs(const tac_ccd_search *search, tac_ccd_context *context, double *out_reach);

#ifdef __cplusplus
}
#endif

#endif
