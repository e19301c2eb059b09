#include "haptic/force/texture.h"

#include <math.h>

#define TWO_PI 6.283185307179586

// A wave of the given height along the unit vector `along`.
static void add_wave(tac_texture_sample *sum, double height_m, double wavelength_m, tac_dvec3 along,
		     tac_dvec3 point_m)
{
	const double wavenumber = TWO_PI / wavelength_m;
	const double phase = wavenumber * tac_dvec3_dot(along, point_m);
	sum->height_m += 0.5 * height_m * (cos(phase) - 1);
	sum->slope = tac_dvec3_add_scaled(sum->slope, -0.5 * height_m * wavenumber * sin(phase), along);
}

tac_texture_sample tac_texture_at(const tac_material *material, tac_dvec3 point_m)
{
	const double height = material->texture_height_m, wavelength = material->texture_wavelength_m;
	tac_texture_sample sample = {0, {0, 0, 0}};
	if (material->texture == TAC_TEXTURE_GROOVES) {
		add_wave(&sample, height, wavelength, tac_dvec3_normalize(material->texture_along), point_m);
	} else if (material->texture == TAC_TEXTURE_BUMPS) {
		add_wave(&sample, height / 3, wavelength, tac_dvec3_make(1, 0, 0), point_m);
		add_wave(&sample, height / 3, wavelength, tac_dvec3_make(0, 1, 0), point_m);
		add_wave(&sample, height / 3, wavelength, tac_dvec3_make(0, 0, 1), point_m);
	}
	return sample;
}
