#include "haptic/force/texture.h"

#include <math.h>

#define TWO_PI 6.283185307179586

// Share of the previous value in the mean step.
#define MEAN_POLE 0.8

void tac_texture_move(tac_texture_motion *motion, tac_dvec3 point_m)
{
	motion->last_step_m = motion->step_m;
	motion->step_m = motion->started ? tac_dvec3_sub(point_m, motion->point_m) : tac_dvec3_zero();
	motion->mean_m = tac_dvec3_lerp(motion->step_m, motion->mean_m, MEAN_POLE);
	motion->point_m = point_m;
	motion->started = true;
}

// What is left of a wave: 1 while it is slow, 0 where the loop cannot sample it.
static double fade(const tac_texture_motion *motion, double wavelength_m, tac_dvec3 along)
{
	if (!motion)
		return 1;
	const double step = fmin(fabs(tac_dvec3_dot(motion->step_m, along)),
				 fabs(tac_dvec3_dot(motion->last_step_m, along)));
	const double waves = fmax(step, fabs(tac_dvec3_dot(motion->mean_m, along))) / wavelength_m;
	const double t = (TAC_TEXTURE_NONE_LEFT - waves) / (TAC_TEXTURE_NONE_LEFT - TAC_TEXTURE_FULL);
	const double s = fmin(fmax(t, 0), 1);
	return s * s * (3 - 2 * s);
}

// A wave of the given height along the unit vector `along`.
static void add_wave(tac_texture_sample *sum, double height_m, double wavelength_m, tac_dvec3 along,
		     tac_dvec3 point_m, const tac_texture_motion *motion)
{
	const double wavenumber = TWO_PI / wavelength_m;
	const double phase = wavenumber * tac_dvec3_dot(along, point_m);
	const double amplitude_m = 0.5 * height_m * fade(motion, wavelength_m, along);
	sum->height_m += amplitude_m * cos(phase) - 0.5 * height_m;
	sum->slope = tac_dvec3_add_scaled(sum->slope, -amplitude_m * wavenumber * sin(phase), along);
	sum->slope_most += amplitude_m * wavenumber;
	sum->curvature_most += amplitude_m * wavenumber * wavenumber;
}

tac_texture_sample tac_texture_at(const tac_material *material, tac_dvec3 point_m,
				  const tac_texture_motion *motion)
{
	const double height = material->texture_height_m, wavelength = material->texture_wavelength_m;
	tac_texture_sample sample = {0, {0, 0, 0}, 0, 0};
	if (material->texture == TAC_TEXTURE_GROOVES) {
		add_wave(&sample, height, wavelength, tac_dvec3_normalize(material->texture_along), point_m,
			 motion);
	} else if (material->texture == TAC_TEXTURE_BUMPS) {
		add_wave(&sample, height / 3, wavelength, tac_dvec3_make(1, 0, 0), point_m, motion);
		add_wave(&sample, height / 3, wavelength, tac_dvec3_make(0, 1, 0), point_m, motion);
		add_wave(&sample, height / 3, wavelength, tac_dvec3_make(0, 0, 1), point_m, motion);
	}
	return sample;
}
