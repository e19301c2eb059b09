// The kernels of collision/ccd_round_list.h, compiled for each instruction set.
#include "collision/ccd_round_list.h"
#include "collision/contacts.h"
#include "collision/round8.inl"

#include <string.h>

// Each node that is opened leaves at most seven others waiting.
#define STACK (7 * TAC_CCD_LEVELS + 1)
// Part of the coordinates by which the boxes grow: some ten roundings of float.
#define ROUNDING 1e-6
// What rounding may take from the square of a distance across a normal, as a part of the whole distance's.
#define ACROSS_ROUNDING 1e-6f
#define SHORTEST        1e-15F // gap whose square does not vanish, m

// A block is aligned as its context is.
#define LOADU3(rows)                                                                                         \
	((v8){tac_f32x8_loadu((rows)[0]), tac_f32x8_loadu((rows)[1]), tac_f32x8_loadu((rows)[2])})

// Where a >= b, or it is not known.
KERNEL tac_m32x8 not_below(f8 a, f8 b)
{
	return tac_m32x8_not(tac_f32x8_lt(a, b));
}

KERNEL uint8_t lanes_of(tac_m32x8 m)
{
	return (uint8_t)tac_m32x8_movemask(m);
}

// A segment in float: its middle, and from there to its end.
typedef struct {
	float middle[3], half[3], length; // half of it
	float reach;
} segment;

static segment segment_make(const tac_ccd_body *body, const tac_ccd_round *r)
{
	segment s;
	for (int i = 0; i < 3; i++) {
		double a = tac_dvec3_get(r->a, i), b = tac_dvec3_get(r->b, i);
		s.middle[i] = (float)(0.5 * (a + b));
		s.half[i] = (float)(0.5 * (b - a));
	}
	s.length = (float)(0.5 * tac_dvec3_length(tac_dvec3_sub(r->b, r->a)));
	double size = body->radius + tac_dvec3_length(r->a) + tac_dvec3_length(r->b) + r->radius;
	s.reach = (float)(r->radius + ROUNDING * size);
	return s;
}

KERNEL f8 positive(f8 x)
{
	return larger(x, splat(0));
}

KERNEL f8 square(f8 x)
{
	return mul(x, x);
}

// Along d x e_i, the two other coordinates being j and k: whether the box comes within reach of the segment.
KERNEL tac_m32x8 across_axis(const segment *s, const tac_ccd_node *n, const f8 apart[3], int j, int k)
{
	float dj = s->half[j], dk = s->half[k], length = sqrtf(dj * dj + dk * dk);
	f8 away = absolute(sub(mul(splat(dk), apart[j]), mul(splat(dj), apart[k])));
	f8 size = add(mul(splat(fabsf(dk)), load(n->half[j])), mul(splat(fabsf(dj)), load(n->half[k])));
	return tac_f32x8_le(away, add(size, splat(length * s->reach)));
}

// The lanes of the node whose boxes and slabs come within reach of the segment.
KERNEL unsigned near_lanes(const segment *s, const tac_ccd_node *n)
{
	f8 apart[3], from_box = splat(0), reach2 = splat(s->reach * s->reach);
	for (int i = 0; i < 3; i++) {
		apart[i] = sub(splat(s->middle[i]), load(n->center[i]));
		f8 out = sub(absolute(apart[i]), add(load(n->half[i]), splat(fabsf(s->half[i]))));
		from_box = add(from_box, square(positive(out)));
	}
	tac_m32x8 near = tac_f32x8_le(from_box, reach2);
	if (tac_m32x8_movemask(near) == 0)
		return 0;
	v8 away = {apart[0], apart[1], apart[2]}, normal = LOAD3(n->normal);
	f8 height = dot(normal, away), distance2 = dot(away, away);
	f8 tilt = absolute(dot(normal, splat3(s->half)));
	f8 over = positive(sub(absolute(sub(height, load(n->offset))), add(load(n->thick), tilt)));
	f8 across = tac_f32x8_sqrt(
		positive(sub(sub(distance2, square(height)), mul(splat(ACROSS_ROUNDING), distance2))));
	f8 beside = positive(sub(across, add(load(n->wide), splat(s->length))));
	near = tac_m32x8_and(near, tac_f32x8_le(add(square(over), square(beside)), reach2));
	if (s->length > 0) {
		near = tac_m32x8_and(near, across_axis(s, n, apart, 1, 2));
		near = tac_m32x8_and(near, across_axis(s, n, apart, 2, 0));
		near = tac_m32x8_and(near, across_axis(s, n, apart, 0, 1));
	}
	return (unsigned)tac_m32x8_movemask(near);
}

bool TAC_SIMD_NAME(tac_ccd_round_descend_kernel)(const tac_ccd_body *body, const tac_ccd_round *around,
						 tac_ccd_round_visit visit, void *user)
{
	int32_t stack[STACK], top = 0;
	tac_ccd_round seen = *around;
	segment s = segment_make(body, around);
	stack[top++] = 0;
	while (top > 0) {
		const tac_ccd_node *node = &body->nodes[stack[--top]];
		for (unsigned lanes = near_lanes(&s, node); lanes; lanes &= lanes - 1) {
			int32_t child = node->child[lowest_bit(lanes)];
			if (child >= 0)
				stack[top++] = child;
			else if (!visit(user, ~child))
				return false;
		}
		if (memcmp(&seen, around, sizeof seen) != 0) {
			seen = *around;
			s = segment_make(body, around);
		}
	}
	return true;
}

static void place(const tac_ccd_round_context *list, tac_dvec3 x, v8 *out)
{
	tac_vec3 at = tac_vec3_from_dvec3(tac_dvec3_sub(x, list->at.a));
	*out = (v8){splat(at.x), splat(at.y), splat(at.z)};
}

void TAC_SIMD_NAME(tac_ccd_round_part_kernel)(tac_ccd_round_context *list)
{
	v8 core;
	place(list, list->at.b, &core);
	bool sphere = tac_dvec3_length_squared(tac_dvec3_sub(list->at.b, list->at.a)) == 0;
	f8 zero = splat(0);
	tac_ccd_round_block *end = list->blocks + tac_ccd_round_blocks(list);
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		v8 t[3];
		for (int k = 0; k < 3; k++)
			t[k] = LOADU3(block->vertex[k]);
		face8 f = make_face(t[0], t[1], t[2]);
		gap8 best = least_gap(&f, core, sphere);
		f8 length = tac_f32x8_sqrt(best.square);
		// What is out of range, or touches, has no plane.
		tac_m32x8 known = tac_m32x8_and(tac_f32x8_lt(best.square, splat(0.5F * NOTHING)),
						tac_f32x8_lt(splat(SHORTEST), length));
		v8 none = {zero, zero, zero},
		   n = pick3(known, scale3(best.gap, tac_f32x8_div(splat(-1), length)), none);
		f8 top = larger3(dot(n, t[0]), dot(n, t[1]), dot(n, t[2]));
		f8 size = larger3(norm1(t[0]), norm1(t[1]), norm1(t[2]));
		tac_f32x8_storeu(block->normal[0], n.x);
		tac_f32x8_storeu(block->normal[1], n.y);
		tac_f32x8_storeu(block->normal[2], n.z);
		tac_f32x8_storeu(block->offset, add(top, mul(splat(TAC_CCD_ROUND_ROUNDING), size)));
	}
}

void TAC_SIMD_NAME(tac_ccd_round_measure_kernel)(tac_ccd_round_context *list, const tac_dvec3 points[4],
						 double reach)
{
	v8 x[4];
	for (int k = 0; k < 4; k++)
		place(list, points[k], &x[k]);
	f8 size = larger(larger(norm1(x[0]), norm1(x[1])), larger(norm1(x[2]), norm1(x[3])));
	f8 error = mul(splat(TAC_CCD_ROUND_ROUNDING), size),
	   enough = splat(nextafterf((float)reach, INFINITY));
	unsigned lanes = 0xFF;
	for (int32_t i = 0; i < list->count; i += TAC_CCD_WIDTH) {
		tac_ccd_round_block *block = &list->blocks[i / TAC_CCD_WIDTH];
		v8 n = LOADU3(block->normal);
		f8 h = smaller(smaller(dot(n, x[0]), dot(n, x[1])), smaller(dot(n, x[2]), dot(n, x[3])));
		f8 clears = sub(h, add(tac_f32x8_loadu(block->offset), error));
		tac_f32x8_storeu(block->clears, clears);
		if (list->count - i < TAC_CCD_WIDTH)
			lanes >>= TAC_CCD_WIDTH - (list->count - i);
		block->near = (uint8_t)(lanes & lanes_of(not_below(enough, clears)));
	}
}

void TAC_SIMD_NAME(tac_ccd_round_sieve_kernel)(tac_ccd_round_context *list, tac_dvec3 p, double reach)
{
	v8 x;
	place(list, p, &x);
	f8 size = norm1(x), cone = splat((float)(TAC_CONTACTS_CONE * reach)),
	   beside = splat((float)TAC_CCD_ROUND_BESIDE);
	tac_ccd_round_block *end = list->blocks + tac_ccd_round_blocks(list);
	for (tac_ccd_round_block *block = list->blocks; block < end; block++) {
		if (block->near == 0)
			continue;
		v8 t[3], edge[3], from[3];
		f8 length[3], error = size;
		for (int k = 0; k < 3; k++) {
			t[k] = LOADU3(block->vertex[k]);
			error = larger(error, norm1(t[k]));
		}
		for (int k = 0; k < 3; k++) {
			edge[k] = sub3(t[k == 2 ? 0 : k + 1], t[k]);
			from[k] = sub3(x, t[k]);
			length[k] = tac_f32x8_sqrt(dot(edge[k], edge[k]));
		}
		error = mul(error, splat(TAC_CCD_ROUND_ROUNDING));
		v8 normal = cross(edge[0], edge[1]);
		f8 area = tac_f32x8_sqrt(dot(normal, normal)),
		   longest = larger3(length[0], length[1], length[2]);
		// Of a sliver the normal is less exact.
		f8 beside_error = mul(error, tac_f32x8_div(square(longest), larger(area, splat(TINY))));
		f8 along[3], past[3]; // the beginning, and the end of each edge, m
		tac_m32x8 over = tac_m32x8_from_bits(0xFF);
		for (int k = 0; k < 3; k++) {
			f8 unit = reciprocal(length[k]);
			along[k] = mul(dot(from[k], edge[k]), unit);
			past[k] = sub(length[k], along[k]);
			f8 in = tac_f32x8_div(dot(normal, cross(edge[k], from[k])),
					      larger(mul(area, length[k]), splat(TINY)));
			over = tac_m32x8_and(over, not_below(in, negative(add(beside, beside_error))));
			tac_m32x8 at = tac_m32x8_and(not_below(along[k], negative(error)),
						     not_below(past[k], negative(error)));
			block->features[TAC_CCD_ROUND_EDGE + k] =
				lanes_of(tac_m32x8_and(at, not_below(add(cone, beside_error), in)));
		}
		block->features[TAC_CCD_ROUND_FACE] = lanes_of(over);
		f8 most = add(cone, error);
		for (int k = 0; k < 3; k++)
			block->features[k] = lanes_of(tac_m32x8_and(
				not_below(most, along[k]), not_below(most, past[k == 0 ? 2 : k - 1])));
	}
}
