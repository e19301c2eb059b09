// The inside of a body (collision/body.h): its triangles, in the order of the tree's leaves, and the tree. A
// node has up to eight children, which a query tests at once.
#ifndef TAC_COLLISION_CONTINUOUS_BODY_TREE_H
#define TAC_COLLISION_CONTINUOUS_BODY_TREE_H

#include "base/algebra.h"
#include "collision/body.h"
#include "collision/geometry/sphere_faces.h"

#ifdef __cplusplus
extern "C" {
#endif

// With all that a contact query asks about it, in two lines of the cache.
typedef struct tac_body_triangle {
	_Alignas(64) tac_vec3 vertex[3];
	tac_vec3 unit;    // `normal` in float
	tac_dvec3 normal; // unit length; zero for a triangle without area
	int32_t id;       // in the mesh, as those of its vertices and edges
	int32_t vertex_id[3], edge_id[3];
	uint8_t vertices; // bit k: vertex k is examined at this triangle
	uint8_t edges;    // bit k: edge k is examined at this triangle
} tac_body_triangle;

// A face is a triangle, or two that make a convex quadrilateral of a flat face.
#define TAC_FACE_VERTICES 4

// A face as the queries of pairs take it, in one line of the cache. Edge k leads from vertex k to the next
// one. A second triangle joins the first one's last edge; without one, `fourth` is the first vertex again.
typedef struct tac_body_face {
	_Alignas(64) tac_vec3 vertex[3];
	tac_vec3 unit; // normal
	tac_vec3 fourth;
	uint8_t vertices, edges; // bit k: vertex or edge k is examined at this face
	uint8_t joint[2];        // the place of the common edge in both triangles; 2 in a single one
} tac_body_face;

// The lines along the edges of a face, in its plane: in direction outward[k], of unit length or zero, no
// vertex of the face is beyond offset[k], apart from rounding.
typedef struct tac_body_outline {
	_Alignas(64) float offset[TAC_FACE_VERTICES]; // m
	tac_vec3 outward[TAC_FACE_VERTICES];
} tac_body_outline;

#define TAC_BODY_WIDTH 8
// The most levels of nodes: from the eighth level on, each child has an eighth of at most 2^30 triangles.
#define TAC_BODY_LEVELS 20

// The bounds of up to eight children, lane by lane. Boxes are rounded outwards; lanes without a child have
// boxes that meet nothing. The slab bounds a child's triangles along their mean normal: from slab_offset -
// slab_half to slab_offset + slab_half, and within slab_radius across it, all relative to the box centre.
// Surfaces that nearly touch are nearly parallel, and there slabs separate what boxes do not. Across the
// normal, the triangles are also within side_radius of a segment along `along`, from -along_half to
// along_half: the faces of a prism are long and narrow.
typedef struct tac_body_node {
	float centre[3][TAC_BODY_WIDTH], half[3][TAC_BODY_WIDTH];
	float slab_normal[3][TAC_BODY_WIDTH];
	float slab_offset[TAC_BODY_WIDTH], slab_half[TAC_BODY_WIDTH], slab_radius[TAC_BODY_WIDTH];
	float along[3][TAC_BODY_WIDTH], along_half[TAC_BODY_WIDTH], side_radius[TAC_BODY_WIDTH];
	float ball_radius[TAC_BODY_WIDTH]; // the largest distance from the box centre
	// The vertices of a child that is a leaf, relative to the box centre, by vertex and coordinate. Those
	// of a triangle begin anew with the fourth.
	float vertex[TAC_FACE_VERTICES][3][TAC_BODY_WIDTH];
	int32_t child[TAC_BODY_WIDTH];  // a node; ~t: triangle t, or the face of which it is the first one
	int32_t sphere[TAC_BODY_WIDTH]; // the sphere face that has all of its triangles, plus 1; 0: none
} tac_body_node;

struct tac_body {
	const tac_mesh *mesh;
	struct tac_flat *flat;     // the flat faces triangulated anew, which has `mesh`; NULL: none
	struct tac_detail *detail; // the curved surfaces simplified, which has `mesh`; NULL: not
	tac_sphere_faces *spheres; // of `mesh`; NULL: none
	double tolerance;          // how far `mesh` is from that of the def, m
	tac_body_triangle *triangles;
	tac_body_node *nodes;
	// The tree for queries of pairs: `nodes`, or, for a body with long edges in one direction, a second
	// one in a frame of its own. `frame` maps that frame to the mesh's.
	tac_body_node *pair_nodes;
	tac_dmat3 frame;
	// The faces, each at the place of its first triangle in `triangles`; they are the leaves of the tree
	// of pairs. `partners` has the other triangle of each one's face; -1: none. NULL: no face has two.
	tac_body_face *faces;
	tac_body_outline *outlines; // of the faces
	int32_t *partners;
	double bulge;             // how far a fourth vertex is from the plane of its face's first triangle, m
	tac_vec3 centre;          // of the mesh's box
	int32_t simd;             // the variant of the kernels, a tac_simd
	uint8_t *edge_kinds;      // a tac_body_edge for each edge of the mesh
	uint8_t *vertex_collides; // for each vertex: whether it has an edge that may touch
	int32_t *vertex_first;    // the neighbours of vertex v are vertex_neighbour[vertex_first[v]]
	int32_t *vertex_neighbour; // up to vertex_neighbour[vertex_first[v + 1] - 1]: vertex indices
	double radius;             // the largest distance of a vertex of the def's mesh from its origin, m
	double centre_radius;      // from `centre`, m
	bool solid;
	// It has faces of two triangles, or triangles much longer than wide: nodes are bounded along their
	// length, too.
	bool narrow;
	struct tac_bsp *bsp; // NULL unless the def requested it
};

// The vertices in double precision.
static inline void tac_body_triangle_load(const tac_body_triangle *triangle, tac_dvec3 out_vertices[3])
{
	for (int k = 0; k < 3; k++)
		out_vertices[k] = tac_dvec3_from_vec3(triangle->vertex[k]);
}

// The triangles of a face: the first one, and the second one if there is one. Returns how many.
static inline int tac_body_face_triangles(const tac_body *body, int32_t face, int32_t out_triangles[2])
{
	out_triangles[0] = face;
	out_triangles[1] = body->partners ? body->partners[face] : -1;
	return out_triangles[1] >= 0 ? 2 : 1;
}

#ifdef __cplusplus
}
#endif

#endif
