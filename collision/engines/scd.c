#include "collision/engines/scd.h"

#include "base/assert.h"
#include "collision/engines/scd_tree.h"
#include "collision/trees/rtree_node.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

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
		h += 4e-15 * size; // rounding of these sums, and of points of the box transformed one by one
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

tac_aabb tac_scd_intersection(const tac_aabb *a, const tac_aabb *b)
{
	tac_aabb out;
	for (int k = 0; k < 3; k++) {
		out.min[k] = a->min[k] > b->min[k] ? a->min[k] : b->min[k];
		out.max[k] = a->max[k] < b->max[k] ? a->max[k] : b->max[k];
	}
	return out;
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

// ---- queries ----

bool tac_scd_report(tac_scd_run *r, int32_t surface_a, int32_t child)
{
	tac_scd_query *q = r->query;
	tac_scd_hit hit = {surface_a, r->surface_b,
			   r->a->leaves[child / TAC_RTREE_MAX].triangle[child % TAC_RTREE_MAX],
			   r->triangle_b};
	if (q->report)
		q->report(q->user, &hit);
	else if (q->hit_count < q->capacity)
		q->hits[q->hit_count] = hit;
	q->hit_count++;
	return q->mode == TAC_SCD_FIRST;
}

bool tac_scd_triangles_meet(const tac_scd_run *r, int32_t child)
{
	const tac_leaf8 *leaf = &r->a->leaves[child / TAC_RTREE_MAX];
	tac_tri64 fixed;
	for (int k = 0; k < 3; k++)
		for (int c = 0; c < 3; c++)
			fixed.v[k][c] = (double)leaf->v[k][c][child % TAC_RTREE_MAX];
	r->query->counters.exact_tests++;
	return tac_tritri_closed(&fixed, &r->moved);
}

void tac_scd_load_triangle(tac_scd_run *r, int32_t surface_b, int32_t child)
{
	const tac_leaf8 *leaf = &r->b->leaves[child / TAC_RTREE_MAX];
	const int lane = child % TAC_RTREE_MAX;
	r->surface_b = surface_b;
	r->triangle_b = leaf->triangle[lane];
	const double t[3] = {r->translation.x, r->translation.y, r->translation.z};
	for (int k = 0; k < 3; k++) {
		for (int c = 0; c < 3; c++) {
			const double *row = r->rotation->m[c];
			r->moved.v[k][c] = row[0] * (double)leaf->v[k][0][lane] +
					   row[1] * (double)leaf->v[k][1][lane] +
					   row[2] * (double)leaf->v[k][2][lane] + t[c];
		}
	}
	r->query->counters.triangle_transforms++;
}

// ---- without the common volume ----

// One side of a simultaneous descent, in which the children of A are covered in B's frame one by one. At
// level -1 it is an entry of a leaf, and `node` is its child.
typedef struct side {
	const tac_rtree_node *nodes;
	int32_t node, level;
	tac_aabb box; // of the entry at level -1; A's in B's frame
} side;

typedef bool pair_fn(tac_scd_run *r, int32_t child_a, int32_t child_b, const tac_aabb *box_a,
		     const tac_aabb *box_b);

static tac_aabb covered(tac_scd_run *r, const tac_rtree_node *n, int lane)
{
	tac_aabb box = tac_rtree_node_box(n, lane);
	r->query->counters.cover_updates++;
	return tac_scd_cover(&r->inverse_rotation, r->inverse_translation, &box);
}

static bool descend_both(tac_scd_run *r, side a, side b, pair_fn *pair)
{
	if (a.level < 0 && b.level < 0)
		return pair(r, a.node, b.node, &a.box, &b.box);
	const tac_rtree_node *na = a.level < 0 ? NULL : &a.nodes[a.node],
			     *nb = b.level < 0 ? NULL : &b.nodes[b.node];
	for (int i = 0; i < (na ? na->count : 1); i++) {
		side next_a = a;
		if (na)
			next_a = (side){a.nodes, na->child[i], a.level - 1, covered(r, na, i)};
		unsigned hits = 1;
		if (nb) {
			hits = node_overlap(nb, &next_a.box);
			r->query->counters.aabb_tests += nb->count;
		} else {
			hits = tac_aabb_overlap(&next_a.box, &b.box);
			r->query->counters.aabb_tests++;
		}
		for (; hits != 0; hits &= hits - 1) {
			int lane = __builtin_ctz(hits);
			side next_b = b;
			if (nb)
				next_b = (side){b.nodes, nb->child[lane], b.level - 1,
						tac_rtree_node_box(nb, lane)};
			if (descend_both(r, next_a, next_b, pair))
				return true;
		}
	}
	return false;
}

typedef struct both_surfaces {
	tac_scd_run base;
	int32_t surface_a, surface_b;
	bool done; // this pair of surfaces needs no further test
} both_surfaces;

static bool pair_of_triangles(tac_scd_run *r, int32_t leaf_a, int32_t leaf_b, const tac_aabb *box_a,
			      const tac_aabb *box_b)
{
	(void)box_a;
	(void)box_b;
	both_surfaces *both = (both_surfaces *)r;
	if (both->done)
		return false;
	tac_scd_load_triangle(r, both->surface_b, leaf_b);
	r->query->counters.triangle_tests++;
	if (!tac_scd_triangles_meet(r, leaf_a))
		return false;
	both->done = r->query->mode == TAC_SCD_SURFACES;
	return tac_scd_report(r, both->surface_a, leaf_a);
}

static bool pair_of_surfaces(tac_scd_run *r, int32_t surface_a, int32_t surface_b, const tac_aabb *box_a,
			     const tac_aabb *box_b)
{
	both_surfaces *both = (both_surfaces *)r;
	both->surface_a = surface_a;
	both->surface_b = surface_b;
	both->done = false;
	const tac_scd_surface *ta = &r->a->triangles[surface_a], *tb = &r->b->triangles[surface_b];
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
	TAC_ASSERT(query->mode != TAC_SCD_SURFACES || query->without_oaabb || query->scratch);
	query->hit_count = 0;
	query->complete = true;
	query->triangles_done = 0;
	query->counters = (tac_scd_counters){0};
	both_surfaces both = {
		.base = {.a = a, .b = b, .rotation = rotation, .translation = translation, .query = query}};
	tac_scd_run *r = &both.base;
	if (tac_aabb_empty(&a->surfaces.box) || tac_aabb_empty(&b->surfaces.box))
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
	r->common_b = tac_scd_intersection(&box, &b->surfaces.box);
	tac_aabb back = tac_scd_cover(rotation, translation, &r->common_b);
	query->counters.cover_updates++;
	r->common_a = tac_scd_intersection(&a->surfaces.box, &back);
	if (tac_aabb_empty(&r->common_a))
		return false;
	// A query that continues inside a surface of B keeps the surfaces of A which that surface met.
	bool fresh = query->mode == TAC_SCD_SURFACES && query->skip_triangles == 0;
	for (int32_t s = 0; fresh && s < a->mesh->surface_count; s++)
		query->scratch[s] = -1;
	a->visit(r);
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
