#include "haptic/servo_private.h"

#include "rt/clock.h"

#include <math.h>

#define PARTING_POLE 0.8   // part of the old velocity in the new one
#define ROUNDING_M   1e-12 // an SCO nearer to the device than this has arrived: its way there was a sum
#define GRASP_S      0.1   // in which the force fades after the clutch is let go

// ---- the steps of a tick, in its order ----

static void end_phase(tac_tick *tick, tac_phase phase)
{
	if (tick)
		tac_tick_phase_end(tick, phase);
}

// No device is larger than this, m: a pose beyond it is as wrong as one that is not finite.
#define REACH_MAX_M 100

// The device's sample; one that cannot be is replaced by the last that could, and false.
static bool read_state(tac_servo *s, int64_t now_ns, tac_device_status *out_status)
{
	tac_device_state state;
	*out_status = tac_device_read(s->def.device, now_ns, &state);
	const bool good = tac_dpose_finite(state.T_base_tool) && tac_dvec3_finite(state.velocity_m_per_s) &&
			  tac_dvec3_finite(state.angular_velocity_rad_per_s) &&
			  tac_dvec3_length(state.T_base_tool.position) <= REACH_MAX_M;
	if (good)
		s->state = state;
	else if (s->steps == 0)
		s->state.T_base_tool = tac_dpose_identity();
	return good;
}

// Where everything is: the tool as the device has it, the objects on their paths, the other hand's tool.
static void place_all(tac_servo *s, int64_t now_ns)
{
	s->T_world_device = tac_mapping_step(&s->mapping, &s->state);
	if (s->tool->axes == 3)
		s->T_world_device.rotation = s->mapping.rotation;
	const int32_t scene_objects = s->def.world->scene->object_count;
	for (int32_t i = 0; i < scene_objects; i++)
		s->T_world_objects[i] = tac_world_object_pose(s->def.world, i, now_ns - s->begin_ns);
	if (s->partner)
		s->T_world_objects[scene_objects] = tac_sco_pose(s->partner->sco);
}

// Whether two poses differ by more than rounding.
static bool apart(tac_dpose a, tac_dpose b)
{
	return tac_dvec3_length(tac_dvec3_sub(a.position, b.position)) >= ROUNDING_M ||
	       tac_dquat_angle(tac_dquat_mul(a.rotation, tac_dquat_conjugate(b.rotation))) >= ROUNDING_M;
}

// Moves the SCO. A tool that begins in contact waits until it is free. A fault is counted, the SCO goes on
// from where it was last proved free, and the gate lowers the force.
static void move_sco(tac_servo *s)
{
	const tac_dpose before = tac_sco_pose(s->sco);
	if (s->waiting) {
		s->report = (tac_sco_report){.T_world_sco = s->T_world_device, .distance_m = HUGE_VAL};
		tac_servo_look_round(s);
		return;
	}
	const int32_t scene_objects = s->def.world->scene->object_count;
	tac_dpose stood[TAC_SCENE_OBJECTS];
	for (int32_t i = 0; i < scene_objects; i++)
		stood[i] = tac_sco_object_pose(s->sco, i);
	tac_sco_step(s->sco, s->T_world_device, s->T_world_objects, &s->report);
	const bool waits = (s->report.flags & TAC_SCO_OBJECT_WAITS) != 0;
	if (s->report.flags & TAC_SCO_FAULT) {
		s->now.faults++;
		s->waiting = !tac_sco_reset(s->sco, s->report.T_world_sco, s->T_world_objects);
	} else if (waits && s->partner &&
		   apart(tac_sco_object_pose(s->sco, scene_objects), s->T_world_objects[scene_objects])) {
		// The other tool does not wait, it is where it is, and was proved free of this one where that
		// was: there this one stays, and so does what it had to do with.
		s->report.T_world_sco = before;
		s->report.contact_count = 0;
		for (int32_t i = 0; i < scene_objects; i++)
			s->T_world_objects[i] = stood[i];
		s->waiting = !tac_sco_reset(s->sco, before, s->T_world_objects);
	} else if (waits) {
		for (int32_t i = 0; i < scene_objects; i++)
			s->T_world_objects[i] = tac_sco_object_pose(s->sco, i);
	}
	s->now.unknowns += (s->report.flags & TAC_SCO_UNKNOWN) != 0;
	s->now.spent_ticks += (s->report.flags & TAC_SCO_BUDGET_SPENT) != 0;
	if (!(s->report.flags & TAC_SCO_FAULT) && !apart(s->T_world_device, s->report.T_world_sco))
		s->report.T_world_sco = s->T_world_device;
}

// The coupling's spring as stiff as the touched materials, and no stiffer than rate, delay and device allow.
static tac_coupling choose_coupling(tac_servo *s, int64_t elapsed_ns)
{
	const int64_t delay_ns = s->write_delay_ns + s->def.device->info.delay_ns;
	const double scale = s->mapping.scale, arm2 = s->tool->turn_arm_m * s->tool->turn_arm_m;
	const double allowed = tac_derate_step(&s->derate, elapsed_ns, delay_ns) / scale;
	const double turn_allowed = tac_derate_step(&s->turn_derate, elapsed_ns, delay_ns);
	const double wanted = s->report.contact_count > 0 ? s->patch.stiffness_N_per_m
							  : s->def.world->materials[0].stiffness_N_per_m;
	const double stiffness = fmin(wanted, allowed);
	s->now.stiffness_N_per_m = stiffness;
	s->now.allowed_N_per_m = allowed;
	s->now.derated_by = s->derate.held_by;
	s->now.derated = wanted > allowed;
	return (tac_coupling){
		.stiffness_N_per_m = stiffness,
		.damping_N_s_per_m = s->tool->damping_N_s_per_m,
		.turn_stiffness_Nm_per_rad = fmin(stiffness * arm2, turn_allowed),
		.turn_damping_Nm_s_per_rad = s->tool->damping_N_s_per_m * arm2,
		.law = (tac_coupling_law)s->tool->law,
	};
}

// Where the spring's other end is. Law full: at the SCO. Law constraint: where the contacts alone hold it
// (the reaction of the constraints, M. Ortega et al., VR 2006), so that what an SCO under way still has to go
// drags nothing. A mover that ran out of work may have more in its way than it listed, and counts as held.
static tac_dpose spring_end(const tac_servo *s)
{
	const tac_sco_report *r = &s->report;
	const bool starved = r->contact_count == 0 && (r->flags & (TAC_SCO_BUDGET_SPENT | TAC_SCO_BLOCKED));
	if (s->tool->law == TAC_COUPLING_FULL || starved)
		return r->T_world_sco;
	tac_dvec3 offset = tac_dvec3_zero(), turn = tac_dvec3_zero();
	for (int32_t i = 0; i < r->contact_count; i++) {
		const tac_sco_contact *c = &r->contacts[i];
		const tac_dvec3 arm = tac_dvec3_sub(c->point_m, r->T_world_sco.position);
		offset = tac_dvec3_add_scaled(offset, c->load_m, c->normal);
		turn = tac_dvec3_add_scaled(turn, c->load_m, tac_dvec3_cross(arm, c->normal));
	}
	if (s->tool->axes == 3)
		turn = tac_dvec3_zero();
	turn = tac_dvec3_scale(turn, 1 / (s->tool->turn_arm_m * s->tool->turn_arm_m));
	return tac_dpose_make(tac_dvec3_add(s->T_world_device.position, offset),
			      tac_dquat_mul(tac_dquat_exp(turn), s->T_world_device.rotation));
}

// How device and SCO move against each other: zero where they move as one, so nothing drags in free motion.
static tac_coupling_body part(tac_servo *s, const tac_dpose *to, double elapsed_s)
{
	const tac_dpose *from = &s->T_world_device;
	const tac_dvec3 offset = tac_dvec3_sub(to->position, from->position);
	const tac_dvec3 turn =
		tac_dquat_log(tac_dquat_mul(to->rotation, tac_dquat_conjugate(from->rotation)));
	if (elapsed_s > 0) {
		const double share = 1 / elapsed_s;
		s->parting_m_per_s =
			tac_dvec3_lerp(tac_dvec3_scale(tac_dvec3_sub(s->offset_m, offset), share),
				       s->parting_m_per_s, PARTING_POLE);
		s->parting_rad_per_s =
			tac_dvec3_lerp(tac_dvec3_scale(tac_dvec3_sub(s->turn_rad, turn), share),
				       s->parting_rad_per_s, PARTING_POLE);
	}
	s->offset_m = offset;
	s->turn_rad = turn;
	return (tac_coupling_body){*from, s->parting_m_per_s, s->parting_rad_per_s};
}

static tac_wrench add(tac_wrench a, tac_wrench b)
{
	return (tac_wrench){tac_dvec3_add(a.force_N, b.force_N), tac_dvec3_add(a.torque_Nm, b.torque_Nm)};
}

static tac_wrench scale(tac_wrench w, double by)
{
	return (tac_wrench){tac_dvec3_scale(w.force_N, by), tac_dvec3_scale(w.torque_Nm, by)};
}

// What this tool presses on the other one with, for the other hand to feel.
static void react(tac_servo *s, double stiffness)
{
	if (!s->partner)
		return;
	tac_wrench sum = tac_wrench_zero();
	const tac_dvec3 origin = tac_sco_pose(s->partner->sco).position;
	for (int32_t i = 0; i < s->report.contact_count; i++) {
		const tac_sco_contact *c = &s->report.contacts[i];
		if (c->object != s->object_count - 1)
			continue;
		const tac_dvec3 force = tac_dvec3_scale(c->normal, -stiffness * c->load_m);
		sum = add(sum,
			  (tac_wrench){force, tac_dvec3_cross(tac_dvec3_sub(c->point_m, origin), force)});
	}
	s->partner->reaction = sum;
}

// The energy at the port, in the device's frame; adds damping where more went out than came in.
static tac_wrench keep_passive(tac_servo *s, int64_t now_ns, tac_wrench wanted, double stored_J)
{
	double force[TAC_PASSIVITY_AXES], x[TAC_PASSIVITY_AXES], v[TAC_PASSIVITY_AXES];
	const tac_dpose *T = &s->state.T_base_tool;
	if (s->steps > 0)
		s->device_turned = tac_dvec3_add(
			s->device_turned,
			tac_dquat_log(tac_dquat_mul(T->rotation, tac_dquat_conjugate(s->device_rotation))));
	s->device_rotation = T->rotation;
	tac_dvec3_store(force, wanted.force_N);
	tac_dvec3_store(force + 3, wanted.torque_Nm);
	tac_dvec3_store(x, T->position);
	tac_dvec3_store(x + 3, s->device_turned);
	tac_dvec3_store(v, s->state.velocity_m_per_s);
	tac_dvec3_store(v + 3, s->state.angular_velocity_rad_per_s);
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++)
		tac_passivity_set_delay(&s->port.axes[i], s->write_delay_ns + s->def.device->info.delay_ns);
	tac_passivity_step_port(&s->port, now_ns, x, v, force, stored_J);
	s->now.passivity_J = s->port.energy_J;
	s->now.passivity_N_s_per_m = s->port.part * s->port.axes[0].def.damping_max_N_s_per_m;
	return (tac_wrench){tac_dvec3_load(force), tac_dvec3_load(force + 3)};
}

static void remember_sent(tac_servo *s, const tac_wrench *sent)
{
	double force[TAC_PASSIVITY_AXES];
	tac_dvec3_store(force, sent->force_N);
	tac_dvec3_store(force + 3, sent->torque_Nm);
	for (int i = 0; i < TAC_PASSIVITY_AXES; i++)
		tac_passivity_sent(&s->port.axes[i], force[i]);
}

// The rest of the snapshot, to every reader.
static void publish(tac_servo *s)
{
	tac_snapshot *n = &s->now;
	n->T_world_device = s->T_world_device;
	n->T_world_sco = s->report.T_world_sco;
	n->sco_flags = s->report.flags;
	n->distance_m = s->report.distance_m;
	n->pairs = s->report.pairs;
	n->buttons = s->state.buttons;
	n->object_count = s->object_count;
	for (int32_t i = 0; i < s->object_count; i++)
		n->T_world_objects[i] = s->T_world_objects[i];
	n->contact_count = s->report.contact_count;
	n->contact_ticks += n->contact_count > 0;
	for (int32_t i = 0; i < n->contact_count; i++) {
		const tac_sco_contact *c = &s->report.contacts[i];
		n->contacts[i] = (tac_snapshot_contact){
			.point_m = c->point_m,
			.normal = s->patch.normals[i],
			.gap_m = c->gap_m,
			.force_N = tac_dvec3_scale(s->patch.normals[i],
						   n->stiffness_N_per_m * c->load_m * s->patch.depths[i]),
			.object = c->object,
			.tool_surface = c->tool_surface,
			.object_surface = c->object_surface,
			.tool_triangle = c->tool_triangle,
			.object_triangle = c->object_triangle,
			.material = (int32_t)(tac_world_material(s->def.world, c->object, c->object_surface) -
					      s->def.world->materials),
		};
	}
	for (int32_t i = 0; i < s->def.readers; i++)
		tac_latest_write(s->latest[i], n);
}

// ---- the tick ----

void tac_servo_step(tac_servo *servo, int64_t now_ns, tac_tick *tick)
{
	tac_servo *s = servo;
	tac_device *device = s->def.device;
	if (s->steps == 0)
		s->begin_ns = s->last_ns = now_ns;
	const int64_t elapsed_ns = now_ns - s->last_ns;
	const double elapsed_s = (double)elapsed_ns / 1e9;

	// device.read
	tac_device_status status;
	const bool readable = read_state(s, now_ns, &status);
	end_phase(tick, TAC_PHASE_DEVICE_READ);

	// pose, sco.step
	place_all(s, now_ns);
	move_sco(s);
	end_phase(tick, TAC_PHASE_SCO);

	// contacts, coupling, friction and the other properties of the materials
	if (s->tool->axes == 3)
		tac_patch_share_loads(&s->report);
	tac_patch_find(s->def.world, &s->report, s->T_world_device, s->T_world_objects, s->round_m,
		       &s->patch);
	const tac_coupling coupling = choose_coupling(s, elapsed_ns);
	const tac_coupling_body sco = {spring_end(s), {0, 0, 0}, {0, 0, 0}};
	const tac_coupling_body parting = part(s, &sco.T_world_body, elapsed_s);
	// A spring under way to the device is contact, too, whether or not the mover lists what it slides on.
	const bool touches = s->report.contact_count > 0 || tac_dvec3_length(s->offset_m) > 0 ||
			     tac_dvec3_length(s->turn_rad) > 0;
	tac_wrench wanted = tac_coupling_wrench(&coupling, &parting, &sco);
	tac_dvec3 friction;
	wanted = tac_patch_wrench(&s->memory, &s->patch, &s->report, s->T_world_objects, wanted,
				  coupling.stiffness_N_per_m, elapsed_s, &friction);
	react(s, coupling.stiffness_N_per_m);
	wanted = add(wanted, s->reaction);
	s->grasp = s->mapping.clutched ? 0 : fmin(1, s->grasp + elapsed_s / GRASP_S);
	wanted = scale(wanted, s->waiting ? 0 : s->grasp);

	// passivity, limit
	tac_wrench to_device = tac_mapping_wrench(&s->mapping, wanted);
	if (device->info.torque_axes == 0)
		to_device.torque_Nm = tac_dvec3_zero();
	to_device =
		keep_passive(s, now_ns, to_device,
			     tac_coupling_energy_J(&coupling, s->T_world_device, sco.T_world_body) +
				     tac_patch_energy_J(&s->memory, &s->patch, coupling.stiffness_N_per_m));
	const double weight_N = device->info.weight_N; // held up; passes the gate, but is no contact
	if (weight_N > 0)
		to_device.force_N.y += weight_N;
	const tac_limit_input input = {
		.now_ns = now_ns,
		.wrench = to_device,
		.status = status,
		.state = s->state,
		.in_contact = touches || s->waiting,
		.unknown = !readable ||
			   (s->report.flags & (TAC_SCO_UNKNOWN | TAC_SCO_FAULT | TAC_SCO_REFUSED)) != 0,
	};
	const tac_limit_output output = tac_limit_step(s->limit, &input);
	tac_wrench felt = output.wrench;
	if (weight_N > 0)
		felt.force_N.y -= weight_N * output.gain;
	remember_sent(s, &felt);
	end_phase(tick, TAC_PHASE_FORCE);

	// device.write
	tac_device_write(device, now_ns, &output.wrench);
	end_phase(tick, TAC_PHASE_DEVICE_WRITE);

	// what may be left out; publish; record
	tac_snapshot *n = &s->now;
	n->tick = s->steps;
	n->time_ns = now_ns;
	n->status = status;
	n->state = status == TAC_DEVICE_LOST || status == TAC_DEVICE_ENDED ? TAC_SERVO_LOST
		   : s->waiting                                            ? TAC_SERVO_WAITING
		   : s->mapping.clutched                                   ? TAC_SERVO_CLUTCHED
									   : TAC_SERVO_RUNNING;
	n->friction = (tac_snapshot_friction){s->memory.friction.touching, s->memory.friction.slipping,
					      s->patch.point_m, friction};
	n->wanted = wanted;
	n->sent = (tac_wrench){tac_dquat_rotate(s->mapping.rotation, felt.force_N),
			       tac_dquat_rotate(s->mapping.rotation, felt.torque_Nm)};
	n->limits = output.reasons;
	n->gain = output.gain;
	n->compute_ns = tick ? tick->phase_end_ns[TAC_PHASE_DEVICE_WRITE] - tick->wake_ns : 0;
	tac_servo_extras(s, tick);
	end_phase(tick, TAC_PHASE_EXTRAS);
	publish(s);
	if (s->def.record)
		s->def.record(s->def.record_user, &s->state, &output.wrench, status);
	end_phase(tick, TAC_PHASE_PUBLISH);

	// The force acts when it is written: so late it is against the read. Without a clock it is not late.
	if (tick)
		s->write_delay_ns = tick->phase_end_ns[TAC_PHASE_DEVICE_WRITE] - now_ns;
	if (s->write_delay_ns < 0)
		s->write_delay_ns = 0;
	s->last_ns = now_ns;
	s->steps++;
}
