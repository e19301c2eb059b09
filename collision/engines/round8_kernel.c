// The test of collision/round8, compiled once for each SIMD variant.
#include "collision/round8.h"
#include "collision/round8.inl"

#define SHORTEST 1e-15F // gap whose square does not vanish, m

unsigned TAC_SIMD_NAME(tac_round8_meets)(const tac_round *round, const tac_leaf8 *leaf, unsigned lanes,
					 unsigned *out_open)
{
	v8 from = splat3(round->from), d = splat3(round->along);
	face8 f = make_face(sub3(LOAD3(leaf->v[0]), from), sub3(LOAD3(leaf->v[1]), from),
			    sub3(LOAD3(leaf->v[2]), from));
	f8 zero = splat(0);
	gap8 best = least_gap(&f, d, round->sphere);
	f8 length = tac_f32x8_sqrt(best.square);
	unsigned known = not_above(best.square, 0.5F * NOTHING); // neither NaN nor out of range
	unsigned hit = known & not_above(length, round->radius - round->error);
	// The plane across the gap: the triangle on one side, the segment on the other.
	f8 near = smaller3(dot(best.gap, f.v[0]), dot(best.gap, f.v[1]), dot(best.gap, f.v[2]));
	f8 free = sub(near, larger(zero, dot(best.gap, d)));
	unsigned missed = known & above(sub(free, mul(length, splat(round->radius + round->error))), 0.0F) &
			  above(length, SHORTEST);
	*out_open = lanes & ~hit & ~missed;
	return lanes & hit;
}
