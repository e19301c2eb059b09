#include "haptic/material.h"

tac_material tac_material_default(void)
{
	return (tac_material){
		.stiffness_N_per_m = 1000,
		.friction_stiffness_N_per_m = 1000,
		.texture_wavelength_m = 1e-3,
		.texture_along = {1, 0, 0},
	};
}
