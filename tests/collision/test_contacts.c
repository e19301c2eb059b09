#include "collision/certificate.h"
#include "collision/contacts.h"

#include "base/rng.h"
#include "collision/continuous/sweep_context.h"
#include "collision/mesh_shapes.h"
#include "tests/support/sweep_referee.h"
#include "tests/support/sweep_shapes.h"

#include <string.h>
#include <unity.h>

static mesh_body made[8]; // freed at the end of each test
static int made_count;
static tac_contacts contacts, again;
static tac_sweep_context *context;
static tac_round_context *round_context;

void setUp(void)
{
	TEST_ASSERT_EQUAL(TAC_OK, tac_sweep_context_create(&context));
	TEST_ASSERT_EQUAL(TAC_OK, tac_round_context_create(&round_context));
}

void tearDown(void)
{
	for (int i = 0; i < made_count; i++)
		mesh_body_free(&made[i]);
	made_count = 0;
	tac_sweep_context_destroy(&context);
	tac_round_context_destroy(&round_context);
}

// A body of the mesh, solid where it can be.
static mesh_body make(tac_mesh *mesh)
{
	return made[made_count++] = mesh_body_make(mesh, tac_mesh_is_watertight(mesh));
}

static mesh_body make_box(float x, float y, float z, int segments)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(x, y, z), segments, &mesh));
	return make(mesh);
}

static tac_drigid pose(double x, double y, double z, tac_dvec3 axis, double angle)
{
	return tac_drigid_from_pose(
		tac_dpose_make(tac_dvec3_make(x, y, z), tac_dquat_from_axis_angle(axis, angle)));
}

static const tac_dvec3 z_axis = {0, 0, 1};

static void assert_normal(const tac_contact_point *c, double x, double y, double z)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, x, c->normal.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, y, c->normal.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, z, c->normal.z);
}

static void cube_lying_on_a_floor_has_four_contacts(void)
{
	mesh_body cube = make_box(0.04f, 0.04f, 0.04f, 1), fine = make_box(0.04f, 0.04f, 0.04f, 4);
	tac_mesh *grid;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(1, 1, 10, 10, &grid));
	mesh_body floor = make(grid), slab = make_box(1, 1, 0.1f, 3);
	double half = (double)0.04f / 2;
	// Rotated, straight above a vertex of the grid, and above its diagonals.
	tac_drigid poses[] = {pose(0.013, 0.021, half + 1e-5, z_axis, 0.3),
			      pose(0, 0, half + 1e-5, z_axis, 0), pose(0.02, 0.02, half + 1e-5, z_axis, 0)};
	for (int i = 0; i < 3; i++) {
		const mesh_body *bodies[] = {&cube, &fine};
		for (int k = 0; k < 2; k++) {
			tac_contacts_query(bodies[k]->body, floor.body, &poses[i], 1e-4, NULL, &contacts);
			// The four corners; each lower edge of the finer cube has three more vertices.
			TEST_ASSERT_EQUAL_INT(k ? 16 : 4, contacts.count);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-5, contacts.distance);
			for (int c = 0; c < contacts.count; c++) {
				TEST_ASSERT_EQUAL(TAC_CONTACT_VERTEX_FACE, contacts.list[c].kind);
				assert_normal(&contacts.list[c], 0, 0, 1);
				TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-5, contacts.list[c].gap);
			}
		}
		poses[i].t.z += (double)0.1f / 2;
		tac_contacts_query(cube.body, slab.body, &poses[i], 1e-4, NULL, &contacts);
		TEST_ASSERT_EQUAL_INT(4, contacts.count);
		TEST_ASSERT_EQUAL_INT(5, contacts.list[0].fixed_surface); // +z of the slab
	}
	// Below the open floor the normals point down.
	tac_drigid below = pose(0.013, 0.021, -half - 1e-5, z_axis, 0.3);
	tac_contacts_query(cube.body, floor.body, &below, 1e-4, NULL, &contacts);
	TEST_ASSERT_EQUAL_INT(4, contacts.count);
	assert_normal(&contacts.list[0], 0, 0, -1);
}

static void crossing_edges_are_one_contact(void)
{
	mesh_body a = make_box(0.2f, 0.02f, 0.02f, 1), b = make_box(0.02f, 0.2f, 0.02f, 1);
	// Both rest on an edge: the lower edge of a, along x, is above the upper edge of b, along y.
	double reach = sqrt(0.5) * (double)0.02f, pi = 3.14159265358979323846;
	// b is rotated about y, a about x; T is in the frame of b.
	tac_dquat turn_b = tac_dquat_from_axis_angle(tac_dvec3_make(0, 1, 0), pi / 4);
	tac_dquat turn_a = tac_dquat_from_axis_angle(tac_dvec3_make(1, 0, 0), pi / 4);
	tac_dpose W_a = tac_dpose_make(tac_dvec3_make(0, 0, 2 * reach + 1e-5), turn_a);
	tac_drigid T =
		tac_drigid_from_pose(tac_dpose_relative(tac_dpose_make(tac_dvec3_zero(), turn_b), W_a));
	tac_contacts_query(a.body, b.body, &T, 1e-4, NULL, &contacts);
	TEST_ASSERT_EQUAL_INT(1, contacts.count);
	TEST_ASSERT_EQUAL(TAC_CONTACT_EDGE_EDGE, contacts.list[0].kind);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, 1e-5, contacts.list[0].gap);
	tac_dvec3 n = tac_dquat_rotate(turn_b, contacts.list[0].normal);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1, n.z);
}

// A block with a V-shaped groove along y, as a closed prism. The groove is 0.1 m wide and `depth` times 0.1 m
// deep.
static tac_mesh *groove_build(float depth)
{
	const float xz[7][2] = {{-1, -1}, {1, -1}, {1, 0}, {0.5f, 0}, {0, -depth}, {-0.5f, 0}, {-1, 0}};
	static const int caps[5][3] = {{0, 1, 4}, {1, 2, 3}, {1, 3, 4}, {0, 4, 5}, {0, 5, 6}};
	enum { BANDS = 4, RING = 7 };
	tac_vec3 v[RING * (BANDS + 1)];
	tac_mesh_triangle t[200];
	int n = 0;
	for (int i = 0; i < RING * (BANDS + 1); i++)
		v[i] = tac_vec3_make(xz[i % RING][0] * 0.1f, (float)(i / RING) * 0.1f - 0.2f,
				     xz[i % RING][1] * 0.1f);
	for (int band = 0; band < BANDS; band++) {
		for (int i = 0; i < RING; i++) {
			int a = band * RING + i, b = band * RING + (i + 1) % RING;
			t[n++] = (tac_mesh_triangle){{a, a + RING, b}};
			t[n++] = (tac_mesh_triangle){{b, a + RING, b + RING}};
		}
	}
	for (int i = 0; i < 5; i++) {
		int last = BANDS * RING;
		t[n++] = (tac_mesh_triangle){{caps[i][0], caps[i][1], caps[i][2]}};
		t[n++] = (tac_mesh_triangle){{caps[i][0] + last, caps[i][2] + last, caps[i][1] + last}};
	}
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = v;
	def.vertex_count = RING * (BANDS + 1);
	def.triangles = t;
	def.triangle_count = n;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	TEST_ASSERT_TRUE(tac_mesh_is_watertight(mesh));
	TEST_ASSERT_TRUE(tac_mesh_volume(mesh) > 0);
	return mesh;
}

// A cube that slides in a groove touches its two walls, and nothing blocks it along the groove.
static void groove_has_no_ghost_walls(void)
{
	tac_mesh *mesh = groove_build(0.5f);
	mesh_body groove = make(mesh), cube = make_box(0.02f, 0.02f, 0.02f, 1);
	double s = sqrt(0.5), pi = 3.14159265358979323846, half = (double)0.02f / 2;
	// The cube rests on an edge, 10 µm from each wall, at positions along y.
	for (int i = 0; i < 50; i++) {
		double y = -0.15 + 0.006 * i;
		tac_drigid T = pose(0, y, (double)(-0.5f * 0.1f) + (half + 1e-5) / s, tac_dvec3_make(0, 1, 0),
				    pi / 4);
		tac_contacts_query(cube.body, groove.body, &T, 1e-4, NULL, &contacts);
		TEST_ASSERT_GREATER_OR_EQUAL_INT(4, contacts.count);
		TEST_ASSERT_DOUBLE_WITHIN(1e-8, 1e-5, contacts.distance);
		for (int c = 0; c < contacts.count; c++) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0, contacts.list[c].normal.y);
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, s, fabs(contacts.list[c].normal.x));
			TEST_ASSERT_DOUBLE_WITHIN(1e-6, s, contacts.list[c].normal.z);
		}
	}
}

// In a shallow groove the point of the far wall closest to a vertex is on the concave edge. The vertex must
// still not pass the plane of that wall.
static void vertex_beside_a_concave_edge_meets_the_planes_of_both_walls(void)
{
	mesh_body groove = make(groove_build(0.1f)), cube = make_box(0.02f, 0.02f, 0.02f, 1);
	// The cube rests on a corner, 10 µm above the right wall and 0.1 mm beside the edge.
	tac_dvec3 corner = tac_dvec3_normalize(tac_dvec3_make(1, 1, 1)), down = tac_dvec3_make(0, 0, -1);
	tac_dvec3 axis = tac_dvec3_normalize(tac_dvec3_cross(corner, down));
	double length = sqrt(3) * (double)0.02f / 2, depth = (double)(0.1f * 0.1f), x = 1e-4;
	tac_drigid T =
		pose(x, 0.013, -depth + 0.2 * x + 1e-5 + length, axis, acos(tac_dvec3_dot(corner, down)));
	tac_contacts_query(cube.body, groove.body, &T, 2e-4, NULL, &contacts);
	int left = 0, right = 0;
	for (int c = 0; c < contacts.count; c++) {
		left += contacts.list[c].normal.x > 0.1;
		right += contacts.list[c].normal.x < -0.1;
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, contacts.list[c].normal.y);
	}
	TEST_ASSERT_EQUAL_INT(1, left);
	TEST_ASSERT_EQUAL_INT(1, right);
}

// Triangles above one of a floor meet its plane, and no plane enters one of its two triangles.
static void a_plane_keeps_two_triangles_apart(void)
{
	mesh_body floor = make_box(0.1f, 0.1f, 0.02f, 10), cube = make_box(0.02f, 0.02f, 0.02f, 2);
	const tac_mesh *a = cube.mesh, *b = floor.mesh;
	const double height = (double)0.02f / 2 + (double)0.02f / 2 + 1e-5;
	const tac_dpose T =
		tac_dpose_make(tac_dvec3_make(0.003, 0.001, height), tac_dquat_from_axis_angle(z_axis, 0.3));
	int above = 0;
	for (int32_t i = 0; i < a->triangle_count; i++) {
		for (int32_t j = 0; j < b->triangle_count; j++) {
			if (tac_mesh_triangle_normal(a, i).z > -0.5 || tac_mesh_triangle_normal(b, j).z < 0.5)
				continue;
			const tac_triangle_contacts c = tac_contacts_of_triangles(a, i, b, j, T);
			above += c.distance < 1.001e-5;
			for (int k = 0; k < 3; k++) {
				TEST_ASSERT_TRUE(c.contacts[k].gap > c.distance - 1e-8);
				if (c.distance < 1.001e-5)
					assert_normal(&c.contacts[k], 0, 0, 1);
			}
		}
	}
	TEST_ASSERT_GREATER_THAN_INT(10, above);
}

// An edge of the cube runs over edges within the floor. Beside a triangle of the floor its closest points are
// on such an edge, and the plane across them would be a wall: the plane is that of the floor.
static void an_edge_over_a_floor_meets_its_plane(void)
{
	mesh_body floor = make_box(0.1f, 0.1f, 0.02f, 10), cube = make_box(0.02f, 0.02f, 0.02f, 2);
	const tac_mesh *a = cube.mesh, *b = floor.mesh;
	const double half = (double)0.02f / 2;
	const tac_dquat tilt = tac_dquat_from_axis_angle(tac_dvec3_make(1, 0, 0), 0.7853981633974483),
			turn = tac_dquat_from_axis_angle(z_axis, 0.3);
	const tac_dpose T = tac_dpose_make(tac_dvec3_make(0.003, 0.001, half + sqrt(2) * half + 1e-5),
					   tac_dquat_mul(turn, tilt));
	int by_face = 0;
	for (int32_t i = 0; i < a->triangle_count; i++) {
		for (int32_t j = 0; j < b->triangle_count; j++) {
			if (tac_mesh_triangle_normal(b, j).z < 0.5)
				continue;
			const tac_triangle_contacts c = tac_contacts_of_triangles(a, i, b, j, T);
			if (!c.by_face || c.contacts[0].kind != TAC_CONTACT_VERTEX_FACE)
				continue;
			by_face++;
			for (int k = 0; k < 3; k++) {
				assert_normal(&c.contacts[k], 0, 0, 1);
				TEST_ASSERT_DOUBLE_WITHIN(1e-8, c.contacts[k].point.z - half,
							  c.contacts[k].gap);
			}
		}
	}
	TEST_ASSERT_GREATER_THAN_INT(10, by_face);
}

// The closest pair is listed with its distance as the gap. No pair is listed twice, and the order is fixed.
static void closest_pair_is_always_among_the_contacts(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 14, 10, &mesh));
	mesh_body torus = make(mesh), box = make_box(0.3f, 0.2f, 0.1f, 2);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.12f, 1, &mesh));
	mesh_body ball = make(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_grid(0.5f, 0.5f, 3, 3, &mesh));
	mesh_body sheet = make(mesh);
	const mesh_body *pairs[][2] = {
		{&box, &torus}, {&ball, &torus}, {&torus, &torus}, {&box, &box}, {&sheet, &box}};
	tac_rng rng = tac_rng_seed(30, 1);
	double margin = 5e-3;
	int seen = 0, kinds[6] = {0};
	for (int n = 0; n < 1000; n++) {
		const mesh_body *a = pairs[n % 5][0], *b = pairs[n % 5][1];
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.9);
		tac_drigid T = tac_drigid_from_pose(tac_dpose_make(p, tac_rng_rotation_f64(&rng)));
		tac_sweep_options options = tac_sweep_options_default();
		options.zone = tac_rng_range_f64(&rng, 1e-5, 4e-3);
		tac_dvec3 v = tac_dvec3_scale(p, -1.3);
		tac_sweep_result r = tac_sweep_translate(a->body, b->body, &T, v, &options, NULL);
		if (r.fraction == 1 || r.fraction == 0)
			continue;
		T = tac_sweep_translated(&T, v, r.fraction);
		tac_contacts_query(a->body, b->body, &T, margin, NULL, &contacts);
		ref_pose P = ref_pose_at(&T, v, tac_dvec3_zero(), z_axis, 0, 0);
		double expected = ref_distance(a->mesh, b->mesh, &P, margin);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, expected, contacts.distance);
		double least = margin;
		for (int i = 0; i < contacts.count; i++) {
			const tac_contact_point *c = &contacts.list[i];
			least = fmin(least, c->gap);
			kinds[c->kind]++;
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dvec3_length(c->normal));
			TEST_ASSERT_TRUE(c->gap > 0 && c->gap < margin);
			for (int k = 0; k < i; k++) {
				const tac_contact_point *o = &contacts.list[k];
				TEST_ASSERT_FALSE(o->kind == c->kind &&
						  o->moving_feature == c->moving_feature &&
						  o->fixed_feature == c->fixed_feature);
			}
			if (i > 0)
				TEST_ASSERT_TRUE(contacts.list[i - 1].kind <= c->kind);
		}
		// Above a concave edge the plane of a face is closer than the face.
		TEST_ASSERT_TRUE(least <= expected + 1e-9);
		if (a != &torus && b != &torus)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected, least);
		tac_contacts_query(a->body, b->body, &T, margin, NULL, &again);
		TEST_ASSERT_EQUAL_INT(contacts.count, again.count);
		TEST_ASSERT_EQUAL_MEMORY(contacts.list, again.list,
					 sizeof(tac_contact_point) * (size_t)again.count);
		seen++;
	}
	TEST_ASSERT_GREATER_THAN(500, seen);
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_GREATER_THAN(50, kinds[i]);
}

// A contact with a plane, or of two edges, that is listed at two poses has at the second one the gap that is
// followed from the first.
static void gaps_are_followed_to_another_pose(void)
{
	mesh_body box = make_box(0.3f, 0.2f, 0.1f, 1), other = make_box(0.2f, 0.2f, 0.2f, 1);
	tac_rng rng = tac_rng_seed(31, 1);
	int followed[3] = {0};
	for (int n = 0; n < 2000; n++) {
		tac_dvec3 p = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.6);
		tac_dpose start = tac_dpose_make(p, tac_rng_rotation_f64(&rng));
		tac_drigid from = tac_drigid_from_pose(start);
		tac_sweep_options options = tac_sweep_options_default();
		options.zone = 2e-3;
		tac_sweep_result r =
			tac_sweep_translate(box.body, other.body, &from, tac_dvec3_neg(p), &options, NULL);
		start.position = tac_dvec3_scale(p, 1 - r.fraction);
		tac_dquat turn = tac_dquat_exp(tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3));
		from = tac_drigid_from_pose(start);
		const tac_drigid to = tac_drigid_from_pose(tac_dpose_make(
			tac_dvec3_scale(start.position, 1.001), tac_dquat_mul(turn, start.rotation)));
		tac_contacts_query(box.body, other.body, &from, 5e-3, NULL, &contacts);
		tac_contacts_query(box.body, other.body, &to, 5e-3, NULL, &again);
		for (int i = 0; i < contacts.count * again.count; i++) {
			const tac_contact_point *a = &contacts.list[i % contacts.count],
						*b = &again.list[i / contacts.count];
			if (a->kind > TAC_CONTACT_EDGE_EDGE || a->kind != b->kind ||
			    a->moving_feature != b->moving_feature || a->fixed_feature != b->fixed_feature)
				continue;
			TEST_ASSERT_DOUBLE_WITHIN(
				1e-9, b->gap, tac_contacts_gap_after(a, box.body, other.body, &from, &to));
			followed[a->kind]++;
		}
	}
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_GREATER_THAN(50, followed[i]);
}

// The contacts are those of a query without a context, to the bit.
static void expect_without_context(const mesh_body *moving, const mesh_body *fixed, const tac_drigid *T,
				   double margin)
{
	tac_contacts_query(moving->body, fixed->body, T, margin, NULL, &again);
	TEST_ASSERT_TRUE(again.distance == contacts.distance);
	TEST_ASSERT_EQUAL_INT(again.count, contacts.count);
	if (again.count > 0)
		TEST_ASSERT_EQUAL_MEMORY(again.list, contacts.list,
					 sizeof(tac_contact_point) * (size_t)again.count);
}

// A random walk in contact: a list that was made at another pose gives the same contacts.
static void contacts_do_not_depend_on_the_context(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 40, 24, &mesh));
	mesh_body torus = make(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.12f, 3, &mesh));
	mesh_body ball = make(mesh);
	tac_rng rng = tac_rng_seed(31, 1);
	tac_drigid T = pose(0.3, 0, 0.3, z_axis, 0);
	tac_sweep_options options = tac_sweep_options_default();
	int seen = 0, reused = 0;
	for (int n = 0; n < 3000; n++) {
		tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), 3e-3 * tac_rng_f64(&rng));
		v.z -= 5e-4;
		tac_sweep_result r = tac_sweep_translate(ball.body, torus.body, &T, v, &options, context);
		tac_sweep_result alone = tac_sweep_translate(ball.body, torus.body, &T, v, &options, NULL);
		TEST_ASSERT_TRUE(r.fraction == alone.fraction && r.moving_feature == alone.moving_feature &&
				 r.fixed_feature == alone.fixed_feature);
		T = tac_sweep_translated(&T, v, r.fraction);
		double margin = n % 2 ? 2e-3 : 8e-3, before = context->lists[context->current].pose.t.x;
		tac_contacts_query(ball.body, torus.body, &T, margin, context, &contacts);
		reused += before == context->lists[context->current].pose.t.x;
		expect_without_context(&ball, &torus, &T, margin);
		seen += again.count;
	}
	TEST_ASSERT_GREATER_THAN(3000, seen);
	TEST_ASSERT_GREATER_THAN(300, reused);
	tac_drigid bad = T;
	bad.t.x = (double)NAN;
	tac_contacts_query(ball.body, torus.body, &bad, 1e-3, context, &contacts);
	TEST_ASSERT_TRUE(contacts.distance == 0); // may not be free
}

// A list of an earlier pose may cover less than the margin, never less than what is enough.
static void a_shortened_margin_is_enough_and_no_contact_within_it_is_missing(void)
{
	const double enough = 1e-3, margin = 1.5e-3;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 40, 24, &mesh));
	mesh_body torus = make(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.12f, 3, &mesh));
	mesh_body ball = make(mesh);
	tac_rng rng = tac_rng_seed(32, 1);
	int shortened = 0;
	for (int n = 0; n < 2000; n++) {
		const tac_dvec3 v = tac_dvec3_scale(tac_rng_unit_f64(&rng), 6e-3 * tac_rng_f64(&rng));
		const tac_drigid T = pose(0.3 + v.x, v.y, 0.2206 + fabs(v.z), z_axis, 0);
		tac_sweep_context_set_enough(context, enough);
		tac_contacts_query(ball.body, torus.body, &T, margin, context, &contacts);
		TEST_ASSERT_TRUE(contacts.margin >= enough && contacts.margin <= margin);
		shortened += contacts.margin < margin;
		expect_without_context(&ball, &torus, &T, contacts.margin);
		if (n % 10 == 0)
			tac_sweep_context_prepare(context, &T);
		if (n % 100 == 0)
			tac_sweep_context_reset(context);
	}
	TEST_ASSERT_GREATER_THAN(20, shortened);
}

// The most work that a step of a straight slide takes, apart from what works ahead. The first half of the
// slide does not count: the context learns how long lists may be.
static int64_t most_work_of_slide(const mesh_body *slider, const mesh_body *plate, bool ahead)
{
	const tac_certificate_options options = tac_certificate_options_default();
	const tac_dvec3 v = tac_dvec3_make(4e-4, 1e-4, 0), none = tac_dvec3_zero();
	tac_drigid T = pose(-0.1, -0.03, 0.0355, z_axis, 0.2);
	int64_t most = 0;
	tac_sweep_context_reset(context);
	for (int n = 0; n < 400; n++) {
		tac_sweep_context_set_work_limit(context, 0);
		TEST_ASSERT_TRUE(
			tac_certificate_check(slider->body, plate->body, &T, v, none, &options, context)
				.fraction == 1);
		T.t = tac_dvec3_add(T.t, v);
		tac_contacts_query(slider->body, plate->body, &T, 8e-4, context, &contacts);
		if (n >= 200)
			most = tac_sweep_context_work(context) > most ? tac_sweep_context_work(context)
								      : most;
		if (n % 10 == 0)
			expect_without_context(slider, plate, &T, 8e-4);
		if (ahead)
			tac_sweep_context_prepare(context, &T);
	}
	return most;
}

static void working_ahead_changes_no_contact_and_saves_work_at_once(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.04f, 0.01f, 48, 24, &mesh));
	mesh_body slider = make(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_box(tac_vec3_make(0.5f, 0.3f, 0.05f), 40, &mesh));
	mesh_body plate = make(mesh);
	const int64_t at_once = most_work_of_slide(&slider, &plate, false),
		      ahead = most_work_of_slide(&slider, &plate, true);
	TEST_ASSERT_GREATER_THAN(1000, ahead);
	TEST_ASSERT_LESS_THAN(at_once * 2 / 3, ahead);
}

// A ball in a hollow ball of nearly the same radius: every triangle is near others.
static void too_many_pairs_lower_the_margin_and_no_contact_within_it_is_missing(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.1f, 5, &mesh));
	mesh_body hollow = make(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.0985f, 5, &mesh));
	mesh_body ball = make(mesh);
	int lowered = 0;
	for (int n = 0; n < 60; n++) {
		tac_drigid T = pose(1e-4 * n / 60, 0, -1.2e-3 * n / 60, z_axis, 1e-3 * n);
		double margin = n % 3 ? 1e-3 : 1.5e-3;
		tac_contacts_query(ball.body, hollow.body, &T, margin, context, &contacts);
		TEST_ASSERT_TRUE(contacts.margin <= margin && contacts.pairs <= TAC_CONTACTS_PAIRS_MAX);
		TEST_ASSERT_TRUE(contacts.distance <= contacts.margin);
		lowered += contacts.margin < margin;
		if (contacts.margin == 0)
			continue;
		expect_without_context(&ball, &hollow, &T, contacts.margin);
	}
	TEST_ASSERT_GREATER_THAN(10, lowered);
}

// A work limit also lowers the margin; within it nothing is missing. The work exceeds the limit only by the
// features of the pairs that were admitted.
static void work_limit_lowers_the_margin_and_no_contact_within_it_is_missing(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.1f, 5, &mesh));
	mesh_body floor = make(mesh);
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.1f, 5, &mesh));
	mesh_body ball = make(mesh);
	int lowered = 0, whole = 0, none = 0;
	for (int n = 0; n < 400; n++) {
		tac_drigid T = pose(1e-3 * sin(0.05 * n), 0, 0.2 + 5e-5, z_axis, 2e-3 * n);
		const int64_t limit = INT64_C(200) << n % 9;
		tac_sweep_context_set_work_limit(context, limit);
		tac_contacts_query(ball.body, floor.body, &T, 1e-3, context, &contacts);
		// Listed pairs are culled regardless of the limit.
		TEST_ASSERT_TRUE(tac_sweep_context_work(context) <= 2 * limit + TAC_SWEEP_PAIRS_MAX);
		TEST_ASSERT_TRUE(contacts.margin <= 1e-3 && contacts.distance <= contacts.margin);
		lowered += contacts.margin > 0 && contacts.margin < 1e-3;
		whole += contacts.margin == 1e-3;
		none += contacts.margin == 0;
		if (contacts.margin == 0)
			continue;
		expect_without_context(&ball, &floor, &T, contacts.margin);
	}
	TEST_ASSERT_GREATER_THAN(40, lowered);
	TEST_ASSERT_GREATER_THAN(40, whole);
	TEST_ASSERT_GREATER_THAN(20, none);
}

// Spheres and capsules above a box, in closed form; on a torus the closest pair is among the contacts.
// Two triangles that make a flat quadrilateral are one face of the body of a filter with flat faces. Its
// contacts are those of a body of the same triangles that has none.
static void faces_of_two_triangles_have_the_contacts_of_their_triangles(void)
{
	const tac_mesh_filter_def filter = {6, 0.2F, 0.01F, 0.012F, 0.05F, 1, 1};
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_filter(&filter, &mesh));
	tac_body *with, *without;
	tac_body_def def = tac_body_def_default();
	def.mesh = mesh;
	def.solid = true;
	def.flat_m = TAC_BODY_FLAT;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &with));
	TEST_ASSERT_NOT_NULL(with->partners);
	def.mesh = tac_body_mesh(with);
	def.flat_m = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_body_build(&def, &without));
	TEST_ASSERT_NULL(without->partners);
	static tac_contacts a, b;
	tac_rng rng = tac_rng_seed(21, 71);
	int64_t kinds[TAC_CONTACT_SPHERES] = {0};
	for (int round = 0; round < test_rounds(400); round++) {
		const double angle = pow(10, tac_rng_range_f64(&rng, -5, -1));
		tac_drigid T = pose(tac_rng_range_f64(&rng, 0.08, 0.2), tac_rng_range_f64(&rng, -0.2, 0.2),
				    tac_rng_range_f64(&rng, 0.0105, 0.0115), tac_rng_unit_f64(&rng), angle);
		const double margin = tac_rng_range_f64(&rng, 2e-4, 2e-3);
		tac_contacts_query(with, with, &T, margin, NULL, &a);
		tac_contacts_query(without, without, &T, margin, NULL, &b);
		TEST_ASSERT_EQUAL_DOUBLE(b.distance, a.distance);
		if (b.distance == 0)
			continue;
		TEST_ASSERT_EQUAL_INT32(b.count, a.count);
		for (int32_t i = 0; i < a.count; i++) {
			TEST_ASSERT_TRUE(tac_contacts_same_features(&a.list[i], &b.list[i]));
			TEST_ASSERT_EQUAL_DOUBLE(b.list[i].gap, a.list[i].gap);
			kinds[a.list[i].kind]++;
		}
		// Plates in plates: sides cross faces far from their edges.
		T.t.z = tac_rng_range_f64(&rng, 0.003, 0.007);
		tac_contacts_query(with, with, &T, 2e-4, NULL, &a);
		TEST_ASSERT_EQUAL_DOUBLE(0, a.distance);
	}
	TEST_ASSERT_GREATER_THAN(test_rounds(100), kinds[TAC_CONTACT_VERTEX_FACE]);
	TEST_ASSERT_GREATER_THAN(test_rounds(100), kinds[TAC_CONTACT_FACE_VERTEX]);
	TEST_ASSERT_GREATER_THAN(test_rounds(100), kinds[TAC_CONTACT_EDGE_EDGE]);
	tac_body_destroy(&without);
	tac_body_destroy(&with);
	tac_mesh_destroy(&mesh);
}

static void round_tools_have_contacts_of_their_surface(void)
{
	mesh_body box = make_box(0.2f, 0.2f, 0.2f, 4);
	double half = (double)0.2f / 2;
	tac_round ball = {tac_dvec3_make(0.013, 0.017, half + 0.0101),
			  tac_dvec3_make(0.013, 0.017, half + 0.0101), 0.01};
	tac_contacts_round(&ball, box.body, 1e-3, round_context, &contacts);
	TEST_ASSERT_EQUAL_INT(1, contacts.count);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1e-4, contacts.list[0].gap);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1e-4, contacts.distance);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, contacts.list[0].normal.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, half + 1e-4, contacts.list[0].point.z);
	TEST_ASSERT_EQUAL_INT(-1, contacts.list[0].moving_surface);
	// Beside an edge the normal points away from the edge.
	ball.a = ball.b = tac_dvec3_make(half + 0.006, 0.01, half + 0.0081);
	tac_contacts_round(&ball, box.body, 1e-3, round_context, &contacts);
	TEST_ASSERT_EQUAL_INT(1, contacts.count);
	TEST_ASSERT_EQUAL(TAC_CONTACT_VERTEX_EDGE, contacts.list[0].kind);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, hypot(0.006, 0.0081) - 0.01, contacts.list[0].gap);
	// A capsule that lies on the top face, and one across an edge.
	tac_round rod = {tac_dvec3_make(-0.03, 0.01, half + 0.0102),
			 tac_dvec3_make(0.04, 0.02, half + 0.0102), 0.01};
	tac_contacts_round(&rod, box.body, 1e-3, round_context, &contacts);
	TEST_ASSERT_EQUAL_INT(2, contacts.count);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2e-4, contacts.list[0].gap);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2e-4, contacts.list[1].gap);
	rod = (tac_round){tac_dvec3_make(half + 0.05, 0.013, half - 0.05),
			  tac_dvec3_make(half - 0.05, 0.013, half + 0.05), 0.01};
	double shift = 0.0101 / sqrt(2);
	rod.a.x += shift, rod.a.z += shift, rod.b.x += shift, rod.b.z += shift;
	tac_contacts_round(&rod, box.body, 1e-3, round_context, &contacts);
	TEST_ASSERT_EQUAL_INT(1, contacts.count);
	TEST_ASSERT_EQUAL(TAC_CONTACT_EDGE_EDGE, contacts.list[0].kind);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1e-4, contacts.list[0].gap);
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.3f, 0.1f, 24, 16, &mesh));
	mesh_body torus = make(mesh);
	tac_rng rng = tac_rng_seed(33, 1);
	int seen = 0;
	for (int n = 0; n < 500; n++) {
		tac_round tool = {.radius = tac_rng_range_f64(&rng, 1e-3, 0.03)};
		tool.a = tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.7);
		tool.b = n % 2 ? tool.a : tac_dvec3_add_scaled(tool.a, 0.1, tac_rng_unit_f64(&rng));
		tac_sweep_options options = tac_sweep_options_default();
		options.zone = tac_rng_range_f64(&rng, 1e-5, 2e-3);
		tac_dvec3 v = tac_dvec3_scale(tool.a, -1.2);
		tac_sweep_result r = tac_round_translate(&tool, torus.body, v, &options, NULL);
		if (r.fraction == 1 || r.fraction == 0)
			continue;
		tool.a = tac_dvec3_add_scaled(tool.a, r.fraction, v);
		tool.b = tac_dvec3_add_scaled(tool.b, r.fraction, v);
		tac_contacts_round(&tool, torus.body, 3e-3, round_context, &contacts);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, options.zone, contacts.distance);
		double least = 1;
		for (int i = 0; i < contacts.count; i++)
			least = fmin(least, contacts.list[i].gap);
		TEST_ASSERT_TRUE(least <= options.zone + 1e-9);
		seen++;
	}
	TEST_ASSERT_GREATER_THAN(100, seen);
}

static void farthest_contacts_are_dropped_when_they_do_not_fit(void)
{
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_icosphere(0.1f, 4, &mesh));
	mesh_body ball = make(mesh), slab = make_box(1, 1, 0.1f, 1);
	tac_drigid T = pose(0, 0, 0.1501, z_axis, 0);
	tac_contacts_query(ball.body, slab.body, &T, 0.08, NULL, &contacts);
	TEST_ASSERT_EQUAL_INT(TAC_CONTACTS_MAX, contacts.count);
	TEST_ASSERT_GREATER_THAN(0, contacts.dropped);
	double largest = 0;
	for (int i = 0; i < contacts.count; i++)
		largest = fmax(largest, contacts.list[i].gap);
	// Every vertex of the ball that is lower than the highest one listed is listed, too.
	int lower = 0;
	for (int32_t i = 0; i < ball.mesh->vertex_count; i++)
		lower += (double)ball.mesh->vertices[i].z + 0.1501 - (double)0.1f / 2 < largest - 1e-9;
	TEST_ASSERT_LESS_THAN(TAC_CONTACTS_MAX, lower);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(cube_lying_on_a_floor_has_four_contacts);
	RUN_TEST(crossing_edges_are_one_contact);
	RUN_TEST(groove_has_no_ghost_walls);
	RUN_TEST(vertex_beside_a_concave_edge_meets_the_planes_of_both_walls);
	RUN_TEST(a_plane_keeps_two_triangles_apart);
	RUN_TEST(an_edge_over_a_floor_meets_its_plane);
	RUN_TEST(closest_pair_is_always_among_the_contacts);
	RUN_TEST(gaps_are_followed_to_another_pose);
	RUN_TEST(contacts_do_not_depend_on_the_context);
	RUN_TEST(a_shortened_margin_is_enough_and_no_contact_within_it_is_missing);
	RUN_TEST(working_ahead_changes_no_contact_and_saves_work_at_once);
	RUN_TEST(too_many_pairs_lower_the_margin_and_no_contact_within_it_is_missing);
	RUN_TEST(work_limit_lowers_the_margin_and_no_contact_within_it_is_missing);
	RUN_TEST(faces_of_two_triangles_have_the_contacts_of_their_triangles);
	RUN_TEST(round_tools_have_contacts_of_their_surface);
	RUN_TEST(farthest_contacts_are_dropped_when_they_do_not_fit);
	return UNITY_END();
}
