// Random numbers for tests, generators and simulated noise: PCG32 (M. E. O'Neill, "PCG: a family of simple
// fast space-efficient statistically good algorithms for random number generation", HMC-CS-2014-0905; the
// variant PCG-XSH-RR 64/32). Small, fast, and the same sequence on every platform: the derived numbers use
// only integer arithmetic, sums, products, quotients and square roots, never sin or log. Not for
// cryptography.
#ifndef TAC_BASE_RNG_H
#define TAC_BASE_RNG_H

#include <stdint.h>

#include "base/algebra.h"

#ifdef __cplusplus
extern "C" {
#endif

// Owned by the caller, 16 bytes; a copy replays the sequence from its state.
typedef struct tac_rng {
	uint64_t state;
	uint64_t increment; // odd
} tac_rng;

// 32 random bits.
// Thread: RT.
static inline uint32_t tac_rng_u32(tac_rng *rng)
{
	uint64_t old = rng->state;
	rng->state = old * UINT64_C(6364136223846793005) + rng->increment;
	uint32_t x = (uint32_t)(((old >> 18) ^ old) >> 27);
	uint32_t rotation = (uint32_t)(old >> 59);
	return x >> rotation | x << (-rotation & 31);
}

// A generator started at `seed` on one of 2^63 independent sequences (the top bit of `sequence` is ignored).
// Thread: RT.
static inline tac_rng tac_rng_seed(uint64_t seed, uint64_t sequence)
{
	tac_rng rng = {0, sequence << 1 | 1};
	tac_rng_u32(&rng);
	rng.state += seed;
	tac_rng_u32(&rng);
	return rng;
}

// 64 random bits; the first draw is the upper half.
// Thread: RT.
static inline uint64_t tac_rng_u64(tac_rng *rng)
{
	uint64_t high = tac_rng_u32(rng);
	return high << 32 | tac_rng_u32(rng);
}

// Uniform in 0 … bound - 1 without bias; 0 for bound 0. Draws again with a probability below 1/2.
// Thread: any.
static inline uint32_t tac_rng_below(tac_rng *rng, uint32_t bound)
{
	if (bound == 0)
		return 0;
	uint32_t excess =
		-bound % bound; // 2^32 mod bound: that many surplus draws would favour small results
	uint32_t x = tac_rng_u32(rng);
	while (x < excess)
		x = tac_rng_u32(rng);
	return x % bound;
}

// Uniform in [0, 1): all multiples of 2^-24.
// Thread: RT.
static inline float tac_rng_f32(tac_rng *rng)
{
	return (float)(tac_rng_u32(rng) >> 8) * 0x1p-24f;
}

// Uniform in [0, 1): all multiples of 2^-53.
// Thread: RT.
static inline double tac_rng_f64(tac_rng *rng)
{
	return (double)(tac_rng_u64(rng) >> 11) * 0x1p-53;
}

// Uniform between low and high, here and in double; rounding may give high itself.
// Thread: RT.
static inline float tac_rng_range_f32(tac_rng *rng, float low, float high)
{
	float t = tac_rng_f32(rng);
	return (1 - t) * low + t * high;
}

static inline double tac_rng_range_f64(tac_rng *rng, double low, double high)
{
	double t = tac_rng_f64(rng);
	return (1 - t) * low + t * high;
}

// Uniform on the unit sphere: draws points of the cube until one lies in the ball (1.9 points on average).
// Thread: any.
static inline tac_dvec3 tac_rng_unit_f64(tac_rng *rng)
{
	for (;;) {
		double x = tac_rng_range_f64(rng, -1, 1);
		double y = tac_rng_range_f64(rng, -1, 1);
		double z = tac_rng_range_f64(rng, -1, 1);
		tac_dvec3 v = tac_dvec3_make(x, y, z);
		double n = tac_dvec3_length_squared(v);
		if (n <= 1 && n > 1e-6) // tiny vectors would round to few directions
			return tac_dvec3_normalize(v);
	}
}

static inline tac_vec3 tac_rng_unit_f32(tac_rng *rng)
{
	return tac_vec3_from_dvec3(tac_rng_unit_f64(rng));
}

// Uniform over all rotations: a point of the unit sphere in four dimensions (G. Marsaglia, "Choosing a point
// from the surface of a sphere", Ann. Math. Stat. 43(2), 1972).
// Thread: any.
static inline tac_dquat tac_rng_rotation_f64(tac_rng *rng)
{
	double x, y, z, w, xy, zw;
	do {
		x = tac_rng_range_f64(rng, -1, 1);
		y = tac_rng_range_f64(rng, -1, 1);
		xy = x * x + y * y;
	} while (xy >= 1);
	do {
		z = tac_rng_range_f64(rng, -1, 1);
		w = tac_rng_range_f64(rng, -1, 1);
		zw = z * z + w * w;
	} while (zw >= 1 || zw == 0);
	double s = sqrt((1 - xy) / zw);
	return tac_dquat_make(x, y, z * s, w * s);
}

static inline tac_quat tac_rng_rotation_f32(tac_rng *rng)
{
	return tac_quat_from_dquat(tac_rng_rotation_f64(rng));
}

#ifdef __cplusplus
}
#endif

#endif
