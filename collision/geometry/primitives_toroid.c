#include "collision/geometry/primitives.h"
#include "collision/geometry/primitives_common.h"

// Critical values below this fraction of the sum of |c| count as zero: the evaluation rounds to about 1e-15.
#define ROOT_TOLERANCE 1e-14
// Steps to refine a root; bisection alone needs 53.
#define ROOT_STEPS 64

static double evaluate(const double *c, int degree, double t)
{
	double value = c[degree];
	for (int k = degree - 1; k >= 0; k--)
		value = value * t + c[k];
	return value;
}

// The root in [low, high], where the polynomial changes sign, by Newton steps; bisection where they leave the
// interval.
static double refine(const double *c, const double *derivative, int degree, double low, double high)
{
	bool rising = evaluate(c, degree, low) < 0;
	double t = 0.5 * (low + high);
	for (int i = 0; i < ROOT_STEPS && low < high; i++) {
		double value = evaluate(c, degree, t);
		if (value == 0)
			return t;
		if ((value < 0) == rising)
			low = t;
		else
			high = t;
		double slope = evaluate(derivative, degree - 1, t);
		double step = slope != 0 ? t - value / slope : low;
		double next = step > low && step < high ? step : 0.5 * (low + high);
		if (fabs(next - t) <= 1e-16 || next == t)
			return next;
		t = next;
	}
	return t;
}

int tac_polynomial_roots(const double *c, int degree, double out[4])
{
	if (degree < 1)
		return 0;
	double derivative[4], knots[6];
	for (int k = 1; k <= degree; k++)
		derivative[k - 1] = k * c[k];
	knots[0] = 0;
	int count = 1 + tac_polynomial_roots(derivative, degree - 1, knots + 1);
	knots[count++] = 1;

	double scale = 0;
	for (int k = 0; k <= degree; k++)
		scale += fabs(c[k]);
	if (!(scale > 0))
		return 0;
	double tolerance = degree > 1 ? ROOT_TOLERANCE * scale : 0;
	int roots = 0;
	double previous = 0;
	for (int i = 0; i < count && roots < degree; i++) {
		double value = evaluate(c, degree, knots[i]);
		bool repeated = roots > 0 && out[roots - 1] == knots[i];
		if (i > 0 && ((tac_lt(previous, tolerance) && tac_gt(value, tolerance)) ||
			      (tac_gt(previous, tolerance) && tac_lt(value, tolerance))))
			out[roots++] = refine(c, derivative, degree, knots[i - 1], knots[i]);
		else if (tac_eq(value, tolerance) && !repeated)
			out[roots++] = knots[i];
		previous = value;
	}
	return roots;
}

double tac_toroid_radius(const tac_toroid *toroid, double z)
{
	double root = sqrt(fmax(toroid->minor * toroid->minor - z * z, 0));
	return toroid->concave ? fmax(toroid->major - root, 0) : toroid->major + root;
}

void tac_toroid_quartic(const tac_toroid *toroid, const tac_segment *segment, double out[5])
{
	tac_dvec3 a = segment->a, ab = tac_dvec3_sub(segment->b, a);
	double r1 = toroid->major, r2 = toroid->minor;
	double u = tac_dvec3_dot(ab, ab), w = tac_dvec3_dot(a, ab);
	double s = tac_dvec3_dot(a, a) + r1 * r1 - r2 * r2;
	double alpha = ab.x * ab.x + ab.y * ab.y, beta = a.x * ab.x + a.y * ab.y;
	double gamma = a.x * a.x + a.y * a.y;
	out[4] = u * u;
	out[3] = 4 * u * w;
	out[2] = 4 * w * w + 2 * u * s - 4 * r1 * r1 * alpha;
	out[1] = 4 * w * s - 8 * r1 * r1 * beta;
	out[0] = s * s - 4 * r1 * r1 * gamma;
}

static bool inside(const tac_toroid *toroid, tac_dvec3 x, double eps)
{
	double r = tac_toroid_radius(toroid, clamp(x.z, toroid->z_min, toroid->z_max)) + eps;
	return x.x * x.x + x.y * x.y <= r * r;
}

static double largest_radius(const tac_toroid *toroid)
{
	double low = fabs(toroid->z_min), high = fabs(toroid->z_max);
	if (toroid->concave)
		return tac_toroid_radius(toroid, fmax(low, high));
	return tac_toroid_radius(toroid, toroid->z_min <= 0 && toroid->z_max >= 0 ? 0 : fmin(low, high));
}

// A segment between the end planes. The quartic is zero where the segment enters and leaves the solid, so its
// derivative has a root in between: it suffices to test the points at the roots of that cubic against the
// radius. This is well-conditioned also where the quartic has double roots (major = 0, grazing contact).
static bool clipped_segment_meets(const tac_toroid *toroid, tac_dvec3 a, tac_dvec3 b, double largest,
				  double eps, double *out_t)
{
	*out_t = 0;
	if (inside(toroid, a, eps))
		return true;
	*out_t = 1;
	if (inside(toroid, b, eps))
		return true;
	// Restrict the segment to the largest disc. Where the line's nearest point to the axis is far beyond
	// the segment, all of the segment is about as far from the axis as its ends and is kept.
	double dx = b.x - a.x, dy = b.y - a.y, d2 = dx * dx + dy * dy;
	double reach2 = (largest + eps) * (largest + eps);
	double dot = -(a.x * dx + a.y * dy), t0 = 0, t1 = 1;
	double nearest = dot <= 0 ? 0 : dot >= d2 ? 1 : dot / d2;
	double x = a.x + nearest * dx, y = a.y + nearest * dy;
	if (x * x + y * y > reach2)
		return false;
	if (d2 > 0 && fabs(dot) <= 4 * d2) {
		double middle = dot / d2;
		x = a.x + middle * dx;
		y = a.y + middle * dy;
		double half = sqrt(fmax(reach2 - x * x - y * y, 0) / d2);
		t0 = clamp(middle - half, 0, 1);
		t1 = clamp(middle + half, 0, 1);
	}
	double size = toroid->major + toroid->minor;
	if (!(size > 0))
		return false; // a point or the axis: the ends were tested, and the rest is grazing
	tac_toroid unit = {toroid->major / size, toroid->minor / size, 0, 0, toroid->concave};
	tac_segment kept = {tac_dvec3_div(point_at(a, b, t0), size), tac_dvec3_div(point_at(a, b, t1), size)};
	double c[5], roots[4];
	tac_toroid_quartic(&unit, &kept, c);
	double cubic[4] = {c[1], 2 * c[2], 3 * c[3], 4 * c[4]};
	int count = tac_polynomial_roots(cubic, 3, roots);
	for (int i = 0; i < count; i++) {
		double t = t0 + roots[i] * (t1 - t0);
		*out_t = t;
		if (inside(toroid, point_at(a, b, t), eps))
			return true;
	}
	return false;
}

bool tac_toroid_meets_segment(const tac_toroid *toroid, const tac_segment *segment, double eps,
			      tac_witness *out)
{
	double t0, t1, t;
	if (!tac_primitive_clip(segment->a.z, segment->b.z, toroid->z_min, toroid->z_max, eps, &t0, &t1))
		return false;
	tac_dvec3 a = clipped_point(segment, t0, toroid->z_min, toroid->z_max);
	tac_dvec3 b = clipped_point(segment, t1, toroid->z_min, toroid->z_max);
	if (!clipped_segment_meets(toroid, a, b, largest_radius(toroid), eps, &t))
		return false;
	return witness_at(out, point_at(a, b, t), t0 + t * (t1 - t0));
}

// The support point of a convex toroid along n, which is not parallel to the axis.
static tac_dvec3 support(const tac_toroid *toroid, tac_dvec3 n)
{
	double z = clamp(toroid->minor * n.z / tac_dvec3_length(n), toroid->z_min, toroid->z_max);
	double r = tac_toroid_radius(toroid, z) / sqrt(n.x * n.x + n.y * n.y);
	return tac_dvec3_make(r * n.x, r * n.y, z);
}

bool tac_toroid_meets_triangle(const tac_toroid *toroid, const tac_triangle *triangle, double eps,
			       tac_witness *out)
{
	tac_dvec3 polygon[5];
	int count = tac_primitive_clip_triangle(triangle, toroid->z_min, toroid->z_max, eps, polygon);
	double largest = largest_radius(toroid);
	for (int i = 0; i < count; i++) {
		tac_dvec3 a = polygon[i], b = polygon[i + 1 == count ? 0 : i + 1];
		double t;
		if (clipped_segment_meets(toroid, a, b, largest, eps, &t))
			return witness_at(out, point_at(a, b, t), 0);
	}
	if (count == 0)
		return false;
	// No edge meets the toroid. A plane section of the concave solid that reaches neither end plane
	// contains the axis, because no plane curve closes on a saddle surface. A section of the convex solid
	// may be a cap beside the axis; the segment between the support points along the normal passes
	// through every section.
	tac_segment through = {tac_dvec3_make(0, 0, toroid->z_min), tac_dvec3_make(0, 0, toroid->z_max)};
	tac_dvec3 n = tac_dvec3_triangle_normal(triangle->a, triangle->b, triangle->c);
	if (!toroid->concave && n.x * n.x + n.y * n.y > TAC_PRIMITIVE_ZERO * TAC_PRIMITIVE_ZERO)
		through = (tac_segment){support(toroid, tac_dvec3_neg(n)), support(toroid, n)};
	if (!tac_triangle_meets_segment(triangle, &through, eps, out))
		return false;
	if (out)
		out->t = 0;
	return true;
}
