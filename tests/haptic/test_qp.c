// The QP is judged by its optimality conditions alone: y is feasible, and a sum of the active rows with
// non-negative multipliers. For a convex problem these conditions characterise the optimum.
#include "haptic/mover/qp.h"

#include "base/algebra.h"
#include "base/rng.h"

#include "unity.h"

#include <math.h>

#define ROWS     64
#define PROBLEMS 20000

void setUp(void)
{
}

void tearDown(void)
{
}

typedef struct problem {
	double rows[ROWS][TAC_QP_SIZE], bounds[ROWS];
} problem;

typedef struct worst {
	double residual;
	int32_t iterations;
	int infeasible;
} worst;

// Row i: a contact with normal n at r whose gap may close by `gap`, for a step towards `target`.
static void set_row(problem *p, int i, tac_dvec3 n, tac_dvec3 r, double gap, const double *target)
{
	tac_dvec3 m = tac_dvec3_scale(tac_dvec3_cross(r, n), 1 / 0.0316);
	double row[TAC_QP_SIZE] = {n.x, n.y, n.z, m.x, m.y, m.z}, length = 0;
	for (int k = 0; k < TAC_QP_SIZE; k++)
		length += row[k] * row[k];
	length = sqrt(length);
	p->bounds[i] = -gap / length;
	for (int k = 0; k < TAC_QP_SIZE; k++) {
		p->rows[i][k] = row[k] / length;
		p->bounds[i] -= p->rows[i][k] * target[k];
	}
}

static tac_qp_result check_guess(const problem *p, int rows, const int32_t *guess, int32_t guess_count,
				 worst *w)
{
	tac_qp_result r =
		tac_qp_solve((const double(*)[TAC_QP_SIZE])p->rows, p->bounds, rows, guess, guess_count);
	w->iterations = r.iterations > w->iterations ? r.iterations : w->iterations;
	w->infeasible += r.status == TAC_QP_INFEASIBLE;
	TEST_ASSERT_NOT_EQUAL(TAC_QP_LIMIT, r.status);
	if (r.status != TAC_QP_SOLVED)
		return r;
	double residual[TAC_QP_SIZE];
	for (int k = 0; k < TAC_QP_SIZE; k++)
		residual[k] = r.y[k];
	for (int32_t j = 0; j < r.active_count; j++) {
		TEST_ASSERT_TRUE(r.multiplier[j] >= 0);
		double slack = -p->bounds[r.active[j]];
		for (int k = 0; k < TAC_QP_SIZE; k++) {
			residual[k] -= r.multiplier[j] * p->rows[r.active[j]][k];
			slack += p->rows[r.active[j]][k] * r.y[k];
		}
		w->residual = fmax(w->residual, fabs(slack * r.multiplier[j]));
	}
	for (int k = 0; k < TAC_QP_SIZE; k++)
		w->residual = fmax(w->residual, fabs(residual[k]));
	for (int i = 0; i < rows; i++) {
		double lack = p->bounds[i];
		for (int k = 0; k < TAC_QP_SIZE; k++)
			lack -= p->rows[i][k] * r.y[k];
		w->residual = fmax(w->residual, lack);
	}
	return r;
}

// Without a guess, and with guesses that are right or wrong.
static void check_optimality(const problem *p, int rows, worst *w)
{
	tac_qp_result r = check_guess(p, rows, NULL, 0, w);
	if (r.status == TAC_QP_SOLVED) {
		worst again = {0};
		tac_qp_result same = check_guess(p, rows, r.active, r.active_count, &again);
		TEST_ASSERT_EQUAL(TAC_QP_SOLVED, same.status);
		TEST_ASSERT_LESS_OR_EQUAL(r.iterations, again.iterations);
		w->residual = fmax(w->residual, again.residual);
	}
	int32_t wrong[TAC_QP_SIZE], count = 0;
	for (int i = 0; i < rows && count < TAC_QP_SIZE; i += 1 + rows / TAC_QP_SIZE)
		wrong[count++] = i;
	TEST_ASSERT_EQUAL(r.status, check_guess(p, rows, wrong, count, w).status);
}

static tac_dvec3 random_in_cube(tac_rng *rng, double size)
{
	double x = tac_rng_range_f64(rng, -size, size), y = tac_rng_range_f64(rng, -size, size);
	return tac_dvec3_make(x, y, tac_rng_range_f64(rng, -size, size));
}

typedef void fill_fn(problem *p, tac_rng *rng, const double *target);

static void fill_random(problem *p, tac_rng *rng, const double *target)
{
	for (int i = 0; i < ROWS; i++) {
		tac_dvec3 n = random_in_cube(rng, 1);
		n.z = 0.2 + fabs(n.z);
		set_row(p, i, tac_dvec3_normalize(n), random_in_cube(rng, 0.05),
			tac_rng_range_f64(rng, 0, 1e-5), target);
	}
}

// Four normals at eight points, each row several times.
static void fill_repeated(problem *p, tac_rng *rng, const double *target)
{
	const tac_dvec3 n[4] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
	for (int i = 0; i < ROWS; i++) {
		tac_dvec3 r = {i & 4 ? 0.02 : -0.02, i & 8 ? 0.02 : -0.02, i & 16 ? 0.02 : -0.02};
		set_row(p, i, n[i & 3], r, tac_rng_range_f64(rng, 0, 1e-5), target);
	}
}

static void fill_parallel(problem *p, tac_rng *rng, const double *target)
{
	for (int i = 0; i < ROWS; i++) {
		tac_dvec3 n = random_in_cube(rng, 1e-6);
		n.z = 1;
		set_row(p, i, tac_dvec3_normalize(n), random_in_cube(rng, 0.05),
			tac_rng_range_f64(rng, 0, 1e-5), target);
	}
}

// The contacts of a peg in a hole.
static void fill_ring(problem *p, tac_rng *rng, const double *target)
{
	for (int i = 0; i < ROWS; i++) {
		double a = 2 * 3.14159265358979323846 * i / ROWS, c = cos(a), s = sin(a);
		set_row(p, i, tac_dvec3_make(-c, -s, 0),
			tac_dvec3_make(0.005 * c, 0.005 * s, i & 1 ? 0.02 : -0.02),
			tac_rng_range_f64(rng, 0, 1e-4), target);
	}
}

static void assert_optimal(fill_fn *fill)
{
	tac_rng rng = tac_rng_seed(77, 1);
	worst w = {0};
	for (int n = 0; n < PROBLEMS; n++) {
		double target[TAC_QP_SIZE];
		for (int k = 0; k < TAC_QP_SIZE; k++)
			target[k] = tac_rng_range_f64(&rng, -0.005, 0.005);
		problem p;
		fill(&p, &rng, target);
		check_optimality(&p, ROWS, &w);
	}
	TEST_ASSERT_EQUAL(0, w.infeasible);
	TEST_ASSERT_TRUE(w.residual <= 1e-7);
	TEST_ASSERT_TRUE(w.iterations <= TAC_QP_ITERATIONS);
}

static void random_rows_reach_the_optimum(void)
{
	assert_optimal(fill_random);
}

static void repeated_rows_reach_the_optimum(void)
{
	assert_optimal(fill_repeated);
}

static void nearly_parallel_rows_reach_the_optimum(void)
{
	assert_optimal(fill_parallel);
}

static void rings_of_rows_reach_the_optimum(void)
{
	assert_optimal(fill_ring);
}

static void without_rows_the_solution_is_the_origin(void)
{
	tac_qp_result r = tac_qp_solve(NULL, NULL, 0, NULL, 0);
	TEST_ASSERT_EQUAL(TAC_QP_SOLVED, r.status);
	for (int k = 0; k < TAC_QP_SIZE; k++)
		TEST_ASSERT_TRUE(r.y[k] == 0);
}

static void a_single_row_is_satisfied_along_its_own_direction(void)
{
	const double rows[1][TAC_QP_SIZE] = {{0, 0.6, 0, 0, 0.8, 0}}, bounds[1] = {2};
	tac_qp_result r = tac_qp_solve(rows, bounds, 1, NULL, 0);
	TEST_ASSERT_EQUAL(TAC_QP_SOLVED, r.status);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.2, r.y[1]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.6, r.y[4]);
	TEST_ASSERT_EQUAL(1, r.active_count);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 2, r.multiplier[0]);
}

static void a_slack_row_has_no_multiplier(void)
{
	// Two walls at right angles; the target lies beyond one of them only.
	const double rows[2][TAC_QP_SIZE] = {{1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}}, bounds[2] = {0.5, -0.5};
	tac_qp_result r = tac_qp_solve(rows, bounds, 2, NULL, 0);
	TEST_ASSERT_EQUAL(1, r.active_count);
	TEST_ASSERT_EQUAL(0, r.active[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.5, r.y[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0, r.y[1]);
}

static void contradicting_rows_are_reported_as_infeasible(void)
{
	const double rows[2][TAC_QP_SIZE] = {{0, 0, 1, 0, 0, 0}, {0, 0, -1, 0, 0, 0}},
		     bounds[2] = {1e-6, 1e-6};
	TEST_ASSERT_EQUAL(TAC_QP_INFEASIBLE, tac_qp_solve(rows, bounds, 2, NULL, 0).status);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(random_rows_reach_the_optimum);
	RUN_TEST(repeated_rows_reach_the_optimum);
	RUN_TEST(nearly_parallel_rows_reach_the_optimum);
	RUN_TEST(rings_of_rows_reach_the_optimum);
	RUN_TEST(without_rows_the_solution_is_the_origin);
	RUN_TEST(a_single_row_is_satisfied_along_its_own_direction);
	RUN_TEST(a_slack_row_has_no_multiplier);
	RUN_TEST(contradicting_rows_are_reported_as_infeasible);
	return UNITY_END();
}
