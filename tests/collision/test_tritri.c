#include "collision/geometry/predicate.h"
#include "collision/geometry/tritri.h"
#include "tests/support/integers.h"

#include "unity.h"

#include <stdint.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static uint64_t state = 88172645463325252U;

static uint32_t random_below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) * n >> 32);
}

// The oracle: separating axes in integer arithmetic, exact for |coordinate| ≤ 1e4.
static bool axis_separates(ivec n, const ivec *a, const ivec *b)
{
	int64_t lo[2] = {INT64_MAX, INT64_MAX}, hi[2] = {INT64_MIN, INT64_MIN};
	for (int k = 0; k < 3; k++) {
		int64_t d[2] = {idot(n, a[k]), idot(n, b[k])};
		for (int s = 0; s < 2; s++) {
			lo[s] = d[s] < lo[s] ? d[s] : lo[s];
			hi[s] = d[s] > hi[s] ? d[s] : hi[s];
		}
	}
	return hi[0] < lo[1] || hi[1] < lo[0];
}

static bool oracle(const ivec *a, const ivec *b)
{
	ivec ea[3], eb[3];
	for (int k = 0; k < 3; k++) {
		ea[k] = isub(a[(k + 1) % 3], a[k]);
		eb[k] = isub(b[(k + 1) % 3], b[k]);
	}
	ivec na = icross(ea[0], ea[1]), nb = icross(eb[0], eb[1]);
	if (axis_separates(na, a, b) || axis_separates(nb, a, b))
		return false;
	for (int i = 0; i < 3; i++) {
		if (axis_separates(icross(na, ea[i]), a, b) || axis_separates(icross(nb, eb[i]), a, b))
			return false;
		for (int j = 0; j < 3; j++)
			if (axis_separates(icross(ea[i], eb[j]), a, b))
				return false;
	}
	return true;
}

static bool has_area(const ivec *t)
{
	ivec n = icross(isub(t[1], t[0]), isub(t[2], t[0]));
	return n.x != 0 || n.y != 0 || n.z != 0;
}

static void random_triangle(ivec *t, uint32_t n)
{
	do {
		for (int k = 0; k < 3; k++)
			t[k] = (ivec){random_below(n), random_below(n), random_below(n)};
	} while (!has_area(t));
}

// Grid points as doubles, scaled and offset. The conversion is exact, so the oracle's result holds.
static void to_double(const ivec *t, double scale, double offset, tac_tri64 *out)
{
	for (int k = 0; k < 3; k++) {
		out->v[k][0] = offset + scale * (double)t[k].x;
		out->v[k][1] = offset + scale * (double)t[k].y;
		out->v[k][2] = offset + scale * (double)t[k].z;
	}
}

static void compare_on_grid(int pairs, uint32_t grid, double scale, double offset)
{
	int hits = 0;
	for (int i = 0; i < pairs; i++) {
		ivec a[3], b[3];
		random_triangle(a, grid);
		random_triangle(b, grid);
		tac_tri64 da, db;
		to_double(a, scale, offset, &da);
		to_double(b, scale, offset, &db);
		bool expected = oracle(a, b);
		hits += expected;
		TEST_ASSERT_EQUAL(expected, tac_tritri_closed(&da, &db));
		TEST_ASSERT_EQUAL(expected, tac_tritri_closed(&db, &da));
	}
	TEST_ASSERT_GREATER_THAN(pairs / 20, hits);
}

static void closed_mode_agrees_with_exact_separating_axes_on_a_tiny_grid(void)
{
	compare_on_grid(100000, 4, 1.0, 0.0);
}

static void closed_mode_agrees_on_larger_grids(void)
{
	compare_on_grid(50000, 9, 1.0, -3.0);
	compare_on_grid(50000, 8000, 1.0, 0.0);
}

static void closed_mode_is_exact_where_the_filter_cannot_decide(void)
{
	// Steps of 2^-40 at 1000: differences are exact, but single precision cannot resolve the grid.
	compare_on_grid(50000, 5, 0x1p-40, 1000.0);
	compare_on_grid(20000, 5, 0x1p-20, 0.0);
	compare_on_grid(20000, 5, 0x1p+20, 0.0);
}

static void orientation_sees_one_unit_in_the_last_place(void)
{
	// d lies in the plane x + y + z = 1 up to the last bit of one coordinate: below the filter's bound.
	const double a[3] = {1.0, 0.0, 0.0}, b[3] = {0.0, 1.0, 0.0}, c[3] = {0.0, 0.0, 1.0};
	double d[3] = {0.5, 0.25, 0.25};
	TEST_ASSERT_EQUAL(0, tac_predicate_orient3d(a, b, c, d));
	d[0] = 0.5 + 0x1p-53;
	int above = tac_predicate_orient3d(a, b, c, d);
	d[0] = 0.5 - 0x1p-54;
	int below = tac_predicate_orient3d(a, b, c, d);
	TEST_ASSERT_EQUAL(-1, above * below);

	// Differences that are not exact: 1e30 swallows the 1 in plain arithmetic.
	const double p[2] = {1e30, 1e30}, q[2] = {-1e30, -1e30};
	const double on[2] = {1.0, 1.0}, left[2] = {1.0, 1.0 + 0x1p-52}, right[2] = {1.0, 1.0 - 0x1p-53};
	TEST_ASSERT_EQUAL(0, tac_predicate_orient2d(p, q, on));
	TEST_ASSERT_EQUAL(-1, tac_predicate_orient2d(p, q, left));
	TEST_ASSERT_EQUAL(1, tac_predicate_orient2d(p, q, right));
}

static void a_triangle_one_unit_in_the_last_place_above_a_plane_does_not_touch_it(void)
{
	const tac_tri64 b = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	tac_tri64 a = {{{0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}}};
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &b));
	for (int k = 0; k < 3; k++)
		a.v[k][k] += 0x1p-53;
	TEST_ASSERT_FALSE(tac_tritri_closed(&a, &b));
	TEST_ASSERT_FALSE(tac_tritri_closed(&b, &a));
	a.v[0][0] = 0.5; // one vertex back in the plane
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &b));
}

static void coplanar_triangles_hit_when_they_overlap_or_nest(void)
{
	const tac_tri64 a = {{{0, 0, 1}, {4, 0, 1}, {0, 4, 1}}};
	const tac_tri64 overlapping = {{{1, 1, 1}, {5, 1, 1}, {1, 5, 1}}};
	const tac_tri64 disjoint = {{{4, 4, 1}, {5, 4, 1}, {4, 5, 1}}};
	const tac_tri64 nested = {{{1, 1, 1}, {1.5, 1, 1}, {1, 1.5, 1}}};
	const tac_tri64 touching = {{{4, 0, 1}, {5, 0, 1}, {5, 1, 1}}};
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &overlapping));
	TEST_ASSERT_FALSE(tac_tritri_closed(&a, &disjoint));
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &nested));
	TEST_ASSERT_TRUE(tac_tritri_closed(&nested, &a));
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &touching));
}

static void a_triangle_collapsed_to_a_segment_or_point_is_decided(void)
{
	const tac_tri64 a = {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
	const tac_tri64 piercing = {{{1, 1, -1}, {1, 1, 1}, {1, 1, 0.5}}};
	const tac_tri64 beside = {{{3, 3, -1}, {3, 3, 1}, {3, 3, 0.5}}};
	const tac_tri64 inside = {{{1, 1, 0}, {2, 1, 0}, {1.5, 1, 0}}};
	const tac_tri64 in_plane_beside = {{{-1, 4, 0}, {2, 7, 0}, {0, 5, 0}}};
	const tac_tri64 through_plane = {{{-1, 1, 0}, {5, 1, 0}, {2, 1, 0}}};
	const tac_tri64 point = {{{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}};
	const tac_tri64 point_off = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
	const tac_tri64 point_out = {{{3, 3, 0}, {3, 3, 0}, {3, 3, 0}}};
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &piercing));
	TEST_ASSERT_FALSE(tac_tritri_closed(&a, &beside));
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &inside));
	TEST_ASSERT_FALSE(tac_tritri_closed(&in_plane_beside, &a));
	TEST_ASSERT_TRUE(tac_tritri_closed(&through_plane, &a));
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &point));
	TEST_ASSERT_FALSE(tac_tritri_closed(&point_off, &a));
	TEST_ASSERT_FALSE(tac_tritri_closed(&a, &point_out));
}

static void unit_map_sends_a_triangle_to_the_unit_triangle(void)
{
	static const float unit[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
	for (int i = 0; i < 1000; i++) {
		tac_tri32 w;
		for (int k = 0; k < 9; k++)
			w.v[k / 3][k % 3] = (float)random_below(2001) * 1e-3F - 1.0F;
		float e1[3], e2[3], n[3], n2 = 0.0F;
		for (int k = 0; k < 3; k++) {
			e1[k] = w.v[1][k] - w.v[0][k];
			e2[k] = w.v[2][k] - w.v[0][k];
		}
		for (int k = 0; k < 3; k++) {
			n[k] = e1[(k + 1) % 3] * e2[(k + 2) % 3] - e1[(k + 2) % 3] * e2[(k + 1) % 3];
			n2 += n[k] * n[k];
		}
		if (n2 < 0.25F)
			continue; // the error of a sliver's map grows with its condition number
		tac_unitmap map;
		TEST_ASSERT_TRUE(tac_unitmap_build(&w, &map));
		for (int k = 0; k < 3; k++) {
			float u[3];
			tac_unitmap_apply(&map, w.v[k], u);
			for (int c = 0; c < 3; c++)
				TEST_ASSERT_FLOAT_WITHIN(1e-6F, unit[k][c], u[c]);
		}
	}
	const tac_tri32 line = {{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}};
	tac_unitmap map;
	TEST_ASSERT_FALSE(tac_unitmap_build(&line, &map));
}

static void equation_4_hits_inside_and_misses_outside_in_both_senses(void)
{
	const float p[3] = {0.25F, 0.25F, -1.0F}, q[3] = {0.25F, 0.25F, 1.0F};
	TEST_ASSERT_TRUE(tac_tritri_pierces(p, q));
	TEST_ASSERT_TRUE(tac_tritri_pierces(q, p));
	const float r[3] = {0.6F, 0.6F, -1.0F}, s[3] = {0.6F, 0.6F, 1.0F};
	TEST_ASSERT_FALSE(tac_tritri_pierces(r, s));
	TEST_ASSERT_FALSE(tac_tritri_pierces(s, r));
}

static bool paper(const tac_tri32 *a, const tac_tri32 *b)
{
	tac_unitmap map_a, map_b;
	TEST_ASSERT_TRUE(tac_unitmap_build(a, &map_a));
	TEST_ASSERT_TRUE(tac_unitmap_build(b, &map_b));
	return tac_tritri_paper(a, &map_a, b, &map_b);
}

static void closed_mode_hits_where_paper_mode_misses(void)
{
	const tac_tri64 a = {{{0, 0, 0}, {2, 0, 2}, {2, 0, -2}}};
	const tac_tri64 b = {{{1, 0, 0}, {-1, -2, 0}, {-1, 2, 0}}};
	const tac_tri32 fa = {{{0, 0, 0}, {2, 0, 2}, {2, 0, -2}}};
	const tac_tri32 fb = {{{1, 0, 0}, {-1, -2, 0}, {-1, 2, 0}}};
	TEST_ASSERT_TRUE(tac_tritri_closed(&a, &b));
	TEST_ASSERT_FALSE(paper(&fa, &fb));
}

static void paper_mode_agrees_in_general_position(void)
{
	int differences = 0;
	for (int i = 0; i < 20000; i++) {
		ivec a[3], b[3];
		random_triangle(a, 8000);
		random_triangle(b, 8000);
		tac_tri32 fa, fb;
		for (int k = 0; k < 3; k++) {
			const float va[3] = {(float)a[k].x, (float)a[k].y, (float)a[k].z};
			const float vb[3] = {(float)b[k].x, (float)b[k].y, (float)b[k].z};
			memcpy(fa.v[k], va, sizeof va);
			memcpy(fb.v[k], vb, sizeof vb);
		}
		differences += oracle(a, b) != paper(&fa, &fb);
	}
	// Float rounding may flip a few grazing pairs in 20,000.
	TEST_ASSERT_LESS_THAN(8, differences);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(closed_mode_agrees_with_exact_separating_axes_on_a_tiny_grid);
	RUN_TEST(closed_mode_agrees_on_larger_grids);
	RUN_TEST(closed_mode_is_exact_where_the_filter_cannot_decide);
	RUN_TEST(orientation_sees_one_unit_in_the_last_place);
	RUN_TEST(a_triangle_one_unit_in_the_last_place_above_a_plane_does_not_touch_it);
	RUN_TEST(coplanar_triangles_hit_when_they_overlap_or_nest);
	RUN_TEST(a_triangle_collapsed_to_a_segment_or_point_is_decided);
	RUN_TEST(unit_map_sends_a_triangle_to_the_unit_triangle);
	RUN_TEST(equation_4_hits_inside_and_misses_outside_in_both_senses);
	RUN_TEST(closed_mode_hits_where_paper_mode_misses);
	RUN_TEST(paper_mode_agrees_in_general_position);
	return UNITY_END();
}
