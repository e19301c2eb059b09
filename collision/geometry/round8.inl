// The gap between a segment and eight triangles in single precision, for collision/engines/round8_kernel.c
// and collision/continuous/round/round_kernel.c. It serves for culling: its accuracy decides how many pairs
// are left to the exact test.
#ifndef TAC_COLLISION_ROUND8_INL
#define TAC_COLLISION_ROUND8_INL

#include "collision/geometry/triangle8.inl"

#define TINY    1e-30F // keeps a division by an edge without length finite
#define NOTHING 1e38F  // above the square of every gap, m^2

// Eight triangles, relative to the start of the segment.
typedef struct {
	v8 v[3], edge[3], normal;
	f8 inverse[3];     // of the edges' squared lengths
	f8 inverse_normal; // of the normal's squared length
} face8;

KERNEL f8 clamped(f8 x)
{
	return larger(smaller(x, splat(1)), splat(0));
}

KERNEL f8 reciprocal(f8 x)
{
	return tac_f32x8_div(splat(1), larger(x, splat(TINY)));
}

KERNEL face8 make_face(v8 v0, v8 v1, v8 v2)
{
	face8 f = {.v = {v0, v1, v2}};
	for (int k = 0; k < 3; k++) {
		f.edge[k] = sub3(f.v[k == 2 ? 0 : k + 1], f.v[k]);
		f.inverse[k] = reciprocal(dot(f.edge[k], f.edge[k]));
	}
	f.normal = cross(f.edge[0], f.edge[1]);
	f.inverse_normal = reciprocal(dot(f.normal, f.normal));
	return f;
}

// The vector from the solid's segment to the triangle, and its square.
typedef struct {
	v8 gap;
	f8 square;
} gap8;

KERNEL void keep_smaller(gap8 *best, v8 gap, tac_m32x8 valid)
{
	f8 square = dot(gap, gap);
	tac_m32x8 less = tac_m32x8_and(valid, tac_f32x8_lt(square, best->square));
	best->gap = pick3(less, gap, best->gap);
	best->square = pick(less, square, best->square);
}

// From the point x to its projection onto the plane, if that lies in the triangle.
KERNEL void point_to_face(const face8 *f, v8 x, gap8 *best)
{
	v8 w = sub3(x, f->v[0]), back = neg3(f->edge[2]); // edges from v[0]: edge[0] and back
	f8 s = mul(dot(cross(w, back), f->normal), f->inverse_normal);
	f8 t = mul(dot(cross(f->edge[0], w), f->normal), f->inverse_normal);
	f8 zero = splat(0);
	tac_m32x8 inside = tac_m32x8_and(tac_m32x8_and(tac_f32x8_le(zero, s), tac_f32x8_le(zero, t)),
					 tac_f32x8_le(add(s, t), splat(1)));
	v8 projection = add3(f->v[0], add3(scale3(f->edge[0], s), scale3(back, t)));
	keep_smaller(best, sub3(projection, x), inside);
}

KERNEL void point_to_edges(const face8 *f, v8 x, gap8 *best)
{
	tac_m32x8 always = tac_m32x8_from_bits(0xFF);
	for (int k = 0; k < 3; k++) {
		v8 w = sub3(x, f->v[k]);
		f8 t = clamped(mul(dot(w, f->edge[k]), f->inverse[k]));
		keep_smaller(best, sub3(scale3(f->edge[k], t), w), always);
	}
}

// Between the segment from 0 along d and each edge.
KERNEL void segment_to_edges(const face8 *f, v8 d, gap8 *best)
{
	tac_m32x8 always = tac_m32x8_from_bits(0xFF);
	f8 dd = dot(d, d), inverse = reciprocal(dd);
	for (int k = 0; k < 3; k++) {
		v8 e = f->edge[k], w = f->v[k];
		f8 de = dot(d, e), dw = dot(d, w), ew = dot(e, w), ee = dot(e, e);
		// Minimises |s d - w - t e|: s from the 2 x 2 system, then t for that s, then s for that t.
		f8 s = clamped(mul(sub(mul(dw, ee), mul(ew, de)), reciprocal(sub(mul(dd, ee), mul(de, de)))));
		f8 t = clamped(mul(sub(mul(s, de), ew), f->inverse[k]));
		s = clamped(mul(add(dw, mul(t, de)), inverse));
		keep_smaller(best, sub3(add3(w, scale3(e, t)), scale3(d, s)), always);
	}
}

// The smallest gap from the segment from 0 along d to the triangles; d is zero for a sphere.
KERNEL gap8 least_gap(const face8 *f, v8 d, bool sphere)
{
	f8 zero = splat(0);
	v8 origin = {zero, zero, zero};
	gap8 best = {origin, splat(NOTHING)};
	point_to_face(f, origin, &best);
	point_to_edges(f, origin, &best);
	if (!sphere) {
		point_to_face(f, d, &best);
		segment_to_edges(f, d, &best);
		point_to_edges(f, d, &best);
		// From the point where the segment passes through the plane.
		f8 across = dot(f->normal, d);
		f8 s = clamped(tac_f32x8_div(
			dot(f->normal, f->v[0]),
			pick(tac_f32x8_lt(absolute(across), splat(TINY)), splat(TINY), across)));
		point_to_face(f, scale3(d, s), &best);
	}
	return best;
}

#endif
