// Mesh load: triangle meshes from files, in every format that assimp reads (OBJ, STL, PLY, OFF, glTF, GLB,
// 3MF, Collada, FBX and some forty more). Units are metres; nothing is scaled. Transforms of the nodes are
// applied, all meshes of a file are joined, polygons are cut into triangles, points and lines are left out.
// Numbers in text formats are read to within one unit in the last place of a float.
//
// The file is parsed in another process, `tactus-import`, the only part of Tactus that links assimp: parsers
// of fifty formats have bugs, and a file that crashes, hangs or exhausts them must not end a runtime that
// holds a device. The process is spawned, not forked: a fork copies the page tables of a runtime whose memory
// is locked, and every page it touches afterwards faults (with 2 GiB locked: spawn 0.4 ms, fork 70 ms, and
// touching the pages again 1 s instead of 0.02 s). It runs at ordinary priority, with none of the caller's
// descriptors, under limits of memory and time, dies with its parent, and answers through a memory file
// (collision/mesh_record.h) of which nothing is believed unchecked.
#ifndef TAC_COLLISION_MESH_LOAD_H
#define TAC_COLLISION_MESH_LOAD_H

#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_mesh_load_def {
	// The program to import with. NULL: the environment's TACTUS_IMPORTER; else the first that exists of
	// tactus-import next to the running executable, ../libexec/tactus/tactus-import and
	// ../collision/tactus-import from there, and the place where Tactus was installed.
	const char *importer;
	uint64_t memory_limit_bytes; // address space of the importer, also the largest answer; default 4 GiB
	// Of wall-clock and, rounded up, of CPU time. 0, the default: 10 s and another second for every MiB
	// of the file, some 15 times what large files of the common formats take.
	double time_limit_s;
	double crease_angle_rad; // used when the file does not divide itself into surfaces; default 30
				 // degrees
} tac_mesh_load_def;

// Thread: any.
tac_mesh_load_def tac_mesh_load_def_default(void);

// Loads the mesh in the file `path`. If the file has two or more parts (OBJ groups and materials, glTF
// primitives, STL solids, instances of a mesh in the scene), each is a surface with its name; else surfaces
// are found by the crease angle. `def` may be NULL: the defaults. On success the caller owns *out_mesh.
//
// Fails with one log line: TAC_ERROR_IO (missing, unreadable, not a file, empty, or the importer refused,
// crashed or ran out of its limits), TAC_ERROR_FORMAT (no triangles, NaN, infinite coordinates, or an
// importer that lies), TAC_ERROR_UNSUPPORTED (no importer installed), TAC_ERROR_SYSTEM, TAC_ERROR_MEMORY.
// Thread: setup. Several threads may load at once.
tac_result tac_mesh_load(const char *path, const tac_mesh_load_def *def, tac_mesh **out_mesh);

#ifdef __cplusplus
}
#endif

#endif
