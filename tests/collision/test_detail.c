// Simplified surfaces: every point of the source is within the tolerance, by brute force in long double, and
// what is proved for a simplified body holds for its mesh, judged by the static engine in exact mode.
#include "collision/certificate.h"
#include "collision/collider.h"
#include "collision/geometry/detail.h"
#include "collision/mesh_shapes.h"
#include "tests/support/limits.h"
#include "tests/support/surface_distance.h"
#include "tests/support/sweep_shapes.h"
#include "tests/support/voxels.h"

#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

// --- meshes ---

// Moves each vertex by up to `by` in every direction.
static tac_mesh *roughened(tac_mesh *mesh, double by, tac_rng *rng)
{
	for (int32_t i = 0; i < mesh->vertex_count; i++) {
		const tac_vec3 off =
			tac_vec3_make(tac_rng_range_f32(rng, -1, 1), tac_rng_range_f32(rng, -1, 1),
				      tac_rng_range_f32(rng, -1, 1));
		mesh->vertices[i] = tac_vec3_add(mesh->vertices[i], tac_vec3_scale(off, (float)by));
	}
	tac_mesh *out = mesh_of(mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count);
	tac_mesh_destroy(&mesh);
	return out;
}

// An open sheet with waves.
static tac_mesh *waves(int n, double height)
{
	tac_mesh *grid;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.02f, 0.02f, n, n, &grid));
	for (int32_t i = 0; i < grid->vertex_count; i++)
		grid->vertices[i].z = (float)(height * sin(900 * (double)grid->vertices[i].x) *
					      cos(700 * (double)grid->vertices[i].y));
	return grid;
}

// Two meshes as one; the originals are freed.
static tac_mesh *together(tac_mesh *a, tac_mesh *b)
{
	const int32_t vertices = a->vertex_count + b->vertex_count,
		      triangles = a->triangle_count + b->triangle_count;
	tac_vec3 *v = malloc((size_t)vertices * sizeof *v);
	tac_mesh_triangle *t = malloc((size_t)triangles * sizeof *t);
	for (int32_t i = 0; i < vertices; i++)
		v[i] = i < a->vertex_count ? a->vertices[i] : b->vertices[i - a->vertex_count];
	for (int32_t i = 0; i < triangles; i++) {
		const bool second = i >= a->triangle_count;
		t[i] = second ? b->triangles[i - a->triangle_count] : a->triangles[i];
		for (int k = 0; k < 3 && second; k++)
			t[i].vertex[k] += a->vertex_count;
	}
	tac_mesh *out = mesh_of(v, vertices, t, triangles);
	free(v);
	free(t);
	tac_mesh_destroy(&a);
	tac_mesh_destroy(&b);
	return out;
}

// A wall thinner than the tolerance: its sides may pass through each other.
static tac_mesh *thin_wall(void)
{
	tac_mesh *front = waves(24, 1e-4), *back = waves(24, 1e-4);
	for (int32_t i = 0; i < back->vertex_count; i++)
		back->vertices[i].z -= 1e-5f;
	return together(front, back);
}

enum { MESHES = 10 };

static tac_mesh *make(int i, tac_rng *rng)
{
	tac_mesh *m = NULL, *other;
	switch (i % MESHES) {
	case 0:
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02f, 3, &m));
		return m;
	case 1:
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.02f, 0.006f, 48, 24, &m));
		return m;
	case 2:
		return waves(32, 3e-4);
	case 3:
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02f, 3, &m));
		return roughened(m, 2e-5, rng);
	case 4:
		return thin_wall();
	case 5: // surfaces and sharp borders
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.01f, 0.02f, 64, 8, &m));
		return roughened(m, 3e-6, rng);
	case 6:
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02f, 2, &m));
		return doubled(m);
	case 7:
		return book(7);
	case 8:
		return loose_soup(rng, 200, true);
	default: // two balls that touch at a vertex and pass through each other
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.01f, 3, &m));
		TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.01f, 3, &other));
		for (int32_t k = 0; k < other->vertex_count; k++)
			other->vertices[k].x += m->vertices[0].x - m->vertices[2].x;
		return together(m, other);
	}
}

// --- the bound ---

static double distance_to_surface(tac_dvec3 p, const tac_mesh *mesh, int32_t surface, double reach)
{
	double least = reach;
	for (int32_t t = 0; t < mesh->triangle_count; t++) {
		const tac_dvec3 a = tac_mesh_corner(mesh, t, 0), b = tac_mesh_corner(mesh, t, 1),
				c = tac_mesh_corner(mesh, t, 2);
		const tac_dvec3 lo = tac_dvec3_min(a, tac_dvec3_min(b, c)),
				hi = tac_dvec3_max(a, tac_dvec3_max(b, c));
		const tac_dvec3 under = tac_dvec3_sub(lo, p), over = tac_dvec3_sub(p, hi);
		if (mesh->triangle_surface[t] == surface &&
		    fmax(fmax(under.x, fmax(under.y, under.z)), fmax(over.x, fmax(over.y, over.z))) <= least)
			least = fmin(least, distance_to_triangle(p, mesh, t));
	}
	return least;
}

// A corner and `samples` points of every triangle of the source are within the tolerance of the same
// surface.
static void assert_bound(const tac_mesh *mesh, const tac_detail *d, int samples, tac_rng *rng)
{
	for (int32_t i = 0; i < mesh->triangle_count * (1 + samples); i++) {
		const int32_t t = i / (1 + samples), k = i % (1 + samples);
		const tac_dvec3 p = k == 0 ? tac_mesh_corner(mesh, t, t % 3) : random_on(mesh, t, rng);
		TEST_ASSERT_TRUE(distance_to_surface(p, d->mesh, mesh->triangle_surface[t], 0.1) <=
				 d->tolerance);
	}
}

static void every_point_of_the_source_is_within_the_tolerance(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 1), 1);
	const int rounds = MESHES * test_rounds(4);
	int simplified = 0;
	for (int i = 0; i < rounds; i++) {
		tac_mesh *mesh = make(i, &rng);
		const double tolerance = pow(10, tac_rng_range_f64(&rng, -4.6, -3.3));
		tac_detail *d;
		TEST_ASSERT_EQUAL(TAC_OK, tac_detail_build(mesh, NULL, tolerance, &d));
		if (d) {
			simplified++;
			TEST_ASSERT_EQUAL_DOUBLE(tolerance, d->tolerance);
			TEST_ASSERT_EQUAL(tac_mesh_is_watertight(mesh), tac_mesh_is_watertight(d->mesh));
			TEST_ASSERT_EQUAL(mesh->surface_count, d->mesh->surface_count);
			assert_bound(mesh, d, 1, &rng);
		}
		tac_detail_destroy(&d);
		tac_mesh_destroy(&mesh);
	}
	TEST_ASSERT_TRUE(simplified > rounds / 4);
}

// What tac_detail_cover accepts is so, whatever the faces are: they need not be connected.
static void a_triangle_that_is_covered_lies_within_the_tolerance(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 2), 2);
	int covered = 0, refused = 0;
	for (int i = 0; i < test_rounds(6000); i++) {
		tac_dvec3 corner[3], v[12];
		tac_detail_face faces[10];
		const double rough = tac_rng_range_f64(&rng, 0, 0.6),
			     tolerance = tac_rng_range_f64(&rng, 0.02, 0.4);
		for (int k = 0; k < 12; k++) // a fan around the origin, with a vertex at its middle
			v[k] = tac_dvec3_make(k < 11 ? cos(2 * 3.14159265358979 * k / 10) : 0,
					      k < 11 ? sin(2 * 3.14159265358979 * k / 10) : 0,
					      tac_rng_range_f64(&rng, -rough, rough));
		v[10].z = v[0].z;
		for (int k = 0; k < 3; k++)
			corner[k] =
				tac_dvec3_make(tac_rng_range_f64(&rng, -1, 1), tac_rng_range_f64(&rng, -1, 1),
					       tac_rng_range_f64(&rng, -rough, rough));
		for (int k = 0; k < 10; k++)
			faces[k] = (tac_detail_face){.v = {v[11], v[k], v[k + 1]}, .id = k};
		if (!tac_detail_cover(corner, tolerance, faces, 10)) {
			refused++;
			continue;
		}
		covered++;
		for (int n = 0; n < 100; n++) {
			const double a = tac_rng_f64(&rng), b = tac_rng_range_f64(&rng, 0, 1 - a);
			tac_dvec3 p = tac_dvec3_add_scaled(corner[0], a, tac_dvec3_sub(corner[1], corner[0]));
			p = tac_dvec3_add_scaled(p, b, tac_dvec3_sub(corner[2], corner[0]));
			real least = HUGE_VALL;
			for (int k = 0; k < 10; k++) {
				ref_vec f[3] = {ref_point(faces[k].v[0]), ref_point(faces[k].v[1]),
						ref_point(faces[k].v[2])};
				if (!faces[k].used)
					continue;
				least = ref_min(least, ref_point_face(ref_point(p), f));
				for (int e = 0; e < 3; e++)
					least = ref_min(
						least, ref_point_segment(ref_point(p), f[e], f[(e + 1) % 3]));
			}
			TEST_ASSERT_TRUE(sqrtl(least) <= (real)tolerance);
		}
	}
	TEST_ASSERT_TRUE(covered > refused / 20 && refused > covered / 20);
}

// --- what it is good for ---

// A ball of 5,120 triangles, whose facets are 12 µm high. Within 50 µm it needs about 900 if they are all
// alike.
static void a_fine_ball_keeps_few_triangles(void)
{
	tac_mesh *ball;
	tac_detail *d;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02f, 4, &ball));
	TEST_ASSERT_EQUAL(TAC_OK, tac_detail_build(ball, NULL, 5e-5, &d));
	TEST_ASSERT_NOT_NULL(d);
	TEST_ASSERT_TRUE(d->mesh->triangle_count < 2000);
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(d->mesh));
	tac_rng rng = tac_rng_seed(3, 3);
	assert_bound(ball, d, 0, &rng);
	// The other way round is not proved, but it is what makes the shape the same.
	assert_within(d->mesh, ball, 1.1e-4, 500, &rng);
	for (int i = 0; i < 500; i++) {
		const int32_t t = (int32_t)tac_rng_below(&rng, (uint32_t)d->mesh->triangle_count);
		const tac_dvec3 p = random_on(d->mesh, t, &rng);
		TEST_ASSERT_TRUE(distance_to_triangle(p, ball, tac_detail_source(d, t, p)) < 1.1e-4);
	}
	tac_detail_destroy(&d);
	tac_mesh_destroy(&ball);
}

static void coarse_meshes_and_kept_triangles_stay(void)
{
	tac_mesh *mesh;
	tac_detail *d;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02f, 2, &mesh));
	TEST_ASSERT_EQUAL(TAC_OK, tac_detail_build(mesh, NULL, 2e-5, &d));
	TEST_ASSERT_NULL(d);
	tac_mesh_destroy(&mesh);
	mesh = waves(32, 1e-5);
	uint8_t *keep = calloc((size_t)mesh->triangle_count, 1);
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		keep[t] = tac_mesh_corner(mesh, t, 0).x > 0.004;
	TEST_ASSERT_EQUAL(TAC_OK, tac_detail_build(mesh, keep, 5e-5, &d));
	TEST_ASSERT_NOT_NULL(d);
	int32_t kept = 0, same = 0;
	for (int32_t t = 0; t < mesh->triangle_count; t++)
		kept += keep[t];
	for (int32_t t = 0; t < d->mesh->triangle_count; t++) {
		same += d->same[t] >= 0 && keep[d->same[t]];
		for (int k = 0; k < 3 && d->same[t] >= 0; k++) {
			const tac_dvec3 a = tac_mesh_corner(d->mesh, t, k),
					b = tac_mesh_corner(mesh, d->same[t], k);
			TEST_ASSERT_TRUE(a.x == b.x && a.y == b.y && a.z == b.z);
		}
	}
	TEST_ASSERT_EQUAL(kept, same);
	TEST_ASSERT_TRUE(d->mesh->triangle_count < kept + (mesh->triangle_count - kept) / 4);
	free(keep);
	tac_detail_destroy(&d);
	tac_mesh_destroy(&mesh);
}

// --- what is proved for a body holds for its mesh ---

#define DETAIL 5e-5 // m

// A mesh, its simplified body, and the mesh in the judge's form.
typedef struct judged {
	mesh_body b;
	tac_shape *shape;
} judged;

static const tac_collider *engine;
static tac_context *query;

static judged judged_make(tac_mesh *mesh)
{
	judged j = {.b = {.mesh = mesh}};
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.solid = tac_mesh_is_watertight(mesh);
	def.detail_m = DETAIL;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &j.b.body));
	TEST_ASSERT_TRUE(tac_body_mesh(j.b.body)->triangle_count < mesh->triangle_count / 2);
	TEST_ASSERT_EQUAL_DOUBLE(DETAIL, tac_body_tolerance(j.b.body));
	TEST_ASSERT_EQUAL_DOUBLE(DETAIL, tac_body_detail(j.b.body));
	TEST_ASSERT_EQUAL(TAC_OK, tac_shape_build(engine, mesh, &j.shape));
	return j;
}

static void judged_free(judged *j)
{
	tac_shape_destroy(&j->shape);
	mesh_body_free(&j->b);
}

static bool is_free(const judged *moving, const judged *fixed, const tac_drigid *T)
{
	const tac_rigid motion = {tac_mat3_from_dmat3(T->R), tac_vec3_from_dvec3(T->t)};
	return tac_collider_query(engine, query, moving->shape, fixed->shape, &motion, TAC_QUERY_FIRST,
				  (tac_budget){0, 0}) == TAC_OVERLAP_NONE;
}

// A ball over an open sheet, from the heights where the meshes touch to some beyond both tolerances.
static void certificates_and_sweeps_of_simplified_bodies_hold_for_their_meshes(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 4), 4);
	tac_mesh *mesh;
	engine = tac_collider_find("wide");
	tac_context_def context = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context, &query));
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.005f, 4, &mesh));
	judged ball = judged_make(roughened(mesh, 5e-6, &rng)), sheet = judged_make(waves(48, 1e-4));
	const tac_certificate_options proof = tac_certificate_options_default();
	const tac_sweep_options sweep = tac_sweep_options_default();
	int moved = 0, stopped = 0;
	for (int i = 0; i < test_rounds(400); i++) {
		const double side = i % 3 ? 1 : -1; // both sides of the sheet
		tac_drigid T = {tac_dmat3_from_quat(tac_rng_rotation_f64(&rng)),
				tac_dvec3_make(tac_rng_range_f64(&rng, -0.008, 0.008),
					       tac_rng_range_f64(&rng, -0.008, 0.008), side * 0.006)};
		const tac_sweep_result down = tac_sweep_translate(
			ball.b.body, sheet.b.body, &T, tac_dvec3_make(0, 0, -0.002 * side), &sweep, NULL);
		T.t.z -= 0.002 * side * down.fraction;
		TEST_ASSERT_TRUE(is_free(&ball, &sheet, &T));
		// It stands at the tolerances. Closer than that nothing is proved, further away it is.
		const double apart = tac_body_distance(ball.b.body, sheet.b.body, &T, 1e-3, NULL, NULL, NULL);
		tac_drigid close = T;
		close.t.z += side * (1.5 * DETAIL - apart);
		const double still =
			tac_body_distance(ball.b.body, sheet.b.body, &close, 1e-3, NULL, NULL, NULL);
		if (still < 1.9 * DETAIL) {
			const tac_certificate none = tac_certificate_check(ball.b.body, sheet.b.body, &close,
									   tac_dvec3_make(1e-7, 0, 0),
									   tac_dvec3_zero(), &proof, NULL);
			TEST_ASSERT_TRUE(none.fraction == 0);
		}
		TEST_ASSERT_TRUE(apart >= 2 * DETAIL * (1 - 1e-6));
		T.t.z += side * tac_rng_range_f64(&rng, 0, 3e-5);
		const tac_dvec3 v = tac_dvec3_make(tac_rng_range_f64(&rng, -1e-3, 1e-3),
						   tac_rng_range_f64(&rng, -1e-3, 1e-3),
						   tac_rng_range_f64(&rng, -3e-4, 1e-4) * side),
				w = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 0.05));
		const tac_certificate c =
			tac_certificate_check(ball.b.body, sheet.b.body, &T, v, w, &proof, NULL);
		moved += c.fraction > 0;
		stopped += c.fraction < 1;
		for (int k = 0; k < 4 && c.fraction > 0; k++) {
			const double s = k == 0 ? c.fraction : tac_rng_range_f64(&rng, 0, c.fraction);
			const tac_drigid there = tac_certificate_pose(&T, v, w, s);
			TEST_ASSERT_TRUE(is_free(&ball, &sheet, &there));
		}
	}
	TEST_ASSERT_TRUE(moved > 0 && stopped > 0);
	tac_context_destroy(&query);
	judged_free(&ball);
	judged_free(&sheet);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_point_of_the_source_is_within_the_tolerance);
	RUN_TEST(a_triangle_that_is_covered_lies_within_the_tolerance);
	RUN_TEST(a_fine_ball_keeps_few_triangles);
	RUN_TEST(coarse_meshes_and_kept_triangles_stay);
	RUN_TEST(certificates_and_sweeps_of_simplified_bodies_hold_for_their_meshes);
	return UNITY_END();
}
