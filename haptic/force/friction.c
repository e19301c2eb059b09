#include "haptic/force/friction.h"

tac_dvec3 tac_friction_step(tac_friction *friction, const tac_friction_material *material,
			    tac_dvec3 position_m, tac_dvec3 normal, double load_N)
{
	if (!(load_N > 0) || !tac_dvec3_finite(position_m)) {
		*friction = (tac_friction){0};
		return tac_dvec3_zero();
	}
	if (!friction->touching)
		*friction = (tac_friction){.touching = true, .anchor_m = position_m};

	// The bristle's deflection in the tangent plane.
	const tac_dvec3 offset = tac_dvec3_sub(position_m, friction->anchor_m);
	tac_dvec3 bend = tac_dvec3_add_scaled(offset, -tac_dvec3_dot(offset, normal), normal);
	const double pull_N = material->stiffness_N_per_m * tac_dvec3_length(bend);
	const double dynamic_N = material->dynamic_coefficient * load_N;
	const double hold_N = friction->slipping ? dynamic_N : material->static_coefficient * load_N;
	// When the motion stops, the pull equals the dynamic limit up to rounding, and the slip goes on. Only
	// a reversal ends it.
	friction->slipping = friction->slipping ? pull_N >= hold_N * (1 - 1e-9) : pull_N > hold_N;
	if (friction->slipping) {
		bend = tac_dvec3_scale(tac_dvec3_normalize(bend), dynamic_N / material->stiffness_N_per_m);
		friction->anchor_m = tac_dvec3_sub(position_m, bend);
	}
	return tac_dvec3_scale(bend, -material->stiffness_N_per_m);
}
