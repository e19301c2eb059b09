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

// A pair of nodes that meet. The fixed one's bounds are the lane of its parent, where they are read; the
// moving one's own are that of its parent.
typedef struct entry {
	int32_t a, b; // nodes; ~t: a triangle
	int32_t lane, own_lane;
	const tac_ccd_node *parent, *own;
	bounds moving;
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

static inline bounds8 load_moving(const tac_ccd_node *n, const motion *m, bool still)
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
		out.normal[i] = row(m->R0, i, normal);
		if (still) {
			out.way[i] = tac_f32x8_splat(0);
			out.center[i] = c0;
			out.half[i] = row(m->spread, i, h);
			continue;
		}
		tac_f32x8 c1 = tac_f32x8_add(row(m->R1, i, c), tac_f32x8_splat(m->t1[i]));
		out.way[i] = tac_f32x8_mul(tac_f32x8_sub(c1, c0), half);
		out.center[i] = tac_f32x8_mul(tac_f32x8_add(c0, c1), half);
		out.half[i] =
			tac_f32x8_add(tac_f32x8_add(row(m->spread, i, h), tac_f32x8_abs(out.way[i])), bend);
	}
	out.offset = tac_f32x8_load(n->offset);
	out.thick = tac_f32x8_load(n->thick);
	if (!still)
		out.thick = tac_f32x8_add(mad(bend, tac_f32x8_splat(m->turn), tac_f32x8_load(n->ball)),
					  out.thick);
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

// Lane k of a fixed node in every lane.
static inline bounds8 splat_fixed(const tac_ccd_node *n, int k)
{
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.center[i] = tac_f32x8_splat(n->center[i][k]);
		out.half[i] = tac_f32x8_splat(n->half[i][k]);
		out.normal[i] = tac_f32x8_splat(n->normal[i][k]);
		out.way[i] = tac_f32x8_splat(0);
	}
	out.offset = tac_f32x8_splat(n->offset[k]);
	out.thick = tac_f32x8_splat(n->thick[k]);
	out.wide = tac_f32x8_splat(n->wide[k]);
	return out;
}

// How far the moving a and the fixed b are apart at least: by the boxes, and along the normals of both slabs.
static inline tac_f32x8 gaps(const bounds8 *a, const bounds8 *b, bool still)
{
	tac_f32x8 apart[3], gap[3];
	for (int i = 0; i < 3; i++) {
		apart[i] = tac_f32x8_sub(a->center[i], b->center[i]);
		gap[i] = tac_f32x8_sub(tac_f32x8_abs(apart[i]), tac_f32x8_add(a->half[i], b->half[i]));
	}
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
	tac_f32x8 thick_b = b->thick, thick_a = a->thick;
	if (!still) {
		thick_b = tac_f32x8_add(thick_b, tac_f32x8_abs(dot(b->normal, a->way)));
		thick_a = tac_f32x8_add(thick_a, tac_f32x8_abs(dot(a->normal, a->way)));
	}
	tac_f32x8 room_b = mad(mad(thick_b, tilt, a->thick), sine, a->wide);
	tac_f32x8 room_a = mad(mad(thick_a, tilt, b->thick), sine, b->wide);
	tac_f32x8 slabs = tac_f32x8_max(tac_f32x8_sub(on_b, room_b), tac_f32x8_sub(on_a, room_a));
	return tac_f32x8_max(slabs, tac_f32x8_max(gap[0], tac_f32x8_max(gap[1], gap[2])));
}

static inline unsigned within(tac_f32x8 gap, float reach)
{
	return (unsigned)tac_m32x8_movemask(tac_f32x8_le(gap, tac_f32x8_splat(reach)));
}

static float sum(const float v[3])
{
	return v[0] + v[1] + v[2];
}

// The children that are triangles, and lanes without a child.
static inline unsigned leaves(const tac_ccd_node *n)
{
	return (unsigned)tac_m32x8_movemask(tac_i32x8_lt(tac_i32x8_load(n->child), tac_i32x8_splat(0)));
}

// What a descent is about, and what it has come to.
typedef struct descent {
	float near, vicinity;   // their reaches, m
	tac_f32x8 lo[3], hi[3]; // of the vicinity, in the moving frame
	tac_ccd_visit visit;
	void *user;
	int64_t opened;
	bool ended; // by the visitor
} descent;

// Children of a moving node are in the vicinity.
static inline void add_lanes(descent *d, const tac_ccd_node *n, unsigned lanes)
{
	const tac_m32x8 mask = tac_m32x8_from_bits(lanes);
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c = tac_f32x8_load(n->center[i]), h = tac_f32x8_load(n->half[i]);
		d->lo[i] = tac_f32x8_select(mask, tac_f32x8_min(d->lo[i], tac_f32x8_sub(c, h)), d->lo[i]);
		d->hi[i] = tac_f32x8_select(mask, tac_f32x8_max(d->hi[i], tac_f32x8_add(c, h)), d->hi[i]);
	}
}

// The triangles of `child` that are hit, each with the other one.
static inline void visit_lanes(descent *d, unsigned hits, const int32_t *child, int32_t other, bool fixed)
{
	for (; hits && !d->ended; hits &= hits - 1) {
		int32_t t = ~child[__builtin_ctz(hits)];
		d->ended = !(fixed ? d->visit(d->user, ~other, t) : d->visit(d->user, t, ~other));
	}
}

static inline __attribute__((always_inline)) bool
descend(const tac_ccd_body *moving, const tac_ccd_body *fixed, const tac_ccd_sweep *sweep,
	const double *reach, tac_ccd_visit visit, void *user, tac_ccd_context *context,
	tac_ccd_vicinity *vicinity, bool still)
{
	motion m = motion_make(sweep);
	double pad = ROUNDING * sweep_size(moving, fixed, sweep);
	entry stack[STACK];
	int top = 1;
	// The fixed root as the only child of a node. It has no normal: along that everything is everywhere.
	tac_ccd_node above = {0};
	stack[0] = (entry){.parent = &above};
	for (int i = 0; i < 3; i++) {
		above.center[i][0] = tac_vec3_get(fixed->center, i);
		above.half[i][0] = (float)fixed->ball;
		stack[0].moving.half[i] = 1e30f; // not known, not needed: it is opened first
	}
	above.thick[0] = above.wide[0] = 1e30f;
	descent d = {.visit = visit, .user = user};
	for (int i = 0; i < 3; i++) {
		d.lo[i] = tac_f32x8_splat(HUGE_VALF);
		d.hi[i] = tac_f32x8_splat(-HUGE_VALF);
	}
	const int64_t most = tac_ccd_work_left(context) / TAC_CCD_WORK_NODES;
	// What is not opened for want of work counts: so the work is beyond its limit when pairs are missing.
	while (top > 0 && !d.ended && d.opened++ < most) {
		// Not copied: its floats were just written one by one, and read so they are still in the
		// store buffer. The first that is pushed takes its place, but has the same `moving` where
		// that is read.
		const entry *e = &stack[--top];
		const int32_t in_a = e->a, in_b = e->b, lane = e->lane, own_lane = e->own_lane;
		const tac_ccd_node *p = e->parent, *own = e->own;
		d.near = (float)(*reach + pad);
		d.vicinity = vicinity ? (float)(vicinity->reach + pad) : d.near;
		float size = p->half[0][lane] + p->half[1][lane] + p->half[2][lane];
		// The larger one is opened. Its triangles are held against those of the other one at once, if
		// it has no others.
		if (in_b < 0 || (in_a >= 0 && sum(e->moving.half) > size)) {
			const tac_ccd_node *n = &moving->nodes[in_a];
			bounds8 a = load_moving(n, &m, still), b = splat_fixed(p, lane);
			tac_f32x8 gap = gaps(&a, &b, still);
			unsigned hits = within(gap, d.near), last = leaves(n);
			unsigned here = within(gap, d.vicinity) & (in_b < 0 ? last | ~hits : ~hits);
			if (in_b < 0) {
				visit_lanes(&d, hits & last, n->child, in_b, false);
				hits &= ~last;
			}
			if (still && here)
				add_lanes(&d, n, here);
			if (!hits)
				continue;
			_Alignas(32) float lanes[BOUNDS][8];
			const tac_f32x8 *from = (const tac_f32x8 *)&a;
			for (int i = 0; i < BOUNDS; i++)
				tac_f32x8_store(lanes[i], from[i]);
			const tac_ccd_node *other = in_b >= 0 ? &fixed->nodes[in_b] : p;
			const bool at_once = in_b >= 0 && leaves(other) == 0xff;
			for (; hits; hits &= hits - 1) {
				int k = __builtin_ctz(hits);
				if (at_once && last >> k & 1) {
					tac_f32x8 *to = (tac_f32x8 *)&a;
					for (int i = 0; i < BOUNDS; i++)
						to[i] = tac_f32x8_splat(lanes[i][k]);
					b = load_fixed(other);
					gap = gaps(&a, &b, still);
					d.opened++;
					if (still && within(gap, d.vicinity))
						add_lanes(&d, n, 1u << k);
					visit_lanes(&d, within(gap, d.near), other->child, n->child[k], true);
					continue;
				}
				entry *next = &stack[top++];
				next->a = n->child[k];
				next->b = in_b;
				next->lane = lane;
				next->own_lane = k;
				next->parent = p;
				next->own = n;
				extract(lanes, k, &next->moving);
			}
		} else {
			const tac_ccd_node *n = &fixed->nodes[in_b];
			bounds8 a = splat(&e->moving), b = load_fixed(n);
			tac_f32x8 gap = gaps(&a, &b, still);
			unsigned hits = within(gap, d.near), last = leaves(n);
			if (still && within(gap, d.vicinity) & (in_a < 0 ? last | ~hits : ~hits))
				add_lanes(&d, own, 1u << own_lane);
			if (in_a < 0) {
				visit_lanes(&d, hits & last, n->child, in_a, true);
				hits &= ~last;
			}
			if (!hits)
				continue;
			const tac_ccd_node *other = in_a >= 0 ? &moving->nodes[in_a] : own;
			const bool at_once = in_a >= 0 && leaves(other) == 0xff;
			if (at_once)
				a = load_moving(other, &m, still);
			for (; hits; hits &= hits - 1) {
				int k = __builtin_ctz(hits);
				if (at_once && last >> k & 1) {
					b = splat_fixed(n, k);
					gap = gaps(&a, &b, still);
					d.opened++;
					if (still)
						add_lanes(&d, other, within(gap, d.vicinity));
					visit_lanes(&d, within(gap, d.near), other->child, n->child[k],
						    false);
					continue;
				}
				entry *next = &stack[top++];
				*next = (entry){in_a, n->child[k], k, own_lane, n, own, e->moving};
			}
		}
	}
	tac_ccd_work_add(context, TAC_CCD_WORK_NODES * d.opened);
	for (int i = 0; i < 3 && vicinity; i++) {
		vicinity->lo[i] = tac_f32x8_hmin(d.lo[i]);
		vicinity->hi[i] = tac_f32x8_hmax(d.hi[i]);
	}
	return top == 0 && !d.ended;
}

bool TAC_SIMD_NAME(tac_ccd_pairs_kernel)(const tac_ccd_body *moving, const tac_ccd_body *fixed,
					 const tac_ccd_sweep *sweep, const double *reach, tac_ccd_visit visit,
					 void *user, tac_ccd_context *context, tac_ccd_vicinity *vicinity)
{
	return sweep->still ? descend(moving, fixed, sweep, reach, visit, user, context, vicinity, true)
			    : descend(moving, fixed, sweep, reach, visit, user, context, NULL, false);
}

// The triangles of the next eight pairs; where there are less, the first one again. Answers how many there
// are.
static inline int take_pairs(const tac_ccd_near *pairs, int32_t left, int32_t moving[8], int32_t fixed[8])
{
	int lanes = left < 8 ? left : 8;
	for (int k = 0; k < 8; k++) {
		const tac_ccd_near *p = &pairs[k < lanes ? k : 0];
		moving[k] = p->moving;
		fixed[k] = p->fixed;
	}
	return lanes;
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
		int lanes = take_pairs(&pairs[from], count - from, i, j);
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

// --- features ---

// Bound of a product's rounding, as a part of the product of its factors' lengths.
#define PRODUCT_ROUNDING 4e-6f

static inline void sub3(const tac_f32x8 a[3], const tac_f32x8 b[3], tac_f32x8 out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = tac_f32x8_sub(a[i], b[i]);
}

static inline void cross3(const tac_f32x8 a[3], const tac_f32x8 b[3], tac_f32x8 out[3])
{
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		out[i] = tac_f32x8_sub(tac_f32x8_mul(a[j], b[k]), tac_f32x8_mul(a[k], b[j]));
	}
}

static inline tac_f32x8 larger3(tac_f32x8 a, tac_f32x8 b, tac_f32x8 c)
{
	return tac_f32x8_max(a, tac_f32x8_max(b, c));
}

static inline tac_f32x8 smaller3(tac_f32x8 a, tac_f32x8 b, tac_f32x8 c)
{
	return tac_f32x8_min(a, tac_f32x8_min(b, c));
}

// The edges of triangles, with their lengths.
typedef struct edges8 {
	tac_f32x8 along[3][3], length[3];
} edges8;

static inline edges8 edges_of(const triangle8 *t)
{
	edges8 e;
	for (int k = 0; k < 3; k++) {
		sub3(t->v[(k + 1) % 3], t->v[k], e.along[k]);
		e.length[k] = tac_f32x8_sqrt(dot(e.along[k], e.along[k]));
	}
	return e;
}

// What one triangle says of the other: heights of the vertices over its plane, distances from it along the
// plane, and a lower bound of the distance of both triangles, along `away`, which is as long as that. All but
// the heights may be too small, never too large, but for rounding.
typedef struct over8 {
	tac_f32x8 height[3], beside[3], clears, away[3];
} over8;

static inline over8 measure_over(const triangle8 *a, const triangle8 *b, const edges8 *edges)
{
	const tac_f32x8 zero = tac_f32x8_splat(0);
	over8 o;
	for (int k = 0; k < 3; k++) {
		tac_f32x8 from[3];
		sub3(a->v[k], b->v[0], from);
		o.height[k] = dot(b->normal, from);
		o.beside[k] = zero;
	}
	tac_f32x8 beside = zero, aside[3] = {zero, zero, zero};
	for (int j = 0; j < 3; j++) {
		// Outwards from edge j in the plane. Whatever rounding makes of it, it is a direction, so
		// what b reaches along it is subtracted; where it is rounding alone, it says nothing.
		tac_f32x8 out[3], last[3];
		cross3(edges->along[j], b->normal, out);
		tac_f32x8 length = tac_f32x8_sqrt(dot(out, out));
		tac_m32x8 sound =
			tac_f32x8_lt(tac_f32x8_mul(edges->length[j], tac_f32x8_splat(0.5f)), length);
		tac_f32x8 unit = tac_f32x8_select(sound, tac_f32x8_div(tac_f32x8_splat(1), length), zero);
		sub3(b->v[(j + 2) % 3], b->v[j], last);
		tac_f32x8 reach = larger3(zero, dot(out, edges->along[j]), dot(out, last)), away[3];
		for (int k = 0; k < 3; k++) {
			tac_f32x8 from[3];
			sub3(a->v[k], b->v[j], from);
			away[k] = tac_f32x8_mul(tac_f32x8_sub(dot(out, from), reach), unit);
			o.beside[k] = tac_f32x8_max(o.beside[k], away[k]);
		}
		tac_f32x8 least = smaller3(away[0], away[1], away[2]);
		tac_m32x8 more = tac_f32x8_lt(beside, least);
		beside = tac_f32x8_select(more, least, beside);
		for (int i = 0; i < 3; i++)
			aside[i] = tac_f32x8_select(more, tac_f32x8_mul(out[i], unit), aside[i]);
	}
	tac_f32x8 lo = smaller3(o.height[0], o.height[1], o.height[2]),
		  hi = larger3(o.height[0], o.height[1], o.height[2]);
	tac_f32x8 above = larger3(zero, lo, tac_f32x8_neg(hi));
	o.clears = tac_f32x8_sqrt(mad(tac_f32x8_mul(above, above), beside, beside));
	tac_f32x8 up = tac_f32x8_select(tac_f32x8_lt(hi, zero), tac_f32x8_neg(above), above);
	for (int i = 0; i < 3; i++)
		o.away[i] = mad(tac_f32x8_mul(up, b->normal[i]), beside, aside[i]);
	return o;
}

// Whether vertex k may come within the margin of the other triangle.
static inline tac_m32x8 vertex_near(const over8 *o, int k, tac_f32x8 margin)
{
	return tac_m32x8_and(tac_f32x8_le(tac_f32x8_abs(o->height[k]), margin),
			     tac_f32x8_le(o->beside[k], margin));
}

// Whether edge k has a point within the margin of the other triangle's plane.
static inline tac_m32x8 edge_near(const over8 *o, int k, tac_f32x8 margin)
{
	tac_f32x8 a = o->height[k], b = o->height[(k + 1) % 3];
	return tac_m32x8_and(tac_f32x8_le(tac_f32x8_min(a, b), margin),
			     tac_f32x8_le(tac_f32x8_neg(margin), tac_f32x8_max(a, b)));
}

// Whether the edges u and w, from points that are r apart, may come within the margin between their ends.
// `slack` is the rounding of r, `most` is no less than its length.
static inline tac_m32x8 edges_near(const tac_f32x8 u[3], tac_f32x8 u_length, const tac_f32x8 w[3],
				   tac_f32x8 w_length, const tac_f32x8 r[3], tac_f32x8 most, tac_f32x8 margin,
				   tac_f32x8 slack)
{
	tac_f32x8 n[3], across[3];
	cross3(u, w, n);
	tac_f32x8 nn = dot(n, n), n_length = tac_f32x8_sqrt(nn);
	// The rounding of a product of r and n, and, times the length of an edge, of its parameter times nn.
	tac_f32x8 product = tac_f32x8_mul(tac_f32x8_mul(u_length, w_length), most);
	tac_f32x8 error = mad(tac_f32x8_mul(slack, n_length), product, tac_f32x8_splat(PRODUCT_ROUNDING));
	tac_m32x8 near = tac_f32x8_le(tac_f32x8_abs(dot(r, n)), mad(error, margin, n_length));
	cross3(w, r, across);
	tac_f32x8 at = dot(across, n), room = tac_f32x8_mul(error, w_length);
	near = tac_m32x8_and(near, tac_f32x8_le(tac_f32x8_neg(room), at));
	near = tac_m32x8_and(near, tac_f32x8_le(at, tac_f32x8_add(nn, room)));
	cross3(u, r, across);
	at = dot(across, n);
	room = tac_f32x8_mul(error, u_length);
	near = tac_m32x8_and(near, tac_f32x8_le(tac_f32x8_neg(room), at));
	return tac_m32x8_and(near, tac_f32x8_le(at, tac_f32x8_add(nn, room)));
}

// The features that two triangles stand for, of each other's.
static inline int32_t owned_features(const tac_ccd_triangle *a, const tac_ccd_triangle *b)
{
	int32_t edges = 0;
	for (int k = 0; k < 3; k++)
		edges |= (a->edges >> k & 1) * b->edges << 3 * k;
	return a->vertices | b->vertices << TAC_CCD_FEATURE_FIXED_VERTEX | edges << TAC_CCD_FEATURE_EDGES;
}

// Eight pairs of triangles at a pose, and what each says of the other.
typedef struct pair8 {
	triangle8 own, a, b; // a in its own frame, too
	edges8 edges_a, edges_b;
	over8 over_a, over_b; // the vertices of b over a, those of a over b
	tac_f32x8 clears;
} pair8;

static inline void view_pairs(const tac_ccd_triangle *moving, const int32_t i[8],
			      const tac_ccd_triangle *fixed, const int32_t j[8], const motion *m, pair8 *out)
{
	out->own = gather_triangles(moving, i);
	out->a = place(&out->own, m->R0, m->t0);
	out->b = gather_triangles(fixed, j);
	// Edges of a turned, not placed: their rounding is a part of their own length.
	out->edges_a = edges_of(&out->own);
	for (int k = 0; k < 3; k++) {
		tac_f32x8 along[3] = {out->edges_a.along[k][0], out->edges_a.along[k][1],
				      out->edges_a.along[k][2]};
		for (int n = 0; n < 3; n++)
			out->edges_a.along[k][n] = row(m->R0, n, along);
	}
	out->edges_b = edges_of(&out->b);
	out->over_b = measure_over(&out->a, &out->b, &out->edges_b);
	out->over_a = measure_over(&out->b, &out->a, &out->edges_a);
	out->clears = tac_f32x8_max(out->over_a.clears, out->over_b.clears);
}

// Of the owned features of eight pairs those that may be near.
static inline tac_i32x8 near_features(const pair8 *p, tac_i32x8 owned, tac_f32x8 near, tac_f32x8 slack)
{
	const tac_i32x8 none = tac_i32x8_splat(0);
	tac_m32x8 close = tac_m32x8_not(tac_f32x8_lt(near, p->clears));
	tac_i32x8 features = none;
	for (int k = 0; k < 3; k++) {
		tac_i32x8 a = tac_i32x8_splat(1 << k),
			  b = tac_i32x8_splat(1 << (TAC_CCD_FEATURE_FIXED_VERTEX + k));
		features =
			tac_i32x8_or(features, tac_i32x8_select(vertex_near(&p->over_b, k, near), a, none));
		features =
			tac_i32x8_or(features, tac_i32x8_select(vertex_near(&p->over_a, k, near), b, none));
	}
	tac_f32x8 r[3];
	sub3(p->a.v[0], p->b.v[0], r);
	tac_f32x8 most =
		tac_f32x8_add(tac_f32x8_sqrt(dot(r, r)),
			      tac_f32x8_add(tac_f32x8_add(p->edges_a.length[0], p->edges_a.length[2]),
					    tac_f32x8_add(p->edges_b.length[0], p->edges_b.length[2])));
	for (int k = 0; k < 3; k++) {
		tac_m32x8 near_a = tac_m32x8_and(close, edge_near(&p->over_b, k, near));
		for (int n = 0; n < 3; n++) {
			tac_i32x8 bit = tac_i32x8_splat(1 << (TAC_CCD_FEATURE_EDGES + 3 * k + n));
			tac_m32x8 both = tac_m32x8_and(near_a, edge_near(&p->over_a, n, near));
			both = tac_m32x8_and(both, tac_i32x8_eq(tac_i32x8_and(owned, bit), bit));
			if (!tac_m32x8_any(both))
				continue;
			sub3(p->a.v[k], p->b.v[n], r);
			both = tac_m32x8_and(both, edges_near(p->edges_a.along[k], p->edges_a.length[k],
							      p->edges_b.along[n], p->edges_b.length[n], r,
							      most, near, slack));
			features = tac_i32x8_or(features, tac_i32x8_select(both, bit, none));
		}
	}
	return tac_i32x8_select(close, tac_i32x8_and(features, owned), none);
}

void TAC_SIMD_NAME(tac_ccd_features_kernel)(const tac_ccd_body *moving, const tac_ccd_body *fixed,
					    const tac_ccd_pose *T, double margin, tac_ccd_near *pairs,
					    int32_t count, uint16_t *out_features)
{
	const tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	const motion m = motion_make(&still);
	const float pad = (float)(ROUNDING * sweep_size(moving, fixed, &still));
	const tac_f32x8 near = tac_f32x8_splat((float)margin + pad), slack = tac_f32x8_splat(2 * pad);
	for (int32_t from = 0; from < count; from += 8) {
		int32_t i[8], j[8];
		int lanes = take_pairs(&pairs[from], count - from, i, j);
		pair8 p;
		view_pairs(moving->triangles, i, fixed->triangles, j, &m, &p);
		_Alignas(32) float clears[8];
		tac_f32x8_store(clears, tac_f32x8_sub(p.clears, tac_f32x8_splat(pad)));
		for (int k = 0; k < lanes; k++)
			pairs[from + k].clears = clears[k];
		_Alignas(32) int32_t bits[8];
		for (int k = 0; k < 8; k++)
			bits[k] = owned_features(&moving->triangles[i[k]], &fixed->triangles[j[k]]);
		tac_i32x8_store(bits, near_features(&p, tac_i32x8_load(bits), near, slack));
		for (int k = 0; k < lanes; k++)
			out_features[from + k] = (uint16_t)bits[k];
	}
}

// --- what parts listed pairs ---

// Directions are made this much shorter, so that rounding does not make them longer than one.
#define NO_LONGER (1 - 2e-6f)

// The direction that parts each pair, from b to a, and how far b reaches along it.
static inline void part_pairs(const pair8 *p, tac_f32x8 normal[3], tac_f32x8 *offset)
{
	const tac_f32x8 zero = tac_f32x8_splat(0);
	tac_m32x8 by_a = tac_f32x8_lt(p->over_b.clears, p->over_a.clears);
	tac_m32x8 parted = tac_f32x8_lt(zero, p->clears);
	tac_f32x8 scale =
		tac_f32x8_select(parted, tac_f32x8_div(tac_f32x8_splat(NO_LONGER), p->clears), zero);
	for (int i = 0; i < 3; i++) {
		tac_f32x8 away = tac_f32x8_select(by_a, tac_f32x8_neg(p->over_a.away[i]), p->over_b.away[i]);
		normal[i] = tac_f32x8_mul(away, scale);
	}
	*offset = larger3(dot(normal, p->b.v[0]), dot(normal, p->b.v[1]), dot(normal, p->b.v[2]));
}

#define PARTED ((int)(sizeof(tac_ccd_parted) / sizeof(float[8])))

int32_t TAC_SIMD_NAME(tac_ccd_part_kernel)(const tac_ccd_body *moving, const tac_ccd_body *fixed,
					   const tac_ccd_pose *T, double reach, tac_ccd_near *pairs,
					   int32_t count, tac_ccd_parted *out_parted)
{
	const tac_ccd_sweep still = tac_ccd_sweep_still(*T);
	const motion m = motion_make(&still);
	const tac_f32x8 pad = tac_f32x8_splat((float)(ROUNDING * sweep_size(moving, fixed, &still)));
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += 8) {
		int32_t i[8], j[8];
		int lanes = take_pairs(&pairs[from], count - from, i, j);
		pair8 p;
		view_pairs(moving->triangles, i, fixed->triangles, j, &m, &p);
		tac_f32x8 normal[3], offset;
		part_pairs(&p, normal, &offset);
		// As in tac_ccd_parted.
		_Alignas(32) float clears[8], rows[PARTED][8];
		tac_f32x8_store(clears, tac_f32x8_sub(p.clears, pad));
		for (int n = 0; n < 3; n++) {
			tac_f32x8_store(rows[n], normal[n]);
			for (int k = 0; k < 3; k++)
				tac_f32x8_store(rows[4 + 3 * k + n], p.own.v[k][n]);
		}
		tac_f32x8_store(rows[3], offset);
		for (int k = 0; k < lanes; k++) {
			if ((double)clears[k] > reach)
				continue;
			float *to = (float *)&out_parted[kept / 8] + kept % 8;
			for (int n = 0; n < PARTED; n++)
				to[8 * n] = rows[n][k];
			pairs[kept++] = (tac_ccd_near){i[k], j[k], clears[k]};
		}
	}
	return kept;
}

// How far the directions part the pairs at the pose.
static inline tac_f32x8 parted_by(const tac_ccd_parted *p, const float R[3][3], const float t[3])
{
	tac_f32x8 normal[3], own[3], low[3], at = tac_f32x8_neg(tac_f32x8_loadu(p->offset));
	for (int i = 0; i < 3; i++) {
		normal[i] = tac_f32x8_loadu(p->normal[i]);
		at = mad(at, normal[i], tac_f32x8_splat(t[i]));
	}
	for (int i = 0; i < 3; i++) { // turned back into the moving frame
		tac_f32x8 x = tac_f32x8_mul(tac_f32x8_splat(R[0][i]), normal[0]);
		own[i] =
			mad(mad(x, tac_f32x8_splat(R[1][i]), normal[1]), tac_f32x8_splat(R[2][i]), normal[2]);
	}
	for (int k = 0; k < 3; k++) {
		tac_f32x8 v[3];
		for (int i = 0; i < 3; i++)
			v[i] = tac_f32x8_loadu(p->vertex[k][i]);
		low[k] = dot(own, v);
	}
	return tac_f32x8_add(at, smaller3(low[0], low[1], low[2]));
}

int32_t TAC_SIMD_NAME(tac_ccd_sift_kernel)(const tac_ccd_body *moving, const tac_ccd_body *fixed,
					   const tac_ccd_sweep *sweep, double by, const tac_ccd_near *pairs,
					   const tac_ccd_parted *parted, int32_t count,
					   tac_ccd_near *out_pairs)
{
	const motion m = motion_make(sweep);
	const tac_f32x8 pad = tac_f32x8_splat((float)(ROUNDING * sweep_size(moving, fixed, sweep))),
			most = tac_f32x8_splat((float)by);
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += 8) {
		const tac_ccd_parted *p = &parted[from / 8];
		tac_f32x8 clear = parted_by(p, m.R0, m.t0);
		if (!sweep->still)
			clear = tac_f32x8_min(clear, parted_by(p, m.R1, m.t1));
		clear = tac_f32x8_sub(clear, pad);
		unsigned keep = (unsigned)tac_m32x8_movemask(tac_m32x8_not(tac_f32x8_lt(most, clear)));
		if (count - from < 8)
			keep &= (1u << (count - from)) - 1;
		_Alignas(32) float clears[8];
		tac_f32x8_store(clears, clear);
		for (; keep; keep &= keep - 1) {
			int k = __builtin_ctz(keep);
			const tac_ccd_near *near = &pairs[from + k];
			out_pairs[kept++] = (tac_ccd_near){near->moving, near->fixed, clears[k]};
		}
	}
	return kept;
}
