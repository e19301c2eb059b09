// A needle as a tool of the servo: its scene keys, its force in the tick, and that it is never in bone.
#include "base/rng.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/live_fixture.h"
#include "tests/support/logged.h"
#include "tests/support/needle_account.h"
#include "tests/support/scene_text.h"
#include "tests/support/servo_fixture.h"
#include "tests/support/sweep_referee.h"

#include "collision/mesh_query.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

static fixture f;

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged[0] = 0;
	logged_lines = 0;
	memset(&f, 0, sizeof f);
}

void tearDown(void)
{
	fixture_fini(&f);
	tac_log_set(NULL, NULL);
}

#define LAYERS                                                                                               \
	"materials:\n"                                                                                       \
	"- {name: skin, tip_stiffness_N_per_m: 300, tip_stiffening_N_per_m2: 150000, puncture_N: 3,\n"       \
	"   cutting_N: 1, shaft_friction_N_per_m: 14, shaft_viscosity_N_s_per_m2: 8}\n"                      \
	"- {name: fat, puncture_N: 0.5, cutting_N: 0.3, shaft_friction_N_per_m: 5}\n"                        \
	"- {name: bone, stiffness_N_per_m: 1500}\n"
#define BACK                                                                                                 \
	"objects:\n"                                                                                         \
	"- name: back\n"                                                                                     \
	"  shapes: [{kind: box, size_m: [0.1, 0.1, 0.08], segments: 2, position_m: [0, 0, -0.04]}]\n"        \
	"  layers: {list: [{material: skin, thickness_m: 0.01}, {material: fat, thickness_m: 0.05}]}\n"
#define BONE                                                                                                 \
	"- name: bone\n"                                                                                     \
	"  material: bone\n"                                                                                 \
	"  shapes: [{kind: box, size_m: [0.02, 0.02, 0.01], segments: 2, position_m: [0, 0, -0.035]}]\n"
#define NEEDLE "tools: [{name: n, axes: 3, needle: {radius_m: 0.0005, length_m: 0.09}}]\n"

static void build(const char *text)
{
	fixture_build(&f, text, "wide", tac_servo_def_default());
}

static tac_dvec3 at(double x, double y, double z)
{
	return tac_dvec3_make(x, y, z);
}

// ---- scene ----

static void expect_refusal(const char *text, const char *message)
{
	tac_scene *scene;
	logged_lines = 0;
	tac_scene_parse(text, strlen(text), "x.yaml", &scene);
	TEST_ASSERT_NULL_MESSAGE(scene, text);
	TEST_ASSERT_EQUAL_INT(1, logged_lines);
	TEST_ASSERT_EQUAL_STRING(message, logged);
}

static void keys_of_needle_and_layers_are_checked(void)
{
	expect_refusal("scene: x\ntools: [{name: t}]\n",
		       "x.yaml:2:16: expected 'shapes' in a tool, found none");
	expect_refusal("scene: x\ntools: [{name: t, needle: {radius_m: 0.001}}]\n",
		       "x.yaml:2:27: expected 'length_m' in a needle, found none");
	expect_refusal("scene: x\ntools: [{name: t, needle: {radius_m: 0.005, length_m: 0.01}}]\n",
		       "x.yaml:2:38: expected less than a quarter of the length (0.01 m), found '0.005'");
	expect_refusal("scene: x\ntools: [{name: t, needle: {radius_m: 0.001, length: 0.09}}]\n",
		       "x.yaml:2:45: expected a key of a needle, found 'length'; did you mean 'length_m'?");
	expect_refusal("scene: x\nmaterials: [{name: skin}]\n" NEEDLE
		       "objects:\n- name: o\n  shapes: [{kind: box}]\n"
		       "  layers: {list: [{material: skn, thickness_m: 0.01}]}\n",
		       "x.yaml:7:30: expected the name of a material, found 'skn'; did you mean 'skin'?");
	expect_refusal("scene: x\nmaterials: [{name: skin, puncture_N: -1}]\n" NEEDLE,
		       "x.yaml:2:38: expected a number from 0 to 1000, found '-1'");
	expect_refusal("scene: x\nmaterials: [{name: skin}]\n" NEEDLE
		       "objects:\n- name: o\n  shapes: [{kind: box}]\n"
		       "  layers: {normal: [0, 0, 0], list: [{material: skin, thickness_m: 0.01}]}\n",
		       "x.yaml:7:20: expected a direction, found one of no length");
}

static void needle_and_layers_read_back_as_written(void)
{
	static const char text[] =
		"scene: x\n" LAYERS
		"tools: [{name: n, needle: {radius_m: 0.0004, length_m: 0.08, curvature_per_m: -3,\n"
		"  bending_stiffness_Nm2: 0.0052, stiffness_N_per_m: 900}}]\n" BACK BONE;
	tac_scene *scene, *again;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, sizeof text - 1, "x.yaml", &scene));
	char *written = scene_text(scene);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(written, strlen(written), "y.yaml", &again));
	TEST_ASSERT_EQUAL_MEMORY(scene, again, sizeof *scene);
	TEST_ASSERT_EQUAL_DOUBLE(-3, again->tools[0].needle.curvature_per_m);
	TEST_ASSERT_EQUAL(2, again->objects[0].layers.list_count);
	free(written);
	tac_scene_destroy(&scene);
	tac_scene_destroy(&again);
}

// ---- force ----

// Slowly inserted, the sent force is that of the layers.
static void force_in_the_tick_is_that_of_the_layers(void)
{
	build("scene: x\n" LAYERS NEEDLE BACK);
	f.hand.state.T_base_tool.position = at(0, 0, 0.005);
	for (int i = 0; i < 1000; i++) // the gate engages
		step_to(&f, at(0, 0, 0.005));
	const tac_snapshot *s = move_to(&f, at(0, 0, -0.025), 6000);
	TEST_ASSERT_EQUAL(0, s->needle.object);
	TEST_ASSERT_EQUAL(2, s->needle.state.opened);
	TEST_ASSERT_EQUAL(1, s->needle.state.layer);
	const double speed = 0.03 / 6, front = s->needle.state.front_m;
	const double wanted = 0.3 + 0.01 * (14 + 8 * speed) + (front - 0.01) * (5 + 10 * speed);
	TEST_ASSERT_DOUBLE_WITHIN(0.01 * wanted, wanted, s->sent.force_N.z);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, s->sent.force_N.x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, tac_dvec3_length(s->sent.torque_Nm));
	TEST_ASSERT_EQUAL(0, s->contact_count);
	TEST_ASSERT_EQUAL(0, s->feel.jumps);
	// The tool stays behind the device by the coupling's deflection.
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, wanted / 1500,
				  s->T_world_sco.position.z - s->T_world_device.position.z);
	s = move_to(&f, at(0, 0, 0.005), 3000);
	TEST_ASSERT_EQUAL(-1, s->needle.object);
	TEST_ASSERT_EQUAL_DOUBLE(0, tac_dvec3_length(s->sent.force_N));
}

// The drop of a puncture is as fast as the force law lets it be: K times slew_m_per_s each second, 0.75 N in
// a tick of 1 ms at 1500 N/m.
static void drop_of_a_puncture_takes_what_the_force_law_allows(void)
{
	build("scene: x\n" LAYERS NEEDLE BACK);
	for (int i = 0; i < 1000; i++)
		step_to(&f, at(0, 0, 0.001));
	double peak = 0, steepest = 0, before = 0;
	int ticks = 0;
	for (int i = 0; i < 4000; i++) {
		const tac_snapshot *s = step_to(&f, at(0, 0, 0.001 - 2e-6 * i));
		const double F = s->sent.force_N.z;
		if (s->needle.state.opened == 0)
			peak = F;
		else if (F < before - 0.01)
			ticks++;
		steepest = fmax(steepest, before - F);
		before = F;
		if (s->needle.state.opened > 0 && i % 1 == 0 && ticks > 0 && F > 0 && steepest > 0 &&
		    ticks > 50)
			break;
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.03, 3, peak);
	TEST_ASSERT_TRUE(steepest > 0.5);
	TEST_ASSERT_TRUE(steepest <= 1500 * (0.5 * 1e-3 + 3 * 2e-6) + 1e-9);
	TEST_ASSERT_TRUE(ticks >= 2 && ticks < 12);
}

static void ball_feels_a_layered_body_as_rigid(void)
{
	build("scene: x\n" LAYERS
	      "tools: [{name: b, axes: 3, shapes: [{kind: sphere, radius_m: 0.003}]}]\n" BACK);
	for (int i = 0; i < 1000; i++)
		step_to(&f, at(0, 0, 0.01));
	const tac_snapshot *s = move_to(&f, at(0, 0, -0.002), 1000);
	TEST_ASSERT_TRUE(s->contact_count > 0);
	TEST_ASSERT_DOUBLE_WITHIN(2e-5, 0.003, s->T_world_sco.position.z);
	TEST_ASSERT_FALSE(s->needle.present);
}

// ---- bone ----

static void needle_stops_on_bone_and_feels_it(void)
{
	build("scene: x\n" LAYERS NEEDLE BACK BONE);
	for (int i = 0; i < 1000; i++)
		step_to(&f, at(0, 0, 0.005));
	const tac_snapshot *s = move_to(&f, at(0, 0, -0.034), 8000);
	TEST_ASSERT_TRUE(s->contact_count > 0);
	TEST_ASSERT_DOUBLE_WITHIN(2e-5, -0.03, s->T_world_sco.position.z);
	TEST_ASSERT_TRUE(s->needle.state.depth_m < 0.03 + 1e-6);
	// The hand feels the whole spring: tissue and bone together.
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 1500 * 0.004, s->sent.force_N.z);
	TEST_ASSERT_TRUE(s->sent.force_N.z > s->needle.wrench.force_N.z + 0.5);
}

static ref_vec ref_of(tac_dvec3 v)
{
	return (ref_vec){(real)v.x, (real)v.y, (real)v.z};
}

// The distance of the needle's core from the mesh of an object, by all its triangles, in long double.
static double core_distance(const tac_world *world, int32_t object, tac_dpose T_object_tool)
{
	const tac_round *round = &world->tools[0].round;
	const tac_mesh *mesh = world->objects[object].mesh;
	const ref_vec b = ref_of(tac_dpose_apply_point(T_object_tool, round->b));
	const ref_vec core[3] = {ref_of(tac_dpose_apply_point(T_object_tool, round->a)), b, b};
	real least = 1; // squared
	for (int32_t i = 0; i < mesh->triangle_count; i++) {
		ref_vec t[3];
		for (int k = 0; k < 3; k++)
			t[k] = ref_of(tac_dvec3_from_vec3(mesh->vertices[mesh->triangles[i].vertex[k]]));
		least = ref_min(least, ref_triangles(core, t));
	}
	return sqrt((double)least);
}

static void expect_outside_bone(const tac_snapshot *s)
{
	const tac_world *world = f.world;
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (tac_world_passes(world, 0, i))
			continue;
		const tac_dpose T = tac_dpose_relative(s->T_world_objects[i], s->T_world_sco);
		TEST_ASSERT_TRUE(core_distance(world, i, T) >= world->tools[0].round.radius);
		const tac_dvec3 tip = tac_dpose_apply_point(T, world->tools[0].round.a);
		int32_t winding = 0;
		tac_mesh_winding_add(world->objects[i].mesh, 0, world->objects[i].mesh->triangle_count, &tip,
				     1, &winding);
		TEST_ASSERT_TRUE(winding <= 0);
	}
}

// How the hand of the fuzz moves: it glides, jabs, holds, and throws the needle.
typedef struct random_hand {
	tac_rng rng;
	tac_dpose from, to;
	int tick, ticks;
} random_hand;

static tac_dpose random_goal(tac_rng *rng, bool far)
{
	const double across = far ? 0.03 : 0.006; // the spinous processes are 7 mm from the middle along y
	const tac_dvec3 p = at(tac_rng_range_f64(rng, -across, across), tac_rng_range_f64(rng, -0.025, 0.025),
			       tac_rng_range_f64(rng, -0.06, 0.02));
	return tac_dpose_make(p, tac_dquat_exp(tac_dvec3_scale(tac_rng_unit_f64(rng),
							       tac_rng_range_f64(rng, 0, far ? 0.6 : 0.15))));
}

static tac_dpose move_hand(random_hand *h)
{
	if (h->tick++ >= h->ticks) {
		const double kind = tac_rng_f64(&h->rng);
		h->from = h->to;
		h->tick = 1;
		if (kind < 0.2) { // holds
			h->ticks = 200;
		} else if (kind < 0.5) { // jabs, up to 6 m/s
			h->to = random_goal(&h->rng, kind < 0.25);
			h->ticks = 10 + (int)tac_rng_below(&h->rng, 40);
		} else if (kind < 0.6) { // draws out
			h->to.position.z = 0.02;
			h->ticks = 60;
		} else { // glides
			h->to = random_goal(&h->rng, kind < 0.65);
			h->ticks = 300 + (int)tac_rng_below(&h->rng, 700);
		}
	}
	return tac_dpose_interpolate(h->from, h->to, (double)h->tick / h->ticks);
}

// The scene `lumbar` under a random hand: never in bone, no energy comes back, the force bound holds in every
// tick (the fixture watches it), nothing is allocated.
static void random_needling_never_enters_bone_or_gains_energy(void)
{
	const char *set = getenv("TACTUS_TICKS");
	const int ticks = set ? atoi(set) : test_rounds(1000000) / (test_long() ? 1 : 40);
	const int rounds = 4;
	int64_t in_tissue = 0, on_bone = 0, punctures = 0;
	for (int k = 0; k < rounds; k++) {
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("lumbar", &f.scene));
		if (k % 2)
			f.scene->tools[0].needle.bending_stiffness_Nm2 = 0.0052;
		if (k == 3)
			f.scene->tools[0].needle.curvature_per_m = 4;
		f.scene->tools[0].axes = k == 2 ? 3 : 6;
		fixture_build_scene(&f, "wide", tac_servo_def_default());
		random_hand hand = {
			.rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 7), (uint64_t)k)};
		hand.from = hand.to = tac_dpose_make(at(0, 0, 0.02), tac_dquat_identity());
		tac_needle_energy before = {0};
		for (int i = 0; i < ticks / rounds; i++) {
			const tac_dpose T = move_hand(&hand);
			f.hand.state.T_base_tool.rotation = T.rotation;
			const int allocated = allocations;
			const tac_snapshot *s = step_to(&f, T.position);
			TEST_ASSERT_EQUAL(allocated, allocations);
			TEST_ASSERT_TRUE(tac_dvec3_finite(s->sent.force_N) &&
					 tac_dvec3_finite(s->sent.torque_Nm));
			TEST_ASSERT_FALSE(dissipation_fell(&before, &s->needle.state.energy));
			TEST_ASSERT_EQUAL_UINT64(0, s->faults);
			TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
			before = s->needle.state.energy;
			if ((s->contact_count > 0 && i % 4 == 0) || i % 64 == 0)
				expect_outside_bone(s);
			in_tissue += s->needle.object >= 0;
			on_bone += s->contact_count > 0;
			punctures =
				s->needle.state.punctures > punctures ? s->needle.state.punctures : punctures;
		}
		fixture_fini(&f);
		memset(&f, 0, sizeof f);
	}
	printf("%d ticks: %lld in tissue, %lld on bone, up to %lld punctures\n", ticks, (long long)in_tissue,
	       (long long)on_bone, (long long)punctures);
	if (ticks < 5000) // under a sanitizer
		return;
	TEST_ASSERT_TRUE(in_tissue > ticks / 10);
	TEST_ASSERT_TRUE(on_bone > ticks / 200);
}

// ---- live worlds ----

// Layers that are hidden are not felt, and an exchange of worlds gives the needle the layers of the new one.
static void hidden_layers_and_exchanged_worlds(void)
{
	live_fixture l;
	live_build(&l, "scene: x\n" LAYERS NEEDLE BACK);
	live_move_to(&l, at(0, 0, 0.005), 1);
	live_rest(&l, 800);
	const tac_snapshot *s = live_move_to(&l, at(0, 0, -0.015), 3000);
	TEST_ASSERT_EQUAL(0, s->needle.object);
	TEST_ASSERT_TRUE(s->sent.force_N.z > 0.3);
	TEST_ASSERT_TRUE(tac_live_show(l.live, 0, false));
	s = live_rest(&l, 50);
	TEST_ASSERT_EQUAL(-1, s->needle.object);
	TEST_ASSERT_EQUAL_DOUBLE(0, s->sent.force_N.z);
	TEST_ASSERT_TRUE(tac_live_show(l.live, 0, true));
	live_rest(&l, 50);
	s = live_move_to(&l, at(0, 0, 0.005), 500);
	TEST_ASSERT_EQUAL_DOUBLE(0, s->sent.force_N.z);
	s = live_move_to(&l, at(0, 0, -0.008), 1500); // through the old hole
	TEST_ASSERT_EQUAL(2, s->needle.state.insertions);
	TEST_ASSERT_TRUE(tac_servo_task(l.f.servo)->puncture_count > 0);

	tac_world *second = live_world(
		"scene: second\nmaterials: [{name: board, puncture_N: 50}]\n" NEEDLE
		"objects: [{name: o, shapes: [{kind: box, size_m: [0.1, 0.1, 0.08], segments: 2, "
		"position_m: [0, 0, -0.04]}], layers: {list: [{material: board, thickness_m: 0.05}]}}]\n");
	TEST_ASSERT_TRUE(tac_live_exchange(l.live, second));
	tac_world *const first = l.f.world;
	l.f.world = second;
	s = live_rest(&l, 100);
	TEST_ASSERT_EQUAL(1, s->live.world);
	TEST_ASSERT_EQUAL(-1, s->needle.object);
	TEST_ASSERT_EQUAL(0, tac_servo_task(l.f.servo)->puncture_count);
	TEST_ASSERT_EQUAL_PTR(first, tac_live_returned(l.live, NULL));
	live_world_destroy(first);
	live_move_to(&l, at(0, 0, 0.005), 500);
	s = live_move_to(&l, at(0, 0, -0.008), 1500);
	TEST_ASSERT_EQUAL(0, s->needle.state.opened);
	TEST_ASSERT_TRUE(s->needle.state.tip_N > 3.5); // the skin of the first world opened at 3 N
	live_fini(&l);
}

// ---- replay ----

static uint64_t hash_run(int64_t period_ns, int ticks, const char *collider)
{
	uint64_t hash = 14695981039346656037u;
	tac_servo_def def = tac_servo_def_default();
	def.period_ns = period_ns;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("lumbar", &f.scene));
	f.scene->tools[0].needle.bending_stiffness_Nm2 = 0.0052;
	fixture_build_scene(&f, collider, def);
	for (int i = 0; i < ticks; i++) {
		const double t = (double)(i * period_ns) / 1e9;
		f.hand.state.T_base_tool = tac_dpose_make(
			at(0.002 * sin(3 * t), 0.003 * sin(2 * t), 0.01 - 0.07 * sin(PI * t / 2)),
			tac_dquat_exp(at(0.05 * sin(4 * t), 0, 0)));
		tac_servo_step(f.servo, i * period_ns, NULL);
		const tac_snapshot *s = tac_servo_snapshot(f.servo, 0);
		const double values[] = {s->sent.force_N.x,       s->sent.force_N.y,
					 s->sent.force_N.z,       s->sent.torque_Nm.x,
					 s->needle.state.depth_m, s->needle.state.energy.work};
		const unsigned char *bytes = (const unsigned char *)values;
		for (size_t k = 0; k < sizeof values; k++)
			hash = (hash ^ bytes[k]) * 1099511628211u;
	}
	TEST_ASSERT_TRUE(tac_servo_snapshot(f.servo, 0)->needle.state.punctures > 3);
	fixture_fini(&f);
	memset(&f, 0, sizeof f);
	return hash;
}

static void replays_are_equal_to_the_bit_at_every_rate(void)
{
	static const int64_t periods[] = {2000000, 1000000, 250000};
	for (int i = 0; i < 3; i++) {
		const int ticks = (int)(2000000000 / periods[i]);
		TEST_ASSERT_TRUE(hash_run(periods[i], ticks, "wide") ==
				 hash_run(periods[i], ticks, "doptree"));
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(keys_of_needle_and_layers_are_checked);
	RUN_TEST(needle_and_layers_read_back_as_written);
	RUN_TEST(force_in_the_tick_is_that_of_the_layers);
	RUN_TEST(drop_of_a_puncture_takes_what_the_force_law_allows);
	RUN_TEST(ball_feels_a_layered_body_as_rigid);
	RUN_TEST(needle_stops_on_bone_and_feels_it);
	RUN_TEST(random_needling_never_enters_bone_or_gains_energy);
	RUN_TEST(hidden_layers_and_exchanged_worlds);
	RUN_TEST(replays_are_equal_to_the_bit_at_every_rate);
	return UNITY_END();
}
