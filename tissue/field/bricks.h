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
#define FIELD_FAR         TAC_FIELD_FAR_VOXELS
// Nodes closer to the surface than this have a foot that counts as a point of the surface, in voxels. At
// 1/2 a plane along the grid has one point for each square voxel; more make the gaps between points smaller.
#define FIELD_NEAR 0.8F
// Neighbours that are both closer than this, on different surfaces, make points of the edge between them.
#define FIELD_NEAR_EDGE 1.1F
// A place further from its node than this is not on the edge that was looked for, voxels.
#define FIELD_EDGE_FAR 1.6F
// FIELD_NEAR of nodes in the material alone.
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

// The rows of a brick that the kernels have to visit. Row r, bit r of a set, is the eight nodes along z from
// node 8 r on.
typedef struct tac_field_rows {
	uint64_t near; // a node is near the surface
	uint64_t left; // not all nodes are far outside the material: a cut may change them
} tac_field_rows;

// Applies a cut to a brick whose first node is at `base` relative to the cut's a, and keeps its rows up to
// date. Adds the fractions of voxels that were removed to removed[label]. Returns whether a node changed.
typedef bool tac_field_carve_fn(const tac_field_cut *cut, const float base[3], tac_field_brick *brick,
				tac_field_rows *rows, double removed[TAC_FIELD_LABELS]);
TAC_SIMD_DECLARE(tac_field_carve_fn, tac_field_carve_round);
TAC_SIMD_DECLARE(tac_field_carve_fn, tac_field_carve_cylinder);

// Whether a cut removes material of a brick: a node within half a voxel of it, in the rows, would rise by
// `least` or more.
typedef bool tac_field_enters_fn(const tac_field_cut *cut, bool cylinder, const float base[3],
				 const tac_field_brick *brick, uint64_t rows, float least);
TAC_SIMD_DECLARE(tac_field_enters_fn, tac_field_enters);

// Points of edges have this times 1, 2 or 3 in their node, for the axis of the pair that found them.
#define FIELD_EDGE (1 << 28)
_Static_assert(TAC_FIELD_NODES_MAX <= FIELD_EDGE, "no node has the bits");

// Nodes with a direction, their feet on the surface relative to the cut's a, and their unit normals.
typedef struct tac_field_feet {
	uint16_t node[FIELD_BRICK_NODES];
	float foot[3][FIELD_BRICK_NODES], normal[3][FIELD_BRICK_NODES];
} tac_field_feet;

// The feet of the nodes of the rows `near` whose distance is within the range and that are within `reach` of
// the segment of the cut, in the order of the nodes. Returns their number.
typedef int32_t tac_field_find_fn(const tac_field_cut *core, const float base[3],
				  const tac_field_brick *brick, uint64_t near, const float range[2],
				  float reach, tac_field_feet *out_feet);
TAC_SIMD_DECLARE(tac_field_find_fn, tac_field_find);

// The same for an array of points relative to the cut's a.
typedef int32_t tac_field_select_fn(const tac_field_cut *core, const float *x, const float *y, const float *z,
				    int32_t count, const float offset[3], float reach, int32_t *out_index);
TAC_SIMD_DECLARE(tac_field_select_fn, tac_field_select);

// A burr as the kernels take it, about the z axis from the origin on.
typedef struct tac_field_shape {
	bool cylinder; // else round
	float length, radius;
} tac_field_shape;

// From the coordinates of points to the frame of a burr.
typedef struct tac_field_frame {
	float rotation[9]; // by rows
	float shift[3];
} tac_field_frame;

// The arrays of the following hold a multiple of eight.
typedef struct tac_field_coordinates {
	const float *x, *y, *z;
	int32_t count;
} tac_field_coordinates;

// See tac_field_points_distances.
typedef void tac_field_distances_fn(const tac_field_shape *shape, const tac_field_frame *frame,
				    tac_field_coordinates points, float *out_distance);
TAC_SIMD_DECLARE(tac_field_distances_fn, tac_field_distances);

// See tac_field_points_bin; `advance` is in the burr's frame.
typedef void tac_field_bin_fn(const tac_field_shape *shape, const tac_field_frame *frame,
			      tac_field_coordinates points, const float advance[3], int32_t grid,
			      float *out_key, int32_t *out_bin);
TAC_SIMD_DECLARE(tac_field_bin_fn, tac_field_bin);

// See tac_field_passage in tissue/field.h.
typedef struct tac_field_course {
	tac_field_shape shape;
	tac_field_frame start, end;
	float reach; // what is further from the burr at the start stays free
	float bend;  // four times how far paths leave their chord
	float keep, creep, allowed;
	float advance[3];          // in the frame of the start
	float error;               // of all this in single precision
	bool discs;                // in addition:
	float middle[3], along[3]; // of the ball, and its way, in the frame of the points
} tac_field_course;

// The points that do not certainly stay free, in ascending order. Returns their number.
typedef int32_t tac_field_doubt_fn(const tac_field_course *course, tac_field_coordinates points,
				   tac_field_coordinates normals, int32_t *out_index);
TAC_SIMD_DECLARE(tac_field_doubt_fn, tac_field_doubt);

struct tac_field {
	double voxel_m;
	tac_dvec3 origin_m;
	tac_dvec3 mesh_min_m, mesh_max_m;
	int32_t bricks[3];
	int32_t brick_count;
	int32_t *table;     // the number of a brick in the pool, or FIELD_OUTSIDE, or FIELD_SOLID - label
	uint8_t *clearance; // bricks to the nearest one that held material at set-up, the largest of x, y, z
	tac_field_rows *rows; // of each brick of the pool
	uint64_t *changed;    // the version in which a brick of the pool changed last
	uint8_t *dirty;       // of each brick of the grid: it changed since the surface was made last
	tac_field_brick *pool;
	int32_t stored, capacity;
	bool never_full; // the pool has room for all bricks with material
	double volume_m3[TAC_FIELD_LABELS];
	uint64_t version; // edits that changed something
	tac_field_carve_fn *carve_round, *carve_cylinder;
	tac_field_enters_fn *enters;
	tac_field_find_fn *find;
	tac_field_select_fn *select;
	tac_field_distances_fn *distances;
	tac_field_bin_fn *bin;
	tac_field_doubt_fn *doubt;
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

// Empties a set of points about the burr.
// Thread: RT.
void tac_field_points_begin(tac_field_points *points, const tac_burr *burr);

// Adds the points of a stored brick, relative to its first node.
// `complete` becomes false if they do not fit. Returns their number.
// Thread: RT.
int32_t tac_field_find_points(const tac_field *field, const int32_t at[3], tac_field_points *out);

// Finds the rows of a stored brick whose nodes were written.
// Thread: RT.
void tac_field_find_rows(tac_field *field, int32_t entry);

#ifdef __cplusplus
}
#endif

#endif
