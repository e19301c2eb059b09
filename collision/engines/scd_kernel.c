// The query of collision/engines/scd with the common volume, compiled once for each SIMD variant.
#include "collision/engines/scd_tree.h"
#include "collision/geometry/triangle8.inl"
#include "collision/trees/rtree_node.h"

// A query, and the current triangle of B in single precision.
typedef struct search {
	tac_scd_run *run;
	float v[3][3]; // a corner and the edges from it
	float longest_edge;
	float vertex_error; // of a coordinate of the corner

	// Where the triangles of the current surface of B start their search for surfaces of A: the root of
	// SBV(A), or a node of only the nearby surfaces.
	const tac_rtree_node *entry;
	int32_t entry_level;
	tac_rtree_node nearby;
	tac_aabb reach; // in B's frame: the region of the surface of B that can touch these surfaces
} search;

// The visits below return true if the query is over.

static void load_triangle(search *s, int32_t surface_b, int32_t child)
{
	tac_scd_run *r = s->run;
	tac_scd_load_triangle(r, surface_b, child);
	double longest = 0, reach = 0;
	for (int k = 0; k < 3; k++) {
		const double *p = r->moved.v[k], *q = r->moved.v[k == 2 ? 0 : k + 1];
		double x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2], square = x * x + y * y + z * z;
		longest = square > longest ? square : longest;
		double size = fabs(r->moved.v[0][k]);
		reach = size > reach ? size : reach;
		s->v[0][k] = (float)r->moved.v[0][k];
		s->v[1][k] = (float)(r->moved.v[1][k] - r->moved.v[0][k]);
		s->v[2][k] = (float)(r->moved.v[2][k] - r->moved.v[0][k]);
	}
	s->longest_edge = (float)sqrt(longest) * (1.0F + 4.0F * UNIT);
	s->vertex_error = 2.0F * UNIT * (float)reach; // twice the rounding to float
}

// Those of the triangles `lanes` of a leaf of A that meet the current triangle.
static unsigned triangles_of_leaf(search *s, int32_t index, unsigned lanes)
{
	const tac_leaf8 *leaf = &s->run->a->leaves[index];
	tac_scd_counters *counters = &s->run->query->counters;
	v8 corner = LOAD3(leaf->v[0]);
	tri8 a = {corner, {sub3(LOAD3(leaf->v[1]), corner), sub3(LOAD3(leaf->v[2]), corner)}};
	tri8 b = {splat3(s->v[0]), {splat3(s->v[1]), splat3(s->v[2])}};
	// The boxes are rounded outwards by less than two units of their coordinates.
	tolerance tol = tolerance_of(leaf->longest, s->longest_edge, 4.0F * s->vertex_error, s->vertex_error);
	unsigned unsure, met = triangles_meet(&a, &b, &tol, lanes, &unsure);
	counters->triangle_tests += count_bits(lanes);
	for (; unsure != 0; unsure &= unsure - 1) {
		int lane = lowest_bit(unsure);
		if (tac_scd_triangles_meet(s->run, index * TAC_RTREE_MAX + lane))
			met |= 1U << lane;
	}
	return met;
}

// Visits the triangles of A near the current one. Sets *out_done if this surface needs no further test.
static bool visit_triangles_a(search *s, int32_t surface_a, const tac_scd_surface *tree, int32_t node,
			      int32_t level, bool *out_done)
{
	tac_scd_query *query = s->run->query;
	const tac_rtree_node *n = &tree->nodes[node];
	unsigned hits = node_overlap(n, &s->run->box);
	query->counters.aabb_tests += n->count;
	if (level > 0) {
		for (; hits != 0 && !*out_done; hits &= hits - 1) {
			if (visit_triangles_a(s, surface_a, tree, n->child[lowest_bit(hits)], level - 1,
					      out_done))
				return true;
		}
		return false;
	}
	if (hits != 0)
		hits = triangles_of_leaf(s, n->child[0] / TAC_RTREE_MAX, hits);
	for (; hits != 0 && !*out_done; hits &= hits - 1) {
		if (tac_scd_report(s->run, surface_a, n->child[lowest_bit(hits)]))
			return true;
		if (query->mode == TAC_SCD_SURFACES) {
			query->scratch[surface_a] = s->run->surface_b;
			*out_done = true;
		}
	}
	return false;
}

static bool visit_surfaces_a(search *s, const tac_rtree_node *n, int32_t level)
{
	tac_scd_query *query = s->run->query;
	unsigned hits = node_overlap(n, &s->run->box);
	query->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int32_t child = n->child[lowest_bit(hits)];
		if (level > 0) {
			if (visit_surfaces_a(s, &s->run->a->surfaces.nodes[child], level - 1))
				return true;
		} else if (query->mode != TAC_SCD_SURFACES || query->scratch[child] != s->run->surface_b) {
			bool done = false;
			const tac_scd_surface *tree = &s->run->a->triangles[child];
			if (visit_triangles_a(s, child, tree, 0, tree->depth, &done))
				return true;
		}
	}
	return false;
}

static bool visit_triangles_b(search *s, int32_t surface_b, const tac_scd_surface *tree, int32_t node,
			      int32_t level)
{
	tac_scd_run *r = s->run;
	tac_scd_query *q = r->query;
	const tac_rtree_node *n = &tree->nodes[node];
	unsigned hits = node_overlap(n, &s->reach);
	q->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int32_t child = n->child[lowest_bit(hits)];
		if (level > 0) {
			if (visit_triangles_b(s, surface_b, tree, child, level - 1))
				return true;
			continue;
		}
		if (q->triangles_done < q->skip_triangles) {
			q->triangles_done++;
			continue;
		}
		// The first is always tested, or a query with a small budget would make no progress.
		if (q->stop && q->triangles_done > q->skip_triangles && q->stop(q->user)) {
			q->complete = false;
			return true;
		}
		q->triangles_done++;
		load_triangle(s, surface_b, child);
		tac_aabb box = tac_scd_optimal(&r->moved);
		q->counters.optimal_updates++;
		r->box = tac_scd_intersection(&box, &r->common_a);
		if (!tac_aabb_empty(&r->box) && visit_surfaces_a(s, s->entry, s->entry_level))
			return true;
	}
	return false;
}

// Collects the surfaces of A below n that overlap the box; false if a node cannot hold them all.
static bool collect_surfaces(search *s, const tac_rtree_node *n, int32_t level, const tac_aabb *box)
{
	unsigned hits = node_overlap(n, box);
	s->run->query->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int lane = lowest_bit(hits);
		if (level > 0) {
			if (!collect_surfaces(s, &s->run->a->surfaces.nodes[n->child[lane]], level - 1, box))
				return false;
			continue;
		}
		if (s->nearby.count == TAC_RTREE_MAX)
			return false;
		for (int k = 0; k < 3; k++) {
			s->nearby.min[k][s->nearby.count] = n->min[k][lane];
			s->nearby.max[k][s->nearby.count] = n->max[k][lane];
		}
		s->nearby.child[s->nearby.count++] = n->child[lane];
	}
	return true;
}

// Finds the surfaces of A that a surface of B may touch within `box`, and in turn the region of the box that
// these may touch. Without it, every triangle of that surface would start at the root of SBV(A). False: there
// are none.
static bool find_nearby(search *s, const tac_aabb *box)
{
	tac_scd_run *r = s->run;
	s->reach = *box;
	tac_aabb in_a = tac_scd_cover(r->rotation, r->translation, box);
	r->query->counters.cover_updates++;
	in_a = tac_scd_intersection(&in_a, &r->common_a);
	if (tac_aabb_empty(&in_a))
		return false;
	s->nearby.count = 0;
	s->entry = r->a->surfaces.nodes;
	s->entry_level = r->a->surfaces.depth;
	if (!collect_surfaces(s, s->entry, s->entry_level, &in_a))
		return true;
	if (s->nearby.count == 0)
		return false;
	s->entry = &s->nearby;
	s->entry_level = 0;
	for (int i = s->nearby.count; i < TAC_RTREE_MAX; i++)
		node_clear_lane(&s->nearby, i);
	tac_aabb all = tac_rtree_node_box(&s->nearby, 0);
	for (int i = 1; i < s->nearby.count; i++) {
		for (int k = 0; k < 3; k++) {
			all.min[k] = s->nearby.min[k][i] < all.min[k] ? s->nearby.min[k][i] : all.min[k];
			all.max[k] = s->nearby.max[k][i] > all.max[k] ? s->nearby.max[k][i] : all.max[k];
		}
	}
	all = tac_scd_intersection(&all, &in_a);
	tac_aabb back = tac_scd_cover(&r->inverse_rotation, r->inverse_translation, &all);
	r->query->counters.cover_updates++;
	s->reach = tac_scd_intersection(&back, box);
	return !tac_aabb_empty(&s->reach);
}

static bool visit_surfaces_b(search *s, int32_t node, int32_t level)
{
	tac_scd_run *r = s->run;
	const tac_scd *b = r->b;
	const tac_rtree_node *n = &b->surfaces.nodes[node];
	unsigned hits = node_overlap(n, &r->common_b);
	r->query->counters.aabb_tests += n->count;
	for (; hits != 0; hits &= hits - 1) {
		int lane = lowest_bit(hits);
		int32_t child = n->child[lane];
		if (level > 0) {
			if (visit_surfaces_b(s, child, level - 1))
				return true;
			continue;
		}
		tac_aabb box = tac_rtree_node_box(n, lane);
		box = tac_scd_intersection(&box, &r->common_b);
		if (!find_nearby(s, &box))
			continue;
		const tac_scd_surface *tree = &b->triangles[child];
		if (visit_triangles_b(s, child, tree, 0, tree->depth))
			return true;
	}
	return false;
}

void TAC_SIMD_NAME(tac_scd_visit)(tac_scd_run *r)
{
	search s = {.run = r};
	visit_surfaces_b(&s, 0, r->b->surfaces.depth);
}
