#include "base/log.h"
#include "haptic/servo/servo_state.h"

#include <math.h>
#include <string.h>

// ---- set-up ----

// A tool that falls between the points of the body feels their spacing and not the body.
static void warn_if_fine(const tac_world *world, int32_t object, const char *tool, double radius_m)
{
	const tac_compliance *c = world->objects[object].compliance;
	const double finest = tac_tissue_finest_tool_m(c);
	if (radius_m >= finest)
		return;
	tac_log(TAC_LOG_WARNING,
		"%s: expected a tool with a radius of %.2g mm or more on points %.2g mm apart, found '%s' "
		"with "
		"%.2g mm: its force will ripple; a spacing_m of %.2g would do",
		world->scene->objects[object].name, 1e3 * finest, 1e3 * c->spacing_m[0], tool, 1e3 * radius_m,
		c->spacing_m[0] * radius_m / finest);
}

// Half the smallest side of the box around a mesh.
static double half_width(const tac_mesh *mesh)
{
	const tac_vec3 size = tac_vec3_sub(mesh->bounds_max, mesh->bounds_min);
	return 0.5 * (double)fminf(fminf(size.x, size.y), size.z);
}

static tac_result shape_tool(tac_servo_pressed *p, const tac_world_body *body, tac_tissue_tool *out)
{
	if (body->is_round) {
		*out = (tac_tissue_tool){
			.a = body->round.a, .b = body->round.b, .radius_m = body->round.radius};
		return TAC_OK;
	}
	return tac_tissue_field_build(body->name, body->mesh, &p->field, out);
}

static tac_result init_body(tac_servo_pressed *p, const tac_world *world, int32_t tool, int32_t object)
{
	const tac_world_body *body = &world->tools[tool];
	const tac_material *m = &world->materials[tac_scene_find_material(
		world->scene, world->scene->objects[object].material)];
	tac_tissue_def def = {.name = world->scene->objects[object].name,
			      .compliance = world->objects[object].compliance,
			      .fixed_rotation = world->scene->tools[tool].axes == 3};
	*p = (tac_servo_pressed){
		.object = object,
		.material = {m->static_friction, m->dynamic_friction, m->friction_stiffness_N_per_m}};
	const tac_result result = shape_tool(p, body, &def.tool);
	if (result < TAC_OK)
		return result;
	warn_if_fine(world, object, body->name, body->is_round ? body->round.radius : half_width(body->mesh));
	return tac_tissue_create(&def, &p->tissue);
}

tac_result tac_servo_pressing_init(tac_servo_pressing *pressing, const tac_world *world, int32_t tool)
{
	tac_servo_pressing *p = pressing;
	*p = (tac_servo_pressing){.fixed_rotation = world->scene->tools[tool].axes == 3,
				  .stiffness_N_per_m = HUGE_VAL};
	tac_result result = TAC_OK;
	for (int32_t i = 0; i < world->scene->object_count && result >= TAC_OK; i++) {
		if (!world->objects[i].compliance || p->count == TAC_SCENE_SOFT)
			continue;
		const tac_material *m = &world->materials[tac_scene_find_material(
			world->scene, world->scene->objects[i].material)];
		p->stiffness_N_per_m = fmin(p->stiffness_N_per_m, m->stiffness_N_per_m);
		result = init_body(&p->bodies[p->count++], world, tool, i);
	}
	return result;
}

void tac_servo_pressing_fini(tac_servo_pressing *pressing)
{
	for (int32_t i = 0; i < pressing->count; i++) {
		tac_tissue_destroy(&pressing->bodies[i].tissue);
		tac_field_destroy(&pressing->bodies[i].field);
	}
}

// ---- the tick ----

static int32_t loaded_bodies(const tac_servo_pressing *p)
{
	int32_t count = 0;
	for (int32_t i = 0; i < p->count; i++)
		count += tac_tissue_state_of(p->bodies[i].tissue)->loaded > 0;
	return count;
}

bool tac_servo_pressing_loaded(const tac_servo_pressing *pressing)
{
	return loaded_bodies(pressing) > 0;
}

static void let_go(tac_servo_pressed *p)
{
	tac_tissue_reset(p->tissue);
	p->friction = (tac_friction){0};
	p->crept_m = tac_dvec3_zero();
	p->active = false;
	p->press = p->pressed[0] = p->pressed[1] = (tac_wrench){{0, 0, 0}, {0, 0, 0}};
	p->friction_N = tac_dvec3_zero();
}

// What the mover found in the last tick, as far as it is rigid: rows of the tissue's problem.
static int32_t rigid_rows(const tac_servo *s, tac_dpose T_body_world, tac_tissue_rigid *out)
{
	int32_t count = 0;
	for (int32_t i = 0; i < s->report.contact_count && count < TAC_TISSUE_RIGID; i++) {
		const tac_sco_contact *c = &s->report.contacts[i];
		out[count++] = (tac_tissue_rigid){
			.point_m = tac_dpose_apply_point(T_body_world, c->point_m),
			.normal = tac_dvec3_neg(tac_dpose_apply_vector(T_body_world, c->normal)),
			.gap_m = c->gap_m - c->rest_gap_m,
		};
	}
	return count;
}

// What a body presses; as long as it is not solved in this tick, as much more as in the last one.
static tac_wrench expected_press(const tac_servo_pressed *p)
{
	const tac_wrench last = p->pressed[0];
	if (p->active || !(tac_dvec3_length_squared(last.force_N) > 0))
		return p->press;
	return tac_servo_wrench_add(tac_servo_wrench_scale(last, 2),
				    tac_servo_wrench_scale(p->pressed[1], -1));
}

// Where the device would be to hold the tool against this body alone: what the others press shifts it by what
// the coupling yields to them.
static tac_dpose beside_others(const tac_servo *s, const tac_servo_pressed *body)
{
	const tac_servo_pressing *p = &s->pressing;
	tac_dpose T = s->T_world_device;
	for (int32_t i = 0; i < p->count; i++) {
		const tac_wrench other = expected_press(&p->bodies[i]);
		if (&p->bodies[i] == body || !(tac_dvec3_length_squared(other.force_N) > 0))
			continue;
		T.position = tac_dvec3_add_scaled(T.position, 1 / p->coupling_N_per_m, other.force_N);
		if (!p->fixed_rotation && p->turn_coupling_Nm_per_rad > 0)
			T.rotation = tac_dquat_mul(tac_dquat_exp(tac_dvec3_scale(
							   other.torque_Nm, 1 / p->turn_coupling_Nm_per_rad)),
						   T.rotation);
	}
	return T;
}

// True if the tool is too fast and stops on the near side of this body.
static bool solve_body(tac_servo *s, int32_t index, int64_t elapsed_ns)
{
	tac_servo_pressing *all = &s->pressing;
	tac_servo_pressed *p = &all->bodies[index];
	p->T_world_body = s->T_world_objects[p->object];
	const tac_dpose T_body_world = tac_dpose_inverse(p->T_world_body);
	const tac_servo *partner = s->hands.partner;
	tac_tissue_rigid rigid[TAC_TISSUE_RIGID];
	const tac_tissue_input input = {
		.T_body_tool = tac_dpose_compose(T_body_world, tac_sco_pose(s->sco)),
		.T_body_device = tac_dpose_compose(T_body_world, beside_others(s, p)),
		.stiffness_N_per_m = all->coupling_N_per_m,
		.turn_stiffness_Nm_per_rad = all->turn_coupling_Nm_per_rad,
		.elapsed_s = (double)elapsed_ns / 1e9,
		.rigid = rigid,
		.rigid_count = rigid_rows(s, T_body_world, rigid),
		.partner = partner ? partner->pressing.bodies[index].tissue : NULL,
	};
	tac_dpose aim;
	const tac_wrench w = tac_tissue_solve(p->tissue, &input, &aim);
	p->active = true;
	p->press = (tac_wrench){tac_dpose_apply_vector(p->T_world_body, w.force_N),
				tac_dpose_apply_vector(p->T_world_body, w.torque_Nm)};
	const bool limited = tac_tissue_state_of(p->tissue)->flags & TAC_TISSUE_LIMITED;
	// Out of the tissue the tool goes to the device itself, to the bit.
	if (tac_dvec3_length_squared(w.force_N) > 0 || limited) {
		s->T_world_aim = tac_dpose_compose(p->T_world_body, aim);
		if (all->fixed_rotation)
			s->T_world_aim.rotation = s->T_world_device.rotation;
	}
	return limited;
}

// Bodies that are pressed together share the coupling. They are solved in turn, each with what the others
// press, twice if there are several: a sweep of block Gauss-Seidel leaves the part (k / (k + coupling))^2 of
// the error, k the tissue's stiffness. It begins with what the bodies are expected to press, so that only the
// change of their speed is an error at first: even tissue that is stiffer than the coupling is then within
// 1 % of the joint solution.
void tac_servo_solve_pressing(tac_servo *servo, int64_t elapsed_ns)
{
	tac_servo *s = servo;
	tac_servo_pressing *p = &s->pressing;
	if (p->count == 0)
		return;
	// As in choose_coupling; the share of the effects is that of the last tick.
	const double arm2 = s->tool->turn_arm_m * s->tool->turn_arm_m;
	const double turn_allowed = fmax(s->turn_allowed_Nm_per_rad - s->effects.reserved_Nm_per_rad, 0);
	p->coupling_N_per_m = fmin(p->stiffness_N_per_m, tac_servo_beside_effects(s, s->allowed_N_per_m));
	p->turn_coupling_Nm_per_rad = fmin(p->coupling_N_per_m * arm2, turn_allowed);
	p->elapsed_s = (double)elapsed_ns / 1e9;
	bool limited = false;
	const int sweeps = loaded_bodies(p) > 1 ? 2 : 1;
	for (int sweep = 0; sweep < sweeps; sweep++) {
		for (int32_t i = 0; i < p->count && !limited; i++) {
			if (s->waiting || s->hidden >> p->bodies[i].object & 1u)
				let_go(&p->bodies[i]);
			else
				limited = solve_body(s, i, elapsed_ns);
		}
	}
}

// The bristle is in series with the tissue, which goes along with the tool before it slips. When the patch
// grows, what is new in it is not bent yet: the force stays. When it shrinks, the bend stays. Either way the
// stored energy, force^2 / (2 stiffness), does not rise.
static void stiffen_bristle(tac_servo_pressed *p)
{
	const double drag = tac_tissue_drag_m_per_N(p->tissue);
	const double stiffness = 1 / (1 / p->material.stiffness_N_per_m + drag);
	if (p->friction.touching && stiffness > p->drag_N_per_m) {
		const double part = p->drag_N_per_m / stiffness;
		p->friction.anchor_m = tac_dvec3_lerp(p->travel_m, p->friction.anchor_m, part);
		p->friction.anchor_rad = p->turn_rad + part * (p->friction.anchor_rad - p->turn_rad);
	}
	p->drag_N_per_m = stiffness;
}

// The tissue creeps under the drag as it does under the loads, and takes the bristle with it: so the force
// across relaxes as the normal one does, and a hand that holds still does not begin to slip.
static void creep_bristle(tac_servo_pressed *p, const tac_compliance_material *m, double elapsed_s)
{
	if (!(m->creep > 0) || !p->friction.touching)
		return;
	const double r = elapsed_s / m->creep_time_s;
	const double drag = 1 / p->drag_N_per_m - 1 / p->material.stiffness_N_per_m;
	const tac_dvec3 force = tac_dpose_apply_vector(tac_dpose_inverse(p->T_world_body), p->friction_N);
	const tac_dvec3 crept =
		tac_dvec3_scale(tac_dvec3_add_scaled(p->crept_m, -r * m->creep * drag, force), 1 / (1 + r));
	p->friction.anchor_m = tac_dvec3_add(p->friction.anchor_m, tac_dvec3_sub(crept, p->crept_m));
	p->crept_m = crept;
}

// Friction at the middle of the patch, which moves with the tool. In the body's frame.
static tac_wrench rub(tac_servo_pressed *p, const tac_servo *s, tac_dpose T_body_tool)
{
	const bool fixed_rotation = s->pressing.fixed_rotation;
	const tac_tissue_state *state = tac_tissue_state_of(p->tissue);
	if (!(state->load_N > 0) || !(p->material.static_coefficient > 0)) {
		p->friction = (tac_friction){0};
		p->crept_m = tac_dvec3_zero();
		p->T_body_tool = T_body_tool;
		return (tac_wrench){{0, 0, 0}, {0, 0, 0}};
	}
	stiffen_bristle(p);
	creep_bristle(p, &s->def.world->objects[p->object].compliance->material, s->pressing.elapsed_s);
	const tac_dvec3 on_tool = tac_dpose_apply_point(tac_dpose_inverse(T_body_tool), state->centre_m);
	const tac_dquat turned =
		tac_dquat_mul(T_body_tool.rotation, tac_dquat_conjugate(p->T_body_tool.rotation));
	p->travel_m = tac_dvec3_add(
		p->travel_m, tac_dvec3_sub(state->centre_m, tac_dpose_apply_point(p->T_body_tool, on_tool)));
	p->turn_rad += fixed_rotation ? 0 : tac_dvec3_dot(tac_dquat_log(turned), state->normal);
	p->T_body_tool = T_body_tool;
	const tac_friction_patch patch = {.position_m = p->travel_m,
					  .turn_rad = p->turn_rad,
					  .radius_m = fixed_rotation ? 0 : state->radius_m,
					  .normal = state->normal};
	tac_friction_material material = p->material;
	material.stiffness_N_per_m = p->drag_N_per_m;
	const tac_friction_result f = tac_friction_step_patch(&p->friction, &material, &patch, state->load_N);
	tac_tissue_drag(p->tissue, tac_dvec3_neg(f.force_N));
	const tac_dvec3 arm = tac_dvec3_sub(state->centre_m, T_body_tool.position);
	return (tac_wrench){
		f.force_N, tac_dvec3_add_scaled(tac_dvec3_cross(arm, f.force_N), f.torque_Nm, state->normal)};
}

static tac_wrench commit_body(tac_servo *s, tac_servo_pressed *p)
{
	const tac_dpose T_body_tool =
		tac_dpose_compose(tac_dpose_inverse(p->T_world_body), s->report.T_world_sco);
	const tac_wrench press = tac_tissue_commit(p->tissue, T_body_tool);
	const tac_wrench friction = rub(p, s, T_body_tool);
	const tac_wrench both = tac_servo_wrench_add(press, friction);
	p->active = false;
	p->friction_N = tac_dpose_apply_vector(p->T_world_body, friction.force_N);
	p->press = (tac_wrench){tac_dpose_apply_vector(p->T_world_body, press.force_N),
				tac_dpose_apply_vector(p->T_world_body, press.torque_Nm)};
	p->pressed[1] = p->pressed[0];
	p->pressed[0] = p->press;
	if (tac_tissue_state_of(p->tissue)->flags & TAC_TISSUE_LIMITED)
		s->report.flags |= TAC_SCO_LIMITED;
	return (tac_wrench){tac_dpose_apply_vector(p->T_world_body, both.force_N),
			    tac_dpose_apply_vector(p->T_world_body, both.torque_Nm)};
}

void tac_servo_commit_pressing(tac_servo *servo)
{
	tac_servo *s = servo;
	tac_servo_pressing *p = &s->pressing;
	double most = 0;
	p->wrench = (tac_wrench){{0, 0, 0}, {0, 0, 0}};
	for (int32_t i = 0; i < p->count; i++) {
		if (!p->bodies[i].active)
			continue;
		p->wrench = tac_servo_wrench_add(p->wrench, commit_body(s, &p->bodies[i]));
		const double load = tac_tissue_state_of(p->bodies[i].tissue)->load_N;
		if (load > most) {
			most = load;
			p->shown = i;
		}
	}
}

double tac_servo_pressing_energy_J(const tac_servo *servo)
{
	const tac_servo_pressing *p = &servo->pressing;
	if (!tac_servo_pressing_loaded(p))
		return 0;
	tac_wrench w = {{0, 0, 0}, {0, 0, 0}};
	double J = 0;
	for (int32_t i = 0; i < p->count; i++) {
		const tac_servo_pressed *b = &p->bodies[i];
		const tac_tissue_state *state = tac_tissue_state_of(b->tissue);
		if (state->loaded == 0)
			continue;
		w = tac_servo_wrench_add(w, b->press);
		J += state->energy_J;
		if (b->friction.touching)
			J += 0.5 * tac_dvec3_length_squared(b->friction_N) / b->drag_N_per_m;
	}
	J += 0.5 * tac_dvec3_length_squared(w.force_N) / p->coupling_N_per_m;
	if (!p->fixed_rotation && p->turn_coupling_Nm_per_rad > 0)
		J += 0.5 * tac_dvec3_length_squared(w.torque_Nm) / p->turn_coupling_Nm_per_rad;
	// The coupling's spring carries contacts and tissue together, as in tac_servo_needle_energy_J.
	const double both_J = tac_dvec3_dot(servo->offset_m, p->wrench.force_N) +
			      tac_dvec3_dot(servo->turn_rad, p->wrench.torque_Nm);
	return J + fmax(both_J, 0);
}

static void fill_dent(const tac_servo_pressed *b, tac_snapshot_tissue *out)
{
	tac_tissue_force forces[TAC_TISSUE_FORCES];
	const int32_t left = TAC_TISSUE_FORCES - out->force_count;
	int32_t count = tac_tissue_forces(b->tissue, forces);
	count = count < left ? count : left;
	memcpy(out->forces + out->force_count, forces, (size_t)count * sizeof *forces);
	out->dents[out->dent_count++] = (tac_snapshot_dent){b->object, out->force_count, count};
	out->force_count += count;
}

void tac_servo_pressing_fill(const tac_servo_pressing *pressing, tac_snapshot_tissue *out)
{
	const tac_servo_pressing *p = pressing;
	if (p->count == 0)
		return;
	const tac_servo_pressed *b = &p->bodies[p->shown];
	out->present = true;
	out->object = b->object;
	out->wrench = p->wrench;
	out->friction_N = b->friction_N;
	out->touching = b->friction.touching;
	out->slipping = b->friction.slipping;
	out->state = *tac_tissue_state_of(b->tissue);
	out->point_m = tac_dpose_apply_point(b->T_world_body, out->state.centre_m);
	out->dent_count = out->force_count = 0;
	fill_dent(b, out);
	for (int32_t i = 0; i < p->count; i++) {
		if (i != p->shown)
			fill_dent(&p->bodies[i], out);
	}
}
