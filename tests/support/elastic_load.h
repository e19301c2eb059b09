// Loads and solutions of finite element models, for the tests of tissue/elastic.
#ifndef TAC_TESTS_SUPPORT_ELASTIC_LOAD_H
#define TAC_TESTS_SUPPORT_ELASTIC_LOAD_H

#include "tissue/elastic/elastic.h"
#include "tissue/elastic/lower.h"
#include "unity.h"

#include <stdlib.h>
#include <string.h>

// Whether a node of the model takes part in a load.
typedef bool (*elastic_where)(tac_dvec3 place_m);

// Adds a uniform traction (Pa) on the element faces whose corners all are where it acts, as consistent forces
// (P1: a third on each corner; P2: a third on the middle of each edge). The loaded area, m^2. With `pressure`
// the traction is traction.x along the inward normal of each face instead.
static inline double elastic_load(const elastic_model *m, elastic_where where, tac_dvec3 traction,
				  bool pressure, tac_dvec3 *force)
{
	static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}; // outward
	static const int middles[4][3] = {{7, 9, 8}, {6, 9, 5}, {4, 8, 6}, {5, 7, 4}};
	double area = 0;
	for (int32_t e = 0; e < m->element_count; e++) {
		const int32_t *node = m->elements[e].node;
		for (int f = 0; f < 4; f++) {
			tac_dvec3 p[3];
			for (int k = 0; k < 3; k++)
				p[k] = m->nodes[node[faces[f][k]]];
			if (!where(p[0]) || !where(p[1]) || !where(p[2]))
				continue;
			const tac_dvec3 half =
				tac_dvec3_scale(tac_dvec3_triangle_cross(p[0], p[1], p[2]), 0.5);
			const double a = tac_dvec3_length(half);
			const tac_dvec3 each = pressure ? tac_dvec3_scale(half, -traction.x / 3)
							: tac_dvec3_scale(traction, a / 3);
			for (int k = 0; k < 3; k++) {
				const int32_t n = node[m->order == 1 ? faces[f][k] : middles[f][k]];
				force[n] = tac_dvec3_add(force[n], each);
			}
			area += a;
		}
	}
	return area;
}

// Zero right-hand sides.
static inline double *elastic_unknowns(const elastic_factor *f)
{
	const size_t bytes = (size_t)tac_elastic_factor_size(f) * ELASTIC_WIDTH * sizeof(double);
	double *x = (double *)aligned_alloc(64, bytes);
	memset(x, 0, bytes);
	return x;
}

// The displacement of every node under the forces.
static inline void elastic_solve(const elastic_model *m, const tac_dvec3 *force, tac_dvec3 *out)
{
	elastic_factor *f;
	TEST_ASSERT_EQUAL(TAC_OK, tac_elastic_factor_create(m, &f));
	// The same forces as first and as last right-hand side.
	double *x = elastic_unknowns(f);
	for (int32_t n = 0; n < m->node_count; n++) {
		const int32_t u = tac_elastic_factor_unknown(f, n);
		for (int k = 0; u >= 0 && k < 3; k++)
			x[(u + k) * ELASTIC_WIDTH] = x[(u + k + 1) * ELASTIC_WIDTH - 1] =
				tac_dvec3_get(force[n], k);
	}
	tac_elastic_factor_solve(f, NULL, 0, x);
	for (int32_t n = 0; n < m->node_count; n++) {
		const int32_t u = tac_elastic_factor_unknown(f, n);
		out[n] = tac_dvec3_zero();
		if (u >= 0)
			out[n] = tac_dvec3_make(x[u * ELASTIC_WIDTH], x[(u + 1) * ELASTIC_WIDTH],
						x[(u + 2) * ELASTIC_WIDTH]);
		for (int k = 0; u >= 0 && k < 3; k++)
			TEST_ASSERT_EQUAL_DOUBLE(x[(u + k) * ELASTIC_WIDTH],
						 x[(u + k + 1) * ELASTIC_WIDTH - 1]);
	}
	free(x);
	tac_elastic_factor_destroy(&f);
}

static inline tac_dvec3 *elastic_vectors(const elastic_model *m)
{
	return (tac_dvec3 *)calloc((size_t)m->node_count, sizeof(tac_dvec3));
}

#endif
