#include "collision/primitives.h"
#include "collision/primitives_private.h"

bool tac_primitive_clip(double za, double zb, double low, double high, double eps, double *t0, double *t1)
{
	low -= eps;
	high += eps;
	*t0 = 0;
	*t1 = 1;
	if ((za < low && zb < low) || (za > high && zb > high))
		return false;
	// za and zb differ wherever one of them is cut off.
	if (za < low)
		*t0 = (low - za) / (zb - za);
	else if (za > high)
		*t0 = (high - za) / (zb - za);
	if (zb < low)
		*t1 = (low - za) / (zb - za);
	else if (zb > high)
		*t1 = (high - za) / (zb - za);
	return *t0 <= *t1;
}

// What of the polygon lies on the side of z where sign (z - plane) >= 0.
static int cut(const tac_dvec3 *in, int count, double plane, double sign, tac_dvec3 *out)
{
	int kept = 0;
	for (int i = 0; i < count; i++) {
		tac_dvec3 a = in[i], b = in[i + 1 == count ? 0 : i + 1];
		double da = sign * (a.z - plane), db = sign * (b.z - plane);
		if (da >= 0)
			out[kept++] = a;
		if ((da < 0) != (db < 0))
			out[kept++] = along(a, b, da / (da - db));
	}
	return kept;
}

int tac_primitive_clip_triangle(const tac_triangle *triangle, double low, double high, double eps,
				tac_dvec3 out[5])
{
	tac_dvec3 corners[3] = {triangle->a, triangle->b, triangle->c}, above[4];
	int count = cut(corners, 3, low - eps, 1, above);
	count = cut(above, count, high + eps, -1, out);
	for (int i = 0; i < count; i++)
		out[i].z = clamp(out[i].z, low, high);
	return count;
}

bool tac_primitive_axis_inside(const tac_dvec3 *polygon, int count)
{
	bool left = count > 2, right = count > 2;
	for (int i = 0; i < count; i++) {
		tac_dvec3 a = polygon[i], b = polygon[i + 1 == count ? 0 : i + 1];
		double det = a.x * b.y - a.y * b.x;
		left = left && det >= 0;
		right = right && det <= 0;
	}
	// Both: the polygon is seen edge-on, and its edges decide.
	return left != right;
}

bool tac_primitive_round_segment(tac_dvec3 a, tac_dvec3 b, double ra, double rb, double *out_t)
{
	double c0 = a.x * a.x + a.y * a.y - ra * ra;
	*out_t = 0;
	if (c0 <= 0)
		return true;
	*out_t = 1;
	if (b.x * b.x + b.y * b.y <= rb * rb)
		return true;
	double dx = b.x - a.x, dy = b.y - a.y, dr = rb - ra;
	double c1 = a.x * dx + a.y * dy - ra * dr, c2 = dx * dx + dy * dy - dr * dr;
	if (!(c2 > 0 && c1 < 0 && -c1 < c2))
		return false; // the least of c0 + 2 c1 t + c2 t^2 is at an end
	double t = -c1 / c2;
	double x = a.x + t * dx, y = a.y + t * dy, r = ra + t * dr;
	*out_t = t;
	return x * x + y * y <= r * r;
}

bool tac_circle2_meets_segment(tac_point2 centre, double radius, tac_point2 a, tac_point2 b, double eps)
{
	double t;
	return tac_primitive_round_segment(tac_dvec3_make(a.x - centre.x, a.y - centre.y, 0),
					   tac_dvec3_make(b.x - centre.x, b.y - centre.y, 0), radius + eps,
					   radius + eps, &t);
}

tac_upright tac_upright_make(tac_dvec3 p, tac_dvec3 q)
{
	tac_dvec3 pq = tac_dvec3_sub(q, p);
	double height = tac_dvec3_length(pq);
	if (height == 0)
		return (tac_upright){tac_dmat3_identity(), p, 0};
	tac_dvec3 z = tac_dvec3_normalize(pq);
	double n[3] = {z.x, z.y, z.z}, y[3] = {0, 0, 0};
	int i = fabs(n[0]) > 0.5 ? 0 : fabs(n[1]) > 0.5 ? 1 : 2; // one of them is: 3/4 < 1
	int j = i == 2 ? 0 : i + 1;
	double length = sqrt(n[i] * n[i] + n[j] * n[j]); // > 1/2
	y[i] = n[j] / length;
	y[j] = -n[i] / length;
	tac_dvec3 n1 = tac_dvec3_make(y[0], y[1], y[2]);
	return (tac_upright){tac_dmat3_from_rows(tac_dvec3_cross(n1, z), n1, z), p, height};
}

tac_dvec3 tac_upright_apply(const tac_upright *upright, tac_dvec3 x)
{
	return tac_dmat3_apply(upright->rotation, tac_dvec3_sub(x, upright->origin));
}

tac_triangle tac_upright_apply_triangle(const tac_upright *upright, const tac_triangle *triangle)
{
	return (tac_triangle){tac_upright_apply(upright, triangle->a),
			      tac_upright_apply(upright, triangle->b),
			      tac_upright_apply(upright, triangle->c)};
}

// ---- cylinders ----

bool tac_upright_cylinder_meets_segment(const tac_upright_cylinder *cylinder, const tac_segment *segment,
					double eps, tac_witness *out)
{
	double t0, t1, t, r = cylinder->radius + eps;
	if (!tac_primitive_clip(segment->a.z, segment->b.z, 0, cylinder->height, eps, &t0, &t1))
		return false;
	tac_dvec3 a = along(segment->a, segment->b, t0), b = along(segment->a, segment->b, t1);
	if (!tac_primitive_round_segment(a, b, r, r, &t))
		return false;
	return witness_at(out, along(a, b, t), t0 + t * (t1 - t0));
}

// A vector as its height along the unit axis and its part across.
static tac_dvec3 across(tac_dvec3 v, tac_dvec3 axis, double *out_height)
{
	*out_height = tac_dvec3_dot(v, axis);
	return tac_dvec3_add_scaled(v, -*out_height, axis);
}

static tac_dvec3 axis_of(const tac_cylinder *cylinder, double *out_height)
{
	tac_dvec3 pq = tac_dvec3_sub(cylinder->q, cylinder->p);
	*out_height = tac_dvec3_length(pq);
	return tac_dvec3_normalize(pq);
}

static bool cylinder_meets_segment(const tac_cylinder *cylinder, tac_dvec3 axis, double height,
				   const tac_segment *segment, double eps, tac_witness *out)
{
	double za, zb, t0, t1;
	tac_dvec3 a = across(tac_dvec3_sub(segment->a, cylinder->p), axis, &za);
	tac_dvec3 b = across(tac_dvec3_sub(segment->b, cylinder->p), axis, &zb);
	if (!tac_primitive_clip(za, zb, 0, height, eps, &t0, &t1))
		return false;
	// The parameter nearest to the axis, within the part between the end planes.
	tac_dvec3 ab = tac_dvec3_sub(b, a);
	double dot = -tac_dvec3_dot(a, ab), length2 = tac_dvec3_length_squared(ab),
	       r = cylinder->radius + eps;
	double t = dot <= t0 * length2 ? t0 : dot >= t1 * length2 ? t1 : dot / length2;
	if (tac_dvec3_length_squared(tac_dvec3_add_scaled(a, t, ab)) > r * r)
		return false;
	return witness_at(out, along(segment->a, segment->b, t), t);
}

bool tac_cylinder_meets_segment(const tac_cylinder *cylinder, const tac_segment *segment, double eps,
				tac_witness *out)
{
	double height;
	tac_dvec3 axis = axis_of(cylinder, &height);
	if (height == 0) {
		tac_sphere sphere = {cylinder->p, cylinder->radius};
		return tac_sphere_meets_segment(&sphere, segment, eps, out);
	}
	return cylinder_meets_segment(cylinder, axis, height, segment, eps, out);
}

bool tac_upright_cylinder_meets_triangle(const tac_upright_cylinder *cylinder, const tac_triangle *triangle,
					 double eps, tac_witness *out)
{
	tac_cone cone = {cylinder->radius, cylinder->radius, cylinder->height};
	return tac_cone_meets_triangle(&cone, triangle, eps, out);
}

bool tac_cylinder_meets_triangle(const tac_cylinder *cylinder, const tac_triangle *triangle, double eps,
				 tac_witness *out)
{
	double height;
	tac_dvec3 axis = axis_of(cylinder, &height);
	if (height == 0) {
		tac_sphere sphere = {cylinder->p, cylinder->radius};
		return tac_sphere_meets_triangle(&sphere, triangle, eps, out);
	}
	tac_segment edges[3] = {
		{triangle->a, triangle->b}, {triangle->b, triangle->c}, {triangle->c, triangle->a}};
	for (int i = 0; i < 3; i++) {
		if (cylinder_meets_segment(cylinder, axis, height, &edges[i], eps, out))
			return true;
	}
	// No edge does: the plane's section lies inside the triangle or outside it. The extreme points of the
	// cylinder along the normal span a segment that passes through the section, wherever there is one.
	tac_dvec3 n = tac_dvec3_cross(tac_dvec3_sub(triangle->b, triangle->a),
				      tac_dvec3_sub(triangle->c, triangle->a));
	double along_axis, rest;
	tac_dvec3 side = tac_dvec3_normalize(across(n, axis, &along_axis));
	// What is left of a normal along the axis is rounding in any direction: across once more.
	side = tac_dvec3_normalize(across(side, axis, &rest));
	double s = along_axis < 0 ? -cylinder->radius
				  : cylinder->radius; // either sign would do at 0, but not none
	tac_segment decisive = {tac_dvec3_add_scaled(cylinder->p, -s, side),
				tac_dvec3_add_scaled(cylinder->q, s, side)};
	return tac_triangle_meets_segment(triangle, &decisive, eps, out);
}

// A sphere whose centre is at height z over the bottom and at `distance` from the axis, with the direction
// away from the axis: the nearest point of the cylinder in these coordinates decides.
static bool cylinder_reaches(double radius, double height, double z, double distance,
			     const tac_sphere *sphere, double eps, double *out_z, double *out_distance)
{
	*out_z = clamp(z, 0, height);
	*out_distance = fmin(distance, radius);
	double dz = z - *out_z, dr = distance - *out_distance;
	return tac_le(dz * dz + dr * dr - sphere->radius * sphere->radius, eps * (2 * sphere->radius + eps));
}

bool tac_upright_cylinder_meets_sphere(const tac_upright_cylinder *cylinder, const tac_sphere *sphere,
				       double eps, tac_witness *out)
{
	tac_dvec3 c = sphere->centre;
	double distance = sqrt(c.x * c.x + c.y * c.y), z, r;
	if (!cylinder_reaches(cylinder->radius, cylinder->height, c.z, distance, sphere, eps, &z, &r))
		return false;
	if (out != NULL) {
		double f = distance > 0 ? r / distance : 0;
		tac_dvec3 x = tac_dvec3_make(f * c.x, f * c.y, z);
		*out = (tac_witness){x, 0, sphere->radius - tac_dvec3_length(tac_dvec3_sub(x, c))};
	}
	return true;
}

bool tac_cylinder_meets_sphere(const tac_cylinder *cylinder, const tac_sphere *sphere, double eps,
			       tac_witness *out)
{
	double height, centre_z, z, r;
	tac_dvec3 axis = axis_of(cylinder, &height);
	if (height == 0) {
		tac_sphere other = {cylinder->p, cylinder->radius};
		return tac_sphere_meets_sphere(sphere, &other, eps, out);
	}
	tac_dvec3 away = across(tac_dvec3_sub(sphere->centre, cylinder->p), axis, &centre_z);
	double distance = tac_dvec3_length(away);
	if (!cylinder_reaches(cylinder->radius, height, centre_z, distance, sphere, eps, &z, &r))
		return false;
	if (out != NULL) {
		tac_dvec3 x = tac_dvec3_add_scaled(cylinder->p, z, axis);
		x = tac_dvec3_add_scaled(x, distance > 0 ? r / distance : 0, away);
		*out = (tac_witness){x, 0,
				     sphere->radius - tac_dvec3_length(tac_dvec3_sub(x, sphere->centre))};
	}
	return true;
}

// ---- cones ----

static double cone_radius(const tac_cone *cone, double z)
{
	if (cone->height <= 0)
		return fmax(cone->bottom, cone->top);
	return cone->bottom + (cone->top - cone->bottom) * (z / cone->height);
}

bool tac_cone_meets_segment(const tac_cone *cone, const tac_segment *segment, double eps, tac_witness *out)
{
	double t0, t1, t;
	if (!tac_primitive_clip(segment->a.z, segment->b.z, 0, cone->height, eps, &t0, &t1))
		return false;
	tac_dvec3 a = clipped(segment, t0, 0, cone->height), b = clipped(segment, t1, 0, cone->height);
	if (!tac_primitive_round_segment(a, b, cone_radius(cone, a.z) + eps, cone_radius(cone, b.z) + eps,
					 &t))
		return false;
	return witness_at(out, along(a, b, t), t0 + t * (t1 - t0));
}

bool tac_cone_meets_triangle(const tac_cone *cone, const tac_triangle *triangle, double eps, tac_witness *out)
{
	tac_dvec3 polygon[5];
	int count = tac_primitive_clip_triangle(triangle, 0, cone->height, eps, polygon);
	for (int i = 0; i < count; i++) {
		tac_dvec3 a = polygon[i], b = polygon[i + 1 == count ? 0 : i + 1];
		double t, ra = cone_radius(cone, a.z) + eps, rb = cone_radius(cone, b.z) + eps;
		if (tac_primitive_round_segment(a, b, ra, rb, &t))
			return witness_at(out, along(a, b, t), 0);
	}
	// No edge meets it: the section with the plane is bounded by the side alone, is an ellipse, and has
	// the axis in it. That the axis meets the triangle between the end planes shows in the plane of x and
	// y.
	if (!tac_primitive_axis_inside(polygon, count))
		return false;
	if (out != NULL) {
		tac_segment axis = {tac_dvec3_make(0, 0, -eps), tac_dvec3_make(0, 0, cone->height + eps)};
		if (!tac_triangle_meets_segment(triangle, &axis, eps, out))
			*out = (tac_witness){polygon[0], 0, 0};
		out->t = 0;
	}
	return true;
}
