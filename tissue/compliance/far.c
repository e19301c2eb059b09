// How the far basis is made: vectors that hold the displacements of a cluster under forces far from it, and
// what remains of the blocks between two clusters in their bases.
#include "tissue/compliance/cluster.h"

#include <math.h>
#include <string.h>

#define RANK TAC_COMPLIANCE_RANK
// Steps of the iteration that turns the vectors towards the largest singular ones, and the part of the
// largest column below which what remains is rounding.
#define STEPS    2
#define ROUNDING 1e-12

static double dot(int32_t n, const double *a, const double *b)
{
	double sum[4] = {0};
	int32_t i = 0;
	for (; i + 4 <= n; i += 4) {
		for (int k = 0; k < 4; k++)
			sum[k] += a[i + k] * b[i + k];
	}
	for (; i < n; i++)
		sum[0] += a[i] * b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void subtract(int32_t n, double factor, const double *a, double *from)
{
	for (int32_t i = 0; i < n; i++)
		from[i] -= factor * a[i];
}

// Makes v orthogonal to `count` unit vectors, and of length 1. False if nothing but rounding remains of it.
static bool orthonormalise(int32_t rows, int count, double (*unit)[COMPLIANCE_SIDE], double *v)
{
	const double before = sqrt(dot(rows, v, v));
	for (int twice = 0; twice < 2; twice++) { // once leaves an error where v is nearly in their span
		for (int k = 0; k < count; k++)
			subtract(rows, dot(rows, unit[k], v), unit[k], v);
	}
	const double length = sqrt(dot(rows, v, v));
	if (!(length > ROUNDING * before))
		return false;
	for (int32_t i = 0; i < rows; i++)
		v[i] /= length;
	return true;
}

// Gram and Schmidt's method, by the longest remaining column each time. The number of vectors.
static int choose_columns(int32_t rows, int32_t count, double *columns, double (*out)[COMPLIANCE_SIDE])
{
	double largest = 0;
	int rank = 0;
	while (rank < RANK && rank < rows) {
		int32_t best = 0;
		double most = -1;
		for (int32_t c = 0; c < count; c++) {
			const double *v = columns + (size_t)c * (size_t)rows, square = dot(rows, v, v);
			if (square > most) {
				most = square;
				best = c;
			}
		}
		largest = rank == 0 ? most : largest;
		if (!(most > ROUNDING * ROUNDING * largest))
			break;
		memcpy(out[rank], columns + (size_t)best * (size_t)rows, (size_t)rows * sizeof **out);
		if (!orthonormalise(rows, rank, out, out[rank]))
			break;
		for (int32_t c = 0; c < count; c++) {
			double *v = columns + (size_t)c * (size_t)rows;
			subtract(rows, dot(rows, out[rank], v), out[rank], v);
		}
		rank++;
	}
	return rank;
}

void tac_compliance_find_basis(int32_t rows, int32_t count, double *columns, double *scratch,
			       compliance_basis *out)
{
	double unit[RANK][COMPLIANCE_SIDE], next[RANK][COMPLIANCE_SIDE];
	memcpy(scratch, columns, (size_t)rows * (size_t)count * sizeof *columns);
	int rank = choose_columns(rows, count, scratch, unit);
	for (int step = 0; step < STEPS; step++) {
		memset(next, 0, sizeof next);
		for (int32_t c = 0; c < count; c++) {
			const double *v = columns + (size_t)c * (size_t)rows;
			for (int k = 0; k < rank; k++)
				subtract(rows, -dot(rows, unit[k], v), v, next[k]);
		}
		int kept = 0;
		for (int k = 0; k < rank; k++) {
			memcpy(unit[kept], next[k], sizeof *unit);
			kept += orthonormalise(rows, kept, unit, unit[kept]);
		}
		rank = kept;
	}
	memset(out, 0, sizeof *out);
	for (int k = 0; k < rank; k++) {
		for (int32_t i = 0; i < rows; i++)
			out->of[i][k] = (float)unit[k][i];
	}
}

double tac_compliance_project(const compliance_matrix *m, const compliance_basis *left,
			      const compliance_basis *right, double limit, float out_S[RANK * RANK])
{
	float half[RANK][COMPLIANCE_SIDE] = {{0}}; // U^T C
	for (int32_t r = 0; r < m->rows; r++) {
		for (int k = 0; k < RANK; k++) {
			const float u = left->of[r][k];
			for (int32_t c = 0; c < m->columns; c++)
				half[k][c] += u * m->of[r][c];
		}
	}
	memset(out_S, 0, RANK * RANK * sizeof *out_S);
	for (int k = 0; k < RANK; k++) {
		for (int32_t c = 0; c < m->columns; c++) {
			for (int l = 0; l < RANK; l++)
				out_S[k * RANK + l] += half[k][c] * right->of[c][l];
		}
	}
	float turned[RANK][COMPLIANCE_SIDE]; // V^T, then half = S V^T
	for (int32_t c = 0; c < m->columns; c++) {
		for (int l = 0; l < RANK; l++)
			turned[l][c] = right->of[c][l];
	}
	memset(half, 0, sizeof half);
	for (int k = 0; k < RANK; k++) {
		for (int l = 0; l < RANK; l++) {
			for (int32_t c = 0; c < m->columns; c++)
				half[k][c] += out_S[k * RANK + l] * turned[l][c];
		}
	}
	double worst = 0;
	for (int32_t r = 0; r < m->rows; r++) {
		float error[COMPLIANCE_SIDE];
		memcpy(error, m->of[r], sizeof error);
		for (int k = 0; k < RANK; k++) {
			for (int32_t c = 0; c < m->columns; c++)
				error[c] -= left->of[r][k] * half[k][c];
		}
		for (int32_t c = 0; c < m->columns; c++)
			worst = fmax(worst, fabs((double)error[c]));
		if (!(worst <= limit))
			return HUGE_VAL;
	}
	return worst;
}
