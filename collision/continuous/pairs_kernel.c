// The kernels of collision/continuous/pairs.h that take several pairs of faces at a time, compiled for each
// instruction set.
#define KERNEL_WIDE
#include "collision/continuous/motion8.inl"

#include <stddef.h>

// Inlined, so that `n`, how many vertices the faces have, is a constant: 3 where both bodies have triangles
// alone, or 4.
#define INLINE static inline __attribute__((always_inline))
// A loop over the edges of a face that the compiler would keep, and all of its values in memory.
#define UNROLL _Pragma("GCC unroll 4")
#define N      TAC_FACE_VERTICES

// Calls a kernel with the number of vertices.
#define WITH_VERTICES(kernel, ...)                                                                           \
	(moving->partners || fixed->partners ? kernel(__VA_ARGS__, 4) : kernel(__VA_ARGS__, 3))

// The next pairs: where they are, or, if they are too few for all lanes, in `padded`, followed by the first
// one again.
INLINE const tac_near_pair *take_pairs(const tac_near_pair *pairs, int32_t count, tac_near_pair padded[LANES])
{
	if (count >= LANES)
		return pairs;
	for (int k = 0; k < LANES; k++)
		padded[k] = pairs[k < count ? k : 0];
	return padded;
}

// A mask of the first lanes, at least one.
INLINE tac_m32w first_lanes(int32_t count)
{
	return tac_m32w_from_bits(count < LANES ? (1u << count) - 1 : (1u << LANES) - 1);
}

typedef struct wide_face {
	tac_f32w v[N][3], normal[3]; // by vertex and coordinate
} wide_face;

// The faces of one body: `first` is that of the first pair.
INLINE wide_face load_faces(const tac_body *body, const int32_t *first, int n)
{
	_Static_assert(offsetof(tac_body_face, unit) == 9 * sizeof(float), "unit follows the vertices");
	_Static_assert(offsetof(tac_body_face, fourth) == 12 * sizeof(float),
		       "and the fourth one follows it");
	const int rows = 4 * n, stride = sizeof(tac_body_face) / sizeof(float),
		  step = sizeof(tac_near_pair) / sizeof *first;
	tac_f32w e[4 * N];
	tac_f32w_gather_rows(&body->faces->vertex[0].x, stride, first, step, rows, e);
	wide_face f;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < n; k++)
			f.v[k][i] = e[(k < 3 ? 3 * k : 12) + i];
		f.normal[i] = e[9 + i];
	}
	return f;
}

INLINE wide_face place(const wide_face *t, const float R[3][3], const float x[3], int n)
{
	wide_face out;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < n; k++)
			out.v[k][i] = tac_f32w_add(row(R, i, t->v[k]), tac_f32w_splat(x[i]));
		out.normal[i] = row(R, i, t->normal);
	}
	return out;
}

// What rounding, and faces that are not quite flat, may take from a bound of a distance.
INLINE float slack_of(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep)
{
	return (float)(ROUNDING * sweep_size(moving, fixed, sweep) + moving->bulge + fixed->bulge);
}

// Extends lo and hi by the heights of the vertices of a over the plane of b.
INLINE void heights(const wide_face *a, const wide_face *b, tac_f32w *lo, tac_f32w *hi, int n)
{
	for (int k = 0; k < n; k++) {
		tac_f32w from[3];
		for (int i = 0; i < 3; i++)
			from[i] = tac_f32w_sub(a->v[k][i], b->v[0][i]);
		tac_f32w h = dot(b->normal, from);
		*lo = tac_f32w_min(*lo, h);
		*hi = tac_f32w_max(*hi, h);
	}
}

INLINE int32_t cull_by_planes(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			      double fixed_threshold, double moving_threshold, tac_near_pair *pairs,
			      int32_t count, int n)
{
	const motion m = motion_make(sweep);
	const float pad = slack_of(moving, fixed, sweep);
	tac_f32w threshold_b = tac_f32w_splat((float)fixed_threshold + pad),
		 threshold_a = tac_f32w_splat((float)moving_threshold + pad);
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += LANES) {
		tac_near_pair padded[LANES];
		const tac_near_pair *some = take_pairs(&pairs[from], count - from, padded);
		const wide_face unmoved = load_faces(moving, &some->moving, n),
				b = load_faces(fixed, &some->fixed, n);
		tac_f32w far = tac_f32w_splat(1e30f), lo_b = far, hi_b = tac_f32w_neg(far), lo_a = far,
			 hi_a = tac_f32w_neg(far);
		wide_face a = place(&unmoved, m.R0, m.t0, n);
		heights(&a, &b, &lo_b, &hi_b, n);
		heights(&b, &a, &lo_a, &hi_a, n);
		if (!sweep->stationary) {
			a = place(&unmoved, m.R1, m.t1, n);
			heights(&a, &b, &lo_b, &hi_b, n);
			heights(&b, &a, &lo_a, &hi_a, n);
		}
		tac_f32w from_b = tac_f32w_max(lo_b, tac_f32w_neg(hi_b)),
			 from_a = tac_f32w_max(lo_a, tac_f32w_neg(hi_a));
		const tac_m32w separated =
			tac_m32w_or(tac_f32w_lt(threshold_b, from_b), tac_f32w_lt(threshold_a, from_a));
		_Alignas(64) float clearance[LANES];
		tac_f32w_store(clearance, tac_f32w_sub(tac_f32w_max(from_a, from_b), tac_f32w_splat(pad)));
		unsigned keep =
			tac_m32w_movemask(tac_m32w_and(tac_m32w_not(separated), first_lanes(count - from)));
		for (; keep; keep &= keep - 1) {
			const int k = __builtin_ctz(keep);
			pairs[kept] = pairs[from + k];
			pairs[kept++].clearance = clearance[k];
		}
	}
	return kept;
}

int32_t TAC_SIMD_NAME(tac_pairs_cull_by_planes_kernel)(const tac_body *moving, const tac_body *fixed,
						       const tac_swept_motion *sweep, double fixed_threshold,
						       double moving_threshold, tac_near_pair *pairs,
						       int32_t count)
{
	return WITH_VERTICES(cull_by_planes, moving, fixed, sweep, fixed_threshold, moving_threshold, pairs,
			     count);
}

// --- features ---

#define FIXED_VERTEX TAC_FEATURE_BIT_FIXED_VERTEX
#define EDGES        TAC_FEATURE_BIT_EDGES

// Bound of the rounding of a product, relative to the product of its factors' lengths.
#define PRODUCT_ROUNDING 4e-6f

INLINE void sub3(const tac_f32w a[3], const tac_f32w b[3], tac_f32w out[3])
{
	for (int i = 0; i < 3; i++)
		out[i] = tac_f32w_sub(a[i], b[i]);
}

INLINE tac_f32w largest(const tac_f32w *v, int n)
{
	const tac_f32w three = tac_f32w_max(v[0], tac_f32w_max(v[1], v[2]));
	return n > 3 ? tac_f32w_max(three, v[3]) : three;
}

INLINE tac_f32w smallest(const tac_f32w *v, int n)
{
	const tac_f32w three = tac_f32w_min(v[0], tac_f32w_min(v[1], v[2]));
	return n > 3 ? tac_f32w_min(three, v[3]) : three;
}

// The products of a direction with vertices.
INLINE void products(const tac_f32w direction[3], const tac_f32w v[N][3], tac_f32w *out, int n)
{
	for (int k = 0; k < n; k++)
		out[k] = dot(direction, v[k]);
}

// The outlines of faces: tac_body_outline, lane by lane.
typedef struct wide_outline {
	tac_f32w outward[N][3], offset[N];
} wide_outline;

// Those of one body: `first` is the face of the first pair.
INLINE wide_outline load_outlines(const tac_body *body, const int32_t *first, int n)
{
	_Static_assert(offsetof(tac_body_outline, outward) == N * sizeof(float), "directions follow offsets");
	const int stride = sizeof(tac_body_outline) / sizeof(float),
		  step = sizeof(tac_near_pair) / sizeof *first;
	tac_f32w e[4 * N];
	tac_f32w_gather_rows(body->outlines->offset, stride, first, step, 4 * N, e);
	wide_outline o;
	for (int k = 0; k < n; k++) {
		o.offset[k] = e[k];
		for (int i = 0; i < 3; i++)
			o.outward[k][i] = e[N + 3 * k + i];
	}
	return o;
}

INLINE wide_outline place_outline(const wide_outline *o, const float R[3][3], const float x[3], int n)
{
	wide_outline out;
	for (int k = 0; k < n; k++) {
		out.offset[k] = o->offset[k];
		for (int i = 0; i < 3; i++) {
			out.outward[k][i] = row(R, i, o->outward[k]);
			out.offset[k] = mad(out.offset[k], out.outward[k][i], tac_f32w_splat(x[i]));
		}
	}
	return out;
}

// One face over another: the heights of its vertices over the plane of the other, their distances from it
// along the plane, and a lower bound of the distance of both faces along `away`, a vector of that length.
// Apart from rounding, the distances may be too small, never too large.
typedef struct wide_over {
	tac_f32w height[N], beside[N], clearance, away[3];
	tac_f32w edge_beside[N]; // the same of its edges
} wide_over;

// a over the plane of b, with the outline of b.
INLINE wide_over measure_over(const wide_face *a, const wide_face *b, const wide_outline *outline, int n)
{
	const tac_f32w zero = tac_f32w_splat(0);
	wide_over o;
	for (int k = 0; k < n; k++) {
		tac_f32w from[3];
		sub3(a->v[k], b->v[0], from);
		o.height[k] = dot(b->normal, from);
		o.beside[k] = o.edge_beside[k] = zero;
	}
	tac_f32w beside = zero, aside[3] = {zero, zero, zero};
	UNROLL for (int j = 0; j < n; j++)
	{
		tac_f32w away[N];
		for (int k = 0; k < n; k++) {
			away[k] = tac_f32w_sub(dot(outline->outward[j], a->v[k]), outline->offset[j]);
			o.beside[k] = tac_f32w_max(o.beside[k], away[k]);
		}
		for (int k = 0; k < n; k++)
			o.edge_beside[k] =
				tac_f32w_max(o.edge_beside[k], tac_f32w_min(away[k], away[(k + 1) % n]));
		tac_f32w least = smallest(away, n);
		tac_m32w more = tac_f32w_lt(beside, least);
		beside = tac_f32w_select(more, least, beside);
		for (int i = 0; i < 3; i++)
			aside[i] = tac_f32w_select(more, outline->outward[j][i], aside[i]);
	}
	tac_f32w lo = smallest(o.height, n), hi = largest(o.height, n);
	tac_f32w above = tac_f32w_max(zero, tac_f32w_max(lo, tac_f32w_neg(hi)));
	o.clearance = tac_f32w_sqrt(mad(tac_f32w_mul(above, above), beside, beside));
	tac_f32w up = tac_f32w_select(tac_f32w_lt(hi, zero), tac_f32w_neg(above), above);
	for (int i = 0; i < 3; i++)
		o.away[i] = mad(tac_f32w_mul(up, b->normal[i]), beside, aside[i]);
	return o;
}

// Whether vertex k may come within the margin of the other face.
INLINE tac_m32w vertex_near(const wide_over *o, int k, tac_f32w margin)
{
	return tac_m32w_and(tac_f32w_le(tac_f32w_abs(o->height[k]), margin),
			    tac_f32w_le(o->beside[k], margin));
}

// Whether edge k may come within the margin of the other face.
INLINE tac_m32w edge_near(const wide_over *o, int k, tac_f32w margin, int n)
{
	tac_f32w a = o->height[k], b = o->height[(k + 1) % n];
	return tac_m32w_and(tac_m32w_and(tac_f32w_le(tac_f32w_min(a, b), margin),
					 tac_f32w_le(tac_f32w_neg(margin), tac_f32w_max(a, b))),
			    tac_f32w_le(o->edge_beside[k], margin));
}

// Whether the edges u and w, from points that are r apart, may come within the margin between their ends.
// `slack` is the rounding of r, `length` a bound of its length.
INLINE tac_m32w edges_near(const tac_f32w u[3], tac_f32w u_length, const tac_f32w w[3], tac_f32w w_length,
			   const tac_f32w r[3], tac_f32w length, tac_f32w margin, tac_f32w slack)
{
	tac_f32w n[3], across[3];
	cross3(u, w, n);
	tac_f32w nn = dot(n, n), n_length = tac_f32w_sqrt(nn);
	// The rounding of a product of r and n, and, times the length of an edge, of its parameter times nn.
	tac_f32w product = tac_f32w_mul(tac_f32w_mul(u_length, w_length), length);
	tac_f32w error = mad(tac_f32w_mul(slack, n_length), product, tac_f32w_splat(PRODUCT_ROUNDING));
	tac_m32w near = tac_f32w_le(tac_f32w_abs(dot(r, n)), mad(error, margin, n_length));
	cross3(w, r, across);
	tac_f32w at = dot(across, n), room = tac_f32w_mul(error, w_length);
	near = tac_m32w_and(near, tac_f32w_le(tac_f32w_neg(room), at));
	near = tac_m32w_and(near, tac_f32w_le(at, tac_f32w_add(nn, room)));
	cross3(u, r, across);
	at = dot(across, n);
	room = tac_f32w_mul(error, u_length);
	near = tac_m32w_and(near, tac_f32w_le(tac_f32w_neg(room), at));
	return tac_m32w_and(near, tac_f32w_le(at, tac_f32w_add(nn, room)));
}

// The features of a pair that are examined at its faces.
INLINE int32_t owned_features(const tac_body_face *a, const tac_body_face *b)
{
	// Bit k becomes bit 4 k.
	const int32_t spread =
		(a->edges & 1) | (a->edges & 2) << 3 | (a->edges & 4) << 6 | (a->edges & 8) << 9;
	return a->vertices | b->vertices << FIXED_VERTEX | spread * b->edges << EDGES;
}

// Pairs of faces with their outlines, those of the moving body in its own frame.
typedef struct wide_pair {
	wide_face a, b;
	wide_outline outline_a, outline_b;
} wide_pair;

INLINE wide_pair load_pairs(const tac_body *moving, const tac_body *fixed, const tac_near_pair *some, int n)
{
	return (wide_pair){
		.a = load_faces(moving, &some->moving, n),
		.b = load_faces(fixed, &some->fixed, n),
		.outline_a = load_outlines(moving, &some->moving, n),
		.outline_b = load_outlines(fixed, &some->fixed, n),
	};
}

// Pairs of faces at a pose.
typedef struct wide_meeting {
	wide_face a;              // in the fixed frame
	wide_over over_a, over_b; // over the plane of a, and of b
	tac_f32w clearance;
} wide_meeting;

INLINE wide_meeting meet(const wide_pair *p, const float R[3][3], const float t[3], int n)
{
	wide_meeting m = {.a = place(&p->a, R, t, n)};
	const wide_outline outline_a = place_outline(&p->outline_a, R, t, n);
	m.over_b = measure_over(&m.a, &p->b, &p->outline_b, n);
	m.over_a = measure_over(&p->b, &m.a, &outline_a, n);
	m.clearance = tac_f32w_max(m.over_a.clearance, m.over_b.clearance);
	return m;
}

// Those of the owned features that may be near: vertices near the other face, and pairs of edges each of
// which may be near the other's face.
INLINE tac_i32w near_features(const wide_meeting *m, tac_i32w owned, tac_f32w near, int n)
{
	const tac_i32w none = tac_i32w_splat(0);
	tac_i32w vertices = none, edges_a = none, edges_b = none;
	for (int k = 0; k < n; k++) {
		// All pairs of edges with edge k of a, and with edge k of b.
		const tac_i32w a = tac_i32w_splat(1 << k), b = tac_i32w_splat(1 << (FIXED_VERTEX + k)),
			       with_a = tac_i32w_splat((int32_t)(0xFU << (EDGES + TAC_FACE_VERTICES * k))),
			       with_b = tac_i32w_splat((int32_t)(0x1111U << (EDGES + k)));
		vertices = tac_i32w_or(vertices, tac_i32w_select(vertex_near(&m->over_b, k, near), a, none));
		vertices = tac_i32w_or(vertices, tac_i32w_select(vertex_near(&m->over_a, k, near), b, none));
		edges_a = tac_i32w_or(edges_a,
				      tac_i32w_select(edge_near(&m->over_b, k, near, n), with_a, none));
		edges_b = tac_i32w_or(edges_b,
				      tac_i32w_select(edge_near(&m->over_a, k, near, n), with_b, none));
	}
	const tac_m32w far = tac_f32w_lt(near, m->clearance);
	return tac_i32w_select(far, none,
			       tac_i32w_and(owned, tac_i32w_or(vertices, tac_i32w_and(edges_a, edges_b))));
}

// The edges of faces, with their lengths.
typedef struct wide_edges {
	tac_f32w along[N][3], length[N];
} wide_edges;

INLINE wide_edges edges_of(const wide_face *t, int n)
{
	wide_edges e;
	for (int k = 0; k < n; k++) {
		sub3(t->v[(k + 1) % n], t->v[k], e.along[k]);
		e.length[k] = tac_f32w_sqrt(dot(e.along[k], e.along[k]));
	}
	return e;
}

// The edges of faces in the moving frame, turned. They are not those of the placed vertices: so their
// rounding is relative to their own length.
INLINE wide_edges turned_edges(const wide_face *t, const float R[3][3], int n)
{
	wide_edges e = edges_of(t, n);
	for (int k = 0; k < n; k++) {
		const tac_f32w along[3] = {e.along[k][0], e.along[k][1], e.along[k][2]};
		for (int i = 0; i < 3; i++)
			e.along[k][i] = row(R, i, along);
	}
	return e;
}

// A bound of the distance of any vertex from the first one.
INLINE tac_f32w extent_of(const wide_edges *e, int n)
{
	const tac_f32w ends = tac_f32w_add(e->length[0], e->length[n - 1]);
	return n > 3 ? tac_f32w_add(ends, e->length[1]) : ends;
}

// The features without those pairs of edges that do not come near each other.
INLINE tac_i32w near_edges(const wide_face *unmoved, const wide_face *b, const motion *m, tac_i32w features,
			   tac_f32w near, tac_f32w slack, int n)
{
	const wide_face a = place(unmoved, m->R0, m->t0, n);
	const wide_edges edges_a = turned_edges(unmoved, m->R0, n), edges_b = edges_of(b, n);
	tac_f32w r[3];
	sub3(a.v[0], b->v[0], r);
	const tac_f32w length = tac_f32w_add(tac_f32w_sqrt(dot(r, r)),
					     tac_f32w_add(extent_of(&edges_a, n), extent_of(&edges_b, n)));
	const tac_i32w none = tac_i32w_splat(0);
	tac_i32w out = tac_i32w_and(features, tac_i32w_splat((1 << EDGES) - 1));
	for (int k = 0; k < n; k++) {
		for (int j = 0; j < n; j++) {
			const tac_i32w bit = tac_i32w_splat(1 << (EDGES + TAC_FACE_VERTICES * k + j));
			tac_m32w both = tac_i32w_eq(tac_i32w_and(features, bit), bit);
			if (!tac_m32w_any(both))
				continue;
			sub3(a.v[k], b->v[j], r);
			both = tac_m32w_and(both,
					    edges_near(edges_a.along[k], edges_a.length[k], edges_b.along[j],
						       edges_b.length[j], r, length, near, slack));
			out = tac_i32w_or(out, tac_i32w_select(both, bit, none));
		}
	}
	return out;
}

// b where a is not a number. Not fmaxf: that is a call.
INLINE float larger(float a, float b)
{
	return a > b ? a : b;
}

// Drops edges that are far from each other from the features of the pairs at `which`.
INLINE void drop_far_edges(const tac_body *moving, const tac_body *fixed, const motion *m, float near,
			   float slack, const tac_near_pair *pairs, const int32_t *which, int count,
			   uint32_t *features, int n)
{
	tac_near_pair some[LANES];
	int32_t bits[LANES];
	for (int k = 0; k < LANES; k++) {
		const int32_t at = which[k < count ? k : 0];
		some[k] = pairs[at];
		bits[k] = k < count ? (int32_t)features[at] : 0;
	}
	const wide_face a = load_faces(moving, &some->moving, n), b = load_faces(fixed, &some->fixed, n);
	tac_i32w_storeu(bits, near_edges(&a, &b, m, tac_i32w_loadu(bits), tac_f32w_splat(near),
					 tac_f32w_splat(slack), n));
	for (int k = 0; k < count; k++)
		features[which[k]] = (uint32_t)bits[k];
}

INLINE void find_near_features(const tac_body *moving, const tac_body *fixed, const tac_drigid *T,
			       double margin, tac_near_pair *pairs, int32_t count, uint32_t *out_features,
			       int n)
{
	const tac_swept_motion still = tac_swept_motion_stationary(*T);
	const motion m = motion_make(&still);
	const float pad = slack_of(moving, fixed, &still), near = (float)margin + pad;
	// Pairs with edges wait until they fill all lanes: they take long, and are few.
	int32_t waiting[2 * LANES];
	int waiting_count = 0;
	for (int32_t from = 0; from < count; from += LANES) {
		const int lanes = count - from < LANES ? count - from : LANES;
		tac_near_pair padded[LANES];
		const tac_near_pair *some = take_pairs(&pairs[from], lanes, padded);
		const wide_pair p = load_pairs(moving, fixed, some, n);
		const wide_meeting met = meet(&p, m.R0, m.t0, n);
		_Alignas(64) float clearance[LANES];
		tac_f32w_store(clearance, tac_f32w_sub(met.clearance, tac_f32w_splat(pad)));
		int32_t bits[LANES];
		for (int k = 0; k < LANES; k++)
			bits[k] =
				owned_features(&moving->faces[some[k].moving], &fixed->faces[some[k].fixed]);
		tac_i32w_storeu(bits, near_features(&met, tac_i32w_loadu(bits), tac_f32w_splat(near), n));
		for (int k = 0; k < lanes; k++) {
			pairs[from + k].clearance = larger(clearance[k], pairs[from + k].clearance);
			out_features[from + k] = (uint32_t)bits[k];
			waiting[waiting_count] = from + k;
			waiting_count += (uint32_t)bits[k] >> EDGES != 0;
		}
		const bool last = from + LANES >= count;
		while (waiting_count >= LANES || (last && waiting_count > 0)) {
			const int some_count = waiting_count < LANES ? waiting_count : LANES;
			drop_far_edges(moving, fixed, &m, near, 2 * pad, pairs, waiting, some_count,
				       out_features, n);
			waiting_count -= some_count;
			for (int i = 0; i < waiting_count; i++)
				waiting[i] = waiting[LANES + i];
		}
	}
}

void TAC_SIMD_NAME(tac_pairs_near_features_kernel)(const tac_body *moving, const tac_body *fixed,
						   const tac_drigid *T, double margin, tac_near_pair *pairs,
						   int32_t count, uint32_t *out_features)
{
	WITH_VERTICES(find_near_features, moving, fixed, T, margin, pairs, count, out_features);
}

// --- separating axes ---

// The axis that separates each pair, from b to a, and the support of b along it.
INLINE void axes_of(const wide_meeting *m, const wide_face *b, tac_f32w normal[3], tac_f32w *offset, int n)
{
	const tac_f32w zero = tac_f32w_splat(0);
	tac_m32w from_a = tac_f32w_lt(m->over_b.clearance, m->over_a.clearance);
	tac_m32w separated = tac_f32w_lt(zero, m->clearance);
	tac_f32w scale = tac_f32w_select(
		separated, tac_f32w_div(tac_f32w_splat((float)TAC_AXIS_LENGTH), m->clearance), zero);
	for (int i = 0; i < 3; i++) {
		tac_f32w away = tac_f32w_select(from_a, tac_f32w_neg(m->over_a.away[i]), m->over_b.away[i]);
		normal[i] = tac_f32w_mul(away, scale);
	}
	tac_f32w at[N];
	products(normal, b->v, at, n);
	*offset = largest(at, n);
}

// Axes of some pairs, with the support of b and the vertices of a in the moving frame.
typedef struct wide_axes {
	tac_f32w normal[3], offset, vertex[N][3];
} wide_axes;

// How far the axes separate the pairs at a pose.
INLINE tac_f32w separation(const wide_axes *p, const float R[3][3], const float t[3], int n)
{
	tac_f32w local[3], at = tac_f32w_neg(p->offset);
	for (int i = 0; i < 3; i++)
		at = mad(at, p->normal[i], tac_f32w_splat(t[i]));
	for (int i = 0; i < 3; i++) { // the axis in the moving frame
		tac_f32w x = tac_f32w_mul(tac_f32w_splat(R[0][i]), p->normal[0]);
		local[i] = mad(mad(x, tac_f32w_splat(R[1][i]), p->normal[1]), tac_f32w_splat(R[2][i]),
			       p->normal[2]);
	}
	tac_f32w along[N];
	products(local, p->vertex, along, n);
	return tac_f32w_add(at, smallest(along, n));
}

// The largest float up to x: a float is larger than x if and only if it is larger than that.
INLINE float rounded_down(double x)
{
	float y = (float)x;
	return (double)y > x ? nextafterf(y, -INFINITY) : y;
}

// The axes of the pairs from `from` on.
INLINE void load_axes(const tac_separating_axes *axes, int32_t from, wide_axes *out, int n)
{
	for (int i = 0; i < 3; i++) {
		out->normal[i] = tac_f32w_loadu(&axes->normal[i][from]);
		for (int k = 0; k < n; k++)
			out->vertex[k][i] = tac_f32w_loadu(&axes->vertex[k][i][from]);
	}
	out->offset = tac_f32w_loadu(&axes->offset[from]);
}

// Appends the chosen ones to `kept` axes.
INLINE void append_axes(tac_separating_axes *axes, int32_t kept, tac_m32w chosen, const wide_axes *some,
			int n)
{
	const tac_orderw order = tac_m32w_order(chosen);
	for (int i = 0; i < 3; i++) {
		tac_f32w_pack(&axes->normal[i][kept], order, some->normal[i]);
		for (int k = 0; k < n; k++)
			tac_f32w_pack(&axes->vertex[k][i][kept], order, some->vertex[k][i]);
	}
	tac_f32w_pack(&axes->offset[kept], order, some->offset);
}

INLINE int32_t find_axes(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			 double reach, tac_near_pair *pairs, int32_t first, int32_t end, int32_t kept,
			 tac_separating_axes *axes, int n)
{
	const motion m = motion_make(sweep);
	const tac_f32w pad = tac_f32w_splat(slack_of(moving, fixed, sweep) + (float)sweep->bend),
		       limit = tac_f32w_splat(rounded_down(reach));
	for (int32_t from = first; from < end; from += LANES) {
		tac_near_pair padded[LANES];
		const tac_near_pair *some = take_pairs(&pairs[from], end - from, padded);
		const wide_pair p = load_pairs(moving, fixed, some, n);
		const wide_meeting met = meet(&p, m.R0, m.t0, n);
		wide_axes found;
		axes_of(&met, &p.b, found.normal, &found.offset, n);
		for (int k = 0; k < n; k++) {
			for (int i = 0; i < 3; i++)
				found.vertex[k][i] = p.a.v[k][i];
		}
		tac_f32w clear = met.clearance;
		if (!sweep->stationary)
			clear = tac_f32w_min(clear, separation(&found, m.R1, m.t1, n));
		clear = tac_f32w_sub(clear, pad);
		tac_m32w near =
			tac_m32w_and(tac_m32w_not(tac_f32w_lt(limit, clear)), first_lanes(end - from));
		append_axes(axes, kept, near, &found, n);
		_Alignas(64) float clearance[LANES];
		tac_f32w_store(clearance, clear);
		const unsigned bits = tac_m32w_movemask(near);
		for (int k = 0; k < LANES && from + k < end; k++) {
			pairs[kept] = (tac_near_pair){pairs[from + k].moving, pairs[from + k].fixed,
						      clearance[k], 0};
			kept += (int32_t)(bits >> k & 1);
		}
	}
	return kept;
}

int32_t TAC_SIMD_NAME(tac_pairs_find_axes_kernel)(const tac_body *moving, const tac_body *fixed,
						  const tac_swept_motion *sweep, double reach,
						  tac_near_pair *pairs, int32_t first, int32_t end,
						  int32_t kept, tac_separating_axes *axes)
{
	return WITH_VERTICES(find_axes, moving, fixed, sweep, reach, pairs, first, end, kept, axes);
}

// The least square of the area that two edges span, m^4, for a direction across them.
#define CROSS_MIN 1e-30f

// Pairs at both ends of a sweep, and what a direction has to be worth.
typedef struct wide_ends {
	tac_f32w a[2][N][3], b[N][3]; // vertices relative to the first one of b
	tac_f32w enough;              // beyond this no direction that turns is taken
	tac_f32w charge;              // what is taken from the separation by directions that turn
} wide_ends;

// The best direction that was found for each pair. It is not a part of wide_ends, so that it stays in
// registers.
typedef struct wide_best {
	tac_f32w normal[3]; // zero: it turns with the body
	tac_f32w clearance;
} wide_best;

// How far the direction d separates the pairs at one end of the sweep, and how far its opposite does.
INLINE void separation_at(const wide_ends *s, int end, const tac_f32w d[3], tac_f32w out[2], int n)
{
	tac_f32w a[N], b[N];
	products(d, s->a[end], a, n);
	products(d, s->b, b, n);
	b[0] = tac_f32w_splat(0);
	out[0] = tac_f32w_sub(smallest(a, n), largest(b, n));
	out[1] = tac_f32w_sub(smallest(b, n), largest(a, n));
}

// Takes the direction d, of the length 1 at most, where it separates the pairs further, or leaves them less
// deep in each other; zero is none. It is that at one end of the sweep, and is fixed.
INLINE void try_direction(const wide_ends *s, int end, const tac_f32w d[3], wide_best *best, int n)
{
	const tac_m32w valid = tac_f32w_lt(tac_f32w_splat(0), dot(d, d));
	tac_f32w here[2], there[2];
	separation_at(s, end, d, here, n);
	separation_at(s, !end, d, there, n);
	for (int side = 0; side < 2; side++) {
		const tac_f32w clear = tac_f32w_min(here[side], there[side]);
		const tac_m32w better = tac_m32w_and(valid, tac_f32w_lt(best->clearance, clear));
		for (int i = 0; i < 3; i++)
			best->normal[i] =
				tac_f32w_select(better, side ? tac_f32w_neg(d[i]) : d[i], best->normal[i]);
		best->clearance = tac_f32w_select(better, clear, best->clearance);
	}
}

// The same for a direction that turns with the body, where no other separates by enough. `turn` leads from
// that end to the other one.
INLINE void try_turning(const wide_ends *s, int end, const tac_f32w d[3], const float turn[3][3],
			wide_best *best, int n)
{
	const tac_f32w turned[3] = {row(turn, 0, d), row(turn, 1, d), row(turn, 2, d)};
	const tac_m32w valid = tac_f32w_lt(tac_f32w_splat(0), dot(d, d));
	tac_f32w here[2], there[2];
	separation_at(s, end, d, here, n);
	separation_at(s, !end, turned, there, n);
	for (int side = 0; side < 2; side++) {
		const tac_f32w clear = tac_f32w_sub(tac_f32w_min(here[side], there[side]), s->charge);
		const tac_m32w better = tac_m32w_and(tac_m32w_and(valid, tac_f32w_lt(best->clearance, clear)),
						     tac_f32w_le(best->clearance, s->enough));
		for (int i = 0; i < 3; i++)
			best->normal[i] = tac_f32w_select(better, tac_f32w_splat(0), best->normal[i]);
		best->clearance = tac_f32w_select(better, clear, best->clearance);
	}
}

// Tries the directions across an edge of each face of the pairs at one end of the sweep: fixed ones, or, with
// `turn`, ones that turn with the body.
INLINE void try_edges(const wide_ends *s, int end, const wide_pair *p, const motion *m,
		      const float (*turn)[3], wide_best *best, int n)
{
	const wide_edges edges_a = turned_edges(&p->a, m->R0, n), edges_b = edges_of(&p->b, n);
	// All directions first: roots and quotients take long.
	tac_f32w across[N * N][3];
	for (int k = 0; k < n * n; k++) {
		cross3(edges_a.along[k / n], edges_b.along[k % n], across[k]);
		const tac_f32w square = dot(across[k], across[k]);
		const tac_f32w unit = tac_f32w_select(
			tac_f32w_lt(tac_f32w_splat(CROSS_MIN), square),
			tac_f32w_div(tac_f32w_splat((float)TAC_AXIS_LENGTH), tac_f32w_sqrt(square)),
			tac_f32w_splat(0));
		for (int i = 0; i < 3; i++)
			across[k][i] = tac_f32w_mul(across[k][i], unit);
	}
	for (int k = 0; k < n * n; k++) {
		if (turn)
			try_turning(s, end, across[k], turn, best, n);
		else
			try_direction(s, end, across[k], best, n);
	}
}

// The bits of every eight lanes of which one is set: the pairs that are tried together are the same in every
// variant, and so are the results.
INLINE unsigned whole_eights(unsigned bits)
{
	return (bits & 0xff ? 0xffu : 0) | (bits & 0xff00 ? 0xff00u : 0);
}

INLINE int32_t separate(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			double enough, double enough_turning, tac_near_pair *pairs, int32_t count,
			tac_vec3 *out_directions, int n)
{
	const tac_swept_motion back = {.start = sweep->end, .end = sweep->start};
	const motion m[2] = {motion_make(sweep), motion_make(&back)};
	const tac_dmat3 Q = tac_dmat3_mul(sweep->end.R, tac_dmat3_transpose(sweep->start.R));
	float turn[2][3][3];
	for (int i = 0; i < 9; i++)
		turn[0][i / 3][i % 3] = turn[1][i % 3][i / 3] = (float)Q.m[i / 3][i % 3];
	const tac_f32w pad = tac_f32w_splat((float)(ROUNDING * sweep_size(moving, fixed, sweep))),
		       limit = tac_f32w_add(tac_f32w_splat((float)enough), pad),
		       charge = tac_f32w_splat((float)(enough_turning - enough));
	int32_t with_edges = 0;
	for (int32_t from = 0; from < count; from += LANES) {
		const int lanes = count - from < LANES ? count - from : LANES;
		tac_near_pair padded[LANES];
		const tac_near_pair *some = take_pairs(&pairs[from], lanes, padded);
		const wide_pair p = load_pairs(moving, fixed, some, n);
		wide_meeting met[2];
		wide_ends s = {.enough = limit, .charge = charge};
		for (int e = 0; e < 2; e++) {
			met[e] = meet(&p, m[e].R0, m[e].t0, n);
			for (int k = 0; k < n; k++)
				sub3(met[e].a.v[k], p.b.v[0], s.a[e][k]);
		}
		wide_best best = {.clearance = tac_f32w_splat(-1e30f)};
		for (int k = 0; k < n; k++)
			sub3(p.b.v[k], p.b.v[0], s.b[k]);
		for (int i = 0; i < 3; i++)
			best.normal[i] = tac_f32w_splat(0);
		for (int e = 0; e < 2; e++) {
			tac_f32w normal[3], offset;
			axes_of(&met[e], &p.b, normal, &offset, n);
			try_direction(&s, e, normal, &best, n);
			try_turning(&s, e, normal, (const float(*)[3])turn[e], &best, n);
		}
		// Fixed directions at the start and at the end, then turning ones, as long as pairs are left.
		for (int stage = 0; stage < 4; stage++) {
			const int e = stage % 2;
			const tac_m32w left = tac_m32w_and(first_lanes(lanes),
							   tac_m32w_not(tac_f32w_lt(limit, best.clearance)));
			if (!tac_m32w_any(left))
				break;
			const tac_m32w tried = tac_m32w_from_bits(whole_eights(tac_m32w_movemask(left)));
			wide_best other = best;
			if (stage < 2)
				try_edges(&s, e, &p, &m[e], NULL, &other, n);
			else
				try_edges(&s, e, &p, &m[e], (const float(*)[3])turn[e], &other, n);
			for (int k = 0; k < 3; k++)
				best.normal[k] = tac_f32w_select(tried, other.normal[k], best.normal[k]);
			best.clearance = tac_f32w_select(tried, other.clearance, best.clearance);
			with_edges += __builtin_popcount(
				tac_m32w_movemask(tac_m32w_and(tried, first_lanes(lanes))));
		}
		_Alignas(64) float clearance[LANES], normal[3][LANES];
		tac_f32w_store(clearance, tac_f32w_sub(best.clearance, pad));
		for (int k = 0; k < 3; k++)
			tac_f32w_store(normal[k], best.normal[k]);
		for (int k = 0; k < lanes; k++) {
			pairs[from + k].clearance = clearance[k];
			out_directions[from + k] = tac_vec3_make(normal[0][k], normal[1][k], normal[2][k]);
		}
	}
	return with_edges;
}

int32_t TAC_SIMD_NAME(tac_pairs_separate_kernel)(const tac_body *moving, const tac_body *fixed,
						 const tac_swept_motion *sweep, double enough,
						 double enough_turning, tac_near_pair *pairs, int32_t count,
						 tac_vec3 *out_directions)
{
	return WITH_VERTICES(separate, moving, fixed, sweep, enough, enough_turning, pairs, count,
			     out_directions);
}

INLINE int32_t cull_by_axes(const tac_body *moving, const tac_body *fixed, const tac_swept_motion *sweep,
			    double threshold, const tac_near_pair *pairs, const tac_separating_axes *axes,
			    int32_t count, tac_near_pair *out_pairs, int n)
{
	const motion m = motion_make(sweep);
	const tac_f32w pad = tac_f32w_splat((float)(ROUNDING * sweep_size(moving, fixed, sweep))),
		       limit = tac_f32w_splat((float)threshold);
	int32_t kept = 0;
	for (int32_t from = 0; from < count; from += LANES) {
		wide_axes p;
		load_axes(axes, from, &p, n);
		tac_f32w clear = separation(&p, m.R0, m.t0, n);
		if (!sweep->stationary)
			clear = tac_f32w_min(clear, separation(&p, m.R1, m.t1, n));
		clear = tac_f32w_sub(clear, pad);
		tac_m32w near = tac_m32w_not(tac_f32w_lt(limit, clear));
		unsigned keep = tac_m32w_movemask(tac_m32w_and(near, first_lanes(count - from)));
		_Alignas(64) float clearance[LANES];
		tac_f32w_store(clearance, clear);
		for (; keep; keep &= keep - 1) {
			int k = __builtin_ctz(keep);
			const tac_near_pair *near_pair = &pairs[from + k];
			out_pairs[kept++] = (tac_near_pair){near_pair->moving, near_pair->fixed, clearance[k],
							    from + k + 1};
		}
	}
	return kept;
}

int32_t TAC_SIMD_NAME(tac_pairs_cull_by_axes_kernel)(const tac_body *moving, const tac_body *fixed,
						     const tac_swept_motion *sweep, double threshold,
						     const tac_near_pair *pairs,
						     const tac_separating_axes *axes, int32_t count,
						     tac_near_pair *out_pairs)
{
	return WITH_VERTICES(cull_by_axes, moving, fixed, sweep, threshold, pairs, axes, count, out_pairs);
}
