// Body of continuous collision: a mesh prepared for queries in motion. It knows which edges and vertices
// cannot be the first to touch, which triangle stands for each shared vertex and edge (so that a query
// examines each feature once, without marks: S. Curtis, R. Tamstorf, D. Manocha, "Fast collision detection
// for deformable models using representative-triangles", 2008), and it holds a tree of boxes over its
// triangles. Read-only once built, shared by any number of threads.
#ifndef TAC_COLLISION_CCD_BODY_H
#define TAC_COLLISION_CCD_BODY_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/mesh.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Two faces whose planes differ by less than this sine are one flat face: their edge is no feature.
#define TAC_CCD_FLAT 1e-9

typedef enum tac_ccd_edge {
	TAC_CCD_EDGE_CONVEX, // also open, non-manifold and inconsistently oriented ones: they may touch
			     // anything
	TAC_CCD_EDGE_FLAT,
	TAC_CCD_EDGE_CONCAVE,
} tac_ccd_edge;

// A triangle as the queries read it, in the order of the tree's leaves.
typedef struct tac_ccd_triangle {
	tac_vec3 vertex[3];
	tac_vec3 unit;    // the normal rounded
	tac_dvec3 normal; // unit; zero when the triangle has no area
	int32_t id;       // in the mesh
	uint8_t vertices; // bit k: this triangle stands for its vertex k
	uint8_t edges;    // bit k: this triangle stands for its edge k
} tac_ccd_triangle;

#define TAC_CCD_WIDTH 8
// Levels of nodes, at most: from the eighth on each child has an eighth of the triangles, of at most 2^30.
#define TAC_CCD_LEVELS 20

// A node of the tree: the boxes of up to eight children side by side, rounded outwards. Lanes without a child
// have boxes that meet nothing. Beside its box a child has a slab: along the mean normal of its triangles it
// reaches from offset - thick to offset + thick, across it no further than `wide`, both seen from the centre
// of the box. Surfaces that nearly touch are nearly parallel, and there slabs part what boxes do not.
typedef struct tac_ccd_node {
	float center[3][TAC_CCD_WIDTH], half[3][TAC_CCD_WIDTH];
	float normal[3][TAC_CCD_WIDTH];
	float offset[TAC_CCD_WIDTH], thick[TAC_CCD_WIDTH], wide[TAC_CCD_WIDTH];
	float ball[TAC_CCD_WIDTH];    // the largest distance from the centre of the box
	int32_t child[TAC_CCD_WIDTH]; // a node, or ~t: the triangle t
} tac_ccd_node;

typedef struct tac_ccd_body {
	const tac_mesh *mesh; // the caller's; outlives the body
	tac_ccd_triangle *triangles;
	tac_ccd_node *nodes;
	int32_t node_count;
	tac_vec3 center;          // of the box of the whole
	int32_t simd;             // the variant that descends it, a tac_simd
	uint8_t *edge_kinds;      // a tac_ccd_edge for each edge of the mesh
	uint8_t *vertex_collides; // for each vertex: has an edge that may touch
	int32_t *vertex_first; // vertex v's neighbours are vertex_neighbour[vertex_first[v] …[v + 1] - 1]
	int32_t *vertex_neighbour; // vertex indices
	double radius;             // of the smallest ball about the mesh's origin that holds it, m
	double ball;               // of the same about `center`, m
	bool solid;
	struct tac_bsp *bsp; // NULL unless asked for
} tac_ccd_body;

typedef struct tac_ccd_body_def {
	const tac_mesh *mesh;
	// The caller's promise that nothing starts inside the mesh, which must be watertight: then concave
	// edges are never the first to touch and back faces may be culled. Default: false, every face has two
	// sides.
	bool solid;
	// Examine features at every triangle that has them, and internal ones too. The results are the same;
	// for tests. Default: false.
	bool repeat_features;
	bool keep_internal;
	bool bsp; // build the partition of collision/bsp.h, too. Default: false
} tac_ccd_body_def;

// A def without a mesh. Thread: any.
tac_ccd_body_def tac_ccd_body_def_default(void);

// Builds a body; the caller owns *out_body, NULL on failure. TAC_ERROR_ARGUMENT with one log line for a mesh
// without triangles, or a solid that is not watertight.
// Thread: setup.
tac_result tac_ccd_body_build(const tac_ccd_body_def *def, tac_ccd_body **out_body);

// Frees *body and nulls the pointer; NULL is allowed.
// Thread: setup.
void tac_ccd_body_destroy(tac_ccd_body **body);

#ifdef __cplusplus
}
#endif

#endif
