#include "tissue/needle/track.h"

#include <math.h>

// A track that runs closer to parallel to the layers than this does not reach the next one.
#define COSINE_MIN 0.05
// A piece of growth; curvature and heading are constant on it.
#define GROWTH_M 2.5e-4
#define GROWTHS  64
// A track that deviates less from a straight line gets no further point.
#define STRAIGHT_RAD 1e-4
// How far ahead of the tip a rigid needle heads, so that a front close to the tip has a direction.
#define LEAST_HEADING_M 1e-3

void tac_track_begin(tac_track *t, const tac_needle_body *body, tac_dvec3 entry, tac_dvec3 tangent,
		     double front, int32_t opened)
{
	t->count = 2;
	t->points[0] = entry;
	t->points[1] = tac_dvec3_add_scaled(entry, front, tangent);
	t->s[0] = 0;
	t->s[1] = t->front = front;
	t->tangent = tangent;
	t->opened = 0; // all membranes are expected along the tangent, then those passed stay
	tac_track_expect(t, body);
	t->membranes[0] = 0;
	t->opened = opened;
}

void tac_track_expect(tac_track *t, const tac_needle_body *body)
{
	const tac_dvec3 front = t->points[t->count - 1];
	const double cosine = -tac_dvec3_dot(body->normal, t->tangent);
	const double depth = tac_track_depth(body, front);
	double z = 0;
	for (int32_t i = 0; i < body->layer_count; i++) {
		if (i >= t->opened)
			t->membranes[i] = cosine > COSINE_MIN
						  ? fmax(t->front + (z - depth) / cosine, t->front)
						  : HUGE_VAL;
		z += body->layers[i].thickness_m;
	}
}

double tac_track_offset(const tac_track *t, tac_dvec3 p)
{
	double least = HUGE_VAL;
	for (int32_t k = 0; k < t->count; k++) {
		const bool last = k == t->count - 1;
		const tac_dvec3 to_p = tac_dvec3_sub(p, t->points[k]);
		const tac_dvec3 along = last ? t->tangent : tac_track_direction(t, t->s[k + 1]);
		const double most = last ? HUGE_VAL : t->s[k + 1] - t->s[k];
		const double first = k > 0 ? 0 : -HUGE_VAL;
		const double length = fmin(fmax(tac_dvec3_dot(to_p, along), first), most);
		least = fmin(least, tac_dvec3_length(tac_dvec3_add_scaled(to_p, -length, along)));
	}
	return least;
}

void tac_track_grow(tac_track *t, const tac_track_growth *growth, double front, double spacing_m)
{
	const double way = front - t->front;
	if (!(way > 0))
		return;
	tac_dvec3 c = t->points[t->count - 1], tangent = t->tangent;
	const int pieces = (int)fmin(ceil(way / GROWTH_M), GROWTHS);
	const double ds = way / pieces;
	for (int i = 0; i < pieces; i++) {
		const tac_dvec3 bevel = tac_dvec3_normalize(
			tac_dvec3_add_scaled(growth->bevel, -tac_dvec3_dot(growth->bevel, tangent), tangent));
		tac_dvec3 turn = tac_dvec3_scale(bevel, growth->curvature_per_m);
		if (growth->rigid) {
			const tac_dvec3 ahead = tac_dvec3_sub(growth->towards_m, c);
			const double distance = fmax(tac_dvec3_length(ahead), LEAST_HEADING_M);
			const tac_dvec3 heading = tac_dvec3_sub(tac_dvec3_normalize(ahead), tangent);
			turn = tac_dvec3_add_scaled(turn, 1 / distance, heading);
		}
		const tac_dvec3 half = tac_dvec3_normalize(tac_dvec3_add_scaled(tangent, 0.5 * ds, turn));
		tangent = tac_dvec3_normalize(tac_dvec3_add_scaled(tangent, ds, turn));
		c = tac_dvec3_add_scaled(c, ds, half);
	}
	const int32_t last = t->count - 1;
	const tac_dvec3 chord = tac_dvec3_sub(c, t->points[last - 1]);
	const double bend = tac_dvec3_length(tac_dvec3_cross(tac_dvec3_normalize(chord), tangent));
	const bool append =
		front - t->s[last - 1] > spacing_m && bend > STRAIGHT_RAD && t->count < TAC_NEEDLE_POINTS;
	if (append)
		t->count++;
	t->points[t->count - 1] = c;
	t->s[t->count - 1] = t->front = front;
	t->tangent = tangent;
}

void tac_track_cut_short(tac_track *t, double s, int32_t opened, tac_dvec3 tangent)
{
	int32_t k = 1;
	while (k < t->count - 1 && t->s[k] < s)
		k++;
	const double u = (s - t->s[k - 1]) / (t->s[k] - t->s[k - 1]);
	t->points[k] = tac_dvec3_lerp(t->points[k - 1], t->points[k], u);
	t->s[k] = t->front = s;
	t->count = k + 1;
	t->opened = opened;
	t->tangent = tangent;
}

// The segment on which the length `s` lies.
static int32_t segment_at(const tac_track *t, double s)
{
	int32_t k = 0;
	while (k + 2 < t->count && s > t->s[k + 1])
		k++;
	return k;
}

tac_dvec3 tac_track_point(const tac_track *t, double s)
{
	const int32_t k = segment_at(t, s);
	const double span = t->s[k + 1] - t->s[k];
	return span > 0 ? tac_dvec3_lerp(t->points[k], t->points[k + 1],
					 (fmin(fmax(s, 0), t->front) - t->s[k]) / span)
			: t->points[k];
}

tac_dvec3 tac_track_direction(const tac_track *t, double s)
{
	const int32_t k = segment_at(t, s);
	if (s > t->front || !(t->s[k + 1] > t->s[k])) // a track that has just begun has no length yet
		return t->tangent;
	return tac_dvec3_normalize(tac_dvec3_sub(t->points[k + 1], t->points[k]));
}

// The part between the lengths s0 and s1, which lie between the points k and k + 1.
static tac_lateral_part part_between(const tac_track *t, int32_t k, double s0, double s1, double stiffness,
				     const tac_track_view *view)
{
	tac_lateral_part part = {.stiffness_N_per_m2 = stiffness};
	const double span = t->s[k + 1] - t->s[k], ends[2] = {s0, s1};
	for (int i = 0; i < 2; i++) {
		const tac_dvec3 p =
			tac_dvec3_lerp(t->points[k], t->points[k + 1], (ends[i] - t->s[k]) / span);
		const tac_dvec3 from_tip = tac_dvec3_sub(p, view->tip);
		part.r[i] = -tac_dvec3_dot(from_tip, view->along);
		for (int d = 0; d < 2; d++)
			part.o[i][d] = tac_dvec3_dot(from_tip, view->across[d]) - view->lean[d] * part.r[i];
	}
	return part;
}

int32_t tac_track_parts(const tac_track *t, const tac_needle_body *body, double reach,
			const tac_track_view *view, tac_lateral_part out[TAC_TRACK_PARTS])
{
	int32_t count = 0, layer = 0;
	for (int32_t k = 0; k + 1 < t->count; k++) {
		const double end = fmin(t->s[k + 1], reach);
		double s = t->s[k];
		while (s < end && count < TAC_TRACK_PARTS) {
			while (layer + 1 < body->layer_count && t->membranes[layer + 1] <= s)
				layer++;
			const double stop =
				layer + 1 < body->layer_count ? fmin(end, t->membranes[layer + 1]) : end;
			out[count++] = part_between(t, k, s, stop,
						    body->layers[layer].lateral_stiffness_N_per_m2, view);
			s = stop;
		}
	}
	return count;
}
