// Bricks: how a field keeps its nodes, and the kernels that work on a brick.
#ifndef TAC_TISSUE_FIELD_BRICKS_H
#define TAC_TISSUE_FIELD_BRICKS_H

#include "base/simd.h"
#include "tissue/field.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FIELD_BRICK       TAC_FIELD_BRICK
#define FIELD_BRICK_NODES (FIELD_BRICK * FIELD_BRICK * FIELD_BRICK)
// Distances are clamped to this many voxels.
#define FIELD_FAR 2
// Nodes closer to the surface than this have a foot that counts as a point of the surface, in voxels. At
// 1/2 a plane along the grid has one point for each square voxel; more make the gaps between points smaller.
#define FIELD_NEAR 0.8F
// Neighbours that are both closer than this, on different surfaces, make points of the edge between them.
#define FIELD_NEAR_EDGE 1.1F
// The same of nodes in the material alone.
#define FIELD_NEAR_INSIDE 1.1F

// Entries of the table for bricks that are not stored.
#define FIELD_OUTSIDE     (-1)
#define FIELD_SOLID       (-2) // minus the label: all of it is material
#define FIELD_LABEL_OF(e) (FIELD_SOLID - (e))

// Node (i, j, k) of a brick has the index (8 i + j) 8 + k. The direction is the gradient of the distance,
// a unit vector times 127; it counts only near the surface.
typedef struct tac_field_brick {
	float distance[FIELD_BRICK_NODES];
	int8_t normal[3][FIELD_BRICK_NODES];
	uint8_t label[FIELD_BRICK_NODES];
} tac_field_brick;

_Static_assert(sizeof(tac_field_brick) == TAC_FIELD_BRICK_BYTES, "the size that the header states");

// A removal as the kernels take it: lengths relative to the end a of the edit.
typedef struct tac_field_cut {
	float axis[3];        // from a to b
	float inverse_square; // of its length; 0 if it has none
	float length;
	float radius;
	float voxel, far, inverse_voxel;
	bool goes_on; // the last cut was a ball of this radius that ended at a
} tac_field_cut;

// Applies a cut to a brick whose first node is at `base` relative to the cut's a. Adds the fractions of
// voxels that were removed to removed[label]. Returns whether a node changed.
typedef bool tac_field_carve_fn(const tac_field_cut *cut, const float base[3], tac_field_brick *brick,
				double removed[TAC_FIELD_LABELS]);
TAC_SIMD_DECLARE(tac_field_carve_fn, tac_field_carve_round);
TAC_SIMD_DECLARE(tac_field_carve_fn, tac_field_carve_cylinder);

// Points of edges have this times 1, 2 or 3 in their node, for the axis of the pair that found them.
#define FIELD_EDGE (1 << 28)
_Static_assert(TAC_FIELD_NODES_MAX <= FIELD_EDGE, "no node has the bits");

// Nodes with a direction, their feet on the surface relative to the cut's a, and their unit normals.
typedef struct tac_field_feet {
	uint16_t node[FIELD_BRICK_NODES];
	float foot[3][FIELD_BRICK_NODES], normal[3][FIELD_BRICK_NODES];
} tac_field_feet;

// The feet of the nodes whose distance is within the range and that are within `reach` of the segment of the
// cut, in the order of the nodes. Returns their number.
typedef int32_t tac_field_find_fn(const tac_field_cut *core, const float base[3],
				  const tac_field_brick *brick, const float range[2], float reach,
				  tac_field_feet *out_feet);
TAC_SIMD_DECLARE(tac_field_find_fn, tac_field_find);

// The same for an array of points relative to the cut's a.
typedef int32_t tac_field_select_fn(const tac_field_cut *core, const float *x, const float *y, const float *z,
				    int32_t count, const float offset[3], float reach, int32_t *out_index);
TAC_SIMD_DECLARE(tac_field_select_fn, tac_field_select);

// See tac_field_points_bin; `centre` is relative to the points' origin. The arrays hold a multiple of eight.
typedef void tac_field_bin_fn(const float *x, const float *y, const float *z, int32_t count,
			      const float centre[3], const float advance[3], int32_t grid, float *out_key,
			      int32_t *out_bin);
TAC_SIMD_DECLARE(tac_field_bin_fn, tac_field_bin);

struct tac_field {
	double voxel_m;
	tac_dvec3 origin_m;
	tac_dvec3 mesh_min_m, mesh_max_m;
	int32_t bricks[3];
	int32_t brick_count;
	int32_t *table;     // the number of a brick in the pool, or FIELD_OUTSIDE, or FIELD_SOLID - label
	uint8_t *clearance; // bricks to the nearest one that held material at set-up, the largest of x, y, z
	uint16_t *near;     // nodes near the surface, of each brick of the pool
	uint8_t *dirty;     // of each brick of the grid: it changed since the surface was made last
	tac_field_brick *pool;
	int32_t stored, capacity;
	bool never_full; // the pool has room for all bricks with material
	double volume_m3[TAC_FIELD_LABELS];
	uint64_t version; // edits that changed something
	tac_field_carve_fn *carve_round, *carve_cylinder;
	tac_field_find_fn *find;
	tac_field_select_fn *select;
	tac_field_bin_fn *bin;
	// The end of the last ball's sweep: what lies behind it needs no second look.
	float last_end[3], last_radius;
};

// A node of the grid as it is stored, or as its brick's entry says.
typedef struct tac_field_node {
	float distance;
	tac_vec3 normal; // unit, or zero where it is not known
	uint8_t label;
} tac_field_node;

static inline int32_t tac_field_brick_index(const tac_field *f, int32_t i, int32_t j, int32_t k)
{
	return (i * f->bricks[1] + j) * f->bricks[2] + k;
}

// The distance at node (i, j, k), which may lie beyond the grid.
// Thread: RT.
float tac_field_node_distance(const tac_field *field, int32_t i, int32_t j, int32_t k);

// Thread: RT.
tac_field_node tac_field_node_at(const tac_field *field, int32_t i, int32_t j, int32_t k);

// Thread: RT.
tac_field_node tac_field_node_of(const tac_field_brick *brick, int32_t node);

// The range of bricks with nodes within reach of the segment from a to b, and the segment as a cut.
typedef struct tac_field_region {
	int32_t from[3], to[3]; // inclusive
	tac_dvec3 a, b;
	tac_field_cut cut;
} tac_field_region;

// Thread: RT.
tac_field_region tac_field_region_of(const tac_field *field, tac_dvec3 a, tac_dvec3 b, double radius,
				     double reach);

// The first node of a brick, relative to the region's a. False if none of its nodes is within `reach` of the
// segment.
// Thread: RT.
bool tac_field_region_brick(const tac_field *field, const tac_field_region *region, const int32_t at[3],
			    double reach, float base[3]);

// Allocates tables and pool, of which nothing is stored yet. NULL: no memory.
// Thread: setup.
tac_field *tac_field_alloc(double voxel_m, tac_dvec3 origin_m, const int32_t bricks[3], int32_t capacity);

// Stores a brick of the grid that is not stored yet, filled as its entry says. NULL if the pool is empty.
// Thread: RT.
tac_field_brick *tac_field_store(tac_field *field, int32_t brick);

// Counts the nodes near the surface of a stored brick.
// Thread: RT.
void tac_field_count_near(tac_field *field, int32_t entry);

#ifdef __cplusplus
}
#endif

#endif
