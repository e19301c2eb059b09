// Mesh PLY: whether a PLY file holds all that its header promises. assimp 5.2 does not ask: a header without
// an end hangs it, a body that is cut short makes it read beyond its buffer or repeat the last line. The
// format: G. Turk, "The PLY Polygon File Format", 1994.
#ifndef TAC_COLLISION_MESH_PLY_H
#define TAC_COLLISION_MESH_PLY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// NULL when the `size` bytes are not PLY (nothing to say) or are a complete PLY file; else what is wrong with
// it, a constant. Reads every byte at most twice. Thread: any.
const char *tac_mesh_ply_check(const char *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
