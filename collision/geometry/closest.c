#include "collision/closest.h"

#include <math.h>

// Segments whose angle has a sine squared below this are treated as parallel.
#define PARALLEL_SINE_SQUARED 1e-20
// By how much, relative to its square, a gap between edges must be smaller to replace one at a vertex.
#define EDGE_PREFERENCE 1e-12

tac_dvec3 tac_closest_on_triangle(tac_dvec3 p, const tac_dvec3 t[3], int *out_region)
{
	tac_dvec3 ab = tac_dvec3_sub(t[1], t[0]), ac = tac_dvec3_sub(t[2], t[0]), ap = tac_dvec3_sub(p, t[0]);
	double d1 = tac_dvec3_dot(ab, ap), d2 = tac_dvec3_dot(ac, ap);
	if (d1 <= 0 && d2 <= 0) {
		*out_region = TAC_CLOSEST_VERTEX;
		return t[0];
	}
	tac_dvec3 bp = tac_dvec3_sub(p, t[1]);
	double d3 = tac_dvec3_dot(ab, bp), d4 = tac_dvec3_dot(ac, bp);
	if (d3 >= 0 && d4 <= d3) {
		*out_region = TAC_CLOSEST_VERTEX + 1;
		return t[1];
	}
	tac_dvec3 n = tac_dvec3_cross(ab, ac);
	double nn = tac_dvec3_dot(n, n), vc = d1 * d4 - d3 * d2;
	bool line = nn == 0; // without a face, rounding decides the signs of the areas
	if ((vc <= 0 || line) && d1 >= 0 && d3 <= 0 && d1 > d3) {
		*out_region = TAC_CLOSEST_EDGE;
		return tac_dvec3_add_scaled(t[0], d1 / (d1 - d3), ab);
	}
	tac_dvec3 cp = tac_dvec3_sub(p, t[2]);
	double d5 = tac_dvec3_dot(ab, cp), d6 = tac_dvec3_dot(ac, cp);
	if (d6 >= 0 && d5 <= d6) {
		*out_region = TAC_CLOSEST_VERTEX + 2;
		return t[2];
	}
	double vb = d5 * d2 - d1 * d6;
	if ((vb <= 0 || line) && d2 >= 0 && d6 <= 0 && d2 > d6) {
		*out_region = TAC_CLOSEST_EDGE + 2;
		return tac_dvec3_add_scaled(t[0], d2 / (d2 - d6), ac);
	}
	double va = d3 * d6 - d5 * d4;
	double d43 = d4 - d3, d56 = d5 - d6;
	if ((va <= 0 || line) && d43 >= 0 && d56 >= 0 && d43 + d56 > 0) {
		*out_region = TAC_CLOSEST_EDGE + 1;
		return tac_dvec3_add_scaled(t[1], d43 / (d43 + d56), tac_dvec3_sub(t[2], t[1]));
	}
	// Along the normal, not by va + vb + vc: a needle's differences of products lose their digits there.
	*out_region = TAC_CLOSEST_FACE;
	return tac_dvec3_add_scaled(p, -tac_dvec3_dot(n, ap) / nn, n);
}

static double clamp01(double t)
{
	return t < 0 ? 0 : t > 1 ? 1 : t;
}

bool tac_closest_of_segments(tac_dvec3 p1, tac_dvec3 q1, tac_dvec3 p2, tac_dvec3 q2, tac_dvec3 *out_1,
			     tac_dvec3 *out_2)
{
	tac_dvec3 d1 = tac_dvec3_sub(q1, p1), d2 = tac_dvec3_sub(q2, p2), r = tac_dvec3_sub(p1, p2);
	double a = tac_dvec3_dot(d1, d1), e = tac_dvec3_dot(d2, d2), f = tac_dvec3_dot(d2, r),
	       c = tac_dvec3_dot(d1, r), b = tac_dvec3_dot(d1, d2);
	tac_dvec3 n = tac_dvec3_cross(d1, d2);
	double det = tac_dvec3_dot(n, n), s = 0; // |d1 x d2|^2: a e - b b without its cancellation
	bool inside = false;
	if (det > PARALLEL_SINE_SQUARED * a * e) {
		s = tac_dvec3_dot(tac_dvec3_cross(d2, r), n) / det;
		inside = s > 0 && s < 1;
		s = clamp01(s);
	}
	double t = e > 0 ? (b * s + f) / e : 0;
	if (t < 0 || t > 1) {
		inside = false;
		t = clamp01(t);
		s = a > 0 ? clamp01((b * t - c) / a) : 0;
	}
	*out_1 = tac_dvec3_add_scaled(p1, s, d1);
	*out_2 = tac_dvec3_add_scaled(p2, t, d2);
	return inside && t > 0 && t < 1;
}

static bool segment_crosses(tac_dvec3 p, tac_dvec3 q, const tac_dvec3 t[3], tac_dvec3 normal)
{
	double a = tac_dvec3_dot(normal, tac_dvec3_sub(p, t[0])),
	       b = tac_dvec3_dot(normal, tac_dvec3_sub(q, t[0]));
	if ((a > 0 && b > 0) || (a < 0 && b < 0) || (a == 0 && b == 0))
		return false;
	tac_dvec3 along = tac_dvec3_sub(q, p);
	tac_dvec3 pa = tac_dvec3_sub(t[0], p), pb = tac_dvec3_sub(t[1], p), pc = tac_dvec3_sub(t[2], p);
	double u = tac_dvec3_dot(along, tac_dvec3_cross(pa, pb)),
	       v = tac_dvec3_dot(along, tac_dvec3_cross(pb, pc)),
	       w = tac_dvec3_dot(along, tac_dvec3_cross(pc, pa));
	return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

bool tac_triangles_cross(const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	tac_dvec3 na = tac_dvec3_triangle_cross(a[0], a[1], a[2]);
	tac_dvec3 nb = tac_dvec3_triangle_cross(b[0], b[1], b[2]);
	for (int k = 0; k < 3; k++) {
		if (segment_crosses(a[k], a[(k + 1) % 3], b, nb) ||
		    segment_crosses(b[k], b[(k + 1) % 3], a, na))
			return true;
	}
	return false;
}

tac_closest tac_closest_of_triangles(const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	tac_closest best = {0, TAC_FEATURES_NONE, 0, 0, a[0], b[0]};
	if (tac_triangles_cross(a, b))
		return best;
	double least = HUGE_VAL;
	for (int i = 0; i < 3; i++) {
		int region;
		tac_dvec3 q = tac_closest_on_triangle(a[i], b, &region), d = tac_dvec3_sub(a[i], q);
		if (tac_dvec3_dot(d, d) < least) {
			least = tac_dvec3_dot(d, d);
			best = (tac_closest){0, TAC_FEATURES_VERTEX_FACE, i, 0, a[i], q};
		}
		q = tac_closest_on_triangle(b[i], a, &region);
		d = tac_dvec3_sub(b[i], q);
		if (tac_dvec3_dot(d, d) < least) {
			least = tac_dvec3_dot(d, d);
			best = (tac_closest){0, TAC_FEATURES_FACE_VERTEX, 0, i, q, b[i]};
		}
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			tac_dvec3 x, y;
			tac_closest_of_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3], &x, &y);
			tac_dvec3 d = tac_dvec3_sub(x, y);
			// At a tie the vertex is the simpler feature.
			if (tac_dvec3_dot(d, d) < least * (1 - EDGE_PREFERENCE)) {
				least = tac_dvec3_dot(d, d);
				best = (tac_closest){0, TAC_FEATURES_EDGE_EDGE, i, j, x, y};
			}
		}
	}
	best.distance = sqrt(least);
	return best;
}
