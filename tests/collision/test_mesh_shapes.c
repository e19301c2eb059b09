// Generated shapes against closed forms: Euler characteristic, area and volume of the polyhedra, not of the
// smooth bodies that they approximate.
#include "base/log.h"
#include "collision/mesh_shapes.h"

#include "unity.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static int log_lines;

static void count_line(void *user, tac_log_level level, const char *message)
{
	(void)user;
	(void)level;
	TEST_ASSERT_NULL(strchr(message, '\n'));
	log_lines++;
}

void setUp(void)
{
	log_lines = 0;
	tac_log_set(count_line, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static void expect_close(double expected, double actual, double relative)
{
	TEST_ASSERT_DOUBLE_WITHIN(relative * fabs(expected), expected, actual);
}

// Checks the invariants of every closed shape with `genus` handles.
static void expect_closed(const tac_mesh *mesh, int genus)
{
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_EQUAL_INT(0, mesh->degenerate_triangles);
	TEST_ASSERT_EQUAL_INT(0, mesh->duplicate_triangles);
	TEST_ASSERT_EQUAL_INT(2 - 2 * genus, mesh->vertex_count - mesh->edge_count + mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(3 * mesh->triangle_count, 2 * mesh->edge_count);
	int32_t triangles = 0;
	for (int32_t i = 0; i < mesh->surface_count; i++) {
		TEST_ASSERT_GREATER_THAN(0, mesh->surfaces[i].triangle_count);
		TEST_ASSERT_TRUE(mesh->surfaces[i].name[0] != 0);
		triangles += mesh->surfaces[i].triangle_count;
	}
	TEST_ASSERT_EQUAL_INT(mesh->triangle_count, triangles);
}

static void expect_size(const tac_mesh *mesh, double x, double y, double z, double relative)
{
	expect_close(x, (double)mesh->bounds_max.x - (double)mesh->bounds_min.x, relative);
	expect_close(y, (double)mesh->bounds_max.y - (double)mesh->bounds_min.y, relative);
	expect_close(z, (double)mesh->bounds_max.z - (double)mesh->bounds_min.z, relative);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6 * z, 0, (double)mesh->bounds_max.z + (double)mesh->bounds_min.z);
}

// Area of a regular polygon with its corners on a circle.
static double polygon_area(int n, double radius)
{
	return 0.5 * n * radius * radius * sin(2 * PI / n);
}

static double polygon_edge(int n, double radius)
{
	return 2 * radius * sin(PI / n);
}

// Frustum of similar polygons, also a pyramid.
static double frustum_volume(double low, double high, double height)
{
	return height / 3 * (low + high + sqrt(low * high));
}

static void box_is_closed_with_six_surfaces_and_exact_volume(void)
{
	const int segments[] = {1, 2, 7, 40};
	for (int i = 0; i < 4; i++) {
		tac_mesh *mesh;
		const int n = segments[i];
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(1, 2, 3), n, &mesh));
		expect_closed(mesh, 0);
		TEST_ASSERT_EQUAL_INT(12 * n * n, mesh->triangle_count);
		TEST_ASSERT_EQUAL_INT(6, mesh->surface_count);
		TEST_ASSERT_EQUAL_STRING("-x", mesh->surfaces[0].name);
		TEST_ASSERT_EQUAL_STRING("+z", mesh->surfaces[5].name);
		// Each face's triangles lie in its plane.
		for (int32_t t = 0; t < mesh->triangle_count; t++) {
			const int32_t s = mesh->triangle_surface[t];
			for (int k = 0; k < 3; k++) {
				const tac_vec3 v = mesh->vertices[mesh->triangles[t].vertex[k]];
				const float half[3] = {0.5f, 1, 1.5f};
				TEST_ASSERT_EQUAL_FLOAT(s % 2 ? half[s / 2] : -half[s / 2],
							tac_vec3_get(v, s / 2));
			}
		}
		expect_close(6, tac_mesh_volume(mesh), 1e-6);
		expect_close(22, tac_mesh_area(mesh), 1e-6);
		expect_size(mesh, 1, 2, 3, 0);
		tac_mesh_destroy(&mesh);
		TEST_ASSERT_NULL(mesh);
	}
}

static void icosphere_starts_as_the_icosahedron_and_converges_to_the_sphere(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(2, 0, &mesh));
	expect_closed(mesh, 0);
	TEST_ASSERT_EQUAL_INT(12, mesh->vertex_count);
	TEST_ASSERT_EQUAL_INT(20, mesh->triangle_count);
	const double edge = 2 / sin(2 * PI / 5); // of the icosahedron with circumradius 2: R / sin 72 degrees
	expect_close(5 * (3 + sqrt(5.0)) / 12 * edge * edge * edge, tac_mesh_volume(mesh), 1e-6);
	expect_close(5 * sqrt(3.0) * edge * edge, tac_mesh_area(mesh), 1e-6);
	tac_mesh_destroy(&mesh);

	double last_error = 1;
	for (int subdivisions = 1; subdivisions <= 5; subdivisions++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(2, subdivisions, &mesh));
		expect_closed(mesh, 0);
		TEST_ASSERT_EQUAL_INT(20 << (2 * subdivisions), mesh->triangle_count);
		for (int32_t i = 0; i < mesh->vertex_count; i++)
			expect_close(2, (double)tac_vec3_length(mesh->vertices[i]), 1e-6);
		const double error = 1 - tac_mesh_volume(mesh) / (4.0 / 3 * PI * 8);
		TEST_ASSERT_TRUE(error > 0);
		if (subdivisions > 1) // second order: about a quarter
			TEST_ASSERT_DOUBLE_WITHIN(0.05, 0.25, error / last_error);
		last_error = error;
		tac_mesh_destroy(&mesh);
	}
}

static void uv_sphere_has_the_volume_of_its_frusta(void)
{
	const int cases[][2] = {{3, 2}, {8, 3}, {32, 16}, {101, 57}};
	for (int i = 0; i < 4; i++) {
		const int n = cases[i][0], rings = cases[i][1];
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_uv_sphere(0.5f, n, rings, &mesh));
		expect_closed(mesh, 0);
		TEST_ASSERT_EQUAL_INT(2 * n * (rings - 1), mesh->triangle_count);
		double volume = 0;
		for (int k = 0; k < rings; k++) {
			const double a = PI * k / rings, b = PI * (k + 1) / rings;
			volume += frustum_volume(polygon_area(n, 0.5 * sin(a)), polygon_area(n, 0.5 * sin(b)),
						 0.5 * (cos(a) - cos(b)));
		}
		expect_close(volume, tac_mesh_volume(mesh), 1e-5);
		tac_mesh_destroy(&mesh);
	}
}

static void torus_has_euler_characteristic_zero_and_pappus_volume(void)
{
	const int cases[][2] = {{3, 3}, {16, 9}, {128, 64}};
	for (int i = 0; i < 3; i++) {
		const int n = cases[i][0], sides = cases[i][1];
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(1, 0.25f, n, sides, &mesh));
		expect_closed(mesh, 1);
		TEST_ASSERT_EQUAL_INT(2 * n * sides, mesh->triangle_count);
		// The frusta between the rings, those of the inner side with negative height.
		double volume = 0;
		for (int k = 0; k < sides; k++) {
			const double a = 2 * PI * k / sides, b = 2 * PI * (k + 1) / sides;
			const double ra = 1 + 0.25 * cos(a), rb = 1 + 0.25 * cos(b);
			volume += frustum_volume(polygon_area(n, ra), polygon_area(n, rb),
						 0.25 * (sin(b) - sin(a)));
		}
		expect_close(volume, tac_mesh_volume(mesh), 1e-5);
		if (n == 128) {
			expect_close(2 * PI * PI * 0.0625, tac_mesh_volume(mesh), 5e-3);
			expect_close(4 * PI * PI * 0.25, tac_mesh_area(mesh), 5e-3);
		}
		tac_mesh_destroy(&mesh);
	}
}

static void grid_is_one_open_surface_facing_up(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(2, 3, 5, 7, &mesh));
	TEST_ASSERT_EQUAL_INT(2 * 5 * 7, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(6 * 8, mesh->vertex_count);
	TEST_ASSERT_EQUAL_INT(2 * (5 + 7), mesh->open_edges);
	TEST_ASSERT_EQUAL_INT(0, mesh->flipped_edges);
	TEST_ASSERT_EQUAL_INT(1, mesh->vertex_count - mesh->edge_count + mesh->triangle_count);
	TEST_ASSERT_FALSE(tac_mesh_is_watertight(mesh));
	expect_close(6, tac_mesh_area(mesh), 1e-6);
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const int32_t *v = mesh->triangles[t].vertex;
		const tac_vec3 a = mesh->vertices[v[0]];
		const tac_vec3 n = tac_vec3_cross(tac_vec3_sub(mesh->vertices[v[1]], a),
						  tac_vec3_sub(mesh->vertices[v[2]], a));
		TEST_ASSERT_TRUE(n.z > 0);
	}
	tac_mesh_destroy(&mesh);
}

static void cylinder_cone_and_capsule_are_closed_with_the_volume_of_their_polyhedra(void)
{
	const int n = 24;
	const double disc = polygon_area(n, 0.5), edge = polygon_edge(n, 0.5), apothem = 0.5 * cos(PI / n);
	for (int rings = 1; rings <= 9; rings += 4) {
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.5f, 2, n, rings, &mesh));
		expect_closed(mesh, 0);
		TEST_ASSERT_EQUAL_INT(3, mesh->surface_count);
		expect_close(2 * disc, tac_mesh_volume(mesh), 1e-6);
		expect_close(2 * disc + n * edge * 2, tac_mesh_area(mesh), 1e-6);
		TEST_ASSERT_EQUAL_INT(2 * n * rings, mesh->surfaces[1].triangle_count);
		tac_mesh_destroy(&mesh);

		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cone(0.5f, 2, n, rings, &mesh));
		expect_closed(mesh, 0);
		TEST_ASSERT_EQUAL_INT(2, mesh->surface_count);
		expect_close(2 * disc / 3, tac_mesh_volume(mesh), 1e-6);
		expect_close(disc + n * edge * sqrt(4 + apothem * apothem) / 2, tac_mesh_area(mesh), 1e-6);
		tac_mesh_destroy(&mesh);

		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_capsule(0.5f, 2, n, rings, &mesh));
		expect_closed(mesh, 0);
		TEST_ASSERT_EQUAL_INT(3, mesh->surface_count);
		double volume = 2 * disc;
		for (int k = 0; k < rings; k++) {
			const double a = PI / 2 * k / rings, b = PI / 2 * (k + 1) / rings;
			volume += 2 * frustum_volume(polygon_area(n, 0.5 * cos(a)),
						     polygon_area(n, 0.5 * cos(b)), 0.5 * (sin(b) - sin(a)));
		}
		expect_close(volume, tac_mesh_volume(mesh), 1e-6);
		expect_size(mesh, 1, 1, 3, 0.01); // the polygon's corners need not lie on the axes
		tac_mesh_destroy(&mesh);
	}
}

static void filter_is_one_closed_body_of_34_plates(void)
{
	const tac_mesh_filter_def def = tac_mesh_filter_def_default();
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_filter(&def, &mesh));
	expect_closed(mesh, 0);
	TEST_ASSERT_EQUAL_INT(19152, mesh->triangle_count);
	TEST_ASSERT_EQUAL_INT(35, mesh->surface_count);
	TEST_ASSERT_EQUAL_STRING("spine", mesh->surfaces[0].name);
	TEST_ASSERT_EQUAL_STRING("plate 33", mesh->surfaces[34].name);
	const double height = 34 * (0.0012 + 0.0087) + 0.0087;
	const double volume = height * 0.07 * 0.07 + 34 * 0.0012 * (0.65 * 0.65 - 0.07 * 0.07);
	const double area = 2 * 0.07 * 0.07 + 35 * 4 * 0.07 * 0.0087 +
			    34 * (2 * (0.65 * 0.65 - 0.07 * 0.07) + 4 * 0.65 * 0.0012);
	expect_close(volume, tac_mesh_volume(mesh), 1e-4); // 1.2 mm plates at 0.17 m in float: 1e-5
	expect_close(area, tac_mesh_area(mesh), 1e-5);
	expect_size(mesh, 0.65, 0.65, height, 1e-6);
	tac_mesh_destroy(&mesh);
}

static void peg_fits_its_block_with_the_requested_clearance(void)
{
	tac_mesh_peg_def def = tac_mesh_peg_def_default();
	for (int segments = 8; segments <= 128; segments *= 4) {
		def.segments = segments;
		tac_mesh *peg, *block;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_peg(&def, &peg));
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_block(&def, &block));
		expect_closed(peg, 0);
		expect_closed(block, 1);
		TEST_ASSERT_EQUAL_INT(4, peg->surface_count);
		TEST_ASSERT_EQUAL_STRING("chamfer", peg->surfaces[1].name);
		TEST_ASSERT_EQUAL_INT(4, block->surface_count);
		TEST_ASSERT_EQUAL_STRING("hole", block->surfaces[2].name);

		const double full = polygon_area(segments, 0.010), cut = polygon_area(segments, 0.009);
		expect_close(full * 0.059 + frustum_volume(cut, full, 0.001), tac_mesh_volume(peg), 1e-6);
		const double hole = segments * 0.0101 * 0.0101 * tan(PI / segments); // around the circle
		expect_close((0.05 * 0.05 - hole) * 0.04, tac_mesh_volume(block), 1e-6);

		// The gap in every direction is at least the clearance.
		for (int32_t i = 0; i < peg->vertex_count; i++)
			TEST_ASSERT_TRUE(hypot((double)peg->vertices[i].x, (double)peg->vertices[i].y) <
					 0.010 + 1e-9);
		for (int32_t t = 0; t < block->triangle_count; t++) {
			if (block->triangle_surface[t] != 2)
				continue;
			for (int k = 0; k < 3; k++) {
				const tac_vec3 a = block->vertices[block->triangles[t].vertex[k]];
				const tac_vec3 b = block->vertices[block->triangles[t].vertex[(k + 1) % 3]];
				const double mx = ((double)a.x + (double)b.x) / 2,
					     my = ((double)a.y + (double)b.y) / 2;
				TEST_ASSERT_TRUE(hypot(mx, my) > 0.0101 - 1e-8);
			}
		}
		tac_mesh_destroy(&peg);
		tac_mesh_destroy(&block);
	}
	def.chamfer = 0;
	tac_mesh *peg;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_peg(&def, &peg));
	expect_closed(peg, 0);
	TEST_ASSERT_EQUAL_INT(3, peg->surface_count);
	tac_mesh_destroy(&peg);
}

static void scale_does_not_matter_from_a_micrometre_to_a_thousand_kilometres(void)
{
	for (int exponent = -6; exponent <= 6; exponent++) {
		const float scale = (float)pow(10, exponent);
		tac_mesh *mesh;
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(scale, 0.3f * scale, 40, 30, &mesh));
		expect_closed(mesh, 1);
		tac_mesh_destroy(&mesh);
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(scale, 4, &mesh));
		expect_closed(mesh, 0);
		tac_mesh_destroy(&mesh);
	}
}

static void parameters_out_of_range_are_refused_with_one_line(void)
{
	tac_mesh *mesh = (tac_mesh *)1;
	tac_mesh_filter_def filter = tac_mesh_filter_def_default();
	filter.spine_size = filter.plate_size;
	tac_mesh_peg_def peg = tac_mesh_peg_def_default(), odd = peg, tight = peg;
	peg.chamfer = peg.peg_radius;
	odd.segments = 9;
	tight.block_size = 2 * (tight.peg_radius + tight.clearance);
	const tac_result results[] = {
		tac_mesh_build_box(tac_vec3_make(1, 0, 1), 1, &mesh),
		tac_mesh_build_box(tac_vec3_make(1, NAN, 1), 1, &mesh),
		tac_mesh_build_box(tac_vec3_make(1, 1, 1), 0, &mesh),
		tac_mesh_build_box(tac_vec3_make(1, 1, 1), 2000000000, &mesh),
		tac_mesh_build_icosphere(1, 10, &mesh),
		tac_mesh_build_icosphere(-1, 1, &mesh),
		tac_mesh_build_uv_sphere(INFINITY, 8, 8, &mesh),
		tac_mesh_build_uv_sphere(1, 2, 8, &mesh),
		tac_mesh_build_uv_sphere(1, 2147483647, 2147483647, &mesh),
		tac_mesh_build_torus(1, 1, 8, 8, &mesh),
		tac_mesh_build_grid(1, 1, 0, 1, &mesh),
		tac_mesh_build_grid(1, 1, 2147483647, 2147483647, &mesh),
		tac_mesh_build_cylinder(1, 1, 2, 1, &mesh),
		tac_mesh_build_cone(1, 0, 3, 1, &mesh),
		tac_mesh_build_capsule(1, 1, 3, 0, &mesh),
		tac_mesh_build_filter(&filter, &mesh),
		tac_mesh_build_peg(&peg, &mesh),
		tac_mesh_build_peg(&odd, &mesh),
		tac_mesh_build_block(&tight, &mesh),
	};
	const int count = (int)(sizeof results / sizeof *results);
	for (int i = 0; i < count; i++)
		TEST_ASSERT_EQUAL_MESSAGE(TAC_ERROR_ARGUMENT, results[i], "refused");
	TEST_ASSERT_NULL(mesh);
	TEST_ASSERT_EQUAL_INT(count, log_lines);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(box_is_closed_with_six_surfaces_and_exact_volume);
	RUN_TEST(icosphere_starts_as_the_icosahedron_and_converges_to_the_sphere);
	RUN_TEST(uv_sphere_has_the_volume_of_its_frusta);
	RUN_TEST(torus_has_euler_characteristic_zero_and_pappus_volume);
	RUN_TEST(grid_is_one_open_surface_facing_up);
	RUN_TEST(cylinder_cone_and_capsule_are_closed_with_the_volume_of_their_polyhedra);
	RUN_TEST(filter_is_one_closed_body_of_34_plates);
	RUN_TEST(peg_fits_its_block_with_the_requested_clearance);
	RUN_TEST(scale_does_not_matter_from_a_micrometre_to_a_thousand_kilometres);
	RUN_TEST(parameters_out_of_range_are_refused_with_one_line);
	return UNITY_END();
}
