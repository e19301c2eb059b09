#include "tissue/contact/contact_kernel.h"

#include <math.h>

// Rows of eight, so that the compiler needs no loop for the rest.
#define EIGHT(count) (((count) + 7) & ~7)

void TAC_SIMD_NAME(tac_contact_couple)(const tac_contact_lines *lines, int32_t count, double along,
				       double about, double (*out)[CONTACT_ROWS])
{
	const double *restrict nx = lines->nx, *restrict ny = lines->ny, *restrict nz = lines->nz;
	const double *restrict tx = lines->tx, *restrict ty = lines->ty, *restrict tz = lines->tz;
	for (int32_t i = 0; i < count; i++) {
		double *restrict row = out[i];
		const double x = along * nx[i], y = along * ny[i], z = along * nz[i];
		const double u = about * tx[i], v = about * ty[i], w = about * tz[i];
		for (int32_t j = 0; j < EIGHT(i + 1); j++)
			row[j] = (x * nx[j] + y * ny[j] + z * nz[j]) + (u * tx[j] + v * ty[j] + w * tz[j]);
	}
}

void TAC_SIMD_NAME(tac_contact_project)(const tac_contact_blocks *blocks, const tac_contact_lines *lines,
					int32_t first, double factor, double (*out)[CONTACT_ROWS])
{
	const double *restrict nx = lines->nx + first, *restrict ny = lines->ny + first,
			       *restrict nz = lines->nz + first;
	for (int32_t i = 0; i < blocks->count; i++) {
		const float(*restrict c)[CONTACT_POINTS] = blocks->of[i];
		double *restrict row = out[first + i] + first;
		const double x = factor * nx[i], y = factor * ny[i], z = factor * nz[i];
		for (int32_t j = 0; j < EIGHT(i + 1); j++) {
			const double u =
				(double)c[0][j] * nx[j] + (double)c[1][j] * ny[j] + (double)c[2][j] * nz[j];
			const double v =
				(double)c[3][j] * nx[j] + (double)c[4][j] * ny[j] + (double)c[5][j] * nz[j];
			const double w =
				(double)c[6][j] * nx[j] + (double)c[7][j] * ny[j] + (double)c[8][j] * nz[j];
			row[j] += x * u + y * v + z * w;
		}
	}
}

// By columns, which are rows of the transposed blocks: C_ij = C_ji^T.
void TAC_SIMD_NAME(tac_contact_displace)(const tac_contact_blocks *blocks, const tac_contact_vectors *forces,
					 tac_contact_vectors *moved)
{
	double *restrict ux = moved->x, *restrict uy = moved->y, *restrict uz = moved->z;
	for (int32_t j = 0; j < blocks->count; j++) {
		const float(*restrict c)[CONTACT_POINTS] = blocks->of[j];
		const double x = forces->x[j], y = forces->y[j], z = forces->z[j];
		if (x == 0 && y == 0 && z == 0)
			continue;
		for (int32_t i = 0; i < EIGHT(blocks->count); i++) {
			ux[i] += (double)c[0][i] * x + (double)c[3][i] * y + (double)c[6][i] * z;
			uy[i] += (double)c[1][i] * x + (double)c[4][i] * y + (double)c[7][i] * z;
			uz[i] += (double)c[2][i] * x + (double)c[5][i] * y + (double)c[8][i] * z;
		}
	}
}

// Column by column: the inner loops add no sum, so they may be vectorised without a change of any bit.
bool TAC_SIMD_NAME(tac_contact_cholesky)(double (*A)[CONTACT_ROWS], double *x, int32_t m, int32_t known)
{
	for (int32_t k = 0; k < m; k++) {
		double column[CONTACT_ROWS];
		const int32_t first = k < known ? known : k + 1; // of the rows that are not yet factors
		if (k >= known) {
			if (!(A[k][k] > 0))
				return false;
			A[k][k] = sqrt(A[k][k]);
		}
		const double inverse = 1 / A[k][k];
		for (int32_t i = k + 1; i < first; i++)
			column[i] = A[i][k];
		for (int32_t i = first; i < m; i++)
			column[i] = A[i][k] *= inverse;
		for (int32_t i = first; i < m; i++) {
			double *restrict row = A[i];
			const double f = column[i];
			for (int32_t j = k + 1; j <= i; j++)
				row[j] -= f * column[j];
		}
		x[k] *= inverse;
		const double s = x[k];
		for (int32_t i = k + 1; i < m; i++)
			x[i] -= column[i] * s;
	}
	for (int32_t k = m - 1; k >= 0; k--) {
		x[k] /= A[k][k];
		const double s = x[k];
		for (int32_t j = 0; j < k; j++)
			x[j] -= A[k][j] * s;
	}
	return true;
}
