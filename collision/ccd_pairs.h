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
	tac_dmat3 turned; // by element the larger of the identity and |R at the start^T R at the end|
	tac_dmat3 tilt;   // by element |R| at the start
	double bend;      // how far a point of the body strays from the chord of its path, m
} tac_ccd_sweep;

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
	m.box.lo = tac_dvec3_splat(HUGE_VAL);
	m.box.hi = tac_dvec3_splat(-HUGE_VAL);
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

// Visits all pairs whose swept boxes come within *reach, which the visitor may lower on the way. The order is
// the same every time, and on every machine.
typedef void tac_ccd_pairs_fn(const tac_ccd_body *moving, const tac_ccd_body *fixed,
			      const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
			      void *user);

TAC_SIMD_DECLARE(tac_ccd_pairs_fn, tac_ccd_pairs_kernel);

// With the variant that the moving body was built for.
tac_ccd_pairs_fn tac_ccd_pairs;

#ifdef __cplusplus
}
#endif

#endif
