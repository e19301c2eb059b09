#include "base/rng.h"

#include <unity.h>

#include <math.h>
#include <stdint.h>

static tac_rng rng;

void setUp(void)
{
	rng = tac_rng_seed(2024, 1);
}

void tearDown(void)
{
}

static void sequence_is_the_published_one(void)
{
	// The first round of pcg32-demo, seeded with (42, 54), as printed by its author.
	const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
	rng = tac_rng_seed(42, 54);
	for (int i = 0; i < 6; i++)
		TEST_ASSERT_EQUAL_HEX32(published[i], tac_rng_u32(&rng));
	rng = tac_rng_seed(42, 54);
	TEST_ASSERT_EQUAL_HEX64(UINT64_C(0xa15c02b77b47f409), tac_rng_u64(&rng));
}

static void copy_replays_and_other_sequences_differ(void)
{
	tac_rng copy = rng, other = tac_rng_seed(2024, 2);
	int equal = 0;
	for (int i = 0; i < 1000; i++) {
		uint32_t x = tac_rng_u32(&rng);
		TEST_ASSERT_EQUAL_HEX32(x, tac_rng_u32(&copy));
		equal += x == tac_rng_u32(&other);
	}
	TEST_ASSERT_LESS_THAN(3, equal);
}

static void below_is_in_bounds_and_uniform(void)
{
	int count[7] = {0};
	for (int i = 0; i < 70000; i++)
		count[tac_rng_below(&rng, 7)]++;
	for (int i = 0; i < 7; i++)
		TEST_ASSERT_INT_WITHIN(500, 10000, count[i]); // five standard deviations
	// With 3 * 2^30 a plain remainder would be in the lowest third every second time.
	int low = 0;
	for (int i = 0; i < 30000; i++)
		low += tac_rng_below(&rng, UINT32_C(3) << 30) < UINT32_C(1) << 30;
	TEST_ASSERT_INT_WITHIN(500, 10000, low);
	TEST_ASSERT_EQUAL_UINT32(0, tac_rng_below(&rng, 0));
	TEST_ASSERT_EQUAL_UINT32(0, tac_rng_below(&rng, 1));
}

static void uniform_numbers_stay_below_one_and_use_all_their_bits(void)
{
	double sum = 0, squares = 0;
	uint32_t bits = 0;
	uint64_t more_bits = 0;
	for (int i = 0; i < 100000; i++) {
		float x = tac_rng_f32(&rng);
		double y = tac_rng_f64(&rng);
		TEST_ASSERT_TRUE(x >= 0 && x < 1 && y >= 0 && y < 1);
		bits |= (uint32_t)(x * 0x1p24f);
		more_bits |= (uint64_t)(y * 0x1p53);
		sum += y;
		squares += y * y;
	}
	TEST_ASSERT_EQUAL_HEX32(0xFFFFFF, bits);
	TEST_ASSERT_EQUAL_HEX64((UINT64_C(1) << 53) - 1, more_bits);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.5, sum / 1e5);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 1.0 / 3, squares / 1e5);
	// The largest draw must not round up to 1.
	TEST_ASSERT_TRUE((float)(UINT32_MAX >> 8) * 0x1p-24f < 1);
}

static void range_stays_inside_and_reaches_both_ends(void)
{
	float low = 5, high = -2;
	double dlow = 5, dhigh = -2;
	for (int i = 0; i < 10000; i++) {
		float x = tac_rng_range_f32(&rng, -2, 5);
		double y = tac_rng_range_f64(&rng, -2, 5);
		TEST_ASSERT_TRUE(x >= -2 && x <= 5 && y >= -2 && y <= 5);
		low = fminf(low, x);
		high = fmaxf(high, x);
		dlow = fmin(dlow, y);
		dhigh = fmax(dhigh, y);
	}
	TEST_ASSERT_TRUE(low < -1.99f && high > 4.99f && dlow < -1.99 && dhigh > 4.99);
	TEST_ASSERT_TRUE(tac_rng_range_f32(&rng, 3, 3) == 3.0f);
}

static void unit_vectors_are_uniform_on_the_sphere(void)
{
	// Archimedes: each coordinate of a uniform point on the sphere is uniform in [-1, 1].
	int count[3][10] = {{0}};
	for (int i = 0; i < 50000; i++) {
		tac_dvec3 v = tac_rng_unit_f64(&rng);
		TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1, sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
		for (int k = 0; k < 3; k++)
			count[k][(int)fmin(9, (tac_dvec3_get(v, k) + 1) * 5)]++;
	}
	for (int k = 0; k < 3; k++)
		for (int b = 0; b < 10; b++)
			TEST_ASSERT_INT_WITHIN(350, 5000, count[k][b]);
	tac_vec3 f = tac_rng_unit_f32(&rng);
	TEST_ASSERT_FLOAT_WITHIN(1e-6f, 1, f.x * f.x + f.y * f.y + f.z * f.z);
}

static void rotations_are_uniform(void)
{
	// Haar measure: the angle a has the distribution (a - sin a) / pi, and the image of a fixed vector is
	// uniform on the sphere, so each of its coordinates is uniform.
	int angle[10] = {0}, image[10] = {0};
	const double pi = acos(-1);
	for (int i = 0; i < 50000; i++) {
		tac_dquat q = tac_rng_rotation_f64(&rng);
		double n = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
		TEST_ASSERT_DOUBLE_WITHIN(1e-14, 1, n);
		double a = 2 * acos(fmin(1, fabs(q.w)));
		angle[(int)fmin(9, (a - sin(a)) / pi * 10)]++;
		double z = 1 - 2 * (q.x * q.x + q.y * q.y); // of the image of the z axis
		image[(int)fmin(9, (z + 1) * 5)]++;
	}
	for (int b = 0; b < 10; b++) {
		TEST_ASSERT_INT_WITHIN(350, 5000, angle[b]);
		TEST_ASSERT_INT_WITHIN(350, 5000, image[b]);
	}
}

static void derived_numbers_are_the_same_on_every_platform(void)
{
	// From an independent implementation in Python; a platform whose arithmetic is not IEEE 754 would
	// differ here.
	rng = tac_rng_seed(9, 9);
	uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a
	for (int i = 0; i < 1000; i++) {
		tac_dvec3 v = tac_rng_unit_f64(&rng);
		tac_dquat q = tac_rng_rotation_f64(&rng);
		double x[7] = {v.x, v.y, v.z, q.x, q.y, q.z, q.w};
		for (size_t k = 0; k < sizeof x; k++)
			hash = (hash ^ ((const unsigned char *)x)[k]) * UINT64_C(1099511628211);
	}
	TEST_ASSERT_EQUAL_HEX64(UINT64_C(0x05b179cedcbc7bda), hash);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(sequence_is_the_published_one);
	RUN_TEST(copy_replays_and_other_sequences_differ);
	RUN_TEST(below_is_in_bounds_and_uniform);
	RUN_TEST(uniform_numbers_stay_below_one_and_use_all_their_bits);
	RUN_TEST(range_stays_inside_and_reaches_both_ends);
	RUN_TEST(unit_vectors_are_uniform_on_the_sphere);
	RUN_TEST(rotations_are_uniform);
	RUN_TEST(derived_numbers_are_the_same_on_every_platform);
	return UNITY_END();
}
