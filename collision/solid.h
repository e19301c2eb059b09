// Solids of revolution as tools and scene objects, alone or several rigidly joined: a probe is a sphere, a
// finger a capsule, a drill a cylinder with a cone. A solid is filled but a mesh is only a surface: a solid
// wholly inside a closed mesh touches nothing. The engine `solid` (collision/collider.h) tests the exact
// round solid, not a mesh of it.
#ifndef TAC_COLLISION_SOLID_H
#define TAC_COLLISION_SOLID_H

#include "base/api.h"
#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_solid_kind {
	TAC_SOLID_SPHERE,
	TAC_SOLID_CAPSULE,  // a cylinder of `height` between two half spheres
	TAC_SOLID_CYLINDER, // the same without them
	TAC_SOLID_CONE,     // a frustum: `radius` at -height / 2, `top` at height / 2
	// z_min <= z <= z_max, within a radius of the axis that depends on z: radius + sqrt(minor^2 - z^2)
	// or, if concave, radius - sqrt(minor^2 - z^2).
	TAC_SOLID_TOROID,
} tac_solid_kind;

// Bounds of a solid's lengths, m.
#define TAC_SOLID_LENGTH_MIN 1e-9
#define TAC_SOLID_LENGTH_MAX 1e9
// The radius is at least this fraction of the centre's largest coordinate, or single precision would lose the
// shape of the mesh.
#define TAC_SOLID_RADIUS_RATIO_MIN 1e-5

// A solid with its axis along z of its own frame and its centre at the origin. Metres. Lengths that its kind
// does not use are NaN after parsing.
typedef struct tac_solid {
	tac_solid_kind kind;
	double radius, top, height; // top: the cone's radius at its upper end
	double minor, z_min, z_max; // toroid: radius of the tube, and the end planes
	bool concave;               // toroid
	tac_dmat3 rotation;         // of its frame in the common one
	tac_dvec3 position;
} tac_solid;

#define TAC_SOLIDS_MAX 16

// Several rigidly joined solids in one frame.
typedef struct tac_solids {
	tac_solid solid[TAC_SOLIDS_MAX];
	int32_t count;
} tac_solids;

// Whether `text` describes solids rather than naming a file: it begins with the name of a kind and a colon.
// Thread: any.
TAC_API bool tac_solids_is_description(const char *text);

// Parses a description of solids: KIND:NAME=NUMBER,…, several of them joined by +.
//
//   sphere:r=0.01              capsule:r=0.01,h=0.1       cylinder:r=0.01,h=0.1
//   cone:rb=0.01,rt=0,h=0.03   toroid:R=0.02,r=0.01,z0=-0.005,z1=0.005[,concave]
//
// Each may have x=, y=, z= (its centre) and axis=x or axis=y (default z). A toroid's z0 and z1 default to -r
// and r. Lengths are metres, within the bounds above; a cone may have one radius 0. A number is decimal and
// may have an exponent, but contains no +. Fails with TAC_ERROR_FORMAT and one log line: what was expected
// and what was found.
// Thread: setup.
TAC_API tac_result tac_solids_parse(const char *text, tac_solids *out_solids);

#define TAC_SOLIDS_MESSAGE 256

// The same without a log line: on failure out_message is "expected …, found …".
// Thread: any.
tac_result tac_solids_decode(const char *text, tac_solids *out_solids, char out_message[TAC_SOLIDS_MESSAGE]);

// Builds a closed mesh of the solids: one surface per solid, named after its kind, with the vertices on the
// solid and `segments` >= 3 around the axis. The caller owns *out_mesh; it is NULL on failure.
// Thread: setup.
TAC_API tac_result tac_solids_build_mesh(const tac_solids *solids, int32_t segments, tac_mesh **out_mesh);

#ifdef __cplusplus
}
#endif

#endif
