// Lattice: tetrahedra that fill a closed surface, by isosurface stuffing (F. Labelle, J. R. Shewchuk,
// "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", ACM Trans. Graphics 26(3), 2007).
// A body-centred cubic lattice covers the body. Lattice vertices that lie close to the surface are moved onto
// it; the tetrahedra that still cross it are cut. Cells grow away from the surface, and away from the ball
// that is touched, by factors of two; cells of different sizes are joined without hanging vertices.
#ifndef TAC_TISSUE_LATTICE_LATTICE_H
#define TAC_TISSUE_LATTICE_LATTICE_H

#include "base/algebra.h"
#include "base/result.h"
#include "collision/mesh.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_LEVELS    6 // sizes of cells, each twice the one before
#define LATTICE_TETS_MAX  4000000
#define LATTICE_CELLS_MAX (INT64_C(1) << 26) // of the finest size, in the box around the body
#define LATTICE_FINE_MAX  8

typedef struct tac_lattice_def {
	const char *name;     // of the body in messages
	const tac_mesh *mesh; // closed; where it overlaps itself it is joined
	double spacing_m;     // mean distance of the vertices of the surface, the root of the area of each
	// Where the surface is this fine: a ball. Outside, the spacing grows with the distance from the ball.
	// Radius 0: everywhere.
	tac_dvec3 touch_centre_m;
	double touch_radius_m;
	// Surfaces around which the lattice is fine too: of what is inside the body.
	const tac_mesh *fine[LATTICE_FINE_MAX];
	int32_t fine_count;
} tac_lattice_def;

typedef struct tac_lattice_tet {
	int32_t vertex[4]; // the last is on the side of the first three from which they are clockwise
} tac_lattice_tet;

typedef struct tac_lattice {
	tac_dvec3 *vertices; // m; the first surface_count are those of the surface
	int32_t vertex_count, surface_count;
	tac_lattice_tet *tets; // each with a positive volume
	int32_t tet_count;
	tac_mesh_triangle *triangles; // the surface, counter-clockwise seen from outside
	int32_t triangle_count;
} tac_lattice;

// Fills the mesh. TAC_ERROR_ARGUMENT with one log line if the mesh is not closed or the spacing does not suit
// it (nothing remains of the body, it falls apart, or more cells than LATTICE_CELLS_MAX), TAC_ERROR_MEMORY.
// Parts that do not hang together with the largest are left out if they are less than a hundredth of the
// body: tips that are smaller than the spacing can show. The caller owns *out_lattice; it is NULL on failure.
// Thread: setup.
tac_result tac_lattice_build(const tac_lattice_def *def, tac_lattice **out_lattice);

// Nulls the pointer; NULL in it is allowed.
// Thread: setup.
void tac_lattice_destroy(tac_lattice **lattice);

// Six times the volume of a tetrahedron, m^3.
// Thread: any.
double tac_lattice_volume6(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d);

typedef struct tac_lattice_quality {
	double least_rad, most_rad; // dihedral angles
	double volume_m3;
} tac_lattice_quality;

// Thread: any.
tac_lattice_quality tac_lattice_measure(const tac_lattice *lattice);

// ---- between the files of this folder ----

// A closed mesh with its triangles sorted by columns along z, to tell inside from outside.
typedef struct lattice_shape {
	const tac_mesh *mesh;
	double origin[2], column_m;
	int32_t columns[2];
	int32_t *start;    // of each column in `triangle`, columns[0] * columns[1] + 1
	int32_t *triangle; // those that may lie above or below a point of the column
} lattice_shape;

// TAC_ERROR_MEMORY without a log line. Thread: setup.
tac_result tac_lattice_shape_init(lattice_shape *out_shape, const tac_mesh *mesh);
// Thread: setup.
void tac_lattice_shape_fini(lattice_shape *shape);

// Whether a point is inside the mesh. Thread: any.
bool tac_lattice_inside(const lattice_shape *shape, tac_dvec3 point_m);

// A map from keys to numbers below its capacity.
typedef struct lattice_table {
	uint64_t *key; // 0: free
	int32_t *value;
	int32_t count;
	uint32_t capacity; // a power of two
} lattice_table;

// Thread: setup.
bool tac_lattice_table_init(lattice_table *table);
// Thread: setup.
void tac_lattice_table_fini(lattice_table *table);

// The number of a key that is not 0: its old one, or the next free number, which is then `count` - 1. -1
// without memory. Thread: setup.
int32_t tac_lattice_table_add(lattice_table *table, uint64_t key);

// The number of a key, or -1. Thread: any.
int32_t tac_lattice_table_find(const lattice_table *table, uint64_t key);

// The key of an edge between two vertices, in either direction. Thread: any.
static inline uint64_t tac_lattice_edge_key(int32_t a, int32_t b)
{
	const uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
	return (high << 32 | low) + 1;
}

// The lattice before it is cut: vertices at integer places, in units of half the finest cell.
typedef struct lattice_grid {
	tac_dvec3 origin_m;
	double unit_m;
	int32_t (*place)[3]; // of each vertex
	int32_t vertex_count;
	tac_lattice_tet *tets;
	int32_t tet_count, tet_capacity;
	lattice_table numbers; // of the vertices, by their places
} lattice_grid;

// Divides the box around the body into tetrahedra; those without a vertex inside the body may be missing.
// Thread: setup.
tac_result tac_lattice_grid_build(const tac_lattice_def *def, lattice_grid *out_grid);

// Thread: setup.
void tac_lattice_grid_release(lattice_grid *grid);

// Moves and cuts the grid's tetrahedra along the surface. The result has no triangles yet, and its vertices
// are in no order.
// Thread: setup.
tac_result tac_lattice_stuff(const lattice_grid *grid, const lattice_shape *shape, tac_lattice *out_lattice);

#ifdef __cplusplus
}
#endif

#endif
