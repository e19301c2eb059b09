// Round tools: the rest poses of spheres and capsules have closed forms.
#include "collision/contacts.h"
#include "collision/continuous/body_tree.h"
#include "haptic/sco.h"
#include "tests/support/allocations.h"
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"
#include "tests/support/sco_scenes.h"
#include "tests/support/sweep_referee.h"

#include "base/rng.h"
#include "base/simd.h"

#define HOLD 1e-5

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct rig {
	scene_body scene;
	tac_sco *sco;
} rig;

static rig rig_limited(tac_mesh *scene, tac_round tool, tac_dpose start, int32_t substeps)
{
	rig g = {.scene = scene_body_make(scene)};
	tac_sco_object object = {.body = g.scene.body, .T_world_object = tac_dpose_identity()};
	tac_sco_def def = tac_sco_def_default();
	def.round = tool;
	def.objects = &object;
	def.object_count = 1;
	def.slew_m_per_s = 0;
	def.substeps = substeps;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sco_create(&def, &g.sco));
	TEST_ASSERT_TRUE(tac_sco_reset(g.sco, start, NULL));
	return g;
}

static rig rig_make(tac_mesh *scene, tac_dvec3 a, tac_dvec3 b, double radius, tac_dpose start)
{
	return rig_limited(scene, (tac_round){a, b, radius}, start, tac_sco_def_default().substeps);
}

static rig sphere_over(tac_mesh *scene, double radius, tac_dpose start)
{
	return rig_make(scene, tac_dvec3_zero(), tac_dvec3_zero(), radius, start);
}

static void rig_free(rig *g)
{
	tac_sco_destroy(&g->sco);
	scene_body_free(&g->scene);
}

// Moves the device to `to` in 100 ticks and holds it for 200.
static tac_sco_report move_to(rig *g, tac_dvec3 to)
{
	tac_sco_report r;
	tac_dpose from = tac_sco_pose(g->sco);
	for (int k = 1; k <= 300; k++) {
		tac_dvec3 p = tac_dvec3_lerp(from.position, to, fmin(1, k / 100.0));
		int before = allocations;
		tac_sco_step(g->sco, tac_dpose_make(p, tac_dquat_identity()), NULL, &r);
		TEST_ASSERT_EQUAL(before, allocations);
	}
	TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_FAULT | TAC_SCO_LIMITED));
	return r;
}

static double load_along(const tac_sco_report *r, tac_dvec3 along)
{
	double sum = 0;
	for (int i = 0; i < r->contact_count; i++)
		sum += r->contacts[i].load_m * tac_dvec3_dot(r->contacts[i].normal, along);
	return sum;
}

static void pressing_five_millimetres_into_a_plane_gives_two_and_a_half_newtons(void)
{
	rig g = sphere_over(plane_mesh(0.1, 20), 0.004, at(0.001, 0.002, 0.01));
	tac_sco_report r = move_to(&g, vec3(0.013, 0.007, 0.004 - 0.005));
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.004 + HOLD, r.T_world_sco.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.013, r.T_world_sco.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.007, r.T_world_sco.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 2.5, 500 * load_along(&r, vec3(0, 0, 1)));
	rig_free(&g);
}

static void a_sphere_in_a_groove_has_two_contacts(void)
{
	rig g = sphere_over(groove_mesh(0.1, 0.03, 0.03, 10), 0.005, at(0.01, 0.002, 0.01));
	tac_sco_report r = move_to(&g, vec3(0.03, 0.0005, -0.05));
	// Walls at 45 degrees.
	TEST_ASSERT_DOUBLE_WITHIN(2e-7, -0.03 + (0.005 + HOLD) * sqrt(2), r.T_world_sco.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(2e-7, 0, r.T_world_sco.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.03, r.T_world_sco.position.x);
	tac_dvec3 offset = tac_dvec3_sub(r.T_world_sco.position, vec3(0.03, 0.0005, -0.05));
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, offset.z, load_along(&r, vec3(0, 0, 1)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-5, offset.y, load_along(&r, vec3(0, 1, 0)));
	rig_free(&g);
}

static void a_sphere_in_a_corner_has_three_contacts(void)
{
	rig g = sphere_over(corner_mesh(0.1, 0.02, 5), 0.006, at(0.03, 0.04, 0.05));
	tac_sco_report r = move_to(&g, vec3(-0.002, -0.004, -0.008));
	TEST_ASSERT_DOUBLE_WITHIN(6e-7, 0.006 + HOLD, r.T_world_sco.position.x);
	TEST_ASSERT_DOUBLE_WITHIN(6e-7, 0.006 + HOLD, r.T_world_sco.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(6e-7, 0.006 + HOLD, r.T_world_sco.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.008 + HOLD, load_along(&r, vec3(1, 0, 0)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.014 + HOLD, load_along(&r, vec3(0, 0, 1)));
	rig_free(&g);
}

static void a_sphere_on_a_sphere_rests_on_the_line_of_centres(void)
{
	rig g = sphere_over(sphere_mesh(0.05, 5), 0.01, at(0.06, 0.03, 0.04));
	tac_dvec3 device = vec3(0.03, 0.015, 0.02);
	tac_sco_report r = move_to(&g, device);
	// The mesh of 20,480 triangles lies inside its sphere by at most 12 µm.
	double centre = tac_dvec3_length(r.T_world_sco.position);
	TEST_ASSERT_TRUE(centre <= 0.06 + HOLD + 1e-7 && centre >= 0.06 + HOLD - 3e-5);
	tac_dvec3 n = tac_dvec3_normalize(device);
	TEST_ASSERT_TRUE(tac_dvec3_length(tac_dvec3_cross(n, r.T_world_sco.position)) < 1e-3);
	rig_free(&g);
}

static void a_sphere_rests_in_the_hole_of_a_torus(void)
{
	tac_mesh *torus;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build_torus(0.04F, 0.015F, 192, 96, &torus));
	rig g = sphere_over(torus, 0.03, at(0.002, 0.001, 0.06));
	tac_sco_report r = move_to(&g, vec3(0, 0, -0.02));
	// Its distance from the centre circle of the tube is the sum of the radii; the mesh lies inside the
	// torus by up to 10 µm.
	TEST_ASSERT_DOUBLE_WITHIN(4e-5, sqrt(0.045 * 0.045 - 0.04 * 0.04), r.T_world_sco.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(3e-4, 0, hypot(r.T_world_sco.position.x, r.T_world_sco.position.y));
	rig_free(&g);
}

static void a_capsule_lies_flat_on_a_plane(void)
{
	rig g = rig_make(plane_mesh(0.1, 20), vec3(-0.02, 0, 0), vec3(0.02, 0, 0), 0.003, at(0, 0.002, 0.02));
	tac_sco_report r = move_to(&g, vec3(0.01, 0.011, -0.01));
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0.003 + HOLD, r.T_world_sco.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.011, r.T_world_sco.position.y);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.01301, load_along(&r, vec3(0, 0, 1)));
	rig_free(&g);
}

// Moves the device to `to` and turns it by w in 100 ticks, then holds it for 300.
static tac_sco_report move_and_turn(rig *g, tac_dvec3 to, tac_dvec3 w)
{
	tac_sco_report r;
	tac_dpose from = tac_sco_pose(g->sco);
	for (int k = 1; k <= 400; k++) {
		double s = fmin(1, k / 100.0);
		tac_dpose device =
			tac_dpose_make(tac_dvec3_lerp(from.position, to, s),
				       tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(w, s)), from.rotation));
		int before = allocations;
		tac_sco_step(g->sco, device, NULL, &r);
		TEST_ASSERT_EQUAL(before, allocations);
	}
	TEST_ASSERT_EQUAL(0, r.flags & (TAC_SCO_FAULT | TAC_SCO_LIMITED));
	return r;
}

// Pressed flat, it follows the device's turns in the plane and about its own axis without resistance.
static void a_capsule_turns_freely_in_a_plane(void)
{
	rig g = rig_make(plane_mesh(0.1, 20), vec3(-0.02, 0, 0), vec3(0.02, 0, 0), 0.003, at(0, 0.002, 0.01));
	move_to(&g, vec3(0, 0.002, -0.002));
	tac_sco_report r = move_and_turn(&g, vec3(0.005, 0.002, -0.002), vec3(0, 0, 1.2));
	tac_dquat wanted = tac_dquat_exp(vec3(0, 0, 1.2));
	tac_dvec3 error = tac_dquat_log(tac_dquat_mul(wanted, tac_dquat_conjugate(r.T_world_sco.rotation)));
	TEST_ASSERT_TRUE(tac_dvec3_length(error) < 2e-3);
	TEST_ASSERT_DOUBLE_WITHIN(2e-5, 0.003 + HOLD, r.T_world_sco.position.z);
	rig_free(&g);
}

// The device tilts while it presses, and one end of the capsule lifts until the springs are in equilibrium.
// With the flat capsule's centre h above the device, the energy at the tilt a is (h + L sin a)^2 + metric^2
// (tilt - a)^2.
static void a_pressed_capsule_tilts_to_the_equilibrium_of_the_springs(void)
{
	for (int k = 0; k < 3; k++) {
		double tilt = 0.2 + 0.2 * k, depth = 0.004, half = 0.02;
		rig g = rig_make(plane_mesh(0.1, 20), vec3(-half, 0, 0), vec3(half, 0, 0), 0.003,
				 at(0, 0.002, 0.01));
		tac_sco_report r = move_and_turn(&g, vec3(0, 0.002, 0.003 - depth), vec3(0, tilt, 0));
		double best = 0, least = HUGE_VAL, metric = tac_sco_def_default().metric_m;
		for (double a = 0; a < tilt; a += 1e-5) {
			double lift = depth + HOLD + half * sin(a),
			       energy = lift * lift + metric * metric * (tilt - a) * (tilt - a);
			best = energy < least ? a : best;
			least = fmin(least, energy);
		}
		tac_dvec3 along = tac_dpose_apply_vector(r.T_world_sco, vec3(1, 0, 0));
		TEST_ASSERT_DOUBLE_WITHIN(3e-3, best, asin(-along.z));
		TEST_ASSERT_DOUBLE_WITHIN(5e-5, 0.003 + HOLD + half * sin(best), r.T_world_sco.position.z);
		rig_free(&g);
	}
}

static void random_devices_never_make_a_round_tool_penetrate(void)
{
	for (int kind = 0; kind < 4; kind++) {
		tac_dvec3 half = kind & 1 ? vec3(0.008, 0.003, 0.002) : tac_dvec3_zero();
		double radius = kind & 1 ? 0.003 : 0.005;
		tac_mesh *mesh = kind < 2 ? terrain_mesh(0.08, 16, 0.005) : corner_mesh(0.1, 0.02, 3);
		tac_dpose device = at(0.05, 0.05, 0.12);
		rig g = rig_make(mesh, tac_dvec3_neg(half), half, radius, device);
		tac_rng rng = tac_rng_seed(11, (uint64_t)kind);
		tac_dvec3 v = tac_dvec3_zero(), w = v;
		law_watch force = {0};
		for (int k = 0; k < test_rounds(3000); k++) {
			if (k % 40 == 0) {
				tac_dvec3 target = tac_dvec3_scale(tac_rng_unit_f64(&rng),
								   tac_rng_range_f64(&rng, 0, 0.06));
				v = tac_dvec3_scale(tac_dvec3_sub(target, device.position), 1 / 40.0);
				w = tac_dvec3_scale(tac_rng_unit_f64(&rng), tac_rng_range_f64(&rng, 0, 0.03));
				if (k % 400 == 0)
					device.position = tac_dvec3_add(
						target, vec3(0, 0, tac_rng_range_f64(&rng, -0.3, 0.3)));
			}
			device.position = tac_dvec3_add(device.position, v);
			device.rotation =
				tac_dquat_normalize(tac_dquat_mul(tac_dquat_exp(w), device.rotation));
			tac_sco_report r;
			tac_sco_step(g.sco, device, NULL, &r);
			law_watch_step(&force, device, &r, tac_sco_def_default().metric_m, "round");
			tac_dvec3 a = tac_dpose_apply_point(r.T_world_sco, tac_dvec3_neg(half)),
				  b = tac_dpose_apply_point(r.T_world_sco, half);
			TEST_ASSERT_TRUE(ref_segment_distance(g.scene.mesh, a, b) - radius >= 4.9e-6);
			TEST_ASSERT_EQUAL(0, r.flags & TAC_SCO_FAULT);
		}
		rig_free(&g);
	}
}

// --- rolling over edges and vertices ---

// The device moves around a vertex and an edge of a box, close to them: small motions of the device are long
// ones of the sphere. Tangent planes at its present pose would take many substeps. The rest pose has a closed
// form.
static void a_sphere_rolls_over_a_vertex_and_an_edge(void)
{
	const double radius = 0.002, rest = radius + HOLD, offset = 3e-4;
	rig g = sphere_over(box_mesh(0.04, 0.04, 0.04, 1), radius, at(0.03, 0.03, 0.03));
	for (int edge = 0; edge < 2; edge++) {
		tac_sco_report r;
		move_to(&g, vec3(0.02 + offset, 0.02 + offset, edge ? 0.005 : 0.02 + offset));
		for (int k = 0; k < 80; k++) {
			double t = 0.2 + 0.015 * k;
			tac_dvec3 n =
				edge ? vec3(cos(t), sin(t), 0)
				     : tac_dvec3_normalize(vec3(cos(t), sin(t), 0.4 + 0.2 * sin(3 * t)));
			tac_dvec3 corner = vec3(0.02, 0.02, edge ? 0.005 - 1e-4 * k : 0.02);
			tac_dvec3 device = tac_dvec3_add_scaled(corner, offset, n);
			tac_sco_step(g.sco, tac_dpose_make(device, tac_dquat_identity()), NULL, &r);
			if (k < 5)
				continue; // still on its path to the corner
			tac_dvec3 expected = tac_dvec3_add_scaled(corner, rest, n);
			TEST_ASSERT_TRUE(tac_dvec3_length(tac_dvec3_sub(expected, r.T_world_sco.position)) <
					 2e-6);
			TEST_ASSERT_LESS_OR_EQUAL(4, r.substeps);
		}
	}
	rig_free(&g);
}

// On rough terrain other features are behind the one that is rolled over. With one substep a step the path is
// straight, and all of it must be free.
static void a_rolling_sphere_penetrates_nothing_along_its_path(void)
{
	const double radii[] = {5e-3, 2e-3}, halves[] = {0.08, 0.01}, heights[] = {5e-3, 1.2e-3};
	double least = HUGE_VAL;
	for (int kind = 0; kind < 2; kind++) {
		const tac_round tool = {.radius = radii[kind]};
		rig g = rig_limited(terrain_mesh(halves[kind], 16, heights[kind]), tool, at(0, 0, 0.02), 1);
		tac_rng rng = tac_rng_seed(12, (uint64_t)kind);
		tac_dvec3 p = vec3(0, 0, 0.02), v = tac_dvec3_zero();
		for (int k = 0; k < test_rounds(1500); k++) {
			if (k % 25 == 0) {
				tac_dvec3 aside = tac_dvec3_scale(tac_rng_unit_f64(&rng), 2e-3);
				tac_dvec3 target = tac_dvec3_add(tac_sco_pose(g.sco).position, aside);
				target.z -= radii[kind];
				v = tac_dvec3_scale(tac_dvec3_sub(target, p), 1 / 25.0);
			}
			p = tac_dvec3_add(p, v);
			tac_dvec3 from = tac_sco_pose(g.sco).position;
			tac_sco_report r;
			tac_sco_step(g.sco, tac_dpose_make(p, tac_dquat_identity()), NULL, &r);
			for (int i = 1; i <= 8; i++) {
				tac_dvec3 x = tac_dvec3_lerp(from, r.T_world_sco.position, i / 8.0);
				double distance = ref_segment_distance(g.scene.mesh, x, x) - tool.radius;
				least = fmin(least, distance);
				TEST_ASSERT_TRUE(distance >= (i < 8 ? 0.9e-6 : 4.9e-6));
			}
		}
		rig_free(&g);
	}
	// It does roll: a path along the contacts' planes would stay above this.
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || least < 8e-6);
}

// The groove is too narrow for the sphere. The device crosses its edge slowly, and in one jump.
static void a_sphere_that_rolls_into_a_groove_rests_on_both_edges(void)
{
	const double radius = 2e-3, half = 1.3e-3;
	for (int speed = 1; speed <= 64; speed *= 2) {
		rig g = sphere_over(groove_mesh(0.02, half, half, 2), radius, at(0, -4e-3, 3e-3));
		tac_sco_report r = move_to(&g, vec3(0, -half - 3e-4, 1e-3));
		for (int k = 0; k < 60; k++) {
			double y = fmin(0, -half - 3e-4 + 5e-5 * speed * k);
			tac_sco_step(g.sco, at(0, y, 1e-3), NULL, &r);
			tac_dvec3 p = r.T_world_sco.position;
			TEST_ASSERT_TRUE(ref_segment_distance(g.scene.mesh, p, p) - radius >= 4.9e-6);
		}
		double rest = radius + HOLD;
		TEST_ASSERT_DOUBLE_WITHIN(2e-6, 0, r.T_world_sco.position.y);
		TEST_ASSERT_DOUBLE_WITHIN(2e-6, sqrt(rest * rest - half * half), r.T_world_sco.position.z);
		rig_free(&g);
	}
}

// After a roll, the feature rolled over is still the closest one of all triangles, and the normal points to
// the target unless the feature or the limit ended the roll before.
static void contacts_roll_as_far_as_their_feature_is_the_closest(void)
{
	scene_body scene = scene_body_make(sphere_mesh(0.03, 2));
	tac_round_context *context;
	tac_contacts *list = malloc(sizeof *list);
	TEST_ASSERT_EQUAL(TAC_OK, tac_round_context_create(&context));
	TEST_ASSERT_NOT_NULL(list);
	tac_rng rng = tac_rng_seed(5, 12);
	int reached = 0, ended_early = 0;
	for (int k = 0; k < test_rounds(4000); k++) {
		const double radius = 0.004;
		int32_t v = (int32_t)tac_rng_range_f64(&rng, 0, scene.mesh->vertex_count);
		tac_dvec3 p = tac_dvec3_scale(tac_dvec3_from_vec3(scene.mesh->vertices[v]), 0.0341 / 0.03);
		p = tac_dvec3_add_scaled(p, tac_rng_range_f64(&rng, 0, 2e-3), tac_rng_unit_f64(&rng));
		tac_contacts_round(&(tac_round){p, p, radius}, scene.body, 1e-3, context, list);
		for (int32_t i = 0; i < list->count; i++) {
			const tac_contact_point *c = &list->list[i];
			tac_dvec3 foot = tac_dvec3_add_scaled(c->point, -c->gap, c->normal);
			tac_dvec3 aim = tac_dvec3_normalize(
				tac_dvec3_add_scaled(c->normal, 0.1, tac_rng_unit_f64(&rng)));
			double most = tac_rng_range_f64(&rng, 0.01, 0.2);
			tac_dvec3 n = tac_contacts_roll(c, scene.body, tac_dvec3_add_scaled(foot, 0.01, aim),
							tan(most));
			double turn = 2 * asin(0.5 * tac_dvec3_length(tac_dvec3_sub(n, c->normal)));
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, tac_dvec3_length(n));
			TEST_ASSERT_TRUE(turn <= most + 1e-9);
			if (c->kind == TAC_CONTACT_VERTEX_FACE) {
				TEST_ASSERT_TRUE(turn == 0);
				continue;
			}
			tac_dvec3 there = tac_dvec3_add_scaled(foot, radius, n);
			TEST_ASSERT_DOUBLE_WITHIN(4e-9, radius,
						  ref_segment_distance(scene.mesh, there, there));
			if (c->kind != TAC_CONTACT_VERTEX_VERTEX)
				continue;
			double missed = tac_dvec3_length(tac_dvec3_cross(n, aim));
			if (missed < 1e-9)
				reached++;
			else if (turn < most - 1e-4) {
				// A little further, another feature is closer.
				ended_early++;
				tac_dvec3 on = tac_dvec3_normalize(tac_dvec3_add_scaled(
					n, 1e-2, tac_dvec3_normalize(tac_dvec3_sub(aim, n))));
				there = tac_dvec3_add_scaled(foot, radius, on);
				TEST_ASSERT_TRUE(ref_segment_distance(scene.mesh, there, there) <
						 radius - 1e-12);
			}
		}
	}
	TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || (reached > test_rounds(50) && ended_early > test_rounds(50)));
	free(list);
	tac_round_context_destroy(&context);
	scene_body_free(&scene);
}

// The same device path gives the same poses and contacts to the last bit on every instruction set.
static void replays_are_the_same_on_every_instruction_set(void)
{
	enum { STEPS = 400 };
	static tac_dpose first[STEPS];
	static tac_sco_contact contact[STEPS];
	for (int capsule = 0; capsule < 2; capsule++) {
		tac_dvec3 half = capsule ? vec3(0.008, 0.003, 0.002) : tac_dvec3_zero();
		rig g = rig_make(terrain_mesh(0.08, 16, 0.005), tac_dvec3_neg(half), half, 0.004,
				 at(0, 0, 0.05));
		int runs = 0, contacts = 0;
		for (int32_t simd = 0; simd < TAC_SIMD_COUNT; simd++) {
			if (!tac_simd_supported((tac_simd)simd))
				continue;
			g.scene.body->simd = simd;
			TEST_ASSERT_TRUE(tac_sco_reset(g.sco, at(0, 0, 0.05), NULL));
			for (int k = 0; k < STEPS; k++, runs++) {
				double t = k * 1e-2;
				tac_sco_report r;
				tac_dpose device = at(0.02 * sin(t), 0.02 * sin(1.3 * t), 0.03 * cos(3 * t));
				device.rotation = tac_dquat_exp(vec3(0.4 * sin(t), 0.3 * sin(2 * t), t));
				tac_sco_step(g.sco, device, NULL, &r);
				if (runs < STEPS) {
					first[k] = r.T_world_sco;
					contact[k] = r.contacts[0];
				}
				TEST_ASSERT_EQUAL_MEMORY(&first[k], &r.T_world_sco, sizeof first[k]);
				if (r.contact_count == 0)
					continue;
				contacts++;
				TEST_ASSERT_TRUE(r.contacts[0].load_m == contact[k].load_m &&
						 r.contacts[0].gap_m == contact[k].gap_m &&
						 r.contacts[0].object_triangle == contact[k].object_triangle);
			}
		}
		TEST_ASSERT_GREATER_THAN(runs / 4, contacts);
		rig_free(&g);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(pressing_five_millimetres_into_a_plane_gives_two_and_a_half_newtons);
	RUN_TEST(a_sphere_in_a_groove_has_two_contacts);
	RUN_TEST(a_sphere_in_a_corner_has_three_contacts);
	RUN_TEST(a_sphere_on_a_sphere_rests_on_the_line_of_centres);
	RUN_TEST(a_sphere_rests_in_the_hole_of_a_torus);
	RUN_TEST(a_capsule_lies_flat_on_a_plane);
	RUN_TEST(a_capsule_turns_freely_in_a_plane);
	RUN_TEST(a_pressed_capsule_tilts_to_the_equilibrium_of_the_springs);
	RUN_TEST(a_sphere_rolls_over_a_vertex_and_an_edge);
	RUN_TEST(a_rolling_sphere_penetrates_nothing_along_its_path);
	RUN_TEST(a_sphere_that_rolls_into_a_groove_rests_on_both_edges);
	RUN_TEST(contacts_roll_as_far_as_their_feature_is_the_closest);
	RUN_TEST(replays_are_the_same_on_every_instruction_set);
	RUN_TEST(random_devices_never_make_a_round_tool_penetrate);
	return UNITY_END();
}
