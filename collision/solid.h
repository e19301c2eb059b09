// Shape: solids of revolution as tools and scene objects, alone or several rigidly together: a probe is a
// sphere, a finger a capsule, a drill a cylinder with a cone. The engine `solid` answers for them behind the
// collider interface by the tests of collision/primitives.h, which know the round solid itself and not a mesh
// of it. A solid is filled, a mesh is its surface: a solid wholly inside a closed mesh touches nothing.
//
// solid against mesh: the mesh's R-tree, then the test of the solid and each triangle; spheres and capsules
// eight triangles at once in single precision, in double where that does not decide (collision/round8.h).
// solid against solid: directly where there is a test (spheres, capsules and cylinders with spheres, two
// capsules); else the moving one against a fine mesh of the fixed one, which lies inside of it by at most
// 1e-3 of its radius. mesh against mesh: the same trees with exact triangle tests.
#ifndef TAC_COLLISION_SHAPE_H
#define TAC_COLLISION_SHAPE_H

#include "base/simd.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tac_solid_kind {
	TAC_SOLID_SPHERE,
	TAC_SOLID_CAPSULE,  // a cylinder of `height` between two half spheres
	TAC_SOLID_CYLINDER, // likewise without them
	TAC_SOLID_CONE,     // `radius` at -height / 2, `top` at height / 2
	TAC_SOLID_TOROID,   // collision/primitives.h: `radius` is the major one
} tac_solid_kind;

// Lengths of solids, in m. The radius must also be at least TAC_SOLID_REACH of the largest coordinate of the
// centre, or single precision would lose the mesh.
#define TAC_SOLID_SMALLEST 1e-9
#define TAC_SOLID_LARGEST  1e9
#define TAC_SOLID_REACH    1e-5

// A solid with its axis along z of its own frame and its centre at the origin. Metres.
typedef struct tac_solid {
	tac_solid_kind kind;
	double radius, top, height;
	double minor, z_min, z_max; // toroid
	bool concave;               // toroid
	tac_dmat3 rotation;         // of its frame in the shape's
	tac_dvec3 position;
} tac_solid;

#define TAC_SOLIDS_MAX 16

// Several solids in one frame.
typedef struct tac_solids {
	tac_solid solid[TAC_SOLIDS_MAX];
	int32_t count;
} tac_solids;

// Whether `text` is meant as solids rather than a file: it begins with the name of a kind and a colon.
// Thread: any.
bool tac_shape_is_solids(const char *text);

// Reads solids from a text: KIND:NAME=NUMBER,… and, joined by +, more of them.
//
//   sphere:r=0.01              capsule:r=0.01,h=0.1       cylinder:r=0.01,h=0.1
//   cone:rb=0.01,rt=0,h=0.03   toroid:R=0.02,r=0.01,z0=-0.005,z1=0.005[,concave]
//
// Each may have x=, y=, z= (its centre) and axis=x or axis=y (default z). A toroid's z0 and z1 default to -r
// and r. Lengths are metres, within the bounds above; a cone may have one radius 0. A number is decimal and
// may have an exponent, but no + in it. TAC_ERROR_FORMAT with one line that says what was expected and what
// was found. Thread: setup.
tac_result tac_shape_parse(const char *text, tac_solids *out_solids);

// A closed mesh of the solids, one surface each, named after its kind, with its vertices on the solids.
// `segments` >= 3 around. The caller owns *out_mesh. Thread: setup.
tac_result tac_solids_mesh(const tac_solids *solids, int32_t segments, tac_mesh **out_mesh);

// The engine `solid`. It builds shapes of meshes as every engine does, and shapes of solids by the function
// below. In an answer a solid is its surface in mode surfaces, and the first triangle of that surface in the
// other modes. Thread: setup.
const tac_collider *tac_solid_collider(void);

// The engine with one SIMD variant (which tac_simd_supported must allow): for tests and benches. Shapes of
// either function serve both. Thread: setup.
const tac_collider *tac_solid_collider_of(tac_simd simd);

// The shape of solids for the engine of tac_solid_collider at the time, with a mesh of its own. The caller
// owns *out_shape. TAC_ERROR_ARGUMENT where a solid is too small, or too far from the origin, to have a mesh
// in single precision. Thread: setup.
tac_result tac_shape_build_solids(const tac_solids *solids, tac_shape **out_shape);

#ifdef __cplusplus
}
#endif

#endif
