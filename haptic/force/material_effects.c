#include "haptic/patch.h"

#include "haptic/coupling.h"
#include "haptic/texture.h"

#include <math.h>

// Between these cosines of the angle from a contact's own normal to the smooth one, shading fades out.
#define SHADED   0.866 // 30 degrees
#define UNSHADED 0.5   // 60 degrees

// Contacts whose normals differ by less than this, and whose gaps by less than this many m, bear as one.
#define SAME_NORMAL 1e-6
#define SAME_GAP    1e-6

// Part of the old velocity in the new one: 4 ms at 1 kHz, against the steps of the position sensor.
#define VELOCITY_POLE 0.8

// Rounds in which the place that the device looks at is found, and how much its depth may differ from the
// contact's.
#define LOOKS   4
#define SHALLOW 0.5
#define DEEP    1.5

typedef struct shading {
	tac_dvec3 normal;
	double depth; // over the contact's own
} shading;

// The smooth surface that the facets stand for, seen from the device. Not where the SCO touches: at the edge
// between two facets that goes from one foot of the device's perpendicular to the next at once, by depth
// times the angle between them, and normal and depth with it. But where the device looks at: from the
// touching point as the device has it along the smooth normal there, which goes on steadily. A round tool
// looks from its core, which has no touching point that could jump.
static shading look(const tac_world_body *body, const tac_sco_contact *c, tac_dpose T_world_object,
		    tac_dpose T_sco_device, double round_m)
{
	const tac_dpose T_object_world = tac_dpose_inverse(T_world_object);
	const tac_dvec3 normal = tac_dpose_apply_vector(T_object_world, c->normal);
	const tac_dvec3 on_object =
		tac_dpose_apply_point(T_object_world, tac_dvec3_add_scaled(c->point_m, -c->gap_m, c->normal));
	const tac_dvec3 device = tac_dpose_apply_point(
		T_object_world,
		tac_dpose_apply_point(T_sco_device, tac_dvec3_add_scaled(c->point_m, round_m, c->normal)));
	const double depth = tac_dvec3_dot(tac_dvec3_sub(on_object, device), normal) + round_m;
	tac_dvec3 at = on_object;
	tac_world_place place = tac_world_find(body, c->object_triangle, at);
	shading found = {place.smooth, 1};
	for (int i = 0; i < LOOKS && depth > 0; i++) {
		const double along = tac_dvec3_dot(place.smooth, place.flat);
		const double height = place.height_m + tac_dvec3_dot(tac_dvec3_sub(device, at), place.flat);
		if (along < UNSHADED || tac_dvec3_dot(place.smooth, normal) < UNSHADED)
			break;
		found.normal = place.smooth;
		found.depth = (round_m - height / along + c->gap_m) / (depth + c->gap_m);
		at = tac_dvec3_add_scaled(device, -height / along, place.smooth);
		place = tac_world_find(body, place.triangle, at);
	}
	found.normal = tac_dpose_apply_vector(T_world_object, found.normal);
	found.depth = fmin(fmax(found.depth, SHALLOW), DEEP);
	return found;
}

// Fades out towards corners.
static shading shade_contact(const tac_world *world, const tac_sco_contact *c, tac_dpose T_world_object,
			     tac_dpose T_sco_device, double round_m)
{
	const shading s = look(&world->objects[c->object], c, T_world_object, T_sco_device, round_m);
	const double part =
		fmin(fmax((tac_dvec3_dot(s.normal, c->normal) - UNSHADED) / (SHADED - UNSHADED), 0), 1);
	return (shading){tac_dvec3_normalize(tac_dvec3_lerp(c->normal, s.normal, part)),
			 1 + part * (s.depth - 1)};
}

static bool bear_as_one(const tac_sco_contact *a, const tac_sco_contact *b)
{
	return fabs(a->gap_m - b->gap_m) < SAME_GAP &&
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
			count += bear_as_one(&report->contacts[i], &report->contacts[k]);
		for (int32_t k = 0; k < report->contact_count; k++) {
			if (bear_as_one(&report->contacts[i], &report->contacts[k]))
				shared[k] += report->contacts[i].load_m / count;
		}
	}
	for (int32_t i = 0; i < report->contact_count; i++)
		report->contacts[i].load_m = shared[i];
}

void tac_patch_find(const tac_world *world, const tac_sco_report *report, tac_dpose T_world_device,
		    const tac_dpose *T_world_objects, double round_m, tac_patch *out_patch)
{
	// Takes a point of the SCO to where the device has it.
	const tac_dpose T_sco_device =
		tac_dpose_compose(T_world_device, tac_dpose_inverse(report->T_world_sco));
	tac_patch *p = out_patch;
	p->object = -1;
	p->load_m = p->stiffness_N_per_m = p->viscosity_N_s_per_m = 0;
	p->point_m = p->normal = tac_dvec3_zero();
	p->friction = (tac_friction_material){0, 0, 0};
	p->material = NULL;
	double most = -1;
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		const tac_material *m = tac_world_material(world, c->object, c->object_surface);
		// A contact that bears nothing has no force to turn.
		const shading shaded =
			m->smooth && c->object_triangle >= 0 && c->load_m > 0
				? shade_contact(world, c, T_world_objects[c->object], T_sco_device, round_m)
				: (shading){c->normal, 1};
		p->normals[i] = shaded.normal;
		p->depths[i] = shaded.depth;
		const double load = c->load_m;
		if (load > most) {
			most = load;
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
	if (!(p->load_m > 0)) { // near, but nothing presses
		if (p->material)
			p->stiffness_N_per_m = p->material->stiffness_N_per_m;
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
}

// The coupling's wrench with the contacts' own forces replaced by those of the smooth surface.
static tac_wrench shade(const tac_patch *patch, const tac_sco_report *report, tac_wrench coupling,
			double stiffness)
{
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		const tac_dvec3 change = tac_dvec3_scale(
			tac_dvec3_sub(tac_dvec3_scale(patch->normals[i], patch->depths[i]), c->normal),
			stiffness * c->load_m);
		if (!(c->load_m > 0) || tac_dvec3_length_squared(change) == 0)
			continue;
		coupling.force_N = tac_dvec3_add(coupling.force_N, change);
		coupling.torque_Nm = tac_dvec3_add(
			coupling.torque_Nm,
			tac_dvec3_cross(tac_dvec3_sub(c->point_m, report->T_world_sco.position), change));
	}
	return coupling;
}

// How far the tool's touching point has moved against the object since the last tick, object's frame.
static tac_dvec3 slide(tac_patch_memory *memory, const tac_patch *patch, tac_dpose T_world_tool,
		       tac_dpose T_world_object)
{
	const tac_dpose T = tac_dpose_relative(T_world_object, T_world_tool);
	tac_dvec3 moved = tac_dvec3_zero();
	if (memory->started && memory->object == patch->object) {
		const tac_dvec3 on_tool =
			tac_dquat_rotate(tac_dquat_conjugate(T_world_tool.rotation),
					 tac_dvec3_sub(patch->point_m, T_world_tool.position));
		moved = tac_dvec3_sub(tac_dpose_apply_point(T, on_tool),
				      tac_dpose_apply_point(memory->T_object_tool, on_tool));
	} else {
		*memory = (tac_patch_memory){.object = patch->object};
	}
	memory->T_object_tool = T;
	memory->started = true;
	return moved;
}

// The bristle is no stiffer than what may be shown.
static double bristle_stiffness(const tac_patch *patch, double stiffness_N_per_m)
{
	return fmin(patch->friction.stiffness_N_per_m, stiffness_N_per_m);
}

double tac_patch_energy_J(const tac_patch_memory *memory, const tac_patch *patch, double stiffness_N_per_m)
{
	if (!memory->friction.touching)
		return 0;
	const tac_dvec3 bend = tac_dvec3_sub(memory->slid_m, memory->friction.anchor_m);
	return 0.5 * bristle_stiffness(patch, stiffness_N_per_m) * tac_dvec3_length_squared(bend);
}

tac_wrench tac_patch_wrench(tac_patch_memory *memory, const tac_patch *patch, const tac_sco_report *report,
			    const tac_dpose *T_world_objects, tac_wrench coupling, double stiffness_N_per_m,
			    double elapsed_s, tac_dvec3 *out_friction)
{
	*out_friction = tac_dvec3_zero();
	if (patch->object < 0) {
		*memory = (tac_patch_memory){0};
		return coupling;
	}
	tac_wrench wrench = shade(patch, report, coupling, stiffness_N_per_m);
	const tac_dpose T_world_object = T_world_objects[patch->object];
	const tac_dquat to_object = tac_dquat_conjugate(T_world_object.rotation);
	const tac_dvec3 normal = patch->normal;
	const tac_dvec3 moved = slide(memory, patch, report->T_world_sco, T_world_object);
	memory->slid_m = tac_dvec3_add(memory->slid_m, moved);
	double load_N = fmax(tac_dvec3_dot(wrench.force_N, normal), 0);

	tac_dvec3 added = tac_dvec3_zero();
	if (patch->material->texture != TAC_TEXTURE_NONE) {
		const tac_texture_sample t = tac_texture_at(
			patch->material,
			tac_dquat_rotate(to_object, tac_dvec3_sub(patch->point_m, T_world_object.position)));
		const double left_N = fmax(load_N + stiffness_N_per_m * t.height_m, 0);
		const tac_dvec3 slope = tac_dquat_rotate(T_world_object.rotation, t.slope);
		added = tac_dvec3_scale(normal, left_N - load_N);
		added = tac_dvec3_add_scaled(
			added, -left_N, tac_dvec3_add_scaled(slope, -tac_dvec3_dot(slope, normal), normal));
		load_N = left_N;
	}

	if (patch->friction.static_coefficient > 0) {
		tac_friction_material material = patch->friction;
		material.stiffness_N_per_m = bristle_stiffness(patch, stiffness_N_per_m);
		*out_friction =
			tac_dquat_rotate(T_world_object.rotation,
					 tac_friction_step(&memory->friction, &material, memory->slid_m,
							   tac_dquat_rotate(to_object, normal), load_N));
		added = tac_dvec3_add(added, *out_friction);
	}

	if (elapsed_s > 0) {
		memory->velocity_m_per_s = tac_dvec3_lerp(
			tac_dvec3_scale(tac_dquat_rotate(T_world_object.rotation, moved), 1 / elapsed_s),
			memory->velocity_m_per_s, VELOCITY_POLE);
		const tac_dvec3 v = memory->velocity_m_per_s;
		added = tac_dvec3_add_scaled(added, -patch->viscosity_N_s_per_m,
					     tac_dvec3_add_scaled(v, -tac_dvec3_dot(v, normal), normal));
	}

	wrench.force_N = tac_dvec3_add(wrench.force_N, added);
	wrench.torque_Nm = tac_dvec3_add(
		wrench.torque_Nm,
		tac_dvec3_cross(tac_dvec3_sub(patch->point_m, report->T_world_sco.position), added));
	return wrench;
}
