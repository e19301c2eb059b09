// Lower: the factors L D L^T of a stiffness matrix, and the solution of many right-hand sides at once.
// SuperLU factorises; its own solution reads both of its factors and takes three times as long. Columns with
// the same rows below them form panels, which are dense.
#ifndef TAC_TISSUE_ELASTIC_LOWER_H
#define TAC_TISSUE_ELASTIC_LOWER_H

#include "base/simd.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Right-hand sides that are solved together.
#define ELASTIC_WIDTH 24

typedef struct elastic_lower {
	int32_t size, panels;
	int32_t *first;    // column of each panel, panels + 1
	size_t *row_start; // of each panel in `row`, panels + 1
	int32_t *row;      // the rows below the panel's own
	size_t *value_start;
	// Of each panel: its own rows and those below, row by row, each with a value for every column. L has
	// ones on its diagonal; what a panel has on and above its diagonal is not used.
	double *value;
	double *inverse; // of D
} elastic_lower;

// Solves L D L^T x = b in place: x[ELASTIC_WIDTH i + k] is row i of right-hand side k, aligned to 64 bytes.
// Correct are the rows from `from` on of the panels that `needed` has a 1 for; NULL: of all.
typedef void elastic_solve_fn(const elastic_lower *lower, const uint8_t *needed, int32_t from, double *x);
TAC_SIMD_DECLARE(elastic_solve_fn, tac_elastic_lower_solve);

#ifdef __cplusplus
}
#endif

#endif
