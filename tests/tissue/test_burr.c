// The signed distance of burrs against brute force: the nearest of many points of the surface.
#include "base/rng.h"
#include "tissue/burr.h"
#include "unity.h"

#include <math.h>

#define PI 3.14159265358979323846

void setUp(void)
{
}

void tearDown(void)
{
}

// Points of the surface of a burr along z from 0 to `length`, numbered by (i, j) of an n by n grid.
static tac_dvec3 surface_point(const tac_burr *b, double length, int part, double u, double phi)
{
	double rho = b->radius, z = u * length;
	if (b->kind == TAC_BURR_CYLINDER && part > 0) {
		rho = b->radius * sqrt(u);
		z = part == 1 ? 0 : length;
	} else if (part > 0) {
		const double angle = 0.5 * PI * u;
		rho = b->radius * cos(angle);
		z = part == 1 ? -b->radius * sin(angle) : length + b->radius * sin(angle);
	}
	return tac_dvec3_make(rho * cos(phi), rho * sin(phi), z);
}

static double brute_force(const tac_burr *b, double length, tac_dvec3 p)
{
	const int n = 200;
	double best = HUGE_VAL;
	for (int part = 0; part < 3; part++) {
		for (int i = 0; i <= n; i++) {
			for (int j = 0; j < n; j++) {
				const tac_dvec3 q =
					surface_point(b, length, part, (double)i / n, 2 * PI * j / n);
				best = fmin(best, tac_dvec3_length(tac_dvec3_sub(p, q)));
			}
		}
	}
	return best;
}

static bool inside(const tac_burr *b, double length, tac_dvec3 p)
{
	const double rho = hypot(p.x, p.y), z = fmin(fmax(p.z, 0), length);
	return b->kind == TAC_BURR_CYLINDER ? rho < b->radius && p.z > 0 && p.z < length
					    : hypot(rho, p.z - z) < b->radius;
}

static void distance_equals_brute_force(const tac_burr *b, double length)
{
	tac_rng rng = tac_rng_seed(3, 1);
	for (int i = 0; i < 60; i++) {
		const tac_dvec3 p =
			tac_dvec3_make(tac_rng_range_f64(&rng, -3, 3), tac_rng_range_f64(&rng, -3, 3),
				       tac_rng_range_f64(&rng, -3, 5));
		tac_dvec3 n;
		const double d = tac_burr_distance(b, p, &n), brute = brute_force(b, length, p);
		// The grid's spacing is 0.03 at most: the nearest grid point may be this much farther.
		TEST_ASSERT_DOUBLE_WITHIN(2e-2, inside(b, length, p) ? -brute : brute, d);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dvec3_length(n));
		// The foot of the point lies on the surface.
		const tac_dvec3 foot = tac_dvec3_add_scaled(p, -d, n);
		tac_dvec3 other;
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_burr_distance(b, foot, &other));
	}
}

static void distance_equals_brute_force_for_all_kinds(void)
{
	const tac_burr ball = {TAC_BURR_ROUND, {0, 0, 0}, {0, 0, 0}, 1};
	const tac_burr capsule = {TAC_BURR_ROUND, {0, 0, 0}, {0, 0, 2}, 1};
	const tac_burr cylinder = {TAC_BURR_CYLINDER, {0, 0, 0}, {0, 0, 2}, 1};
	distance_equals_brute_force(&ball, 0);
	distance_equals_brute_force(&capsule, 2);
	distance_equals_brute_force(&cylinder, 2);
}

static void distance_is_defined_on_the_axis(void)
{
	const tac_burr ball = {TAC_BURR_ROUND, {0, 0, 0}, {0, 0, 0}, 1};
	const tac_burr cylinder = {TAC_BURR_CYLINDER, {0, 0, 0}, {0, 0, 4}, 1};
	tac_dvec3 n;
	TEST_ASSERT_EQUAL_DOUBLE(-1, tac_burr_distance(&ball, tac_dvec3_zero(), &n));
	TEST_ASSERT_EQUAL_DOUBLE(1, tac_dvec3_length(n));
	TEST_ASSERT_EQUAL_DOUBLE(-1, tac_burr_distance(&cylinder, tac_dvec3_make(0, 0, 2), &n));
	TEST_ASSERT_EQUAL_DOUBLE(1, tac_dvec3_length(n));
}

static void placed_burr_moves_with_its_points(void)
{
	const tac_burr b = {TAC_BURR_CYLINDER, {0, 0, 0.1}, {0, 0, 0.4}, 0.05};
	const tac_dpose T = tac_dpose_make(tac_dvec3_make(1, 2, 3), tac_dquat_exp(tac_dvec3_make(0.4, 1, 2)));
	const tac_burr placed = tac_burr_place(&b, T);
	const tac_dvec3 p = tac_dvec3_make(0.03, 0.2, 0.3);
	tac_dvec3 n, m;
	const double d = tac_burr_distance(&b, p, &n);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, d, tac_burr_distance(&placed, tac_dpose_apply_point(T, p), &m));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dvec3_length(tac_dvec3_sub(m, tac_dpose_apply_vector(T, n))));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, hypot(0.4, 0.05), tac_burr_reach(&b));
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(distance_equals_brute_force_for_all_kinds);
	RUN_TEST(distance_is_defined_on_the_axis);
	RUN_TEST(placed_burr_moves_with_its_points);
	return UNITY_END();
}
