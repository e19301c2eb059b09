// Oracle: the rest pose of a tool pressed against a scene, found without any code of the mover or of the
// collision library. It descends from a pose to the nearest minimum of
//
//   |p - p_device|^2 + rho^2 |log(R_device R^-1)|^2    with every feature of the tool at least `gap` away,
//
// by sequential linear constraints. All vertex-face and edge-edge distances within a margin, found by brute
// force, become half-spaces; the closest point of their intersection comes from the algorithms LDP and NNLS
// of C. Lawson and R. Hanson, "Solving Least Squares Problems", 1974, in long double. It takes hundreds of
// rounds without shortcuts, and the referee of sweep_referee.h checks every pose. test_sco_scenarios compares
// the oracle with closed forms.
#ifndef TAC_TESTS_SUPPORT_SCO_ORACLE_H
#define TAC_TESTS_SUPPORT_SCO_ORACLE_H

#include "base/algebra.h"
#include "tests/support/sweep_referee.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ORACLE_ROWS    4096
#define ORACLE_BUCKETS 1024
#define ORACLE_ROUNDS  500
#define ORACLE_SWEEPS  1000
#define ORACLE_SET     8    // columns in the passive set of NNLS: one more than its dimension
#define ORACLE_STEP    1e-3 // the longest step, m

typedef struct oracle {
	const tac_mesh *tool, *scene;
	ref_triangle *scene_triangles;
	double rho, gap;
	double radius; // of the tool about its origin
	int32_t row_count;
	double rows[ORACLE_ROWS][6], bounds[ORACLE_ROWS];
	real columns[ORACLE_ROWS][7];
	int32_t first[ORACLE_BUCKETS], next[ORACLE_ROWS]; // lists of rows by distance; -1: the end
	double twist[6];                                  // translation and rho times the turn
	bool settled; // the last pose is a minimum: the next step would be shorter than 1 nm
	int rounds;
} oracle;

// The pose in long double, from the quaternion itself.
static inline ref_pose ref_pose_of(tac_dpose T)
{
	real x = T.rotation.x, y = T.rotation.y, z = T.rotation.z, w = T.rotation.w;
	real s = 2 / (x * x + y * y + z * z + w * w);
	ref_pose p = {{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
		       {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
		       {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}},
		      {T.position.x, T.position.y, T.position.z}};
	return p;
}

// The distance of two poses in the metric, m.
static inline double oracle_distance(const oracle *o, tac_dpose a, tac_dpose b)
{
	const tac_dvec3 v = tac_dvec3_sub(b.position, a.position);
	const tac_dvec3 w = tac_dquat_log(tac_dquat_mul(b.rotation, tac_dquat_conjugate(a.rotation)));
	return sqrt(tac_dvec3_dot(v, v) + o->rho * o->rho * tac_dvec3_dot(w, w));
}

static inline double oracle_gap(const oracle *o, tac_dpose T, double reach)
{
	const ref_pose p = ref_pose_of(T);
	return ref_distance(o->tool, o->scene, &p, reach);
}

static inline oracle *oracle_make(const tac_mesh *tool, const tac_mesh *scene, double rho, double gap)
{
	oracle *o = calloc(1, sizeof *o);
	o->tool = tool;
	o->scene = scene;
	o->rho = rho;
	o->gap = gap;
	o->scene_triangles = malloc((size_t)scene->triangle_count * sizeof *o->scene_triangles);
	for (int32_t i = 0; i < scene->triangle_count; i++)
		o->scene_triangles[i] = ref_load(scene, i, NULL);
	for (int32_t i = 0; i < tool->vertex_count; i++)
		o->radius = fmax(o->radius, tac_dvec3_length(tac_dvec3_from_vec3(tool->vertices[i])));
	return o;
}

static inline void oracle_free(oracle *o)
{
	free(o->scene_triangles);
	free(o);
}

// ---- features ----

// The point of a triangle closest to p.
static inline tac_dvec3 oracle_on_triangle(tac_dvec3 p, const tac_dvec3 *t)
{
	const tac_dvec3 n =
		tac_dvec3_normalize(tac_dvec3_cross(tac_dvec3_sub(t[1], t[0]), tac_dvec3_sub(t[2], t[0])));
	bool inside = true;
	double least = HUGE_VAL;
	tac_dvec3 best = t[0];
	for (int i = 0; i < 3; i++) {
		const tac_dvec3 a = t[i], u = tac_dvec3_sub(t[(i + 1) % 3], a), d = tac_dvec3_sub(p, a);
		inside = inside && tac_dvec3_dot(tac_dvec3_cross(u, d), n) >= 0;
		const double s = fmin(fmax(tac_dvec3_dot(d, u) / tac_dvec3_dot(u, u), 0), 1);
		const tac_dvec3 q = tac_dvec3_add_scaled(a, s, u);
		if (tac_dvec3_length(tac_dvec3_sub(p, q)) < least) {
			least = tac_dvec3_length(tac_dvec3_sub(p, q));
			best = q;
		}
	}
	return inside ? tac_dvec3_add_scaled(p, -tac_dvec3_dot(tac_dvec3_sub(p, t[0]), n), n) : best;
}

// The closest points of two edges; false if an end of one is closer than its inside.
static inline bool oracle_on_edges(tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, tac_dvec3 *on_ab,
				   tac_dvec3 *on_cd)
{
	const tac_dvec3 u = tac_dvec3_sub(b, a), v = tac_dvec3_sub(d, c), w = tac_dvec3_sub(c, a);
	const tac_dvec3 n = tac_dvec3_cross(u, v);
	const double nn = tac_dvec3_dot(n, n);
	if (nn <= 1e-16 * tac_dvec3_dot(u, u) * tac_dvec3_dot(v, v))
		return false;
	const double s = tac_dvec3_dot(tac_dvec3_cross(w, v), n) / nn,
		     t = tac_dvec3_dot(tac_dvec3_cross(w, u), n) / nn;
	*on_ab = tac_dvec3_add_scaled(a, s, u);
	*on_cd = tac_dvec3_add_scaled(c, t, v);
	return s >= 0 && s <= 1 && t >= 0 && t <= 1;
}

// Adds the row that lets the features at `on_tool` and `on_scene` approach to the gap, along the line between
// them.
static inline void oracle_add(oracle *o, tac_dvec3 origin, tac_dvec3 on_tool, tac_dvec3 on_scene,
			      double margin)
{
	const tac_dvec3 apart = tac_dvec3_sub(on_tool, on_scene);
	const double d = tac_dvec3_length(apart);
	if (!(d > 0) || d > margin || o->row_count == ORACLE_ROWS)
		return;
	const tac_dvec3 n = tac_dvec3_scale(apart, 1 / d);
	const tac_dvec3 turn = tac_dvec3_cross(tac_dvec3_sub(on_tool, origin), n);
	const double row[6] = {n.x, n.y, n.z, turn.x / o->rho, turn.y / o->rho, turn.z / o->rho};
	const double bound = o->gap - d;
	// Neighbouring triangles share features, so equal rows are dropped: those of equal distance are
	// compared.
	int32_t *first = &o->first[(uint64_t)(d * 1e14) % ORACLE_BUCKETS];
	for (int32_t i = *first; i >= 0; i = o->next[i]) {
		double off = fabs(o->bounds[i] - bound) / o->gap;
		for (int k = 0; k < 6 && off < 1e-9; k++)
			off += fabs(o->rows[i][k] - row[k]);
		if (off < 1e-9)
			return;
	}
	for (int k = 0; k < 6; k++)
		o->rows[o->row_count][k] = row[k];
	o->next[o->row_count] = *first;
	*first = o->row_count;
	o->bounds[o->row_count++] = bound;
}

static inline void oracle_add_pair(oracle *o, tac_dvec3 origin, const ref_triangle *a, const ref_triangle *b,
				   double margin)
{
	const tac_dvec3 *t = a->p, *s = b->p;
	tac_dvec3 p, q;
	for (int k = 0; k < 3; k++) {
		oracle_add(o, origin, t[k], oracle_on_triangle(t[k], s), margin);
		oracle_add(o, origin, oracle_on_triangle(s[k], t), s[k], margin);
		for (int j = 0; j < 3; j++) {
			if (oracle_on_edges(t[k], t[(k + 1) % 3], s[j], s[(j + 1) % 3], &p, &q))
				oracle_add(o, origin, p, q, margin);
		}
	}
}

static inline void oracle_gather(oracle *o, tac_dpose T, double margin)
{
	const ref_pose p = ref_pose_of(T);
	ref_triangle *a = malloc((size_t)o->tool->triangle_count * sizeof *a);
	ref_triangle box = ref_load(o->tool, 0, &p);
	for (int32_t i = 0; i < o->tool->triangle_count; i++) {
		a[i] = ref_load(o->tool, i, &p);
		box.lo = tac_dvec3_min(box.lo, a[i].lo);
		box.hi = tac_dvec3_max(box.hi, a[i].hi);
	}
	o->row_count = 0;
	for (int i = 0; i < ORACLE_BUCKETS; i++)
		o->first[i] = -1;
	for (int32_t j = 0; j < o->scene->triangle_count; j++) {
		const ref_triangle *b = &o->scene_triangles[j];
		if (ref_boxes_apart(&box, b, margin))
			continue;
		for (int32_t i = 0; i < o->tool->triangle_count; i++) {
			if (!ref_boxes_apart(&a[i], b, margin) && !ref_axes_separate(&a[i], b, margin))
				oracle_add_pair(o, T.position, &a[i], b, margin);
		}
	}
	free(a);
}

// ---- descent ----

// The least-squares fit of the columns `set` of (rows, bounds)' to (0, …, 0, 1), by modified Gram-Schmidt.
static inline void oracle_fit(const oracle *o, const int32_t *set, int n, real *out)
{
	real q[ORACLE_SET][7], r[ORACLE_SET][ORACLE_SET], y[ORACLE_SET], rest[7] = {0, 0, 0, 0, 0, 0, 1};
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 7; k++)
			q[i][k] = o->columns[set[i]][k];
		for (int j = 0; j < i; j++) {
			r[j][i] = 0;
			for (int k = 0; k < 7; k++)
				r[j][i] += q[j][k] * q[i][k];
			for (int k = 0; k < 7; k++)
				q[i][k] -= r[j][i] * q[j][k];
		}
		real square = 0;
		for (int k = 0; k < 7; k++)
			square += q[i][k] * q[i][k];
		r[i][i] = sqrtl(square) + 1e-30L;
		y[i] = 0;
		for (int k = 0; k < 7; k++) {
			q[i][k] /= r[i][i];
			y[i] += q[i][k] * rest[k];
		}
		for (int k = 0; k < 7; k++)
			rest[k] -= y[i] * q[i][k];
	}
	for (int i = n - 1; i >= 0; i--) {
		out[i] = y[i];
		for (int j = i + 1; j < n; j++)
			out[i] -= r[i][j] * out[j];
		out[i] /= r[i][i];
	}
}

// The residual of (0, …, 0, 1) after the best non-negative combination of columns: algorithm NNLS.
static inline void oracle_nnls(const oracle *o, real rest[7])
{
	int32_t set[ORACLE_SET];
	real u[ORACLE_SET], fit[ORACLE_SET];
	int n = 0;
	for (int round = 0; round < ORACLE_SWEEPS; round++) {
		for (int k = 0; k < 7; k++) {
			rest[k] = k == 6;
			for (int i = 0; i < n; i++)
				rest[k] -= u[i] * o->columns[set[i]][k];
		}
		int32_t next = -1;
		real most = 1e-15L;
		for (int32_t j = 0; j < o->row_count; j++) {
			real w = 0;
			for (int k = 0; k < 7; k++)
				w += rest[k] * o->columns[j][k];
			for (int i = 0; i < n; i++)
				w = set[i] == j ? 0 : w;
			if (w > most) {
				most = w;
				next = j;
			}
		}
		if (next < 0 || n == ORACLE_SET)
			return;
		u[n] = 0;
		set[n++] = next;
		while (n > 0) {
			oracle_fit(o, set, n, fit);
			real step = 1;
			for (int i = 0; i < n; i++) {
				if (fit[i] <= 0)
					step = ref_min(step, u[i] / (u[i] - fit[i]));
			}
			int kept = 0;
			for (int i = 0; i < n; i++) {
				u[kept] = u[i] + step * (fit[i] - u[i]);
				set[kept] = set[i];
				kept += step == 1 || (u[kept] > 1e-18L && fit[i] > 0) || u[kept] > 1e-12L;
			}
			const bool done = step == 1;
			if (!done && kept == n)
				kept--; // the last column does not improve the fit
			n = kept;
			if (done)
				break;
		}
	}
}

// The twist closest to `wanted` that satisfies the rows: least distance programming. False if none does.
static inline bool oracle_solve(oracle *o, const double wanted[6])
{
	real scale = 0, rest[7];
	for (int k = 0; k < 6; k++)
		scale += (real)wanted[k] * wanted[k];
	scale = sqrtl(scale) + 1e-12L;
	for (int32_t i = 0; i < o->row_count; i++) {
		real bound = o->bounds[i], square = 0;
		for (int k = 0; k < 6; k++) {
			bound -= (real)o->rows[i][k] * wanted[k];
			square += (real)o->rows[i][k] * o->rows[i][k];
		}
		for (int k = 0; k < 6; k++)
			o->columns[i][k] = o->rows[i][k] / sqrtl(square);
		o->columns[i][6] = bound / scale / sqrtl(square);
	}
	oracle_nnls(o, rest);
	for (int k = 0; k < 6; k++)
		o->twist[k] = wanted[k] - (double)(scale * rest[k] / rest[6]);
	return rest[6] > 1e-12L;
}

// Descends from a free pose to the next minimum.
static inline tac_dpose oracle_descend(oracle *o, tac_dpose from, tac_dpose device)
{
	tac_dpose T = from;
	double reach = ORACLE_STEP, d = oracle_gap(o, T, 10 * o->gap);
	const double weight = 30; // of the missing gap, against the distance to the device
	o->settled = false;
	for (o->rounds = 0; o->rounds < ORACLE_ROUNDS && reach > 1e-9; o->rounds++) {
		const tac_dvec3 v = tac_dvec3_sub(device.position, T.position);
		const tac_dvec3 w =
			tac_dquat_log(tac_dquat_mul(device.rotation, tac_dquat_conjugate(T.rotation)));
		const double wanted[6] = {v.x, v.y, v.z, o->rho * w.x, o->rho * w.y, o->rho * w.z};
		oracle_gather(o, T, reach + 2 * o->gap);
		if (!oracle_solve(o, wanted))
			break;
		const tac_dvec3 move = tac_dvec3_load(o->twist),
				turn = tac_dvec3_scale(tac_dvec3_load(o->twist + 3), 1 / o->rho);
		const double length = tac_dvec3_length(move) + o->radius * tac_dvec3_length(turn);
		if (length < 1e-9) {
			o->settled = true;
			break;
		}
		const double s = fmin(1, reach / length);
		const tac_dpose next = {tac_dvec3_add_scaled(T.position, s, move),
					tac_dquat_normalize(tac_dquat_mul(
						tac_dquat_exp(tac_dvec3_scale(turn, s)), T.rotation))};
		const double d_next = oracle_gap(o, next, 10 * o->gap);
		const double before = oracle_distance(o, T, device) + weight * fmax(o->gap - d, 0),
			     after = oracle_distance(o, next, device) + weight * fmax(o->gap - d_next, 0);
		if (d_next > 0.3 * o->gap && after < before + 1e-12) {
			T = next;
			d = d_next;
			reach = fmin(2 * reach, ORACLE_STEP);
		} else {
			reach = 0.25 * fmin(reach, length);
		}
	}
	return T;
}

#endif
