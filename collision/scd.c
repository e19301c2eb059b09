#include "collision/scd.h"

#include "base/assert.h"
#include "base/log.h"
#include "collision/rtree_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A triangle in the order of the leaves.
typedef struct leaf_triangle {
	float v[3][3];
	int32_t triangle; // of the mesh
} leaf_triangle;

// The tree of a surface's triangles: a part of the object's nodes.
typedef struct surface_tree {
	const tac_rtree_node *nodes;
	int32_t depth;
	tac_aabb box;
} surface_tree;

struct tac_scd {
	const tac_mesh *mesh;
	tac_rtree surfaces;      // SBV; its items are surfaces
	surface_tree *triangles; // TBV, one a surface; the items are leaf triangles
	tac_rtree_node *nodes;   // of all TBV
	leaf_triangle *leaves;   // of all TBV
	size_t node_count;
	size_t bytes;
};

// Outwards by at least one unit in the last place.
static float rounded_down(double x)
{
	float f = (float)x;
	return f - fabsf(f) * 1.2e-7f - FLT_MIN;
}

static float rounded_up(double x)
{
	float f = (float)x;
	return f + fabsf(f) * 1.2e-7f + FLT_MIN;
}

tac_aabb tac_scd_cover(const tac_dmat3 *rotation, tac_dvec3 translation, const tac_aabb *box)
{
	tac_aabb out;
	const double t[3] = {translation.x, translation.y, translation.z};
	for (int i = 0; i < 3; i++) {
		double c = t[i], h = 0, size = fabs(t[i]);
		for (int k = 0; k < 3; k++) {
			double centre = 0.5 * ((double)box->min[k] + (double)box->max[k]);
			double half = 0.5 * ((double)box->max[k] - (double)box->min[k]);
			c += rotation->m[i][k] * centre;
			h += fabs(rotation->m[i][k]) * half;
			size += fabs(rotation->m[i][k]) * (fabs(centre) + half);
		}
		h += 1e-15 * size; // rounding of these sums, and of the points inside transformed one by one
		out.min[i] = rounded_down(c - h);
		out.max[i] = rounded_up(c + h);
	}
	return out;
}

tac_aabb tac_scd_optimal(const tac_tri64 *triangle)
{
	tac_aabb out;
	for (int k = 0; k < 3; k++) {
		double a = triangle->v[0][k], b = triangle->v[1][k], c = triangle->v[2][k];
		double low = a < b ? a : b, high = a > b ? a : b;
		out.min[k] = rounded_down(low < c ? low : c);
		out.max[k] = rounded_up(high > c ? high : c);
	}
	return out;
}

tac_aabb tac_scd_common(const tac_aabb *a, const tac_aabb *b)
{
	tac_aabb out;
	for (int k = 0; k < 3; k++) {
		out.min[k] = a->min[k] > b->min[k] ? a->min[k] : b->min[k];
		out.max[k] = a->max[k] < b->max[k] ? a->max[k] : b->max[k];
	}
	return out;
}

static bool empty(const tac_aabb *box)
{
	return box->min[0] > box->max[0] || box->min[1] > box->max[1] || box->min[2] > box->max[2];
}

// ---- building ----

static tac_aabb triangle_box(const tac_mesh *mesh, int32_t triangle)
{
	const tac_mesh_triangle *t = &mesh->triangles[triangle];
	tac_vec3 a = mesh->vertices[t->vertex[0]], b = mesh->vertices[t->vertex[1]],
		 c = mesh->vertices[t->vertex[2]];
	tac_vec3 low = tac_vec3_min(a, tac_vec3_min(b, c)), high = tac_vec3_max(a, tac_vec3_max(b, c));
	return (tac_aabb){{low.x, low.y, low.z}, {high.x, high.y, high.z}};
}

// Moves the tree behind the object's other nodes: children of inner nodes, and items, are renumbered, the
// items in the order in which the leaves hold them.
static void adopt(tac_scd *scd, const tac_rtree *tree, const int32_t *ids, int32_t *next_leaf,
		  surface_tree *out)
{
	tac_rtree_node *nodes = scd->nodes + scd->node_count;
	memcpy(nodes, tree->nodes, (size_t)tree->node_count * sizeof *nodes);
	*out = (surface_tree){nodes, tree->depth, tree->box};
	scd->node_count += (size_t)tree->node_count;
	// Depth-first order: a node is a leaf if the next level is below the tree's depth.
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
		for (int i = 0; level == 0 && i < n->count; i++) {
			int32_t triangle = ids[n->child[i]];
			leaf_triangle *leaf = &scd->leaves[*next_leaf];
			leaf->triangle = triangle;
			for (int k = 0; k < 3; k++) {
				tac_vec3 v = scd->mesh->vertices[scd->mesh->triangles[triangle].vertex[k]];
				leaf->v[k][0] = v.x;
				leaf->v[k][1] = v.y;
				leaf->v[k][2] = v.z;
			}
			n->child[i] = (*next_leaf)++;
		}
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
	int32_t next_leaf = 0;
	for (int32_t s = 0; s < mesh->surface_count; s++) {
		int32_t count = first[s + 1] - first[s];
		for (int32_t i = 0; i < count; i++)
			boxes[i] = triangle_box(mesh, ids[first[s] + i]);
		tac_rtree tree;
		tac_result result = tac_rtree_build(boxes, count, method, &tree);
		if (result < 0)
			return result;
		adopt(scd, &tree, ids + first[s], &next_leaf, &scd->triangles[s]);
		tac_rtree_fini(&tree);
	}
	// Surfaces that lost all their triangles keep their number, and a box that overlaps nothing.
	for (int32_t s = 0; s < mesh->surface_count; s++)
		boxes[s] = scd->triangles[s].box;
	return tac_rtree_build(boxes, mesh->surface_count, method, &scd->surfaces);
}

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
		scd->leaves = malloc((triangles + 1) * sizeof *scd->leaves);
		if (scd->triangles != NULL && scd->nodes != NULL && scd->leaves != NULL) {
			sort_by_surface(mesh, first, ids);
			result = build_trees(scd, method, first, ids, boxes);
			scd->bytes =
				sizeof *scd + surfaces * sizeof *scd->triangles +
				(scd->node_count + (size_t)scd->surfaces.node_count) * sizeof *scd->nodes +
				triangles * sizeof *scd->leaves;
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
	free((*scd)->leaves);
	free(*scd);
	*scd = NULL;
}

const tac_mesh *tac_scd_mesh(const tac_scd *scd)
{
	return scd->mesh;
}

int32_t tac_scd_surface_count(const tac_scd *scd)
{
	return scd->mesh->surface_count;
}

size_t tac_scd_bytes(const tac_scd *scd)
{
	return scd->bytes;
}

// ---- querying ----

typedef struct run {
	const tac_scd *a, *b;
	const tac_dmat3 *rotation; // of B in A
	tac_dvec3 translation;
	tac_dmat3 inverse_rotation; // of A in B
	tac_dvec3 inverse_translation;
	tac_aabb common_a, common_b; // OAABB in either frame
	int32_t entry, entry_level;  // the lowest node of SBV(A) that has all surfaces in common_a
	tac_scd_query *query;

	// The triangle of B in hand.
	int32_t surface_b;
	const leaf_triangle *leaf_b;
	tac_tri64 moved; // in A's frame
	tac_aabb box;    // of it in A's frame, cut to common_a
} run;

// The visits below return true when the query is over.

static bool report(run *r, int32_t surface_a, const leaf_triangle *leaf_a)
{
	tac_scd_query *q = r->query;
	tac_scd_hit hit = {surface_a, r->surface_b, leaf_a->triangle, r->leaf_b->triangle};
	if (q->report != NULL)
		q->report(q->user, &hit);
	else if (q->hit_count < q->capacity)
		q->hits[q->hit_count] = hit;
	q->hit_count++;
	return q->mode == TAC_SCD_FIRST;
}

static bool triangles_meet(run *r, const leaf_triangle *leaf_a)
{
	r->query->counters.triangle_tests++;
	tac_tri64 fixed;
	for (int k = 0; k < 3; k++)
		for (int c = 0; c < 3; c++)
			fixed.v[k][c] = (double)leaf_a->v[k][c];
	return tac_tritri_closed(&fixed, &r->moved);
}

static void take_triangle(run *r, int32_t surface_b, const leaf_triangle *leaf)
{
	r->surface_b = surface_b;
	r->leaf_b = leaf;
	const double t[3] = {r->translation.x, r->translation.y, r->translation.z};
	for (int k = 0; k < 3; k++) {
		for (int c = 0; c < 3; c++) {
			const double *row = r->rotation->m[c];
			r->moved.v[k][c] = row[0] * (double)leaf->v[k][0] + row[1] * (double)leaf->v[k][1] +
					   row[2] * (double)leaf->v[k][2] + t[c];
		}
	}
	r->query->counters.triangle_transforms++;
}

static bool seen(const run *r, int32_t surface_a)
{
	return r->query->mode == TAC_SCD_SURFACES && r->query->scratch[surface_a] == r->surface_b;
}

// Triangles of A near the one in hand. `over` is set when nothing more of this surface is of interest.
static bool visit_triangles_a(run *r, int32_t surface_a, const surface_tree *tree, int32_t node,
			      int32_t level, bool *over)
{
	const tac_rtree_node *n = &tree->nodes[node];
	unsigned hits = node_overlap(n, &r->box);
	r->query->counters.aabb_tests += n->count;
	for (; hits != 0 && !*over; hits &= hits - 1) {
		int32_t child = n->child[__builtin_ctz(hits)];
		if (level > 0) {
			if (visit_triangles_a(r, surface_a, tree, child, level - 1, over))
				return true;
		} else if (triangles_meet(r, &r->a->leaves[child])) {
			if (report(r, surface_a, &r->a->leaves[child]))
				return true;
			if (r->query->mode == TAC_SCD_SURFACES) {
				r->query->scratch[surface_a] = r->surface_b;
				*over = true;
			}
		}
	}
	return false;
}

static bool visit_surfaces_a(run *r, int32_t node, int32_t level)
{
	const tac_rtree_node *n = &r->a->surfaces.nodes[node];
	unsigned hits = node_overlap(n, &r->box);
	r->query->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int32_t child = n->child[__builtin_ctz(hits)];
		bool over = false;
		if (level > 0) {
			if (visit_surfaces_a(r, child, level - 1))
				return true;
		} else if (!seen(r, child)) {
			const surface_tree *tree = &r->a->triangles[child];
			if (visit_triangles_a(r, child, tree, 0, tree->depth, &over))
				return true;
		}
	}
	return false;
}

static bool visit_triangles_b(run *r, int32_t surface_b, const surface_tree *tree, int32_t node,
			      int32_t level)
{
	const tac_rtree_node *n = &tree->nodes[node];
	unsigned hits = node_overlap(n, &r->common_b);
	r->query->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int32_t child = n->child[__builtin_ctz(hits)];
		if (level > 0) {
			if (visit_triangles_b(r, surface_b, tree, child, level - 1))
				return true;
			continue;
		}
		tac_scd_query *q = r->query;
		if (q->done < q->skip) {
			q->done++;
			continue;
		}
		// The first is never left undone, or a query with a small budget would make no progress.
		if (q->stop != NULL && q->done > q->skip && q->stop(q->user)) {
			q->complete = false;
			return true;
		}
		q->done++;
		take_triangle(r, surface_b, &r->b->leaves[child]);
		tac_aabb box = tac_scd_optimal(&r->moved);
		r->query->counters.optimal_updates++;
		r->box = tac_scd_common(&box, &r->common_a);
		if (!empty(&r->box) && visit_surfaces_a(r, r->entry, r->entry_level))
			return true;
	}
	return false;
}

static bool visit_surfaces_b(run *r, int32_t node, int32_t level)
{
	const tac_rtree_node *n = &r->b->surfaces.nodes[node];
	unsigned hits = node_overlap(n, &r->common_b);
	r->query->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int32_t child = n->child[__builtin_ctz(hits)];
		if (level > 0 ? visit_surfaces_b(r, child, level - 1)
			      : visit_triangles_b(r, child, &r->b->triangles[child], 0,
						  r->b->triangles[child].depth))
			return true;
	}
	return false;
}

// Every triangle of B would otherwise begin at the root. False: no surface of A is in the common volume.
static bool find_entry(run *r)
{
	r->entry = 0;
	r->entry_level = r->a->surfaces.depth;
	for (;;) {
		const tac_rtree_node *n = &r->a->surfaces.nodes[r->entry];
		unsigned hits = node_overlap(n, &r->common_a);
		r->query->counters.aabb_tests += n->count;
		if (hits == 0 || r->entry_level == 0 || (hits & (hits - 1)) != 0)
			return hits != 0;
		r->entry = n->child[__builtin_ctz(hits)];
		r->entry_level--;
	}
}

// ---- without the common volume ----

// Two nodes at once, A's children covered in B's frame one by one. A level of -1 stands for a leaf entry,
// which has no node any more.
typedef struct side {
	const tac_rtree_node *nodes;
	int32_t node, level;
	tac_aabb box; // of the entry, if the level is -1; A's in B's frame
} side;

typedef bool pair_fn(run *r, int32_t child_a, int32_t child_b, const tac_aabb *box_a, const tac_aabb *box_b);

static tac_aabb covered(run *r, const tac_rtree_node *n, int lane)
{
	tac_aabb box = tac_rtree_node_box(n, lane);
	r->query->counters.cover_updates++;
	return tac_scd_cover(&r->inverse_rotation, r->inverse_translation, &box);
}

static bool descend_both(run *r, side a, side b, pair_fn *pair)
{
	if (a.level < 0 && b.level < 0)
		return pair(r, a.node, b.node, &a.box, &b.box);
	const tac_rtree_node *na = a.level < 0 ? NULL : &a.nodes[a.node],
			     *nb = b.level < 0 ? NULL : &b.nodes[b.node];
	for (int i = 0; i < (na != NULL ? na->count : 1); i++) {
		side next_a = a;
		if (na != NULL)
			next_a = (side){a.nodes, na->child[i], a.level - 1, covered(r, na, i)};
		unsigned hits = 1;
		if (nb != NULL) {
			hits = node_overlap(nb, &next_a.box);
			r->query->counters.aabb_tests += nb->count;
		} else {
			hits = tac_aabb_overlap(&next_a.box, &b.box);
			r->query->counters.aabb_tests++;
		}
		for (; hits != 0; hits &= hits - 1) {
			int lane = __builtin_ctz(hits);
			side next_b = b;
			if (nb != NULL)
				next_b = (side){b.nodes, nb->child[lane], b.level - 1,
						tac_rtree_node_box(nb, lane)};
			if (descend_both(r, next_a, next_b, pair))
				return true;
		}
	}
	return false;
}

typedef struct both_surfaces {
	run base;
	int32_t surface_a, surface_b;
	bool over;
} both_surfaces;

static bool pair_of_triangles(run *r, int32_t leaf_a, int32_t leaf_b, const tac_aabb *box_a,
			      const tac_aabb *box_b)
{
	(void)box_a;
	(void)box_b;
	both_surfaces *both = (both_surfaces *)r;
	if (both->over)
		return false;
	take_triangle(r, both->surface_b, &r->b->leaves[leaf_b]);
	if (!triangles_meet(r, &r->a->leaves[leaf_a]))
		return false;
	both->over = r->query->mode == TAC_SCD_SURFACES;
	return report(r, both->surface_a, &r->a->leaves[leaf_a]);
}

static bool pair_of_surfaces(run *r, int32_t surface_a, int32_t surface_b, const tac_aabb *box_a,
			     const tac_aabb *box_b)
{
	both_surfaces *both = (both_surfaces *)r;
	both->surface_a = surface_a;
	both->surface_b = surface_b;
	both->over = false;
	const surface_tree *ta = &r->a->triangles[surface_a], *tb = &r->b->triangles[surface_b];
	return descend_both(r, (side){ta->nodes, 0, ta->depth, *box_a},
			    (side){tb->nodes, 0, tb->depth, *box_b}, pair_of_triangles);
}

tac_scd_query tac_scd_query_default(void)
{
	return (tac_scd_query){.mode = TAC_SCD_TRIANGLES};
}

bool tac_scd_collide(const tac_scd *a, const tac_scd *b, const tac_dmat3 *rotation, tac_dvec3 translation,
		     tac_scd_query *query)
{
	TAC_ASSERT(query->mode != TAC_SCD_SURFACES || query->without_oaabb || query->scratch != NULL);
	query->hit_count = 0;
	query->complete = true;
	query->done = 0;
	query->counters = (tac_scd_counters){0};
	both_surfaces both = {
		.base = {.a = a, .b = b, .rotation = rotation, .translation = translation, .query = query}};
	run *r = &both.base;
	if (empty(&a->surfaces.box) || empty(&b->surfaces.box))
		return false;
	r->inverse_rotation = tac_dmat3_inverse(*rotation);
	r->inverse_translation = tac_dvec3_neg(tac_dmat3_apply(r->inverse_rotation, translation));

	tac_aabb box = tac_scd_cover(&r->inverse_rotation, r->inverse_translation, &a->surfaces.box);
	query->counters.cover_updates++;
	query->counters.aabb_tests++;
	if (!tac_aabb_overlap(&box, &b->surfaces.box))
		return false;
	if (query->without_oaabb) {
		descend_both(r, (side){a->surfaces.nodes, 0, a->surfaces.depth, box},
			     (side){b->surfaces.nodes, 0, b->surfaces.depth, b->surfaces.box},
			     pair_of_surfaces);
		return query->hit_count > 0;
	}
	r->common_b = tac_scd_common(&box, &b->surfaces.box);
	tac_aabb back = tac_scd_cover(rotation, translation, &r->common_b);
	query->counters.cover_updates++;
	r->common_a = tac_scd_common(&a->surfaces.box, &back);
	if (empty(&r->common_a))
		return false;
	if (!find_entry(r))
		return false;
	for (int32_t s = 0; query->mode == TAC_SCD_SURFACES && s < a->mesh->surface_count; s++)
		query->scratch[s] = -1;
	visit_surfaces_b(r, 0, b->surfaces.depth);
	return query->hit_count > 0;
}

static int compare_hits(const void *x, const void *y)
{
	const tac_scd_hit *p = x, *q = y;
	const int32_t a[4] = {p->surface_a, p->surface_b, p->triangle_a, p->triangle_b};
	const int32_t b[4] = {q->surface_a, q->surface_b, q->triangle_a, q->triangle_b};
	for (int i = 0; i < 4; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

void tac_scd_sort(tac_scd_hit *hits, int64_t count)
{
	qsort(hits, (size_t)count, sizeof *hits, compare_hits);
}
