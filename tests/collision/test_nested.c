// Sphere faces of bodies, and balls inside sockets: faces against the points of their triangles, gaps and
// proofs against the referee in long double over all triangles.
#include "collision/certificate.h"
#include "collision/contacts.h"
#include "collision/continuous/nested.h"
#include "tests/support/joints.h"
#include "tests/support/limits.h"
#include "tests/support/sweep_referee.h"

#include <stdio.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static tac_sphere_faces *faces_of(const tac_mesh *mesh, double tolerance)
{
	tac_sphere_faces *faces;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sphere_faces_find(mesh, tolerance, &faces));
	return faces;
}

static void expect_none(tac_mesh *mesh, double tolerance)
{
	TEST_ASSERT_NULL(faces_of(mesh, tolerance));
	tac_mesh_destroy(&mesh);
}

static tac_body *body_of(const tac_mesh *mesh, double sphere_m)
{
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.flat_m = TAC_BODY_FLAT;
	def.sphere_m = sphere_m;
	tac_body *body;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &body));
	return body;
}

static tac_dvec3 random_on_triangle(const tac_mesh *mesh, int32_t t, tac_rng *rng)
{
	const double a = sqrt(tac_rng_range_f64(rng, 0, 1)), b = tac_rng_range_f64(rng, 0, 1);
	return tac_dvec3_add(tac_dvec3_scale(tac_mesh_corner(mesh, t, 0), 1 - a),
			     tac_dvec3_add(tac_dvec3_scale(tac_mesh_corner(mesh, t, 1), a * (1 - b)),
					   tac_dvec3_scale(tac_mesh_corner(mesh, t, 2), a * b)));
}

// --- faces ---

static void caps_are_found_with_bounds_that_contain_their_triangles(void)
{
	tac_rng rng = tac_rng_seed(1, 1);
	for (int i = 0; i < 10; i++) {
		joint j = joint_make(&rng, 5, i % 3 == 0);
		const cap *caps[2] = {&j.ball, &j.socket};
		for (int k = 0; k < 2; k++) {
			const tac_mesh *mesh = caps[k]->mesh;
			tac_sphere_faces *faces = faces_of(mesh, j.sphere_m);
			TEST_ASSERT_NOT_NULL(faces);
			TEST_ASSERT_EQUAL(1, faces->count);
			const tac_sphere_face *f = &faces->faces[0];
			TEST_ASSERT_DOUBLE_WITHIN(
				1e-7, 0, tac_dvec3_length(tac_dvec3_sub(f->centre, caps[k]->centre)));
			TEST_ASSERT_DOUBLE_WITHIN(2e-7, caps[k]->radius, f->outer);
			TEST_ASSERT_TRUE(f->outer - f->inner <= j.sphere_m);
			int32_t count = 0;
			for (int32_t t = 0; t < mesh->triangle_count; t++) {
				if (!faces->of_triangle[t])
					continue;
				count++;
				for (int n = 0; n < 4; n++) {
					const tac_dvec3 p = n < 3 ? tac_mesh_corner(mesh, t, n)
								  : random_on_triangle(mesh, t, &rng);
					const tac_dvec3 from = tac_dvec3_sub(p, f->centre);
					const double r = tac_dvec3_length(from);
					TEST_ASSERT_TRUE(r <= f->outer + 1e-15 && r >= f->inner - 1e-15);
					TEST_ASSERT_TRUE(tac_dvec3_dot(f->axis, from) / r >=
							 f->cosine - 1e-12);
				}
			}
			TEST_ASSERT_EQUAL(f->triangle_count, count);
			// The stem, six triangles, is no part of it.
			TEST_ASSERT_EQUAL(mesh->triangle_count - (k == 0 && j.ball.cosine > -1 ? 6 : 0),
					  count);
			tac_sphere_faces_destroy(&faces);
		}
		joint_free(&j);
	}
}

static void other_surfaces_are_no_sphere_faces(void)
{
	tac_mesh *m;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.04F, 0.015F, 96, 48, &m));
	expect_none(m, 1e-5);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_cylinder(0.02F, 0.05F, 200, 50, &m));
	expect_none(m, 1e-5);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.02F, 0.03F, 0.04F), 16, &m));
	expect_none(m, 1e-5);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02F, 5, &m));
	for (int32_t i = 0; i < m->vertex_count; i++)
		m->vertices[i].x *= 1.01F;
	expect_none(m, 1e-5);
	// Facets that are too large.
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02F, 3, &m));
	expect_none(m, 1e-5);
	// A band around a sphere, whose cone would be all of it.
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.02F, 5, &m));
	tac_mesh_triangle *t = malloc((size_t)m->triangle_count * sizeof *t);
	tac_mesh_def def = tac_mesh_def_default();
	for (int32_t i = 0; i < m->triangle_count; i++) {
		if (fabs(tac_mesh_corner(m, i, 0).z) < 0.012)
			t[def.triangle_count++] = m->triangles[i];
	}
	def.vertices = m->vertices;
	def.vertex_count = m->vertex_count;
	def.triangles = t;
	tac_mesh *band;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &band));
	TEST_ASSERT_TRUE(band->triangle_count > 5000);
	expect_none(band, 1e-5);
	tac_mesh_destroy(&m);
	free(t);
}

static void the_triangle_in_a_direction_is_found(void)
{
	tac_rng rng = tac_rng_seed(2, 1);
	joint j = joint_make(&rng, 5, true);
	const tac_mesh *mesh = j.ball.mesh;
	tac_sphere_faces *faces = faces_of(mesh, j.sphere_m);
	for (int i = 0; i < 2000; i++) {
		const tac_dvec3 u = tac_rng_unit_f64(&rng);
		const int32_t t = tac_sphere_face_triangle(&faces->faces[0], mesh, u);
		// The ray meets it: u is in the cone of its three vertices.
		tac_dvec3 v[3];
		for (int k = 0; k < 3; k++)
			v[k] = tac_dvec3_sub(tac_mesh_corner(mesh, t, k), faces->faces[0].centre);
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_TRUE(tac_dvec3_dot(u, tac_dvec3_cross(v[k], v[(k + 1) % 3])) > -1e-12);
	}
	tac_sphere_faces_destroy(&faces);
	joint_free(&j);
}

// --- gaps ---

static double exact_distance(const joint *j, const tac_drigid *T, double reach)
{
	const ref_pose p = ref_pose_at(T, tac_dvec3_zero(), T->t, tac_dvec3_make(0, 0, 1), 0, 0);
	return ref_distance(j->ball.mesh, j->socket.mesh, &p, reach);
}

// The distance of the contacts is never more than that of the meshes, and less by no more than the facets'
// thickness where a whole ball is inside the socket.
static void gaps_bound_the_distance_of_the_meshes_from_below(void)
{
	tac_rng rng = tac_rng_seed(3, 1);
	int nested = 0, close = 0;
	for (int i = 0; i < (test_long() ? 100 : TAC_TEST_SANITIZED ? 2 : 4); i++) {
		joint j = joint_make(&rng, 4, i % 2 == 0);
		tac_body *ball = body_of(j.ball.mesh, j.sphere_m),
			 *socket = body_of(j.socket.mesh, j.sphere_m);
		for (int k = 0; k < 8; k++) {
			const double apart = j.clearance * tac_rng_range_f64(&rng, 0.2, 1.5);
			const tac_drigid T = joint_pose(&j, apart, &rng);
			static tac_contacts contacts;
			const double margin = 2e-4, exact = exact_distance(&j, &T, margin);
			tac_contacts_query(ball, socket, &T, margin, NULL, &contacts);
			TEST_ASSERT_TRUE(contacts.distance <= fmax(exact, 0) + 1e-12);
			if (!tac_contacts_nested(ball, socket, &T))
				continue;
			nested++;
			int32_t spheres = 0;
			for (int32_t n = 0; n < contacts.count; n++)
				spheres += contacts.list[n].kind == TAC_CONTACT_SPHERES;
			TEST_ASSERT_TRUE(spheres <= TAC_NESTED_PLANES);
			if (i % 2 == 0 && exact < margin && spheres > 0) {
				close++;
				// The rim counts as the cone around it: the gap may be smaller there.
				const tac_dvec3 d = tac_dvec3_sub(tac_drigid_apply_point(&T, j.ball.centre),
								  j.socket.centre);
				const bool at_rim = tac_dvec3_dot(tac_dvec3_normalize(d), j.socket.axis) <
						    j.socket.cosine + 0.2;
				TEST_ASSERT_TRUE(at_rim || contacts.distance >= exact - 2 * j.sphere_m);
			}
		}
		tac_body_destroy(&ball);
		tac_body_destroy(&socket);
		joint_free(&j);
	}
	printf("%d poses with nested faces, %d of them close\n", nested, close);
	TEST_ASSERT_TRUE(nested > 4 && close > 1);
}

// The border of a coarse cap may be too jagged for a sphere face.
static bool have_faces(const tac_body *a, const tac_body *b)
{
	return a->spheres && b->spheres;
}

// Wherever a cup is over a ball, the gap is the same as for the ball in the cup.
static void a_cup_over_a_ball_is_a_ball_in_a_cup(void)
{
	tac_rng rng = tac_rng_seed(4, 1);
	for (int i = 0; i < 8; i++) {
		joint j = joint_make(&rng, 4, i % 2 == 0);
		tac_body *ball = body_of(j.ball.mesh, j.sphere_m),
			 *socket = body_of(j.socket.mesh, j.sphere_m);
		for (int k = 0; k < 50 && have_faces(ball, socket); k++) {
			const tac_drigid T = joint_pose(&j, 0.9 * j.clearance, &rng);
			const tac_drigid back = {tac_dmat3_transpose(T.R),
						 tac_dvec3_neg(tac_dmat3_transpose_apply(T.R, T.t))};
			tac_nested_plane a[TAC_NESTED_PLANES], b[TAC_NESTED_PLANES];
			const int32_t n = tac_nested_planes_at(ball, 0, socket, 0, &T, 1e-3, a),
				      m = tac_nested_planes_at(socket, 0, ball, 0, &back, 1e-3, b);
			TEST_ASSERT_EQUAL(n > 0, m > 0);
			if (n == 0)
				continue;
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, a[0].gap, b[0].gap);
			const tac_dvec3 normal = tac_dmat3_transpose_apply(T.R, a[0].normal);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, -1, tac_dvec3_dot(normal, b[0].normal));
		}
		tac_body_destroy(&ball);
		tac_body_destroy(&socket);
		joint_free(&j);
	}
}

// --- proofs ---

static void proved_motions_keep_the_meshes_apart(void)
{
	tac_rng rng = tac_rng_seed(5, 1);
	int proofs = 0, whole = 0, nested = 0;
	for (int i = 0; i < (test_long() ? 100 : TAC_TEST_SANITIZED ? 2 : 4); i++) {
		joint j = joint_make(&rng, 4, i % 2 == 0);
		tac_body *ball = body_of(j.ball.mesh, j.sphere_m),
			 *socket = body_of(j.socket.mesh, j.sphere_m);
		for (int k = 0; k < 10; k++) {
			const tac_drigid T =
				joint_pose(&j, j.clearance * tac_rng_range_f64(&rng, 0, 1.1), &rng);
			const tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng),
							    j.clearance * tac_rng_range_f64(&rng, 0, 1)),
					w = tac_dvec3_scale(tac_rng_unit_f64(&rng),
							    tac_rng_range_f64(&rng, 0, 0.05));
			const tac_certificate_options options = tac_certificate_options_default();
			const tac_certificate c =
				tac_certificate_check(ball, socket, &T, v, w, &options, NULL);
			nested += tac_contacts_nested(ball, socket, &T);
			whole += c.fraction == 1;
			if (c.fraction == 0)
				continue;
			proofs++;
			for (int n = 1; n <= 2; n++) {
				const tac_drigid at = tac_certificate_pose(&T, v, w, c.fraction * n / 2);
				TEST_ASSERT_TRUE(exact_distance(&j, &at, 1e-6) >= options.threshold - 1e-12);
			}
		}
		tac_body_destroy(&ball);
		tac_body_destroy(&socket);
		joint_free(&j);
	}
	printf("%d proofs, %d of whole motions, %d begin nested\n", proofs, whole, nested);
	TEST_ASSERT_TRUE(proofs > 5 && whole > 3 && nested > 5);
}

// A ball that turns about its own centre moves nothing, however far it turns.
static void a_ball_turns_in_its_socket(void)
{
	tac_rng rng = tac_rng_seed(6, 1);
	for (int i = 0; i < 8; i++) {
		joint j = joint_make(&rng, 5, true);
		tac_body *ball = body_of(j.ball.mesh, j.sphere_m),
			 *socket = body_of(j.socket.mesh, j.sphere_m);
		const tac_drigid T = joint_pose(&j, 0.5 * j.clearance, &rng);
		const tac_dvec3 w = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.8);
		// The pose's origin goes round the centre; the certificate's motion is a chord with a turn.
		const tac_dvec3 arm = tac_dmat3_apply(T.R, j.ball.centre);
		const tac_dvec3 v =
			tac_dvec3_sub(arm, tac_dquat_rotate(tac_dquat_exp(tac_dvec3_scale(w, 0.01)), arm));
		const tac_certificate_options options = tac_certificate_options_default();
		const tac_certificate c =
			tac_certificate_check(ball, socket, &T, v, tac_dvec3_scale(w, 0.01), &options, NULL);
		TEST_ASSERT_TRUE(tac_contacts_nested(ball, socket, &T));
		TEST_ASSERT_EQUAL_DOUBLE(1, c.fraction);
		TEST_ASSERT_EQUAL(0, c.pairs);
		tac_body_destroy(&ball);
		tac_body_destroy(&socket);
		joint_free(&j);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(caps_are_found_with_bounds_that_contain_their_triangles);
	RUN_TEST(other_surfaces_are_no_sphere_faces);
	RUN_TEST(the_triangle_in_a_direction_is_found);
	RUN_TEST(gaps_bound_the_distance_of_the_meshes_from_below);
	RUN_TEST(a_cup_over_a_ball_is_a_ball_in_a_cup);
	RUN_TEST(proved_motions_keep_the_meshes_apart);
	RUN_TEST(a_ball_turns_in_its_socket);
	return UNITY_END();
}
