// Texture: the height of a surface's pattern and its slope. The pattern is carved into the surface, so that
// the crests stand at the surface itself and nothing is felt before it is touched. With depth d of the device
// below the surface, the pattern h <= 0 there and stiffness K the energy is K (d + h)^2 / 2, so the force is
// N = K (d + h) along the normal and -N grad h across it: bumps push sideways (M. Minsky et al., "Feeling and
// seeing: issues in force display", I3D 1990), and no energy comes out of a closed way.
#ifndef TAC_HAPTIC_TEXTURE_H
#define TAC_HAPTIC_TEXTURE_H

#include "haptic/material.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_texture_sample {
	double height_m; // -texture_height_m … 0
	tac_dvec3 slope; // gradient, without a unit
} tac_texture_sample;

// At `point_m` in the object's frame. Thread: RT.
tac_texture_sample tac_texture_at(const tac_material *material, tac_dvec3 point_m);

#ifdef __cplusplus
}
#endif

#endif
