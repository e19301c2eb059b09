#include "tissue/contact/pivot.h"

#include <math.h>

// A gap that is negative by less than this part of the largest |b| is rounding.
#define ROUNDING 1e-12
// Attempts without progress before only one row changes sides.
#define TRIES 3

typedef struct loaded_rows {
	int32_t row[TAC_PIVOT_ROWS];
	int32_t count;
	double x[TAC_PIVOT_ROWS];
} loaded_rows;

// Factorises the block of the loaded rows and solves P x = -b there. The factorisation subtracts column by
// column, so that the inner loop adds no sum and may be vectorised without a change of any bit.
static bool solve_loaded(tac_pivot *p, loaded_rows *s)
{
	const int32_t m = s->count;
	for (int32_t i = 0; i < m; i++) {
		for (int32_t j = 0; j <= i; j++)
			p->factor[i][j] = p->P[s->row[i]][s->row[j]];
		s->x[i] = -p->b[s->row[i]];
	}
	for (int32_t k = 0; k < m; k++) {
		double column[TAC_PIVOT_ROWS];
		if (!(p->factor[k][k] > 0))
			return false;
		const double d = sqrt(p->factor[k][k]), inverse = 1 / d;
		p->factor[k][k] = d;
		for (int32_t i = k + 1; i < m; i++)
			column[i] = p->factor[i][k] *= inverse;
		for (int32_t i = k + 1; i < m; i++) {
			double *restrict row = p->factor[i];
			const double f = column[i];
			for (int32_t j = k + 1; j <= i; j++)
				row[j] -= f * column[j];
		}
		s->x[k] *= inverse;
		const double x = s->x[k];
		for (int32_t i = k + 1; i < m; i++)
			s->x[i] -= column[i] * x;
	}
	for (int32_t k = m - 1; k >= 0; k--) {
		s->x[k] /= p->factor[k][k];
		const double x = s->x[k];
		for (int32_t j = 0; j < k; j++)
			s->x[j] -= p->factor[k][j] * x;
	}
	return true;
}

// Marks the rows with a wrong sign, returns their number and the last of them.
static int32_t find_wrong(const tac_pivot *p, const loaded_rows *s, const bool *loaded, double rounding,
			  bool *wrong, int32_t *out_last)
{
	double gap[TAC_PIVOT_ROWS];
	int32_t count = 0;
	for (int32_t i = 0; i < p->count; i++) {
		gap[i] = p->b[i];
		wrong[i] = false;
	}
	// P is symmetric: by columns the inner loop is in place, as above.
	for (int32_t k = 0; k < s->count; k++) {
		const double *restrict column = p->P[s->row[k]];
		const double x = s->x[k];
		for (int32_t i = 0; i < p->count; i++)
			gap[i] += column[i] * x;
		wrong[s->row[k]] = x < 0;
	}
	for (int32_t i = 0; i < p->count; i++) {
		if (!loaded[i])
			wrong[i] = gap[i] < -rounding;
		if (wrong[i]) {
			count++;
			*out_last = i;
		}
	}
	return count;
}

bool tac_pivot_solve(tac_pivot *pivot)
{
	tac_pivot *p = pivot;
	bool loaded[TAC_PIVOT_ROWS], wrong[TAC_PIVOT_ROWS];
	double most = 0;
	for (int32_t i = 0; i < p->count; i++) {
		loaded[i] = p->load[i] > 0;
		most = fmax(most, fabs(p->b[i]));
	}
	int32_t fewest = p->count + 1, tries = TRIES;
	for (p->factorisations = 1; p->factorisations <= TAC_PIVOT_MOST; p->factorisations++) {
		loaded_rows s = {.count = 0};
		for (int32_t i = 0; i < p->count; i++) {
			if (loaded[i])
				s.row[s.count++] = i;
		}
		if (!solve_loaded(p, &s))
			return false;
		int32_t last = -1;
		const int32_t count = find_wrong(p, &s, loaded, ROUNDING * most, wrong, &last);
		if (count == 0) {
			for (int32_t i = 0; i < p->count; i++)
				p->load[i] = 0;
			for (int32_t k = 0; k < s.count; k++)
				p->load[s.row[k]] = s.x[k];
			return true;
		}
		if (count < fewest) {
			fewest = count;
			tries = TRIES;
		} else {
			tries--;
		}
		for (int32_t i = 0; i < p->count; i++) {
			if (tries >= 0 ? wrong[i] : i == last)
				loaded[i] = !loaded[i];
		}
	}
	p->factorisations = TAC_PIVOT_MOST;
	return false;
}
