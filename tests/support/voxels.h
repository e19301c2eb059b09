// Solids of voxels with finely divided faces: volume, area and inside are known exactly, and random ones have
// holes, steps, faces that touch at an edge or at a corner, and non-manifold edges.
#ifndef TAC_TESTS_SUPPORT_VOXELS_H
#define TAC_TESTS_SUPPORT_VOXELS_H

#include "base/rng.h"
#include "collision/mesh.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unity.h>

#define VOXELS_MAX 12 // along each axis

typedef struct voxels {
	int size[3];
	bool filled[VOXELS_MAX][VOXELS_MAX][VOXELS_MAX];
	double edge_m; // of a voxel
	int divided;   // how many squares a side of a voxel's face has
} voxels;

static inline bool voxel_at(const voxels *v, int x, int y, int z)
{
	return x >= 0 && y >= 0 && z >= 0 && x < v->size[0] && y < v->size[1] && z < v->size[2] &&
	       v->filled[x][y][z];
}

static inline int voxel_count(const voxels *v)
{
	int count = 0;
	for (int i = 0; i < v->size[0] * v->size[1] * v->size[2]; i++)
		count += v->filled[i % v->size[0]][i / v->size[0] % v->size[1]][i / v->size[0] / v->size[1]];
	return count;
}

// Whether the face of a voxel in a direction, along `axis` with `side` +1 or -1, is on the surface.
static inline bool voxel_face(const voxels *v, const int cell[3], int axis, int side)
{
	int next[3] = {cell[0], cell[1], cell[2]};
	next[axis] += side;
	return voxel_at(v, cell[0], cell[1], cell[2]) && !voxel_at(v, next[0], next[1], next[2]);
}

static inline int voxel_face_count(const voxels *v)
{
	int count = 0;
	for (int i = 0; i < v->size[0] * v->size[1] * v->size[2] * 6; i++) {
		int n = i / 6,
		    cell[3] = {n % v->size[0], n / v->size[0] % v->size[1], n / v->size[0] / v->size[1]};
		count += voxel_face(v, cell, i % 3, i % 6 < 3 ? 1 : -1);
	}
	return count;
}

// The mesh in the pose T, rounded to float. Diagonals are random. Surfaces: one for each of the six
// directions, or, with `surfaces` above 1, random stripes of each.
static inline tac_mesh *voxels_mesh(const voxels *v, tac_dpose T, int surfaces, tac_rng *rng)
{
	const int k = v->divided, faces = voxel_face_count(v);
	tac_vec3 *vertices = malloc((size_t)(4 * faces * k * k + 1) * sizeof *vertices);
	tac_mesh_triangle *triangles = malloc((size_t)(2 * faces * k * k + 1) * sizeof *triangles);
	int32_t *surface = malloc((size_t)(2 * faces * k * k + 1) * sizeof *surface);
	tac_mesh_def def = tac_mesh_def_default();
	for (int i = 0; i < v->size[0] * v->size[1] * v->size[2] * 6 * k * k; i++) {
		int n = i / (6 * k * k), at = i % (6 * k * k), axis = at % 3, side = at % 6 < 3 ? 1 : -1,
		    column = at / 6 % k, row = at / 6 / k;
		int cell[3] = {n % v->size[0], n / v->size[0] % v->size[1], n / v->size[0] / v->size[1]};
		if (!voxel_face(v, cell, axis, side))
			continue;
		int32_t first = def.vertex_count;
		for (int c = 0; c < 4; c++) {
			double p[3];
			int dx = c == 1 || c == 2, dy = c >= 2;
			p[axis] = (cell[axis] + (side > 0)) * v->edge_m;
			p[(axis + 1) % 3] = (cell[(axis + 1) % 3] * k + column + dx) * v->edge_m / k;
			p[(axis + 2) % 3] = (cell[(axis + 2) % 3] * k + row + dy) * v->edge_m / k;
			vertices[def.vertex_count++] = tac_vec3_from_dvec3(
				tac_dpose_apply_point(T, tac_dvec3_make(p[0], p[1], p[2])));
		}
		int turn = (int)tac_rng_below(rng, 2);
		for (int c = 0; c < 2; c++) {
			tac_mesh_triangle *t = &triangles[def.triangle_count];
			int corner[3] = {turn, (turn + 1 + c) % 4, (turn + 2 + c) % 4};
			for (int j = 0; j < 3; j++)
				t->vertex[side > 0 ? j : 2 - j] = first + corner[j];
			surface[def.triangle_count++] =
				at % 6 + 6 * ((cell[(axis + 1) % 3] * k + column) / 2 % surfaces);
		}
	}
	def.vertices = vertices;
	def.triangles = triangles;
	def.triangle_surface = surface;
	def.surface_count = 6 * surfaces;
	tac_mesh *mesh;
	TEST_ASSERT_EQUAL(TAC_OK, tac_mesh_build(&def, &mesh));
	free(vertices);
	free(triangles);
	free(surface);
	return mesh;
}

static inline voxels voxels_random(tac_rng *rng, int size, double filled, double edge_m, int divided)
{
	voxels v = {.size = {size, size, size}, .edge_m = edge_m, .divided = divided};
	for (int i = 0; i < size * size * size; i++)
		v.filled[i % size][i / size % size][i / size / size] = tac_rng_f64(rng) < filled;
	v.filled[0][0][0] = true;
	return v;
}

#endif
