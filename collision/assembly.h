// Assemblies: generated machines of several parts, each with a path along which it is assembled, for the
// tests and tables of surface collision detection. They replace the models of its paper (M. Figueiredo,
// "Surface collision detection for virtual prototyping", Table 1), which are not public, with the same number
// of parts and surfaces and nearly the same number of triangles: a digger (5 parts, 109 surfaces, about 2,450
// triangles), a control box (25, 1,250, about 25,500) and a process plant (8, 1,073, about 24,400).
#ifndef TAC_COLLISION_ASSEMBLY_H
#define TAC_COLLISION_ASSEMBLY_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_ASSEMBLY_PARTS 25

typedef struct tac_assembly_part {
	tac_mesh *mesh;
	tac_dvec3 position;     // of its frame in the assembly at the end of its path, m
	tac_dvec3 start_offset; // of the start of its path from that position, m
	tac_dvec3 axis;         // unit; the part rotates about it along the path …
	double angle_rad;       // … from this angle at the start to 0 at the end
} tac_assembly_part;

typedef struct tac_assembly {
	const char *name; // digger, box, plant
	tac_assembly_part parts[TAC_ASSEMBLY_PARTS];
	int32_t part_count;
	int32_t surface_count, triangle_count; // of all parts
} tac_assembly;

typedef enum tac_assembly_kind {
	TAC_ASSEMBLY_DIGGER,
	TAC_ASSEMBLY_BOX,
	TAC_ASSEMBLY_PLANT,
	TAC_ASSEMBLY_KINDS,
} tac_assembly_kind;

// Builds the meshes, which *out_assembly owns until tac_assembly_fini. Fails with TAC_ERROR_MEMORY and a
// message; then *out_assembly is empty.
// Thread: setup.
tac_result tac_assembly_build(tac_assembly_kind kind, tac_assembly *out_assembly);

// Builds a random variation: every solid that the parts are made of moves by up to a tenth of its size along
// each axis, and the paths vary by as much. Seed 0 gives the assembly itself.
// Thread: setup.
tac_result tac_assembly_build_varied(tac_assembly_kind kind, uint64_t seed, tac_assembly *out_assembly);

// Frees the meshes and empties the assembly.
// Thread: setup.
void tac_assembly_fini(tac_assembly *assembly);

// The transform from part `part`'s frame to the assembly's at `progress` 0 (start) to 1 (assembled).
// Thread: RT.
void tac_assembly_pose(const tac_assembly *assembly, int32_t part, double progress, tac_dmat3 *out_rotation,
		       tac_dvec3 *out_translation);

// The transform from part `moving`'s frame, at `progress` of its path, to that of the assembled part `fixed`.
// Thread: RT.
void tac_assembly_relative(const tac_assembly *assembly, int32_t fixed, int32_t moving, double progress,
			   tac_dmat3 *out_rotation, tac_dvec3 *out_translation);

#ifdef __cplusplus
}
#endif

#endif
