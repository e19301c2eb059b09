// Pairs: which triangles of a moving body may come near which triangles of a fixed one. Both trees are
// descended together; a node of the moving tree is the box of its box at the start and at the end of the
// motion, grown by what the path bends between them. Private to the library: the visitor is known where this
// is compiled, so it is inlined.
#ifndef TAC_COLLISION_CCD_PAIRS_H
#define TAC_COLLISION_CCD_PAIRS_H

#include "base/algebra.h"
#include "collision/ccd.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline tac_dvec3 tac_ccd_pose_apply(const tac_ccd_pose *T, tac_dvec3 x)
{
	return tac_dvec3_add(tac_dmat3_apply(T->R, x), T->t);
}

// Both trees are halved level by level, so their depths are below 32 each.
#define TAC_CCD_STACK 72

typedef struct tac_ccd_box {
	tac_dvec3 lo, hi;
} tac_ccd_box;

typedef struct tac_ccd_sweep {
	tac_ccd_pose start, end;
	tac_dmat3 spread; // by element the larger of |R| at the start and at the end
	double bend;      // how far a point of the body strays from the chord of its path, m
} tac_ccd_sweep;

// `angle` is how far the body turns on the way, rad; `arm` the largest distance of its points from the axis.
static inline tac_ccd_sweep tac_ccd_sweep_make(tac_ccd_pose start, tac_ccd_pose end, double angle, double arm)
{
	tac_ccd_sweep s = {start, end, start.R, 0};
	double *m = &s.spread.m[0][0];
	const double *p = &start.R.m[0][0], *q = &end.R.m[0][0];
	for (int i = 0; i < 9; i++)
		m[i] = fmax(fabs(p[i]), fabs(q[i]));
	// The sagitta of an arc is arm (1 - cos(angle / 2)) <= arm angle^2 / 8, which also holds for a twist.
	s.bend = arm * fmin(angle * angle / 8, 2);
	return s;
}

static inline tac_ccd_box tac_ccd_sweep_node(const tac_ccd_sweep *s, const tac_ccd_node *node)
{
	tac_dvec3 c = tac_dvec3_from_vec3(node->center);
	tac_dvec3 h = tac_dmat3_apply(s->spread, tac_dvec3_from_vec3(node->half));
	tac_dvec3 c0 = tac_ccd_pose_apply(&s->start, c), c1 = tac_ccd_pose_apply(&s->end, c);
	h = tac_dvec3_add(h, tac_dvec3_splat(s->bend));
	tac_ccd_box box = {tac_dvec3_sub(tac_dvec3_min(c0, c1), h), tac_dvec3_add(tac_dvec3_max(c0, c1), h)};
	return box;
}

static inline bool tac_ccd_box_meets_node(const tac_ccd_box *a, const tac_ccd_node *n, double reach)
{
	return a->lo.x - reach <= (double)n->center.x + (double)n->half.x &&
	       a->hi.x + reach >= (double)n->center.x - (double)n->half.x &&
	       a->lo.y - reach <= (double)n->center.y + (double)n->half.y &&
	       a->hi.y + reach >= (double)n->center.y - (double)n->half.y &&
	       a->lo.z - reach <= (double)n->center.z + (double)n->half.z &&
	       a->hi.z + reach >= (double)n->center.z - (double)n->half.z;
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
	tac_ccd_box box;
} tac_ccd_moving;

static inline tac_ccd_moving tac_ccd_sweep_triangle(const tac_ccd_sweep *s, const tac_ccd_triangle *triangle)
{
	tac_ccd_moving m;
	m.triangle = triangle;
	m.box.lo = tac_dvec3_splat(INFINITY);
	m.box.hi = tac_dvec3_splat(-INFINITY);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 x = tac_dvec3_from_vec3(triangle->vertex[k]);
		m.start[k] = tac_ccd_pose_apply(&s->start, x);
		m.end[k] = tac_ccd_pose_apply(&s->end, x);
		m.box.lo = tac_dvec3_min(m.start[k], tac_dvec3_min(m.end[k], m.box.lo));
		m.box.hi = tac_dvec3_max(m.start[k], tac_dvec3_max(m.end[k], m.box.hi));
	}
	m.box.lo = tac_dvec3_sub(m.box.lo, tac_dvec3_splat(s->bend));
	m.box.hi = tac_dvec3_add(m.box.hi, tac_dvec3_splat(s->bend));
	return m;
}

static inline void tac_ccd_triangle_load(const tac_ccd_triangle *triangle, tac_dvec3 out_vertices[3])
{
	for (int k = 0; k < 3; k++)
		out_vertices[k] = tac_dvec3_from_vec3(triangle->vertex[k]);
}

static inline tac_ccd_box tac_ccd_box_of(const tac_dvec3 v[3])
{
	tac_ccd_box box = {tac_dvec3_min(v[0], tac_dvec3_min(v[1], v[2])),
			   tac_dvec3_max(v[0], tac_dvec3_max(v[1], v[2]))};
	return box;
}

// True when the plane of the triangle has all points on one side, further than `limit`.
static inline bool tac_ccd_plane_separates(const tac_dvec3 triangle[3], const tac_dvec3 *points, int count,
					   double limit)
{
	tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(triangle[1], triangle[0]),
				      tac_dvec3_sub(triangle[2], triangle[0]));
	double lo = HUGE_VAL, hi = -HUGE_VAL;
	for (int i = 0; i < count; i++) {
		double d = tac_dvec3_dot(n, tac_dvec3_sub(points[i], triangle[0]));
		lo = d < lo ? d : lo;
		hi = d > hi ? d : hi;
	}
	double nearest = lo > 0 ? lo : -hi;
	return nearest > 0 && nearest * nearest > limit * limit * tac_dvec3_dot(n, n);
}

// Called for each pair whose boxes meet. False ends the traversal.
typedef bool (*tac_ccd_visit)(void *user, const tac_ccd_moving *moving, const tac_ccd_triangle *fixed,
			      const tac_dvec3 fixed_vertices[3]);

static inline bool tac_ccd_visit_leaves(const tac_ccd_moving *moving, int moving_count,
					const tac_ccd_body *fixed, const tac_ccd_node *b, const double *reach,
					tac_ccd_visit visit, void *user)
{
	for (int i = 0; i < moving_count; i++) {
		if (!tac_ccd_box_meets_node(&moving[i].box, b, *reach))
			continue;
		for (int32_t j = b->first; j < b->first + b->count; j++) {
			tac_dvec3 v[3];
			tac_ccd_triangle_load(&fixed->triangles[j], v);
			tac_ccd_box box = tac_ccd_box_of(v);
			if (tac_ccd_box_meets_box(&moving[i].box, &box, *reach) &&
			    !visit(user, &moving[i], &fixed->triangles[j], v))
				return false;
		}
	}
	return true;
}

// Visits all pairs whose swept boxes come within *reach, which the visitor may lower on the way. The order is
// the same every time.
static inline void tac_ccd_pairs(const tac_ccd_body *moving, const tac_ccd_body *fixed,
				 const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
				 void *user)
{
	struct {
		int32_t a, b;
		tac_ccd_box box;
	} stack[TAC_CCD_STACK];
	int top = 0;
	// The swept triangles of the leaf that was last opened: its visits follow each other.
	tac_ccd_moving leaf[TAC_CCD_LEAF];
	int32_t leaf_index = -1;
	stack[top].a = stack[top].b = 0;
	stack[top++].box = tac_ccd_sweep_node(sweep, &moving->nodes[0]);
	while (top > 0) {
		int32_t ia = stack[--top].a, ib = stack[top].b;
		tac_ccd_box box = stack[top].box;
		const tac_ccd_node *a = &moving->nodes[ia], *b = &fixed->nodes[ib];
		if (!tac_ccd_box_meets_node(&box, b, *reach))
			continue;
		if (a->count && b->count) {
			for (int32_t i = 0; i < a->count && leaf_index != ia; i++)
				leaf[i] = tac_ccd_sweep_triangle(sweep, &moving->triangles[a->first + i]);
			leaf_index = ia;
			if (!tac_ccd_visit_leaves(leaf, a->count, fixed, b, reach, visit, user))
				return;
			continue;
		}
		// The larger one is opened.
		bool open_moving = b->count || (!a->count && a->half.x + a->half.y + a->half.z >
								     b->half.x + b->half.y + b->half.z);
		for (int k = 1; k >= 0; k--) {
			stack[top].a = open_moving ? a->first + k : ia;
			stack[top].b = open_moving ? ib : b->first + k;
			stack[top++].box =
				open_moving ? tac_ccd_sweep_node(sweep, &moving->nodes[a->first + k]) : box;
		}
	}
}

#ifdef __cplusplus
}
#endif

#endif
