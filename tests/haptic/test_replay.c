// A run of the real loop, recorded to a file and rendered from the file alone: every tick writes the same
// force to the device again, to the bit, whatever time the ticks took. The oracle is what the run has sent.
#include "devices/recorder.h"
#include "devices/sim.h"
#include "haptic/play.h"
#include "haptic/render.h"
#include "haptic/scene_builder.h"
#include "rt/clock.h"
#include "tests/support/eventually.h"
#include "tests/support/logged.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unity.h>

#define MS        INT64_C(1000000)
#define FRAMES    40
#define TICKS     8 // between two frames
#define ALL_FLAGS (TAC_SAMPLE_INVALID | TAC_SAMPLE_STOPPED | TAC_SAMPLE_OVERRUN)

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
	logged[0] = 0;
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

// ---- a device ----

// A simulated device that takes its time, and now and then gives no number.
typedef struct slow_device {
	tac_device base;
	tac_device *sim;
	int64_t reads;
} slow_device;

static void spin(int64_t ns)
{
	const int64_t end_ns = tac_clock_now_ns() + ns;
	while (tac_clock_now_ns() < end_ns) {
	}
}

static tac_device_status slow_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	slow_device *d = (slow_device *)device;
	const tac_device_status status = tac_device_read(d->sim, now_ns, out_state);
	if (++d->reads % 97 == 0)
		out_state->velocity_m_per_s.y = (double)NAN;
	spin(150000);
	return status;
}

static tac_device_status slow_write(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	return tac_device_write(((slow_device *)device)->sim, now_ns, wrench);
}

static void slow_enable(tac_device *device, bool on)
{
	tac_device_enable(((slow_device *)device)->sim, on);
}

static void slow_set_gripper(tac_device *device, double force_N)
{
	tac_device_set_gripper(((slow_device *)device)->sim, force_N);
}

// A firm hand that comes down to z = 0, goes on along x and comes back, again and again: a tool that has to
// wait, as after a slow start, is free once more.
static void slow_init(slow_device *d, const char *preset, double x)
{
	static tac_sim_waypoint path[2][4];
	tac_sim_waypoint *way = path[x > 0];
	tac_sim_def def;
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_def_preset(preset, "firm", &def));
	way[0] = (tac_sim_waypoint){.position_m = {x, 0, 0.02}, .gripper_m = 0.02};
	way[1] = (tac_sim_waypoint){.time_ns = 100 * MS, .position_m = {x, 0, 0}, .gripper_m = 0.004};
	way[2] = (tac_sim_waypoint){.time_ns = 500 * MS, .position_m = {x + 0.01, 0.002, 0}};
	way[3] = way[0];
	way[3].time_ns = 1000 * MS;
	def.path = way;
	def.waypoints = 4;
	def.repeat = true;
	def.start_m = way[0].position_m;
	*d = (slow_device){0};
	TEST_ASSERT_EQUAL(TAC_OK, tac_sim_create(&def, &d->sim));
	d->base = (tac_device){.info = d->sim->info,
			       .read = slow_read,
			       .write = slow_write,
			       .enable = slow_enable,
			       .set_gripper = slow_set_gripper};
}

// ---- a run ----

// The application's own force. One call of the run is an overrun.
typedef struct own_force {
	double stiffness_N_per_m;
	int64_t calls;
	bool slow;
} own_force;

static void pull(void *user, const tac_effect_input *in, tac_effect_output *out)
{
	own_force *own = user;
	out->stiffness_N_per_m = own->stiffness_N_per_m;
	out->wrench.force_N = tac_dvec3_scale(in->T_world_device.position, -own->stiffness_N_per_m);
	if (++own->calls == 40 && own->slow)
		spin(MS);
}

typedef struct run {
	const char *preset;
	int tools;
	char paths[TAC_SCENE_TOOLS][64];
	tac_scene *scenes[2];
	tac_world *worlds[2];
	tac_live *live;
	slow_device devices[TAC_SCENE_TOOLS];
	own_force own[TAC_SCENE_TOOLS];
	tac_recorder *recorders[TAC_SCENE_TOOLS];
	tac_servo_def hands[TAC_SCENE_TOOLS];
	// Of the first hand.
	_Atomic uint32_t flags;
	atomic_int pressed; // ticks with a force
} run;

static void record_first(void *user, const tac_device_sample *sample)
{
	run *r = user;
	r->flags |= sample->flags;
	r->pressed += tac_dvec3_length(sample->wrench.force_N) > 0;
	tac_recorder_write(r->recorders[0], sample);
}

static void record_second(void *user, const tac_device_sample *sample)
{
	run *r = user;
	tac_recorder_write(r->recorders[1], sample);
}

static void record_command(void *user, int64_t tick, const tac_live_command *command)
{
	uint8_t bytes[TAC_LIVE_COMMAND_BYTES];
	tac_recorder_write_command(user, tick, bytes, tac_live_command_encode(command, bytes));
}

// A floor that is much stiffer than any device allows, so that the force depends on what is stable; 6 axes
// and a mesh for a single tool, two balls for two hands.
static void build_world(run *r, int number)
{
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_create("replay", &scene));
	tac_material *rough = tac_scene_add_material(scene, "rough");
	rough->stiffness_N_per_m = 50000;
	rough->static_friction = rough->dynamic_friction = 0.4;
	for (int i = 0; i < r->tools; i++) {
		tac_scene_tool *tool = tac_scene_add_tool(scene, i == 0 ? "left" : "right");
		tool->axes = r->tools == 1 ? 6 : 3;
		tac_scene_shape *shape =
			tac_scene_tool_add_shape(tool, r->tools == 1 ? TAC_SCENE_BOX : TAC_SCENE_SPHERE);
		shape->radius_m = 0.005;
		shape->segments = shape->subdivisions = 2;
		shape->size_m = tac_dvec3_make(0.01, 0.01, 0.01);
		tool->gripper = (tac_scene_gripper){0.012, 500, 1};
	}
	tac_scene_object *floor = tac_scene_add_object(scene, "floor");
	tac_scene_shape *slab = tac_scene_object_add_shape(floor, TAC_SCENE_BOX);
	slab->size_m = tac_dvec3_make(0.2, 0.1, 0.1);
	slab->segments = 2; // the thread sanitizer is slow
	floor->position_m.z = -0.0475 - 0.001 * number;
	TAC_SCENE_SET(floor->material, "rough");
	tac_effect *guide = tac_scene_add_effect(scene, TAC_EFFECT_PLANE, "guide");
	guide->direction = tac_dvec3_make(0, 1, 0);
	guide->stiffness_N_per_m = 3000;
	guide->damping_N_s_per_m = 2;
	tac_scene_add_effect(scene, TAC_EFFECT_VIBRATION, "buzz")->amplitude_N = 0.3;
	r->scenes[number] = scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &r->worlds[number]));
}

static tac_recording_scene scene_of(const tac_scene *scene, char **out_text)
{
	size_t bytes;
	FILE *file = open_memstream(out_text, &bytes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_write(scene, file));
	fclose(file);
	return (tac_recording_scene){.name = "replay", .folder = "/", .text = *out_text};
}

static void prepare(run *r)
{
	tac_live_def live = tac_live_def_default();
	char *text;
	for (int i = 0; i < 2; i++)
		build_world(r, i);
	const tac_recording_scene scene = scene_of(r->scenes[0], &text);
	for (int i = 0; i < r->tools; i++) {
		slow_init(&r->devices[i], r->preset, i == 0 ? -0.03 : 0.03);
		snprintf(r->paths[i], sizeof r->paths[i], "/tmp/tactus_replay_%d.%d", (int)getpid(), i);
		const tac_recorder_def def = {.path = r->paths[i],
					      .info = &r->devices[i].base.info,
					      .run = 1,
					      .scene = &scene,
					      .commands = i == 0,
					      .loop_period_ns = tac_servo_def_default().period_ns};
		TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_create(&def, &r->recorders[i]));
	}
	free(text);
	live.world = r->worlds[0];
	live.record = record_command;
	live.record_user = r->recorders[0];
	TEST_ASSERT_EQUAL(TAC_OK, tac_live_create(&live, &r->live));
	for (int i = 0; i < r->tools; i++) {
		tac_servo_def *hand = &r->hands[i];
		r->own[i] = (own_force){.stiffness_N_per_m = 30, .slow = true};
		*hand = tac_servo_def_default();
		hand->live = r->live;
		hand->tool = i;
		hand->device = &r->devices[i].base;
		hand->record = i == 0 ? record_first : record_second;
		hand->record_user = r;
		hand->callback = (tac_effect_callback){.fn = pull, .user = &r->own[i]};
	}
}

// Commands while the loop runs: an object that moves, a material, effects, a gain, an emergency stop, another
// world.
static void command(run *r, tac_play *play, int frame)
{
	tac_effect guide = r->scenes[0]->effects[0];
	char *text;
	guide.stiffness_N_per_m = 100.0 * frame;
	tac_live_set_pose(
		r->live, 0,
		tac_dpose_make(tac_dvec3_make(0, 0, -0.0475 + 0.0005 * sin(frame)), tac_dquat_identity()));
	if (frame % 5 == 0)
		tac_live_set_effect(r->live, 0, 0, &guide);
	if (frame % 7 == 0)
		tac_live_switch_effect(r->live, 0, 1, frame % 2);
	if (frame == 10)
		tac_servo_stop(tac_play_hand(play, 0));
	if (frame == 12)
		tac_servo_reset(tac_play_hand(play, 0));
	if (frame == 20)
		tac_live_set_gain(r->live, r->tools - 1, 0.7);
	if (frame == 25) {
		const tac_recording_scene scene = scene_of(r->scenes[1], &text);
		TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_add_scene(r->recorders[0], &scene));
		free(text);
		TEST_ASSERT_TRUE(tac_live_exchange(r->live, r->worlds[1]));
	}
}

static void run_recorded(run *r)
{
	tac_play_def def = tac_play_def_default();
	tac_play *play;
	prepare(r);
	def.hand_count = r->tools;
	for (int i = 0; i < r->tools; i++)
		def.hands[i] = &r->hands[i];
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start_hands(&def, &play));
	for (int frame = 0; frame < FRAMES; frame++) {
		const tac_snapshot *s;
		command(r, play, frame);
		EVENTUALLY((s = tac_servo_snapshot(tac_play_servo(play), 0)) &&
			   s->tick >= TICKS * (frame + 1));
	}
	EVENTUALLY(r->pressed > 20 && r->flags == ALL_FLAGS);
	tac_play_destroy(&play);
	tac_live_destroy(&r->live);
	for (int i = 0; i < r->tools; i++)
		TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&r->recorders[i]));
}

// ---- the replay ----

typedef struct replay {
	tac_recording recordings[TAC_SCENE_TOOLS];
	tac_live_record *commands;
	tac_render_def def;
	own_force own[TAC_SCENE_TOOLS];
} replay;

static void load(replay *p, const run *r)
{
	p->def = tac_render_def_default();
	for (int i = 0; i < r->tools; i++) {
		tac_recording *recording = &p->recordings[i];
		TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(r->paths[i], recording));
		TEST_ASSERT_TRUE(recording->has_device);
		p->def.samples[i] = recording->samples;
		p->def.devices[i] = &recording->device;
		p->own[i] = (own_force){.stiffness_N_per_m = 30};
		p->def.callbacks[i] = (tac_effect_callback){.fn = pull, .user = &p->own[i]};
	}
	const tac_recording *first = &p->recordings[0];
	p->commands = calloc(first->command_count, sizeof *p->commands);
	for (size_t i = 0; i < first->command_count; i++) {
		p->commands[i].tick = first->commands[i].tick;
		TEST_ASSERT_TRUE(tac_live_command_decode(first->commands[i].data, first->commands[i].bytes,
							 &p->commands[i].command));
	}
	p->def.world = r->worlds[0];
	p->def.worlds = &r->worlds[1];
	p->def.world_count = (int32_t)first->later_scene_count;
	p->def.count = first->count;
	p->def.commands = p->commands;
	p->def.command_count = first->command_count;
	p->def.period_ns = first->header.loop_period_ns;
}

// The number of ticks in which a device gets something else than in the run.
static int count_differences(const replay *p, int tools)
{
	tac_render *render;
	tac_render_row rows[TAC_SCENE_TOOLS];
	int differences = 0;
	TEST_ASSERT_EQUAL(TAC_OK, tac_render_create(&p->def, &render));
	for (size_t k = 0; tac_render_step(render, rows); k++) {
		for (int i = 0; i < tools; i++) {
			const tac_device_sample *s = &p->recordings[i].samples[k];
			differences += memcmp(&rows[i].written, &s->wrench, sizeof s->wrench) != 0 ||
				       memcmp(&rows[i].gripper_N, &s->gripper_N, sizeof s->gripper_N) != 0;
		}
	}
	tac_render_destroy(&render);
	return differences;
}

// What the run has met; one without force, stop, overrun and invalid samples would prove nothing.
static void expect_met(const tac_recording *recording)
{
	uint32_t flags = 0;
	int pressed = 0, delayed = 0;
	for (size_t k = 0; k < recording->count; k++) {
		flags |= recording->samples[k].flags;
		pressed += tac_dvec3_length(recording->samples[k].wrench.force_N) > 0;
		delayed += recording->samples[k].delay_ns >= 150000;
	}
	TEST_ASSERT_EQUAL_HEX32(ALL_FLAGS, flags);
	TEST_ASSERT_GREATER_THAN(20, pressed);
	TEST_ASSERT_EQUAL(recording->count - 1, delayed); // all but the first
}

static void expect_same_forces(const char *preset, int tools)
{
	run r = {.preset = preset, .tools = tools};
	replay p = {0};
	run_recorded(&r);
	load(&p, &r);
	expect_met(&p.recordings[0]);
	TEST_ASSERT_EQUAL_INT64(MS, p.recordings[0].header.loop_period_ns);
	TEST_ASSERT_EQUAL_size_t(1, p.recordings[0].later_scene_count);
	TEST_ASSERT_EQUAL(0, count_differences(&p, tools));
	// Each part of the recording is needed for that.
	tac_device_sample *s = p.recordings[0].samples;
	for (size_t k = 0; k < p.def.count; k++)
		s[k].delay_ns /= 4;
	TEST_ASSERT_GREATER_THAN(0, count_differences(&p, tools));
	for (size_t k = 0; k < p.def.count; k++)
		s[k].delay_ns *= -1;
	tac_render *none;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_render_create(&p.def, &none));
	TEST_ASSERT_EQUAL_STRING("render: expected a delay of 0 or more, found another in pose 2 of tool 1",
				 logged);
	for (int i = 0; i < tools; i++) {
		tac_recording_fini(&p.recordings[i]);
		tac_device_destroy(&r.devices[i].sim);
		unlink(r.paths[i]);
	}
	free(p.commands);
	for (int i = 0; i < 2; i++) {
		tac_world_destroy(&r.worlds[i]);
		tac_scene_destroy(&r.scenes[i]);
	}
}

static void one_hand_feels_the_same_again(void)
{
	expect_same_forces("omega7", 1);
}

static void two_hands_feel_the_same_again(void)
{
	expect_same_forces("falcon", 2);
}

static void wrong_samples_are_refused_with_a_line(void)
{
	run r = {.preset = "omega3", .tools = 2};
	tac_device_sample samples[2][3] = {{{.now_ns = 1}, {.now_ns = 2}, {.now_ns = 3}},
					   {{.now_ns = 1}, {.now_ns = 2}, {.now_ns = 4}}};
	tac_render_def def = tac_render_def_default();
	tac_render *render;
	build_world(&r, 0);
	def.world = r.worlds[0];
	def.count = 3;
	def.samples[0] = samples[0];
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_render_create(&def, &render));
	TEST_ASSERT_EQUAL_STRING("render: expected samples of every tool, found none of tool 2", logged);
	def.samples[1] = samples[1];
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_render_create(&def, &render));
	TEST_ASSERT_EQUAL_STRING(
		"render: expected the same times for all tools, found another in pose 3 of tool 2", logged);
	samples[0][2].now_ns = samples[1][2].now_ns = 2;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_render_create(&def, &render));
	TEST_ASSERT_EQUAL_STRING("render: expected times that increase, found another in pose 3 of tool 1",
				 logged);
	TEST_ASSERT_NULL(render);
	tac_world_destroy(&r.worlds[0]);
	tac_scene_destroy(&r.scenes[0]);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(one_hand_feels_the_same_again);
	RUN_TEST(two_hands_feel_the_same_again);
	RUN_TEST(wrong_samples_are_refused_with_a_line);
	return UNITY_END();
}
