// Shading: force shading (H. B. Morgenbesser and M. A. Srinivasan, "Force shading for haptic shape
// perception", ASME DSC 1996). The force takes the direction of the smooth surface that the facets
// approximate, and the depth below it, so that edges between facets are not felt.
//
// The smooth surface is evaluated where the device projects onto it, not where the SCO touches. At an edge
// between two facets the touching point jumps from one foot of the device's perpendicular to the next, by the
// depth times the angle between the facets, and normal and depth would jump with it. The projection along the
// smooth normal moves continuously.
//
// Where the smooth normal and the contact's own differ by 30 to 60 degrees the shading fades out: that is a
// corner of the shape and stays one.
#ifndef TAC_HAPTIC_FORCE_SHADING_H
#define TAC_HAPTIC_FORCE_SHADING_H

#include "haptic/sco.h"
#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_shading {
	tac_dvec3 normal;   // unit, world frame
	double depth_ratio; // depth of the device below the smooth surface over that below the facet
} tac_shading;

// The shading of one contact with `object`. `sco_to_device` takes a point of the SCO to where the device has
// it, both in the world frame. `round_m` is the radius of a round tool, which is projected from its core; 0
// for any other tool, which is projected from the touching point.
// Thread: RT.
tac_shading tac_shading_compute(const tac_world_body *object, const tac_sco_contact *contact,
				tac_dpose T_world_object, tac_dpose sco_to_device, double round_m);

#ifdef __cplusplus
}
#endif

#endif
