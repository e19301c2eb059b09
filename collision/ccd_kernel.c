// The descent of collision/ccd_pairs.h, compiled for each instruction set.
#include "base/wide.h"
#include "collision/ccd_pairs.h"

// A level of a tree is three halvings of at most 2^29 triangles, so there are at most ten, and each pair that
// is opened leaves at most seven others waiting.
#define STACK 160
// Part of the coordinates by which boxes grow: some ten roundings of float.
#define ROUNDING 1e-6

// A moving node is opened unless it is this many times smaller than the fixed one: moving leaves that are
// reached first are swept once for many fixed ones.
#define OPEN_MOVING 2

// The sweep in float.
typedef struct motion {
	float R0[3][3], R1[3][3], t0[3], t1[3];
	float spread[3][3], turned[3][3], tilt[3][3];
	float bend;
} motion;

// A node of the moving tree on its way: its box in the fixed frame, and in the moving frame at the start.
typedef struct swept {
	float center[3], half[3];
	float own_center[3], own_half[3];
} swept;

typedef struct entry {
	int32_t a, a_count, b, b_count;
	swept s;
	float b_center[3], b_half[3];
} entry;

static motion motion_make(const tac_ccd_sweep *s)
{
	motion m;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			m.R0[i][j] = (float)s->start.R.m[i][j];
			m.R1[i][j] = (float)s->end.R.m[i][j];
			m.spread[i][j] = (float)s->spread.m[i][j];
			m.turned[i][j] = (float)s->turned.m[i][j];
			m.tilt[i][j] = (float)s->tilt.m[i][j];
		}
		m.t0[i] = (float)tac_dvec3_get(s->start.t, i);
		m.t1[i] = (float)tac_dvec3_get(s->end.t, i);
	}
	m.bend = (float)s->bend;
	return m;
}

// Component i of m x, and of the transpose of m times x.
static inline tac_f32x8 row(const float m[3][3], int i, const tac_f32x8 x[3])
{
	tac_f32x8 p = tac_f32x8_mul(tac_f32x8_splat(m[i][0]), x[0]);
	p = tac_f32x8_add(p, tac_f32x8_mul(tac_f32x8_splat(m[i][1]), x[1]));
	return tac_f32x8_add(p, tac_f32x8_mul(tac_f32x8_splat(m[i][2]), x[2]));
}

static inline tac_f32x8 column(const float m[3][3], int i, const tac_f32x8 x[3])
{
	tac_f32x8 p = tac_f32x8_mul(tac_f32x8_splat(m[0][i]), x[0]);
	p = tac_f32x8_add(p, tac_f32x8_mul(tac_f32x8_splat(m[1][i]), x[1]));
	return tac_f32x8_add(p, tac_f32x8_mul(tac_f32x8_splat(m[2][i]), x[2]));
}

// Which children of the fixed node b come within reach of the swept one.
static unsigned meet_children(const motion *m, const swept *s, const tac_ccd_node *b, float reach)
{
	tac_f32x8 c[3], h[3], from[3];
	tac_m32x8 hit = tac_m32x8_from_bits(0xff);
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(b->center[i]);
		h[i] = tac_f32x8_load(b->half[i]);
		tac_f32x8 apart = tac_f32x8_abs(tac_f32x8_sub(c[i], tac_f32x8_splat(s->center[i])));
		hit = tac_m32x8_and(
			hit, tac_f32x8_le(apart, tac_f32x8_add(h[i], tac_f32x8_splat(s->half[i] + reach))));
		from[i] = tac_f32x8_sub(c[i], tac_f32x8_splat(m->t0[i]));
	}
	if (tac_m32x8_movemask(hit) == 0)
		return 0;
	for (int i = 0; i < 3; i++) {
		tac_f32x8 apart = tac_f32x8_abs(
			tac_f32x8_sub(column(m->R0, i, from), tac_f32x8_splat(s->own_center[i])));
		tac_f32x8 room =
			tac_f32x8_add(column(m->tilt, i, h), tac_f32x8_splat(s->own_half[i] + reach));
		hit = tac_m32x8_and(hit, tac_f32x8_le(apart, room));
	}
	return (unsigned)tac_m32x8_movemask(hit);
}

// Eight swept children, lane by lane.
typedef struct swept8 {
	_Alignas(32) float center[3][8], half[3][8], own_center[3][8], own_half[3][8];
} swept8;

// Sweeps the children of the moving node a; which of them come within reach of the box in e.
static unsigned sweep_children(const motion *m, const tac_ccd_node *a, const entry *e, float reach,
			       swept8 *out)
{
	tac_f32x8 c[3], h[3], way[3];
	tac_f32x8 bend = tac_f32x8_splat(m->bend), half = tac_f32x8_splat(0.5f);
	tac_m32x8 hit = tac_m32x8_from_bits(0xff);
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(a->center[i]);
		h[i] = tac_f32x8_load(a->half[i]);
	}
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c0 = tac_f32x8_add(row(m->R0, i, c), tac_f32x8_splat(m->t0[i]));
		tac_f32x8 c1 = tac_f32x8_add(row(m->R1, i, c), tac_f32x8_splat(m->t1[i]));
		way[i] = tac_f32x8_mul(tac_f32x8_sub(c1, c0), half);
		tac_f32x8 center = tac_f32x8_mul(tac_f32x8_add(c0, c1), half);
		tac_f32x8 size =
			tac_f32x8_add(tac_f32x8_add(row(m->spread, i, h), tac_f32x8_abs(way[i])), bend);
		tac_f32x8_store(out->center[i], center);
		tac_f32x8_store(out->half[i], size);
		tac_f32x8 apart = tac_f32x8_abs(tac_f32x8_sub(center, tac_f32x8_splat(e->b_center[i])));
		hit = tac_m32x8_and(
			hit, tac_f32x8_le(apart, tac_f32x8_add(size, tac_f32x8_splat(e->b_half[i] + reach))));
	}
	if (tac_m32x8_movemask(hit) == 0)
		return 0;
	for (int i = 0; i < 3; i++) {
		tac_f32x8 own_way = column(m->R0, i, way), center = tac_f32x8_add(c[i], own_way);
		tac_f32x8 size =
			tac_f32x8_add(tac_f32x8_add(row(m->turned, i, h), tac_f32x8_abs(own_way)), bend);
		tac_f32x8_store(out->own_center[i], center);
		tac_f32x8_store(out->own_half[i], size);
		float b = 0, room = reach;
		for (int k = 0; k < 3; k++) {
			b += m->R0[k][i] * (e->b_center[k] - m->t0[k]);
			room += m->tilt[k][i] * e->b_half[k];
		}
		tac_f32x8 apart = tac_f32x8_abs(tac_f32x8_sub(center, tac_f32x8_splat(b)));
		hit = tac_m32x8_and(hit, tac_f32x8_le(apart, tac_f32x8_add(size, tac_f32x8_splat(room))));
	}
	return (unsigned)tac_m32x8_movemask(hit);
}

static bool visit_leaves(const tac_ccd_moving *leaf, const entry *e, const tac_ccd_body *fixed,
			 const double *reach, tac_ccd_visit visit, void *user)
{
	for (int32_t j = e->b; j < e->b + e->b_count; j++) {
		tac_dvec3 v[3];
		tac_ccd_triangle_load(&fixed->triangles[j], v);
		tac_ccd_box box = tac_ccd_box_of(v);
		for (int32_t i = 0; i < e->a_count; i++) {
			if (tac_ccd_box_meets_box(&leaf[i].box, &box, *reach) &&
			    !visit(user, &leaf[i], &fixed->triangles[j], v))
				return false;
		}
	}
	return true;
}

static float sum(const float v[3])
{
	return v[0] + v[1] + v[2];
}

void TAC_SIMD_NAME(tac_ccd_pairs_kernel)(const tac_ccd_body *moving, const tac_ccd_body *fixed,
					 const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
					 void *user)
{
	motion m = motion_make(sweep);
	double size = moving->radius + fixed->radius + tac_dvec3_length(sweep->start.t) +
		      tac_dvec3_length(sweep->end.t) + tac_dvec3_length(tac_dvec3_from_vec3(fixed->center));
	double pad = ROUNDING * size;
	entry stack[STACK];
	int top = 1;
	stack[0] = (entry){0};
	for (int i = 0; i < 3; i++) {
		stack[0].b_center[i] = tac_vec3_get(fixed->center, i);
		stack[0].b_half[i] = tac_vec3_get(fixed->half, i);
		stack[0].s.own_half[i] = 1e30f; // not known, not needed: it is opened first
	}
	// The swept triangles of the moving leaf that was met last: its visits follow each other.
	tac_ccd_moving leaf[TAC_CCD_LEAF];
	int32_t leaf_first = -1;
	while (top > 0) {
		entry e = stack[--top];
		float near = (float)(*reach + pad);
		if (e.a_count && e.b_count) {
			for (int32_t i = 0; i < e.a_count && leaf_first != e.a; i++)
				leaf[i] = tac_ccd_sweep_triangle(sweep, &moving->triangles[e.a + i]);
			leaf_first = e.a;
			if (!visit_leaves(leaf, &e, fixed, reach, visit, user))
				return;
		} else if (e.b_count || (!e.a_count && OPEN_MOVING * sum(e.s.own_half) > sum(e.b_half))) {
			const tac_ccd_node *a = &moving->nodes[e.a];
			swept8 s;
			unsigned hits = sweep_children(&m, a, &e, near, &s);
			for (int k = 0; k < TAC_CCD_WIDTH; k++) {
				if (!(hits >> k & 1))
					continue;
				entry *next = &stack[top++];
				*next = e;
				next->a = a->child[k];
				next->a_count = a->count[k];
				for (int i = 0; i < 3; i++) {
					next->s.center[i] = s.center[i][k];
					next->s.half[i] = s.half[i][k];
					next->s.own_center[i] = s.own_center[i][k];
					next->s.own_half[i] = s.own_half[i][k];
				}
			}
		} else {
			const tac_ccd_node *b = &fixed->nodes[e.b];
			unsigned hits = meet_children(&m, &e.s, b, near);
			for (int k = 0; k < TAC_CCD_WIDTH; k++) {
				if (!(hits >> k & 1))
					continue;
				entry *next = &stack[top++];
				*next = e;
				next->b = b->child[k];
				next->b_count = b->count[k];
				for (int i = 0; i < 3; i++) {
					next->b_center[i] = b->center[i][k];
					next->b_half[i] = b->half[i][k];
				}
			}
		}
	}
}
