// Events against an oracle: the snapshots of every tick, compared with those of the tick before.
#include "base/rng.h"
#include "haptic/mapping.h"
#include "haptic/play.h"
#include "rt/clock.h"
#include "tests/support/allocations.h"
#include "tests/support/limits.h"
#include "tests/support/logged.h"
#include "tests/support/servo_fixture.h"

#include <stdio.h>
#include <stdlib.h>

void setUp(void)
{
	tac_log_set(keep_logged, NULL);
}

void tearDown(void)
{
	tac_log_set(NULL, NULL);
}

#define SURFACES 64

// What is true of a snapshot. Surfaces have numbers below SURFACES in the scenes here.
typedef struct facts {
	bool object[TAC_SNAPSHOT_OBJECTS];
	bool surface[TAC_SNAPSHOT_OBJECTS][SURFACES];
	bool touching, slipping, lost;
	uint32_t buttons, limits;
	uint64_t faults;
} facts;

static facts facts_of(const tac_snapshot *s)
{
	facts f = {0};
	for (int32_t i = 0; i < s->contact_count; i++) {
		const tac_snapshot_contact *c = &s->contacts[i];
		f.object[c->object] = true;
		TEST_ASSERT_TRUE(c->object_surface < SURFACES);
		if (c->object_surface >= 0)
			f.surface[c->object][c->object_surface] = true;
	}
	f.touching = s->friction.touching;
	f.slipping = s->friction.touching && s->friction.slipping;
	f.lost = s->status == TAC_DEVICE_LOST || s->status == TAC_DEVICE_ENDED;
	f.buttons = s->buttons;
	f.limits = s->limits;
	f.faults = s->faults;
	return f;
}

typedef struct expected {
	tac_event_kind kind;
	int32_t object, surface, number;
	bool met;
} expected;

typedef struct oracle {
	facts last;
	expected list[512];
	int count;
	long kinds[TAC_EVENT_KIND_COUNT]; // events met
} oracle;

static void expect(oracle *o, bool begins, tac_event_kind begin, tac_event_kind end, int32_t object,
		   int32_t surface, int32_t number)
{
	TEST_ASSERT_TRUE(o->count < 512);
	o->list[o->count++] = (expected){begins ? begin : end, object, surface, number, false};
}

static void expect_changes(oracle *o, const tac_snapshot *s)
{
	const facts now = facts_of(s), *last = &o->last;
	o->count = 0;
	for (int32_t k = 0; k < TAC_SNAPSHOT_OBJECTS; k++) {
		if (now.object[k] != last->object[k])
			expect(o, now.object[k], TAC_EVENT_TOUCH, TAC_EVENT_RELEASE, k, -1, -1);
		for (int32_t j = 0; j < SURFACES; j++) {
			if (now.surface[k][j] != last->surface[k][j])
				expect(o, now.surface[k][j], TAC_EVENT_ENTER, TAC_EVENT_LEAVE, k, j, -1);
		}
	}
	for (int32_t i = 0; i < 32; i++) {
		if ((now.buttons ^ last->buttons) >> i & 1u)
			expect(o, now.buttons >> i & 1u, TAC_EVENT_PRESS, TAC_EVENT_LET_GO, -1, -1, i);
		if ((now.limits ^ last->limits) >> i & 1u)
			expect(o, now.limits >> i & 1u, TAC_EVENT_LIMIT, TAC_EVENT_NO_LIMIT, -1, -1, i);
	}
	if (now.slipping && !last->slipping)
		expect(o, true, TAC_EVENT_SLIP, TAC_EVENT_SLIP, s->contact_count ? s->contacts[0].object : -1,
		       -1, -1);
	if (!now.slipping && last->slipping && now.touching)
		expect(o, true, TAC_EVENT_STICK, TAC_EVENT_STICK,
		       s->contact_count ? s->contacts[0].object : -1, -1, -1);
	if (now.lost != last->lost)
		expect(o, now.lost, TAC_EVENT_LOST, TAC_EVENT_BACK, -1, -1, -1);
	if (now.faults != last->faults)
		expect(o, true, TAC_EVENT_FAULT, TAC_EVENT_FAULT, -1, -1, -1);
	o->last = now;
}

static const tac_world_body *body_of(const tac_world *world, int32_t tool, int32_t object)
{
	return object < world->scene->object_count ? &world->objects[object] : &world->tools[1 - tool];
}

// Takes all events of a tick and finds each among the expected ones; none is left.
static void meet(oracle *o, tac_servo *servo, const tac_world *world, const tac_snapshot *s)
{
	tac_event e;
	expect_changes(o, s);
	while (tac_servo_next_event(servo, &e)) {
		int k = 0;
		while (k < o->count &&
		       !(!o->list[k].met && o->list[k].kind == e.kind && o->list[k].object == e.object &&
			 o->list[k].surface == e.surface && o->list[k].number == e.number))
			k++;
		TEST_ASSERT_TRUE_MESSAGE(k < o->count, tac_event_kind_name(e.kind));
		o->list[k].met = true;
		o->kinds[e.kind]++;
		TEST_ASSERT_EQUAL_INT64(s->tick, e.tick);
		TEST_ASSERT_EQUAL_INT64(s->time_ns, e.time_ns);
		TEST_ASSERT_EQUAL_INT(s->tool, e.tool);
		TEST_ASSERT_EQUAL_UINT32(0, e.lost);
		if (e.object >= 0)
			TEST_ASSERT_EQUAL_STRING(body_of(world, s->tool, e.object)->name, e.object_name);
		if (e.surface >= 0)
			TEST_ASSERT_EQUAL_STRING(
				body_of(world, s->tool, e.object)->mesh->surfaces[e.surface].name,
				e.surface_name);
	}
	for (int k = 0; k < o->count; k++)
		TEST_ASSERT_TRUE_MESSAGE(o->list[k].met, tac_event_kind_name(o->list[k].kind));
	TEST_ASSERT_EQUAL_UINT64(0, tac_servo_events_lost(servo));
}

// ---- scenes ----

// The hands of a built-in scene follow their paths for `ticks`.
static void run_scene(const char *name, int ticks, oracle *oracles)
{
	tac_scene *scene;
	tac_world *world;
	TEST_ASSERT_EQUAL(TAC_OK, tac_scene_builtin(name, &scene));
	TEST_ASSERT_EQUAL(TAC_OK, tac_world_build(scene, tac_collider_find("wide"), &world));
	tac_servo *servos[TAC_SCENE_TOOLS] = {0};
	puppet hands[TAC_SCENE_TOOLS];
	for (int32_t i = 0; i < scene->tool_count; i++) {
		tac_servo_def def = tac_servo_def_default();
		puppet_init(&hands[i]);
		def.world = world;
		def.tool = i;
		def.device = &hands[i].base;
		def.events = 1024;
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_create(&def, &servos[i]));
	}
	if (scene->tool_count == 2)
		TEST_ASSERT_EQUAL(TAC_OK, tac_servo_join(servos[0], servos[1]));
	for (int t = 0; t < ticks; t++) {
		for (int32_t i = 0; i < scene->tool_count; i++) {
			const tac_scene_tool *tool = &scene->tools[i];
			const tac_dpose T = tac_world_path_pose(tool->hand, tool->hand_count, t * MS);
			const tac_mapping mapping = tac_mapping_make(&tool->mapping);
			hands[i].state.T_base_tool = tac_mapping_inverse(&mapping, T);
			const int before = allocations;
			tac_servo_step(servos[i], t * MS, NULL);
			TEST_ASSERT_EQUAL_INT(before, allocations);
			meet(&oracles[i], servos[i], world, tac_servo_snapshot(servos[i], 0));
		}
	}
	for (int32_t i = 0; i < scene->tool_count; i++)
		tac_servo_destroy(&servos[i]);
	tac_world_destroy(&world);
	tac_scene_destroy(&scene);
}

static void events_are_the_differences_of_the_snapshots_in_every_scene(void)
{
	static const struct {
		const char *name;
		int ticks;
	} scenes[] = {{"sphere", 4000}, {"stylus", 4000}, {"groove", 5000}, {"tooth", 6000}, {"hands", 5000}};
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		oracle *oracles = calloc(TAC_SCENE_TOOLS, sizeof *oracles);
		run_scene(scenes[i].name, TAC_TEST_SANITIZED ? scenes[i].ticks / 20 : scenes[i].ticks,
			  oracles);
		for (int k = 0; k < TAC_SCENE_TOOLS; k++) {
			printf("%s, tool %d:", scenes[i].name, k);
			for (int j = 0; j < TAC_EVENT_KIND_COUNT; j++)
				printf(" %s %ld", tac_event_kind_name((tac_event_kind)j),
				       oracles[k].kinds[j]);
			puts("");
		}
		TEST_ASSERT_TRUE(TAC_TEST_SANITIZED || oracles[0].kinds[TAC_EVENT_TOUCH] > 0);
		free(oracles);
	}
}

// ---- everything at random ----

static const char boxes[] = "scene: boxes\n"
			    "materials: [{name: rough, static_friction: 0.5, dynamic_friction: 0.2}]\n"
			    "tools: [{name: ball, axes: 3, limits: {deadman_button: 3}, shapes: [{kind: "
			    "sphere, radius_m: 0.004}]}]\n"
			    "objects:\n"
			    "- {name: left, material: rough, position_m: [-0.02, 0, 0], shapes: [{kind: box, "
			    "size_m: [0.02, 0.02, "
			    "0.02], segments: 1}]}\n"
			    "- {name: right, position_m: [0.02, 0, 0], shapes: [{kind: box, size_m: [0.02, "
			    "0.02, 0.02], segments: "
			    "1}]}\n";

static void a_hand_that_shakes_presses_and_breaks_off_is_told_in_full(void)
{
	fixture f;
	tac_servo_def def = tac_servo_def_default();
	def.events = 256;
	fixture_build(&f, boxes, "wide", def);
	oracle *o = calloc(1, sizeof *o);
	tac_rng rng = tac_rng_seed(7, 0);
	tac_dvec3 x = tac_dvec3_make(0, 0, 0.05), goal = x;
	for (int i = 0; i < test_rounds(40000); i++) {
		if (tac_rng_u32(&rng) % 60 == 0)
			goal = tac_dvec3_make(tac_rng_range_f64(&rng, -0.03, 0.03),
					      tac_rng_range_f64(&rng, -0.015, 0.015),
					      tac_rng_range_f64(&rng, 0.005, 0.02));
		x = tac_dvec3_lerp(x, goal, 0.05);
		f.hand.state.T_base_tool.position = x;
		if (tac_rng_u32(&rng) % 100 == 0)
			f.hand.state.buttons ^= 1u << tac_rng_u32(&rng) % 32;
		if (tac_rng_u32(&rng) % 500 == 0)
			f.hand.status = TAC_DEVICE_LOST;
		else if (tac_rng_u32(&rng) % 20 == 0)
			f.hand.status = TAC_DEVICE_OK;
		if (tac_rng_u32(&rng) % 3000 == 0)
			tac_servo_stop(f.servo);
		else if (tac_rng_u32(&rng) % 50 == 0)
			tac_servo_reset(f.servo);
		tac_servo_step(f.servo, f.now_ns, NULL);
		f.now_ns += MS;
		meet(o, f.servo, f.world, tac_servo_snapshot(f.servo, 0));
	}
	for (int k = 0; k < TAC_EVENT_KIND_COUNT; k++) {
		printf("%s %ld, ", tac_event_kind_name((tac_event_kind)k), o->kinds[k]);
		TEST_ASSERT_TRUE_MESSAGE(o->kinds[k] > 0 || k == TAC_EVENT_FAULT || TAC_TEST_SANITIZED,
					 tac_event_kind_name((tac_event_kind)k));
	}
	puts("");
	free(o);
	fixture_fini(&f);
}

// A tool that begins inside an object is a fault each time that it is held.
static void a_fault_is_told(void)
{
	fixture f;
	tac_servo_def def = tac_servo_def_default();
	def.events = 16;
	fixture_build(&f, boxes, "wide", def);
	oracle *o = calloc(1, sizeof *o);
	for (int i = 0; i < 3; i++)
		meet(o, f.servo, f.world, step_to(&f, tac_dvec3_make(0.02, 0, 0)));
	TEST_ASSERT_EQUAL_INT(1, o->kinds[TAC_EVENT_FAULT]);
	free(o);
	fixture_fini(&f);
}

static void a_touch_names_object_and_surface_with_its_force(void)
{
	fixture f;
	tac_servo_def def = tac_servo_def_default();
	def.events = 16;
	fixture_build(&f, boxes, "wide", def);
	f.hand.state.buttons = 8; // the dead man's
	step_to(&f, tac_dvec3_make(0.02, 0, 0.03));
	tac_event e;
	while (tac_servo_next_event(f.servo, &e)) {
	}
	const tac_snapshot *s = move_to(&f, tac_dvec3_make(0.02, 0, 0.013), 40);
	TEST_ASSERT_TRUE(tac_servo_next_event(f.servo, &e));
	TEST_ASSERT_EQUAL(TAC_EVENT_TOUCH, e.kind);
	TEST_ASSERT_EQUAL_STRING("right", e.object_name);
	TEST_ASSERT_EQUAL_STRING("", e.surface_name);
	TEST_ASSERT_EQUAL_INT(1, e.object);
	TEST_ASSERT_TRUE(tac_servo_next_event(f.servo, &e));
	TEST_ASSERT_EQUAL(TAC_EVENT_ENTER, e.kind);
	TEST_ASSERT_EQUAL_STRING("+z", e.surface_name);
	assert_near(tac_dvec3_make(0.02, 0, 0.01), e.point_m, 2.1e-5);
	TEST_ASSERT_TRUE(e.tick < s->tick && e.force_N.z >= 0 && e.force_N.z < 0.5);
	TEST_ASSERT_FALSE(tac_servo_next_event(f.servo, &e));
	fixture_fini(&f);
}

// ---- a full ring ----

static void lost_events_are_counted_where_they_are_lost(void)
{
	fixture f;
	tac_servo_def def = tac_servo_def_default();
	def.events = 4;
	fixture_build(&f, boxes, "wide", def);
	const tac_dvec3 free_m = tac_dvec3_make(0, 0, 0.05);
	step_to(&f, free_m);
	tac_event e;
	while (tac_servo_next_event(f.servo, &e)) {
	}
	f.hand.state.buttons = 0x3f0; // six, of which four find room
	step_to(&f, free_m);
	TEST_ASSERT_EQUAL_UINT64(2, tac_servo_events_lost(f.servo));
	for (int32_t i = 4; i < 8; i++) {
		TEST_ASSERT_TRUE(tac_servo_next_event(f.servo, &e));
		TEST_ASSERT_EQUAL_INT(i, e.number);
		TEST_ASSERT_EQUAL_UINT32(0, e.lost);
	}
	TEST_ASSERT_FALSE(tac_servo_next_event(f.servo, &e));
	f.hand.state.buttons = 0x3f1;
	step_to(&f, free_m);
	f.hand.state.buttons = 0x3f3;
	step_to(&f, free_m);
	TEST_ASSERT_TRUE(tac_servo_next_event(f.servo, &e));
	TEST_ASSERT_EQUAL_INT(0, e.number);
	TEST_ASSERT_EQUAL_UINT32(2, e.lost);
	TEST_ASSERT_TRUE(tac_servo_next_event(f.servo, &e));
	TEST_ASSERT_EQUAL_INT(1, e.number);
	TEST_ASSERT_EQUAL_UINT32(0, e.lost);
	TEST_ASSERT_EQUAL_UINT64(2, tac_servo_events_lost(f.servo));
	fixture_fini(&f);
}

static void a_servo_without_events_has_none_and_a_bad_number_is_refused(void)
{
	fixture f;
	fixture_build(&f, boxes, "wide", tac_servo_def_default());
	f.hand.state.buttons = 1;
	step_to(&f, tac_dvec3_make(0, 0, 0.05));
	tac_event e;
	TEST_ASSERT_FALSE(tac_servo_next_event(f.servo, &e));
	TEST_ASSERT_EQUAL_UINT64(0, tac_servo_events_lost(f.servo));
	tac_servo_def def = tac_servo_def_default();
	def.world = f.world;
	def.device = &f.hand.base;
	def.events = 100;
	tac_servo *servo;
	TEST_ASSERT_EQUAL(TAC_ERROR_ARGUMENT, tac_servo_create(&def, &servo));
	TEST_ASSERT_EQUAL_STRING("servo: expected a power of two as number of events, found 100", logged);
	TEST_ASSERT_NULL(servo);
	fixture_fini(&f);
}

// ---- another thread ----

// A device whose button 5 changes in every read, and that counts the changes.
static tac_device_status blinking_read(tac_device *device, int64_t now_ns, tac_device_state *out_state)
{
	puppet *p = (puppet *)device;
	p->state.buttons ^= 1u << 5;
	return puppet_read(device, now_ns, out_state);
}

static void another_thread_reads_them_all(void)
{
	fixture f;
	fixture_build(&f, boxes, "wide", tac_servo_def_default());
	tac_servo_def def = tac_servo_def_default();
	f.hand.base.read = blinking_read;
	f.hand.state.T_base_tool.position = tac_dvec3_make(0, 0, 0.05);
	def.world = f.world;
	def.device = &f.hand.base;
	def.events = 64; // 32 ms at 500 µs: a reader that is held up for longer loses some, and knows it
	tac_loop_def loop = tac_loop_def_default();
	loop.period_ns = def.period_ns = 500000;
	loop.periods = 600;
	tac_play *play;
	TEST_ASSERT_EQUAL(TAC_OK, tac_play_start(&def, &loop, &play));
	tac_servo *servo = tac_play_servo(play);
	int64_t blinks = 0, last = -1;
	uint64_t lost = 0;
	for (int idle = 0; idle < 50;) {
		tac_event e;
		if (!tac_servo_next_event(servo, &e)) {
			tac_clock_sleep_until_ns(tac_clock_now_ns() + MS);
			idle++;
			continue;
		}
		idle = 0;
		lost += e.lost;
		TEST_ASSERT_TRUE(e.tick >= last);
		last = e.tick;
		blinks += e.kind == TAC_EVENT_PRESS || e.kind == TAC_EVENT_LET_GO;
	}
	tac_play_wait(play);
	tac_event e;
	while (tac_servo_next_event(servo, &e)) {
		lost += e.lost;
		blinks += e.kind == TAC_EVENT_PRESS || e.kind == TAC_EVENT_LET_GO;
	}
	const uint64_t all_lost = tac_servo_events_lost(servo);
	TEST_ASSERT_TRUE(all_lost >= lost); // the last ones have no successor
	TEST_ASSERT_TRUE(blinks <= f.hand.reads && blinks + (int64_t)all_lost >= f.hand.reads);
	tac_play_destroy(&play);
	fixture_fini(&f);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(another_thread_reads_them_all);
	if (TAC_TEST_THREADS_ONLY)
		return UNITY_END();
	RUN_TEST(events_are_the_differences_of_the_snapshots_in_every_scene);
	RUN_TEST(a_hand_that_shakes_presses_and_breaks_off_is_told_in_full);
	RUN_TEST(a_fault_is_told);
	RUN_TEST(a_touch_names_object_and_surface_with_its_force);
	RUN_TEST(lost_events_are_counted_where_they_are_lost);
	RUN_TEST(a_servo_without_events_has_none_and_a_bad_number_is_refused);
	return UNITY_END();
}
