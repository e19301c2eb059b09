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
#include "tests/base/test_algebra.inl"

#define TAC_REAL        double
#define TAC_(name)      tac_d##name
#define IN_(name)       name##_in_double
#define TAC_K(constant) constant
#define TAC_MATH(name)  name
#define TAC_LIMIT(name) DBL_##name
#include "tests/base/test_algebra.inl"

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
	// Halfway between 1 and its neighbour rounds to even, just above that rounds up.
	tac_vec3 v = tac_vec3_from_dvec3(tac_dvec3_make(1 + 0x1p-24, 1 + 0x1p-24 + 0x1p-52, 1e300));
	TEST_ASSERT_TRUE(v.x == 1.0f && v.y == 1.0f + FLT_EPSILON && isinf(v.z));
}

static double rounded(double x)
{
	volatile float f = (float)x;
	return (double)f;
}

// Separate functions that contain both conversions, which an optimizer might cancel.
__attribute__((noinline)) static void vec3_there_and_back(const tac_dvec3 *v, tac_dvec3 *out)
{
	*out = tac_dvec3_from_vec3(tac_vec3_from_dvec3(*v));
}

__attribute__((noinline)) static void mat3_there_and_back(const tac_dmat3 *m, tac_dmat3 *out)
{
	*out = tac_dmat3_from_mat3(tac_mat3_from_dmat3(*m));
}

__attribute__((noinline)) static void pose_there_and_back(const tac_dpose *T, tac_dpose *out)
{
	*out = tac_dpose_from_pose(tac_pose_from_dpose(*T));
}

__attribute__((noinline)) static void two_there_and_back(const double x[2], double out[2])
{
	float a = tac_f32_from_f64(x[0]), b = tac_f32_from_f64(x[1]);
	out[0] = (double)a;
	out[1] = (double)b;
}

static void every_number_sent_to_float_and_back_is_rounded(void)
{
	for (int i = 0; i < 1000; i++) {
		double in[9], out[9];
		for (int k = 0; k < 9; k++)
			in[k] = tac_rng_range_f64(&rng, -1000, 1000);
		tac_dvec3 v = tac_dvec3_load(in), w;
		vec3_there_and_back(&v, &w);
		tac_dvec3_store(out, w);
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_TRUE(out[k] == rounded(in[k]));
		two_there_and_back(in, out);
		for (int k = 0; k < 2; k++)
			TEST_ASSERT_TRUE(out[k] == rounded(in[k]));
		tac_dmat3 m = tac_dmat3_from_rows(v, tac_dvec3_load(in + 3), tac_dvec3_load(in + 6)), n;
		mat3_there_and_back(&m, &n);
		for (int k = 0; k < 9; k++)
			TEST_ASSERT_TRUE(n.m[k / 3][k % 3] == rounded(in[k]));
		tac_dpose T = tac_dpose_make(v, tac_dquat_make(in[3], in[4], in[5], in[6])), S;
		pose_there_and_back(&T, &S);
		tac_dvec3_store(out, S.position);
		for (int k = 0; k < 3; k++)
			TEST_ASSERT_TRUE(out[k] == rounded(in[k]));
		TEST_ASSERT_TRUE(S.rotation.x == rounded(in[3]) && S.rotation.y == rounded(in[4]) &&
				 S.rotation.z == rounded(in[5]) && S.rotation.w == rounded(in[6]));
	}
}

int main(void)
{
	UNITY_BEGIN();
	for (int flush = 0; flush < 2; flush++) {
		tac_denormal_flush(flush != 0);
		run_all_in_float();
		run_all_in_double();
		RUN_TEST(conversion_to_double_is_exact_and_to_float_rounds_to_nearest);
		RUN_TEST(every_number_sent_to_float_and_back_is_rounded);
	}
	tac_denormal_flush(false);
	return UNITY_END();
}
