#include "haptic/force/friction.h"

#include <math.h>

tac_dvec3 tac_friction_step(tac_friction *friction, const tac_friction_material *material,
			    tac_dvec3 position_m, tac_dvec3 normal, double load_N)
{
	const tac_friction_patch point = {.position_m = position_m, .normal = normal};
	return tac_friction_step_patch(friction, material, &point, load_N).force_N;
}

tac_friction_result tac_friction_step_patch(tac_friction *friction, const tac_friction_material *material,
					    const tac_friction_patch *patch, double load_N)
{
	const double k = material->stiffness_N_per_m, radius = patch->radius_m;
	if (!(load_N > 0) || !(material->static_coefficient > 0) || !tac_dvec3_finite(patch->position_m) ||
	    !isfinite(patch->turn_rad)) {
		*friction = (tac_friction){0};
		return (tac_friction_result){tac_dvec3_zero(), 0};
	}
	if (!friction->touching)
		*friction = (tac_friction){
			.touching = true, .anchor_m = patch->position_m, .anchor_rad = patch->turn_rad};

	// The bristle's deflection in the tangent plane, and its twist at the patch's radius.
	const tac_dvec3 offset = tac_dvec3_sub(patch->position_m, friction->anchor_m);
	tac_dvec3 bend = tac_dvec3_add_scaled(offset, -tac_dvec3_dot(offset, patch->normal), patch->normal);
	double twist = patch->turn_rad - friction->anchor_rad;
	const double length = hypot(tac_dvec3_length(bend), radius * twist);
	const double dynamic_N = material->dynamic_coefficient * load_N;
	const double hold_N = friction->slipping ? dynamic_N : material->static_coefficient * load_N;
	// When the motion stops, the pull equals the dynamic limit up to rounding, and the slip goes on. Only
	// a reversal ends it.
	friction->slipping = friction->slipping ? k * length >= hold_N * (1 - 1e-9) : k * length > hold_N;
	if (friction->slipping) {
		const double share = length > 0 ? dynamic_N / (k * length) : 0;
		bend = tac_dvec3_scale(bend, share);
		twist *= share;
		friction->anchor_m = tac_dvec3_sub(patch->position_m, bend);
		friction->anchor_rad = patch->turn_rad - twist;
	}
	return (tac_friction_result){tac_dvec3_scale(bend, -k), -k * radius * radius * twist};
}
