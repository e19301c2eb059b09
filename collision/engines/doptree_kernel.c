// The queries of collision/engines/doptree_engine, compiled once for each SIMD variant.
#include "collision/engines/doptree_kernel.h"

#include "collision/engines/budget.h"
#include "collision/geometry/triangle8.inl"

#include <string.h>

enum { RESUME_COUNT };

#define TUMBLED              4  // 2^m at most
#define STEPS_BETWEEN_CLOCKS 16 // transformations

// For the parts of one function: inlined in every variant, in plain C too.
#define INLINE static inline __attribute__((always_inline))

// A list word: the address of a pair of aligned nodes, and in its two low bits which of them belong to the
// list. Addresses of pairs are multiples of 256 bytes.
typedef uint32_t word;

// A transformed DOP d' in registers, negated and with opposite directions exchanged, so that it is disjoint
// from e where e < bound: lane i holds −d'[(i + 12) % 24].
typedef struct {
	f8 lane[3];
} bound;

// The rows of the transformation in that order, negated.
typedef struct {
	f8 weight[3][3], offset[3]; // [operand][register]
	i8 index[3][3];
} rows;

KERNEL void load_rows(const tac_dop_motion *motion, rows *out)
{
	// Row i + 12 has the weights of row i, the opposite directions and another offset.
	_Alignas(32) float opposite[24];
	memcpy(opposite, motion->offset + 12, 12 * sizeof *opposite);
	memcpy(opposite + 12, motion->offset, 12 * sizeof *opposite);
	i8 half = tac_i32x8_splat(12), last = tac_i32x8_splat(11);
	for (int r = 0; r < 3; r++) {
		for (int k = 0; k < 3; k++) {
			out->weight[k][r] = negative(load(motion->weight[k] + 8 * r));
			i8 index = tac_i32x8_load(motion->index[k] + 8 * r);
			out->index[k][r] =
				tac_i32x8_select(tac_i32x8_gt(index, last), tac_i32x8_sub(index, half),
						 tac_i32x8_add(index, half));
		}
		out->offset[r] = negative(load(opposite + 8 * r));
	}
}

KERNEL bound transform(const rows *by, const tac_dop *dop)
{
	bound out;
	for (int r = 0; r < 3; r++) {
		f8 term[3];
		for (int k = 0; k < 3; k++)
			term[k] = mul(by->weight[k][r], tac_f32x8_gather24(dop->d, by->index[k][r]));
		out.lane[r] = add(add(add(term[0], term[1]), term[2]), by->offset[r]);
	}
	return out;
}

KERNEL unsigned overlap(const bound *b, const tac_dop *e)
{
	tac_m32x8 apart = tac_f32x8_lt(load(e->d), b->lane[0]);
	apart = tac_m32x8_or(apart, tac_f32x8_lt(load(e->d + 8), b->lane[1]));
	apart = tac_m32x8_or(apart, tac_f32x8_lt(load(e->d + 16), b->lane[2]));
	return !tac_m32x8_any(apart);
}

// A bound that overlaps everything, for a leaf without a DOP (layout P).
KERNEL bound everywhere(void)
{
	f8 low = splat(-3e38F);
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

KERNEL bound tumble(tac_doptree_query *q, const rows *by, const tac_doptree_node *node)
{
	q->context->counters.transforms++;
	if (q->trace && q->trace_count < q->trace_capacity)
		q->trace[q->trace_count++] = (int32_t)(node - q->moving->nodes);
	return has_dop(q->moving, node) ? transform(by, &node->dop) : everywhere();
}

// Pairs of leaves whose triangles are still to be tested.
typedef struct {
	const tac_doptree_node *fixed[8], *moving[8]; // triangle records
	int64_t visits[8];                            // nodes that the scan had compared before
	unsigned count;
} batch;

KERNEL void add_pair(const tac_doptree_query *q, batch *leaves, const tac_doptree_node *fixed_leaf,
		     const tac_doptree_node *moving_leaf, int64_t visits)
{
	unsigned at = leaves->count++;
	leaves->fixed[at] =
		q->fixed->layout == TAC_DOPTREE_R ? node_at(q->fixed, fixed_leaf->link) : fixed_leaf;
	leaves->moving[at] =
		q->moving->layout == TAC_DOPTREE_R ? node_at(q->moving, moving_leaf->link) : moving_leaf;
	leaves->visits[at] = visits;
	__builtin_prefetch(leaves->fixed[at]);
}

// Tests the triangles of a batch and reports the pairs that meet. In mode first it reports only the first
// one, returns true and sets *out_visits to the nodes compared before it.
static __attribute__((noinline)) bool triangles_hit(tac_doptree_query *q, batch *leaves, int64_t *out_visits)
{
	tac_context *context = q->context;
	const bool first = context->mode == TAC_QUERY_FIRST;
	unsigned count = leaves->count, lanes = (1U << count) - 1;
	leaves->count = 0;
	_Alignas(32) float coordinates[2][9][8];
	for (unsigned lane = 0; lane < 8; lane++) {
		unsigned pair = lane < count ? lane : 0;
		const float *a = leaves->fixed[pair]->triangle.vertices.v[0];
		const float *b = leaves->moving[pair]->triangle.vertices.v[0];
		for (int k = 0; k < 9; k++) {
			coordinates[0][k][lane] = a[k];
			coordinates[1][k][lane] = b[k];
		}
	}
	tri8 a = {LOAD3(coordinates[0]), {LOAD3(coordinates[0] + 3), LOAD3(coordinates[0] + 6)}};
	tri8 b = {LOAD3(coordinates[1]), {LOAD3(coordinates[1] + 3), LOAD3(coordinates[1] + 6)}};
	for (int k = 0; k < 2; k++) {
		a.edge[k] = sub3(a.edge[k], a.vertex);
		b.edge[k] = TURN(context->motion.R.m, sub3(b.edge[k], b.vertex));
	}
	float translation[3];
	tac_vec3_store(translation, context->motion.t);
	b.vertex = add3(TURN(context->motion.R.m, b.vertex), splat3(translation));
	tolerance tol = tolerance_of_edges(&a, &b, q->vertex_error);
	unsigned unsure, hits = triangles_meet(&a, &b, &tol, lanes, &unsure);

	unsigned tested = count;
	for (unsigned undecided = hits | unsure; undecided != 0; undecided &= undecided - 1) {
		unsigned lane = (unsigned)lowest_bit(undecided);
		if ((unsure >> lane & 1) != 0) {
			context->counters.exact_tests++;
			if (!tac_doptree_triangles_meet(q, leaves->fixed[lane], leaves->moving[lane]))
				continue;
		}
		tac_context_report(context, (int32_t)leaves->fixed[lane]->link,
				   (int32_t)leaves->moving[lane]->link);
		if (first) {
			*out_visits = leaves->visits[lane];
			tested = lane + 1;
			break;
		}
	}
	context->counters.triangle_tests += tested;
	return first && context->pair_count > 0;
}

// Keeps the number of stacked items for the resumption of a query whose budget is spent.
static void stop(tac_context *context, size_t count)
{
	context->resume_state[RESUME_COUNT] = (int32_t)count;
	context->pending = true;
}

// Tests the rest of the batch and returns the answer.
static tac_overlap finish(tac_doptree_query *q, batch *leaves)
{
	int64_t visits;
	if (leaves->count > 0)
		triangles_hit(q, leaves, &visits);
	return q->context->pending          ? TAC_OVERLAP_UNKNOWN
	       : q->context->pair_count > 0 ? TAC_OVERLAP_HIT
					    : TAC_OVERLAP_NONE;
}

// ---- Algorithm 1 of the paper ----

typedef struct {
	uint32_t fixed, moving;
} pair;

static tac_overlap traverse_classic(tac_doptree_query *q, const rows *by, bool resume)
{
	tac_context *context = q->context;
	pair *stack = context->scratch;
	size_t capacity = context->scratch_bytes / sizeof *stack;
	size_t n = 1;
	if (resume)
		n = (size_t)context->resume_state[RESUME_COUNT];
	else
		stack[0] = (pair){0, 0};
	batch leaves = {.count = 0};
	int64_t visits;
	int until_clock = STEPS_BETWEEN_CLOCKS;
	while (n > 0) {
		pair top = stack[--n];
		const tac_doptree_node *a = node_at(q->fixed, top.fixed), *t = node_at(q->moving, top.moving);
		context->counters.nodes += 2;
		context->counters.overlap_tests++;
		context->nodes_left--;
		bound b = tumble(q, by, t);
		bool apart = a->type == TAC_DOPTREE_EMPTY || t->type == TAC_DOPTREE_EMPTY ||
			     (has_dop(q->fixed, a) && !overlap(&b, &a->dop));
		if (!apart && is_leaf(a) && is_leaf(t)) {
			add_pair(q, &leaves, a, t, 0);
			if ((leaves.count == 8 || context->mode == TAC_QUERY_FIRST) &&
			    triangles_hit(q, &leaves, &visits))
				return TAC_OVERLAP_HIT;
		} else if (!apart) {
			if (n + 4 > capacity)
				return TAC_OVERLAP_UNKNOWN;
			// Push in reverse, so that they are visited in the order of the recursion.
			for (int i = is_leaf(t) ? 0 : 1; i >= 0; i--)
				for (int j = is_leaf(a) ? 0 : 1; j >= 0; j--)
					stack[n++] = (pair){
						is_leaf(a) ? top.fixed
							   : a->link + (uint32_t)j * TAC_DOPTREE_NODE_BYTES,
						is_leaf(t) ? top.moving
							   : t->link + (uint32_t)i * TAC_DOPTREE_NODE_BYTES,
					};
		}
		if (n > 0 && tac_budget_poll(context, &until_clock, STEPS_BETWEEN_CLOCKS)) {
			stop(context, n);
			break;
		}
	}
	return finish(q, &leaves);
}

// ---- Algorithm 2 of the paper: a stack of items, with their lists behind it in the scratch memory ----

typedef struct {
	uint32_t node;       // its descendants are compared with the list (m = 0: the node itself)
	uint32_t begin, end; // the list, in words
	uint32_t free_word;  // the first word that no list below uses
} item;

// The tree's depth is at most 64, and an item leaves at most three others on the stack at each level.
#define ITEMS 256
// Words that may stay unused before a list rather than moving it: the length of that loop is unpredictable.
#define GAP 64
// Words of a list whose nodes are prefetched: as many as arrive while the tumbled nodes are transformed.
#define PREFETCHED 6

typedef struct {
	item items[ITEMS];
	word lists[];
} memory;

KERNEL void prefetch_pair(const tac_doptree *tree, uint32_t address)
{
	const char *nodes = (const char *)node_at(tree, address & ~(word)3);
	for (int line = 0; line < 4; line++)
		__builtin_prefetch(nodes + 64 * line);
}

// The list word that follows from an overlap with a node: its children, or `self` if it is a leaf.
KERNEL word next_word(const tac_doptree_node *node, word self)
{
	return is_leaf(node) ? self : node->link | 3;
}

// Compares two tumbled inner nodes with a list of aligned nodes, and appends those that overlap to to[0] and
// to[1] without a branch. Returns the number of aligned nodes compared.
KERNEL int64_t scan_inner(const tac_doptree *fixed, const bound b[2], const word *list, const word *end,
			  word *to[2])
{
	int64_t nodes = 0;
	word *to_0 = to[0], *to_1 = to[1];
	for (; list < end; list++) {
		word entry = *list, address = entry & ~(word)3;
		const tac_doptree_node *n = node_at(fixed, address);
		// Nearly always both siblings belong to the list.
		if ((entry & 3) != 2) {
			*to_0 = *to_1 = next_word(n, address | 1);
			to_0 += overlap(&b[0], &n->dop);
			to_1 += overlap(&b[1], &n->dop);
			nodes++;
		}
		if ((entry & 3) != 1) {
			*to_0 = *to_1 = next_word(n + 1, address | 2);
			to_0 += overlap(&b[0], &n[1].dop);
			to_1 += overlap(&b[1], &n[1].dop);
			nodes++;
		}
	}
	to[0] = to_0;
	to[1] = to_1;
	return nodes;
}

// The same if some tumbled nodes are leaves, or if aligned leaves have no DOP. Pairs of leaves go to the
// batch. True at the first pair of triangles in mode first.
KERNEL bool scan(tac_doptree_query *q, const bound *b, const tac_doptree_node *const *tumbled, int count,
		 const word *list, const word *end, word **to, batch *leaves)
{
	tac_context *context = q->context;
	const bool bounded_leaves = q->fixed->layout == TAC_DOPTREE_R,
		   first = context->mode == TAC_QUERY_FIRST;
	const unsigned all = (1U << count) - 1;
	int64_t visits = 0;
	bool hit = false;
	for (; list < end && !hit; list++) {
		uint32_t address = *list & ~(word)3;
		for (uint32_t s = 0; s < 2 && !hit; s++) {
			const tac_doptree_node *n = node_at(q->fixed, address) + s;
			if ((*list >> s & 1) == 0)
				continue;
			visits++;
			bool leaf = is_leaf(n);
			unsigned met = 0;
			for (int x = 0; x < count; x++)
				met |= overlap(&b[x], &n->dop) << x;
			met = leaf && !bounded_leaves ? all : met;
			for (; met != 0; met &= met - 1) {
				int x = lowest_bit(met);
				if (!leaf || !is_leaf(tumbled[x])) {
					*to[x]++ = next_word(n, address | 1U << s);
					continue;
				}
				add_pair(q, leaves, n, tumbled[x], visits);
				if (leaves->count == 8 && triangles_hit(q, leaves, &visits)) {
					hit = true;
					break;
				}
			}
		}
	}
	// In mode first the batch does not wait for other lists.
	if (!hit && first && leaves->count > 0)
		hit = triangles_hit(q, leaves, &visits);
	context->counters.nodes += visits;
	context->counters.overlap_tests += visits * count;
	return hit;
}

typedef enum { STEP_CONTINUE, STEP_HIT, STEP_FULL } step;

// The tumbled nodes of an item, their bounds in the fixed frame, and for each the list of aligned nodes that
// overlap it.
typedef struct {
	const tac_doptree_node *node[TUMBLED];
	bound bounds[TUMBLED];
	uint32_t begin[TUMBLED], end[TUMBLED]; // the lists, in words
} tumbled_nodes;

// The item's node itself, its children or its grandchildren, transformed once each.
INLINE int collect_tumbled(tac_doptree_query *q, const rows *by, uint32_t address, const int levels,
			   tumbled_nodes *out, bool *out_has_leaf)
{
	const tac_doptree_node *parent = node_at(q->moving, address);
	int count = 0;
	if (levels == 0 || is_leaf(parent)) {
		out->node[count++] = parent;
	} else {
		const tac_doptree_node *child = node_at(q->moving, parent->link);
		for (int i = 0; i < 2; i++) {
			if (levels == 2 && !is_leaf(child + i)) {
				out->node[count++] = node_at(q->moving, child[i].link);
				out->node[count++] = node_at(q->moving, child[i].link) + 1;
			} else {
				out->node[count++] = child + i;
			}
		}
	}
	bool has_leaf = false;
	for (int x = 0; x < count; x++) {
		out->bounds[x] = tumble(q, by, out->node[x]);
		has_leaf |= is_leaf(out->node[x]);
		prefetch_pair(q->moving, out->node[x]->link);
	}
	*out_has_leaf = has_leaf;
	return count;
}

// A tumbled leaf is compared with its list until the list is used up, level by level of the aligned tree.
INLINE step exhaust_leaves(tac_doptree_query *q, word *lists, size_t words, size_t free_word,
			   tumbled_nodes *t, int count, batch *leaves)
{
	for (int x = 0; x < count; x++) {
		size_t next_begin = free_word;
		while (is_leaf(t->node[x]) && t->begin[x] < t->end[x]) {
			if (next_begin + 2 * (size_t)(t->end[x] - t->begin[x]) + 1 > words)
				return STEP_FULL;
			word *next = lists + next_begin;
			if (scan(q, &t->bounds[x], &t->node[x], 1, lists + t->begin[x], lists + t->end[x],
				 &next, leaves))
				return STEP_HIT;
			t->begin[x] = (uint32_t)next_begin;
			t->end[x] = (uint32_t)(next - lists);
			next_begin = t->end[x];
		}
	}
	return STEP_CONTINUE;
}

// Moves the lists down to `free_word` where that frees enough; returns the first word behind them.
INLINE uint32_t compact_lists(word *lists, uint32_t free_word, tumbled_nodes *t, int count)
{
	for (int x = 0; x < count; x++) {
		if (t->begin[x] == t->end[x])
			continue;
		if (t->begin[x] > free_word + GAP) {
			memmove(lists + free_word, lists + t->begin[x],
				(t->end[x] - t->begin[x]) * sizeof *lists);
			t->end[x] -= t->begin[x] - free_word;
			t->begin[x] = free_word;
		}
		free_word = t->end[x];
	}
	return free_word;
}

// Pushes an item for each tumbled node whose list is not empty, the first on top. For m = 0 these are the
// node's children, one by one, with the same list.
INLINE void push_items(const tac_doptree_query *q, memory *m, size_t *n, const tumbled_nodes *t, int count,
		       uint32_t free_word, const int levels)
{
	for (int x = count - 1; x >= 0; x--) {
		if (t->begin[x] == t->end[x])
			continue;
		uint32_t node = (uint32_t)(t->node[x] - q->moving->nodes) * TAC_DOPTREE_NODE_BYTES;
		if (levels > 0) {
			m->items[(*n)++] = (item){node, t->begin[x], t->end[x], free_word};
			continue;
		}
		for (uint32_t i = 2; i-- > 0;)
			m->items[(*n)++] = (item){t->node[x]->link + i * TAC_DOPTREE_NODE_BYTES, t->begin[x],
						  t->end[x], free_word};
	}
}

// Transforms the tumbled nodes of an item, compares them with its list, and pushes an item for each of them
// that overlaps something.
KERNEL step process(tac_doptree_query *q, const rows *by, memory *m, size_t words, item at, size_t *n,
		    batch *leaves, const int levels)
{
	word *to[TUMBLED], *const lists = m->lists;
	for (word w = at.begin; w < at.end && w < at.begin + PREFETCHED; w++)
		prefetch_pair(q->fixed, lists[w]);
	tumbled_nodes t;
	bool has_leaf;
	const int count = collect_tumbled(q, by, at.node, levels, &t, &has_leaf);
	// A list gets at most two words for each of this one, and one word beyond its end is written.
	const size_t length = 2 * (size_t)(at.end - at.begin) + 1,
		     end = at.free_word + (size_t)count * length;
	if (end > words || *n + TUMBLED > ITEMS)
		return STEP_FULL;
	for (int x = 0; x < count; x++)
		to[x] = lists + at.free_word + (size_t)x * length;
	if (levels == 1 && !has_leaf && q->fixed->layout == TAC_DOPTREE_R) {
		int64_t nodes = scan_inner(q->fixed, t.bounds, lists + at.begin, lists + at.end, to);
		q->context->counters.nodes += nodes;
		q->context->counters.overlap_tests += 2 * nodes;
	} else if (scan(q, t.bounds, t.node, count, lists + at.begin, lists + at.end, to, leaves)) {
		return STEP_HIT;
	}
	for (int x = 0; x < count; x++) {
		t.begin[x] = at.free_word + (uint32_t)((size_t)x * length);
		t.end[x] = (uint32_t)(to[x] - lists);
	}
	if (has_leaf) {
		step s = exhaust_leaves(q, lists, words, end, &t, count, leaves);
		if (s != STEP_CONTINUE)
			return s;
	}
	push_items(q, m, n, &t, count, compact_lists(lists, at.free_word, &t, count), levels);
	return STEP_CONTINUE;
}

static tac_overlap traverse_lists(tac_doptree_query *q, const rows *by, bool resume)
{
	tac_context *context = q->context;
	memory *m = context->scratch;
	if (context->scratch_bytes < sizeof *m + sizeof(word))
		return TAC_OVERLAP_UNKNOWN;
	const size_t words = (context->scratch_bytes - sizeof *m) / sizeof(word);
	batch leaves = {.count = 0};
	size_t n;
	if (resume) {
		n = (size_t)context->resume_state[RESUME_COUNT];
	} else {
		const tac_doptree_node *moving = q->moving->nodes, *fixed = q->fixed->nodes;
		context->counters.overlap_tests++;
		context->counters.nodes += 2;
		bound b = tumble(q, by, moving);
		if (has_dop(q->fixed, fixed) && !overlap(&b, &fixed->dop))
			return TAC_OVERLAP_NONE;
		// The first list holds the children of the aligned root, or the root itself if it is a leaf.
		m->lists[0] = is_leaf(fixed) ? 1 : (fixed->link | 3);
		n = 0;
		for (uint32_t i = q->m == 0 && !is_leaf(moving) ? 2 : 1; i-- > 0;)
			m->items[n++] = (item){
				q->m == 0 && !is_leaf(moving) ? moving->link + i * TAC_DOPTREE_NODE_BYTES : 0,
				0, 1, 1};
	}
	int until_clock = STEPS_BETWEEN_CLOCKS;
	while (n > 0) {
		item at = m->items[--n];
		step s = q->m == 1   ? process(q, by, m, words, at, &n, &leaves, 1)
			 : q->m == 0 ? process(q, by, m, words, at, &n, &leaves, 0)
				     : process(q, by, m, words, at, &n, &leaves, 2);
		if (s != STEP_CONTINUE)
			return s == STEP_HIT ? TAC_OVERLAP_HIT : TAC_OVERLAP_UNKNOWN;
		context->nodes_left--;
		if (n > 0 && tac_budget_poll(context, &until_clock, STEPS_BETWEEN_CLOCKS)) {
			stop(context, n);
			break;
		}
	}
	return finish(q, &leaves);
}

tac_overlap TAC_SIMD_NAME(tac_doptree_run)(tac_doptree_query *q, bool resume)
{
	rows r;
	load_rows(&q->rows, &r);
	return q->m < 0 ? traverse_classic(q, &r, resume) : traverse_lists(q, &r, resume);
}
