// Solutions against the equations that they solve, and matrices without a solution of their own.
#include "base/cholesky.h"
#include "base/rng.h"

#include <unity.h>

#define SIZE 6

void setUp(void)
{
}

void tearDown(void)
{
}

static void the_solution_satisfies_the_equations(void)
{
	tac_rng rng = tac_rng_seed(1, 0);
	for (int round = 0; round < 1000; round++) {
		const int32_t count = 1 + round % SIZE;
		double rows[SIZE][SIZE], A[SIZE][SIZE], x[SIZE], b[SIZE] = {0};
		for (int i = 0; i < SIZE; i++) {
			for (int k = 0; k < SIZE; k++)
				rows[i][k] = tac_rng_range_f64(&rng, -1, 1) + 2 * (i == k);
			x[i] = tac_rng_range_f64(&rng, -1, 1);
		}
		for (int i = 0; i < count; i++) {
			for (int j = 0; j < SIZE; j++) {
				A[i][j] = 0;
				for (int k = 0; k < SIZE; k++)
					A[i][j] += rows[i][k] * rows[j][k];
				b[i] += j < count ? A[i][j] * x[j] : 0;
			}
		}
		for (int i = 0; i < count; i++) {
			for (int j = i + 1; j < count; j++)
				A[i][j] = NAN; // the upper triangle is not read
		}
		tac_cholesky_solve(&A[0][0], SIZE, b, count);
		for (int i = 0; i < count; i++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, x[i], b[i]);
	}
}

static void a_singular_matrix_gives_finite_numbers(void)
{
	double A[2][2] = {{1, 1}, {1, 1}}, b[2] = {1, 1};
	tac_cholesky_solve(&A[0][0], 2, b, 2);
	TEST_ASSERT_TRUE(isfinite(b[0]) && isfinite(b[1]));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, b[0] + b[1]);
	tac_cholesky_solve(NULL, 2, NULL, 0); // no equations
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(the_solution_satisfies_the_equations);
	RUN_TEST(a_singular_matrix_gives_finite_numbers);
	return UNITY_END();
}
