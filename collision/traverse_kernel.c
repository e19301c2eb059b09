// The queries of collision/traverse, compiled once for each SIMD variant.
#include "collision/traverse_kernel.h"

#include "base/wide.h"

#define KERNEL  static inline __attribute__((always_inline))
#define TUMBLED 4 // 2^m at most
// Transformations between two looks at the clock.
#define STEPS_BETWEEN_CLOCKS 16

typedef tac_f32x8 f8;
typedef tac_i32x8 i8;

// A list word: the address of a pair of aligned nodes, and which of the two are meant. Addresses are
// multiples of 256 bytes, except for the root's pair, which is at 0.
typedef uint32_t word;

// A DOP in registers, negated and turned around, so that it is disjoint from e where e < bound: lane i holds
// −d'[(i + 12) % 24].
typedef struct {
	f8 lane[3];
} bound;

// The rows in that order, with the three registers that an operand may come from as masks.
typedef struct {
	f8 weight[3][3], offset[3]; // [operand][register]
	i8 index[3][3];
	tac_m32x8 from_1[3][3], from_2[3][3];
} rows;

KERNEL void load_rows(const tac_dop_motion *motion, rows *out)
{
	for (int r = 0; r < 3; ++r) {
		float lane[8];
		int32_t from[8];
		for (int k = 0; k < 3; ++k) {
			for (int i = 0; i < 8; ++i) {
				int row = (8 * r + i + 12) % 24;
				lane[i] = -motion->weight[k][row];
				from[i] = motion->index[k][row];
			}
			out->weight[k][r] = tac_f32x8_loadu(lane);
			out->index[k][r] = tac_i32x8_loadu(from);
			i8 part = tac_i32x8_shr(out->index[k][r], 3);
			out->from_1[k][r] = tac_i32x8_eq(part, tac_i32x8_splat(1));
			out->from_2[k][r] = tac_i32x8_eq(part, tac_i32x8_splat(2));
			out->index[k][r] = tac_i32x8_and(out->index[k][r], tac_i32x8_splat(7));
		}
		for (int i = 0; i < 8; ++i)
			lane[i] = -motion->offset[(8 * r + i + 12) % 24];
		out->offset[r] = tac_f32x8_loadu(lane);
	}
}

KERNEL bound transform(const rows *by, const tac_dop *dop)
{
	f8 d[3] = {tac_f32x8_load(dop->d), tac_f32x8_load(dop->d + 8), tac_f32x8_load(dop->d + 16)};
	bound out;
	for (int r = 0; r < 3; ++r) {
		f8 term[3];
		for (int k = 0; k < 3; ++k) {
			i8 index = by->index[k][r];
			f8 x = tac_f32x8_permute(d[0], index);
			x = tac_f32x8_select(by->from_1[k][r], tac_f32x8_permute(d[1], index), x);
			x = tac_f32x8_select(by->from_2[k][r], tac_f32x8_permute(d[2], index), x);
			term[k] = tac_f32x8_mul(by->weight[k][r], x);
		}
		out.lane[r] =
			tac_f32x8_add(tac_f32x8_add(tac_f32x8_add(term[0], term[1]), term[2]), by->offset[r]);
	}
	return out;
}

KERNEL bool disjoint(const bound *b, const tac_dop *e)
{
	tac_m32x8 apart = tac_f32x8_lt(tac_f32x8_load(e->d), b->lane[0]);
	apart = tac_m32x8_or(apart, tac_f32x8_lt(tac_f32x8_load(e->d + 8), b->lane[1]));
	apart = tac_m32x8_or(apart, tac_f32x8_lt(tac_f32x8_load(e->d + 16), b->lane[2]));
	return tac_m32x8_any(apart);
}

// A bound that is disjoint from nothing: of a leaf without a DOP (layout P).
KERNEL bound everywhere(void)
{
	f8 low = tac_f32x8_splat(-3e38F);
	return (bound){{low, low, low}};
}

KERNEL const tac_doptree_node *node_at(const tac_doptree *tree, uint32_t address)
{
	return tree->nodes + address / TAC_DOPTREE_NODE_BYTES;
}

KERNEL bool is_leaf(const tac_doptree_node *node)
{
	return node->type == TAC_DOPTREE_LEAF;
}

KERNEL bool has_dop(const tac_doptree *tree, const tac_doptree_node *node)
{
	return node->type == TAC_DOPTREE_INNER ||
	       (node->type == TAC_DOPTREE_LEAF && tree->layout == TAC_DOPTREE_R);
}

KERNEL bound tumble(tac_traverse_query *q, const rows *by, const tac_doptree_node *node)
{
	++q->context->counters.transforms;
	if (q->trace != NULL && q->trace_count < q->trace_capacity)
		q->trace[q->trace_count++] = (int32_t)(node - q->moving->nodes);
	return has_dop(q->moving, node) ? transform(by, &node->dop) : everywhere();
}

// Algorithm 1.

enum { STATE_COUNT, STATE_TOP };

typedef struct {
	uint32_t fixed, moving;
} pair;

static tac_contact classic(tac_traverse_query *q, const rows *by, bool resume)
{
	tac_context *context = q->context;
	pair *stack = context->scratch;
	size_t capacity = context->scratch_bytes / sizeof *stack;
	size_t n = 1;
	if (resume)
		n = (size_t)context->state[STATE_COUNT];
	else
		stack[0] = (pair){0, 0};
	int until_clock = STEPS_BETWEEN_CLOCKS;
	while (n > 0) {
		pair top = stack[--n];
		const tac_doptree_node *a = node_at(q->fixed, top.fixed), *t = node_at(q->moving, top.moving);
		context->counters.nodes += 2;
		++context->counters.overlap_tests;
		--context->nodes_left;
		bound b = tumble(q, by, t);
		bool apart = a->type == TAC_DOPTREE_EMPTY || t->type == TAC_DOPTREE_EMPTY ||
			     (has_dop(q->fixed, a) && disjoint(&b, &a->dop));
		if (!apart && is_leaf(a) && is_leaf(t)) {
			if (tac_traverse_triangles(q, a, t) && context->mode == TAC_QUERY_FIRST)
				return TAC_CONTACT_HIT;
		} else if (!apart) {
			if (n + 4 > capacity)
				return TAC_CONTACT_UNKNOWN;
			// Pushed in reverse, so that they are visited in the order of the recursion.
			for (int i = is_leaf(t) ? 0 : 1; i >= 0; --i)
				for (int j = is_leaf(a) ? 0 : 1; j >= 0; --j)
					stack[n++] = (pair){
						is_leaf(a) ? top.fixed
							   : a->link + (uint32_t)j * TAC_DOPTREE_NODE_BYTES,
						is_leaf(t) ? top.moving
							   : t->link + (uint32_t)i * TAC_DOPTREE_NODE_BYTES,
					};
		}
		bool look = --until_clock == 0;
		if (look)
			until_clock = STEPS_BETWEEN_CLOCKS;
		if ((look || context->nodes_left <= 0) && n > 0 && tac_context_spent(context)) {
			context->state[STATE_COUNT] = (int32_t)n;
			context->pending = true;
			return TAC_CONTACT_UNKNOWN;
		}
	}
	return context->pair_count > 0 ? TAC_CONTACT_HIT : TAC_CONTACT_NONE;
}

// Algorithm 2. Frames grow up from the bottom of the scratch memory, lists down from its top.

typedef struct {
	uint32_t parent;         // of the tumbled nodes
	uint32_t list, list_end; // words, counted from the top
	int32_t next;            // tumbled node to descend into
	int32_t count;
	uint32_t tumbled[TUMBLED];
	uint32_t begin[TUMBLED], end[TUMBLED]; // their new lists
} frame;

typedef struct {
	frame *frames;
	word *top; // lists are top[-1 - i]
	size_t words;
} memory;

KERNEL bool room(const memory *m, size_t frames, size_t words)
{
	return frames * sizeof(frame) + words * sizeof(word) <= m->words * sizeof(word);
}

// The tumbled nodes held for a node whose list is at hand: for m = 1 its children, for m = 2 their children,
// with leaves standing for themselves; for m = 0 each child in a frame of its own.
static int32_t descendants(const tac_doptree *tree, const tac_doptree_node *node, int m, uint32_t *out)
{
	int32_t n = 0;
	for (uint32_t i = 0; i < 2; ++i) {
		uint32_t address = node->link + i * TAC_DOPTREE_NODE_BYTES;
		const tac_doptree_node *child = node_at(tree, address);
		if (m == 2 && child->type == TAC_DOPTREE_INNER) {
			out[n++] = child->link;
			out[n++] = child->link + TAC_DOPTREE_NODE_BYTES;
		} else {
			out[n++] = address;
		}
	}
	return n;
}

typedef enum { STEP_ON, STEP_HIT, STEP_FULL } step;

// Compares tumbled nodes that are held (b, `count` of them) with a list of aligned nodes. Lists grow at
// `end`, one region for each.
KERNEL step scan(tac_traverse_query *q, const memory *m, const bound *b,
		 const tac_doptree_node *const *tumbled, int32_t count, uint32_t list, uint32_t list_end,
		 uint32_t *end)
{
	tac_context *context = q->context;
	const bool bounded_leaves = q->fixed->layout == TAC_DOPTREE_R;
	int64_t nodes = 0;
	step result = STEP_ON;
	for (uint32_t w = list; w < list_end && result == STEP_ON; ++w) {
		word entry = m->top[-1 - (ptrdiff_t)w];
		uint32_t address = entry & ~(word)3;
		for (uint32_t s = 0; s < 2; ++s) {
			const tac_doptree_node *n = node_at(q->fixed, address + s * TAC_DOPTREE_NODE_BYTES);
			if ((entry >> s & 1) == 0 || n->type == TAC_DOPTREE_EMPTY)
				continue;
			++nodes;
			bool leaf = is_leaf(n);
			unsigned overlap = 0;
			for (int32_t x = 0; x < count; ++x)
				overlap |= (unsigned)!disjoint(&b[x], &n->dop) << x;
			if (leaf && !bounded_leaves)
				overlap = (1U << count) - 1;
			if (overlap == 0)
				continue;
			word onward = leaf ? address | 1U << s : n->link | 3;
			if (!leaf) {
				const char *next = (const char *)node_at(q->fixed, n->link);
				for (int line = 0; line < 4; ++line)
					__builtin_prefetch(next + 64 * line);
			}
			for (int32_t x = 0; x < count && result == STEP_ON; ++x) {
				if ((overlap >> x & 1) == 0)
					continue;
				if (!leaf || !is_leaf(tumbled[x]))
					m->top[-1 - (ptrdiff_t)end[x]++] = onward;
				else if (tac_traverse_triangles(q, n, tumbled[x]) &&
					 context->mode == TAC_QUERY_FIRST)
					result = STEP_HIT;
			}
			if (result == STEP_HIT)
				break;
		}
	}
	context->counters.nodes += nodes;
	context->counters.overlap_tests += nodes * count;
	return result;
}

// Transforms the tumbled nodes of a frame, once each, and makes their lists.
KERNEL step process(tac_traverse_query *q, const rows *by, const memory *m, size_t depth, uint32_t *words)
{
	frame *f = &m->frames[depth];
	const tac_doptree_node *tumbled[TUMBLED] = {0};
	bound b[TUMBLED];
	int32_t count = 0;
	for (int32_t x = 0; x < f->count; ++x) {
		const tac_doptree_node *t = node_at(q->moving, f->tumbled[x]);
		if (t->type == TAC_DOPTREE_EMPTY)
			continue;
		f->tumbled[count] = f->tumbled[x];
		tumbled[count] = t;
		b[count++] = tumble(q, by, t);
		// The children, or the record of the triangle.
		__builtin_prefetch(node_at(q->moving, t->link));
	}
	f->count = count;
	f->next = 0;
	uint32_t length = 2 * (f->list_end - f->list);
	if (!room(m, depth + 2, (size_t)*words + (size_t)length * TUMBLED))
		return STEP_FULL;
	for (int32_t x = 0; x < count; ++x)
		f->begin[x] = f->end[x] = *words + (uint32_t)x * length;
	step s;
	if (count == 2) // the usual case, unrolled
		s = scan(q, m, b, tumbled, 2, f->list, f->list_end, f->end);
	else
		s = scan(q, m, b, tumbled, count, f->list, f->list_end, f->end);
	if (s != STEP_ON)
		return s;

	// A tumbled leaf stays in the bank until its list is used up, level by level of the aligned tree.
	for (int32_t x = 0; x < count; ++x) {
		if (!is_leaf(tumbled[x]))
			continue;
		uint32_t begin = f->begin[x], end = f->end[x];
		uint32_t other = *words + (uint32_t)count * length;
		while (begin < end) {
			if (!room(m, depth + 2, (size_t)other + 4 * (size_t)(end - begin)))
				return STEP_FULL;
			uint32_t next = other;
			s = scan(q, m, &b[x], &tumbled[x], 1, begin, end, &next);
			if (s != STEP_ON)
				return s;
			// The next level goes behind this one.
			begin = other;
			end = next;
			other = next;
		}
		f->end[x] = f->begin[x];
	}
	// Close the gaps between the lists.
	for (int32_t x = 0; x < count; ++x) {
		uint32_t size = f->end[x] - f->begin[x];
		for (uint32_t w = 0; w < size; ++w)
			m->top[-1 - (ptrdiff_t)(*words + w)] = m->top[-1 - (ptrdiff_t)(f->begin[x] + w)];
		f->begin[x] = *words;
		f->end[x] = *words += size;
	}
	return STEP_ON;
}

static tac_contact lists(tac_traverse_query *q, const rows *by, bool resume)
{
	tac_context *context = q->context;
	memory m = {.frames = context->scratch, .words = context->scratch_bytes / sizeof(word)};
	m.top = (word *)context->scratch + m.words;
	size_t depth; // of the frame to process
	uint32_t words;
	if (resume) {
		depth = (size_t)context->state[STATE_COUNT];
		words = (uint32_t)context->state[STATE_TOP];
	} else {
		const tac_doptree_node *t = q->moving->nodes, *a = q->fixed->nodes;
		++context->counters.overlap_tests;
		context->counters.nodes += 2;
		bound b = tumble(q, by, t);
		if (has_dop(q->fixed, a) && disjoint(&b, &a->dop))
			return TAC_CONTACT_NONE;
		// The root stands for its pair when it is a leaf; its empty sibling overlaps nothing.
		m.top[-1] = is_leaf(a) ? 1 : (a->link | 3);
		words = 1;
		depth = 0;
		m.frames[0] = (frame){.list = 0, .list_end = 1};
		if (is_leaf(t)) {
			m.frames[0].count = 1;
		} else {
			m.frames[0].parent = 0;
			m.frames[0].count = descendants(q->moving, t, q->m, m.frames[0].tumbled);
			if (q->m == 0) {
				// A frame that only hands its list to the children, one after the other.
				m.frames[0].next = 0;
				m.frames[0].begin[0] = 0;
				m.frames[0].end[0] = 1;
				m.frames[0].tumbled[0] = 0;
				m.frames[0].count = 1;
			}
		}
	}

	// For m = 0 a frame holds one node; `next` counts its children instead of tumbled nodes.
	bool single = q->m == 0 && !is_leaf(q->moving->nodes);
	bool fresh = !single || resume; // whether the frame at `depth` is still to be processed
	int until_clock = STEPS_BETWEEN_CLOCKS;
	for (;;) {
		if (fresh) {
			step s = process(q, by, &m, depth, &words);
			if (s == STEP_HIT)
				return TAC_CONTACT_HIT;
			if (s == STEP_FULL)
				return TAC_CONTACT_UNKNOWN;
			--context->nodes_left;
		}
		fresh = true;
		// Descend into the next tumbled node that has a list, or go up.
		frame *f = &m.frames[depth];
		for (;;) {
			int32_t limit = single ? 2 : f->count;
			if (f->next < limit) {
				int32_t x = single ? 0 : f->next;
				const tac_doptree_node *t =
					f->count > 0 ? node_at(q->moving, f->tumbled[x]) : NULL;
				int32_t which = f->next++;
				if (t == NULL || is_leaf(t) || f->begin[x] == f->end[x])
					continue;
				if (!room(&m, depth + 3, words))
					return TAC_CONTACT_UNKNOWN;
				frame *g = &m.frames[depth + 1];
				g->parent = f->tumbled[x];
				g->list = f->begin[x];
				g->list_end = f->end[x];
				if (single) {
					g->count = 1;
					g->tumbled[0] = t->link + (uint32_t)which * TAC_DOPTREE_NODE_BYTES;
				} else {
					g->count = descendants(q->moving, t, q->m, g->tumbled);
				}
				++depth;
				break;
			}
			if (depth == 0)
				return context->pair_count > 0 ? TAC_CONTACT_HIT : TAC_CONTACT_NONE;
			// The lists of a frame are dead when all of its nodes are done.
			if (f->count > 0)
				words = f->begin[0];
			f = &m.frames[--depth];
		}
		bool look = --until_clock == 0;
		if (look)
			until_clock = STEPS_BETWEEN_CLOCKS;
		if ((look || context->nodes_left <= 0) && tac_context_spent(context)) {
			context->state[STATE_COUNT] = (int32_t)depth;
			context->state[STATE_TOP] = (int32_t)words;
			context->pending = true;
			return TAC_CONTACT_UNKNOWN;
		}
	}
}

tac_contact TAC_SIMD_NAME(tac_traverse_run)(tac_traverse_query *q, bool resume)
{
	rows r;
	load_rows(&q->rows, &r);
	return q->m < 0 ? classic(q, &r, resume) : lists(q, &r, resume);
}

// The weights of a face and of its opposite differ in sign alone: half of the faces will do.
void TAC_SIMD_NAME(tac_dop_locate)(const float inverse[9 * 24], const float direction[3 * 12],
				   int32_t out_face[12])
{
	// The last two lanes are the first two faces again.
	static const int32_t faces[24] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
					  12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 0,  1};
	for (int i = 0; i < 12; ++i) {
		f8 x = tac_f32x8_splat(direction[i]), y = tac_f32x8_splat(direction[12 + i]);
		f8 z = tac_f32x8_splat(direction[24 + i]);
		f8 best = tac_f32x8_splat(-1e30F);
		i8 best_face = tac_i32x8_splat(0);
		for (int f = 0; f < 24; f += 8) {
			i8 face = tac_i32x8_loadu(faces + f);
			f8 w[3];
			for (int k = 0; k < 3; ++k) {
				const float *row = inverse + 72 * k + f;
				w[k] = tac_f32x8_add(
					tac_f32x8_add(tac_f32x8_mul(tac_f32x8_load(row), x),
						      tac_f32x8_mul(tac_f32x8_load(row + 24), y)),
					tac_f32x8_mul(tac_f32x8_load(row + 48), z));
			}
			f8 least = tac_f32x8_min(w[0], tac_f32x8_min(w[1], w[2]));
			f8 opposite = tac_f32x8_neg(tac_f32x8_max(w[0], tac_f32x8_max(w[1], w[2])));
			tac_m32x8 better = tac_f32x8_gt(least, best);
			best = tac_f32x8_select(better, least, best);
			best_face = tac_i32x8_select(better, face, best_face);
			better = tac_f32x8_gt(opposite, best);
			best = tac_f32x8_select(better, opposite, best);
			best_face = tac_i32x8_select(
				better, tac_i32x8_add(face, tac_i32x8_splat(TAC_DOP_FACES / 2)), best_face);
		}
		f8 most = tac_f32x8_splat(tac_f32x8_hmax(best));
		unsigned lanes = tac_m32x8_movemask(tac_f32x8_eq(best, most));
		int32_t found[8];
		tac_i32x8_storeu(found, best_face);
		out_face[i] = found[__builtin_ctz(lanes)];
	}
}
