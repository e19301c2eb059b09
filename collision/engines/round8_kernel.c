// The test of collision/engines/round8, compiled once for each SIMD variant.
#include "collision/engines/round8.h"
#include "collision/geometry/round8.inl"

#define SHORTEST_GAP 1e-15F // m; its square does not vanish

unsigned TAC_SIMD_NAME(tac_round8_meets)(const tac_round8 *round, const tac_leaf8 *leaf, unsigned lanes,
					 unsigned *out_undecided)
{
	v8 start = splat3(round->start), axis = splat3(round->axis);
	face8 f = make_face(sub3(LOAD3(leaf->v[0]), start), sub3(LOAD3(leaf->v[1]), start),
			    sub3(LOAD3(leaf->v[2]), start));
	f8 zero = splat(0);
	gap8 best = least_gap(&f, axis, round->is_sphere);
	f8 length = tac_f32x8_sqrt(best.square);
	unsigned valid = not_above(best.square, 0.5F * NOTHING); // neither NaN nor out of range
	unsigned hit = valid & not_above(length, round->radius - round->error);
	// The plane across the gap: the triangle on one side, the segment on the other.
	f8 triangle = smaller3(dot(best.gap, f.v[0]), dot(best.gap, f.v[1]), dot(best.gap, f.v[2]));
	f8 separation = sub(triangle, larger(zero, dot(best.gap, axis)));
	f8 margin = sub(separation, mul(length, splat(round->radius + round->error)));
	unsigned missed = valid & above(margin, 0.0F) & above(length, SHORTEST_GAP);
	*out_undecided = lanes & ~hit & ~missed;
	return lanes & hit;
}
