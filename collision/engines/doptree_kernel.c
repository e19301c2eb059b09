// The queries of collision/traverse, compiled once for each SIMD variant.
#include "collision/traverse_kernel.h"

#include "collision/triangle8.inl"

#include <string.h>

#define TUMBLED 4 // 2^m at most
// Transformations between two looks at the clock.
#define STEPS_BETWEEN_CLOCKS 16

// A list word: the address of a pair of aligned nodes, and which of the two are meant. Addresses are
// multiples of 256 bytes, except for the root's pair, which is at 0.
typedef uint32_t word;

// A DOP in registers, negated and turned around, so that it is disjoint from e where e < bound: lane i holds
// −d'[(i + 12) % 24].
typedef struct {
	f8 lane[3];
} bound;

// The rows in that order, negated.
typedef struct {
	f8 weight[3][3], offset[3]; // [operand][register]
	i8 index[3][3];
} rows;

KERNEL void load_rows(const tac_dop_motion *motion, rows *out)
{
	// Row i + 12 has the weights of row i, the opposite directions and an offset of its own.
	_Alignas(32) float turned[24];
	memcpy(turned, motion->offset + 12, 12 * sizeof *turned);
	memcpy(turned + 12, motion->offset, 12 * sizeof *turned);
	i8 half = tac_i32x8_splat(12), last = tac_i32x8_splat(11);
	for (int r = 0; r < 3; ++r) {
		for (int k = 0; k < 3; ++k) {
			out->weight[k][r] = negative(load(motion->weight[k] + 8 * r));
			i8 index = tac_i32x8_load(motion->index[k] + 8 * r);
			out->index[k][r] =
				tac_i32x8_select(tac_i32x8_gt(index, last), tac_i32x8_sub(index, half),
						 tac_i32x8_add(index, half));
		}
		out->offset[r] = negative(load(turned + 8 * r));
	}
}

KERNEL bound transform(const rows *by, const tac_dop *dop)
{
	bound out;
	for (int r = 0; r < 3; ++r) {
		f8 term[3];
		for (int k = 0; k < 3; ++k)
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

// A bound that is disjoint from nothing: of a leaf without a DOP (layout P).
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

KERNEL bound tumble(tac_traverse_query *q, const rows *by, const tac_doptree_node *node)
{
	++q->context->counters.transforms;
	if (q->trace != NULL && q->trace_count < q->trace_capacity)
		q->trace[q->trace_count++] = (int32_t)(node - q->moving->nodes);
	return has_dop(q->moving, node) ? transform(by, &node->dop) : everywhere();
}

// Pairs of leaves that wait for the test of their triangles.
typedef struct {
	const tac_doptree_node *fixed[8], *moving[8]; // triangle records
	int64_t visits[8];                            // nodes compared before, in this scan
	unsigned count;
} batch;

KERNEL void add_pair(const tac_traverse_query *q, batch *t, const tac_doptree_node *fixed_leaf,
		     const tac_doptree_node *moving_leaf, int64_t visits)
{
	unsigned at = t->count++;
	t->fixed[at] = q->fixed->layout == TAC_DOPTREE_R ? node_at(q->fixed, fixed_leaf->link) : fixed_leaf;
	t->moving[at] =
		q->moving->layout == TAC_DOPTREE_R ? node_at(q->moving, moving_leaf->link) : moving_leaf;
	t->visits[at] = visits;
	__builtin_prefetch(t->fixed[at]);
}

// Tests the triangles of a batch and reports the pairs that meet; in mode first the first of them, with
// *out_visits the nodes compared before it.
static __attribute__((noinline)) bool triangles_hit(tac_traverse_query *q, batch *t, int64_t *out_visits)
{
	tac_context *context = q->context;
	const bool first = context->mode == TAC_QUERY_FIRST;
	unsigned count = t->count, lanes = (1U << count) - 1;
	t->count = 0;
	_Alignas(32) float from[2][9][8];
	for (unsigned lane = 0; lane < 8; ++lane) {
		unsigned pair = lane < count ? lane : 0;
		const float *a = t->fixed[pair]->triangle.vertices.v[0];
		const float *b = t->moving[pair]->triangle.vertices.v[0];
		for (int k = 0; k < 9; ++k) {
			from[0][k][lane] = a[k];
			from[1][k][lane] = b[k];
		}
	}
	tri8 a = {LOAD3(from[0]), {LOAD3(from[0] + 3), LOAD3(from[0] + 6)}};
	tri8 b = {LOAD3(from[1]), {LOAD3(from[1] + 3), LOAD3(from[1] + 6)}};
	for (int k = 0; k < 2; ++k) {
		a.edge[k] = sub3(a.edge[k], a.vertex);
		b.edge[k] = TURN(context->motion.rotation.m, sub3(b.edge[k], b.vertex));
	}
	float t3[3];
	tac_vec3_store(t3, context->motion.translation);
	b.vertex = add3(TURN(context->motion.rotation.m, b.vertex), splat3(t3));
	tolerance tol = tolerance_of_edges(&a, &b, q->vertex);
	unsigned unsure, hits = triangles_meet(&a, &b, &tol, lanes, &unsure);

	unsigned tested = count;
	for (unsigned undecided = hits | unsure; undecided != 0; undecided &= undecided - 1) {
		unsigned lane = (unsigned)lowest_bit(undecided);
		if ((unsure >> lane & 1) != 0) {
			++context->counters.exact_tests;
			if (!tac_traverse_exact(q, t->fixed[lane], t->moving[lane]))
				continue;
		}
		tac_context_report(context, (int32_t)t->fixed[lane]->link, (int32_t)t->moving[lane]->link);
		if (first) {
			*out_visits = t->visits[lane];
			tested = lane + 1;
			break;
		}
	}
	context->counters.triangle_tests += tested;
	return first && context->pair_count > 0;
}

// The answer of a query that is done or, `pending`, stopped by its budget.
static tac_contact finish(tac_traverse_query *q, batch *t)
{
	int64_t visits;
	if (t->count > 0)
		triangles_hit(q, t, &visits);
	return q->context->pending          ? TAC_CONTACT_UNKNOWN
	       : q->context->pair_count > 0 ? TAC_CONTACT_HIT
					    : TAC_CONTACT_NONE;
}

// Algorithm 1.

enum { STATE_COUNT };

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
	batch leaves = {.count = 0};
	int64_t visits;
	int until_clock = STEPS_BETWEEN_CLOCKS;
	while (n > 0) {
		pair top = stack[--n];
		const tac_doptree_node *a = node_at(q->fixed, top.fixed), *t = node_at(q->moving, top.moving);
		context->counters.nodes += 2;
		++context->counters.overlap_tests;
		--context->nodes_left;
		bound b = tumble(q, by, t);
		bool apart = a->type == TAC_DOPTREE_EMPTY || t->type == TAC_DOPTREE_EMPTY ||
			     (has_dop(q->fixed, a) && !overlap(&b, &a->dop));
		if (!apart && is_leaf(a) && is_leaf(t)) {
			add_pair(q, &leaves, a, t, 0);
			if ((leaves.count == 8 || context->mode == TAC_QUERY_FIRST) &&
			    triangles_hit(q, &leaves, &visits))
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
			break;
		}
	}
	return finish(q, &leaves);
}

// Algorithm 2. Work to be done is a stack of items; the lists follow it in the scratch memory.

typedef struct {
	uint32_t node;       // its descendants are held and compared with the list (m = 0: the node itself)
	uint32_t begin, end; // the list, in words
	uint32_t free;       // the first word that no list below uses
} item;

// The tree's depth is at most 64; an item leaves at most three behind at each level.
#define ITEMS 256
// Words that a list may leave unused rather than be moved: moving is a loop that no predictor guesses.
#define GAP 64
// Words of a list fetched before they are read: as many as arrive while the tumbled nodes are transformed.
#define FETCHED 6

typedef struct {
	item items[ITEMS];
	word lists[];
} memory;

KERNEL void fetch_pair(const tac_doptree *tree, uint32_t address)
{
	const char *nodes = (const char *)node_at(tree, address & ~(word)3);
	for (int line = 0; line < 4; ++line)
		__builtin_prefetch(nodes + 64 * line);
}

// The word for a node that was met as `self`: its children, or a leaf itself.
KERNEL word onward(const tac_doptree_node *node, word self)
{
	return is_leaf(node) ? self : node->link | 3;
}

// Compares two tumbled inner nodes with a list of aligned nodes: what overlaps is appended to one list each,
// in[0] and in[1], without a branch. Returns the nodes compared.
KERNEL int64_t scan_inner(const tac_doptree *fixed, const bound b[2], const word *list, const word *end,
			  word *to[2])
{
	int64_t nodes = 0;
	word *to_0 = to[0], *to_1 = to[1];
	for (; list < end; ++list) {
		word entry = *list, address = entry & ~(word)3;
		const tac_doptree_node *n = node_at(fixed, address);
		// Nearly always both siblings are meant.
		if ((entry & 3) != 2) {
			*to_0 = *to_1 = onward(n, address | 1);
			to_0 += overlap(&b[0], &n->dop);
			to_1 += overlap(&b[1], &n->dop);
			++nodes;
		}
		if ((entry & 3) != 1) {
			*to_0 = *to_1 = onward(n + 1, address | 2);
			to_0 += overlap(&b[0], &n[1].dop);
			to_1 += overlap(&b[1], &n[1].dop);
			++nodes;
		}
	}
	to[0] = to_0;
	to[1] = to_1;
	return nodes;
}

// The same for tumbled nodes of which some are leaves, and for aligned leaves without a DOP. Pairs of leaves
// go to the batch; true at the first pair of triangles in mode first.
KERNEL bool scan(tac_traverse_query *q, const bound *b, const tac_doptree_node *const *tumbled, int count,
		 const word *list, const word *end, word **to, batch *t)
{
	tac_context *context = q->context;
	const bool bounded_leaves = q->fixed->layout == TAC_DOPTREE_R,
		   first = context->mode == TAC_QUERY_FIRST;
	const unsigned all = (1U << count) - 1;
	int64_t visits = 0;
	bool hit = false;
	for (; list < end && !hit; ++list) {
		uint32_t address = *list & ~(word)3;
		for (uint32_t s = 0; s < 2 && !hit; ++s) {
			const tac_doptree_node *n = node_at(q->fixed, address) + s;
			if ((*list >> s & 1) == 0)
				continue;
			++visits;
			bool leaf = is_leaf(n);
			unsigned met = 0;
			for (int x = 0; x < count; ++x)
				met |= overlap(&b[x], &n->dop) << x;
			met = leaf && !bounded_leaves ? all : met;
			for (; met != 0; met &= met - 1) {
				int x = lowest_bit(met);
				if (!leaf || !is_leaf(tumbled[x])) {
					*to[x]++ = onward(n, address | 1U << s);
					continue;
				}
				add_pair(q, t, n, tumbled[x], visits);
				if (t->count == 8 && triangles_hit(q, t, &visits)) {
					hit = true;
					break;
				}
			}
		}
	}
	// In mode first triangles do not wait for those of other lists.
	if (!hit && first && t->count > 0)
		hit = triangles_hit(q, t, &visits);
	context->counters.nodes += visits;
	context->counters.overlap_tests += visits * count;
	return hit;
}

typedef enum { STEP_ON, STEP_HIT, STEP_FULL } step;

// Transforms the tumbled nodes of an item, once each, compares them with its list, and pushes an item for
// each that is left with a list.
KERNEL step process(tac_traverse_query *q, const rows *by, memory *m, size_t words, item at, size_t *n,
		    batch *t, const int levels)
{
	const tac_doptree_node *parent = node_at(q->moving, at.node);
	const tac_doptree_node *tumbled[TUMBLED];
	int count = 0;
	for (word w = at.begin; w < at.end && w < at.begin + FETCHED; ++w)
		fetch_pair(q->fixed, m->lists[w]);
	if (levels == 0 || is_leaf(parent)) {
		tumbled[count++] = parent;
	} else {
		const tac_doptree_node *child = node_at(q->moving, parent->link);
		for (int i = 0; i < 2; ++i) {
			if (levels == 2 && !is_leaf(child + i)) {
				tumbled[count++] = node_at(q->moving, child[i].link);
				tumbled[count++] = node_at(q->moving, child[i].link) + 1;
			} else {
				tumbled[count++] = child + i;
			}
		}
	}
	bound b[TUMBLED];
	bool leaves = false;
	for (int x = 0; x < count; ++x) {
		b[x] = tumble(q, by, tumbled[x]);
		leaves |= is_leaf(tumbled[x]);
		fetch_pair(q->moving, tumbled[x]->link);
	}
	// A list gets at most two words for each of this one, and a word beyond its end is written to.
	const size_t length = 2 * (size_t)(at.end - at.begin) + 1;
	if (at.free + (size_t)count * length > words || *n + TUMBLED > ITEMS)
		return STEP_FULL;
	word *to[TUMBLED], *const lists = m->lists;
	for (int x = 0; x < count; ++x)
		to[x] = lists + at.free + (size_t)x * length;
	if (levels == 1 && !leaves && q->fixed->layout == TAC_DOPTREE_R) {
		int64_t nodes = scan_inner(q->fixed, b, lists + at.begin, lists + at.end, to);
		q->context->counters.nodes += nodes;
		q->context->counters.overlap_tests += 2 * nodes;
	} else if (scan(q, b, tumbled, count, lists + at.begin, lists + at.end, to, t)) {
		return STEP_HIT;
	}

	uint32_t begin[TUMBLED], end[TUMBLED], free = at.free;
	for (int x = 0; x < count; ++x) {
		begin[x] = at.free + (uint32_t)((size_t)x * length);
		end[x] = (uint32_t)(to[x] - lists);
	}
	// A tumbled leaf stays in the bank until its list is used up, level by level of the aligned tree.
	for (int x = 0; leaves && x < count; ++x) {
		size_t other = at.free + (size_t)count * length;
		while (is_leaf(tumbled[x]) && begin[x] < end[x]) {
			if (other + 2 * (size_t)(end[x] - begin[x]) + 1 > words)
				return STEP_FULL;
			word *next = lists + other;
			if (scan(q, &b[x], &tumbled[x], 1, lists + begin[x], lists + end[x], &next, t))
				return STEP_HIT;
			begin[x] = (uint32_t)other;
			end[x] = (uint32_t)(next - lists);
			other = end[x];
		}
	}
	for (int x = 0; x < count; ++x) {
		if (begin[x] == end[x])
			continue;
		if (begin[x] > free + GAP) {
			memmove(lists + free, lists + begin[x], (end[x] - begin[x]) * sizeof *lists);
			end[x] -= begin[x] - free;
			begin[x] = free;
		}
		free = end[x];
	}
	// The first goes on top. For m = 0 the children are held one by one, each with the same list.
	for (int x = count - 1; x >= 0; --x) {
		if (begin[x] == end[x])
			continue;
		uint32_t node = (uint32_t)(tumbled[x] - q->moving->nodes) * TAC_DOPTREE_NODE_BYTES;
		if (levels > 0) {
			m->items[(*n)++] = (item){node, begin[x], end[x], free};
			continue;
		}
		for (uint32_t i = 2; i-- > 0;)
			m->items[(*n)++] =
				(item){tumbled[x]->link + i * TAC_DOPTREE_NODE_BYTES, begin[x], end[x], free};
	}
	return STEP_ON;
}

static tac_contact lists(tac_traverse_query *q, const rows *by, bool resume)
{
	tac_context *context = q->context;
	memory *m = context->scratch;
	if (context->scratch_bytes < sizeof *m + sizeof(word))
		return TAC_CONTACT_UNKNOWN;
	const size_t words = (context->scratch_bytes - sizeof *m) / sizeof(word);
	batch t = {.count = 0};
	size_t n;
	if (resume) {
		n = (size_t)context->state[STATE_COUNT];
	} else {
		const tac_doptree_node *moving = q->moving->nodes, *fixed = q->fixed->nodes;
		++context->counters.overlap_tests;
		context->counters.nodes += 2;
		bound b = tumble(q, by, moving);
		if (has_dop(q->fixed, fixed) && !overlap(&b, &fixed->dop))
			return TAC_CONTACT_NONE;
		// A root that is a leaf stands for itself.
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
		step s = q->m == 1   ? process(q, by, m, words, at, &n, &t, 1)
			 : q->m == 0 ? process(q, by, m, words, at, &n, &t, 0)
				     : process(q, by, m, words, at, &n, &t, 2);
		if (s != STEP_ON)
			return s == STEP_HIT ? TAC_CONTACT_HIT : TAC_CONTACT_UNKNOWN;
		--context->nodes_left;
		bool look = --until_clock == 0;
		if (look)
			until_clock = STEPS_BETWEEN_CLOCKS;
		if ((look || context->nodes_left <= 0) && n > 0 && tac_context_spent(context)) {
			context->state[STATE_COUNT] = (int32_t)n;
			context->pending = true;
			break;
		}
	}
	return finish(q, &t);
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
