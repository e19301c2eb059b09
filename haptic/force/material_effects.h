// Material effects: what the materials of all contacts together, the patch, add to the coupling's force:
// shading (haptic/force/shading.h), texture (haptic/force/texture.h), friction (haptic/force/friction.h) and
// viscosity, at the centre of the patch. Contacts are weighted by their loads, so that the force does not
// jump when one begins or ends.
#ifndef TAC_HAPTIC_FORCE_MATERIAL_EFFECTS_H
#define TAC_HAPTIC_FORCE_MATERIAL_EFFECTS_H

#include "base/wrench.h"
#include "haptic/force/friction.h"
#include "haptic/force/texture.h"
#include "haptic/sco.h"
#include "haptic/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where the tool touches, in the world frame.
typedef struct tac_patch {
	int32_t object;           // the one with the most loaded contact; -1: no contact is loaded
	bool carried;             // nothing is loaded: the patch of the last contact goes on
	double load_m;            // sum over the contacts
	double bulge_m;           // largest distance from a contact's facet to the smooth surface
	double radius_m;          // mean distance of the load from the centre, along the surface
	tac_dvec3 point_m;        // centre, on the object
	tac_dvec3 normal;         // mean, unit, shaded where the materials are smooth
	double stiffness_N_per_m; // mean of the materials'
	tac_friction_material friction;
	double viscosity_N_s_per_m;
	const tac_material *material;          // of the most loaded contact: its texture counts
	tac_dvec3 normals[TAC_SCO_CONTACTS];   // of the contacts, shaded
	double depth_ratios[TAC_SCO_CONTACTS]; // as in tac_shading
} tac_patch;

// What is kept from tick to tick; zero: there was no contact.
typedef struct tac_patch_memory {
	tac_friction friction;
	int32_t object;
	tac_dpose T_object_tool;    // of the last tick
	tac_dvec3 travel_m;         // sum of the tool's motion at the patch's centre, object's frame
	double turn_rad;            // sum of its rotations about the normal
	tac_dvec3 velocity_m_per_s; // derivative of the travel, filtered, world frame
	tac_texture_motion texture;
	bool started;

	// Of the last patch, for the time in which nothing is loaded.
	double stiffness_N_per_m; // kept for good; 0: there was no contact yet
	tac_friction_material material;
	tac_dvec3 point_m; // centre, tool's frame
	double radius_m;
} tac_patch_memory;

// What the materials do to the wrench.
typedef struct tac_patch_result {
	tac_wrench wrench;      // on the tool, about its origin, world frame
	tac_wrench elastic;     // that of the coupling's spring, shaded, on the profile of the texture
	tac_dvec3 friction_N;   // contained in it
	double texture_N_per_m; // how fast the texture's force may change with the position
} tac_patch_result;

// Spreads loads evenly over contacts with the same normal and gap. A tool that does not rotate takes no
// torque, so the mover may load any one of them; shared, their loads put the patch's centre in the middle.
// Thread: RT.
void tac_patch_share_loads(tac_sco_report *report);

// Sums up the contacts of `report`. `T_world_objects` has a pose for each object of the report. `tool` is the
// mesh of the tool; NULL: a round one with the radius `round_m`.
// Thread: RT.
void tac_patch_find(const tac_world *world, const tac_world_body *tool, double round_m,
		    const tac_sco_report *report, tac_dpose T_world_device, const tac_dpose *T_world_objects,
		    tac_patch *out_patch);

// Lets the last patch go on where nothing is loaded but the force law still has an offset `goal_m` (m, world
// frame): with its material, its point of the tool and its bent bristle, so that friction does not begin anew
// after the SCO has gone from one place to the next.
// Thread: RT.
void tac_patch_carry_on(const tac_patch_memory *memory, const tac_sco_report *report, tac_dvec3 goal_m,
			tac_patch *patch);

// Adds shading, texture, friction and viscosity to the wrench `coupling` on the tool, about its origin, in
// the world frame. `stiffness_N_per_m` is the coupling's, `elapsed_s` the time since the last tick, 0 in the
// first.
// Thread: RT.
tac_patch_result tac_patch_wrench(tac_patch_memory *memory, const tac_patch *patch,
				  const tac_sco_report *report, const tac_dpose *T_world_objects,
				  tac_wrench coupling, double stiffness_N_per_m, double elapsed_s);

// The elastic energy of the friction's bristle.
// Thread: RT.
double tac_patch_energy_J(const tac_patch_memory *memory, const tac_patch *patch, double stiffness_N_per_m);

#ifdef __cplusplus
}
#endif

#endif
