#include "collision/trees/doptree.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/trees/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(tac_doptree_node) == TAC_DOPTREE_NODE_BYTES, "the chip reads nodes of this size");

#define TRIANGLES_MAX 11000000
// Below this level the builder splits at the median, so no tree is deeper than this plus log2 of its size.
#define SAH_LEVELS 40

typedef struct {
	const tac_mesh *mesh;
	tac_split split;
	tac_doptree *tree;
	int32_t next; // index of the next free pair of nodes
} builder;

static uint32_t address_of(int32_t node)
{
	return (uint32_t)node * TAC_DOPTREE_NODE_BYTES;
}

static void fill_triangle(const builder *b, int32_t triangle, tac_doptree_node *out)
{
	for (int k = 0; k < 3; k++)
		tac_vec3_store(out->triangle.vertices.v[k],
			       b->mesh->vertices[b->mesh->triangles[triangle].vertex[k]]);
	tac_unitmap_build(&out->triangle.vertices, &out->triangle.map);
	out->type = TAC_DOPTREE_LEAF;
	out->link = (uint32_t)triangle;
	out->owner = (uint32_t)b->mesh->triangle_surface[triangle];
}

// Builds the subtree of a range at node `index` and returns its DOP (which a leaf of layout P does not
// store).
static tac_dop build_subtree(builder *b, int32_t begin, int32_t end, int32_t index, uint32_t parent,
			     int level)
{
	tac_doptree *tree = b->tree;
	tac_doptree_node *node = &tree->nodes[index];
	memset(node, 0, sizeof *node);
	tac_dop dop = tac_dop_empty();
	tree->depth = level > tree->depth ? level : tree->depth;
	if (end - begin == 1) {
		int32_t triangle = b->split.items[begin].triangle;
		for (int k = 0; k < 3; k++)
			tac_dop_add_point(&dop, b->mesh->vertices[b->mesh->triangles[triangle].vertex[k]]);
		if (tree->layout == TAC_DOPTREE_P) {
			fill_triangle(b, triangle, node);
			return dop;
		}
		int32_t record = tree->node_count + tree->record_count++;
		fill_triangle(b, triangle, &tree->nodes[record]);
		node->dop = dop;
		node->type = TAC_DOPTREE_LEAF;
		node->link = address_of(record);
		node->owner = parent;
		return dop;
	}
	tac_box boxes[2];
	int32_t middle = tac_split_cut(&b->split, begin, end, level >= SAH_LEVELS, boxes);
	// Depth first: a descent to the first child continues in the next 256 bytes.
	int32_t first = b->next;
	b->next += 2;
	node->type = TAC_DOPTREE_INNER;
	node->link = address_of(first);
	node->owner = parent;
	dop = build_subtree(b, begin, middle, first, address_of(index), level + 1);
	tac_dop second = build_subtree(b, middle, end, first + 1, address_of(index), level + 1);
	tac_dop_add_dop(&dop, &second);
	node->dop = dop;
	return dop;
}

static tac_doptree *allocate(int32_t triangles, tac_doptree_layout layout)
{
	tac_doptree *tree = calloc(1, sizeof *tree);
	if (!tree)
		return NULL;
	int32_t records = layout == TAC_DOPTREE_R ? triangles : 0;
	size_t bytes = ((size_t)(2 * triangles + records) * TAC_DOPTREE_NODE_BYTES + 255) / 256 * 256;
	tree->nodes = aligned_alloc(256, bytes);
	if (!tree->nodes) {
		free(tree);
		return NULL;
	}
	memset(tree->nodes, 0, bytes);
	tree->node_count = 2 * triangles;
	tree->layout = layout;
	return tree;
}

tac_result tac_doptree_build(const tac_mesh *mesh, tac_doptree_layout layout, tac_doptree **out_tree)
{
	TAC_ASSERT(mesh->triangle_count > 0);
	*out_tree = NULL;
	if (mesh->triangle_count > TRIANGLES_MAX) {
		tac_log(TAC_LOG_ERROR, "DOP tree: expected at most %d triangles, found %d", TRIANGLES_MAX,
			mesh->triangle_count);
		return TAC_ERROR_UNSUPPORTED;
	}
	tac_dop_faces();
	builder b = {.mesh = mesh, .tree = allocate(mesh->triangle_count, layout), .next = 2};
	if (!b.tree) {
		tac_log(TAC_LOG_ERROR, "DOP tree: no memory for %d triangles", mesh->triangle_count);
		return TAC_ERROR_MEMORY;
	}
	tac_result result = tac_split_init(mesh, &b.split);
	if (result < 0) {
		tac_doptree_destroy(&b.tree);
		return result;
	}
	tac_dop root = build_subtree(&b, 0, mesh->triangle_count, 0, 0, 0);
	b.tree->nodes[1].type = TAC_DOPTREE_EMPTY;
	for (int i = 0; i < TAC_DOP_SIZE; i++)
		b.tree->extent = fmaxf(b.tree->extent, fabsf(root.d[i]));
	tac_split_fini(&b.split);
	*out_tree = b.tree;
	return TAC_OK;
}

void tac_doptree_destroy(tac_doptree **tree)
{
	if (!*tree)
		return;
	free((*tree)->nodes);
	free(*tree);
	*tree = NULL;
}
