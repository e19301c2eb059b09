// The queries of collision/engines/bvh8_engine, compiled once for each SIMD variant. In every pair, `a`
// belongs to the fixed shape and `b` to the moving one.
#include "base/assert.h"
#include "collision/engines/budget.h"
#include "collision/engines/bvh8_distance.h"
#include "collision/engines/bvh8_tree.h"
#include "collision/geometry/triangle8.inl"

#include <float.h>
#include <stddef.h>

// For functions without wide operands: one copy keeps the code small, and the branches on the query's mode
// are predicted from the second call on.
#define OUT_OF_LINE static __attribute__((noinline))
// For the parts of one function: inlined in every variant, in plain C too.
#define INLINE static inline __attribute__((always_inline))

// Leaf pairs that are collected before their triangles are tested: a batch long enough to prefetch.
#define LEAF_BATCH 32
#define STACK      (TAC_BVH8_LEVELS * 64 * TAC_BVH8_CHUNK)
#define LEAVES     (LEAF_BATCH + 64 * TAC_BVH8_CHUNK)
// Reading the clock costs as much as opening half a pair of nodes.
#define CHUNKS_BETWEEN_CLOCKS 16

// The state of a query in the context's scratch memory.
typedef struct {
	// Least gap above 0 between two bounds, m, in any order of lanes. 0: leaves were reached, so the gaps
	// are no clearance.
	_Alignas(32) float min_gap[8];
	int32_t fixed[STACK + 8], moving[STACK + 8]; // pairs of nodes to open; ~leaf where one is a leaf
	int32_t leaf_fixed[LEAVES + 8], leaf_moving[LEAVES + 8];
} scratch;

enum { RESUME_PAIRS, RESUME_LEAVES };

// Pairs of lanes, one of eight of `a` with one of eight of `b`.
typedef struct {
	int32_t a[64 + 8], b[64 + 8];
} lane_pairs;

KERNEL i8 pack(unsigned mask)
{
	return tac_i32x8_load(tac_bvh8_pack[mask]);
}

// Appends the pairs of the lanes `mask` of a with lane j of b to `count` pairs; returns the new count.
INLINE unsigned add_lanes(lane_pairs *pairs, unsigned count, unsigned mask, int j)
{
	tac_i32x8_storeu(pairs->a + count, pack(mask));
	tac_i32x8_storeu(pairs->b + count, tac_i32x8_splat(j));
	return count + count_bits(mask);
}

// The mask of the first `count` lanes, at most eight.
INLINE unsigned first_lanes(unsigned count)
{
	return count >= 8 ? 0xFF : (1U << count) - 1;
}

// Boxes of eight children in the other frame.
typedef struct {
	_Alignas(32) float centre[3][8];
	float half[3][8];
} boxes;

KERNEL void move_boxes(const tac_bvh8_frame *frame, const tac_bvh8_node *node, float pad, boxes *out)
{
	v8 c = LOAD3(node->centre), h = LOAD3(node->half);
	for (int k = 0; k < 3; k++) {
		f8 centre = add(dot(splat3(frame->rotation[k]), c), splat(frame->translation[k]));
		tac_f32x8_store(out->centre[k], centre);
		tac_f32x8_store(out->half[k], add(dot(splat3(frame->absolute[k]), h), splat(pad)));
	}
}

// The gap of two boxes along the axes: positive where they are apart.
KERNEL f8 box_gap(v8 centre_a, v8 half_a, v8 centre_b, v8 half_b)
{
	v8 s = sub3(sub3(abs3(sub3(centre_a, centre_b)), half_a), half_b);
	return larger3(s.x, s.y, s.z);
}

// A box and a slab in each lane.
typedef struct {
	v8 centre, half, normal;
	f8 offset, half_width;
} bound8;

// The gap that the slabs of two bounds leave, at least. Each slab's normal is written as α times the other's
// normal plus a rest; the other body is bounded along the first by its slab and along the rest by its box.
// `normal_b` and `normal_a` are the normals in the frame of the other bound, `t` is the translation of b's
// frame in a's.
INLINE f8 slab_gap(const bound8 *a, const bound8 *b, v8 normal_b, v8 normal_a, v8 t)
{
	f8 alpha = dot(a->normal, normal_b), abs_alpha = absolute(alpha);

	v8 rest = sub3(normal_b, scale3(a->normal, alpha));
	f8 middle = add(mul(alpha, a->offset), dot(rest, a->centre));
	f8 reach = add(mul(abs_alpha, a->half_width), dot(abs3(rest), a->half));
	f8 apart_b = sub(sub(absolute(sub(sub(middle, b->offset), dot(normal_b, t))), b->half_width), reach);

	rest = sub3(normal_a, scale3(b->normal, alpha));
	middle = add(mul(alpha, b->offset), dot(rest, b->centre));
	reach = add(mul(abs_alpha, b->half_width), dot(abs3(rest), b->half));
	f8 apart_a = sub(sub(absolute(sub(sub(a->offset, dot(a->normal, t)), middle)), a->half_width), reach);
	return larger(apart_a, apart_b);
}

INLINE void permute_bounds(const tac_bvh8_node *node, i8 lanes, bound8 *out)
{
	out->centre = permute3(LOAD3(node->centre), lanes);
	out->half = permute3(LOAD3(node->half), lanes);
	out->normal = permute3(LOAD3(node->normal), lanes);
	out->offset = tac_f32x8_permute(load(node->offset), lanes);
	out->half_width = tac_f32x8_permute(load(node->half_width), lanes);
}

// Which of eight packed pairs overlap by their slabs: child i of a, child j of b. *out_gap is the gap that
// they leave.
KERNEL unsigned slabs_overlap(const tac_bvh8_query *q, const tac_bvh8_node *a, const tac_bvh8_node *b, i8 i,
			      i8 j, f8 *out_gap)
{
	bound8 bound_a, bound_b;
	permute_bounds(a, i, &bound_a);
	permute_bounds(b, j, &bound_b);
	f8 gap = slab_gap(&bound_a, &bound_b, TURN(q->to_fixed.rotation, bound_b.normal),
			  TURN(q->to_moving.rotation, bound_a.normal), splat3(q->to_fixed.translation));
	*out_gap = sub(gap, splat(2.0F * q->pad));
	return not_above(*out_gap, 0.0F);
}

// The same for one bound of one mesh against the eight children of a node of the other: boxes and, with
// `slabs`, slabs. `frame` takes the bound to the node's frame, `back` the node to the bound's.
KERNEL unsigned children_overlap(const tac_bvh8_query *q, const tac_bvh8_frame *frame,
				 const tac_bvh8_frame *back, const tac_bvh8_bound *one,
				 const tac_bvh8_node *node, bool slabs)
{
	v8 c = LOAD3(node->centre), h = LOAD3(node->half);
	v8 one_c = splat3(one->centre), one_h = splat3(one->half), t = splat3(frame->translation);
	v8 pad = {splat(q->pad), splat(q->pad), splat(q->pad)};
	v8 moved_c = add3(TURN(frame->rotation, one_c), t);
	v8 moved_h = add3(TURN(frame->absolute, one_h), pad);
	v8 back_c = add3(TURN(back->rotation, c), splat3(back->translation));
	v8 back_h = add3(TURN(back->absolute, h), pad);
	unsigned mask = not_above(
		larger(box_gap(c, h, moved_c, moved_h), box_gap(back_c, back_h, one_c, one_h)), 0.0F);
	if (!slabs)
		return mask;
	bound8 a = {c, h, LOAD3(node->normal), load(node->offset), load(node->half_width)};
	bound8 b = {one_c, one_h, splat3(one->normal), splat(one->offset), splat(one->half_width)};
	f8 gap = slab_gap(&a, &b, TURN(frame->rotation, b.normal), TURN(back->rotation, a.normal), t);
	return mask & not_above(gap, 2.0F * q->pad);
}

// The boxes of eight triangles.
KERNEL void triangle_boxes(const tri8 *t, v8 *low, v8 *high)
{
	v8 e = t->edge[0], g = t->edge[1];
	f8 zero = splat(0);
	v8 down = {smaller3(e.x, g.x, zero), smaller3(e.y, g.y, zero), smaller3(e.z, g.z, zero)};
	v8 up = {larger3(e.x, g.x, zero), larger3(e.y, g.y, zero), larger3(e.z, g.z, zero)};
	*low = add3(t->vertex, down);
	*high = add3(t->vertex, up);
}

KERNEL tri8 permute_triangles(const tri8 *t, i8 i)
{
	return (tri8){permute3(t->vertex, i), {permute3(t->edge[0], i), permute3(t->edge[1], i)}};
}

KERNEL void prefetch_leaf(const tac_bvh8_leaf *leaf)
{
	for (int line = 0; line < 6; line++)
		__builtin_prefetch((const char *)leaf + 64 * line);
}

// A leaf of the moving shape in the fixed frame; the boxes of its triangles are widened by the pad.
typedef struct {
	tri8 triangles;
	v8 low, high;
} moved_leaf;

INLINE void move_leaf(const tac_bvh8_query *q, const tac_bvh8_leaf *leaf, moved_leaf *out)
{
	f8 pad = splat(q->pad);
	v8 pad3 = {pad, pad, pad};
	out->triangles =
		(tri8){add3(TURN(q->to_fixed.rotation, LOAD3(leaf->vertex)), splat3(q->to_fixed.translation)),
		       {TURN(q->to_fixed.rotation, LOAD3(leaf->edge[0])),
			TURN(q->to_fixed.rotation, LOAD3(leaf->edge[1]))}};
	v8 low, high;
	triangle_boxes(&out->triangles, &low, &high);
	out->low = sub3(low, pad3);
	out->high = add3(high, pad3);
}

// The triangles of b that reach a bound of the fixed shape: its box and its slab.
INLINE unsigned triangles_in_bound(const tac_bvh8_query *q, const tac_bvh8_bound *bound, const moved_leaf *b)
{
	f8 zero = splat(0);
	v8 centre = splat3(bound->centre), half = splat3(bound->half);
	v8 over = sub3(b->low, add3(centre, half)), under = sub3(sub3(centre, half), b->high);
	f8 apart = larger(larger3(over.x, over.y, over.z), larger3(under.x, under.y, under.z));
	v8 n = splat3(bound->normal);
	f8 d0 = dot(n, b->triangles.vertex), d1 = dot(n, b->triangles.edge[0]),
	   d2 = dot(n, b->triangles.edge[1]);
	f8 across_low = add(d0, smaller3(d1, d2, zero)), across_high = add(d0, larger3(d1, d2, zero));
	f8 offset = splat(bound->offset), half_width = splat(bound->half_width + 2.0F * q->pad);
	apart = larger(apart, larger(sub(across_low, add(offset, half_width)),
				     sub(sub(offset, half_width), across_high)));
	return not_above(apart, 0.0F);
}

// Packs the pairs of triangles whose boxes overlap: the lanes `all_a` of a and `lanes_b` (not 0) of b.
// Returns their number.
INLINE unsigned pack_triangles(const tri8 *a, unsigned all_a, const moved_leaf *b, unsigned lanes_b,
			       lane_pairs *out)
{
	_Alignas(32) float low[3][8], high[3][8];
	tac_f32x8_store(low[0], b->low.x);
	tac_f32x8_store(low[1], b->low.y);
	tac_f32x8_store(low[2], b->low.z);
	tac_f32x8_store(high[0], b->high.x);
	tac_f32x8_store(high[1], b->high.y);
	tac_f32x8_store(high[2], b->high.z);
	v8 a_low, a_high;
	triangle_boxes(a, &a_low, &a_high);
	unsigned count = 0;
	do {
		int j = lowest_bit(lanes_b);
		lanes_b &= lanes_b - 1;
		v8 s = sub3(a_low, LANE3(high, j)), u = sub3(LANE3(low, j), a_high);
		f8 apart = larger(larger3(s.x, s.y, s.z), larger3(u.x, u.y, u.z));
		count = add_lanes(out, count, all_a & not_above(apart, 0.0F), j);
	} while (lanes_b != 0);
	return count;
}

INLINE void report_within(tac_context *context, const tac_bvh8_leaf *a, const tac_bvh8_leaf *b,
			  const lane_pairs *pairs, unsigned count)
{
	for (unsigned k = 0; k < count; k++) {
		int32_t fixed = a->triangle[pairs->a[k]], moving = b->triangle[pairs->b[k]];
		if (tac_distance_triangles_within(context, fixed, moving))
			tac_context_report(context, fixed, moving);
	}
}

// Reports the lanes `hits` of the eight pairs from `at` on.
INLINE void report_lanes(tac_context *context, const tac_bvh8_leaf *a, const tac_bvh8_leaf *b,
			 const lane_pairs *pairs, unsigned at, unsigned hits)
{
	if (context->mode == TAC_QUERY_PAIRS && context->pair_count + 8 <= context->pair_capacity) {
		i8 row = pack(hits);
		i8 i = tac_i32x8_permute(tac_i32x8_loadu(pairs->a + at), row);
		i8 j = tac_i32x8_permute(tac_i32x8_loadu(pairs->b + at), row);
		tac_i32x8_storeu(context->fixed_ids + context->pair_count,
				 tac_i32x8_permute(tac_i32x8_load(a->triangle), i));
		tac_i32x8_storeu(context->moving_ids + context->pair_count,
				 tac_i32x8_permute(tac_i32x8_load(b->triangle), j));
		context->pair_count += count_bits(hits);
		return;
	}
	for (; hits != 0; hits &= hits - 1) {
		unsigned pair = at + (unsigned)lowest_bit(hits);
		tac_context_report(context, a->triangle[pairs->a[pair]], b->triangle[pairs->b[pair]]);
	}
}

// Tests the triangles of two leaves and reports the pairs that meet; true at the first one in mode first.
OUT_OF_LINE bool leaves_meet(tac_bvh8_query *q, int32_t index_a, int32_t index_b, bool first)
{
	tac_context *context = q->context;
	const tac_bvh8_leaf *leaf_a = &q->fixed->leaves[index_a], *leaf_b = &q->moving->leaves[index_b];
	moved_leaf b;
	move_leaf(q, leaf_b, &b);
	unsigned lanes_b = triangles_in_bound(q, &leaf_a->bound, &b) & ((1U << leaf_b->count) - 1);
	if (lanes_b == 0)
		return false;
	tri8 a = {LOAD3(leaf_a->vertex), {LOAD3(leaf_a->edge[0]), LOAD3(leaf_a->edge[1])}};
	lane_pairs pairs;
	const unsigned count = pack_triangles(&a, (1U << leaf_a->count) - 1, &b, lanes_b, &pairs);
	context->counters.triangle_tests += count;
	if (context->within_m > 0.0F) {
		report_within(context, leaf_a, leaf_b, &pairs, count);
		return false;
	}

	tolerance tol = tolerance_of(leaf_a->longest_edge, leaf_b->longest_edge, q->pad, q->vertex_error);
	for (unsigned at = 0; at < count; at += 8) {
		i8 i = tac_i32x8_loadu(pairs.a + at), j = tac_i32x8_loadu(pairs.b + at);
		tri8 pa = permute_triangles(&a, i), pb = permute_triangles(&b.triangles, j);
		unsigned unsure, hits = triangles_meet(&pa, &pb, &tol, first_lanes(count - at), &unsure);
		// One pair is enough in mode first, and the sure ones cost least.
		for (; unsure != 0 && !(first && hits != 0); unsure &= unsure - 1) {
			unsigned pair = at + (unsigned)lowest_bit(unsure);
			context->counters.exact_tests++;
			if (tac_context_triangles_meet(context, leaf_a->triangle[pairs.a[pair]],
						       leaf_b->triangle[pairs.b[pair]]))
				hits |= unsure & (0U - unsure);
		}
		if (!first) {
			report_lanes(context, leaf_a, leaf_b, &pairs, at, hits);
		} else if (hits != 0) {
			unsigned pair = at + (unsigned)lowest_bit(hits);
			tac_context_report(context, leaf_a->triangle[pairs.a[pair]],
					   leaf_b->triangle[pairs.b[pair]]);
			context->witness_fixed_leaf = index_a;
			context->witness_moving_leaf = index_b;
			return true;
		}
	}
	return false;
}

// Appends the pairs of children in the lanes `mask`.
KERNEL void push(int32_t *fixed, int32_t *moving, unsigned *count, i8 a, i8 b, unsigned mask)
{
	i8 row = pack(mask);
	tac_i32x8_storeu(fixed + *count, tac_i32x8_permute(a, row));
	tac_i32x8_storeu(moving + *count, tac_i32x8_permute(b, row));
	*count += count_bits(mask);
}

KERNEL unsigned leaf_bits(i8 children)
{
	return tac_m32x8_movemask(tac_i32x8_lt(children, tac_i32x8_splat(0)));
}

// The least gap, lane by lane; gaps that are not above 0 do not count.
KERNEL f8 fold_gap(f8 least, f8 gap)
{
	return smaller(least, pick(tac_f32x8_lt(splat(0), gap), gap, splat(FLT_MAX)));
}

// Opens two nodes: all pairs of their children that may touch go to the stack, or to the leaf pairs.
OUT_OF_LINE void open_pair(tac_bvh8_query *q, scratch *s, unsigned *pairs, unsigned *leaves, int32_t node_a,
			   int32_t node_b, bool first, bool slabs)
{
	const tac_bvh8_node *a = &q->fixed->nodes[node_a], *b = &q->moving->nodes[node_b];
	boxes b_moved, a_moved;
	move_boxes(&q->to_fixed, b, q->pad, &b_moved);
	f8 gap = box_gap(LOAD3(b_moved.centre), LOAD3(b_moved.half), splat3(a->bound.centre),
			 splat3(a->bound.half));
	unsigned lanes_b = not_above(gap, 0.0F); // the children of b that reach the bound of a
	q->context->counters.overlap_tests += 8 + 8 * count_bits(lanes_b);
	f8 least = fold_gap(load(s->min_gap), gap);
	if (lanes_b == 0) {
		tac_f32x8_store(s->min_gap, least);
		return;
	}
	move_boxes(&q->to_moving, a, q->pad, &a_moved);

	v8 c = LOAD3(a->centre), h = LOAD3(a->half);
	v8 moved_c = LOAD3(a_moved.centre), moved_h = LOAD3(a_moved.half);
	lane_pairs packed;
	unsigned count = 0;
	for (; lanes_b != 0; lanes_b &= lanes_b - 1) {
		int j = lowest_bit(lanes_b);
		gap = larger(box_gap(c, h, LANE3(b_moved.centre, j), LANE3(b_moved.half, j)),
			     box_gap(moved_c, moved_h, LANE3(b->centre, j), LANE3(b->half, j)));
		unsigned mask = not_above(gap, 0.0F);
		least = fold_gap(least, gap);
		count = add_lanes(&packed, count, mask, j);
	}

	for (unsigned at = 0; at < count; at += 8) {
		unsigned lanes = first_lanes(count - at);
		i8 i = tac_i32x8_loadu(packed.a + at), j = tac_i32x8_loadu(packed.b + at);
		if (slabs) {
			unsigned all = lanes;
			lanes &= slabs_overlap(q, a, b, i, j, &gap);
			least = fold_gap(least, pick(tac_m32x8_from_bits(all), gap, splat(0)));
		}
		if (first && lanes == 0)
			continue;
		i8 child_a = tac_i32x8_permute(tac_i32x8_load(a->child), i);
		i8 child_b = tac_i32x8_permute(tac_i32x8_load(b->child), j);
		unsigned both = lanes & leaf_bits(tac_i32x8_and(child_a, child_b)), inner = lanes & ~both;
		push(s->leaf_fixed, s->leaf_moving, leaves, child_a, child_b, both);
		if (first && inner != 0) {
			// The deepest overlap goes on top: it is the likeliest to hit.
			f8 depth = box_gap(permute3(c, i), permute3(h, i), permute3(LOAD3(b_moved.centre), j),
					   permute3(LOAD3(b_moved.half), j));
			depth = pick(tac_m32x8_from_bits(inner), depth, splat(1e30F));
			f8 deepest = splat(tac_f32x8_hmin(depth));
			unsigned best = tac_m32x8_movemask(tac_f32x8_le(depth, deepest)) & inner;
			best &= 0U - best;
			push(s->fixed, s->moving, pairs, child_a, child_b, inner & ~best);
			inner = best;
		}
		push(s->fixed, s->moving, pairs, child_a, child_b, inner);
	}
	tac_f32x8_store(s->min_gap, least);
}

// Opens the node of a pair whose other side is a leaf.
OUT_OF_LINE void open_one(tac_bvh8_query *q, scratch *s, unsigned *pairs, unsigned *leaves, int32_t id_a,
			  int32_t id_b, bool slabs)
{
	bool a_is_leaf = id_a < 0;
	const tac_bvh8_bound *one =
		a_is_leaf ? &q->fixed->leaves[~id_a].bound : &q->moving->leaves[~id_b].bound;
	const tac_bvh8_node *node = a_is_leaf ? &q->moving->nodes[id_b] : &q->fixed->nodes[id_a];
	const tac_bvh8_frame *frame = a_is_leaf ? &q->to_moving : &q->to_fixed;
	const tac_bvh8_frame *back = a_is_leaf ? &q->to_fixed : &q->to_moving;
	unsigned mask = children_overlap(q, frame, back, one, node, slabs);
	q->context->counters.overlap_tests += 8;
	i8 child = tac_i32x8_load(node->child), other = tac_i32x8_splat(a_is_leaf ? id_a : id_b);
	unsigned both = mask & leaf_bits(child);
	s->min_gap[0] = 0.0F; // a leaf's gaps are not folded, so there is no clearance
	int32_t *fixed = a_is_leaf ? s->moving : s->fixed, *moving = a_is_leaf ? s->fixed : s->moving;
	int32_t *leaf_fixed = a_is_leaf ? s->leaf_moving : s->leaf_fixed;
	int32_t *leaf_moving = a_is_leaf ? s->leaf_fixed : s->leaf_moving;
	push(leaf_fixed, leaf_moving, leaves, child, other, both);
	push(fixed, moving, pairs, child, other, mask & ~both);
}

OUT_OF_LINE bool drain_leaves(tac_bvh8_query *q, const scratch *s, unsigned leaves, bool first)
{
	for (unsigned k = 0; k < leaves; k++) {
		if (k + 2 < leaves) {
			prefetch_leaf(&q->fixed->leaves[~s->leaf_fixed[k + 2]]);
			prefetch_leaf(&q->moving->leaves[~s->leaf_moving[k + 2]]);
		}
		if (leaves_meet(q, ~s->leaf_fixed[k], ~s->leaf_moving[k], first))
			return true;
	}
	return false;
}

tac_overlap TAC_SIMD_NAME(tac_bvh8_run)(tac_bvh8_query *q, bool resume)
{
	tac_context *context = q->context;
	const bool first = context->mode == TAC_QUERY_FIRST,
		   slabs = q->fixed->uses_slabs || q->moving->uses_slabs;
	scratch *s = context->scratch;
	if (context->scratch_bytes < sizeof *s)
		return TAC_OVERLAP_UNKNOWN;
	unsigned pairs, leaves = 0;
	if (resume) {
		pairs = (unsigned)context->resume_state[RESUME_PAIRS];
		leaves = (unsigned)context->resume_state[RESUME_LEAVES];
	} else {
		s->fixed[0] = s->moving[0] = 0;
		pairs = 1;
		tac_f32x8_store(s->min_gap, splat(FLT_MAX));
		if (first && context->coherent && context->witness_fixed_leaf >= 0 &&
		    leaves_meet(q, context->witness_fixed_leaf, context->witness_moving_leaf, true))
			return TAC_OVERLAP_HIT;
	}
	const unsigned chunk = first ? 1 : TAC_BVH8_CHUNK;
	int until_clock = CHUNKS_BETWEEN_CLOCKS;
	while (pairs > 0 || leaves > 0) {
		unsigned count = pairs < chunk ? pairs : chunk;
		pairs -= count;
		int32_t fixed[TAC_BVH8_CHUNK], moving[TAC_BVH8_CHUNK];
		for (unsigned k = 0; k < count; k++) {
			fixed[k] = s->fixed[pairs + k];
			moving[k] = s->moving[pairs + k];
		}
		for (unsigned k = 0; k < count; k++) {
			if ((fixed[k] | moving[k]) >= 0)
				open_pair(q, s, &pairs, &leaves, fixed[k], moving[k], first, slabs);
			else
				open_one(q, s, &pairs, &leaves, fixed[k], moving[k], slabs);
		}
		context->counters.nodes += 2 * count;
		context->nodes_left -= count;
		TAC_ASSERT(pairs <= STACK && leaves <= LEAVES);
		if (leaves >= (first ? 1 : LEAF_BATCH) || pairs == 0) {
			if (leaves > 0)
				s->min_gap[0] = 0.0F;
			if (drain_leaves(q, s, leaves, first))
				return TAC_OVERLAP_HIT;
			leaves = 0;
		}
		if (pairs > 0 && tac_budget_poll(context, &until_clock, CHUNKS_BETWEEN_CLOCKS)) {
			context->resume_state[RESUME_PAIRS] = (int32_t)pairs;
			context->resume_state[RESUME_LEAVES] = (int32_t)leaves;
			context->pending = true;
			return TAC_OVERLAP_UNKNOWN;
		}
	}
	float clearance = tac_f32x8_hmin(load(s->min_gap));
	if (clearance > 0.0F && q->clearance_valid) {
		context->clearance_m = clearance;
		context->clearance_motion = context->motion;
	}
	return context->pair_count > 0 ? TAC_OVERLAP_HIT : TAC_OVERLAP_NONE;
}
