// Eight pairs of triangles in single precision with a rounding bound, for the SIMD kernels of the engines: a
// pair is either decided with certainty or left to the exact test of collision/geometry/tritri.h.
#ifndef TAC_COLLISION_TRIANGLE8_INL
#define TAC_COLLISION_TRIANGLE8_INL

#include "base/simd/wide.h"

// A call that is not inlined would pass its wide operands through memory. In plain C they are in memory
// anyway, and inlining thousands of loops takes compilers minutes.
#ifdef TAC_NO_SIMD
#define KERNEL static __attribute__((noinline, unused))
#else
#define KERNEL static inline __attribute__((always_inline, unused))
#endif

#define UNIT 0x1p-24F

typedef tac_f32x8 f8;
typedef tac_i32x8 i8;

typedef struct {
	f8 x, y, z;
} v8;

// clang-format off
KERNEL f8 splat(float x) { return tac_f32x8_splat(x); }
KERNEL f8 load(const float *p) { return tac_f32x8_load(p); }
KERNEL f8 add(f8 a, f8 b) { return tac_f32x8_add(a, b); }
KERNEL f8 sub(f8 a, f8 b) { return tac_f32x8_sub(a, b); }
KERNEL f8 mul(f8 a, f8 b) { return tac_f32x8_mul(a, b); }
KERNEL f8 absolute(f8 a) { return tac_f32x8_abs(a); }
KERNEL f8 larger(f8 a, f8 b) { return tac_f32x8_max(a, b); }
KERNEL f8 smaller(f8 a, f8 b) { return tac_f32x8_min(a, b); }
KERNEL f8 larger3(f8 a, f8 b, f8 c) { return larger(a, larger(b, c)); }
KERNEL f8 smaller3(f8 a, f8 b, f8 c) { return smaller(a, smaller(b, c)); }
KERNEL f8 negative(f8 a) { return tac_f32x8_neg(a); }
KERNEL f8 pick(tac_m32x8 m, f8 a, f8 b) { return tac_f32x8_select(m, a, b); }
KERNEL v8 splat3(const float p[3]) { return (v8){splat(p[0]), splat(p[1]), splat(p[2])}; }
KERNEL v8 add3(v8 a, v8 b) { return (v8){add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)}; }
KERNEL v8 sub3(v8 a, v8 b) { return (v8){sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z)}; }
KERNEL v8 neg3(v8 a) { return (v8){negative(a.x), negative(a.y), negative(a.z)}; }
KERNEL v8 abs3(v8 a) { return (v8){absolute(a.x), absolute(a.y), absolute(a.z)}; }
KERNEL v8 scale3(v8 a, f8 s) { return (v8){mul(a.x, s), mul(a.y, s), mul(a.z, s)}; }
KERNEL v8 pick3(tac_m32x8 m, v8 a, v8 b) { return (v8){pick(m, a.x, b.x), pick(m, a.y, b.y), pick(m, a.z, b.z)}; }
KERNEL f8 dot(v8 a, v8 b) { return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)); }
KERNEL f8 norm1(v8 a) { return add(add(absolute(a.x), absolute(a.y)), absolute(a.z)); }
KERNEL v8 permute3(v8 a, i8 i) { return (v8){tac_f32x8_permute(a.x, i), tac_f32x8_permute(a.y, i), tac_f32x8_permute(a.z, i)}; }
KERNEL unsigned not_above(f8 a, float limit) { return tac_m32x8_movemask(tac_f32x8_le(a, splat(limit))); }
KERNEL unsigned above(f8 a, float limit) { return tac_m32x8_movemask(tac_f32x8_lt(splat(limit), a)); }
KERNEL unsigned count_bits(unsigned m) { return (unsigned)__builtin_popcount(m); }
KERNEL int lowest_bit(unsigned m) { return __builtin_ctz(m); }
// clang-format on

KERNEL v8 cross(v8 a, v8 b)
{
	return (v8){sub(mul(a.y, b.z), mul(a.z, b.y)), sub(mul(a.z, b.x), mul(a.x, b.z)),
		    sub(mul(a.x, b.y), mul(a.y, b.x))};
}

// Macros, because C17 does not convert an array of arrays to one of constant arrays.
#define LOAD3(rows)       ((v8){load((rows)[0]), load((rows)[1]), load((rows)[2])})
#define LANE3(rows, lane) ((v8){splat((rows)[0][lane]), splat((rows)[1][lane]), splat((rows)[2][lane])})
#define TURN(matrix, a)                                                                                      \
	((v8){dot(splat3((matrix)[0]), a), dot(splat3((matrix)[1]), a), dot(splat3((matrix)[2]), a)})

// One triangle per lane: a vertex and two edges from it.
typedef struct {
	v8 vertex, edge[2];
} tri8;

// For a triangle that the plane of another cuts: the vertex alone on its side (relative to the triangle's
// first) and the edges from it, in the triangle's order; and whether that side is the negative one.
typedef struct {
	v8 at, next, last;
	tac_m32x8 below;
} apex;

KERNEL tac_m32x8 sign_differs(f8 a, f8 b)
{
	f8 zero = splat(0.0F);
	return tac_m32x8_xor(tac_f32x8_lt(a, zero), tac_f32x8_lt(b, zero));
}

KERNEL apex find_apex(const tri8 *t, f8 s0, f8 s1, f8 s2)
{
	v8 e1 = t->edge[0], e2 = t->edge[1], e21 = sub3(e2, e1), zero = {splat(0), splat(0), splat(0)};
	tac_m32x8 is_2 = sign_differs(s0, s2), is_0 = tac_m32x8_and(sign_differs(s0, s1), is_2);
	apex p = {
		.at = pick3(is_0, zero, pick3(is_2, e2, e1)),
		.next = pick3(is_0, e1, pick3(is_2, neg3(e2), e21)),
		.last = pick3(is_0, e2, pick3(is_2, neg3(e21), neg3(e1))),
		.below = tac_f32x8_lt(pick(is_0, s0, pick(is_2, s2, s1)), splat(0)),
	};
	return p;
}

// Rounding bounds of triangles_meet. With the longest edges a, b of the leaves, every difference of two
// vertices is below 1.74 (a + b + pad), because the boxes of the triangles overlap. A determinant of two
// edges and such a difference then has an error below 64 u times their product, u the unit roundoff. The
// error of the moved vertex contributes in addition, times the 1-norm of the cross product.
typedef struct {
	f8 vertex, edges_a, edges_b, edges_ab;
} tolerance;

// Eight pairs of triangles in one frame: returns the lanes that certainly meet; *out_unsure are the undecided
// lanes.
KERNEL unsigned triangles_meet(const tri8 *a, const tri8 *b, const tolerance *tol, unsigned lanes,
			       unsigned *out_unsure)
{
	*out_unsure = 0;
	v8 w = sub3(a->vertex, b->vertex);
	v8 normal_b = cross(b->edge[0], b->edge[1]), normal_a = cross(a->edge[0], a->edge[1]);
	f8 tol_b = add(mul(tol->vertex, norm1(normal_b)), tol->edges_b);
	f8 tol_a = add(mul(tol->vertex, norm1(normal_a)), tol->edges_a);
	f8 a0 = dot(normal_b, w), a1 = add(a0, dot(normal_b, a->edge[0])),
	   a2 = add(a0, dot(normal_b, a->edge[1]));
	f8 b0 = negative(dot(normal_a, w));
	f8 b1 = add(b0, dot(normal_a, b->edge[0])), b2 = add(b0, dot(normal_a, b->edge[1]));
	f8 gap_b = larger(smaller3(a0, a1, a2), negative(larger3(a0, a1, a2)));
	f8 gap_a = larger(smaller3(b0, b1, b2), negative(larger3(b0, b1, b2)));
	// An overflow proves nothing: a NaN lane stays a candidate, and its sides are not certain.
	unsigned candidates = lanes & ~above(larger(sub(gap_b, tol_b), sub(gap_a, tol_a)), 0.0F);
	if (candidates == 0)
		return 0;

	f8 nearest_a = sub(smaller3(absolute(a0), absolute(a1), absolute(a2)), tol_b);
	f8 nearest_b = sub(smaller3(absolute(b0), absolute(b1), absolute(b2)), tol_a);
	unsigned sides_certain = above(smaller(nearest_a, nearest_b), 0.0F);
	// Each plane cuts the other triangle between its apex and the other two vertices; the intervals on
	// the common line overlap unless one of two determinants is positive.
	apex p = find_apex(a, a0, a1, a2), r = find_apex(b, b0, b1, b2);
	v8 offset = sub3(add3(w, p.at), r.at); // from the apex of b to that of a
	v8 first = cross(pick3(r.below, p.last, p.next), pick3(p.below, r.last, r.next));
	v8 second = cross(pick3(p.below, r.next, r.last), pick3(r.below, p.next, p.last));
	f8 d1 = dot(offset, first), d2 = dot(offset, second);
	f8 tol_1 = add(mul(tol->vertex, norm1(first)), tol->edges_ab);
	f8 tol_2 = add(mul(tol->vertex, norm1(second)), tol->edges_ab);
	unsigned missed = above(larger(sub(d1, tol_1), sub(d2, tol_2)), 0.0F);
	unsigned met = ~above(larger(add(d1, tol_1), add(d2, tol_2)), 0.0F) & 0xFF;
	*out_unsure = candidates & ~(sides_certain & (met | missed));
	return candidates & sides_certain & met;
}

// For triangles with the longest edges `la` and `lb`, whose boxes overlap after padding by `pad`; a
// coordinate of a moved vertex has an error of at most `vertex`. Metres.
KERNEL tolerance tolerance_of(float la, float lb, float pad, float vertex)
{
	float k = 64.0F * UNIT * (la + lb + pad);
	// Edges whose products leave the range of float are left to the exact test.
	float shortest = la < lb ? la : lb, longest = la > lb ? la : lb;
	if (!(shortest > 1e-10F && longest < 1e10F))
		k = 1e30F;
	float range = k < 1e30F ? 1.0F : 1e30F;
	return (tolerance){splat(vertex), splat(range * k * la * la), splat(range * k * lb * lb),
			   splat(range * k * la * lb)};
}

// The tolerance from the triangles alone; `vertex` is the error of a moved vertex's coordinate, m.
KERNEL tolerance tolerance_of_edges(const tri8 *a, const tri8 *b, float vertex)
{
	f8 la = larger3(norm1(a->edge[0]), norm1(a->edge[1]), norm1(sub3(a->edge[1], a->edge[0])));
	f8 lb = larger3(norm1(b->edge[0]), norm1(b->edge[1]), norm1(sub3(b->edge[1], b->edge[0])));
	f8 distance = norm1(sub3(a->vertex, b->vertex));
	f8 k = mul(splat(64.0F * UNIT), add(add(la, lb), distance));
	// Triangles whose products leave the range of float are left to the exact test.
	tac_m32x8 in_range = tac_m32x8_and(tac_f32x8_gt(smaller(la, lb), splat(1e-10F)),
					   tac_f32x8_lt(larger3(la, lb, distance), splat(1e10F)));
	f8 infinite = splat((float)INFINITY);
	return (tolerance){splat(vertex), pick(in_range, mul(k, mul(la, la)), infinite),
			   pick(in_range, mul(k, mul(lb, lb)), infinite),
			   pick(in_range, mul(k, mul(la, lb)), infinite)};
}

#endif
