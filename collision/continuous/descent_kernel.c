// The descent of two trees of collision/continuous/pairs.h, compiled for each instruction set.
#include "collision/continuous/motion8.inl"

// Inlined, so that `stationary` and `narrow` are constants and wide values stay in registers. `narrow`: a
// body has narrow faces.
#define INLINE static inline __attribute__((always_inline))

// How much rounding may take from 1 - cos^2.
#define SINE_ROUNDING 1e-6f

// The bounds of eight nodes: see tac_pair_bounds8.
typedef struct bounds8 {
	tac_f32x8 centre[3], half[3], half_path[3];
	tac_f32x8 normal[3], slab_offset, slab_half;
	tac_f32x8 along[3], along_half, side_radius, stray;
} bounds8;

// All lanes of a row, or the given one in every lane; -1: all.
#define ROW(r) (lane < 0 ? tac_f32x8_load(n->r) : tac_f32x8_splat(n->r[lane]))

// All lanes of a moving node, or one.
INLINE bounds8 load_moved(const tac_pair_bounds8 *n, int lane, bool stationary, bool narrow)
{
	const tac_f32x8 zero = tac_f32x8_splat(0);
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.centre[i] = ROW(centre[i]);
		out.half[i] = ROW(half[i]);
		out.half_path[i] = stationary ? zero : ROW(half_path[i]);
		out.normal[i] = ROW(normal[i]);
		out.along[i] = narrow ? ROW(along[i]) : zero;
	}
	out.slab_offset = ROW(slab_offset);
	out.slab_half = ROW(slab_half);
	out.along_half = narrow ? ROW(along_half) : zero;
	out.side_radius = ROW(side_radius);
	out.stray = stationary ? zero : ROW(stray);
	return out;
}

// The same for a fixed node.
INLINE bounds8 load_fixed(const tac_body_node *n, int lane, bool narrow)
{
	const tac_f32x8 zero = tac_f32x8_splat(0);
	bounds8 out;
	for (int i = 0; i < 3; i++) {
		out.centre[i] = ROW(centre[i]);
		out.half[i] = ROW(half[i]);
		out.half_path[i] = zero;
		out.normal[i] = ROW(slab_normal[i]);
		out.along[i] = narrow ? ROW(along[i]) : zero;
	}
	out.slab_offset = ROW(slab_offset);
	out.slab_half = ROW(slab_half);
	out.along_half = narrow ? ROW(along_half) : zero;
	out.side_radius = narrow ? ROW(side_radius) : ROW(slab_radius);
	out.stray = zero;
	return out;
}

// Writes the bounds of the children of a moving node in motion.
INLINE void move(const tac_body_node *n, const motion *m, tac_pair_bounds8 *out, bool stationary, bool narrow)
{
	tac_f32x8 c[3], h[3], normal[3], along[3];
	tac_f32x8 bend = tac_f32x8_splat(m->bend), half = tac_f32x8_splat(0.5f);
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(n->centre[i]);
		h[i] = tac_f32x8_load(n->half[i]);
		normal[i] = tac_f32x8_load(n->slab_normal[i]);
		along[i] = tac_f32x8_load(n->along[i]);
	}
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c0 = tac_f32x8_add(row(m->R0, i, c), tac_f32x8_splat(m->t0[i]));
		tac_f32x8_storeu(out->normal[i], row(m->R0, i, normal));
		if (narrow)
			tac_f32x8_storeu(out->along[i], row(m->R0, i, along));
		if (stationary) {
			tac_f32x8_storeu(out->centre[i], c0);
			tac_f32x8_storeu(out->half[i], row(m->spread, i, h));
			continue;
		}
		tac_f32x8 c1 = tac_f32x8_add(row(m->R1, i, c), tac_f32x8_splat(m->t1[i]));
		const tac_f32x8 half_path = tac_f32x8_mul(tac_f32x8_sub(c1, c0), half);
		tac_f32x8_storeu(out->half_path[i], half_path);
		tac_f32x8_storeu(out->centre[i], tac_f32x8_mul(tac_f32x8_add(c0, c1), half));
		tac_f32x8_storeu(
			out->half[i],
			tac_f32x8_add(tac_f32x8_add(row(m->spread, i, h), tac_f32x8_abs(half_path)), bend));
	}
	tac_f32x8_storeu(out->slab_offset, tac_f32x8_load(n->slab_offset));
	tac_f32x8_storeu(out->slab_half, tac_f32x8_load(n->slab_half));
	if (!stationary)
		tac_f32x8_storeu(out->stray,
				 mad(bend, tac_f32x8_splat(m->turn), tac_f32x8_load(n->ball_radius)));
	if (narrow)
		tac_f32x8_storeu(out->along_half, tac_f32x8_load(n->along_half));
	tac_f32x8_storeu(out->side_radius, tac_f32x8_load(narrow ? n->side_radius : n->slab_radius));
	tac_f32x8_storeu(out->size, tac_f32x8_add(tac_f32x8_add(h[0], h[1]), h[2]));
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
	tac_pair_descent *at;
	float reach, near_reach; // of the pairs and of the near box, m
	tac_f32x8 lo[3], hi[3];  // the near box, in the frame of the moving tree
	uint16_t without;        // pairs of sphere faces that are left out
	int32_t found;           // pairs of leaves in the chunk
	int32_t found_moving[8 * TAC_PAIR_CHUNK + 8], found_fixed[8 * TAC_PAIR_CHUNK + 8];
} descent;

// The lanes of a node that are left out against a child of the other body. `face` is the sphere face of that
// child, plus 1; `fixed`: the lanes are those of a fixed node.
static unsigned left_out(uint16_t without, const tac_body_node *n, int32_t face, bool fixed)
{
	unsigned lanes = 0;
	for (int k = 0; k < TAC_BODY_WIDTH && face > 0; k++) {
		const int32_t own = n->sphere[k], i = (fixed ? face : own) - 1, j = (fixed ? own : face) - 1;
		if (own > 0 && without >> (i * TAC_SPHERE_FACES_MAX + j) & 1)
			lanes |= 1u << k;
	}
	return lanes;
}

// Extends the near box by children of a moving node.
static void extend_near_box(descent *d, const tac_body_node *n, unsigned lanes)
{
	const tac_m32x8 mask = tac_m32x8_from_bits(lanes);
	for (int i = 0; i < 3; i++) {
		tac_f32x8 c = tac_f32x8_load(n->centre[i]), h = tac_f32x8_load(n->half[i]);
		d->lo[i] = tac_f32x8_select(mask, tac_f32x8_min(d->lo[i], tac_f32x8_sub(c, h)), d->lo[i]);
		d->hi[i] = tac_f32x8_select(mask, tac_f32x8_max(d->hi[i], tac_f32x8_add(c, h)), d->hi[i]);
	}
}

// The place of the bounds of a moving node in motion.
INLINE uint32_t moved(descent *d, uint32_t node, bool stationary, bool narrow)
{
	tac_pair_descent *at = d->at;
	const uint32_t place = node % TAC_PAIR_MOVED;
	if (at->moved_node[place] == (int32_t)node)
		return place;
	if (at->moved_near[place])
		extend_near_box(d, &d->moving->pair_nodes[at->moved_node[place]], at->moved_near[place]);
	move(&d->moving->pair_nodes[node], &d->m, &at->moved[place], stationary, narrow);
	at->moved_node[place] = (int32_t)node;
	at->moved_near[place] = 0;
	return place;
}

// Appends the pairs of some lanes with one item of the other body.
INLINE int32_t put(int32_t *lanes_to, int32_t *other_to, int32_t at, tac_i32x8 lanes, int32_t other,
		   unsigned bits)
{
	tac_i32x8_storeu(&lanes_to[at], tac_i32x8_compress(lanes, bits));
	tac_i32x8_storeu(&other_to[at], tac_i32x8_splat(other));
	return at + __builtin_popcount(bits);
}

static const int32_t lane_numbers[TAC_BODY_WIDTH] = {0, 1, 2, 3, 4, 5, 6, 7};

// Opens a node of one body, the moving one if `of_moving`, against a child of the other: finds its children
// that come near, and what is opened next of each pair: the larger one, or the one that is no triangle. `top`
// is the height of the stack; returns the new one.
INLINE int32_t open_node(descent *d, int32_t top, uint32_t node, uint32_t child, bool of_moving,
			 bool stationary, bool narrow)
{
	tac_pair_descent *at = d->at;
	const uint32_t parent = child / TAC_BODY_WIDTH, lane = child % TAC_BODY_WIDTH;
	const tac_body_node *n = &(of_moving ? d->moving : d->fixed)->pair_nodes[node],
			    *p = &(of_moving ? d->fixed : d->moving)->pair_nodes[parent];
	const uint32_t place = moved(d, of_moving ? node : parent, stationary, narrow);
	const tac_pair_bounds8 *moving = &at->moved[place];
	const bounds8 a = load_moved(moving, of_moving ? -1 : (int)lane, stationary, narrow),
		      b = load_fixed(of_moving ? p : n, of_moving ? (int)lane : -1, narrow);
	const tac_f32x8 gap = gaps(&a, &b, stationary, narrow),
			size = tac_f32x8_add(tac_f32x8_add(b.half[0], b.half[1]), b.half[2]),
			moving_size = of_moving ? tac_f32x8_load(moving->size)
						: tac_f32x8_splat(moving->size[lane]);
	unsigned hits = within(gap, d->reach), near = within(gap, d->near_reach);
	if (d->without) {
		const unsigned without = left_out(d->without, n, p->sphere[lane], !of_moving);
		hits &= ~without;
		near &= ~without;
	}
	const tac_m32x8 larger = tac_f32x8_lt(size, moving_size);
	const int32_t other = p->child[lane];
	const unsigned leaf = leaves(n), other_leaf = other < 0 ? 0xff : 0,
		       same = (unsigned)tac_m32x8_movemask(of_moving ? larger : tac_m32x8_not(larger)),
		       found = hits & leaf & other_leaf, again = hits & ~leaf & (same | other_leaf),
		       then_other = hits & ~again & ~found, last = near & (~hits | found);
	at->moved_near[place] |= of_moving ? last : (unsigned)(last != 0) << lane;
	const tac_i32x8 own = tac_i32x8_load(n->child), ones = tac_i32x8_splat(-1),
			children = tac_i32x8_add(tac_i32x8_loadu(lane_numbers),
						 tac_i32x8_splat((int32_t)node * TAC_BODY_WIDTH));
	int32_t *to = of_moving ? at->moving : at->fixed, *to_other = of_moving ? at->fixed : at->moving;
	top = put(to, to_other, top, own, of_moving ? (int32_t)child : ~(int32_t)child, again);
	top = put(to, to_other, top, of_moving ? tac_i32x8_xor(children, ones) : children, other, then_other);
	if (found)
		d->found = put(of_moving ? d->found_moving : d->found_fixed,
			       of_moving ? d->found_fixed : d->found_moving, d->found,
			       tac_i32x8_xor(own, ones), ~other, found);
	return top;
}

// Visits the pairs that the chunk found. A leaf has a triangle and its partner, if there is one. False if the
// visitor ended the descent.
static bool visit_found(const descent *d)
{
	const int32_t *with = d->moving->partners, *with_fixed = d->fixed->partners;
	for (int32_t i = 0; i < d->found; i++) {
		const int32_t moving = d->found_moving[i], fixed = d->found_fixed[i];
		for (int32_t a = moving; a >= 0; a = a == moving && with ? with[moving] : -1) {
			for (int32_t b = fixed; b >= 0;
			     b = b == fixed && with_fixed ? with_fixed[fixed] : -1) {
				if (!d->visit(d->user, a, b))
					return false;
			}
		}
	}
	return true;
}

// Opens the last `count` pairs of the stack, those with a moving node first. Returns its new height.
INLINE int32_t open_chunk(descent *d, int32_t top, int32_t count, bool stationary, bool narrow)
{
	const tac_pair_descent *at = d->at;
	uint32_t node[2][TAC_PAIR_CHUNK], child[2][TAC_PAIR_CHUNK];
	int32_t moving = 0, fixed = 0;
	top -= count;
	for (int32_t i = top; i < top + count; i++) {
		const int32_t m = at->moving[i], f = at->fixed[i];
		node[0][moving] = (uint32_t)m;
		child[0][moving] = (uint32_t)f;
		node[1][fixed] = (uint32_t)f;
		child[1][fixed] = (uint32_t)~m;
		moving += m >= 0;
		fixed += m < 0;
	}
	d->found = 0;
	for (int32_t i = 0; i < moving; i++)
		top = open_node(d, top, node[0][i], child[0][i], true, stationary, narrow);
	for (int32_t i = 0; i < fixed; i++)
		top = open_node(d, top, node[1][i], child[1][i], false, stationary, narrow);
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

// A descent that has opened nothing yet: the fixed root is opened against each child of the moving one.
static void begin_descent(const tac_body *moving, tac_pair_descent *at)
{
	for (int k = 0; k < TAC_BODY_WIDTH; k++) {
		at->moving[at->top] = ~k;
		at->fixed[at->top] = 0;
		at->top += moving->pair_nodes[0].half[0][k] >= 0;
	}
	for (int k = 0; k < TAC_PAIR_MOVED; k++) {
		at->moved_node[k] = -1;
		at->moved_near[k] = 0;
	}
	for (int i = 0; i < 3; i++) {
		at->lo[i] = HUGE_VALF;
		at->hi[i] = -HUGE_VALF;
	}
}

INLINE bool descend(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
		    const double *reach, tac_pair_visitor visit, void *user, tac_sweep_context *context,
		    tac_near_box *near_box, tac_pair_descent *at, bool stationary, bool narrow)
{
	double pad = ROUNDING * sweep_size(moving, fixed, sweep);
	const tac_swept_motion turned = in_frames(moving, fixed, sweep);
	descent d;
	d.moving = moving;
	d.fixed = fixed;
	d.m = motion_make(&turned);
	d.visit = visit;
	d.user = user;
	d.at = at;
	d.without = sweep->without;
	if (at->top == 0)
		begin_descent(moving, at);
	for (int i = 0; i < 3; i++) {
		d.lo[i] = tac_f32x8_splat(at->lo[i]);
		d.hi[i] = tac_f32x8_splat(at->hi[i]);
	}
	int32_t top = at->top;
	int64_t left = tac_sweep_context_work_left(context) / TAC_WORK_NODE_PAIR, opened = 0;
	bool ended = false;
	while (top > 0 && !ended && opened < left) {
		int32_t count = top < TAC_PAIR_CHUNK ? top : TAC_PAIR_CHUNK;
		count = left - opened < count ? (int32_t)(left - opened) : count;
		d.reach = (float)(*reach + pad);
		d.near_reach = near_box ? (float)(near_box->reach + pad) : d.reach;
		top = open_chunk(&d, top, count, stationary, narrow);
		opened += count;
		ended = !visit_found(&d);
	}
	// A pair that the limit leaves unopened is counted, too: the work exceeds its limit when pairs are
	// missing.
	tac_sweep_context_add_work(context, TAC_WORK_NODE_PAIR * (opened + (top > 0)));
	for (int32_t k = 0; k < TAC_PAIR_MOVED && near_box; k++) {
		if (at->moved_near[k])
			extend_near_box(&d, &moving->pair_nodes[at->moved_node[k]], at->moved_near[k]);
		at->moved_near[k] = 0;
	}
	for (int i = 0; i < 3 && near_box; i++) {
		near_box->lo[i] = at->lo[i] = tac_f32x8_hmin(d.lo[i]);
		near_box->hi[i] = at->hi[i] = tac_f32x8_hmax(d.hi[i]);
	}
	at->top = top;
	return top == 0 && !ended;
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
