// Compliance: what an elastic body does under forces on its surface, as the tick reads it. A body has n nodes
// on its touched surface. C_ij, a 3 x 3 block in m/N, is the displacement of node i under a force on node j:
// u_i = sum over j of C_ij f_j. C is symmetric, C_ij = C_ji^T, and positive definite. It comes from linear
// elasticity (tissue/elastic.h) or from a closed form.
//
// Forces act at points, on three levels. A point of level 0 is a node. Levels 1 and 2 have about two and four
// times the spacing: a force on such a point is spread over the nodes around it, and its displacement is the
// mean of theirs with the same weights. So a block between any two points is again symmetric and positive
// definite, and loads that are proportional to the areas of the points of one level are a uniform pressure on
// the nodes. A wide dent has as few points on a coarse level as a narrow one on a fine level, and keeps its
// force.
//
// The blocks are kept by clusters of neighbouring points. Between two clusters that are near each other every
// block is there. Between clusters far from each other displacements are smooth, so that a few vectors for
// each cluster hold them: C_ij = U_i S U_j^T with the rows U_i (3 x TAC_COMPLIANCE_RANK) of the clusters'
// bases and a matrix S for the two clusters (uniform hierarchical matrices: W. Hackbusch 1999). Clusters are
// far if, and only if, the error of every block between them was found to be small.
//
// A compliance is read-only once created or opened; any number of threads may read it at once. All of it is
// one contiguous image, in memory or mapped from a file, which holds the same bytes. Source of the method:
// D. James, D. Pai, "A unified treatment of elastostatic contact simulation for real time haptics", 2001.
#ifndef TAC_TISSUE_COMPLIANCE_H
#define TAC_TISSUE_COMPLIANCE_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/mesh.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_COMPLIANCE_LEVELS 3
// The most nodes of a body.
#define TAC_COMPLIANCE_NODES_MAX 10000
// Bodies with at most so many nodes have all blocks: 31 n^2 bytes, 124 MB. Larger ones have a far basis.
#define TAC_COMPLIANCE_EXACT_NODES 2000
// The error of a block that the far basis gives is about so much of the diagonals of its clusters at most.
#define TAC_COMPLIANCE_FAR_ERROR 1e-3
// The most bytes of all blocks and bases; a body that needs more is refused.
#define TAC_COMPLIANCE_BYTES_MAX (UINT64_C(1) << 30)
// The most vertices of the surface that is shown.
#define TAC_COMPLIANCE_BOUND_MAX 1000000

// What the body is made of, apart from what is inside it.
typedef struct tac_compliance_material {
	double young_Pa;
	double poisson;
	// Creep under a constant force: J(t) / J(0) = 1 + creep (1 - exp(-t / creep_time_s)), the same for
	// the whole body. The blocks are those of J(0). creep = 0: purely elastic.
	double creep;
	double creep_time_s;
} tac_compliance_material;

// A vertex of the surface that is shown, bound to a triangle of vertices of the compliance (below). Its
// displacement is the sum of theirs with these weights, which add up to 1.
typedef struct tac_compliance_binding {
	int32_t vertex[3];
	float weight[3];
} tac_compliance_binding;

#define TAC_COMPLIANCE_RANK    16
#define TAC_COMPLIANCE_CLUSTER 40 // the most points of a cluster

typedef struct tac_compliance_place {
	uint16_t cluster, slot; // of a point: its cluster, and its place there
} tac_compliance_place;

// Everything is in the body's own frame, in metres and newtons. All arrays are part of the image.
typedef struct tac_compliance {
	uint64_t hash; // of what it was computed from
	tac_compliance_material material;

	// The mechanical surface at rest, counter-clockwise seen from outside. Vertices 0 … node_count - 1
	// are the nodes; those from node_count on are fixed and never move.
	int32_t node_count, vertex_count, triangle_count;
	const tac_vec3 *vertices;
	const tac_vec3 *vertex_normals; // outward unit vectors
	const tac_mesh_triangle *triangles;

	// Where forces may act. The points of level k are those from level_start[k] to below
	// level_start[k + 1]; the last entry is the number of all. Point i below node_count is node i.
	int32_t level_start[TAC_COMPLIANCE_LEVELS + 1];
	double spacing_m[TAC_COMPLIANCE_LEVELS]; // the root of the mean area of a point
	const tac_vec3 *points;                  // at rest; each is the place of a node
	const tac_vec3 *point_normals;           // outward unit vectors
	const float *point_area_m2;              // part of the surface; on each level the sum is the same
	const int32_t *point_node;               // the node at its place
	// A force f on point i is the force weight f on the nodes spread_node[k], for k from spread_start[i]
	// to below spread_start[i + 1]. The weights of a point are positive and add up to 1.
	const int32_t *spread_start;
	const int32_t *spread_node;
	const float *spread_weight;

	// The surface that is shown, in the order of its vertices.
	int32_t bound_count;
	const tac_compliance_binding *bound;

	// C between points, m/N. The numbers of two clusters a >= b begin at the unit of 16 floats that
	// pairs[a (a + 1) / 2 + b] tells. If they are near, these are the blocks of the points of a by those
	// of b. If they are far, TAC_COMPLIANCE_FAR is set and these are the rows of S, m/N.
	int32_t cluster_count;
	const int32_t *cluster_size;
	const tac_compliance_place *place;
	const uint32_t *pairs;
	const float *blocks;
	const float *basis; // 3 x TAC_COMPLIANCE_RANK numbers for each point; NULL: no clusters are far
	// The largest error of a number of a far block, over the root of the smallest diagonals of both
	// clusters.
	double far_error;

	bool locked; // its pages are locked in memory
	size_t image_bytes;
	void *image; // private: the memory or the mapping
	int file;    // private: what is mapped, with a shared lock as long as it is; -1: memory
} tac_compliance;

typedef struct tac_compliance_def {
	const char *name; // of the body in messages
	uint64_t hash;
	tac_compliance_material material;
	// As in tac_compliance. A triangle has at least one node.
	int32_t node_count, vertex_count, triangle_count;
	const tac_vec3 *vertices;
	const tac_mesh_triangle *triangles;
	// The vertices of the surface that is shown, m; each is bound to the nearest triangle. May be NULL.
	const tac_vec3 *shown;
	int32_t shown_count;
	// The displacement of node i under a unit force on node j, m/N; asked for i >= j only. It must be
	// positive definite as a whole, which is not checked.
	tac_dmat3 (*block)(const void *user, int32_t i, int32_t j);
	const void *block_user;
	int32_t exact_nodes; // 0: TAC_COMPLIANCE_EXACT_NODES
} tac_compliance_def;

// Makes a compliance from the arrays of `def`, which remain the caller's: normals, areas, levels, bindings
// and the blocks between all points. Fails with one log line: TAC_ERROR_ARGUMENT for counts, indices,
// coordinates, a material or a block out of range, or more than TAC_COMPLIANCE_BYTES_MAX; TAC_ERROR_MEMORY.
// The caller owns *out_compliance; it is NULL on failure. Thread: setup.
tac_result tac_compliance_create(const tac_compliance_def *def, tac_compliance **out_compliance);

// Writes the image to a file, which appears whole or not at all. TAC_ERROR_IO with one log line.
// Thread: setup.
tac_result tac_compliance_write(const tac_compliance *compliance, const char *path);

// Maps a file that tac_compliance_write wrote and tries to lock its pages in memory. The file has a shared
// lock (flock) until the compliance is destroyed. Everything in it is verified: the hash, which must be
// `hash`, the size, a checksum over all bytes, every index and that every number is finite. Fails with one
// log line: TAC_ERROR_IO (missing, unreadable), TAC_ERROR_FORMAT (truncated, corrupt, of another version or
// body), TAC_ERROR_MEMORY. A file that another process changes after it was opened is not noticed;
// tac_compliance_write never changes a file, it replaces it. The caller owns *out_compliance; it is NULL on
// failure. Thread: setup.
tac_result tac_compliance_open(const char *path, uint64_t hash, tac_compliance **out_compliance);

// Frees or unmaps it and nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_compliance_destroy(tac_compliance **compliance);

#define TAC_COMPLIANCE_FAR UINT32_C(0x80000000) // of an entry of `pairs`

// The displacement of point i under a unit force on point j, m/N. Both may be of any level. Bounded: 9
// numbers are read, or 912 multiplications made. Thread: RT.
tac_mat3 tac_compliance_block(const tac_compliance *compliance, int32_t i, int32_t j);

// The blocks of point i and each of `count` points, as tac_compliance_block gives them up to the rounding of
// floats. Far blocks take half the time if the points lie in few clusters.
// Thread: RT.
void tac_compliance_row(const tac_compliance *compliance, int32_t i, const int32_t *points, int32_t count,
			tac_mat3 *out_blocks);

typedef struct tac_compliance_force {
	int32_t point;
	tac_dvec3 force_N;
} tac_compliance_force;

// The displacements of `count` points (NULL: of the first so many), m, under all forces: the sum of C_ij f_j.
// Forces far from a point are taken by clusters, not one by one, so this is the way to apply many forces at
// once. Takes about 100 kB of the stack.
// Thread: RT.
void tac_compliance_displace(const tac_compliance *compliance, const tac_compliance_force *forces,
			     int32_t force_count, const int32_t *points, int32_t count, tac_dvec3 *out_m);

// The number of points, of all levels.
// Thread: RT.
static inline int32_t tac_compliance_point_count(const tac_compliance *c)
{
	return c->level_start[TAC_COMPLIANCE_LEVELS];
}

#ifdef __cplusplus
}
#endif

#endif
