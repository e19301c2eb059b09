// Texture: height and slope of a surface's pattern. The pattern is carved into the surface: its crests are
// level with the surface, so nothing is felt before contact. With the device at depth d below the surface,
// the pattern's height h <= 0 there and stiffness K, the energy is K (d + h)^2 / 2. The force is its
// gradient: N = K (d + h) along the normal and -N grad h across it, so bumps push sideways (M. Minsky et al.,
// "Feeling and seeing: issues in force display", I3D 1990), and a closed path does no work.
#ifndef TAC_HAPTIC_FORCE_TEXTURE_H
#define TAC_HAPTIC_FORCE_TEXTURE_H

#include "haptic/material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_texture_sample {
	double height_m; // -texture_height_m … 0
	tac_dvec3 slope; // gradient of the height, dimensionless
} tac_texture_sample;

// The pattern at `point_m` in the object's frame.
// Thread: RT.
tac_texture_sample tac_texture_at(const tac_material *material, tac_dvec3 point_m);

#ifdef __cplusplus
}
#endif

#endif
