// Spheres, cylinders and cones against subdivision, against the paper's printed formulas where they are
// correct, and against known answers.
#include "tests/support/primitives_fixture.h"

void setUp(void)
{
}

void tearDown(void)
{
}

// Edges first, then the plane by barycentric coordinates.
static double sphere_triangle_gap(const tac_sphere *s, const tac_triangle *x)
{
	tac_segment edges[3] = {{x->a, x->b}, {x->b, x->c}, {x->c, x->a}};
	double gap = HUGE_VAL;
	for (int i = 0; i < 3; i++)
		gap = fmin(gap, sphere_segment_gap(s, &edges[i]));
	tac_dvec3 e1 = sub(x->b, x->a), e2 = sub(x->c, x->a), ap = sub(s->centre, x->a);
	double d11 = dot(e1, e1), d12 = dot(e1, e2), d22 = dot(e2, e2), p1 = dot(e1, ap), p2 = dot(e2, ap);
	double det = d11 * d22 - d12 * d12, v = (d22 * p1 - d12 * p2) / det, w = (d11 * p2 - d12 * p1) / det;
	if (v >= 0 && w >= 0 && v + w <= 1) {
		tac_dvec3 n = tac_dvec3_normalize(tac_dvec3_cross(e1, e2));
		gap = fmin(gap, fabs(dot(n, ap)) - s->radius);
	}
	return gap;
}

// The printed cylinder test, with the interval [0, 1] that is missing there.
static bool printed_cylinder_segment(const tac_cylinder *c, const tac_segment *x, double radius)
{
	tac_dvec3 ab = sub(x->b, x->a), pq = sub(c->q, c->p), ap = sub(c->p, x->a), aq = sub(c->q, x->a);
	tac_dvec3 n = tac_dvec3_cross(ab, pq), m = tac_dvec3_cross(pq, n);
	double nn = dot(n, n), d = dot(ap, n) * dot(ap, n) / nn;
	if (d > radius * radius)
		return false;
	double middle = dot(tac_dvec3_cross(ap, pq), n) / nn;
	double half = sqrt(radius * radius - d) * sqrt(dot(m, m)) / fabs(dot(ab, m));
	double s3 = dot(pq, ap) / dot(pq, ab), s4 = dot(pq, aq) / dot(pq, ab);
	return fmax(fmax(middle - half, fmin(s3, s4)), 0) <= fmin(fmin(middle + half, fmax(s3, s4)), 1);
}

// The printed test of a cylinder and a sphere: the sphere's radius in the end plane.
static bool printed_cylinder_sphere(const tac_cylinder *c, const tac_sphere *s, double radius)
{
	tac_dvec3 pq = sub(c->q, c->p), pa = sub(s->centre, c->p);
	double h = sqrt(dot(pq, pq)), T = dot(pq, pa);
	double d = T > h * h ? (T - h * h) / h : T < 0 ? -T / h : 0;
	if (d > radius)
		return false;
	double delta = sqrt(fmax(dot(pa, pa) - T * T / (h * h), 0));
	return delta <= c->radius + sqrt(radius * radius - d * d);
}

// The printed cone test: a central projection from the apex makes the cone a cylinder. Not near the apex.
static bool projected_cone_segment(const tac_cone *cone, const tac_segment *x, double grow)
{
	tac_segment s = *x;
	double low = 0, high = 1, h = cone->height, za = s.a.z, dz = s.b.z - s.a.z;
	double t0 = (0 - za) / dz, t1 = (h - za) / dz;
	low = fmax(low, fmin(t0, t1));
	high = fmin(high, fmax(t0, t1));
	if (low > high)
		return false;
	tac_dvec3 a = tac_dvec3_lerp(s.a, s.b, low), b = tac_dvec3_lerp(s.a, s.b, high);
	double ra = cone->bottom + (cone->top - cone->bottom) * a.z / h + grow;
	double rb = cone->bottom + (cone->top - cone->bottom) * b.z / h + grow;
	tac_segment flat = segment(a.x / ra, a.y / ra, 0, b.x / rb, b.y / rb, 0);
	tac_sphere unit = {vec(0, 0, 0), 1};
	return sphere_segment_gap(&unit, &flat) <= 0;
}

static void segments_agree_with_subdivision(void)
{
	check_segments(SPHERE, CONE);
}

static void triangles_agree_with_subdivision(void)
{
	check_triangles(SPHERE, CONE);
}

static void sphere_and_segment_agree_with_the_printed_squares(void)
{
	tac_rng rng = tac_rng_seed(3, 0);
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(SPHERE, &rng);
		tac_segment x = {random_point(&rng), random_point(&rng)};
		double gap = sphere_segment_gap(&s.sphere, &x);
		if (fabs(gap) >= 10 * EPS)
			TEST_ASSERT_EQUAL(gap <= 0, tac_sphere_meets_segment(&s.sphere, &x, EPS, NULL));
		tac_witness w;
		if (tac_sphere_meets_segment(&s.sphere, &x, EPS, &w))
			TEST_ASSERT_DOUBLE_WITHIN(1e-7, -gap, w.depth);
	}
}

static void sphere_and_triangle_agree_with_barycentric_coordinates(void)
{
	tac_rng rng = tac_rng_seed(4, 0);
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(SPHERE, &rng);
		tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
		double gap = sphere_triangle_gap(&s.sphere, &x);
		if (fabs(gap) >= 10 * EPS)
			TEST_ASSERT_EQUAL(gap <= 0, tac_sphere_meets_triangle(&s.sphere, &x, EPS, NULL));
		tac_witness w;
		if (tac_sphere_meets_triangle(&s.sphere, &x, EPS, &w))
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, -gap, w.depth);
	}
}

static void cylinder_and_segment_agree_with_the_printed_intervals_and_with_the_upright_test(void)
{
	tac_rng rng = tac_rng_seed(5, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CYLINDER, &rng);
		tac_cylinder c = s.cylinder;
		tac_segment x = {random_point(&rng), random_point(&rng)};
		bool hit = tac_cylinder_meets_segment(&c, &x, EPS, NULL);
		hits += hit;
		// A disagreement counts unless moving the radius by 10 eps changes the printed answer.
		bool less = printed_cylinder_segment(&c, &x, c.radius - 10 * EPS);
		bool more = printed_cylinder_segment(&c, &x, c.radius + 10 * EPS);
		if (less == more)
			TEST_ASSERT_EQUAL(less, hit);
		tac_upright u = tac_upright_make(c.p, c.q);
		tac_segment y = {tac_upright_apply(&u, x.a), tac_upright_apply(&u, x.b)};
		tac_upright_cylinder uc = {c.radius, u.height};
		if (hit != tac_upright_cylinder_meets_segment(&uc, &y, EPS, NULL))
			TEST_ASSERT_TRUE(tac_cylinder_meets_segment(&c, &x, 10 * EPS, NULL) &&
					 !tac_cylinder_meets_segment(&c, &x, 0, NULL));
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 50);
}

static void cylinder_and_triangle_agree_with_the_upright_test(void)
{
	tac_rng rng = tac_rng_seed(6, 0);
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CYLINDER, &rng);
		tac_triangle x = {random_point(&rng), random_point(&rng), random_point(&rng)};
		tac_upright u = tac_upright_make(s.cylinder.p, s.cylinder.q);
		tac_triangle y = tac_upright_apply_triangle(&u, &x);
		tac_upright_cylinder c = {s.cylinder.radius, u.height};
		bool hit = tac_cylinder_meets_triangle(&s.cylinder, &x, EPS, NULL);
		if (hit != tac_upright_cylinder_meets_triangle(&c, &y, EPS, NULL))
			TEST_ASSERT_TRUE(tac_cylinder_meets_triangle(&s.cylinder, &x, 10 * EPS, NULL) &&
					 !tac_cylinder_meets_triangle(&s.cylinder, &x, 0, NULL));
	}
}

static void cylinder_and_sphere_agree_with_the_printed_test_and_upright(void)
{
	tac_rng rng = tac_rng_seed(7, 0);
	int hits = 0;
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CYLINDER, &rng);
		tac_sphere ball = {random_point(&rng), tac_rng_range_f64(&rng, 0.02, 0.3)};
		tac_witness w, uw;
		bool hit = tac_cylinder_meets_sphere(&s.cylinder, &ball, EPS, &w);
		bool less = printed_cylinder_sphere(&s.cylinder, &ball, ball.radius - 10 * EPS);
		bool more = printed_cylinder_sphere(&s.cylinder, &ball, ball.radius + 10 * EPS);
		if (less == more)
			TEST_ASSERT_EQUAL(less, hit);
		tac_upright u = tac_upright_make(s.cylinder.p, s.cylinder.q);
		tac_upright_cylinder c = {s.cylinder.radius, u.height};
		tac_sphere upright_ball = {tac_upright_apply(&u, ball.centre), ball.radius};
		bool upright_hit = tac_upright_cylinder_meets_sphere(&c, &upright_ball, EPS, &uw);
		if (less == more)
			TEST_ASSERT_EQUAL(less, upright_hit);
		if (hit && upright_hit) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, w.depth, uw.depth);
			TEST_ASSERT_TRUE(distance_bound(&s, w.point) <= 1e-12);
		}
		hits += hit;
	}
	TEST_ASSERT_TRUE(hits > PAIRS / 50 && hits < PAIRS / 50 * 49);
}

static void cone_and_segment_agree_with_the_projection(void)
{
	tac_rng rng = tac_rng_seed(8, 0);
	int judged = 0;
	for (int i = 0; i < PAIRS; i++) {
		solid s = random_solid(CONE, &rng);
		tac_segment x = {random_point(&rng), random_point(&rng)};
		if (fmin(s.cone.bottom, s.cone.top) < 1e-6)
			continue;
		bool hit = tac_cone_meets_segment(&s.cone, &x, EPS, NULL);
		bool less = projected_cone_segment(&s.cone, &x, -10 * EPS);
		bool more = projected_cone_segment(&s.cone, &x, 10 * EPS);
		if (less == more) {
			judged++;
			TEST_ASSERT_EQUAL(less, hit);
		}
	}
	TEST_ASSERT_TRUE(judged > PAIRS / 2);
}

static void two_spheres_agree_with_the_distance_of_their_centres(void)
{
	tac_rng rng = tac_rng_seed(17, 0);
	for (int i = 0; i < PAIRS; i++) {
		tac_sphere a = {random_point(&rng), .3 * tac_rng_f64(&rng)};
		tac_sphere b = {random_point(&rng), .3 * tac_rng_f64(&rng)};
		tac_dvec3 d = sub(a.centre, b.centre);
		double gap = hypot(hypot(d.x, d.y), d.z) - a.radius - b.radius;
		tac_witness w;
		bool hit = tac_sphere_meets_sphere(&a, &b, EPS, &w);
		if (fabs(gap) >= 10 * EPS)
			TEST_ASSERT_EQUAL(gap <= 0, hit);
		if (hit) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, -gap, w.depth);
			tac_dvec3 off = sub(w.point, b.centre);
			TEST_ASSERT_TRUE(sqrt(dot(off, off)) <= b.radius + 1e-12);
		}
	}
}

static void a_sphere_touches_a_tangent_and_no_line_beyond(void)
{
	tac_sphere s = {vec(0, 0, 0), 1};
	tac_segment touching = segment(-2, 1, 0, 2, 1, 0), beyond = segment(-2, 1 + 1e-6, 0, 2, 1 + 1e-6, 0);
	TEST_ASSERT_TRUE(tac_sphere_meets_segment(&s, &touching, EPS, NULL));
	TEST_ASSERT_TRUE(tac_sphere_meets_segment(&s, &touching, 0, NULL));
	TEST_ASSERT_FALSE(tac_sphere_meets_segment(&s, &beyond, EPS, NULL));
}

static void a_sphere_over_a_large_triangle_reaches_its_radius(void)
{
	tac_triangle t = {vec(-100, -100, 0), vec(100, -100, 0), vec(0, 100, 0)};
	tac_sphere low = {vec(0, 0, .9), 1}, high = {vec(0, 0, 1.1), 1};
	tac_witness w;
	TEST_ASSERT_TRUE(tac_sphere_meets_triangle(&low, &t, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .1, w.depth);
	TEST_ASSERT_FALSE(tac_sphere_meets_triangle(&high, &t, EPS, NULL));
}

static void a_segment_that_leads_away_from_a_cylinder_misses(void)
{
	tac_cylinder c = {vec(0, 0, 0), vec(0, 0, 2), 1};
	tac_upright_cylinder u = {1, 2};
	tac_segment s = segment(1.5, 0, 1, 3.5, 0, 1.5);
	TEST_ASSERT_FALSE(tac_cylinder_meets_segment(&c, &s, EPS, NULL));
	TEST_ASSERT_FALSE(tac_upright_cylinder_meets_segment(&u, &s, EPS, NULL));
}

static void the_nearest_point_to_an_upright_axis_is_in_the_middle(void)
{
	tac_upright_cylinder u = {1, 2};
	tac_segment s = segment(2, .5, 1, -2, .5, 1);
	tac_witness w;
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_segment(&u, &s, EPS, &w));
	TEST_ASSERT_EQUAL_DOUBLE(.5, w.t);
	TEST_ASSERT_TRUE(tac_circle2_meets_segment((tac_point2){0, 0}, 1, (tac_point2){2, .5},
						   (tac_point2){-2, .5}, 0));
	TEST_ASSERT_FALSE(tac_circle2_meets_segment((tac_point2){0, 0}, 1, (tac_point2){2, 1.1},
						    (tac_point2){-2, 1.1}, EPS));
}

static void upright_maps_every_axis_to_z(void)
{
	tac_rng rng = tac_rng_seed(15, 0);
	for (int i = 0; i < 10000; i++) {
		tac_dvec3 p = random_point(&rng), q = random_point(&rng);
		if (i % 8 == 0)
			q = vec(p.x, p.y,
				p.z + (i % 16 == 0 ? 1 : -1) * tac_rng_f64(&rng)); // along z, up or down
		tac_upright u = tac_upright_make(p, q);
		tac_dvec3 image = tac_upright_apply(&u, q);
		double h = tac_dvec3_length(sub(q, p));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, image.x);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, image.y);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, h, image.z);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, h, u.height);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dmat3_det(u.rotation));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dmat3_orthonormality_error(u.rotation));
	}
}

static void a_sphere_beside_the_rim_of_a_cylinder_needs_to_reach_it(void)
{
	tac_cylinder c = {vec(0, 0, 0), vec(0, 0, 2), 1};
	tac_upright_cylinder u = {1, 2};
	tac_sphere small = {vec(1.5, 0, 2.5), .70}, large = {vec(1.5, 0, 2.5), .75};
	TEST_ASSERT_FALSE(tac_cylinder_meets_sphere(&c, &small, EPS, NULL));
	TEST_ASSERT_FALSE(tac_upright_cylinder_meets_sphere(&u, &small, EPS, NULL));
	tac_witness w;
	TEST_ASSERT_TRUE(tac_cylinder_meets_sphere(&c, &large, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .75 - sqrt(.5), w.depth);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, w.point.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, w.point.z);
	TEST_ASSERT_TRUE(tac_upright_cylinder_meets_sphere(&u, &large, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, .75 - sqrt(.5), w.depth);
}

static void a_cone_has_its_radius_half_way_up(void)
{
	tac_cone c = {1, .5, 2};
	tac_segment in = segment(-3, .75, 1, 3, .75, 1), out = segment(-3, .76, 1, 3, .76, 1);
	TEST_ASSERT_TRUE(tac_cone_meets_segment(&c, &in, EPS, NULL));
	TEST_ASSERT_FALSE(tac_cone_meets_segment(&c, &out, EPS, NULL));
}

static void a_cone_ends_in_its_apex(void)
{
	tac_cone c = {1, 0, 2};
	tac_segment in = segment(-1, 0, 2, 1, 0, 2), out = segment(-1, .01, 2, 1, .01, 2);
	TEST_ASSERT_TRUE(tac_cone_meets_segment(&c, &in, EPS, NULL));
	TEST_ASSERT_FALSE(tac_cone_meets_segment(&c, &out, EPS, NULL));
}

static void two_spheres_touch(void)
{
	tac_sphere a = {vec(0, 0, 0), 1}, b = {vec(2, 0, 0), 1}, c = {vec(2, 0, 0), .999};
	tac_witness w;
	TEST_ASSERT_TRUE(tac_sphere_meets_sphere(&a, &b, EPS, &w));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, w.depth);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, w.point.x);
	TEST_ASSERT_FALSE(tac_sphere_meets_sphere(&a, &c, EPS, NULL));
}

static void convex_solids_and_segments_agree_with_golden_section_search(void)
{
	for (kind k = SPHERE; k <= CONVEX; k++) {
		tac_rng rng = tac_rng_seed(9, (uint64_t)k);
		for (int i = 0; i < pairs_over(4); i++) {
			solid s = random_solid(k, &rng);
			tac_segment x = {random_point(&rng), random_point(&rng)};
			double gap = least_along(&s, &x);
			if (fabs(gap) >= 10 * EPS)
				TEST_ASSERT_EQUAL_MESSAGE(gap <= 0, meets_segment(&s, &x, EPS, NULL),
							  kind_names[k]);
		}
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(segments_agree_with_subdivision);
	RUN_TEST(triangles_agree_with_subdivision);
	RUN_TEST(convex_solids_and_segments_agree_with_golden_section_search);
	RUN_TEST(sphere_and_segment_agree_with_the_printed_squares);
	RUN_TEST(sphere_and_triangle_agree_with_barycentric_coordinates);
	RUN_TEST(cylinder_and_segment_agree_with_the_printed_intervals_and_with_the_upright_test);
	RUN_TEST(cylinder_and_triangle_agree_with_the_upright_test);
	RUN_TEST(cylinder_and_sphere_agree_with_the_printed_test_and_upright);
	RUN_TEST(cone_and_segment_agree_with_the_projection);
	RUN_TEST(two_spheres_agree_with_the_distance_of_their_centres);
	RUN_TEST(a_sphere_touches_a_tangent_and_no_line_beyond);
	RUN_TEST(a_sphere_over_a_large_triangle_reaches_its_radius);
	RUN_TEST(a_segment_that_leads_away_from_a_cylinder_misses);
	RUN_TEST(the_nearest_point_to_an_upright_axis_is_in_the_middle);
	RUN_TEST(upright_maps_every_axis_to_z);
	RUN_TEST(a_sphere_beside_the_rim_of_a_cylinder_needs_to_reach_it);
	RUN_TEST(a_cone_has_its_radius_half_way_up);
	RUN_TEST(a_cone_ends_in_its_apex);
	RUN_TEST(two_spheres_touch);
	return UNITY_END();
}
