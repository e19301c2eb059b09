#include "base/log.h"
#include "haptic/servo_private.h"

#include <math.h>
#include <stdlib.h>

// A hand's turn about its fingers, which hold the tool so far from its middle, m.
#define GRIP_RADIUS_M 0.03

// What one step of the position sensor, taken for speed, may command of the device's largest force as
// damping. Above, the damping follows the sensor's noise: a Falcon without friction at 4000 N/m lets out 1.8
// mJ with 0.36 of its force a step, 0.04 mJ with this.
#define STEP_FORCE 0.07

// One pair of triangles for so much of the period: a pair takes some 300 ns, so the mover's pairs take at
// most a fifth of a tick, and three fifths where it could not leave a narrow place with less. A count, not a
// time, so that replays stay the same. Where triangles are few they are long, and see each other from afar: a
// peg in its hole needs more to go in at the pace of a hand, and its pairs are bounded by the meshes.
#define PAIR_NS     1850
#define PAIR_NS_FEW 500
#define FEW         20000

// Ticks without which a loop has stalled, and without a new sample of which a device is stale, where the
// times of the gate are shorter.
#define STALL_PERIODS 4
#define STALE_PERIODS 2

static int64_t max_ns(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

tac_servo_def tac_servo_def_default(void)
{
	return (tac_servo_def){
		.mover = TAC_SCO_CONTINUOUS,
		.check = true,
		.period_ns = 1000000,
		.budget_ns = 600000,
		.readers = 1,
	};
}

static tac_result create_sco(tac_servo *s)
{
	const tac_world *world = s->def.world;
	const tac_world_body *tool = &world->tools[s->def.tool];
	tac_sco_object objects[TAC_SNAPSHOT_OBJECTS];
	for (int32_t i = 0; i < s->object_count; i++) {
		const tac_world_body *body =
			i < world->scene->object_count ? &world->objects[i] : &world->tools[1 - s->def.tool];
		objects[i] =
			(tac_sco_object){body->body, body->shape,
					 i < world->scene->object_count ? tac_world_object_pose(world, i, 0)
									: tac_dpose_identity()};
	}
	tac_sco_def def = tac_sco_def_default();
	def.mover = s->def.mover;
	// A ball or a capsule needs no mesh: the mover knows it in closed form.
	const bool is_round = tool->is_round && s->def.mover == TAC_SCO_CONTINUOUS;
	s->round_m = is_round ? tool->round.radius_m : 0;
	def.tool = is_round ? NULL : tool->body;
	def.round = tool->round;
	def.objects = objects;
	def.object_count = s->object_count;
	def.metric_m = s->tool->turn_arm_m;
	def.fixed_rotation = s->tool->axes == 3;
	int64_t triangles = tool->body ? tool->body->mesh->triangle_count : 0;
	for (int32_t i = 0; i < s->object_count; i++)
		triangles += objects[i].body ? objects[i].body->mesh->triangle_count : 0;
	def.pairs = s->def.period_ns / (triangles < FEW ? PAIR_NS_FEW : PAIR_NS);
	if (s->def.check || s->def.mover == TAC_SCO_REACTIVE) {
		def.collider = world->collider;
		def.tool_shape = tool->shape;
	}
	tac_sco_destroy(&s->sco);
	return tac_sco_create(&def, &s->sco);
}

static tac_result create_limit(tac_servo *s)
{
	const tac_scene_limits *scene = &s->tool->limits;
	tac_limit_def def = tac_limit_def_default(&s->def.device->info);
	if (scene->max_force_N > 0)
		def.max_force_N = fmin(def.max_force_N, scene->max_force_N);
	if (scene->max_torque_Nm > 0)
		def.max_torque_Nm = fmin(def.max_torque_Nm, scene->max_torque_Nm);
	if (scene->max_speed_m_per_s > 0)
		def.max_speed_m_per_s = scene->max_speed_m_per_s;
	if (scene->engage_s > 0)
		def.engage_s = scene->engage_s;
	def.deadman_button = (int)scene->deadman_button;
	// A slow loop is not one that hangs.
	def.stall_ns = max_ns(def.stall_ns, STALL_PERIODS * s->def.period_ns);
	def.stale_ns = max_ns(def.stale_ns, STALE_PERIODS * s->def.period_ns);
	return tac_limit_create(&def, &s->limit);
}

static void init_stability(tac_servo *s)
{
	const tac_device_info *info = &s->def.device->info;
	const double lever = GRIP_RADIUS_M * GRIP_RADIUS_M;
	tac_derate_def def = tac_derate_def_default(info, s->def.period_ns);
	def.damping_N_s_per_m = s->tool->damping_N_s_per_m;
	const double most = s->tool->limits.max_stiffness_N_per_m;
	if (most > 0 && !(def.max_stiffness_N_per_m > 0 && def.max_stiffness_N_per_m < most))
		def.max_stiffness_N_per_m = most;
	tac_derate_init(&s->derate, &def);

	tac_derate_def turn = tac_derate_def_default(info, s->def.period_ns);
	turn.device = info->angular;
	turn.max_stiffness_N_per_m = 0;
	turn.hand = (tac_stability_hand){turn.hand.mass_kg * lever, turn.hand.damping_N_s_per_m * lever,
					 turn.hand.stiffness_N_per_m * lever};
	turn.damping_N_s_per_m = s->tool->damping_N_s_per_m * s->tool->turn_arm_m * s->tool->turn_arm_m;
	tac_derate_init(&s->turn_derate, &turn);

	for (int i = 0; i < TAC_PASSIVITY_AXES; i++) {
		const double mass = i < 3 ? info->linear.mass : info->angular.mass;
		const double step = i < 3 ? info->linear.resolution : info->angular.resolution;
		const double force = i < 3 ? info->max_force_N : info->max_torque_Nm;
		tac_passivity_def passivity = tac_passivity_def_default(s->def.period_ns, mass);
		passivity.delay_ns = info->delay_ns;
		if (step > 0)
			passivity.damping_max_N_s_per_m =
				fmin(passivity.damping_max_N_s_per_m,
				     STEP_FORCE * force * ((double)s->def.period_ns / 1e9) / step);
		tac_passivity_init(&s->port.axes[i], &passivity);
	}
}

static tac_result create_all(tac_servo *s)
{
	tac_context_def context = tac_context_def_default();
	context.pair_capacity = 64;
	tac_result result = create_sco(s);
	if (result >= TAC_OK)
		result = create_limit(s);
	if (result >= TAC_OK)
		result = tac_context_create(&context, &s->context);
	if (result >= TAC_OK)
		result = tac_context_create(&context, &s->near_context);
	for (int32_t i = 0; i < s->def.readers && result >= TAC_OK; i++)
		result = tac_latest_create(sizeof(tac_snapshot), &s->latest[i]);
	return result;
}

tac_result tac_servo_create(const tac_servo_def *def, tac_servo **out_servo)
{
	*out_servo = NULL;
	if (!def->world || !def->device || def->tool < 0 || def->tool >= def->world->scene->tool_count ||
	    def->period_ns <= 0 || def->budget_ns < 0 || def->readers < 1 ||
	    def->readers > TAC_SERVO_READERS) {
		tac_log(TAC_LOG_ERROR,
			"servo: expected a world, one of its tools, a device, a period above 0 and 1 to %d "
			"readers",
			TAC_SERVO_READERS);
		return TAC_ERROR_ARGUMENT;
	}
	tac_servo *s = calloc(1, sizeof *s);
	if (!s) {
		tac_log(TAC_LOG_ERROR, "servo: no memory");
		return TAC_ERROR_MEMORY;
	}
	s->def = *def;
	s->tool = &def->world->scene->tools[def->tool];
	s->object_count = def->world->scene->object_count;
	s->waiting = true;
	for (int i = 0; i < TAC_SERVO_EXTRA_COUNT; i++)
		s->extra_nodes[i] = TAC_SERVO_NODES;
	for (int i = 0; i < TAC_SCENE_OBJECTS; i++)
		s->near_m[i] = HUGE_VAL;
	s->grasp = 1;
	s->mapping = tac_mapping_make(&s->tool->mapping);
	s->now.tool = def->tool;
	const tac_result result = create_all(s);
	if (result < TAC_OK)
		tac_servo_destroy(&s);
	else
		init_stability(s);
	*out_servo = s;
	return result;
}

void tac_servo_destroy(tac_servo **servo)
{
	tac_servo *s = *servo;
	if (!s)
		return;
	for (int32_t i = 0; i < TAC_SERVO_READERS; i++)
		tac_latest_destroy(&s->latest[i]);
	tac_context_destroy(&s->context);
	tac_context_destroy(&s->near_context);
	tac_limit_destroy(&s->limit);
	tac_sco_destroy(&s->sco);
	free(s);
	*servo = NULL;
}

tac_result tac_servo_join(tac_servo *a, tac_servo *b)
{
	tac_servo *const both[2] = {a, b};
	if (a->def.world != b->def.world || a->def.tool == b->def.tool) {
		tac_log(TAC_LOG_ERROR, "servo: expected two tools of one world");
		return TAC_ERROR_ARGUMENT;
	}
	for (int i = 0; i < 2; i++) {
		both[i]->partner = both[1 - i];
		both[i]->object_count = both[i]->def.world->scene->object_count + 1;
		const tac_result result = create_sco(both[i]);
		if (result < TAC_OK)
			return result;
	}
	return TAC_OK;
}

const tac_snapshot *tac_servo_snapshot(tac_servo *servo, int32_t reader)
{
	return tac_latest_read(servo->latest[reader], NULL);
}

void tac_servo_stop(tac_servo *servo)
{
	tac_limit_stop(servo->limit);
}

void tac_servo_reset(tac_servo *servo)
{
	tac_limit_reset(servo->limit);
}

uint64_t tac_servo_limit_count(const tac_servo *servo, tac_limit_reason reason)
{
	return tac_limit_count(servo->limit, reason);
}

const char *tac_servo_state_name(tac_servo_state state)
{
	static const char *const names[TAC_SERVO_STATE_COUNT] = {"waiting", "running", "clutched", "lost"};
	return state >= 0 && state < TAC_SERVO_STATE_COUNT ? names[state] : "unknown state";
}

const char *tac_servo_extra_name(tac_servo_extra extra)
{
	static const char *const names[TAC_SERVO_EXTRA_COUNT] = {"proximity", "surfaces"};
	return extra >= 0 && extra < TAC_SERVO_EXTRA_COUNT ? names[extra] : "unknown extra";
}
