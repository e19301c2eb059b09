#include "collision/ccd_distance.h"

#include <math.h>

#define sub   tac_dvec3_sub
#define dot   tac_dvec3_dot
#define cross tac_dvec3_cross
#define mad   tac_dvec3_add_scaled

tac_dvec3 tac_ccd_closest_on_triangle(tac_dvec3 p, const tac_dvec3 t[3], int *out_region)
{
	tac_dvec3 ab = sub(t[1], t[0]), ac = sub(t[2], t[0]), ap = sub(p, t[0]);
	double d1 = dot(ab, ap), d2 = dot(ac, ap);
	if (d1 <= 0 && d2 <= 0) {
		*out_region = TAC_CCD_REGION_VERTEX;
		return t[0];
	}
	tac_dvec3 bp = sub(p, t[1]);
	double d3 = dot(ab, bp), d4 = dot(ac, bp);
	if (d3 >= 0 && d4 <= d3) {
		*out_region = TAC_CCD_REGION_VERTEX + 1;
		return t[1];
	}
	tac_dvec3 n = cross(ab, ac);
	double nn = dot(n, n), vc = d1 * d4 - d3 * d2;
	bool line = nn == 0; // no face: what the signs of the areas are is left to rounding
	if ((vc <= 0 || line) && d1 >= 0 && d3 <= 0 && d1 > d3) {
		*out_region = TAC_CCD_REGION_EDGE;
		return mad(t[0], d1 / (d1 - d3), ab);
	}
	tac_dvec3 cp = sub(p, t[2]);
	double d5 = dot(ab, cp), d6 = dot(ac, cp);
	if (d6 >= 0 && d5 <= d6) {
		*out_region = TAC_CCD_REGION_VERTEX + 2;
		return t[2];
	}
	double vb = d5 * d2 - d1 * d6;
	if ((vb <= 0 || line) && d2 >= 0 && d6 <= 0 && d2 > d6) {
		*out_region = TAC_CCD_REGION_EDGE + 2;
		return mad(t[0], d2 / (d2 - d6), ac);
	}
	double va = d3 * d6 - d5 * d4;
	double d43 = d4 - d3, d56 = d5 - d6;
	if ((va <= 0 || line) && d43 >= 0 && d56 >= 0 && d43 + d56 > 0) {
		*out_region = TAC_CCD_REGION_EDGE + 1;
		return mad(t[1], d43 / (d43 + d56), sub(t[2], t[1]));
	}
	// Along the normal, not by va + vb + vc, in which the differences of a needle's products are lost.
	*out_region = TAC_CCD_REGION_FACE;
	return mad(p, -dot(n, ap) / nn, n);
}

static double clamp01(double t)
{
	return t < 0 ? 0 : t > 1 ? 1 : t;
}

bool tac_ccd_closest_of_segments(tac_dvec3 p1, tac_dvec3 q1, tac_dvec3 p2, tac_dvec3 q2, tac_dvec3 *out_1,
				 tac_dvec3 *out_2)
{
	tac_dvec3 d1 = sub(q1, p1), d2 = sub(q2, p2), r = sub(p1, p2);
	double a = dot(d1, d1), e = dot(d2, d2), f = dot(d2, r), c = dot(d1, r), b = dot(d1, d2);
	tac_dvec3 n = cross(d1, d2);
	double det = dot(n, n), s = 0; // |d1 x d2|^2: a e - b b without its cancellation
	bool inside = false;
	if (det > 1e-20 * a * e) {
		s = dot(cross(d2, r), n) / det;
		inside = s > 0 && s < 1;
		s = clamp01(s);
	}
	double t = e > 0 ? (b * s + f) / e : 0;
	if (t < 0 || t > 1) {
		inside = false;
		t = clamp01(t);
		s = a > 0 ? clamp01((b * t - c) / a) : 0;
	}
	*out_1 = mad(p1, s, d1);
	*out_2 = mad(p2, t, d2);
	return inside && t > 0 && t < 1;
}

static bool segment_crosses(tac_dvec3 p, tac_dvec3 q, const tac_dvec3 t[3], tac_dvec3 normal)
{
	double a = dot(normal, sub(p, t[0])), b = dot(normal, sub(q, t[0]));
	if ((a > 0 && b > 0) || (a < 0 && b < 0) || (a == 0 && b == 0))
		return false;
	tac_dvec3 along = sub(q, p);
	tac_dvec3 pa = sub(t[0], p), pb = sub(t[1], p), pc = sub(t[2], p);
	double u = dot(along, cross(pa, pb)), v = dot(along, cross(pb, pc)), w = dot(along, cross(pc, pa));
	return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

bool tac_ccd_triangles_cross(const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	tac_dvec3 na = cross(sub(a[1], a[0]), sub(a[2], a[0])), nb = cross(sub(b[1], b[0]), sub(b[2], b[0]));
	for (int k = 0; k < 3; k++) {
		if (segment_crosses(a[k], a[(k + 1) % 3], b, nb) ||
		    segment_crosses(b[k], b[(k + 1) % 3], a, na))
			return true;
	}
	return false;
}

tac_ccd_closest tac_ccd_closest_of_triangles(const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	tac_ccd_closest best = {0, TAC_CCD_NONE, 0, 0, a[0], b[0]};
	if (tac_ccd_triangles_cross(a, b))
		return best;
	double least = HUGE_VAL;
	for (int i = 0; i < 3; i++) {
		int region;
		tac_dvec3 q = tac_ccd_closest_on_triangle(a[i], b, &region), d = sub(a[i], q);
		if (dot(d, d) < least) {
			least = dot(d, d);
			best = (tac_ccd_closest){0, TAC_CCD_VERTEX_FACE, i, 0, a[i], q};
		}
		q = tac_ccd_closest_on_triangle(b[i], a, &region);
		d = sub(b[i], q);
		if (dot(d, d) < least) {
			least = dot(d, d);
			best = (tac_ccd_closest){0, TAC_CCD_FACE_VERTEX, 0, i, q, b[i]};
		}
	}
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			tac_dvec3 x, y;
			tac_ccd_closest_of_segments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3], &x, &y);
			tac_dvec3 d = sub(x, y);
			// Where both reach, a vertex is the simpler name of the contact.
			if (dot(d, d) < least * (1 - 1e-12)) {
				least = dot(d, d);
				best = (tac_ccd_closest){0, TAC_CCD_EDGE_EDGE, i, j, x, y};
			}
		}
	}
	best.distance = sqrt(least);
	return best;
}
