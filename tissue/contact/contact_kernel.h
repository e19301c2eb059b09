// Kernels of a contact with tissue: sums over its rows, compiled for each SIMD variant. No sum runs across
// the elements of a vector, so all variants give the same bits.
#ifndef TAC_TISSUE_CONTACT_CONTACT_KERNEL_H
#define TAC_TISSUE_CONTACT_CONTACT_KERNEL_H

#include "base/simd.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONTACT_POINTS 64 // rows with compliance
#define CONTACT_ROWS   96 // all rows

// Three numbers of each point, m or N.
typedef struct tac_contact_vectors {
	double x[CONTACT_POINTS], y[CONTACT_POINTS], z[CONTACT_POINTS];
} tac_contact_vectors;

// The compliance between the points, m/N: of[i][3 a + b][j] is the displacement of point i along axis a by a
// unit force on point j along axis b. Columns beyond the last point are zero up to a multiple of 8.
typedef struct tac_contact_blocks {
	float of[CONTACT_POINTS][9][CONTACT_POINTS];
	int32_t count;
} tac_contact_blocks;

// The compliance along the points' normals: out[i][j] for j <= i.
typedef void tac_contact_project_fn(const tac_contact_blocks *blocks, const tac_contact_vectors *normals,
				    double (*out)[CONTACT_POINTS]);
TAC_SIMD_DECLARE(tac_contact_project_fn, tac_contact_project);

// Adds the displacements of all points by the forces.
typedef void tac_contact_displace_fn(const tac_contact_blocks *blocks, const tac_contact_vectors *forces,
				     tac_contact_vectors *moved);
TAC_SIMD_DECLARE(tac_contact_displace_fn, tac_contact_displace);

// Solves A x = b for the lower triangle of a symmetric A of m rows, both in place. False if A is not positive
// definite.
typedef bool tac_contact_cholesky_fn(double (*A)[CONTACT_ROWS], double *x, int32_t m);
TAC_SIMD_DECLARE(tac_contact_cholesky_fn, tac_contact_cholesky);

#ifdef __cplusplus
}
#endif

#endif
