// Drilling with the whole tick: the built-in scenes, the keys of a scene, forces within the law's bound.
#include "base/log.h"
#include "base/rng.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/live_fixture.h"

#include <stdio.h>
#include <stdlib.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define DRILL                                                                                                \
	"scene: block\n"                                                                                     \
	"materials:\n"                                                                                       \
	"- {name: soft, cutting_energy_J_per_m3: 2.0e+7, rub_N: 0.05}\n"                                     \
	"- {name: hard, feed_m_per_N_s: 0.002}\n"                                                            \
	"tools:\n"                                                                                           \
	"- name: drill\n"                                                                                    \
	"  shapes: [{kind: sphere, radius_m: 0.001}]\n"                                                      \
	"  drill: {radius_m: 0.001, button: 0}\n"                                                            \
	"objects:\n"                                                                                         \
	"- name: block\n"                                                                                    \
	"  shapes: [{kind: box, size_m: [0.008, 0.008, 0.006]}]\n"                                           \
	"  material: soft\n"                                                                                 \
	"  drillable:\n"                                                                                     \
	"    voxel_m: 0.00015\n"                                                                             \
	"    inside: [{material: hard, depth_m: 0.0015}]\n"

static double total_m3(const tac_snapshot *s)
{
	double sum = 0;
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		sum += s->drill.state.removed_m3[i];
	return sum;
}

// Only a drill whose button is held removes material, and then the force falls.
static void drill_cuts_while_its_button_is_held(void)
{
	fixture f;
	fixture_build(&f, DRILL, "wide", tac_servo_def_default());
	const tac_dvec3 above = tac_dvec3_make(0, 0, 0.0045), pressed = tac_dvec3_make(0, 0, 0.003);
	f.hand.state.T_base_tool.position = above;
	step_to(&f, above);
	const tac_snapshot *s = move_to(&f, pressed, 300);
	// The block's top is at 3 mm: the ball rests on it, and the spring is 1 mm long.
	TEST_ASSERT_DOUBLE_WITHIN(10e-6, 0.004, s->T_world_sco.position.z);
	TEST_ASSERT_DOUBLE_WITHIN(0.03, 1, s->sent.force_N.z);
	TEST_ASSERT_EQUAL_DOUBLE(0, total_m3(s));
	TEST_ASSERT_TRUE(s->drill.used && !s->drill.state.running);
	f.hand.state.buttons = 1;
	allocations = 0;
	s = move_to(&f, pressed, 300);
	TEST_ASSERT_EQUAL(0, allocations);
	TEST_ASSERT_TRUE(s->drill.state.running);
	TEST_ASSERT_TRUE(s->sent.force_N.z < 0.2);
	TEST_ASSERT_DOUBLE_WITHIN(0.2e-3, 0.003, s->T_world_sco.position.z);
	// A half ball, and what the block's edge above it adds: nothing, the centre is at the surface.
	const double half_ball = 2.0 / 3 * 3.14159265358979 * 1e-9;
	TEST_ASSERT_TRUE(total_m3(s) > 0.7 * half_ball && total_m3(s) < 1.05 * half_ball);
	TEST_ASSERT_EQUAL_DOUBLE(0, s->drill.state.removed_m3[1]);
	s = move_to(&f, tac_dvec3_make(0, 0, 0.001), 1500); // into the other material
	TEST_ASSERT_TRUE(s->drill.state.removed_m3[1] > 0 && s->drill.state.load > 0);
	const double before = total_m3(s);
	f.hand.state.buttons = 0;
	s = move_to(&f, tac_dvec3_make(0, 0, -0.002), 500);
	TEST_ASSERT_EQUAL_DOUBLE(before, total_m3(s));
	TEST_ASSERT_TRUE(s->sent.force_N.z > 2);
	// Out of the hole nothing holds it.
	s = move_to(&f, above, 500);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, tac_dvec3_length(s->sent.force_N));
	TEST_ASSERT_EQUAL_UINT64(0, s->faults);
	TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
	fixture_fini(&f);
}

// A cylinder that the hand tilts cuts with its side and its end.
static void cylinder_cuts_in_six_axes(void)
{
	char text[2048];
	snprintf(text, sizeof text, "%s", DRILL);
	char *tool = strstr(text, "  shapes: [{kind: sphere");
	TEST_ASSERT_NOT_NULL(tool);
	snprintf(
		tool, sizeof text - (size_t)(tool - text),
		"  axes: 6\n  shapes: [{kind: cylinder, radius_m: 0.001, height_m: 0.003, position_m: [0, 0, "
		"0.0015]}]\n  drill: {radius_m: 0.001, length_m: 0.003}\n%s",
		strstr(DRILL, "objects:"));
	fixture f;
	fixture_build(&f, text, "wide", tac_servo_def_default());
	const tac_dvec3 above = tac_dvec3_make(0, 0, 0.0045);
	f.hand.state.T_base_tool.position = above;
	step_to(&f, above);
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0, 0, 0.0025), 400);
	const double before = total_m3(s);
	for (int i = 1; i <= 400; i++) { // it tilts in its hole
		f.hand.state.T_base_tool.rotation = tac_dquat_exp(tac_dvec3_make(0, 0.0005 * i, 0));
		s = step_to(&f, tac_dvec3_make(0, 0, 0.0025 - 1e-6 * i));
	}
	TEST_ASSERT_TRUE(before > 0.5e-9 && total_m3(s) > before);
	TEST_ASSERT_TRUE(tac_dquat_angle(s->T_world_sco.rotation) > 0.02);
	TEST_ASSERT_EQUAL_UINT64(0, s->faults);
	TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
	fixture_fini(&f);
}

// ---- a world that changes ----

static double volume_m3(const tac_field *field)
{
	double sum = 0;
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		sum += tac_field_volume_m3(field, i);
	return sum;
}

// A hidden body is passed through, with the motor on and off, and stays whole. It comes back when the burr
// has left it.
static void hidden_body_is_not_drilled(void)
{
	live_fixture l;
	live_build(&l, DRILL);
	const tac_field *field = tac_servo_field(l.f.servo);
	const double whole = volume_m3(field);
	const tac_dvec3 above = tac_dvec3_make(0, 0, 0.0045);
	l.f.hand.state.T_base_tool.position = above;
	step_to(&l.f, above);
	TEST_ASSERT_TRUE(tac_live_show(l.live, 0, false));
	for (uint32_t button = 0; button < 2; button++) {
		l.f.hand.state.buttons = button;
		move_to(&l.f, tac_dvec3_make(0.001, 0, -0.001), 100);
		const tac_snapshot *s = move_to(&l.f, tac_dvec3_make(-0.001, 0.001, 0), 100);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, s->T_world_sco.position.z);
		TEST_ASSERT_EQUAL_DOUBLE(0, total_m3(s));
		TEST_ASSERT_EQUAL_DOUBLE(whole, volume_m3(field));
	}
	TEST_ASSERT_TRUE(tac_live_show(l.live, 0, true));
	const tac_snapshot *s = move_to(&l.f, tac_dvec3_make(0, 0, 0), 50);
	TEST_ASSERT_EQUAL_UINT64(1, s->live.waits);
	TEST_ASSERT_EQUAL_DOUBLE(whole, volume_m3(field));
	s = move_to(&l.f, above, 100);
	TEST_ASSERT_EQUAL_UINT64(0, s->live.waits);
	s = move_to(&l.f, tac_dvec3_make(0, 0, 0.003), 300);
	TEST_ASSERT_TRUE(total_m3(s) > 1e-10);
	TEST_ASSERT_EQUAL_UINT64(0, s->faults);
	live_fini(&l);
}

// A body that rises at 0.5 m/s pushes the burr: it is cut by the motor's power, not by its own motion.
static void body_that_pushes_the_burr_is_cut_by_its_power_alone(void)
{
	live_fixture l;
	live_build(&l, DRILL);
	const tac_dvec3 above = tac_dvec3_make(0, 0, 0.0045);
	l.f.hand.state.T_base_tool.position = above;
	l.f.hand.state.buttons = 1;
	step_to(&l.f, above);
	const tac_dpose raised = tac_dpose_make(tac_dvec3_make(0, 0, 0.01), tac_dquat_identity());
	TEST_ASSERT_TRUE(tac_live_move(l.live, 0, raised, 20 * MS));
	const tac_snapshot *s = move_to(&l.f, above, 30);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, s->T_world_objects[0].position.z);
	TEST_ASSERT_TRUE(s->T_world_sco.position.z > 0.013);
	TEST_ASSERT_TRUE(s->drill.state.energy_J > 0);
	TEST_ASSERT_TRUE(s->drill.state.energy_J <= 8 * 0.031); // the default power
	TEST_ASSERT_EQUAL_UINT64(0, s->faults);
	live_fini(&l);
}

// Commands of all kinds while a hand drills: the force is continuous in every tick (step_to), nothing is
// allocated, no fault, and what the drill says that it removed is what the body lost.
static void drilling_survives_random_commands(void)
{
	tac_rng rng = tac_rng_seed((uint64_t)from_environment("TACTUS_SEED", 21), 3);
	for (int part = 0; part < (test_long() ? 40 : 2); part++) {
		live_fixture l;
		live_build(&l, DRILL);
		const tac_field *field = tac_servo_field(l.f.servo);
		const double whole = volume_m3(field);
		tac_dvec3 place = tac_dvec3_make(0, 0, 0.0045), goal = place;
		l.f.hand.state.T_base_tool.position = place;
		const tac_snapshot *s = step_to(&l.f, place);
		int sent = 0;
		for (int i = 0; i < (TAC_TEST_SANITIZED ? 1500 : 4000); i++) {
			if (i % 80 == 0) {
				goal = tac_dvec3_make(tac_rng_range_f64(&rng, -3e-3, 3e-3),
						      tac_rng_range_f64(&rng, -3e-3, 3e-3),
						      tac_rng_range_f64(&rng, 0, 4.5e-3));
				l.f.hand.state.buttons = tac_rng_below(&rng, 4) > 0;
			}
			const tac_dpose pose =
				tac_dpose_make(tac_dvec3_scale(tac_rng_unit_f64(&rng), 1e-3),
					       tac_dquat_exp(tac_dvec3_scale(tac_rng_unit_f64(&rng), 0.1)));
			tac_material m = l.f.world->materials[0];
			m.stiffness_N_per_m =
				tac_rng_range_f64(&rng, 300, 1000); // the watch knows the first world
			m.cutting_energy_J_per_m3 = tac_rng_range_f64(&rng, 1e7, 8e7);
			const uint32_t kind = tac_rng_below(&rng, 200);
			sent += kind == 0   ? tac_live_move(l.live, 0, pose, tac_rng_below(&rng, 100) * MS)
				: kind == 1 ? tac_live_show(l.live, 0, tac_rng_below(&rng, 3) > 0)
				: kind == 2 ? tac_live_set_material(l.live, 0, &m)
				: kind == 3 ? tac_live_set_gain(l.live, 0, tac_rng_range_f64(&rng, 0, 1))
					    : 0;
			const tac_dvec3 to = tac_dvec3_sub(goal, place);
			const double left = tac_dvec3_length(to);
			place = tac_dvec3_add_scaled(place, left > 0 ? fmin(1, 1e-4 / left) : 0, to);
			allocations = 0;
			s = step_to(&l.f, place);
			TEST_ASSERT_EQUAL(0, allocations);
		}
		TEST_ASSERT_TRUE(sent > 5 && total_m3(s) > 0);
		TEST_ASSERT_EQUAL_UINT64(0, s->faults);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9 * whole, whole - volume_m3(field), total_m3(s));
		live_fini(&l);
	}
}

// ---- built-in scenes ----

static uint64_t mix(uint64_t hash, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return (hash ^ bits) * UINT64_C(0x100000001b3);
}

// Follows the scene's hand. Returns a hash of all forces.
static uint64_t follow_hand(const char *name, int ticks, tac_snapshot *out_last, double *out_volume_m3)
{
	fixture f = {0};
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(name, &f.scene));
	f.scene->tools[0].mapping = (tac_scene_mapping){.workspace_scale = 1, .clutch_button = -1};
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(f.scene, tac_collider_find("wide"), &f.world));
	puppet_init(&f.hand);
	tac_servo_def def = tac_servo_def_default();
	def.world = f.world;
	def.device = &f.hand.base;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &f.servo));
	const tac_scene_tool *tool = &f.scene->tools[0];
	*out_volume_m3 = 0;
	for (int i = 0; i < TAC_FIELD_LABELS; i++)
		*out_volume_m3 += tac_field_volume_m3(f.world->objects[0].field, i);
	uint64_t hash = 1;
	const tac_snapshot *s = NULL;
	for (int i = 0; i < ticks; i++) {
		s = step_to(&f, tac_world_path_pose(tool->hand, tool->hand_count, i * MS).position);
		hash = mix(mix(mix(hash, s->sent.force_N.x), s->sent.force_N.y), s->sent.force_N.z);
	}
	*out_last = *s;
	// The task counts the same volumes, by material of the world.
	const tac_task_figures *figures = tac_servo_task(f.servo);
	for (int i = 0; i < TAC_FIELD_LABELS; i++) {
		const double removed = s->drill.state.removed_m3[i];
		if (removed > 0)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9 * removed, removed,
						  figures->volume_m3[f.world->objects[0].field_material[i]]);
	}
	fixture_fini(&f);
	return hash;
}

static void built_in_scenes_are_drilled_and_replay_to_the_bit(void)
{
	static const char *const names[] = {"caries", "bone"};
	for (int i = 0; i < 2; i++) {
		static tac_snapshot first, second;
		double volume_m3;
		const int ticks = TAC_TEST_SANITIZED ? 3000 : 5000;
		const uint64_t hash = follow_hand(names[i], ticks, &first, &volume_m3);
		TEST_ASSERT_EQUAL_UINT64(0, first.faults);
		TEST_ASSERT_EQUAL_UINT64(0, first.feel.jumps);
		TEST_ASSERT_TRUE(total_m3(&first) > 1e-10 && total_m3(&first) < 0.2 * volume_m3);
		TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || first.drill.state.removed_m3[1] > 0);
		TEST_ASSERT_TRUE(first.drill.state.energy_J > 0 && first.drill.state.air_s > 0.5);
		if (i == 0 && !TAC_TEST_SANITIZED) {
			TEST_ASSERT_TRUE(first.drill.state.removed_m3[2] > 1e-9); // the caries
			TEST_ASSERT_EQUAL_HEX64(hash, follow_hand(names[i], ticks, &second, &volume_m3));
			TEST_ASSERT_EQUAL_DOUBLE(total_m3(&first), total_m3(&second));
		}
	}
}

// ---- keys ----

static char line[1024];

static void keep_line(void *user, tac_log_level level, const char *message)
{
	(void)user, (void)level;
	snprintf(line, sizeof line, "%s", message);
}

static void expect_refusal(const char *text, const char *where, const char *message)
{
	tac_scene *scene;
	tac_log_set(keep_line, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_FORMAT, tac_scene_parse(text, strlen(text), "x.yaml", &scene));
	tac_log_set(NULL, NULL);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, where), line);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, message), line);
}

static void replace(char *out, size_t bytes, const char *from, const char *to)
{
	const char *at = strstr(DRILL, from);
	TEST_ASSERT_NOT_NULL(at);
	snprintf(out, bytes, "%.*s%s%s", (int)(at - DRILL), DRILL, to, at + strlen(from));
}

static void wrong_keys_are_refused_by_line_and_column(void)
{
	static const struct {
		const char *from, *to, *where, *message;
	} wrong[] = {
		{"voxel_m: 0.00015", "voxel: 0.00015", "x.yaml:14:5", "voxel_m"},
		{"voxel_m: 0.00015", "voxel_m: 0", "x.yaml:14:14", "expected a number from"},
		{"voxel_m: 0.00015", "voxel_m: 0.0005", "x.yaml:14:14",
		 "expected voxels of 0.048 to 0.33 mm"},
		{"voxel_m: 0.00015", "voxel_m: 0.00004", "x.yaml:14:14", "with 1 mm radius, found 0.04 mm"},
		{"{material: hard,", "{material: iron,", "x.yaml:15", "expected the name of a material"},
		{"feed_m_per_N_s: 0.002", "stiffness_N_per_m: 100", "x.yaml:15", "'feed_m_per_N_s', as one"},
		{"feed_m_per_N_s: 0.002", "feed_m_per_N_s: 0.002, cutting_energy_J_per_m3: 1.0e+7",
		 "x.yaml:15", "either 'cutting_energy_J_per_m3'"},
		{"shapes: [{kind: sphere, radius_m: 0.001}]", "shapes: [{kind: sphere, radius_m: 0.002}]",
		 "x.yaml:8", "the burr as the tool's only shape"},
		{"radius_m: 0.001, button: 0", "radius_m: 0.001, length_m: 0.003", "x.yaml:8",
		 "kind: cylinder, radius_m: 0.001, height_m: 0.003"},
		{"depth_m: 0.0015", "solids: \"ball:r=1\"", "x.yaml:15", "expected sphere:, capsule:"},
		{"tools:\n", "tools:\n- {name: spoon, shapes: [{kind: box}]}\n", "x.yaml:6:10",
		 "expected a sphere, a capsule or a drill as the tool"},
		{"tools:\n",
		 "tools:\n- {name: rod, shapes: [{kind: solids, solids: \"cylinder:r=0.001,h=0.01\"}]}\n",
		 "x.yaml:6:10", "found 'rod' of another shape"},
	};
	char text[2048];
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		replace(text, sizeof text, wrong[i].from, wrong[i].to);
		expect_refusal(text, wrong[i].where, wrong[i].message);
	}
}

static void scene_is_written_as_it_was_read(void)
{
	tac_scene *scene, *again;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin("caries", &scene));
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_write(scene, file));
	fclose(file);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, bytes, "caries", &again));
	TEST_ASSERT_EQUAL_MEMORY(&scene->tools[0].drill, &again->tools[0].drill,
				 sizeof scene->tools[0].drill);
	TEST_ASSERT_EQUAL_DOUBLE(1e-4, again->objects[0].drillable.voxel_m);
	TEST_ASSERT_EQUAL(2, again->objects[0].drillable.inside_count);
	TEST_ASSERT_TRUE(again->objects[0].drillable.inside[1].target);
	TEST_ASSERT_EQUAL_STRING(scene->objects[0].drillable.inside[1].solids,
				 again->objects[0].drillable.inside[1].solids);
	TEST_ASSERT_EQUAL_DOUBLE(8e7, again->materials[0].cutting_energy_J_per_m3);
	free(text);
	tac_scene_destroy(&scene);
	tac_scene_destroy(&again);
}

// What cannot work is refused where it is known: with the voxel that would do.
// As no file has it, but a program may. (The drill itself refuses it, too: test_drill.)
static void burr_that_does_not_fit_is_refused_by_the_world(void)
{
	char text[2048];
	fixture f = {0};
	replace(text, sizeof text, "voxel_m: 0.00015", "voxel_m: 0.0002");
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "test", &f.scene));
	f.scene->objects[0].drillable.voxel_m = 0.0005;
	tac_log_set(keep_line, NULL);
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_world_build(f.scene, tac_collider_find("wide"), &f.world));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "expected voxels of 0.048 to 0.33 mm"), line);
	TEST_ASSERT_NULL(f.world);
	tac_log_set(NULL, NULL);
	tac_scene_destroy(&f.scene);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(drill_cuts_while_its_button_is_held);
	RUN_TEST(cylinder_cuts_in_six_axes);
	RUN_TEST(hidden_body_is_not_drilled);
	RUN_TEST(body_that_pushes_the_burr_is_cut_by_its_power_alone);
	RUN_TEST(drilling_survives_random_commands);
	RUN_TEST(built_in_scenes_are_drilled_and_replay_to_the_bit);
	RUN_TEST(wrong_keys_are_refused_by_line_and_column);
	RUN_TEST(scene_is_written_as_it_was_read);
	RUN_TEST(burr_that_does_not_fit_is_refused_by_the_world);
	return UNITY_END();
}
