// Cholesky: the solution of few linear equations with a symmetric, positive semidefinite matrix, such as the
// Gram matrix of some rows.
#ifndef TAC_BASE_CHOLESKY_H
#define TAC_BASE_CHOLESKY_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A smaller pivot counts as this: no division is by zero. What a singular matrix leaves open is
// then rounding.
#define TAC_CHOLESKY_MIN_PIVOT 1e-30

// Solves A x = b in place: b becomes x, and the lower triangle of A its Cholesky factor; the upper one is not
// read. A has `count` rows, each `stride` numbers after the one before.
// Thread: RT.
static inline void tac_cholesky_solve(double *A, int32_t stride, double *b, int32_t count)
{
	for (int32_t i = 0; i < count; i++) {
		double *row = A + i * stride;
		for (int32_t j = 0; j <= i; j++) {
			const double *above = A + j * stride;
			double v = row[j];
			for (int32_t k = 0; k < j; k++)
				v -= row[k] * above[k];
			row[j] = i == j ? sqrt(fmax(v, TAC_CHOLESKY_MIN_PIVOT)) : v / above[j];
		}
		for (int32_t k = 0; k < i; k++)
			b[i] -= row[k] * b[k];
		b[i] /= row[i];
	}
	for (int32_t i = count - 1; i >= 0; i--) {
		for (int32_t k = i + 1; k < count; k++)
			b[i] -= A[k * stride + i] * b[k];
		b[i] /= A[i * stride + i];
	}
}

#ifdef __cplusplus
}
#endif

#endif
