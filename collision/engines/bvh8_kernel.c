// The queries of collision/wide, compiled once for each SIMD variant.
#include "base/assert.h"
#include "collision/distance.h"
#include "collision/triangle8.inl"
#include "collision/wide_tree.h"

#include <float.h>
#include <stddef.h>

// For what takes no wide operands: one copy keeps the code small, and its modes are branches that a query
// predicts from the second call on.
#define STEP static __attribute__((noinline))

// Leaf pairs that are collected before their triangles are tested: a batch long enough to fetch ahead.
#define LEAF_BATCH 32
#define STACK      (TAC_WIDE_LEVELS * 64 * TAC_WIDE_CHUNK)
#define LEAVES     (LEAF_BATCH + 64 * TAC_WIDE_CHUNK)
// Reading the clock costs as much as opening half a pair of nodes.
#define CHUNKS_BETWEEN_CLOCKS 16

KERNEL i8 pack(unsigned mask)
{
	return tac_i32x8_load(tac_wide_pack[mask]);
}

// What a query keeps in the context's scratch memory.
typedef struct {
	_Alignas(32) float least[8]; // m; of the gaps seen in mode first, any of them; 0: leaves were reached
	int32_t fixed[STACK + 8], moving[STACK + 8]; // pairs of nodes to open; ~leaf where one is a leaf
	int32_t leaf_fixed[LEAVES + 8], leaf_moving[LEAVES + 8];
} scratch;

enum { STATE_STACK, STATE_LEAVES };

// Boxes of eight children in the other frame.
typedef struct {
	_Alignas(32) float centre[3][8];
	float half[3][8];
} boxes;

KERNEL void move_boxes(const tac_wide_frame *frame, const tac_wide_node *node, float pad, boxes *out)
{
	v8 c = LOAD3(node->centre), h = LOAD3(node->half);
	for (int k = 0; k < 3; ++k) {
		f8 centre = add(dot(splat3(frame->rotation[k]), c), splat(frame->translation[k]));
		tac_f32x8_store(out->centre[k], centre);
		tac_f32x8_store(out->half[k], add(dot(splat3(frame->absolute[k]), h), splat(pad)));
	}
}

// The gap of two boxes along the axes: positive where they are apart.
KERNEL f8 gap(v8 c, v8 h, v8 d, v8 g)
{
	v8 s = sub3(sub3(abs3(sub3(c, d)), h), g);
	return larger3(s.x, s.y, s.z);
}

// Which of eight packed pairs overlap by their slabs: child i of a, child j of b. Either slab's axis is
// written as α times the other's axis plus a rest; the other body is bounded along the first by its slab and
// along the rest by its box. With the gap that they leave, at most.
KERNEL unsigned slabs_overlap(const tac_wide_query *q, const tac_wide_node *a, const tac_wide_node *b, i8 i,
			      i8 j, f8 *out_gap)
{
	v8 m = permute3(LOAD3(a->normal), i), n = permute3(LOAD3(b->normal), j);
	v8 n_fixed = TURN(q->to_fixed.rotation, n), m_moving = TURN(q->to_moving.rotation, m);
	f8 alpha = dot(m, n_fixed), abs_alpha = absolute(alpha);
	f8 offset_a = tac_f32x8_permute(load(a->offset), i), offset_b = tac_f32x8_permute(load(b->offset), j);
	f8 width_a = tac_f32x8_permute(load(a->width), i), width_b = tac_f32x8_permute(load(b->width), j);
	v8 t = splat3(q->to_fixed.translation);

	v8 rest = sub3(n_fixed, scale3(m, alpha));
	f8 middle = add(mul(alpha, offset_a), dot(rest, permute3(LOAD3(a->centre), i)));
	f8 reach = add(mul(abs_alpha, width_a), dot(abs3(rest), permute3(LOAD3(a->half), i)));
	f8 apart_b = sub(sub(absolute(sub(sub(middle, offset_b), dot(n_fixed, t))), width_b), reach);

	rest = sub3(m_moving, scale3(n, alpha));
	middle = add(mul(alpha, offset_b), dot(rest, permute3(LOAD3(b->centre), j)));
	reach = add(mul(abs_alpha, width_b), dot(abs3(rest), permute3(LOAD3(b->half), j)));
	f8 apart_a = sub(sub(absolute(sub(sub(offset_a, dot(m, t)), middle)), width_a), reach);
	*out_gap = sub(larger(apart_a, apart_b), splat(2.0F * q->pad));
	return not_above(*out_gap, 0.0F);
}

// The same for one bound of one mesh against the eight children of a node of the other.
KERNEL unsigned children_overlap(const tac_wide_query *q, const tac_wide_frame *frame,
				 const tac_wide_frame *back, const tac_wide_bound *one,
				 const tac_wide_node *node, bool slabs)
{
	v8 c = LOAD3(node->centre), h = LOAD3(node->half);
	v8 one_c = splat3(one->centre), one_h = splat3(one->half), t = splat3(frame->translation);
	v8 pad = {splat(q->pad), splat(q->pad), splat(q->pad)};
	v8 moved_c = add3(TURN(frame->rotation, one_c), t);
	v8 moved_h = add3(TURN(frame->absolute, one_h), pad);
	v8 back_c = add3(TURN(back->rotation, c), splat3(back->translation));
	v8 back_h = add3(TURN(back->absolute, h), pad);
	unsigned mask =
		not_above(larger(gap(c, h, moved_c, moved_h), gap(back_c, back_h, one_c, one_h)), 0.0F);
	if (!slabs)
		return mask;

	v8 m = LOAD3(node->normal), n = splat3(one->normal);
	v8 n_moved = TURN(frame->rotation, n), m_back = TURN(back->rotation, m);
	f8 alpha = dot(m, n_moved), abs_alpha = absolute(alpha);
	f8 offset = load(node->offset), width = load(node->width);
	f8 one_offset = splat(one->offset), one_width = splat(one->width);

	v8 rest = sub3(n_moved, scale3(m, alpha));
	f8 middle = add(mul(alpha, offset), dot(rest, c));
	f8 reach = add(mul(abs_alpha, width), dot(abs3(rest), h));
	f8 apart_one = sub(sub(absolute(sub(sub(middle, one_offset), dot(n_moved, t))), one_width), reach);

	rest = sub3(m_back, scale3(n, alpha));
	middle = add(mul(alpha, one_offset), dot(rest, one_c));
	reach = add(mul(abs_alpha, one_width), dot(abs3(rest), one_h));
	f8 apart = sub(sub(absolute(sub(sub(offset, dot(m, t)), middle)), width), reach);
	return mask & not_above(larger(apart, apart_one), 2.0F * q->pad);
}

// The box of a triangle, edges relative to the vertex.
KERNEL void tri_box(const tri8 *t, v8 *low, v8 *high)
{
	v8 e = t->edge[0], g = t->edge[1];
	f8 zero = splat(0);
	v8 down = {smaller3(e.x, g.x, zero), smaller3(e.y, g.y, zero), smaller3(e.z, g.z, zero)};
	v8 up = {larger3(e.x, g.x, zero), larger3(e.y, g.y, zero), larger3(e.z, g.z, zero)};
	*low = add3(t->vertex, down);
	*high = add3(t->vertex, up);
}

KERNEL tri8 permute_tri(const tri8 *t, i8 i)
{
	return (tri8){permute3(t->vertex, i), {permute3(t->edge[0], i), permute3(t->edge[1], i)}};
}

KERNEL void fetch_ahead(const void *p)
{
	for (int line = 0; line < 6; ++line)
		__builtin_prefetch((const char *)p + 64 * line);
}

// Tests the triangles of two leaves and reports the pairs that meet; true at the first one in mode first.
STEP bool leaves_meet(tac_wide_query *q, int32_t ia, int32_t ib, bool first)
{
	const tac_wide_leaf *la = &q->fixed->leaves[ia], *lb = &q->moving->leaves[ib];
	tac_context *context = q->context;
	f8 zero = splat(0), pad = splat(q->pad);
	v8 pad3 = {pad, pad, pad};
	tri8 b = {add3(TURN(q->to_fixed.rotation, LOAD3(lb->vertex)), splat3(q->to_fixed.translation)),
		  {TURN(q->to_fixed.rotation, LOAD3(lb->edge[0])),
		   TURN(q->to_fixed.rotation, LOAD3(lb->edge[1]))}};
	v8 low, high;
	tri_box(&b, &low, &high);
	low = sub3(low, pad3);
	high = add3(high, pad3);
	_Alignas(32) float lows[3][8], highs[3][8];
	tac_f32x8_store(lows[0], low.x);
	tac_f32x8_store(lows[1], low.y);
	tac_f32x8_store(lows[2], low.z);
	tac_f32x8_store(highs[0], high.x);
	tac_f32x8_store(highs[1], high.y);
	tac_f32x8_store(highs[2], high.z);

	// Triangles of b that reach the bound of a.
	v8 centre = splat3(la->bound.centre), half = splat3(la->bound.half);
	v8 over = sub3(low, add3(centre, half)), under = sub3(sub3(centre, half), high);
	f8 apart = larger(larger3(over.x, over.y, over.z), larger3(under.x, under.y, under.z));
	v8 n = splat3(la->bound.normal);
	f8 d0 = dot(n, b.vertex), d1 = dot(n, b.edge[0]), d2 = dot(n, b.edge[1]);
	f8 across_low = add(d0, smaller3(d1, d2, zero)), across_high = add(d0, larger3(d1, d2, zero));
	f8 offset = splat(la->bound.offset), width = splat(la->bound.width + 2.0F * q->pad);
	apart = larger(apart,
		       larger(sub(across_low, add(offset, width)), sub(sub(offset, width), across_high)));
	unsigned reach = not_above(apart, 0.0F) & ((1U << lb->count) - 1);
	if (reach == 0)
		return false;

	// Pairs whose boxes overlap, packed.
	tri8 a = {LOAD3(la->vertex), {LOAD3(la->edge[0]), LOAD3(la->edge[1])}};
	v8 a_low, a_high;
	tri_box(&a, &a_low, &a_high);
	unsigned all_a = (1U << la->count) - 1;
	int32_t pair_a[64 + 8], pair_b[64 + 8];
	unsigned count = 0;
	do {
		int j = lowest_bit(reach);
		reach &= reach - 1;
		v8 s = sub3(a_low, LANE3(highs, j)), u = sub3(LANE3(lows, j), a_high);
		unsigned mask =
			all_a & not_above(larger(larger3(s.x, s.y, s.z), larger3(u.x, u.y, u.z)), 0.0F);
		tac_i32x8_storeu(pair_a + count, pack(mask));
		tac_i32x8_storeu(pair_b + count, tac_i32x8_splat(j));
		count += count_bits(mask);
	} while (reach != 0);
	context->counters.triangle_tests += count;
	if (context->within > 0.0F) {
		for (unsigned k = 0; k < count; ++k)
			if (tac_distance_near(context, la->triangle[pair_a[k]], lb->triangle[pair_b[k]]))
				tac_context_report(context, la->triangle[pair_a[k]], lb->triangle[pair_b[k]]);
		return false;
	}

	tolerance tol = tolerance_of(la->longest, lb->longest, q->pad, q->vertex);
	for (unsigned at = 0; at < count; at += 8) {
		unsigned lanes = count - at >= 8 ? 0xFF : (1U << (count - at)) - 1;
		i8 i = tac_i32x8_loadu(pair_a + at), j = tac_i32x8_loadu(pair_b + at);
		tri8 pa = permute_tri(&a, i), pb = permute_tri(&b, j);
		unsigned unsure, hits = triangles_meet(&pa, &pb, &tol, lanes, &unsure);
		// One pair is enough in mode first, and the sure ones are cheapest.
		for (; unsure != 0 && !(first && hits != 0); unsure &= unsure - 1) {
			unsigned lane = at + (unsigned)lowest_bit(unsure);
			++context->counters.exact_tests;
			if (tac_context_exact(context, la->triangle[pair_a[lane]],
					      lb->triangle[pair_b[lane]]))
				hits |= unsure & (0U - unsure);
		}
		if (first) {
			if (hits == 0)
				continue;
			unsigned lane = at + (unsigned)lowest_bit(hits);
			tac_context_report(context, la->triangle[pair_a[lane]], lb->triangle[pair_b[lane]]);
			context->witness_fixed = ia;
			context->witness_moving = ib;
			return true;
		}
		if (context->mode == TAC_QUERY_PAIRS && context->pair_count + 8 <= context->pair_capacity) {
			i8 row = pack(hits);
			i8 to_a = tac_i32x8_permute(i, row), to_b = tac_i32x8_permute(j, row);
			tac_i32x8_storeu(context->fixed_ids + context->pair_count,
					 tac_i32x8_permute(tac_i32x8_load(la->triangle), to_a));
			tac_i32x8_storeu(context->moving_ids + context->pair_count,
					 tac_i32x8_permute(tac_i32x8_load(lb->triangle), to_b));
			context->pair_count += count_bits(hits);
			continue;
		}
		for (; hits != 0; hits &= hits - 1) {
			unsigned lane = at + (unsigned)lowest_bit(hits);
			tac_context_report(context, la->triangle[pair_a[lane]], lb->triangle[pair_b[lane]]);
		}
	}
	return false;
}

KERNEL void push(int32_t *fixed, int32_t *moving, unsigned *n, i8 a, i8 b, unsigned mask)
{
	i8 row = pack(mask);
	tac_i32x8_storeu(fixed + *n, tac_i32x8_permute(a, row));
	tac_i32x8_storeu(moving + *n, tac_i32x8_permute(b, row));
	*n += count_bits(mask);
}

KERNEL unsigned leaf_bits(i8 children)
{
	return tac_m32x8_movemask(tac_i32x8_lt(children, tac_i32x8_splat(0)));
}

// The least so far and the gaps above 0.
KERNEL f8 least_gap(f8 least, f8 g)
{
	return smaller(least, pick(tac_f32x8_lt(splat(0), g), g, splat(FLT_MAX)));
}

// Opens two nodes: all pairs of their children that may touch go to the stack, or to the leaves.
STEP void open_pair(tac_wide_query *q, scratch *s, unsigned *n, unsigned *leaves, int32_t ia, int32_t ib,
		    bool first, bool slabs)
{
	const tac_wide_node *a = &q->fixed->nodes[ia], *b = &q->moving->nodes[ib];
	boxes in_fixed, in_moving;
	move_boxes(&q->to_fixed, b, q->pad, &in_fixed);
	v8 self_c = splat3(a->bound.centre), self_h = splat3(a->bound.half);
	f8 g = gap(LOAD3(in_fixed.centre), LOAD3(in_fixed.half), self_c, self_h);
	unsigned reach = not_above(g, 0.0F);
	q->context->counters.overlap_tests += 8 + 8 * count_bits(reach);
	f8 least = least_gap(load(s->least), g);
	if (reach == 0) {
		tac_f32x8_store(s->least, least);
		return;
	}
	move_boxes(&q->to_moving, a, q->pad, &in_moving);

	v8 c = LOAD3(a->centre), h = LOAD3(a->half);
	v8 moved_c = LOAD3(in_moving.centre), moved_h = LOAD3(in_moving.half);
	int32_t pair_a[64 + 8], pair_b[64 + 8];
	unsigned count = 0;
	for (; reach != 0; reach &= reach - 1) {
		int j = lowest_bit(reach);
		g = larger(gap(c, h, LANE3(in_fixed.centre, j), LANE3(in_fixed.half, j)),
			   gap(moved_c, moved_h, LANE3(b->centre, j), LANE3(b->half, j)));
		unsigned mask = not_above(g, 0.0F);
		least = least_gap(least, g);
		tac_i32x8_storeu(pair_a + count, pack(mask));
		tac_i32x8_storeu(pair_b + count, tac_i32x8_splat(j));
		count += count_bits(mask);
	}

	for (unsigned at = 0; at < count; at += 8) {
		unsigned lanes = count - at >= 8 ? 0xFF : (1U << (count - at)) - 1;
		i8 i = tac_i32x8_loadu(pair_a + at), j = tac_i32x8_loadu(pair_b + at);
		if (slabs) {
			unsigned all = lanes;
			lanes &= slabs_overlap(q, a, b, i, j, &g);
			least = least_gap(least, pick(tac_m32x8_from_bits(all), g, splat(0)));
		}
		if (first && lanes == 0)
			continue;
		i8 child_a = tac_i32x8_permute(tac_i32x8_load(a->child), i);
		i8 child_b = tac_i32x8_permute(tac_i32x8_load(b->child), j);
		unsigned both = lanes & leaf_bits(tac_i32x8_and(child_a, child_b)), inner = lanes & ~both;
		push(s->leaf_fixed, s->leaf_moving, leaves, child_a, child_b, both);
		if (first && inner != 0) {
			// The deepest overlap goes on top: it is the likeliest to hit.
			f8 depth = gap(permute3(c, i), permute3(h, i), permute3(LOAD3(in_fixed.centre), j),
				       permute3(LOAD3(in_fixed.half), j));
			depth = pick(tac_m32x8_from_bits(inner), depth, splat(1e30F));
			f8 deepest = splat(tac_f32x8_hmin(depth));
			unsigned best = tac_m32x8_movemask(tac_f32x8_le(depth, deepest)) & inner;
			best &= 0U - best;
			push(s->fixed, s->moving, n, child_a, child_b, inner & ~best);
			inner = best;
		}
		push(s->fixed, s->moving, n, child_a, child_b, inner);
	}
	tac_f32x8_store(s->least, least);
}

// Opens the node of a pair whose other side is a leaf.
STEP void open_one(tac_wide_query *q, scratch *s, unsigned *n, unsigned *leaves, int32_t ia, int32_t ib,
		   bool slabs)
{
	bool a_is_leaf = ia < 0;
	const tac_wide_bound *one = a_is_leaf ? &q->fixed->leaves[~ia].bound : &q->moving->leaves[~ib].bound;
	const tac_wide_node *node = a_is_leaf ? &q->moving->nodes[ib] : &q->fixed->nodes[ia];
	const tac_wide_frame *frame = a_is_leaf ? &q->to_moving : &q->to_fixed;
	const tac_wide_frame *back = a_is_leaf ? &q->to_fixed : &q->to_moving;
	unsigned mask = children_overlap(q, frame, back, one, node, slabs);
	q->context->counters.overlap_tests += 8;
	i8 child = tac_i32x8_load(node->child), other = tac_i32x8_splat(a_is_leaf ? ia : ib);
	unsigned both = mask & leaf_bits(child);
	s->least[0] = 0.0F; // not worth the trouble
	int32_t *fixed = a_is_leaf ? s->moving : s->fixed, *moving = a_is_leaf ? s->fixed : s->moving;
	int32_t *leaf_fixed = a_is_leaf ? s->leaf_moving : s->leaf_fixed;
	int32_t *leaf_moving = a_is_leaf ? s->leaf_fixed : s->leaf_moving;
	push(leaf_fixed, leaf_moving, leaves, child, other, both);
	push(fixed, moving, n, child, other, mask & ~both);
}

STEP bool drain_leaves(tac_wide_query *q, const scratch *s, unsigned leaves, bool first)
{
	for (unsigned k = 0; k < leaves; ++k) {
		if (k + 2 < leaves) {
			fetch_ahead(&q->fixed->leaves[~s->leaf_fixed[k + 2]]);
			fetch_ahead(&q->moving->leaves[~s->leaf_moving[k + 2]]);
		}
		if (leaves_meet(q, ~s->leaf_fixed[k], ~s->leaf_moving[k], first))
			return true;
	}
	return false;
}

tac_contact TAC_SIMD_NAME(tac_wide_run)(tac_wide_query *q, bool resume)
{
	tac_context *context = q->context;
	const bool first = context->mode == TAC_QUERY_FIRST, slabs = q->fixed->slabs || q->moving->slabs;
	scratch *s = context->scratch;
	if (context->scratch_bytes < sizeof *s)
		return TAC_CONTACT_UNKNOWN;
	unsigned n, leaves = 0;
	if (resume) {
		n = (unsigned)context->state[STATE_STACK];
		leaves = (unsigned)context->state[STATE_LEAVES];
	} else {
		s->fixed[0] = s->moving[0] = 0;
		n = 1;
		tac_f32x8_store(s->least, splat(FLT_MAX));
		if (first && context->coherent && context->witness_fixed >= 0 &&
		    leaves_meet(q, context->witness_fixed, context->witness_moving, true))
			return TAC_CONTACT_HIT;
	}
	const unsigned chunk = first ? 1 : TAC_WIDE_CHUNK;
	int until_clock = CHUNKS_BETWEEN_CLOCKS;
	while (n > 0 || leaves > 0) {
		unsigned count = n < chunk ? n : chunk;
		n -= count;
		int32_t fixed[TAC_WIDE_CHUNK], moving[TAC_WIDE_CHUNK];
		for (unsigned k = 0; k < count; ++k) {
			fixed[k] = s->fixed[n + k];
			moving[k] = s->moving[n + k];
		}
		for (unsigned k = 0; k < count; ++k) {
			if ((fixed[k] | moving[k]) >= 0)
				open_pair(q, s, &n, &leaves, fixed[k], moving[k], first, slabs);
			else
				open_one(q, s, &n, &leaves, fixed[k], moving[k], slabs);
		}
		context->counters.nodes += 2 * count;
		context->nodes_left -= count;
		TAC_ASSERT(n <= STACK && leaves <= LEAVES);
		if (leaves >= (first ? 1 : LEAF_BATCH) || n == 0) {
			if (leaves > 0)
				s->least[0] = 0.0F;
			if (drain_leaves(q, s, leaves, first))
				return TAC_CONTACT_HIT;
			leaves = 0;
		}
		bool look = --until_clock == 0;
		if (look)
			until_clock = CHUNKS_BETWEEN_CLOCKS;
		if ((context->nodes_left <= 0 || look) && n > 0 && tac_context_spent(context)) {
			context->state[STATE_STACK] = (int32_t)n;
			context->state[STATE_LEAVES] = (int32_t)leaves;
			context->pending = true;
			return TAC_CONTACT_UNKNOWN;
		}
	}
	float clearance = tac_f32x8_hmin(load(s->least));
	if (clearance > 0.0F && q->rigid) {
		context->clearance = clearance;
		context->clear_at = context->motion;
	}
	return context->pair_count > 0 ? TAC_CONTACT_HIT : TAC_CONTACT_NONE;
}
