// Bars and blocks of tetrahedra with exact geometry: every cell of a grid is divided into six (H. W. Kuhn,
// 1960).
#ifndef TAC_TESTS_SUPPORT_BAR_H
#define TAC_TESTS_SUPPORT_BAR_H

#include "tissue/lattice/lattice.h"

#include <stdlib.h>

// cells[k] cells along axis k of the block from 0 to size. It has no surface; its vertices are those of the
// grid, z fastest.
static inline tac_lattice *bar_make(const int cells[3], tac_dvec3 size)
{
	static const int kuhn[6][4] = {{0, 1, 3, 7}, {0, 5, 1, 7}, {0, 3, 2, 7},
				       {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 6, 4, 7}};
	const int n[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1};
	tac_lattice *l = (tac_lattice *)calloc(1, sizeof *l);
	l->vertex_count = n[0] * n[1] * n[2];
	l->vertices = (tac_dvec3 *)malloc((size_t)l->vertex_count * sizeof *l->vertices);
	l->tets = (tac_lattice_tet *)malloc((size_t)(6 * cells[0] * cells[1] * cells[2]) * sizeof *l->tets);
	for (int v = 0; v < l->vertex_count; v++)
		l->vertices[v] =
			tac_dvec3_make(size.x * (v / (n[1] * n[2])) / cells[0],
				       size.y * (v / n[2] % n[1]) / cells[1], size.z * (v % n[2]) / cells[2]);
	for (int c = 0; c < cells[0] * cells[1] * cells[2]; c++) {
		const int at[3] = {c / (cells[1] * cells[2]), c / cells[2] % cells[1], c % cells[2]};
		for (int t = 0; t < 6; t++) {
			int32_t *v = l->tets[l->tet_count++].vertex;
			for (int k = 0; k < 4; k++) {
				const int corner = kuhn[t][k];
				v[k] = ((at[0] + (corner & 1)) * n[1] + at[1] + (corner >> 1 & 1)) * n[2] +
				       at[2] + (corner >> 2);
			}
			if (tac_lattice_volume6(l->vertices[v[0]], l->vertices[v[1]], l->vertices[v[2]],
						l->vertices[v[3]]) < 0) {
				const int32_t swap = v[2];
				v[2] = v[3];
				v[3] = swap;
			}
		}
	}
	return l;
}

#endif
