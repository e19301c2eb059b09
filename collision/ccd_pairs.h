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
	tac_dmat3 turned; // by element the larger of the identity and |R at the start^T R at the end|
	tac_dmat3 tilt;   // by element |R| at the start
	double bend;      // how far a point of the body strays from the chord of its path, m
} tac_ccd_sweep;

// A node of the moving tree on its way: its box in the fixed frame, and in the moving frame at the start.
typedef struct tac_ccd_swept {
	tac_ccd_box box;
	tac_dvec3 center, half;
} tac_ccd_swept;

// `angle` is how far the body turns on the way, rad; `arm` the largest distance of its points from the axis.
static inline tac_ccd_sweep tac_ccd_sweep_make(tac_ccd_pose start, tac_ccd_pose end, double angle, double arm)
{
	tac_ccd_sweep s = {start, end, start.R, tac_dmat3_transpose_mul(start.R, end.R), start.R, 0};
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			s.tilt.m[i][j] = fabs(start.R.m[i][j]);
			s.spread.m[i][j] = fmax(s.tilt.m[i][j], fabs(end.R.m[i][j]));
			s.turned.m[i][j] = fmax(i == j ? 1 : 0, fabs(s.turned.m[i][j]));
		}
	}
	// The sagitta of an arc is arm (1 - cos(angle / 2)) <= arm angle^2 / 8, which also holds for a twist.
	s.bend = arm * fmin(angle * angle / 8, 2);
	return s;
}

static inline tac_ccd_swept tac_ccd_sweep_node(const tac_ccd_sweep *s, const tac_ccd_node *node)
{
	tac_dvec3 c = tac_dvec3_from_vec3(node->center), h = tac_dvec3_from_vec3(node->half);
	tac_dvec3 bend = tac_dvec3_splat(s->bend);
	tac_dvec3 c0 = tac_ccd_pose_apply(&s->start, c), c1 = tac_ccd_pose_apply(&s->end, c);
	tac_dvec3 around = tac_dvec3_add(tac_dmat3_apply(s->spread, h), bend);
	tac_dvec3 half_way =
		tac_dvec3_scale(tac_dmat3_transpose_apply(s->start.R, tac_dvec3_sub(c1, c0)), 0.5);
	tac_ccd_swept swept = {
		{tac_dvec3_sub(tac_dvec3_min(c0, c1), around), tac_dvec3_add(tac_dvec3_max(c0, c1), around)},
		tac_dvec3_add(c, half_way),
		tac_dvec3_add(tac_dvec3_add(tac_dmat3_apply(s->turned, h), tac_dvec3_abs(half_way)), bend),
	};
	return swept;
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

// The same along the axes of the moving body at the start.
static inline bool tac_ccd_swept_meets_node(const tac_ccd_sweep *s, const tac_ccd_swept *a,
					    const tac_ccd_node *n, double reach)
{
	tac_dvec3 c = tac_dvec3_sub(tac_dvec3_from_vec3(n->center), s->start.t);
	tac_dvec3 apart = tac_dvec3_abs(tac_dvec3_sub(tac_dmat3_transpose_apply(s->start.R, c), a->center));
	tac_dvec3 room =
		tac_dvec3_add(tac_dmat3_transpose_apply(s->tilt, tac_dvec3_from_vec3(n->half)), a->half);
	return apart.x <= room.x + reach && apart.y <= room.y + reach && apart.z <= room.z + reach;
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
		tac_ccd_swept swept;
	} stack[TAC_CCD_STACK];
	int top = 0;
	// The swept triangles of the leaf that was last opened: its visits follow each other.
	tac_ccd_moving leaf[TAC_CCD_LEAF];
	int32_t leaf_index = -1;
	stack[top].a = stack[top].b = 0;
	stack[top++].swept = tac_ccd_sweep_node(sweep, &moving->nodes[0]);
	while (top > 0) {
		int32_t ia = stack[--top].a, ib = stack[top].b;
		tac_ccd_swept swept = stack[top].swept;
		const tac_ccd_node *a = &moving->nodes[ia], *b = &fixed->nodes[ib];
		if (!tac_ccd_box_meets_node(&swept.box, b, *reach) ||
		    !tac_ccd_swept_meets_node(sweep, &swept, b, *reach))
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
			stack[top++].swept =
				open_moving ? tac_ccd_sweep_node(sweep, &moving->nodes[a->first + k]) : swept;
		}
	}
}

#ifdef __cplusplus
}
#endif

#endif
