// Patch: all contacts of the tool taken together, and what their materials add to the coupling's force:
//  - force shading: the force takes the direction of the smooth normals (H. B. Morgenbesser and M. A.
//    Srinivasan, "Force shading for haptic shape perception", ASME DSC 1996), at the place that the device
//    looks at, and the depth of that place, so that an edge between facets is not felt. Where a smooth
//    normal and the contact's own differ by more than 60 degrees it is a corner and stays one.
//  - texture (haptic/texture.h), friction (haptic/friction.h) and viscosity, all at the middle of the patch.
// Contacts weigh by their loads, so that one that begins or ends makes no jump.
#ifndef TAC_HAPTIC_PATCH_H
#define TAC_HAPTIC_PATCH_H

#include "devices/device.h"
#include "haptic/friction.h"
#include "haptic/sco.h"
#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where the tool touches now.
typedef struct tac_patch {
	int32_t object;           // the one that takes most of the load; -1: nothing is touched
	double load_m;            // sum of the contacts'
	tac_dvec3 point_m;        // their middle, on the object, world frame
	tac_dvec3 normal;         // their mean, unit, smooth where the materials are
	double stiffness_N_per_m; // mean of the materials'
	tac_friction_material friction;
	double viscosity_N_s_per_m;
	const tac_material *material;        // of the contact with most of the load: its texture is felt
	tac_dvec3 normals[TAC_SCO_CONTACTS]; // of the contacts, smooth where one bears and its material is
	double depths[TAC_SCO_CONTACTS];     // below the smooth surface, over those below the facets
} tac_patch;

// What the patch remembers from tick to tick; zeroed: nothing was touched.
typedef struct tac_patch_memory {
	tac_friction friction;
	int32_t object;
	tac_dpose T_object_tool;    // of the last tick
	tac_dvec3 slid_m;           // sum of how the tool's touching point moved, object's frame
	tac_dvec3 velocity_m_per_s; // the same a second, filtered
	bool started;
} tac_patch_memory;

// A tool that does not turn takes no torque, so it is arbitrary which of several contacts with one normal
// carries the load, and the mover names one. Here they share it, so that the middle of the patch is the
// middle. Thread: RT.
void tac_patch_share_loads(tac_sco_report *report);

// `T_world_objects` has a pose for every object of the report; `round_m` is the radius of a round tool, 0 of
// any other. Thread: RT.
void tac_patch_find(const tac_world *world, const tac_sco_report *report, tac_dpose T_world_device,
		    const tac_dpose *T_world_objects, double round_m, tac_patch *out_patch);

// The wrench on the tool, about its origin, in the world: what `coupling` (stiffness times offset, on the
// device) becomes with shading, texture, friction and viscosity. `stiffness_N_per_m` is what the coupling
// has, `elapsed_s` the time since the last tick, 0 in the first. *out_friction is the friction in it. Thread:
// RT.
tac_wrench tac_patch_wrench(tac_patch_memory *memory, const tac_patch *patch, const tac_sco_report *report,
			    const tac_dpose *T_world_objects, tac_wrench coupling, double stiffness_N_per_m,
			    double elapsed_s, tac_dvec3 *out_friction);

// What the bent bristle holds. Thread: RT.
double tac_patch_energy_J(const tac_patch_memory *memory, const tac_patch *patch, double stiffness_N_per_m);

#ifdef __cplusplus
}
#endif

#endif
