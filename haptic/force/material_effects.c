#include "haptic/force/material_effects.h"

#include "haptic/force/shading.h"
#include "haptic/force/texture.h"

#include <math.h>

tac_material tac_material_default(void)
{
	return (tac_material){
		.stiffness_N_per_m = 1000,
		.friction_stiffness_N_per_m = 1000,
		.texture_wavelength_m = 1e-3,
		.texture_along = {1, 0, 0},
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

void tac_patch_find(const tac_world *world, const tac_sco_report *report, tac_dpose T_world_device,
		    const tac_dpose *T_world_objects, double round_m, tac_patch *out_patch)
{
	const tac_dpose sco_to_device =
		tac_dpose_compose(T_world_device, tac_dpose_inverse(report->T_world_sco));
	tac_patch *p = out_patch;
	p->object = -1;
	p->load_m = p->stiffness_N_per_m = p->viscosity_N_s_per_m = 0;
	p->point_m = p->normal = tac_dvec3_zero();
	p->friction = (tac_friction_material){0, 0, 0};
	p->material = NULL;
	double largest = -1;
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		const tac_material *m = tac_world_material(world, c->object, c->object_surface);
		// A contact without load has no force to shade.
		const tac_shading shading =
			m->smooth && c->object_triangle >= 0 && c->load_m > 0
				? tac_shading_compute(&world->objects[c->object], c,
						      T_world_objects[c->object], sco_to_device, round_m)
				: (tac_shading){c->normal, 1};
		p->normals[i] = shading.normal;
		p->depth_ratios[i] = shading.depth_ratio;
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

// The coupling's wrench with the forces of the facets replaced by those of the smooth surface.
static tac_wrench apply_shading(const tac_patch *patch, const tac_sco_report *report, tac_wrench coupling,
				double stiffness)
{
	for (int32_t i = 0; i < report->contact_count; i++) {
		const tac_sco_contact *c = &report->contacts[i];
		const tac_dvec3 change = tac_dvec3_scale(
			tac_dvec3_sub(tac_dvec3_scale(patch->normals[i], patch->depth_ratios[i]), c->normal),
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

// The motion of the tool's point at the patch's centre relative to the object since the last tick, object's
// frame.
static tac_dvec3 motion_at_patch(tac_patch_memory *memory, const tac_patch *patch, tac_dpose T_world_tool,
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
	tac_wrench wrench = apply_shading(patch, report, coupling, stiffness_N_per_m);
	const tac_dpose T_world_object = T_world_objects[patch->object];
	const tac_dquat to_object = tac_dquat_conjugate(T_world_object.rotation);
	const tac_dvec3 normal = patch->normal;
	const tac_dvec3 moved = motion_at_patch(memory, patch, report->T_world_sco, T_world_object);
	memory->travel_m = tac_dvec3_add(memory->travel_m, moved);
	double load_N = fmax(tac_dvec3_dot(wrench.force_N, normal), 0);

	tac_dvec3 added = tac_dvec3_zero();
	if (patch->material->texture != TAC_TEXTURE_NONE) {
		const tac_texture_sample t = tac_texture_at(
			patch->material,
			tac_dquat_rotate(to_object, tac_dvec3_sub(patch->point_m, T_world_object.position)));
		const double reduced_N = fmax(load_N + stiffness_N_per_m * t.height_m, 0);
		const tac_dvec3 slope = tac_dquat_rotate(T_world_object.rotation, t.slope);
		added = tac_dvec3_scale(normal, reduced_N - load_N);
		added = tac_dvec3_add_scaled(
			added, -reduced_N,
			tac_dvec3_add_scaled(slope, -tac_dvec3_dot(slope, normal), normal));
		load_N = reduced_N;
	}

	if (patch->friction.static_coefficient > 0) {
		tac_friction_material material = patch->friction;
		material.stiffness_N_per_m = bristle_stiffness(patch, stiffness_N_per_m);
		*out_friction =
			tac_dquat_rotate(T_world_object.rotation,
					 tac_friction_step(&memory->friction, &material, memory->travel_m,
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
