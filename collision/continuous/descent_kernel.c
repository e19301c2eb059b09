// The descent of two trees of collision/continuous/pairs.h, compiled for each instruction set.
#include "collision/continuous/motion8.inl"

// Inlined, so that `stationary` and `narrow` are constants and wide values stay in registers. `narrow`: a
// body has narrow faces.
#define INLINE static inline __attribute__((always_inline))

// How much rounding may take from 1 - cos^2.
#define SINE_ROUNDING 1e-6f

typedef tac_pair_entry entry;

// The bounds of eight nodes: see tac_pair_bounds8.
typedef struct bounds8 {
	tac_f32x8 centre[3], half[3], half_path[3];
	tac_f32x8 normal[3], slab_offset, slab_half;
	tac_f32x8 along[3], along_half, side_radius, stray;
} bounds8;

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
