// Mesh shapes: generated meshes of any resolution for scenes, tests and benchmarks. All but the grid are
// closed, consistently oriented, centred at the origin and have named surfaces. Lengths are metres; the axis
// of revolution is z. Counts below their minimum, lengths that are not positive and finite, and parameters
// that would make the shape intersect itself fail with TAC_ERROR_ARGUMENT and one log line. The caller owns
// *out_mesh; it is NULL on failure.
//
// Thread: setup, every function.
#ifndef TAC_COLLISION_MESH_SHAPES_H
#define TAC_COLLISION_MESH_SHAPES_H

#include "base/api.h"
#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

// A box with the edge lengths `size`, each face a grid of segments x segments rectangles (12 segments^2
// triangles). Surfaces: -x +x -y +y -z +z. segments >= 1.
TAC_API tac_result tac_mesh_build_box(tac_vec3 size, int32_t segments, tac_mesh **out_mesh);

// A sphere from an icosahedron whose edges are divided into 2^subdivisions, with its vertices on the sphere
// (20 * 4^subdivisions triangles of nearly equal size). One surface: sphere. 0 <= subdivisions <= 9.
TAC_API tac_result tac_mesh_build_icosphere(float radius, int32_t subdivisions, tac_mesh **out_mesh);

// A sphere of meridians and parallels: `segments` around, `rings` bands from pole to pole. One surface:
// sphere. segments >= 3, rings >= 2.
TAC_API tac_result tac_mesh_build_uv_sphere(float radius, int32_t segments, int32_t rings,
					    tac_mesh **out_mesh);

// A torus: `segments` around the axis, `sides` around the tube. One surface: torus. minor_radius <
// major_radius, both counts >= 3.
TAC_API tac_result tac_mesh_build_torus(float major_radius, float minor_radius, int32_t segments,
					int32_t sides, tac_mesh **out_mesh);

// A flat rectangle in the plane z = 0, normal +z, divided into nx x ny rectangles. It is open. One surface:
// grid. Counts >= 1.
TAC_API tac_result tac_mesh_build_grid(float size_x, float size_y, int32_t nx, int32_t ny,
				       tac_mesh **out_mesh);

// A cylinder with `side_rings` bands on its side. Surfaces: bottom, side, top. segments >= 3, side_rings >=
// 1.
TAC_API tac_result tac_mesh_build_cylinder(float radius, float height, int32_t segments, int32_t side_rings,
					   tac_mesh **out_mesh);

// A cone, base at -height/2, tip at +height/2. Surfaces: bottom, side. segments >= 3, side_rings >= 1.
TAC_API tac_result tac_mesh_build_cone(float radius, float height, int32_t segments, int32_t side_rings,
				       tac_mesh **out_mesh);

// A capsule: a cylinder of the given height between two half spheres of cap_rings bands each. Surfaces:
// bottom, side, top. segments >= 3, cap_rings >= 1.
TAC_API tac_result tac_mesh_build_capsule(float radius, float height, int32_t segments, int32_t cap_rings,
					  tac_mesh **out_mesh);

// A fin filter: square plates on a square spine along z. A hard case for bounding volumes, because nearly
// every box around a part of it is mostly empty.
typedef struct tac_mesh_filter_def {
	int32_t plates;          // >= 1
	float plate_size;        // edge length of the square plates
	float plate_thickness;   // along z
	float gap;               // between two plates, and from the outer plates to the ends of the spine
	float spine_size;        // edge length of the spine's square section, < plate_size
	int32_t side_segments;   // segments on each side of every square, >= 1
	int32_t radial_segments; // square rings on each face of a plate, >= 1
} tac_mesh_filter_def;

// 34 plates, 19,152 triangles, bounding box 0.65 x 0.65 x 0.35 m.
TAC_API tac_mesh_filter_def tac_mesh_filter_def_default(void);

// Surfaces: spine, then plate 0 … plate n-1.
TAC_API tac_result tac_mesh_build_filter(const tac_mesh_filter_def *def, tac_mesh **out_mesh);

// A peg (a cylinder with a chamfer at its lower end) and the block with a through hole that it fits into: the
// classical peg-in-hole task. Both are centred at the origin, with the axis along z.
typedef struct tac_mesh_peg_def {
	float peg_radius;
	float peg_length;
	float chamfer; // height and width of the chamfer; 0: none; < peg_radius and < peg_length
	// Radius of the hole minus radius of the peg. The hole's polygon is circumscribed about its circle
	// and the peg's is inscribed in its own, so the gap is never smaller.
	float clearance;
	float block_size;   // edge length of the block in x and y, more than the hole's diameter
	float block_height; // along z
	int32_t segments;   // around peg and hole: a multiple of 4, >= 8
	int32_t bands;      // along the sides of peg and hole, >= 1
} tac_mesh_peg_def;

// A peg of 10 mm radius and 60 mm length in a block of 50 x 50 x 40 mm, 0.1 mm clearance, 64 segments.
TAC_API tac_mesh_peg_def tac_mesh_peg_def_default(void);

// Surfaces: bottom, chamfer (if any), side, top.
TAC_API tac_result tac_mesh_build_peg(const tac_mesh_peg_def *def, tac_mesh **out_mesh);

// Surfaces: outside, top, hole, bottom.
TAC_API tac_result tac_mesh_build_block(const tac_mesh_peg_def *def, tac_mesh **out_mesh);

#ifdef __cplusplus
}
#endif

#endif
