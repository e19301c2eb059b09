// Lattices of many bodies: every tetrahedron positive, angles within the bounds of the method, volumes that
// converge, a closed surface on the mesh.
#include "base/rng.h"
#include "collision/mesh_shapes.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tissue/lattice/lattice.h"
#include "unity.h"

#include <math.h>
#include <stdlib.h>

#define MM     1e-3
#define DEGREE (3.14159265358979323846 / 180)
// Labelle and Shewchuk prove these for cells of one size.
#define LEAST (10.7 * DEGREE)
#define MOST  (164.8 * DEGREE)

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged_lines = 0;
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

static tac_mesh *sphere(double radius)
{
	tac_mesh *m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere((float)radius, 4, &m));
	return m;
}

static tac_lattice *lattice_of(const tac_mesh *mesh, double spacing, double touch_radius)
{
	tac_lattice_def def = {.name = "body", .mesh = mesh, .spacing_m = spacing};
	def.touch_centre_m = tac_dvec3_make(0, 0, (double)mesh->bounds_max.z);
	def.touch_radius_m = touch_radius;
	tac_lattice *l;
	TEST_ASSERT_EQUAL(TAC_OK, tac_lattice_build(&def, &l));
	return l;
}

static double surface_area(const tac_lattice *l)
{
	double area = 0;
	for (int32_t t = 0; t < l->triangle_count; t++) {
		const int32_t *v = l->triangles[t].vertex;
		area += tac_dvec3_length(tac_dvec3_triangle_cross(l->vertices[v[0]], l->vertices[v[1]],
								  l->vertices[v[2]])) /
			2;
	}
	return area;
}

// What every lattice must be: the mesh library is the judge of its surface.
static void check(const tac_lattice *l, double least_rad, double most_rad)
{
	double volume = 0, enclosed = 0;
	for (int32_t n = 0; n < l->tet_count; n++) {
		const int32_t *v = l->tets[n].vertex;
		const double six = tac_lattice_volume6(l->vertices[v[0]], l->vertices[v[1]],
						       l->vertices[v[2]], l->vertices[v[3]]);
		TEST_ASSERT_TRUE(six > 0);
		volume += six / 6;
	}
	for (int32_t t = 0; t < l->triangle_count; t++) {
		const int32_t *v = l->triangles[t].vertex;
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_TRUE(v[k] < l->surface_count);
		enclosed += tac_dvec3_dot(l->vertices[v[0]],
					  tac_dvec3_cross(l->vertices[v[1]], l->vertices[v[2]])) /
			    6;
	}
	// Tetrahedra that overlapped or left gaps would not add up to what their surface encloses.
	TEST_ASSERT_DOUBLE_WITHIN(1e-9 * volume, enclosed, volume);
	const tac_lattice_quality q = tac_lattice_measure(l);
	TEST_ASSERT_TRUE_MESSAGE(q.least_rad >= least_rad, "a dihedral angle is too small");
	TEST_ASSERT_TRUE_MESSAGE(q.most_rad <= most_rad, "a dihedral angle is too large");
	TEST_ASSERT_DOUBLE_WITHIN(1e-9 * volume, volume, q.volume_m3);

	tac_vec3 *vertices = malloc((size_t)l->surface_count * sizeof *vertices);
	for (int32_t i = 0; i < l->surface_count; i++)
		vertices[i] = tac_vec3_from_dvec3(l->vertices[i]);
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = vertices;
	def.vertex_count = l->surface_count;
	def.triangles = l->triangles;
	def.triangle_count = l->triangle_count;
	tac_mesh *surface;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &surface));
	TEST_ASSERT_EQUAL(0, surface->open_edges);
	TEST_ASSERT_EQUAL(0, surface->flipped_edges);
	tac_mesh_destroy(&surface);
	free(vertices);
}

static void spheres_and_tori_have_good_angles_and_their_topology(void)
{
	tac_mesh *ball = sphere(60 * MM), *ring;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.05f, 0.02f, 64, 32, &ring));
	tac_lattice *l = lattice_of(ball, 9 * MM, 0);
	check(l, LEAST, MOST);
	TEST_ASSERT_EQUAL(2, l->surface_count - l->triangle_count / 2); // Euler: V - E + F, with E = 3 F / 2
	for (int32_t i = 0; i < l->surface_count; i++) // between the circles in and around the facets
		TEST_ASSERT_DOUBLE_WITHIN(0.15 * MM, 59.9 * MM, tac_dvec3_length(l->vertices[i]));
	tac_lattice_destroy(&l);
	TEST_ASSERT_NULL(l);
	l = lattice_of(ring, 7 * MM, 0);
	check(l, LEAST, MOST);
	TEST_ASSERT_EQUAL(0, l->surface_count - l->triangle_count / 2);
	tac_lattice_destroy(&l);
	tac_mesh_destroy(&ball);
	tac_mesh_destroy(&ring);
}

static void volume_converges_with_the_square_of_the_spacing(void)
{
	tac_mesh *ball = sphere(60 * MM);
	double error[3];
	const int halvings = TAC_TEST_SANITIZED ? 2 : 3;
	for (int k = 0; k < halvings; k++) {
		tac_lattice *l = lattice_of(ball, 20 * MM / (1 << k), 0);
		error[k] = fabs(tac_lattice_measure(l).volume_m3 / tac_mesh_volume(ball) - 1);
		tac_lattice_destroy(&l);
	}
	TEST_ASSERT_TRUE(error[0] < 0.09);
	TEST_ASSERT_TRUE(error[1] < error[0] / 2.5);
	if (halvings > 2)
		TEST_ASSERT_TRUE(error[2] < error[1] / 2.5);
	tac_mesh_destroy(&ball);
}

static void spacing_is_the_root_of_the_area_of_a_vertex(void)
{
	tac_mesh *ball = sphere(60 * MM);
	for (int k = 8; k <= 14; k += 3) {
		tac_lattice *l = lattice_of(ball, k * MM, 0);
		TEST_ASSERT_DOUBLE_WITHIN(0.15 * k * MM, k * MM, sqrt(surface_area(l) / l->surface_count));
		tac_lattice_destroy(&l);
	}
	tac_mesh_destroy(&ball);
}

static void cells_grow_inside_and_away_from_what_is_touched(void)
{
	tac_mesh *box;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.1f, 0.1f, 0.04f), 1, &box));
	tac_lattice *l = lattice_of(box, 1.5 * MM, 8 * MM);
	check(l, 2 * DEGREE, 177 * DEGREE);
	const tac_dvec3 touched = tac_dvec3_make(0, 0, 20 * MM);
	int32_t near = 0;
	for (int32_t i = 0; i < l->surface_count; i++)
		near += tac_dvec3_length(tac_dvec3_sub(l->vertices[i], touched)) < 8 * MM;
	// The disc has as many vertices as its area holds; the whole surface at that spacing would have
	// 16,000.
	TEST_ASSERT_INT32_WITHIN(25, 3.1416 * 8 * 8 / (1.5 * 1.5), near);
	TEST_ASSERT_LESS_THAN(3000, l->surface_count);
	tac_lattice_destroy(&l);
	tac_mesh *ball = sphere(60 * MM);
	l = lattice_of(ball, 5 * MM, 0);
	TEST_ASSERT_LESS_THAN(7000, l->vertex_count); // 10,000 if cells did not grow inside
	tac_lattice_destroy(&l);
	tac_mesh_destroy(&ball);
	tac_mesh_destroy(&box);
}

static void any_place_and_size_gives_a_good_lattice(void)
{
	tac_rng rng = tac_rng_seed(11, 5);
	for (int n = test_rounds(60); n > 0; n--) {
		tac_mesh *m;
		const float r = (float)tac_rng_range_f64(&rng, 0.02, 0.06);
		const float h = (float)tac_rng_range_f64(&rng, 0.01, 0.1);
		const int kind = (int)(tac_rng_u32(&rng) % 3);
		if (kind == 0)
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_capsule(r, h, 24, 6, &m));
		else if (kind == 1)
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(r, 2 * r, 24, 1, &m));
		else
			TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cone(r, 2 * r, 24, 1, &m));
		const tac_vec3 by = tac_vec3_scale(tac_rng_unit_f32(&rng), 0.1f);
		const tac_quat turn = tac_quat_from_axis_angle(tac_rng_unit_f32(&rng),
							       (float)tac_rng_range_f64(&rng, 0, 3));
		for (int32_t i = 0; i < m->vertex_count; i++)
			m->vertices[i] = tac_vec3_add(by, tac_quat_rotate(turn, m->vertices[i]));
		m->bounds_min = m->bounds_max = m->vertices[0];
		for (int32_t i = 1; i < m->vertex_count; i++) {
			m->bounds_min = tac_vec3_min(m->bounds_min, m->vertices[i]);
			m->bounds_max = tac_vec3_max(m->bounds_max, m->vertices[i]);
		}
		const double spacing = (double)r * tac_rng_range_f64(&rng, 0.12, 0.3);
		const bool graded = tac_rng_u32(&rng) & 1;
		tac_lattice *l = lattice_of(m, spacing, graded ? (double)r / 3 : 0);
		// The proof holds for smooth surfaces; at the edges and tips of these the angles are a little
		// worse.
		check(l, graded ? 1 * DEGREE : 5 * DEGREE, graded ? 178.5 * DEGREE : 170 * DEGREE);
		TEST_ASSERT_DOUBLE_WITHIN(graded ? 0.35 : 0.2, 1,
					  tac_lattice_measure(l).volume_m3 / tac_mesh_volume(m));
		tac_lattice_destroy(&l);
		tac_mesh_destroy(&m);
	}
}

static void expect_refused(const tac_mesh *mesh, double spacing, const char *words)
{
	const tac_lattice_def def = {.name = "body", .mesh = mesh, .spacing_m = spacing};
	tac_lattice *l;
	logged_lines = 0;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_lattice_build(&def, &l));
	TEST_ASSERT_NULL(l);
	TEST_ASSERT_EQUAL(1, logged_lines);
	TEST_ASSERT_NOT_NULL(strstr(logged, words));
}

static void unsuitable_bodies_are_refused_in_one_line(void)
{
	tac_mesh *ball = sphere(60 * MM), *grid;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.1f, 0.1f, 2, 2, &grid));
	expect_refused(grid, 5 * MM, "closed mesh");
	expect_refused(ball, 0, "below the size");
	expect_refused(ball, NAN, "below the size");
	expect_refused(ball, 1, "below the size");
	expect_refused(ball, 1e-5, "more than a 400th");
	tac_mesh_destroy(&ball);
	tac_mesh_destroy(&grid);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(spheres_and_tori_have_good_angles_and_their_topology);
	RUN_TEST(volume_converges_with_the_square_of_the_spacing);
	RUN_TEST(spacing_is_the_root_of_the_area_of_a_vertex);
	RUN_TEST(cells_grow_inside_and_away_from_what_is_touched);
	RUN_TEST(any_place_and_size_gives_a_good_lattice);
	RUN_TEST(unsuitable_bodies_are_refused_in_one_line);
	return UNITY_END();
}
