// The kernels of collision/continuous/pairs.h, compiled for each instruction set.
#include "collision/continuous/body8.inl"
#include "collision/continuous/pairs.h"

// Inlined, so that `stationary` and `narrow` are constants and wide values stay in registers. `narrow`: a
// body has narrow faces.
#define INLINE static inline __attribute__((always_inline))

// How much boxes grow, relative to the coordinates: about ten roundings of float.
#define ROUNDING 1e-6
// How much rounding may take from 1 - cos^2.
#define SINE_ROUNDING 1e-6f

// A tac_swept_motion in float.
typedef struct motion {
	float R0[3][3], R1[3][3], t0[3], t1[3];
	float spread[3][3];
	float bend, turn;
} motion;

typedef tac_pair_entry entry;

// The bounds of eight nodes: see tac_pair_bounds8.
typedef struct bounds8 {
	tac_f32x8 centre[3], half[3], half_path[3];
	tac_f32x8 normal[3], slab_offset, slab_half;
	tac_f32x8 along[3], along_half, side_radius, stray;
} bounds8;

static motion motion_make(const tac_swept_motion *s)
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

// A bound of the sum of all coordinates of a query, m.
static double sweep_size(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep)
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

static inline void cross3(const tac_f32x8 a[3], const tac_f32x8 b[3], tac_f32x8 out[3])
{
	for (int i = 0; i < 3; i++) {
		int j = (i + 1) % 3, k = (i + 2) % 3;
		out[i] = tac_f32x8_sub(tac_f32x8_mul(a[j], b[k]), tac_f32x8_mul(a[k], b[j]));
	}
}

// Component i of m x.
static inline tac_f32x8 row(const float m[3][3], int i, const tac_f32x8 x[3])
{
	tac_f32x8 p = tac_f32x8_mul(tac_f32x8_splat(m[i][0]), x[0]);
	return mad(mad(p, tac_f32x8_splat(m[i][1]), x[1]), tac_f32x8_splat(m[i][2]), x[2]);
}

// Lane k in every lane.
INLINE bounds8 splat(const tac_pair_bounds8 *b, int k, bool narrow)
{
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.centre[i] = tac_f32x8_splat(b->centre[i][k]);
		out.half[i] = tac_f32x8_splat(b->half[i][k]);
		out.half_path[i] = tac_f32x8_splat(b->half_path[i][k]);
		out.normal[i] = tac_f32x8_splat(b->normal[i][k]);
		out.along[i] = tac_f32x8_splat(narrow ? b->along[i][k] : 0);
	}
	out.slab_offset = tac_f32x8_splat(b->slab_offset[k]);
	out.slab_half = tac_f32x8_splat(b->slab_half[k]);
	out.along_half = tac_f32x8_splat(narrow ? b->along_half[k] : 0);
	out.side_radius = tac_f32x8_splat(b->side_radius[k]);
	out.stray = tac_f32x8_splat(b->stray[k]);
	return out;
}

INLINE void store(tac_pair_bounds8 *to, const bounds8 *from, bool narrow)
{
	for (int i = 0; i < 3; i++) {
		tac_f32x8_storeu(to->centre[i], from->centre[i]);
		tac_f32x8_storeu(to->half[i], from->half[i]);
		tac_f32x8_storeu(to->half_path[i], from->half_path[i]);
		tac_f32x8_storeu(to->normal[i], from->normal[i]);
		if (narrow)
			tac_f32x8_storeu(to->along[i], from->along[i]);
	}
	tac_f32x8_storeu(to->slab_offset, from->slab_offset);
	tac_f32x8_storeu(to->slab_half, from->slab_half);
	if (narrow)
		tac_f32x8_storeu(to->along_half, from->along_half);
	tac_f32x8_storeu(to->side_radius, from->side_radius);
	tac_f32x8_storeu(to->stray, from->stray);
}

INLINE bounds8 load_fixed(const tac_body_node *n, bool narrow)
{
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.centre[i] = tac_f32x8_load(n->centre[i]);
		out.half[i] = tac_f32x8_load(n->half[i]);
		out.normal[i] = tac_f32x8_load(n->slab_normal[i]);
		out.along[i] = tac_f32x8_load(n->along[i]);
		out.half_path[i] = tac_f32x8_splat(0);
	}
	out.slab_offset = tac_f32x8_load(n->slab_offset);
	out.slab_half = tac_f32x8_load(n->slab_half);
	out.along_half = tac_f32x8_load(n->along_half);
	out.side_radius = tac_f32x8_load(narrow ? n->side_radius : n->slab_radius);
	out.stray = tac_f32x8_splat(0);
	return out;
}

// Lane k of a fixed node in every lane.
INLINE bounds8 splat_fixed(const tac_body_node *n, int k, bool narrow)
{
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.centre[i] = tac_f32x8_splat(n->centre[i][k]);
		out.half[i] = tac_f32x8_splat(n->half[i][k]);
		out.normal[i] = tac_f32x8_splat(n->slab_normal[i][k]);
		out.along[i] = tac_f32x8_splat(n->along[i][k]);
		out.half_path[i] = tac_f32x8_splat(0);
	}
	out.slab_offset = tac_f32x8_splat(n->slab_offset[k]);
	out.slab_half = tac_f32x8_splat(n->slab_half[k]);
	out.along_half = tac_f32x8_splat(n->along_half[k]);
	out.side_radius = tac_f32x8_splat(narrow ? n->side_radius[k] : n->slab_radius[k]);
	out.stray = tac_f32x8_splat(0);
	return out;
}

INLINE bounds8 load_moving(const tac_body_node *n, const motion *m, bool stationary, bool narrow)
{
	bounds8 out;
	tac_f32x8 c[3], h[3], normal[3];
	tac_f32x8 bend = tac_f32x8_splat(m->bend), half = tac_f32x8_splat(0.5f);
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(n->centre[i]);
		h[i] = tac_f32x8_load(n->half[i]);
		normal[i] = tac_f32x8_load(n->slab_normal[i]);
	}
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c0 = tac_f32x8_add(row(m->R0, i, c), tac_f32x8_splat(m->t0[i]));
		out.normal[i] = row(m->R0, i, normal);
		if (stationary) {
			out.half_path[i] = tac_f32x8_splat(0);
			out.centre[i] = c0;
			out.half[i] = row(m->spread, i, h);
			continue;
		}
		tac_f32x8 c1 = tac_f32x8_add(row(m->R1, i, c), tac_f32x8_splat(m->t1[i]));
		out.half_path[i] = tac_f32x8_mul(tac_f32x8_sub(c1, c0), half);
		out.centre[i] = tac_f32x8_mul(tac_f32x8_add(c0, c1), half);
		out.half[i] = tac_f32x8_add(
			tac_f32x8_add(row(m->spread, i, h), tac_f32x8_abs(out.half_path[i])), bend);
	}
	out.slab_offset = tac_f32x8_load(n->slab_offset);
	out.slab_half = tac_f32x8_load(n->slab_half);
	out.stray = stationary ? tac_f32x8_splat(0)
			       : mad(bend, tac_f32x8_splat(m->turn), tac_f32x8_load(n->ball_radius));
	tac_f32x8 along[3];
	for (int i = 0; i < 3; i++)
		along[i] = tac_f32x8_load(n->along[i]);
	for (int i = 0; i < 3; i++)
		out.along[i] = narrow ? row(m->R0, i, along) : tac_f32x8_splat(0);
	out.along_half = tac_f32x8_load(n->along_half);
	out.side_radius = tac_f32x8_load(narrow ? n->side_radius : n->slab_radius);
	return out;
}

INLINE tac_f32x8 sine_of(tac_f32x8 cosine)
{
	tac_f32x8 square = tac_f32x8_sub(tac_f32x8_splat(1), tac_f32x8_mul(cosine, cosine));
	return tac_f32x8_sqrt(
		tac_f32x8_add(tac_f32x8_max(square, tac_f32x8_splat(0)), tac_f32x8_splat(SINE_ROUNDING)));
}

// A lower bound of the distance, along the direction in b's slab that is at a right angle to the length of
// b. `apart` leads from the centre of b to that of a; `moving` is one of them.
INLINE tac_f32x8 side_gap(const bounds8 *a, const bounds8 *b, const tac_f32x8 apart[3], const bounds8 *moving,
			  bool stationary)
{
	tac_f32x8 side[3];
	cross3(b->normal, b->along, side);
	tac_f32x8 cosine = dot(side, a->normal), shift = mad(dot(side, apart), cosine, a->slab_offset);
	tac_f32x8 extent = mad(mad(b->side_radius, tac_f32x8_abs(cosine), a->slab_half), sine_of(cosine),
			       a->side_radius);
	extent = mad(extent, tac_f32x8_abs(dot(side, a->along)), a->along_half);
	if (!stationary)
		extent = tac_f32x8_add(
			extent, tac_f32x8_add(tac_f32x8_abs(dot(side, moving->half_path)), moving->stray));
	return tac_f32x8_sub(tac_f32x8_abs(shift), extent);
}

// Lower bounds of the distance between the moving a and the fixed b, by the boxes and along the normals of
// both slabs; where a body has narrow faces, also across their length.
INLINE tac_f32x8 gaps(const bounds8 *a, const bounds8 *b, bool stationary, bool narrow)
{
	tac_f32x8 apart[3], gap[3];
	for (int i = 0; i < 3; i++) {
		apart[i] = tac_f32x8_sub(a->centre[i], b->centre[i]);
		gap[i] = tac_f32x8_sub(tac_f32x8_abs(apart[i]), tac_f32x8_add(a->half[i], b->half[i]));
	}
	tac_f32x8 cosine = dot(a->normal, b->normal), sine = sine_of(cosine);
	tac_f32x8 tilt = tac_f32x8_abs(cosine);
	tac_f32x8 on_b = tac_f32x8_abs(
		tac_f32x8_sub(mad(dot(b->normal, apart), cosine, a->slab_offset), b->slab_offset));
	tac_f32x8 on_a = tac_f32x8_abs(tac_f32x8_sub(tac_f32x8_add(dot(a->normal, apart), a->slab_offset),
						     tac_f32x8_mul(cosine, b->slab_offset)));
	tac_f32x8 half_b = b->slab_half, half_a = a->slab_half;
	if (!stationary) {
		half_b = tac_f32x8_add(half_b,
				       tac_f32x8_add(tac_f32x8_abs(dot(b->normal, a->half_path)), a->stray));
		half_a = tac_f32x8_add(half_a,
				       tac_f32x8_add(tac_f32x8_abs(dot(a->normal, a->half_path)), a->stray));
	}
	tac_f32x8 extent_b = mad(mad(half_b, tilt, a->slab_half), sine, a->side_radius);
	tac_f32x8 extent_a = mad(mad(half_a, tilt, b->slab_half), sine, b->side_radius);
	if (narrow) {
		extent_b = mad(extent_b, tac_f32x8_abs(dot(b->normal, a->along)), a->along_half);
		extent_a = mad(extent_a, tac_f32x8_abs(dot(a->normal, b->along)), b->along_half);
	}
	tac_f32x8 slabs = tac_f32x8_max(tac_f32x8_sub(on_b, extent_b), tac_f32x8_sub(on_a, extent_a));
	if (narrow) {
		tac_f32x8 away[3];
		for (int i = 0; i < 3; i++)
			away[i] = tac_f32x8_neg(apart[i]);
		slabs = tac_f32x8_max(slabs, tac_f32x8_max(side_gap(a, b, apart, a, stationary),
							   side_gap(b, a, away, a, stationary)));
	}
	return tac_f32x8_max(slabs, tac_f32x8_max(gap[0], tac_f32x8_max(gap[1], gap[2])));
}

static inline unsigned within(tac_f32x8 gap, float reach)
{
	return (unsigned)tac_m32x8_movemask(tac_f32x8_le(gap, tac_f32x8_splat(reach)));
}

// The children that are triangles, and lanes without a child.
static inline unsigned leaves(const tac_body_node *n)
{
	return (unsigned)tac_m32x8_movemask(tac_i32x8_lt(tac_i32x8_load(n->child), tac_i32x8_splat(0)));
}

// A descent of both trees.
typedef struct descent {
	const tac_body *moving, *fixed;
	motion m;
	tac_pair_visitor visit;
	void *user;
	float reach, near_reach; // of the pairs and of the near box, m
	tac_f32x8 lo[3], hi[3];  // the near box, in the frame of the moving tree
	int64_t opened;          // pairs of nodes
	bool ended;              // by the visitor
	uint16_t without;        // pairs of sphere faces that are left out
} descent;

// The gaps of the children of a node from another, infinite where the pair is left out. `face` is the sphere
// face of the other one, plus 1; `fixed`: the children are those of a fixed node.
INLINE tac_f32x8 leave_out(const descent *d, tac_f32x8 gap, const tac_body_node *n, int32_t face, bool fixed)
{
	if (!d->without || face == 0)
		return gap;
	unsigned lanes = 0;
	for (int k = 0; k < TAC_BODY_WIDTH; k++) {
		const int32_t own = n->sphere[k], i = (fixed ? face : own) - 1, j = (fixed ? own : face) - 1;
		if (own > 0 && d->without >> (i * TAC_SPHERE_FACES_MAX + j) & 1)
			lanes |= 1u << k;
	}
	return tac_f32x8_select(tac_m32x8_from_bits(lanes), tac_f32x8_splat(1e30f), gap);
}

// Extends the near box by children of a moving node.
INLINE void extend_near_box(descent *d, const tac_body_node *n, unsigned lanes)
{
	const tac_m32x8 mask = tac_m32x8_from_bits(lanes);
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c = tac_f32x8_load(n->centre[i]), h = tac_f32x8_load(n->half[i]);
		d->lo[i] = tac_f32x8_select(mask, tac_f32x8_min(d->lo[i], tac_f32x8_sub(c, h)), d->lo[i]);
		d->hi[i] = tac_f32x8_select(mask, tac_f32x8_max(d->hi[i], tac_f32x8_add(c, h)), d->hi[i]);
	}
}

// Visits the pair of two leaves: each has a triangle and its partner, if there is one. False if the visitor
// ended the descent.
static bool visit_leaves(const descent *d, int32_t moving, int32_t fixed)
{
	const int32_t *with = d->moving->partners, *with_fixed = d->fixed->partners;
	for (int32_t a = moving; a >= 0; a = a == moving && with ? with[moving] : -1) {
		for (int32_t b = fixed; b >= 0; b = b == fixed && with_fixed ? with_fixed[fixed] : -1) {
			if (!d->visit(d->user, a, b))
				return false;
		}
	}
	return true;
}

// Visits the leaves in some lanes of `child`, each with the leaf `other`. `fixed`: the lanes are those of a
// fixed node.
INLINE void visit_lanes(descent *d, unsigned lanes, const int32_t *child, int32_t other, bool fixed)
{
	for (; lanes && !d->ended; lanes &= lanes - 1) {
		int32_t t = ~child[__builtin_ctz(lanes)];
		d->ended = !(fixed ? visit_leaves(d, ~other, t) : visit_leaves(d, t, ~other));
	}
}

// Opens the moving node of the entry e, the top of the stack: tests its children against the fixed node, and
// pushes those that come near. Where all children of the fixed node are triangles, triangles of the moving
// node are tested against them at once. Returns the new height of the stack.
INLINE int open_moving(descent *d, tac_pair_descent *at, int top, bool stationary, bool narrow)
{
	entry *stack = at->stack;
	const entry *e = &stack[top];
	const int32_t fixed = e->fixed, fixed_lane = e->fixed_lane, level = e->level + 1;
	const tac_body_node *parent = e->fixed_parent, *n = &d->moving->pair_nodes[e->moving];
	bounds8 a = load_moving(n, &d->m, stationary, narrow), b = splat_fixed(parent, fixed_lane, narrow);
	tac_f32x8 gap = leave_out(d, gaps(&a, &b, stationary, narrow), n, parent->sphere[fixed_lane], false);
	unsigned hits = within(gap, d->reach), leaf = leaves(n);
	unsigned near = within(gap, d->near_reach) & (fixed < 0 ? leaf | ~hits : ~hits);
	if (fixed < 0) {
		visit_lanes(d, hits & leaf, n->child, fixed, false);
		hits &= ~leaf;
	}
	if (near)
		extend_near_box(d, n, near);
	if (!hits)
		return top;
	store(&at->levels[level], &a, narrow);
	const tac_body_node *other = fixed >= 0 ? &d->fixed->pair_nodes[fixed] : parent;
	const bool at_once = fixed >= 0 && leaves(other) == 0xff;
	for (; hits; hits &= hits - 1) {
		int k = __builtin_ctz(hits);
		if (at_once && leaf >> k & 1) {
			a = splat(&at->levels[level], k, narrow);
			b = load_fixed(other, narrow);
			gap = leave_out(d, gaps(&a, &b, stationary, narrow), other, n->sphere[k], true);
			d->opened++;
			if (within(gap, d->near_reach))
				extend_near_box(d, n, 1u << k);
			visit_lanes(d, within(gap, d->reach), other->child, n->child[k], true);
			continue;
		}
		stack[top++] = (entry){n->child[k], fixed, k, fixed_lane, level, n, parent};
	}
	return top;
}

// The same for the fixed node.
INLINE int open_fixed(descent *d, tac_pair_descent *at, int top, bool stationary, bool narrow)
{
	entry *stack = at->stack;
	const entry *e = &stack[top];
	const int32_t moving = e->moving, moving_lane = e->moving_lane, level = e->level;
	const tac_body_node *parent = e->moving_parent, *n = &d->fixed->pair_nodes[e->fixed];
	bounds8 a = splat(&at->levels[level], moving_lane, narrow), b = load_fixed(n, narrow);
	tac_f32x8 gap = leave_out(d, gaps(&a, &b, stationary, narrow), n, parent->sphere[moving_lane], true);
	unsigned hits = within(gap, d->reach), leaf = leaves(n);
	if (within(gap, d->near_reach) & (moving < 0 ? leaf | ~hits : ~hits))
		extend_near_box(d, parent, 1u << moving_lane);
	if (moving < 0) {
		visit_lanes(d, hits & leaf, n->child, moving, true);
		hits &= ~leaf;
	}
	if (!hits)
		return top;
	const tac_body_node *other = moving >= 0 ? &d->moving->pair_nodes[moving] : parent;
	const bool at_once = moving >= 0 && leaves(other) == 0xff;
	if (at_once)
		a = load_moving(other, &d->m, stationary, narrow);
	for (; hits; hits &= hits - 1) {
		int k = __builtin_ctz(hits);
		if (at_once && leaf >> k & 1) {
			b = splat_fixed(n, k, narrow);
			gap = leave_out(d, gaps(&a, &b, stationary, narrow), other, n->sphere[k], false);
			d->opened++;
			extend_near_box(d, other, within(gap, d->near_reach));
			visit_lanes(d, within(gap, d->reach), other->child, n->child[k], false);
			continue;
		}
		stack[top++] = (entry){moving, n->child[k], moving_lane, k, level, parent, n};
	}
	return top;
}

// The motion from the frame of the moving body's tree to that of the fixed body's.
static tac_swept_motion in_frames(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *s)
{
	if (moving->pair_nodes == moving->nodes && fixed->pair_nodes == fixed->nodes)
		return *s;
	tac_swept_motion out = *s;
	const tac_dmat3 back = tac_dmat3_transpose(fixed->frame);
	tac_drigid *pose[2] = {&out.start, &out.end};
	for (int k = 0; k < 2; k++) {
		pose[k]->R = tac_dmat3_mul(back, tac_dmat3_mul(pose[k]->R, moving->frame));
		pose[k]->t = tac_dmat3_apply(back, pose[k]->t);
	}
	for (int i = 0; i < 9; i++)
		out.spread.m[i / 3][i % 3] =
			fmax(fabs(out.start.R.m[i / 3][i % 3]), fabs(out.end.R.m[i / 3][i % 3]));
	return out;
}

// A descent that has opened nothing yet.
static void begin_descent(const tac_body *fixed, tac_pair_descent *at)
{
	const tac_dvec3 centre = tac_dmat3_transpose_apply(fixed->frame, tac_dvec3_from_vec3(fixed->centre));
	at->above = (tac_body_node){0};
	at->stack[0] = (entry){.fixed_parent = &at->above};
	at->top = 1;
	for (int i = 0; i < 3; i++) {
		at->above.centre[i][0] = (float)tac_dvec3_get(centre, i);
		at->above.half[i][0] = (float)fixed->centre_radius;
		at->levels[0].half[i][0] = 1e30f; // the largest: the moving root is opened first
		at->lo[i] = HUGE_VALF;
		at->hi[i] = -HUGE_VALF;
	}
	// The slab of the fixed root is unbounded.
	at->above.slab_half[0] = at->above.slab_radius[0] = at->above.side_radius[0] = 1e30f;
}

INLINE bool descend(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
		    const double *reach, tac_pair_visitor visit, void *user, tac_sweep_context *context,
		    tac_near_box *near_box, tac_pair_descent *at, bool stationary, bool narrow)
{
	double pad = ROUNDING * sweep_size(moving, fixed, sweep);
	const tac_swept_motion turned = in_frames(moving, fixed, sweep);
	descent d = {.moving = moving,
		     .fixed = fixed,
		     .m = motion_make(&turned),
		     .visit = visit,
		     .user = user,
		     .without = sweep->without};
	if (at->top == 0)
		begin_descent(fixed, at);
	for (int i = 0; i < 3; i++) {
		d.lo[i] = tac_f32x8_splat(at->lo[i]);
		d.hi[i] = tac_f32x8_splat(at->hi[i]);
	}
	int top = at->top;
	const int64_t limit = tac_sweep_context_work_left(context) / TAC_WORK_NODE_PAIR;
	// The pair that the limit leaves unopened is counted, too: the work exceeds its limit when pairs are
	// missing.
	while (top > 0 && !d.ended && d.opened++ < limit) {
		const entry *e = &at->stack[--top];
		const tac_body_node *parent = e->fixed_parent;
		const float(*size)[TAC_BODY_WIDTH] =
			(const float(*)[TAC_BODY_WIDTH])at->levels[e->level].half;
		const int32_t lane = e->moving_lane;
		d.reach = (float)(*reach + pad);
		d.near_reach = near_box ? (float)(near_box->reach + pad) : d.reach;
		float fixed_size = parent->half[0][e->fixed_lane] + parent->half[1][e->fixed_lane] +
				   parent->half[2][e->fixed_lane];
		// The larger node is opened.
		if (e->fixed < 0 ||
		    (e->moving >= 0 && size[0][lane] + size[1][lane] + size[2][lane] > fixed_size))
			top = open_moving(&d, at, top, stationary, narrow);
		else
			top = open_fixed(&d, at, top, stationary, narrow);
	}
	tac_sweep_context_add_work(context, TAC_WORK_NODE_PAIR * d.opened);
	for (int i = 0; i < 3 && near_box; i++) {
		near_box->lo[i] = at->lo[i] = tac_f32x8_hmin(d.lo[i]);
		near_box->hi[i] = at->hi[i] = tac_f32x8_hmax(d.hi[i]);
	}
	at->top = top;
	return top == 0 && !d.ended;
}

bool TAC_SIMD_NAME(tac_pairs_visit_kernel)(const tac_body *moving, const tac_body *fixed,
					   const tac_swept_motion *sweep, const double *reach,
					   tac_pair_visitor visit, void *user, tac_sweep_context *context,
					   tac_near_box *near_box, tac_pair_descent *at)
{
	tac_pair_descent once;
	if (!at) {
		once.top = 0;
		at = &once;
	}
	const bool narrow = moving->narrow || fixed->narrow;
	if (sweep->stationary && narrow)
		return descend(moving, fixed, sweep, reach, visit, user, context, near_box, at, true, true);
	if (sweep->stationary)
		return descend(moving, fixed, sweep, reach, visit, user, context, near_box, at, true, false);
	if (narrow)
		return descend(moving, fixed, sweep, reach, visit, user, context, near_box, at, false, true);
	return descend(moving, fixed, sweep, reach, visit, user, context, near_box, at, false, false);
}

// The triangles of the next eight pairs; the first pair again in lanes without one. Returns how many have
// one.
static inline int take_pairs(const tac_near_pair *pairs, int32_t count, int32_t moving[8], int32_t fixed[8])
{
	int lanes = count < 8 ? count : 8;
	for (int k = 0; k < 8; k++) {
		const tac_near_pair *p = &pairs[k < lanes ? k : 0];
		moving[k] = p->moving;
		fixed[k] = p->fixed;
	}
	return lanes;
}

typedef struct triangle8 {
	tac_f32x8 v[3][3], normal[3]; // by vertex and coordinate
} triangle8;

static inline triangle8 load_triangles(const tac_body_triangle *triangles, const int32_t index[8])
{
	tac_f32x8 e[12];
	gather_triangles(triangles, index, e);
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

// Extends lo and hi by the heights of the vertices of a over the plane of b.
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

int32_t TAC_SIMD_NAME(tac_pairs_cull_by_planes_kernel)(const tac_body *moving, const tac_body *fixed,
						       const tac_swept_motion *sweep, double fixed_threshold,
						       double moving_threshold, tac_near_pair *pairs,
						       int32_t count)
{
	const motion m = motion_make(sweep);
	float pad = (float)(ROUNDING * sweep_size(moving, fixed, sweep));
	tac_f32x8 threshold_b = tac_f32x8_splat((float)fixed_threshold + pad),
		  threshold_a = tac_f32x8_splat((float)moving_threshold + pad);
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += 8) {
		int32_t i[8], j[8];
		int lanes = take_pairs(&pairs[from], count - from, i, j);
		triangle8 unmoved = load_triangles(moving->triangles, i),
			  b = load_triangles(fixed->triangles, j);
		tac_f32x8 far = tac_f32x8_splat(1e30f), lo_b = far, hi_b = tac_f32x8_neg(far), lo_a = far,
			  hi_a = tac_f32x8_neg(far);
		triangle8 a = place(&unmoved, m.R0, m.t0);
		heights(&a, &b, &lo_b, &hi_b);
		heights(&b, &a, &lo_a, &hi_a);
		if (!sweep->stationary) {
			a = place(&unmoved, m.R1, m.t1);
			heights(&a, &b, &lo_b, &hi_b);
			heights(&b, &a, &lo_a, &hi_a);
		}
		tac_f32x8 from_b = tac_f32x8_max(lo_b, tac_f32x8_neg(hi_b)),
			  from_a = tac_f32x8_max(lo_a, tac_f32x8_neg(hi_a));
		unsigned separated = tac_m32x8_movemask(
			tac_m32x8_or(tac_f32x8_lt(threshold_b, from_b), tac_f32x8_lt(threshold_a, from_a)));
		_Alignas(32) float clearance[8];
		tac_f32x8_store(clearance,
				tac_f32x8_sub(tac_f32x8_max(from_a, from_b), tac_f32x8_splat(pad)));
		for (int k = 0; k < lanes; k++) {
			if (!(separated >> k & 1))
				pairs[kept++] =
					(tac_near_pair){i[k], j[k], clearance[k], pairs[from + k].listed};
		}
	}
	return kept;
}

// --- features ---

// Bound of the rounding of a product, relative to the product of its factors' lengths.
#define PRODUCT_ROUNDING 4e-6f

static inline void sub3(const tac_f32x8 a[3], const tac_f32x8 b[3], tac_f32x8 out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = tac_f32x8_sub(a[i], b[i]);
}

static inline tac_f32x8 larger3(tac_f32x8 a, tac_f32x8 b, tac_f32x8 c)
{
	return tac_f32x8_max(a, tac_f32x8_max(b, c));
}

static inline tac_f32x8 smaller3(tac_f32x8 a, tac_f32x8 b, tac_f32x8 c)
{
	return tac_f32x8_min(a, tac_f32x8_min(b, c));
}

// The edges of eight triangles, with their lengths.
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

// The vertices of one triangle relative to another: their heights over its plane, their distances from it
// along the plane, and a lower bound of the distance of both triangles along `away`, a vector of that length.
// Apart from rounding, the distances may be too small, never too large.
typedef struct over8 {
	tac_f32x8 height[3], beside[3], clearance, away[3];
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
		// Outwards from edge j in the plane. Rounding may turn it, so the support of b along it is
		// subtracted; where it is nothing but rounding, it is not used.
		tac_f32x8 out[3], last[3];
		cross3(edges->along[j], b->normal, out);
		tac_f32x8 length = tac_f32x8_sqrt(dot(out, out));
		tac_m32x8 valid =
			tac_f32x8_lt(tac_f32x8_mul(edges->length[j], tac_f32x8_splat(0.5f)), length);
		tac_f32x8 unit = tac_f32x8_select(valid, tac_f32x8_div(tac_f32x8_splat(1), length), zero);
		sub3(b->v[(j + 2) % 3], b->v[j], last);
		tac_f32x8 support = larger3(zero, dot(out, edges->along[j]), dot(out, last)), away[3];
		for (int k = 0; k < 3; k++) {
			tac_f32x8 from[3];
			sub3(a->v[k], b->v[j], from);
			away[k] = tac_f32x8_mul(tac_f32x8_sub(dot(out, from), support), unit);
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
	o.clearance = tac_f32x8_sqrt(mad(tac_f32x8_mul(above, above), beside, beside));
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
// `slack` is the rounding of r, `length` a bound of its length.
static inline tac_m32x8 edges_near(const tac_f32x8 u[3], tac_f32x8 u_length, const tac_f32x8 w[3],
				   tac_f32x8 w_length, const tac_f32x8 r[3], tac_f32x8 length,
				   tac_f32x8 margin, tac_f32x8 slack)
{
	tac_f32x8 n[3], across[3];
	cross3(u, w, n);
	tac_f32x8 nn = dot(n, n), n_length = tac_f32x8_sqrt(nn);
	// The rounding of a product of r and n, and, times the length of an edge, of its parameter times nn.
	tac_f32x8 product = tac_f32x8_mul(tac_f32x8_mul(u_length, w_length), length);
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

// The features of a pair that are examined at its triangles.
static inline int32_t owned_features(const tac_body_triangle *a, const tac_body_triangle *b)
{
	int32_t edges = 0;
	for (int k = 0; k < 3; k++)
		edges |= (a->edges >> k & 1) * b->edges << 3 * k;
	return a->vertices | b->vertices << TAC_FEATURE_BIT_FIXED_VERTEX | edges << TAC_FEATURE_BIT_EDGES;
}

// Eight pairs of triangles at a pose.
typedef struct pair8 {
	triangle8 unmoved, a, b; // `unmoved` is a in the moving frame
	edges8 edges_a, edges_b;
	over8 over_a, over_b; // the vertices of b over a, and those of a over b
	tac_f32x8 clearance;
} pair8;

static inline void load_pairs(const tac_body_triangle *moving, const int32_t i[8],
			      const tac_body_triangle *fixed, const int32_t j[8], const motion *m, pair8 *out)
{
	out->unmoved = load_triangles(moving, i);
	out->a = place(&out->unmoved, m->R0, m->t0);
	out->b = load_triangles(fixed, j);
	// The edges of a are rotated, not taken from its placed vertices: their rounding is then relative to
	// their own length.
	out->edges_a = edges_of(&out->unmoved);
	for (int k = 0; k < 3; k++) {
		tac_f32x8 along[3] = {out->edges_a.along[k][0], out->edges_a.along[k][1],
				      out->edges_a.along[k][2]};
		for (int n = 0; n < 3; n++)
			out->edges_a.along[k][n] = row(m->R0, n, along);
	}
	out->edges_b = edges_of(&out->b);
	out->over_b = measure_over(&out->a, &out->b, &out->edges_b);
	out->over_a = measure_over(&out->b, &out->a, &out->edges_a);
	out->clearance = tac_f32x8_max(out->over_a.clearance, out->over_b.clearance);
}

// The owned features of eight pairs that may be near.
static inline tac_i32x8 near_features(const pair8 *p, tac_i32x8 owned, tac_f32x8 near, tac_f32x8 slack)
{
	const tac_i32x8 none = tac_i32x8_splat(0);
	tac_m32x8 close = tac_m32x8_not(tac_f32x8_lt(near, p->clearance));
	tac_i32x8 features = none;
	for (int k = 0; k < 3; k++) {
		tac_i32x8 a = tac_i32x8_splat(1 << k),
			  b = tac_i32x8_splat(1 << (TAC_FEATURE_BIT_FIXED_VERTEX + k));
		features =
			tac_i32x8_or(features, tac_i32x8_select(vertex_near(&p->over_b, k, near), a, none));
		features =
			tac_i32x8_or(features, tac_i32x8_select(vertex_near(&p->over_a, k, near), b, none));
	}
	tac_f32x8 r[3];
	sub3(p->a.v[0], p->b.v[0], r);
	tac_f32x8 length =
		tac_f32x8_add(tac_f32x8_sqrt(dot(r, r)),
			      tac_f32x8_add(tac_f32x8_add(p->edges_a.length[0], p->edges_a.length[2]),
					    tac_f32x8_add(p->edges_b.length[0], p->edges_b.length[2])));
	for (int k = 0; k < 3; k++) {
		tac_m32x8 near_a = tac_m32x8_and(close, edge_near(&p->over_b, k, near));
		for (int n = 0; n < 3; n++) {
			tac_i32x8 bit = tac_i32x8_splat(1 << (TAC_FEATURE_BIT_EDGES + 3 * k + n));
			tac_m32x8 both = tac_m32x8_and(near_a, edge_near(&p->over_a, n, near));
			both = tac_m32x8_and(both, tac_i32x8_eq(tac_i32x8_and(owned, bit), bit));
			if (!tac_m32x8_any(both))
				continue;
			sub3(p->a.v[k], p->b.v[n], r);
			both = tac_m32x8_and(both, edges_near(p->edges_a.along[k], p->edges_a.length[k],
							      p->edges_b.along[n], p->edges_b.length[n], r,
							      length, near, slack));
			features = tac_i32x8_or(features, tac_i32x8_select(both, bit, none));
		}
	}
	return tac_i32x8_select(close, tac_i32x8_and(features, owned), none);
}

void TAC_SIMD_NAME(tac_pairs_near_features_kernel)(const tac_body *moving, const tac_body *fixed,
						   const tac_drigid *T, double margin, tac_near_pair *pairs,
						   int32_t count, uint16_t *out_features)
{
	const tac_swept_motion still = tac_swept_motion_stationary(*T);
	const motion m = motion_make(&still);
	const float pad = (float)(ROUNDING * sweep_size(moving, fixed, &still));
	const tac_f32x8 near = tac_f32x8_splat((float)margin + pad), slack = tac_f32x8_splat(2 * pad);
	for (int32_t from = 0; from < count; from += 8) {
		int32_t i[8], j[8];
		int lanes = take_pairs(&pairs[from], count - from, i, j);
		pair8 p;
		load_pairs(moving->triangles, i, fixed->triangles, j, &m, &p);
		_Alignas(32) float clearance[8];
		tac_f32x8_store(clearance, tac_f32x8_sub(p.clearance, tac_f32x8_splat(pad)));
		for (int k = 0; k < lanes; k++)
			pairs[from + k].clearance = fmaxf(pairs[from + k].clearance, clearance[k]);
		_Alignas(32) int32_t bits[8];
		for (int k = 0; k < 8; k++)
			bits[k] = owned_features(&moving->triangles[i[k]], &fixed->triangles[j[k]]);
		tac_i32x8_store(bits, near_features(&p, tac_i32x8_load(bits), near, slack));
		for (int k = 0; k < lanes; k++)
			out_features[from + k] = (uint16_t)bits[k];
	}
}

// --- separating axes ---

// The axis that separates each pair, from b to a, and the support of b along it.
static inline void find_axes(const pair8 *p, tac_f32x8 normal[3], tac_f32x8 *offset)
{
	const tac_f32x8 zero = tac_f32x8_splat(0);
	tac_m32x8 from_a = tac_f32x8_lt(p->over_b.clearance, p->over_a.clearance);
	tac_m32x8 separated = tac_f32x8_lt(zero, p->clearance);
	tac_f32x8 scale = tac_f32x8_select(
		separated, tac_f32x8_div(tac_f32x8_splat((float)TAC_AXIS_LENGTH), p->clearance), zero);
	for (int i = 0; i < 3; i++) {
		tac_f32x8 away =
			tac_f32x8_select(from_a, tac_f32x8_neg(p->over_a.away[i]), p->over_b.away[i]);
		normal[i] = tac_f32x8_mul(away, scale);
	}
	*offset = larger3(dot(normal, p->b.v[0]), dot(normal, p->b.v[1]), dot(normal, p->b.v[2]));
}

#define AXES_ROWS ((int)(sizeof(tac_separating_axes8) / sizeof(float[8])))

// How far the axes separate the pairs at a pose.
static inline tac_f32x8 separation(const tac_separating_axes8 *p, const float R[3][3], const float t[3])
{
	tac_f32x8 normal[3], local[3], low[3], at = tac_f32x8_neg(tac_f32x8_loadu(p->offset));
	for (int i = 0; i < 3; i++) {
		normal[i] = tac_f32x8_loadu(p->normal[i]);
		at = mad(at, normal[i], tac_f32x8_splat(t[i]));
	}
	for (int i = 0; i < 3; i++) { // the axis in the moving frame
		tac_f32x8 x = tac_f32x8_mul(tac_f32x8_splat(R[0][i]), normal[0]);
		local[i] =
			mad(mad(x, tac_f32x8_splat(R[1][i]), normal[1]), tac_f32x8_splat(R[2][i]), normal[2]);
	}
	for (int k = 0; k < 3; k++) {
		tac_f32x8 v[3];
		for (int i = 0; i < 3; i++)
			v[i] = tac_f32x8_loadu(p->vertex[k][i]);
		low[k] = dot(local, v);
	}
	return tac_f32x8_add(at, smaller3(low[0], low[1], low[2]));
}

int32_t TAC_SIMD_NAME(tac_pairs_find_axes_kernel)(const tac_body *moving, const tac_body *fixed,
						  const tac_swept_motion *sweep, double reach,
						  tac_near_pair *pairs, int32_t first, int32_t end,
						  int32_t kept, tac_separating_axes8 *axes)
{
	const motion m = motion_make(sweep);
	const tac_f32x8 pad =
		tac_f32x8_splat((float)(ROUNDING * sweep_size(moving, fixed, sweep) + sweep->bend));
	for (int32_t from = first; from < end; from += 8) {
		int32_t i[8], j[8];
		int lanes = take_pairs(&pairs[from], end - from, i, j);
		pair8 p;
		load_pairs(moving->triangles, i, fixed->triangles, j, &m, &p);
		tac_f32x8 normal[3], offset;
		find_axes(&p, normal, &offset);
		// In the order of tac_separating_axes8.
		_Alignas(32) float clearance[8], rows[AXES_ROWS][8];
		for (int n = 0; n < 3; n++) {
			tac_f32x8_store(rows[n], normal[n]);
			for (int k = 0; k < 3; k++)
				tac_f32x8_store(rows[4 + 3 * k + n], p.unmoved.v[k][n]);
		}
		tac_f32x8_store(rows[3], offset);
		tac_f32x8 clear = p.clearance;
		if (!sweep->stationary)
			clear = tac_f32x8_min(
				clear,
				separation((const tac_separating_axes8 *)(const void *)rows, m.R1, m.t1));
		tac_f32x8_store(clearance, tac_f32x8_sub(clear, pad));
		for (int k = 0; k < lanes; k++) {
			if ((double)clearance[k] > reach)
				continue;
			float *to = (float *)&axes[kept / 8] + kept % 8;
			for (int n = 0; n < AXES_ROWS; n++)
				to[8 * n] = rows[n][k];
			pairs[kept++] = (tac_near_pair){i[k], j[k], clearance[k], 0};
		}
	}
	return kept;
}

// The least square of the area that two edges span, m^4, for a direction across them.
#define CROSS_MIN 1e-30f

// Eight pairs at both ends of a sweep, and the best direction found for each.
typedef struct separate8 {
	tac_f32x8 a[2][3][3], b[3][3]; // vertices relative to the first one of b
	tac_f32x8 normal[3];           // zero: it turns with the body
	tac_f32x8 clearance;
	tac_f32x8 enough; // beyond this no direction that turns is taken
	tac_f32x8 charge; // what is taken from the separation by directions that turn
} separate8;

// How far the direction n separates the pairs at one end of the sweep, and how far its opposite does.
INLINE void separation_at(const separate8 *s, int end, const tac_f32x8 n[3], tac_f32x8 out[2])
{
	const tac_f32x8 zero = tac_f32x8_splat(0), b1 = dot(n, s->b[1]), b2 = dot(n, s->b[2]),
			a0 = dot(n, s->a[end][0]), a1 = dot(n, s->a[end][1]), a2 = dot(n, s->a[end][2]);
	out[0] = tac_f32x8_sub(smaller3(a0, a1, a2), larger3(zero, b1, b2));
	out[1] = tac_f32x8_sub(smaller3(zero, b1, b2), larger3(a0, a1, a2));
}

// Takes the direction n, of the length 1 at most, where it separates the pairs further. It is that at one end
// of the sweep, and is either fixed or turns with the body. `turn` leads from that end to the other one.
INLINE void try_direction(separate8 *s, int end, const tac_f32x8 n[3], const float turn[3][3])
{
	const tac_f32x8 turned[3] = {row(turn, 0, n), row(turn, 1, n), row(turn, 2, n)};
	tac_f32x8 here[2], fixed[2], turning[2];
	separation_at(s, end, n, here);
	separation_at(s, !end, n, fixed);
	separation_at(s, !end, turned, turning);
	for (int side = 0; side < 2; side++) {
		const tac_f32x8 clear = tac_f32x8_min(here[side], fixed[side]),
				clear_turning =
					tac_f32x8_sub(tac_f32x8_min(here[side], turning[side]), s->charge);
		const tac_m32x8 better = tac_f32x8_lt(s->clearance, clear);
		for (int i = 0; i < 3; i++)
			s->normal[i] =
				tac_f32x8_select(better, side ? tac_f32x8_neg(n[i]) : n[i], s->normal[i]);
		s->clearance = tac_f32x8_select(better, clear, s->clearance);
		const tac_m32x8 better_turning = tac_m32x8_and(tac_f32x8_lt(s->clearance, clear_turning),
							       tac_f32x8_le(s->clearance, s->enough));
		for (int i = 0; i < 3; i++)
			s->normal[i] = tac_f32x8_select(better_turning, tac_f32x8_splat(0), s->normal[i]);
		s->clearance = tac_f32x8_select(better_turning, clear_turning, s->clearance);
	}
}

// Tries the directions across an edge of each triangle of the pairs at one end of the sweep.
INLINE void try_edges(separate8 *s, int end, const pair8 *p, const float turn[3][3])
{
	for (int n = 0; n < 9; n++) {
		tac_f32x8 across[3];
		cross3(p->edges_a.along[n / 3], p->edges_b.along[n % 3], across);
		const tac_f32x8 square = dot(across, across);
		const tac_f32x8 unit = tac_f32x8_select(
			tac_f32x8_lt(tac_f32x8_splat(CROSS_MIN), square),
			tac_f32x8_div(tac_f32x8_splat((float)TAC_AXIS_LENGTH), tac_f32x8_sqrt(square)),
			tac_f32x8_splat(0));
		for (int i = 0; i < 3; i++)
			across[i] = tac_f32x8_mul(across[i], unit);
		try_direction(s, end, across, turn);
	}
}

int32_t TAC_SIMD_NAME(tac_pairs_separate_kernel)(const tac_body *moving, const tac_body *fixed,
						 const tac_swept_motion *sweep, double enough,
						 double enough_turning, tac_near_pair *pairs, int32_t count,
						 tac_vec3 *out_directions)
{
	const tac_swept_motion back = {.start = sweep->end, .end = sweep->start};
	const motion m[2] = {motion_make(sweep), motion_make(&back)};
	const tac_dmat3 Q = tac_dmat3_mul(sweep->end.R, tac_dmat3_transpose(sweep->start.R));
	float turn[2][3][3];
	for (int i = 0; i < 9; i++)
		turn[0][i / 3][i % 3] = turn[1][i % 3][i / 3] = (float)Q.m[i / 3][i % 3];
	const tac_f32x8 pad = tac_f32x8_splat((float)(ROUNDING * sweep_size(moving, fixed, sweep))),
			limit = tac_f32x8_add(tac_f32x8_splat((float)enough), pad),
			charge = tac_f32x8_splat((float)(enough_turning - enough));
	int32_t with_edges = 0;
	for (int32_t from = 0; from < count; from += 8) {
		int32_t i[8], j[8];
		const int lanes = take_pairs(&pairs[from], count - from, i, j);
		pair8 p[2];
		separate8 s = {.clearance = tac_f32x8_splat(-1e30f), .enough = limit, .charge = charge};
		for (int e = 0; e < 2; e++) {
			load_pairs(moving->triangles, i, fixed->triangles, j, &m[e], &p[e]);
			for (int k = 0; k < 3; k++)
				sub3(p[e].a.v[k], p[e].b.v[0], s.a[e][k]);
		}
		for (int k = 0; k < 3; k++) {
			sub3(p[0].b.v[k], p[0].b.v[0], s.b[k]);
			s.normal[k] = tac_f32x8_splat(0);
		}
		for (int e = 0; e < 2; e++) {
			tac_f32x8 normal[3], offset;
			find_axes(&p[e], normal, &offset);
			try_direction(&s, e, normal, (const float(*)[3])turn[e]);
		}
		const unsigned all = 0xff >> (8 - lanes);
		if (all & ~(unsigned)tac_m32x8_movemask(tac_f32x8_lt(limit, s.clearance))) {
			with_edges += lanes;
			for (int e = 0; e < 2; e++)
				try_edges(&s, e, &p[e], (const float(*)[3])turn[e]);
		}
		_Alignas(32) float clearance[8], normal[3][8];
		tac_f32x8_store(clearance, tac_f32x8_sub(s.clearance, pad));
		for (int k = 0; k < 3; k++)
			tac_f32x8_store(normal[k], s.normal[k]);
		for (int k = 0; k < lanes; k++) {
			pairs[from + k].clearance = clearance[k];
			out_directions[from + k] = tac_vec3_make(normal[0][k], normal[1][k], normal[2][k]);
		}
	}
	return with_edges;
}

int32_t TAC_SIMD_NAME(tac_pairs_cull_by_axes_kernel)(const tac_body *moving, const tac_body *fixed,
						     const tac_swept_motion *sweep, double threshold,
						     const tac_near_pair *pairs,
						     const tac_separating_axes8 *axes, int32_t count,
						     tac_near_pair *out_pairs)
{
	const motion m = motion_make(sweep);
	const tac_f32x8 pad = tac_f32x8_splat((float)(ROUNDING * sweep_size(moving, fixed, sweep))),
			limit = tac_f32x8_splat((float)threshold);
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += 8) {
		const tac_separating_axes8 *p = &axes[from / 8];
		tac_f32x8 clear = separation(p, m.R0, m.t0);
		if (!sweep->stationary)
			clear = tac_f32x8_min(clear, separation(p, m.R1, m.t1));
		clear = tac_f32x8_sub(clear, pad);
		unsigned keep = (unsigned)tac_m32x8_movemask(tac_m32x8_not(tac_f32x8_lt(limit, clear)));
		if (count - from < 8)
			keep &= (1u << (count - from)) - 1;
		_Alignas(32) float clearance[8];
		tac_f32x8_store(clearance, clear);
		for (; keep; keep &= keep - 1) {
			int k = __builtin_ctz(keep);
			const tac_near_pair *near = &pairs[from + k];
			out_pairs[kept++] =
				(tac_near_pair){near->moving, near->fixed, clearance[k], from + k + 1};
		}
	}
	return kept;
}
