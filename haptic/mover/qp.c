#include "haptic/qp.h"

#include "base/assert.h"

#include <math.h>
#include <stdbool.h>

// A row is violated when it lacks more than this; lengths are metres, so it is far below any gap that
// matters.
#define VIOLATED 1e-10
// |z|^2 of a unit row's part across the active ones, below which it depends on them.
#define DEPENDENT 1e-9
// Smaller coefficients are rounding and never drop a row.
#define COEFFICIENT 1e-12
#define PIVOT       1e-30

typedef struct solver {
	const double (*rows)[TAC_QP_SIZE];
	const double *bounds;
	int32_t count;
	tac_qp_result *out;
	double gram[TAC_QP_SIZE][TAC_QP_SIZE]; // its Cholesky factor, lower triangle
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

static int32_t most_violated(const solver *s)
{
	int32_t worst = -1;
	double most = VIOLATED;
	for (int32_t i = 0; i < s->count; i++) {
		double lack = s->bounds[i] - dot6(s->rows[i], s->out->y);
		if (lack > most && !is_active(s->out, i)) {
			most = lack;
			worst = i;
		}
	}
	return worst;
}

static void factor(solver *s)
{
	const tac_qp_result *r = s->out;
	for (int32_t i = 0; i < r->active_count; i++) {
		for (int32_t j = 0; j <= i; j++) {
			double v = dot6(s->rows[r->active[i]], s->rows[r->active[j]]);
			for (int32_t k = 0; k < j; k++)
				v -= s->gram[i][k] * s->gram[j][k];
			s->gram[i][j] = i == j ? sqrt(fmax(v, PIVOT)) : v / s->gram[j][j];
		}
	}
}

// The row p as `part` of the active rows and the rest z across them; answers |z|^2.
static double project(solver *s, int32_t p, double part[TAC_QP_SIZE], double z[TAC_QP_SIZE])
{
	const tac_qp_result *r = s->out;
	factor(s);
	int32_t n = r->active_count;
	for (int32_t i = 0; i < n; i++) {
		double v = dot6(s->rows[r->active[i]], s->rows[p]);
		for (int32_t k = 0; k < i; k++)
			v -= s->gram[i][k] * part[k];
		part[i] = v / s->gram[i][i];
	}
	for (int32_t i = n - 1; i >= 0; i--) {
		for (int32_t k = i + 1; k < n; k++)
			part[i] -= s->gram[k][i] * part[k];
		part[i] /= s->gram[i][i];
	}
	for (int q = 0; q < TAC_QP_SIZE; q++) {
		z[q] = s->rows[p][q];
		for (int32_t i = 0; i < n; i++)
			z[q] -= s->rows[r->active[i]][q] * part[i];
	}
	return dot6(z, z);
}

// Makes the row p hold, dropping active rows as their multipliers reach zero. Anything but TAC_QP_SOLVED ends
// the solver.
static tac_qp_status enter(solver *s, int32_t p)
{
	tac_qp_result *r = s->out;
	double multiplier = 0;
	while (r->iterations < TAC_QP_ITERATIONS) {
		r->iterations++;
		double part[TAC_QP_SIZE], z[TAC_QP_SIZE];
		double across = project(s, p, part, z);
		double drop_at = HUGE_VAL, reach_at = HUGE_VAL;
		int32_t drop = -1;
		for (int32_t j = 0; j < r->active_count; j++) {
			if (part[j] > COEFFICIENT && r->multiplier[j] / part[j] < drop_at) {
				drop_at = r->multiplier[j] / part[j];
				drop = j;
			}
		}
		bool moves = across > DEPENDENT && r->active_count < TAC_QP_SIZE;
		if (moves)
			reach_at = fmax(0, (s->bounds[p] - dot6(s->rows[p], r->y)) / across);
		if (drop < 0 && !moves)
			return TAC_QP_INFEASIBLE;
		double step = fmin(drop_at, reach_at);
		for (int q = 0; q < TAC_QP_SIZE && moves; q++)
			r->y[q] += step * z[q];
		for (int32_t j = 0; j < r->active_count; j++)
			r->multiplier[j] -= step * part[j];
		multiplier += step;
		if (reach_at <= drop_at) {
			r->active[r->active_count] = p;
			r->multiplier[r->active_count++] = multiplier;
			return TAC_QP_SOLVED;
		}
		r->active_count--;
		for (int32_t j = drop; j < r->active_count; j++) {
			r->active[j] = r->active[j + 1];
			r->multiplier[j] = r->multiplier[j + 1];
		}
	}
	return TAC_QP_LIMIT;
}

tac_qp_result tac_qp_solve(const double (*rows)[TAC_QP_SIZE], const double *bounds, int32_t count)
{
	TAC_ASSERT(count >= 0 && (count == 0 || (rows && bounds)));
	tac_qp_result result = {.status = TAC_QP_SOLVED};
	solver s = {.rows = rows, .bounds = bounds, .count = count, .out = &result};
	for (int32_t p; result.status == TAC_QP_SOLVED && (p = most_violated(&s)) >= 0;)
		result.status = enter(&s, p);
	for (int32_t j = 0; j < result.active_count; j++)
		result.multiplier[j] = fmax(0, result.multiplier[j]);
	return result;
}
