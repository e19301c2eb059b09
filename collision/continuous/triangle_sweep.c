#include "collision/continuous/triangle_sweep.h"

#include "collision/continuous/feature.h"
#include "collision/sweep.h"

#include <math.h>

#define NEVER HUGE_VAL
// Rounding of a product of three coordinates, relative to the largest coordinate.
#define ROUNDING 1e-13
// Steps of conservative advancement towards a triangle without area. A vertex that needs more stops early.
#define ADVANCE_STEPS 64
// The squared sine between two edges below which they count as parallel.
#define PARALLEL 1e-20

// Inlined, so that `rotates` is a constant: one source serves translations and rotations.
#define INLINE static inline __attribute__((always_inline))

// The motion of a point.
typedef struct path {
	bool rotates;
	tac_dvec3 v; // of a translation, m
	double turn; // of a rotation about the z axis: 1 clockwise seen from +z, -1 counter-clockwise
} path;

// Times of possible contacts, in ascending order.
typedef struct times {
	int count;
	double at[2];
} times;

static double squared_distance_to_segment(tac_dvec3 x, tac_dvec3 a, tac_dvec3 b)
{
	tac_dvec3 u = tac_dvec3_sub(b, a), d = tac_dvec3_sub(x, a);
	double along = tac_dvec3_dot(d, u), length = tac_dvec3_dot(u, u);
	if (along > 0)
		d = along >= length ? tac_dvec3_sub(x, b) : tac_dvec3_add_scaled(d, -along / length, u);
	return tac_dvec3_dot(d, d);
}

// Whether x, a point in the plane of t, lies in t or within `slack` of it.
static bool in_triangle(tac_dvec3 x, const tac_dvec3 t[3], tac_dvec3 normal, double slack)
{
	bool inside = true;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 edge = tac_dvec3_sub(t[(k + 1) % 3], t[k]);
		double side = tac_dvec3_dot(tac_dvec3_cross(normal, edge), tac_dvec3_sub(x, t[k]));
		if (side < 0 && side * side > slack * slack * tac_dvec3_dot(edge, edge))
			return false;
		inside = inside && side >= 0;
	}
	// Beyond a sharp corner a point is near the lines of both edges and far from the triangle.
	for (int k = 0; k < 3 && !inside; k++)
		inside = squared_distance_to_segment(x, t[k], t[(k + 1) % 3]) <= slack * slack;
	return inside;
}

// Whether the points at the parameters s of the edge u and t of the edge w lie on them, or within `slack`.
static bool in_edges(double s, double t, tac_dvec3 u, tac_dvec3 w, double slack)
{
	double over_s = s < 0 ? -s : s > 1 ? s - 1 : 0, over_t = t < 0 ? -t : t > 1 ? t - 1 : 0;
	return over_s * over_s * tac_dvec3_dot(u, u) <= slack * slack &&
	       over_t * over_t * tac_dvec3_dot(w, w) <= slack * slack;
}

static inline times times_of_roots(tac_feature_roots roots)
{
	if (!roots.exist)
		return (times){0};
	return (times){2, {fmin(roots.enter, roots.leave), fmax(roots.enter, roots.leave)}};
}

INLINE tac_dvec3 point_at(const path *m, tac_dvec3 p, double time)
{
	return m->rotates ? tac_feature_turn(p, m->turn * time) : tac_dvec3_add_scaled(p, time, m->v);
}

// When the point p, at `height` over a plane with the given normal, passes it; with `front`, only downwards.
// *out_stays: it never leaves the plane by more than `slack`.
INLINE times plane_times(const path *m, tac_dvec3 p, tac_dvec3 normal, double height, double slack,
			 bool front, bool *out_stays)
{
	if (!m->rotates) {
		double rate = tac_dvec3_dot(normal, m->v);
		*out_stays = fabs(height) <= slack && fabs(height + rate) <= slack;
		if (height * rate > 0 || rate == 0 || (front && rate > 0))
			return (times){0};
		return (times){1, {-height / rate}};
	}
	tac_feature_arc arc = tac_feature_arc_vertex(p, normal, height);
	arc.v1 *= m->turn;
	*out_stays = fabs(arc.start) <= slack && fabs(arc.v1) + 2 * fabs(arc.v2) <= slack;
	if (*out_stays)
		return (times){0};
	tac_feature_roots roots = tac_feature_arc_roots(arc);
	return front && roots.exist ? (times){1, {roots.enter}} : times_of_roots(roots);
}

// A triangle without area has no plane: conservative advancement of the point p towards it.
static double advance(const path *m, tac_dvec3 p, const tac_dvec3 t[3], double slack, double end)
{
	// The parameter is proportional to the path: a fraction, or an angle.
	double speed = m->rotates ? hypot(p.x, p.y) : tac_dvec3_length(m->v);
	double at = 0, last = m->rotates ? 2 * atan(end) : end;
	if (speed == 0)
		return NEVER;
	for (int i = 0; i < ADVANCE_STEPS && at < last; i++) {
		int region;
		tac_dvec3 x = point_at(m, p, m->rotates ? tan(at / 2) : at);
		double d = tac_dvec3_length(tac_dvec3_sub(x, tac_closest_on_triangle(x, t, &region)));
		if (d <= slack)
			break;
		at += d / speed;
	}
	if (at >= last)
		return NEVER;
	return m->rotates ? tan(at / 2) : at;
}

// A vertex that stays in the plane of the triangle meets its edges, not its face.
static double slide(const path *m, tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n, double slack, double end)
{
	if (tac_dvec3_length_squared(n) == 0)
		return advance(m, p, t, slack, end);
	if (in_triangle(p, t, n, slack))
		return 0;
	double first = NEVER;
	for (int k = 0; k < 3; k++) {
		tac_dvec3 inwards = tac_dvec3_cross(n, tac_dvec3_sub(t[(k + 1) % 3], t[k]));
		double height = tac_dvec3_dot(inwards, tac_dvec3_sub(p, t[k]));
		bool stays;
		times crossing = plane_times(m, p, inwards, height, -1, false, &stays);
		for (int i = 0; i < crossing.count; i++) {
			double time = crossing.at[i];
			if (time >= 0 && time < end && time < first &&
			    in_triangle(point_at(m, p, time), t, n, slack))
				first = time;
		}
	}
	return first;
}

INLINE double vertex_time(const path *m, tac_dvec3 p, const tac_dvec3 t[3], tac_dvec3 n, double slack,
			  bool front, double end)
{
	bool stays;
	double height = tac_dvec3_dot(n, tac_dvec3_sub(p, t[0]));
	times crossing = plane_times(m, p, n, height, slack, front, &stays);
	if (stays)
		return slide(m, p, t, n, slack, end);
	for (int i = 0; i < crossing.count; i++) {
		double time = crossing.at[i];
		if (time >= 0 && time < end && in_triangle(point_at(m, p, time), t, n, slack))
			return time;
	}
	return NEVER;
}

// Whether the moving edge a b and the fixed edge c d, whose lines meet at the time, meet between their ends.
INLINE bool edges_meet(const path *m, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, double time,
		       double slack)
{
	tac_dvec3 at = point_at(m, a, time);
	tac_dvec3 u = m->rotates ? tac_dvec3_sub(point_at(m, b, time), at) : tac_dvec3_sub(b, a);
	tac_dvec3 w = tac_dvec3_sub(d, c), n = tac_dvec3_cross(u, w), r = tac_dvec3_sub(c, at);
	double nn = tac_dvec3_dot(n, n);
	// Parallel edges meet with their ends, which are vertices.
	if (nn <= PARALLEL * tac_dvec3_dot(u, u) * tac_dvec3_dot(w, w))
		return false;
	return in_edges(tac_dvec3_dot(tac_dvec3_cross(r, w), n) / nn,
			tac_dvec3_dot(tac_dvec3_cross(r, u), n) / nn, u, w, slack);
}

INLINE double edge_time(const path *m, tac_dvec3 a, tac_dvec3 b, tac_dvec3 c, tac_dvec3 d, double slack,
			double end)
{
	times meeting = {1, {0}};
	if (m->rotates)
		meeting = times_of_roots(tac_feature_arc_roots(tac_feature_arc_edge(a, b, c, d)));
	else
		meeting.at[0] = tac_feature_translate_edges(a, b, c, d, m->v);
	for (int i = 0; i < meeting.count; i++) {
		double time = meeting.at[i];
		if (time >= 0 && time < end && edges_meet(m, a, b, c, d, time, slack))
			return time;
	}
	return NEVER;
}

INLINE void keep_first(tac_sweep_contact *first, double time, tac_feature_pair kind)
{
	if (time < first->time) {
		first->time = time;
		first->kind = kind;
	}
}

// `back` is the motion of the fixed triangle relative to the moving one.
INLINE void find_contact(const tac_sweep_triangles *p, const path *m, const path *back,
			 tac_sweep_contact *first)
{
	const tac_dvec3 *a = p->moving, *b = p->fixed;
	for (int k = 0; k < 3; k++) {
		if (p->features.moving_vertices >> k & 1)
			keep_first(first,
				   vertex_time(m, a[k], b, p->fixed_normal, p->slack, p->front, first->time),
				   TAC_FEATURES_VERTEX_FACE);
		if (p->features.fixed_vertices >> k & 1)
			keep_first(
				first,
				vertex_time(back, b[k], a, p->moving_normal, p->slack, p->front, first->time),
				TAC_FEATURES_FACE_VERTEX);
		if (!(p->features.moving_edges >> k & 1))
			continue;
		for (int j = 0; j < 3; j++) {
			if (p->features.fixed_edges >> j & 1)
				keep_first(first,
					   edge_time(m, a[k], a[(k + 1) % 3], b[j], b[(j + 1) % 3], p->slack,
						     first->time),
					   TAC_FEATURES_EDGE_EDGE);
		}
	}
}

void tac_sweep_triangles_translate(const tac_sweep_triangles *pair, tac_dvec3 v, tac_sweep_contact *contact)
{
	const path m = {.rotates = false, .v = v}, back = {.rotates = false, .v = tac_dvec3_neg(v)};
	find_contact(pair, &m, &back, contact);
}

void tac_sweep_triangles_rotate(const tac_sweep_triangles *pair, tac_sweep_contact *contact)
{
	const path m = {.rotates = true, .turn = 1}, back = {.rotates = true, .turn = -1};
	find_contact(pair, &m, &back, contact);
}

static tac_sweep_triangles whole_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3])
{
	double size = 0;
	for (int k = 0; k < 3; k++)
		size = fmax(size, fmax(tac_dvec3_length(moving[k]), tac_dvec3_length(fixed[k])));
	return (tac_sweep_triangles){
		.moving = moving,
		.fixed = fixed,
		.moving_normal = tac_dvec3_triangle_normal(moving[0], moving[1], moving[2]),
		.fixed_normal = tac_dvec3_triangle_normal(fixed[0], fixed[1], fixed[2]),
		.features = {7, 7, 7, 7},
		.slack = ROUNDING * size,
	};
}

double tac_sweep_translate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], tac_dvec3 v)
{
	const tac_sweep_triangles pair = whole_triangles(moving, fixed);
	tac_sweep_contact first = {nextafter(1, 2), TAC_FEATURES_NONE};
	tac_sweep_triangles_translate(&pair, v, &first);
	return first.kind == TAC_FEATURES_NONE ? 2 : first.time;
}

double tac_sweep_rotate_triangles(const tac_dvec3 moving[3], const tac_dvec3 fixed[3], double angle)
{
	const tac_sweep_triangles pair = whole_triangles(moving, fixed);
	tac_sweep_contact first = {tan(angle / 2), TAC_FEATURES_NONE};
	tac_sweep_triangles_rotate(&pair, &first);
	return first.kind == TAC_FEATURES_NONE ? 2 : 2 * atan(first.time) / angle;
}
