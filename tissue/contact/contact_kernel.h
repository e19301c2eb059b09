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

#define CONTACT_POINTS 64  // rows with compliance, of one level of points
#define CONTACT_ROWS   152 // all rows

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

// What the rows ask of the tool: their normals and the levers of its rotation.
typedef struct tac_contact_lines {
	double nx[CONTACT_ROWS], ny[CONTACT_ROWS], nz[CONTACT_ROWS];
	double tx[CONTACT_ROWS], ty[CONTACT_ROWS], tz[CONTACT_ROWS];
} tac_contact_lines;

// What rows give way together by the tool, of which `along` is the compliance of a translation, m/N, and
// `about` of a rotation, rad/Nm: out[i][j] for j <= i. The rest of a row up to a multiple of 8 is
// overwritten.
typedef void tac_contact_couple_fn(const tac_contact_lines *lines, int32_t count, double along, double about,
				   double (*out)[CONTACT_ROWS]);
TAC_SIMD_DECLARE(tac_contact_couple_fn, tac_contact_couple);

// Adds `factor` times the compliance along the points' normals, which are the lines from `first` on:
// out[first + i][first + j] for j <= i.
typedef void tac_contact_project_fn(const tac_contact_blocks *blocks, const tac_contact_lines *lines,
				    int32_t first, double factor, double (*out)[CONTACT_ROWS]);
TAC_SIMD_DECLARE(tac_contact_project_fn, tac_contact_project);

// Adds the displacements of all points by the forces.
typedef void tac_contact_displace_fn(const tac_contact_blocks *blocks, const tac_contact_vectors *forces,
				     tac_contact_vectors *moved);
TAC_SIMD_DECLARE(tac_contact_displace_fn, tac_contact_displace);

// Solves A x = b for the lower triangle of a symmetric A of m rows, both in place: A becomes its Cholesky
// factor. The first `known` rows are already those of the factor. False if A is not positive definite.
typedef bool tac_contact_cholesky_fn(double (*A)[CONTACT_ROWS], double *x, int32_t m, int32_t known);
TAC_SIMD_DECLARE(tac_contact_cholesky_fn, tac_contact_cholesky);

#ifdef __cplusplus
}
#endif

#endif
