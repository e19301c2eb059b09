#include "haptic/mover/qp.h"

#include "base/assert.h"
#include "base/cholesky.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// A row that lacks less than this, m, is satisfied; far below the hold gap. Smaller: iterations on rounding.
#define SATISFIED_M 1e-10
// A unit row whose squared component orthogonal to the active rows is smaller depends on them. Larger: rows
// that are nearly parallel replace each other. Smaller: the Gram matrix becomes ill-conditioned.
#define DEPENDENT_SQUARED 1e-9
// Smaller coefficients are rounding and never drop a row.
#define MIN_COEFFICIENT 1e-12

typedef struct solver {
	const double (*rows)[TAC_QP_SIZE];
	const double *bounds;
	tac_qp_result *out;
} solver;

static double dot6(const double *a, const double *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static bool is_active(const tac_qp_result *r, int32_t row)
{
	for (int32_t j = 0; j < r->active_count; j++) {
		if (r->active[j] == row)
			return true;
	}
	return false;
}

static double lack_of(const solver *s, int32_t row)
{
	return s->bounds[row] - dot6(s->rows[row], s->out->y);
}

// Of the rows in `which`, or of all (NULL); -1: none is violated.
static int32_t most_violated(const solver *s, const int32_t *which, int32_t count)
{
	int32_t worst = -1;
	double most = SATISFIED_M;
	for (int32_t i = 0; i < count; i++) {
		const int32_t row = which ? which[i] : i;
		const double lack = lack_of(s, row);
		if (lack > most && !is_active(s->out, row)) {
			most = lack;
			worst = row;
		}
	}
	return worst;
}

static void drop_active(tac_qp_result *r, int32_t j)
{
	r->active_count--;
	for (; j < r->active_count; j++) {
		r->active[j] = r->active[j + 1];
		r->multiplier[j] = r->multiplier[j + 1];
	}
}

// Splits row p into a combination of the active rows, `along`, and z, orthogonal to them. Returns |z|^2.
static double project(const solver *s, int32_t p, double along[TAC_QP_SIZE], double z[TAC_QP_SIZE])
{
	const tac_qp_result *r = s->out;
	const int32_t n = r->active_count;
	double gram[TAC_QP_SIZE][TAC_QP_SIZE]; // the lower triangle
	for (int32_t i = 0; i < n; i++) {
		const double *row = s->rows[r->active[i]];
		for (int32_t j = 0; j <= i; j++)
			gram[i][j] = dot6(row, s->rows[r->active[j]]);
		along[i] = dot6(row, s->rows[p]);
	}
	tac_cholesky_solve(&gram[0][0], TAC_QP_SIZE, along, n);
	for (int q = 0; q < TAC_QP_SIZE; q++) {
		z[q] = s->rows[p][q];
		for (int32_t i = 0; i < n; i++)
			z[q] -= s->rows[r->active[i]][q] * along[i];
	}
	return dot6(z, z);
}

// Makes row p hold and drops active rows whose multipliers reach zero.
static tac_qp_status activate(solver *s, int32_t p)
{
	tac_qp_result *r = s->out;
	double multiplier = 0;
	while (r->iterations < TAC_QP_ITERATIONS) {
		r->iterations++;
		double along[TAC_QP_SIZE], z[TAC_QP_SIZE];
		const double orthogonal = project(s, p, along, z);
		const bool moves = orthogonal > DEPENDENT_SQUARED && r->active_count < TAC_QP_SIZE;
		const double reach_at = moves ? fmax(0, lack_of(s, p) / orthogonal) : HUGE_VAL;
		double drop_at = HUGE_VAL;
		int32_t drop = -1;
		for (int32_t j = 0; j < r->active_count; j++) {
			if (along[j] > MIN_COEFFICIENT && r->multiplier[j] / along[j] < drop_at) {
				drop_at = r->multiplier[j] / along[j];
				drop = j;
			}
		}
		if (drop < 0 && !moves)
			return TAC_QP_INFEASIBLE;
		double step = fmin(drop_at, reach_at);
		for (int q = 0; q < TAC_QP_SIZE && moves; q++)
			r->y[q] += step * z[q];
		for (int32_t j = 0; j < r->active_count; j++)
			r->multiplier[j] -= step * along[j];
		multiplier += step;
		if (reach_at <= drop_at) {
			r->active[r->active_count] = p;
			r->multiplier[r->active_count++] = multiplier;
			return TAC_QP_SOLVED;
		}
		drop_active(r, drop);
	}
	return TAC_QP_LIMIT;
}

// Solves the problem of the rows in `which`, or of all (NULL), from the solution with the active ones.
static void solve(solver *s, const int32_t *which, int32_t count)
{
	tac_qp_result *r = s->out;
	r->iterations = 0;
	for (int32_t p; r->status == TAC_QP_SOLVED && (p = most_violated(s, which, count)) >= 0;)
		r->status = activate(s, p);
}

tac_qp_result tac_qp_solve(const double (*rows)[TAC_QP_SIZE], const double *bounds, int32_t count,
			   const int32_t *guess, int32_t guess_count)
{
	TAC_ASSERT(count >= 0 && (count == 0 || (rows && bounds)));
	TAC_ASSERT(guess_count >= 0 && guess_count <= TAC_QP_SIZE && (guess_count == 0 || guess));
	tac_qp_result result = {.status = TAC_QP_SOLVED};
	solver s = {.rows = rows, .bounds = bounds, .out = &result};
	solve(&s, guess, guess_count);
	solve(&s, NULL, count);
	for (int32_t j = 0; j < result.active_count; j++)
		result.multiplier[j] = fmax(0, result.multiplier[j]);
	return result;
}
