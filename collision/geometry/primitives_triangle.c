#include "collision/geometry/primitives.h"
#include "collision/geometry/primitives_common.h"

// Of the alternating projection that finds the nearest points of two segments.
#define PROJECTIONS 64

static double max3(double a, double b, double c)
{
	double ab = a > b ? a : b;
	return ab > c ? ab : c;
}

double tac_primitive_eps(double extent)
{
	return 1e-9 * fabs(extent);
}

tac_dvec3 tac_segment_nearest(const tac_segment *segment, tac_dvec3 p, double *out_t)
{
	tac_dvec3 ab = tac_dvec3_sub(segment->b, segment->a);
	double dot = tac_dvec3_dot(ab, tac_dvec3_sub(p, segment->a));
	double length2 = tac_dvec3_length_squared(ab);
	double t = dot <= 0 ? 0 : dot >= length2 ? 1 : dot / length2;
	if (out_t)
		*out_t = t;
	return t == 1 ? segment->b : tac_dvec3_add_scaled(segment->a, t, ab);
}

// C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.9, with the last step in the other variable,
// too: for nearly parallel segments the first step alone may be far off.
double tac_segment_distance_squared(const tac_segment *s, const tac_segment *t)
{
	double best = HUGE_VAL;
	tac_dvec3 ends[4] = {s->a, s->b, t->a, t->b};
	for (int i = 0; i < 4; i++) {
		tac_dvec3 x = tac_segment_nearest(i < 2 ? t : s, ends[i], NULL);
		best = fmin(best, tac_dvec3_length_squared(tac_dvec3_sub(x, ends[i])));
	}
	tac_dvec3 d1 = tac_dvec3_sub(s->b, s->a), d2 = tac_dvec3_sub(t->b, t->a);
	tac_dvec3 r = tac_dvec3_sub(s->a, t->a);
	double a = tac_dvec3_dot(d1, d1), b = tac_dvec3_dot(d1, d2), e = tac_dvec3_dot(d2, d2);
	double c = tac_dvec3_dot(d1, r), f = tac_dvec3_dot(d2, r);
	double det = a * e - b * b;
	if (det <= 0 || a == 0 || e == 0)
		return best; // parallel: an end is among the nearest points
	double u = clamp((b * f - c * e) / det, 0, 1);
	tac_dvec3 x = tac_dvec3_add_scaled(s->a, u, d1);
	tac_dvec3 y = tac_segment_nearest(t, x, NULL);
	x = tac_segment_nearest(s, y, NULL);
	return fmin(best, tac_dvec3_length_squared(tac_dvec3_sub(x, y)));
}

double tac_point2_det(tac_point2 a, tac_point2 b, tac_point2 p)
{
	return (p.x - a.x) * (a.y - b.y) + (a.y - p.y) * (a.x - b.x);
}

static double length2_squared(tac_point2 a, tac_point2 b)
{
	return (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y);
}

static tac_segment lifted(tac_point2 a, tac_point2 b)
{
	return (tac_segment){tac_dvec3_make(a.x, a.y, 0), tac_dvec3_make(b.x, b.y, 0)};
}

// Whether p is within eps of the segment ab; det is tac_point2_det(a, b, p).
static bool within_eps_of_edge(tac_point2 a, tac_point2 b, tac_point2 p, double det, double eps)
{
	if (det * det > eps * eps * length2_squared(a, b))
		return false;
	tac_segment ab = lifted(a, b);
	tac_dvec3 x = tac_dvec3_make(p.x, p.y, 0);
	tac_dvec3 gap = tac_dvec3_sub(tac_segment_nearest(&ab, x, NULL), x);
	return tac_dvec3_length_squared(gap) <= eps * eps;
}

bool tac_triangle2_contains(tac_point2 a, tac_point2 b, tac_point2 c, tac_point2 p, double eps)
{
	double ab = tac_point2_det(a, b, p), bc = tac_point2_det(b, c, p), ca = tac_point2_det(c, a, p);
	if (ab >= 0 && bc >= 0 && ca >= 0 && ab + bc + ca > 0)
		return true;
	// Half planes offset by eps would extend far beyond a sharp corner; distances to the edges do not.
	return within_eps_of_edge(a, b, p, ab, eps) || within_eps_of_edge(b, c, p, bc, eps) ||
	       within_eps_of_edge(c, a, p, ca, eps);
}

bool tac_triangle2_meets_segment(tac_point2 a, tac_point2 b, tac_point2 c, tac_point2 p, tac_point2 q,
				 double eps)
{
	double pab = tac_point2_det(a, b, p), pbc = tac_point2_det(b, c, p), pca = tac_point2_det(c, a, p);
	if (pab >= 0 && pbc >= 0 && pca >= 0)
		return true;
	double qab = tac_point2_det(a, b, q), qbc = tac_point2_det(b, c, q), qca = tac_point2_det(c, a, q);
	if (qab >= 0 && qbc >= 0 && qca >= 0)
		return true;
	bool separated = (pab < 0 && qab < 0) || (pbc < 0 && qbc < 0) || (pca < 0 && qca < 0);
	if (!separated) {
		double pqa = tac_point2_det(p, q, a), pqb = tac_point2_det(p, q, b),
		       pqc = tac_point2_det(p, q, c);
		separated = (pqa > 0 && pqb > 0 && pqc > 0) || (pqa < 0 && pqb < 0 && pqc < 0);
		if (!separated)
			return true;
	}
	if (eps == 0)
		return false;
	double eps2 = eps * eps;
	double mab = fmax(pab, qab), mbc = fmax(pbc, qbc), mca = fmax(pca, qca);
	if ((mab < 0 && mab * mab > eps2 * length2_squared(a, b)) ||
	    (mbc < 0 && mbc * mbc > eps2 * length2_squared(b, c)) ||
	    (mca < 0 && mca * mca > eps2 * length2_squared(c, a)))
		return false;
	tac_segment pq = lifted(p, q), edges[3] = {lifted(a, b), lifted(b, c), lifted(c, a)};
	return tac_segment_distance_squared(&pq, &edges[0]) <= eps2 ||
	       tac_segment_distance_squared(&pq, &edges[1]) <= eps2 ||
	       tac_segment_distance_squared(&pq, &edges[2]) <= eps2;
}

// The projection of a triangle onto the coordinate plane in which its area is largest (the largest component
// of its normal is dropped), counter-clockwise. Coordinates in the order (x, y), (y, z) or (z, x).
typedef struct flat {
	int axis; // dropped
	tac_point2 a, b, c;
} flat;

static tac_point2 flatten(int axis, tac_dvec3 v)
{
	return axis == 0   ? (tac_point2){v.y, v.z}
	       : axis == 1 ? (tac_point2){v.z, v.x}
			   : (tac_point2){v.x, v.y};
}

static flat flatten_triangle(const tac_triangle *triangle, tac_dvec3 normal)
{
	tac_dvec3 n = tac_dvec3_abs(normal);
	int axis = n.x >= n.y && n.x >= n.z ? 0 : n.y >= n.z ? 1 : 2;
	double up = axis == 0 ? normal.x : axis == 1 ? normal.y : normal.z;
	flat f = {axis, flatten(axis, triangle->a), flatten(axis, triangle->b), flatten(axis, triangle->c)};
	if (up < 0) {
		tac_point2 b = f.b;
		f.b = f.c;
		f.c = b;
	}
	return f;
}

// The normal (b - a) x (c - a), not of unit length, and whether the triangle has no area.
static tac_dvec3 normal_of(const tac_triangle *t, bool *out_degenerate)
{
	tac_dvec3 ab = tac_dvec3_sub(t->b, t->a), ac = tac_dvec3_sub(t->c, t->a);
	tac_dvec3 n = tac_dvec3_cross(ab, ac);
	double longest2 = max3(tac_dvec3_length_squared(ab), tac_dvec3_length_squared(ac),
			       tac_dvec3_length_squared(tac_dvec3_sub(ab, ac)));
	double bound = TAC_PRIMITIVE_ZERO * longest2;
	*out_degenerate = tac_dvec3_length_squared(n) <= bound * bound;
	return n;
}

static tac_segment longest_edge(const tac_triangle *t)
{
	double lab = tac_dvec3_length_squared(tac_dvec3_sub(t->b, t->a));
	double lbc = tac_dvec3_length_squared(tac_dvec3_sub(t->c, t->b));
	double lca = tac_dvec3_length_squared(tac_dvec3_sub(t->a, t->c));
	return edge_of(t, lab >= lbc && lab >= lca ? 0 : lbc >= lca ? 1 : 2);
}

static bool same_side(double u, double v, double tolerance)
{
	return (tac_gt(u, tolerance) && tac_gt(v, tolerance)) ||
	       (tac_lt(u, tolerance) && tac_lt(v, tolerance));
}

// The parameter of a point of the coplanar segment pq that lies in the triangle, or nearly: the middle of its
// intersection with the three half planes.
static double flat_parameter(const flat *f, tac_point2 p, tac_point2 q)
{
	const tac_point2 *v[4] = {&f->a, &f->b, &f->c, &f->a};
	double low = 0, high = 1;
	for (int i = 0; i < 3; i++) {
		double u = tac_point2_det(*v[i], *v[i + 1], p), w = tac_point2_det(*v[i], *v[i + 1], q);
		if (u < 0 && w >= 0)
			low = fmax(low, u / (u - w));
		else if (u >= 0 && w < 0)
			high = fmin(high, u / (u - w));
	}
	return clamp(0.5 * (low + high), 0, 1);
}

bool tac_triangle_meets_segment(const tac_triangle *triangle, const tac_segment *segment, double eps,
				tac_witness *out)
{
	bool degenerate;
	tac_dvec3 n = normal_of(triangle, &degenerate);
	if (degenerate) {
		tac_segment edge = longest_edge(triangle);
		if (tac_segment_distance_squared(&edge, segment) > eps * eps)
			return false;
		// Alternating projection converges to the nearest pair; the witness is accurate to eps.
		double t;
		tac_dvec3 x = tac_segment_nearest(segment, tac_segment_nearest(&edge, segment->a, NULL), &t);
		for (int i = 0; i < PROJECTIONS; i++)
			x = tac_segment_nearest(segment, tac_segment_nearest(&edge, x, NULL), &t);
		return witness_at(out, x, t);
	}
	tac_dvec3 ap = tac_dvec3_sub(segment->a, triangle->a), aq = tac_dvec3_sub(segment->b, triangle->a);
	double u = tac_dvec3_dot(n, ap), w = tac_dvec3_dot(n, aq);
	double tolerance = eps > 0 ? eps * sqrt(tac_dvec3_length_squared(n)) : 0;
	if (same_side(u, w, tolerance))
		return false;
	flat f = flatten_triangle(triangle, n);
	tac_point2 p = flatten(f.axis, segment->a), q = flatten(f.axis, segment->b);
	if (tac_eq(u, tolerance) && tac_eq(w, tolerance)) {
		if (!tac_triangle2_meets_segment(f.a, f.b, f.c, p, q, eps))
			return false;
		double t = flat_parameter(&f, p, q);
		return witness_at(out, point_at(segment->a, segment->b, t), t);
	}
	if (!same_side(u, w, 0)) {
		// The intersection R with the plane as r = (R - A) (u - w), for barycentric coordinates
		// without division.
		double d = u - w, sign = d < 0 ? -1 : 1;
		tac_point2 pa = {p.x - f.a.x, p.y - f.a.y}, qa = {q.x - f.a.x, q.y - f.a.y};
		tac_point2 r = {sign * (u * qa.x - w * pa.x), sign * (u * qa.y - w * pa.y)};
		tac_point2 ab = {f.b.x - f.a.x, f.b.y - f.a.y}, ac = {f.c.x - f.a.x, f.c.y - f.a.y};
		d *= sign;
		double rab = ab.x * r.y - ab.y * r.x, rca = r.x * ac.y - r.y * ac.x;
		double rbc = d * (ab.x * ac.y - ab.y * ac.x) - rab - rca;
		bool inside = rab >= 0 && rca >= 0 && rbc >= 0;
		if (!inside && eps > 0) {
			double reach = -eps * d * (fabs(ab.x) + fabs(ab.y) + fabs(ac.x) + fabs(ac.y));
			tac_point2 crossing = {f.a.x + r.x / d, f.a.y + r.y / d};
			inside = rab >= reach && rca >= reach && rbc >= reach &&
				 tac_triangle2_contains(f.a, f.b, f.c, crossing, eps);
		}
		if (inside) {
			double t = clamp(u * sign / d, 0, 1);
			return witness_at(out, point_at(segment->a, segment->b, t), t);
		}
	}
	if (tac_eq(u, tolerance) && tac_triangle2_contains(f.a, f.b, f.c, p, eps))
		return witness_at(out, segment->a, 0);
	if (tac_eq(w, tolerance) && tac_triangle2_contains(f.a, f.b, f.c, q, eps))
		return witness_at(out, segment->b, 1);
	return false;
}

// Whether two coplanar triangles meet, in the projection of f; pqr need not be counter-clockwise.
static bool flat_triangles_meet(const flat *f, tac_point2 p, tac_point2 q, tac_point2 r, double eps)
{
	if (tac_triangle2_meets_segment(f->a, f->b, f->c, p, q, eps) ||
	    tac_triangle2_meets_segment(f->a, f->b, f->c, q, r, eps) ||
	    tac_triangle2_meets_segment(f->a, f->b, f->c, r, p, eps))
		return true;
	return tac_point2_det(p, q, r) > 0 ? tac_triangle2_contains(p, q, r, f->a, eps)
					   : tac_triangle2_contains(p, r, q, f->a, eps);
}

// The heights of the vertices over the plane through `origin`, times |n|. False if all lie strictly on one
// side.
static bool heights(const tac_triangle *t, tac_dvec3 origin, tac_dvec3 n, double tolerance, double out[3])
{
	out[0] = tac_dvec3_dot(n, tac_dvec3_sub(t->a, origin));
	out[1] = tac_dvec3_dot(n, tac_dvec3_sub(t->b, origin));
	out[2] = tac_dvec3_dot(n, tac_dvec3_sub(t->c, origin));
	return !(same_side(out[0], out[1], tolerance) && same_side(out[1], out[2], tolerance));
}

// Whether a vertex or an edge of t is within the tolerance of the plane of f and, in the projection, of f.
static bool grazes(const flat *f, const tac_triangle *t, const double height[3], double tolerance, double eps)
{
	const tac_dvec3 v[3] = {t->a, t->b, t->c};
	for (int i = 0; i < 3; i++) {
		int j = i == 2 ? 0 : i + 1;
		if (!tac_eq(height[i], tolerance))
			continue;
		tac_point2 p = flatten(f->axis, v[i]), q = flatten(f->axis, v[j]);
		if (tac_eq(height[j], tolerance) ? tac_triangle2_meets_segment(f->a, f->b, f->c, p, q, eps)
						 : tac_triangle2_contains(f->a, f->b, f->c, p, eps))
			return true;
	}
	return false;
}

bool tac_triangle_meets_triangle(const tac_triangle *s, const tac_triangle *t, double eps)
{
	bool s_degenerate, t_degenerate;
	tac_dvec3 ns = normal_of(s, &s_degenerate), nt = normal_of(t, &t_degenerate);
	if (s_degenerate || t_degenerate) {
		tac_segment edge = longest_edge(s_degenerate ? s : t);
		return tac_triangle_meets_segment(s_degenerate ? t : s, &edge, eps, NULL);
	}
	double s_tolerance = eps > 0 ? eps * sqrt(tac_dvec3_length_squared(ns)) : 0;
	double t_tolerance = eps > 0 ? eps * sqrt(tac_dvec3_length_squared(nt)) : 0;
	double t_height[3], s_height[3];
	if (!heights(t, s->a, ns, s_tolerance, t_height) || !heights(s, t->a, nt, t_tolerance, s_height))
		return false;
	flat f = flatten_triangle(s, ns);
	if (tac_eq(t_height[0], s_tolerance) && tac_eq(t_height[1], s_tolerance) &&
	    tac_eq(t_height[2], s_tolerance))
		return flat_triangles_meet(&f, flatten(f.axis, t->a), flatten(f.axis, t->b),
					   flatten(f.axis, t->c), eps);

	// The section of t with the plane of s.
	const tac_dvec3 v[3] = {t->a, t->b, t->c};
	tac_point2 section[4];
	int count = 0;
	for (int i = 0; i < 3; i++) {
		int j = i == 2 ? 0 : i + 1;
		double hi = t_height[i], hj = t_height[j];
		if (hi == 0)
			section[count++] = flatten(f.axis, v[i]);
		else if ((hi < 0 && hj > 0) || (hi > 0 && hj < 0))
			section[count++] = flatten(f.axis, point_at(v[i], v[j], hi / (hi - hj)));
	}
	if (count > 0 &&
	    tac_triangle2_meets_segment(f.a, f.b, f.c, section[0], section[count > 1 ? 1 : 0], eps))
		return true;
	if (eps == 0)
		return false;
	flat g = flatten_triangle(t, nt);
	return grazes(&f, t, t_height, s_tolerance, eps) || grazes(&g, s, s_height, t_tolerance, eps);
}

// C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.5.
tac_dvec3 tac_triangle_nearest(const tac_triangle *triangle, tac_dvec3 p)
{
	tac_dvec3 a = triangle->a, ab = tac_dvec3_sub(triangle->b, a), ac = tac_dvec3_sub(triangle->c, a);
	bool degenerate;
	tac_dvec3 n = normal_of(triangle, &degenerate);
	if (!degenerate) {
		tac_dvec3 ap = tac_dvec3_sub(p, a);
		double n2 = tac_dvec3_length_squared(n);
		double v = tac_dvec3_dot(n, tac_dvec3_cross(ap, ac)),
		       w = tac_dvec3_dot(n, tac_dvec3_cross(ab, ap));
		if (v >= 0 && w >= 0 && v + w <= n2)
			return tac_dvec3_add_scaled(tac_dvec3_add_scaled(a, v / n2, ab), w / n2, ac);
	}
	tac_dvec3 nearest = a;
	double best = HUGE_VAL;
	for (int i = 0; i < 3; i++) {
		tac_segment edge = edge_of(triangle, i);
		tac_dvec3 x = tac_segment_nearest(&edge, p, NULL);
		double d = tac_dvec3_length_squared(tac_dvec3_sub(x, p));
		if (d < best) {
			best = d;
			nearest = x;
		}
	}
	return nearest;
}

static bool sphere_contains(const tac_sphere *sphere, tac_dvec3 point, double eps)
{
	double d2 = tac_dvec3_length_squared(tac_dvec3_sub(point, sphere->centre));
	return tac_le(d2 - sphere->radius * sphere->radius, eps * (2 * sphere->radius + eps));
}

bool tac_sphere_meets_segment(const tac_sphere *sphere, const tac_segment *segment, double eps,
			      tac_witness *out)
{
	double t;
	tac_dvec3 x = tac_segment_nearest(segment, sphere->centre, &t);
	return sphere_contains(sphere, x, eps) && sphere_witness(out, sphere, x, t);
}

bool tac_sphere_meets_triangle(const tac_sphere *sphere, const tac_triangle *triangle, double eps,
			       tac_witness *out)
{
	bool degenerate;
	tac_dvec3 n = normal_of(triangle, &degenerate);
	tac_dvec3 pa = tac_dvec3_sub(triangle->a, sphere->centre);
	double height = tac_dvec3_dot(n, pa), n2 = tac_dvec3_length_squared(n), reach = sphere->radius + eps;
	bool hit = false;
	if (!degenerate) {
		if (height * height > reach * reach * n2)
			return false;
		flat f = flatten_triangle(triangle, n);
		tac_dvec3 q = tac_dvec3_add_scaled(sphere->centre, height / n2, n);
		hit = tac_triangle2_contains(f.a, f.b, f.c, flatten(f.axis, q), eps);
	}
	for (int i = 0; !hit && i < 3; i++) {
		tac_segment edge = edge_of(triangle, i);
		hit = tac_sphere_meets_segment(sphere, &edge, eps, NULL);
	}
	return hit &&
	       (!out || sphere_witness(out, sphere, tac_triangle_nearest(triangle, sphere->centre), 0));
}

bool tac_sphere_meets_sphere(const tac_sphere *s, const tac_sphere *t, double eps, tac_witness *out)
{
	tac_dvec3 d = tac_dvec3_sub(t->centre, s->centre);
	double reach = s->radius + t->radius;
	if (tac_gt(tac_dvec3_length_squared(d) - reach * reach, eps * (2 * reach + eps)))
		return false;
	if (out) {
		double distance = tac_dvec3_length(d);
		double fraction = distance > t->radius ? 1 - t->radius / distance : 0;
		*out = (tac_witness){tac_dvec3_add_scaled(s->centre, fraction, d), 0, reach - distance};
	}
	return true;
}
