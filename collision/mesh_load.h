// Mesh load: triangle meshes from files, in every format that assimp reads (OBJ, STL, PLY, OFF, glTF, GLB,
// 3MF, Collada, FBX and some forty more). Units are metres; nothing is scaled. Node transforms are applied,
// all meshes of a file are joined, polygons are triangulated, points and lines are skipped. Numbers in text
// formats are read to within one unit in the last place of a float.
//
// The file is parsed in another process, `tactus-import`, the only program of Tactus that links assimp:
// parsers of fifty formats have bugs, and a file that crashes, hangs or exhausts them must not end a runtime
// that holds a device. The process is spawned, not forked: a fork copies the page tables of a runtime whose
// memory is locked, and every page that the runtime touches afterwards faults (with 2 GiB locked: spawn
// 0.4 ms, fork 70 ms, and touching the pages again 1 s instead of 0.02 s). The importer is confined
// (docs/safety.md): it reads the mesh's folder and nothing else, writes its result to a memory file
// (collision/import/mesh_record.h), which is fully validated, and can do nothing besides. A file that refers
// to files outside of its folder is refused.
#ifndef TAC_COLLISION_MESH_LOAD_H
#define TAC_COLLISION_MESH_LOAD_H

#include "base/api.h"
#include "collision/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_mesh_load_def {
	// The importer program. NULL: the environment variable TACTUS_IMPORTER or, if that is unset, the
	// first that exists of tactus-import, ../libexec/tactus/tactus-import and
	// ../../libexec/tactus/tactus-import from the folder of libtactus.so or the program, in the folders
	// of base/search_path.h, and the installed one. Files that other users can change are refused; a
	// privileged process uses the installed one (base/helper.h).
	const char *importer;
	// Address space of the importer, also the largest file and the largest result; default 4 GiB.
	uint64_t memory_limit_bytes;
	// Limit of wall-clock time and, rounded up, of CPU time. 0, the default: 10 s plus 1 s for every MiB
	// of the file, some 15 times what large files of the common formats take, and at most 300 s.
	double time_limit_s;
	double crease_angle_rad; // used if the file has fewer than two parts; default 30 degrees
} tac_mesh_load_def;

// The defaults stated above.
// Thread: any.
TAC_API tac_mesh_load_def tac_mesh_load_def_default(void);

// Loads the mesh in the file `path`. If the file has two or more parts (OBJ groups and materials, glTF
// primitives, STL solids, instances of a mesh in the scene), each becomes a named surface; otherwise the
// crease angle determines the surfaces. `def` may be NULL for the defaults. On success the caller owns
// *out_mesh.
//
// Fails with one log line: TAC_ERROR_IO (missing, unreadable, not a file, empty, or the importer refused,
// crashed or exceeded its limits), TAC_ERROR_FORMAT (no triangles, coordinates that are NaN or infinite, or
// an invalid record from the importer), TAC_ERROR_UNSUPPORTED (no importer installed), TAC_ERROR_SYSTEM,
// TAC_ERROR_MEMORY.
// Thread: setup. Several threads may load at once.
TAC_API tac_result tac_mesh_load(const char *path, const tac_mesh_load_def *def, tac_mesh **out_mesh);

// Writes one line that says how the importer of this process's last tac_mesh_load was confined: what the
// kernel granted and what it lacks.
// Thread: any but RT.
TAC_API void tac_mesh_load_confinement(char *out_text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
