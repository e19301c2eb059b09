#include "base/log.h"
#include "haptic/servo/servo_state.h"

tac_result tac_servo_join(tac_servo *a, tac_servo *b)
{
	tac_servo *const both[2] = {a, b};
	if (a->def.world != b->def.world || a->def.tool == b->def.tool) {
		tac_log(TAC_LOG_ERROR, "servo: expected two tools of one world");
		return TAC_ERROR_ARGUMENT;
	}
	if (a->def.device == b->def.device) {
		tac_log(TAC_LOG_ERROR, "servo: expected a device for each hand, found one for both");
		return TAC_ERROR_ARGUMENT;
	}
	if (a->drilling.field)
		tac_servo_drilling_share(&b->drilling, &a->drilling);
	for (int i = 0; i < 2; i++) {
		both[i]->hands.partner = both[1 - i];
		both[i]->object_count = both[i]->def.world->scene->object_count + 1;
		const tac_result result = tac_servo_create_sco(both[i]);
		if (result < TAC_OK)
			return result;
	}
	return TAC_OK;
}

void tac_servo_place_partner(tac_servo *servo)
{
	if (servo->hands.partner)
		servo->T_world_objects[servo->object_count - 1] = tac_sco_pose(servo->hands.partner->sco);
}

void tac_servo_keep_poses(tac_servo *servo)
{
	if (!servo->hands.partner)
		return;
	servo->hands.T_world_sco = tac_sco_pose(servo->sco);
	for (int32_t i = 0; i < servo->object_count - 1; i++)
		servo->hands.T_world_objects[i] = tac_sco_object_pose(servo->sco, i);
}

// The partner's tool cannot wait: its own servo has moved it already, and proved its new pose free of this
// tool's old one. So this tool keeps its old pose, and the scene's objects keep theirs.
bool tac_servo_yield_to_partner(tac_servo *servo)
{
	tac_servo *s = servo;
	const int32_t last = s->object_count - 1;
	if (!s->hands.partner ||
	    !tac_servo_poses_differ(tac_sco_object_pose(s->sco, last), s->T_world_objects[last]))
		return false;
	s->report.T_world_sco = s->hands.T_world_sco;
	s->report.contact_count = 0;
	for (int32_t i = 0; i < last; i++)
		s->T_world_objects[i] = s->hands.T_world_objects[i];
	tac_servo_place_again(s, s->hands.T_world_sco);
	return true;
}

void tac_servo_push_partner(tac_servo *servo)
{
	tac_servo *partner = servo->hands.partner;
	if (!partner)
		return;
	tac_wrench sum = tac_wrench_zero();
	const tac_dvec3 origin = tac_sco_pose(partner->sco).position;
	const tac_patch *patch = &servo->patch;
	if (patch->carried && patch->object == servo->object_count - 1) {
		// This tool is on its way from one place of the partner's to the next, and its force goes on.
		sum.force_N = tac_dvec3_scale(servo->offset_m, -servo->coupling.stiffness_N_per_m);
		sum.torque_Nm = tac_dvec3_cross(tac_dvec3_sub(patch->point_m, origin), sum.force_N);
	}
	for (int32_t i = 0; i < servo->report.contact_count; i++) {
		const tac_sco_contact *c = &servo->report.contacts[i];
		if (c->object != servo->object_count - 1)
			continue;
		const tac_dvec3 force =
			tac_dvec3_scale(c->normal, -servo->coupling.stiffness_N_per_m * c->load_m);
		const tac_dvec3 arm = tac_dvec3_sub(c->point_m, origin);
		sum = tac_servo_wrench_add(sum, (tac_wrench){force, tac_dvec3_cross(arm, force)});
	}
	partner->hands.reaction = sum;
}

// Adds the phases of a second tool to those of the first, so that one tick reports the sum of each phase. The
// outcome is that of the first tool, unless the second alone was refused something.
static void merge_phases(tac_tick *into, const tac_tick *other)
{
	int64_t ends_ns = into->wake_ns, phases_ns[TAC_PHASE_COUNT];
	bool ran[TAC_PHASE_COUNT];
	for (int p = 0; p < TAC_PHASE_COUNT; p++) {
		phases_ns[p] = tac_tick_phase_ns(into, (tac_phase)p) + tac_tick_phase_ns(other, (tac_phase)p);
		ran[p] = into->phase_end_ns[p] != 0 || other->phase_end_ns[p] != 0;
	}
	for (int p = 0; p < TAC_PHASE_COUNT; p++) {
		ends_ns += phases_ns[p];
		into->phase_end_ns[p] = ran[p] ? ends_ns : 0;
	}
	if (into->sco_refused == 0 && other->sco_refused != 0) {
		into->sco_outcome = other->sco_outcome;
		into->sco_refused = other->sco_refused;
	}
}

void tac_servo_step_all(tac_servo *const *servos, int32_t count, int64_t now_ns, tac_tick *tick)
{
	for (int32_t i = 0; i < count; i++) {
		if (i == 0 || !tick) {
			tac_servo_step(servos[i], now_ns, tick);
			continue;
		}
		tac_tick other = *tick;
		for (int p = 0; p < TAC_PHASE_COUNT; p++)
			other.phase_end_ns[p] = 0;
		other.wake_ns = tick->phase_end_ns[TAC_PHASE_PUBLISH];
		tac_servo_step(servos[i], now_ns, &other);
		merge_phases(tick, &other);
	}
}
