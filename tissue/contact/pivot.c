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

void tac_pivot_init(tac_pivot *pivot)
{
	static tac_contact_cholesky_fn *const variants[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_cholesky);
	pivot->cholesky = variants[tac_simd_select()];
}

// Solves P x = -b for the loaded rows.
static bool solve_loaded(tac_pivot *p, loaded_rows *s)
{
	for (int32_t i = 0; i < s->count; i++) {
		for (int32_t j = 0; j <= i; j++)
			p->factor[i][j] = p->P[s->row[i]][s->row[j]];
		s->x[i] = -p->b[s->row[i]];
	}
	return p->cholesky(p->factor, s->x, s->count);
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
