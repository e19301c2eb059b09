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
	tac_f32x8 vertex[3][3];
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
		for (int k = 0; k < 3; k++)
			out.vertex[k][i] = narrow ? zero : ROW(vertex[k][i]);
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
		for (int k = 0; k < 3; k++)
			out.vertex[k][i] = narrow ? zero : ROW(vertex[k][i]);
	}
	out.slab_offset = ROW(slab_offset);
	out.slab_half = ROW(slab_half);
	out.along_half = narrow ? ROW(along_half) : zero;
	out.side_radius = narrow ? ROW(side_radius) : ROW(slab_radius);
	out.stray = zero;
	return out;
}

// A motion in float: x is at R x + t - (R_half x + t_half) at the start, and at R x + t + (R_half x + t_half)
// at the end. R is the mean of the rotations there. It makes no vector longer; in between no rotation differs
// from it by more than half the turn.
typedef struct midway {
	float R[3][3], t[3], R_half[3][3], t_half[3];
	float spread[3][3]; // that of tac_swept_motion
	float bend;         // how far a point strays from the chord of its path, m
	float turn;         // how far a point strays from R x about another at the distance 1
} midway;

static midway midway_make(const tac_swept_motion *s)
{
	midway m;
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			m.R[i][j] = (float)(0.5 * (s->start.R.m[i][j] + s->end.R.m[i][j]));
			m.R_half[i][j] = (float)(0.5 * (s->end.R.m[i][j] - s->start.R.m[i][j]));
			m.spread[i][j] = (float)s->spread.m[i][j];
		}
		const double t0 = tac_dvec3_get(s->start.t, i), t1 = tac_dvec3_get(s->end.t, i);
		m.t[i] = (float)(0.5 * (t0 + t1));
		m.t_half[i] = (float)(0.5 * (t1 - t0));
	}
	m.bend = (float)s->bend;
	// The square: R is not quite a rotation, so along R n a point is up to that much further than before.
	m.turn = (float)(0.5 * s->turn + 0.25 * s->turn * s->turn);
	return m;
}

INLINE tac_f32x8 smallest3(tac_f32x8 a, tac_f32x8 b, tac_f32x8 c)
{
	return tac_f32x8_min(a, tac_f32x8_min(b, c));
}

INLINE tac_f32x8 largest3(tac_f32x8 a, tac_f32x8 b, tac_f32x8 c)
{
	return tac_f32x8_max(a, tac_f32x8_max(b, c));
}

// Writes the bounds of the children of a moving node in motion. Bits of `triangles`: those that their
// vertices bound. Not inlined: it is called from many places, and seldom.
static void __attribute__((noinline)) move(const tac_body_node *n, const midway *m, unsigned triangles,
					   tac_pair_bounds8 *out, bool stationary, bool narrow)
{
	tac_f32x8 c[3], h[3], normal[3], along[3], box[3], at[3];
	tac_f32x8 bend = tac_f32x8_splat(m->bend), offset = tac_f32x8_load(n->slab_offset),
		  stray = tac_f32x8_mul(tac_f32x8_splat(m->turn), tac_f32x8_load(n->ball_radius));
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(n->centre[i]);
		h[i] = tac_f32x8_load(n->half[i]);
		normal[i] = tac_f32x8_load(n->slab_normal[i]);
		along[i] = tac_f32x8_load(n->along[i]);
	}
	// Lanes without a child keep a box that meets nothing.
	const tac_m32x8 real =
		tac_m32x8_and(tac_m32x8_from_bits(triangles), tac_f32x8_le(tac_f32x8_splat(0), h[0]));
	for (int i = 0; i < 3; i++) {
		at[i] = tac_f32x8_add(row(m->R, i, c), tac_f32x8_splat(m->t[i]));
		box[i] = row(m->spread, i, h);
	}
	for (int i = 0; i < 3; i++) {
		const tac_f32x8 turned = row(m->R, i, normal);
		tac_f32x8_storeu(out->normal[i], turned);
		if (narrow)
			tac_f32x8_storeu(out->along[i], row(m->R, i, along));
		if (!triangles)
			continue;
		tac_f32x8 v[3];
		for (int k = 0; k < 3; k++) {
			const tac_f32x8 local[3] = {tac_f32x8_load(n->vertex[k][0]),
						    tac_f32x8_load(n->vertex[k][1]),
						    tac_f32x8_load(n->vertex[k][2])};
			v[k] = row(m->R, i, local);
		}
		// The box of a triangle is that of its vertices.
		const tac_f32x8 half = tac_f32x8_splat(0.5f), lo = smallest3(v[0], v[1], v[2]),
				hi = largest3(v[0], v[1], v[2]),
				shift = tac_f32x8_mul(tac_f32x8_add(lo, hi), half);
		for (int k = 0; k < 3; k++)
			tac_f32x8_storeu(out->vertex[k][i], tac_f32x8_sub(v[k], shift));
		at[i] = tac_f32x8_add(at[i], shift);
		offset = tac_f32x8_sub(offset, tac_f32x8_mul(turned, shift));
		tac_f32x8 extent = mad(tac_f32x8_load(n->slab_half), tac_f32x8_sub(hi, lo), half);
		if (!stationary)
			extent = tac_f32x8_add(extent, stray);
		box[i] = tac_f32x8_select(real, extent, box[i]);
	}
	for (int i = 0; i < 3; i++) {
		tac_f32x8_storeu(out->centre[i], at[i]);
		if (!stationary) {
			const tac_f32x8 half_path =
				tac_f32x8_add(row(m->R_half, i, c), tac_f32x8_splat(m->t_half[i]));
			tac_f32x8_storeu(out->half_path[i], half_path);
			box[i] = tac_f32x8_add(tac_f32x8_add(box[i], tac_f32x8_abs(half_path)), bend);
		}
		tac_f32x8_storeu(out->half[i], box[i]);
	}
	tac_f32x8_storeu(out->slab_offset, offset);
	tac_f32x8_storeu(out->slab_half, tac_f32x8_load(n->slab_half));
	if (!stationary)
		tac_f32x8_storeu(out->stray, tac_f32x8_add(bend, stray));
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

// What bounds the children of a node: slabs, for triangles their vertices, or either, lane by lane.
typedef enum bounded { BY_SLABS, BY_EITHER, BY_VERTICES } bounded;

// How far children of one body are from slabs of the other. `height` is that of their centres over the
// middles of the slabs, `half` half the thickness of the slabs. The children are bounded by their own slabs:
// `cosine` is that between both normals.
INLINE tac_f32x8 gap_of_slab(const bounds8 *of, tac_f32x8 height, tac_f32x8 half, tac_f32x8 cosine)
{
	const tac_f32x8 extent =
		mad(mad(half, tac_f32x8_abs(cosine), of->slab_half), sine_of(cosine), of->side_radius);
	return tac_f32x8_sub(tac_f32x8_abs(mad(height, cosine, of->slab_offset)), extent);
}

// The same by the vertices of triangles. `normal` is that of the slabs.
INLINE tac_f32x8 gap_of_triangle(const bounds8 *of, tac_f32x8 height, tac_f32x8 half,
				 const tac_f32x8 normal[3])
{
	const tac_f32x8 v0 = dot(normal, of->vertex[0]), v1 = dot(normal, of->vertex[1]),
			v2 = dot(normal, of->vertex[2]), above = tac_f32x8_add(height, smallest3(v0, v1, v2)),
			below = tac_f32x8_add(height, largest3(v0, v1, v2));
	return tac_f32x8_sub(tac_f32x8_max(above, tac_f32x8_neg(below)), tac_f32x8_add(half, of->slab_half));
}

// The same by either. Bits of `triangles`: lanes that are bounded by vertices.
INLINE tac_f32x8 gap_of(const bounds8 *of, bounded by, unsigned triangles, tac_f32x8 height, tac_f32x8 half,
			const tac_f32x8 normal[3], tac_f32x8 cosine)
{
	if (by == BY_VERTICES)
		return gap_of_triangle(of, height, half, normal);
	const tac_f32x8 gap = gap_of_slab(of, height, half, cosine);
	if (by == BY_SLABS)
		return gap;
	return tac_f32x8_select(tac_m32x8_from_bits(triangles), gap_of_triangle(of, height, half, normal),
				gap);
}

// Lower bounds of the distance between the moving a and the fixed b, by the boxes and along the normals of
// both slabs; where a body has narrow faces, also across their length. Bits of `triangles`: lanes bounded by
// their vertices, of whichever is bounded by either.
INLINE tac_f32x8 gaps(const bounds8 *a, const bounds8 *b, bounded a_by, bounded b_by, unsigned triangles,
		      bool stationary, bool narrow)
{
	tac_f32x8 apart[3], gap[3];
	for (int i = 0; i < 3; i++) {
		apart[i] = tac_f32x8_sub(a->centre[i], b->centre[i]);
		gap[i] = tac_f32x8_sub(tac_f32x8_abs(apart[i]), tac_f32x8_add(a->half[i], b->half[i]));
	}
	// Of the centres: that of a over the slab of b, and that of b over the slab of a.
	const tac_f32x8 height_a = tac_f32x8_sub(dot(b->normal, apart), b->slab_offset),
			height_b = tac_f32x8_neg(tac_f32x8_add(dot(a->normal, apart), a->slab_offset));
	tac_f32x8 half_b = b->slab_half, half_a = a->slab_half;
	if (!stationary) {
		half_b = tac_f32x8_add(half_b,
				       tac_f32x8_add(tac_f32x8_abs(dot(b->normal, a->half_path)), a->stray));
		half_a = tac_f32x8_add(half_a,
				       tac_f32x8_add(tac_f32x8_abs(dot(a->normal, a->half_path)), a->stray));
	}
	if (narrow) {
		half_b = mad(half_b, tac_f32x8_abs(dot(b->normal, a->along)), a->along_half);
		half_a = mad(half_a, tac_f32x8_abs(dot(a->normal, b->along)), b->along_half);
	}
	const tac_f32x8 cosine = dot(a->normal, b->normal);
	tac_f32x8 slabs = tac_f32x8_max(gap_of(a, a_by, triangles, height_a, half_b, b->normal, cosine),
					gap_of(b, b_by, triangles, height_b, half_a, a->normal, cosine));
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
	midway m;
	unsigned triangles; // 0xff: children that are leaves are one triangle each; 0: they may be two
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
	const tac_body_node *n = &d->moving->pair_nodes[node];
	move(n, &d->m, narrow ? 0 : leaves(n) & d->triangles, &at->moved[place], stationary, narrow);
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
// that come near, and what is opened next of each pair: the larger one, or the one that is no triangle. `by`:
// what bounds all of them; BY_EITHER: some are triangles, bounded by their vertices. `top` is the height of
// the stack; returns the new one.
INLINE int32_t open_node(descent *d, int32_t top, uint32_t node, uint32_t child, bounded by, bool of_moving,
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
	const int32_t other = p->child[lane];
	const unsigned leaf = by == BY_VERTICES ? 0xff : leaves(n),
		       other_leaf = by == BY_VERTICES || other < 0 ? 0xff : 0;
	const bounded other_by = by != BY_EITHER ? by : other_leaf ? BY_VERTICES : BY_SLABS;
	const tac_f32x8 gap =
		gaps(&a, &b, of_moving ? by : other_by, of_moving ? other_by : by, leaf, stationary, narrow);
	unsigned hits = within(gap, d->reach), near = within(gap, d->near_reach);
	if (d->without) {
		const unsigned without = left_out(d->without, n, p->sphere[lane], !of_moving);
		hits &= ~without;
		near &= ~without;
	}
	const unsigned found = hits & leaf & other_leaf, last = near & (~hits | found);
	const tac_i32x8 own = tac_i32x8_load(n->child), ones = tac_i32x8_splat(-1);
	at->moved_near[place] |= of_moving ? last : (unsigned)(last != 0) << lane;
	if (found || by == BY_VERTICES) // most of these find something
		d->found = put(of_moving ? d->found_moving : d->found_fixed,
			       of_moving ? d->found_fixed : d->found_moving, d->found,
			       tac_i32x8_xor(own, ones), ~other, found);
	if (by == BY_VERTICES)
		return top;
	const tac_f32x8 size = tac_f32x8_add(tac_f32x8_add(b.half[0], b.half[1]), b.half[2]),
			moving_size = of_moving ? tac_f32x8_load(moving->size)
						: tac_f32x8_splat(moving->size[lane]);
	const tac_m32x8 larger = tac_f32x8_lt(size, moving_size);
	const unsigned same = (unsigned)tac_m32x8_movemask(of_moving ? larger : tac_m32x8_not(larger)),
		       again = hits & ~leaf & (same | other_leaf), then_other = hits & ~again & ~found;
	const tac_i32x8 children =
		tac_i32x8_add(tac_i32x8_loadu(lane_numbers), tac_i32x8_splat((int32_t)node * TAC_BODY_WIDTH));
	int32_t *to = of_moving ? at->moving : at->fixed, *to_other = of_moving ? at->fixed : at->moving;
	top = put(to, to_other, top, own, of_moving ? (int32_t)child : ~(int32_t)child, again);
	return put(to, to_other, top, of_moving ? tac_i32x8_xor(children, ones) : children, other,
		   then_other);
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

// Pairs of a chunk in classes that are opened in the same way: twice what bounds them, plus 1 if the node is
// a moving one.
#define CLASSES 6
typedef struct classes {
	uint64_t counts; // a byte for each class: in memory they would wait for each other
	uint64_t pairs[CLASSES][TAC_PAIR_CHUNK]; // node << 32 | child
} classes;

// Sorts pairs of the stack into classes.
INLINE void classify(const descent *d, int32_t begin, int32_t end, bool narrow, classes *out)
{
	const tac_pair_descent *at = d->at;
	const tac_body_node *const nodes[2] = {d->fixed->pair_nodes, d->moving->pair_nodes};
	uint64_t counts = 0;
	for (int32_t i = begin; i < end; i++) {
		const int32_t m = at->moving[i], f = at->fixed[i], of_fixed = -(int32_t)((uint32_t)m >> 31);
		const uint32_t node = (uint32_t)((m & ~of_fixed) | (f & of_fixed)),
			       child = (uint32_t)((f & ~of_fixed) | (~m & of_fixed));
		const tac_body_node *n = &nodes[1 + of_fixed][node],
				    *p = &nodes[-of_fixed][child / TAC_BODY_WIDTH];
		const unsigned leaf = leaves(n) & d->triangles,
			       other = -((uint32_t)p->child[child % TAC_BODY_WIDTH] >> 31) & d->triangles;
		const int by = narrow ? BY_SLABS : ((leaf | other) != 0) + ((leaf & other) == 0xff),
			  class = 2 * by + 1 + of_fixed;
		out->pairs[class][counts >> 8 * class & 0xff] = (uint64_t)node << 32 | child;
		counts += (uint64_t)1 << 8 * class;
	}
	out->counts = counts;
}

// Opens the pairs of a class. Returns the new height of the stack.
INLINE int32_t open_class(descent *d, int32_t top, const classes *c, bounded by, bool of_moving,
			  bool stationary, bool narrow)
{
	const int class = 2 * (int)by + of_moving;
	const int32_t count = (int32_t)(c->counts >> 8 * class & 0xff);
	for (int32_t i = 0; i < count; i++) {
		const uint64_t pair = c->pairs[class][i];
		top = open_node(d, top, (uint32_t)(pair >> 32), (uint32_t)pair, by, of_moving, stationary,
				narrow);
	}
	return top;
}

// Opens the last `count` pairs of the stack, class by class. Returns its new height.
INLINE int32_t open_chunk(descent *d, int32_t top, int32_t count, bool stationary, bool narrow)
{
	classes c;
	classify(d, top - count, top, narrow, &c);
	top -= count;
	d->found = 0;
	top = open_class(d, top, &c, BY_SLABS, true, stationary, narrow);
	top = open_class(d, top, &c, BY_SLABS, false, stationary, narrow);
	if (narrow)
		return top;
	top = open_class(d, top, &c, BY_EITHER, true, stationary, narrow);
	top = open_class(d, top, &c, BY_EITHER, false, stationary, narrow);
	top = open_class(d, top, &c, BY_VERTICES, true, stationary, narrow);
	return open_class(d, top, &c, BY_VERTICES, false, stationary, narrow);
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
	d.m = midway_make(&turned);
	d.triangles = moving->partners || fixed->partners ? 0 : 0xff;
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
