// Private to the kernels of collision/round8 and ccd_round: the gap between a segment and eight triangles in
// single precision. How it is found matters only for how much is decided by it.
#ifndef TAC_COLLISION_ROUND8_INL
#define TAC_COLLISION_ROUND8_INL

#include "collision/triangle8.inl"

#define TINY    1e-30F // keeps a division by an edge without length finite
#define NOTHING 1e38F  // the square of no gap, m^2

// Eight triangles, relative to the beginning of the segment.
typedef struct {
	v8 v[3], edge[3], normal;
	f8 inverse[3];     // of the edges' squared lengths
	f8 inverse_normal; // of the normal's
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

// A gap between the solid's segment and the triangle: the vector from one to the other, and its square.
typedef struct {
	v8 gap;
	f8 square;
} gap8;

KERNEL void keep_least(gap8 *best, v8 gap, tac_m32x8 valid)
{
	f8 square = dot(gap, gap);
	tac_m32x8 less = tac_m32x8_and(valid, tac_f32x8_lt(square, best->square));
	best->gap = pick3(less, gap, best->gap);
	best->square = pick(less, square, best->square);
}

// From x to where it falls on the plane, if that is in the triangle.
KERNEL void fall_on_plane(const face8 *f, v8 x, gap8 *best)
{
	v8 w = sub3(x, f->v[0]), back = neg3(f->edge[2]); // edges from v[0]: edge[0] and back
	f8 s = mul(dot(cross(w, back), f->normal), f->inverse_normal);
	f8 t = mul(dot(cross(f->edge[0], w), f->normal), f->inverse_normal);
	f8 zero = splat(0);
	tac_m32x8 inside = tac_m32x8_and(tac_m32x8_and(tac_f32x8_le(zero, s), tac_f32x8_le(zero, t)),
					 tac_f32x8_le(add(s, t), splat(1)));
	v8 on = add3(f->v[0], add3(scale3(f->edge[0], s), scale3(back, t)));
	keep_least(best, sub3(on, x), inside);
}

KERNEL void reach_edges(const face8 *f, v8 x, gap8 *best)
{
	tac_m32x8 always = tac_m32x8_from_bits(0xFF);
	for (int k = 0; k < 3; k++) {
		v8 w = sub3(x, f->v[k]);
		f8 t = clamped(mul(dot(w, f->edge[k]), f->inverse[k]));
		keep_least(best, sub3(scale3(f->edge[k], t), w), always);
	}
}

// Between the segment from 0 along d and each edge: the nearest points of the two lines, then the one of the
// edge to that of the segment.
KERNEL void cross_edges(const face8 *f, v8 d, gap8 *best)
{
	tac_m32x8 always = tac_m32x8_from_bits(0xFF);
	f8 dd = dot(d, d), inverse = reciprocal(dd);
	for (int k = 0; k < 3; k++) {
		v8 e = f->edge[k], w = f->v[k];
		f8 de = dot(d, e), dw = dot(d, w), ew = dot(e, w), ee = dot(e, e);
		// Minimises |s d - w - t e|: s from the 2 x 2 system, then t for it, then s for that.
		f8 s = clamped(mul(sub(mul(dw, ee), mul(ew, de)), reciprocal(sub(mul(dd, ee), mul(de, de)))));
		f8 t = clamped(mul(sub(mul(s, de), ew), f->inverse[k]));
		s = clamped(mul(add(dw, mul(t, de)), inverse));
		keep_least(best, sub3(add3(w, scale3(e, t)), scale3(d, s)), always);
	}
}

// The least gap from the segment from 0 along d to the triangles; a sphere's d is zero.
KERNEL gap8 least_gap(const face8 *f, v8 d, bool sphere)
{
	f8 zero = splat(0);
	v8 origin = {zero, zero, zero};
	gap8 best = {origin, splat(NOTHING)};
	fall_on_plane(f, origin, &best);
	reach_edges(f, origin, &best);
	if (!sphere) {
		fall_on_plane(f, d, &best);
		cross_edges(f, d, &best);
		reach_edges(f, d, &best);
		// Where the segment passes the plane.
		f8 across = dot(f->normal, d);
		f8 s = clamped(tac_f32x8_div(
			dot(f->normal, f->v[0]),
			pick(tac_f32x8_lt(absolute(across), splat(TINY)), splat(TINY), across)));
		fall_on_plane(f, scale3(d, s), &best);
	}
	return best;
}

#endif
