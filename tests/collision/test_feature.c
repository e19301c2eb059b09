#include "base/rng.h"
#include "collision/continuous/feature.h"
#include "collision/sweep.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_referee.h"

#include <math.h>
#include <unity.h>

#define PI 3.14159265358979323846

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dvec3 vec(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

static tac_dvec3 random_in_cube(tac_rng *rng, double half)
{
	double x = tac_rng_range_f64(rng, -half, half), y = tac_rng_range_f64(rng, -half, half);
	return vec(x, y, tac_rng_range_f64(rng, -half, half));
}

// Clockwise about z, by the sine and cosine of the C library.
static tac_dvec3 turned(tac_dvec3 a, double angle)
{
	double c = cos(angle), s = sin(angle);
	return vec(a.x * c + a.y * s, a.y * c - a.x * s, a.z);
}

static void vertex_falling_on_a_plane_stops_at_the_zone(void)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.5, tac_zone_translate_vertex(1, -2, 0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.375, tac_zone_translate_vertex(1, -2, 0.25));
	TEST_ASSERT_TRUE(tac_zone_translate_vertex(1, 2, 0.25) == 1);
	TEST_ASSERT_TRUE(tac_zone_translate_vertex(0.1, -2, 0.25) == 0);
	TEST_ASSERT_TRUE(tac_zone_translate_vertex(-0.1, -2, 0.25) == 1);
}

static void edge_falling_on_an_edge_stops_at_its_offset_line(void)
{
	tac_dvec3 a = vec(-1, 0, 1), b = vec(1, 0, 1), c = vec(0, -1, 0), d = vec(0, 1, 0), v = vec(0, 0, -2);
	double line = tac_feature_translate_edges(a, b, c, d, v);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.5, line);
	double s = sqrt(0.5);
	tac_dvec3 w = tac_zone_offset(vec(s, 0, s), vec(-s, 0, s), 0.1);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.141421, tac_dvec3_length(w));
	double offset = tac_feature_translate_edges(a, b, tac_dvec3_add(c, w), tac_dvec3_add(d, w), v);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.429289, tac_zone_translate_edge(line, offset));
	// A translation in the plane of both edges is no collision, although they are not parallel.
	TEST_ASSERT_TRUE(isnan(tac_feature_translate_edges(a, b, c, d, vec(1, 1, 0))));
	TEST_ASSERT_TRUE(tac_zone_translate_edge((double)NAN, (double)NAN) == 1);
}

static void edge_offset_is_clamped_at_sharp_edges_and_in_the_plane_at_open_ones(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	for (int i = 0; i < 10000; i++) {
		tac_dvec3 n1 = tac_rng_unit_f64(&rng), n2 = tac_rng_unit_f64(&rng);
		tac_dvec3 w = tac_zone_offset(n1, n2, 1);
		double length = tac_dvec3_length(w);
		if (tac_dvec3_dot(n1, n2) >= -0.5) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dvec3_dot(w, n1));
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dvec3_dot(w, n2));
		} else {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, length);
		}
	}
	tac_dvec3 w = tac_zone_offset_dangling(vec(0, 1, 0), vec(0, 0, 1), 0.5);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.5, w.x);
	TEST_ASSERT_TRUE(w.y == 0 && w.z == 0);
	// Opposite normals: any vector up to that length, never NaN.
	TEST_ASSERT_TRUE(tac_dvec3_length(tac_zone_offset(vec(0, 0, 1), vec(0, 0, -1), 1)) <= 2);
}

static void vertex_rotating_into_a_plane_enters_at_thirty_degrees(void)
{
	tac_feature_arc arc = tac_feature_arc_vertex(vec(1, 0, 0), vec(0, 1, 0), 0.5);
	tac_feature_roots roots = tac_feature_arc_roots(arc);
	TEST_ASSERT_TRUE(roots.exist);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.267949, roots.enter);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1.0 / 3, tac_zone_rotate_vertex(arc, 0, PI / 2));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.261980, tac_zone_rotate_vertex(arc, 0.1, PI / 2));
}

static void edge_rotating_into_an_edge_meets_it_at_thirty_degrees(void)
{
	tac_dvec3 a = vec(1, 0, -1), b = vec(1, 0, 1), c = vec(-2, -0.5, 0), d = vec(2, -0.5, 0), x;
	tac_feature_roots roots = tac_feature_arc_roots(tac_feature_arc_edge(a, b, c, d));
	TEST_ASSERT_TRUE(roots.exist);
	TEST_ASSERT_TRUE(fabs(roots.enter - 0.267949) < 1e-6 || fabs(roots.leave - 0.267949) < 1e-6);
	double tiny = 1e-9;
	double f = tac_zone_rotate_edge(a, b, c, d, vec(0, tiny, 0), PI / 2, &x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1.0 / 3, f);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.866025, x.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, -0.5, x.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, x.z);
}

static void degenerate_quadratics_have_one_root_or_none_and_never_nan(void)
{
	tac_feature_arc linear = {-0.9, 1.7, -0.45}; // a = start - 2 v2 = 0
	tac_feature_roots roots = tac_feature_arc_roots(linear);
	TEST_ASSERT_TRUE(roots.exist);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.264706, roots.leave);
	TEST_ASSERT_TRUE(roots.enter < 0);
	tac_feature_arc falling = {0.9, -1.7, 0.45};
	roots = tac_feature_arc_roots(falling);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.264706, roots.enter);
	TEST_ASSERT_TRUE(isinf(roots.leave));
	// The axis is normal to the plane, and the vertex 2 above it.
	tac_feature_arc level = tac_feature_arc_vertex(vec(1, 0, 3), vec(0, 0, 1), 2);
	TEST_ASSERT_FALSE(tac_feature_arc_roots(level).exist);
	TEST_ASSERT_TRUE(tac_zone_rotate_vertex(level, 0.1, 3) == 1);
	tac_feature_arc nothing = {0, 0, 0};
	TEST_ASSERT_FALSE(tac_feature_arc_roots(nothing).exist);
	TEST_ASSERT_TRUE(tac_zone_rotate_vertex(nothing, 0.1, 3) == 1);
}

static void vertex_in_the_zone_may_leave_but_not_return(void)
{
	// The distance 0.02 + 0.1 sin theta never leaves a zone of 0.2 and falls again after its maximum.
	tac_feature_arc arc = tac_feature_arc_vertex(vec(-0.1, 0, 0), vec(0, 1, 0), 0.02);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.5, tac_zone_rotate_vertex(arc, 0.2, PI * (1 - 1e-9)));
	tac_feature_arc leaving = {0.1, 0.5, -0.5};
	TEST_ASSERT_TRUE(tac_zone_rotate_vertex(leaving, 0.3, 0.6 * PI) == 1);
}

// The fraction at which a motion in steps first comes closer inside the zone.
static double stepped(double (*distance)(const double *, double), const double *p, double zone, int steps)
{
	double before = distance(p, 0);
	for (int i = 1; i <= steps; i++) {
		double now = distance(p, (double)i / steps);
		if (now < zone && now < before - 1e-15)
			return (double)(i - 1) / steps;
		before = now;
	}
	return 1;
}

static double along_normal(const double *p, double s)
{
	return p[0] + p[1] * s;
}

static double around_axis(const double *p, double s)
{
	double angle = p[3] * s;
	return p[0] + p[1] * sin(angle) + p[2] * (cos(angle) - 1);
}

static void zones_of_vertices_and_edges_agree_with_stepped_motions(void)
{
	enum { STEPS = 2000 };
	tac_rng rng = tac_rng_seed(5, 1);
	for (int i = 0; i < 10000; i++) {
		double zone = 0.05;
		double p[4] = {tac_rng_range_f64(&rng, 1e-3, 2), tac_rng_range_f64(&rng, -3, 3), 0, 0};
		double expected = stepped(along_normal, p, zone, STEPS);
		TEST_ASSERT_DOUBLE_WITHIN(1.5 / STEPS, expected, tac_zone_translate_vertex(p[0], p[1], zone));
		// An edge (section 3.2) whose gap is p[0] + p[1] f, with the offset line at the gap `zone`.
		TEST_ASSERT_DOUBLE_WITHIN(1.5 / STEPS, expected,
					  tac_zone_translate_edge(-p[0] / p[1], (zone - p[0]) / p[1]));
	}
	for (int i = 0; i < 10000; i++) {
		double zone = 0.3;
		double p[4] = {tac_rng_range_f64(&rng, 1e-3, 1.2), tac_rng_range_f64(&rng, -1, 1),
			       tac_rng_range_f64(&rng, -1, 1), tac_rng_range_f64(&rng, 0.2, PI)};
		tac_feature_arc arc = {p[0], p[1], p[2]};
		double f = tac_zone_rotate_vertex(arc, zone, p[3]);
		double expected = stepped(around_axis, p, zone, STEPS);
		if (fabs(f - expected) > 1.5 / STEPS) {
			// Excursions into the zone shorter than a step, and approaches too slow for a step.
			double at = around_axis(p, f), after = around_axis(p, f + 1e-4);
			TEST_ASSERT_TRUE_MESSAGE(f < expected && at <= zone + 1e-9 && after < at,
						 "stepped motion");
		}
	}
}

// Whether two triangles overlap, by their separating axes; touching counts.
static bool overlap(const tac_dvec3 a[3], const tac_dvec3 b[3])
{
	tac_dvec3 axes[17], ea[3], eb[3];
	int n = 0;
	for (int i = 0; i < 3; i++) {
		ea[i] = tac_dvec3_sub(a[(i + 1) % 3], a[i]);
		eb[i] = tac_dvec3_sub(b[(i + 1) % 3], b[i]);
	}
	axes[n++] = tac_dvec3_cross(ea[0], ea[1]);
	axes[n++] = tac_dvec3_cross(eb[0], eb[1]);
	for (int i = 0; i < 9; i++)
		axes[n++] = tac_dvec3_cross(ea[i / 3], eb[i % 3]);
	for (int i = 0; i < 3; i++) { // for coplanar triangles
		axes[n++] = tac_dvec3_cross(axes[0], ea[i]);
		axes[n++] = tac_dvec3_cross(axes[1], eb[i]);
	}
	for (int k = 0; k < n; k++) {
		double a0 = 1e9, a1 = -1e9, b0 = 1e9, b1 = -1e9;
		for (int i = 0; i < 3; i++) {
			double x = tac_dvec3_dot(axes[k], a[i]), y = tac_dvec3_dot(axes[k], b[i]);
			a0 = fmin(a0, x);
			a1 = fmax(a1, x);
			b0 = fmin(b0, y);
			b1 = fmax(b1, y);
		}
		if (a1 < b0 || b1 < a0)
			return false;
	}
	return true;
}

typedef struct pair {
	tac_dvec3 a[3], b[3], v;
	double angle; // 0: the translation v
} pair;

static bool overlap_at(const pair *p, double f)
{
	tac_dvec3 m[3];
	for (int k = 0; k < 3; k++)
		m[k] = p->angle > 0 ? turned(p->a[k], f * p->angle) : tac_dvec3_add_scaled(p->a[k], f, p->v);
	return overlap(m, p->b);
}

// The time of the first overlap of a sampled motion, bisected; 2 when no sample overlaps.
static double sampled_contact(const pair *p, int samples)
{
	for (int i = 1; i <= samples; i++) {
		if (!overlap_at(p, (double)i / samples))
			continue;
		double low = (i - 1.0) / samples, high = (double)i / samples;
		for (int k = 0; k < 45; k++) {
			double middle = (low + high) / 2;
			if (overlap_at(p, middle))
				high = middle;
			else
				low = middle;
		}
		return high;
	}
	return 2;
}

// The triangles at the fraction f, in long double.
static void place(const pair *p, real f, ref_vec a[3], ref_vec b[3])
{
	real c = cosl(f * p->angle), s = sinl(f * p->angle);
	for (int k = 0; k < 3; k++) {
		a[k] = (ref_vec){p->a[k].x * c + p->a[k].y * s + f * p->v.x,
				 p->a[k].y * c - p->a[k].x * s + f * p->v.y, p->a[k].z + f * p->v.z};
		b[k] = (ref_vec){p->b[k].x, p->b[k].y, p->b[k].z};
	}
}

// The volume of one of the 15 tetrahedra of a vertex and a face or of two edges; it vanishes when the
// features meet. *out_in: whether they meet within both, by a margin.
static real feature_volume(const pair *p, real f, int which, bool *out_in)
{
	const real margin = 1e-9L;
	ref_vec a[3], b[3];
	place(p, f, a, b);
	if (which < 6) {
		const ref_vec *t = which < 3 ? b : a, x = which < 3 ? a[which] : b[which - 3];
		ref_vec n = ref_cross(ref_sub(t[1], t[0]), ref_sub(t[2], t[0]));
		*out_in = true;
		for (int k = 0; k < 3; k++) {
			ref_vec e = ref_sub(t[(k + 1) % 3], t[k]);
			*out_in = *out_in && ref_dot(ref_cross(n, e), ref_sub(x, t[k])) >
						     margin * sqrtl(ref_dot(n, n) * ref_dot(e, e));
		}
		return ref_volume(t[0], t[1], t[2], x);
	}
	int i = (which - 6) / 3, j = (which - 6) % 3;
	ref_vec u = ref_sub(a[(i + 1) % 3], a[i]), w = ref_sub(b[(j + 1) % 3], b[j]), n = ref_cross(u, w),
		r = ref_sub(b[j], a[i]);
	real nn = ref_dot(n, n), s = ref_dot(ref_cross(r, w), n) / nn, t = ref_dot(ref_cross(r, u), n) / nn;
	*out_in = s > margin && s < 1 - margin && t > margin && t < 1 - margin;
	return ref_dot(n, r);
}

// The first time at which features pass through each other, of those that change sides between two samples; 2
// when none does. It also works for needles, whose overlap is too short to be sampled.
static double first_crossing(const pair *p, int samples)
{
	real first = 2;
	for (int which = 0; which < 15; which++) {
		bool in;
		real before = feature_volume(p, 0, which, &in);
		for (int i = 1; i <= samples && (i - 1.0L) / samples < first; i++) {
			real after = feature_volume(p, (real)i / samples, which, &in);
			real low = (i - 1.0L) / samples, high = (real)i / samples;
			for (int k = 0; k < 60 && before * after < 0; k++) {
				real middle = (low + high) / 2;
				if (feature_volume(p, middle, which, &in) * before > 0)
					low = middle;
				else
					high = middle;
			}
			if (before * after < 0) {
				feature_volume(p, high, which, &in);
				first = in && high < first ? high : first;
			}
			before = after;
		}
	}
	return (double)first;
}

// Any triangles, triangles in one plane with the motion, or needles.
enum { ANY, COPLANAR, NEEDLES };

static pair random_pair(tac_rng *rng, bool rotate, int shape)
{
	pair p;
	double thin = pow(10, tac_rng_range_f64(rng, -7, -2));
	for (int k = 0; k < 3; k++) {
		p.a[k] = random_in_cube(rng, 1);
		p.b[k] = random_in_cube(rng, 1);
		if (shape == COPLANAR)
			p.a[k].z = p.b[k].z = 0.25;
	}
	if (shape == NEEDLES) {
		p.a[2] = tac_dvec3_add_scaled(p.a[0], thin, p.a[2]);
		p.b[2] = tac_dvec3_add_scaled(p.b[0], thin, p.b[2]);
	}
	p.v = random_in_cube(rng, 2);
	if (shape == COPLANAR)
		p.v.z = 0;
	p.angle = rotate ? tac_rng_range_f64(rng, 0.3, 3.1) : 0;
	return p;
}

static void compare_with_samples(bool rotate, int shape, int count)
{
	tac_rng rng = tac_rng_seed(6, (uint64_t)(rotate + 2 * shape));
	int hits = 0, grazes = 0;
	for (int n = 0; n < count;) {
		pair p = random_pair(&rng, rotate, shape);
		if (overlap(p.a, p.b))
			continue;
		n++;
		double f = rotate ? tac_sweep_rotate_triangles(p.a, p.b, p.angle)
				  : tac_sweep_translate_triangles(p.a, p.b, p.v);
		double expected = sampled_contact(&p, 300);
		hits += expected <= 1;
		if (fabs(f - expected) <= 1e-9)
			continue;
		// Only an overlap shorter than a sample can be earlier, and it must be an overlap.
		TEST_ASSERT_TRUE_MESSAGE(f < expected, "a contact was missed");
		TEST_ASSERT_TRUE_MESSAGE(overlap_at(&p, f + 1e-7) || overlap_at(&p, f + 1e-9) || f > 1 - 1e-6,
					 "a contact was invented");
		grazes++;
	}
	TEST_ASSERT_GREATER_THAN(count / 5, hits);
	TEST_ASSERT_LESS_THAN(count > 500 ? count / 500 : 1, grazes);
}

static void translated_triangles_touch_when_a_sampled_motion_overlaps(void)
{
	compare_with_samples(false, ANY, test_rounds(20000));
}

static void rotated_triangles_touch_when_a_sampled_motion_overlaps(void)
{
	compare_with_samples(true, ANY, test_rounds(20000));
}

static void triangles_in_one_plane_touch_when_a_sampled_motion_overlaps(void)
{
	compare_with_samples(false, COPLANAR, test_rounds(4000));
	compare_with_samples(true, COPLANAR, test_rounds(4000));
}

static void needles_touch_when_their_features_cross(void)
{
	tac_rng rng = tac_rng_seed(7, 1);
	int hits = 0, grazes = 0;
	for (int n = 0; n < test_rounds(10000); n++) {
		pair p = random_pair(&rng, n % 2, NEEDLES);
		if (p.angle > 0)
			p.v = vec(0, 0, 0);
		double f = p.angle > 0 ? tac_sweep_rotate_triangles(p.a, p.b, p.angle)
				       : tac_sweep_translate_triangles(p.a, p.b, p.v);
		double expected = first_crossing(&p, 100);
		TEST_ASSERT_TRUE_MESSAGE(f <= expected + 1e-9, "a contact was missed");
		hits += expected <= 1;
		if (f >= expected - 1e-9 || f > 1)
			continue;
		// Features that touch without changing sides, or twice within a sample.
		ref_vec a[3], b[3];
		place(&p, f, a, b);
		TEST_ASSERT_TRUE_MESSAGE(ref_triangles(a, b) <= 1e-20L, "a contact was invented");
		grazes++;
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(500), hits);
	TEST_ASSERT_LESS_THAN(test_rounds(100), grazes);
}

// Points and segments are triangles with three and two equal vertices.
static void points_and_segments_touch_as_triangles_do(void)
{
	tac_dvec3 point[3] = {vec(0, 0, 1), vec(0, 0, 1), vec(0, 0, 1)},
		  bar[3] = {vec(-1, 0, 1), vec(1, 0, 1), vec(1, 0, 1)},
		  face[3] = {vec(-1, -1, 0), vec(1, -1, 0), vec(0, 1, 0)}, down = vec(0, 0, -2);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, tac_sweep_translate_triangles(point, face, down));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, tac_sweep_translate_triangles(face, point, vec(0, 0, 2)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, tac_sweep_translate_triangles(bar, face, down));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, tac_sweep_translate_triangles(face, bar, vec(0, 0, 2)));
	TEST_ASSERT_TRUE(tac_sweep_translate_triangles(point, face, vec(3, 0, -2)) == 2);
	// In the plane of the face; then a point that moves to another point, and past it.
	tac_dvec3 flat_point[3] = {vec(0, -2, 0), vec(0, -2, 0), vec(0, -2, 0)},
		  flat_bar[3] = {vec(-1, -2, 0), vec(1, -2, 0), vec(1, -2, 0)};
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, tac_sweep_translate_triangles(flat_point, face, vec(0, 2, 0)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, tac_sweep_translate_triangles(flat_bar, face, vec(0, 2, 0)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, tac_sweep_translate_triangles(face, flat_bar, vec(0, -2, 0)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, tac_sweep_translate_triangles(flat_point, point, vec(0, 4, 2)));
	TEST_ASSERT_TRUE(tac_sweep_translate_triangles(flat_point, point, vec(0, 4, 2.1)) == 2);
	// A quarter turn, clockwise seen from +z, about z.
	tac_dvec3 hand[3] = {vec(0, 1, 0), vec(0, 1, 0), vec(0, 1, 0)},
		  wall[3] = {vec(0.5, 0, -1), vec(2, 0, -1), vec(1, 0, 1)},
		  mark[3] = {vec(1, 0, 0), vec(1, 0, 0), vec(1, 0, 0)};
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, tac_sweep_rotate_triangles(hand, wall, PI * (1 - 1e-15)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, tac_sweep_rotate_triangles(hand, mark, PI * (1 - 1e-15)));
}

// The height of the line a→b over the line c→d along the unit vector `up`, where their projections cross.
static bool gap_along(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 up, double *out_gap)
{
	tac_dvec3 u = tac_dvec3_sub(b, a), w = tac_dvec3_sub(d, c), r = tac_dvec3_sub(c, a);
	double det = tac_dvec3_dot(u, tac_dvec3_cross(up, w));
	if (fabs(det) < 1e-9)
		return false;
	*out_gap = -tac_dvec3_dot(u, tac_dvec3_cross(r, w)) / det;
	return true;
}

static void edge_rotating_into_an_offset_line_stops_where_its_gap_falls(void)
{
	tac_rng rng = tac_rng_seed(7, 1);
	int roots_seen = 0, stops = 0;
	while (roots_seen < test_rounds(8000)) {
		tac_dvec3 a = random_in_cube(&rng, 1), b = random_in_cube(&rng, 1),
			  c = random_in_cube(&rng, 1), d = random_in_cube(&rng, 1);
		tac_dvec3 along = tac_dvec3_normalize(tac_dvec3_sub(d, c)), up = random_in_cube(&rng, 1);
		up = tac_dvec3_normalize(tac_dvec3_add_scaled(up, -tac_dvec3_dot(up, along), along));
		double width = 0.05, gap0;
		tac_dvec3 w = tac_dvec3_scale(up, width), co = tac_dvec3_add(c, w), dd = tac_dvec3_add(d, w),
			  x;
		if (!gap_along(a, b, c, d, up, &gap0) || (gap0 >= -0.01 && gap0 < width + 0.01))
			continue; // tests the rule at the roots, not that in the zone
		tac_feature_roots roots = tac_feature_arc_roots(tac_feature_arc_edge(a, b, co, dd));
		if (!roots.exist)
			continue;
		double expected = 1;
		bool doubtful = false;
		double r[2] = {fmin(roots.enter, roots.leave), fmax(roots.enter, roots.leave)};
		for (int k = 0; k < 2 && expected == 1; k++) {
			double angle = 2 * atan(r[k]), h = 1e-5, g0, g1;
			if (!(r[k] > 0) || isinf(r[k]))
				continue;
			// Whether it is within both edges, by the closest points of both lines.
			tac_dvec3 p = turned(a, angle), q = turned(b, angle), u = tac_dvec3_sub(q, p);
			tac_dvec3 e = tac_dvec3_sub(dd, co), n = tac_dvec3_cross(u, e);
			double nn = tac_dvec3_dot(n, n);
			double s = tac_dvec3_dot(tac_dvec3_cross(tac_dvec3_sub(co, p), e), n) / nn;
			double t = tac_dvec3_dot(tac_dvec3_cross(tac_dvec3_sub(co, p), u), n) / nn;
			doubtful |=
				fabs(s) < 1e-6 || fabs(s - 1) < 1e-6 || fabs(t) < 1e-6 || fabs(t - 1) < 1e-6;
			if (!(s > 0 && s < 1 && t > 0 && t < 1))
				continue;
			bool defined = gap_along(turned(a, angle - h), turned(b, angle - h), c, d, up, &g0) &&
				       gap_along(turned(a, angle + h), turned(b, angle + h), c, d, up, &g1);
			doubtful |= !defined || fabs(g1 - g0) < 1e-7 || fabs(g0 - width) > 0.02 ||
				    fabs(g1 - width) > 0.02;
			roots_seen++;
			if (defined && g1 < g0)
				expected = angle / 3.1;
		}
		if (doubtful || expected > 1)
			continue;
		double f = tac_zone_rotate_edge(a, b, c, d, w, 3.1, &x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected, f);
		stops += f < 1;
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(2000), stops);
}

static void order_by_the_tangent_of_half_the_angle_is_the_order_of_angles(void)
{
	tac_rng rng = tac_rng_seed(8, 1);
	for (int i = 0; i < 100000; i++) {
		double r[2], angle[2];
		for (int k = 0; k < 2; k++) {
			tac_feature_arc arc = {tac_rng_range_f64(&rng, 0, 1), tac_rng_range_f64(&rng, -1, 1),
					       tac_rng_range_f64(&rng, -1, 1)};
			tac_feature_roots roots = tac_feature_arc_roots(arc);
			r[k] = roots.exist && roots.enter >= 0 ? roots.enter : HUGE_VAL;
			// The same root as an angle: cos(theta - phi) = -v0 / h, which falls at phi + acos.
			double v0 = arc.start - arc.v2, h = hypot(arc.v1, arc.v2);
			double at = fabs(v0) <= h ? atan2(arc.v1, arc.v2) + acos(-v0 / h) : 4;
			at = fmod(at + 4 * PI, 2 * PI);
			angle[k] = fabs(v0) <= h && at < PI ? at : HUGE_VAL;
		}
		if (fabs(angle[0] - angle[1]) > 1e-7)
			TEST_ASSERT_EQUAL(angle[0] < angle[1], r[0] < r[1]);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(vertex_falling_on_a_plane_stops_at_the_zone);
	RUN_TEST(edge_falling_on_an_edge_stops_at_its_offset_line);
	RUN_TEST(edge_offset_is_clamped_at_sharp_edges_and_in_the_plane_at_open_ones);
	RUN_TEST(vertex_rotating_into_a_plane_enters_at_thirty_degrees);
	RUN_TEST(edge_rotating_into_an_edge_meets_it_at_thirty_degrees);
	RUN_TEST(degenerate_quadratics_have_one_root_or_none_and_never_nan);
	RUN_TEST(vertex_in_the_zone_may_leave_but_not_return);
	RUN_TEST(zones_of_vertices_and_edges_agree_with_stepped_motions);
	RUN_TEST(translated_triangles_touch_when_a_sampled_motion_overlaps);
	RUN_TEST(rotated_triangles_touch_when_a_sampled_motion_overlaps);
	RUN_TEST(triangles_in_one_plane_touch_when_a_sampled_motion_overlaps);
	RUN_TEST(points_and_segments_touch_as_triangles_do);
	RUN_TEST(needles_touch_when_their_features_cross);
	RUN_TEST(edge_rotating_into_an_offset_line_stops_where_its_gap_falls);
	RUN_TEST(order_by_the_tangent_of_half_the_angle_is_the_order_of_angles);
	return UNITY_END();
}
