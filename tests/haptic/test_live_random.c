// A world that changes at random, by a command in most ticks and eight in some: poses, visibility, materials,
// mapping, gain, effects and whole worlds. No tick intersects, jumps or allocates; the recorded commands
// repeat the run to the bit.
#include "tests/support/allocations.h"
#include "tests/support/locks.h"

#include "base/rng.h"
#include "devices/recorder.h"
#include "haptic/live.h"
#include "haptic/play.h"
#include "haptic/render.h"
#include "haptic/scene_builder.h"
#include "rt/clock.h"
#include "tests/support/force_watch.h"
#include "tests/support/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void setUp(void)
{
}

void tearDown(void)
{
}

#define MS      INT64_C(1000000)
#define OBJECTS 8
#define TICKS   (TAC_TEST_SANITIZED ? 1500 : 4000)
#define HARDEST 1500.0 // N/m

// ---- worlds ----

// A floor and movable bodies, some of them hidden; each number gives another arrangement. `six`: a tool that
// is a mesh and rotates.
static tac_world *make_world(uint64_t number, bool six)
{
	tac_rng rng = tac_rng_seed(number, 7);
	tac_scene *scene;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_create("random", &scene));
	tac_scene_add_material(scene, "soft")->stiffness_N_per_m = 300;
	tac_scene_add_material(scene, "hardest")->stiffness_N_per_m = HARDEST;
	tac_scene_tool *tool = tac_scene_add_tool(scene, "tool");
	tool->axes = six ? 6 : 3;
	if (six) {
		tac_scene_shape *box = tac_scene_tool_add_shape(tool, TAC_SCENE_BOX);
		box->size_m = tac_dvec3_make(0.008, 0.012, 0.02);
		box->segments = 2;
	} else {
		tac_scene_tool_add_shape(tool, TAC_SCENE_SPHERE)->radius_m = 0.005;
	}
	tac_scene_object *floor = tac_scene_add_object(scene, "floor");
	floor->position_m.z = -0.02;
	tac_scene_shape *slab = tac_scene_object_add_shape(floor, TAC_SCENE_BOX);
	slab->size_m = tac_dvec3_make(0.2, 0.2, 0.02);
	slab->segments = 4;
	static const tac_scene_shape_kind kinds[] = {TAC_SCENE_BOX, TAC_SCENE_SPHERE, TAC_SCENE_CYLINDER,
						     TAC_SCENE_CONE};
	for (int i = 1; i < OBJECTS; i++) {
		char name[] = "o0";
		name[1] = (char)('0' + i);
		tac_scene_object *o = tac_scene_add_object(scene, name);
		tac_scene_shape *shape = tac_scene_object_add_shape(o, kinds[tac_rng_u64(&rng) % 4]);
		shape->size_m = tac_dvec3_make(0.02, 0.015, 0.01);
		shape->segments = shape->kind == TAC_SCENE_BOX ? 2 : 12;
		shape->subdivisions = 2;
		o->position_m = tac_dvec3_make(tac_rng_range_f64(&rng, -0.04, 0.04),
					       tac_rng_range_f64(&rng, -0.04, 0.04),
					       tac_rng_range_f64(&rng, 0, 0.03));
		o->hidden = i % 3 == 0;
		if (i % 2)
			TAC_SCENE_SET(o->material, "soft");
	}
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	return world;
}

static void destroy_world(tac_world *world)
{
	tac_scene *scene = (tac_scene *)(uintptr_t)world->scene;
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

// ---- commands ----

static void send_move(tac_live *live, tac_rng *rng)
{
	const tac_dvec3 x =
		tac_dvec3_make(tac_rng_range_f64(rng, -0.04, 0.04), tac_rng_range_f64(rng, -0.04, 0.04),
			       tac_rng_range_f64(rng, -0.005, 0.03));
	const tac_dvec3 turn = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0, 2));
	const int32_t object = 1 + (int32_t)(tac_rng_u64(rng) % (OBJECTS - 1));
	tac_live_move(live, object, tac_dpose_make(x, tac_dquat_exp(turn)),
		      (int64_t)(tac_rng_u64(rng) % 300) * MS);
}

static void send_material(tac_live *live, tac_rng *rng)
{
	tac_material m = tac_material_default();
	m.stiffness_N_per_m = tac_rng_range_f64(rng, 100, HARDEST);
	m.static_friction = tac_rng_range_f64(rng, 0, 1);
	m.dynamic_friction = 0.8 * m.static_friction;
	m.viscosity_N_s_per_m = tac_rng_range_f64(rng, 0, 1);
	tac_live_set_material(live, tac_rng_u64(rng) % 2 ? 0 : 2, &m); // "hardest" stays as it is
}

static void send_mapping(tac_live *live, tac_rng *rng)
{
	const tac_scene_mapping mapping = {
		.workspace_scale = tac_rng_range_f64(rng, 0.8, 1.25),
		.position_m = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0, 0.01)),
		.rotation_rad = tac_dvec3_scale(tac_rng_unit_f64(rng), tac_rng_range_f64(rng, 0, 0.3)),
		.clutch_button = -1,
	};
	tac_live_set_mapping(live, 0, &mapping, (int64_t)(tac_rng_u64(rng) % 500) * MS);
}

static void send_effect(tac_live *live, tac_rng *rng)
{
	const int32_t number = (int32_t)(tac_rng_u64(rng) % 4);
	if (tac_rng_u64(rng) % 3 == 0) {
		tac_live_switch_effect(live, 0, number, tac_rng_u64(rng) % 2);
		return;
	}
	tac_effect e = tac_effect_default((tac_effect_kind)(tac_rng_u64(rng) % TAC_EFFECT_KIND_COUNT));
	memcpy(e.name, "any", 4);
	e.enabled = tac_rng_u64(rng) % 4 > 0;
	e.position_m = tac_dvec3_scale(tac_rng_unit_f64(rng), 0.02);
	e.direction = tac_rng_unit_f64(rng);
	e.force_N = tac_rng_unit_f64(rng);
	e.stiffness_N_per_m = tac_rng_range_f64(rng, 0, 500);
	e.damping_N_s_per_m = tac_rng_range_f64(rng, 0, 2);
	e.radius_m = tac_rng_range_f64(rng, 0.001, 0.03);
	e.range_m = tac_rng_range_f64(rng, 0, 0.04);
	e.max_force_N = 2;
	e.side = (int)(tac_rng_u64(rng) % 3);
	e.region = (int)(tac_rng_u64(rng) % 3);
	tac_live_set_effect(live, 0, number, &e);
}

// Sends one command at random. The seldom ones are as rare as an application would make them.
static void send_any(tac_live *live, tac_rng *rng)
{
	const uint64_t dice = tac_rng_u64(rng) % 1000;
	const int32_t object = 1 + (int32_t)(tac_rng_u64(rng) % (OBJECTS - 1));
	if (dice < 100)
		send_effect(live, rng);
	else if (dice < 600)
		send_move(live, rng);
	else if (dice < 800)
		tac_live_show(live, object, tac_rng_u64(rng) % 3 != 0);
	else if (dice < 880)
		send_material(live, rng);
	else if (dice < 930)
		tac_live_use_material(live, object, (int32_t)(tac_rng_u64(rng) % 3));
	else if (dice < 980) // every mesh has a first surface
		tac_live_use_surface_material(live, object, 0, (int32_t)(tac_rng_u64(rng) % 3));
	else if (dice < 990)
		send_mapping(live, rng);
	else
		tac_live_set_gain(live, 0, tac_rng_range_f64(rng, 0.3, 1));
}

// ---- a run off line ----

typedef struct outcome {
	tac_dpose T_world_sco;
	tac_wrench sent;
	int32_t contacts;
	uint32_t flags;
} outcome;

typedef struct run {
	tac_path_sample *path;
	outcome *outcomes;
	int ticks;
	tac_recorder *recorder;
	uint64_t lost;
} run;

static void record_command(void *user, int64_t tick, const tac_live_command *command)
{
	run *r = user;
	uint8_t bytes[TAC_LIVE_COMMAND_BYTES];
	const size_t size = tac_live_command_encode(command, bytes);
	r->lost += !tac_recorder_write_command(r->recorder, tick, bytes, size);
}

static void record_sample(void *user, const tac_device_sample *sample)
{
	run *r = user;
	r->lost += !tac_recorder_write(r->recorder, sample);
}

// The time of a tick as a loop of 1 kHz measures it: the median of its steps is not quite the period, and
// each hundredth tick is 5 ms late.
static int64_t tick_ns(int tick)
{
	return tick * (MS - 4) + tick / 100 * 5 * MS;
}

// A hand that wanders up and down over the floor.
static void make_path(run *r, uint64_t seed, bool six)
{
	tac_rng rng = tac_rng_seed(seed, 3);
	const double a = tac_rng_range_f64(&rng, 0.5, 2), b = tac_rng_range_f64(&rng, 0.5, 2);
	r->path = calloc((size_t)r->ticks, sizeof *r->path);
	r->outcomes = calloc((size_t)r->ticks, sizeof *r->outcomes);
	for (int i = 0; i < r->ticks; i++) {
		const double t = 1e-3 * i;
		const tac_dvec3 x = tac_dvec3_make(0.03 * sin(1.7 * a * t), 0.03 * sin(2.3 * b * t),
						   0.015 + 0.03 * cos(3.1 * t));
		const tac_dvec3 turn = tac_dvec3_make(0.5 * sin(t), 0.4 * sin(1.3 * b * t), 0.3 * a * t);
		r->path[i] = (tac_path_sample){
			tick_ns(i), tac_dpose_make(x, six ? tac_dquat_exp(turn) : tac_dquat_identity())};
	}
}

static bool intersects(const tac_world *world, tac_context *context, const tac_snapshot *s)
{
	for (int32_t i = 0; i < world->scene->object_count && s->state != TAC_SERVO_WAITING; i++) {
		if (s->live.hidden >> i & 1u)
			continue;
		const tac_rigid motion =
			tac_rigid_from_dpose(tac_dpose_relative(s->T_world_objects[i], s->T_world_sco));
		if (tac_collider_query(world->collider, context, world->tools[0].shape,
				       world->objects[i].shape, &motion, TAC_QUERY_FIRST,
				       (tac_budget){0, 0}) != TAC_OVERLAP_NONE)
			return true;
	}
	return false;
}

// What the run has met; a run that met nothing would prove nothing.
typedef struct met {
	int ticks, blocked, waited, contacts, exchanged, moving, hits, effects;
} met;

static void check_tick(const tac_world *world, tac_context *context, force_watch *watch,
		       const tac_snapshot *s, met *m)
{
	TEST_ASSERT_FALSE(intersects(world, context, s));
	watch->vanished = false; // a touched object may be hidden and another one shown
	force_watch_step(watch, world, s);
	TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
	m->blocked += s->live.blocked != 0;
	m->waited += s->live.waits != 0;
	m->contacts += s->contact_count > 0;
	m->moving += s->live.moving != 0;
	m->effects += tac_dvec3_length(s->effects.wrench.force_N) > 0.1;
	m->hits += (s->sco_flags & TAC_SCO_CHECK_HIT) != 0;
	m->ticks++;
}

// The caller frees the text.
static tac_recording_scene scene_of(const tac_world *world)
{
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_write(world->scene, file));
	fclose(file);
	return (tac_recording_scene){.name = "random", .folder = "/", .text = text};
}

static void record_scene(run *r, const tac_world *world)
{
	const tac_recording_scene scene = scene_of(world);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_add_scene(r->recorder, &scene));
	free((char *)(uintptr_t)scene.text);
}

static void run_recorded(run *r, uint64_t seed, bool six, const char *path, met *m)
{
	tac_rng rng = tac_rng_seed(seed, 11);
	tac_live_def def = tac_live_def_default();
	def.world = make_world(seed * 1000, six);
	def.record = record_command;
	def.record_user = r;
	make_path(r, seed, six);
	tac_path_device device = tac_path_device_make(r->path);
	const tac_recording_scene scene = scene_of(def.world);
	const tac_recorder_def recorder = {.path = path,
					   .info = &device.base.info,
					   .scene = &scene,
					   .commands = true,
					   .loop_period_ns = MS};
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_create(&recorder, &r->recorder));
	free((char *)(uintptr_t)scene.text);
	tac_live *live;
	TEST_ASSERT_EQUAL(TAC_OK, tac_live_create(&def, &live));
	tac_servo_def servo_def = tac_servo_def_default();
	servo_def.live = live;
	servo_def.device = &device.base;
	servo_def.record = record_sample;
	servo_def.record_user = r;
	tac_servo *servo;
	TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&servo_def, &servo));
	tac_context *context;
	const tac_context_def context_def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &context));
	tac_world *worlds[2] = {def.world, NULL}; // in use, and the next
	force_watch watch = {0};
	int32_t number = 0, in_use = 0;
	for (int i = 0; i < r->ticks; i++) {
		if (i % 700 == 699 && !worlds[1]) {
			worlds[1] = make_world(seed * 1000 + (uint64_t)++number, six);
			record_scene(r, worlds[1]);
			TEST_ASSERT_TRUE(tac_live_exchange(live, worlds[1]));
		}
		// None, one, or as many as come after a late tick; some in the tick of an exchange. Together
		// fewer than a recorder that is held up takes.
		for (int k = i % 50 == 49 ? 8 : i % 5 != 0; k > 0; k--)
			send_any(live, &rng);
		device.index = (size_t)i;
		const int before = allocations, locks_before = locks;
		tac_servo_step(servo, tick_ns(i), NULL);
		TEST_ASSERT_EQUAL_MESSAGE(before, allocations, "a tick allocates");
		TEST_ASSERT_EQUAL_MESSAGE(locks_before, locks, "a tick locks or frees");
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		if (s->live.world != in_use) {
			in_use = s->live.world;
			m->exchanged++;
			TEST_ASSERT_NULL(tac_live_returned(live, NULL)); // not before the next tick
			worlds[0] = worlds[1];
			worlds[1] = NULL;
		}
		for (tac_world *old; (old = tac_live_returned(live, NULL));) {
			TEST_ASSERT_NOT_EQUAL(worlds[0], old);
			destroy_world(old);
		}
		check_tick(worlds[0], context, &watch, s, m);
		r->outcomes[i] =
			(outcome){s->T_world_sco, s->sent, s->contact_count, s->sco_flags | s->limits << 16};
	}
	TEST_ASSERT_EQUAL_UINT64(0, r->lost);
	tac_context_destroy(&context);
	tac_servo_destroy(&servo);
	for (tac_world *old; (old = tac_live_returned(live, NULL));)
		destroy_world(old);
	tac_live_destroy(&live);
	TEST_ASSERT_EQUAL(TAC_OK, tac_recorder_destroy(&r->recorder));
}

// Renders the recording from its file alone: scenes, samples and commands.
static void expect_same_replay(const run *r, const char *path)
{
	tac_recording recording;
	TEST_ASSERT_EQUAL(TAC_OK, tac_recording_load(path, &recording));
	TEST_ASSERT_EQUAL_size_t((size_t)r->ticks, recording.count);
	TEST_ASSERT_GREATER_THAN_size_t((size_t)r->ticks / 2, recording.command_count);
	const size_t worlds = recording.later_scene_count + 1;
	tac_world **built = calloc(worlds, sizeof *built);
	for (size_t i = 0; i < worlds; i++) {
		tac_scene *scene;
		const char *text = i == 0 ? recording.scene.text : recording.later_scenes[i - 1].text;
		TEST_ASSERT_EQUAL(TAC_OK, tac_scene_parse(text, strlen(text), "recorded", &scene));
		TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &built[i]));
	}
	tac_path_sample *samples = calloc(recording.count, sizeof *samples);
	for (size_t i = 0; i < recording.count; i++)
		samples[i] = (tac_path_sample){recording.samples[i].state.time_ns,
					       recording.samples[i].state.T_base_tool};
	tac_live_record *commands = calloc(recording.command_count, sizeof *commands);
	for (size_t i = 0; i < recording.command_count; i++) {
		const tac_recording_command *c = &recording.commands[i];
		commands[i].tick = c->tick;
		TEST_ASSERT_TRUE(tac_live_command_decode(c->data, c->bytes, &commands[i].command));
	}
	tac_render_def def = tac_render_def_default();
	def.world = built[0];
	def.paths[0] = samples;
	def.count = recording.count;
	def.commands = commands;
	def.command_count = recording.command_count;
	def.worlds = built + 1;
	def.world_count = (int32_t)worlds - 1;
	def.period_ns = recording.header.loop_period_ns;
	tac_render *render;
	tac_render_row rows[TAC_SCENE_TOOLS];
	TEST_ASSERT_EQUAL(TAC_OK, tac_render_create(&def, &render));
	for (int i = 0; tac_render_step(render, rows); i++) {
		const outcome *o = &r->outcomes[i];
		TEST_ASSERT_EQUAL_MEMORY(&o->T_world_sco, &rows[0].T_world_sco, sizeof o->T_world_sco);
		TEST_ASSERT_EQUAL_MEMORY(&o->sent, &rows[0].sent, sizeof o->sent);
		TEST_ASSERT_EQUAL(o->contacts, rows[0].contacts);
		TEST_ASSERT_EQUAL_HEX32(o->flags, rows[0].flags);
	}
	tac_render_destroy(&render);
	for (size_t i = 0; i < worlds; i++)
		destroy_world(built[i]);
	free(commands);
	free(samples);
	free((void *)built);
	tac_recording_fini(&recording);
}

static void run_and_replay(uint64_t seed, bool six, met *m)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/tactus_live_%d.rec", (int)getpid());
	run r = {.ticks = TICKS};
	run_recorded(&r, seed, six, path, m);
	expect_same_replay(&r, path);
	unlink(path);
	free(r.path);
	free(r.outcomes);
}

static void a_random_run_is_free_of_faults_and_repeats_to_the_bit(void)
{
	met m = {0};
	const int rounds = test_long() ? 75 : test_rounds(8); // 75: ten minutes of ticks
	for (int i = 0; i < rounds; i++) {
		run_and_replay(1 + (uint64_t)i, false, &m);
		run_and_replay(1 + (uint64_t)i, true, &m);
	}
	printf("%d ticks: %d in contact, %d with a blocked object, %d with one that waits to be shown, %d "
	       "with a force of effects, %d worlds\n",
	       m.ticks, m.contacts, m.blocked, m.waited, m.effects, m.exchanged);
	TEST_ASSERT_GREATER_THAN(500 * rounds, m.effects);
	TEST_ASSERT_EQUAL(0, m.hits);
	TEST_ASSERT_GREATER_THAN(50 * rounds, m.contacts);
	TEST_ASSERT_GREATER_THAN(5 * rounds, m.waited);
	TEST_ASSERT_GREATER_THAN(0, m.blocked); // rare: only what really pushes the tool
	TEST_ASSERT_GREATER_OR_EQUAL(2 * rounds * (TICKS / 700), m.exchanged);
	TEST_ASSERT_GREATER_THAN(1000 * rounds, m.moving);
}

// ---- a loop that runs ----

// A hand that wanders, read and watched on the real-time thread.
typedef struct wanderer {
	tac_device base;
	int64_t begin_ns;
	bool six;
	int allocations_before, locks_before;
	long faults_before;
	_Atomic int allocated, locked;
	_Atomic long page_faults, ticks;
} wanderer;

static long page_faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static tac_device_status wander(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	wanderer *w = (wanderer *)device;
	if (w->begin_ns == 0) {
		w->begin_ns = now_ns;
		w->allocations_before = allocations;
		w->locks_before = locks;
		w->faults_before = page_faults();
	}
	w->allocated = allocations - w->allocations_before;
	w->locked = locks - w->locks_before;
	w->page_faults = page_faults() - w->faults_before;
	w->ticks++;
	const double t = (double)(now_ns - w->begin_ns) / 1e9;
	*out_state = (tac_device_state){
		.time_ns = now_ns,
		.T_base_tool = tac_dpose_make(
			tac_dvec3_make(0.03 * sin(1.7 * t), 0.03 * sin(2.3 * t), 0.02 + 0.03 * cos(3.1 * t)),
			tac_dquat_exp(tac_dvec3_make(w->six ? 0.5 * sin(t) : 0, 0, 0)))};
	return TAC_DEVICE_OK;
}

static tac_device_status ignore_wrench(tac_device *device, int64_t now_ns, const tac_wrench *wrench)
{
	(void)device, (void)now_ns, (void)wrench;
	return TAC_DEVICE_OK;
}

static void ignore_enable(tac_device *device, bool on)
{
	(void)device, (void)on;
}

// Builds worlds and sends commands, as far as the queue takes them, while the loop runs.
static void drive(tac_live *live, tac_servo *servo, tac_world *first, bool six, int64_t duration_ns, met *m)
{
	tac_context *context;
	const tac_context_def context_def = tac_context_def_default();
	TEST_ASSERT_EQUAL(TAC_OK, tac_context_create(&context_def, &context));
	tac_rng rng = tac_rng_seed(5, 5);
	tac_world *worlds[8] = {first}; // by number, modulo 8
	int32_t number = 0;
	const int64_t end_ns = tac_clock_now_ns() + duration_ns;
	for (int64_t i = 0; tac_clock_now_ns() < end_ns || m->exchanged == 0 || m->effects == 0; i++) {
		send_any(live, &rng);
		if (i % 100 == 99) {
			tac_world *next = make_world(500 + (uint64_t)number, six);
			if (tac_live_exchange(live, next))
				worlds[++number % 8] = next;
			else
				destroy_world(next); // too many have not come back
		}
		for (tac_world *old; (old = tac_live_returned(live, NULL)); m->exchanged++)
			destroy_world(old);
		const tac_snapshot *s = tac_servo_snapshot(servo, 0);
		if (s) {
			TEST_ASSERT_FALSE(intersects(worlds[s->live.world % 8], context, s));
			TEST_ASSERT_EQUAL_UINT64(0, s->feel.jumps);
			m->contacts += s->contact_count > 0;
			m->effects += s->effects.active != 0;
		}
		tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
	}
	tac_context_destroy(&context);
}

static void a_loop_takes_commands_while_worlds_are_built(void)
{
	const bool six = !TAC_TEST_SANITIZED; // the thread sanitizer makes a mesh tool very slow
	wanderer hand = {.six = six};
	hand.base.info = (tac_device_info){
		.name = "wanderer", .max_force_N = 20, .max_torque_Nm = 1, .torque_axes = 3, .period_ns = MS};
	hand.base.read = wander;
	hand.base.write = ignore_wrench;
	hand.base.enable = ignore_enable;
	tac_live_def def = tac_live_def_default();
	def.world = make_world(499, six);
	tac_live *live;
	TEST_ASSERT_EQUAL(TAC_OK, tac_live_create(&def, &live));
	tac_servo_def servo = tac_servo_def_default();
	servo.live = live;
	servo.device = &hand.base;
	tac_play *play;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start(&servo, NULL, &play));
	met m = {0};
	drive(live, tac_play_servo(play), def.world, six, (test_long() ? 600000 : 1000) * MS, &m);
	const bool locked = tac_play_report(play)->grants[TAC_GRANT_MEMORY].state == TAC_GRANT_GRANTED;
	tac_play_destroy(&play);
	TEST_ASSERT_EQUAL(0, hand.allocated);
	TEST_ASSERT_EQUAL(0, hand.locked);
	TEST_ASSERT_GREATER_THAN(0, locks); // those of this thread are counted
	if (locked && TAC_TEST_CAN_LOCK_MEMORY)
		TEST_ASSERT_EQUAL_MESSAGE(0, hand.page_faults, "page faults in ticks");
	printf("%ld ticks, %d worlds, %d effects\n", (long)hand.ticks, m.exchanged, m.effects);
	TEST_ASSERT_GREATER_THAN(0, m.effects);
	TEST_ASSERT_GREATER_THAN(0, m.exchanged);
	for (tac_world *old; (old = tac_live_returned(live, NULL));) // also those that still waited
		destroy_world(old);
	tac_live_destroy(&live);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_random_run_is_free_of_faults_and_repeats_to_the_bit);
	RUN_TEST(a_loop_takes_commands_while_worlds_are_built);
	return UNITY_END();
}
