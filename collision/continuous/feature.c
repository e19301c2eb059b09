#include "collision/continuous/feature.h"

#include "collision/geometry/plucker.h"

#include <math.h>

// How far beyond its ends an edge still counts in the zone test, relative to its length: rounding favours "in
// the zone" (3.5).
#define EDGE_SLACK 1e-12

static double clamp01(double f)
{
	return f < 0 ? 0 : f > 1 ? 1 : f;
}

tac_feature_arc tac_feature_arc_vertex(tac_dvec3 a, tac_dvec3 normal, double start)
{
	tac_feature_arc arc = {start, normal.x * a.y - normal.y * a.x, normal.x * a.x + normal.y * a.y};
	return arc;
}

tac_feature_arc tac_feature_arc_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d)
{
	tac_plucker pl = tac_plucker_line(a, b), ql = tac_plucker_line(c, d);
	const double *p = pl.p, *q = ql.p;
	tac_feature_arc arc = {
		-tac_dvec3_dot(tac_dvec3_sub(b, a),
			       tac_dvec3_cross(tac_dvec3_sub(c, a), tac_dvec3_sub(d, a))),
		q[1] * p[2] - q[2] * p[1] + q[5] * p[3] - q[3] * p[5],
		q[1] * p[5] + q[2] * p[3] + q[5] * p[1] + q[3] * p[2],
	};
	return arc;
}

tac_feature_roots tac_feature_arc_roots(tac_feature_arc arc)
{
	// a r^2 + 2 b r + c = 0 with a = v0 - v2, b = v1, c = v0 + v2.
	double a = arc.start - 2 * arc.v2, b = arc.v1, c = arc.start;
	double discriminant = b * b - a * c;
	tac_feature_roots roots = {false, 0, 0};
	if (!(discriminant >= 0) || (a == 0 && b == 0))
		return roots;
	double s = sqrt(discriminant);
	roots.exist = true;
	// Each root in the form without cancellation, which also covers a = 0.
	roots.enter = b < 0 ? c / (s - b) : (-b - s) / a;
	roots.leave = b > 0 ? -c / (b + s) : (s - b) / a;
	// With b = 0 and s = 0, a != 0 and both roots are 0: 0 / 0 does not occur.
	if (b > 0 && a == 0)
		roots.enter = -HUGE_VAL;
	if (b < 0 && a == 0)
		roots.leave = HUGE_VAL;
	return roots;
}

double tac_feature_translate_edges(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 v)
{
	tac_dvec3 normal = tac_dvec3_cross(tac_dvec3_sub(b, a), tac_dvec3_sub(d, c));
	double beta = tac_dvec3_dot(v, normal);
	if (beta == 0)
		return (double)NAN;
	return tac_dvec3_dot(tac_dvec3_sub(c, a), normal) / beta;
}

double tac_zone_translate_vertex(double alpha, double beta, double zone)
{
	if (alpha <= 0 || beta >= 0)
		return 1;
	return clamp01((alpha - zone) / -beta);
}

double tac_zone_translate_edge(double line, double offset)
{
	if (!(line >= 0) || !(offset < 1) || line < offset)
		return 1;
	return offset > 0 ? offset : 0;
}

double tac_zone_rotate_vertex(tac_feature_arc arc, double zone, double angle)
{
	if (arc.start <= 0)
		return 1;
	tac_feature_arc inner = {arc.start - zone, arc.v1, arc.v2};
	bool in_zone = inner.start < 0;
	double h = hypot(arc.v1, arc.v2);
	if (h == 0)
		return 1;
	if (in_zone && (arc.v1 < 0 || (arc.v1 == 0 && arc.v2 > 0)))
		return 0;
	tac_feature_roots roots = tac_feature_arc_roots(inner);
	if (!roots.exist)
		return in_zone ? clamp01(2 * atan2(h - arc.v2, arc.v1) / angle) : 1;
	return roots.enter >= 0 ? clamp01(2 * atan(roots.enter) / angle) : 1;
}

// The parameters at which the lines a→b and c→d come closest; false when they are parallel.
static bool line_parameters(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, double *out_ab,
			    double *out_cd)
{
	tac_dvec3 u = tac_dvec3_sub(b, a), w = tac_dvec3_sub(d, c), n = tac_dvec3_cross(u, w),
		  r = tac_dvec3_sub(c, a);
	double nn = tac_dvec3_dot(n, n);
	if (nn <= 1e-24 * tac_dvec3_dot(u, u) * tac_dvec3_dot(w, w))
		return false;
	*out_ab = tac_dvec3_dot(tac_dvec3_cross(r, w), n) / nn;
	*out_cd = tac_dvec3_dot(tac_dvec3_cross(r, u), n) / nn;
	return true;
}

static bool within_edge(double t)
{
	return t >= -EDGE_SLACK && t <= 1 + EDGE_SLACK;
}

// Whether the edge a→b, rotated by r, meets the offset edge and moves against its offset.
static bool collision_root(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 w, double r,
			   tac_dvec3 *out_point)
{
	tac_dvec3 ar = tac_feature_turn(a, r), br = tac_feature_turn(b, r), co = tac_dvec3_add(c, w),
		  along = tac_dvec3_sub(d, c);
	double s, t;
	if (!line_parameters(ar, br, co, tac_dvec3_add(d, w), &s, &t) || !within_edge(s) || !within_edge(t))
		return false;
	tac_dvec3 x = tac_dvec3_add_scaled(co, t, along);
	tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(br, ar), along);
	double moving = tac_dvec3_dot(tac_feature_tangent(x), n);
	if ((tac_dvec3_dot(n, w) > 0 ? moving : -moving) >= 0)
		return false;
	*out_point = x;
	return true;
}

double tac_zone_rotate_edge(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 w, double angle,
			    tac_dvec3 *out_point)
{
	tac_feature_arc arc = tac_feature_arc_edge(a, b, tac_dvec3_add(c, w), tac_dvec3_add(d, w));
	tac_feature_roots roots = tac_feature_arc_roots(arc);
	double end = tan(angle / 2);

	// The start is in the zone if a + x u + gap up = c + y along with 0 <= gap < |w| and both points
	// within the edges.
	tac_dvec3 u = tac_dvec3_sub(b, a), along = tac_dvec3_sub(d, c), up = tac_dvec3_normalize(w),
		  r0 = tac_dvec3_sub(c, a);
	double det = tac_dvec3_dot(u, tac_dvec3_cross(up, along));
	if (det != 0) {
		double x = tac_dvec3_dot(r0, tac_dvec3_cross(up, along)) / det,
		       y = -tac_dvec3_dot(u, tac_dvec3_cross(up, r0)) / det;
		double gap = -tac_dvec3_dot(u, tac_dvec3_cross(r0, along)) / det;
		if (gap >= 0 && gap < tac_dvec3_length(w) && within_edge(x) && within_edge(y)) {
			tac_dvec3 contact = tac_dvec3_add_scaled(a, x, u), n = tac_dvec3_cross(u, along);
			double moving = tac_dvec3_dot(tac_feature_tangent(contact), n);
			if ((tac_dvec3_dot(n, w) > 0 ? moving : -moving) < 0) {
				*out_point = contact;
				return 0;
			}
			if (!roots.exist) {
				// It never leaves the zone and may move as long as its gap grows.
				double top = atan2(arc.v1, arc.v2);
				if (top <= 0)
					top += 3.14159265358979323846;
				*out_point = contact;
				return clamp01(top / angle);
			}
		}
	}
	if (!roots.exist)
		return 1;
	double first = fmin(roots.enter, roots.leave), second = fmax(roots.enter, roots.leave);
	if (first >= 0 && first <= end && collision_root(a, b, c, d, w, first, out_point))
		return clamp01(2 * atan(first) / angle);
	if (second >= 0 && second <= end && collision_root(a, b, c, d, w, second, out_point))
		return clamp01(2 * atan(second) / angle);
	return 1;
}

tac_dvec3 tac_zone_offset(tac_dvec3 n1, tac_dvec3 n2, double zone)
{
	double c = tac_dvec3_dot(n1, n2);
	tac_dvec3 sum = tac_dvec3_add(n1, n2);
	// |w| = zone sqrt(2 / (1 + c)), clamped to 2 zone where 1 + c < 1/2.
	if (1 + c >= 0.5)
		return tac_dvec3_scale(sum, zone / (1 + c));
	return tac_dvec3_scale(tac_dvec3_normalize(sum), 2 * zone);
}

tac_dvec3 tac_zone_offset_dangling(tac_dvec3 along, tac_dvec3 normal, double zone)
{
	return tac_dvec3_scale(tac_dvec3_cross(along, normal), zone);
}
