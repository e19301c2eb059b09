// Mesh PLY: checks that a PLY file contains everything its header declares. assimp 5.2 does not check: a
// header without an end hangs it, and a truncated body makes it read beyond its buffer or repeat the last
// line. Format: G. Turk, "The PLY Polygon File Format", 1994.
#ifndef TAC_COLLISION_IMPORT_MESH_PLY_H
#define TAC_COLLISION_IMPORT_MESH_PLY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns NULL if the `size` bytes are a complete PLY file or not PLY at all, otherwise a constant string
// with the defect. Reads every byte at most twice. Thread: any.
const char *tac_mesh_ply_check(const char *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
