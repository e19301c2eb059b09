#include "collision/engines/bvh8_distance.h"

#include "collision/engines/budget.h"
#include "collision/engines/bvh8_tree.h"

#include <math.h>
#include <string.h>

#define UNIT                 0x1p-24F // unit roundoff of float
#define STEPS_BETWEEN_CLOCKS 16

static tac_dvec3 corner(const tac_tri64 *t, int k)
{
	return tac_dvec3_load(t->v[k]);
}

static double clamp01(double x)
{
	return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

// The point of the triangle nearest to p, by the Voronoi regions of its vertices, edges and face.
static tac_dvec3 nearest_in_triangle(const tac_tri64 *t, tac_dvec3 p)
{
	tac_dvec3 a = corner(t, 0), b = corner(t, 1), c = corner(t, 2);
	tac_dvec3 ab = tac_dvec3_sub(b, a), ac = tac_dvec3_sub(c, a);
	tac_dvec3 ap = tac_dvec3_sub(p, a), bp = tac_dvec3_sub(p, b), cp = tac_dvec3_sub(p, c);
	double d1 = tac_dvec3_dot(ab, ap), d2 = tac_dvec3_dot(ac, ap);
	double d3 = tac_dvec3_dot(ab, bp), d4 = tac_dvec3_dot(ac, bp);
	double d5 = tac_dvec3_dot(ab, cp), d6 = tac_dvec3_dot(ac, cp);
	if (d1 <= 0.0 && d2 <= 0.0)
		return a;
	if (d3 >= 0.0 && d4 <= d3)
		return b;
	double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
	if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0)
		return tac_dvec3_add_scaled(a, d1 / (d1 - d3), ab);
	if (d6 >= 0.0 && d5 <= d6)
		return c;
	if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0)
		return tac_dvec3_add_scaled(a, d2 / (d2 - d6), ac);
	if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0)
		return tac_dvec3_add_scaled(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), tac_dvec3_sub(c, b));
	double sum = va + vb + vc;
	return tac_dvec3_add_scaled(tac_dvec3_add_scaled(a, vb / sum, ab), vc / sum, ac);
}

static void nearest_of_segments(tac_dvec3 p, tac_dvec3 p2, tac_dvec3 q, tac_dvec3 q2, tac_dvec3 *out_p,
				tac_dvec3 *out_q)
{
	tac_dvec3 u = tac_dvec3_sub(p2, p), v = tac_dvec3_sub(q2, q), w = tac_dvec3_sub(p, q);
	double a = tac_dvec3_dot(u, u), e = tac_dvec3_dot(v, v), f = tac_dvec3_dot(v, w);
	double b = tac_dvec3_dot(u, v), c = tac_dvec3_dot(u, w), denominator = a * e - b * b;
	double s = denominator > 0.0 ? clamp01((b * f - c * e) / denominator) : 0.0;
	double t = e > 0.0 ? (b * s + f) / e : 0.0;
	if (t < 0.0) {
		t = 0.0;
		s = a > 0.0 ? clamp01(-c / a) : 0.0;
	} else if (t > 1.0) {
		t = 1.0;
		s = a > 0.0 ? clamp01((b - c) / a) : 0.0;
	}
	*out_p = tac_dvec3_add_scaled(p, s, u);
	*out_q = tac_dvec3_add_scaled(q, t, v);
}

static void keep_nearer(double *best, tac_dvec3 p, tac_dvec3 q, tac_dvec3 *out_a, tac_dvec3 *out_b)
{
	tac_dvec3 d = tac_dvec3_sub(p, q);
	double squared = tac_dvec3_dot(d, d);
	if (squared < *best) {
		*best = squared;
		*out_a = p;
		*out_b = q;
	}
}

double tac_distance_triangles(const tac_tri64 *a, const tac_tri64 *b, tac_dvec3 *out_a, tac_dvec3 *out_b)
{
	double best = (double)INFINITY;
	*out_a = corner(a, 0);
	*out_b = corner(b, 0);
	for (int i = 0; i < 3; i++) {
		keep_nearer(&best, corner(a, i), nearest_in_triangle(b, corner(a, i)), out_a, out_b);
		keep_nearer(&best, nearest_in_triangle(a, corner(b, i)), corner(b, i), out_a, out_b);
		for (int j = 0; j < 3; j++) {
			tac_dvec3 p, q;
			nearest_of_segments(corner(a, i), corner(a, (i + 1) % 3), corner(b, j),
					    corner(b, (j + 1) % 3), &p, &q);
			keep_nearer(&best, p, q, out_a, out_b);
		}
	}
	// The vertices and edges of triangles that pierce each other may be apart; the triangles are not.
	return tac_tritri_closed(a, b) ? 0.0 : sqrt(best);
}

static void load_pair(const tac_context *context, int32_t fixed_triangle, int32_t moving_triangle,
		      tac_tri64 *a, tac_tri64 *b)
{
	const tac_mesh *fixed = context->fixed->mesh, *moving = context->moving->mesh;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 p =
			tac_dvec3_from_vec3(fixed->vertices[fixed->triangles[fixed_triangle].vertex[k]]);
		tac_dvec3 q =
			tac_dvec3_from_vec3(moving->vertices[moving->triangles[moving_triangle].vertex[k]]);
		tac_dvec3_store(a->v[k], p);
		q = tac_dmat3_apply(tac_dmat3_from_mat3(context->motion.R), q);
		tac_dvec3_store(b->v[k], tac_dvec3_add(q, tac_dvec3_from_vec3(context->motion.t)));
	}
}

bool tac_distance_triangles_within(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle)
{
	tac_tri64 a, b;
	load_pair(context, fixed_triangle, moving_triangle, &a, &b);
	tac_dvec3 p, q;
	double distance = tac_distance_triangles(&a, &b, &p, &q);
	double size = tac_dvec3_max_component(tac_dvec3_abs(p)) + tac_dvec3_max_component(tac_dvec3_abs(q));
	return distance <= (double)context->within_m + 1e-12 * size;
}

// A pair of nodes or ~leaves, and a lower bound of the distance of its triangles.
typedef struct {
	float bound;
	int32_t fixed, moving;
} candidate;

typedef struct {
	tac_context *context;
	const tac_bvh8_shape *fixed, *moving;
	tac_bvh8_frame frame;
	float pad;
	candidate *stack;
	size_t capacity, count;
	tac_nearest *nearest;
} search;

enum { RESUME_COUNT };

// The box of a node or ~leaf in the fixed frame.
static void box_of(const search *s, bool moving, int32_t id, tac_bvh8_bound *out)
{
	const tac_bvh8_shape *shape = moving ? s->moving : s->fixed;
	*out = id >= 0 ? shape->nodes[id].bound : shape->leaves[~id].bound;
	if (!moving)
		return;
	float c[3], h[3];
	for (int k = 0; k < 3; k++) {
		const float *r = s->frame.rotation[k], *a = s->frame.absolute[k];
		c[k] = r[0] * out->centre[0] + r[1] * out->centre[1] + r[2] * out->centre[2] +
		       s->frame.translation[k];
		h[k] = a[0] * out->half[0] + a[1] * out->half[1] + a[2] * out->half[2] + s->pad;
	}
	memcpy(out->centre, c, sizeof c);
	memcpy(out->half, h, sizeof h);
}

static float box_distance(const tac_bvh8_bound *a, const tac_bvh8_bound *b)
{
	float sum = 0.0F;
	for (int k = 0; k < 3; k++) {
		float d = fabsf(a->centre[k] - b->centre[k]) - a->half[k] - b->half[k];
		sum += d > 0.0F ? d * d : 0.0F;
	}
	// Four roundings of the sum and one of the root.
	return sqrtf(sum) * (1.0F - 8.0F * UNIT);
}

static void test_leaves(search *s, const candidate *c)
{
	const tac_bvh8_leaf *leaf_a = &s->fixed->leaves[~c->fixed], *leaf_b = &s->moving->leaves[~c->moving];
	for (int i = 0; i < leaf_a->count; i++)
		for (int j = 0; j < leaf_b->count; j++) {
			tac_tri64 a, b;
			load_pair(s->context, leaf_a->triangle[i], leaf_b->triangle[j], &a, &b);
			tac_dvec3 p, q;
			s->context->counters.triangle_tests++;
			double d = tac_distance_triangles(&a, &b, &p, &q);
			if (d < s->nearest->distance)
				*s->nearest =
					(tac_nearest){d, 0.0, p, q, leaf_a->triangle[i], leaf_b->triangle[j]};
		}
}

// Opens the larger of two nodes, with the nearest child on top of the stack. False: the stack is full.
static bool open_candidate(search *s, const candidate *c)
{
	tac_bvh8_bound a, b;
	box_of(s, false, c->fixed, &a);
	box_of(s, true, c->moving, &b);
	float size_a = a.half[0] + a.half[1] + a.half[2], size_b = b.half[0] + b.half[1] + b.half[2];
	bool open_moving = c->fixed < 0 || (c->moving >= 0 && size_b > size_a);
	const tac_bvh8_node *node = open_moving ? &s->moving->nodes[c->moving] : &s->fixed->nodes[c->fixed];
	if (s->count + 8 > s->capacity)
		return false;
	size_t first = s->count;
	for (int lane = 0; lane < 8; lane++) {
		if (node->half[0][lane] < 0.0F)
			continue;
		candidate child = *c;
		tac_bvh8_bound box;
		*(open_moving ? &child.moving : &child.fixed) = node->child[lane];
		box_of(s, open_moving, node->child[lane], &box);
		child.bound = open_moving ? box_distance(&a, &box) : box_distance(&box, &b);
		s->context->counters.overlap_tests++;
		if ((double)child.bound >= s->nearest->distance)
			continue;
		size_t k = s->count++;
		for (; k > first && s->stack[k - 1].bound < child.bound; k--)
			s->stack[k] = s->stack[k - 1];
		s->stack[k] = child;
	}
	return true;
}

tac_overlap tac_bvh8_nearest(const tac_collider *self, tac_context *context, tac_nearest *nearest,
			     bool resume)
{
	(void)self;
	search s = {
		.context = context,
		.fixed = (const tac_bvh8_shape *)context->fixed,
		.moving = (const tac_bvh8_shape *)context->moving,
		.stack = context->scratch,
		.capacity = context->scratch_bytes / sizeof(candidate),
		.count = resume ? (size_t)context->resume_state[RESUME_COUNT] : 1,
		.nearest = nearest,
	};
	float reach = s.fixed->extent;
	for (int i = 0; i < 3; i++) {
		float row = 0.0F;
		for (int j = 0; j < 3; j++) {
			s.frame.rotation[i][j] = context->motion.R.m[i][j];
			s.frame.absolute[i][j] = fabsf(s.frame.rotation[i][j]);
			row += s.frame.absolute[i][j];
		}
		s.frame.translation[i] = tac_vec3_get(context->motion.t, i);
		reach = fmaxf(reach, row * s.moving->extent + fabsf(s.frame.translation[i]));
	}
	s.pad = 32.0F * UNIT * reach; // six roundings of centre and half, four of their difference
	if (!resume)
		s.stack[0] = (candidate){0.0F, 0, 0};
	int until_clock = STEPS_BETWEEN_CLOCKS;
	while (s.count > 0 && nearest->distance > 0.0) {
		candidate c = s.stack[--s.count];
		if ((double)c.bound >= nearest->distance)
			continue;
		context->nodes_left--;
		context->counters.nodes++;
		if (c.fixed < 0 && c.moving < 0)
			test_leaves(&s, &c);
		else if (!open_candidate(&s, &c))
			return TAC_OVERLAP_UNKNOWN;
		if (s.count > 0 && tac_budget_poll(context, &until_clock, STEPS_BETWEEN_CLOCKS)) {
			double lower_bound = nearest->distance;
			for (size_t k = 0; k < s.count; k++)
				lower_bound = fmin(lower_bound, (double)s.stack[k].bound);
			nearest->lower_bound = lower_bound;
			context->resume_state[RESUME_COUNT] = (int32_t)s.count;
			context->pending = true;
			return TAC_OVERLAP_UNKNOWN;
		}
	}
	nearest->lower_bound = nearest->distance;
	return nearest->distance > 0.0 ? TAC_OVERLAP_NONE : TAC_OVERLAP_HIT;
}
