#include "collision/rtree.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/rtree_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tac_aabb nothing = {{FLT_MAX, FLT_MAX, FLT_MAX}, {-FLT_MAX, -FLT_MAX, -FLT_MAX}};

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
		set_lane(node, i, nothing, -1);
	node->count = 0;
}

static void append(tac_rtree_node *node, tac_aabb box, int32_t child)
{
	TAC_ASSERT(node->count < TAC_RTREE_MAX);
	set_lane(node, node->count++, box, child);
}

static tac_aabb node_box(const tac_rtree_node *node)
{
	tac_aabb box = nothing;
	for (int i = 0; i < node->count; i++)
		box = joined(box, tac_rtree_node_box(node, i));
	return box;
}

// The nodes while they are made; the root is wherever `root` says.
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
		if (nodes == NULL) {
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

typedef struct entry {
	tac_aabb box;
	int32_t child;
} entry;

static int compare(const entry *a, const entry *b, int axis)
{
	float ca = a->box.min[axis] + a->box.max[axis], cb = b->box.min[axis] + b->box.max[axis];
	if (ca != cb)
		return ca < cb ? -1 : 1;
	return a->child < b->child ? -1 : a->child > b->child; // one order on every machine
}

static int compare_x(const void *a, const void *b)
{
	return compare(a, b, 0);
}

static int compare_y(const void *a, const void *b)
{
	return compare(a, b, 1);
}

static int compare_z(const void *a, const void *b)
{
	return compare(a, b, 2);
}

static int32_t share(int32_t index, int32_t of, int32_t total)
{
	return (int32_t)((int64_t)index * total / of);
}

// One level: sorts the entries into tiles of up to eight and replaces them by the nodes of these. Nodes get
// equal shares, so that none has fewer than four.
static int32_t pack_level(builder *b, entry *entries, int32_t count)
{
	int32_t nodes = (count + TAC_RTREE_MAX - 1) / TAC_RTREE_MAX;
	int32_t slabs = (int32_t)ceil(cbrt((double)nodes));
	qsort(entries, (size_t)count, sizeof *entries, compare_x);
	for (int32_t s = 0; s < slabs; s++) {
		int32_t first = share(s, slabs, nodes), last = share(s + 1, slabs, nodes);
		int32_t begin = share(first, nodes, count), end = share(last, nodes, count);
		qsort(entries + begin, (size_t)(end - begin), sizeof *entries, compare_y);
		int32_t rows = (int32_t)ceil(sqrt((double)(last - first)));
		for (int32_t r = 0; r < rows; r++) {
			int32_t from = share(first + share(r, rows, last - first), nodes, count);
			int32_t to = share(first + share(r + 1, rows, last - first), nodes, count);
			qsort(entries + from, (size_t)(to - from), sizeof *entries, compare_z);
		}
	}
	for (int32_t n = 0; n < nodes; n++) {
		int32_t node = add_node(b);
		if (node < 0)
			return 0;
		for (int32_t i = share(n, nodes, count); i < share(n + 1, nodes, count); i++)
			append(&b->nodes[node], entries[i].box, entries[i].child);
		entries[n] =
			(entry){node_box(&b->nodes[node]), node}; // n lies before what is still to be read
	}
	return nodes;
}

static void pack(builder *b, const tac_aabb *boxes, int32_t count)
{
	entry *entries = malloc((size_t)(count > 0 ? count : 1) * sizeof *entries);
	if (entries == NULL) {
		b->failed = true;
		return;
	}
	for (int32_t i = 0; i < count; i++)
		entries[i] = (entry){boxes[i], i};
	b->depth = -1;
	do {
		count = pack_level(b, entries, count);
		b->depth++;
	} while (count > 1);
	b->root = b->count - 1;
	free(entries);
}

// ---- insertion ----

// Splits the nine entries of an overflowing node between it and a new node.
static int32_t split(builder *b, int32_t node, tac_aabb box, int32_t child)
{
	entry entries[TAC_RTREE_MAX + 1];
	for (int i = 0; i < TAC_RTREE_MAX; i++)
		entries[i] = (entry){tac_rtree_node_box(&b->nodes[node], i), b->nodes[node].child[i]};
	entries[TAC_RTREE_MAX] = (entry){box, child};
	int32_t other = add_node(b);
	if (other < 0)
		return -1;
	int left = TAC_RTREE_MAX + 1, seeds[2] = {0, 1};
	double worst = -HUGE_VAL;
	for (int i = 0; i < left; i++) {
		for (int j = i + 1; j < left; j++) {
			double waste = volume(joined(entries[i].box, entries[j].box)) -
				       volume(entries[i].box) - volume(entries[j].box);
			if (waste > worst) {
				worst = waste;
				seeds[0] = i;
				seeds[1] = j;
			}
		}
	}
	tac_rtree_node *groups[2] = {&b->nodes[node], &b->nodes[other]};
	tac_aabb bounds[2];
	clear(groups[0]);
	for (int g = 0; g < 2; g++) {
		bounds[g] = entries[seeds[g]].box;
		append(groups[g], bounds[g], entries[seeds[g]].child);
	}
	entries[seeds[1]] = entries[--left];
	entries[seeds[0]] =
		entries[--left]; // seeds[0] < seeds[1], and never the entry that was just moved last
	while (left > 0) {
		int next = 0, to = -1;
		for (int g = 0; g < 2 && to < 0; g++) {
			if (groups[g]->count + left == TAC_RTREE_MIN)
				to = g; // it needs all the rest
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

// Puts an item below the node at `level` edges over the leaves. Returns the node that a split added, or -1.
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
	return split(b, node, new_box, new_child);
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
	*out_tree = (tac_rtree){.box = nothing};
	builder b = {0};
	if (method == TAC_RTREE_INSERT || count == 0)
		insert_all(&b, boxes, count);
	else
		pack(&b, boxes, count);
	if (!b.failed)
		out_tree->nodes = malloc((size_t)b.count * sizeof *b.nodes);
	if (out_tree->nodes == NULL) {
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
	*tree = (tac_rtree){.box = nothing};
}

typedef struct search {
	const tac_rtree *tree;
	const tac_aabb *box;
	int32_t *out;
	int32_t capacity, found;
	int64_t tests;
} search;

static void descend(search *s, int32_t node, int32_t level)
{
	const tac_rtree_node *n = &s->tree->nodes[node];
	unsigned hits = node_overlap(n, s->box);
	s->tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int lane = __builtin_ctz(hits);
		if (level > 0) {
			descend(s, n->child[lane], level - 1);
		} else {
			if (s->found < s->capacity)
				s->out[s->found] = n->child[lane];
			s->found++;
		}
	}
}

int32_t tac_rtree_query(const tac_rtree *tree, const tac_aabb *box, int32_t *out, int32_t capacity,
			int64_t *tests)
{
	search s = {tree, box, out, capacity, 0, 0};
	descend(&s, 0, tree->depth);
	if (tests != NULL)
		*tests += s.tests;
	return s.found;
}
