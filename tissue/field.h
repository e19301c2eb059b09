// Field: a body that can be drilled, as a signed distance field. The distance d (m) is negative in the
// material and positive outside. It is kept at the nodes of a grid, within two voxels of the surface; what
// lies deeper or further out is clamped to that. Nodes near the surface also keep the direction of the
// nearest surface, so that edges where a hole meets the old surface stay sharp. Each node has a label: the
// material there.
//
// Nodes are stored in bricks of 8 x 8 x 8, 4,096 bytes each. Bricks without a surface and with a single
// label are not stored until the drill reaches them; they come from a pool that is made at set-up.
//
// Removing a burr's sweep is exact: d := max(d, -distance from the sweep). The maximum of two distances is
// exact at the surface and a lower bound outside, so a tool that trusts it never goes too far. The volume of
// each material is h^3 times the sum of clamp(1/2 - d/h, 0, 1) over its nodes, and every edit keeps it up to
// date. That is the volume of a body whose surface is smeared over a voxel: of a ball of radius r it is
// 4/3 pi r^3 (1 + (h / 2r)^2).
#ifndef TAC_TISSUE_FIELD_H
#define TAC_TISSUE_FIELD_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/mesh.h"
#include "tissue/burr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tac_field tac_field;

#define TAC_FIELD_LABELS 8
// Nodes along the edge of a brick, and the bytes of a brick.
#define TAC_FIELD_BRICK       8
#define TAC_FIELD_BRICK_BYTES 4096
// Distances are clamped to this many voxels, and an edit changes nodes up to so far from it.
#define TAC_FIELD_FAR_VOXELS 2
// The most nodes of a grid, stored or not.
#define TAC_FIELD_NODES_MAX (INT64_C(1) << 27)

typedef struct tac_field_def {
	const char *name;     // of the body in messages
	const tac_mesh *mesh; // closed, not overlapping itself
	double voxel_m;       // distance of two nodes
	int32_t max_bricks;   // of the pool; 0: as many as the whole body needs
	// The label, below TAC_FIELD_LABELS, of the material at a point (m, in the mesh's frame) that lies
	// `depth_m` below the surface, negative outside of it. NULL: all labels are 0.
	uint8_t (*label)(const void *user, tac_dvec3 point_m, double depth_m);
	const void *label_user;
} tac_field_def;

// Builds the field of a closed mesh. TAC_ERROR_ARGUMENT with one log line if the mesh is not closed, overlaps
// itself, needs more than TAC_FIELD_NODES_MAX nodes, or its surface more than max_bricks. TAC_ERROR_MEMORY.
// The caller owns *out_field; it is NULL on failure.
// Thread: setup.
tac_result tac_field_build(const tac_field_def *def, tac_field **out_field);

// A copy with the same bits, and the same number of bricks in its pool. TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_field_copy(const tac_field *field, tac_field **out_copy);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_field_destroy(tac_field **field);

// What the field holds now.
typedef struct tac_field_size {
	double voxel_m;
	tac_dvec3 origin_m; // of node (0, 0, 0), in the mesh's frame
	int32_t bricks[3];  // of the grid, stored or not
	int32_t stored, capacity;
	int64_t bytes; // of the pool and the tables
} tac_field_size;

// Thread: RT.
tac_field_size tac_field_size_of(const tac_field *field);

// The volume of the material with a label, m^3.
// Thread: RT.
double tac_field_volume_m3(const tac_field *field, int32_t label);

// The distance at a point by trilinear interpolation, m, at most two voxels either way.
// Thread: RT.
double tac_field_sample(const tac_field *field, tac_dvec3 point_m);

// The label of the node next to a point; 0 beyond the grid.
// Thread: RT.
int32_t tac_field_label(const tac_field *field, tac_dvec3 point_m);

// A lower bound of the distance from a point to the material, m, by bricks: 0 near it.
// Thread: RT.
double tac_field_clearance(const tac_field *field, tac_dvec3 point_m);

// ---- removal ----

// What is removed, in the mesh's frame: the sweep of a ball of `radius` from a to b, or the cylinder about
// the segment from a to b. Applied in the same order to equal fields, edits give equal bits.
typedef struct tac_field_edit {
	float a[3], b[3];
	float radius;
	uint32_t kind; // a tac_burr_kind
} tac_field_edit;

typedef struct tac_field_removed {
	double volume_m3[TAC_FIELD_LABELS];
	int32_t bricks; // examined
} tac_field_removed;

// The edit that removes a burr (in the mesh's frame).
// Thread: RT.
tac_field_edit tac_field_edit_make(const tac_burr *burr);

// Whether the pool may run out of bricks; false if it was made for the whole body.
// Thread: RT.
bool tac_field_may_be_full(const tac_field *field);

// Removes the edit and adds to *out_removed what it removed. Returns false and changes nothing if the pool
// has not enough bricks left.
// Thread: RT.
bool tac_field_carve(tac_field *field, const tac_field_edit *edit, tac_field_removed *out_removed);

// The same where the field holds nothing of the edit (tac_field_holds), but material may be there that no
// node knows. The distances in the hole become the same; the points of the surface and the version stay. It
// returns false, too, if it needs bricks and fewer than `spare` would be left.
// Thread: RT.
bool tac_field_carve_unseen(tac_field *field, const tac_field_edit *edit, int32_t spare,
			    tac_field_removed *out_removed);

// Whether a burr (in the mesh's frame) may hold material: a node less than half a voxel outside of it would
// rise by `least_m` or more if the burr were removed. Thread: RT.
bool tac_field_holds(const tac_field *field, const tac_burr *burr, double least_m);

// How often the field has changed.
// Thread: RT.
uint64_t tac_field_version(const tac_field *field);

// A hash of all distances, directions and labels.
// Thread: any.
uint64_t tac_field_hash(const tac_field *field);

// ---- the surface as points ----

#define TAC_FIELD_POINTS 24576

// Points of the surface near a burr: the feet of the nodes next to it, which lie on the surface to a few
// nanometres, and points of the edges between surfaces, at most a few voxels apart, closer for small burrs,
// and within 1/25 of a voxel of the edge. The distance from any place of the surface to the next point is
// below a voxel. About 900 KB, the caller's memory.
typedef struct tac_field_points {
	int32_t count;
	bool complete;    // all points in reach are here
	int64_t examined; // bricks and candidates, for the caller's budget
	tac_dvec3 centre; // of the coordinates
	float x[TAC_FIELD_POINTS], y[TAC_FIELD_POINTS], z[TAC_FIELD_POINTS]; // from the centre, m
	// The outward direction of the surface, a unit vector; zero at an edge.
	float up_x[TAC_FIELD_POINTS], up_y[TAC_FIELD_POINTS], up_z[TAC_FIELD_POINTS];
	int32_t node[TAC_FIELD_POINTS]; // identifies the point as long as the surface there does not change
	uint8_t label[TAC_FIELD_POINTS];
} tac_field_points;

// What was found of bricks, for as long as these and their neighbours do not change. One for each tool.
typedef struct tac_field_cache tac_field_cache;

// About 3 MB, and 24 bytes for each brick of the field's pool. TAC_ERROR_MEMORY with one log line.
// Thread: setup.
tac_result tac_field_cache_create(const tac_field *field, tac_field_cache **out_cache);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_field_cache_destroy(tac_field_cache **cache);

// Gathers the points within `reach_m` of the burr (in the mesh's frame) or inside it. Fewer than all if they
// do not fit, or if there is more to examine than `limit`: `complete` is false then. What was found so far is
// in the cache, so that the next call goes on there.
// Thread: RT.
void tac_field_gather(const tac_field *field, tac_field_cache *cache, const tac_burr *burr, double reach_m,
		      int64_t limit, tac_field_points *out_points);

// The same of the feet of nodes in the material alone: one for every square voxel, but none on the tip of a
// ridge that is thinner than a voxel. That is enough for a burr that removes what it sweeps, and needs no
// cache. Thread: RT.
void tac_field_gather_inside(const tac_field *field, const tac_burr *burr, double reach_m,
			     tac_field_points *out_points);

// Whether a point lies on an edge or a corner.
// Thread: RT.
bool tac_field_point_is_edge(const tac_field_points *points, int32_t index);

// Puts a copy of the point `from` in the place of the point `to`.
// Thread: RT.
void tac_field_point_move(tac_field_points *points, int32_t from, int32_t to);

// The following compute in single precision; tac_field_points_error bounds the error of their lengths. Their
// arrays have room for TAC_FIELD_POINTS.

// For points up to `reach_m` from a burr, m.
// Thread: RT.
double tac_field_points_error(const tac_burr *burr, double reach_m);

// The distance of each point from the burr's surface, negative inside.
// Thread: RT.
void tac_field_points_distances(const tac_field *field, const tac_field_points *points, const tac_burr *burr,
				float *out_distance_m);

// A key of each point, by which points around a burr are compared, and a bin for its place about the burr.
// The key is the distance from the burr's surface, plus the part of `advance_m` along the direction to the
// point where that is positive. Each side of a box about the burr has a grid of grid x grid bins, 6 grid^2 in
// all. Thread: RT.
void tac_field_points_bin(const tac_field *field, const tac_field_points *points, const tac_burr *burr,
			  tac_dvec3 advance_m, int32_t grid, float *out_key_m, int32_t *out_bin);

// A short motion of a burr among the points. The gap of a point is its distance from the burr plus allowed_m
// and the part of advance_m along the direction to it.
typedef struct tac_field_passage {
	tac_burr burr;        // in the tool's frame
	tac_dpose start, end; // of the tool in the field's frame
	double bend_m;        // how far the path of a point, seen from the tool, may leave its chord
	double keep_m;        // the gap that is kept, or
	double creep_m;       // at most so much less than at the start, where it is smaller there
	double allowed_m;
	tac_dvec3 advance_m;
	double reach_m; // points further from the burr at the start than this are not looked at
	bool discs;     // a ball, which does not turn, meets discs about the points as well
} tac_field_passage;

// The indices of the points for which it is not certain that the gap is kept, in ascending order. Returns
// their number. Thread: RT.
int32_t tac_field_points_doubted(const tac_field *field, const tac_field_points *points,
				 const tac_field_passage *passage, int32_t *out_index);

#ifdef __cplusplus
}
#endif

#endif
