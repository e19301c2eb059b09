// Material: how a surface feels: its stiffness, friction, viscosity and texture, and whether its facets are
// smoothed. haptic/force/ turns these properties into forces.
#ifndef TAC_HAPTIC_MATERIAL_H
#define TAC_HAPTIC_MATERIAL_H

#include "base/algebra.h"
#include "base/api.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_MATERIAL_NAME 32

// The height profile of a textured surface, a function of the position in the object's frame: the pattern
// continues across the edges of the mesh and needs no texture coordinates.
typedef enum tac_texture {
	TAC_TEXTURE_NONE,
	TAC_TEXTURE_GROOVES, // waves along `texture_along`
	TAC_TEXTURE_BUMPS,   // waves along x, y and z, each a third of the height
} tac_texture;

typedef struct tac_material {
	char name[TAC_MATERIAL_NAME];
	double stiffness_N_per_m;          // above 0; averaged over the contacts, weighted by load
	double static_friction;            // coefficient, 0 or more
	double dynamic_friction;           // 0 … static_friction
	double friction_stiffness_N_per_m; // of the sticking bristle, above 0
	double viscosity_N_s_per_m;        // drag along the touched surface
	int texture;                       // a tac_texture
	double texture_height_m;           // from valley to crest
	double texture_wavelength_m;       // above 0
	tac_dvec3 texture_along;           // direction of the waves of grooves, in the object's frame
	// Force shading: the force takes the direction of the smooth surface that the facets approximate, and
	// the depth below it, so that the facets are not felt. Edges sharper than the crease angle stay
	// exact.
	bool smooth;
	double crease_rad; // 0 … pi

	// Of a layer that a needle enters (tissue/needle.h). Forces of the shaft are per metre inside.
	double tip_stiffness_N_per_m, tip_stiffening_N_per_m2;
	double puncture_N, cutting_N;
	double shaft_friction_N_per_m, shaft_stiffness_N_per_m2, shaft_viscosity_N_s_per_m2;
	double lateral_stiffness_N_per_m2;
	double tip_relaxation_N_per_m, tip_relaxation_s;
	double needle_turning; // share of the needle's curvature
	// How it is drilled (tissue/drill.h). Either of the first two; the other is 0.
	double cutting_energy_J_per_m3;
	double feed_m_per_N_s; // of the scene's drill, for each newton, while all of its section cuts
	double rub_N;          // a drill that is pressed less only rubs
	// How it yields as soft tissue (tissue/compliance.h).
	double young_Pa; // 0: it does not
	double poisson;
	double creep; // how much further it yields in time, as a part of what it yields at once
	double creep_time_s;
} tac_material;

// 1000 N/m, no friction (bristle 1000 N/m), no texture (1 mm waves along x), no viscosity, smooth with a
// crease angle of 30 degrees. For a needle: soft tissue, 2 N to puncture and 0.5 N to cut. As soft tissue:
// none; with a Young's modulus, a Poisson's ratio of 0.45 without creep. Thread: any.
TAC_API tac_material tac_material_default(void);

#ifdef __cplusplus
}
#endif

#endif
