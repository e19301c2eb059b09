#include "base/log.h"
#include "collision/engines/scd_tree.h"

#include <stdlib.h>
#include <string.h>

// Appends the nodes of a surface's tree to those of the part, and turns its items into leaves.
static void append_tree(tac_scd *scd, const tac_rtree *tree, const int32_t *ids, tac_scd_surface *out)
{
	tac_rtree_node *nodes = scd->nodes + scd->node_count;
	memcpy(nodes, tree->nodes, (size_t)tree->node_count * sizeof *nodes);
	*out = (tac_scd_surface){nodes, tree->depth, tree->box};
	scd->node_count += (size_t)tree->node_count;
	tac_leaf8_build(scd->mesh, ids, nodes, tree->depth, scd->leaves, &scd->leaf_count);
}

// The triangles of the mesh by surface: ids[first[s]] … ids[first[s + 1] - 1].
static void sort_by_surface(const tac_mesh *mesh, int32_t *first, int32_t *ids)
{
	memset(first, 0, ((size_t)mesh->surface_count + 2) * sizeof *first);
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		first[mesh->triangle_surface[i] + 2]++;
	for (int32_t s = 0; s < mesh->surface_count; s++)
		first[s + 2] += first[s + 1];
	for (int32_t i = 0; i < mesh->triangle_count; i++)
		ids[first[mesh->triangle_surface[i] + 1]++] = i;
}

static tac_result build_trees(tac_scd *scd, tac_rtree_method method, const int32_t *first, const int32_t *ids,
			      tac_aabb *boxes)
{
	const tac_mesh *mesh = scd->mesh;
	for (int32_t s = 0; s < mesh->surface_count; s++) {
		int32_t count = first[s + 1] - first[s];
		for (int32_t i = 0; i < count; i++)
			boxes[i] = tac_leaf8_box(mesh, ids[first[s] + i]);
		tac_rtree tree;
		tac_result result = tac_rtree_build(boxes, count, method, &tree);
		if (result < 0)
			return result;
		append_tree(scd, &tree, ids + first[s], &scd->triangles[s]);
		tac_rtree_fini(&tree);
	}
	// Surfaces without triangles keep their number, and get a box that overlaps nothing.
	for (int32_t s = 0; s < mesh->surface_count; s++)
		boxes[s] = scd->triangles[s].box;
	return tac_rtree_build(boxes, mesh->surface_count, method, &scd->surfaces);
}

static tac_scd_visit_fn *const visits[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_scd_visit);

tac_result tac_scd_build(const tac_mesh *mesh, tac_rtree_method method, tac_scd **out_scd)
{
	*out_scd = NULL;
	size_t triangles = (size_t)mesh->triangle_count, surfaces = (size_t)mesh->surface_count;
	size_t box_capacity = triangles > surfaces ? triangles : surfaces;
	// Every leaf but a root holds at least three triangles, and each level has at most a third of the
	// nodes of the one below.
	size_t node_capacity = triangles + 2 * surfaces + 1;
	tac_scd *scd = calloc(1, sizeof *scd);
	int32_t *first = malloc((surfaces + 2) * sizeof *first), *ids = malloc((triangles + 1) * sizeof *ids);
	tac_aabb *boxes = malloc((box_capacity + 1) * sizeof *boxes);
	tac_result result = TAC_ERROR_MEMORY;
	if (scd && first && ids && boxes) {
		scd->mesh = mesh;
		scd->triangles = calloc(surfaces + 1, sizeof *scd->triangles);
		scd->nodes = malloc(node_capacity * sizeof *scd->nodes);
		scd->leaves = tac_leaf8_alloc(triangles, surfaces);
		scd->visit = visits[tac_simd_select()];
		if (scd->triangles && scd->nodes && scd->leaves) {
			sort_by_surface(mesh, first, ids);
			result = build_trees(scd, method, first, ids, boxes);
			scd->bytes =
				sizeof *scd + surfaces * sizeof *scd->triangles +
				(scd->node_count + (size_t)scd->surfaces.node_count) * sizeof *scd->nodes +
				scd->leaf_count * sizeof *scd->leaves;
		}
	}
	free(first);
	free(ids);
	free(boxes);
	if (result < 0) {
		tac_log(TAC_LOG_ERROR, "scd: no memory for the trees of %zu triangles", triangles);
		tac_scd_destroy(&scd);
	}
	*out_scd = scd;
	return result;
}

void tac_scd_destroy(tac_scd **scd)
{
	if (!*scd)
		return;
	tac_rtree_fini(&(*scd)->surfaces);
	free((*scd)->triangles);
	free((*scd)->nodes);
	free((*scd)->leaves);
	free(*scd);
	*scd = NULL;
}
