// A patch of an elastic half-space as a body that can be pressed: a square grid of nodes about the origin in
// the plane z = 0, with a border of fixed vertices. The force of a node is uniform over its square: closed
// form (A. E. H. Love) for the square itself, the mean of 16 x 16 point forces next to it, a point force far
// away.
#ifndef TAC_BENCH_TISSUE_PATCH_H
#define TAC_BENCH_TISSUE_PATCH_H

#include "bench/half_space.h"
#include "tissue/compliance.h"

#include <stdlib.h>

typedef struct tissue_patch {
	double young_Pa, poisson, cell_m;
	int side; // nodes along an edge
	double creep, creep_time_s;
	int32_t exact_nodes; // as in tac_compliance_def
	// Private: blocks by the distance in cells.
	tac_dmat3 *table;
	tac_vec3 *vertices;
} tissue_patch;

static inline tac_dmat3 tissue_patch_mean(const tissue_patch *p, int dx, int dy)
{
	const int parts = 16;
	const double h = p->cell_m;
	if (dx == 0 && dy == 0)
		return half_space_own(p->young_Pa, p->poisson, h);
	if (abs(dx) > 3 || abs(dy) > 3)
		return half_space_point(p->young_Pa, p->poisson, dx * h, dy * h);
	tac_dmat3 sum = {{{0}}};
	for (int a = 0; a < parts; a++) {
		for (int b = 0; b < parts; b++)
			sum = tac_dmat3_add(sum, half_space_point(p->young_Pa, p->poisson,
								  (dx + (a + 0.5) / parts - 0.5) * h,
								  (dy + (b + 0.5) / parts - 0.5) * h));
	}
	return tac_dmat3_scale(sum, 1.0 / (parts * parts));
}

static inline tac_dmat3 tissue_patch_block(const void *user, int32_t i, int32_t j)
{
	const tissue_patch *p = (const tissue_patch *)user;
	const int dx = i / p->side - j / p->side, dy = i % p->side - j % p->side, wide = 2 * p->side - 1;
	return p->table[(dx + p->side - 1) * wide + dy + p->side - 1];
}

// The caller destroys it. NULL: no memory.
static inline tac_compliance *tissue_patch_make(tissue_patch *p)
{
	const int side = p->side + 2, wide = 2 * p->side - 1;
	const size_t corners = (size_t)side * (size_t)side;
	tac_mesh_triangle *triangles = (tac_mesh_triangle *)calloc(2 * corners, sizeof *triangles);
	int32_t *index = (int32_t *)calloc(corners, sizeof *index);
	p->vertices = (tac_vec3 *)calloc(corners, sizeof *p->vertices);
	p->table = (tac_dmat3 *)calloc((size_t)wide * (size_t)wide, sizeof *p->table);
	tac_compliance *c = NULL;
	if (triangles && index && p->vertices && p->table) {
		for (int dx = 1 - p->side; dx < p->side; dx++) {
			for (int dy = 1 - p->side; dy < p->side; dy++)
				p->table[(dx + p->side - 1) * wide + dy + p->side - 1] =
					tissue_patch_mean(p, dx, dy);
		}
		int32_t node = 0, fixed = p->side * p->side, count = 0;
		for (int i = 0; i < side; i++) {
			for (int j = 0; j < side; j++) {
				const bool border = i == 0 || j == 0 || i == side - 1 || j == side - 1;
				const int32_t v = border ? fixed++ : node++;
				index[i * side + j] = v;
				p->vertices[v] =
					tac_vec3_make((float)((i - (side - 1) / 2.0) * p->cell_m),
						      (float)((j - (side - 1) / 2.0) * p->cell_m), 0);
			}
		}
		for (int i = 0; i + 1 < side; i++) {
			for (int j = 0; j + 1 < side; j++) {
				const int32_t *a = &index[i * side + j], *b = a + side;
				const tac_mesh_triangle two[2] = {{{a[0], b[0], b[1]}}, {{a[0], b[1], a[1]}}};
				for (int k = 0; k < 2; k++) {
					const int32_t *v = two[k].vertex;
					if (v[0] < node || v[1] < node || v[2] < node)
						triangles[count++] = two[k];
				}
			}
		}
		const tac_compliance_def def = {.name = "patch",
						.hash = 1,
						.material = {p->young_Pa, p->poisson, p->creep,
							     p->creep_time_s > 0 ? p->creep_time_s : 1},
						.node_count = node,
						.vertex_count = fixed,
						.triangle_count = count,
						.vertices = p->vertices,
						.triangles = triangles,
						.block = tissue_patch_block,
						.block_user = p,
						.exact_nodes = p->exact_nodes};
		tac_compliance_create(&def, &c);
	}
	free(triangles);
	free(index);
	free(p->vertices);
	free(p->table);
	return c;
}

#endif
