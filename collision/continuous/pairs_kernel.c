// The kernels of collision/continuous/pairs.h that take eight pairs of triangles at a time, compiled for each
// instruction set.
#include "collision/continuous/body8.inl"
#include "collision/continuous/motion8.inl"

#define INLINE static inline __attribute__((always_inline))

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
