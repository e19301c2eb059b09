// DOP tree: a binary tree of 24-DOPs over the triangles of a mesh, in the memory layout of the CollisionChip
// (SPEC.md A.3): nodes of 128 bytes, siblings side by side on a 256-byte boundary, the root first with an
// empty sibling. Addresses in nodes are byte offsets from the root. Layout R keeps the DOP of a leaf and
// points to a triangle record behind the nodes; layout P, the paper's, stores the triangle in place of the
// DOP.
#ifndef TAC_COLLISION_DOPTREE_H
#define TAC_COLLISION_DOPTREE_H

#include "collision/dop.h"
#include "collision/tritri.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_DOPTREE_NODE_BYTES 128

typedef enum tac_doptree_layout {
	TAC_DOPTREE_R,
	TAC_DOPTREE_P,
} tac_doptree_layout;

typedef enum tac_doptree_type {
	TAC_DOPTREE_INNER = 0,
	TAC_DOPTREE_LEAF = 1,
	TAC_DOPTREE_EMPTY = 2, // overlaps nothing
} tac_doptree_type;

// A triangle and its map to the unit triangle.
typedef struct tac_doptree_triangle {
	tac_tri32 vertices;
	tac_unitmap map;
	float zero[3];
} tac_doptree_triangle;

typedef struct tac_doptree_node {
	union {
		tac_dop dop;
		tac_doptree_triangle triangle; // of a triangle record, and of a leaf in layout P
	};
	uint32_t type;
	uint32_t link;  // inner: address of the child pair; leaf R: of the triangle record; leaf P, record:
			// triangle
	uint32_t owner; // inner, leaf R: address of the parent; leaf P, record: surface
	uint32_t reserved[5];
} tac_doptree_node;

typedef struct tac_doptree {
	tac_doptree_node *nodes; // 256-byte aligned; nodes, then the triangle records of layout R
	int32_t node_count;      // even
	int32_t record_count;
	int32_t depth;   // edges from the root to the deepest leaf
	uint32_t layout; // tac_doptree_layout
	float extent;    // largest |d| of the root
} tac_doptree;

// Builds the tree of a mesh with at least one triangle; binned surface-area heuristic. The caller owns
// *out_tree. Refuses meshes of more than 11 million triangles: their addresses would not fit 32 bits.
// Thread: setup.
tac_result tac_doptree_build(const tac_mesh *mesh, tac_doptree_layout layout, tac_doptree **out_tree);

// Thread: setup.
void tac_doptree_destroy(tac_doptree **tree);

// Writes the tree to a file: a header with magic, version, byte order, sizes, a checksum of the mesh that it
// was built from and one of the bytes, then the nodes as they are. Thread: setup.
tac_result tac_doptree_save(const tac_doptree *tree, const tac_mesh *mesh, const char *path);

// Reads a tree back. A file that is missing, of another version, of another mesh, cut short or damaged in any
// bit answers TAC_ERROR_FORMAT or TAC_ERROR_IO with one log line.
// Thread: setup.
tac_result tac_doptree_load(const tac_mesh *mesh, const char *path, tac_doptree **out_tree);

// Loads `path`, or builds the tree and writes it there, with one log line that says so.
// Thread: setup.
tac_result tac_doptree_load_or_build(const tac_mesh *mesh, const char *path, tac_doptree **out_tree);

#ifdef __cplusplus
}
#endif

#endif
