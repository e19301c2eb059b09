#include "collision/trees/rtree.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/trees/rtree_node.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tac_aabb empty_box = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

static tac_aabb joined(tac_aabb a, tac_aabb b)
{
	for (int k = 0; k < 3; k++) {
		a.min[k] = b.min[k] < a.min[k] ? b.min[k] : a.min[k];
		a.max[k] = b.max[k] > a.max[k] ? b.max[k] : a.max[k];
	}
	return a;
}

static double volume(tac_aabb a)
{
	return ((double)a.max[0] - (double)a.min[0]) * ((double)a.max[1] - (double)a.min[1]) *
	       ((double)a.max[2] - (double)a.min[2]);
}

unsigned tac_rtree_node_overlap(const tac_rtree_node *node, const tac_aabb *box)
{
	return node_overlap(node, box);
}

tac_aabb tac_rtree_node_box(const tac_rtree_node *node, int lane)
{
	return (tac_aabb){{node->min[0][lane], node->min[1][lane], node->min[2][lane]},
			  {node->max[0][lane], node->max[1][lane], node->max[2][lane]}};
}

static void set_lane(tac_rtree_node *node, int lane, tac_aabb box, int32_t child)
{
	for (int k = 0; k < 3; k++) {
		node->min[k][lane] = box.min[k];
		node->max[k][lane] = box.max[k];
	}
	node->child[lane] = child;
}

static void clear(tac_rtree_node *node)
{
	for (int i = 0; i < TAC_RTREE_MAX; i++)
		node_clear_lane(node, i);
	node->count = 0;
}

static void append(tac_rtree_node *node, tac_aabb box, int32_t child)
{
	TAC_ASSERT(node->count < TAC_RTREE_MAX);
	set_lane(node, node->count++, box, child);
}

static tac_aabb node_box(const tac_rtree_node *node)
{
	tac_aabb box = empty_box;
	for (int i = 0; i < node->count; i++)
		box = joined(box, tac_rtree_node_box(node, i));
	return box;
}

// The nodes under construction. The root may be any of them.
typedef struct builder {
	tac_rtree_node *nodes;
	int32_t count, capacity;
	int32_t root, depth;
	bool failed;
} builder;

// A new empty node, or -1 without memory.
static int32_t add_node(builder *b)
{
	if (b->count == b->capacity) {
		int32_t capacity = b->capacity == 0 ? 16 : 2 * b->capacity;
		tac_rtree_node *nodes = realloc(b->nodes, (size_t)capacity * sizeof *nodes);
		if (!nodes) {
			b->failed = true;
			return -1;
		}
		b->nodes = nodes;
		b->capacity = capacity;
	}
	clear(&b->nodes[b->count]);
	return b->count++;
}

// ---- packing ----

// A set of items is a range of indices that holds the same items in all three orders.
typedef struct packer {
	builder *b;
	const tac_aabb *boxes;
	int32_t *order[3]; // the items, sorted by their centres along each axis
	int32_t *spare;
	bool *before_cut;  // for each item of the range being split
	double *area;      // area[i]: of the box around the first i + 1 items of a range
	int64_t low, high; // bounds of the number of items in a group
} packer;

typedef struct key {
	float centre;
	int32_t item;
} key;

static int compare_keys(const void *x, const void *y)
{
	const key *a = x, *b = y;
	if (a->centre != b->centre)
		return a->centre < b->centre ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item; // one order on every machine
}

// Half the surface area of the box, proportional to the probability of a visit.
static double half_area(tac_aabb a)
{
	double x = (double)a.max[0] - (double)a.min[0], y = (double)a.max[1] - (double)a.min[1],
	       z = (double)a.max[2] - (double)a.min[2];
	return x * y + y * z + z * x;
}

// The number of groups, of `groups` in total, for the first `count` of `total` items; 0 if no number is
// valid.
static int32_t groups_before_cut(const packer *p, int32_t count, int32_t total, int32_t groups)
{
	int32_t rest = total - count;
	int64_t least = (count + p->high - 1) / p->high, most = count / p->low;
	int64_t least_rest = (rest + p->high - 1) / p->high, most_rest = rest / p->low;
	if (groups - most_rest > least)
		least = groups - most_rest;
	if (groups - least_rest < most)
		most = groups - least_rest;
	int64_t even = ((int64_t)count * groups + total / 2) / total;
	int64_t number = even < least ? least : even > most ? most : even;
	return number >= 1 && number < groups && number >= least && number <= most ? (int32_t)number : 0;
}

// Moves the items before the cut to the front of the range and the others to its end; both keep their order.
static void partition(packer *p, int32_t *items, int32_t count)
{
	int32_t kept = 0, moved = 0;
	for (int32_t i = 0; i < count; i++) {
		if (p->before_cut[items[i]])
			items[kept++] = items[i];
		else
			p->spare[moved++] = items[i];
	}
	memcpy(items + kept, p->spare, (size_t)moved * sizeof *items);
}

// Divides a range into groups with small boxes: the best cut in two along any axis, then recursively. Writes
// the ends of the groups.
static void split_groups(packer *p, int32_t begin, int32_t count, int32_t groups, int32_t *out_ends)
{
	out_ends[groups - 1] = begin + count;
	if (groups < 2)
		return;
	double best = HUGE_VAL;
	int best_axis = 0;
	int32_t best_cut = 0;
	for (int axis = 0; axis < 3; axis++) {
		const int32_t *items = p->order[axis] + begin;
		tac_aabb box = empty_box;
		for (int32_t i = 0; i < count; i++) {
			box = joined(box, p->boxes[items[i]]);
			p->area[i] = half_area(box);
		}
		box = empty_box;
		for (int32_t i = count - 1; i > 0; i--) {
			box = joined(box, p->boxes[items[i]]);
			double cost = p->area[i - 1] * i + half_area(box) * (count - i);
			if ((best_cut == 0 || cost < best) && groups_before_cut(p, i, count, groups) > 0) {
				best = cost;
				best_axis = axis;
				best_cut = i;
			}
		}
	}
	int32_t left = groups_before_cut(p, best_cut, count, groups);
	TAC_ASSERT(left > 0);
	for (int32_t i = 0; i < count; i++)
		p->before_cut[p->order[best_axis][begin + i]] = i < best_cut;
	for (int axis = 0; axis < 3; axis++) {
		if (axis != best_axis)
			partition(p, p->order[axis] + begin, count);
	}
	split_groups(p, begin, best_cut, left, out_ends);
	split_groups(p, begin + best_cut, count - best_cut, groups - left, out_ends + left);
}

// Builds the subtree of a range at `level` edges above the leaves; returns its node, or -1 without memory.
// `low` and `high` bound the number of items below each child.
static int32_t pack_node(packer *p, int32_t begin, int32_t count, int32_t level, int64_t low, int64_t high)
{
	int32_t node = add_node(p->b), ends[TAC_RTREE_MAX];
	if (node < 0)
		return -1;
	if (level == 0) {
		for (int32_t i = begin; i < begin + count; i++)
			append(&p->b->nodes[node], p->boxes[p->order[0][i]], p->order[0][i]);
		return node;
	}
	// A third more groups than needed leaves freedom for good cuts.
	int64_t groups = (4 * count + 3 * high - 1) / (3 * high), most = count / low;
	groups = groups > TAC_RTREE_MAX ? TAC_RTREE_MAX : groups < TAC_RTREE_MIN ? TAC_RTREE_MIN : groups;
	groups = groups > most ? most : groups;
	p->low = low;
	p->high = high;
	split_groups(p, begin, count, (int32_t)groups, ends);
	for (int32_t g = 0; g < groups; begin = ends[g++]) {
		int32_t child = pack_node(p, begin, ends[g] - begin, level - 1, low / TAC_RTREE_MIN,
					  high / TAC_RTREE_MAX);
		if (child < 0)
			return -1;
		append(&p->b->nodes[node], node_box(&p->b->nodes[child]), child);
	}
	return node;
}

static void sort_items(packer *p, int32_t count, int axis, key *keys)
{
	for (int32_t i = 0; i < count; i++)
		keys[i] = (key){p->boxes[i].min[axis] + p->boxes[i].max[axis], i};
	qsort(keys, (size_t)count, sizeof *keys, compare_keys);
	for (int32_t i = 0; i < count; i++)
		p->order[axis][i] = keys[i].item;
}

static void pack(builder *b, const tac_aabb *boxes, int32_t count)
{
	size_t n = (size_t)count;
	packer p = {.b = b, .boxes = boxes};
	int32_t *numbers = malloc(4 * n * sizeof *numbers);
	key *keys = malloc(n * sizeof *keys);
	p.before_cut = malloc(n * sizeof *p.before_cut);
	p.area = malloc(n * sizeof *p.area);
	if (!numbers || !keys || !p.before_cut || !p.area) {
		b->failed = true;
	} else {
		p.spare = numbers + 3 * n;
		for (int axis = 0; axis < 3; axis++) {
			p.order[axis] = numbers + (size_t)axis * n;
			sort_items(&p, count, axis, keys);
		}
		int64_t low = 1, high = 1;
		for (b->depth = 0; high * TAC_RTREE_MAX < count; b->depth++) {
			low *= TAC_RTREE_MIN;
			high *= TAC_RTREE_MAX;
		}
		b->root = pack_node(&p, 0, count, b->depth, low, high);
	}
	free(numbers);
	free(keys);
	free(p.before_cut);
	free(p.area);
}

// ---- insertion ----

typedef struct entry {
	tac_aabb box;
	int32_t child;
} entry;

// The two entries that would waste the most volume in one box.
static void pick_seeds(const entry *entries, int count, int out_seeds[2])
{
	double worst = -HUGE_VAL;
	for (int i = 0; i < count; i++) {
		for (int j = i + 1; j < count; j++) {
			double waste = volume(joined(entries[i].box, entries[j].box)) -
				       volume(entries[i].box) - volume(entries[j].box);
			if (waste > worst) {
				worst = waste;
				out_seeds[0] = i;
				out_seeds[1] = j;
			}
		}
	}
}

// Distributes the nine entries of an overflowing node between it and a new node, which it returns, or -1
// without memory (Guttman's quadratic split).
static int32_t split_node(builder *b, int32_t node, tac_aabb box, int32_t child)
{
	entry entries[TAC_RTREE_MAX + 1];
	for (int i = 0; i < TAC_RTREE_MAX; i++)
		entries[i] = (entry){tac_rtree_node_box(&b->nodes[node], i), b->nodes[node].child[i]};
	entries[TAC_RTREE_MAX] = (entry){box, child};
	int32_t other = add_node(b);
	if (other < 0)
		return -1;
	int left = TAC_RTREE_MAX + 1, seeds[2] = {0, 1};
	pick_seeds(entries, left, seeds);
	tac_rtree_node *groups[2] = {&b->nodes[node], &b->nodes[other]};
	tac_aabb bounds[2];
	clear(groups[0]);
	for (int g = 0; g < 2; g++) {
		bounds[g] = entries[seeds[g]].box;
		append(groups[g], bounds[g], entries[seeds[g]].child);
	}
	// seeds[0] < seeds[1], so the second move never takes the entry that the first one moved.
	entries[seeds[1]] = entries[--left];
	entries[seeds[0]] = entries[--left];
	while (left > 0) {
		int next = 0, to = -1;
		for (int g = 0; g < 2 && to < 0; g++) {
			if (groups[g]->count + left == TAC_RTREE_MIN)
				to = g; // it needs all remaining entries
		}
		if (to < 0) {
			double most = -1;
			for (int i = 0; i < left; i++) {
				double g0 = volume(joined(bounds[0], entries[i].box)) - volume(bounds[0]);
				double g1 = volume(joined(bounds[1], entries[i].box)) - volume(bounds[1]);
				if (fabs(g0 - g1) > most) {
					most = fabs(g0 - g1);
					next = i;
					to = g0 < g1   ? 0
					     : g1 < g0 ? 1
					     : volume(bounds[0]) != volume(bounds[1])
						     ? volume(bounds[0]) > volume(bounds[1])
						     : groups[0]->count > groups[1]->count;
				}
			}
		}
		bounds[to] = joined(bounds[to], entries[next].box);
		append(groups[to], entries[next].box, entries[next].child);
		entries[next] = entries[--left];
	}
	return other;
}

// Inserts an item below the node, which is `level` edges above the leaves. Returns the node that a split
// added, or -1.
static int32_t insert(builder *b, int32_t node, int32_t level, tac_aabb box, int32_t item)
{
	tac_aabb new_box = box;
	int32_t new_child = item;
	if (level > 0) {
		int lane = 0;
		double least = HUGE_VAL, smallest = HUGE_VAL;
		for (int i = 0; i < b->nodes[node].count; i++) {
			tac_aabb child = tac_rtree_node_box(&b->nodes[node], i);
			double size = volume(child), growth = volume(joined(child, box)) - size;
			if (growth < least || (growth == least && size < smallest)) {
				least = growth;
				smallest = size;
				lane = i;
			}
		}
		int32_t child = b->nodes[node].child[lane];
		int32_t added = insert(b, child, level - 1, box, item);
		set_lane(&b->nodes[node], lane, node_box(&b->nodes[child]), child);
		if (added < 0)
			return -1;
		new_box = node_box(&b->nodes[added]);
		new_child = added;
	}
	if (b->nodes[node].count < TAC_RTREE_MAX) {
		append(&b->nodes[node], new_box, new_child);
		return -1;
	}
	return split_node(b, node, new_box, new_child);
}

static void insert_all(builder *b, const tac_aabb *boxes, int32_t count)
{
	b->root = add_node(b);
	for (int32_t i = 0; i < count && !b->failed; i++) {
		int32_t added = insert(b, b->root, b->depth, boxes[i], i);
		if (added < 0)
			continue;
		int32_t root = add_node(b);
		if (root < 0)
			break;
		append(&b->nodes[root], node_box(&b->nodes[b->root]), b->root);
		append(&b->nodes[root], node_box(&b->nodes[added]), added);
		b->root = root;
		b->depth++;
	}
}

// Copies the nodes in depth-first order, so that a descent reads forward; returns the copy's index.
static int32_t lay_out(const builder *b, int32_t node, int32_t level, tac_rtree *tree)
{
	int32_t copy = tree->node_count++;
	tree->nodes[copy] = b->nodes[node];
	for (int i = 0; level > 0 && i < b->nodes[node].count; i++)
		tree->nodes[copy].child[i] = lay_out(b, b->nodes[node].child[i], level - 1, tree);
	return copy;
}

tac_result tac_rtree_build(const tac_aabb *boxes, int32_t count, tac_rtree_method method, tac_rtree *out_tree)
{
	TAC_ASSERT(count >= 0);
	*out_tree = (tac_rtree){.box = empty_box};
	builder b = {0};
	if (method == TAC_RTREE_INSERT || count == 0)
		insert_all(&b, boxes, count);
	else
		pack(&b, boxes, count);
	if (!b.failed)
		out_tree->nodes = malloc((size_t)b.count * sizeof *b.nodes);
	if (!out_tree->nodes) {
		free(b.nodes);
		tac_log(TAC_LOG_ERROR, "rtree: no memory for the tree of %d boxes", (int)count);
		return TAC_ERROR_MEMORY;
	}
	lay_out(&b, b.root, b.depth, out_tree);
	out_tree->depth = b.depth;
	out_tree->box = node_box(&out_tree->nodes[0]);
	free(b.nodes);
	return TAC_OK;
}

void tac_rtree_fini(tac_rtree *tree)
{
	free(tree->nodes);
	*tree = (tac_rtree){.box = empty_box};
}

typedef struct query {
	const tac_rtree *tree;
	const tac_aabb *box;
	int32_t *out;
	int32_t capacity, count;
	int64_t tests;
} query;

static void descend(query *q, int32_t node, int32_t level)
{
	const tac_rtree_node *n = &q->tree->nodes[node];
	unsigned hits = node_overlap(n, q->box);
	q->tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int lane = __builtin_ctz(hits);
		if (level > 0) {
			descend(q, n->child[lane], level - 1);
		} else {
			if (q->count < q->capacity)
				q->out[q->count] = n->child[lane];
			q->count++;
		}
	}
}

int32_t tac_rtree_query(const tac_rtree *tree, const tac_aabb *box, int32_t *out, int32_t capacity,
			int64_t *tests)
{
	query q = {tree, box, out, capacity, 0, 0};
	descend(&q, 0, tree->depth);
	if (tests)
		*tests += q.tests;
	return q.count;
}
