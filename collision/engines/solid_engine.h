// The engine `solid`: round solids and meshes behind the collider interface. It tests the round solid itself,
// not a mesh of it, with the tests of collision/geometry/primitives.h.
//
// Solid against mesh: the mesh's R-tree, then a test of the solid with each triangle. Spheres and capsules
// are tested with eight triangles at a time in single precision, and in double precision where that leaves a
// triangle undecided (collision/engines/round8.h).
// Solid against solid: a direct test where there is one (two spheres or capsules, a sphere and a cylinder).
// Otherwise the moving solid is tested against a fine mesh of the fixed one, which lies inside it by at most
// 1e-3 of its radius.
// Mesh against mesh: the same trees with exact triangle tests.
#ifndef TAC_COLLISION_ENGINES_SOLID_ENGINE_H
#define TAC_COLLISION_ENGINES_SOLID_ENGINE_H

#include "base/simd.h"
#include "collision/collider.h"

#ifdef __cplusplus
extern "C" {
#endif

// The engine with the SIMD variant of tac_simd_select. In mode surfaces an answer names a solid by its
// surface, in the other modes by the first triangle of that surface. Thread: setup.
const tac_collider *tac_solid_collider(void);

// The same engine with the given variant, which tac_simd_supported must allow; for tests and benches. All
// variants accept each other's shapes. Thread: setup.
const tac_collider *tac_solid_collider_of(tac_simd simd);

#ifdef __cplusplus
}
#endif

#endif
