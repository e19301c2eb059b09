#include "base/assert.h"
#include "base/def.h"
#include "base/log.h"
#include "haptic/servo/live_state.h"
#include "rt/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Distance from the tool's origin at which the fingers hold it, m: it turns the hand's linear impedance into
// an angular one.
#define GRIP_RADIUS_M 0.03

// The largest share of the device's force that one step of its position sensor, differentiated, may command
// as damping. Above it, the damping follows the sensor's noise: a Falcon without friction at 4000 N/m
// generates 1.8 mJ with a share of 0.36 and 0.04 mJ with this one.
#define STEP_FORCE 0.07

// The mover's work budget. A unit takes about 300 ns; it is a count and not a time, so that replays stay the
// same. In ticks shorter than a millisecond there is one unit for this much of the period: the mover
// takes about a third of it, and more where a query that has come far is completed.
#define SHORT_UNIT_NS 1000
// Where many triangles are near: what a tick of a millisecond has, and a longer one for each millisecond.
// Larger: the SCO follows fast hands on scans more closely, and ticks take longer.
#define DENSE_UNITS 280
// Where few are near they are long and come close to each other everywhere: a peg in its hole needs more
// units to go in at the speed of a hand, and the meshes bound its work. Lists of pairs then serve for many
// steps, however fast they are, so that a mesh keeps no pace.
#define SPARSE_TRIANGLES 20000
// However long the period: no tick takes more than 0.9 ms in the mover, at 0.6 µs for the most expensive
// unit.
#define WORK_UNITS_MAX 1500

// The share of the period for the queries of an engine that simulates gates, at its slowest. The mover and
// the rest of the tick have the remainder.
#define SLOW_COLLIDER_SHARE 0.35

// How fast the force law's spring follows a goal that jumps, and how fast the SCO slides away from a contact
// that vanishes: at 1000 N/m the force changes by 0.5 N in a millisecond.
#define SLEW_M_PER_S 0.5

// The limit's times for a stall and for stale samples are at least this many periods, so that a slow loop
// does not count as stalled.
#define STALL_PERIODS 4
#define STALE_PERIODS 2

static int64_t max_ns(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void tac_servo_def_init(tac_servo_def *out_def, size_t bytes)
{
	const tac_servo_def def = {
		.mover = TAC_SCO_CONTINUOUS,
		.check = true,
		.period_ns = 1000000,
		.readers = 1,
	};
	tac_def_fill(out_def, bytes, &def, sizeof def);
}

uint64_t tac_servo_hidden_objects(const tac_scene *scene)
{
	uint64_t hidden = 0;
	for (int32_t i = 0; i < scene->object_count; i++)
		hidden |= (uint64_t)scene->objects[i].hidden << i;
	return hidden;
}

// The bodies of the scene's objects, and of the partner's tool; returns their number.
static int32_t list_objects(const tac_servo *s, const tac_world *world,
			    tac_sco_object objects[TAC_SNAPSHOT_OBJECTS], bool passable[TAC_SNAPSHOT_OBJECTS])
{
	const int32_t count = world->scene->object_count + (s->hands.partner ? 1 : 0);
	for (int32_t i = 0; i < count; i++) {
		const tac_world_body *body =
			i < world->scene->object_count ? &world->objects[i] : &world->tools[1 - s->def.tool];
		objects[i] = (tac_sco_object){
			.body = body->body,
			.shape = body->shape,
			.T_world_object = i < world->scene->object_count ? tac_world_object_pose(world, i, 0)
									 : tac_dpose_identity(),
			.field = body->field,
			.detail = body->detail,
		};
		passable[i] = tac_world_passes(world, s->def.tool, i);
		if (!body->field)
			continue;
		objects[i].shape = NULL; // its mesh is not what remains of it
		if (s->drilling.field) {
			objects[i].field = s->drilling.field;
			objects[i].allowance = s->drilling.used ? &s->drilling.drill.allowance : NULL;
		}
	}
	return count;
}

// The limit of a step for a slow engine, 0 for any other. A count and not a time, so that replays stay the
// same.
static int64_t slow_collider_nodes(const tac_servo *s, const tac_collider *collider)
{
	if (collider->node_ns == 0)
		return 0;
	if (s->def.off_line)
		return INT64_MAX;
	const double share_ns = SLOW_COLLIDER_SHARE * (double)s->def.period_ns / (s->hands.partner ? 2 : 1);
	return 1 + (int64_t)(share_ns / (double)collider->node_ns);
}

// The work units of a step that has `per_ms` of them in a period of a millisecond.
static int64_t work_units(int64_t period_ns, int64_t per_ms)
{
	const int64_t units = period_ns < TAC_NS_PER_MS ? per_ms : per_ms * period_ns / TAC_NS_PER_MS,
		      most = period_ns < TAC_NS_PER_MS ? period_ns / SHORT_UNIT_NS : WORK_UNITS_MAX;
	return units < most ? units : most;
}

tac_result tac_servo_make_sco(const tac_servo *servo, const tac_world *world, tac_sco **out_sco,
			      double *out_round_m)
{
	const tac_servo *s = servo;
	const tac_world_body *tool = &world->tools[s->def.tool];
	const tac_scene_tool *scene_tool = &world->scene->tools[s->def.tool];
	tac_sco_object objects[TAC_SNAPSHOT_OBJECTS];
	bool passable[TAC_SNAPSHOT_OBJECTS];
	tac_sco_def def = tac_sco_def_default();
	def.mover = s->def.mover;
	// The continuous mover takes a sphere or capsule in closed form, without its mesh. With two hands it
	// takes the mesh: the partner avoids the mesh of this tool, which lies inside the exact shape.
	const bool is_round = tool->is_round && s->def.mover == TAC_SCO_CONTINUOUS && !s->hands.partner;
	*out_round_m = is_round ? tool->round.radius : 0;
	def.tool = is_round ? NULL : tool->body;
	def.tool_detail = is_round ? NULL : tool->detail;
	def.round = tool->round;
	const tac_burr burr = {TAC_BURR_ROUND, tool->round.a, tool->round.b, tool->round.radius};
	if (s->drilling.used)
		def.burr = &s->drilling.drill.def.burr;
	else if (tool->is_round)
		def.burr = &burr;
	def.objects = objects;
	def.object_count = list_objects(s, world, objects, passable);
	def.metric_m = scene_tool->turn_arm_m;
	def.passable = passable;
	def.period_s = (double)s->def.period_ns * 1e-9;
	def.fixed_rotation = scene_tool->axes == 3;
	def.slew_m_per_s = s->rates.slew_m_per_s;
	def.work_units = work_units(s->def.period_ns, DENSE_UNITS);
	def.sparse_triangles = SPARSE_TRIANGLES;
	def.sparse_work_units = work_units(s->def.period_ns, WORK_UNITS_MAX);
	if (s->def.check || s->def.mover == TAC_SCO_REACTIVE) {
		def.collider = world->collider;
		def.tool_shape = tool->shape;
		def.collider_nodes = slow_collider_nodes(s, world->collider);
	}
	const tac_result result = tac_sco_create(&def, out_sco);
	for (int32_t i = 0; result >= TAC_OK && i < world->scene->object_count; i++) {
		if (world->scene->objects[i].hidden)
			tac_sco_hide(*out_sco, i);
	}
	return result;
}

tac_result tac_servo_create_sco(tac_servo *servo)
{
	tac_sco_destroy(&servo->sco);
	return tac_servo_make_sco(servo, servo->def.world, &servo->sco, &servo->round_m);
}

static tac_result create_limit(tac_servo *s)
{
	const tac_scene_limits *scene = &s->tool->limits;
	tac_limit_def def = tac_limit_def_default(&s->def.device->info);
	if (scene->max_force_N > 0)
		def.max_force_N = fmin(def.max_force_N, scene->max_force_N);
	if (scene->max_torque_Nm > 0)
		def.max_torque_Nm = fmin(def.max_torque_Nm, scene->max_torque_Nm);
	tac_limit_def_set_slew(&def, &s->def.device->info);
	if (scene->max_speed_m_per_s > 0)
		def.max_speed_m_per_s = scene->max_speed_m_per_s;
	if (scene->engage_s > 0)
		def.engage_s = scene->engage_s;
	def.deadman_button = (int)scene->deadman_button;
	def.stall_ns = max_ns(def.stall_ns, STALL_PERIODS * s->def.period_ns);
	def.stale_ns = max_ns(def.stale_ns, STALE_PERIODS * s->def.period_ns);
	s->max_force_N = def.max_force_N;
	s->max_torque_Nm = def.max_torque_Nm;
	s->rates.force_N_per_s = def.force_slew_N_per_s;
	// Motors that are not there do not hold up the force.
	s->rates.torque_Nm_per_s = s->def.device->info.torque_axes > 0 ? def.torque_slew_Nm_per_s : HUGE_VAL;
	return tac_limit_create(&def, &s->limit);
}

// The passivity controller of an axis with a motor of at most `force_N`.
static tac_passivity_def passivity_of(const tac_servo *s, const tac_device_mechanics *axis, double force_N)
{
	tac_passivity_def def = tac_passivity_def_default(s->def.period_ns, axis->mass);
	def.delay_ns = s->def.device->info.delay_ns;
	if (axis->resolution > 0)
		def.damping_max_N_s_per_m =
			fmin(def.damping_max_N_s_per_m,
			     STEP_FORCE * force_N * ((double)s->def.period_ns / 1e9) / axis->resolution);
	return def;
}

static void init_stability(tac_servo *s)
{
	const tac_device_info *info = &s->def.device->info;
	const double arm2 = GRIP_RADIUS_M * GRIP_RADIUS_M;
	tac_derate_def def = tac_derate_def_default(info, s->def.period_ns);
	def.damping_N_s_per_m = s->tool->damping_N_s_per_m;
	const double scene_max = s->tool->limits.max_stiffness_N_per_m;
	if (scene_max > 0 && !(def.max_stiffness_N_per_m > 0 && def.max_stiffness_N_per_m < scene_max))
		def.max_stiffness_N_per_m = scene_max;
	tac_derate_init(&s->derate, &def);

	tac_derate_def turn = tac_derate_def_default(info, s->def.period_ns);
	turn.device = info->angular;
	turn.max_stiffness_N_per_m = 0;
	turn.hand = (tac_stability_hand){turn.hand.mass_kg * arm2, turn.hand.damping_N_s_per_m * arm2,
					 turn.hand.stiffness_N_per_m * arm2};
	turn.damping_N_s_per_m = s->tool->damping_N_s_per_m * s->tool->turn_arm_m * s->tool->turn_arm_m;
	tac_derate_init(&s->turn_derate, &turn);

	const tac_passivity_def linear = passivity_of(s, &info->linear, info->max_force_N),
				angular = passivity_of(s, &info->angular, info->max_torque_Nm),
				gripper = passivity_of(s, &info->gripper, info->max_gripper_N);
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++)
		tac_passivity_init(&s->port.axes[i], i < 3 ? &linear : &angular);
	tac_passivity_init(&s->gripper.passivity, &gripper);
	tac_servo_init_gripper(s);
}

static tac_result create_all(tac_servo *s)
{
	tac_result result =
		tac_servo_drilling_init(&s->drilling, s->def.world, s->def.tool, s->def.period_ns);
	if (result >= TAC_OK)
		result = tac_servo_create_sco(s);
	if (result >= TAC_OK)
		result = tac_servo_make_needle(s, s->def.world, &s->needle);
	if (result >= TAC_OK)
		result = tac_servo_pressing_init(&s->pressing, s->def.world, s->def.tool);
	if (result >= TAC_OK)
		result = tac_task_create(s->def.world, s->def.tool, &s->task);
	if (result >= TAC_OK)
		result = create_limit(s);
	if (result >= TAC_OK)
		result = tac_servo_init_effects(s);
	if (result >= TAC_OK)
		result = tac_servo_init_events(s);
	for (int32_t i = 0; i < s->def.readers && result >= TAC_OK; i++)
		result = tac_latest_create(sizeof(tac_snapshot), &s->latest[i]);
	return result;
}

// What can be checked without the world; one log line if it is not valid.
static bool options_are_valid(const tac_servo_def *def)
{
	const double slew = def->callback.slew_N_per_s;
	const char *expected = NULL;
	for (int32_t i = 0; def->live && i < def->live->servo_count; i++) {
		if (def->live->servos[i]->def.tool == def->tool) // two threads would change one world
			expected = "one servo for each tool of a live, found another for the same tool";
	}
	if (def->live && !def->live->stage)
		expected = "a live that has a world, found one whose worlds were given back";
	else if (def->mover != TAC_SCO_CONTINUOUS && def->mover != TAC_SCO_REACTIVE)
		expected = "the mover TAC_SCO_CONTINUOUS or TAC_SCO_REACTIVE, found another";
	else if (def->callback.budget_ns < 0 || !(slew >= 0 && slew < HUGE_VAL))
		expected = "0 or more as budget_ns and slew_N_per_s of the callback, found another";
	if (expected)
		tac_log(TAC_LOG_ERROR, "servo: expected %s", expected);
	return !expected;
}

tac_result tac_servo_create(const tac_servo_def *def, tac_servo **out_servo)
{
	*out_servo = NULL;
	tac_servo_def full = tac_servo_def_default();
	const tac_result known = tac_def_read("servo", def, &full, sizeof full);
	if (known < TAC_OK)
		return known;
	def = &full;
	if (!options_are_valid(def))
		return TAC_ERROR_ARGUMENT;
	const tac_world *world = def->live ? &def->live->stage->view : def->world;
	if (!world || (def->live && def->live->servo_count == TAC_SCENE_TOOLS) ||
	    (def->live && def->world && def->world != def->live->def.world) || !def->device ||
	    def->tool < 0 || def->tool >= world->scene->tool_count || def->period_ns <= 0 ||
	    def->readers < 1 || def->readers > TAC_SERVO_READERS) {
		tac_log(TAC_LOG_ERROR,
			"servo: expected a world, one of its tools, a device, a period above 0 "
			"and 1 to %d readers",
			TAC_SERVO_READERS);
		return TAC_ERROR_ARGUMENT;
	}
	tac_servo *s = calloc(1, sizeof *s);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "servo: no memory");
		return TAC_ERROR_MEMORY;
	}
	s->def = *def;
	s->def.world = world;
	s->tool = &world->scene->tools[def->tool];
	s->object_count = world->scene->object_count;
	s->hidden = tac_servo_hidden_objects(world->scene);
	s->waiting = true;
	s->rates.slew_m_per_s =
		s->tool->limits.slew_m_per_s > 0 ? s->tool->limits.slew_m_per_s : SLEW_M_PER_S;
	s->clutch_gain = s->gain = s->change.gain = 1;
	s->mapping = tac_mapping_make(&s->tool->mapping);
	const tac_result result = create_all(s);
	if (result < TAC_OK)
		tac_servo_destroy(&s);
	else
		init_stability(s);
	if (s && s->def.live)
		tac_live_add_servo(s->def.live, s);
	*out_servo = s;
	return result;
}

void tac_servo_destroy(tac_servo **servo)
{
	tac_servo *s = *servo;
	if (!s)
		return;
	if (s->def.live)
		tac_live_remove_servo(s->def.live, s);
	for (int32_t i = 0; i < TAC_SERVO_READERS; i++)
		tac_latest_destroy(&s->latest[i]);
	tac_latest_destroy(&s->effects.latest);
	tac_ring_destroy(&s->events.ring);
	tac_limit_destroy(&s->limit);
	tac_needle_destroy(&s->needle.needle);
	tac_task_destroy(&s->task);
	tac_sco_destroy(&s->sco);
	tac_servo_drilling_fini(&s->drilling);
	tac_servo_pressing_fini(&s->pressing);
	free(s);
	*servo = NULL;
}

const tac_snapshot *tac_servo_snapshot(tac_servo *servo, int32_t reader)
{
	TAC_ASSERT(reader >= 0 && reader < servo->def.readers);
	return tac_latest_read(servo->latest[reader], NULL);
}

bool tac_servo_snapshot_read(tac_servo *servo, int32_t reader, tac_snapshot *out_snapshot, size_t bytes)
{
	const tac_snapshot *newest = tac_servo_snapshot(servo, reader);
	const size_t known = bytes < sizeof *newest ? bytes : sizeof *newest;
	memset(out_snapshot, 0, bytes);
	if (newest)
		memcpy(out_snapshot, newest, known);
	return newest != NULL;
}

void tac_servo_tell_edits(tac_servo *servo, tac_ring *edits)
{
	servo->drilling.drill.def.edits = edits;
}

const tac_field *tac_servo_field(const tac_servo *servo)
{
	return servo->drilling.field;
}

const tac_task_figures *tac_servo_task(tac_servo *servo)
{
	return tac_task_read(servo->task);
}

void tac_servo_stop(tac_servo *servo)
{
	tac_limit_stop(servo->limit);
}

void tac_servo_lower_gain(tac_servo *servo, double gain)
{
	tac_limit_lower_gain(servo->limit, gain);
}

void tac_servo_reset(tac_servo *servo)
{
	tac_limit_reset(servo->limit);
}

uint64_t tac_servo_limit_count(const tac_servo *servo, tac_limit_reason reason)
{
	return tac_limit_count(servo->limit, reason);
}

bool tac_snapshot_touching(const tac_snapshot *snapshot)
{
	return snapshot->contact_count > 0 || snapshot->tissue.state.loaded > 0 ||
	       (snapshot->needle.present && snapshot->needle.object >= 0);
}

const char *tac_servo_state_name(tac_servo_state state)
{
	static const char *const names[TAC_SERVO_STATE_COUNT] = {"waiting", "running", "clutched", "lost"};
	return state >= 0 && state < TAC_SERVO_STATE_COUNT ? names[state] : "unknown state";
}
