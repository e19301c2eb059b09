// The descent of collision/ccd_pairs.h, compiled for each instruction set.
#include "base/wide.h"
#include "collision/ccd_pairs.h"

#include <stddef.h>

// Each pair that is opened leaves at most seven others waiting, and both trees may be opened to the bottom.
#define STACK (2 * 7 * TAC_CCD_LEVELS + 1)
// Part of the coordinates by which boxes grow: some ten roundings of float.
#define ROUNDING 1e-6
// What rounding may take from 1 - cos^2.
#define SINE_ROUNDING 1e-6f

// A moving node is opened unless it is this many times smaller than the fixed one: moving leaves that are
// reached first are swept once for many fixed ones.
#define OPEN_MOVING 2

// The sweep in float.
typedef struct motion {
	float R0[3][3], R1[3][3], t0[3], t1[3];
	float spread[3][3];
	float bend, turn;
} motion;

// What a pair of nodes is judged by, in the fixed frame. A moving node's box is that of its way; its slab is
// that at the start, and `thick` holds how far rotation can carry a point out of it; `way` is half the path
// of the centre.
typedef struct bounds {
	float center[3], half[3], way[3];
	float normal[3], offset, thick, wide;
} bounds;

#define BOUNDS ((int)(sizeof(bounds) / sizeof(float)))

// The same, lane by lane. The members follow each other as in `bounds`.
typedef struct bounds8 {
	tac_f32x8 center[3], half[3], way[3];
	tac_f32x8 normal[3], offset, thick, wide;
} bounds8;

typedef struct entry {
	int32_t a, b; // nodes; ~t: a triangle
	bounds moving, fixed;
} entry;

static motion motion_make(const tac_ccd_sweep *s)
{
	motion m;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			m.R0[i][j] = (float)s->start.R.m[i][j];
			m.R1[i][j] = (float)s->end.R.m[i][j];
			m.spread[i][j] = (float)s->spread.m[i][j];
		}
		m.t0[i] = (float)tac_dvec3_get(s->start.t, i);
		m.t1[i] = (float)tac_dvec3_get(s->end.t, i);
	}
	m.bend = (float)s->bend;
	m.turn = (float)s->turn;
	return m;
}

// The magnitude of all coordinates together.
static double sweep_size(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep)
{
	return moving->radius + fixed->radius + tac_dvec3_length(sweep->start.t) +
	       tac_dvec3_length(sweep->end.t);
}

static inline tac_f32x8 mad(tac_f32x8 sum, tac_f32x8 a, tac_f32x8 b)
{
	return tac_f32x8_add(sum, tac_f32x8_mul(a, b));
}

static inline tac_f32x8 dot(const tac_f32x8 a[3], const tac_f32x8 b[3])
{
	return mad(mad(tac_f32x8_mul(a[0], b[0]), a[1], b[1]), a[2], b[2]);
}

// Component i of m x.
static inline tac_f32x8 row(const float m[3][3], int i, const tac_f32x8 x[3])
{
	tac_f32x8 p = tac_f32x8_mul(tac_f32x8_splat(m[i][0]), x[0]);
	return mad(mad(p, tac_f32x8_splat(m[i][1]), x[1]), tac_f32x8_splat(m[i][2]), x[2]);
}

static inline bounds8 splat(const bounds *b)
{
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.center[i] = tac_f32x8_splat(b->center[i]);
		out.half[i] = tac_f32x8_splat(b->half[i]);
		out.way[i] = tac_f32x8_splat(b->way[i]);
		out.normal[i] = tac_f32x8_splat(b->normal[i]);
	}
	out.offset = tac_f32x8_splat(b->offset);
	out.thick = tac_f32x8_splat(b->thick);
	out.wide = tac_f32x8_splat(b->wide);
	return out;
}

static inline bounds8 load_fixed(const tac_ccd_node *n)
{
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.center[i] = tac_f32x8_load(n->center[i]);
		out.half[i] = tac_f32x8_load(n->half[i]);
		out.normal[i] = tac_f32x8_load(n->normal[i]);
		out.way[i] = tac_f32x8_splat(0);
	}
	out.offset = tac_f32x8_load(n->offset);
	out.thick = tac_f32x8_load(n->thick);
	out.wide = tac_f32x8_load(n->wide);
	return out;
}

static inline bounds8 load_moving(const tac_ccd_node *n, const motion *m)
{
	bounds8 out;
	tac_f32x8 c[3], h[3], normal[3];
	tac_f32x8 bend = tac_f32x8_splat(m->bend), half = tac_f32x8_splat(0.5f);
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(n->center[i]);
		h[i] = tac_f32x8_load(n->half[i]);
		normal[i] = tac_f32x8_load(n->normal[i]);
	}
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c0 = tac_f32x8_add(row(m->R0, i, c), tac_f32x8_splat(m->t0[i]));
		tac_f32x8 c1 = tac_f32x8_add(row(m->R1, i, c), tac_f32x8_splat(m->t1[i]));
		out.way[i] = tac_f32x8_mul(tac_f32x8_sub(c1, c0), half);
		out.center[i] = tac_f32x8_mul(tac_f32x8_add(c0, c1), half);
		out.half[i] =
			tac_f32x8_add(tac_f32x8_add(row(m->spread, i, h), tac_f32x8_abs(out.way[i])), bend);
		out.normal[i] = row(m->R0, i, normal);
	}
	out.offset = tac_f32x8_load(n->offset);
	out.thick = tac_f32x8_add(mad(bend, tac_f32x8_splat(m->turn), tac_f32x8_load(n->ball)),
				  tac_f32x8_load(n->thick));
	out.wide = tac_f32x8_load(n->wide);
	return out;
}

// Lane k of a moving node.
static inline void extract(float lanes[BOUNDS][8], int k, bounds *out)
{
	float *to = (float *)out;
	for (int i = 0; i < BOUNDS; i++)
		to[i] = lanes[i][k];
}

// Lane k of a fixed one.
static inline void extract_fixed(const tac_ccd_node *n, int k, bounds *out)
{
	for (int i = 0; i < 3; i++) {
		out->center[i] = n->center[i][k];
		out->half[i] = n->half[i][k];
		out->normal[i] = n->normal[i][k];
	}
	out->offset = n->offset[k];
	out->thick = n->thick[k];
	out->wide = n->wide[k];
}

// In which lanes the moving a comes within reach of the fixed b: by the boxes, and along the normals of both
// slabs.
static inline unsigned meet(const bounds8 *a, const bounds8 *b, float reach)
{
	tac_f32x8 room = tac_f32x8_splat(reach), apart[3];
	tac_m32x8 hit = tac_m32x8_from_bits(0xff);
	for (int i = 0; i < 3; i++) {
		apart[i] = tac_f32x8_sub(a->center[i], b->center[i]);
		hit = tac_m32x8_and(hit,
				    tac_f32x8_le(tac_f32x8_abs(apart[i]),
						 tac_f32x8_add(tac_f32x8_add(a->half[i], b->half[i]), room)));
	}
	if (tac_m32x8_movemask(hit) == 0)
		return 0;
	tac_f32x8 cosine = dot(a->normal, b->normal);
	tac_f32x8 sine = tac_f32x8_sqrt(
		tac_f32x8_add(tac_f32x8_max(tac_f32x8_sub(tac_f32x8_splat(1), tac_f32x8_mul(cosine, cosine)),
					    tac_f32x8_splat(0)),
			      tac_f32x8_splat(SINE_ROUNDING)));
	tac_f32x8 tilt = tac_f32x8_abs(cosine);
	tac_f32x8 on_b =
		tac_f32x8_abs(tac_f32x8_sub(mad(dot(b->normal, apart), cosine, a->offset), b->offset));
	tac_f32x8 on_a = tac_f32x8_abs(tac_f32x8_sub(tac_f32x8_add(dot(a->normal, apart), a->offset),
						     tac_f32x8_mul(cosine, b->offset)));
	tac_f32x8 room_b =
		mad(mad(tac_f32x8_add(b->thick, tac_f32x8_abs(dot(b->normal, a->way))), tilt, a->thick), sine,
		    a->wide);
	tac_f32x8 room_a =
		mad(mad(tac_f32x8_add(a->thick, tac_f32x8_abs(dot(a->normal, a->way))), tilt, b->thick), sine,
		    b->wide);
	hit = tac_m32x8_and(hit, tac_f32x8_le(on_b, tac_f32x8_add(room_b, room)));
	hit = tac_m32x8_and(hit, tac_f32x8_le(on_a, tac_f32x8_add(room_a, room)));
	return (unsigned)tac_m32x8_movemask(hit);
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
	double pad = ROUNDING * sweep_size(moving, fixed, sweep);
	entry stack[STACK];
	int top = 1;
	stack[0] = (entry){0};
	for (int i = 0; i < 3; i++) {
		stack[0].fixed.center[i] = tac_vec3_get(fixed->center, i);
		stack[0].fixed.half[i] = (float)fixed->ball;
		stack[0].moving.half[i] = 1e30f; // not known, not needed: it is opened first
	}
	// No normal: along it everything is everywhere.
	stack[0].fixed.thick = stack[0].fixed.wide = 1e30f;
	while (top > 0) {
		entry e = stack[--top];
		float near = (float)(*reach + pad);
		if (e.b < 0 || (e.a >= 0 && OPEN_MOVING * sum(e.moving.half) > sum(e.fixed.half))) {
			const tac_ccd_node *n = &moving->nodes[e.a];
			bounds8 a = load_moving(n, &m), b = splat(&e.fixed);
			unsigned hits = meet(&a, &b, near);
			if (!hits)
				continue;
			_Alignas(32) float lanes[BOUNDS][8];
			const tac_f32x8 *from = (const tac_f32x8 *)&a;
			for (int i = 0; i < BOUNDS; i++)
				tac_f32x8_store(lanes[i], from[i]);
			for (; hits; hits &= hits - 1) {
				int k = __builtin_ctz(hits);
				int32_t child = n->child[k];
				if (e.b < 0 && child < 0) {
					if (!visit(user, ~child, ~e.b))
						return;
					continue;
				}
				entry *next = &stack[top++];
				next->a = child;
				next->b = e.b;
				next->fixed = e.fixed;
				extract(lanes, k, &next->moving);
			}
		} else {
			const tac_ccd_node *n = &fixed->nodes[e.b];
			bounds8 a = splat(&e.moving), b = load_fixed(n);
			for (unsigned hits = meet(&a, &b, near); hits; hits &= hits - 1) {
				int k = __builtin_ctz(hits);
				int32_t child = n->child[k];
				if (e.a < 0 && child < 0) {
					if (!visit(user, ~e.a, ~child))
						return;
					continue;
				}
				entry *next = &stack[top++];
				next->a = e.a;
				next->b = child;
				next->moving = e.moving;
				extract_fixed(n, k, &next->fixed);
			}
		}
	}
}

typedef struct triangle8 {
	tac_f32x8 v[3][3], normal[3];
} triangle8;

static inline triangle8 gather_triangles(const tac_ccd_triangle *triangles, const int32_t index[8])
{
	// Vertices and unit normal follow each other: twelve floats, four at a time.
	_Static_assert(offsetof(tac_ccd_triangle, unit) == 9 * sizeof(float), "unit follows the vertices");
	tac_f32x8 e[12];
	for (int k = 0; k < 12; k += 4) {
		const float *from[8];
		for (int i = 0; i < 8; i++)
			from[i] = (const float *)&triangles[index[i]] + k;
		tac_f32x8_gather4(from, &e[k]);
	}
	triangle8 t;
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 3; i++)
			t.v[k][i] = e[3 * k + i];
		t.normal[k] = e[9 + k];
	}
	return t;
}

static inline triangle8 place(const triangle8 *t, const float R[3][3], const float x[3])
{
	triangle8 out;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			out.v[k][i] = tac_f32x8_add(row(R, i, t->v[k]), tac_f32x8_splat(x[i]));
		out.normal[i] = row(R, i, t->normal);
	}
	return out;
}

// The least and the greatest height of the vertices of a over the plane of b.
static inline void heights(const triangle8 *a, const triangle8 *b, tac_f32x8 *lo, tac_f32x8 *hi)
{
	for (int k = 0; k < 3; k++) {
		tac_f32x8 from[3];
		for (int i = 0; i < 3; i++)
			from[i] = tac_f32x8_sub(a->v[k][i], b->v[0][i]);
		tac_f32x8 h = dot(b->normal, from);
		*lo = tac_f32x8_min(*lo, h);
		*hi = tac_f32x8_max(*hi, h);
	}
}

int32_t TAC_SIMD_NAME(tac_ccd_filter_kernel)(const tac_ccd_body *moving, const tac_ccd_body *fixed,
					     const tac_ccd_sweep *sweep, double by_fixed, double by_moving,
					     tac_ccd_near *pairs, int32_t count)
{
	const motion m = motion_make(sweep);
	float pad = (float)(ROUNDING * sweep_size(moving, fixed, sweep));
	tac_f32x8 need_b = tac_f32x8_splat((float)by_fixed + pad),
		  need_a = tac_f32x8_splat((float)by_moving + pad);
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += 8) {
		int32_t i[8], j[8];
		int lanes = count - from < 8 ? count - from : 8;
		for (int k = 0; k < 8; k++) {
			i[k] = pairs[from + (k < lanes ? k : 0)].moving;
			j[k] = pairs[from + (k < lanes ? k : 0)].fixed;
		}
		triangle8 own = gather_triangles(moving->triangles, i),
			  b = gather_triangles(fixed->triangles, j);
		tac_f32x8 far = tac_f32x8_splat(1e30f), lo_b = far, hi_b = tac_f32x8_neg(far), lo_a = far,
			  hi_a = tac_f32x8_neg(far);
		triangle8 a = place(&own, m.R0, m.t0);
		heights(&a, &b, &lo_b, &hi_b);
		heights(&b, &a, &lo_a, &hi_a);
		if (!sweep->still) {
			a = place(&own, m.R1, m.t1);
			heights(&a, &b, &lo_b, &hi_b);
			heights(&b, &a, &lo_a, &hi_a);
		}
		tac_f32x8 clear_b = tac_f32x8_max(lo_b, tac_f32x8_neg(hi_b)),
			  clear_a = tac_f32x8_max(lo_a, tac_f32x8_neg(hi_a));
		unsigned parted = tac_m32x8_movemask(
			tac_m32x8_or(tac_f32x8_lt(need_b, clear_b), tac_f32x8_lt(need_a, clear_a)));
		_Alignas(32) float clears[8];
		tac_f32x8_store(clears, tac_f32x8_sub(tac_f32x8_max(clear_a, clear_b), tac_f32x8_splat(pad)));
		for (int k = 0; k < lanes; k++) {
			if (!(parted >> k & 1))
				pairs[kept++] = (tac_ccd_near){i[k], j[k], clears[k]};
		}
	}
	return kept;
}
