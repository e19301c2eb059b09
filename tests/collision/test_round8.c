#include "collision/engines/round8.h"

#include "base/rng.h"
#include "collision/geometry/primitives.h"
#include "tests/support/limits.h"

#include <math.h>
#include <unity.h>

enum { LEAVES = TAC_TEST_SANITIZED ? 5000 : 40000 };

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_dvec3 point(tac_rng *rng, double size)
{
	double x = tac_rng_range_f64(rng, -size, size), y = tac_rng_range_f64(rng, -size, size);
	return tac_dvec3_make(x, y, tac_rng_range_f64(rng, -size, size));
}

// Triangles of many sizes and shapes around the origin, some without area.
static void random_leaf(tac_rng *rng, double size, tac_leaf8 *out)
{
	*out = (tac_leaf8){.longest = 0};
	for (int lane = 0; lane < TAC_RTREE_MAX; lane++) {
		double edge = size * pow(10, tac_rng_range_f64(rng, -3, 0));
		tac_dvec3 v[3], at = point(rng, size);
		for (int k = 0; k < 3; k++)
			v[k] = tac_dvec3_add(at, point(rng, edge));
		switch (tac_rng_below(rng, 12)) {
		case 0: // a needle
			v[2] = tac_dvec3_lerp(v[0], v[1], tac_rng_f64(rng));
			break;
		case 1: // an edge without length
			v[1] = v[0];
			break;
		case 2: // a point
			v[1] = v[2] = v[0];
			break;
		default:
			break;
		}
		for (int k = 0; k < 3; k++) {
			out->v[k][0][lane] = (float)v[k].x;
			out->v[k][1][lane] = (float)v[k].y;
			out->v[k][2][lane] = (float)v[k].z;
		}
	}
}

static tac_triangle triangle_of(const tac_leaf8 *leaf, int lane)
{
	tac_dvec3 v[3];
	for (int k = 0; k < 3; k++)
		v[k] = tac_dvec3_make((double)leaf->v[k][0][lane], (double)leaf->v[k][1][lane],
				      (double)leaf->v[k][2][lane]);
	return (tac_triangle){v[0], v[1], v[2]};
}

// The distance of a segment and a triangle in double precision: 0 if the segment pierces the triangle,
// otherwise that of an end to the triangle or of the segment to an edge.
static double distance(const tac_segment *s, const tac_triangle *t)
{
	if (tac_triangle_meets_segment(t, s, 0, NULL))
		return 0;
	const tac_segment edges[3] = {{t->a, t->b}, {t->b, t->c}, {t->c, t->a}};
	double least = fmin(tac_dvec3_length(tac_dvec3_sub(tac_triangle_nearest(t, s->a), s->a)),
			    tac_dvec3_length(tac_dvec3_sub(tac_triangle_nearest(t, s->b), s->b)));
	for (int k = 0; k < 3; k++)
		least = fmin(least, sqrt(tac_segment_distance_squared(s, &edges[k])));
	return least;
}

// Checks that all decisions are correct, that all variants decide alike, and that few lanes are undecided.
static void check(bool sphere, double size, double most_undecided)
{
	tac_rng rng = tac_rng_seed(1, sphere);
	int64_t hits = 0, misses = 0, undecided_lanes = 0;
	for (int i = 0; i < LEAVES; i++) {
		tac_leaf8 leaf;
		random_leaf(&rng, size, &leaf);
		tac_dvec3 a = point(&rng, size);
		tac_segment s = {a, sphere ? a : tac_dvec3_add(a, point(&rng, size * tac_rng_f64(&rng)))};
		double radius = size * pow(10, tac_rng_range_f64(&rng, -1.5, 0.2));
		if (i % 2 != 0) { // nearly touching
			tac_triangle t = triangle_of(&leaf, 0);
			double off = pow(10, tac_rng_range_f64(&rng, -9, -2));
			radius = distance(&s, &t) * (1 + (i % 4 == 1 ? off : -off));
		}
		double eps = tac_primitive_eps(2 * size);
		tac_round8 round = tac_round8_make(s.a, s.b, radius, 2 * size, eps);
		TEST_ASSERT_EQUAL(sphere, round.is_sphere);
		unsigned undecided, lanes = tac_rng_u32(&rng) & 0xFF;
		unsigned hit = tac_round8_of(TAC_SIMD_SCALAR)(&round, &leaf, lanes, &undecided);
		TEST_ASSERT_EQUAL(0, hit & undecided);
		TEST_ASSERT_EQUAL(0, (hit | undecided) & ~lanes);
		for (int v = 1; v < TAC_SIMD_COUNT; v++) {
			unsigned undecided_v;
			if (!tac_simd_supported((tac_simd)v))
				continue;
			TEST_ASSERT_EQUAL(hit,
					  tac_round8_of((tac_simd)v)(&round, &leaf, lanes, &undecided_v));
			TEST_ASSERT_EQUAL(undecided, undecided_v);
		}
		for (int lane = 0; lane < TAC_RTREE_MAX; lane++) {
			if ((lanes >> lane & 1) == 0)
				continue;
			if (undecided >> lane & 1) {
				undecided_lanes++;
				continue;
			}
			tac_triangle t = triangle_of(&leaf, lane);
			double gap = distance(&s, &t) - radius;
			TEST_ASSERT_TRUE((hit >> lane & 1) != 0 ? gap < 0 : gap > 4 * eps);
			hits += hit >> lane & 1;
			misses += (hit >> lane & 1) == 0;
		}
	}
	TEST_ASSERT_TRUE(most_undecided == 1 || (hits > LEAVES / 5 && misses > LEAVES / 5));
	TEST_ASSERT_TRUE((double)undecided_lanes <= most_undecided * (double)(hits + misses));
}

static void a_sphere_is_decided_correctly(void)
{
	check(true, 1, 0.1);
}

static void a_capsule_is_decided_correctly(void)
{
	check(false, 1, 0.1);
}

static void huge_and_tiny_solids_are_decided_correctly(void)
{
	for (int sphere = 0; sphere < 2; sphere++) {
		check(sphere, 1e7, 0.1);
		check(sphere, 1e-5, 0.1);
		// Squares outside the range of float are left undecided.
		check(sphere, 1e-9, 1);
	}
}

static void coordinates_out_of_range_are_left_open(void)
{
	tac_leaf8 leaf;
	tac_rng rng = tac_rng_seed(2, 0);
	random_leaf(&rng, 1e30, &leaf);
	tac_round8 round = tac_round8_make(tac_dvec3_zero(), tac_dvec3_zero(), 1e30, 1e30, 0);
	for (int v = 0; v < TAC_SIMD_COUNT; v++) {
		unsigned undecided;
		if (!tac_simd_supported((tac_simd)v))
			continue;
		TEST_ASSERT_EQUAL(0, tac_round8_of((tac_simd)v)(&round, &leaf, 0xFF, &undecided));
		TEST_ASSERT_EQUAL(0xFF, undecided);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_sphere_is_decided_correctly);
	RUN_TEST(a_capsule_is_decided_correctly);
	RUN_TEST(huge_and_tiny_solids_are_decided_correctly);
	RUN_TEST(coordinates_out_of_range_are_left_open);
	return UNITY_END();
}
