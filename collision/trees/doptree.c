#include "collision/trees/doptree.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/trees/split.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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

// The cache file.

#define MAGIC   "TACDOPT"
#define VERSION 1U
#define ORDER   0x01020304U

typedef struct {
	char magic[8];
	uint32_t version, order;
	uint32_t layout;
	int32_t node_count, record_count, depth;
	float extent;
	uint32_t reserved;
	uint64_t mesh_sum; // of vertices, triangles and surfaces
	uint64_t node_sum;
	uint64_t header_sum; // of everything above
} header;

// FNV-1a over 64-bit words, with a shift that spreads the high bits: any change of one word changes the sum.
static uint64_t checksum(uint64_t sum, const void *bytes, size_t count)
{
	const unsigned char *p = bytes;
	while (count > 0) {
		uint64_t word = 0;
		size_t n = count < sizeof word ? count : sizeof word;
		memcpy(&word, p, n);
		sum = (sum ^ word) * UINT64_C(0x100000001B3);
		sum ^= sum >> 29;
		p += n;
		count -= n;
	}
	return sum;
}

static uint64_t mesh_checksum(const tac_mesh *mesh)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325);
	sum = checksum(sum, mesh->vertices, (size_t)mesh->vertex_count * sizeof *mesh->vertices);
	sum = checksum(sum, mesh->triangles, (size_t)mesh->triangle_count * sizeof *mesh->triangles);
	return checksum(sum, mesh->triangle_surface,
			(size_t)mesh->triangle_count * sizeof *mesh->triangle_surface);
}

static size_t bytes_of(const tac_doptree *tree)
{
	return ((size_t)tree->node_count + (size_t)tree->record_count) * TAC_DOPTREE_NODE_BYTES;
}

tac_result tac_doptree_save(const tac_doptree *tree, const tac_mesh *mesh, const char *path)
{
	header h = {
		.magic = MAGIC,
		.version = VERSION,
		.order = ORDER,
		.layout = tree->layout,
		.node_count = tree->node_count,
		.record_count = tree->record_count,
		.depth = tree->depth,
		.extent = tree->extent,
		.mesh_sum = mesh_checksum(mesh),
		.node_sum = checksum(0, tree->nodes, bytes_of(tree)),
	};
	h.header_sum = checksum(0, &h, offsetof(header, header_sum));
	FILE *file = fopen(path, "wb");
	bool ok = file && fwrite(&h, sizeof h, 1, file) == 1 &&
		  fwrite(tree->nodes, bytes_of(tree), 1, file) == 1;
	if (file && fclose(file) != 0)
		ok = false;
	if (!ok) {
		tac_log(TAC_LOG_ERROR, "%s: cannot write the DOP tree: %s", path, strerror(errno));
		return TAC_ERROR_IO;
	}
	return TAC_OK;
}

// What the header shows instead of the mesh's tree, or NULL.
static const char *check_header(const header *h, const tac_mesh *mesh)
{
	if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0)
		return "not a DOP tree";
	if (h->version != VERSION)
		return "a DOP tree of another version";
	if (h->order != ORDER)
		return "a DOP tree of the other byte order";
	if (h->header_sum != checksum(0, h, offsetof(header, header_sum)))
		return "a damaged header";
	if (h->mesh_sum != mesh_checksum(mesh) || h->node_count != 2 * mesh->triangle_count ||
	    h->record_count != (h->layout == TAC_DOPTREE_R ? mesh->triangle_count : 0) ||
	    h->layout > TAC_DOPTREE_P)
		return "the tree of another mesh";
	return NULL;
}

tac_result tac_doptree_load(const tac_mesh *mesh, const char *path, tac_doptree **out_tree)
{
	*out_tree = NULL;
	FILE *file = fopen(path, "rb");
	if (!file) {
		tac_log(TAC_LOG_ERROR, "%s: cannot read the DOP tree: %s", path, strerror(errno));
		return TAC_ERROR_IO;
	}
	header h = {0};
	const char *found = fread(&h, sizeof h, 1, file) == 1 ? check_header(&h, mesh) : "a truncated file";
	tac_doptree *tree = NULL;
	if (!found) {
		tree = allocate(mesh->triangle_count, (tac_doptree_layout)h.layout);
		if (!tree) {
			fclose(file);
			tac_log(TAC_LOG_ERROR, "%s: no memory for the DOP tree of %d triangles", path,
				mesh->triangle_count);
			return TAC_ERROR_MEMORY;
		}
		tree->record_count = h.record_count;
		tree->depth = h.depth;
		tree->extent = h.extent;
		if (fread(tree->nodes, bytes_of(tree), 1, file) != 1 || fgetc(file) != EOF)
			found = "a file of another length";
		else if (checksum(0, tree->nodes, bytes_of(tree)) != h.node_sum)
			found = "damaged nodes";
	}
	fclose(file);
	if (found) {
		tac_doptree_destroy(&tree);
		tac_log(TAC_LOG_ERROR, "%s: expected the DOP tree of a mesh of %d triangles, found %s", path,
			mesh->triangle_count, found);
		return TAC_ERROR_FORMAT;
	}
	*out_tree = tree;
	return TAC_OK;
}

tac_result tac_doptree_load_or_build(const tac_mesh *mesh, const char *path, tac_doptree **out_tree)
{
	FILE *file = fopen(path, "rb");
	if (file) {
		fclose(file);
		if (tac_doptree_load(mesh, path, out_tree) == TAC_OK)
			return TAC_OK;
	}
	tac_result result = tac_doptree_build(mesh, TAC_DOPTREE_R, out_tree);
	if (result < 0)
		return result;
	tac_log(TAC_LOG_INFO, "%s: built the DOP tree of %d triangles", path, mesh->triangle_count);
	return tac_doptree_save(*out_tree, mesh, path) < 0 ? TAC_PARTIAL : TAC_OK;
}
