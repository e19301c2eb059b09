// Shading: force shading (H. B. Morgenbesser and M. A. Srinivasan, "Force shading for haptic shape
// perception", ASME DSC 1996). The force takes the direction of the smooth surface that the facets
// approximate, and the depth below it (collision/mesh_smooth.h), so that neither the edges between facets nor
// their flatness are felt.
//
// The smooth surface is evaluated where the device projects onto it, not where the SCO touches. At an edge
// between two facets the touching point jumps from one foot of the device's perpendicular to the next, by the
// depth times the angle between the facets, and normal and depth would jump with it. The projection along the
// smooth normal moves continuously.
//
// A contact on a sharp edge or vertex keeps its own direction, for a round tool that from the edge to the
// device. Where one of the facets at a sharp edge is
// curved, as at the rim of a cylinder, the direction is shifted by what the smooth normals of both sides
// differ from the facets', so that it joins theirs.
//
// A tool that is a mesh has a smooth surface, too. At a contact of two smooth surfaces the direction belongs
// to the flatter one: on the other it changes fast with the place of the contact. Each normal is weighted
// with the curvature of the other side; a sharp edge or vertex has an infinite one and a flat face none, so
// that a box that stands on bumps is pushed along its own face.
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
	double bulge_m;     // how far the smooth surface is from the facet where they touch
} tac_shading;

// Where the bodies of a contact are.
typedef struct tac_shading_place {
	const tac_world_body *object;
	const tac_world_body *tool; // NULL: a round tool
	tac_dpose T_world_object;
	tac_dpose T_world_sco;
	tac_dpose sco_to_device; // takes a point of the SCO to where the device has it, world frame
	double round_m; // the radius of a round tool, which is projected from its core; 0: from the touching
			// point
} tac_shading_place;

// The shading of one contact whose object's material is smooth.
// Thread: RT.
tac_shading tac_shading_compute(const tac_shading_place *place, const tac_sco_contact *contact);

#ifdef __cplusplus
}
#endif

#endif
