#include "base/log.h"
#include "collision/scd_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static tac_aabb triangle_box(const tac_mesh *mesh, int32_t triangle)
{
	const tac_mesh_triangle *t = &mesh->triangles[triangle];
	tac_vec3 a = mesh->vertices[t->vertex[0]], b = mesh->vertices[t->vertex[1]],
		 c = mesh->vertices[t->vertex[2]];
	tac_vec3 low = tac_vec3_min(a, tac_vec3_min(b, c)), high = tac_vec3_max(a, tac_vec3_max(b, c));
	return (tac_aabb){{low.x, low.y, low.z}, {high.x, high.y, high.z}};
}

static void fill_block(const tac_mesh *mesh, const int32_t *triangles, int count, tac_scd_block *out)
{
	*out = (tac_scd_block){.longest = 0};
	double longest = 0;
	for (int lane = 0; lane < TAC_RTREE_MAX; lane++) {
		const int32_t triangle = triangles[lane < count ? lane : 0];
		tac_vec3 v[3];
		for (int k = 0; k < 3; k++) {
			v[k] = mesh->vertices[mesh->triangles[triangle].vertex[k]];
			out->v[k][0][lane] = v[k].x;
			out->v[k][1][lane] = v[k].y;
			out->v[k][2][lane] = v[k].z;
		}
		for (int k = 0; k < 3; k++)
			longest = fmax(longest,
				       tac_dvec3_length(tac_dvec3_sub(tac_dvec3_from_vec3(v[(k + 1) % 3]),
								      tac_dvec3_from_vec3(v[k]))));
		out->triangle[lane] = triangle;
	}
	out->longest = nextafterf((float)longest, INFINITY);
}

// Moves the tree behind the object's other nodes, and its items into blocks.
static void adopt(tac_scd *scd, const tac_rtree *tree, const int32_t *ids, tac_scd_surface *out)
{
	tac_rtree_node *nodes = scd->nodes + scd->node_count;
	memcpy(nodes, tree->nodes, (size_t)tree->node_count * sizeof *nodes);
	*out = (tac_scd_surface){nodes, tree->depth, tree->box};
	scd->node_count += (size_t)tree->node_count;
	int32_t stack[TAC_RTREE_LEVELS * TAC_RTREE_MAX], levels[TAC_RTREE_LEVELS * TAC_RTREE_MAX], top = 0;
	stack[top] = 0;
	levels[top++] = tree->depth;
	while (top > 0) {
		tac_rtree_node *n = &nodes[stack[--top]];
		int32_t level = levels[top];
		for (int i = n->count - 1; level > 0 && i >= 0; i--) {
			stack[top] = n->child[i];
			levels[top++] = level - 1;
		}
		if (level > 0 || n->count == 0)
			continue;
		int32_t triangles[TAC_RTREE_MAX];
		for (int i = 0; i < n->count; i++) {
			triangles[i] = ids[n->child[i]];
			n->child[i] = (int32_t)scd->block_count * TAC_RTREE_MAX + i;
		}
		fill_block(scd->mesh, triangles, n->count, &scd->blocks[scd->block_count++]);
	}
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
			boxes[i] = triangle_box(mesh, ids[first[s] + i]);
		tac_rtree tree;
		tac_result result = tac_rtree_build(boxes, count, method, &tree);
		if (result < 0)
			return result;
		adopt(scd, &tree, ids + first[s], &scd->triangles[s]);
		tac_rtree_fini(&tree);
	}
	// Surfaces that lost all their triangles keep their number, and a box that overlaps nothing.
	for (int32_t s = 0; s < mesh->surface_count; s++)
		boxes[s] = scd->triangles[s].box;
	return tac_rtree_build(boxes, mesh->surface_count, method, &scd->surfaces);
}

static tac_scd_visit_fn *const visits[TAC_SIMD_COUNT] = TAC_SIMD_TABLE(tac_scd_visit);

tac_result tac_scd_build(const tac_mesh *mesh, tac_rtree_method method, tac_scd **out_scd)
{
	*out_scd = NULL;
	size_t triangles = (size_t)mesh->triangle_count, surfaces = (size_t)mesh->surface_count;
	size_t most_boxes = triangles > surfaces ? triangles : surfaces;
	// Every leaf but a root holds three, and every level above is at most a third as wide.
	size_t most_nodes = triangles + 2 * surfaces + 1;
	tac_scd *scd = calloc(1, sizeof *scd);
	int32_t *first = malloc((surfaces + 2) * sizeof *first), *ids = malloc((triangles + 1) * sizeof *ids);
	tac_aabb *boxes = malloc((most_boxes + 1) * sizeof *boxes);
	tac_result result = TAC_ERROR_MEMORY;
	if (scd != NULL && first != NULL && ids != NULL && boxes != NULL) {
		scd->mesh = mesh;
		scd->triangles = calloc(surfaces + 1, sizeof *scd->triangles);
		scd->nodes = malloc(most_nodes * sizeof *scd->nodes);
		// A leaf holds three triangles at least, unless it holds all of a surface.
		scd->blocks = aligned_alloc(32, (triangles / 3 + surfaces + 1) * sizeof *scd->blocks);
		scd->visit = visits[tac_simd_select()];
		if (scd->triangles != NULL && scd->nodes != NULL && scd->blocks != NULL) {
			sort_by_surface(mesh, first, ids);
			result = build_trees(scd, method, first, ids, boxes);
			scd->bytes =
				sizeof *scd + surfaces * sizeof *scd->triangles +
				(scd->node_count + (size_t)scd->surfaces.node_count) * sizeof *scd->nodes +
				scd->block_count * sizeof *scd->blocks;
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
	if (*scd == NULL)
		return;
	tac_rtree_fini(&(*scd)->surfaces);
	free((*scd)->triangles);
	free((*scd)->nodes);
	free((*scd)->blocks);
	free(*scd);
	*scd = NULL;
}
