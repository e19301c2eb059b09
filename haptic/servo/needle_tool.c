#include "base/log.h"
#include "haptic/servo/servo_state.h"

#include <math.h>

// ---- set-up ----

static tac_needle_layer layer_of(const tac_world *world, const tac_scene_layer *layer)
{
	const tac_material *m = &world->materials[tac_scene_find_material(world->scene, layer->material)];
	return (tac_needle_layer){
		.thickness_m = layer->thickness_m,
		.tip_stiffness_N_per_m = m->tip_stiffness_N_per_m,
		.tip_stiffening_N_per_m2 = m->tip_stiffening_N_per_m2,
		.puncture_N = m->puncture_N,
		.cutting_N = m->cutting_N,
		.shaft_friction_N_per_m = m->shaft_friction_N_per_m,
		.shaft_stiffness_N_per_m2 = m->shaft_stiffness_N_per_m2,
		.shaft_viscosity_N_s_per_m2 = m->shaft_viscosity_N_s_per_m2,
		.lateral_stiffness_N_per_m2 = m->lateral_stiffness_N_per_m2,
		.relaxation_N_per_m = m->tip_relaxation_N_per_m,
		.relaxation_s = m->tip_relaxation_s,
		.turning = m->needle_turning,
	};
}

static tac_needle_body body_of(const tac_world *world, int32_t object)
{
	const tac_scene_layers *layers = &world->scene->objects[object].layers;
	const tac_mesh *mesh = world->objects[object].mesh;
	tac_needle_body b = {.normal = tac_dvec3_normalize(layers->normal),
			     .layer_count = layers->list_count};
	b.min_m = b.max_m = b.top_m = tac_dvec3_from_vec3(mesh->vertices[0]);
	for (int32_t i = 1; i < mesh->vertex_count; i++) {
		const tac_dvec3 v = tac_dvec3_from_vec3(mesh->vertices[i]);
		b.min_m = tac_dvec3_min(b.min_m, v);
		b.max_m = tac_dvec3_max(b.max_m, v);
		if (tac_dvec3_dot(b.normal, v) > tac_dvec3_dot(b.normal, b.top_m))
			b.top_m = v;
	}
	for (int32_t i = 0; i < layers->list_count; i++)
		b.layers[i] = layer_of(world, &layers->list[i]);
	return b;
}

tac_result tac_servo_make_needle(const tac_servo *servo, const tac_world *world, tac_servo_needle *out_needle)
{
	const tac_scene_tool *tool = &world->scene->tools[servo->def.tool];
	const tac_scene_needle *needle = &tool->needle;
	tac_servo_needle *n = out_needle;
	*n = (tac_servo_needle){.needle = NULL};
	if (!(needle->length_m > 0))
		return TAC_OK;
	tac_needle_body bodies[TAC_NEEDLE_BODIES];
	for (int32_t i = 0; i < world->scene->object_count; i++) {
		if (!tac_world_passes(world, servo->def.tool, i))
			continue;
		if (n->count == TAC_NEEDLE_BODIES) {
			tac_log(TAC_LOG_ERROR, "servo: expected at most %d objects with layers, found more",
				TAC_NEEDLE_BODIES);
			return TAC_ERROR_ARGUMENT;
		}
		tac_needle_body *b = &bodies[n->count];
		*b = body_of(world, i);
		n->skin_m[n->count] = tac_dvec3_dot(b->normal, b->top_m);
		n->objects[n->count++] = i;
	}
	const tac_needle_def def = {
		.radius_m = needle->radius_m,
		.length_m = needle->length_m,
		.bending_stiffness_Nm2 = needle->bending_stiffness_Nm2,
		.curvature_per_m = needle->curvature_per_m,
		.bodies = bodies,
		.body_count = n->count,
		.fixed_rotation = tool->axes == 3,
	};
	return tac_needle_create(&def, &n->needle);
}

// ---- the tick ----

void tac_servo_solve_needle(tac_servo *servo, int64_t elapsed_ns)
{
	tac_servo *s = servo;
	tac_servo_needle *n = &s->needle;
	s->T_world_aim = s->T_world_device;
	if (!n->needle)
		return;
	n->wrench = (tac_wrench){{0, 0, 0}, {0, 0, 0}};
	if (s->waiting) {
		tac_needle_release(n->needle);
		return;
	}
	// As in choose_coupling; the share of the effects is that of the last tick.
	const double stiffness =
		fmin(s->tool->needle.stiffness_N_per_m, tac_servo_beside_effects(s, s->allowed_N_per_m));
	const double turn_allowed = fmax(s->turn_allowed_Nm_per_rad - s->effects.reserved_Nm_per_rad, 0);
	const double arm2 = s->tool->turn_arm_m * s->tool->turn_arm_m;
	const tac_needle_coupling coupling = {stiffness, fmin(stiffness * arm2, turn_allowed)};
	tac_dpose T_world_bodies[TAC_NEEDLE_BODIES];
	uint32_t hidden = 0;
	for (int32_t i = 0; i < n->count; i++) {
		T_world_bodies[i] = s->T_world_objects[n->objects[i]];
		hidden |= (uint32_t)(s->hidden >> n->objects[i] & 1u) << i;
	}
	tac_needle_hide(n->needle, hidden);
	n->wrench = tac_needle_solve(n->needle, s->T_world_device, T_world_bodies, &coupling,
				     (double)elapsed_ns / 1e9, &s->T_world_aim);
}

void tac_servo_commit_needle(tac_servo *servo)
{
	if (servo->needle.needle && !servo->waiting)
		tac_needle_commit(servo->needle.needle, servo->report.T_world_sco);
}

double tac_servo_needle_energy_J(const tac_servo *servo)
{
	if (!servo->needle.needle)
		return 0;
	// The coupling's spring carries contacts and tissue together: its energy is that of the sum of their
	// offsets.
	const tac_wrench *w = &servo->needle.wrench;
	const double both_J =
		tac_dvec3_dot(servo->offset_m, w->force_N) + tac_dvec3_dot(servo->turn_rad, w->torque_Nm);
	return tac_needle_stored_J(&tac_needle_state_of(servo->needle.needle)->energy) + fmax(both_J, 0);
}

bool tac_servo_needle_in_tissue(const tac_servo *servo)
{
	return servo->needle.needle && tac_needle_state_of(servo->needle.needle)->body >= 0;
}

void tac_servo_fill_needle(const tac_servo *servo, tac_snapshot *out_snapshot)
{
	const tac_servo_needle *n = &servo->needle;
	tac_snapshot_needle *out = &out_snapshot->needle;
	if (!n->needle)
		return;
	out->present = true;
	out->state = *tac_needle_state_of(n->needle);
	out->object = out->state.body >= 0 ? n->objects[out->state.body] : -1;
	out->wrench = n->wrench;
	out->stiffness_N_per_m = servo->coupling.stiffness_N_per_m;
	out->track_count = tac_needle_track(n->needle, TAC_SNAPSHOT_TRACK, out->track_m);
	out->shape_count = tac_needle_shape(n->needle, out->shape_m);
	if (out->object < 0)
		return;
	out->skin_m = n->skin_m[out->state.body];
	const tac_dpose T = servo->T_world_objects[out->object];
	for (int32_t i = 0; i < out->track_count; i++)
		out->track_m[i] = tac_dpose_apply_point(T, out->track_m[i]);
	for (int32_t i = 0; i < out->shape_count; i++)
		out->shape_m[i] = tac_dpose_apply_point(T, out->shape_m[i]);
}
