// A world that lives: a scene from YAML, code and memory, two hands, physics, effects and a force of its own,
// events, all that can change, another world; and once more, off line, with the same forces to the bit.
#include "devices/registry.h"
#include "haptic/live.h"
#include "haptic/play.h"
#include "haptic/render.h"
#include "haptic/scene_builder.h"
#include "rt/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICKS_MAX = 65536, FRAMES = 600, FRAME_NS = 2000000, BLOCK = 0, PYRAMID = 1 }; // the last: objects

// What the hooks on the real-time thread write down, for the replay.
static tac_device_sample samples[TAC_SCENE_TOOLS][TICKS_MAX];
static tac_live_record commands[8 * FRAMES];
static size_t ticks[TAC_SCENE_TOOLS], command_count;
static double pull_N_per_m = 5;

static void note_sample(void *user, const tac_device_sample *sample)
{
	size_t *hand = user;
	if (*hand < TICKS_MAX)
		samples[hand - ticks][(*hand)++] = *sample;
}

static void note_command(void *user, int64_t tick, const tac_live_command *command)
{
	(void)user;
	if (command_count < sizeof commands / sizeof *commands)
		commands[command_count++] = (tac_live_record){tick, *command};
}

// A force of its own, on the real-time thread: a weak spring towards the middle.
static void pull(void *user, const tac_effect_input *in, tac_effect_output *out)
{
	out->stiffness_N_per_m = *(const double *)user;
	out->wrench.force_N = tac_dvec3_scale(in->T_world_device.position, -out->stiffness_N_per_m);
}

static const char yaml[] =
	"scene: a rail\ntools: [{name: left, shapes: [{kind: sphere, radius_m: 0.005}]}]\n"
	"materials: [{name: wood, stiffness_N_per_m: 800}, {name: cork, stiffness_N_per_m: 300}]\n";

// A block on a rail, and a pyramid that exists in memory alone.
static tac_world *make_world(tac_scene **out_scene)
{
	const tac_vec3 corners[] = {{0, 0, 0}, {0.04f, 0, 0}, {0, 0.04f, 0}, {0, 0, 0.04f}};
	const tac_mesh_triangle faces[] = {{{0, 2, 1}}, {{0, 1, 3}}, {{0, 3, 2}}, {{1, 2, 3}}};
	tac_mesh_def def = tac_mesh_def_default();
	def.vertices = corners;
	def.vertex_count = def.triangle_count = 4;
	def.triangles = faces;
	tac_mesh *pyramid;
	tac_world *world;
	if (tac_scene_parse(yaml, strlen(yaml), "yaml", out_scene) < TAC_OK ||
	    tac_mesh_build(&def, &pyramid) < TAC_OK)
		return NULL;
	tac_scene *scene = *out_scene;
	tac_scene_tool *right = tac_scene_add_tool(scene, "right");
	tac_scene_tool_add_shape(right, TAC_SCENE_SPHERE)->radius_m = 0.005;
	tac_scene_add_camera(scene, "front")->eye_m = tac_dvec3_make(0, -0.4, 0.1);
	tac_scene_object *block = tac_scene_add_object(scene, "block");
	tac_scene_object_add_shape(block, TAC_SCENE_BOX)->size_m = tac_dvec3_make(0.04, 0.04, 0.04);
	TAC_SCENE_SET(block->material, "wood");
	tac_scene_object *stone = tac_scene_add_object(scene, "pyramid");
	tac_scene_object_add_mesh(stone, "pyramid", pyramid);
	stone->position_m = tac_dvec3_make(0.06, 0.05, -0.02);
	tac_scene_add_effect(scene, TAC_EFFECT_VIBRATION, "buzz")->enabled = false;
	tac_world_build(scene, tac_collider_find("wide"), &world);
	tac_mesh_destroy(&pyramid); // the world has its own copy
	return world;
}

// Physics of its own: the block of 0.3 kg slides along x, pushed by both tools.
static void slide(tac_live *live, const tac_play *play)
{
	static double x_m, v_m_per_s;
	double force_N = -0.8 * v_m_per_s; // of the rail
	for (int32_t hand = 0; hand < 2; hand++) {
		const tac_snapshot *s = tac_servo_snapshot(tac_play_hand(play, hand), 0);
		for (int32_t i = 0; s && i < s->contact_count; i++)
			force_N -= s->contacts[i].object == BLOCK ? s->contacts[i].force_N.x : 0;
		if (s && s->live.blocked >> BLOCK & 1) { // by a tool that could not yield
			x_m = s->T_world_objects[BLOCK].position.x;
			v_m_per_s = 0;
		}
	}
	v_m_per_s += force_N / 0.3 * 1e-9 * FRAME_NS;
	x_m += v_m_per_s * 1e-9 * FRAME_NS;
	tac_live_set_pose(live, BLOCK, tac_dpose_make(tac_dvec3_make(x_m, 0, 0), tac_dquat_identity()));
}

static void hear(tac_servo *servo, tac_live *live, int32_t hand)
{
	for (tac_event e; tac_servo_next_event(servo, &e);)
		if (e.kind == TAC_EVENT_TOUCH && tac_live_switch_effect(live, hand, 0, true))
			printf("hand %d touches the %s\n", (int)hand, e.object_name);
}

// What an application changes now and then.
static void change(tac_live *live, int frame, tac_world *next)
{
	const tac_scene_mapping larger = {.workspace_scale = 1.1, .clutch_button = -1};
	const tac_material hard = tac_material_default();
	if (frame == 300) {
		tac_live_show(live, PYRAMID, false);
		tac_live_use_material(live, BLOCK, 1); // cork
	} else if (frame == 350) {
		tac_live_set_material(live, 1, &hard);
		tac_live_set_gain(live, 1, 0.5);
		tac_live_set_mapping(live, 1, &larger, 100000000);
	}
	if (frame == 450)
		tac_live_exchange(live, next); // all is as it was
}

// Renders what was recorded: whether every tick writes the same force to both devices as in the run.
static bool replay(tac_world *const worlds[2], const tac_servo_def hands[2], size_t count)
{
	tac_render_def def = tac_render_def_default();
	def.world = worlds[0];
	def.count = count;
	def.commands = commands;
	def.command_count = command_count;
	def.worlds = &worlds[1];
	def.world_count = 1;
	def.period_ns = hands[0].period_ns;
	for (int i = 0; i < 2; i++) {
		def.samples[i] = samples[i];
		def.devices[i] = &hands[i].device->info;
		def.callbacks[i] = hands[i].callback;
	}
	tac_render_row rows[TAC_SCENE_TOOLS];
	tac_render *render;
	if (tac_render_create(&def, &render) < TAC_OK)
		return false;
	bool same = true;
	for (size_t tick = 0; tac_render_step(render, rows); tick++)
		same &= memcmp(&rows[0].written, &samples[0][tick].wrench, sizeof(tac_wrench)) == 0 &&
			memcmp(&rows[1].written, &samples[1][tick].wrench, sizeof(tac_wrench)) == 0;
	tac_render_destroy(&render);
	return same;
}

int main(void)
{
	const tac_sim_waypoint ways[2][2] = {
		{{.position_m = {-0.05, 0, 0}}, {.time_ns = 300000000, .position_m = {-0.01, 0, 0}}},
		{{.position_m = {0.07, 0.06, 0.06}}, {.time_ns = 300000000, .position_m = {0.07, 0.06, 0}}}};
	tac_scene *scenes[2] = {NULL, NULL};
	tac_world *worlds[2] = {make_world(&scenes[0]), make_world(&scenes[1])};
	tac_live *live;
	tac_live_def live_def = tac_live_def_default();
	live_def.world = worlds[0];
	live_def.record = note_command;
	if (!worlds[0] || !worlds[1] || tac_live_create(&live_def, &live) < TAC_OK)
		return EXIT_FAILURE;
	tac_servo_def hands[2];
	tac_play_def def = tac_play_def_default();
	def.hand_count = 2;
	for (int32_t i = 0; i < 2; i++) {
		const tac_open_def hand = {.sim_path = ways[i], .sim_waypoints = 2};
		hands[i] = tac_servo_def_default();
		if (tac_registry_open("sim:omega3", &hand, &hands[i].device) < TAC_OK)
			return EXIT_FAILURE;
		hands[i].live = live;
		hands[i].tool = i;
		hands[i].events = 256;
		hands[i].record = note_sample;
		hands[i].record_user = &ticks[i];
		hands[i].callback = (tac_effect_callback){.fn = pull, .user = &pull_N_per_m};
		def.hands[i] = &hands[i];
	}
	tac_play *play;
	if (tac_play_start_hands(&def, &play) < TAC_OK)
		return EXIT_FAILURE;
	for (int frame = 0; frame < FRAMES; frame++) {
		slide(live, play);
		change(live, frame, worlds[1]);
		for (int32_t i = 0; i < 2; i++)
			hear(tac_play_hand(play, i), live, i);
		tac_clock_sleep_until_ns(tac_clock_now_ns() + FRAME_NS);
	}
	const tac_snapshot s = *tac_servo_snapshot(tac_play_hand(play, 0), 0);
	tac_play_destroy(&play);
	tac_live_destroy(&live);
	printf("the block is at %.1f mm in world %d after %zu ticks and %zu commands\n",
	       1e3 * s.T_world_objects[BLOCK].position.x, (int)s.live.world, ticks[0], command_count);
	const bool same = replay(worlds, hands, ticks[0]);
	printf("the replay is %s\n", same ? "the same to the bit" : "another");
	for (int i = 0; i < 2; i++) {
		tac_device_destroy(&hands[i].device);
		tac_world_destroy(&worlds[i]);
		tac_scene_destroy(&scenes[i]);
	}
	return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
