// Mesh queries against closed forms: spheres, boxes and tori enclose what their formulas say, and the smooth
// surface of a symmetric mesh is known exactly.
#include "base/rng.h"
#include "collision/mesh_query.h"
#include "collision/mesh_shapes.h"
#include "collision/mesh_smooth.h"

#include <math.h>
#include <stdlib.h>
#include <unity.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void assert_near(tac_dvec3 expected, tac_dvec3 found, double tolerance)
{
	TEST_ASSERT_DOUBLE_WITHIN(tolerance, 0, tac_dvec3_length(tac_dvec3_sub(expected, found)));
}

// ---- winding number ----

// Summed in two parts, as a caller with a budget does.
static int32_t winding_of(const tac_mesh *mesh, tac_dvec3 point)
{
	const int32_t half = mesh->triangle_count / 2;
	int32_t winding = 0;
	tac_mesh_winding_add(mesh, 0, half, &point, 1, &winding);
	tac_mesh_winding_add(mesh, half, mesh->triangle_count, &point, 1, &winding);
	return winding;
}

static double box_radius(tac_dvec3 p)
{
	return fmax(fmax(fabs(p.x), fabs(p.y)), fabs(p.z));
}

// Half of the points lie on a lattice, straight below and above corners and edges of the meshes. Points
// closer to a surface than its facets are to the formula are not compared.
static void a_closed_mesh_winds_once_around_what_it_encloses(void)
{
	tac_mesh *box, *torus, *ball, *offset_box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.2F, 0.2F, 0.2F), 10, &box));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.06F, 0.03F, 64, 64, &torus));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.05F, 4, &ball));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.1F, 0.1F, 0.1F), 4, &offset_box));
	tac_rng rng = tac_rng_seed(7, 3);
	int inside[4] = {0}, inside_both = 0;
	for (int i = 0; i < 6000; i++) {
		double x[3];
		for (int k = 0; k < 3; k++)
			x[k] = i % 2 ? 0.01 * (double)((int)tac_rng_below(&rng, 27) - 13)
				     : tac_rng_range_f64(&rng, -0.13, 0.13);
		const tac_dvec3 p = tac_dvec3_load(x), q = tac_dvec3_sub(p, tac_dvec3_make(0.04, 0, 0));
		const double tube = hypot(hypot(p.x, p.y) - 0.06, p.z);
		const struct {
			const tac_mesh *mesh;
			tac_dvec3 point;
			double depth_m, facet_error_m;
		} cases[4] = {
			{box, p, 0.1 - box_radius(p), 1e-6},
			{torus, p, 0.03 - tube, 1e-3},
			{ball, p, 0.05 - tac_dvec3_length(p), 1e-3},
			{offset_box, q, 0.05 - box_radius(q), 1e-6},
		};
		bool compared[4];
		for (int c = 0; c < 4; c++) {
			compared[c] = fabs(cases[c].depth_m) >= cases[c].facet_error_m;
			if (compared[c])
				TEST_ASSERT_EQUAL_INT32(cases[c].depth_m > 0,
							winding_of(cases[c].mesh, cases[c].point));
			inside[c] += compared[c] && cases[c].depth_m > 0;
		}
		// The winding numbers of overlapping meshes add.
		if (compared[2] && compared[3]) {
			int32_t sum = winding_of(ball, p);
			tac_mesh_winding_add(offset_box, 0, offset_box->triangle_count, &q, 1, &sum);
			TEST_ASSERT_EQUAL_INT32((cases[2].depth_m > 0) + (cases[3].depth_m > 0), sum);
			inside_both += sum == 2;
		}
	}
	for (int c = 0; c < 4; c++)
		TEST_ASSERT_GREATER_THAN(100, inside[c]);
	TEST_ASSERT_GREATER_THAN(50, inside_both);
	tac_mesh_destroy(&box);
	tac_mesh_destroy(&torus);
	tac_mesh_destroy(&ball);
	tac_mesh_destroy(&offset_box);
}

static void several_points_are_counted_at_once(void)
{
	tac_mesh *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(2, 2, 2), 3, &box));
	const tac_dvec3 points[3] = {{0.1, 0.2, 0}, {0, 0, 3}, {0, 0, -3}};
	int32_t winding[3] = {10, 20, 30};
	tac_mesh_winding_add(box, 0, box->triangle_count, points, 3, winding);
	TEST_ASSERT_EQUAL_INT32(11, winding[0]);
	TEST_ASSERT_EQUAL_INT32(20, winding[1]);
	TEST_ASSERT_EQUAL_INT32(30, winding[2]);
	tac_mesh_destroy(&box);
}

// ---- smooth surface ----

static tac_dvec3 corner(const tac_mesh *mesh, int32_t triangle, int k)
{
	return tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[triangle].vertex[k]]);
}

static tac_dvec3 middle(const tac_mesh *mesh, int32_t triangle)
{
	const tac_dvec3 sum = tac_dvec3_add(corner(mesh, triangle, 0), corner(mesh, triangle, 1));
	return tac_dvec3_scale(tac_dvec3_add(sum, corner(mesh, triangle, 2)), 1.0 / 3);
}

static tac_result smooth_build(const tac_mesh *mesh, double crease_rad, tac_mesh_smooth **out_smooth)
{
	double *crease = malloc((size_t)mesh->surface_count * sizeof *crease);
	for (int32_t i = 0; i < mesh->surface_count; i++)
		crease[i] = crease_rad;
	const tac_result result = tac_mesh_smooth_build(mesh, crease, out_smooth);
	free(crease);
	return result;
}

// The normals of vertices on a sphere are radial, however the facets around them differ in shape. The facets
// of the icosahedron meet at 42 degrees.
static void corner_normals_of_balls_are_radial(void)
{
	for (int32_t level = 0; level <= 3; level++) {
		tac_mesh *mesh;
		tac_mesh_smooth *smooth;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.3F, level, &mesh));
		TEST_ASSERT_EQUAL(TAC_OK, smooth_build(mesh, 0.8, &smooth));
		for (int32_t t = 0; t < mesh->triangle_count; t++) {
			for (int k = 0; k < 3; k++)
				assert_near(tac_dvec3_normalize(corner(mesh, t, k)),
					    tac_dvec3_from_vec3(smooth->normals[3 * t + k]),
					    level ? 1e-5 : 1e-6);
		}
		tac_mesh_smooth_destroy(&smooth);
		tac_mesh_destroy(&mesh);
	}
}

// A box has a surface for each face, so its edges are creases.
static void corner_normals_do_not_mix_across_a_crease(void)
{
	tac_mesh *mesh;
	tac_mesh_smooth *smooth;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 2, 3), 2, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, smooth_build(mesh, TAC_MESH_CREASE_RAD, &smooth));
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const tac_mesh_location at = tac_mesh_locate(mesh, NULL, t, middle(mesh, t));
		for (int k = 0; k < 3; k++)
			assert_near(at.facet_normal, tac_dvec3_from_vec3(smooth->normals[3 * t + k]), 1e-6);
	}
	tac_mesh_smooth_destroy(&smooth);
	tac_mesh_destroy(&mesh);
}

static void without_corner_normals_the_triangle_is_kept_and_its_plane_is_measured(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 4, 4, &mesh));
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const tac_mesh_location at = tac_mesh_locate(mesh, NULL, t, tac_dvec3_make(0.3, -0.2, 0.07));
		TEST_ASSERT_EQUAL_INT32(t, at.triangle);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.07, at.height_m);
		assert_near(tac_dvec3_make(0, 0, 1), at.facet_normal, 1e-12);
		assert_near(at.facet_normal, at.smooth_normal, 0);
	}
	tac_mesh_destroy(&mesh);
}

// On a flat grid the triangle below a point is the one whose square and half the point lies in.
static void the_walk_ends_at_the_triangle_below_the_point(void)
{
	tac_mesh *mesh;
	tac_mesh_smooth *smooth;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 4, 4, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, smooth_build(mesh, TAC_MESH_CREASE_RAD, &smooth));
	tac_rng rng = tac_rng_seed(2, 9);
	for (int i = 0; i < 500; i++) {
		const int32_t start = (int32_t)tac_rng_below(&rng, (uint32_t)mesh->triangle_count);
		const tac_dvec3 from = middle(mesh, start);
		// At most half a square away along each axis: three triangles of the walk.
		const tac_dvec3 p = tac_dvec3_make(from.x + tac_rng_range_f64(&rng, -0.12, 0.12),
						   from.y + tac_rng_range_f64(&rng, -0.12, 0.12), -0.02);
		const tac_mesh_location at = tac_mesh_locate(mesh, smooth, start, p);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.02, at.height_m);
		assert_near(tac_dvec3_make(0, 0, 1), at.smooth_normal, 1e-6);
		if (fabs(p.x) > 0.5 || fabs(p.y) > 0.5)
			continue; // beside the grid
		const tac_dvec3 foot = tac_dvec3_make(p.x, p.y, 0);
		double area = 0; // of the three triangles from the foot to the edges
		for (int k = 0; k < 3; k++)
			area += tac_dvec3_length(
				tac_dvec3_cross(tac_dvec3_sub(corner(mesh, at.triangle, k), foot),
						tac_dvec3_sub(corner(mesh, at.triangle, (k + 1) % 3), foot)));
		TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.25 * 0.25, area);
	}
	tac_mesh_smooth_destroy(&smooth);
	tac_mesh_destroy(&mesh);
}

static void the_walk_does_not_cross_a_crease(void)
{
	tac_mesh *mesh;
	tac_mesh_smooth *smooth;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 1, 1), 3, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, smooth_build(mesh, TAC_MESH_CREASE_RAD, &smooth));
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const tac_mesh_location at = tac_mesh_locate(mesh, smooth, t, tac_dvec3_make(0.7, 0.8, 0.9));
		TEST_ASSERT_EQUAL_INT32(mesh->triangle_surface[t], mesh->triangle_surface[at.triangle]);
	}
	tac_mesh_smooth_destroy(&smooth);
	tac_mesh_destroy(&mesh);
}

// Along any ray from the centre of a fine ball the smooth normal is within a fraction of the facets' angle
// (2.5 degrees here) of the ray, and it changes continuously across the edges.
static void the_smooth_normal_of_a_ball_is_radial_and_continuous(void)
{
	tac_mesh *mesh;
	tac_mesh_smooth *smooth;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.05F, 4, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, smooth_build(mesh, TAC_MESH_CREASE_RAD, &smooth));
	int32_t triangle = 0, changes = 0;
	tac_dvec3 previous = tac_dvec3_zero();
	for (int i = 0; i < 20000; i++) {
		const double a = 3e-4 * i, b = 0.4 * sin(0.7e-4 * i);
		const tac_dvec3 ray = tac_dvec3_make(cos(a) * cos(b), sin(a) * cos(b), sin(b));
		// The walk reaches 8 triangles far: begin near, then follow.
		for (int k = 0; i == 0 && k < 100; k++)
			triangle =
				tac_mesh_locate(mesh, smooth, triangle, tac_dvec3_scale(ray, 0.05)).triangle;
		const tac_mesh_location at =
			tac_mesh_locate(mesh, smooth, triangle, tac_dvec3_scale(ray, 0.05));
		TEST_ASSERT_DOUBLE_WITHIN(5e-5, 4e-5, at.height_m); // under the arc of a facet
		assert_near(ray, at.smooth_normal, 0.004);
		if (i > 0)
			assert_near(previous, at.smooth_normal, 2 * 3e-4);
		changes += at.triangle != triangle;
		triangle = at.triangle;
		previous = at.smooth_normal;
	}
	TEST_ASSERT_GREATER_THAN(100, changes);
	tac_mesh_smooth_destroy(&smooth);
	tac_mesh_destroy(&mesh);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_closed_mesh_winds_once_around_what_it_encloses);
	RUN_TEST(several_points_are_counted_at_once);
	RUN_TEST(corner_normals_of_balls_are_radial);
	RUN_TEST(corner_normals_do_not_mix_across_a_crease);
	RUN_TEST(without_corner_normals_the_triangle_is_kept_and_its_plane_is_measured);
	RUN_TEST(the_walk_ends_at_the_triangle_below_the_point);
	RUN_TEST(the_walk_does_not_cross_a_crease);
	RUN_TEST(the_smooth_normal_of_a_ball_is_radial_and_continuous);
	return UNITY_END();
}
