// Texture: height and slope of a surface's pattern. The pattern is carved into the surface: its crests are
// level with the surface, so nothing is felt before contact. With the device at depth d below the surface,
// the pattern's height h <= 0 there and stiffness K, the energy is K (d + h)^2 / 2. The force is its
// gradient: N = K (d + h) along the normal and -N grad h across it, so bumps push sideways (M. Minsky et al.,
// "Feeling and seeing: issues in force display", I3D 1990), and a closed path does no work.
//
// A wave that passes by faster than the loop can sample would be felt as a slow one, which is not there: 980
// Hz at 1 kHz become 20 Hz. So each wave fades out between TAC_TEXTURE_FULL and TAC_TEXTURE_NONE_LEFT of its
// length in a tick. Up to a third, the alias of twice the frequency, which the product of load and slope
// contains, stays above the frequency itself. The mean height does not change.
#ifndef TAC_HAPTIC_FORCE_TEXTURE_H
#define TAC_HAPTIC_FORCE_TEXTURE_H

#include "haptic/material.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Waves per tick: 200 to 300 Hz at 1 kHz.
#define TAC_TEXTURE_FULL      0.2
#define TAC_TEXTURE_NONE_LEFT 0.3

typedef struct tac_texture_sample {
	double height_m;                   // -texture_height_m … 0
	tac_dvec3 slope;                   // gradient of the height, dimensionless
	double slope_most, curvature_most; // of the waves that have not faded: bounds of |slope| and of its
					   // gradient, 1/m
} tac_texture_sample;

// How the point moves over the pattern, zero at the start. A step of a position sensor is one large motion in
// a tick; only two in succession, or a large mean, count as fast.
typedef struct tac_texture_motion {
	bool started;
	tac_dvec3 point_m;                     // of the last tick, object's frame
	tac_dvec3 step_m, last_step_m, mean_m; // of a tick
} tac_texture_motion;

// Moves the point.
// Thread: RT.
void tac_texture_move(tac_texture_motion *motion, tac_dvec3 point_m);

// The pattern at `point_m` in the object's frame. `motion` NULL: nothing fades.
// Thread: RT.
tac_texture_sample tac_texture_at(const tac_material *material, tac_dvec3 point_m,
				  const tac_texture_motion *motion);

#ifdef __cplusplus
}
#endif

#endif
