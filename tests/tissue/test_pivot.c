// The problem of a contact's rows against brute force over all active sets, and its kernels against each
// other.
#include "base/rng.h"
#include "tests/support/limits.h"
#include "tissue/contact/pivot.h"
#include "unity.h"

#include <math.h>
#include <string.h>

void setUp(void)
{
}

void tearDown(void)
{
}

static void random_problem(tac_pivot *p, tac_rng *rng, int n)
{
	double A[TAC_PIVOT_ROWS][TAC_PIVOT_ROWS];
	p->count = n;
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			A[i][j] = tac_rng_range_f64(rng, -1, 1);
		p->b[i] = tac_rng_range_f64(rng, -1, 0.3);
		p->load[i] = tac_rng_below(rng, 2);
	}
	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++) {
			p->P[i][j] = i == j ? 0.01 : 0;
			for (int k = 0; k < n; k++)
				p->P[i][j] += A[i][k] * A[j][k] / n;
		}
	}
}

// Gauss elimination with the rows of `set` as unknowns; true if the solution meets all conditions.
static bool solves(const tac_pivot *p, unsigned set, double *x)
{
	double M[12][13];
	int row[12], m = 0;
	for (int i = 0; i < p->count; i++) {
		x[i] = 0;
		if (set >> i & 1u)
			row[m++] = i;
	}
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < m; j++)
			M[i][j] = p->P[row[i]][row[j]];
		M[i][m] = -p->b[row[i]];
	}
	for (int k = 0; k < m; k++) {
		for (int i = k + 1; i < m; i++) {
			const double f = M[i][k] / M[k][k];
			for (int j = k; j <= m; j++)
				M[i][j] -= f * M[k][j];
		}
	}
	for (int k = m - 1; k >= 0; k--) {
		double sum = M[k][m];
		for (int j = k + 1; j < m; j++)
			sum -= M[k][j] * x[row[j]];
		x[row[k]] = sum / M[k][k];
		if (x[row[k]] < 0)
			return false;
	}
	for (int i = 0; i < p->count; i++) {
		double gap = p->b[i];
		for (int j = 0; j < p->count; j++)
			gap += p->P[i][j] * x[j];
		if (gap < -1e-9)
			return false;
	}
	return true;
}

static void test_pivoting_finds_the_one_active_set_of_all(void)
{
	static tac_pivot p;
	tac_pivot_init(&p);
	tac_rng rng = tac_rng_seed(1, 1);
	for (int round = 0; round < test_rounds(2000); round++) {
		random_problem(&p, &rng, 1 + (int)tac_rng_below(&rng, 8));
		TEST_ASSERT_TRUE(tac_pivot_solve(&p));
		double x[12];
		unsigned set = 0;
		while (set < 1u << p.count && !solves(&p, set, x))
			set++;
		TEST_ASSERT_TRUE(set < 1u << p.count);
		for (int i = 0; i < p.count; i++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-7 * (1 + x[i]), x[i], p.load[i]);
	}
}

// Rows of few directions, as those of rigid obstacles: here blocks alone come round in a circle in six of a
// thousand problems, and Murty's rule has to end it. Two in a hundred thousand reach the limit.
static void test_pivoting_does_not_go_round_in_circles(void)
{
	static tac_pivot p;
	tac_pivot_init(&p);
	tac_rng rng = tac_rng_seed(77, 1);
	int unsolved = 0;
	for (int round = 0; round < 5000; round++) {
		const int n = 3 + (int)tac_rng_below(&rng, 5), rank = 1 + (int)tac_rng_below(&rng, 3);
		double A[8][3], x[12];
		p.count = n;
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < rank; k++)
				A[i][k] = tac_rng_range_f64(&rng, -1, 1);
			p.b[i] = tac_rng_range_f64(&rng, -1, 0.5);
			p.load[i] = tac_rng_below(&rng, 2);
		}
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++) {
				p.P[i][j] = i == j ? 1e-3 : 0;
				for (int k = 0; k < rank; k++)
					p.P[i][j] += A[i][k] * A[j][k];
			}
		}
		if (!tac_pivot_solve(&p)) {
			unsolved++;
			continue;
		}
		unsigned set = 0;
		for (int i = 0; i < n; i++)
			set |= p.load[i] > 0 ? 1u << i : 0;
		TEST_ASSERT_TRUE(solves(&p, set, x));
	}
	TEST_ASSERT_TRUE(unsolved <= 1);
}

static void test_pivoting_of_all_rows_meets_the_conditions_within_its_limit(void)
{
	static tac_pivot p;
	tac_pivot_init(&p);
	tac_rng rng = tac_rng_seed(2, 1);
	for (int round = 0; round < test_rounds(100); round++) {
		random_problem(&p, &rng, TAC_PIVOT_ROWS);
		TEST_ASSERT_TRUE(tac_pivot_solve(&p));
		for (int i = 0; i < p.count; i++) {
			double gap = p.b[i];
			for (int j = 0; j < p.count; j++)
				gap += p.P[i][j] * p.load[j];
			TEST_ASSERT_TRUE(p.load[i] >= 0 && gap > -1e-9 && fabs(gap * p.load[i]) < 1e-8);
		}
	}
}

static void test_pivoting_keeps_the_loads_if_the_matrix_is_not_definite(void)
{
	static tac_pivot p;
	tac_pivot_init(&p);
	memset(&p, 0, sizeof p);
	tac_pivot_init(&p);
	p.count = 2;
	p.P[0][0] = p.P[1][1] = 1;
	p.P[0][1] = p.P[1][0] = 2;
	p.b[0] = p.b[1] = -1;
	p.load[0] = p.load[1] = 3;
	TEST_ASSERT_FALSE(tac_pivot_solve(&p));
	TEST_ASSERT_EQUAL_DOUBLE(3, p.load[0]);
	TEST_ASSERT_EQUAL_DOUBLE(3, p.load[1]);
}

// ---- kernels ----

static void test_all_simd_variants_give_the_same_bits(void)
{
	static tac_contact_project_fn *const project[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_project);
	static tac_contact_displace_fn *const displace[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_displace);
	static tac_contact_blocks blocks;
	static tac_contact_vectors vectors, moved[2];
	static tac_contact_couple_fn *const couple[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_contact_couple);
	static tac_contact_lines lines;
	static double out[2][CONTACT_ROWS][CONTACT_ROWS];
	static tac_pivot p[2];
	tac_rng rng = tac_rng_seed(11, 1);
	blocks.count = 61;
	for (int i = 0; i < blocks.count; i++) {
		vectors.x[i] = tac_rng_range_f64(&rng, -1, 1);
		vectors.y[i] = tac_rng_range_f64(&rng, -1, 1);
		vectors.z[i] = tac_rng_range_f64(&rng, -1, 1);
		for (int k = 0; k < 9 * blocks.count; k++)
			blocks.of[i][k / blocks.count][k % blocks.count] =
				(float)tac_rng_range_f64(&rng, -1, 1);
	}
	for (int i = 0; i < 77; i++) {
		lines.nx[i] = tac_rng_range_f64(&rng, -1, 1);
		lines.ny[i] = tac_rng_range_f64(&rng, -1, 1);
		lines.nz[i] = tac_rng_range_f64(&rng, -1, 1);
		lines.tx[i] = tac_rng_range_f64(&rng, -1, 1);
		lines.ty[i] = tac_rng_range_f64(&rng, -1, 1);
		lines.tz[i] = tac_rng_range_f64(&rng, -1, 1);
	}
	random_problem(&p[0], &rng, 77);
	int variants = 0;
	for (int simd = 0; simd < TAC_SIMD_COUNT; simd++) {
		if (!tac_simd_supported((tac_simd)simd))
			continue;
		const int to = variants++ > 0;
		static const tac_contact_vectors zero;
		static tac_contact_cholesky_fn *const cholesky[TAC_SIMD_COUNT] =
			TAC_SIMD_TABLE(tac_contact_cholesky);
		moved[to] = zero;
		couple[simd](&lines, 77, 1e-3, 0.3, out[to]);
		project[simd](&blocks, &lines, 5, 0.7, out[to]);
		displace[simd](&blocks, &vectors, &moved[to]);
		memcpy(p[to].factor, p[0].P, sizeof p[0].P);
		double x[TAC_PIVOT_ROWS];
		memcpy(x, p[0].b, sizeof x);
		TEST_ASSERT_TRUE(cholesky[simd](p[to].factor, x, 77, 0));
		memcpy(p[to].load, x, sizeof x);
		// With the factor of the first rows kept, the others give the same bits again.
		for (int i = 41; i < 77; i++)
			memcpy(p[to].factor[i], p[0].P[i], sizeof p[0].P[i]);
		memcpy(x, p[0].b, sizeof x);
		TEST_ASSERT_TRUE(cholesky[simd](p[to].factor, x, 77, 41));
		TEST_ASSERT_EQUAL_MEMORY(p[to].load, x, 77 * sizeof *x);
		TEST_ASSERT_EQUAL_MEMORY(&moved[0], &moved[to], sizeof moved[0]);
		TEST_ASSERT_EQUAL_MEMORY(p[0].load, p[to].load, 77 * sizeof *p[0].load);
		for (int i = 0; i < 77; i++)
			TEST_ASSERT_EQUAL_MEMORY(out[0][i], out[to][i],
						 (size_t)(i + 1) * sizeof out[0][0][0]);
	}
	TEST_ASSERT_TRUE(variants >= 1);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_pivoting_finds_the_one_active_set_of_all);
	RUN_TEST(test_pivoting_does_not_go_round_in_circles);
	RUN_TEST(test_pivoting_of_all_rows_meets_the_conditions_within_its_limit);
	RUN_TEST(test_pivoting_keeps_the_loads_if_the_matrix_is_not_definite);
	RUN_TEST(test_all_simd_variants_give_the_same_bits);
	return UNITY_END();
}
