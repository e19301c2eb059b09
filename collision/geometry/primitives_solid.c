#include "collision/geometry/primitives.h"
#include "collision/geometry/primitives_common.h"

bool tac_primitive_clip(double za, double zb, double low, double high, double eps, double *t0, double *t1)
{
	low -= eps;
	high += eps;
	*t0 = 0;
	*t1 = 1;
	if ((za < low && zb < low) || (za > high && zb > high))
		return false;
	// za and zb differ wherever one of them is clipped.
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

// Clips the polygon to the half space sign (z - plane) >= 0.
static int clip_polygon(const tac_dvec3 *in, int count, double plane, double sign, tac_dvec3 *out)
{
	int kept = 0;
	for (int i = 0; i < count; i++) {
		tac_dvec3 a = in[i], b = in[i + 1 == count ? 0 : i + 1];
		double da = sign * (a.z - plane), db = sign * (b.z - plane);
		if (da >= 0)
			out[kept++] = a;
		if ((da < 0) != (db < 0))
			out[kept++] = point_at(a, b, da / (da - db));
	}
	return kept;
}

int tac_primitive_clip_triangle(const tac_triangle *triangle, double low, double high, double eps,
				tac_dvec3 out[5])
{
	tac_dvec3 corners[3] = {triangle->a, triangle->b, triangle->c}, above[4];
	int count = clip_polygon(corners, 3, low - eps, 1, above);
	count = clip_polygon(above, count, high + eps, -1, out);
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
	// If both hold, the polygon is seen edge-on and the tests of its edges decide.
	return left != right;
}

bool tac_primitive_segment_in_radius(tac_dvec3 a, tac_dvec3 b, double ra, double rb, double *out_t)
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
		return false; // the minimum of c0 + 2 c1 t + c2 t^2 is at an end
	double t = -c1 / c2;
	double x = a.x + t * dx, y = a.y + t * dy, r = ra + t * dr;
	*out_t = t;
	return x * x + y * y <= r * r;
}

bool tac_circle2_meets_segment(tac_point2 centre, double radius, tac_point2 a, tac_point2 b, double eps)
{
	double t;
	return tac_primitive_segment_in_radius(tac_dvec3_make(a.x - centre.x, a.y - centre.y, 0),
					       tac_dvec3_make(b.x - centre.x, b.y - centre.y, 0),
					       radius + eps, radius + eps, &t);
}

tac_upright tac_upright_make(tac_dvec3 p, tac_dvec3 q)
{
	tac_dvec3 pq = tac_dvec3_sub(q, p);
	double height = tac_dvec3_length(pq);
	if (height == 0)
		return (tac_upright){tac_dmat3_identity(), p, 0};
	tac_dvec3 z = tac_dvec3_normalize(pq);
	double n[3] = {z.x, z.y, z.z}, y[3] = {0, 0, 0};
	int i = fabs(n[0]) > 0.5 ? 0 : fabs(n[1]) > 0.5 ? 1 : 2; // one is above 1/2: 3 (1/2)^2 < 1
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
	tac_dvec3 a = point_at(segment->a, segment->b, t0), b = point_at(segment->a, segment->b, t1);
	if (!tac_primitive_segment_in_radius(a, b, r, r, &t))
		return false;
	return witness_at(out, point_at(a, b, t), t0 + t * (t1 - t0));
}

// Splits a vector into its component along the unit axis and the rest, perpendicular to it.
static tac_dvec3 perpendicular_part(tac_dvec3 v, tac_dvec3 axis, double *out_along)
{
	*out_along = tac_dvec3_dot(v, axis);
	return tac_dvec3_add_scaled(v, -*out_along, axis);
}

// A cylinder with its unit axis and its height. Where the height is 0 it counts as the sphere.
typedef struct axial {
	tac_dvec3 base, axis;
	double radius, height;
	tac_sphere sphere;
} axial;

static axial axial_of(const tac_cylinder *cylinder)
{
	tac_dvec3 pq = tac_dvec3_sub(cylinder->q, cylinder->p);
	return (axial){cylinder->p,
		       tac_dvec3_normalize(pq),
		       cylinder->radius,
		       tac_dvec3_length(pq),
		       {cylinder->p, cylinder->radius}};
}

static bool axial_meets_segment(const axial *cylinder, const tac_segment *segment, double eps,
				tac_witness *out)
{
	double za, zb, t0, t1;
	tac_dvec3 a = perpendicular_part(tac_dvec3_sub(segment->a, cylinder->base), cylinder->axis, &za);
	tac_dvec3 b = perpendicular_part(tac_dvec3_sub(segment->b, cylinder->base), cylinder->axis, &zb);
	if (!tac_primitive_clip(za, zb, 0, cylinder->height, eps, &t0, &t1))
		return false;
	// The parameter nearest to the axis, among those between the end planes.
	tac_dvec3 ab = tac_dvec3_sub(b, a);
	double dot = -tac_dvec3_dot(a, ab), length2 = tac_dvec3_length_squared(ab),
	       r = cylinder->radius + eps;
	double t = dot <= t0 * length2 ? t0 : dot >= t1 * length2 ? t1 : dot / length2;
	if (tac_dvec3_length_squared(tac_dvec3_add_scaled(a, t, ab)) > r * r)
		return false;
	return witness_at(out, point_at(segment->a, segment->b, t), t);
}

bool tac_cylinder_meets_segment(const tac_cylinder *cylinder, const tac_segment *segment, double eps,
				tac_witness *out)
{
	axial c = axial_of(cylinder);
	return c.height == 0 ? tac_sphere_meets_segment(&c.sphere, segment, eps, out)
			     : axial_meets_segment(&c, segment, eps, out);
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
	axial c = axial_of(cylinder);
	if (c.height == 0)
		return tac_sphere_meets_triangle(&c.sphere, triangle, eps, out);
	for (int i = 0; i < 3; i++) {
		tac_segment edge = edge_of(triangle, i);
		if (axial_meets_segment(&c, &edge, eps, out))
			return true;
	}
	// No edge meets the cylinder, so its section with the plane lies inside the triangle or outside it.
	// The segment between the extreme points of the cylinder along the normal passes through the section,
	// if there is one.
	double along_axis, remainder;
	tac_dvec3 side = tac_dvec3_normalize(perpendicular_part(cross_of(triangle), c.axis, &along_axis));
	// If the normal is parallel to the axis, the perpendicular part is rounding in any direction: project
	// again.
	side = tac_dvec3_normalize(perpendicular_part(side, c.axis, &remainder));
	double s = along_axis < 0 ? -c.radius : c.radius; // at 0 either sign is right, but not s = 0
	tac_segment extreme = {tac_dvec3_add_scaled(cylinder->p, -s, side),
			       tac_dvec3_add_scaled(cylinder->q, s, side)};
	return tac_triangle_meets_segment(triangle, &extreme, eps, out);
}

// Whether a sphere with its centre at height z over the bottom and `distance` from the axis reaches the
// cylinder; with the height and the distance from the axis of the cylinder's nearest point.
static bool sphere_reaches(double radius, double height, double z, double distance, const tac_sphere *sphere,
			   double eps, double *out_z, double *out_distance)
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
	if (!sphere_reaches(cylinder->radius, cylinder->height, c.z, distance, sphere, eps, &z, &r))
		return false;
	double f = distance > 0 ? r / distance : 0;
	return sphere_witness(out, sphere, tac_dvec3_make(f * c.x, f * c.y, z), 0);
}

bool tac_cylinder_meets_sphere(const tac_cylinder *cylinder, const tac_sphere *sphere, double eps,
			       tac_witness *out)
{
	axial c = axial_of(cylinder);
	if (c.height == 0)
		return tac_sphere_meets_sphere(sphere, &c.sphere, eps, out);
	double centre_z, z, r;
	tac_dvec3 away = perpendicular_part(tac_dvec3_sub(sphere->centre, c.base), c.axis, &centre_z);
	double distance = tac_dvec3_length(away);
	if (!sphere_reaches(c.radius, c.height, centre_z, distance, sphere, eps, &z, &r))
		return false;
	tac_dvec3 x = tac_dvec3_add_scaled(c.base, z, c.axis);
	x = tac_dvec3_add_scaled(x, distance > 0 ? r / distance : 0, away);
	return sphere_witness(out, sphere, x, 0);
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
	tac_dvec3 a = clipped_point(segment, t0, 0, cone->height);
	tac_dvec3 b = clipped_point(segment, t1, 0, cone->height);
	if (!tac_primitive_segment_in_radius(a, b, cone_radius(cone, a.z) + eps, cone_radius(cone, b.z) + eps,
					     &t))
		return false;
	return witness_at(out, point_at(a, b, t), t0 + t * (t1 - t0));
}

bool tac_cone_meets_triangle(const tac_cone *cone, const tac_triangle *triangle, double eps, tac_witness *out)
{
	tac_dvec3 polygon[5];
	int count = tac_primitive_clip_triangle(triangle, 0, cone->height, eps, polygon);
	for (int i = 0; i < count; i++) {
		tac_dvec3 a = polygon[i], b = polygon[i + 1 == count ? 0 : i + 1];
		double t, ra = cone_radius(cone, a.z) + eps, rb = cone_radius(cone, b.z) + eps;
		if (tac_primitive_segment_in_radius(a, b, ra, rb, &t))
			return witness_at(out, point_at(a, b, t), 0);
	}
	// No edge meets the cone, so its section with the plane is bounded by the lateral surface alone: an
	// ellipse that contains the axis. Whether the axis meets the triangle between the end planes is
	// decided in the xy plane.
	if (!tac_primitive_axis_inside(polygon, count))
		return false;
	if (out) {
		tac_segment axis = {tac_dvec3_make(0, 0, -eps), tac_dvec3_make(0, 0, cone->height + eps)};
		if (!tac_triangle_meets_segment(triangle, &axis, eps, out))
			*out = (tac_witness){polygon[0], 0, 0};
		out->t = 0;
	}
	return true;
}
