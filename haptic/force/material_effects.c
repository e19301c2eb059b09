#include "haptic/force/material_effects.h"

#include "haptic/force/shading.h"

#include <math.h>

tac_material tac_material_default(void)
{
	return (tac_material){
		.stiffness_N_per_m = 1000,
		.friction_stiffness_N_per_m = 1000,
		.texture_wavelength_m = 1e-3,
		.texture_along = {1, 0, 0},
		.smooth = true,
		.crease_rad = TAC_MESH_CREASE_RAD,
		.tip_stiffness_N_per_m = 200,
		.tip_stiffening_N_per_m2 = 1e5,
		.puncture_N = 2,
		.cutting_N = 0.5,
		.shaft_friction_N_per_m = 20,
		.shaft_stiffness_N_per_m2 = 4e4,
		.shaft_viscosity_N_s_per_m2 = 10,
		.lateral_stiffness_N_per_m2 = 3e4,
		.tip_relaxation_s = 1,
		.needle_turning = 1,
		.poisson = 0.45,
		.creep_time_s = 1,
	};
}

// Contacts whose normals and gaps differ by less than this share their loads.
#define SAME_NORMAL 1e-6
#define SAME_GAP_M  1e-6

// Share of the previous value in the filtered velocity: 4 ms at 1 kHz, against the steps of the position
// sensor.
#define VELOCITY_POLE 0.8

static bool share_load(const tac_sco_contact *a, const tac_sco_contact *b)
{
	return fabs(a->gap_m - b->gap_m) < SAME_GAP_M &&
	       tac_dvec3_length(tac_dvec3_sub(a->normal, b->normal)) < SAME_NORMAL;
}

void tac_patch_share_loads(tac_sco_report *report)
{
	double shared[TAC_SCO_CONTACTS] = {0};
	for (int32_t i = 0; i < report->contact_count; i++) {
		if (!(report->contacts[i].load_m > 0))
			continue;
		int32_t count = 0;
		for (int32_t k = 0; k < report->contact_count; k++)
			count += share_load(&report->contacts[i], &report->contacts[k]);
		for (int32_t k = 0; k < report->contact_count; k++) {
			if (share_load(&report->contacts[i], &report->contacts[k]))
				shared[k] += report->contacts[i].load_m / count;
		}
	}
	for (int32_t i = 0; i < report->contact_count; i++)
		report->contacts[i].load_m = shared[i];
}

// ---- the patch's radius ----

// A contact belongs to the flat patch if its normal is within 10 degrees of the patch's.
#define FLAT_COSINE 0.985

typedef struct point2 {
	double x, y;
} point2;

static double turn_of(point2 a, point2 b, point2 c)
{
	return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Moves the hull of `points` to the front, counter-clockwise from the lowest; returns how many they are. It
// is found by gift wrapping, in at most `count` rounds.
static int32_t wrap(point2 *points, int32_t count)
{
	int32_t n = 0, next = 0;
	for (int32_t i = 1; i < count; i++) {
		if (points[i].y < points[next].y ||
		    (points[i].y == points[next].y && points[i].x < points[next].x))
			next = i;
	}
	while (n < count) {
		const point2 swap = points[n];
		points[n] = points[next];
		points[next] = swap;
		n++;
		// The point with all others to the left of the line to it; 0: the hull is closed.
		next = n < count ? n : 0;
		for (int32_t i = 0; i < count; i++) {
			if (i > 0 && i < n)
				continue;
			const double t = turn_of(points[n - 1], points[next], points[i]);
			const double farther =
				hypot(points[i].x - points[n - 1].x, points[i].y - points[n - 1].y) -
				hypot(points[next].x - points[n - 1].x, points[next].y - points[n - 1].y);
			if (t < 0 || (t == 0 && farther > 0))
				next = i;
		}
		if (next == 0)
			break;
	}
	return n;
}

// The integral of the distance from the origin over the triangle of the origin, a and b, and its area; both
// negative if it turns clockwise.
static void add_triangle(point2 a, point2 b, double *moment, double *area)
{
	const double length = hypot(b.x - a.x, b.y - a.y), cross = a.x * b.y - a.y * b.x;
	if (!(length > 0) || cross == 0)
		return;
	// In polar coordinates about the foot on the line, at the distance h: h^3 / 3 times the integral of
	// the secant cubed.
	const double h = fabs(cross) / length;
	const double p = ((b.x - a.x) * b.x + (b.y - a.y) * b.y) / length, q = p - length;
	const double integral =
		0.5 * ((p * hypot(p, h) - q * hypot(q, h)) / (h * h) + asinh(p / h) - asinh(q / h));
	*moment += copysign(h * h * h / 3 * integral, cross);
	*area += 0.5 * cross;
}

// The mean distance from its centre of a load that is spread evenly over the patch: over the hull of the
// contacts, over the line between them, or over the disc in which a round tool would be flattened.
static double patch_radius(const tac_patch *patch, const tac_sco_report *report, double round_m)
{
	const tac_dvec3 n = patch->normal;
	const tac_dvec3 x = tac_dvec3_normalize(
		tac_dvec3_cross(n, fabs(n.x) < 0.7 ? tac_dvec3_make(1, 0, 0) : tac_dvec3_make(0, 1, 0)));
	const tac_dvec3 y = tac_dvec3_cross(n, x);
	point2 points[TAC_SCO_CONTACTS];
	int32_t count = 0;
	double line = 0;
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		if (tac_dvec3_dot(c->normal, n) < FLAT_COSINE)
			continue;
		const tac_dvec3 at = tac_dvec3_sub(c->point_m, patch->point_m);
		points[count] = (point2){tac_dvec3_dot(at, x), tac_dvec3_dot(at, y)};
		line = fmax(line, 0.5 * hypot(points[count].x, points[count].y));
		count++;
	}
	double moment = 0, area = 0;
	const int32_t hull = count > 2 ? wrap(points, count) : 0;
	for (int32_t i = 0; i < hull; i++)
		add_triangle(points[i], points[(i + 1) % hull], &moment, &area);
	// A hull that is thinner than a thousandth of its length is a line.
	const double spread = area > 1e-3 * line * line ? fmin(moment / area, 2 * line) : line;
	const double depth = fmin(patch->load_m, round_m);
	return hypot(spread, 2.0 / 3 * sqrt(depth * (2 * round_m - depth)));
}

// ---- the patch ----

// A contact without load has no force to shade; another hand's tool has no smooth surface.
static tac_shading shade(const tac_world *world, const tac_sco_contact *c, const tac_material *m,
			 tac_shading_place *place, const tac_dpose *T_world_objects)
{
	if (!m->smooth || c->object_triangle < 0 || !(c->load_m > 0) ||
	    c->object >= world->scene->object_count || !world->objects[c->object].smooth)
		return (tac_shading){c->normal, 1, 0};
	place->object = &world->objects[c->object];
	place->T_world_object = T_world_objects[c->object];
	return tac_shading_compute(place, c);
}

void tac_patch_find(const tac_world *world, const tac_world_body *tool, double round_m,
		    const tac_sco_report *report, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		    tac_patch *out_patch)
{
	tac_shading_place place = {
		.tool = tool,
		.T_world_sco = report->T_world_sco,
		.sco_to_device = tac_dpose_compose(T_world_device, tac_dpose_inverse(report->T_world_sco)),
		.round_m = round_m,
	};
	tac_patch *p = out_patch;
	p->object = -1;
	p->carried = false;
	p->load_m = p->bulge_m = p->radius_m = p->stiffness_N_per_m = p->viscosity_N_s_per_m = 0;
	p->point_m = p->normal = tac_dvec3_zero();
	p->friction = (tac_friction_material){0, 0, 0};
	p->material = NULL;
	double largest = -1;
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		const tac_material *m = tac_world_material(world, c->object, c->object_surface);
		const tac_shading shading = shade(world, c, m, &place, T_world_objects);
		p->normals[i] = shading.normal;
		p->depth_ratios[i] = shading.depth_ratio;
		p->bulge_m = fmax(p->bulge_m, shading.bulge_m);
		const double load = c->load_m;
		if (load > largest) {
			largest = load;
			p->object = c->object;
			p->material = m;
		}
		const tac_dvec3 point = tac_dvec3_add_scaled(c->point_m, -c->gap_m, c->normal);
		p->load_m += load;
		p->point_m = tac_dvec3_add_scaled(p->point_m, load, point);
		p->normal = tac_dvec3_add_scaled(p->normal, load, p->normals[i]);
		p->stiffness_N_per_m += load * m->stiffness_N_per_m;
		p->friction.static_coefficient += load * m->static_friction;
		p->friction.dynamic_coefficient += load * m->dynamic_friction;
		p->friction.stiffness_N_per_m += load * m->friction_stiffness_N_per_m;
		p->viscosity_N_s_per_m += load * m->viscosity_N_s_per_m;
	}
	if (!(p->load_m > 0)) { // contacts without load
		p->object = -1;
		return;
	}
	const double share = 1 / p->load_m;
	p->point_m = tac_dvec3_scale(p->point_m, share);
	p->normal = tac_dvec3_normalize(p->normal);
	p->stiffness_N_per_m *= share;
	p->friction.static_coefficient *= share;
	p->friction.dynamic_coefficient *= share;
	p->friction.stiffness_N_per_m *= share;
	p->viscosity_N_s_per_m *= share;
	p->radius_m = patch_radius(p, report, round_m);
}

void tac_patch_carry_on(const tac_patch_memory *memory, const tac_sco_report *report, tac_dvec3 goal_m,
			tac_patch *patch)
{
	const double length = tac_dvec3_length(goal_m);
	if (patch->object >= 0 || !memory->started || !(length > 0))
		return;
	patch->carried = true;
	patch->load_m = length;
	patch->object = memory->object;
	patch->point_m = tac_dpose_apply_point(report->T_world_sco, memory->point_m);
	patch->radius_m = memory->radius_m;
	patch->normal = tac_dvec3_normalize(goal_m);
	patch->stiffness_N_per_m = memory->stiffness_N_per_m;
	patch->friction = memory->material;
}

// The coupling's wrench with the forces of the facets replaced by those of the smooth surface. Between walls
// that press against each other the loads are far larger than their sum, and a small change of a direction
// would be a large force: there the change is as small as the sum. No point of the smooth surface is farther
// from the device than the touching ones, so the force is at most the facets' and that of the bulge there.
static tac_wrench apply_shading(const tac_patch *patch, const tac_sco_report *report, tac_wrench coupling,
				double stiffness)
{
	tac_dvec3 sum = tac_dvec3_zero();
	for (int32_t i = 0; i < report->contact_count; i++)
		sum = tac_dvec3_add_scaled(sum, report->contacts[i].load_m, report->contacts[i].normal);
	const double weight = stiffness * tac_dvec3_length(sum) / patch->load_m;
	tac_wrench change = {tac_dvec3_zero(), tac_dvec3_zero()};
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		const tac_dvec3 part = tac_dvec3_scale(
			tac_dvec3_sub(tac_dvec3_scale(patch->normals[i], patch->depth_ratios[i]), c->normal),
			weight * c->load_m);
		if (!(c->load_m > 0) || tac_dvec3_length_squared(part) == 0)
			continue;
		change.force_N = tac_dvec3_add(change.force_N, part);
		change.torque_Nm = tac_dvec3_add(
			change.torque_Nm,
			tac_dvec3_cross(tac_dvec3_sub(c->point_m, report->T_world_sco.position), part));
	}
	tac_wrench shaded = {tac_dvec3_add(coupling.force_N, change.force_N),
			     tac_dvec3_add(coupling.torque_Nm, change.torque_Nm)};
	const double length = tac_dvec3_length(shaded.force_N),
		     most = tac_dvec3_length(coupling.force_N) + stiffness * patch->bulge_m;
	if (length > most) {
		shaded.force_N = tac_dvec3_scale(shaded.force_N, most / length);
		shaded.torque_Nm = tac_dvec3_scale(shaded.torque_Nm, most / length);
	}
	return shaded;
}

// The motion of the tool relative to the patch's object since the last tick.
typedef struct motion {
	tac_dvec3 at_patch_m; // of the tool's point at the patch's centre, object's frame
	double turn_rad;      // about the normal
} motion;

// Another object takes over the bristle with its deflection.
static void change_object(tac_patch_memory *memory, const tac_patch *patch, tac_dquat from_old_to_new)
{
	const tac_dvec3 bend = tac_dvec3_sub(memory->travel_m, memory->friction.anchor_m);
	const double twist = memory->turn_rad - memory->friction.anchor_rad;
	memory->travel_m = tac_dvec3_zero();
	memory->turn_rad = 0;
	memory->friction.anchor_m = tac_dquat_rotate(from_old_to_new, tac_dvec3_scale(bend, -1));
	memory->friction.anchor_rad = -twist;
	memory->texture = (tac_texture_motion){0};
	memory->object = patch->object;
}

static motion move_patch(tac_patch_memory *memory, const tac_patch *patch, tac_dpose T_world_tool,
			 const tac_dpose *T_world_objects)
{
	const tac_dpose T_world_object = T_world_objects[patch->object];
	const tac_dpose T = tac_dpose_relative(T_world_object, T_world_tool);
	const tac_dvec3 on_tool = tac_dquat_rotate(tac_dquat_conjugate(T_world_tool.rotation),
						   tac_dvec3_sub(patch->point_m, T_world_tool.position));
	motion moved = {{0, 0, 0}, 0};
	if (memory->started && memory->object != patch->object) {
		change_object(memory, patch,
			      tac_dquat_mul(tac_dquat_conjugate(T_world_object.rotation),
					    T_world_objects[memory->object].rotation));
	} else if (memory->started && !patch->carried) {
		moved.at_patch_m = tac_dvec3_sub(tac_dpose_apply_point(T, on_tool),
						 tac_dpose_apply_point(memory->T_object_tool, on_tool));
		const tac_dvec3 turn = tac_dquat_log(
			tac_dquat_mul(T.rotation, tac_dquat_conjugate(memory->T_object_tool.rotation)));
		moved.turn_rad =
			tac_dvec3_dot(tac_dquat_rotate(T_world_object.rotation, turn), patch->normal);
	}
	memory->T_object_tool = T;
	memory->object = patch->object;
	memory->started = true;
	memory->stiffness_N_per_m = patch->stiffness_N_per_m;
	memory->material = patch->friction;
	memory->point_m = on_tool;
	memory->radius_m = patch->radius_m;
	memory->travel_m = tac_dvec3_add(memory->travel_m, moved.at_patch_m);
	memory->turn_rad += moved.turn_rad;
	return moved;
}

// The bristle is not stiffer than the coupling, whose stiffness is what the loop can display.
static double bristle_stiffness(const tac_patch *patch, double stiffness_N_per_m)
{
	return fmin(patch->friction.stiffness_N_per_m, stiffness_N_per_m);
}

double tac_patch_energy_J(const tac_patch_memory *memory, const tac_patch *patch, double stiffness_N_per_m)
{
	if (!memory->friction.touching)
		return 0;
	const tac_dvec3 bend = tac_dvec3_sub(memory->travel_m, memory->friction.anchor_m);
	const double twist_m = patch->radius_m * (memory->turn_rad - memory->friction.anchor_rad);
	return 0.5 * bristle_stiffness(patch, stiffness_N_per_m) *
	       (tac_dvec3_length_squared(bend) + twist_m * twist_m);
}

// The part of `v` along the surface.
static tac_dvec3 tangential(tac_dvec3 v, tac_dvec3 normal)
{
	return tac_dvec3_add_scaled(v, -tac_dvec3_dot(v, normal), normal);
}

// The force of the texture, which replaces the load *load_N by one on its profile. *out_N_per_m bounds how
// fast it changes with the position.
static tac_dvec3 texture_force(tac_patch_memory *memory, const tac_patch *patch, tac_dpose T_world_object,
			       double stiffness, double *load_N, double *out_N_per_m)
{
	const tac_dvec3 point = tac_dquat_rotate(tac_dquat_conjugate(T_world_object.rotation),
						 tac_dvec3_sub(patch->point_m, T_world_object.position));
	tac_texture_move(&memory->texture, point);
	const tac_texture_sample t = tac_texture_at(patch->material, point, &memory->texture);
	*out_N_per_m = stiffness * t.slope_most * (1 + t.slope_most) + *load_N * t.curvature_most;
	const double reduced_N = fmax(*load_N + stiffness * t.height_m, 0);
	const tac_dvec3 slope = tac_dquat_rotate(T_world_object.rotation, t.slope);
	const tac_dvec3 force = tac_dvec3_add_scaled(tac_dvec3_scale(patch->normal, reduced_N - *load_N),
						     -reduced_N, tangential(slope, patch->normal));
	*load_N = reduced_N;
	return force;
}

// Friction at the patch's centre, world frame.
static tac_friction_result friction_force(tac_patch_memory *memory, const tac_patch *patch,
					  tac_dquat to_world, double stiffness, double load_N)
{
	tac_friction_material material = patch->friction;
	material.stiffness_N_per_m = bristle_stiffness(patch, stiffness);
	const tac_friction_patch at = {memory->travel_m, memory->turn_rad, patch->radius_m,
				       tac_dquat_rotate(tac_dquat_conjugate(to_world), patch->normal)};
	tac_friction_result f = tac_friction_step_patch(&memory->friction, &material, &at, load_N);
	f.force_N = tac_dquat_rotate(to_world, f.force_N);
	return f;
}

tac_patch_result tac_patch_wrench(tac_patch_memory *memory, const tac_patch *patch,
				  const tac_sco_report *report, const tac_dpose *T_world_objects,
				  tac_wrench coupling, double stiffness_N_per_m, double elapsed_s)
{
	tac_patch_result result = {.wrench = coupling, .elastic = coupling};
	if (patch->object < 0) {
		*memory = (tac_patch_memory){.stiffness_N_per_m = memory->stiffness_N_per_m};
		return result;
	}
	if (!patch->carried)
		result.wrench = result.elastic = apply_shading(patch, report, coupling, stiffness_N_per_m);
	const tac_dpose T_world_object = T_world_objects[patch->object];
	const tac_dvec3 normal = patch->normal;
	const motion moved = move_patch(memory, patch, report->T_world_sco, T_world_objects);
	double load_N = fmax(tac_dvec3_dot(result.wrench.force_N, normal), 0);

	tac_dvec3 added = tac_dvec3_zero();
	if (!patch->carried && patch->material->texture != TAC_TEXTURE_NONE)
		added = texture_force(memory, patch, T_world_object, stiffness_N_per_m, &load_N,
				      &result.texture_N_per_m);
	result.elastic.force_N =
		tac_dvec3_add(result.elastic.force_N, tac_dvec3_scale(normal, tac_dvec3_dot(added, normal)));

	const tac_friction_result friction =
		friction_force(memory, patch, T_world_object.rotation, stiffness_N_per_m, load_N);
	result.friction_N = friction.force_N;
	added = tac_dvec3_add(added, friction.force_N);

	if (elapsed_s > 0) {
		memory->velocity_m_per_s = tac_dvec3_lerp(
			tac_dvec3_scale(tac_dquat_rotate(T_world_object.rotation, moved.at_patch_m),
					1 / elapsed_s),
			memory->velocity_m_per_s, VELOCITY_POLE);
		added = tac_dvec3_add_scaled(added, -patch->viscosity_N_s_per_m,
					     tangential(memory->velocity_m_per_s, normal));
	}

	const tac_dvec3 arm = tac_dvec3_sub(patch->point_m, report->T_world_sco.position);
	const tac_dvec3 torque = tac_dvec3_scale(normal, friction.torque_Nm);
	result.wrench.force_N = tac_dvec3_add(result.wrench.force_N, added);
	result.wrench.torque_Nm =
		tac_dvec3_add(result.wrench.torque_Nm, tac_dvec3_add(tac_dvec3_cross(arm, added), torque));
	return result;
}
