#include "base/algebra.h"
#include "base/denormal.h"
#include "base/rng.h"

#include <unity.h>

#include <stdint.h>
#include <stdio.h>

static tac_rng rng;

void setUp(void)
{
	rng = tac_rng_seed(1, 1);
}

void tearDown(void)
{
}

static void expect(long double want, long double within, long double got)
{
	if (fabsl(got - want) <= within)
		return;
	char message[160];
	snprintf(message, sizeof message, "expected %.12Lg within %.3Lg, got %.12Lg (off by %.3Lg)", want,
		 within, got, got - want);
	TEST_FAIL_MESSAGE(message);
}

// I + sin(angle) K + (1 - cos(angle)) K^2, K the cross-product matrix of the unit axis.
static void rodrigues(const long double axis[3], long double angle, long double out[3][3])
{
	long double x = axis[0], y = axis[1], z = axis[2];
	long double k[3][3] = {{0, -z, y}, {z, 0, -x}, {-y, x, 0}};
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			long double kk = k[i][0] * k[0][j] + k[i][1] * k[1][j] + k[i][2] * k[2][j];
			out[i][j] = (i == j) + sinl(angle) * k[i][j] + (1 - cosl(angle)) * kk;
		}
}

#define TAC_REAL        float
#define TAC_(name)      tac_##name
#define IN_(name)       name##_in_float
#define TAC_K(constant) constant##f
#define TAC_MATH(name)  name##f
#define TAC_LIMIT(name) FLT_##name
#include "tests/test_algebra.inl"
#undef TAC_REAL
#undef TAC_
#undef IN_
#undef TAC_K
#undef TAC_MATH
#undef TAC_LIMIT

#define TAC_REAL        double
#define TAC_(name)      tac_d##name
#define IN_(name)       name##_in_double
#define TAC_K(constant) constant
#define TAC_MATH(name)  name
#define TAC_LIMIT(name) DBL_##name
#include "tests/test_algebra.inl"
#undef TAC_REAL
#undef TAC_
#undef IN_
#undef TAC_K
#undef TAC_MATH
#undef TAC_LIMIT

static void conversion_to_double_is_exact_and_to_float_rounds_to_nearest(void)
{
	for (int i = 0; i < 300; i++) {
		tac_pose T = tac_random_pose();
		tac_mat3 m = tac_mat3_from_quat(T.rotation);
		tac_pose back = tac_pose_from_dpose(tac_dpose_from_pose(T));
		tac_mat3 mback = tac_mat3_from_dmat3(tac_dmat3_from_mat3(m));
		TEST_ASSERT_EQUAL_MEMORY(&T, &back, sizeof T);
		TEST_ASSERT_EQUAL_MEMORY(&m, &mback, sizeof m);
	}
	// Half way between 1 and its neighbour goes to the even one, just above it up.
	tac_vec3 v = tac_vec3_from_dvec3(tac_dvec3_make(1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-52, 1e300));
	TEST_ASSERT_TRUE(v.x == 1.0f && v.y == 1.0f + FLT_EPSILON && isinf(v.z));
}

int main(void)
{
	UNITY_BEGIN();
	for (int flush = 0; flush < 2; flush++) {
		tac_denormal_flush(flush != 0);
		run_all_in_float();
		run_all_in_double();
		RUN_TEST(conversion_to_double_is_exact_and_to_float_rounds_to_nearest);
	}
	tac_denormal_flush(false);
	return UNITY_END();
}
