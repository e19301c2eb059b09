// The descent and the measure of collision/ccd_round_list.h, compiled for each instruction set.
#include "collision/ccd_round_list.h"
#include "collision/round8.inl"

// Each node that is opened leaves at most seven others waiting.
#define STACK (7 * TAC_CCD_LEVELS + 1)
// Part of the coordinates by which the boxes grow: some ten roundings of float.
#define ROUNDING 1e-6
// What rounding may take from the square of a distance across a normal, as a part of the whole distance's.
#define ACROSS_ROUNDING 1e-6f
// Roundings of a height over a plane, as a part of the coordinates.
#define HEIGHT_ROUNDING (64 * UNIT)
#define SHORTEST        1e-15F // gap whose square does not vanish, m

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
	stack[top++] = 0;
	while (top > 0) {
		const tac_ccd_node *node = &body->nodes[stack[--top]];
		segment s = segment_make(body, around);
		for (unsigned lanes = near_lanes(&s, node); lanes; lanes &= lanes - 1) {
			int32_t child = node->child[lowest_bit(lanes)];
			if (child >= 0)
				stack[top++] = child;
			else if (!visit(user, ~child))
				return false;
		}
	}
	return true;
}

void TAC_SIMD_NAME(tac_ccd_round_measure_kernel)(tac_ccd_round_context *list, tac_dvec3 a, tac_dvec3 b,
						 tac_dvec3 v)
{
	tac_vec3 start = tac_vec3_from_dvec3(tac_dvec3_sub(a, list->at.a)),
		 along = tac_vec3_from_dvec3(tac_dvec3_sub(b, a)), way = tac_vec3_from_dvec3(v);
	bool sphere = a.x == b.x && a.y == b.y && a.z == b.z;
	v8 from = {splat(start.x), splat(start.y), splat(start.z)};
	v8 core = {splat(along.x), splat(along.y), splat(along.z)},
	   move = {splat(way.x), splat(way.y), splat(way.z)};
	f8 size = add(norm1(from), add(norm1(core), norm1(move))), zero = splat(0);
	for (int32_t i = 0; i < list->count; i += 8) {
		v8 t[3];
		for (int k = 0; k < 3; k++)
			t[k] = (v8){tac_f32x8_loadu(&list->vertex[k][0][i]),
				    tac_f32x8_loadu(&list->vertex[k][1][i]),
				    tac_f32x8_loadu(&list->vertex[k][2][i])};
		face8 f = make_face(sub3(t[0], from), sub3(t[1], from), sub3(t[2], from));
		gap8 best = least_gap(&f, core, sphere);
		// The plane across the gap at the start has the triangle on its far side all the time.
		f8 near = smaller3(dot(best.gap, f.v[0]), dot(best.gap, f.v[1]), dot(best.gap, f.v[2]));
		f8 taken = add(larger(dot(best.gap, core), zero), larger(dot(best.gap, move), zero));
		f8 length = tac_f32x8_sqrt(best.square);
		f8 clears = tac_f32x8_div(sub(near, taken), larger(length, splat(SHORTEST)));
		f8 error = mul(splat(HEIGHT_ROUNDING),
			       add(size, larger3(norm1(t[0]), norm1(t[1]), norm1(t[2]))));
		// What is out of range, or touches, is not known.
		tac_m32x8 known = tac_m32x8_and(tac_f32x8_lt(best.square, splat(0.5F * NOTHING)),
						tac_f32x8_lt(splat(SHORTEST), length));
		tac_f32x8_storeu(&list->clears[i], pick(known, sub(clears, error), zero));
	}
}
