#include "collision/trees/leaf8.h"

#include <math.h>
#include <stdlib.h>

tac_aabb tac_leaf8_box(const tac_mesh *mesh, int32_t triangle)
{
	const tac_mesh_triangle *t = &mesh->triangles[triangle];
	tac_vec3 a = mesh->vertices[t->vertex[0]], b = mesh->vertices[t->vertex[1]],
		 c = mesh->vertices[t->vertex[2]];
	tac_vec3 low = tac_vec3_min(a, tac_vec3_min(b, c)), high = tac_vec3_max(a, tac_vec3_max(b, c));
	return (tac_aabb){{low.x, low.y, low.z}, {high.x, high.y, high.z}};
}

static void fill_leaf(const tac_mesh *mesh, const int32_t *triangles, int count, tac_leaf8 *out)
{
	*out = (tac_leaf8){.longest = 0};
	double longest = 0;
	for (int lane = 0; lane < TAC_RTREE_MAX; lane++) {
		const int32_t triangle = triangles[lane < count ? lane : 0];
		for (int k = 0; k < 3; k++) {
			const tac_vec3 v = mesh->vertices[mesh->triangles[triangle].vertex[k]];
			out->v[k][0][lane] = v.x;
			out->v[k][1][lane] = v.y;
			out->v[k][2][lane] = v.z;
			const tac_dvec3 edge = tac_dvec3_sub(tac_mesh_corner(mesh, triangle, (k + 1) % 3),
							     tac_mesh_corner(mesh, triangle, k));
			longest = fmax(longest, tac_dvec3_length(edge));
		}
		out->triangle[lane] = triangle;
	}
	out->longest = nextafterf((float)longest, INFINITY);
}

tac_leaf8 *tac_leaf8_alloc(size_t triangles, size_t trees)
{
	// A leaf holds at least three triangles unless it is the whole tree.
	return aligned_alloc(32, (triangles / TAC_RTREE_MIN + trees + 1) * sizeof(tac_leaf8));
}

void tac_leaf8_build(const tac_mesh *mesh, const int32_t *ids, tac_rtree_node *nodes, int32_t depth,
		     tac_leaf8 *leaves, size_t *count)
{
	int32_t stack[TAC_RTREE_LEVELS * TAC_RTREE_MAX], levels[TAC_RTREE_LEVELS * TAC_RTREE_MAX], top = 0;
	stack[top] = 0;
	levels[top++] = depth;
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
			triangles[i] = ids ? ids[n->child[i]] : n->child[i];
			n->child[i] = (int32_t)*count * TAC_RTREE_MAX + i;
		}
		fill_leaf(mesh, triangles, n->count, &leaves[(*count)++]);
	}
}
