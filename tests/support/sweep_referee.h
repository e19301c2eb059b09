// Referee: whether two meshes intersect and their distance, in long double and by other formulas than the
// library's (orientation determinants, exhaustive boundary cases). Brute force over all triangles, apart from
// boxes and separating axes.
#ifndef TAC_TESTS_SUPPORT_SWEEP_REFEREE_H
#define TAC_TESTS_SUPPORT_SWEEP_REFEREE_H

#include "collision/mesh.h"
#include "collision/sweep.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

// This file mixes double with long double on purpose, which clang reports under this warning.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wdouble-promotion"
#endif

typedef long double real;
typedef struct ref_vec {
	real x, y, z;
} ref_vec;
typedef struct ref_triangle {
	ref_vec v[3];
	tac_dvec3 lo, hi; // a box, 1e-12 m too large
	tac_dvec3 p[3];   // v, rounded
	tac_dvec3 e[3];   // their differences, the edges
	double size;      // largest distance from the origin
} ref_triangle;
typedef struct ref_pose {
	real R[3][3], t[3];
} ref_pose;

static inline ref_vec ref_sub(ref_vec a, ref_vec b)
{
	return (ref_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline real ref_dot(ref_vec a, ref_vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline ref_vec ref_cross(ref_vec a, ref_vec b)
{
	return (ref_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline real ref_volume(ref_vec a, ref_vec b, ref_vec c, ref_vec d)
{
	return ref_dot(ref_sub(b, a), ref_cross(ref_sub(c, a), ref_sub(d, a)));
}

static inline real ref_min(real a, real b)
{
	return a < b ? a : b;
}

static inline real ref_max(real a, real b)
{
	return a > b ? a : b;
}

static inline real ref_point_segment(ref_vec p, ref_vec a, ref_vec b)
{
	ref_vec u = ref_sub(b, a), ap = ref_sub(p, a);
	real t = ref_dot(ap, u) / ref_dot(u, u);
	t = t < 0 ? 0 : t > 1 ? 1 : t;
	ref_vec d = {ap.x - t * u.x, ap.y - t * u.y, ap.z - t * u.z};
	return ref_dot(d, d);
}

static inline real ref_segments(ref_vec a, ref_vec b, ref_vec c, ref_vec d)
{
	real least = ref_min(ref_min(ref_point_segment(a, c, d), ref_point_segment(b, c, d)),
			     ref_min(ref_point_segment(c, a, b), ref_point_segment(d, a, b)));
	ref_vec u = ref_sub(b, a), v = ref_sub(d, c), w = ref_sub(c, a), n = ref_cross(u, v);
	real nn = ref_dot(n, n);
	if (nn > 1e-28L * ref_dot(u, u) * ref_dot(v, v)) {
		real s = ref_dot(ref_cross(w, v), n) / nn, t = ref_dot(ref_cross(w, u), n) / nn,
		     g = ref_dot(w, n);
		if (s >= 0 && s <= 1 && t >= 0 && t <= 1)
			least = ref_min(least, g * g / nn);
	}
	return least;
}

static inline real ref_point_face(ref_vec p, const ref_vec *t)
{
	ref_vec n = ref_cross(ref_sub(t[1], t[0]), ref_sub(t[2], t[0]));
	for (int i = 0; i < 3; i++) {
		if (ref_dot(ref_cross(ref_sub(t[(i + 1) % 3], t[i]), ref_sub(p, t[i])), n) < 0)
			return HUGE_VALL;
	}
	real g = ref_dot(ref_sub(p, t[0]), n);
	return g * g / ref_dot(n, n);
}

static inline bool ref_pierces(ref_vec p, ref_vec q, const ref_vec *t)
{
	real a = ref_volume(t[0], t[1], t[2], p), b = ref_volume(t[0], t[1], t[2], q);
	if ((a > 0 && b > 0) || (a < 0 && b < 0) || (a == 0 && b == 0))
		return false;
	real u = ref_volume(p, q, t[0], t[1]), v = ref_volume(p, q, t[1], t[2]),
	     w = ref_volume(p, q, t[2], t[0]);
	if (!((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0)))
		return false;
	// The signs of an edge that lies in the plane are rounding: its point must lie on the triangle.
	ref_vec e = ref_sub(q, p);
	real s = a / (a - b);
	ref_vec x = {p.x + s * e.x, p.y + s * e.y, p.z + s * e.z};
	real off = ref_point_face(x, t);
	for (int i = 0; i < 3; i++)
		off = ref_min(off, ref_point_segment(x, t[i], t[(i + 1) % 3]));
	ref_vec f = ref_sub(t[1], t[0]), g = ref_sub(t[2], t[0]);
	return off <= 1e-26L * (ref_dot(e, e) + ref_dot(f, f) + ref_dot(g, g));
}

// The squared distance of two triangles; -1 when they intersect.
static inline real ref_triangles(const ref_vec *a, const ref_vec *b)
{
	real least = HUGE_VALL;
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3;
		if (ref_pierces(a[i], a[j], b) || ref_pierces(b[i], b[j], a))
			return -1;
		least = ref_min(least, ref_min(ref_point_face(a[i], b), ref_point_face(b[i], a)));
		for (int k = 0; k < 3; k++)
			least = ref_min(least, ref_segments(a[i], a[j], b[k], b[(k + 1) % 3]));
	}
	return least == 0 ? -1 : least;
}

// The pose after the fraction s of the translation v and of the rotation by `angle` about an axis through
// `centre` (Rodrigues' formula in long double).
static inline ref_pose ref_pose_at(const tac_drigid *start, tac_dvec3 v, tac_dvec3 centre, tac_dvec3 axis,
				   double angle, double s)
{
	real a = (real)angle * s, c = cosl(a), sn = sinl(a), k = 1 - c;
	real length = sqrtl((real)axis.x * axis.x + (real)axis.y * axis.y + (real)axis.z * axis.z);
	real x = length > 0 ? axis.x / length : 0, y = length > 0 ? axis.y / length : 0,
	     z = length > 0 ? axis.z / length : 0;
	real turn[3][3] = {{c + x * x * k, x * y * k - z * sn, x * z * k + y * sn},
			   {y * x * k + z * sn, c + y * y * k, y * z * k - x * sn},
			   {z * x * k - y * sn, z * y * k + x * sn, c + z * z * k}};
	real o[3] = {centre.x, centre.y, centre.z}, t[3] = {start->t.x, start->t.y, start->t.z};
	real move[3] = {v.x, v.y, v.z};
	ref_pose pose;
	for (int i = 0; i < 3; i++) {
		pose.t[i] = o[i] + s * move[i];
		for (int j = 0; j < 3; j++) {
			pose.t[i] += turn[i][j] * (t[j] - o[j]);
			pose.R[i][j] = 0;
			for (int n = 0; n < 3; n++)
				pose.R[i][j] += turn[i][n] * start->R.m[n][j];
		}
	}
	return pose;
}

static inline ref_vec ref_place(const ref_pose *T, tac_vec3 v)
{
	real p[3] = {v.x, v.y, v.z}, q[3];
	for (int i = 0; i < 3; i++)
		q[i] = T->t[i] + T->R[i][0] * p[0] + T->R[i][1] * p[1] + T->R[i][2] * p[2];
	return (ref_vec){q[0], q[1], q[2]};
}

static inline ref_triangle ref_load(const tac_mesh *mesh, int32_t t, const ref_pose *T)
{
	ref_triangle r;
	for (int k = 0; k < 3; k++) {
		tac_vec3 v = mesh->vertices[mesh->triangles[t].vertex[k]];
		r.v[k] = T ? ref_place(T, v) : (ref_vec){v.x, v.y, v.z};
	}
	r.size = 0;
	r.lo = tac_dvec3_splat(HUGE_VAL);
	r.hi = tac_dvec3_splat(-HUGE_VAL);
	for (int k = 0; k < 3; k++) {
		tac_dvec3 p = tac_dvec3_make((double)r.v[k].x, (double)r.v[k].y, (double)r.v[k].z);
		r.p[k] = p;
		r.size = fmax(r.size, tac_dvec3_length(p));
		r.lo = tac_dvec3_min(r.lo, tac_dvec3_sub(p, tac_dvec3_splat(1e-12)));
		r.hi = tac_dvec3_max(r.hi, tac_dvec3_add(p, tac_dvec3_splat(1e-12)));
	}
	for (int k = 0; k < 3; k++)
		r.e[k] = tac_dvec3_sub(r.p[(k + 1) % 3], r.p[k]);
	return r;
}

static inline bool ref_boxes_apart(const ref_triangle *a, const ref_triangle *b, double reach)
{
	return a->lo.x > b->hi.x + reach || b->lo.x > a->hi.x + reach || a->lo.y > b->hi.y + reach ||
	       b->lo.y > a->hi.y + reach || a->lo.z > b->hi.z + reach || b->lo.z > a->hi.z + reach;
}

// Whether the axis n separates the two by more than `reach` and the rounding of doubles.
static inline bool ref_separated(const ref_triangle *a, const ref_triangle *b, tac_dvec3 n, double reach)
{
	double a_lo = HUGE_VAL, a_hi = -HUGE_VAL, b_lo = HUGE_VAL, b_hi = -HUGE_VAL;
	for (int k = 0; k < 3; k++) {
		double x = tac_dvec3_dot(n, a->p[k]), y = tac_dvec3_dot(n, b->p[k]);
		a_lo = x < a_lo ? x : a_lo;
		a_hi = x > a_hi ? x : a_hi;
		b_lo = y < b_lo ? y : b_lo;
		b_hi = y > b_hi ? y : b_hi;
	}
	double gap = a_lo - b_hi > b_lo - a_hi ? a_lo - b_hi : b_lo - a_hi;
	double least = reach + 1e-14 * (a->size + b->size);
	return gap > 0 && gap * gap > least * least * tac_dvec3_length_squared(n);
}

// Whether one of the separating axes of two triangles does: their normals, and the cross products of their
// edges.
static inline bool ref_axes_separate(const ref_triangle *a, const ref_triangle *b, double reach)
{
	if (ref_separated(a, b, tac_dvec3_cross(b->e[0], b->e[1]), reach) ||
	    ref_separated(a, b, tac_dvec3_cross(a->e[0], a->e[1]), reach))
		return true;
	for (int k = 0; k < 9; k++) {
		if (ref_separated(a, b, tac_dvec3_cross(a->e[k / 3], b->e[k % 3]), reach))
			return true;
	}
	return false;
}

// The distance of two meshes up to `reach`; -1 when they intersect.
static inline double ref_distance(const tac_mesh *moving, const tac_mesh *fixed, const ref_pose *T,
				  double reach)
{
	ref_triangle *a = malloc((size_t)moving->triangle_count * sizeof *a);
	ref_triangle box = ref_load(moving, 0, T);
	for (int32_t i = 0; i < moving->triangle_count; i++) {
		a[i] = ref_load(moving, i, T);
		box.lo = tac_dvec3_min(box.lo, a[i].lo);
		box.hi = tac_dvec3_max(box.hi, a[i].hi);
	}
	real best = reach;
	for (int32_t j = 0; j < fixed->triangle_count && best >= 0; j++) {
		ref_triangle b = ref_load(fixed, j, NULL);
		if (ref_boxes_apart(&box, &b, (double)best))
			continue;
		for (int32_t i = 0; i < moving->triangle_count && best >= 0; i++) {
			if (ref_boxes_apart(&a[i], &b, (double)best) ||
			    ref_axes_separate(&a[i], &b, (double)best))
				continue;
			real squared = ref_triangles(a[i].v, b.v);
			best = squared < 0 ? -1 : ref_min(best, sqrtl(squared));
		}
	}
	free(a);
	return best < 0 ? -1 : (double)best;
}

// The distance of the segment from a to b, or of the point a = b, from a mesh; 0 if they intersect.
static inline double ref_segment_distance(const tac_mesh *mesh, tac_dvec3 a, tac_dvec3 b)
{
	real least = HUGE_VALL;
	ref_vec p = {a.x, a.y, a.z}, q = {b.x, b.y, b.z};
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		ref_triangle t = ref_load(mesh, i, NULL);
		if (tac_dvec3_length_squared(tac_dvec3_sub(a, b)) > 0 && ref_pierces(p, q, t.v))
			return 0;
		least = ref_min(least, ref_min(ref_point_face(p, t.v), ref_point_face(q, t.v)));
		for (int k = 0; k < 3; k++) {
			ref_vec c = t.v[k], d = t.v[(k + 1) % 3];
			least = ref_min(least,
					ref_min(ref_point_segment(p, c, d), ref_point_segment(q, c, d)));
			if (tac_dvec3_length_squared(tac_dvec3_sub(a, b)) > 0)
				least = ref_min(least, ref_segments(p, q, c, d));
		}
	}
	return (double)sqrtl(least);
}

#endif
