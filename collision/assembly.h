// Assemblies: generated machines of several parts, each with a path along which it comes into its place, for
// the tests and tables of the surface detector. They stand for the models of its paper (M. Figueiredo,
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
	tac_dvec3 place;  // of its frame in the assembly, where it ends
	tac_dvec3 from;   // where it starts, relative to that
	tac_dvec3 axis;   // unit; it turns about it on the way …
	double angle_rad; // … by so much at the start, and by nothing at the end
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

// The caller owns the meshes until fini. TAC_ERROR_MEMORY, with a message; nothing needs fini then.
// Thread: setup.
tac_result tac_assembly_build(tac_assembly_kind kind, tac_assembly *out_assembly);

// A variation of it: every solid that the parts are made of is moved at random, by up to a tenth of its size
// along each axis, and so are the paths. Seed 0: the assembly itself. Thread: setup.
tac_result tac_assembly_build_varied(tac_assembly_kind kind, uint64_t seed, tac_assembly *out_assembly);

// Thread: setup.
void tac_assembly_fini(tac_assembly *assembly);

// Where part `part` is, as a map of its frame to the assembly's, at `progress` 0 (start) … 1 (in place).
// Thread: RT.
void tac_assembly_pose(const tac_assembly *assembly, int32_t part, double progress, tac_dmat3 *out_rotation,
		       tac_dvec3 *out_translation);

// Part `moving` at `progress` of its path, seen from part `fixed` in its place.
// Thread: RT.
void tac_assembly_relative(const tac_assembly *assembly, int32_t fixed, int32_t moving, double progress,
			   tac_dmat3 *out_rotation, tac_dvec3 *out_translation);

#ifdef __cplusplus
}
#endif

#endif
