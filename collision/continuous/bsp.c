#include "collision/continuous/bsp.h"

#include "base/log.h"
#include "collision/continuous/body_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The most triangles of a leaf.
#define LEAF 4
// One child of every cut waits while the other one is searched.
#define STACK (TAC_BSP_DEPTH + 2)

typedef struct box {
	float lo[3], hi[3];
} box;

typedef struct builder {
	tac_bsp *bsp;
	const box *boxes; // by position in the body's triangle array
	float *sides;     // of the boxes along an axis: the possible cuts
} builder;

static box box_of(const tac_body_triangle *t)
{
	box b;
	for (int i = 0; i < 3; i++) {
		float x = tac_vec3_get(t->vertex[0], i), y = tac_vec3_get(t->vertex[1], i),
		      z = tac_vec3_get(t->vertex[2], i);
		b.lo[i] = fminf(x, fminf(y, z));
		b.hi[i] = fmaxf(x, fmaxf(y, z));
	}
	return b;
}

static int compare_floats(const void *a, const void *b)
{
	const float *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

// -1 below the cut, 1 above, 0 on both sides.
static int side_of(const box *b, int axis, float cut)
{
	return b->hi[axis] <= cut ? -1 : b->lo[axis] >= cut ? 1 : 0;
}

// Orders items[first …) so that those below the cut come first, then those above, then the rest.
static void partition(builder *b, int32_t first, int32_t count, int axis, float cut, int32_t *out_below,
		      int32_t *out_above)
{
	int32_t *items = b->bsp->items + first, at = 0;
	for (int want = -1, pass = 0; pass < 2; pass++, want = 1) {
		int32_t start = at;
		for (int32_t i = at; i < count; i++) {
			if (side_of(&b->boxes[items[i]], axis, cut) != want)
				continue;
			int32_t swap = items[at];
			items[at++] = items[i];
			items[i] = swap;
		}
		*(pass ? out_above : out_below) = at - start;
	}
}

static int32_t build_node(builder *b, int32_t first, int32_t count, int depth)
{
	if (count == 0)
		return -1;
	int32_t index = b->bsp->node_count++;
	tac_bsp_node node = {.axis = -1, .first = first, .count = count, .child = {-1, -1}};
	for (int i = 0; i < 3; i++) {
		node.lo[i] = INFINITY;
		node.hi[i] = -INFINITY;
	}
	const int32_t *items = b->bsp->items + first;
	for (int32_t k = 0; k < count; k++) {
		for (int i = 0; i < 3; i++) {
			node.lo[i] = fminf(node.lo[i], b->boxes[items[k]].lo[i]);
			node.hi[i] = fmaxf(node.hi[i], b->boxes[items[k]].hi[i]);
		}
	}
	if (count > LEAF && depth < TAC_BSP_DEPTH) {
		int axis = 0;
		for (int i = 1; i < 3; i++)
			axis = node.hi[i] - node.lo[i] > node.hi[axis] - node.lo[axis] ? i : axis;
		// The median of the sides.
		for (int32_t k = 0; k < count; k++) {
			b->sides[2 * k] = b->boxes[items[k]].lo[axis];
			b->sides[2 * k + 1] = b->boxes[items[k]].hi[axis];
		}
		qsort(b->sides, 2 * (size_t)count, sizeof(float), compare_floats);
		node.cut = b->sides[count];
		int32_t below, above;
		partition(b, first, count, axis, node.cut, &below, &above);
		if (below < count && above < count && below + above > 0) {
			node.axis = axis;
			node.first = first + below + above;
			node.count = count - below - above;
			node.child[0] = build_node(b, first, below, depth + 1);
			node.child[1] = build_node(b, first + below, above, depth + 1);
		}
	}
	b->bsp->nodes[index] = node;
	return index;
}

tac_result tac_bsp_build(const tac_body *body, tac_bsp **out_bsp)
{
	int32_t count = body->mesh->triangle_count;
	tac_bsp *bsp = calloc(1, sizeof *bsp);
	box *boxes = malloc((size_t)count * sizeof *boxes);
	float *sides = malloc(2 * (size_t)count * sizeof *sides);
	if (bsp) {
		bsp->nodes = malloc(2 * (size_t)count * sizeof *bsp->nodes);
		bsp->items = malloc((size_t)count * sizeof *bsp->items);
	}
	bool complete = bsp && boxes && sides && bsp->nodes && bsp->items;
	if (complete) {
		for (int32_t i = 0; i < count; i++) {
			boxes[i] = box_of(&body->triangles[i]);
			bsp->items[i] = i;
		}
		builder b = {bsp, boxes, sides};
		build_node(&b, 0, count, 0);
	} else {
		tac_log(TAC_LOG_ERROR, "bsp: expected memory for %d triangles, found none", count);
		tac_bsp_destroy(&bsp);
	}
	free(boxes);
	free(sides);
	*out_bsp = bsp;
	return complete ? TAC_OK : TAC_ERROR_MEMORY;
}

void tac_bsp_destroy(tac_bsp **bsp)
{
	if (!*bsp)
		return;
	free((*bsp)->nodes);
	free((*bsp)->items);
	free(*bsp);
	*bsp = NULL;
}

static bool meets(const float lo[3], const float hi[3], const double from[3], const double to[3])
{
	for (int i = 0; i < 3; i++) {
		if ((double)hi[i] < from[i] || (double)lo[i] > to[i])
			return false;
	}
	return true;
}

bool tac_bsp_query(const tac_bsp *bsp, const tac_body *body, const double lo[3], const double hi[3],
		   tac_bsp_visitor visit, void *user)
{
	int32_t stack[STACK];
	int top = 0;
	stack[top++] = 0;
	while (top > 0) {
		const tac_bsp_node *node = &bsp->nodes[stack[--top]];
		if (!meets(node->lo, node->hi, lo, hi))
			continue;
		for (int32_t k = node->first; k < node->first + node->count; k++) {
			box b = box_of(&body->triangles[bsp->items[k]]);
			if (meets(b.lo, b.hi, lo, hi) && !visit(user, bsp->items[k]))
				return false;
		}
		if (node->axis < 0)
			continue;
		if (node->child[0] >= 0 && lo[node->axis] <= (double)node->cut)
			stack[top++] = node->child[0];
		if (node->child[1] >= 0 && hi[node->axis] >= (double)node->cut)
			stack[top++] = node->child[1];
	}
	return true;
}
