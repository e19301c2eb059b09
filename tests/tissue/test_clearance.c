// The distance of round tools from closed meshes (D08), against every triangle: the distance of a segment by
// a search along it, which is a convex function, and inside by the solid angle of the surface.
#include "base/log.h"
#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tissue/clearance.h"
#include "unity.h"

#include <math.h>
#include <string.h>

static tac_mesh *mesh;
static tac_clearance *clearance;
static char logged[256];

void setUp(void)
{
}

void tearDown(void)
{
	tac_clearance_destroy(&clearance);
	tac_mesh_destroy(&mesh);
	tac_log_set(NULL, NULL);
}

static void keep(void *user, tac_log_level level, const char *message)
{
	(void)user, (void)level;
	strncpy(logged, message, sizeof logged - 1);
}

static void prepare(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_clearance_build(mesh, "nerve", &clearance));
}

// ---- the oracle ----

static double point_segment(tac_dvec3 p, tac_dvec3 a, tac_dvec3 b)
{
	const tac_dvec3 ab = tac_dvec3_sub(b, a), ap = tac_dvec3_sub(p, a);
	const double s = fmin(fmax(tac_dvec3_dot(ap, ab) / tac_dvec3_dot(ab, ab), 0), 1);
	return tac_dvec3_length(tac_dvec3_add_scaled(ap, -s, ab));
}

// Over the face the distance from its plane, otherwise that from the nearest edge.
static double point_triangle(tac_dvec3 p, const tac_dvec3 t[3])
{
	const tac_dvec3 n =
		tac_dvec3_normalize(tac_dvec3_cross(tac_dvec3_sub(t[1], t[0]), tac_dvec3_sub(t[2], t[0])));
	bool over = true;
	double least = HUGE_VAL;
	for (int k = 0; k < 3; k++) {
		const tac_dvec3 a = t[k], b = t[(k + 1) % 3];
		over = over &&
		       tac_dvec3_dot(n, tac_dvec3_cross(tac_dvec3_sub(b, a), tac_dvec3_sub(p, a))) >= 0;
		least = fmin(least, point_segment(p, a, b));
	}
	return over ? fabs(tac_dvec3_dot(n, tac_dvec3_sub(p, t[0]))) : least;
}

static double segment_triangle(tac_dvec3 a, tac_dvec3 b, const tac_dvec3 t[3])
{
	double low = 0, high = 1;
	for (int i = 0; i < 60; i++) {
		const double s = low + (high - low) / 3, u = high - (high - low) / 3;
		if (point_triangle(tac_dvec3_lerp(a, b, s), t) < point_triangle(tac_dvec3_lerp(a, b, u), t))
			high = u;
		else
			low = s;
	}
	return point_triangle(tac_dvec3_lerp(a, b, 0.5 * (low + high)), t);
}

static double least_distance(tac_dvec3 a, tac_dvec3 b)
{
	double least = HUGE_VAL;
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		const tac_dvec3 t[3] = {tac_mesh_corner(mesh, i, 0), tac_mesh_corner(mesh, i, 1),
					tac_mesh_corner(mesh, i, 2)};
		// A triangle this far away cannot be the nearest; it would take most of the time.
		const double far = point_triangle(tac_dvec3_lerp(a, b, 0.5), t) -
				   0.5 * tac_dvec3_length(tac_dvec3_sub(b, a));
		if (far < least)
			least = fmin(least, segment_triangle(a, b, t));
	}
	return least;
}

// The solid angle of all triangles (A. Van Oosterom and J. Strackee, 1983): 4 pi inside, 0 outside.
static bool is_inside(tac_dvec3 p)
{
	double sum = 0;
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		tac_dvec3 v[3];
		double r[3];
		for (int k = 0; k < 3; k++) {
			v[k] = tac_dvec3_sub(tac_mesh_corner(mesh, i, k), p);
			r[k] = tac_dvec3_length(v[k]);
		}
		sum += 2 * atan2(tac_dvec3_dot(v[0], tac_dvec3_cross(v[1], v[2])),
				 r[0] * r[1] * r[2] + tac_dvec3_dot(v[0], v[1]) * r[2] +
					 tac_dvec3_dot(v[1], v[2]) * r[0] + tac_dvec3_dot(v[2], v[0]) * r[1]);
	}
	return sum > 6;
}

static double expected(const tac_burr *tool)
{
	double depth = 0;
	if (is_inside(tool->a))
		depth = least_distance(tool->a, tool->a);
	if (is_inside(tool->b))
		depth = fmax(depth, least_distance(tool->b, tool->b));
	return (depth > 0 ? -depth : least_distance(tool->a, tool->b)) - tool->radius;
}

// ---- tests ----

// Bumps on a sphere, so that the mesh is not convex.
static void make_lumpy(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.004F, 2, &mesh));
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		const tac_vec3 v = mesh->vertices[i];
		const float bump = 1 + 0.35F * sinf(1500 * v.x) * cosf(1100 * v.y + 700 * v.z);
		mesh->vertices[i] = tac_vec3_scale(v, bump);
	}
}

// Balls, needles and points around a mesh, in it and through it; searches that remember the last one.
static void compare_with_every_triangle(int rounds, uint64_t seed)
{
	prepare();
	tac_rng rng = tac_rng_seed(seed, 1);
	tac_clearance_search search = {0};
	int inside = 0, crossing = 0, outside = 0;
	for (int i = 0; i < rounds; i++) {
		const double far = tac_rng_f64(&rng) < 0.5 ? 0.005 : 0.02;
		const tac_dvec3 a = tac_dvec3_scale(tac_rng_unit_f64(&rng), far * tac_rng_f64(&rng));
		const double length =
			i % 3 == 0 ? 0 : tac_rng_range_f64(&rng, 1e-4, i % 3 == 1 ? 0.002 : 0.08);
		const tac_burr tool = {TAC_BURR_ROUND, a,
				       tac_dvec3_add_scaled(a, length, tac_rng_unit_f64(&rng)),
				       tac_rng_range_f64(&rng, 1e-5, 2e-3)};
		const double want = expected(&tool);
		search.work = 1000000;
		allocations = 0;
		const double got = tac_clearance_measure(clearance, &tool, HUGE_VAL, &search);
		TEST_ASSERT_EQUAL(0, allocations);
		TEST_ASSERT_FALSE(search.unfinished);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, want, got);
		// With a limit, the smaller of the two.
		const double limit = want + tac_rng_range_f64(&rng, -1e-3, 1e-3);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, fmin(want, limit),
					  tac_clearance_measure(clearance, &tool, limit, &search));
		inside += want < -tool.radius - 1e-8;
		crossing += fabs(want + tool.radius) < 1e-8;
		outside += want > 0;
	}
	TEST_ASSERT_TRUE(inside >= rounds / 20 && crossing > 0 && outside >= rounds / 10);
}

static void distance_from_a_lumpy_body(void)
{
	make_lumpy();
	compare_with_every_triangle(test_rounds(1600), (uint64_t)from_environment("TACTUS_SEED", 1));
}

static void distance_from_a_ring(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.005F, 0.002F, 24, 12, &mesh));
	compare_with_every_triangle(test_rounds(800), (uint64_t)from_environment("TACTUS_SEED", 2));
}

// A ball in, beside and above a box: the closed form, also exactly over edges and corners, where several
// triangles are equally near and a ray passes along edges.
static void distance_from_a_box(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.5F, 0.25F, 1), 4, &mesh));
	prepare();
	const double half[3] = {0.25, 0.125, 0.5};
	tac_clearance_search search = {0};
	for (int i = 0; i < 13 * 13 * 13; i++) {
		const double p[3] = {(i / 169 - 6) * 0.0625, (i / 13 % 13 - 6) * 0.0625,
				     (i % 13 - 6) * 0.125};
		double out = 0, in = -HUGE_VAL;
		for (int k = 0; k < 3; k++) {
			const double beyond = fabs(p[k]) - half[k];
			out = hypot(out, fmax(beyond, 0));
			in = fmax(in, beyond);
		}
		const tac_dvec3 c = tac_dvec3_make(p[0], p[1], p[2]);
		search.work = TAC_CLEARANCE_WORK;
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, (in < 0 ? in : out) - 0.01,
					  tac_clearance_measure(clearance,
								&(tac_burr){TAC_BURR_ROUND, c, c, 0.01},
								HUGE_VAL, &search));
		TEST_ASSERT_FALSE(search.unfinished);
	}
}

// The distance of a triangle from a cylinder by a search in a search: both are convex.
static double cylinder_along(const tac_burr *cylinder, tac_dvec3 p, tac_dvec3 q)
{
	double low = 0, high = 1;
	tac_dvec3 n;
	for (int i = 0; i < 45; i++) {
		const double s = low + (high - low) / 3, u = high - (high - low) / 3;
		if (tac_burr_distance(cylinder, tac_dvec3_lerp(p, q, s), &n) <
		    tac_burr_distance(cylinder, tac_dvec3_lerp(p, q, u), &n))
			high = u;
		else
			low = s;
	}
	return tac_burr_distance(cylinder, tac_dvec3_lerp(p, q, 0.5 * (low + high)), &n);
}

static double cylinder_triangle(const tac_burr *cylinder, const tac_dvec3 t[3])
{
	double low = 0, high = 1;
	for (int i = 0; i < 45; i++) {
		const double s = low + (high - low) / 3, u = high - (high - low) / 3;
		if (cylinder_along(cylinder, tac_dvec3_lerp(t[0], t[1], s), tac_dvec3_lerp(t[0], t[2], s)) <
		    cylinder_along(cylinder, tac_dvec3_lerp(t[0], t[1], u), tac_dvec3_lerp(t[0], t[2], u)))
			high = u;
		else
			low = s;
	}
	const double s = 0.5 * (low + high);
	return cylinder_along(cylinder, tac_dvec3_lerp(t[0], t[1], s), tac_dvec3_lerp(t[0], t[2], s));
}

// A cylindrical burr around and in the lumpy body: outside the distance, where they meet the sign.
static void distance_of_a_cylinder(void)
{
	make_lumpy();
	prepare();
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 3), 1);
	tac_clearance_search search = {0};
	int inside = 0, outside = 0;
	for (int i = 0; i < test_rounds(160); i++) {
		const tac_dvec3 a =
			tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 0.012));
		const tac_burr tool = {
			TAC_BURR_CYLINDER, a,
			tac_dvec3_add_scaled(a, tac_rng_range_f64(&rng, 5e-4, 0.008), tac_rng_unit_f64(&rng)),
			tac_rng_range_f64(&rng, 3e-4, 2e-3)};
		double want = HUGE_VAL;
		for (int32_t k = 0; k < mesh->triangle_count; k++) {
			const tac_dvec3 t[3] = {tac_mesh_corner(mesh, k, 0), tac_mesh_corner(mesh, k, 1),
						tac_mesh_corner(mesh, k, 2)};
			// A triangle this far from the axis cannot be the nearest.
			if (segment_triangle(tool.a, tool.b, t) - tool.radius < want)
				want = fmin(want, cylinder_triangle(&tool, t));
		}
		search.work = 10000000;
		const double got = tac_clearance_measure(clearance, &tool, HUGE_VAL, &search);
		TEST_ASSERT_FALSE(search.unfinished);
		if (want > 1e-8 && !is_inside(tool.a))
			TEST_ASSERT_DOUBLE_WITHIN(1e-8, want, got);
		else if (want < -1e-8 || is_inside(tool.a))
			TEST_ASSERT_TRUE(got < 0);
		inside += got < 0;
		outside += got > 0;
	}
	TEST_ASSERT_TRUE(inside > 0 && outside > 0);
}

// In the middle of a fine sphere all triangles are equally near: the search ends when its work is spent, says
// so, and its distance is that of some triangle.
static void work_is_bounded(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.01F, 6, &mesh));
	prepare();
	const tac_dvec3 middle = tac_dvec3_zero(), beside = tac_dvec3_make(0, 0.003, 0.012);
	tac_clearance_search search = {.work = TAC_CLEARANCE_WORK};
	const double d = tac_clearance_measure(clearance, &(tac_burr){TAC_BURR_ROUND, middle, middle, 0.001},
					       HUGE_VAL, &search);
	TEST_ASSERT_TRUE(search.unfinished && search.work > -64);
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, -0.011, d);
	// Where a drill is told to keep away it finishes, without what was nearest before.
	search = (tac_clearance_search){.work = TAC_CLEARANCE_WORK};
	const tac_dvec3 top = tac_dvec3_make(0.001, 0.003, 0.08);
	const double near = tac_clearance_measure(clearance, &(tac_burr){TAC_BURR_ROUND, beside, top, 0.0005},
						  HUGE_VAL, &search);
	TEST_ASSERT_FALSE(search.unfinished);
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, hypot(0.003, 0.012) - 0.0105, near);
	search.work = 0;
	tac_clearance_measure(clearance, &(tac_burr){TAC_BURR_ROUND, beside, top, 0.0005}, HUGE_VAL, &search);
	TEST_ASSERT_TRUE(search.unfinished);
}

static void an_open_mesh_is_refused(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.01F, 0.01F, 4, 4, &mesh));
	tac_log_set(keep, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_clearance_build(mesh, "nerve", &clearance));
	TEST_ASSERT_NULL(clearance);
	TEST_ASSERT_EQUAL_STRING("nerve: expected a closed mesh, which has an inside, found an open one",
				 logged);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(distance_from_a_lumpy_body);
	RUN_TEST(distance_from_a_ring);
	RUN_TEST(distance_from_a_box);
	RUN_TEST(distance_of_a_cylinder);
	RUN_TEST(work_is_bounded);
	RUN_TEST(an_open_mesh_is_refused);
	return UNITY_END();
}
