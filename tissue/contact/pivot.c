#include "tissue/contact/pivot.h"

#include <math.h>

// A gap that is negative by less than this part of the largest |b| is rounding.
#define ROUNDING 1e-12
// Attempts without progress before only one row changes sides.
#define TRIES 3
// A load above this part of the mean is a large one.
#define LARGE 0.5

// Those that will hardly change sides come first, because the factor of the rows before the first change is
// kept.
typedef struct loaded_rows {
	int32_t row[TAC_PIVOT_ROWS];
	int32_t count;
	int32_t known; // rows of the factor
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
		const double *restrict from = p->P[s->row[i]];
		for (int32_t j = 0; i >= s->known && j <= i; j++)
			p->factor[i][j] = from[s->row[j]];
		s->x[i] = -p->b[s->row[i]];
	}
	const bool good = p->cholesky(p->factor, s->x, s->count, s->known);
	s->known = s->count;
	return good;
}

// The first guess: the rows with a load, those with a large one first.
static void guess(const tac_pivot *p, loaded_rows *s, bool *loaded)
{
	double sum = 0;
	int32_t count = 0;
	for (int32_t i = 0; i < p->count; i++) {
		loaded[i] = p->load[i] > 0;
		count += loaded[i];
		sum += loaded[i] ? p->load[i] : 0;
	}
	const double large = count > 0 ? LARGE * sum / count : 0;
	*s = (loaded_rows){.count = 0};
	for (int pass = 0; pass < 2; pass++) {
		for (int32_t i = 0; i < p->count; i++) {
			if (loaded[i] && (p->load[i] > large) == (pass == 0))
				s->row[s->count++] = i;
		}
	}
}

// Rows that are no longer loaded leave, others are appended.
static void change_sides(const tac_pivot *p, loaded_rows *s, bool *loaded, const bool *changes)
{
	int32_t kept = 0;
	for (int32_t k = 0; k < s->count; k++) {
		if (!changes[s->row[k]])
			s->row[kept++] = s->row[k];
		else if (kept < s->known)
			s->known = kept;
	}
	s->count = kept;
	for (int32_t i = 0; i < p->count; i++) {
		if (!changes[i])
			continue;
		loaded[i] = !loaded[i];
		if (loaded[i])
			s->row[s->count++] = i;
	}
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
	loaded_rows s;
	for (int32_t i = 0; i < p->count; i++)
		most = fmax(most, fabs(p->b[i]));
	guess(p, &s, loaded);
	int32_t fewest = p->count + 1, tries = TRIES;
	for (p->factorisations = 1; p->factorisations <= TAC_PIVOT_MOST; p->factorisations++) {
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
		for (int32_t i = 0; i < p->count; i++)
			wrong[i] = tries >= 0 ? wrong[i] : i == last;
		change_sides(p, &s, loaded, wrong);
	}
	p->factorisations = TAC_PIVOT_MOST;
	return false;
}
