#include "collision/distance.h"

#include "base/assert.h"
#include "collision/wide_tree.h"

#include <math.h>
#include <string.h>

static tac_dvec3 at(const tac_tri64 *t, int k)
{
	return tac_dvec3_load(t->v[k]);
}

static double clamp01(double x)
{
	return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

// The point of the triangle nearest to p, by the regions of its vertices, edges and face.
static tac_dvec3 nearest_in_triangle(const tac_tri64 *t, tac_dvec3 p)
{
	tac_dvec3 a = at(t, 0), ab = tac_dvec3_sub(at(t, 1), a), ac = tac_dvec3_sub(at(t, 2), a);
	tac_dvec3 ap = tac_dvec3_sub(p, a);
	double d1 = tac_dvec3_dot(ab, ap), d2 = tac_dvec3_dot(ac, ap);
	if (d1 <= 0.0 && d2 <= 0.0)
		return a;
	tac_dvec3 bp = tac_dvec3_sub(p, at(t, 1));
	double d3 = tac_dvec3_dot(ab, bp), d4 = tac_dvec3_dot(ac, bp);
	if (d3 >= 0.0 && d4 <= d3)
		return at(t, 1);
	double vc = d1 * d4 - d3 * d2;
	if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0)
		return tac_dvec3_add_scaled(a, d1 / (d1 - d3), ab);
	tac_dvec3 cp = tac_dvec3_sub(p, at(t, 2));
	double d5 = tac_dvec3_dot(ab, cp), d6 = tac_dvec3_dot(ac, cp);
	if (d6 >= 0.0 && d5 <= d6)
		return at(t, 2);
	double vb = d5 * d2 - d1 * d6;
	if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0)
		return tac_dvec3_add_scaled(a, d2 / (d2 - d6), ac);
	double va = d3 * d6 - d5 * d4;
	if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0)
		return tac_dvec3_add_scaled(at(t, 1), (d4 - d3) / ((d4 - d3) + (d5 - d6)),
					    tac_dvec3_sub(at(t, 2), at(t, 1)));
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
	*out_a = at(a, 0);
	*out_b = at(b, 0);
	for (int i = 0; i < 3; ++i) {
		keep_nearer(&best, at(a, i), nearest_in_triangle(b, at(a, i)), out_a, out_b);
		keep_nearer(&best, nearest_in_triangle(a, at(b, i)), at(b, i), out_a, out_b);
		for (int j = 0; j < 3; ++j) {
			tac_dvec3 p, q;
			nearest_of_segments(at(a, i), at(a, (i + 1) % 3), at(b, j), at(b, (j + 1) % 3), &p,
					    &q);
			keep_nearer(&best, p, q, out_a, out_b);
		}
	}
	// Features of triangles that pierce each other are apart, the triangles are not.
	return tac_tritri_closed(a, b) ? 0.0 : sqrt(best);
}

static void load_pair(const tac_context *context, int32_t fixed_triangle, int32_t moving_triangle,
		      tac_tri64 *a, tac_tri64 *b)
{
	const tac_mesh *fixed = context->fixed->mesh, *moving = context->moving->mesh;
	for (int k = 0; k < 3; ++k) {
		tac_dvec3 p =
			tac_dvec3_from_vec3(fixed->vertices[fixed->triangles[fixed_triangle].vertex[k]]);
		tac_dvec3 q =
			tac_dvec3_from_vec3(moving->vertices[moving->triangles[moving_triangle].vertex[k]]);
		tac_dvec3_store(a->v[k], p);
		q = tac_dmat3_apply(tac_dmat3_from_mat3(context->motion.rotation), q);
		tac_dvec3_store(b->v[k], tac_dvec3_add(q, tac_dvec3_from_vec3(context->motion.translation)));
	}
}

bool tac_distance_near(tac_context *context, int32_t fixed_triangle, int32_t moving_triangle)
{
	tac_tri64 a, b;
	load_pair(context, fixed_triangle, moving_triangle, &a, &b);
	tac_dvec3 p, q;
	double distance = tac_distance_triangles(&a, &b, &p, &q);
	double size = tac_dvec3_max_component(tac_dvec3_abs(p)) + tac_dvec3_max_component(tac_dvec3_abs(q));
	return distance <= (double)context->within + 1e-12 * size;
}

tac_contact tac_distance_within(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				const tac_motion *motion, float distance, tac_budget budget)
{
	TAC_ASSERT(distance > 0.0F && moving->collider == fixed->collider);
	const tac_collider *collider = fixed->collider;
	TAC_ASSERT(strcmp(collider->name, "wide") == 0);
	context->moving = moving;
	context->fixed = fixed;
	context->motion = *motion;
	context->mode = TAC_QUERY_PAIRS;
	context->within = distance;
	context->pair_count = 0;
	context->counters = (tac_counters){0};
	context->budget = budget;
	context->nodes_left = budget.nodes > 0 ? budget.nodes : INT64_MAX;
	context->pending = false;
	if (!tac_motion_finite(motion))
		return TAC_CONTACT_UNKNOWN;
	if (moving->mesh->triangle_count == 0 || fixed->mesh->triangle_count == 0)
		return TAC_CONTACT_NONE;
	return collider->run(collider, context, false);
}

// A pair of nodes or ~leaves, and a distance below which its triangles cannot be.
typedef struct {
	float bound;
	int32_t fixed, moving;
} candidate;

typedef struct {
	tac_context *context;
	const tac_wide_shape *fixed, *moving;
	tac_wide_frame frame;
	float pad;
	candidate *stack;
	size_t capacity, count;
	tac_nearest *nearest;
} search;

enum { STATE_COUNT };

static void box_of(const search *s, bool moving, int32_t id, tac_wide_bound *out)
{
	const tac_wide_shape *shape = moving ? s->moving : s->fixed;
	*out = id >= 0 ? shape->nodes[id].bound : shape->leaves[~id].bound;
	if (!moving)
		return;
	float c[3], h[3];
	for (int k = 0; k < 3; ++k) {
		const float *r = s->frame.rotation[k], *a = s->frame.absolute[k];
		c[k] = r[0] * out->centre[0] + r[1] * out->centre[1] + r[2] * out->centre[2] +
		       s->frame.translation[k];
		h[k] = a[0] * out->half[0] + a[1] * out->half[1] + a[2] * out->half[2] + s->pad;
	}
	memcpy(out->centre, c, sizeof c);
	memcpy(out->half, h, sizeof h);
}

static float box_distance(const tac_wide_bound *a, const tac_wide_bound *b)
{
	float sum = 0.0F;
	for (int k = 0; k < 3; ++k) {
		float d = fabsf(a->centre[k] - b->centre[k]) - a->half[k] - b->half[k];
		sum += d > 0.0F ? d * d : 0.0F;
	}
	// Four roundings of the sum and one of the root.
	return sqrtf(sum) * (1.0F - 8.0F * 0x1p-24F);
}

static void test_leaves(search *s, int32_t ia, int32_t ib)
{
	const tac_wide_leaf *la = &s->fixed->leaves[~ia], *lb = &s->moving->leaves[~ib];
	for (int i = 0; i < la->count; ++i)
		for (int j = 0; j < lb->count; ++j) {
			tac_tri64 a, b;
			load_pair(s->context, la->triangle[i], lb->triangle[j], &a, &b);
			tac_dvec3 p, q;
			++s->context->counters.triangle_tests;
			double d = tac_distance_triangles(&a, &b, &p, &q);
			if (d < s->nearest->distance)
				*s->nearest = (tac_nearest){d, 0.0, p, q, la->triangle[i], lb->triangle[j]};
		}
}

// Opens the larger of two nodes; nearer children come on top of the stack.
static bool open_candidate(search *s, const candidate *c)
{
	tac_wide_bound a, b;
	box_of(s, false, c->fixed, &a);
	box_of(s, true, c->moving, &b);
	float size_a = a.half[0] + a.half[1] + a.half[2], size_b = b.half[0] + b.half[1] + b.half[2];
	bool open_moving = c->fixed < 0 || (c->moving >= 0 && size_b > size_a);
	const tac_wide_node *node = open_moving ? &s->moving->nodes[c->moving] : &s->fixed->nodes[c->fixed];
	if (s->count + 8 > s->capacity)
		return false;
	size_t first = s->count;
	for (int lane = 0; lane < 8; ++lane) {
		if (node->half[0][lane] < 0.0F)
			continue;
		candidate child = *c;
		tac_wide_bound box;
		*(open_moving ? &child.moving : &child.fixed) = node->child[lane];
		box_of(s, open_moving, node->child[lane], &box);
		child.bound = open_moving ? box_distance(&a, &box) : box_distance(&box, &b);
		++s->context->counters.overlap_tests;
		if ((double)child.bound >= s->nearest->distance)
			continue;
		size_t k = s->count++;
		for (; k > first && s->stack[k - 1].bound < child.bound; --k)
			s->stack[k] = s->stack[k - 1];
		s->stack[k] = child;
	}
	return true;
}

static tac_contact run(tac_context *context, tac_budget budget, tac_nearest *nearest, bool resume)
{
	search s = {
		.context = context,
		.fixed = (const tac_wide_shape *)context->fixed,
		.moving = (const tac_wide_shape *)context->moving,
		.stack = context->scratch,
		.capacity = context->scratch_bytes / sizeof(candidate),
		.count = resume ? (size_t)context->state[STATE_COUNT] : 1,
		.nearest = nearest,
	};
	context->budget = budget;
	context->nodes_left = budget.nodes > 0 ? budget.nodes : INT64_MAX;
	context->pending = false;
	float reach = s.fixed->extent;
	for (int i = 0; i < 3; ++i) {
		float row = 0.0F;
		for (int j = 0; j < 3; ++j) {
			s.frame.rotation[i][j] = context->motion.rotation.m[i][j];
			s.frame.absolute[i][j] = fabsf(s.frame.rotation[i][j]);
			row += s.frame.absolute[i][j];
		}
		s.frame.translation[i] = tac_vec3_get(context->motion.translation, i);
		reach = fmaxf(reach, row * s.moving->extent + fabsf(s.frame.translation[i]));
	}
	s.pad = 32.0F * 0x1p-24F * reach; // six roundings of centre and half, four of their difference
	if (!resume)
		s.stack[0] = (candidate){0.0F, 0, 0};
	int until_clock = 16;
	while (s.count > 0 && nearest->distance > 0.0) {
		candidate c = s.stack[--s.count];
		if ((double)c.bound >= nearest->distance)
			continue;
		--context->nodes_left;
		++context->counters.nodes;
		if (c.fixed < 0 && c.moving < 0)
			test_leaves(&s, c.fixed, c.moving);
		else if (!open_candidate(&s, &c))
			return TAC_CONTACT_UNKNOWN;
		bool look = --until_clock == 0;
		if (look)
			until_clock = 16;
		if ((look || context->nodes_left <= 0) && s.count > 0 && tac_context_spent(context)) {
			double least = nearest->distance;
			for (size_t k = 0; k < s.count; ++k)
				least = fmin(least, (double)s.stack[k].bound);
			nearest->lower_bound = least;
			context->state[STATE_COUNT] = (int32_t)s.count;
			context->pending = true;
			return TAC_CONTACT_UNKNOWN;
		}
	}
	nearest->lower_bound = nearest->distance;
	return nearest->distance > 0.0 ? TAC_CONTACT_NONE : TAC_CONTACT_HIT;
}

tac_contact tac_distance_nearest(tac_context *context, const tac_shape *moving, const tac_shape *fixed,
				 const tac_motion *motion, double limit, tac_budget budget,
				 tac_nearest *out_nearest)
{
	TAC_ASSERT(strcmp(fixed->collider->name, "wide") == 0 && strcmp(moving->collider->name, "wide") == 0);
	*out_nearest = (tac_nearest){.distance = limit, .fixed_triangle = -1, .moving_triangle = -1};
	context->moving = moving;
	context->fixed = fixed;
	context->motion = *motion;
	context->pair_count = 0;
	context->counters = (tac_counters){0};
	context->pending = false;
	if (!tac_motion_finite(motion))
		return TAC_CONTACT_UNKNOWN;
	if (moving->mesh->triangle_count == 0 || fixed->mesh->triangle_count == 0) {
		out_nearest->lower_bound = limit;
		return TAC_CONTACT_NONE;
	}
	return run(context, budget, out_nearest, false);
}

tac_contact tac_distance_nearest_resume(tac_context *context, tac_budget budget, tac_nearest *nearest)
{
	TAC_ASSERT(context->pending);
	return run(context, budget, nearest, true);
}
