#include "haptic/servo/servo_state.h"

#include <math.h>

// The force comes back within this time after the clutch is released.
#define CLUTCH_FADE_S 0.1
// Time constant of the velocity for the passivity controller's damping. Vibration of a few hundred Hz is felt
// most; the oscillation of a wall that is too stiff has less than 100 Hz.
#define DAMPER_FILTER_S 0.002
// The support of the tool's weight rises within this time at the start, so that the gate's slew is left to
// the contacts.
#define SUPPORT_S 0.1
// No device is larger: a sample beyond it is invalid.
#define DEVICE_REACH_M 100

// ---- read device ----

// An invalid sample is replaced by the last valid one.
static void read_device(tac_servo *s, int64_t now_ns)
{
	tac_device_state state;
	s->status = tac_device_read(s->def.device, now_ns, &state);
	s->sample_valid = tac_dpose_finite(state.T_base_tool) && tac_dvec3_finite(state.velocity_m_per_s) &&
			  tac_dvec3_finite(state.angular_velocity_rad_per_s) && isfinite(state.gripper_m) &&
			  isfinite(state.gripper_m_per_s) &&
			  tac_dvec3_length(state.T_base_tool.position) <= DEVICE_REACH_M;
	if (s->sample_valid)
		s->device_state = state;
	else if (s->ticks == 0)
		s->device_state.T_base_tool = tac_dpose_identity();
}

// ---- map ----

// The poses of this tick in the world: device, objects on their paths, partner.
static void map_poses(tac_servo *s, int64_t now_ns)
{
	tac_servo_take_changes(s, now_ns);
	s->T_world_device = tac_mapping_step(&s->mapping, &s->device_state);
	if (s->tool->axes == 3)
		s->T_world_device.rotation = s->mapping.rotation;
	tac_servo_place_objects(s, now_ns);
}

// ---- derate ----

// The stiffness that rate, delay and device allow in this tick.
static void derate(tac_servo *s, int64_t elapsed_ns)
{
	const int64_t delay_ns = s->write_delay_ns + s->def.device->info.delay_ns;
	s->allowed_N_per_m = tac_derate_step(&s->derate, elapsed_ns, delay_ns) / s->mapping.scale;
	s->turn_allowed_Nm_per_rad = tac_derate_step(&s->turn_derate, elapsed_ns, delay_ns);
}

// ---- move SCO ----

// A tool that begins in contact waits until it is free. After a fault the SCO goes on from its last pose that
// was proved free, and the limit lowers the force.
static void move_sco(tac_servo *s)
{
	if (s->waiting) {
		s->report = (tac_sco_report){.T_world_sco = s->T_world_device, .distance_m = HUGE_VAL};
		tac_servo_try_release(s);
		return;
	}
	tac_servo_keep_poses(s);
	tac_sco_step(s->sco, s->T_world_aim, s->T_world_objects, &s->report);
	const uint32_t flags = s->report.flags;
	if (flags & TAC_SCO_FAULT) {
		s->totals.faults++;
		tac_servo_place_again(s, s->report.T_world_sco);
	} else if (flags & TAC_SCO_OBJECT_WAITS && !tac_servo_yield_to_partner(s)) {
		for (int32_t i = 0; i < s->def.world->scene->object_count; i++)
			s->T_world_objects[i] = tac_sco_object_pose(s->sco, i);
	}
	s->totals.unknown_ticks += (flags & TAC_SCO_UNKNOWN) != 0;
	s->totals.budget_spent_ticks += (flags & TAC_SCO_BUDGET_SPENT) != 0;
	if (!(flags & TAC_SCO_FAULT) && !tac_servo_poses_differ(s->T_world_aim, s->report.T_world_sco))
		s->report.T_world_sco = s->T_world_aim;
}

// ---- contacts ----

// The arm of the coupling's angular stiffness; 0: the tool does not rotate.
static double arm_of(const tac_servo *s)
{
	return s->tool->axes == 3 ? 0 : s->tool->turn_arm_m;
}

static void find_contacts(tac_servo *s)
{
	tac_law_move(&s->law, s->T_world_device, s->tool->axes == 3);
	s->law.T_world_aim = s->T_world_aim;
	tac_law_remove_gaps(&s->report, s->hands.partner ? s->object_count - 1 : -1, arm_of(s));
	if (s->tool->axes == 3)
		tac_patch_share_loads(&s->report);
	tac_patch_find(s->def.world, s->round_m > 0 ? NULL : &s->def.world->tools[s->def.tool], s->round_m,
		       &s->report, s->T_world_aim, s->T_world_objects, &s->patch);
	s->totals.contact_ticks += s->report.contact_count > 0 || tac_servo_needle_in_tissue(s) ||
				   tac_servo_pressing_loaded(&s->pressing);
}

// ---- coupling ----

// The spring is as stiff as the touched materials, but not stiffer than rate, delay and device allow. Between
// two contacts it keeps its stiffness.
static void choose_coupling(tac_servo *s)
{
	const double arm2 = s->tool->turn_arm_m * s->tool->turn_arm_m;
	const double turn_allowed = fmax(s->turn_allowed_Nm_per_rad - s->effects.reserved_Nm_per_rad, 0);
	s->contact_allowed_N_per_m = tac_servo_beside_effects(s, s->allowed_N_per_m);
	s->material_N_per_m = s->needle.needle        ? s->tool->needle.stiffness_N_per_m
			      : s->pressing.count > 0 ? s->pressing.stiffness_N_per_m
			      : s->patch.object >= 0  ? s->patch.stiffness_N_per_m
			      : s->patch_memory.stiffness_N_per_m > 0
				      ? s->patch_memory.stiffness_N_per_m
				      : s->def.world->materials[0].stiffness_N_per_m;
	const double stiffness = fmin(s->material_N_per_m, s->contact_allowed_N_per_m);
	s->coupling = (tac_coupling){
		.stiffness_N_per_m = stiffness,
		.damping_N_s_per_m = s->tool->damping_N_s_per_m,
		.turn_stiffness_Nm_per_rad = fmin(stiffness * arm2, turn_allowed),
		.turn_damping_Nm_s_per_rad = s->tool->damping_N_s_per_m * arm2,
		.law = (tac_coupling_law)s->tool->law,
	};
}

// The pose of the spring's other end: the goal of the force law.
static tac_dpose spring_end(tac_servo *s, double elapsed_s)
{
	if (s->waiting) {
		s->law.goal = (tac_law_offset){{0, 0, 0}, {0, 0, 0}};
		return s->T_world_device;
	}
	const tac_law_offset goal = tac_law_goal(&s->law, &s->report, s->coupling.law,
						 s->coupling.stiffness_N_per_m, arm_of(s), elapsed_s);
	return tac_dpose_make(tac_dvec3_add(s->T_world_device.position, goal.move_m),
			      tac_dquat_mul(tac_dquat_exp(goal.turn_rad), s->T_world_device.rotation));
}

// `v` cut to the length `most`.
static tac_dvec3 cut(tac_dvec3 v, double most)
{
	const double length = tac_dvec3_length(v);
	return length > most ? tac_dvec3_scale(v, most / length) : v;
}

// Differentiates the offset from the device to the spring's end. Returns the device with its velocity
// relative to that end, which is zero where both move together: damping exerts no drag in free motion. A goal
// that jumps has no velocity, so it counts as no faster than the law follows it.
static tac_coupling_body track_offset(tac_servo *s, double elapsed_s)
{
	const tac_dpose *from = &s->T_world_device, *to = &s->T_world_spring;
	const tac_dvec3 offset = tac_dvec3_sub(to->position, from->position);
	const tac_dvec3 turn =
		tac_dquat_log(tac_dquat_mul(to->rotation, tac_dquat_conjugate(from->rotation)));
	if (elapsed_s > 0) {
		const double rate = 1 / elapsed_s, slew = s->rates.slew_m_per_s * elapsed_s;
		const tac_dvec3 moved = cut(tac_dvec3_sub(s->offset_m, offset),
					    slew + 2 * tac_dvec3_length(s->law.moved.move_m));
		const tac_dvec3 turned =
			cut(tac_dvec3_sub(s->turn_rad, turn),
			    slew / s->tool->turn_arm_m + 2 * tac_dvec3_length(s->law.moved.turn_rad));
		s->relative_velocity_m_per_s = tac_dvec3_lerp(
			tac_dvec3_scale(moved, rate), s->relative_velocity_m_per_s, TAC_SERVO_VELOCITY_POLE);
		s->relative_velocity_rad_per_s =
			tac_dvec3_lerp(tac_dvec3_scale(turned, rate), s->relative_velocity_rad_per_s,
				       TAC_SERVO_VELOCITY_POLE);
	}
	s->offset_m = offset;
	s->turn_rad = turn;
	return (tac_coupling_body){*from, s->relative_velocity_m_per_s, s->relative_velocity_rad_per_s};
}

// By this share the wanted force exceeds the device's maximum at most, so that the gate sees and counts it.
#define SEEN_BY_GATE 1e-9

// What springs of the coupling's stiffness hold that exert `w`.
static double held_J(const tac_servo *s, tac_wrench w)
{
	const double turn = s->coupling.turn_stiffness_Nm_per_rad;
	return 0.5 * tac_dvec3_length_squared(w.force_N) / s->coupling.stiffness_N_per_m +
	       (arm_of(s) > 0 && turn > 0 ? 0.5 * tac_dvec3_length_squared(w.torque_Nm) / turn : 0);
}

// What needles, drills and soft tissue do has no account.
static bool has_account(const tac_servo *s)
{
	return !s->needle.needle && !s->drilling.used && s->pressing.count == 0;
}

// Shares of a contact's force and torque that the device can exert.
typedef struct within {
	double force, torque;
} within;

// The most force that the device can exert in the direction of `force_N` beside the support of its weight.
static double most_force_N(const tac_servo *s, tac_dvec3 force_N)
{
	const double most_N = s->max_force_N, weight_N = s->def.device->info.weight_N;
	if (!(weight_N > 0))
		return most_N;
	const tac_dvec3 up = tac_dquat_rotate(s->mapping.rotation, tac_dvec3_make(0, weight_N, 0));
	const double lifts_N = tac_dvec3_dot(up, tac_dvec3_normalize(force_N));
	return sqrt(fmax(most_N * most_N - weight_N * weight_N + lifts_N * lifts_N, 0)) - lifts_N;
}

static double share_of(double length, double most)
{
	return most > 0 && length > most * (1 + SEEN_BY_GATE) ? most * (1 + SEEN_BY_GATE) / length : 1;
}

// The shares of a wrench that the device can exert. Beyond them a spring goes on with the constant force. The
// account has to count that one, or a deficit would be taken back from force that the gate cuts off anyway,
// and not from the hand.
static within within_limits(const tac_servo *s, const tac_wrench *w)
{
	if (!has_account(s))
		return (within){1, 1};
	return (within){share_of(tac_dvec3_length(w->force_N), most_force_N(s, w->force_N)),
			share_of(tac_dvec3_length(w->torque_Nm), s->max_torque_Nm)};
}

static tac_wrench cut_wrench(tac_wrench w, within share)
{
	return (tac_wrench){tac_dvec3_scale(w.force_N, share.force),
			    tac_dvec3_scale(w.torque_Nm, share.torque)};
}

// The drag that keeps the contacts' springs from giving more energy than they were given. `contact` is the
// coupling's wrench with its damper; `patch` what the materials make of it, of which `share` is asked for,
// `gain` times. The law full asks for drag.
static tac_wrench keep_account(tac_servo *s, tac_wrench contact, const tac_patch_result *patch, within share,
			       double gain, double elapsed_s)
{
	if (s->waiting || s->mapping.clutched || s->coupling.law == TAC_COUPLING_FULL) {
		s->account = (tac_account){.object = -1};
		return tac_wrench_zero();
	}
	const int32_t object = s->patch.object >= 0 ? s->patch.object : s->account.object;
	const tac_wrench damper = {
		tac_dvec3_add_scaled(contact.force_N, -s->coupling.stiffness_N_per_m, s->offset_m),
		tac_dvec3_add_scaled(contact.torque_Nm, -s->coupling.turn_stiffness_Nm_per_rad, s->turn_rad)};
	const tac_wrench spring = cut_wrench(tac_servo_wrench_sub(patch->wrench, damper), share);
	const tac_wrench elastic = tac_servo_wrench_sub(patch->elastic, damper);
	const double turned_J = held_J(s, (tac_wrench){tac_dvec3_zero(), elastic.torque_Nm});
	const double moved_J = held_J(s, (tac_wrench){elastic.force_N, tac_dvec3_zero()}) +
			       tac_patch_energy_J(&s->patch_memory, &s->patch, s->coupling.stiffness_N_per_m);
	// Up to its share of the offset a spring is linear, beyond it the force is constant.
	const double beyond_J = 2 * share.force * (1 - share.force) * moved_J +
				2 * share.torque * (1 - share.torque) * turned_J;
	const double linear_J = share.force * share.force * moved_J + share.torque * share.torque * turned_J;
	double full_gain;
	const double gate_gain = tac_limit_next_gain(s->limit, elapsed_s, &full_gain);
	const tac_account_contact c = {
		.spring = tac_servo_wrench_scale(spring, gain),
		.held_J = gain * (linear_J + beyond_J),
		.beyond_J = gain * beyond_J,
		.object = s->patch.object,
		// The other hand's tool is no object: what it does is in that hand's account.
		.T_world_object = object >= 0 && object < s->def.world->scene->object_count
					  ? s->T_world_objects[object]
					  : tac_dpose_identity(),
		.T_world_device = s->T_world_device,
		.arm_m = arm_of(s),
		.gain = full_gain,
		.share = full_gain > 0 ? gate_gain / full_gain : 1,
		.coupling = &s->coupling,
	};
	return tac_account_step(&s->account, &c, elapsed_s);
}

static void settle_account(tac_servo *s, double elapsed_s)
{
	if (s->account.seen && has_account(s) && elapsed_s > 0)
		tac_account_settle(&s->account, s->hands.partner ? &s->hands.partner->account : NULL, &s->law,
				   &s->rates, arm_of(s), elapsed_s);
}

// The wrench on the tool: spring and damper, what the materials add, the partner's reaction; then the force
// law keeps it from jumping. While the tool waits or the clutch is held it goes to zero. The effects are
// continuous by themselves.
static void couple(tac_servo *s, int64_t elapsed_ns)
{
	const double elapsed_s = (double)elapsed_ns / 1e9;
	choose_coupling(s);
	s->T_world_spring = spring_end(s, elapsed_s);
	const tac_coupling_body spring = {s->T_world_spring, {0, 0, 0}, {0, 0, 0}};
	const tac_coupling_body device = track_offset(s, elapsed_s);
	const tac_wrench contact = tac_coupling_wrench(&s->coupling, &device, &spring);
	tac_patch_carry_on(&s->patch_memory, &s->report, s->offset_m, &s->patch);
	tac_patch_result patch = tac_patch_wrench(&s->patch_memory, &s->patch, &s->report, s->T_world_objects,
						  contact, s->coupling.stiffness_N_per_m, elapsed_s);
	s->friction_N = patch.friction_N;
	tac_servo_push_partner(s);
	s->clutch_gain = s->mapping.clutched ? 0 : fmin(1, s->clutch_gain + elapsed_s / CLUTCH_FADE_S);
	const double gain = s->waiting ? 0 : s->clutch_gain * s->gain;
	const tac_wrench asked = tac_servo_wrench_scale(patch.wrench, gain);
	const within share = within_limits(s, &asked);
	const tac_wrench drag = keep_account(s, contact, &patch, share, gain, elapsed_s);
	tac_wrench wrench = tac_servo_wrench_add(cut_wrench(patch.wrench, share), s->hands.reaction);
	wrench = tac_servo_wrench_add(wrench, s->needle.wrench);
	wrench = tac_servo_wrench_add(wrench, s->pressing.wrench);
	if (s->drilling.used)
		wrench.force_N = tac_dvec3_add_scaled(
			wrench.force_N, tac_servo_drilling_vibrate(&s->drilling, elapsed_s),
			tac_dquat_rotate(s->report.T_world_sco.rotation, tac_dvec3_make(1, 0, 0)));
	wrench = tac_servo_wrench_add(tac_servo_wrench_scale(wrench, gain), drag);
	if (s->tool->axes == 3)
		wrench.torque_Nm = tac_dvec3_zero();
	wrench = cut_wrench(wrench, within_limits(s, &wrench));
	tac_law_follow(&s->law, wrench, &s->rates, s->coupling.stiffness_N_per_m, patch.texture_N_per_m,
		       arm_of(s), elapsed_s);
	settle_account(s, elapsed_s);
	s->wanted = s->law.wrench;
	if (s->effects.used)
		s->wanted = tac_servo_wrench_add(s->wanted, s->effects.wrench);
}

// ---- passivity ----

// The velocities along and about the device's axes for the damping. Where the sensor has steps, they are
// filtered, or each step would be felt as a pulse.
static void read_speeds(tac_servo *s, double elapsed_s, double *v)
{
	const tac_device_info *info = &s->def.device->info;
	const double keep = exp(-elapsed_s / DAMPER_FILTER_S);
	tac_dvec3 *move = &s->damper_m_per_s, *turn = &s->damper_rad_per_s;
	*move = tac_dvec3_lerp(s->device_state.velocity_m_per_s, *move,
			       info->linear.resolution > 0 ? keep : 0);
	*turn = tac_dvec3_lerp(s->device_state.angular_velocity_rad_per_s, *turn,
			       info->angular.resolution > 0 ? keep : 0);
	tac_dvec3_store(v, *move);
	tac_dvec3_store(v + 3, *turn);
}

// Takes the wrench to the device's frame and adds damping where more energy left the port than entered it.
static tac_wrench keep_passive(tac_servo *s, int64_t now_ns)
{
	tac_wrench wrench = tac_mapping_wrench(&s->mapping, s->wanted);
	if (s->def.device->info.torque_axes == 0)
		wrench.torque_Nm = tac_dvec3_zero();
	// While the wrench follows its goal, it is that of a spring of its own.
	const double stored_J =
		s->gain *
		fmax(tac_coupling_energy_J(&s->coupling, s->T_world_device, s->T_world_spring) +
			     tac_patch_energy_J(&s->patch_memory, &s->patch, s->coupling.stiffness_N_per_m) +
			     tac_servo_needle_energy_J(s) + tac_servo_pressing_energy_J(s),
		     s->law.follows ? tac_law_energy_J(&s->law, arm_of(s)) : 0);
	const tac_dpose *T = &s->device_state.T_base_tool;
	if (s->ticks > 0)
		s->device_turn_sum_rad = tac_dvec3_add(
			s->device_turn_sum_rad,
			tac_dquat_log(tac_dquat_mul(T->rotation, tac_dquat_conjugate(s->device_rotation))));
	s->device_rotation = T->rotation;
	double force[TAC_PASSIVITY_AXES], x[TAC_PASSIVITY_AXES], v[TAC_PASSIVITY_AXES];
	tac_dvec3_store(force, wrench.force_N);
	tac_dvec3_store(force + 3, wrench.torque_Nm);
	tac_dvec3_store(x, T->position);
	tac_dvec3_store(x + 3, s->device_turn_sum_rad);
	read_speeds(s, (double)(now_ns - s->last_ns) / 1e9, v);
	double dx[TAC_PASSIVITY_AXES];
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++) {
		tac_passivity_set_delay(&s->port.axes[i], s->write_delay_ns + s->def.device->info.delay_ns);
		dx[i] = s->ticks > 0 ? x[i] - s->port.axes[i].x : 0;
	}
	s->port.energy_J += tac_servo_effects_credit_J(s, dx, (double)(now_ns - s->last_ns) / 1e9);
	// An object that pushes the hand does work on it, which the springs do not have to get back.
	s->port.energy_J += s->gain * fmax(s->account.pushed_J, 0) / s->mapping.scale;
	tac_passivity_step_port(&s->port, now_ns, x, v, force, stored_J);
	return (tac_wrench){tac_dvec3_load(force), tac_dvec3_load(force + 3)};
}

// ---- limit ----

// The output is all that is written to the device. The support of the device's own weight passes the limit,
// but is no contact force: neither the passivity observer nor the snapshot counts it.
static void limit_wrench(tac_servo *s, int64_t now_ns, int64_t elapsed_ns, tac_wrench wrench)
{
	const double weight_N = s->def.device->info.weight_N;
	s->support_N = fmin(s->support_N + weight_N * (double)elapsed_ns / 1e9 / SUPPORT_S, weight_N);
	wrench.force_N.y += s->support_N;
	// An offset is contact, too, even where the mover lists none.
	const bool touches = s->report.contact_count > 0 || tac_dvec3_length(s->wanted.force_N) > 0 ||
			     tac_dvec3_length(s->wanted.torque_Nm) > 0;
	const tac_limit_input input = {
		.now_ns = now_ns,
		.wrench = wrench,
		.gripper_N = tac_servo_step_gripper(s, now_ns, elapsed_ns),
		.status = s->status,
		.state = s->device_state,
		.in_contact = touches || s->waiting,
		.unknown = !s->sample_valid ||
			   (s->report.flags & (TAC_SCO_UNKNOWN | TAC_SCO_FAULT | TAC_SCO_REFUSED)) != 0,
	};
	s->output = tac_limit_step(s->limit, &input);
	s->sent = s->output.wrench;
	s->sent.force_N.y -= s->support_N * s->output.gain;
	// Neither does the observer count vibrations.
	const tac_wrench wave = tac_servo_effects_sent(s, input.wrench, s->sent);
	double sent[TAC_PASSIVITY_AXES];
	tac_dvec3_store(sent, tac_dvec3_sub(s->sent.force_N, wave.force_N));
	tac_dvec3_store(sent + 3, tac_dvec3_sub(s->sent.torque_Nm, wave.torque_Nm));
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++)
		tac_passivity_sent(&s->port.axes[i], sent[i]);
	tac_passivity_sent(&s->gripper.passivity, s->output.gripper_N);
}

// Enters what was sent of the contacts' wrench into the account. `passive` is what the gate got: what it took
// off counts as taken off the contacts. Neither the support of the weight nor the damping of the passivity
// controller is the contacts'. The torque of a device without motors for it is that which the contacts ask
// for.
static void account_for_sent(tac_servo *s, tac_wrench passive)
{
	const double gain = s->output.gain;
	const tac_wrench cut = tac_servo_wrench_sub(s->sent, tac_servo_wrench_scale(passive, gain));
	const tac_wrench cut_world = {tac_dquat_rotate(s->mapping.rotation, cut.force_N),
				      tac_dquat_rotate(s->mapping.rotation, cut.torque_Nm)};
	if (s->account.seen && has_account(s))
		tac_account_sent(
			&s->account,
			tac_servo_wrench_add(tac_servo_wrench_scale(s->law.wrench, gain), cut_world));
}

// ---- monitor ----

// How much the sent force may change in this tick: the bounds of law and effects, and what came after them.
static double sent_bound(tac_servo *s, double gain_before, bool slewed_before, double elapsed_s)
{
	const tac_dvec3 damper =
		tac_dvec3_make(s->port.axes[0].damper_N, s->port.axes[1].damper_N, s->port.axes[2].damper_N);
	const double wanted_bound = s->law.bound_N + s->effects.bound_N;
	double bound =
		wanted_bound + tac_dvec3_length(tac_dvec3_sub(damper, s->damper_N)) +
		fabs(s->output.gain - gain_before) * (tac_dvec3_length(s->wanted.force_N) + wanted_bound);
	s->damper_N = damper;
	// A limit that lags behind, as after an emergency stop, catches up at its own rate.
	if (slewed_before)
		bound = fmax(bound, s->rates.force_N_per_s * elapsed_s);
	return bound;
}

static void monitor_feel(tac_servo *s, double gain_before, bool slewed_before, double elapsed_s)
{
	const uint32_t reasons = s->output.reasons;
	const double bound =
		reasons & (1u << TAC_LIMIT_STOPPED | 1u << TAC_LIMIT_STALL | 1u << TAC_LIMIT_LOST)
			? HUGE_VAL // such a cut is on purpose
			: sent_bound(s, gain_before, slewed_before, elapsed_s);
	tac_feel_step(&s->feel, tac_dquat_rotate(s->mapping.rotation, s->sent.force_N), bound,
		      reasons & (1u << TAC_LIMIT_FORCE | 1u << TAC_LIMIT_TORQUE));
}

// ---- publish ----

static void fill_contacts(tac_servo *s, tac_snapshot *n)
{
	n->contact_count = s->report.contact_count;
	for (int32_t i = 0; i < n->contact_count; i++) {
		const tac_sco_contact *c = &s->report.contacts[i];
		n->contacts[i] = (tac_snapshot_contact){
			.point_m = c->point_m,
			.normal = s->patch.normals[i],
			.gap_m = c->gap_m,
			.force_N = tac_dvec3_scale(s->patch.normals[i], n->stiffness_N_per_m * c->load_m *
										s->patch.depth_ratios[i]),
			.object = c->object,
			.tool_surface = c->tool_surface,
			.object_surface = c->object_surface,
			.tool_triangle = c->tool_triangle,
			.object_triangle = c->object_triangle,
			.material = (int32_t)(tac_world_material(s->def.world, c->object, c->object_surface) -
					      s->def.world->materials),
		};
	}
	n->friction =
		(tac_snapshot_friction){s->patch_memory.friction.touching, s->patch_memory.friction.slipping,
					s->patch.point_m, s->friction_N};
}

static void fill_effects(const tac_servo *s, tac_snapshot *n)
{
	const tac_servo_effects *fx = &s->effects;
	n->effects = (tac_snapshot_effects){
		.wrench = fx->wrench,
		.active = fx->sum.active,
		.bound_N = fx->bound_N,
		.stiffness_N_per_m = fx->spring_scale * fx->sum.stiffness_N_per_m,
		.damping_N_s_per_m = fx->damper_scale * fx->sum.damping_N_s_per_m,
		.spring_scale = fx->spring_scale,
		.damper_scale = fx->damper_scale,
		.callback_ns = fx->own.took_ns,
		.callback_overruns = fx->own.overruns,
		.callback_invalid = fx->own.invalid,
	};
}

static void fill_totals(const tac_servo *s, tac_snapshot *n)
{
	n->faults = s->totals.faults;
	n->unknown_ticks = s->totals.unknown_ticks;
	n->budget_spent_ticks = s->totals.budget_spent_ticks;
	n->contact_ticks = s->totals.contact_ticks;
}

static tac_servo_state state_of(const tac_servo *s)
{
	if (s->status == TAC_DEVICE_LOST || s->status == TAC_DEVICE_ENDED)
		return TAC_SERVO_LOST;
	return s->waiting ? TAC_SERVO_WAITING : s->mapping.clutched ? TAC_SERVO_CLUTCHED : TAC_SERVO_RUNNING;
}

static void publish(tac_servo *s, int64_t now_ns, const tac_tick *tick)
{
	tac_snapshot *n = &s->snapshot;
	n->tick = s->ticks;
	n->time_ns = now_ns;
	n->tool = s->def.tool;
	n->state = state_of(s);
	n->status = s->status;
	n->buttons = s->device_state.buttons;
	n->T_world_device = s->T_world_device;
	n->T_world_sco = s->report.T_world_sco;
	n->object_count = s->object_count;
	for (int32_t i = 0; i < s->object_count; i++)
		n->T_world_objects[i] = s->T_world_objects[i];
	n->sco_flags = s->report.flags;
	n->sco_outcome = s->report.outcome;
	n->sco_refused = s->report.refused;
	n->distance_m = s->report.distance_m;
	n->wanted = s->wanted;
	n->sent = (tac_wrench){tac_dquat_rotate(s->mapping.rotation, s->sent.force_N),
			       tac_dquat_rotate(s->mapping.rotation, s->sent.torque_Nm)};
	n->limits = s->output.reasons;
	n->gain = s->output.gain;
	n->feel = s->feel.feel;
	n->stiffness_N_per_m = s->coupling.stiffness_N_per_m;
	n->allowed_N_per_m = s->allowed_N_per_m;
	n->derated_by = s->derate.held_by;
	n->derated = s->material_N_per_m > s->contact_allowed_N_per_m;
	n->passivity_J = s->port.energy_J;
	n->passivity_N_s_per_m = s->port.damping_share * s->port.axes[0].def.damping_max_N_s_per_m;
	n->compute_ns = tick ? tick->phase_end_ns[TAC_PHASE_DEVICE_WRITE] - tick->wake_ns : 0;
	n->work_units = s->report.work_units;
	n->gripper_m = s->device_state.gripper_m;
	n->gripper_N = s->output.gripper_N;
	fill_contacts(s, n);
	fill_effects(s, n);
	fill_totals(s, n);
	tac_servo_drilling_fill(&s->drilling, &n->drill);
	tac_servo_fill_needle(s, n);
	tac_servo_pressing_fill(&s->pressing, &n->tissue);
	tac_task_step(s->task, n);
	for (int32_t i = 0; i < s->def.readers; i++)
		tac_latest_write(s->latest[i], n);
}

// ---- drill ----

static void allow_cut(tac_servo *s, int64_t elapsed_ns)
{
	if (s->drilling.used)
		tac_servo_drilling_allow(&s->drilling, s->waiting ? 0 : s->device_state.buttons,
					 (double)elapsed_ns / 1e9);
}

// After the device's write: what is removed matters in the next tick.
static void remove_material(tac_servo *s)
{
	tac_servo_drilling *g = &s->drilling;
	if (!g->used)
		return;
	const tac_drill_state before = g->drill.state;
	const tac_dpose *trail;
	const int32_t count = tac_sco_trail(s->sco, &trail);
	// A hidden object is passed through, not cut.
	const bool meets = !s->waiting && !(s->hidden >> g->object & 1u);
	tac_servo_drilling_cut(g, &s->report, s->coupling.stiffness_N_per_m, trail, meets ? count : 0,
			       s->T_world_objects[g->object]);
	for (int i = 0; g->drill.state.cutting && i < TAC_FIELD_LABELS; i++)
		tac_task_add_volume(s->task, g->world->objects[g->object].field_material[i],
				    g->drill.state.removed_m3[i] - before.removed_m3[i]);
}

// ---- record ----

static void record(const tac_servo *s, int64_t now_ns)
{
	if (!s->def.record)
		return;
	const bool stopped = s->output.reasons >> TAC_LIMIT_STOPPED & 1u;
	const tac_device_sample sample = {
		.state = s->device_state,
		.wrench = s->output.wrench,
		.gripper_N = s->output.gripper_N,
		.status = s->status,
		.now_ns = now_ns,
		.delay_ns = s->write_delay_ns,
		.flags = (s->sample_valid ? 0 : TAC_SAMPLE_INVALID) | (stopped ? TAC_SAMPLE_STOPPED : 0) |
			 (s->effects.own.overran ? TAC_SAMPLE_OVERRUN : 0),
	};
	s->def.record(s->def.record_user, &sample);
}

void tac_servo_step_again(tac_servo *servo, const tac_device_sample *sample)
{
	servo->recorded = sample;
	servo->write_delay_ns = sample->delay_ns;
	if (sample->flags & TAC_SAMPLE_STOPPED)
		tac_limit_stop(servo->limit);
	tac_servo_step(servo, sample->now_ns, NULL);
	tac_limit_reset(servo->limit);
	servo->recorded = NULL;
}

// ---- the tick ----

static void end_phase(tac_tick *tick, tac_phase phase)
{
	if (tick)
		tac_tick_phase_end(tick, phase);
}

static void note_outcome(const tac_servo *s, tac_tick *tick)
{
	if (!tick)
		return;
	tick->sco_outcome = (int32_t)s->report.outcome;
	tick->sco_refused = (int32_t)s->report.refused;
}

void tac_servo_step(tac_servo *servo, int64_t now_ns, tac_tick *tick)
{
	tac_servo *s = servo;
	if (s->ticks == 0)
		s->begin_ns = s->last_ns = now_ns;
	const int64_t elapsed_ns = now_ns - s->last_ns;

	read_device(s, now_ns);
	end_phase(tick, TAC_PHASE_DEVICE_READ);

	map_poses(s, now_ns);
	derate(s, elapsed_ns);
	tac_servo_solve_needle(s, elapsed_ns);
	tac_servo_solve_pressing(s, elapsed_ns);
	allow_cut(s, elapsed_ns);
	move_sco(s);
	tac_servo_commit_needle(s);
	tac_servo_commit_pressing(s);
	tac_servo_note_changes(s);
	note_outcome(s, tick);
	end_phase(tick, TAC_PHASE_SCO);

	if (tac_servo_step_effects(s, now_ns, elapsed_ns, tick != NULL))
		end_phase(tick, TAC_PHASE_EFFECTS);

	find_contacts(s);
	couple(s, elapsed_ns);
	const tac_wrench passive = keep_passive(s, now_ns);
	const tac_limit_output before = s->output;
	limit_wrench(s, now_ns, elapsed_ns, passive);
	account_for_sent(s, passive);
	monitor_feel(s, before.gain, before.reasons >> TAC_LIMIT_FORCE_SLEW & 1u, (double)elapsed_ns / 1e9);
	end_phase(tick, TAC_PHASE_FORCE);

	tac_device_set_gripper(s->def.device, s->output.gripper_N);
	tac_device_write(s->def.device, now_ns, &s->output.wrench);
	end_phase(tick, TAC_PHASE_DEVICE_WRITE);

	remove_material(s);
	publish(s, now_ns, tick);
	tac_servo_tell_events(s);
	record(s, now_ns);
	end_phase(tick, TAC_PHASE_PUBLISH);

	// The next tick accounts for this delay from read to write. Without a clock it is 0.
	if (tick)
		s->write_delay_ns = tick->phase_end_ns[TAC_PHASE_DEVICE_WRITE] - now_ns;
	if (s->write_delay_ns < 0)
		s->write_delay_ns = 0;
	s->last_ns = now_ns;
	s->ticks++;
}
