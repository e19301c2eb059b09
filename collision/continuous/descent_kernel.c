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
	tac_f32x8 vertex[TAC_FACE_VERTICES][3];
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
		for (int k = 0; k < TAC_FACE_VERTICES; k++)
			out.vertex[k][i] = narrow || k < 3 ? ROW(vertex[k][i]) : zero;
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
		for (int k = 0; k < TAC_FACE_VERTICES; k++)
			out.vertex[k][i] = narrow || k < 3 ? ROW(vertex[k][i]) : zero;
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
	float shrink;       // of that, what is due to R being no rotation
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
	m.shrink = (float)(0.25 * s->turn * s->turn);
	m.turn = (float)(0.5 * s->turn) + m.shrink;
	return m;
}

// The least and the most of the leaves' vertices in one coordinate. Without narrow faces leaves are
// triangles.
INLINE tac_f32x8 least_of(const tac_f32x8 v[TAC_FACE_VERTICES], bool narrow)
{
	const tac_f32x8 three = tac_f32x8_min(v[0], tac_f32x8_min(v[1], v[2]));
	return narrow ? tac_f32x8_min(three, v[3]) : three;
}

INLINE tac_f32x8 most_of(const tac_f32x8 v[TAC_FACE_VERTICES], bool narrow)
{
	const tac_f32x8 three = tac_f32x8_max(v[0], tac_f32x8_max(v[1], v[2]));
	return narrow ? tac_f32x8_max(three, v[3]) : three;
}

// How far turning carries the points of the children away from the paths of their centres. Where nodes are
// bounded along their length, a turn about that direction counts across it alone.
INLINE tac_f32x8 stray_of(const tac_body_node *n, const midway *m, const tac_f32x8 along[3], bool narrow)
{
	const tac_f32x8 turn = tac_f32x8_splat(m->turn),
			most = tac_f32x8_mul(turn, tac_f32x8_load(n->ball_radius));
	if (!narrow)
		return most;
	const tac_f32x8 half_path[3] = {row(m->R_half, 0, along), row(m->R_half, 1, along),
					row(m->R_half, 2, along)},
			lengthwise = tac_f32x8_add(tac_f32x8_sqrt(dot(half_path, half_path)),
						   tac_f32x8_splat(m->shrink)),
			height = tac_f32x8_add(tac_f32x8_abs(tac_f32x8_load(n->slab_offset)),
					       tac_f32x8_load(n->slab_half)),
			across = tac_f32x8_add(tac_f32x8_load(n->side_radius), height);
	return tac_f32x8_min(most,
			     mad(tac_f32x8_mul(lengthwise, tac_f32x8_load(n->along_half)), turn, across));
}

// Writes the bounds of the children of a moving node in motion. Bits of `leaf`: those that their vertices
// bound. Not inlined: it is called from many places, and seldom.
static void __attribute__((noinline)) move(const tac_body_node *n, const midway *m, unsigned leaf,
					   tac_pair_bounds8 *out, bool stationary, bool narrow)
{
	const int vertices = narrow ? TAC_FACE_VERTICES : 3;
	tac_f32x8 c[3], h[3], normal[3], along[3], box[3], at[3];
	tac_f32x8 bend = tac_f32x8_splat(m->bend), offset = tac_f32x8_load(n->slab_offset);
	for (int i = 0; i < 3; i++) {
		c[i] = tac_f32x8_load(n->centre[i]);
		h[i] = tac_f32x8_load(n->half[i]);
		normal[i] = tac_f32x8_load(n->slab_normal[i]);
		along[i] = tac_f32x8_load(n->along[i]);
	}
	const tac_f32x8 stray = stray_of(n, m, along, narrow);
	// Lanes without a child keep a box that meets nothing.
	const tac_m32x8 real =
		tac_m32x8_and(tac_m32x8_from_bits(leaf), tac_f32x8_le(tac_f32x8_splat(0), h[0]));
	for (int i = 0; i < 3; i++) {
		at[i] = tac_f32x8_add(row(m->R, i, c), tac_f32x8_splat(m->t[i]));
		box[i] = row(m->spread, i, h);
	}
	for (int i = 0; i < 3; i++) {
		const tac_f32x8 turned = row(m->R, i, normal);
		tac_f32x8_storeu(out->normal[i], turned);
		if (narrow)
			tac_f32x8_storeu(out->along[i], row(m->R, i, along));
		if (!leaf)
			continue;
		tac_f32x8 v[TAC_FACE_VERTICES];
		for (int k = 0; k < vertices; k++) {
			const tac_f32x8 local[3] = {tac_f32x8_load(n->vertex[k][0]),
						    tac_f32x8_load(n->vertex[k][1]),
						    tac_f32x8_load(n->vertex[k][2])};
			v[k] = row(m->R, i, local);
		}
		// The box of a leaf is that of its vertices.
		const tac_f32x8 half = tac_f32x8_splat(0.5f), lo = least_of(v, narrow),
				hi = most_of(v, narrow), shift = tac_f32x8_mul(tac_f32x8_add(lo, hi), half);
		for (int k = 0; k < vertices; k++)
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

// What bounds the children of a node: slabs, for leaves their vertices, or either, lane by lane.
typedef enum bounded { BY_SLABS, BY_EITHER, BY_VERTICES } bounded;

// The extent of children along a direction, from their centres.
typedef struct extent8 {
	tac_f32x8 middle, half;
} extent8;

// Along the direction n, by their slabs. `cosine` is that between n and their normals.
INLINE extent8 extent_of_slab(const bounds8 *of, const tac_f32x8 n[3], tac_f32x8 cosine, bool narrow)
{
	extent8 e = {
		tac_f32x8_mul(cosine, of->slab_offset),
		mad(tac_f32x8_mul(tac_f32x8_abs(cosine), of->slab_half), sine_of(cosine), of->side_radius)};
	if (narrow)
		e.half = mad(e.half, tac_f32x8_abs(dot(n, of->along)), of->along_half);
	return e;
}

// The same by the vertices of leaves.
INLINE extent8 extent_of_leaf(const bounds8 *of, const tac_f32x8 n[3], bool narrow)
{
	const tac_f32x8 half = tac_f32x8_splat(0.5f),
			v[TAC_FACE_VERTICES] = {dot(n, of->vertex[0]), dot(n, of->vertex[1]),
						dot(n, of->vertex[2]), dot(n, of->vertex[3])},
			lo = least_of(v, narrow), hi = most_of(v, narrow);
	return (extent8){tac_f32x8_mul(tac_f32x8_add(lo, hi), half),
			 mad(of->slab_half, tac_f32x8_sub(hi, lo), half)};
}

// The leaves by their vertices, the others as `slab` tells. Bits of `leaf`: which are leaves.
INLINE extent8 extent_by(const bounds8 *of, bounded by, unsigned leaf, const tac_f32x8 n[3], extent8 slab,
			 bool narrow)
{
	if (by == BY_SLABS)
		return slab;
	const extent8 vertices = extent_of_leaf(of, n, narrow);
	if (by == BY_VERTICES)
		return vertices;
	const tac_m32x8 mask = tac_m32x8_from_bits(leaf);
	return (extent8){tac_f32x8_select(mask, vertices.middle, slab.middle),
			 tac_f32x8_select(mask, vertices.half, slab.half)};
}

// Across the length of children, in their slabs.
INLINE extent8 extent_across(const bounds8 *of, bounded by, unsigned leaf, const tac_f32x8 side[3])
{
	return extent_by(of, by, leaf, side, (extent8){tac_f32x8_splat(0), of->side_radius}, true);
}

// A lower bound of the distance along the direction n, whose length is at most 1, of the moving a from the
// fixed b. `apart` leads from the centre of b to that of a.
INLINE tac_f32x8 gap_along(const tac_f32x8 n[3], const bounds8 *a, extent8 of_a, extent8 of_b,
			   const tac_f32x8 apart[3], bool stationary)
{
	const tac_f32x8 middle = tac_f32x8_add(dot(n, apart), tac_f32x8_sub(of_a.middle, of_b.middle));
	tac_f32x8 half = tac_f32x8_add(of_a.half, of_b.half);
	if (!stationary)
		half = tac_f32x8_add(half, tac_f32x8_add(tac_f32x8_abs(dot(n, a->half_path)), a->stray));
	return tac_f32x8_sub(tac_f32x8_abs(middle), half);
}

// Lower bounds of the distance between the moving a and the fixed b, by the boxes and along the normals of
// both slabs; where a body has narrow faces, also across their length. Bits of `leaf`: lanes bounded by their
// vertices, of whichever is bounded by either.
INLINE tac_f32x8 gaps(const bounds8 *a, const bounds8 *b, bounded a_by, bounded b_by, unsigned leaf,
		      bool stationary, bool narrow)
{
	tac_f32x8 apart[3], gap[3];
	for (int i = 0; i < 3; i++) {
		apart[i] = tac_f32x8_sub(a->centre[i], b->centre[i]);
		gap[i] = tac_f32x8_sub(tac_f32x8_abs(apart[i]), tac_f32x8_add(a->half[i], b->half[i]));
	}
	const tac_f32x8 cosine = dot(a->normal, b->normal);
	extent8 of_a = extent_by(a, a_by, leaf, b->normal, extent_of_slab(a, b->normal, cosine, narrow),
				 narrow),
		of_b = extent_by(b, b_by, leaf, a->normal, extent_of_slab(b, a->normal, cosine, narrow),
				 narrow);
	const extent8 slab_a = {a->slab_offset, a->slab_half}, slab_b = {b->slab_offset, b->slab_half};
	tac_f32x8 most = tac_f32x8_max(gap_along(b->normal, a, of_a, slab_b, apart, stationary),
				       gap_along(a->normal, a, slab_a, of_b, apart, stationary));
	if (narrow) {
		tac_f32x8 side[3];
		cross3(b->normal, b->along, side);
		of_a = extent_by(a, a_by, leaf, side, extent_of_slab(a, side, dot(side, a->normal), true),
				 true);
		of_b = extent_across(b, b_by, leaf, side);
		most = tac_f32x8_max(most, gap_along(side, a, of_a, of_b, apart, stationary));
		cross3(a->normal, a->along, side);
		of_a = extent_across(a, a_by, leaf, side);
		of_b = extent_by(b, b_by, leaf, side, extent_of_slab(b, side, dot(side, b->normal), true),
				 true);
		most = tac_f32x8_max(most, gap_along(side, a, of_a, of_b, apart, stationary));
	}
	return tac_f32x8_max(most, tac_f32x8_max(gap[0], tac_f32x8_max(gap[1], gap[2])));
}

static inline unsigned within(tac_f32x8 gap, float reach)
{
	return (unsigned)tac_m32x8_movemask(tac_f32x8_le(gap, tac_f32x8_splat(reach)));
}

// The children that are leaves, and lanes without a child.
static inline unsigned leaves(const tac_body_node *n)
{
	return (unsigned)tac_m32x8_movemask(tac_i32x8_lt(tac_i32x8_load(n->child), tac_i32x8_splat(0)));
}

// A descent of both trees.
typedef struct descent {
	const tac_body *moving, *fixed;
	midway m;
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
	move(n, &d->m, leaves(n), &at->moved[place], stationary, narrow);
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
// that come near, and what is opened next of each pair: the larger one, or the one that is no leaf. `by`:
// what bounds all of them; BY_EITHER: some are leaves, bounded by their vertices. `top` is the height of
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

// Visits the pairs that the chunk found. False if the visitor ended the descent.
static bool visit_found(const descent *d)
{
	for (int32_t i = 0; i < d->found; i++) {
		if (!d->visit(d->user, d->found_moving[i], d->found_fixed[i]))
			return false;
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
INLINE void classify(const descent *d, int32_t begin, int32_t end, classes *out)
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
		const unsigned leaf = leaves(n),
			       other = 0xff & -((uint32_t)p->child[child % TAC_BODY_WIDTH] >> 31);
		const int by = ((leaf | other) != 0) + ((leaf & other) == 0xff),
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
	classify(d, top - count, top, &c);
	top -= count;
	d->found = 0;
	top = open_class(d, top, &c, BY_SLABS, true, stationary, narrow);
	top = open_class(d, top, &c, BY_SLABS, false, stationary, narrow);
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
	const int64_t each = narrow ? TAC_WORK_NARROW_PAIR : TAC_WORK_NODE_PAIR,
		      left = tac_sweep_context_work_left(context) / each;
	int64_t opened = 0;
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
	tac_sweep_context_add_work(context, each * (opened + (top > 0)));
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
