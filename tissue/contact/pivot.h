// Pivot: the complementarity problem of a contact with loads x >= 0 and gaps w = P x + b >= 0, of which one
// of each pair is zero. P is symmetric and positive definite.
//
// Block principal pivoting (J. Judice and F. Pires, "A block principal pivoting algorithm for large-scale
// strictly monotone linear complementarity problems", Computers and Operations Research 21, 1994): the loaded
// rows are guessed, their loads follow from a Cholesky factorisation, and all rows with a wrong sign change
// sides at once. If the number of wrong signs has not fallen three times, only the last of them changes sides
// (K. Murty 1974), which always ends. The number of factorisations is limited. Sums run in a fixed order, so
// equal input gives equal bits.
#ifndef TAC_TISSUE_CONTACT_PIVOT_H
#define TAC_TISSUE_CONTACT_PIVOT_H

#include "tissue/contact/contact_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TAC_PIVOT_ROWS CONTACT_ROWS
#define TAC_PIVOT_MOST 24 // factorisations

typedef struct tac_pivot {
	int32_t count;                            // of rows
	double P[TAC_PIVOT_ROWS][TAC_PIVOT_ROWS]; // both triangles
	double b[TAC_PIVOT_ROWS];
	// The first guess: rows with a positive load. Then the solution; unchanged if it was not found.
	double load[TAC_PIVOT_ROWS];

	tac_contact_cholesky_fn *cholesky; // set by tac_pivot_init
	int32_t factorisations;
	double factor[TAC_PIVOT_ROWS][TAC_PIVOT_ROWS]; // scratch
} tac_pivot;

// Selects the SIMD variant.
// Thread: setup.
void tac_pivot_init(tac_pivot *pivot);

// Solves the problem. False if the factorisations are spent or P is not positive definite: the loads remain
// as they were.
// Thread: RT.
bool tac_pivot_solve(tac_pivot *pivot);

#ifdef __cplusplus
}
#endif

#endif
